/* SPDX-License-Identifier: Apache-2.0 */
/* Header rows of a trace: trace, kernel and stream; tensor and buffer are in objects.c. */
#include <string.h>

#include "traces/format/keys.h"
#include "traces/format/known_files.h"

/* ---- trace ---------------------------------------------------------------- */

static enum vinci_status trace_row(struct trace_reader *reader) {
  enum { VERSION, KEYS };
  static const struct trace_key keys[KEYS] = {{"version", true}};
  struct trace_values values;
  int64_t version = 0;
  if (reader->version_seen)
    return trace_fail(reader, 0, 0, "second trace row; a file has one, the first");
  enum vinci_status status = trace_keys(reader, keys, KEYS, &values);
  if (status == VINCI_OK)
    status = trace_value_number(reader, &values, VERSION, 1, INT64_MAX, &version);
  if (status != VINCI_OK)
    return status;
  if (version != TRACE_VERSION)
    return FAIL_VALUE(reader, &values, VERSION, "trace version %lld, this program reads version %d",
                      (long long)version, TRACE_VERSION);
  reader->version_seen = true;
  return VINCI_OK;
}

/* ---- kernel --------------------------------------------------------------- */

enum { KERNEL_NAME, KERNEL_ARCH, KERNEL_BLOCKS, KERNEL_VECTORS, KERNEL_KEYS };
static const struct trace_key kernel_keys[KERNEL_KEYS] = {
    {"name", true}, {"arch", true}, {"blocks", true}, {"vectors_per_cube", false}};

static const char *arch_at(const void *context, size_t index) {
  (void)context;
  return arch_name((enum arch)index);
}

static enum vinci_status kernel_arch(struct trace_reader *reader, const struct trace_values *values,
                                     struct program_kernel *kernel) {
  size_t arch = arch_by_name(trace_value_text(reader, values, KERNEL_ARCH));
  enum vinci_status status = VINCI_OK;
  if (arch == ARCH_COUNT)
    status =
        trace_value_word(reader, values, KERNEL_ARCH, "architecture", arch_at, ARCH_COUNT, &arch);
  if (status != VINCI_OK)
    return status;
  kernel->arch = (enum arch)arch;
  if (kernel->arch != reader->soc->arch) {
    FAIL_VALUE(reader, values, KERNEL_ARCH, "trace is compiled for %s, %s is %s",
               arch_name(kernel->arch), reader->soc->name, arch_name(reader->soc->arch));
    diag_hint(reader->diag, "choose a SoC of that architecture, or compile the operator again");
    return VINCI_E_INPUT;
  }
  return VINCI_OK;
}

static enum vinci_status kernel_row(struct trace_reader *reader) {
  struct trace_values values;
  struct program_kernel kernel = {.line = reader->line, .vectors_per_cube = 2};
  int64_t number = 0;
  enum vinci_status status = trace_keys(reader, kernel_keys, KERNEL_KEYS, &values);
  if (status == VINCI_OK &&
      strlen(trace_value_text(reader, &values, KERNEL_NAME)) > TRACE_KERNEL_NAME_BYTES_MAX)
    return FAIL_VALUE(reader, &values, KERNEL_NAME, "kernel name of more than %d bytes",
                      TRACE_KERNEL_NAME_BYTES_MAX);
  if (status == VINCI_OK)
    status = trace_value_copy(reader, &values, KERNEL_NAME, &kernel.name);
  if (status == VINCI_OK)
    status = kernel_arch(reader, &values, &kernel);
  if (status == VINCI_OK)
    status = trace_value_number(reader, &values, KERNEL_BLOCKS, 1, TRACE_BLOCKS_MAX, &number);
  kernel.blocks = (uint32_t)number;
  reader->vectors_given = values.field[KERNEL_VECTORS] != 0;
  if (status == VINCI_OK && reader->vectors_given) {
    status = trace_value_number(reader, &values, KERNEL_VECTORS, 1, 2, &number);
    kernel.vectors_per_cube = (uint32_t)number;
  }
  if (status != VINCI_OK)
    return status;
  kernel.first_tensor = (uint32_t)reader->tensors.count;
  kernel.first_buffer = (uint32_t)reader->buffers.count;
  struct program_kernel *at = GROWING_PUSH(&reader->kernels, struct program_kernel);
  if (!at)
    return trace_no_memory(reader);
  *at = kernel;
  reader->kernel = at;
  return VINCI_OK;
}

