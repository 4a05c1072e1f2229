/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chips of scripts/soc as constants of the library: what their files say, read when vinci is
 * built (soc_pack.c), beside the text of these files. A chip whose files still have this text is
 * taken from here and needs no Lua; every other is read. Internal to scripts/.
 */
#ifndef VINCI_SCRIPTS_HOST_SOC_PACKED_H
#define VINCI_SCRIPTS_HOST_SOC_PACKED_H

#include "core/chip/mem.h"
#include "core/chip/noc_config.h"
#include "core/chip/soc.h"

/* Texts are places in soc_packed_table.text: pointers would cost the start of every process. */
struct packed_provenance {
  uint32_t source;
  uint32_t note;
  uint8_t confidence;
  bool given;
};

struct packed_source {
  uint32_t id;
  uint32_t text;
};

struct packed_map {
  uint32_t name;
  uint32_t text;
};

/* By the index of the parameter. */
struct packed_numbers {
  const int64_t *values;
  const struct packed_provenance *provenance;
  const struct packed_source *sources;
  size_t source_count;
};

struct packed_file {
  uint32_t path; /* below the data folder */
  uint32_t text;
  uint32_t length;
};

struct soc_packed {
  uint32_t name, base, description;
  enum arch arch;
  uint32_t choices[SOC_NAME_COUNT];
  const struct packed_file *files; /* all that the chip is read from */
  size_t file_count;
  struct packed_numbers numbers;
  uint32_t memory_description;
  const struct packed_map *maps;
  size_t map_count;
  struct packed_numbers memory;
  const struct noc_graph topology; /* without its name */
};

struct soc_packed_table {
  const char *text;
  const struct soc_packed *chips;
  size_t count;
};
extern const struct soc_packed_table soc_packed_table;

/* The chip of a name, if the files of the data folder are those that it was packed from; else NULL.
 */
const struct soc_packed *soc_packed_find(const char *folder, const char *name);
/* Fills a zeroed description; false when memory is short. */
bool soc_packed_fill(const struct soc_packed *packed, struct vinci_soc *soc);

#endif
