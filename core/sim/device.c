/* SPDX-License-Identifier: Apache-2.0 */
/* The chip: construction, launches, dispatch of blocks, progress and limits. */
#include "core/sim/device.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/chip/noc_config.h"
#include "core/result/events.h"

/* The device, the memory system and the network come first; cores follow. */
enum {
  PART_DEVICE,
  PART_MEMORY,
  PART_NETWORK = PART_MEMORY + MEMSYS_PARTS,
  PART_FIRST_CORE = PART_NETWORK + NETWORK_PARTS,
};
enum { SEQUENCE_DISPATCH, SEQUENCE_WATCH };

/* Simulated time between two looks at progress and limits: tens of milliseconds of host time. */
#define WATCH_PERIOD_PS UINT64_C(5000000)

void device_stop(struct device *device, enum vinci_status status) {
  if (device->status == VINCI_OK)
    device->status = status;
  engine_stop(device->engine);
}

uint64_t device_address(const struct device *device, uint64_t address) {
  const struct vinci_trace *trace = device->trace;
  uint32_t nearest = 0;
  if (!device->addresses || trace->tensor_count == 0)
    return address;
  for (uint32_t i = 1; i < trace->tensor_count; i++)
    if (trace->tensors[i].address <= address &&
        trace->tensors[i].address > trace->tensors[nearest].address)
      nearest = i;
  return address - trace->tensors[nearest].address + device->addresses[nearest];
}

void device_start_transfer(struct device *device, struct gm_transfer *transfer, uint64_t start_ps) {
  if (device->automatic)
    device->note(device, transfer->port / PIPE_COUNT, transfer->bursts * transfer->burst_bytes);
  transfer->address = device_address(device, transfer->address);
  device->memory_ops->start(device->memory, transfer, start_ps);
}

/* ---- dispatch ------------------------------------------------------------ */

/*
 * The next free one behind the last that got a block, so that cores take turns: a kernel with no
 * more blocks than cores has a core for each block, however short its blocks are. Which core is
 * next on silicon is not published; profiles of short kernels with a block for each core show all
 * blocks at work at once (their mean core time is nearly the duration).
 */
static struct placement_unit *free_unit(struct device *device) {
  const struct placement *placement = &device->placement;
  for (uint32_t i = 0; i < placement->unit_count; i++) {
    uint32_t u = (device->next_unit + i) % placement->unit_count;
    if (placement->units[u].running == 0)
      return &placement->units[u];
  }
  return NULL;
}

static void start_block(struct device *device, struct placement_unit *unit) {
  struct placement *placement = &device->placement;
  uint32_t block = placement_take(placement, unit);
  device->next_unit = (uint32_t)(unit - placement->units) + 1;
  for (uint32_t i = 0; i < unit->core_count; i++)
    aicore_start(&device->cores[unit->core[i]], placement->kernel, block, i > 0 ? i - 1 : 0);
}

static bool has_blocks_left(const struct device *device) {
  return device->placement.next_block < device->placement.kernel->blocks;
}

/* From the last block that was dispatched to the next. */
static uint64_t dispatch_distance_ps(const struct device *device) {
  const struct placement *placement = &device->placement;
  uint64_t blocks = placement->kernel->blocks, next = placement->next_block;
  return soc_dispatch_ps(device->soc, placement->unit_count, blocks, next) -
         soc_dispatch_ps(device->soc, placement->unit_count, blocks, next - 1);
}

static void fire_dispatch(struct engine_event *event, uint64_t now_ps) {
  struct device *device = (struct device *)((char *)event - offsetof(struct device, dispatch));
  while (has_blocks_left(device)) {
    struct placement_unit *unit = free_unit(device);
    if (!unit)
      return;
    uint64_t ready_ps =
        device->dispatched_any ? device->last_dispatch_ps + dispatch_distance_ps(device) : now_ps;
    if (ready_ps > now_ps) {
      engine_schedule(device->engine, &device->dispatch, ready_ps);
      return;
    }
    struct kernel_result *result = &device->result->kernels[device->kernel];
    if (!device->dispatched_any)
      result->first_block_ps = now_ps;
    result->last_block_ps = now_ps;
    device->dispatched_any = true;
    device->last_dispatch_ps = now_ps;
    start_block(device, unit);
  }
}

