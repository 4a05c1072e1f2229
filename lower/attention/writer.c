/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traces of flash_attention and its gradient: headers, tasks and steps. Names that end in x
 * belong to the step after the present one, maybe of the next task.
 */
#include "lower/attention/writer.h"

#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"

/* ---- names and addresses ---- */

struct expr fa_let(struct writer *w, struct place *p, const char *name, struct expr value) {
  char text[16];
  snprintf(text, sizeof text, "%s%s", name, p->suffix);
  return emit_assigned(w->e, text, value);
}

void fa_tensor(struct writer *w, const char *name, bool as_keys, enum tensor_io io) {
  const struct lower_value *value = w->job->value;
  bool grouped = as_keys && value[ATTENTION_KV_HEADS].present;
  uint64_t batch = value[ATTENTION_BATCH].size;
  bool wide = strcmp(name, "q") == 0 || strcmp(name, "k") == 0;
  uint64_t depth = wide ? w->at->depth_k : w->at->depth;
  uint64_t heads = value[grouped ? ATTENTION_KV_HEADS : ATTENTION_HEADS].size;
  uint64_t rows = as_keys ? w->at->keys : value[ATTENTION_SEQ_Q].size;
  const uint64_t shapes[][4] = {[LAYOUT_BNSD] = {batch, heads, rows, depth},
                                [LAYOUT_BSND] = {batch, rows, heads, depth},
                                [LAYOUT_BSH] = {batch, rows, heads * depth},
                                [LAYOUT_SBH] = {rows, batch, heads * depth}};
  unsigned layout = value[ATTENTION_LAYOUT].word;
  emit_tensor(w->e, name, w->at->type, io, shapes[layout],
              layout == LAYOUT_BNSD || layout == LAYOUT_BSND ? 4 : 3, NULL);
}

void fa_workspace(struct writer *w, const char *name, enum dtype dtype, uint64_t extent0,
                  uint64_t extent1, uint64_t extent2) {
  const uint64_t shape[3] = {extent0, extent1, extent2};
  emit_tensor(w->e, name, dtype, TENSOR_WORKSPACE, shape, 3, NULL);
}

struct expr fa_row(struct writer *w, const char *tensor, const struct attention_strides *strides,
                   uint64_t heads, uint64_t group, struct expr z, struct expr row) {
  struct expr batch = x_mul(x_div(z, heads), strides->batch);
  struct expr head = x_mul(x_div(x_mod(z, heads), group), strides->head);
  struct expr elements = x_add(x_add(batch, head), x_mul(row, strides->row));
  return x_slot(w->e, tensor, elements, HALF_BYTES);
}

struct expr fa_number(struct writer *w, const char *tensor, uint64_t rows, struct expr z,
                      struct expr row, uint64_t bytes) {
  return x_slot(w->e, tensor, x_add(x_mul(z, rows), row), bytes);
}

/* ---- tasks and steps ---- */

/* Tasks of the cores before a number of cores. */
static struct expr tasks_before(struct writer *w, struct expr cores_before) {
  uint64_t first = 0, keys = 0;
  struct expr before = EXPR(0);
  for (uint64_t core = 0; core < w->t.cores; core++) {
    uint64_t tasks = attention_range(w->at, &w->t, first, w->t.cores - core, &keys);
    before = x_add(before, x_mul(tasks, x_lt(core, cores_before)));
    first += tasks;
  }
  return before;
}

/* Rounds of all cores, in turn forwards and backwards, and the rest for the last round; or a range
 * for each core. */
void fa_count_tasks(struct writer *w) {
  uint64_t cores = w->t.cores, rounds = w->t.tasks / cores, rest = w->t.tasks % cores;
  if (attention_ranges(w->at) && !w->at->causal) {
    w->first = emit_assigned(w->e, "task0", x_add(x_mul(w->blk, rounds), x_min(w->blk, rest)));
    w->tasks = emit_assigned(w->e, "tasks", x_add(rounds, x_lt(w->blk, rest)));
    return;
  }
  if (attention_ranges(w->at)) {
    w->first = emit_assigned(w->e, "task0", tasks_before(w, w->blk));
    w->tasks = emit_assigned(w->e, "tasks", x_sub(tasks_before(w, x_add(w->blk, 1)), w->first));
    return;
  }
  struct expr turn = rounds % 2 ? x_sub(cores - 1, w->blk) : w->blk;
  w->tasks = emit_assigned(w->e, "tasks", x_add(rounds, x_lt(turn, rest)));
}

