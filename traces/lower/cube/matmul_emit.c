/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a matmul. Copies to L1 run one turn ahead of the loads to L0, and those one step
 * ahead of the cube. Names in the text: g counts groups, u turns of a group, s steps of a turn;
 * names that end in x belong to the next group.
 *
 * Flags: MTE1 to MTE2 and back, 0 and 1: panels of the outer operand, 2 and 3: of the inner one,
 * 4 and 5: rows of bias. M to MTE1 and back, 0 and 1: halves of L0; 2: the bias table. M to FIX
 * and back: blocks in L0C. FIX to MTE2 and back, 0 and 1: rows of scales. "Back" says filled, the
 * other direction free.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/cube/matmul_writer.h"

/* ---- header ---- */

static void tensor(const struct writer *w, const char *name, enum dtype type, enum tensor_io io,
                   uint64_t batches, uint64_t rows, uint64_t columns, bool nz) {
  uint64_t shape[5] = {batches, rows, columns};
  unsigned rank = 3;
  if (nz) {
    uint64_t c0 = (uint64_t)BLOCK_BYTES * BITS_PER_BYTE / dtype_bits(type);
    shape[1] = ceil_div(columns, c0);
    shape[2] = ceil_div(rows, FRACTAL_ROWS);
    shape[3] = FRACTAL_ROWS;
    shape[4] = c0;
    rank = 5;
  }
  unsigned skip = batches == 1;
  emit_tensor(w->e, name, type, io, shape + skip, rank - skip, nz ? "FRACTAL_NZ" : NULL);
}

/* What is loaded in whole blocks or squares, and no copy writes: zeros. */
static void fill_l1(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  bool squares = !mm->conv && mm->trans_a &&
                 ((mm->element_bytes == 1 && mm->k % mm->c0 != 0) ||
                  (mm->element_bytes == 4 && (mm->k % FRACTAL_ROWS || mm->m % FRACTAL_ROWS)));
  if (squares)
    emit_row(e, "create_cbuf_matrix,dst=a1,blocks=%llu",
             (ull)(w->t.a_panel_bytes * (w->t.a_outer ? w->t.outer_slots : L1_SLOTS)) /
                 BLOCK_BYTES);
  if (mm->bias)
    emit_row(e, "create_cbuf_matrix,dst=bias1,blocks=%llu",
             (ull)(w->t.bn * ACCUMULATOR_BYTES * L1_SLOTS / BLOCK_BYTES));
  if (squares || mm->bias)
    emit_barrier(e, PIPE_MTE2);
}

static void conv_tensors(const struct writer *w) {
  const struct matmul *mm = w->mm;
  const struct conv *conv = mm->conv;
  bool gradient = conv->gradient;
  ull c0 = mm->c0, out_c0 = matmul_out_c0(mm), groups = conv->groups;
  ull images = mm->batch / groups;
  const uint64_t x[5] = {images, groups * conv->c1, gradient ? conv->given_h : conv->h,
                         gradient ? conv->given_w : conv->w, conv->block};
  const uint64_t weights[4] = {groups * ceil_div(mm->k, c0), ceil_div(mm->n, FRACTAL_ROWS),
                               FRACTAL_ROWS, c0};
  /* The same weights as forward: there k and n have changed places. */
  const uint64_t turned[4] = {groups * ceil_div(mm->n, c0) * conv->kh * conv->kw,
                              ceil_div(conv->c1 * c0, FRACTAL_ROWS), FRACTAL_ROWS, c0};
  const uint64_t y[5] = {images, groups * ceil_div(mm->n, out_c0), conv->ho, conv->wo, out_c0};
  emit_tensor(w->e, mm->a_name, matmul_stored(mm->type), TENSOR_IN, x, 5, "NC1HWC0");
  emit_tensor(w->e, mm->b_name, matmul_stored(mm->type), TENSOR_IN, gradient ? turned : weights, 4,
              "FRACTAL_Z");
  if (mm->bias)
    emit_vector(w->e, "bias", matmul_accumulator(mm), TENSOR_IN, conv->channels);
  if (mm->scale == SCALE_COLUMNS)
    emit_vector(w->e, "scales", DTYPE_INT64, TENSOR_IN, y[1] * out_c0);
  emit_tensor(w->e, mm->c_name, mm->out_type, TENSOR_OUT, y, 5, "NC1HWC0");
}

