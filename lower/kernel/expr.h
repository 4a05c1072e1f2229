/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of rows: numbers, and terms in loop counters, block index, names of tensors and
 * buffers. They are built by the functions below, which fold what is known, and become text once,
 * when a row is written; nothing parses that text again.
 *
 * The macros take expressions and whole numbers alike: x_add(x_mul(row, 512), 64). A term lives as
 * long as the arena of the trace that is being written.
 */
#ifndef VINCI_LOWER_KERNEL_EXPR_H
#define VINCI_LOWER_KERNEL_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/isa/program.h"

struct emit;
struct expr_term;

struct expr {
  int64_t number;
  const struct expr_term *term; /* NULL: the expression is the number */
};

static inline struct expr x_self(struct expr x) { return x; }
static inline struct expr x_signed(int64_t number) { return (struct expr){.number = number}; }
static inline struct expr x_unsigned(uint64_t number) {
  return (struct expr){.number = (int64_t)number};
}

#define EXPR(value)                                                                                \
  _Generic((value), struct expr                                                                    \
           : x_self, int                                                                           \
           : x_signed, long                                                                        \
           : x_signed, long long                                                                   \
           : x_signed, _Bool                                                                       \
           : x_unsigned, unsigned char                                                             \
           : x_unsigned, unsigned                                                                  \
           : x_unsigned, unsigned long                                                             \
           : x_unsigned, unsigned long long                                                        \
           : x_unsigned)(value)

/* A name: loop counter, let, tensor, buffer, blk. The text is copied. */
struct expr x_name(struct emit *emit, const char *name);
/* The same of a let, whose value is known. */
struct expr x_let(struct emit *emit, const char *name, struct expr value);

/* Slot number `slot` of a buffer or tensor, whose slots are `bytes` apart. */
#define x_slot(emit_, name_, slot_, bytes_) x_add(x_name(emit_, name_), x_mul(slot_, bytes_))

/* The operator on two expressions; folded where both are numbers, or one changes nothing. */
struct expr x_apply(enum expr_op op, struct expr a, struct expr b);

#define x_add(a, b) x_apply(EXPR_ADD, EXPR(a), EXPR(b))
#define x_sub(a, b) x_apply(EXPR_SUB, EXPR(a), EXPR(b))
#define x_mul(a, b) x_apply(EXPR_MUL, EXPR(a), EXPR(b))
#define x_div(a, b) x_apply(EXPR_DIV, EXPR(a), EXPR(b))
#define x_mod(a, b) x_apply(EXPR_MOD, EXPR(a), EXPR(b))
#define x_min(a, b) x_apply(EXPR_MIN, EXPR(a), EXPR(b))
#define x_max(a, b) x_apply(EXPR_MAX, EXPR(a), EXPR(b))
#define x_lt(a, b) x_apply(EXPR_LT, EXPR(a), EXPR(b))
#define x_gt(a, b) x_apply(EXPR_GT, EXPR(a), EXPR(b))
#define x_eq(a, b) x_apply(EXPR_EQ, EXPR(a), EXPR(b))

/* The index-th piece of `bytes` bytes from a base on; what is left of a whole for a part that
 * begins somewhere. */
#define x_at(base, index, bytes) x_add(base, x_mul(index, bytes))
#define x_rest(part, whole, begin) x_min(part, x_sub(whole, begin))
/* ceil(a / b); a rounded up to a multiple of b; elements before the next multiple of b. */
#define x_ceil_div(a, b) x_ceil_div_of(EXPR(a), EXPR(b))
#define x_round_up(a, b) x_mul(x_ceil_div(a, b), b)
#define x_pad(a, b) x_mod(x_sub(b, x_mod(a, b)), b)
struct expr x_ceil_div_of(struct expr a, struct expr b);
/* Whether the number divides the expression, as far as its terms tell. */
bool x_divided_by(struct expr x, int64_t divisor);
/* a + b, which is c where b is c - a. */
struct expr x_add_back(struct expr a, struct expr b);

static inline bool x_is_number(struct expr x) { return x.term == NULL; }
static inline bool x_is(struct expr x, int64_t number) { return !x.term && x.number == number; }
bool x_same(struct expr a, struct expr b);
/* The value of an expression of a record; false on division by zero or overflow of 64 bits. */
bool x_value(struct expr x, const int64_t *variables, int64_t *out);

/*
 * The text with the fewest parentheses, zero-terminated; returns its length, which may be more than
 * fits, as snprintf() does. *calls: the text has min or max, whose commas ask for quotes.
 */
size_t x_print(char *text, size_t size, struct expr x, bool *calls);

#endif
