/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that move elements: transpose, transdata, slice, as_strided. */
#include <inttypes.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/layout.h"
#include "lower/select/select.h"
#include "lower/vector/elementwise/elementwise.h"
#include "lower/vector/layout/permute.h"

/* ---- transpose ------------------------------------------------------------------------------- */

static const struct lower_key transpose_keys[] = {
    SHAPE_KEY("extents of x"),
    LOWER_KEY("perm", SHAPE, NULL, NULL,
              "dimensions of x, from 1, in the order of y: 2x1 swaps two"),
    DTYPE_KEY("fp16", PERMUTE_TYPES, "type of x and y"), VTILE_KEYS_TABLE};

static enum vinci_status transpose_setup(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *perm = lower_get(job, "perm");
  struct permute *permute = permute_new(job);
  uint64_t from[TENSOR_RANK_MAX], to[TENSOR_RANK_MAX];
  uint32_t seen = 0;
  if (!permute)
    return VINCI_E_NOMEM;
  for (unsigned i = 0; i < perm->rank; i++)
    seen |= perm->shape[i] <= shape->rank ? 1u << (perm->shape[i] - 1) : 0;
  if (perm->rank != shape->rank || seen != (1u << shape->rank) - 1)
    return lower_error(job, "perm has to name each of the %u dimensions once", shape->rank);
  permute->code = KERNEL_PERMUTE;
  permute->whole = true;
  permute_copy_shape(permute->in_shape, &permute->in_rank, shape);
  permute->out_rank = shape->rank;
  for (unsigned i = 0; i < shape->rank; i++)
    permute->out_shape[i] = shape->shape[perm->shape[i] - 1];
  permute_strides(shape->shape, shape->rank, from);
  permute_strides(permute->out_shape, shape->rank, to);
  struct pmap map = {.count = shape->rank};
  for (unsigned i = 0; i < shape->rank; i++) {
    map.extent[i] = permute->out_shape[i];
    map.from[i] = from[perm->shape[i] - 1];
    map.to[i] = to[i];
  }
  return permute_add(job, permute, &map);
}

/*
 * Heads that a product has side by side become batches, or back, in FRACTAL_NZ:
 * [batch, heads, n1, m1, 16, 16] and [heads * n1, batch * m1, 16, 16].
 */
static bool call_heads(struct lower_call *call) {
  enum { APART = 6, JOINED = 4 };
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  bool joins = x->rank == APART && y->rank == JOINED;
  const uint64_t *s = joins ? x->shape : y->shape, *t = joins ? y->shape : x->shape;
  if (call->output_count == 0 || (!joins && (x->rank != JOINED || y->rank != APART)) ||
      s[1] * s[2] != t[0] || s[0] * s[3] != t[1])
    return lower_cannot(call, "only heads that are joined or taken apart in FRACTAL_NZ are known");
  const uint64_t apart[] = {s[0], s[1], s[2], s[3], s[4], s[5]};
  const uint64_t joined[] = {s[1], s[2], s[0], s[3], s[4], s[5]};
  lower_arg_shape(call, "shape", joins ? apart : joined, APART);
  lower_arg(call, "perm=%s", joins ? "2x3x1x4x5x6" : "3x1x2x4x5x6");
  lower_arg_dtype(call, "dtype", x);
  return true;
}

/* The order is a value that profiles lack: each dimension of y is the first of x that fits. */
static bool call_transpose(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  char text[TENSOR_RANK_MAX * 4] = "";
  if (strncmp(call->type, "Confusion", strlen("Confusion")) == 0)
    return call_heads(call);
  size_t at = 0;
  uint32_t used = 0;
  if (call->output_count == 0 || x->rank != y->rank)
    return lower_cannot(call, "no shapes of equal rank");
  for (unsigned i = 0; i < y->rank; i++) {
    unsigned j = 0;
    while (j < x->rank && (used & 1u << j || x->shape[j] != y->shape[i]))
      j++;
    if (j == x->rank)
      return lower_cannot(call, "the shapes are not permutations of each other");
    used |= 1u << j;
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%u", i ? "x" : "", j + 1);
  }
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg(call, "perm=%s", text);
  lower_arg_dtype(call, "dtype", x);
  /* One buffer: in profiles the times of the pipes add up to that of the core. */
  lower_arg(call, "buffers=1");
  return true;
}

