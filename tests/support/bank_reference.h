/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of vector/banks.h a second time, without any shortcut: every block of every
 * repeat in every cycle.
 */
#ifndef VINCI_TESTS_SUPPORT_BANK_REFERENCE_H
#define VINCI_TESTS_SUPPORT_BANK_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/chip/layout.h"
#include "vector/banks.h"

enum { GROUPS_MAX = 16, BANKS_MAX = 64, CASE_REPEATS_MAX = 255 };

/* A map and its port rules, as the parameters ub.*. */
struct map_case {
  int64_t groups, banks, stride, reads, delay;
};

struct reference {
  const struct map_case *map;
  const struct bank_traffic *traffic;
  struct {
    uint64_t start;
    bool banks[BANKS_MAX];
  } writes[CASE_REPEATS_MAX];
  unsigned write_count;
  uint64_t write_cycles;
};

static inline uint64_t block_row(const struct bank_operand *operand, uint64_t repeat,
                                 uint64_t block) {
  return operand->row + repeat * operand->repeat_stride + block * operand->block_stride;
}

static inline uint64_t different_blocks(const struct bank_operand *operand) {
  return operand->block_stride == 0 && operand->blocks > 0 ? 1 : operand->blocks;
}

static inline uint64_t bank_of(const struct map_case *map, uint64_t row) {
  uint64_t bank_rows = (uint64_t)map->stride / BLOCK_BYTES;
  return row / bank_rows % (uint64_t)map->banks * (uint64_t)map->groups +
         row % (uint64_t)map->groups;
}

/* Most blocks of a repeat in one group, and in one bank of a map that interleaves banks. */
static inline uint64_t busiest(const struct map_case *map, const struct bank_operand *operand,
                               uint64_t repeat, bool by_bank) {
  uint64_t counts[BANKS_MAX] = {0}, most = 0;
  for (uint64_t i = 0; i < different_blocks(operand); i++) {
    uint64_t row = block_row(operand, repeat, i);
    uint64_t at = by_bank ? bank_of(map, row) : row % (uint64_t)map->groups;
    if (++counts[at] > most)
      most = counts[at];
  }
  return most;
}

static inline uint64_t source_cycles(const struct map_case *map, const struct bank_operand *operand,
                                     uint64_t repeat) {
  uint64_t reads = (uint64_t)map->reads;
  uint64_t by_group = (busiest(map, operand, repeat, false) + reads - 1) / reads;
  if (reads == 1)
    return by_group;
  uint64_t by_bank = busiest(map, operand, repeat, true);
  return by_bank > by_group ? by_bank : by_group;
}

/* Which sources a repeat reads together: slot number of each, cycles of each slot. */
static inline unsigned slots_of(const struct reference *reference, uint64_t repeat,
                                int slot_of[BANK_READS_MAX], uint64_t cycles[BANK_READS_MAX]) {
  const struct map_case *map = reference->map;
  unsigned count = 0;
  int64_t users[GROUPS_MAX];
  for (unsigned i = 0; i < reference->traffic->reads; i++) {
    const struct bank_operand *source = &reference->traffic->read[i];
    slot_of[i] = -1;
    if (source->blocks == 0 || (repeat > 0 && source->repeat_stride == 0))
      continue;
    bool wants[GROUPS_MAX] = {false}, fits = count > 0;
    for (uint64_t block = 0; block < source->blocks; block++)
      wants[block_row(source, repeat, block) % (uint64_t)map->groups] = true;
    for (int group = 0; group < map->groups; group++)
      fits = fits && !(wants[group] && users[group] >= map->reads);
    if (!fits) {
      memset(users, 0, sizeof users);
      cycles[count++] = 0;
    }
    for (int group = 0; group < map->groups; group++)
      users[group] += wants[group];
    uint64_t own = source_cycles(map, source, repeat);
    if (own > cycles[count - 1])
      cycles[count - 1] = own;
    slot_of[i] = (int)count - 1;
  }
  return count;
}

/* Whether two operands come into one bank of a group, as far as their first and last row say. */
static inline bool share_banks(const struct map_case *map, const struct bank_operand *a,
                               const struct bank_operand *b, uint64_t repeats) {
  uint64_t bank_rows = (uint64_t)map->stride / BLOCK_BYTES, banks = (uint64_t)map->banks;
  uint64_t a_end = block_row(a, repeats - 1, a->blocks - 1) / bank_rows;
  uint64_t b_end = block_row(b, repeats - 1, b->blocks - 1) / bank_rows;
  for (uint64_t i = a->row / bank_rows; i <= a_end; i++)
    for (uint64_t j = b->row / bank_rows; j <= b_end; j++)
      if (i % banks == j % banks)
        return true;
  return false;
}

