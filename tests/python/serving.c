/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of requests on engines: the library for test_serving_same.sh. 200 requests of a small
 * generator, mixed and apart, with pages enough and too few; a line for each latency, and one of
 * what the engines did. A step takes 100 us, and more by what it does.
 */
#include <inttypes.h>
#include <stdio.h>

#include "vinci_serving.h"

enum { REQUESTS = 200, SIZES = 4 };
#define US UINT64_C(1000000)

static uint64_t state = 7;

static uint64_t draw(uint64_t most) {
  state = (state * 1103515245 + 12345) % (UINT64_C(1) << 31);
  return (state >> 16) % most;
}

static bool step(void *context, const struct vinci_serving_step *one, uint64_t *ps) {
  *ps = (100 + 2 * one->batch + one->ends) * US + one->length * one->batch * US / 64;
  for (size_t i = 0; i < one->part_count; i++)
    *ps += one->parts[i].tokens * US + one->parts[i].before * US / 8;
  return context == NULL;
}

static bool send_cache(void *context, uint64_t tokens, uint64_t *ps) {
  *ps = 50 * US + tokens * US / 4;
  return context == NULL;
}

/* Microseconds without rounding. */
static void put(uint64_t ps) { printf("%" PRIu64 ".%06" PRIu64 " ", ps / US, ps % US); }

static void put_share(const struct vinci_serving_share *share) {
  put(share->p50_ps);
  put(share->p90_ps);
  put(share->p99_ps);
  printf("%zu\n", share->count);
}

int main(void) {
  static const uint64_t sizes[SIZES][4] = {
      {2048, 4000, 0, 0}, {64, 60, 0, 0}, {100, 160, 0, 0}, {64, 60, 2, 3}};
  static struct vinci_serving_request requests[REQUESTS];
  uint64_t at_us = 0;
  for (size_t i = 0; i < REQUESTS; i++) {
    at_us += 10 * draw(60);
    requests[i] = (struct vinci_serving_request){.arrival_ps = at_us * US};
    requests[i].prompt = 1 + draw(300);
    requests[i].tokens = 1 + draw(60);
  }
  for (size_t i = 0; i < SIZES; i++) {
    struct vinci_serving_options options = {.struct_size = sizeof options,
                                            .batch = 24,
                                            .tokens = sizes[i][0],
                                            .page = 16,
                                            .pages = sizes[i][1],
                                            .prefill = sizes[i][2],
                                            .decode = sizes[i][3],
                                            .step = step,
                                            .send = send_cache};
    struct vinci_serving_result found;
    struct vinci_diag diag = {0};
    if (vinci_serving_run(requests, REQUESTS, &options, NULL, &found, &diag) != VINCI_OK) {
      puts(diag.text);
      return 1;
    }
    put_share(&found.ttft);
    put_share(&found.tpot);
    put_share(&found.itl);
    put(found.start_ps);
    put(found.end_ps);
    put(found.busy_ps);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", found.tokens,
           found.steps, found.preempted, found.fullest, found.engines);
  }
  return 0;
}
