/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps on tiles of rows as one vector function, on chips that have these (dav-c310): values stay
 * in registers between steps, in single precision. Steps are cut into passes over a row: a
 * reduction ends with its pass, as the steps behind need its number. What a later pass reads goes
 * through UB; of rows of a few registers all stays in registers.
 */
#ifndef VINCI_LOWER_VECTOR_ROWS_ROWFUNC_H
#define VINCI_LOWER_VECTOR_ROWS_ROWFUNC_H

#include "lower/vector/tiles.h"
#include "lower/vector/unit.h"

/* Rows in UB: row i at `at` + i * `row_bytes`; 0: one row for all. */
struct rowfunc_rows {
  struct expr at;
  uint64_t row_bytes;
  enum dtype type; /* fp32, or fp16 or bf16, which loads and stores convert */
};

enum { ROWFUNC_RESULTS = 3 };
struct rowfunc {
  struct emit *emit;
  const struct vstep *steps;                   /* up to VFORM_END */
  const double *parameter;                     /* as of struct vunit */
  struct rowfunc_rows value[VREGS];            /* inputs, and what rowfunc_keeps() names, in fp32 */
  struct rowfunc_rows result[ROWFUNC_RESULTS]; /* Y0 to Y2; of fp32: where the value is kept */
  struct expr n_rows;
  uint64_t cols;
};

/* Loads go so far behind a row, in lanes that are not used. */
enum { ROWFUNC_TAIL_BYTES = 256 };

/* Whether the chip has vector functions, and one can be made of these steps. */
bool rowfunc_knows(const struct vinci_soc *soc, const struct vstep *steps);
/* Whether a function is worth its start and its numbers of rows: each takes instructions of its own
 * here, where one on UB computes those of 64 rows. */
bool rowfunc_pays(const struct vstep *steps, uint64_t cols);
/* Registers that a pass leaves in UB for the passes behind. */
uint32_t rowfunc_keeps(const struct vinci_soc *soc, const struct vstep *steps, uint64_t cols);
/* The rows from vf_begin to vf_call. Y0 to Y2 are the results; what is kept is of no use behind
 * the function. */
void rowfunc_put(const struct rowfunc *function);

#endif
