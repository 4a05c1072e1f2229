/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a matmul from L1 on: loads to L0, mads, and the way out of L0C. */
#include "core/base/arith.h"
#include "lower/cube/matmul_writer.h"

/* ---- L1 to L0 ---- */

/*
 * Transposed squares into L0A. Of 8 bits: 32 x 32, two fractals below each other. Of 32 bits:
 * 16 x 16, two fractals beside each other. At an edge the second may be one too many; it lands on
 * the place of a fractal of another square, which therefore comes later, behind a barrier.
 */
static void squares_to_l0a(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  bool bytes = mm->element_bytes == 1, nz = e->soc->arch == ARCH_C310;
  uint64_t square = bytes ? 2 * FRACTAL_ROWS : FRACTAL_ROWS;
  struct expr kf = emit_assigned(e, "kf", x_ceil_div(w->kk, mm->c0)); /* fractals along k */
  struct expr mf = emit_assigned(e, "mf", fractals(w->now.cm));
  struct expr ksq = emit_assigned(e, "ksq", bytes ? kf : x_ceil_div(w->kk, square));
  struct expr msq = emit_assigned(e, "msq", bytes ? x_ceil_div(w->now.cm, square) : mf);
  struct expr back = emit_for(e, "back", ksq);
  struct expr j = emit_assigned(e, "j", nz ? back : x_sub(x_sub(ksq, 1), back));
  /* ZZ: the next row of fractals, of 32 bits; NZ: the next column, of 8 bits. */
  if (bytes == nz) {
    emit_if(e, "over", x_mul(x_mod(nz ? mf : kf, 2), x_gt(back, 0)));
    emit_barrier(e, PIPE_MTE1);
    emit_end(e);
  }
  struct expr column = nz ? mf : EXPR(1), row = nz ? EXPR(1) : kf; /* to the next along k, m */
  struct expr base = x_add(x_div(w->a_at, square), j);
  struct expr place = x_mul(x_mul(j, column), bytes ? FRACTAL_BYTES : 2 * FRACTAL_BYTES);
  EMIT(e, "load_cbuf_to_ca_transpose", F("dst", x_add(w->a_dst, place)), F("src", w->a_src),
       F("base", bytes ? base : x_mul(base, msq)), F("repeat", msq),
       F("src_stride", bytes ? x_ceil_div(w->da, square) : EXPR(1)),
       F("dst_gap", x_sub(x_mul(row, bytes ? 2 : 1), 1)),
       F("frac_gap", x_sub(bytes ? row : column, 1)),
       W("type", dtype_name(matmul_stored(mm->type))));
  emit_end(e);
}

/* As it lies, or of 16 bits transposed. */
static void matrix_to_l0a(const struct writer *w) {
  const struct matmul *mm = w->mm;
  struct expr cm = padded(w->now.cm), kk = w->kk, da = w->da;
  if (mm->trans_a)
    EMIT(w->e, "img2colv2_cbuf_to_ca", LOAD3D_PART(w->a_dst, w->a_src, cm, padded(kk)),
         F("m_start", w->a_at), LOAD3D_MATRIX(mm->nz_a ? padded(da) : da, cm), F("transpose", 1),
         LOAD3D_TYPE(mm));
  else
    EMIT(w->e, "img2colv2_cbuf_to_ca", LOAD3D_PART(w->a_dst, w->a_src, x_round_up(kk, mm->c0), cm),
         F("k_start", w->a_at), LOAD3D_MATRIX(mm->nz_a ? cm : w->now.cm, x_round_up(da, mm->c0)),
         LOAD3D_TYPE(mm));
}

static void to_l0a(const struct writer *w) {
  const struct matmul *mm = w->mm;
  if (mm->conv)
    conv_windows_to_l0a(w);
  else if (mm->coupled)
    matmul_coupled_to_l0a(w);
  else if (mm->trans_a && mm->element_bytes != 2)
    squares_to_l0a(w);
  else
    matrix_to_l0a(w);
}

/* [n,k]: whole fractals as they lie. */
static void fractals_to_l0b(const struct writer *w) {
  struct expr nf = fractals(w->now.cn);
  EMIT(w->e, "load_cbuf_to_cb", F("dst", w->b_dst), F("src", w->b_src),
       F("base", x_mul(x_div(w->b_at, w->mm->c0), nf)),
       F("repeat", x_mul(x_ceil_div(w->kk, w->mm->c0), nf)));
}

/* [k,n]: transposed. */
static void matrix_to_l0b(const struct writer *w) {
  const struct matmul *mm = w->mm;
  uint64_t unit = matmul_unit(mm);
  EMIT(w->e, "img2colv2_cbuf_to_cb",
       LOAD3D_PART(w->b_dst, w->b_src, x_round_up(w->now.cn, unit), x_round_up(w->kk, unit)),
       F("m_start", w->b_at),
       LOAD3D_MATRIX(mm->nz_b ? padded(w->db) : w->db, x_round_up(w->now.cn, mm->c0)),
       LOAD3D_TYPE(mm));
}

