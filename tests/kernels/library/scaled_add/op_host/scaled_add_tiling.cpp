// SPDX-License-Identifier: Apache-2.0
#include "scaled_add_tiling.h"
#include "parts.h"
#include "register/op_impl_registry.h"

namespace optiling {
static ge::graphStatus TileScaledAdd(gert::TilingContext *context) {
  auto *chip = context->GetCompileInfo<ChipInfo>();
  OP_CHECK_NULL_WITH_CONTEXT(context, chip);
  auto *attrs = context->GetAttrs();
  const float *alpha = attrs->GetAttrPointer<float>(0);
  int64_t total = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
  OP_CHECK_IF(total <= 0, OP_LOGE(context, "x has %ld elements", total), return ge::GRAPH_FAILED);
  ScaledAddTilingData data;
  uint64_t each = Ops::Base::CeilAlign<uint64_t>(Ops::Base::CeilDiv<uint64_t>(total, chip->cores), 16);
  data.part.set_each(each);
  data.part.set_total(total);
  data.set_tile(4096);
  data.set_alpha(*alpha);
  uint8_t marks[3] = {1, 2, 3};
  data.set_marks(marks);
  data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(data.GetDataSize());
  context->SetBlockDim((uint32_t)Ops::Base::CeilDiv<uint64_t>(total, each));
  context->SetTilingKey(context->GetOptionalInputShape(1) ? 1 : 0);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(ScaledAdd).Tiling(TileScaledAdd).TilingParse<ChipInfo>(ReadChip);
} // namespace optiling
