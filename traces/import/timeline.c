/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.json of `msprof op simulator`, and of vinci: slices of cores (pid) and pipes (tid). What
 * they do not hold stays unknown: the launch, and the scalar unit, of whose issue cycles a
 * timeline has no slices.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "traces/import/import.h"

enum { TIMELINE_BYTES_MAX = INT32_MAX, PS_DECIMALS = 6 /* microseconds as picoseconds */ };

struct slice {
  char name[48], phase[4], core[48], lane[16];
  uint64_t start_ps, length_ps;
  bool has_start, has_length;
};

/* Names of slices in which a pipe waits, in small letters. */
static bool is_work(const char *name) {
  static const char *const others[] = {
      "wait_flag",  "set_flag",  "pipe_barrier",         "barrier",       "bar", "wait_flag_dev",
      "wait_event", "set_event", "ffts_cross_core_sync", "set_cross_core"};
  char small[48];
  size_t i = 0;
  for (; name[i] && i + 1 < sizeof small; i++)
    small[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
  small[i] = '\0';
  for (i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(small, others[i]) == 0)
      return false;
  return true;
}

static enum pipe lane_pipe(const char *lane) {
#define X(id, name, text)                                                                          \
  if (strcmp(lane, name) == 0)                                                                     \
    return PIPE_##id;
  PIPE_LIST(X)
#undef X
  return PIPE_COUNT;
}

/* What one timeline is read into. */
struct timeline {
  struct busy *busy;
  struct slice slice; /* that is read now */
  uint64_t slices;    /* of cores */
};

static enum vinci_status read_time(struct json_reader *json, uint64_t *out, bool *has) {
  const char *text, *start = json->at;
  size_t length;
  if (!json_read_number(json, &text, &length))
    return json_skip_value(json);
  *has = import_decimal(text, length, PS_DECIMALS, out);
  return *has ? VINCI_OK
              : json_read_fail(json, start, "expected a time in us that is not negative");
}

/* Texts in other places may be numbers: of counters and arrows, which do not matter. */
static enum vinci_status read_text(struct json_reader *json, char *text, size_t size) {
  const char *value;
  if (*json->at != '"')
    return json_skip_value(json);
  enum vinci_status status = json_read_text(json, &value);
  if (status == VINCI_OK)
    snprintf(text, size, "%s", value);
  return status;
}

static enum vinci_status read_member(struct json_reader *json, const char *key, void *context) {
  struct slice *slice = context;
  if (strcmp(key, "name") == 0)
    return read_text(json, slice->name, sizeof slice->name);
  if (strcmp(key, "ph") == 0)
    return read_text(json, slice->phase, sizeof slice->phase);
  if (strcmp(key, "pid") == 0)
    return read_text(json, slice->core, sizeof slice->core);
  if (strcmp(key, "tid") == 0)
    return read_text(json, slice->lane, sizeof slice->lane);
  if (strcmp(key, "ts") == 0)
    return read_time(json, &slice->start_ps, &slice->has_start);
  if (strcmp(key, "dur") == 0)
    return read_time(json, &slice->length_ps, &slice->has_length);
  return json_skip_value(json);
}

static enum vinci_status read_slice(struct json_reader *json, const char *key, void *context) {
  struct timeline *timeline = context;
  struct slice *slice = &timeline->slice;
  const char *start = json->at;
  enum core_kind kind;
  uint64_t end_ps;
  (void)key;
  arena_rewind(json->arena); /* texts of the slice before */
  *slice = (struct slice){.name = ""};
  enum vinci_status status = json_read_object(json, read_member, slice);
  if (status != VINCI_OK || strcmp(slice->phase, "X") != 0)
    return status;
  if (!slice->has_start || !slice->has_length)
    return json_read_fail(json, start, "expected keys ts and dur in this slice");
  if (__builtin_add_overflow(slice->start_ps, slice->length_ps, &end_ps))
    return json_read_fail(json, start, "expected a slice that ends within 1.8e13 us");
  timeline->slices += import_core_kind(slice->core, &kind);
  enum pipe pipe = is_work(slice->name) ? lane_pipe(slice->lane) : PIPE_COUNT;
  if (pipe == PIPE_S)
    pipe = PIPE_COUNT;
  if (!busy_add(timeline->busy, slice->core, pipe, slice->start_ps, end_ps))
    return diag_error(json->diag, VINCI_E_NOMEM, "out of memory for %s", json->path);
  return VINCI_OK;
}

static enum vinci_status read_top(struct json_reader *json, const char *key, void *context) {
  return strcmp(key, "traceEvents") == 0 ? json_read_list(json, read_slice, context)
                                         : json_skip_value(json);
}

static enum vinci_status read_file(struct json_reader *json, struct timeline *timeline) {
  enum vinci_status status = json->at[strspn(json->at, " \t\r\n")] == '['
                                 ? json_read_list(json, read_slice, timeline)
                                 : json_read_object(json, read_top, timeline);
  if (status == VINCI_OK)
    status = json_read_end(json);
  if (status == VINCI_E_INPUT)
    diag_hint(json->diag, "a file that was cut short has to be made again");
  if (status != VINCI_OK || timeline->slices > 0)
    return status;
  status = diag_error_at(json->diag, VINCI_E_INPUT, (struct diag_position){.path = json->path},
                         "the timeline has no slices of cores such as core0.veccore0");
  diag_hint(json->diag, "take simulator/trace.json, which has all cores by name");
  return status;
}

enum vinci_status import_timeline(const char *path, const struct import_options *options,
                                  struct imported *out, struct vinci_diag *diag) {
  size_t length;
  out->kind = "timeline";
  char *text = file_read_text(path, TIMELINE_BYTES_MAX, &length, diag);
  if (!text)
    return diag->status;
  struct arena arena = {0};
  bool is_tasks = import_is_tasks(text, length);
  struct timeline timeline = {.busy = is_tasks ? NULL : busy_new()};
  struct json_reader json = {
      .path = path, .text = text, .at = text, .end = text + length, .arena = &arena, .diag = diag};
  enum vinci_status status = is_tasks ? import_tasks(&json, options, out)
                             : timeline.busy
                                 ? read_file(&json, &timeline)
                                 : diag_error(diag, VINCI_E_NOMEM, "out of memory for %s", path);
  if (status == VINCI_OK && !is_tasks)
    busy_report(timeline.busy, 1, 1, out);
  busy_free(timeline.busy);
  arena_free(&arena);
  free(text);
  return status;
}
