/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the user's source. Device code is inlined into the kernel, library functions included,
 * so an address of the code has a chain of places: the innermost in a header, the outer ones calls.
 * The line that counts is the innermost one of the user's own file. Debug information is read with
 * libdw, which is loaded when the first kernel is: other runs need not wait for the library.
 */
#include <string.h>

#include "kernels/source/lines.h"

#if __has_include(<elfutils/libdw.h>)
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#define LIBDW_FUNCTIONS(X)                                                                         \
  X(dwarf_attr)                                                                                    \
  X(dwarf_begin_elf)                                                                               \
  X(dwarf_child)                                                                                   \
  X(dwarf_dieoffset)                                                                               \
  X(dwarf_end)                                                                                     \
  X(dwarf_filesrc)                                                                                 \
  X(dwarf_formudata)                                                                               \
  X(dwarf_get_units)                                                                               \
  X(dwarf_getsrc_die)                                                                              \
  X(dwarf_getsrcfiles)                                                                             \
  X(dwarf_haspc)                                                                                   \
  X(dwarf_lineno)                                                                                  \
  X(dwarf_linesrc)                                                                                 \
  X(dwarf_ranges)                                                                                  \
  X(dwarf_siblingof)                                                                               \
  X(dwarf_tag)                                                                                     \
  X(elf_end)                                                                                       \
  X(elf_memory)                                                                                    \
  X(elf_version)

/* Code from `start` to `end` belongs to a call at a line of the user's file. */
struct call {
  uint64_t start, end;
  uint32_t line;
};

/*
 * The calls of one unit. Each search through its tree would take milliseconds, and a kernel issues
 * instructions from thousands of places, so the tree is walked once. `parts` are the calls cut at
 * every start and end, ordered: none overlap, each has the line of its innermost call. Of calls
 * within calls the inner ones come later in `call`.
 */
struct calls {
  struct calls *next;
  Dwarf_Off unit;
  struct call *call, *part;
  size_t count, room, parts;
};

/* libdw in use by one image. */
struct source_lines {
  void *handle;
#define POINTER(name) __typeof__(&name) name;
  LIBDW_FUNCTIONS(POINTER)
#undef POINTER
  Elf *elf;
  Dwarf *dwarf; /* NULL: no debug information */
  struct calls *calls;
};

