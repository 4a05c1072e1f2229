/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the reader of suites share. */
#ifndef VINCI_STUDIES_GATE_SUITE_READER_H
#define VINCI_STUDIES_GATE_SUITE_READER_H

#include "studies/files/reader.h"
#include "studies/gate/suite.h"

struct gate_reader {
  struct study_reader common;
  struct gate_suite *suite;
  const struct model_steps *steps; /* NULL: nobody makes steps of models */
  struct run_spec overrides;       /* of the caller, for all points */
  size_t capacity;                 /* of the points of the suite */
};

/* ---- proofs (suite_proof.c) ---- */
/* Of the point on top of the stack, whose workload is read. */
VINCI_MUST_CHECK enum vinci_status gate_read_proof(struct gate_reader *reader,
                                                   struct gate_point *point);

/* ---- folders (suite_folder.c) ---- */
/* The traces of a folder, by name; for free(), as is each. */
struct gate_folder {
  char **names; /* "add.csv" */
  size_t count;
};
VINCI_MUST_CHECK enum vinci_status gate_folder_open(struct gate_reader *reader, const char *path,
                                                    struct gate_folder *out);
void gate_folder_close(struct gate_folder *folder);

#endif
