// SPDX-License-Identifier: Apache-2.0
#ifndef LIST_TILING_H
#define LIST_TILING_H

#include "register/tilingdata_base.h"

namespace optiling {
constexpr uint32_t most_tensors = 8;
BEGIN_TILING_DATA_DEF(ListTilingData)
TILING_DATA_FIELD_DEF(uint32_t, tensors);
TILING_DATA_FIELD_DEF(float, factor);
TILING_DATA_FIELD_DEF_ARR(uint32_t, 8, elements);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ListShare, ListTilingData)
struct ListInfo {};
} // namespace optiling

#endif
