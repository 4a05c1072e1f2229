/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the instruction table against the unit functions, and of what vector
 * instructions cost and touch.
 */
#include "cube/cube.h"
#include "memhier/transfer/transfer.h"
#include "tests/support/units.h"
#include "vector/vector.h"

/* ---- table ----------------------------------------------------------------- */

static const char *const stem_of[] = {
#define ISA(id, name, pipe, archs, signature, dtypes, stem, values, ...) #stem,
#include "core/isa/isa.def"
#undef ISA
};

static bool is_control(int op) { return strcmp(stem_of[op], "control") == 0; }

static bool is_stem(int op, const char *one, const char *other) {
  return strcmp(stem_of[op], one) == 0 || strcmp(stem_of[op], other) == 0;
}

/* Of register instructions that compute and move, the registers are found by their kind. */
static bool finds_by_kind(int op) { return is_stem(op, "reg_compute", "reg_move"); }

/* A vector function or a function of threads as a whole, masks and memory bars: no bytes that
 * others could touch. What reg_vldas reads is read once more by the reg_vldus behind. */
static bool touches_nothing(int op) {
  return is_stem(op, "reg_call", "reg_bar") || is_stem(op, "reg_mask", "reg_align") ||
         is_stem(op, "simt_call", "simt_call");
}

/* Operands without the data type, which comes last. */
static unsigned operand_count(const struct isa_row *row) {
  if (row->type_arg >= 0)
    assert_int_equal(row->type_arg, row->arg_count - 1);
  return row->arg_count - (unsigned)(row->type_arg >= 0);
}

/* The functions of a stem find operands by number: its rows have the same operands in the same
 * order; what only some of them have comes after all others. */
static void rows_of_a_stem_agree_on_their_operands(void **state) {
  (void)state;
  unsigned pairs = 0;
  for (int a = 0; a < OP_COUNT; a++) {
    for (int b = 0; b < a && !is_control(a) && !finds_by_kind(a); b++) {
      if (strcmp(stem_of[a], stem_of[b]) != 0)
        continue;
      const struct isa_row *one = isa_row((enum isa_op)a), *other = isa_row((enum isa_op)b);
      unsigned count = operand_count(one);
      count = count < operand_count(other) ? count : operand_count(other);
      for (unsigned i = 0; i < count; i++) {
        assert_string_equal(one->arg[i].name, other->arg[i].name);
        assert_int_equal(one->arg[i].kind, other->arg[i].kind);
      }
      pairs++;
    }
  }
  assert_true(pairs > OP_COUNT);
}