LOWER_OPERATOR(transpose, "Transpose|TransposeD|ConfusionTransposeD|ConfusionTranspose",
               "y = x with its dimensions in another order", transpose_keys,
               PERMUTE(transpose_setup), NULL, call_transpose)

/* ---- transdata ------------------------------------------------------------------------------- */

enum way { TO_5HD, FROM_5HD, TO_Z, FROM_Z, TO_NZ, FROM_NZ };
#define WAYS                                                                                       \
  "nchw_to_nc1hwc0|nc1hwc0_to_nchw|nchw_to_fractal_z|fractal_z_to_nchw|nd_to_fractal_nz|"          \
  "fractal_nz_to_nd"

static const struct lower_key transdata_keys[] = {
    SHAPE_KEY("extents in NCHW or ND order"),
    WORD_KEY("way", NULL, WAYS, "from which format to which"),
    LOWER_KEY("c0", SIZE, "", NULL, "innermost extent; a 32-byte block"),
    LOWER_KEY("idle", SIZE, "", NULL,
              "1: blocks may be more than tiles, and the others do nothing"),
    DTYPE_KEY("fp16", "fp16|bf16|fp32|int16|int32", "type of x and y"),
    VTILE_KEYS_TABLE};

static void swap_sides(struct pmap *map) {
  struct pmap other = *map;
  memcpy(map->from, other.to, sizeof map->from);
  memcpy(map->to, other.from, sizeof map->to);
  map->from_base = other.to_base;
  map->to_base = other.from_base;
}

static uint64_t in_fractals(uint64_t rows) { return ceil_div(rows, FRACTAL_ROWS) * FRACTAL_ROWS; }

/* All whole blocks of columns, then the last block, which has `rest` of dimension `columns`; blocks
 * are dimension 1. */
static enum vinci_status add_blocks(struct lower_job *job, struct permute *permute,
                                    struct pmap *map, unsigned columns, uint64_t rest, bool back) {
  struct pmap tail = *map;
  tail.extent[1] = rest > 0;
  tail.extent[columns] = rest;
  tail.from_base = map->extent[1] * map->from[1];
  tail.to_base = map->extent[1] * map->to[1];
  tail.padded = back ? 0 : map->extent[columns];
  if (back) {
    swap_sides(map);
    swap_sides(&tail);
  }
  enum vinci_status status = permute_add(job, permute, map);
  return status == VINCI_OK && rest ? permute_add(job, permute, &tail) : status;
}

/* The rows that the last fractal of each column lacks. */
static enum vinci_status add_zero_rows(struct lower_job *job, struct permute *permute,
                                       uint64_t rows, uint64_t columns, uint64_t c0) {
  uint64_t all = in_fractals(rows);
  struct pmap map = {.count = 3,
                     .extent = {columns, all - rows, c0},
                     .from = {all * c0, c0, 1},
                     .to = {all * c0, c0, 1},
                     .to_base = rows * c0,
                     .fills = true};
  return permute_add(job, permute, &map);
}

/* Short rows: all whole blocks of channels, then the last block. */
static enum vinci_status add_lines(struct lower_job *job, struct permute *permute,
                                   const uint64_t *nchw, uint64_t c0, bool back) {
  struct plines lines = {.n = nchw[0],
                         .all_channels = nchw[1],
                         .places = nchw[2] * nchw[3],
                         .blocks = nchw[1] / c0,
                         .channels = c0,
                         .back = back};
  enum vinci_status status = permute_lines_add(job, permute, &lines);
  lines.first_block = lines.blocks;
  lines.blocks = 1;
  lines.channels = nchw[1] % c0;
  return status == VINCI_OK ? permute_lines_add(job, permute, &lines) : status;
}

