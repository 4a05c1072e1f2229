/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of expressions: what single ones give, and random ones against a second
 * evaluator that walks the tree they were printed from.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/isa/program.h"
#include "tests/support/fixture.h"

/* Variables after blk, sub, blocks: i and j. */
enum { VAR_I = VAR_FIRST_FREE, VAR_J, VARIABLES };

static const char head[] = "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=4\n"
                           "tensor,name=x,dtype=fp16,shape=1,io=in\n"
                           "buffer,name=u,space=UB,address=64,size=32\n"
                           "stream,core=AIV\nscalar\nloop,i,4\nloop,j,4\n";
enum { LET_ROW = 3 };

/* A trace with the row let,v,"expression" in two loops; NULL when it is rejected. */
static vinci_trace *compile(const char *expression) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  fprintf(out, "%slet,v,\"%s\"\nendloop\nendloop\n", head, expression);
  fclose(out);
  vinci_trace *trace;
  enum vinci_status status = vinci_trace_parse("t.csv", text, size, fixture_shared, &trace, NULL);
  assert_true(status == VINCI_OK || status == VINCI_E_INPUT);
  free(text);
  return trace;
}

static bool evaluate(const vinci_trace *trace, const int64_t *variables, int64_t *out) {
  const struct program_row *row = &trace->rows[LET_ROW];
  int64_t operand = trace->operands[row->first_operand];
  if (row->expr_mask != 0)
    return program_eval(trace, (uint64_t)operand, variables, out);
  *out = operand;
  return true;
}

static void assert_value(const char *expression, int64_t expected) {
  const int64_t variables[VARIABLES] = {[VAR_BLK] = 2, [VAR_BLOCKS] = 4, [VAR_I] = 7, [VAR_J] = -3};
  vinci_trace *trace = compile(expression);
  int64_t value;
  if (!trace || !evaluate(trace, variables, &value))
    fail_msg("%s has no value", expression);
  if (value != expected)
    fail_msg("%s is %" PRId64 ", not %" PRId64, expression, value, expected);
  vinci_trace_free(trace);
}

static void assert_no_value(const char *expression, const int64_t *variables) {
  vinci_trace *trace = compile(expression);
  int64_t value;
  assert_non_null(trace);
  if (evaluate(trace, variables, &value))
    fail_msg("%s is %" PRId64, expression, value);
  vinci_trace_free(trace);
}

static void single_values(void **state) {
  (void)state;
  assert_value("1+2*3-4", 3);
  assert_value("(1+2)*3", 9);
  assert_value("10-4-3", 3);
  assert_value("100/10/5", 2);
  assert_value("2*i%4", 2); /* * and % bind alike, from the left */
  assert_value("-7/2", -3);
  assert_value("j/2", -1);
  assert_value("j%2", -1);
  assert_value("i%j", 1);
  assert_value("-i+10", 3);
  assert_value("--i", 7);
  assert_value("i--3", 10);
  assert_value("- 3*-i", 21);
  assert_value("blk*100+blocks*10+sub", 240);
  assert_value("x", PROGRAM_GM_BASE);
  assert_value("x+u+i*32", PROGRAM_GM_BASE + 64 + 224);
  assert_value("0x10+0XfF", 271);
  assert_value("0xffffffffffffffff", -1);
  assert_value("-0x10", -16);
  assert_value("-9223372036854775808", INT64_MIN);
  assert_value("0x8000000000000000", INT64_MIN);
  assert_value("i<7", 0);
  assert_value("i<=7", 1);
  assert_value("i>j", 1);
  assert_value("j>=i", 0);
  assert_value("i==7", 1);
  assert_value("i!=7", 0);
  assert_value("1+1==2", 1);
  assert_value("(i==7)*10", 10);
  assert_value("min(i,j)+max(i,j)*10", 67);
  assert_value(" max( 1 , min( 2 , 3 ) ) ", 2);
  assert_value("(i*5-5*i)*(i/0x7)", 0);
}

static void failures_at_execution(void **state) {
  (void)state;
  int64_t variables[VARIABLES] = {0};
  assert_no_value("5/i", variables);
  assert_no_value("5%i", variables);
  assert_no_value("0*(1/i)", variables);
  variables[VAR_I] = INT64_MIN;
  variables[VAR_J] = -1;
  assert_no_value("i/j", variables);
  assert_no_value("-i", variables);
  assert_no_value("i-1", variables);
  assert_no_value("2*i", variables);
  assert_no_value("i*j", variables);
  assert_no_value("(i-1)%2", variables);
}

static void sums_need_only_fit_at_the_end(void **state) {
  (void)state;
  /* 2^63 - 1 + 1 - 2^64 + (2^64 - 1) */
  const int64_t variables[VARIABLES] = {[VAR_BLK] = 1, [VAR_I] = 3, [VAR_J] = -4};
  vinci_trace *trace =
      compile("9223372036854775807+blk+j*4611686018427387904+i*6148914691236517205");
  int64_t value;
  assert_non_null(trace);
  assert_true(evaluate(trace, variables, &value));
  assert_true(value == INT64_MAX);
  vinci_trace_free(trace);
}

