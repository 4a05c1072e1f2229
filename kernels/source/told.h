/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scalar code has accessed since the last intrinsic, by lines of 64 bytes: which bytes each
 * place in the code has stored, and which it has loaded before scalar code stored there.
 */
#ifndef VINCI_KERNELS_SOURCE_TOLD_H
#define VINCI_KERNELS_SOURCE_TOLD_H

#include "kernels/source/source.h"

enum { TOLD_LINE_BYTES = 64, TOLD_SPACE_SHIFT = 56 };
/* Of a group: stores. */
#define TOLD_WRITES (UINT32_C(1) << 31)

/* What one place in the code has accessed of a line. */
struct told_part {
  uint64_t line; /* the address through 64, and the space above */
  uint64_t mask;
  uint32_t group; /* the row, and TOLD_WRITES */
  uint32_t next;  /* part of the line + 1 */
};

struct told_line {
  uint64_t line;
  uint64_t stored;     /* bytes, by whoever */
  uint32_t part, slot; /* part: the newest + 1 */
};

struct told_lines {
  struct told_line *lines; /* half as many as slots */
  struct told_part *parts; /* as many as slots */
  struct told_part *spare; /* as many, for sorting */
  uint32_t *slots;         /* hash table of lines: index + 1 */
  uint32_t slot_count, used, parts_used;
  uint32_t clears; /* how often all lines went to the log, or to another place */
};

/* Of a contiguous range. */
struct told_run {
  uint32_t row;
  uint8_t space;
  uint8_t alignment; /* that is not kept, as a power of two; 0: nothing is known */
  bool write;
  int64_t start, end;
};

/* Makes room for an access to a line, which may put all lines into the log; false when memory is
 * short. */
bool told_make_room(struct source_core *core, struct told_lines *told);
static inline bool told_has_room(struct source_core *core, struct told_lines *told) {
  enum { PARTS_OF_ACCESS = 2 };
  return (2 * (told->used + 1) <= told->slot_count &&
          told->parts_used + PARTS_OF_ACCESS <= told->slot_count) ||
         told_make_room(core, told);
}
static inline uint32_t told_slot_of(const struct told_lines *told, uint64_t line) {
  enum { HIGH = 40 };
  return (uint32_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> HIGH) & (told->slot_count - 1);
}
/* The index of a line, and of a part of one; TOLD_NONE when it is not there. There must have been
 * room once. */
#define TOLD_NONE UINT32_MAX
static inline uint32_t told_find_line(const struct told_lines *told, uint64_t line) {
  for (uint32_t slot, at = told_slot_of(told, line); (slot = told->slots[at]) != 0;
       at = (at + 1) & (told->slot_count - 1))
    if (told->lines[slot - 1].line == line)
      return slot - 1;
  return TOLD_NONE;
}
static inline uint32_t told_find_part(const struct told_lines *told, uint32_t line,
                                      uint32_t group) {
  for (uint32_t part = told->lines[line].part; part != 0; part = told->parts[part - 1].next)
    if (told->parts[part - 1].group == group)
      return part - 1;
  return TOLD_NONE;
}
/* The same of a line that is entered when it is not there. */
static inline uint32_t told_line_of(struct told_lines *told, uint64_t line) {
  uint32_t last = told->slot_count - 1, at = told_slot_of(told, line);
  for (; told->slots[at] != 0; at = (at + 1) & last)
    if (told->lines[told->slots[at] - 1].line == line)
      return told->slots[at] - 1;
  told->lines[told->used] = (struct told_line){.line = line, .slot = at};
  told->slots[at] = ++told->used;
  return told->used - 1;
}
static inline uint32_t told_part_of(struct told_lines *told, uint32_t line, uint32_t group) {
  struct told_line *of = &told->lines[line];
  uint32_t found = told_find_part(told, line, group);
  if (found != TOLD_NONE)
    return found;
  told->parts[told->parts_used] =
      (struct told_part){.line = of->line, .group = group, .next = of->part};
  of->part = ++told->parts_used;
  return told->parts_used - 1;
}
/* All lines become entries of the log, loads first; false when memory is short. */
bool told_close(struct source_core *core, struct told_lines *told);
bool told_write_run(struct source_core *core, const struct told_run *run);
void told_lines_free(struct told_lines *told);

#endif
