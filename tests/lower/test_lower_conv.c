/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions in profiles: shapes, types and formats become keys, or a reason says why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lower/kernel/lower.h"
#include "tests/support/fixture.h"

enum { TEXT_BYTES = 512 };

struct tensor {
  enum dtype dtype;
  unsigned rank;
  uint64_t shape[TENSOR_RANK_MAX];
};

static struct lower_tensor lowered(struct tensor tensor) {
  struct lower_tensor out = {.dtype = tensor.dtype, .rank = tensor.rank};
  memcpy(out.shape, tensor.shape, sizeof out.shape);
  return out;
}

/* The keys, or the reason, of a call with three inputs and one output. */
static void becomes(const char *type, const struct tensor in[3], struct tensor result,
                    const char *expected) {
  struct arena arena = {0};
  struct lower_call call = {
      .input_count = 3, .output_count = 1, .soc = fixture_shared, .arena = &arena};
  char text[TEXT_BYTES] = "";
  for (unsigned i = 0; i < 3; i++)
    call.input[i] = lowered(in[i]);
  call.output[0] = lowered(result);
  snprintf(call.type, sizeof call.type, "%s", type);
  const struct lower_op *op = lower_find_vendor(type);
  assert_non_null(op);
  if (op->from_tensors(&call)) {
    snprintf(text, sizeof text, "%s", op->name);
    for (size_t i = 0; i < call.arg_count; i++) {
      size_t length = strlen(text);
      snprintf(text + length, sizeof text - length, " %s", call.args[i]);
    }
  } else {
    snprintf(text, sizeof text, "%s", call.reason);
  }
  assert_string_equal(text, expected);
  arena_free(&arena);
}

static const struct tensor map = {DTYPE_FP16, 5, {2, 4, 28, 28, 16}};
static const struct tensor half = {DTYPE_FP16, 5, {2, 8, 14, 14, 16}};
static const struct tensor weights = {DTYPE_FP16, 4, {4 * 9, 8, 16, 16}};
static const struct tensor size = {DTYPE_INT32, 1, {4}};
static const struct tensor none = {DTYPE_FP16, 0, {0}};

static void a_convolution_and_its_gradients(void **state) {
  (void)state;
  const struct tensor dw = {DTYPE_FP32, 4, {4 * 9, 8, 16, 16}};
  becomes("Conv2D", (struct tensor[]){map, weights, none}, half,
          "conv2d kernel=3x3 stride=2x2 pad=1x1 n=2 c=64 h=28 w=28 k=128 dtype=fp16 bias=0");
  becomes("Conv2DBackpropInput", (struct tensor[]){size, weights, half}, map,
          "conv2d_backprop_input kernel=3x3 stride=2x2 pad=1x1 n=2 c=64 h=28 w=28 k=128 "
          "dtype=fp16");
  becomes("Conv2DTranspose", (struct tensor[]){size, half, weights}, map,
          "conv2d_backprop_input kernel=3x3 stride=2x2 pad=1x1 n=2 c=64 h=28 w=28 k=128 "
          "dtype=fp16");
  becomes("Conv2DBackpropFilter", (struct tensor[]){map, size, half}, dw,
          "conv2d_backprop_filter kernel=3x3 stride=2x2 pad=1x1 n=2 c=64 h=28 w=28 k=128 "
          "dtype=fp16 accumulate=1");
}

static void weights_tell_groups_and_packed_channels(void **state) {
  (void)state;
  const struct tensor grouped = {DTYPE_FP16, 4, {4 * 9, 1, 16, 16}};
  const struct tensor same = {DTYPE_FP16, 5, {2, 4, 28, 28, 16}};
  becomes("DepthwiseConv2D", (struct tensor[]){map, grouped, none}, same,
          "conv2d kernel=3x3 stride=1x1 pad=1x1 n=2 c=64 h=28 w=28 k=64 groups=4 dtype=fp16 "
          "bias=0");
  const struct tensor packed = {DTYPE_FP16, 5, {2, 1, 224, 224, 4}};
  const struct tensor first = {DTYPE_FP16, 4, {13, 4, 16, 16}}; /* 7 x 7 x 4 = 12.25 x 16 */
  const struct tensor result = {DTYPE_FP16, 5, {2, 4, 112, 112, 16}};
  becomes("Conv2D", (struct tensor[]){packed, first, none}, result,
          "conv2d kernel=7x7 stride=2x2 pad=3x3 n=2 c=4 h=224 w=224 k=64 dtype=fp16 c04=1 bias=0");
}

static void reasons_say_what_the_shapes_lack(void **state) {
  (void)state;
  /* More places than points: no stride is that small. */
  becomes(
      "Conv2D",
      (struct tensor[]){{DTYPE_FP16, 5, {1, 1, 1, 1, 16}}, {DTYPE_FP16, 4, {1, 1, 16, 16}}, none},
      (struct tensor){DTYPE_FP16, 5, {1, 1, 3, 5, 16}},
      "stride and padding cannot be told from the shapes");
  const struct tensor flat = {DTYPE_FP16, 4, {2, 64, 28, 28}};
  const struct tensor oblong = {DTYPE_FP16, 4, {4 * 6, 8, 16, 16}};
  const struct tensor odd = {DTYPE_FP16, 4, {4 * 9 + 1, 8, 16, 16}};
  becomes("Conv2D", (struct tensor[]){flat, weights, none}, half,
          "NC1HWC0 maps and FRACTAL_Z weights are needed");
  becomes("Conv2DBackpropInput", (struct tensor[]){size, flat, weights}, map,
          "NC1HWC0 maps and FRACTAL_Z weights are needed");
  becomes("Conv2D", (struct tensor[]){map, oblong, none}, half, "the window is not square");
  becomes("Conv2D", (struct tensor[]){map, odd, none}, half, "the weights do not fit the map");
}