/* A mixed kernel's blocks need an AIC with as many AIV as the kernel says. */
static enum vinci_status check_mixed(struct trace_reader *reader) {
  struct program_kernel *kernel = reader->kernel;
  uint64_t cubes = soc_core_count(reader->soc, CORE_AIC);
  uint64_t vectors = soc_core_count(reader->soc, CORE_AIV);
  kernel->mixed = kernel->stream[CORE_AIC].present && kernel->stream[CORE_AIV].present;
  if (!kernel->mixed && reader->vectors_given)
    return trace_fail_line(reader, kernel->line,
                           "kernel \"%s\" gives vectors_per_cube but has not both an AIC and an "
                           "AIV stream",
                           kernel->name);
  if (kernel->mixed && cubes * kernel->vectors_per_cube > vectors)
    return trace_fail_line(reader, kernel->line,
                           "kernel \"%s\" wants %u AIV for each AIC, %s has %llu for %llu",
                           kernel->name, (unsigned)kernel->vectors_per_cube, reader->soc->name,
                           (unsigned long long)vectors, (unsigned long long)cubes);
  return VINCI_OK;
}

enum vinci_status trace_end_kernel(struct trace_reader *reader) {
  struct program_kernel *kernel = reader->kernel;
  if (!kernel)
    return VINCI_OK;
  bool any = false;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    any = any || kernel->stream[kind].present;
  if (!any) {
    trace_fail_line(reader, kernel->line, "kernel \"%s\" has no stream", kernel->name);
    diag_hint(reader->diag, "begin its instructions with a row like \"stream,core=AIV\"");
    return VINCI_E_INPUT;
  }
  enum vinci_status status = check_mixed(reader);
  reader->kernel = NULL;
  return status;
}

/* ---- stream --------------------------------------------------------------- */

static const char *core_at(const void *context, size_t index) {
  (void)context;
  return core_kind_name((enum core_kind)index);
}

/* "AIC or AIV": the core types of the SoC, for a hint. */
static void list_cores(const struct vinci_soc *soc, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (unsigned core = 0; core < CORE_KIND_COUNT && used < size; core++)
    if (soc_core_count(soc, (enum core_kind)core) > 0)
      used += (size_t)snprintf(out + used, size - used, "%s%s", used ? " or " : "",
                               core_kind_name((enum core_kind)core));
}

static enum vinci_status check_core(struct trace_reader *reader, const struct trace_values *values,
                                    enum core_kind core) {
  if (soc_core_count(reader->soc, core) == 0) {
    FAIL_VALUE(reader, values, 0, "%s has no %s cores", reader->soc->name, core_kind_name(core));
    char list[64];
    list_cores(reader->soc, list, sizeof list);
    diag_hint(reader->diag, "choose %s", list);
    return VINCI_E_INPUT;
  }
  if (reader->kernel->stream[core].present)
    return FAIL_VALUE(reader, values, 0, "second %s stream of kernel \"%s\"", core_kind_name(core),
                      reader->kernel->name);
  for (unsigned other = 0; other < CORE_KIND_COUNT; other++)
    if (reader->kernel->stream[other].present && (other == CORE_AICORE || core == CORE_AICORE))
      return FAIL_VALUE(reader, values, 0, "streams of %s and %s cannot be in one kernel",
                        core_kind_name((enum core_kind)other), core_kind_name(core));
  return VINCI_OK;
}

static enum vinci_status start_stream(struct trace_reader *reader, enum core_kind core) {
  static const char *const names[VAR_FIRST_FREE] = {
      [VAR_BLK] = "blk", [VAR_SUB] = "sub", [VAR_BLOCKS] = "blocks"};
  reader->variables.count = 0;
  const char **variables = growing_push(&reader->variables, VAR_FIRST_FREE, sizeof *variables);
  if (!variables)
    return trace_no_memory(reader);
  memcpy(variables, names, sizeof names);
  reader->scope.count = 0;
  reader->loops.count = 0;
  reader->core = core;
  reader->stream_serial++;
  reader->stream = &reader->kernel->stream[core];
  *reader->stream = (struct program_stream){
      .present = true, .line = reader->line, .first_row = reader->rows.count};
  return VINCI_OK;
}

/* Of an error and its hint the first ones stay: what is known of a core type under another name
 * goes before the nearest name. */