/* Rows have the operands of the family that their units read: one that lies far behind, of each. */
static void numbers_of_operands_are_those_of_the_signatures(void **state) {
  (void)state;
  static const struct {
    enum isa_op op;
    const char *name;
    int number;     /* by which a unit reads the operand */
    int documented; /* place among the operands as the intrinsics order them, from 0 */
  } cases[] = {
      {OP_VADD, "src1_repeat", BINARY_SRC1_REPEAT, 9},
      {OP_VADDDEQRELU, "src1_repeat", BINARY_SRC1_REPEAT, 9},
      {OP_VSEL, "mode", SELECT_MODE, 11},
      {OP_VCMPV_EQ, "src1_repeat", COMPARE_SRC1_REPEAT, 7},
      {OP_VCMP_EQ, "src1_block", COMPARER_SRC1_BLOCK, 3},
      {OP_VCMPVS_EQ, "src_repeat", COMPARES_SRC_REPEAT, 5},
      {OP_SET_CMPMASK, "src", COMPARE_MASK_ADDRESS, 0},
      {OP_VABS, "src_repeat", UNARY_SRC_REPEAT, 6},
      {OP_VCONV_F322F16, "round", CONVERT_ROUND, 7},
      {OP_VCONV_DEQS162B8H, "src_repeat", UNARY_SRC_REPEAT, 6},
      {OP_VCONV_VDEQS162B8H, "scales", CONVERT_HALF_SCALES, 7},
      {OP_VADDS, "src_repeat", SCALAR_SRC_REPEAT, 7},
      {OP_VECTOR_DUP, "dst_repeat", DUP_DST_REPEAT, 4},
      {OP_VCADD, "src_repeat", REDUCE_SRC_REPEAT, 5},
      {OP_VCMAX, "order", REDUCE_ORDER, 6},
      {OP_VCGADD, "src_repeat", REDUCE_SRC_REPEAT, 5},
      {OP_VCPADD, "src_repeat", REDUCE_SRC_REPEAT, 5},
      {OP_VREDUCEV2, "src1_repeat", COMPACT_SRC1_REPEAT, 7},
      {OP_VTRANSPOSE, "src", TRANSPOSE_SRC, 1},
      {OP_SCATTER_VNCHWCONV_B8, "src_high", NCHWCONV_SRC_HIGH, 8},
      {OP_VBRCB, "dst_repeat", BROADCAST_DST_REPEAT, 4},
      {OP_VGATHER, "dst_repeat", GATHER_DST_REPEAT, 4},
      {OP_VGATHERB, "dst_repeat", GATHERB_DST_REPEAT, 5},
      {OP_VBITSORT, "repeat", BITSORT_REPEAT, 3},
      {OP_VMRGSORT4, "stop", MERGE_STOP, 11},
      {OP_VBITSORT16, "repeat", PROPOSAL_REPEAT, 2},
      {OP_VEXTRACT, "field", PROPOSAL_FIELD, 3},
      {OP_VF_ADD, "count", VF_BINARY_COUNT, 3},
      {OP_VF_ADDS, "count", VF_SCALAR_COUNT, 3},
      {OP_VF_ABS, "count", VF_UNARY_COUNT, 2},
      {OP_VF_DUP, "count", VF_DUP_COUNT, 2},
      {OP_MAD, "k_align", MAD_K_ALIGN, 13},
      {OP_COPY_GM_TO_UBUF, "dst_gap", BURST_DST_GAP, 5},
      {OP_COPY_GM_TO_UBUF_ALIGN_B8, "dst_gap", ALIGN_DST_GAP, 7},
      {OP_COPY_GM_TO_CBUF_MULTI_ND2NZ_B8, "dst_nd_stride", ND2NZ_DST_ND_STRIDE, 9},
      {OP_COPY_GM_TO_CBUF_MULTI_DN2NZ, "dst_nz_stride", DN2NZ_DST_NZ_STRIDE, 9},
      {OP_LOAD_GM_TO_CA, "dst_gap", LOAD2D_DST_GAP, 5},
      {OP_LOAD_CBUF_TO_CA_TRANSPOSE, "frac_gap", LOAD2DT_FRAC_GAP, 6},
      {OP_LOAD_CBUF_TO_CA_MX, "dst_stride", LOAD_SCALES_DST_STRIDE, 7},
      {OP_LOAD_CBUF_TO_CB_SP, "repeat", LOAD_SPARSE_REPEAT, 4},
      {OP_IMG2COLV2_CBUF_TO_CA, "transpose", LOAD3D_TRANSPOSE, 19},
      {OP_CREATE_CA_MATRIX, "value", FILL_VALUE, 4},
      {OP_COPY_MATRIX_CC_TO_GM, "nz2dn", FIX_NZ2DN, 14},
      {OP_COPY_MATRIX_CC_TO_UB, "sub", FIX_SUB, 16},
      {OP_COPY_MATRIX_CC_TO_UBUF, "relu", L0C_RELU, 7},
      {OP_COPY_MATRIX_UBUF_TO_CC, "convert", L0C_CONVERT, 6},
      {OP_BROADCAST_UB_TO_CC, "dst_gap", BURST_DST_GAP, 5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(isa_arg_find(isa_row(cases[i].op), cases[i].name, strlen(cases[i].name)),
                     cases[i].documented);
    assert_int_equal(cases[i].number, cases[i].documented);
  }
}

static void optional_operands_are_where_stems_look(void **state) {
  (void)state;
  const struct isa_row *bias = isa_row(OP_COPY_CBUF_TO_BT);
  assert_int_equal(isa_arg_find(bias, "conv", 4), BURST_CONVERT);
  assert_int_equal(isa_arg_find(isa_row(OP_LOAD_CBUF_TO_CA), "transpose", 9), LOAD2D_TRANSPOSE);
  const struct isa_arg *quant = &isa_row(OP_COPY_MATRIX_CC_TO_GM)->arg[FIX_QUANT];
  assert_int_equal(isa_word_find(quant, "f322bf16", 8), QUANT_F322BF16);
  assert_int_equal(isa_word_find(quant, "vdeqf16", 7), QUANT_VDEQF16);
  assert_int_equal(isa_word_find(quant, "vreq8", 5), QUANT_VREQ8);
  const struct isa_arg *mode = &isa_row(OP_VSEL)->arg[SELECT_MODE];
  assert_int_equal(isa_word_find(mode, "tensor", 6), SELECT_MODE_TENSOR);
  const struct isa_arg *order = &isa_row(OP_VCMAX)->arg[REDUCE_ORDER];
  assert_int_equal(isa_word_find(order, "index", 5), REDUCE_INDEX);
  assert_int_equal(isa_word_find(&isa_row(OP_MAD)->arg[MAD_SOURCE], "bt", 2), MAD_SOURCE_BT);
}

static enum dtype first_type(const struct isa_row *row) {
  return row->dtypes ? (enum dtype)__builtin_ctz(row->dtypes) : DTYPE_COUNT;
}

/* Every instruction with small operands: ranges are of its operands' spaces and
 * directions, results come no earlier than the next may start. */
/* Indices of a sparse matrix lie beside its values, and so do scales: the operand of the values
 * names both. */
static enum space named_space(enum space touched, enum space operand) {
  bool beside = (touched == SPACE_IDX && operand == SPACE_L0B) ||
                (touched == SPACE_L0A_MX && operand == SPACE_L0A) ||
                (touched == SPACE_L0B_MX && operand == SPACE_L0B);
  return beside ? operand : touched;
}

static void every_row_gives_sound_answers(void **state) {
  (void)state;
  for (int op = 0; op < OP_COUNT; op++) {
    if (is_control(op))
      continue;
    const struct isa_row *row = isa_row((enum isa_op)op);
    struct inst inst = test_inst((enum isa_op)op, first_type(row));
    for (unsigned i = 0; i < row->arg_count; i++)
      if (row->arg[i].kind == ARG_INTEGER && !row->arg[i].has_default)
        inst.arg[i] = 16;
    if (op == OP_REG_VSTAS) /* writes the bytes that are held, by default none */
      inst.arg[isa_arg_find(row, "held", 4)] = 16;
    struct inst_cost cost = test_cost(&inst);
    assert_true(cost.issue_cycles > 0);
    assert_true(cost.latency_cycles >= cost.issue_cycles);
    struct inst_access access[INST_ACCESS_MAX];
    unsigned count = registry_access((enum isa_op)op)(test_soc(), &inst, access);
    if (touches_nothing(op)) {
      assert_int_equal(count, 0);
      continue;
    }
    assert_in_range(count, 1, INST_ACCESS_MAX);
    bool wrote = true; /* a result that goes to a register is no operand */
    for (unsigned i = 0; i < row->arg_count; i++)
      wrote &= !row->arg[i].writes;
    for (unsigned i = 0; i < count; i++) {
      const struct isa_arg *operand = &row->arg[access[i].arg];
      if (operand->kind == ARG_WORD)
        continue; /* stands for what a register points to */
      assert_int_equal(operand->kind, ARG_ADDRESS);
      assert_int_equal(named_space(access[i].space, operand->space), operand->space);
      assert_true(access[i].write ? operand->writes : operand->reads);
      wrote |= access[i].write && access[i].bytes > 0;
    }
    assert_true(wrote);
  }
}

static void cost_grows_with_repeats(void **state) {
  (void)state;
  for (int op = 0; op < OP_COUNT; op++) {
    const struct isa_row *row = isa_row((enum isa_op)op);
    int repeat = isa_arg_find(row, "repeat", 6);
    if (repeat < 0)
      continue;
    struct inst inst = test_inst((enum isa_op)op, first_type(row));
    for (unsigned i = 0; i < row->arg_count; i++)
      if (row->arg[i].kind == ARG_INTEGER && !row->arg[i].has_default)
        inst.arg[i] = 16;
    struct inst_cost before = {0};
    for (inst.arg[repeat] = 0; inst.arg[repeat] <= 255; inst.arg[repeat]++) {
      struct inst_cost cost = test_cost(&inst);
      assert_true(cost.issue_cycles >= before.issue_cycles);
      assert_true(cost.latency_cycles >= before.latency_cycles);
      assert_true(cost.operations >= before.operations);
      before = cost;
    }
    if (row->pipe == PIPE_V)
      assert_true(before.latency_cycles > T_VECTOR_STARTUP + 100);
  }
}

/* ---- vector: cost and masks --------------------------------------------------- */

static struct inst vadd(enum dtype type, int64_t repeat) {
  struct inst inst = test_inst(OP_VADD, type);
  test_set(&inst, "repeat", repeat);
  test_set(&inst, "src0", 0x1000);
  return inst;
}

static void binary_cost_by_repeats(void **state) {
  (void)state;
  struct inst none = vadd(DTYPE_FP16, 0), one = vadd(DTYPE_FP16, 1), all = vadd(DTYPE_FP32, 255);
  assert_int_equal(test_cost(&none).issue_cycles, 3);
  assert_int_equal(test_cost(&none).latency_cycles, T_VECTOR_STARTUP);
  assert_int_equal(test_cost(&none).operations, 0);
  assert_int_equal(test_cost(&one).issue_cycles, 3);
  assert_int_equal(test_cost(&one).latency_cycles, T_VECTOR_STARTUP + 2);
  assert_int_equal(test_cost(&all).issue_cycles, 510);
  assert_int_equal(test_cost(&all).latency_cycles, T_VECTOR_STARTUP + 510);
  assert_int_equal(test_cost(&all).operations, 255 * 64);
  assert_int_equal(test_cost(&all).path, PATH_NONE);
  assert_false(test_cost(&all).uses_gm);
}

static void cycles_round_up_once(void **state) {
  (void)state;
  struct vinci_soc *soc = test_soc();
  soc->vector_class[VECTOR_CLASS_TWO] =
      (struct vector_class_cost){.startup_mcycles = 10300, .per_repeat_mcycles = 1700};
  struct inst inst = vadd(DTYPE_FP16, 10);
  struct inst_cost cost;
  vec_binary_cost(soc, &inst, &cost);
  assert_int_equal(cost.issue_cycles, 17);
  assert_int_equal(cost.latency_cycles, 28); /* 27.3 */
}

/* Besides its repeats, 10 x 2 cycles, an instruction takes 7.5 when others follow it at once. */
static void what_an_instruction_adds_counts_in_a_stream(void **state) {
  (void)state;
  struct vinci_soc *soc = test_soc();
  soc->vector_class[VECTOR_CLASS_TWO].offset_mcycles = 7500;
  struct inst inst = vadd(DTYPE_FP16, 10);
  struct inst_cost cost;
  vec_binary_cost(soc, &inst, &cost);
  assert_int_equal(cost.issue_cycles, 27);
  assert_int_equal(cost.issue_rest_mcycles, 500);
  assert_int_equal(cost.latency_cycles, T_VECTOR_STARTUP + 20);
}

/* vexp takes 2 cycles a repeat in 32 bits, 4 in 16: classes EXP32 and FOUR. */
static void widths_have_classes_of_their_own(void **state) {
  (void)state;
  static const enum dtype types[] = {DTYPE_FP32, DTYPE_FP16};
  for (unsigned i = 0; i < 2; i++) {
    struct vinci_soc *soc = test_soc();
    soc->vector_class[VECTOR_CLASS_EXP32].per_repeat_mcycles = 2000;
    soc->vector_class[VECTOR_CLASS_FOUR].per_repeat_mcycles = 4000;
    struct inst inst = test_inst(OP_VEXP, types[i]);
    struct inst_cost cost;
    test_set(&inst, "repeat", 10);
    registry_cost(OP_VEXP)(soc, &inst, &cost);
    assert_int_equal(cost.latency_cycles, T_VECTOR_STARTUP + 10 * (i ? 4 : 2));
  }
}

static void counter_mode_counts_elements(void **state) {
  (void)state;
  struct inst inst = vadd(DTYPE_FP16, 1);
  inst.mask = (struct vector_mask){.low = 1000, .counter = true};
  assert_int_equal(test_cost(&inst).issue_cycles, 16); /* 7 whole repeats and 104 lanes */
  assert_int_equal(test_cost(&inst).operations, 1000);
  assert_int_equal(test_bytes(&inst, "src0", READ), 2000);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 2000);
  inst.mask.low = 0;
  assert_int_equal(test_cost(&inst).issue_cycles, 3);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 0);
}

