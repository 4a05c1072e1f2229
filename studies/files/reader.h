/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What study and suite files say of runs: a workload on a chip, by some models. A study says so
 * once for all its points, a suite for each point, with defaults:
 *
 *     soc = "Ascend910B4", set = { "l2.size=96MiB" },
 *     op = "matmul", m = 512, k = 512, n = 512,        -- or trace = "file.csv"
 *     memory = "cycle", network = "packet", l2 = "warm", max_cycles = 1000000,
 *
 * Fields that have no other meaning are arguments of the operator. Paths are relative to the file.
 */
#ifndef VINCI_STUDIES_FILES_READER_H
#define VINCI_STUDIES_FILES_READER_H

#include "networks/workload/workload.h"
#include "studies/files/file.h"

struct study_reader {
  struct lua_file file;
  struct vinci_diag *diag;
  const char *who;           /* of whom messages speak: "point 'mm'"; NULL: of the whole file */
  const char *const *others; /* fields that the file has beside those of a run; ends with NULL */
  /* Fields of a job beside system, ends with NULL; one that ends in '.' is how they begin. */
  const char *const *job_fields;
};

/* Fields of the table on top of the stack but for the workload; what is not given stays, overrides
 * come behind those that are there. */
VINCI_MUST_CHECK enum vinci_status study_read_settings(struct study_reader *reader,
                                                       struct run_spec *spec);
/* The operator with its arguments, or the trace. */
VINCI_MUST_CHECK enum vinci_status study_read_workload(struct study_reader *reader,
                                                       struct run_spec *spec);
/* Makes a path of the file one from here: paths are relative to the folder of the file. */
VINCI_MUST_CHECK enum vinci_status study_resolve(struct study_reader *reader, const char **path);
/* Hints at the field of a run that an unknown key may stand for, or one of more, which ends with
 * NULL. */
void study_hint_field(const char *key, const char *const *more, struct vinci_diag *diag);
/* Whether study_read_settings() reads a field of this name. */
bool study_is_setting(const char *key);

#endif
