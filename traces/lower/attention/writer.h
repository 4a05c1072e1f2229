/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the writers of flash_attention and its gradient: what the files of kernels share. */
#ifndef VINCI_TRACES_LOWER_ATTENTION_WRITER_H
#define VINCI_TRACES_LOWER_ATTENTION_WRITER_H

#include "traces/lower/attention/attention.h"
#include "traces/lower/vector/rowwise.h"

/* Signals between the cores of a block. */
enum { SIGNAL_SCORES, SIGNAL_PROBABILITIES, SIGNAL_PARTIAL };

/* A step of a task of this block: names and numbers of its rows. */
struct attention_place {
  const char *suffix;    /* of the names: "x" for the step after the present one */
  struct expr odd;       /* whether the number of the task is */
  struct expr piece;     /* which part of the keys */
  struct expr z;         /* head, of all sequences */
  struct expr row, rows; /* the first and how many */
  struct expr limit;     /* behind the last key of the task */
  struct expr steps, step;
  struct expr key, keys;  /* of the step */
  struct expr slot;       /* in the workspace */
  struct expr from, mine; /* of the rows, those of the vector core that runs */
};

struct attention_writer {
  struct emit *e;
  const struct lower_job *job;
  const struct attention *at;
  struct attention_tiling t;
  struct expr blk, tasks;
  struct attention_place here,
      next; /* the present step and the one after, maybe of the next task */
  /* Of the loops that are open. */
  struct expr half;                             /* of two buffers, in L1 or in UB */
  struct expr panel, at_key, keys, part, c, l0; /* panel: first key, keys; of L0 */
  struct expr r0, rr, tile, wide; /* slice: first row, rows, address, lanes of a row */
};

/* ---- names and addresses ---- */

/* A value of a place gets its name, which has the suffix; numbers too, as the same name stands for
 * an expression elsewhere. */
struct expr attention_let(const struct attention_writer *w, const struct attention_place *place,
                          const char *name, struct expr value);
/* A tensor that lies as Q, or as K. */
void attention_tensor(const struct attention_writer *w, const char *name, bool as_keys,
                      enum tensor_io io);
void attention_workspace(const struct attention_writer *w, const char *name, enum dtype dtype,
                         uint64_t extent0, uint64_t extent1, uint64_t extent2);
/* Row `row` of head z of a tensor of the operator's layout, of which `group` heads have one. */
struct expr attention_row(const struct attention_writer *w, const char *tensor,
                          const struct attention_strides *strides, uint64_t heads, uint64_t group,
                          struct expr z, struct expr row);
/* Row `row` of head z of a tensor with `rows` for each head, of some bytes each. */
struct expr attention_number(const struct attention_writer *w, const char *tensor, uint64_t rows,
                             struct expr z, struct expr row, uint64_t bytes);

/* ---- tasks and steps ---- */

void attention_count_tasks(struct attention_writer *w);
void attention_task(struct attention_writer *w, struct attention_place *place, struct expr i);
void attention_step(struct attention_writer *w, struct attention_place *place, struct expr step);
typedef void attention_put(struct attention_writer *w);
/* A stream that is one step ahead with what the other cores wait for. `flags` sets those that say
 * "free", or takes them back. */
void attention_stream(struct attention_writer *w, const char *comment,
                      void (*flags)(struct attention_writer *w, bool set), attention_put *put_ahead,
                      attention_put *put_present);
/* Opens the loop that sets or takes back flags, and gives their ids. */
struct expr attention_flags(struct emit *e, bool set, const char *prefix, uint64_t count);
void attention_signal(struct emit *e, enum pipe pipe, unsigned id);
void attention_await(struct emit *e, unsigned id);

/* ---- vector cores: the present slice ---- */

/* Its buffer: is free, and may be loaded; is loaded; is computed; is free once it is stored. */
void attention_open_copies(const struct attention_writer *w);
void attention_loaded(const struct attention_writer *w);
void attention_computed(const struct attention_writer *w);
void attention_close_copies(const struct attention_writer *w);
/* Rows of a tensor of the operator's layout, from UB or to UB, where rows are whole fractals. */
void attention_copy_rows(const struct attention_writer *w, bool out,
                         const struct attention_strides *strides, struct expr gm, struct expr ub);
/* Rows of single precision from the workspace; blocks between them in UB. */
void attention_load_values(const struct attention_writer *w, struct expr dst, struct expr src,
                           struct expr rows);
uint64_t attention_value_gap(const struct attention_writer *w);
/* dst op= src for each row, `stride` blocks apart; `spread`: a block of src is for all of a row. */
void attention_rows_op(const struct attention_writer *w, const char *inst, struct expr dst,
                       struct expr dst_stride, struct expr src, uint64_t src_stride, bool spread);
/* Zeros, in counter mode. */
void attention_zero(struct emit *e, uint64_t address, uint64_t bytes);

/* ---- kernels ---- */

void attention_cube_stream(struct attention_writer *w);   /* cube.c */
void attention_vector_stream(struct attention_writer *w); /* vector.c */
/* ends.c; what goes from one kernel to the next is the same workspace in both. */
void attention_parts_workspace(const struct attention_writer *w);
void attention_grad_workspace(const struct attention_writer *w);
void attention_join(struct attention_writer *w);
void attention_grad_first(struct attention_writer *w);
void attention_grad_last(struct attention_writer *w);

#endif
