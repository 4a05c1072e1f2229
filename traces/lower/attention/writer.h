/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the writers of flash_attention and its gradient: tasks and steps, and what the streams
 * of their kernels share.
 */
#ifndef VINCI_TRACES_LOWER_ATTENTION_WRITER_H
#define VINCI_TRACES_LOWER_ATTENTION_WRITER_H

#include "traces/lower/attention/attention.h"
#include "traces/lower/vector/rows.h"

/* Signals between the cores of a block. */
enum { SIGNAL_SCORES, SIGNAL_PROBABILITIES, SIGNAL_PARTIAL };

/* A step of a task of this block: names and numbers of its rows. */
struct attention_place {
  const char *suffix; /* of the names: "x" for the step after the present one */
  struct expr odd;    /* whether the number of the task is */
  struct expr piece;  /* which part of the keys */
  struct expr z;      /* head, of all sequences */
  struct expr row, rows;
  struct expr limit; /* behind the last key of the task */
  struct expr steps, step;
  struct expr key, keys; /* of the step */
  struct expr slot;      /* in the workspace */
  /* Of the rows, those of the vector core that runs. */
  struct expr from, mine;
};

struct attention_writer {
  struct emit *e;
  const struct lower_job *job;
  const struct attention *at;
  struct attention_tiling t;
  struct expr blk, tasks;
  struct attention_place here,
      next; /* the present step and the one after, maybe of the next task */
  /* Of the cube core's present panel: its number in the step, first key in the step, keys, slot in
   * L1; block in L0C, half of L0. */
  struct expr panel, at_key, keys, half, c, l0;
  /* Of the vector core's present slice: first row, rows, buffer and its address; lanes of a row. */
  struct expr r0, rr, pair, tile, wide;
};

/* ---- names and addresses (writer.c) ---- */

/* Gives a name, also to a number: the name of a place in one row is that of all others. */
#define attention_let(e, name, suffix, value) attention_let_of(e, name, suffix, EXPR(value))
struct expr attention_let_of(struct emit *e, const char *name, const char *suffix,
                             struct expr value);
/* A tensor that lies as Q, or as K. */
void attention_tensor(const struct attention_writer *w, const char *name, bool as_keys,
                      enum tensor_io io);
void attention_workspace(const struct attention_writer *w, const char *name, enum dtype dtype,
                         uint64_t extent0, uint64_t extent1, uint64_t extent2);
/* Row `row` of head z of a tensor of the operator's layout, of which `group` heads have one. */
struct expr attention_row(const struct attention_writer *w, const char *tensor,
                          const struct attention_strides *strides, uint64_t heads, uint64_t group,
                          struct expr z, struct expr row);
/* Row `row` of head z of a tensor of single numbers, `bytes` for each of the head's `rows`. */
struct expr attention_number(const struct attention_writer *w, const char *tensor, uint64_t rows,
                             struct expr z, struct expr row, uint64_t bytes);

/* ---- tasks and steps (writer.c) ---- */

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

/* ---- copies and vector instructions (slices.c) ---- */

void attention_mask(struct emit *e, struct expr low);
void attention_dup(struct emit *e, struct expr dst, double value, struct expr repeat);
/* In counter mode: all numbers of some bytes of UB. */
void attention_fill(struct emit *e, uint64_t address, uint64_t bytes, double value);
/* Zeros at the start of a stream, where rows are read that nothing has written. */
void attention_clear(struct emit *e, uint64_t address, uint64_t bytes);
/* Buffer and stream of a kernel of vector cores, which clears some bytes of UB. */
void attention_vector_kernel(const struct attention_writer *w, uint64_t bytes);
/* Opens the loop over slices of `rows` of all heads, which the cores take in turn; gives its
 * counter. */
struct expr attention_open_rows(struct attention_writer *w, const char *loop, uint64_t heads,
                                uint64_t rows, uint64_t slice, uint64_t cores);
/* Rows of values in single precision: into UB, where rows are whole fractals. */
void attention_values_in(const struct attention_writer *w, struct expr dst, struct expr src,
                         struct expr rows);
/* Rows of results out of UB; blocks between them there. */
void attention_rows_out(const struct attention_writer *w, const struct attention_strides *strides,
                        struct expr dst, struct expr src, struct expr rows);
uint64_t attention_row_gap(const struct attention_writer *w);
/* The rows of the vector core that runs; opens the loop over slices of them. */
void attention_share(struct attention_writer *w, struct attention_place *place);
void attention_slices(struct attention_writer *w, const struct attention_place *place);
/* Lanes of a row of scores in UB. */
void attention_wide(struct attention_writer *w, const struct attention_place *place);
/* Scores of a slice, of a tensor of the workspace: in as single precision, out as the type. */
void attention_scores_in(const struct attention_writer *w, const struct attention_place *place,
                         const char *tensor, struct expr dst);
void attention_scores_out(const struct attention_writer *w, const struct attention_place *place,
                          const char *tensor, struct expr src);
/* The last lanes of each row, which no copy has written. */
void attention_pad(const struct attention_writer *w, const struct attention_place *place);
/* Counter mode with some elements of each row of the slice. */
void attention_count(const struct attention_writer *w, struct vmachine *machine,
                     struct expr of_row);
/* Scores times the scale, hidden where the mask says so. */
void attention_scale(const struct attention_writer *w, const struct attention_place *place,
                     struct vmachine *machine, uint8_t reg);
/* A number of each row, eight times at `numbers`, is subtracted from the row. */
void attention_subtract(const struct attention_writer *w, struct vmachine *machine, uint8_t reg,
                        struct expr tile, unsigned numbers_reg, struct expr numbers);
void attention_convert(const struct attention_writer *w, struct vmachine *machine, uint8_t reg);

/* ---- kernels ---- */

void attention_cube_stream(struct attention_writer *w);        /* cube.c */
void attention_vector_stream(struct attention_writer *w);      /* vector.c */
void attention_grad_vector_stream(struct attention_writer *w); /* grad_vector.c */
void attention_parts_workspace(const struct attention_writer *w);
void attention_join(struct attention_writer *w); /* parts.c */
/* Tensors of the sums and of delta. */
void attention_grad_workspace(const struct attention_writer *w);
void attention_grad_first(struct attention_writer *w); /* grad_ends.c */
void attention_grad_last(struct attention_writer *w);

#endif
