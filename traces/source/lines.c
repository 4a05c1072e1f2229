/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the user's source. Device code is inlined into the kernel, library functions included,
 * so an address of the code has a chain of places: the innermost in a header, the outer ones calls.
 * The line that counts is the innermost one of the user's own file. Debug information is read with
 * libdw, which is loaded when the first kernel is: other runs need not wait for the library.
 */
#include <string.h>

#include "traces/source/source.h"

#if __has_include(<elfutils/libdw.h>)
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#define LIBDW_FUNCTIONS(X)                                                                         \
  X(dwarf_attr)                                                                                    \
  X(dwarf_begin_elf)                                                                               \
  X(dwarf_end)                                                                                     \
  X(dwarf_filesrc)                                                                                 \
  X(dwarf_formudata)                                                                               \
  X(dwarf_get_units)                                                                               \
  X(dwarf_getscopes)                                                                               \
  X(dwarf_getscopes_die)                                                                           \
  X(dwarf_getsrc_die)                                                                              \
  X(dwarf_getsrcfiles)                                                                             \
  X(dwarf_haspc)                                                                                   \
  X(dwarf_lineno)                                                                                  \
  X(dwarf_linesrc)                                                                                 \
  X(dwarf_tag)                                                                                     \
  X(elf_end)                                                                                       \
  X(elf_memory)                                                                                    \
  X(elf_version)

/* The library in use by one image. */
struct libdw {
  void *handle;
#define POINTER(name) __typeof__(&name) name;
  LIBDW_FUNCTIONS(POINTER)
#undef POINTER
  Elf *elf;
  Dwarf *dwarf; /* NULL: no debug information */
};

/* libdw brings libelf along. */
static bool load_functions(struct libdw *dw) {
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

static uint32_t number_of(const struct libdw *dw, Dwarf_Die *die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (!dw->dwarf_attr(die, attribute, &found) || dw->dwarf_formudata(&found, &value) != 0)
    return 0;
  return (uint32_t)value;
}

/* The innermost call, from an address outwards, that stands in the user's file. */
static uint32_t line_of_calls(const struct libdw *dw, Dwarf_Die *unit, Dwarf_Addr address,
                              const char *path) {
  Dwarf_Die *inner = NULL, *scopes = NULL;
  Dwarf_Files *files;
  size_t file_count;
  uint32_t line = 0;
  int count = dw->dwarf_getscopes(unit, address, &inner);
  if (count > 0) /* what holds the innermost one: calls within calls */
    count = dw->dwarf_getscopes_die(inner, &scopes);
  if (dw->dwarf_getsrcfiles(unit, &files, &file_count) != 0)
    count = 0;
  for (int i = 0; i < count && line == 0; i++) {
    if (dw->dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
      continue;
    const char *name =
        dw->dwarf_filesrc(files, number_of(dw, &scopes[i], DW_AT_call_file), NULL, NULL);
    if (is_file(name, path))
      line = number_of(dw, &scopes[i], DW_AT_call_line);
  }
  free(inner);
  free(scopes);
  return line;
}

/* Compilers need not write the table of addresses by unit, so each unit is asked in turn. */
static bool find_unit(const struct libdw *dw, uint64_t address, Dwarf_Die *unit) {
  for (Dwarf_CU *cu = NULL; dw->dwarf_get_units(dw->dwarf, cu, &cu, NULL, NULL, unit, NULL) == 0;)
    if (dw->dwarf_haspc(unit, address) > 0)
      return true;
  return false;
}

static uint32_t find_line(const struct libdw *dw, const char *path, uint64_t address) {
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
  const struct libdw *dw = image->lines;
  return dw && dw->dwarf ? find_line(dw, path, address) : 0;
}

void source_lines_open(struct source_image *image) {
  struct libdw *dw = image->lines = calloc(1, sizeof *dw);
  if (!dw)
    return;
  dw->handle = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!dw->handle || !load_functions(dw) || dw->elf_version(EV_CURRENT) == EV_NONE)
    return;
  dw->elf = dw->elf_memory((char *)(uintptr_t)image->bytes, image->length);
  if (dw->elf)
    dw->dwarf = dw->dwarf_begin_elf(dw->elf, DWARF_C_READ, NULL);
}

void source_lines_close(struct source_image *image) {
  struct libdw *dw = image->lines;
  if (!dw)
    return;
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

void source_lines_open(struct source_image *image) { (void)image; }

void source_lines_close(struct source_image *image) { (void)image; }
#endif
