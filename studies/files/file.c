/* SPDX-License-Identifier: Apache-2.0 */
/* Study and suite files. */
#include "studies/files/file.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/files/words.h"

enum { TEXT_MAX = 256 };

enum vinci_status lua_file_error(const struct lua_file *file, struct vinci_diag *diag,
                                 const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return diag_error_at(diag, VINCI_E_USAGE, (struct diag_position){.path = file->path}, "%s", text);
}

/* The message of a Lua error without the name of the file, which the position has. */
static enum vinci_status lua_failed(struct lua_file *file, int code, struct vinci_diag *diag) {
  const char *text = lua_tostring(file->lua, -1);
  struct diag_position position = {.path = file->path, .line = file->bounds.line};
  char reason[LUA_BOUNDS_TEXT_MAX];
  if (lua_bounds_reason(&file->bounds, code, reason, sizeof reason)) {
    (void)diag_error_at(diag, VINCI_E_USAGE, position, "%s", reason);
    diag_hint(diag, "studies and suites are data; a program for `vinci lua` has no such limit");
    return VINCI_E_USAGE;
  }
  if (code == LUA_ERRMEM)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (text && strncmp(text, "file:", strlen("file:")) == 0) {
    char *end;
    position.line = strtoul(text + strlen("file:"), &end, 10);
    text = end[0] == ':' && end[1] == ' ' ? end + 2 : end;
  }
  (void)diag_error_at(diag, VINCI_E_USAGE, position, "%s", text ? text : "an error without a text");
  if (text && strncmp(text, "attempt to call a nil", strlen("attempt to call a nil")) == 0)
    diag_hint(diag, "LUA.md says which functions study and suite files have");
  return VINCI_E_USAGE;
}

