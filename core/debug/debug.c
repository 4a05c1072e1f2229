/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a run in the order of their time. The observer of the cores puts what it is told into
 * a heap, as units say ahead of time when they will be done; debug_next() lets the engine run up
 * to the first of these.
 */
#include "core/debug/debug.h"

#include <stdlib.h>
#include <string.h>

#include "core/machine/machine.h"
#include "core/machine/values.h"

/* Not told to the caller: a pipe may stall once its last instruction is through. */
enum { DEBUG_LOOK = DEBUG_STALL + 1 };

struct item {
  uint64_t ps, order;
  uint8_t kind; /* enum debug_kind, or DEBUG_LOOK */
  uint8_t pipe;
  uint32_t core;
  uint64_t number; /* of the instruction */
  uint64_t cycle;
};

struct core_view {
  struct debug *debug;
  struct slots slots[PIPE_COUNT];
  uint64_t scalar_cycle;            /* up to which the scalar unit has been followed */
  uint64_t told[PIPE_COUNT];        /* number of the instruction whose stall was told last + 1 */
  uint64_t looks_cycle[PIPE_COUNT]; /* of the last DEBUG_LOOK */
};

struct debug {
  struct device device;
  struct aicore_observer observer;
  struct vinci_values *values;
  struct core_view *cores;
  struct item *heap;
  size_t count, capacity;
  uint64_t order; /* of the next item */
  uint64_t now_ps;
  bool out_of_memory;
  bool over;
};

static struct debug_slot *add_slot(struct debug *debug, struct slots *slots,
                                   const struct inst *inst, uint64_t issue_cycle) {
  struct debug_slot *slot = slots_add(slots);
  if (!slot) {
    debug->out_of_memory = true;
    return NULL;
  }
  *slot =
      (struct debug_slot){.inst = *inst, .issue_cycle = issue_cycle, .end_cycle = OBSERVER_LATER};
  return slot;
}

/* ---- events to come ---- */

static bool item_before(const struct item *a, const struct item *b) {
  return a->ps != b->ps ? a->ps < b->ps : a->order < b->order;
}

static void swap(struct item *a, struct item *b) {
  struct item item = *a;
  *a = *b;
  *b = item;
}

static void push(struct debug *debug, struct item item) {
  const struct aicore *core = &debug->device.cores[item.core];
  item.ps = clock_edge_ps(&core->clock, item.cycle);
  item.order = debug->order++;
  if (debug->count == debug->capacity) {
    size_t capacity = debug->capacity ? 2 * debug->capacity : 64;
    struct item *heap = realloc(debug->heap, capacity * sizeof *heap);
    if (!heap) {
      debug->out_of_memory = true;
      return;
    }
    debug->heap = heap;
    debug->capacity = capacity;
  }
  size_t at = debug->count++;
  debug->heap[at] = item;
  for (; at > 0 && item_before(&debug->heap[at], &debug->heap[(at - 1) / 2]); at = (at - 1) / 2)
    swap(&debug->heap[at], &debug->heap[(at - 1) / 2]);
}

static struct item pop(struct debug *debug) {
  struct item first = debug->heap[0];
  debug->heap[0] = debug->heap[--debug->count];
  for (size_t at = 0, least;; at = least) {
    least = at;
    for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < debug->count; child++)
      if (item_before(&debug->heap[child], &debug->heap[least]))
        least = child;
    if (least == at)
      return first;
    swap(&debug->heap[at], &debug->heap[least]);
  }
}

/* ---- values ---- */

static void apply(struct debug *debug, uint32_t core, struct debug_slot *slot) {
  if (debug->values && !slot->applied)
    values_apply(debug->values, core, &slot->inst);
  slot->applied = true;
}

/* The instruction whose values are due first, up to a cycle; NULL: none. */
static struct debug_slot *first_due(const struct core_view *view, uint64_t cycle) {
  struct debug_slot *first = NULL;
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
    for (size_t i = 0; i < view->slots[pipe].count; i++) {
      struct debug_slot *slot = slots_at(&view->slots[pipe], i);
      if (!slot->applied && slot->end_cycle <= cycle &&
          (!first || slot->end_cycle < first->end_cycle))
        first = slot;
    }
  return first;
}

/* A read row: the scalar unit may be ahead of the events that have been told, but not of what has
 * ended before the row. */
static void on_read(void *context, const struct program_row *row, int64_t from) {
  struct core_view *view = context;
  struct debug *debug = view->debug;
  uint32_t core = (uint32_t)(view - debug->cores);
  (void)row;
  (void)from;
  for (struct debug_slot *slot;
       (slot = first_due(view, debug->device.cores[core].scalar.cycle)) != NULL;)
    apply(debug, core, slot);
}

