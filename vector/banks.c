/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conflicts in the banks of UB. What groups cost follows from distances between operands
 * alone and repeats after at most as many repeats as there are groups. Reads that meet writes
 * are followed cycle by cycle, but only where two operands share a bank and a glance at the
 * steady state does not rule collisions out.
 */
#include "vector/banks.h"

#include <stdbool.h>

#include "core/chip/layout.h"

enum { MILLI = 1000, PENDING_MAX = 64 };

struct map {
  uint64_t groups;
  uint64_t banks;       /* of a group */
  uint64_t bank_rows;   /* from a bank to the next of its group */
  uint64_t group_reads; /* per cycle */
  uint64_t write_delay;
};

/* What does not change from repeat to repeat. */
struct shape {
  const struct map *map;
  const struct bank_traffic *traffic;
  uint64_t pattern[BANK_READS_MAX]; /* groups touched by a repeat that starts in group 0 */
  uint64_t cycles[BANK_READS_MAX];  /* of a source alone */
  uint64_t write_pattern;
  uint64_t write_cycles;
};

/* Sources that are read at the same time. */
struct slot {
  uint64_t cycles;
  unsigned sources; /* set of bits */
};

static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Most blocks of a repeat whose rows are the same modulo `modulus`. */
static uint64_t multiplicity(const struct bank_operand *operand, uint64_t modulus) {
  if (operand->block_stride == 0 || operand->blocks == 0)
    return operand->blocks > 0;
  if (operand->block_stride == 1 && operand->blocks <= modulus)
    return 1;
  uint64_t different = modulus / gcd(modulus, operand->block_stride % modulus);
  return (operand->blocks + different - 1) / different;
}

static uint64_t read_cycles(const struct map *map, const struct bank_operand *operand) {
  uint64_t in_group = multiplicity(operand, map->groups);
  if (map->group_reads == 1)
    return in_group;
  uint64_t by_group = (in_group + map->group_reads - 1) / map->group_reads;
  /* Where a group's banks follow each other row by row, a bank sees only its share. */
  bool interleaved = map->bank_rows == map->groups;
  uint64_t in_bank = interleaved ? multiplicity(operand, map->groups * map->banks) : in_group;
  return max_u64(by_group, in_bank);
}

static uint64_t pattern_of(const struct map *map, const struct bank_operand *operand) {
  uint64_t pattern = 0, group = 0, step = operand->block_stride % map->groups;
  for (uint64_t i = 0; i < operand->blocks && i < map->groups; i++) {
    pattern |= UINT64_C(1) << group;
    group += step;
    if (group >= map->groups)
      group -= map->groups;
  }
  return pattern;
}

/* The groups of a pattern that starts in another group. */
static uint64_t turned(const struct map *map, uint64_t pattern, uint64_t group) {
  uint64_t all = (UINT64_C(1) << map->groups) - 1;
  return (pattern << group | pattern >> (map->groups - group)) & all;
}

static uint64_t rotate(const struct map *map, uint64_t pattern, uint64_t row) {
  return turned(map, pattern, row % map->groups);
}

static uint64_t row_at(const struct bank_operand *operand, uint64_t repeat) {
  return operand->row + repeat * operand->repeat_stride;
}

/* A source that stays where it is comes with the first repeat only. */
static bool is_read(const struct bank_operand *source, uint64_t repeat) {
  return source->blocks > 0 && (repeat == 0 || source->repeat_stride > 0);
}

/* The order in which a repeat reads sources that touch these groups (0: not read); returns
 * the number of slots. */
static unsigned fill_slots(const struct shape *shape, const uint64_t touched[BANK_READS_MAX],
                           struct slot slots[BANK_READS_MAX]) {
  unsigned count = 0;
  uint64_t once = 0, twice = 0; /* groups that the last slot reads from, once and more often */
  for (unsigned i = 0; i < shape->traffic->reads; i++) {
    uint64_t groups = touched[i];
    if (groups == 0)
      continue;
    uint64_t full = shape->map->group_reads == 1 ? once : twice;
    if (count == 0 || (groups & full) != 0) {
      slots[count++] = (struct slot){.cycles = shape->cycles[i], .sources = 1u << i};
      once = groups;
      twice = 0;
    } else {
      struct slot *last = &slots[count - 1];
      last->cycles = max_u64(last->cycles, shape->cycles[i]);
      last->sources |= 1u << i;
      twice |= once & groups;
      once |= groups;
    }
  }
  return count;
}