static void full_mask_touches_whole_repeats(void **state) {
  (void)state;
  struct inst inst = vadd(DTYPE_FP16, 4);
  assert_int_equal(test_access(&inst, "src0", READ).address, 0x1000);
  assert_int_equal(test_bytes(&inst, "src0", READ), 4 * 256);
  assert_int_equal(test_bytes(&inst, "dst", READ), 0);
  test_set(&inst, "dst_repeat", 0);
  test_set(&inst, "src1_repeat", 16);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 256);
  assert_int_equal(test_bytes(&inst, "src1", READ), 3 * 512 + 256);
}

static void last_lane_ends_the_range(void **state) {
  (void)state;
  struct inst inst = vadd(DTYPE_FP16, 2);
  inst.mask = (struct vector_mask){.low = 0x3ffff}; /* 18 lanes: a block and 2 elements */
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 256 + 32 + 4);
  assert_int_equal(test_cost(&inst).operations, 36);
  test_set(&inst, "src0_block", 3);
  assert_int_equal(test_bytes(&inst, "src0", READ), 256 + 3 * 32 + 4);
  test_set(&inst, "src0_block", 0); /* every block is the same block */
  assert_int_equal(test_bytes(&inst, "src0", READ), 256 + 32);
  inst.mask = (struct vector_mask){.high = 1}; /* lane 64: block 4 */
  assert_int_equal(test_access(&inst, "src1", READ).address, 4 * 32);
  assert_int_equal(test_bytes(&inst, "src1", READ), 256 + 2);
}

