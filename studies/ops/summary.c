/* SPDX-License-Identifier: Apache-2.0 */
/* list.json: what there is to know of a list beside its table. */
#include "studies/ops/ops.h"
#include "traces/export/export.h"

enum { LIST_SCHEMA = 1 };

static enum vinci_status write(const void *context, FILE *out, struct vinci_diag *diag) {
  const struct ops_summary *summary = context;
  struct json_writer json;
  bool weighted = false;
  for (size_t i = 0; i < summary->list->count; i++)
    weighted |= summary->list->rows[i].weight != 1;
  json_start(&json, out);
  json_object(&json, NULL, false);
  json_number(&json, "schema", LIST_SCHEMA);
  json_text(&json, "model_revision", vinci_model_revision());
  json_number(&json, "operators", summary->list->count);
  json_number(&json, "ok", summary->ends[OPS_OK]);
  json_number(&json, "unsupported", summary->ends[OPS_UNSUPPORTED]);
  json_number(&json, "failed",
              summary->ends[OPS_FAILED] + summary->ends[OPS_LIMIT] + summary->ends[OPS_CRASHED]);
  json_bool(&json, "weighted", weighted);
  json_unread(&json, &summary->list->unread, summary->types);
  json_end(&json);
  fputc('\n', out);
  return export_flush(out, "list.json", diag);
}

enum vinci_status ops_write_summary(const char *folder, const struct ops_summary *summary,
                                    struct vinci_diag *diag) {
  return export_file(folder, "list.json", write, summary, diag);
}
