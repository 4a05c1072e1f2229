/* SPDX-License-Identifier: Apache-2.0 */
/* What the journals of a study say of its points (journal.c). */
#ifndef VINCI_STUDIES_SWEEP_RECORDS_H
#define VINCI_STUDIES_SWEEP_RECORDS_H

#include "core/base/arena.h"
#include "core/base/diag.h"

enum { SWEEP_RECORD_MAX = 4096 };

/* Where the records are, by id: their cells stay in the journals, so that memory holds 24 bytes of
 * a point. */
enum { SWEEP_FILES_OPEN = 64 };
struct sweep_records {
  struct arena arena; /* names of journals */
  struct sweep_record {
    uint64_t id;
    uint64_t offset; /* of the cells in the journal */
    uint32_t file;   /* the journal */
    uint16_t bytes;  /* of the cells */
    bool crashed;    /* the process of the point died: the point is to be tried again */
  } * items;         /* sorted by id, each once */
  size_t count;
  size_t torn; /* lines that were not whole: a process was killed while it wrote */
  const char **files;
  size_t file_count;
  struct sweep_open_file {
    uint32_t file;
    int descriptor; /* -1: none */
  } open[SWEEP_FILES_OPEN];
};

VINCI_MUST_CHECK enum vinci_status sweep_records_read(const char *folder, struct sweep_records *out,
                                                      struct vinci_diag *diag);
void sweep_records_free(struct sweep_records *records);
/* NULL when there is none. */
const struct sweep_record *sweep_records_find(const struct sweep_records *records, uint64_t id);
/* Reads the cells of a record, with a zero behind. Errors: the journal is gone or shorter. */
VINCI_MUST_CHECK enum vinci_status sweep_records_cells(struct sweep_records *records,
                                                       const struct sweep_record *record,
                                                       char cells[static SWEEP_RECORD_MAX],
                                                       struct vinci_diag *diag);

#endif
