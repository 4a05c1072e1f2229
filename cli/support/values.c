/* SPDX-License-Identifier: Apache-2.0 */
/* vinci run --values: inputs, execution, outputs and comparisons. */
#include "cli/support/values.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/support/cli.h"
#include "cli/support/monitor.h"
#include "core/base/decimal.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "traces/export/export.h"

enum { TENSOR_NAME_MAX = 64 };

/* ---- options ------------------------------------------------------------------------ */

static enum vinci_status read_tolerance(const char *option, const char *text, double *number,
                                        struct vinci_diag *diag) {
  if (!text)
    return VINCI_OK;
  if (decimal_parse(text, number) && *number >= 0)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "--%s is a number of at least 0, such as 1e-3, not '%s'",
                    option, text);
}

static enum vinci_status read_fill(struct values_settings *settings, struct vinci_diag *diag) {
  static const char random[] = "random:";
  const char *text = settings->fill;
  if (!text || strcmp(text, "zero") == 0)
    return VINCI_OK;
  char *end = NULL;
  errno = 0;
  if (strncmp(text, random, strlen(random)) == 0 && text[strlen(random)] >= '0' &&
      text[strlen(random)] <= '9')
    settings->fill_seed = strtoull(text + strlen(random), &end, 10);
  settings->fills = true;
  if (end && *end == '\0' && errno == 0)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "--fill is zero or random:SEED, not '%s'", text);
}

/* "NAME=FILE" in two. */
static enum vinci_status split(const char *option, const char *text, char name[TENSOR_NAME_MAX],
                               const char **file, struct vinci_diag *diag) {
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || equals[1] == '\0')
    return diag_error(diag, VINCI_E_USAGE, "--%s wants NAME=FILE.npy, not '%s'", option, text);
  if (equals - text >= TENSOR_NAME_MAX)
    return diag_error(diag, VINCI_E_USAGE, "--%s: no tensor has a name of %d bytes", option,
                      (int)(equals - text));
  memcpy(name, text, (size_t)(equals - text));
  name[equals - text] = '\0';
  *file = equals + 1;
  return VINCI_OK;
}

static enum vinci_status check_list(const char *option, const struct text_list *list,
                                    size_t trace_count, struct vinci_diag *diag) {
  char name[TENSOR_NAME_MAX];
  const char *file;
  if (list->count > 0 && trace_count > 1)
    return diag_error(diag, VINCI_E_USAGE, "--%s names a tensor of one trace, %zu are given",
                      option, trace_count);
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; i < list->count && status == VINCI_OK; i++)
    status = split(option, list->items[i], name, &file, diag);
  return status;
}

enum vinci_status values_check(struct values_settings *settings, size_t trace_count,
                               struct vinci_diag *diag) {
  enum vinci_status status = read_tolerance("atol", settings->atol, &settings->atol_number, diag);
  if (status == VINCI_OK)
    status = read_tolerance("rtol", settings->rtol, &settings->rtol_number, diag);
  if (status == VINCI_OK)
    status = read_fill(settings, diag);
  if (status == VINCI_OK)
    status = check_list("input", &settings->inputs, trace_count, diag);
  if (status == VINCI_OK)
    status = check_list("expect", &settings->expected, trace_count, diag);
  if (settings->inputs.count > 0 || settings->expected.count > 0 || settings->fill)
    settings->keep = true;
  return status;
}

void values_settings_free(struct values_settings *settings) {
  text_list_free(&settings->inputs);
  text_list_free(&settings->expected);
}

/* ---- before the run ------------------------------------------------------------------ */

/* Inputs that neither an option nor the trace gives values. */
static enum vinci_status fill_inputs(const struct values_settings *settings, vinci_values *values,
                                     struct vinci_diag *diag) {
  if (settings->fills)
    vinci_values_fill(values, settings->fill_seed);
  struct vinci_tensor tensor;
  for (size_t i = 0; i < vinci_values_count(values); i++) {
    if (!vinci_values_tensor(values, i, &tensor) || !tensor.input || tensor.loaded)
      continue;
    if (settings->fill) {
      vinci_values_zero(values);
      return VINCI_OK;
    }
    enum vinci_status status =
        diag_error(diag, VINCI_E_USAGE, "input tensor \"%s\" has no values", tensor.name);
    diag_hint(diag, "--input %s=FILE.npy, file= in its row of the trace, or --fill random:1",
              tensor.name);
    return status;
  }
  return VINCI_OK;
}

