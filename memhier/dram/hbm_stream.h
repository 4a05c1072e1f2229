/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synthetic request streams on the DRAM model alone, for comparison with other memory
 * simulators: one in-order stream of 64-byte requests, cut into bursts, over one
 * channel or a whole stack. A burst that its controller refuses holds up all later bursts.
 */
#ifndef VINCI_MEMHIER_DRAM_HBM_STREAM_H
#define VINCI_MEMHIER_DRAM_HBM_STREAM_H

#include "memhier/dram/hbm_channel.h"

/* Streams: id, name, sentence. Request j = 0, 1, ... of 64 bytes; span = bytes in use. */
#define HBM_STREAM_LIST(X)                                                                         \
  X(SEQR, "seqr", "reads of 64*j")                                                                 \
  X(SEQW, "seqw", "writes of 64*j")                                                                \
  X(RAND, "rand", "reads of random addresses")                                                     \
  X(RANDW, "randw", "writes of random addresses")                                                  \
  X(STRIDE, "stride", "reads of stride*j")                                                         \
  X(MIX21, "mix21", "64*j, every third a write")                                                   \
  X(ADD3, "add3", "three arrays a quarter of the span apart in turn, the third written")           \
  X(RMIX21, "rmix21", "random addresses, a random third written")

enum hbm_stream_kind {
#define X(id, name, text) HBM_STREAM_##id,
  HBM_STREAM_LIST(X)
#undef X
      HBM_STREAM_KINDS
};

/* How requests are fed: id, name, sentence. */
#define HBM_FEED_LIST(X)                                                                           \
  X(SAT, "sat", "every cycle, until one burst is refused or two per channel are taken")            \
  X(LOAD, "load", "one request every T cycles into a queue, whose head is offered every cycle")    \
  X(CHASE, "chase", "one burst at a time, the first of each request, after the one before")

enum hbm_feed {
#define X(id, name, text) HBM_FEED_##id,
  HBM_FEED_LIST(X)
#undef X
      HBM_FEEDS
};

enum { HBM_REQUEST_BYTES = 64, HBM_PERIOD_SCALE = 10000 };

struct hbm_stream {
  enum hbm_stream_kind kind;
  enum hbm_feed feed;
  uint64_t stride_bytes;  /* STRIDE */
  uint64_t period_scaled; /* LOAD: cycles between requests, times HBM_PERIOD_SCALE */
  uint64_t cycles;        /* length of the run */
  uint64_t requests_max;  /* CHASE: ends after N requests; 0 = no limit */
  unsigned channels;      /* pseudo-channels, a power of two */
};

struct hbm_stream_result {
  struct hbm_counters commands; /* of all channels */
  uint64_t ended_reads;         /* within the run */
  uint64_t latency_sum_cycles;  /* of those, from taking to the last data beat */
  uint64_t latency_min_cycles;
  uint64_t latency_max_cycles;
  uint64_t backlog_bursts; /* LOAD: not yet taken at the end */
  uint64_t cycles;         /* simulated */
};

const char *hbm_stream_name(enum hbm_stream_kind kind);

/* Sets kind and stride from "seqr", "stride:256"; feed and period from "sat", "load:13.3333". */
VINCI_MUST_CHECK enum vinci_status hbm_stream_parse_kind(struct hbm_stream *stream,
                                                         const char *text, struct vinci_diag *diag);
VINCI_MUST_CHECK enum vinci_status hbm_stream_parse_feed(struct hbm_stream *stream,
                                                         const char *text, struct vinci_diag *diag);

/*
 * Runs one stream on new channels. latency (may be NULL) is called with the latency of
 * each read that ends within the run; command (may be NULL) with each command and the
 * number of its controller.
 */
struct hbm_stream_hooks {
  void *context;
  void (*latency)(void *context, uint64_t cycles);
  void (*command)(void *context, unsigned controller, const struct hbm_command *command);
};

VINCI_MUST_CHECK enum vinci_status
hbm_stream_run(const struct mem_spec *mem, const struct hbm_map *map,
               const struct hbm_stream *stream, const struct hbm_stream_hooks *hooks,
               struct hbm_stream_result *result, struct vinci_diag *diag);

#endif
