/* SPDX-License-Identifier: Apache-2.0 */
/* Reads jobs: rows of a word and key=value fields, as of graphs. */
#include "devices/jobs/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "devices/jobs/job_events.h"
#include "devices/jobs/job_memory.h"
#include "traces/format/text_fields.h"

enum { BYTES_MAX_LOG2 = 50, FAULT_BYTES_MAX = 1024, ROW_NAME_BYTES = 128 };

/* An operation of the program that is being read. */
struct row {
  struct row *next;
  uint32_t stream;
  struct group_op op;
  struct job_kernel *kernel; /* NULL: its time is given */
  bool memory_given;
};

struct job_reader {
  struct job *job;
  struct group_family *families;
  const struct group_program **programs; /* by rank */
  struct group_program *program;         /* that is being read, NULL: none yet */
  uint32_t *list;                        /* the list of ranks that is being read */
  struct row *first, **end;
  struct job_events events;
  struct job_memories memories;
  uint32_t counts[JOB_STREAMS_MAX];
};

static struct job_reader *job_of(struct text_reader *reader) { return reader->object; }

/* ---- lists of ranks -------------------------------------------------------------------------- */

struct rank_list {
  uint32_t *ranks;
  uint32_t count;
};

/* "A", "A-B" or "A-B:STEP" at *at, as a first, last and step. */
static bool parse_range(const char **at, uint64_t range[3]) {
  range[2] = 1;
  if (!text_parse_size(*at, at, &range[0]))
    return false;
  range[1] = range[0];
  if (**at == '-' && (++*at, !text_parse_size(*at, at, &range[1])))
    return false;
  if (**at == ':' && (++*at, !text_parse_size(*at, at, &range[2])))
    return false;
  return range[1] >= range[0] && range[2] > 0;
}

/* A list of its own length: a job of 65536 ranks has thousands of lists. */
static enum vinci_status keep_list(struct text_reader *reader, struct rank_list *list) {
  uint32_t *kept = ARENA_ROOM(reader->arena, uint32_t, list->count);
  if (!kept)
    return text_no_memory(reader);
  memcpy(kept, list->ranks, list->count * sizeof *kept);
  list->ranks = kept;
  return VINCI_OK;
}

