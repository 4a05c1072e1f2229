/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of Perfetto's format: tracks, sequences, heads and ends of events. */
#include "traces/export/timeline/perfetto.h"

enum { PS_PER_NS = 1000, KEPT_BYTES = 1 << 15 /* before they are written */ };

uint64_t perfetto_ns(uint64_t ps) { return ps / PS_PER_NS; }

size_t perfetto_open_packet(struct perfetto *trace) {
  size_t packet = wire_begin(&trace->wire, TRACE_PACKET);
  wire_number(&trace->wire, PACKET_SEQUENCE_ID, trace->sequence);
  return packet;
}

void perfetto_close_packet(struct perfetto *trace, size_t packet) {
  wire_end(&trace->wire, packet);
  if (trace->wire.count >= KEPT_BYTES)
    wire_flush(&trace->wire, trace->out);
}

uint64_t perfetto_describe_track(struct perfetto *trace, const struct perfetto_track *track) {
  struct wire *wire = &trace->wire;
  uint64_t uuid = ++trace->tracks;
  size_t packet = perfetto_open_packet(trace);
  size_t descriptor = wire_begin(wire, PACKET_TRACK_DESCRIPTOR);
  wire_number(wire, TRACK_UUID, uuid);
  wire_text(wire, TRACK_NAME, track->name);
  if (track->parent)
    wire_number(wire, TRACK_PARENT_UUID, track->parent);
  if (track->unit) {
    size_t counter = wire_begin(wire, TRACK_COUNTER);
    wire_text(wire, COUNTER_UNIT_NAME, track->unit);
    wire_end(wire, counter);
  }
  wire_number(wire, TRACK_CHILD_ORDERING, CHILD_ORDERING_EXPLICIT);
  wire_number(wire, TRACK_SIBLING_ORDER_RANK, track->rank);
  wire_end(wire, descriptor);
  perfetto_close_packet(trace, packet);
  return uuid;
}

static void write_clock(struct wire *wire, unsigned id, bool incremental) {
  size_t clock = wire_begin(wire, SNAPSHOT_CLOCKS);
  wire_number(wire, CLOCK_ID, id);
  wire_number(wire, CLOCK_TIMESTAMP, 0);
  if (incremental)
    wire_number(wire, CLOCK_IS_INCREMENTAL, 1);
  wire_end(wire, clock);
}

static void write_argument_names(struct wire *wire) {
  static const char *const names[] = {
      [ARGUMENT_CYCLES] = "cycles", [ARGUMENT_DRAWN] = "drawn", [ARGUMENT_BYTES] = "bytes"};
  size_t interned = wire_begin(wire, PACKET_INTERNED_DATA);
  for (unsigned i = ARGUMENT_CYCLES; i < ARGUMENT_END; i++) {
    size_t name = wire_begin(wire, INTERNED_ANNOTATION_NAMES);
    wire_number(wire, INTERNED_IID, i);
    wire_text(wire, INTERNED_NAME,
              i < ARGUMENT_STATE ? names[i] : state_key((enum state_part)(i - ARGUMENT_STATE)));
    wire_end(wire, name);
  }
  wire_end(wire, interned);
}

void perfetto_start_sequence(struct perfetto *trace, uint64_t track) {
  struct wire *wire = &trace->wire;
  trace->sequence = (uint32_t)++trace->sequences;
  trace->now_ns = 0;
  trace->names = 0;
  size_t packet = perfetto_open_packet(trace);
  wire_number(wire, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED | SEQUENCE_NEEDS_STATE);
  size_t snapshot = wire_begin(wire, PACKET_CLOCK_SNAPSHOT);
  write_clock(wire, CLOCK_BOOTTIME, false);
  write_clock(wire, CLOCK_OF_SEQUENCE, true);
  wire_end(wire, snapshot);
  size_t defaults = wire_begin(wire, PACKET_DEFAULTS);
  wire_number(wire, DEFAULTS_CLOCK_ID, CLOCK_OF_SEQUENCE);
  size_t event = wire_begin(wire, DEFAULTS_TRACK_EVENT);
  wire_number(wire, EVENT_TRACK_UUID, track);
  wire_end(wire, event);
  wire_end(wire, defaults);
  write_argument_names(wire);
  perfetto_close_packet(trace, packet);
}

void perfetto_open_event(struct perfetto *trace, struct perfetto_event *event, unsigned type,
                         uint64_t time_ns) {
  struct wire *wire = &trace->wire;
  event->packet = perfetto_open_packet(trace);
  wire_number(wire, PACKET_TIMESTAMP, time_ns - trace->now_ns);
  trace->now_ns = time_ns;
  wire_number(wire, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
  event->event = wire_begin(wire, PACKET_TRACK_EVENT);
  wire_number(wire, EVENT_TYPE, type);
}

void perfetto_close_event(struct perfetto *trace, const struct perfetto_event *event) {
  wire_end(&trace->wire, event->event);
  perfetto_close_packet(trace, event->packet);
}

void perfetto_end_slice(struct perfetto *trace, uint64_t time_ns) {
  struct perfetto_event event;
  perfetto_open_event(trace, &event, EVENT_SLICE_END, time_ns);
  perfetto_close_event(trace, &event);
}

void perfetto_add_argument(struct perfetto *trace, unsigned argument, uint64_t value) {
  size_t annotation = wire_begin(&trace->wire, EVENT_DEBUG_ANNOTATIONS);
  wire_number(&trace->wire, ANNOTATION_NAME_IID, argument);
  wire_number(&trace->wire, ANNOTATION_UINT_VALUE, value);
  wire_end(&trace->wire, annotation);
}
