/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cumsum, cumprod: running sums and products along the last dimension, in single precision. A row
 * is taken in parts of 64 pieces of 64 elements. A gather turns a part, so that lanes are pieces:
 * 63 additions (or products) sum within all pieces at once; six steps of doubled distance sum the
 * pieces; each lane gets what comes before its piece, with what earlier parts have left, and the
 * part is turned back. Rows are shared by cores.
 *
 * From the last element on (reverse), the parts come in the opposite order, and the gather turns
 * each end to end as well. Without the element itself (exclusive), lanes get the sums one line
 * further on. Chips without gathers turn parts by transpositions (scan_squares.c).
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/estimate/estimate.h"
#include "lower/plan/program.h"
#include "lower/select/select.h"
#include "lower/vector/reduce/scan.h"
#include "lower/vector/unit.h"

enum { PAIR = 2 };

static const struct lower_key keys[] = {
    SHAPE_KEY("extents of x and y; along the last"),
    DTYPE_KEY("fp32", "fp16|bf16|fp32", "type of x and y"),
    LOWER_KEY("exclusive", SIZE, "0", "0", "1: without the element itself"),
    LOWER_KEY("reverse", SIZE, "0", "0", "1: from the last element on"),
    BLOCKS_KEY("cores to use; 0: all that have a row")};

/*
 * Chips that copy whole blocks alone store no runs of less than a block: there a part has fewer
 * pieces if the last part of a row would be that short. What changes nothing takes their place.
 */
static uint64_t part_of(const struct lower_job *job, unsigned bytes) {
  const struct lower_value *shape = lower_get(job, "shape");
  uint64_t cols = shape->shape[shape->rank - 1], part = SCAN_PART;
  if (select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B8))
    return part;
  while (part > SCAN_SIDE && cols > part && (cols - 1) % part + 1 < BLOCK_BYTES / bytes)
    part -= SCAN_SIDE;
  return part;
}

