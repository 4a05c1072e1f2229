/* SPDX-License-Identifier: Apache-2.0 */
/* An access of scalar code that is not aligned as the source promises: ACCESS_SPACE holds, above
 * the space, the power of two that the address should be a multiple of. */
#ifndef VINCI_CORE_ISA_ALIGNED_H
#define VINCI_CORE_ISA_ALIGNED_H

enum { ACCESS_ALIGNMENT_SHIFT = 8, ACCESS_SPACES = (1 << ACCESS_ALIGNMENT_SHIFT) - 1 };

#endif