static unsigned read_slots(const struct shape *shape, uint64_t repeat,
                           struct slot slots[BANK_READS_MAX]) {
  uint64_t touched[BANK_READS_MAX] = {0};
  for (unsigned i = 0; i < shape->traffic->reads; i++) {
    const struct bank_operand *source = &shape->traffic->read[i];
    if (is_read(source, repeat))
      touched[i] = rotate(shape->map, shape->pattern[i], row_at(source, repeat));
  }
  return fill_slots(shape, touched, slots);
}

static uint64_t slot_cycles(const struct slot *slots, unsigned count) {
  uint64_t cycles = 0;
  for (unsigned i = 0; i < count; i++)
    cycles += slots[i].cycles;
  return cycles;
}

/* Thousandths of cycles that the groups add to one repeat. */
static uint64_t repeat_loss(const struct shape *shape, uint64_t repeat, uint64_t mcycles) {
  struct slot slots[BANK_READS_MAX];
  unsigned count = read_slots(shape, repeat, slots);
  uint64_t ports = MILLI * max_u64(slot_cycles(slots, count), shape->write_cycles);
  return ports > mcycles ? ports - mcycles : 0;
}

/* Repeats after which the distances between the moving sources are the same again. */
static uint64_t period_of(const struct shape *shape) {
  const struct bank_traffic *traffic = shape->traffic;
  uint64_t groups = shape->map->groups, common = groups, first = 0;
  bool seen = false;
  for (unsigned i = 0; i < traffic->reads; i++) {
    uint64_t stride = traffic->read[i].repeat_stride % groups;
    if (!is_read(&traffic->read[i], 1))
      continue;
    if (seen)
      common = gcd(common, (stride + groups - first) % groups);
    else
      first = stride;
    seen = true;
  }
  return groups / common;
}

static uint64_t group_loss(const struct shape *shape, uint64_t mcycles) {
  uint64_t repeats = shape->traffic->repeats;
  uint64_t loss = repeat_loss(shape, 0, mcycles);
  uint64_t period = period_of(shape);
  uint64_t whole = (repeats - 1) / period, rest = (repeats - 1) % period;
  for (uint64_t i = 0; i < period && i < repeats - 1; i++)
    loss += repeat_loss(shape, 1 + i, mcycles) * (whole + (i < rest));
  return loss;
}

/* ---- reads that meet writes ----------------------------------------------------------- */

/* The banks of a group that an operand may touch, over all repeats. */
static unsigned banks_touched(const struct map *map, const struct bank_operand *operand,
                              uint64_t repeats) {
  uint64_t first = operand->row / map->bank_rows;
  uint64_t reach =
      (operand->blocks - 1) * operand->block_stride + (repeats - 1) * operand->repeat_stride;
  uint64_t last = (operand->row + reach) / map->bank_rows;
  unsigned touched = 0;
  for (uint64_t i = first; i <= last && i < first + map->banks; i++)
    touched |= 1u << i % map->banks;
  return touched;
}

/* The sources that share a bank with the result at some time. */
static unsigned rivals_of(const struct shape *shape) {
  const struct bank_traffic *traffic = shape->traffic;
  unsigned written = banks_touched(shape->map, &traffic->write, traffic->repeats);
  unsigned rivals = 0;
  for (unsigned i = 0; i < traffic->reads; i++) {
    const struct bank_operand *source = &traffic->read[i];
    if (source->blocks > 0 && (banks_touched(shape->map, source, traffic->repeats) & written))
      rivals |= 1u << i;
  }
  return rivals;
}

static uint64_t write_delay(const struct shape *shape, unsigned rivals) {
  const struct bank_traffic *traffic = shape->traffic;
  uint64_t written = rotate(shape->map, shape->write_pattern, traffic->write.row);
  for (unsigned i = 0; i < traffic->reads; i++)
    if ((rivals & 1u << i) &&
        rotate(shape->map, shape->pattern[i], traffic->read[i].row) == written)
      return shape->map->write_delay + 1;
  return shape->map->write_delay;
}

/* Cycles from repeat to repeat when nothing collides. */
static uint64_t interval_of(const struct shape *shape, uint64_t reading, uint64_t mcycles) {
  return max_u64((mcycles + MILLI - 1) / MILLI, max_u64(reading, shape->write_cycles));
}

