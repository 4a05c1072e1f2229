/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled kernels on the command line. */
#include "cli/support/kernel.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "kernels/source/source.h"

enum { PATH_BYTES = 4096, BLOCKS_MAX = 65535 };

/* "LIBRARY:KERNEL" in two; false when the word has another form. */
static bool split(const char *word, char path[PATH_BYTES], const char **kernel) {
  const char *colon = strrchr(word, ':');
  if (!colon || colon == word || colon[1] == '\0' || (size_t)(colon - word) >= PATH_BYTES)
    return false;
  memcpy(path, word, (size_t)(colon - word));
  path[colon - word] = '\0';
  *kernel = colon + 1;
  return true;
}

bool kernel_is_named(const char *word) {
  char path[PATH_BYTES];
  const char *kernel;
  return split(word, path, &kernel) && access(path, R_OK) == 0;
}

enum vinci_status kernel_check(const struct kernel_settings *settings,
                               const struct text_list *words, bool values,
                               struct vinci_diag *diag) {
  const char *option = settings->args.count > 0 ? "arg"
                       : settings->record       ? "record"
                       : settings->blocks       ? "blocks"
                       : settings->dcache       ? "dcache"
                                                : NULL;
  bool any = false;
  for (size_t i = 0; i < words->count; i++)
    any |= kernel_is_named(words->items[i]);
  if (any && settings->dcache && !values)
    return diag_error(diag, VINCI_E_USAGE, "--dcache needs --values");
  if (!option || any)
    return VINCI_OK;
  enum vinci_status status =
      diag_error(diag, VINCI_E_USAGE, "--%s needs LIBRARY:KERNEL, the library being there", option);
  diag_hint(diag, "`vinci cc` makes such libraries");
  return status;
}

static enum vinci_status read_blocks(const char *text, uint32_t *blocks, struct vinci_diag *diag) {
  uint64_t number = 1;
  bool whole = !text || decimal_whole(text, &number);
  *blocks = (uint32_t)number;
  if (whole && number >= 1 && number <= BLOCKS_MAX)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "--blocks of a kernel is 1 to %d, not '%s'", BLOCKS_MAX,
                    text);
}

static enum vinci_status record(const struct values_settings *asked, const vinci_soc *soc,
                                vinci_trace *trace, struct monitor *monitor,
                                struct vinci_diag *diag) {
  struct values_settings settings = *asked;
  vinci_values *values = NULL;
  settings.keep = true;
  if (!settings.fill)
    settings.fill = "zero";
  enum vinci_status status = values_prepare(&settings, soc, trace, &values, diag);
  if (status == VINCI_OK)
    status = source_record(trace, values, monitor_values_progress, monitor, diag);
  monitor_clear(monitor);
  vinci_values_free(values);
  return status;
}

struct written {
  const vinci_trace *trace;
  struct vinci_diag *diag;
  enum vinci_status status;
};

static void write_trace(void *context, FILE *out) {
  struct written *written = context;
  written->status = source_write(written->trace, out, written->diag);
}

/* Files of arguments count from the working folder, those of a trace from its own. */
static enum vinci_status place_files(const char *path, vinci_trace *trace,
                                     struct vinci_diag *diag) {
  char folder[PATH_BYTES], whole[2 * PATH_BYTES];
  if (!strchr(path, '/'))
    return VINCI_OK;
  if (!getcwd(folder, sizeof folder))
    return file_error(diag, ".", "find the working folder");
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    struct program_tensor *tensor = &trace->tensors[i];
    if (!tensor->file || tensor->file[0] == '/')
      continue;
    snprintf(whole, sizeof whole, "%s/%.4000s", folder, tensor->file);
    tensor->file = arena_strdup(&trace->arena, whole);
    if (!tensor->file)
      return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  return VINCI_OK;
}

static enum vinci_status write_record(const char *path, vinci_trace *trace,
                                      struct vinci_diag *diag) {
  struct written written = {.trace = trace, .diag = diag};
  if (!path)
    return VINCI_OK;
  enum vinci_status status = place_files(path, trace, diag);
  if (status == VINCI_OK)
    status = file_replace(path, write_trace, &written, diag);
  return written.status != VINCI_OK ? written.status : status;
}

void kernel_warn(const vinci_trace *trace) {
  const struct program_source *source = trace->source;
  for (uint32_t i = 0; source && i < source->cut_count; i++) {
    const struct program_row *row = &trace->rows[source->cuts[i].row];
    char text[256];
    program_cut_text(&source->cuts[i], (enum isa_op)row->op, text, sizeof text);
    fprintf(stderr, "%s:%u: warning: %s\n", trace->path, row->line, text);
  }
}

enum vinci_status kernel_load(const char *word, const struct kernel_settings *settings,
                              const struct values_settings *values, const vinci_soc *soc,
                              struct monitor *monitor, vinci_trace **out, struct vinci_diag *diag) {
  char path[PATH_BYTES];
  struct source_request request = {.path = path,
                                   .args = settings->args.items,
                                   .arg_count = settings->args.count,
                                   .wants_accesses = settings->checked,
                                   .apart = settings->apart,
                                   .wants_caches = settings->dcache};
  *out = NULL;
  if (!split(word, path, &request.kernel))
    return diag_error(diag, VINCI_E_USAGE, "a kernel is LIBRARY:NAME, not '%s'", word);
  enum vinci_status status = read_blocks(settings->blocks, &request.blocks, diag);
  if (status == VINCI_OK)
    status = source_load(soc, &request, out, diag);
  if (status == VINCI_OK)
    status = record(values, soc, *out, monitor, diag);
  if (status == VINCI_OK)
    status = write_record(settings->record, *out, diag);
  if (status == VINCI_OK)
    return VINCI_OK;
  vinci_trace_free(*out);
  *out = NULL;
  return status;
}
