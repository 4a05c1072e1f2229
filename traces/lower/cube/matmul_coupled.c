/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul on cores that are cube and vector core in one (910A, 310P). They have neither the copy
 * that brings ND to NZ nor a fixpipe: ND operands come to L1 a column of blocks at a time, load2d
 * brings fractals to L0, and blocks leave L0C through the vector unit and UB, in NZ order, from
 * where copies of whole blocks of 32 bytes put them in their places.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
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

static uint64_t out_bytes(const struct writer *w) {
  return round_up(w->t.bm, FRACTAL_ROWS) * round_up(w->t.bn, FRACTAL_ROWS) * w->mm->out_bytes;
}

static ull out_slots(const struct writer *w) {
  return out_bytes(w) * 2 <= (uint64_t)w->e->soc->ub_bytes ? 2 : 1;
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

void matmul_coupled_buffers(const struct writer *w) {
  emit_buffer(w->e, "out", SPACE_UB, out_bytes(w) * out_slots(w));
}

void matmul_coupled_flags(const struct writer *w, bool set) {
  void (*flag)(struct emit *, enum pipe, enum pipe, const char *, ...) =
      set ? emit_set_flag : emit_wait_flag;
  const char *at = set ? "out_begin" : "out_end";
  emit_loop(w->e, at, "%llu", out_slots(w));
  flag(w->e, PIPE_MTE3, PIPE_V, "%s", at);
  emit_endloop(w->e);
}

/* ---- L1 to L0 ---- */

/* A row of fractals of 16 rows of A after the other, along k in each. */
void matmul_coupled_to_l0a(const struct writer *w, const char *slot, const char *at) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  ull c0 = mm->c0, half = w->t.bm * w->t.bk * mm->element_bytes;
  const char *base, *stride;
  emit_let(e, "kf", "(kk+%llu)/%llu", c0 - 1, c0);
  emit_let(e, "mf", "(cm+15)/16");
  if (mm->trans_a) {
    base = emit_text(e, "mi*((da+15)/16)+%s/16", at);
    stride = "1,transpose=1";
  } else {
    base = emit_text(e, "%s/%llu*mf+mi", at, c0);
    stride = "mf";
  }
  emit_loop(e, "mi", "mf");
  emit_row(e,
           "load_cbuf_to_ca,dst=a0+l0*%llu+mi*kf*%d,src=a1+%s*%llu,base=%s,repeat=kf,src_stride=%s",
           half, FRACTAL_BYTES, slot, (ull)w->t.a_panel_bytes, base, stride);
  emit_endloop(e);
}

/* B as [k,n]: of each 16 rows all columns, each fractal transposed. */
void matmul_coupled_to_l0b(const struct writer *w, const char *slot, const char *at) {
  struct emit *e = w->e;
  ull half = w->t.bn * w->t.bk * w->mm->element_bytes;
  emit_let(e, "nf", "(cn+15)/16");
  emit_loop(e, "ki", "(kk+15)/16");
  emit_row(e,
           "load_cbuf_to_cb,dst=b0+l0*%llu+ki*nf*%d,src=b1+%s*%llu,base=%s/16+ki,repeat=nf,"
           "src_stride=(db+15)/16,transpose=1",
           half, FRACTAL_BYTES, slot, (ull)w->t.b_panel_bytes, at);
  emit_endloop(e);
}

/* ---- out ---- */

/* A block of 32 bytes of each row of a column at a time in ND, whole columns in NZ. */
static void to_gm(const struct writer *w, const char *src) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  ull ob = mm->out_bytes, rows = round_up(mm->m, FRACTAL_ROWS), c0 = BLOCK_BYTES / ob;
  if (mm->nz_c) {
    const char *cm = matmul_rounded(e, "cm", FRACTAL_ROWS);
    emit_row(e,
             "copy_ubuf_to_gm,dst=%s+z*%llu+(n/%llu*%llu+m)*%d,src=%s,n_burst=(cn+15)/16,"
             "len_burst=%s,dst_gap=%llu-%s",
             mm->c_name, rows * round_up(mm->n, c0) * ob, c0, rows, BLOCK_BYTES, src, cm, rows, cm);
    return;
  }
  ull fractal_blocks = FRACTAL_ROWS * ob / BLOCK_BYTES, row_blocks = mm->n * ob / BLOCK_BYTES;
  emit_loop(e, "column", "(cn+15)/16");
  emit_let(e, "blocks_out", "min(16,cn-column*16)*%llu/%d", ob, BLOCK_BYTES);
  emit_row(e,
           "copy_ubuf_to_gm,dst=%s+z*%llu+(m*%llu+n+column*16)*%llu,src=%s+column*%s*%llu,"
           "n_burst=cm,len_burst=blocks_out,src_gap=%llu-blocks_out,dst_gap=%llu-blocks_out",
           mm->c_name, (ull)(mm->m * mm->n) * ob, (ull)mm->n, ob, src,
           matmul_rounded(e, "cm", FRACTAL_ROWS), FRACTAL_ROWS * ob, fractal_blocks, row_blocks);
  emit_endloop(e);
}

void matmul_coupled_store(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const char *slot = emit_text(e, "i%%%llu", (ull)w->t.c_slots);
  const char *out_slot = emit_text(e, "i%%%llu", out_slots(w));
  const char *src = emit_text(e, "out+%s*%llu", out_slot, (ull)out_bytes(w));
  emit_set_flag(e, PIPE_M, PIPE_V, "%s", slot);
  emit_wait_flag(e, PIPE_M, PIPE_V, "%s", slot);
  emit_wait_flag(e, PIPE_MTE3, PIPE_V, "%s", out_slot);
  emit_row(
      e, "copy_matrix_cc_to_ubuf,dst=%s,src=c0+%s*%llu,len_burst=(cm+15)/16*((cn+15)/16)%s,type=%s",
      src, slot, (ull)(w->t.bm * w->t.bn * ACCUMULATOR_BYTES),
      mm->out_type == DTYPE_FP16 ? ",convert=f322f16" : "", dtype_name(matmul_accumulator(mm)));
  emit_set_flag(e, PIPE_V, PIPE_M, "%s", slot);
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "%s", out_slot);
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "%s", out_slot);
  to_gm(w, src);
  emit_set_flag(e, PIPE_MTE3, PIPE_V, "%s", out_slot);
}