static uint64_t cores_of_kernel(const struct device *device, const struct program_kernel *kernel,
                                enum core_kind kind) {
  uint64_t per_block = kernel->mixed && kind == CORE_AIV ? soc_vectors_per_cube(device->soc) : 1;
  return kernel->stream[kind].present
             ? min_u64(kernel->blocks * per_block, device->placement.kind_count[kind])
             : 0;
}

static void launch_code(struct device *device, const struct program_kernel *kernel) {
  uint32_t cores[CORE_KIND_COUNT];
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    cores[kind] = (uint32_t)cores_of_kernel(device, kernel, (enum core_kind)kind);
  device->code_kernel = code_kernel(device->trace, kernel);
  code_launch(device->code, cores);
}

static void launch_kernel(struct device *device) {
  const struct program_kernel *kernel = &device->trace->kernels[device->kernel];
  struct kernel_result *result = &device->result->kernels[device->kernel];
  *result = (struct kernel_result){
      .name = kernel->name,
      .blocks = kernel->blocks,
      .mixed = kernel->mixed,
      .start_ps = engine_now_ps(device->engine),
      .kind = placement_kernel_kind(kernel),
      .vectors_per_cube = kernel->mixed ? kernel->vectors_per_cube : 0,
  };
  placement_launch(&device->placement, kernel);
  launch_code(device, kernel);
  result->places = device->placement.unit_count;
  device->next_unit = 0;
  device->dispatched_any = false;
  engine_schedule(device->engine, &device->dispatch,
                  result->start_ps + (uint64_t)device->soc->launch_base_ps);
}

static void end_kernel(struct device *device) {
  device->result->kernels[device->kernel].end_ps = engine_now_ps(device->engine);
  device->result->kernel_count = device->kernel + 1;
  if (device->kernel + 1 == device->trace->kernel_count) {
    device->finished = true;
    engine_stop(device->engine);
    return;
  }
  device->kernel++;
  launch_kernel(device);
}

void device_core_finished(struct device *device, struct aicore *core) {
  struct placement *placement = &device->placement;
  if (!placement_core_done(placement, core->index))
    return;
  if (placement->blocks_done == placement->kernel->blocks)
    end_kernel(device);
  else if (has_blocks_left(device))
    engine_schedule_earliest(device->engine, &device->dispatch, engine_now_ps(device->engine));
}

uint64_t device_running_cores(const struct device *device, enum core_kind kind) {
  return cores_of_kernel(device, device->placement.kernel, kind);
}

/* ---- flags between cores --------------------------------------------------- */

/* Parts that wait for a signal go on when the core sees the signal. */
static void wake_for_signal(struct aicore *core, uint32_t flag, uint64_t cycle) {
  const struct vinci_soc *soc = core->device->soc;
  const struct scalar_unit *scalar = &core->scalar;
  if (scalar->stall == STALL_CROSS_CORE && signals_wait_flag(soc, &scalar->inst) == flag)
    scalar_wake(core, cycle);
  for (unsigned i = 0; i < PIPE_COUNT; i++) {
    struct pipe_unit *pipe = &core->pipe[i];
    const struct pipe_entry *head = pipe->count > 0 ? &pipe->queue[pipe->head] : NULL;
    if (head && pipe->stall == STALL_CROSS_CORE && signals_flag(soc, head->other, head->id) == flag)
      pipe_wake(pipe, cycle);
  }
}

static void deliver_signal(struct device *device, struct aicore *core, uint32_t flag,
                           uint32_t line) {
  const struct vinci_soc *soc = device->soc;
  struct arrivals *arrivals = &core->arrivals[flag];
  uint32_t before = signals_at(&device->signals, core->index, flag)->arrived;
  uint64_t now_ps = engine_now_ps(device->engine);
  struct misuse misuse;
  if (!signals_arrive(&device->signals, core->index, flag, &misuse)) {
    aicore_misused(core, line, &misuse);
    return;
  }
  unsigned place = (arrivals->head + before) % (unsigned)soc->cross_core_sets_max;
  arrivals->ps[place] = now_ps;
  arrivals->delivery[place] = device->deliveries;
  wake_for_signal(core, flag,
                  clock_edge_at(&core->clock, now_ps) + (uint64_t)soc->cross_core_cycles);
}

