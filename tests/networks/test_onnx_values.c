/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks from ONNX to values: each model of the ONNX project's test data that can be read is
 * compiled for a chip and run with values, and its results are compared with the expected ones.
 * With the environment variable VINCI_ONNX_CASE only models whose path has this text are run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "networks/passes/passes.h"
#include "networks/run/net_values.h"
#include "tests/networks/onnx_cases.h"

enum { OPS_MAX = 256, ELEMENTS_MAX = 1 << 18, NODES_MAX = 120 };

enum outcome { EQUAL, REFUSED, WRONG, OUTCOME_COUNT };

struct op_row {
  const char *op;
  unsigned counts[OUTCOME_COUNT];
};

/* What one run over all models is told, and what it found. */
struct sweep {
  const char *chip, *passes;
  unsigned test;         /* its bit in known_wrong */
  size_t first_constant; /* inputs from this one on are constants */
  unsigned each;         /* every each-th model */
  double tolerance;      /* of real results, relative and absolute */
  bool all_operators;    /* that become kernels have to have a model with the right values */
  vinci_soc *soc;
  unsigned at, counts[OUTCOME_COUNT], large, surprises;
  struct op_row rows[OPS_MAX];
  size_t row_count;
};

/* Models whose results are known to be wrong, and the cause; a row that has become right fails. */
static const struct known_wrong {
  const char *model, *cause;
  unsigned tests; /* bits: 1 plain, 2 open inputs, 4 all passes, 8 coupled cores */
} known_wrong[] = {
    {"test_training_dropout", "the reader takes an open training_mode as false", 2},
    {"test_training_dropout_default", "as above", 2},
    {"test_training_dropout_default_mask", "as above", 2},
    {"test_training_dropout_mask", "as above", 2},
    {"test_logsoftmax_large_number", "10003 in fp16 is 10000", 4},
    {"test_logsoftmax_large_number_expanded", "10003 in fp16 is 10000", 4},
    {"test_softmax_large_number", "10003 in fp16 is 10000", 4},
    {"test_softmax_large_number_expanded", "10003 in fp16 is 10000", 4},
    {"test_dynamicquantizelinear_expanded", "the scale is computed in fp16", 4},
};

static bool is_known(const char *model, unsigned test) {
  for (size_t i = 0; i < sizeof known_wrong / sizeof *known_wrong; i++)
    if ((known_wrong[i].tests & test) && strcmp(known_wrong[i].model, model) == 0)
      return true;
  return false;
}

/* ---- one model ------------------------------------------------------------------------------ */

static bool is_real(enum dtype dtype) {
  return dtype == DTYPE_FP32 || dtype == DTYPE_FP16 || dtype == DTYPE_BF16;
}

/* A bf16 result of the files is cut off where a chip rounds: one unit of 8 bits. */
static double tolerance_of(const struct sweep *sweep, enum dtype dtype) {
  double least = dtype == DTYPE_BF16 ? 0x1p-7 : dtype == DTYPE_FP16 ? 0x1p-9 : 0;
  if (!is_real(dtype))
    return 0;
  return sweep->tolerance > least ? sweep->tolerance : least;
}

static bool give_inputs(const struct test_case *test, struct net_values *values) {
  for (uint32_t i = 0; i < values->trace.tensor_count; i++) {
    const struct program_tensor *tensor = &values->trace.tensors[i];
    const struct graph_tensor *own = &values->graph->tensors[tensor->line];
    if (tensor->io != TENSOR_IN || values->values->is_loaded[i])
      continue;
    size_t part = case_input(test, tensor->name);
    if (part == PARTS_MAX || !test->inputs[part].tensor)
      return false;
    for (uint64_t j = 0; j < graph_elements(own); j++) {
      double number;
      if (!expected_at(test->inputs[part].tensor, own->dtype == DTYPE_BF16, j, &number) ||
          !graph_put_number(own->dtype, values_bytes(values->values, i), j, number))
        return false;
    }
    values->values->is_loaded[i] = true;
  }
  return true;
}

static bool output_equal(const struct sweep *sweep, const struct test_case *test,
                         const struct net_values *values, size_t output) {
  const char *name = test->model->graph->output[output]->name;
  const Onnx__TensorProto *expected = test->outputs[output].tensor;
  for (uint32_t i = 0; i < values->trace.tensor_count; i++) {
    const struct program_tensor *tensor = &values->trace.tensors[i];
    if (tensor->io != TENSOR_OUT || strcmp(tensor->name, name) != 0)
      continue;
    const struct graph_tensor *own = &values->graph->tensors[tensor->line];
    if (!same_shape(own, expected)) {
      fprintf(stderr, "# %s: another type or shape of %s\n", test->path, name);
      return false;
    }
    double tolerance = tolerance_of(sweep, own->dtype), want;
    for (uint64_t j = 0; j < graph_elements(own); j++) {
      double got = value_at(own->dtype, values_bytes(values->values, i), j);
      if (!expected_at(expected, own->dtype == DTYPE_BF16, j, &want) ||
          is_near(got, want, tolerance))
        continue;
      fprintf(stderr, "# %s: %s[%llu] is %.9g, expected %.9g\n", test->path, name,
              (unsigned long long)j, got, want);
      return false;
    }
    return true;
  }
  fprintf(stderr, "# %s: no result has the name %s\n", test->path, name);
  return false;
}

