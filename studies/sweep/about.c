/* SPDX-License-Identifier: Apache-2.0 */
/* DIR/study.json: what the points of a study have in common, for the title of its page. */
#include <limits.h>

#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "studies/sweep/sweep.h"

struct about {
  const struct sweep_study *study;
  const char *list;
};

static void write_text(FILE *out, const char *key, const char *text) {
  if (!text)
    return;
  fprintf(out, ",\n  \"%s\": ", key);
  json_write_plain(out, text);
}

static void write_about(void *context, FILE *out) {
  const struct about *about = context;
  const struct run_spec *spec = &about->study->spec;
  fputs("{\n  \"schema\": 1", out);
  write_text(out, "model_revision", vinci_model_revision());
  write_text(out, "chip", spec->soc);
  write_text(out, "list", about->list);
  write_text(out, "memory", spec->models.memory);
  write_text(out, "network", spec->models.network);
  write_text(out, "l2", spec->models.l2);
  fputs(",\n  \"set\": [", out);
  for (size_t i = 0; i < spec->set_count; i++) {
    fputs(i ? ", " : "", out);
    json_write_plain(out, spec->sets[i]);
  }
  fputs("]\n}\n", out);
}

enum vinci_status sweep_write_about(const struct sweep_study *study, const char *list,
                                    const char *folder, struct vinci_diag *diag) {
  char path[PATH_MAX];
  struct about about = {study, list};
  if (snprintf(path, sizeof path, "%s/study.json", folder) >= (int)sizeof path)
    return diag_error(diag, VINCI_E_IO, "the name of the result folder is too long");
  return file_replace(path, write_about, &about, diag);
}
