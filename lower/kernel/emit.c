/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a trace as text. */
#include "lower/kernel/emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "lower/kernel/emit_record.h"

enum { EMIT_START_BYTES = 4096, EMIT_LINE_BYTES = 2048, EMIT_INDENT = 2, EMIT_BANKS_BYTES = 512 };

void emit_start(struct emit *emit, const struct vinci_soc *soc, struct arena *arena,
                struct vinci_diag *diag) {
  *emit = (struct emit){.soc = soc, .arena = arena, .diag = diag, .status = VINCI_OK};
}

void emit_finish(struct emit *emit) {
  if (emit->selection)
    emit->selection->finish(emit);
  emit->seam = emit->cuts = emit->packs = false;
  emit->tails = emit->names != NULL; /* parts share tensors, whose tails have to be the same */
  emit->tensor_count = 0;
}

void emit_free(struct emit *emit) {
  free(emit->text);
  emit->text = NULL;
  emit->length = emit->capacity = 0;
}

void emit_no_memory(struct emit *emit) {
  if (emit->status == VINCI_OK)
    emit->status = diag_error(emit->diag, VINCI_E_NOMEM, "out of memory");
}

static void append(struct emit *emit, const char *text, size_t length) {
  if (emit->status != VINCI_OK)
    return;
  if (emit->capacity - emit->length <= length) {
    size_t capacity = emit->capacity ? emit->capacity : EMIT_START_BYTES;
    while (capacity - emit->length <= length)
      capacity *= 2;
    char *grown = realloc(emit->text, capacity);
    if (!grown) {
      emit_no_memory(emit);
      return;
    }
    emit->text = grown;
    emit->capacity = capacity;
  }
  memcpy(emit->text + emit->length, text, length);
  emit->length += length;
  emit->text[emit->length] = '\0';
}

void emit_insert(struct emit *emit, size_t at, const char *text) {
  if (emit->record)
    return;
  size_t length = strlen(text), behind = emit->length - at;
  append(emit, text, length); /* for the room */
  if (emit->status != VINCI_OK)
    return;
  memmove(emit->text + at + length, emit->text + at, behind);
  memcpy(emit->text + at, text, length);
}

static void indent(struct emit *emit) {
  for (unsigned i = 0; i < emit->depth * EMIT_INDENT; i++)
    append(emit, " ", 1);
}

/* Formats into a buffer of EMIT_LINE_BYTES; a longer line is a bug of the operator. */
static void format_line(char *line, const char *format, va_list arguments) {
  int length = vsnprintf(line, EMIT_LINE_BYTES, format, arguments);
  if (length < 0 || length >= EMIT_LINE_BYTES)
    vinci_bug("a lowered row is too long: %.60s...", line);
}

void emit_comment(struct emit *emit, const char *format, ...) {
  char line[EMIT_LINE_BYTES];
  va_list arguments;
  if (emit->record)
    return;
  va_start(arguments, format);
  format_line(line, format, arguments);
  va_end(arguments);
  indent(emit);
  append(emit, "# ", 2);
  append(emit, line, strlen(line));
  append(emit, "\n", 1);
}

/* ---- rows ---- */

static size_t put_word(char *line, size_t at, const char *text) {
  size_t length = strlen(text);
  if (at + length >= EMIT_LINE_BYTES)
    vinci_bug("a lowered row is too long: %.60s...", line);
  memcpy(line + at, text, length + 1);
  return at + length;
}

/* ",name=value"; a field with commas of its own stands in quotes. */
static size_t put_field(char *line, size_t at, const struct field *field) {
  char value[EMIT_LINE_BYTES];
  const char *text = field->word ? field->word : value;
  bool quotes = false;
  if (!field->word && x_print(value, sizeof value, field->value, &quotes) >= sizeof value)
    vinci_bug("an operand of a lowered row is too long: %.60s...", value);
  at = put_word(line, at, quotes ? ",\"" : ",");
  at = put_word(line, at, field->name);
  at = put_word(line, at, *field->name ? "=" : "");
  at = put_word(line, at, text);
  return put_word(line, at, quotes ? "\"" : "");
}

void emit_fields(struct emit *emit, const char *inst, const struct field *fields, size_t count) {
  char line[EMIT_LINE_BYTES];
  if (emit->selection && emit->selection->rows(emit, inst, fields, count))
    return;
  if (emit->record) {
    record_inst(emit->record, emit, inst, fields, count);
    return;
  }
  size_t at = put_word(line, 0, inst);
  for (size_t i = 0; i < count; i++)
    if (fields[i].name)
      at = put_field(line, at, &fields[i]);
  indent(emit);
  append(emit, line, at);
  append(emit, "\n", 1);
}

void emit_plain(struct emit *emit, const char *inst) { emit_fields(emit, inst, NULL, 0); }

/* ---- header rows ---- */

static void begin_kernel(struct emit *emit) {
  emit_finish(emit);
  if (!emit->started)
    EMIT(emit, "trace", F("version", 1));
  emit->started = true;
  memset(emit->used, 0, sizeof emit->used);
}

