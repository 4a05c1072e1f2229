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

enum { ROUND_UNIT = 8 }; /* numbers of a block */
enum { HALF_BYTES = 2, WORD_BYTES = 4, LANES_BYTES = VROW_LANES * WORD_BYTES };

/* Registers for the order of instructions. */
enum { R_BUFFER = X0, R_VALUES = X1, R_FOLDED = X2 };
enum { R_MAXIMUM = Y0, R_SUM = Y1, R_FACTOR = Y2, R_FRESH = T0, R_COLUMN = T1 };

/* Far below every score, and still far from the end of the range when it is scaled. */
static const double masked = -1e30, lowest = -1e38;

static struct vrows start_rows(const struct attention_writer *w) {
  struct vrows rows = {.machine = {.emit = w->e, .type = DTYPE_FP32},
                       .rows = "rr",
                       .cols = w->at->depth,
                       .pitch = w->t.depth,
                       .accumulator = w->t.accumulator,
                       .blocks = w->t.blocks};
  /* What came before may still be under way. */
  rows.machine.written = (1u << VREGS) - 1;
  return rows;
}

static void vector_dup(const struct attention_writer *w, const char *dst, double value,
                       const char *more) {
  emit_row(w->e, "vector_dup,dst=%s,scalar=%lld,%s,type=fp32", dst, vscalar_bits(DTYPE_FP32, value),
           more);
}

/* Lets of the slice of the task with the suffix: rows from r0 of this core's, rr of them. */
void attention_slice(const struct attention_writer *w, const char *x) {
  emit_let(w->e, "r0", "slice*%llu", (ull)w->t.slice);
  emit_let(w->e, "rr", "min(%llu,mine%s-r0)", (ull)w->t.slice, x);
  emit_let(w->e, "pair", "slice%%2");
  emit_let(w->e, "tile", "%llu+pair*%llu", (ull)w->t.buffers, (ull)w->t.buffer_bytes);
}

/* Rows of this core: `mine` of them from `from` on. */
void attention_share(const struct attention_writer *w, const char *x) {
  struct emit *e = w->e;
  emit_let(e, emit_text(e, "split%s", x), "min(%llu,(cm%s+15)/16*8)", (ull)w->t.half, x);
  emit_let(e, emit_text(e, "from%s", x), "sub*split%s", x);
  emit_let(e, emit_text(e, "mine%s", x), "max(0,min(split%s,cm%s-from%s))", x, x, x);
}

static void open_slices(const struct attention_writer *w, const char *x) {
  emit_loop(w->e, "slice", "(mine%s+%llu)/%llu", x, (ull)w->t.slice - 1, (ull)w->t.slice);
  attention_slice(w, x);
}

/* Computed: MTE3 may read the buffer; where there is nothing to copy it passes the word on. */
static void wait_computed(struct emit *e) {
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "pair");
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "pair");
}

/* ---- probabilities of step sx of task x ---- */

/* 2 to the power of name, 0 to 63, with a minus so that all of them fit: as lanes, those from
 * number `name` on. */
static const char *lanes_from(struct emit *e, const char *name) {
  return emit_text(e,
                   "-1*(1+%s%%2)*(1+3*(%s/2%%2))*(1+15*(%s/4%%2))*(1+255*(%s/8%%2))"
                   "*(1+65535*(%s/16%%2))*(1+4294967295*(%s/32))",
                   name, name, name, name, name, name);
}

static void load_scores(const struct attention_writer *w) {
  struct emit *e = w->e;
  ull row = w->t.cols * WORD_BYTES;
  emit_wait_flag(e, PIPE_MTE3, PIPE_MTE2, "pair");
  emit_row(e,
           "copy_gm_to_ubuf_align_b32,dst=tile,src=scores+slotx*%llu+(fromx+r0)*%llu,n_burst=rr,"
           "len_burst=ccx*4,src_gap=%llu-ccx*4,dst_gap=wide/8-(ccx+7)/8",
           (ull)w->t.rows * row, row, row);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "pair");
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "pair");
}

/* The last lanes of each row, which no copy has written. */
static void pad(const struct attention_writer *w, struct vrows *rows) {
  struct emit *e = w->e;
  emit_loop(e, "pad", "ccx<wide");
  emit_let(e, "lane", "ccx%%64");
  emit_row(e, "set_mask_norm");
  emit_row(e, "set_vector_mask,high=0,low=%s", lanes_from(e, "lane"));
  vector_dup(w, "tile+ccx/64*256", masked, "repeat=rr,dst_repeat=wide/8");
  emit_row(e, "set_mask_count");
  emit_endloop(e);
  rows->machine.written |= 1u << R_BUFFER;
}

