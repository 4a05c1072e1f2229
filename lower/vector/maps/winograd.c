/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution of 3 x 3 windows by Winograd's F(2x2, 3x3): what comes before and behind its 16
 * products. A tile is 2 x 2 pixels of the result, and d the 4 x 4 pixels of the map under its
 * windows:
 *
 *   v = B^T d B          winograd_input
 *   m[p] = v[p] g[p]     a product for each of the 16 points, sums over channels: batch_matmul
 *   y = A^T m A          winograd_output
 *
 *   B^T = 1  0 -1  0     A^T = 1  1  1  0     (Lavin and Gray, Fast Algorithms for Convolutional
 *         0  1  1  0           0  1 -1 -1      Neural Networks, 2015, section 4.1)
 *         0 -1  1  0
 *         0  1  0 -1
 *
 * v and m are matrices in NZ: a row for each tile, a column for each channel. The point of row i
 * and column j of a 4 x 4 is number 4 j + i. A pixel is one block of 32 bytes, and steps take the
 * pixels of all tiles in UB at once. All is computed in fp16.
 */
#include <inttypes.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/vector/kernel.h"
#include "lower/vector/unit.h"

enum { SIDE = 4, POINTS = SIDE * SIDE, OUT_SIDE = 2, C0 = 16, MAP_RANK = 5 };
enum { BIAS_POINT = SIDE + 1, BURST_MAX = 65535, BURSTS_MAX = 4095, BLOCKS_PER_REPEAT = 8 };

static const struct lower_key input_keys[] = {
    SHAPE_KEY("extents of the map: N, C1, H, W, C0"),
    LOWER_KEY("pad", SHAPE, "1x1x1x1", "0", "padding: top x bottom x left x right, each 0 or 1"),
    DTYPE_KEY("fp16", "fp16", "type of all tensors"), VTILE_KEYS_TABLE};
static const struct lower_key output_keys[] = {
    SHAPE_KEY("extents of the result: N, C1, H, W, C0"),
    DTYPE_KEY("fp16", "fp16", "type of all tensors"),
    WORD_KEY("bias", "0", "0|1", "adds a number for each channel, C1 C0 of them"),
    WORD_KEY("relu", "0", "0|1", "negative results become 0"), VTILE_KEYS_TABLE};

struct winograd {
  struct vkernel kernel; /* first */
  uint64_t n, c1, h, w;  /* of the map, or of the result */
  uint64_t top, left;
  uint64_t th, tw;      /* tiles of a map */
  uint64_t matrix_rows; /* of NZ */
  uint64_t image_cols;  /* pixels of a row of an image in UB */
  bool bias, relu;
  /* In the buffer: images of even and odd rows; points; bias. Behind the buffers: what is between.
   */
  uint64_t image[2], points, bias_at, between;
};

static uint64_t tiles_of(uint64_t extent) { return ceil_div(extent, OUT_SIDE); }

static struct expr pixels(struct expr count) { return x_mul(count, BLOCK_BYTES); }

/* Lanes of pixels. */
static void put_count(struct emit *e, struct expr count) { vmask_count(e, x_mul(count, C0)); }

/* dst = a op b; pixels of a side are one or two apart. */
static void put_step(struct emit *e, const char *inst, struct expr dst, struct expr a,
                     struct expr b, uint64_t dst_apart, uint64_t src_apart) {
  bool strided = dst_apart > 1 || src_apart > 1;
  EMIT(e, inst, F("dst", dst), F("src0", a), F("src1", b), F("repeat", 1),
       F_IF(strided, "dst_block", dst_apart), F_IF(strided, "src0_block", src_apart),
       F_IF(strided, "src1_block", src_apart),
       F_IF(strided, "dst_repeat", dst_apart * BLOCKS_PER_REPEAT),
       F_IF(strided, "src0_repeat", src_apart * BLOCKS_PER_REPEAT),
       F_IF(strided, "src1_repeat", src_apart * BLOCKS_PER_REPEAT), W("type", "fp16"));
}

