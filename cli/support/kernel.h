/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs share that take compiled kernels: LIBRARY:KERNEL with --blocks and --arg. */
#ifndef VINCI_CLI_SUPPORT_KERNEL_H
#define VINCI_CLI_SUPPORT_KERNEL_H

#include "cli/support/monitor.h"
#include "cli/support/options.h"
#include "cli/support/values.h"

struct kernel_settings {
  const char *blocks; /* a number, as text */
  struct text_list args;
  const char *record; /* file for what the kernel issues, or NULL */
  bool dcache;        /* values as data caches leave them */
  bool checked;       /* by the verb: checks want to know what scalar code accesses */
  bool apart;         /* by the verb: no time is asked for, so tensors need not adjoin */
};

/* clang-format off */
#define KERNEL_ARG_ROW(type, field)                                                                \
  {"arg", 0, OPTION_LIST, offsetof(type, field.args), "ARG",                                       \
   "with LIBRARY:KERNEL: an argument of the kernel, in order: name=x,dtype=fp16,shape=8x512,io=in" \
   "[,file=x.npy], value=7, or list=2 in front of the tensors of a list; file counts from the "    \
   "working folder", 0, 0},                                                                        \
  {"record", 0, OPTION_TEXT, offsetof(type, field.record), "FILE",                                 \
   "with LIBRARY:KERNEL: write what the kernel issues as a trace, loops found again", 0, 0}
#define KERNEL_DCACHE_ROW(type, field)                                                             \
  {"dcache", 0, OPTION_FLAG, offsetof(type, field.dcache), NULL,                                   \
   "with LIBRARY:KERNEL and --values: scalar code sees device memory by the data cache of its "    \
   "core, as on a board", 0, 0}
/* What a kernel reads, for verbs that compute no values else. */
#define KERNEL_INPUT_ROWS(type, field)                                                             \
  {"input", 0, OPTION_LIST, offsetof(type, field.inputs), "NAME=FILE",                             \
   "with LIBRARY:KERNEL: values of a tensor, a .npy file; may be repeated", 0, 0},                 \
  {"fill", 0, OPTION_TEXT, offsetof(type, field.fill), "HOW",                                      \
   "with LIBRARY:KERNEL: values of other inputs: zero (default), or random:SEED", 0, 0}
/* clang-format on */

/* Whether a word names a kernel of a library that is there. */
bool kernel_is_named(const char *word);
/* Refuses options of kernels where no kernel is named, or no values are kept that they need. */
VINCI_MUST_CHECK enum vinci_status kernel_check(const struct kernel_settings *settings,
                                                const struct text_list *words, bool values,
                                                struct vinci_diag *diag);
/*
 * Loads a kernel with its arguments and executes the kernel once, on copies of the inputs that
 * `values` gives (without: zeros), to know its instructions. For vinci_trace_free().
 */
VINCI_MUST_CHECK enum vinci_status kernel_load(const char *word,
                                               const struct kernel_settings *settings,
                                               const struct values_settings *values,
                                               const vinci_soc *soc, struct monitor *monitor,
                                               vinci_trace **out, struct vinci_diag *diag);
/* Says on standard error what a kernel has asked for that its instructions cannot do. */
void kernel_warn(const vinci_trace *trace);

#endif
