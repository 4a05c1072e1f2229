/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic request streams on the DRAM model alone. */
#include "memhier/dram/hbm_stream.h"

#include "core/base/arith.h"
#include "core/base/diag.h"

enum { OFFERS_PER_CHANNEL = 2, CONTROLLERS_MAX = 1024, BURST_BYTES_MIN = 8 };

/* Offset of the random numbers that choose writes, apart from those of addresses. */
#define WRITE_CHOICE (UINT64_C(1) << 36)

static uint64_t random_at(uint64_t x) { return splitmix64_next(&x); }

/* One run: the channels, and the burst at the head of the stream. */
struct run {
  const struct hbm_stream *stream;
  const struct hbm_map *map;
  const struct hbm_stream_hooks *hooks;
  struct hbm_stream_result *result;
  struct hbm_channel **controllers;
  unsigned pseudo_shift; /* channel number >> pseudo_shift = controller */
  unsigned controller_count;
  uint64_t span_mask;
  unsigned bursts_per_request;
  uint64_t request; /* j */
  unsigned burst;   /* of the request */
  bool write;
  struct hbm_place place; /* of the burst */
  /* Bits of the place that change from the burst before, by burst of the request. */
  struct hbm_place change[HBM_REQUEST_BYTES / BURST_BYTES_MIN];
  uint64_t last_end; /* of the latest request told */
};

/* What a command hook needs to know. */
struct controller_context {
  struct run *run;
  unsigned number;
};

static uint64_t request_address(const struct run *run, uint64_t j) {
  uint64_t span = run->span_mask + 1;
  switch (run->stream->kind) {
  case HBM_STREAM_STRIDE:
    return run->stream->stride_bytes * j & run->span_mask;
  case HBM_STREAM_RAND:
  case HBM_STREAM_RANDW:
  case HBM_STREAM_RMIX21:
    return random_at(1 + j) * HBM_REQUEST_BYTES & run->span_mask;
  case HBM_STREAM_ADD3:
    return (HBM_REQUEST_BYTES * (j / 3) + j % 3 * (span / 4)) & run->span_mask;
  default:
    return HBM_REQUEST_BYTES * j & run->span_mask;
  }
}

static bool request_writes(enum hbm_stream_kind kind, uint64_t j) {
  switch (kind) {
  case HBM_STREAM_SEQW:
  case HBM_STREAM_RANDW:
    return true;
  case HBM_STREAM_MIX21:
  case HBM_STREAM_ADD3:
    return j % 3 == 2;
  case HBM_STREAM_RMIX21:
    return random_at(WRITE_CHOICE + j) % 3 == 0;
  default:
    return false;
  }
}

static void start_request(struct run *run) {
  run->write = request_writes(run->stream->kind, run->request);
  run->burst = 0;
  run->place = hbm_map_decode(run->map, request_address(run, run->request));
}

/* Field by field: a copy of the whole struct would wait for the earlier stores of single fields. */
static inline void flip_bits(struct hbm_place *place, const struct hbm_place *change) {
  place->channel ^= change->channel;
  place->row ^= change->row;
  place->column ^= change->column;
  place->group ^= change->group;
  place->bank ^= change->bank;
}

/* Requests are aligned: the same bits change from burst to burst in each. */
static void next_burst(struct run *run) {
  if (++run->burst == run->bursts_per_request) {
    run->request++;
    start_request(run);
  } else {
    flip_bits(&run->place, &run->change[run->burst]);
  }
}

static struct hbm_channel *head_controller(const struct run *run) {
  return run->controllers[run->place.channel >> run->pseudo_shift];
}

/* Offers the head of the stream; true when it was taken and the next one is head. The tag
 * is the cycle of the offer, with the top bit for writes. */
static inline bool offer(struct run *run, uint64_t cycle) {
  uint64_t tag = cycle | (uint64_t)run->write << 63;
  if (!hbm_channel_offer(head_controller(run), &run->place, run->write, tag, cycle))
    return false;
  next_burst(run);
  return true;
}

static void on_done(void *context, uint64_t tag, uint64_t cycle) {
  struct run *run = ((struct controller_context *)context)->run;
  struct hbm_stream_result *result = run->result;
  run->last_end = cycle;
  if (tag >> 63 || cycle > run->stream->cycles)
    return;
  uint64_t latency = cycle - tag;
  result->ended_reads++;
  result->latency_sum_cycles += latency;
  if (latency < result->latency_min_cycles)
    result->latency_min_cycles = latency;
  if (latency > result->latency_max_cycles)
    result->latency_max_cycles = latency;
  if (run->hooks && run->hooks->latency)
    run->hooks->latency(run->hooks->context, latency);
}

static void on_command(void *context, const struct hbm_command *command) {
  struct controller_context *controller = context;
  const struct hbm_stream_hooks *hooks = controller->run->hooks;
  hooks->command(hooks->context, controller->number, command);
}

/* The first cycle in which the refused head may find room. */
static uint64_t room_cycle(const struct run *run) { return hbm_channel_next(head_controller(run)); }

static void feed_saturating(struct run *run) {
  unsigned most = OFFERS_PER_CHANNEL * run->stream->channels;
  for (uint64_t cycle = 0; cycle < run->stream->cycles;) {
    unsigned taken = 0;
    while (taken < most && offer(run, cycle))
      taken++;
    cycle = taken < most ? room_cycle(run) : cycle + 1;
  }
}

