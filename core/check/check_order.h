/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happens-before: which earlier instruction has certainly completed when another starts,
 * whatever the timing. Vector clocks over the pipes of a core, from set_flag and wait_flag,
 * pipe_barrier, the scalar unit's order of issue and the flags between cores; kernels follow
 * each other completely. Blocks that share a core one after the other are not ordered by
 * that: another launch may put them side by side.
 *
 * A pipe counts epochs: each act that lets others know of its earlier instructions (a flag
 * set, a signal, a barrier) ends an epoch. An instruction is known by core, block, pipe and epoch.
 */
#ifndef VINCI_CORE_CHECK_CHECK_ORDER_H
#define VINCI_CORE_CHECK_CHECK_ORDER_H

#include "core/machine/machine.h"

struct order;

struct program_source;

/* In the place of a pipe: what scalar code has stored itself. Later scalar code comes after such a
 * store; an instruction that is issued later does only behind a flag of PIPE_S, a barrier of all
 * pipes, a signal of the scalar unit or a dcci. */
enum { ORDER_STORES = PIPE_COUNT + 1 };

/* What memory remembers of an executed instruction. */
struct order_tag {
  uint32_t epoch; /* 0: none */
  uint32_t row;
  uint16_t core;
  uint16_t block;
  uint8_t pipe;
  uint8_t flags;   /* the user's, as is: */
  uint16_t atomic; /* tags are compared as bytes, hence there is no gap */
};

/* What the order itself finds wrong; line 0: none. */
struct order_flag_use {
  uint32_t set_row;
  uint32_t wait_row; /* of the wait that may come after the set */
  bool may_be_set;   /* when set again */
};

/* source: of a compiled kernel, whose flags count and whose compiler may have put in barriers;
 * NULL: a trace. */
struct order *order_create(struct arena *arena, const struct vinci_soc *soc, uint32_t core_count,
                           const struct program_source *source);
void order_free(struct order *order);
void order_begin_block(struct order *order, const struct machine_step *step);
/* Takes an instruction in; false when memory is short. *use tells of set_flag. */
bool order_step(struct order *order, const struct machine_step *step, struct order_flag_use *use);
/* Takes a read row in, or accesses of scalar code, after questions about them: what is issued later
 * comes after what has been read.
 * False when memory is short. */
bool order_read(struct order *order, const struct machine_step *step);
/* Before an access of a thread. */
void order_thread(struct order *order, const struct machine_step *step);
/* A dcci of scalar code. */
void order_clean(struct order *order, const struct machine_step *step);
bool order_deliver(struct order *order, const struct signal_delivery *delivery);

/* The tag of an instruction that executes now. */
struct order_tag order_tag(const struct order *order, const struct machine_step *step);
/* Whether the tagged instruction has completed before one that starts now on this pipe. */
bool order_before(const struct order *order, const struct machine_step *step,
                  struct order_tag earlier);
/* The block a core works on, or has worked on last. */
uint32_t order_block(const struct order *order, uint32_t core);
/* Rows of the flags that are set on a core: *index goes on from 0; 0 ends. */
bool order_next_set_flag(const struct order *order, uint32_t core, uint32_t *index, uint32_t *row);
/* A signal of a core that nobody took, or that never met those of the others: its row, and
 * forgets it; false when there is none. *taken tells whether it arrived. */
bool order_next_signal(struct order *order, uint32_t core, uint32_t *row, bool *arrived);

#endif
