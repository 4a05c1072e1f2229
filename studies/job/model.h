/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps of models (scripts/LUA.md), split over devices, as the text of a job. */
#ifndef VINCI_STUDIES_JOB_MODEL_H
#define VINCI_STUDIES_JOB_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/diag.h"

struct model_step_request {
  const char *model, *data; /* the file; the folder that holds soc/, may be NULL */
  const char *soc;          /* the chip of the devices, with these changes */
  const char *const *sets;
  size_t set_count;
  const char *memory;      /* the model of memory by which its operators are simulated */
  const char *const *args; /* "tp=2": fields of the model and of the split */
  size_t arg_count;
};
struct model_step {
  char *text; /* for free() */
  size_t length;
  uint64_t memory_bytes; /* most that a device holds */
};
/* Who makes steps: the module of Lua, which the library has not. A worker asks for one at a time.
 */
struct model_steps {
  void *context;
  /* VINCI_E_USAGE with a hint when neither model nor split has a field of this name. */
  enum vinci_status (*check)(void *context, const char *key, struct vinci_diag *diag);
  enum vinci_status (*make)(void *context, const struct model_step_request *request,
                            struct model_step *out, struct vinci_diag *diag);
};

#endif
