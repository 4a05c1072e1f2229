// SPDX-License-Identifier: Apache-2.0
// What `vinci cc` includes behind the last line of a source: what a compiler of the chip adds to kernels.
#ifndef VINCI_CCE_END_H
#define VINCI_CCE_END_H

// A mixed kernel that hands matrix products to its AIC by messages: the AIC empties the messages and signals
// that, before the kernel begins.
#if defined(REGIST_MATMUL_OBJ) && defined(__DAV_CUBE__)
extern "C" __attribute__((visibility("default"), used, weak)) void vinci_cce_prepare() {
  AscendC::clearWorkspace(__get_kfc_workspace_addr());
}
#endif

// A hint that keeps data out of L2 adds an offset to their address, which a driver chooses.
#if defined(L2_CACHE_HINT) && defined(ASCENDC_MODULE_UTILS_MACROS_H) && __NPU_ARCH__ == 2201
namespace vinci_cce {
static const uint64_t cache_offset = g_opL2CacheHintCfg.l2Cacheoffset = VINCI_CCE_PASSES_L2;
} // namespace vinci_cce
#endif

// The library asks whether a driver has given it a buffer before it dumps (debug.h). This one has no marks of a
// driver, so that nothing is written there.
#ifdef IMPL_UTILS_DEBUG_ASC_DEBUG_UTILS_H
namespace vinci_cce {
alignas(64) static uint8_t no_buffer[4096];
static const bool has_buffer = (g_sysPrintFifoSpace = no_buffer) != nullptr;
} // namespace vinci_cce
#endif

#endif
