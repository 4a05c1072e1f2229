/* SPDX-License-Identifier: Apache-2.0 */
/* The abstract machine: kernels, blocks on cores, signals between cores. */
#include "core/machine/machine.h"

#include <stdio.h>
#include <string.h>

#include "core/machine/machine_core.h"

uint64_t machine_random(struct machine *machine) {
  uint64_t x = machine->random += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

void machine_core_name(const struct machine *machine, uint32_t index, char *buffer, size_t size) {
  const struct machine_core *core = &machine->cores[index];
  struct core_result place = {.kind = core->kind};
  soc_core_place(machine->soc, core->kind, index - machine->first_core[core->kind], &place.cluster,
                 &place.member);
  result_core_name(&place, buffer, size);
}

static void fail_at(struct machine_core *core, uint32_t line, const char *format,
                    va_list arguments) {
  struct machine *machine = core->machine;
  char text[512], name[64];
  vsnprintf(text, sizeof text, format, arguments);
  machine_core_name(machine, core->index, name, sizeof name);
  machine->status = diag_error_at(machine->diag, VINCI_E_INPUT,
                                  program_position(machine->trace, line), "%s, on %s", text, name);
}

void machine_fail(struct machine_core *core, uint32_t line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fail_at(core, line, format, arguments);
  va_end(arguments);
}

void machine_misused(struct machine_core *core, const struct machine_step *step,
                     enum machine_misuse misuse, uint32_t line, const char *format, ...) {
  struct machine *machine = core->machine;
  for (size_t i = 0; i < machine->observer_count; i++) {
    const struct machine_observer *observer = &machine->observers[i];
    if (observer->misuse && !observer->misuse(observer->context, step, misuse, line))
      machine->stopped = true;
  }
  if (machine->tolerant)
    return;
  va_list arguments;
  va_start(arguments, format);
  fail_at(core, step->inst->line, format, arguments);
  va_end(arguments);
}

/* ---- flags between cores ---------------------------------------------------------- */

/* Lists the cores of a block's kind, or all physical cores of the kind. */
static uint32_t list_group(const struct machine *machine, const struct machine_core *core,
                           enum core_kind kind, bool whole_kind, uint32_t *list) {
  uint32_t count = 0;
  if (whole_kind) {
    for (; count < machine->kind_count[kind]; count++)
      list[count] = machine->first_core[kind] + count;
    return count;
  }
  const struct machine_unit *unit = &machine->units[core->unit];
  for (uint32_t i = 0; i < unit->core_count; i++)
    if (machine->cores[unit->core[i]].kind == kind)
      list[count++] = unit->core[i];
  return count;
}

static void deliver(struct machine_core *core, const struct machine_step *step,
                    const struct machine_delivery *delivery) {
  struct machine *machine = core->machine;
  for (uint32_t i = 0; i < delivery->sender_count; i++)
    machine->cores[delivery->senders[i]].cross[delivery->id].sent[delivery->mode]--;
  for (uint32_t i = 0; i < delivery->receiver_count; i++) {
    struct machine_cross *flag = &machine->cores[delivery->receivers[i]].cross[delivery->id];
    if (flag->arrived == (uint32_t)machine->soc->cross_core_sets_max)
      machine_misused(core, step, MISUSE_CROSS_UNTAKEN, 0,
                      "cross-core flag %u has %u signals that nobody took, its limit", delivery->id,
                      flag->arrived);
    else
      flag->arrived++;
  }
  for (size_t i = 0; i < machine->observer_count; i++) {
    const struct machine_observer *observer = &machine->observers[i];
    if (observer->deliver && !observer->deliver(observer->context, delivery))
      machine->stopped = true;
  }
}

/* Whether a signal has a meaning and finds room in its sender's counter. */
static bool may_signal(struct machine_core *core, const struct machine_step *step, uint32_t mode,
                       uint32_t id) {
  if (mode != CROSS_ALL && !step->kernel->mixed) {
    machine_misused(core, step, MISUSE_CROSS_NOT_MIXED, 0,
                    "ffts_cross_core_sync mode %u needs a kernel with AIC and AIV streams", mode);
    return false;
  }
  if (mode == CROSS_PAIR && core->kind == CORE_AIC) {
    machine_misused(core, step, MISUSE_CROSS_AIC_PAIR, 0,
                    "ffts_cross_core_sync mode 1 orders the AIV of a block, not its AIC");
    return false;
  }
  uint32_t sent = core->cross[id].sent[mode];
  if (sent == (uint32_t)core->machine->soc->cross_core_sets_max) {
    machine_misused(core, step, MISUSE_CROSS_AHEAD, 0,
                    "cross-core flag %u is set %u times ahead of other cores, its limit", id, sent);
    return false;
  }
  return true;
}

void machine_signal(struct machine_core *core, const struct machine_step *step) {
  struct machine *machine = core->machine;
  uint32_t mode = (uint32_t)step->inst->arg[CROSS_SET_MODE];
  uint32_t id = (uint32_t)step->inst->arg[CROSS_SET_ID];
  if (!may_signal(core, step, mode, id))
    return;
  core->cross[id].sent[mode]++;
  uint32_t *senders = machine->members;
  uint32_t sender_count = list_group(machine, core, core->kind, mode == CROSS_ALL, senders);
  for (uint32_t i = 0; i < sender_count; i++)
    if (machine->cores[senders[i]].cross[id].sent[mode] == 0)
      return;
  struct machine_delivery delivery = {
      .senders = senders,
      .receivers = senders,
      .sender_count = sender_count,
      .receiver_count = sender_count,
      .id = id,
      .mode = mode,
  };
  if (mode == CROSS_BLOCK) {
    enum core_kind other = core->kind == CORE_AIC ? CORE_AIV : CORE_AIC;
    delivery.receivers = senders + sender_count;
    delivery.receiver_count = list_group(machine, core, other, false, senders + sender_count);
  }
  deliver(core, step, &delivery);
}

/* ---- progress -------------------------------------------------------------------------- */

void machine_show_progress(struct machine *machine) {
  machine->progress_rows = 0;
  if (!machine->options.progress)
    return;
  unsigned permille = program_share_permille(machine->instructions, machine->instructions_total);
  if (!machine->options.progress(machine->options.progress_context, machine->instructions,
                                 permille))
    machine->status =
        diag_error(machine->diag, VINCI_E_LIMIT, "%s: stopped by the caller", machine->trace->path);
}

/* ---- kernels ------------------------------------------------------------------------ */

static void form_units(struct machine *machine, const struct program_kernel *kernel) {
  enum core_kind kind = CORE_AIC;
  while (!kernel->stream[kind].present)
    kind++;
  uint32_t per_cube = soc_vectors_per_cube(machine->soc);
  machine->unit_count = machine->kind_count[kind];
  for (uint32_t u = 0; u < machine->unit_count; u++) {
    struct machine_unit *unit = &machine->units[u];
    *unit = (struct machine_unit){.core = {machine->first_core[kind] + u}, .core_count = 1};
    for (uint32_t v = 0; kernel->mixed && v < kernel->vectors_per_cube; v++)
      unit->core[unit->core_count++] = machine->first_core[CORE_AIV] + u * per_cube + v;
  }
}

/* Blocks go to the free units, in order. */
static void dispatch(struct machine *machine, const struct program_kernel *kernel) {
  for (uint32_t u = 0; u < machine->unit_count && machine->next_block < kernel->blocks; u++) {
    struct machine_unit *unit = &machine->units[u];
    if (unit->running > 0)
      continue;
    uint32_t block = machine->blocks ? machine->blocks[machine->next_block] : machine->next_block;
    unit->running = unit->core_count;
    for (uint32_t i = 0; i < unit->core_count; i++) {
      struct machine_core *core = &machine->cores[unit->core[i]];
      core->unit = u;
      machine_core_start(core, block, i > 0 ? i - 1 : 0);
    }
    machine->next_block++;
  }
}

/* Which core has the i-th turn of a round. */
static uint32_t turn(struct machine *machine, uint32_t i) {
  switch (machine->options.order) {
  case MACHINE_PRODUCERS_FIRST:
    return machine->core_count - 1 - i;
  case MACHINE_SHUFFLED:
    return (uint32_t)(machine_random(machine) % machine->core_count);
  default:
    return machine->turns ? machine->turns[i] : i;
  }
}

static void shuffle(struct machine *machine, uint32_t *list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t other = (uint32_t)(machine_random(machine) % (i + 1));
    list[i] = list[other];
    list[other] = i;
  }
}