void device_signal(struct device *device, struct aicore *core, enum cross_mode mode, uint32_t id,
                   uint32_t line, struct result_event *event) {
  struct signal_delivery delivery;
  struct misuse misuse;
  if (!signals_give(&device->signals, core->index, mode, id, &delivery, &misuse))
    aicore_misused(core, line, &misuse);
  device->deliveries += delivery.receiver_count > 0;
  if (event && delivery.receiver_count > 0)
    event->delivery = device->deliveries;
  for (uint32_t i = 0; i < delivery.receiver_count; i++)
    deliver_signal(device, &device->cores[delivery.receivers[i]], delivery.arrives, line);
}

/* ---- progress and limits ------------------------------------------------------ */

uint64_t device_limit_ps(const struct device *device) {
  struct clock_domain clock;
  clock_init(&clock, (uint64_t)device->soc->core_hz);
  uint128 limit_ps = (uint128)device->options.max_cycles * clock.ps.value / clock.edges.value;
  return device->options.max_cycles > 0 && limit_ps < UINT64_MAX ? (uint64_t)limit_ps : UINT64_MAX;
}

static void stop_partial(struct device *device, const char *reason) {
  device->result->partial_reason = reason;
  device_stop(device, VINCI_E_LIMIT);
}

void device_interrupt(struct device *device) { stop_partial(device, "the run was interrupted"); }

void device_end_of_time(struct device *device) {
  if (device->status == VINCI_OK && engine_at_end(device->engine))
    stop_partial(device, "the simulated time reached its limit of 36028.797 s (2^55 ps)");
}

/* The next look: a period from now, but not before anything has happened, nor after the limit. */
static void schedule_watch(struct device *device, uint64_t now_ps) {
  uint64_t next_ps = UINT64_MAX;
  if (device->options.progress) {
    uint64_t activity_ps = engine_next_ps(device->engine);
    next_ps = now_ps + WATCH_PERIOD_PS;
    if (next_ps < activity_ps)
      next_ps = activity_ps;
  }
  uint64_t limit_ps = device_limit_ps(device);
  if (limit_ps < next_ps)
    next_ps = limit_ps;
  if (next_ps <= ENGINE_END_PS) /* a program that hangs must not be kept waiting for a look */
    engine_schedule(device->engine, &device->watch, next_ps);
}

uint64_t device_issued(const struct device *device) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < device->placement.core_count; i++)
    sum += device->cores[i].scalar.counters->instructions;
  return sum;
}

unsigned device_done_permille(const struct device *device) {
  return program_share_permille(device_issued(device), device->instructions);
}

static void fire_watch(struct engine_event *event, uint64_t now_ps) {
  struct device *device = (struct device *)((char *)event - offsetof(struct device, watch));
  if (engine_next_ps(device->engine) == UINT64_MAX)
    return; /* nothing else will happen: the run has hung and ends here */
  if (now_ps >= device_limit_ps(device)) {
    stop_partial(device, "the limit of simulated cycles was reached");
    return;
  }
  struct clock_domain clock;
  clock_init(&clock, (uint64_t)device->soc->core_hz);
  if (!device->options.progress(device->options.progress_context, clock_edge_at(&clock, now_ps),
                                device_done_permille(device))) {
    device_interrupt(device);
    return;
  }
  schedule_watch(device, now_ps);
}

/* ---- construction ------------------------------------------------------------- */

static void name_core(const struct device *device, uint32_t index) {
  struct core_result *core = &device->result->cores[index];
  core->kind = placement_kind(&device->placement, index);
  core->hz = soc_core_hz(device->soc, core->kind);
  soc_core_place(device->soc, core->kind, index - device->placement.first_core[core->kind],
                 &core->cluster, &core->member);
}

/* Part numbers of the cores, in order or shuffled by a seed (Fisher-Yates, splitmix64). */
static void number_parts(const struct device *device, uint32_t *part) {
  for (uint32_t i = 0; i < device->placement.core_count; i++)
    part[i] = PART_FIRST_CORE + i;
  uint64_t state = device->options.part_order_seed;
  if (state == 0)
    return;
  for (uint32_t i = device->placement.core_count - 1; i > 0; i--) {
    uint32_t j = (uint32_t)(splitmix64_next(&state) % (i + 1));
    uint32_t other = part[i];
    part[i] = part[j];
    part[j] = other;
  }
}

