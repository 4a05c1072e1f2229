/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: what the library knows of chips, instructions and counters, and what a run has counted,
 * as tables for programs that print, compare or keep them:
 *
 *     static bool print(void *context, const struct vinci_counter *counter, uint64_t value) {
 *       return fprintf(context, "%s %" PRIu64 " %s\n", counter->name, value, counter->unit) > 0;
 *     }
 *     vinci_result_counters(result, print, stdout);
 *
 * A visit returns false to stop. What it is given lives until it returns.
 */
#ifndef VINCI_TABLES_H
#define VINCI_TABLES_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- chips ------------------------------------------------------------------------------- */

/* The names that vinci_soc_load() knows, sorted; data_dir as there. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_soc_each(const char *data_dir, bool (*visit)(void *context, const char *name), void *context,
               struct vinci_diag *diag);
/* "dav-c220" */
VINCI_API const char *vinci_soc_arch(const vinci_soc *soc);
/* The caller frees the copy; NULL: out of memory. */
VINCI_API vinci_soc *vinci_soc_copy(const vinci_soc *soc);

/* A number of a chip; texts live as long as the chip. */
struct vinci_soc_number {
  char key[80];        /* as in vinci_soc_set(); of the memory "memory.KEY" */
  char value_text[64]; /* with a handy unit: "48MiB" */
  int64_t value;       /* value / scale is in the unit */
  int64_t scale;
  const char *unit;
  const char *text;       /* what it means */
  const char *source;     /* where it comes from */
  const char *note;       /* may be NULL */
  const char *confidence; /* how well it is known */
};
/* By index from 0; false behind the last. */
VINCI_API bool vinci_soc_number(const vinci_soc *soc, size_t index, struct vinci_soc_number *out);

/* ---- instructions -------------------------------------------------------------------------- */

/* Texts live as long as the library. */
struct vinci_instruction {
  const char *name;
  const char *text;
  const char *signature; /* operands with their types and ranges, as of `vinci isa show` */
  const char *source;
  const char *pipe; /* NULL: an operand says which */
  size_t operand_count;
};
/* By index from 0; false behind the last. */
VINCI_API bool vinci_instruction(size_t index, struct vinci_instruction *out);
/* The name of an operand; text is at least 64 bytes. */
VINCI_API bool vinci_instruction_operand(size_t index, size_t operand, char *text, size_t size);

/* ---- traces ------------------------------------------------------------------------------ */

/* A tensor of a trace; texts live as long as the trace. */
struct vinci_trace_tensor {
  const char *name;
  const char *dtype; /* "fp16" ... */
  const char *io;    /* "in", "out", "inout", "workspace" */
  const char *file;  /* that the trace names, may be NULL */
  unsigned rank;
  uint64_t shape[8];
  uint64_t bytes;
};
/* By index from 0; false behind the last. Other than vinci_values_tensor(), it needs no memory for
 * values. */
VINCI_API bool vinci_trace_tensor(const vinci_trace *trace, size_t index,
                                  struct vinci_trace_tensor *out);

/* ---- counters ------------------------------------------------------------------------------ */

/* What a run counts. In the table of all, "*" in a name is a pipe or a path. */
struct vinci_counter {
  const char *name;   /* "pipe.MTE2.busy_cycles" */
  const char *unit;   /* "cycle", "ps", "byte", "1", "ppm", "word" */
  const char *better; /* "lower", "higher", "neutral" */
  const char *kind;   /* "sum", "maximum", "share" */
  const char *text;
};
/* By index from 0; false behind the last. */
VINCI_API bool vinci_counter_info(size_t index, struct vinci_counter *out);

/* The counters of a result, always the same names in the same order. */
VINCI_API void vinci_result_counters(const vinci_result *result,
                                     bool (*visit)(void *context,
                                                   const struct vinci_counter *counter,
                                                   uint64_t value),
                                     void *context);

