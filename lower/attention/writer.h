/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the writers of flash_attention and its gradient: what the files of kernels share. */
#ifndef VINCI_LOWER_ATTENTION_WRITER_H
#define VINCI_LOWER_ATTENTION_WRITER_H

#include "lower/attention/attention.h"
#include "lower/vector/rows/rowwise.h"

/* Signals between the cores of a block. */
enum { SIGNAL_SCORES, SIGNAL_PROBABILITIES, SIGNAL_PARTIAL };

/* A step of a task of this block: names and numbers of its rows. */
struct place {
  const char *suffix;    /* of the names: "" here, "x" for the next step */
  struct expr index;     /* number of the task in this block */
  struct expr odd;       /* whether that is */
  struct expr piece;     /* which part of the keys */
  struct expr z;         /* head, of all sequences */
  struct expr row, rows; /* the first and how many */
  struct expr length;    /* keys of the sequence */
  struct expr live;      /* 0: a part of the keys that the sequence does not have */
  struct expr base;      /* first key of the first step */
  struct expr limit;     /* behind the last key of the task */
  struct expr steps, step;
  struct expr key, keys;  /* of the step */
  struct expr slot;       /* in the workspace */
  struct expr from, mine; /* of the rows, those of the vector core that runs */
  /* Coupled cores: fractals of the rows, elements of a column of 16, such columns of the step. */
  struct expr tall, each, wide;
};

struct writer {
  struct emit *e;
  const struct lower_job *job;
  const struct attention *at;
  struct attention_tiling t;
  struct expr blk, tasks;
  struct expr first;       /* task of this block, where it has a range */
  struct place here, next; /* the present step and the one after, maybe of the next task */
  /* Of the loops that are open. */
  struct expr half;                             /* of two buffers, in L1 or in UB */
  struct expr panel, at_key, keys, part, c, l0; /* panel: first key, keys; of L0 */
  struct expr r0, rr, tile, wide; /* slice: first row, rows, address, lanes of a row */
};

/* ---- names and addresses ---- */

/* A value of a place gets its name, which has the suffix; numbers too, as the same name stands for
 * an expression elsewhere. */
struct expr fa_let(struct writer *w, struct place *p, const char *name, struct expr value);
/* A tensor that lies as Q, or as K. */
void fa_tensor(struct writer *w, const char *name, bool as_keys, enum tensor_io io);
void fa_workspace(struct writer *w, const char *name, enum dtype dtype, uint64_t extent0,
                  uint64_t extent1, uint64_t extent2);
/* Row `row` of head z, in a tensor of the operator's layout that has a head for each `group`. */
struct expr fa_row(struct writer *w, const char *tensor, const struct attention_strides *strides,
                   uint64_t heads, uint64_t group, struct expr z, struct expr row);
/* Row `row` of head z of a tensor with `rows` for each head, of some bytes each. */
struct expr fa_number(struct writer *w, const char *tensor, uint64_t rows, struct expr z,
                      struct expr row, uint64_t bytes);

/* Of a cache in blocks (paged.c): the row of a key, whose block the scalar unit reads; tensors; the
 * table's row of a task's sequence into L1, for the scalar unit. */
struct expr fa_page_row(struct writer *w, const char *tensor,
                        const struct attention_strides *strides, struct expr z, struct expr key);
void fa_page_tensors(struct writer *w);
void fa_load_table(struct writer *w, struct place *p);
/* Keys of the sequence of a task. */
struct expr fa_length(struct writer *w, struct place *p);

/* ---- tasks and steps ---- */

void fa_count_tasks(struct writer *w);
void fa_task(struct writer *w, struct place *p, struct expr i);
/* The number of task `i` of this block among all tasks. */
struct expr fa_task_number(struct writer *w, struct place *p, struct expr i);
void fa_step(struct writer *w, struct place *p, struct expr step);
typedef void fa_put(struct writer *w);
/* A stream that is one step ahead with what the other cores wait for, from the first step of the
 * first task on: then each step, and whether another step follows. `flags` sets those that say
 * "free", or takes them back. */
void fa_stream(struct writer *w, const char *comment, void (*flags)(struct writer *w, bool set),
               fa_put *put_first, void (*put_step)(struct writer *w, struct expr more));
void fa_signal(struct emit *e, enum pipe pipe, unsigned id);
void fa_await(struct emit *e, unsigned id);

/* ---- vector cores: the present slice ---- */

/* The rows of the slice, from row `row` of the head on, of a tensor of the operator's layout: out
 * of UB or to UB, where rows are whole fractals. */
void fa_copy_rows(struct writer *w, bool out, const char *tensor,
                  const struct attention_strides *strides, uint64_t heads, struct expr row,
                  struct expr ub);
/* Rows of single precision from the workspace; blocks between them in UB. */
void fa_load_values(struct writer *w, struct expr dst, struct expr src, struct expr rows);
/* dst op= src for each row, `stride` blocks apart; `spread`: a block of src is for all of a row. */
void fa_rows_op(struct writer *w, const char *inst, struct expr dst, struct expr dst_stride,
                struct expr src, uint64_t src_stride, bool spread);
