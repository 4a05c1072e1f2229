// SPDX-License-Identifier: Apache-2.0
// Intrinsics without a model. Libraries name them; a kernel that comes to one ends with a message.
#ifndef VINCI_CCE_ABSENT_H
#define VINCI_CCE_ABSENT_H

#include "vinci/cce/issue.h"
#include "vinci/cce/types.h"

#define VINCI_CCE_ABSENT(name)                                                                         \
  template <typename... arguments> VINCI_CCE_INLINE int64_t name(arguments...) {                       \
    vinci_cce::trap(#name " is not modelled");                                                         \
    return 0;                                                                                          \
  }

VINCI_CCE_ABSENT(get_st_atomic_cfg)
VINCI_CCE_ABSENT(st_atomic)
// Flags of the memories' units.
VINCI_CCE_ABSENT(hset_flag)
VINCI_CCE_ABSENT(hwait_flag)
// int4 from GM into L0, and as a result.
VINCI_CCE_ABSENT(load_gm_to_ca_s4)
VINCI_CCE_ABSENT(load_gm_to_cb_s4)
VINCI_CCE_ABSENT(copy_matrix_cc_to_cbuf_b4)
// Fractals into L1, and L0C as a target of other memories.
VINCI_CCE_ABSENT(load_gm_to_cbuf)
VINCI_CCE_ABSENT(copy_matrix_cbuf_to_cc)
// The slope of a leaky relu in the fixpipe.
VINCI_CCE_ABSENT(set_lrelu_alpha)
VINCI_CCE_ABSENT(vreduce)
// What the system knows of a core.
VINCI_CCE_ABSENT(get_status)
VINCI_CCE_ABSENT(get_overflow_status)
VINCI_CCE_ABSENT(get_smmu_tag_ver)
VINCI_CCE_ABSENT(get_stack_phy_base)
VINCI_CCE_ABSENT(get_sys_va_base)
VINCI_CCE_ABSENT(get_thread_dim)
VINCI_CCE_ABSENT(get_thread_id)
VINCI_CCE_ABSENT(get_condition_flag)
VINCI_CCE_ABSENT(set_condition_flag)
VINCI_CCE_ABSENT(get_l2_in_main)
VINCI_CCE_ABSENT(get_l2_vaddr_base)
VINCI_CCE_ABSENT(get_lpcnt)
VINCI_CCE_ABSENT(set_lpcnt)
VINCI_CCE_ABSENT(get_para_base)
#if __NPU_ARCH__ != 3510
VINCI_CCE_ABSENT(set_pcie_rd_ctrl)
#endif
VINCI_CCE_ABSENT(fake_overflow_status_1)
// The image pre-processor.
VINCI_CCE_ABSENT(load_image_to_cbuf)
#define VINCI_CCE_AIPP(number) VINCI_CCE_ABSENT(set_aipp_spr_##number)
VINCI_CCE_AIPP(0)
VINCI_CCE_AIPP(1)
VINCI_CCE_AIPP(2)
VINCI_CCE_AIPP(3)
VINCI_CCE_AIPP(4)
VINCI_CCE_AIPP(5)
VINCI_CCE_AIPP(6)
VINCI_CCE_AIPP(7)
VINCI_CCE_AIPP(8)
VINCI_CCE_AIPP(9)
VINCI_CCE_AIPP(10)
VINCI_CCE_AIPP(11)
VINCI_CCE_AIPP(12)
VINCI_CCE_AIPP(13)
VINCI_CCE_AIPP(14)
VINCI_CCE_AIPP(15)
VINCI_CCE_AIPP(16)
VINCI_CCE_AIPP(17)
VINCI_CCE_AIPP(18)
VINCI_CCE_AIPP(19)
VINCI_CCE_AIPP(20)
VINCI_CCE_AIPP(21)
VINCI_CCE_AIPP(22)
VINCI_CCE_AIPP(23)
VINCI_CCE_AIPP(24)
VINCI_CCE_ABSENT(set_data_exp_0)
VINCI_CCE_ABSENT(set_data_exp_1)
VINCI_CCE_ABSENT(set_data_exp_2)
VINCI_CCE_ABSENT(set_data_exp_3)
VINCI_CCE_ABSENT(get_icache_prl_st)
VINCI_CCE_ABSENT(vld_va_reg)
VINCI_CCE_ABSENT(conv_f322f16o)

// Registers of the vector unit of dav-c310, which libraries declare variables of on every architecture.
#if __NPU_ARCH__ != 3510
struct vector_bool {};
struct vector_address {};
struct vector_align {};
#endif

#endif
