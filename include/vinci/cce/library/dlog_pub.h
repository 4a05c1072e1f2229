// SPDX-License-Identifier: Apache-2.0
// Messages of host code of a library; platform.cpp prints those that are errors.
#ifndef VINCI_CCE_LIBRARY_DLOG_PUB_H
#define VINCI_CCE_LIBRARY_DLOG_PUB_H

#include <cstdint>

enum { DLOG_DEBUG, DLOG_INFO, DLOG_WARN, DLOG_ERROR };
enum { ASCENDCKERNEL = 0, DEBUG_LOG_MASK = 0x10000 };

#endif