static void put_kernel(struct emit *emit, const char *name, uint32_t blocks, unsigned vectors) {
  begin_kernel(emit);
  emit->blocks = blocks;
  emit->stream_at = 0;
  emit->kernels++;
  if (emit->record) {
    record_kernel(emit->record, blocks, vectors);
    return;
  }
  EMIT(emit, "kernel", W("name", name), W("arch", arch_name(emit->soc->arch)), F("blocks", blocks),
       F_IF(vectors > 0, "vectors_per_cube", vectors));
}

void emit_kernel(struct emit *emit, const char *name, uint32_t blocks) {
  put_kernel(emit, name, blocks, 0);
}

void emit_mixed_kernel(struct emit *emit, const char *name, uint32_t blocks, unsigned vectors) {
  put_kernel(emit, name, blocks, vectors);
}

const struct emit_name *emit_name_of(const struct emit *emit, const char *name) {
  for (const struct emit_name *next = emit->names; next && next->from; next++)
    if (strcmp(next->from, name) == 0)
      return next;
  return NULL;
}

void emit_tensor(struct emit *emit, const char *name, enum dtype dtype, enum tensor_io io,
                 const uint64_t *shape, unsigned rank, const char *format) {
  static const char *const words[] = {[TENSOR_IN] = "in",
                                      [TENSOR_OUT] = "out",
                                      [TENSOR_INOUT] = "inout",
                                      [TENSOR_WORKSPACE] = "workspace"};
  char extents[TENSOR_RANK_MAX * 24] = "";
  size_t length = 0;
  const struct emit_name *other = emit_name_of(emit, name);
  bool nd = !format || strcmp(format, "ND") == 0;
  uint64_t elements = 1;
  for (unsigned i = 0; i < rank; i++)
    elements *= shape[i];
  /* Parts may see what lies between them in other shapes. */
  if (other && (nd ? other->as != 0 : other->as == EMIT_HIDDEN)) {
    shape = &elements;
    rank = 1;
    nd = true;
  }
  for (unsigned i = 0; i < rank; i++)
    length += (size_t)snprintf(extents + length, sizeof extents - length, "%s%" PRIu64,
                               i ? "x" : "", shape[i]);
  if (other)
    name = other->to;
  if (other && (other->as & EMIT_HIDDEN))
    io = TENSOR_WORKSPACE;
  if (emit->record) {
    record_tensor(emit->record, name, elements * dtype_bits(dtype) / BITS_PER_BYTE,
                  io == TENSOR_WORKSPACE);
    return;
  }
  EMIT(emit, "tensor", W("name", name), W("dtype", dtype_name(dtype)), W("shape", extents),
       W("io", words[io]), W_IF(!nd, "format", format));
  if (emit->tensor_count == EMIT_TENSORS_MAX)
    vinci_bug("a kernel of more than %d tensors", EMIT_TENSORS_MAX);
  if (emit->status == VINCI_OK)
    emit->tensor_ends[emit->tensor_count++] = emit->length - 1;
}

void emit_vector(struct emit *emit, const char *name, enum dtype dtype, enum tensor_io io,
                 uint64_t elements) {
  emit_tensor(emit, name, dtype, io, &elements, 1, NULL);
}

uint64_t emit_buffer(struct emit *emit, const char *name, enum space space, uint64_t bytes) {
  uint64_t alignment = space_alignment(space);
  if (space == SPACE_L1 || space == SPACE_UB)
    alignment = EMIT_BANKS_BYTES;
  uint64_t address = ceil_div(emit->used[space], alignment) * alignment;
  uint64_t capacity = soc_space_bytes(emit->soc, space);
  if (emit->status == VINCI_OK && (bytes > capacity || address > capacity - bytes)) {
    emit->status = diag_error(emit->diag, VINCI_E_USAGE,
                              "%s needs %" PRIu64 " bytes at %" PRIu64 ", but %s has only %" PRIu64,
                              name, bytes, address, space_name(space), capacity);
    diag_hint(emit->diag, "give a smaller tiling, or none");
  }
  emit_buffer_at(emit, name, space, address, bytes);
  emit->used[space] = address + bytes;
  return address;
}

void emit_buffer_at(struct emit *emit, const char *name, enum space space, uint64_t address,
                    uint64_t bytes) {
  if (emit->record) {
    record_buffer(emit->record, name, address);
    return;
  }
  EMIT(emit, "buffer", W("name", name), W("space", space_name(space)), F("address", address),
       F("size", bytes));
}

enum core_kind emit_vector_core(const struct vinci_soc *soc) {
  return arch_is_coupled(soc->arch) ? CORE_AICORE : CORE_AIV;
}

enum core_kind emit_cube_core(const struct vinci_soc *soc) {
  return arch_is_coupled(soc->arch) ? CORE_AICORE : CORE_AIC;
}

