/* SPDX-License-Identifier: Apache-2.0 */
/* One engine that serves a language model: continuous batching over pages of its cache. */
#ifndef VINCI_DEVICES_SERVING_ENGINE_H
#define VINCI_DEVICES_SERVING_ENGINE_H

#include "core/vinci_serving.h"

/* A request on its way. */
struct sequence {
  struct sequence *next; /* that waits behind it in the queue */
  size_t number;         /* of the request */
  uint64_t arrival_ps;   /* at the engine */
  uint64_t prompt, tokens;
  uint64_t wanted, read; /* tokens that are to be in the cache, and those that are */
  uint64_t made, pages;
  uint64_t first_ps, last_ps, end_ps;
  bool ended;
};

/* Times between tokens, of all requests. */
struct serving_gaps {
  uint64_t *ps; /* for free() */
  size_t count, capacity;
};

struct serving_engine {
  const struct vinci_serving_options *options; /* with defaults filled in */
  struct serving_gaps *gaps;
  bool decodes; /* prompts are in the cache when they come */
  uint64_t now_ps, busy_ps, free_pages, steps, preempted, fullest;
  struct sequence *waiting, **waiting_end;
  struct sequence **running, **made; /* room for options->batch, or for all requests */
  size_t running_count, made_count, ended;
  struct sequence **reading; /* by part */
  struct vinci_serving_part *parts;
  size_t part_count;
};

/* Serves sequences, in the order of their arrivals, to their end. */
VINCI_MUST_CHECK enum vinci_status serving_engine_run(struct serving_engine *engine,
                                                      struct sequence *sequences, size_t count,
                                                      struct vinci_diag *diag);

#endif