static void matrix_tensors(const struct writer *w) {
  const struct matmul *mm = w->mm;
  tensor(w, mm->a_name, matmul_stored(mm->type), TENSOR_IN, mm->a_batches,
         mm->trans_a ? mm->k : mm->m, mm->trans_a ? mm->m : mm->k, mm->nz_a);
  tensor(w, mm->b_name, matmul_stored(mm->type), TENSOR_IN, mm->b_batches,
         mm->trans_b ? mm->n : mm->k, mm->trans_b ? mm->k : mm->n, mm->nz_b);
  if (mm->bias)
    emit_vector(w->e, "bias", matmul_accumulator(mm), TENSOR_IN, mm->n);
  if (mm->scale == SCALE_COLUMNS)
    emit_vector(w->e, "scales", DTYPE_INT64, TENSOR_IN, mm->n);
  tensor(w, mm->c_name, mm->out_type, TENSOR_OUT, mm->batch, mm->m, mm->n, mm->nz_c);
  if (w->t.split > 1)
    matmul_split_tensor(w);
}

static void header(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const struct matmul_tiling *t = &w->t;
  if (t->split > 1)
    emit_mixed_kernel(e, mm->name, (uint32_t)t->cores, matmul_split_vectors(w));
  else
    emit_kernel(e, mm->name, (uint32_t)t->cores);
  if (mm->conv)
    conv_tensors(w);
  else
    matrix_tensors(w);
  emit_buffer(e, "a1", SPACE_L1, t->a_panel_bytes * (t->a_outer ? t->outer_slots : L1_SLOTS));
  emit_buffer(e, "b1", SPACE_L1, t->b_panel_bytes * (t->a_outer ? L1_SLOTS : t->outer_slots));
  if (mm->bias) {
    emit_buffer(e, "bias1", SPACE_L1, t->bn * ACCUMULATOR_BYTES * L1_SLOTS);
    emit_buffer(e, "bias0", SPACE_BT, t->bn * ACCUMULATOR_BYTES);
  }
  if (mm->scale == SCALE_COLUMNS) {
    emit_buffer(e, "scales1", SPACE_L1, t->bn * MATMUL_SCALE_BYTES * L1_SLOTS);
    emit_buffer(e, "scales0", SPACE_FB, t->bn * MATMUL_SCALE_BYTES);
  }
  emit_buffer(e, "a0", SPACE_L0A, t->bm * t->bk * mm->element_bytes * L0_SLOTS);
  emit_buffer(e, "b0", SPACE_L0B, matmul_b_step_bytes(mm, t) * L0_SLOTS);
  emit_buffer(e, "c0", SPACE_L0C, t->bm * t->bn * ACCUMULATOR_BYTES * t->c_slots);
  if (t->split > 1)
    matmul_split_buffers(w);
  if (mm->coupled)
    matmul_coupled_buffers(w);
  emit_stream(e, emit_cube_core(e->soc));
  emit_kernel_start(e, KERNEL_CUBE, t->cores);
  fill_l1(w);
}

/* ---- where a group lies ---- */

/* Rows of the map under the windows of a block: from row `up` of the map on, `height` of them;
 * `oy` is the first row of the result, `low` the last row of the map they ask for. */
static void map_lets(const struct conv *conv, struct emit *e, const char *x) {
  ull last = conv->h - 1;
  emit_let(e, emit_text(e, "oy%s", x), "m%s/%llu", x, (ull)conv->wo);
  emit_let(e, emit_text(e, "low%s", x), "(m%s+cm%s-1)/%llu*%llu+%llu-%llu", x, x, (ull)conv->wo,
           (ull)conv->sh, (ull)((conv->kh - 1) * conv->dh), (ull)conv->top);
  emit_let(e, emit_text(e, "up%s", x), "min(%llu,max(0,oy%s*%llu-%llu))", last, x, (ull)conv->sh,
           (ull)conv->top);
  emit_let(e, emit_text(e, "height%s", x), "max(1,min(%llu,low%s)-up%s+1)", last, x, x);
}

const char *matmul_depth(const struct writer *w, const char *suffix) {
  return w->t.split > 1 ? emit_text(w->e, "depth%s", suffix)
                        : emit_text(w->e, "%llu", (ull)w->mm->k);
}

