/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with k in parts that cores compute side by side: each part leaves its sums in fp32
 * (int32) in a workspace, laid out as the result, all cores meet, and the vector cores add the
 * parts up and convert them. The result is one run of elements for that.
 */
#include "core/base/arith.h"
#include "lower/cube/matmul_writer.h"
#include "lower/vector/tiles.h"
#include "lower/vector/unit.h"

enum { FLAG_PARTS_STORED = 0, FLAG_ALL_STORED = 1, VECTORS_MAX = 2 };

static const struct vstep add_part = B("vadd", X0, X0, X1);
static const struct vstep rectify = U("vrelu", X0, X0);

/* A run of elements of the result, and its share of the vector cores. */
struct sum {
  uint64_t elements;
  unsigned vectors; /* of a block */
  uint64_t workers;
  uint64_t tile; /* elements */
  uint64_t turns;
};

uint64_t matmul_part_unit(const struct matmul *mm, const struct matmul_tiling *t) {
  uint64_t blocks = mm->c0 < FRACTAL_ROWS ? FRACTAL_ROWS / mm->c0 : 1;
  return mm->conv ? mm->conv->window * (mm->conv->gradient ? blocks : 1) : t->bk;
}

/* UB, less the place of the first read. */
static uint64_t parts_room(const struct vinci_soc *soc) {
  return vtile_ub_bytes(soc) - BLOCK_BYTES;
}

static struct sum sum_of(const struct vinci_soc *soc, const struct matmul *mm,
                         const struct matmul_tiling *t) {
  uint64_t cubes = soc_core_count(soc, emit_cube_core(soc));
  uint64_t vectors = min_u64(soc_core_count(soc, emit_vector_core(soc)) / cubes, VECTORS_MAX);
  struct sum sum = {.elements = mm->batch * matmul_out_elements(mm), .vectors = (unsigned)vectors};
  uint64_t unit = REPEAT_BYTES / ACCUMULATOR_BYTES;
  uint64_t room = parts_room(soc) / (t->split * ACCUMULATOR_BYTES + mm->out_bytes);
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
  const char *reason = mm->scale != SCALE_NONE        ? "a result that scales convert"
                       : mm->residual                 ? "a residual"
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
  if (unit * (t->split * ACCUMULATOR_BYTES + mm->out_bytes) > parts_room(soc))
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
  uint64_t tile = (uint64_t)(in->startup_mcycles + out->startup_mcycles) / MILLI +
                  read * MILLI / min_u64((uint64_t)in->mbytes_per_cycle, share) +
                  written * MILLI / min_u64((uint64_t)out->mbytes_per_cycle, share) +
                  t->split * repeats * vstep_cost_mcycles(soc, &add_part, DTYPE_FP32) / MILLI;
  return 2 * (uint64_t)soc->cross_core_cycles + sum.turns * tile;
}

unsigned matmul_split_vectors(const struct writer *w) {
  return sum_of(w->e->soc, w->mm, &w->t).vectors;
}

void matmul_split_tensor(const struct writer *w) {
  const uint64_t shape[] = {w->t.split, w->mm->batch, matmul_out_elements(w->mm)};
  emit_tensor(w->e, "parts", matmul_accumulator(w->mm), TENSOR_WORKSPACE, shape, 3, NULL);
}

void matmul_split_buffers(const struct writer *w) {
  struct sum sum = sum_of(w->e->soc, w->mm, &w->t);
  emit_buffer(w->e, "first", SPACE_UB, BLOCK_BYTES);
  emit_buffer(w->e, "sums", SPACE_UB, sum.tile * w->t.split * ACCUMULATOR_BYTES);
  if (w->mm->out_type != matmul_accumulator(w->mm))
    emit_buffer(w->e, "results", SPACE_UB, sum.tile * w->mm->out_bytes);
}

struct expr matmul_split_place(const struct writer *w) {
  uint64_t bytes = w->mm->batch * matmul_out_elements(w->mm) * ACCUMULATOR_BYTES;
  struct expr part = x_add(x_name(w->e, "parts"), x_mul(w->now.part, bytes));
  return matmul_place_in(w, part, w->now.n, ACCUMULATOR_BYTES);
}

