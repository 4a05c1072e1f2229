/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read rows: the scalar unit reads a word of UB or GM, or the register with the number of lanes
 * that the last vreducev2 has taken. Words are accesses like all others; the register has no
 * address, so its last write is kept here. A read ends before the scalar unit issues anything else,
 * because the value is in a register then: what is issued later needs no flag. So nothing of the
 * core can change what is read too early: what was issued before the read runs before the read, or
 * waits for something that was issued behind the read.
 */
#include "core/check/check_run.h"
#include "core/isa/aligned.h"

void check_word_read(struct check_run *run, const struct machine_step *step) {
  const int64_t *arg = step->inst->arg;
  bool in_gm = run->trace->rows[step->inst->row].partner > 0;
  struct inst_access access = {.space = in_gm ? SPACE_GM : SPACE_UB,
                               .address = arg[READ_FROM],
                               .bytes = (uint64_t)arg[READ_WIDTH],
                               .arg = READ_FROM,
                               .alignment = (uint16_t)arg[READ_WIDTH]};
  if (check_memory(run, step, &access) && run->uses_shadow)
    check_accesses(run, step, &access, 1, true);
}

/* One after the other, where some of them may leave their memory. */
static void check_apart(struct check_run *run, const struct machine_step *step,
                        const struct inst_access *line, uint64_t mask) {
  for (uint64_t rest = mask; rest != 0;) {
    unsigned first, count = check_next_bytes(&rest, &first);
    struct inst_access access = *line;
    access.address += first;
    access.bytes = count;
    if (check_memory(run, step, &access) && run->uses_shadow)
      check_scalar_bytes(run, step, &access, 0);
  }
}

void check_scalar_access(struct check_run *run, const struct machine_step *step) {
  const int64_t *arg = step->inst->arg;
  uint64_t mask = (uint64_t)arg[ACCESS_MASK];
  /* The compiler joins and cuts accesses, so only what the source promises counts. */
  uint64_t alignment = (uint64_t)arg[ACCESS_SPACE] >> ACCESS_ALIGNMENT_SHIFT;
  struct inst_access access = {.space = (enum space)(arg[ACCESS_SPACE] & ACCESS_SPACES),
                               .address = arg[ACCESS_ADDRESS],
                               .bytes = (uint64_t)arg[ACCESS_BYTES],
                               .arg = ACCESS_ADDRESS,
                               .alignment = (uint16_t)(1u << alignment),
                               .write = isa_is_store((enum isa_op)step->inst->op)};
  if (mask != 0 && !check_holds(run, step, &access))
    check_apart(run, step, &access, mask);
  else if (check_memory(run, step, &access) && run->uses_shadow)
    check_scalar_bytes(run, step, &access, mask);
}

/* The count may not be there yet. */
static void report_early(struct check_run *run, const struct machine_step *step,
                         struct order_tag write) {
  struct check_finding finding = check_finding_of(run, FINDING_RAW, step);
  finding.event[0] = check_event_of_tag(run, write, true);
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "the register with the number of lanes that vreducev2 has taken");
}

void check_taken_read(struct check_run *run, const struct machine_step *step) {
  struct order_tag write = run->cores[step->core].taken;
  if (write.epoch == 0 && check_wants(run, VINCI_CHECK_INITCHECK)) {
    struct check_finding finding = check_finding_of(run, FINDING_UNINITIALIZED, step);
    findings_detail(run->findings, findings_add(run->findings, &finding),
                    "no vreducev2 has counted the lanes that it has taken");
  }
  if (write.epoch != 0 && check_wants(run, VINCI_CHECK_RACECHECK) &&
      !order_before(run->order, step, write))
    report_early(run, step, write);
}

void check_taken_write(struct check_run *run, const struct machine_step *step) {
  run->cores[step->core].taken = order_tag(run->order, step);
}

void check_begin_block_reads(struct check_run *run, uint32_t core) {
  run->cores[core].taken = (struct order_tag){0};
}
