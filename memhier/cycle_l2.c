/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L2 at cycle level: slices with tags of the hardware's lines and ways, each with its
 * channels of device memory behind it. Left out: what a partly written granule costs
 * (it is taken as whole), and conflicts inside a slice.
 */
#include "memhier/cycle.h"

/* Spreads lines over slices so that strides of powers of two do not gather on few. */
static uint64_t scramble(uint64_t x) {
  x = (x ^ x >> 15) * UINT64_C(0x9E3779B97F4A7C15);
  return x >> 40;
}

/*
 * Lines go to slices in groups of as many as there are slices: within a group each slice
 * gets one, in an order that depends on the group. (How the hardware interleaves is not
 * published.)
 */
struct l2_place cycle_place(const struct memsys *memory, uint64_t address) {
  uint64_t line_bytes = (uint64_t)memory->soc->l2_line_bytes;
  uint64_t line = address / line_bytes;
  uint64_t group = line / memory->slice_count;
  return (struct l2_place){
      .slice = (uint32_t)((line + scramble(group)) % memory->slice_count),
      .local = group * line_bytes + address % line_bytes,
  };
}

static void operation_done(struct hbm_op *op, uint64_t now_ps) {
  struct memory_request *request =
      ((struct line_op *)((char *)op - offsetof(struct line_op, op)))->request;
  if (--request->operations == 0)
    cycle_answer(request, now_ps);
}

/* Starts a read or write of granules of a line in the channels it lies in. */
static void submit(struct memory_request *request, unsigned kind) {
  struct memsys *memory = request->memory;
  uint64_t part_bytes = (uint64_t)memory->soc->hbm_interleave_bytes;
  uint64_t channels = memory->channels_per_slice;
  uint32_t part_granules = (uint32_t)(part_bytes / L2_GRANULE_BYTES);
  uint32_t left = request->granules[kind];
  for (unsigned part = 0; left != 0; part++, left >>= part_granules) {
    uint32_t granules = left & ((UINT32_C(1) << part_granules) - 1);
    if (granules == 0)
      continue;
    uint64_t number = request->lines[kind] / part_bytes + part;
    struct line_op *line = &request->operation[part][kind];
    line->op.address = number / channels * part_bytes;
    line->op.granules = granules;
    line->op.write = kind == LINE_WRITE_BACK;
    hbm_port_submit(&memory->channels[request->message.slice * channels + number % channels],
                    &line->op);
  }
}

static unsigned parts_of(const struct memory_request *request, uint32_t granules) {
  unsigned part_granules =
      (unsigned)(request->memory->soc->hbm_interleave_bytes / L2_GRANULE_BYTES);
  unsigned parts = 0;
  for (; granules != 0; granules >>= part_granules)
    parts += (granules & ((UINT32_C(1) << part_granules) - 1)) != 0;
  return parts;
}

void cycle_init_request(struct memory_request *request) {
  for (unsigned part = 0; part < LINE_PARTS_MAX; part++) {
    for (unsigned kind = 0; kind < LINE_OPERATIONS; kind++) {
      struct line_op *line = &request->operation[part][kind];
      line->request = request;
      line->op.done = operation_done;
      line->op.event.key = request->event.key;
    }
  }
}

/* The tags are known: what misses goes to device memory. */
static void fire_looked_up(struct engine_event *event, uint64_t now_ps) {
  struct memory_request *request =
      (struct memory_request *)((char *)event - offsetof(struct memory_request, event));
  (void)now_ps;
  submit(request, LINE_WRITE_BACK);
  submit(request, LINE_FETCH);
}

void cycle_slice_access(struct memory_request *request, uint64_t now_ps) {
  struct memsys *memory = request->memory;
  const struct vinci_soc *soc = memory->soc;
  struct l2_slice *slice = &memory->slices[request->message.slice];
  uint64_t local = cycle_place(memory, request->address).local;
  bool write = request->transfer->write;
  struct l2_outcome outcome = l2_access(&slice->tags, local, request->bytes, write);
  l2_count_outcome(&memory->l2_of_core[request->port / PIPE_COUNT], &outcome, write);
  request->granules[LINE_WRITE_BACK] = outcome.written_back;
  request->lines[LINE_WRITE_BACK] = outcome.victim_address;
  request->granules[LINE_FETCH] = write ? 0 : outcome.misses;
  request->lines[LINE_FETCH] = local / (uint64_t)soc->l2_line_bytes * (uint64_t)soc->l2_line_bytes;
  request->operations =
      parts_of(request, outcome.written_back) + parts_of(request, request->granules[LINE_FETCH]);
  /* The slice is taken as long as it moves the granules, its latency overlaps. */
  uint64_t start_ps = slice->free_ps > now_ps ? slice->free_ps : now_ps;
  uint64_t busy_ps = (uint64_t)((uint128)request->moved_bytes * PS_PER_SECOND /
                                ((uint64_t)soc->l2_bytes_per_second / memory->slice_count));
  slice->free_ps = start_ps + busy_ps;
  uint64_t ready_ps =
      slice->free_ps + clock_edge_ps(&memory->core_clock, (uint64_t)soc->l2_hit_cycles);
  if (request->operations == 0) {
    cycle_answer(request, ready_ps);
    return;
  }
  request->event.fire = fire_looked_up;
  engine_schedule(memory->engine, &request->event, ready_ps);
}
