/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the accesses of scalar code to device memory and to UB, and lets the simulator take them
 * down for checks (told.c). UB is what segment GS holds, so the text tells. Device memory lies in
 * the memory of the process: an operand that is not on the stack and not a variable gets an
 * addition that compares its address with the range of device memory, in vinci_cce_watch
 * (include/vinci/cce/issue.h). Calls that move memory are looked at by their arguments.
 *
 * An access counts once, however many bytes it has: the compiler may join neighbours.
 */
#include <ctype.h>
#include <string.h>

#include "kernels/compile/assembler.h"

/* An operand in memory: "-8(%rax,%rcx,4)". */
struct operand {
  const char *text;
  size_t length;
  bool ub, last;
};

static bool has(const char *text, size_t length, const char *word) {
  return memmem(text, length, word, strlen(word)) != NULL;
}

/* "rep;movsq (%rsi), %es:(%rdi)": how many bytes go at a time, and whether there is a source; 0:
 * another instruction. */
static unsigned repeated_bytes(const char *name, size_t length, bool *reads) {
  static const char letters[] = "bwlq";
  const char *moves = memmem(name, length, "movs", 4), *stores = memmem(name, length, "stos", 4);
  const char *found = moves ? moves : stores;
  const char *letter =
      found && found + 4 < name + length && found[4] != '\0' ? strchr(letters, found[4]) : NULL;
  *reads = moves != NULL;
  return asm_is(name, length, "rep") && letter ? 1u << (letter - letters) : 0;
}

/* Instructions with an operand that they do not access, or that is no data. */
static bool accesses_nothing(const char *name, size_t length) {
  return asm_is(name, length, "lea") || asm_is(name, length, "nop") ||
         asm_is(name, length, "prefetch") || asm_is(name, length, "call") ||
         asm_is(name, length, "j");
}

/* Whether brackets belong to a register of the old unit for real numbers: "%st(1)". */
static bool is_register(const char *start, const char *open) {
  enum { NAME = 3 };
  return open - start >= NAME && memcmp(open - NAME, "%st", NAME) == 0;
}