static inline bool same_groups(const struct map_case *map, const struct bank_operand *a,
                               const struct bank_operand *b) {
  bool of_a[GROUPS_MAX] = {false}, of_b[GROUPS_MAX] = {false};
  for (uint64_t i = 0; i < a->blocks; i++)
    of_a[block_row(a, 0, i) % (uint64_t)map->groups] = true;
  for (uint64_t i = 0; i < b->blocks; i++)
    of_b[block_row(b, 0, i) % (uint64_t)map->groups] = true;
  return memcmp(of_a, of_b, sizeof of_a) == 0;
}

static inline bool write_blocks(const struct reference *reference, uint64_t cycle, uint64_t bank) {
  for (unsigned i = 0; i < reference->write_count; i++)
    if (reference->writes[i].banks[bank] && reference->writes[i].start <= cycle &&
        cycle < reference->writes[i].start + reference->write_cycles)
      return true;
  return false;
}

static inline bool slot_waits(const struct reference *reference, uint64_t repeat,
                              const int slot_of[BANK_READS_MAX], int slot, uint64_t cycle) {
  for (unsigned i = 0; i < reference->traffic->reads; i++)
    for (uint64_t block = 0; slot_of[i] == slot && block < reference->traffic->read[i].blocks;
         block++)
      if (write_blocks(
              reference, cycle,
              bank_of(reference->map, block_row(&reference->traffic->read[i], repeat, block))))
        return true;
  return false;
}

static inline void add_write(struct reference *reference, uint64_t repeat, uint64_t start) {
  const struct bank_operand *write = &reference->traffic->write;
  unsigned at = reference->write_count++;
  if (at > 0 && start < reference->writes[at - 1].start + reference->write_cycles)
    start = reference->writes[at - 1].start + reference->write_cycles;
  memset(&reference->writes[at], 0, sizeof reference->writes[at]);
  reference->writes[at].start = start;
  for (uint64_t block = 0; block < write->blocks; block++)
    reference->writes[at].banks[bank_of(reference->map, block_row(write, repeat, block))] = true;
}

static inline uint64_t delay_of(const struct reference *reference) {
  const struct bank_traffic *traffic = reference->traffic;
  uint64_t delay = (uint64_t)reference->map->delay;
  for (unsigned i = 0; i < traffic->reads; i++)
    if (traffic->read[i].blocks > 0 && traffic->write.blocks > 0 &&
        share_banks(reference->map, &traffic->read[i], &traffic->write, traffic->repeats) &&
        same_groups(reference->map, &traffic->read[i], &traffic->write))
      return delay + 1;
  return delay;
}

static inline struct bank_loss
reference_loss(const struct map_case *map, const struct bank_traffic *traffic, uint64_t mcycles) {
  static struct reference reference; /* large */
  reference = (struct reference){.map = map, .traffic = traffic};
  reference.write_cycles = busiest(map, &traffic->write, 0, false);
  struct bank_loss loss = {0};
  uint64_t cycle = 0, delay = traffic->repeats ? delay_of(&reference) : 0;
  bool meets = map->delay > 0 && reference.write_cycles > 0;
  for (uint64_t repeat = 0; repeat < traffic->repeats; repeat++) {
    int slot_of[BANK_READS_MAX];
    uint64_t cycles[BANK_READS_MAX], reading = 0;
    unsigned slots = slots_of(&reference, repeat, slot_of, cycles);
    for (unsigned slot = 0; slot < slots; slot++)
      reading += cycles[slot];
    if (repeat == 0 && mcycles >= 1000 * (reading + reference.write_cycles))
      meets = false;
    for (unsigned slot = 0; slot < slots; slot++)
      for (uint64_t left = cycles[slot]; left > 0; cycle++)
        if (meets && slot_waits(&reference, repeat, slot_of, (int)slot, cycle))
          loss.bank_mcycles += 1000;
        else
          left--;
    if (meets)
      add_write(&reference, repeat, cycle + delay - (reading > 0));
    uint64_t ports = reading > reference.write_cycles ? reading : reference.write_cycles;
    uint64_t interval = (mcycles + 999) / 1000 > ports ? (mcycles + 999) / 1000 : ports;
    loss.group_mcycles += 1000 * ports > mcycles ? 1000 * ports - mcycles : 0;
    cycle += interval - reading;
  }
  return loss;
}

#endif
