/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kernel must not do: faults of its code, calls of the system, and code that goes on without
 * an end. Each ends the run with the line of the source. The handlers run on a stack of their own,
 * with the gate (gate.h) open.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/chip/soc.h"
#include "core/machine/values.h"
#include "core/machine/values_unknown.h"
#include "kernels/source/fiber.h"
#include "kernels/source/gate.h"

/* Scalar code that issues nothing for so long waits for something that does not come. */
enum { PATIENCE_SECONDS = 10 };

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

void source_faults_of(struct source_fiber *fiber) {
  runner = pthread_self();
  running = fiber;
}

static uint64_t program_counter(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#else
  (void)context;
  return 0;
#endif
}

static uint64_t stack_pointer(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#else
  (void)context;
  return 0;
#endif
}

/* Whether an address is in the code of the kernel; segments lie a few pages apart. */
static bool is_own_code(const struct source_fiber *fiber, uint64_t address) {
  enum { APART = 1 << 16 };
  const struct source_core *core = &fiber->core;
  return address - core->base < source_loaded_bytes(&core->source->image[core->place.kind]) + APART;
}

/*
 * The line of the kernel at which a signal has come; of code of a library the line of the call.
 * The stack below holds what calls before have left there, so the oldest call counts: its function
 * is the first that has used its place.
 */
static uint32_t line_of(const struct source_fiber *fiber, int number, const ucontext_t *context) {
  uint64_t counter = program_counter(context), from = stack_pointer(context);
  uint64_t at = (uint64_t)(uintptr_t)fiber->stack + STACK_BYTES + GUARD_BYTES;
  bool behind = number == SIGSYS || number == SIGTRAP; /* the instruction is over */
  uint32_t own = is_own_code(fiber, counter) ? source_fiber_line(fiber, counter - behind) : 0;
  if (own != 0 || at - from > STACK_BYTES)
    return own;
  for (at -= sizeof at; at >= from; at -= sizeof at) {
    uint64_t word = *(const uint64_t *)(uintptr_t)at;
    uint32_t line = is_own_code(fiber, word) ? source_fiber_line(fiber, word - 1) : 0;
    if (line != 0)
      return line;
  }
  return 0;
}

#if defined(__x86_64__)
/* Whether an instruction is a plain or vector store. Of an address that no memory can have (above
 * 47 bits) the processor tells neither the address nor what it was for. */
static bool is_store(const uint8_t *at) {
  static const uint8_t prefixes[] = {0x66, 0xF2, 0xF3}, plain[] = {0x88, 0x89, 0xC6, 0xC7},
                       vector[] = {0x11, 0x13, 0x17, 0x29, 0x7E, 0x7F, 0xD6, 0xE7};
  enum { REX = 0x40, REX_MASK = 0xF0, TWO_BYTES = 0x0F };
  while (memchr(prefixes, *at, sizeof prefixes) || (*at & REX_MASK) == REX)
    at++;
  return *at == TWO_BYTES ? memchr(vector, at[1], sizeof vector) != NULL
                          : memchr(plain, *at, sizeof plain) != NULL;
}
#endif

static bool writes(const ucontext_t *context) {
#if defined(__x86_64__)
  enum { WRITES = 2 /* of the error code of a page fault */, GENERAL_PROTECTION = 13 };
  if (context->uc_mcontext.gregs[REG_TRAPNO] == GENERAL_PROTECTION)
    return is_store((const uint8_t *)(uintptr_t)program_counter(context));
  return (context->uc_mcontext.gregs[REG_ERR] & WRITES) != 0;
#else
  (void)context;
  return false;
#endif
}

/* Whether the code has come to an instruction of systems (hlt, cli, in, rdmsr ...); the same signal
 * tells of addresses that no memory can have. */
static bool is_reserved(const struct source_fiber *fiber, const siginfo_t *info,
                        const ucontext_t *context) {
#if defined(__x86_64__)
  static const uint8_t first[] = {0xF4, 0xFA, 0xFB, 0xCD, 0xE4, 0xE5,
                                  0xE6, 0xE7, 0xEC, 0xED, 0xEE, 0xEF};
  static const uint8_t second[] = {0x00, 0x01, 0x06, 0x08, 0x09, 0x20, 0x22, 0x30, 0x32};
  enum { TWO_BYTES = 0x0F };
  const uint8_t *at = (const uint8_t *)(uintptr_t)program_counter(context);
  if (info->si_code != SI_KERNEL || !is_own_code(fiber, (uint64_t)(uintptr_t)at))
    return false;
  return memchr(first, at[0], sizeof first) ||
         (at[0] == TWO_BYTES && memchr(second, at[1], sizeof second));
#else
  (void)fiber, (void)info, (void)context;
  return false;
#endif
}

/* Whether the code has come to a call of the system of 32 bits, of a host whose system has none:
 * there the instruction (int 0x80) is reserved. Other hosts send SIGSYS. */
static bool is_call_of_32_bits(const struct source_fiber *fiber, const siginfo_t *info,
                               const ucontext_t *context) {
#if defined(__x86_64__)
  static const uint8_t call[] = {0xCD, 0x80};
  const void *at = (const void *)(uintptr_t)program_counter(context);
  return is_reserved(fiber, info, context) && memcmp(at, call, sizeof call) == 0;
#else
  (void)fiber, (void)info, (void)context;
  return false;
#endif
}

