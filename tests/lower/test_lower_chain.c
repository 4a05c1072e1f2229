/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of elementwise steps: which bytes move, what UB holds, what fusion is worth, errors. That
 * their values are right is in tests/values/chains.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result/result.h"
#include "lower/kernel/lower.h"
#include "tests/support/words.h"

static vinci_soc *load(const char *ub) {
  struct vinci_diag diag = {0};
  vinci_soc *soc = NULL;
  if (vinci_soc_load("Ascend910B1", NULL, &soc, &diag) != VINCI_OK ||
      (ub && vinci_soc_set(soc, ub, &diag) != VINCI_OK))
    fail_msg("%s", diag.text);
  return soc;
}

static enum vinci_status compile(const vinci_soc *soc, const char *request, vinci_trace **trace,
                                 struct vinci_diag *diag) {
  struct words words;
  words_split(&words, request);
  return vinci_compile(soc, words.item[0], words.item + 1, words.count - 1, trace, diag);
}

static vinci_trace *compiled(const vinci_soc *soc, const char *request) {
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  if (compile(soc, request, &trace, &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  return trace;
}

struct measured {
  uint64_t in, out; /* bytes */
  uint64_t ps;
};

static struct measured run(const vinci_soc *soc, const char *request) {
  struct vinci_diag diag = {0};
  /* As in steady use: the code is there. */
  struct vinci_run_options flat = {
      .struct_size = sizeof flat, .memory = VINCI_MEMORY_FLAT, .code_found_ppm = VINCI_CODE_WARM};
  vinci_trace *trace = compiled(soc, request);
  vinci_result *result = NULL;
  if (vinci_run(soc, trace, &flat, &result, &diag) != VINCI_OK)
    fail_msg("%s: %s", request, diag.text);
  struct measured measured = {.ps = result->kernels[0].end_ps - result->kernels[0].start_ps};
  for (uint32_t core = 0; core < result->core_count; core++) {
    measured.in += result->cores[core].path_bytes[PATH_GM_UB];
    measured.out += result->cores[core].path_bytes[PATH_UB_GM];
  }
  vinci_result_free(result);
  vinci_trace_free(trace);
  return measured;
}

/* Each input comes in once, each result goes out once. */
static void bytes_move_once(void **state) {
  (void)state;
  vinci_soc *soc = load(NULL);
  struct measured m =
      run(soc, "chain shape=1009x64 shape2=1009x64 steps=add:x:x1,muls:0.5,relu,mul:x2");
  assert_int_equal(m.in, 3 * 1009 * 64 * 2);
  assert_int_equal(m.out, 1009 * 64 * 2);
  m = run(soc, "chain shape=100003 dtype=fp32 dtype1=bf16 steps=mul:x:x1,y1=sigmoid,y=cast:fp16");
  assert_int_equal(m.in, 100003 * (4 + 2));
  assert_int_equal(m.out, 100003 * (4 + 2));
  vinci_soc_free(soc);
}

static uint64_t ub_bytes(const vinci_soc *soc, const char *request) {
  vinci_trace *trace = compiled(soc, request);
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < trace->buffer_count; i++)
    bytes += trace->buffers[i].bytes;
  vinci_trace_free(trace);
  return bytes;
}

/* Values that live one after the other share a register: however long the chain, UB holds a tile of
 * each input and of the result, and what the steps themselves need. */
static void ub_holds_what_lives(void **state) {
  (void)state;
  vinci_soc *soc = load(NULL);
  enum { TILE = 2048 * 2, BUFFERS = 2 };
#define TILED "shape=8192 cols=2048 blocks=1 buffers=2 "
  assert_int_equal(ub_bytes(soc, "chain " TILED "steps=relu"), 2 * TILE * BUFFERS);
  assert_int_equal(ub_bytes(soc, "chain " TILED "steps=relu,muls:2,adds:1,abs,neg,maxs:0,mins:9"),
                   2 * TILE * BUFFERS);
  assert_int_equal(ub_bytes(soc, "chain " TILED "steps=add:x:x1,mul:x,sub:x1,max:x,muls:2"),
                   3 * TILE * BUFFERS);
  /* A value that is needed later takes a place more: here that of an input nobody needs. */
  assert_int_equal(ub_bytes(soc, "chain " TILED "steps=t=abs,neg,muls:3,mul:t"),
                   2 * TILE * BUFFERS);
  assert_int_equal(ub_bytes(soc, "chain " TILED "steps=t=abs,neg,muls:3,mul:t,add:x"),
                   2 * TILE * BUFFERS + TILE);
  vinci_soc_free(soc);
}

/* Fusion saves passes over memory, and costs room: six inputs whose steps are many leave small
 * tiles, and each step of a tile costs its start-up. With less UB the kernels one by one are
 * faster. */
static void fusion_pays_until_tiles_are_small(void **state) {
  (void)state;
  static const char light[] = "chain shape=1024x1024 steps=a=abs:x,b=abs:x1,c=abs:x2,d=abs:x3,"
                              "e=abs:x4,f=abs:x5,add:a:b,add:c,add:d,add:e,add:f";
  static const char heavy[] = "chain shape=1024x1024 steps=a=sin:x,b=sin:x1,c=sin:x2,d=sin:x3,"
                              "e=sin:x4,f=sin:x5,add:a:b,add:c,add:d,add:e,add:f";
  vinci_soc *soc = load(NULL), *small = load("ub.size=24KiB");
  uint64_t add = run(soc, "add shape=1024x1024").ps, each = run(soc, "abs shape=1024x1024").ps;
  assert_true(run(soc, light).ps * 2 < 6 * each + 5 * add);
  add = run(small, "add shape=1024x1024").ps;
  each = run(small, "sin shape=1024x1024").ps;
  assert_true(run(small, heavy).ps > 6 * each + 5 * add);
  vinci_soc_free(soc);
  vinci_soc_free(small);
}

static void errors_name_the_step(void **state) {
  (void)state;
  static const struct {
    const char *request, *text;
  } rows[] = {
      {"steps=relu,rellu", "step 2, rellu: unknown operator 'rellu', did you mean 'relu'?"},
      {"steps=relu,casts:fp32",
       "step 2, casts:fp32: unknown operator 'casts', did you mean 'cast'?"},
      {"steps=softmax",
       "step 1, softmax: the operator 'softmax' is not elementwise with one result"},
      {"steps=add:x:x1:x2",
       "step 1, add:x:x1:x2: 2 operands, not 3; the first may be left out: that "
       "is the result before"},
      {"steps=relu,add", "step 2, add: 2 operands, not 0; the first may be left out: that is the "
                         "result before"},
      {"steps=add:x:t,t=relu",
       "step 1, add:x:t: there is no 't': operands are x, x1 to x5, and names "
       "of earlier results"},
      {"steps=cast", "step 1, cast: a type is missing, as in cast:fp32"},
      {"steps=cast:fp99", "step 1, cast:fp99: no data type 'fp99'"},
      {"steps=cast:int64", "step 1, cast:int64: a chain on Ascend910B1 has no type int64"},
      {"steps=muls:1:2", "step 1, muls:1:2: '2' is one more number than muls takes"},
      {"steps=muls:beta=3", "step 1, muls:beta=3: muls has no number or word 'beta'"},
      {"steps=x=relu", "step 1, x=relu: 'x' is not a name for a result"},
      {"steps=t=relu,t=relu", "step 2, t=relu: the name 't' is given twice"},
      {"steps=y1=relu", "a result is missing: the last step is y1"},
      {"steps=y2=relu,abs", "there is a result y2, but no y1"},
      {"steps=add:x:x2", "no step uses the input x1, but x2 is used"},
      {"steps=abs,t=add:x1,neg:x", "step 2, t=add:x1: nothing uses the result"},
      {"steps=abs shape1=4", "shape1 is given, but no step uses the input x1"},
      {"steps=add:x:x1 shape1=5", "the shapes do not broadcast: 8 and 5"},
      {"steps=where:x:x1:x2",
       "step 1, where:x:x1:x2: the condition is fp16 and not a byte of 0 or 1"},
      {"steps=add:x:x1,cast:fp32,muls:0.5 dtype=int32",
       "step 1, add:x:x1: int32 is computed in int32, which a chain cannot mix with others: end "
       "the "
       "chain there, or cast before"},
      {"steps=lerp:x:x1 dtype1=fp32", "step 1, lerp:x:x1: operands of two types, fp16 and fp32"},
      {"steps=a=abs,b=neg:x,c=muls:2:x,d=adds:1:x,e=maxs:0:x,f=mins:0:x,g=abs:a,h=abs:b,i=neg:a,"
       "j=neg:b,k=muls:3:x,l=muls:4:x,m=muls:5:x,n=muls:6:x,o=muls:7:x,add:a:b,add:c,add:d,add:e,"
       "add:f,add:g,add:h,add:i,add:j,add:k,add:l,add:m,add:n,add:o",
       "more than 12 values are needed at once: make this two chains"},
  };
  vinci_soc *soc = load(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct vinci_diag diag = {0};
    vinci_trace *trace = NULL;
    char request[512], expected[512];
    snprintf(request, sizeof request, "chain shape=4x8 %s", rows[i].request);
    snprintf(expected, sizeof expected, "chain: %s", rows[i].text);
    assert_int_equal(compile(soc, request, &trace, &diag), VINCI_E_USAGE);
    assert_string_equal(diag.text, expected);
  }
  vinci_soc_free(soc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_move_once),
      cmocka_unit_test(ub_holds_what_lives),
      cmocka_unit_test(fusion_pays_until_tiles_are_small),
      cmocka_unit_test(errors_name_the_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
