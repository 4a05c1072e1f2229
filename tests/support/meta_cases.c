/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random cases: operators of every kind with odd and typical shapes. Most are small, so that
 * hundreds fit into a test; a few fill L2. A shape that a chip cannot do is the caller's to skip.
 */
#include "tests/support/meta_cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

static uint64_t next_random(struct meta_random *random) {
  uint64_t x = random->state += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

unsigned meta_pick(struct meta_random *random, unsigned count) {
  return (unsigned)(next_random(random) % count);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* What an operator is made from: its random numbers, and how many elements it may have. */
struct maker {
  struct meta_random random;
  uint64_t elements;
  struct meta_case *out;
};

static void add(struct maker *maker, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct maker *maker, const char *format, ...) {
  size_t at = strlen(maker->out->args);
  va_list list;
  va_start(list, format);
  (void)vsnprintf(maker->out->args + at, META_ARGS_BYTES - at, format, list);
  va_end(list);
}

static unsigned pick(struct maker *maker, unsigned count) {
  return meta_pick(&maker->random, count);
}

/* From 1 to most: one that is common, a neighbour of a power of two, or any. */
static unsigned extent(struct maker *maker, uint64_t most) {
  static const unsigned common[] = {
      1,    2,    3,    4,    7,    8,    16,   24,   32,   48,   64,   80,    96,    100,
      128,  160,  192,  200,  224,  256,  320,  384,  500,  512,  640,  768,   777,   896,
      1000, 1024, 1280, 1536, 2000, 2048, 2560, 3072, 4096, 5120, 8192, 11008, 12288, 16384};
  unsigned limit = most < 1 ? 1 : most > 65536 ? 65536 : (unsigned)most, usable = 0;
  while (usable < COUNT(common) && common[usable] <= limit)
    usable++;
  unsigned kind = pick(maker, 4), value = common[pick(maker, usable)];
  if (kind == 0)
    value += value < limit;
  else if (kind == 1)
    value = 1 + pick(maker, limit);
  return value;
}

/* At least `least`, or all of `most` where that is less. */
static unsigned extent_from(struct maker *maker, unsigned least, uint64_t most) {
  unsigned value = extent(maker, most);
  return value < least ? least : value;
}

static const char *type_of(struct maker *maker, const char *const *types, unsigned count) {
  return types[pick(maker, count)];
}

static const char *float_type(struct maker *maker) {
  static const char *const types[] = {"fp16", "fp32", "bf16"};
  return type_of(maker, types, COUNT(types));
}

/* Rows and columns; sometimes rows of rows. Returns how many dimensions. */
static unsigned add_shape(struct maker *maker, unsigned cols_least, uint64_t cols_most) {
  unsigned cols = extent_from(maker, cols_least, cols_most);
  unsigned rows = extent(maker, maker->elements / cols);
  if (pick(maker, 4) == 0) {
    unsigned outer = extent(maker, 8);
    add(maker, " shape=%ux%ux%u", outer, rows < outer ? 1 : rows / outer, cols);
    return 3;
  }
  add(maker, " shape=%ux%u", rows, cols);
  return 2;
}

/* ---- operators ------------------------------------------------------------------------------- */

static void make_elementwise(struct maker *maker) {
  add_shape(maker, 1, maker->elements);
  add(maker, " dtype=%s", float_type(maker));
}

static void make_copy(struct maker *maker) {
  static const char *const types[] = {"fp16", "fp32", "int8", "int64"};
  add_shape(maker, 1, maker->elements);
  add(maker, " dtype=%s", type_of(maker, types, COUNT(types)));
}

static void make_fill(struct maker *maker) {
  static const char *const types[] = {"fp16", "fp32", "int16", "int32"};
  add_shape(maker, 1, maker->elements);
  add(maker, " dtype=%s", type_of(maker, types, COUNT(types)));
}

static void make_cast(struct maker *maker) {
  static const char *const ways[][2] = {{"fp32", "fp16"},  {"fp16", "fp32"}, {"fp32", "bf16"},
                                        {"fp32", "int32"}, {"fp16", "int8"}, {"int32", "fp32"}};
  const char *const *way = ways[pick(maker, COUNT(ways))];
  add_shape(maker, 1, maker->elements);
  add(maker, " dtype=%s to=%s", way[0], way[1]);
}

static void make_scalar(struct maker *maker) {
  make_elementwise(maker);
  add(maker, " alpha=%s", pick(maker, 2) ? "2.5" : "3");
}

/* One of them broadcast at times. */
static void make_binary(struct maker *maker) {
  unsigned cols = extent(maker, maker->elements), rows = extent(maker, maker->elements / cols);
  add(maker, " shape=%ux%u", rows, cols);
  unsigned broadcast = pick(maker, 8);
  if (broadcast == 0)
    add(maker, " shape1=1x%u", cols);
  else if (broadcast == 1)
    add(maker, " shape1=%ux1", rows);
  add(maker, " dtype=%s", float_type(maker));
}

static void make_dropout(struct maker *maker) {
  add_shape(maker, 1, maker->elements);
  add(maker, " dtype1=%s", float_type(maker));
}

static void make_rows(struct maker *maker) {
  add_shape(maker, 1, pick(maker, 8) ? 8192 : 65536);
  add(maker, " dtype=%s", float_type(maker));
}

static void make_batch_norm(struct maker *maker) {
  unsigned side = extent(maker, 64), channels = extent(maker, 256);
  unsigned images = extent(maker, maker->elements / side / side / channels);
  add(maker, " shape=%ux%ux%ux%u dtype=%s", images, channels, side, side, float_type(maker));
}

static void make_reduce(struct maker *maker) {
  unsigned rank = add_shape(maker, 1, 16384);
  add(maker, " axis=%u dtype=%s", pick(maker, rank), float_type(maker));
}

static void make_pool(struct maker *maker) {
  unsigned kernel = 1 + pick(maker, 4), stride = 1 + pick(maker, 3);
  unsigned side = extent_from(maker, kernel, 64);
  unsigned maps = extent(maker, maker->elements / 16 / side / side);
  add(maker, " shape=%ux%ux%ux%ux16 kernel=%ux%u stride=%ux%u pad=%ux%u", maps < 4 ? 1 : maps / 4,
      maps < 4 ? maps : 4, side, side, kernel, kernel, stride, stride, (kernel - 1) / 2,
      (kernel - 1) / 2);
  add(maker, " dtype=%s", pick(maker, 2) ? "fp16" : "fp32");
}

static void make_sort(struct maker *maker) {
  maker->elements /= 4;
  add_shape(maker, 1, 8192);
}

static void make_topk(struct maker *maker) {
  maker->elements /= 4;
  add_shape(maker, 64, 8192);
  add(maker, " k=%u", 1 + pick(maker, 64));
}

static void make_transpose(struct maker *maker) {
  static const char *const types[] = {"fp16", "fp32", "int8", "int64"};
  static const char *const perms[] = {"1x3x2", "2x1x3", "3x2x1", "2x3x1"};
  if (add_shape(maker, 1, 4096) == 2)
    add(maker, " perm=2x1");
  else
    add(maker, " perm=%s", perms[pick(maker, COUNT(perms))]);
  add(maker, " dtype=%s", type_of(maker, types, COUNT(types)));
}

static void make_transdata(struct maker *maker) {
  static const char *const maps[] = {"nchw_to_nc1hwc0", "nc1hwc0_to_nchw", "nchw_to_fractal_z",
                                     "fractal_z_to_nchw"};
  static const char *const mats[] = {"nd_to_fractal_nz", "fractal_nz_to_nd"};
  if (pick(maker, 2)) {
    add_shape(maker, 1, 4096);
    add(maker, " way=%s", mats[pick(maker, COUNT(mats))]);
  } else {
    unsigned side = extent(maker, 56), channels = extent(maker, 256);
    unsigned images = extent(maker, maker->elements / side / side / channels);
    add(maker, " shape=%ux%ux%ux%u way=%s", images, channels, side, side,
        maps[pick(maker, COUNT(maps))]);
  }
  add(maker, " dtype=%s", pick(maker, 2) ? "fp16" : "fp32");
}

static void make_slice(struct maker *maker) {
  unsigned cols = extent(maker, 8192), rows = extent(maker, maker->elements / cols);
  unsigned part = extent(maker, cols), count = extent(maker, rows);
  add(maker, " shape=%ux%u out=%ux%u begin=%u dtype=%s", rows, cols, count, part,
      (rows - count) * cols + (cols - part) / 2, float_type(maker));
}

static void make_concat(struct maker *maker) {
  unsigned cols = extent(maker, 4096), rows = extent(maker, maker->elements / cols);
  add(maker, " shape=%ux%u shape1=%ux%u dtype=%s", rows, cols, rows, extent(maker, 4096),
      float_type(maker));
}

static void make_pad(struct maker *maker) {
  add(maker, " before=%ux%u", pick(maker, 4), pick(maker, 70));
  unsigned cols = extent(maker, 8192);
  add(maker, " shape=%ux%u dtype=%s", extent(maker, maker->elements / cols), cols,
      float_type(maker));
}

static void make_gather(struct maker *maker) {
  unsigned cols = extent(maker, 4096), rows = extent(maker, maker->elements / cols);
  add(maker, " shape=%ux%u count=%u dtype=%s", rows, cols, extent(maker, maker->elements / cols),
      float_type(maker));
}

static void make_swiglu(struct maker *maker) {
  unsigned half = extent(maker, 4096);
  add(maker, " shape=%ux%u dtype=%s", extent(maker, maker->elements / half / 2), 2 * half,
      float_type(maker));
}

static void make_rope(struct maker *maker) {
  unsigned head = 32u << pick(maker, 3), heads = extent(maker, 32);
  add(maker, " shape=%ux%ux%u dtype=%s", extent(maker, maker->elements / head / heads), heads, head,
      float_type(maker));
}

static void make_rms_norm_grad(struct maker *maker) {
  add_shape(maker, 1, 8192);
  add(maker, " dtype=%s", float_type(maker));
}

/* ---- operators of the cube ------------------------------------------------------------------- */

/* The elements stand for the products, 256 of them to each. */
static void add_product(struct maker *maker) {
  uint64_t products = maker->elements * 256;
  unsigned n = extent(maker, 4096), k = extent(maker, products / n < 8192 ? products / n : 8192);
  unsigned m = extent(maker, products / n / k < 4096 ? products / n / k : 4096);
  add(maker, " m=%u k=%u n=%u", m, k, n);
}

static void make_matmul(struct maker *maker) {
  static const char *const types[] = {"fp16", "fp16", "bf16", "fp32", "int8"};
  const char *type = type_of(maker, types, COUNT(types));
  add_product(maker);
  add(maker, " dtype=%s", type);
  if (pick(maker, 3) == 0)
    add(maker, " transpose_%c=1", pick(maker, 2) ? 'a' : 'b');
  if (pick(maker, 5) == 0)
    add(maker, " bias=1");
  if (pick(maker, 6) == 0)
    add(maker, " format_%c=NZ", pick(maker, 2) ? 'a' : 'b');
}

static void make_batch_matmul(struct maker *maker) {
  unsigned batch = extent(maker, 64);
  maker->elements = maker->elements / batch < 256 ? 256 : maker->elements / batch;
  add_product(maker);
  add(maker, " batch=%u dtype=%s", batch, pick(maker, 3) ? "fp16" : "fp32");
}

static void make_conv(struct maker *maker) {
  static const unsigned kernels[] = {1, 3, 3, 5, 7};
  unsigned kernel = kernels[pick(maker, COUNT(kernels))], c = extent(maker, 256);
  unsigned side = extent_from(maker, kernel, 56), k = extent(maker, 256);
  uint64_t each = (uint64_t)side * side * c * k * kernel * kernel;
  unsigned n = extent(maker, maker->elements * 256 / each < 16 ? maker->elements * 256 / each : 16);
  add(maker, " n=%u c=%u h=%u w=%u k=%u kernel=%ux%u pad=%ux%u", n, c, side, side, k, kernel,
      kernel, kernel / 2, kernel / 2);
  if (pick(maker, 3) == 0)
    add(maker, " stride=2x2");
}

static void make_attention(struct maker *maker) {
  unsigned heads = 1 + pick(maker, 8), queries = extent_from(maker, 1, 1024);
  unsigned keys = pick(maker, 3) ? queries : extent_from(maker, 1, 2048);
  add(maker, " batch=%u heads=%u seq_q=%u seq_k=%u head_dim=%u dtype=%s", 1 + pick(maker, 2), heads,
      queries, keys, 64u << pick(maker, 2), pick(maker, 2) ? "fp16" : "bf16");
  if (pick(maker, 3) == 0 && keys >= queries)
    add(maker, " causal=1");
}

/* Each as often as its weight says. */
static const struct {
  const char *op;
  void (*make)(struct maker *maker);
  unsigned weight;
} makers[] = {
    {"matmul", make_matmul, 10},
    {"batch_matmul", make_batch_matmul, 5},
    {"conv2d", make_conv, 4},
    {"conv2d_backprop_input", make_conv, 3},
    {"conv2d_backprop_filter", make_conv, 3},
    {"flash_attention", make_attention, 4},
    {"flash_attention_grad", make_attention, 3},
    {"copy", make_copy, 2},
    {"relu", make_elementwise, 1},
    {"abs", make_elementwise, 1},
    {"exp", make_elementwise, 1},
    {"ln", make_elementwise, 1},
    {"sqrt", make_elementwise, 1},
    {"rsqrt", make_elementwise, 1},
    {"reciprocal", make_elementwise, 1},
    {"neg", make_elementwise, 1},
    {"square", make_elementwise, 1},
    {"sigmoid", make_elementwise, 1},
    {"tanh", make_elementwise, 1},
    {"gelu", make_elementwise, 1},
    {"silu", make_elementwise, 1},
    {"sin", make_elementwise, 1},
    {"cos", make_elementwise, 1},
    {"muls", make_scalar, 1},
    {"adds", make_scalar, 1},
    {"maxs", make_scalar, 1},
    {"mins", make_scalar, 1},
    {"leaky_relu", make_scalar, 1},
    {"pows", make_scalar, 1},
    {"cast", make_cast, 2},
    {"add", make_binary, 2},
    {"sub", make_binary, 1},
    {"mul", make_binary, 1},
    {"div", make_binary, 1},
    {"axpy", make_binary, 1},
    {"max", make_binary, 1},
    {"min", make_binary, 1},
    {"relu_grad", make_elementwise, 1},
    {"where", make_elementwise, 1},
    {"fill", make_fill, 1},
    {"dropout", make_dropout, 1},
    {"adamw", make_elementwise, 1},
    {"softmax", make_rows, 2},
    {"log_softmax", make_rows, 1},
    {"log_softmax_grad", make_rows, 1},
    {"rms_norm", make_rows, 2},
    {"rms_norm_grad", make_rms_norm_grad, 1},
    {"layer_norm", make_rows, 2},
    {"batch_norm", make_batch_norm, 1},
    {"reduce_sum", make_reduce, 2},
    {"reduce_mean", make_reduce, 1},
    {"reduce_sum_square", make_reduce, 1},
    {"reduce_max", make_reduce, 1},
    {"reduce_min", make_reduce, 1},
    {"lp_norm", make_reduce, 1},
    {"argmax", make_rows, 1},
    {"argmin", make_rows, 1},
    {"max_pool", make_pool, 1},
    {"avg_pool", make_pool, 1},
    {"max_pool_with_argmax", make_pool, 1},
    {"max_pool_grad", make_pool, 1},
    {"sort", make_sort, 1},
    {"topk", make_topk, 1},
    {"transpose", make_transpose, 2},
    {"transdata", make_transdata, 2},
    {"slice", make_slice, 1},
    {"concat", make_concat, 1},
    {"pad", make_pad, 1},
    {"gather", make_gather, 1},
    {"swiglu", make_swiglu, 1},
    {"rope", make_rope, 1},
    {"rope_grad", make_rope, 1},
};

static unsigned choose_maker(struct meta_random *random) {
  unsigned total = 0, at = 0;
  for (unsigned i = 0; i < COUNT(makers); i++)
    total += makers[i].weight;
  for (unsigned rest = meta_pick(random, total); rest >= makers[at].weight; at++)
    rest -= makers[at].weight;
  return at;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static const char *const memory_names[] = {"cycle", "flat"};
static const char *const network_names[] = {"packet", "flit"};
static const char *const l2_names[] = {"empty", "warm", "streaming", "used", "dirty"};

const char *meta_memory_name(enum vinci_memory memory) { return memory_names[memory]; }
const char *meta_network_name(enum vinci_network network) { return network_names[network]; }
const char *meta_l2_name(enum vinci_l2 l2) { return l2_names[l2]; }

void meta_case_cut(struct meta_case *out) {
  strcpy(out->text, out->args);
  out->word_count = 0;
  for (char *word = strtok(out->text, " "); word; word = strtok(NULL, " "))
    out->words[out->word_count++] = word;
}

void meta_case_make(struct meta_case *out, uint64_t seed, unsigned index, unsigned attempt) {
  static const char *const chips[] = {"Ascend910B1",    "Ascend910B2",     "Ascend910B3",
                                      "Ascend910B4",    "Ascend310P3",     "Ascend910A",
                                      "Ascend910_9392", "Ascend950PR_9589"};
  static const uint64_t sizes[] = {4096, 32768, 32768, 262144, 262144, 1 << 21};
  struct meta_random random = {(seed << 32) + index};
  random.state = next_random(&random) + attempt;
  *out = (struct meta_case){.chip = chips[meta_pick(&random, COUNT(chips))]};
  unsigned kind = choose_maker(&random);
  out->op = makers[kind].op;
  out->memory = meta_pick(&random, 3) == 0 ? VINCI_MEMORY_FLAT : VINCI_MEMORY_CYCLE;
  bool flits = out->memory == VINCI_MEMORY_CYCLE && meta_pick(&random, 6) == 0;
  out->network = flits ? VINCI_NETWORK_FLIT : VINCI_NETWORK_PACKET;
  out->l2 = (enum vinci_l2)(meta_pick(&random, 2) ? meta_pick(&random, COUNT(l2_names)) : 0);
  struct maker maker = {random, flits ? 32768 : sizes[meta_pick(&random, COUNT(sizes))], out};
  makers[kind].make(&maker);
  out->elementwise = makers[kind].make == make_elementwise;
  meta_case_cut(out);
}
