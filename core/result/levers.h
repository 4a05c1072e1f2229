/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the author of a kernel can turn: the cores that have work, barriers, flags, buffers, the
 * size of tiles, layouts, what lies between this kernel and its neighbours. What each saves is
 * measured (studies/sweep/levers_rows.c) or else an estimate (core/result/replay.h).
 */
#ifndef VINCI_CORE_RESULT_LEVERS_H
#define VINCI_CORE_RESULT_LEVERS_H

#include "core/result/critical.h"

enum lever_kind {
  LEVER_CORES,
  LEVER_BARRIERS,
  LEVER_FLAGS,
  LEVER_BUFFERS,
  LEVER_TILES,
  LEVER_SPLIT,
  LEVER_LAYOUT,
  LEVER_FUSION,
  LEVER_CODE,
  LEVER_L2,
  LEVER_KINDS
};

enum { LEVERS_MAX = 32, LEVER_TEXT_BYTES = 256, LEVER_CHANGE_BYTES = 256 };
struct lever {
  enum lever_kind kind;
  uint64_t saved_cycles; /* of the run, of the core clock */
  bool measured;
  uint32_t line;                   /* of the trace; 0: none alone */
  const char *origin;              /* "estimate"; lives as long as the program */
  char text[LEVER_TEXT_BYTES];     /* "16 of 40 AIV cores have work; with work on all cores" */
  char change[LEVER_CHANGE_BYTES]; /* what vinci run takes to show the saving; or empty */
};

const char *lever_key(enum lever_kind kind);

/* Those that save a fiftieth of the run or more, the largest first; returns their number. */
size_t levers_find(const struct vinci_result *result, const struct critical_path *path,
                   struct lever levers[LEVERS_MAX]);

#endif
