/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluation of a trace's expressions.
 *
 * Values are signed 64-bit integers. Division and remainder are those of C:
 * the quotient is cut towards zero and the remainder has the sign of the
 * dividend. Nothing wraps around: a value that does not fit is an error.
 */
#include "core/isa/program.h"

__extension__ typedef __int128 int128;

const struct expr_form expr_forms[EXPR_MAX + 1] = {
    [EXPR_CONST] = {"", EXPR_LEVEL_VALUE},  [EXPR_VAR] = {"", EXPR_LEVEL_VALUE},
    [EXPR_ADD] = {"+", EXPR_LEVEL_SUM},     [EXPR_SUB] = {"-", EXPR_LEVEL_SUM},
    [EXPR_MUL] = {"*", EXPR_LEVEL_PRODUCT}, [EXPR_DIV] = {"/", EXPR_LEVEL_PRODUCT},
    [EXPR_MOD] = {"%", EXPR_LEVEL_PRODUCT}, [EXPR_NEG] = {"-", EXPR_LEVEL_UNARY},
    [EXPR_LT] = {"<", EXPR_LEVEL_COMPARE},  [EXPR_LE] = {"<=", EXPR_LEVEL_COMPARE},
    [EXPR_GT] = {">", EXPR_LEVEL_COMPARE},  [EXPR_GE] = {">=", EXPR_LEVEL_COMPARE},
    [EXPR_EQ] = {"==", EXPR_LEVEL_COMPARE}, [EXPR_NE] = {"!=", EXPR_LEVEL_COMPARE},
    [EXPR_MIN] = {"min", EXPR_LEVEL_VALUE}, [EXPR_MAX] = {"max", EXPR_LEVEL_VALUE},
};

bool program_apply(enum expr_op op, int64_t left, int64_t right, int64_t *out) {
  switch (op) {
  case EXPR_ADD:
    return !__builtin_add_overflow(left, right, out);
  case EXPR_SUB:
    return !__builtin_sub_overflow(left, right, out);
  case EXPR_MUL:
    return !__builtin_mul_overflow(left, right, out);
  case EXPR_DIV:
    if (right == 0 || (left == INT64_MIN && right == -1))
      return false;
    *out = left / right;
    return true;
  case EXPR_MOD:
    if (right == 0)
      return false;
    *out = right == -1 ? 0 : left % right; /* INT64_MIN % -1 traps on some hosts */
    return true;
  case EXPR_NEG:
    return !__builtin_sub_overflow(INT64_C(0), left, out);
  case EXPR_LT:
    *out = left < right;
    return true;
  case EXPR_LE:
    *out = left <= right;
    return true;
  case EXPR_GT:
    *out = left > right;
    return true;
  case EXPR_GE:
    *out = left >= right;
    return true;
  case EXPR_EQ:
    *out = left == right;
    return true;
  case EXPR_NE:
    *out = left != right;
    return true;
  case EXPR_MIN:
    *out = left < right ? left : right;
    return true;
  case EXPR_MAX:
    *out = left > right ? left : right;
    return true;
  default:
    return false; /* EXPR_CONST and EXPR_VAR are no operators */
  }
}

/*
 * The exact sum, for the rare case that a partial sum leaves 64 bits: terms are
 * kept in another order than the text has them, and that must not show. A term
 * is below 2^126, so only a sum beyond all use overflows 128 bits.
 */
static bool eval_affine_wide(const struct program_expr *expr, const struct program_term *terms,
                             const int64_t *variables, int64_t *out) {
  int128 sum = expr->constant;
  for (uint32_t i = 0; i < expr->term_count; i++) {
    int128 term = (int128)terms[i].coefficient * variables[terms[i].variable];
    if (__builtin_add_overflow(sum, term, &sum))
      return false;
  }
  if (sum < INT64_MIN || sum > INT64_MAX)
    return false;
  *out = (int64_t)sum;
  return true;
}

static bool eval_affine(const struct program_expr *expr, const struct program_term *terms,
                        const int64_t *variables, int64_t *out) {
  int64_t sum = expr->constant;
  for (uint32_t i = 0; i < expr->term_count; i++) {
    int64_t term;
    if (__builtin_mul_overflow(terms[i].coefficient, variables[terms[i].variable], &term) ||
        __builtin_add_overflow(sum, term, &sum))
      return eval_affine_wide(expr, terms, variables, out);
  }
  *out = sum;
  return true;
}

static bool eval_code(const struct program_code *code, uint32_t count, const int64_t *variables,
                      int64_t *out) {
  int64_t stack[EXPR_STACK_MAX];
  unsigned depth = 0; /* the reader has made sure that it stays within the stack */
  for (uint32_t i = 0; i < count; i++) {
    switch (code[i].op) {
    case EXPR_CONST:
      stack[depth++] = code[i].value;
      break;
    case EXPR_VAR:
      stack[depth++] = variables[code[i].value];
      break;
    case EXPR_NEG:
      if (!program_apply(EXPR_NEG, stack[depth - 1], 0, &stack[depth - 1]))
        return false;
      break;
    default:
      depth--;
      if (!program_apply((enum expr_op)code[i].op, stack[depth - 1], stack[depth],
                         &stack[depth - 1]))
        return false;
      break;
    }
  }
  *out = stack[0];
  return true;
}

bool program_eval(const struct vinci_trace *trace, uint64_t expr, const int64_t *variables,
                  int64_t *out) {
  const struct program_expr *e = &trace->exprs[expr];
  if (e->code_count == 0)
    return eval_affine(e, trace->terms + e->first_term, variables, out);
  return eval_code(trace->codes + e->first_code, e->code_count, variables, out);
}

uint32_t program_largest_var_count(const struct vinci_trace *trace) {
  uint32_t largest = VAR_FIRST_FREE;
  for (uint32_t k = 0; k < trace->kernel_count; k++)
    for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
      if (trace->kernels[k].stream[kind].var_count > largest)
        largest = trace->kernels[k].stream[kind].var_count;
  return largest;
}
