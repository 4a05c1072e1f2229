/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between architectures: instructions, operands and types that one of them lacks
 * are rejected by its name, and the forms that only some have touch and compute what they say.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/number.h"
#include "core/machine/values.h"
#include "cube/cube.h"
#include "memhier/transfer/transfer.h"
#include "tests/support/units.h"

/* ---- what is legal where --------------------------------------------------------------- */

static const struct legality {
  const char *soc, *arch, *core;
  const char *row;
  const char *message; /* NULL: legal */
  const char *hint;
} legality[] = {
    {"Ascend910A", "dav-c100", "AICORE", "set_atomic_max",
     "dav-c100 has no instruction \"set_atomic_max\"", "it exists on dav-c220, dav-c310"},
    {"Ascend910A", "dav-c100", "AICORE", "set_atomic_f16",
     "dav-c100 has no instruction \"set_atomic_f16\"", "it exists on dav-m200, dav-c220, dav-c310"},
    {"Ascend910A", "dav-c100", "AICORE", "set_atomic_f32", NULL, NULL},
    {"Ascend910A", "dav-c100", "AICORE", "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=bf16",
     "dav-c100 has no data type \"bf16\"", ""},
    {"Ascend910A", "dav-c100", "AICORE", "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=uint8,b_type=int8",
     NULL, NULL},
    {"Ascend910A", "dav-c100", "AICORE", "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16,sums=fp16", NULL,
     NULL},
    {"Ascend910A", "dav-c100", "AICORE", "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=int8,sums=fp16",
     "mad keeps sums in fp16 of fp16 only", ""},
    {"Ascend910A", "dav-c100", "AICORE",
     "mad,c=0,a=0,b=0,m=16,k=16,n=16,init=0,source=bt,type=fp16", "dav-c100 has no bias table", ""},
    {"Ascend910A", "dav-c100", "AICORE",
     "copy_matrix_cc_to_ubuf,dst=0,src=0,len_burst=1,convert=deqf16,type=fp32",
     "this conversion takes int32 accumulators, not fp32", ""},
    {"Ascend910A", "dav-c100", "AICORE", "copy_matrix_cc_to_ubuf,dst=0,src=0,len_burst=1,type=fp32",
     NULL, NULL},
    {"Ascend910A", "dav-c100", "AICORE", "set_ctrl,value=0",
     "dav-c100 has no instruction \"set_ctrl\"", "it exists on dav-c220, dav-c310"},
    {"Ascend910B4", "dav-c220", "AIV", "set_ctrl,value=0x1000000000000", NULL, NULL},
    {"Ascend910B4", "dav-c220", "AIV", "set_ctrl,value=0", NULL, NULL},
    {"Ascend910B4", "dav-c220", "AIV", "set_ctrl,value=0x40",
     "set_ctrl: only bit 48 can be chosen, the others are as after reset",
     "that is 0 with saturation, 1<<48 without; atomic stores have set_atomic_*"},
    {"Ascend950PR_9589", "dav-c310", "AIV", "set_ctrl,value=0x1001000000000000", NULL, NULL},
    {"Ascend950PR_9589", "dav-c310", "AIV", "set_ctrl,value=0x1000000000000",
     "set_ctrl: only bit 48 can be chosen, the others are as after reset",
     "that is 1<<60 with saturation, 1<<60|1<<48 without; atomic stores have set_atomic_*"},
    {"Ascend910B4", "dav-c220", "AIC", "set_l1_3d_size,value=0", NULL, NULL},
    {"Ascend310P3", "dav-m200", "AICORE", "set_l1_3d_size,value=1024", NULL, NULL},
    {"Ascend910B4", "dav-c220", "AIC", "set_l1_3d_size,value=992",
     "set_l1_3d_size: a boundary is 0, or a multiple of 32 bytes and at least 1024", ""},
    {"Ascend910B4", "dav-c220", "AIC", "set_l1_3d_size,value=1040",
     "set_l1_3d_size: a boundary is 0, or a multiple of 32 bytes and at least 1024", ""},
    {"Ascend950PR_9589", "dav-c310", "AIC", "set_l1_3d_size,value=1024",
     "dav-c310 has no instruction \"set_l1_3d_size\"", "it exists on dav-m200, dav-c220"},
    {"Ascend910A", "dav-c100", "AICORE", "vmaxs,dst=0,src=0,scalar=1,repeat=1,type=fp16",
     "dav-c100 has no instruction \"vmaxs\"", "it exists on dav-m200, dav-c220, dav-c310"},
    {"Ascend910A", "dav-c100", "AICORE", "vcmpvs_eq,dst=0,src=0,scalar=1,repeat=1,type=fp16",
     "dav-c100 has no instruction \"vcmpvs_eq\"", "it exists on dav-m200, dav-c220, dav-c310"},
    {"Ascend910A", "dav-c100", "AICORE", "vadd,dst=0,src0=0,src1=0,repeat=1,type=int16",
     "vadd does not take data type \"int16\" on dav-c100", "allowed are fp16, fp32, int32"},
    {"Ascend910A", "dav-c100", "AICORE", "vadds,dst=0,src=0,scalar=1,repeat=1,type=int32",
     "vadds does not take data type \"int32\" on dav-c100", "allowed are fp16, fp32"},
    {"Ascend910A", "dav-c100", "AICORE", "vrelu,dst=0,src=0,repeat=1,type=fp32",
     "vrelu does not take data type \"fp32\" on dav-c100", "allowed are fp16"},
    {"Ascend910A", "dav-c100", "AICORE", "vrelu,dst=0,src=0,repeat=1,type=fp16", NULL, NULL},
    {"Ascend910A", "dav-c100", "AICORE", "vcmax,dst=0,src=0,repeat=1,type=fp32",
     "vcmax does not take data type \"fp32\" on dav-c100", "allowed are fp16"},
    {"Ascend910A", "dav-c100", "AICORE", "vcadd,dst=0,src=0,repeat=1,type=fp32", NULL, NULL},
    {"Ascend910A", "dav-c100", "AICORE", "vconv_f322f16,dst=0,src=0,repeat=1,round=z",
     "vconv_f322f16 rounds to nearest or to odd on dav-c100", ""},
    {"Ascend310P3", "dav-m200", "AICORE", "vconv_f322f16,dst=0,src=0,repeat=1,round=o", NULL, NULL},
    {"Ascend310P3", "dav-m200", "AICORE", "vrelu,dst=0,src=0,repeat=1,type=fp32", NULL, NULL},
    {"Ascend310P3", "dav-m200", "AICORE", "vcmpv_eq,dst=0,src0=0,src1=0,repeat=1,type=int32",
     "vcmpv_eq does not take data type \"int32\" on dav-m200", "allowed are fp16, fp32"},
    {"Ascend910B4", "dav-c220", "AIV", "vcmpv_eq,dst=0,src0=0,src1=0,repeat=1,type=int32", NULL,
     NULL},
    {"Ascend910B4", "dav-c220", "AIV", "vcmpv_lt,dst=0,src0=0,src1=0,repeat=1,type=int32",
     "vcmpv_lt does not take data type \"int32\" on dav-c220", "allowed are fp16, fp32"},
    {"Ascend950PR_9589", "dav-c310", "AIV", "vcmpv_lt,dst=0,src0=0,src1=0,repeat=1,type=int32",
     NULL, NULL},
    {"Ascend910B4", "dav-c220", "AIC", "copy_matrix_cc_to_ubuf,dst=0,src=0,len_burst=1,type=fp32",
     "dav-c220 has no instruction \"copy_matrix_cc_to_ubuf\"", "it exists on dav-c100, dav-m200"},
    {"Ascend310P3", "dav-m200", "AICORE", "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=int4", NULL, NULL},
    {"Ascend310P3", "dav-m200", "AICORE", "copy_gm_to_ubuf_align_b8,dst=0,src=0,len_burst=3",
     "dav-m200 has no instruction \"copy_gm_to_ubuf_align_b8\"", "it exists on dav-c220, dav-c310"},
    {"Ascend910B4", "dav-c220", "AIC", "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=uint8",
     "mad does not take data type \"uint8\" on dav-c220",
     "allowed are fp16, bf16, fp32, int4, int8, hf32"},
    {"Ascend910B4", "dav-c220", "AIC", "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp8_e4m3",
     "dav-c220 has no data type \"fp8_e4m3\"", ""},
    {"Ascend910B4", "dav-c220", "AIC", "mad,c=0,a=0,b=0,m=16,k=16,n=16,sums=wide,type=fp16",
     "mad has no operand \"sums\" on dav-c220", "it exists on dav-c100, dav-m200"},
    {"Ascend910B4", "dav-c220", "AIC",
     "copy_matrix_cc_to_cbuf,dst=0,src=0,n=16,m=16,dst_stride=1,src_stride=16,nz2dn=1,type=fp32",
     "copy_matrix_cc_to_cbuf has no operand \"nz2dn\" on dav-c220", "it exists on dav-c310"},
    {"Ascend910B4", "dav-c220", "AIV", "vf_add,dst=0,src0=0,src1=0,count=8,type=fp16",
     "dav-c220 has no instruction \"vf_add\"", "it exists on dav-c310"},
    {"Ascend910B4", "dav-c220", "AIC",
     "copy_gm_to_cbuf_multi_dn2nz,dst=0,src=0,n=16,d=16,src_d=16,dst_c0_stride=16,type=fp16",
     "dav-c220 has no instruction \"copy_gm_to_cbuf_multi_dn2nz\"", "it exists on dav-c310"},
    {"Ascend950PR_9589", "dav-c310", "AIC", "mad,c=0,a=0,b=0,m=16,k=16,n=16,type=int4",
     "dav-c310 has no data type \"int4\"", ""},
    {"Ascend950PR_9589", "dav-c310", "AIC",
     "mad,c=0,a=0,b=0,m=16,k=16,n=16,b_type=fp8_e5m2,type=fp8_e4m3", NULL, NULL},
    {"Ascend950PR_9589", "dav-c310", "AIC",
     "mad,c=0,a=0,b=0,m=16,k=16,n=16,b_type=fp8_e5m2,type=fp16",
     "mad does not multiply fp16 by the other type", ""},
    {"Ascend950PR_9589", "dav-c310", "AIC",
     "mad,c=0,a=0,b=0,m=16,k=64,n=16,b_type=fp4_e2m1,type=fp8_e4m3",
     "mad does not multiply fp8_e4m3 by the other type", ""},
    {"Ascend950PR_9589", "dav-c310", "AIC",
     "mad_mx,c=0,a=0,b=0,m=16,k=64,n=16,b_type=fp4_e2m1,type=fp4_e1m2", NULL, NULL},
    {"Ascend950PR_9589", "dav-c310", "AIC", "mad_mx,c=0,a=0,b=0,m=16,k=96,n=16,type=fp4_e1m2",
     "k of mad_mx is 96, not a multiple of 64", ""},
    {"Ascend950PR_9589", "dav-c310", "AIC", "mad_mx,c=0,a=0,b=0,m=16,k=64,n=16,type=fp16",
     "mad_mx does not take data type \"fp16\"",
     "allowed are fp8_e4m3, fp8_e5m2, fp4_e2m1, fp4_e1m2"},
    {"Ascend910B4", "dav-c220", "AIC", "mad_mx,c=0,a=0,b=0,m=16,k=64,n=16,type=fp8_e4m3",
     "dav-c220 has no instruction \"mad_mx\"", "it exists on dav-c310"},
    {"Ascend950PR_9589", "dav-c310", "AIC", "load_gm_to_ca,dst=0,src=0,repeat=1",
     "dav-c310 has no instruction \"load_gm_to_ca\"", "it exists on dav-c100, dav-m200, dav-c220"},
    {"Ascend950PR_9589", "dav-c310", "AIC",
     "copy_matrix_cc_to_cbuf,dst=0,src=0,n=16,m=16,dst_stride=1,src_stride=16,nz2nd=1,nz2dn=1,type="
     "fp32",
     "rows or columns: nz2nd and nz2dn exclude each other", ""},
    {"Ascend950PR_9589", "dav-c310", "AIC",
     "copy_matrix_cc_to_ub,dst=0,src=0,n=16,m=16,dst_stride=16,src_stride=16,nz2nd=1,type=fp32",
     NULL, NULL},
    {"Ascend950PR_9589", "dav-c310", "AIC", "vadd,dst=0,src0=0,src1=0,repeat=1,type=fp16",
     "vadd runs on pipe V, which an AIC core does not have", ""},
};

