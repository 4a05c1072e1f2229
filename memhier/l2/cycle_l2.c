/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L2 at cycle level: slices with tags of the hardware's lines and ways, and behind each slice its
 * channels of device memory. Left out: what a partly written granule costs (here as much as a
 * whole granule), and conflicts inside a slice.
 */
#include "memhier/l2/cycle_host.h"

_Static_assert((int)GM_SAME_LINE == (int)GM_SLICE + 1, "a request adds to one of two neighbours");

/* Spreads lines over slices so that strides of powers of two do not gather on few. */
static uint64_t scramble(uint64_t x) {
  x = (x ^ x >> 15) * UINT64_C(0x9E3779B97F4A7C15);
  return x >> 40;
}

/*
 * With N slices, each group of N lines in a row gives every slice one line, in an order that
 * depends on the group. (How the hardware interleaves is not published.)
 */
void cycle_run_at(const struct memsys *memory, uint64_t address, uint64_t bytes,
                  struct line_run *run) {
  uint64_t line = divide(address, &memory->line_bytes);
  uint64_t group = divide(line, &memory->slice_count);
  uint64_t slice = line + scramble(group);
  slice -= divide(slice, &memory->slice_count) * memory->slice_count.value;
  uint64_t offset = address - line * memory->line_bytes.value;
  uint64_t run_bytes = min_u64(bytes, memory->line_bytes.value - offset);
  uint64_t first = offset / L2_GRANULE_BYTES, last = (offset + run_bytes - 1) / L2_GRANULE_BYTES;
  run->place = l2_place_of(memory->slices, group); /* all slices have as many sets */
  run->slice = (uint32_t)slice;
  run->granules = (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
  run->bytes = (uint32_t)run_bytes;
  run->shared = false;
  run->moved_bytes = (uint32_t)(last - first + 1) * L2_GRANULE_BYTES;
}

uint64_t cycle_line_address(const struct memsys *memory, uint32_t slice, uint64_t line) {
  uint64_t shift = scramble(line);
  shift -= divide(shift, &memory->slice_count) * memory->slice_count.value;
  uint64_t member = slice >= shift ? slice - shift : slice + memory->slice_count.value - shift;
  return (line * memory->slice_count.value + member) * memory->line_bytes.value;
}

/* Takes the slice for as long as it moves the granules; its latency overlaps. */
static uint64_t serve(struct memsys *memory, const struct line_run *run, uint64_t arrival_ps) {
  const struct clock_domain *clock = &memory->slice_clock;
  struct calendar_span span =
      calendars_take(&memory->slice_calendars, run->slice, clock_edge_at(clock, arrival_ps),
                     run->moved_bytes / L2_GRANULE_BYTES);
  return clock_edge_ps(clock, span.last + 1) + memory->hit_ps;
}

void cycle_slices_begin(struct memsys *memory) {
  calendars_move(&memory->slice_calendars,
                 clock_edge_at(&memory->slice_clock, engine_now_ps(memory->engine)));
}

/*
 * An entry of last_lines[], from its low bits: who asked (cores are at most 3072), whether several
 * engines have asked since another line was, the line. An engine issues the requests of a burst
 * window together, so requests of one line come in groups of the same engine.
 */
enum { ENGINE_BITS = 16, LINE_SHARED = 1 << ENGINE_BITS, LINE_SHIFT = ENGINE_BITS + 1 };

/* Looks up the tags and counts the outcome, over time too. */
static inline void look_up(struct memsys *memory, const struct line_run *run,
                           const struct gm_transfer *transfer, uint64_t at_ps,
                           struct l2_outcome *outcome) {
  struct l2_tags *slice = &memory->slices[run->slice];
  struct l2_counters *counters = &memory->l2_of_core[transfer->port / PIPE_COUNT];
  bool write = transfer->write;
  uint64_t *traffic = traffic_at(&memory->traffic, at_ps);
  traffic[write ? TRAFFIC_NETWORK_WRITE : TRAFFIC_NETWORK_READ] += run->bytes;
  if (l2_hit(slice, &run->place, run->granules, write)) {
    *outcome = (struct l2_outcome){0};
    uint64_t hits = run->moved_bytes / L2_GRANULE_BYTES - run->shared;
    *(write ? &counters->write_hits : &counters->read_hits) += hits;
    traffic[TRAFFIC_L2_HIT] += hits * L2_GRANULE_BYTES;
    return;
  }
  *outcome = transfer->passes_l2 ? l2_pass(slice, &run->place, run->granules, write)
                                 : l2_look_up(slice, &run->place, run->granules, write);
  l2_count_outcome(counters, outcome, write);
  l2_count_traffic(traffic, outcome);
}

uint64_t cycle_slice_access(struct memsys *memory, const struct line_run *run,
                            struct gm_transfer *transfer, uint64_t arrival_ps,
                            struct l2_outcome *outcome) {
  look_up(memory, run, transfer, arrival_ps, outcome);
  uint64_t ready_ps = serve(memory, run, arrival_ps);
  uint64_t *last = &memory->last_lines[run->slice];
  uint64_t asked = (run->place.line + 1) << LINE_SHIFT | transfer->port;
  /* below 1 << LINE_SHIFT: the same line, 0: by one engine alone */
  bool same_line = (asked ^ *last) - 1 < (1 << LINE_SHIFT) - 1;
  *last = asked | (same_line ? LINE_SHARED : 0);
  transfer->part_ps[GM_SLICE + same_line] += ready_ps - arrival_ps - memory->hit_ps;
  return ready_ps;
}

/* ---- device memory ----------------------------------------------------------------- */

void cycle_operation_over(struct memory_request *request, uint64_t end_ps) {
  request->ready_ps = max_u64(request->ready_ps, end_ps);
  if (--request->operations != 0)
    return;
  cycle_count_memory(request);
  cycle_answer(request, request->ready_ps);
}

/* An operation ends at a time, now or later. */
static void operation_done(struct hbm_op *op, uint64_t end_ps) {
  const struct line_op *line = (struct line_op *)((char *)op - offsetof(struct line_op, op));
  struct memory_request *request = line->request;
  traffic_at(&request->memory->traffic, end_ps)[op->write ? TRAFFIC_HBM_WRITE : TRAFFIC_HBM_READ] +=
      line->bytes;
  if (end_ps >= request->ready_ps)
    request->last = op;
  cycle_operation_over(request, end_ps);
}

/* Up to 32: a line of 4 KiB in one part, so that masks and shifts of parts take 64 bits. */
static unsigned granules_of_part(const struct memsys *memory) {
  return (unsigned)(memory->soc->hbm_interleave_bytes / L2_GRANULE_BYTES);
}

/* The number of a part of a line among the parts that a slice's channels hold in turn. */
static uint64_t number_of_part(const struct memsys *memory, uint64_t line, unsigned part) {
  return line * memory->line_bytes.value / (uint64_t)memory->soc->hbm_interleave_bytes + part;
}

static struct hbm_port *channel_of(const struct memsys *memory, uint32_t slice, uint64_t number) {
  return &memory
              ->channels[slice * memory->channels_per_slice + number % memory->channels_per_slice];
}

/* The channel in which the first granule of a run lies. */
static struct hbm_port *channel_of_run(const struct memsys *memory, const struct line_run *run) {
  unsigned part = (unsigned)__builtin_ctz(run->granules) / granules_of_part(memory);
  return channel_of(memory, run->slice, number_of_part(memory, run->place.line, part));
}

bool cycle_channel_is_busy(const struct memsys *memory, const struct line_run *run) {
  return !memory->behind && hbm_port_busy(channel_of_run(memory, run));
}

/* Starts a read or write of granules of a line in the channels it lies in. */
static void submit(struct memory_request *request, unsigned kind) {
  struct memsys *memory = request->memory;
  if (memory->behind) {
    cycle_host_submit(request, kind);
    return;
  }
  uint64_t part_bytes = (uint64_t)memory->soc->hbm_interleave_bytes;
  unsigned part_granules = granules_of_part(memory);
  uint64_t left = request->granules[kind];
  for (unsigned part = 0; left != 0; part++, left >>= part_granules) {
    uint32_t granules = (uint32_t)(left & ((UINT64_C(1) << part_granules) - 1));
    if (granules == 0)
      continue;
    uint64_t number = number_of_part(memory, request->lines[kind], part);
    struct line_op *line = &request->operation[part][kind];
    line->op.address = number / memory->channels_per_slice * part_bytes;
    line->op.granules = granules;
    line->op.write = kind == LINE_WRITE_BACK;
    line->bytes = (uint64_t)l2_count(granules) * L2_GRANULE_BYTES;
    hbm_port_submit(channel_of(memory, request->run.slice, number), &line->op);
  }
}

static unsigned parts_of(const struct memory_request *request, uint32_t granules) {
  if (request->memory->behind)
    return cycle_host_operations(granules);
  unsigned part_granules = granules_of_part(request->memory);
  unsigned parts = 0;
  for (uint64_t left = granules; left != 0; left >>= part_granules)
    parts += (left & ((UINT64_C(1) << part_granules) - 1)) != 0;
  return parts;
}

/* A store joins the operations that wait for its channel, and is answered when its turn comes. */
static void wait_for_turn(struct memory_request *request) {
  hbm_port_submit(channel_of_run(request->memory, &request->run), &request->turn.op);
}

void cycle_init_request(struct memory_request *request) {
  request->turn =
      (struct line_op){.op = {.write = true, .done = operation_done}, .request = request};
  for (unsigned part = 0; part < LINE_PARTS_MAX; part++) {
    for (unsigned kind = 0; kind < LINE_OPERATIONS; kind++) {
      struct line_op *line = &request->operation[part][kind];
      line->request = request;
      line->op.done = operation_done;
    }
  }
}

/* The tags are known: what misses goes to device memory. */
static void fire_looked_up(struct engine_event *event, uint64_t now_ps) {
  struct memory_request *request =
      (struct memory_request *)((char *)event - offsetof(struct memory_request, event));
  request->looked_up_ps = request->ready_ps = now_ps;
  submit(request, LINE_WRITE_BACK);
  submit(request, LINE_FETCH);
  submit(request, LINE_FETCH_SHARED);
  if (request->transfer->write && !request->memory->behind)
    wait_for_turn(request);
}

void cycle_use_memory(struct memory_request *request, const struct l2_outcome *outcome,
                      uint64_t ready_ps) {
  request->last = NULL;
  request->again = outcome->again && !request->transfer->write;
  request->transfer->missed |= outcome->misses != 0;
  request->granules[LINE_WRITE_BACK] = outcome->written_back;
  request->lines[LINE_WRITE_BACK] = outcome->victim;
  request->granules[LINE_FETCH] = request->transfer->write ? 0 : outcome->misses;
  request->lines[LINE_FETCH] = request->run.place.line;
  /* Which of the granules it is does not matter. */
  uint32_t fetched = request->granules[LINE_FETCH];
  request->granules[LINE_FETCH_SHARED] = request->run.shared ? fetched & (~fetched + 1) : 0;
  request->lines[LINE_FETCH_SHARED] = request->run.place.line;
  request->operations = request->transfer->write && !request->memory->behind;
  for (unsigned kind = 0; kind < LINE_OPERATIONS; kind++)
    request->operations += parts_of(request, request->granules[kind]);
  request->event.fire = fire_looked_up;
  engine_schedule(request->memory->engine, &request->event, ready_ps);
}
