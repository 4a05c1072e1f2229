/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what scalar code executes. The assembler text of a kernel (x86-64, as clang writes it)
 * gets an addition at each basic block: the number of its instructions, onto vinci_cce_count.
 * What is between two intrinsics tells how long the scalar unit works there.
 *
 * The addition changes the flags of the processor. So it stands before an instruction that sets all
 * of them anyway, or, in a block without one, keeps them on the stack.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/source/source.h"

struct out {
  char *bytes;
  size_t length, capacity;
  bool full;
};

static void add(struct out *out, const char *text, size_t length) {
  if (out->length + length >= out->capacity) {
    size_t capacity = 2 * (out->length + length) + 4096;
    char *more = realloc(out->bytes, capacity);
    if (!more) {
      out->full = true;
      return;
    }
    out->bytes = more;
    out->capacity = capacity;
  }
  memcpy(out->bytes + out->length, text, length);
  out->length += length;
}

struct line {
  const char *text;
  size_t length; /* with its end */
};

static struct line line_at(const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return (struct line){at, stop ? (size_t)(stop - at) + 1 : (size_t)(end - at)};
}

/* The name of the instruction of a line; empty: a directive, a label, a comment. */
static size_t mnemonic(const struct line *line, const char **name) {
  size_t start = 0, length = 0;
  while (start < line->length && (line->text[start] == '\t' || line->text[start] == ' '))
    start++;
  *name = line->text + start;
  if (start == 0 || start == line->length || !islower((unsigned char)line->text[start]))
    return 0;
  while (start + length < line->length && isalnum((unsigned char)line->text[start + length]))
    length++;
  return length;
}

static bool is_label(const struct line *line) {
  return line->length > 1 && !isspace((unsigned char)line->text[0]) && line->text[0] != '#' &&
         memchr(line->text, ':', line->length) != NULL;
}

static bool is(const char *name, size_t length, const char *stem) {
  return length >= strlen(stem) && strncmp(name, stem, strlen(stem)) == 0;
}

static bool is_call(const char *name, size_t length) { return is(name, length, "call"); }

/* A call too: an intrinsic is a call, and what is before belongs to that intrinsic. */
static bool ends_block(const char *name, size_t length) {
  return is(name, length, "j") || is(name, length, "ret") || is_call(name, length);
}

/* Sets all flags and reads none. */
static bool sets_flags(const char *name, size_t length) {
  static const char *const names[] = {"cmp", "test", "add", "sub", "and", "or", "xor"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t stem = strlen(names[i]);
    if (length == stem + 1 && strncmp(name, names[i], stem) == 0 && strchr("bwlq", name[stem]))
      return true;
  }
  return false;
}

/* A block from its first line on: where it ends, its instructions, and where flags do not matter.
 */
struct block {
  const char *end, *safe; /* safe: NULL when there is no such place */
  unsigned instructions;
  bool calls; /* at the end */
};

/* `entered`: behind a call, whose flags nobody reads. */
static struct block read_block(const char *at, const char *end, bool entered) {
  struct block block = {.end = at};
  while (at < end) {
    struct line line = line_at(at, end);
    const char *name;
    size_t length = mnemonic(&line, &name);
    if (is_label(&line) && block.instructions > 0)
      break;
    /* Nor does anybody read flags from before a function. */
    entered |= is_label(&line) && line.text[0] != '.';
    if (length > 0) {
      if (!block.safe && (entered || sets_flags(name, length)))
        block.safe = at;
      block.instructions++;
    }
    at += line.length;
    block.end = at;
    block.calls = is_call(name, length);
    if (ends_block(name, length))
      break;
  }
  return block;
}

static void add_count(struct out *out, const struct block *block) {
  char text[160];
  int length =
      block->safe
          ? snprintf(text, sizeof text, "\taddq\t$%u, vinci_cce_count(%%rip)\n",
                     block->instructions)
          : snprintf(text, sizeof text,
                     "\tleaq\t-128(%%rsp), %%rsp\n\tpushfq\n\taddq\t$%u, vinci_cce_count(%%rip)\n"
                     "\tpopfq\n\tleaq\t128(%%rsp), %%rsp\n",
                     block->instructions);
  add(out, text, (size_t)length);
}

/* Where the first instruction of a block stands. */
static const char *first_instruction(const char *at, const char *end) {
  while (at < end) {
    struct line line = line_at(at, end);
    const char *name;
    if (mnemonic(&line, &name) > 0)
      break;
    at += line.length;
  }
  return at;
}

char *source_count_instructions(const char *text, size_t length, size_t *out_length) {
  struct out out = {0};
  const char *end = text + length;
  bool entered = false;
  for (const char *at = text; at < end;) {
    struct block block = read_block(at, end, entered);
    entered = block.calls;
    if (block.instructions > 0) {
      const char *place = block.safe ? block.safe : first_instruction(at, block.end);
      add(&out, at, (size_t)(place - at));
      add_count(&out, &block);
      at = place;
    }
    add(&out, at, (size_t)(block.end - at));
    at = block.end;
  }
  *out_length = out.length;
  if (!out.full)
    return out.bytes;
  free(out.bytes);
  return NULL;
}