static void rejected_by_name(void **state) {
  (void)state;
  const char *root = getenv("TESTS_SRCDIR");
  char data[4096], text[1024];
  snprintf(data, sizeof data, "%s/scripts", root ? root : ".");
  for (size_t i = 0; i < sizeof legality / sizeof *legality; i++) {
    const struct legality *row = &legality[i];
    struct vinci_diag diag = {0};
    vinci_soc *soc;
    vinci_trace *trace;
    assert_int_equal(vinci_soc_load(row->soc, data, &soc, &diag), VINCI_OK);
    snprintf(text, sizeof text,
             "trace,version=1\nkernel,name=k,arch=%s,blocks=1\nstream,core=%s\n%s\n", row->arch,
             row->core, row->row);
    enum vinci_status status = vinci_trace_parse("t", text, strlen(text), soc, &trace, &diag);
    if (row->message) {
      assert_int_equal(status, VINCI_E_INPUT);
      assert_string_equal(diag.text, row->message);
      assert_string_equal(diag.hint, row->hint);
      assert_int_equal(diag.line, 4);
    } else {
      assert_string_equal(diag.text, "");
      assert_int_equal(status, VINCI_OK);
    }
    vinci_trace_free(trace);
    vinci_soc_free(soc);
  }
}

/* ---- values ------------------------------------------------------------------------------ */

