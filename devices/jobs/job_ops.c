/* SPDX-License-Identifier: Apache-2.0 */
/* Reads jobs: rows of a program. */
#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "devices/jobs/job_reader.h"

enum { BYTES_MAX_LOG2 = 50, ROW_NAME_BYTES = 128 };

enum vinci_status job_take_share(struct text_reader *reader, const char *key, const char *what,
                                 uint32_t *out_milli) {
  const char *text;
  double share;
  enum vinci_status status = text_take(reader, key, "0", &text);
  if (status != VINCI_OK)
    return status;
  if (!decimal_parse(text, &share) || share < 0 || share > 1)
    return text_fail(reader, text_find_key(reader, key), "%s is the share of %s, 0 to 1", key,
                     what);
  *out_milli = (uint32_t)(share * 1000 + 0.5);
  return VINCI_OK;
}

static enum vinci_status take_event(struct text_reader *reader, struct group_op *op) {
  struct job_reader *own = job_of(reader);
  const char *name;
  enum vinci_status status = text_take(reader, "event", NULL, &name);
  if (status != VINCI_OK)
    return status;
  struct job_event *event = job_event_of(&own->events, reader->arena, name);
  if (!event)
    return text_no_memory(reader);
  if (op->kind == GROUP_RECORD && event->recorded)
    return text_fail(reader, text_find_key(reader, "event"), "event \"%s\" is recorded twice",
                     name);
  event->recorded = event->recorded || op->kind == GROUP_RECORD;
  if (op->kind == GROUP_WAIT && !event->waited_line)
    event->waited_line = reader->line;
  op->name = event->name;
  op->event = event->number;
  return VINCI_OK;
}

static const char *family_at(const void *context, size_t index) {
  const struct job_reader *own = context;
  return own->families[index].name;
}

static enum vinci_status take_call(struct text_reader *reader, struct group_op *op) {
  struct job_reader *own = job_of(reader);
  const char *name, *group, *algorithm;
  uint64_t bytes = 0, root = 0;
  bool given = false;
  enum vinci_status status = text_take(reader, "op", NULL, &name);
  if (status == VINCI_OK) {
    op->call.op = collective_op_find(name, strlen(name));
    if (op->call.op == COLLECTIVE_OPS)
      status = text_fail(reader, text_find_key(reader, "op"), "unknown collective \"%s\"", name);
  }
  if (status == VINCI_OK)
    status = text_take(reader, "group", NULL, &group);
  if (status == VINCI_OK &&
      (op->family = job_find_family(own, group)) == own->job->job.family_count) {
    status = text_fail(reader, text_find_key(reader, "group"),
                       "no group \"%s\" stands before this row", group);
    const char *nearest = diag_nearest(group, own->job->job.family_count, family_at, own);
    if (nearest)
      diag_hint(reader->diag, "did you mean %s?", nearest);
  }
  if (status == VINCI_OK)
    status = text_take_number(reader, "bytes", UINT64_C(1) << BYTES_MAX_LOG2, &given, &bytes);
  if (status == VINCI_OK && !given && op->call.op != COLLECTIVE_BARRIER)
    status = text_fail(reader, 0, "the row needs bytes=N");
  if (status == VINCI_OK)
    status = text_take_number(reader, "root", GROUP_DEVICES_MAX, &given, &root);
  if (status == VINCI_OK)
    status = text_take(reader, "algorithm", "", &algorithm);
  if (status == VINCI_OK && *algorithm) {
    struct vinci_diag problem = {0};
    if (collective_find(op->call.op, algorithm, &op->call.algorithm, &problem) != VINCI_OK) {
      status = text_fail(reader, text_find_key(reader, "algorithm"), "%s", problem.text);
      diag_hint(reader->diag, "%s", problem.hint);
    }
  }
  op->call.bytes = bytes;
  op->call.root = (uint32_t)root;
  return status;
}

/* A file beside that of the job. */
static const char *path_of(struct job *job, const char *file) {
  const char *slash = *file == '/' ? NULL : strrchr(job->path, '/');
  size_t folder = slash ? (size_t)(slash - job->path) + 1 : 0, size = folder + strlen(file) + 1;
  char *path = arena_alloc(&job->arena, size, 1);
  if (path)
    snprintf(path, size, "%.*s%s", (int)folder, job->path, file);
  return path;
}

/* The operator or network of a row of work, that of an earlier row where the words are the same. */
static enum vinci_status take_kernel(struct text_reader *reader, struct job_row *row) {
  struct job *job = job_of(reader)->job;
  const char *op, *net;
  enum vinci_status status = text_take(reader, "op", "", &op);
  if (status == VINCI_OK)
    status = text_take(reader, "net", "", &net);
  if (status != VINCI_OK)
    return status;
  if (!!*op + !!*net + !!text_find_key(reader, "us") != 1)
    return text_fail(reader, 0, "work has one of us=, op= and net=");
  if (!*op && !*net)
    return text_take_us(reader, "us", NULL, &row->op.duration_ps);
  const char *text = *net ? path_of(job, net) : arena_strdup(reader->arena, op);
  if (!text)
    return text_no_memory(reader);
  row->memory_given = text_find_key(reader, "memory") != 0;
  for (row->kernel = job->kernels; row->kernel; row->kernel = row->kernel->next)
    if (strcmp(*net ? (row->kernel->net ? row->kernel->net : "")
                    : (row->kernel->op ? row->kernel->op : ""),
               text) == 0)
      return VINCI_OK;
  row->kernel = ARENA_NEW(reader->arena, struct job_kernel);
  if (!row->kernel)
    return text_no_memory(reader);
  *row->kernel = (struct job_kernel){.next = job->kernels,
                                     .op = *net ? NULL : text,
                                     .net = *net ? text : NULL,
                                     .line = reader->line};
  job->kernels = row->kernel;
  return VINCI_OK;
}

