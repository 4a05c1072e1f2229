/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches in the text of a program: kernel<<<blocks, l2ctrl, stream>>>(arguments) is no C++. The
 * text becomes kernel->*vinci_cce::launch(blocks, l2ctrl, stream)(arguments), on the same line
 * (include/vinci/cce/launch.h has the rest). Only brackets, comments and literals need to be
 * understood: anywhere else, <<< is no C++ either, except after the word `operator`. Variables in
 * memories of a core, which begin a statement, are the work of variables.c, and bodies of vector
 * functions that of functions.c.
 *
 * Attributes of the device compiler, "[aicore]" and "[host, aicore]" in front of functions, become
 * blanks. The text ends with an include of vinci/cce/end.h. Headers also have assembler of the
 * device for registers without an intrinsic; each such statement becomes a call of a function of
 * include/vinci/cce/control.h.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/compile/text.h"

static const char before[] = "->*vinci_cce::launch(", after[] = ")";
static const char tail[] = "\n#include \"vinci/cce/end.h\"\n";
static const char opening[] = "<<<", closing[] = ">>>";
enum { BRACKETS = 3 };

static bool is_at(const char *at, const char *end, const char *word) {
  size_t length = strlen(word);
  return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

static bool is_word(char byte) {
  return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z');
}

/* Behind a comment that begins here; `at` when none does. */
static const char *skip_comment(const char *at, const char *end) {
  if (is_at(at, end, "//")) {
    while (at < end && (*at != '\n' || at[-1] == '\\'))
      at++;
  } else if (is_at(at, end, "/*")) {
    at += 2;
    while (at < end && !is_at(at, end, "*/"))
      at++;
    at += at < end ? 2 : 0;
  }
  return at;
}

/* Behind R"delimiter(...)delimiter", from the quote on. */
static const char *skip_raw(const char *at, const char *end) {
  char stop[32] = ")";
  size_t length = 1;
  for (at++; at < end && *at != '(' && length < sizeof stop - 2; at++)
    stop[length++] = *at;
  stop[length++] = '"';
  stop[length] = '\0';
  while (at < end && !is_at(at, end, stop))
    at++;
  return at < end ? at + length : end;
}

/* Behind a text or character that begins here, or the end of its line; `at` when none does. A quote
 * within a number (1'000) begins none. */
static const char *skip_literal(const char *start, const char *at, const char *end) {
  char quote = *at;
  if (quote != '"' && quote != '\'')
    return at;
  bool behind_word = at > start && is_word(at[-1]);
  if (quote == '\'' && behind_word && at + 1 < end && is_word(at[1]) &&
      (at[-1] >= '0' && at[-1] <= '9'))
    return at + 1;
  if (quote == '"' && at > start && at[-1] == 'R' &&
      (at - 1 == start || !is_word(at[-2]) || strchr("uUL8", at[-2])))
    return skip_raw(at, end);
  for (at++; at < end && *at != quote && *at != '\n'; at++)
    if (*at == '\\' && at + 1 < end)
      at++;
  return at < end ? at + 1 : end;
}

const char *source_skip_text(const char *start, const char *at, const char *end) {
  const char *behind = skip_comment(at, end);
  return behind == at ? skip_literal(start, at, end) : behind;
}

/* The >>> that belongs to the <<< before `at`; NULL when there is none before the statement ends.
 */
static const char *find_closing(const char *start, const char *at, const char *end) {
  int depth = 0;
  while (at < end) {
    const char *behind = source_skip_text(start, at, end);
    if (behind != at) {
      at = behind;
      continue;
    }
    if (depth == 0 && is_at(at, end, closing))
      return at;
    if (*at == ';' || (depth == 0 && strchr(")]}", *at)))
      return NULL;
    depth += strchr("([{", *at) ? 1 : strchr(")]}", *at) ? -1 : 0;
    at++;
  }
  return NULL;
}

static bool is_operator(const char *start, const char *at) {
  static const char word[] = "operator";
  size_t length = strlen(word);
  while (at > start && (at[-1] == ' ' || at[-1] == '\t'))
    at--;
  return (size_t)(at - start) >= length && memcmp(at - length, word, length) == 0;
}

/* Beginnings of statements up to the operand, "(operand))" follows. */
static const struct {
  const char *from, *to;
} assembler[] = {
    {"asm volatile(\"MOV %0, SYS_CNT\\n\" : \"+l\"(", "vinci_cce::read_system_count(("},
    {"asm volatile(\"MOV COND, %0\\n\" : \"+l\"(", "vinci_cce::write_condition(("},
};
enum { ASSEMBLER_COUNT = sizeof assembler / sizeof *assembler };

/* The statement of the table that begins here; the count when none does. */
static size_t assembler_at(const char *at, const char *end) {
  size_t i = *at == 'a' ? 0 : ASSEMBLER_COUNT;
  while (i < ASSEMBLER_COUNT && !is_at(at, end, assembler[i].from))
    i++;
  return i;
}

void source_text_add(struct source_text *out, const char *from, const char *to) {
  if (out->bytes)
    memcpy(out->bytes + out->length, from, (size_t)(to - from));
  out->length += (size_t)(to - from);
}

static void put_word(struct source_text *out, const char *word) {
  source_text_add(out, word, word + strlen(word));
}

/* ---- attributes of the device compiler: "[host, aicore]" in front of a function ---- */

/* Behind a word of a list; `at` when it is another. */
static const char *skip_word(const char *at, const char *end, const char *word) {
  size_t length = strlen(word);
  return is_at(at, end, word) && (at + length == end || !is_word(at[length])) ? at + length : at;
}

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && strchr(" \t\r\n", *at))
    at++;
  return at;
}

