/* SPDX-License-Identifier: Apache-2.0 */
/* critical.csv: the parts of the critical path, from which `vinci diff` explains kept results. */
#include <inttypes.h>

#include "core/base/cells.h"
#include "core/result/explain.h"
#include "traces/export/export.h"

/* Rests and instructions sum to total_cycles; the causes of a pipe sum to its instructions. */
enum vinci_status export_critical_csv(const struct vinci_result *result, FILE *out,
                                      struct vinci_diag *diag) {
  static const char *const kinds[] = {
      [EXPLAIN_REST] = "rest", [EXPLAIN_CAUSE] = "cause", [EXPLAIN_INSTRUCTION] = "instruction"};
  struct critical_path path;
  struct explanation parts = {0};
  enum vinci_status status = critical_find(result, &path, diag);
  if (status == VINCI_OK && !explain_path(&parts, EXPLAIN_A, &path))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  fputs("kind,group,name,count,cycles\n", out);
  for (size_t i = 0; status == VINCI_OK && i < parts.count; i++) {
    const struct explain_item *item = &parts.items[i];
    fprintf(out, "%s,", kinds[item->kind]);
    cell_write(out, item->group);
    fputc(',', out);
    cell_write(out, item->name);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 "\n", item->count[EXPLAIN_A], item->cycles[EXPLAIN_A]);
  }
  explain_free(&parts);
  return status;
}
