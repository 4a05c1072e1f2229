/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the expressions and rows that lowering writes: what folds, how few parentheses the text
 * has, and that the trace reader gives random expressions the value they were built for.
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
#include "lower/kernel/emit.h"
#include "tests/support/fixture.h"

struct kit {
  struct arena arena;
  struct emit emit;
  struct expr a, b;
};

static void start(struct kit *kit) {
  *kit = (struct kit){0};
  emit_start(&kit->emit, fixture_shared, &kit->arena, NULL);
  kit->a = x_name(&kit->emit, "a");
  kit->b = x_name(&kit->emit, "b");
}

static void stop(struct kit *kit) {
  emit_free(&kit->emit);
  arena_free(&kit->arena);
}

static void assert_text(struct expr x, const char *expected, bool has_calls) {
  char text[256];
  bool calls = false;
  assert_int_equal(x_print(text, sizeof text, x, &calls), strlen(expected));
  assert_string_equal(text, expected);
  assert_int_equal(calls, has_calls);
}

/* ---- expressions ---- */

static void numbers_fold(void **state) {
  (void)state;
  assert_true(x_is(x_add(2, 3), 5));
  assert_true(x_is(x_sub(2, 3), -1));
  assert_true(x_is(x_mul(UINT64_C(2), 3u), 6));
  assert_true(x_is(x_div(7, 2), 3));
  assert_true(x_is(x_mod(7, 4), 3));
  assert_true(x_is(x_min(7, 4), 4));
  assert_true(x_is(x_max(7, 4), 7));
  assert_true(x_is(x_lt(1, 2), 1) && x_is(x_gt(1, 2), 0) && x_is(x_eq(1, 2), 0));
  assert_true(x_is(x_ceil_div(17, 16), 2) && x_is(x_ceil_div(16, 16), 1));
  assert_true(x_is(x_round_up(17, 16), 32) && x_is(x_pad(17, 16), 15) && x_is(x_pad(16, 16), 0));
  assert_true(x_is(x_add((int64_t)INT32_MAX + 1, true), (int64_t)INT32_MAX + 2));
}

static void what_changes_nothing_is_left_out(void **state) {
  (void)state;
  struct kit kit;
  start(&kit);
  struct expr a = kit.a;
  const struct expr kept[] = {x_add(a, 0), x_add(0, a), x_sub(a, 0),     x_mul(a, 1),
                              x_mul(1, a), x_div(a, 1), x_ceil_div(a, 1)};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    assert_true(x_same(kept[i], a));
  const struct expr zero[] = {x_mul(a, 0), x_mul(0, a), x_div(0, a), x_mod(0, a), x_mod(a, 1)};
  for (size_t i = 0; i < sizeof zero / sizeof *zero; i++)
    assert_true(x_is(zero[i], 0));
  assert_false(x_is_number(x_sub(0, a)));
  assert_false(x_is_number(x_min(a, 0)));
  assert_false(x_is_number(x_lt(a, 0)));
  stop(&kit);
}

static void the_same_is_recognised(void **state) {
  (void)state;
  struct kit kit;
  start(&kit);
  struct expr again = x_name(&kit.emit, "a");
  assert_true(x_same(kit.a, again));
  assert_false(x_same(kit.a, kit.b));
  assert_true(x_same(x_add(kit.a, x_mul(kit.b, 2)), x_add(again, x_mul(kit.b, 2))));
  assert_false(x_same(x_add(kit.a, 2), x_add(kit.a, 3)));
  assert_false(x_same(x_add(kit.a, 2), x_sub(kit.a, 2)));
  assert_false(x_same(kit.a, EXPR(0)));
  assert_true(x_same(EXPR(4), x_add(2, 2)));
  stop(&kit);
}

static void text_has_the_fewest_parentheses(void **state) {
  (void)state;
  struct kit kit;
  start(&kit);
  struct expr a = kit.a, b = kit.b;
  assert_text(EXPR(-5), "-5", false);
  assert_text(x_add(a, x_mul(b, 2)), "a+b*2", false);
  assert_text(x_mul(x_add(a, b), 2), "(a+b)*2", false);
  assert_text(x_sub(x_sub(a, b), 1), "a-b-1", false);
  assert_text(x_sub(a, x_sub(b, 1)), "a-(b-1)", false);
  assert_text(x_add(a, x_add(b, 1)), "a+(b+1)", false);
  assert_text(x_mod(x_div(a, 3), 4), "a/3%4", false);
  assert_text(x_div(a, x_mul(b, 3)), "a/(b*3)", false);
  assert_text(x_round_up(a, 16), "(a+15)/16*16", false);
  assert_text(x_lt(x_add(a, 1), b), "a+1<b", false);
  assert_text(x_mul(x_eq(a, 1), x_gt(b, 0)), "(a==1)*(b>0)", false);
  assert_text(x_eq(x_lt(a, 1), 1), "(a<1)==1", false);
  assert_text(x_min(x_add(a, 1), x_max(b, 2)), "min(a+1,max(b,2))", true);
  assert_text(x_mul(x_min(a, b), 2), "min(a,b)*2", true);
  stop(&kit);
}

