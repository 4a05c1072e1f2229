/* SPDX-License-Identifier: Apache-2.0 */
/* What the drivers of synthetic traffic share. Internal to noc/. */
#ifndef VINCI_NOC_STREAM_STATE_H
#define VINCI_NOC_STREAM_STATE_H

#include "noc/stream.h"

enum { NOC_STREAM_FLITS_MAX = 1024 };
#define NOC_STREAM_CYCLES_MAX INT64_C(1000000000)

struct stream_run {
  struct noc_map map;
  const struct noc_stream *stream;
  struct noc_stream_result *result;
  uint64_t *random;   /* state of each terminal's generator */
  uint32_t *hops;     /* [source][destination] */
  uint64_t threshold; /* a trial succeeds below it, of 2^32 */
  uint64_t start;     /* measured cycles */
  uint64_t end;
  uint32_t side; /* of the square of terminals */
  uint32_t corners[4];
  uint64_t open_packets; /* measured packets under way, */
  uint64_t open_created; /* and the sum of the cycles they were created in */
};

/* One cycle's trial of a terminal: whether it creates a packet, and where to. */
bool stream_trial(struct stream_run *run, uint32_t source, uint32_t *destination);
/* Bookkeeping at creation and arrival. */
void stream_created(struct stream_run *run, uint64_t created, bool measured);
void stream_arrived(struct stream_run *run, uint32_t source, uint32_t destination, uint64_t created,
                    uint64_t arrival, bool measured);
/* Whether mean latency, packets still under way included, is past the mark. */
bool stream_too_slow(const struct stream_run *run, uint64_t cycle);

enum vinci_status stream_run_flits(struct stream_run *run, struct arena *arena,
                                   struct vinci_diag *diag);
enum vinci_status stream_run_hops(struct stream_run *run, struct arena *arena,
                                  struct vinci_diag *diag);

#endif
