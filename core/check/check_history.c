/* SPDX-License-Identifier: Apache-2.0 */
/* Histories of bytes: who has no order with whom. check_history.h says what they rest on. */
#include "core/check/check_history.h"

#include "core/base/arith.h" /* BITS_PER_BYTE */

/* Parts of order_tag.atomic. */
enum { ATOMIC_TYPE_SHIFT = 4, ATOMIC_PHASE_SHIFT = 12, BLOCKS_OF_A_CORE = 2 };

uint16_t history_atomic(const struct inst *inst, const struct inst_access *access) {
  const struct inst_registers *registers = &inst->registers;
  if (registers->atomic == ATOMIC_NONE || access->space != SPACE_GM || !access->write)
    return 0;
  unsigned element = dtype_bits((enum dtype)registers->atomic_type) / BITS_PER_BYTE;
  unsigned phase = (unsigned)(access->address & (int64_t)(element - 1));
  unsigned type = (unsigned)registers->atomic_type << ATOMIC_TYPE_SHIFT;
  return (uint16_t)(registers->atomic | type | phase << ATOMIC_PHASE_SHIFT);
}

/* ---- order ------------------------------------------------------------------------ */

static bool want_order(struct order_tag a, struct order_tag b) {
  return !(a.flags & b.flags & TAG_READ) && (a.atomic == 0 || a.atomic != b.atomic);
}

/*
 * Two accesses of one vector function to UB. What a function stores waits for what it has loaded,
 * by way of registers, and stores follow each other (chosen: documents name a barrier for both);
 * a load does not wait for a store (Ascend C, LocalMemBar).
 */
static bool is_in_function(const struct visit *visit, struct order_tag earlier) {
  if (earlier.pipe != PIPE_V || visit->tag.pipe != PIPE_V || visit->tag.flags & TAG_READ)
    return false;
  const struct program_row *rows = visit->run->trace->rows;
  return isa_is_register((enum isa_op)rows[earlier.row].op) &&
         isa_is_register((enum isa_op)visit->step->inst->op);
}

/* What the hardware orders without flags: accesses of the cube to its accumulators. */
static bool is_exempt(const struct visit *visit, struct order_tag earlier) {
  uint8_t both = earlier.flags & visit->tag.flags;
  if (visit->target->access->space == SPACE_UB)
    return is_in_function(visit, earlier);
  if (visit->target->access->space != SPACE_L0C)
    return false;
  if (earlier.pipe == PIPE_M && visit->tag.pipe == PIPE_M)
    return both & TAG_BACK_TO_BACK ||
           (earlier.flags & TAG_UNIT_TURN && visit->tag.flags & TAG_UNIT_FLAG);
  return earlier.pipe != visit->tag.pipe && both & TAG_UNIT_FLAG;
}

/* Whether cores may have waited for each other through memory, which tells no order. */
static bool may_have_waited(const struct visit *visit, struct order_tag earlier) {
  return visit->target->access->space == SPACE_GM && !history_same_block(earlier, visit->tag) &&
         program_waits_in_memory(visit->run->trace->source);
}

static bool is_ordered(const struct visit *visit, struct order_tag earlier) {
  return may_have_waited(visit, earlier) || earlier.epoch == 0 ||
         earlier.core == CORE_OF_EARLIER_KERNEL ||
         order_before(visit->run->order, visit->step, earlier);
}

void history_note_race(const struct visit *visit) {
  if (visit->target->raced)
    *visit->target->raced = true;
}

static enum finding_kind kind_of(const struct visit *visit, struct order_tag first,
                                 struct order_tag second) {
  if (first.flags & TAG_READ)
    return FINDING_WAR;
  if (second.flags & TAG_READ)
    return FINDING_RAW;
  bool overlaps = visit->target->access->space == SPACE_GM && first.block != second.block &&
                  first.atomic == 0 && second.atomic == 0 &&
                  check_wants(visit->run, VINCI_CHECK_MEMCHECK);
  return overlaps ? FINDING_OVERLAP : FINDING_WAW;
}

