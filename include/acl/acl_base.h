// SPDX-License-Identifier: Apache-2.0
// A part of AscendCL, which lies in one header here.
#ifndef VINCI_ACL_BASE_H
#define VINCI_ACL_BASE_H

#include "acl/acl.h"

#endif
