/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of rotary position embedding: cos and sin of a tile, then its heads (rope.h). Neighbours
 * that turn together are gathered by a table of offsets, which is filled once, before the tiles.
 */
#include "lower/vector/rows/rope.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { FLOAT_BYTES = 4, HEAD_FLAG = 2, SECTIONS = 3 };
#define EVEN_LANES INT64_C(0x5555555555555555)
/* The vendor's kernel cuts UB, less a reserve, into N shares; each operand of a tile takes a share.
 */
enum { RESERVED_BYTES = 2048, SHARES_FP32 = 8, SHARES_NARROW = 24 };
enum { IN_COS, IN_SIN, TABLES };
/* In the order of the words of the key. */
enum form { FORM_HALVES, FORM_PAIRS, FORM_SORTED };

/* X0, X1: cos and sin; X2: a head; T0: its halves swapped; T2: a table before its columns are put
 * together; T3: offsets of a gather; Y0: the result. */
enum { R_COS = X0, R_SIN = X1, R_X = X2 };

struct rope {
  struct vkernel kernel; /* first */
  bool grad;
  enum form form;
  enum dtype type;
  uint64_t heads, cols; /* cols: elements of a head that are turned */
  uint64_t width;       /* elements of a head */
  uint64_t sections;    /* parts of a half that have tables of their own; 1: one table */
  uint64_t section[SECTIONS];
  struct vtile_operand table[TABLES][SECTIONS];
  uint64_t head_slot, head_bytes; /* the first buffer of a head, and from one to the next */
  uint64_t result, rest;          /* in such a buffer: y, and what is not turned */
  uint64_t address[VREGS];
};

static bool converts(const struct rope *rope) { return rope->type != DTYPE_FP32; }
static uint64_t rest_cols(const struct rope *rope) { return rope->width - rope->cols; }

/* ---- layout ---------------------------------------------------------------------------------- */