static void high_mask_is_of_16_bit_types_only(void **state) {
  (void)state;
  struct inst inst = vadd(DTYPE_FP32, 1);
  inst.mask = (struct vector_mask){.high = UINT64_MAX};
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 0);
  assert_int_equal(test_cost(&inst).operations, 0);
  assert_int_equal(test_cost(&inst).issue_cycles, 3); /* the repeats run all the same */
  inst.mask = (struct vector_mask){.low = UINT64_C(1) << 63};
  assert_int_equal(test_access(&inst, "dst", WRITE).address, 7 * 32);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 32);
}

static void accumulating_forms_read_their_result(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_VMLA_F162F32, DTYPE_COUNT);
  test_set(&inst, "repeat", 2);
  assert_int_equal(test_bytes(&inst, "dst", READ), 512);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 512);
  assert_int_equal(test_bytes(&inst, "src0", READ), 256); /* 2 x 64 lanes of 2 bytes */
}

/* ---- vector: the other families ---------------------------------------------- */

static unsigned type_width(const char **text) {
  static const struct {
    const char *name;
    unsigned bits;
  } types[] = {{"bf16", 16}, {"f16", 16}, {"f32", 32}, {"s4", 4},  {"s8", 8},
               {"u8", 8},    {"s16", 16}, {"s32", 32}, {"s64", 64}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strncmp(*text, types[i].name, strlen(types[i].name)) == 0) {
      *text += strlen(types[i].name);
      return types[i].bits;
    }
  return 0;
}

