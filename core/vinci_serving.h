/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: a stream of requests on devices that serve a language model. An engine begins a step with
 * what is there: each running sequence gets a token, and what is left of the tokens of a step is
 * read from prompts, in parts where these are longer (chunked prefill: Agrawal et al.,
 * Sarathi-Serve, 2024). Pages of the cache are taken as sequences grow; when none is left, the
 * sequence that came last gives up its own and begins anew (vLLM: Kwon et al., 2023). How long a
 * step takes is for the caller to say:
 *
 *     static bool step(void *context, const struct vinci_serving_step *step, uint64_t *ps) {
 *       *ps = UINT64_C(100000000) + step->batch * UINT64_C(1000000);
 *       return true;
 *     }
 *
 *     struct vinci_serving_options options = {
 *         .struct_size = sizeof options, .pages = 1000, .step = step};
 *     struct vinci_serving_result found;
 *     if (vinci_serving_run(requests, count, &options, NULL, &found, &diag) == VINCI_OK)
 *       printf("%" PRIu64 " ps to the first token\n", found.ttft.p50_ps);
 */
#ifndef VINCI_SERVING_H
#define VINCI_SERVING_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A prompt is read; its end gives the first token, and each further one takes a step. */
struct vinci_serving_request {
  uint64_t arrival_ps; /* not before that of the request before */
  uint64_t prompt;     /* tokens to read, at least 1 */
  uint64_t tokens;     /* to make, at least 1 */
};

/* Tokens of a prompt that a step reads, behind those that were read before. */
struct vinci_serving_part {
  uint64_t tokens, before;
};

/* What an engine does in a step. */
struct vinci_serving_step {
  const struct vinci_serving_part *parts;
  size_t part_count;
  uint64_t batch;  /* sequences that get a token each, besides prompts that end */
  uint64_t length; /* tokens in the cache of such a sequence, in the mean; 0: there is none */
  uint64_t ends;   /* prompts that end in this step, and get their first token */
};

struct vinci_serving_options {
  size_t struct_size;
  uint64_t batch;           /* the most sequences of an engine at once; 0: 256 */
  uint64_t tokens;          /* the most tokens of a step; 0: 2048 */
  uint64_t page;            /* tokens of a page; 0: 128 */
  uint64_t pages;           /* of each engine; has to be given */
  uint64_t prefill, decode; /* engines for prompts, and engines for tokens; 0: one for both */
  void *context;            /* of both functions */
  /* The duration of a step. Returns false to end the run. */
  bool (*step)(void *context, const struct vinci_serving_step *step, uint64_t *ps);
  /* How long the cache of a prompt takes to another device. NULL: no time. */
  bool (*send)(void *context, uint64_t tokens, uint64_t *ps);
};

/* Of `count` values as many per cent at most; 0 without a value. */
struct vinci_serving_share {
  uint64_t p50_ps, p90_ps, p99_ps;
  size_t count;
};

/* Of one request. */
struct vinci_serving_times {
  uint64_t first_ps, end_ps; /* the times of its first and of its last token */
};

struct vinci_serving_result {
  struct vinci_serving_share ttft; /* from arrival to the first token */
  struct vinci_serving_share tpot; /* of a token behind the first, in the mean of a request */
  struct vinci_serving_share itl;  /* between two tokens of a request */
  uint64_t start_ps, end_ps;       /* the first arrival, the last token */
  uint64_t tokens;                 /* that were made */
  uint64_t steps, busy_ps;         /* of all engines */
  uint64_t preempted;              /* how often a sequence began anew */
  uint64_t fullest;                /* the most sequences of an engine at once */
  uint64_t engines;
};

/*
 * Serves requests to their end. With prefill and decode, prompts are dealt out to engines of their
 * own in the order in which they come; their caches go to the others in the order in which these
 * are there, and each of these makes all tokens but the first. times, of each request, may be NULL.
 * Errors: VINCI_E_USAGE for options, VINCI_E_INPUT for a request that no engine can hold and for
 * requests that cannot go on, VINCI_E_LIMIT when a function of the options ends the run.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status
vinci_serving_run(const struct vinci_serving_request *requests, size_t count,
                  const struct vinci_serving_options *options, struct vinci_serving_times *times,
                  struct vinci_serving_result *result, struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
