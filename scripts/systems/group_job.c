/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of several devices for callers of the library: opens the system, runs, frees. */
#include "core/base/diag.h"
#include "core/result/proven.h"
#include "core/vinci_group.h"
#include "devices/flow/text.h"
#include "scripts/systems/group_host.h"

static struct group_text_turns turns_of(const struct vinci_group_options *options,
                                        struct proven_list *levers) {
  return (struct group_text_turns){.algorithms = options->algorithms,
                                   .algorithm_count = options->algorithm_count,
                                   .bucket_bytes = options->bucket_bytes,
                                   .levers = levers};
}

static enum vinci_status check(const struct vinci_group_options *options, struct vinci_diag *diag) {
  if (options->struct_size == sizeof *options)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE, "struct_size of the options of a job is %zu, not %zu",
                    options->struct_size, sizeof *options);
}

enum vinci_status vinci_group_levers(const char *name, const char *text, size_t length,
                                     const struct vinci_group_options *options,
                                     bool (*visit)(void *context, const struct vinci_proven *lever),
                                     void *context, struct vinci_diag *diag) {
  static const struct vinci_group_options usual = {.struct_size = sizeof usual};
  const struct vinci_group_options *wanted = options ? options : &usual;
  struct group_opening opening = {.system = wanted->system,
                                  .data = wanted->data,
                                  .sets = wanted->sets,
                                  .set_count = wanted->set_count};
  struct arena arena = {0};
  struct group_result found;
  uint32_t ranks;
  struct proven_list *levers = ARENA_ARRAY(&arena, struct proven_list, 1);
  const struct group_text_turns turns = turns_of(wanted, levers);
  enum vinci_status status = check(wanted, diag);
  if (status == VINCI_OK && !levers)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    status = group_run_text(name, text, length, group_opening_find, &opening, &turns, &arena,
                            &ranks, &found, diag);
  if (status == VINCI_OK)
    proven_visit(levers, visit, context);
  group_opening_free(&opening);
  arena_free(&arena);
  return status;
}

enum vinci_status vinci_group_run(const char *name, const char *text, size_t length,
                                  const struct vinci_group_options *options,
                                  bool (*visit)(void *context, const struct vinci_group_rank *rank),
                                  void *context, struct vinci_group_result *result,
                                  struct vinci_diag *diag) {
  static const struct vinci_group_options usual = {.struct_size = sizeof usual};
  const struct vinci_group_options *wanted = options ? options : &usual;
  struct group_opening opening = {.system = wanted->system,
                                  .data = wanted->data,
                                  .sets = wanted->sets,
                                  .set_count = wanted->set_count};
  struct arena arena = {0};
  struct group_result found;
  uint32_t ranks = 0;
  *result = (struct vinci_group_result){0};
  const struct group_text_turns turns = turns_of(wanted, NULL);
  enum vinci_status status = check(wanted, diag);
  if (status == VINCI_OK)
    status = group_run_text(name, text, length, group_opening_find, &opening, &turns, &arena,
                            &ranks, &found, diag);
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
  group_opening_free(&opening);
  arena_free(&arena);
  return status;
}
