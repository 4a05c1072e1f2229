// SPDX-License-Identifier: Apache-2.0
#ifndef ABS_TILING_DATA_H
#define ABS_TILING_DATA_H
#include <cstdint>
struct AbsTilingData {
  uint64_t total, each;
};
#endif
