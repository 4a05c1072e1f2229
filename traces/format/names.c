/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of a trace: one table for the whole file. An entry keeps every role its
 * name has (tensor or buffer of a kernel, variable of a stream) with the serial
 * number of the kernel or stream it belongs to, so that nothing has to be removed
 * when a scope ends.
 */
#include <string.h>

#include "core/base/digest.h"
#include "traces/format/reader.h"

static const char *const builtins[] = {
    [VAR_BLK] = "blk", [VAR_SUB] = "sub", [VAR_BLOCKS] = "blocks"};
/* Functions of expressions; no name may hide them. */
static const char *const functions[] = {"min", "max"};

static uint32_t current_kernel(const struct trace_reader *reader) {
  return (uint32_t)reader->kernels.count;
}

bool trace_name_is_variable(const struct trace_reader *reader, const struct trace_name *name) {
  return reader->stream && name->in_scope && name->stream == reader->stream_serial;
}

bool trace_name_is_object(const struct trace_reader *reader, const struct trace_name *name) {
  return reader->kernel && name->object_kernel == current_kernel(reader);
}

uint32_t trace_builtin(const char *text, size_t length) {
  for (uint32_t i = 0; i < VAR_FIRST_FREE; i++)
    if (strlen(builtins[i]) == length && memcmp(builtins[i], text, length) == 0)
      return i;
  return VAR_FIRST_FREE;
}

static bool is_reserved(const char *text, size_t length) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (strlen(functions[i]) == length && memcmp(functions[i], text, length) == 0)
      return true;
  return trace_builtin(text, length) != VAR_FIRST_FREE;
}

static struct trace_name *entry_at(const struct trace_reader *reader, size_t index) {
  return GROWING_AT(&reader->names, struct trace_name, index);
}

struct trace_name *trace_name_find(struct trace_reader *reader, const char *text, size_t length) {
  uint64_t key = digest_bytes(DIGEST_SEED, text, length);
  size_t looked = 0;
  for (size_t at; (at = lookup_next(&reader->name_table, key, &looked)) != LOOKUP_NONE;) {
    struct trace_name *name = entry_at(reader, at);
    if (name->length == length && memcmp(name->text, text, length) == 0)
      return name;
  }
  return NULL;
}

/* The entry of a name, made when it is new. */
static struct trace_name *intern(struct trace_reader *reader, const char *text, size_t length) {
  struct trace_name *found = trace_name_find(reader, text, length);
  if (found)
    return found;
  const char *copy = arena_strndup(&reader->arena, text, length);
  if (!copy)
    return NULL;
  struct trace_name *name = GROWING_PUSH(&reader->names, struct trace_name);
  if (!name || !lookup_add(&reader->name_table, NULL, digest_bytes(DIGEST_SEED, text, length),
                           reader->names.count - 1))
    return NULL;
  *name = (struct trace_name){.text = copy, .length = (uint32_t)length};
  return name;
}

static const char *visible_name(const void *context, size_t index) {
  const struct trace_reader *reader = context;
  if (index < VAR_FIRST_FREE)
    return reader->stream ? builtins[index] : NULL;
  const struct trace_name *name = entry_at(reader, index - VAR_FIRST_FREE);
  bool visible = trace_name_is_variable(reader, name) || trace_name_is_object(reader, name);
  return visible ? name->text : NULL;
}

const char *trace_name_nearest(const struct trace_reader *reader, const char *text) {
  return diag_nearest(text, VAR_FIRST_FREE + reader->names.count, visible_name, reader);
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Length of the identifier at the start of the text. */
static size_t identifier_length(const char *text) {
  size_t n = 0;
  if (is_letter(text[0]))
    while (is_letter(text[n]) || (text[n] >= '0' && text[n] <= '9'))
      n++;
  return n;
}

enum vinci_status trace_name_declare(struct trace_reader *reader, size_t field, size_t offset,
                                     struct trace_name **out) {
  const char *text = reader->fields[field].text + offset;
  size_t length = reader->fields[field].length - offset;
  if (length == 0 || identifier_length(text) != length) {
    trace_fail(reader, field, offset, "\"%s\" is not a name", trace_clip(text, length).text);
    diag_hint(reader->diag, "a name is a letter or \"_\", then letters, digits and \"_\"");
    return VINCI_E_INPUT;
  }
  if (length > TRACE_NAME_BYTES_MAX)
    return trace_fail(reader, field, offset, "name of %zu characters, allowed are %d", length,
                      TRACE_NAME_BYTES_MAX);
  if (is_reserved(text, length)) {
    trace_fail(reader, field, offset, "\"%s\" is a name of the trace format itself", text);
    diag_hint(reader->diag, "blk, sub, blocks, min and max are taken");
    return VINCI_E_INPUT;
  }
  struct trace_name *name = intern(reader, text, length);
  if (!name)
    return trace_no_memory(reader);
  if (trace_name_is_variable(reader, name) || trace_name_is_object(reader, name))
    return trace_fail(reader, field, offset, "name \"%s\" is already in use since line %u", text,
                      (unsigned)name->line);
  name->line = reader->line;
  *out = name;
  return VINCI_OK;
}

enum vinci_status trace_variable(struct trace_reader *reader, struct trace_name *name,
                                 uint16_t *variable) {
  uint32_t *scope = GROWING_PUSH(&reader->scope, uint32_t);
  if (!scope)
    return trace_no_memory(reader);
  *scope = (uint32_t)(name - entry_at(reader, 0));
  if (name->stream != reader->stream_serial) {
    if (reader->variables.count >= TRACE_VARIABLES_MAX)
      return trace_fail(reader, 1, 0, "more than %d variables in one stream", TRACE_VARIABLES_MAX);
    const char **text = GROWING_PUSH(&reader->variables, const char *);
    if (!text)
      return trace_no_memory(reader);
    *text = name->text;
    name->stream = reader->stream_serial;
    name->variable = (uint32_t)reader->variables.count - 1;
  }
  name->in_scope = true;
  *variable = (uint16_t)name->variable;
  return VINCI_OK;
}
