/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run leaves behind: one counter set and one event store. Every table,
 * timeline and report is written from these (traces/export). Counters are plain
 * integers; ratios are computed when printed.
 */
#ifndef VINCI_CORE_RESULT_RESULT_H
#define VINCI_CORE_RESULT_RESULT_H

#include "core/base/arena.h"
#include "core/chip/arch.h"
#include "core/control/wait.h"
#include "core/isa/program.h"
#include "core/result/cause.h"
#include "core/result/traffic.h"
#include "core/vinci_auto.h"

/* The counters are the rows of core/result/counters.def, with their meaning. */
struct pipe_counters {
#define PIPE_COUNTER(field, ...) uint64_t field;
#include "core/result/counters.def"
  uint64_t stall_cycles[STALL_COUNT];
  uint64_t cause_cycles[CAUSE_COUNT]; /* of busy_cycles, which they sum to */
};

/* Arithmetic by type of operand, for ArithmeticUtilization and the account of energy. */
struct work_counters {
#define TYPE_COUNTER(field) uint64_t field[DTYPE_COUNT];
#include "core/result/counters.def"
};

struct l2_counters { /* in units of L2_GRANULE_BYTES */
#define L2_COUNTER(field, ...) uint64_t field;
#include "core/result/counters.def"
};

/* Which accesses of L2. */
enum { L2_READS = 1, L2_WRITES = 2, L2_ALL = L2_READS | L2_WRITES };

struct hits {
  uint64_t hits, misses;
};

struct core_result {
  enum core_kind kind;
  uint32_t cluster; /* n of "coren" */
  uint32_t member;  /* m of "cubecorem", "veccorem" */
  uint64_t hz;
  uint64_t total_cycles; /* whole run, this core's clock */
  uint32_t blocks_run;
  uint32_t first_block; /* index of the first block run here, for the vendor's tables */
  struct pipe_counters pipe[PIPE_COUNT];
  struct work_counters cube;
  struct work_counters vector;
#define CORE_COUNTER(field, ...) uint64_t field;
#define PATH_COUNTER(field, ...) uint64_t field[PATH_COUNT];
#include "core/result/counters.def"
  struct l2_counters l2; /* of this core's accesses; memory models that know them */
};

struct kernel_result {
  const char *name;
  uint32_t blocks;
  bool mixed;
  uint64_t start_ps;
  uint64_t end_ps;
  uint64_t first_block_ps, last_block_ps; /* dispatch of the first block and of the last so far */
  uint32_t places;           /* cores, or clusters of a mixed kernel, that can hold a block */
  enum core_kind kind;       /* that its blocks run on; AIC of a mixed kernel */
  uint32_t vectors_per_cube; /* AIV of a block, 0 unless mixed */
};

struct hbm_totals {
#define HBM_COUNTER(field, ...) uint64_t field;
#include "core/result/counters.def"
};

/* The two networks between cores and L2: what goes to slices, and what comes back. */
enum noc_way { NOC_REQUESTS, NOC_ANSWERS, NOC_WAYS };

/* Load of a link between routers, in one direction. */
struct link_load {
  enum noc_way way;
  uint32_t from, to;        /* routers */
  uint64_t utilization_ppm; /* share of its cycles with a flit, millionths */
  uint64_t flits;
};

enum { EVENT_CAUSES = 4 };

/*
 * One executed instruction in the event store. Cycles of the core's clock. Its causes are of the
 * cycles in which the pipe was busy with this instruction and none before; when there are more
 * than EVENT_CAUSES, the small ones count as the largest.
 */
