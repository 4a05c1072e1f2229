// SPDX-License-Identifier: Apache-2.0
// Intrinsics of dav-c310 without a model, as absent.h has those of all architectures.
#ifndef VINCI_CCE_ABSENT_C310_H
#define VINCI_CCE_ABSENT_C310_H

#include "vinci/cce/absent.h"
#include "vinci/cce/control.h"
#include "vinci/cce/register_types.h"
#include "vinci/cce/transfer.h"
#include "vinci/cce/types_c310.h"

// ---- register instructions: numbers of 4 bits, indices of another width, address registers ----

VINCI_CCE_ABSENT(vcvt_f162s4)
VINCI_CCE_ABSENT(vcvt_s162s4)
VINCI_CCE_ABSENT(vcvt_s42f16)
VINCI_CCE_ABSENT(vcvt_s42s16)
VINCI_CCE_ABSENT(vgather2_bc)
VINCI_CCE_ABSENT(vlda)
VINCI_CCE_ABSENT(vldu)
VINCI_CCE_ABSENT(vsta)
VINCI_CCE_ABSENT(ldva)
VINCI_CCE_ABSENT(movvp)
VINCI_CCE_INLINE vector_bool movp_b16() {
  vinci_cce::trap("movp_b16 is not modelled");
  return {};
}
VINCI_CCE_INLINE vector_bool movp_b32() {
  vinci_cce::trap("movp_b32 is not modelled");
  return {};
}

// ---- what the C interface of the open headers names beside ----

static constexpr std::integral_constant<int, -1> ROUND_H{}; // of hifloat8
VINCI_CCE_ABSENT(copy_gm_to_cbuf_v2)
VINCI_CCE_ABSENT(copy_matrix_cc_to_cbuf_s4)
VINCI_CCE_ABSENT(copy_matrix_cc_to_gm_s4)
VINCI_CCE_ABSENT(copy_matrix_cc_to_ub_s4)
VINCI_CCE_ABSENT(dci)
VINCI_CCE_ABSENT(load_gm_to_cbuf_2dv2_s4)
VINCI_CCE_ABSENT(set_l3d_rpt_b)
VINCI_CCE_ABSENT(set_loop1_stride_outtol1)
VINCI_CCE_ABSENT(set_loop2_stride_outtol1)
VINCI_CCE_ABSENT(set_loop_size_outtol1)
VINCI_CCE_ABSENT(set_pad_val_outtol1)
VINCI_CCE_ABSENT(set_pad_val_outtoub)
VINCI_CCE_ABSENT(set_padding_b)
VINCI_CCE_ABSENT(set_quant_post)
VINCI_CCE_ABSENT(set_relu_alpha)
VINCI_CCE_ABSENT(vcvt_s42bf16)
VINCI_CCE_ABSENT(vmulscvt)
VINCI_CCE_ABSENT(vstu)

