/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways from one stack to another. swapcontext() asks the system for the mask of signals twice at
 * each instruction of a kernel, which costs more than the instruction. Here the system is asked
 * once a block: from then on setjmp() and longjmp() change stacks, which keep no mask, and the
 * control words of floating point, which code of a kernel may set, are kept beside.
 */
#ifndef VINCI_KERNELS_SOURCE_SWITCH_H
#define VINCI_KERNELS_SOURCE_SWITCH_H

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <ucontext.h>

/* The sanitizer of addresses asks to be told of stacks: where it takes variables of one for those
 * of another it stops in the middle of a kernel, and then waits for itself for ever. */
#if defined(__SANITIZE_ADDRESS__)
#define SOURCE_SWITCH_TELLS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SOURCE_SWITCH_TELLS
#endif
#endif

/* A place to go on at. */
struct source_switch {
  jmp_buf at;
  ucontext_t first; /* of a function that has not begun */
  bool begins;
  void (*function)(void *argument);
  void *argument;
  struct source_switch *caller;
  sigset_t mask;        /* of signals, for who comes from a handler */
#if defined(__x86_64__) /* the words alone: fegetenv() takes longer than all the rest */
  unsigned mxcsr;
  unsigned short x87;
#else
  fenv_t arithmetic;
#endif
#ifdef SOURCE_SWITCH_TELLS
  const void *stack;
  size_t stack_bytes;
  void *kept; /* by the sanitizer, of a place that was left */
#endif
};

/* The place is the start of a function on a stack of its own, which must not return. Signal
 * handlers will go to `caller`, with the mask of signals of now. False when the system refuses. */
bool source_switch_prepare(struct source_switch *out, struct source_switch *caller, void *stack,
                           size_t bytes, void (*function)(void *argument), void *argument);
/* Goes on at a place; comes back here when somebody goes to `from`. */
void source_switch(struct source_switch *from, struct source_switch *to);
/* Calls a function; comes back when it returns, or somebody goes to `from`. */
void source_switch_call(struct source_switch *from, void (*function)(void *), void *argument);
/* Goes on at a place, from a signal handler, which may have interrupted another handler. */
_Noreturn void source_switch_from_signal(struct source_switch *to);

#endif