/* The block of channels that a tile of the space is of: images by images. */
static struct expr unit_of(const struct winograd *winograd) {
  const struct vtile *tile = &winograd->kernel.tile;
  return x_add(x_mul(tile->outer_at[0], winograd->c1), tile->outer_at[1]);
}

/* Where the tile's rows of a matrix begin in device memory. */
static struct expr matrix_at(struct emit *e, const struct winograd *winograd, const char *name,
                             struct expr point) {
  const struct vtile *tile = &winograd->kernel.tile;
  struct expr column = x_add(x_mul(point, winograd->c1), tile->outer_at[1]);
  struct expr row = x_mul(x_add(x_mul(tile->outer_at[0], winograd->th), tile->row), winograd->tw);
  return x_add(x_name(e, name), pixels(x_add(x_mul(column, winograd->matrix_rows), row)));
}

/* ---- B^T d B --------------------------------------------------------------------------------- */

/*
 * The rows of d are two images of every other row, so that the same row of all tiles of UB is one
 * run. Of both, a tile of UB has a row more than of tiles, and two columns of pixels more.
 */
static void lay_out_input(struct vtile *tile) {
  struct winograd *winograd = (struct winograd *)tile;
  uint64_t image = (tile->rows + 1) * winograd->image_cols * BLOCK_BYTES, slot = 0;
  uint64_t plane = tile->rows * winograd->image_cols * BLOCK_BYTES;
  for (unsigned odd = 0; odd < 2; odd++)
    winograd->image[odd] = vtile_reserve(&slot, image);
  winograd->points = vtile_reserve(&slot, POINTS * plane / OUT_SIDE);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  winograd->between = vtile_reserve(&used, SIDE * plane);
  tile->ub_bytes = used;
}

/* Rows of an image that lie above the map, inside, and below. */
struct rows {
  struct expr above, inside, below;
};

static struct rows rows_of(const struct winograd *winograd, unsigned odd) {
  const struct vtile *tile = &winograd->kernel.tile;
  int64_t start = (int64_t)odd - (int64_t)winograd->top;
  struct expr first = x_add(x_mul(tile->row, OUT_SIDE), start), all = x_add(tile->n_rows, 1);
  struct rows rows = {.above = start < 0 ? x_max(0, x_sub(0, first)) : EXPR(0)};
  struct expr until = x_min(all, x_ceil_div(x_sub(winograd->h, first), OUT_SIDE));
  rows.inside = x_sub(until, rows.above);
  rows.below = x_sub(all, until);
  return rows;
}

static void load_map(struct emit *e, struct vkernel *kernel) {
  struct winograd *winograd = (struct winograd *)kernel;
  const struct vtile *tile = &kernel->tile;
  for (unsigned odd = 0; odd < 2; odd++) {
    struct rows rows = rows_of(winograd, odd);
    struct expr row = x_mul(x_add(tile->row, rows.above), OUT_SIDE);
    row = x_add(x_mul(unit_of(winograd), winograd->h),
                x_add(row, (int64_t)odd - (int64_t)winograd->top));
    struct expr at = x_add(x_mul(rows.above, winograd->image_cols), winograd->left);
    EMIT(e, "copy_gm_to_ubuf", F("dst", x_add(tile->slot, x_add(winograd->image[odd], pixels(at)))),
         F("src", x_add(x_name(e, "x"), pixels(x_mul(row, winograd->w)))),
         F("n_burst", rows.inside), F("len_burst", winograd->w), F("src_gap", winograd->w),
         F("dst_gap", winograd->image_cols - winograd->w));
  }
}

