/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synthetic traffic over a network, measured the way network simulators do: each
 * terminal creates packets by independent trials (Bernoulli) at a rate in flits per
 * terminal and cycle; latency counts from creation to the arrival of the last flit, so
 * time in the source's queue counts; packets to the sender itself are allowed.
 */
#ifndef VINCI_NOC_STREAM_H
#define VINCI_NOC_STREAM_H

#include "noc/noc.h"

/* Levels: id, name. */
#define NOC_LEVEL_LIST(X)                                                                          \
  X(PACKET, "packet")                                                                              \
  X(FLIT, "flit")                                                                                  \
  X(PACKET_HOPS, "packet-hops")

/* PACKET walks the way of a packet in one call, PACKET_HOPS takes it hop by hop. */
enum noc_level {
#define X(id, name) NOC_LEVEL_##id,
  NOC_LEVEL_LIST(X)
#undef X
      NOC_LEVEL_COUNT
};

/* Traffic: id, name, where packets go. */
#define NOC_TRAFFIC_LIST(X)                                                                        \
  X(UNIFORM, "uniform", "to any terminal, equally likely")                                         \
  X(TRANSPOSE, "transpose", "from row r, column c of a square to row c, column r")                 \
  X(HOTSPOT1, "hotspot1", "to the first terminal")                                                 \
  X(HOTSPOT4, "hotspot4", "to the four corners, equally likely")

enum noc_traffic {
#define X(id, name, text) NOC_TRAFFIC_##id,
  NOC_TRAFFIC_LIST(X)
#undef X
      NOC_TRAFFIC_COUNT
};

/* NOC_LEVEL_COUNT and NOC_TRAFFIC_COUNT when there is no such name. */
enum noc_level noc_level_by_name(const char *name);
enum noc_traffic noc_traffic_by_name(const char *name);
const char *noc_traffic_name(enum noc_traffic traffic);

enum {
  NOC_RATE_ONE = 1000000, /* rates are in millionths */
  /* Marks of the reference measurements (BookSim 2): warm-up, sample, unstable latency. */
  NOC_STREAM_WARMUP_CYCLES = 9000,
  NOC_STREAM_SAMPLE_CYCLES = 3000,
  NOC_STREAM_UNSTABLE_CYCLES = 500,
};

struct noc_stream {
  enum noc_level level;
  enum noc_traffic traffic;
  uint32_t flits;    /* per packet */
  uint32_t rate_ppm; /* flits per terminal and cycle, millionths; at most NOC_RATE_ONE */
  uint64_t cycles;   /* measured, after the warm-up */
  uint64_t seed;
  bool overload; /* measure throughput only: go on though latency has no bound */
};

struct noc_stream_result {
  bool stable;             /* mean latency below the mark throughout, all packets arrived */
  uint64_t packets;        /* measured: created in the measured cycles */
  uint64_t latency_cycles; /* sums over them: creation to arrival, */
  uint64_t hops;           /* routers visited */
  uint64_t accepted_flits; /* arrived in the measured cycles, whoever created them */
  uint64_t cycles;         /* measured */
  uint64_t terminals;
  uint64_t total_packets; /* of the whole run */
  uint64_t total_flit_hops;
  uint64_t total_cycles;
  uint64_t busiest_link_flits; /* of the whole run, ports to terminals included */
};

/* VINCI_E_USAGE for traffic that the network cannot have. */
VINCI_MUST_CHECK enum vinci_status noc_stream_run(const struct noc_config *config,
                                                  const struct noc_stream *stream,
                                                  struct noc_stream_result *result,
                                                  struct vinci_diag *diag);

#endif
