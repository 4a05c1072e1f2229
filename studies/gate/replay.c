/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bless keeps beside a baseline, in BASELINE.inputs/: the chip of each point as key,value
 * and its program as a trace, by digest. With them the run of the baseline can be repeated,
 * as long as the model is the same, and its events compared event by event.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/chip/soc_numbers.h"
#include "core/result/divergence.h"
#include "studies/gate/gate.h"

enum { PATH_SIZE = 4096, VALUE_SIZE = 64, KEY_SIZE = 128, CONFIG_LINES_MAX = 40 };

static void input_path(const char *baseline_path, const char *kind, const char *digest, char *path,
                       size_t size) {
  snprintf(path, size, "%s.inputs/%s-%s.csv", baseline_path, kind, digest);
}

/* ---- keeping ------------------------------------------------------------------------------ */

struct keeping {
  const struct gate_point *point;
  const vinci_soc *soc;
  const char *text;
  size_t length;
};

static void write_config(void *context, FILE *out) {
  const struct keeping *keeping = context;
  const vinci_soc *soc = keeping->soc;
  char value[VALUE_SIZE], models[WORKLOAD_MODELS_MAX];
  workload_models_text(&keeping->point->options, models, sizeof models);
  fprintf(out, "soc,%s\nmodels,%s\n", vinci_soc_name(soc), models);
  /* Names first: another memory brings other numbers, which those behind it then correct. */
  for (unsigned i = 0; i < SOC_NAME_COUNT; i++)
    fprintf(out, "%s,%s\n", soc_name_key((enum soc_name)i), soc->choices[i].name);
  for (size_t i = 0; i < soc_number_count(soc); i++) {
    struct soc_number number = soc_number_at(soc, i);
    soc_format_value(number.value, number.param->kind, value, sizeof value);
    fprintf(out, "%s,%s\n", number.key, value);
  }
}

static void write_program(void *context, FILE *out) {
  const struct keeping *keeping = context;
  fwrite(keeping->text, 1, keeping->length, out);
}

/* The program as text: of the file, or as it was compiled. */
static char *program_text(const struct gate_point *point, const vinci_soc *soc, size_t *length,
                          struct vinci_diag *diag) {
  const struct workload *workload = &point->spec.workload;
  char *text = NULL;
  if (workload->trace)
    return file_read(workload->trace, SIZE_MAX, length, diag);
  char *compiled;
  if (vinci_compile_text(soc, workload->op, workload->args, workload->arg_count, &compiled, diag) !=
      VINCI_OK)
    return NULL;
  *length = strlen(compiled);
  text = strdup(compiled);
  vinci_text_free(compiled);
  return text;
}

/* Networks and jobs have no events to compare. */
static bool has_events(const struct gate_point *point) {
  const struct workload *workload = &point->spec.workload;
  return !workload->net && !workload->job && !workload->model;
}

static enum vinci_status keep_point(const struct gate_run *run, const struct gate_point *point,
                                    const struct gate_rows *baseline, const char *baseline_path,
                                    struct vinci_diag *diag) {
  char path[PATH_SIZE];
  vinci_soc *soc = NULL;
  vinci_trace *trace = NULL;
  if (!has_events(point))
    return VINCI_OK;
  enum vinci_status status = gate_point_open(point, run->chips, &soc, &trace, diag);
  struct keeping keeping = {.point = point, .soc = soc};
  if (status == VINCI_OK) {
    input_path(baseline_path, "config", gate_rows_text(baseline, point->name, "digest.config"),
               path, sizeof path);
    status = file_replace(path, write_config, &keeping, diag);
  }
  char *text = status == VINCI_OK ? program_text(point, soc, &keeping.length, diag) : NULL;
  if (status == VINCI_OK && !text)
    status = diag->status;
  if (text) {
    keeping.text = text;
    input_path(baseline_path, "program", gate_rows_text(baseline, point->name, "digest.program"),
               path, sizeof path);
    status = file_replace(path, write_program, &keeping, diag);
  }
  free(text);
  vinci_trace_free(trace);
  vinci_soc_free(soc);
  return status;
}

/* Whether a file of the folder belongs to a row of the baseline. */
static bool is_referred_to(const struct gate_rows *baseline, const char *file) {
  for (size_t i = 0; i < baseline->count; i++) {
    const struct gate_row *row = &baseline->items[i];
    char name[KEY_SIZE];
    if (strcmp(row->kind, "digest") != 0)
      continue;
    const char *kind = strchr(row->metric, '.');
    snprintf(name, sizeof name, "%s-%s.csv", kind ? kind + 1 : "", row->value);
    if (strcmp(name, file) == 0)
      return true;
  }
  return false;
}

