/* SPDX-License-Identifier: Apache-2.0 */
/* Vector and data-movement operators: that their traces load and run, bytes and work, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/result/result.h"
#include "lower/kernel/lower.h"
#include "tests/support/fixture.h"
#include "tests/support/runs.h"
#include "tests/support/words.h"

enum { LINE_BYTES = 256 };

static vinci_trace *compiled(const char *request) { return runs_compile(fixture_shared, request); }

static struct vinci_result *run(const char *request) {
  struct vinci_diag diag = {0};
  vinci_trace *trace = compiled(request);
  vinci_result *result = NULL;
  struct vinci_run_options flat = {.struct_size = sizeof flat, .memory = VINCI_MEMORY_FLAT};
  if (vinci_run(fixture_shared, trace, &flat, &result, &diag) != VINCI_OK)
    fail_msg("%s: line %lu: %s", request, diag.line, diag.text);
  vinci_trace_free(trace);
  return result;
}

static uint64_t path_bytes(const struct vinci_result *result, enum path path) {
  uint64_t bytes = 0;
  for (uint32_t core = 0; core < result->core_count; core++)
    bytes += result->cores[core].path_bytes[path];
  return bytes;
}

/* Bytes that go in and out, once each, for sizes with all kinds of tails. */
static void bytes_move_once(void **state) {
  (void)state;
  static const struct {
    const char *request;
    uint64_t in, out;
  } rows[] = {
      {"relu shape=1", 2, 2},
      {"relu shape=15 dtype=fp32", 60, 60},
      {"relu shape=17x127", 4318, 4318},
      {"sigmoid shape=100003 dtype=bf16", 200006, 200006},
      {"sin shape=10007 dtype=fp32", 40028, 40028},
      {"muls shape=4096x1000 dtype=fp32 alpha=0.5", 16384000, 16384000},
      {"cast shape=127 dtype=int64 to=fp16", 1016, 254},
      {"cast shape=100003 dtype=fp32 to=bf16", 400012, 200006},
      {"add shape=17x127 dtype=fp16", 8636, 4318},
      {"add shape=17x127 dtype=fp32 dtype1=bf16", 12954, 8636},
      {"axpy shape=100003 alpha=2", 800024, 400012},
      {"add shape=17x127 dtype=int64", 34544, 17272},
      {"fill shape=1001 dtype=fp32", 0, 4004},
      {"where shape=1009 dtype=fp32", 9081, 4036},
      {"relu_grad shape=127 dtype=fp32", 1016, 508},
      {"adamw shape=4099", 65584, 49188},
      {"dropout shape=1024 dtype1=fp32", 4224, 4096},
      {"softmax shape=97x1031", 200014, 200014},
      {"transpose shape=17x127 perm=2x1", 4318, 4318},
      {"transpose shape=300x517 perm=2x1 dtype=fp32", 620400, 620400},
      {"transdata shape=2x64x27x27 way=nchw_to_nc1hwc0 dtype=fp32", 373248, 373248},
      {"transdata shape=48x80 way=fractal_nz_to_nd", 7680, 7680},
      {"transdata shape=17x33 way=nd_to_fractal_nz", 1122, 3072},
      {"transdata shape=37x19x3x5 way=nchw_to_fractal_z dtype=fp32", 42180, 69120},
      {"transdata shape=37x19x3x5 way=fractal_z_to_nchw dtype=fp32", 53280, 42180},
      {"slice shape=17x127 out=5x31 begin=392 dtype=fp32", 620, 620},
      {"concat shape=17x3 shape1=17x127 dtype=fp32", 8840, 8840},
      {"concat shape=17x32 pieces=40 axis=1 dtype=int8", 21760, 21760},
      {"pad shape=3x5x33x31 before=0x0x1x1 after=0x0x1x1 dtype=fp32", 61380, 69300},
      {"pad shape=17 before=3 after=0 dtype=int8 value=-1", 17, 20},
      {"gather shape=31x61 count=17 dtype=fp32", 4216, 4148},
      {"gather shape=1009x3x31 count=3x61 step=1 dtype=int8 dtype1=int64", 18483, 17019},
      {"swiglu shape=17x130", 4420, 2210},
      {"reduce_sum shape=331x61", 80764, 1324},
      {"reduce_max shape=61x64x13 axis=0 axis2=2 dtype=fp16", 101504, 128},
      {"reduce_mean shape=300x3001 axis=0", 3601200, 12004},
      {"log_softmax shape=5x3001 dtype=fp32", 60020, 60020},
      {"sort shape=17x127 dtype=fp16", 4318, 12954},
      {"topk shape=17x1009 k=5", 68612, 680},
      {"argmax shape=17x1009 dtype=fp16", 34306, 68},
      {"argmin shape=3x9001", 108012, 12},
      {"max_pool shape=2x3x16x18x16 kernel=2x2 rows=2", 55296, 13824},
      {"avg_pool shape=1x3x15x17x8 kernel=3x3 stride=2x2 dtype=fp32 rows=7", 24480, 5376},
      {"max_pool_with_argmax shape=1x2x17x13x16 kernel=3x3 pad=1x1 dtype=fp32 rows=6", 28288, 4920},
      {"max_pool_grad shape=1x2x17x13x16 kernel=2x2 stride=2x2 rows=17", 3840, 14144},
      {"log_softmax_grad shape=17x127 dtype=fp32", 17272, 8636},
      {"softmax shape=3x40009 dtype=fp32", 1440324, 480108},
      {"layer_norm shape=2x50021", 1000420, 200084},
      /* gamma goes to, and sums for dgamma come from, each of 40 cores; one core clears dgamma. */
      {"rms_norm_grad shape=17x127 dtype=fp32", 17272 + 68 + 40 * 508, 8636 + 41 * 508},
      {"layer_norm_grad shape=17x127 dtype=fp32", 17272 + 2 * 68 + 40 * 508, 8636 + 2 * 41 * 508},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vinci_result *result = run(rows[i].request);
    if (path_bytes(result, PATH_GM_UB) != rows[i].in ||
        path_bytes(result, PATH_UB_GM) != rows[i].out)
      fail_msg("%s: %lu bytes in, %lu out", rows[i].request, path_bytes(result, PATH_GM_UB),
               path_bytes(result, PATH_UB_GM));
    vinci_result_free(result);
  }
}

