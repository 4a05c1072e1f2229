// SPDX-License-Identifier: Apache-2.0
// What host code of an operator library is compiled with: it is read before the code, whose own includes of headers
// that are not there then add nothing.
#ifndef VINCI_LIBRARY_HOST_H
#define VINCI_LIBRARY_HOST_H

// Headers of Ascend C for groups of chips are not read: their tiling data are in two namespaces at once.
#define LIB_HCCL_HCCL_TILING_H
#include "securec.h"
#include "vinci/library/registry.h"

#include "vinci/library/data.h"
#include "vinci/library/definition.h"
#include "vinci/library/template.h"
#include "vinci/library/util.h"

using std::string; // as headers that are left out have it

#endif
