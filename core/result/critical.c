/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of a run went: the walk back along the chain of instructions. */
#include "core/result/critical.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/result/events.h"
#include "core/result/replay.h"
#include "core/result/state.h"

const char *critical_rest_name(enum critical_rest rest) {
  static const char *const names[] = {"launch", "idle", "end"};
  return names[rest];
}

/* The events of one pipe of the core, by start; `next` is the last one not yet passed. */
struct lane {
  const struct result_event **events;
  size_t count;
};

struct walk {
  const struct vinci_result *result;
  const struct core_result *core;
  struct lane lanes[PIPE_COUNT];
  struct result_event *events; /* of the core */
  const struct result_event **storage;
  void (*visit)(void *context, const struct result_event *event, uint64_t cycles);
  void *context;
};

/* A cycle of the core's clock in cycles of the top level's clock. */
static uint64_t top_cycles(const struct walk *walk, uint64_t cycle) {
  uint64_t top_hz = (uint64_t)walk->result->soc->core_hz;
  return walk->core->hz == top_hz ? cycle : (uint64_t)((uint128)cycle * top_hz / walk->core->hz);
}

/* The core whose last event ends last; the first of several. */
struct last {
  uint32_t core;
  uint128 end_ps;
};

static void note_end(const struct vinci_result *result, struct last *last, uint32_t core,
                     uint64_t end_cycle) {
  uint128 end_ps = (uint128)end_cycle * PS_PER_SECOND / result->cores[core].hz;
  if (last->core == result->core_count || end_ps > last->end_ps ||
      (end_ps == last->end_ps && core < last->core))
    *last = (struct last){core, end_ps};
}

static uint32_t last_core(const struct vinci_result *result) {
  struct last last = {.core = result->core_count};
  for (uint32_t core = 0; result->logs && core < result->core_count; core++) {
    const struct event_log *log = &result->logs[core];
    if (log->count > 0)
      note_end(result, &last, core, min_u64(log->latest_end, log->cut_cycle));
  }
  for (uint64_t i = 0; !result->logs && i < result->event_count; i++)
    note_end(result, &last, result->events[i].core, result->events[i].end_cycle);
  return last.core;
}

static int compare_events(const void *left, const void *right) {
  const struct result_event *a = *(const struct result_event *const *)left;
  const struct result_event *b = *(const struct result_event *const *)right;
  if (a->start_cycle != b->start_cycle)
    return a->start_cycle < b->start_cycle ? -1 : 1;
  if (a->end_cycle != b->end_cycle)
    return a->end_cycle < b->end_cycle ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

/* Sorts the core's events into lanes. */
static bool fill_lanes(struct walk *walk, uint32_t core) {
  size_t total = event_count_of(walk->result, core);
  walk->storage = calloc(total + 1, sizeof(const struct result_event *));
  walk->events = calloc(total + 1, sizeof *walk->events);
  if (!walk->storage || !walk->events)
    return false;
  struct event_walk own = {.result = walk->result, .core = core};
  for (size_t i = 0; i < total; i++)
    walk->events[i] = *event_walk_next(&own);
  size_t filled = 0;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    struct lane *lane = &walk->lanes[pipe];
    lane->events = walk->storage + filled;
    for (size_t i = 0; i < total; i++) {
      const struct result_event *event = &walk->events[i];
      if (event->pipe == pipe && !event_only_waits(event) && event->end_cycle > event->start_cycle)
        lane->events[lane->count++] = event;
    }
    filled += lane->count;
    if (lane->count > 0)
      qsort(lane->events, lane->count, sizeof(const struct result_event *), compare_events);
  }
  return true;
}

/* Cycle at which an event lets go of what comes after `now`: its end, or now if it still runs. */
static uint64_t reach(const struct result_event *event, uint64_t now) {
  return event->end_cycle < now ? event->end_cycle : now;
}

/*
 * The event that comes before `now`: the one that reaches farthest; of several the one that
 * ends just there, since that is what was waited for; then the order of arithmetic before
 * transfers before the scalar unit.
 */
