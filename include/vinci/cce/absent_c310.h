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
