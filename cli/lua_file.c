/* SPDX-License-Identifier: Apache-2.0 */
/* Study and suite files. */
#include "cli/lua_file.h"

#include <errno.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/diag.h"

/* Above any honest file; a file that never ends is a mistake. */
enum { INSTRUCTIONS_MAX = 200000000, TEXT_MAX = 256 };

static void too_long(lua_State *lua, lua_Debug *frame) {
  (void)frame;
  luaL_error(lua, "runs too long: more than %d instructions", INSTRUCTIONS_MAX);
}

static void forget(lua_State *lua, const char *const *names) {
  for (; *names; names++) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, *names);
  }
}

static int open_words(lua_State *lua) {
  static const char *const unwanted[] = {"dofile", "loadfile", "load",           "require",
                                         "print",  "warn",     "collectgarbage", NULL};
  static const char *const unwanted_math[] = {"random", "randomseed", NULL};
  luaL_requiref(lua, LUA_GNAME, luaopen_base, 1);
  forget(lua, unwanted);
  luaL_requiref(lua, LUA_STRLIBNAME, luaopen_string, 1);
  luaL_requiref(lua, LUA_TABLIBNAME, luaopen_table, 1);
  luaL_requiref(lua, LUA_MATHLIBNAME, luaopen_math, 1);
  forget(lua, unwanted_math);
  lua_settop(lua, 0);
  return 0;
}

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
static enum vinci_status lua_failed(struct lua_file *file, struct vinci_diag *diag) {
  const char *text = lua_tostring(file->lua, -1);
  struct diag_position position = {.path = file->path};
  if (text && strncmp(text, "file:", strlen("file:")) == 0) {
    char *end;
    position.line = strtoul(text + strlen("file:"), &end, 10);
    text = end[0] == ':' && end[1] == ' ' ? end + 2 : end;
  }
  return diag_error_at(diag, VINCI_E_USAGE, position, "%s",
                       text ? text : "an error without a text");
}

char *cli_read_text(const char *path, size_t *length, struct vinci_diag *diag) {
  FILE *in = fopen(path, "r");
  char *text = NULL, block[4096];
  size_t count, capacity = 0;
  *length = 0;
  errno = in ? 0 : errno;
  while (in && (count = fread(block, 1, sizeof block, in)) > 0) {
    if (*length + count >= capacity) {
      capacity = 2 * (*length + count);
      char *more = realloc(text, capacity);
      if (!more)
        break;
      text = more;
    }
    memcpy(text + *length, block, count);
    *length += count;
  }
  bool failed = !in || ferror(in) || (*length > 0 && !text);
  if (failed) {
    (void)diag_error_at(diag, VINCI_E_IO, (struct diag_position){.path = path}, "cannot read: %s",
                        errno ? strerror(errno) : "read error");
    free(text);
    text = NULL;
  } else if (!text) {
    text = calloc(1, 1);
  } else {
    text[*length] = '\0';
  }
  if (in)
    fclose(in);
  return text;
}

enum vinci_status lua_file_open(struct lua_file *file, const char *path, struct vinci_diag *diag) {
  *file = (struct lua_file){.lua = luaL_newstate(), .path = path};
  if (!file->lua)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  size_t length;
  char *text = cli_read_text(path, &length, diag);
  if (!text)
    return diag ? diag->status : VINCI_E_IO;
  lua_State *lua = file->lua;
  lua_pushcfunction(lua, open_words);
  int code = lua_pcall(lua, 0, 0, 0);
  if (code == LUA_OK)
    code = luaL_loadbufferx(lua, text, length, "=file", "t");
  free(text);
  lua_sethook(lua, too_long, LUA_MASKCOUNT, INSTRUCTIONS_MAX);
  if (code == LUA_OK)
    code = lua_pcall(lua, 0, 1, 0);
  lua_sethook(lua, NULL, 0, 0);
  if (code != LUA_OK)
    return lua_failed(file, diag);
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
  lua_sethook(file->lua, too_long, LUA_MASKCOUNT, INSTRUCTIONS_MAX);
  int code = lua_pcall(file->lua, 2, 0, 0);
  lua_sethook(file->lua, NULL, 0, 0);
  return code == LUA_OK ? read.status : lua_failed(file, diag);
}

void lua_file_close(struct lua_file *file) {
  if (file->lua)
    lua_close(file->lua);
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
  if (lua_type(lua, -1) != LUA_TTABLE || lua_rawlen(lua, -1) == 0)
    return false;
  lua_Unsigned count = lua_rawlen(lua, -1), fields = 0;
  for (lua_pushnil(lua); lua_next(lua, -2); lua_pop(lua, 1))
    fields++;
  size_t used = 0;
  bool good = fields == count;
  for (lua_Unsigned i = 1; good && i <= count; i++) {
    good = lua_rawgeti(lua, -1, (lua_Integer)i) == LUA_TNUMBER;
    whole = lua_tointegerx(lua, -1, &is_whole);
    lua_pop(lua, 1);
    used +=
        (size_t)snprintf(text + used, size - used, "%s" LUA_INTEGER_FMT, i > 1 ? "x" : "", whole);
    good = good && is_whole && used < size;
  }
  return good;
}

const char *lua_file_text(struct lua_file *file) {
  lua_State *lua = file->lua;
  char text[TEXT_MAX];
  if (lua_type(lua, -1) == LUA_TSTRING)
    return lua_tostring(lua, -1);
  if (!format_value(lua, text, sizeof text))
    return NULL;
  /* Kept alive by the registry until the file is closed. */
  lua_pushstring(lua, text);
  const char *kept = lua_tostring(lua, -1);
  lua_pushvalue(lua, -1);
  lua_rawsetp(lua, LUA_REGISTRYINDEX, kept);
  lua_pop(lua, 1);
  return kept;
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

enum vinci_status lua_file_field(struct lua_file *file, const char *key, const char **out,
                                 struct vinci_diag *diag) {
  lua_getfield(file->lua, -1, key);
  *out = lua_file_text(file);
  bool wrong = !*out && !lua_isnil(file->lua, -1);
  lua_pop(file->lua, 1); /* the table keeps the string */
  return wrong ? lua_file_error(file, diag,
                                "'%s' is neither a text nor a number nor a list of whole numbers",
                                key)
               : VINCI_OK;
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
    if (key[0] == missing[0] && strlen(key) >= LENGTH_MIN && diag_nearest(key, 1, key_itself, missing) &&
        (!found || strcmp(key, found) < 0))
      found = key;
  }
  if (found)
    diag_hint(diag, "did you mean '%s' by '%s'?", missing, found);
}
