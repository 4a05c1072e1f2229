// SPDX-License-Identifier: Apache-2.0
#ifndef SCALED_ADD_TILING_H
#define SCALED_ADD_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ScaledAddPart)
TILING_DATA_FIELD_DEF(uint64_t, each);
TILING_DATA_FIELD_DEF(uint64_t, total);
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(ScaledAddTilingData)
TILING_DATA_FIELD_DEF_STRUCT(ScaledAddPart, part);
TILING_DATA_FIELD_DEF(uint32_t, tile);
TILING_DATA_FIELD_DEF(float, alpha);
TILING_DATA_FIELD_DEF_ARR(uint8_t, 3, marks);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ScaledAdd, ScaledAddTilingData)
} // namespace optiling
#endif
