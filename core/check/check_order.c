/* SPDX-License-Identifier: Apache-2.0 */
/* Happens-before by vector clocks; check_order.h says what it rests on. */
#include "core/check/check_order.h"

#include <stdlib.h>
#include <string.h>

#include "core/control/flags.h"
#include "core/isa/source.h"

enum { CLOCK_VIEW = PIPE_COUNT, CLOCK_PARTS = ORDER_STORES + 1, HISTORY_CAPACITY = 16 };

/* What is known to have completed: the epoch of each pipe of the core, and of its scalar stores,
 * and which view of the other cores is known. All parts only grow, so that joining is taking the
 * larger. */
struct order_clock {
  uint32_t at[CLOCK_PARTS];
};

/* What is known of all cores. Shared, and never changed. */
struct order_view {
  uint32_t uses;
  uint32_t row;    /* of the signal it came with */
  uint32_t *block; /* by core: block + 1 that the clock is about; 0: nothing known */
  struct order_clock *clock;
};

/* Sets that a wait can be told apart by, where flags count (core/control/flags.h). */
enum { SETS_APART = 4 };

struct order_flag {
  struct order_clock clock;
  uint32_t set_row, wait_row, wait_epoch;
  bool is_set, was_waited;
  uint8_t again;                        /* sets that no wait has ended yet, after the first */
  struct order_clock later[SETS_APART]; /* of those; further ones join the last */
};

/* Signals on their way: first in, first out. */
struct order_fifo {
  struct order_view **view;
  uint32_t head, count;
};

/* Things that are looked up by a number that only grows. */
struct order_history {
  void *items;
  uint64_t first;
  uint32_t count, capacity;
};

struct order_core {
  uint32_t block;
  struct order_clock clock[PIPE_COUNT]; /* what a pipe's next instruction may rely on */
  uint32_t epoch[CLOCK_PARTS];
  uint64_t waits[PIPE_COUNT]; /* of the scalar unit, as far as the pipe has heard of them */
  struct order_flag *flags;
  struct order_history issued; /* struct order_clock: of the scalar unit after each wait */
  struct order_history views;  /* struct order_view * */
  struct order_fifo *arrived;  /* by flag (core/control/signals.h) */
  struct order_fifo *sent;     /* by flag and mode */
  bool pipes_wait;             /* for signals */
};

struct order {
  const struct vinci_soc *soc;
  struct arena *arena;
  bool flags_count;        /* their sets */
  bool scalar_is_in_order; /* the compiler puts in what scalar code has to wait for */
  bool vector_is_in_order; /* as if a barrier stood before each vector instruction */
  struct order_core *cores;
  uint32_t core_count;
  uint32_t depth; /* of the FIFOs */
};

static void join(struct order_clock *clock, const struct order_clock *other) {
  for (unsigned i = 0; i < CLOCK_PARTS; i++)
    clock->at[i] = clock->at[i] > other->at[i] ? clock->at[i] : other->at[i];
}

/* ---- histories ------------------------------------------------------------------- */

/* Room for one more item, at the end; the items before `oldest` are given up. */
static void *history_push(struct order_history *history, size_t item_bytes, uint64_t oldest) {
  if (history->count == history->capacity) {
    uint64_t gone = oldest > history->first ? oldest - history->first : 0;
    if (gone > history->count)
      gone = history->count;
    history->count -= (uint32_t)gone;
    history->first += gone;
    char *items = history->items;
    if (gone > 0)
      memmove(items, items + gone * item_bytes, history->count * item_bytes);
    if (history->count * 2 >= history->capacity) {
      uint32_t capacity = history->capacity ? history->capacity * 2 : HISTORY_CAPACITY;
      void *grown = realloc(history->items, capacity * item_bytes);
      if (!grown)
        return NULL;
      history->items = grown;
      history->capacity = capacity;
    }
  }
  return (char *)history->items + history->count++ * item_bytes;
}

static const void *history_at(const struct order_history *history, size_t item_bytes,
                              uint64_t index) {
  if (index < history->first || index - history->first >= history->count)
    return NULL;
  return (const char *)history->items + (index - history->first) * item_bytes;
}

/* ---- views ------------------------------------------------------------------------ */