/* The widths a conversion moves are those its name says; default strides fit. */
static void conversions_move_what_they_are_called(void **state) {
  (void)state;
  unsigned seen = 0;
  for (int op = 0; op < OP_COUNT; op++) {
    const char *name = isa_row((enum isa_op)op)->name;
    if (strcmp(stem_of[op], "vec_convert") != 0)
      continue;
    const char *text = strcmp(name, "vconv_deq") == 0 ? "s322f16" : name + 6;
    unsigned src = type_width(&text);
    assert_int_equal(*text++, '2');
    unsigned dst = type_width(&text);
    assert_int_equal(*text, '\0');
    unsigned lanes = 2048 / (src > dst ? src : dst);
    struct inst inst = test_inst((enum isa_op)op, DTYPE_COUNT);
    test_set(&inst, "repeat", 3);
    assert_int_equal(test_bytes(&inst, "src", READ), 3 * lanes * src / 8);
    assert_int_equal(test_bytes(&inst, "dst", WRITE), 3 * lanes * dst / 8);
    assert_int_equal(test_cost(&inst).operations, 3 * lanes);
    seen++;
  }
  assert_int_equal(seen, 25);
}

/* 16 results of a block fill its lower or its upper half. */
static void requantisation_fills_halves(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_VCONV_DEQS162B8H, DTYPE_INT16);
  test_set(&inst, "repeat", 2);
  assert_int_equal(test_bytes(&inst, "src", READ), 512);
  struct inst_access whole = test_access(&inst, "dst", WRITE);
  assert_int_equal(whole.bytes, 256); /* the first repeat; the last one is told apart */
  assert_int_equal(whole.runs.offset, BLOCK_BYTES / 2);
  assert_int_equal(whole.runs.bytes, BLOCK_BYTES / 2);
  inst.mask = (struct vector_mask){.low = 17, .counter = true};
  inst.op = OP_VCONV_DEQS162B8L;
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = registry_access(OP_VCONV_DEQS162B8L)(test_soc(), &inst, access);
  assert_int_equal(access[count - 1].runs.offset, 0);
  assert_int_equal(access[count - 1].bytes, BLOCK_BYTES + BLOCK_BYTES / 2);
}

