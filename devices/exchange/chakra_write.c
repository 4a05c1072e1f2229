/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs as Chakra traces. Operations of a stream depend on each other in their order; a wait makes
 * the next operation depend on the last one before the record. The schema has whole microseconds,
 * so attributes of our own hold times exactly.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "devices/exchange/chakra.h"
#include "traces/export/export.h"
#include "traces/export/timeline/wire.h"

enum { PATH_BYTES = 4096, PS_OF_US = 1000000 };
enum { NODE_ID = 1, NODE_NAME = 2, NODE_TYPE = 3, NODE_DATA_DEPS = 5, NODE_DURATION = 7 };
enum { NODE_ATTRIBUTE = 10, ATTRIBUTE_NAME = 1, ATTRIBUTE_INT64 = 9, ATTRIBUTE_BOOL = 27 };
enum { ATTRIBUTE_TEXT = 29, METADATA_VERSION = 1 };

#define NOTHING UINT64_MAX

struct writer {
  const struct group_job *job;
  uint32_t rank;
  struct wire wire;
  FILE *out;
  uint64_t next_id;
  uint64_t *events; /* by number: the node that an event follows; NOTHING: none */
};

/* ---- messages -------------------------------------------------------------------------------- */

static void put_message(struct writer *writer) {
  uint64_t length = writer->wire.count;
  for (; length >= 0x80; length >>= 7)
    putc((int)(length & 0x7f) | 0x80, writer->out);
  putc((int)length, writer->out);
  wire_flush(&writer->wire, writer->out);
}

static const char *number_name(enum chakra_number number) {
  static const char *const names[] = {
#define X(id, name) name,
      CHAKRA_NUMBER_LIST(X)
#undef X
  };
  return names[number];
}

static void put_number(struct wire *wire, enum chakra_number number, uint64_t value) {
  size_t place = wire_begin(wire, NODE_ATTRIBUTE);
  wire_text(wire, ATTRIBUTE_NAME, number_name(number));
  wire_number(wire, number == CHAKRA_IS_CPU_OP ? ATTRIBUTE_BOOL : ATTRIBUTE_INT64, value);
  wire_end(wire, place);
}

