// SPDX-License-Identifier: Apache-2.0
// A header of the library by its place in an installed package.
#include "vinci/library/template.h"