/* Whether the word before `at` is one that stands before a function, or there is none. */
static bool is_behind_specifier(const char *start, const char *at) {
  static const char *const words[] = {"inline",          "__inline__", "__inline", "static",
                                      "__forceinline__", "constexpr",  "extern",   "__global__"};
  while (at > start && (at[-1] == ' ' || at[-1] == '\t'))
    at--;
  const char *from = at;
  while (from > start && is_word(from[-1]))
    from--;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if ((size_t)(at - from) == strlen(words[i]) && memcmp(from, words[i], (size_t)(at - from)) == 0)
      return true;
  return at == from && (from == start || strchr("\n;{}>", from[-1]));
}

/* Behind such an attribute that begins here; `at` when none does. With "aicore" in brackets it is
 * always one; "[host]" may be an index, which has no word behind. */
static const char *skip_attribute(const char *start, const char *at, const char *end) {
  bool device = false;
  const char *in = at;
  if (*at != '[')
    return at;
  do {
    const char *word = skip_blanks(in + 1, end), *behind = skip_word(word, end, "aicore");
    device |= behind != word;
    if (behind == word)
      behind = skip_word(word, end, "host");
    in = skip_blanks(behind, end);
    if (behind == word || in == end)
      return at;
  } while (*in == ',');
  if (*in++ != ']')
    return at;
  const char *next = skip_blanks(in, end);
  bool before_word = next < end && is_word(*next) && !(*next >= '0' && *next <= '9');
  return device || (before_word && memchr(in, '\n', (size_t)(next - in)) == NULL) ||
                 is_behind_specifier(start, at)
             ? in
             : at;
}

/* "__attribute__((aiv))": the kind of core of a function. */
static const struct {
  const char *name, *to;
} core_attributes[] = {{"aiv", "__attribute__((section(\"vinci_aiv\")))"},
                       {"aic", "__attribute__((section(\"vinci_aic\")))"},
                       {"mix", "__attribute__((section(\"vinci_mix_1_2\")))"},
                       {"aicore", ""}};
enum { CORE_ATTRIBUTES = sizeof core_attributes / sizeof *core_attributes };

/* Behind such an attribute that begins here, and what it becomes; `at` when none does. */
static const char *take_core_attribute(const char *at, const char *end, const char **to) {
  static const char word[] = "__attribute__";
  const char *in = *at == '_' ? skip_word(at, end, word) : at;
  if (in == at)
    return at;
  for (unsigned i = 0; i < 2; i++) {
    in = skip_blanks(in, end);
    if (in == end || *in++ != '(')
      return at;
  }
  in = skip_blanks(in, end);
  for (size_t i = 0; i < CORE_ATTRIBUTES; i++) {
    const char *behind = skip_word(in, end, core_attributes[i].name);
    if (behind == in)
      continue;
    behind = skip_blanks(behind, end);
    *to = core_attributes[i].to;
    return is_at(behind, end, "))") ? behind + 2 : at;
  }
  return at;
}

/* Blanks in place of a text, so that what follows keeps its lines and columns. */
static void put_blanks(struct source_text *out, const char *from, const char *to) {
  static const char blank[] = " ";
  for (; from < to; from++)
    if (*from == '\n')
      source_text_add(out, from, from + 1);
    else
      source_text_add(out, blank, blank + 1);
}

