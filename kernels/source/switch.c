/* SPDX-License-Identifier: Apache-2.0 */
/* glibc's check of longjmp() takes another stack for a mistake. */
#undef _FORTIFY_SOURCE
#include <stdint.h>
#include <stdlib.h>

#include "kernels/source/switch.h"

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

bool source_switch_prepare(struct source_switch *out, struct source_switch *caller, void *stack,
                           size_t bytes, void (*function)(unsigned high, unsigned low),
                           const void *argument) {
  if (getcontext(&out->first) != 0)
    return false;
  caller->mask = out->first.uc_sigmask;
  out->first.uc_stack = (stack_t){.ss_sp = stack, .ss_size = bytes};
  makecontext(&out->first, (void (*)(void))function, 2, (unsigned)((uintptr_t)argument >> 32),
              (unsigned)(uintptr_t)argument);
  out->begins = true;
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
  if (_setjmp(from->at) == 0)
    go_to(to);
}

void source_switch_call(struct source_switch *from, void (*function)(void *), void *argument) {
  keep_arithmetic(from);
  (void)pthread_sigmask(SIG_SETMASK, NULL, &from->mask);
  if (_setjmp(from->at) == 0)
    function(argument);
}

_Noreturn void source_switch_from_signal(struct source_switch *to) {
  (void)pthread_sigmask(SIG_SETMASK, &to->mask, NULL);
  go_to(to);
}