static void follow_data(struct debug *debug, uint32_t core) {
  struct stream *stream = &debug->device.cores[core].stream;
  debug->cores[core].debug = debug;
  stream->data = values_stream_data(debug->values, core);
  stream->listener = (struct stream_listener){.heard = on_read, .context = &debug->cores[core]};
}

/* ---- what the cores tell ---- */

static void on_begin_block(void *context, const struct aicore *core,
                           const struct program_kernel *kernel, uint32_t blk, uint32_t sub) {
  struct debug *debug = context;
  struct machine_step step = {
      .kernel = kernel, .core = core->index, .kind = core->kind, .block = blk, .sub = sub};
  if (debug->values && !values_begin_block(debug->values, &step))
    debug->out_of_memory = true;
  else if (debug->values)
    follow_data(debug, core->index);
  debug->cores[core->index].scalar_cycle = core->scalar.cycle;
  push(debug, (struct item){.kind = DEBUG_BLOCK, .core = core->index, .cycle = core->scalar.cycle});
}

/* An instruction of the scalar unit takes from the end of the one before it, a wait no time. */
static void scalar_executed(struct debug *debug, const struct aicore *core,
                            const struct inst *inst) {
  struct core_view *view = &debug->cores[core->index];
  struct slots *slots = &view->slots[PIPE_S];
  bool waits = inst->op == OP_WAIT_FLAG || inst->op == OP_WAIT_FLAG_DEV ||
               inst->op == OP_PIPE_BARRIER || inst->op == OP_CODE_FETCH;
  uint64_t end = core->scalar.cycle, start = waits ? end : view->scalar_cycle;
  struct debug_slot *slot = add_slot(debug, slots, inst, start);
  if (!slot)
    return;
  slot->start_cycle = start;
  slot->end_cycle = end;
  uint64_t number = slots->first + slots->count - 1;
  struct item item = {.core = core->index, .pipe = PIPE_S, .number = number};
  item.kind = DEBUG_START;
  item.cycle = start;
  push(debug, item);
  item.kind = DEBUG_END;
  item.cycle = end;
  push(debug, item);
}

static void on_issued(void *context, const struct aicore *core, enum pipe pipe,
                      const struct inst *inst) {
  struct debug *debug = context;
  struct core_view *view = &debug->cores[core->index];
  if (pipe == PIPE_S || pipe == PIPE_ALL) {
    scalar_executed(debug, core, inst);
  } else {
    const struct pipe_unit *unit = &core->pipe[pipe];
    unsigned last = (unit->head + unit->count - 1) % unit->depth;
    (void)add_slot(debug, &view->slots[pipe], inst, unit->queue[last].issue_cycle);
  }
  view->scalar_cycle = core->scalar.cycle;
}

static void on_started(void *context, const struct aicore *core, enum pipe pipe,
                       uint64_t start_cycle, uint64_t end_cycle) {
  struct debug *debug = context;
  struct slots *slots = &debug->cores[core->index].slots[pipe];
  size_t i = 0;
  while (i < slots->count && slots_at(slots, i)->started)
    i++;
  if (i == slots->count)
    return; /* memory was short when it was issued */
  struct debug_slot *slot = slots_at(slots, i);
  slot->started = true;
  slot->start_cycle = start_cycle;
  slot->end_cycle = end_cycle;
  struct item item = {.core = core->index, .pipe = (uint8_t)pipe, .number = slots->first + i};
  item.kind = DEBUG_START;
  item.cycle = start_cycle;
  push(debug, item);
  if (end_cycle == OBSERVER_LATER)
    return;
  item.kind = DEBUG_END;
  item.cycle = end_cycle;
  push(debug, item);
}

static void on_retired(void *context, const struct aicore *core, enum pipe pipe,
                       uint64_t end_cycle) {
  struct debug *debug = context;
  struct slots *slots = &debug->cores[core->index].slots[pipe];
  for (size_t i = 0; i < slots->count; i++) {
    struct debug_slot *slot = slots_at(slots, i);
    if (!slot->started || slot->end_cycle != OBSERVER_LATER)
      continue;
    slot->end_cycle = end_cycle;
    push(debug, (struct item){.kind = DEBUG_END,
                              .core = core->index,
                              .pipe = (uint8_t)pipe,
                              .number = slots->first + i,
                              .cycle = end_cycle});
    return;
  }
}

/* ---- waits ---- */

/* The number, of all of its pipe, of the instruction that waits now. */
static uint64_t waiting_number(const struct debug *debug, uint32_t core, enum pipe pipe) {
  const struct slots *slots = &debug->cores[core].slots[pipe];
  size_t i = 0;
  while (i < slots->count && (pipe == PIPE_S || slots_at(slots, i)->started))
    i++;
  return slots->first + i;
}