/* Behind the last key that a row of the task sees, in its part of the keys. */
static struct expr limit_of(struct writer *w, struct place *p) {
  const struct attention *at = w->at;
  struct expr rows = x_add(p->row, p->rows);
  uint64_t more = at->keys - at->rows, cols = w->t.cols;
  if (at->causal && w->t.diagonal == DIAGONAL_WHOLE)
    return x_min(at->keys, x_mul(x_div(x_add(rows, more + cols - 1), cols), cols));
  if (at->causal)
    return x_add(rows, more);
  if (w->t.splits == 1)
    return p->length;
  struct expr end = x_min(p->length, x_mul(x_add(p->piece, 1), w->t.part));
  return x_is_number(p->live) ? end : x_max(1, x_mul(end, p->live));
}

/* The first key of a task: of its part, or of the step in which the window of its first row begins.
 */
static struct expr base_of(struct writer *w, struct place *p) {
  const struct attention *at = w->at;
  if (at->window == 0)
    return x_mul(x_mul(p->piece, w->t.part), p->live);
  struct expr end = at->causal ? x_add(p->row, at->keys - at->rows + 1) : p->length;
  struct expr low = x_max(0, x_sub(end, at->window));
  return fa_let(w, p, "base", x_mul(x_div(low, w->t.cols), w->t.cols));
}

struct expr fa_task_number(struct writer *w, struct place *p, struct expr i) {
  if (attention_ranges(w->at))
    return x_add(w->first, i);
  struct expr back = x_mul(p->odd, x_sub(w->t.cores - 1, x_mul(2, w->blk)));
  return x_add(x_add(x_mul(i, w->t.cores), w->blk), back);
}

/* Task `i` of this block. Where blocks take turns and a causal mask makes the last rows of heads
 * the longest tasks, those come first. */
void fa_task(struct writer *w, struct place *p, struct expr i) {
  const struct attention_tiling *t = &w->t;
  uint64_t heads = w->at->batch * w->at->heads, blocks = t->row_blocks;
  bool longest_first = w->at->causal && !attention_ranges(w->at), splits = t->splits > 1;
  p->index = i;
  p->odd = fa_let(w, p, "odd", x_mod(i, 2));
  struct expr u = fa_let(w, p, splits ? "turn" : "u", fa_task_number(w, p, i));
  p->piece = EXPR(0);
  if (splits) {
    struct expr turn = u;
    u = fa_let(w, p, "u", x_div(turn, t->splits));
    p->piece = fa_let(w, p, "piece", x_mod(turn, t->splits));
  }
  struct expr block = longest_first ? x_sub(blocks - 1, x_div(u, heads)) : x_mod(u, blocks);
  p->z = fa_let(w, p, "z", longest_first ? x_mod(u, heads) : x_div(u, blocks));
  p->row = fa_let(w, p, "row", x_mul(block, t->rows));
  p->rows = fa_let(w, p, "cm", x_min(t->rows, x_sub(w->at->rows, p->row)));
  p->length = fa_length(w, p);
  p->live = EXPR(1);
  if (splits && !x_is_number(p->length))
    p->live = fa_let(w, p, "live", x_lt(x_mul(p->piece, t->part), p->length));
  p->limit = fa_let(w, p, "limit", limit_of(w, p));
  p->base = base_of(w, p);
  p->steps = fa_let(w, p, "steps", x_ceil_div(x_sub(p->limit, p->base), t->cols));
}

void fa_step(struct writer *w, struct place *p, struct expr step) {
  p->step = step;
  p->key = fa_let(w, p, "key", x_add(p->base, x_mul(step, w->t.cols)));
  p->keys = fa_let(w, p, "cc", x_min(w->t.cols, x_sub(p->limit, p->key)));
  struct expr slot = x_add(x_mul(w->blk, ATTENTION_SLOTS), x_mul(p->odd, 2));
  p->slot = fa_let(w, p, "slot", x_add(slot, x_mod(step, 2)));
}