/* With vdeq the scales of a block's elements are 128 bytes of UB, which the register points to. */
static void requantisation_by_element_reads_its_scales(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_VCONV_VDEQS162B8H, DTYPE_INT16);
  test_set(&inst, "repeat", 2);
  inst.registers.deq_scale = UINT64_C(1) << 40 | 0x123;
  struct inst_access scales = test_access(&inst, "scales", READ);
  assert_int_equal(scales.space, SPACE_UB);
  assert_int_equal(scales.address, 0x123 * BLOCK_BYTES);
  assert_int_equal(scales.bytes, 128);
  assert_int_equal(test_access(&inst, "dst", WRITE).runs.offset, BLOCK_BYTES / 2);
  inst.mask = (struct vector_mask){.low = 0};
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = registry_access(OP_VCONV_VDEQS162B8H)(test_soc(), &inst, access);
  for (unsigned i = 0; i < count; i++)
    assert_int_equal(access[i].bytes, 0);
}

static void comparisons_pack_bits(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_VCMPV_LT, DTYPE_FP32);
  test_set(&inst, "repeat", 3);
  inst.mask = (struct vector_mask){.low = 1}; /* no effect on comparisons */
  assert_int_equal(test_bytes(&inst, "src1", READ), 768);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 24);
  struct inst scalar = test_inst(OP_VCMPVS_GE, DTYPE_FP16);
  test_set(&scalar, "repeat", 2);
  assert_int_equal(test_bytes(&scalar, "dst", WRITE), 32);
  scalar.mask = (struct vector_mask){.low = 100, .counter = true};
  assert_int_equal(test_bytes(&scalar, "dst", WRITE), 13);
}