static const struct result_event *previous(struct walk *walk, uint64_t now) {
  static const enum pipe order[] = {PIPE_M,    PIPE_V,   PIPE_MTE2, PIPE_MTE3,
                                    PIPE_MTE1, PIPE_FIX, PIPE_S};
  const struct result_event *best = NULL;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    struct lane *lane = &walk->lanes[order[i]];
    while (lane->count > 0 && lane->events[lane->count - 1]->start_cycle >= now)
      lane->count--;
    if (lane->count == 0)
      continue;
    const struct result_event *event = lane->events[lane->count - 1];
    uint64_t far = reach(event, now), best_far = best ? reach(best, now) : 0;
    bool ends_there = event->end_cycle == now && best && best->end_cycle != now;
    if (!best || far > best_far || (far == best_far && ends_there))
      best = event;
  }
  return best;
}

/* Divides cycles of an event by its causes: each ends at the share of those before and its own. */
static void add_causes(struct critical_path *out, const struct result_event *event,
                       uint64_t cycles) {
  uint64_t sum = 0, reached = 0, spent = 0;
  for (unsigned i = 0; i < EVENT_CAUSES; i++)
    sum += event->cause_cycles[i];
  if (event->pipe == PIPE_S) {
    *(event->op == OP_CODE_FETCH ? &out->code_cycles : &out->scalar_cycles) += cycles;
    return;
  }
  if (sum == 0) {
    out->hidden_cycles += cycles;
    out->pipe_hidden[event->pipe] += cycles;
    return;
  }
  for (unsigned i = 0; i < EVENT_CAUSES; i++) {
    reached += event->cause_cycles[i];
    uint64_t until = (uint64_t)((uint128)cycles * reached / sum);
    out->cause[event->cause[i]][event->member] += until - spent;
    out->pipe_cause[event->pipe][event->cause[i]] += until - spent;
    spent = until;
  }
}

static void walk_back(struct walk *walk, struct critical_path *out) {
  uint64_t now = walk->core->total_cycles;
  uint64_t now_top = walk->result->total_cycles;
  enum critical_rest rest = CRITICAL_END;
  const struct result_event *event;
  while ((event = previous(walk, now)) != NULL) {
    uint64_t end_top = top_cycles(walk, reach(event, now));
    uint64_t start_top = top_cycles(walk, event->start_cycle);
    end_top = end_top < now_top ? end_top : now_top;
    start_top = start_top < end_top ? start_top : end_top;
    out->rest[rest] += now_top - end_top;
    walk->visit(walk->context, event, end_top - start_top);
    now = event->start_cycle;
    now_top = start_top;
    rest = CRITICAL_IDLE;
  }
  out->rest[CRITICAL_LAUNCH] += now_top;
}

/* Fills in all of the path but its parts, which are for the visitor. */
static enum vinci_status find_path(const struct vinci_result *result, struct walk *walk,
                                   struct critical_path *out, struct vinci_diag *diag) {
  memset(out, 0, sizeof *out);
  out->core = last_core(result);
  if (out->core == result->core_count) {
    out->rest[CRITICAL_LAUNCH] = result->total_cycles;
    return VINCI_OK;
  }
  walk->result = result;
  walk->core = &result->cores[out->core];
  bool filled = fill_lanes(walk, out->core);
  if (filled)
    walk_back(walk, out);
  free(walk->storage);
  free(walk->events);
  return filled ? VINCI_OK : diag_error(diag, VINCI_E_NOMEM, "out of memory");
}

static void add_to_part(void *context, const struct result_event *event, uint64_t cycles) {
  struct critical_path *path = context;
  struct critical_part *part = &path->part[event->pipe][event->op];
  part->cycles += cycles;
  part->count++;
  add_causes(path, event, cycles);
}

enum vinci_status critical_find(const struct vinci_result *result, struct critical_path *out,
                                struct vinci_diag *diag) {
  return find_path(result, &(struct walk){.visit = add_to_part, .context = out}, out, diag);
}