static bool scalar_waits(const struct debug *debug, uint32_t core) {
  const struct scalar_unit *scalar = &debug->device.cores[core].scalar;
  return debug->device.cores[core].has_block && scalar->stall != NOT_STALLED &&
         scalar->cycle <= debug_cycle(debug, core);
}

static bool pipe_waits(const struct debug *debug, uint32_t core, enum pipe pipe) {
  const struct pipe_unit *unit = &debug->device.cores[core].pipe[pipe];
  return unit->stall != NOT_STALLED && unit->transfers == 0 &&
         unit->complete_cycle <= debug_cycle(debug, core);
}

static bool waits(const struct debug *debug, uint32_t core, enum pipe pipe) {
  return pipe == PIPE_S ? scalar_waits(debug, core) : pipe_waits(debug, core, pipe);
}

static void look(struct debug *debug, uint32_t index, enum pipe pipe) {
  const struct aicore *core = &debug->device.cores[index];
  struct core_view *view = &debug->cores[index];
  unsigned stall = pipe == PIPE_S ? core->scalar.stall : core->pipe[pipe].stall;
  if (stall == NOT_STALLED)
    return;
  uint64_t number = waiting_number(debug, index, pipe);
  if (view->told[pipe] == number + 1)
    return;
  struct item item = {.core = index, .pipe = (uint8_t)pipe, .number = number};
  uint64_t now = debug_cycle(debug, index);
  uint64_t busy_until = pipe == PIPE_S ? core->scalar.cycle : core->pipe[pipe].complete_cycle;
  item.cycle = max_u64(now, busy_until);
  item.kind = DEBUG_LOOK;
  if (waits(debug, index, pipe)) {
    item.kind = DEBUG_STALL;
    view->told[pipe] = number + 1;
  } else if (busy_until <= now || view->looks_cycle[pipe] == busy_until) {
    return; /* a transfer is under way, or a look is due */
  } else {
    view->looks_cycle[pipe] = busy_until;
  }
  push(debug, item);
}

static void look_at_all(struct debug *debug) {
  for (uint32_t i = 0; i < debug->device.placement.core_count; i++)
    for (unsigned pipe = 0; pipe < PIPE_COUNT && debug->device.cores[i].has_block; pipe++)
      if (core_has_pipe(debug->device.cores[i].kind, (enum pipe)pipe))
        look(debug, i, (enum pipe)pipe);
}

struct debug_wait debug_wait(const struct debug *debug, uint32_t index, enum pipe pipe) {
  const struct aicore *core = &debug->device.cores[index];
  struct debug_wait wait = {.stall = NOT_STALLED};
  if (!waits(debug, index, pipe))
    return wait;
  if (pipe == PIPE_S) {
    wait.stall = core->scalar.stall;
    wait.since_cycle = core->scalar.cycle;
    wait.inst = core->scalar.inst;
    return wait;
  }
  const struct slots *slots = &debug->cores[index].slots[pipe];
  uint64_t number = waiting_number(debug, index, pipe);
  if (number - slots->first >= slots->count)
    return wait;
  wait.stall = core->pipe[pipe].stall;
  wait.since_cycle = max_u64(core->pipe[pipe].wait_cycle, core->pipe[pipe].complete_cycle);
  wait.inst = slots_at(slots, (size_t)(number - slots->first))->inst;
  return wait;
}

/* ---- going on ---- */

/* What an item says to the caller; false: nothing. */
static bool deliver(struct debug *debug, const struct item *item, struct debug_event *event) {
  struct slots *slots = &debug->cores[item->core].slots[item->pipe];
  *event = (struct debug_event){
      .kind = (enum debug_kind)item->kind,
      .core = item->core,
      .pipe = (enum pipe)item->pipe,
      .cycle = item->cycle,
  };
  if (item->kind == DEBUG_BLOCK)
    return true;
  if (item->kind == DEBUG_LOOK) {
    look(debug, item->core, (enum pipe)item->pipe);
    return false;
  }
  if (item->kind == DEBUG_STALL) {
    struct debug_wait wait = debug_wait(debug, item->core, (enum pipe)item->pipe);
    event->stall = (enum stall)wait.stall;
    event->inst = wait.inst;
    return wait.stall != NOT_STALLED;
  }
  struct debug_slot *slot = slots_at(slots, (size_t)(item->number - slots->first));
  event->inst = slot->inst;
  if (item->kind == DEBUG_START) {
    slot->started = true;
    return true;
  }
  apply(debug, item->core, slot);
  slot->ended = true;
  slots_drop_ended(slots);
  return true;
}