static void to_l0b(const struct writer *w) {
  const struct matmul *mm = w->mm;
  if (mm->conv && mm->conv->gradient)
    conv_turned_to_l0b(w);
  else if (mm->trans_b)
    fractals_to_l0b(w);
  else if (mm->coupled)
    matmul_coupled_to_l0b(w);
  else
    matrix_to_l0b(w);
}

/* Steps of the outer operand are counted over all turns of the group. */
static void to_l0(struct writer *w) {
  const struct matmul_tiling *t = &w->t;
  struct expr inner_at = x_mul(w->s, t->bk), inner = x_mod(w->turn, L1_SLOTS);
  struct expr outer_at = x_add(x_mul(w->u, t->inner_k), inner_at);
  struct expr outer = x_mod(w->now.outer, t->outer_slots);
  w->a_at = t->a_outer ? outer_at : inner_at;
  w->b_at = t->a_outer ? inner_at : outer_at;
  w->a_src = matmul_panel_slot(w, true, t->a_outer ? outer : inner);
  w->b_src = matmul_panel_slot(w, false, t->a_outer ? inner : outer);
  to_l0a(w);
  to_l0b(w);
}

/* ---- cube ---- */

enum { UNIT_KEEP = 2, UNIT_HAND_OVER }; /* unit_flag of mad and fixpipe */

static uint64_t least_fractals(uint64_t extent, uint64_t side) {
  uint64_t tail = extent % side;
  return ceil_div(tail ? tail : side, FRACTAL_ROWS);
}

/* Ascend C documentation, Mmad: small ones on the same accumulators need a barrier between them. */
void matmul_mad_barrier(const struct writer *w, struct expr step, struct expr tiles) {
  emit_if(w->e, "small", x_mul(x_gt(step, 0), x_lt(tiles, MAD_OVERLAP_TILES)));
  emit_barrier(w->e, PIPE_M);
  emit_end(w->e);
}

/* The mads of a block keep its fractals, the last one hands them over. */
static struct expr mad_unit_flag(const struct writer *w) {
  struct expr end = x_add(x_add(w->ku, x_mul(w->s, w->t.bk)), w->kk);
  return x_add(UNIT_KEEP, x_eq(end, w->now.depth));
}

void matmul_mad(const struct writer *w, struct expr m, struct expr n, struct expr init,
                bool from_bias) {
  struct emit *e = w->e;
  struct expr slot = matmul_c_slot(w, w->now.i);
  EMIT(e, "mad", F("c", matmul_slot(e, "c0", slot, matmul_c_bytes(&w->t))), F("a", w->a_dst),
       F("b", w->b_dst), F("m", m), F("k", w->kk), F("n", n), F("init", init),
       W_IF(from_bias, "source", "bt"), F_IF(from_bias, "bias", x_name(e, "bias0")),
       F_IF(w->mm->k_align, "k_align", 1), F_IF(w->t.unit_flags, "unit_flag", mad_unit_flag(w)),
       W("type", dtype_name(w->mm->type)));
}

/* The first mad of a block begins with the bias; with k in parts that of the first part alone. */
static void mads_with_bias(const struct writer *w, struct expr step, struct expr m, struct expr n) {
  struct emit *e = w->e;
  bool parts = w->t.split > 1;
  struct expr starts = x_eq(step, 0);
  emit_if(e, "from_bias", parts ? x_mul(starts, x_eq(w->now.part, 0)) : starts);
  matmul_mad(w, m, n, EXPR(0), true);
  emit_set(e, PIPE_M, PIPE_MTE1, FLAG_BT);
  emit_end(e);
  emit_if(e, "from_l0c", x_gt(x_add(step, w->now.part), 0));
  matmul_mad(w, m, n, parts ? starts : EXPR(0), false);
  if (parts) {
    emit_if(e, "unused", starts);
    emit_set(e, PIPE_M, PIPE_MTE1, FLAG_BT);
    emit_end(e);
  }
  emit_end(e);
}

/* Columns of a mad. load3d brings whole blocks of columns, as weights in FRACTAL_Z have; coupled
 * cores store what pads the last block. */
static struct expr mad_columns(const struct matmul *mm, struct expr cn) {
  bool blocks = mm->element_bytes == 1 && !mm->trans_b;
  return mm->nz_c ? padded(cn) : blocks ? x_round_up(cn, mm->c0) : cn;
}

/* Its rows. NZ results are whole fractals, with zeros (rows: the bias) where they pad. With m = 1
 * the cube would take A for a plain row. */
