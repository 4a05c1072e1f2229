/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory that outlives a run: what L2 holds, clean or dirty, stays there for the next run.
 * The tensors of each trace lie where the caller says, so that a kernel finds what one before it
 * has left. L2 writes back only what it throws out: time between two runs changes nothing.
 * What passes comes into L2 when a question or a run needs to know what is there, so that a caller
 * who has all results pays nothing.
 */
#ifndef VINCI_CORE_SIM_KEPT_H
#define VINCI_CORE_SIM_KEPT_H

#include "core/isa/program.h"

struct kept_memory;

/* For one chip and one model of memory. The caller frees the result; soc has to stay. */
VINCI_MUST_CHECK enum vinci_status kept_create(const struct vinci_soc *soc,
                                               enum vinci_memory memory, struct kept_memory **out,
                                               struct vinci_diag *diag);
void kept_free(struct kept_memory *kept);

/* Of a range of device memory, the bytes that L2 holds, in whole granules. */
struct kept_bytes {
  uint64_t valid;
  uint64_t dirty; /* of these */
};
struct kept_bytes kept_find(struct kept_memory *kept, uint64_t address, uint64_t bytes);
/* Reads or writes a range, as a kernel does whose instructions are not known; takes no time. */
void kept_pass(struct kept_memory *kept, uint64_t address, uint64_t bytes, bool write);

/* The same of several ranges side by side, as kernels read and write what belongs together. */
struct kept_range {
  uint64_t address, bytes;
  bool write;
};
void kept_pass_ranges(struct kept_memory *kept, const struct kept_range *ranges, size_t count);

/* Lets memory of the same chip and model hold what another does. */
void kept_copy(struct kept_memory *kept, struct kept_memory *from);
/* Of all that a run on this memory depends on: the chip, the model, and what has passed, run and
 * been cleaned here, in this order. */
uint64_t kept_digest(const struct kept_memory *kept);

/* Of what L2 and the instruction caches hold now, however that came to be: from one state on, the
 * same runs take the same time and leave the same. Looks at all tags: 10 ms. */
uint64_t kept_state(struct kept_memory *kept);

/* Empties the instruction caches, so that the next kernel starts with cold code. */
void kept_drop_code(struct kept_memory *kept);

/* Writes back what is dirty, which stays in L2; takes no time. */
void kept_clean(struct kept_memory *kept);

/* vinci_run() on this memory; l2_start of the options does not count. addresses: of the tensors of
 * the trace, in their order, each a multiple of PROGRAM_TENSOR_ALIGNMENT; NULL: where the trace has
 * them. */
VINCI_MUST_CHECK enum vinci_status kept_run(struct kept_memory *kept,
                                            const struct vinci_trace *trace,
                                            const uint64_t *addresses,
                                            const struct vinci_run_options *options,
                                            struct vinci_result **out, struct vinci_diag *diag);

/* What a run needs of this memory whose events somebody else fires; from now on the memory counts
 * as used by that run, which has to end before the next question or run here. */
struct device_kept;
void kept_lend(struct kept_memory *kept, const struct vinci_trace *trace, const uint64_t *addresses,
               const struct vinci_run_options *options, struct device_kept *out);

/* vinci_run() of options that repeat: the first launch finds an empty L2 and no code but what the
 * options say, each other one what those before have left. */
VINCI_MUST_CHECK enum vinci_status kept_repeat(const struct vinci_soc *soc,
                                               const struct vinci_trace *trace,
                                               const struct vinci_run_options *options,
                                               struct vinci_result **out, struct vinci_diag *diag);

#endif
