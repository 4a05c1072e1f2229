/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels in execution. Each core has a copy of the device code (code.h), a stack, and a context
 * that runs until the next intrinsic. Scalar code reads UB relative to segment register GS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/chip/soc.h"
#include "core/isa/taken.h"
#include "core/machine/reach.h"
#include "core/machine/values.h"
#include "core/machine/values_unknown.h"
#include "kernels/source/dcache.h"
#include "kernels/source/fiber.h"
#include "kernels/source/gate.h"
#include "kernels/source/log.h"

/* Scalar code that runs over the end of device memory is in device memory too. */
enum { GM_BEHIND = 1 << 12 };

/* CTRL after reset: half-width results do not saturate. That of the 950 is as its open headers
 * reset it, with bit 60, by which CTRL tells of all conversions; but its bit 48, which is 0 there,
 * is that of dav-c220: half-width results that saturate, and NaN that becomes 0, are not modelled.
 */
#define CTRL_RESET (UINT64_C(1) << 48)
#define CTRL_RESET_C310 (UINT64_C(1) << 60 | CTRL_RESET | UINT64_C(1) << 3)

/* ---- leaving the code -------------------------------------------------------------------- */

static struct source_fiber *fiber_of(const struct vinci_cce_host *host) {
  return (struct source_fiber *)(uintptr_t)host;
}

/* The code goes on behind this when it is asked for its next instruction. */
static void leave(struct source_fiber *fiber) {
  source_gate_open();
  if (!fiber->failed && source_faults_refused(fiber))
    fiber->failed = true;
  source_dcache_leave(fiber->core.dcache);
  source_switch(&fiber->code, &fiber->caller);
  source_dcache_enter(fiber->core.dcache);
  source_gate_close();
}

static _Noreturn void fail(struct source_fiber *fiber) {
  fiber->failed = true;
  leave(fiber);
  abort(); /* a failed fiber does not run again */
}

_Noreturn void source_fiber_stop(struct source_core *core) {
  struct source_fiber *fiber =
      (struct source_fiber *)(void *)((char *)core - offsetof(struct source_fiber, core));
  if (source_told_failed(core))
    (void)diag_error(core->diag, VINCI_E_NOMEM, "out of memory for the accesses of a kernel");
  else
    core->source->program.stopped = true;
  fail(fiber);
}

