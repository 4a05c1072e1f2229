/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the cycle-level memory system.
 *
 *   transfer engine --requests--> network --> L2 slice --miss--> HBM channel
 *          ^------------------------ network <----'<--------------------'
 *
 * An engine cuts its transfers into requests of at most one L2 line, issues them at the
 * rate of its path as long as its bytes in flight allow, and is done when the last
 * answer has come. A slice answers in order of arrival at its own rate; a miss first
 * writes back the line that has to leave, then fetches the granules asked for.
 */
#ifndef VINCI_MEMHIER_CYCLE_H
#define VINCI_MEMHIER_CYCLE_H

#include "core/memsys.h"
#include "memhier/hbm_port.h"
#include "memhier/memhier.h"

/* A line lies in up to so many channels of its slice, hbm.interleave bytes in each. */
enum { LINE_PARTS_MAX = 4 };
enum { LINE_WRITE_BACK, LINE_FETCH, LINE_OPERATIONS };

struct memory_request;

struct line_op {
  struct hbm_op op;
  struct memory_request *request;
};

struct memory_request {
  struct network_message message;                            /* there and back */
  struct engine_event event;                                 /* at the slice */
  struct line_op operation[LINE_PARTS_MAX][LINE_OPERATIONS]; /* of device memory, by part */
  uint64_t lines[LINE_OPERATIONS];    /* addresses in the slice: to write back, to fetch */
  uint32_t granules[LINE_OPERATIONS]; /* of them; 0: nothing to do */
  struct memsys *memory;
  struct gm_transfer *transfer;
  struct memory_request *next; /* among the free or the returning ones of the port */
  struct memory_request *previous;
  uint64_t arrival_ps; /* of the answer, once it is known */
  uint32_t port;
  uint32_t operations;  /* of device memory that have not ended */
  uint64_t address;     /* in GM */
  uint32_t bytes;       /* asked for */
  uint32_t moved_bytes; /* whole granules */
};

/* One transfer engine of a core. */
struct engine_port {
  struct gm_transfer *first; /* transfers with requests to issue, in order */
  struct gm_transfer *last;
  struct memory_request *free;
  struct memory_request *returning; /* by rising arrival_ps */
  struct memory_request *returning_last;
  struct engine_event issue;
  struct memsys *memory;
  uint32_t index;
  uint32_t cluster;
  uint64_t next_issue_ps;
  uint64_t bytes_in_flight;
  bool window_full; /* the next answer lets it go on */
};

struct l2_slice {
  struct l2_tags tags;
  uint64_t free_ps;
};

struct memsys {
  struct engine *engine;
  const struct vinci_soc *soc;
  const struct network_ops *network_ops;
  struct network *network;
  uint32_t part;
  struct engine_port *ports;
  uint32_t port_count;
  uint32_t request_count;
  struct l2_counters *l2_of_core;
  struct l2_slice *slices;
  uint32_t slice_count;
  struct hbm_port *channels; /* channels_per_slice of each slice, one after the other */
  uint32_t channels_per_slice;
  struct hbm_map map;
  struct clock_domain core_clock;
  uint64_t round_trip_ps; /* of a hit in an idle system */
  uint64_t read_bytes;
  uint64_t write_bytes;
};

/* Where an address lives: which slice, and at which address of the slice's own space. */
struct l2_place {
  uint32_t slice;
  uint64_t local;
};
struct l2_place cycle_place(const struct memsys *memory, uint64_t address);

/* Ties the operations of a request to it, once. */
void cycle_init_request(struct memory_request *request);
/* A request has arrived at its slice (cycle_l2.c); the answer goes to cycle_answer(). */
void cycle_slice_access(struct memory_request *request, uint64_t now_ps);
/* Sends the answer of a request back to its core at start_ps, now or later (cycle.c). */
void cycle_answer(struct memory_request *request, uint64_t start_ps);

#endif
