/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a job that take memory and give that back. */
#ifndef VINCI_DEVICES_JOBS_JOB_MEMORY_H
#define VINCI_DEVICES_JOBS_JOB_MEMORY_H

#include "devices/jobs/job.h"

struct text_reader;

/* A name, and what rows of the program that is being read do with its memory. */
struct job_memory {
  const char *name;
  bool used, several; /* by the program; in more than one stream */
  uint32_t stream;
  uint64_t held;
  unsigned long line, column; /* of the first row that gives back more than is held; 0: none */
};

/* All zero: no name. */
struct job_memories {
  struct job_memory items[JOB_MEMORIES_MAX];
  uint32_t count;
};

/* Reads bytes of a row that takes or gives back memory of a name. Errors: VINCI_E_INPUT. */
VINCI_MUST_CHECK enum vinci_status job_memory_take(struct job_memories *memories,
                                                   struct text_reader *reader, const char *name,
                                                   uint32_t stream, struct group_op *op);
/*
 * A program ends. An error where one stream alone has rows of a name, and gives back more than it
 * has taken; rows of several streams are checked in the run (devices/flow/run_memory.c).
 */
VINCI_MUST_CHECK enum vinci_status job_memories_end(struct job_memories *memories,
                                                    struct text_reader *reader);
/* The names become those of the job. */
VINCI_MUST_CHECK enum vinci_status job_memories_keep(const struct job_memories *memories,
                                                     struct text_reader *reader,
                                                     struct group_job *job);

#endif