/* Whether a write that comes `cycle` cycles after its repeat started meets one of the rivals. */
static bool write_meets(const struct shape *shape, const struct slot *slots, unsigned count,
                        uint64_t interval, uint64_t cycle, unsigned rivals) {
  uint64_t written = rotate(shape->map, shape->write_pattern, shape->traffic->write.row);
  uint64_t repeat = cycle / interval, phase = cycle % interval;
  for (unsigned i = 0; i < count; i++) {
    if (phase >= slots[i].cycles) {
      phase -= slots[i].cycles;
      continue;
    }
    for (unsigned source = 0; source < shape->traffic->reads; source++)
      if ((slots[i].sources & rivals & 1u << source) &&
          (written & rotate(shape->map, shape->pattern[source],
                            row_at(&shape->traffic->read[source], repeat))))
        return true;
    return false;
  }
  return false;
}

/*
 * When all sources move as the result does, every repeat is like the first: one look at where
 * its write falls says whether any collides.
 */
static bool never_collides(const struct shape *shape, unsigned rivals, uint64_t delay,
                           uint64_t mcycles) {
  const struct bank_traffic *traffic = shape->traffic;
  for (unsigned i = 0; i < traffic->reads; i++)
    if (traffic->read[i].blocks > 0 &&
        (traffic->read[i].repeat_stride != traffic->write.repeat_stride ||
         traffic->read[i].repeat_stride == 0))
      return false;
  struct slot slots[BANK_READS_MAX];
  unsigned count = read_slots(shape, 0, slots);
  uint64_t reading = slot_cycles(slots, count);
  uint64_t interval = interval_of(shape, reading, mcycles);
  for (uint64_t i = 0; i < shape->write_cycles; i++)
    if (write_meets(shape, slots, count, interval, reading - 1 + delay + i, rivals))
      return false;
  return true;
}

/* An operand as it walks from repeat to repeat. */
struct cursor {
  const struct bank_operand *operand;
  uint64_t pattern;
  uint64_t group; /* of the first block, */
  uint64_t step;  /* its move per repeat */
  uint64_t bank;
  uint64_t offset; /* rows from the start of that bank */
  uint64_t reach;  /* rows from the first block of a repeat to the last */
};

static struct cursor cursor_at(const struct map *map, const struct bank_operand *operand,
                               uint64_t pattern) {
  return (struct cursor){
      .operand = operand,
      .pattern = pattern,
      .group = operand->row % map->groups,
      .step = operand->repeat_stride % map->groups,
      .bank = operand->row / map->bank_rows % map->banks,
      .offset = operand->row % map->bank_rows,
      .reach = operand->blocks ? (operand->blocks - 1) * operand->block_stride : 0,
  };
}

static void advance(const struct map *map, struct cursor *cursor) {
  cursor->group += cursor->step;
  if (cursor->group >= map->groups)
    cursor->group -= map->groups;
  cursor->offset += cursor->operand->repeat_stride;
  while (cursor->offset >= map->bank_rows) {
    cursor->offset -= map->bank_rows;
    cursor->bank = cursor->bank + 1 == map->banks ? 0 : cursor->bank + 1;
  }
}

/* The banks that a repeat touches, one bit each. */
static uint64_t banks_of(const struct map *map, const struct cursor *cursor) {
  if (cursor->offset + cursor->reach < map->bank_rows)
    return turned(map, cursor->pattern, cursor->group) << cursor->bank * map->groups;
  uint64_t banks = 0, stride = cursor->operand->block_stride;
  for (uint64_t distance = 0; distance <= cursor->reach; distance += stride) {
    uint64_t bank = (cursor->bank + (cursor->offset + distance) / map->bank_rows) % map->banks;
    banks |= UINT64_C(1) << (bank * map->groups + (cursor->group + distance) % map->groups);
  }
  return banks;
}

/* Writes under way, oldest first; no two fall into one cycle. */
struct writes {
  struct {
    uint64_t start_cycle;
    uint64_t banks;
  } pending[PENDING_MAX];
  uint64_t head, tail;
  uint64_t cycles;     /* each */
  uint64_t free_cycle; /* the last one is through */
};

static void push_write(struct writes *writes, uint64_t cycle, uint64_t banks) {
  cycle = max_u64(cycle, writes->free_cycle);
  writes->free_cycle = cycle + writes->cycles;
  writes->pending[writes->tail % PENDING_MAX].start_cycle = cycle;
  writes->pending[writes->tail++ % PENDING_MAX].banks = banks;
}

static bool meets_write(struct writes *writes, uint64_t cycle, uint64_t banks) {
  while (writes->head != writes->tail &&
         writes->pending[writes->head % PENDING_MAX].start_cycle + writes->cycles <= cycle)
    writes->head++;
  return writes->head != writes->tail &&
         writes->pending[writes->head % PENDING_MAX].start_cycle <= cycle &&
         (writes->pending[writes->head % PENDING_MAX].banks & banks) != 0;
}

