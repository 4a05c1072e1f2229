/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory between closed pages: scalar code of compiled kernels works on memory of this process, and
 * what leaves its memory by mistake shall meet a fault, not other data of vinci.
 */
#ifndef VINCI_CORE_MACHINE_GUARDED_H
#define VINCI_CORE_MACHINE_GUARDED_H

#include <stddef.h>
#include <stdint.h>

/* Zeros, from an address that is a multiple of GUARDED_ALIGNMENT; behind the last of them, rounded
 * up to such a multiple, a closed page begins. NULL: out of memory. */
enum { GUARDED_ALIGNMENT = 512 };
uint8_t *guarded_new(size_t bytes);
void guarded_free(uint8_t *memory, size_t bytes);

#endif
