/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State that the silicon keeps from kernel to kernel: the vector mask and its mode, the mode of
 * atomic stores, scales, pads. vinci starts each block with the state after reset, as does the
 * framework of Ascend C, which sets mask, mode and atomic stores at the start of a kernel
 * (InitSocState). A kernel without that meets what the kernel before has left. So a warning, never
 * an error:
 * - in a trace, when a kernel uses state before it sets the state, and the kernel itself or one
 * before leaves something else there;
 * - in a compiled kernel also when nobody else is known, because its code is all there is;
 * - everywhere, when scales are used that nobody has set: 0 is no scale;
 * - in a compiled kernel that ends with atomic stores, which the documents want to be switched off
 *   (Ascend C, SetAtomicAdd): the next kernel adds to what it should replace.
 */
#include <string.h>

#include "core/check/check_run.h"
#include "core/isa/operands.h"

enum { OPERANDS_FIX(OPERAND_NUMBER, FIX, "") };
enum { OPERANDS_ALIGN(OPERAND_NUMBER, ALIGN, "", "") };
enum { OPERANDS_L0C_RELU(OPERAND_NUMBER, L0C, "", "", "") };
enum { OPERANDS_LOAD3D(OPERAND_NUMBER, LOAD3D, "") };

static const struct {
  const char *text, *setter;
} states[STATE_COUNT] = {
#define X(id, text, setter) [STATE_##id] = {text, setter},
    STATE_LIST(X)
#undef X
};

#define BIT(state) (UINT32_C(1) << STATE_##state)
#define BIT_OF(state) (UINT32_C(1) << (state))

/* ---- who sets what ---- */

/* The state that an instruction sets; STATE_COUNT: none. */
static enum state set_by(enum isa_op op) {
  switch (op) {
  case OP_SET_VECTOR_MASK:
    return STATE_MASK;
  case OP_SET_MASK_COUNT:
  case OP_SET_MASK_NORM:
    return STATE_MODE;
  case OP_SET_ATOMIC_NONE:
  case OP_SET_ATOMIC_ADD:
  case OP_SET_ATOMIC_MAX:
  case OP_SET_ATOMIC_MIN:
    return STATE_ATOMIC;
  case OP_SET_QUANT_PRE:
    return STATE_QUANT;
  case OP_SET_FPC:
    return STATE_FPC;
  case OP_SET_DEQSCALE:
    return STATE_DEQ;
  case OP_SET_MOV_PAD_VAL:
    return STATE_PAD;
  case OP_SET_PADDING:
    return STATE_PADDING;
  case OP_SET_L1_3D_SIZE:
    return STATE_BOUNDARY;
  case OP_SET_CTRL:
    return STATE_CTRL;
  default:
    return STATE_COUNT;
  }
}

/* Whether an instruction leaves other than the state after reset. */
static bool changes(const struct inst *inst) {
  struct inst before = {.op = inst->op}, after;
  inst_reset_registers(&before);
  after = before;
  memcpy(after.arg, inst->arg, sizeof after.arg);
  inst_write_registers(&after);
  return memcmp(&before.mask, &after.mask, sizeof before.mask) != 0 ||
         memcmp(&before.registers, &after.registers, sizeof before.registers) != 0;
}

/* ---- who uses what ---- */

static bool same_accesses(const struct inst_access *a, const struct inst_access *b,
                          unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (a[i].address != b[i].address || a[i].bytes != b[i].bytes ||
        memcmp(&a[i].runs, &b[i].runs, sizeof a[i].runs) != 0)
      return false;
  return true;
}

static unsigned touched_with(const struct check_run *run, const struct inst *inst,
                             struct vector_mask mask, struct inst_access *access) {
  struct inst other = *inst;
  other.mask = mask;
  memset(access, 0, INST_ACCESS_MAX * sizeof *access);
  return registry_access((enum isa_op)inst->op)(run->soc, &other, access);
}

