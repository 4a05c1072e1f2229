/* SPDX-License-Identifier: Apache-2.0 */
/* Why a pipe, or the scalar unit, that has work stands still. */
#ifndef VINCI_CORE_CONTROL_WAIT_H
#define VINCI_CORE_CONTROL_WAIT_H

/* Id, key in summary.json, sentence, what a pipe that stalls for the reason mostly does. */
#define STALL_LIST(X)                                                                              \
  X(WAIT_FLAG, "wait_flag", "waits for a flag of another pipe", "waits for flags of other pipes")  \
  X(BARRIER, "pipe_barrier", "drains for a barrier", "drains for barriers")                        \
  X(CROSS_CORE, "cross_core", "waits for a flag of another core",                                  \
    "waits for flags of other cores")                                                              \
  X(CODE, "code_fetch", "the scalar unit waits for code of the kernel", "waits for code")          \
  X(QUEUE_FULL, "queue_full", "the scalar unit finds an issue queue full",                         \
    "finds issue queues full")                                                                     \
  X(UNIT_FLAG, "unit_flag", "waits for L0C blocks that mad or the fixpipe has not handed over",    \
    "waits for blocks of L0C")

enum stall {
#define X(id, key, text, mostly) STALL_##id,
  STALL_LIST(X)
#undef X
      STALL_COUNT
};

enum { NOT_STALLED = STALL_COUNT };

#endif
