/* SPDX-License-Identifier: Apache-2.0 */
/* The state that the checks of one run share. */
#ifndef VINCI_CORE_CHECK_CHECK_RUN_H
#define VINCI_CORE_CHECK_CHECK_RUN_H

#include "core/check/check.h"
#include "core/check/check_order.h"
#include "core/check/check_shadow.h"
#include "core/machine/values.h"

/* Registers that keep their values from kernel to kernel: check_state.c. */
#define STATE_LIST(X)                                                                              \
  X(MASK, "the vector mask", "set_vector_mask")                                                    \
  X(MODE, "the mode of the vector mask", "set_mask_norm or set_mask_count")                        \
  X(ATOMIC, "the mode of atomic stores", "set_atomic_none")                                        \
  X(QUANT, "the scale of the fixpipe", "set_quant_pre")                                            \
  X(FPC, "the place of the scales of the fixpipe", "set_fpc")                                      \
  X(DEQ, "the scale of conversions from integers", "set_deqscale")                                 \
  X(PAD, "the pad value of copies", "set_mov_pad_val")                                             \
  X(PADDING, "the padding of load3d", "set_padding")                                               \
  X(BOUNDARY, "the boundary of load3d in L1", "set_l1_3d_size")                                    \
  X(CTRL, "the control register", "set_ctrl")

enum { FLAG_IDS_MAX = 32 }; /* as the operand of set_flag */

enum state {
#define X(id, text, setter) STATE_##id,
  STATE_LIST(X)
#undef X
      STATE_COUNT
};

/* Disputed behaviour that the running kernel depends on. */
struct check_dispute {
  struct finding_event first; /* by row */
  uint64_t count;
};

/* Of one kernel after the other. */
struct check_state {
  struct finding_event used[STATE_COUNT]; /* by the kernel, before it has set the state */
  struct finding_event left[STATE_COUNT]; /* who set what a block of the kernel has left changed */
  struct finding_event old[STATE_COUNT];  /* the same of kernels before */
  uint32_t set;                           /* by some block of the kernel */
};

struct check_core {
  struct shadow shadow[SPACE_COUNT]; /* of its own buffers */
  struct order_tag taken;            /* the last vreducev2 of the block, which counts lanes */
  /* check_state.c: what the block has set, and whether that is other than after reset. */
  uint32_t state_set, state_changed;
  struct finding_event setter[STATE_COUNT];
  uint8_t flags_out[PIPE_COUNT][FLAG_IDS_MAX]; /* check_disputed.c: bits of pipes that wait */
};

/* Whether what it touches depends on mask and mode. */
enum mask_use { USE_UNKNOWN, USE_NONE = 1, USE_LANES = 2, USE_MODE = 4 };

/* What the checks must know of a tensor of the running kernel. */
struct check_tensor {
  struct shadow shadow; /* has pages for those that some kernel writes or that start empty */
  bool has_shadow;
  bool written_here;   /* by the running kernel */
  bool written_so_far; /* by the running kernel or an earlier kernel */
  bool starts_written; /* in, inout */
  bool raced;          /* some bytes of it, in the first walk */
};

struct check_run {
  const struct vinci_soc *soc;
  const struct vinci_trace *trace;
  struct vinci_findings *findings;
  struct arena arena;
  unsigned checks;
  bool (*progress)(void *context, uint64_t instructions, unsigned done_permille);
  void *progress_context;
  uint64_t walk_order_seed;
  bool uses_shadow;
  bool exact;        /* the second walk */
  bool ub_raced;     /* as of tensors */
  bool ub_is_shared; /* another core writes there */
  struct shadow_pool pool;
  bool pool_was_full;
  struct order *order;
  struct value_core *marks;     /* check_flow.c; by space, NULL until needed */
  struct placement placement;   /* core counts only */
  struct check_core *cores;     /* placement.core_count of them */
  struct check_tensor *tensors; /* by index in the trace, of the first that is this memory */
  uint32_t *memory;             /* by tensor: that index */
  uint32_t *first_named;        /* by row, in trace->named; one more at the end */
  int8_t unit_flag_arg[OP_COUNT], m_arg[OP_COUNT], n_arg[OP_COUNT], window_arg[OP_COUNT];
  int8_t square_arg[OP_COUNT];
  uint8_t mask_use[OP_COUNT]; /* enum mask_use, several added */
  struct check_state state;
  struct check_dispute dispute[DISPUTED_COUNT];
  struct pads_interval *pads; /* check_pads.c */
  size_t pads_count, pads_capacity;
  struct check_cache *cache; /* check_cache.c; NULL: no code has caches */
  uint32_t kernel;
  bool kernel_begun;
  uint64_t serial; /* of the present instruction */
};

