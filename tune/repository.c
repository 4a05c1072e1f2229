/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tunings that outlive a run, as text: a header, then records, sorted, their fields with tabs
 * between. The fields up to the models are the key. A record says with which model revision its
 * cycles were simulated and which program that was; a look-up compares both with today's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/chip/soc.h"
#include "core/isa/program.h"
#include "lower/plan/choice.h"
#include "networks/workload/workload.h"
#include "tune/tune.h"

static const char header[] =
    "#vinci-tunings 1 "
    "soc\tchip\toperator\tproblem\tmodels\trevision\tcycles\tdefault_cycles\tprogram\t"
    "schedule";

enum column {
  SOC,
  CHIP,
  OPERATOR,
  PROBLEM,
  MODELS,
  REVISION,
  CYCLES,
  DEFAULT,
  PROGRAM,
  SCHEDULE,
  FIELDS
};
enum { KEY_FIELDS = REVISION, BYTES_MAX = 1 << 28, LINE_BYTES = 4096, NUMBER_BYTES = 24 };

struct record {
  const char *field[FIELDS];
};

struct vinci_tunings {
  struct arena arena;
  struct record *record;
  size_t count, room;
  struct record *dropped; /* of those that were read, what counts no longer */
  size_t dropped_count;
};

static uint64_t number_of(const struct record *record, enum column field) {
  return strtoull(record->field[field], NULL, field == PROGRAM || field == CHIP ? 16 : 10);
}

/* ---- records -------------------------------------------------------------------------------- */

static int by_key(const struct record *one, const struct record *other) {
  for (unsigned i = 0; i < KEY_FIELDS; i++) {
    int order = strcmp(one->field[i], other->field[i]);
    if (order != 0)
      return order;
  }
  return 0;
}

static int by_numbers(uint64_t one, uint64_t other) { return (one > other) - (one < other); }

/* Of equal keys the record that counts comes first. */
static int by_worth(const void *a, const void *b) {
  const struct record *one = a, *other = b;
  int order = by_key(one, other);
  if (order == 0)
    order = by_numbers(number_of(other, REVISION), number_of(one, REVISION));
  if (order == 0)
    order = by_numbers(number_of(one, CYCLES), number_of(other, CYCLES));
  for (unsigned i = CYCLES; order == 0 && i < FIELDS; i++)
    order = strcmp(one->field[i], other->field[i]);
  return order;
}

static void settle(struct vinci_tunings *tunings) {
  size_t kept = 0;
  if (tunings->count > 0)
    qsort(tunings->record, tunings->count, sizeof *tunings->record, by_worth);
  for (size_t i = 0; i < tunings->count; i++)
    if (kept == 0 || by_key(&tunings->record[kept - 1], &tunings->record[i]) != 0)
      tunings->record[kept++] = tunings->record[i];
  tunings->count = kept;
}

static bool is_dropped(const struct vinci_tunings *tunings, const struct record *record) {
  for (size_t i = 0; i < tunings->dropped_count; i++) {
    unsigned same = 0;
    while (same < FIELDS && strcmp(tunings->dropped[i].field[same], record->field[same]) == 0)
      same++;
    if (same == FIELDS)
      return true;
  }
  return false;
}