static void feed_at_rate(struct run *run) {
  uint64_t period = run->stream->period_scaled;
  uint64_t come = 0, waiting = 0; /* requests so far; bursts not yet taken */
  for (uint64_t cycle = 0; cycle < run->stream->cycles;) {
    for (; come * period <= cycle * HBM_PERIOD_SCALE; come++)
      waiting += run->bursts_per_request;
    while (waiting > 0 && offer(run, cycle))
      waiting--;
    uint64_t next = (come * period + HBM_PERIOD_SCALE - 1) / HBM_PERIOD_SCALE;
    if (waiting > 0) {
      uint64_t room = room_cycle(run);
      next = room < next ? room : next;
    }
    cycle = next;
  }
  run->result->backlog_bursts = waiting;
}

static void feed_one_by_one(struct run *run) {
  const struct hbm_stream *stream = run->stream;
  uint64_t sent = 0;
  for (uint64_t cycle = 0; cycle < stream->cycles; cycle = run->last_end) {
    if (stream->requests_max && sent == stream->requests_max)
      break;
    struct hbm_channel *head = head_controller(run);
    run->last_end = HBM_NEVER;
    hbm_channel_offer(head, &run->place, run->write, cycle, cycle);
    while (run->last_end == HBM_NEVER)
      hbm_channel_run(head, hbm_channel_next(head));
    sent++;
    run->request++;
    start_request(run);
  }
}

static void add_counters(struct hbm_counters *sum, const struct hbm_counters *one) {
  sum->reads += one->reads;
  sum->writes += one->writes;
  sum->activates += one->activates;
  sum->precharges += one->precharges;
  sum->refreshes += one->refreshes;
  sum->forwarded_reads += one->forwarded_reads;
  sum->merged_writes += one->merged_writes;
}

static bool create_controllers(struct run *run, struct arena *arena, const struct mem_spec *mem) {
  unsigned count = run->controller_count;
  struct controller_context *contexts = ARENA_ARRAY(arena, struct controller_context, count);
  run->controllers = ARENA_ARRAY(arena, struct hbm_channel *, count);
  if (!contexts || !run->controllers)
    return false;
  for (unsigned i = 0; i < count; i++) {
    contexts[i] = (struct controller_context){run, i};
    struct hbm_hooks hooks = {.context = &contexts[i], .done = on_done};
    if (run->hooks && run->hooks->command)
      hooks.command = on_command;
    run->controllers[i] = hbm_channel_create(arena, mem, hooks);
    if (!run->controllers[i])
      return false;
  }
  return true;
}

static void feed(struct run *run) {
  start_request(run);
  switch (run->stream->feed) {
  case HBM_FEED_LOAD:
    feed_at_rate(run);
    break;
  case HBM_FEED_CHASE:
    feed_one_by_one(run);
    break;
  default:
    feed_saturating(run);
    break;
  }
}

static enum vinci_status check(const struct mem_spec *mem, const struct hbm_stream *stream,
                               struct vinci_diag *diag) {
  uint64_t span = mem_channel_bytes(mem) * stream->channels;
  if (stream->channels == 0 || stream->channels % (unsigned)mem->pseudo_channels != 0 ||
      stream->channels > CONTROLLERS_MAX)
    return diag_error(diag, VINCI_E_USAGE, "%u channels do not make whole controllers of %s",
                      stream->channels, mem->name);
  if ((span & (span - 1)) != 0 || mem->burst_bytes > HBM_REQUEST_BYTES)
    return diag_error(diag, VINCI_E_USAGE,
                      "streams need a memory of a power of two with bursts of at most %d bytes",
                      HBM_REQUEST_BYTES);
  if (stream->feed == HBM_FEED_LOAD && stream->period_scaled == 0)
    return diag_error(diag, VINCI_E_USAGE, "the period of a load must be above zero");
  return VINCI_OK;
}

enum vinci_status hbm_stream_run(const struct mem_spec *mem, const struct hbm_map *map,
                                 const struct hbm_stream *stream,
                                 const struct hbm_stream_hooks *hooks,
                                 struct hbm_stream_result *result, struct vinci_diag *diag) {
  enum vinci_status status = check(mem, stream, diag);
  if (status != VINCI_OK)
    return status;
  *result = (struct hbm_stream_result){.latency_min_cycles = UINT64_MAX};
  struct arena arena = {0};
  struct run run = {
      .stream = stream,
      .map = map,
      .hooks = hooks,
      .result = result,
      .pseudo_shift = (unsigned)__builtin_ctzll((uint64_t)mem->pseudo_channels),
      .controller_count = stream->channels / (unsigned)mem->pseudo_channels,
      .span_mask = mem_channel_bytes(mem) * stream->channels - 1,
      .bursts_per_request = HBM_REQUEST_BYTES / (unsigned)mem->burst_bytes,
  };
  for (unsigned i = 1; i < run.bursts_per_request; i++) {
    struct hbm_place before = hbm_map_decode(map, (i - 1) * (uint64_t)mem->burst_bytes);
    run.change[i] = hbm_map_decode(map, i * (uint64_t)mem->burst_bytes);
    flip_bits(&run.change[i], &before);
  }
  if (!create_controllers(&run, &arena, mem)) {
    arena_free(&arena);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  arena_seal(&arena);
  feed(&run);
  result->cycles = stream->feed == HBM_FEED_CHASE && run.last_end < stream->cycles ? run.last_end
                                                                                   : stream->cycles;
  for (unsigned i = 0; i < run.controller_count; i++) {
    hbm_channel_run(run.controllers[i], result->cycles);
    add_counters(&result->commands, hbm_channel_counters(run.controllers[i]));
  }
  arena_free(&arena);
  return VINCI_OK;
}
