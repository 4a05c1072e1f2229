/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches in the text of a program: kernel<<<blocks, l2ctrl, stream>>>(arguments) is no C++. The
 * text becomes kernel->*vinci_cce::launch(blocks, l2ctrl, stream)(arguments), on the same line
 * (include/vinci/cce/launch.h has the rest). Only brackets, comments and literals need to be
 * understood: anywhere else, <<< is no C++ either, except after the word `operator`. Variables in
 * memories of a core, which begin a statement, are the work of variables.c.
 *
 * The text ends with an include of vinci/cce/end.h. Headers also have assembler of the device for
 * registers without an intrinsic; each such statement becomes a call of a function of
 * include/vinci/cce/control.h.
 */
#include <stdlib.h>
#include <string.h>

#include "traces/source/source.h"

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

static void rewrite(const char *start, const char *end, struct source_text *out) {
  struct place place = {.begins = true, .line = true};
  const char *closes = NULL;
  for (const char *at = start; at < end;) {
    const char *behind = source_skip_text(start, at, end);
    if (behind != at) { /* as it is */
      source_text_add(out, at, behind);
      at = behind;
      continue;
    }
    if (place.begins && !place.directive && *at == '_')
      behind = source_put_variables(start, at, end, out);
    if (behind == at)
      behind = put_replaced(start, at, end, &closes, out);
    if (behind == at) {
      pass(&place, at);
      source_text_add(out, at, ++behind);
    }
    at = behind;
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
