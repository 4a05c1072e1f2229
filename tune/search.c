/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of searches: asks a strategy for schedules, a batch at a time, and simulates these. An
 * answer that the journal has is not simulated again, so a search that was killed goes over the
 * same schedules once more and ends with the same result.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/chip/soc.h"
#include "tune/tune.h"

enum { WORDS_MAX = 2 * LOWER_KEYS_MAX, TENTH = 10, LEAST = 24, MOST = 200 };

/* ---- answers -------------------------------------------------------------------------------- */

/* Of all that an answer depends on. */
static uint64_t question_of(const struct tune_setting *setting, const char *schedule) {
  const struct vinci_evaluate_options *options = &setting->evaluate;
  const uint64_t words[] = {soc_digest(setting->soc), options->memory, options->network,
                            options->l2_start};
  uint64_t digest = digest_string(DIGEST_SEED, vinci_model_revision());
  digest = digest_bytes(digest, words, sizeof words);
  digest = digest_string(digest, setting->op);
  for (size_t i = 0; i < setting->arg_count; i++)
    digest = digest_string(digest, setting->args[i]);
  digest = digest_string(digest, schedule);
  return digest ? digest : 1;
}

/* A question with the words of its arguments. */
struct words {
  char text[SPACE_TEXT_BYTES];
  const char *word[WORDS_MAX];
  size_t count;
};

static void put_words(struct words *words, const struct tune_setting *setting,
                      const char *schedule) {
  char *rest = NULL;
  words->count = 0;
  for (size_t i = 0; i < setting->arg_count && words->count < LOWER_KEYS_MAX; i++)
    words->word[words->count++] = setting->args[i];
  snprintf(words->text, sizeof words->text, "%s", schedule);
  for (char *word = strtok_r(words->text, " ", &rest); word && words->count < WORDS_MAX;
       word = strtok_r(NULL, " ", &rest))
    words->word[words->count++] = word;
}

static enum vinci_status simulate(struct tune_setting *setting, const char *const *schedules,
                                  size_t count, const uint64_t *question, struct tune_fact *facts,
                                  struct vinci_diag *diag) {
  struct vinci_evaluation *list = calloc(count, sizeof *list);
  struct words *words = calloc(count, sizeof *words);
  size_t *place = calloc(count, sizeof *place), open = 0;
  enum vinci_status status =
      list && words && place ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; status == VINCI_OK && i < count; i++) {
    if (facts[i].cycles > 0)
      continue;
    put_words(&words[open], setting, schedules[i]);
    list[open] = (struct vinci_evaluation){
        .op = setting->op, .args = words[open].word, .arg_count = words[open].count};
    place[open++] = i;
  }
  if (status == VINCI_OK && open > 0)
    status = vinci_evaluate(setting->soc, list, open, &setting->evaluate, diag);
  for (size_t i = 0; status == VINCI_OK && i < open; i++) {
    struct tune_fact *fact = &facts[place[i]];
    bool known = list[i].status == VINCI_OK;
    *fact = (struct tune_fact){known ? list[i].total_cycles : TUNE_FAILED, list[i].program_digest};
    status = tune_journal_add(setting->journal, question[place[i]], *fact, diag);
  }
  free(list);
  free(words);
  free(place);
  return status;
}

enum vinci_status tune_ask(struct tune_setting *setting, const char *const *schedules, size_t count,
                           struct tune_fact *facts, struct vinci_diag *diag) {
  uint64_t *question = calloc(count + 1, sizeof *question);
  if (!question)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; i < count; i++) {
    question[i] = question_of(setting, schedules[i]);
    if (tune_journal_find(setting->journal, question[i], &facts[i]))
      setting->known++;
    else
      facts[i] = (struct tune_fact){0};
  }
  enum vinci_status status = simulate(setting, schedules, count, question, facts, diag);
  free(question);
  return status;
}

/* ---- what a search knows -------------------------------------------------------------------- */