/* k of a group or turn, counted from the begin of the block's part, in the operands. */
static const char *k_of(const struct writer *w, const char *k, const char *suffix) {
  return w->t.split > 1 ? emit_text(w->e, "(from%s+%s)", suffix, k) : k;
}

/* Batch `z` and part `part` of a block, and its range of k. */
static void part_lets(const struct writer *w, const char *x) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  ull per_batch = t->mt * t->nt, split = t->split;
  if (split == 1) {
    emit_let(e, emit_text(e, "z%s", x), "t%s/%llu", x, per_batch);
    return;
  }
  emit_let(e, emit_text(e, "z%s", x), "t%s/%llu", x, per_batch * split);
  emit_let(e, emit_text(e, "part%s", x), "t%s/%llu%%%llu", x, per_batch, split);
  ull steps = ceil_div(w->mm->k, t->bk), bk = t->bk;
  emit_let(e, emit_text(e, "from%s", x), "part%s*%llu/%llu*%llu", x, steps, split, bk);
  emit_let(e, emit_text(e, "depth%s", x), "min(%llu,(part%s+1)*%llu/%llu*%llu)-from%s",
           (ull)w->mm->k, x, steps, split, bk, x);
}

/* Lets of group `g`, their names ending in `x`: block t of all, k range, rows and columns. */
static void group_lets(const struct writer *w, const char *g, const char *x) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  const struct matmul_tiling *t = &w->t;
  ull mt = t->mt, nt = t->nt, per_batch = t->mt * t->nt;
  emit_let(e, emit_text(e, "i%s", x), "(%s)/%llu", g, (ull)t->groups);
  if (t->resident == RESIDENT_NONE)
    emit_let(e, emit_text(e, "t%s", x), "i%s*%llu+blk", x, (ull)t->cores);
  else
    emit_let(e, emit_text(e, "t%s", x), "i%s+first", x);
  emit_let(e, emit_text(e, "k%s", x), "(%s)%%%llu*%llu", g, (ull)t->groups, (ull)t->outer_k);
  part_lets(w, x);
  emit_let(e, emit_text(e, "r%s", x), "t%s%%%llu", x, per_batch);
  if (t->resident == RESIDENT_A || (t->resident == RESIDENT_NONE && t->band == 1)) {
    emit_let(e, emit_text(e, "m%s", x), "r%s/%llu*%llu", x, nt, (ull)t->rows);
    emit_let(e, emit_text(e, "n%s", x), "r%s%%%llu*%llu", x, nt, (ull)t->bn);
  } else if (t->resident == RESIDENT_B || t->band == t->mt) {
    emit_let(e, emit_text(e, "m%s", x), "r%s%%%llu*%llu", x, mt, (ull)t->rows);
    emit_let(e, emit_text(e, "n%s", x), "r%s/%llu*%llu", x, mt, (ull)t->bn);
  } else {
    ull band = t->band;
    emit_let(e, emit_text(e, "band%s", x), "r%s/%llu*%llu", x, band * nt, band);
    emit_let(e, emit_text(e, "rows%s", x), "min(%llu,%llu-band%s)", band, mt, x);
    emit_let(e, emit_text(e, "q%s", x), "r%s-band%s*%llu", x, x, nt);
    emit_let(e, emit_text(e, "m%s", x), "(band%s+q%s%%rows%s)*%llu", x, x, x, (ull)t->rows);
    emit_let(e, emit_text(e, "n%s", x), "q%s/rows%s*%llu", x, x, (ull)t->bn);
  }
  emit_let(e, emit_text(e, "cm%s", x), "min(%llu,%llu-m%s)", (ull)t->rows, (ull)mm->m, x);
  emit_let(e, emit_text(e, "cn%s", x), "min(%llu,%llu-n%s)", (ull)t->bn, (ull)mm->n, x);
  if (mm->conv)
    map_lets(mm->conv, e, x);
  /* Outer panels are counted from 0 on each core. */
  ull run = t->resident == RESIDENT_A ? nt : mt;
  if (t->resident == RESIDENT_NONE)
    emit_let(e, emit_text(e, "o%s", x), "%s", g);
  else
    emit_let(e, emit_text(e, "o%s", x), "t%s/%llu-first/%llu", x, run, run);
}

/* ---- GM to L1 ---- */