static enum vinci_status stream_core(struct trace_reader *reader, const struct trace_values *values,
                                     size_t *core) {
  static const char what[] = "core type";
  const char *text = trace_value_text(reader, values, 0);
  bool known = false;
  for (size_t i = 0; i < CORE_KIND_COUNT; i++)
    known = known || strcmp(core_at(NULL, i), text) == 0;
  if (!known) {
    FAIL_VALUE(reader, values, 0, "unknown %s \"%s\"", what, trace_clip(text, strlen(text)).text);
    trace_hint_core(reader, text);
  }
  return trace_value_word(reader, values, 0, what, core_at, CORE_KIND_COUNT, core);
}

static enum vinci_status stream_row(struct trace_reader *reader) {
  static const struct trace_key keys[] = {{"core", true}};
  struct trace_values values;
  size_t core = 0;
  enum vinci_status status = trace_keys(reader, keys, 1, &values);
  if (status == VINCI_OK)
    status = stream_core(reader, &values, &core);
  if (status == VINCI_OK)
    status = check_core(reader, &values, (enum core_kind)core);
  return status == VINCI_OK ? start_stream(reader, (enum core_kind)core) : status;
}

enum vinci_status trace_end_stream(struct trace_reader *reader) {
  struct program_stream *stream = reader->stream;
  if (!stream)
    return VINCI_OK;
  if (reader->loops.count > 0) {
    const struct trace_loop *loop =
        GROWING_AT(&reader->loops, struct trace_loop, reader->loops.count - 1);
    uint32_t line = GROWING_AT(&reader->rows, struct program_row, loop->row)->line;
    trace_fail_line(reader, line, "the loop is not closed");
    diag_hint(reader->diag, "every loop row needs an endloop row in the same stream");
    return VINCI_E_INPUT;
  }
  stream->row_count = reader->rows.count - stream->first_row;
  stream->var_count = (uint32_t)reader->variables.count;
  stream->var_names = ARENA_ARRAY(&reader->arena, const char *, stream->var_count);
  if (!stream->var_names)
    return trace_no_memory(reader);
  memcpy(stream->var_names, reader->variables.data, stream->var_count * sizeof *stream->var_names);
  reader->stream = NULL;
  return VINCI_OK;
}

/* ---- all ------------------------------------------------------------------ */

/* Rows that end the stream before them; the kernel row ends the kernel too. */
static enum vinci_status end_before(struct trace_reader *reader, bool kernel) {
  enum vinci_status status = trace_end_stream(reader);
  return status == VINCI_OK && kernel ? trace_end_kernel(reader) : status;
}

static enum vinci_status check_place(struct trace_reader *reader, bool object) {
  const char *row = reader->fields[0].text;
  if (!reader->kernel) {
    trace_fail(reader, 0, 0, "%s row before any kernel row", row);
    diag_hint(reader->diag, "a row like \"kernel,name=add,arch=dav-c220,blocks=8\" comes first");
    return VINCI_E_INPUT;
  }
  if (object && reader->stream)
    return trace_fail(reader, 0, 0, "%s row inside a stream; it belongs before the first stream",
                      row);
  return VINCI_OK;
}

enum vinci_status trace_header_row(struct trace_reader *reader, bool *done) {
  const char *row = reader->fields[0].text;
  enum vinci_status status = VINCI_OK;
  *done = true;
  if (strcmp(row, "trace") == 0)
    return trace_row(reader);
  if (!reader->version_seen) {
    if (known_file_refuse(reader->path, "a trace", reader->diag))
      return VINCI_E_INPUT;
    trace_fail(reader, 0, 0, "the first row is not a trace row");
    diag_hint(reader->diag, "the first row is \"trace,version=%d\"", TRACE_VERSION);
    return VINCI_E_INPUT;
  }
  if (strcmp(row, "kernel") == 0) {
    status = end_before(reader, true);
    return status == VINCI_OK ? kernel_row(reader) : status;
  }
  if (strcmp(row, "stream") == 0) {
    status = check_place(reader, false);
    if (status == VINCI_OK)
      status = end_before(reader, false);
    return status == VINCI_OK ? stream_row(reader) : status;
  }
  if (strcmp(row, "tensor") == 0 || strcmp(row, "buffer") == 0) {
    status = check_place(reader, true);
    if (status != VINCI_OK)
      return status;
    return row[0] == 't' ? trace_tensor_row(reader) : trace_buffer_row(reader);
  }
  *done = false;
  return VINCI_OK;
}
