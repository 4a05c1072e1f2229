/* SPDX-License-Identifier: Apache-2.0 */
/* A Lua state with bounded memory, instructions and CPU time. */
#include "scripts/host/lua_bounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  /* Few, because one instruction may compare texts of the size of all memory. */
  HOOK_PERIOD = 20,
  /* A block worth a look at the time: to fill a smaller block takes no time. */
  LARGE_BYTES = 64 * 1024,
  LOAD_BYTES = 4096,
  LIST_PIECE = 1024,
  /* A look at the CPU time is a system call; host time goes at least as fast and is none. */
  LOOKS_PER_LIMIT = 32,
  /* Frames between a row of data and what the row has called. */
  LEVELS_MAX = 256,
};

static int64_t read_clock(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now) != 0)
    return 0;
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool time_is_up(struct lua_bounds *bounds) {
  int64_t limit_ns = (int64_t)bounds->limits.cpu_ms * 1000000;
  int64_t now = read_clock(CLOCK_MONOTONIC);
  if (now - bounds->looked_ns < limit_ns / LOOKS_PER_LIMIT)
    return false;
  bounds->looked_ns = now;
  return read_clock(CLOCK_THREAD_CPUTIME_ID) - bounds->cpu_start_ns > limit_ns;
}

/* Refused memory is an error that Lua raises itself. */
static void *limited_alloc(void *context, void *block, size_t old_bytes, size_t new_bytes) {
  struct lua_bounds *bounds = context;
  size_t held = block ? old_bytes : 0;
  if (new_bytes == 0) {
    free(block);
    bounds->used_bytes -= held;
    return NULL;
  }
  if (new_bytes > held) {
    size_t limit = (size_t)bounds->limits.memory_mib << 20, others = bounds->used_bytes - held;
    if (new_bytes > limit || others > limit - new_bytes) {
      bounds->refused = true;
      return NULL;
    }
    if (new_bytes >= LARGE_BYTES && (bounds->ended || time_is_up(bounds))) {
      bounds->ended = LUA_LIMIT_TIME;
      return NULL;
    }
  }
  void *result = realloc(block, new_bytes);
  if (result)
    bounds->used_bytes = bounds->used_bytes - held + new_bytes;
  return result;
}

struct lua_bounds *lua_bounds_of(lua_State *lua) {
  return *(struct lua_bounds **)lua_getextraspace(lua);
}

/* The frame that called all others. Each question walks from the newest frame, so that asking for
 * every level would take the square of a deep recursion. */
static void oldest_frame(lua_State *lua, lua_Debug *frame) {
  int low = 0, high = 1;
  while (lua_getstack(lua, high, frame)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (lua_getstack(lua, middle, frame))
      low = middle;
    else
      high = middle;
  }
  (void)lua_getstack(lua, low, frame);
}

unsigned long lua_bounds_line(lua_State *lua) {
  lua_Debug frame;
  unsigned long line = 0;
  for (int level = 0; level < LEVELS_MAX && lua_getstack(lua, level, &frame); level++) {
    lua_getinfo(lua, "Sl", &frame);
    if (frame.currentline > 0)
      line = (unsigned long)frame.currentline;
    if (strcmp(frame.what, "main") == 0)
      return line;
  }
  if (!lua_getstack(lua, LEVELS_MAX, &frame))
    return line;
  oldest_frame(lua, &frame);
  lua_getinfo(lua, "Sl", &frame);
  return frame.currentline > 0 ? (unsigned long)frame.currentline : line;
}

/* Once a limit is reached it stays so: each further look is an error again. */
void lua_bounds_look(lua_State *lua) {
  struct lua_bounds *bounds = lua_bounds_of(lua);
  if (bounds->instructions > bounds->limits.instructions)
    bounds->ended = LUA_LIMIT_INSTRUCTIONS;
  else if (bounds->ended == LUA_LIMIT_NONE && time_is_up(bounds))
    bounds->ended = LUA_LIMIT_TIME;
  if (bounds->ended == LUA_LIMIT_NONE)
    return;
  bounds->line = lua_bounds_line(lua);
  lua_pushnil(lua);
  lua_error(lua);
}