static void text_that_does_not_fit_has_its_length(void **state) {
  (void)state;
  struct kit kit;
  start(&kit);
  char text[4];
  bool calls = false;
  assert_int_equal(x_print(text, sizeof text, x_add(kit.a, 100), &calls), 5);
  assert_string_equal(text, "a+1");
  assert_int_equal(x_print(NULL, 0, x_add(kit.a, 100), &calls), 5);
  stop(&kit);
}

/* ---- rows ---- */

static void rows_have_the_fields_they_were_given(void **state) {
  (void)state;
  struct kit kit;
  start(&kit);
  struct emit *e = &kit.emit;
  EMIT(e, "vadds", F("dst", x_add(kit.a, 64)), F("scalar", 1), W("type", "fp32"));
  EMIT(e, "mad", F("m", x_min(16, kit.a)), F_IF(false, "n", 1), W_IF(true, "type", "fp16"),
       F_IF(true, "k", x_max(kit.a, 1)), W_IF(false, "quant", "f322f16"));
  emit_plain(e, "set_atomic_none");
  struct expr i = emit_for(e, "i", x_min(kit.b, 2));
  assert_true(x_is(emit_named(e, "nothing", x_add(1, 1)), 2));
  struct expr t = emit_named(e, "t", x_mul(i, 3));
  emit_if(e, "some", x_gt(t, 0));
  emit_handshake(e, PIPE_V, PIPE_MTE3, x_mod(t, 2));
  emit_end(e);
  emit_end(e);
  assert_string_equal(e->text, "vadds,dst=a+64,scalar=1,type=fp32\n"
                               "mad,\"m=min(16,a)\",type=fp16,\"k=max(a,1)\"\n"
                               "set_atomic_none\n"
                               "loop,i,\"min(b,2)\"\n"
                               "  let,t,i*3\n"
                               "  loop,some,t>0\n"
                               "    set_flag,src=V,dst=MTE3,id=t%2\n"
                               "    wait_flag,src=V,dst=MTE3,id=t%2\n"
                               "  endloop\n"
                               "endloop\n");
  stop(&kit);
}

/* The names of an arena up to the first that finds no room; `used`: bytes that are taken before. */
static void names_until_shortage(size_t used) {
  struct arena arena = {0};
  struct emit emit;
  struct vinci_diag diag = {0};
  emit_start(&emit, fixture_shared, &arena, &diag);
  assert_non_null(arena_alloc(&arena, used, 1));
  arena_fail_after(1);
  while (emit.status == VINCI_OK) {
    struct expr name = x_name(&emit, "a");
    assert_false(x_is_number(name)); /* a divisor would be 0 */
    EMIT(&emit, "scalar", F("cycles", x_div(name, x_add(name, 1))));
  }
  arena_fail_after(0);
  assert_int_equal(emit.status, VINCI_E_NOMEM);
  assert_int_equal(diag.status, VINCI_E_NOMEM);
  size_t length = emit.length;
  emit_plain(&emit, "set_mask_norm");
  assert_int_equal(emit.length, length);
  emit_free(&emit);
  arena_free(&arena);
}

static void shortage_of_memory_is_kept(void **state) {
  (void)state;
  enum { ALIGNMENT = 16, PHASES = 16 };
  for (size_t phase = 1; phase <= PHASES; phase++)
    names_until_shortage(phase * ALIGNMENT);
}

/* ---- random expressions, read back ---- */

/* Variables after blk, sub, blocks: i and j. */
enum { VAR_I = VAR_FIRST_FREE, VAR_J, VARIABLES, POINTS = 6, LET_ROW = 3 };

static const int64_t variables[POINTS][VARIABLES] = {
    {0, 0, 4, 0, 0},  {1, 0, 4, 1, 2},   {3, 0, 4, 7, 1},
    {2, 0, 4, -3, 5}, {0, 0, 4, 6, -11}, {3, 0, 4, 12, 9},
};

/* An expression, and what it is where the variables have the values above. */
struct sample {
  struct expr x;
  int64_t value[POINTS];
};

