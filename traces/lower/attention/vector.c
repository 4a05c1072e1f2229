/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of the vector cores of flash_attention. Each of the two takes half of a task's rows,
 * a slice of them at a time: probabilities of the step to come, then what the cube core has made of
 * the present one. The maximum and sum of rows lie twice, for tasks of odd and even number; the
 * factors of a step wait in its slot until its values are added.
 *
 * Flags, of two buffers each: MTE3 to MTE2 free, MTE2 to V filled, V to MTE3 computed. A buffer
 * holds scores and then the probabilities, or partial values and then, at the end of a task, the
 * result.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/writer.h"

enum { LANES_BYTES = VROW_LANES * WORD_BYTES };

/* Registers for the order of instructions. */
enum { R_BUFFER = X0, R_VALUES = X1, R_FOLDED = X2 };
enum { R_MAXIMUM = Y0, R_SUM = Y1, R_FACTOR = Y2, R_FRESH = T0, R_COLUMN = T1 };

/* Below every score that is scaled, hidden ones too. */
static const double lowest = -1e38;

/* ---- numbers of rows ---- */

/* `slot` of numbers of a core's rows, from row `first` on. */
static struct expr numbers(const struct attention_writer *w, uint64_t address, struct expr slot,
                           struct expr first) {
  struct expr at = x_add(address, x_mul(slot, w->t.half * WORD_BYTES));
  return x_add(at, x_mul(first, WORD_BYTES));
}

/* A slice, with what came before still under way. */
static struct vrows start_rows(const struct attention_writer *w, const struct attention_place *p) {
  struct emit *e = w->e;
  const struct attention_tiling *t = &w->t;
  struct expr slot = x_add(x_mul(p->odd, 2), x_mod(p->step, 2));
  struct vrows rows = {.machine = {.emit = e, .type = DTYPE_FP32, .written = (1u << VREGS) - 1},
                       .rows = "rr",
                       .cols = w->at->depth,
                       .pitch = t->depth,
                       .accumulator = t->accumulator,
                       .blocks = t->blocks};
  const char **reg = rows.machine.reg;
  reg[R_BUFFER] = "tile";
  reg[R_VALUES] = "values";
  reg[R_FRESH] = x_text(e, EXPR(t->fresh));
  reg[R_COLUMN] = x_text(e, EXPR(t->column));
  reg[R_MAXIMUM] = x_text(e, numbers(w, t->maximum, p->odd, w->r0));
  reg[R_SUM] = x_text(e, numbers(w, t->sum, p->odd, w->r0));
  reg[R_FACTOR] = x_text(e, numbers(w, t->factor, slot, w->r0));
  return rows;
}

/* ---- probabilities of the step to come ---- */

/*
 * One number per row, in the column. Blocks of 8 lanes are folded into one each time: a row of up
 * to 512 is 64 numbers, then 8, then 1. Shorter rows leave places that have to hold the neutral
 * number.
 */
static void reduce(const struct attention_writer *w, struct vmachine *machine,
                   enum vrow_reduction kind) {
  struct emit *e = w->e;
  const char *inst = kind == VROW_SUM ? "vcgadd" : "vcgmax";
  uint64_t lanes = w->t.accumulator, folded = w->t.folded;
  vmachine_lanes(machine, VROW_LANES);
  vmachine_order(machine, 0, 1u << VROW_ACCUMULATOR);
  emit_if(e, "narrow", x_lt(w->wide, VROW_LANES * BLOCK_WORDS));
  attention_dup(e, EXPR(lanes), vrow_identity(kind), w->rr);
  emit_end(e);
  vmachine_order(machine, 1u << R_BUFFER, 1u << VROW_ACCUMULATOR);
  struct expr part = emit_for(e, "part", x_div(w->wide, VROW_LANES));
  EMIT(e, inst, F("dst", x_add(lanes, x_mul(part, BLOCK_BYTES))),
       F("src", x_add(w->tile, x_mul(part, LANES_BYTES))), F("repeat", w->rr), F("dst_repeat", 8),
       F("src_repeat", x_div(w->wide, BLOCK_WORDS)), W("type", "fp32"));
  emit_end(e);
  vmachine_order(machine, 1u << VROW_ACCUMULATOR, 1u << R_FOLDED);
  EMIT(e, inst, F("dst", folded), F("src", lanes), F("repeat", w->rr), W("type", "fp32"));
  attention_count(w, machine, EXPR(BLOCK_WORDS));
  vmachine_order(machine, 1u << R_FOLDED, 1u << R_COLUMN);
  EMIT(e, inst, W("dst", machine->reg[R_COLUMN]), F("src", folded), F("repeat", 1),
       W("type", "fp32"));
}

