// SPDX-License-Identifier: Apache-2.0
// Intrinsics of dav-c310 without a model, as absent.h has those of all architectures.
#ifndef VINCI_CCE_ABSENT_C310_H
#define VINCI_CCE_ABSENT_C310_H

#include "vinci/cce/absent.h"
#include "vinci/cce/control.h"
#include "vinci/cce/register_types.h"
#include "vinci/cce/transfer.h"
#include "vinci/cce/types_c310.h"

// ---- register instructions: numbers of 4 and 64 bits, carries, gathers, masks in UB, histograms ----

VINCI_CCE_ABSENT(vcvt_f162s4)
VINCI_CCE_ABSENT(vcvt_s162s4)
VINCI_CCE_ABSENT(vcvt_s42f16)
VINCI_CCE_ABSENT(vcvt_s42s16)
VINCI_CCE_ABSENT(vmull)
VINCI_CCE_ABSENT(vaddc)
VINCI_CCE_ABSENT(vaddcs)
VINCI_CCE_ABSENT(vsubc)
VINCI_CCE_ABSENT(vsubcs)
VINCI_CCE_ABSENT(vgather2)
VINCI_CCE_ABSENT(vscatter)
VINCI_CCE_ABSENT(vlda)
VINCI_CCE_ABSENT(vldu)
VINCI_CCE_ABSENT(vsta)
VINCI_CCE_ABSENT(vstar)
VINCI_CCE_ABSENT(vstur)
VINCI_CCE_ABSENT(ldva)
VINCI_CCE_ABSENT(plds)
VINCI_CCE_ABSENT(psts)
VINCI_CCE_ABSENT(pstu)
VINCI_CCE_ABSENT(movvp)
VINCI_CCE_ABSENT(dhistv2)
VINCI_CCE_ABSENT(chistv2)
// The register that counts squeezed numbers.
VINCI_CCE_ABSENT(get_ar)
VINCI_CCE_ABSENT(sprclr)
VINCI_CCE_INLINE vector_bool movp_b16() {
  vinci_cce::trap("movp_b16 is not modelled");
  return {};
}
VINCI_CCE_INLINE vector_bool movp_b32() {
  vinci_cce::trap("movp_b32 is not modelled");
  return {};
}

