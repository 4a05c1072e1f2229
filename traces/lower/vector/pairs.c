/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of 64-bit integers on a vector unit of 32 bits: halves are added as 32-bit integers, and
 * carries move from the lower halves to the upper ones. T2 says which halves are lower ones, T3
 * where the other half of each is; they are the same for all tiles.
 */
#include "core/base/arith.h"
#include "traces/lower/vector/elementwise.h"

enum { WORD_BYTES = 4, BY_HAND = 8, CARRY_SHIFT = 31 };

#define WORDS(...) AS(DTYPE_INT32, 2, __VA_ARGS__)
#define PARTS(...) AS(DTYPE_UINT16, 4, __VA_ARGS__)

/* A half carries where both addends have its highest bit, or one has and the sum has not. */
static const struct vstep steps[] = {HELD(T2),
                                     HELD(T3),
                                     WORDS(B_("vadd", Y0, X0, X1)),
                                     PARTS(B_("vor", T0, X0, X1)),
                                     PARTS(U_("vnot", T1, Y0)),
                                     PARTS(B_("vand", T0, T0, T1)),
                                     PARTS(B_("vand", T1, X0, X1)),
                                     PARTS(B_("vor", T0, T0, T1)),
                                     AS(DTYPE_UINT32, 2, S_("vshr", T0, T0, CARRY_SHIFT)),
                                     WORDS(B_("vmul", T0, T0, T2)),
                                     WORDS(GATHER_(T1, T0, T3)),
                                     WORDS(B_("vadd", Y0, Y0, T1)),
                                     END};

static void fill(struct emit *e, uint64_t address, uint64_t value) {
  EMIT(e, "vector_dup", F("dst", address), F("scalar", value), F("repeat", 1), W("type", "int32"));
}

static void copy_up(struct emit *e, uint64_t address, uint64_t words, uint64_t added) {
  EMIT(e, "vadds", F("dst", address + words * WORD_BYTES), F("src", address), F("scalar", added),
       F("repeat", 1), W("type", "int32"));
}

/* Eight words by hand, then twice as many in each turn. */
static void put_tables(struct emit *e, const struct vew *ew) {
  uint64_t lower = ew->temp[T2], other = ew->temp[T3], words = 2 * ew->tile.cols;
  emit_comment(e, "1 at the lower halves; where the other half of each is.");
  emit_plain(e, "set_mask_norm");
  for (uint64_t lane = 0; lane < BY_HAND; lane++) {
    EMIT(e, "set_vector_mask", F("high", 0), F("low", 1 << lane));
    fill(e, lower, lane % 2 == 0);
    fill(e, other, (lane ^ 1) * WORD_BYTES);
  }
  emit_plain(e, "set_mask_count");
  for (uint64_t count = BY_HAND; count < words; count *= 2) {
    emit_barrier(e, PIPE_V);
    EMIT(e, "set_vector_mask", F("high", 0), F("low", min_u64(count, words - count)));
    copy_up(e, lower, count, 0);
    copy_up(e, other, count, count * WORD_BYTES);
  }
  emit_barrier(e, PIPE_V);
}

const struct vfunc vew_pairs = {.inputs = 2,
                                .outputs = 1,
                                .types = VTYPES_PAIRS,
                                .serial = true,
                                .steps = steps,
                                .start = put_tables};