/* The next operand in memory of a line, from *at on: behind a comma outside of brackets. */
static bool next_operand(const char **at, const char *end, struct operand *out) {
  while (*at < end) {
    const char *start = *at, *stop = start;
    for (bool inside = false; stop < end && (inside || *stop != ','); stop++)
      inside = *stop == '(' || (inside && *stop != ')');
    *at = stop < end ? stop + 1 : end;
    while (start < stop && isspace((unsigned char)*start))
      start++;
    while (stop > start && isspace((unsigned char)stop[-1]))
      stop--;
    enum { SEGMENT = 4 /* "%gs:" */ };
    size_t length = (size_t)(stop - start);
    out->ub = length > SEGMENT && memcmp(start, "%gs:", SEGMENT) == 0;
    out->text = start + (out->ub ? SEGMENT : 0);
    out->length = length - (out->ub ? SEGMENT : 0);
    out->last = *at == end;
    const char *open = memchr(start, '(', length);
    if (!out->ub && (!open || is_register(start, open)))
      continue;
    while (!out->ub && open > start &&
           (isalnum((unsigned char)open[-1]) || strchr("_.$@+-", open[-1])))
      open--;
    if (!out->ub) { /* without "%es:" */
      out->text = open;
      out->length = (size_t)(stop - open);
    }
    return true;
  }
  return false;
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

/* ---- what an operand is for ---- */

static bool begins(const char *name, size_t length, const char *const *stems, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (asm_is(name, length, stems[i]))
      return true;
  return false;
}
#define BEGINS(name, length, ...)                                                                  \
  begins(name, length, (const char *const[]){__VA_ARGS__},                                         \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* The bytes that a letter at the end of a name stands for; 0: none. */
static unsigned letter_bytes(char letter) {
  static const char letters[] = "bwlq";
  const char *found = letter ? strchr(letters, letter) : NULL;
  return found ? 1u << (found - letters) : 0;
}

static bool ends(const char *name, size_t length, const char *end) {
  return length >= strlen(end) && memcmp(name + length - strlen(end), end, strlen(end)) == 0;
}

/* Of an instruction on the registers of vectors. */
static unsigned vector_bytes(const char *name, size_t length) {
  enum { WORD = 4, DOUBLE = 8, WHOLE = 16 };
  if (BEGINS(name, length, "cvtsi2"))
    return letter_bytes(name[length - 1]) == DOUBLE ? DOUBLE : WORD;
  if (BEGINS(name, length, "cvtss", "cvttss", "movd", "ucomiss", "comiss"))
    return asm_is(name, length, "movdq") ? WHOLE : WORD;
  if (BEGINS(name, length, "cvtsd", "cvttsd", "movq", "movlp", "movhp", "cvtps2pd", "cvtdq2pd"))
    return DOUBLE;
  if (BEGINS(name, length, "pinsrw", "pextrw"))
    return 2;
  return ends(name, length, "ss") ? WORD : ends(name, length, "sd") ? DOUBLE : WHOLE;
}

/* The bytes of an operand in memory; 0: not known. */
static unsigned operand_bytes(const char *name, size_t length, bool vectors) {
  if (BEGINS(name, length, "rep", "lock", "f", "scas", "stos", "lods", "cmps"))
    return 0;
  if (vectors || BEGINS(name, length, "cvt"))
    return vector_bytes(name, length);
  if (BEGINS(name, length, "set"))
    return 1;
  enum { NARROW = 6 /* "movzbl": its fourth letter */ };
  if (length == NARROW && BEGINS(name, length, "movz", "movs"))
    return letter_bytes(name[4]);
  return letter_bytes(name[length - 1]);
}

/* What is told of an access: its bytes, and the rest (include/vinci/cce/issue.h has who is told).
 */
static unsigned access_word(const char *name, size_t length, const struct operand *operand,
                            bool vectors, unsigned alignment) {
  unsigned bytes = operand_bytes(name, length, vectors);
  bool writes = operand->last && !BEGINS(name, length, "cmp", "test", "ucom", "com", "push", "mul",
                                         "div", "idiv", "imul", "bt");
  if (asm_is(name, length, "cmpxchg"))
    writes = true;
  bool plain = writes && BEGINS(name, length, "mov", "set", "pop", "pextr");
  if (bytes == 0)
    return 0;
  return ASM_TOLD | bytes | (writes ? ASM_WRITES : 0) | (plain ? 0 : ASM_READS) |
         (operand->ub ? ASM_UB : 0) | ASM_ALIGNMENT * (alignment & ASM_ALIGNMENTS);
}

/* ---- additions ---- */

/* The members of vinci_cce_watch. */
enum { GM = 0, BYTES = 8, ACCESSES = 16, KEPT = 32, FLAGS = 40, TAKE_GM = 48, TAKE_UB = 56 };
#define WATCH "vinci_cce_watch+%d(%%rip)"
/* A label that no other text uses. */
#define LABEL "7310"

/* The address in rax goes to the simulator. What the stack holds below its end stays. */
static void add_call(struct asm_out *out, int function, unsigned word) {
  asm_add_text(out,
               "\tpushq\t%%rcx\n\tleaq\tvinci_cce_watch(%%rip), %%rcx\n\tcallq\t*%d(%%rcx)\n"
               "\tnopl\t%u(%%rax)\n\tpopq\t%%rcx\n",
               function, word);
}

/* Counts an address when it is one of device memory: the comparison leaves a carry. */
static void add_comparison(struct asm_out *out, const struct operand *operand, unsigned word,
                           bool keep_flags) {
  asm_add_text(out, "\tmovq\t%%rax, " WATCH "\n", KEPT);
  if (keep_flags) /* sahf does not know the overflow: an addition brings that back */
    asm_add_text(out, "\tlahf\n\tseto\t%%al\n\tmovq\t%%rax, " WATCH "\n\tmovq\t" WATCH ", %%rax\n",
                 FLAGS, KEPT);
  asm_add_text(out, "\tleaq\t%.*s, %%rax\n", (int)operand->length, operand->text);
  asm_add_text(out, "\tsubq\t" WATCH ", %%rax\n\tcmpq\t" WATCH ", %%rax\n\tadcq\t$0, " WATCH "\n",
               GM, BYTES, ACCESSES);
  if (word != 0) {
    asm_add_text(out, "\tcmpq\t$0, " WATCH "\n\tje\t" LABEL "f\n\tleaq\t-128(%%rsp), %%rsp\n",
                 TAKE_GM);
    add_call(out, TAKE_GM, word);
    asm_add_text(out, "\tleaq\t128(%%rsp), %%rsp\n" LABEL ":\n");
  }
  if (keep_flags)
    asm_add_text(out, "\tmovq\t" WATCH ", %%rax\n\taddb\t$127, %%al\n\tsahf\n", FLAGS);
  asm_add_text(out, "\tmovq\t" WATCH ", %%rax\n", KEPT);
}

/* Tells of an address of UB, when somebody wants to know. */
static void add_telling(struct asm_out *out, const struct operand *operand, unsigned word,
                        bool keep_flags) {
  if (keep_flags) /* a jump that reads none, and a register for the jump */
    asm_add_text(out,
                 "\tmovq\t%%rcx, " WATCH "\n\tmovq\t" WATCH ", %%rcx\n\tjrcxz\t" LABEL
                 "f\n\tmovq\t" WATCH ", %%rcx\n\tleaq\t-128(%%rsp), %%rsp\n\tpushfq\n",
                 KEPT, TAKE_UB, KEPT);
  else
    asm_add_text(out, "\tcmpq\t$0, " WATCH "\n\tje\t" LABEL "f\n\tleaq\t-128(%%rsp), %%rsp\n",
                 TAKE_UB);
  asm_add_text(out, "\tpushq\t%%rax\n\tleaq\t%.*s, %%rax\n", (int)operand->length, operand->text);
  add_call(out, TAKE_UB, word);
  asm_add_text(out, "\tpopq\t%%rax\n%s\tleaq\t128(%%rsp), %%rsp\n" LABEL ":\n",
               keep_flags ? "\tpopfq\n" : "");
  if (keep_flags)
    asm_add_text(out, "\tmovq\t" WATCH ", %%rcx\n", KEPT);
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
  enum { COMPARES = 2 };
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
      bool writes = k == 0 && i != COMPARES;
      add_comparison(out, &operand, ASM_TOLD | ASM_COUNT_IN_RDX | (writes ? ASM_WRITES : ASM_READS),
                     false);
    }
  }
}

