/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul on cores that are cube and vector core in one (910A, 310P). They have neither the copy
 * that brings ND to NZ nor a fixpipe: ND operands come to L1 a column of blocks at a time, load2d
 * brings fractals to L0, and blocks leave L0C through the vector unit and UB, in NZ order, from
 * where copies of whole blocks of 32 bytes put them in their places.
 */
#include "core/base/arith.h"
#include "core/base/number.h"
#include "lower/cube/matmul_tail.h"
#include "lower/cube/matmul_writer.h"
#include "lower/select/select.h"
#include "lower/vector/tiles.h"
#include "lower/vector/unit.h"

enum { BIAS_FLAG = 2, BIAS_ALIGNMENT = 512 };

bool matmul_is_coupled(const struct vinci_soc *soc) {
  return emit_cube_core(soc) == emit_vector_core(soc);
}

/* Whether rows of C end where blocks do not: they are put together in UB before they leave. */
static bool has_lines(const struct matmul *mm) {
  return !mm->nz_c && mm->n * mm->out_bytes % BLOCK_BYTES != 0;
}

uint64_t matmul_coupled_line_cycles(const struct vinci_soc *soc, const struct matmul *mm,
                                    uint64_t rows) {
  enum { COPIES = 2 };
  uint64_t start = (uint64_t)soc->path[PATH_UB_GM].startup_mcycles;
  return has_lines(mm) ? rows * COPIES * start / MILLI : 0;
}

enum vinci_status matmul_coupled_check(struct lower_job *job, const struct matmul *mm) {
  const char *arch = arch_name(job->soc->arch);
  if (mm->element_bytes == 1 && (mm->trans_a || !mm->trans_b))
    return lower_error(job, "on %s int8 takes [m,k] and [n,k]: load2d transposes 16 bits only",
                       arch);
  if (mm->scale == SCALE_COLUMNS || mm->out_type == DTYPE_INT8)
    return lower_error(job, "on %s int32 sums leave with one scale, as fp16", arch);
  float scale = fp32_from_bits((uint32_t)mm->scale_word);
  if (mm->scale == SCALE_TENSOR && fp16_to_fp32(fp16_from_fp32(scale)) != scale)
    return lower_error(job, "on %s a scale is an fp16, which cannot hold %g", arch, (double)scale);
  if (mm->conv && mm->nz_c && mm->out_type == DTYPE_FP32)
    return lower_error(job, "on %s fp32 results are ND only", arch);
  return VINCI_OK;
}

/* ---- what UB holds ---- */

static uint64_t block_bytes(const struct matmul *mm, const struct matmul_tiling *t) {
  return round_up(t->bm, FRACTAL_ROWS) * round_up(t->bn, FRACTAL_ROWS) * mm->out_bytes;
}

static uint64_t bias_bytes(const struct matmul *mm) {
  return mm->bias ? round_up(mm->biases, FRACTAL_ROWS) * ACCUMULATOR_BYTES : 0;
}

/* Beside the blocks: one as lines, the bias, what steps take. */
static uint64_t other_bytes(const struct matmul *mm, const struct matmul_tiling *t) {
  return (has_lines(mm) ? block_bytes(mm, t) : 0) + round_up(bias_bytes(mm), BIAS_ALIGNMENT) +
         matmul_tail_ub_bytes(mm, block_bytes(mm, t) / mm->out_bytes);
}

static uint64_t room_of(const struct vinci_soc *soc, const struct matmul *mm) {
  return (uint64_t)soc->ub_bytes - (has_lines(mm) || mm->tail ? select_ub_bytes(soc) : 0);
}

bool matmul_coupled_fits(struct lower_job *job, const struct matmul_tiling *t) {
  const struct matmul *mm = job->data;
  uint64_t rest = (mm->n - 1) % t->bn + 1;
  if (block_bytes(mm, t) + other_bytes(mm, t) > room_of(job->soc, mm))
    return lower_refuse(job, "the block does not fit UB");
  if (has_lines(mm) && rest * mm->out_bytes < BLOCK_BYTES && mm->n > t->bn)
    return lower_refuse(job, "the last block has rows of less than %d bytes", BLOCK_BYTES);
  uint64_t row = mm->n * mm->out_bytes, last = (mm->m - 1) % t->rows + 1;
  if (has_lines(mm) && mm->batch > 1 && row < BLOCK_BYTES && last * row < BLOCK_BYTES)
    return lower_refuse(job, "the last block of a product has less than %d bytes", BLOCK_BYTES);
  return true;
}

