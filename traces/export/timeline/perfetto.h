/* SPDX-License-Identifier: Apache-2.0 */
/* What the files share that write trace.pftrace: the state of the writer, and its packets. */
#ifndef VINCI_TRACES_EXPORT_PERFETTO_H
#define VINCI_TRACES_EXPORT_PERFETTO_H

#include "core/result/state.h"
#include "traces/export/timeline/lanes.h"
#include "traces/export/timeline/perfetto_fields.h"
#include "traces/export/timeline/tracks.h"
#include "traces/export/timeline/wire.h"

/* Interned names of arguments. */
enum {
  ARGUMENT_CYCLES = 1,
  ARGUMENT_DRAWN,
  ARGUMENT_BYTES,
  ARGUMENT_STATE,
  ARGUMENT_END = ARGUMENT_STATE + STATE_PARTS
};

/* Flags whose arrows leave a slice: a list by place in the lane + 1, 0 at its end. */
struct join {
  size_t first; /* of a slice */
  size_t next;  /* of a flag */
  bool joined;
};

struct perfetto {
  FILE *out;
  struct wire wire;
  struct lanes *lanes;
  struct arrows *arrows;
  struct join *joins; /* of the lane */
  const char *trace_name;
  struct series read, written; /* bytes of GM, of all cores */
  struct rates rates;
  uint64_t chip;                   /* its track */
  uint64_t tracks, sequences;      /* that there are */
  uint32_t sequence;               /* being written */
  uint64_t now_ns;                 /* of the sequence: its times are differences */
  uint32_t names;                  /* interned in the sequence */
  uint32_t *name_of;               /* number of a name in the sequence, by place */
  uint32_t *name_seen, *line_seen; /* the last sequence that wrote a name, or a line */
};

struct perfetto_track {
  const char *name;
  uint64_t parent;  /* 0: none */
  unsigned rank;    /* among the children of the parent */
  const char *unit; /* of a counter, NULL for others */
};

struct perfetto_event {
  size_t packet, event;
};

uint64_t perfetto_ns(uint64_t ps);

/* A packet of the sequence that is being written. */
size_t perfetto_open_packet(struct perfetto *trace);
void perfetto_close_packet(struct perfetto *trace, size_t packet);
/* Returns the number of the track. */
uint64_t perfetto_describe_track(struct perfetto *trace, const struct perfetto_track *track);
/* A sequence whose events are those of a track, in order of time. */
void perfetto_start_sequence(struct perfetto *trace, uint64_t track);
/* Further fields may be added until the event is closed. */
void perfetto_open_event(struct perfetto *trace, struct perfetto_event *event, unsigned type,
                         uint64_t time_ns);
void perfetto_close_event(struct perfetto *trace, const struct perfetto_event *event);
void perfetto_end_slice(struct perfetto *trace, uint64_t time_ns);
void perfetto_add_argument(struct perfetto *trace, unsigned argument, uint64_t value);

#endif
