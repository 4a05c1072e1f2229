/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading of traces: physical lines are cut here and split into fields one by one
 * (fields.c), so that a field can never span lines and every error has a line.
 */
#include "traces/format/reader.h"

#include <errno.h>
#include <string.h>

#include "core/base/digest.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/isa/source.h"

/* ---- errors --------------------------------------------------------------- */

enum vinci_status trace_fail(struct trace_reader *reader, size_t field, size_t offset,
                             const char *format, ...) {
  char text[sizeof reader->diag->text];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return trace_fail_column(reader, trace_column(reader, field, offset), text);
}

enum vinci_status trace_fail_line(struct trace_reader *reader, uint32_t line, const char *format,
                                  ...) {
  char text[sizeof reader->diag->text];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  struct diag_position position = {.path = reader->path, .line = line};
  return diag_error_at(reader->diag, VINCI_E_INPUT, position, "%s", text);
}

enum vinci_status trace_no_memory(struct trace_reader *reader) {
  struct diag_position position = {.path = reader->path, .line = reader->line};
  return diag_error_at(reader->diag, VINCI_E_NOMEM, position, "out of memory reading the trace");
}

struct trace_clip trace_clip(const char *text, size_t length) {
  static const char dots[] = "...";
  struct trace_clip clip;
  size_t kept = length;
  if (length >= sizeof clip.text) {
    kept = sizeof clip.text - sizeof dots;
    while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
      kept--; /* not in the middle of a UTF-8 character */
  }
  memcpy(clip.text, text, kept);
  strcpy(clip.text + kept, kept == length ? "" : dots);
  return clip;
}

/* ---- bytes ---------------------------------------------------------------- */

/* Whether eight bytes are all printable ASCII. May say no for a few that are. */
static bool plain8(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  uint64_t below_space = word - UINT64_C(0x2020202020202020);
  uint64_t above_tilde = word + UINT64_C(0x0101010101010101);
  return ((word | below_space | above_tilde) & UINT64_C(0x8080808080808080)) == 0;
}

static enum vinci_status check_bytes(struct trace_reader *reader) {
  const char *line = reader->line_text;
  size_t length = reader->line_length;
  for (size_t at = 0; at < length;) {
    if (length - at >= 8 && plain8(line + at)) {
      at += 8;
      continue;
    }
    unsigned char c = (unsigned char)line[at];
    size_t n = utf8_length(line + at, length - at);
    if (n == 0 || (c < 0x20 && c != '\t') || c == 0x7f) {
      struct diag_position position = {reader->path, reader->line, (unsigned long)at + 1};
      diag_error_at(reader->diag, VINCI_E_INPUT, position,
                    n == 0 ? "byte 0x%02x is not UTF-8" : "control byte 0x%02x", c);
      diag_hint(reader->diag, "a trace is a CSV file in UTF-8, its lines end with LF or CR LF");
      return VINCI_E_INPUT;
    }
    at += n;
  }
  return VINCI_OK;
}

/* ---- lines -------------------------------------------------------------- */

static enum vinci_status read_row(struct trace_reader *reader) {
  enum isa_op op = isa_find(reader->fields[0].text, reader->fields[0].length);
  bool done;
  if (op != OP_COUNT && reader->version_seen)
    return trace_inst_row(reader, op);
  enum vinci_status status = trace_header_row(reader, &done);
  return status != VINCI_OK || done ? status : trace_other_row(reader);
}

/* Reads one line; its end (LF or CR LF, or nothing at the end of the text) follows. */
static enum vinci_status read_line(struct trace_reader *reader, const char *text, size_t length,
                                   bool newline) {
  if (reader->line == UINT32_MAX)
    return trace_fail_line(reader, reader->line, "more lines than %u", (unsigned)UINT32_MAX);
  reader->line++;
  if (length > 0 && text[length - 1] == '\r')
    length--;
  reader->line_text = text;
  reader->end_length = newline ? 1 + (text[length] == '\r') : 0;
  reader->line_length = length;
  enum vinci_status status = check_bytes(reader);
  if (status != VINCI_OK)
    return status;
  size_t blanks = 0;
  while (blanks < length && (text[blanks] == ' ' || text[blanks] == '\t'))
    blanks++;
  if (blanks == length || text[blanks] == '#')
    return VINCI_OK;
  status = trace_split(reader);
  return status == VINCI_OK ? read_row(reader) : status;
}

