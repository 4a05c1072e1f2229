/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first and the last kernel of flash_attention_grad, on vector cores: sums are cleared and
 * delta computed; sums are scaled and converted. Both walk slices of rows of one head.
 *
 * Flags: MTE3 to MTE2 free, MTE2 to V filled, V to MTE3 computed, of two buffers.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/attention/grad.h"
#include "traces/lower/estimate.h"

enum {
  HALF_BYTES = 2,
  WORD_BYTES = 4,
  CLEAR_BYTES = 16384,
  ROWS_MAX = 64,
  ROW_BYTES = 32,
  ROW_UNIT = 8
};

/* Two buffers of three operands in single precision, and what reductions need of each row. */
static uint64_t row_bytes(uint64_t depth) {
  return (depth * 3 * ATTENTION_PAIR + VROW_LANES + 1) * WORD_BYTES;
}

uint64_t attention_grad_slice(const struct vinci_soc *soc, uint64_t depth) {
  uint64_t ub = vtile_ub_bytes(soc),
           fits = ub > CLEAR_BYTES ? (ub - CLEAR_BYTES) / row_bytes(depth) : 0;
  return min_u64(fits / ROW_UNIT * ROW_UNIT, ROWS_MAX);
}

/* ---- cores ---- */

/* How the cores share a kernel: slices of so many rows, and what it takes, the launch included. */
struct share {
  uint64_t slice, cores, cycles;
};

static uint64_t path_cycles(const struct path_cost *path, uint64_t bytes) {
  return (uint64_t)path->startup_mcycles / MILLI + bytes * MILLI / (uint64_t)path->mbytes_per_cycle;
}

/* Of a slice: its pace, and what the first one takes beside that. */
struct pace {
  uint64_t cycles, fill;
};

