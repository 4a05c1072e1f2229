/* SPDX-License-Identifier: Apache-2.0 */
/* The device code of a core: a copy of its image, so that global variables of the code are its own.
 */
#ifndef VINCI_KERNELS_SOURCE_CODE_H
#define VINCI_KERNELS_SOURCE_CODE_H

#include "kernels/source/source.h"

/* Arguments that do not fit registers lie on the stack, as a structure that is passed by value. */
struct stack_args {
  uint64_t word[SOURCE_ARGS_MAX];
};
typedef void enter_function(const void *kernel, const void *arguments);
typedef void kernel_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                             struct stack_args);

struct source_code {
  void *library;
  int file; /* that the library was loaded from; -1: none */
  kernel_function *kernel;
  enter_function *enter; /* of a launch */
  void (*prepare)(void); /* before a mixed kernel (include/vinci/cce/end.h); or NULL */
};

/*
 * Loads the code of a core, and tells the core where counters and addresses of the code are. The
 * code calls `host`, which outlives the code. False with VINCI_E_INPUT when the image cannot be
 * loaded or lacks the kernel; source_code_close() is due in both cases.
 */
bool source_code_open(struct source_code *code, struct source_core *core,
                      const struct vinci_cce_host *host, struct vinci_diag *diag);
/* Runs the kernel from its first line; the context of the caller is that of the core. */
void source_code_call(const struct source_code *code, const struct source_core *core);
/* The code runs its destructors. */
void source_code_unload(struct source_code *code);
void source_code_close(struct source_code *code);

#endif
