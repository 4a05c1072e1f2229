/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hints for those who write what another language, another tool or another part of CANN would
 * understand.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "core/base/number.h"
#include "traces/format/reader.h"

/* A word that people use, and the hint for that word. */
struct foreign_word {
  const char *word;
  const char *hint;
};

static const char *find_word(const struct foreign_word *words, size_t count, const char *word) {
  for (size_t i = 0; i < count; i++)
    if (strcasecmp(words[i].word, word) == 0)
      return words[i].hint;
  return NULL;
}

#define LOOP_HINT "a loop is written \"loop,i,64\", its rows, \"endloop\""
#define IF_HINT "a condition is a loop of 0 or 1 turns: \"loop,first,i==0\", its rows, \"endloop\""
#define END_HINT "\"endloop\" ends a loop"
#define LET_HINT "a value gets a name with \"let,t,blk*4096\""

void trace_hint_row(struct trace_reader *reader, const char *row) {
  static const struct foreign_word words[] = {
      {"for", LOOP_HINT},  {"foreach", LOOP_HINT}, {"while", LOOP_HINT}, {"repeat", LOOP_HINT},
      {"do", LOOP_HINT},   {"if", IF_HINT},        {"else", IF_HINT},    {"elif", IF_HINT},
      {"elseif", IF_HINT}, {"when", IF_HINT},      {"end", END_HINT},    {"endfor", END_HINT},
      {"endif", END_HINT}, {"endwhile", END_HINT}, {"next", END_HINT},   {"define", LET_HINT},
      {"const", LET_HINT}, {"var", LET_HINT},      {"int", LET_HINT},
  };
  const char *hint = find_word(words, sizeof words / sizeof *words, row);
  if (hint)
    diag_hint(reader->diag, "%s", hint);
}

void trace_hint_core(struct trace_reader *reader, const char *core) {
  static const char mixed[] =
      "a mixed kernel has two streams: one begins with \"stream,core=AIC\", one with "
      "\"stream,core=AIV\"";
  static const struct foreign_word words[] = {
      {"VEC", "AIV"},          {"VECTOR", "AIV"},    {"AIVEC", "AIV"},   {"AI_VECTOR_CORE", "AIV"},
      {"VECTOR_CORE", "AIV"},  {"AIV", "AIV"},       {"CUBE", "AIC"},    {"AICUBE", "AIC"},
      {"AI_CUBE_CORE", "AIC"}, {"CUBE_CORE", "AIC"}, {"AIC", "AIC"},     {"AI_CORE", "AICORE"},
      {"AICORE", "AICORE"},    {"MIX", mixed},       {"MIX_AIC", mixed}, {"MIX_AIV", mixed},
  };
  const char *hint = find_word(words, sizeof words / sizeof *words, core);
  if (hint == mixed)
    diag_hint(reader->diag, "%s", hint);
  else if (hint)
    diag_hint(reader->diag, "did you mean \"%s\"?", hint);
}

/* ---- commas ------------------------------------------------------------------------ */

/* How many parentheses a field opens and does not close. */
static int open_parentheses(const struct trace_field *field) {
  int open = 0;
  for (size_t i = 0; i < field->length; i++)
    open += (field->text[i] == '(') - (field->text[i] == ')');
  return open;
}

void trace_hint_comma(struct trace_reader *reader, size_t field) {
  char whole[TRACE_CLIP_BYTES];
  size_t used = 0;
  int open = 0;
  if (field == 0 || field >= reader->field_count || open_parentheses(&reader->fields[field]) <= 0)
    return;
  for (size_t i = field; i < reader->field_count && (i == field || open > 0); i++) {
    open += open_parentheses(&reader->fields[i]);
    int length = snprintf(whole + used, sizeof whole - used, "%s%s", i == field ? "" : ",",
                          reader->fields[i].text);
    if (length < 0 || (size_t)length >= sizeof whole - used)
      return;
    used += (size_t)length;
  }
  if (open == 0)
    diag_hint(reader->diag, "a field with a comma stands in quotes: \"%s\"", whole);
}

/* A field without "=" behind a list: "shape=8,16". */
void trace_hint_list(struct trace_reader *reader, size_t field) {
  static const char shape[] = "shape=";
  for (size_t i = field; i-- > 1;)
    if (open_parentheses(&reader->fields[i]) > 0) {
      trace_hint_comma(reader, i);
      return;
    }
  if (field > 1 && strncmp(reader->fields[field - 1].text, shape, sizeof shape - 1) == 0)
    diag_hint(reader->diag,
              "extents are joined by x: \"%s"
              "x%s\"",
              reader->fields[field - 1].text, reader->fields[field].text);
}

/* ---- numbers with a fraction ---------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Decimal digits with a point or an exponent, whatever the locale; false when it is no such
 * number. Exact for numbers that people write. */
static bool read_fraction(const char *text, double *out) {
  bool negative = *text == '-', any = false, fraction = false;
  double value = 0;
  int scale = 0, exponent = 0;
  text += negative || *text == '+';
  for (; is_digit(*text) || (*text == '.' && !fraction); text++) {
    if (*text == '.') {
      fraction = true;
      continue;
    }
    any = true;
    value = value * 10 + (*text - '0');
    scale -= fraction;
  }
  if (any && (*text == 'e' || *text == 'E')) {
    bool down = text[1] == '-';
    text += 1 + (down || text[1] == '+');
    any = is_digit(*text);
    for (; is_digit(*text) && exponent < 1000; text++)
      exponent = exponent * 10 + (*text - '0');
    exponent = down ? -exponent : exponent;
    fraction = true;
  }
  if (*text == 'f' || *text == 'F')
    text++;
  for (exponent += scale; exponent < 0 && value != 0; exponent++)
    value /= 10;
  for (; exponent > 0 && value != 0 && isfinite(value); exponent--)
    value *= 10;
  *out = negative ? -value : value;
  return any && fraction && *text == '\0';
}

static const struct number_format *format_of(enum dtype dtype) {
  return dtype == DTYPE_FP16   ? &number_fp16
         : dtype == DTYPE_BF16 ? &number_bf16
         : dtype == DTYPE_FP32 ? &number_fp32
                               : NULL;
}

/* What the row says of its data type, which may come behind. */
static enum dtype type_of_row(const struct trace_reader *reader) {
  static const char type[] = "type=";
  for (size_t i = 1; i < reader->field_count; i++)
    if (strncmp(reader->fields[i].text, type, sizeof type - 1) == 0)
      return dtype_by_name(reader->fields[i].text + sizeof type - 1);
  return DTYPE_COUNT;
}

void trace_hint_fraction(struct trace_reader *reader, const struct isa_arg *arg, size_t field) {
  const char *text = reader->fields[field].text + arg->name_length + 1;
  double value;
  if (!read_fraction(text, &value))
    return;
  if (strcmp(arg->name, "scalar") != 0) {
    diag_hint(reader->diag, "operand \"%s\" is a whole number", arg->name);
    return;
  }
  enum dtype dtype = type_of_row(reader);
  const struct number_format *format = format_of(dtype);
  if (format)
    diag_hint(reader->diag, "a scalar is written as its bits: %s as %s is \"scalar=0x%0*x\"", text,
              dtype_name(dtype), (int)(dtype_bits(dtype) / 4),
              (unsigned)number_encode(format, value, ROUND_EVEN, false));
  else
    diag_hint(
        reader->diag,
        "a scalar is written as the bits of its type: 1.5 as fp16 is \"scalar=0x3e00\", as fp32 "
        "\"scalar=0x3fc00000\"");
}
