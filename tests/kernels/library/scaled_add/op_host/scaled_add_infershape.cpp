// SPDX-License-Identifier: Apache-2.0
#include "register/op_impl_registry.h"

namespace ops {
static ge::graphStatus ShapeOfScaledAdd(gert::InferShapeContext *context) {
  *context->GetOutputShape(0) = *context->GetInputShape(0);
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(ScaledAdd).InferShape(ShapeOfScaledAdd);
} // namespace ops