/* Of accesses of different blocks, or cores of a block, neither is the earlier one: that of the
 * earlier line is called so, whoever was walked first. */
static void report_hazard(const struct visit *visit, struct order_tag earlier, uint64_t start,
                          uint64_t end) {
  struct check_run *run = visit->run;
  struct order_tag pair[FINDING_EVENTS] = {earlier, visit->tag};
  if (!history_same_block(earlier, visit->tag) && earlier.row > visit->tag.row) {
    pair[0] = visit->tag;
    pair[1] = earlier;
  }
  history_note_race(visit);
  enum finding_kind kind = kind_of(visit, pair[0], pair[1]);
  if (kind != FINDING_OVERLAP && !check_wants(run, VINCI_CHECK_RACECHECK))
    return;
  struct check_finding finding = check_finding_of(run, kind, visit->step);
  finding.space = (uint8_t)visit->target->access->space;
  for (unsigned i = 0; i < FINDING_EVENTS; i++)
    finding.event[i] = check_event_of_tag(run, pair[i], !(pair[i].flags & TAG_READ));
  finding.has_range = true;
  finding.address = (int64_t)(visit->target->base + start);
  finding.bytes = end - start;
  findings_add(run->findings, &finding);
}

void history_check_against(const struct visit *visit, struct order_tag earlier, uint64_t start,
                           uint64_t end) {
  if (!is_ordered(visit, earlier) && want_order(earlier, visit->tag) && !is_exempt(visit, earlier))
    report_hazard(visit, earlier, start, end);
}

void history_check(const struct visit *visit, const struct shadow_cell *cell, uint64_t start,
                   uint64_t end) {
  history_check_against(visit, cell->write, start, end);
  for (unsigned i = 0; i < SHADOW_OTHERS; i++)
    if (cell->other[i].epoch != 0)
      history_check_against(visit, cell->other[i], start, end);
  const struct shadow_entry *entries = visit->target->shadow->pool->entries;
  for (uint32_t i = cell->more; i != 0; i = entries[i].next)
    history_check_against(visit, entries[i].tag, start, end);
}

/* ---- whether bytes are written ------------------------------------------------------- */

/* By one entry of a history. An atomic store does not count for another one, which would change
 * what nobody has set. Writes of the same block count without an order too: that is a hazard,
 * but nothing unwritten. */
static enum written written_by(const struct visit *visit, struct order_tag entry) {
  if (entry.epoch == 0 || entry.flags & TAG_READ || (entry.atomic && visit->tag.atomic))
    return UNWRITTEN;
  return history_same_block(entry, visit->tag) || is_ordered(visit, entry) ? WRITTEN
                                                                           : WRITTEN_ASIDE;
}

enum written history_written(const struct visit *visit, const struct shadow_cell *cell) {
  enum written best = written_by(visit, cell->write);
  if (best == WRITTEN || !visit->target->shadow->holds_writers)
    return best;
  for (unsigned i = 0; i < SHADOW_OTHERS; i++) {
    enum written other = written_by(visit, cell->other[i]);
    best = other < best ? other : best;
  }
  const struct shadow_entry *entries = visit->target->shadow->pool->entries;
  for (uint32_t i = cell->more; i != 0 && best != WRITTEN; i = entries[i].next) {
    enum written other = written_by(visit, entries[i].tag);
    best = other < best ? other : best;
  }
  return best;
}

static bool is_quiet_against(const struct visit *visit, struct order_tag earlier) {
  return !want_order(earlier, visit->tag) || is_ordered(visit, earlier);
}

bool history_is_quiet(const struct visit *visit, const struct shadow_cell *cell) {
  bool reads = (visit->tag.flags & TAG_READ) != 0;
  if (cell->more != 0 || cell->write.flags & (TAG_HOLLOW | TAG_PADS) ||
      (reads && !visit->target->starts_written &&
       (cell->write.epoch == 0 || !history_same_block(cell->write, visit->tag))))
    return false;
  for (unsigned i = 0; i < SHADOW_OTHERS; i++)
    if (cell->other[i].epoch != 0 && !is_quiet_against(visit, cell->other[i]))
      return false;
  return is_quiet_against(visit, cell->write);
}