/* NCHW and a format of blocks of channels: all whole blocks, then the last block. */
static enum vinci_status add_channels(struct lower_job *job, struct permute *permute,
                                      const uint64_t *nchw, uint64_t c0, bool is_z, bool back) {
  uint64_t n = nchw[0], c = nchw[1], hw = nchw[2] * nchw[3], whole = c / c0, rest = c % c0;
  uint64_t c1 = ceil_div(c, c0), z_rows = in_fractals(n);
  uint64_t z_n = c0, z_c1 = hw * z_rows * c0, z_hw = z_rows * c0;
  struct pmap map = {
      .count = 4,
      .extent = {n, whole, c0, hw},
      .from = {c * hw, c0 * hw, hw, 1},
      .to = {is_z ? z_n : c1 * hw * c0, is_z ? z_c1 : hw * c0, 1, is_z ? z_hw : c0},
  };
  enum vinci_status status;
  bool plain = hw == 1 && back && !is_z && !select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B8);
  if (plain) { /* rows of channels, without those that pad the last block */
    map = (struct pmap){.count = 2, .extent = {n, c}, .from = {c1 * c0, 1}, .to = {c, 1}};
    return permute_add(job, permute, &map);
  }
  if (is_z && permute_lines_fit(job, permute, c0, hw))
    status = add_lines(job, permute, nchw, c0, back);
  else
    status = add_blocks(job, permute, &map, 2, rest, back);
  if (status == VINCI_OK && is_z && !back)
    status = add_zero_rows(job, permute, n, c1 * hw, c0);
  return status;
}

/* Rows of n columns are put together out of their pieces, the last of which has more, and leave as
 * one run: the last columns alone may be less than a block. */
static enum vinci_status add_whole_rows(struct lower_job *job, struct permute *permute,
                                        struct pmap *map, uint64_t n) {
  uint64_t pieces = map->extent[1] + 1;
  map->extent[1] = pieces;
  swap_sides(map);
  enum vinci_status status = permute_add(job, permute, map);
  struct ppass *pass = &permute->pass[0];
  if (status != VINCI_OK)
    return status;
  if (pass->fan != pieces)
    return lower_error(job, "on %s rows are up to 16 KiB, or whole blocks", job->soc->name);
  pass->kept = n;
  return VINCI_OK;
}

/* Rows of whole fractals, and columns of whole blocks, the rest of them filled with zeros. */
static enum vinci_status add_fractals(struct lower_job *job, struct permute *permute,
                                      const struct lower_value *shape, uint64_t c0, bool back) {
  uint64_t m = shape->shape[shape->rank - 2], n = shape->shape[shape->rank - 1];
  uint64_t batch = lower_elements(shape->shape, shape->rank - 2), rows = in_fractals(m);
  uint64_t whole = n / c0, rest = n % c0, blocks = ceil_div(n, c0);
  struct pmap map = {.count = 4,
                     .extent = {batch, whole, m, c0},
                     .from = {m * n, c0, n, 1},
                     .to = {rows * blocks * c0, rows * c0, c0, 1}};
  if (back && rest && !select_has(job->soc, OP_COPY_UBUF_TO_GM_ALIGN_B8))
    return add_whole_rows(job, permute, &map, n);
  enum vinci_status status = add_blocks(job, permute, &map, 3, rest, back);
  if (status == VINCI_OK && !back)
    status = add_zero_rows(job, permute, m, batch * blocks, c0);
  return status;
}