// Intrinsics with a model, of types without one: OTHER_TYPES takes any operands that nothing else takes. OTHER_REGISTERS takes
// registers without a model alone: classes convert their registers at a call, where a form for any would be as good as the right form.
namespace vinci_cce {
template <typename type> constexpr bool is_other = false;
template <> constexpr bool is_other<vector_f8e4m3> = true;
template <> constexpr bool is_other<vector_f8e5m2> = true;
template <> constexpr bool is_other<vector_hif8> = true;
template <> constexpr bool is_other<vector_f8e8m0> = true;
template <> constexpr bool is_other<vector_f4e2m1x2> = true;
template <> constexpr bool is_other<vector_f4e1m2x2> = true;
template <> constexpr bool is_other<vector_s4x2> = true;
template <typename... types>
using for_others = std::enable_if_t<(is_other<std::remove_cv_t<std::remove_reference_t<types>>> || ...), int>;
// Of any type. A form with a model is taken before, since a conversion by a constructor is the last choice of all.
struct anything {
  anything() = default;
  template <typename type> anything(const type &) {}
};
} // namespace vinci_cce
#define VINCI_CCE_OTHER_REGISTERS(name)                                                                \
  template <typename... types, vinci_cce::for_others<types...> = 0> VINCI_CCE_INLINE void name(types &&...) { \
    vinci_cce::trap(#name " of registers of these types is not modelled");                             \
  }
#define VINCI_CCE_OTHER_TYPES(name)                                                                 \
  VINCI_CCE_INLINE void name(                                                                          \
      vinci_cce::anything, vinci_cce::anything, vinci_cce::anything = {}, vinci_cce::anything = {},    \
      vinci_cce::anything = {}, vinci_cce::anything = {}, vinci_cce::anything = {}, vinci_cce::anything = {}, \
      vinci_cce::anything = {}, vinci_cce::anything = {}, vinci_cce::anything = {}, vinci_cce::anything = {}, \
      vinci_cce::anything = {}, vinci_cce::anything = {}, vinci_cce::anything = {}, vinci_cce::anything = {}, \
      vinci_cce::anything = {}, vinci_cce::anything = {}, vinci_cce::anything = {}, vinci_cce::anything = {}) { \
    vinci_cce::trap(#name " of operands of these types is not modelled");                              \
  }
VINCI_CCE_OTHER_TYPES(img2colv2_cbuf_to_ca)
VINCI_CCE_OTHER_TYPES(img2colv2_cbuf_to_cb)
VINCI_CCE_OTHER_TYPES(load_cbuf_to_cb_transpose)
VINCI_CCE_OTHER_TYPES(load_cbuf_to_cb_transpose_s4)
VINCI_CCE_OTHER_TYPES(mad)
VINCI_CCE_OTHER_TYPES(vand)
VINCI_CCE_OTHER_TYPES(vbr)
VINCI_CCE_OTHER_TYPES(vcvt)
VINCI_CCE_OTHER_REGISTERS(vdintlv)
VINCI_CCE_OTHER_TYPES(vdup)
VINCI_CCE_OTHER_TYPES(vexpdif)
VINCI_CCE_OTHER_TYPES(vgather2)
VINCI_CCE_OTHER_TYPES(vgatherb)
VINCI_CCE_OTHER_REGISTERS(vintlv)
VINCI_CCE_OTHER_TYPES(vld)
VINCI_CCE_OTHER_TYPES(vldas)
VINCI_CCE_OTHER_TYPES(vlds)
VINCI_CCE_OTHER_TYPES(vldus)
VINCI_CCE_OTHER_REGISTERS(vpack)
VINCI_CCE_OTHER_TYPES(vsel)
VINCI_CCE_OTHER_REGISTERS(vselr)
VINCI_CCE_OTHER_TYPES(vsldb)
VINCI_CCE_OTHER_TYPES(vsqz)
VINCI_CCE_OTHER_TYPES(vsstb)
VINCI_CCE_OTHER_TYPES(vst)
VINCI_CCE_OTHER_TYPES(vstas)
VINCI_CCE_OTHER_TYPES(vsts)
VINCI_CCE_OTHER_TYPES(vstur)
VINCI_CCE_OTHER_TYPES(vstus)
VINCI_CCE_OTHER_TYPES(vusqz)
#undef VINCI_CCE_OTHER_TYPES
#undef VINCI_CCE_OTHER_REGISTERS

// ---- signals between the cores of a block, and on a pipe ----

VINCI_CCE_INLINE void wait_flag_dev(pipe_t pipe, int64_t id) {
  VINCI_CCE("wait_flag_dev", "id pipe:pipe", id, (int64_t)pipe);
}
VINCI_CCE_INLINE void set_intra_block(pipe_t pipe, int64_t id) {
  VINCI_CCE("ffts_cross_core_sync", "pipe:pipe id mode=4", (int64_t)pipe, id);
}
VINCI_CCE_INLINE void wait_intra_block(pipe_t pipe, int64_t id) {
  VINCI_CCE("wait_flag_dev", "id pipe:pipe mode=4", id, (int64_t)pipe);
}

// Scalar code in a vector function.
namespace __cce_scalar {
VINCI_CCE_INLINE void copy_ubuf_to_ubuf(__ubuf__ void *dst, __ubuf__ void *src, int64_t n_burst, int64_t len_burst,
                                        int64_t src_gap, int64_t dst_gap) {
  ::copy_ubuf_to_ubuf(dst, src, 0, n_burst, len_burst, src_gap, dst_gap);
}
} // namespace __cce_scalar

#endif
