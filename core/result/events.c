/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing of recorded instructions. A packed one is the number of the slot whose event it is told
 * from, a set of groups of fields that differ, its start as a difference from that of the event
 * before, and the groups in order, cycles as differences from those of the event it is told from;
 * numbers are 7 bits a byte, the last byte below 128.
 */
#include "core/result/events.h"

#include "core/base/arith.h"
#include "core/isa/isa.h"

/* Those up to 64 are the usual ones: a byte holds their set. */
enum { GROUP_ID = 1, GROUP_LENGTH = 2, GROUP_QUEUED = 4, GROUP_CYCLES = 8, GROUP_CAUSES = 16 };
enum {
  GROUP_HELD = 32,
  GROUP_PLACE = 64,
  GROUP_BYTES = 128,
  GROUP_BANK = 256,
  GROUP_DELIVERY = 512
};

/* A line has one instruction, of one pipe. */
static unsigned slot_of(uint32_t line) { return line % EVENT_SLOTS; }

/* ---- writing --------------------------------------------------------------------------------- */

static void put(struct event_log *log, uint64_t value) {
  for (; value > 127; value >>= 7)
    log->bytes[log->size++] = (uint8_t)(value | 128);
  log->bytes[log->size++] = (uint8_t)value;
}

/* Small numbers of both signs, and back. */
static uint64_t folded(uint64_t difference) {
  return difference >> 63 ? ~(difference << 1) : difference << 1;
}

static uint64_t unfolded(uint64_t number) { return number & 1 ? ~(number >> 1) : number >> 1; }

static uint64_t length_of(const struct result_event *event) {
  return event->end_cycle - event->start_cycle;
}

static unsigned groups_of(const struct result_event *event, const struct result_event *past) {
  bool place = event->line == past->line && event->op == past->op && event->pipe == past->pipe &&
               event->other == past->other && event->path == past->path &&
               event->member == past->member;
  unsigned groups = place ? 0 : GROUP_PLACE;
  groups |= event->id != past->id ? GROUP_ID : 0;
  groups |= event->bytes != past->bytes ? GROUP_BYTES : 0;
  groups |= event->queued_cycles != past->queued_cycles ? GROUP_QUEUED : 0;
  groups |= event->held_cycles != past->held_cycles ? GROUP_HELD : 0;
  groups |= event->bank_cycles != past->bank_cycles ? GROUP_BANK : 0;
  groups |= event->delivery != past->delivery ? GROUP_DELIVERY : 0;
  groups |= length_of(event) != length_of(past) ? GROUP_LENGTH : 0;
  for (unsigned i = 0; i < EVENT_CAUSES; i++) {
    groups |= event->cause[i] != past->cause[i] ? GROUP_CAUSES : 0;
    groups |= event->cause_cycles[i] != past->cause_cycles[i] ? GROUP_CYCLES : 0;
  }
  return groups;
}

static void put_place(struct event_log *log, const struct result_event *event) {
  put(log, event->line);
  put(log, event->op);
  put(log, event->pipe);
  put(log, event->other);
  put(log, event->path);
  put(log, event->member);
}

static void pack(struct event_log *log) {
  const struct result_event *event = &log->last;
  unsigned slot = slot_of(event->line);
  struct result_event *past = &log->past.slot[slot];
  unsigned groups = groups_of(event, past);
  put(log, slot);
  put(log, groups);
  put(log, folded(event->start_cycle - log->past.start_cycle));
  if (groups & GROUP_PLACE)
    put_place(log, event);
  if (groups & GROUP_ID)
    put(log, event->id);
  if (groups & GROUP_BYTES)
    put(log, event->bytes);
  for (unsigned i = 0; groups & GROUP_CAUSES && i < EVENT_CAUSES; i++)
    put(log, event->cause[i]);
  for (unsigned i = 0; groups & GROUP_CYCLES && i < EVENT_CAUSES; i++)
    put(log, folded((uint64_t)event->cause_cycles[i] - past->cause_cycles[i]));
  if (groups & GROUP_QUEUED)
    put(log, folded((uint64_t)event->queued_cycles - past->queued_cycles));
  if (groups & GROUP_HELD)
    put(log, event->held_cycles);
  if (groups & GROUP_BANK)
    put(log, event->bank_cycles);
  if (groups & GROUP_DELIVERY)
    put(log, event->delivery);
  if (groups & GROUP_LENGTH)
    put(log, folded(length_of(event) - length_of(past)));
  log->past.start_cycle = event->start_cycle;
  log->latest_end = max_u64(log->latest_end, event->end_cycle);
  log->highest_line = event->line > log->highest_line ? event->line : log->highest_line;
  *past = *event;
}

