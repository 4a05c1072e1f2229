/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of several devices for callers of the library: opens the system, runs, frees. */
#include "core/base/diag.h"
#include "core/vinci_group.h"
#include "devices/flow/text.h"
#include "scripts/systems/group_host.h"

struct opening {
  const struct vinci_group_options *options;
  struct group_description *group;
  vinci_soc *soc; /* of jobs with operators */
};

static enum vinci_status find_system(void *context, const char *name, uint32_t devices,
                                     const struct group_system **out, const vinci_soc **soc,
                                     struct vinci_diag *diag) {
  struct opening *opening = context;
  const struct vinci_group_options *options = opening->options;
  const char *wanted = options->system ? options->system : name;
  if (!wanted) {
    (void)diag_error(diag, VINCI_E_USAGE, "the job names no system of devices");
    diag_hint(diag, "give the option system, or system=NAME in the row job");
    return VINCI_E_USAGE;
  }
  enum vinci_status status = group_host_open(wanted, options->data, options->sets,
                                             options->set_count, devices, &opening->group, diag);
  if (status == VINCI_OK && soc)
    status = vinci_soc_load(opening->group->chip, options->data, &opening->soc, diag);
  if (status != VINCI_OK)
    return status;
  *out = &opening->group->system;
  if (soc)
    *soc = opening->soc;
  return VINCI_OK;
}

enum vinci_status vinci_group_run(const char *name, const char *text, size_t length,
                                  const struct vinci_group_options *options,
                                  bool (*visit)(void *context, const struct vinci_group_rank *rank),
                                  void *context, struct vinci_group_result *result,
                                  struct vinci_diag *diag) {
  static const struct vinci_group_options usual = {.struct_size = sizeof usual};
  struct opening opening = {.options = options ? options : &usual};
  struct arena arena = {0};
  struct group_result found;
  uint32_t ranks = 0;
  *result = (struct vinci_group_result){0};
  if (opening.options->struct_size != sizeof usual)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the options of a job is %zu, not %zu",
                      opening.options->struct_size, sizeof usual);
  enum vinci_status status =
      group_run_text(name, text, length, find_system, &opening, &arena, &ranks, &found, diag);
  if (status == VINCI_OK)
    *result = (struct vinci_group_result){.end_ps = found.end_ps,
                                          .transfers = found.transfers,
                                          .moved_bytes = found.transfer_bytes,
                                          .ranks = ranks};
  for (uint32_t i = 0; status == VINCI_OK && visit && i < ranks; i++) {
    const struct group_rank_result *rank = &found.ranks[i];
    const struct vinci_group_rank told = {.computing_ps = rank->work_ps,
                                          .exposed_ps = rank->exposed_ps,
                                          .idle_ps = rank->idle_ps,
                                          .overlapped_ps = rank->comm_ps - rank->exposed_ps,
                                          .slowed_ps = rank->slowed_ps};
    if (!visit(context, &told))
      break;
  }
  group_host_free(opening.group);
  vinci_soc_free(opening.soc);
  arena_free(&arena);
  return status;
}
