/* SPDX-License-Identifier: Apache-2.0 */
/* Tilings that were chosen before for a chip. Internal to scripts/module. */
#ifndef VINCI_SCRIPTS_MODULE_LUA_CHOICES_H
#define VINCI_SCRIPTS_MODULE_LUA_CHOICES_H

#include "scripts/module/lua_vinci.h"

struct lower_choice;

void lua_choices_open(lua_State *lua);
/* The choice for a request, of the object of a chip at an index; raises what refuses the request.
 * Lives as long as the values that are left on the stack. */
const struct lower_choice *lua_choices_find(lua_State *lua, int soc, const char *op,
                                            const char *const *args, size_t count);
/* After a change of the chip. */
void lua_choices_forget(lua_State *lua, int soc);

#endif