static void selection_reads_its_bits(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_VSEL, DTYPE_FP16);
  test_set(&inst, "repeat", 3);
  assert_int_equal(test_bytes(&inst, "mask", READ), 48);
  assert_int_equal(test_bytes(&inst, "src1", READ), 768);
  test_set(&inst, "mode", SELECT_MODE_SCALAR);
  assert_int_equal(test_bytes(&inst, "src1", READ), 2);
  test_set(&inst, "mode", SELECT_MODE_REGISTER);
  assert_int_equal(test_bytes(&inst, "mask", READ), 0);
}

static void reductions_leave_little(void **state) {
  (void)state;
  struct inst sum = test_inst(OP_VCADD, DTYPE_FP16);
  test_set(&sum, "repeat", 5);
  assert_int_equal(test_bytes(&sum, "src", READ), 5 * 256);
  assert_int_equal(test_bytes(&sum, "dst", WRITE), 10);
  assert_int_equal(test_access(&sum, "dst", WRITE).alignment, 2);
  struct inst max = test_inst(OP_VCMAX, DTYPE_FP32);
  test_set(&max, "repeat", 5);
  assert_int_equal(test_bytes(&max, "dst", WRITE), 40);
  test_set(&max, "order", REDUCE_VALUE);
  assert_int_equal(test_bytes(&max, "dst", WRITE), 20);
  struct inst group = test_inst(OP_VCGMAX, DTYPE_FP16);
  test_set(&group, "repeat", 2);
  assert_int_equal(test_bytes(&group, "dst", WRITE), 32);
  struct inst pair = test_inst(OP_VCPADD, DTYPE_FP32);
  test_set(&pair, "repeat", 2);
  test_set(&pair, "dst_repeat", 3);
  assert_int_equal(test_bytes(&pair, "dst", WRITE), 3 * 128 + 128);
}

static void compaction_writes_what_a_pattern_lets_through(void **state) {
  (void)state;
  struct inst inst = test_inst(OP_VREDUCEV2, DTYPE_FP16);
  test_set(&inst, "repeat", 2);
  assert_int_equal(test_bytes(&inst, "src1", READ), 32 + 16);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 512);
  test_set(&inst, "pattern", 2);
  assert_int_equal(test_bytes(&inst, "src1", READ), 0);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 256);
  test_set(&inst, "pattern", 6);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 128);
  test_set(&inst, "pattern", 7);
  assert_int_equal(test_bytes(&inst, "dst", WRITE), 512);
}

static void permutations_touch_their_blocks(void **state) {
  (void)state;
  struct inst square = test_inst(OP_VTRANSPOSE, DTYPE_INT16);
  assert_int_equal(test_bytes(&square, "dst", WRITE), 512);
  struct inst conv = test_inst(OP_SCATTER_VNCHWCONV_B16, DTYPE_COUNT);
  test_set(&conv, "src_step", 10);
  test_set(&conv, "repeat", 2);
  test_set(&conv, "src_repeat", 1);
  assert_int_equal(test_bytes(&conv, "src", READ), (15 * 10 + 1 + 1) * 32);
  assert_int_equal(test_cost(&conv).operations, 2 * 256);
  struct inst broadcast = test_inst(OP_VBRCB, DTYPE_FP32);
  test_set(&broadcast, "repeat", 2);
  assert_int_equal(test_bytes(&broadcast, "src", READ), 64);
  assert_int_equal(test_bytes(&broadcast, "dst", WRITE), 512);
  struct inst gather = test_inst(OP_VGATHER, DTYPE_FP16);
  test_set(&gather, "repeat", 2);
  assert_int_equal(test_bytes(&gather, "offset", READ), 2 * 128 * 4);
  assert_int_equal(test_bytes(&gather, "dst", WRITE), 512);
  struct inst blocks = test_inst(OP_VGATHERB, DTYPE_FP16);
  test_set(&blocks, "repeat", 2);
  assert_int_equal(test_bytes(&blocks, "offset", READ), 64);
}