static void set_block_shape(struct permute *permute, const struct lower_value *shape, uint64_t c0,
                            enum way way) {
  const uint64_t *s = shape->shape;
  bool back = way == FROM_5HD || way == FROM_Z || way == FROM_NZ;
  uint64_t *to = back ? permute->in_shape : permute->out_shape;
  unsigned *rank = back ? &permute->in_rank : &permute->out_rank;
  const char **format = back ? &permute->in_format : &permute->out_format;
  if (way == TO_5HD || way == FROM_5HD) {
    memcpy(to, (uint64_t[]){s[0], ceil_div(s[1], c0), s[2], s[3], c0}, 5 * sizeof *to);
    *rank = 5;
    *format = "NC1HWC0";
  } else if (way == TO_Z || way == FROM_Z) {
    memcpy(to,
           (uint64_t[]){ceil_div(s[1], c0) * s[2] * s[3], ceil_div(s[0], FRACTAL_ROWS),
                        FRACTAL_ROWS, c0},
           4 * sizeof *to);
    *rank = 4;
    *format = "FRACTAL_Z";
  } else {
    unsigned lead = shape->rank - 2;
    memcpy(to, s, lead * sizeof *to);
    memcpy(
        to + lead,
        (uint64_t[]){ceil_div(s[lead + 1], c0), ceil_div(s[lead], FRACTAL_ROWS), FRACTAL_ROWS, c0},
        4 * sizeof *to);
    *rank = lead + 4;
    *format = "FRACTAL_NZ";
  }
  permute_copy_shape(back ? permute->out_shape : permute->in_shape,
                     back ? &permute->out_rank : &permute->in_rank, shape);
}

static enum vinci_status transdata_setup(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *given = lower_get(job, "c0");
  enum way way = (enum way)lower_get(job, "way")->word;
  struct permute *permute = permute_new(job);
  if (!permute)
    return VINCI_E_NOMEM;
  uint64_t c0 = given ? given->size : BLOCK_BYTES / vtile_bytes(permute->type);
  bool fractal = way == TO_NZ || way == FROM_NZ;
  if (fractal ? shape->rank < 2 || shape->rank > 4 : shape->rank != 4)
    return lower_error(job, "shape has %s extents", fractal ? "2 to 4" : "4");
  if (c0 * vtile_bytes(permute->type) % BLOCK_BYTES != 0 || c0 > FRACTAL_ROWS)
    return lower_error(job, "c0 is a multiple of %u up to %d",
                       BLOCK_BYTES / vtile_bytes(permute->type), FRACTAL_ROWS);
  bool is_z = way == TO_Z || way == FROM_Z;
  permute->code = KERNEL_FORMAT;
  /* In a profile of a 910B2 the core time of 20 kernels out of blocks is at least the sum of their
   * pipes (1.0 to 1.5 times, but for one with 1.05 times less); of 28 into NC1HWC0 it is up to a
   * third less. */
  permute->waits = way == FROM_5HD || way == FROM_Z;
  set_block_shape(permute, shape, c0, way);
  if (fractal) {
    enum vinci_status status = permute_fractals(job, permute, shape, c0, way == FROM_NZ);
    return status != VINCI_OK || permute->gather
               ? status
               : add_fractals(job, permute, shape, c0, way == FROM_NZ);
  }
  return add_channels(job, permute, shape->shape, c0, is_z, way == FROM_5HD || way == FROM_Z);
}

static uint64_t z_blocks(const struct lower_tensor *plain, uint64_t element, uint64_t cores) {
  uint64_t n = plain->shape[0], bytes = lower_elements(plain->shape + 1, plain->rank - 1) * element;
  return ceil_div(n, permute_lines_rows(n, max_u64(bytes, 1), cores));
}

/* On the 30-core Ascend910B of 2019 all 86 kernels of TransData that are measured have a block for
 * each core, also those of 64 x 2 elements. */
static void call_all_cores(struct lower_call *call, uint64_t cores) {
  lower_arg(call, "blocks=%" PRIu64, cores);
  lower_arg(call, "idle=1");
}