static struct expr mad_rows(const struct writer *w, struct expr cm) {
  if (w->mm->nz_c && !w->mm->conv)
    return padded(cm);
  bool one = w->t.rows == 1 || w->mm->m % w->t.rows == 1;
  return one || w->mm->groups ? x_max(2, cm) : cm;
}

static void mads(const struct writer *w) {
  const struct matmul *mm = w->mm;
  const struct matmul_tiling *t = &w->t;
  struct expr step = x_add(w->ku, w->s), cm = w->now.cm, cn = w->now.cn;
  struct expr m = mad_rows(w, cm), n = mad_columns(mm, cn);
  uint64_t least = mm->groups ? 1 : least_fractals(mm->m, t->rows);
  if (t->k > t->bk && least * least_fractals(mm->n, t->bn) < MAD_OVERLAP_TILES)
    matmul_mad_barrier(w, step, x_mul(fractals(cm), fractals(cn)));
  if (mm->residual || (mm->bias && mm->coupled))
    matmul_mad(w, m, n, EXPR(0), false);
  else if (mm->bias)
    mads_with_bias(w, step, m, n);
  else
    matmul_mad(w, m, n, x_eq(step, 0), false);
}

void matmul_begin_step(struct writer *w, struct expr depth, struct expr turn, uint64_t steps) {
  struct emit *e = w->e;
  uint64_t bk = w->t.bk;
  w->s = emit_for(e, "s", x_ceil_div(depth, bk));
  w->kk = emit_assigned(e, "kk", x_min(bk, x_sub(depth, x_mul(w->s, bk))));
  w->l0 = emit_assigned(e, "l0", x_mod(x_add(x_mul(turn, steps), w->s), L0_SLOTS));
  w->a_dst = matmul_slot(e, "a0", w->l0, matmul_a_step_bytes(w->mm, &w->t));
  w->b_dst = matmul_slot(e, "b0", w->l0, matmul_b_step_bytes(w->mm, &w->t));
  emit_wait(e, PIPE_M, PIPE_MTE1, w->l0);
}

void matmul_end_step(const struct writer *w) {
  emit_set(w->e, PIPE_M, PIPE_MTE1, w->l0);
  emit_end(w->e);
}

void matmul_steps(struct writer *w) {
  const struct matmul_tiling *t = &w->t;
  matmul_begin_step(w, w->du, w->turn, ceil_div(t->inner_k, t->bk));
  to_l0(w);
  emit_handshake(w->e, PIPE_MTE1, PIPE_M, w->l0);
  mads(w);
  matmul_end_step(w);
}

/* ---- out of L0C ---- */

/* How the fixpipe converts; NULL: it does not. */
static const char *quantisation(const struct writer *w) {
  const struct matmul *mm = w->mm;
  bool columns = mm->scale == SCALE_COLUMNS;
  if (w->t.split > 1)
    return NULL;
  if (mm->scale != SCALE_NONE)
    return mm->out_type == DTYPE_INT8 ? (columns ? "vreq8" : "req8")
                                      : (columns ? "vdeqf16" : "deqf16");
  return mm->out_type == DTYPE_FP16 ? "f322f16" : mm->out_type == DTYPE_BF16 ? "f322bf16" : NULL;
}

/* Of NZ results whole blocks are stored; of matmul's own scales there are no more than columns. */
struct expr matmul_stored_columns(const struct writer *w, const struct group *g) {
  const struct matmul *mm = w->mm;
  bool blocks = mm->nz_c && (mm->conv || mm->scale != SCALE_COLUMNS);
  return blocks ? x_round_up(g->cn, matmul_out_c0(mm)) : g->cn;
}

/* FB begins with the scales: set_fpc counts from there. */
void matmul_scale(const struct writer *w) {
  if (w->mm->coupled)
    matmul_coupled_scale(w);
  else if (w->mm->scale == SCALE_TENSOR)
    EMIT(w->e, "set_quant_pre", F("value", w->mm->scale_word));
  else if (w->mm->scale == SCALE_COLUMNS)
    EMIT(w->e, "set_fpc", F("value", 0));
}

/* Words of the block's columns to where the fixpipe looks for them. */
static void scales_to_fb(const struct writer *w) {
  struct emit *e = w->e;
  struct expr slot = x_mod(w->now.i, L1_SLOTS);
  struct expr bytes = x_mul(matmul_stored_columns(w, &w->now), MATMUL_SCALE_BYTES);
  emit_wait(e, PIPE_MTE2, PIPE_FIX, slot);
  emit_barrier(e, PIPE_FIX);
  EMIT(e, "copy_cbuf_to_fbuf", F("dst", x_name(e, "scales0")),
       F("src", matmul_slot(e, "scales1", slot, w->t.bn * MATMUL_SCALE_BYTES)),
       F("len_burst", x_ceil_div(bytes, BLOCK_BYTES)));
  emit_set(e, PIPE_FIX, PIPE_MTE2, slot);
  emit_barrier(e, PIPE_FIX);
}

