/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the writers of flash_attention and its gradient: what their files share. */
#ifndef VINCI_TRACES_LOWER_ATTENTION_WRITER_H
#define VINCI_TRACES_LOWER_ATTENTION_WRITER_H

#include "traces/lower/attention/attention.h"
#include "traces/lower/vector/rows.h"

/* Signals between the cores of a block. */
enum { SIGNAL_SCORES, SIGNAL_PROBABILITIES, SIGNAL_PARTIAL };

struct attention_writer {
  struct emit *e;
  const struct attention *at;
  struct attention_tiling t;
};

/* What cube.c has for every stream. */
enum { ATTENTION_HALF_BYTES = 2 };
enum { ATTENTION_TILE_BYTES = ATTENTION_SIDE * ATTENTION_SIDE * ATTENTION_HALF_BYTES };
const char *attention_rounded(struct emit *e, const char *count); /* to whole fractals */
void attention_tensor(const struct lower_job *job, struct emit *e, const char *name, uint64_t heads,
                      uint64_t rows, enum tensor_io io);
void attention_nd2nz(const struct attention_writer *w, const char *dst, const char *src,
                     const char *rows, const char *cols, uint64_t src_stride, const char *dst_rows);
void attention_load_kv(const struct attention_writer *w, const char *tensor, const char *buffer,
                       const char *flag, const char *x, bool columns);
void attention_load_rows(const struct attention_writer *w, const char *tensor, const char *buffer,
                         const char *x);
void attention_rows_to_l0a(const struct attention_writer *w, const char *src, const char *rows,
                           const char *start, const char *count, const char *channels);
void attention_columns_to_l0b(const struct attention_writer *w, const char *src);
void attention_rows_to_l0b(const struct attention_writer *w, const char *src, const char *rows,
                           const char *start);
void attention_l0_filled(const struct attention_writer *w);
/* c[rows, cn] of tiles in L0; `first`: nothing is there yet. */
void attention_mad(const struct attention_writer *w, const char *c, const char *rows,
                   const char *first);
/* Lets of panel p of a step: keys from at on, cw of them, half of L1. */
void attention_panel(const struct attention_writer *w, const char *s, const char *x);

void attention_count_tasks(const struct attention_writer *w);
/* Lets of task number `i` of this core, their names ending in `x`. */
void attention_task(const struct attention_writer *w, const char *i, const char *x);
/* Lets of step `s` of the task with the suffix; keys from `key` on, cc of them; slot of workspace.
 */
void attention_step(const struct attention_writer *w, const char *s, const char *x);
/* Opens the loops over tasks and steps with what is known of the next step, ending in "x". */
void attention_open(const struct attention_writer *w);
/* A part of a cube core's stream. */
typedef void attention_put(const struct attention_writer *w);
/* Tasks and steps of a cube core: scores a step ahead of what becomes of them; so many flags guard
 * buffers in L1. */
void attention_cube_stream(const struct attention_writer *w, unsigned l1_flags,
                           attention_put *put_scores, attention_put *put_results);
void attention_vector_stream(const struct attention_writer *w);
/* Tensors of what becomes of parts of the keys, and the kernel that joins them. */
void attention_parts_workspace(const struct attention_writer *w);
/* A step's cycles of a cube core: pipes that have but one buffer between them take turns. */
uint64_t attention_cube_cycles(const struct attention_tiling *t, uint64_t cube, uint64_t mte1,
                               uint64_t mte2, uint64_t fix);
/* Vector cores for the kernel that joins parts, so many rows at a time. */
uint64_t attention_join_cores(const struct vinci_soc *soc, const struct attention *at,
                              const struct attention_tiling *t, uint64_t rows);
void attention_join(const struct attention_writer *w, const struct lower_job *job);
/* Of the vector core that runs: `mine` rows of the task from `from` on. Lets of a slice of them. */
void attention_share(const struct attention_writer *w, const char *x);
void attention_slice(const struct attention_writer *w, const char *x);
/* Row by row where keys are hidden from it, in scores at `tile`, `wide` of them in a row. */
void attention_hide(const struct attention_writer *w, struct vrows *rows, const char *x);

#endif