static void lay_out(struct vtile *tile) {
  struct rope *rope = (struct rope *)tile;
  uint64_t elements = tile->rows * rope->cols, bytes = elements * vtile_bytes(rope->type), slot = 0;
  for (unsigned k = 0; k < TABLES; k++)
    for (uint64_t i = 0; i < rope->sections; i++)
      rope->table[k][i].address = vtile_reserve(&slot, bytes);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  rope->head_slot = used;
  rope->result = vtile_align(bytes);
  rope->rest = 2 * rope->result;
  rope->head_bytes =
      rope->rest + vtile_align(tile->rows * rest_cols(rope) * vtile_bytes(rope->type));
  used += rope->head_bytes * 2;
  for (unsigned r = 0; r < VREGS; r++)
    rope->address[r] = 0;
  for (unsigned r = R_COS; r <= R_X; r++)
    if (converts(rope) || (rope->sections > 1 && r != R_X))
      rope->address[r] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if (converts(rope) && rope->sections > 1)
    rope->address[T2] = vtile_reserve(&used, elements * FLOAT_BYTES);
  if (rope->form != FORM_HALVES)
    rope->address[T3] = vtile_reserve(&used, elements * FLOAT_BYTES);
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

/* Pairs: each element has its neighbour's place. Sorted: the even elements become the first half.
 */
static void put_gathered(const struct head *head) {
  static const struct vstep pairs[] = {STEP(GATHER_(T0, R_X, T3)), B("vmul", R_X, R_X, R_COS),
                                       B("vmul", T0, T0, R_SIN), B("vadd", Y0, T0, R_X), END};
  static const struct vstep sort[] = {STEP(GATHER_(T0, R_X, T3)), END};
  static const struct vstep turn[] = {B("vmul", T0, T0, R_COS), B("vmul", R_X, R_X, R_SIN),
                                      B("vadd", Y0, T0, R_X), END};
  struct vunit *unit = head->unit;
  if (head->rope->form == FORM_PAIRS) {
    vunit_steps(unit, pairs);
    return;
  }
  vunit_steps(unit, sort);
  vunit_order(unit, V(T0), V(R_X));
  put_swapped(head, R_X, unit->reg[T0], unit->reg[T0]);
  vunit_steps(unit, turn);
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

/* All rows of one head: where they begin in device memory. `rest`: what is not turned. */
static struct vtile_operand head_operand(const struct head *head, const char *name,
                                         struct expr index, bool rest, uint64_t address) {
  const struct rope *rope = head->rope;
  struct expr first = x_add(x_mul(index, rope->width), rest ? rope->cols : 0);
  return (struct vtile_operand){.at = x_slot(head->e, name, first, vtile_bytes(rope->type)),
                                .dtype = rope->type,
                                .row_stride = rope->heads * rope->width,
                                .col_stride = 1,
                                .pitch = rest ? rest_cols(rope) : rope->cols,
                                .address = address};
}

/* What is not turned comes and goes through a buffer of its own, which MTE2 and MTE3 share. */
static void put_rest(struct head *head, const struct vtile *tile, struct expr index, bool store) {
  const struct rope *rope = head->rope;
  struct vtile here = *tile;
  if (rest_cols(rope) == 0)
    return;
  struct vtile_operand rest = head_operand(head, store ? "y" : "x", index, true, rope->rest);
  here.cols = here.space.cols = rest_cols(rope);
  here.n_cols = EXPR(rest_cols(rope));
  if (!store)
    emit_wait(head->e, PIPE_MTE3, PIPE_MTE2, head->flag);
  (store ? vtile_store : vtile_load)(head->e, &here, &rest);
  if (store)
    emit_set(head->e, PIPE_MTE3, PIPE_MTE2, head->flag);
}

static void put_head(struct head *head, struct expr index) {
  const struct rope *rope = head->rope;
  struct emit *e = head->e;
  struct vunit *unit = head->unit;
  struct vtile here = rope->kernel.tile;
  here.slot = head->slot;
  struct vtile_operand x = head_operand(head, "x", index, false, 0);
  struct vtile_operand y = head_operand(head, "y", index, false, rope->result);
  struct expr raw = x_add(head->slot, x.address), out = x_add(head->slot, y.address);
  emit_wait(e, PIPE_V, PIPE_MTE2, head->flag);
  vtile_load(e, &here, &x);
  put_rest(head, &here, index, false);
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
  if (rope->form != FORM_HALVES)
    put_gathered(head);
  else
    (rope->grad ? put_backward : put_forward)(head);
  if (converts(rope)) {
    emit_wait(e, PIPE_MTE3, PIPE_V, head->flag);
    vunit_convert(unit, V(Y0) | V(T0), 0, DTYPE_FP32, rope->type, out, unit->reg[Y0]);
  } else {
    emit_set(e, PIPE_V, PIPE_MTE2, head->flag);
  }
  emit_handshake(e, PIPE_V, PIPE_MTE3, head->flag);
  vtile_store(e, &here, &y);
  put_rest(head, &here, index, true);
  emit_set(e, PIPE_MTE3, PIPE_V, head->flag);
}

/* ---- a tile ---------------------------------------------------------------------------------- */

/* Columns of one section of both halves, from the table in T2 to its place in the register. */
static void put_section(struct head *head, unsigned dst, struct expr src, uint64_t first,
                        uint64_t cols) {
  const struct rope *rope = head->rope;
  const uint64_t per_block = BLOCK_BYTES / FLOAT_BYTES;
  uint64_t blocks = cols / per_block, gap = rope->cols / per_block - blocks;
  for (uint64_t col = first; col < rope->cols; col += rope->cols / 2)
    EMIT(head->e, "copy_ubuf_to_ubuf", F("dst", x_add(head->unit->reg[dst], col * FLOAT_BYTES)),
         F("src", x_add(src, col * FLOAT_BYTES)), F("n_burst", rope->kernel.tile.n_rows),
         F("len_burst", blocks), F("src_gap", gap), F("dst_gap", gap));
}

/* One table of several, of which each section of columns takes its own. */
static void put_sections(struct head *head, unsigned k) {
  const struct rope *rope = head->rope;
  struct vunit *unit = head->unit;
  for (uint64_t i = 0, first = 0; i < rope->sections; first += rope->section[i++]) {
    struct expr raw = x_add(rope->kernel.tile.slot, rope->table[k][i].address), from = raw;
    if (converts(rope)) {
      vunit_convert(unit, 0, V(T2), rope->type, DTYPE_FP32, unit->reg[T2], raw);
      from = unit->reg[T2];
    }
    vunit_order(unit, V(T2), V(R_COS + k));
    put_section(head, R_COS + k, from, first, rope->section[i]);
  }
}

/* Of sin what is subtracted becomes negative: the first half, or the first of each pair. */
static void put_signs(struct head *head) {
  const struct rope *rope = head->rope;
  struct vunit *unit = head->unit;
  uint64_t lanes = (uint64_t)head->e->soc->vector_bytes / FLOAT_BYTES;
  bool pairs = rope->form == FORM_PAIRS;
  uint64_t cols = pairs ? rope->cols : rope->cols / 2;
  vunit_order(unit, V(R_SIN), V(R_SIN));
  for (uint64_t col = 0; col < cols; col += lanes) {
    struct expr at = x_add(unit->reg[R_SIN], col * FLOAT_BYTES);
    uint64_t stride = rope->cols * FLOAT_BYTES / BLOCK_BYTES, here = min_u64(lanes, cols - col);
    vunit_lanes(unit, (unsigned)here);
    if (pairs) {
      int64_t mask = here < lanes ? EVEN_LANES & ((INT64_C(1) << here) - 1) : EVEN_LANES;
      EMIT(head->e, "set_vector_mask", F("high", 0), F("low", mask));
      vunit_forget(unit);
    }
    EMIT(head->e, "vmuls", F("dst", at), F("src", at), F("scalar", vscalar(DTYPE_FP32, -1)),
         F("repeat", rope->kernel.tile.n_rows), F("dst_repeat", stride), F("src_repeat", stride),
         W("type", "fp32"));
  }
  vunit_rest(unit);
}

/* cos and sin in single precision. */
static void put_tables(struct head *head) {
  const struct rope *rope = head->rope;
  struct vunit *unit = head->unit;
  vunit_count(unit, head->count);
  for (unsigned k = 0; k < TABLES; k++) {
    struct expr raw = x_add(rope->kernel.tile.slot, rope->table[k][0].address);
    if (rope->sections > 1)
      put_sections(head, k);
    else if (converts(rope))
      vunit_convert(unit, 0, V(R_COS + k), rope->type, DTYPE_FP32, unit->reg[R_COS + k], raw);
    else
      unit->reg[R_COS + k] = raw;
  }
  if (!rope->grad)
    put_signs(head);
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
static void put_ends(struct emit *e, const struct rope *rope, bool start) {
  struct expr buffer = emit_for(e, start ? "first_head" : "last_head", 2);
  emit_flag_of(e, start, PIPE_V, PIPE_MTE2, x_add(buffer, HEAD_FLAG));
  emit_flag_of(e, start, PIPE_MTE3, PIPE_V, x_add(buffer, HEAD_FLAG));
  if (rest_cols(rope))
    emit_flag_of(e, start, PIPE_MTE3, PIPE_MTE2, x_add(buffer, HEAD_FLAG));
  emit_end(e);
}

/* Where each element of a tile comes from: its neighbour; or of its row the even elements first. */
static void put_offsets(struct emit *e, const struct rope *rope) {
  uint64_t words = rope->kernel.tile.rows * rope->cols, half = rope->cols / 2;
  struct vtable table = {.address = rope->address[T3], .step = FLOAT_BYTES};
  if (rope->form == FORM_PAIRS) {
    for (unsigned i = 0; i < VTABLE_FIRST; i++)
      table.first[i] = (i ^ 1) * FLOAT_BYTES;
    vtables_fill(e, &table, 1, words);
  } else {
    struct vtable both[] = {vtable_series(rope->address[T3], 2 * FLOAT_BYTES),
                            vtable_series(rope->address[T3] + half * FLOAT_BYTES, 2 * FLOAT_BYTES)};
    for (unsigned i = 0; i < VTABLE_FIRST; i++)
      both[1].first[i] += FLOAT_BYTES;
    vtables_fill(e, both, 2, half);
    for (uint64_t filled = rope->cols; filled < words; filled *= 2) {
      emit_barrier(e, PIPE_V);
      vmask_count(e, min_u64(filled, words - filled));
      EMIT(e, "vadds", F("dst", rope->address[T3] + filled * FLOAT_BYTES),
           F("src", rope->address[T3]), F("scalar", filled * FLOAT_BYTES), F("repeat", 1),
           W("type", "int32"));
    }
  }
  emit_barrier(e, PIPE_V);
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  const struct rope *rope = (const struct rope *)kernel;
  if (rope->form != FORM_HALVES)
    put_offsets(e, rope);
  put_ends(e, rope, true);
  vkernel_tiles(e, kernel);
  put_ends(e, rope, false);
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  static const char *const names[TABLES] = {"cos", "sin"};
  const struct rope *rope = (const struct rope *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  const uint64_t all[] = {rope->sections, kernel->tile.space.rows, rope->cols};
  unsigned rank = rope->sections > 1 ? 3 : 2;
  emit_tensor(e, "x", rope->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  for (unsigned k = 0; k < TABLES; k++)
    emit_tensor(e, names[k], rope->type, TENSOR_IN, all + (3 - rank), rank, NULL);
  emit_tensor(e, "y", rope->type, TENSOR_OUT, shape->shape, shape->rank, NULL);
}

/* ---- setup ----------------------------------------------------------------------------------- */

/* Elements of a head that are turned. */
static uint64_t turned_cols(const struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *rotary = lower_get(job, "rotary");
  return rotary ? rotary->size : shape->shape[shape->rank - 1];
}

bool rope_fits(const struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape");
  uint64_t cols = turned_cols(job), rest = shape->shape[shape->rank - 1] - cols;
  unsigned bytes = vtile_bytes(lower_get(job, "dtype")->dtype);
  return shape->rank > 1 && cols % 2 == 0 && cols / 2 * bytes % BLOCK_BYTES == 0 &&
         rest * bytes % BLOCK_BYTES == 0 &&
         (isa_row(OP_COPY_UBUF_TO_UBUF)->archs & 1u << job->soc->arch) &&
         cols * FLOAT_BYTES / BLOCK_BYTES < UINT8_MAX;
}

/* The keys of forms, which the gradient lacks. */
static enum vinci_status read_form(struct lower_job *job, struct rope *rope) {
  const struct lower_value *form = lower_get(job, "form"), *parts = lower_get(job, "sections");
  const uint64_t per_block = BLOCK_BYTES / FLOAT_BYTES;
  uint64_t all = 0;
  rope->form = form ? (enum form)form->word : FORM_HALVES;
  rope->sections = 1;
  if (rope->form != FORM_HALVES && !(isa_row(OP_VGATHER)->archs & 1u << job->soc->arch))
    return lower_error(job, "the chip has no instruction that gathers, which pairs need");
  if (!parts)
    return VINCI_OK;
  if (parts->rank != SECTIONS)
    return lower_error(job, "there are %d sections: of time, height and width", SECTIONS);
  rope->sections = SECTIONS;
  for (unsigned i = 0; i < SECTIONS; i++) {
    rope->section[i] = parts->shape[i];
    all += parts->shape[i];
    if (parts->shape[i] % per_block)
      return lower_error(job, "sections are multiples of %llu elements",
                         (unsigned long long)per_block);
  }
  if (all != rope->cols / 2)
    return lower_error(job, "sections add up to %llu, half of what is turned is %llu",
                       (unsigned long long)all, (unsigned long long)rope->cols / 2);
  return VINCI_OK;
}

/* Tables of a tile: for each section one behind the other. */
static void set_tables(struct rope *rope) {
  static const char *const names[TABLES] = {"cos", "sin"};
  struct vkernel *kernel = &rope->kernel;
  unsigned count = 0;
  for (unsigned k = 0; k < TABLES; k++)
    for (uint64_t i = 0; i < rope->sections; i++) {
      rope->table[k][i] = vtile_whole_rows(names[k], rope->type, &kernel->tile.space, rope->cols);
      rope->table[k][i].base = i * kernel->tile.space.rows * rope->cols;
      rope->table[k][i].whole = rope->sections == 1;
      kernel->in[count++] = &rope->table[k][i];
    }
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 1,
                                           .whole_rows = true,
                                           .lay_out = lay_out,
                                           .split = split,
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
  rope->cols = turned_cols(job);
  rope->width = shape->shape[shape->rank - 1];
  enum vinci_status status = read_form(job, rope);
  if (status != VINCI_OK)
    return status;
  rope->heads = lower_elements(shape->shape + 1, shape->rank - 2);
  kernel->tile.space = (struct vtile_space){.rows = shape->shape[0], .cols = rope->cols};
  kernel->tile.parts = VTILE_LOADS | VTILE_COMPUTES;
  uint64_t shares = converts(rope) ? SHARES_NARROW : SHARES_FP32;
  if (rope->sections > 1 || rope->form != FORM_HALVES || rest_cols(rope))
    shares *= 2; /* of their buffers and registers */
  uint64_t share = ((uint64_t)job->soc->ub_bytes - RESERVED_BYTES) / shares;
  kernel->rows_max = max_u64(1, share / (rope->cols * vtile_bytes(rope->type)));
  kernel->element_bytes = rope->heads * vtile_bytes(rope->type);
  kernel->code = KERNEL_FUSED;
  set_tables(rope);
  return VINCI_OK;
}

const struct lower_template rope_template = VKERNEL_TEMPLATE(setup);
