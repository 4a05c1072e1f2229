/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels in execution. Each core has a copy of the device code (code.h), a stack, and a context
 * that runs until the next intrinsic. Scalar code reads UB relative to segment register GS. A fault
 * of the code ends the run with the line of the source.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "core/chip/soc.h"
#include "core/isa/taken.h"
#include "core/machine/values.h"
#include "core/machine/values_unknown.h"
#include "kernels/source/code.h"

/* Scalar code that runs over the end of device memory is in device memory too. */
enum { GM_BEHIND = 1 << 12 };
enum { STACK_BYTES = 1 << 20, GUARD_BYTES = 1 << 16 };
/* Scalar code that issues nothing for so long waits for something that does not come. */
enum { PATIENCE_SECONDS = 10 };

struct source_fiber {
  struct vinci_cce_host host; /* first: intrinsics come back with its address */
  struct source_core core;
  struct source_code loaded;
  char *stack;
  ucontext_t code, caller;
  bool ended, failed, paused;
};

/* The fiber that runs, for the handler of faults, which gets no other word of the program's state.
 */
static struct source_fiber *running;
/* The thread that runs it; others of the process may have signals of their own. */
static pthread_t runner;
/* What had run at the last second of the process, and for how many seconds already. */
static struct {
  const struct source_fiber *fiber;
  uint64_t instructions;
  unsigned seconds;
} watched;

/* ---- leaving the code -------------------------------------------------------------------- */

static struct source_fiber *fiber_of(const struct vinci_cce_host *host) {
  return (struct source_fiber *)(uintptr_t)host;
}

static void leave(struct source_fiber *fiber) { (void)swapcontext(&fiber->code, &fiber->caller); }

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
  if (!source_told_end(&fiber->core))
    source_fiber_stop(&fiber->core);
  if (source_issue_scalar(&fiber->core, inst, address))
    leave(fiber);
  if (!source_issue(&fiber->core, inst, values, address))
    fail(fiber);
  leave(fiber);
}

static uint32_t line_at(const struct source_fiber *fiber, uint64_t address) {
  const struct source *source = fiber->core.source;
  return source_line(&source->image[fiber->core.place.kind], source->trace->path,
                     address - fiber->core.base);
}

/* The text of a run for the time alone whose code needs what was left out. */
#define TEXT_UNKNOWN "the code reads what a run without values does not compute"
#define HINT_UNKNOWN "run with values (VINCI_VALUES=1): the way of this kernel depends on them"

static void check_registers(struct source_fiber *fiber, const void *caller) {
  const struct source_core *core = &fiber->core;
  const struct vinci_values *values = core->source->program.values;
  if (!values->unknown || !values->unknown->registers[core->place.core])
    return;
  struct diag_position at =
      program_position(core->source->trace, line_at(fiber, (uint64_t)(uintptr_t)caller - 1));
  (void)diag_error_at(core->diag, VINCI_E_INPUT, at, "block %u: " TEXT_UNKNOWN, core->place.blk);
  diag_hint(core->diag, HINT_UNKNOWN);
  fail(fiber);
}

static int64_t number(const struct vinci_cce_host *host, uint32_t which) {
  struct source_fiber *fiber = fiber_of(host);
  if (which == VINCI_CCE_EXTREME || which == VINCI_CCE_TAKEN || which == VINCI_CCE_MERGED)
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
  case VINCI_CCE_EXTREME:
    return (int64_t)registers->extreme;
  case VINCI_CCE_TAKEN:
    return (int64_t)registers->taken;
  case VINCI_CCE_MERGED:
    return (int64_t)registers->merged;
  case VINCI_CCE_WORKSPACE:
    return core->source->workspace ? (int64_t)(uintptr_t)core->gm + (int64_t)core->source->workspace
                                   : 0;
  }
  return 0;
}

static _Noreturn void trap_at(struct source_fiber *fiber, uint64_t address, const char *text) {
  (void)diag_error_at(fiber->core.diag, VINCI_E_INPUT,
                      program_position(fiber->core.source->trace, line_at(fiber, address)),
                      "block %u: %s", fiber->core.place.blk, text);
  fail(fiber);
}

