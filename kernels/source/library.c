/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel libraries and programs as ELF files in memory: their sections and the symbols of kernels.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/digest.h"
#include "core/base/file.h"
#include "kernels/source/library.h"

const char *const source_section_image[CORE_KIND_COUNT] = {
    [CORE_AIC] = ".vinci.aic", [CORE_AIV] = ".vinci.aiv", [CORE_AICORE] = ".vinci.aicore"};
const char source_section_path[] = ".vinci.source", source_section_arch[] = ".vinci.arch",
           source_section_sync[] = ".vinci.sync",
           source_section_in_order[] =
               ".vinci.in_order"; /* of include/vinci/cce/register_types.h */

enum { LIBRARY_BYTES_MAX = 1 << 28 };

enum vinci_status source_library_open(const char *path, struct source_library **out,
                                      struct vinci_diag *diag) {
  struct source_library *library = calloc(1, sizeof *library);
  char *copy = strdup(path);
  *out = NULL;
  if (!library || !copy) {
    free(library);
    free(copy);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for %s", path);
  }
  library->path = copy;
  library->file.bytes = file_read(path, LIBRARY_BYTES_MAX, &library->file.length, diag);
  if (!library->file.bytes) {
    source_library_close(library);
    return diag->status;
  }
  library->digest = digest_bytes(DIGEST_SEED, library->file.bytes, library->file.length);
  *out = library;
  return VINCI_OK;
}

void source_library_close(struct source_library *library) {
  if (!library)
    return;
  for (size_t i = 0; i < library->image_count; i++)
    source_lines_close(library->images[i].lines);
  free(library->images);
  free((char *)(uintptr_t)library->file.bytes);
  free(library->path);
  free(library);
}

void source_library_lines(struct source_library *library, struct source_image *image) {
  for (size_t i = 0; i < library->image_count; i++)
    if (library->images[i].bytes == image->bytes) {
      image->lines = library->images[i].lines;
      return;
    }
  struct source_image *more =
      realloc(library->images, (library->image_count + 1) * sizeof *library->images);
  if (!more)
    return;
  image->lines = source_lines_open(image);
  library->images = more;
  library->images[library->image_count++] = *image;
}

/* Copies `size` bytes from an offset of the file; false when they leave the file. Files of others
 * may have any offset, also one at which no structure may lie. */
static bool copy_from(const struct source_file *file, uint64_t offset, void *to, size_t size) {
  if (offset > file->length || size > file->length - offset)
    return false;
  memcpy(to, file->bytes + offset, size);
  return true;
}

/* Whether the name at an offset is a section's. */
static bool is_named(const struct source_file *file, uint64_t offset, const char *name) {
  char found[32];
  size_t size = strlen(name) + 1;
  return size <= sizeof found && copy_from(file, offset, found, size) &&
         memcmp(found, name, size) == 0;
}

/* The table of sections and the names there; false when the file is no such file. */
static bool read_heads(const struct source_file *file, Elf64_Ehdr *head, Elf64_Shdr *names) {
  return copy_from(file, 0, head, sizeof *head) && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
         head->e_ident[EI_CLASS] == ELFCLASS64 &&
         copy_from(file, head->e_shoff + (uint64_t)head->e_shstrndx * sizeof *names, names,
                   sizeof *names);
}

bool source_section(const struct source_file *file, const char *name, struct source_file *out) {
  Elf64_Ehdr head;
  Elf64_Shdr names, row;
  if (!read_heads(file, &head, &names))
    return false;
  for (uint64_t i = 0; i < head.e_shnum; i++) {
    if (!copy_from(file, head.e_shoff + i * sizeof row, &row, sizeof row))
      return false;
    if (row.sh_type == SHT_NOBITS || row.sh_offset > file->length ||
        row.sh_size > file->length - row.sh_offset ||
        !is_named(file, names.sh_offset + row.sh_name, name))
      continue;
    out->bytes = file->bytes + row.sh_offset;
    out->length = (size_t)row.sh_size;
    return true;
  }
  return false;
}

