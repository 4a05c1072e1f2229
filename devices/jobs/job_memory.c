/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a job that take memory and give that back (job_memory.h). */
#include "devices/jobs/job_memory.h"

#include <inttypes.h>
#include <string.h>

#include "traces/format/text_fields.h"

enum { BYTES_MAX_LOG2 = 50 };

static enum vinci_status find(struct job_memories *memories, struct text_reader *reader,
                              const char *name, uint32_t *out) {
  uint32_t i = 0;
  while (i < memories->count && strcmp(memories->items[i].name, name) != 0)
    i++;
  *out = i;
  if (i < memories->count)
    return VINCI_OK;
  if (i == JOB_MEMORIES_MAX)
    return text_fail(reader, text_find_key(reader, "name"), "more than %d names of memory",
                     JOB_MEMORIES_MAX);
  memories->items[i].name = arena_strdup(reader->arena, name);
  memories->count += memories->items[i].name != NULL;
  return memories->items[i].name ? VINCI_OK : text_no_memory(reader);
}

/* What the rows of one stream hold, in their order. */
static void count(struct job_memory *memory, const struct text_reader *reader, size_t field,
                  uint32_t stream, const struct group_op *op) {
  memory->several = memory->several || (memory->used && memory->stream != stream);
  memory->used = true;
  memory->stream = stream;
  if (op->kind == GROUP_ALLOCATE) {
    memory->held += op->bytes;
  } else if (op->bytes <= memory->held) {
    memory->held -= op->bytes;
  } else if (memory->line == 0) {
    memory->line = reader->line;
    memory->column = text_column_of(reader, field);
  }
}

enum vinci_status job_memory_take(struct job_memories *memories, struct text_reader *reader,
                                  const char *name, uint32_t stream, struct group_op *op) {
  bool given;
  enum vinci_status status =
      text_take_number(reader, "bytes", UINT64_C(1) << BYTES_MAX_LOG2, &given, &op->bytes);
  size_t field = text_find_key(reader, "bytes");
  if (status == VINCI_OK && op->bytes == 0)
    status = text_fail(reader, field, "the row needs bytes=N, at least 1");
  if (status == VINCI_OK)
    status = find(memories, reader, name, &op->memory);
  if (status == VINCI_OK)
    count(&memories->items[op->memory], reader, field, stream, op);
  return status;
}

enum vinci_status job_memories_end(struct job_memories *memories, struct text_reader *reader) {
  for (uint32_t i = 0; i < memories->count; i++) {
    struct job_memory memory = memories->items[i];
    memories->items[i] = (struct job_memory){.name = memory.name};
    if (memory.line == 0 || memory.several)
      continue;
    (void)diag_error_at(reader->diag, VINCI_E_INPUT,
                        (struct diag_position){reader->path, memory.line, memory.column},
                        "the program gives back more of \"%s\" than it holds there", memory.name);
    diag_hint(reader->diag,
              "a row allocate,name=%s,bytes=N stands before, or bytes is smaller here",
              memory.name);
    return VINCI_E_INPUT;
  }
  return VINCI_OK;
}

enum vinci_status job_memories_keep(const struct job_memories *memories, struct text_reader *reader,
                                    struct group_job *job) {
  const char **names = ARENA_ARRAY(reader->arena, const char *, memories->count + 1);
  if (!names)
    return text_no_memory(reader);
  for (uint32_t i = 0; i < memories->count; i++)
    names[i] = memories->items[i].name;
  job->memories = names;
  job->memory_count = memories->count;
  return VINCI_OK;
}
