/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of whole blocks (runs.h). */
#include "lower/select/runs.h"

#include "core/base/arith.h"
#include "core/chip/layout.h"

enum { GAP_MAX = 65535 }; /* blocks between runs of a copy */

/* Of every how many runs one instruction has those that are a multiple of whole blocks apart; 0: of
 * none. */
static uint64_t every(const struct select_runs *runs) {
  uint64_t stride = (uint64_t)runs->stride.number, period = 1;
  if (!x_is_number(runs->stride))
    return 0;
  while (stride * period % BLOCK_BYTES)
    period *= 2;
  bool reaches = stride * period / BLOCK_BYTES <= GAP_MAX;
  bool known = period == 1 || (x_is_number(runs->pitch) &&
                               (uint64_t)runs->pitch.number * period / BLOCK_BYTES <= GAP_MAX);
  return reaches && known ? period : 0;
}

void select_put_blocks(struct emit *e, bool to_gm, struct expr gm, struct expr ub,
                       struct expr blocks) {
  EMIT(e, to_gm ? "copy_ubuf_to_gm" : "copy_gm_to_ubuf", F("dst", to_gm ? gm : ub),
       F("src", to_gm ? ub : gm), F("len_burst", blocks));
}

static void put_strided(struct emit *e, bool to_gm, const struct select_runs *runs,
                        struct expr blocks, uint64_t period) {
  struct expr gm_gap = x_sub((uint64_t)runs->stride.number * period / BLOCK_BYTES, blocks);
  struct expr ub_gap = x_sub(x_div(x_mul(runs->pitch, period), BLOCK_BYTES), blocks);
  EMIT(e, to_gm ? "copy_ubuf_to_gm" : "copy_gm_to_ubuf", F("dst", to_gm ? runs->gm : runs->ub),
       F("src", to_gm ? runs->ub : runs->gm), F("n_burst", runs->count), F("len_burst", blocks),
       F("src_gap", to_gm ? ub_gap : gm_gap), F("dst_gap", to_gm ? gm_gap : ub_gap));
}

void select_put_runs(struct emit *e, bool to_gm, const struct select_runs *runs,
                     struct expr blocks) {
  uint64_t period = every(runs);
  bool few = x_is_number(runs->count) && (uint64_t)runs->count.number <= period;
  if (x_is(runs->count, 1)) {
    select_put_blocks(e, to_gm, runs->gm, runs->ub, blocks);
  } else if (period == 1) {
    put_strided(e, to_gm, runs, blocks, 1);
  } else {
    bool single = few || period == 0;
    struct expr count = single ? runs->count : x_min(period, runs->count);
    struct expr run = emit_for(e, "run", count);
    struct select_runs part = *runs;
    part.gm = x_add(runs->gm, x_mul(run, runs->stride));
    part.ub = x_add(runs->ub, x_mul(run, runs->pitch));
    part.count = single ? EXPR(1) : x_ceil_div(x_sub(runs->count, run), period);
    if (single)
      select_put_blocks(e, to_gm, part.gm, part.ub, blocks);
    else
      put_strided(e, to_gm, &part, blocks, period);
    emit_end(e);
  }
}
