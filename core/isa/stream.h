/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Execution of one stream of a trace: loops, lets and operand evaluation. Gives
 * the scalar unit one instruction after the other, with every operand checked
 * against the instruction table, and every range it touches against the buffers
 * and tensors. Holds no copy of the program; its memory is a few words per variable.
 */
#ifndef VINCI_CORE_ISA_STREAM_H
#define VINCI_CORE_ISA_STREAM_H

#include "core/isa/known.h"
#include "core/isa/program.h"
#include "core/isa/source.h"

/* With values, what read rows read. */
struct stream_data {
  const uint8_t *gm;           /* NULL: no values, rows take what they say */
  const uint8_t *ub;           /* NULL: the core has none */
  const uint64_t *lanes_taken; /* by the last vreducev2 */
};

/* Who wants to hear of read rows. */
struct stream_listener {
  void (*heard)(void *context, const struct program_row *row, int64_t from); /* NULL: nobody */
  void (*accessed)(void *context, const struct inst *inst); /* scalar code: OP_SCALAR_... */
  void *context;
};

struct stream {
  const struct vinci_soc *soc;
  const struct vinci_trace *trace;
  const struct program_kernel *kernel;
  const struct program_stream *program;
  uint32_t core; /* that executes */
  uint64_t row;  /* next */
  uint64_t end;
  uint64_t turns;          /* rows that are no instructions, so far */
  uint32_t tensor_hint;    /* where the last GM range was found */
  bool unchecked_ranges;   /* whoever executes looks at them */
  bool in_function;        /* behind vf_begin: register instructions up to vf_call */
  struct known *known;     /* instructions that were checked before; NULL: not kept */
  struct stream_data data; /* set after stream_start() */
  struct stream_listener listener;
  int64_t *variables;
  int64_t *loop_count; /* by loop variable */
};

/* Makes room for the largest stream of a kernel kind; var_count of the trace's largest. */
bool stream_create(struct stream *stream, struct arena *arena, uint32_t core, uint32_t var_count);
/* Starts a block. sub is the AIV's index in a mixed block, else 0. */
void stream_start(struct stream *stream, const struct vinci_soc *soc,
                  const struct vinci_trace *trace, const struct program_kernel *kernel,
                  enum core_kind kind, uint32_t blk, uint32_t sub);
/* Evaluates the next instruction into *inst (all but mask and registers). */
enum stream_step stream_next(struct stream *stream, struct inst *inst, struct vinci_diag *diag);
/* The same with the checks of stream_check_access; with unchecked_ranges only that of elements. */
enum stream_step stream_load(struct stream *stream, struct inst *inst, struct vinci_diag *diag);
/* Whether what the instruction reads or writes at a GM address passes L2. */
bool stream_passes_l2(const struct stream *stream, const struct inst *inst, uint64_t address);
/* Checks all ranges that the instruction touches (inst->mask must be set), and that a vector
 * instruction in counter mode has no more elements than UB has bytes. */
enum vinci_status stream_check_access(struct stream *stream, const struct inst *inst,
                                      struct vinci_diag *diag);

#endif