static uint64_t out_slots(const struct writer *w) {
  uint64_t bytes = block_bytes(w->mm, &w->t);
  if (has_lines(w->mm))
    return 1;
  return bytes * 2 + other_bytes(w->mm, &w->t) <= room_of(w->e->soc, w->mm) ? 2 : 1;
}

void matmul_coupled_buffers(const struct writer *w) {
  uint64_t bytes = block_bytes(w->mm, &w->t);
  emit_buffer(w->e, "out", SPACE_UB, bytes * out_slots(w));
  if (has_lines(w->mm))
    emit_buffer(w->e, "lines", SPACE_UB, bytes);
  if (w->mm->bias)
    emit_buffer(w->e, "biases", SPACE_UB, bias_bytes(w->mm));
  if (w->mm->tail)
    matmul_tail_buffers(w);
}

void matmul_coupled_flags(const struct writer *w, bool set) {
  struct expr slot = matmul_free_slots(w, set, "out", out_slots(w));
  emit_flag_of(w->e, set, PIPE_MTE3, PIPE_V, slot);
  emit_end(w->e);
  if (w->mm->tail)
    matmul_tail_flags(w, set);
}

/* ---- bias ---- */

/* The row of all biases comes to UB once. Columns behind the last have a bias of 0. */
void matmul_coupled_bias_row(const struct writer *w) {
  struct emit *e = w->e;
  uint64_t all = w->mm->biases, block = BLOCK_BYTES / ACCUMULATOR_BYTES, over = all % block;
  struct expr biases = x_name(e, "biases");
  emit_plain(e, "set_mask_count");
  vmask_count(e, bias_bytes(w->mm) / ACCUMULATOR_BYTES);
  vfill(e, biases, 0, "fp32");
  emit_handshake(e, PIPE_V, PIPE_MTE2, BIAS_FLAG);
  EMIT(e, "copy_gm_to_ubuf", F("dst", biases), F("src", x_name(e, "bias")),
       F("len_burst", ceil_div(all, block)));
  emit_handshake(e, PIPE_MTE2, PIPE_V, BIAS_FLAG);
  emit_plain(e, "set_mask_norm");
  if (over == 0)
    return;
  e->tails = true;
  EMIT(e, "set_vector_mask", F("high", 0), F("low", 0xff & ~((1 << over) - 1)));
  vfill(e, x_add(biases, all / block * BLOCK_BYTES), 0, "fp32");
}

/*
 * A block's part of the row goes into all rows of the block in L0C, where the mads add to the row.
 * V is done with this block of L0C, which V has emptied.
 */
void matmul_coupled_bias(const struct writer *w, const struct group *g) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  struct expr slot = matmul_c_slot(w, g->i), first = g->n, tall = fractals(g->cm);
  if (mm->conv)
    first = x_add(x_mul(conv_weights_of(mm->conv, g->z), mm->n), first);
  emit_barrier(e, PIPE_V);
  struct expr high = group_for(g, "high", tall);
  EMIT(e, "broadcast_ub_to_cc",
       F("dst", x_at(matmul_slot(e, "c0", slot, matmul_c_bytes(&w->t)), high,
                     FRACTAL_ROWS * FRACTAL_ROWS * ACCUMULATOR_BYTES)),
       F("src", x_at(x_name(e, "biases"), first, ACCUMULATOR_BYTES)), F("n_burst", fractals(g->cn)),
       F("len_burst", 1), F("dst_gap", x_sub(tall, 1)),
       W("type", dtype_name(matmul_accumulator(mm))));
  emit_end(e);
  emit_set(e, PIPE_V, PIPE_M, slot);
}

/* ---- L1 to L0 ---- */

