/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: a recursive descent parser that writes postfix code and, beside it,
 * keeps each part as a sum of variables times constants where that is possible.
 * Constant parts are folded at once; an expression that is such a sum as a whole
 * is kept as the sum and its code dropped.
 */
#include <string.h>

#include "traces/format/reader.h"

/* More variables than this in one sum: it stays postfix code. */
enum { TERMS_MAX = 16 };

/* A part of the expression. Its code is the code from first_code to the end. */
struct part {
  size_t first_code;
  unsigned depth; /* of the evaluation stack */
  unsigned terms_count;
  bool affine;
  int64_t constant; /* when affine: constant + sum of terms, by variable */
  struct program_term terms[TERMS_MAX];
};

struct parser {
  struct trace_reader *reader;
  size_t field;
  const char *start; /* of the field's text */
  const char *value; /* of the expression in the field */
  const char *at;
  unsigned nesting;
  size_t first_code; /* of the whole expression */
  enum vinci_status status;
};

struct operator_text {
  char text[3];
  uint8_t length;
  uint8_t op;
  uint8_t precedence;
};

enum { PRECEDENCE_COMPARE = 1, PRECEDENCE_SUM, PRECEDENCE_PRODUCT };

/* Longer texts before their own beginnings. */
static const struct operator_text operators[] = {
    {"<=", 2, EXPR_LE, PRECEDENCE_COMPARE}, {">=", 2, EXPR_GE, PRECEDENCE_COMPARE},
    {"==", 2, EXPR_EQ, PRECEDENCE_COMPARE}, {"!=", 2, EXPR_NE, PRECEDENCE_COMPARE},
    {"<", 1, EXPR_LT, PRECEDENCE_COMPARE},  {">", 1, EXPR_GT, PRECEDENCE_COMPARE},
    {"+", 1, EXPR_ADD, PRECEDENCE_SUM},     {"-", 1, EXPR_SUB, PRECEDENCE_SUM},
    {"*", 1, EXPR_MUL, PRECEDENCE_PRODUCT}, {"/", 1, EXPR_DIV, PRECEDENCE_PRODUCT},
    {"%", 1, EXPR_MOD, PRECEDENCE_PRODUCT},
};

static bool parse_binary(struct parser *parser, unsigned precedence, struct part *out);

static size_t offset_of(const struct parser *parser, const char *at) {
  return (size_t)(at - parser->start);
}

/* Reports an error at a place of the field; always false. */
static bool fail(struct parser *parser, const char *at, const char *text) {
  parser->status = trace_fail(parser->reader, parser->field, offset_of(parser, at), "%s", text);
  return false;
}

