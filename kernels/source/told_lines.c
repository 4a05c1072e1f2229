/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of 64 bytes that scalar code has accessed, and how they come into the log (told.h). */
#include "kernels/source/log.h"
#include "kernels/source/told.h"

#include <stdlib.h>
#include <string.h>

#include "core/isa/aligned.h"

enum { SLOTS_FIRST = 1 << 8, SLOTS_MAX = 1 << 16 };

/* ---- the table ---- */

/* Twice as much room; false when memory is short. */
static bool grow(struct told_lines *told) {
  struct told_lines more = {.slot_count = told->slot_count ? 2 * told->slot_count : SLOTS_FIRST,
                            .used = told->used,
                            .parts_used = told->parts_used,
                            .clears = told->clears + 1};
  more.slots = calloc(more.slot_count, sizeof *more.slots);
  more.lines = malloc(more.slot_count / 2 * sizeof *more.lines);
  more.parts = malloc(more.slot_count * sizeof *more.parts);
  more.spare = malloc(more.slot_count * sizeof *more.spare);
  if (!more.slots || !more.lines || !more.parts || !more.spare) {
    told_lines_free(&more);
    return false;
  }
  if (told->parts_used > 0)
    memcpy(more.parts, told->parts, told->parts_used * sizeof *more.parts);
  more.used = 0;
  for (uint32_t i = 0; i < told->used; i++) {
    struct told_line *line = &more.lines[told_line_of(&more, told->lines[i].line)];
    line->stored = told->lines[i].stored;
    line->part = told->lines[i].part;
  }
  told_lines_free(told);
  *told = more;
  return true;
}

bool told_make_room(struct source_core *core, struct told_lines *told) {
  return told->slot_count == SLOTS_MAX ? told_close(core, told) : grow(told);
}

void told_lines_free(struct told_lines *told) {
  free(told->slots);
  free(told->lines);
  free(told->parts);
  free(told->spare);
}

/* ---- order ---- */

static int compare_parts(const void *left, const void *right) {
  const struct told_part *a = left, *b = right;
  if (a->group != b->group)
    return a->group < b->group ? -1 : 1;
  return a->line < b->line ? -1 : a->line > b->line;
}

/* By eight bits of the line, or of the group. */
static void sort_by_digit(const struct told_part *from, struct told_part *to, uint32_t count,
                          bool by_group, unsigned shift) {
  enum { DIGITS = 1 << 8 };
  uint32_t at[DIGITS + 1] = {0};
  for (uint32_t i = 0; i < count; i++)
    at[((by_group ? from[i].group : from[i].line) >> shift & (DIGITS - 1)) + 1]++;
  for (unsigned digit = 0; digit < DIGITS; digit++)
    at[digit + 1] += at[digit];
  for (uint32_t i = 0; i < count; i++)
    to[at[(by_group ? from[i].group : from[i].line) >> shift & (DIGITS - 1)]++] = from[i];
}

static void sort_by(struct told_lines *told, bool by_group, uint64_t differs) {
  enum { DIGIT_BITS = 8, WORD_BITS = 64 };
  for (unsigned shift = 0; shift < WORD_BITS && differs >> shift != 0; shift += DIGIT_BITS) {
    if ((differs >> shift & ((1u << DIGIT_BITS) - 1)) == 0)
      continue;
    sort_by_digit(told->parts, told->spare, told->parts_used, by_group, shift);
    struct told_part *sorted = told->spare;
    told->spare = told->parts;
    told->parts = sorted;
  }
}

/* Loads, then stores; each by place and address. */
static void sort_parts(struct told_lines *told) {
  enum { FEW = 48 };
  uint64_t lines = 0, groups = 0;
  bool sorted = true;
  for (uint32_t i = 1; i < told->parts_used; i++) {
    lines |= told->parts[i].line ^ told->parts[0].line;
    groups |= told->parts[i].group ^ told->parts[0].group;
    sorted &= compare_parts(&told->parts[i - 1], &told->parts[i]) < 0;
  }
  if (sorted)
    return;
  if (told->parts_used <= FEW) {
    qsort(told->parts, told->parts_used, sizeof *told->parts, compare_parts);
    return;
  }
  sort_by(told, false, lines);
  sort_by(told, true, groups);
}

/* ---- entries of the log ---- */

static bool write_entry(struct source_core *core, const struct told_run *run, uint64_t mask) {
  struct inst inst = {.op = core->source->trace->rows[run->row].op, .row = run->row};
  inst.arg[ACCESS_ADDRESS] = run->start;
  inst.arg[ACCESS_BYTES] = run->end - run->start;
  inst.arg[ACCESS_SPACE] = run->space | (int64_t)run->alignment << ACCESS_ALIGNMENT_SHIFT;
  inst.arg[ACCESS_MASK] = (int64_t)mask;
  return source_log_add(core->source, &core->place, &inst);
}

bool told_write_run(struct source_core *core, const struct told_run *run) {
  return run->end == run->start || write_entry(core, run, 0);
}

/* Adds the bytes of a line to an open run, which goes to the log where bytes are missing. */
static bool add_part(struct source_core *core, const struct told_part *part, struct told_run *run) {
  int64_t base =
      (int64_t)((part->line & ((UINT64_C(1) << TOLD_SPACE_SHIFT) - 1)) * TOLD_LINE_BYTES);
  unsigned first = (unsigned)__builtin_ctzll(part->mask);
  uint64_t behind = ~(part->mask >> first);
  unsigned count = behind ? (unsigned)__builtin_ctzll(behind) : TOLD_LINE_BYTES;
  bool whole = first + count >= TOLD_LINE_BYTES || part->mask >> (first + count) == 0;
  struct told_run own = {.row = part->group & ~TOLD_WRITES,
                         .space = (uint8_t)(part->line >> TOLD_SPACE_SHIFT),
                         .write = (part->group & TOLD_WRITES) != 0,
                         .start = base + (whole ? first : 0),
                         .end = base + (whole ? first + count : TOLD_LINE_BYTES)};
  if (whole && run->end == own.start && run->end > run->start && run->row == own.row &&
      run->write == own.write && run->space == own.space) {
    run->end = own.end;
    return true;
  }
  bool good = told_write_run(core, run);
  *run = own;
  if (whole)
    return good;
  run->start = run->end; /* has been written */
  return write_entry(core, &own, part->mask) && good;
}

bool told_close(struct source_core *core, struct told_lines *told) {
  struct told_run run = {.start = 0};
  bool good = true;
  if (told->used == 0)
    return true;
  for (uint32_t i = 0; i < told->used; i++)
    told->slots[told->lines[i].slot] = 0;
  sort_parts(told);
  for (uint32_t i = 0; i < told->parts_used; i++)
    if (told->parts[i].mask != 0)
      good &= add_part(core, &told->parts[i], &run);
  good &= told_write_run(core, &run);
  told->used = told->parts_used = 0;
  told->clears++;
  return good;
}
