/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a transfer asks GM for. Engines cut each run of bytes at the boundaries of the GM
 * address and ask for whole pieces (Ascend C documentation: requests of 128, 256 or 512
 * bytes, rounded up), so a run that starts off a boundary needs one request more than its
 * length says. A request size is a parameter of the path, path.*.request_bytes; lines of
 * another size, as those of L2, are counted in the same way.
 */
#ifndef VINCI_MEMHIER_REQUESTS_H
#define VINCI_MEMHIER_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

/* The GM side of a transfer, as in struct inst_cost. */
struct request_runs {
  uint64_t address;
  uint64_t bursts;
  uint64_t burst_bytes;
  uint64_t stride_bytes; /* from start to start */
};

struct request {
  uint64_t address; /* a multiple of the request size */
  uint64_t bytes;   /* the request size */
  uint64_t used_bytes;
};

struct request_totals {
  uint64_t requests;
  uint64_t requested_bytes;
  uint64_t used_bytes;
};

/* Walks through the requests of a transfer in order of bursts and addresses. */
struct request_walk {
  struct request_runs runs;
  uint64_t request_bytes;
  uint64_t burst;
  uint64_t offset; /* inside the burst: what has been asked for */
};

void requests_begin(struct request_walk *walk, struct request_runs runs, uint64_t request_bytes);
/* The next request; false when there is none. */
bool requests_next(struct request_walk *walk, struct request *request);

/* The sums over all requests, without walking: bursts at the same place between two
 * boundaries need the same number. request_bytes > 0. */
struct request_totals requests_total(struct request_runs runs, uint64_t request_bytes);

#endif
