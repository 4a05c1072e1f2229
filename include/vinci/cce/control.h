// SPDX-License-Identifier: Apache-2.0
// Flags, barriers, masks and registers.
#ifndef VINCI_CCE_CONTROL_H
#define VINCI_CCE_CONTROL_H

#include "vinci/cce/issue.h"
#include "vinci/cce/types.h"

// Operands of pipes are the numbers of pipe_t.

VINCI_CCE_INLINE void set_flag(pipe_t from, pipe_t to, int64_t id) {
  VINCI_CCE("set_flag", "src:pipe dst:pipe id", from, to, id);
}
VINCI_CCE_INLINE void wait_flag(pipe_t from, pipe_t to, int64_t id) {
  VINCI_CCE("wait_flag", "src:pipe dst:pipe id", from, to, id);
}
VINCI_CCE_INLINE void pipe_barrier(pipe_t pipe) { VINCI_CCE("pipe_barrier", "pipe:pipe", pipe); }

// Tokens of buffers (dav-c310): with mode 0 a pipe waits for all releases of the token that stand before in the code, with
// mode 1 for none.
VINCI_CCE_INLINE void get_buf(pipe_t pipe, uint8_t id, bool mode) {
  if (!mode)
    vinci_cce_host->token(vinci_cce_host, (uint32_t)pipe, id, 1);
}
VINCI_CCE_INLINE void rls_buf(pipe_t pipe, uint8_t id, bool) {
  vinci_cce_host->token(vinci_cce_host, (uint32_t)pipe, id, 0);
}

// Signals between cores: the configuration word has the mode in bits 5..4 and the flag in bits 11..8.
VINCI_CCE_INLINE void ffts_cross_core_sync(pipe_t pipe, uint64_t config) {
  VINCI_CCE("ffts_cross_core_sync", "pipe:pipe mode id", pipe, (int64_t)(config >> 4 & 3),
            (int64_t)(config >> 8 & 15));
}
VINCI_CCE_INLINE void wait_flag_dev(int64_t id) { VINCI_CCE("wait_flag_dev", "id", id); }
// An address of UB with the end of what may be reached from there, for a guard of the chip; what leaves a tensor is not
// found by that here, what leaves UB is.
template <typename address> VINCI_CCE_INLINE address set_ub_addr_upper_bound(address at, uint64_t) { return at; }
// Where the hardware's flags lie is not for a kernel to know.
VINCI_CCE_INLINE void set_ffts_base_addr(uint64_t) {}
VINCI_CCE_INLINE int64_t get_ffts_base_addr() { return 0; }

VINCI_CCE_INLINE void set_vector_mask(uint64_t high, uint64_t low) {
  VINCI_CCE("set_vector_mask", "high low", (int64_t)high, (int64_t)low);
}
VINCI_CCE_INLINE void set_mask_count() { VINCI_CCE("set_mask_count", "", 0); }
VINCI_CCE_INLINE void set_mask_norm() { VINCI_CCE("set_mask_norm", "", 0); }