static void trap(const struct vinci_cce_host *host, const char *text) {
  trap_at(fiber_of(host), (uint64_t)(uintptr_t)__builtin_return_address(0) - 1, text);
}

static void print(const struct vinci_cce_host *host, const char *text) {
  const struct source_fiber *fiber = fiber_of(host);
  if (!fiber->core.source->recorded) /* code that runs once more says nothing new */
    fprintf(stderr, "block %u: %s\n", fiber->core.place.blk, text);
}

/* Of a launch on standard output, as the program itself prints; standard output of a run may be a
 * table or JSON. */
static FILE *output_of(const struct source *source) { return source->enter ? stdout : stderr; }

static void write_text(const struct vinci_cce_host *host, const char *text) {
  const struct source *source = fiber_of(host)->core.source;
  if (!source->recorded)
    fputs(text, output_of(source));
}

static void fail_at(const struct vinci_cce_host *host, const char *file, uint32_t line,
                    const char *text) {
  struct source_fiber *fiber = fiber_of(host);
  int length = (int)strcspn(text, "\n"); /* messages are one line */
  (void)diag_error_at(fiber->core.diag, VINCI_E_INPUT,
                      (struct diag_position){.path = file, .line = line}, "block %u: %.*s",
                      fiber->core.place.blk, length, text);
  fail(fiber);
}

#define TEXT_LEFT "kernel %s left the process"

static void leave_process(const struct vinci_cce_host *host, const char *act, uint64_t from) {
  struct source_fiber *fiber = fiber_of(host);
  char text[2 * SOURCE_NAME_BYTES];
  snprintf(text, sizeof text, TEXT_LEFT ": it %s", fiber->core.source->trace->kernels[0].name, act);
  trap_at(fiber, from - 1, text);
}

/* A library without include/vinci/cce/leave.h, or a way that is not known there: the process ends
 * while a kernel runs. That is no good end, whatever the kernel has asked for. */
static __attribute__((destructor)) void end_with_error(void) {
  const struct source_fiber *fiber = running;
  if (!fiber)
    return;
  const struct vinci_trace *trace = fiber->core.source->trace;
  struct vinci_diag diag = {0};
  (void)diag_error_at(&diag, VINCI_E_INPUT, program_position(trace, 0), "block %u: " TEXT_LEFT,
                      fiber->core.place.blk, trace->kernels[0].name);
  vinci_diag_print(&diag, stderr);
  fflush(NULL);
  _exit(vinci_status_exit_code(VINCI_E_INPUT));
}

static void dump(const struct vinci_cce_host *host, const struct vinci_cce_dump *wanted) {
  struct source_fiber *fiber = fiber_of(host);
  const struct source *source = fiber->core.source;
  const char *problem =
      source->recorded ? NULL : source_dump(&fiber->core, wanted, output_of(source));
  if (problem)
    trap_at(fiber, (uint64_t)(uintptr_t)__builtin_return_address(0) - 1, problem);
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
  source_told_clean(&fiber->core, address, whole_cache != 0, code - 1);
  if (source_look(&fiber->core, code, address, whole_cache != 0))
    pause_code(host);
}

/* ---- faults ------------------------------------------------------------------------------- */

static uint64_t program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#else
  (void)context;
  return 0;
#endif
}

static bool writes(const ucontext_t *context) {
#if defined(__x86_64__)
  enum { WRITES = 2 /* of the error code of a page fault */ };
  return (context->uc_mcontext.gregs[REG_ERR] & WRITES) != 0;
#else
  (void)context;
  return false;
#endif
}

/* Whether checks will tell of a fault: of an access to what is not there. */
static bool note_fault(struct source_fiber *fiber, const siginfo_t *info, const void *context) {
  uint64_t at = (uint64_t)(uintptr_t)info->si_addr, counter = program_counter(context);
  bool own = at - (uint64_t)(uintptr_t)fiber->stack < STACK_BYTES + GUARD_BYTES;
  if (!fiber->core.told || own || at == counter ||
      unknown_holds(fiber->core.source->program.values, info->si_addr))
    return false;
  source_told_fault(&fiber->core, (int64_t)(at - (uint64_t)(uintptr_t)fiber->core.gm),
                    writes(context), counter);
  return true;
}

