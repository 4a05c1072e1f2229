/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions: folding while they are built, text when a row is written. */
#include "lower/kernel/expr.h"

#include <string.h>

#include "core/base/decimal.h"
#include "lower/kernel/emit.h"
#include "lower/kernel/emit_record.h"

struct expr_term {
  struct emit *emit; /* whose arena has the terms made of this */
  enum expr_op op;   /* EXPR_VAR: a name */
  const char *name;
  uint32_t variable; /* of a name in a record */
  struct expr a, b;
};

/* What there was no memory for: no number, since a divisor may be among the lost. */
static const struct expr_term lost = {.op = EXPR_VAR, .name = "0"};

static struct expr new_term(struct emit *emit, struct expr_term value) {
  struct expr_term *term = emit ? ARENA_NEW(emit->arena, struct expr_term) : NULL;
  if (!term) {
    if (emit)
      emit_no_memory(emit);
    return (struct expr){.term = &lost};
  }
  *term = value;
  return (struct expr){.term = term};
}

struct expr x_name(struct emit *emit, const char *name) {
  const struct emit_name *other = emit_name_of(emit, name);
  if (emit->record) {
    struct record_name kept = record_name(emit->record, other ? other->to : name);
    return new_term(
        emit, (struct expr_term){
                  .emit = emit, .op = EXPR_VAR, .name = kept.text, .variable = kept.variable});
  }
  const char *copy = other ? other->to : arena_strdup(emit->arena, name);
  if (!copy)
    emit_no_memory(emit);
  return new_term(emit,
                  (struct expr_term){.emit = emit, .op = EXPR_VAR, .name = copy ? copy : "0"});
}

struct expr x_let(struct emit *emit, const char *name, struct expr value) {
  struct expr x = x_name(emit, name);
  struct expr_term term = *x.term;
  term.a = value;
  return new_term(emit, term);
}

/* One side is a number that decides the result, or leaves the other side as it is. */
static bool fold(enum expr_op op, struct expr a, struct expr b, struct expr *out) {
  bool sum = op == EXPR_ADD, product = op == EXPR_MUL;
  *out = EXPR(0);
  if ((product && (x_is(a, 0) || x_is(b, 0))) || (op == EXPR_DIV && x_is(a, 0)) ||
      (op == EXPR_MOD && (x_is(a, 0) || x_is(b, 1))))
    return true;
  *out = a;
  if (((sum || op == EXPR_SUB) && x_is(b, 0)) || ((product || op == EXPR_DIV) && x_is(b, 1)))
    return true;
  *out = b;
  return (sum && x_is(a, 0)) || (product && x_is(a, 1));
}

struct expr x_apply(enum expr_op op, struct expr a, struct expr b) {
  struct expr folded;
  if (!a.term && !b.term) {
    if (!program_apply(op, a.number, b.number, &folded.number))
      vinci_bug("an expression of a lowered row divides by zero or does not fit 64 bits");
    return EXPR(folded.number);
  }
  if (fold(op, a, b, &folded))
    return folded;
  struct emit *emit = a.term && a.term->emit ? a.term->emit : b.term ? b.term->emit : NULL;
  return new_term(emit, (struct expr_term){.emit = emit, .op = op, .a = a, .b = b});
}

struct expr x_ceil_div_of(struct expr a, struct expr b) {
  return x_div(x_add(a, x_sub(b, 1)), b);
}

static int64_t common_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

bool x_divided_by(struct expr x, int64_t divisor) {
  const struct expr_term *term = x.term;
  if (!term || divisor == 1)
    return divisor == 1 || x.number % divisor == 0;
  switch (term->op) {
  case EXPR_VAR:
    return !x_is(term->a, 0) && x_divided_by(term->a, divisor);
  case EXPR_ADD:
  case EXPR_SUB:
  case EXPR_MIN:
  case EXPR_MAX:
    return x_divided_by(term->a, divisor) && x_divided_by(term->b, divisor);
  case EXPR_MUL:
    if (x_is_number(term->a))
      return x_divided_by(term->b, divisor / common_divisor(divisor, term->a.number));
    if (x_is_number(term->b))
      return x_divided_by(term->a, divisor / common_divisor(divisor, term->b.number));
    return x_divided_by(term->a, divisor) || x_divided_by(term->b, divisor);
  default:
    return false;
  }
}

struct expr x_add_back(struct expr a, struct expr b) {
  bool back = b.term && b.term->op == EXPR_SUB && x_same(b.term->b, a);
  return back ? b.term->a : x_add(a, b);
}

bool x_same(struct expr a, struct expr b) {
  if (!a.term || !b.term)
    return !a.term && !b.term && a.number == b.number;
  if (a.term == b.term)
    return true;
  if (a.term->op != b.term->op)
    return false;
  if (a.term->op == EXPR_VAR)
    return strcmp(a.term->name, b.term->name) == 0;
  return x_same(a.term->a, b.term->a) && x_same(a.term->b, b.term->b);
}

bool x_value(struct expr x, const int64_t *variables, int64_t *out) {
  const struct expr_term *term = x.term;
  int64_t a, b;
  *out = term && term->op == EXPR_VAR ? variables[term->variable] : x.number;
  if (!term || term->op == EXPR_VAR)
    return true;
  return x_value(term->a, variables, &a) && x_value(term->b, variables, &b) &&
         program_apply(term->op, a, b, out);
}

/* ---- text --------------------------------------------------------------------------------------
 */

struct text {
  char *at;
  size_t size, length;
  bool calls;
};

static void put(struct text *text, const char *part) {
  for (; *part; part++, text->length++)
    if (text->length + 1 < text->size) {
      text->at[text->length] = *part;
      text->at[text->length + 1] = '\0';
    }
}

static void put_expr(struct text *text, struct expr x, unsigned level) {
  char number[DECIMAL_TEXT_BYTES];
  if (!x.term) {
    (void)decimal_put(number, x.number);
    put(text, number);
    return;
  }
  const struct expr_term *term = x.term;
  if (term->op == EXPR_VAR) {
    put(text, term->name);
    return;
  }
  const struct expr_form *form = &expr_forms[term->op];
  bool call = term->op == EXPR_MIN || term->op == EXPR_MAX;
  bool encloses = call || form->level < level;
  unsigned left = call                                ? EXPR_LEVEL_COMPARE
                  : form->level == EXPR_LEVEL_COMPARE ? EXPR_LEVEL_SUM
                                                      : form->level;
  text->calls |= call;
  put(text, call ? form->text : "");
  put(text, encloses ? "(" : "");
  put_expr(text, term->a, left);
  put(text, call ? "," : form->text);
  put_expr(text, term->b, call ? EXPR_LEVEL_COMPARE : form->level + 1u);
  put(text, encloses ? ")" : "");
}

size_t x_print(char *text, size_t size, struct expr x, bool *calls) {
  struct text out = {.at = text, .size = size};
  if (size > 0)
    *text = '\0';
  put_expr(&out, x, EXPR_LEVEL_COMPARE);
  *calls |= out.calls;
  return out.length;
}