struct result_event {
  uint64_t start_cycle;
  uint64_t end_cycle;
  uint32_t core;
  uint32_t line;
  uint16_t op;
  uint8_t pipe;
  uint8_t id;                          /* flag id of set_flag and wait_flag */
  uint8_t other;                       /* the other pipe of a flag */
  uint8_t path;                        /* enum path of the bytes, PATH_NONE for others */
  uint8_t member;                      /* of its causes; CAUSE_NO_MEMBER: none */
  uint8_t cause[EVENT_CAUSES];         /* enum cause */
  uint32_t cause_cycles[EVENT_CAUSES]; /* 0: none */
  uint64_t bytes;                      /* moved, 0 for others */
  uint32_t queued_cycles; /* before start_cycle, in the queue of the pipe; those after are waits */
  uint32_t held_cycles;   /* of these, at the head of the queue: unit flags, a transfer before */
  uint32_t bank_cycles;   /* that conflicts of the banks of UB add */
  uint32_t delivery;      /* of signals between cores: the same number for the last sender and for
                             each wait that took the signal; 0: none */
};

/*
 * What the run takes with one number of the chip turned against its cause (studies/sweep/savings.c
 * measures that).
 */
struct result_saving {
  size_t param;
  uint64_t cycles;     /* of the same program; 0: the chip cannot have the number */
  uint64_t new_cycles; /* of the operator lowered for the changed chip; 0: not measured */
};
enum { SAVINGS_MAX = 16 };

struct lever; /* core/result/levers.h */

enum bound { BOUND_COMPUTE, BOUND_MEMORY, BOUND_LATENCY, BOUND_SCALAR, BOUND_NONE };

struct vinci_result {
  struct arena arena;
  struct vinci_soc *soc;  /* copy of the one that ran, owned */
  const char *trace_path; /* of a compiled kernel: of its source */
  bool compiled;          /* lines are those of a kernel's source, 0 where none is known */
  const char *op;         /* that the trace was lowered from; NULL: not known */
  enum dtype op_dtype;    /* of its first tensor */
  uint64_t config_digest;
  uint64_t input_digest;
  bool partial;
  const char *partial_reason; /* NULL unless partial */
  bool waits_left_out;        /* scalar code waited for other cores through memory: no time */
  uint64_t scalar_accesses;   /* of the code itself: not in times and bytes but as instructions */
  bool scalar_uncounted;      /* the code does not count them */
  uint32_t operands_cut;      /* that were wider than their fields */
#define RUN_COUNTER(field, ...) uint64_t field;
#include "core/result/counters.def"
  uint64_t engine_events;
  double cpu_seconds;
  uint64_t peak_rss_bytes;
  struct kernel_result *kernels;
  uint32_t kernel_count;
  struct core_result *cores; /* physical cores of the kinds the trace uses, in order */
  uint32_t core_count;
  enum vinci_l2 l2_start;
  uint32_t repeat;              /* launches in a row, of which this is the last; 0: alone */
  uint64_t l2_start_owed_bytes; /* of kernels before, to be written back */
  struct l2_counters l2;
  struct hbm_totals hbm;
  struct hbm_totals *channels; /* of hbm by channel; none where the memory model has none */
  uint32_t channel_count;
  struct link_load *links; /* of each way those of the topology; none without a topology */
  uint32_t link_count;
  uint64_t hbm_peak_bytes_per_second;
  struct memory_traffic traffic;
  bool noc_past_model;         /* busier than the network's level of detail is good for */
  struct event_log *logs;      /* of each core, from malloc; NULL: events are an array, or none */
  uint8_t *log_bytes;          /* of all logs */
  struct result_event *events; /* from malloc: large, and touched only as far as it fills */
  uint64_t event_count;
  uint64_t event_capacity;
  uint64_t events_dropped; /* beyond the capacity: the timeline says so */
  struct result_saving savings[SAVINGS_MAX];
  uint32_t saving_count;
  bool is_automatic; /* the run chose its model of memory by itself */
  struct vinci_auto_bar automatic;
  uint64_t second_buffer_cycles; /* of a run with second_buffers; 0: not measured */
  struct lever *levers;          /* that were measured, LEVERS_MAX at most; in the arena */
  uint32_t lever_count;
  uint32_t levers_settled; /* bit i: a measurement says all of enum lever_kind i */
};

