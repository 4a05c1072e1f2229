/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of kernels. A core of the chip has no operating system, so the code of a kernel is
 * let through to the host's only for what the C library needs itself: memory, up to a limit, text
 * on standard output and errors, and times. All others end the run. The host's kernel hands the
 * calls over (PR_SET_SYSCALL_USER_DISPATCH of Linux 5.11); on older hosts the gate is open.
 */
#ifndef VINCI_KERNELS_SOURCE_GATE_H
#define VINCI_KERNELS_SOURCE_GATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* What a kernel does that makes one; some hosts tell of it by SIGSYS, others by a fault. */
#define GATE_CALL_OF_32_BITS "makes a system call of 32 bits"

/* Memory of the host that a kernel may ask for. */
enum { GATE_HEAP_BYTES = 1 << 28 };

/* Of this thread, once it has a handler of SIGSYS. */
void source_gate_start(void);
void source_gate_end(void);
/* The code of a kernel runs from here on; that of the simulator does. */
void source_gate_close(void);
void source_gate_open(void);

enum gate_answer {
  GATE_DONE,    /* the call has been made */
  GATE_REFUSED, /* it has not been made, and the library that asks for it goes on */
  GATE_STOPPED, /* the code must not go on */
  GATE_ABORTS,  /* the same: that is the end of abort() */
};
/* What comes of a call that SIGSYS tells of, made by the code itself or by a library. `heap`: bytes
 * that the kernel has asked for so far. `act` says what the kernel does: "opens a file". */
enum gate_answer source_gate_answer(const siginfo_t *info, void *context, bool by_itself,
                                    uint64_t *heap, const char **act);

#endif