/* Whether checks will tell of a fault: of an access to what is not there. */
static bool note_fault(struct source_fiber *fiber, const siginfo_t *info, const void *context) {
  uint64_t at = (uint64_t)(uintptr_t)info->si_addr, counter = program_counter(context);
  bool own = at - (uint64_t)(uintptr_t)fiber->stack < STACK_BYTES + GUARD_BYTES ||
             is_reserved(fiber, info, context);
  if (!source_told_logs(&fiber->core) || own || at == counter ||
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

/* Whether the code goes on after a call of the system. */
static bool passes_gate(struct source_fiber *fiber, const siginfo_t *info, ucontext_t *context) {
  const char *act;
  bool by_itself = is_own_code(fiber, (uint64_t)(uintptr_t)info->si_call_addr - 1);
  enum gate_answer answer = source_gate_answer(info, context, by_itself, &fiber->heap, &act);
  if (answer == GATE_ABORTS)
    fiber->refused = NULL;
  else if (answer != GATE_DONE && !fiber->refused) {
    fiber->refused = act;
    fiber->refused_line = line_of(fiber, SIGSYS, context);
  }
  return answer == GATE_DONE || answer == GATE_REFUSED;
}

bool source_faults_refused(struct source_fiber *fiber) {
  const struct vinci_trace *trace = fiber->core.source->trace;
  if (!fiber->refused)
    return false;
  (void)diag_error_at(fiber->core.diag, VINCI_E_INPUT, program_position(trace, fiber->refused_line),
                      "block %u: kernel %s uses the system of the host: it %s",
                      fiber->core.place.blk, trace->kernels[0].name, fiber->refused);
  diag_hint(fiber->core.diag, "a core has no operating system");
  return true;
}

static void report_fault(struct source_fiber *fiber, int number, const siginfo_t *info,
                         const ucontext_t *context) {
  bool memory = number == SIGSEGV || number == SIGBUS;
  bool unknown = memory && unknown_holds(fiber->core.source->program.values, info->si_addr);
  bool full = memory &&
              (uint64_t)(uintptr_t)info->si_addr - (uint64_t)(uintptr_t)fiber->stack < GUARD_BYTES;
  bool reserved = memory && is_reserved(fiber, info, context);
  const char *text = unknown    ? TEXT_UNKNOWN
                     : full     ? "the stack of the kernel is full: it has 1 MiB"
                     : reserved ? "the kernel comes to an instruction that is for the system of "
                                  "the host"
                                : fault_text(number);
  (void)diag_error_at(fiber->core.diag, VINCI_E_INPUT,
                      program_position(fiber->core.source->trace, line_of(fiber, number, context)),
                      "block %u: %s", fiber->core.place.blk, text);
  if (unknown)
    diag_hint(fiber->core.diag, HINT_UNKNOWN);
  else if (full)
    diag_hint(fiber->core.diag, "a recursion without an end, or large arrays in functions");
  else if (memory && !reserved) {
    char place[256];
    place_text(fiber, (uint64_t)(uintptr_t)info->si_addr, place, sizeof place);
    diag_hint(fiber->core.diag, "%s", place);
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  struct source_fiber *fiber = running;
  if (!fiber || !pthread_equal(pthread_self(), runner)) { /* not ours */
    signal(number, SIG_DFL);
    return;
  }
  source_gate_open();
  if (number == SIGSYS && passes_gate(fiber, info, context)) {
    source_gate_close();
    return;
  }
  bool memory = number == SIGSEGV || number == SIGBUS;
  if (memory && !fiber->refused && is_call_of_32_bits(fiber, info, context)) {
    fiber->refused = GATE_CALL_OF_32_BITS;
    fiber->refused_line = line_of(fiber, number, context);
  }
  fiber->failed = true;
  if (source_faults_refused(fiber))
    fiber->refused = NULL;
  else if (number == SIGSYS)
    report_fault(fiber, SIGABRT, info, context);
  else if (memory && note_fault(fiber, info, context))
    fiber->core.source->program.stopped = true;
  else
    report_fault(fiber, number, info, context);
  source_switch_from_signal(&fiber->caller);
}

/* A library without include/vinci/cce/leave.h, or a way that is not known there: the process ends
 * while a kernel runs. That is no good end, whatever the kernel has asked for. */
static __attribute__((destructor)) void end_with_error(void) {
  const struct source_fiber *fiber = running;
  if (!fiber)
    return;
  source_gate_open(); /* a message asks how wide the terminal is */
  const struct vinci_trace *trace = fiber->core.source->trace;
  struct vinci_diag diag = {0};
  (void)diag_error_at(&diag, VINCI_E_INPUT, program_position(trace, 0), "block %u: " TEXT_LEFT,
                      fiber->core.place.blk, trace->kernels[0].name);
  vinci_diag_print(&diag, stderr);
  fflush(NULL);
  _exit(vinci_status_exit_code(VINCI_E_INPUT));
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

bool source_faults_start(struct source *source) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  /* The fiber's own may be full. The library that knows lines puts tables of them on the stack. */
  static char stack[1 << 20];
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  if (sigaltstack(&other, NULL) != 0)
    return false;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    if (sigaction(faults[i], &action, NULL) != 0)
      return false;
  source->handlers_set = set_clock(1);
  source_gate_start();
  return source->handlers_set;
}

void source_faults_end(void) {
  (void)set_clock(0);
  source_gate_end();
}
