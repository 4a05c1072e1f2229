/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram: how many elements lie in each of `bins` equal parts of a range. Elements become
 * numbers of bins; then each bin compares all elements of a tile with its own number, and adds up
 * ones. Sums of 64 lanes are kept for each bin until the block's last tile. Blocks leave a row of
 * counts each, which another kernel adds up. Chips that compare no int32 count, for each bin, the
 * elements from there on, and take the next bin's from these. How the vendor's kernel counts is not
 * published; the vector unit has no instruction that adds at addresses, so the time grows with the
 * bins.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "core/isa/isa.h"
#include "lower/plan/composite.h"
#include "lower/select/select.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum {
  FLOAT_BYTES = 4,
  LANES = 64,
  COLS_MAX = LANES * LANES, /* whose sums of 64 lanes are a repeat */
  BINS_MAX = 384,           /* whose sums, 256 bytes each, leave room for tiles */
  REPEATS_MAX = 255,
  ROW_FLAG = 2,
  EXACT_MAX = 1 << 24 /* up to which single precision counts */
};

#define HISTOGRAM_KEYS                                                                             \
  SHAPE_KEY("extents of x"), LOWER_KEY("bins", SIZE, NULL, NULL, "how many bins"),                 \
      NUMBER_KEY("min", "0", "where the first bin begins"),                                        \
      NUMBER_KEY("max", "1", "where the last bin ends, which is in that"),                         \
      DTYPE_KEY("fp32", "fp16|bf16|fp32|int32", "type of x; compared in single precision")
static const struct lower_key part_keys[] = {HISTOGRAM_KEYS, VTILE_KEYS_TABLE};
static const struct lower_key keys[] = {HISTOGRAM_KEYS};

struct histogram {
  struct vkernel kernel; /* first */
  bool from_there;       /* counts are of elements in a bin and those behind */
  enum dtype type;
  uint64_t bins;
  double min, max;
  struct vtile_operand x;
  /* Behind the slots: x in fp32, numbers of bins, ones and zeros; bits; sums of lanes of a tile, of
   * all tiles for each bin, of all lanes; blocks of numbers. */
  uint64_t wide, number, picked, bits, sums, kept, counts, one, zero, none;
};

static void lay_out(struct vtile *tile) {
  struct histogram *h = (struct histogram *)tile;
  uint64_t slot = 0, cols = tile->cols;
  h->x.address = vtile_reserve(&slot, cols * vtile_bytes(h->type));
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  h->wide = vtile_reserve(&used, cols * FLOAT_BYTES);
  h->number = vtile_reserve(&used, cols * FLOAT_BYTES);
  h->picked = vtile_reserve(&used, cols * FLOAT_BYTES);
  h->bits = vtile_reserve(&used, cols / BITS_PER_BYTE + BLOCK_BYTES);
  h->sums = vtile_reserve(&used, REPEAT_BYTES);
  h->kept = vtile_reserve(&used, h->bins * REPEAT_BYTES);
  h->counts = vtile_reserve(&used, h->bins * FLOAT_BYTES);
  h->one = vtile_reserve(&used, BLOCK_BYTES);
  h->zero = vtile_reserve(&used, BLOCK_BYTES);
  h->none = vtile_reserve(&used, BLOCK_BYTES);
  tile->ub_bytes = used;
}

/* Cores whose rows of counts the chip can store: a row that is shorter than a block of 32 bytes
 * has to be the only row where copies move whole blocks alone. */
static uint64_t storing_cores(const struct lower_job *job, uint64_t cores) {
  bool whole = !select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B8);
  return whole && lower_get(job, "bins")->size * FLOAT_BYTES < BLOCK_BYTES ? 1 : cores;
}

/* Tiles and blocks for some cores: runs of whole lanes, all blocks have some. */
static void share(uint64_t all, uint64_t cores, unsigned halvings, uint64_t *cols,
                  uint64_t *blocks) {
  *cols = min_u64(round_up(ceil_div(all, cores), LANES), COLS_MAX >> halvings);
  uint64_t tiles = ceil_div(all, *cols), turns = ceil_div(tiles, min_u64(tiles, cores));
  *blocks = ceil_div(tiles, turns);
}

