/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nms_list: the kept boxes of all classes one behind the other, as ONNX has them: image, class and
 * box of each. Each core reads the counts of all classes, which say where those of its own go. A
 * row of boxes becomes rows of three by a gather from a block of images, a block of classes and the
 * boxes.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/estimate/estimate.h"
#include "lower/plan/program.h"
#include "lower/select/select.h"
#include "lower/vector/index/nms.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { TRIPLE = 3, LOAD_FLAG = 0, DONE_FLAG = 1, STORE_FLAG = 2, UNITS_MAX = 2048 };
enum { BOXES_AT = 2 * BLOCK_BYTES }; /* behind the blocks of images and classes */

static const struct lower_key keys[] = {
    LOWER_KEY("batches", SIZE, "1", NULL, "images"),
    LOWER_KEY("classes", SIZE, "1", NULL, "classes of an image"),
    LOWER_KEY("most", SIZE, NULL, NULL, "extent of a row of x"),
    LOWER_KEY("count", SIZE, NULL, NULL, "boxes in all, which data have to agree with"),
    LOWER_KEY("out", DTYPE, "int64", "int32|int64", "type of y"),
    BLOCKS_KEY("cores to use; 0: all that have a class")};

struct list {
  enum dtype type;
  uint64_t batches, classes, most, count, blocks, per_block;
  /* Addresses in UB. */
  uint64_t counts, source, table, temp, triples, longs, ub_bytes;
};

static uint64_t units_of(const struct list *list) { return list->batches * list->classes; }

static void lay_out(const struct lower_job *job, struct list *list) {
  uint64_t used = 0, words = round_up(list->most * TRIPLE, VTABLE_FIRST);
  list->blocks = lower_get(job, "blocks")->size;
  list->per_block = ceil_div(units_of(list), list->blocks);
  list->counts = vtile_reserve(&used, units_of(list) * NMS_SHARED * NMS_WORD);
  list->source = vtile_reserve(&used, BOXES_AT + list->most * NMS_WORD);
  list->table = vtile_reserve(&used, words * NMS_WORD);
  list->triples = vtile_reserve(&used, words * NMS_WORD);
  list->temp = vtile_reserve(&used, words * NMS_WORD);
  list->longs = list->type == DTYPE_INT64 ? vtile_reserve(&used, words * sizeof(int64_t)) : 0;
  list->ub_bytes = used;
}

static enum vinci_status setup(struct lower_job *job) {
  struct list *list = lower_data(job, sizeof *list);
  if (!list)
    return VINCI_E_NOMEM;
  list->type = lower_get(job, "out")->dtype;
  list->batches = lower_get(job, "batches")->size;
  list->classes = lower_get(job, "classes")->size;
  list->most = lower_get(job, "most")->size;
  list->count = lower_get(job, "count")->size;
  const uint64_t kept[] = {list->batches, list->classes, list->most};
  enum vinci_status status = lower_bounded(job, kept, TRIPLE);
  if (status != VINCI_OK)
    return status;
  if (!select_has(job->soc, OP_VGATHERB))
    return lower_error(job, "not for %s: no int64", arch_name(job->soc->arch));
  if (units_of(list) > UNITS_MAX)
    return lower_error(job, "classes of all images are at most %d", UNITS_MAX);
  if (list->count > units_of(list) * list->most)
    return lower_error(job, "count is at most %" PRIu64, units_of(list) * list->most);
  return VINCI_OK;
}

static bool candidate(struct lower_job *job, size_t index) {
  const struct list *list = job->data;
  uint64_t units = units_of(list);
  lower_choose(job, "blocks", ceil_div(units, ceil_div(units, job->cores)));
  return index == 0;
}

