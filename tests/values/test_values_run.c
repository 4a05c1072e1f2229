/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with values through the library: tensors of every type, kernels that follow one another,
 * buffers of cores, comparisons; and what headers of .npy files are accepted. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/number.h"
#include "core/machine/values.h"
#include "tests/support/runs.h"
#include "traces/values/npy.h"

struct values_run {
  vinci_trace *trace;
  vinci_values *values;
  struct vinci_diag diag;
};

static struct values_run *start_trace(vinci_trace *trace) {
  static struct values_run run;
  run = (struct values_run){.trace = trace};
  assert_int_equal(vinci_values_create(fixture_shared, run.trace, &run.values, &run.diag),
                   VINCI_OK);
  return &run;
}

static struct values_run *start(const char *text) {
  return start_trace(runs_parse(text, fixture_shared));
}

static struct values_run *start_op(const char *op, const char *const *args, size_t count) {
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  assert_int_equal(vinci_compile(fixture_shared, op, args, count, &trace, &diag), VINCI_OK);
  return start_trace(trace);
}

static void end(struct values_run *run) {
  vinci_values_free(run->values);
  vinci_trace_free(run->trace);
}

static struct vinci_tensor tensor(const struct values_run *run, const char *name) {
  struct vinci_tensor found;
  for (size_t i = 0; i < vinci_values_count(run->values); i++)
    if (vinci_values_tensor(run->values, i, &found) && strcmp(found.name, name) == 0)
      return found;
  fail_msg("no tensor %s", name);
  return found;
}

static enum vinci_status execute(struct values_run *run) {
  return vinci_values_run(run->values, NULL, NULL, &run->diag);
}

#define COPY(from, to)                                                                             \
  "stream,core=AIV\ncopy_gm_to_ubuf,dst=0,src=" from ",len_burst=2\n"                              \
  "set_flag,src=MTE2,dst=MTE3,id=0\nwait_flag,src=MTE2,dst=MTE3,id=0\n"                            \
  "copy_ubuf_to_gm,dst=" to ",src=0,len_burst=2\n"
#define TENSOR(name, type, shape, io)                                                              \
  "tensor,name=" name ",dtype=" type ",shape=" shape ",io=" io "\n"

static void a_trace_moves_bytes(void **state) {
  (void)state;
  struct values_run *run = start(HEAD(1) TENSOR("x", "uint8", "64", "in")
                                     TENSOR("y", "uint8", "64", "out") COPY("x", "y"));
  struct vinci_tensor x = tensor(run, "x"), y = tensor(run, "y");
  assert_true(x.input && !x.output && !x.loaded && y.output && !y.input);
  assert_int_equal(x.bytes, 64);
  assert_int_equal(execute(run), VINCI_E_USAGE); /* x has no values */
  vinci_values_fill(run->values, 1);
  for (size_t i = 0; i < x.bytes; i++)
    assert_true(((const uint8_t *)x.data)[i] < 16);
  run->diag = (struct vinci_diag){0};
  assert_int_equal(execute(run), VINCI_OK);
  assert_memory_equal(x.data, y.data, 64);
  end(run);
}

static void a_later_kernel_reads_what_an_earlier_one_wrote(void **state) {
  (void)state;
  struct values_run *run = start(
      HEAD(1) TENSOR("x", "fp16", "32", "in") TENSOR("t", "fp16", "32", "out")
          COPY("x", "t") "kernel,name=l,arch=dav-c220,blocks=1\n" TENSOR("t", "fp16", "32", "in")
              TENSOR("y", "fp16", "32", "out") COPY("t", "y"));
  assert_false(tensor(run, "t").input);
  assert_true(tensor(run, "t").output);
  vinci_values_fill(run->values, 9);
  assert_int_equal(execute(run), VINCI_OK);
  assert_memory_equal(tensor(run, "x").data, tensor(run, "y").data, 64);
  end(run);
}

static void blocks_have_buffers_of_their_own(void **state) {
  (void)state;
  struct values_run *run = start(HEAD(60) TENSOR("x", "int16", "60x32", "in") TENSOR(
      "y", "int16", "60x32", "out") COPY("x+blk*64", "y+blk*64"));
  vinci_values_fill(run->values, 2);
  assert_int_equal(execute(run), VINCI_OK);
  assert_memory_equal(tensor(run, "x").data, tensor(run, "y").data, 60 * 64);
  end(run);
}

