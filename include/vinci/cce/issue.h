// SPDX-License-Identifier: Apache-2.0
// How a compiled kernel hands an instruction to the simulator.
//
// Each intrinsic has one record of its own (a name of the instruction table and the names of the operands
// it gives, in the order in which it gives them) and calls issue() of whoever has loaded the kernel. The
// simulator looks the names up once, so that a kernel does not depend on the order of the table.
#ifndef VINCI_CCE_ISSUE_H
#define VINCI_CCE_ISSUE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Changes when a record or a function of the host changes its meaning.
enum { VINCI_CCE_VERSION = 2 };

struct vinci_cce_inst {
  const char *name; // of the instruction: "vadd"
  // "dst src repeat": operands by the names of the table. NAME=WORD: fixed, not among the values;
  // NAME:pipe, NAME:quant: a number of pipe_t, of QuantMode_t. NAME:u16: a field of 16 bits; what is wider is told,
  // and the low bits taken, as the interface of the chip's compiler takes them without a word.
  const char *operands;
  void *found; // by the simulator
};

// Numbers of a memory, to be printed.
struct vinci_cce_dump {
  const char *memory; // "UB"
  const char *type;   // "float16": of a number
  int64_t address;    // in GM as the host has it, in buffers of a core an offset
  uint32_t desc;      // what the user calls the dump
  uint32_t count;     // numbers
  const uint32_t *shape;
  uint32_t dimensions; // of the shape; 0: none
};

// Where indices in a register lead, of a gather or scatter. A question, and the answer.
struct vinci_cce_reach {
  int64_t base;         // in UB
  int64_t index;        // the register
  uint64_t mask[4];     // a bit for each byte of a register
  uint32_t count;       // of indices
  uint32_t index_bytes; // an index counts when the bit of its first byte is set
  uint32_t unit_bytes;  // of what an index counts
  uint32_t bytes;       // at each
  int64_t first, last;  // the lowest and the highest
  int64_t turns;        // rows of the busiest subbank
};

// What the simulator gives to a kernel. The order of the members stays; new ones come behind.
struct vinci_cce_host {
  uint32_t version;
  uint32_t size; // of this structure in the simulator
  // An instruction. Addresses: in GM as the host has them, in buffers of a core their offsets.
  void (*issue)(const struct vinci_cce_host *host, struct vinci_cce_inst *inst, const int64_t *values);
  // A number of the core that executes: enum vinci_cce_number.
  int64_t (*number)(const struct vinci_cce_host *host, uint32_t which);
  // Ends the run with a message: an error of the kernel.
  void (*trap)(const struct vinci_cce_host *host, const char *text);
  // A line of text, with the block it comes from.
  void (*print)(const struct vinci_cce_host *host, const char *text);
  // Lets other cores go on: the code looks at memory that they may write.
  void (*pause)(const struct vinci_cce_host *host);
  // Text as it is, on standard output for programs.
  void (*write)(const struct vinci_cce_host *host, const char *text);
  // Ends the run with a message at a place of the source.
  void (*fail)(const struct vinci_cce_host *host, const char *file, uint32_t line, const char *text);
  // Prints what a memory holds now.
  void (*dump)(const struct vinci_cce_host *host, const struct vinci_cce_dump *dump);
  // The code gives up what its cache has of an address (or all that is there), as other cores may write the same.
  // Who does so again and again lets them go on.
  void (*look)(const struct vinci_cce_host *host, uint64_t address, uint32_t whole_cache);
  // Ends the run: the code does, at this address, what would leave the process ("calls exit(0)").
  void (*leave)(const struct vinci_cce_host *host, const char *act, uint64_t from);
  // A pipe (a number of pipe_t) takes a token of a buffer or gives it back.
  void (*token)(const struct vinci_cce_host *host, uint32_t pipe, uint32_t id, uint32_t takes);
  // Threads of the vector unit begin or end: what the code accesses between is theirs. At the end, how many
  // instructions the host has executed for all of them.
  uint64_t (*threads)(const struct vinci_cce_host *host, uint32_t begin);
  // Answers where indices lead, of instructions that have been executed.
  void (*reach)(const struct vinci_cce_host *host, struct vinci_cce_reach *reach);
};

// Where scalar code counts its accesses. The order of the members is known to kernels/compile/access.c.
struct vinci_cce_watch {
  uint64_t gm, gm_bytes; // device memory in this process
  uint64_t gm_accesses, ub_accesses;
  uint64_t kept, flags; // registers, while an address is compared
  // The simulator's functions that take an address of GM and of UB down; NULL: nobody wants to know.
  void (*take_gm)(void);
  void (*take_ub)(void);
  uint64_t gm_end, ub_end;  // who comes behind is stopped
  uint64_t *next, *end;     // where the simulator has room
  void *owner;
};

// A part of the code without a jump, as compiled for the host (kernels/compile/count.c).
struct vinci_cce_block {
  uint16_t instructions;
  uint16_t touched; // the lower byte is 1: has been executed; the upper one is the simulator's
};

// Of an operand's address in GM: what lies there takes no room in L2 (CacheMode::CACHE_MODE_DISABLE). Addresses in GM do
// not reach this bit.
#define VINCI_CCE_PASSES_L2 (UINT64_C(1) << 60)

enum vinci_cce_number {
  VINCI_CCE_BLOCK_IDX,
  VINCI_CCE_BLOCK_NUM,
  VINCI_CCE_SUB_IDX,
  VINCI_CCE_SUB_NUM,
  VINCI_CCE_CORE_ID,
  VINCI_CCE_CYCLE, // instructions of the core so far: time is not known to a running kernel
  VINCI_CCE_CTRL,
  VINCI_CCE_WORKSPACE, // address of the memory that a library has for itself; 0: none
  // Registers that vector instructions write: the sum of vcadd, value and lane of vcmax and vcmin, how many lanes vreducev2
  // took, and how many entries vmrgsort4 took of each list.
  VINCI_CCE_TOTAL,
  VINCI_CCE_EXTREME,
  VINCI_CCE_TAKEN,
  VINCI_CCE_MERGED,
  // The mask of the last comparison of registers, 64 bits each.
  VINCI_CCE_MASK0,
  VINCI_CCE_MASK1,
  VINCI_CCE_MASK2,
  VINCI_CCE_MASK3
};

#ifdef __cplusplus
// Set by whoever loads the library, before any kernel runs.
__attribute__((visibility("default"))) extern const struct vinci_cce_host *vinci_cce_host;
}

#define VINCI_CCE_INLINE static inline __attribute__((always_inline))

namespace vinci_cce {

template <int count>
VINCI_CCE_INLINE void issue(vinci_cce_inst &inst, const int64_t (&values)[count]) {
  vinci_cce_host->issue(vinci_cce_host, &inst, values);
}

VINCI_CCE_INLINE int64_t number(vinci_cce_number which) {
  return vinci_cce_host->number(vinci_cce_host, which);
}

VINCI_CCE_INLINE void trap(const char *text) { vinci_cce_host->trap(vinci_cce_host, text); }

} // namespace vinci_cce

// The body of an intrinsic: VINCI_CCE("vadd", "dst src0 src1", dst, src0, src1).
#define VINCI_CCE(name, operands, ...)                                                                 \
  do {                                                                                                 \
    static vinci_cce_inst inst_ = {name, operands, nullptr};                                           \
    const int64_t values_[] = {__VA_ARGS__};                                                           \
    vinci_cce::issue(inst_, values_);                                                                  \
  } while (0)

#endif
#endif