static bool cost(struct lower_job *job) {
  struct list *list = job->data;
  const struct vinci_soc *soc = job->soc;
  lay_out(job, list);
  if (!lower_has_cores(job, list->blocks, emit_vector_core(soc)) ||
      !vtile_ub_holds(job, "a class", list->ub_bytes))
    return false;
  if (list->blocks > units_of(list))
    return vtile_too_few(job, units_of(list), list->blocks);
  return program_cost(job);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Of word i of the result: the byte of the source that it is. Three words have 0, 32, and those of
 * their box: 32 * part + 4 * max(part - 1, 0) * number, with number = i / 3 and part = i % 3. */
static void put_table(struct emit *e, const struct list *list) {
  static const struct vstep steps[] = {C("vconv_s322f32", NULL, T0, X0),
                                       S("vadds", T1, T0, 0.5),
                                       S("vmuls", T1, T1, 1.0 / TRIPLE),
                                       C("vconv_f322f32", "f", T1, T1),
                                       S("vmuls", T2, T1, -TRIPLE),
                                       B("vadd", T0, T0, T2),
                                       S("vadds", T2, T0, -1),
                                       S("vmaxs", T2, T2, 0),
                                       B("vmul", T1, T1, T2),
                                       S("vmuls", T1, T1, NMS_WORD),
                                       S("vmuls", T0, T0, BLOCK_BYTES),
                                       B("vadd", T0, T0, T1),
                                       C("vconv_f322s32", "r", X0, T0),
                                       END};
  const uint64_t words = list->most * TRIPLE;
  const struct vtable series = vtable_series(list->table, 1);
  struct vunit unit = {.emit = e, .type = DTYPE_FP32, .written = V_ALL};
  vtables_fill(e, &series, 1, round_up(words, VTABLE_FIRST));
  unit.reg[X0] = EXPR(list->table);
  unit.reg[T0] = EXPR(list->table);
  unit.reg[T1] = EXPR(list->triples);
  unit.reg[T2] = EXPR(list->temp);
  vunit_count(&unit, words);
  vunit_steps(&unit, steps);
  emit_barrier(e, PIPE_V);
}

/* Where the boxes of the block's first class go, and that all are as many as y has. */
static void put_sums(struct emit *e, const struct list *list, struct expr begin) {
  uint64_t units = units_of(list);
  vtile_load_run(e, DTYPE_INT32, EXPR(list->counts), x_name(e, "x1"), EXPR(units * NMS_SHARED));
  emit_handshake(e, PIPE_MTE2, PIPE_S, DONE_FLAG);
  emit_assigned(e, "place", EXPR(0));
  emit_assigned(e, "boxes_of_y", EXPR(0));
  struct expr b = emit_for(e, "b", units);
  struct expr kept = emit_read_word(
      e, "counted",
      x_sub(x_div(x_mul(x_add(b, 1), list->count), units), x_div(x_mul(b, list->count), units)),
      x_at(list->counts, b, NMS_SHARED * NMS_WORD), DTYPE_INT32);
  emit_change(e, "place", x_add(x_name(e, "place"), x_mul(kept, x_lt(b, begin))));
  emit_change(e, "boxes_of_y", x_add(x_name(e, "boxes_of_y"), kept));
  emit_end(e);
  emit_expect(e, "boxes_of_y", list->count);
}

/* Blocks of the image and the class, and the boxes behind; they become rows of three. */
static void put_class(struct emit *e, const struct list *list, struct expr unit, struct expr kept) {
  uint64_t from = list->triples;
  vtile_load_run(e, DTYPE_INT32, EXPR(list->source + BOXES_AT),
                 x_at(x_name(e, "x"), unit, list->most * NMS_WORD), kept);
  emit_set(e, PIPE_MTE2, PIPE_V, LOAD_FLAG);
  vmask_count(e, BLOCK_BYTES / NMS_WORD);
  vfill(e, list->source, x_div(unit, list->classes), "int32");
  vfill(e, list->source + BLOCK_BYTES, x_mod(unit, list->classes), "int32");
  vmask_count(e, x_mul(kept, TRIPLE));
  emit_wait(e, PIPE_MTE2, PIPE_V, LOAD_FLAG);
  emit_barrier(e, PIPE_V);
  EMIT(e, "vgather", F("dst", list->triples), F("offset", list->table), F("src", list->source),
       F("repeat", 1), W("type", "uint32"));
  emit_barrier(e, PIPE_V);
  if (list->type == DTYPE_INT64) {
    from = list->longs;
    vunit_convert(&(struct vunit){.emit = e}, 0, 0, DTYPE_INT32, DTYPE_INT64, EXPR(from),
                  EXPR(list->triples));
  }
  emit_handshake(e, PIPE_V, PIPE_MTE3, STORE_FLAG);
  vtile_store_run(e, list->type,
                  x_at(x_name(e, "y"), x_name(e, "place"), TRIPLE * vtile_bytes(list->type)),
                  EXPR(from), x_mul(kept, TRIPLE));
  emit_handshake(e, PIPE_MTE3, PIPE_MTE2, STORE_FLAG);
  emit_handshake(e, PIPE_MTE3, PIPE_V, STORE_FLAG);
}

static void put_rows(struct emit *e, const struct list *list) {
  uint64_t units = units_of(list);
  struct expr begin = emit_named(e, "begin", x_mul(x_name(e, "blk"), list->per_block));
  put_table(e, list);
  put_sums(e, list, begin);
  struct expr u = emit_for(e, "u", x_max(0, x_rest(list->per_block, units, begin)));
  struct expr unit = emit_assigned(e, "unit", x_add(begin, u));
  struct expr kept = emit_read_word(e, "kept",
                                    x_sub(x_div(x_mul(x_add(unit, 1), list->count), units),
                                          x_div(x_mul(unit, list->count), units)),
                                    x_at(list->counts, unit, NMS_SHARED * NMS_WORD), DTYPE_INT32);
  emit_if(e, "some", x_gt(kept, 0));
  put_class(e, list, unit, kept);
  emit_change(e, "place", x_add(x_name(e, "place"), kept));
  emit_end(e);
  emit_end(e);
}

static void emit(const struct lower_job *job, struct emit *e) {
  struct list *list = job->data;
  lay_out(job, list);
  const uint64_t kept[] = {units_of(list), list->most}, counts[] = {units_of(list), NMS_SHARED};
  const uint64_t triples[] = {list->count, TRIPLE};
  emit_kernel(e, job->op->name, (uint32_t)list->blocks);
  emit_tensor(e, "x", DTYPE_INT32, TENSOR_IN, kept, 2, NULL);
  emit_tensor(e, "x1", DTYPE_INT32, TENSOR_IN, counts, 2, NULL);
  emit_tensor(e, "y", list->type, TENSOR_OUT, triples, 2, NULL);
  vkernel_stream(e, list->ub_bytes, KERNEL_SLICE);
  emit_plain(e, "set_mask_count");
  put_rows(e, list);
}

static const struct lower_template template = {setup, candidate, cost, emit};
LOWER_OPERATOR(nms_list, "",
               "y = image, class and box of all that nms keeps, from its results x and x1; for "
               "times all classes keep alike",
               keys, &template, NULL, NULL)
