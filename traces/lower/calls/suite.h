/* SPDX-License-Identifier: Apache-2.0 */
/* gate import: a suite of the operators of a list. */
#ifndef VINCI_TRACES_LOWER_CALLS_SUITE_H
#define VINCI_TRACES_LOWER_CALLS_SUITE_H

#include "scripts/gate/gate.h"

struct gate_import {
  const char *list;
  const char *soc;    /* of rows that name none; may be NULL */
  const char *data;   /* --data, may be NULL */
  const char *output; /* NULL: standard output */
  struct workload_models models;
  bool quiet;
};

/* Writes the suite; VINCI_E_INPUT when no row can be compiled. */
VINCI_MUST_CHECK enum vinci_status gate_import_list(const struct gate_import *import,
                                                    struct vinci_diag *diag);

#endif
