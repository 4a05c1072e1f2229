/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of a program: what they find, and how it is kept. A finding is what one row did, or
 * two rows did to each other; that loops, blocks and kernels repeat it only raises its count.
 */
#ifndef VINCI_CORE_CHECK_CHECK_H
#define VINCI_CORE_CHECK_CHECK_H

#include "core/base/arena.h"
#include "core/base/lookup.h"
#include "core/isa/source.h"
#include "core/machine/machine.h"

/* Kinds of findings: id, the check it belongs to, key in check.json, first words of the report. */
#define FINDING_LIST(X)                                                                            \
  X(ILLEGAL_READ, MEMCHECK, "illegal_read", "illegal read")                                        \
  X(ILLEGAL_WRITE, MEMCHECK, "illegal_write", "illegal write")                                     \
  X(WRONG_SPACE, MEMCHECK, "wrong_space", "address of another memory")                             \
  X(MISALIGNED, MEMCHECK, "misaligned", "misaligned access")                                       \
  X(WRITE_TO_INPUT, MEMCHECK, "write_to_input", "illegal write to an input")                       \
  X(READ_OF_OUTPUT, MEMCHECK, "read_of_output", "illegal read of an output that nothing writes")   \
  X(OVERLAP, MEMCHECK, "overlap", "out of bounds, blocks write the same memory,")                  \
  X(OVERLAPPING_ROWS, MEMCHECK, "overlapping_rows", "overlapping rows of one write")               \
  X(ATOMIC_TYPE, MEMCHECK, "atomic_type", "atomic store of another type than the tensor's")        \
  X(OPERAND_CUT, MEMCHECK, "operand_cut", "operand wider than its field")                          \
  X(RAW, RACECHECK, "raw", "Potential RAW hazard detected")                                        \
  X(WAR, RACECHECK, "war", "Potential WAR hazard detected")                                        \
  X(WAW, RACECHECK, "waw", "Potential WAW hazard detected")                                        \
  X(STALE_LINE, RACECHECK, "stale_line", "scalar load of an old line of the data cache")           \
  X(UNSEEN_STORE, RACECHECK, "unseen_store", "read of a store that is still in a data cache")      \
  X(SHARED_LINE, RACECHECK, "shared_line", "one line of data caches with stores of several cores") \
  X(UNINITIALIZED, INITCHECK, "uninitialized_read", "uninitialized read")                          \
  X(PADS, INITCHECK, "lanes_without_value", "use of lanes behind the data of a copy")              \
  X(FLAG_LEFT, SYNCCHECK, "unpaired_set_flag", "Unpaired set_flag instructions detected")          \
  X(FLAG_TWICE, SYNCCHECK, "redundant_set_flag", "Redundant set_flag instructions detected")       \
  X(CROSS_MODE, SYNCCHECK, "cross_core_mode", "Cross-core flag in a mode without meaning")         \
  X(CROSS_LIMIT, SYNCCHECK, "cross_core_limit", "Too many cross-core flags outstanding")           \
  X(CROSS_LEFT, SYNCCHECK, "unpaired_cross_core", "Unpaired cross-core flags detected")            \
  X(SYNC_ALL, SYNCCHECK, "sync_all_blocks", "Hardware SyncAll does not match the blocks")          \
  X(DEADLOCK, SYNCCHECK, "deadlock", "Deadlock detected")                                          \
  X(STATE, INITCHECK, "state_never_set", "state that the kernel never set")                        \
  X(STATE_LEFT, INITCHECK, "state_left", "state left for the next kernel")                         \
  X(DISPUTED, ALL, "undefined_on_some_boards", "undefined on some boards")

enum finding_kind {
#define X(id, check, key, text) FINDING_##id,
  FINDING_LIST(X)
#undef X
      FINDING_KINDS
};

/* Only errors change what a check ends with. */
enum finding_level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_NOTE };

/* Behaviour of the hardware that is in dispute: core/check/disputed.def. */
enum disputed {
#define DISPUTED(id, name, level, check, vendor, boards, vinci, source) DISPUTED_##id,
#include "core/check/disputed.def"
#undef DISPUTED
  DISPUTED_COUNT
};

/* An instruction that takes part. */
struct finding_event {
  uint32_t row;
  uint32_t line;
  uint16_t op;
  uint8_t pipe; /* PIPE_ALL: not of a pipe */
  uint8_t core_kind;
  uint32_t block;
  uint32_t member; /* mixed kernels: which AIV of the block */
  bool mixed;
  bool write;
  bool given; /* false: there is no such event */
};

enum { FINDING_EVENTS = 2 };

struct check_finding {
  uint8_t kind; /* enum finding_kind */
  uint8_t space;
  uint8_t topic; /* which state; enum disputed */
  bool has_range;
  uint32_t kernel;
  uint64_t count;   /* instructions with this finding */
  uint64_t counted; /* in the first walk, during a second walk */
  uint64_t serial;  /* of the last of them */
  int64_t address;  /* of the first */
  uint64_t bytes;
  struct finding_event event[FINDING_EVENTS]; /* the earlier one first */
  const char *detail;                         /* a line, or several; "" for none */
};

struct vinci_findings {
  struct arena arena;
  const char *path;
  const struct vinci_trace *trace; /* while the checks run */
  unsigned checks;
  const char **kernel_names;
  uint32_t kernel_count;
  uint64_t executed_instructions;
  bool partial;                 /* the program was not executed to its end */
  bool waits_in_memory;         /* code of the program does, so cores have no order in GM */
  struct program_scalar scalar; /* what scalar code accesses */
  struct check_finding *items;  /* sorted when the checks have ended */
  size_t count, capacity;
  size_t levels[LEVEL_NOTE + 1]; /* how many of each level, when the checks have ended */
  struct lookup table;           /* of items */
  bool failed;                   /* memory is short */
  char unchecked_text[2 * PROGRAM_SCALAR_BYTES];
};

/*
 * Reports a finding of the instruction with this serial number: a new one, or one more of a
 * kind, rows and place that are known. The detail is made, and copied, for new ones only.
 */
struct check_finding *findings_add(struct vinci_findings *findings,
                                   const struct check_finding *finding);
/* Counts from 0 again; and takes the earlier counts where they are larger, a walk having ended
 * early. */
void findings_recount(struct vinci_findings *findings);
void findings_keep_counts(struct vinci_findings *findings);
/* Gives a new finding its detail. */
void findings_detail(struct vinci_findings *findings, struct check_finding *finding,
                     const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Makes the text of what is not looked at. */
void findings_say_unchecked(struct vinci_findings *findings, const char *kernel);
/* Brings findings into the order of the report: by kernel, lines and kind. */
void findings_sort(struct vinci_findings *findings);

/* "aiv(3)", of mixed kernels "aiv(3.1)". */
void finding_block_text(const struct finding_event *event, char *buffer, size_t size);
const char *finding_key(enum finding_kind kind);
const char *finding_text(enum finding_kind kind);
unsigned finding_check(const struct check_finding *finding); /* enum vinci_check */
enum finding_level finding_level(const struct check_finding *finding);
const char *finding_level_name(enum finding_level level); /* "ERROR" */
const char *disputed_name(enum disputed disputed);
const char *check_name(unsigned check); /* "memcheck" */
/* The checks that are not among these: "BEFOREracecheck, initcheck"; empty when all are. */
void check_names_not_run(unsigned checks, const char *before, char *out, size_t size);

#endif
