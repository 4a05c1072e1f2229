/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the cycle-level memory system.
 *
 *   transfer engine --requests--> network --> L2 slice --miss--> HBM channel
 *          ^------------------------ network <----'<--------------------'
 *
 * An engine cuts its transfers into requests of at most one L2 line, issues them at the
 * rate of its path as long as its bytes in flight allow, and is done when the last
 * answer has come. A slice serves granules at its own rate; a miss first writes back the
 * line that has to leave, then fetches the granules asked for.
 *
 * Burst windows. Where the network can compute arrivals ahead of time (packet level), an
 * engine issues all lines of the next BURST_WINDOW_CYCLES in one event. Each line reserves
 * its cycles in the calendars of the links, of its slice and of the way back. Only misses
 * have events of their own. This is an approximation in three places. The engine that issues
 * first is served first for up to a burst window; requests of other engines would come
 * between, and get the cycles that are left, so no cycle is lost. Lines enter L2 in the order
 * of the windows. An answer of device memory that becomes known during a window has its
 * effect in the next window. A burst window is shorter than the round trip to a slice, so
 * engines still slow each other down within a round trip.
 */
#ifndef VINCI_MEMHIER_L2_CYCLE_H
#define VINCI_MEMHIER_L2_CYCLE_H

#include "core/sim/calendar.h"
#include "core/sim/memsys.h"
#include "memhier/dram/hbm_port.h"
#include "memhier/memhier.h"

enum { BURST_WINDOW_CYCLES = 64 };

/* Channels of a slice over which a line may spread, hbm.interleave bytes in each. */
enum { LINE_PARTS_MAX = 4 };
enum { LINE_WRITE_BACK, LINE_FETCH, LINE_FETCH_SHARED, LINE_OPERATIONS };

struct memory_request;

/* The next bytes of a transfer that lie in one line of L2. */
struct line_run {
  struct l2_place place; /* in its slice */
  uint32_t slice;
  uint32_t granules;    /* of the line, a bit each */
  uint32_t bytes;       /* asked for */
  uint32_t moved_bytes; /* whole granules, one of which may come twice */
  bool shared;          /* one comes twice: parts of that one belong to two requests */
};

struct line_op {
  struct hbm_op op;
  struct memory_request *request;
  uint64_t bytes; /* that it moves */
};

struct memory_behind;

/* A line whose answer is not known yet: it misses, or the network tells no arrivals. */
struct memory_request {
  struct line_run run;
  struct memsys *memory;
  struct gm_transfer *transfer;
  struct memory_request *next; /* among the free ones of the port */
  uint64_t looked_up_ps;       /* when the slice had looked up the tags */
  uint64_t ready_ps;           /* when the last operation so far has ended */
  const struct hbm_op *last;   /* the operation that has ended last; NULL: none yet */
  bool again;                  /* the line has been in L2 before */
  uint32_t port;
  uint32_t operations;                /* of device memory that have not ended */
  uint64_t lines[LINE_OPERATIONS];    /* in the slice: to write back, to fetch, to fetch again */
  uint32_t granules[LINE_OPERATIONS]; /* of them; 0: nothing to do */
  struct engine_event event;          /* at the slice */
  struct network_message message;     /* there and back, where the network needs messages */
  struct line_op operation[LINE_PARTS_MAX][LINE_OPERATIONS]; /* of device memory, by part */
  struct line_op turn; /* of a store among the misses of its channel: moves nothing */
};

/* Answers on their way: arrival_ps and granules in one number, so that they sort quickly. */
enum { ANSWER_GRANULE_BITS = 6 };

/* One transfer engine of a core. */
struct engine_port {
  struct gm_transfer *first; /* transfers with requests to issue, in order */
  struct gm_transfer *last;
  struct memsys *memory;
  struct engine_event issue;
  uint32_t index;
  uint32_t cluster;
  uint64_t next_issue_ps;
  uint64_t granule_time; /* of the first transfer for one granule, 1/GRANULE_TIME_UNITS ps */
  uint64_t line_ps;      /* of the first transfer for one line of its engine, at least */
  uint64_t idle_ps[2];   /* of a line's request and answer in an idle network; [1]: of a store */
  uint64_t window_bytes; /* that may be in flight for this transfer */
  uint64_t bytes_in_flight;
  uint32_t in_flight;     /* requests */
  uint32_t request_count; /* at most */
  struct memory_request *free;
  struct memory_request *requests;
  uint32_t unprepared; /* requests that were never taken: the first of the array */
  uint32_t first_id;
  uint64_t *known; /* answers that have not arrived, rising, from known_first on */
  uint32_t known_room;
  uint32_t known_first;
  uint32_t known_end;
  bool window_full; /* the port waits for an answer to become known */
};

enum { GRANULE_TIME_UNITS = 1024 };

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
  struct l2_tags *slices;
  uint64_t *last_lines;             /* by slice: the line asked for last, and by which engine */
  struct calendars slice_calendars; /* in granules of a slice's bandwidth */
  struct divisor slice_count;
  struct divisor line_bytes;
  struct clock_domain slice_clock; /* a granule per edge */
  uint64_t hit_ps;                 /* latency of a slice */
  struct memory_behind *behind;    /* the memory is another simulator's; NULL: the channels are */
  struct hbm_port *channels;       /* channels_per_slice of each slice, one after the other */
  uint64_t channel_cycle_ps;
  uint32_t channels_per_slice;
  struct hbm_layout layout;
  uint64_t burst_window_ps; /* how far ahead an engine issues */
  uint64_t round_trip_ps;   /* of a hit in an idle system */
  uint64_t read_bytes;
  uint64_t write_bytes;
  struct memory_traffic traffic;
};