/* dst = src in the type of the tensors. */
void fa_convert(struct writer *w, struct vunit *unit, unsigned dst, unsigned src);
/* Zeros, in counter mode. */
void fa_zero(struct emit *e, uint64_t address, uint64_t bytes);

/* Scores that are not seen (hide.c). Behind the last key of a step, and all of a part that is not
 * there; row by row behind the last key that is seen, before the window, and where a tensor says
 * so, whose rows are loaded before. The registers of `unit`: X0 scores; X1 and X2 are the
 * function's. */
void fa_pad(struct writer *w, struct place *p);
void fa_hide_later(struct writer *w, struct place *p, struct vunit *unit);
void fa_hide_below(struct writer *w, struct place *p, struct vunit *unit);
void fa_load_mask(struct writer *w, struct place *p);
void fa_hide_masked(struct writer *w, struct vunit *unit);

/* ---- cube.c, for both kinds of cube core ---- */

enum { FA_TILE_BYTES = ATTENTION_SIDE * ATTENTION_SIDE * HALF_BYTES }; /* of a half of L0 */

/* c[m, n] of tiles in L0; `first`: nothing is there yet. */
void fa_mad(struct writer *w, struct expr c, struct expr m, struct expr k, struct expr n,
            struct expr first);

/* ---- coupled cores (coupled_vector.c) ---- */

/* Elements of a row, those from row to row in device memory, rows of a column of 16 in L1. */
struct fa_matrix {
  uint64_t depth, row, pitch;
};
/* Fractals of a step's rows and keys (coupled_move.c). */
void fa_measure(struct writer *w, struct place *p);
void fa_zero_l1(struct emit *e, const char *name, uint64_t bytes);
/* Some rows to L1 by way of UB, as many at once as a stage takes; `turn` moves the first. */
void fa_load_through_ub(struct writer *w, const struct fa_matrix *matrix, struct expr dst,
                        struct expr src, struct expr rows, struct expr turn);
/* Rows of fractals of A, each along kk: `tall` of them from a matrix with `column` in a column,
 * from fractal column `from` on. The same of the turned matrix, which has `tall` in a column. */
void fa_load_a(struct writer *w, struct expr src, struct expr column, struct expr tall,
               struct expr from, struct expr kk);
void fa_load_a_turned(struct writer *w, struct expr src, struct expr tall, struct expr wide);
/* Rows of fractals of B, from fractal `base` on of a matrix with `pitch` rows in a column: those of
 * keys as they are, those of values transposed. */
void fa_load_b(struct writer *w, struct expr src, uint64_t pitch, struct expr base,
               struct expr rows, struct expr columns, bool values);

/* Columns op= a column that is for all: one after the other, or, where that is fewer instructions
 * than `most` columns take, four rows of all of them after the other. */
void fa_with_column(struct writer *w, struct vunit *unit, struct place *p, const char *inst,
                    unsigned reg, struct expr columns, uint64_t most, struct expr column);
/* Hides what a causal mask hides. The scores are register X0. */
void fa_hide_later_columns(struct writer *w, struct place *p, struct vunit *unit);
/* Scores in UB to probabilities in UB; the product with V in L0C to the result in device memory. */
void fa_coupled_softmax(struct writer *w, struct place *p);
void fa_coupled_update(struct writer *w, struct place *p);
/* What V does before the first step. */
void fa_coupled_clear(struct writer *w);

/* Flags of the gradient between V and M, and between V and MTE3. */
enum { FA_GRAD_SCORES, FA_GRAD_PRODUCTS, FA_GRAD_ROWS, FA_GRAD_KEYS };
enum { FA_GRAD_ANSWER, FA_GRAD_OUT };
/* coupled_grad_vector.c: what V does before the first step; numbers of a step's rows to UB; P and
 * dS of a step in UB; dQ of a step, dK and dV of a task to device memory. */
void fa_grad_clear(struct writer *w);
void fa_grad_load_numbers(struct writer *w, struct place *p);
void fa_grad_answer(struct writer *w, struct place *p);
void fa_grad_add_rows(struct writer *w, struct place *p);
void fa_grad_put_keys(struct writer *w, struct place *p);

/* ---- kernels ---- */

void fa_cube_stream(struct writer *w);    /* cube.c */
void fa_vector_stream(struct writer *w);  /* vector.c */
void fa_coupled_stream(struct writer *w); /* coupled.c */
void fa_coupled_grad_stream(struct writer *w);
/* ends.c; two kernels declare the workspace that one hands to the other. */
void fa_parts_workspace(struct writer *w);
void fa_grad_workspace(struct writer *w);
void fa_join(struct writer *w);
void fa_grad_first(struct writer *w);
void fa_grad_last(struct writer *w);

#endif