/* One repeat's reads from `cycle` on; returns the cycle after them. */
static uint64_t read_repeat(const struct slot *slots, unsigned count,
                            const uint64_t banks[BANK_READS_MAX], struct writes *writes,
                            uint64_t cycle, uint64_t *waited) {
  for (unsigned i = 0; i < count; i++) {
    uint64_t wanted = 0;
    for (unsigned source = 0; source < BANK_READS_MAX; source++)
      if (slots[i].sources & 1u << source)
        wanted |= banks[source];
    for (uint64_t left = slots[i].cycles; left > 0; cycle++) {
      if (meets_write(writes, cycle, wanted))
        ++*waited;
      else
        left--;
    }
  }
  return cycle;
}

/* Cycles that reads wait for writes, cycle by cycle. */
static uint64_t follow(const struct shape *shape, unsigned rivals, uint64_t delay,
                       uint64_t mcycles) {
  const struct map *map = shape->map;
  const struct bank_traffic *traffic = shape->traffic;
  struct writes writes = {.cycles = shape->write_cycles};
  struct cursor write = cursor_at(map, &traffic->write, shape->write_pattern);
  struct cursor read[BANK_READS_MAX];
  for (unsigned i = 0; i < traffic->reads; i++)
    read[i] = cursor_at(map, &traffic->read[i], shape->pattern[i]);
  uint64_t cycle = 0, waited = 0;
  for (uint64_t repeat = 0; repeat < traffic->repeats; repeat++) {
    uint64_t groups[BANK_READS_MAX] = {0}, banks[BANK_READS_MAX] = {0};
    for (unsigned i = 0; i < traffic->reads; i++) {
      if (!is_read(&traffic->read[i], repeat))
        continue;
      groups[i] = turned(map, read[i].pattern, read[i].group);
      if (rivals & 1u << i)
        banks[i] = banks_of(map, &read[i]);
      advance(map, &read[i]);
    }
    struct slot slots[BANK_READS_MAX];
    unsigned count = fill_slots(shape, groups, slots);
    cycle = read_repeat(slots, count, banks, &writes, cycle, &waited);
    push_write(&writes, cycle + delay - (count > 0), banks_of(map, &write));
    advance(map, &write);
    uint64_t reading = slot_cycles(slots, count);
    cycle += interval_of(shape, reading, mcycles) - reading;
  }
  return waited;
}

static uint64_t bank_loss(const struct shape *shape, uint64_t mcycles) {
  if (shape->map->write_delay == 0 || shape->write_cycles == 0)
    return 0;
  struct slot slots[BANK_READS_MAX];
  uint64_t reading = slot_cycles(slots, read_slots(shape, 0, slots));
  if (mcycles >= MILLI * (reading + shape->write_cycles))
    return 0;
  unsigned rivals = rivals_of(shape);
  uint64_t delay = write_delay(shape, rivals);
  if (rivals == 0 || never_collides(shape, rivals, delay, mcycles))
    return 0;
  return MILLI * follow(shape, rivals, delay, mcycles);
}

struct bank_loss banks_loss(const struct vinci_soc *soc, const struct bank_traffic *traffic,
                            uint64_t per_repeat_mcycles) {
  if (soc->ub_reads_per_group == 0 || traffic->repeats == 0)
    return (struct bank_loss){0};
  struct map map = {
      .groups = (uint64_t)soc->ub_bank_groups,
      .banks = (uint64_t)soc->ub_banks_per_group,
      .bank_rows = (uint64_t)soc->ub_bank_stride_bytes / BLOCK_BYTES,
      .group_reads = (uint64_t)soc->ub_reads_per_group,
      .write_delay = (uint64_t)soc->ub_write_delay_cycles,
  };
  struct shape shape = {
      .map = &map,
      .traffic = traffic,
      .write_pattern = pattern_of(&map, &traffic->write),
      .write_cycles = multiplicity(&traffic->write, map.groups),
  };
  for (unsigned i = 0; i < traffic->reads; i++) {
    shape.pattern[i] = pattern_of(&map, &traffic->read[i]);
    shape.cycles[i] = read_cycles(&map, &traffic->read[i]);
  }
  return (struct bank_loss){
      .group_mcycles = group_loss(&shape, per_repeat_mcycles),
      .bank_mcycles = bank_loss(&shape, per_repeat_mcycles),
  };
}
