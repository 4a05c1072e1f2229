/* SPDX-License-Identifier: Apache-2.0 */
/* A list of operators at each point of a study. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/files/failure.h"
#include "studies/sweep/sweep.h"

enum { PATH_SIZE = 4096, CELLS_MAX = 512, US_DIGITS = 6 };

enum column { NAME, LOWERED, STATUS, DURATION, WEIGHT, COLUMNS };
static const char *const column_names[] = {"Op Name", "lowered", "status", "sim_duration_us",
                                           "weight"};

struct running {
  const struct vinci_sweep_list *list;
  const struct vinci_sweep_options *options;
  struct sweep_study study;
  FILE *results, *operators;
  struct vinci_sweep_list_result *out;
};

/* ---- a point --------------------------------------------------------------------------------- */

static const char *value_of(const struct running *running, size_t point, size_t param) {
  return running->study.values[point * running->study.param_count + param];
}

/* Overrides of a point; its numbers of the chip stand behind those of all points. */
static enum vinci_status make_overrides(const struct running *running, size_t point,
                                        struct arena *arena, struct vinci_overrides *out,
                                        struct vinci_diag *diag) {
  const struct sweep_study *study = &running->study;
  *out = running->options->overrides;
  const char **sets = ARENA_ARRAY(arena, const char *, out->set_count + study->param_count + 1);
  if (!sets)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; i < out->set_count; i++)
    sets[i] = out->sets[i];
  out->sets = sets;
  for (size_t p = 0; p < study->param_count; p++) {
    const char *key = study->keys[p], *value = value_of(running, point, p);
    char text[512];
    if (strcmp(key, "soc") == 0)
      out->soc = value;
    else if (strcmp(key, "memory") == 0)
      out->memory = value;
    else if (strcmp(key, "network") == 0)
      out->network = value;
    else if (strcmp(key, "l2") == 0)
      out->l2 = value;
    else if (strcmp(key, "code") == 0)
      out->code = value;
    else if (snprintf(text, sizeof text, "%s=%s", key, value) >= (int)sizeof text ||
             !(sets[out->set_count++] = arena_strdup(arena, text)))
      return diag_error(diag, VINCI_E_USAGE, "the value of '%s' is too long", key);
  }
  return VINCI_OK;
}

static void write_params(const struct running *running, size_t point, FILE *out) {
  for (size_t p = 0; p < running->study.param_count; p++) {
    cell_write(out, value_of(running, point, p));
    fputc(',', out);
  }
}

/* What the operators of a point give. */
struct point_sum {
  uint64_t total_ps;
  size_t failed;
  char why[256]; /* of the first that failed */
};

/* The rows of operators.csv, and their sum. */
static enum vinci_status take_table(struct running *running, size_t point, const char *path,
                                    struct point_sum *sum, struct vinci_diag *diag) {
  size_t places[COLUMNS], room = 0, row = 0;
  char *line = NULL, *cell[CELLS_MAX];
  FILE *in = fopen(path, "r");
  if (!in)
    return file_error(diag, path, "open");
  bool whole = getline(&line, &room, in) > 0 && cells_find(line, column_names, COLUMNS, places);
  for (; whole && getline(&line, &room, in) > 0; row++) {
    line[strcspn(line, "\r\n")] = '\0';
    if (cells_split(line, cell, CELLS_MAX) <= places[WEIGHT])
      continue;
    bool ok = strcmp(cell[places[STATUS]], "ok") == 0;
    uint64_t weight = strtoull(cell[places[WEIGHT]], NULL, 10);
    uint64_t ps = ok ? decimal_read(cell[places[DURATION]], US_DIGITS) : 0;
    sum->total_ps += ps * weight;
    if (!ok && weight > 0 && sum->failed++ == 0)
      snprintf(sum->why, sizeof sum->why, "%s", cell[places[STATUS]]);
    write_params(running, point, running->operators);
    fprintf(running->operators, "%zu,", row + 1);
    cell_write(running->operators, cell[places[NAME]]);
    fputc(',', running->operators);
    cell_write(running->operators, cell[places[LOWERED]]);
    fprintf(running->operators, ",%" PRIu64 ",", weight);
    cell_write(running->operators, cell[places[STATUS]]);
    if (ok)
      fprintf(running->operators, ",%s,%s\n", decimal_ratio(ps, 1000000, 3).text,
              decimal_ratio((uint128)ps * weight, 1000000, 3).text);
    else
      fputs(",,\n", running->operators);
  }
  free(line);
  fclose(in);
  running->out->operators = row;
  return VINCI_OK;
}

