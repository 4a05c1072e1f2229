/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what scalar code executes. The assembler text of a kernel (x86-64, as clang writes it)
 * gets an addition at each basic block: the number of its instructions, onto vinci_cce_count.
 * What is between two intrinsics tells how long the scalar unit works there. Accesses to memory get
 * additions too (access.c), which count for nothing there.
 *
 * Each block also has an entry in a section of its own: its number of instructions, and a byte that
 * the block sets. So the code that a kernel has touched is known, which is what a core fetches.
 *
 * The addition changes the flags of the processor. So it stands before an instruction that sets all
 * of them anyway, or, in a block without one, keeps them on the stack.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/compile/assembler.h"
#include "kernels/compile/text.h"

void asm_add(struct asm_out *out, const char *text, size_t length) {
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
  if (length > 0) /* text may be NULL then */
    memcpy(out->bytes + out->length, text, length);
  out->length += length;
}

void asm_add_text(struct asm_out *out, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0 || (size_t)length >= sizeof text)
    out->full = true;
  else
    asm_add(out, text, (size_t)length);
}

struct asm_line asm_line_at(const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return (struct asm_line){at, stop ? (size_t)(stop - at) + 1 : (size_t)(end - at)};
}

size_t asm_mnemonic(const struct asm_line *line, const char **name) {
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

static bool is_label(const struct asm_line *line) {
  return line->length > 1 && !isspace((unsigned char)line->text[0]) && line->text[0] != '#' &&
         memchr(line->text, ':', line->length) != NULL;
}

bool asm_is(const char *name, size_t length, const char *stem) {
  return length >= strlen(stem) && strncmp(name, stem, strlen(stem)) == 0;
}

static bool is_call(const char *name, size_t length) { return asm_is(name, length, "call"); }

/* A call too: an intrinsic is a call, and what is before belongs to that intrinsic. */
static bool ends_block(const char *name, size_t length) {
  return asm_is(name, length, "j") || asm_is(name, length, "ret") || is_call(name, length);
}

bool asm_sets_flags(const char *name, size_t length) {
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
  unsigned instructions, ub_accesses;
  bool calls; /* at the end */
};

/* `entered`: behind a call, whose flags nobody reads. */
static struct block read_block(const char *at, const char *end, bool entered) {
  struct block block = {.end = at};
  while (at < end) {
    struct asm_line line = asm_line_at(at, end);
    const char *name;
    size_t length = asm_mnemonic(&line, &name);
    if (is_label(&line) && block.instructions > 0)
      break;
    /* Nor does anybody read flags from before a function. */
    entered |= is_label(&line) && line.text[0] != '.';
    if (length > 0) {
      if (!block.safe && (entered || asm_sets_flags(name, length)))
        block.safe = at;
      block.instructions++;
      block.ub_accesses += asm_ub_accesses(&line);
    }
    at += line.length;
    block.end = at;
    block.calls = is_call(name, length);
    if (ends_block(name, length))
      break;
  }
  return block;
}

static void add_count(struct asm_out *out, const struct block *block, unsigned number) {
  if (!block->safe)
    asm_add_text(out, "\tleaq\t-128(%%rsp), %%rsp\n\tpushfq\n");
  asm_add_text(out, "\taddq\t$%u, vinci_cce_count(%%rip)\n", block->instructions);
  asm_add_text(out, "\tmovb\t$1, .Lvinci_block%u+2(%%rip)\n", number);
  if (block->ub_accesses > 0)
    asm_add_text(out, "\taddq\t$%u, vinci_cce_watch+24(%%rip)\n", block->ub_accesses);
  if (!block->safe)
    asm_add_text(out, "\tpopfq\n\tleaq\t128(%%rsp), %%rsp\n");
}

/* The entry of a block: struct vinci_cce_block. */
static void add_entry(struct asm_out *out, const struct block *block, unsigned number) {
  asm_add_text(out, ".Lvinci_block%u:\n\t.short\t%u, 0\n", number,
               block->instructions < UINT16_MAX ? block->instructions : UINT16_MAX);
}

/* A block, line by line, with what counts. */
static void add_block(struct asm_out *out, const char *at, const struct block *block,
                      unsigned number) {
  bool counted = block->instructions == 0;
  while (at < block->end) {
    struct asm_line line = asm_line_at(at, block->end);
    const char *name;
    if (!counted && (block->safe ? at == block->safe : asm_mnemonic(&line, &name) > 0)) {
      add_count(out, block, number);
      counted = true;
    }
    asm_note_place(out, &line);
    asm_watch(out, &line, block->end);
    asm_add(out, line.text, line.length);
    at += line.length;
  }
}

char *source_count_instructions(const char *text, size_t length, size_t *out_length) {
  struct asm_out out = {0}, entries = {0};
  const char *end = text + length;
  bool entered = false;
  unsigned number = 0;
  for (const char *at = text; at < end;) {
    struct block block = read_block(at, end, entered);
    entered = block.calls;
    add_block(&out, at, &block, number);
    if (block.instructions > 0)
      add_entry(&entries, &block, number++);
    at = block.end;
  }
  if (number > 0)
    asm_add_text(&out, "\n\t.section\tvinci_blocks,\"aw\",@progbits\n");
  asm_add(&out, entries.bytes, entries.length);
  *out_length = out.length;
  bool full = out.full || entries.full;
  free(entries.bytes);
  if (!full)
    return out.bytes;
  free(out.bytes);
  return NULL;
}