/* Where a text stands: what has been seen of a statement, or of a directive of the preprocessor. */
struct place {
  bool begins;    /* a statement begins here */
  bool line;      /* nothing but blanks so far on this line */
  bool directive; /* this line and those that go on behind a backslash */
};

static void pass(struct place *place, const char *at) {
  if (*at == '\n') {
    place->directive = place->directive && at[-1] == '\\';
    place->line = true;
  } else if (!strchr(" \t\r", *at)) {
    place->directive |= place->line && *at == '#';
    place->line = false;
    if (!place->directive)
      place->begins = strchr(";{}", *at) != NULL;
  }
}

/* What replaces the text that begins here; behind that text. `at` when nothing does. */
static const char *put_replaced(const char *start, const char *at, const char *end,
                                const char **closes, struct source_text *out) {
  const char *behind = skip_attribute(start, at, end);
  if (behind != at) {
    put_blanks(out, at, behind);
    return behind;
  }
  const char *to;
  behind = take_core_attribute(at, end, &to);
  if (behind != at) {
    put_word(out, to);
    return behind;
  }
  size_t statement = assembler_at(at, end);
  if (statement < ASSEMBLER_COUNT) {
    put_word(out, assembler[statement].to);
    return at + strlen(assembler[statement].from);
  }
  if (at == *closes) {
    put_word(out, after);
    *closes = NULL;
    return at + BRACKETS;
  }
  if (is_at(at, end, opening) && !*closes && !is_operator(start, at) &&
      (*closes = find_closing(start, at + BRACKETS, end))) {
    put_word(out, before);
    return at + BRACKETS;
  }
  return at;
}

/* Elements in UB within elements, whose calls are still open. */
enum { OPEN_MAX = 16 };
struct elements {
  struct source_names names;
  const char *closes[OPEN_MAX];
  unsigned open;
  const char *body; /* of a vector function that is to come */
};

/* Puts the call around an element that begins here, and the first byte or word of the element. */
static const char *put_element(struct elements *elements, const char *start, const char *at,
                               const char *end, bool begins, struct source_text *out) {
  const char *call, *first = at + 1;
  if (elements->open == OPEN_MAX)
    return at;
  const char *behind = source_skip_element(&elements->names, start, at, end, begins, &call);
  if (behind == at)
    return at;
  while (is_word(*at) && is_word(*first))
    first++;
  put_word(out, call);
  source_text_add(out, at, first);
  elements->closes[elements->open++] = behind;
  return first;
}

/* What is no comment or literal; behind what is done. */
static const char *put_code(struct place *place, struct elements *elements, const char *start,
                            const char *at, const char *end, const char **closes,
                            struct source_text *out) {
  const char *behind = at;
  if (!place->directive && *at == '_') {
    const char *body = source_find_body(start, at, end);
    elements->body = body ? body : elements->body;
    source_names_declare(&elements->names, at, end);
  }
  if (place->begins && !place->directive && *at == '_')
    behind = source_put_variables(start, at, end, out);
  if (behind == at)
    behind = put_replaced(start, at, end, closes, out);
  if (behind == at && !place->directive && !(place->line && *at == '#'))
    behind = put_element(elements, start, at, end, place->begins, out);
  if (behind != at)
    return behind;
  pass(place, at);
  if (!place->directive)
    source_names_pass(&elements->names, *at);
  source_text_add(out, at, at + 1);
  return at + 1;
}

static void rewrite(const char *start, const char *end, struct source_text *out) {
  struct place place = {.begins = true, .line = true};
  struct elements elements = {.open = 0};
  const char *closes = NULL;
  for (const char *at = start; at < end;) {
    while (elements.open > 0 && elements.closes[elements.open - 1] <= at) {
      put_word(out, ")");
      elements.open--;
    }
    if (at == elements.body)
      source_put_scope(out);
    const char *behind = source_skip_text(start, at, end);
    if (behind != at) { /* as it is */
      source_text_add(out, at, behind);
      at = behind;
      continue;
    }
    at = put_code(&place, &elements, start, at, end, &closes, out);
  }
  put_word(out, tail);
}

char *source_rewrite_launches(const char *text, size_t length, size_t *out_length) {
  struct source_text out = {0};
  rewrite(text, text + length, &out);
  out.bytes = malloc(out.length + 1);
  if (!out.bytes)
    return NULL;
  out.length = 0;
  rewrite(text, text + length, &out);
  *out_length = out.length;
  return out.bytes;
}
