/* SPDX-License-Identifier: Apache-2.0 */
/* The folder OPPROF_* with its files. */
#include "traces/export/opprof/opprof.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "traces/export/export.h"

enum { NAME_LETTERS = 16, LETTER_BITS = 4 };

/* What a file of the folder is made from. */
struct part {
  const struct vinci_result *result;
  const struct timeline_choice *choice;
  const struct exe_table *table;
  uint32_t core;
};

static enum vinci_status write_trace(const void *context, FILE *out, struct vinci_diag *diag) {
  const struct part *part = context;
  return export_chrome(part->result, part->choice, out, diag);
}

static enum vinci_status write_visualize(const void *context, FILE *out, struct vinci_diag *diag) {
  const struct part *part = context;
  return export_visualize(part->result, part->choice, out, diag);
}

static enum vinci_status write_code(const void *context, FILE *out, struct vinci_diag *diag) {
  const struct part *part = context;
  (void)diag;
  exe_write_code(part->table, part->result, part->core, out);
  return VINCI_OK;
}

static enum vinci_status write_instructions(const void *context, FILE *out,
                                            struct vinci_diag *diag) {
  const struct part *part = context;
  (void)diag;
  exe_write_instructions(part->table, part->result, part->core, out);
  return VINCI_OK;
}

static enum vinci_status write_tables(const struct part *part, const char *folder, const char *core,
                                      struct vinci_diag *diag) {
  struct timeline_choice alone = *part->choice;
  struct exe_table table;
  char name[80];
  alone.one_core = true;
  alone.core = part->core;
  if (!exe_find(&table, part->result, part->core))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  struct part own = {part->result, &alone, &table, part->core};
  snprintf(name, sizeof name, "%s_code_exe.csv", core);
  enum vinci_status status = export_file(folder, name, write_code, &own, diag);
  snprintf(name, sizeof name, "%s_instr_exe.csv", core);
  if (status == VINCI_OK)
    status = export_file(folder, name, write_instructions, &own, diag);
  if (status == VINCI_OK)
    status = export_file(folder, "trace.json", write_trace, &own, diag);
  exe_free(&table);
  return status;
}

static enum vinci_status write_core(const struct part *part, const char *simulator,
                                    struct vinci_diag *diag) {
  char folder[PATH_MAX], core[48];
  result_core_name(&part->result->cores[part->core], core, sizeof core);
  if (snprintf(folder, sizeof folder, "%s/%s", simulator, core) >= (int)sizeof folder) {
    errno = ENAMETOOLONG;
    return file_error(diag, simulator, "write into the folder");
  }
  enum vinci_status status = folder_make(folder, diag);
  return status == VINCI_OK ? write_tables(part, folder, core, diag) : status;
}

/* Letters for the digests of chip and input: equal runs have equal names. */
static void write_name(const struct vinci_result *result, char name[static NAME_LETTERS + 1]) {
  uint64_t digest =
      result->config_digest ^ (result->input_digest << 1 | result->input_digest >> 63);
  for (unsigned i = 0; i < NAME_LETTERS; i++)
    name[i] = (char)('A' + (digest >> LETTER_BITS * i & 0xf));
  name[NAME_LETTERS] = '\0';
}

enum vinci_status opprof_write(const struct vinci_result *result,
                               const struct timeline_choice *choice, const char *folder,
                               struct vinci_diag *diag) {
  char simulator[PATH_MAX], name[NAME_LETTERS + 1];
  write_name(result, name);
  if (snprintf(simulator, sizeof simulator, "%s/OPPROF_00000000000000_%s/simulator", folder,
               name) >= (int)sizeof simulator) {
    errno = ENAMETOOLONG;
    return file_error(diag, folder, "write into the folder");
  }
  struct timeline_choice vendor = *choice;
  vendor.vendor = true;
  struct part part = {.result = result, .choice = &vendor};
  enum vinci_status status = folder_make(simulator, diag);
  for (part.core = 0; status == VINCI_OK && part.core < result->core_count; part.core++)
    if (result->cores[part.core].blocks_run > 0 &&
        timeline_has_core(choice, result->cores[part.core].cluster))
      status = write_core(&part, simulator, diag);
  if (status == VINCI_OK)
    status = export_file(simulator, "trace.json", write_trace, &part, diag);
  if (status == VINCI_OK)
    status = export_file(simulator, "visualize_data.bin", write_visualize, &part, diag);
  return status;
}