static void put_zeros(struct emit *e, const struct winograd *winograd, const char *name,
                      unsigned odd, struct expr row, struct expr count) {
  struct expr at = pixels(x_mul(row, winograd->image_cols));
  emit_if(e, name, x_gt(count, 0));
  put_count(e, x_mul(count, winograd->image_cols));
  vfill(e, x_add(winograd->kernel.tile.slot, x_add(winograd->image[odd], at)), 0, "fp16");
  emit_end(e);
}

/* The four rows, or columns, of B^T d of d0 to d3. */
static void put_forward(struct emit *e, struct expr to, struct expr step, const struct expr d[SIDE],
                        uint64_t apart) {
  put_step(e, "vsub", to, d[0], d[2], 1, apart);
  put_step(e, "vadd", x_add(to, step), d[1], d[2], 1, apart);
  put_step(e, "vsub", x_add(to, x_mul(step, 2)), d[2], d[1], 1, apart);
  put_step(e, "vsub", x_add(to, x_mul(step, 3)), d[1], d[3], 1, apart);
}

static void transform_map(struct emit *e, struct vkernel *kernel) {
  struct winograd *winograd = (struct winograd *)kernel;
  const struct vtile *tile = &kernel->tile;
  uint64_t pitch = winograd->image_cols, row = pitch * BLOCK_BYTES;
  struct expr even = x_add(tile->slot, winograd->image[0]);
  struct expr odd = x_add(tile->slot, winograd->image[1]), between = EXPR(winograd->between);
  emit_barrier(e, PIPE_V);
  for (unsigned i = 0; i < 2; i++) {
    struct rows rows = rows_of(winograd, i);
    if (i < winograd->top)
      put_zeros(e, winograd, "above", i, EXPR(0), rows.above);
    put_zeros(e, winograd, "below", i, x_add(rows.above, rows.inside), rows.below);
  }
  emit_barrier(e, PIPE_V);
  put_count(e, x_mul(tile->n_rows, pitch));
  put_forward(e, between, x_mul(tile->n_rows, row),
              (struct expr[]){even, odd, x_add(even, row), x_add(odd, row)}, 1);
  emit_barrier(e, PIPE_V);
  /* Behind the tiles of a row comes a pixel that nobody uses; of the last row there is none. */
  struct expr plane = x_mul(tile->n_rows, SIDE * pitch / OUT_SIDE);
  put_count(e, x_sub(plane, 1));
  put_forward(e, x_add(tile->slot, winograd->points), pixels(plane),
              (struct expr[]){between, x_add(between, BLOCK_BYTES), x_add(between, 2 * BLOCK_BYTES),
                              x_add(between, 3 * BLOCK_BYTES)},
              OUT_SIDE);
}

static void store_points(struct emit *e, struct vkernel *kernel) {
  struct winograd *winograd = (struct winograd *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct expr plane = pixels(x_mul(tile->n_rows, winograd->image_cols / OUT_SIDE));
  struct expr p = emit_for(e, "p", POINTS);
  EMIT(e, vtile_copy_name(true, DTYPE_FP16), F("dst", matrix_at(e, winograd, "y", p)),
       F("src", x_add(x_add(tile->slot, winograd->points), x_mul(p, plane))),
       F("n_burst", tile->n_rows), F("len_burst", winograd->tw * BLOCK_BYTES), F("src_gap", 1));
  emit_end(e);
}

static bool input_walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct winograd *winograd = (const struct winograd *)kernel;
  if (kernel->tile.rows + 1 > BURSTS_MAX || winograd->w > BURST_MAX)
    return lower_refuse(job, "a copy has at most %d rows of %d blocks", BURSTS_MAX, BURST_MAX);
  return true;
}

/* ---- A^T m A --------------------------------------------------------------------------------- */

