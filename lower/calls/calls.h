/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of operator calls: what was run (or shall be), with which shapes, and what was measured.
 * The header of the CSV file tells which of these it is:
 *
 *   profile     op type, shapes, data types and formats of inputs and outputs: kernel_details.csv
 *               and op_summary.csv of the vendor's profilers, with ';' between tensors;
 *               a column args adds what shapes do not tell
 *   operators   columns op and args: "matmul", "m=4 k=4 n=4"
 *   GEMM        columns m, n, k and, if there are any, a_t, b_t, dtype, batch
 *   convolution the columns of SCALE-Sim's topologies, or w, h, c, n, k, filter_w, filter_h, ...
 *
 * Names of columns are compared without case, blanks and underscores.
 */
#ifndef VINCI_LOWER_CALLS_CALLS_H
#define VINCI_LOWER_CALLS_CALLS_H

#include "core/base/unread.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "lower/kernel/lower.h"
#include "traces/format/call_columns.h"

/* One row: its cells, "" where there is none, and what they say. */
struct call_row {
  unsigned long line;
  bool profiled; /* the list says which tensors went in */
  bool cleared;  /* the row before, a MemSet, has cleared the first result */
  const char *cell[CALL_COLUMN_COUNT];
  uint64_t measured_ps; /* duration; 0: not measured */
  uint64_t measured_mac_ps;
  bool code_measured[CORE_KIND_COUNT]; /* the miss rate of the instruction caches is known: */
  uint64_t code_miss_ppm[CORE_KIND_COUNT];
  bool started;      /* start_ns says when */
  uint64_t start_ns; /* on the clock of the profiler */
  uint64_t weight;   /* how often the row counts in sums; 1 unless column weight says */
  const struct lower_call *tensors; /* of a row without shapes, from its program; NULL: unknown */
  size_t turn_before; /* in a loop: how many rows back the row is in the turn before; 0: none */
};

/* A row without a cell. */
struct call_row calls_empty_row(void);

struct call_list {
  struct arena arena;
  struct call_row *rows;
  size_t count;
  bool has[CALL_COLUMN_COUNT];
  bool as_launched;     /* rows get as many blocks as they say, of the vector unit too */
  struct unread unread; /* columns that have no part in what is simulated */
};

/* Reads a list, from a file that is open or by name; by name, warns of what has no effect. On
 * success the caller frees the arena. */