static struct order_view *view_new(const struct order *order, const struct order_view *like) {
  size_t clocks = order->core_count * sizeof(struct order_clock);
  size_t blocks = order->core_count * sizeof(uint32_t);
  struct order_view *view = malloc(sizeof *view + clocks + blocks);
  if (!view)
    return NULL;
  view->uses = 1;
  view->row = 0;
  view->clock = (struct order_clock *)(view + 1);
  view->block = (uint32_t *)(view->clock + order->core_count);
  if (like) /* clocks and blocks lie together */
    memcpy(view->clock, like->clock, clocks + blocks);
  else
    memset(view->clock, 0, clocks + blocks);
  return view;
}

static void view_drop(struct order_view *view) {
  if (view && --view->uses == 0)
    free(view);
}

static void view_join(const struct order *order, struct order_view *view,
                      const struct order_view *other) {
  for (uint32_t i = 0; i < order->core_count; i++) {
    if (other->block[i] == 0)
      continue;
    if (view->block[i] == other->block[i]) {
      join(&view->clock[i], &other->clock[i]);
    } else {
      view->block[i] = other->block[i];
      view->clock[i] = other->clock[i];
    }
  }
}

/* Of a view that has been given up, the first one that is there, which has all of that. */
static const struct order_view *view_of(const struct order_core *core, uint32_t index) {
  uint64_t known = index > 0 && index < core->views.first ? core->views.first : index;
  struct order_view *const *view = history_at(&core->views, sizeof *view, known);
  return view ? *view : NULL;
}

static void fifo_clear(const struct order *order, struct order_fifo *fifo) {
  for (; fifo->count > 0; fifo->count--) {
    view_drop(fifo->view[fifo->head]);
    fifo->head = (fifo->head + 1) % order->depth;
  }
}

static struct order_view *fifo_pop(const struct order *order, struct order_fifo *fifo) {
  if (fifo->count == 0)
    return NULL;
  struct order_view *view = fifo->view[fifo->head];
  fifo->head = (fifo->head + 1) % order->depth;
  fifo->count--;
  return view;
}

/* Adds one more use of a view; a signal that finds no room is lost. */
static void fifo_push(const struct order *order, struct order_fifo *fifo, struct order_view *view) {
  if (fifo->count == order->depth)
    return;
  view->uses++;
  fifo->view[(fifo->head + fifo->count++) % order->depth] = view;
}

/* ---- blocks -------------------------------------------------------------------------- */

static void forget_views(struct order_core *core) {
  struct order_view **views = core->views.items;
  for (uint32_t i = 0; i < core->views.count; i++)
    view_drop(views[i]);
  core->views.count = 0;
  core->views.first = 1; /* 0: nothing is known of other cores */
}

static void clear_signals(struct order *order, struct order_core *core) {
  for (uint32_t flag = 0; flag < signals_flags(order->soc); flag++) {
    fifo_clear(order, &core->arrived[flag]);
    for (unsigned mode = 0; mode < CROSS_MODES; mode++)
      fifo_clear(order, &core->sent[flag * CROSS_MODES + mode]);
  }
}

void order_begin_block(struct order *order, const struct machine_step *step) {
  struct order_core *core = &order->cores[step->core];
  core->block = step->block;
  memset(core->clock, 0, sizeof core->clock);
  memset(core->waits, 0, sizeof core->waits);
  for (unsigned i = 0; i < CLOCK_PARTS; i++)
    core->epoch[i] = 1;
  memset(core->flags, 0, flags_count(order->soc) * sizeof *core->flags);
  core->issued.count = 0;
  core->issued.first = 1; /* before the first wait nothing is known */
  forget_views(core);
  core->pipes_wait = false;
  clear_signals(order, core);
}

/* ---- what the instructions do ----------------------------------------------------------- */

/* Ends the present epoch of a pipe; the clock of a pipe that knows of this epoch. */
static struct order_clock release(struct order_core *core, enum pipe pipe) {
  struct order_clock clock = core->clock[pipe];
  clock.at[pipe] = core->epoch[pipe]++;
  return clock;
}

/* The same of the scalar unit with its stores, where these are over too. */
static struct order_clock release_scalar(struct order_core *core) {
  struct order_clock clock = release(core, PIPE_S);
  clock.at[ORDER_STORES] = core->epoch[ORDER_STORES]++;
  return clock;
}

static struct order_clock release_with_stores(struct order_core *core, enum pipe pipe) {
  return pipe == PIPE_S ? release_scalar(core) : release(core, pipe);
}