/* Row by row where keys are hidden from it: `seen` of them are not. */
void attention_hide(const struct attention_writer *w, struct vrows *rows, const char *x) {
  struct emit *e = w->e;
  if (!w->at->causal)
    return;
  vmachine_order(&rows->machine, 0, 1u << R_BUFFER);
  emit_let(e, "first", "row%s+from%s+r0+%llu-key%s", x, x, (ull)(w->at->keys - w->at->rows + 1), x);
  emit_loop(e, "hides", "first<cc%s", x);
  emit_row(e, "set_mask_norm");
  emit_loop(e, "r", "min(rr,cc%s-first)", x);
  emit_let(e, "seen", "max(0,first+r)");
  emit_let(e, "lane", "seen%%64");
  emit_row(e, "set_vector_mask,high=0,low=%s", lanes_from(e, "lane"));
  vector_dup(w, "tile+r*wide*4+seen/64*256", masked, "repeat=1");
  emit_row(e, "set_vector_mask,high=0,low=-1");
  vector_dup(w, "tile+r*wide*4+(seen/64+1)*256", masked, "repeat=wide/64-seen/64-1");
  emit_endloop(e);
  emit_row(e, "set_mask_count");
  emit_endloop(e);
  rows->machine.mask = NULL;
}

/*
 * One number per row. Blocks of 8 lanes are folded into one each time: a row of up to 512 is 64
 * numbers, then 8, then 1. Shorter rows leave places that have to hold the neutral number.
 */
static void reduce(const struct attention_writer *w, struct vrows *rows, enum vrow_reduction kind,
                   const char *column) {
  struct emit *e = w->e;
  struct vmachine *machine = &rows->machine;
  const char *inst = kind == VROW_SUM ? "vcgadd" : "vcgmax";
  ull lanes = w->t.accumulator, folded = w->t.folded;
  vmachine_lanes(machine, VROW_LANES);
  vmachine_order(machine, 0, 1u << VROW_ACCUMULATOR);
  emit_loop(e, "narrow", "wide<%d", VROW_LANES * ROUND_UNIT);
  vector_dup(w, emit_text(e, "%llu", lanes), vrow_identity(kind), "repeat=rr");
  emit_endloop(e);
  vmachine_order(machine, 1u << R_BUFFER, 1u << VROW_ACCUMULATOR);
  emit_loop(e, "part", "wide/64");
  emit_row(e,
           "%s,dst=%llu+part*32,src=tile+part*256,repeat=rr,dst_repeat=8,src_repeat=wide/8,"
           "type=fp32",
           inst, lanes);
  emit_endloop(e);
  vmachine_order(machine, 1u << VROW_ACCUMULATOR, 1u << R_FOLDED);
  emit_row(e, "%s,dst=%llu,src=%llu,repeat=rr,type=fp32", inst, folded, lanes);
  vmachine_count(machine, "rr*8");
  vmachine_order(machine, 1u << R_FOLDED, 1u << R_COLUMN);
  emit_row(e, "%s,dst=%s,src=%llu,repeat=1,type=fp32", inst, column, folded);
}

static void column_step(struct vrows *rows, const char *inst, unsigned dst_reg, const char *dst,
                        unsigned a_reg, const char *a, unsigned b_reg, const char *b) {
  vrow_column(rows);
  vmachine_order(&rows->machine, 1u << a_reg | 1u << b_reg, 1u << dst_reg);
  emit_row(rows->machine.emit, "%s,dst=%s,src0=%s,src1=%s,repeat=1,type=fp32", inst, dst, a, b);
}

/* The new maximum, and the factor that the old one asks for. */
static void put_maximum(const struct attention_writer *w, struct vrows *rows, const char *maximum,
                        const char *factor) {
  struct emit *e = w->e;
  const char *fresh = emit_text(e, "%llu", (ull)w->t.fresh);
  const char *column = emit_text(e, "%llu", (ull)w->t.column);
  reduce(w, rows, VROW_MAX, column);
  column_step(rows, "vmax", R_FRESH, fresh, R_MAXIMUM, maximum, R_COLUMN, column);
  column_step(rows, "vsub", R_FACTOR, factor, R_MAXIMUM, maximum, R_FRESH, fresh);
  vmachine_order(&rows->machine, 1u << R_FACTOR, 1u << R_FACTOR);
  emit_row(e, "vexp,dst=%s,src=%s,repeat=1,type=fp32", factor, factor);
  vmachine_order(&rows->machine, 1u << R_FRESH, 1u << R_MAXIMUM);
  emit_row(e, "vadds,dst=%s,src=%s,scalar=0,repeat=1,type=fp32", maximum, fresh);
  vrow_spread(rows, R_FRESH, fresh);
}

