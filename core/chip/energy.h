/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energies of one process and design: integers, each a number of core/chip/energy.def with a
 * key ("mac.fp16"), read from scripts/energy with range, source and confidence. A SoC has them only
 * when somebody asks (vinci_soc_load_energy): they never change what a run takes.
 */
#ifndef VINCI_CORE_CHIP_ENERGY_H
#define VINCI_CORE_CHIP_ENERGY_H

#include "core/chip/param.h"

/* What an account tells: id, key, sentence. */
#define ENERGY_PARTS(X)                                                                            \
  X(CUBE, "cube", "multiply-accumulates, and cycles of the cubes")                                 \
  X(BUFFERS, "buffers", "bytes of L0A, L0B, L0C, L1, UB and of the paths within cores")            \
  X(VECTOR, "vector", "lane operations of the vector units")                                       \
  X(SCALAR, "scalar", "instructions")                                                              \
  X(L2, "l2", "bytes of L2")                                                                       \
  X(NETWORK, "network", "bytes from router to router")                                             \
  X(MEMORY, "memory", "bytes, rows and refreshes of device memory")                                \
  X(LINKS, "links", "bytes to other devices")                                                      \
  X(ACTIVE, "active", "cores while they have a block")                                             \
  X(IDLE, "idle", "cores, all the time")                                                           \
  X(STATIC, "static", "the rest of the card, all the time")

enum energy_part {
#define X(id, key, text) ENERGY_PART_##id,
  ENERGY_PARTS(X)
#undef X
      ENERGY_PART_COUNT
};

/* Numbers; those before ENERGY_COUNT have a price, those behind are taken. */
enum energy_number {
#define EVENT(id, ...) ENERGY_##id,
#define POWER(id, ...) ENERGY_##id,
#include "core/chip/energy.def"
  ENERGY_COUNT,
  ENERGY_BEFORE_TAKEN = ENERGY_COUNT - 1,
#define TAKEN(id, ...) ENERGY_##id,
#include "core/chip/energy.def"
  ENERGY_NUMBERS
};

struct energy_spec {
  int64_t value[ENERGY_NUMBERS]; /* first: a parameter's offset is that of its value */
  int64_t low[ENERGY_NUMBERS], high[ENERGY_NUMBERS];
  struct arena arena; /* texts */
  char name[64];
  const char *description;
  struct soc_provenance provenance[ENERGY_NUMBERS];
  const struct soc_source *sources;
  size_t source_count;
};

/* A number of the table, with its key, kind and sentence. */
const struct soc_param *energy_param(size_t index);
/* Index of a key, or ENERGY_NUMBERS. */
size_t energy_find(const char *key);
enum energy_part energy_part_of(enum energy_number number);
bool energy_is_power(enum energy_number number);
const char *energy_part_key(enum energy_part part);
const char *energy_part_text(enum energy_part part);

/* Stores a value with its range, after a check of both. */
VINCI_MUST_CHECK enum vinci_status energy_store(struct energy_spec *energy, size_t index,
                                                int64_t value, int64_t low, int64_t high,
                                                struct soc_provenance provenance,
                                                struct vinci_diag *diag);
/* Overrides one number: "mac.fp16=400fJ". What is set has no range: low and high are the value. */
VINCI_MUST_CHECK enum vinci_status energy_set(struct energy_spec *energy, const char *assignment,
                                              struct vinci_diag *diag);
/* Goes on with a digest: all values and ranges. */
uint64_t energy_digest(const struct energy_spec *energy, uint64_t digest);
/* A copy that shares nothing with the original, from malloc; NULL when memory is short. */
struct energy_spec *energy_copy(const struct energy_spec *energy);
/* Frees what the description holds, not the struct itself. */
void energy_free(struct energy_spec *energy);

#endif