/* The step after step s of task i of this block. */
static struct expr put_next(struct writer *w, struct expr i, struct expr s) {
  struct expr after = x_add(s, 1), task = x_add(i, 1);
  struct expr same = emit_assigned(w->e, "same", x_lt(after, w->here.steps));
  struct expr more = emit_assigned(w->e, "more", x_max(same, x_lt(task, w->tasks)));
  struct expr ix = emit_assigned(w->e, "ix", x_min(x_sub(w->tasks, 1), x_sub(task, same)));
  struct expr sx = emit_assigned(w->e, "sx", x_mul(after, same));
  fa_task(w, &w->next, ix);
  fa_step(w, &w->next, sx);
  return more;
}

void fa_stream(struct writer *w, const char *comment, void (*flags)(struct writer *w, bool set),
               fa_put *put_first, void (*put_step)(struct writer *w, struct expr more)) {
  struct emit *e = w->e;
  flags(w, true);
  emit_comment(e, "%s", comment);
  emit_for(e, "start", 1);
  fa_task(w, &w->next, EXPR(0));
  struct expr sx = emit_assigned(e, "sx", EXPR(0));
  fa_step(w, &w->next, EXPR(0));
  w->next.step = sx;
  put_first(w);
  emit_end(e);
  struct expr i = emit_for(e, "i", w->tasks);
  fa_task(w, &w->here, i);
  struct expr s = emit_for(e, "s", w->here.steps);
  fa_step(w, &w->here, s);
  put_step(w, put_next(w, i, s));
  emit_end(e);
  emit_end(e);
  emit_comment(e, "Nothing stays set.");
  flags(w, false);
}

void fa_signal(struct emit *e, enum pipe pipe, unsigned id) {
  EMIT(e, "ffts_cross_core_sync", W("pipe", pipe_name(pipe)), F("mode", 2), F("id", id));
}

void fa_await(struct emit *e, unsigned id) { EMIT(e, "wait_flag_dev", F("id", id)); }

/* ---- vector cores ---- */

void fa_copy_rows(struct writer *w, bool out, const char *tensor,
                  const struct attention_strides *strides, uint64_t heads, struct expr row,
                  struct expr ub) {
  uint64_t depth = w->at->depth, unit = BLOCK_BYTES / HALF_BYTES;
  uint64_t gm_gap = (strides->row - depth) * HALF_BYTES;
  uint64_t ub_gap = w->t.depth / unit - ceil_div(depth, unit);
  struct expr gm = fa_row(w, tensor, strides, heads, 1, w->here.z, row);
  EMIT(w->e, out ? "copy_ubuf_to_gm_align_b16" : "copy_gm_to_ubuf_align_b16",
       F("dst", out ? gm : ub), F("src", out ? ub : gm), F("n_burst", w->rr),
       F("len_burst", depth * HALF_BYTES), F_IF(!out, "right_pad", x_pad(depth, unit)),
       F("src_gap", out ? ub_gap : gm_gap), F("dst_gap", out ? gm_gap : ub_gap));
}

void fa_load_values(struct writer *w, struct expr dst, struct expr src, struct expr rows) {
  uint64_t depth = w->at->depth;
  EMIT(w->e, "copy_gm_to_ubuf_align_b32", F("dst", dst), F("src", src), F("n_burst", rows),
       F("len_burst", depth * WORD_BYTES), F("right_pad", x_pad(depth, BLOCK_WORDS)),
       F("dst_gap", w->t.depth / BLOCK_WORDS - ceil_div(depth, BLOCK_WORDS)));
}

void fa_rows_op(struct writer *w, const char *inst, struct expr dst, struct expr dst_stride,
                struct expr src, uint64_t src_stride, bool spread) {
  EMIT(w->e, inst, F("dst", dst), F("src0", dst), F("src1", src), F("repeat", w->rr),
       F("dst_repeat", dst_stride), F("src0_repeat", dst_stride), F_IF(spread, "src1_block", 0),
       F("src1_repeat", src_stride), W("type", "fp32"));
}