/* A sum that lacks an operator is none. */
static void write_result(struct running *running, size_t point, const struct point_sum *sum,
                         const char *error) {
  struct vinci_sweep_list_result *out = running->out;
  bool ok = !*error;
  write_params(running, point, running->results);
  fprintf(running->results, "%s,%zu,%zu,", ok ? "ok" : "failed", out->operators, sum->failed);
  if (ok)
    fputs(decimal_ratio(sum->total_ps, 1000000, 3).text, running->results);
  fputc(',', running->results);
  cell_write(running->results, error);
  fputc('\n', running->results);
  out->failed += !ok;
  if (ok && (out->best_ps == 0 || sum->total_ps < out->best_ps)) {
    out->best = point;
    out->best_ps = sum->total_ps;
  }
}

/* What ends the study and is not the fault of a point, such as a list that cannot be read. */
static bool ends_all(const struct running *running, enum vinci_status status,
                     const struct vinci_diag *why) {
  bool of_list = strncmp(why->path, running->list->list, strlen(running->list->list)) == 0;
  return status == VINCI_E_LIMIT || status == VINCI_E_NOMEM || status == VINCI_E_IO ||
         (status == VINCI_E_INPUT && of_list);
}

static enum vinci_status run_point(struct running *running, size_t point, struct vinci_diag *diag) {
  struct vinci_ops_options ops = {.struct_size = sizeof ops,
                                  .max_cycles = running->options->max_cycles,
                                  .jobs = workload_jobs(running->list->jobs, SWEEP_JOBS_MAX)};
  struct vinci_ops_result counts;
  struct vinci_diag own = {0};
  if (point == 0 && diag) { /* all points have the same list */
    own.warn = diag->warn;
    own.warn_context = diag->warn_context;
  }
  struct arena arena = {0};
  char folder[PATH_SIZE], path[PATH_SIZE + 32];
  struct point_sum sum = {0};
  snprintf(folder, sizeof folder, "%.4000s/points/%zu", running->list->folder, point + 1);
  snprintf(path, sizeof path, "%s/op_summary.csv", folder);
  enum vinci_status status = make_overrides(running, point, &arena, &ops.overrides, &own);
  if (status == VINCI_OK)
    status = vinci_ops_run(running->list->list, folder, &ops, &counts, &own);
  if (status == VINCI_OK)
    status = take_table(running, point, path, &sum, &own);
  arena_free(&arena);
  if (ends_all(running, status, &own)) {
    *diag = own;
    return status;
  }
  char text[FAILURE_BYTES];
  failure_text(&own, text, sizeof text);
  write_result(running, point, &sum, status == VINCI_OK ? sum.why : text);
  return VINCI_OK;
}

/* ---- the study ------------------------------------------------------------------------------- */

static enum vinci_status check_params(const struct sweep_study *study, struct vinci_diag *diag) {
  for (size_t p = 0; p < study->param_count; p++)
    if (strncmp(study->keys[p], "op.", 3) == 0 || strncmp(study->keys[p], "net.", 4) == 0)
      return diag_error(diag, VINCI_E_USAGE,
                        "parameter '%s': the operators of a list have arguments of their own",
                        study->keys[p]);
  return VINCI_OK;
}