static void load2d(const struct writer *w, const char *inst, struct expr dst, struct expr src,
                   struct expr base, struct expr repeat, struct expr stride, bool transpose) {
  EMIT(w->e, inst, F("dst", dst), F("src", src), F("base", base), F("repeat", repeat),
       F("src_stride", stride), F_IF(transpose, "transpose", 1));
}

/* A row of fractals of 16 rows of A after the other, along k in each. */
void matmul_coupled_to_l0a(const struct writer *w) {
  struct emit *e = w->e;
  uint64_t c0 = w->mm->c0;
  bool turned = w->mm->trans_a;
  struct expr kf = emit_assigned(e, "kf", x_ceil_div(w->kk, c0));
  struct expr mf = emit_assigned(e, "mf", fractals(w->now.cm));
  struct expr mi = emit_for(e, "mi", mf);
  struct expr base = turned ? x_add(x_mul(mi, fractals(w->da)), x_div(w->a_at, FRACTAL_ROWS))
                            : x_add(x_mul(x_div(w->a_at, c0), mf), mi);
  load2d(w, "load_cbuf_to_ca", x_add(w->a_dst, x_mul(x_mul(mi, kf), FRACTAL_BYTES)), w->a_src, base,
         kf, turned ? EXPR(1) : mf, turned);
  emit_end(e);
}

/* B as [k,n]: of each 16 rows all columns, each fractal transposed. */
void matmul_coupled_to_l0b(const struct writer *w) {
  struct emit *e = w->e;
  struct expr nf = emit_assigned(e, "nf", fractals(w->now.cn));
  struct expr ki = emit_for(e, "ki", fractals(w->kk));
  load2d(w, "load_cbuf_to_cb", x_add(w->b_dst, x_mul(x_mul(ki, nf), FRACTAL_BYTES)), w->b_src,
         x_add(x_div(w->b_at, FRACTAL_ROWS), ki), nf, fractals(w->db), true);
  emit_end(e);
}

/* ---- out ---- */

/* Whole columns of blocks; those of a convolution have as many rows as there are points. */
static void nz_to_gm(const struct writer *w, struct expr src) {
  const struct matmul *mm = w->mm;
  uint64_t point = matmul_out_c0(mm) * mm->out_bytes / BLOCK_BYTES;
  struct expr high = padded(w->now.cm), cm = mm->conv ? w->now.cm : high;
  uint64_t rows = mm->conv ? mm->m : round_up(mm->m, FRACTAL_ROWS);
  struct expr dst = matmul_c_at(w, w->now.n), columns = fractals(w->now.cn);
  if (rows * point <= UINT16_MAX) {
    EMIT(w->e, "copy_ubuf_to_gm", F("dst", dst), F("src", src), F("n_burst", columns),
         F("len_burst", x_mul(cm, point)), F_IF(mm->conv, "src_gap", x_mul(x_sub(high, cm), point)),
         F("dst_gap", x_mul(x_sub(rows, cm), point)));
    return;
  }
  struct expr column = emit_for(w->e, "column", columns); /* the gap of a copy has 16 bits */
  EMIT(w->e, "copy_ubuf_to_gm", F("dst", x_at(dst, column, rows * point * BLOCK_BYTES)),
       F("src", x_at(src, x_mul(column, high), point * BLOCK_BYTES)),
       F("len_burst", x_mul(cm, point)));
  emit_end(w->e);
}

/* A block of 32 bytes of each row of a column at a time. */
static void nd_to_gm(const struct writer *w, struct expr src) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  uint64_t ob = mm->out_bytes, column_bytes = FRACTAL_ROWS * ob;
  struct expr cm = padded(w->now.cm);
  struct expr column = emit_for(e, "column", fractals(w->now.cn));
  struct expr first = x_mul(column, FRACTAL_ROWS);
  struct expr columns = x_min(FRACTAL_ROWS, x_sub(w->now.cn, first));
  struct expr blocks = emit_assigned(e, "blocks_out", x_div(x_mul(columns, ob), BLOCK_BYTES));
  EMIT(e, "copy_ubuf_to_gm", F("dst", matmul_c_at(w, x_add(w->now.n, first))),
       F("src", x_add(src, x_mul(x_mul(column, cm), column_bytes))), F("n_burst", w->now.cm),
       F("len_burst", blocks), F("src_gap", x_sub(column_bytes / BLOCK_BYTES, blocks)),
       F("dst_gap", x_sub(mm->n * ob / BLOCK_BYTES, blocks)));
  emit_end(e);
}