static void put_steps(struct vmachine *machine, const struct vstep *steps) {
  for (; steps->form != VFORM_END; steps++)
    vmachine_step(machine, steps);
}

/* The new maximum, and the factor that the old one asks for. */
static void put_maximum(const struct attention_writer *w, struct vrows *rows) {
  static const struct vstep steps[] = {
      B("vmax", R_FRESH, R_MAXIMUM, R_COLUMN), B("vsub", R_FACTOR, R_MAXIMUM, R_FRESH),
      U("vexp", R_FACTOR, R_FACTOR), S("vadds", R_MAXIMUM, R_FRESH, 0), END};
  reduce(w, &rows->machine, VROW_MAX);
  vrow_column(rows);
  put_steps(&rows->machine, steps);
  vrow_spread(rows, R_FRESH, rows->machine.reg[R_FRESH]);
}

/* exp of what is left above the maximum, and the running sum. */
static void put_exponentials(const struct attention_writer *w, struct vrows *rows) {
  static const struct vstep steps[] = {B("vmul", R_SUM, R_SUM, R_FACTOR),
                                       B("vadd", R_SUM, R_SUM, R_COLUMN), END};
  struct vmachine *machine = &rows->machine;
  attention_subtract(w, machine, R_BUFFER, w->tile, VROW_BLOCKS, EXPR(w->t.blocks));
  attention_count(w, machine, w->wide);
  vmachine_step(machine, &(struct vstep)U("vexp", R_BUFFER, R_BUFFER));
  reduce(w, machine, VROW_SUM);
  vrow_column(rows);
  put_steps(machine, steps);
}

/* Maxima and sums of a task's rows before its first step. */
static void begin_numbers(const struct attention_writer *w, const struct attention_place *p) {
  struct emit *e = w->e;
  struct expr none = EXPR(0);
  emit_if(e, "begin", x_eq(p->step, 0));
  emit_barrier(e, PIPE_V);
  attention_mask(e, EXPR(w->t.half));
  attention_dup(e, numbers(w, w->t.maximum, p->odd, none), lowest, EXPR(1));
  attention_dup(e, numbers(w, w->t.sum, p->odd, none), 0, EXPR(1));
  emit_end(e);
}

static void put_probabilities(struct attention_writer *w) {
  struct emit *e = w->e;
  struct attention_place *p = &w->next;
  attention_share(w, p);
  attention_wide(w, p);
  begin_numbers(w, p);
  attention_await(e, SIGNAL_SCORES);
  attention_slices(w, p);
  struct vrows rows = start_rows(w, p);
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, w->pair);
  attention_scores_in(w, p, "scores", w->tile);
  emit_handshake(e, PIPE_MTE2, PIPE_V, w->pair);
  attention_pad(w, p);
  attention_scale(w, p, &rows.machine, R_BUFFER);
  put_maximum(w, &rows);
  put_exponentials(w, &rows);
  attention_count(w, &rows.machine, w->wide);
  attention_convert(w, &rows.machine, R_BUFFER);
  emit_handshake(e, PIPE_V, PIPE_MTE3, w->pair);
  attention_scores_out(w, p, "probs", w->tile);
  emit_set(e, PIPE_MTE3, PIPE_MTE2, w->pair);
  vmachine_rest(&rows.machine);
  emit_end(e);
  attention_signal(e, PIPE_MTE3, SIGNAL_PROBABILITIES);
}