static struct scan lay_out(const struct lower_job *job, enum dtype type) {
  struct scan x = {.func = job->op->spec,
                   .exclusive = lower_get(job, "exclusive")->size != 0,
                   .reverse = lower_get(job, "reverse")->size != 0,
                   .squares = !select_has(job->soc, OP_VGATHER),
                   .bytes = vtile_bytes(type)};
  uint64_t used = 0;
  x.part = part_of(job, x.bytes);
  x.in = vtile_reserve(&used, SCAN_PART * x.bytes);
  x.out = vtile_reserve(&used, SCAN_PART * x.bytes);
  x.slot = used;
  used *= PAIR;
  x.wide = vtile_reserve(&used, SCAN_PART * SCAN_WORD_BYTES);
  x.turned = vtile_reserve(&used, SCAN_PART * SCAN_WORD_BYTES);
  x.sums = x.wide; /* which is turned by then */
  if (x.squares) {
    scan_squares_reserve(&x, &used);
  } else {
    x.table = vtile_reserve(&used, SCAN_PART * SCAN_WORD_BYTES);
    x.shift = vtile_reserve(&used, SCAN_DOUBLINGS * SCAN_ROW_BYTES);
    x.last = vtile_reserve(&used, BLOCK_BYTES);
    x.total = vtile_reserve(&used, SCAN_ROW_BYTES);
  }
  x.before = vtile_reserve(&used, SCAN_ROW_BYTES);
  x.carry = vtile_reserve(&used, BLOCK_BYTES);
  x.end = used;
  return x;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The same from the end of the part on. */
static void turn_table(struct emit *e, const struct scan *x) {
  emit_barrier(e, PIPE_V);
  vmask_count(e, SCAN_PART);
  EMIT(e, "vmuls", F("dst", x->table), F("src", x->table), F("scalar", -1), F("repeat", 1),
       W("type", "int32"));
  emit_barrier(e, PIPE_V);
  EMIT(e, "vadds", F("dst", x->table), F("src", x->table),
       F("scalar", (SCAN_PART - 1) * SCAN_WORD_BYTES), F("repeat", 1), W("type", "int32"));
  vmask_count(e, SCAN_SIDE);
}

/* Where element i of piece p lies, in the order of i; where the lane lies that is 1, 2, 4 ..
 * before, or the first; where the last lane lies. */
static void put_tables(struct emit *e, const struct scan *x) {
  struct vtable pieces = vtable_series(x->table, SCAN_ROW_BYTES);
  struct vtable lanes = vtable_series(x->total, SCAN_WORD_BYTES);
  vtables_fill(e, &pieces, 1, SCAN_SIDE);
  vtables_fill(e, &lanes, 1, SCAN_SIDE);
  emit_barrier(e, PIPE_V);
  vmask_count(e, SCAN_SIDE);
  struct expr i = emit_for(e, "i", SCAN_SIDE - 1);
  EMIT(e, "vadds", F("dst", x_add(x->table + SCAN_ROW_BYTES, x_mul(i, SCAN_ROW_BYTES))),
       F("src", x->table), F("scalar", x_mul(x_add(i, 1), SCAN_WORD_BYTES)), F("repeat", 1),
       W("type", "int32"));
  emit_end(e);
  if (x->reverse)
    turn_table(e, x);
  for (unsigned s = 0; s < SCAN_DOUBLINGS; s++) {
    uint64_t shift = x->shift + s * SCAN_ROW_BYTES;
    EMIT(e, "vadds", F("dst", shift), F("src", x->total), F("scalar", -(SCAN_WORD_BYTES << s)),
         F("repeat", 1), W("type", "int32"));
    emit_barrier(e, PIPE_V);
    EMIT(e, "vmaxs", F("dst", shift), F("src", shift), F("scalar", 0), F("repeat", 1),
         W("type", "int32"));
  }
  vmask_count(e, SCAN_BLOCK_LANES);
  vfill(e, x->last, (SCAN_SIDE - 1) * SCAN_WORD_BYTES, "int32");
  emit_barrier(e, PIPE_V);
}

/* ---- a part ---------------------------------------------------------------------------------- */

static void gather(struct emit *e, uint64_t dst, struct expr src, uint64_t offsets) {
  EMIT(e, "vgather", F("dst", dst), F("offset", offsets), F("src", src), F("repeat", 1),
       W("type", "fp32"));
  emit_barrier(e, PIPE_V);
}

/* The lanes from number `first` on, of one repeat. */
static void put_lanes(struct emit *e, uint64_t low) {
  emit_plain(e, "set_mask_norm");
  EMIT(e, "set_vector_mask", F("high", 0), F("low", x_signed((int64_t)low)));
}

static void end_lanes(struct emit *e) {
  emit_plain(e, "set_mask_count");
  vmask_count(e, SCAN_SIDE);
}

/* What comes before each piece, and behind all of them: sums of pieces, moved by one lane. */
static void sum_pieces(struct emit *e, const struct scan *x) {
  EMIT(e, "vadds", F("dst", x->total), F("src", x->turned + (SCAN_SIDE - 1) * SCAN_ROW_BYTES),
       F("scalar", 0), F("repeat", 1), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  for (unsigned s = 0; s < SCAN_DOUBLINGS; s++) {
    gather(e, x->before, EXPR(x->total), x->shift + s * SCAN_ROW_BYTES);
    put_lanes(e, ~((UINT64_C(1) << (1u << s)) - 1));
    EMIT(e, x->func->inst, F("dst", x->total), F("src0", x->total), F("src1", x->before),
         F("repeat", 1), W("type", "fp32"));
    end_lanes(e);
    emit_barrier(e, PIPE_V);
  }
  gather(e, x->before, EXPR(x->total), x->shift);
  put_lanes(e, 1);
  vfill(e, x->before, vscalar(DTYPE_FP32, x->func->identity), "fp32");
  end_lanes(e);
  emit_barrier(e, PIPE_V);
  EMIT(e, x->func->inst, F("dst", x->before), F("src0", x->before), F("src1", x->carry),
       F("repeat", 1), F("src1_block", 0), F("src1_repeat", 0), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  vmask_count(e, SCAN_BLOCK_LANES);
  gather(e, x->sums, EXPR(x->total), x->last);
  EMIT(e, x->func->inst, F("dst", x->carry), F("src0", x->carry), F("src1", x->sums),
       F("repeat", 1), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
}

/* The sums within pieces and what comes before the pieces; where the results are. */
static uint64_t add_before(struct emit *e, const struct scan *x) {
  const uint64_t lines = x->exclusive ? SCAN_SIDE - 1 : SCAN_SIDE,
                 to = x->exclusive ? x->sums : x->turned;
  put_lanes(e, ~UINT64_C(0));
  if (x->exclusive)
    EMIT(e, "vadds", F("dst", to), F("src", x->before), F("scalar", 0), F("repeat", 1),
         W("type", "fp32"));
  EMIT(e, x->func->inst, F("dst", to + (SCAN_SIDE - lines) * SCAN_ROW_BYTES), F("src0", x->turned),
       F("src1", x->before), F("repeat", lines), F("src1_repeat", 0), W("type", "fp32"));
  end_lanes(e);
  emit_barrier(e, PIPE_V);
  return to;
}

/* Of a part in single precision the sums, in lanes; where these are. */
static uint64_t sum_part(struct emit *e, const struct scan *x, struct expr wide) {
  if (x->squares) {
    scan_squares_turn(e, EXPR(x->turned), wide);
    scan_squares_sum(e, x);
    if (x->exclusive) {
      scan_squares_exclude(e, x);
      return x->sums;
    }
    return add_before(e, x);
  }
  gather(e, x->turned, wide, x->table);
  vmask_count(e, SCAN_SIDE);
  struct expr line = x_add(x->turned, x_mul(emit_for(e, "line", SCAN_SIDE - 1), SCAN_ROW_BYTES));
  EMIT(e, x->func->inst, F("dst", x_add(line, SCAN_ROW_BYTES)),
       F("src0", x_add(line, SCAN_ROW_BYTES)), F("src1", line), F("repeat", 1), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  emit_end(e);
  sum_pieces(e, x);
  return add_before(e, x);
}

static void turn_back(struct emit *e, const struct scan *x, struct expr dst, uint64_t src) {
  if (x->squares)
    scan_squares_turn(e, dst, EXPR(src));
  else
    EMIT(e, "vgather", F("dst", dst), F("offset", x->table), F("src", src), F("repeat", 1),
         W("type", "fp32"));
}

static void compute(struct emit *e, const struct scan *x, enum dtype type, struct expr in,
                    struct expr out) {
  struct vunit unit = {.emit = e, .type = DTYPE_FP32, .written = V_ALL};
  struct expr wide = in;
  vmask_count(e, SCAN_PART);
  if (type != DTYPE_FP32) {
    wide = EXPR(x->wide);
    vunit_convert(&unit, V(X0), V(X0), type, DTYPE_FP32, wide, in);
    emit_barrier(e, PIPE_V);
  }
  const uint64_t sums = sum_part(e, x, wide);
  vmask_count(e, SCAN_PART);
  if (type == DTYPE_FP32) {
    turn_back(e, x, out, sums);
    return;
  }
  const uint64_t back = sums == x->turned ? x->sums : x->turned;
  turn_back(e, x, EXPR(back), sums);
  emit_barrier(e, PIPE_V);
  vunit_convert(&unit, V(X0), V(Y0), DTYPE_FP32, type, out, EXPR(back));
}

static void put_row(struct emit *e, const struct scan *x, enum dtype type, struct expr row,
                    uint64_t cols) {
  emit_barrier(e, PIPE_V);
  vmask_count(e, SCAN_BLOCK_LANES);
  vfill(e, x->carry, vscalar(DTYPE_FP32, x->func->identity), "fp32");
  emit_barrier(e, PIPE_V);
  const uint64_t parts = ceil_div(cols, x->part);
  struct expr turn = emit_for(e, "part", parts);
  struct expr part = x->reverse ? x_sub(parts - 1, turn) : turn;
  struct expr col = emit_assigned(e, "col", x_mul(part, x->part));
  struct expr count = emit_assigned(e, "count", x_min(x->part, x_sub(cols, col)));
  struct expr half = emit_assigned(e, "half", x_mod(turn, PAIR));
  struct expr slot = emit_assigned(e, "slot", x_mul(half, x->slot));
  struct expr at = x_mul(x_add(x_mul(row, cols), col), x->bytes);
  struct expr in = x_add(slot, x->in), out = x_add(slot, x->out);
  emit_wait(e, PIPE_V, PIPE_MTE2, half);
  vtile_load_run(e, type, in, x_add(x_name(e, "x"), at), count);
  emit_handshake(e, PIPE_MTE2, PIPE_V, half);
  if (x->part < SCAN_PART || (x->reverse && cols % SCAN_PART != 0))
    vfill_tail(e, in, count, SCAN_PART, type, x->func->identity);
  emit_wait(e, PIPE_MTE3, PIPE_V, half);
  compute(e, x, type, in, out);
  emit_set(e, PIPE_V, PIPE_MTE2, half);
  emit_handshake(e, PIPE_V, PIPE_MTE3, half);
  vtile_store_run(e, type, x_add(x_name(e, "y"), at), out, count);
  emit_set(e, PIPE_MTE3, PIPE_V, half);
  emit_end(e);
}

static void emit(const struct lower_job *job, struct emit *e) {
  const struct lower_value *shape = lower_get(job, "shape");
  enum dtype type = lower_get(job, "dtype")->dtype;
  const struct scan x = lay_out(job, type);
  uint64_t cols = shape->shape[shape->rank - 1];
  emit_kernel(e, job->op->name, (uint32_t)lower_get(job, "blocks")->size);
  emit_tensor(e, "x", type, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "y", type, TENSOR_OUT, shape->shape, shape->rank, NULL);
  vkernel_stream(e, x.end, KERNEL_REDUCE);
  emit_plain(e, "set_mask_count");
  if (x.reverse && select_has(e->soc, OP_SET_MOV_PAD_VAL))
    EMIT(e, "set_mov_pad_val", F("value", vscalar(type, x.func->identity)));
  emit_comment(e, "Elements behind the last of a row are computed with, and not stored.");
  vmask_count(e, x.end / SCAN_WORD_BYTES);
  vfill(e, 0, 0, "fp32");
  emit_barrier(e, PIPE_ALL);
  if (!x.squares)
    put_tables(e, &x);
  emit_flags(e, "read", true, PIPE_V, PIPE_MTE2, PAIR);
  emit_flags(e, "stored", true, PIPE_MTE3, PIPE_V, PAIR);
  struct expr row = emit_units(e, lower_elements(shape->shape, shape->rank - 1), "row");
  put_row(e, &x, type, row, cols);
  emit_end(e);
  emit_flags(e, "last_read", false, PIPE_V, PIPE_MTE2, PAIR);
  emit_flags(e, "last_stored", false, PIPE_MTE3, PIPE_V, PAIR);
}

/* ---- tilings --------------------------------------------------------------------------------- */

static uint64_t rows_of(const struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape");
  return lower_elements(shape->shape, shape->rank - 1);
}

static bool candidate(struct lower_job *job, size_t index) {
  if (index > 0)
    return false;
  lower_choose(job, "blocks", min_u64(job->cores, rows_of(job)));
  return true;
}

static bool cost(struct lower_job *job) {
  const struct scan x = lay_out(job, lower_get(job, "dtype")->dtype);
  uint64_t blocks = lower_get(job, "blocks")->size, rows = rows_of(job);
  if (!lower_has_cores(job, blocks, emit_vector_core(job->soc)) ||
      !vtile_ub_holds(job, "a part of a row", x.end))
    return false;
  if (blocks > rows)
    return vtile_too_few(job, rows, blocks);
  return program_cost(job);
}

/* The axis is a value that profiles lack: the last is what engines take. */
static bool from_tensors(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0];
  if (call->input_count == 0 || x->rank == 0)
    return lower_cannot(call, "no shape");
  if (x->dtype != DTYPE_FP32 && x->dtype != DTYPE_FP16 && x->dtype != DTYPE_BF16 &&
      x->dtype != DTYPE_COUNT)
    return lower_cannot(call, "integers are not modelled");
  lower_arg_tensor(call, x);
  return true;
}

static enum vinci_status setup(struct lower_job *job) {
  if (lower_get(job, "reverse")->size > 1 || lower_get(job, "exclusive")->size > 1)
    return lower_error(job, "exclusive and reverse are 0 or 1");
  const struct lower_value *shape = lower_get(job, "shape");
  uint64_t row_bytes = shape->shape[shape->rank - 1] * vtile_bytes(lower_get(job, "dtype")->dtype);
  bool pads = select_has(job->soc, OP_SET_MOV_PAD_VAL);
  if (lower_get(job, "reverse")->size && !pads && row_bytes % BLOCK_BYTES != 0)
    return lower_error(job,
                       "reverse=1: %s has no copies that fill up rows with a value, and rows of "
                       "%" PRIu64 " bytes are not whole blocks of %d",
                       job->soc->name, row_bytes, BLOCK_BYTES);
  if (!select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B8) && row_bytes < BLOCK_BYTES &&
      rows_of(job) > 1)
    return lower_error(job,
                       "%s copies whole blocks of %d bytes alone, and rows have %" PRIu64
                       " bytes with others behind",
                       job->soc->name, BLOCK_BYTES, row_bytes);
  return VINCI_OK;
}

static const struct lower_template template = {setup, candidate, cost, emit};
#define SCAN(id, vendor, summary, ...)                                                             \
  LOWER_OPERATOR(id, vendor, summary, keys, &template, (&(const struct scan_func){__VA_ARGS__}),   \
                 from_tensors)

SCAN(cumsum, "Cumsum|CumSum", "y = sums of x up to each element, along the last dimension",
     .inst = "vadd", .identity = 0)
SCAN(cumprod, "Cumprod|CumProd", "y = products of x up to each element, along the last dimension",
     .inst = "vmul", .identity = 1)
