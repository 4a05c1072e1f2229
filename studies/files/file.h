/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Study and suite files: Lua that returns one table. The file sees the functions of words.h
 * and runs in a bounded state (lua_bounds.h), so the result depends on the file alone, and its time
 * is bounded.
 */
#ifndef VINCI_STUDIES_FILES_FILE_H
#define VINCI_STUDIES_FILES_FILE_H

#include <lua.h>

#include "core/base/arena.h"
#include "core/vinci.h"
#include "scripts/host/lua_bounds.h"

/* What one study or suite may use: far above what an honest file uses. */
enum {
  LUA_FILE_MEMORY_MIB = 96,
  LUA_FILE_INSTRUCTIONS_MAX = 50000000,
  LUA_FILE_CPU_MS_MAX = 1000,
  LUA_FILE_BYTES_MAX = 32 << 20,
  LUA_FILE_KEPT_BYTES_MAX = 64 << 20,
};

struct lua_file {
  struct lua_bounds bounds;
  lua_State *lua;      /* that of the bounds */
  const char *path;    /* for messages */
  struct arena *arena; /* for what is kept of the table */
  size_t kept_bytes;
};

/*
 * Runs a file and leaves the table it returns on the Lua stack; texts will be kept in the arena.
 * Close in every case.
 */
VINCI_MUST_CHECK enum vinci_status lua_file_open(struct lua_file *file, const char *path,
                                                 struct arena *arena, struct vinci_diag *diag);
void lua_file_close(struct lua_file *file);

/* Reports a fault of the file's table. */
enum vinci_status lua_file_error(const struct lua_file *file, struct vinci_diag *diag,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Calls reader with the table on top of the stack; lack of memory inside is a status. */
VINCI_MUST_CHECK enum vinci_status lua_file_read(struct lua_file *file,
                                                 enum vinci_status (*reader)(void *context),
                                                 void *context, struct vinci_diag *diag);

/*
 * Room in the arena for what the table says: a value that many points share is kept for each of
 * them, so the memory of Lua does not bound that of what is read.
 */
VINCI_MUST_CHECK enum vinci_status lua_file_room(struct lua_file *file, size_t count, size_t bytes,
                                                 void **out, struct vinci_diag *diag);
/*
 * Keeps the text of the string or number on top of the stack, which stays there. Whole numbers
 * have no decimal point; a list of them is "17x3". `what` names the value in the refusal of
 * others.
 */
VINCI_MUST_CHECK enum vinci_status lua_file_keep(struct lua_file *file, const char *what,
                                                 const char **out, struct vinci_diag *diag);
/* The same for a field of the table on top of the stack; *out stays when it is nil. */
VINCI_MUST_CHECK enum vinci_status lua_file_field(struct lua_file *file, const char *key,
                                                  const char **out, struct vinci_diag *diag);
/* The same as "key=value" for the name and the value that lua_next has put on the stack; also of a
 * truth, "key=true". */
VINCI_MUST_CHECK enum vinci_status lua_file_argument(struct lua_file *file, const char *key,
                                                     const char **out, struct vinci_diag *diag);
/* A field that is a whole number from 1; *out stays when it is nil. */
VINCI_MUST_CHECK enum vinci_status lua_file_whole(struct lua_file *file, const char *key,
                                                  uint64_t *out, struct vinci_diag *diag);
/*
 * The name at an index of the stack, valid while its table lives: NULL for keys that are no text
 * and for texts with a zero byte.
 */
const char *lua_file_key(struct lua_file *file, int at);
/* The length of the list on top of the stack; a fault of the file when it is none. */
VINCI_MUST_CHECK enum vinci_status lua_file_list(struct lua_file *file, const char *what,
                                                 size_t *count, struct vinci_diag *diag);
/* Gives a hint to an error just told: that a key of the table on top of the stack is nearly one
 * that is missing. */
void lua_file_hint_key(struct lua_file *file, const char *missing, struct vinci_diag *diag);

#endif
