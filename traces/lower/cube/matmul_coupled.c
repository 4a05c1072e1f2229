/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul on cores that are cube and vector core in one (910A, 310P). They have neither the copy
 * that brings ND to NZ nor a fixpipe: ND operands come to L1 a column of blocks at a time, load2d
 * brings fractals to L0, and blocks leave L0C through the vector unit and UB, in NZ order, from
 * where copies of whole blocks of 32 bytes put them in their places.
 */
#include "core/base/arith.h"
#include "traces/lower/cube/matmul_writer.h"

bool matmul_is_coupled(const struct vinci_soc *soc) {
  return emit_cube_core(soc) == emit_vector_core(soc);
}

enum vinci_status matmul_coupled_check(struct lower_job *job, const struct matmul *mm) {
  const char *arch = arch_name(job->soc->arch);
  if (mm->bias || mm->scale != SCALE_NONE)
    return lower_error(job, "bias and scales are not for %s", arch);
  if (mm->element_bytes == 1 && (mm->trans_a || !mm->trans_b))
    return lower_error(job, "on %s int8 takes [m,k] and [n,k]: load2d transposes 16 bits only",
                       arch);
  uint64_t row_a = (mm->trans_a ? mm->m : mm->k) * mm->element_bytes;
  uint64_t row_b = (mm->trans_b ? mm->k : mm->n) * mm->element_bytes;
  if ((!mm->nz_a && row_a % BLOCK_BYTES) || (!mm->nz_b && row_b % BLOCK_BYTES) ||
      (!mm->nz_c && mm->n * mm->out_bytes % BLOCK_BYTES))
    return lower_error(job, "on %s rows have to be whole blocks of %d bytes, or the format NZ",
                       arch, BLOCK_BYTES);
  if (mm->nz_c && mm->out_bytes != 2)
    return lower_error(job, "on %s only fp16 results are NZ", arch);
  return VINCI_OK;
}

bool matmul_coupled_fits(struct lower_job *job, const struct matmul_tiling *t) {
  enum { BURSTS_MAX = 4095 };
  const struct matmul *mm = job->data;
  uint64_t block = round_up(t->bm, FRACTAL_ROWS) * round_up(t->bn, FRACTAL_ROWS);
  if (block * mm->out_bytes > (uint64_t)job->soc->ub_bytes)
    return lower_refuse(job, "the block does not fit UB");
  if (t->ka > BURSTS_MAX || t->kb > BURSTS_MAX)
    return lower_refuse(job, "panels are deeper than %d", BURSTS_MAX);
  return true;
}

static uint64_t out_bytes(const struct writer *w) {
  return round_up(w->t.bm, FRACTAL_ROWS) * round_up(w->t.bn, FRACTAL_ROWS) * w->mm->out_bytes;
}

static uint64_t out_slots(const struct writer *w) {
  return out_bytes(w) * 2 <= (uint64_t)w->e->soc->ub_bytes ? 2 : 1;
}

void matmul_coupled_buffers(const struct writer *w) {
  emit_buffer(w->e, "out", SPACE_UB, out_bytes(w) * out_slots(w));
}

void matmul_coupled_flags(const struct writer *w, bool set) {
  struct expr slot = matmul_free_slots(w, set, "out", out_slots(w));
  emit_flag_of(w->e, set, PIPE_MTE3, PIPE_V, slot);
  emit_end(w->e);
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

/* Whole columns of blocks. */
static void nz_to_gm(const struct writer *w, struct expr src) {
  struct expr cm = padded(w->now.cm);
  EMIT(w->e, "copy_ubuf_to_gm", F("dst", matmul_c_at(w, w->now.n)), F("src", src),
       F("n_burst", fractals(w->now.cn)), F("len_burst", cm),
       F("dst_gap", x_sub(round_up(w->mm->m, FRACTAL_ROWS), cm)));
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

void matmul_coupled_store(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  struct expr slot = matmul_c_slot(w, w->now.i), out_slot = x_mod(w->now.i, out_slots(w));
  struct expr out = matmul_slot(e, "out", out_slot, out_bytes(w));
  struct expr tiles = x_mul(fractals(w->now.cm), fractals(w->now.cn));
  emit_handshake(e, PIPE_M, PIPE_V, slot);
  emit_wait(e, PIPE_MTE3, PIPE_V, out_slot);
  EMIT(e, "copy_matrix_cc_to_ubuf", F("dst", out),
       F("src", matmul_slot(e, "c0", slot, matmul_c_bytes(&w->t))), F("len_burst", tiles),
       W_IF(mm->out_type == DTYPE_FP16, "convert", "f322f16"),
       W("type", dtype_name(matmul_accumulator(mm))));
  emit_set(e, PIPE_V, PIPE_M, slot);
  emit_handshake(e, PIPE_V, PIPE_MTE3, out_slot);
  (mm->nz_c ? nz_to_gm : nd_to_gm)(w, out);
  emit_set(e, PIPE_MTE3, PIPE_V, out_slot);
}
