// SPDX-License-Identifier: Apache-2.0
// What host code of this library shares.
#ifndef SMALL_LIBRARY_PARTS_H
#define SMALL_LIBRARY_PARTS_H

#include "exe_graph/runtime/tiling_context.h"
#include "log/log.h"
#include "tiling/platform/platform_ascendc.h"
#include "util/math_util.h"

namespace optiling {
struct ChipInfo {
  uint32_t cores = 0;
  uint64_t buffer = 0;
};
ge::graphStatus ReadChip(gert::TilingParseContext *context);
} // namespace optiling

#endif