static void split(const struct lower_job *job, struct vkernel *kernel, unsigned halvings) {
  struct vtile *tile = &kernel->tile;
  uint64_t all = tile->space.cols;
  share(all, storing_cores(job, job->cores), halvings, &tile->cols, &tile->blocks);
  tile->cols = min_u64(tile->cols, all);
  vtile_fit(job, tile);
}

static bool walks(struct lower_job *job, const struct vkernel *kernel) {
  const uint64_t most = storing_cores(job, kernel->tile.blocks);
  if (kernel->tile.blocks > most)
    return lower_refuse(job,
                        "%s copies whole blocks of %d bytes alone: fewer than %d bins, blocks=1",
                        job->soc->name, BLOCK_BYTES, BLOCK_BYTES / FLOAT_BYTES);
  return kernel->tile.cols <= COLS_MAX ||
         lower_refuse(job, "a tile has at most %d elements", COLS_MAX);
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define BY_NUMBER(inst_, dst_, src_, value_, type_)                                                \
  EMIT(e, inst_, F("dst", dst_), F("src", src_), F("scalar", value_), F("repeat", 1),              \
       W("type", type_));                                                                          \
  emit_barrier(e, PIPE_V)

/* Of an element, or NaN, outside of the range the number is -1. */
static void drop_outside(struct emit *e, const struct histogram *h, struct expr x) {
  static const char *const inside[] = {"vcmpvs_ge", "vcmpvs_le"};
  for (unsigned i = 0; i < 2; i++) {
    EMIT(e, inside[i], F("dst", h->bits), F("src", x),
         F("scalar", vscalar(DTYPE_FP32, i ? h->max : h->min)), F("repeat", 1), W("type", "fp32"));
    emit_barrier(e, PIPE_V);
    EMIT(e, "vsel", F("dst", h->number), F("src0", h->number), F("src1", h->none),
         F("mask", h->bits), F("repeat", 1), F("src1_block", 0), F("src1_repeat", 0),
         W("type", "fp32"));
    emit_barrier(e, PIPE_V);
  }
}

/* The number of the bin of each element; with fractions where counts are from there on. */
static void put_numbers(struct emit *e, const struct histogram *h) {
  const struct vtile *tile = &h->kernel.tile;
  const double scale = (double)h->bins / (h->max - h->min);
  struct expr x = x_add(tile->slot, h->x.address), wide = EXPR(h->wide), at = EXPR(h->number);
  struct vunit unit = {.emit = e};
  if (h->type != DTYPE_FP32) {
    vunit_convert(&unit, 0, 0, h->type, DTYPE_FP32, wide, x);
    emit_barrier(e, PIPE_V);
    x = wide;
  }
  BY_NUMBER("vadds", at, x, vscalar(DTYPE_FP32, -h->min), "fp32");
  BY_NUMBER("vmuls", at, at, vscalar(DTYPE_FP32, scale), "fp32");
  if (h->from_there) {
    BY_NUMBER("vmins", at, at, vscalar(DTYPE_FP32, (double)(h->bins - 1)), "fp32");
  } else {
    EMIT(e, "vconv_f322s32", F("dst", at), F("src", at), F("repeat", 1), W("round", "f"));
    emit_barrier(e, PIPE_V);
    BY_NUMBER("vmins", at, at, h->bins - 1, "int32");
  }
#undef BY_NUMBER
  drop_outside(e, h, x);
}

/* Which elements count for a bin. Numbers with fractions are those of bins from this one on:
 * taking 1 away is exact as long as the difference is not negative. */
static void pick(struct emit *e, const struct histogram *h, struct expr bin) {
  if (h->from_there)
    EMIT(e, "vcmpvs_ge", F("dst", h->bits), F("src", h->number), F("scalar", 0), F("repeat", 1),
         W("type", "fp32"));
  else
    EMIT(e, "vcmpvs_eq", F("dst", h->bits), F("src", h->number), F("scalar", bin), F("repeat", 1),
         W("type", "int32"));
  emit_barrier(e, PIPE_V);
  if (h->from_there)
    EMIT(e, "vadds", F("dst", h->number), F("src", h->number), F("scalar", vscalar(DTYPE_FP32, -1)),
         F("repeat", 1), W("type", "fp32"));
  EMIT(e, "vsel", F("dst", h->picked), F("src0", h->one), F("src1", h->zero), F("mask", h->bits),
       F("repeat", 1), F("src0_block", 0), F("src1_block", 0), F("src0_repeat", 0),
       F("src1_repeat", 0), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
}

static void compute(struct emit *e, struct vkernel *kernel) {
  const struct histogram *h = (struct histogram *)kernel;
  const struct vtile *tile = &kernel->tile;
  vmask_count(e, tile->n_cols);
  emit_barrier(e, PIPE_V); /* the tile before reads what this one writes */
  put_numbers(e, h);
  struct expr bin = emit_for(e, "bin", h->bins);
  struct expr kept = x_at(EXPR(h->kept), bin, REPEAT_BYTES);
  vmask_count(e, tile->n_cols);
  pick(e, h, bin);
  EMIT(e, "vcadd", F("dst", h->sums), F("src", h->picked), F("repeat", 1), W("type", "fp32"));
  emit_barrier(e, PIPE_V);
  vmask_count(e, x_ceil_div(tile->n_cols, LANES));
  EMIT(e, "vadd", F("dst", kept), F("src0", kept), F("src1", h->sums), F("repeat", 1),
       W("type", "fp32"));
  emit_end(e);
}

/* Nothing leaves before the last tile. */
static void store(struct emit *e, struct vkernel *kernel) {
  (void)e;
  (void)kernel;
}

static void put_rows(struct emit *e, struct vkernel *kernel) {
  const struct histogram *h = (struct histogram *)kernel;
  struct vunit unit = {.emit = e};
  vmask_count(e, BLOCK_BYTES / FLOAT_BYTES);
  vfill(e, h->one, vscalar(DTYPE_FP32, 1), "fp32");
  vfill(e, h->zero, 0, "fp32");
  if (h->from_there)
    vfill(e, h->none, vscalar(DTYPE_FP32, -1), "fp32");
  else
    vfill(e, h->none, -1, "int32");
  vmask_count(e, h->bins * LANES);
  vfill(e, h->kept, 0, "fp32");
  vkernel_tiles(e, kernel);
  emit_comment(e, "All lanes of each bin; a row of counts for each block.");
  emit_barrier(e, PIPE_V);
  vunit_lanes(&unit, LANES);
  for (uint64_t bin = 0; h->from_there && bin + 1 < h->bins; bin += REPEATS_MAX) {
    uint64_t kept = h->kept + bin * REPEAT_BYTES;
    EMIT(e, "vsub", F("dst", kept), F("src0", kept), F("src1", kept + REPEAT_BYTES),
         F("repeat", min_u64(REPEATS_MAX, h->bins - 1 - bin)), W("type", "fp32"));
    emit_barrier(e, PIPE_V);
  }
  for (uint64_t bin = 0; bin < h->bins; bin += REPEATS_MAX)
    EMIT(e, "vcadd", F("dst", h->counts + bin * FLOAT_BYTES),
         F("src", h->kept + bin * REPEAT_BYTES), F("repeat", min_u64(REPEATS_MAX, h->bins - bin)),
         W("type", "fp32"));
  vunit_rest(&unit);
  emit_handshake(e, PIPE_V, PIPE_MTE3, ROW_FLAG);
  vtile_store_run(e, DTYPE_FP32, x_at(x_name(e, "counts"), x_name(e, "blk"), h->bins * FLOAT_BYTES),
                  EXPR(h->counts), EXPR(h->bins));
}

static void tensors(struct emit *e, struct vkernel *kernel) {
  const struct histogram *h = (struct histogram *)kernel;
  const struct lower_value *shape = lower_get(kernel->job, "shape");
  const uint64_t rows[] = {kernel->tile.blocks, h->bins};
  emit_tensor(e, "x", h->type, TENSOR_IN, shape->shape, shape->rank, NULL);
  emit_tensor(e, "counts", DTYPE_FP32, TENSOR_OUT, rows, 2, NULL);
}

/* ---- operators ------------------------------------------------------------------------------- */

static enum vinci_status check(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape");
  const uint64_t bins = lower_get(job, "bins")->size;
  if (lower_get(job, "max")->number <= lower_get(job, "min")->number)
    return lower_error(job, "max is above min");
  if (bins > BINS_MAX)
    return lower_error(job, "more than %d bins are not supported", BINS_MAX);
  if (lower_elements(shape->shape, shape->rank) > EXACT_MAX)
    return lower_error(job, "more than 2^24 elements, which single precision counts up to");
  return VINCI_OK;
}

static enum vinci_status part_setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 2,
                                           .lay_out = lay_out,
                                           .split = split,
                                           .walks = walks,
                                           .tensors = tensors,
                                           .rows = put_rows,
                                           .compute = compute,
                                           .store = store};
  const struct lower_value *shape = lower_get(job, "shape");
  struct histogram *h = vkernel_new(job, sizeof *h, &kind);
  if (!h)
    return VINCI_E_NOMEM;
  h->type = lower_get(job, "dtype")->dtype;
  h->from_there = !(isa_dtypes(OP_VCMPV_EQ, job->soc->arch) >> DTYPE_INT32 & 1);
  h->bins = lower_get(job, "bins")->size;
  h->min = lower_get(job, "min")->number;
  h->max = lower_get(job, "max")->number;
  h->x = (struct vtile_operand){.name = "x", .dtype = h->type, .col_stride = 1};
  struct vkernel *kernel = &h->kernel;
  kernel->tile.space.rows = 1;
  kernel->tile.space.cols = lower_elements(shape->shape, shape->rank);
  kernel->tile.parts = VTILE_LOADS | VTILE_COMPUTES;
  kernel->code = KERNEL_REDUCE;
  kernel->element_bytes = vtile_bytes(h->type);
  kernel->in[0] = &h->x;
  return check(job);
}

