// SPDX-License-Identifier: Apache-2.0
// What `vinci cc` includes behind the last line of a source: what a compiler of the chip adds to kernels.
#ifndef VINCI_CCE_END_H
#define VINCI_CCE_END_H

// A mixed kernel that hands matrix products to its AIC by messages: the AIC empties the messages and signals
// that, before the kernel begins.
#if defined(REGIST_MATMUL_OBJ) && defined(__DAV_C220_CUBE__)
extern "C" __attribute__((visibility("default"), used, weak)) void vinci_cce_prepare() {
  AscendC::clearWorkspace(__get_kfc_workspace_addr());
}
#endif

#endif
