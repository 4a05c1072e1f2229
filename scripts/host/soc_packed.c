/* SPDX-License-Identifier: Apache-2.0 */
/* Chips from the constants of the library, where the data folder says the same. */
#include "scripts/host/soc_packed.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scripts/host/soc_files.h"

enum { PIECE_BYTES = 16 * 1024 };

static const char *text_at(uint32_t place) { return soc_packed_table.text + place; }

/* Whether the rest of an open file is a text. */
static bool reads(int file, const char *text, size_t length) {
  char piece[PIECE_BYTES];
  while (length > 0) {
    ssize_t got = read(file, piece, length < sizeof piece ? length : sizeof piece);
    if (got <= 0 || memcmp(piece, text, (size_t)got) != 0)
      return false;
    text += got;
    length -= (size_t)got;
  }
  return true;
}

/* A file that cannot be read is not the same: whoever reads it then says why. */
static bool is_same(const char *folder, const struct packed_file *packed) {
  char path[SOC_PATH_MAX];
  const char *below = text_at(packed->path);
  size_t length = strlen(folder);
  if (length + strlen(below) + sizeof "/" > sizeof path)
    return false;
  memcpy(path, folder, length);
  path[length] = '/';
  strcpy(path + length + 1, below);
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info;
  bool same = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
              info.st_size == (off_t)packed->length &&
              reads(file, text_at(packed->text), packed->length);
  if (file >= 0)
    close(file);
  return same;
}

const struct soc_packed *soc_packed_find(const char *folder, const char *name) {
  const struct soc_packed *packed = NULL;
  for (size_t i = 0; !packed && i < soc_packed_table.count; i++)
    if (strcmp(text_at(soc_packed_table.chips[i].name), name) == 0)
      packed = &soc_packed_table.chips[i];
  if (!packed)
    return NULL;
  for (size_t i = 0; i < packed->file_count; i++)
    if (!is_same(folder, &packed->files[i]))
      return NULL;
  return packed;
}

static struct soc_provenance provenance_of(const struct packed_provenance *packed) {
  return (struct soc_provenance){.source = text_at(packed->source),
                                 .note = text_at(packed->note),
                                 .confidence = packed->confidence,
                                 .given = packed->given};
}

/* NULL when memory is short. */
static const struct soc_source *sources_of(const struct packed_numbers *packed,
                                           struct arena *arena) {
  struct soc_source *sources = ARENA_ARRAY(arena, struct soc_source, packed->source_count);
  for (size_t i = 0; sources && i < packed->source_count; i++)
    sources[i] =
        (struct soc_source){text_at(packed->sources[i].id), text_at(packed->sources[i].text)};
  return sources;
}

static struct mem_spec *memory_of(const struct soc_packed *packed) {
  struct mem_spec *mem = calloc(1, sizeof *mem);
  if (!mem)
    return NULL;
  strcpy(mem->name, text_at(packed->choices[SOC_MEMORY]));
  mem->description = text_at(packed->memory_description);
  mem->map_count = packed->map_count;
  for (size_t i = 0; i < packed->map_count; i++)
    mem->maps[i] =
        (struct mem_map_text){text_at(packed->maps[i].name), text_at(packed->maps[i].text)};
  for (size_t i = 0; i < mem_param_count(); i++) {
    memcpy((char *)mem + mem_param(i)->offset, &packed->memory.values[i], sizeof(int64_t));
    mem->provenance[i] = provenance_of(&packed->memory.provenance[i]);
  }
  mem->sources = sources_of(&packed->memory, &mem->arena);
  mem->source_count = packed->memory.source_count;
  if (mem->sources)
    return mem;
  mem_free(mem);
  free(mem);
  return NULL;
}

bool soc_packed_fill(const struct soc_packed *packed, struct vinci_soc *soc) {
  strcpy(soc->name, text_at(packed->name));
  soc->base = text_at(packed->base);
  soc->description = text_at(packed->description);
  soc->arch = packed->arch;
  for (unsigned i = 0; i < SOC_NAME_COUNT; i++)
    strcpy(soc->choices[i].name, text_at(packed->choices[i]));
  for (size_t i = 0; i < soc_param_count(); i++) {
    memcpy((char *)soc + soc_param(i)->offset, &packed->numbers.values[i], sizeof(int64_t));
    soc->provenance[i] = provenance_of(&packed->numbers.provenance[i]);
  }
  soc->sources = sources_of(&packed->numbers, &soc->arena);
  soc->source_count = packed->numbers.source_count;
  soc->memory = memory_of(packed);
  struct noc_graph *graph = ARENA_NEW(&soc->arena, struct noc_graph);
  if (!graph || !soc->memory || !soc->sources)
    return false;
  *graph = packed->topology;
  graph->name = text_at(packed->choices[SOC_TOPOLOGY]);
  soc->topology = graph;
  return true;
}
