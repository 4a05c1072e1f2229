/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox in which hardware descriptions run. */
#include "scripts/host/soc_lua.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Chunk name of every file: short, so that Lua never cuts the name; box->path has the real name. */
#define CHUNK "data"

enum { ROUNDING_BITS = 50 };

/* Places of a num() table. */
enum {
  NUM_VALUE = 1,
  NUM_UNIT,
  NUM_SOURCE,
  NUM_CONFIDENCE,
  NUM_NOTE,
  NUM_LOW,
  NUM_HIGH,
  NUM_LINE,
};

static const char number_tag[] = "vinci.num";
static const char description_tag[] = "vinci.soc";

static struct sandbox *sandbox_of(lua_State *lua) { return (struct sandbox *)lua_bounds_of(lua); }

static _Noreturn void leave(struct sandbox *box) {
  lua_pushnil(box->lua);
  lua_error(box->lua);
  abort(); /* lua_error does not return; its prototype cannot say so */
}

void sandbox_refuse(struct sandbox *box, unsigned long line, const char *hint, const char *format,
                    ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  struct diag_position position = {.path = box->path, .line = line};
  box->status = diag_error_at(box->diag, VINCI_E_USAGE, position, "%s", text);
  if (hint)
    diag_hint(box->diag, "%s", hint);
  leave(box);
}

void sandbox_no_memory(struct sandbox *box) {
  box->status = diag_error(box->diag, VINCI_E_NOMEM, "out of memory");
  leave(box);
}

/* A text that will be copied: many names for one text cost Lua nothing, and the copies do. */
static void charge(struct sandbox *box, const char *text) {
  box->kept_bytes += strlen(text) + 1;
  if (box->kept_bytes > (size_t)SANDBOX_MEMORY_MIB << 20)
    sandbox_refuse(box, 0, NULL, "needs more than %d MiB of memory", SANDBOX_MEMORY_MIB);
}

/* The units of data files: those of the kinds, with names for the two that have none. */
static const char *data_unit(enum soc_kind kind) {
  switch (kind) {
  case SOC_KIND_COUNT:
    return "count";
  case SOC_KIND_RATIO:
    return "ratio";
  default:
    return soc_kind_unit(kind);
  }
}

static bool is_unit(const char *unit) {
  for (unsigned kind = 0; kind < SOC_KINDS; kind++)
    if (strcmp(unit, data_unit((enum soc_kind)kind)) == 0)
      return true;
  return false;
}

static const char *source_at(const void *context, size_t index) {
  const struct sandbox *box = context;
  return box->sources[index].id;
}

static const struct soc_source *find_source(const struct sandbox *box, const char *id) {
  for (size_t i = 0; i < box->source_count; i++)
    if (strcmp(box->sources[i].id, id) == 0)
      return &box->sources[i];
  return NULL;
}

static enum confidence find_confidence(const char *name) {
  unsigned i = 0;
  while (i < CONFIDENCE_COUNT && strcmp(confidence_name((enum confidence)i), name) != 0)
    i++;
  return (enum confidence)i;
}

/* A string argument of num(); numbers are not taken as text. */
static const char *text_argument(struct sandbox *box, int at, const char *what) {
  if (lua_type(box->lua, at) != LUA_TSTRING)
    sandbox_refuse(box, lua_bounds_line(box->lua),
                   "num(value, \"unit\", \"source\", \"confidence\"[, \"note\"])",
                   "num: the %s must be a text", what);
  const char *text = lua_bounds_text(box->lua, at);
  if (!text)
    sandbox_refuse(box, lua_bounds_line(box->lua), NULL, "num: the %s contains a zero byte", what);
  return text;
}

static void refuse_source(struct sandbox *box, const char *id) {
  char hint[128] = "sources are listed in sources.lua";
  const char *nearest = diag_nearest(id, box->source_count, source_at, box);
  if (nearest)
    snprintf(hint, sizeof hint, "did you mean '%.80s'?", nearest);
  sandbox_refuse(box, lua_bounds_line(box->lua), hint, "num: unknown source '%s'", id);
}

/* The range of a number: none, or two numbers. */
static void check_range(struct sandbox *box) {
  if (lua_isnoneornil(box->lua, NUM_LOW) && lua_isnoneornil(box->lua, NUM_HIGH))
    return;
  if (lua_type(box->lua, NUM_LOW) != LUA_TNUMBER || lua_type(box->lua, NUM_HIGH) != LUA_TNUMBER)
    sandbox_refuse(box, lua_bounds_line(box->lua), NULL, "num: low and high must be numbers");
}