/* exp of what is left above the maximum, and the running sum. */
static void put_exponentials(const struct attention_writer *w, struct vrows *rows, const char *sum,
                             const char *factor) {
  struct emit *e = w->e;
  const char *column = emit_text(e, "%llu", (ull)w->t.column);
  vmachine_lanes(&rows->machine, VROW_LANES);
  vmachine_order(&rows->machine, 1u << R_BUFFER | 1u << VROW_BLOCKS, 1u << R_BUFFER);
  emit_loop(e, "part", "wide/64");
  emit_row(e,
           "vsub,dst=tile+part*256,src0=tile+part*256,src1=%llu,repeat=rr,dst_repeat=wide/8,"
           "src0_repeat=wide/8,src1_block=0,src1_repeat=1,type=fp32",
           (ull)w->t.blocks);
  emit_endloop(e);
  vmachine_count(&rows->machine, "rr*wide");
  vmachine_order(&rows->machine, 1u << R_BUFFER, 1u << R_BUFFER);
  emit_row(e, "vexp,dst=tile,src=tile,repeat=1,type=fp32");
  reduce(w, rows, VROW_SUM, column);
  column_step(rows, "vmul", R_SUM, sum, R_SUM, sum, R_FACTOR, factor);
  column_step(rows, "vadd", R_SUM, sum, R_SUM, sum, R_COLUMN, column);
}

static void store_probabilities(const struct attention_writer *w, struct vrows *rows) {
  struct emit *e = w->e;
  ull row = w->t.cols * HALF_BYTES;
  vmachine_count(&rows->machine, "rr*wide");
  vmachine_order(&rows->machine, 1u << R_BUFFER, 1u << R_BUFFER);
  emit_row(e, "%s,dst=tile,src=tile,repeat=1", vconvert_inst(e->soc, DTYPE_FP32, w->at->type));
  wait_computed(e);
  emit_row(e,
           "copy_ubuf_to_gm_align_b16,dst=probs+slotx*%llu+(fromx+r0)*%llu,src=tile,n_burst=rr,"
           "len_burst=ccx*2,src_gap=wide/16-(ccx+15)/16,dst_gap=%llu-ccx*2",
           (ull)w->t.rows * row, row, row);
  emit_set_flag(e, PIPE_MTE3, PIPE_MTE2, "pair");
}

static void put_probabilities(const struct attention_writer *w) {
  struct emit *e = w->e;
  ull half = w->t.half * WORD_BYTES;
  attention_share(w, "x");
  emit_let(e, "wide", "(ccx+63)/64*64");
  const char *maximum = emit_text(e, "(%llu+oddx*%llu+r0*4)", (ull)w->t.maximum, half);
  const char *sum = emit_text(e, "(%llu+oddx*%llu+r0*4)", (ull)w->t.sum, half);
  const char *factor = emit_text(e, "(%llu+(oddx*2+sx%%2)*%llu+r0*4)", (ull)w->t.factor, half);
  emit_loop(e, "begin", "sx==0");
  emit_barrier(e, PIPE_V);
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)w->t.half);
  vector_dup(w, emit_text(e, "%llu+oddx*%llu", (ull)w->t.maximum, half), lowest, "repeat=1");
  vector_dup(w, emit_text(e, "%llu+oddx*%llu", (ull)w->t.sum, half), 0, "repeat=1");
  emit_endloop(e);
  emit_row(e, "wait_flag_dev,id=%d", SIGNAL_SCORES);
  open_slices(w, "x");
  struct vrows rows = start_rows(w);
  load_scores(w);
  pad(w, &rows);
  vmachine_count(&rows.machine, "rr*wide");
  vmachine_order(&rows.machine, 1u << R_BUFFER, 1u << R_BUFFER);
  emit_row(e, "vmuls,dst=tile,src=tile,scalar=%lld,repeat=1,type=fp32",
           vscalar_bits(DTYPE_FP32, w->at->scale));
  attention_hide(w, &rows, "x");
  put_maximum(w, &rows, maximum, factor);
  put_exponentials(w, &rows, sum, factor);
  store_probabilities(w, &rows);
  vmachine_rest(&rows.machine);
  emit_endloop(e);
  emit_row(e, "ffts_cross_core_sync,pipe=MTE3,mode=2,id=%d", SIGNAL_PROBABILITIES);
}

/* ---- values of step s of task i ---- */