/* Operands that repeat are read once per tile at least; what is written is the whole result. */
static void broadcasts_run(void **state) {
  (void)state;
  static const struct {
    const char *request;
    uint64_t out;
  } rows[] = {
      {"add shape=4096x64 shape1=64 dtype=fp32", 1048576},
      {"add shape=4096x64 shape1=4096x1 dtype=bf16", 524288},
      {"mul shape=4096x1 shape1=64 dtype=fp32", 1048576},
      {"sub shape=127x15193 shape1=127x1 dtype=fp32", 7718044},
      {"mul shape=1000x17 shape1=1", 34000},
      {"add shape=15x3x7 shape1=3x1", 630},
      {"max shape=5x1x7 shape1=3x1 dtype=int32", 420},
      {"div shape=2x3x5x7x11 shape1=3x1x7x1", 4620},
      {"batch_norm shape=2x17x13x17", 15028},
      {"batch_norm shape=2x3x5x31x16 format=nc1hwc0 dtype=fp32", 59520},
      {"where shape=31x1 shape1=31x100 shape2=1 dtype=fp32", 12400},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vinci_result *result = run(rows[i].request);
    if (path_bytes(result, PATH_UB_GM) != rows[i].out)
      fail_msg("%s: %lu bytes out", rows[i].request, path_bytes(result, PATH_UB_GM));
    vinci_result_free(result);
  }
}