// Forms of operations that there are for other types.
#define VINCI_CCE_ABSENT_FORM(name, text, ...)                                                         \
  template <typename... arguments> VINCI_CCE_INLINE void name(__VA_ARGS__, const arguments &...) {     \
    vinci_cce::trap(#name text " is not modelled");                                                    \
  }
VINCI_CCE_ABSENT_FORM(vdiv, " of integers", vector_s16 &)
VINCI_CCE_ABSENT_FORM(vdiv, " of integers", vector_u16 &)
VINCI_CCE_ABSENT_FORM(vdiv, " of integers", vector_s32 &)
VINCI_CCE_ABSENT_FORM(vdiv, " of integers", vector_u32 &)
VINCI_CCE_ABSENT_FORM(vcvt, " of 64 bits", vector_s64 &)
VINCI_CCE_ABSENT_FORM(vcvt, " of 64 bits", vector_f32 &, const vector_s64 &)
VINCI_CCE_ABSENT_FORM(vcvt, " of 64 bits", vector_s32 &, const vector_s64 &)
VINCI_CCE_ABSENT_FORM(vldus, " of 64 bits", vector_s64 &)
#undef VINCI_CCE_ABSENT_FORM

// ---- copies: into L1, of several dimensions, of scales ----

VINCI_CCE_ABSENT(copy_gm_to_cbuf_align_v2)
VINCI_CCE_ABSENT(copy_gm_to_cbuf_multi_nd2nz)
VINCI_CCE_ABSENT(set_mte2_nz_para)
VINCI_CCE_ABSENT(set_mte2_src_para)
VINCI_CCE_ABSENT(set_channel_para)
VINCI_CCE_ABSENT(set_loop3_para)
VINCI_CCE_ABSENT(nd_dma_dci)
VINCI_CCE_ABSENT(set_pad_cnt_nddma)
VINCI_CCE_ABSENT(set_pad_val_nddma)
VINCI_CCE_ABSENT(set_loop0_stride_nddma)
VINCI_CCE_ABSENT(set_loop1_stride_nddma)
VINCI_CCE_ABSENT(set_loop2_stride_nddma)
VINCI_CCE_ABSENT(set_loop3_stride_nddma)
VINCI_CCE_ABSENT(set_loop4_stride_nddma)
VINCI_CCE_ABSENT(load_cbuf_to_ca_mx)
VINCI_CCE_ABSENT(load_cbuf_to_cb_mx)

// ---- signals between the cores of a block, and on a pipe ----

VINCI_CCE_ABSENT(set_intra_block)
VINCI_CCE_ABSENT(wait_intra_block)
VINCI_CCE_INLINE void wait_flag_dev(pipe_t pipe, int64_t id) {
  if (pipe != PIPE_S)
    vinci_cce::trap("wait_flag_dev on a pipe is not modelled");
  wait_flag_dev(id);
}

// Scalar code in a vector function.
namespace __cce_scalar {
VINCI_CCE_INLINE void copy_ubuf_to_ubuf(__ubuf__ void *dst, __ubuf__ void *src, int64_t n_burst, int64_t len_burst,
                                        int64_t src_gap, int64_t dst_gap) {
  ::copy_ubuf_to_ubuf(dst, src, 0, n_burst, len_burst, src_gap, dst_gap);
}
} // namespace __cce_scalar

// ---- functions of threads, and what prints from them ----

VINCI_CCE_ABSENT(__clz)
VINCI_CCE_ABSENT(__popc)
VINCI_CCE_ABSENT(__ffs)
VINCI_CCE_ABSENT(__brev)
VINCI_CCE_ABSENT(__byte_perm)
VINCI_CCE_ABSENT(__mulhi)
VINCI_CCE_ABSENT(__umulhi)
VINCI_CCE_ABSENT(__isfinite)
VINCI_CCE_ABSENT(__threadfence)
VINCI_CCE_ABSENT(__sync_workitems)
VINCI_CCE_ABSENT(__activemask)
VINCI_CCE_ABSENT(__ballot)
VINCI_CCE_ABSENT(__any)
VINCI_CCE_ABSENT(__all)
VINCI_CCE_ABSENT(__uni)
VINCI_CCE_ABSENT(__shfl)
VINCI_CCE_ABSENT(__reduce_max)
VINCI_CCE_ABSENT(__cce_simt_get_CLOCK64)
VINCI_CCE_ABSENT(lanemask_lt)
VINCI_CCE_ABSENT(laneid)
VINCI_CCE_ABSENT(atomicAdd)
VINCI_CCE_ABSENT(atomicExch)
VINCI_CCE_ABSENT(get_shmem_sz)
VINCI_CCE_ABSENT(init_printf_ubuf_addr_aicore)
VINCI_CCE_ABSENT(asc_vf_debug_ub2gm)
VINCI_CCE_ABSENT(asc_debug_get_block_idx)
template <LD_L2CacheType l2, L1CacheType l1, typename number> VINCI_CCE_INLINE number __ldg(const number *) {
  vinci_cce::trap("__ldg is not modelled");
  return {};
}
template <ROUND round, RoundingSaturation saturation, typename number> half2 __cvt_half2(number) {
  vinci_cce::trap("__cvt_half2 is not modelled");
  return {};
}
VINCI_CCE_INLINE half2 __exp(half2) {
  vinci_cce::trap("__exp of two numbers is not modelled");
  return {};
}
VINCI_CCE_INLINE half2 __log(half2) {
  vinci_cce::trap("__log of two numbers is not modelled");
  return {};
}

#endif