static void a_tiling_is_refused(const char *const *args, size_t count, const char *text) {
  struct vinci_diag diag = {0};
  char *out;
  assert_int_equal(
      vinci_compile_text(fixture_shared, "conv2d_backprop_filter", args, count, &out, &diag),
      VINCI_E_USAGE);
  assert_string_equal(diag.text, text);
}

/* Parts and rows that are given by hand are there, as those of matmul are. */
static void gradients_have_no_more_parts_than_panels(void **state) {
  (void)state;
  const char *args[] = {"c=16", "h=8", "w=8", "k=16", "kernel=3x3", "rows=2", "split=4"};
  a_tiling_is_refused(args, 7,
                      "conv2d_backprop_filter: no legal tiling: more parts than panels: "
                      "4 and 3");
  args[5] = "rows=7";
  a_tiling_is_refused(args, 6,
                      "conv2d_backprop_filter: no legal tiling: more rows than dy has: 7 and 6");
}

/* A word that the default never takes is refused where it has no meaning. */
static void words_of_tuners_are_refused(void **state) {
  (void)state;
  enum { ARGS = 7 };
  static const struct {
    const char *op, *args[ARGS], *text;
  } rows[] = {
      {"conv2d",
       {"c=16", "h=8", "w=64", "k=16", "kernel=3x3", "early=1", "cores=1"},
       "conv2d: no legal tiling: no other core makes the first read wait"},
      {"conv2d_backprop_input",
       {"c=16", "h=8", "w=64", "k=16", "kernel=3x3", "copies=rows", "n=1"},
       "conv2d_backprop_input: no legal tiling: copies=rows is for maps in NC1HWC0, forward, and "
       "for cube cores"},
      {"conv2d",
       {"c=4", "h=8", "w=64", "k=16", "kernel=3x3", "copies=rows", "c04=1"},
       "conv2d: no legal tiling: copies=rows is for maps in NC1HWC0, forward, and for cube cores"},
      /* 64 x 64 points of 16 channels are 65536 elements; the copy counts to 65535. */
      {"conv2d",
       {"c=16", "h=64", "w=64", "k=16", "kernel=3x3", "copies=rows", "n=1"},
       "conv2d: no legal tiling: blocks of channels are too far apart for copies=rows"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_diag diag = {0};
    char *out;
    assert_int_equal(
        vinci_compile_text(fixture_shared, rows[i].op, rows[i].args, ARGS, &out, &diag),
        VINCI_E_USAGE);
    assert_string_equal(diag.text, rows[i].text);
  }
}

/* The read stands between the code and the scalar work; its bytes have a place of their own. */
static void an_early_read_comes_before_scalar_work(void **state) {
  (void)state;
  const char *args[] = {"c=64", "h=14", "w=14", "k=64", "kernel=3x3", "early=1"};
  char *out;
  vinci_soc *soc = fixture_soc();
  assert_non_null(soc);
  assert_int_equal(vinci_soc_set(soc, "code.first_read_cycles=60", NULL), VINCI_OK);
  assert_int_equal(vinci_compile_text(soc, "conv2d", args, 6, &out, NULL), VINCI_OK);
  const char *code = strstr(out, "\ncode_fetch"), *scalar = strstr(out, "\nscalar,");
  const char *read = strstr(out, "\ncopy_gm_to_cbuf,dst=early,src=x,len_burst=1\n");
  assert_true(code && read && scalar && code < read && read < scalar);
  assert_non_null(strstr(out, "buffer,name=early,space=L1,"));
  vinci_text_free(out);
  vinci_soc_free(soc);
}

/* Transfers never come for free: shares of L2's rate that round to nothing count as the least. */
static void a_slow_l2_costs_cycles(void **state) {
  (void)state;
  const char *args[] = {"c=16", "h=8", "w=8", "k=16", "kernel=3x3"};
  struct vinci_tiling usual, slow;
  char text[TEXT_BYTES];
  vinci_soc *soc = fixture_soc();
  assert_non_null(soc);
  assert_int_equal(
      vinci_op_tiling(soc, "conv2d_backprop_filter", args, 5, text, sizeof text, &usual, NULL),
      VINCI_OK);
  assert_int_equal(vinci_soc_set(soc, "l2.bandwidth=1000000", NULL), VINCI_OK);
  assert_int_equal(
      vinci_op_tiling(soc, "conv2d_backprop_filter", args, 5, text, sizeof text, &slow, NULL),
      VINCI_OK);
  /* A fractal of 512 bytes and more comes to the busiest core, at a byte in 1000 cycles. */
  assert_true(slow.total_cycles > 512 * 1000);
  assert_true(slow.total_cycles > usual.total_cycles);
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_convolution_and_its_gradients),
      cmocka_unit_test(weights_tell_groups_and_packed_channels),
      cmocka_unit_test(gradients_have_no_more_parts_than_panels),
      cmocka_unit_test(words_of_tuners_are_refused),
      cmocka_unit_test(an_early_read_comes_before_scalar_work),
      cmocka_unit_test(a_slow_l2_costs_cycles),
      cmocka_unit_test(reasons_say_what_the_shapes_lack),
  };
  return cmocka_run_group_tests_name("lower_conv", tests, fixture_set_up, fixture_tear_down);
}
