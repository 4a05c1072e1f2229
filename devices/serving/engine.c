/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of an engine: who gets a token, what is read, who has to give up the pages of a cache. */
#include "devices/serving/engine.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/diag.h"

/* ---- pages ------------------------------------------------------------------------------- */

static uint64_t pages_of(const struct serving_engine *engine, uint64_t tokens) {
  return ceil_div(tokens, engine->options->page);
}

/* Pages for a sequence of that many tokens; false where there are too few. */
static bool grow(struct serving_engine *engine, struct sequence *one, uint64_t tokens) {
  uint64_t pages = pages_of(engine, tokens);
  if (pages <= one->pages)
    return true;
  if (pages - one->pages > engine->free_pages)
    return false;
  engine->free_pages -= pages - one->pages;
  one->pages = pages;
  return true;
}

static void give_back(struct serving_engine *engine, struct sequence *one) {
  engine->free_pages += one->pages;
  one->pages = 0;
}

/* ---- the queue --------------------------------------------------------------------------- */

static void put_last(struct serving_engine *engine, struct sequence *one) {
  one->next = NULL;
  *engine->waiting_end = one;
  engine->waiting_end = &one->next;
}

static void put_first(struct serving_engine *engine, struct sequence *one) {
  if (!engine->waiting)
    engine->waiting_end = &one->next;
  one->next = engine->waiting;
  engine->waiting = one;
}

static void run_first(struct serving_engine *engine) {
  struct sequence *one = engine->waiting;
  engine->waiting = one->next;
  if (!engine->waiting)
    engine->waiting_end = &engine->waiting;
  engine->running[engine->running_count++] = one;
}

static bool has_place(const struct serving_engine *engine) {
  return engine->waiting && engine->running_count < engine->options->batch;
}

/* ---- who takes part in a step ------------------------------------------------------------ */

/* Running sequences get pages for a token more; the last ones give up theirs while there are too
 * few, and are to be read again with the tokens that they have. */
static void keep(struct serving_engine *engine) {
  for (size_t i = 0; i < engine->running_count;) {
    struct sequence *one = engine->running[i];
    if (one->read < one->wanted || grow(engine, one, one->read + 1)) {
      i++;
      continue;
    }
    struct sequence *last = engine->running[--engine->running_count];
    give_back(engine, last);
    /* The last token made is read with a prompt; engines for tokens have not read the token. */
    last->wanted = last->prompt + last->made - (engine->decodes ? 1 : 0);
    last->read = 0;
    put_first(engine, last);
    engine->preempted++;
  }
}

static bool take_part(struct serving_engine *engine, struct sequence *one, uint64_t *left) {
  uint64_t part = min_u64(one->wanted - one->read, *left);
  if (part == 0 || !grow(engine, one, one->read + part))
    return false;
  engine->reading[engine->part_count] = one;
  engine->parts[engine->part_count++] = (struct vinci_serving_part){part, one->read};
  *left -= part;
  return true;
}

/* What a step reads: the rest of prompts that have begun, then prompts that wait. */
static void admit(struct serving_engine *engine, uint64_t left) {
  for (size_t i = 0; i < engine->running_count; i++)
    if (engine->running[i]->read < engine->running[i]->wanted)
      (void)take_part(engine, engine->running[i], &left);
  while (has_place(engine) && take_part(engine, engine->waiting, &left))
    run_first(engine);
}

/* Those whose prompts are in the cache when they come. */
static void admit_read(struct serving_engine *engine) {
  while (has_place(engine) && grow(engine, engine->waiting, engine->waiting->wanted + 1)) {
    engine->waiting->read = engine->waiting->wanted;
    run_first(engine);
  }
}

/* ---- a step ------------------------------------------------------------------------------ */

static bool keep_gap(struct serving_gaps *gaps, uint64_t ps) {
  if (gaps->count == gaps->capacity) {
    size_t capacity = gaps->capacity ? 2 * gaps->capacity : 1024;
    uint64_t *grown = realloc(gaps->ps, capacity * sizeof *grown);
    if (!grown)
      return false;
    gaps->ps = grown;
    gaps->capacity = capacity;
  }
  gaps->ps[gaps->count++] = ps;
  return true;
}

static bool end_token(struct serving_engine *engine, struct sequence *one) {
  if (one->made > 0 && !keep_gap(engine->gaps, engine->now_ps - one->last_ps))
    return false;
  if (one->made == 0)
    one->first_ps = engine->now_ps;
  one->made++;
  one->last_ps = engine->now_ps;
  if (one->made == one->tokens) {
    give_back(engine, one);
    one->end_ps = engine->now_ps;
    one->ended = true;
    engine->ended++;
  }
  return true;
}

