// SPDX-License-Identifier: Apache-2.0
// What the build of a library generates: its tiling structures, here from the library's own headers,
// as far as they are there.
#ifndef VINCI_CCE_LIBRARY_KERNEL_TILING_H
#define VINCI_CCE_LIBRARY_KERNEL_TILING_H

#include "register/tilingdata_base.h"

#if __has_include("activation/softmax_tilingdata.h")
#include "activation/softmax_tilingdata.h"
#endif
#if __has_include("activation/logsoftmax_tilingdata.h")
#include "activation/logsoftmax_tilingdata.h"
#endif
#if __has_include("matmul/matmul_tilingdata.h")
#include "matmul/matmul_tilingdata.h"
#endif
#if __has_include("normalization/batchnorm_tilingdata.h")
#include "normalization/batchnorm_tilingdata.h"
#endif
#if __has_include("normalization/deepnorm_tilingdata.h")
#include "normalization/deepnorm_tilingdata.h"
#endif
#if __has_include("normalization/groupnorm_tilingdata.h")
#include "normalization/groupnorm_tilingdata.h"
#endif
#if __has_include("normalization/layernorm_tilingdata.h")
#include "normalization/layernorm_tilingdata.h"
#endif
#if __has_include("normalization/layernorm_grad_tilingdata.h")
#include "normalization/layernorm_grad_tilingdata.h"
#endif
#if __has_include("normalization/layernorm_grad_beta_tilingdata.h")
#include "normalization/layernorm_grad_beta_tilingdata.h"
#endif
#if __has_include("normalization/rmsnorm_tilingdata.h")
#include "normalization/rmsnorm_tilingdata.h"
#endif
#if __has_include("pad/pad_tilingdata.h")
#include "pad/pad_tilingdata.h"
#endif
#if __has_include("sort/topk_tilingdata.h")
#include "sort/topk_tilingdata.h"
#endif
#if __has_include("transpose/confusion_transpose_tilingdata.h")
#include "transpose/confusion_transpose_tilingdata.h"
#endif

namespace AscendC {
namespace tiling {}
} // namespace AscendC
using namespace AscendC::tiling;

#endif