enum { BUFFER_BYTES = 1 << 14 };

static uint8_t memory[SPACE_COUNT][BUFFER_BYTES], vectors[2][BUFFER_BYTES];

static struct value_core clear_core(void) {
  struct value_core core = {.aiv_ub = {vectors[0], vectors[1]}};
  memset(memory, 0, sizeof memory);
  memset(vectors, 0, sizeof vectors);
  for (unsigned i = 0; i < SPACE_COUNT; i++)
    core.bytes[i] = memory[i];
  return core;
}

static void execute(struct inst *inst, enum arch arch, struct value_core *core) {
  inst->arch = (uint8_t)arch;
  registry_values((enum isa_op)inst->op)(test_soc(), inst, core);
}

static struct inst mad(enum dtype type, int64_t m, int64_t k, int64_t n) {
  struct inst inst = test_inst(OP_MAD, type);
  test_set(&inst, "m", m);
  test_set(&inst, "k", k);
  test_set(&inst, "n", n);
  return inst;
}

/* One row of 3 numbers of A times 3 rows of one number of B, each a byte. */
static void set_bytes(const uint8_t a[3], const uint8_t b[3]) {
  memcpy(memory[SPACE_L0A], a, 3);
  memcpy(memory[SPACE_L0B], b, 3);
}