static enum outcome run_values(const struct sweep *sweep, const struct test_case *test,
                               struct graph *graph, char *reason, size_t size) {
  struct net_values values = {0};
  struct graph_plan plan = {0};
  struct vinci_diag diag = {0};
  enum outcome outcome = EQUAL;
  enum vinci_status status = graph_check(graph, &diag);
  if (status == VINCI_OK)
    status = graph_plan(graph, GRAPH_PLAN_PACK, &plan, &diag);
  if (status == VINCI_OK)
    status = net_values_create(graph, sweep->soc, &plan, &values, &diag);
  if (status == VINCI_OK && !give_inputs(test, &values)) {
    fprintf(stderr, "# %s: an input without values\n", test->path);
    outcome = WRONG;
  } else if (status == VINCI_OK) {
    status = net_values_run(&values, NULL, NULL, &diag);
  }
  for (size_t i = 0; status == VINCI_OK && outcome == EQUAL && i < test->output_count; i++)
    if (test->outputs[i].tensor && !output_equal(sweep, test, &values, i))
      outcome = WRONG;
  if (status != VINCI_OK) {
    snprintf(reason, size, "%s; %s", diag.text, diag.hint);
    outcome = status == VINCI_E_INPUT ? REFUSED : WRONG;
  }
  net_values_free(&values);
  return outcome;
}

/* The first layer without kernels. */
static bool is_refused(const struct graph *graph, char *reason, size_t size) {
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (graph->nodes[i].kind == GRAPH_LAYER && !graph->nodes[i].offline) {
      snprintf(reason, size, "%s: %s", graph->nodes[i].op, graph->nodes[i].reason);
      return true;
    }
  return false;
}

static bool is_large(const struct graph *graph) {
  uint64_t elements = 0;
  for (uint32_t i = 0; i < graph->tensor_count; i++)
    elements += graph->tensors[i].shaped ? graph_elements(&graph->tensors[i]) : 0;
  return elements > ELEMENTS_MAX || graph->node_count > NODES_MAX;
}

static enum outcome run_case(struct sweep *sweep, const struct test_case *test, char *reason,
                             size_t size) {
  struct graph graph = {0};
  struct compiled compiled = {0};
  struct compile_options options = {.dtype = DTYPE_FP16};
  struct vinci_diag diag = {0};
  enum outcome outcome = REFUSED;
  assert_int_equal(passes_choose(sweep->passes, &options, &diag), VINCI_OK);
  if (read_case(test, sweep->first_constant, &graph, &diag) != VINCI_OK) {
    snprintf(reason, size, "reader: %s", diag.text);
    return REFUSED;
  }
  if (is_large(&graph)) {
    snprintf(reason, size, "large");
    sweep->large++;
  } else {
    assert_int_equal(net_compile(&graph, sweep->soc, &options, &compiled, &diag), VINCI_OK);
    if (!is_refused(&compiled.graph, reason, size))
      outcome = run_values(sweep, test, &compiled.graph, reason, size);
  }
  compiled_free(&compiled);
  graph_free(&graph);
  return outcome;
}

/* ---- all models ----------------------------------------------------------------------------- */

static struct op_row *row_of(struct sweep *sweep, const struct test_case *test) {
  const Onnx__GraphProto *net = test->model->graph;
  const char *op = net->n_node == 1 ? net->node[0]->op_type : "several layers";
  size_t i = 0;
  while (i < sweep->row_count && strcmp(sweep->rows[i].op, op) != 0)
    i++;
  if (i == sweep->row_count) {
    assert_true(i < OPS_MAX);
    sweep->rows[sweep->row_count++].op = strdup(op);
  }
  return &sweep->rows[i];
}

static void look_at(const struct test_case *test, void *context) {
  static const char *const words[] = {"equal", "refused", "wrong"};
  struct sweep *sweep = context;
  const char *only = getenv("VINCI_ONNX_CASE");
  char reason[2 * sizeof((struct vinci_diag *)NULL)->text + 320] = "";
  if (sweep->at++ % sweep->each != 0 || (only && !strstr(test->path, only)))
    return;
  enum outcome outcome = run_case(sweep, test, reason, sizeof reason);
  if (outcome != EQUAL)
    fprintf(stderr, "# %s: %s: %s\n", words[outcome], strrchr(test->path, '/') + 1, reason);
  if (is_known(strrchr(test->path, '/') + 1, sweep->test) != (outcome == WRONG)) {
    fprintf(stderr, "# %s: wrong, or right but a row of known_wrong\n", test->path);
    sweep->surprises++;
  }
  row_of(sweep, test)->counts[outcome]++;
  sweep->counts[outcome]++;
}

/* Whether layers become kernels. */
static const struct {
  const char *op;
  bool lowered;
} operators[] = {
#define OPERATOR(name, read, kernel) {#name, kernel},
#define KERNEL(lower, op, flags) true
#define NO_KERNEL false
#include "networks/graph/operators.def"
};