static void lay_out_output(struct vtile *tile) {
  struct winograd *winograd = (struct winograd *)tile;
  uint64_t plane = tile->rows * winograd->tw * BLOCK_BYTES, slot = 0;
  winograd->points = vtile_reserve(&slot, POINTS * plane);
  winograd->bias_at = winograd->bias ? vtile_reserve(&slot, BLOCK_BYTES) : 0;
  winograd->image[0] = vtile_reserve(&slot, OUT_SIDE * OUT_SIDE * plane);
  tile->slot_bytes = slot;
  uint64_t used = slot * tile->buffers;
  winograd->between = vtile_reserve(&used, OUT_SIDE * SIDE * plane);
  tile->ub_bytes = used;
}

static void load_points(struct emit *e, struct vkernel *kernel) {
  struct winograd *winograd = (struct winograd *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct expr run = x_mul(tile->n_rows, winograd->tw);
  struct expr p = emit_for(e, "p", POINTS);
  EMIT(e, vtile_copy_name(false, DTYPE_FP16),
       F("dst", x_add(x_add(tile->slot, winograd->points), x_mul(p, pixels(run)))),
       F("src", matrix_at(e, winograd, "x", p)), F("len_burst", pixels(run)));
  emit_end(e);
  if (winograd->bias)
    EMIT(e, "copy_gm_to_ubuf", F("dst", x_add(tile->slot, winograd->bias_at)),
         F("src", x_add(x_name(e, "bias"), pixels(tile->outer_at[1]))), F("len_burst", 1));
}

/* The two rows, or columns, of A^T m of m0 to m3, by way of a sum and a difference. */
static void put_back(struct emit *e, const struct expr to[OUT_SIDE],
                     const struct expr way[OUT_SIDE], struct expr from, struct expr step,
                     uint64_t apart) {
  struct expr m1 = x_add(from, step), m2 = x_add(m1, step);
  put_step(e, "vadd", way[0], m1, m2, 1, 1);
  put_step(e, "vsub", way[1], m1, m2, 1, 1);
  emit_barrier(e, PIPE_V);
  put_step(e, "vadd", to[0], from, way[0], apart, 1);
  put_step(e, "vsub", to[1], way[1], x_add(m2, step), apart, 1);
}

static void transform_back(struct emit *e, struct vkernel *kernel) {
  struct winograd *winograd = (struct winograd *)kernel;
  const struct vtile *tile = &kernel->tile;
  struct expr run = x_mul(tile->n_rows, winograd->tw), plane = pixels(run);
  struct expr m = x_add(tile->slot, winograd->points), group = x_mul(plane, SIDE);
  struct expr image = x_add(tile->slot, winograd->image[0]);
  struct expr half[OUT_SIDE] = {EXPR(winograd->between), x_add(winograd->between, group)};
  emit_barrier(e, PIPE_V);
  if (winograd->bias) {
    /* The point of row 1 and column 1 goes into all four pixels as it is. */
    struct expr to = x_add(m, x_mul(plane, BIAS_POINT));
    put_count(e, run);
    EMIT(e, "vadd", F("dst", to), F("src0", to), F("src1", x_add(tile->slot, winograd->bias_at)),
         F("repeat", 1), F("src1_block", 0), F("src1_repeat", 0), W("type", "fp16"));
    emit_barrier(e, PIPE_V);
  }
  put_count(e, x_mul(run, SIDE));
  put_back(e, half, half, m, group, 1);
  emit_barrier(e, PIPE_V);
  put_count(e, run);
  for (unsigned col = 0; col < OUT_SIDE; col++) {
    struct expr to = x_add(image, col * BLOCK_BYTES), way = x_add(m, x_mul(plane, OUT_SIDE * col));
    put_back(e, (struct expr[]){to, x_add(to, x_mul(plane, OUT_SIDE))},
             (struct expr[]){way, x_add(way, plane)}, half[col], plane, OUT_SIDE);
  }
  if (!winograd->relu)
    return;
  emit_barrier(e, PIPE_V);
  put_count(e, x_mul(run, OUT_SIDE * OUT_SIDE));
  EMIT(e, "vrelu", F("dst", image), F("src", image), F("repeat", 1), W("type", "fp16"));
}

/* Of an odd extent the last tile has one row, or column. */
static void store_result(struct emit *e, struct vkernel *kernel) {
  struct winograd *winograd = (struct winograd *)kernel;
  const struct vtile *tile = &kernel->tile;
  for (unsigned odd = 0; odd < OUT_SIDE; odd++) {
    struct expr image = x_mul(tile->n_rows, odd * winograd->image_cols);
    struct expr first = x_add(x_mul(tile->row, OUT_SIDE), odd);
    struct expr rows = x_min(tile->n_rows, x_ceil_div(x_sub(winograd->h, first), OUT_SIDE));
    struct expr to = x_add(x_mul(unit_of(winograd), winograd->h), first);
    EMIT(e, "copy_ubuf_to_gm", F("dst", x_add(x_name(e, "y"), pixels(x_mul(to, winograd->w)))),
         F("src", x_add(tile->slot, x_add(winograd->image[0], pixels(image)))), F("n_burst", rows),
         F("len_burst", winograd->w), F("src_gap", winograd->image_cols - winograd->w),
         F("dst_gap", winograd->w));
  }
}

static bool output_walks(struct lower_job *job, const struct vkernel *kernel) {
  const struct winograd *winograd = (const struct winograd *)kernel;
  if (kernel->tile.rows > BURSTS_MAX || winograd->w > BURST_MAX ||
      kernel->tile.rows * winograd->tw > BURST_MAX)
    return lower_refuse(job, "a copy has at most %d rows of %d blocks", BURSTS_MAX, BURST_MAX);
  return true;
}

/* ---- operators ------------------------------------------------------------------------------- */

static void put_matrix(struct emit *e, const struct winograd *winograd, const char *name,
                       enum tensor_io io) {
  const uint64_t shape[] = {POINTS, winograd->c1, winograd->matrix_rows / FRACTAL_ROWS,
                            FRACTAL_ROWS, C0};
  emit_tensor(e, name, DTYPE_FP16, io, shape, sizeof shape / sizeof *shape, "NZ");
}

static void put_map(struct emit *e, const struct winograd *winograd, const char *name,
                    enum tensor_io io) {
  const uint64_t shape[MAP_RANK] = {winograd->n, winograd->c1, winograd->h, winograd->w, C0};
  emit_tensor(e, name, DTYPE_FP16, io, shape, MAP_RANK, "NC1HWC0");
}

static void input_tensors(struct emit *e, struct vkernel *kernel) {
  const struct winograd *winograd = (struct winograd *)kernel;
  put_map(e, winograd, "x", TENSOR_IN);
  put_matrix(e, winograd, "y", TENSOR_OUT);
}

static void output_tensors(struct emit *e, struct vkernel *kernel) {
  const struct winograd *winograd = (struct winograd *)kernel;
  put_matrix(e, winograd, "x", TENSOR_IN);
  if (winograd->bias)
    emit_vector(e, "bias", DTYPE_FP16, TENSOR_IN, winograd->c1 * C0);
  put_map(e, winograd, "y", TENSOR_OUT);
}

static void input_rows(struct emit *e, struct vkernel *kernel) {
  emit_comment(e, "Columns of padding, which no copy writes.");
  vkernel_clear(e, &kernel->tile);
  vkernel_tiles(e, kernel);
}

/* What both have in common: tiles of a map of the result; matrices in NZ have whole fractals. */
static enum vinci_status take_map(struct lower_job *job, struct winograd *winograd,
                                  uint64_t result_h, uint64_t result_w) {
  winograd->th = tiles_of(result_h);
  winograd->tw = tiles_of(result_w);
  winograd->matrix_rows = round_up(winograd->n * winograd->th * winograd->tw, FRACTAL_ROWS);
  if (POINTS * winograd->c1 * winograd->matrix_rows > LOWER_SIZE_MAX)
    return lower_error(job, "a matrix of %" PRIu64 " tiles and %" PRIu64 " channels is too large",
                       winograd->matrix_rows, winograd->c1 * C0);
  winograd->kernel.element_bytes = POINTS * BLOCK_BYTES;
  winograd->kernel.tile.space =
      (struct vtile_space){2, {winograd->n, winograd->c1}, winograd->th, winograd->tw};
  return VINCI_OK;
}

static struct winograd *new_kernel(struct lower_job *job, const struct vkernel_kind *kind) {
  struct winograd *winograd = vkernel_new(job, sizeof *winograd, kind);
  const uint64_t *shape = lower_get(job, "shape")->shape;
  if (!winograd)
    return NULL;
  winograd->n = shape[0];
  winograd->c1 = shape[1];
  winograd->h = shape[2];
  winograd->w = shape[3];
  return winograd;
}

static enum vinci_status check_shape(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape");
  return shape->rank == MAP_RANK && shape->shape[MAP_RANK - 1] == C0
             ? VINCI_OK
             : lower_error(job, "shape has 5 extents, N, C1, H, W and C0, which is %d", C0);
}

static enum vinci_status input_setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .whole_rows = true,
                                           .lay_out = lay_out_input,
                                           .walks = input_walks,
                                           .tensors = input_tensors,
                                           .rows = input_rows,
                                           .load = load_map,
                                           .compute = transform_map,
                                           .store = store_points};
  const struct lower_value *pad = lower_get(job, "pad");
  enum vinci_status status = check_shape(job);
  if (status != VINCI_OK)
    return status;
  bool sides = pad->rank == SIDE;
  for (unsigned i = 0; i < pad->rank; i++)
    sides = sides && pad->shape[i] <= 1;
  if (!sides)
    return lower_error(job, "pad has 4 extents, top, bottom, left and right, each 0 or 1");
  struct winograd *winograd = new_kernel(job, &kind);
  if (!winograd)
    return VINCI_E_NOMEM;
  winograd->top = pad->shape[0];
  winograd->left = pad->shape[2];
  uint64_t h = winograd->h + pad->shape[0] + pad->shape[1];
  uint64_t w = winograd->w + pad->shape[2] + pad->shape[3];
  if (h <= OUT_SIDE || w <= OUT_SIDE)
    return lower_error(job, "the window of 3 x 3 is larger than the padded map");
  status = take_map(job, winograd, h - OUT_SIDE, w - OUT_SIDE);
  winograd->image_cols = OUT_SIDE * winograd->tw + OUT_SIDE;
  return status;
}

