/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox in which hardware descriptions run: Lua without any library, only the
 * words of the data form (soc, memory, num, round and unit multipliers), anew for each file,
 * in a bounded state (lua_bounds.h). Internal to scripts/.
 */
#ifndef VINCI_SCRIPTS_HOST_SOC_LUA_H
#define VINCI_SCRIPTS_HOST_SOC_LUA_H

#include <lua.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/chip/soc.h"
#include "scripts/host/lua_bounds.h"

/* What one description file may use: far above what an honest file uses. */
enum {
  SANDBOX_MEMORY_MIB = 16,
  SANDBOX_INSTRUCTIONS_MAX = 5000000,
  SANDBOX_CPU_MS_MAX = 500,
  SANDBOX_FILE_BYTES_MAX = 1 << 20,
};

/* One Lua state and its file. Errors go to diag with path and line. */
struct sandbox {
  struct lua_bounds bounds;   /* first: the state knows its bounds, and so its sandbox */
  lua_State *lua;             /* that of the bounds */
  size_t kept_bytes;          /* of texts handed out: one text may have many names */
  const char *path;           /* of the file now running */
  const char *text;           /* ends with a zero */
  struct soc_source *sources; /* ids that num() accepts; NULL while sources.lua itself runs */
  size_t source_count;
  bool ranges;             /* num() may end with low and high */
  struct vinci_diag *diag; /* never NULL */
  enum vinci_status status;
};

/* A value as written in a description. */
struct sandbox_amount {
  bool is_integer;
  int64_t integer;
  double real;
};

/* What num() has made of a value. */
struct sandbox_number {
  struct sandbox_amount amount, low, high;
  bool ranged; /* low and high were given */
  const char *unit;
  const struct soc_source *source;
  enum confidence confidence;
  const char *note; /* lives as long as the Lua value */
  unsigned long line;
};

/* diag is set by the caller before. Close after success or failure. */
enum vinci_status sandbox_open(struct sandbox *box);
void sandbox_close(struct sandbox *box);

/*
 * Calls body(box, context) so that a Lua error inside (also for lack of memory) comes
 * back as a status. All use of box->lua happens inside.
 */
enum vinci_status sandbox_protect(struct sandbox *box,
                                  void (*body)(struct sandbox *box, void *context), void *context);

/* Reports at a line of the running file and leaves through sandbox_protect. */
_Noreturn void sandbox_refuse(struct sandbox *box, unsigned long line, const char *hint,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));
_Noreturn void sandbox_no_memory(struct sandbox *box);

/*
 * Reads a regular file into the arena and runs it (inside sandbox_protect); its one result, a
 * table, is left on the stack.
 */
void sandbox_run(struct sandbox *box, struct arena *arena, const char *path);
/*
 * The keys of the table at `at` in the arena, sorted: Lua's own order differs from run to run.
 * Refuses those that are no names.
 */
const char **sandbox_keys(struct sandbox *box, struct arena *arena, int at, size_t *count);
/*
 * The text at `at` of the stack: a string without a zero byte, which would end the text early
 * here and not in Lua. Others are refused as "WHAT: must be a text".
 */
const char *sandbox_text(struct sandbox *box, int at, const char *what);
/* Whether the table on top of the stack was made by soc{} or memory{}. */
bool sandbox_is_description(struct sandbox *box);
/* Whether the value at an index was made by num(), and if so what it says. */
bool sandbox_get_number(struct sandbox *box, int at, struct sandbox_number *out);
/*
 * The integer form of a number for a parameter kind, exact; refuses wrong units and
 * values that do not fit the scale of the kind.
 */
int64_t sandbox_scale(struct sandbox *box, const char *key, const struct sandbox_number *number,
                      enum soc_kind kind);
/* Line of a dotted key in the running file, searched in its text; 0 when not found. */
unsigned long sandbox_locate(const struct sandbox *box, const char *key);

#endif
