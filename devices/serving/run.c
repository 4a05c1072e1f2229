/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of requests: one engine for all, or some for prompts and others for tokens; latencies. */
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "devices/serving/engine.h"

enum { TOKENS_MAX_LOG2 = 40 }; /* so that no sum of a request's tokens wraps */

enum { BATCH_USUAL = 256, TOKENS_USUAL = 2048, PAGE_USUAL = 128, ENGINES_MAX = 1000000 };

struct serving {
  const struct vinci_serving_request *requests;
  size_t count;
  struct vinci_serving_options options;
  struct vinci_serving_result *result;
  struct serving_gaps gaps;
  struct sequence *sequences; /* by request: what has become of each */
  struct sequence *hand;      /* of one engine */
  struct sequence **order;    /* room for all */
  uint64_t *values;           /* room for all */
  struct serving_engine engine;
};

/* ---- options ----------------------------------------------------------------------------- */

static uint64_t or_usual(uint64_t given, uint64_t usual) { return given ? given : usual; }

static enum vinci_status take_options(const struct vinci_serving_options *given,
                                      struct vinci_serving_options *out, struct vinci_diag *diag) {
  if (given->struct_size != sizeof *given)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the options is %zu, not %zu",
                      given->struct_size, sizeof *given);
  *out = *given;
  out->batch = or_usual(out->batch, BATCH_USUAL);
  out->tokens = or_usual(out->tokens, TOKENS_USUAL);
  out->page = or_usual(out->page, PAGE_USUAL);
  if (!out->step || out->pages == 0)
    return diag_error(diag, VINCI_E_USAGE, "the options have no %s", out->step ? "pages" : "step");
  if ((out->prefill == 0) != (out->decode == 0))
    return diag_error(diag, VINCI_E_USAGE, "prefill and decode are given together");
  if (out->prefill > ENGINES_MAX || out->decode > ENGINES_MAX)
    return diag_error(diag, VINCI_E_USAGE, "prefill and decode are up to %d engines each",
                      ENGINES_MAX);
  return VINCI_OK;
}

static enum vinci_status check_requests(const struct serving *serving, struct vinci_diag *diag) {
  static const uint64_t most = UINT64_C(1) << TOKENS_MAX_LOG2;
  for (size_t i = 0; i < serving->count; i++) {
    const struct vinci_serving_request *one = &serving->requests[i];
    if (one->prompt - 1 >= most || one->tokens - 1 >= most)
      return diag_error(diag, VINCI_E_INPUT, "request %zu has no prompt, no tokens, or too many",
                        i + 1);
    if (i > 0 && one->arrival_ps < one[-1].arrival_ps)
      return diag_error(diag, VINCI_E_INPUT, "request %zu comes before the request before", i + 1);
  }
  return serving->count ? VINCI_OK : diag_error(diag, VINCI_E_USAGE, "there is no request");
}

static bool make_room(struct serving *serving) {
  size_t count = serving->count, most = min_u64(serving->options.batch, count);
  struct serving_engine *engine = &serving->engine;
  serving->sequences = calloc(count, sizeof *serving->sequences);
  serving->hand = calloc(count, sizeof *serving->hand);
  serving->order = calloc(count, sizeof *serving->order);
  serving->values = calloc(count, sizeof *serving->values);
  engine->running = calloc(most, sizeof *engine->running);
  engine->made = calloc(most, sizeof *engine->made);
  engine->reading = calloc(most, sizeof *engine->reading);
  engine->parts = calloc(most, sizeof *engine->parts);
  return serving->sequences && serving->hand && serving->order && serving->values &&
         engine->running && engine->made && engine->reading && engine->parts;
}

static void free_room(struct serving *serving) {
  struct serving_engine *engine = &serving->engine;
  free(serving->sequences);
  free(serving->hand);
  free(serving->order);
  free(serving->values);
  free(serving->gaps.ps);
  free(engine->running);
  free(engine->made);
  free(engine->reading);
  free(engine->parts);
}

/* ---- engines ----------------------------------------------------------------------------- */

/* One engine serves what is in its hand; its sequences go back to their requests. */
static enum vinci_status run_engine(struct serving *serving, size_t count, bool decodes,
                                    struct vinci_diag *diag) {
  struct vinci_serving_result *result = serving->result;
  struct serving_engine *engine = &serving->engine;
  engine->options = &serving->options;
  engine->gaps = &serving->gaps;
  engine->decodes = decodes;
  engine->now_ps = engine->busy_ps = engine->steps = engine->preempted = engine->fullest = 0;
  engine->ended = 0;
  enum vinci_status status = serving_engine_run(engine, serving->hand, count, diag);
  for (size_t i = 0; status == VINCI_OK && i < count; i++)
    serving->sequences[serving->hand[i].number] = serving->hand[i];
  result->engines++;
  result->steps += engine->steps;
  result->busy_ps += engine->busy_ps;
  result->preempted += engine->preempted;
  result->fullest = max_u64(result->fullest, engine->fullest);
  return status;
}

static struct sequence fresh(const struct serving *serving, size_t number) {
  const struct vinci_serving_request *request = &serving->requests[number];
  return (struct sequence){.number = number,
                           .arrival_ps = request->arrival_ps,
                           .prompt = request->prompt,
                           .tokens = request->tokens,
                           .wanted = request->prompt};
}