/* The scalar unit has waited: what it issues from now on knows what it knows. */
static bool end_scalar_wait(struct order_core *core, const struct machine_step *step) {
  core->clock[PIPE_S] = release(core, PIPE_S);
  struct order_clock *item = history_push(&core->issued, sizeof *item, step->oldest_waits);
  if (!item)
    return false;
  *item = core->clock[PIPE_S];
  core->waits[PIPE_S] = step->waits + 1;
  return true;
}

static bool barrier_all(struct order_core *core, const struct machine_step *step) {
  for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
    struct order_clock clock = release_with_stores(core, (enum pipe)pipe);
    join(&core->clock[PIPE_S], &clock);
  }
  return end_scalar_wait(core, step);
}

static struct order_flag *flag_of(const struct order *order, const struct order_core *core,
                                  const struct inst *inst) {
  return &core->flags[flags_index_of(order->soc, inst)];
}

/* A flag that is set again keeps its first clock: the wait may end with that. */
static void set_flag(struct order *order, struct order_core *core, const struct machine_step *step,
                     struct order_flag_use *use) {
  struct order_flag *flag = flag_of(order, core, step->inst);
  enum pipe dst = (enum pipe)step->inst->arg[SET_FLAG_DST];
  bool after_wait =
      !flag->was_waited || dst == step->pipe || core->clock[step->pipe].at[dst] >= flag->wait_epoch;
  *use = (struct order_flag_use){.set_row = flag->set_row,
                                 .wait_row = flag->wait_row,
                                 .may_be_set = !order->flags_count && !flag->is_set && !after_wait};
  struct order_clock clock = release_with_stores(core, step->pipe);
  if (flag->is_set && order->flags_count) {
    if (flag->again < SETS_APART)
      flag->later[flag->again++] = clock;
    else
      join(&flag->later[SETS_APART - 1], &clock);
  }
  if (flag->is_set)
    return;
  flag->clock = clock;
  flag->is_set = true;
  flag->set_row = step->inst->row;
}

static bool wait_flag(struct order *order, struct order_core *core,
                      const struct machine_step *step) {
  struct order_flag *flag = flag_of(order, core, step->inst);
  join(&core->clock[step->pipe], &flag->clock);
  flag->is_set = flag->again > 0;
  if (flag->again > 0) {
    flag->clock = flag->later[0];
    memmove(flag->later, flag->later + 1, --flag->again * sizeof *flag->later);
  }
  flag->was_waited = true;
  flag->wait_row = step->inst->row;
  flag->wait_epoch = core->epoch[step->pipe];
  return step->pipe != PIPE_S || end_scalar_wait(core, step);
}

static bool signal(struct order *order, struct order_core *core, const struct machine_step *step) {
  const struct inst *inst = step->inst;
  int64_t mode = inst->arg[CROSS_SET_MODE];
  size_t flag = signals_flag(order->soc, mode, inst->arg[CROSS_SET_ID]);
  size_t slot = flag * CROSS_MODES + (size_t)mode;
  uint32_t known = core->clock[step->pipe].at[CLOCK_VIEW];
  struct order_view *view = view_new(order, view_of(core, known));
  if (!view)
    return false;
  view->row = inst->row;
  view->block[step->core] = core->block + 1;
  view->clock[step->core] = release_with_stores(core, step->pipe);
  fifo_push(order, &core->sent[slot], view);
  view_drop(view);
  return true;
}

bool order_deliver(struct order *order, const struct signal_delivery *delivery) {
  struct order_view *all = view_new(order, NULL);
  if (!all)
    return false;
  for (uint32_t i = 0; i < delivery->sender_count; i++) {
    struct order_core *sender = &order->cores[delivery->senders[i]];
    struct order_view *view =
        fifo_pop(order, &sender->sent[delivery->flag * CROSS_MODES + delivery->mode]);
    if (!view)
      continue;
    view_join(order, all, view);
    all->row = view->row;
    view_drop(view);
  }
  for (uint32_t i = 0; i < delivery->receiver_count; i++) {
    fifo_push(order, &order->cores[delivery->receivers[i]].arrived[delivery->arrives], all);
  }
  view_drop(all);
  return true;
}

/*
 * Views before the one that the oldest clock of the scalar unit still refers to are given up, and
 * older ones than VIEWS_KEPT where pipes wait.
 */
