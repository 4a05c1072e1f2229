/* SPDX-License-Identifier: Apache-2.0 */
/*
 * y = [relu](a b + bias + r): a tensor in the shape of the result is added where the sums are.
 *
 * Neither L1 nor the fixpipe of split cores can add to L0C: the documentation names no such path
 * and no such field. The cube can: a block begins as r times the identity, whose products are exact
 * and are added up in fp32, and a b follows on top. The tile of r takes the way of an operand: L1,
 * L0A. Because the identity is 0 but for its diagonal, each 16 columns of r are a product of their
 * own with the same 16 x 16 identity: n / 16 small products instead of k that is n deeper. That the
 * vendor's library adds residuals so is not known; it is what documented instructions allow.
 *
 * The identity is made on the core: with u_i as column i of the identity, the sum over i of
 * (u_i 1') (1 u_i') is 16 times the identity. So a product with k = 256 of one matrix with itself,
 * whose i-th fractal is zeros but for a block of 1/4 in row i, gives 16 / 16 = 1 on the diagonal;
 * the fixpipe takes that to L1.
 */
#include "core/base/arith.h"
#include "lower/cube/matmul_writer.h"

enum {
  FLAG_RESIDUAL = 6,
  RESIDUAL_FLAG_IDS = 8, /* the last pair of MTE1 and MTE2 */
  TERMS_BYTES = FRACTAL_ROWS * FRACTAL_BYTES,
  QUARTER_FP16 = 0x3400,
  QUARTER_BF16 = 0x3e80,
  REPEATS_MAX = 255,
};

static uint64_t tile_bytes(const struct matmul *mm, uint64_t bm, uint64_t bn) {
  return round_up(bm, FRACTAL_ROWS) * round_up(bn, FRACTAL_ROWS) * mm->element_bytes;
}

uint64_t matmul_residual_l1_bytes(const struct matmul *mm, uint64_t bm, uint64_t bn) {
  return mm->residual ? tile_bytes(mm, bm, bn) * L1_SLOTS + FRACTAL_BYTES + TERMS_BYTES : 0;
}

uint64_t matmul_residual_l0_bytes(const struct matmul *mm) {
  return mm->residual ? TERMS_BYTES : 0;
}

enum vinci_status matmul_residual_check(struct lower_job *job, const struct matmul *mm) {
  if (!mm->residual || mm->coupled) /* there the vector unit adds, see matmul_tail.c */
    return VINCI_OK;
  if (mm->type != DTYPE_FP16 && mm->type != DTYPE_BF16)
    return lower_error(job,
                       "a residual is for fp16 and bf16, which pass the cube as they are, not "
                       "for %s",
                       dtype_name(mm->type));
  if (!mm->nz_c && mm->n > UINT16_MAX)
    return lower_error(job, "with a residual a row has at most %d columns", UINT16_MAX);
  if (job->soc->flag_ids < RESIDUAL_FLAG_IDS)
    return lower_error(job, "a residual takes %d flag ids between two pipes, %s has %d",
                       RESIDUAL_FLAG_IDS, job->soc->name, (int)job->soc->flag_ids);
  return VINCI_OK;
}

void matmul_residual_buffers(const struct writer *w) {
  struct emit *e = w->e;
  emit_buffer(e, "r1", SPACE_L1, tile_bytes(w->mm, w->t.bm, w->t.bn) * L1_SLOTS);
  emit_buffer(e, "eye1", SPACE_L1, FRACTAL_BYTES);
  emit_buffer(e, "terms1", SPACE_L1, TERMS_BYTES);
}

/* ---- the start of the kernel ------------------------------------------------------------------
 */

/* A block of each fractal is a row of A in L0A, and a column of B in L0B. */
static void put_terms(const struct writer *w) {
  struct emit *e = w->e;
  uint64_t quarter = w->mm->type == DTYPE_BF16 ? QUARTER_BF16 : QUARTER_FP16;
  uint64_t fractal = FRACTAL_BYTES / BLOCK_BYTES;
  matmul_zeros(e, x_name(e, "terms1"), EXPR(TERMS_BYTES / BLOCK_BYTES));
  matmul_zeros(e, x_name(e, "r1"),
               EXPR(tile_bytes(w->mm, w->t.bm, w->t.bn) * L1_SLOTS / BLOCK_BYTES));
  emit_barrier(e, PIPE_MTE2);
  EMIT(e, "create_cbuf_matrix", F("dst", x_name(e, "terms1")), F("blocks", 1),
       F("repeat", FRACTAL_ROWS), F("dst_gap", fractal), F("value", quarter << 16 | quarter));
}

