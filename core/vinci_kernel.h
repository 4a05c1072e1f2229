/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vinci: kernels that `vinci cc` has compiled, as traces.
 *
 *     const char *args[] = {"name=x,dtype=fp16,shape=65536,io=in,file=x.npy",
 *                           "name=y,dtype=fp16,shape=65536,io=out", "value=65536"};
 *     struct vinci_kernel kernel = {.struct_size = sizeof kernel, .library = "relu.so",
 *                                   .name = "relu", .blocks = 8, .args = args, .arg_count = 3};
 *     if (vinci_kernel_load(soc, &kernel, &trace, &diag) == VINCI_OK &&
 *         vinci_run(soc, trace, NULL, &result, &diag) == VINCI_OK) ...
 *
 * The code of a kernel runs in this process, as any library that is loaded.
 */
#ifndef VINCI_KERNEL_H
#define VINCI_KERNEL_H

#include "vinci.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vinci_kernel {
  size_t struct_size; /* sizeof(struct vinci_kernel) */
  const char *library;
  const char *name;
  uint32_t blocks;
  /* Arguments in their order: a tensor in the words of a row of a trace, whose file= counts from
   * the working folder, "value=N", or "list=N" in front of N tensors: the kernel gets the
   * address of a list of them (ListTensorDesc). */
  const char *const *args;
  size_t arg_count;
};

/*
 * Loads a kernel and executes its code once, to know its instructions: on the values of files that
 * its tensors name, zeros for others. The trace is as any other and names lines of the kernel's
 * source; what its tensors hold afterwards is for vinci_values_run(). The caller frees the trace.
 * VINCI_E_INPUT: no such kernel, another architecture, or the code fails.
 */
VINCI_API VINCI_MUST_CHECK enum vinci_status vinci_kernel_load(const vinci_soc *soc,
                                                               const struct vinci_kernel *kernel,
                                                               vinci_trace **out,
                                                               struct vinci_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
