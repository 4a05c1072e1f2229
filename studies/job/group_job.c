/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of several devices for callers of the library: opens the system, runs, frees. Work is timed
 * by the engine of lists (studies/ops). */
#include "core/base/diag.h"
#include "core/result/proven.h"
#include "core/vinci_group.h"
#include "devices/flow/text.h"
#include "devices/jobs/kernels.h"
#include "scripts/systems/group_host.h"
#include "studies/ops/order.h"

/* What the arena keeps of a run: what was found. levers NULL: not wanted. */
static enum vinci_status run_text(const char *name, const char *text, size_t length,
                                  const struct vinci_group_options *options,
                                  struct proven_list *levers, struct arena *arena, uint32_t *ranks,
                                  struct group_result *found, struct vinci_diag *diag) {
  static const struct vinci_group_options usual = {.struct_size = sizeof usual};
  const struct vinci_group_options *wanted = options ? options : &usual;
  if (wanted->struct_size != sizeof *wanted)
    return diag_error(diag, VINCI_E_USAGE, "struct_size of the options of a job is %zu, not %zu",
                      wanted->struct_size, sizeof *wanted);
  struct group_opening opening = {.system = wanted->system,
                                  .data = wanted->data,
                                  .sets = wanted->sets,
                                  .set_count = wanted->set_count};
  const struct job_kernel_options timed = {.memory = VINCI_MEMORY_FLAT,
                                           .detail = JOB_NO_RANK,
                                           .sequence = wanted->sequence,
                                           .library = wanted->library,
                                           .data = wanted->data,
                                           .engine = ops_order_run};
  const struct group_text_turns turns = {.algorithms = wanted->algorithms,
                                         .algorithm_count = wanted->algorithm_count,
                                         .bucket_bytes = wanted->bucket_bytes,
                                         .levers = levers,
                                         .timed = &timed};
  enum vinci_status status = group_run_text(name, text, length, group_opening_find, &opening,
                                            &turns, arena, ranks, found, diag);
  group_opening_free(&opening);
  return status;
}

enum vinci_status vinci_group_levers(const char *name, const char *text, size_t length,
                                     const struct vinci_group_options *options,
                                     bool (*visit)(void *context, const struct vinci_proven *lever),
                                     void *context, struct vinci_diag *diag) {
  struct arena arena = {0};
  struct group_result found;
  uint32_t ranks;
  struct proven_list *levers = ARENA_ARRAY(&arena, struct proven_list, 1);
  enum vinci_status status =
      levers ? run_text(name, text, length, options, levers, &arena, &ranks, &found, diag)
             : diag_error(diag, VINCI_E_NOMEM, "out of memory");
  if (status == VINCI_OK)
    proven_visit(levers, visit, context);
  arena_free(&arena);
  return status;
}

/* What the ranks are made of, to who visits them. held: room for a rank. */
static void visit_ranks(const struct group_result *found, uint32_t ranks,
                        struct vinci_group_held *held,
                        bool (*visit)(void *context, const struct vinci_group_rank *rank),
                        void *context) {
  for (uint32_t i = 0; i < ranks; i++) {
    const struct group_rank_result *rank = &found->ranks[i];
    const struct vinci_group_rank told = {.computing_ps = rank->work_ps,
                                          .exposed_ps = rank->exposed_ps,
                                          .idle_ps = rank->idle_ps,
                                          .overlapped_ps = rank->comm_ps - rank->exposed_ps,
                                          .slowed_ps = rank->slowed_ps,
                                          .peak_bytes = rank->peak_bytes,
                                          .peak_ps = rank->peak_ps,
                                          .held = held,
                                          .held_count = found->memory_count,
                                          .device_bytes = found->device_bytes};
    for (uint32_t name = 0; name < found->memory_count; name++) {
      size_t at = (size_t)i * found->memory_count + name;
      held[name] = (struct vinci_group_held){found->memories[name], found->peak_held[at],
                                             found->most_held[at]};
    }
    if (!visit(context, &told))
      return;
  }
}

enum vinci_status vinci_group_run(const char *name, const char *text, size_t length,
                                  const struct vinci_group_options *options,
                                  bool (*visit)(void *context, const struct vinci_group_rank *rank),
                                  void *context, struct vinci_group_result *result,
                                  struct vinci_diag *diag) {
  struct arena arena = {0};
  struct group_result found;
  uint32_t ranks = 0;
  *result = (struct vinci_group_result){0};
  enum vinci_status status =
      run_text(name, text, length, options, NULL, &arena, &ranks, &found, diag);
  if (status == VINCI_OK)
    *result = (struct vinci_group_result){.end_ps = found.end_ps,
                                          .transfers = found.transfers,
                                          .moved_bytes = found.transfer_bytes,
                                          .ranks = ranks};
  if (status == VINCI_OK && visit) {
    struct vinci_group_held *held =
        ARENA_ARRAY(&arena, struct vinci_group_held, found.memory_count + 1);
    if (held)
      visit_ranks(&found, ranks, held, visit, context);
    else
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  arena_free(&arena);
  return status;
}
