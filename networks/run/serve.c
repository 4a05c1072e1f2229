/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of a stream of requests, by a family of graphs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/vinci_net.h"

struct serving {
  const struct vinci_net_gear *gears;
  size_t gear_count;
  const struct vinci_net_request *requests;
  size_t count;
  uint64_t *latencies;
  size_t first;     /* the oldest request that waits */
  uint64_t taken;   /* samples of it that have left */
  size_t arrived;   /* requests that have come by now */
  uint64_t waiting; /* samples */
  struct vinci_net_served *result;
};

static enum vinci_status check(const struct serving *serving, struct vinci_diag *diag) {
  if (serving->gear_count == 0 || serving->count == 0)
    return diag_error(diag, VINCI_E_USAGE, "no %s", serving->count ? "gears" : "requests");
  for (size_t i = 0; i < serving->gear_count; i++)
    if (serving->gears[i].batch == 0 || serving->gears[i].duration_ps == 0 ||
        (i > 0 && serving->gears[i].batch <= serving->gears[i - 1].batch))
      return diag_error(diag, VINCI_E_USAGE, "gear %zu does not hold more than the gear before",
                        i + 1);
  for (size_t i = 0; i < serving->count; i++)
    if (serving->requests[i].size == 0 ||
        (i > 0 && serving->requests[i].arrival_ps < serving->requests[i - 1].arrival_ps))
      return diag_error(diag, VINCI_E_INPUT, "request %zu %s", i + 1,
                        serving->requests[i].size ? "comes before the request before" : "is empty");
  return VINCI_OK;
}

static void let_arrive(struct serving *serving, uint64_t now_ps) {
  for (; serving->arrived < serving->count &&
         serving->requests[serving->arrived].arrival_ps <= now_ps;
       serving->arrived++)
    serving->waiting += serving->requests[serving->arrived].size;
}

/* When the next batch begins, from when the chip is free on: what arrives until then is there. */
static uint64_t find_start(struct serving *serving, uint64_t free_ps, uint64_t max_wait_ps) {
  uint64_t most = serving->gears[serving->gear_count - 1].batch;
  uint64_t oldest = serving->requests[serving->first].arrival_ps;
  uint64_t limit = max_u64(free_ps, oldest + max_wait_ps), now = max_u64(free_ps, oldest);
  let_arrive(serving, now);
  while (serving->waiting < most && serving->arrived < serving->count &&
         serving->requests[serving->arrived].arrival_ps <= limit) {
    now = serving->requests[serving->arrived].arrival_ps;
    let_arrive(serving, now);
  }
  return serving->waiting < most ? limit : now;
}

static size_t choose_gear(const struct serving *serving) {
  size_t gear = 0;
  while (gear + 1 < serving->gear_count && serving->gears[gear].batch < serving->waiting)
    gear++;
  return gear;
}

/* Samples leave; requests whose last sample is among them are done at the end of the batch. */
static void take(struct serving *serving, uint64_t samples, uint64_t end_ps) {
  serving->waiting -= samples;
  while (samples > 0) {
    const struct vinci_net_request *request = &serving->requests[serving->first];
    uint64_t part = min_u64(samples, request->size - serving->taken);
    samples -= part;
    serving->taken += part;
    if (serving->taken < request->size)
      break;
    serving->latencies[serving->first++] = end_ps - request->arrival_ps;
    serving->taken = 0;
  }
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* The least of the values that `percent` of them do not exceed. */
static uint64_t percentile(const uint64_t *sorted, size_t count, unsigned percent) {
  return sorted[((uint128)count * percent + 99) / 100 - 1];
}

static enum vinci_status sum_up(const struct serving *serving, struct vinci_diag *diag) {
  struct vinci_net_served *result = serving->result;
  uint64_t *sorted = calloc(serving->count, sizeof *sorted);
  if (!sorted)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for requests");
  memcpy(sorted, serving->latencies, serving->count * sizeof *sorted);
  qsort(sorted, serving->count, sizeof *sorted, compare);
  result->p50_ps = percentile(sorted, serving->count, 50);
  result->p90_ps = percentile(sorted, serving->count, 90);
  result->p99_ps = percentile(sorted, serving->count, 99);
  result->max_ps = sorted[serving->count - 1];
  result->span_ps = result->end_ps - serving->requests[0].arrival_ps;
  free(sorted);
  return VINCI_OK;
}

static struct vinci_net_batch run_batch(struct serving *serving, uint64_t start_ps) {
  struct vinci_net_served *result = serving->result;
  size_t index = choose_gear(serving);
  const struct vinci_net_gear *gear = &serving->gears[index];
  struct vinci_net_batch batch = {.start_ps = start_ps,
                                  .end_ps = start_ps + gear->duration_ps,
                                  .gear = index,
                                  .samples = min_u64(gear->batch, serving->waiting)};
  take(serving, batch.samples, batch.end_ps);
  result->end_ps = batch.end_ps;
  result->busy_ps += gear->duration_ps;
  result->samples += batch.samples;
  result->slots += gear->batch;
  result->batches++;
  return batch;
}

enum vinci_status vinci_net_serve(const struct vinci_net_gear *gears, size_t gear_count,
                                  const struct vinci_net_request *requests, size_t request_count,
                                  uint64_t max_wait_ps, uint64_t *latencies,
                                  bool (*visit)(void *context, const struct vinci_net_batch *batch),
                                  void *context, struct vinci_net_served *result,
                                  struct vinci_diag *diag) {
  uint64_t *own = latencies ? NULL : calloc(request_count + 1, sizeof *own);
  struct serving serving = {.gears = gears,
                            .gear_count = gear_count,
                            .requests = requests,
                            .count = request_count,
                            .latencies = latencies ? latencies : own,
                            .result = result};
  *result = (struct vinci_net_served){0};
  enum vinci_status status = check(&serving, diag);
  if (status == VINCI_OK && !serving.latencies)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for requests");
  while (status == VINCI_OK && serving.first < request_count) {
    struct vinci_net_batch batch =
        run_batch(&serving, find_start(&serving, result->end_ps, max_wait_ps));
    if (visit && !visit(context, &batch))
      visit = NULL;
  }
  if (status == VINCI_OK)
    status = sum_up(&serving, diag);
  free(own);
  return status;
}
