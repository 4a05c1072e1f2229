/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port of L1: MTE1 does not read in cycles in which a copy that turns ND to NZ writes. Such a
 * copy puts neighbouring blocks of 32 bytes far apart, often into one group of banks. Plain copies
 * write rows of all groups, each of which has a row read and one written per cycle: measured times
 * of convolutions and of their gradients show no wait.
 *
 * How fast a copy writes is known when the copy has ended. Of the cycles that its writes took, the
 * share that fell into work of MTE1 is owed by the loads that follow. A load waits no longer than
 * it reads, so that one long copy slows a number of loads and does not stop one of them.
 */
#include "core/base/arith.h"
#include "core/sim/aicore.h"
#include "core/sim/device.h"

static bool is_shared(const struct aicore *core, const struct pipe_entry *entry) {
  bool scatters = entry->op == OP_COPY_GM_TO_CBUF_MULTI_ND2NZ_B8 ||
                  entry->op == OP_COPY_GM_TO_CBUF_MULTI_ND2NZ_B16 ||
                  entry->op == OP_COPY_GM_TO_CBUF_MULTI_ND2NZ_B32S;
  return scatters && core->device->soc->l1_write_bytes > 0;
}

static uint64_t reader_cycles(struct aicore *core, uint64_t now) {
  struct pipe_unit *reader = &core->pipe[PIPE_MTE1];
  pipe_account(reader, now);
  return reader->counters->busy_cycles;
}

void pipe_l1_copy_started(struct aicore *core, struct retire_entry *copy, uint64_t now) {
  if (is_shared(core, &copy->entry))
    copy->reader_cycles = reader_cycles(core, now);
}

void pipe_l1_copy_ended(struct aicore *core, const struct retire_entry *copy) {
  const struct inst_cost *cost = &copy->entry.cost;
  if (!is_shared(core, &copy->entry) || copy->cycle <= copy->start_cycle)
    return;
  uint64_t length = copy->cycle - copy->start_cycle;
  uint64_t writes = cost->bytes * MILLI / (uint64_t)core->device->soc->l1_write_bytes;
  uint64_t together = reader_cycles(core, aicore_now(core)) - copy->reader_cycles;
  core->l1_wait_mcycles += min_u64(writes, length * MILLI) * min_u64(together, length) / length;
}

uint64_t pipe_l1_wait(struct aicore *core, const struct inst_cost *cost, uint64_t cycles) {
  if (cost->path != PATH_L1_L0A && cost->path != PATH_L1_L0B)
    return 0;
  uint64_t wait = min_u64(core->l1_wait_mcycles / MILLI, cycles);
  core->l1_wait_mcycles -= wait * MILLI;
  return wait;
}