void emit_kernel_code(struct emit *e, enum kernel_code code) {
  const struct kernel_start *kernel = &e->soc->kernel[code];
  if (kernel->code_bytes > 0 || kernel->head_cycles > 0)
    emit_comment(e, "Start of the kernel: code that all cores fetch, then arguments, addresses.");
  if (kernel->code_bytes > 0)
    EMIT(e, "code_fetch", F("bytes", (uint64_t)kernel->code_bytes),
         F("line_cycles", (uint64_t)kernel->line_cycles));
}

void emit_kernel_head(struct emit *e, enum kernel_code code) {
  const struct kernel_start *kernel = &e->soc->kernel[code];
  if (kernel->head_cycles > 0)
    EMIT(e, "scalar", F("cycles", (uint64_t)kernel->head_cycles));
  if (kernel->issue_cycles > 0)
    EMIT(e, "issue_cost", F("cycles", (uint64_t)kernel->issue_cycles));
  e->body_at = e->length;
}

void emit_kernel_start(struct emit *e, enum kernel_code code) {
  emit_kernel_code(e, code);
  emit_kernel_head(e, code);
}

void emit_stream(struct emit *emit, enum core_kind kind) {
  if (emit->stream_at == 0)
    emit->stream_at = emit->length;
  if (emit->record) {
    record_stream(emit->record, kind);
    return;
  }
  EMIT(emit, "stream", W("core", core_kind_name(kind)));
}

void emit_barrier(struct emit *emit, enum pipe pipe) {
  EMIT(emit, "pipe_barrier", W("pipe", pipe_name(pipe)));
}

struct expr emit_for_of(struct emit *emit, const char *name, struct expr count) {
  if (emit->record)
    record_loop(emit->record, name, count);
  else
    EMIT(emit, "loop", W("", name), F("", count));
  emit->depth++;
  return x_name(emit, name);
}

void emit_end(struct emit *emit) {
  emit->depth--;
  if (emit->record)
    record_loop_end(emit->record);
  else
    emit_plain(emit, "endloop");
}

struct expr emit_slots(struct emit *emit, bool set, const char *prefix, uint64_t slots) {
  char name[32];
  snprintf(name, sizeof name, "%s%s", prefix, set ? "first" : "last");
  return emit_for(emit, name, slots);
}

/* A row "WORD,NAME,VALUE", or in a record the value of the name. Whether that is recorded. */
static bool recorded(struct emit *emit, const char *name, struct expr value) {
  if (emit->record)
    record_let(emit->record, name, value);
  return emit->record != NULL;
}

struct expr emit_assigned(struct emit *emit, const char *name, struct expr value) {
  if (!recorded(emit, name, value))
    EMIT(emit, "let", W("", name), F("", value));
  return x_let(emit, name, value);
}

struct expr emit_read_taken(struct emit *emit, const char *name, struct expr value) {
  if (!recorded(emit, name, value))
    EMIT(emit, "read", W("", name), F("", value), W("", "taken"));
  return x_name(emit, name);
}

struct expr emit_read_word(struct emit *emit, const char *name, struct expr value,
                           struct expr address, enum dtype type) {
  if (recorded(emit, name, value))
    return x_name(emit, name);
  if (type == DTYPE_INT64)
    EMIT(emit, "read", W("", name), F("", value), F("", address), W("", "int64"));
  else
    EMIT(emit, "read", W("", name), F("", value), F("", address));
  return x_name(emit, name);
}

struct expr emit_read_index(struct emit *emit, const char *name, struct expr value,
                            struct expr address, enum dtype type, uint64_t end) {
  struct expr index = emit_read_word(emit, name, value, address, type);
  emit_expect(emit, name, x_max(0, x_min(index, end - 1)));
  return index;
}

void emit_change(struct emit *emit, const char *name, struct expr value) {
  if (emit->record)
    record_set(emit->record, name, value);
  else
    EMIT(emit, "set", W("", name), F("", value));
}

struct expr emit_named(struct emit *emit, const char *name, struct expr value) {
  return x_is_number(value) ? value : emit_assigned(emit, name, value);
}

void emit_flag_of(struct emit *emit, bool set, enum pipe src, enum pipe dst, struct expr id) {
  EMIT(emit, set ? "set_flag" : "wait_flag", W("src", pipe_name(src)), W("dst", pipe_name(dst)),
       F("id", id));
}

void emit_flags(struct emit *e, const char *counter, bool set, enum pipe src, enum pipe dst,
                uint64_t buffers) {
  emit_flag_of(e, set, src, dst, emit_for(e, counter, buffers));
  emit_end(e);
}

void emit_meet(struct emit *emit, unsigned id) {
  EMIT(emit, "ffts_cross_core_sync", W("pipe", "MTE3"), F("mode", 0), F("id", id));
  EMIT(emit, "wait_flag_dev", F("id", id));
}

struct expr emit_units(struct emit *emit, uint64_t pieces, const char *name) {
  struct expr blk = x_name(emit, "blk"), blocks = x_name(emit, "blocks");
  struct expr turns = x_div(x_sub(x_add(x_sub(pieces, blk), blocks), 1), blocks);
  struct expr u = emit_for(emit, "u", turns);
  return emit_named(emit, name, x_add(blk, x_mul(u, blocks)));
}