/* Like calls that move memory, with what is left of the count. */
static void watch_repeated(struct asm_out *out, unsigned bytes, bool reads, bool keep_flags) {
  static const struct operand to = {.text = "(%rdi)", .length = 6};
  static const struct operand from = {.text = "(%rsi)", .length = 6};
  asm_add_text(out, "\tleaq\t-128(%%rsp), %%rsp\n\tpushq\t%%rdx\n\tleaq\t(,%%rcx,%u), %%rdx\n",
               bytes);
  if (reads)
    add_comparison(out, &from, ASM_TOLD | ASM_COUNT_IN_RDX | ASM_READS, keep_flags);
  add_comparison(out, &to, ASM_TOLD | ASM_COUNT_IN_RDX | ASM_WRITES, keep_flags);
  asm_add_text(out, "\tpopq\t%%rdx\n\tleaq\t128(%%rsp), %%rsp\n");
}

void asm_watch(struct asm_out *out, const struct asm_line *line, const char *end) {
  static const char *const own[] = {"%rsp", "%rip", "mm"}; /* stack, variables; gathers */
  const char *name, *stop = end_of(line);
  size_t length = asm_mnemonic(line, &name);
  struct operand operand;
  out->passes |= has(line->text, line->length, "vinci_cce_passes");
  if (asm_is(name, length, "call") || asm_is(name, length, "jmp"))
    watch_call(out, name, (size_t)(stop - name));
  if (length == 0 || accesses_nothing(name, length))
    return;
  bool reads, keep_flags = flags_matter(line->text, end);
  unsigned repeated = repeated_bytes(name, (size_t)(stop - name), &reads);
  if (repeated > 0) {
    watch_repeated(out, repeated, reads, keep_flags);
    return;
  }
  bool vectors = has(name, (size_t)(stop - name), "mm");
  for (const char *at = name + length; next_operand(&at, stop, &operand);) {
    bool skip = false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
      skip |= has(operand.text, operand.length, own[i]);
    unsigned word = access_word(name, length, &operand, vectors, out->alignment);
    if (skip)
      continue;
    if (word != 0 && out->passes)
      word |= ASM_PASSES;
    out->passes = false;
    if (!operand.ub)
      add_comparison(out, &operand, word, keep_flags);
    else if (word != 0)
      add_telling(out, &operand, word, keep_flags);
  }
}
