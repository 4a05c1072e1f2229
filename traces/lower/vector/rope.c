/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of rotary position embedding: cos and sin of a tile, then its heads (rope.h). */
#include "traces/lower/vector/rope.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "traces/lower/vector/kernel.h"
#include "traces/lower/vector/unit.h"

enum { FLOAT_BYTES = 4, HEAD_FLAG = 2 };
/* The vendor's kernel cuts UB, less a reserve, into N shares; each operand of a tile takes a share.
 */
enum { RESERVED_BYTES = 2048, SHARES_FP32 = 8, SHARES_NARROW = 24 };
enum { IN_COS, IN_SIN, TABLES };

/* X0, X1: cos and sin; X2: a head; T0: its halves swapped; Y0: the result. */
enum { R_COS = X0, R_SIN = X1, R_X = X2 };

struct rope {
  struct vkernel kernel; /* first */
  bool grad;
  enum dtype type;
  uint64_t heads, cols;
  struct vtile_operand table[TABLES];
  uint64_t head_slot, head_bytes; /* the first buffer of a head, and from one to the next */
  uint64_t address[VREGS];
};

static bool converts(const struct rope *rope) { return rope->type != DTYPE_FP32; }

/* ---- layout ---------------------------------------------------------------------------------- */

static void lay_out(struct vtile *tile) {
  struct rope *rope = (struct rope *)tile;
  uint64_t elements = tile->rows * rope->cols, bytes = elements * vtile_bytes(rope->type), slot = 0;
  for (unsigned k = 0; k < TABLES; k++)
    rope->table[k].address = vtile_reserve(&slot, bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  rope->head_slot = used;
  rope->head_bytes = 2 * vtile_align(bytes); /* x, then y */
  used += rope->head_bytes * 2;
  for (unsigned r = 0; r < VREGS; r++)
    rope->address[r] = 0;
  if (converts(rope))
    for (unsigned r = R_COS; r <= R_X; r++)
      rope->address[r] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if (converts(rope) || rope->grad)
    rope->address[T0] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if (rope->grad)
    rope->address[T1] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if (converts(rope))
    rope->address[Y0] =
        rope->grad ? vtile_reserve(&used, elements * FLOAT_BYTES) : rope->address[T0];
  tile->ub_bytes = used;
}

static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  kernel->tile.buffers = 2;
  (void)halvings;
  vkernel_split_rows(job, kernel, 0);
}

static bool work(struct lower_job *job, const struct vkernel *kernel, struct vtile_work *work) {
  const struct rope *rope = (const struct rope *)kernel;
  const uint64_t per_repeat = 10;
  uint64_t elements = kernel->tile.rows * rope->cols;
  uint64_t heads_bytes = elements * rope->heads * vtile_bytes(rope->type);
  work->in_bytes += heads_bytes;
  work->out_bytes = heads_bytes;
  work->in_copies += rope->heads;
  work->out_copies = rope->heads;
  work->vector_cycles =
      rope->heads * ceil_div(elements * FLOAT_BYTES, (uint64_t)job->soc->vector_bytes) * per_repeat;
  return true;
}

/* ---- one head -------------------------------------------------------------------------------- */

struct head {
  struct emit *e;
  const struct rope *rope;
  struct vunit *unit;
  struct expr count, slot, flag;
};

/* Half of each row of src, or of dst, to the other half of dst. */
static void put_half(const struct head *head, struct expr dst, struct expr src) {
  uint64_t blocks = head->rope->cols / 2 * FLOAT_BYTES / BLOCK_BYTES;
  EMIT(head->e, "copy_ubuf_to_ubuf", F("dst", dst), F("src", src),
       F("n_burst", head->rope->kernel.tile.n_rows), F("len_burst", blocks), F("src_gap", blocks),
       F("dst_gap", blocks));
}

/* The halves of one register in the other order: the first comes from `first`. */
static void put_swapped(const struct head *head, unsigned dst, struct expr first,
                        struct expr second) {
  struct expr to = head->unit->reg[dst];
  uint64_t half = head->rope->cols / 2 * FLOAT_BYTES;
  put_half(head, to, x_add(first, half));
  put_half(head, x_add(to, half), second);
}

static void put_forward(const struct head *head) {
  static const struct vstep steps[] = {B("vmul", R_X, R_X, R_COS), B("vmul", T0, T0, R_SIN),
                                       B("vadd", Y0, T0, R_X), END};
  struct vunit *unit = head->unit;
  vunit_order(unit, V(R_X), V(T0));
  put_swapped(head, T0, unit->reg[R_X], unit->reg[R_X]);
  vunit_steps(unit, steps);
}

