/* SPDX-License-Identifier: Apache-2.0 */
/* What the words of a side name, and the run of a trace or an operator. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/chip/soc.h"
#include "studies/diff/diff.h"

enum { PATH_SIZE = 4096 };

static const char side_letters[] = "AB";

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_folder(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static bool has_file(const char *folder, const char *name) {
  char path[PATH_SIZE];
  struct stat found;
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  return length < (int)sizeof path && stat(path, &found) == 0 && S_ISREG(found.st_mode);
}

/* Whether the first row of a file begins with this word. */
static bool begins_with(const char *path, const char *word) {
  FILE *in = fopen(path, "r");
  char *line = NULL;
  size_t capacity = 0;
  bool found = false;
  while (in && getline(&line, &capacity, in) > 0) {
    const char *text = line + strspn(line, " \t\r\n\xef\xbb\xbf");
    if (*text == '\0' || *text == '#')
      continue;
    found = strncmp(text, word, strlen(word)) == 0;
    break;
  }
  free(line);
  if (in)
    fclose(in);
  return found;
}

/* ---- words ----------------------------------------------------------------------------------- */

static enum vinci_status name_kind(struct diff_side *side, const char *what,
                                   struct vinci_diag *diag) {
  struct diag_position position = {.path = what};
  bool file = ends_with(what, ".csv") || strchr(what, '/');
  if (ends_with(what, ".lua")) {
    (void)diag_error_at(diag, VINCI_E_USAGE, position, "is a study or suite, which has many runs");
    diag_hint(diag, "'vinci gate explain' compares the points of a suite with a baseline");
    return VINCI_E_USAGE;
  }
  if (is_folder(what)) {
    bool one = has_file(what, "summary.json"), list = has_file(what, "op_summary.csv");
    if (!one && !list) {
      (void)diag_error_at(diag, VINCI_E_INPUT, position,
                          "has no results: neither summary.json nor op_summary.csv");
      diag_hint(diag, "'vinci run ... --output=DIR' writes a result folder; of a profile give its "
                      "kernel_details.csv");
      return VINCI_E_INPUT;
    }
    bool job = has_file(what, "timeline.csv") && has_file(what, "step_trace_time.csv");
    side->kind = one && has_file(what, "nodes.csv") ? DIFF_KEPT_NET
                 : one && job                       ? DIFF_KEPT_JOB
                 : one                              ? DIFF_KEPT
                                                    : DIFF_KEPT_LIST;
    return VINCI_OK;
  }
  if (ends_with(what, ".json")) {
    side->kind = DIFF_KEPT;
    return VINCI_OK;
  }
  if (file && access(what, R_OK) != 0)
    return file_error(diag, what, "read");
  side->kind = (file && network_is_graph(what)) || ends_with(what, ".onnx") ? DIFF_NET
               : !file || begins_with(what, "trace,")                       ? DIFF_RUN
               : begins_with(what, "job,")                                  ? DIFF_JOB
               : diff_list_is_kept(what)                                    ? DIFF_KEPT_LIST
                                                                            : DIFF_LIST;
  return VINCI_OK;
}

/* A trace, or an operator, a network or a job with arguments. */
static enum vinci_status keep_words(struct vinci_diff *diff, struct diff_side *side,
                                    const struct vinci_diff_side *given, struct vinci_diag *diag) {
  struct workload *workload = &side->spec.workload;
  const char *what = arena_strdup(&diff->arena, given->words[0]);
  workload->args = ARENA_ARRAY(&diff->arena, const char *, given->word_count);
  if (!what || !workload->args)
    return diff_no_memory(diag);
  bool net = side->kind == DIFF_NET, job = side->kind == DIFF_JOB;
  bool file =
      !net && !job && (side->kind != DIFF_RUN || ends_with(what, ".csv") || strchr(what, '/'));
  if (file && given->word_count > 1)
    return diag_error(diag, VINCI_E_USAGE, "'%s' after %s: it takes no arguments", given->words[1],
                      what);
  *(net ? &workload->net : job ? &workload->job : file ? &workload->trace : &workload->op) = what;
  for (size_t i = 1; i < given->word_count; i++) {
    if (!strchr(given->words[i], '='))
      return diag_error(diag, VINCI_E_USAGE, "argument '%s' of %s is not key=value",
                        given->words[i], what);
    const char *argument = arena_strdup(&diff->arena, given->words[i]);
    if (!argument)
      return diff_no_memory(diag);
    workload->args[workload->arg_count++] = argument;
  }
  side->name = workload_text(workload, &diff->arena);
  if (!side->name)
    return diff_no_memory(diag);
  return workload->op ? workload_check_operator(workload, NULL, diag) : VINCI_OK;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_overrides(const struct run_spec *a, const struct run_spec *b) {
  bool same = same_text(a->soc, b->soc) && same_text(a->models.memory, b->models.memory) &&
              same_text(a->models.network, b->models.network) &&
              same_text(a->models.l2, b->models.l2) && same_text(a->models.code, b->models.code) &&
              a->set_count == b->set_count;
  for (size_t i = 0; same && i < a->set_count; i++)
    same = same_text(a->sets[i], b->sets[i]);
  return same;
}

static bool is_kept(const struct diff_side *side) {
  return side->kind == DIFF_KEPT || side->kind == DIFF_KEPT_LIST || side->kind == DIFF_KEPT_NET ||
         side->kind == DIFF_KEPT_JOB;
}

/* What was simulated before is as it is. What is said of both sides is for the one that runs. */
enum vinci_status diff_check_kept(const struct diff_side *side, const struct diff_side *other,
                                  struct vinci_diag *diag) {
  const struct run_spec *spec = &side->spec;
  bool kept = is_kept(side), other_runs = !is_kept(other);
  const char *word = spec->soc              ? "a chip"
                     : spec->set_count > 0  ? "a number of the chip"
                     : spec->models.memory  ? "a model of memory"
                     : spec->models.network ? "a network"
                     : spec->models.l2      ? "a state of L2"
                     : spec->models.code    ? "a state of code"
                                            : NULL;
  if (!kept || !word || (other_runs && same_overrides(spec, &other->spec)))
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "%s holds results of an earlier run: %s is not for these",
                    side->name, word);
}