static void load_partial(const struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull row = at->depth * WORD_BYTES;
  emit_wait_flag(e, PIPE_MTE3, PIPE_MTE2, "pair");
  emit_row(e,
           "copy_gm_to_ubuf_align_b32,dst=tile,src=partial+slot*%llu+(from+r0)*%llu,"
           "n_burst=rr,len_burst=%llu,right_pad=%llu,dst_gap=%llu",
           (ull)w->t.rows * row, row, row,
           (ull)((ROUND_UNIT - at->depth % ROUND_UNIT) % ROUND_UNIT),
           (ull)(w->t.depth / ROUND_UNIT - ceil_div(at->depth, ROUND_UNIT)));
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "pair");
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "pair");
}

/* Bytes of a row of the result in the buffer: parts are joined in single precision. */
static ull result_bytes(const struct attention_writer *w) {
  return w->t.depth * (w->t.splits > 1 ? WORD_BYTES : HALF_BYTES);
}

/* Where in the buffer the numbers of rows lie, eight times each, behind the result. */
static ull statistics_at(const struct attention_writer *w, unsigned number) {
  return w->t.slice * (result_bytes(w) + number * BLOCK_BYTES);
}

static void spread_statistics(const struct attention_writer *w, struct vmachine *machine,
                              const char *maximum, const char *sum) {
  if (!w->at->statistics && w->t.splits == 1)
    return;
  vmachine_count(machine, "rr");
  vmachine_order(machine, 1u << R_MAXIMUM | 1u << R_SUM, 1u << R_BUFFER);
  emit_row(w->e, "vbrcb,dst=tile+%llu,src=%s,repeat=(rr+7)/8,type=uint32", statistics_at(w, 0),
           maximum);
  emit_row(w->e, "vbrcb,dst=tile+%llu,src=%s,repeat=(rr+7)/8,type=uint32", statistics_at(w, 1),
           sum);
}

static void store_statistics(const struct attention_writer *w) {
  static const char *const names[] = {"row_max", "row_sum"};
  for (unsigned number = 0; number < 2 && w->at->statistics; number++)
    emit_row(w->e,
             "copy_ubuf_to_gm_align_b32,dst=%s+(z*%llu+row+from+r0)*%d,src=tile+%llu,"
             "len_burst=rr*%d",
             names[number], (ull)w->at->rows, BLOCK_BYTES, statistics_at(w, number), BLOCK_BYTES);
}

/* Rows of a part of the keys: those of the other parts lie between them. */
static void store_part(const struct attention_writer *w) {
  static const char *const names[] = {"part_max", "part_sum"};
  ull splits = w->t.splits, row = w->at->depth * WORD_BYTES, rows = w->at->rows;
  emit_row(w->e,
           "copy_ubuf_to_gm_align_b32,dst=part_values+((z*%llu+row+from+r0)*%llu+piece)*%llu,"
           "src=tile,n_burst=rr,len_burst=%llu,src_gap=%llu,dst_gap=%llu",
           rows, splits, row, row,
           (ull)(w->t.depth / ROUND_UNIT - ceil_div(w->at->depth, ROUND_UNIT)), (splits - 1) * row);
  for (unsigned number = 0; number < 2; number++)
    emit_row(w->e,
             "copy_ubuf_to_gm_align_b32,dst=%s+((z*%llu+row+from+r0)*%llu+piece)*%d,src=tile+%llu,"
             "n_burst=rr,len_burst=%d,dst_gap=%llu",
             names[number], rows, splits, BLOCK_BYTES, statistics_at(w, number), BLOCK_BYTES,
             (splits - 1) * BLOCK_BYTES);
}

/* After the last step: divided by the sum, unless there are parts to join. */
static void finish(const struct attention_writer *w, struct vrows rows) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  emit_loop(e, "last", "s+1==steps");
  ull half = w->t.half * WORD_BYTES;
  const char *sum = emit_text(e, "(%llu+odd*%llu+r0*4)", (ull)w->t.sum, half);
  const char *maximum = emit_text(e, "(%llu+odd*%llu+r0*4)", (ull)w->t.maximum, half);
  if (w->t.splits == 1) {
    vrow_spread(&rows, R_SUM, sum);
    vrow_with_column(&rows, "vdiv", R_VALUES, "values", R_VALUES, "values");
  }
  vrow_all(&rows);
  vmachine_order(&rows.machine, 1u << R_VALUES, 1u << R_BUFFER);
  if (w->t.splits == 1)
    emit_row(e, "%s,dst=tile,src=values,repeat=1", vconvert_inst(e->soc, DTYPE_FP32, at->type));
  else
    emit_row(e, "vadds,dst=tile,src=values,scalar=0,repeat=1,type=fp32");
  spread_statistics(w, &rows.machine, maximum, sum);
  vmachine_rest(&rows.machine);
  emit_endloop(e);
}

