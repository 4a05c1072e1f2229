/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timelines of whole profiles: trace_view.json of the profiler of PyTorch, msprof_*.json of msprof.
 * Their process "Ascend Hardware" has a slice for each task of the device, with name and duration,
 * and without shapes. Other processes (host, collectives, frequencies) are left out.
 *
 * Source: msprof docs/en/user_guide/profile_data_file_references.md, msprof_*.json; names of tasks
 * are aclnnAPI_KERNEL_TYPE where the framework calls the operator library.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "traces/import/import.h"

enum { PS_DECIMALS = 6, PROCESSES_MAX = 64, PID_BYTES = 24, NAMES_MAX = 1024 };

static const char hardware[] = "Ascend Hardware";

struct event {
  const char *name, *process; /* process: what metadata call the process */
  char phase[4], pid[PID_BYTES];
  uint64_t length_ps;
  bool has_length;
};

/* Tasks that are looked for, and what was found. */
struct tasks {
  const char *op; /* NULL: the only task */
  struct event event;
  bool reads_tasks; /* else it looks for processes */
  char pid[PROCESSES_MAX][PID_BYTES];
  size_t processes;
  struct arena names; /* of tasks with other names, for suggestions */
  const char *name[NAMES_MAX];
  size_t name_count;
  char only[96]; /* the last task */
  uint64_t all, found;
  uint128 sum_ps;
};

bool import_is_tasks(const char *text, size_t length) {
  static const char name[] = "\"Ascend Hardware\"";
  return memmem(text, length, name, sizeof name - 1) != NULL;
}

/* ---- events ---- */

/* A number or a text. */
static enum vinci_status read_word(struct json_reader *json, const char **out, size_t *length) {
  if (json_read_number(json, out, length))
    return VINCI_OK;
  if (*json->at != '"') {
    *length = 0;
    return json_skip_value(json);
  }
  enum vinci_status status = json_read_text(json, out);
  *length = status == VINCI_OK ? strlen(*out) : 0;
  return status;
}

static enum vinci_status read_args(struct json_reader *json, const char *key, void *context) {
  struct event *event = context;
  if (strcmp(key, "name") != 0 || *json->at != '"')
    return json_skip_value(json);
  return json_read_text(json, &event->process);
}

static enum vinci_status read_length(struct json_reader *json, struct event *event) {
  const char *text, *start = json->at;
  size_t length;
  enum vinci_status status = read_word(json, &text, &length);
  if (status != VINCI_OK || length == 0)
    return status;
  event->has_length = import_decimal(text, length, PS_DECIMALS, &event->length_ps);
  return event->has_length
             ? VINCI_OK
             : json_read_fail(json, start, "expected a time in us that is not negative");
}

static enum vinci_status read_member(struct json_reader *json, const char *key, void *context) {
  struct event *event = context;
  const char *text = "";
  size_t length = 0;
  if (strcmp(key, "args") == 0 && *json->at == '{')
    return json_read_object(json, read_args, event);
  if (strcmp(key, "dur") == 0)
    return read_length(json, event);
  bool is_name = strcmp(key, "name") == 0, is_phase = strcmp(key, "ph") == 0;
  if (!is_name && !is_phase && strcmp(key, "pid") != 0)
    return json_skip_value(json);
  if (is_name && *json->at == '"')
    return json_read_text(json, &event->name);
  enum vinci_status status = read_word(json, &text, &length);
  if (is_phase)
    snprintf(event->phase, sizeof event->phase, "%.*s", (int)length, text);
  else if (!is_name)
    snprintf(event->pid, sizeof event->pid, "%.*s", (int)length, text);
  return status;
}

static bool is_hardware(const struct tasks *tasks, const char *pid) {
  for (size_t i = 0; i < tasks->processes; i++)
    if (strcmp(tasks->pid[i], pid) == 0)
      return true;
  return false;
}

/* The name of a task, or the type that ends a name of the operator library. */
static bool is_called(const char *name, const char *op) {
  const char *type = strncmp(name, "aclnn", 5) == 0 ? strrchr(name, '_') : NULL;
  return strcmp(name, op) == 0 || (type && strcmp(type + 1, op) == 0);
}

static enum vinci_status note_name(struct tasks *tasks, const char *name, struct vinci_diag *diag) {
  for (size_t i = 0; i < tasks->name_count; i++)
    if (strcmp(tasks->name[i], name) == 0)
      return VINCI_OK;
  if (tasks->name_count == NAMES_MAX)
    return VINCI_OK;
  const char *copy = arena_strdup(&tasks->names, name);
  if (!copy)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for names of tasks");
  tasks->name[tasks->name_count++] = copy;
  return VINCI_OK;
}

