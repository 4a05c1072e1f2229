/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes and version strings. */
#include "core/vinci.h"

/* VINCI_VERSION and VINCI_COMMIT, as the build found them. */
#include "core/base/status.inc"

/* Changes with every change of the model that can move a result. */
#define VINCI_MODEL_REVISION "26"

const char *vinci_status_text(enum vinci_status status) {
  switch (status) {
#define X(name, value, exit_code, text)                                                            \
  case VINCI_##name:                                                                               \
    return text;
    VINCI_STATUS_LIST(X)
#undef X
  }
  return "unknown status";
}

int vinci_status_exit_code(enum vinci_status status) {
  switch (status) {
#define X(name, value, exit_code, text)                                                            \
  case VINCI_##name:                                                                               \
    return exit_code;
    VINCI_STATUS_LIST(X)
#undef X
  }
  return vinci_status_exit_code(VINCI_E_INTERNAL);
}

const char *vinci_version(void) { return VINCI_VERSION; }

const char *vinci_model_revision(void) { return VINCI_MODEL_REVISION; }

const char *vinci_commit(void) { return VINCI_COMMIT; }