enum { VIEWS_KEPT = 256 };
static void prune_views(struct order_core *core, uint64_t oldest_waits) {
  const struct order_clock *clock = history_at(&core->issued, sizeof *clock, oldest_waits);
  uint64_t newest = core->views.first + core->views.count;
  uint64_t oldest = clock ? clock->at[CLOCK_VIEW] : 0;
  if (core->pipes_wait && newest > VIEWS_KEPT)
    oldest = oldest > newest - VIEWS_KEPT ? oldest : newest - VIEWS_KEPT;
  struct order_view **views = core->views.items;
  uint32_t gone = 0;
  while (gone < core->views.count && core->views.first + gone < oldest)
    view_drop(views[gone++]);
  if (gone == 0)
    return;
  core->views.count -= gone;
  core->views.first += gone;
  memmove(views, views + gone, core->views.count * sizeof *views);
}

static bool end_wait(struct order_core *core, const struct machine_step *step) {
  return step->pipe != PIPE_S || end_scalar_wait(core, step);
}

/* What one pipe has learned of other cores counts for each that takes a signal later: views are in
 * one row. */
static bool take_signal(struct order *order, struct order_core *core,
                        const struct machine_step *step) {
  uint32_t flag = signals_wait_flag(order->soc, step->inst);
  struct order_view *view = fifo_pop(order, &core->arrived[flag]);
  if (!view)
    return end_wait(core, step);
  struct order_clock *clock = &core->clock[step->pipe];
  core->pipes_wait |= step->pipe != PIPE_S;
  if (view->block[step->core] == core->block + 1)
    join(clock, &view->clock[step->core]);
  uint64_t newest = core->views.first + core->views.count - 1;
  const struct order_view *known = core->views.count > 0 ? view_of(core, (uint32_t)newest) : NULL;
  struct order_view *both = view_new(order, known ? known : view);
  if (both && known)
    view_join(order, both, view);
  view_drop(view);
  if (!both)
    return false;
  if (core->views.count == core->views.capacity)
    prune_views(core, step->oldest_waits);
  struct order_view **slot = history_push(&core->views, sizeof *slot, core->views.first);
  if (!slot) {
    view_drop(both);
    return false;
  }
  *slot = both;
  clock->at[CLOCK_VIEW] = (uint32_t)(core->views.first + core->views.count - 1);
  return end_wait(core, step);
}

bool order_step(struct order *order, const struct machine_step *step, struct order_flag_use *use) {
  struct order_core *core = &order->cores[step->core];
  if (step->pipe != PIPE_ALL && step->waits > core->waits[step->pipe]) {
    const struct order_clock *issued = history_at(&core->issued, sizeof *issued, step->waits);
    if (issued)
      join(&core->clock[step->pipe], issued);
    core->waits[step->pipe] = step->waits;
  }
  switch (step->inst->op) {
  case OP_SET_FLAG:
    set_flag(order, core, step, use);
    return true;
  case OP_WAIT_FLAG:
    return wait_flag(order, core, step);
  case OP_PIPE_BARRIER:
    if (step->pipe == PIPE_ALL)
      return barrier_all(core, step);
    core->clock[step->pipe] = release(core, step->pipe);
    return true;
  case OP_FFTS_CROSS_CORE_SYNC:
    return signal(order, core, step);
  case OP_WAIT_FLAG_DEV:
    return take_signal(order, core, step);
  case OP_VF_CALL:
  case OP_SIMT_CALL:
  case OP_REG_MEM_BAR:
    /* Vector functions follow each other: chosen, as the vector unit of the 950 is in order. */
    core->clock[PIPE_V] = release(core, PIPE_V);
    return true;
  default:
    if (step->pipe == PIPE_V && order->vector_is_in_order)
      core->clock[PIPE_V] = release(core, PIPE_V);
    return true;
  }
}

bool order_read(struct order *order, const struct machine_step *step) {
  return end_scalar_wait(&order->cores[step->core], step);
}

void order_clean(struct order *order, const struct machine_step *step) {
  struct order_core *core = &order->cores[step->core];
  core->clock[PIPE_S] = release_scalar(core);
}

/* Threads come after what stands before them on the vector unit, as functions do. Among themselves
 * they are not told apart. */
void order_thread(struct order *order, const struct machine_step *step) {
  struct order_core *core = &order->cores[step->core];
  core->clock[PIPE_V] = release(core, PIPE_V);
}

/* ---- questions ---------------------------------------------------------------------------- */

