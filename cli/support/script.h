/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the Lua module's own scripts (scripts/lib) that verbs call. */
#ifndef VINCI_CLI_SUPPORT_SCRIPT_H
#define VINCI_CLI_SUPPORT_SCRIPT_H

#include <lua.h>

#include "cli/support/options.h"

/* Fields of the table on top of the stack. A text of NULL is left out. */
void script_set_text(lua_State *lua, const char *key, const char *value);
void script_set_integer(lua_State *lua, const char *key, uint64_t value);
void script_set_flag(lua_State *lua, const char *key, bool value);
void script_set_list(lua_State *lua, const char *key, const struct text_list *list);
/* A list of "key=value" as a table by key. */
void script_set_pairs(lua_State *lua, const char *key, const struct text_list *list);

struct script_call {
  const char *part, *function;                  /* vinci.PART.FUNCTION */
  void (*fill)(lua_State *lua, void *question); /* fills the table that is the only argument */
  void *question;
  int results;
};

/* Calls a function in a state of its own and leaves its results on the stack of *lua; the caller
 * closes that, which is NULL after an error. Errors of the module keep their status. */
VINCI_MUST_CHECK enum vinci_status script_call(const struct script_call *call, lua_State **lua,
                                               struct vinci_diag *diag);

#endif
