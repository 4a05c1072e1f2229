// SPDX-License-Identifier: Apache-2.0
#include "parts.h"

namespace optiling {
ge::graphStatus ReadChip(gert::TilingParseContext *context) {
  auto *chip = context->GetCompiledInfo<ChipInfo>();
  OP_CHECK_NULL_WITH_CONTEXT(context, chip);
  platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  chip->cores = platform.GetCoreNumAiv();
  platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, chip->buffer);
  return ge::GRAPH_SUCCESS;
}
} // namespace optiling
