/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A coarse run of a record on one core: in-order pipes with queues and flags, costs from the
 * instruction table, device memory for this core alone. Of a loop the first turns and the last
 * ones are run; what a turn between them adds is what the turns before have added.
 */
#ifndef VINCI_LOWER_ESTIMATE_TRIAL_H
#define VINCI_LOWER_ESTIMATE_TRIAL_H

#include "core/isa/known.h"
#include "lower/kernel/emit_record.h"

/* Moments of a core in cycles from the start of its block, and sums over its instructions. */
struct trial_times {
  uint64_t begin;         /* start of the first copy from device memory */
  uint64_t others_cycles; /* before that, waits for other cores that begin */
  uint64_t first_end;     /* its first turn of the tile loop has read all */
  uint64_t
      read_end; /* of the last copy from device memory; behind a meeting of cores, L2 has all */
  uint64_t write_end;                 /* the last byte of the last copy to device memory has left */
  uint64_t end;                       /* of the block */
  uint64_t first_bytes, second_bytes; /* that those turns have read */
  uint64_t turns;                     /* of the tile loop */
  bool over;                          /* the block has not been run to its end */
  bool ahead; /* the second turn reads before the first one is through: into another buffer */
  uint64_t read_bytes, write_bytes, write_copies;
  uint64_t reading_cycles, writing_cycles; /* in which copies move bytes */
  uint64_t busy[PIPE_COUNT];
  uint64_t tensor_bytes[sizeof((struct record *)0)->tensor / sizeof(struct record_tensor)];
};

struct trial;
/* NULL: memory is short. */
struct trial *trial_new(const struct vinci_soc *soc, struct arena *arena);
/* Runs a block, no further than to a cycle behind the limit; false where the record cannot be run.
 */
bool trial_run(struct trial *trial, const struct record *record, const struct record_stream *stream,
               uint64_t block, uint64_t limit, struct trial_times *out);

#endif
