/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vocabulary of the architecture: generations, core types, pipes, memory
 * spaces, data types and paths. One row each; enums, names and checks expand from
 * these lists. Source of all: Ascend C documentation and CANN platform files.
 */
#ifndef VINCI_CORE_CHIP_ARCH_H
#define VINCI_CORE_CHIP_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Generations: id, name in traces, what it is. */
#define ARCH_LIST(X)                                                                               \
  X(C100, "dav-c100", "coupled core of the 910A family")                                           \
  X(M200, "dav-m200", "coupled core of the 310P, with extra vector cores")                         \
  X(C220, "dav-c220", "split AIC/AIV core of the 910B family and 910C")                            \
  X(C310, "dav-c310", "split AIC/AIV core of the 950 family")

enum arch {
#define X(id, name, text) ARCH_##id,
  ARCH_LIST(X)
#undef X
      ARCH_COUNT
};
#define ARCH_BIT(id) (1u << ARCH_##id)

/* Core types: id, name in traces, part of the instance name in reports (CAModel's names). */
#define CORE_LIST(X)                                                                               \
  X(AIC, "AIC", "cubecore")                                                                        \
  X(AIV, "AIV", "veccore")                                                                         \
  X(AICORE, "AICORE", "mixcore")

enum core_kind {
#define X(id, name, instance) CORE_##id,
  CORE_LIST(X)
#undef X
      CORE_KIND_COUNT
};

/* Pipes: id, name, lane name in timelines, what it does. */
#define PIPE_LIST(X)                                                                               \
  X(S, "SCALAR", "scalar unit: control flow, issue")                                               \
  X(V, "VECTOR", "vector unit on UB")                                                              \
  X(M, "CUBE", "matrix unit on L0A, L0B, L0C")                                                     \
  X(MTE1, "MTE1", "L1 to L0A, L0B, bias table")                                                    \
  X(MTE2, "MTE2", "GM to on-chip buffers")                                                         \
  X(MTE3, "MTE3", "on-chip buffers to GM")                                                         \
  X(FIX, "FIXP", "L0C to GM or L1, with conversion")

enum pipe {
#define X(id, lane, text) PIPE_##id,
  PIPE_LIST(X)
#undef X
      PIPE_COUNT,
  PIPE_ALL = PIPE_COUNT, /* operand of pipe_barrier only */
};

/* Memory spaces: id, required alignment in bytes of an address (Ascend C, chapter 2201). IDX: the
 * buffer of the indices of sparse matrices, which instructions reach through addresses in L0B.
 * L0A_MX and L0B_MX: the scales of blocks of 32 values in L0A and L0B, for products of scaled
 * operands. VR: the registers of vector functions, one behind the other. */
#define SPACE_LIST(X)                                                                              \
  X(GM, 1)                                                                                         \
  X(L1, 32)                                                                                        \
  X(L0A, 512)                                                                                      \
  X(L0B, 512)                                                                                      \
  X(L0C, 64)                                                                                       \
  X(UB, 32)                                                                                        \
  X(BT, 64)                                                                                        \
  X(FB, 128)                                                                                       \
  X(IDX, 128)                                                                                      \
  X(L0A_MX, 32)                                                                                    \
  X(L0B_MX, 32)                                                                                    \
  X(VR, 256)

enum space {
#define X(id, alignment) SPACE_##id,
  SPACE_LIST(X)
#undef X
      SPACE_COUNT
};

/* Data types: id, name in traces, width in bits. */
#define DTYPE_LIST(X)                                                                              \
  X(FP16, "fp16", 16)                                                                              \
  X(BF16, "bf16", 16)                                                                              \
  X(FP32, "fp32", 32)                                                                              \
  X(INT4, "int4", 4)                                                                               \
  X(INT8, "int8", 8)                                                                               \
  X(UINT8, "uint8", 8)                                                                             \
  X(INT16, "int16", 16)                                                                            \
  X(UINT16, "uint16", 16)                                                                          \
  X(INT32, "int32", 32)                                                                            \
  X(UINT32, "uint32", 32)                                                                          \
  X(INT64, "int64", 64)                                                                            \
  X(HF32, "hf32", 32)                                                                              \
  X(FP8_E4M3, "fp8_e4m3", 8)                                                                       \
  X(FP8_E5M2, "fp8_e5m2", 8)                                                                       \
  X(FP4_E2M1, "fp4_e2m1", 4)                                                                       \
  X(FP4_E1M2, "fp4_e1m2", 4)