static enum vinci_status fail_long_line(struct trace_reader *reader) {
  trace_fail_line(reader, reader->line + 1, "line of more than %d bytes", TRACE_LINE_BYTES_MAX);
  diag_hint(reader->diag, "one row stands for one instruction; is this a trace?");
  return VINCI_E_INPUT;
}

/*
 * Reads the complete lines of a piece of text; *used tells how much that was. The last
 * piece may end without a newline.
 */
static enum vinci_status read_lines(struct trace_reader *reader, const char *text, size_t length,
                                    bool last, size_t *used) {
  size_t at = 0;
  while (at < length) {
    const char *newline = memchr(text + at, '\n', length - at);
    size_t line_length = newline ? (size_t)(newline - text) - at : length - at;
    if (line_length > TRACE_LINE_BYTES_MAX)
      return fail_long_line(reader);
    if (!newline && !last)
      break;
    enum vinci_status status = read_line(reader, text + at, line_length, newline != NULL);
    if (status != VINCI_OK)
      return status;
    at += line_length + (newline != NULL);
  }
  *used = at;
  return VINCI_OK;
}

/* ---- the whole ------------------------------------------------------------ */

static bool keep(struct arena *arena, struct growing *from, size_t element_bytes, void *to) {
  void *copy = arena_alloc(arena, from->count, element_bytes);
  if (!copy)
    return false;
  if (from->count > 0)
    memcpy(copy, from->data, from->count * element_bytes);
  memcpy(to, &copy, sizeof copy);
  growing_free(from);
  return true;
}

/* Moves what was read into a program. */
static enum vinci_status finish(struct trace_reader *reader, uint64_t digest, vinci_trace **out) {
  struct arena *arena = &reader->arena;
  struct vinci_trace *trace = ARENA_NEW(arena, struct vinci_trace);
  if (!trace)
    return trace_no_memory(reader);
  trace->path = reader->path;
  trace->digest = digest;
  trace->soc_digest = soc_digest(reader->soc);
  trace->kernel_count = (uint32_t)reader->kernels.count;
  trace->tensor_count = (uint32_t)reader->tensors.count;
  trace->buffer_count = (uint32_t)reader->buffers.count;
  trace->row_count = reader->rows.count;
  trace->named_count = reader->named.count;
  trace->gm_bytes = reader->gm_end;
  if (!keep(arena, &reader->kernels, sizeof *trace->kernels, &trace->kernels) ||
      !keep(arena, &reader->tensors, sizeof *trace->tensors, &trace->tensors) ||
      !keep(arena, &reader->buffers, sizeof *trace->buffers, &trace->buffers) ||
      !keep(arena, &reader->rows, sizeof *trace->rows, &trace->rows) ||
      !keep(arena, &reader->operands, sizeof *trace->operands, &trace->operands) ||
      !keep(arena, &reader->exprs, sizeof *trace->exprs, &trace->exprs) ||
      !keep(arena, &reader->terms, sizeof *trace->terms, &trace->terms) ||
      !keep(arena, &reader->codes, sizeof *trace->codes, &trace->codes) ||
      !keep(arena, &reader->named, sizeof *trace->named, &trace->named))
    return trace_no_memory(reader);
  for (uint32_t i = 0; i < trace->tensor_count; i++)
    trace->any_passes_l2 = trace->any_passes_l2 || trace->tensors[i].passes_l2;
  trace->any_unit_flag = reader->any_unit_flag;
  trace->arena = *arena;
  *arena = (struct arena){0};
  arena_seal(&trace->arena);
  *out = trace;
  return VINCI_OK;
}

/* What only the end of the text shows. */
static enum vinci_status check_end(struct trace_reader *reader) {
  struct diag_position whole = {.path = reader->path};
  if (!reader->version_seen) {
    diag_error_at(reader->diag, VINCI_E_INPUT, whole, "the trace is empty");
    diag_hint(reader->diag, "the first row is \"trace,version=%d\"", TRACE_VERSION);
    return VINCI_E_INPUT;
  }
  enum vinci_status status = trace_end_stream(reader);
  if (status == VINCI_OK)
    status = trace_end_kernel(reader);
  if (status == VINCI_OK && reader->kernels.count == 0)
    status = diag_error_at(reader->diag, VINCI_E_INPUT, whole, "the trace has no kernel");
  if (status == VINCI_OK && reader->inst_count == 0)
    status = diag_error_at(reader->diag, VINCI_E_INPUT, whole, "the trace has no instructions");
  return status;
}