static bool refuse(void *context, uint64_t instructions, unsigned done_permille) {
  assert_true(instructions > 0 && done_permille <= 1000);
  ++*(unsigned *)context;
  return false;
}

static void the_caller_can_stop_a_run(void **state) {
  (void)state;
  struct values_run *run = start(HEAD(1) "stream,core=AIV\nloop,i,10000\nscalar\nendloop\n");
  unsigned calls = 0;
  assert_int_equal(vinci_values_run(run->values, refuse, &calls, &run->diag), VINCI_E_LIMIT);
  assert_int_equal(calls, 1);
  end(run);
}

static void a_hang_is_told(void **state) {
  (void)state;
  struct values_run *run = start(HEAD(1) AIV "wait_flag,src=MTE2,dst=V,id=0\n");
  assert_int_equal(execute(run), VINCI_E_DEADLOCK);
  end(run);
}

/* ---- files ------------------------------------------------------------------------------ */

/* A trace with a tensor of each of the types, named like its type. */
static struct values_run *start_with(const char *const *types, size_t count) {
  char text[2048];
  int used = snprintf(text, sizeof text, "%s", HEAD(1));
  for (size_t i = 0; i < count; i++)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "tensor,name=%s,dtype=%s,shape=3x5,io=inout\n", types[i], types[i]);
  snprintf(text + used, sizeof text - (size_t)used, "%s", AIV "scalar\n");
  return start(text);
}

static void every_type_comes_back_from_its_file(void **state) {
  (void)state;
  static const char *const types[] = {"fp16",  "bf16",   "fp32",  "int4",   "int8", "uint8",
                                      "int16", "uint16", "int32", "uint32", "int64"};
  static const char path[] = "test_values_run.npy";
  struct values_run *run = start_with(types, sizeof types / sizeof *types);
  vinci_values_fill(run->values, 3);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    struct vinci_tensor given = tensor(run, types[i]);
    uint8_t copy[128];
    memcpy(copy, given.data, given.bytes);
    assert_int_equal(vinci_values_save(run->values, types[i], path, &run->diag), VINCI_OK);
    memset(given.data, 0x55, given.bytes);
    if (strcmp(types[i], "int4") == 0)
      copy[7] = (uint8_t)((copy[7] & 0xf) | 0x50); /* the half that no element has stays */
    assert_int_equal(vinci_values_load(run->values, types[i], path, &run->diag), VINCI_OK);
    assert_memory_equal(copy, given.data, given.bytes);
    struct vinci_comparison same;
    assert_int_equal(vinci_values_expect(run->values, types[i], path, 0, 0, &same, &run->diag),
                     VINCI_OK);
    assert_int_equal(same.elements, 15);
    ((uint8_t *)given.data)[0] ^= 2;
    assert_int_equal(vinci_values_expect(run->values, types[i], path, 0, 0, &same, &run->diag),
                     VINCI_E_MISMATCH);
    assert_int_equal(same.differing, 1);
    run->diag = (struct vinci_diag){0};
  }
  remove(path);
  end(run);
}

static void write_floats(const char *path, const double *values, unsigned count) {
  FILE *out = fopen(path, "wb");
  struct npy npy = {.kind = 'f', .item_bytes = 8, .rank = 1, .shape = {count}};
  npy_write_header(&npy, out);
  fwrite(values, sizeof *values, count, out);
  fclose(out);
}