static void mad_of_eight_bits(void **state) {
  (void)state;
  struct value_core core = clear_core();
  struct inst fp8 = mad(DTYPE_FP8_E4M3, 1, 3, 1);
  /* e4m3: 0x38 is 1, 0x40 is 2, 0xb4 is -0.75; e5m2: 0x3c is 1, 0x42 is 3, 0x38 is 0.5 */
  set_bytes((const uint8_t[]){0x38, 0x40, 0xb4}, (const uint8_t[]){0x40, 0x38, 0x38});
  execute(&fp8, ARCH_C310, &core);
  assert_true(load_fp32(memory[SPACE_L0C]) == 1 * 2 + 2 * 1 - 0.75f);
  test_set(&fp8, "b_type", MAD_B_FP8_E5M2);
  set_bytes((const uint8_t[]){0x38, 0x40, 0xb4}, (const uint8_t[]){0x3c, 0x42, 0x38});
  execute(&fp8, ARCH_C310, &core);
  assert_true(load_fp32(memory[SPACE_L0C]) == 1 + 2 * 3 - 0.375f);
  struct inst bytes = mad(DTYPE_UINT8, 1, 3, 1);
  set_bytes((const uint8_t[]){255, 2, 128}, (const uint8_t[]){255, 0xfe, 1});
  execute(&bytes, ARCH_C100, &core);
  assert_int_equal(load_i32(memory[SPACE_L0C]), 255 * 255 + 2 * 254 + 128);
  test_set(&bytes, "b_type", MAD_B_INT8);
  execute(&bytes, ARCH_C100, &core);
  assert_int_equal(load_i32(memory[SPACE_L0C]), -255 - 2 * 2 + 128);
}