/* No hazard, nothing read that was never written: paddings of all kinds. */
static void checks_find_nothing(void **state) {
  (void)state;
  static const char *const requests[] = {
      "relu_grad shape=5x13 shape1=1 dtype=bf16",
      "where shape=1 shape1=7x9",
      "add shape=10007 dtype=int64",
      "transdata shape=2x17x5x3 way=nchw_to_nc1hwc0",
      "transdata shape=3x33x13x11 way=nchw_to_nc1hwc0 dtype=fp32",
      "transdata shape=3x17x1x1 way=nchw_to_nc1hwc0",
      "transdata shape=16x20x1x1 way=nchw_to_fractal_z",
      "transdata shape=3x33x13x11 way=nc1hwc0_to_nchw",
      "transdata shape=3x17x5 way=nd_to_fractal_nz",
      "transdata shape=17x33x3x1 way=nchw_to_fractal_z dtype=fp32",
      "transdata shape=37x19x3x5 way=nchw_to_fractal_z dtype=fp32",
      "transdata shape=37x19x3x5 way=fractal_z_to_nchw dtype=fp32",
      "transpose shape=5x7x3 perm=3x1x2 dtype=int64",
      "transpose shape=33x65 perm=2x1 dtype=uint8",
      "transpose shape=2048x2048 perm=2x1",
      "transpose shape=2048x720 perm=2x1 dtype=int32",
      "transpose shape=128x63x256 perm=2x3x1 dtype=fp32",
      "transpose shape=16x64x33x3x16 perm=5x1x4x3x2 dtype=bf16",
      "transpose shape=48x64 perm=2x1 dtype=fp32 rows=32 cols=64 blocks=2 buffers=2",
      "transpose shape=48x64 perm=2x1 dtype=fp16 rows=32 cols=48 blocks=4 buffers=2",
      "transdata shape=16x128x5x112 way=nchw_to_nc1hwc0",
      "transdata shape=2x17x4x4 way=nchw_to_nc1hwc0",
      "pad shape=17 before=15 after=1009",
      "pad shape=5x61x67 before=1x0x3 after=2x0x0 dtype=int8",
      "gather shape=1009x3x31 count=3x61",
      "batch_norm shape=2x17x13x17",
      "max_pool shape=2x3x31x17x16 kernel=3x3 stride=2x2 pad=1x1 ceil=1 rows=3 cols=4",
      "max_pool shape=1x2x20x20x16 kernel=20x20",
      "avg_pool shape=1x5x31x17x16 kernel=3x3 stride=2x2 pad=1x0x1x1 count_pad=0 dtype=bf16",
      "max_pool_with_argmax shape=1x5x31x17x16 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32",
      "max_pool_grad shape=1x5x31x17x16 kernel=3x3 stride=2x2 pad=1x1 dtype=fp32",
      "sort shape=2x613 chunk=64 dtype=bf16",
      "topk shape=2x5003 k=17 chunk=256",
      "argmax shape=3x1031 chunk=512 dtype=bf16",
      "softmax shape=17x127",
      "log_softmax shape=5x1031 rows=1 cols=128",
      "layer_norm shape=5x1031 rows=1 cols=256 dtype=fp32",
      "rms_norm_grad shape=17x127 dtype=bf16",
      "rms_norm_grad shape=3x3001",
      "layer_norm_grad shape=17x127 dtype=bf16",
      "layer_norm_grad shape=3x3001",
      "reduce_sum shape=7x3x2500 axis=0 axis2=2 dtype=bf16",
      "reduce_mean shape=5x7x127x11 axis=0 axis2=2 dtype=fp16",
      "lp_norm shape=3x5x7x1009 axis=1 axis2=3",
  };
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    struct vinci_diag diag = {0};
    vinci_trace *trace = compiled(requests[i]);
    vinci_findings *findings;
    if (vinci_check(fixture_shared, trace, NULL, &findings, &diag) != VINCI_OK)
      fail_msg("%s: %s", requests[i], diag.text);
    vinci_findings_free(findings);
    vinci_trace_free(trace);
  }
}

