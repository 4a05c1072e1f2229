/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the user's source. Device code is inlined into the kernel, library functions included, so an
 * address of the code has a chain of places: the innermost in a header, the outer ones calls. The line
 * that counts is the innermost one of the user's own file. Debug information is read with libdw.
 */
#include <string.h>

#include "config.h"
#include "traces/source/source.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool is_file(const char *name, const char *path) {
  return name && strcmp(base_of(name), base_of(path)) == 0;
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (!dwarf_attr(die, attribute, &found) || dwarf_formudata(&found, &value) != 0)
    return 0;
  return (uint32_t)value;
}

/* The innermost call, from an address outwards, that stands in the user's file. */
static uint32_t line_of_calls(Dwarf_Die *unit, Dwarf_Addr address, const char *path) {
  Dwarf_Die *inner = NULL, *scopes = NULL;
  Dwarf_Files *files;
  size_t file_count;
  uint32_t line = 0;
  int count = dwarf_getscopes(unit, address, &inner);
  if (count > 0) /* what holds the innermost one: calls within calls */
    count = dwarf_getscopes_die(inner, &scopes);
  if (dwarf_getsrcfiles(unit, &files, &file_count) != 0)
    count = 0;
  for (int i = 0; i < count && line == 0; i++) {
    if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
      continue;
    const char *name =
        dwarf_filesrc(files, number_of(&scopes[i], DW_AT_call_file), NULL, NULL);
    if (is_file(name, path))
      line = number_of(&scopes[i], DW_AT_call_line);
  }
  free(inner);
  free(scopes);
  return line;
}

/* Compilers need not write the table of addresses by unit, so units are asked one by one. */
static bool find_unit(Dwarf *dwarf, uint64_t address, Dwarf_Die *unit) {
  for (Dwarf_CU *cu = NULL; dwarf_get_units(dwarf, cu, &cu, NULL, NULL, unit, NULL) == 0;)
    if (dwarf_haspc(unit, address) > 0)
      return true;
  return false;
}

static uint32_t find_line(Dwarf *dwarf, const char *path, uint64_t address) {
  Dwarf_Die unit;
  if (!find_unit(dwarf, address, &unit))
    return 0;
  Dwarf_Line *row = dwarf_getsrc_die(&unit, address);
  int line = 0;
  if (row && is_file(dwarf_linesrc(row, NULL, NULL), path) && dwarf_lineno(row, &line) == 0 &&
      line > 0)
    return (uint32_t)line;
  return line_of_calls(&unit, address, path);
}

uint32_t source_line(const struct source_image *image, const char *path, uint64_t address) {
  if (!image->dwarf)
    return 0;
  return find_line(image->dwarf, path, address);
}

void source_lines_open(struct source_image *image) {
  Elf *elf;
  if (elf_version(EV_CURRENT) == EV_NONE)
    return;
  elf = elf_memory((char *)(uintptr_t)image->bytes, image->length);
  if (elf)
    image->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
  image->elf = elf;
}

void source_lines_close(struct source_image *image) {
  if (image->dwarf)
    dwarf_end(image->dwarf);
  if (image->elf)
    elf_end(image->elf);
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
