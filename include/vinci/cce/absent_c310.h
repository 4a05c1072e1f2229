// SPDX-License-Identifier: Apache-2.0
// Intrinsics of dav-c310 without a model, as absent.h has those of all architectures.
#ifndef VINCI_CCE_ABSENT_C310_H
#define VINCI_CCE_ABSENT_C310_H

#include "vinci/cce/absent.h"

// Tokens of buffers, which order pipes.
VINCI_CCE_ABSENT(get_buf)
VINCI_CCE_ABSENT(rls_buf)

#endif