/* T0 = x sin, X2 = -T0; the halves meet again in the order b, -a. */
static void put_backward(const struct head *head) {
  static const struct vstep before[] = {B("vmul", Y0, R_X, R_COS), B("vmul", T0, R_X, R_SIN),
                                        S("vmuls", R_X, T0, -1), END};
  static const struct vstep after[] = {B("vadd", Y0, Y0, T1), END};
  struct vunit *unit = head->unit;
  vunit_steps(unit, before);
  vunit_order(unit, V(T0) | V(R_X), V(T1));
  put_swapped(head, T1, unit->reg[T0], unit->reg[R_X]);
  vunit_steps(unit, after);
}

/* All rows of one head: where they begin in device memory. */
static struct vtile_operand head_operand(const struct head *head, const char *name,
                                         struct expr index, uint64_t address) {
  const struct rope *rope = head->rope;
  struct expr at = x_mul(index, rope->cols * vtile_bytes(rope->type));
  return (struct vtile_operand){.at = x_add(x_name(head->e, name), at),
                                .dtype = rope->type,
                                .row_stride = rope->heads * rope->cols,
                                .col_stride = 1,
                                .pitch = rope->cols,
                                .address = address};
}

static void put_head(struct head *head, struct expr index) {
  const struct rope *rope = head->rope;
  struct emit *e = head->e;
  struct vunit *unit = head->unit;
  struct vtile here = rope->kernel.tile;
  here.slot = head->slot;
  struct vtile_operand x = head_operand(head, "x", index, 0);
  struct vtile_operand y = head_operand(head, "y", index, rope->head_bytes / 2);
  struct expr raw = x_add(head->slot, x.address), out = x_add(head->slot, y.address);
  emit_wait(e, PIPE_V, PIPE_MTE2, head->flag);
  vtile_load(e, &here, &x);
  emit_handshake(e, PIPE_MTE2, PIPE_V, head->flag);
  unit->written = V_ALL;
  vunit_count(unit, head->count);
  if (converts(rope)) {
    vunit_convert(unit, 0, V(R_X), rope->type, DTYPE_FP32, unit->reg[R_X], raw);
    emit_set(e, PIPE_V, PIPE_MTE2, head->flag);
  } else {
    unit->reg[R_X] = raw;
    unit->reg[Y0] = out;
    unit->reg[T0] = rope->grad ? unit->reg[T0] : out;
    emit_wait(e, PIPE_MTE3, PIPE_V, head->flag);
  }
  (rope->grad ? put_backward : put_forward)(head);
  if (converts(rope)) {
    emit_wait(e, PIPE_MTE3, PIPE_V, head->flag);
    vunit_convert(unit, V(Y0) | V(T0), 0, DTYPE_FP32, rope->type, out, unit->reg[Y0]);
  } else {
    emit_set(e, PIPE_V, PIPE_MTE2, head->flag);
  }
  emit_handshake(e, PIPE_V, PIPE_MTE3, head->flag);
  vtile_store(e, &here, &y);
  emit_set(e, PIPE_MTE3, PIPE_V, head->flag);
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* cos and sin in single precision; the lower half of sin is negative on the way forward. */
static void put_tables(struct head *head) {
  const struct rope *rope = head->rope;
  struct vunit *unit = head->unit;
  const struct vtile *tile = &rope->kernel.tile;
  uint64_t half = rope->cols / 2, lanes = (uint64_t)head->e->soc->vector_bytes / FLOAT_BYTES;
  vunit_count(unit, head->count);
  for (unsigned k = 0; k < TABLES; k++) {
    struct expr raw = x_add(tile->slot, rope->table[k].address);
    if (converts(rope))
      vunit_convert(unit, 0, V(R_COS + k), rope->type, DTYPE_FP32, unit->reg[R_COS + k], raw);
    else
      unit->reg[R_COS + k] = raw;
  }
  if (rope->grad)
    return;
  vunit_order(unit, V(R_SIN), V(R_SIN));
  for (uint64_t col = 0; col < half; col += lanes) {
    struct expr at = x_add(unit->reg[R_SIN], col * FLOAT_BYTES);
    uint64_t stride = rope->cols * FLOAT_BYTES / BLOCK_BYTES;
    vunit_lanes(unit, (unsigned)min_u64(lanes, half - col));
    EMIT(head->e, "vmuls", F("dst", at), F("src", at), F("scalar", vscalar(DTYPE_FP32, -1)),
         F("repeat", tile->n_rows), F("dst_repeat", stride), F("src_repeat", stride),
         W("type", "fp32"));
  }
  vunit_rest(unit);
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct rope *rope = (struct rope *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct vunit unit = {.emit = e, .type = DTYPE_FP32, .written = V_ALL};
  struct head head = {
      .e = e, .rope = rope, .unit = &unit, .count = x_mul(tile->n_rows, rope->cols)};
  for (unsigned r = 0; r < VREGS; r++)
    unit.reg[r] = EXPR(rope->address[r]);
  put_tables(&head);
  struct expr index = emit_for(e, "head", rope->heads);
  struct expr turn = x_add(x_mul(x_name(e, "i"), rope->heads), index);
  struct expr half = emit_named(e, "turn", x_mod(turn, 2));
  head.slot = x_add(rope->head_slot, x_mul(half, rope->head_bytes));
  head.flag = x_add(half, HEAD_FLAG);
  vunit_forget(&unit);
  put_head(&head, index);
  vunit_rest(&unit);
  emit_end(e);
}

/* The buffers of heads are free at the start, and taken back at the end. */
static void put_ends(struct emit *e, bool start) {
  struct expr buffer = emit_for(e, start ? "first_head" : "last_head", 2);
  emit_flag_of(e, start, PIPE_V, PIPE_MTE2, x_add(buffer, HEAD_FLAG));
  emit_flag_of(e, start, PIPE_MTE3, PIPE_V, x_add(buffer, HEAD_FLAG));
  emit_end(e);
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  put_ends(e, true);
  vkernel_tiles(e, kernel);
  put_ends(e, false);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  static const char *const names[TABLES] = {"cos", "sin"};
  const struct rope *rope = (const struct rope *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  const uint64_t table[] = {kernel->tile.space.rows, rope->cols};
  emit_tensor(e, "x", rope->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  for (unsigned k = 0; k < TABLES; k++)
    emit_tensor(e, names[k], rope->type, TENSOR_IN, table, 2, NULL);
  emit_tensor(e, "y", rope->type, TENSOR_OUT, shape->shape, shape->rank, NULL);
}

/* ---- setup ----------------------------------------------------------------------------------- */

bool rope_fits(const struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape");
  uint64_t cols = shape->shape[shape->rank - 1];
  unsigned bytes = vtile_bytes(lower_get(job, "dtype")->dtype);
  return shape->rank > 1 && cols % 2 == 0 && cols / 2 * bytes % BLOCK_BYTES == 0 &&
         (isa_row(OP_COPY_UBUF_TO_UBUF)->archs & 1u << job->soc->arch) &&
         cols * FLOAT_BYTES / BLOCK_BYTES < UINT8_MAX;
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 1,
                                           .whole_rows = true,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .work = work,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .compute = compute};
  const struct lower_value *shape = lower_get(job, "shape");
  struct rope *rope = vkernel_new(job, sizeof *rope, &kind);
  if (!rope)
    return VINCI_E_NOMEM;
  struct vkernel *kernel = &rope->kernel;
  rope->grad = strcmp(job->op->name, "rope_grad") == 0;
  rope->type = lower_get(job, "dtype")->dtype;
  rope->cols = shape->shape[shape->rank - 1];
  rope->heads = lower_elements(shape->shape + 1, shape->rank - 2);
  kernel->tile.space = (struct vtile_space){.rows = shape->shape[0], .cols = rope->cols};
  kernel->tile.parts = VTILE_LOADS | VTILE_COMPUTES;
  uint64_t share = ((uint64_t)job->soc->ub_bytes - RESERVED_BYTES) /
                   (converts(rope) ? SHARES_NARROW : SHARES_FP32);
  kernel->rows_max = max_u64(1, share / (rope->cols * vtile_bytes(rope->type)));
  kernel->element_bytes = rope->heads * vtile_bytes(rope->type);
  kernel->code = KERNEL_ELEMENTWISE;
  for (unsigned k = 0; k < TABLES; k++) {
    rope->table[k] =
        vtile_whole_rows(k == IN_COS ? "cos" : "sin", rope->type, &kernel->tile.space, rope->cols);
    kernel->in[k] = &rope->table[k];
  }
  return VINCI_OK;
}

const struct lower_template rope_template = VKERNEL_TEMPLATE(setup);
