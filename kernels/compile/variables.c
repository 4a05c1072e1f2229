/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables in the memories of a core: `__ubuf__ float a[64], b;` within a function is no C++ for a
 * host compiler. Each becomes a reference to a place in that memory, on the same line:
 *
 *   auto &a = VINCI_CCE_VARIABLE(ubuf, __ubuf__ float [64]); auto &b = ...
 *
 * (include/vinci/cce/variable.h). Pointers, functions and what has a value at once stay as they
 * are. A variable in a macro is not found; the compiler then refuses its memory.
 */
#include <string.h>

#include "kernels/compile/text.h"

static const char *const memories[] = {"__ubuf__", "__cbuf__",    "__ca__",   "__cb__",
                                       "__cc__",   "__biasbuf__", "__fbuf__", "__ssbuf__"};
enum { UNDERSCORES = 2 };

/* A part of the text. */
struct part {
  const char *from, *to;
};

/* What the declaration has beside its memory. dimensions: "[4][8]" and spaces, or empty. */
struct declarator {
  struct part name, dimensions;
};

static bool is_word(char byte) {
  return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z');
}

/* The word of a memory that begins here; NULL when none does. */
static const char *memory_at(const char *at, const char *end) {
  for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
    size_t length = strlen(memories[i]);
    if ((size_t)(end - at) > length && memcmp(at, memories[i], length) == 0 && !is_word(at[length]))
      return memories[i];
  }
  return NULL;
}

/* The first ',' or ';' outside of brackets; NULL when something comes before that no variable has,
 * unless that is in [] or <>. */
static const char *find_end(const char *start, const char *at, const char *end) {
  int square = 0, angle = 0;
  while (at < end) {
    const char *behind = source_skip_text(start, at, end);
    if (behind != at) {
      at = behind;
      continue;
    }
    if (square == 0 && angle == 0 && (*at == ',' || *at == ';'))
      return at;
    if (*at == ';' || strchr("{}#", *at) || (square == 0 && angle == 0 && strchr("*&()=", *at)))
      return NULL;
    square += *at == '[' ? 1 : *at == ']' ? -1 : 0;
    angle += square > 0 ? 0 : *at == '<' ? 1 : *at == '>' ? -1 : 0;
    at++;
  }
  return NULL;
}

/* Splits "[type] name [4][8]" that ends at part.to; what stands before the name is left over. */
static bool take_declarator(struct part part, struct declarator *out, struct part *rest) {
  const char *name = part.to;
  int square = 0;
  for (const char *at = part.to; at > part.from; at--) { /* to the '[' of the first dimension */
    square += at[-1] == ']' ? 1 : at[-1] == '[' ? -1 : 0;
    if (square == 0 && at[-1] != '[' && strchr(" \t\n", at[-1]) == NULL)
      break;
    name = square == 0 ? at - 1 : name;
  }
  out->dimensions = (struct part){name, part.to};
  out->name.to = name;
  for (out->name.from = name; out->name.from > part.from && is_word(out->name.from[-1]);)
    out->name.from--;
  *rest = (struct part){part.from, out->name.from};
  return out->name.from < out->name.to;
}

static bool is_blank(struct part part) {
  for (const char *at = part.from; at < part.to; at++)
    if (is_word(*at))
      return false;
  return true;
}

static void put_text(struct source_text *out, const char *text) {
  source_text_add(out, text, text + strlen(text));
}

/* With blanks for ends of lines, when the text stands there for the second time. */
static void put_type(struct source_text *out, struct part type, bool again) {
  for (const char *at = type.from; at < type.to; at++)
    if (again && *at == '\n')
      put_text(out, " ");
    else
      source_text_add(out, at, at + 1);
}

static void put_variable(struct source_text *out, const char *memory, struct part type,
                         const struct declarator *variable, bool again) {
  put_text(out, again ? " auto &" : "auto &");
  source_text_add(out, variable->name.from, variable->name.to);
  put_text(out, " = VINCI_CCE_VARIABLE(");
  source_text_add(out, memory + UNDERSCORES, memory + strlen(memory) - UNDERSCORES);
  put_text(out, ", ");
  put_text(out, memory);
  put_type(out, type, again);
  source_text_add(out, variable->dimensions.from, variable->dimensions.to);
  put_text(out, ");");
}

const char *source_put_variables(const char *start, const char *at, const char *end,
                                 struct source_text *out) {
  const char *memory = memory_at(at, end), *close = NULL;
  struct part type = {0}, rest;
  size_t length = out->length;
  for (const char *from = memory ? at + strlen(memory) : at; memory; from = close + 1) {
    struct declarator variable;
    bool again = close != NULL;
    close = find_end(start, from, end);
    if (!close || !take_declarator((struct part){from, close}, &variable, &rest) ||
        is_blank(rest) != again) {
      out->length = length; /* no variable after all */
      return at;
    }
    if (!again)
      type = rest;
    put_variable(out, memory, type, &variable, again);
    if (*close == ';')
      return close + 1;
  }
  return at;
}
