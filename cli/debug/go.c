/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of `vinci debug` that let the run go on, and what is said where the run stops. */
#include "cli/debug/session.h"

#include <inttypes.h>
#include <string.h>

#include "cli/support/monitor.h"
#include "core/base/sheet.h"

/* What a command goes on to, beside breakpoints: events of a kind, on a core, of a pipe. */
struct goal {
  bool any_event; /* false: breakpoints alone */
  bool stalls_only;
  uint32_t core;  /* or ALL_CORES */
  enum pipe pipe; /* PIPE_COUNT: any */
  uint64_t count; /* which of them */
  uint64_t until_ps;
};

static void print_head(const struct session *session, uint32_t core, uint64_t cycle) {
  const char *name = session_core_name(session, core);
  fprintf(session->out, "cycle %" PRIu64 "  %s  ", cycle, name);
}

static void print_event(const struct session *session, const struct debug_event *event) {
  print_head(session, event->core, event->cycle);
  switch (event->kind) {
  case DEBUG_BLOCK: {
    const struct aicore *core = &debug_device(session->debug)->cores[event->core];
    fprintf(session->out, "begins block %" PRId64 " of kernel %s\n",
            core->stream.variables[VAR_BLK], session_kernel(session)->name);
    return;
  }
  case DEBUG_START:
    fprintf(session->out, "%s starts ", pipe_name(event->pipe));
    break;
  case DEBUG_END:
    fprintf(session->out, "%s ends ", pipe_name(event->pipe));
    break;
  case DEBUG_STALL:
    fprintf(session->out, "%s waits in ", pipe_name(event->pipe));
    break;
  }
  if (sheet_width(stdout) > 0) /* a terminal: what comes is long */
    fputs("\n  ", session->out);
  session_print_row(session, &event->inst);
  if (event->kind == DEBUG_STALL)
    session_print_cause(session, &event->inst, event->stall);
  fputc('\n', session->out);
}

/* What was wrong is said at once: a run that hangs, or has failed, can still be looked at. */
static enum vinci_status end_of_run(struct session *session) {
  const struct device *device = debug_device(session->debug);
  struct vinci_diag hang = {0};
  session->over = true;
  fflush(stdout);
  if (device->status != VINCI_OK) {
    session->exit_code = cli_fail(&session->run_diag);
    return VINCI_OK;
  }
  if (!device->finished) {
    (void)device_report_hang(device, &hang);
    session->exit_code = cli_fail(&hang);
    return VINCI_OK;
  }
  struct clock_domain clock;
  clock_init(&clock, (uint64_t)session->soc->core_hz);
  fprintf(session->out, "the run has ended after %" PRIu64 " cycles\n",
          clock_edge_at(&clock, device->result->kernels[device->kernel].end_ps));
  return VINCI_OK;
}

static bool is_goal(const struct goal *goal, const struct debug_event *event) {
  return goal->any_event && (goal->core == ALL_CORES || goal->core == event->core) &&
         (goal->pipe == PIPE_COUNT || goal->pipe == event->pipe) &&
         (!goal->stalls_only || event->kind == DEBUG_STALL);
}

/* The first breakpoint of a cycle is the limit when it comes before the goal. */
static void reach_limit(struct session *session, struct stop *stop) {
  if (stop) {
    stop->used = true;
    stop->hits++;
    session->core = stop->core;
    fprintf(session->out, "breakpoint %u, ", stop->number);
  }
  print_head(session, session->core, debug_cycle(session->debug, session->core));
  fputs("is reached\n", session->out);
}

static enum vinci_status go(struct session *session, struct goal goal, struct vinci_diag *diag) {
  if (session->over)
    return diag_error(diag, VINCI_E_USAGE, "the run is over and cannot go on");
  uint64_t cycle_ps;
  struct stop *cycle_stop = stop_next_cycle(session, &cycle_ps);
  uint64_t limit_ps = cycle_ps < goal.until_ps ? cycle_ps : goal.until_ps;
  for (;;) {
    struct debug_event event;
    if (monitor_interrupted())
      return diag_error(diag, VINCI_E_LIMIT, "interrupted");
    switch (debug_next(session->debug, limit_ps, &event)) {
    case DEBUG_STOP_END:
      return end_of_run(session);
    case DEBUG_STOP_LIMIT:
      reach_limit(session, cycle_ps == limit_ps ? cycle_stop : NULL);
      return VINCI_OK;
    case DEBUG_STOP_EVENT:
      break;
    }
    struct stop *stop = stop_met(session, &event);
    bool reached = is_goal(&goal, &event) && --goal.count == 0;
    if (!stop && !reached)
      continue;
    session->core = event.core;
    if (stop)
      fprintf(session->out, "breakpoint %u, ", stop->number);
    print_event(session, &event);
    return VINCI_OK;
  }
}

enum vinci_status command_step(struct session *session, const struct words *words,
                               struct vinci_diag *diag) {
  struct goal goal = {.any_event = true,
                      .core = session->core,
                      .pipe = PIPE_COUNT,
                      .count = 1,
                      .until_ps = UINT64_MAX};
  for (size_t i = 1; i < words->count; i++) {
    const char *word = words->item[i];
    enum vinci_status status =
        *word >= '0' && *word <= '9'
            ? word_number(word, "the number of steps", 1, UINT32_MAX, &goal.count, diag)
            : word_pipe(session, word, &goal.pipe, diag);
    if (status != VINCI_OK)
      return status;
  }
  return go(session, goal, diag);
}

enum vinci_status command_continue(struct session *session, const struct words *words,
                                   struct vinci_diag *diag) {
  (void)words;
  return go(session, (struct goal){.until_ps = UINT64_MAX}, diag);
}

enum vinci_status command_stall(struct session *session, const struct words *words,
                                struct vinci_diag *diag) {
  struct goal goal = {.any_event = true,
                      .stalls_only = true,
                      .core = session->core,
                      .pipe = PIPE_COUNT,
                      .count = 1,
                      .until_ps = UINT64_MAX};
  if (words->count > 1 && strcmp(words->item[1], "all") == 0)
    goal.core = ALL_CORES;
  else if (words->count > 1) {
    enum vinci_status status = word_pipe(session, words->item[1], &goal.pipe, diag);
    if (status != VINCI_OK)
      return status;
  }
  return go(session, goal, diag);
}

enum vinci_status command_until(struct session *session, const struct words *words,
                                struct vinci_diag *diag) {
  uint64_t cycle;
  const struct device *device = debug_device(session->debug);
  enum vinci_status status =
      word_number(words->item[1], "a cycle that is to come",
                  debug_cycle(session->debug, session->core) + 1, UINT64_C(1) << 53, &cycle, diag);
  if (status != VINCI_OK)
    return status;
  return go(session,
            (struct goal){.until_ps = clock_edge_ps(&device->cores[session->core].clock, cycle)},
            diag);
}