/* Adds the parts of a tile up in the place of the first part, and converts the sum. */
static void add_parts(const struct writer *w, const struct sum *sum, struct expr len) {
  struct emit *e = w->e;
  enum dtype type = matmul_accumulator(w->mm);
  struct expr sums = x_name(e, "sums");
  struct vunit unit = {.emit = e, .type = type, .reg[X0] = sums};
  vmask_count(e, len);
  struct expr part = emit_for(e, "part", w->t.split - 1);
  unit.reg[X1] = x_add(sums, x_mul(x_add(part, 1), sum->tile * ACCUMULATOR_BYTES));
  vunit_step(&unit, &add_part);
  emit_barrier(e, PIPE_V);
  emit_end(e);
  unit.written = 0;
  if (w->mm->relu)
    vunit_step(&unit, &rectify);
  if (w->mm->out_type != type)
    vunit_convert(&unit, V(X0), V(Y0), type, w->mm->out_type, x_name(e, "results"), sums);
}

static void sum_tile(const struct writer *w, const struct sum *sum, struct expr at) {
  enum { BLOCK_VALUES = BLOCK_BYTES / ACCUMULATOR_BYTES };
  struct emit *e = w->e;
  enum dtype in = matmul_accumulator(w->mm), out = w->mm->out_type;
  uint64_t out_bytes = w->mm->out_bytes;
  struct expr len = emit_assigned(e, "len", x_min(sum->tile, x_sub(sum->elements, at)));
  struct expr sums = x_name(e, "sums"), parts = x_name(e, "parts");
  EMIT(e, vtile_copy_name(false, in), F("dst", sums),
       F("src", x_add(parts, x_mul(at, ACCUMULATOR_BYTES))), F("n_burst", w->t.split),
       F("len_burst", x_mul(len, ACCUMULATOR_BYTES)),
       F("src_gap", x_mul(x_sub(sum->elements, len), ACCUMULATOR_BYTES)),
       F("dst_gap", x_div(x_sub(sum->tile, x_round_up(len, BLOCK_VALUES)), BLOCK_VALUES)));
  emit_handshake(e, PIPE_MTE2, PIPE_V, 0);
  add_parts(w, sum, len);
  emit_handshake(e, PIPE_V, PIPE_MTE3, 0);
  EMIT(e, vtile_copy_name(true, out),
       F("dst", x_add(x_name(e, w->mm->c.name), x_mul(at, out_bytes))),
       F("src", out == in ? sums : x_name(e, "results")), F("len_burst", x_mul(len, out_bytes)));
  emit_barrier(e, PIPE_ALL);
}

void matmul_split_sum(const struct writer *w) {
  struct emit *e = w->e;
  struct sum sum = sum_of(e->soc, w->mm, &w->t);
  EMIT(e, "ffts_cross_core_sync", W("pipe", "FIX"), F("mode", 2), F("id", FLAG_PARTS_STORED));
  emit_stream(e, emit_vector_core(e->soc));
  emit_kernel_start(e, KERNEL_ELEMENTWISE);
  /* The first read of a core waits for those of all others, which need not be after the meeting. */
  emit_comment(e, "A read ahead of all others: the first of a core takes long.");
  EMIT(e, vtile_copy_name(false, w->mm->a.type), F("dst", x_name(e, "first")),
       F("src", x_name(e, w->mm->a.name)), F("len_burst", w->mm->element_bytes));
  emit_comment(e, "All parts of k are stored once every core says so; then they are added up.");
  EMIT(e, "wait_flag_dev", F("id", FLAG_PARTS_STORED));
  emit_meet(e, FLAG_ALL_STORED);
  emit_plain(e, "set_mask_count");
  struct expr turn = emit_for(e, "turn", sum.turns);
  struct expr block = x_add(x_mul(turn, sum.workers), x_mul(x_name(e, "blk"), sum.vectors));
  struct expr at = emit_assigned(e, "at", x_mul(x_add(block, x_name(e, "sub")), sum.tile));
  emit_if(e, "some", x_lt(at, sum.elements));
  sum_tile(w, &sum, at);
  emit_end(e);
  emit_end(e);
}
