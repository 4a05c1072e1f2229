// SPDX-License-Identifier: Apache-2.0
// y = alpha * x + b, elementwise.
#include "register/op_def_registry.h"

namespace ops {
class ScaledAdd : public OpDef {
public:
  explicit ScaledAdd(const char *name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Input("b").ParamType(OPTIONAL).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Attr("alpha").AttrType(OPTIONAL).Float(1.0);
    this->AICore().AddConfig("ascend910b");
  }
};
OP_ADD(ScaledAdd);
} // namespace ops
