/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single numbers of bf16 in UB. bfloat16_t is a class, and the members of a class do not take an
 * object in another address space: `tile[0] = value` and `float(tile[0])` would be errors. So an
 * element of what a text declares as `__ubuf__ TYPE *tile` becomes a call,
 *
 *   vinci_cce::cell(tile[0]) = value;   float sum = vinci_cce::value(tile[0]);
 *
 * (include/vinci/cce/bfloat16.h), which is the element itself for all types but bfloat16_t. TYPE is
 * bfloat16_t or a name that may stand for that type. Addresses of elements do not change.
 */
#include <string.h>

#include "kernels/compile/text.h"

static bool is_word(char byte) {
  return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z');
}

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && strchr(" \t\r\n", *at))
    at++;
  return at;
}

static const char *end_of_word(const char *at, const char *end) {
  while (at < end && is_word(*at))
    at++;
  return at;
}

static bool is(const char *from, const char *to, const char *word) {
  return (size_t)(to - from) == strlen(word) && memcmp(from, word, (size_t)(to - from)) == 0;
}

static bool is_one_of(const char *from, const char *to, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is(from, to, words[i]))
      return true;
  return false;
}
#define IS_ONE_OF(from, to, words) is_one_of(from, to, words, sizeof words / sizeof *words)

/* Behind the bracket that closes the one at `at`; NULL when none does. */
static const char *skip_group(const char *start, const char *at, const char *end) {
  int depth = 0;
  while (at < end) {
    const char *behind = source_skip_text(start, at, end);
    if (behind != at) {
      at = behind;
      continue;
    }
    if (*at == ';' || *at == '{' || *at == '}' || *at == '#')
      return NULL;
    depth += strchr("([", *at) ? 1 : strchr(")]", *at) ? -1 : 0;
    at++;
    if (depth == 0)
      return at;
  }
  return NULL;
}

/* ---- names -------------------------------------------------------------------------------- */

/* Behind its declaration. */
static bool is_known(const struct source_names *names, const char *from, const char *to) {
  for (size_t i = 0; i < names->count; i++)
    if (names->name[i].text < from && names->name[i].length == (size_t)(to - from) &&
        memcmp(names->name[i].text, from, (size_t)(to - from)) == 0)
      return true;
  return false;
}

/* What does not fit is not known: the compiler then tells of its elements. */
static void add_name(struct source_names *names, const char *from, const char *to) {
  if (from < to && names->count < SOURCE_NAMES_MAX)
    names->name[names->count++] = (struct source_name){
        from, (size_t)(to - from), names->braces + (names->brackets > 0 ? 1 : 0)};
}

/* A name goes with the block in which it was declared; a parameter with the function that follows.
 */
void source_names_pass(struct source_names *names, char byte) {
  int least = names->braces;
  switch (byte) {
  case '(':
    names->brackets++;
    return;
  case ')':
    names->brackets--;
    return;
  case '{':
    names->braces++;
    names->brackets = 0;
    return;
  case '}':
    least = --names->braces;
    names->brackets = 0;
    break;
  case ';': /* of a function without a body */
    break;
  default:
    return;
  }
  if (names->brackets > 0) /* for (...; ...) */
    return;
  while (names->count > 0 && names->name[names->count - 1].braces > least)
    names->count--;
}

static const char *skip_qualifiers(const char *at, const char *end) {
  static const char *const words[] = {"const", "volatile", "__restrict__", "restrict"};
  for (;;) {
    at = skip_blanks(at, end);
    const char *behind = end_of_word(at, end);
    if (behind == at || !IS_ONE_OF(at, behind, words))
      return at;
    at = behind;
  }
}

void source_names_declare(struct source_names *names, const char *at, const char *end) {
  static const char *const others[] = {"half",     "float",    "int8_t",   "uint8_t", "int16_t",
                                       "uint16_t", "int32_t",  "uint32_t", "int64_t", "uint64_t",
                                       "void",     "unsigned", "int",      "char",    "bool"};
  static const char word[] = "__ubuf__";
  const char *type = end_of_word(at, end);
  if (!is(at, type, word))
    return;
  at = type = skip_qualifiers(type, end);
  at = end_of_word(at, end);
  if (at == type || IS_ONE_OF(type, at, others))
    return;
  at = skip_qualifiers(at, end);
  if (at < end && *at != '*' && is_word(*at)) { /* a variable in UB */
    add_name(names, at, end_of_word(at, end));
    return;
  }
  while (at < end && *at == '*') {
    at = skip_qualifiers(at + 1, end);
    const char *name = at;
    at = end_of_word(at, end);
    if (at < end && *at != '[') /* an array of addresses has no element in UB */
      add_name(names, name, at);
    while (at && at < end && !strchr(",;){}", *at)) /* "= address" */
      at = *at == '(' ? skip_group(at, at, end) : at + 1;
    if (!at || at == end || *at != ',')
      return;
    at = skip_blanks(at + 1, end);
  }
}