static bool end_step(struct serving_engine *engine) {
  bool enough = true;
  for (size_t i = 0; enough && i < engine->made_count; i++) {
    engine->made[i]->read++;
    engine->made[i]->wanted++;
    enough = end_token(engine, engine->made[i]);
  }
  for (size_t i = 0; enough && i < engine->part_count; i++) {
    struct sequence *one = engine->reading[i];
    one->read += engine->parts[i].tokens;
    enough = one->read < one->wanted || end_token(engine, one);
  }
  size_t kept = 0;
  for (size_t i = 0; i < engine->running_count; i++)
    if (!engine->running[i]->ended)
      engine->running[kept++] = engine->running[i];
  engine->running_count = kept;
  return enough;
}

static enum vinci_status take_time(struct serving_engine *engine,
                                   const struct vinci_serving_step *step, struct vinci_diag *diag) {
  const struct vinci_serving_options *options = engine->options;
  uint64_t ps = 0;
  if (!options->step(options->context, step, &ps))
    return diag_error(diag, VINCI_E_LIMIT, "the function of steps has ended the run");
  if (__builtin_add_overflow(engine->now_ps, ps, &engine->now_ps))
    return diag_error(diag, VINCI_E_LIMIT, "the run takes more than 2^64 picoseconds");
  engine->busy_ps += ps;
  engine->steps++;
  engine->fullest = max_u64(engine->fullest, engine->running_count);
  return VINCI_OK;
}

/* One step from now on; *idle: nothing can be done. */
static enum vinci_status run_step(struct serving_engine *engine, bool *idle,
                                  struct vinci_diag *diag) {
  struct vinci_serving_step step = {.parts = engine->parts};
  uint64_t length = 0, most = engine->options->tokens;
  engine->made_count = engine->part_count = 0;
  if (engine->decodes)
    admit_read(engine);
  keep(engine);
  for (size_t i = 0; i < engine->running_count; i++)
    if (engine->running[i]->read == engine->running[i]->wanted) {
      engine->made[engine->made_count++] = engine->running[i];
      length += engine->running[i]->read + 1;
    }
  if (engine->decodes)
    admit_read(engine);
  else
    admit(engine, most > engine->made_count ? most - engine->made_count : 0);
  *idle = engine->made_count == 0 && engine->part_count == 0;
  if (*idle)
    return VINCI_OK;
  step.part_count = engine->part_count;
  step.batch = engine->made_count;
  step.length = engine->made_count ? length / engine->made_count : 0;
  for (size_t i = 0; i < engine->part_count; i++)
    step.ends += engine->parts[i].before + engine->parts[i].tokens == engine->reading[i]->wanted;
  enum vinci_status status = take_time(engine, &step, diag);
  if (status == VINCI_OK && !end_step(engine))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  return status;
}

/* ---- a stream ---------------------------------------------------------------------------- */

static enum vinci_status check(const struct serving_engine *engine,
                               const struct sequence *sequences, size_t count,
                               struct vinci_diag *diag) {
  for (size_t i = 0; i < count; i++) {
    const struct sequence *one = &sequences[i];
    uint64_t kept = one->prompt + one->tokens - 1; /* all but the last token */
    if (pages_of(engine, kept) > engine->options->pages)
      return diag_error(diag, VINCI_E_INPUT,
                        "a request of %" PRIu64 " tokens needs more than the %" PRIu64
                        " pages that there are",
                        one->prompt + one->tokens, engine->options->pages);
  }
  return VINCI_OK;
}

enum vinci_status serving_engine_run(struct serving_engine *engine, struct sequence *sequences,
                                     size_t count, struct vinci_diag *diag) {
  size_t next = 0;
  bool idle = false;
  engine->free_pages = engine->options->pages;
  engine->waiting = NULL;
  engine->waiting_end = &engine->waiting;
  engine->running_count = 0;
  enum vinci_status status = check(engine, sequences, count, diag);
  while (status == VINCI_OK && engine->ended < count) {
    for (; next < count && sequences[next].arrival_ps <= engine->now_ps; next++)
      put_last(engine, &sequences[next]);
    status = run_step(engine, &idle, diag);
    if (status != VINCI_OK || !idle)
      continue;
    if (next == count)
      return diag_error(diag, VINCI_E_INPUT, "%zu of %zu requests cannot go on",
                        count - engine->ended, count);
    engine->now_ps = max_u64(engine->now_ps, sequences[next].arrival_ps);
  }
  return status;
}