static enum vinci_status take_task(struct json_reader *json, struct tasks *tasks,
                                   const char *start) {
  const struct event *event = &tasks->event;
  const char *name = event->name ? event->name : "";
  if (!event->has_length)
    return json_read_fail(json, start, "expected the key dur in this slice");
  tasks->all++;
  snprintf(tasks->only, sizeof tasks->only, "%s", name);
  if (tasks->op && !is_called(name, tasks->op))
    return note_name(tasks, name, json->diag);
  tasks->found++;
  tasks->sum_ps += event->length_ps;
  return VINCI_OK;
}

static enum vinci_status take_process(struct json_reader *json, struct tasks *tasks) {
  const struct event *event = &tasks->event;
  if (is_hardware(tasks, event->pid))
    return VINCI_OK;
  if (tasks->processes == PROCESSES_MAX)
    return json_read_fail(json, json->at, "expected at most %d processes '%s'", (int)PROCESSES_MAX,
                          hardware);
  memcpy(tasks->pid[tasks->processes++], event->pid, sizeof event->pid);
  return VINCI_OK;
}

static enum vinci_status read_event(struct json_reader *json, const char *key, void *context) {
  struct tasks *tasks = context;
  struct event *event = &tasks->event;
  const char *start = json->at;
  (void)key;
  arena_rewind(json->arena); /* texts of the event before */
  *event = (struct event){.name = NULL};
  enum vinci_status status = json_read_object(json, read_member, event);
  if (status != VINCI_OK)
    return status;
  if (tasks->reads_tasks)
    return strcmp(event->phase, "X") == 0 && is_hardware(tasks, event->pid)
               ? take_task(json, tasks, start)
               : VINCI_OK;
  bool names = event->name && strcmp(event->name, "process_name") == 0;
  return names && event->process && strcmp(event->process, hardware) == 0
             ? take_process(json, tasks)
             : VINCI_OK;
}

static enum vinci_status read_top(struct json_reader *json, const char *key, void *context) {
  return strcmp(key, "traceEvents") == 0 ? json_read_list(json, read_event, context)
                                         : json_skip_value(json);
}

/* ---- the timeline ---- */

/* Metadata may stand behind the slices, so there are two passes. */
static enum vinci_status pass(const struct json_reader *from, bool reads_tasks,
                              struct tasks *tasks) {
  struct json_reader json = *from;
  tasks->reads_tasks = reads_tasks;
  enum vinci_status status = json.at[strspn(json.at, " \t\r\n")] == '['
                                 ? json_read_list(&json, read_event, tasks)
                                 : json_read_object(&json, read_top, tasks);
  if (status == VINCI_OK)
    status = json_read_end(&json);
  if (status == VINCI_E_INPUT)
    diag_hint(json.diag, "a file that was cut short has to be made again");
  return status;
}

static const char *name_at(const void *context, size_t index) {
  const struct tasks *tasks = context;
  return tasks->name[index];
}

static enum vinci_status refuse(const struct tasks *tasks, const char *path,
                                struct vinci_diag *diag) {
  struct diag_position at = {.path = path};
  if (tasks->all == 0)
    return diag_error_at(diag, VINCI_E_INPUT, at, "the timeline has no tasks of '%s'", hardware);
  if (!tasks->op) {
    (void)diag_error_at(diag, VINCI_E_INPUT, at,
                        "the timeline has %llu tasks of the device, of which one is wanted",
                        (unsigned long long)tasks->all);
    diag_hint(diag, "--op=NAME chooses tasks by name or type, such as %.60s", tasks->only);
    return VINCI_E_INPUT;
  }
  (void)diag_error_at(diag, VINCI_E_INPUT, at, "no task of the device is called '%s'", tasks->op);
  const char *nearest = diag_nearest(tasks->op, tasks->name_count, name_at, tasks);
  if (nearest)
    diag_hint(diag, "did you mean '%s'?", nearest);
  return VINCI_E_INPUT;
}

enum vinci_status import_tasks(struct json_reader *json, const struct import_options *options,
                               struct imported *out) {
  struct tasks *tasks = calloc(1, sizeof *tasks);
  if (!tasks)
    return diag_error(json->diag, VINCI_E_NOMEM, "out of memory for %s", json->path);
  tasks->op = options->op;
  enum vinci_status status = pass(json, false, tasks);
  if (status == VINCI_OK)
    status = pass(json, true, tasks);
  if (status == VINCI_OK && (tasks->found == 0 || (!tasks->op && tasks->found > 1)))
    status = refuse(tasks, json->path, json->diag);
  if (status == VINCI_OK) {
    out->kind = "timeline of a profile";
    out->samples = tasks->found;
    snprintf(out->name, sizeof out->name, "%s", tasks->op ? tasks->op : tasks->only);
    import_add(&out->cell[IMPORT_DURATION], (uint64_t)(tasks->sum_ps / tasks->found));
  }
  arena_free(&tasks->names);
  free(tasks);
  return status;
}