bool source_next_image(const struct source_file *images, size_t *offset, struct source_file *out) {
  Elf64_Ehdr head;
  struct source_file rest = {images->bytes + *offset, images->length - *offset};
  if (*offset >= images->length || !copy_from(&rest, 0, &head, sizeof head) ||
      memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return false;
  /* The table of sections ends a file. */
  uint64_t length = head.e_shoff + (uint64_t)head.e_shnum * sizeof(Elf64_Shdr);
  if (length < sizeof head || length > rest.length)
    return false;
  *out = (struct source_file){rest.bytes, (size_t)length};
  *offset += (size_t)round_up(length, SOURCE_IMAGE_ALIGNMENT);
  return true;
}

size_t source_loaded_bytes(const struct source_image *image) {
  const struct source_file file = {image->bytes, image->length};
  Elf64_Ehdr head;
  Elf64_Phdr part;
  uint64_t end = 0;
  if (!copy_from(&file, 0, &head, sizeof head))
    return image->length;
  for (uint64_t i = 0; i < head.e_phnum; i++)
    if (copy_from(&file, head.e_phoff + i * sizeof part, &part, sizeof part) &&
        part.p_type == PT_LOAD)
      end = max_u64(end, part.p_offset + part.p_filesz);
  return end > 0 && end <= image->length ? (size_t)end : image->length;
}

static const char *text_at(const struct source_file *names, uint64_t offset) {
  return offset < names->length && memchr(names->bytes + offset, '\0', names->length - offset)
             ? names->bytes + offset
             : NULL;
}

/* Empty when there is no such section. */
static void name_of_section(const struct source_file *file, unsigned index, char *out,
                            size_t size) {
  Elf64_Ehdr head;
  Elf64_Shdr names, row;
  *out = '\0';
  if (!read_heads(file, &head, &names) || index >= head.e_shnum ||
      !copy_from(file, head.e_shoff + index * sizeof row, &row, sizeof row))
    return;
  const char *name = text_at(file, names.sh_offset + row.sh_name);
  snprintf(out, size, "%s", name ? name : "");
}

/* ---- symbols ------------------------------------------------------------------------------ */

/* How well a symbol is what was asked for. */
enum match { MATCH_NONE, MATCH_PART, MATCH_WHOLE };

/* A function of C++ has its name, with the length in front, somewhere in the symbol: the last name
 * before the types of its parameters. */
static enum match match_of(const char *symbol, const char *name) {
  char with_length[SOURCE_NAME_BYTES + 16];
  if (strcmp(symbol, name) == 0)
    return MATCH_WHOLE;
  snprintf(with_length, sizeof with_length, "%zu%s", strlen(name), name);
  return strncmp(symbol, "_Z", 2) == 0 && strstr(symbol, with_length) ? MATCH_PART : MATCH_NONE;
}

/* A table of symbols and its names: those that other files see, or all, local ones included. */
static const char *const tables[][2] = {{".dynsym", ".dynstr"}, {".symtab", ".strtab"}};
enum { TABLE_COUNT = sizeof tables / sizeof *tables };

struct symbol_reader {
  struct source_file symbols, names;
  uint64_t at;
};

static bool open_symbols(const struct source_file *file, unsigned table, struct symbol_reader *in) {
  in->at = 0;
  return source_section(file, tables[table][0], &in->symbols) &&
         source_section(file, tables[table][1], &in->names);
}

/* The name of the next function; NULL behind the last. */
static const char *next_function(struct symbol_reader *in, Elf64_Sym *symbol) {
  while (in->at + sizeof *symbol <= in->symbols.length) {
    memcpy(symbol, in->symbols.bytes + in->at, sizeof *symbol);
    in->at += sizeof *symbol;
    const char *name = text_at(&in->names, symbol->st_name);
    if (name && symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
      return name;
  }
  return NULL;
}

static enum match find_in(const struct source_file *image, unsigned table, const char *name,
                          struct source_symbol *out) {
  struct symbol_reader in;
  Elf64_Sym symbol;
  enum match best = MATCH_NONE;
  if (!open_symbols(image, table, &in))
    return MATCH_NONE;
  for (const char *text; best != MATCH_WHOLE && (text = next_function(&in, &symbol));) {
    enum match match = match_of(text, name);
    if (match <= best)
      continue;
    best = match;
    out->name = text;
    name_of_section(image, symbol.st_shndx, out->section, sizeof out->section);
  }
  return best;
}

bool source_find_kernel(const struct source_file *image, const char *name,
                        struct source_symbol *out) {
  return find_in(image, 0, name, out) != MATCH_NONE || find_in(image, 1, name, out) == MATCH_WHOLE;
}

bool source_function(const struct source_file *file, const char *name, uint64_t *value) {
  unsigned count = 0;
  for (unsigned table = 0; table < TABLE_COUNT && count == 0; table++) {
    struct symbol_reader in;
    Elf64_Sym symbol;
    if (!open_symbols(file, table, &in))
      continue;
    for (const char *text; (text = next_function(&in, &symbol));)
      if (strcmp(text, name) == 0) {
        count++;
        *value = symbol.st_value;
      }
  }
  return count == 1; /* functions of several sources may have one local name */
}

const char *source_function_at(const struct source_file *file, uint64_t value) {
  struct symbol_reader in;
  Elf64_Sym symbol;
  if (!open_symbols(file, 1, &in))
    return NULL;
  for (const char *text; (text = next_function(&in, &symbol));)
    if (symbol.st_value == value)
      return text;
  return NULL;
}

typedef char *demangle(const char *symbol, char *room, size_t *size, int *status);

/* Of the C++ runtime, which a compiled kernel needs and the library does not. NULL where there is
 * none. */
static demangle *find_demangler(void) {
  demangle *found = NULL;
  void *runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  void *symbol = runtime ? dlsym(runtime, "__cxa_demangle") : NULL;
  memcpy(&found, &symbol, sizeof found);
  return found;
}

/* Of a symbol that is too new for the demangler, "_Z6kernelI..." or "_ZN5space6kernelE...": the
 * last plain name. False when the symbol has none. */
static bool last_name(const char *symbol, char *out, size_t size) {
  bool any = false;
  const char *at = symbol + strlen("_Z");
  at += *at == 'N' || *at == 'L';
  for (long length; (length = strtol(at, (char **)(uintptr_t)&at, 10)) > 0;) {
    if ((size_t)length > strlen(at))
      break;
    snprintf(out, size, "%.*s", (int)length, at);
    at += length;
    any = true;
  }
  return any;
}

void source_plain_name(const char *symbol, char *out, size_t size) {
  int status = 0;
  bool mangled = strncmp(symbol, "_Z", 2) == 0; /* else a plain name may be the code of a type */
  demangle *demangled = mangled ? find_demangler() : NULL;
  char *whole = demangled ? demangled(symbol, NULL, NULL, &status) : NULL;
  if (!whole && mangled && last_name(symbol, out, size))
    return;
  const char *from = whole ? whole : symbol;
  /* "void space::kernel<float>(unsigned char*)": without the result, the parameters and "space::"
   */
  size_t length = 0;
  int depth = 0;
  const char *start = from;
  for (const char *at = from; *at && !(*at == '(' && depth == 0); at++) {
    depth += *at == '<' ? 1 : *at == '>' ? -1 : 0;
    if (depth == 0 && (*at == ' ' || *at == ':'))
      start = at + 1;
    length = (size_t)(at + 1 - start);
  }
  snprintf(out, size, "%.*s", (int)length, start);
  free(whole);
}
