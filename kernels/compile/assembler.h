/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of assembler text (x86-64, as clang writes it), and what is added to them. */
#ifndef VINCI_KERNELS_COMPILE_ASSEMBLER_H
#define VINCI_KERNELS_COMPILE_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>

struct asm_out {
  char *bytes;
  size_t length, capacity;
  bool full;
  bool passes;        /* the next access passes the cache: a wait through memory (control.h) */
  unsigned alignment; /* of what the source accesses here, as a power of two (align.c) */
};
void asm_add(struct asm_out *out, const char *text, size_t length);
void asm_add_text(struct asm_out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct asm_line {
  const char *text;
  size_t length; /* with its end */
};
struct asm_line asm_line_at(const char *at, const char *end);
/* The name of the instruction of a line; empty: a directive, a label, a comment. */
size_t asm_mnemonic(const struct asm_line *line, const char **name);
/* Whether a name begins so. */
bool asm_is(const char *name, size_t length, const char *stem);
/* Sets all flags and reads none. */
bool asm_sets_flags(const char *name, size_t length);

/* ---- accesses of scalar code (access.c) ---- */
/* Operands of a line in UB: of segment GS. */
unsigned asm_ub_accesses(const struct asm_line *line);
/* What the simulator finds behind the call that tells of an access: an instruction without effect
 * that holds these bits, and the number of bytes. */
enum {
  ASM_BYTES = 0xff,
  ASM_WRITES = 0x100,
  ASM_READS = 0x200,
  ASM_UB = 0x400,
  ASM_COUNT_IN_RDX = 0x800, /* the number of bytes is in a register */
  ASM_TOLD = 0x1000,        /* always */
  ASM_PASSES = 0x2000,      /* the cache */
  ASM_ALIGNMENT = 0x10000   /* times the power of two that the source promises */
};
enum { ASM_ALIGNMENTS = 7 };
/* Adds before a line what counts its accesses to device memory and tells of all; `end`: that of its
 * block. */
void asm_watch(struct asm_out *out, const struct asm_line *line, const char *end);

/* Takes note of the alignment that a line with a place of the source is marked with (align.c). */
void asm_note_place(struct asm_out *out, const struct asm_line *line);

#endif
