/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps of models for sweeps (studies/sweep/sweep.h), made by vinci.transformer_point. */
#ifndef VINCI_SCRIPTS_MODULE_LUA_STEPS_H
#define VINCI_SCRIPTS_MODULE_LUA_STEPS_H

#include <lua.h>

#include "studies/sweep/sweep.h"

struct lua_steps {
  struct model_steps steps; /* for sweep_open_with() */
  lua_State *lua;           /* made at the first question */
};

void lua_steps_open(struct lua_steps *steps);
/* After the sweep. */
void lua_steps_close(struct lua_steps *steps);

#endif
