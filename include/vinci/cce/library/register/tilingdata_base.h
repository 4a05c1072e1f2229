// SPDX-License-Identifier: Apache-2.0
// Tiling structures of a library, as plain structures for device code. The library's own headers
// describe them with these macros.
#ifndef VINCI_CCE_LIBRARY_TILINGDATA_BASE_H
#define VINCI_CCE_LIBRARY_TILINGDATA_BASE_H

#include <cstdint>

#define BEGIN_TILING_DATA_DEF(name) struct name {
#define TILING_DATA_FIELD_DEF(type, name) type name = {}
#define TILING_DATA_FIELD_DEF_ARR(type, count, name) type name[count] = {}
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name = {}
#define END_TILING_DATA_DEF }
#define REGISTER_TILING_DATA_CLASS(...)

#endif
