/* SPDX-License-Identifier: Apache-2.0 */
/* A job that is being read: what the rows of all kinds share. */
#ifndef VINCI_DEVICES_JOBS_JOB_READER_H
#define VINCI_DEVICES_JOBS_JOB_READER_H

#include "devices/jobs/job.h"
#include "devices/jobs/job_events.h"
#include "devices/jobs/job_memory.h"
#include "traces/format/text_fields.h"

/* An operation of the program that is being read. */
struct job_row {
  struct job_row *next;
  uint32_t stream;
  struct group_op op;
  struct job_kernel *kernel; /* NULL: its time is given */
  bool memory_given;
};

struct job_reader {
  struct job *job;
  struct group_family *families;
  const struct group_program **programs; /* by rank */
  struct group_program *program;         /* that is being read, NULL: none yet */
  uint32_t *list;                        /* the list of ranks that is being read */
  struct job_row *first, **end;
  struct job_events events;
  struct job_memories memories;
  uint32_t counts[JOB_STREAMS_MAX];
};

static inline struct job_reader *job_of(struct text_reader *reader) { return reader->object; }

struct rank_list {
  uint32_t *ranks;
  uint32_t count;
};

/* The ranks up to the end of the text or a bar, *at then. */
VINCI_MUST_CHECK enum vinci_status job_take_ranks(struct text_reader *reader, size_t field,
                                                  const char **at, struct rank_list *out);
/* A share from 0 to 1, 0 where there is none, in thousandths; what: of what it is, for errors. */
VINCI_MUST_CHECK enum vinci_status job_take_share(struct text_reader *reader, const char *key,
                                                  const char *what, uint32_t *out_milli);
/* The number of families where no family has the name. */
uint32_t job_find_family(const struct job_reader *own, const char *name);
/* Rows of a program (job_ops.c), and faults (job_faults.c). */
VINCI_MUST_CHECK enum vinci_status job_op_row(struct text_reader *reader, enum group_op_kind kind);
VINCI_MUST_CHECK enum vinci_status job_fault_row(struct text_reader *reader);

#endif