struct order_tag order_tag(const struct order *order, const struct machine_step *step) {
  unsigned place = step->inst->op == OP_SCALAR_STORE ? ORDER_STORES : (unsigned)step->pipe;
  return (struct order_tag){
      .epoch = order->cores[step->core].epoch[place],
      .row = step->inst->row,
      .core = (uint16_t)step->core,
      .block = (uint16_t)step->block,
      .pipe = (uint8_t)place,
  };
}

static bool is_scalar(unsigned pipe) { return pipe == PIPE_S || pipe == ORDER_STORES; }

bool order_before(const struct order *order, const struct machine_step *step,
                  struct order_tag earlier) {
  const struct order_core *core = &order->cores[step->core];
  const struct order_clock *clock = &core->clock[step->pipe];
  if (earlier.core == step->core && earlier.block == core->block &&
      ((step->pipe == PIPE_S && is_scalar(earlier.pipe)) ||
       (order->scalar_is_in_order && (step->pipe == PIPE_S || is_scalar(earlier.pipe)))))
    return true;
  if (earlier.core == step->core && earlier.block == core->block)
    return clock->at[earlier.pipe] >= earlier.epoch;
  const struct order_view *view = view_of(core, clock->at[CLOCK_VIEW]);
  return view && view->block[earlier.core] == (uint32_t)earlier.block + 1 &&
         view->clock[earlier.core].at[earlier.pipe] >= earlier.epoch;
}

uint32_t order_block(const struct order *order, uint32_t core) { return order->cores[core].block; }

bool order_next_set_flag(const struct order *order, uint32_t core, uint32_t *index, uint32_t *row) {
  const struct order_flag *flags = order->cores[core].flags;
  while (*index < flags_count(order->soc)) {
    const struct order_flag *flag = &flags[(*index)++];
    if (!flag->is_set)
      continue;
    *row = flag->set_row;
    return true;
  }
  return false;
}

bool order_next_signal(struct order *order, uint32_t index, uint32_t *row, bool *arrived) {
  struct order_core *core = &order->cores[index];
  for (uint32_t flag = 0; flag < signals_flags(order->soc); flag++) {
    for (unsigned slot = 0; slot <= CROSS_MODES; slot++) {
      *arrived = slot == CROSS_MODES;
      struct order_view *view =
          fifo_pop(order, *arrived ? &core->arrived[flag] : &core->sent[flag * CROSS_MODES + slot]);
      if (!view)
        continue;
      *row = view->row;
      view_drop(view);
      return true;
    }
  }
  return false;
}

/* ---- construction --------------------------------------------------------------------------- */

static bool create_fifos(struct order *order, struct order_fifo **fifos, size_t count) {
  *fifos = ARENA_ARRAY(order->arena, struct order_fifo, count);
  if (!*fifos)
    return false;
  for (size_t i = 0; i < count; i++) {
    (*fifos)[i].view = ARENA_ARRAY(order->arena, struct order_view *, order->depth);
    if (!(*fifos)[i].view)
      return false;
  }
  return true;
}

static bool create_core(struct order *order, struct order_core *core) {
  size_t signals = signals_flags(order->soc);
  core->flags = arena_alloc(order->arena, flags_count(order->soc), sizeof *core->flags);
  core->issued.first = core->views.first = 1;
  return core->flags && create_fifos(order, &core->arrived, signals) &&
         create_fifos(order, &core->sent, signals * CROSS_MODES);
}

struct order *order_create(struct arena *arena, const struct vinci_soc *soc, uint32_t core_count,
                           const struct program_source *source) {
  struct order *order = ARENA_NEW(arena, struct order);
  if (!order)
    return NULL;
  order->soc = soc;
  order->flags_count = source != NULL;
  order->vector_is_in_order = order->scalar_is_in_order = source && source->auto_sync;
  order->arena = arena;
  order->core_count = core_count;
  order->depth = (uint32_t)(soc->cross_core_sets_max > 0 ? soc->cross_core_sets_max : 1);
  order->cores = ARENA_ARRAY(arena, struct order_core, order->core_count);
  for (uint32_t i = 0; order->cores && i < order->core_count; i++)
    if (!create_core(order, &order->cores[i]))
      return NULL;
  return order->cores ? order : NULL;
}

void order_free(struct order *order) {
  if (!order)
    return;
  for (uint32_t i = 0; i < order->core_count; i++) {
    struct order_core *core = &order->cores[i];
    forget_views(core);
    clear_signals(order, core);
    free(core->issued.items);
    free(core->views.items);
  }
}
