/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synccheck: flags that do not pair. Setting a flag that is set is undefined and can hang a
 * barrier (Ascend C SetFlag), so a set needs to come after the wait for the one before, by
 * happens-before and not just this time. A flag left set lets the next kernel's first wait
 * through too early. Signals between cores are counters of limited height, and hardware
 * SyncAll (mode 0) waits for all blocks, so no more of them than cores.
 */
#include "core/check/check_run.h"

static struct check_finding sync_finding(const struct check_run *run, enum finding_kind kind,
                                         const struct machine_step *step, uint32_t other_row) {
  struct check_finding finding = check_finding_of(run, kind, step);
  if (other_row != UINT32_MAX) {
    finding.event[0] = finding.event[1];
    finding.event[0].row = other_row;
    finding.event[0].line = run->trace->rows[other_row].line;
    finding.event[0].op = run->trace->rows[other_row].op;
  }
  return finding;
}

/* Mode 0 waits for the cores of all blocks at once. */
static void check_sync_all(struct check_run *run, const struct machine_step *step) {
  const struct program_kernel *kernel = step->kernel;
  uint64_t cores = run->placement.kind_count[step->kind];
  uint64_t used = kernel->blocks;
  if (kernel->mixed && step->kind == CORE_AIV)
    used *= kernel->vectors_per_cube;
  if (used <= cores)
    return;
  struct check_finding finding = check_finding_of(run, FINDING_SYNC_ALL, step);
  findings_detail(
      run->findings, findings_add(run->findings, &finding),
      "mode 0 waits for all blocks at once: %u of them need %llu %s cores, the chip has "
      "%llu",
      kernel->blocks, (unsigned long long)used, core_kind_name(step->kind),
      (unsigned long long)cores);
}

void check_sync_step(struct check_run *run, const struct machine_step *step,
                     const struct order_flag_use *use) {
  if (step->inst->op == OP_FFTS_CROSS_CORE_SYNC && step->inst->arg[CROSS_SET_MODE] == CROSS_ALL)
    check_sync_all(run, step);
  if (step->inst->op != OP_SET_FLAG || !use->may_be_set)
    return;
  const int64_t *arg = step->inst->arg;
  struct check_finding finding = sync_finding(run, FINDING_FLAG_TWICE, step, use->wait_row);
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "from PIPE_%s to PIPE_%s, id %lld: nothing makes this set come after the wait",
                  pipe_name((enum pipe)arg[SET_FLAG_SRC]), pipe_name((enum pipe)arg[SET_FLAG_DST]),
                  (long long)arg[SET_FLAG_ID]);
}

void check_sync_misuse(struct check_run *run, const struct machine_step *step,
                       const struct misuse *misuse) {
  static const enum finding_kind kinds[] = {
      [MISUSE_FLAG_SET_TWICE] = FINDING_FLAG_TWICE, [MISUSE_CROSS_UNTAKEN] = FINDING_CROSS_LIMIT,
      [MISUSE_CROSS_AHEAD] = FINDING_CROSS_LIMIT,   [MISUSE_CROSS_NOT_MIXED] = FINDING_CROSS_MODE,
      [MISUSE_CROSS_AIC_PAIR] = FINDING_CROSS_MODE, [MISUSE_CROSS_NO_PARTNER] = FINDING_CROSS_MODE,
  };
  char text[256];
  misuse_text(misuse, text, sizeof text);
  struct check_finding finding = check_finding_of(run, kinds[misuse->kind], step);
  findings_detail(run->findings, findings_add(run->findings, &finding), "%s", text);
}

/* An event of a row that the core executed earlier. */
static struct check_finding late_finding(const struct check_run *run, enum finding_kind kind,
                                         uint32_t core, uint32_t block, uint32_t row) {
  struct order_tag tag = {
      .row = row, .core = (uint16_t)core, .block = (uint16_t)block, .pipe = PIPE_ALL};
  struct check_finding finding = {
      .kind = (uint8_t)kind, .kernel = run->kernel, .serial = run->serial};
  finding.event[1] = check_event_of_tag(run, tag, false);
  return finding;
}

void check_sync_end_block(struct check_run *run, const struct machine_step *step) {
  uint32_t index = 0, row;
  while (order_next_set_flag(run->order, step->core, &index, &row)) {
    struct check_finding finding =
        late_finding(run, FINDING_FLAG_LEFT, step->core, step->block, row);
    run->serial++;
    findings_detail(run->findings, findings_add(run->findings, &finding),
                    "the block ends and nobody has waited for the flag");
  }
}

void check_sync_signals(struct check_run *run, uint32_t core) {
  uint32_t row;
  bool arrived;
  while (order_next_signal(run->order, core, &row, &arrived)) {
    struct check_finding finding =
        late_finding(run, FINDING_CROSS_LEFT, core, order_block(run->order, core), row);
    run->serial++;
    findings_detail(run->findings, findings_add(run->findings, &finding),
                    arrived ? "the signal has arrived at cores that do not take it"
                            : "the other cores that must signal have not");
  }
}

void check_sync_deadlock(struct check_run *run, const struct vinci_diag *diag) {
  struct check_finding finding = {
      .kind = FINDING_DEADLOCK, .kernel = run->kernel, .serial = ++run->serial};
  for (uint64_t row = 0; row < run->trace->row_count && !finding.event[1].given; row++) {
    if (run->trace->rows[row].line != diag->line)
      continue;
    struct order_tag tag = {.row = (uint32_t)row, .pipe = PIPE_ALL};
    finding.event[1] = check_event_of_tag(run, tag, false);
  }
  findings_detail(run->findings, findings_add(run->findings, &finding), "%s", diag->text);
}
