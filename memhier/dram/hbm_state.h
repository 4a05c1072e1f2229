/* SPDX-License-Identifier: Apache-2.0 */
/* State of a DRAM controller. Internal to memhier/dram/hbm_*.c. */
#ifndef VINCI_MEMHIER_DRAM_HBM_STATE_H
#define VINCI_MEMHIER_DRAM_HBM_STATE_H

#include <stdalign.h>

#include "memhier/dram/hbm_channel.h"
#include "memhier/dram/hbm_op.h"

enum {
  HBM_BANKS_MAX = 32, /* behind one controller: bank masks are 32 bits */
  HBM_GROUPS_MAX = 16,
  HBM_PSEUDO_MAX = 2,
  HBM_RUNS_MAX = 254,
  HBM_NONE = 255,               /* no run, no bank */
  HBM_HITS_END = HBM_BANKS_MAX, /* before the first and behind the last bank of a list */
  HBM_FILTER_BITS = 11,
  HBM_CACHE_LINE = 64, /* of most hosts */
};
#define HBM_GROWS_NOT UINT32_MAX

/* Indices of the two queues and of all that is kept by direction: whether it is written. */
enum { HBM_R, HBM_W, HBM_DIRECTIONS };

/* Distances between commands, from bus start to bus start: a field for each row of hbm_rules.def,
 * and what is not between two commands. */
struct hbm_distances {
#define RULE(level, before, after, cycles) uint32_t level##_##before##_##after;
#define WINDOW(level, command, count, cycles) uint32_t level##_##command##_window;
#include "memhier/dram/hbm_rules.def"
#undef RULE
#undef WINDOW
  uint32_t column_end[HBM_DIRECTIONS]; /* command to last data beat */
  uint32_t act_bus;
};
enum {
#define RULE(level, before, after, cycles)
#define WINDOW(level, command, count, cycles) HBM_WINDOW_##level##_##command = count,
#include "memhier/dram/hbm_rules.def"
#undef RULE
#undef WINDOW
};

/*
 * Requests of one bank and queue that wait: neighbours in a row, offered one right after the other.
 * Commands take the first; order and column of the others follow from those of the first.
 */
enum { HBM_RUN_BURSTS = 8 };
struct hbm_run {
  /* Requests go in this order; the low bits are the bank. Queued: offer number under a set
   * top bit; active: low bits of the offer cycle, then order of ACT, hence before queued ones.
   * When those bits pass their end, once in 40 minutes at 1.6 GHz, the few active requests of
   * that moment go in another order. */
  uint64_t order;                   /* of the first request */
  uint64_t offered[HBM_RUN_BURSTS]; /* cycle of each, also of those that are gone */
  struct hbm_op *op;                /* reads of an operation; NULL: with a tag, or writes */
  uint64_t tag;
  uint32_t row;
  uint16_t column; /* of the first request */
  uint16_t next;
  uint16_t previous;
  uint16_t gone;  /* requests that are no longer there */
  uint16_t count; /* those that are */
};

#define HBM_QUEUED (UINT64_C(1) << 63)
/* The order of a request and that of the next one offered to the same bank differ by this. */
#define HBM_ORDER_STEP (UINT64_C(1) << HBM_ORDER_BANK_BITS)
enum { HBM_ORDER_BANK_BITS = 5, HBM_ORDER_ACT_BITS = 16, HBM_ORDER_OFFER_BITS = 42 };
_Static_assert(HBM_ORDER_BANK_BITS + HBM_ORDER_ACT_BITS + HBM_ORDER_OFFER_BITS == 63,
               "an order of an active request stays below HBM_QUEUED");
_Static_assert(1 << HBM_ORDER_BANK_BITS == HBM_BANKS_MAX, "a bank fits the order");

/* Runs of one queue to one bank, oldest first. */
struct hbm_list {
  uint16_t head;
  uint16_t tail;
  uint16_t hit; /* oldest whose row is open */
};

/* A request that has had its row opened. */
struct hbm_active {
  uint64_t order;
  struct hbm_op *op; /* as of the run it was in */
  uint64_t tag;
  uint16_t column;
};

/* Banks with a row hit of one queue, in the order of those hits; a ring through HBM_HITS_END. */
struct hbm_hits {
  uint16_t next[HBM_HITS_END + 1];
  uint16_t previous[HBM_HITS_END + 1];
};

