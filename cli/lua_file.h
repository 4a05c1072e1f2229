/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Study and suite files: Lua that returns one table. The file sees the language, string,
 * table and math without random; nothing that reads, writes or runs other things, so that
 * what it says depends on the file alone.
 */
#ifndef VINCI_CLI_LUA_FILE_H
#define VINCI_CLI_LUA_FILE_H

#include <lua.h>

#include "core/vinci.h"

/* The bytes of a file, with a zero after them; free() it. NULL with a diagnostic. */
char *cli_read_text(const char *path, size_t *length, struct vinci_diag *diag);

struct lua_file {
  lua_State *lua;
  const char *path; /* for messages */
};

/* Runs a file and leaves the table it returns on the Lua stack. Close in every case. */
VINCI_MUST_CHECK enum vinci_status lua_file_open(struct lua_file *file, const char *path,
                                                 struct vinci_diag *diag);
void lua_file_close(struct lua_file *file);

/* Reports a fault of the file's table. */
enum vinci_status lua_file_error(const struct lua_file *file, struct vinci_diag *diag,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Calls reader with the table on top of the stack; what its metamethods throw is a fault of the
 * file.
 */
VINCI_MUST_CHECK enum vinci_status lua_file_read(struct lua_file *file,
                                                 enum vinci_status (*reader)(void *context),
                                                 void *context, struct vinci_diag *diag);

/*
 * The text of a string or a number on top of the stack, valid while the table lives; pops
 * nothing. Whole numbers have no decimal point; a list of them is "17x3". NULL for other types.
 */
const char *lua_file_text(struct lua_file *file);
/* A field that is a whole number from 1; *out stays when it is nil. */
VINCI_MUST_CHECK enum vinci_status lua_file_whole(struct lua_file *file, const char *key,
                                                  uint64_t *out, struct vinci_diag *diag);
/* Gives a hint to an error just told: that a key of the table on top of the stack is nearly one
 * that is missing. */
void lua_file_hint_key(struct lua_file *file, const char *missing, struct vinci_diag *diag);
/* A text field of the table on top of the stack: NULL with VINCI_OK when it is nil. */
VINCI_MUST_CHECK enum vinci_status lua_file_field(struct lua_file *file, const char *key,
                                                  const char **out, struct vinci_diag *diag);

#endif