static void load_outer(const struct writer *w, const char *suffix) {
  struct emit *e = w->e;
  struct matmul_operand x = matmul_operand(w, w->t.a_outer);
  const char *slot = emit_text(e, "o%s%%%llu", suffix, (ull)w->t.outer_slots);
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%s", slot);
  const char *k = emit_text(e, "k%s", suffix);
  matmul_load_panel(w, &x, slot, k_of(w, k, suffix),
                    emit_text(e, "min(%llu,%s-%s)", (ull)w->t.outer_k, matmul_depth(w, suffix), k),
                    suffix);
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%s", slot);
}

/* First column of a block among those of all groups. */
static const char *first_column(const struct writer *w, const char *suffix) {
  const struct conv *conv = w->mm->conv;
  if (!conv || conv->groups == 1)
    return emit_text(w->e, "n%s", suffix);
  return emit_text(w->e, "(%s*%llu+n%s)", matmul_weights_of(w, suffix), (ull)w->mm->n, suffix);
}

/*
 * Padding channels of a convolution get what lies behind the last bias: the copy ends it with zeros
 * up to 8 values, what an earlier block has left comes behind.
 */
static void clear_bias_tail(const struct writer *w, const char *count, const char *suffix) {
  struct emit *e = w->e;
  const struct matmul *mm = w->mm;
  int block = BLOCK_BYTES / ACCUMULATOR_BYTES;
  ull given = round_up(mm->conv->channels, (uint64_t)block);
  if (given == mm->conv->groups * round_up(mm->n, FRACTAL_ROWS))
    return;
  emit_let(e, emit_text(e, "tail%s", suffix), "(%s+%d)/%d", count, block - 1, block);
  emit_loop(e, emit_text(e, "short%s", suffix), "(cn%s+15)/16*2>tail%s", suffix, suffix);
  emit_row(e, "create_cbuf_matrix,dst=bias1+i%s%%2*%llu+tail%s*%d,blocks=(cn%s+15)/16*2-tail%s",
           suffix, (ull)w->t.bn * ACCUMULATOR_BYTES, suffix, BLOCK_BYTES, suffix, suffix);
  emit_endloop(e);
}

static void load_bias(const struct writer *w, const char *suffix) {
  struct emit *e = w->e;
  const struct conv *conv = w->mm->conv;
  const char *first = first_column(w, suffix), *count = emit_text(e, "cn%s", suffix);
  if (conv)
    count = emit_text(e, "min(%s,%llu-%s)", count, (ull)conv->channels, first);
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+i%s%%2", FLAG_BIAS, suffix);
  if (conv)
    clear_bias_tail(w, count, suffix);
  emit_row(e,
           "copy_gm_to_cbuf_multi_nd2nz_b32s,dst=bias1+i%s%%2*%llu,src=bias+%s*%d,n=1,d=%s,"
           "src_d=%llu,dst_c0_stride=1",
           suffix, (ull)w->t.bn * ACCUMULATOR_BYTES, first, ACCUMULATOR_BYTES, count,
           (ull)min_u64(w->mm->n, UINT16_MAX));
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+i%s%%2", FLAG_BIAS, suffix);
}

static void load_scales(const struct writer *w, const char *suffix) {
  struct emit *e = w->e;
  ull words = MATMUL_SCALE_BYTES / sizeof(uint32_t);
  emit_wait_flag(e, PIPE_FIX, PIPE_MTE2, "i%s%%2", suffix);
  emit_row(e,
           "copy_gm_to_cbuf_multi_nd2nz_b32s,dst=scales1+i%s%%2*%llu,src=scales+%s*%d,n=1,"
           "d=%s*%llu,src_d=%d,dst_c0_stride=1",
           suffix, (ull)w->t.bn * MATMUL_SCALE_BYTES, first_column(w, suffix), MATMUL_SCALE_BYTES,
           matmul_stored_columns(w, suffix), words, UINT16_MAX);
  emit_set_flag(e, PIPE_MTE2, PIPE_FIX, "i%s%%2", suffix);
}

/* What a new block has besides its panels. */
static void load_rows(const struct writer *w, const char *suffix) {
  if (w->mm->bias)
    load_bias(w, suffix);
  if (w->mm->scale == SCALE_COLUMNS)
    load_scales(w, suffix);
}