struct vinci_core {
  char name[48]; /* "core0.veccore0" */
  uint64_t clock_hz;
  uint64_t total_cycles; /* of the run, in cycles of this core */
  uint32_t blocks;       /* that the core has executed */
};
VINCI_API size_t vinci_result_core_count(const vinci_result *result);
/* By index from 0; false behind the last. */
VINCI_API bool vinci_result_core(const vinci_result *result, size_t index, struct vinci_core *out);
/* The counters of a core; pipe is NULL for those of the whole core. */
VINCI_API void vinci_result_core_counters(const vinci_result *result, size_t index,
                                          bool (*visit)(void *context, const char *pipe,
                                                        const char *name, uint64_t value),
                                          void *context);

/* An instruction that max_events of the run has kept. */
struct vinci_event {
  const char *op, *pipe;
  uint64_t core; /* an index of vinci_result_core() */
  uint64_t line; /* of the trace, or of the source of a compiled kernel */
  uint64_t start_cycle, end_cycle;
  uint64_t bytes; /* moved */
};
VINCI_API size_t vinci_result_event_count(const vinci_result *result);
VINCI_API bool vinci_result_event(const vinci_result *result, size_t index,
                                  struct vinci_event *out);

/* A line of the trace with the instructions that were kept; cycles of each core's clock, but for
 * critical_cycles, which are of the chip's. */
struct vinci_hotspot {
  const char *file; /* of a compiled kernel, the source that has the line; else NULL */
  const char *op, *pipe;
  uint64_t line, count;
  uint64_t critical_cycles; /* on the critical path */
  uint64_t cycles, queued_cycles, held_cycles, bank_cycles, bytes;
  const char *const *stalls; /* reasons of waits */
  const uint64_t *stall_cycles;
  size_t stall_count;
};
/* Those with the most cycles on the critical path come first. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_result_hotspots(const vinci_result *result,
                      bool (*visit)(void *context, const struct vinci_hotspot *hotspot),
                      void *context, struct vinci_diag *diag);

/* A cause on the critical path of the kept instructions, and what its number would save. */
struct vinci_saving {
  const char *cause;
  uint64_t cycles;
  const char *number; /* of the chip; NULL: none stands behind the cause, and the rest is empty */
  const char *turn;   /* "halved", "doubled" */
  int64_t saved_cycles;
  bool measured; /* by vinci_savings_measure() (vinci_sensitivity.h); false: an estimate */
};
/* The longest first. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_result_savings(const vinci_result *result,
                     bool (*visit)(void *context, const struct vinci_saving *saving), void *context,
                     struct vinci_diag *diag);

/* A lever of what is larger than a kernel (vinci_net_levers(), vinci_group_levers()), proven by a
 * run with that one thing changed. */
struct vinci_proven {
  const char *lever;  /* "pass", "cuts", "host", "algorithm", "buckets" ... */
  const char *text;   /* what would be there: no sentence's end */
  const char *change; /* what vinci net run or vinci group run takes to show the saving: "--cuts",
                         or what has to go: "without --cuts" */
  const char *origin; /* "measured", with what else has to be known; "not measured: limit: ..."
                         where the run of the lever met a limit, and saved_ps is 0 */
  int64_t saved_ps;   /* of the run; below 0: what is done already, and costs when left out */
};

/* What the author of the kernel can do, and what that saves of the run. */
struct vinci_lever {
  const char *lever;     /* "barriers", "cores", "tiles" ... */
  const char *text;      /* what is there, and what would be there: no sentence's end */
  const char *change;    /* what vinci run takes to show the saving: "--without=31"; or empty */
  const char *origin;    /* "measured, ..." or "estimate" */
  uint64_t line;         /* of the trace; 0: none alone */
  uint64_t saved_cycles; /* of the core clock */
  bool measured;         /* by vinci_savings_measure() */
};
/* The largest saving first, those of a fiftieth of the run or more. Of the kept instructions. */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_result_levers(const vinci_result *result,
                    bool (*visit)(void *context, const struct vinci_lever *lever), void *context,
                    struct vinci_diag *diag);
/*
 * What-if: the instructions of these lines of a trace are left out in each run and check to come,
 * such as a barrier. VINCI_E_USAGE: a line has none, or the trace is a compiled kernel.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_trace_leave_out(vinci_trace *trace,
                                                                   const uint64_t *lines,
                                                                   size_t count,
                                                                   struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
