// SPDX-License-Identifier: Apache-2.0
// Tests of a tiling in both ways in which libraries write them. `vinci library check` takes their calls.
#include <gtest/gtest.h>
#include "kernel_run_context_facker.h"
#include "tiling_case_executor.h"

class ListShareTiling : public testing::Test {
protected:
  static void SetUpTestCase() { std::cout << "set up" << std::endl; }
};

TEST_F(ListShareTiling, refused) {
  gert::TilingContextPara para("ListShare", {{{{7}, {7}}, ge::DT_FLOAT, ge::FORMAT_ND}},
                               {{{{7}, {7}}, ge::DT_FLOAT, ge::FORMAT_ND}});
  ExecuteTestCase(para, ge::GRAPH_FAILED);
}

TEST_F(ListShareTiling, two_tensors) {
  gert::TilingContextPara para(
      "ListShare", {{{{24, 8}, {24, 8}}, ge::DT_FLOAT, ge::FORMAT_ND}, {{{16}, {16}}, ge::DT_FLOAT, ge::FORMAT_ND}},
      {{{{24, 8}, {24, 8}}, ge::DT_FLOAT, ge::FORMAT_ND}, {{{16}, {16}}, ge::DT_FLOAT, ge::FORMAT_ND}},
      {{"factor", Ops::NN::AnyValue::CreateFrom<float>(2.5f)}});
  ExecuteTestCase(para, ge::GRAPH_SUCCESS, 0, "");
}

TEST_F(ListShareTiling, step_by_step) {
  gert::StorageShape shape = {{8, 40}, {8, 40}};
  auto param = gert::TilingData::CreateCap(4096);
  ASSERT_NE(param, nullptr) << "room";
  auto tiling_func = gert::OpImplRegistry::GetInstance().GetOpImpl("ListShare")->tiling;
  auto holder = gert::TilingContextFaker()
                    .NodeIoNum(1, 1)
                    .IrInstanceNum({1})
                    .InputShapes({&shape})
                    .OutputShapes({&shape})
                    .NodeInputTd(0, ge::DT_FLOAT, ge::FORMAT_ND, ge::FORMAT_ND)
                    .NodeOutputTd(0, ge::DT_FLOAT, ge::FORMAT_ND, ge::FORMAT_ND)
                    .NodeAttrs({{"factor", Ops::NN::AnyValue::CreateFrom<float>(0.5)}})
                    .TilingData(param.get())
                    .Build();
  gert::TilingContext *context = holder.GetContext<gert::TilingContext>();
  EXPECT_EQ(tiling_func(context), ge::GRAPH_SUCCESS);
  ASSERT_EQ(context->GetTilingKey(), 0);
}