/* ---- values of the present step ---- */

/* Row of the slice in its head. */
static struct expr head_row(const struct attention_writer *w) {
  return x_add(x_add(w->here.row, w->here.from), w->r0);
}

/* Where in the buffer the numbers of rows lie, eight times each, behind the result: parts are
 * joined in single precision. */
static struct expr spread_at(const struct attention_writer *w, unsigned number) {
  uint64_t result_bytes = w->t.depth * (w->t.splits > 1 ? WORD_BYTES : HALF_BYTES);
  return x_add(w->tile, w->t.slice * (result_bytes + number * BLOCK_BYTES));
}

static void spread_numbers(const struct attention_writer *w, struct vmachine *machine) {
  static const unsigned regs[] = {R_MAXIMUM, R_SUM};
  vmachine_count(machine, "rr");
  vmachine_order(machine, 1u << R_MAXIMUM | 1u << R_SUM, 1u << R_BUFFER);
  for (unsigned i = 0; i < 2; i++)
    EMIT(w->e, "vbrcb", F("dst", spread_at(w, i)), W("src", machine->reg[regs[i]]),
         F("repeat", x_ceil_div(w->rr, BLOCK_WORDS)), W("type", "uint32"));
}

/* After the last step: divided by the sum, unless there are parts to join. */
static void finish(const struct attention_writer *w, struct vrows rows) {
  struct emit *e = w->e;
  struct vmachine *machine = &rows.machine;
  bool whole = w->t.splits == 1;
  const char *inst = vconvert_inst(e->soc, DTYPE_FP32, w->at->type);
  emit_if(e, "last", x_eq(x_add(w->here.step, 1), w->here.steps));
  if (whole) {
    vrow_spread(&rows, R_SUM, machine->reg[R_SUM]);
    vrow_with_column(&rows, "vdiv", R_VALUES, "values", R_VALUES, "values");
  }
  vrow_all(&rows);
  vmachine_step(machine, whole ? &(struct vstep)C(inst, R_BUFFER, R_VALUES)
                               : &(struct vstep)S("vadds", R_BUFFER, R_VALUES, 0));
  if (w->at->statistics || !whole)
    spread_numbers(w, machine);
  vmachine_rest(machine);
  emit_end(e);
}

static void store_numbers(const struct attention_writer *w) {
  for (unsigned i = 0; i < 2 && w->at->statistics; i++)
    EMIT(w->e, "copy_ubuf_to_gm_align_b32",
         F("dst", attention_number(w, i ? "row_sum" : "row_max", w->at->rows, w->here.z,
                                   head_row(w), BLOCK_BYTES)),
         F("src", spread_at(w, i)), F("len_burst", x_mul(w->rr, BLOCK_BYTES)));
}

/* Row of the slice, in a tensor that has `bytes` for each part of it. */
static struct expr part_at(const struct attention_writer *w, const char *tensor, uint64_t bytes) {
  struct expr row = x_add(x_mul(w->here.z, w->at->rows), head_row(w));
  struct expr part = x_add(x_mul(row, w->t.splits), w->here.piece);
  return x_add(x_name(w->e, tensor), x_mul(part, bytes));
}