/* Cores of a kind that will ever get a block: dispatch takes each core before one again. */
static uint32_t used_cores(const struct device *device, enum core_kind kind) {
  uint64_t used = 0;
  for (uint32_t k = 0; k < device->trace->kernel_count; k++)
    used = max_u64(used, cores_of_kernel(device, &device->trace->kernels[k], kind));
  return (uint32_t)used;
}

/* The event store is shared out evenly, so that what a core keeps depends on no other. */
static void share_events(struct device *device) {
  uint32_t used = 0;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
    used += used_cores(device, (enum core_kind)kind);
  uint64_t share = device->options.max_events / used;
  struct result_event *next = device->result->events;
  uint8_t *bytes = device->result->log_bytes;
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    for (uint32_t n = 0; n < used_cores(device, (enum core_kind)kind); n++) {
      struct aicore *core = &device->cores[device->placement.first_core[kind] + n];
      if (device->options.pack_events) {
        core->log = &device->result->logs[core->index];
        core->log->bytes = bytes;
        bytes += share * EVENT_PACKED_MAX;
      } else {
        core->events = next;
        next += share;
      }
      core->event_capacity = share;
    }
  }
}

static bool create_cores(struct device *device) {
  struct arena *arena = &device->arena;
  uint32_t *part = ARENA_ARRAY(arena, uint32_t, device->placement.core_count);
  uint32_t var_count = program_largest_var_count(device->trace);
  if (!part)
    return false;
  number_parts(device, part);
  for (uint32_t i = 0; i < device->placement.core_count; i++) {
    name_core(device, i);
    if (!aicore_create(&device->cores[i], device, arena, i, part[i], var_count))
      return false;
  }
  if (device->options.max_events > 0)
    share_events(device);
  return true;
}

static bool create_result(struct device *device) {
  struct vinci_result *result = device->result;
  result->core_count = device->placement.core_count;
  result->cores = ARENA_ARRAY(&result->arena, struct core_result, device->placement.core_count);
  result->kernels = ARENA_ARRAY(&result->arena, struct kernel_result, device->trace->kernel_count);
  if (device->options.memory == VINCI_MEMORY_CYCLE) {
    result->channel_count = device->host ? 0 : (uint32_t)device->soc->hbm_channels;
    result->link_count = NOC_WAYS * device->soc->topology->link_count;
  }
  result->channels = ARENA_ARRAY(&result->arena, struct hbm_totals, result->channel_count);
  result->links = ARENA_ARRAY(&result->arena, struct link_load, result->link_count);
  if (!result->cores || !result->kernels || !result->channels || !result->links)
    return false;
  result->event_capacity = device->options.max_events;
  if (result->event_capacity > 0 && device->options.pack_events) {
    result->logs = calloc(result->core_count, sizeof *result->logs);
    result->log_bytes = malloc(result->event_capacity * EVENT_PACKED_MAX);
    return result->logs && result->log_bytes;
  }
  if (result->event_capacity > 0) {
    result->events = calloc(result->event_capacity, sizeof *result->events);
    return result->events != NULL;
  }
  return true;
}

/* Cores that share a router: an AIC and its AIV, or one coupled core. */
static uint32_t number_clusters(const struct device *device, uint32_t *cluster_of_core) {
  uint32_t clusters = 0;
  for (uint32_t i = 0; i < device->placement.core_count; i++) {
    cluster_of_core[i] = device->result->cores[i].cluster;
    if (cluster_of_core[i] >= clusters)
      clusters = cluster_of_core[i] + 1;
  }
  return clusters;
}

/* The end of the last tensor in device memory. */
static uint64_t memory_end(const struct device *device) {
  const struct vinci_trace *trace = device->trace;
  if (!device->addresses)
    return trace->gm_bytes;
  uint64_t end = 0;
  for (uint32_t i = 0; i < trace->tensor_count; i++)
    end = max_u64(end, device->addresses[i] + trace->tensors[i].bytes + trace->tensors[i].tail);
  return end;
}