static void remove_others(const struct gate_rows *baseline, const char *folder) {
  DIR *files = opendir(folder);
  for (struct dirent *entry; files && (entry = readdir(files)) != NULL;) {
    char path[PATH_SIZE + 256 + 1];
    bool ours =
        strncmp(entry->d_name, "config-", 7) == 0 || strncmp(entry->d_name, "program-", 8) == 0;
    if (!ours || is_referred_to(baseline, entry->d_name))
      continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    remove(path);
  }
  if (files)
    closedir(files);
}

static enum vinci_status make_folder(const char *baseline_path, char folder[PATH_SIZE],
                                     struct vinci_diag *diag) {
  snprintf(folder, PATH_SIZE, "%s.inputs", baseline_path);
  if (mkdir(folder, 0777) == 0 || errno == EEXIST)
    return VINCI_OK;
  return diag_error_at(diag, diag_status_of(errno), (struct diag_position){.path = folder},
                       "cannot make the folder: %s", strerror(errno));
}

enum vinci_status gate_lock_inputs(const char *baseline_path, int *lock, struct vinci_diag *diag) {
  char folder[PATH_SIZE];
  enum vinci_status status = make_folder(baseline_path, folder, diag);
  return status == VINCI_OK ? folder_lock(folder, "another bless", lock, diag) : status;
}

void gate_drop_inputs(const char *baseline_path) {
  char folder[PATH_SIZE];
  snprintf(folder, sizeof folder, "%s.inputs", baseline_path);
  (void)rmdir(folder); /* stays unless empty */
}

enum vinci_status gate_keep_inputs(const struct gate_run *run, const struct gate_rows *baseline,
                                   const char *baseline_path, struct vinci_diag *diag) {
  char folder[PATH_SIZE];
  enum vinci_status status = make_folder(baseline_path, folder, diag);
  for (size_t i = 0; status == VINCI_OK && i < run->suite->count; i++) {
    const struct gate_point *point = &run->suite->points[i];
    size_t count;
    (void)gate_rows_of(&run->rows, point->name, &count);
    bool blessed = count > 0 && gate_rows_text(baseline, point->name, "digest.config") &&
                   strcmp(gate_rows_text(baseline, point->name, "digest.config"),
                          gate_rows_text(&run->rows, point->name, "digest.config")) == 0;
    if (blessed)
      status = keep_point(run, point, baseline, baseline_path, diag);
  }
  remove_others(baseline, folder);
  return status;
}

/* ---- the old chip --------------------------------------------------------------------------- */

struct replaying {
  const struct gate_run *run;
  struct vinci_run_options old_options, new_options;
  const char *prefix;
  FILE *out;
  vinci_soc *old_soc, *new_soc;
  vinci_trace *old_trace, *new_trace;
  vinci_result *old_result, *new_result;
};

static bool restore_models(struct replaying *replaying, const char *models) {
  char now[WORKLOAD_MODELS_MAX];
  workload_models_text(&replaying->new_options, now, sizeof now);
  if (strcmp(now, models) != 0)
    fprintf(replaying->out, "%sconfig: models %s -> %s\n", replaying->prefix, models, now);
  return workload_models_parse(models, &replaying->old_options);
}