/* Where a row has no name: a collective has that of what it does and of its group, work that of its
 * operator or network. NULL: the word of the row, or memory is short. */
static const char *own_name(struct text_reader *reader, const struct job_row *row) {
  const struct group_op *op = &row->op;
  char text[ROW_NAME_BYTES];
  if (text_find_key(reader, "name"))
    return NULL;
  if (op->kind == GROUP_COLLECTIVE)
    snprintf(text, sizeof text, "%s %s", collective_op_name(op->call.op),
             job_of(reader)->families[op->family].name);
  else if (row->kernel && row->kernel->op)
    snprintf(text, sizeof text, "%.*s", (int)strcspn(row->kernel->op, " "), row->kernel->op);
  else if (row->kernel)
    snprintf(text, sizeof text, "%s", row->kernel->net);
  else
    return NULL;
  return arena_strdup(reader->arena, text);
}

enum vinci_status job_op_row(struct text_reader *reader, enum group_op_kind kind) {
  static const char *const work_keys[] = {"name", "stream", "at_us", "us", "op", "net", "memory"};
  static const char *const host_keys[] = {"name", "stream", "at_us", "us"};
  static const char *const memory_keys[] = {"name", "stream", "bytes"};
  static const char *const event_keys[] = {"name", "stream", "at_us", "event"};
  static const char *const call_keys[] = {"name",  "stream",    "at_us", "op",
                                          "group", "algorithm", "root",  "bytes"};
  static const struct text_words keys[] = {
      [GROUP_WORK] = {work_keys, sizeof work_keys / sizeof *work_keys},
      [GROUP_COLLECTIVE] = {call_keys, sizeof call_keys / sizeof *call_keys},
      [GROUP_RECORD] = {event_keys, sizeof event_keys / sizeof *event_keys},
      [GROUP_WAIT] = {event_keys, sizeof event_keys / sizeof *event_keys},
      [GROUP_HOST] = {host_keys, sizeof host_keys / sizeof *host_keys},
      [GROUP_ALLOCATE] = {memory_keys, sizeof memory_keys / sizeof *memory_keys},
      [GROUP_FREE] = {memory_keys, sizeof memory_keys / sizeof *memory_keys},
  };
  struct job_reader *own = job_of(reader);
  struct job_row read = {.op = {.kind = kind, .line = reader->line}};
  struct group_op *op = &read.op;
  uint64_t stream = 0;
  bool given, memory = kind == GROUP_ALLOCATE || kind == GROUP_FREE;
  const char *name;
  if (!own->program)
    return text_fail(reader, 0, "a row program, with its ranks, stands before this row");
  enum vinci_status status =
      text_take_number(reader, "stream", JOB_STREAMS_MAX - 1, &given, &stream);
  if (status == VINCI_OK)
    status = text_take(reader, "name", memory ? NULL : reader->fields[0], &name);
  if (status == VINCI_OK && memory)
    status = job_memory_take(&own->memories, reader, name, (uint32_t)stream, op);
  if (status == VINCI_OK && !memory)
    status = text_take_us(reader, "at_us", "0", &op->earliest_ps);
  if (status == VINCI_OK && kind == GROUP_HOST)
    status = text_take_us(reader, "us", NULL, &op->duration_ps);
  if (status == VINCI_OK && kind == GROUP_WORK)
    status = take_kernel(reader, &read);
  if (status == VINCI_OK && kind == GROUP_WORK)
    status =
        job_take_share(reader, "memory", "the time that is bound by memory", &op->memory_milli);
  if (status == VINCI_OK && kind == GROUP_COLLECTIVE)
    status = take_call(reader, op);
  if (status == VINCI_OK && (kind == GROUP_RECORD || kind == GROUP_WAIT))
    status = take_event(reader, op);
  if (status == VINCI_OK)
    status = text_end_row(reader, keys[kind]);
  if (status != VINCI_OK)
    return status;
  struct job_row *row = ARENA_NEW(reader->arena, struct job_row);
  op->name = op->name ? op->name : own_name(reader, &read);
  op->name = op->name ? op->name : arena_strdup(reader->arena, name);
  if (!row || !op->name)
    return text_no_memory(reader);
  read.stream = (uint32_t)stream;
  *row = read;
  *own->end = row;
  own->end = &row->next;
  own->counts[stream]++;
  return VINCI_OK;
}