/* Instructions of a slice wait for each other; its copies overlap those of the next one. */
static struct pace slice_pace(const struct vinci_soc *soc, uint64_t elements, uint64_t instructions,
                              uint64_t passes, uint64_t in_bytes, uint64_t out_bytes) {
  uint64_t start = (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles / MILLI;
  uint64_t vector = instructions * start + passes * elements / VROW_LANES;
  uint64_t in = path_cycles(&soc->path[PATH_GM_UB], in_bytes * elements);
  uint64_t out = path_cycles(&soc->path[PATH_UB_GM], out_bytes * elements);
  uint64_t cycles = max_u64(vector, max_u64(in, out));
  return (struct pace){.cycles = cycles, .fill = vector + in + out - cycles};
}

/* Pieces of so many cycles each, behind what every core does first. */
static struct share share_of(const struct vinci_soc *soc, uint64_t slice, uint64_t pieces,
                             uint64_t cycles, uint64_t first) {
  uint64_t cores = soc_core_count(soc, CORE_AIV);
  return (struct share){.slice = slice,
                        .cores = launch_cores(soc, cores, pieces, cycles),
                        .cycles = launch_work_cycles(soc, cores, pieces, cycles) + first};
}

static struct share first_share(const struct vinci_soc *soc, const struct attention *at,
                                uint64_t depth, uint64_t slice) {
  const uint64_t instructions = 12, passes = 6;
  uint64_t heads = at->batch * at->heads, row = at->depth * WORD_BYTES;
  uint64_t chunks = ceil_div(heads * at->rows * row, CLEAR_BYTES) +
                    2 * ceil_div(heads / at->group * at->keys * row, CLEAR_BYTES);
  uint64_t slices = heads * ceil_div(at->rows, slice);
  uint64_t clear = CLEAR_BYTES * MILLI / (uint64_t)soc->path[PATH_UB_GM].mbytes_per_cycle;
  struct pace delta = slice_pace(soc, slice * depth, instructions, passes, 2 * HALF_BYTES, 0);
  return share_of(soc, slice, chunks + slices,
                  (chunks * clear + slices * delta.cycles) / (chunks + slices),
                  delta.fill + (CLEAR_BYTES + slice * row_bytes(depth)) / REPEAT_BYTES);
}

static struct share last_share(const struct vinci_soc *soc, const struct attention *at,
                               uint64_t depth, uint64_t slice) {
  const uint64_t instructions = 3, passes = 2;
  uint64_t heads = at->batch * at->heads;
  uint64_t slices =
      heads * ceil_div(at->rows, slice) + 2 * (heads / at->group) * ceil_div(at->keys, slice);
  struct pace pace = slice_pace(soc, slice * depth, instructions, passes, WORD_BYTES, HALF_BYTES);
  return share_of(soc, slice, slices, pace.cycles,
                  pace.fill + ATTENTION_PAIR * slice * depth * WORD_BYTES / REPEAT_BYTES);
}

/* Few rows are shared out in smaller slices than UB would take. */
static struct share best_share(const struct vinci_soc *soc, const struct attention *at,
                               uint64_t depth, bool first) {
  struct share (*share)(const struct vinci_soc *, const struct attention *, uint64_t, uint64_t) =
      first ? first_share : last_share;
  uint64_t most = attention_grad_slice(soc, depth);
  struct share best = share(soc, at, depth, ROW_UNIT);
  for (uint64_t slice = 2 * ROW_UNIT; slice <= most; slice += ROW_UNIT) {
    struct share next = share(soc, at, depth, slice);
    if (next.cycles < best.cycles)
      best = next;
  }
  return best;
}

uint64_t attention_grad_end_cycles(const struct vinci_soc *soc, const struct attention *at,
                                   uint64_t depth) {
  return best_share(soc, at, depth, true).cycles + best_share(soc, at, depth, false).cycles;
}

/* ---- slices ---- */

/* Opens the loop over slices of `heads` x `rows`: head z, rows r0 on, rr of them, half of UB. */
static void open_slices(const struct attention_writer *w, const char *name, ull heads, ull rows,
                        const struct share *share) {
  struct emit *e = w->e;
  ull slice = share->slice, parts = ceil_div(rows, slice), cores = share->cores;
  emit_loop(e, emit_text(e, "i_%s", name), "(%llu-blk)/%llu", heads * parts + cores - 1, cores);
  emit_let(e, "u", "i_%s*%llu+blk", name, cores);
  emit_let(e, "z", "u/%llu", parts);
  emit_let(e, "r0", "u%%%llu*%llu", parts, slice);
  emit_let(e, "rr", "min(%llu,%llu-r0)", slice, rows);
  emit_let(e, "half", "i_%s%%2", name);
  emit_wait_flag(e, PIPE_MTE3, PIPE_MTE2, "half");
}

static void loaded(struct emit *e) {
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "half");
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "half");
}

static void computed(struct emit *e) {
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "half");
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "half");
}

static void close_slices(struct emit *e) {
  emit_set_flag(e, PIPE_MTE3, PIPE_MTE2, "half");
  emit_endloop(e);
}

static void free_flags(struct emit *e, bool set) {
  void (*flag)(struct emit *, enum pipe, enum pipe, const char *, ...) =
      set ? emit_set_flag : emit_wait_flag;
  const char *at = set ? "first" : "last";
  emit_loop(e, at, "%d", ATTENTION_PAIR);
  flag(e, PIPE_MTE3, PIPE_MTE2, "%s", at);
  emit_endloop(e);
}

/* Elements before row r0 of head z of a tensor of the operator's layout. */
static const char *row_at(const struct attention_writer *w, const struct attention_strides *strides,
                          ull heads) {
  return emit_text(w->e, "(z/%llu*%llu+z%%%llu*%llu+r0*%llu)*%d", heads, (ull)strides->batch, heads,
                   (ull)strides->head, (ull)strides->row, HALF_BYTES);
}

/* ---- first ---- */

/* Zeros lie at the start of UB. */
static void clear_sum(const struct attention_writer *w, const char *name, ull bytes, ull cores) {
  struct emit *e = w->e;
  emit_loop(e, emit_text(e, "i_%s", name), "(%llu-blk)/%llu",
            ceil_div(bytes, CLEAR_BYTES) + cores - 1, cores);
  emit_let(e, "at", "(i_%s*%llu+blk)*%d", name, cores, CLEAR_BYTES);
  emit_row(e, "copy_ubuf_to_gm_align_b32,dst=%s+at,src=0,len_burst=min(%d,%llu-at)", name,
           CLEAR_BYTES, bytes);
  emit_endloop(e);
}