/* num(value, unit, source, confidence[, note]); of energies low and high follow the note. */
static int lua_num(lua_State *lua) {
  struct sandbox *box = sandbox_of(lua);
  if (lua_gettop(lua) > (box->ranges ? NUM_HIGH : NUM_NOTE))
    sandbox_refuse(box, lua_bounds_line(lua), NULL, "num: too many arguments");
  lua_settop(lua, NUM_HIGH);
  if (lua_type(lua, 1) != LUA_TNUMBER)
    sandbox_refuse(box, lua_bounds_line(lua), NULL, "num: the value must be a number");
  const char *unit = text_argument(box, 2, "unit");
  if (!is_unit(unit))
    sandbox_refuse(box, lua_bounds_line(lua), "units: count B Hz B/s s cycle B/cycle fJ W ratio",
                   "num: unknown unit '%s'", unit);
  const char *source = text_argument(box, 3, "source");
  if (!find_source(box, source))
    refuse_source(box, source);
  const char *confidence = text_argument(box, 4, "confidence");
  if (find_confidence(confidence) == CONFIDENCE_COUNT)
    sandbox_refuse(box, lua_bounds_line(lua), "one of documented, measured, derived, assumed",
                   "num: unknown confidence '%s'", confidence);
  if (lua_isnil(lua, 5)) {
    lua_pushliteral(lua, "");
    lua_replace(lua, 5);
  }
  text_argument(box, 5, "note");
  check_range(box);
  lua_createtable(lua, NUM_LINE, 0);
  for (int i = NUM_VALUE; i <= NUM_HIGH; i++) {
    lua_pushvalue(lua, i);
    lua_rawseti(lua, -2, i);
  }
  lua_pushinteger(lua, (lua_Integer)lua_bounds_line(lua));
  lua_rawseti(lua, -2, NUM_LINE);
  luaL_setmetatable(lua, number_tag);
  return 1;
}

/* soc { ... }, memory { ... }, group { ... }, energy { ... }: marks a table as a description. */
static int lua_describe(lua_State *lua) {
  struct sandbox *box = sandbox_of(lua);
  if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TTABLE)
    sandbox_refuse(box, lua_bounds_line(lua), NULL, "%s: takes one table",
                   lua_tostring(lua, lua_upvalueindex(1)));
  luaL_setmetatable(lua, description_tag);
  return 1;
}

/* round(x): the nearest whole number, for derived figures such as 220.06 * GiB. */
static int lua_round(lua_State *lua) {
  struct sandbox *box = sandbox_of(lua);
  if (lua_type(lua, 1) != LUA_TNUMBER)
    sandbox_refuse(box, lua_bounds_line(lua), NULL, "round: takes a number");
  lua_pushnumber(lua, round(lua_tonumber(lua, 1)));
  return 1;
}

static const struct {
  const char *name;
  lua_Number value;
} multipliers[] = {
    {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"kHz", 1e3},
    {"MHz", 1e6},    {"GHz", 1e9},       {"MB", 1e6},           {"GB", 1e9},
    {"TB", 1e12},    {"ms", 1e-3},       {"us", 1e-6},          {"ns", 1e-9},
};

static void define_words(struct sandbox *box, void *context) {
  (void)context;
  lua_State *lua = box->lua;
  luaL_newmetatable(lua, number_tag);
  luaL_newmetatable(lua, description_tag);
  lua_pop(lua, 2);
  lua_register(lua, "num", lua_num);
  static const char *const words[] = {"soc", "memory", "group", "energy"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    lua_pushstring(lua, words[i]);
    lua_pushcclosure(lua, lua_describe, 1);
    lua_setglobal(lua, words[i]);
  }
  lua_register(lua, "round", lua_round);
  for (size_t i = 0; i < sizeof multipliers / sizeof multipliers[0]; i++) {
    lua_pushnumber(lua, multipliers[i].value);
    lua_setglobal(lua, multipliers[i].name);
  }
}

enum vinci_status sandbox_open(struct sandbox *box) {
  static const struct lua_limits limits = {SANDBOX_MEMORY_MIB, SANDBOX_INSTRUCTIONS_MAX,
                                           SANDBOX_CPU_MS_MAX};
  if (!lua_bounds_open(&box->bounds, &limits))
    return diag_error(box->diag, VINCI_E_NOMEM, "out of memory");
  box->lua = box->bounds.lua;
  return sandbox_protect(box, define_words, NULL);
}

void sandbox_close(struct sandbox *box) {
  lua_bounds_close(&box->bounds);
  box->lua = NULL;
}

struct protected_call {
  void (*body)(struct sandbox *box, void *context);
  void *context;
};

static int call_body(lua_State *lua) {
  struct protected_call *call = lua_touserdata(lua, 1);
  lua_settop(lua, 0);
  call->body(sandbox_of(lua), call->context);
  return 0;
}