/* The ranks up to the end of the text or a bar. */
static enum vinci_status take_list(struct text_reader *reader, size_t field, const char **at,
                                   struct rank_list *out) {
  struct job_reader *own = job_of(reader);
  uint32_t ranks = own->job->job.ranks;
  if (!own->list && !(own->list = ARENA_ROOM(reader->arena, uint32_t, ranks)))
    return text_no_memory(reader);
  *out = (struct rank_list){.ranks = own->list};
  for (*at += strspn(*at, " "); **at && **at != '|'; *at += strspn(*at, " ")) {
    uint64_t range[3];
    const char *begin = *at;
    if (!parse_range(at, range) || (**at && !strchr(" |", **at)))
      return text_fail(reader, field, "ranks are numbers, A-B or A-B:STEP, not \"%.20s\"", begin);
    for (uint64_t rank = range[0]; rank <= range[1]; rank += range[2]) {
      if (rank >= ranks)
        return text_fail(reader, field, "rank %llu: the job has %u ranks", (unsigned long long)rank,
                         ranks);
      if (out->count == ranks)
        return text_fail(reader, field, "more ranks than the job has");
      out->ranks[out->count++] = (uint32_t)rank;
    }
  }
  return out->count ? keep_list(reader, out) : text_fail(reader, field, "a list of ranks is empty");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum vinci_status job_row(struct text_reader *reader) {
  static const char *const keys[] = {"version", "name", "system", "ranks"};
  struct job_reader *own = job_of(reader);
  uint64_t version = 0, ranks = 0;
  bool given = false, given_ranks = false;
  const char *name, *system;
  if (reader->begun)
    return text_fail(reader, 0, "second job row; a file has one, the first");
  enum vinci_status status = text_take_number(reader, "version", UINT32_MAX, &given, &version);
  if (status == VINCI_OK && version != JOB_TEXT_VERSION)
    status = text_fail(reader, given ? text_find_key(reader, "version") : 0,
                       "this program reads job,version=%d", JOB_TEXT_VERSION);
  if (status == VINCI_OK)
    status = text_take_number(reader, "ranks", GROUP_DEVICES_MAX, &given_ranks, &ranks);
  if (status == VINCI_OK && ranks == 0)
    status = text_fail(reader, text_find_key(reader, "ranks"), "the job needs ranks=N");
  if (status == VINCI_OK)
    status = text_take(reader, "name", "", &name);
  if (status == VINCI_OK)
    status = text_take(reader, "system", "", &system);
  if (status == VINCI_OK)
    status = text_end_row(reader, (struct text_words){keys, sizeof keys / sizeof *keys});
  if (status != VINCI_OK)
    return status;
  own->job->name = arena_strdup(reader->arena, name);
  own->job->system = *system ? arena_strdup(reader->arena, system) : NULL;
  own->job->job.ranks = (uint32_t)ranks;
  own->families = ARENA_ARRAY(reader->arena, struct group_family, JOB_FAMILIES_MAX);
  own->programs = ARENA_ARRAY(reader->arena, const struct group_program *, ranks);
  if (!own->job->name || (*system && !own->job->system) || !own->families || !own->programs)
    return text_no_memory(reader);
  own->job->job.families = own->families;
  own->job->job.programs = own->programs;
  reader->begun = true;
  return VINCI_OK;
}

static enum vinci_status take_groups(struct text_reader *reader, size_t field,
                                     struct group_family *family) {
  const char *at = text_value_of(reader, field);
  uint32_t bars = 1;
  for (const char *c = at; *c; c++)
    bars += *c == '|';
  struct group_ranks *groups = ARENA_ARRAY(reader->arena, struct group_ranks, bars);
  if (!groups)
    return text_no_memory(reader);
  for (uint32_t i = 0; i < bars; i++) {
    struct rank_list list;
    enum vinci_status status = take_list(reader, field, &at, &list);
    if (status != VINCI_OK)
      return status;
    at += *at == '|';
    groups[i] = (struct group_ranks){list.ranks, list.count};
  }
  family->groups = groups;
  family->count = bars;
  return VINCI_OK;
}

static const char *family_at(const void *context, size_t index) {
  const struct job_reader *own = context;
  return own->families[index].name;
}

static uint32_t find_family(const struct job_reader *own, const char *name) {
  uint32_t i = 0;
  while (i < own->job->job.family_count && strcmp(own->families[i].name, name) != 0)
    i++;
  return i;
}

static enum vinci_status group_row(struct text_reader *reader) {
  static const char *const keys[] = {"name", "ranks"};
  struct job_reader *own = job_of(reader);
  struct group_family family = {0};
  const char *name, *ranks;
  enum vinci_status status = text_take(reader, "name", NULL, &name);
  if (status == VINCI_OK)
    status = text_take(reader, "ranks", NULL, &ranks);
  if (status == VINCI_OK)
    status = text_end_row(reader, (struct text_words){keys, sizeof keys / sizeof *keys});
  if (status == VINCI_OK && find_family(own, name) < own->job->job.family_count)
    status = text_fail(reader, text_find_key(reader, "name"), "second group \"%s\"", name);
  if (status == VINCI_OK && own->job->job.family_count == JOB_FAMILIES_MAX)
    status = text_fail(reader, 0, "more than %d groups", JOB_FAMILIES_MAX);
  if (status == VINCI_OK)
    status = take_groups(reader, text_find_key(reader, "ranks"), &family);
  if (status != VINCI_OK)
    return status;
  family.name = arena_strdup(reader->arena, name);
  if (!family.name)
    return text_no_memory(reader);
  own->families[own->job->job.family_count++] = family;
  return VINCI_OK;
}

/* ---- programs -------------------------------------------------------------------------------- */

static bool keep_use(struct job *job, const struct group_program *program, const struct row *row,
                     struct group_op *op) {
  struct job_use *use = ARENA_NEW(&job->arena, struct job_use);
  if (use) {
    *use = (struct job_use){job->uses, program, op, row->kernel, row->memory_given};
    job->uses = use;
  }
  return use != NULL;
}

/* The rows of the program that ends become its streams. */
static enum vinci_status end_program(struct text_reader *reader) {
  struct job_reader *own = job_of(reader);
  struct group_stream *streams = ARENA_ARRAY(reader->arena, struct group_stream, JOB_STREAMS_MAX);
  struct group_op *ops[JOB_STREAMS_MAX];
  uint32_t filled[JOB_STREAMS_MAX] = {0}, last = 0;
  if (!own->program)
    return VINCI_OK;
  for (const struct job_event *event = own->events.last; event; event = event->next)
    if (event->waited_line && !event->recorded)
      return diag_error_at(reader->diag, VINCI_E_INPUT,
                           (struct diag_position){reader->path, event->waited_line, 1},
                           "no row of this program records event \"%s\"", event->name);
  enum vinci_status status = job_memories_end(&own->memories, reader);
  if (status != VINCI_OK)
    return status;
  for (uint32_t i = 0; streams && i < JOB_STREAMS_MAX; i++) {
    ops[i] = ARENA_ARRAY(reader->arena, struct group_op, own->counts[i] + 1);
    if (!ops[i])
      return text_no_memory(reader);
    streams[i] = (struct group_stream){ops[i], own->counts[i]};
    last = own->counts[i] ? i + 1 : last;
  }
  if (!streams)
    return text_no_memory(reader);
  for (const struct row *row = own->first; row; row = row->next) {
    struct group_op *op = &ops[row->stream][filled[row->stream]++];
    *op = row->op;
    if (row->kernel && !keep_use(own->job, own->program, row, op))
      return text_no_memory(reader);
  }
  *own->program = (struct group_program){streams, last, own->events.count};
  return VINCI_OK;
}

static enum vinci_status program_row(struct text_reader *reader) {
  static const char *const keys[] = {"name", "ranks"};
  struct job_reader *own = job_of(reader);
  const char *name, *at;
  struct rank_list list;
  enum vinci_status status = end_program(reader);
  if (status == VINCI_OK)
    status = text_take(reader, "name", "", &name);
  if (status == VINCI_OK)
    status = text_take(reader, "ranks", NULL, &at);
  if (status == VINCI_OK)
    status = text_end_row(reader, (struct text_words){keys, sizeof keys / sizeof *keys});
  if (status == VINCI_OK)
    status = take_list(reader, text_find_key(reader, "ranks"), &at, &list);
  if (status != VINCI_OK)
    return status;
  if (*at)
    return text_fail(reader, text_find_key(reader, "ranks"), "a program has one list of ranks");
  own->program = ARENA_NEW(reader->arena, struct group_program);
  if (!own->program)
    return text_no_memory(reader);
  own->first = NULL;
  own->end = &own->first;
  own->events = (struct job_events){0};
  memset(own->counts, 0, sizeof own->counts);
  for (uint32_t i = 0; i < list.count; i++) {
    if (own->programs[list.ranks[i]])
      return text_fail(reader, text_find_key(reader, "ranks"), "rank %u has a program already",
                       list.ranks[i]);
    own->programs[list.ranks[i]] = own->program;
  }
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

static enum vinci_status take_share(struct text_reader *reader, const char *key, const char *what,
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
  if (status == VINCI_OK && (op->family = find_family(own, group)) == own->job->job.family_count) {
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
static enum vinci_status take_kernel(struct text_reader *reader, struct row *row) {
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
static const char *own_name(struct text_reader *reader, const struct row *row) {
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

static enum vinci_status op_row(struct text_reader *reader, enum group_op_kind kind) {
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
  struct row read = {.op = {.kind = kind, .line = reader->line}};
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
    status = take_share(reader, "memory", "the time that is bound by memory", &op->memory_milli);
  if (status == VINCI_OK && kind == GROUP_COLLECTIVE)
    status = take_call(reader, op);
  if (status == VINCI_OK && (kind == GROUP_RECORD || kind == GROUP_WAIT))
    status = take_event(reader, op);
  if (status == VINCI_OK)
    status = text_end_row(reader, keys[kind]);
  if (status != VINCI_OK)
    return status;
  struct row *row = ARENA_NEW(reader->arena, struct row);
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

/* ---- faults ---------------------------------------------------------------------------------- */

static enum vinci_status take_devices(struct text_reader *reader, struct group_fault *fault) {
  size_t field = text_find_key(reader, "devices");
  const char *at = text_value_of(reader, field);
  struct rank_list list;
  enum vinci_status status = take_list(reader, field, &at, &list);
  if (status == VINCI_OK && *at)
    status = text_fail(reader, field, "a fault has one list of devices");
  if (status == VINCI_OK) {
    fault->devices = list.ranks;
    fault->device_count = list.count;
  }
  return status;
}

static enum vinci_status take_link(struct text_reader *reader, struct group_fault *fault) {
  const char *link;
  enum vinci_status status = text_take(reader, "link", NULL, &link);
  if (status == VINCI_OK && !(fault->link = arena_strdup(reader->arena, link)))
    status = text_no_memory(reader);
  return status;
}

static enum vinci_status fault_row(struct text_reader *reader) {
  static const char *const keys[] = {"devices", "link", "speed", "from_us", "to_us"};
  struct job_reader *own = job_of(reader);
  struct group_fault fault = {.line = own->programs ? reader->line : 0, .to_ps = UINT64_MAX};
  bool devices = text_find_key(reader, "devices") != 0, link = text_find_key(reader, "link") != 0;
  enum vinci_status status =
      devices != link ? VINCI_OK : text_fail(reader, 0, "a fault is of devices=LIST or link=NAME");
  if (status == VINCI_OK)
    status = devices ? take_devices(reader, &fault) : take_link(reader, &fault);
  if (status == VINCI_OK)
    status = take_share(reader, "speed", "its speed that is left", &fault.speed_milli);
  if (status == VINCI_OK)
    status = text_take_us(reader, "from_us", "0", &fault.from_ps);
  if (status == VINCI_OK && text_find_key(reader, "to_us"))
    status = text_take_us(reader, "to_us", NULL, &fault.to_ps);
  if (status == VINCI_OK && fault.to_ps <= fault.from_ps)
    status = text_fail(reader, text_find_key(reader, "to_us"), "the fault ends before it begins");
  if (status == VINCI_OK)
    status = text_end_row(reader, (struct text_words){keys, sizeof keys / sizeof *keys});
  if (status != VINCI_OK)
    return status;
  struct group_fault *kept = ARENA_NEW(reader->arena, struct group_fault);
  if (!kept)
    return text_no_memory(reader);
  *kept = fault;
  kept->next = own->job->job.faults;
  own->job->job.faults = kept;
  return VINCI_OK;
}

enum vinci_status job_add_fault(struct job *job, const char *text, struct vinci_diag *diag) {
  struct job_reader own = {.job = job};
  struct text_reader reader = {
      .object = &own, .arena = &job->arena, .diag = diag, .path = "--fault", .begun = true};
  struct vinci_diag problem = {0};
  char row[FAULT_BYTES_MAX];
  if (snprintf(row, sizeof row, "fault,%s", text) >= (int)sizeof row)
    return diag_error(diag, VINCI_E_USAGE, "a fault has at most %d characters",
                      FAULT_BYTES_MAX - 8);
  reader.diag = &problem;
  enum vinci_status status = text_read_rows(&reader, row, strlen(row), "fault", fault_row);
  if (status == VINCI_OK)
    return status;
  (void)diag_error(diag, VINCI_E_USAGE, "--fault=%s: %s", text, problem.text);
  diag_hint(diag, "a fault is written as devices=3,from_us=100,to_us=200,speed=0.5");
  return VINCI_E_USAGE;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum vinci_status read_row(struct text_reader *reader) {
  static const char *const rows[] = {"work", "collective", "record", "wait",    "host", "allocate",
                                     "free", "job",        "group",  "program", "fault"};
  enum { OPS = 7, JOB = OPS, GROUP, PROGRAM, FAULT, ROWS };
  unsigned row = 0;
  while (row < ROWS && strcmp(rows[row], reader->fields[0]) != 0)
    row++;
  if (row == ROWS)
    return text_unknown_row(reader, (struct text_words){rows, ROWS});
  if (row == JOB)
    return job_row(reader);
  if (!reader->begun)
    return text_fail(reader, 0, "the first row is \"job,version=%d,ranks=N\"", JOB_TEXT_VERSION);
  if (row == GROUP)
    return group_row(reader);
  if (row == PROGRAM)
    return program_row(reader);
  if (row == FAULT)
    return fault_row(reader);
  return op_row(reader, (enum group_op_kind)row);
}

void job_free(struct job *job) { arena_free(&job->arena); }

enum vinci_status job_read(const char *path, const char *text, size_t length, struct job *out,
                           struct vinci_diag *diag) {
  *out = (struct job){.path = path};
  struct job_reader own = {.job = out};
  struct text_reader reader = {.object = &own, .arena = &out->arena, .diag = diag, .path = path};
  enum vinci_status status = text_read_rows(&reader, text, length, "job,version=1", read_row);
  if (status == VINCI_OK)
    status = end_program(&reader);
  if (status == VINCI_OK)
    status = job_memories_keep(&own.memories, &reader, &out->job);
  for (uint32_t i = 0; status == VINCI_OK && i < out->job.ranks; i++)
    if (!own.programs[i])
      status = diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = path},
                             "rank %u has no program", i);
  if (status != VINCI_OK)
    job_free(out);
  return status;
}