static void load_pair(const struct attention_writer *w, ull second) {
  static const char *const names[] = {"dy", "o"};
  const struct attention *at = w->at;
  ull row = at->depth * HALF_BYTES;
  for (unsigned i = 0; i < 2; i++)
    emit_row(w->e,
             "copy_gm_to_ubuf_align_b16,dst=tile+%llu,src=%s+%s,n_burst=rr,len_burst=%llu,"
             "right_pad=%llu,src_gap=%llu,dst_gap=%llu",
             i * second, names[i], row_at(w, &at->q, at->heads), row,
             (BLOCK_BYTES - row % BLOCK_BYTES) % BLOCK_BYTES / HALF_BYTES,
             (ull)(at->q.row - at->depth) * HALF_BYTES,
             (ull)(w->t.depth * HALF_BYTES / BLOCK_BYTES - ceil_div(row, BLOCK_BYTES)));
}

/* Sums of rows of dY * O, eight times each. */
static void put_delta(const struct attention_writer *w, const struct share *share) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull slice = share->slice, floats = slice * w->t.depth * WORD_BYTES;
  ull buffer = floats * 3, narrow = floats / 2;
  ull column = CLEAR_BYTES + ATTENTION_PAIR * buffer;
  const char *widen = vconvert_inst(e->soc, at->type, DTYPE_FP32);
  open_slices(w, "delta", at->batch * at->heads, at->rows, share);
  emit_let(e, "tile", "%d+half*%llu", CLEAR_BYTES, buffer);
  load_pair(w, narrow);
  loaded(e);
  struct vrows rows = {.machine = {.emit = e, .type = DTYPE_FP32, .written = (1u << VREGS) - 1},
                       .rows = "rr",
                       .cols = at->depth,
                       .pitch = w->t.depth};
  const char *one = emit_text(e, "(tile+%llu)", floats),
             *two = emit_text(e, "(tile+%llu)", 2 * floats);
  vrow_all(&rows);
  vmachine_order(&rows.machine, 0, 1u << X0 | 1u << X1);
  emit_row(e, "%s,dst=%s,src=tile,repeat=1", widen, one);
  emit_row(e, "%s,dst=%s,src=tile+%llu,repeat=1", widen, two, narrow);
  vmachine_order(&rows.machine, 1u << X0 | 1u << X1, 1u << X0);
  emit_row(e, "vmul,dst=%s,src0=%s,src1=%s,repeat=1,type=fp32", one, one, two);
  rows.accumulator = column + slice * WORD_BYTES;
  vrow_reduce(&rows, VROW_SUM, T1, emit_text(e, "%llu", column), X0, one);
  vrow_column(&rows);
  vmachine_order(&rows.machine, 1u << T1, 1u << X1);
  emit_row(e, "vbrcb,dst=tile,src=%llu,repeat=(rr+7)/8,type=uint32", column);
  vmachine_rest(&rows.machine);
  computed(e);
  emit_row(e, "copy_ubuf_to_gm,dst=delta+(z*%llu+r0)*%d,src=tile,len_burst=rr", (ull)at->rows,
           ROW_BYTES);
  close_slices(e);
}

/* What is padding is read, too. */
static void clear_ub(struct emit *e, ull bytes) {
  emit_row(e, "set_mask_count");
  emit_row(e, "set_vector_mask,high=0,low=%llu", bytes / WORD_BYTES);
  emit_row(e, "vector_dup,dst=0,scalar=0,repeat=1,type=fp32");
  emit_barrier(e, PIPE_ALL);
}