enum vinci_status values_give(const struct values_settings *settings, vinci_values *values,
                              struct vinci_diag *diag) {
  char name[TENSOR_NAME_MAX];
  const char *file;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; i < settings->inputs.count && status == VINCI_OK; i++) {
    status = split("input", settings->inputs.items[i], name, &file, diag);
    if (status == VINCI_OK)
      status = vinci_values_load(values, name, file, diag);
  }
  if (status == VINCI_OK)
    status = vinci_values_load_files(values, diag);
  return status == VINCI_OK ? fill_inputs(settings, values, diag) : status;
}

enum vinci_status values_prepare(const struct values_settings *settings, const vinci_soc *soc,
                                 const vinci_trace *trace, vinci_values **out,
                                 struct vinci_diag *diag) {
  *out = NULL;
  if (!settings->keep)
    return VINCI_OK;
  enum vinci_status status = vinci_values_create(soc, trace, out, diag);
  return status == VINCI_OK ? values_give(settings, *out, diag) : status;
}

/* ---- the run and after it --------------------------------------------------------------- */

static enum vinci_status save_outputs(const vinci_values *values, const char *folder,
                                      struct vinci_diag *diag) {
  char path[PATH_MAX];
  struct vinci_tensor tensor;
  int length = snprintf(path, sizeof path, "%s/tensors", folder);
  if (length < 0 || (size_t)length + TENSOR_NAME_MAX + sizeof "/.npy" > sizeof path)
    return diag_error(diag, VINCI_E_IO, "the name of the result folder is too long");
  enum vinci_status status = folder_make(path, diag);
  for (size_t i = 0; i < vinci_values_count(values) && status == VINCI_OK; i++) {
    if (!vinci_values_tensor(values, i, &tensor) || !tensor.output)
      continue;
    snprintf(path + length, sizeof path - (size_t)length, "/%s.npy", tensor.name);
    status = vinci_values_save(values, tensor.name, path, diag);
  }
  return status;
}

/* All comparisons; the first difference stays in the diagnostic. */
static enum vinci_status compare_outputs(const struct values_settings *settings,
                                         const vinci_values *values, FILE *report,
                                         struct vinci_diag *diag) {
  enum vinci_status first = VINCI_OK;
  for (size_t i = 0; i < settings->expected.count; i++) {
    char name[TENSOR_NAME_MAX];
    const char *file;
    struct vinci_comparison comparison;
    struct vinci_diag own = {0};
    enum vinci_status status = split("expect", settings->expected.items[i], name, &file, &own);
    if (status == VINCI_OK)
      status = vinci_values_expect(values, name, file, settings->atol_number, settings->rtol_number,
                                   &comparison, &own);
    if (status == VINCI_OK && report)
      fprintf(report, "Values    %s is as expected: %" PRIu64 " elements, largest error %g\n", name,
              comparison.elements, comparison.largest_error);
    if (status == VINCI_OK)
      continue;
    if (first == VINCI_OK)
      *diag = own;
    else
      (void)cli_fail(&own);
    first = first == VINCI_OK ? status : first;
  }
  return first;
}

enum vinci_status values_finish(const struct values_settings *settings, const vinci_values *values,
                                const char *folder, FILE *report, struct monitor *monitor,
                                const char *closing, struct vinci_diag *diag) {
  enum vinci_status status = folder ? save_outputs(values, folder, diag) : VINCI_OK;
  if (status != VINCI_OK || settings->expected.count == 0)
    return status;
  monitor_begin_reading(monitor, "the values", "were compared", closing);
  status = compare_outputs(settings, values, report, diag);
  monitor_end_reading();
  return status;
}

enum vinci_status values_execute(const struct values_settings *settings, vinci_values *values,
                                 const char *folder, FILE *report, struct monitor *monitor,
                                 const char *closing, struct vinci_diag *diag) {
  enum vinci_status status = vinci_values_run(values, monitor_values_progress, monitor, diag);
  monitor_clear(monitor);
  if (status == VINCI_E_LIMIT) {
    *diag = (struct vinci_diag){0};
    return diag_error(diag, status, "%s before all values were computed", monitor_reason());
  }
  return status == VINCI_OK
             ? values_finish(settings, values, folder, report, monitor, closing, diag)
             : status;
}
