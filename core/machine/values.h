/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of the memories, while a run keeps values. Instructions work on them through
 * their STEM_values functions; every range has been checked before (stream_check_access).
 */
#ifndef VINCI_CORE_MACHINE_VALUES_H
#define VINCI_CORE_MACHINE_VALUES_H

#include "core/isa/program.h"

/* Results of vector instructions in registers that scalar code reads. */
struct value_registers {
  uint64_t sum;     /* of the last vcadd: all of its repeats, in the type of that */
  uint64_t extreme; /* of the last vcmax or vcmin: the value, and its lane from bit 32 on */
  uint64_t taken;   /* lanes that the last vreducev2 has taken */
  uint64_t merged;  /* entries that the last vmrgsort4 took of its lists, 16 bits each */
  uint64_t mask[4]; /* of the last comparison of registers: a bit for each byte of a register */
};

/* What one core sees. Little-endian, as the hardware. */
struct value_core {
  uint8_t *bytes[SPACE_COUNT]; /* by space; an operand's address is an offset into the space */
  uint8_t *aiv_ub[2];          /* AIC of a mixed kernel: UB of the AIV of its block */
  uint8_t *aic_l1;             /* AIV of a mixed kernel: L1 of the AIC of its block */
  uint64_t compare_mask[2];    /* CMPMASK of the vector unit: bits of lanes 0..63 and 64..127 */
  struct value_registers *registers; /* NULL: nobody reads them */
};

/* A run with values: device memory, and the buffers of the cores that had a block. */
struct vinci_values {
  const struct vinci_soc *soc;
  const struct vinci_trace *trace;
  uint8_t *gm;
  bool guarded;              /* UB, and device memory that is not lent: guarded.h */
  size_t gm_bytes, ub_bytes; /* of these */
  bool gm_is_lent;
  struct value_core *cores;          /* by machine_step.core */
  struct value_registers *registers; /* of the cores */
  uint32_t core_count;
  struct unknown *unknown; /* what is left out of a run for the time alone; NULL: nothing is */
  bool *is_loaded;         /* by tensor: its values have been given */
  uint32_t *first;         /* by tensor: the first declaration of the same memory */
  bool *is_written;        /* by first declaration: some kernel has it as output */
};

/*
 * As vinci_values_run(), of programs that may do wrong: misuse of flags does not end the run, and
 * an instruction that leaves its memories changes nothing. With `looked_at_afterwards` a check or a
 * run for the time tells of that instruction later; without, this run ends there and tells.
 */
VINCI_MUST_CHECK enum vinci_status
values_run_leniently(struct vinci_values *values, bool looked_at_afterwards,
                     bool (*progress)(void *context, uint64_t instructions, unsigned done_permille),
                     void *context, struct vinci_diag *diag);

/* One instruction at a time, for a caller that knows their order. A block begins on a core: its
 * buffers are there then; step->inst does not count. False when memory is short. */
struct machine_step;
bool values_begin_block(struct vinci_values *values, const struct machine_step *step);
/* An instruction of a core that has begun a block, whose ranges have been checked. */
void values_apply(struct vinci_values *values, uint32_t core, const struct inst *inst);
/* vinci_values_run() in the order of `as`, of whose members order, seed and relaxed count: a
 * program that lacks a flag computes something else in some order (machine.h). */
struct machine_options;
VINCI_MUST_CHECK enum vinci_status values_run_as(struct vinci_values *values,
                                                 const struct machine_options *as,
                                                 struct vinci_diag *diag);

/* What read rows of a core read, once a block has begun there (machine_options.data); values: a
 * struct vinci_values. */
struct stream_data values_stream_data(void *values, uint32_t core);

/* vinci_values_create() on memory of the caller, which outlives the values. With `unknown`, the
 * pages of that memory, instructions are left out as values_unknown.h says; NULL: all are computed.
 */
struct unknown_pages;
VINCI_MUST_CHECK enum vinci_status
values_create_on(const struct vinci_soc *soc, const struct vinci_trace *trace, uint8_t *gm,
                 struct unknown_pages *unknown, struct vinci_values **out, struct vinci_diag *diag);

/* What the tensors of one name are to a run: the first declaration of the name. */
bool values_is_first(const struct vinci_values *values, uint32_t tensor);
bool values_is_input(const struct vinci_values *values, uint32_t tensor);
bool values_is_output(const struct vinci_values *values, uint32_t tensor);
/* The first declaration of a name, with the nearest name as a hint when there is none. */
VINCI_MUST_CHECK enum vinci_status values_find(const struct vinci_values *values, const char *name,
                                               uint32_t *tensor, struct vinci_diag *diag);
static inline uint8_t *values_bytes(const struct vinci_values *values, uint32_t tensor) {
  return values->gm + values->trace->tensors[tensor].address;
}

#endif
