/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul with k in parts that cores compute side by side: each part leaves its sums in fp32 (int32)
 * in a workspace, all cores meet, and the vector cores add the parts up and convert them. Rows of
 * the result are one run of elements for that.
 */
#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "traces/lower/cube/matmul_writer.h"
#include "traces/lower/vector/program.h"
#include "traces/lower/vector/tiles.h"

enum { FLAG_PARTS_STORED = 0, FLAG_ALL_STORED = 1, VECTORS_MAX = 2 };

/* A run of elements of the result, and its share of the vector cores. */
struct sum {
  uint64_t elements;
  unsigned vectors; /* of a block */
  uint64_t workers;
  uint64_t tile; /* elements */
  uint64_t turns;
};

static struct sum sum_of(const struct vinci_soc *soc, const struct matmul *mm,
                         const struct matmul_tiling *t) {
  uint64_t cubes = soc_core_count(soc, emit_cube_core(soc));
  uint64_t vectors = min_u64(soc_core_count(soc, emit_vector_core(soc)) / cubes, VECTORS_MAX);
  struct sum sum = {.elements = mm->batch * mm->m * mm->n, .vectors = (unsigned)vectors};
  uint64_t unit = REPEAT_BYTES / ACCUMULATOR_BYTES;
  uint64_t room = vtile_ub_bytes(soc) / (t->split * ACCUMULATOR_BYTES + mm->out_bytes);
  sum.workers = cubes * vectors;
  uint64_t share = round_up(ceil_div(sum.elements, sum.workers), unit);
  sum.tile = max_u64(unit, min_u64(share, room / unit * unit));
  sum.turns = ceil_div(ceil_div(sum.elements, sum.tile), sum.workers);
  return sum;
}

bool matmul_split_fits(struct lower_job *job, const struct matmul_tiling *t) {
  const struct matmul *mm = job->data;
  const struct vinci_soc *soc = job->soc;
  uint64_t cubes = soc_core_count(soc, emit_cube_core(soc));
  const char *reason = mm->conv                       ? "a convolution"
                       : mm->nz_c                     ? "a result in NZ"
                       : mm->scale != SCALE_NONE      ? "a result that scales convert"
                       : t->resident != RESIDENT_NONE ? "a resident operand"
                                                      : NULL;
  if (reason)
    return lower_refuse(job, "k cannot be split for %s", reason);
  if (emit_cube_core(soc) == emit_vector_core(soc) || soc->cross_core_ids <= FLAG_ALL_STORED ||
      soc_core_count(soc, emit_vector_core(soc)) < cubes)
    return lower_refuse(job, "%s has no vector cores that could add up parts of k", soc->name);
  if (t->cores != cubes)
    return lower_refuse(job, "parts of k need all cores, which meet before they are added up");
  /* Of chips with other numbers of cores than are built. */
  uint64_t vectors = soc_core_count(soc, emit_vector_core(soc));
  if (cubes * min_u64(vectors / cubes, VECTORS_MAX) != vectors)
    return lower_refuse(job,
                        "parts of k need one or two vector cores for each of the %u cube cores of "
                        "%s, not %u in all",
                        (unsigned)cubes, soc->name, (unsigned)vectors);
  uint64_t unit = REPEAT_BYTES / ACCUMULATOR_BYTES;
  if (unit * (t->split * ACCUMULATOR_BYTES + mm->out_bytes) > vtile_ub_bytes(soc))
    return lower_refuse(job, "too many parts of k for UB");
  return true;
}

uint64_t matmul_split_cycles(const struct vinci_soc *soc, const struct matmul *mm,
                             const struct matmul_tiling *t) {
  const struct path_cost *in = &soc->path[PATH_GM_UB], *out = &soc->path[PATH_UB_GM];
  struct sum sum = sum_of(soc, mm, t);
  uint64_t share =
      max_u64(1, (uint64_t)soc->l2_bytes_per_second / sum.workers * MILLI / (uint64_t)soc->core_hz);
  uint64_t read = sum.tile * t->split * ACCUMULATOR_BYTES, written = sum.tile * mm->out_bytes;
  uint64_t repeats = sum.tile * ACCUMULATOR_BYTES / REPEAT_BYTES;
  static const struct vstep add = B("vadd", X0, X0, X1);
  uint64_t tile = (uint64_t)(in->startup_mcycles + out->startup_mcycles) / MILLI +
                  read * MILLI / min_u64((uint64_t)in->mbytes_per_cycle, share) +
                  written * MILLI / min_u64((uint64_t)out->mbytes_per_cycle, share) +
                  t->split * repeats * vstep_mcycles(soc, &add, DTYPE_FP32) / MILLI;
  return 2 * (uint64_t)soc->cross_core_cycles + sum.turns * tile;
}

