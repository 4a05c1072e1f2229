/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indices of nonzero from numbers of elements, from the last dimension on. Chips that do not
 * convert into int64 put a word of the sign behind each number (elementwise/words.c).
 */
#include "core/base/arith.h"
#include "lower/vector/index/compact.h"
#include "lower/vector/unit.h"

/* 64-bit numbers of words. */
static void put_longs(struct emit *e, const struct compact *c, uint64_t words, struct expr count) {
  if (vconversion(e->soc, DTYPE_INT32, DTYPE_INT64)) {
    compact_convert(e, DTYPE_INT32, DTYPE_INT64, EXPR(c->index), EXPR(words));
    return;
  }
  static const struct vstep step = {.inst = "scatter_vnchwconv_b16",
                                    .form = VFORM_TO_LONGS,
                                    .dst = Y0,
                                    .a = X0,
                                    .b = T0,
                                    .c = T1,
                                    .per = 1};
  struct vunit unit = {.emit = e, .type = DTYPE_INT32, .masked = true, .count = count};
  unit.reg[X0] = EXPR(words);
  unit.reg[Y0] = EXPR(c->index);
  unit.reg[T0] = EXPR(c->pairs);
  unit.reg[T1] = EXPR(c->longs);
  vunit_step(&unit, &step);
  emit_barrier(e, PIPE_V);
}

/* 64-bit indices along a dimension leave. */
static void put_index(struct emit *e, const struct compact *c, unsigned dimension, uint64_t words,
                      struct expr place, struct expr count) {
  put_longs(e, c, words, count);
  emit_handshake(e, PIPE_V, PIPE_MTE3, COMPACT_MOVE_FLAG);
  vtile_store_run(e, DTYPE_INT64,
                  x_at(x_name(e, "y"), x_add(place, dimension * c->count), sizeof(int64_t)),
                  EXPR(c->index), count);
  emit_handshake(e, PIPE_MTE3, PIPE_V, COMPACT_MOVE_FLAG);
}

/* quotient = number / extent, rounded down; rest = what that leaves. All are whole and exact. */
static void put_division(struct emit *e, uint64_t number, uint64_t extent, uint64_t quotient,
                         uint64_t rest) {
  compact_convert(e, DTYPE_INT32, DTYPE_FP32, EXPR(quotient), EXPR(number));
  vfill(e, rest, vscalar(DTYPE_FP32, (double)extent), "fp32");
  emit_barrier(e, PIPE_V);
  EMIT(e, "vdiv", F("dst", quotient), F("src0", quotient), F("src1", rest), F("repeat", 1),
       W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vconv_f322s32", F("dst", quotient), F("src", quotient), F("repeat", 1), W("round", "f"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vmuls", F("dst", rest), F("src", quotient), F("scalar", extent), F("repeat", 1),
       W("type", "int32"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vsub", F("dst", rest), F("src0", number), F("src1", rest), F("repeat", 1),
       W("type", "int32"));
  emit_barrier(e, PIPE_V);
}

void compact_put_indices(struct emit *e, const struct compact *c, struct expr place,
                         struct expr count) {
  const struct lower_value *shape = lower_get(c->kernel.job, "shape");
  uint64_t number = c->at, quotient = c->quotient;
  vmask_count(e, count);
  for (unsigned i = shape->rank; --i > 0;) {
    put_division(e, number, shape->shape[i], quotient, c->rest);
    put_index(e, c, i, c->rest, place, count);
    const uint64_t used = number;
    number = quotient;
    quotient = used;
  }
  put_index(e, c, 0, number, place, count);
}