enum debug_stop debug_next(struct debug *debug, uint64_t limit_ps, struct debug_event *event) {
  struct engine *engine = debug->device.engine;
  for (;;) {
    uint64_t engine_ps = engine_next_ps(engine);
    uint64_t item_ps = debug->count > 0 ? debug->heap[0].ps : UINT64_MAX;
    uint64_t next_ps = min_u64(engine_ps, item_ps);
    if (next_ps == UINT64_MAX || debug->out_of_memory) {
      debug->over = true;
      return DEBUG_STOP_END;
    }
    if (next_ps > limit_ps) {
      debug->now_ps = max_u64(debug->now_ps, limit_ps);
      return DEBUG_STOP_LIMIT;
    }
    debug->now_ps = max_u64(debug->now_ps, next_ps);
    if (engine_ps <= item_ps) {
      engine_run_until(engine, engine_ps);
      look_at_all(debug);
      continue;
    }
    struct item item = pop(debug);
    if (deliver(debug, &item, event))
      return DEBUG_STOP_EVENT;
  }
}

/* ---- life ---- */

static void free_debug(struct debug *debug) {
  for (uint32_t i = 0; debug->cores && i < debug->device.placement.core_count; i++)
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
      free(debug->cores[i].slots[pipe].items);
  free(debug->cores);
  free(debug->heap);
  free(debug);
}

enum vinci_status debug_open(const struct vinci_soc *soc, const struct vinci_trace *trace,
                             struct vinci_values *values, const struct vinci_run_options *options,
                             struct debug **out, struct vinci_diag *diag) {
  struct debug *debug = calloc(1, sizeof *debug);
  *out = NULL;
  struct placement placement;
  placement_count(&placement, soc, trace);
  if (debug)
    debug->cores = calloc((size_t)placement.core_count + 1, sizeof *debug->cores);
  if (!debug || !debug->cores) {
    free(debug);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the debugger");
  }
  debug->values = values;
  debug->observer = (struct aicore_observer){.context = debug,
                                             .begin_block = on_begin_block,
                                             .issued = on_issued,
                                             .started = on_started,
                                             .retired = on_retired};
  debug->device.soc = soc;
  debug->device.trace = trace;
  debug->device.diag = diag;
  debug->device.observer = &debug->observer;
  enum vinci_status status = device_open(&debug->device, options);
  if (status != VINCI_OK) {
    free_debug(debug);
    return status;
  }
  *out = debug;
  return VINCI_OK;
}

bool debug_follows_data(const struct debug *debug) {
  const struct vinci_trace *trace = debug->device.trace;
  for (uint64_t i = 0; debug->values && i < trace->row_count; i++)
    if (trace->rows[i].kind == ROW_READ)
      return true;
  return false;
}

enum vinci_status debug_close(struct debug *debug, struct vinci_result **result) {
  struct vinci_diag *diag = debug->device.diag;
  enum vinci_status status = VINCI_OK;
  *result = NULL;
  if (debug->out_of_memory)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the debugger");
  if (debug->over)
    status = device_close(&debug->device, status, result);
  else if (device_close(&debug->device, VINCI_E_USAGE, result) != VINCI_E_USAGE)
    vinci_bug("a run that was dropped has ended");
  free_debug(debug);
  return status;
}

/* ---- the state ---- */

const struct device *debug_device(const struct debug *debug) { return &debug->device; }

uint64_t debug_now_ps(const struct debug *debug) { return debug->now_ps; }

uint64_t debug_cycle(const struct debug *debug, uint32_t core) {
  return clock_edge_at(&debug->device.cores[core].clock, debug->now_ps);
}

const struct debug_slot *debug_slot(const struct debug *debug, uint32_t core, enum pipe pipe,
                                    size_t index) {
  const struct slots *slots = &debug->cores[core].slots[pipe];
  return index < slots->count ? slots_at(slots, index) : NULL;
}

const uint8_t *debug_bytes(const struct debug *debug, uint32_t core, enum space space) {
  if (!debug->values)
    return NULL;
  return space == SPACE_GM ? debug->values->gm : debug->values->cores[core].bytes[space];
}

struct range {
  uint64_t address, end;
  bool met;
};

static bool meet(void *context, int64_t address, uint64_t bytes) {
  struct range *range = context;
  uint64_t start = (uint64_t)address;
  range->met = start < range->end && start + bytes > range->address;
  return !range->met;
}

bool debug_writes(const struct debug *debug, const struct inst *inst, enum space space,
                  uint64_t address, uint64_t bytes) {
  struct inst_access access[INST_ACCESS_MAX];
  struct range range = {.address = address, .end = address + bytes};
  unsigned count = registry_access((enum isa_op)inst->op)(debug->device.soc, inst, access);
  for (unsigned i = 0; i < count && !range.met; i++)
    if (access[i].write && access[i].space == space && access[i].remote == 0 && access[i].bytes > 0)
      (void)inst_each_run(&access[i], meet, &range);
  return range.met;
}
