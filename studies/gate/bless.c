/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bless: what a run gave becomes the baseline, and the log beside the baseline gets a reason. Only
 * the baseline, its log and its inputs are written, never a policy; the baseline comes last and by
 * a rename, so that it is there whole or as it was.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "studies/gate/gate.h"

enum { PATH_SIZE = 4096 };

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

/* ---- what may be blessed -------------------------------------------------------------------- */

/* A point that has no numbers, or numbers of another input, stops everything. */
static enum vinci_status check_points(const struct gate_bless *bless, struct vinci_diag *diag) {
  for (size_t i = 0; i < bless->verdicts->count; i++) {
    const struct gate_outcome *outcome = &bless->verdicts->items[i];
    if (outcome->verdict >= GATE_UNSAFE) /* has failed */
      return diag_error(diag, VINCI_E_INTERNAL, "point '%s' has no result to bless: %s",
                        outcome->point, outcome->text);
    if (outcome->verdict == GATE_STALE && !bless->rebase_inputs) {
      (void)diag_error(diag, VINCI_E_INPUT, "point '%s': %s", outcome->point, outcome->text);
      diag_hint(diag, "rebase_inputs takes the new input as the one to compare with");
      return VINCI_E_INPUT;
    }
    if (outcome->index < bless->run->suite->count && bless->run->differs[outcome->index])
      return diag_error(diag, VINCI_E_INTERNAL, "point '%s': %s", outcome->point, outcome->text);
  }
  return VINCI_OK;
}

/* ---- the new baseline ------------------------------------------------------------------------ */

static bool is_in_run(const struct gate_bless *bless, const char *point) {
  size_t count;
  (void)gate_rows_of(&bless->run->rows, point, &count);
  return count > 0;
}

/* Whether an old point stays as it is: with a pattern those that the pattern does not match. */
static bool stays(const struct gate_bless *bless, const char *point) {
  return bless->only && !is_in_run(bless, point);
}

static bool add_row(struct gate_rows *to, const struct gate_row *row) {
  return gate_rows_add(to, row->point, row->metric, row->value, row->unit, row->kind);
}

static enum vinci_status merge(const struct gate_bless *bless, struct gate_rows *merged,
                               struct vinci_diag *diag) {
  for (size_t i = 0; i < bless->baseline->count; i++)
    if (stays(bless, bless->baseline->items[i].point) &&
        !add_row(merged, &bless->baseline->items[i]))
      return no_memory(diag);
  for (size_t i = 0; i < bless->run->rows.count; i++)
    if (!add_row(merged, &bless->run->rows.items[i]))
      return no_memory(diag);
  gate_rows_sort(merged);
  return VINCI_OK;
}

static bool same_rows(const struct gate_rows *a, const struct gate_rows *b) {
  if (a->count != b->count)
    return false;
  for (size_t i = 0; i < a->count; i++)
    if (strcmp(a->items[i].point, b->items[i].point) != 0 ||
        strcmp(a->items[i].metric, b->items[i].metric) != 0 ||
        strcmp(a->items[i].value, b->items[i].value) != 0)
      return false;
  return true;
}

/* ---- the log --------------------------------------------------------------------------------- */

struct log_entry {
  const struct gate_bless *bless;
  const struct gate_rows *merged;
  const char *before; /* the log so far */
};

/* Rows of kind metric that differ, also those that one of the two lacks. */
static void log_point(const struct log_entry *entry, const char *point, FILE *out) {
  size_t count, old_count;
  const struct gate_rows *old_rows = entry->bless->baseline, *new_rows = entry->merged;
  (void)gate_rows_of(old_rows, point, &old_count);
  if (old_count == 0) {
    fprintf(out, "%s: new, %s cycles\n", point, gate_rows_text(new_rows, point, "total_cycles"));
    return;
  }
  size_t first = gate_rows_of(new_rows, point, &count);
  for (size_t i = first; i < first + count; i++) {
    const struct gate_row *row = &new_rows->items[i];
    const char *old_text = gate_rows_text(old_rows, point, row->metric);
    if (strcmp(row->kind, "detail") != 0 && (!old_text || strcmp(old_text, row->value) != 0))
      fprintf(out, "%s: %s %s -> %s\n", point, row->metric, old_text ? old_text : "0", row->value);
  }
  first = gate_rows_of(old_rows, point, &count);
  for (size_t i = first; i < first + count; i++) {
    const struct gate_row *row = &old_rows->items[i];
    if (strcmp(row->kind, "metric") == 0 && !gate_rows_text(new_rows, point, row->metric))
      fprintf(out, "%s: %s %s -> 0\n", point, row->metric, row->value);
  }
}

static void write_log(void *context, FILE *out) {
  const struct log_entry *entry = context;
  const struct gate_rows *old_rows = entry->bless->baseline, *new_rows = entry->merged;
  size_t count;
  fputs(entry->before, out);
  fputs("== ", out);
  for (const char *c = entry->bless->reason; *c; c++)
    fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
  fprintf(out, "\nvinci %s, model revision %s\n", vinci_version(), vinci_model_revision());
  for (size_t i = 0; i < new_rows->count; i += count) {
    (void)gate_rows_of(new_rows, new_rows->items[i].point, &count);
    log_point(entry, new_rows->items[i].point, out);
  }
  for (size_t i = 0; i < old_rows->count; i += count) {
    const char *point = old_rows->items[i].point;
    size_t left;
    (void)gate_rows_of(old_rows, point, &count);
    (void)gate_rows_of(new_rows, point, &left);
    if (left == 0)
      fprintf(out, "%s: removed\n", point);
  }
}

static enum vinci_status append_log(const struct gate_bless *bless, const struct gate_rows *merged,
                                    struct vinci_diag *diag) {
  char path[PATH_SIZE];
  size_t length;
  if (snprintf(path, sizeof path, "%s.changes", bless->path) >= (int)sizeof path)
    return diag_error(diag, VINCI_E_IO, "the name of the baseline is too long");
  bool exists = access(path, F_OK) == 0;
  char *before = exists ? file_read(path, SIZE_MAX, &length, diag) : strdup("");
  if (!before)
    return exists ? diag->status : no_memory(diag);
  struct log_entry entry = {bless, merged, before};
  enum vinci_status status = file_replace(path, write_log, &entry, diag);
  free(before);
  return status;
}

static void write_baseline(void *context, FILE *out) { gate_rows_write(context, true, out); }

enum vinci_status gate_bless_write(const struct gate_bless *bless, bool *changed,
                                   struct vinci_diag *diag) {
  struct gate_rows merged = {0};
  *changed = false;
  enum vinci_status status = check_points(bless, diag);
  if (status == VINCI_OK)
    status = merge(bless, &merged, diag);
  if (status == VINCI_OK && !same_rows(bless->baseline, &merged)) {
    *changed = true;
    status = gate_keep_inputs(bless->run, &merged, bless->path, diag);
    if (status == VINCI_OK)
      status = append_log(bless, &merged, diag);
    if (status == VINCI_OK)
      status = file_replace(bless->path, write_baseline, &merged, diag);
  }
  gate_rows_free(&merged);
  return status;
}
