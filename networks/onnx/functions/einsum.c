/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Einsum as sums, matrix products and transpositions. Operands are taken together two at a time,
 * from the first on. Letters of a pair are in both and stay (batch), are in both and go (inner), or
 * belong to a single operand.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "networks/onnx/functions/contrib.h"

enum { LETTERS_MAX = GRAPH_RANK_MAX, EQUATION_MAX = 128, OPERANDS_MAX = 8, LETTER_COUNT = 128 };

struct equation {
  unsigned count;
  char operands[OPERANDS_MAX][EQUATION_MAX], result[EQUATION_MAX];
  uint64_t extents[LETTER_COUNT];
};

static bool has(const char *letters, char letter) { return strchr(letters, letter) != NULL; }

static void append(char *letters, char letter) {
  size_t length = strlen(letters);
  letters[length] = letter;
  letters[length + 1] = '\0';
}

/* False: letters twice in one operand, extents that broadcast, or more than this takes. */
static bool take_equation(const struct onnx_call *call, struct equation *e) {
  const char *text = onnx_put_text(call, "equation");
  const char *arrow = text ? strstr(text, "->") : NULL;
  char operands[EQUATION_MAX];
  *e = (struct equation){0};
  if (!arrow || strlen(text) >= EQUATION_MAX)
    return false;
  snprintf(operands, sizeof operands, "%.*s", (int)(arrow - text), text);
  snprintf(e->result, sizeof e->result, "%s", arrow + 2);
  for (char *rest = operands, *one = rest; one; one = rest) {
    rest = strchr(one, ',');
    if (rest)
      *rest++ = '\0';
    if (e->count == OPERANDS_MAX || e->count == call->input_count)
      return false;
    const struct onnx_value *x = call->inputs[e->count];
    for (unsigned i = 0; one[i]; i++) {
      uint64_t *extent = &e->extents[(unsigned char)one[i] % LETTER_COUNT];
      if (i >= x->rank || has(one + i + 1, one[i]) || (*extent != 0 && *extent != x->shape[i]))
        return false;
      *extent = x->shape[i];
    }
    snprintf(e->operands[e->count++], EQUATION_MAX, "%s", one);
  }
  return e->count == call->input_count && strlen(e->result) <= LETTERS_MAX;
}

/* Letters of three groups, which are distinct: at most as many as there are letters. */
static void join(char out[static EQUATION_MAX], const char *first, const char *second,
                 const char *third) {
  const char *const groups[] = {first, second, third};
  *out = '\0';
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
    for (const char *at = groups[g]; *at; at++)
      append(out, *at);
}

static uint64_t product_of(const struct equation *e, const char *letters) {
  uint64_t product = 1;
  for (; *letters; letters++)
    product *= e->extents[(unsigned char)*letters % LETTER_COUNT];
  return product;
}

/* Letters that the result or a later operand has. */
static bool is_needed(const struct equation *e, unsigned from, char letter) {
  bool needed = has(e->result, letter);
  for (unsigned i = from; i < e->count; i++)
    needed = needed || has(e->operands[i], letter);
  return needed;
}

/* The name of what is made of an operand. */
static void lengthen(char *name, size_t size, const char *ending) {
  size_t length = strlen(name), more = strlen(ending);
  if (length + more >= size)
    vinci_bug("the name %s%s is too long", name, ending);
  memcpy(name + length, ending, more + 1);
}

/* Sums over the letters of an operand that nobody else has; returns its name, and changes letters.
 */
static void say_sums(struct onnx_text *b, const struct equation *e, unsigned from,
                     const char *other, char *name, size_t size,
                     char letters[static EQUATION_MAX]) {
  char left[EQUATION_MAX] = "";
  unsigned axes[LETTERS_MAX];
  unsigned count = 0;
  for (unsigned i = 0; letters[i]; i++)
    if (!has(other, letters[i]) && !is_needed(e, from, letters[i]))
      axes[count++] = i;
    else
      append(left, letters[i]);
  if (count == 0)
    return;
  onnx_say(b, "Constant %s.a = value_ints=", name);
  for (unsigned i = 0; i < count; i++)
    onnx_say(b, "%u,", axes[i]);
  onnx_say(b, "; ReduceSum %s.s = %s %s.a keepdims=0;", name, name, name);
  memcpy(letters, left, sizeof left);
  lengthen(name, size, ".s");
}

