/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of unwritten bytes on their way through the cube: check_flow.h says why. */
#include "core/check/check_flow.h"

#include <stdlib.h>
#include <string.h>

/* A byte of a source that nobody wrote; one that the instruction leaves as it is. */
enum { MARK_UNWRITTEN = UINT8_MAX, MARK_LEFT = 1 };

bool check_flow_passes(const struct check_run *run, const struct machine_step *step) {
  return check_wants(run, VINCI_CHECK_INITCHECK) && registry_marks((enum isa_op)step->inst->op);
}

static uint8_t *marks_of(struct check_run *run, enum space space) {
  if (!run->marks)
    run->marks = calloc(1, sizeof *run->marks);
  if (run->marks && !run->marks->bytes[space])
    run->marks->bytes[space] = calloc(soc_space_bytes(run->soc, space), 1);
  if (run->marks && run->marks->bytes[space])
    return run->marks->bytes[space];
  run->findings->failed = true;
  return NULL;
}

struct filling {
  const struct visit *visit;
  uint8_t *marks;
  uint8_t mark;
};

static void fill(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  struct filling *filling = context;
  uint8_t mark = 0;
  if (cell->write.flags & TAG_HOLLOW)
    mark = cell->write.flags & TAG_LEFT ? MARK_LEFT : MARK_UNWRITTEN;
  else if (history_written(filling->visit, cell) == UNWRITTEN)
    mark = filling->mark;
  memset(filling->marks + start, mark, end - start);
}

/* Fills the marks of what is read, or written in part. */
static bool fill_all(const struct visit *visit, const struct target *targets, unsigned count,
                     bool writes) {
  for (unsigned i = 0; i < count; i++) {
    const struct inst_access *access = targets[i].access;
    struct visit look = *visit;
    /* What was reported here is not reported again where it is stored. */
    bool known = (visit->reported >> i & 1) != 0;
    struct filling filling = {&look, marks_of(visit->run, access->space),
                              writes  ? MARK_LEFT
                              : known ? 0
                                      : MARK_UNWRITTEN};
    if (!filling.marks || targets[i].exact)
      return false;
    look.target = &targets[i];
    if (access->write == writes && (!writes || access->partial))
      shadow_look(targets[i].shadow, (uint64_t)access->address, access->bytes, fill, &filling);
  }
  return true;
}

bool check_flow_begin(const struct visit *visit, const struct target *targets, unsigned count) {
  struct check_run *run = visit->run;
  bool wanted = visit->holes;
  for (unsigned i = 0; i < count && visit->passes; i++)
    wanted |= targets[i].access->partial;
  if (!visit->passes || !wanted)
    return false;
  /* The sums that mad goes on from are both; what is read counts. */
  if (!fill_all(visit, targets, count, true) || !fill_all(visit, targets, count, false))
    return false;
  registry_marks((enum isa_op)visit->step->inst->op)(run->soc, visit->step->inst, run->marks);
  return true;
}

/* ---- what comes out ---- */

struct emptying {
  struct shadow *shadow;
  const uint8_t *marks;
  uint8_t flags;
};

static void make_hollow(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  struct emptying *emptying = context;
  (void)start;
  (void)end;
  cell->write.flags |= emptying->flags;
}

static bool empty_run(void *context, int64_t address, uint64_t bytes) {
  struct emptying *emptying = context;
  const uint8_t *marks = emptying->marks;
  uint64_t end = (uint64_t)address + bytes;
  for (uint64_t at = (uint64_t)address; at < end;) {
    uint64_t start = at;
    bool left = marks[at] == MARK_LEFT;
    while (at < end && (marks[at] != 0) == (marks[start] != 0) && (marks[at] == MARK_LEFT) == left)
      at++;
    emptying->flags = TAG_HOLLOW | (left ? TAG_LEFT : 0);
    if (marks[start] != 0)
      shadow_change(emptying->shadow, start, at - start, make_hollow, emptying);
  }
  return true;
}

void check_flow_end(struct visit *visit, const struct target *targets, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    const struct inst_access *access = targets[i].access;
    struct emptying emptying = {.shadow = targets[i].shadow,
                                .marks = visit->run->marks->bytes[access->space]};
    if (access->write)
      (void)inst_each_run(access, empty_run, &emptying);
  }
}

void check_flow_free(struct check_run *run) {
  for (unsigned space = 0; run->marks && space < SPACE_COUNT; space++)
    free(run->marks->bytes[space]);
  free(run->marks);
  run->marks = NULL;
}
