/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Lua state that can end with nothing but a result or an error: memory, instructions and CPU
 * time are bounded. All files that are read as data run in such a state: hardware
 * descriptions, studies, suites.
 *
 * Instructions bound what Lua itself does, at the same place on every host. CPU time bounds
 * what one instruction or one library function may take: to compare two texts of megabytes,
 * to move a long list. That limit is far above what any honest file needs, since a slow host
 * must not refuse a file that a fast host reads.
 *
 * A limit leaves Lua as an error. No function that catches errors (pcall, xpcall, coroutines)
 * and none that calls Lua behind the back of the limits (metatables with __gc) may be defined
 * in such a state, nor a C function whose work is not bounded by the size of its arguments.
 */
#ifndef VINCI_SCRIPTS_HOST_LUA_BOUNDS_H
#define VINCI_SCRIPTS_HOST_LUA_BOUNDS_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lua_limits {
  unsigned memory_mib;
  unsigned long instructions;
  unsigned cpu_ms;
};

enum lua_limit { LUA_LIMIT_NONE, LUA_LIMIT_MEMORY, LUA_LIMIT_INSTRUCTIONS, LUA_LIMIT_TIME };

struct lua_bounds {
  lua_State *lua;
  struct lua_limits limits;
  size_t used_bytes;
  unsigned long instructions;
  int64_t cpu_start_ns;
  int64_t looked_ns;    /* host time of the last look at the CPU time */
  enum lua_limit ended; /* the limit that ended the file */
  bool refused;         /* whether memory was ever refused */
  unsigned long line;   /* of the file, where instructions or time ended */
};

/* A state without any library; false when memory is short. Not to be moved while open. */
bool lua_bounds_open(struct lua_bounds *bounds, const struct lua_limits *limits);
void lua_bounds_close(struct lua_bounds *bounds);
struct lua_bounds *lua_bounds_of(lua_State *lua);

/*
 * What runs every few instructions and before every call: leaves with an error when a limit is
 * reached. For loops in C over what a file has made.
 */
void lua_bounds_look(lua_State *lua);

/* Compiles a text (no binary) and leaves the function on the stack; a code of Lua. */
int lua_bounds_load(struct lua_bounds *bounds, const char *text, size_t length, const char *chunk);

/*
 * What a failed call is to be blamed on: `code` is what Lua returned, its error is on top of
 * the stack. NULL when no limit was reached; else the sentence, in buffer.
 */
enum { LUA_BOUNDS_TEXT_MAX = 96 };
const char *lua_bounds_reason(struct lua_bounds *bounds, int code, char *buffer, size_t size);

/* Line of the main chunk that is being executed: a row of data, also through a helper. */
unsigned long lua_bounds_line(lua_State *lua);

/*
 * The entries of the list at `at`: a table whose keys are 1 to *count and nothing else. False for
 * other tables, whose length by the operator # may be any number.
 */
bool lua_bounds_list(lua_State *lua, int at, size_t *count);
/* The text at `at`: NULL for values that are no string, and for strings with a zero byte. */
const char *lua_bounds_text(lua_State *lua, int at);

#endif