void fa_zero(struct emit *e, uint64_t address, uint64_t bytes) {
  EMIT(e, "set_vector_mask", F("high", 0), F("low", bytes / WORD_BYTES));
  EMIT(e, "vector_dup", F("dst", address), F("scalar", 0), F("repeat", 1), W("type", "fp32"));
}

void fa_convert(struct writer *w, struct vunit *unit, unsigned dst, unsigned src) {
  vunit_convert(unit, V(src), V(dst), DTYPE_FP32, w->at->type, unit->reg[dst], unit->reg[src]);
}

/* ---- the kernels ---- */

static void put_tensors(struct writer *w) {
  const struct attention *at = w->at;
  const struct lower_value *value = w->job->value;
  const uint64_t numbers[4] = {value[ATTENTION_BATCH].size, value[ATTENTION_HEADS].size,
                               value[ATTENTION_SEQ_Q].size, BLOCK_WORDS};
  fa_tensor(w, "q", false, TENSOR_IN);
  if (at->paged) {
    fa_page_tensors(w);
  } else {
    fa_tensor(w, "k", true, TENSOR_IN);
    fa_tensor(w, "v", true, TENSOR_IN);
  }
  if (at->masked)
    emit_tensor(w->e, "mask", DTYPE_UINT8, TENSOR_IN, (const uint64_t[]){at->queries, at->keys}, 2,
                NULL);
  if (w->t.splits > 1)
    fa_parts_workspace(w);
  else
    fa_tensor(w, at->gradient ? "dy" : "o", false, at->gradient ? TENSOR_IN : TENSOR_OUT);
  for (unsigned i = 0; i < 2 && (at->gradient || at->statistics); i++)
    emit_tensor(w->e, i ? "row_sum" : "row_max", DTYPE_FP32, at->gradient ? TENSOR_IN : TENSOR_OUT,
                numbers, 4, NULL);
  if (!at->gradient)
    return;
  fa_grad_workspace(w);
  if (at->coupled) {
    fa_tensor(w, "dk", true, TENSOR_OUT);
    fa_tensor(w, "dv", true, TENSOR_OUT);
  }
}

/* What the cores of a block hand each other. */
static void put_slots(struct writer *w) {
  const struct attention_tiling *t = &w->t;
  uint64_t slots = t->cores * ATTENTION_SLOTS;
  bool gradient = w->at->gradient;
  fa_workspace(w, "scores", DTYPE_FP32, slots, t->rows, t->cols);
  if (gradient)
    fa_workspace(w, "products", DTYPE_FP32, slots, t->rows, t->cols);
  fa_workspace(w, "probs", w->at->type, slots, t->rows, t->cols);
  if (gradient)
    fa_workspace(w, "ds", w->at->type, slots, t->rows, t->cols);
  else
    fa_workspace(w, "partial", DTYPE_FP32, slots, t->rows, w->at->depth);
  if (w->at->carried)
    fa_workspace(w, "carried", DTYPE_FP32, t->cores * ATTENTION_VECTORS, t->half, t->depth);
}

void attention_emit(const struct lower_job *job, struct emit *e) {
  struct writer w = {.e = e,
                     .job = job,
                     .at = job->data,
                     .blk = x_name(e, "blk"),
                     .here = {.suffix = ""},
                     .next = {.suffix = "x"}};
  struct lower_job copy = *job;
  bool gradient = w.at->gradient;
  if (!attention_tiling(&copy, &w.t))
    vinci_bug("%s: %s", job->op->name, copy.reason);
  if (w.at->coupled && !gradient) {
    emit_kernel(e, job->op->name, (uint32_t)w.t.cores);
    put_tensors(&w);
    fa_coupled_stream(&w);
    return;
  }
  if (gradient)
    fa_grad_first(&w);
  if (w.at->coupled) {
    emit_kernel(e, job->op->name, (uint32_t)w.t.cores);
    put_tensors(&w);
    fa_coupled_grad_stream(&w);
    fa_grad_last(&w);
    return;
  }
  emit_mixed_kernel(e, job->op->name, (uint32_t)w.t.cores, ATTENTION_VECTORS);
  put_tensors(&w);
  put_slots(&w);
  fa_cube_stream(&w);
  fa_vector_stream(&w);
  if (gradient)
    fa_grad_last(&w);
  else if (w.t.splits > 1)
    fa_join(&w);
}