/* An instruction uses the mask when what it touches depends on the mask. */
static uint8_t mask_use(const struct check_run *run, const struct inst *inst) {
  static const struct vector_mask one = {.low = 1}, two = {.low = 3};
  static const struct vector_mask count = {.low = 3, .counter = true};
  struct inst_access first[INST_ACCESS_MAX], second[INST_ACCESS_MAX];
  unsigned accesses = touched_with(run, inst, one, first);
  if (accesses == 0)
    return USE_UNKNOWN;
  uint8_t use = USE_NONE;
  (void)touched_with(run, inst, two, second);
  if (!same_accesses(first, second, accesses))
    use |= USE_LANES;
  (void)touched_with(run, inst, count, first);
  if (!same_accesses(first, second, accesses))
    use |= USE_MODE;
  return use;
}

static uint32_t vector_uses(struct check_run *run, const struct inst *inst) {
  uint8_t *use = &run->mask_use[inst->op];
  if (*use == USE_UNKNOWN)
    *use = mask_use(run, inst);
  uint32_t uses = (*use & USE_LANES ? BIT(MASK) : 0) | (*use & USE_MODE ? BIT(MODE) : 0);
  return uses | (uses ? BIT(CTRL) : 0);
}

static bool word_is(const struct inst *inst, unsigned arg, const char *word) {
  char text[16];
  isa_word_text(&isa_row((enum isa_op)inst->op)->arg[arg], inst->arg[arg], text, sizeof text);
  return strcmp(text, word) == 0;
}

static uint32_t fix_uses(const struct inst *inst) {
  static const char *const scalar[] = {"deqf16", "qf322b8", "req8"};
  static const char *const vector[] = {"vdeqf16", "vqf322b8", "vreq8"};
  for (unsigned i = 0; i < sizeof scalar / sizeof *scalar; i++) {
    if (word_is(inst, FIX_QUANT, scalar[i]))
      return BIT(QUANT);
    if (word_is(inst, FIX_QUANT, vector[i]))
      return BIT(FPC);
  }
  return 0;
}

static uint32_t uses_of_op(struct check_run *run, const struct inst *inst) {
  switch (inst->op) {
  case OP_COPY_MATRIX_CC_TO_GM:
    return fix_uses(inst) | BIT(ATOMIC);
  case OP_COPY_MATRIX_CC_TO_CBUF:
  case OP_COPY_MATRIX_CC_TO_UB:
    return fix_uses(inst);
  case OP_COPY_UBUF_TO_GM:
  case OP_COPY_UBUF_TO_GM_ALIGN_B8:
  case OP_COPY_UBUF_TO_GM_ALIGN_B16:
  case OP_COPY_UBUF_TO_GM_ALIGN_B32:
  case OP_COPY_CBUF_TO_GM:
    return BIT(ATOMIC);
  case OP_COPY_MATRIX_CC_TO_UBUF:
    return word_is(inst, L0C_CONVERT, "deqf16") ? BIT(DEQ) : 0;
  case OP_VCONV_DEQ:
  case OP_VCONV_DEQS162B8H:
  case OP_VCONV_DEQS162B8L:
  case OP_VADDDEQRELU:
    return BIT(DEQ) | vector_uses(run, inst);
  case OP_COPY_GM_TO_UBUF_ALIGN_B8:
  case OP_COPY_GM_TO_UBUF_ALIGN_B16:
  case OP_COPY_GM_TO_UBUF_ALIGN_B32:
    return inst->arg[ALIGN_LEFT_PAD] || inst->arg[ALIGN_RIGHT_PAD] ? BIT(PAD) : 0;
  case OP_IMG2COLV2_CBUF_TO_CA:
  case OP_IMG2COLV2_CBUF_TO_CB: {
    const int64_t *arg = inst->arg;
    bool pads = arg[LOAD3D_PAD_LEFT] || arg[LOAD3D_PAD_RIGHT] || arg[LOAD3D_PAD_TOP] ||
                arg[LOAD3D_PAD_BOTTOM];
    return BIT(BOUNDARY) | (pads ? BIT(PADDING) : 0);
  }
  default:
    return isa_row((enum isa_op)inst->op)->pipe == PIPE_V ? vector_uses(run, inst) : 0;
  }
}

/* ---- warnings ---- */