void matmul_residual_start(const struct writer *w) {
  struct emit *e = w->e;
  emit_comment(e, "The identity of 16 x 16.");
  put_terms(w);
  emit_handshake(e, PIPE_MTE2, PIPE_MTE1, 0);
  EMIT(e, "load_cbuf_to_ca", F("dst", x_name(e, "a0")), F("src", x_name(e, "terms1")),
       F("repeat", FRACTAL_ROWS));
  EMIT(e, "load_cbuf_to_cb", F("dst", x_name(e, "b0")), F("src", x_name(e, "terms1")),
       F("repeat", FRACTAL_ROWS));
  emit_handshake(e, PIPE_MTE1, PIPE_M, 0);
  EMIT(e, "mad", F("c", x_name(e, "c0")), F("a", x_name(e, "a0")), F("b", x_name(e, "b0")),
       F("m", FRACTAL_ROWS), F("k", FRACTAL_ROWS * FRACTAL_ROWS), F("n", FRACTAL_ROWS),
       W("type", dtype_name(w->mm->type)));
  emit_handshake(e, PIPE_M, PIPE_FIX, 0);
  EMIT(e, "copy_matrix_cc_to_cbuf", F("dst", x_name(e, "eye1")), F("src", x_name(e, "c0")),
       F("n", FRACTAL_ROWS), F("m", FRACTAL_ROWS), F("src_stride", FRACTAL_ROWS),
       W("quant", w->mm->type == DTYPE_BF16 ? "f322bf16" : "f322f16"), W("type", "fp32"),
       F("dst_stride", FRACTAL_ROWS));
  emit_barrier(e, PIPE_ALL);
}

void matmul_residual_flags(const struct writer *w, bool set, struct expr half) {
  emit_flag_of(w->e, set, PIPE_MTE1, PIPE_MTE2, x_add(FLAG_RESIDUAL, half));
}

/* ---- a block ----------------------------------------------------------------------------------
 */

/* Columns of blocks: `taken` of the `rows` that each has. Gaps between columns have 16 bits. */
static void load_columns(const struct group *g, struct expr dst, struct expr src,
                         struct expr columns, struct expr taken, uint64_t rows) {
  struct emit *e = g->e;
  struct expr height = padded(g->cm);
  if (rows <= UINT16_MAX) {
    EMIT(e, "copy_gm_to_cbuf", F("dst", dst), F("src", src), F("n_burst", columns),
         F("len_burst", taken), F("src_gap", x_sub(rows, taken)),
         F("dst_gap", x_sub(height, taken)));
    return;
  }
  struct expr column = group_for(g, "columnr", columns);
  EMIT(e, "copy_gm_to_cbuf", F("dst", x_at(dst, x_mul(column, height), BLOCK_BYTES)),
       F("src", x_at(src, column, rows * BLOCK_BYTES)), F("len_burst", taken));
  emit_end(e);
}

/* Rows of a column of blocks in GM. */
static uint64_t rows_in_gm(const struct matmul *mm) {
  return mm->conv ? mm->m : round_up(mm->m, FRACTAL_ROWS);
}

uint64_t matmul_residual_rows(const struct writer *w) {
  const struct matmul *mm = w->mm;
  enum { WAIT_AND_SET = 2 };
  if (!mm->residual)
    return 0;
  bool at_once = !mm->nz_c || rows_in_gm(mm) <= UINT16_MAX;
  return WAIT_AND_SET + (at_once ? 1 : ceil_div(w->t.bn, mm->c0));
}

/* Columns of blocks, each of whole fractals: rows that pad have zeros, or what was there before and
 * nobody stores. */
void matmul_residual_load(const struct writer *w, const struct group *g) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  uint64_t c0 = mm->c0, es = mm->element_bytes;
  uint64_t rows = rows_in_gm(mm);
  uint64_t elements = mm->nz_c ? rows * round_up(mm->n, c0) : mm->m * mm->n;
  struct expr slot = x_mod(g->i, L1_SLOTS), height = padded(g->cm);
  struct expr dst = matmul_slot(e, "r1", slot, tile_bytes(mm, w->t.bm, w->t.bn));
  struct expr batch = x_add(x_name(e, "residual"), x_mul(g->z, elements * es));
  emit_wait(e, PIPE_MTE1, PIPE_MTE2, x_add(FLAG_RESIDUAL, slot));
  if (mm->nz_c) {
    load_columns(g, dst, x_at(batch, x_add(x_mul(x_div(g->n, c0), rows), g->m), BLOCK_BYTES),
                 x_ceil_div(g->cn, c0), mm->conv ? g->cm : height, rows);
  } else {
    EMIT(e, "copy_gm_to_cbuf_multi_nd2nz_b16", F("dst", dst),
         F("src", x_at(batch, x_add(x_mul(g->m, mm->n), g->n), es)), F("n", g->cm), F("d", g->cn),
         F("src_d", mm->n), F("dst_c0_stride", height));
  }
  emit_set(e, PIPE_MTE2, PIPE_MTE1, x_add(FLAG_RESIDUAL, slot));
}

