// SPDX-License-Identifier: Apache-2.0
// y = x * factor / sum(x), for each tensor of a list. Tiling and shapes are those of list_common.
#include "register/op_def_registry.h"

namespace ops {
class ListShare : public OpDef {
public:
  explicit ListShare(const char *name) : OpDef(name) {
    this->Input("x").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Output("y").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Attr("factor").AttrType(OPTIONAL).Float(1.0);
    this->AICore().AddConfig("ascend910b");
  }
};
OP_ADD(ListShare);
} // namespace ops