enum vinci_status critical_each(const struct vinci_result *result,
                                void (*visit)(void *context, const struct result_event *event,
                                              uint64_t cycles),
                                void *context, uint32_t *core, struct vinci_diag *diag) {
  struct critical_path *path = calloc(1, sizeof *path);
  if (!path)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status =
      find_path(result, &(struct walk){.visit = visit, .context = context}, path, diag);
  *core = path->core;
  free(path);
  return status;
}

/* ---- what turning a number saves ------------------------------------------------------------ */

/* Of the core on the path: what its busiest pipe takes, or the busiest besides one, launch
 * included. */
static uint64_t floor_cycles(const struct vinci_result *result, const struct critical_path *path,
                             enum cause but) {
  const struct core_result *core = &result->cores[path->core];
  uint64_t most = 0;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    uint64_t busy = core->pipe[pipe].busy_cycles;
    if (but != CAUSE_COUNT)
      busy -= core->pipe[pipe].cause_cycles[but];
    most = busy > most ? busy : most;
  }
  uint64_t top_hz = (uint64_t)result->soc->core_hz;
  return path->rest[CRITICAL_LAUNCH] + (uint64_t)((uint128)most * top_hz / core->hz);
}

static uint64_t cycles_of_cause(const struct critical_path *path, enum cause cause) {
  uint64_t cycles = 0;
  for (unsigned member = 0; member < CAUSE_MEMBERS; member++)
    cycles += path->cause[cause][member];
  return cycles;
}

struct critical_state critical_state(const struct vinci_result *result,
                                     const struct critical_path *path) {
  struct critical_state state = {.code_cycles = path->code_cycles,
                                 .refetch_cycles = cycles_of_cause(path, CAUSE_REFETCH),
                                 .scalar_cycles = path->scalar_cycles};
  for (unsigned cause = 0; cause < CAUSE_COUNT; cause++)
    for (unsigned member = 0; member < PATH_COUNT; member++)
      if (state_is_cold((enum cause)cause, member))
        state.cold_cycles += path->cause[cause][member];
  if (path->core < result->core_count)
    state.dependent_cycles = result->cores[path->core].pipe[PIPE_V].stall_cycles[STALL_BARRIER];
  return state;
}

const char *critical_turn_word(const struct critical_turn *turn) {
  return cause_row(turn->cause)->turn == CAUSE_HALVE ? "halved" : "doubled";
}

static bool comes_before(const struct critical_turn *a, const struct critical_turn *b) {
  return a->cycles > b->cycles;
}

/* Keeps the longest, in order. */
static size_t insert(struct critical_turn *turns, size_t count, struct critical_turn turn) {
  size_t at = count < CRITICAL_TURNS_MAX ? count : CRITICAL_TURNS_MAX - 1;
  if (count == CRITICAL_TURNS_MAX && !comes_before(&turn, &turns[at]))
    return count;
  for (; at > 0 && comes_before(&turn, &turns[at - 1]); at--)
    turns[at] = turns[at - 1];
  turns[at] = turn;
  return count < CRITICAL_TURNS_MAX ? count + 1 : count;
}

static int64_t saved(const struct vinci_result *result, uint64_t cycles) {
  return (int64_t)result->total_cycles - (int64_t)cycles;
}

/* What was measured of the number of a turn; a number that the chip cannot have is none to turn. */
static bool take_measured(const struct vinci_result *result, struct critical_turn *turn) {
  for (uint32_t i = 0; i < result->saving_count; i++) {
    const struct result_saving *saving = &result->savings[i];
    if (saving->param != turn->param)
      continue;
    turn->measured = saving->cycles > 0;
    if (!turn->measured)
      turn->param = soc_param_count();
    else
      turn->saved_cycles = saved(result, saving->cycles);
    turn->lowered_anew = saving->new_cycles > 0;
    if (turn->lowered_anew)
      turn->anew_saved_cycles = saved(result, saving->new_cycles);
    return true;
  }
  return false;
}

/* Of all causes that have the number. */
static uint64_t cycles_of(const struct critical_turn *turns, size_t count, size_t param) {
  uint64_t all = 0;
  for (size_t i = 0; i < count; i++)
    all += turns[i].param == param ? turns[i].cycles : 0;
  return all;
}

