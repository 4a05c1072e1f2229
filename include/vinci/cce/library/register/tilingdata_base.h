// SPDX-License-Identifier: Apache-2.0
// Tiling structures of a library. Its own headers describe them with these macros, in namespace optiling.
// Host code fills them by set_NAME() and copies them out by SaveToBuffer(); device code reads their members.
// Both are one structure here, so that what one writes the other reads. For structures of the library itself,
// AscendC::tiling::NAME is a type of its own with the same members, because functions are overloaded for both.
#ifndef VINCI_CCE_LIBRARY_TILINGDATA_BASE_H
#define VINCI_CCE_LIBRARY_TILINGDATA_BASE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace vinci_tiling {

template <typename data> struct plain : data {};

} // namespace vinci_tiling

// What host code can do with all structures. No base class has it, as code fills structures by lists of values.
#define VINCI_TILING_FUNCTIONS(name)                                                                   \
  void SaveToBuffer(void *buffer, size_t size) const {                                                 \
    memcpy(buffer, this, size < sizeof(name) ? size : sizeof(name));                                   \
  }                                                                                                    \
  size_t GetDataSize() const { return sizeof(name); }

#define BEGIN_TILING_DATA_DEF(name)                                                                    \
  struct name;                                                                                         \
  }                                                                                                    \
  namespace AscendC {                                                                                  \
  namespace tiling {                                                                                   \
  using name = vinci_tiling::plain<optiling::name>;                                                    \
  }                                                                                                    \
  }                                                                                                    \
  namespace optiling {                                                                                 \
  struct name {                                                                                        \
    VINCI_TILING_FUNCTIONS(name)
#define TILING_DATA_FIELD_DEF(type, name)                                                              \
  type name = {};                                                                                      \
  void set_##name(type value) { name = value; }                                                        \
  type get_##name() const { return name; }
#define TILING_DATA_FIELD_DEF_ARR(type, count, name)                                                   \
  type name[count] = {};                                                                               \
  void set_##name(const type *values) { memcpy(name, values, sizeof name); }                           \
  type *get_##name() { return name; }
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name = {};
#define END_TILING_DATA_DEF };
#define REGISTER_TILING_DATA_CLASS(...)

// The library's structures, as far as its headers are there.
#if __has_include("activation/logsoftmax_tilingdata.h")
#include "activation/logsoftmax_tilingdata.h"
#endif
#if __has_include("activation/softmax_tilingdata.h")
#include "activation/softmax_tilingdata.h"
#endif
#if __has_include("conv/conv3d/conv3d_tilingdata.h")
#include "conv/conv3d/conv3d_tilingdata.h"
#endif
#if __has_include("conv_backprop/conv3d_bp_filter_tilingdata.h")
#include "conv_backprop/conv3d_bp_filter_tilingdata.h"
#endif
#if __has_include("conv_backprop/conv3d_bp_input_tilingdata.h")
#include "conv_backprop/conv3d_bp_input_tilingdata.h"
#endif
#if __has_include("hccl/hccl_tilingdata.h")
#include "hccl/hccl_tilingdata.h"
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
#if __has_include("normalization/layernorm_grad_beta_tilingdata.h")
#include "normalization/layernorm_grad_beta_tilingdata.h"
#endif
#if __has_include("normalization/layernorm_grad_tilingdata.h")
#include "normalization/layernorm_grad_tilingdata.h"
#endif
#if __has_include("normalization/layernorm_tilingdata.h")
#include "normalization/layernorm_tilingdata.h"
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

// Structures of users.
#undef BEGIN_TILING_DATA_DEF
#define BEGIN_TILING_DATA_DEF(name)                                                                    \
  struct name {                                                                                        \
    VINCI_TILING_FUNCTIONS(name)

#endif