void tune_propose(struct tune_search *search, struct tune_batch *batch, size_t point) {
  if (batch->count == TUNE_BATCH || point >= search->count)
    return;
  batch->point[batch->count++] = (uint32_t)point;
  if (batch->quick)
    search->quick[point] = TUNE_FAILED; /* until the answer is there */
  else
    search->taken[point] = true;
}

uint64_t tune_draw(struct tune_search *search, uint64_t below) {
  uint64_t number = digest_word(digest_word(DIGEST_SEED, search->seed), search->draws++);
  return below > 1 ? number % below : 0;
}

static int by_estimate(const void *a, const void *b, void *context) {
  const struct vinci_space *space = context;
  uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  uint64_t x = space->point[one].estimate, y = space->point[other].estimate;
  return x != y ? (x > y) - (x < y) : (one > other) - (one < other);
}

static int by_knobs(const void *a, const void *b, void *context) {
  const struct vinci_space *space = context;
  uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  for (size_t k = 0; k < space->knob_count; k++) {
    uint16_t x = space->point[one].choice[k], y = space->point[other].choice[k];
    if (x != y)
      return x < y ? -1 : 1;
  }
  return 0;
}

static bool search_open(struct tune_search *search, vinci_space *space) {
  size_t count = space->count;
  *search = (struct tune_search){.space = space,
                                 .count = count,
                                 .cycles = calloc(count, sizeof(uint64_t)),
                                 .quick = calloc(count, sizeof(uint64_t)),
                                 .programs = calloc(count, sizeof(uint64_t)),
                                 .taken = calloc(count, sizeof(bool)),
                                 .cheapest = calloc(count, sizeof(uint32_t)),
                                 .sorted = calloc(count, sizeof(uint32_t))};
  if (!search->cycles || !search->quick || !search->programs || !search->taken ||
      !search->cheapest || !search->sorted)
    return false;
  for (size_t i = 0; i < count; i++)
    search->cheapest[i] = search->sorted[i] = (uint32_t)i;
  qsort_r(search->cheapest, count, sizeof(uint32_t), by_estimate, space);
  qsort_r(search->sorted, count, sizeof(uint32_t), by_knobs, space);
  return true;
}

static void search_close(struct tune_search *search) {
  free(search->cycles);
  free(search->quick);
  free(search->programs);
  free(search->taken);
  free(search->cheapest);
  free(search->sorted);
}

/* ---- a search ------------------------------------------------------------------------------- */

struct tuning {
  struct tune_search search;
  struct tune_setting setting;
  const struct vinci_tune_options *options;
  const struct tune_strategy *strategy;
  struct vinci_tuned *out;
};

/* Simulates a batch; the answers are in their places before the strategy is asked again. */
static enum vinci_status answer_batch(struct tuning *tuning, const struct tune_batch *batch,
                                      struct vinci_diag *diag) {
  struct tune_search *search = &tuning->search;
  char text[TUNE_BATCH][SPACE_TEXT_BYTES];
  const char *schedules[TUNE_BATCH];
  struct tune_fact facts[TUNE_BATCH];
  struct tune_setting setting = tuning->setting;
  if (batch->quick)
    setting.evaluate.memory = VINCI_MEMORY_FLAT;
  for (size_t i = 0; i < batch->count; i++) {
    vinci_space_schedule(search->space, batch->point[i], text[i], sizeof text[i]);
    schedules[i] = text[i];
  }
  enum vinci_status status = tune_ask(&setting, schedules, batch->count, facts, diag);
  tuning->setting.known = setting.known;
  for (size_t i = 0; status == VINCI_OK && i < batch->count; i++) {
    size_t point = batch->point[i];
    search->parts += batch->quick ? 1 : TUNE_QUICK_PARTS;
    *(batch->quick ? &search->quick[point] : &search->cycles[point]) = facts[i].cycles;
    search->programs[point] = facts[i].program_digest;
    tuning->out->failed += facts[i].cycles == TUNE_FAILED;
    if (batch->quick || facts[i].cycles == TUNE_FAILED)
      continue;
    uint64_t best = search->known ? search->cycles[search->best] : UINT64_MAX;
    if (facts[i].cycles < best || (facts[i].cycles == best && point < search->best))
      search->best = point;
    search->known++;
  }
  return status;
}

