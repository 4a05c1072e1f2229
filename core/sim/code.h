/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the instruction caches of the cores hold. A cache holds lines; a new line takes the place of
 * that which was used longest ago. A kernel runs through its code in order, so the model keeps
 * one number of lines for each kernel, and takes the first lines of the oldest kernel away first.
 * Code that is larger than the cache throws its own lines out before they are used again.
 *
 * The blocks of a kernel go to the cores that follow those of the kernel before, in turn: in a
 * profile of a training step on a 910B4 a pair of kernels with one block each finds no code for 20
 * launches, and all of its code from then on, when each of the 40 cores has run one of both.
 * Within a run, cores are numbered from the first one that a kernel uses.
 */
#ifndef VINCI_CORE_SIM_CODE_H
#define VINCI_CORE_SIM_CODE_H

#include "core/base/arena.h"
#include "core/chip/soc.h"
#include "core/isa/program.h"

struct code_held {
  uint64_t kernel;
  uint32_t lines;
};

struct code_cache {
  struct code_held *held; /* the kernel that ran longest ago comes first */
  uint32_t count;
  /* Of the kernel that runs: lines that were there and were not asked for yet; lines asked for. */
  uint32_t unused, asked;
  bool far; /* the kernel that runs has come out of device memory with this launch */
};

struct code_caches {
  struct code_cache *cache[CORE_KIND_COUNT];
  uint32_t count[CORE_KIND_COUNT];
  uint32_t capacity_lines[CORE_KIND_COUNT];
  uint32_t room; /* kernels that a cache can hold lines of */
  uint32_t first[CORE_KIND_COUNT], next[CORE_KIND_COUNT];
  /* Of the lines of a kernel that no core has run: those that are there all the same, unless the
   * code is larger than the cache. */
  uint32_t found_ppm;
  /* The code of kernels that did not run yet is not in L2 either; those that did, and in which
   * launch first. Behind as many as there is room for, code is in L2. */
  bool device;
  struct code_seen {
    uint64_t kernel, launch;
  } * seen;
  uint32_t seen_count;
  uint64_t launches;
};

/* What options say of the start: `found_ppm`, or VINCI_CODE_DEVICE. */
void code_start(struct code_caches *code, uint32_t found_ppm);
/* All caches are empty. kernels: different ones whose lines a cache holds at the same time, at
 * most; the one that ran longest ago makes room for one more. False: out of memory. */
bool code_create(struct code_caches *code, struct arena *arena, const struct vinci_soc *soc,
                 uint64_t kernels);
/* Empties the caches; the next kernel begins on the first cores. */
void code_clear(struct code_caches *code);
void code_copy(struct code_caches *code, const struct code_caches *from);
/* Of all that later launches depend on. Cores count from the next one that a kernel goes to: which
 * of them that is makes no difference. */
uint64_t code_digest(const struct code_caches *code, uint64_t seed);

/* What tells the code of a kernel from that of others: its name, the types of the tensors, and
 * whether it has one block or more, as kernels of a library choose other code for little data. */
uint64_t code_kernel(const struct vinci_trace *trace, const struct program_kernel *kernel);

/* Launches a kernel on numbers of cores by kind. */
void code_launch(struct code_caches *code, const uint32_t cores[CORE_KIND_COUNT]);
/* The core that is number n of its kind begins a block; whether its cache has lines of the kernel.
 */
bool code_begin(struct code_caches *code, enum core_kind kind, uint32_t n, uint64_t kernel);
/* The block needs more lines of its kernel; how many of these are not there. */
uint32_t code_fetch(struct code_caches *code, enum core_kind kind, uint32_t n, uint32_t lines);
/* By how much a line of code takes longer that L2 does not hold: a line of L2, with as many lines
 * of code as it has, comes from device memory one after the other. */
uint64_t code_device_cycles(const struct vinci_soc *soc);
/* Whether the lines that the core's block lacks come from device memory. */
bool code_is_far(const struct code_caches *code, enum core_kind kind, uint32_t n);

#endif