/* Columns of blocks that a step takes: what a half of L0A holds and one load brings. */
static uint64_t step_columns(const struct writer *w) {
  uint64_t height = round_up(w->t.bm, FRACTAL_ROWS) / FRACTAL_ROWS;
  uint64_t most = matmul_a_step_bytes(w->mm, &w->t) / (height * FRACTAL_BYTES);
  most = min_u64(max_u64(most, 1), max_u64(REPEATS_MAX / height, 1));
  return min_u64(most, ceil_div(w->t.bn, FRACTAL_ROWS));
}

/* The products of a step: 16 columns each. */
static void put_mads(const struct writer *w, struct expr first, struct expr columns,
                     struct expr height) {
  struct emit *e = w->e;
  struct expr c = matmul_slot(e, "c0", matmul_c_slot(w, w->now.i), matmul_c_bytes(&w->t));
  struct expr j = emit_for(e, "rj", columns), column = x_add(first, j);
  bool bias = w->mm->bias, whole = w->mm->nz_c && !w->mm->conv;
  EMIT(e, "mad",
       F("c", x_at(c, x_mul(column, height), FRACTAL_ROWS * FRACTAL_ROWS * ACCUMULATOR_BYTES)),
       F("a", x_at(w->a_dst, x_mul(j, height), FRACTAL_BYTES)), F("b", w->b_dst),
       F("m", whole ? padded(w->now.cm) : x_max(2, w->now.cm)), F("k", FRACTAL_ROWS),
       F("n", FRACTAL_ROWS), F("init", bias ? 0 : 1), W_IF(bias, "source", "bt"),
       F_IF(bias, "bias", x_at(x_name(e, "bias0"), column, FRACTAL_ROWS * ACCUMULATOR_BYTES)),
       W("type", dtype_name(w->mm->type)));
  emit_end(e);
}

void matmul_residual_begin(struct writer *w) {
  struct emit *e = w->e;
  uint64_t step = step_columns(w);
  struct expr slot = x_mod(w->now.i, L1_SLOTS), id = x_add(FLAG_RESIDUAL, slot);
  struct expr src = matmul_slot(e, "r1", slot, tile_bytes(w->mm, w->t.bm, w->t.bn));
  emit_comment(e, "The block begins as the residual.");
  emit_wait(e, PIPE_MTE2, PIPE_MTE1, id);
  struct expr height = emit_assigned(e, "rh", fractals(w->now.cm));
  struct expr all = emit_assigned(e, "rn", fractals(w->now.cn));
  struct expr s = emit_for(e, "rs", x_ceil_div(all, step));
  struct expr first = x_mul(s, step);
  struct expr columns = emit_assigned(e, "rc", x_min(step, x_sub(all, first)));
  struct expr half = emit_assigned(e, "r0", x_mod(s, L0_SLOTS));
  w->a_dst = matmul_slot(e, "a0", half, matmul_a_step_bytes(w->mm, &w->t));
  w->b_dst = matmul_slot(e, "b0", half, matmul_b_step_bytes(w->mm, &w->t));
  emit_wait(e, PIPE_M, PIPE_MTE1, half);
  EMIT(e, "load_cbuf_to_ca", F("dst", w->a_dst),
       F("src", x_at(src, x_mul(first, height), FRACTAL_BYTES)),
       F("repeat", x_mul(columns, height)));
  EMIT(e, "load_cbuf_to_cb", F("dst", w->b_dst), F("src", x_name(e, "eye1")), F("repeat", 1));
  emit_handshake(e, PIPE_MTE1, PIPE_M, half);
  put_mads(w, first, columns, height);
  emit_set(e, PIPE_M, PIPE_MTE1, half);
  emit_end(e);
  emit_set(e, PIPE_MTE1, PIPE_MTE2, id);
  emit_barrier(e, PIPE_M); /* the products that follow are added to the same sums */
}

uint64_t matmul_residual_steps(const struct matmul *mm, uint64_t n) {
  return mm->residual ? ceil_div(n, FRACTAL_ROWS) : 0;
}
