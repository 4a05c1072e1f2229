// SPDX-License-Identifier: Apache-2.0
// Host code of operators on lists: a block for each tensor.
#include "list_tiling.h"

namespace optiling {
static ge::graphStatus TileList(gert::TilingContext *context) {
  ListTilingData data;
  uint32_t elements[most_tensors] = {}, count = 0;
  for (; context->GetDynamicInputShape(0, count) && count < most_tensors; count++) {
    elements[count] = (uint32_t)context->GetDynamicInputShape(0, count)->GetStorageShape().GetShapeSize();
    OP_CHECK_IF(elements[count] % 8 != 0 || elements[count] > 16384,
                OP_LOGE(context->GetNodeName(), "tensor %u has %u elements", count, elements[count]),
                return ge::GRAPH_FAILED);
  }
  data.set_tensors(count);
  data.set_factor(*context->GetAttrs()->GetFloat(0));
  data.set_elements(elements);
  data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(data.GetDataSize());
  context->SetBlockDim(count);
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
static ge::graphStatus Nothing(gert::TilingParseContext *) { return ge::GRAPH_SUCCESS; }
IMPL_OP_OPTILING(ListShare).Tiling(TileList).TilingParse<ListInfo>(Nothing);

static ge::graphStatus ShapesOfList(gert::InferShapeContext *context) {
  for (size_t i = 0; i < context->GetComputeNodeOutputNum(); i++)
    *context->GetOutputShape(i) = *context->GetDynamicInputShape(0, i);
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(ListShare).InferShape(ShapesOfList);
} // namespace optiling