struct result_event *event_log_add(struct event_log *log) {
  if (log->count++ > 0)
    pack(log);
  return &log->last;
}

void event_log_end(struct event_log *log, uint64_t cut_cycle) {
  if (log->count > 0)
    pack(log);
  log->cut_cycle = cut_cycle;
}

/* ---- reading --------------------------------------------------------------------------------- */

static uint64_t get(const struct event_log *log, size_t *at) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    uint8_t byte = log->bytes[(*at)++];
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128)
      return value;
  }
}

static void get_place(const struct event_log *log, size_t *at, struct result_event *event) {
  event->line = (uint32_t)get(log, at);
  event->op = (uint16_t)get(log, at);
  event->pipe = (uint8_t)get(log, at);
  event->other = (uint8_t)get(log, at);
  event->path = (uint8_t)get(log, at);
  event->member = (uint8_t)get(log, at);
}

static void unpack(const struct event_log *log, size_t *at, struct event_past *past,
                   uint32_t core) {
  struct result_event *event = &past->slot[get(log, at) % EVENT_SLOTS];
  unsigned groups = (unsigned)get(log, at);
  uint64_t length = length_of(event);
  event->core = core;
  event->start_cycle = past->start_cycle + unfolded(get(log, at));
  if (groups & GROUP_PLACE)
    get_place(log, at, event);
  if (groups & GROUP_ID)
    event->id = (uint8_t)get(log, at);
  if (groups & GROUP_BYTES)
    event->bytes = get(log, at);
  for (unsigned i = 0; groups & GROUP_CAUSES && i < EVENT_CAUSES; i++)
    event->cause[i] = (uint8_t)get(log, at);
  for (unsigned i = 0; groups & GROUP_CYCLES && i < EVENT_CAUSES; i++)
    event->cause_cycles[i] += (uint32_t)unfolded(get(log, at));
  if (groups & GROUP_QUEUED)
    event->queued_cycles += (uint32_t)unfolded(get(log, at));
  if (groups & GROUP_HELD)
    event->held_cycles = (uint32_t)get(log, at);
  if (groups & GROUP_BANK)
    event->bank_cycles = (uint32_t)get(log, at);
  if (groups & GROUP_DELIVERY)
    event->delivery = (uint32_t)get(log, at);
  if (groups & GROUP_LENGTH)
    length += unfolded(get(log, at));
  event->end_cycle = event->start_cycle + length;
  past->start_cycle = event->start_cycle;
}

static const struct result_event *next_packed(struct event_walk *walk) {
  const struct vinci_result *result = walk->result;
  if (walk->index == 0 && walk->log == 0 && walk->core < result->core_count)
    walk->log = walk->core;
  while (walk->index == result->logs[walk->log].count) {
    if (walk->core < result->core_count || ++walk->log == result->core_count)
      return NULL;
    walk->index = walk->at = 0;
    walk->past = (struct event_past){0};
  }
  const struct event_log *log = &result->logs[walk->log];
  size_t first = walk->at;
  unpack(log, &walk->at, &walk->past, walk->log);
  walk->index++;
  walk->event = walk->past.slot[get(log, &first) % EVENT_SLOTS];
  walk->event.start_cycle = min_u64(walk->event.start_cycle, log->cut_cycle);
  walk->event.end_cycle = min_u64(walk->event.end_cycle, log->cut_cycle);
  return &walk->event;
}

const struct result_event *event_walk_next(struct event_walk *walk) {
  const struct vinci_result *result = walk->result;
  if (result->logs)
    return next_packed(walk);
  while (walk->index < result->event_count) {
    const struct result_event *event = &result->events[walk->index++];
    if (walk->core == result->core_count || event->core == walk->core)
      return event;
  }
  return NULL;
}

uint64_t event_total(const struct vinci_result *result) {
  uint64_t total = result->event_count;
  for (uint32_t i = 0; result->logs && i < result->core_count; i++)
    total += result->logs[i].count;
  return total;
}

size_t event_count_of(const struct vinci_result *result, uint32_t core) {
  size_t count = 0;
  if (result->logs)
    return result->logs[core].count;
  for (uint64_t i = 0; i < result->event_count; i++)
    count += result->events[i].core == core;
  return count;
}

bool event_only_waits(const struct result_event *event) {
  return event->op == OP_SET_FLAG || event->op == OP_WAIT_FLAG || event->op == OP_PIPE_BARRIER ||
         event->op == OP_WAIT_FLAG_DEV || event->op == OP_FFTS_CROSS_CORE_SYNC;
}
