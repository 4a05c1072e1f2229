// SPDX-License-Identifier: Apache-2.0
// Host code of the 950: refuses a chip that does not answer as one.
#include "../../op_kernel/arch35/abs_tiling_data.h"
#include "op_host/tiling_base_util.h"
#include "register/op_impl_registry.h"
#include "securec.h"
#include "tiling/platform/platform_ascendc.h"
#include "util/platform_util.h"

namespace optiling {
struct AbsChip {};
static ge::graphStatus ReadAbsChip(gert::TilingParseContext *) { return ge::GRAPH_SUCCESS; }

static ge::graphStatus TileAbs(gert::TilingContext *context) {
  OP_CHECK_IF(!Ops::Base::IsRegbaseSocVersion(context) || Ops::Base::GetVRegSize(context) != 256 ||
                  Ops::Base::GetCacheLineSize(context) != 256,
              OP_LOGE(context, "the chip has no registers"), return ge::GRAPH_FAILED);
  const gert::Shape &shape = Ops::Base::EnsureNotScalar(context->GetInputShape(0)->GetStorageShape());
  auto *data = context->GetTilingData<AbsTilingData>();
  char name[5] = "a", *const end = name + 1;
  OP_CHECK_IF(strcat_s(name, sizeof name, "bs") != 0 || strcmp(end, "bs") != 0 || strcat_s(name, sizeof name, "xy") == 0,
              OP_LOGE(context, "texts do not end where their room does"), return ge::GRAPH_FAILED);
  const map<string, vector<uint64_t>> keys = {make_pair(string("abs"), vector<uint64_t>{1})};
  uint64_t total = (uint64_t)shape.GetShapeSize(), cores = Ops::Base::GetAivCoreNum(context);
  data->total = total;
  data->each = (total + cores * 64 - 1) / (cores * 64) * 64;
  context->SetBlockDim((uint32_t)((total + data->each - 1) / data->each));
  context->SetTilingKey(keys.at(name)[0]);
  context->GetWorkspaceSizes(1)[0] = 32;
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(Abs).Tiling(TileAbs).TilingParse<AbsChip>(ReadAbsChip);

static ge::graphStatus ShapeOfAbs(gert::InferShapeContext *context) {
  return Ops::Base::InferShape4Elewise(context);
}
IMPL_OP_INFERSHAPE(Abs).InferShape(ShapeOfAbs);
} // namespace optiling
