// SPDX-License-Identifier: Apache-2.0
// y = |x|, for the 950 alone. A function of C has the name of the kernel, too.
#include "register/op_def_registry.h"

namespace ops {
class Abs : public OpDef {
public:
  explicit Abs(const char *name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
    OpAICoreConfig config;
    config.ExtendCfgInfo("opFile.value", "abs_apt");
    this->AICore().AddConfig("ascend950", config);
  }
};
OP_ADD(Abs);
} // namespace ops