static inline bool check_wants(const struct check_run *run, unsigned check) {
  return (run->checks & check) != 0;
}

/* The instruction of a step, or of a tag, as it is reported. */
struct finding_event check_event(const struct check_run *run, const struct machine_step *step,
                                 bool write);
struct finding_event check_event_of_tag(const struct check_run *run, struct order_tag tag,
                                        bool write);
/* A finding whose later event is the present step. */
struct check_finding check_finding_of(const struct check_run *run, enum finding_kind kind,
                                      const struct machine_step *step);

/* check_memory.c: false when the range is not one that can be looked up. */
bool check_memory(struct check_run *run, const struct machine_step *step,
                  const struct inst_access *access);
/* Whether a range lies in its memory, without a word. */
bool check_holds(const struct check_run *run, const struct machine_step *step,
                 const struct inst_access *access);
/* Rows of one write that overlap; the access lies in its memory. */
void check_rows(struct check_run *run, const struct machine_step *step,
                const struct inst_access *access);
/* The tensor a range of GM begins in; trace->tensor_count when there is none. */
uint32_t check_find_tensor(const struct check_run *run, const struct program_kernel *kernel,
                           int64_t address);
/* Which tensors the running kernel writes. */
void check_note_writers(struct check_run *run);

/* check_race.c: order of accesses, and reads of what nobody wrote. inside: all accesses stay in
 * their memories. */
void check_accesses(struct check_run *run, const struct machine_step *step,
                    const struct inst_access *access, unsigned count, bool inside);
/* The same of scalar code, of a range or of the bytes of a line that a mask names (0: all). */
void check_scalar_bytes(struct check_run *run, const struct machine_step *step,
                        const struct inst_access *access, uint64_t mask);
/* Takes the next contiguous bytes out of a mask. */
static inline unsigned check_next_bytes(uint64_t *rest, unsigned *first) {
  *first = (unsigned)__builtin_ctzll(*rest);
  uint64_t behind = ~(*rest >> *first);
  unsigned count = behind ? (unsigned)__builtin_ctzll(behind) : 64;
  *rest &= *first + count < 64 ? UINT64_MAX << (*first + count) : 0;
  return count;
}
bool check_create_shadows(struct check_run *run);
void check_begin_kernel_shadows(struct check_run *run);
void check_begin_block_shadows(struct check_run *run, const struct machine_step *step);
void check_free_shadows(struct check_run *run);

/* check_read.c: read rows, of a word of UB or GM and of the register that vreducev2 counts lanes
 * in. */
void check_word_read(struct check_run *run, const struct machine_step *step);
/* The same with an access of scalar code of a compiled kernel. */
void check_scalar_access(struct check_run *run, const struct machine_step *step);
void check_taken_read(struct check_run *run, const struct machine_step *step);
void check_taken_write(struct check_run *run, const struct machine_step *step); /* a vreducev2 */
void check_begin_block_reads(struct check_run *run, uint32_t core);

/* check_cache.c: lines of the scalar unit's data caches. */
bool check_cache_create(struct check_run *run);
void check_cache_free(struct check_run *run);
void check_cache_begin_block(struct check_run *run, uint32_t core);
void check_cache_scalar(struct check_run *run, const struct machine_step *step);
void check_cache_clean(struct check_run *run, const struct machine_step *step);
/* What an instruction reads or writes of device memory. */
void check_cache_transfer(struct check_run *run, const struct machine_step *step,
                          const struct inst_access *access);

/* check_state.c: what kernels before have left in registers. */
void check_state_begin_block(struct check_run *run, uint32_t core);
void check_state_step(struct check_run *run, const struct machine_step *step);
void check_state_end_block(struct check_run *run, uint32_t core);
void check_state_end_kernel(struct check_run *run);

/* check_disputed.c: behaviour that boards are said to differ in. */
void check_disputed_step(struct check_run *run, const struct machine_step *step);
void check_disputed_end_kernel(struct check_run *run);

/* check_sync.c */
void check_sync_step(struct check_run *run, const struct machine_step *step,
                     const struct order_flag_use *use);
void check_sync_misuse(struct check_run *run, const struct machine_step *step,
                       const struct misuse *misuse);
void check_sync_end_block(struct check_run *run, const struct machine_step *step);
/* Signals of the core's last block that nobody took. */
void check_sync_signals(struct check_run *run, uint32_t core);
void check_sync_deadlock(struct check_run *run, const struct vinci_diag *diag);

#endif
