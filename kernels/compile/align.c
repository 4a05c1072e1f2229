/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The alignment that the source promises of each load and store. The assembler text does not have
 * that number any more: the compiler joins neighbours, so an access of four bytes may be one of two
 * numbers of two bytes. The compiler's intermediate text (LLVM IR) still has the number. So the
 * text is marked on the way: the place in the source of such a load or store gets a discriminator,
 * a number which the compiler hands on to the assembler text (".loc 1 7 3 discriminator 3") and
 * uses for nothing else, so that the code stays as it is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/compile/assembler.h"
#include "kernels/compile/text.h"

enum { NUMBERS_MAX = 1 << 24, ALIGNMENTS = 5 /* none, 2, 4, 8, 16 bytes */ };

struct piece {
  const char *text;
  size_t length;
};

struct marking {
  struct asm_out *out;
  struct piece *node; /* metadata by number: what stands behind "!7 = " */
  uint32_t node_count;
  uint32_t (*marked)[ALIGNMENTS]; /* of a place: the number of its copy, 0: none yet */
  uint32_t next;
  struct asm_out added;
  uint8_t *loaded;       /* by number of a value of the function: its alignment */
  uint32_t *loaded_from; /* and the function */
  uint32_t function;
};

static const char *find(const struct piece *in, const char *word) {
  return memmem(in->text, in->length, word, strlen(word));
}

/* The number behind a word; 0: none. */
static uint32_t number_behind(const struct piece *in, const char *word) {
  const char *at = find(in, word);
  uint64_t number = 0;
  if (!at)
    return 0;
  for (at += strlen(word); at < in->text + in->length && *at >= '0' && *at <= '9'; at++)
    if (number < NUMBERS_MAX)
      number = number * 10 + (uint64_t)(*at - '0');
  return number < NUMBERS_MAX ? (uint32_t)number : 0;
}

static struct piece line_at(const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return (struct piece){at, (size_t)((stop ? stop + 1 : end) - at)};
}

static bool begins(const struct piece *line, const char *word) {
  return line->length >= strlen(word) && memcmp(line->text, word, strlen(word)) == 0;
}

/* ---- metadata ---- */

/* "!7 = ..." at the begin of a line. */
static bool is_node(const struct piece *line, uint32_t *number, struct piece *rest) {
  const char *equals = line->length > 1 && line->text[0] == '!' ? find(line, " = ") : NULL;
  const struct piece head = {line->text, equals ? (size_t)(equals - line->text) : 0};
  if (!equals || line->text[1] < '0' || line->text[1] > '9')
    return false;
  *number = number_behind(&head, "!");
  *rest = (struct piece){equals + 3, line->length - (size_t)(equals + 3 - line->text)};
  return true;
}

static bool read_nodes(struct marking *marking, const char *text, const char *end) {
  struct piece rest;
  uint32_t number;
  for (const char *at = text; at < end;) {
    struct piece line = line_at(at, end);
    if (is_node(&line, &number, &rest) && number >= marking->node_count)
      marking->node_count = number + 1;
    at += line.length;
  }
  marking->next = marking->node_count;
  marking->node = calloc(marking->node_count + 1u, sizeof *marking->node);
  marking->marked = calloc(marking->node_count + 1u, sizeof *marking->marked);
  for (const char *at = text; marking->node && at < end;) {
    struct piece line = line_at(at, end);
    if (is_node(&line, &number, &rest))
      marking->node[number] = rest;
    at += line.length;
  }
  return marking->node && marking->marked;
}

/* A place of the source as !7 has it, with a mark: another place; 0: there is none. */
static uint32_t mark_place(struct marking *marking, uint32_t place, unsigned alignment) {
  if (place == 0 || place >= marking->node_count)
    return 0;
  uint32_t *known = &marking->marked[place][alignment];
  const struct piece *own = &marking->node[place];
  const char *scope = find(own, "scope: !");
  uint32_t of = number_behind(own, "scope: !");
  if (*known != 0 || !scope || of >= marking->node_count || !begins(own, "!DILocation(line: "))
    return *known;
  uint32_t file = number_behind(&marking->node[of], "file: !");
  size_t before = (size_t)(scope - own->text), behind = before + strlen("scope: !");
  if (file == 0)
    return 0;
  while (behind < own->length && own->text[behind] >= '0' && own->text[behind] <= '9')
    behind++;
  asm_add_text(&marking->added,
               "!%u = !DILexicalBlockFile(scope: !%u, file: !%u, discriminator: %u)\n",
               marking->next, of, file, alignment);
  asm_add_text(&marking->added, "!%u = %.*sscope: !%u%.*s", marking->next + 1, (int)before,
               own->text, marking->next, (int)(own->length - behind), own->text + behind);
  *known = marking->next + 1;
  marking->next += 2;
  return *known;
}

