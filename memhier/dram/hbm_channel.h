/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One DRAM controller with its pseudo-channel (or two that share command buses and
 * queues), with exact command timing: event-driven, it jumps from command to command
 * and issues each on the cycle on which a controller ticking every cycle would.
 *
 * Time is counted in cycles of the memory's command clock. Each cycle t the controller
 *   1. asks for an all-bank refresh when t is a multiple of timing.REFI; until that is
 *      done no queued request starts anything,
 *   2. issues at most one column command: of the requests whose row was opened for
 *      them the oldest that timing allows, else of the queue in turn (reads, or writes
 *      while draining) the oldest row hit that timing allows,
 *   3. issues at most one row command (ACT, PRE): for the oldest request of the queue in
 *      turn that timing allows. An open row is not closed while a request waits whose
 *      ACT opened it, nor (controller.protect_row_hits) for a request that is not older
 *      than the row's oldest waiting hit.
 * A request whose ACT is issued leaves its queue at once. Writes are drained when the
 * queue is more than drain_high full or no read waits, until it is less than drain_low
 * full and a read waits. These are the rules of Ramulator 2.1's HBM controller with
 * FR-FCFS and the row-hit variant of it, open page, all-bank refresh.
 *
 * A request offered in cycle c is seen by the controller in cycle c + 1: this one cycle
 * is the only fixed overhead on top of the device's own times. A row hit on an idle
 * channel thus ends at c + 1 + CL + BL.
 *
 * A read of a burst that waits in the write queue is answered from there. A write of such a
 * burst is merged with the waiting write. Both end in cycle c + 1.
 */
#ifndef VINCI_MEMHIER_DRAM_HBM_CHANNEL_H
#define VINCI_MEMHIER_DRAM_HBM_CHANNEL_H

#include "memhier/dram/hbm_map.h"

#define HBM_NEVER UINT64_MAX

struct hbm_channel;
struct hbm_op;

enum hbm_command_kind { HBM_ACT, HBM_PRE, HBM_PRE_ALL, HBM_READ, HBM_WRITE, HBM_REFRESH };

/* A command as it appears on its bus; an ACT starts there in `cycle`. */
struct hbm_command {
  uint64_t cycle;
  uint8_t kind;   /* enum hbm_command_kind */
  uint8_t pseudo; /* pseudo-channel behind the controller */
  uint8_t group;  /* ACT, PRE, READ, WRITE */
  uint8_t bank;   /* of its group */
  uint16_t column;
  uint32_t row;
};

struct hbm_counters {
  uint64_t reads;  /* RD commands */
  uint64_t writes; /* WR commands */
  uint64_t activates;
  uint64_t precharges; /* of single banks */
  uint64_t refreshes;
  uint64_t forwarded_reads;
  uint64_t merged_writes;
};

struct hbm_hooks {
  void *context;
  /* A request ends: its last data beat is in `cycle`, which may lie ahead. NULL: none. */
  void (*done)(void *context, uint64_t tag, uint64_t cycle);
  /* The same for the last burst of an operation that reads. One that writes ends in the cycle in
   * which its last burst is taken. Needed where operations are submitted. */
  void (*op_done)(void *context, struct hbm_op *op, uint64_t cycle);
  /* Each command in order of issue, the column command of a cycle first. NULL: none. */
  void (*command)(void *context, const struct hbm_command *command);
};

/* A channel in cycle 0, all banks closed. The description must be valid; NULL when memory is
 * short. Nothing is allocated later. */
struct hbm_channel *hbm_channel_create(struct arena *arena, const struct mem_spec *mem,
                                       struct hbm_hooks hooks);

/*
 * Offers a burst in a cycle, not before that of an earlier call; runs the channel up to
 * and including it first. place.channel names the pseudo-channel (modulo their number).
 * False when the queue is full.
 */
bool hbm_channel_offer(struct hbm_channel *channel, const struct hbm_place *place, bool write,
                       uint64_t tag, uint64_t cycle);

/*
 * Takes an operation on (hbm_op.h, layout and spot set), in the same way. Operations go in order.
 * Each waits here until all before have been taken and the queue has room for its next burst.
 */
void hbm_channel_submit(struct hbm_channel *channel, struct hbm_op *op, uint64_t cycle);

/* The first operation with bursts that are not taken; NULL: none. Others follow by `next`. */
const struct hbm_op *hbm_channel_first_op(const struct hbm_channel *channel);

/* Whether reads wait in the queue or for their column commands. */
bool hbm_channel_reads_wait(const struct hbm_channel *channel);

/* The next cycle in which anything may happen without another offer; HBM_NEVER if none. */
uint64_t hbm_channel_next(const struct hbm_channel *channel);

/* Issues all commands up to and including a cycle. */
void hbm_channel_run(struct hbm_channel *channel, uint64_t cycle);

/* Whether no request waits in the channel. */
bool hbm_channel_idle(const struct hbm_channel *channel);

/* From the command of a read to its last data beat. */
uint32_t hbm_channel_read_cycles(const struct hbm_channel *channel);

const struct hbm_counters *hbm_channel_counters(const struct hbm_channel *channel);

#endif