static bool add_record(struct vinci_tunings *tunings, const struct record *record) {
  if (tunings->count == tunings->room) {
    size_t room = tunings->room ? 2 * tunings->room : 64;
    struct record *larger = realloc(tunings->record, room * sizeof *larger);
    if (!larger)
      return false;
    tunings->record = larger;
    tunings->room = room;
  }
  struct record *kept = &tunings->record[tunings->count];
  for (unsigned i = 0; i < FIELDS; i++)
    if (!(kept->field[i] = arena_strdup(&tunings->arena, record->field[i])))
      return false;
  tunings->count++;
  return true;
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool is_number(const char *text, const char *digits) {
  return *text && strlen(text) < NUMBER_BYTES && text[strspn(text, digits)] == '\0';
}

/* Divides a line in place; false for another number of fields, or numbers that are none. */
static bool split_line(char *line, struct record *out) {
  static const char decimal[] = "0123456789", hexadecimal[] = "0123456789abcdef";
  char *rest = line;
  for (unsigned i = 0; i < FIELDS; i++)
    if (!(out->field[i] = strsep(&rest, "\t")))
      return false;
  return !rest && is_number(out->field[CHIP], hexadecimal) &&
         is_number(out->field[PROGRAM], hexadecimal) && is_number(out->field[REVISION], decimal) &&
         is_number(out->field[CYCLES], decimal) && is_number(out->field[DEFAULT], decimal);
}

static enum vinci_status read_lines(struct vinci_tunings *tunings, const char *path, char *text,
                                    struct vinci_diag *diag) {
  unsigned long number = 0;
  for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
    struct record record;
    struct diag_position at = {.path = path, .line = ++number};
    line[strcspn(line, "\r")] = '\0'; /* a version control system may change line ends */
    if (!*line || strcmp(line, header) == 0)
      continue;
    if (!split_line(line, &record)) {
      (void)diag_error_at(diag, VINCI_E_INPUT, at, "is not a record of a tuning");
      diag_hint(diag, "such files are written by 'vinci tune --repository=FILE'");
      return VINCI_E_INPUT;
    }
    if (!is_dropped(tunings, &record) && !add_record(tunings, &record))
      return diag_error(diag, VINCI_E_NOMEM, "out of memory for the tunings");
  }
  settle(tunings);
  return VINCI_OK;
}

