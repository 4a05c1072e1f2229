/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.json of `msprof op simulator`, and of vinci: slices of cores (pid) and pipes (tid). What
 * they do not hold stays unknown: the launch, and the scalar unit, of whose issue cycles a
 * timeline has no slices.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "traces/import/import.h"
#include "traces/import/json.h"

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

static void read_time(struct json_reader *json, uint64_t *out, bool *has) {
  const char *text;
  size_t length;
  json_is(json, ' '); /* to the beginning of the value, for the place of an error */
  const char *start = json->at;
  if (!json_take_number(json, &text, &length))
    return;
  *has = import_decimal(text, length, PS_DECIMALS, out);
  if (!*has) {
    json->at = start;
    json_wrong(json, "a time in us that is not negative");
  }
}

/* Texts in other places may be numbers: of counters and arrows, which do not matter. */
static void read_text(struct json_reader *json, char *text, size_t size) {
  if (json_is(json, '"'))
    json_take_text(json, text, size);
  else
    json_skip(json);
}

static void read_slice(struct json_reader *json, struct slice *slice) {
  char key[16];
  *slice = (struct slice){.name = ""};
  for (bool more = json_open(json, '{'); more; more = json_more(json, '}')) {
    json_key(json, key, sizeof key);
    if (strcmp(key, "name") == 0)
      read_text(json, slice->name, sizeof slice->name);
    else if (strcmp(key, "ph") == 0)
      read_text(json, slice->phase, sizeof slice->phase);
    else if (strcmp(key, "pid") == 0)
      read_text(json, slice->core, sizeof slice->core);
    else if (strcmp(key, "tid") == 0)
      read_text(json, slice->lane, sizeof slice->lane);
    else if (strcmp(key, "ts") == 0)
      read_time(json, &slice->start_ps, &slice->has_start);
    else if (strcmp(key, "dur") == 0)
      read_time(json, &slice->length_ps, &slice->has_length);
    else
      json_skip(json);
  }
}

static void read_slices(struct json_reader *json, struct busy *busy, uint64_t *count) {
  for (bool more = json_open(json, '['); more; more = json_more(json, ']')) {
    struct slice slice;
    enum core_kind kind;
    read_slice(json, &slice);
    if (json->status != VINCI_OK || strcmp(slice.phase, "X") != 0)
      continue;
    if (!slice.has_start || !slice.has_length) {
      json_wrong(json, "keys ts and dur in the slice that ends here");
      continue;
    }
    *count += import_core_kind(slice.core, &kind);
    enum pipe pipe = is_work(slice.name) ? lane_pipe(slice.lane) : PIPE_COUNT;
    if (pipe == PIPE_S)
      pipe = PIPE_COUNT;
    if (!busy_add(busy, slice.core, pipe, slice.start_ps, slice.start_ps + slice.length_ps))
      json->status = diag_error(json->diag, VINCI_E_NOMEM, "out of memory for %s", json->path);
  }
}

static enum vinci_status read_file(struct json_reader *json, struct busy *busy) {
  char key[16];
  uint64_t slices = 0;
  for (bool more = json_open(json, '{'); more; more = json_more(json, '}')) {
    json_key(json, key, sizeof key);
    if (strcmp(key, "traceEvents") == 0)
      read_slices(json, busy, &slices);
    else
      json_skip(json);
  }
  if (json->status == VINCI_OK && slices == 0) {
    json->status =
        diag_error_at(json->diag, VINCI_E_INPUT, (struct diag_position){.path = json->path},
                      "the timeline has no slices of cores such as core0.veccore0");
    diag_hint(json->diag, "take simulator/trace.json, which has all cores by name");
  }
  return json->status;
}

enum vinci_status import_timeline(const char *path, struct imported *out, struct vinci_diag *diag) {
  size_t length;
  out->kind = "timeline";
  char *text = file_read_text(path, TIMELINE_BYTES_MAX, &length, diag);
  struct busy *busy = text ? busy_new() : NULL;
  if (!text)
    return diag->status;
  struct json_reader json = {
      .path = path, .text = text, .at = text, .end = text + length, .diag = diag};
  enum vinci_status status =
      busy ? read_file(&json, busy) : diag_error(diag, VINCI_E_NOMEM, "out of memory for %s", path);
  if (status == VINCI_OK)
    busy_report(busy, 1, 1, out);
  busy_free(busy);
  free(text);
  return status;
}
