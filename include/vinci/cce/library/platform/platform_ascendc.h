// SPDX-License-Identifier: Apache-2.0
// The name under which installed toolkits have this header.
#include "tiling/platform/platform_ascendc.h"