/* What lies at an address, up to the end of its line and of bytes (cycle_l2.c). */
void cycle_run_at(const struct memsys *memory, uint64_t address, uint64_t bytes,
                  struct line_run *run);

/*
 * A run arrives at its slice at arrival_ps, now or later: takes the slice, looks up the tags
 * and counts the outcome for the core of the transfer. Returns when the slice is through.
 * cycle_slices_begin() comes before the first access of an instant.
 */
void cycle_slices_begin(struct memsys *memory);
uint64_t cycle_slice_access(struct memsys *memory, const struct line_run *run,
                            struct gm_transfer *transfer, uint64_t arrival_ps,
                            struct l2_outcome *outcome);

/* Whether operations wait for the channel of a run's first granule. */
bool cycle_channel_is_busy(const struct memsys *memory, const struct line_run *run);

/*
 * Whether an access has to wait for device memory: for what its outcome needs there, and a store
 * also for its turn where misses of its line's channel already wait for room in the controller.
 */
static inline bool cycle_needs_memory(const struct memsys *memory, const struct line_run *run,
                                      const struct l2_outcome *outcome, bool write) {
  if (outcome->written_back != 0)
    return true;
  return write ? cycle_channel_is_busy(memory, run) : outcome->misses != 0;
}

/* Has device memory do what an access needs, from ready_ps on, then calls cycle_answer(). */
void cycle_use_memory(struct memory_request *request, const struct l2_outcome *outcome,
                      uint64_t ready_ps);

/* One of the operations of a request has ended at a time, now or later; the last one answers. */
void cycle_operation_over(struct memory_request *request, uint64_t end_ps);
/* Address of a line of a slice. */
uint64_t cycle_line_address(const struct memsys *memory, uint32_t slice, uint64_t line);

/* Sets up the operations of a request, once. */
void cycle_init_request(struct memory_request *request);

/*
 * Where the time of a transfer goes (cycle_parts.c). While its requests are under way, part_ps[]
 * has sums over them: in GM_NETWORK the time from issue to answer, in GM_SLICE and GM_SAME_LINE
 * that in slices beyond their latency, in the others that in device memory.
 */
/* A request has waited for device memory until ready_ps. */
void cycle_count_memory(const struct memory_request *request);
/* What the transfer waits beyond its last answer, as a part of its time: the way of first bytes. */
uint64_t cycle_first_miss(struct gm_transfer *transfer);
/* All requests are answered: the sums become shares. */
void cycle_divide(struct gm_transfer *transfer);

/* Answers (cycle_answer.c). Sends that of a request back to its core at start_ps, now or later. */
void cycle_answer(struct memory_request *request, uint64_t start_ps);
/* Tells the end of a transfer when all of it is answered. */
void cycle_finish_if_over(struct gm_transfer *transfer);
void cycle_finish(struct gm_transfer *transfer, uint64_t end_ps);

static inline bool cycle_any_known(const struct engine_port *port) {
  return port->known_first != port->known_end;
}

static inline uint64_t cycle_first_known_ps(const struct engine_port *port) {
  return port->known[port->known_first] >> ANSWER_GRANULE_BITS;
}

static inline bool cycle_all_issued(const struct gm_transfer *transfer) {
  return transfer->burst == transfer->bursts;
}

/*
 * A batch: lines of a burst window that are served together. All requests go to their slices,
 * then all tags are looked up, then all answers go back. The three steps use calendars of
 * their own, so the result is the same as line after line, as long as no line has to wait for
 * the answer of an earlier line of the batch. No answer comes before answers_from_ps.
 */
enum { BATCH_LINES = 16 };
struct line_batch {
  unsigned count;
  uint64_t answers_from_ps;             /* UINT64_MAX: the batch is empty */
  struct line_run run[BATCH_LINES + 1]; /* the last: the next line, not issued yet */
  struct gm_transfer *transfer[BATCH_LINES];
  struct network_leg leg[BATCH_LINES];
  unsigned line_of_leg[BATCH_LINES]; /* hits only: a miss has no way back here */
};

static inline void cycle_batch_clear(struct line_batch *batch) {
  batch->count = 0;
  batch->answers_from_ps = UINT64_MAX;
}

static inline struct line_run *cycle_next_run(struct line_batch *batch) {
  return &batch->run[batch->count];
}

/* Adds the next run, which belongs to the port's first transfer, to a batch with room. Asks the
 * host to fetch the tags of the line into its cache. */
void cycle_batch_add(const struct engine_port *port, struct line_batch *batch, uint64_t at_ps);
/* Serves all lines of a batch at their slices, sends hits back, and clears the batch. */
void cycle_batch_serve(struct engine_port *port, struct line_batch *batch);
/* The arrival times of the first `count` answers of a batch are known; they may lie ahead. */
void cycle_answers_known(struct engine_port *port, const struct line_batch *batch, unsigned count);
/* For a network that cannot compute arrivals: a run of the port's first transfer leaves now, as a
 * message. */
void cycle_send(struct engine_port *port, const struct line_run *run);

/* Ports (cycle.c). */
void cycle_issue(struct engine_event *event, uint64_t now_ps);
void cycle_start(struct memsys *memory, struct gm_transfer *transfer, uint64_t start_ps);

#endif