static void comparison_knows_infinities_and_nan(void **state) {
  (void)state;
  static const char path[] = "test_values_expect.npy";
  struct values_run *run = start(HEAD(1) TENSOR("x", "fp32", "6", "inout") AIV "scalar\n");
  static const float have[] = {1.0f, INFINITY, NAN, -0.0f, 100.0f, FLT_MAX};
  memcpy(tensor(run, "x").data, have, sizeof have);
  static const struct {
    double expected[6];
    double atol, rtol;
    unsigned differing;
    double largest;
  } cases[] = {
      {{1, INFINITY, NAN, 0, 100, (double)FLT_MAX}, 0, 0, 0, 0},
      {{1.5, INFINITY, NAN, 0, 101, (double)FLT_MAX}, 0, 0, 2, 1},
      {{1.5, INFINITY, NAN, 0, 101, (double)FLT_MAX}, 0.5, 0.005, 0, 1},
      {{1, -INFINITY, 0, 0, 100, INFINITY}, 1e300, 1e300, 3, 0},
      {{NAN, 5, NAN, 0, 100, (double)FLT_MAX}, 1e300, 1, 2, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct vinci_comparison got;
    write_floats(path, cases[i].expected, 6);
    enum vinci_status status =
        vinci_values_expect(run->values, "x", path, cases[i].atol, cases[i].rtol, &got, NULL);
    assert_int_equal(status, cases[i].differing ? VINCI_E_MISMATCH : VINCI_OK);
    assert_int_equal(got.differing, cases[i].differing);
    assert_true(got.largest_error == cases[i].largest);
  }
  remove(path);
  end(run);
}

static void headers_of_files(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *error; /* NULL: accepted */
  } cases[] = {
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }", NULL},
      {"{\"shape\":(3,4),\"fortran_order\":False,\"descr\":\"<f2\"}  \n", NULL},
      {"{'descr': '|V2', 'fortran_order': False, 'shape': (3, 4)}", NULL},
      {"{'descr': '=f2', 'fortran_order': False, 'shape': ( 3 , 4 , ) , }", NULL},
      {"", "its header is malformed"},
      {"{'descr': '<f2', 'fortran_order': False, ", "its header is malformed"},
      {"{'descr': '<f2', 'fortran_order': False, }", "its header lacks a key"},
      {"{'descr': '<f2' 'shape': (3,)}", "its header is malformed"},
      {"{'descr': [('a', '<f2')], 'fortran_order': False, 'shape': (3,)}",
       "its elements are not plain numbers"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}",
       "its elements are not plain numbers of up to 8 bytes"},
      {"{'descr': '<f2', 'fortran_order': 0, 'shape': (3,)}", "its fortran_order is malformed"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (3 4)}", "its shape is malformed"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (-3,)}", "its shape is malformed"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (3,", "its shape is malformed"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (99999999999999999999,)}",
       "its shape does not fit 64 bits"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
       "it has more than 8 dimensions"},
      {"{'descr': '<f2', 'fortran_order': False, 'shape': (3,), 'more': 1}",
       "its header has an unknown key"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct npy npy;
    const char *error = npy_parse(cases[i].text, strlen(cases[i].text), &npy);
    if (cases[i].error)
      assert_string_equal(error ? error : "accepted", cases[i].error);
    else
      assert_null(error);
    if (!error)
      assert_true(npy.rank == 2 && npy.shape[0] == 3 && npy.shape[1] == 4 && npy.item_bytes == 2);
    /* Cut anywhere before its last brace it is an error. */
    const char *brace = strrchr(cases[i].text, '}');
    for (size_t length = 0; brace && length < (size_t)(brace - cases[i].text); length++)
      assert_non_null(npy_parse(cases[i].text, length, &npy));
  }
}

/* ---- rows that read what the vector unit has computed ---- */

/* y has the lanes of x that are not 0, as often as a word in UB says, which is 2. The trace takes
 * them to be 5. */
#define COUNTED                                                                                    \
  "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=1\n" TENSOR("x", "fp32", "64", "in")        \
      TENSOR("y", "fp32", "128", "out") AIV                                                        \
      "copy_gm_to_ubuf,dst=0,src=x,len_burst=8\nset_flag,src=MTE2,dst=V,id=0\n"                    \
      "wait_flag,src=MTE2,dst=V,id=0\nset_mask_count\nset_vector_mask,high=0,low=64\n"             \
      "vector_dup,dst=512,scalar=2,repeat=1,type=int32\n"                                          \
      "vcmpvs_ne,dst=1024,src=0,scalar=0,repeat=1,type=fp32\npipe_barrier,pipe=V\n"                \
      "vreducev2,dst=2048,src0=0,src1=1024,repeat=1,pattern=0,type=uint32\n"                       \
      "set_flag,src=V,dst=S,id=0\nwait_flag,src=V,dst=S,id=0\nset_flag,src=V,dst=MTE3,id=0\n"      \
      "wait_flag,src=V,dst=MTE3,id=0\nread,n,5,taken\nread,times,2,512\nlet,sum,0\n"               \
      "loop,i,times\ncopy_ubuf_to_gm_align_b32,dst=y+sum*4,src=2048,len_burst=n*4\n"               \
      "set,sum,sum+n\nendloop\n"