static void warn(struct check_run *run, enum state state, const struct finding_event *used,
                 const struct finding_event *left) {
  struct check_finding finding = {
      .kind = FINDING_STATE, .topic = (uint8_t)state, .kernel = run->kernel, .serial = run->serial};
  if (!check_wants(run, VINCI_CHECK_INITCHECK))
    return;
  finding.event[0] = *left;
  finding.event[1] = *used;
  struct check_finding *added = findings_add(run->findings, &finding);
  if (left->given)
    findings_detail(
        run->findings, added,
        "%s: used before %s, and line %u leaves something else there for the next kernel; "
        "boards keep it",
        states[state].text, states[state].setter, left->line);
  else
    findings_detail(run->findings, added,
                    "%s: used without %s; boards keep what the kernel before has left",
                    states[state].text, states[state].setter);
}

static void warn_of_atomic(struct check_run *run, const struct finding_event *left) {
  struct check_finding finding = {.kind = FINDING_STATE_LEFT,
                                  .topic = STATE_ATOMIC,
                                  .kernel = run->kernel,
                                  .serial = run->serial,
                                  .event = {[1] = *left}};
  if (check_wants(run, VINCI_CHECK_INITCHECK))
    findings_detail(run->findings, findings_add(run->findings, &finding),
                    "the mode of atomic stores is on when the kernel ends, and a kernel that does "
                    "not set its own stores in that mode: set_atomic_none");
}

/* State that is nothing without a setting; or whose whole program is known. */
static bool must_be_set(const struct check_run *run, enum state state) {
  if (state == STATE_QUANT || state == STATE_FPC || state == STATE_DEQ)
    return true;
  return run->trace->source && (state == STATE_MASK || state == STATE_MODE);
}

static void note_use(struct check_run *run, const struct machine_step *step, enum state state) {
  struct finding_event *used = &run->state.used[state];
  if (!used->given || step->inst->row < used->row)
    *used = check_event(run, step, false);
}

void check_state_begin_block(struct check_run *run, uint32_t core) {
  run->cores[core].state_set = run->cores[core].state_changed = 0;
  memset(run->cores[core].flags_out, 0, sizeof run->cores[core].flags_out);
}

void check_state_step(struct check_run *run, const struct machine_step *step) {
  struct check_core *core = &run->cores[step->core];
  const struct inst *inst = step->inst;
  enum state set = step->pipe == PIPE_S ? set_by((enum isa_op)inst->op) : STATE_COUNT;
  if (set != STATE_COUNT) {
    core->state_set |= BIT_OF(set);
    core->state_changed &= ~BIT_OF(set);
    core->state_changed |= changes(inst) ? BIT_OF(set) : 0;
    core->setter[set] = check_event(run, step, false);
    return;
  }
  uint32_t uses = uses_of_op(run, inst) & ~core->state_set;
  for (unsigned state = 0; uses >> state != 0; state++)
    if (uses >> state & 1)
      note_use(run, step, (enum state)state);
}

/* Which block comes first depends on the walk, so the first row stands for all. */
static void take_first(struct finding_event *first, const struct finding_event *event) {
  if (!first->given || event->row < first->row)
    *first = *event;
}

void check_state_end_block(struct check_run *run, uint32_t core) {
  struct check_state *all = &run->state;
  all->set |= run->cores[core].state_set;
  for (unsigned state = 0; state < STATE_COUNT; state++)
    if (run->cores[core].state_changed >> state & 1)
      take_first(&all->left[state], &run->cores[core].setter[state]);
}

void check_state_end_kernel(struct check_run *run) {
  struct check_state *all = &run->state;
  for (unsigned state = 0; state < STATE_COUNT; state++) {
    const struct finding_event *left = all->old[state].given ? &all->old[state] : &all->left[state];
    if (all->used[state].given && (left->given || must_be_set(run, (enum state)state)))
      warn(run, (enum state)state, &all->used[state], left);
    else if (state == STATE_ATOMIC && all->left[state].given && run->trace->source &&
             !run->trace->source->stopped)
      warn_of_atomic(run, &all->left[state]);
    if (all->set >> state & 1)
      all->old[state] = all->left[state];
  }
  memset(all->used, 0, sizeof all->used);
  memset(all->left, 0, sizeof all->left);
  all->set = 0;
}