/* "12 bytes behind tensor "y"": where a bad access is, by what lies nearest. */
static void place_text(const struct source_fiber *fiber, uint64_t at, char *out, size_t size) {
  const struct vinci_trace *trace = fiber->core.source->trace;
  const struct value_core *core =
      &fiber->core.source->program.values->cores[fiber->core.place.core];
  enum { NEAR = 1 << 26 /* of guarded.c */ };
  uint64_t ub_bytes = soc_space_bytes(fiber->core.source->soc, SPACE_UB);
  int64_t in_ub = (int64_t)(at - (uint64_t)(uintptr_t)core->bytes[SPACE_UB]);
  int64_t in_gm = (int64_t)(at - (uint64_t)(uintptr_t)fiber->core.gm), nearest = INT64_MAX;
  if (core->bytes[SPACE_UB] && in_ub >= -NEAR && in_ub < (int64_t)ub_bytes + NEAR) {
    snprintf(out, size, "byte %lld of UB, which has %llu bytes", (long long)in_ub,
             (unsigned long long)ub_bytes);
    return;
  }
  snprintf(out, size, "the address is %#llx", (unsigned long long)at);
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    int64_t before = (int64_t)tensor->address - in_gm;
    int64_t behind = in_gm - (int64_t)(tensor->address + tensor->bytes);
    int64_t distance = before > 0 ? before : behind;
    if (distance < 0 || distance > NEAR || distance >= nearest)
      continue;
    nearest = distance;
    snprintf(out, size, "%lld bytes %s tensor \"%s\"", (long long)distance,
             before > 0 ? "before the start of" : "behind the end of", tensor->name);
  }
}

static const char *fault_text(int number) {
  switch (number) {
  case SIGVTALRM:
    return "scalar code of the kernel runs for 10 s without an instruction";
  case SIGFPE:
    return "the kernel divides by zero, or an integer overflows";
  case SIGILL:
    return "the kernel comes to an instruction that the host does not have: a trap of the "
           "compiler, or the end of a function that has to return a value";
  case SIGTRAP:
    return "the kernel comes to a breakpoint";
  case SIGABRT:
    return "the kernel ends by abort(): an exception that nothing catches, or a check of the C "
           "library that failed";
  case SIGSYS:
    return "the kernel asks the system for what is not allowed";
  default:
    return "scalar code of the kernel reads or writes memory that is not there";
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  struct source_fiber *fiber = running;
  if (!fiber || !pthread_equal(pthread_self(), runner)) { /* not ours */
    signal(number, SIG_DFL);
    return;
  }
  bool memory = number == SIGSEGV || number == SIGBUS;
  if (memory && note_fault(fiber, info, context)) {
    fiber->failed = fiber->core.source->program.stopped = true;
    (void)setcontext(&fiber->caller);
  }
  bool unknown = memory && unknown_holds(fiber->core.source->program.values, info->si_addr);
  struct diag_position at =
      program_position(fiber->core.source->trace, line_at(fiber, program_counter(context)));
  (void)diag_error_at(fiber->core.diag, VINCI_E_INPUT, at, "block %u: %s", fiber->core.place.blk,
                      unknown ? TEXT_UNKNOWN : fault_text(number));
  if (unknown)
    diag_hint(fiber->core.diag, HINT_UNKNOWN);
  else if (memory) {
    char place[256];
    place_text(fiber, (uint64_t)(uintptr_t)info->si_addr, place, sizeof place);
    diag_hint(fiber->core.diag, "%s", place);
  }
  fiber->failed = true;
  (void)setcontext(&fiber->caller);
}

/* Every second of this process, in any of its threads. */
static void on_second(int number, siginfo_t *info, void *context) {
  const struct source_fiber *fiber = running;
  if (fiber && !pthread_equal(pthread_self(), runner)) {
    (void)pthread_kill(runner, number);
    return;
  }
  bool same = fiber && fiber == watched.fiber && fiber->core.instructions == watched.instructions;
  watched.seconds = same ? watched.seconds + 1 : 0;
  watched.fiber = fiber;
  watched.instructions = fiber ? fiber->core.instructions : 0;
  if (same && watched.seconds == PATIENCE_SECONDS)
    on_fault(number, info, context);
}

static bool set_clock(time_t seconds) {
  const struct itimerval every = {.it_interval.tv_sec = seconds, .it_value.tv_sec = seconds};
  struct sigaction action = {.sa_sigaction = on_second,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  return sigaction(SIGVTALRM, &action, NULL) == 0 && setitimer(ITIMER_VIRTUAL, &every, NULL) == 0;
}

/* For each block: the stack of handlers is that of a thread, and another kernel may have switched
 * the clock off. */
static bool set_handlers(struct source *source) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  static char stack[1 << 16]; /* the fiber's own may be full */
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  if (sigaltstack(&other, NULL) != 0)
    return false;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    if (sigaction(faults[i], &action, NULL) != 0)
      return false;
  source->handlers_set = set_clock(1);
  return source->handlers_set;
}

/* ---- entering the code -------------------------------------------------------------------- */

/* Makes an address the base of UB for scalar code. */
static void set_ub(const void *bytes) {
#if defined(__x86_64__)
  enum { FSGSBASE = 2 /* bit of AT_HWCAP2 */, ARCH_SET_GS_CODE = 0x1001 };
  if (getauxval(AT_HWCAP2) & FSGSBASE)
    __asm__ volatile("wrgsbase %0" : : "r"(bytes));
  else
    (void)syscall(SYS_arch_prctl, ARCH_SET_GS_CODE, bytes);
#else
  (void)bytes;
#endif
}

static void run_kernel(unsigned high, unsigned low) {
  struct source_fiber *fiber = (struct source_fiber *)((uintptr_t)high << 32 | low);
  source_code_call(&fiber->loaded, &fiber->core);
  if (!source_told_end(&fiber->core))
    source_fiber_stop(&fiber->core);
  source_issue_touched(&fiber->core);
  fiber->ended = true;
  leave(fiber);
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
                                        .leave = leave_process};
  return source_code_open(&fiber->loaded, &fiber->core, &fiber->host, diag);
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
  fiber->core.ctrl = UINT64_C(1) << 48; /* as after reset */
  fiber->ended = fiber->failed = false;
  fiber->core.gm = NULL; /* the code has not been entered */
}

