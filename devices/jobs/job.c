/* SPDX-License-Identifier: Apache-2.0 */
/* Reads jobs: rows of a word and key=value fields, as of graphs. */
#include "devices/jobs/job_reader.h"

#include <string.h>

#include "core/base/diag.h"

/* ---- lists of ranks -------------------------------------------------------------------------- */

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

enum vinci_status job_take_ranks(struct text_reader *reader, size_t field, const char **at,
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
    enum vinci_status status = job_take_ranks(reader, field, &at, &list);
    if (status != VINCI_OK)
      return status;
    at += *at == '|';
    groups[i] = (struct group_ranks){list.ranks, list.count};
  }
  family->groups = groups;
  family->count = bars;
  return VINCI_OK;
}

uint32_t job_find_family(const struct job_reader *own, const char *name) {
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
  if (status == VINCI_OK && job_find_family(own, name) < own->job->job.family_count)
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

static bool keep_use(struct job *job, const struct group_program *program,
                     const struct job_row *row, struct group_op *op) {
  struct job_use *use = ARENA_NEW(&job->arena, struct job_use);
  if (use) {
    *use = (struct job_use){.next = job->uses,
                            .program = program,
                            .op = op,
                            .kernel = row->kernel,
                            .memory_given = row->memory_given};
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
  for (const struct job_row *row = own->first; row; row = row->next) {
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
    status = job_take_ranks(reader, text_find_key(reader, "ranks"), &at, &list);
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
    return job_fault_row(reader);
  return job_op_row(reader, (enum group_op_kind)row);
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
