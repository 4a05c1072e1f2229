// SPDX-License-Identifier: Apache-2.0
// y = x / sqrt(mean(x * x) + eps) along the last extent; scale = 1 / that root. All host code in one file.
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "parts.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(RowNormTilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, columns);
TILING_DATA_FIELD_DEF(float, eps);
END_TILING_DATA_DEF;
BEGIN_TILING_DATA_DEF(RowNormPartsTilingData)
TILING_DATA_FIELD_DEF(uint32_t, rows);
TILING_DATA_FIELD_DEF(uint32_t, columns);
TILING_DATA_FIELD_DEF(uint32_t, part);
TILING_DATA_FIELD_DEF(float, eps);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(RowNorm, RowNormTilingData)
REGISTER_TILING_DATA_CLASS(RowNorm_2, RowNormPartsTilingData)

template <typename T> static void Save(gert::TilingContext *context, T &data, uint32_t rows, uint32_t columns) {
  data.set_rows(rows);
  data.set_columns(columns);
  data.set_eps(*context->GetAttrs()->GetFloat(0));
  data.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
  context->GetRawTilingData()->SetDataSize(data.GetDataSize());
}

static ge::graphStatus TileRowNorm(gert::TilingContext *context) {
  auto *chip = context->GetCompileInfo<ChipInfo>();
  const gert::Shape &shape = context->GetInputShape(0)->GetStorageShape();
  int64_t columns = shape.GetDim(shape.GetDimNum() - 1), rows = shape.GetShapeSize() / columns;
  OP_CHECK_IF(columns % 64 != 0, OP_LOGE_FOR_INVALID_SHAPE_WITH_REASON(context->GetNodeName(), "x", columns,
              "the last extent is not a multiple of 64"), return ge::GRAPH_FAILED);
  if (columns * 8 < (int64_t)chip->buffer) {
    RowNormTilingData data;
    context->SetTilingKey(1);
    Save(context, data, rows, columns);
  } else {
    RowNormPartsTilingData data;
    data.set_part(8192);
    context->SetTilingKey(2);
    Save(context, data, rows, columns);
  }
  context->SetBlockDim(std::min<int64_t>(rows, chip->cores));
  context->GetWorkspaceSizes(1)[0] = 32;
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(RowNorm).Tiling(TileRowNorm).TilingParse<ChipInfo>(ReadChip);

static ge::graphStatus ShapeOfRowNorm(gert::InferShapeContext *context) {
  gert::Shape shape = *context->GetInputShape(0);
  *context->GetOutputShape(0) = shape;
  shape[shape.GetDimNum() - 1] = 8;
  *context->GetOutputShape(1) = shape;
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(RowNorm).InferShape(ShapeOfRowNorm);
} // namespace optiling

namespace ops {
class RowNorm : public OpDef {
public:
  explicit RowNorm(const char *name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Output("scale").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Attr("eps").AttrType(OPTIONAL).Float(1e-6);
    OpAICoreConfig config;
    config.DynamicShapeSupportFlag(true).ExtendCfgInfo("opFile.value", "row_norm_rows");
    this->AICore().AddConfig("ascend910b", config);
    this->AICore().AddConfig("ascend950");
  }
};
OP_ADD(RowNorm);
} // namespace ops
