/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the author of a kernel can turn: the cores that have work, barriers, buffers, the size of
 * tiles. What each is expected to save is an estimate (core/result/replay.h); a run may have
 * measured what two buffers save.
 */
#ifndef VINCI_CORE_RESULT_LEVERS_H
#define VINCI_CORE_RESULT_LEVERS_H

#include "core/result/critical.h"

enum lever_kind { LEVER_CORES, LEVER_BARRIERS, LEVER_BUFFERS, LEVER_TILES, LEVER_KINDS };

enum { LEVER_TEXT_BYTES = 224 };
struct lever {
  enum lever_kind kind;
  uint64_t saved_cycles; /* of the run, of the core clock */
  bool measured;
  char text[LEVER_TEXT_BYTES]; /* "16 of 40 AIV cores have work; with work on all cores" */
};

const char *lever_key(enum lever_kind kind);

/* Those that save a fiftieth of the run or more, the largest first; returns their number. */
size_t levers_find(const struct vinci_result *result, const struct critical_path *path,
                   struct lever levers[LEVER_KINDS]);

#endif