static bool create_memory(struct device *device) {
  struct arena *arena = &device->arena;
  struct memory_model model =
      device->host && !device->host->behind_l2
          ? registry_hosted_memory()
          : registry_memory(device->options.memory, device->options.network);
  uint32_t *cluster_of_core = ARENA_ARRAY(arena, uint32_t, device->placement.core_count);
  if (!cluster_of_core)
    return false;
  struct network_shape network = {
      .clusters = number_clusters(device, cluster_of_core),
      .slices = (uint32_t)device->soc->l2_slices,
      .part = PART_NETWORK,
  };
  struct memsys_shape memory = {
      .part = PART_MEMORY,
      .ports = device->placement.core_count * PIPE_COUNT,
      .cluster_of_core = cluster_of_core,
      .gm_bytes = memory_end(device),
      .tags = device->kept ? device->kept->tags : NULL,
      .host = device->host,
  };
  device->network_ops = model.network;
  device->memory_ops = model.memory;
  device->network = model.network->create(arena, device->engine, device->soc, network);
  if (device->network)
    device->memory = model.memory->create(arena, device->engine, device->soc, model.network,
                                          device->network, &memory);
  if (!device->memory)
    return false;
  device_start_l2(device);
  return true;
}

/* Code that a caller keeps, or caches of this run alone, whose state the options say. */
static bool create_code(struct device *device) {
  if (device->kept) {
    device->code = device->kept->code;
    return true;
  }
  device->code = &device->fresh_code;
  if (!code_create(device->code, &device->arena, device->soc, device->trace->kernel_count))
    return false;
  code_start(device->code, device->options.code_found_ppm);
  return true;
}

static bool create_functions(struct device *device) {
  if (soc_space_bytes(device->soc, SPACE_VR) == 0)
    return true;
  device->functions = functions_create(&device->arena, device->soc);
  return device->functions != NULL;
}

enum vinci_status memory_not_created(const struct vinci_soc *soc, const struct arena *arena,
                                     struct vinci_diag *diag) {
  if (arena->short_of_memory)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for L2, network and memory of %s",
                      soc->name);
  (void)diag_error(diag, VINCI_E_USAGE, "%s: its memory cannot be built", soc->name);
  diag_hint(diag, "memory.geometry and the mapping of addresses must fit each other");
  return VINCI_E_USAGE;
}

enum vinci_status device_create(struct device *device) {
  enum vinci_status status = placement_create(&device->placement, &device->arena, device->soc,
                                              device->trace, device->diag);
  if (status != VINCI_OK)
    return status;
  if (device->options.memory == VINCI_MEMORY_CYCLE &&
      (!device->soc->memory || !device->soc->topology))
    return diag_error(device->diag, VINCI_E_USAGE,
                      "%s describes no memory technology and network for the cycle model",
                      device->soc->name);
  device->engine = engine_create(&device->arena);
  device->cores = ARENA_ARRAY(&device->arena, struct aicore, device->placement.core_count);
  device->known = ARENA_ARRAY(&device->arena, struct known, 1);
  if (!device->engine || !device->cores || !device->known || !create_result(device) ||
      !create_code(device) || !create_functions(device) || !create_cores(device) ||
      !signals_create(&device->signals, &device->arena, &device->placement))
    return diag_error(device->diag, VINCI_E_NOMEM, "out of memory for the model of %s",
                      device->soc->name);
  if (!create_memory(device))
    return memory_not_created(device->soc, &device->arena, device->diag);
  device->dispatch.key = event_key(PHASE_ARBITRATE, PART_DEVICE, SEQUENCE_DISPATCH);
  device->dispatch.fire = fire_dispatch;
  device->watch.key = event_key(PHASE_ACCOUNT, PART_DEVICE, SEQUENCE_WATCH);
  device->watch.fire = fire_watch;
  if (device->options.progress || device->automatic) /* no core has begun to use its variables */
    device->instructions = program_instructions(device->trace, device->cores[0].stream.variables);
  return VINCI_OK;
}

void device_launch(struct device *device) {
  launch_kernel(device);
  schedule_watch(device, 0);
}