/* What lies in L2 before a row is assumed, also where its size is a parameter. */
static void warn_of_l2(const struct running *running, const struct vinci_diag *diag) {
  const struct vinci_overrides *overrides = &running->options->overrides;
  const struct sweep_study *study = &running->study;
  char text[WORKLOAD_WARNING_MAX], line[WORKLOAD_WARNING_MAX + 16];
  const char *assumed = overrides->l2 ? overrides->l2 : "by kind of operator";
  for (size_t p = 0; p < study->param_count; p++)
    if (strcmp(study->keys[p], "l2") == 0)
      assumed = "by the study";
  if (!workload_l2_warning(study->keys, study->param_count, assumed, text, sizeof text) &&
      !workload_l2_warning(overrides->sets, overrides->set_count, assumed, text, sizeof text))
    return;
  snprintf(line, sizeof line, "warning: %s", text);
  diag_warn(diag, line);
}

static enum vinci_status run_points(struct running *running, struct vinci_diag *diag) {
  const struct sweep_study *study = &running->study;
  enum vinci_status status = VINCI_OK;
  for (size_t p = 0; p < study->param_count; p++) {
    cell_write(running->results, study->keys[p]);
    cell_write(running->operators, study->keys[p]);
    fputc(',', running->results);
    fputc(',', running->operators);
  }
  fputs("status,operators,failed,total_us,error\n", running->results);
  fputs("row,name,lowered,weight,status,duration_us,weighted_us\n", running->operators);
  for (size_t i = 0; status == VINCI_OK && i < study->point_count; i++)
    status = run_point(running, i, diag);
  return status;
}

struct text {
  char *bytes;
  size_t length;
};

static void write_text(void *context, FILE *out) {
  const struct text *text = context;
  fwrite(text->bytes, 1, text->length, out);
}

static enum vinci_status keep(const struct vinci_sweep_list *list, const char *name,
                              const struct text *text, struct vinci_diag *diag) {
  char path[PATH_SIZE + 32];
  struct text whole = *text;
  snprintf(path, sizeof path, "%.4000s/%s", list->folder, name);
  return file_replace(path, write_text, &whole, diag);
}

enum vinci_status vinci_sweep_list_run(const struct vinci_sweep_list *list,
                                       const struct vinci_sweep_options *options,
                                       struct vinci_sweep_list_result *out,
                                       struct vinci_diag *diag) {
  struct text results = {0}, operators = {0};
  struct running running = {.list = list, .options = options, .out = out};
  int lock = -1;
  *out = (struct vinci_sweep_list_result){0};
  if (list->struct_size != sizeof *list)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the list is %zu, not %zu",
                      list->struct_size, sizeof *list);
  enum vinci_status status = sweep_study_open_list(&running.study, options, diag);
  if (status == VINCI_OK)
    status = check_params(&running.study, diag);
  if (status == VINCI_OK)
    status = folder_make(list->folder, diag);
  if (status == VINCI_OK)
    status = folder_lock(list->folder, "another sweep", &lock, diag);
  out->points = running.study.point_count;
  running.results = open_memstream(&results.bytes, &results.length);
  running.operators = open_memstream(&operators.bytes, &operators.length);
  if (status == VINCI_OK && (!running.results || !running.operators))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK) {
    warn_of_l2(&running, diag);
    status = run_points(&running, diag);
  }
  bool whole = !running.results || file_close_text(running.results, &results.bytes);
  whole &= !running.operators || file_close_text(running.operators, &operators.bytes);
  if (status == VINCI_OK && !whole)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = folder_remove_command(list->folder, diag);
  if (status == VINCI_OK)
    status = sweep_write_about(&running.study, list->list, list->folder, diag);
  if (status == VINCI_OK)
    status = keep(list, "operators.csv", &operators, diag);
  if (status == VINCI_OK)
    status = keep(list, "results.csv", &results, diag);
  free(results.bytes);
  free(operators.bytes);
  sweep_study_free(&running.study);
  if (lock >= 0)
    close(lock);
  return status;
}