/* Of the cycles of a cause, in per cent, when its number is turned. Banks of UB need a cycle for
 * each repeat, however fast its class is; the latency of an access does not depend on bandwidth. */
static uint8_t saved_percent(const struct vinci_soc *soc, bool flat,
                             const struct critical_turn *turn) {
  enum { ALL = 100, HALF = 50 };
  if (cause_row(turn->cause)->turn == CAUSE_DOUBLE_ENDS)
    return ALL;
  if ((turn->cause == CAUSE_DRAM_ACCESS || turn->cause == CAUSE_DRAM_ROW) && !flat)
    return 0;
  if (turn->cause != CAUSE_VECTOR_REPEATS || soc->ub_reads_per_group == 0)
    return HALF;
  uint64_t repeat = (uint64_t)soc->vector_class[turn->member].per_repeat_mcycles;
  return (uint8_t)((repeat - min_u64(max_u64(repeat / 2, MILLI), repeat)) * ALL / repeat);
}

/* Cycles of all causes that have the number, as they fall away when it is turned. */
static struct replay_change change_of(const struct vinci_result *result,
                                      const struct critical_turn *turns, size_t count,
                                      size_t param) {
  struct replay_change change = {0};
  for (size_t i = 0; i < count; i++)
    if (turns[i].param == param)
      change.saved[turns[i].cause][turns[i].member] =
          saved_percent(result->soc, result->channel_count == 0, &turns[i]);
  return change;
}

/* Where no instructions are recorded: half of the cycles, as long as no other pipe is busy longer.
 */
static uint64_t rough_estimate(const struct vinci_result *result, const struct critical_path *path,
                               const struct critical_turn *turns, size_t count,
                               const struct critical_turn *turn) {
  uint64_t all = cycles_of(turns, count, turn->param);
  uint64_t least = floor_cycles(result, path, turn->cause);
  if (cause_row(turn->cause)->turn != CAUSE_DOUBLE_ENDS)
    all /= 2;
  uint64_t room = result->total_cycles > least ? result->total_cycles - least : 0;
  return all < room ? all : room;
}

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }

/* What the time that device memory needs for its bytes leaves, unless the number is of device
 * memory. */
static int64_t left_by_memory(const struct vinci_result *result, const struct critical_path *path,
                              const struct critical_turn *turn) {
  uint64_t rate = soc_hbm_stream_bytes_per_second(result->soc), hz = (uint64_t)result->soc->core_hz;
  bool shrinks = turn->cause == CAUSE_REFETCH ||
                 strncmp(soc_param(turn->param)->key, "hbm.", strlen("hbm.")) == 0;
  uint64_t least = path->rest[CRITICAL_LAUNCH] + path->code_cycles;
  if (rate > 0 && !shrinks)
    least += (uint64_t)((uint128)hbm_bytes(&result->hbm) * hz / rate);
  return (int64_t)(result->total_cycles - min_u64(least, result->total_cycles));
}

/* What was measured stays; the pipe that bounds next is always that of a replay. */
static void estimate(const struct vinci_result *result, const struct critical_path *path,
                     struct replay *replay, const struct critical_turn *turns, size_t count,
                     struct critical_turn *turn) {
  struct replay_change change = change_of(result, turns, count, turn->param);
  struct replay_outcome out;
  if (turn->param == soc_param_count())
    return;
  if (!replay) {
    if (!turn->measured)
      turn->saved_cycles = (int64_t)rough_estimate(result, path, turns, count, turn);
    return;
  }
  replay_run(replay, &change, &out);
  if (!turn->measured)
    turn->saved_cycles = min_i64(out.saved_cycles, left_by_memory(result, path, turn));
  uint64_t left = result->total_cycles - (uint64_t)turn->saved_cycles;
  turn->next_pipe = out.busiest;
  turn->next_permille = left > 0 ? (unsigned)(out.busiest_cycles * MILLI / left) : 0;
}

