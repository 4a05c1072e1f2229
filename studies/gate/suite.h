/* SPDX-License-Identifier: Apache-2.0 */
/* Suites: the points of a gate, each with what runs and what that has to show. */
#ifndef VINCI_STUDIES_GATE_SUITE_H
#define VINCI_STUDIES_GATE_SUITE_H

#include "networks/workload/workload.h"
#include "studies/job/model.h"

/* A tensor and the .npy file of its values. */
struct gate_tensor {
  const char *name;
  const char *path;
};

/* What a point has to show beside its numbers. */
struct gate_proof {
  bool check; /* the program has no findings */
  struct gate_tensor *inputs, *expected;
  size_t input_count, expected_count;
  bool fills;    /* inputs without a file: zero, or by the seed */
  uint64_t seed; /* 0: zero */
  double atol, rtol;
};

struct gate_point {
  const char *name;
  struct run_spec spec;
  struct vinci_run_options options; /* as spec says */
  struct gate_proof proof;
};

struct gate_suite {
  struct arena arena;
  const char *path;
  const char *name; /* of the file, without folder and .lua */
  struct gate_point *points;
  size_t count;
};

/* steps: of points that are models; NULL: such a point is an error. */
VINCI_MUST_CHECK enum vinci_status gate_suite_open(struct gate_suite *suite, const char *path,
                                                   const struct vinci_overrides *overrides,
                                                   const struct model_steps *steps,
                                                   struct vinci_diag *diag);
void gate_suite_free(struct gate_suite *suite);

#endif