/* Columns of blocks become lines of UB. */
static void to_lines(const struct writer *w, struct expr src) {
  struct emit *e = w->e;
  uint64_t column_bytes = FRACTAL_ROWS * w->mm->out_bytes, blocks = column_bytes / BLOCK_BYTES;
  struct expr wide = fractals(w->now.cn);
  emit_barrier(e, PIPE_V);
  struct expr column = emit_for(e, "column", wide);
  EMIT(e, "copy_ubuf_to_ubuf", F("dst", x_at(x_name(e, "lines"), column, column_bytes)),
       F("src", x_at(src, x_mul(column, padded(w->now.cm)), column_bytes)), F("n_burst", w->now.cm),
       F("len_burst", blocks), F("dst_gap", x_mul(x_sub(wide, 1), blocks)));
  emit_end(e);
}

static void lines_to_gm(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  uint64_t ob = mm->out_bytes;
  bool whole = w->t.nt == 1;
  struct expr bytes = whole ? EXPR(mm->n * ob) : x_mul(w->now.cn, ob);
  struct expr pitch = x_mul(whole ? EXPR(ceil_div(mm->n, FRACTAL_ROWS)) : fractals(w->now.cn),
                            FRACTAL_ROWS * ob / BLOCK_BYTES);
  EMIT(e, vtile_copy_name(true, mm->out_type), F("dst", matmul_c_at(w, w->now.n)),
       F("src", x_name(e, "lines")), F("n_burst", w->now.cm), F("len_burst", bytes),
       F("src_gap", x_sub(pitch, x_ceil_div(bytes, BLOCK_BYTES))),
       F("dst_gap", x_sub(mm->n * ob, bytes)));
}

void matmul_coupled_scale(const struct writer *w) {
  if (w->mm->scale == SCALE_TENSOR)
    EMIT(w->e, "set_deqscale",
         F("value", (uint64_t)fp16_from_fp32(fp32_from_bits((uint32_t)w->mm->scale_word))));
}

void matmul_coupled_store(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const char *convert = mm->out_type != DTYPE_FP16 ? NULL
                        : mm->type == DTYPE_INT8   ? "deqf16"
                                                   : "f322f16";
  bool lines = has_lines(mm);
  struct expr slot = matmul_c_slot(w, w->now.i), out_slot = x_mod(w->now.i, out_slots(w));
  struct expr out = matmul_slot(e, "out", out_slot, block_bytes(mm, &w->t));
  struct expr tiles = x_mul(fractals(w->now.cm), fractals(w->now.cn));
  emit_handshake(e, PIPE_M, PIPE_V, slot);
  emit_wait(e, PIPE_MTE3, PIPE_V, lines ? EXPR(0) : out_slot);
  struct expr sums = matmul_slot(e, "c0", slot, matmul_c_bytes(&w->t));
  if (mm->tail)
    matmul_tail_put(w, out, sums);
  else
    EMIT(e, "copy_matrix_cc_to_ubuf", F("dst", out), F("src", sums), F("len_burst", tiles),
         W_IF(convert, "convert", convert), F_IF(mm->relu, "relu", 1),
         W("type", dtype_name(matmul_accumulator(mm))));
  if (!mm->bias)
    emit_set(e, PIPE_V, PIPE_M, slot);
  if (lines)
    to_lines(w, out);
  emit_handshake(e, PIPE_V, PIPE_MTE3, lines ? EXPR(0) : out_slot);
  if (lines)
    lines_to_gm(w);
  else
    (mm->nz_c ? nz_to_gm : nd_to_gm)(w, out);
  emit_set(e, PIPE_MTE3, PIPE_V, lines ? EXPR(0) : out_slot);
}
