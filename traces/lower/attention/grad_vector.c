/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of the vector cores of flash_attention_grad: P = exp(scale S - max - ln(sum)) and dS =
 * P * (dP - delta) of each step, half of the rows each. The numbers of rows lie eight times each in
 * UB, for tasks of even and odd number, the first one as max + ln(sum).
 *
 * Flags: of two buffers, MTE3 to MTE2 free, MTE2 to V filled, V to MTE3 computed; 2 and 3, V to
 * MTE2 and back, the numbers of rows.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/grad.h"

enum { HALF_BYTES = 2, WORD_BYTES = 4, FLAG_NUMBERS = 2 };

/* Registers for the order of instructions. */
enum { R_SCORES = X0, R_PRODUCTS = X1, R_NUMBERS = X2 };

static ull numbers_bytes(const struct attention_writer *w) { return w->t.half * BLOCK_BYTES; }

/* Number of rows of the present task from row r0 on. */
static const char *numbers(const struct attention_writer *w, unsigned which, const char *first) {
  return emit_text(w->e, "(%llu+odd*%llu+%s*%d)", (ull)w->t.statistics + which * numbers_bytes(w),
                   ROW_NUMBERS * numbers_bytes(w), first, BLOCK_BYTES);
}

static void load_numbers(const struct attention_writer *w) {
  static const char *const names[ROW_NUMBERS] = {"row_max", "row_sum", "delta"};
  struct emit *e = w->e;
  emit_wait_flag(e, PIPE_V, PIPE_MTE2, "%d+odd", FLAG_NUMBERS);
  for (unsigned i = 0; i < ROW_NUMBERS; i++)
    emit_row(e, "copy_gm_to_ubuf,dst=%s,src=%s+(z*%llu+row+from)*%d,len_burst=mine",
             numbers(w, i, "0"), names[i], (ull)w->at->rows, BLOCK_BYTES);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "%d+odd", FLAG_NUMBERS);
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "%d+odd", FLAG_NUMBERS);
  const char *maximum = numbers(w, ROW_MAXIMUM, "0"), *sum = numbers(w, ROW_SUM, "0");
  emit_row(e, "set_vector_mask,high=0,low=mine*%d", BLOCK_BYTES / WORD_BYTES);
  emit_row(e, "vln,dst=%s,src=%s,repeat=1,type=fp32", sum, sum);
  emit_barrier(e, PIPE_V);
  emit_row(e, "vadd,dst=%s,src0=%s,src1=%s,repeat=1,type=fp32", maximum, maximum, sum);
  emit_barrier(e, PIPE_V);
}

/* A slice of scores, and of products into the other half of the buffer. */
static void load_slice(const struct attention_writer *w) {
  static const char *const names[] = {"scores", "products"}, *const buffers[] = {"tile", "other"};
  struct emit *e = w->e;
  ull row = w->t.cols * WORD_BYTES;
  emit_wait_flag(e, PIPE_MTE3, PIPE_MTE2, "pair");
  for (unsigned i = 0; i < 2; i++)
    emit_row(e,
             "copy_gm_to_ubuf_align_b32,dst=%s,src=%s+slot*%llu+(from+r0)*%llu,n_burst=rr,"
             "len_burst=cc*4,src_gap=%llu-cc*4,dst_gap=wide/8-(cc+7)/8",
             buffers[i], names[i], (ull)w->t.rows * row, row, row);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "pair");
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "pair");
}

/* Each row of the tile less its number. */
static void subtract(const struct attention_writer *w, struct vmachine *machine, const char *tile,
                     unsigned reg, unsigned which) {
  struct emit *e = w->e;
  vmachine_lanes(machine, VROW_LANES);
  vmachine_order(machine, 1u << reg | 1u << R_NUMBERS, 1u << reg);
  emit_loop(e, "part", "wide/64");
  emit_row(e,
           "vsub,dst=%s+part*256,src0=%s+part*256,src1=%s,repeat=rr,dst_repeat=wide/8,"
           "src0_repeat=wide/8,src1_block=0,src1_repeat=1,type=fp32",
           tile, tile, numbers(w, which, "r0"));
  emit_endloop(e);
}

static void convert(const struct attention_writer *w, struct vmachine *machine, const char *tile,
                    unsigned reg) {
  vmachine_order(machine, 1u << reg, 1u << reg);
  emit_row(w->e, "%s,dst=%s,src=%s,repeat=1", vconvert_inst(w->e->soc, DTYPE_FP32, w->at->type),
           tile, tile);
}

