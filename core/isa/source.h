/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is no list of rows but code that computes its instructions as it runs: a kernel
 * compiled for the host (kernels/source). Streams ask the source for one instruction after the
 * other. Rows are the places in the code that issue instructions; they are found as they are met.
 */
#ifndef VINCI_CORE_ISA_SOURCE_H
#define VINCI_CORE_ISA_SOURCE_H

#include "core/isa/inst.h"

/* STREAM_LATER: the code looks again and again at memory that others may write, and has to be asked
 * once these have gone on. */
enum stream_step { STREAM_INST, STREAM_END, STREAM_ERROR, STREAM_LATER };

struct vinci_values;

/* A core and the block that it executes. */
struct source_place {
  uint32_t core; /* numbered as in struct placement */
  enum core_kind kind;
  uint32_t blk;
  uint32_t sub;
};

/* Accesses of scalar code: of all blocks together. */
struct program_scalar {
  bool uncounted; /* the code was compiled without counting */
  bool checked;   /* checks look at them */
  uint64_t gm, ub;
};

/* An operand that does not fit its field in the instruction: the core takes the low bits. */
struct program_cut {
  uint32_t row, block; /* of the first time */
  uint8_t arg, bits, core_kind, sub;
  int64_t value, taken;
  uint64_t count;
};
/* "operand "src_gap" of copy_gm_to_cbuf is 65664, its field has 16 bits: the core takes 128". */
void program_cut_text(const struct program_cut *cut, enum isa_op op, char *out, size_t size);

struct program_source;
/* Whether code of the program waits for other cores through memory, as far as that is seen. */
bool program_waits_in_memory(const struct program_source *source);

/* Says what the checks leave out of the kernel: "3 scalar accesses not checked (...)"; empty when
 * that is nothing. */
enum { PROGRAM_SCALAR_BYTES = 256 };
void program_scalar_text(const struct program_scalar *scalar, const char *kernel, char *out,
                         size_t size);

struct program_source {
  /* Begins a block; what the core's block before left is forgotten. */
  void (*start)(struct program_source *source, const struct source_place *place);
  /* Fills op, row, line and operands of the core's next instruction. */
  enum stream_step (*next)(struct program_source *source, uint32_t core, struct inst *inst,
                           struct vinci_diag *diag);
  void (*free)(struct program_source *source);
  /* The compiler of the chip would put in the waits between scalar code and pipes, and barriers of
   * the vector unit (--cce-auto-sync, which is on for programs with launches). So each instruction
   * that waits for no flag is over before the code goes on, and vector instructions follow each
   * other. */
  bool auto_sync;
  /* Scalar code has waited for other cores through memory. Time is not known while code is
   * executed, so these waits are in no run. */
  bool polls;
  /* Scalar code reads past its cache (ld_dev), or is that of a library, as code is that waits for
   * other cores. */
  bool passes;
  /* The code has functions of threads, which the code executes itself, or reads masks of vector
   * functions: values then come in the order of the code too. */
  bool in_order;
  /* The code has accessed what is not there, and was not executed any further. */
  bool stopped;
  /* What scalar code has read and written itself when the code was executed. */
  struct program_scalar scalar;
  /* Operands that were wider than their fields, each place and operand once. */
  const struct program_cut *cuts;
  uint32_t cut_count;
  /* What the code may read while it runs; NULL: nothing that instructions have written. */
  struct vinci_values *values;
};

#endif