/* Turns an error of Lua itself ("data:12: text") into a diagnostic at path and line. */
static void report_lua_error(struct sandbox *box, int code) {
  struct diag_position position = {.path = box->path, .line = box->bounds.line};
  char reason[LUA_BOUNDS_TEXT_MAX];
  if (lua_bounds_reason(&box->bounds, code, reason, sizeof reason)) {
    box->status = diag_error_at(box->diag, VINCI_E_USAGE, position, "%s", reason);
    if (box->bounds.ended != LUA_LIMIT_NONE)
      diag_hint(box->diag, "a description is data, not a program");
    return;
  }
  if (code == LUA_ERRMEM) {
    box->status = diag_error(box->diag, VINCI_E_NOMEM, "out of memory");
    return;
  }
  const char *text = lua_tostring(box->lua, -1);
  if (!text)
    text = "an error without a text";
  if (strncmp(text, CHUNK ":", sizeof CHUNK) == 0) {
    char *end;
    position.line = strtoul(text + sizeof CHUNK, &end, 10);
    if (end[0] == ':' && end[1] == ' ')
      text = end + 2;
  }
  box->status = diag_error_at(box->diag, VINCI_E_USAGE, position, "%s", text);
}

enum vinci_status sandbox_protect(struct sandbox *box,
                                  void (*body)(struct sandbox *box, void *context), void *context) {
  struct protected_call call = {body, context};
  if (box->status != VINCI_OK)
    return box->status;
  lua_settop(box->lua, 0);
  lua_pushcfunction(box->lua, call_body);
  lua_pushlightuserdata(box->lua, &call);
  int code = lua_pcall(box->lua, 1, 0, 0);
  if (code != LUA_OK && box->status == VINCI_OK)
    report_lua_error(box, code);
  return box->status;
}

/* Gives the chunk on top of the stack globals of its own: what one file assigns, no other sees. */
static void give_globals(lua_State *lua) {
  int chunk = lua_gettop(lua);
  lua_newtable(lua);
  lua_pushglobaltable(lua);
  for (lua_pushnil(lua); lua_next(lua, chunk + 2);) {
    lua_pushvalue(lua, -2);
    lua_insert(lua, -2);
    lua_rawset(lua, chunk + 1);
  }
  lua_pop(lua, 1);
  lua_setupvalue(lua, chunk, 1);
}

static _Noreturn void refuse_file(struct sandbox *box, const char *path, const char *why) {
  box->path = path;
  sandbox_refuse(box, 0, NULL, "cannot be read: %s", why);
}

/* The text of a file, with a zero behind its last byte. */
static char *read_file(struct sandbox *box, struct arena *arena, const char *path, size_t *length) {
  int descriptor =
      open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for a writer */
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
  if (!file) {
    int error = errno;
    if (descriptor >= 0)
      close(descriptor);
    if (error == ENOMEM)
      sandbox_no_memory(box);
    refuse_file(box, path, strerror(error));
  }
  struct stat info;
  bool usable = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= 0 &&
                info.st_size <= SANDBOX_FILE_BYTES_MAX;
  size_t size = usable ? (size_t)info.st_size : 0;
  char *text = usable ? arena_alloc(arena, size + 1, 1) : NULL;
  *length = text ? fread(text, 1, size, file) : 0;
  bool failed = ferror(file);
  fclose(file);
  if (!usable)
    refuse_file(box, path, "not a file of at most 1 MiB");
  if (!text)
    sandbox_no_memory(box);
  if (failed)
    refuse_file(box, path, "read error");
  return text;
}

