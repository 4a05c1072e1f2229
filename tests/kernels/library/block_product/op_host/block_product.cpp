// SPDX-License-Identifier: Apache-2.0
// c = a * b: fp16, sums in fp32. The kernel is a template of the depth of a panel and of the type of c.
#include "../op_kernel/block_product_key.h"
#include "parts.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"

namespace optiling {
static ge::graphStatus TileBlockProduct(gert::TilingContext *context) {
  const gert::Shape &a = context->GetInputShape(0)->GetStorageShape(), &b = context->GetInputShape(1)->GetStorageShape();
  auto *tiling = context->GetTilingData<BlockProductTiling>();
  tiling->m = a.GetDim(0);
  tiling->k = a.GetDim(1);
  tiling->n = b.GetDim(1);
  OP_CHECK_IF(a.GetDim(1) != b.GetDim(0), OP_LOGE(context, "a is %ld deep, b %ld", a.GetDim(1), b.GetDim(0)),
              return ge::GRAPH_FAILED);
  uint32_t result = context->GetOutputDesc(0)->GetDataType();
  uint32_t depth = tiling->k % 64 == 0 ? 64 : 32;
  if (result == ge::DT_FLOAT) {
    ASCENDC_TPL_SEL_PARAM(context, depth, result);
  } else {
    uint32_t key = GET_TPL_TILING_KEY(depth, result); // some host code keeps it in 32 bits
    context->SetTilingKey(key);
  }
  platform_ascendc::PlatformAscendC chip(context->GetPlatformInfo());
  context->SetBlockDim(std::min<uint32_t>(chip.GetCoreNumAic(), tiling->m / 64 * (tiling->n / 64)));
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(BlockProduct).Tiling(TileBlockProduct);
} // namespace optiling

namespace ops {
static ge::graphStatus ShapeOfBlockProduct(gert::InferShapeContext *context) {
  *context->GetOutputShape(0) = {context->GetInputShape(0)->GetDim(0), context->GetInputShape(1)->GetDim(1)};
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(BlockProduct).InferShape(ShapeOfBlockProduct);

class BlockProduct : public OpDef {
public:
  explicit BlockProduct(const char *name) : OpDef(name) {
    this->Input("a").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Input("b").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("c").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->AICore().AddConfig("ascend910b");
  }
};
OP_ADD(BlockProduct);
} // namespace ops