static void mad_may_keep_fp16(void **state) {
  (void)state;
  struct value_core core = clear_core();
  struct inst inst = mad(DTYPE_FP16, 1, 2, 2);
  test_set(&inst, "sums", MAD_SUMS_FP16);
  /* a = 60000, 1; b columns: 1, 3 and 2, 0 (blocks of 16 along k) */
  store_u16(memory[SPACE_L0A], fp16_from_fp32(60000));
  store_u16(memory[SPACE_L0A] + 2, fp16_from_fp32(1));
  store_u16(memory[SPACE_L0B], fp16_from_fp32(1));
  store_u16(memory[SPACE_L0B] + 2, fp16_from_fp32(3));
  store_u16(memory[SPACE_L0B] + 32, fp16_from_fp32(2));
  execute(&inst, ARCH_C100, &core);
  assert_true(fp16_to_fp32(load_u16(memory[SPACE_L0C])) == 60000);     /* 60003, rounded to 32 */
  assert_true(fp16_to_fp32(load_u16(memory[SPACE_L0C] + 2)) == 65504); /* ends at the largest */
  test_set(&inst, "init", 0);
  store_u16(memory[SPACE_L0A], 0);
  execute(&inst, ARCH_C100, &core);
  assert_true(fp16_to_fp32(load_u16(memory[SPACE_L0C])) == 60000); /* 60000 + 3 */
}

static void dn2nz_transposes(void **state) {
  (void)state;
  enum { N = 3, D = 20, SRC_D = 5 };
  struct value_core core = clear_core();
  struct inst inst = test_inst(OP_COPY_GM_TO_CBUF_MULTI_DN2NZ, DTYPE_INT16);
  test_set(&inst, "n", N);
  test_set(&inst, "d", D);
  test_set(&inst, "src_d", SRC_D);
  test_set(&inst, "dst_c0_stride", 4);
  memset(memory[SPACE_L1], 0xff, BUFFER_BYTES);
  for (uint16_t d = 0; d < D; d++)
    for (uint16_t n = 0; n < SRC_D; n++)
      store_u16(memory[SPACE_GM] + (d * SRC_D + n) * 2, (uint16_t)(d * 100 + n));
  execute(&inst, ARCH_C310, &core);
  for (size_t n = 0; n < N; n++)
    for (size_t d = 0; d < 32; d++)
      assert_int_equal(load_u16(memory[SPACE_L1] + (d / 16 * 4 + n) * 32 + d % 16 * 2),
                       d < D ? d * 100 + n : 0);
  assert_int_equal(test_bytes(&inst, "src", READ), ((D - 1) * SRC_D + N) * 2);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), (4 + N) * 32);
  assert_int_equal(test_cost(&inst).bytes, N * D * 2);
  assert_int_equal(test_cost(&inst).line_mcycles, T_ND2NZ_LINE * 1000);
}

/* Accumulators of a matrix of at most 32 columns: 100 * row + column. */
static void fill_l0c(size_t m, size_t n) {
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++)
      store_fp32(memory[SPACE_L0C] + ((j / 16 * m + i) * 16 + j % 16) * 4, (float)(100 * i + j));
}

