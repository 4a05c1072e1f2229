/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes without a value: what an unaligned copy into UB fills up behind its data and pads, to the
 * end of the last block. Instructions that take lane after lane pass them on (their results for
 * these lanes mean nothing either, and are mostly not stored); a sum over lanes, a sort, scalar
 * code or a copy to device memory makes something of them.
 */
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/check/check_pads.h"
#include "core/chip/layout.h"
#include "core/isa/operands.h"

enum { OPERANDS_ALIGN(OPERAND_NUMBER, ALIGN, "", "") };

/* Bytes of the sources, counted through their runs, that are such lanes. */
struct pads_interval {
  uint64_t start, end;
};

static bool is_like(enum isa_op op, const enum isa_op *ops, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (registry_access(op) == registry_access(ops[i]))
      return true;
  return false;
}

/* Whether each lane of the result comes from that lane of the sources alone. */
static bool passes_on(enum isa_op op) {
  static const enum isa_op lanes[] = {OP_VADD, OP_VABS, OP_VADDS, OP_VCOPY, OP_VCONV_F162F32};
  return is_like(op, lanes, sizeof lanes / sizeof *lanes);
}

static bool makes_something(const struct machine_step *step) {
  static const enum isa_op sums[] = {OP_VCADD, OP_VCMAX, OP_VCGADD, OP_VCPADD, OP_VBITSORT};
  return step->pipe == PIPE_S || step->pipe == PIPE_MTE3 ||
         (step->pipe == PIPE_V &&
          is_like((enum isa_op)step->inst->op, sums, sizeof sums / sizeof *sums));
}

/* ---- reading ---- */

static void keep(struct visit *visit, uint64_t start, uint64_t end) {
  struct check_run *run = visit->run;
  if (run->pads_count == run->pads_capacity) {
    size_t capacity = 2 * run->pads_capacity + 64;
    struct pads_interval *more = realloc(run->pads, capacity * sizeof *more);
    run->findings->failed |= !more;
    if (!more)
      return;
    run->pads = more;
    run->pads_capacity = capacity;
  }
  run->pads[run->pads_count++] = (struct pads_interval){start, end};
}

static void report(const struct visit *visit, struct order_tag copy, uint64_t start, uint64_t end) {
  struct check_run *run = visit->run;
  if (!check_wants(run, VINCI_CHECK_INITCHECK))
    return;
  struct check_finding finding = check_finding_of(run, FINDING_PADS, visit->step);
  finding.space = (uint8_t)visit->target->access->space;
  finding.event[0] = check_event_of_tag(run, copy, true);
  finding.has_range = true;
  finding.address = (int64_t)(visit->target->base + start);
  finding.bytes = end - start;
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "what a copy with padding leaves between its data and the end of a block has no "
                  "defined value: a mask, or pads up to there");
}

void check_pads_read(struct visit *visit, const struct shadow_cell *cell, uint64_t start,
                     uint64_t end) {
  if (makes_something(visit->step))
    report(visit, cell->write, start, end);
  else if (visit->step->pipe == PIPE_V && passes_on((enum isa_op)visit->step->inst->op))
    keep(visit, visit->before + start - visit->run_start, visit->before + end - visit->run_start);
}

/* ---- writing ---- */

static void make_pads(void *context, struct shadow_cell *cell, uint64_t start, uint64_t end) {
  (void)context;
  (void)start;
  (void)end;
  cell->write.flags |= TAG_PADS;
}

struct passing {
  const struct check_run *run;
  struct shadow *shadow;
  uint64_t before, from, to; /* bytes of an element of the result for those of a source */
};

static bool pass_run(void *context, int64_t address, uint64_t bytes) {
  struct passing *passing = context;
  for (size_t i = 0; i < passing->run->pads_count; i++) {
    const struct pads_interval *pads = &passing->run->pads[i];
    uint64_t first = pads->start * passing->to / passing->from;
    uint64_t behind = pads->end * passing->to / passing->from;
    uint64_t start = max_u64(first, passing->before);
    uint64_t end = min_u64(behind, passing->before + bytes);
    if (start < end)
      shadow_change(passing->shadow, (uint64_t)address + start - passing->before, end - start,
                    make_pads, NULL);
  }
  passing->before += bytes;
  return true;
}

static void fill_up(struct shadow *shadow, const struct inst *inst) {
  uint64_t element = dtype_bits(isa_row((enum isa_op)inst->op)->fixed.src) / BITS_PER_BYTE;
  uint64_t data = (uint64_t)inst->arg[ALIGN_LENGTH] +
                  (uint64_t)(inst->arg[ALIGN_LEFT_PAD] + inst->arg[ALIGN_RIGHT_PAD]) * element;
  uint64_t whole = round_up(data, BLOCK_BYTES);
  uint64_t stride = whole + (uint64_t)inst->arg[ALIGN_DST_GAP] * BLOCK_BYTES;
  for (uint64_t i = 0; whole > data && i < (uint64_t)inst->arg[ALIGN_COUNT]; i++)
    shadow_change(shadow, (uint64_t)inst->arg[ALIGN_DST] + i * stride + data, whole - data,
                  make_pads, NULL);
}

/* Of an operand with a type; 0: copies of bytes have none. */
static unsigned bits_of(enum dtype type) { return type < DTYPE_COUNT ? dtype_bits(type) : 0; }

void check_pads_written(struct visit *visit, const struct target *targets, unsigned count) {
  struct check_run *run = visit->run;
  const struct inst *inst = visit->step->inst;
  bool copy = visit->step->pipe == PIPE_MTE2 && registry_access((enum isa_op)inst->op) ==
                                                    registry_access(OP_COPY_GM_TO_UBUF_ALIGN_B8);
  for (unsigned i = 0; i < count; i++) {
    const struct inst_access *access = targets[i].access;
    if (!access->write || access->space != SPACE_UB || targets[i].exact)
      continue;
    struct isa_types types = inst_types(inst);
    struct passing passing = {run, targets[i].shadow, 0, bits_of(types.src), bits_of(types.dst)};
    if (copy)
      fill_up(targets[i].shadow, inst);
    else if (run->pads_count > 0 && passing.from > 0 && access->runs.bytes == 0)
      (void)pass_run(&passing, access->address, access->bytes);
    else if (run->pads_count > 0 && passing.from > 0)
      (void)inst_each_run(access, pass_run, &passing);
  }
  run->pads_count = 0;
}

void check_pads_free(struct check_run *run) {
  free(run->pads);
  run->pads = NULL;
  run->pads_count = run->pads_capacity = 0;
}
