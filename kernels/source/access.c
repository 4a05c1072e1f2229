/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the accesses of scalar code to device memory and to UB, which no check looks at. UB is
 * what segment GS holds, so the text tells. Device memory lies in the memory of the process: an
 * operand that is not on the stack and not a variable gets an addition that compares its address
 * with the range of device memory, in vinci_cce_watch (include/vinci/cce/kernel.h). Calls that move
 * memory are looked at by their arguments.
 *
 * An access counts once, however many bytes it has: the compiler may join neighbours.
 */
#include <ctype.h>
#include <string.h>

#include "kernels/source/assembler.h"

/* An operand in memory: "-8(%rax,%rcx,4)". */
struct operand {
  const char *text;
  size_t length;
  bool ub;
};

static bool has(const char *text, size_t length, const char *word) {
  return memmem(text, length, word, strlen(word)) != NULL;
}

/* Instructions with an operand that they do not access, or that is no data. */
static bool accesses_nothing(const char *name, size_t length) {
  return asm_is(name, length, "lea") || asm_is(name, length, "nop") ||
         asm_is(name, length, "prefetch") || asm_is(name, length, "call") ||
         asm_is(name, length, "j");
}

/* The next operand in memory of a line, from *at on. */
static bool next_operand(const char **at, const char *end, struct operand *out) {
  const char *open = memchr(*at, '(', (size_t)(end - *at));
  const char *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
  if (!close)
    return false;
  const char *start = open;
  while (start > *at && (isalnum((unsigned char)start[-1]) || strchr("_.$@+-", start[-1])))
    start--;
  enum { SEGMENT = 4 /* "%gs:" */ };
  out->ub = start - *at >= SEGMENT && memcmp(start - SEGMENT, "%gs:", SEGMENT) == 0;
  out->text = start;
  out->length = (size_t)(close + 1 - start);
  *at = close + 1;
  return true;
}

/* Without the comment at its end. */
static const char *end_of(const struct asm_line *line) {
  const char *comment = memchr(line->text, '#', line->length);
  return comment ? comment : line->text + line->length;
}

unsigned asm_ub_accesses(const struct asm_line *line) {
  const char *name, *end = end_of(line);
  size_t length = asm_mnemonic(line, &name);
  unsigned count = 0;
  if (length == 0 || accesses_nothing(name, length))
    return 0;
  for (const char *at = name; (size_t)(end - at) > 4; at++) /* also "%gs:64", without brackets */
    count += memcmp(at, "%gs:", 4) == 0;
  return count;
}

/* Whether anybody reads the flags that are set before a line: found out as far as its block goes.
 */
static bool flags_matter(const char *at, const char *end) {
  static const char *const readers[] = {"cmov", "set", "adc", "sbb", "rcl", "rcr", "pushf", "lahf"};
  while (at < end) {
    struct asm_line line = asm_line_at(at, end);
    const char *name;
    size_t length = asm_mnemonic(&line, &name);
    at += line.length;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
      if (asm_is(name, length, readers[i]))
        return true;
    if (length > 0 && (asm_sets_flags(name, length) || asm_is(name, length, "ret") ||
                       asm_is(name, length, "call")))
      return false;
  }
  return true;
}

/* The members of vinci_cce_watch. */
enum { GM = 0, BYTES = 8, ACCESSES = 16, KEPT = 32, FLAGS = 40 };
#define WATCH "vinci_cce_watch+%d(%%rip)"

/* Counts an address when it is one of device memory: the comparison leaves a carry. */
static void add_comparison(struct asm_out *out, const struct operand *operand, bool keep_flags) {
  asm_add_text(out, "\tmovq\t%%rax, " WATCH "\n", KEPT);
  if (keep_flags) /* sahf does not know the overflow: an addition brings that back */
    asm_add_text(out, "\tlahf\n\tseto\t%%al\n\tmovq\t%%rax, " WATCH "\n\tmovq\t" WATCH ", %%rax\n",
                 FLAGS, KEPT);
  asm_add_text(out, "\tleaq\t%.*s, %%rax\n", (int)operand->length, operand->text);
  asm_add_text(out, "\tsubq\t" WATCH ", %%rax\n\tcmpq\t" WATCH ", %%rax\n\tadcq\t$0, " WATCH "\n",
               GM, BYTES, ACCESSES);
  if (keep_flags)
    asm_add_text(out, "\tmovq\t" WATCH ", %%rax\n\taddb\t$127, %%al\n\tsahf\n", FLAGS);
  asm_add_text(out, "\tmovq\t" WATCH ", %%rax\n", KEPT);
}

/* Functions of the C library that scalar code calls to move memory, by their arguments. */
static void watch_call(struct asm_out *out, const char *text, size_t length) {
  static const struct {
    const char *name;
    const char *operand[2];
  } calls[] = {{"memcpy", {"(%rdi)", "(%rsi)"}},
               {"memmove", {"(%rdi)", "(%rsi)"}},
               {"memcmp", {"(%rdi)", "(%rsi)"}},
               {"memset", {"(%rdi)", NULL}}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    char called[2][16] = {"", ""};
    called[0][0] = '\t';
    called[1][0] = '*';
    strcat(called[0], calls[i].name);
    strcat(called[1], calls[i].name);
    if (!has(text, length, called[0]) && !has(text, length, called[1]))
      continue;
    for (unsigned k = 0; k < 2 && calls[i].operand[k]; k++) {
      const struct operand operand = {.text = calls[i].operand[k],
                                      .length = strlen(calls[i].operand[k])};
      add_comparison(out, &operand, false);
    }
  }
}

void asm_watch(struct asm_out *out, const struct asm_line *line, const char *end) {
  static const char *const own[] = {"%rsp", "%rip", "mm"}; /* stack, variables; gathers */
  const char *name, *stop = end_of(line);
  size_t length = asm_mnemonic(line, &name);
  struct operand operand;
  if (asm_is(name, length, "call") || asm_is(name, length, "jmp"))
    watch_call(out, name, (size_t)(stop - name));
  if (length == 0 || accesses_nothing(name, length))
    return;
  bool keep_flags = flags_matter(line->text, end);
  for (const char *at = name; next_operand(&at, stop, &operand);) {
    bool skip = operand.ub;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
      skip |= has(operand.text, operand.length, own[i]);
    if (!skip)
      add_comparison(out, &operand, keep_flags);
  }
}
