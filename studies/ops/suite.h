/* SPDX-License-Identifier: Apache-2.0 */
/* A suite for `vinci gate` of the operators of a list. */
#ifndef VINCI_STUDIES_OPS_SUITE_H
#define VINCI_STUDIES_OPS_SUITE_H

#include "networks/workload/workload.h"

struct calls_suite {
  const char *list;   /* CSV file */
  const char *soc;    /* of rows that name none; may be NULL */
  const char *data;   /* the folder that holds soc/, may be NULL */
  const char *output; /* the suite; NULL: to `out` */
  FILE *out;
  struct workload_models models;
};

struct calls_suite_counts {
  size_t rows, points, left_out;
};

/* Writes the suite; VINCI_E_INPUT when no row can be compiled. */
VINCI_MUST_CHECK enum vinci_status calls_write_suite(const struct calls_suite *suite,
                                                     struct calls_suite_counts *counts,
                                                     struct vinci_diag *diag);

#endif