/* xorshift64*, Vigna 2016. */
static uint64_t next_random(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static struct sample leaf(uint64_t *random, struct emit *e) {
  static const struct {
    const char *name;
    unsigned variable;
  } names[] = {{"blk", VAR_BLK}, {"blocks", VAR_BLOCKS}, {"i", VAR_I}, {"j", VAR_J}};
  struct sample leaf;
  uint64_t choice = next_random(random) % 7;
  int64_t number = (int64_t)(next_random(random) % 13) - 3;
  leaf.x = choice < 4 ? x_name(e, names[choice].name) : EXPR(number);
  for (unsigned p = 0; p < POINTS; p++)
    leaf.value[p] = choice < 4 ? variables[p][names[choice].variable] : number;
  return leaf;
}

static int64_t by_hand(enum expr_op op, int64_t a, int64_t b) {
  switch (op) {
  case EXPR_ADD:
    return a + b;
  case EXPR_SUB:
    return a - b;
  case EXPR_MUL:
    return a * b;
  case EXPR_DIV:
    return a / b;
  case EXPR_MOD:
    return a % b;
  case EXPR_MIN:
    return a < b ? a : b;
  case EXPR_MAX:
    return a > b ? a : b;
  case EXPR_LT:
    return a < b;
  case EXPR_LE:
    return a <= b;
  case EXPR_GT:
    return a > b;
  case EXPR_GE:
    return a >= b;
  case EXPR_EQ:
    return a == b;
  default:
    return a != b;
  }
}

/* A divisor is a number: 1 to 9. */
static struct sample random_sample(uint64_t *random, struct emit *e, unsigned depth) {
  static const enum expr_op ops[] = {EXPR_ADD, EXPR_ADD, EXPR_SUB, EXPR_SUB, EXPR_MUL, EXPR_MUL,
                                     EXPR_DIV, EXPR_DIV, EXPR_MOD, EXPR_MOD, EXPR_MIN, EXPR_MAX,
                                     EXPR_LT,  EXPR_LE,  EXPR_GT,  EXPR_GE,  EXPR_EQ,  EXPR_NE};
  if (depth == 0 || next_random(random) % 8 == 0)
    return leaf(random, e);
  enum expr_op op = ops[next_random(random) % (sizeof ops / sizeof *ops)];
  struct sample a = random_sample(random, e, depth - 1), b = random_sample(random, e, depth - 1);
  if (op == EXPR_DIV || op == EXPR_MOD) {
    int64_t divisor = 1 + (int64_t)(next_random(random) % 9);
    b.x = EXPR(divisor);
    for (unsigned p = 0; p < POINTS; p++)
      b.value[p] = divisor;
  }
  struct sample sample = {.x = x_apply(op, a.x, b.x)};
  for (unsigned p = 0; p < POINTS; p++)
    sample.value[p] = by_hand(op, a.value[p], b.value[p]);
  return sample;
}

static void write_trace(struct emit *e, struct expr x) {
  emit_kernel(e, "k", 4);
  emit_vector(e, "x", DTYPE_FP16, TENSOR_IN, 1);
  emit_stream(e, CORE_AIV);
  emit_plain(e, "scalar");
  emit_for(e, "i", 4);
  emit_for(e, "j", 4);
  EMIT(e, "let", W("", "v"), F("", x));
  emit_end(e);
  emit_end(e);
  assert_int_equal(e->status, VINCI_OK);
}

static void compare(const vinci_trace *trace, const struct sample *sample, const char *text) {
  const struct program_row *row = &trace->rows[LET_ROW];
  int64_t operand = trace->operands[row->first_operand];
  for (unsigned p = 0; p < POINTS; p++) {
    int64_t value = operand;
    if (row->expr_mask != 0 && !program_eval(trace, (uint64_t)operand, variables[p], &value))
      fail_msg("no value:\n%s", text);
    if (value != sample->value[p])
      fail_msg("%" PRId64 ", not %" PRId64 ":\n%s", value, sample->value[p], text);
  }
}

static void the_reader_agrees(void **state) {
  (void)state;
  enum { EXPRESSIONS = 2000, DEPTH = 4 };
  const char *chosen = getenv("TESTS_SEED");
  uint64_t seed = chosen ? strtoull(chosen, NULL, 0) : UINT64_C(20261122);
  print_message("# TESTS_SEED=%" PRIu64 "\n", seed);
  uint64_t random = seed | 1;
  for (unsigned n = 0; n < EXPRESSIONS; n++) {
    struct kit kit;
    start(&kit);
    struct sample sample = random_sample(&random, &kit.emit, 1 + n % DEPTH);
    write_trace(&kit.emit, sample.x);
    vinci_trace *trace;
    if (vinci_trace_parse("t.csv", kit.emit.text, kit.emit.length, fixture_shared, &trace, NULL) !=
        VINCI_OK)
      fail_msg("not readable:\n%s", kit.emit.text);
    compare(trace, &sample, kit.emit.text);
    vinci_trace_free(trace);
    stop(&kit);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_fold),
      cmocka_unit_test(what_changes_nothing_is_left_out),
      cmocka_unit_test(the_same_is_recognised),
      cmocka_unit_test(text_has_the_fewest_parentheses),
      cmocka_unit_test(text_that_does_not_fit_has_its_length),
      cmocka_unit_test(rows_have_the_fields_they_were_given),
      cmocka_unit_test(shortage_of_memory_is_kept),
      cmocka_unit_test(the_reader_agrees),
  };
  return cmocka_run_group_tests_name("lower_expr", tests, fixture_set_up, fixture_tear_down);
}