static bool run_round(struct machine *machine) {
  bool progress = false;
  if (machine->turns)
    shuffle(machine, machine->turns, machine->core_count);
  for (uint32_t i = 0; i < machine->core_count && machine_goes_on(machine); i++) {
    struct machine_core *core = &machine->cores[turn(machine, i)];
    if (core->has_block)
      progress |= machine_core_run(core);
  }
  return progress;
}

/* Every core in turn: what random rounds may have passed over. */
static bool run_each(struct machine *machine) {
  bool progress = false;
  for (uint32_t i = 0; i < machine->core_count && machine_goes_on(machine); i++)
    if (machine->cores[i].has_block)
      progress |= machine_core_run(&machine->cores[i]);
  return progress;
}

static void run_kernel(struct machine *machine) {
  const struct program_kernel *kernel = &machine->trace->kernels[machine->kernel];
  for (size_t i = 0; i < machine->observer_count; i++) {
    const struct machine_observer *observer = &machine->observers[i];
    if (observer->begin_kernel && !observer->begin_kernel(observer->context, kernel))
      machine->stopped = true;
  }
  form_units(machine, kernel);
  machine->next_block = machine->blocks_done = 0;
  if (machine->blocks)
    shuffle(machine, machine->blocks, kernel->blocks);
  while (machine_goes_on(machine) && machine->blocks_done < kernel->blocks) {
    dispatch(machine, kernel);
    if (!run_round(machine) && machine_goes_on(machine) && !run_each(machine) &&
        machine_goes_on(machine))
      machine->status = machine_report_hang(machine);
  }
}