static void put_text(struct wire *wire, enum chakra_text number, const char *value) {
  static const char *const names[] = {
#define X(id, name) name,
      CHAKRA_TEXT_LIST(X)
#undef X
  };
  size_t place = wire_begin(wire, NODE_ATTRIBUTE);
  wire_text(wire, ATTRIBUTE_NAME, names[number]);
  wire_text(wire, ATTRIBUTE_TEXT, value);
  wire_end(wire, place);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The group of the rank in a family, and its number among all groups; NULL: in none. */
static const struct group_ranks *group_of(const struct writer *writer, uint32_t family,
                                          uint64_t *number, uint32_t *member) {
  const struct group_family *families = writer->job->families;
  *number = 0;
  for (uint32_t f = 0; f < family; f++)
    *number += families[f].count;
  for (uint32_t g = 0; g < families[family].count; g++, ++*number)
    for (*member = 0; *member < families[family].groups[g].count; ++*member)
      if (families[family].groups[g].ranks[*member] == writer->rank)
        return &families[family].groups[g];
  return NULL;
}

/* Process groups have numbers, as other readers expect: {"0": [0, 1], ...}. */
static void write_groups(void *context, FILE *out) {
  const struct group_job *job = ((const struct writer *)context)->job;
  uint32_t number = 0;
  fputs("{", out);
  for (uint32_t f = 0; f < job->family_count; f++)
    for (uint32_t g = 0; g < job->families[f].count; g++, number++) {
      const struct group_ranks *group = &job->families[f].groups[g];
      fprintf(out, "%s\n  \"%" PRIu32 "\": [", number ? "," : "", number);
      for (uint32_t i = 0; i < group->count; i++)
        fprintf(out, "%s%" PRIu32, i ? ", " : "", group->ranks[i]);
      putc(']', out);
    }
  fputs("\n}\n", out);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* What the next node of a stream depends on. */
struct stream_state {
  uint64_t before, *waits;
  uint32_t wait_count, number;
};

/* Bytes as Chakra counts these: of a rank's own part in gathers. */
static uint64_t comm_size(const struct collective_call *call, uint32_t ranks) {
  bool parts = call->op == COLLECTIVE_ALL_GATHER || call->op == COLLECTIVE_GATHER;
  return parts ? ceil_div(call->bytes, ranks) : call->bytes;
}

static void put_call(struct writer *writer, const struct group_op *op) {
  uint64_t number;
  uint32_t member;
  char name[32];
  const struct group_ranks *group = group_of(writer, op->family, &number, &member);
  struct wire *wire = &writer->wire;
  if (!group)
    return; /* the run refuses such a job */
  bool pair = op->call.op == COLLECTIVE_SEND_RECV;
  snprintf(name, sizeof name, "%" PRIu64, number);
  wire_number(wire, NODE_TYPE, !pair ? CHAKRA_COLL : member == 0 ? CHAKRA_SEND : CHAKRA_RECV);
  if (pair && group->count == 2) {
    put_number(wire, CHAKRA_COMM_SRC, group->ranks[0]);
    put_number(wire, CHAKRA_COMM_DST, group->ranks[1]);
  } else if (!pair) {
    put_number(wire, CHAKRA_COMM_TYPE, (uint64_t)chakra_comm_type(op->call.op));
  }
  put_number(wire, CHAKRA_COMM_SIZE, comm_size(&op->call, group->count));
  put_number(wire, CHAKRA_BYTES, op->call.bytes);
  if (op->call.root)
    put_number(wire, CHAKRA_ROOT, op->call.root);
  put_text(wire, CHAKRA_PG_NAME, name);
  put_text(wire, CHAKRA_FAMILY, writer->job->families[op->family].name);
  if (op->call.algorithm)
    put_text(wire, CHAKRA_ALGORITHM, op->call.algorithm->name);
}

/* op of kind WORK, HOST or COLLECTIVE; others become work without duration. */
static void put_node(struct writer *writer, struct stream_state *stream,
                     const struct group_op *op) {
  struct wire *wire = &writer->wire;
  bool lasts = op->kind == GROUP_WORK || op->kind == GROUP_HOST;
  uint64_t duration_ps = lasts ? op->duration_ps : 0;
  wire_number(wire, NODE_ID, writer->next_id);
  wire_text(wire, NODE_NAME, op->name);
  if (stream->before != NOTHING)
    wire_number(wire, NODE_DATA_DEPS, stream->before);
  for (uint32_t i = 0; i < stream->wait_count; i++)
    wire_number(wire, NODE_DATA_DEPS, stream->waits[i]);
  put_number(wire, CHAKRA_IS_CPU_OP, op->kind == GROUP_HOST);
  put_number(wire, CHAKRA_STREAM, stream->number);
  if (op->kind == GROUP_COLLECTIVE) {
    put_call(writer, op);
  } else {
    wire_number(wire, NODE_TYPE, CHAKRA_COMP);
    wire_number(wire, NODE_DURATION, (duration_ps + PS_OF_US / 2) / PS_OF_US);
    put_number(wire, CHAKRA_DURATION_PS, duration_ps);
    if (op->kind == GROUP_WORK && op->memory_milli)
      put_number(wire, CHAKRA_MEMORY_MILLI, op->memory_milli);
  }
  if (op->earliest_ps)
    put_number(wire, CHAKRA_EARLIEST_PS, op->earliest_ps);
  put_message(writer);
  stream->before = writer->next_id++;
  stream->wait_count = 0;
}

/* Whether an operation is a node: a record that follows a wait, or a time to wait for, needs one to
 * stand for what came before. */
static bool is_node(const struct group_op *op, bool waited) {
  return op->kind == GROUP_WORK || op->kind == GROUP_HOST || op->kind == GROUP_COLLECTIVE ||
         op->earliest_ps || (op->kind == GROUP_RECORD && waited);
}

/* Which node each event follows, before any node is written: a wait may stand before its record. */
static void number_events(struct writer *writer, const struct group_program *program) {
  uint64_t id = 0;
  for (uint32_t s = 0; s < program->stream_count; s++) {
    uint64_t before = NOTHING;
    bool waited = false;
    for (uint32_t i = 0; i < program->streams[s].count; i++) {
      const struct group_op *op = &program->streams[s].ops[i];
      if (is_node(op, waited)) {
        before = id++;
        waited = false;
      }
      if (op->kind == GROUP_RECORD)
        writer->events[op->event] = before;
      waited = waited || op->kind == GROUP_WAIT;
    }
  }
}

static void put_stream(struct writer *writer, const struct group_stream *ops,
                       struct stream_state *stream) {
  bool waited = false;
  for (uint32_t i = 0; i < ops->count; i++) {
    const struct group_op *op = &ops->ops[i];
    if (is_node(op, waited)) {
      put_node(writer, stream, op);
      waited = false;
    }
    waited = waited || op->kind == GROUP_WAIT;
    if (op->kind == GROUP_WAIT && writer->events[op->event] != NOTHING)
      stream->waits[stream->wait_count++] = writer->events[op->event];
  }
}

static void write_rank(void *context, FILE *out) {
  struct writer *writer = context;
  const struct group_program *program = writer->job->programs[writer->rank];
  uint32_t most = 1;
  for (uint32_t s = 0; s < program->stream_count; s++)
    most = program->streams[s].count > most ? program->streams[s].count : most;
  uint64_t *waits = calloc(most, sizeof *waits);
  writer->events = calloc((size_t)program->event_count + 1, sizeof *writer->events);
  writer->out = out;
  if (waits && writer->events) {
    wire_text(&writer->wire, METADATA_VERSION, CHAKRA_VERSION);
    put_message(writer);
    number_events(writer, program);
    for (uint32_t s = 0; s < program->stream_count; s++)
      put_stream(writer, &program->streams[s],
                 &(struct stream_state){.before = NOTHING, .waits = waits, .number = s});
  } else {
    writer->wire.failed = true;
  }
  free(waits);
  free(writer->events);
}

enum vinci_status chakra_from_job(const char *name, const struct group_job *job,
                                  struct vinci_diag *diag) {
  char path[PATH_BYTES];
  enum vinci_status status = VINCI_OK;
  if (strlen(name) > sizeof path - sizeof ".groups.json")
    return diag_error(diag, VINCI_E_USAGE, "the name of the traces is too long");
  for (uint32_t i = 0; status == VINCI_OK && i < job->ranks; i++) {
    struct writer writer = {.job = job, .rank = i};
    snprintf(path, sizeof path, "%s.%" PRIu32 ".et", name, i);
    status = file_replace(path, write_rank, &writer, diag);
    if (status == VINCI_OK && writer.wire.failed)
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
    wire_free(&writer.wire);
  }
  snprintf(path, sizeof path, "%s.groups.json", name);
  return status == VINCI_OK ? file_replace(path, write_groups, &(struct writer){.job = job}, diag)
                            : status;
}