/* A bank takes two lines of the host's cache: what choices look at, and the rest. */
struct hbm_bank {
  uint64_t column[HBM_DIRECTIONS]; /* earliest by tRCD */
  uint64_t act;
  uint64_t pre;
  uint64_t hit_order[HBM_DIRECTIONS]; /* of list.hit */
  /* Of the request the row bus would work for: the list's oldest while the bank is closed,
   * that which may close the row while it is open. */
  uint64_t row_order[HBM_DIRECTIONS];
  /* ---- */
  alignas(HBM_CACHE_LINE) uint32_t open_row;
  uint32_t hit_run; /* column commands since the ACT */
  struct hbm_list list[HBM_DIRECTIONS];
  struct hbm_active active;
};

struct hbm_group {
  uint64_t column[HBM_DIRECTIONS];
  uint64_t act;
};

struct hbm_pseudo {
  uint64_t column[HBM_DIRECTIONS];
  uint64_t act; /* tRRD_S and tFAW */
  uint64_t pre_all;
  uint64_t refresh;
};

/* What is to be issued next on a bus: when, and the order of the request it is for. */
struct hbm_choice {
  uint64_t cycle;
  uint64_t order;
};

/*
 * Small indices are 16 bits wide: stores of bytes would make the compiler reload everything. A
 * chip has many channels, so what a visit touches is kept together.
 */
struct hbm_channel {
  uint64_t next;  /* the next cycle to process */
  uint64_t cycle; /* the earliest cycle in which commands can still be issued */
  struct hbm_choice column;
  struct hbm_choice row;
  uint64_t active_from; /* no active request may go before, by tRCD; HBM_NEVER: there is none */
  uint64_t column_free;
  uint64_t row_free;
  uint64_t refresh_due;
  uint64_t refresh_cycles; /* of all refreshes so far, a pseudo-channel's share of the channel */
  uint64_t turn_cycles;    /* lost to changes of direction so far */
  uint32_t refresh_left;   /* pseudo-channels that wait for their refresh, the last ones */
  uint32_t pseudos;
  uint32_t draining;     /* HBM_W while writes are drained, else HBM_R: the queue in turn */
  uint32_t bank_shift;   /* bank index >> bank_shift = group index */
  uint32_t pseudo_shift; /* bank index >> pseudo_shift = pseudo-channel */
  uint32_t groups;       /* of a pseudo-channel */
  bool turn_due;         /* the other queue has its turn in the next cycle */
  uint32_t pseudo_banks; /* mask of the banks of pseudo-channel 0 */

  /* Bank masks. */
  uint32_t open;
  uint32_t active[HBM_DIRECTIONS];   /* open for a request that waits for its column command */
  uint32_t hits[HBM_DIRECTIONS];     /* list.hit exists */
  uint32_t waiting[HBM_DIRECTIONS];  /* list is not empty */
  uint32_t conflict[HBM_DIRECTIONS]; /* a request may close the open row */

  uint32_t count[HBM_DIRECTIONS]; /* queued requests */
  uint32_t depth[HBM_DIRECTIONS];
  uint32_t drain_above; /* writes are drained with more than these queued, */
  uint32_t drain_below; /* until fewer than these are */
  uint32_t row_hit_cap;
  uint32_t free_count; /* runs */
  uint64_t offers;
  bool protect_row_hits;
  bool plain_protection;   /* protect_row_hits without a cap */
  bool streaks;            /* issue_streak() knows all that may happen */
  struct hbm_op *first_op; /* with bursts that are not taken */
  struct hbm_op *last_op;
  uint32_t growing;      /* the run that the next bursts of the first operation, a read, continue */
  uint32_t growing_left; /* how many */
  uint32_t grows_at; /* queued reads that leave room for one of them; HBM_GROWS_NOT: no run grows */
  uint32_t refi;
  uint64_t long_idle_cycles; /* beyond, periods of refresh are worth being skipped */
  struct hbm_hooks hooks;
  struct hbm_counters counters;
  struct hbm_distances distance;
  struct hbm_pseudo pseudo[HBM_PSEUDO_MAX];
  struct hbm_group group[HBM_GROUPS_MAX];
  struct hbm_bank bank[HBM_BANKS_MAX];
  struct hbm_hits by_order[HBM_DIRECTIONS];
  uint32_t faw_at[HBM_PSEUDO_MAX];
  uint64_t faw_ring[HBM_PSEUDO_MAX][HBM_WINDOW_pseudo_act];
  uint16_t free_runs[HBM_RUNS_MAX];
  struct hbm_run run[HBM_NONE + 1];      /* that of HBM_NONE is read, never used */
  uint16_t filter[1 << HBM_FILTER_BITS]; /* queued writes by hash of their place */
};

#endif