enum dtype {
#define X(id, name, bits) DTYPE_##id,
  DTYPE_LIST(X)
#undef X
      DTYPE_COUNT
};

/*
 * Paths: id, from, to, pipe that moves the data (its home in C220). Which exist,
 * how wide and how fast is data of the SoC (soc.def expands this list).
 */
#define PATH_LIST(X)                                                                               \
  X(GM_L1, GM, L1, MTE2)                                                                           \
  X(GM_UB, GM, UB, MTE2)                                                                           \
  X(GM_L0A, GM, L0A, MTE2)                                                                         \
  X(GM_L0B, GM, L0B, MTE2)                                                                         \
  X(L1_L0A, L1, L0A, MTE1)                                                                         \
  X(L1_L0B, L1, L0B, MTE1)                                                                         \
  X(L1_L0A_MX, L1, L0A_MX, MTE1)                                                                   \
  X(L1_L0B_MX, L1, L0B_MX, MTE1)                                                                   \
  X(L1_BT, L1, BT, MTE1)                                                                           \
  X(L1_FB, L1, FB, FIX)                                                                            \
  X(L1_UB, L1, UB, MTE1)                                                                           \
  X(L1_GM, L1, GM, MTE3)                                                                           \
  X(UB_GM, UB, GM, MTE3)                                                                           \
  X(UB_L1, UB, L1, MTE3)                                                                           \
  X(UB_UB, UB, UB, V)                                                                              \
  X(L0C_GM, L0C, GM, FIX)                                                                          \
  X(L0C_L1, L0C, L1, FIX)                                                                          \
  X(L0C_UB, L0C, UB, FIX)

enum path {
#define X(id, from, to, pipe) PATH_##id,
  PATH_LIST(X)
#undef X
      PATH_COUNT,
  PATH_NONE = PATH_COUNT,
};

const char *arch_name(enum arch arch);
const char *core_kind_name(enum core_kind kind);
/* "core0.cubecore0", as the vendor's tools name the core that stands as number `member` in a
 * cluster. */
void core_name(enum core_kind kind, uint32_t cluster, uint32_t member, char *buffer, size_t size);
const char *pipe_name(enum pipe pipe); /* "MTE2"; "ALL" for PIPE_ALL */
const char *pipe_lane(enum pipe pipe);
const char *space_name(enum space space);
unsigned space_alignment(enum space space);
const char *dtype_name(enum dtype dtype);
unsigned dtype_bits(enum dtype dtype);
const char *path_name(enum path path); /* "GM->UB" */
enum space path_from(enum path path);
enum space path_to(enum path path);
enum pipe path_pipe(enum path path);

/* Look-ups by name; return the count of the list when there is no such name. */
enum arch arch_by_name(const char *name);
enum pipe pipe_by_name(const char *name);
enum dtype dtype_by_name(const char *name);

/* Whether a core type has a pipe, and a buffer (GM is seen by all). */
bool core_has_pipe(enum core_kind kind, enum pipe pipe);
bool core_has_space(enum core_kind kind, enum space space);
/* Whether one core has the cube and a vector unit. */
static inline bool arch_is_coupled(enum arch arch) {
  return arch == ARCH_C100 || arch == ARCH_M200;
}
/* Whether fp16 results saturate; core/base/number.h says what that is. */
static inline bool arch_saturates(enum arch arch) { return arch_is_coupled(arch); }
/* Bits of fraction of hf32 (Ascend C documentation, HF32). */
static inline unsigned arch_hf32_bits(enum arch arch) { return arch == ARCH_C310 ? 10 : 11; }

#endif