void sandbox_run(struct sandbox *box, struct arena *arena, const char *path) {
  lua_State *lua = box->lua;
  size_t length;
  luaL_checkstack(lua, LUA_MINSTACK, NULL);
  box->text = read_file(box, arena, path, &length);
  box->path = path;
  if (lua_bounds_load(&box->bounds, box->text, length, "=" CHUNK) != LUA_OK)
    lua_error(lua);
  give_globals(lua);
  lua_call(lua, 0, 1);
  if (lua_type(lua, -1) != LUA_TTABLE)
    sandbox_refuse(box, 0, NULL, "does not return a table");
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

const char **sandbox_keys(struct sandbox *box, struct arena *arena, int at, size_t *count) {
  lua_State *lua = box->lua;
  *count = 0;
  for (lua_pushnil(lua); lua_next(lua, at); lua_pop(lua, 1))
    ++*count;
  const char **keys = ARENA_ARRAY(arena, const char *, *count + 1);
  size_t i = 0;
  for (lua_pushnil(lua); lua_next(lua, at) && keys; lua_pop(lua, 1)) {
    const char *key = lua_bounds_text(lua, -2);
    if (!key)
      sandbox_refuse(box, 0, NULL, "only names may be keys of a description");
    charge(box, key);
    keys[i] = arena_strdup(arena, key);
    if (!keys[i++])
      sandbox_no_memory(box);
  }
  if (!keys)
    sandbox_no_memory(box);
  qsort(keys, *count, sizeof *keys, compare_texts);
  return keys;
}

const char *sandbox_text(struct sandbox *box, int at, const char *what) {
  if (lua_type(box->lua, at) != LUA_TSTRING)
    sandbox_refuse(box, sandbox_locate(box, what), NULL, "%s: must be a text", what);
  const char *text = lua_bounds_text(box->lua, at);
  if (!text)
    sandbox_refuse(box, sandbox_locate(box, what), NULL, "%s: contains a zero byte", what);
  charge(box, text);
  return text;
}

static bool has_tag(lua_State *lua, int at, const char *tag) {
  if (lua_type(lua, at) != LUA_TTABLE || !lua_getmetatable(lua, at))
    return false;
  luaL_getmetatable(lua, tag);
  bool same = lua_rawequal(lua, -1, -2);
  lua_pop(lua, 2);
  return same;
}

bool sandbox_is_description(struct sandbox *box) { return has_tag(box->lua, -1, description_tag); }

static const char *text_field(lua_State *lua, int at, int field) {
  lua_rawgeti(lua, at, field);
  const char *text = lua_tostring(lua, -1);
  lua_pop(lua, 1); /* the table keeps the string */
  return text;
}

/* False for an amount that was not given. */
static bool get_amount(lua_State *lua, int at, int field, struct sandbox_amount *out) {
  bool given = lua_rawgeti(lua, at, field) == LUA_TNUMBER;
  out->is_integer = lua_isinteger(lua, -1);
  out->integer = out->is_integer ? lua_tointeger(lua, -1) : 0;
  out->real = lua_tonumber(lua, -1);
  lua_pop(lua, 1);
  return given;
}

bool sandbox_get_number(struct sandbox *box, int at, struct sandbox_number *out) {
  lua_State *lua = box->lua;
  if (!has_tag(lua, at, number_tag))
    return false;
  get_amount(lua, at, NUM_VALUE, &out->amount);
  out->ranged = box->ranges && get_amount(lua, at, NUM_LOW, &out->low) &&
                get_amount(lua, at, NUM_HIGH, &out->high);
  lua_rawgeti(lua, at, NUM_LINE);
  out->line = (unsigned long)lua_tointeger(lua, -1);
  lua_pop(lua, 1);
  out->unit = text_field(lua, at, NUM_UNIT);
  out->source = find_source(box, text_field(lua, at, NUM_SOURCE));
  out->confidence = find_confidence(text_field(lua, at, NUM_CONFIDENCE));
  out->note = text_field(lua, at, NUM_NOTE);
  charge(box, out->note);
  return true;
}

int64_t sandbox_scale(struct sandbox *box, const char *key, const struct sandbox_number *number,
                      enum soc_kind kind) {
  if (strcmp(number->unit, data_unit(kind)) != 0)
    sandbox_refuse(box, number->line, NULL, "%s: the unit must be \"%s\", not \"%s\"", key,
                   data_unit(kind), number->unit);
  int64_t scale = soc_kind_scale(kind);
  int64_t held;
  if (number->amount.is_integer) {
    if (__builtin_mul_overflow(number->amount.integer, scale, &held))
      sandbox_refuse(box, number->line, NULL, "%s: the value is too large", key);
    return held;
  }
  double scaled = number->amount.real * (double)scale;
  if (!(fabs(scaled) < 0x1p62))
    sandbox_refuse(box, number->line, NULL, "%s: the value is too large", key);
  /* A decimal fraction is not exact in binary: allow its rounding, and no more. */
  double tolerance = 1e-6 + ldexp(fabs(scaled), -ROUNDING_BITS);
  double nearest = round(scaled);
  if (fabs(scaled - nearest) > tolerance)
    sandbox_refuse(box, number->line, "use round() for a derived figure",
                   "%s: %.17g is finer than 1/%lld %s", key, number->amount.real, (long long)scale,
                   data_unit(kind));
  return (int64_t)nearest;
}

/* The next `word =` at or after text, NULL when there is none. */
static const char *find_assignment(const char *text, const char *word) {
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
    const char *end = at + strlen(word);
    bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
    end += strspn(end, " \t");
    if (starts && *end == '=')
      return at;
  }
  return NULL;
}

unsigned long sandbox_locate(const struct sandbox *box, const char *key) {
  const char *at = box->text;
  while (at && *key) {
    char word[64];
    size_t length = strcspn(key, ".");
    if (length >= sizeof word)
      return 0;
    memcpy(word, key, length);
    word[length] = '\0';
    at = find_assignment(at, word);
    key += length + (key[length] == '.');
  }
  if (!at)
    return 0;
  unsigned long line = 1;
  for (const char *c = box->text; c < at; c++)
    line += *c == '\n';
  return line;
}
