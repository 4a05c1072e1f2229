/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates of steps on tiles of rows: repeats of instructions, what each takes to start behind the
 * one it waits for, and how many instructions the scalar unit issues. The forms are those that
 * rowwise.c writes.
 */
#include "core/base/arith.h"
#include "core/isa/isa.h"
#include "lower/vector/rows/rowwise.h"

/* A barrier and an instruction; a mask is set by two more. */
enum { STEP_INSTRUCTIONS = 2, MASK_INSTRUCTIONS = 2 };

/* What the mask of a step covers: it is set anew where that changes. */
enum mask { MASK_NONE, MASK_TILE, MASK_LANES, MASK_COLUMN };

struct count {
  const struct vinci_soc *soc;
  bool single;                   /* one row */
  uint64_t rows, lanes;          /* columns of 64 lanes */
  uint64_t start;                /* of an instruction behind the one it waits for */
  uint64_t cycles, instructions; /* the result */
  enum mask mask;
};

static void set_mask(struct count *count, enum mask mask) {
  count->instructions += mask != count->mask ? MASK_INSTRUCTIONS : 0;
  count->mask = mask;
}

/* N instructions, one behind the other, of as many repeats each. */
static void add(struct count *count, uint64_t instructions, uint64_t repeat_cycles) {
  count->instructions += STEP_INSTRUCTIONS * instructions;
  count->cycles += instructions * (count->start + repeat_cycles);
}

/* Lanes of all rows into the accumulator, then each row of that into a number. */
static void add_reduction(struct count *count, const struct vstep *step) {
  const uint64_t two_sources = 2;
  const struct vector_class_cost *folds = &count->soc->vector_class[isa_row(OP_VCADD)->class32];
  uint64_t fold = count->rows * (uint64_t)folds->per_repeat_mcycles / MILLI;
  uint64_t accumulate = max_u64((uint64_t)count->soc->accumulate_mcycles / MILLI, two_sources);
  if (count->single) {
    set_mask(count, MASK_LANES);
    add(count, 1, 1);
    set_mask(count, MASK_TILE);
    add(count, 1, count->lanes * accumulate);
  } else {
    uint64_t sums = count->lanes - (count->lanes > 1 && !step->from_zero);
    set_mask(count, MASK_LANES);
    add(count, count->lanes > 1 || step->from_zero ? sums : 0, count->rows * two_sources);
  }
  set_mask(count, MASK_LANES);
  add(count, 1, fold);
}

/* The columns of lanes follow each other without a barrier. */
static void add_columns(struct count *count, uint64_t repeat_cycles) {
  if (count->single) {
    set_mask(count, MASK_TILE);
    add(count, 1, count->lanes * repeat_cycles);
    return;
  }
  set_mask(count, MASK_LANES);
  add(count, 1, count->lanes * count->rows * repeat_cycles);
  count->instructions += count->lanes - 1;
}

static void add_step(struct count *count, const struct vstep *step) {
  const uint64_t flags = 4, two_sources = 2;
  uint64_t mcycles = vstep_cost_mcycles(count->soc, step, DTYPE_FP32);
  switch (step->form) {
  case VFORM_REDUCE:
    add_reduction(count, step);
    break;
  case VFORM_READ:
    count->instructions += flags;
    break;
  case VFORM_SPREAD:
    set_mask(count, MASK_COLUMN);
    add(count, 1, ceil_div(count->rows, ROWWISE_LANES));
    break;
  case VFORM_TILE_COLUMN:
  case VFORM_TILE_ROW:
  case VFORM_WITH_COLUMN:
  case VFORM_WITH_ROW:
    add_columns(count, mcycles / MILLI);
    break;
  case VFORM_ADD_ROWS:
    set_mask(count, MASK_TILE);
    add(count, count->rows, count->lanes * two_sources);
    break;
  default:
    set_mask(count, step->column ? MASK_COLUMN : MASK_TILE);
    add(count, 1, step->column ? two_sources : count->rows * count->lanes * mcycles / MILLI);
    break;
  }
}

static struct count count_of(const struct vinci_soc *soc, const struct vtile *tile,
                             uint64_t pitch) {
  return (struct count){
      .soc = soc,
      .single = tile->rows == 1,
      .rows = tile->rows,
      .lanes = ceil_div(pitch, ROWWISE_LANES),
      .start = (uint64_t)soc->vector_class[VECTOR_CLASS_TWO].startup_mcycles / MILLI,
  };
}

static void give(const struct count *count, struct vtile_work *work) {
  work->vector_cycles += count->cycles;
  work->instructions += count->instructions;
}

void rowwise_count(const struct vinci_soc *soc, const struct vtile *tile, uint64_t pitch,
                   const struct vstep *steps, struct vtile_work *work) {
  struct count count = count_of(soc, tile, pitch);
  for (const struct vstep *step = steps; step->form != VFORM_END; step++)
    add_step(&count, step);
  give(&count, work);
}

void rowwise_count_plain(const struct vinci_soc *soc, const struct vtile *tile, uint64_t pitch,
                         uint64_t steps, struct vtile_work *work) {
  struct count count = count_of(soc, tile, pitch);
  set_mask(&count, MASK_TILE);
  add(&count, steps, count.rows * count.lanes);
  give(&count, work);
}
