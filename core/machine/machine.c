/* SPDX-License-Identifier: Apache-2.0 */
/* The abstract machine: kernels, blocks on cores, signals between cores. */
#include "core/machine/machine.h"

#include "core/machine/machine_core.h"

void machine_fail(struct machine *machine, uint32_t core, uint32_t line,
                  const struct misuse *misuse) {
  machine->status = placement_report(&machine->placement, core, line, misuse, machine->diag);
}

void machine_misused(struct machine *machine, uint32_t core, const struct machine_step *step,
                     const struct misuse *misuse) {
  MACHINE_TELL(machine, misuse, step, misuse);
  if (!machine->tolerant)
    machine_fail(machine, core, step->inst->line, misuse);
}

void machine_signal(struct machine_core *core, const struct machine_step *step) {
  struct machine *machine = core->machine;
  const int64_t *arg = step->inst->arg;
  struct signal_delivery delivery;
  struct misuse misuse;
  if (!signals_give(&machine->signals, core->index, (enum cross_mode)arg[CROSS_SET_MODE],
                    (uint32_t)arg[CROSS_SET_ID], &delivery, &misuse))
    machine_misused(machine, core->index, step, &misuse);
  for (uint32_t i = 0; i < delivery.receiver_count; i++)
    if (!signals_arrive(&machine->signals, delivery.receivers[i], delivery.arrives, &misuse))
      machine_misused(machine, delivery.receivers[i], step, &misuse);
  if (delivery.receiver_count > 0)
    MACHINE_TELL(machine, deliver, &delivery);
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

/* Blocks go to the free units, in order. */
static void dispatch(struct machine *machine) {
  struct placement *placement = &machine->placement;
  for (uint32_t u = 0;
       u < placement->unit_count && placement->next_block < placement->kernel->blocks; u++) {
    struct placement_unit *unit = &placement->units[u];
    if (unit->running > 0)
      continue;
    uint32_t block = placement_take(placement, unit);
    if (machine->blocks)
      block = machine->blocks[block];
    for (uint32_t i = 0; i < unit->core_count; i++)
      machine_core_start(&machine->cores[unit->core[i]], block, i > 0 ? i - 1 : 0);
  }
}

/* Which core has the i-th turn of a round. */
static uint32_t turn(struct machine *machine, uint32_t i) {
  switch (machine->options.order) {
  case MACHINE_PRODUCERS_FIRST:
    return machine->placement.core_count - 1 - i;
  case MACHINE_SHUFFLED:
    return (uint32_t)(splitmix64_next(&machine->random) % machine->placement.core_count);
  default:
    return machine->turns ? machine->turns[i] : i;
  }
}

static void shuffle(struct machine *machine, uint32_t *list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t other = (uint32_t)(splitmix64_next(&machine->random) % (i + 1));
    list[i] = list[other];
    list[other] = i;
  }
}

static bool run_round(struct machine *machine) {
  bool progress = false;
  if (machine->turns)
    shuffle(machine, machine->turns, machine->placement.core_count);
  for (uint32_t i = 0; i < machine->placement.core_count && machine_goes_on(machine); i++) {
    struct machine_core *core = &machine->cores[turn(machine, i)];
    if (core->has_block)
      progress |= machine_core_run(core);
  }
  return progress;
}

/* Every core in turn: what random rounds may have passed over. */
static bool run_each(struct machine *machine) {
  bool progress = false;
  for (uint32_t i = 0; i < machine->placement.core_count && machine_goes_on(machine); i++)
    if (machine->cores[i].has_block)
      progress |= machine_core_run(&machine->cores[i]);
  return progress;
}

/* How many cores look at memory without an end; *first: one of them. */
static uint32_t count_polling(const struct machine *machine, uint32_t *first) {
  uint32_t count = 0;
  for (uint32_t i = machine->placement.core_count; i-- > 0;)
    if (machine->cores[i].has_block && machine->cores[i].polls) {
      *first = i;
      count++;
    }
  return count;
}

/* Nothing goes on. Code that looks at memory may look a number of times before it goes on by
 * itself; false when it has had its chances. */
static bool has_patience(struct machine *machine) {
  enum { LOOKS_MAX = 100000 };
  uint32_t first = 0, count = count_polling(machine, &first);
  char name[64];
  if (count == 0 || machine->looks++ < LOOKS_MAX)
    return count > 0;
  placement_core_name(&machine->placement, first, name, sizeof name);
  machine->status = diag_error(machine->diag, VINCI_E_DEADLOCK,
                               "the kernel hangs: scalar code of %s (and %u more cores) looks at "
                               "memory that nobody writes",
                               name, count - 1);
  return true;
}

static void run_kernel(struct machine *machine, const struct program_kernel *kernel) {
  MACHINE_TELL(machine, begin_kernel, kernel);
  placement_launch(&machine->placement, kernel);
  if (machine->blocks)
    shuffle(machine, machine->blocks, kernel->blocks);
  while (machine_goes_on(machine) && machine->placement.blocks_done < kernel->blocks) {
    dispatch(machine);
    if (run_round(machine) || !machine_goes_on(machine) || run_each(machine))
      machine->looks = 0;
    else if (machine_goes_on(machine) && !has_patience(machine))
      machine->status = machine_report_hang(machine);
  }
}

/* ---- construction --------------------------------------------------------------------- */

static bool create_cores(struct machine *machine) {
  uint32_t var_count = program_largest_var_count(machine->trace);
  for (uint32_t i = 0; i < machine->placement.core_count; i++) {
    machine->cores[i].index = i;
    machine->cores[i].kind = placement_kind(&machine->placement, i);
    if (!machine_core_create(&machine->cores[i], machine, var_count))
      return false;
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
  machine->turns = ARENA_ARRAY(&machine->arena, uint32_t, machine->placement.core_count);
  machine->blocks = ARENA_ARRAY(&machine->arena, uint32_t, blocks);
  if (!machine->turns || !machine->blocks)
    return diag_error(machine->diag, VINCI_E_NOMEM, "out of memory for the order of the blocks");
  return VINCI_OK;
}

static enum vinci_status create(struct machine *machine) {
  struct arena *arena = &machine->arena;
  enum vinci_status status =
      placement_create(&machine->placement, arena, machine->soc, machine->trace, machine->diag);
  if (status != VINCI_OK)
    return status;
  machine->cores = ARENA_ARRAY(arena, struct machine_core, machine->placement.core_count);
  if (!machine->cores || !create_cores(machine) ||
      !signals_create(&machine->signals, arena, &machine->placement))
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
  machine.status = create(&machine);
  for (uint32_t k = 0; k < trace->kernel_count && machine_goes_on(&machine); k++)
    run_kernel(&machine, &trace->kernels[k]);
  arena_free(&machine.arena);
  return machine.status;
}