static void skip_blanks(struct parser *parser) {
  while (*parser->at == ' ' || *parser->at == '\t')
    parser->at++;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

/* ---- code and sums -------------------------------------------------------- */

static bool emit(struct parser *parser, enum expr_op op, int64_t value) {
  struct growing *codes = &parser->reader->codes;
  if (codes->count - parser->first_code == TRACE_EXPR_OPERATIONS_MAX) {
    trace_fail(parser->reader, parser->field, offset_of(parser, parser->value),
               "expression of more than %d operations", TRACE_EXPR_OPERATIONS_MAX);
    diag_hint(parser->reader->diag, "give parts of it a name with a let row");
    parser->status = VINCI_E_INPUT;
    return false;
  }
  struct program_code *code = GROWING_PUSH(codes, struct program_code);
  if (!code) {
    parser->status = trace_no_memory(parser->reader);
    return false;
  }
  *code = (struct program_code){.value = value, .op = (uint8_t)op};
  return true;
}

static bool is_constant(const struct part *part) { return part->affine && part->terms_count == 0; }

static bool is_number(const struct part *part, int64_t number) {
  return is_constant(part) && part->constant == number;
}

/* The other side changes nothing: it is added to 0, multiplied or divided by 1. */
static bool keeps_left(enum expr_op op, const struct part *right) {
  bool sum = op == EXPR_ADD || op == EXPR_SUB, product = op == EXPR_MUL || op == EXPR_DIV;
  return (sum && is_number(right, 0)) || (product && is_number(right, 1));
}

static bool keeps_right(enum expr_op op, const struct part *left) {
  return (op == EXPR_ADD && is_number(left, 0)) || (op == EXPR_MUL && is_number(left, 1));
}

/* Removes the code of a constant from before the code of what follows. */
static void drop_constant(struct parser *parser, size_t first) {
  struct growing *codes = &parser->reader->codes;
  struct program_code *code = GROWING_AT(codes, struct program_code, first);
  memmove(code, code + 1, (codes->count - first - 1) * sizeof *code);
  codes->count--;
}

/* Begins a part that is one constant; what code it had before is dropped. */
static bool make_constant(struct parser *parser, size_t first_code, int64_t value,
                          struct part *out) {
  parser->reader->codes.count = first_code;
  out->first_code = first_code;
  out->depth = 1;
  out->affine = true;
  out->terms_count = 0;
  out->constant = value;
  return emit(parser, EXPR_CONST, value);
}

static bool make_variable(struct parser *parser, uint32_t variable, struct part *out) {
  out->first_code = parser->reader->codes.count;
  out->depth = 1;
  out->affine = true;
  out->terms_count = 1;
  out->constant = 0;
  out->terms[0] = (struct program_term){.coefficient = 1, .variable = variable};
  return emit(parser, EXPR_VAR, variable);
}

/* left += right; false when a number does not fit or there are too many terms. */
static bool add_sums(struct part *left, const struct part *right) {
  struct program_term terms[TERMS_MAX];
  unsigned i = 0, j = 0, count = 0;
  int64_t constant;
  if (__builtin_add_overflow(left->constant, right->constant, &constant))
    return false;
  while (i < left->terms_count || j < right->terms_count) {
    struct program_term term;
    bool from_left = i < left->terms_count;
    bool from_right = j < right->terms_count;
    if (from_left && from_right && left->terms[i].variable != right->terms[j].variable) {
      from_left = left->terms[i].variable < right->terms[j].variable;
      from_right = !from_left;
    }
    term.variable = from_left ? left->terms[i].variable : right->terms[j].variable;
    if (__builtin_add_overflow(from_left ? left->terms[i].coefficient : 0,
                               from_right ? right->terms[j].coefficient : 0, &term.coefficient))
      return false;
    i += from_left;
    j += from_right;
    if (term.coefficient == 0)
      continue;
    if (count == TERMS_MAX)
      return false;
    terms[count++] = term;
  }
  left->constant = constant;
  left->terms_count = count;
  memcpy(left->terms, terms, count * sizeof *terms);
  return true;
}

/* part *= factor; false when a number does not fit. */
static bool scale_sum(struct part *part, int64_t factor) {
  if (__builtin_mul_overflow(part->constant, factor, &part->constant))
    return false;
  for (unsigned i = 0; i < part->terms_count; i++)
    if (__builtin_mul_overflow(part->terms[i].coefficient, factor, &part->terms[i].coefficient))
      return false;
  if (factor == 0)
    part->terms_count = 0;
  return true;
}

/* Applies an operator to two sums; false when the result is no sum. left becomes the result. */
static bool combine_sums(enum expr_op op, struct part *left, struct part *right) {
  if (!left->affine || !right->affine)
    return false;
  switch (op) {
  case EXPR_ADD:
    return add_sums(left, right);
  case EXPR_SUB:
    return scale_sum(right, -1) && add_sums(left, right);
  case EXPR_MUL:
    if (is_constant(right))
      return scale_sum(left, right->constant);
    if (!is_constant(left))
      return false;
    left->terms_count = right->terms_count;
    memcpy(left->terms, right->terms, right->terms_count * sizeof *right->terms);
    int64_t factor = left->constant;
    left->constant = right->constant;
    return scale_sum(left, factor);
  default:
    return false;
  }
}

/* Applies an operator whose text is at `at`; left becomes the result. */
static bool apply(struct parser *parser, enum expr_op op, const char *at, struct part *left,
                  struct part *right) {
  if ((op == EXPR_DIV || op == EXPR_MOD) && is_constant(right) && right->constant == 0)
    return fail(parser, at, "division by zero");
  if (is_constant(left) && is_constant(right)) {
    int64_t value;
    if (!program_apply(op, left->constant, right->constant, &value))
      return fail(parser, at, "the value does not fit 64 bits");
    return make_constant(parser, left->first_code, value, left);
  }
  if (op == EXPR_MOD && left->affine && is_number(right, 1))
    return make_constant(parser, left->first_code, 0, left);
  if (keeps_left(op, right)) {
    parser->reader->codes.count = right->first_code;
    return true;
  }
  if (keeps_right(op, left)) {
    drop_constant(parser, left->first_code);
    right->first_code = left->first_code;
    *left = *right;
    return true;
  }
  unsigned depth = op == EXPR_NEG ? left->depth : right->depth + 1;
  left->depth = left->depth > depth ? left->depth : depth;
  left->affine =
      op == EXPR_NEG ? left->affine && scale_sum(left, -1) : combine_sums(op, left, right);
  if (is_constant(left))
    return make_constant(parser, left->first_code, left->constant, left);
  return emit(parser, op, 0);
}

/* ---- grammar -------------------------------------------------------------- */

/*
 * A literal; with a minus sign before it, its negative. Hexadecimal ones name a
 * pattern of 64 bits: 0xffffffffffffffff is -1.
 */
static bool parse_literal(struct parser *parser, bool negative, struct part *out) {
  const char *start = parser->at;
  bool hex = start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
  const char *digits = hex ? start + 2 : start;
  const char *at = digits;
  uint64_t value = 0;
  bool fits = true;
  for (;; at++) {
    unsigned digit;
    if (is_digit(*at))
      digit = (unsigned)(*at - '0');
    else if (hex && ((*at >= 'a' && *at <= 'f') || (*at >= 'A' && *at <= 'F')))
      digit = (unsigned)((*at | 0x20) - 'a') + 10;
    else
      break;
    fits = fits && !__builtin_mul_overflow(value, hex ? 16u : 10u, &value) &&
           !__builtin_add_overflow(value, digit, &value);
  }
  if (at == digits || is_name_char(*at))
    return fail(parser, at, "malformed number");
  const uint64_t lowest = UINT64_C(1) << 63;
  bool is_lowest = negative && value == lowest && !hex;
  fits = fits && (hex ? !(negative && value == lowest) : value < lowest || is_lowest);
  if (!fits)
    return fail(parser, start, "the number does not fit 64 bits");
  parser->at = at;
  return make_constant(parser, parser->reader->codes.count, (int64_t)(negative ? 0 - value : value),
                       out);
}

static bool expect(struct parser *parser, char c) {
  char text[32];
  skip_blanks(parser);
  if (*parser->at == c) {
    parser->at++;
    return true;
  }
  snprintf(text, sizeof text, "\"%c\" expected", c);
  bool cut = c == ',' && *parser->at == '\0';
  fail(parser, parser->at, text);
  if (cut)
    trace_hint_comma(parser->reader, parser->field);
  if (cut)
    diag_hint(parser->reader->diag, "a field with a comma stands in quotes: \"id=min(i,3)\"");
  return false;
}

/* min(a,b) and max(a,b); the name has been read. */
static bool parse_function(struct parser *parser, enum expr_op op, const char *name,
                           struct part *out) {
  struct part right;
  return expect(parser, '(') && parse_binary(parser, PRECEDENCE_COMPARE, out) &&
         expect(parser, ',') && parse_binary(parser, PRECEDENCE_COMPARE, &right) &&
         expect(parser, ')') && apply(parser, op, name, out, &right);
}

static bool unknown_name(struct parser *parser, const char *start, size_t length,
                         const struct trace_name *known) {
  struct trace_clip clip = trace_clip(start, length);
  const char *nearest = trace_name_nearest(parser->reader, clip.text);
  parser->status =
      trace_fail(parser->reader, parser->field, offset_of(parser, start),
                 known ? "name \"%s\" is not in scope here" : "unknown name \"%s\"", clip.text);
  if (nearest)
    diag_hint(parser->reader->diag, "did you mean \"%s\"?", nearest);
  else if (known)
    diag_hint(parser->reader->diag, "it was declared in line %u", (unsigned)known->line);
  return false;
}

/* Remembers which tensor a row is about, for the range check when it is executed. */
static void note_tensor(struct trace_reader *reader, uint32_t tensor) {
  bool other = reader->named_tensor != 0 && reader->named_tensor != tensor;
  reader->named_tensor = other ? UINT32_MAX : tensor;
}

/* The same of a field, for tensors and buffers, and through variables. */
static void note_object(struct trace_reader *reader, uint32_t object) {
  if (object == 0)
    return;
  bool other = reader->named_object != 0 && reader->named_object != object;
  reader->named_object = other ? TRACE_OBJECT_SEVERAL : object;
}

static bool parse_name(struct parser *parser, struct part *out) {
  struct trace_reader *reader = parser->reader;
  const char *start = parser->at;
  while (is_name_char(*parser->at))
    parser->at++;
  size_t length = offset_of(parser, parser->at) - offset_of(parser, start);
  if (length == 3 && memcmp(start, "min", 3) == 0)
    return parse_function(parser, EXPR_MIN, start, out);
  if (length == 3 && memcmp(start, "max", 3) == 0)
    return parse_function(parser, EXPR_MAX, start, out);
  uint32_t builtin = trace_builtin(start, length);
  if (builtin != VAR_FIRST_FREE && reader->stream)
    return make_variable(parser, builtin, out);
  const struct trace_name *name = trace_name_find(reader, start, length);
  if (name && trace_name_is_variable(reader, name)) {
    note_object(reader, name->about);
    return make_variable(parser, name->variable, out);
  }
  if (!name || !trace_name_is_object(reader, name))
    return unknown_name(parser, start, length, name);
  if (name->object_kind == NAME_TENSOR)
    note_tensor(reader, name->object + 1);
  note_object(reader, name->object_kind == NAME_TENSOR ? name->object + 1
                                                       : (name->object + 1) | TRACE_OBJECT_BUFFER);
  uint64_t address =
      name->object_kind == NAME_TENSOR
          ? GROWING_AT(&reader->tensors, struct program_tensor, name->object)->address
          : GROWING_AT(&reader->buffers, struct program_buffer, name->object)->address;
  return make_constant(parser, reader->codes.count, (int64_t)address, out);
}

static bool parse_primary(struct parser *parser, struct part *out) {
  if (*parser->at == '(') {
    parser->at++;
    return parse_binary(parser, PRECEDENCE_COMPARE, out) && expect(parser, ')');
  }
  if (is_digit(*parser->at))
    return parse_literal(parser, false, out);
  if (is_name_char(*parser->at))
    return parse_name(parser, out);
  return fail(parser, parser->at,
              *parser->at == '\0' ? "the expression ends too early" : "a value is expected here");
}

static bool parse_unary(struct parser *parser, struct part *out) {
  skip_blanks(parser);
  if (*parser->at == '-' && is_digit(parser->at[1])) {
    parser->at++;
    return parse_literal(parser, true, out);
  }
  if (parser->nesting == TRACE_EXPR_NESTING_MAX)
    return fail(parser, parser->at, "the expression is nested too deeply");
  parser->nesting++;
  bool good;
  if (*parser->at == '-') {
    const char *minus = parser->at++;
    struct part none = {.affine = true, .depth = 0};
    good = parse_unary(parser, out) && apply(parser, EXPR_NEG, minus, out, &none);
  } else {
    good = parse_primary(parser, out);
  }
  parser->nesting--;
  return good;
}

/* The operator at the cursor, NULL when there is none. */
static const struct operator_text *peek_operator(struct parser *parser) {
  skip_blanks(parser);
  const char *at = parser->at;
  for (size_t i = 0; *at != '\0' && i < sizeof operators / sizeof *operators; i++)
    if (at[0] == operators[i].text[0] &&
        (operators[i].length == 1 || at[1] == operators[i].text[1]))
      return &operators[i];
  return NULL;
}

static bool parse_binary(struct parser *parser, unsigned precedence, struct part *out) {
  if (!parse_unary(parser, out))
    return false;
  bool compared = false;
  const struct operator_text *op;
  while ((op = peek_operator(parser)) != NULL && op->precedence >= precedence) {
    const char *at = parser->at;
    if (op->precedence == PRECEDENCE_COMPARE && compared)
      return fail(parser, at, "comparisons do not follow one another without parentheses");
    compared = op->precedence == PRECEDENCE_COMPARE;
    parser->at += op->length;
    struct part right;
    if (!parse_binary(parser, op->precedence + 1u, &right) ||
        !apply(parser, (enum expr_op)op->op, at, out, &right))
      return false;
  }
  return true;
}

/* ---- the result ----------------------------------------------------------- */

/* Stores the expression and gives its index. */
static enum vinci_status store(struct parser *parser, const struct part *part, int64_t *index) {
  struct trace_reader *reader = parser->reader;
  if (!part->affine) /* the writer could not give the name back */
    reader->named_tensor = 0;
  if (part->affine)
    reader->codes.count = parser->first_code;
  else if (part->depth > EXPR_STACK_MAX) {
    trace_fail(reader, parser->field, offset_of(parser, parser->value),
               "the expression holds more than %d values at a time", EXPR_STACK_MAX);
    diag_hint(reader->diag, "give parts of it a name with a let row");
    return VINCI_E_INPUT;
  }
  size_t terms_count = part->affine ? part->terms_count : 0;
  struct program_expr *expr = GROWING_PUSH(&reader->exprs, struct program_expr);
  struct program_term *terms =
      growing_push(&reader->terms, terms_count, sizeof(struct program_term));
  if (!expr || !terms || reader->codes.count > UINT32_MAX || reader->terms.count > UINT32_MAX)
    return trace_no_memory(reader);
  memcpy(terms, part->terms, terms_count * sizeof *terms);
  *expr = (struct program_expr){
      .constant = part->affine ? part->constant : 0,
      .first_term = (uint32_t)(reader->terms.count - terms_count),
      .term_count = (uint32_t)terms_count,
      .first_code = (uint32_t)parser->first_code,
      .code_count = (uint32_t)(reader->codes.count - parser->first_code),
  };
  *index = (int64_t)(reader->exprs.count - 1);
  return VINCI_OK;
}

enum vinci_status trace_expr(struct trace_reader *reader, size_t field, size_t offset,
                             int64_t *value, bool *constant) {
  const char *text = reader->fields[field].text;
  struct parser parser = {.reader = reader,
                          .field = field,
                          .start = text,
                          .value = text + offset,
                          .at = text + offset,
                          .first_code = reader->codes.count,
                          .status = VINCI_OK};
  struct part part;
  reader->named_object = 0;
  if (!parse_binary(&parser, PRECEDENCE_COMPARE, &part))
    return parser.status;
  skip_blanks(&parser);
  if (*parser.at != '\0') {
    fail(&parser, parser.at, "an operator is expected here");
    return parser.status;
  }
  *constant = is_constant(&part);
  if (!*constant)
    return store(&parser, &part, value);
  reader->codes.count = parser.first_code;
  *value = part.constant;
  return VINCI_OK;
}