enum vinci_status vinci_tunings_merge(vinci_tunings *tunings, const char *path,
                                      struct vinci_diag *diag) {
  size_t length;
  char *text = file_read_text(path, BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  enum vinci_status status = read_lines(tunings, path, text, diag);
  free(text);
  return status;
}

enum vinci_status vinci_tunings_open(const char *path, vinci_tunings **out,
                                     struct vinci_diag *diag) {
  *out = calloc(1, sizeof **out);
  if (!*out)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the tunings");
  if (access(path, F_OK) != 0 && errno == ENOENT)
    return VINCI_OK;
  enum vinci_status status = vinci_tunings_merge(*out, path, diag);
  if (status != VINCI_OK) {
    vinci_tunings_free(*out);
    *out = NULL;
  }
  return status;
}

void vinci_tunings_free(vinci_tunings *tunings) {
  if (!tunings)
    return;
  arena_free(&tunings->arena);
  free(tunings->record);
  free(tunings->dropped);
  free(tunings);
}

size_t vinci_tunings_count(const vinci_tunings *tunings) { return tunings->count; }

static void write_lines(void *context, FILE *out) {
  const struct vinci_tunings *tunings = context;
  fprintf(out, "%s\n", header);
  for (size_t i = 0; i < tunings->count; i++)
    for (unsigned f = 0; f < FIELDS; f++)
      fprintf(out, "%s%c", tunings->record[i].field[f], f + 1 < FIELDS ? '\t' : '\n');
}

enum vinci_status vinci_tunings_save(vinci_tunings *tunings, const char *path,
                                     struct vinci_diag *diag) {
  int lock;
  enum vinci_status status = file_lock(path, "another search", &lock, diag);
  if (status != VINCI_OK)
    return status;
  if (access(path, F_OK) == 0) /* what others have kept since the file was read */
    status = vinci_tunings_merge(tunings, path, diag);
  if (status == VINCI_OK)
    status = file_replace(path, write_lines, tunings, diag);
  if (lock >= 0)
    close(lock);
  return status;
}

/* ---- keys ----------------------------------------------------------------------------------- */

struct key {
  char chip[NUMBER_BYTES], problem[LINE_BYTES], models[WORKLOAD_MODELS_MAX];
};

static enum vinci_status key_of(const vinci_soc *soc, const char *op, const char *const *args,
                                size_t count, const struct vinci_evaluate_options *options,
                                struct key *key, struct vinci_diag *diag) {
  const struct vinci_run_options run = {.struct_size = sizeof run,
                                        .memory = options->memory,
                                        .network = options->network,
                                        .l2_start = options->l2_start};
  snprintf(key->chip, sizeof key->chip, "%016" PRIx64, soc_digest(soc));
  workload_models_text(&run, key->models, sizeof key->models);
  return lower_problem_text(soc, op, args, count, key->problem, sizeof key->problem, diag);
}

/* ---- near shapes ---------------------------------------------------------------------------- */

/* How far apart two values "key=A" and "key=B" are: 0 for equal texts; of sizes and shapes of the
 * same rank the sum of what the larger extent is beyond the smaller, in thousandths of that; false
 * where one cannot stand for the other. */
static bool value_distance(const char *one, const char *other, uint64_t *sum) {
  while (*one && *one == *other && *one != '=') {
    one++;
    other++;
  }
  if (*one != '=' || *other != '=')
    return false;
  while (*one++ && *other++) {
    char *one_end, *other_end;
    uint64_t a = strtoull(one, &one_end, 10), b = strtoull(other, &other_end, 10);
    if (one_end == one || other_end == other || (*one_end && *one_end != 'x'))
      return strcmp(one, other) == 0;
    if (*one_end != *other_end || a == 0 || b == 0)
      return a == b && strcmp(one_end, other_end) == 0;
    uint64_t larger = a > b ? a : b, smaller = a > b ? b : a;
    *sum += (uint64_t)((uint128)(larger - smaller) * 1000 / smaller);
    one = one_end;
    other = other_end;
    if (!*one)
      return true;
  }
  return true;
}

/* Word by word; UINT64_MAX: the problems differ in more than sizes. */
static uint64_t problem_distance(const char *one, const char *other) {
  char a[LINE_BYTES], b[LINE_BYTES];
  snprintf(a, sizeof a, "%s", one);
  snprintf(b, sizeof b, "%s", other);
  uint64_t sum = 0;
  char *rest_a = a, *rest_b = b;
  for (;;) {
    const char *word_a = strsep(&rest_a, " "), *word_b = strsep(&rest_b, " ");
    if (!word_a || !word_b)
      return word_a == word_b ? sum : UINT64_MAX;
    if (strcmp(word_a, word_b) != 0 && !value_distance(word_a, word_b, &sum))
      return UINT64_MAX;
  }
}

static const struct record *find_nearest(const struct vinci_tunings *tunings, const char *op,
                                         const struct key *key, uint64_t *distance) {
  const struct record *nearest = NULL;
  *distance = UINT64_MAX;
  for (size_t i = 0; i < tunings->count; i++) {
    const struct record *record = &tunings->record[i];
    if (strcmp(record->field[CHIP], key->chip) != 0 || strcmp(record->field[OPERATOR], op) != 0)
      continue;
    uint64_t away = problem_distance(record->field[PROBLEM], key->problem);
    away += away < UINT64_MAX && strcmp(record->field[MODELS], key->models) != 0;
    if (away < *distance) {
      *distance = away;
      nearest = record;
    }
  }
  return nearest;
}

/* ---- advice --------------------------------------------------------------------------------- */

struct question {
  struct tune_setting setting;
  const struct record *record;
};

/* Whether a record's schedule makes the program today that was simulated then. */
static bool is_fresh(const struct question *question) {
  const struct record *record = question->record;
  const struct tune_setting *setting = &question->setting;
  char text[SPACE_TEXT_BYTES];
  const char *words[2 * LOWER_KEYS_MAX];
  struct vinci_diag ignored = {0};
  vinci_trace *trace = NULL;
  size_t count = 0;
  if (strcmp(record->field[REVISION], vinci_model_revision()) != 0 ||
      setting->arg_count > LOWER_KEYS_MAX)
    return false;
  for (; count < setting->arg_count; count++)
    words[count] = setting->args[count];
  snprintf(text, sizeof text, "%s", record->field[SCHEDULE]);
  char *rest = NULL;
  for (char *word = strtok_r(text, " ", &rest); word && count < 2 * LOWER_KEYS_MAX;
       word = strtok_r(NULL, " ", &rest))
    words[count++] = word;
  bool same =
      vinci_compile(setting->soc, setting->op, words, count, &trace, &ignored) == VINCI_OK &&
      trace->digest == number_of(record, PROGRAM);
  vinci_trace_free(trace);
  return same;
}

/* A record of the same key whose program is no longer lowered counts for nothing, and does not come
 * back from the file. */
static bool drop_stale(struct vinci_tunings *tunings, const struct record *like,
                       const struct tune_setting *setting) {
  for (size_t i = 0; i < tunings->count; i++) {
    struct question question = {.setting = *setting, .record = &tunings->record[i]};
    if (by_key(&tunings->record[i], like) != 0 || is_fresh(&question))
      continue;
    size_t bytes = (tunings->dropped_count + 1) * sizeof *tunings->dropped;
    struct record *dropped = realloc(tunings->dropped, bytes);
    if (!dropped)
      return false;
    tunings->dropped = dropped;
    dropped[tunings->dropped_count++] = tunings->record[i];
    memmove(&tunings->record[i], &tunings->record[i + 1],
            (--tunings->count - i) * sizeof *tunings->record);
    return true;
  }
  return true;
}

enum vinci_status vinci_tunings_add(vinci_tunings *tunings, const vinci_soc *soc, const char *op,
                                    const char *const *args, size_t arg_count,
                                    const struct vinci_tune_options *options,
                                    const struct vinci_tuned *tuned, struct vinci_diag *diag) {
  const struct vinci_evaluate_options models = {
      .memory = options->memory, .network = options->network, .l2_start = options->l2_start};
  struct key key;
  char cycles[NUMBER_BYTES], usual[NUMBER_BYTES], program[NUMBER_BYTES];
  enum vinci_status status = key_of(soc, op, args, arg_count, &models, &key, diag);
  if (status != VINCI_OK)
    return status;
  snprintf(cycles, sizeof cycles, "%" PRIu64, tuned->cycles);
  snprintf(usual, sizeof usual, "%" PRIu64, tuned->default_cycles);
  snprintf(program, sizeof program, "%016" PRIx64, tuned->program_digest);
  const struct record record = {{vinci_soc_name(soc), key.chip, op, key.problem, key.models,
                                 vinci_model_revision(), cycles, usual, program, tuned->schedule}};
  if (strpbrk(key.problem, "\t\n"))
    return diag_error(diag, VINCI_E_USAGE, "arguments with tabs or line ends cannot be recorded");
  const struct tune_setting setting = {.soc = soc, .op = op, .args = args, .arg_count = arg_count};
  if (!drop_stale(tunings, &record, &setting) || !add_record(tunings, &record))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the tunings");
  settle(tunings);
  return VINCI_OK;
}

/* The record's schedule and the default, simulated: the faster is the answer. */
static enum vinci_status measure(struct question *question, struct vinci_advice *out,
                                 struct vinci_diag *diag) {
  const char *const schedules[] = {"", question->record->field[SCHEDULE]};
  struct tune_fact facts[2];
  enum vinci_status status = tune_journal_open(NULL, &question->setting.journal, diag);
  if (status == VINCI_OK)
    status = tune_ask(&question->setting, schedules, 2, facts, diag);
  tune_journal_close(question->setting.journal);
  if (status != VINCI_OK)
    return status;
  out->is_default = facts[0].cycles <= facts[1].cycles;
  out->default_cycles = facts[0].cycles;
  out->cycles = facts[out->is_default ? 0 : 1].cycles;
  if (!out->is_default)
    snprintf(out->schedule, sizeof out->schedule, "%s", schedules[1]);
  return VINCI_OK;
}

enum vinci_status vinci_tunings_advise(const vinci_tunings *tunings, const vinci_soc *soc,
                                       const char *op, const char *const *args, size_t arg_count,
                                       const struct vinci_evaluate_options *options,
                                       struct vinci_advice *out, struct vinci_diag *diag) {
  static const struct vinci_evaluate_options defaults = {.struct_size = sizeof defaults};
  struct question question = {
      .setting = {.soc = soc, .op = op, .args = args, .arg_count = arg_count}};
  struct key key;
  uint64_t distance;
  question.setting.evaluate = options ? *options : defaults;
  *out = (struct vinci_advice){0};
  enum vinci_status status =
      key_of(soc, op, args, arg_count, &question.setting.evaluate, &key, diag);
  if (status != VINCI_OK)
    return status;
  question.record = find_nearest(tunings, op, &key, &distance);
  if (!question.record)
    return VINCI_OK;
  out->origin = distance > 0 ? VINCI_ADVICE_NEAR : VINCI_ADVICE_STALE;
  snprintf(out->from, sizeof out->from, "%.*s", (int)sizeof out->from - 1,
           question.record->field[PROBLEM]);
  if (distance > 0 || !is_fresh(&question))
    return measure(&question, out, diag);
  out->origin = VINCI_ADVICE_KEPT;
  out->cycles = number_of(question.record, CYCLES);
  out->default_cycles = number_of(question.record, DEFAULT);
  snprintf(out->schedule, sizeof out->schedule, "%s", question.record->field[SCHEDULE]);
  return VINCI_OK;
}