/* Dimensions in the order of other letters; the name gets an ending. */
static void say_order(struct onnx_text *b, char *name, size_t size, const char *letters,
                      const char *wanted) {
  if (strcmp(letters, wanted) == 0)
    return;
  onnx_say(b, "Transpose %s.t = %s perm=", name, name);
  for (unsigned i = 0; wanted[i]; i++)
    onnx_say(b, "%d,", (int)(strchr(letters, wanted[i]) - letters));
  onnx_say(b, ";");
  lengthen(name, size, ".t");
}

static void say_shape(struct onnx_text *b, const struct equation *e, const char *name,
                      const char *const *groups, unsigned count, bool joined) {
  onnx_say(b, "Constant %s.h = value_ints=", name);
  for (unsigned g = 0; g < count; g++)
    if (joined)
      onnx_say(b, "%" PRIu64 ",", product_of(e, groups[g]));
    else
      for (const char *at = groups[g]; *at; at++)
        onnx_say(b, "%" PRIu64 ",", e->extents[(unsigned char)*at % LETTER_COUNT]);
  onnx_say(b, ";");
}

struct term {
  char name[24], letters[EQUATION_MAX];
};

/* Two operands become one, whose letters are batch, those of the first, those of the second. */
static void say_pair(struct onnx_text *b, const struct equation *e, unsigned next,
                     struct term *left, struct term *right) {
  char batch[EQUATION_MAX] = "", inner[EQUATION_MAX] = "", mine[EQUATION_MAX] = "",
       theirs[EQUATION_MAX] = "", wanted[EQUATION_MAX];
  say_sums(b, e, next, right->letters, left->name, sizeof left->name, left->letters);
  say_sums(b, e, next, left->letters, right->name, sizeof right->name, right->letters);
  for (const char *at = left->letters; *at; at++)
    append(!has(right->letters, *at) ? mine : is_needed(e, next, *at) ? batch : inner, *at);
  for (const char *at = right->letters; *at; at++)
    if (!has(left->letters, *at))
      append(theirs, *at);
  join(wanted, batch, mine, inner);
  say_order(b, left->name, sizeof left->name, left->letters, wanted);
  join(wanted, batch, inner, theirs);
  say_order(b, right->name, sizeof right->name, right->letters, wanted);
  const char *const rows[] = {batch, mine, inner}, *const columns[] = {batch, inner, theirs};
  const char *const all[] = {batch, mine, theirs};
  say_shape(b, e, left->name, rows, 3, true);
  say_shape(b, e, right->name, columns, 3, true);
  onnx_say(b, "Reshape r%u = %s %s.h; Reshape c%u = %s %s.h; %s p%u = r%u c%u;", next, left->name,
           left->name, next, right->name, right->name, *inner ? "MatMul" : "Mul", next, next, next);
  snprintf(left->name, sizeof left->name, "p%u", next);
  say_shape(b, e, left->name, all, 3, false);
  onnx_say(b, "Reshape q%u = p%u p%u.h;", next, next, next);
  snprintf(left->name, sizeof left->name, "q%u", next);
  join(left->letters, batch, mine, theirs);
}

enum vinci_status onnx_made_einsum(struct onnx_call *call, bool *known) {
  struct equation e;
  struct onnx_text body = {.used = 0};
  *known = onnx_type_is_float(call->inputs[0]->type) && take_equation(call, &e);
  if (!*known)
    return VINCI_OK;
  struct term term = {.name = "x0"};
  snprintf(term.letters, sizeof term.letters, "%s", e.operands[0]);
  for (unsigned i = 1; i < e.count; i++) {
    struct term other;
    snprintf(other.name, sizeof other.name, "x%u", i);
    snprintf(other.letters, sizeof other.letters, "%s", e.operands[i]);
    say_pair(&body, &e, i + 1, &term, &other);
    if (strlen(term.letters) > LETTERS_MAX) {
      *known = false;
      return VINCI_OK;
    }
  }
  say_sums(&body, &e, e.count, "", term.name, sizeof term.name, term.letters);
  say_order(&body, term.name, sizeof term.name, term.letters, e.result);
  onnx_say(&body, "Identity y = %s", term.name);
  return onnx_call_text(call, "x0 x1 x2 x3 x4 x5 x6 x7", "y", &body);
}