static enum vinci_status output_setup(struct lower_job *job) {
  static const struct vkernel_kind kind = {.halvings = 4,
                                           .whole_rows = true,
                                           .lay_out = lay_out_output,
                                           .walks = output_walks,
                                           .tensors = output_tensors,
                                           .load = load_points,
                                           .compute = transform_back,
                                           .store = store_result};
  enum vinci_status status = check_shape(job);
  if (status != VINCI_OK)
    return status;
  struct winograd *winograd = new_kernel(job, &kind);
  if (!winograd)
    return VINCI_E_NOMEM;
  winograd->bias = lower_get(job, "bias")->word == 1;
  winograd->relu = lower_get(job, "relu")->word == 1;
  winograd->image_cols = OUT_SIDE * tiles_of(winograd->w);
  return take_map(job, winograd, winograd->h, winograd->w);
}

static const struct lower_template input_template = VKERNEL_TEMPLATE(input_setup);
static const struct lower_template output_template = VKERNEL_TEMPLATE(output_setup);

LOWER_OPERATOR(winograd_input, "",
               "y[16,tiles,c] = 4 x 4 pixels under 2 x 2 windows of 3 x 3, transformed", input_keys,
               &input_template, NULL, NULL)
LOWER_OPERATOR(winograd_output, "",
               "y = 2 x 2 pixels of each tile from the sums x[16,tiles,c] of transformed windows",
               output_keys, &output_template, NULL, NULL)