static enum vinci_status setup(struct lower_job *job) {
  static const struct emit_name rows[] = {{"counts", "counts", true}, {0}};
  static const struct emit_name sum[] = {{"x", "counts", true}, {"y", "sums", true}, {0}};
  static const struct emit_name cast[] = {{"x", "sums", true}, {"y", "y", EMIT_FLAT}, {0}};
  const struct lower_value *shape = lower_get(job, "shape");
  const uint64_t all = lower_elements(shape->shape, shape->rank),
                 bins = lower_get(job, "bins")->size;
  enum vinci_status status = check(job);
  if (status != VINCI_OK)
    return status;
  uint64_t cols, blocks,
      cores = storing_cores(job, soc_core_count(job->soc, emit_vector_core(job->soc)));
  share(all, cores, 0, &cols, &blocks);
  char extents[TENSOR_RANK_MAX * 24];
  for (unsigned i = 0, used = 0; i < shape->rank; i++)
    used += (unsigned)snprintf(extents + used, sizeof extents - used, i ? "x%" PRIu64 : "%" PRIu64,
                               shape->shape[i]);
  status = composite_add(
      job, "histogram_rows", rows,
      "shape=%s bins=%" PRIu64 " min=%.17g max=%.17g dtype=%s cols=%" PRIu64 " blocks=%" PRIu64,
      extents, bins, lower_get(job, "min")->number, lower_get(job, "max")->number,
      dtype_name(lower_get(job, "dtype")->dtype), min_u64(cols, all), blocks);
  if (status == VINCI_OK)
    status = composite_add(job, "reduce_sum", sum,
                           "shape=%" PRIu64 "x%" PRIu64 " axis=0 dtype=fp32", blocks, bins);
  if (status == VINCI_OK)
    status = composite_add(job, "cast", cast, "shape=%" PRIu64 " dtype=fp32 to=int32", bins);
  return status;
}

/* The range is an attribute, or a value: that of the defaults. */
static bool call_histogram(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0 || x->rank == 0 || y->rank == 0)
    return lower_cannot(call, "x and a result are needed");
  lower_arg_tensor(call, x);
  lower_arg(call, "bins=%" PRIu64, lower_elements(y->shape, y->rank));
  return true;
}

static const struct lower_template part_template = VKERNEL_TEMPLATE(part_setup);
static const struct lower_template template = COMPOSITE_TEMPLATE(setup);
LOWER_OPERATOR(histogram_rows, "", "a row of counts of histogram from each block", part_keys,
               &part_template, NULL, NULL)
LOWER_OPERATOR(histogram, "HistogramV2|Histogram",
               "y = how many elements of x lie in each of equal bins from min to max, as int32",
               keys, &template, NULL, call_histogram)