enum vinci_status lua_file_open(struct lua_file *file, const char *path, struct arena *arena,
                                struct vinci_diag *diag) {
  static const struct lua_limits limits = {LUA_FILE_MEMORY_MIB, LUA_FILE_INSTRUCTIONS_MAX,
                                           LUA_FILE_CPU_MS_MAX};
  size_t length;
  *file = (struct lua_file){.path = path, .arena = arena};
  char *text = file_read_text(path, LUA_FILE_BYTES_MAX, &length, diag);
  if (!text)
    return diag ? diag->status : VINCI_E_IO;
  if (!lua_bounds_open(&file->bounds, &limits)) {
    free(text);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  lua_State *lua = file->lua = file->bounds.lua;
  lua_pushcfunction(lua, lua_words_open);
  int code = lua_pcall(lua, 0, 0, 0);
  if (code == LUA_OK)
    code = lua_bounds_load(&file->bounds, text, length, "=file");
  free(text);
  if (code == LUA_OK)
    code = lua_pcall(lua, 0, 1, 0);
  if (code != LUA_OK)
    return lua_failed(file, code, diag);
  if (lua_type(lua, -1) != LUA_TTABLE)
    return lua_file_error(file, diag, "does not return a table");
  return VINCI_OK;
}

struct protected_read {
  enum vinci_status (*reader)(void *context);
  void *context;
  enum vinci_status status;
};

static int call_reader(lua_State *lua) {
  struct protected_read *read = lua_touserdata(lua, -1);
  lua_pop(lua, 1);
  read->status = read->reader(read->context);
  return 0;
}

enum vinci_status lua_file_read(struct lua_file *file, enum vinci_status (*reader)(void *context),
                                void *context, struct vinci_diag *diag) {
  struct protected_read read = {reader, context, VINCI_OK};
  lua_pushcfunction(file->lua, call_reader);
  lua_pushvalue(file->lua, -2);
  lua_pushlightuserdata(file->lua, &read);
  int code = lua_pcall(file->lua, 2, 0, 0);
  return code == LUA_OK ? read.status : lua_failed(file, code, diag);
}

void lua_file_close(struct lua_file *file) {
  lua_bounds_close(&file->bounds);
  file->lua = NULL;
}

/* A number, or a list of whole numbers { 17, 3 } as "17x3"; false for anything else. */
static bool format_value(lua_State *lua, char *text, size_t size) {
  int is_whole = 0;
  lua_Integer whole = lua_tointegerx(lua, -1, &is_whole);
  if (lua_type(lua, -1) == LUA_TNUMBER) {
    if (is_whole)
      snprintf(text, size, LUA_INTEGER_FMT, whole);
    else
      snprintf(text, size, "%.14g", lua_tonumber(lua, -1));
    return true;
  }
  size_t count, used = 0;
  bool good = lua_bounds_list(lua, -1, &count) && count > 0;
  for (size_t i = 1; good && i <= count; i++) {
    good = lua_rawgeti(lua, -1, (lua_Integer)i) == LUA_TNUMBER;
    whole = lua_tointegerx(lua, -1, &is_whole);
    lua_pop(lua, 1);
    used +=
        (size_t)snprintf(text + used, size - used, "%s" LUA_INTEGER_FMT, i > 1 ? "x" : "", whole);
    good = good && is_whole && used < size;
  }
  return good;
}

enum vinci_status lua_file_room(struct lua_file *file, size_t count, size_t bytes, void **out,
                                struct vinci_diag *diag) {
  if (count > (LUA_FILE_KEPT_BYTES_MAX - file->kept_bytes) / bytes)
    return lua_file_error(file, diag, "says too much: more than %d MiB",
                          LUA_FILE_KEPT_BYTES_MAX >> 20);
  file->kept_bytes += count * bytes;
  *out = arena_alloc(file->arena, count, bytes);
  return *out ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* prefix, and the value on top of the stack. */
static enum vinci_status keep_value(struct lua_file *file, const char *prefix, const char *what,
                                    const char **out, struct vinci_diag *diag) {
  char formatted[TEXT_MAX];
  void *kept = NULL;
  lua_bounds_look(file->lua);
  const char *text = lua_bounds_text(file->lua, -1);
  if (lua_type(file->lua, -1) == LUA_TSTRING && !text)
    return lua_file_error(file, diag, "%s contains a zero byte", what);
  if (!text && format_value(file->lua, formatted, sizeof formatted))
    text = formatted;
  if (!text)
    return lua_file_error(file, diag,
                          "%s is neither a text nor a number nor a list of whole numbers", what);
  enum vinci_status status = lua_file_room(file, strlen(prefix) + strlen(text) + 1, 1, &kept, diag);
  if (status != VINCI_OK)
    return status;
  stpcpy(stpcpy(kept, prefix), text);
  *out = kept;
  return VINCI_OK;
}

enum vinci_status lua_file_keep(struct lua_file *file, const char *what, const char **out,
                                struct vinci_diag *diag) {
  return keep_value(file, "", what, out, diag);
}

enum vinci_status lua_file_field(struct lua_file *file, const char *key, const char **out,
                                 struct vinci_diag *diag) {
  char what[TEXT_MAX];
  snprintf(what, sizeof what, "'%s'", key);
  bool given = lua_getfield(file->lua, -1, key) != LUA_TNIL;
  enum vinci_status status = given ? keep_value(file, "", what, out, diag) : VINCI_OK;
  lua_pop(file->lua, 1);
  return status;
}

enum vinci_status lua_file_argument(struct lua_file *file, const char *key, const char **out,
                                    struct vinci_diag *diag) {
  char what[TEXT_MAX], prefix[TEXT_MAX];
  snprintf(what, sizeof what, "'%s'", key);
  if (snprintf(prefix, sizeof prefix, "%s=", key) >= (int)sizeof prefix)
    return lua_file_error(file, diag, "the name '%.40s...' is too long", key);
  if (lua_type(file->lua, -1) != LUA_TBOOLEAN)
    return keep_value(file, prefix, what, out, diag);
  lua_pushstring(file->lua, lua_toboolean(file->lua, -1) ? "true" : "false");
  enum vinci_status status = keep_value(file, prefix, what, out, diag);
  lua_pop(file->lua, 1);
  return status;
}

enum vinci_status lua_file_whole(struct lua_file *file, const char *key, uint64_t *out,
                                 struct vinci_diag *diag) {
  int is_whole = 0;
  int type = lua_getfield(file->lua, -1, key);
  lua_Integer value = type == LUA_TNUMBER ? lua_tointegerx(file->lua, -1, &is_whole) : 0;
  lua_pop(file->lua, 1);
  if (type == LUA_TNIL)
    return VINCI_OK;
  if (!is_whole || value < 1)
    return lua_file_error(file, diag, "'%s' is not a whole number from 1", key);
  *out = (uint64_t)value;
  return VINCI_OK;
}

const char *lua_file_key(struct lua_file *file, int at) {
  lua_bounds_look(file->lua);
  return lua_bounds_text(file->lua, at);
}

enum vinci_status lua_file_list(struct lua_file *file, const char *what, size_t *count,
                                struct vinci_diag *diag) {
  if (lua_bounds_list(file->lua, -1, count))
    return VINCI_OK;
  return lua_file_error(file, diag, "%s is not a list", what);
}

static const char *key_itself(const void *context, size_t index) {
  (void)index;
  return context;
}

/* Of several, the first by the alphabet: the order of a table's keys is not always the same. */
void lua_file_hint_key(struct lua_file *file, const char *missing, struct vinci_diag *diag) {
  enum { LENGTH_MIN = 2 };
  const char *found = NULL;
  for (lua_pushnil(file->lua); lua_next(file->lua, -2); lua_pop(file->lua, 1)) {
    const char *key = lua_type(file->lua, -2) == LUA_TSTRING ? lua_tostring(file->lua, -2) : "";
    if (key[0] == missing[0] && strlen(key) >= LENGTH_MIN &&
        diag_nearest(key, 1, key_itself, missing) && (!found || strcmp(key, found) < 0))
      found = key;
  }
  if (found)
    diag_hint(diag, "did you mean '%s' by '%s'?", missing, found);
}