static void count(lua_State *lua, lua_Debug *event) {
  if (event->event == LUA_HOOKCOUNT)
    lua_bounds_of(lua)->instructions += HOOK_PERIOD;
  lua_bounds_look(lua);
}

bool lua_bounds_open(struct lua_bounds *bounds, const struct lua_limits *limits) {
  *bounds = (struct lua_bounds){.limits = *limits,
                                .cpu_start_ns = read_clock(CLOCK_THREAD_CPUTIME_ID),
                                .looked_ns = read_clock(CLOCK_MONOTONIC)};
  bounds->lua = lua_newstate(limited_alloc, bounds);
  if (!bounds->lua)
    return false;
  *(struct lua_bounds **)lua_getextraspace(bounds->lua) = bounds;
  lua_sethook(bounds->lua, count, LUA_MASKCOUNT | LUA_MASKCALL, HOOK_PERIOD);
  return true;
}

void lua_bounds_close(struct lua_bounds *bounds) {
  if (bounds->lua)
    lua_close(bounds->lua);
  bounds->lua = NULL;
}

struct load {
  const char *text;
  size_t length;
};

/* In pieces, because the compiler calls no hook. */
static const char *next_piece(lua_State *lua, void *context, size_t *length) {
  struct load *load = context;
  lua_bounds_look(lua);
  const char *piece = load->text;
  *length = load->length < LOAD_BYTES ? load->length : LOAD_BYTES;
  load->text += *length;
  load->length -= *length;
  return *length > 0 ? piece : NULL;
}

int lua_bounds_load(struct lua_bounds *bounds, const char *text, size_t length, const char *chunk) {
  struct load load = {text, length};
  return lua_load(bounds->lua, next_piece, &load, chunk, "t");
}

const char *lua_bounds_reason(struct lua_bounds *bounds, int code, char *buffer, size_t size) {
  /* The buffers of the auxiliary library raise this text instead of LUA_ERRMEM. */
  const char *text = lua_type(bounds->lua, -1) == LUA_TSTRING ? lua_tostring(bounds->lua, -1) : "";
  bool memory = code == LUA_ERRMEM || strcmp(text, "not enough memory") == 0;
  enum lua_limit limit = bounds->ended;
  if (limit == LUA_LIMIT_NONE && memory && bounds->refused)
    limit = LUA_LIMIT_MEMORY;
  const struct lua_limits *limits = &bounds->limits;
  switch (limit) {
  case LUA_LIMIT_NONE:
    return NULL;
  case LUA_LIMIT_MEMORY:
    snprintf(buffer, size, "needs more than %u MiB of memory", limits->memory_mib);
    break;
  case LUA_LIMIT_INSTRUCTIONS:
    snprintf(buffer, size, "runs too long: more than %lu instructions", limits->instructions);
    break;
  case LUA_LIMIT_TIME:
    snprintf(buffer, size, "runs too long: more than %u ms of CPU time", limits->cpu_ms);
    break;
  }
  return buffer;
}

bool lua_bounds_list(lua_State *lua, int at, size_t *count) {
  if (lua_type(lua, at) != LUA_TTABLE)
    return false;
  lua_bounds_look(lua);
  int table = lua_absindex(lua, at);
  lua_Unsigned length = lua_rawlen(lua, table), fields = 0;
  for (lua_pushnil(lua); lua_next(lua, table); lua_pop(lua, 1)) {
    lua_Integer key = lua_isinteger(lua, -2) ? lua_tointeger(lua, -2) : 0;
    if (key < 1 || (lua_Unsigned)key > length) {
      lua_pop(lua, 2);
      return false;
    }
    if (++fields % LIST_PIECE == 0)
      lua_bounds_look(lua);
  }
  *count = (size_t)fields;
  return fields == length;
}

const char *lua_bounds_text(lua_State *lua, int at) {
  size_t length;
  if (lua_type(lua, at) != LUA_TSTRING)
    return NULL;
  const char *text = lua_tolstring(lua, at, &length);
  return strlen(text) == length ? text : NULL;
}
