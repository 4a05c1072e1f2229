/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of a run. Whenever a fault begins or ends, the speeds of all devices and limits are found
 * anew: each has the lowest of its faults. What a device that is down would do next is put off
 * until the device is back.
 *
 * Left out: a slow device issues notifies and copies within itself as fast as others. What such a
 * copy had begun before its device went down ends while the device is down.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"
#include "devices/flow/run_state.h"

enum { US_DIGITS = 6 };

static bool is_active(const struct group_fault *fault, uint64_t now_ps) {
  return fault->from_ps <= now_ps && now_ps < fault->to_ps;
}

/* ---- what is left --------------------------------------------------------------------------- */

static bool has_device(const struct group_fault *fault, uint32_t device) {
  for (uint32_t i = 0; i < fault->device_count; i++)
    if (fault->devices[i] == device)
      return true;
  return false;
}

static void change_device(struct group_sim *sim, uint32_t device) {
  struct rank *rank = &sim->ranks[device];
  uint32_t speed = MILLI;
  rank->up_ps = 0;
  for (const struct group_fault *fault = sim->job->faults; fault; fault = fault->next) {
    if (!is_active(fault, sim->now_ps) || !has_device(fault, device))
      continue;
    speed = (uint32_t)min_u64(speed, fault->speed_milli);
    if (fault->speed_milli == 0)
      rank->up_ps = max_u64(rank->up_ps, fault->to_ps);
  }
  if (speed == rank->speed_milli)
    return;
  rank->speed_milli = speed;
  sim_work_speed(sim, device);
}

/* What a fault leaves of limits: of its link, or of all links of devices that are down. */
static void lower_limits(struct group_sim *sim, const struct group_fault *fault) {
  const struct group_system *system = sim->job->system;
  uint32_t *speeds = sim->limit_speeds, limits = group_limit_count(system);
  if (!fault->devices) {
    uint32_t limit = group_limit_find(system, fault->link);
    speeds[limit] = (uint32_t)min_u64(speeds[limit], fault->speed_milli);
    return;
  }
  for (uint32_t i = 0; fault->speed_milli == 0 && i < fault->device_count; i++)
    for (uint32_t limit = 0; limit < limits; limit++)
      if (group_limit_is_of(system, limit, group_device_of(sim->job, fault->devices[i])))
        speeds[limit] = 0;
}

void sim_fault_changes(struct group_sim *sim) {
  uint32_t limits = group_limit_count(sim->job->system);
  for (uint32_t i = 0; i < sim->job->ranks; i++)
    change_device(sim, i);
  for (uint32_t i = 0; i < limits; i++)
    sim->limit_speeds[i] = MILLI;
  for (const struct group_fault *fault = sim->job->faults; fault; fault = fault->next)
    if (is_active(fault, sim->now_ps))
      lower_limits(sim, fault);
  for (uint32_t i = 0; i < limits; i++)
    flow_set_speed(sim->flows, sim->now_ps, i, sim->limit_speeds[i]);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* " (line 3)"; nothing when the fault was written nowhere. */
static void line_text(const struct group_fault *fault, char *out, size_t size) {
  out[0] = '\0';
  if (fault->line)
    snprintf(out, size, " (line %lu)", fault->line);
}

void sim_down_text(const struct group_sim *sim, char *out, size_t size) {
  const struct group_fault *fault = sim->job->faults;
  char what[80], line[32];
  while (fault && (fault->speed_milli != 0 || !is_active(fault, sim->now_ps)))
    fault = fault->next;
  out[0] = '\0';
  if (!fault)
    return;
  line_text(fault, line, sizeof line);
  if (fault->devices)
    snprintf(what, sizeof what, "device %" PRIu32, fault->devices[0]);
  else
    snprintf(what, sizeof what, "link '%.60s'", fault->link);
  snprintf(out, size, "%s is down from %s us on%s", what,
           decimal_exact(fault->from_ps, US_DIGITS).text, line);
}

/* ---- the run -------------------------------------------------------------------------------- */

static void refuse_link(struct group_sim *sim, const struct group_fault *fault) {
  char name[64], line[32];
  group_limit_name(sim->job->system, 1, name, sizeof name);
  line_text(fault, line, sizeof line);
  sim->status =
      diag_error(sim->diag, VINCI_E_INPUT, "system '%s' has no link '%.60s', which a fault names%s",
                 sim->job->system->name, fault->link, line);
  diag_hint(sim->diag, "links have names such as '%s'; 'vinci group collective' prints others",
            name);
}

void sim_faults_begin(struct group_sim *sim) {
  const struct group_system *system = sim->job->system;
  if (!sim->job->faults)
    return;
  sim->limit_speeds = calloc(group_limit_count(system), sizeof *sim->limit_speeds);
  if (!sim->limit_speeds) {
    sim_fail(sim, VINCI_E_NOMEM, "out of memory");
    return;
  }
  for (const struct group_fault *fault = sim->job->faults; fault; fault = fault->next) {
    if (!fault->devices && group_limit_find(system, fault->link) == group_limit_count(system)) {
      refuse_link(sim, fault);
      return;
    }
    sim->may_go_down = sim->may_go_down || fault->speed_milli == 0;
    if (fault->from_ps < TIME_END_PS)
      sim_note(sim, (struct due){.time_ps = fault->from_ps, .kind = MOMENT_FAULT});
    if (fault->to_ps < TIME_END_PS)
      sim_note(sim, (struct due){.time_ps = fault->to_ps, .kind = MOMENT_FAULT});
  }
}

bool sim_is_put_off(struct group_sim *sim, const struct due *due) {
  uint32_t device;
  if (!sim->may_go_down)
    return false;
  if (due->kind == MOMENT_STREAM)
    device = sim->streams[due->who].rank;
  else if (due->kind == MOMENT_PLANE)
    device = sim_device(sim->planes[due->who].instance, sim->planes[due->who].member);
  else
    return false;
  if (sim->ranks[device].speed_milli != 0)
    return false;
  struct due later = *due;
  later.time_ps = sim->ranks[device].up_ps;
  if (later.time_ps < TIME_END_PS)
    sim_note(sim, later);
  return true;
}

void sim_note_timeout(struct group_sim *sim, uint32_t stream) {
  uint64_t timeout_ps = sim->job->system->timeout_ps;
  if (sim->may_go_down && timeout_ps)
    sim_note(sim, (struct due){.time_ps = time_after(sim->now_ps, timeout_ps),
                               .kind = MOMENT_TIMEOUT,
                               .whose = due_whose(sim->streams[stream].rank, 0),
                               .who = stream,
                               .instance = sim->streams[stream].index});
}

/* A rank that is down itself notices nothing. */
void sim_timeout(struct group_sim *sim, const struct due *due) {
  const struct stream *stream = &sim->streams[due->who];
  char down[128], place[128];
  sim_down_text(sim, down, sizeof down);
  if (!stream->running || stream->index != due->instance || down[0] == '\0' ||
      sim->ranks[stream->rank].speed_milli == 0 || sim->status != VINCI_OK)
    return;
  sim_place_text(&stream->ops->ops[stream->index], place, sizeof place);
  sim->status = diag_error(sim->diag, VINCI_E_DEADLOCK,
                           "rank %" PRIu32 " gives up %s at %s us, after %s us: %s", stream->rank,
                           place, decimal_exact(sim->now_ps, US_DIGITS).text,
                           decimal_exact(sim->now_ps - stream->start_ps, US_DIGITS).text, down);
  diag_hint(sim->diag, "ranks wait for collective.timeout; 'vinci group train' tells what failures "
                       "cost a training that restarts from checkpoints");
}