static enum vinci_status reader_open(struct trace_reader *reader, const char *name,
                                     const vinci_soc *soc, struct vinci_diag *diag) {
  reader->soc = soc;
  reader->diag = diag;
  reader->gm_end = PROGRAM_GM_BASE;
  reader->path = arena_strdup(&reader->arena, name);
  if (!reader->path || csv_init(&reader->csv, CSV_STRICT) != 0)
    return trace_no_memory(reader);
  return VINCI_OK;
}

static void reader_close(struct trace_reader *reader) {
  struct growing *arrays[] = {
      &reader->kernels, &reader->tensors, &reader->buffers, &reader->rows,      &reader->operands,
      &reader->exprs,   &reader->terms,   &reader->codes,   &reader->variables, &reader->scope,
      &reader->loops,   &reader->names,   &reader->named};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    growing_free(arrays[i]);
  lookup_free(&reader->name_table);
  free(reader->scratch);
  csv_free(&reader->csv);
  arena_free(&reader->arena);
  free(reader);
}

enum vinci_status vinci_trace_parse(const char *name, const char *text, size_t length,
                                    const vinci_soc *soc, vinci_trace **out,
                                    struct vinci_diag *diag) {
  *out = NULL;
  struct trace_reader *reader = calloc(1, sizeof *reader);
  if (!reader)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory reading the trace");
  enum vinci_status status = reader_open(reader, name, soc, diag);
  size_t mark = file_text_mark(text, length);
  size_t used;
  if (status == VINCI_OK)
    status = read_lines(reader, text + mark, length - mark, true, &used);
  if (status == VINCI_OK)
    status = check_end(reader);
  if (status == VINCI_OK)
    status = finish(reader, digest_bytes(DIGEST_SEED, text, length), out);
  reader_close(reader);
  return status;
}

/* ---- files ---------------------------------------------------------------- */

enum { READ_BYTES = 64 * 1024, BUFFER_BYTES = TRACE_LINE_BYTES_MAX + 2 + READ_BYTES };

static enum vinci_status fail_file(struct trace_reader *reader, const char *what) {
  struct diag_position whole = {.path = reader->path};
  return diag_error_at(reader->diag, diag_status_of(errno), whole, "cannot %s: %s", what,
                       strerror(errno));
}

/* Feeds a file block by block; what is left of a line moves to the front of the buffer. */
static enum vinci_status read_blocks(struct trace_reader *reader, FILE *file, char *buffer,
                                     uint64_t *digest) {
  size_t held = 0;
  bool first = true, last = false;
  while (!last) {
    size_t got = fread(buffer + held, 1, READ_BYTES, file);
    if (ferror(file))
      return fail_file(reader, "read");
    *digest = digest_bytes(*digest, buffer + held, got);
    held += got;
    last = got < READ_BYTES;
    size_t skip = first ? file_text_mark(buffer, held) : 0;
    size_t used;
    first = false;
    enum vinci_status status = read_lines(reader, buffer + skip, held - skip, last, &used);
    if (status != VINCI_OK)
      return status;
    used += skip;
    memmove(buffer, buffer + used, held - used);
    held -= used;
  }
  return VINCI_OK;
}

static enum vinci_status read_file(struct trace_reader *reader, const char *path,
                                   uint64_t *digest) {
  bool standard = strcmp(path, "-") == 0;
  FILE *file = standard ? stdin : fopen(path, "rb");
  if (!file)
    return fail_file(reader, "open");
  char *buffer = malloc(BUFFER_BYTES);
  enum vinci_status status =
      buffer ? read_blocks(reader, file, buffer, digest) : trace_no_memory(reader);
  free(buffer);
  if (!standard)
    fclose(file);
  return status;
}

enum vinci_status vinci_trace_load(const char *path, const vinci_soc *soc, vinci_trace **out,
                                   struct vinci_diag *diag) {
  *out = NULL;
  struct trace_reader *reader = calloc(1, sizeof *reader);
  if (!reader)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory reading the trace");
  uint64_t digest = DIGEST_SEED;
  const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
  enum vinci_status status = reader_open(reader, name, soc, diag);
  if (status == VINCI_OK)
    status = read_file(reader, path, &digest);
  if (status == VINCI_OK)
    status = check_end(reader);
  if (status == VINCI_OK)
    status = finish(reader, digest, out);
  reader_close(reader);
  return status;
}

void vinci_trace_free(vinci_trace *trace) {
  if (!trace)
    return;
  if (trace->source)
    trace->source->free(trace->source);
  struct arena arena = trace->arena; /* holds the trace itself */
  arena_free(&arena);
}