/* Formats are told by rank and extents, since profiles give those of the inputs only. */
static bool call_transdata(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  if (call->input_count == 0 || call->output_count == 0)
    return lower_cannot(call, "no shapes");
  bool to_blocks = strcmp(x->format, "NCHW") == 0 || strcmp(x->format, "ND") == 0;
  const struct lower_tensor *blocks = to_blocks ? y : x, *plain = to_blocks ? x : y;
  if (blocks->rank == 5 && plain->rank == 4)
    lower_arg(call, to_blocks ? "way=nchw_to_nc1hwc0" : "way=nc1hwc0_to_nchw");
  else if (blocks->rank == 4 && plain->rank == 4)
    lower_arg(call, to_blocks ? "way=nchw_to_fractal_z" : "way=fractal_z_to_nchw");
  else if (blocks->rank == plain->rank + 2)
    lower_arg(call, to_blocks ? "way=nd_to_fractal_nz" : "way=fractal_nz_to_nd");
  else
    return lower_cannot(call, "no known pair of formats");
  lower_arg_shape(call, "shape", plain->shape, plain->rank);
  lower_arg(call, "c0=%" PRIu64, blocks->shape[blocks->rank - 1]);
  lower_arg_dtype(call, "dtype", x);
  /* One buffer for what comes in and one for what leaves, as the published schedules of
   * TransData have it: keys of its tilings never ask for two. */
  lower_arg(call, "buffers=1");
  /* The vendor's kernels share out N, in FRACTAL_Z as much of it as is worth a core. */
  uint64_t cores = soc_core_count(call->soc, emit_vector_core(call->soc));
  if (blocks->rank == 5 && plain->rank == 4)
    lower_arg(call, "blocks=%" PRIu64, min_u64(cores, plain->shape[0]));
  else if (blocks->rank == plain->rank)
    lower_arg(call, "blocks=%" PRIu64, z_blocks(plain, vtile_bytes(x->dtype), cores));
  else if (call->soc->arch == ARCH_C100)
    call_all_cores(call, cores);
  return true;
}

LOWER_OPERATOR(transdata, "TransData", "y = x in another format", transdata_keys,
               PERMUTE(transdata_setup), NULL, call_transdata)

/* ---- slice ----------------------------------------------------------------------------------- */

static const struct lower_key slice_keys[] = {
    SHAPE_KEY("extents of x"), LOWER_KEY("out", SHAPE, NULL, NULL, "extents of y"),
    LOWER_KEY("begin", SIZE, "", "0", "elements of x before the first of y"),
    DTYPE_KEY("fp16", PERMUTE_TYPES, "type of x and y"), VTILE_KEYS_TABLE};

/* Columns of rows that follow each other in x. */
static enum vinci_status slice_columns(struct lower_job *job, struct permute *permute,
                                       uint64_t begin) {
  const struct lower_value *shape = lower_get(job, "shape"), *out = lower_get(job, "out");
  unsigned last = shape->rank - 1;
  uint64_t row = shape->shape[last], first = begin % row;
  for (unsigned i = 1; i < last; i++)
    if (out->shape[i] != shape->shape[i])
      return VINCI_OK;
  const struct pshort_input input = {"x", row, first, out->shape[last], begin - first};
  return shape->rank < 2 || out->shape[last] == row
             ? VINCI_OK
             : permute_short_rows(job, permute, &input, 1, lower_elements(out->shape, last));
}

static enum vinci_status slice_setup(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *out = lower_get(job, "out");
  const struct lower_value *begin = lower_get(job, "begin");
  struct permute *permute = permute_new(job);
  struct pmap map = {.count = shape->rank, .from_base = begin ? begin->size : 0};
  uint64_t last = map.from_base;
  if (!permute)
    return VINCI_E_NOMEM;
  if (out->rank != shape->rank)
    return lower_error(job, "shape and out need equal ranks");
  permute_strides(shape->shape, shape->rank, map.from);
  permute_strides(out->shape, shape->rank, map.to);
  for (unsigned i = 0; i < shape->rank; i++) {
    uint64_t first = map.from_base / map.from[i] % shape->shape[i];
    if (first + out->shape[i] > shape->shape[i])
      return lower_error(job, "y reaches beyond dimension %u of x", i + 1);
    map.extent[i] = out->shape[i];
    last += (out->shape[i] - 1) * map.from[i];
  }
  if (last >= lower_elements(shape->shape, shape->rank))
    return lower_error(job, "y reaches beyond x");
  permute_copy_shape(permute->in_shape, &permute->in_rank, shape);
  permute_copy_shape(permute->out_shape, &permute->out_rank, out);
  enum vinci_status status = permute_add(job, permute, &map);
  return status == VINCI_OK ? slice_columns(job, permute, map.from_base) : status;
}

