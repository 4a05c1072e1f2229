/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The description of one memory technology with its controller: plain integers, each
 * a parameter of core/chip/mem.def with a key ("timing.RP"), kind and sentence, read from
 * scripts/mem with source and confidence like those of a SoC (core/chip/soc.h).
 */
#ifndef VINCI_CORE_CHIP_MEM_H
#define VINCI_CORE_CHIP_MEM_H

#include "core/chip/param.h"

enum { MEM_PARAMS_MAX = 64, MEM_MAPS_MAX = 16 };

/* A named address mapping in the notation of memhier/dram/hbm_map.h. */
struct mem_map_text {
  const char *name;
  const char *text;
};

struct mem_spec {
  struct arena arena; /* texts */
  char name[64];
  const char *description;
  struct mem_map_text maps[MEM_MAPS_MAX]; /* sorted by name */
  size_t map_count;
#define PARAM(field, key, kind, minimum, maximum, text) int64_t field;
#include "core/chip/mem.def"
#undef PARAM
  struct soc_provenance provenance[MEM_PARAMS_MAX]; /* by parameter index */
  const struct soc_source *sources;                 /* all that its numbers may refer to */
  size_t source_count;
};

size_t mem_param_count(void);
const struct soc_param *mem_param(size_t index);
/* Index of a key, or mem_param_count(). */
size_t mem_param_find(const char *key);
int64_t mem_get(const struct mem_spec *mem, size_t index);
/* Stores a value after range check, with its provenance. */
VINCI_MUST_CHECK enum vinci_status mem_store(struct mem_spec *mem, size_t index, int64_t value,
                                             struct soc_provenance provenance,
                                             struct vinci_diag *diag);
/* Overrides one number: "timing.RP=15". An unknown key names the nearest key. */
VINCI_MUST_CHECK enum vinci_status mem_set(struct mem_spec *mem, const char *assignment,
                                           struct vinci_diag *diag);
/* Cross-checks a completely filled description. */
VINCI_MUST_CHECK enum vinci_status mem_validate(const struct mem_spec *mem,
                                                struct vinci_diag *diag);
/* The text of a named mapping, NULL when there is none. */
const char *mem_map_text(const struct mem_spec *mem, const char *name);
/* A copy that shares nothing with the original, from malloc; NULL when memory is short. */
struct mem_spec *mem_copy(const struct mem_spec *mem);
/* Frees what the description holds, not the struct itself. */
void mem_free(struct mem_spec *mem);

/* Bytes of one pseudo-channel. */
static inline uint64_t mem_channel_bytes(const struct mem_spec *mem) {
  return (uint64_t)mem->groups * (uint64_t)mem->banks_per_group * (uint64_t)mem->rows *
         (uint64_t)mem->columns * (uint64_t)mem->burst_bytes;
}

#endif