/* x has `set` lanes that are not 0, far from each other. */
static struct values_run *counted(const char *text, unsigned set) {
  struct values_run *run = start(text);
  struct vinci_tensor x = tensor(run, "x");
  vinci_values_fill(run->values, 1);
  for (unsigned i = 0; i < 64; i++)
    ((float *)x.data)[i] = i % 3 == 1 && i / 3 < set ? (float)(i + 1) : 0;
  return run;
}

static void read_rows_follow_the_data(void **state) {
  (void)state;
  struct values_run *run = counted(COUNTED "expect,sum,10\n", 5);
  assert_int_equal(execute(run), VINCI_OK); /* as the trace has said */
  end(run);
  run = counted(COUNTED, 7);
  assert_int_equal(execute(run), VINCI_OK);
  const float *y = tensor(run, "y").data;
  for (unsigned i = 0; i < 14; i++)
    assert_true(y[i] == (float)(i % 7 * 3 + 2));
  assert_true(y[14] == 0);
  end(run);
}

static void data_that_a_trace_is_not_for_are_an_error(void **state) {
  (void)state;
  struct values_run *run = counted(COUNTED "expect,sum,10\n", 7);
  assert_int_equal(execute(run), VINCI_E_INPUT);
  assert_non_null(strstr(run->diag.text, "sum is 14 by the data, the trace is for 10"));
  end(run);
  run = counted(COUNTED "read,far,0,196608\n", 1);
  assert_int_equal(execute(run), VINCI_E_INPUT);
  assert_non_null(
      strstr(run->diag.text, "read at address 196608 of UB, which has 196608 bytes in words of 4"));
  end(run);
}

/* Numbers of device memory and of UB, of both widths, and their signs. */
static void read_rows_take_words_of_both_memories(void **state) {
  (void)state;
  static const char text[] =
      "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=1\n" TENSOR("x", "int64", "64", "in")
          TENSOR("y", "int64", "64", "out") AIV
      "copy_gm_to_ubuf,dst=0,src=x,len_burst=16\nset_flag,src=MTE2,dst=S,id=0\n"
      "wait_flag,src=MTE2,dst=S,id=0\nset_flag,src=MTE2,dst=MTE3,id=0\n"
      "wait_flag,src=MTE2,dst=MTE3,id=0\nread,a,5,x+8,int64\nread,b,5,x+16\nread,c,5,24,int64\n"
      "read,d,5,16+16\ncopy_ubuf_to_gm,dst=y,src=0,len_burst=16\n"
      "expect,a,4294967299\nexpect,b,-7\nexpect,c,0-4294967296\nexpect,d,1\n";
  struct values_run *run = start(text);
  vinci_values_fill(run->values, 1);
  int64_t *x = tensor(run, "x").data;
  x[1] = INT64_C(4294967299); /* 2^32 + 3 */
  x[2] = -7;
  x[3] = INT64_C(-4294967296);
  x[4] = INT64_C(4294967297); /* its low word is 1 */
  assert_int_equal(execute(run), VINCI_OK);
  end(run);
  run = counted(COUNTED "read,far,0,x+256\n", 1);
  assert_int_equal(execute(run), VINCI_E_INPUT);
  assert_non_null(
      strstr(run->diag.text, "read at address 256 of tensor \"x\", which has 256 bytes"));
  end(run);
}

/* The first index of an operator on 9 rows: what comes of a number, "" when nothing is wrong. */
static const char *index_error(const char *op, const char *type, int64_t index) {
  static struct vinci_diag diag;
  char dtype[32];
  const char *args[] = {"shape=9x64", "count=4", "step=1", dtype};
  snprintf(dtype, sizeof dtype, "dtype1=%s", type);
  struct values_run *run = start_op(op, args, 4);
  vinci_values_zero(run->values);
  if (strcmp(type, "int64") == 0)
    ((int64_t *)tensor(run, "x1").data)[0] = index;
  else
    ((int32_t *)tensor(run, "x1").data)[0] = (int32_t)index;
  enum vinci_status status = execute(run);
  diag = run->diag;
  assert_int_equal(status, diag.text[0] ? VINCI_E_INPUT : VINCI_OK);
  assert_true(status == VINCI_OK || diag.line > 0);
  end(run);
  return diag.text;
}

