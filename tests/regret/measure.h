/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much longer the tiling that is chosen takes than the best of an operator's tilings: its
 * regret. All are simulated with vinci_evaluate().
 */
#ifndef VINCI_TESTS_REGRET_MEASURE_H
#define VINCI_TESTS_REGRET_MEASURE_H

#include "core/vinci_evaluate.h"

enum { REGRET_SHAPES = 4 };

/* A row of cases.def. */
struct regret_case {
  const char *op;
  double percent; /* at most, on Ascend910B4 with flat memory */
  const char *args;
  const char *shape[REGRET_SHAPES];
};
size_t regret_case_count(void);
const struct regret_case *regret_case(size_t index);
extern const char *const regret_shape_name[REGRET_SHAPES];

struct regret_options {
  struct vinci_evaluate_options evaluate;
  size_t most; /* tilings of a space that are simulated, at least 2 */
};

struct regret {
  /* VINCI_E_USAGE: the chip cannot have the operator in this shape; text says why. */
  enum vinci_status status;
  char text[240];
  size_t space;     /* different tilings */
  size_t simulated; /* of these */
  uint64_t chosen_cycles, estimated_cycles, best_cycles, best_estimated_cycles;
  char chosen[512], best[512]; /* arguments */
};

/*
 * Simulates the tiling that is chosen for a shape of a case and others. Of a space with more than
 * `most` tilings, one half of `most` are the cheapest by estimate, the other half lie at equal
 * distances in the order of the estimates of all others.
 */
void regret_measure(const vinci_soc *soc, const struct regret_case *row, unsigned shape,
                    const struct regret_options *options, struct regret *out);
/* Of the best; 12.5 stands for an eighth longer. */
double regret_percent(const struct regret *regret);

#endif
