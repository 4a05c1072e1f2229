/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware description of one SoC: plain integers in fixed units. Every
 * number is a parameter of core/chip/soc.def with a key ("l2.size"), a kind (which
 * fixes unit and scale) and a sentence, and carries its source and confidence from
 * the Lua data. Fractional quantities are held in thousandths so that all model
 * arithmetic is exact: _mcycles (1/1000 cycle), _mbytes_per_cycle (1/1000 B/cycle).
 */
#ifndef VINCI_CORE_CHIP_SOC_H
#define VINCI_CORE_CHIP_SOC_H

#include "core/base/arena.h"
#include "core/chip/arch.h"
#include "core/chip/param.h"
#include "core/chip/soc_names.h"
#include "core/vinci.h"

/* Cost classes of vector instructions: id and members. isa.def assigns each instruction its class
 * per operand width; the SoC data gives the numbers. */
#define VECTOR_CLASS_LIST(X)                                                                       \
  X(NONE, "not a vector instruction")                                                              \
  X(ONE, "one repeat per cycle: one-source and scalar-operand forms")                              \
  X(ONE_INT, "the same with the longer minimum of integer and shift forms")                        \
  X(TWO, "two-source forms, apart from conflicts of their sources in UB")                          \
  X(MULTIPLY, "the same, products")                                                                \
  X(EXP32, "two cycles a repeat: 32-bit exp, ln, sqrt; vreduce, widening vaxpy")                   \
  X(COMPARE, "vcmpv: two tensors into a bit mask")                                                 \
  X(COMPARE_SCALAR, "vcmpvs: tensor and scalar into a bit mask")                                   \
  X(THREE, "vcadd, 32 bit")                                                                        \
  X(FOUR, "16-bit exp, ln, sqrt")                                                                  \
  X(DIVIDE16, "vdiv, 16 bit")                                                                      \
  X(DIVIDE32, "vdiv, 32 bit")                                                                      \
  X(FIVE, "vmla from 16 to 32 bit")                                                                \
  X(SIX, "vmla, vmadd, vmaddrelu")                                                                 \
  X(SEVEN, "16-bit reductions, vcmax and vcmin")                                                   \
  X(GATHER16, "vgather, 16 bit")                                                                   \
  X(GATHER32, "vgather, 32 bit")                                                                   \
  X(GATHER_BLOCK, "vgatherb: 32-byte blocks")                                                      \
  X(COMPACT, "vreducev2: mask compaction")                                                         \
  X(SORT, "vbitsort, vmrgsort4")                                                                   \
  X(TRANSPOSE, "vtranspose, vnchwconv")

enum vector_class {
#define X(id, text) VECTOR_CLASS_##id,
  VECTOR_CLASS_LIST(X)
#undef X
      VECTOR_CLASS_COUNT
};

struct vector_class_cost {
  int64_t startup_mcycles;    /* from an empty pipe to the first result */
  int64_t per_repeat_mcycles; /* steady state */
  int64_t minimum_mcycles;    /* shortest distance of two back-to-back instructions */
  int64_t offset_mcycles;     /* what each instruction takes besides its repeats, back to back */
};

/* Cost classes of register instructions, in vector functions: id and members. REG16 and REG32 of
 * isa.def assign each instruction its class per width of elements. */
#define REGISTER_CLASS_LIST(X)                                                                     \
  X(NONE, "not a register instruction")                                                            \
  X(LOAD, "loads from UB")                                                                         \
  X(STORE, "stores to UB")                                                                         \
  X(GATHER, "numbers of UB by their indices")                                                      \
  X(GATHER_BLOCKS, "blocks of UB by their places")                                                 \
  X(SCATTER, "numbers to UB by their indices")                                                     \
  X(ADD, "sums, differences, conversions")                                                         \
  X(MULTIPLY, "products, with or without a sum")                                                   \
  X(MAX, "maxima, minima, bits, shifts, comparisons, selections")                                  \
  X(ABS, "absolute values, signs, copies")                                                         \
  X(EXP16, "exp, 16 bit")                                                                          \
  X(EXP32, "exp, 32 bit")                                                                          \
  X(LN16, "ln, 16 bit")                                                                            \
  X(LN32, "ln, 32 bit")                                                                            \
  X(DIVIDE16, "quotients and roots, 16 bit")                                                       \
  X(DIVIDE32, "quotients and roots, 32 bit")                                                       \
  X(SUM16, "sum of a register, 16 bit")                                                            \
  X(SUM32, "sum of a register, 32 bit")                                                            \
  X(EXTREME16, "maximum or minimum of a register, 16 bit")                                         \
  X(EXTREME32, "maximum or minimum of a register, 32 bit")                                         \
  X(GROUP, "reductions of blocks and pairs")                                                       \
  X(DUP, "a scalar or a lane in all lanes under a mask")                                           \
  X(BROADCAST, "a scalar in all lanes, indices")                                                   \
  X(PERMUTE, "interleaving, packing, squeezing, selection by index")                               \
  X(MASK, "masks")