/* The inner panel at `k`; `turn` is its number on this core. */
static void load_inner(const struct writer *w, const char *k, const char *turn,
                       const char *suffix) {
  struct emit *e = w->e;
  struct matmul_operand x = matmul_operand(w, !w->t.a_outer);
  const char *slot = emit_text(e, "(%s)%%2", turn);
  emit_wait_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+%s", FLAG_INNER, slot);
  matmul_load_panel(w, &x, slot, k_of(w, k, suffix),
                    emit_text(e, "min(%llu,%s-%s)", (ull)w->t.inner_k, matmul_depth(w, suffix), k),
                    suffix);
  emit_set_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+%s", FLAG_INNER, slot);
}

/* ---- the stream ---- */

static void begin_block(const struct writer *w) {
  struct emit *e = w->e;
  emit_loop(e, "begin", "ku==0");
  emit_wait_flag(e, matmul_out_pipe(w), PIPE_M, "i%%%llu", (ull)w->t.c_slots);
  if (w->mm->bias) {
    emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+i%%2", FLAG_BIAS);
    emit_wait_flag(e, PIPE_M, PIPE_MTE1, "%d", FLAG_BT);
    bool wide = w->mm->element_bytes == 1; /* blocks of 32 columns */
    emit_row(e, "copy_cbuf_to_bt,dst=bias0,src=bias1+i%%2*%llu,len_burst=%s",
             (ull)w->t.bn * ACCUMULATOR_BYTES, wide ? "(cn+31)/32*4" : "(cn+15)/16*2");
    emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+i%%2", FLAG_BIAS);
  }
  emit_endloop(e);
}

/* Every flag that says "free", set at the start and taken back at the end. */
static void free_flags(const struct writer *w, bool set) {
  struct emit *e = w->e;
  void (*flag)(struct emit *, enum pipe, enum pipe, const char *, ...) =
      set ? emit_set_flag : emit_wait_flag;
  const char *at = set ? "begin" : "end";
  emit_loop(e, emit_text(e, "outer_%s", at), "%llu", (ull)w->t.outer_slots);
  flag(e, PIPE_MTE1, PIPE_MTE2, "outer_%s", at);
  emit_endloop(e);
  emit_loop(e, emit_text(e, "half_%s", at), "2");
  flag(e, PIPE_MTE1, PIPE_MTE2, "%d+half_%s", FLAG_INNER, at);
  flag(e, PIPE_M, PIPE_MTE1, "half_%s", at);
  if (w->mm->bias)
    flag(e, PIPE_MTE1, PIPE_MTE2, "%d+half_%s", FLAG_BIAS, at);
  if (w->mm->scale == SCALE_COLUMNS)
    flag(e, PIPE_FIX, PIPE_MTE2, "half_%s", at);
  emit_endloop(e);
  if (w->mm->bias)
    flag(e, PIPE_M, PIPE_MTE1, "%d", FLAG_BT);
  emit_loop(e, emit_text(e, "block_%s", at), "%llu", (ull)w->t.c_slots);
  flag(e, matmul_out_pipe(w), PIPE_M, "block_%s", at);
  emit_endloop(e);
  if (w->mm->coupled)
    matmul_coupled_flags(w, set);
}

/* What the next group needs: its outer panel, unless it is there, and the first inner one. */
static void load_next(const struct writer *w, bool outer, bool inner) {
  struct emit *e = w->e;
  if (outer) {
    if (w->t.resident != RESIDENT_NONE)
      emit_loop(e, "another", "ox>o");
    load_outer(w, "x");
    if (w->t.resident != RESIDENT_NONE)
      emit_endloop(e);
  }
  if (!inner)
    return;
  if (w->mm->bias || w->mm->scale == SCALE_COLUMNS) {
    emit_loop(e, "new", "kx==0");
    load_rows(w, "x");
    emit_endloop(e);
  }
  load_inner(w, "kx", emit_text(e, "ix*%llu+kx/%llu", (ull)w->t.turns, (ull)w->t.inner_k), "x");
}

