// SPDX-License-Identifier: Apache-2.0
#ifndef VINCI_CCE_LIBRARY_TYPES_H
#define VINCI_CCE_LIBRARY_TYPES_H

#include "graph/tensor.h"

#endif