size_t critical_turns(const struct vinci_result *result, const struct critical_path *path,
                      struct critical_turn turns[CRITICAL_TURNS_MAX]) {
  size_t count = 0;
  if (path->core == result->core_count)
    return 0;
  for (unsigned cause = 0; cause < CAUSE_COUNT; cause++)
    for (unsigned member = 0; member < CAUSE_MEMBERS; member++)
      if (path->cause[cause][member] > 0)
        count =
            insert(turns, count,
                   (struct critical_turn){.cause = (enum cause)cause,
                                          .member = member,
                                          .param = cause_param(result->soc, (enum cause)cause,
                                                               member, result->channel_count == 0),
                                          .cycles = path->cause[cause][member]});
  struct replay *replay = replay_open(result, path->core);
  for (size_t i = 0; i < count; i++)
    if (take_measured(result, &turns[i]) || turns[i].param < soc_param_count())
      estimate(result, path, replay, turns, count, &turns[i]);
  replay_close(replay);
  return count;
}

bool critical_matters(const struct vinci_result *result, const struct critical_turn *turns,
                      size_t count, size_t param) {
  return param < soc_param_count() &&
         cycles_of(turns, count, param) * 1000 >= result->total_cycles * CRITICAL_LEAST_PERMILLE;
}

/* A measurement counts more than an estimate, which may be several times too large. */
static bool is_better(const struct critical_turn *turn, const struct critical_turn *best) {
  bool known = turn->measured, best_known = best->measured && best->saved_cycles > 0;
  if (turn->saved_cycles <= 0 || known < best_known)
    return false;
  return known > best_known || turn->saved_cycles > best->saved_cycles;
}

const struct critical_turn *critical_best(const struct critical_turn *turns, size_t count) {
  const struct critical_turn *best = count > 0 ? turns : NULL;
  for (size_t i = 1; i < count; i++)
    if (is_better(&turns[i], best))
      best = &turns[i];
  return best;
}

/*
 * Of the busiest pipe of the core: cycles of an instruction that do not depend on its length. Two
 * buffers in the place of one have half the size, so that each instruction comes twice.
 */
static uint64_t fixed_cycles(const struct core_result *core) {
  static const enum cause fixed[] = {CAUSE_MAD_STARTUP,  CAUSE_MAD_ISSUE, CAUSE_VECTOR_STARTUP,
                                     CAUSE_VECTOR_ISSUE, CAUSE_STARTUP,   CAUSE_FOLLOW,
                                     CAUSE_ACKNOWLEDGE};
  const struct pipe_counters *busiest = &core->pipe[0];
  uint64_t sum = 0;
  for (unsigned pipe = 1; pipe < PIPE_COUNT; pipe++)
    if (core->pipe[pipe].busy_cycles > busiest->busy_cycles)
      busiest = &core->pipe[pipe];
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    sum += busiest->cause_cycles[fixed[i]];
  return sum;
}

bool critical_takes_turns(const struct vinci_result *result, const struct critical_path *path,
                          uint64_t *saved_cycles) {
  enum { OVERLAP_PERCENT = 125, SAVED_PERCENT = 10, OTHER_PERCENT = 20 };
  *saved_cycles = 0;
  if (path->core == result->core_count)
    return false;
  const struct core_result *core = &result->cores[path->core];
  uint64_t sum = 0, other = path->code_cycles + path->scalar_cycles;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    sum += pipe == PIPE_S ? 0 : core->pipe[pipe].busy_cycles;
  for (unsigned rest = 0; rest < CRITICAL_RESTS; rest++)
    other += path->rest[rest];
  uint64_t pipes = result->total_cycles - other;
  uint64_t busiest = floor_cycles(result, path, CAUSE_COUNT) - path->rest[CRITICAL_LAUNCH];
  uint64_t left = result->total_cycles - pipes + busiest;
  if (result->second_buffer_cycles > 0)
    left = result->second_buffer_cycles;
  left += fixed_cycles(core);
  *saved_cycles = result->total_cycles - min_u64(left, result->total_cycles);
  return sum * 100 <= core->active_cycles * OVERLAP_PERCENT &&
         other * 100 <= result->total_cycles * OTHER_PERCENT &&
         *saved_cycles * 100 >= result->total_cycles * SAVED_PERCENT;
}