/* ---- construction --------------------------------------------------------------------- */

static bool uses_kind(const struct vinci_trace *trace, enum core_kind kind) {
  for (uint32_t k = 0; k < trace->kernel_count; k++)
    if (trace->kernels[k].stream[kind].present)
      return true;
  return false;
}

uint32_t machine_kind_count(const struct vinci_soc *soc, const struct vinci_trace *trace,
                            enum core_kind kind) {
  return uses_kind(trace, kind) ? soc_core_count(soc, kind) : 0;
}

uint32_t machine_core_count(const struct vinci_soc *soc, const struct vinci_trace *trace) {
  uint32_t count = 0;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    count += machine_kind_count(soc, trace, (enum core_kind)kind);
  return count;
}

static bool create_cores(struct machine *machine) {
  uint32_t index = 0;
  uint32_t var_count = program_largest_var_count(machine->trace);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    machine->first_core[kind] = index;
    machine->kind_count[kind] =
        machine_kind_count(machine->soc, machine->trace, (enum core_kind)kind);
    for (uint32_t n = 0; n < machine->kind_count[kind]; n++, index++) {
      machine->cores[index].index = index;
      machine->cores[index].kind = (enum core_kind)kind;
      if (!machine_core_create(&machine->cores[index], machine, var_count))
        return false;
    }
  }
  return true;
}

/* Of a walk in a shuffled order. */
static enum vinci_status create_lists(struct machine *machine) {
  if (machine->options.order != MACHINE_PROGRAM_ORDER || machine->options.walk_order_seed == 0)
    return VINCI_OK;
  uint32_t blocks = 0;
  for (uint32_t k = 0; k < machine->trace->kernel_count; k++)
    if (machine->trace->kernels[k].blocks > blocks)
      blocks = machine->trace->kernels[k].blocks;
  machine->turns = ARENA_ARRAY(&machine->arena, uint32_t, machine->core_count);
  machine->blocks = ARENA_ARRAY(&machine->arena, uint32_t, blocks);
  if (!machine->turns || !machine->blocks)
    return diag_error(machine->diag, VINCI_E_NOMEM, "out of memory for the order of the blocks");
  return VINCI_OK;
}

static enum vinci_status create(struct machine *machine) {
  struct arena *arena = &machine->arena;
  machine->core_count = machine_core_count(machine->soc, machine->trace);
  if (machine->core_count == 0)
    return diag_error(machine->diag, VINCI_E_INPUT, "%s: no core of %s can run this trace",
                      machine->trace->path, machine->soc->name);
  machine->cores = ARENA_ARRAY(arena, struct machine_core, machine->core_count);
  machine->units = ARENA_ARRAY(arena, struct machine_unit, machine->core_count);
  machine->members = ARENA_ARRAY(arena, uint32_t, 2 * (size_t)machine->core_count);
  if (!machine->cores || !machine->units || !machine->members || !create_cores(machine))
    return diag_error(machine->diag, VINCI_E_NOMEM, "out of memory for the cores of %s",
                      machine->soc->name);
  if (machine->options.progress) /* no core has begun to use its variables */
    machine->instructions_total =
        program_instructions(machine->trace, machine->cores[0].stream.variables);
  for (size_t i = 0; i < machine->observer_count; i++)
    machine->tolerant |= machine->observers[i].misuse != NULL;
  return create_lists(machine);
}

enum vinci_status machine_run_with(const struct vinci_soc *soc, const struct vinci_trace *trace,
                                   const struct machine_options *options,
                                   const struct machine_observer *observers, size_t observer_count,
                                   struct vinci_diag *diag) {
  struct machine machine = {
      .soc = soc,
      .trace = trace,
      .observers = observers,
      .observer_count = observer_count,
      .diag = diag,
  };
  machine.options = options ? *options : (struct machine_options){.order = MACHINE_CONSUMERS_FIRST};
  machine.random = machine.options.seed + machine.options.walk_order_seed;
  if (trace->soc_digest != soc_digest(soc))
    return diag_error(diag, VINCI_E_USAGE, "%s was loaded for another SoC than this %s",
                      trace->path, soc->name);
  machine.status = create(&machine);
  for (; machine.kernel < trace->kernel_count && machine_goes_on(&machine); machine.kernel++)
    run_kernel(&machine);
  arena_free(&machine.arena);
  return machine.status;
}