enum register_class {
#define X(id, text) REGISTER_##id,
  REGISTER_CLASS_LIST(X)
#undef X
      REGISTER_CLASS_COUNT
};

struct register_class_cost {
  int64_t latency_cycles; /* from issue to the end */
  int64_t forward_cycles; /* from issue to the issue of an instruction that takes the result */
  int64_t special_cycles; /* the same of exp, ln, quotients, absolute values, copies of a lane */
  int64_t store_cycles;   /* the same of a store */
  int64_t
      interval_cycles; /* between two of the special unit on one execution unit; 0: of the others */
  int64_t units;       /* execution units that have the instruction */
};

/* Kinds of kernels of the vendor's library, which differ in the size of their code: id and
 * members. Lowering takes the numbers of a kind for what a block does before its first copy, and
 * for the scalar work of its instructions. */
#define KERNEL_CODE_LIST(X)                                                                        \
  X(ELEMENTWISE, "elementwise kernels, plain copies, pooling, sorting")                            \
  X(SLICE, "slices, concatenations, gathers")                                                      \
  X(POWER, "powers")                                                                               \
  X(NORM, "norms of vectors")                                                                      \
  X(FUSED, "normalisations of rows and their gradients, rotary embeddings, gated activations")     \
  X(TILED, "gradients of normalisations of short rows, several rows at a time")                    \
  X(REDUCE, "reductions, softmax")                                                                 \
  X(FORMAT, "changes of format")                                                                   \
  X(PERMUTE, "permutations")                                                                       \
  X(CUBE, "matrix products")                                                                       \
  X(CONV, "convolutions and their gradients")                                                      \
  X(ATTENTION, "attention and its gradient")

enum kernel_code {
#define X(id, text) KERNEL_##id,
  KERNEL_CODE_LIST(X)
#undef X
      KERNEL_CODE_COUNT
};

struct kernel_start {
  int64_t issue_cycles; /* scalar work of each instruction of a block */
  int64_t head_cycles;  /* scalar work of each block */
  int64_t code_bytes;   /* of its code, what a block runs through; 0: not known */
  int64_t line_cycles;  /* wait for each line of these that the instruction cache does not hold */
};

struct path_cost {
  int64_t mbytes_per_cycle;      /* 0: the path does not exist */
  int64_t startup_mcycles;       /* from start to first byte moving, L2 hit for GM paths */
  int64_t hbm_mbytes_per_cycle;  /* GM reads that miss L2, one core alone; 0: as a hit */
  int64_t minimum_mcycles;       /* shortest transfer, start-up included */
  int64_t overlap_issue_mcycles; /* start to start of copies that overlap */
  /* A transfer ends no earlier than bytes over this rate after its start; 0: no such limit.
   * The first bytes may go faster, into buffers on the way. */
  int64_t sustained_mbytes_per_cycle;
  /* Of writes to GM: from the last byte sent, when the next copy may start, to the answer. */
  int64_t acknowledge_mcycles;
  /* Of the engine, more for each burst of DataCopyPad that is not whole blocks of 32 bytes. */
  int64_t unaligned_mcycles;
  int64_t request_bytes;  /* GM paths: largest piece the engine asks for at once; 0: not known */
  int64_t spread_mcycles; /* more start-up each time the requests double: the last comes later */
  int64_t peak_bytes_per_second; /* nominal limit, for usage rates in reports; 0: unknown */
};

/* Smallest cache that the models of L2 can hold: one set of lines. */
enum { SOC_L2_BYTES_MIN = 64 * 1024 };

enum { L2_GRANULE_BYTES = 128 }; /* in which the vendor's counters count accesses to L2 */

enum { SOC_PARAMS_MAX = 640 };

struct energy_spec;
struct mem_spec;
struct noc_graph;