/* Rows of a part of the keys: those of the other parts lie between them. */
static void store_part(const struct attention_writer *w) {
  uint64_t others = w->t.splits - 1, depth = w->at->depth, row = depth * WORD_BYTES;
  EMIT(w->e, "copy_ubuf_to_gm_align_b32", F("dst", part_at(w, "part_values", row)),
       F("src", w->tile), F("n_burst", w->rr), F("len_burst", row),
       F("src_gap", w->t.depth / BLOCK_WORDS - ceil_div(depth, BLOCK_WORDS)),
       F("dst_gap", others * row));
  for (unsigned i = 0; i < 2; i++)
    EMIT(w->e, "copy_ubuf_to_gm_align_b32",
         F("dst", part_at(w, i ? "part_sum" : "part_max", BLOCK_BYTES)), F("src", spread_at(w, i)),
         F("n_burst", w->rr), F("len_burst", BLOCK_BYTES), F("dst_gap", others * BLOCK_BYTES));
}

static void store_result(const struct attention_writer *w) {
  const struct attention *at = w->at;
  emit_if(w->e, "out", x_eq(x_add(w->here.step, 1), w->here.steps));
  if (w->t.splits > 1) {
    store_part(w);
  } else {
    attention_rows_out(w, &at->q,
                       attention_row(w, "o", &at->q, at->heads, 1, w->here.z, head_row(w)), w->tile,
                       w->rr);
    store_numbers(w);
  }
  emit_end(w->e);
}

/* Before the first step of a task there are no values. */
static void begin_values(const struct attention_writer *w) {
  emit_if(w->e, "begin", x_eq(w->here.step, 0));
  emit_barrier(w->e, PIPE_V);
  attention_fill(w->e, w->t.result, w->t.half * w->t.depth * WORD_BYTES, 0);
  emit_end(w->e);
}

static void put_result(struct attention_writer *w) {
  struct emit *e = w->e;
  struct attention_place *p = &w->here;
  uint64_t row = w->at->depth * WORD_BYTES;
  attention_share(w, p);
  begin_values(w);
  attention_await(e, SIGNAL_PARTIAL);
  attention_slices(w, p);
  attention_let(e, "values", "", x_add(w->t.result, x_mul(w->r0, w->t.depth * WORD_BYTES)));
  struct vrows rows = start_rows(w, p);
  emit_wait(e, PIPE_MTE3, PIPE_MTE2, w->pair);
  struct expr slot = x_add(x_name(e, "partial"), x_mul(p->slot, w->t.rows * row));
  attention_values_in(w, w->tile, x_add(slot, x_mul(x_add(p->from, w->r0), row)), w->rr);
  emit_handshake(e, PIPE_MTE2, PIPE_V, w->pair);
  vrow_spread(&rows, R_FACTOR, rows.machine.reg[R_FACTOR]);
  vrow_with_column(&rows, "vmul", R_VALUES, "values", R_VALUES, "values");
  vrow_all(&rows);
  vmachine_step(&rows.machine, &(struct vstep)B("vadd", R_VALUES, R_VALUES, R_BUFFER));
  vmachine_rest(&rows.machine);
  finish(w, rows);
  emit_handshake(e, PIPE_V, PIPE_MTE3, w->pair);
  store_result(w);
  emit_set(e, PIPE_MTE3, PIPE_MTE2, w->pair);
  emit_end(e);
}

/* ---- the stream ---- */

static void put_flags(struct attention_writer *w, bool set) {
  emit_flag_of(w->e, set, PIPE_MTE3, PIPE_MTE2, attention_flags(w->e, set, "vec_", ATTENTION_PAIR));
  emit_end(w->e);
}

/* Numbers of rows are spread 8 at a time; there may be fewer. Rows of values are whole fractals,
 * of which copies leave out up to a block. */
static void clear(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_plain(e, "set_mask_count");
  if (w->t.depth - w->at->depth >= BLOCK_WORDS) {
    attention_fill(e, w->t.buffers, ATTENTION_PAIR * w->t.buffer_bytes, 0);
    emit_barrier(e, PIPE_ALL);
  }
  attention_fill(e, w->t.maximum, w->t.ub_bytes - w->t.maximum, 0);
}

void attention_vector_stream(struct attention_writer *w) {
  clear(w);
  attention_stream(w, "The first probabilities.", put_flags, put_probabilities, put_result);
}