static enum vinci_status run_together(struct serving *serving, struct vinci_diag *diag) {
  for (size_t i = 0; i < serving->count; i++)
    serving->hand[i] = fresh(serving, i);
  return run_engine(serving, serving->count, false, diag);
}

/* Engine `which` of those for prompts makes the first token of its requests. */
static enum vinci_status run_prompts(struct serving *serving, uint64_t which,
                                     struct vinci_diag *diag) {
  size_t count = 0;
  for (size_t i = which; i < serving->count; i += serving->options.prefill) {
    serving->hand[count] = fresh(serving, i);
    serving->hand[count++].tokens = 1;
  }
  return run_engine(serving, count, false, diag);
}

/* The caches are on their way: each sequence comes to the engines for tokens when its own is there.
 */
static enum vinci_status send_caches(struct serving *serving, struct vinci_diag *diag) {
  const struct vinci_serving_options *options = &serving->options;
  for (size_t i = 0; i < serving->count; i++) {
    struct sequence *one = &serving->sequences[i];
    uint64_t ps = 0, first_ps = one->end_ps;
    if (options->send && !options->send(options->context, one->prompt, &ps))
      return diag_error(diag, VINCI_E_LIMIT, "the function of caches has ended the run");
    *one = fresh(serving, i);
    if (__builtin_add_overflow(first_ps, ps, &one->arrival_ps))
      return diag_error(diag, VINCI_E_LIMIT, "the run takes more than 2^64 picoseconds");
    one->made = 1;
    one->first_ps = one->last_ps = one->end_ps = first_ps;
    one->ended = one->tokens == 1;
    serving->order[i] = one;
  }
  return VINCI_OK;
}

static int by_arrival(const void *left, const void *right) {
  const struct sequence *a = *(const struct sequence *const *)left,
                        *b = *(const struct sequence *const *)right;
  if (a->arrival_ps != b->arrival_ps)
    return a->arrival_ps < b->arrival_ps ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

/* Engine `which` of those for tokens makes all but the first. */
static enum vinci_status run_tokens(struct serving *serving, uint64_t which,
                                    struct vinci_diag *diag) {
  size_t count = 0;
  for (size_t i = which; i < serving->count; i += serving->options.decode)
    if (!serving->order[i]->ended)
      serving->hand[count++] = *serving->order[i];
  return run_engine(serving, count, true, diag);
}

static enum vinci_status run_apart(struct serving *serving, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  for (uint64_t i = 0; status == VINCI_OK && i < serving->options.prefill; i++)
    status = run_prompts(serving, i, diag);
  if (status == VINCI_OK)
    status = send_caches(serving, diag);
  if (status == VINCI_OK)
    qsort(serving->order, serving->count, sizeof *serving->order, by_arrival);
  for (uint64_t i = 0; status == VINCI_OK && i < serving->options.decode; i++)
    status = run_tokens(serving, i, diag);
  return status;
}

/* ---- results ----------------------------------------------------------------------------- */

static int by_value(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static uint64_t value_at(const uint64_t *values, size_t count, uint64_t percent) {
  return values[ceil_div(percent * count, 100) - 1];
}

static struct vinci_serving_share share_of(uint64_t *values, size_t count) {
  if (count == 0)
    return (struct vinci_serving_share){0};
  qsort(values, count, sizeof *values, by_value);
  return (struct vinci_serving_share){value_at(values, count, 50), value_at(values, count, 90),
                                      value_at(values, count, 99), count};
}

static void sum_up(struct serving *serving, struct vinci_serving_times *times) {
  struct vinci_serving_result *result = serving->result;
  size_t several = 0;
  result->start_ps = serving->requests[0].arrival_ps;
  for (size_t i = 0; i < serving->count; i++) {
    const struct sequence *one = &serving->sequences[i];
    serving->values[i] = one->first_ps - serving->requests[i].arrival_ps;
    result->end_ps = max_u64(result->end_ps, one->end_ps);
    result->tokens += serving->requests[i].tokens;
    if (times)
      times[i] = (struct vinci_serving_times){one->first_ps, one->end_ps};
  }
  result->ttft = share_of(serving->values, serving->count);
  for (size_t i = 0; i < serving->count; i++) {
    const struct sequence *one = &serving->sequences[i];
    uint64_t further = serving->requests[i].tokens - 1;
    if (further > 0) /* to the nearest picosecond */
      serving->values[several++] = (one->end_ps - one->first_ps + further / 2) / further;
  }
  result->tpot = share_of(serving->values, several);
  result->itl = share_of(serving->gaps.ps, serving->gaps.count);
}

enum vinci_status vinci_serving_run(const struct vinci_serving_request *requests, size_t count,
                                    const struct vinci_serving_options *options,
                                    struct vinci_serving_times *times,
                                    struct vinci_serving_result *result, struct vinci_diag *diag) {
  struct serving serving = {.requests = requests, .count = count, .result = result};
  *result = (struct vinci_serving_result){0};
  enum vinci_status status = take_options(options, &serving.options, diag);
  if (status == VINCI_OK)
    status = check_requests(&serving, diag);
  if (status == VINCI_OK && !make_room(&serving))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = serving.options.prefill ? run_apart(&serving, diag) : run_together(&serving, diag);
  if (status == VINCI_OK)
    sum_up(&serving, times);
  free_room(&serving);
  return status;
}
