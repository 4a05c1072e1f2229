/* SPDX-License-Identifier: Apache-2.0 */
/* glibc's check of longjmp() takes another stack for a mistake. */
#undef _FORTIFY_SOURCE
#include <stdint.h>
#include <stdlib.h>

#include "kernels/source/switch.h"

#ifdef SOURCE_SWITCH_TELLS
#include <sanitizer/common_interface_defs.h>

/* `from` is NULL where nobody comes back. */
static void tell_leaving(struct source_switch *from, const struct source_switch *to) {
  __sanitizer_start_switch_fiber(from ? &from->kept : NULL, to->stack, to->stack_bytes);
}

/* The stack that was left is that of `other`. */
static void tell_arrived(const struct source_switch *at, struct source_switch *other) {
  __sanitizer_finish_switch_fiber(at->kept, &other->stack, &other->stack_bytes);
}

static void know_stack(struct source_switch *place, const void *stack, size_t bytes) {
  place->stack = stack;
  place->stack_bytes = bytes;
  place->kept = NULL;
}
#else
static void tell_leaving(struct source_switch *from, const struct source_switch *to) {
  (void)from, (void)to;
}
static void tell_arrived(const struct source_switch *at, struct source_switch *other) {
  (void)at, (void)other;
}
static void know_stack(struct source_switch *place, const void *stack, size_t bytes) {
  (void)place, (void)stack, (void)bytes;
}
#endif

/* What setjmp() leaves out of what a function may not change. */
static void keep_arithmetic(struct source_switch *place) {
#if defined(__x86_64__)
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(place->mxcsr), "=m"(place->x87));
#else
  (void)fegetenv(&place->arithmetic);
#endif
}

static void set_arithmetic(const struct source_switch *place) {
#if defined(__x86_64__)
  __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(place->mxcsr), "m"(place->x87));
#else
  (void)fesetenv(&place->arithmetic);
#endif
}

static void begin(unsigned high, unsigned low) {
  struct source_switch *place = (struct source_switch *)((uintptr_t)high << 32 | low);
  tell_arrived(place, place->caller);
  place->function(place->argument);
}

bool source_switch_prepare(struct source_switch *out, struct source_switch *caller, void *stack,
                           size_t bytes, void (*function)(void *argument), void *argument) {
  if (getcontext(&out->first) != 0)
    return false;
  caller->mask = out->first.uc_sigmask;
  out->first.uc_stack = (stack_t){.ss_sp = stack, .ss_size = bytes};
  makecontext(&out->first, (void (*)(void))begin, 2, (unsigned)((uintptr_t)out >> 32),
              (unsigned)(uintptr_t)out);
  out->begins = true;
  out->function = function;
  out->argument = argument;
  out->caller = caller;
  know_stack(out, stack, bytes);
  return true;
}

static _Noreturn void go_to(struct source_switch *to) {
  if (to->begins) {
    to->begins = false;
    (void)setcontext(&to->first);
    abort(); /* it returns when its argument is not a context */
  }
  set_arithmetic(to);
  _longjmp(to->at, 1);
}

void source_switch(struct source_switch *from, struct source_switch *to) {
  keep_arithmetic(from);
  if (_setjmp(from->at) == 0) {
    tell_leaving(from, to);
    go_to(to);
  }
  tell_arrived(from, to);
}

void source_switch_call(struct source_switch *from, void (*function)(void *), void *argument) {
  keep_arithmetic(from);
  (void)pthread_sigmask(SIG_SETMASK, NULL, &from->mask);
  struct source_switch same; /* the function runs on this stack */
  if (_setjmp(from->at) == 0)
    function(argument);
  else
    tell_arrived(from, &same);
}

_Noreturn void source_switch_from_signal(struct source_switch *to) {
  (void)pthread_sigmask(SIG_SETMASK, &to->mask, NULL);
  tell_leaving(NULL, to);
  go_to(to);
}