static void sums_are_recognised(void **state) {
  (void)state;
  vinci_trace *trace = compile("(i+blk*2)*3-(j-i)*2+x");
  const struct program_row *row = &trace->rows[LET_ROW];
  const struct program_expr *expr = &trace->exprs[trace->operands[row->first_operand]];
  assert_int_equal(expr->code_count, 0);
  assert_int_equal(expr->constant, PROGRAM_GM_BASE);
  assert_int_equal(expr->term_count, 3);
  const struct program_term *terms = trace->terms + expr->first_term;
  assert_int_equal(terms[0].variable, VAR_BLK);
  assert_int_equal(terms[0].coefficient, 6);
  assert_int_equal(terms[1].variable, VAR_I);
  assert_int_equal(terms[1].coefficient, 5);
  assert_int_equal(terms[2].variable, VAR_J);
  assert_int_equal(terms[2].coefficient, -2);
  vinci_trace_free(trace);
}

/* ---- random expressions --------------------------------------------------- */

__extension__ typedef __int128 int128;

struct node {
  enum expr_op op;
  int64_t value;
  struct node *left, *right;
};

struct random {
  uint64_t state;
  struct node nodes[64];
  unsigned used;
};

/* xorshift64*, Vigna 2016. */
static uint64_t next_random(struct random *random) {
  random->state ^= random->state >> 12;
  random->state ^= random->state << 25;
  random->state ^= random->state >> 27;
  return random->state * UINT64_C(2685821657736338717);
}

static int64_t random_value(struct random *random) {
  static const int64_t corners[] = {0, 1, 2, 3, 7, INT64_MAX, INT64_MIN, -1, INT64_C(1) << 62};
  uint64_t choice = next_random(random) % 16;
  if (choice < sizeof corners / sizeof *corners)
    return corners[choice];
  return (int64_t)(next_random(random) % 200) - 100;
}

static struct node *random_node(struct random *random, unsigned depth) {
  struct node *node = &random->nodes[random->used++];
  uint64_t choice = next_random(random) % 20;
  *node = (struct node){.op = EXPR_CONST, .value = 0};
  if (depth == 0 || choice < 3) {
    node->op = choice % 2 ? EXPR_CONST : EXPR_VAR;
    node->value =
        node->op == EXPR_VAR ? (int64_t)(next_random(random) % VARIABLES) : random_value(random);
    return node;
  }
  static const enum expr_op ops[] = {EXPR_ADD, EXPR_ADD, EXPR_ADD, EXPR_SUB, EXPR_SUB,
                                     EXPR_MUL, EXPR_MUL, EXPR_MUL, EXPR_DIV, EXPR_MOD,
                                     EXPR_NEG, EXPR_LT,  EXPR_LE,  EXPR_GT,  EXPR_GE,
                                     EXPR_EQ,  EXPR_NE,  EXPR_MIN, EXPR_MAX, EXPR_MOD};
  node->op = ops[next_random(random) % (sizeof ops / sizeof *ops)];
  node->left = random_node(random, depth - 1);
  if (node->op != EXPR_NEG)
    node->right = random_node(random, depth - 1);
  return node;
}

/* Prints with parentheses around everything but leaves, in blanks here and there. */
static void print_node(FILE *out, const struct node *node) {
  static const char *const names[VARIABLES] = {"blk", "sub", "blocks", "i", "j"};
  static const char *const signs[] = {
      [EXPR_ADD] = "+", [EXPR_SUB] = "-",  [EXPR_MUL] = "*",  [EXPR_DIV] = "/",  [EXPR_MOD] = " %",
      [EXPR_LT] = "<",  [EXPR_LE] = " <=", [EXPR_GT] = ">",   [EXPR_GE] = ">= ", [EXPR_EQ] = "==",
      [EXPR_NE] = "!=", [EXPR_MIN] = ",",  [EXPR_MAX] = " , "};
  switch (node->op) {
  case EXPR_CONST:
    fprintf(out, "%" PRId64, node->value);
    return;
  case EXPR_VAR:
    fputs(names[node->value], out);
    return;
  case EXPR_NEG:
    fputs("(-(", out);
    print_node(out, node->left);
    fputs("))", out);
    return;
  default:
    fputs(node->op == EXPR_MIN ? "min(" : node->op == EXPR_MAX ? "max(" : "(", out);
    print_node(out, node->left);
    fputs(signs[node->op], out);
    print_node(out, node->right);
    fputs(")", out);
    return;
  }
}

/* What the tree gives when every intermediate value must fit in `bits` bits. */
enum outcome { VALUE, TOO_BIG, ZERO_DIVISION };

