/* SPDX-License-Identifier: Apache-2.0 */
/* Where a program depends on behaviour that boards are said to differ in: disputed.def. */
#include <string.h>

#include "core/check/check_run.h"
#include "core/chip/layout.h"
#include "core/isa/operands.h"

enum { OPERANDS_MAD(OPERAND_NUMBER, MAD) };
enum { BITS_OF_BLOCK = BLOCK_BYTES * 8, IDS_DOCUMENTED_950 = 8 };

static const char *const said[DISPUTED_COUNT] = {
#define DISPUTED(id, name, level, check, vendor, boards, vinci, source)                            \
  [DISPUTED_##id] = "\"" name "\" of the table in FORMAT.md. Documents: " vendor                   \
                    ".\n======    Boards: " boards ".\n======    vinci: " vinci ".",
#include "core/check/disputed.def"
#undef DISPUTED
};

/* The first row stands for all: which instruction comes first depends on the walk. */
static void note(struct check_run *run, const struct machine_step *step, enum disputed disputed) {
  struct check_dispute *dispute = &run->dispute[disputed];
  if (dispute->count++ == 0 || step->inst->row < dispute->first.row)
    dispute->first = check_event(run, step, false);
}

void check_disputed_end_kernel(struct check_run *run) {
  for (unsigned i = 0; i < DISPUTED_COUNT; i++) {
    const struct check_dispute *dispute = &run->dispute[i];
    struct check_finding finding = {.kind = FINDING_DISPUTED,
                                    .topic = (uint8_t)i,
                                    .kernel = run->kernel,
                                    .serial = run->serial};
    finding.event[1] = dispute->first;
    if (dispute->count == 0 || !check_wants(run, finding_check(&finding)))
      continue;
    struct check_finding *added = findings_add(run->findings, &finding);
    findings_detail(run->findings, added, "%s", said[i]);
    if (added)
      added->count = dispute->count;
  }
  memset(run->dispute, 0, sizeof run->dispute);
}

static bool has_k_tail(const struct inst *inst) {
  return inst->arg[MAD_M] > 0 && inst->arg[MAD_N] > 0 &&
         inst->arg[MAD_K] * dtype_bits(inst_dtype(inst)) % BITS_OF_BLOCK != 0;
}

static bool is_float(enum dtype type) {
  return type == DTYPE_FP16 || type == DTYPE_FP32 || type == DTYPE_BF16;
}

/* A flag of the same pipe and id, to another pipe, is on its way. */
static bool meets_another(const uint8_t *waiting, int64_t dst) {
  return (*waiting & ~(1u << dst)) != 0;
}

static void flag_step(struct check_run *run, const struct machine_step *step) {
  const struct inst *inst = step->inst;
  int64_t src = inst->arg[SET_FLAG_SRC], dst = inst->arg[SET_FLAG_DST], id = inst->arg[SET_FLAG_ID];
  uint8_t *waiting = &run->cores[step->core].flags_out[src][id];
  if (inst->op == OP_WAIT_FLAG) {
    *waiting &= (uint8_t) ~(1u << dst);
    return;
  }
  if (meets_another(waiting, dst))
    note(run, step, DISPUTED_FLAG_PAIR);
  *waiting |= (uint8_t)(1u << dst);
  if (inst->arch != ARCH_C310)
    return;
  if (id >= IDS_DOCUMENTED_950)
    note(run, step, DISPUTED_EVENT_ID_950);
  if (src == PIPE_V && dst == PIPE_V)
    note(run, step, DISPUTED_FLAG_V_TO_V_950);
}

void check_disputed_step(struct check_run *run, const struct machine_step *step) {
  const struct inst *inst = step->inst;
  switch (inst->op) {
  case OP_SET_FLAG:
  case OP_WAIT_FLAG:
    flag_step(run, step);
    break;
  case OP_MAD:
  case OP_MAD_SP:
    if (has_k_tail(inst))
      note(run, step, DISPUTED_K_TAIL);
    break;
  case OP_PIPE_BARRIER:
    if (inst->arch == ARCH_C310 && inst->arg[BARRIER_PIPE] == PIPE_V)
      note(run, step, DISPUTED_BARRIER_V_950);
    break;
  case OP_LOAD_CBUF_TO_CA_TRANSPOSE:
  case OP_LOAD_CBUF_TO_CB_TRANSPOSE:
    if (inst->arch == ARCH_C220 && dtype_bits(inst_dtype(inst)) == 32)
      note(run, step, DISPUTED_TRANSPOSE_32);
    break;
  case OP_VCMP_NE:
  case OP_VCMPV_NE:
  case OP_VCMPVS_NE:
    if (is_float(inst_dtype(inst)))
      note(run, step, DISPUTED_NAN_NE);
    break;
  default:
    break;
  }
}