static void compute(const struct attention_writer *w) {
  struct emit *e = w->e;
  struct vrows rows = {.machine = {.emit = e, .type = DTYPE_FP32}, .rows = "rr"};
  struct vmachine *machine = &rows.machine;
  machine->written = (1u << VREGS) - 1;
  vmachine_count(machine, "rr*wide");
  vmachine_order(machine, 1u << R_SCORES, 1u << R_SCORES);
  emit_row(e, "vmuls,dst=tile,src=tile,scalar=%lld,repeat=1,type=fp32",
           vscalar_bits(DTYPE_FP32, w->at->scale));
  attention_hide(w, &rows, "");
  subtract(w, machine, "tile", R_SCORES, ROW_MAXIMUM);
  subtract(w, machine, "other", R_PRODUCTS, ROW_DELTA);
  vmachine_count(machine, "rr*wide");
  vmachine_order(machine, 1u << R_SCORES, 1u << R_SCORES);
  emit_row(e, "vexp,dst=tile,src=tile,repeat=1,type=fp32");
  vmachine_order(machine, 1u << R_SCORES | 1u << R_PRODUCTS, 1u << R_PRODUCTS);
  emit_row(e, "vmul,dst=other,src0=other,src1=tile,repeat=1,type=fp32");
  convert(w, machine, "tile", R_SCORES);
  convert(w, machine, "other", R_PRODUCTS);
  vmachine_rest(machine);
}

static void store_slice(const struct attention_writer *w) {
  static const char *const names[] = {"probs", "ds"}, *const buffers[] = {"tile", "other"};
  struct emit *e = w->e;
  ull row = w->t.cols * HALF_BYTES;
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "pair");
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "pair");
  for (unsigned i = 0; i < 2; i++)
    emit_row(e,
             "copy_ubuf_to_gm_align_b16,dst=%s+slot*%llu+(from+r0)*%llu,src=%s,n_burst=rr,"
             "len_burst=cc*2,src_gap=wide/16-(cc+15)/16,dst_gap=%llu-cc*2",
             names[i], (ull)w->t.rows * row, row, buffers[i], row);
  emit_set_flag(e, PIPE_MTE3, PIPE_MTE2, "pair");
}

/* The last lanes of rows are computed though no copy writes them. */
static void clear(const struct attention_writer *w) {
  struct emit *e = w->e;
  emit_row(e, "set_mask_count");
  emit_row(e, "set_vector_mask,high=0,low=%llu",
           (ull)(ATTENTION_PAIR * w->t.buffer_bytes / WORD_BYTES));
  emit_row(e, "vector_dup,dst=%llu,scalar=0,repeat=1,type=fp32", (ull)w->t.buffers);
  emit_barrier(e, PIPE_ALL);
}

static void free_flags(const struct attention_writer *w, bool set) {
  struct emit *e = w->e;
  void (*flag)(struct emit *, enum pipe, enum pipe, const char *, ...) =
      set ? emit_set_flag : emit_wait_flag;
  const char *at = set ? "vec_first" : "vec_last";
  emit_loop(e, at, "%d", ATTENTION_PAIR);
  flag(e, PIPE_MTE3, PIPE_MTE2, "%s", at);
  flag(e, PIPE_V, PIPE_MTE2, "%d+%s", FLAG_NUMBERS, at);
  emit_endloop(e);
}

void attention_grad_vector_stream(const struct attention_writer *w) {
  struct emit *e = w->e;
  clear(w);
  free_flags(w, true);
  emit_loop(e, "i", "tasks");
  attention_task(w, "i", "");
  attention_share(w, "");
  emit_loop(e, "begin", "mine>0");
  load_numbers(w);
  emit_endloop(e);
  emit_loop(e, "s", "steps");
  attention_step(w, "s", "");
  emit_let(e, "wide", "(cc+63)/64*64");
  emit_row(e, "wait_flag_dev,id=%d", SIGNAL_SCORES);
  emit_loop(e, "slice", "(mine+%llu)/%llu", (ull)w->t.slice - 1, (ull)w->t.slice);
  attention_slice(w, "");
  emit_let(e, "other", "tile+%llu", (ull)w->t.buffer_bytes / 2);
  load_slice(w);
  compute(w);
  store_slice(w);
  emit_endloop(e);
  emit_row(e, "ffts_cross_core_sync,pipe=MTE3,mode=2,id=%d", SIGNAL_PROBABILITIES);
  emit_endloop(e);
  emit_loop(e, "end", "mine>0");
  emit_set_flag(e, PIPE_V, PIPE_MTE2, "%d+odd", FLAG_NUMBERS);
  emit_endloop(e);
  emit_endloop(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(w, false);
}