/* ---- instructions ---- */

/* "%7" at a place: 7; NUMBERS_MAX: a value with a name, or none. */
static uint32_t value_at(const char *at, const char *end) {
  const struct piece rest = {at, (size_t)(end - at)};
  bool numbered = end - at > 1 && at[0] == '%' && at[1] >= '0' && at[1] <= '9';
  return numbered ? number_behind(&rest, "%") : NUMBERS_MAX;
}

/* The alignment of what a line loads or stores, as a mark. */
static unsigned own_alignment(const struct piece *line) {
  static const unsigned marks[] = {[2] = 1, [4] = 2, [8] = 3, [16] = 4};
  const char *load = find(line, " = load "), *store = find(line, "  store ");
  bool plain = load || (store && store == line->text);
  uint32_t bytes = plain ? number_behind(line, ", align ") : 0;
  return bytes < sizeof marks / sizeof *marks ? marks[bytes] : bytes > 16 ? 4 : 0;
}

/* Of an instruction that takes what was loaded: the load may become its operand in memory. */
static unsigned operand_alignment(const struct marking *marking, const struct piece *line) {
  static const char *const others[] = {" = phi ", "call ", " = load ", "  store "};
  const char *end = line->text + line->length, *equals = find(line, " = ");
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (find(line, others[i]))
      return 0;
  for (const char *at = equals; at && at < end; at++) {
    uint32_t value = *at == '%' ? value_at(at, end) : NUMBERS_MAX;
    if (value < marking->node_count && marking->loaded_from[value] == marking->function)
      return marking->loaded[value];
  }
  return 0;
}

static void mark_line(struct marking *marking, const struct piece *line) {
  const char *debug = find(line, ", !dbg !");
  unsigned alignment = debug ? own_alignment(line) : 0;
  uint32_t value = value_at(line->text + 2, line->text + line->length);
  if (alignment > 0 && find(line, " = load ") && value < marking->node_count) {
    marking->loaded[value] = (uint8_t)alignment;
    marking->loaded_from[value] = marking->function;
  }
  if (debug && alignment == 0)
    alignment = operand_alignment(marking, line);
  uint32_t place = alignment ? mark_place(marking, number_behind(line, ", !dbg !"), alignment) : 0;
  if (place == 0) {
    asm_add(marking->out, line->text, line->length);
    return;
  }
  const char *behind = debug + strlen(", !dbg !");
  while (*behind >= '0' && *behind <= '9')
    behind++;
  asm_add(marking->out, line->text, (size_t)(debug - line->text));
  asm_add_text(marking->out, ", !dbg !%u", place);
  asm_add(marking->out, behind, line->length - (size_t)(behind - line->text));
}

char *source_mark_alignment(const char *text, size_t length, size_t *out_length) {
  struct asm_out out = {0};
  struct marking marking = {.out = &out};
  const char *end = text + length;
  bool good = read_nodes(&marking, text, end);
  marking.loaded = good ? calloc(marking.node_count + 1u, sizeof *marking.loaded) : NULL;
  marking.loaded_from = good ? calloc(marking.node_count + 1u, sizeof *marking.loaded_from) : NULL;
  good = marking.loaded && marking.loaded_from;
  for (const char *at = text; good && at < end;) {
    struct piece line = line_at(at, end);
    marking.function += begins(&line, "define ");
    if (begins(&line, "  "))
      mark_line(&marking, &line);
    else
      asm_add(&out, line.text, line.length);
    at += line.length;
  }
  asm_add(&out, marking.added.bytes ? marking.added.bytes : "", marking.added.length);
  good &= !out.full && !marking.added.full;
  free(marking.added.bytes);
  free(marking.node);
  free(marking.marked);
  free(marking.loaded);
  free(marking.loaded_from);
  *out_length = out.length;
  if (good)
    return out.bytes;
  free(out.bytes);
  return NULL;
}

/* ---- the assembler text ---- */

void asm_note_place(struct asm_out *out, const struct asm_line *line) {
  static const char word[] = " discriminator ";
  const char *at = memmem(line->text, line->length, "\t.loc\t", 6) == line->text
                       ? memmem(line->text, line->length, word, strlen(word))
                       : NULL;
  if (memmem(line->text, line->length, "\t.loc\t", 6) == line->text)
    out->alignment = at ? (unsigned)(at[strlen(word)] - '0') : 0;
}