struct vinci_soc {
  struct arena arena;
  char name[64];
  const char *base;        /* the description it starts from, "" when none */
  const char *description; /* one sentence */
  enum arch arch;
  struct vector_class_cost vector_class[VECTOR_CLASS_COUNT];
  struct register_class_cost register_class[REGISTER_CLASS_COUNT];
  struct path_cost path[PATH_COUNT];
  struct kernel_start kernel[KERNEL_CODE_COUNT];
#define PARAM(field, key, kind, minimum, maximum, text) int64_t field;
#include "core/chip/soc.def"
#undef PARAM
  struct soc_provenance provenance[SOC_PARAMS_MAX]; /* by parameter index */
  const struct soc_source *sources;
  size_t source_count;
  /* What stands behind the numbers hbm.* and noc.*: named descriptions of their own. */
  struct soc_choice choices[SOC_NAME_COUNT];
  struct mem_spec *memory; /* owned; NULL: the cycle model cannot run */
  const struct noc_graph *topology;
  struct energy_spec *energy; /* owned; NULL: nobody has asked for an account of energy */
  /* Loads anew what a name stands for, after the name or (topology) a number noc.* has changed; a
   * failure changes nothing. Set by who loaded the SoC. */
  enum vinci_status (*load_named)(struct vinci_soc *soc, enum soc_name name,
                                  struct vinci_diag *diag);
  const char *data_dir;         /* where it was loaded from */
  struct soc_digest_kept *kept; /* soc_digest.h, in the arena; NULL: nothing is kept */
};

size_t soc_param_count(void);
const struct soc_param *soc_param(size_t index);
/* Index of a key, or soc_param_count(). */
size_t soc_param_find(const char *key);
const char *soc_param_nearest(const char *key);
int64_t soc_get(const struct vinci_soc *soc, size_t index);

/* Stores a value after range check, with its provenance. */
enum vinci_status soc_store(struct vinci_soc *soc, size_t index, int64_t value,
                            struct soc_provenance provenance, struct vinci_diag *diag);
/* Cross-checks a completely loaded description (paths against architecture, sizes, clocks). */
enum vinci_status soc_validate(const struct vinci_soc *soc, struct vinci_diag *diag);
/* A copy that shares nothing with the original; NULL when memory is short. */
struct vinci_soc *soc_copy(const struct vinci_soc *soc);
/* 64-bit digest of name, arch and all values: the identity of a configuration. */
uint64_t soc_digest(const struct vinci_soc *soc);

/* Capacity of an on-chip buffer in bytes; 0 when the SoC has none. GM: hbm.size. */
uint64_t soc_space_bytes(const struct vinci_soc *soc, enum space space);
/* Number of physical cores of a kind. */
unsigned soc_core_count(const struct vinci_soc *soc, enum core_kind kind);
/* AIV that stand beside each AIC, at least 1. */
uint32_t soc_vectors_per_cube(const struct vinci_soc *soc);
/* The number, among the cores of a kernel of both kinds, of an AIV that stands with an AIC. */
uint32_t soc_vector_beside(const struct vinci_soc *soc, uint32_t cube, uint32_t sub);
uint32_t soc_cube_beside(const struct vinci_soc *soc, uint32_t vector);
/* Where the n-th core of a kind stands: cluster, and number in the cluster. */
void soc_core_place(const struct vinci_soc *soc, enum core_kind kind, uint32_t n, uint32_t *cluster,
                    uint32_t *member);
/* Of a channel of device memory, such that all together have the bandwidth; soc->memory is set. */
uint64_t soc_channel_hz(const struct vinci_soc *soc);
/* Clock of a core kind. */
uint64_t soc_core_hz(const struct vinci_soc *soc, enum core_kind kind);
/* What the pins of device memory move, what-if factor included. */
uint64_t soc_hbm_bytes_per_second(const struct vinci_soc *soc);
/* The same, less the time in which the memory refreshes: what reads or writes alone can reach. */
uint64_t soc_hbm_stream_bytes_per_second(const struct vinci_soc *soc);
/* Thousandths of a cycle per tile of the cube in a type; 0: the cube cannot compute in this. */
int64_t soc_cube_mcycles(const struct vinci_soc *soc, enum dtype dtype);
/* What lies in such a part of GM the engine that turns ND to NZ takes at once. */
static inline uint64_t soc_reorder_line_bytes(const struct vinci_soc *soc) {
  int64_t line = soc->nd2nz_line_bytes, of_l2 = soc->l2_line_bytes;
  return (uint64_t)(line < of_l2 ? line : of_l2);
}
/* From the start of the first block to that of another. A kernel that leaves places (cores, or AIC
 * with their AIV) free goes to one cluster after the other, and to all cores of a cluster at once,
 * with its blocks spread over all clusters. */
uint64_t soc_dispatch_ps(const struct vinci_soc *soc, uint64_t places, uint64_t blocks,
                         uint64_t block);
/* The wait for code that takes one core alone N cycles, on each core that fetches the same. */
uint64_t soc_code_cycles(const struct vinci_soc *soc, uint64_t line_cycles, uint64_t lines,
                         uint64_t missing, uint64_t cores);
/* How many lines of the instruction cache some bytes of code take. */
uint32_t soc_code_lines(const struct vinci_soc *soc, uint64_t bytes);
/* Depth of a pipe's issue queue. */
unsigned soc_queue_depth(const struct vinci_soc *soc, enum pipe pipe);

#endif
