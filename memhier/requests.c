/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts transfers into requests at boundaries of the GM address. */
#include "memhier/requests.h"

void requests_begin(struct request_walk *walk, struct request_runs runs, uint64_t request_bytes) {
  if (runs.burst_bytes == 0)
    runs.bursts = 0;
  *walk = (struct request_walk){.runs = runs, .request_bytes = request_bytes};
}

bool requests_next(struct request_walk *walk, struct request *request) {
  const struct request_runs *runs = &walk->runs;
  if (walk->burst == runs->bursts)
    return false;
  uint64_t from = runs->address + walk->burst * runs->stride_bytes + walk->offset;
  uint64_t into = from % walk->request_bytes;
  uint64_t room = walk->request_bytes - into, left = runs->burst_bytes - walk->offset;
  *request = (struct request){
      .address = from - into,
      .bytes = walk->request_bytes,
      .used_bytes = left < room ? left : room,
  };
  walk->offset += request->used_bytes;
  if (walk->offset == runs->burst_bytes) {
    walk->offset = 0;
    walk->burst++;
  }
  return true;
}

static uint64_t requests_of_burst(uint64_t address, uint64_t bytes, uint64_t request_bytes) {
  return (address % request_bytes + bytes + request_bytes - 1) / request_bytes;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

struct request_totals requests_total(struct request_runs runs, uint64_t request_bytes) {
  struct request_totals totals = {.used_bytes = runs.bursts * runs.burst_bytes};
  if (totals.used_bytes == 0)
    return totals;
  uint64_t period = request_bytes / gcd(request_bytes, runs.stride_bytes % request_bytes);
  uint64_t whole = runs.bursts / period, rest = runs.bursts % period;
  for (uint64_t i = 0; i < period && i < runs.bursts; i++)
    totals.requests += requests_of_burst(runs.address + i * runs.stride_bytes, runs.burst_bytes,
                                         request_bytes) *
                       (whole + (i < rest));
  totals.requested_bytes = totals.requests * request_bytes;
  return totals;
}