#define VINCI_CCE_PLAIN(name)                                                                          \
  VINCI_CCE_INLINE void name() { VINCI_CCE(#name, "", 0); }
VINCI_CCE_PLAIN(set_atomic_none)
VINCI_CCE_PLAIN(set_atomic_add)
VINCI_CCE_PLAIN(set_atomic_max)
VINCI_CCE_PLAIN(set_atomic_min)
VINCI_CCE_PLAIN(set_atomic_f32)
VINCI_CCE_PLAIN(set_atomic_f16)
VINCI_CCE_PLAIN(set_atomic_bf16)
VINCI_CCE_PLAIN(set_atomic_s32)
VINCI_CCE_PLAIN(set_atomic_s16)
VINCI_CCE_PLAIN(set_atomic_s8)
#undef VINCI_CCE_PLAIN

#define VINCI_CCE_REGISTER(name)                                                                       \
  VINCI_CCE_INLINE void name(uint64_t value) { VINCI_CCE(#name, "value", (int64_t)value); }
VINCI_CCE_REGISTER(set_quant_pre)
VINCI_CCE_REGISTER(set_mov_pad_val)
VINCI_CCE_REGISTER(set_padding)
VINCI_CCE_REGISTER(set_ctrl)
#undef VINCI_CCE_REGISTER
namespace vinci_cce {
static uint64_t fpc; // as the core has set that register
}
VINCI_CCE_INLINE void set_fpc(uint64_t value) {
  vinci_cce::fpc = value;
  VINCI_CCE("set_fpc", "value", (int64_t)value);
}
VINCI_CCE_INLINE uint64_t get_fpc() { return vinci_cce::fpc; }
VINCI_CCE_INLINE void set_deqscale(half value) { VINCI_CCE("set_deqscale", "value", vinci_cce::scalar(value)); }
VINCI_CCE_INLINE void set_deqscale(uint64_t value) { VINCI_CCE("set_deqscale", "value", (int64_t)value); }
VINCI_CCE_INLINE int64_t get_ctrl() { return vinci_cce::number(VINCI_CCE_CTRL); }

// What vector instructions leave in registers, once a wait has made sure of them.
VINCI_CCE_INLINE int64_t get_acc_val() { return vinci_cce::number(VINCI_CCE_TOTAL); }
VINCI_CCE_INLINE int64_t get_max_min_cnt() { return vinci_cce::number(VINCI_CCE_EXTREME); }
VINCI_CCE_INLINE int64_t get_rsvd_cnt() { return vinci_cce::number(VINCI_CCE_TAKEN); }
VINCI_CCE_INLINE int64_t get_vms4_sr() { return vinci_cce::number(VINCI_CCE_MERGED); }

// ---- who executes ----

VINCI_CCE_INLINE int64_t get_block_idx() { return vinci_cce::number(VINCI_CCE_BLOCK_IDX); }
VINCI_CCE_INLINE int64_t get_block_num() { return vinci_cce::number(VINCI_CCE_BLOCK_NUM); }
VINCI_CCE_INLINE int64_t get_subblockid() { return vinci_cce::number(VINCI_CCE_SUB_IDX); }
VINCI_CCE_INLINE int64_t get_subblockdim() { return vinci_cce::number(VINCI_CCE_SUB_NUM); }
VINCI_CCE_INLINE int64_t get_coreid() { return vinci_cce::number(VINCI_CCE_CORE_ID); }
VINCI_CCE_INLINE int64_t get_sys_cnt() { return vinci_cce::number(VINCI_CCE_CYCLE); }
#define block_idx get_block_idx()
#define block_num get_block_num()

// A line on standard error, with the block that says so.
VINCI_CCE_INLINE void vinci_print(const char *text) { vinci_cce_host->print(vinci_cce_host, text); }
VINCI_CCE_INLINE void trap() { vinci_cce::trap("trap()"); }

// ---- bits of the scalar unit: positions count from bit 0, -1: there is none ----

VINCI_CCE_INLINE int64_t sff0(uint64_t value) { return ~value ? __builtin_ctzll(~value) : -1; }
VINCI_CCE_INLINE int64_t sff1(uint64_t value) { return value ? __builtin_ctzll(value) : -1; }
VINCI_CCE_INLINE uint64_t sbitset0(uint64_t value, int64_t bit) { return value & ~(UINT64_C(1) << bit); }
VINCI_CCE_INLINE uint64_t sbitset1(uint64_t value, int64_t bit) { return value | UINT64_C(1) << bit; }
VINCI_CCE_INLINE int64_t bcnt0(uint64_t value) { return __builtin_popcountll(~value); }
VINCI_CCE_INLINE int64_t bcnt1(uint64_t value) { return __builtin_popcountll(value); }
VINCI_CCE_INLINE int64_t clz(uint64_t value) { return value ? __builtin_clzll(value) : 64; }
// Bits behind the sign that are equal to the sign.
VINCI_CCE_INLINE int64_t sflbits(int64_t value) { return __builtin_clrsbll(value); }

// ---- rounding of a scalar ----

#define VINCI_CCE_SCALAR_ROUND(name, value_of)                                                         \
  VINCI_CCE_INLINE int32_t name(float value) { return (int32_t)(value_of); }
VINCI_CCE_SCALAR_ROUND(conv_f322s32r, __builtin_rintf(value))
VINCI_CCE_SCALAR_ROUND(conv_f322s32f, __builtin_floorf(value))
VINCI_CCE_SCALAR_ROUND(conv_f322s32c, __builtin_ceilf(value))
VINCI_CCE_SCALAR_ROUND(conv_f322s32a, __builtin_roundf(value))
VINCI_CCE_SCALAR_ROUND(conv_f322s32z, __builtin_truncf(value))
#undef VINCI_CCE_SCALAR_ROUND

// ---- the scalar unit and device memory: a core sees what instructions have written at once ----

// The symbol marks the load or store that follows for kernels/compile/access.c, and is no instruction.
template <typename type> VINCI_CCE_INLINE type ld_dev(const type *address, int64_t offset) {
  __asm__ volatile(".set vinci_cce_passes, 1" : : : "memory");
  return *(const volatile type *)((const char *)address + offset);
}
template <typename type> VINCI_CCE_INLINE void st_dev(type value, type *address, int64_t offset) {
  __asm__ volatile(".set vinci_cce_passes, 1" : : : "memory");
  *(volatile type *)((char *)address + offset) = value;
}
template <typename... arguments> VINCI_CCE_INLINE void dsb(arguments...) {}
// Who gives up a line of its cache wants to see what others write.
template <typename type, typename... others>
VINCI_CCE_INLINE void dcci(type address, uint64_t whole_cache, others...) {
  vinci_cce_host->look(vinci_cce_host, (uint64_t)(uintptr_t)address, whole_cache != SINGLE_CACHE_LINE);
}
template <typename... arguments> VINCI_CCE_INLINE void dc_preload(arguments...) {}
template <typename... arguments> VINCI_CCE_INLINE void preload(arguments...) {}

// A constant, whole or in parts of 16 bits from the lowest on.
VINCI_CCE_INLINE int64_t get_imm(int64_t value) { return value; }
VINCI_CCE_INLINE int64_t get_imm(uint64_t a, uint64_t b, uint64_t c = 0, uint64_t d = 0) {
  return (int64_t)((a & 0xffff) | (b & 0xffff) << 16 | (c & 0xffff) << 32 | (d & 0xffff) << 48);
}
VINCI_CCE_INLINE int64_t get_pc() { return 0; }
VINCI_CCE_INLINE int64_t get_arch_ver() { return 0x220; }

// What headers do in assembler of the device: kernels/compile/launches.c writes calls of these.
namespace vinci_cce {
template <typename type> VINCI_CCE_INLINE void read_system_count(type &value) {
  value = (type)number(VINCI_CCE_CYCLE);
}
template <typename type> VINCI_CCE_INLINE void write_condition(type &&) {}
} // namespace vinci_cce

// The memory of a library: what the launch gives, unless the kernel names another.
namespace vinci_cce {
static uint8_t *workspace;
}
VINCI_CCE_INLINE void __set_kfc_workspace_addr(GM_ADDR address) { vinci_cce::workspace = address; }
VINCI_CCE_INLINE GM_ADDR __get_kfc_workspace_addr() {
  return vinci_cce::workspace ? vinci_cce::workspace : (GM_ADDR)vinci_cce::number(VINCI_CCE_WORKSPACE);
}

// What stores of a core add up, beside set_atomic_*: one word that says nothing is modelled, which queues of dav-c310
// set when they begin.
VINCI_CCE_INLINE void set_st_atomic_cfg(uint64_t config) {
  enum { NOTHING = 0x24 };
  if (config != NOTHING)
    vinci_cce::trap("set_st_atomic_cfg: this configuration is not modelled");
}
template <typename type, typename operation> VINCI_CCE_INLINE void set_st_atomic_cfg(type, operation) {
  vinci_cce::trap("set_st_atomic_cfg is not modelled");
}

// What a debugging library would hook into.
template <typename... arguments> VINCI_CCE_INLINE void __sync_all_stub(arguments...) {}
template <typename... arguments> VINCI_CCE_INLINE void __ib_set_stub(arguments...) {}
template <typename... arguments> VINCI_CCE_INLINE void __ib_wait_stub(arguments...) {}
VINCI_CCE_INLINE void asc_prof_start() {}
VINCI_CCE_INLINE void asc_prof_stop() {}
namespace bisheng {
namespace cce {
VINCI_CCE_INLINE void metrics_prof_start() {}
VINCI_CCE_INLINE void metrics_prof_stop() {}
} // namespace cce
} // namespace bisheng

#endif