void attention_grad_first(const struct attention_writer *w, const struct lower_job *job) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull depth = at->depth * WORD_BYTES, heads = at->batch * at->heads;
  struct share share = best_share(e->soc, at, w->t.depth, true);
  emit_kernel(e, "flash_attention_grad_start", (uint32_t)share.cores);
  attention_tensor(job, e, "dy", at->heads, at->rows, TENSOR_IN);
  attention_tensor(job, e, "o", at->heads, at->rows, TENSOR_IN);
  attention_grad_workspace(w);
  emit_buffer(e, "ub", SPACE_UB, vtile_ub_bytes(e->soc));
  emit_stream(e, CORE_AIV);
  clear_ub(e, CLEAR_BYTES + share.slice * row_bytes(w->t.depth));
  clear_sum(w, "dq_sum", heads * at->rows * depth, share.cores);
  clear_sum(w, "dk_sum", heads / at->group * at->keys * depth, share.cores);
  clear_sum(w, "dv_sum", heads / at->group * at->keys * depth, share.cores);
  free_flags(e, true);
  put_delta(w, &share);
  free_flags(e, false);
}

/* ---- last ---- */

static void put_result(const struct attention_writer *w, const char *name,
                       const struct attention_strides *strides, ull heads, ull rows, double scale,
                       const struct share *share) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull floats = share->slice * w->t.depth * WORD_BYTES, row = at->depth * HALF_BYTES;
  ull gap = w->t.depth * HALF_BYTES / BLOCK_BYTES - ceil_div(row, BLOCK_BYTES);
  open_slices(w, name, at->batch * heads, rows, share);
  emit_let(e, "tile", "half*%llu", floats);
  emit_row(e,
           "copy_gm_to_ubuf_align_b32,dst=tile,src=%s_sum+(z*%llu+r0)*%llu,n_burst=rr,"
           "len_burst=%llu,right_pad=%llu,dst_gap=%llu",
           name, rows, 2 * row, 2 * row, (BLOCK_BYTES - 2 * row % BLOCK_BYTES) % BLOCK_BYTES / 4,
           (ull)(w->t.depth * WORD_BYTES / BLOCK_BYTES - ceil_div(2 * row, BLOCK_BYTES)));
  loaded(e);
  emit_row(e, "set_vector_mask,high=0,low=rr*%llu", (ull)w->t.depth);
  if (scale != 1) {
    emit_row(e, "vmuls,dst=tile,src=tile,scalar=%lld,repeat=1,type=fp32",
             vscalar_bits(DTYPE_FP32, scale));
    emit_barrier(e, PIPE_V);
  }
  emit_row(e, "%s,dst=tile,src=tile,repeat=1", vconvert_inst(e->soc, DTYPE_FP32, at->type));
  computed(e);
  emit_row(e,
           "copy_ubuf_to_gm_align_b16,dst=%s+%s,src=tile,n_burst=rr,len_burst=%llu,src_gap=%llu,"
           "dst_gap=%llu",
           name, row_at(w, strides, heads), row, gap, (ull)(strides->row - at->depth) * HALF_BYTES);
  close_slices(e);
}

void attention_grad_last(const struct attention_writer *w, const struct lower_job *job) {
  struct emit *e = w->e;
  const struct attention *at = w->at;
  ull kv_heads = at->heads / at->group;
  struct share share = best_share(e->soc, at, w->t.depth, false);
  emit_kernel(e, "flash_attention_grad_end", (uint32_t)share.cores);
  attention_grad_workspace(w);
  attention_tensor(job, e, "dq", at->heads, at->rows, TENSOR_OUT);
  attention_tensor(job, e, "dk", kv_heads, at->keys, TENSOR_OUT);
  attention_tensor(job, e, "dv", kv_heads, at->keys, TENSOR_OUT);
  emit_buffer(e, "ub", SPACE_UB, vtile_ub_bytes(e->soc));
  emit_stream(e, CORE_AIV);
  clear_ub(e, ATTENTION_PAIR * share.slice * w->t.depth * WORD_BYTES);
  free_flags(e, true);
  put_result(w, "dq", &at->q, at->heads, at->rows, at->scale, &share);
  put_result(w, "dk", &at->kv, kv_heads, at->keys, at->scale, &share);
  put_result(w, "dv", &at->kv, kv_heads, at->keys, 1, &share);
  free_flags(e, false);
}