static struct inst fix(enum isa_op op, int64_t m, int64_t n, int64_t dst_stride) {
  struct inst inst = test_inst(op, DTYPE_FP32);
  test_set(&inst, "m", m);
  test_set(&inst, "n", n);
  test_set(&inst, "src_stride", m);
  test_set(&inst, "dst_stride", dst_stride);
  return inst;
}

static void the_fixpipe_writes_columns(void **state) {
  (void)state;
  enum { M = 8, N = 32, STRIDE = 10 };
  struct value_core core = clear_core();
  struct inst inst = fix(OP_COPY_MATRIX_CC_TO_CBUF, M, N, STRIDE);
  test_set(&inst, "nz2dn", 1);
  fill_l0c(M, N);
  execute(&inst, ARCH_C310, &core);
  for (size_t j = 0; j < N; j++)
    for (size_t i = 0; i < M; i++)
      assert_true(load_fp32(memory[SPACE_L1] + (j * STRIDE + i) * 4) == (float)(100 * i + j));
  assert_int_equal(test_bytes(&inst, "dst", WRITE), ((N - 1) * STRIDE + M) * 4);
  assert_int_equal(test_cost(&inst).bytes, M * N * 4);
}

static struct inst_access remote_access(const struct inst *inst, unsigned sub) {
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = registry_access((enum isa_op)inst->op)(test_soc(), inst, access);
  for (unsigned i = 0; i < count; i++)
    if (access[i].remote == sub + 1)
      return access[i];
  return (struct inst_access){.bytes = 0};
}

static void the_fixpipe_fills_ub_of_both_vector_cores(void **state) {
  (void)state;
  enum { M = 8, N = 32 };
  struct value_core core = clear_core();
  struct inst inst = fix(OP_COPY_MATRIX_CC_TO_UB, M, N, N);
  test_set(&inst, "nz2nd", 1);
  fill_l0c(M, N);
  test_set(&inst, "sub", 1);
  execute(&inst, ARCH_C310, &core);
  assert_true(load_fp32(vectors[1] + (3 * N + 17) * 4) == 317);
  assert_true(load_fp32(vectors[0] + (3 * N + 17) * 4) == 0);
  assert_int_equal(remote_access(&inst, 0).bytes, 0);
  assert_int_equal(remote_access(&inst, 1).bytes, M * N * 4);
  test_set(&inst, "split", FIX_SPLIT_M);
  execute(&inst, ARCH_C310, &core);
  assert_true(load_fp32(vectors[0] + (3 * N + 17) * 4) == 317);
  assert_true(load_fp32(vectors[1] + (3 * N + 17) * 4) == 717);
  assert_int_equal(remote_access(&inst, 0).bytes, M / 2 * N * 4);
  assert_int_equal(remote_access(&inst, 1).bytes, M / 2 * N * 4);
  test_set(&inst, "split", FIX_SPLIT_N);
  test_set(&inst, "dst_stride", N / 2);
  execute(&inst, ARCH_C310, &core);
  assert_true(load_fp32(vectors[0] + (3 * N / 2 + 5) * 4) == 305);
  assert_true(load_fp32(vectors[1] + (3 * N / 2 + 5) * 4) == 321);
  assert_int_equal(test_cost(&inst).bytes, M * N * 4);
}