static bool goes_on(const struct tuning *tuning) {
  const struct tune_search *search = &tuning->search;
  const struct vinci_tune_options *options = tuning->options;
  struct vinci_tune_progress progress = {.evaluations = search->parts / TUNE_QUICK_PARTS,
                                         .budget = search->budget_parts / TUNE_QUICK_PARTS,
                                         .known = tuning->setting.known,
                                         .default_cycles = search->cycles[search->space->chosen],
                                         .best_cycles =
                                             search->known ? search->cycles[search->best] : 0};
  return !options->progress || options->progress(options->progress_context, &progress);
}

/* The schedule that the lowering takes is the first, so that there is something to compare with. */
static enum vinci_status answer_default(struct tuning *tuning, struct vinci_diag *diag) {
  struct tune_batch batch = {0};
  struct vinci_evaluation one = {.op = tuning->setting.op,
                                 .args = tuning->setting.args,
                                 .arg_count = tuning->setting.arg_count};
  size_t chosen = tuning->search.space->chosen;
  tune_propose(&tuning->search, &batch, chosen);
  enum vinci_status status = answer_batch(tuning, &batch, diag);
  if (status != VINCI_OK || tuning->search.cycles[chosen] != TUNE_FAILED)
    return status;
  status = vinci_evaluate(tuning->setting.soc, &one, 1, &tuning->setting.evaluate, diag);
  return status != VINCI_OK ? status : diag_error(diag, one.status, "%s", one.text);
}

static enum vinci_status search_on(struct tuning *tuning, struct vinci_diag *diag) {
  struct tune_search *search = &tuning->search;
  enum vinci_status status = answer_default(tuning, diag);
  while (status == VINCI_OK && search->parts < search->budget_parts) {
    struct tune_batch batch = {0};
    if (!goes_on(tuning)) {
      tuning->out->ended_early = true;
      return VINCI_OK;
    }
    tuning->strategy->ask(search, &batch);
    size_t price = batch.quick ? 1 : TUNE_QUICK_PARTS;
    size_t left = (search->budget_parts - search->parts + price - 1) / price;
    batch.count = batch.count < left ? batch.count : left;
    if (batch.count == 0)
      break;
    status = answer_batch(tuning, &batch, diag);
  }
  if (status == VINCI_OK)
    (void)goes_on(tuning); /* shows the end */
  return status;
}

/* The fastest schedules, which are run again on neighbours of the chip. */
static enum vinci_status choose_robust(struct tuning *tuning, struct vinci_diag *diag) {
  enum { CONTENDERS_MAX = 16 };
  struct tune_search *search = &tuning->search;
  char text[CONTENDERS_MAX][SPACE_TEXT_BYTES];
  const char *schedules[CONTENDERS_MAX];
  size_t point[CONTENDERS_MAX], count = 0, winner = 0;
  bool *used = calloc(search->count, sizeof *used);
  if (!used)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (; count < tuning->options->robust && count < CONTENDERS_MAX; count++) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < search->count; i++)
      if (!used[i] && search->cycles[i] > 0 && search->cycles[i] < TUNE_FAILED &&
          (best == SIZE_MAX || search->cycles[i] < search->cycles[best]))
        best = i;
    if (best == SIZE_MAX)
      break;
    used[best] = true;
    point[count] = best;
    vinci_space_schedule(search->space, best, text[count], sizeof text[count]);
    schedules[count] = text[count];
  }
  free(used);
  enum vinci_status status =
      tune_robust(&tuning->setting, schedules, count, &winner, tuning->out, diag);
  search->best = point[winner];
  return status;
}

