/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums and differences of 64-bit integers on a vector unit of 32 bits: halves are added as 32-bit
 * integers, and carries move from the lower halves to the upper ones. T2 says which halves are
 * lower ones, T3 where the other half of each is; they are the same for all tiles.
 */
#include "lower/vector/elementwise/elementwise.h"

static const char *const type_keys[] = {"dtype", "dtype1", "out"};

enum { WORD_BYTES = 4, CARRY_SHIFT = 31 };

#define WORDS(...) AS(DTYPE_INT32, 2, __VA_ARGS__)
#define PARTS(...) AS(DTYPE_UINT16, 4, __VA_ARGS__)

/* A half carries where both addends have its highest bit, or one has and the sum has not. */
static const struct vstep add_steps[] = {HELD(T2),
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

/* A half borrows where x1 alone has the highest bit, or the difference has it and x alone has not.
 */
static const struct vstep sub_steps[] = {HELD(T2),
                                         HELD(T3),
                                         WORDS(B_("vsub", Y0, X0, X1)),
                                         PARTS(U_("vnot", T0, X0)),
                                         PARTS(B_("vand", T1, T0, X1)),
                                         PARTS(B_("vor", T0, T0, X1)),
                                         PARTS(B_("vand", T0, T0, Y0)),
                                         PARTS(B_("vor", T0, T0, T1)),
                                         AS(DTYPE_UINT32, 2, S_("vshr", T0, T0, CARRY_SHIFT)),
                                         WORDS(B_("vmul", T0, T0, T2)),
                                         WORDS(GATHER_(T1, T0, T3)),
                                         WORDS(B_("vsub", Y0, Y0, T1)),
                                         END};

static void put_tables(struct emit *e, const struct vew *ew) {
  struct vtable tables[] = {{.address = ew->temp[T2]},
                            {.address = ew->temp[T3], .step = WORD_BYTES}};
  for (unsigned lane = 0; lane < VTABLE_FIRST; lane++) {
    tables[0].first[lane] = lane % 2 == 0;
    tables[1].first[lane] = (lane ^ 1) * WORD_BYTES;
  }
  emit_comment(e, "1 at the lower halves; where the other half of each is.");
  vtables_fill(e, tables, 2, 2 * ew->kernel.tile.cols);
  emit_barrier(e, PIPE_V);
}

#define PAIRS(steps_)                                                                              \
  {                                                                                                \
    .inputs = 2, .outputs = 1, .types = VTYPES_PAIRS, .serial = true, .steps = steps_,             \
    .start = put_tables                                                                            \
  }
const struct vfunc vew_add_pairs = PAIRS(add_steps);
const struct vfunc vew_sub_pairs = PAIRS(sub_steps);

unsigned vew_longs(const struct lower_job *job) {
  unsigned longs = 0;
  for (size_t i = 0; i < sizeof type_keys / sizeof *type_keys; i++) {
    const struct lower_value *type = lower_get(job, type_keys[i]);
    longs += type && type->dtype == DTYPE_INT64;
  }
  return longs;
}

static bool same_shape(const struct lower_value *a, const struct lower_value *b) {
  bool same = !b || a->rank == b->rank;
  for (unsigned i = 0; same && b && i < a->rank; i++)
    same = a->shape[i] == b->shape[i];
  return same;
}

enum vinci_status vew_same_longs(struct lower_job *job) {
  unsigned given = 0;
  for (size_t i = 0; i < sizeof type_keys / sizeof *type_keys; i++)
    given += lower_get(job, type_keys[i]) != NULL;
  if (vew_longs(job) != given || !same_shape(lower_get(job, "shape"), lower_get(job, "shape1")))
    return lower_error(job, "int64 goes with int64 of the same shape alone");
  return VINCI_OK;
}
