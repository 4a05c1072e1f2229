// SPDX-License-Identifier: Apache-2.0
// All that a kernel may use. `vinci cc` includes this header before the first line of a source.
#ifndef VINCI_CCE_KERNEL_H
#define VINCI_CCE_KERNEL_H

#include <cstdio>

#include "vinci/cce/absent.h"
#include "vinci/cce/control.h"
#include "vinci/cce/cube.h"
#include "vinci/cce/debug.h"
#include "vinci/cce/forms.h"
#include "vinci/cce/launch.h"
#include "vinci/cce/leave.h"
#include "vinci/cce/load.h"
#include "vinci/cce/scalar.h"
#include "vinci/cce/transfer.h"
#include "vinci/cce/variable.h"
#include "vinci/cce/vector.h"
#if __NPU_ARCH__ == 3510
#include "vinci/cce/types_c310.h"
#include "vinci/cce/threads_c310.h"
#include "vinci/cce/conversions_c310.h"
#include "vinci/cce/cube_c310.h"
#include "vinci/cce/register_carry.h"
#include "vinci/cce/register_compute.h"
#include "vinci/cce/register_index.h"
#include "vinci/cce/register_memory.h"
#include "vinci/cce/register_squeeze.h"
#include "vinci/cce/transfer_c310.h"
#include "vinci/cce/absent_c310.h"
#endif

extern "C" {
inline const struct vinci_cce_host *vinci_cce_host = nullptr;
// Instructions that the host has executed of this code: `vinci cc` adds to each block what makes this grow. Hidden,
// so that the code reaches this variable without a table.
__attribute__((visibility("hidden"), used)) inline volatile uint64_t vinci_cce_count = 0;
__attribute__((visibility("default"), used)) inline volatile uint64_t *vinci_cce_counter = &vinci_cce_count;
// The blocks of this code; the linker names the ends of their section. Weak: there may be none.
extern __attribute__((visibility("hidden"), weak)) struct vinci_cce_block __start_vinci_blocks[];
extern __attribute__((visibility("hidden"), weak)) struct vinci_cce_block __stop_vinci_blocks[];
__attribute__((visibility("default"), used)) inline struct vinci_cce_block *vinci_cce_blocks[2] = {
    __start_vinci_blocks, __stop_vinci_blocks};
// Accesses of scalar code to device memory and UB (kernels/compile/access.c). The simulator gives the range.
__attribute__((visibility("hidden"), used)) inline struct vinci_cce_watch vinci_cce_watch = {};
__attribute__((visibility("default"), used)) inline struct vinci_cce_watch *vinci_cce_watched = &vinci_cce_watch;
// The same, of code that can tell of each access.
__attribute__((visibility("default"), used)) inline struct vinci_cce_watch *vinci_cce_told = &vinci_cce_watch;
}

#endif