static bool call_slice(struct lower_call *call) {
  if (call->input_count == 0 || call->output_count == 0)
    return lower_cannot(call, "no shapes");
  lower_arg_shape(call, "shape", call->input[0].shape, call->input[0].rank);
  lower_arg_shape(call, "out", call->output[0].shape, call->output[0].rank);
  lower_arg_dtype(call, "dtype", &call->input[0]);
  return true;
}

LOWER_OPERATOR(slice, "Slice|SliceD|StridedSlice", "y = a part of x", slice_keys,
               PERMUTE(slice_setup), NULL, call_slice)

/* ---- as_strided ------------------------------------------------------------------------------ */

static const struct lower_key strided_keys[] = {
    SHAPE_KEY("extents of x"),
    LOWER_KEY("out", SHAPE, NULL, NULL, "extents of y"),
    LOWER_KEY("strides", SHAPE, NULL, NULL,
              "elements of x from one element of y to the next along each dimension"),
    LOWER_KEY("offset", SIZE, "0", "0", "elements of x before the first of y"),
    DTYPE_KEY("fp16", PERMUTE_TYPES, "type of x and y"),
    VTILE_KEYS_TABLE};

static enum vinci_status strided_setup(struct lower_job *job) {
  const struct lower_value *shape = lower_get(job, "shape"), *out = lower_get(job, "out");
  const struct lower_value *strides = lower_get(job, "strides");
  uint64_t last = lower_get(job, "offset")->size;
  struct permute *permute = permute_new(job);
  struct pmap map = {.count = out->rank, .from_base = last};
  if (!permute)
    return VINCI_E_NOMEM;
  if (out->rank != strides->rank)
    return lower_error(job, "out and strides need equal ranks");
  permute_strides(out->shape, out->rank, map.to);
  for (unsigned i = 0; i < out->rank; i++) {
    map.from[i] = strides->shape[i];
    map.extent[i] = out->shape[i];
    last += (out->shape[i] - 1) * strides->shape[i];
    if (out->shape[i] > 1 && strides->shape[out->rank - 1] == 1 && i + 1 < out->rank &&
        strides->shape[i] < out->shape[out->rank - 1])
      return lower_error(job,
                         "rows of y overlap in x, which a single copy cannot tell: dimension %u "
                         "has stride %" PRIu64 ", rows have %" PRIu64 " elements",
                         i + 1, strides->shape[i], out->shape[out->rank - 1]);
  }
  if (last >= lower_elements(shape->shape, shape->rank))
    return lower_error(job, "y reaches beyond x");
  permute_copy_shape(permute->in_shape, &permute->in_rank, shape);
  permute_copy_shape(permute->out_shape, &permute->out_rank, out);
  return permute_add(job, permute, &map);
}

/* Sizes and strides are values: unless a column args has them, y is taken to be the first corner of
 * x, where the ranks agree. */
static bool call_strided(struct lower_call *call) {
  const struct lower_tensor *x = &call->input[0], *y = &call->output[0];
  uint64_t strides[TENSOR_RANK_MAX];
  bool given = call->given && strstr(call->given, "strides=");
  if (call->input_count == 0 || call->output_count == 0 || x->rank == 0 || y->rank == 0)
    return lower_cannot(call, "no shapes");
  lower_arg_shape(call, "shape", x->shape, x->rank);
  lower_arg_shape(call, "out", y->shape, y->rank);
  lower_arg_dtype(call, "dtype", x);
  if (given)
    return true;
  for (unsigned i = 0; i < y->rank; i++)
    if (y->rank != x->rank || y->shape[i] > x->shape[i])
      return lower_cannot(call, "strides are values, which profiles lack; say strides=... in a "
                                "column args");
  permute_strides(x->shape, x->rank, strides);
  lower_arg_shape(call, "strides", strides, x->rank);
  return true;
}

LOWER_OPERATOR(as_strided, "AsStrided", "y = elements of x at a stride along each dimension",
               strided_keys, PERMUTE(strided_setup), NULL, call_strided)