void matmul_fixpipe(const struct writer *w, struct expr dst, struct expr n, struct expr m,
                    struct expr height, uint64_t stride, const char *form) {
  struct emit *e = w->e;
  const char *quant = quantisation(w);
  struct expr slot = matmul_c_slot(w, w->now.i);
  bool units = w->t.unit_flags;
  if (!units)
    emit_handshake(e, PIPE_M, PIPE_FIX, slot);
  if (w->mm->scale == SCALE_COLUMNS)
    scales_to_fb(w);
  EMIT(e, "copy_matrix_cc_to_gm", F("dst", dst),
       F("src", matmul_slot(e, "c0", slot, matmul_c_bytes(&w->t))), F("n", n), F("m", m),
       F("src_stride", height), W_IF(quant, "quant", quant),
       F_IF(w->mm->relu && w->t.split == 1, "relu", 1), F_IF(units, "unit_flag", UNIT_HAND_OVER),
       W("type", dtype_name(matmul_accumulator(w->mm))), F("dst_stride", stride),
       F_IF(form, form, 1));
  if (!units)
    emit_set(e, PIPE_FIX, PIPE_M, slot);
}

/* Elements from row to row of an ND result. */
static uint64_t matmul_c_row(const struct matmul *mm) {
  return mm->mixed ? mm->batch * mm->n : mm->n;
}

struct expr matmul_place_in(const struct writer *w, struct expr base, struct expr column,
                            uint64_t bytes) {
  const struct matmul *mm = w->mm;
  uint64_t c0 = matmul_out_c0(mm), rows = matmul_out_rows(mm);
  uint64_t elements = mm->mixed ? mm->n : matmul_out_elements(mm);
  struct expr number = mm->groups ? EXPR(0) : w->now.z; /* rows of groups follow each other */
  struct expr batch = x_add(base, x_mul(number, elements * bytes));
  if (mm->nz_c)
    return x_add(batch, x_mul(x_add(x_mul(x_div(column, c0), rows), w->now.m), c0 * bytes));
  return x_add(batch, x_mul(x_add(x_mul(w->now.m, matmul_c_row(mm)), column), bytes));
}

struct expr matmul_c_at(const struct writer *w, struct expr column) {
  return matmul_place_in(w, x_name(w->e, w->mm->c.name), column, w->mm->out_bytes);
}

/* To the next place of the block's workspace, once the vector cores have taken what was there. */
static void hand_over(const struct writer *w) {
  const struct matmul_tiling *t = &w->t;
  struct emit *e = w->e;
  struct expr cm = w->now.cm, place = matmul_place(w, w->now.i, t->bm * t->bn * ACCUMULATOR_BYTES);
  emit_if(e, "again", x_lt(MATMUL_PLACES - 1, w->now.i));
  EMIT(e, "wait_flag_dev", F("id", MATMUL_SIGNAL_TAKEN));
  emit_end(e);
  matmul_fixpipe(w, x_add(x_name(e, "sums"), place), w->now.cn, cm, padded(cm), t->bn, "nz2nd");
  EMIT(e, "ffts_cross_core_sync", W("pipe", "FIX"), F("mode", 2), F("id", MATMUL_SIGNAL_STORED));
}

/* NZ has whole blocks of columns; what is beyond n comes from the padding of the weights. */
static void store_by_fixpipe(const struct writer *w) {
  const struct matmul *mm = w->mm;
  struct expr cm = w->now.cm, height = padded(cm);
  if (mm->vectors && !mm->vectors->make_b) {
    hand_over(w);
    return;
  }
  uint64_t bytes = w->t.split > 1 ? ACCUMULATOR_BYTES : mm->out_bytes;
  uint64_t nz_stride = matmul_out_rows(mm) * matmul_out_c0(mm) * bytes / BLOCK_BYTES;
  matmul_fixpipe(w, w->t.split > 1 ? matmul_split_place(w) : matmul_c_at(w, w->now.n),
                 matmul_stored_columns(w, &w->now), mm->nz_c && !mm->conv ? height : cm, height,
                 mm->nz_c ? nz_stride : matmul_c_row(mm),
                 !mm->nz_c                    ? "nz2nd"
                 : mm->out_type == DTYPE_FP32 ? "channel_split"
                                              : NULL);
}

void matmul_store(const struct writer *w) {
  emit_comment(w->e, "After the last turn the block leaves.");
  emit_if(w->e, "finish", x_eq(x_add(w->ku, w->du), w->now.depth));
  (w->mm->coupled ? matmul_coupled_store : store_by_fixpipe)(w);
  emit_end(w->e);
}