/* ---- keeping an access ------------------------------------------------------------------ */

/* Whether both want an order with the same accesses, and the second walk need not tell them apart.
 */
static bool is_like(const struct visit *visit, struct order_tag old) {
  struct order_tag tag = visit->tag;
  return !((old.flags ^ tag.flags) & TAG_READ) && old.atomic == tag.atomic &&
         (!visit->target->exact || old.row == tag.row);
}

/* Whether the access may take the place of an old access: whoever comes after the access comes
 * after the old access. */
static bool supersedes(const struct visit *visit, struct order_tag old) {
  if (!is_like(visit, old))
    return false;
  if (visit->target->exact)
    return history_same_pipe(old, visit->tag) && !(old.flags & TAG_FIRST);
  return (history_same_pipe(old, visit->tag) && old.flags == visit->tag.flags) ||
         is_ordered(visit, old);
}

static bool is_first_like(const struct visit *visit, struct order_tag old) {
  return old.epoch != 0 && old.flags & TAG_FIRST && is_like(visit, old) &&
         history_same_pipe(old, visit->tag);
}

/* Whether the cell has no write of the row, pipe and block yet. Whoever reads may come after the
 * first write and not after the last. */
static bool is_first(const struct visit *visit, const struct shadow_cell *cell) {
  for (unsigned i = 0; i < SHADOW_OTHERS; i++)
    if (is_first_like(visit, cell->other[i]))
      return false;
  const struct shadow_entry *entries = visit->target->shadow->pool->entries;
  for (uint32_t i = cell->more; i != 0; i = entries[i].next)
    if (is_first_like(visit, entries[i].tag))
      return false;
  return true;
}

/* Whether an old access is one of another block that the core has run. Nobody has an order with
 * two of them, hence two stand for any number. */
static bool is_of_other_block(const struct visit *visit, struct order_tag old) {
  return is_like(visit, old) && old.core == visit->tag.core && old.pipe == visit->tag.pipe &&
         old.block != visit->tag.block;
}

/* Looks for a place in the list behind a cell. */
static void keep_in_list(const struct visit *visit, struct shadow_cell *cell,
                         struct order_tag tag) {
  struct shadow_pool *pool = visit->target->shadow->pool;
  struct order_tag *crowded = NULL;
  unsigned blocks = 0;
  for (unsigned i = 0; i < SHADOW_OTHERS; i++)
    if (is_of_other_block(visit, cell->other[i])) {
      crowded = &cell->other[i];
      blocks++;
    }
  for (uint32_t i = cell->more; i != 0; i = pool->entries[i].next) {
    struct order_tag *old = &pool->entries[i].tag;
    if (supersedes(visit, *old)) {
      *old = tag;
      return;
    }
    if (is_of_other_block(visit, *old)) {
      crowded = old;
      blocks++;
    }
  }
  if (blocks >= BLOCKS_OF_A_CORE)
    *crowded = tag;
  else
    shadow_add_more(pool, cell, tag);
}

void history_keep(const struct visit *visit, struct shadow_cell *cell) {
  struct order_tag tag = visit->tag;
  unsigned free_slot = SHADOW_OTHERS;
  if (!(tag.flags & TAG_READ)) {
    visit->target->shadow->holds_writers = true;
    if (visit->target->exact && is_first(visit, cell))
      tag.flags |= TAG_FIRST;
  }
  for (unsigned i = SHADOW_OTHERS; i-- > 0;) {
    if (cell->other[i].epoch == 0 || supersedes(visit, cell->other[i])) {
      cell->other[i] = (struct order_tag){0};
      free_slot = i;
    }
  }
  if (free_slot < SHADOW_OTHERS)
    cell->other[free_slot] = tag;
  else
    keep_in_list(visit, cell, tag);
}
