/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program computes what another computes: both run with the same values. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/tune/values.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "networks/run/net_values.h"

/* Schedules add in different orders; results of fp16 differ in their last bits. */
static const double absolute = 0.01, relative = 0.01;
enum { SEED = 1, PATH_BYTES = 4096 };

static enum vinci_status execute(const vinci_soc *soc, const vinci_trace *trace,
                                 vinci_values **values, struct vinci_diag *diag) {
  enum vinci_status status = vinci_values_create(soc, trace, values, diag);
  if (status == VINCI_OK)
    vinci_values_fill(*values, SEED);
  return status == VINCI_OK ? vinci_values_run(*values, NULL, NULL, diag) : status;
}

/* Saves or compares what each result holds; the file goes at once. */
static enum vinci_status compare_tensor(const vinci_values *expected, const vinci_values *values,
                                        const char *tensor, const char *path,
                                        struct vinci_diag *diag) {
  struct vinci_comparison comparison;
  enum vinci_status status = vinci_values_save(expected, tensor, path, diag);
  if (status == VINCI_OK)
    status = vinci_values_expect(values, tensor, path, absolute, relative, &comparison, diag);
  unlink(path);
  return status;
}

/* All results of a run against those of another; *count of them. */
static enum vinci_status compare_results(const vinci_values *expected, const vinci_values *values,
                                         const char *path, size_t *count, struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < vinci_values_count(expected); i++) {
    struct vinci_tensor tensor;
    if (!vinci_values_tensor(expected, i, &tensor) || !tensor.output)
      continue;
    status = compare_tensor(expected, values, tensor.name, path, diag);
    ++*count;
  }
  return status;
}

enum vinci_status tune_compare_values(const vinci_soc *soc, const vinci_trace *expected_trace,
                                      const vinci_trace *trace, struct vinci_diag *diag) {
  vinci_values *expected = NULL, *values = NULL;
  char folder[PATH_BYTES / 2], path[PATH_BYTES];
  size_t count = 0;
  enum vinci_status status = folder_make_temporary("vinci-values", folder, sizeof folder, diag);
  if (status != VINCI_OK)
    return status;
  snprintf(path, sizeof path, "%s/expected.npy", folder);
  status = execute(soc, expected_trace, &expected, diag);
  if (status == VINCI_OK)
    status = execute(soc, trace, &values, diag);
  if (status == VINCI_OK)
    status = compare_results(expected, values, path, &count, diag);
  vinci_values_free(expected);
  vinci_values_free(values);
  folder_remove(folder);
  return status;
}

/* ---- networks ------------------------------------------------------------------------------- */

/* Inputs by name: plans put tensors in another order, by which random values differ. */
static enum vinci_status give_same(const vinci_values *from, vinci_values *to, const char *path,
                                   struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < vinci_values_count(from); i++) {
    struct vinci_tensor tensor;
    if (!vinci_values_tensor(from, i, &tensor) || !tensor.input)
      continue;
    status = vinci_values_save(from, tensor.name, path, diag);
    if (status == VINCI_OK)
      status = vinci_values_load(to, tensor.name, path, diag);
    unlink(path);
  }
  return status;
}

enum vinci_status tune_compare_networks(const vinci_soc *soc, const struct tune_network *expected,
                                        const struct tune_network *network, size_t *results,
                                        struct vinci_diag *diag) {
  struct net_values a = {0}, b = {0};
  char folder[PATH_BYTES / 2], path[PATH_BYTES];
  *results = 0;
  enum vinci_status status = folder_make_temporary("vinci-values", folder, sizeof folder, diag);
  if (status != VINCI_OK)
    return status;
  snprintf(path, sizeof path, "%s/values.npy", folder);
  status = net_values_create(expected->graph, soc, expected->plan, &a, diag);
  if (status == VINCI_OK)
    status = net_values_create(network->graph, soc, network->plan, &b, diag);
  if (status == VINCI_OK) {
    vinci_values_fill(a.values, SEED);
    status = give_same(a.values, b.values, path, diag);
  }
  if (status == VINCI_OK)
    status = net_values_run(&a, NULL, NULL, diag);
  if (status == VINCI_OK)
    status = net_values_run(&b, NULL, NULL, diag);
  if (status == VINCI_OK)
    status = compare_results(a.values, b.values, path, results, diag);
  net_values_free(&a);
  net_values_free(&b);
  folder_remove(folder);
  return status;
}