/* ---- elements ------------------------------------------------------------------------------ */

/* What stands before an element: whether an expression may begin here. *address: "&". */
static bool may_begin(const char *start, const char *at, bool changed, bool *address) {
  bool points = *at == '*';
  static const char *const words[] = {"return", "else", "case", "do", "co_return"};
  while (at > start && strchr(" \t\r\n", at[-1]))
    at--;
  if (at == start)
    return true;
  const char *from = at;
  while (from > start && is_word(from[-1]))
    from--;
  *address = at[-1] == '&' && (at - start < 2 || at[-2] != '&');
  if (from < at)
    return IS_ONE_OF(from, at, words);
  if (at[-1] == ')') /* a cast, or a condition; a product has no new value */
    return !points || changed;
  return !strchr(".]>#\"'", at[-1]) || (at[-1] == '>' && at - start > 1 && strchr(" =<", at[-2]));
}

/* Whether what follows an element changes the element. */
static bool is_changed(const char *at, const char *end) {
  at = skip_blanks(at, end);
  size_t rest = (size_t)(end - at);
  if (rest < 2)
    return false;
  if (*at == '=')
    return at[1] != '=';
  return (strchr("+-*/", *at) && at[1] == '=') || memcmp(at, "++", 2) == 0 ||
         memcmp(at, "--", 2) == 0;
}

static bool is_stepped(const char *start, const char *at) {
  while (at > start && strchr(" \t\r\n", at[-1]))
    at--;
  return at - start >= 2 && (memcmp(at - 2, "++", 2) == 0 || memcmp(at - 2, "--", 2) == 0);
}

static bool names_element(const struct source_names *names, const char *at, const char *end) {
  while (at < end) {
    const char *word = at;
    at = end_of_word(at, end);
    if (at > word && is_known(names, word, at))
      return true;
    at += at == word;
  }
  return false;
}

/* Behind what a cast casts: more casts, then a word or brackets. */
static const char *skip_operand(const char *start, const char *at, const char *end) {
  const char *in = skip_blanks(at, end);
  while (in && in < end && *in == '(') {
    in = skip_group(start, in, end);
    at = in;
    in = in ? skip_blanks(in, end) : NULL;
  }
  const char *word = in ? end_of_word(in, end) : NULL;
  return word > in ? word : at;
}

/* Behind "*name", "*(name + 1)", "*(__ubuf__ type *)place"; `at` when it is none of these. */
static const char *skip_pointed(const struct source_names *names, const char *start, const char *at,
                                const char *end, bool begins) {
  const char *in = skip_blanks(at + 1, end), *word = in;
  in = end_of_word(in, end);
  if (in > word) {
    const char *next = skip_blanks(in, end);
    return is_known(names, word, in) && (next == end || !strchr("[(.*", *next)) ? in : at;
  }
  if (in == end || *in != '(')
    return at;
  const char *behind = skip_group(start, in, end);
  if (!behind)
    return at;
  const char *last = behind - 1; /* of a cast: a star */
  while (last > in && strchr(" )", *last))
    last--;
  if (*last == '*' && memmem(in, (size_t)(behind - in), "__ubuf__", 8)) {
    const char *operand = skip_operand(start, behind, end);
    return operand && operand > behind ? operand : at;
  }
  return names_element(names, in, behind) || (begins && is_changed(behind, end)) ? behind : at;
}

/* Behind "[4][i]"; NULL when a bracket is not closed. */
static const char *skip_indices(const char *start, const char *at, const char *end) {
  const char *behind = at;
  for (const char *open = skip_blanks(at, end); behind && open < end && *open == '[';
       open = behind ? skip_blanks(behind, end) : end)
    behind = skip_group(start, open, end);
  return behind;
}

/* Whether a member of an element is meant: members are in the address space of their object. */
static bool has_member(const char *behind, const char *end) {
  const char *next = skip_blanks(behind, end);
  return next < end && (*next == '.' || (*next == '-' && end - next > 1 && next[1] == '>'));
}

const char *source_skip_element(const struct source_names *names, const char *start, const char *at,
                                const char *end, bool begins, const char **call) {
  bool address = false;
  const char *behind = at;
  if (*at == '*' ? end - at > 1 && at[1] == '=' : !is_word(*at) || (at > start && is_word(at[-1])))
    return at;
  const char *word = end_of_word(at, end);
  if (*at == '*') {
    behind = skip_pointed(names, start, at, end, begins);
  } else if (is_known(names, at, word)) {
    behind = skip_indices(start, word, end);
    behind = behind == word ? at : behind;
  }
  bool changed = behind && (is_changed(behind, end) || is_stepped(start, at));
  if (!behind || behind == at || has_member(behind, end) ||
      (!begins && !may_begin(start, at, changed, &address)) || address)
    return at;
  *call = changed ? "vinci_cce::cell(" : "vinci_cce::value(";
  return behind;
}