/* Makes the old chip from its file and tells what is different now. */
static bool restore_chip(struct replaying *replaying, const char *path) {
  size_t length, printed = 0;
  char *text = file_read(path, SIZE_MAX, &length, NULL), *rest = NULL;
  bool good = text != NULL;
  for (char *line = good ? strtok_r(text, "\n", &rest) : NULL; line && good;
       line = strtok_r(NULL, "\n", &rest)) {
    char now[VALUE_SIZE], assignment[KEY_SIZE + VALUE_SIZE];
    char *value = strchr(line, ',');
    if (!value)
      continue;
    *value++ = '\0';
    value[strcspn(value, "\r")] = '\0';
    if (strcmp(line, "soc") == 0) {
      const vinci_soc *chip;
      good = !replaying->old_soc &&
             chip_cache_get(replaying->run->chips, value, &chip, NULL) == VINCI_OK &&
             (replaying->old_soc = soc_copy(chip)) != NULL;
      if (strcmp(value, vinci_soc_name(replaying->new_soc)) != 0)
        fprintf(replaying->out, "%sconfig: soc %s -> %s\n", replaying->prefix, value,
                vinci_soc_name(replaying->new_soc));
      continue;
    }
    if (strcmp(line, "models") == 0) {
      good = restore_models(replaying, value);
      continue;
    }
    if (!replaying->old_soc || !soc_setting_text(replaying->new_soc, line, now, sizeof now))
      continue;
    if (strcmp(now, value) != 0 && printed++ < CONFIG_LINES_MAX)
      fprintf(replaying->out, "%sconfig: %s %s -> %s\n", replaying->prefix, line, value, now);
    if (soc_setting_text(replaying->old_soc, line, now, sizeof now) && strcmp(now, value) != 0) {
      snprintf(assignment, sizeof assignment, "%.120s=%.60s", line, value);
      good = vinci_soc_set(replaying->old_soc, assignment, NULL) == VINCI_OK;
    }
  }
  if (printed > CONFIG_LINES_MAX)
    fprintf(replaying->out, "%sconfig: and %zu more\n", replaying->prefix,
            printed - CONFIG_LINES_MAX);
  free(text);
  return good && replaying->old_soc;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void print_divergence(const struct replaying *replaying) {
  const vinci_result *result = replaying->new_result;
  struct divergence first;
  char name[48], now[160], before[160];
  if (divergence_find(replaying->old_result, result, &first, NULL) != VINCI_OK)
    return;
  if (!first.core) {
    fprintf(replaying->out, "%sno event differs%s\n", replaying->prefix,
            result->events_dropped > 0 ? " as far as they are kept" : "");
    return;
  }
  result_core_name(first.core, name, sizeof name);
  divergence_event_text(first.b, now, sizeof now);
  divergence_event_text(first.a, before, sizeof before);
  fprintf(replaying->out, "%sfirst difference: %s: %s; it was %s\n", replaying->prefix, name, now,
          before);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Repeats both runs; says why when that of the baseline cannot be. */
static const char *repeat(struct replaying *replaying, const struct gate_point *point,
                          const struct gate_rows *baseline, const char *baseline_path) {
  char path[PATH_SIZE];
  replaying->new_options = point->options;
  replaying->new_options.max_events = GATE_EVENTS_MAX;
  replaying->old_options = replaying->new_options;
  input_path(baseline_path, "config", gate_rows_text(baseline, point->name, "digest.config"), path,
             sizeof path);
  if (!restore_chip(replaying, path))
    return "the chip of the baseline is not in its folder of inputs";
  input_path(baseline_path, "program", gate_rows_text(baseline, point->name, "digest.program"),
             path, sizeof path);
  if (vinci_trace_load(path, replaying->old_soc, &replaying->old_trace, NULL) != VINCI_OK)
    return "the program of the baseline is not in its folder of inputs";
  if (vinci_run(replaying->old_soc, replaying->old_trace, &replaying->old_options,
                &replaying->old_result, NULL) != VINCI_OK ||
      vinci_result_total_cycles(replaying->old_result) !=
          gate_rows_value(baseline, point->name, "total_cycles"))
    return "this model does not give the numbers of the baseline";
  if (vinci_run(replaying->new_soc, replaying->new_trace, &replaying->new_options,
                &replaying->new_result, NULL) != VINCI_OK)
    return "the point cannot be run again";
  return NULL;
}

void gate_replay(const struct gate_run *run, const struct gate_rows *baseline,
                 const char *baseline_path, const struct gate_outcome *outcome, const char *prefix,
                 FILE *out) {
  const struct gate_point *point = &run->suite->points[outcome->index];
  struct replaying replaying = {.run = run, .prefix = prefix, .out = out};
  if (!has_events(point))
    return;
  if (gate_point_open(point, run->chips, &replaying.new_soc, &replaying.new_trace, NULL) ==
      VINCI_OK) {
    const char *problem = repeat(&replaying, point, baseline, baseline_path);
    if (problem)
      fprintf(out, "%sno comparison of events: %s\n", prefix, problem);
    else
      print_divergence(&replaying);
  }
  vinci_result_free(replaying.old_result);
  vinci_result_free(replaying.new_result);
  vinci_trace_free(replaying.old_trace);
  vinci_trace_free(replaying.new_trace);
  vinci_soc_free(replaying.old_soc);
  vinci_soc_free(replaying.new_soc);
}
