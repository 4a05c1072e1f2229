/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that study and suite files have. Part of studies/files/file.c. */
#ifndef VINCI_STUDIES_FILES_WORDS_H
#define VINCI_STUDIES_FILES_WORDS_H

#include <lua.h>

/*
 * Opens the language and what is bounded of string, table and math. Left out: all that reads,
 * writes or runs other things; that catches errors, since a limit is an error; metatables, whose
 * functions would run behind the back of the limits; and what differs from run to run.
 */
int lua_words_open(lua_State *lua);

#endif
