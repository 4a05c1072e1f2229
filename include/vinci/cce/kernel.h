// SPDX-License-Identifier: Apache-2.0
// All that a kernel may use. `vinci cc` includes this header before the first line of a source.
#ifndef VINCI_CCE_KERNEL_H
#define VINCI_CCE_KERNEL_H

#include <cstdio>

#include "vinci/cce/absent.h"
#include "vinci/cce/control.h"
#include "vinci/cce/cube.h"
#include "vinci/cce/launch.h"
#include "vinci/cce/load.h"
#include "vinci/cce/transfer.h"
#include "vinci/cce/vector.h"

// Before any header of the library that has tiling structures.
#if __has_include("matmul/matmul_tilingdata.h")
#include "register/tilingdata_base.h"
#endif

extern "C" {
inline const struct vinci_cce_host *vinci_cce_host = nullptr;
}

#endif