/* Of these the project has no model that is read and lowered: layers.py and onnx_contrib.py have
 * their values. */
static const char *const elsewhere[] = {
    "Attention",
    "CumSum",
    "DequantizedConv",
    "DequantizedMatMul",
    "GRU",
    "Gelu",
    "GroupNormalization",
    "LayerNormalization",
    "MatMulNBits",
    "Mish",
    "RMSNormalization",
    "RequantizedAdd",
    "RequantizedConv",
    "RequantizedMatMul",
    "RoundedToBytes",
    "ScaledConv",
    "ScaledMatMul",
    "Silu",
    "UnpackedNumbers",
};

static bool is_elsewhere(const char *op) {
  for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
    if (strcmp(elsewhere[i], op) == 0)
      return true;
  return false;
}

/* An operator with kernels has a model whose values are right, or a test of its own. */
static unsigned untested_operators(const struct sweep *sweep) {
  unsigned untested = 0;
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    unsigned equal = 0;
    for (size_t k = 0; k < sweep->row_count; k++)
      if (strcmp(sweep->rows[k].op, operators[i].op) == 0)
        equal = sweep->rows[k].counts[EQUAL];
    if (!operators[i].lowered || (equal > 0) != is_elsewhere(operators[i].op))
      continue;
    fprintf(stderr, "# %s: %s\n", operators[i].op,
            equal > 0 ? "has models, and stands in elsewhere"
                      : "has kernels, and no model or other test of its values");
    untested++;
  }
  return untested;
}

static void run_sweep(struct sweep *sweep, unsigned equal) {
  struct vinci_diag diag = {0};
  if (!cases_exist())
    skip();
  assert_int_equal(vinci_soc_load(sweep->chip, NULL, &sweep->soc, &diag), VINCI_OK);
  unsigned all = each_case(look_at, sweep);
  fprintf(stderr, "# %s, passes %s: of %u models %u equal, %u refused (%u large), %u wrong\n",
          sweep->chip, sweep->passes, all, sweep->counts[EQUAL], sweep->counts[REFUSED],
          sweep->large, sweep->counts[WRONG]);
  unsigned untested =
      sweep->all_operators && !getenv("VINCI_ONNX_CASE") ? untested_operators(sweep) : 0;
  for (size_t i = 0; i < sweep->row_count; i++) {
    const struct op_row *row = &sweep->rows[i];
    fprintf(stderr, "# %-28s %4u equal %4u refused %4u wrong\n", row->op, row->counts[EQUAL],
            row->counts[REFUSED], row->counts[WRONG]);
    free((void *)(uintptr_t)row->op);
  }
  vinci_soc_free(sweep->soc);
  assert_int_equal(sweep->surprises, 0);
  assert_int_equal(untested, 0);
  if (!getenv("VINCI_ONNX_CASE"))
    assert_true(sweep->counts[EQUAL] >= equal);
}

/* fp32 as it is: what exponentials and quotients of the vector unit round beside numpy's. */
static void plain_fp32(void **state) {
  (void)state;
  run_sweep(&(struct sweep){.chip = "Ascend910B4",
                            .test = 1,
                            .passes = "none",
                            .first_constant = 1,
                            .each = 1,
                            .tolerance = 1e-4,
                            .all_operators = true},
            772);
}

/* Inputs that are constants elsewhere arrive with the run. */
static void open_inputs(void **state) {
  (void)state;
  run_sweep(&(struct sweep){.chip = "Ascend910B4",
                            .test = 2,
                            .passes = "none",
                            .first_constant = PARTS_MAX,
                            .each = 1,
                            .tolerance = 1e-4},
            650);
}

/* fp16 has 11 bits: sums of some hundred terms and chains of some steps lose 3 to 4 more. */
static void all_passes(void **state) {
  (void)state;
  run_sweep(&(struct sweep){.chip = "Ascend910B4",
                            .test = 4,
                            .passes = "all",
                            .first_constant = 1,
                            .each = 1,
                            .tolerance = 2e-2},
            760);
}

/* Cores of one kind: products of fp16 alone. */
static void coupled_cores(void **state) {
  static const char *const chips[] = {"Ascend310P3", "Ascend910A"};
  static const unsigned equal[] = {150, 150};
  (void)state;
  for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
    run_sweep(&(struct sweep){.chip = chips[i],
                              .test = 8,
                              .passes = "none",
                              .first_constant = 1,
                              .each = 4,
                              .tolerance = 2e-2},
              equal[i]);
}

/* The reader looks names up by halving. */
static void operators_stand_in_the_order_of_their_names(void **state) {
  (void)state;
  for (size_t i = 1; i < sizeof operators / sizeof *operators; i++)
    if (strcmp(operators[i - 1].op, operators[i].op) >= 0)
      fail_msg("%s stands before %s", operators[i - 1].op, operators[i].op);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operators_stand_in_the_order_of_their_names),
      cmocka_unit_test(plain_fp32),
      cmocka_unit_test(open_inputs),
      cmocka_unit_test(all_passes),
      cmocka_unit_test(coupled_cores),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
