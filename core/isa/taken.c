/* SPDX-License-Identifier: Apache-2.0 */
/* Who executes compiled kernels: a lock of the process, as signal handlers are of the process. */
#include "core/isa/taken.h"

#include <pthread.h>

#include "core/base/diag.h"

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

enum vinci_status trace_take(const struct vinci_trace *trace, struct vinci_diag *diag) {
  if (!trace->source || pthread_mutex_lock(&lock) == 0)
    return VINCI_OK;
  return diag_error(diag, VINCI_E_USAGE,
                    "%s: this thread executes a compiled kernel already, whose progress function "
                    "cannot execute another",
                    trace->path);
}

void trace_give_back(const struct vinci_trace *trace) {
  if (trace->source)
    (void)pthread_mutex_unlock(&lock);
}