static enum outcome binary(enum expr_op op, int128 a, int128 b, int128 *out) {
  switch (op) {
  case EXPR_ADD:
    return __builtin_add_overflow(a, b, out) ? TOO_BIG : VALUE;
  case EXPR_SUB:
    return __builtin_sub_overflow(a, b, out) ? TOO_BIG : VALUE;
  case EXPR_MUL:
    return __builtin_mul_overflow(a, b, out) ? TOO_BIG : VALUE;
  case EXPR_DIV:
    *out = b == 0 ? 0 : a / b;
    return b == 0 ? ZERO_DIVISION : VALUE;
  case EXPR_MOD:
    *out = b == 0 ? 0 : a % b;
    return b == 0 ? ZERO_DIVISION : VALUE;
  case EXPR_MIN:
    *out = a < b ? a : b;
    return VALUE;
  case EXPR_MAX:
    *out = a > b ? a : b;
    return VALUE;
  default:
    *out = op == EXPR_LT   ? a < b
           : op == EXPR_LE ? a <= b
           : op == EXPR_GT ? a > b
           : op == EXPR_GE ? a >= b
           : op == EXPR_EQ ? a == b
                           : a != b;
    return VALUE;
  }
}

static enum outcome walk(const struct node *node, const int64_t *variables, bool narrow,
                         int128 *out) {
  int128 a, b = 0;
  if (node->op == EXPR_CONST || node->op == EXPR_VAR) {
    *out = node->op == EXPR_CONST ? node->value : variables[node->value];
    return VALUE;
  }
  enum outcome outcome = walk(node->left, variables, narrow, &a);
  if (outcome == VALUE && node->right)
    outcome = walk(node->right, variables, narrow, &b);
  if (outcome == VALUE)
    outcome = node->op == EXPR_NEG ? binary(EXPR_SUB, 0, a, out) : binary(node->op, a, b, out);
  if (outcome == VALUE && narrow && (*out < INT64_MIN || *out > INT64_MAX))
    outcome = TOO_BIG;
  return outcome;
}

/*
 * In 64 bits all through: the value must be the same. Division by zero: there must be no
 * value. Overflow on the way: there may be one, where a sum was folded, and then it
 * must be exact.
 */
static void compare(const vinci_trace *trace, const struct node *tree, const int64_t *variables,
                    const char *text) {
  int128 expected;
  int64_t value = 0;
  bool good = trace && evaluate(trace, variables, &value);
  enum outcome outcome = walk(tree, variables, true, &expected);
  if (outcome == TOO_BIG && good)
    outcome = walk(tree, variables, false, &expected);
  if (outcome == TOO_BIG)
    return;
  if (good != (outcome == VALUE) || (good && value != (int64_t)expected))
    fail_msg("%s with blk=%" PRId64 " sub=%" PRId64 " blocks=%" PRId64 " i=%" PRId64 " j=%" PRId64
             " is %s %" PRId64 ", expected %s %" PRId64,
             text, variables[0], variables[1], variables[2], variables[3], variables[4],
             good ? "" : "nothing,", value, outcome == VALUE ? "" : "nothing,", (int64_t)expected);
}

/* Canonical text of an expression survives another turn. */
static void compare_text(const vinci_trace *trace, const char *text) {
  char *once = NULL, *twice = NULL;
  size_t size;
  vinci_trace *again;
  FILE *out = open_memstream(&once, &size);
  assert_int_equal(vinci_trace_write(trace, out, NULL), VINCI_OK);
  fclose(out);
  if (vinci_trace_parse("again.csv", once, size, fixture_shared, &again, NULL) != VINCI_OK)
    fail_msg("%s is written as unreadable text: %s", text, once);
  out = open_memstream(&twice, &size);
  assert_int_equal(vinci_trace_write(again, out, NULL), VINCI_OK);
  fclose(out);
  assert_string_equal(once, twice);
  vinci_trace_free(again);
  free(once);
  free(twice);
}

static void random_expressions(void **state) {
  (void)state;
  enum { EXPRESSIONS = 4000, POINTS = 8 };
  const char *chosen = getenv("TESTS_SEED");
  uint64_t seed = chosen ? strtoull(chosen, NULL, 0) : UINT64_C(20240817);
  unsigned with_value = 0;
  print_message("# TESTS_SEED=%" PRIu64 "\n", seed);
  struct random random = {.state = seed | 1};
  for (unsigned n = 0; n < EXPRESSIONS; n++) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    random.used = 0;
    struct node *tree = random_node(&random, 1 + (unsigned)(next_random(&random) % 5));
    print_node(out, tree);
    fclose(out);
    vinci_trace *trace = compile(text);
    for (unsigned point = 0; point < POINTS; point++) {
      int64_t variables[VARIABLES];
      for (unsigned i = 0; i < VARIABLES; i++)
        variables[i] = random_value(&random);
      compare(trace, tree, variables, text);
    }
    if (trace)
      compare_text(trace, text);
    with_value += trace != NULL;
    vinci_trace_free(trace);
    free(text);
  }
  assert_true(with_value > EXPRESSIONS / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_values),
      cmocka_unit_test(failures_at_execution),
      cmocka_unit_test(sums_need_only_fit_at_the_end),
      cmocka_unit_test(sums_are_recognised),
      cmocka_unit_test(random_expressions),
  };
  return cmocka_run_group_tests_name("trace_expr", tests, fixture_set_up, fixture_tear_down);
}