unsigned matmul_split_vectors(const struct writer *w) {
  return sum_of(w->e->soc, w->mm, &w->t).vectors;
}

void matmul_split_tensor(const struct writer *w) {
  const uint64_t shape[] = {w->t.split, w->mm->batch, w->mm->m, w->mm->n};
  emit_tensor(w->e, "parts", matmul_accumulator(w->mm), TENSOR_WORKSPACE, shape, 4, NULL);
}

/* Adds the parts of a tile up in the place of the first, and converts it. */
static void add_parts(const struct writer *w, const struct sum *sum) {
  struct emit *e = w->e;
  enum dtype type = matmul_accumulator(w->mm);
  struct vmachine machine = {.emit = e, .type = type};
  ull pitch = sum->tile * ACCUMULATOR_BYTES;
  machine.reg[X0] = "sums";
  machine.reg[X1] = emit_text(e, "sums+(part+1)*%llu", pitch);
  machine.reg[Y0] = "results";
  emit_row(e, "set_vector_mask,high=0,low=len");
  emit_loop(e, "part", "%llu", (ull)w->t.split - 1);
  static const struct vstep add = B("vadd", X0, X0, X1);
  vmachine_step(&machine, &add);
  emit_barrier(e, PIPE_V);
  emit_endloop(e);
  if (w->mm->out_type != type) {
    machine.written = 0;
    struct vstep convert = C(vconvert_inst(e->soc, type, w->mm->out_type), Y0, X0);
    vmachine_step(&machine, &convert);
  }
}

static void sum_tile(const struct writer *w, const struct sum *sum) {
  struct emit *e = w->e;
  enum dtype out = w->mm->out_type;
  bool converts = out != matmul_accumulator(w->mm);
  ull tile = sum->tile, elements = sum->elements, per_block = BLOCK_BYTES / ACCUMULATOR_BYTES;
  emit_let(e, "len", "min(%llu,%llu-at)", tile, elements);
  emit_row(e,
           "%s,dst=sums,src=parts+at*%d,n_burst=%llu,len_burst=len*%d,src_gap=(%llu-len)*%d,"
           "dst_gap=(%llu-(len+%llu)/%llu*%llu)/%llu",
           vtile_copy_name(false, matmul_accumulator(w->mm)), ACCUMULATOR_BYTES, (ull)w->t.split,
           ACCUMULATOR_BYTES, elements, ACCUMULATOR_BYTES, tile, per_block - 1, per_block,
           per_block, per_block);
  emit_set_flag(e, PIPE_MTE2, PIPE_V, "0");
  emit_wait_flag(e, PIPE_MTE2, PIPE_V, "0");
  add_parts(w, sum);
  emit_set_flag(e, PIPE_V, PIPE_MTE3, "0");
  emit_wait_flag(e, PIPE_V, PIPE_MTE3, "0");
  emit_row(e, "%s,dst=%s+at*%llu,src=%s,len_burst=len*%llu", vtile_copy_name(true, out),
           w->mm->c_name, (ull)w->mm->out_bytes, converts ? "results" : "sums",
           (ull)w->mm->out_bytes);
  emit_barrier(e, PIPE_ALL);
}

void matmul_split_sum(const struct writer *w) {
  struct emit *e = w->e;
  struct sum sum = sum_of(e->soc, w->mm, &w->t);
  emit_row(e, "ffts_cross_core_sync,pipe=FIX,mode=2,id=%d", FLAG_PARTS_STORED);
  emit_stream(e, emit_vector_core(e->soc));
  emit_comment(e, "All parts of k are stored once every core says so; then they are added up.");
  emit_row(e, "wait_flag_dev,id=%d", FLAG_PARTS_STORED);
  emit_row(e, "ffts_cross_core_sync,pipe=MTE3,mode=0,id=%d", FLAG_ALL_STORED);
  emit_row(e, "wait_flag_dev,id=%d", FLAG_ALL_STORED);
  emit_row(e, "set_mask_count");
  emit_loop(e, "turn", "%llu", (ull)sum.turns);
  emit_let(e, "at", "(turn*%llu+blk*%u+sub)*%llu", (ull)sum.workers, sum.vectors, (ull)sum.tile);
  emit_loop(e, "some", "at<%llu", (ull)sum.elements);
  sum_tile(w, &sum);
  emit_endloop(e);
  emit_endloop(e);
}

void matmul_split_buffers(const struct writer *w) {
  struct sum sum = sum_of(w->e->soc, w->mm, &w->t);
  emit_buffer(w->e, "sums", SPACE_UB, sum.tile * w->t.split * ACCUMULATOR_BYTES);
  if (w->mm->out_type != matmul_accumulator(w->mm))
    emit_buffer(w->e, "results", SPACE_UB, sum.tile * w->mm->out_bytes);
}
