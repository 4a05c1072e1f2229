// SPDX-License-Identifier: Apache-2.0
// What the build of a library generates: its tiling structures.
#ifndef VINCI_CCE_LIBRARY_KERNEL_TILING_H
#define VINCI_CCE_LIBRARY_KERNEL_TILING_H

#include "register/tilingdata_base.h"

namespace AscendC {
namespace tiling {}
} // namespace AscendC
using namespace AscendC::tiling;

#endif