/* Results have the shapes that numpy gives them. */
static void reductions_keep_dimensions(void **state) {
  (void)state;
  static const struct {
    const char *request, *row;
  } rows[] = {
      {"reduce_sum shape=5x7x11 axis=1", "tensor,name=y,dtype=fp32,shape=5x11,io=out"},
      {"reduce_max shape=5x7x11", "tensor,name=y,dtype=fp32,shape=5x7,io=out"},
      {"reduce_mean shape=5x7x11 axis=0 axis2=2", "tensor,name=y,dtype=fp32,shape=7,io=out"},
      {"reduce_sum shape=5x7x11x3 axis=0 axis2=2", "tensor,name=y,dtype=fp32,shape=7x3,io=out"},
      {"reduce_min shape=5x7 axis=0 axes=2", "tensor,name=y,dtype=fp32,shape=1,io=out"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_diag diag = {0};
    struct words words;
    char *text;
    words_split(&words, rows[i].request);
    assert_int_equal(vinci_compile_text(fixture_shared, words.item[0], words.item + 1,
                                        words.count - 1, &text, &diag),
                     VINCI_OK);
    if (!strstr(text, rows[i].row))
      fail_msg("%s: no row %s", rows[i].request, rows[i].row);
    free(text);
  }
}

static void an_error_says(const char *request, const char *text) {
  struct vinci_diag diag = {0};
  struct words words;
  char *out;
  words_split(&words, request);
  assert_int_equal(vinci_compile_text(fixture_shared, words.item[0], words.item + 1,
                                      words.count - 1, &out, &diag),
                   VINCI_E_USAGE);
  assert_string_equal(diag.text, text);
}

static void errors_say_what_is_wrong(void **state) {
  (void)state;
  an_error_says("relu shape=1048576x1048576x16777216",
                "relu: shape has more than 2^40 elements: '1048576x1048576x16777216'");
  an_error_says("add shape=1048576x1x1048576 shape1=1x1048576x1",
                "add: y has more than 2^40 elements");
  an_error_says("gather shape=4x1048576x1024 count=1048576x64",
                "gather: y has more than 2^40 elements");
  an_error_says("transpose shape=4x4 perm=1x1",
                "transpose: perm has to name each of the 2 dimensions once");
  an_error_says("transdata shape=4x4 way=nchw_to_nc1hwc0", "transdata: shape has 4 extents");
  an_error_says("slice shape=4x4 out=5x1", "slice: y reaches beyond dimension 1 of x");
  an_error_says("concat shape=2x3 shape1=3x4",
                "concat: all shapes need to agree but for dimension 1");
  an_error_says("concat shape=2x3 shape1=2x3 pieces=4",
                "concat: pieces are of one shape, of at most 7 dimensions");
  an_error_says("reduce_sum shape=4x4 axis=2", "reduce_sum: the rank of x is only 2");
  an_error_says("swiglu shape=3", "swiglu: the last extent of x is even");
  an_error_says("batch_norm shape=3", "batch_norm: shape has at least 2 extents");
  an_error_says("batch_norm shape=2x3x4x5 format=nc1hwc0", "batch_norm: shape has 5 extents");
  an_error_says("pad shape=4x4 before=1", "pad: before needs 2 numbers");
  an_error_says("pad shape=4x4 step=2", "pad: step needs 2 numbers");
  an_error_says("slice_grad shape=4 out=9 begin=3 step=2",
                "slice_grad: dimension 1: 4 elements from 3 on, 2 apart, end behind the whole, "
                "which has 9");
  an_error_says("slice_grad shape=4 out=9 step=2x1",
                "slice_grad: shape, out, begin and step have as many numbers as each other");
  an_error_says("cumsum shape=4 exclusive=2", "cumsum: exclusive and reverse are 0 or 1");
  an_error_says("masked_select shape=3x4 count=13",
                "masked_select: count is from 1 to the 12 elements");
  an_error_says("nll_loss shape=3x4x5", "nll_loss: shape has 2 extents: rows and classes");
  an_error_says("adaptive_avg_pool shape=1x6x6x3 out=1x2x2",
                "adaptive_avg_pool: shape has 5 extents and out 3");
  an_error_says("adaptive_avg_pool shape=1x1x6x6x3 out=1x4x2",
                "adaptive_avg_pool: windows of one size are modelled: 4 does not divide 6");
  an_error_says("nonzero shape=3x4 count=0", "nonzero: count is from 1 to the 12 elements");
  an_error_says("nms boxes=12 most=5 classes=2 count=11",
                "nms: count is at most 10, what all classes can keep");
  an_error_says("nms boxes=12 most=5 iou=1.5", "nms: iou is from 0 to 1");
  an_error_says("nms_list most=5 count=6", "nms_list: count is at most 5");
  an_error_says("roi_align shape=1x4x4x12 regions=1 size=2x2",
                "roi_align: channels are whole blocks of 32 bytes");
  an_error_says("roi_align shape=4x4x16 regions=1 size=2x2",
                "roi_align: shape has four extents, size two");
  an_error_says("nonzero shape=16384x1025 count=1",
                "nonzero: indices of several dimensions are for up to 2^24 elements");
  an_error_says("nonzero shape=65536x65536 count=1",
                "nonzero: 4294967296 elements are more than int32 can number");
  an_error_says("pad shape=4 before=1 dtype=int8 value=200",
                "pad: int8 cannot hold value=200, only whole numbers from -128 to 127");
  an_error_says("fill shape=4 dtype=int16 value=99999999",
                "fill: int16 cannot hold value=99999999, only whole numbers from -32768 to 32767");
  an_error_says("maxs shape=4 dtype=fp16 alpha=-65505",
                "maxs: fp16 cannot hold alpha=-65505, only numbers from -65504 to 65504");
  an_error_says("muls shape=4 dtype=int32 alpha=0.5",
                "muls: int32 cannot hold alpha=0.5, only whole numbers from -2147483648 to "
                "2147483647");
  an_error_says("fill shape=4 value=1e39",
                "fill: fp32 cannot hold value=1e+39, only numbers from -3.402823466e+38 to "
                "3.402823466e+38");
  an_error_says("pows shape=4 dtype=int16 alpha=-1",
                "pows: alpha of int16 is a whole number from 0 to 64");
  an_error_says("pad shape=4x4x4 before=1x1x1", "pad: at most 5 sides and dimensions can grow");
  an_error_says("gather shape=1x1x1x1x1 count=1x1x1x1x1", "gather: y has at most 8 dimensions");
  an_error_says("max_pool shape=4x4 kernel=2x2", "max_pool: shape has 5 extents: N, C1, H, W, C0");
  an_error_says("max_pool shape=1x1x4x4x8 kernel=2x2",
                "max_pool: C0 fills whole blocks of 32 bytes");
  an_error_says("max_pool shape=1x1x4x4x16 kernel=2", "max_pool: kernel is HxW of up to 255");
  an_error_says("avg_pool shape=1x1x4x4x16 kernel=2x2 stride=256x1",
                "avg_pool: stride is HxW of up to 255");
  an_error_says("avg_pool shape=1x1x4x4x16 kernel=2x2 pad=2x0",
                "avg_pool: pad is HxW, or four numbers, each below the window's extent");
  an_error_says("max_pool shape=1x1x4x4x16 kernel=5x1",
                "max_pool: the window is larger than the padded map");
  an_error_says("max_pool shape=1x1x4x99x16 kernel=2x2 stride=1x16",
                "max_pool: windows are at most 15 columns apart");
  an_error_says("max_pool_grad shape=1x1x4x4x32 kernel=2x2",
                "max_pool_grad: C0 is 16, as masks have a word for each pixel");
  an_error_says("max_pool_with_argmax shape=1x1x9x4999x16 kernel=2x2",
                "max_pool_with_argmax: no legal tiling: a tile takes whole rows, of 2499 columns");
  an_error_says("topk shape=4x3 k=4", "topk: k is at most 3, the last extent of x");
  an_error_says("argmin shape=16777216", "argmin: rows have less than 2^24 elements");
  an_error_says("argmax shape=2x999 chunk=500",
                "argmax: no legal tiling: chunks are whole rows or multiples of 512, up to 8192");
  an_error_says("sort shape=99 chunk=33",
                "sort: no legal tiling: chunks of a row are multiples of 64 up to 8192");
  an_error_says("topk shape=99 k=3 chunk=8224",
                "topk: no legal tiling: chunks of whole rows are multiples of 32 up to 8192");
  an_error_says("rms_norm shape=4x64 eps=-1", "rms_norm: eps is at least 0, not -1");
  an_error_says("layer_norm shape=4x64 eps=-0.5", "layer_norm: eps is at least 0, not -0.5");
  an_error_says("batch_norm shape=4x64 epsilon=-1", "batch_norm: epsilon is at least 0, not -1");
  an_error_says("adamw shape=3 eps=-1", "adamw: eps is at least 0, not -1");
  an_error_says("adamw shape=3 beta1=1", "adamw: beta1 is at least 0 and below 1, not 1");
  an_error_says("adamw shape=3 beta2=-0.1", "adamw: beta2 is at least 0 and below 1, not -0.1");
  an_error_says("dropout shape=64 keep=0", "dropout: keep is above 0 and at most 1, not 0");
  an_error_says("dropout shape=64 keep=1.5", "dropout: keep is above 0 and at most 1, not 1.5");
  an_error_says("reduce_sum shape=4x4x4 axis=1 axis2=1",
                "reduce_sum: axis2=1 is among the dimensions that axis and axes name");
  an_error_says("reduce_sum shape=4x4x4 axis=0 axes=2 axis2=1",
                "reduce_sum: axis2=1 is among the dimensions that axis and axes name");
  an_error_says("sort shape=9999 chunk=64 blocks=3",
                "sort: no legal tiling: cores meet on the way, so all 40 take part");
  an_error_says(
      "softmax shape=4x99 cols=32",
      "softmax: no legal tiling: a tile is whole rows, or of one row a multiple of 64 columns");
  an_error_says("add shape=4x3 shape1=2", "add: the shapes do not broadcast: 3 and 2");
  an_error_says("add shape=4x3 shape1=3 dtype=int64",
                "add: int64 goes with int64 of the same shape alone");
  an_error_says("equal shape=3 dtype=int64 dtype1=int32",
                "equal: int64 goes with int64 of the same shape alone");
  an_error_says("broadcast shape=3x4 to=5x4", "broadcast: x has 3 where y has 5");
  an_error_says("broadcast shape=1x4 to=4", "broadcast: x has more dimensions than y");
  an_error_says("scatter_update shape=12x4 count=5 step=9",
                "scatter_update: 5 indices are more than the 4 rows that they differ in");
  an_error_says("range shape=3x4", "range: the numbers are one dimension");
  an_error_says("fill shape=9 dtype=uint8 value=300",
                "fill: uint8 cannot hold value=300, only whole numbers from 0 to 255");
  an_error_says("cast shape=4 dtype=fp32 to=fp32",
                "cast: there is no conversion from fp32 to fp32 on fixture220");
  an_error_says("relu shape=8192 cols=8192 dtype=fp32 blocks=1 rows=1 buffers=4",
                "relu: no legal tiling: buffers is 1 or 2");
  an_error_says("relu shape=81920 cols=81920 dtype=fp32 blocks=1 rows=1 buffers=1",
                "relu: no legal tiling: the tile takes 655360 bytes of UB, there are 188160");
  an_error_says("relu shape=64 cols=128",
                "relu: no legal tiling: the tile is larger than the 1 x 64 elements to be cut");
  an_error_says("relu shape=64 blocks=4", "relu: no legal tiling: more cores than tiles: 4 and 1");
}

/* Of the kernel that comes last in the text. */
static unsigned last_kernel_blocks(const char *text) {
  static const char key[] = ",blocks=";
  const char *last = NULL;
  for (const char *at = strstr(text, "\nkernel,"); at; at = strstr(at + 1, "\nkernel,"))
    last = at;
  const char *blocks = last ? strstr(last, key) : NULL;
  return blocks ? (unsigned)strtoul(blocks + strlen(key), NULL, 10) : 1;
}

static char *lowered(const char *request, const char *more) {
  struct vinci_diag diag = {0};
  struct words words;
  char line[2 * LINE_BYTES], *text = NULL;
  snprintf(line, sizeof line, "%s %s", request, more);
  words_split(&words, line);
  if (vinci_compile_text(fixture_shared, words.item[0], words.item + 1, words.count - 1, &text,
                         &diag) != VINCI_OK)
    fail_msg("%s %s: %s", request, more, diag.text);
  return text;
}

/* FRACTAL_Z: a block of 8 channels is one burst for each n, and N of a tile one for each place.
 * NC1HWC0: blocks of channels share a tile. */
static void short_rows_share_bursts(void **state) {
  (void)state;
  static const struct {
    const char *request, *load, *store;
  } rows[] = {
      {"transdata shape=384x192x3x3 way=nchw_to_fractal_z dtype=fp32", "n_burst=rows,len_burst=288",
       "n_burst=9,len_burst=rows*32"},
      {"transdata shape=384x192x3x3 way=fractal_z_to_nchw dtype=fp32",
       "n_burst=9,len_burst=rows*32", "len_burst=288"},
      {"transdata shape=32x256x13x13 way=nchw_to_nc1hwc0 c0=16 dtype=fp32",
       "n_burst=64,len_burst=676", "len_burst=43264"},
      {"transdata shape=64x3x11x11 way=nchw_to_fractal_z dtype=fp32", "len_burst=484",
       "len_burst=32"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *text = lowered(rows[i].request, "");
    const char *load = strstr(text, "copy_gm_to_ubuf"), *store = strstr(text, "copy_ubuf_to_gm");
    const char *load_end = strchr(load, '\n'), *store_end = strchr(store, '\n');
    const char *in = strstr(load, rows[i].load), *out = strstr(store, rows[i].store);
    if (!in || in > load_end || !out || out > store_end)
      fail_msg("%s: %s", rows[i].request, text);
    free(text);
  }
}

/* The second kernel folds 8 x 100 x 64 sums: most cores would mostly wait for their code. */
static void later_kernels_choose_their_cores(void **state) {
  (void)state;
  char *text = lowered("reduce_sum shape=8x100x64x33 axis=1 axis2=3 dtype=fp32", "");
  assert_in_range(last_kernel_blocks(text), 2, 12);
  vinci_text_free(text);
}

/* What `compile --explain` prints, given as keys, is the same program. */
static void a_tiling_given_back_is_the_same_program(void **state) {
  (void)state;
  static const char *const requests[] = {"concat shape=96x4 shape1=96x1789 dtype=fp32",
                                         "transdata shape=1x213x8x8 way=nchw_to_fractal_z",
                                         "transpose shape=61x33x20 perm=3x1x2",
                                         "pad before=0x19 shape=3072x9 dtype=bf16",
                                         "argmax shape=173x160 dtype=bf16",
                                         "sort shape=70x640",
                                         "topk shape=3x30000 k=16",
                                         "reduce_sum shape=8x100x64x33 axis=1 axis2=3",
                                         "muls shape=8x3073"};
  for (unsigned i = 0; i < sizeof requests / sizeof *requests; i++) {
    char tiling[LINE_BYTES];
    struct words words;
    struct vinci_tiling chosen;
    words_split(&words, requests[i]);
    assert_int_equal(vinci_op_tiling(fixture_shared, words.item[0], words.item + 1, words.count - 1,
                                     tiling, sizeof tiling, &chosen, NULL),
                     VINCI_OK);
    char *one = lowered(requests[i], ""), *two = lowered(requests[i], tiling);
    assert_string_equal(strstr(one, "\nkernel,"), strstr(two, "\nkernel,"));
    vinci_text_free(one);
    vinci_text_free(two);
  }
}

/* Billions of steps: what lowering raises to their number it raises by squaring. */
static void late_steps_are_lowered(void **state) {
  (void)state;
  vinci_trace *late = compiled("adamw shape=3 step=2147483647");
  vinci_trace_free(late);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_move_once),
      cmocka_unit_test(broadcasts_run),
      cmocka_unit_test(checks_find_nothing),
      cmocka_unit_test(reductions_keep_dimensions),
      cmocka_unit_test(short_rows_share_bursts),
      cmocka_unit_test(later_kernels_choose_their_cores),
      cmocka_unit_test(a_tiling_given_back_is_the_same_program),
      cmocka_unit_test(late_steps_are_lowered),
      cmocka_unit_test(errors_say_what_is_wrong),
  };
  return cmocka_run_group_tests_name("lower_vector", tests, fixture_set_up, fixture_tear_down);
}
