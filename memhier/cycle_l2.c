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

/* Channel of a line of a slice, and the line's address within it. */
static struct hbm_port *channel_of(struct memsys *memory, uint32_t slice, uint64_t local,
                                   uint64_t *address) {
  uint64_t line_bytes = (uint64_t)memory->soc->l2_line_bytes;
  uint64_t line = local / line_bytes;
  uint64_t channels = memory->channels_per_slice;
  *address = line / channels * line_bytes;
  return &memory->channels[slice * channels + line % channels];
}

static void operation_done(struct memory_request *request, uint64_t now_ps) {
  if (--request->operations == 0)
    cycle_answer(request, now_ps);
}

static void write_back_done(struct hbm_op *op, uint64_t now_ps) {
  operation_done(
      (struct memory_request *)((char *)op - offsetof(struct memory_request, write_back)), now_ps);
}

static void fetch_done(struct hbm_op *op, uint64_t now_ps) {
  operation_done((struct memory_request *)((char *)op - offsetof(struct memory_request, fetch)),
                 now_ps);
}

static void submit(struct memory_request *request, struct hbm_op *op, uint64_t local,
                   uint32_t granules) {
  struct memsys *memory = request->memory;
  uint64_t address;
  struct hbm_port *channel = channel_of(memory, request->message.slice, local, &address);
  op->address = address;
  op->granules = granules;
  op->write = op == &request->write_back;
  op->done = op->write ? write_back_done : fetch_done;
  op->event.key = event_key(PHASE_ARBITRATE, memory->part, request->message.event.key & UINT32_MAX);
  hbm_port_submit(channel, op);
}

/* The line's tags are known: what misses goes to device memory, then the answer back. */
static void fire_looked_up(struct engine_event *event, uint64_t now_ps) {
  struct memory_request *request =
      (struct memory_request *)((char *)event - offsetof(struct memory_request, event));
  if (request->operations == 0) {
    cycle_answer(request, now_ps);
    return;
  }
  uint32_t write_back = request->write_back.granules, fetch = request->fetch.granules;
  if (write_back != 0)
    submit(request, &request->write_back, request->write_back.address, write_back);
  if (fetch != 0)
    submit(request, &request->fetch, request->fetch.address, fetch);
}

void cycle_slice_access(struct memory_request *request, uint64_t now_ps) {
  struct memsys *memory = request->memory;
  const struct vinci_soc *soc = memory->soc;
  struct l2_slice *slice = &memory->slices[request->message.slice];
  uint64_t local = cycle_place(memory, request->address).local;
  bool write = request->transfer->write;
  struct l2_outcome outcome = l2_access(&slice->tags, local, request->bytes, write);
  request->write_back.granules = outcome.written_back;
  request->write_back.address = outcome.victim_address;
  request->fetch.granules = write ? 0 : outcome.misses;
  request->fetch.address = local / (uint64_t)soc->l2_line_bytes * (uint64_t)soc->l2_line_bytes;
  request->operations = (request->write_back.granules != 0) + (request->fetch.granules != 0);
  /* The slice is taken as long as it moves the granules, its latency overlaps. */
  uint64_t start_ps = slice->free_ps > now_ps ? slice->free_ps : now_ps;
  uint64_t busy_ps = (uint64_t)((uint128)request->moved_bytes * PS_PER_SECOND /
                                ((uint64_t)soc->l2_bytes_per_second / memory->slice_count));
  slice->free_ps = start_ps + busy_ps;
  slice->busy_ps += busy_ps;
  request->event.fire = fire_looked_up;
  engine_schedule(memory->engine, &request->event,
                  slice->free_ps +
                      clock_edge_ps(&memory->core_clock, (uint64_t)soc->l2_hit_cycles));
}