/* A turn: first the copies that have to be there for the next one. */
static void turn(const struct writer *w) {
  struct emit *e = w->e;
  const struct matmul_tiling *t = &w->t;
  bool late = t->outer_slots == 1;
  /* Copies that wait for room must not keep the loads that make it out of the scalar unit's way. */
  bool last = late && matmul_many_copies(w, t->a_outer);
  emit_let(e, "ku", "k+u*%llu", (ull)t->inner_k);
  emit_let(e, "du", "min(%llu,%s-ku)", (ull)t->inner_k, matmul_depth(w, ""));
  emit_let(e, "turn", "i*%llu+ku/%llu", (ull)t->turns, (ull)t->inner_k);
  emit_let(e, t->a_outer ? "db" : "da", "du");
  if (t->outer_k > t->inner_k) {
    emit_loop(e, "ahead", "u+1<turns");
    load_inner(w, emit_text(e, "(ku+%llu)", (ull)t->inner_k), "turn+1", "");
    emit_endloop(e);
  }
  if (!late) {
    emit_loop(e, "outer", "more*(u==0)");
    load_next(w, true, false);
    emit_endloop(e);
  }
  emit_loop(e, "next", "more*(u+1==turns)");
  load_next(w, late && !last, true);
  emit_endloop(e);
  begin_block(w);
  emit_loop(e, "filled", "fresh*(u==0)");
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "o%%%llu", (ull)t->outer_slots);
  emit_endloop(e);
  emit_wait_flag(e, PIPE_MTE2, PIPE_MTE1, "%d+turn%%2", FLAG_INNER);
  matmul_steps(w);
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "%d+turn%%2", FLAG_INNER);
  emit_loop(e, "done", "last*(u+1==turns)");
  emit_set_flag(e, PIPE_MTE1, PIPE_MTE2, "o%%%llu", (ull)t->outer_slots);
  emit_endloop(e);
  if (last) {
    emit_loop(e, "room", "more*(u+1==turns)");
    load_next(w, true, false);
    emit_endloop(e);
  }
  matmul_store(w);
}

static void share_of_core(const struct writer *w) {
  struct emit *e = w->e;
  ull total = w->t.blocks_total, cores = w->t.cores;
  if (w->t.resident == RESIDENT_NONE) {
    emit_comment(e, "Blocks blk, blk + %llu, ... of %llu, %llu rows of blocks at a time.", cores,
                 total, (ull)w->t.band);
    emit_let(e, "groups", "(%llu-blk)/%llu*%llu", total + cores - 1, cores, (ull)w->t.groups);
    return;
  }
  emit_comment(e, "A run of the %llu blocks, so that %s stays in L1.", total,
               w->t.resident == RESIDENT_A ? "a panel of a" : "a panel of b");
  emit_let(e, "first", "blk*%llu/%llu", total, cores);
  emit_let(e, "groups", "(blk+1)*%llu/%llu-first", total, cores);
}

void matmul_emit(const struct lower_job *job, struct emit *e) {
  struct writer w = {.e = e, .mm = job->data};
  struct lower_job copy = *job;
  if (!matmul_tiling(&copy, &w.t))
    vinci_bug("matmul: %s", copy.reason);
  const struct matmul_tiling *t = &w.t;
  header(&w);
  share_of_core(&w);
  free_flags(&w, true);
  matmul_scale(&w);
  emit_comment(e, "The first panels.");
  emit_loop(e, "start", t->split > 1 ? "groups>0" : "1");
  group_lets(&w, "0", "");
  load_outer(&w, "");
  load_rows(&w, "");
  load_inner(&w, "k", "0", "");
  emit_endloop(e);
  emit_loop(e, "g", "groups");
  group_lets(&w, "g", "");
  emit_let(e, "more", "g+1<groups");
  group_lets(&w, "g+more", "x");
  ull run = t->resident == RESIDENT_A ? t->nt : t->mt;
  if (t->resident == RESIDENT_NONE) {
    emit_let(e, "fresh", "1");
    emit_let(e, "last", "1");
  } else {
    emit_let(e, "fresh", "max(t==first,t%%%llu==0)", run);
    emit_let(e, "last", "max(more==0,ox>o)");
  }
  const char *depth = matmul_depth(&w, "");
  emit_let(e, t->a_outer ? "da" : "db", "min(%llu,%s-k)", (ull)t->outer_k, depth);
  emit_let(e, "turns", "(min(%llu,%s-k)+%llu)/%llu", (ull)t->outer_k, depth, (ull)t->inner_k - 1,
           (ull)t->inner_k);
  emit_loop(e, "u", "turns");
  turn(&w);
  emit_endloop(e);
  emit_endloop(e);
  emit_comment(e, "Nothing stays set.");
  free_flags(&w, false);
  if (t->split > 1)
    matmul_split_sum(&w);
}