static void issue(const struct vinci_cce_host *host, struct vinci_cce_inst *inst,
                  const int64_t *values) {
  struct source_fiber *fiber = fiber_of(host);
  uint64_t address = (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
  source_gate_open();
  if (!source_told_end(&fiber->core))
    source_fiber_stop(&fiber->core);
  if (source_issue_scalar(&fiber->core, inst, address)) {
    leave(fiber);
    source_gate_open();
  }
  if (!source_issue(&fiber->core, inst, values, address))
    fail(fiber);
  leave(fiber);
}

/* Ends the run with what the code at the address did wrong. The gate is open: sanitizers ask the
 * system before a call that does not return. */
static _Noreturn void trap_at(struct source_fiber *fiber, uint64_t address, const char *text) {
  (void)diag_error_at(
      fiber->core.diag, VINCI_E_INPUT,
      program_position(fiber->core.source->trace, source_fiber_line(fiber, address)),
      "block %u: %s", fiber->core.place.blk, text);
  fail(fiber);
}

/* ---- tokens of buffers -------------------------------------------------------------------- */

/* Gives a flag of two pipes to who runs the code. */
static void issue_flag(struct source_fiber *fiber, uint64_t address, enum isa_op op, enum pipe from,
                       enum pipe to, uint8_t flag) {
  struct source_core *core = &fiber->core;
  struct inst *inst = core->inst;
  inst->op = (uint16_t)op;
  inst->row = source_issue_row(core, address, op);
  if (inst->row == SOURCE_ROWS_MAX)
    fail(fiber);
  inst->line = core->source->trace->rows[inst->row].line;
  inst->arg[SET_FLAG_SRC] = (int64_t)from;
  inst->arg[SET_FLAG_DST] = (int64_t)to;
  inst->arg[SET_FLAG_ID] = flag;
  core->is_late = op == OP_SET_FLAG;
  leave(fiber);
  source_gate_open();
  core->is_late = false;
}

static void wait_for_token(struct source_fiber *fiber, uint64_t address, enum pipe pipe,
                           uint32_t id) {
  struct source_token_wait wait = {.problem = SOURCE_TOKEN_FINE};
  while (source_tokens_take(&fiber->core, pipe, id, &wait)) {
    if (wait.problem == SOURCE_TOKEN_NO_FLAG)
      trap_at(fiber, address, "get_buf: the code uses all flags between the two pipes itself");
    if (wait.problem == SOURCE_TOKEN_NO_MEMORY)
      trap_at(fiber, address, "get_buf: out of memory");
    issue_flag(fiber, address, OP_SET_FLAG, wait.from, pipe, wait.flag);
    issue_flag(fiber, address, OP_WAIT_FLAG, wait.from, pipe, wait.flag);
  }
}

static void token(const struct vinci_cce_host *host, uint32_t number, uint32_t id, uint32_t takes) {
  struct source_fiber *fiber = fiber_of(host);
  struct source_core *core = &fiber->core;
  uint64_t address = (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
  enum pipe pipe = source_issue_pipe(number);
  source_gate_open();
  if (pipe >= PIPE_COUNT || id >= SOURCE_TOKENS)
    trap_at(fiber, address, "a token of a buffer has a pipe, and a number of 0 to 31");
  if (!source_told_end(core))
    source_fiber_stop(core);
  uint32_t row = takes ? 0 : source_issue_row(core, address, OP_SET_FLAG);
  if (takes)
    wait_for_token(fiber, address, pipe, id);
  else if (row == SOURCE_ROWS_MAX || !source_tokens_release(core, pipe, id, row))
    trap_at(fiber, address, "rls_buf: out of memory");
  else if (source_log_repeats(core->source, &core->place))
    trap_at(fiber, address, SOURCE_TEXT_ROUND);
  source_gate_close();
}

/* ---- functions of threads --------------------------------------------------------------- */

/* What the host executes between counts for the threads, and what it accesses there is theirs. */
static uint64_t threads(const struct vinci_cce_host *host, uint32_t begin) {
  struct source_fiber *fiber = fiber_of(host);
  struct source_core *core = &fiber->core;
  uint64_t address = (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
  source_gate_open();
  if (begin && core->in_threads)
    trap_at(fiber, address,
            "a function of threads starts another, which has no model: the kernel can start both, "
            "one after the other, or the threads call the function themselves");
  if (!source_told_end(core))
    source_fiber_stop(core);
  uint64_t now = core->counter ? *core->counter : 0;
  uint64_t instructions = begin ? 0 : now - core->threads_from;
  core->in_threads = begin != 0;
  source_told_forget(core);
  core->threads_from = now;
  core->counted += instructions;
  source_gate_close();
  return instructions;
}

bool source_fiber_is_late(const struct source *source, uint32_t core) {
  return source->fibers[core]->core.is_late;
}

uint32_t source_fiber_line(const struct source_fiber *fiber, uint64_t address) {
  const struct source *source = fiber->core.source;
  return source_line(&source->image[fiber->core.place.kind], source->trace->path,
                     address - fiber->core.base);
}

static void check_registers(struct source_fiber *fiber, const void *caller) {
  const struct source_core *core = &fiber->core;
  const struct vinci_values *values = core->source->program.values;
  if (!values->unknown || !values->unknown->registers[core->place.core])
    return;
  source_gate_open();
  struct diag_position at = program_position(
      core->source->trace, source_fiber_line(fiber, (uint64_t)(uintptr_t)caller - 1));
  (void)diag_error_at(core->diag, VINCI_E_INPUT, at, "block %u: " TEXT_UNKNOWN, core->place.blk);
  diag_hint(core->diag, HINT_UNKNOWN);
  fail(fiber);
}

static int64_t number(const struct vinci_cce_host *host, uint32_t which) {
  struct source_fiber *fiber = fiber_of(host);
  if (which >= VINCI_CCE_TOTAL)
    check_registers(fiber, __builtin_return_address(0));
  const struct source_core *core = &fiber->core;
  const struct program_kernel *kernel = &core->source->trace->kernels[0];
  const struct value_registers *registers =
      &core->source->program.values->registers[core->place.core];
  switch ((enum vinci_cce_number)which) {
  case VINCI_CCE_BLOCK_IDX:
    return core->place.blk;
  case VINCI_CCE_BLOCK_NUM:
    return kernel->blocks;
  case VINCI_CCE_SUB_IDX:
    return core->place.sub;
  case VINCI_CCE_SUB_NUM:
    return kernel->mixed && core->place.kind == CORE_AIV ? kernel->vectors_per_cube : 1;
  case VINCI_CCE_CORE_ID:
    return core->place.core;
  case VINCI_CCE_CYCLE:
    return (int64_t)core->instructions;
  case VINCI_CCE_CTRL:
    return (int64_t)core->ctrl;
  case VINCI_CCE_TOTAL:
    return (int64_t)registers->sum;
  case VINCI_CCE_EXTREME:
    return (int64_t)registers->extreme;
  case VINCI_CCE_TAKEN:
    return (int64_t)registers->taken;
  case VINCI_CCE_MERGED:
    return (int64_t)registers->merged;
  case VINCI_CCE_MASK0:
  case VINCI_CCE_MASK1:
  case VINCI_CCE_MASK2:
  case VINCI_CCE_MASK3:
    return (int64_t)registers->mask[which - VINCI_CCE_MASK0];
  case VINCI_CCE_WORKSPACE:
    return core->source->workspace ? (int64_t)(uintptr_t)core->gm + (int64_t)core->source->workspace
                                   : 0;
  }
  return 0;
}

static void reach(const struct vinci_cce_host *host, struct vinci_cce_reach *asked) {
  struct source_fiber *fiber = fiber_of(host);
  check_registers(fiber, __builtin_return_address(0));
  const struct source_core *core = &fiber->core;
  const struct value_core *values = &core->source->program.values->cores[core->place.core];
  struct reach_indices indices = {.base = (uint64_t)asked->base,
                                  .index = values->bytes[SPACE_VR] + asked->index,
                                  .count = asked->count,
                                  .index_bytes = asked->index_bytes,
                                  .unit_bytes = asked->unit_bytes,
                                  .bytes = asked->bytes};
  memcpy(indices.mask, asked->mask, sizeof indices.mask);
  struct reach found = reach_of(core->source->soc, &indices);
  asked->first = (int64_t)found.first;
  asked->last = (int64_t)found.last;
  asked->turns = found.turns;
}

static void trap(const struct vinci_cce_host *host, const char *text) {
  uint64_t address = (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
  source_gate_open();
  trap_at(fiber_of(host), address, text);
}

static void print(const struct vinci_cce_host *host, const char *text) {
  const struct source_fiber *fiber = fiber_of(host);
  source_gate_open();
  if (!fiber->core.source->recorded) /* code that runs once more says nothing new */
    fprintf(stderr, "block %u: %s\n", fiber->core.place.blk, text);
  source_gate_close();
}

/* Of a launch on standard output, as the program itself prints; standard output of a run may be a
 * table or JSON. */
static FILE *output_of(const struct source *source) { return source->enter ? stdout : stderr; }

static void write_text(const struct vinci_cce_host *host, const char *text) {
  const struct source *source = fiber_of(host)->core.source;
  source_gate_open();
  if (!source->recorded)
    fputs(text, output_of(source));
  source_gate_close();
}

static void fail_at(const struct vinci_cce_host *host, const char *file, uint32_t line,
                    const char *text) {
  struct source_fiber *fiber = fiber_of(host);
  int length = (int)strcspn(text, "\n"); /* messages are one line */
  source_gate_open();
  (void)diag_error_at(fiber->core.diag, VINCI_E_INPUT,
                      (struct diag_position){.path = file, .line = line}, "block %u: %.*s",
                      fiber->core.place.blk, length, text);
  fail(fiber);
}

static void leave_process(const struct vinci_cce_host *host, const char *act, uint64_t from) {
  struct source_fiber *fiber = fiber_of(host);
  char text[2 * SOURCE_NAME_BYTES];
  source_gate_open();
  snprintf(text, sizeof text, TEXT_LEFT ": it %s", fiber->core.source->trace->kernels[0].name, act);
  trap_at(fiber, from - 1, text);
}

static void dump(const struct vinci_cce_host *host, const struct vinci_cce_dump *wanted) {
  struct source_fiber *fiber = fiber_of(host);
  const struct source *source = fiber->core.source;
  source_gate_open();
  source_dcache_leave(fiber->core.dcache);
  const char *problem =
      source->recorded ? NULL : source_dump(&fiber->core, wanted, output_of(source));
  source_dcache_enter(fiber->core.dcache);
  if (problem)
    trap_at(fiber, (uint64_t)(uintptr_t)__builtin_return_address(0) - 1, problem);
  source_gate_close();
}

static void pause_code(const struct vinci_cce_host *host) {
  struct source_fiber *fiber = fiber_of(host);
  fiber->paused = true;
  leave(fiber);
  /* How often code looks at memory is no matter of the chip. */
  if (fiber->core.counter)
    fiber->core.counted = *fiber->core.counter;
}

static void look(const struct vinci_cce_host *host, uint64_t address, uint32_t whole_cache) {
  struct source_fiber *fiber = fiber_of(host);
  uint64_t code = (uint64_t)(uintptr_t)__builtin_return_address(0);
  source_gate_open();
  source_told_clean(&fiber->core, address, whole_cache != 0, code - 1);
  if (fiber->core.dcache)
    source_dcache_clean(fiber->core.dcache, address - (uint64_t)(uintptr_t)fiber->core.gm,
                        whole_cache != 0);
  if (source_look(&fiber->core, code, address, whole_cache != 0))
    pause_code(host);
  source_gate_close();
}

/* ---- entering the code -------------------------------------------------------------------- */

/* Makes an address the base of UB for scalar code. A kernel cannot change the base: on hosts where
 * no instruction does, it takes a system call, which kernels are refused. */
static void set_ub(const void *bytes) {
#if defined(__x86_64__)
  enum { FSGSBASE = 2 /* bit of AT_HWCAP2 */, ARCH_SET_GS_CODE = 0x1001 };
  static _Thread_local enum { WAY_UNKNOWN, WAY_INSTRUCTION, WAY_CALL } way;
  static _Thread_local const void *base;
  if (way == WAY_UNKNOWN)
    way = getauxval(AT_HWCAP2) & FSGSBASE ? WAY_INSTRUCTION : WAY_CALL;
  if (way == WAY_INSTRUCTION) {
    __asm__ volatile("wrgsbase %0" : : "r"(bytes));
  } else if (base != bytes) {
    base = bytes;
    (void)syscall(SYS_arch_prctl, ARCH_SET_GS_CODE, bytes);
  }
#else
  (void)bytes;
#endif
}

static bool open_library(struct source_fiber *fiber, struct vinci_diag *diag) {
  fiber->host = (struct vinci_cce_host){.version = VINCI_CCE_VERSION,
                                        .size = sizeof fiber->host,
                                        .issue = issue,
                                        .number = number,
                                        .trap = trap,
                                        .print = print,
                                        .pause = pause_code,
                                        .write = write_text,
                                        .fail = fail_at,
                                        .dump = dump,
                                        .look = look,
                                        .leave = leave_process,
                                        .token = token,
                                        .threads = threads,
                                        .reach = reach};
  return source_code_open(&fiber->loaded, &fiber->core, &fiber->host, diag);
}

/* Loads the code, whose constructors run then, on the stack of the kernel. */
static bool prepare(struct source_fiber *fiber) {
  struct source_core *core = &fiber->core;
  const struct source *source = core->source;
  if (!fiber->loaded.library && !open_library(fiber, core->diag))
    return false;
  if (source->wants_caches && !core->tells) {
    (void)diag_error(core->diag, VINCI_E_INPUT,
                     "the library does not tell of its accesses, as data caches need");
    diag_hint(core->diag, "this `vinci cc` makes such a library");
    return false;
  }
  if (!source_told_start(core)) {
    diag_error(core->diag, VINCI_E_NOMEM, "out of memory for the accesses of a kernel");
    return false;
  }
  core->counted = core->counter ? *core->counter : 0;
  if (core->watch) {
    core->watch->gm = (uint64_t)(uintptr_t)core->gm;
    core->watch->gm_bytes = source->trace->gm_bytes + GM_BEHIND;
  }
  return true;
}

static void run_kernel(void *argument) {
  struct source_fiber *fiber = argument;
  if (!prepare(fiber))
    fail(fiber);
  source_gate_close();
  source_code_call(&fiber->loaded, &fiber->core);
  source_gate_open();
  if (!source_told_end(&fiber->core))
    source_fiber_stop(&fiber->core);
  source_issue_touched(&fiber->core);
  if (fiber->core.dcache)
    source_dcache_clean(fiber->core.dcache, 0, true);
  fiber->ended = true;
  leave(fiber);
}

static char *new_stack(void) {
  char *stack = mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED)
    return NULL;
  (void)mprotect(stack, GUARD_BYTES, PROT_NONE);
  return stack;
}

void source_fiber_start(struct source *source, const struct source_place *place) {
  struct source_fiber *fiber = source->fibers[place->core];
  if (!fiber) {
    fiber = source->fibers[place->core] = calloc(1, sizeof *fiber);
    if (!fiber)
      return;
    fiber->loaded.file = -1;
  }
  fiber->core.source = source;
  fiber->core.place = *place;
  fiber->core.instructions = 0;
  fiber->core.looks = (struct source_looks){.count = 0};
  fiber->core.sync = (struct source_sync){.count = 0};
  fiber->core.in_threads = false;
  source_tokens_start(&fiber->core);
  fiber->core.ctrl = source->soc->arch == ARCH_C310 ? CTRL_RESET_C310 : CTRL_RESET;
  fiber->ended = fiber->failed = false;
  fiber->heap = 0;
  fiber->refused = NULL;
  fiber->core.gm = NULL; /* the code has not been entered */
}

/* The first instruction of a block is asked for: memory and code are there by now. */
static bool enter(struct source *source, struct source_fiber *fiber, struct vinci_diag *diag) {
  if (!fiber->stack)
    fiber->stack = new_stack();
  if (!fiber->stack || !source_faults_start(source) ||
      !source_switch_prepare(&fiber->code, &fiber->caller, fiber->stack, STACK_BYTES + GUARD_BYTES,
                             run_kernel, fiber)) {
    diag_error(diag, VINCI_E_NOMEM, "out of memory for the stack of a core");
    return false;
  }
  fiber->core.gm = source->program.values->gm;
  return true;
}

enum stream_step source_fiber_next(struct source *source, uint32_t core, struct inst *inst,
                                   struct vinci_diag *diag) {
  struct source_fiber *fiber = source->fibers[core];
  if (!fiber) {
    diag_error(diag, VINCI_E_NOMEM, "out of memory for the code of a core");
    return STREAM_ERROR;
  }
  if (fiber->ended)
    return STREAM_END;
  fiber->core.diag = diag;
  fiber->core.inst = inst;
  if (source_sync_held(&fiber->core))
    return STREAM_INST;
  if (!fiber->core.gm && !enter(source, fiber, diag))
    return STREAM_ERROR;
  set_ub(source->program.values->cores[core].bytes[SPACE_UB]);
  fiber->paused = false;
  source_faults_of(fiber);
  source_switch(&fiber->caller, &fiber->code);
  source_faults_of(NULL);
  if (source->syncs && !fiber->failed && !fiber->ended && !fiber->paused)
    source_sync(&fiber->core);
  return fiber->failed   ? STREAM_ERROR
         : fiber->ended  ? STREAM_END
         : fiber->paused ? STREAM_LATER
                         : STREAM_INST;
}

const struct source_place *source_fiber_place(const struct source *source, uint32_t core) {
  return &source->fibers[core]->core.place;
}

bool source_fibers_look(const struct source *source) {
  for (uint32_t i = 0; i < source->core_count; i++)
    if (source->fibers[i] && source->fibers[i]->paused)
      return true;
  return false;
}

struct program_scalar source_fibers_scalar(const struct source *source) {
  struct program_scalar sum = {0};
  bool silent = !source->wants_accesses;
  for (uint32_t i = 0; i < source->core_count; i++) {
    const struct source_fiber *fiber = source->fibers[i];
    if (!fiber || !fiber->loaded.library)
      continue;
    sum.uncounted |= !fiber->core.watch;
    sum.gm += fiber->core.watch ? fiber->core.watch->gm_accesses : 0;
    sum.ub += fiber->core.watch ? fiber->core.watch->ub_accesses : 0;
    silent |= !fiber->core.told;
  }
  sum.checked = !silent && !sum.uncounted;
  return sum;
}

static void unload(void *fiber) {
  source_gate_close();
  source_code_unload(&((struct source_fiber *)fiber)->loaded);
}

/* Destructors of the code run then, and may do what a kernel must not do. */
static void close_code(struct source_fiber *fiber) {
  struct vinci_diag diag = {0};
  fiber->core.diag = &diag;
  source_faults_of(fiber);
  source_switch_call(&fiber->caller, unload, fiber);
  source_gate_open();
  source_faults_of(NULL);
  if (diag.status != VINCI_OK)
    vinci_diag_print(&diag, stderr);
}

void source_fibers_free(struct source *source) {
  struct vinci_diag ignored = {0};
  for (uint32_t i = 0; source->fibers && i < source->core_count; i++) {
    struct source_fiber *fiber = source->fibers[i];
    if (!fiber)
      continue;
    if (fiber->loaded.library)
      close_code(fiber);
    source_code_close(&fiber->loaded);
    source_told_free(&fiber->core);
    if (fiber->stack)
      munmap(fiber->stack, STACK_BYTES + GUARD_BYTES);
    free(fiber);
  }
  free(source->fibers);
  source->fibers = NULL;
  if (source->handlers_set && trace_take(source->trace, &ignored) == VINCI_OK) {
    source_faults_end();
    trace_give_back(source->trace);
  }
}