static void coupled_cores_move_between_l0c_and_ub(void **state) {
  (void)state;
  struct value_core core = clear_core();
  struct inst out = test_inst(OP_COPY_MATRIX_CC_TO_UBUF, DTYPE_INT32);
  test_set(&out, "n_burst", 2);
  test_set(&out, "len_burst", 1);
  test_set(&out, "src_gap", 1);
  test_set(&out, "dst_gap", 1);
  test_set(&out, "convert", L0C_CONVERT_DEQF16);
  test_set(&out, "relu", 1);
  out.registers.deq_scale = fp16_from_fp32(0.5f);
  for (int i = 0; i < 3 * 256; i++)
    store_u32(memory[SPACE_L0C] + i * 4, (uint32_t)(i - 100));
  execute(&out, ARCH_C100, &core);
  assert_true(fp16_to_fp32(load_u16(memory[SPACE_UB] + 50 * 2)) == 0);
  assert_true(fp16_to_fp32(load_u16(memory[SPACE_UB] + 255 * 2)) == 77.5f);
  assert_true(fp16_to_fp32(load_u16(memory[SPACE_UB] + 512 + 32)) == 206); /* 512 - 100, halved */
  assert_int_equal(test_bytes(&out, "src", READ), 3 * 1024);
  assert_int_equal(test_bytes(&out, "dst", WRITE), 2 * 512 + 32);
  assert_int_equal(test_cost(&out).path, PATH_L0C_UB);
  assert_int_equal(test_cost(&out).bytes, 2 * 1024);
  assert_int_equal(test_cost(&out).issue_cycles, T_LOCAL_STARTUP + 2 * 1024 / T_RATE);
  struct inst rows = test_inst(OP_BROADCAST_UB_TO_CC, DTYPE_FP32);
  test_set(&rows, "len_burst", 2);
  for (int i = 0; i < 32; i++)
    store_fp32(memory[SPACE_UB] + i * 4, (float)i);
  execute(&rows, ARCH_M200, &core);
  for (int i = 0; i < 512; i++)
    assert_true(load_fp32(memory[SPACE_L0C] + i * 4) == (float)(i / 256 * 16 + i % 16));
  assert_int_equal(test_bytes(&rows, "src", READ), 128);
  assert_int_equal(test_bytes(&rows, "dst", WRITE), 2048);
  assert_int_equal(test_cost(&rows).path, PATH_NONE);
  struct inst in = test_inst(OP_COPY_MATRIX_UBUF_TO_CC, DTYPE_FP32);
  test_set(&in, "len_burst", 1);
  test_set(&in, "convert", 1);
  store_u16(memory[SPACE_UB] + 255 * 2, fp16_from_fp32(-3));
  execute(&in, ARCH_C100, &core);
  assert_true(load_fp32(memory[SPACE_L0C] + 255 * 4) == -3);
  assert_int_equal(test_bytes(&in, "src", READ), 512);
}

static void vector_functions_compute_what_they_are_called(void **state) {
  (void)state;
  enum { COUNT = 70 };
  struct value_core core = clear_core();
  struct inst add = test_inst(OP_VF_ADD, DTYPE_FP32), scale = test_inst(OP_VF_MULS, DTYPE_FP32);
  for (size_t i = 0; i < COUNT + 1; i++) {
    store_fp32(memory[SPACE_UB] + i * 4, (float)i);
    store_fp32(memory[SPACE_UB] + 0x1000 + i * 4, 0.5f);
  }
  test_set(&add, "src1", 0x1000);
  test_set(&add, "dst", 0x2000);
  test_set(&add, "count", COUNT);
  add.mask = (struct vector_mask){.low = 1}; /* masks do not count */
  execute(&add, ARCH_C310, &core);
  for (size_t i = 0; i < COUNT + 1; i++)
    assert_true(load_fp32(memory[SPACE_UB] + 0x2000 + i * 4) == (i < COUNT ? (float)i + 0.5f : 0));
  test_set(&scale, "scalar", (int64_t)fp32_bits(-2));
  test_set(&scale, "dst", 0x2000);
  test_set(&scale, "count", COUNT);
  execute(&scale, ARCH_C310, &core);
  assert_true(load_fp32(memory[SPACE_UB] + 0x2000 + 69 * 4) == -138);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rejected_by_name),
      cmocka_unit_test(mad_of_eight_bits),
      cmocka_unit_test(mad_may_keep_fp16),
      cmocka_unit_test(dn2nz_transposes),
      cmocka_unit_test(the_fixpipe_writes_columns),
      cmocka_unit_test(the_fixpipe_fills_ub_of_both_vector_cores),
      cmocka_unit_test(coupled_cores_move_between_l0c_and_ub),
      cmocka_unit_test(vector_functions_compute_what_they_are_called),
  };
  return cmocka_run_group_tests_name("arch", tests, NULL, NULL);
}