/* The first instruction of a block is asked for: memory and code are there by now. */
static bool enter(struct source *source, struct source_fiber *fiber, struct vinci_diag *diag) {
  if (!fiber->loaded.library && !open_library(fiber, diag))
    return false;
  if (!fiber->stack)
    fiber->stack = new_stack();
  if (!source_told_start(&fiber->core) || !fiber->stack || !set_handlers(source) ||
      getcontext(&fiber->code) != 0) {
    diag_error(diag, VINCI_E_NOMEM, "out of memory for the stack of a core");
    return false;
  }
  fiber->core.gm = source->program.values->gm;
  fiber->core.counted = fiber->core.counter ? *fiber->core.counter : 0;
  if (fiber->core.watch) {
    fiber->core.watch->gm = (uint64_t)(uintptr_t)fiber->core.gm;
    fiber->core.watch->gm_bytes = source->trace->gm_bytes + GM_BEHIND;
  }
  fiber->code.uc_stack = (stack_t){.ss_sp = fiber->stack, .ss_size = STACK_BYTES + GUARD_BYTES};
  makecontext(&fiber->code, (void (*)(void))run_kernel, 2, (unsigned)((uintptr_t)fiber >> 32),
              (unsigned)(uintptr_t)fiber);
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
  runner = pthread_self();
  running = fiber;
  (void)swapcontext(&fiber->caller, &fiber->code);
  running = NULL;
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

void source_fibers_free(struct source *source) {
  struct vinci_diag ignored = {0};
  if (source->handlers_set && trace_take(source->trace, &ignored) == VINCI_OK) {
    (void)set_clock(0);
    trace_give_back(source->trace);
  }
  for (uint32_t i = 0; source->fibers && i < source->core_count; i++) {
    struct source_fiber *fiber = source->fibers[i];
    if (!fiber)
      continue;
    source_code_close(&fiber->loaded);
    source_told_free(&fiber->core);
    if (fiber->stack)
      munmap(fiber->stack, STACK_BYTES + GUARD_BYTES);
    free(fiber);
  }
  free(source->fibers);
  source->fibers = NULL;
}