/* libdw brings libelf along. */
static bool load_functions(struct source_lines *dw) {
  bool all = true;
#define LOAD(name) all &= (*(void **)&dw->name = dlsym(dw->handle, #name)) != NULL;
  LIBDW_FUNCTIONS(LOAD)
#undef LOAD
  return all;
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_file(const char *name, const char *path) {
  return name && strcmp(base_of(name), base_of(path)) == 0;
}

static uint32_t number_of(const struct source_lines *dw, Dwarf_Die *die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (!dw->dwarf_attr(die, attribute, &found) || dw->dwarf_formudata(&found, &value) != 0)
    return 0;
  return (uint32_t)value;
}

/* ---- calls within the user's file --------------------------------------------------------- */

/* A unit whose calls are listed, for a file of the user. */
struct walk {
  const struct source_lines *dw;
  struct calls *calls;
  Dwarf_Files *files;
  const char *path;
  bool failed; /* out of memory */
};

static void note_call(struct walk *walk, Dwarf_Die *die, uint32_t line) {
  struct calls *calls = walk->calls;
  Dwarf_Addr base, start, end;
  for (ptrdiff_t at = 0; (at = walk->dw->dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
    if (calls->count == calls->room) {
      size_t room = calls->room ? 2 * calls->room : 256;
      struct call *more = realloc(calls->call, room * sizeof *more);
      if (!more) {
        walk->failed = true;
        return;
      }
      calls->call = more;
      calls->room = room;
    }
    calls->call[calls->count++] = (struct call){start, end, line};
  }
}

/* Types hold no code of their own; what is inside of a call comes after the call. */
static void walk_tree(struct walk *walk, Dwarf_Die *parent) {
  const struct source_lines *dw = walk->dw;
  Dwarf_Die die;
  if (dw->dwarf_child(parent, &die) != 0)
    return;
  do {
    switch (dw->dwarf_tag(&die)) {
    case DW_TAG_inlined_subroutine: {
      const char *name =
          dw->dwarf_filesrc(walk->files, number_of(dw, &die, DW_AT_call_file), NULL, NULL);
      if (is_file(name, walk->path))
        note_call(walk, &die, number_of(dw, &die, DW_AT_call_line));
      walk_tree(walk, &die);
      break;
    }
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
      walk_tree(walk, &die);
      break;
    default:
      break;
    }
  } while (!walk->failed && dw->dwarf_siblingof(&die, &die) == 0);
}

static int by_start(const void *one, const void *other) {
  const struct call *a = one, *b = other;
  return (a->start > b->start) - (a->start < b->start);
}

static size_t part_of(const struct calls *calls, uint64_t address) {
  size_t low = 0, high = calls->parts;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (calls->part[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Parts between all starts and ends, then the line of each call over its parts, the inner ones
 * last. */
static void cut(struct calls *calls) {
  size_t edges = 2 * calls->count;
  calls->part = calloc(edges + 1, sizeof *calls->part);
  if (!calls->part)
    return;
  for (size_t i = 0; i < calls->count; i++) {
    calls->part[2 * i].start = calls->call[i].start;
    calls->part[2 * i + 1].start = calls->call[i].end;
  }
  qsort(calls->part, edges, sizeof *calls->part, by_start);
  for (size_t i = 0; i + 1 < edges; i++)
    calls->part[i].end = calls->part[i + 1].start;
  calls->parts = edges ? edges - 1 : 0;
  for (size_t i = 0; i < calls->count; i++)
    for (size_t k = part_of(calls, calls->call[i].start);
         k < calls->parts && calls->part[k].start < calls->call[i].end; k++)
      calls->part[k].line = calls->call[i].line;
}

static const struct calls *calls_of(struct source_lines *dw, Dwarf_Die *unit, const char *path) {
  Dwarf_Off offset = dw->dwarf_dieoffset(unit);
  for (const struct calls *calls = dw->calls; calls; calls = calls->next)
    if (calls->unit == offset)
      return calls;
  struct calls *calls = calloc(1, sizeof *calls);
  if (!calls)
    return NULL;
  struct walk walk = {.dw = dw, .calls = calls, .path = path};
  size_t file_count;
  if (dw->dwarf_getsrcfiles(unit, &walk.files, &file_count) == 0)
    walk_tree(&walk, unit);
  cut(calls);
  calls->unit = offset;
  calls->next = dw->calls;
  dw->calls = calls;
  return calls;
}

/* The innermost call, from an address outwards, that stands in the user's file. */
static uint32_t line_of_calls(struct source_lines *dw, Dwarf_Die *unit, Dwarf_Addr address,
                              const char *path) {
  const struct calls *calls = calls_of(dw, unit, path);
  size_t part = calls ? part_of(calls, address) : 0;
  bool inside = calls && part < calls->parts && calls->part[part].start <= address;
  return inside ? calls->part[part].line : 0;
}

/* ---- lines -------------------------------------------------------------------------------- */

/* Compilers need not write the table of addresses by unit, so each unit is asked in turn. */
static bool find_unit(const struct source_lines *dw, uint64_t address, Dwarf_Die *unit) {
  for (Dwarf_CU *cu = NULL; dw->dwarf_get_units(dw->dwarf, cu, &cu, NULL, NULL, unit, NULL) == 0;)
    if (dw->dwarf_haspc(unit, address) > 0)
      return true;
  return false;
}

static uint32_t find_line(struct source_lines *dw, const char *path, uint64_t address) {
  Dwarf_Die unit;
  if (!find_unit(dw, address, &unit))
    return 0;
  Dwarf_Line *row = dw->dwarf_getsrc_die(&unit, address);
  int line = 0;
  if (row && is_file(dw->dwarf_linesrc(row, NULL, NULL), path) &&
      dw->dwarf_lineno(row, &line) == 0 && line > 0)
    return (uint32_t)line;
  return line_of_calls(dw, &unit, address, path);
}

uint32_t source_line(const struct source_image *image, const char *path, uint64_t address) {
  struct source_lines *dw = image->lines;
  return dw && dw->dwarf ? find_line(dw, path, address) : 0;
}

struct source_lines *source_lines_open(const struct source_image *image) {
  struct source_lines *dw = calloc(1, sizeof *dw);
  if (!dw)
    return NULL;
  dw->handle = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!dw->handle || !load_functions(dw) || dw->elf_version(EV_CURRENT) == EV_NONE)
    return dw;
  dw->elf = dw->elf_memory((char *)(uintptr_t)image->bytes, image->length);
  if (dw->elf)
    dw->dwarf = dw->dwarf_begin_elf(dw->elf, DWARF_C_READ, NULL);
  return dw;
}

void source_lines_close(struct source_lines *dw) {
  if (!dw)
    return;
  for (struct calls *calls = dw->calls, *next; calls; calls = next) {
    next = calls->next;
    free(calls->call);
    free(calls->part);
    free(calls);
  }
  if (dw->dwarf)
    dw->dwarf_end(dw->dwarf);
  if (dw->elf)
    dw->elf_end(dw->elf);
  if (dw->handle)
    dlclose(dw->handle);
  free(dw);
}
#else
uint32_t source_line(const struct source_image *image, const char *path, uint64_t address) {
  (void)image;
  (void)path;
  (void)address;
  return 0;
}

struct source_lines *source_lines_open(const struct source_image *image) {
  (void)image;
  return NULL;
}

void source_lines_close(struct source_lines *lines) { (void)lines; }
#endif