static void indices_outside_of_the_table_are_an_error(void **state) {
  (void)state;
  static const char *const ops[] = {"gather", "scatter_update", "scatter_add"};
  static const struct {
    const char *type;
    int64_t index;
    const char *error;
  } cases[] = {
      {"int64", 8, ""},
      {"int64", -9, ""}, /* the first row, from the end */
      {"int64", 9, "at is 9 by the data, the trace is for 8"},
      {"int64", -10, "at is -1 by the data, the trace is for 0"},
      {"int64", INT64_C(4294967299), "at is 4294967299 by the data, the trace is for 8"},
      {"int64", INT64_C(-4294967293), "at is -4294967284 by the data, the trace is for 0"},
      {"int64", INT64_MAX, "at is 9223372036854775807 by the data, the trace is for 8"},
      {"int64", INT64_MIN, "at is -9223372036854775799 by the data, the trace is for 0"},
      {"int32", -1, ""},
      {"int32", 9, "at is 9 by the data, the trace is for 8"},
      {"int32", INT32_MIN, "at is -2147483639 by the data, the trace is for 0"},
  };
  for (size_t op = 0; op < sizeof ops / sizeof *ops; op++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      assert_string_equal(index_error(ops[op], cases[i].type, cases[i].index), cases[i].error);
}

/* One query of zeros sees the 16 keys of one block alike: the result is what block number b has in
 * V, which is b. The trace takes the block to be number 0. */
static struct values_run *attention_of_block(int32_t number) {
  static const char *const args[] = {"heads=1",     "seq_q=1",       "seq_k=16",
                                     "head_dim=16", "block_size=16", "blocks=4"};
  struct values_run *run = start_op("paged_attention", args, 6);
  vinci_values_zero(run->values);
  uint16_t *v = tensor(run, "v").data;
  for (unsigned i = 0; i < 4 * 16 * 16; i++)
    v[i] = fp16_from_fp32((float)(i / (16 * 16)));
  *(int32_t *)tensor(run, "block_table").data = number;
  return run;
}

static void attention_follows_its_table(void **state) {
  (void)state;
  for (int32_t number = 0; number < 6; number++) {
    struct values_run *run = attention_of_block(number < 5 ? number : -1);
    assert_int_equal(execute(run), number < 4 ? VINCI_OK : VINCI_E_INPUT);
    if (number < 4)
      assert_int_equal(*(uint16_t *)tensor(run, "o").data, fp16_from_fp32((float)number));
    else
      assert_non_null(strstr(run->diag.text, number == 4
                                                 ? "page is 4 by the data, the trace is for 3"
                                                 : "page is -1 by the data"));
    end(run);
  }
}

/* All that x has is kept, or nothing: y has 17 elements. */
static void an_operator_refuses_another_count(void **state) {
  (void)state;
  static const char *const args[] = {"shape=40", "count=17"};
  for (unsigned mask = 0; mask < 2; mask++) {
    struct values_run *run = start_op("masked_select", args, 2);
    vinci_values_fill(run->values, 1);
    memset(tensor(run, "mask").data, (int)mask, 40);
    assert_int_equal(execute(run), VINCI_E_INPUT);
    assert_non_null(
        strstr(run->diag.text, mask ? "elements_of_y is 40 by the data, the trace is for 17"
                                    : "elements_of_y is 0 by the data"));
    end(run);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_trace_moves_bytes),
      cmocka_unit_test(a_later_kernel_reads_what_an_earlier_one_wrote),
      cmocka_unit_test(blocks_have_buffers_of_their_own),
      cmocka_unit_test(the_caller_can_stop_a_run),
      cmocka_unit_test(a_hang_is_told),
      cmocka_unit_test(read_rows_take_words_of_both_memories),
      cmocka_unit_test(indices_outside_of_the_table_are_an_error),
      cmocka_unit_test(attention_follows_its_table),
      cmocka_unit_test(every_type_comes_back_from_its_file),
      cmocka_unit_test(comparison_knows_infinities_and_nan),
      cmocka_unit_test(headers_of_files),
      cmocka_unit_test(read_rows_follow_the_data),
      cmocka_unit_test(data_that_a_trace_is_not_for_are_an_error),
      cmocka_unit_test(an_operator_refuses_another_count),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