static void sorting_moves_entries_of_8_bytes(void **state) {
  (void)state;
  struct inst sort = test_inst(OP_VBITSORT, DTYPE_FP16);
  test_set(&sort, "repeat", 2);
  assert_int_equal(test_bytes(&sort, "src0", READ), 128);
  assert_int_equal(test_bytes(&sort, "src1", READ), 256);
  assert_int_equal(test_bytes(&sort, "dst", WRITE), 512);
  struct inst merge = test_inst(OP_VMRGSORT4, DTYPE_FP32);
  test_set(&merge, "length0", 32);
  test_set(&merge, "length1", 32);
  test_set(&merge, "length2", 32);
  test_set(&merge, "lists", 3);
  test_set(&merge, "repeat", 2);
  assert_int_equal(test_bytes(&merge, "dst", WRITE), 2 * 96 * 8);
  assert_int_equal(test_bytes(&merge, "src2", READ), 96 * 8 + 32 * 8);
  assert_int_equal(test_bytes(&merge, "src3", READ), 0);
  uint64_t step = (uint64_t)test_soc()->vector_class[VECTOR_CLASS_SORT].per_repeat_mcycles;
  assert_int_equal(test_cost(&merge).issue_cycles, 6 * step / 1000);
}

static void functions_take_a_start_and_so_much_per_register(void **state) {
  (void)state;
  struct inst add = test_inst(OP_VF_ADD, DTYPE_FP32);
  test_set(&add, "count", 641); /* 64 to a register: 11 of them, 2 cycles each */
  assert_int_equal(test_cost(&add).latency_cycles, T_VECTOR_STARTUP + 22);
  assert_int_equal(test_cost(&add).issue_cycles, T_VECTOR_STARTUP + 22);
  assert_int_equal(test_cost(&add).operations, 641);
  assert_int_equal(test_bytes(&add, "dst", WRITE), 641 * 4);
  assert_int_equal(test_bytes(&add, "src0", READ), 641 * 4);
  assert_int_equal(test_bytes(&add, "src1", READ), 641 * 4);
  struct inst relu = test_inst(OP_VF_RELU, DTYPE_FP16), none = test_inst(OP_VF_ABS, DTYPE_FP16);
  test_set(&relu, "count", 256);
  relu.mask = (struct vector_mask){.low = 1, .counter = true}; /* masks do not count */
  assert_int_equal(test_cost(&relu).latency_cycles, T_VECTOR_STARTUP + 2);
  assert_int_equal(test_bytes(&relu, "src", READ), 512);
  test_set(&none, "count", 0);
  assert_int_equal(test_cost(&none).latency_cycles, T_VECTOR_STARTUP);
  assert_int_equal(test_bytes(&none, "dst", WRITE), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_of_a_stem_agree_on_their_operands),
      cmocka_unit_test(numbers_of_operands_are_those_of_the_signatures),
      cmocka_unit_test(optional_operands_are_where_stems_look),
      cmocka_unit_test(every_row_gives_sound_answers),
      cmocka_unit_test(cost_grows_with_repeats),
      cmocka_unit_test(binary_cost_by_repeats),
      cmocka_unit_test(cycles_round_up_once),
      cmocka_unit_test(what_an_instruction_adds_counts_in_a_stream),
      cmocka_unit_test(widths_have_classes_of_their_own),
      cmocka_unit_test(counter_mode_counts_elements),
      cmocka_unit_test(full_mask_touches_whole_repeats),
      cmocka_unit_test(last_lane_ends_the_range),
      cmocka_unit_test(high_mask_is_of_16_bit_types_only),
      cmocka_unit_test(accumulating_forms_read_their_result),
      cmocka_unit_test(conversions_move_what_they_are_called),
      cmocka_unit_test(requantisation_fills_halves),
      cmocka_unit_test(requantisation_by_element_reads_its_scales),
      cmocka_unit_test(comparisons_pack_bits),
      cmocka_unit_test(selection_reads_its_bits),
      cmocka_unit_test(reductions_leave_little),
      cmocka_unit_test(compaction_writes_what_a_pattern_lets_through),
      cmocka_unit_test(permutations_touch_their_blocks),
      cmocka_unit_test(sorting_moves_entries_of_8_bytes),
      cmocka_unit_test(functions_take_a_start_and_so_much_per_register),
  };
  return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