VINCI_MUST_CHECK enum vinci_status
calls_read_stream(FILE *file, const char *path, struct call_list *out, struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status calls_read(const char *path, struct call_list *out,
                                              struct vinci_diag *diag);

/* Leaves the rows of one device of a profile of several, and warns of rows without a device, which
 * are kept where all others are of a single device. VINCI_E_USAGE when no row is of the device. */
VINCI_MUST_CHECK enum vinci_status calls_keep_device(struct call_list *list, const char *path,
                                                     const char *device, struct vinci_diag *diag);
/* VINCI_E_INPUT when the rows are of several devices, whose order means nothing. */
VINCI_MUST_CHECK enum vinci_status calls_one_device(const struct call_list *list, const char *path,
                                                    struct vinci_diag *diag);

/* A table of times by name without shapes: op_statistic, task_time, operator_details; rows have a
 * type, a core, a duration and a weight. *are_sums: false of any other file, which leaves *out
 * alone. */
VINCI_MUST_CHECK enum vinci_status calls_read_sums(const char *path, struct call_list *out,
                                                   bool *are_sums, struct vinci_diag *diag);

/* An operator with its arguments, or the reason why there is none. */
struct call_request {
  const struct lower_op *op;
  const char *args[LOWER_KEYS_MAX];
  size_t arg_count;
  bool launched; /* args[launched_arg] has the blocks of the profile */
  size_t launched_arg;
  bool no_memory; /* is the reason */
  char reason[200];
};

/* What a row asks for on a chip; false, with a reason, when it cannot be lowered. */
bool calls_resolve(const struct call_list *list, const struct call_row *row,
                   const struct vinci_soc *soc, struct arena *arena, struct call_request *out);
/* Of the vector unit's rows, whose tiles may not give as many blocks as the profile says: as many
 * as have something to do. False when the request has no blocks of a profile. */
bool calls_forget_launch(struct call_request *request);
/* Whether a row's outputs go with what was lowered from its inputs; false, with a reason. */
bool calls_check_outputs(const struct call_row *row, const struct vinci_trace *trace, char *reason,
                         size_t size);
/* Whether a row ran on AI Cores, as far as its cell says where. */
bool calls_on_cores(const struct call_row *row);
/* The number, from 1, of the first result that the row gives a type that the trace does not write;
 * 0: none. Only results whose elements the trace writes are looked at. */
unsigned calls_other_type(const struct call_row *row, const struct vinci_trace *trace);
/* Part `index` of a cell such as "FLOAT;INT32"; its length. */
const char *calls_part(const char *cell, unsigned index, size_t *length);
/* Whether a row is a transfer between chips. */
bool calls_communicates(const struct call_row *row);
/* Puts the vendor's type that a name stands for into the call: of the vendor's profiler or of a
 * framework (frameworks.def); a name that nobody knows stays. The order of inputs is for
 * calls_order_inputs(). False, with a reason, for names without a kernel. */
bool calls_take_name(const char *name, struct lower_call *call, const char **order);
/* The operator that stands for a type of the vendor's library, or for a fusion of the vendor's
 * graph, "FusionOp_" with the names of its members; NULL: none. */
const struct lower_op *calls_operator(const char *type);
/* From the inputs of a framework's operator to those of the vendor's. */
void calls_order_inputs(struct lower_call *call, const char *order);
/* The cells of a row of a profile as a call, or what is known of a row without shapes; false, with
 * a reason, when they are not readable. */
bool calls_parse(const struct call_row *row, struct lower_call *call);

/*
 * The state of L2 that a row most likely started with, by operator:
 * - cube operators: used, as the operators before have written or read their operands, if they are
 *   not too large to stay, and much else; but matmul with a transposed left operand (gradients of
 *   weights): empty, as the operand was last used a pass ago; with a bias and no such operand:
 *   dirty, as a linear layer reads its weights for the first time since the last pass;
 * - sums of two types (gradients accumulated): empty, as gradients were last used a pass ago;
 * - updates of parameters: streaming, as they sweep over more than L2 holds. They are the types
 *   Apply... and Foreach..., and arithmetic whose operands all have at most one dimension
 *   (parameters flattened);
 * - all others: warm, as the operator before has just written their inputs.
 * Rows without tensors (op,args; GEMMs; convolutions) are cube operators or others.
 */
enum vinci_l2 calls_l2_start(const struct call_row *row, const struct call_request *request);
/*
 * Bytes that other kernels have written and L2 may still owe to device memory when a row starts. A
 * row of a profile was part of a long run, and kernels that the list does not show ran before its
 * first row too: assumed is as much as the chip can owe (l2.owed), for each row in whatever place.
 * A row without tensors (op,args; GEMMs; convolutions) is no part of a run: nothing. What rows of
 * one list leave to each other is for sequences (sequence.h).
 */
uint64_t calls_l2_written(const struct call_row *row);
/* Whether a call adds a gradient to a sum of another type. */
bool calls_accumulates(const struct lower_call *call);
/* 0 for a tensor of unknown type; no more than 2^45. */
uint64_t calls_tensor_bytes(const struct lower_tensor *tensor);
/* A point in time, "1764246877073569.640" microseconds, in nanoseconds; the rest as calls_time().
 */
VINCI_MUST_CHECK bool calls_start(const char *text, uint64_t *ns);
/* "12.5", "1.5e3", "1,234.5" microseconds; 0 for "" and N/A; false for what is none of these. */
VINCI_MUST_CHECK bool calls_time(const char *text, uint64_t *ps);
/* Forgets how many blocks each row was launched with: the lowering chooses, as for any other call.
 */
void calls_withhold_blocks(struct call_list *list);
/* Fills the results of rows that clear memory for the row behind, as far as names say so; false
 * without memory. */
VINCI_MUST_CHECK bool calls_find_cleared(struct call_list *list);

/* Times of a run as a profiler gives them: pipes as the mean over the cores that had work. */
struct call_times {
  uint64_t duration_ps;
  uint64_t core_ps;  /* mean time that a core had a block */
  uint64_t start_ps; /* of that, what the scalar rows of a kernel's start take */
  uint64_t pipe_ps[PIPE_COUNT];
  enum core_kind kind; /* whose MTE2 it is: AIC where there was work and the row is not of AIV */
  unsigned blocks;
  uint64_t gm_bytes; /* read from GM and written to GM */
  uint64_t cube_ppm; /* share of the duration in which the chip's cores with a cube had a block */
  enum bound bound;  /* what limits the run */
  uint64_t code_miss_ppm[CORE_KIND_COUNT]; /* of the instruction caches, by kind of core */
};
void calls_times(const struct vinci_result *result, const struct call_row *row,
                 struct call_times *out);
/* Times as CALL_TIMES_NUMBERS numbers that a file keeps, and back; false for numbers that are no
 * times. */
enum { CALL_TIMES_NUMBERS = 8 + PIPE_COUNT + CORE_KIND_COUNT };
void call_times_write(const struct call_times *times, uint64_t *numbers);
bool call_times_read(const uint64_t *numbers, struct call_times *out);

#endif