static void store_result(const struct attention_writer *w) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull row = at->depth * HALF_BYTES;
  emit_loop(e, "out", "s+1==steps");
  if (w->t.splits > 1) {
    store_part(w);
    emit_endloop(e);
    return;
  }
  emit_row(e,
           "copy_ubuf_to_gm_align_b16,dst=o+(z/%llu*%llu+z%%%llu*%llu+(row+from+r0)*%llu)*2,"
           "src=tile,n_burst=rr,len_burst=%llu,src_gap=%llu,dst_gap=%llu",
           (ull)at->heads, (ull)at->q.batch, (ull)at->heads, (ull)at->q.head, (ull)at->q.row, row,
           (ull)(w->t.depth * HALF_BYTES / BLOCK_BYTES - ceil_div(row, BLOCK_BYTES)),
           (ull)(at->q.row - at->depth) * HALF_BYTES);
  store_statistics(w);
  emit_endloop(e);
}

static void put_result(const struct attention_writer *w) {
  struct emit *e = w->e;
  ull row = w->t.depth * WORD_BYTES;
  attention_share(w, "");
  emit_loop(e, "begin", "s==0");
  emit_barrier(e, PIPE_V);
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)(w->t.half * w->t.depth));
  vector_dup(w, emit_text(e, "%llu", (ull)w->t.result), 0, "repeat=1");
  emit_endloop(e);
  emit_row(e, "wait_flag_dev,id=%d", SIGNAL_PARTIAL);
  open_slices(w, "");
  emit_let(e, "values", "%llu+r0*%llu", (ull)w->t.result, row);
  struct vrows rows = start_rows(w);
  const char *factor =
      emit_text(e, "(%llu+(odd*2+s%%2)*%llu+r0*4)", (ull)w->t.factor, (ull)w->t.half * WORD_BYTES);
  load_partial(w);
  vrow_spread(&rows, R_FACTOR, factor);
  vrow_with_column(&rows, "vmul", R_VALUES, "values", R_VALUES, "values");
  vrow_all(&rows);
  vmachine_order(&rows.machine, 1u << R_VALUES | 1u << R_BUFFER, 1u << R_VALUES);
  emit_row(e, "vadd,dst=values,src0=values,src1=tile,repeat=1,type=fp32");
  vmachine_rest(&rows.machine);
  finish(w, rows);
  wait_computed(e);
  store_result(w);
  emit_set_flag(e, PIPE_MTE3, PIPE_MTE2, "pair");
  emit_endloop(e);
}

/* ---- the stream ---- */

static void free_flags(const struct attention_writer *w, bool set) {
  struct emit *e = w->e;
  void (*flag)(struct emit *, enum pipe, enum pipe, const char *, ...) =
      set ? emit_set_flag : emit_wait_flag;
  const char *at = set ? "vec_first" : "vec_last";
  emit_loop(e, at, "%d", ATTENTION_PAIR);
  flag(e, PIPE_MTE3, PIPE_MTE2, "%s", at);
  emit_endloop(e);
}

/* Numbers of rows are spread 8 at a time; there may be fewer. Rows of values are whole fractals,
 * of which copies leave out up to a block. */
static void clear(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_row(e, "set_mask_count");
  if (w->t.depth - w->at->depth >= ROUND_UNIT) {
    emit_row(e, "set_vector_mask,high=0,low=%llu",
             (ull)(ATTENTION_PAIR * w->t.buffer_bytes / WORD_BYTES));
    vector_dup(w, emit_text(e, "%llu", (ull)w->t.buffers), 0, "repeat=1");
    emit_barrier(e, PIPE_ALL);
  }
  emit_row(e, "set_vector_mask,high=0,low=%llu", (ull)(w->t.ub_bytes - w->t.maximum) / WORD_BYTES);
  vector_dup(w, emit_text(e, "%llu", (ull)w->t.maximum), 0, "repeat=1");
}

void attention_vector_stream(const struct attention_writer *w) {
  struct emit *e = w->e;
  clear(w);
  free_flags(w, true);
  emit_comment(e, "The first probabilities.");
  emit_loop(e, "start", "1");
  attention_task(w, "0", "x");
  emit_let(e, "sx", "0");
  attention_step(w, "0", "x");
  put_probabilities(w);
  emit_endloop(e);
  attention_open(w);
  emit_loop(e, "ahead", "more");
  put_probabilities(w);
  emit_endloop(e);
  put_result(w);
  emit_endloop(e);
  emit_endloop(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(w, false);
}