enum vinci_status diff_side_open(struct vinci_diff *diff, enum explain_side which,
                                 const struct vinci_diff_side *given,
                                 const struct vinci_diff_options *options,
                                 struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  const char *data = given->overrides.data_dir;
  if (given->word_count == 0 || !*given->words[0]) {
    (void)diag_error(diag, VINCI_E_USAGE, "nothing to compare: %c is missing", side_letters[which]);
    diag_hint(diag,
              "a side is a trace, an operator, a network, a job, a list of operators, or a result "
              "folder");
    return VINCI_E_USAGE;
  }
  if (!overrides_keep(&given->overrides, &diff->arena, &side->spec) ||
      (data && !(side->data = arena_strdup(&diff->arena, data))))
    return diff_no_memory(diag);
  side->spec.max_cycles = options->max_cycles;
  side->soc_name = "";
  enum vinci_status status = name_kind(side, given->words[0], diag);
  return status == VINCI_OK ? keep_words(diff, side, given, diag) : status;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void take_counters(const struct vinci_diff *diff, struct diff_side *side) {
  struct metric_list list;
  metrics_collect(side->result, &list);
  for (size_t i = 0; i < diff->names.count; i++) {
    side->value[i] = list.item[i].value;
    /* Without an account there is no energy, nor is there one of nothing. */
    side->has[i] = list.item[i].counter->unit != UNIT_PJ || list.item[i].value > 0;
    side->used[i] = !list.item[i].unused;
  }
  side->total_cycles = side->result->total_cycles;
  side->duration_ps = side->result->total_ps;
}

static enum vinci_status take_path(struct vinci_diff *diff, enum explain_side which,
                                   struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  struct critical_path path;
  enum vinci_status status = critical_find(side->result, &path, diag);
  if (status == VINCI_OK && !explain_path(&diff->explanation, which, &path))
    status = diff_no_memory(diag);
  side->has_path = status == VINCI_OK;
  if (side->result->events_dropped == 0)
    return status;
  char text[160];
  snprintf(text, sizeof text,
           "too many instructions to follow: what came after the first %d counts as end on the "
           "critical path",
           DIFF_EVENTS_MAX);
  return status == VINCI_OK && !diff_note(diff, text) ? diff_no_memory(diag) : status;
}

static enum vinci_status open_program(struct diff_side *side, struct vinci_diag *diag) {
  const struct workload *workload = &side->spec.workload;
  if (workload->trace)
    return vinci_trace_load(workload->trace, side->soc, &side->trace, diag);
  return vinci_compile(side->soc, workload->op, workload->args, workload->arg_count, &side->trace,
                       diag);
}

static enum vinci_status simulate(struct vinci_diff *diff, enum explain_side which,
                                  struct vinci_diag *diag) {
  struct diff_side *side = &diff->side[which];
  struct vinci_run_options options = {.struct_size = sizeof options,
                                      .max_events = DIFF_EVENTS_MAX,
                                      .max_cycles = side->spec.max_cycles};
  enum vinci_status status = workload_choose(&side->spec.models, &options, diag);
  if (status == VINCI_OK && options.memory == VINCI_MEMORY_AUTO)
    status =
        diag_error(diag, VINCI_E_USAGE,
                   "memory is cycle or flat, not auto: counters of both models do not compare");
  if (status == VINCI_OK)
    status = spec_load_soc(&side->spec, side->data, &side->soc, diag);
  if (status == VINCI_OK)
    status = open_program(side, diag);
  if (status == VINCI_OK)
    status = vinci_run(side->soc, side->trace, &options, &side->result, diag);
  if (status != VINCI_OK)
    return status;
  side->soc_name = vinci_soc_name(side->soc);
  take_counters(diff, side);
  return take_path(diff, which, diag);
}

enum vinci_status diff_side_run(struct vinci_diff *diff, enum explain_side which,
                                const struct vinci_diff_options *options, struct vinci_diag *diag) {
  char path[PATH_SIZE];
  const char *name = diff->side[which].name;
  switch (diff->side[which].kind) {
  case DIFF_RUN:
    return simulate(diff, which, diag);
  case DIFF_KEPT:
    return diff_kept_read(diff, which, diag);
  case DIFF_LIST:
    return diff_list_run(diff, which, options, diag);
  case DIFF_NET:
    return diff_net_run(diff, which, diag);
  case DIFF_KEPT_NET:
    return diff_net_read(diff, which, diag);
  case DIFF_JOB:
    return diff_job_run(diff, which, diag);
  case DIFF_KEPT_JOB:
    return diff_job_read(diff, which, diag);
  case DIFF_KEPT_LIST:
    break;
  }
  snprintf(path, sizeof path, "%s%s", name, is_folder(name) ? "/op_summary.csv" : "");
  return diff_list_read(diff, which, path, diag);
}

void diff_side_close(struct diff_side *side) {
  vinci_result_free(side->result);
  vinci_trace_free(side->trace);
  vinci_soc_free(side->soc);
}