/* A zeroed result, or NULL. vinci_result_free frees it, its arena and its soc. */
struct vinci_result *result_create(void);

const char *noc_way_name(enum noc_way way); /* "requests", "answers" */
const char *stall_key(enum stall stall);
const char *stall_text(enum stall stall);
const char *bound_name(enum bound bound);

/* "core0.cubecore0", as the vendor's tools name cores. */
void result_core_name(const struct core_result *core, char *buffer, size_t size);
/* Name of the source whose lines the result has; NULL: they are lines of a trace. */
const char *result_source_file(const struct vinci_result *result);
/* Misses of the instruction caches of a kind of core for each access to these, in millionths; 0
 * where nothing is known of the code. */
uint64_t result_code_miss_ppm(const struct vinci_result *result, enum core_kind kind);
/* What limits the run; the rule is documented with the function. The second form
 * also says why, in half a sentence. */
enum bound result_bound(const struct vinci_result *result);
enum bound result_bound_explain(const struct vinci_result *result, char *buffer, size_t size);
/* Sums over the cores that have the pipe: all of them, or those that ran a block. */
void result_sum_pipe(const struct vinci_result *result, enum pipe pipe, bool active_only,
                     struct pipe_counters *sum, uint64_t *total_cycles);
/* The same over the cores of one kind that ran a block; and how many those are. */
void result_sum_kind(const struct vinci_result *result, enum core_kind kind, enum pipe pipe,
                     struct pipe_counters *sum, uint64_t *total_cycles);
unsigned result_active_cores(const struct vinci_result *result, enum core_kind kind);
uint64_t result_pipe_stalls(const struct pipe_counters *counters);
uint64_t result_pipe_causes(const struct pipe_counters *counters);
/*
 * Cycles that the vendor's profiler gives as the time of a pipe: those in which the pipe is busy,
 * and for the fixpipe also those in which an instruction has been issued and waits for its unit
 * flags. Profiles of MatMulV3 show that: with one block in L0C, 94.6 us for results that take 9 us
 * at the rate of the path, in products whose mads take 129 us.
 */
uint64_t result_profiled_cycles(const struct pipe_counters *counters, enum pipe pipe);
uint64_t result_blocks(const struct vinci_result *result); /* of all kernels */
uint64_t result_path_bytes(const struct vinci_result *result, enum path path);
/* "empty", "warm" ... */
const char *result_l2_name(enum vinci_l2 state);
/* The same of a result; "repeat" where launches before have left the state. */
const char *result_l2_start_name(const struct vinci_result *result);
/* Bytes on all paths out of GM and into it; bytes that passed L2; bytes of device memory. */
void result_gm_bytes(const struct vinci_result *result, uint64_t *read, uint64_t *write);
uint64_t result_l2_bytes(const struct vinci_result *result);
uint64_t hbm_bytes(const struct hbm_totals *hbm);
struct hits l2_hits(const struct l2_counters *l2, unsigned accesses);
struct hits hbm_row_hits(const struct hbm_totals *hbm);
/* part / whole in millionths, rounded; 0 of nothing is 0. */
uint64_t result_share_ppm(uint64_t part, uint64_t whole);
/* Share of a bandwidth that `bytes` in the whole run's time are, in millionths. */
uint64_t result_bandwidth_ppm(const struct vinci_result *result, uint64_t bytes,
                              uint64_t bytes_per_second);
uint64_t result_hbm_ppm(const struct vinci_result *result); /* of the peak of device memory */

/*
 * Checks the identities every run must satisfy: busy + stalls + idle = total for
 * each pipe, the causes of a pipe sum to busy, total >= busy, bytes through the memory system equal
 * bytes asked for, the channels of device memory add up to the whole, the busiest link is one of
 * the links. A violation is a bug of the model and is reported as VINCI_E_INTERNAL.
 */
enum vinci_status result_check(const struct vinci_result *result, struct vinci_diag *diag);

#endif