static const struct tune_strategy *find_strategy(const struct vinci_space *space, const char *name,
                                                 struct vinci_diag *diag) {
  const struct tune_strategy *strategy;
  char names[256] = "";
  for (size_t i = 0; !name && i < space->job.op->key_count; i++)
    if (space->job.op->keys[i].cube_cores)
      name = "genetic";
  name = name ? name : "tree";
  for (size_t i = 0; (strategy = tune_strategy(i)); i++) {
    if (strcmp(strategy->name, name) == 0)
      return strategy;
    size_t at = strlen(names);
    snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", strategy->name);
  }
  (void)diag_error(diag, VINCI_E_USAGE, "unknown strategy '%s'", name);
  diag_hint(diag, "one of %s", names);
  return NULL;
}

static size_t budget_of(const struct vinci_tune_options *options, const char *strategy,
                        size_t count) {
  size_t tenth = count / TENTH;
  size_t usual = tenth < LEAST ? LEAST : tenth > MOST ? MOST : tenth;
  if (options->evaluations == 0 && strcmp(strategy, "exhaustive") == 0)
    usual = count;
  size_t budget = options->evaluations ? options->evaluations : usual;
  return budget < count ? budget : count;
}

static void tell(struct tuning *tuning) {
  struct tune_search *search = &tuning->search;
  struct vinci_tuned *out = tuning->out;
  size_t chosen = search->space->chosen;
  vinci_space_schedule(search->space, search->best, out->schedule, sizeof out->schedule);
  vinci_space_schedule(search->space, chosen, out->default_schedule, sizeof out->default_schedule);
  out->cycles = search->cycles[search->best];
  out->default_cycles = search->cycles[chosen];
  out->program_digest = search->programs[search->best];
  out->default_program_digest = search->programs[chosen];
  out->schedules = search->count;
  out->closed = search->space->closed;
  out->evaluations = (search->parts + TUNE_QUICK_PARTS - 1) / TUNE_QUICK_PARTS;
  out->known = tuning->setting.known;
}

static enum vinci_status tune(struct tuning *tuning, vinci_space *space, struct vinci_diag *diag) {
  const struct vinci_tune_options *options = tuning->options;
  struct tune_search *search = &tuning->search;
  tuning->strategy = find_strategy(space, options->strategy, diag);
  if (!tuning->strategy)
    return VINCI_E_USAGE;
  if (!search_open(search, space))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for a search");
  search->seed = options->seed;
  search->has_quick = options->memory == VINCI_MEMORY_CYCLE;
  search->budget_parts =
      TUNE_QUICK_PARTS * budget_of(options, tuning->strategy->name, search->count);
  enum vinci_status status = search_on(tuning, diag);
  if (status == VINCI_OK)
    tuning->out->fastest_cycles = search->cycles[search->best];
  if (status == VINCI_OK && options->robust > 0 && !tuning->out->ended_early)
    status = choose_robust(tuning, diag);
  if (status == VINCI_OK)
    tell(tuning);
  return status;
}

enum vinci_status vinci_tune(const vinci_soc *soc, const char *op, const char *const *args,
                             size_t arg_count, const struct vinci_tune_options *options,
                             struct vinci_tuned *out, struct vinci_diag *diag) {
  *out = (struct vinci_tuned){0};
  if (options->struct_size != sizeof *options)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the options of a search is %zu, not %zu",
                      options->struct_size, sizeof *options);
  vinci_space *space = NULL;
  struct tuning tuning = {.setting = {.soc = soc,
                                      .op = op,
                                      .args = args,
                                      .arg_count = arg_count,
                                      .evaluate = {.struct_size = sizeof tuning.setting.evaluate,
                                                   .jobs = options->jobs,
                                                   .memory = options->memory,
                                                   .network = options->network,
                                                   .l2_start = options->l2_start}},
                          .options = options,
                          .out = out};
  enum vinci_status status =
      vinci_space_open(soc, op, args, arg_count, options->schedules, &space, diag);
  if (status == VINCI_OK)
    status = tune_journal_open(options->journal, &tuning.setting.journal, diag);
  if (status == VINCI_OK)
    status = tune(&tuning, space, diag);
  search_close(&tuning.search);
  tune_journal_close(tuning.setting.journal);
  vinci_space_free(space);
  return status;
}
