/* SPDX-License-Identifier: Apache-2.0 */
/* What the streams of a job that hangs wait for. */
#include <stdio.h>

#include "devices/flow/run_state.h"

/* Ranks of the group that have not come to a collective, as "2, 5 and 3 others". */
static void absent_text(const struct group_sim *sim, const struct instance *instance, char *out,
                        size_t size) {
  const struct group_ranks *group = instance->group;
  uint32_t named = 0, absent = group->count - instance->come;
  size_t used = 0;
  for (uint32_t i = 0; i < group->count && named < 2; i++) {
    if (sim_place_of(sim, instance->family, group->ranks[i])->turns > instance->turn ||
        used >= size)
      continue;
    used += (size_t)snprintf(out + used, size - used, "%s%u", named ? ", " : "", group->ranks[i]);
    named++;
  }
  if (absent > named && used < size)
    snprintf(out + used, size - used, " and %u others", absent - named);
}

/* What a stream that never ends waits for. */
static void waits_text(const struct group_sim *sim, const struct stream *stream, char *out,
                       size_t size) {
  const struct group_op *op = sim_op_of(stream);
  char place[128], absent[64] = "";
  sim_place_text(op, place, sizeof place);
  if (sim->ranks[stream->rank].speed_milli == 0) {
    snprintf(out, size, "rank %u stands still at %s", stream->rank, place);
    return;
  }
  if (op->kind == GROUP_WAIT) {
    snprintf(out, size, "rank %u waits at %s for event %u", stream->rank, place, op->event);
    return;
  }
  const struct place *at = sim_place_of(sim, op->family, stream->rank);
  const struct instance *instance = sim_find_instance(sim, at->group_number, at->turns - 1);
  if (instance)
    absent_text(sim, instance, absent, sizeof absent);
  snprintf(out, size, "rank %u waits in %s of group '%s' for rank %s", stream->rank, place,
           sim->job->families[op->family].name, absent);
}

/* No more is due: all streams have ended, or the job hangs. */
void sim_check_ended(struct group_sim *sim) {
  char first[256] = "", second[256] = "", down[128];
  uint32_t waiting = 0, first_rank = UINT32_MAX;
  for (uint32_t i = 0; i < sim->stream_count; i++) {
    const struct stream *stream = &sim->streams[i];
    if (stream->index == stream->ops->count)
      continue;
    if (waiting++ == 0) {
      waits_text(sim, stream, first, sizeof first);
      first_rank = stream->rank;
    } else if (second[0] == '\0' && stream->rank != first_rank) {
      waits_text(sim, stream, second, sizeof second);
    }
  }
  sim_down_text(sim, down, sizeof down);
  if (waiting > 0)
    sim->status =
        diag_error(sim->diag, VINCI_E_DEADLOCK, "%u streams never end: %s%s%s%s%s", waiting, first,
                   second[0] ? "; " : "", second, down[0] ? "; " : "", down);
}
