/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a trace as numbers and expressions. */
#include "lower/kernel/emit_record.h"

#include <string.h>

#include "core/base/arith.h"
#include "core/isa/isa.h"
#include "lower/kernel/emit.h"

enum { FIRST_ROOM = 256 };

void record_start(struct record *record, struct arena *arena) {
  static const char *const given[] = {
      [VAR_BLK] = "blk", [VAR_SUB] = "sub", [VAR_BLOCKS] = "blocks"};
  record->arena = arena;
  record->row_count = record->operand_count = 0;
  record->kernel_count = record->stream_count = record->tensor_count = record->depth = 0;
  record->carried_count = 0;
  record->gm_end = PROGRAM_GM_BASE;
  record->full = false;
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    (void)record_name(record, given[i]);
  memset(record->variable, 0, record->variable_count * sizeof *record->variable);
}

/* Room for more elements: those that are there move, and their old place is lost to the arena. */
static bool grow(struct record *record, void **elements, uint32_t *room, uint32_t count,
                 uint32_t more, size_t element_bytes) {
  if (count + more <= *room)
    return true;
  uint32_t wanted = *room ? *room : FIRST_ROOM;
  while (wanted < count + more)
    wanted *= 2;
  void *grown = arena_alloc_room(record->arena, wanted, element_bytes);
  if (!grown) {
    record->full = true;
    return false;
  }
  if (count > 0)
    memcpy(grown, *elements, count * element_bytes);
  *elements = grown;
  *room = wanted;
  return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t hash_name(const char *name) {
  uint32_t hash = 2166136261u;
  for (; *name; name++)
    hash = (hash ^ (unsigned char)*name) * 16777619u;
  return hash;
}

static uint32_t new_variable(struct record *record) {
  if (!grow(record, (void **)&record->variable, &record->variable_room, record->variable_count, 1,
            sizeof *record->variable))
    return 0;
  record->variable[record->variable_count] = 0;
  return record->variable_count++;
}

struct record_name record_name(struct record *record, const char *name) {
  uint32_t slot = hash_name(name) % RECORD_NAMES, tried = 0;
  for (; record->name[slot].text; slot = (slot + 1) % RECORD_NAMES)
    if (strcmp(record->name[slot].text, name) == 0 || ++tried == RECORD_NAMES / 2)
      break;
  struct record_name *found = &record->name[slot];
  if (!found->text) {
    const char *copy = arena_strdup(record->arena, name);
    if (copy)
      *found = (struct record_name){copy, new_variable(record)};
  }
  bool there = found->text && strcmp(found->text, name) == 0;
  record->full |= !there;
  return there ? *found : (struct record_name){"", 0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A row with room for operands; NULL: there is no memory. */
static struct record_row *add_row(struct record *record, enum program_row_kind kind, uint16_t op,
                                  uint8_t args) {
  if (record->full ||
      !grow(record, (void **)&record->row, &record->row_room, record->row_count, 1,
            sizeof *record->row) ||
      !grow(record, (void **)&record->number, &record->number_room, record->operand_count, args,
            sizeof *record->number) ||
      !grow(record, (void **)&record->term, &record->term_room, record->operand_count, args,
            sizeof *record->term))
    return NULL;
  struct record_row *row = &record->row[record->row_count++];
  *row = (struct record_row){
      .kind = (uint8_t)kind, .arg_count = args, .op = op, .first = record->operand_count};
  record->operand_count += args;
  if (record->stream_count > 0)
    record->stream[record->stream_count - 1].end = record->row_count;
  return row;
}

static void put_argument(struct record *record, struct record_row *row, unsigned index,
                         struct expr value) {
  record->number[row->first + index] = value.number;
  if (x_is_number(value))
    return;
  record->term[row->first + index] = value;
  row->terms |= 1u << index;
}

static void put_variable(struct record *record, enum program_row_kind kind, const char *name,
                         struct expr value) {
  uint32_t variable = record_name(record, name).variable;
  struct record_row *row = add_row(record, kind, (uint16_t)variable, 1);
  if (row)
    put_argument(record, row, 0, value);
}

void record_let(struct record *record, const char *name, struct expr value) {
  put_variable(record, ROW_LET, name, value);
}

void record_set(struct record *record, const char *name, struct expr value) {
  uint32_t variable = record_name(record, name).variable, place = 0;
  while (place < record->carried_count && record->carried[place] != variable)
    place++;
  record->full |= place == RECORD_CARRIED;
  put_variable(record, ROW_SET, name, value);
  if (record->full)
    return;
  if (place == record->carried_count)
    record->carried[record->carried_count++] = variable;
  record->row[record->row_count - 1].partner = place;
}

void record_loop(struct record *record, const char *name, struct expr count) {
  put_variable(record, ROW_LOOP, name, count);
  record->full |= record->depth == RECORD_DEPTH;
  if (!record->full)
    record->open[record->depth++] = record->row_count - 1;
}

void record_loop_end(struct record *record) {
  if (record->full)
    return;
  uint32_t begin = record->open[--record->depth];
  struct record_row *row = add_row(record, ROW_ENDLOOP, record->row[begin].op, 0);
  if (!row)
    return;
  row->partner = begin;
  record->row[begin].partner = record->row_count - 1;
}

void record_kernel(struct record *record, uint32_t blocks, uint32_t vectors) {
  record->kernel_count++;
  record->full |= record->stream_count == RECORD_STREAMS;
  if (!record->full)
    record->stream[record->stream_count] = (struct record_stream){
        .kernel = record->kernel_count, .blocks = blocks, .vectors = vectors};
}

void record_stream(struct record *record, enum core_kind kind) {
  if (record->full || record->stream_count == RECORD_STREAMS) {
    record->full = true;
    return;
  }
  struct record_stream *stream = &record->stream[record->stream_count];
  /* A second stream of a kernel. */
  if (stream->kernel != record->kernel_count)
    *stream = stream[-1];
  stream->kind = kind;
  stream->first = stream->end = record->row_count;
  record->stream_count++;
}

void record_tensor(struct record *record, const char *name, uint64_t bytes, bool hidden) {
  uint32_t variable = record_name(record, name).variable;
  if (record->full || record->variable[variable] != 0)
    return; /* of an earlier kernel too */
  record->full |= record->tensor_count == sizeof record->tensor / sizeof *record->tensor;
  if (record->full)
    return;
  record->tensor[record->tensor_count++] = (struct record_tensor){record->gm_end, bytes, hidden};
  record->variable[variable] = (int64_t)record->gm_end;
  record->gm_end += round_up(bytes, PROGRAM_TENSOR_ALIGNMENT);
}

void record_buffer(struct record *record, const char *name, uint64_t address) {
  uint32_t variable = record_name(record, name).variable;
  if (!record->full)
    record->variable[variable] = (int64_t)address;
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* Words are those of the tables in most cases: the same text, at the same place. */
static enum dtype dtype_of(const char *word) {
  for (unsigned i = 0; i < DTYPE_COUNT; i++)
    if (dtype_name((enum dtype)i) == word)
      return (enum dtype)i;
  return dtype_by_name(word);
}

static enum pipe pipe_of(const char *word) {
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    if (pipe_name((enum pipe)i) == word)
      return (enum pipe)i;
  return pipe_by_name(word);
}

static bool is_called(const struct isa_arg *arg, const char *name) {
  return arg->name[0] == name[0] && strcmp(arg->name, name) == 0;
}

static struct expr word_value(struct emit *emit, const struct isa_arg *arg, const char *word) {
  switch (arg->kind) {
  case ARG_WORD:
    return EXPR(isa_word_find(arg, word, strlen(word)));
  case ARG_DTYPE:
    return EXPR((int)dtype_of(word));
  case ARG_PIPE:
    return EXPR((int)pipe_of(word));
  default:
    return x_name(emit, word);
  }
}

void record_inst(struct record *record, struct emit *emit, const char *inst,
                 const struct field *fields, size_t count) {
  enum isa_op op = isa_find(inst, strlen(inst));
  if (op == OP_COUNT)
    return; /* rows that take no time: the head of a trace, what is expected of a name */
  const struct isa_row *isa = isa_row(op);
  struct record_row *row = add_row(record, ROW_INST, (uint16_t)op, isa->arg_count);
  if (!row)
    return;
  for (unsigned i = 0; i < isa->arg_count; i++)
    record->number[row->first + i] = isa->arg[i].default_value;
  unsigned next = 0;
  for (size_t i = 0; i < count; i++) {
    if (!fields[i].name)
      continue;
    /* Fields mostly stand in the order of the signature. */
    while (next < isa->arg_count && !is_called(&isa->arg[next], fields[i].name))
      next++;
    int index = next < isa->arg_count ? (int)next
                                      : isa_arg_find(isa, fields[i].name, strlen(fields[i].name));
    if (index < 0)
      continue;
    next = (unsigned)index + 1;
    uint32_t terms = row->terms;
    put_argument(record, row, (unsigned)index,
                 fields[i].word ? word_value(emit, &isa->arg[index], fields[i].word)
                                : fields[i].value);
    if (isa->arg[index].kind != ARG_ADDRESS)
      row->sizes |= row->terms & ~terms;
  }
}
