/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One executed instruction, and what a unit says of the instruction. The unit folders (cube/,
 * vector/, memhier/) provide the three functions that a row of isa.def names:
 *
 *   void     STEM_cost(const struct vinci_soc *, const struct inst *, struct inst_cost *);
 *   unsigned STEM_access(const struct vinci_soc *, const struct inst *, struct inst_access *);
 *   void     VALUES_values(const struct vinci_soc *, const struct inst *, struct value_core *);
 *
 * The first two are pure functions of their arguments, the third changes the bytes of the
 * buffers (core/machine/values.h). core/isa/unit_functions.h declares them all, core/registry.c
 * finds them by instruction and a missing one is a link error.
 */
#ifndef VINCI_CORE_ISA_INST_H
#define VINCI_CORE_ISA_INST_H

#include "core/base/number.h"
#include "core/chip/soc.h"
#include "core/isa/isa.h"

/* The vector mask registers as they stood when the instruction was issued. */
struct vector_mask {
  uint64_t low; /* lanes 0..63; in counter mode: the element count */
  uint64_t high;
  bool counter;
};

/* What the FIX and MTE3 pipes do with the bytes that lie in GM already. */
enum atomic_op { ATOMIC_NONE, ATOMIC_ADD, ATOMIC_MAX, ATOMIC_MIN };

/*
 * The special registers, other than the mask, that change what an instruction computes; as
 * they stood when it was issued. Bit patterns as the CCE intrinsics take them.
 */
struct inst_registers {
  uint64_t quant_pre;       /* FIX: the scale word of scalar quantisation */
  uint64_t fpc;             /* FIX: where in FB the scales of vector quantisation lie */
  uint64_t deq_scale;       /* vconv_deq */
  uint64_t pad_value;       /* aligned copies: what pads are filled with */
  uint64_t load3d_padding;  /* load3d: the same for its borders */
  uint64_t load3d_boundary; /* load3d: where its reads of L1 begin at the start again; 0: nowhere */
  uint8_t atomic;           /* enum atomic_op */
  uint8_t atomic_type;      /* enum dtype */
  bool saturates;           /* CTRL[48] is 0: half-width floating-point results saturate */
};

struct inst {
  uint16_t op;   /* enum isa_op */
  uint8_t arch;  /* enum arch */
  uint32_t row;  /* index of the row in the program, for messages and events */
  uint32_t line; /* line of the trace */
  struct vector_mask mask;
  struct inst_registers registers;
  int64_t arg[ISA_ARGS_MAX]; /* in signature order; dtype operands hold enum dtype */
};

static inline enum dtype inst_dtype(const struct inst *inst) {
  int8_t type_arg = isa_row((enum isa_op)inst->op)->type_arg;
  return type_arg < 0 ? DTYPE_COUNT : (enum dtype)inst->arg[type_arg];
}

/* The class of cost of a register instruction (core/isa/isa.h) in its type. */
static inline unsigned inst_register_class(const struct inst *inst) {
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  enum dtype type = inst_dtype(inst);
  return type < DTYPE_COUNT && dtype_bits(type) <= 16 ? row->register16 : row->register32;
}

/* The types of sources and results: those of the row, or both what the operand `type` says. */
static inline struct isa_types inst_types(const struct inst *inst) {
  const struct isa_row *row = isa_row((enum isa_op)inst->op);
  if (row->has_fixed_types)
    return row->fixed;
  return (struct isa_types){inst_dtype(inst), inst_dtype(inst)};
}

/* What an instruction does with the unit flags of L0C, as enum unit_flag
 * (core/control/unit_flag.h). */
static inline int64_t inst_unit_flag(const struct inst *inst) {
  int8_t unit_arg = isa_row((enum isa_op)inst->op)->unit_flag_arg;
  return unit_arg < 0 ? 0 : inst->arg[unit_arg];
}

/* Whether computed fp16 (and converted bf16) results saturate; coupled cores have no other mode. */
static inline bool inst_saturates(const struct inst *inst) {
  return arch_saturates((enum arch)inst->arch) || inst->registers.saturates;
}

/* Numbers of the operands of control instructions. */
enum { OPERANDS_FLAG(OPERAND_NUMBER, SET_FLAG) };
enum { OPERANDS_BARRIER(OPERAND_NUMBER, BARRIER) };
enum { OPERANDS_CROSS_SET(OPERAND_NUMBER, CROSS_SET) };
enum { OPERANDS_CROSS_WAIT(OPERAND_NUMBER, CROSS_WAIT) };
enum { OPERANDS_THREADS(OPERAND_NUMBER, THREADS) };
enum { OPERANDS_SCALAR_WORK(OPERAND_NUMBER, SCALAR_WORK) };
enum { OPERANDS_CODE_FETCH(OPERAND_NUMBER, CODE) };
enum { OPERANDS_SET_MASK(OPERAND_NUMBER, SET_MASK) };
enum { OPERANDS_REGISTER(OPERAND_NUMBER, REGISTER) };

/* The pipe whose queue an instruction goes to; PIPE_S: the scalar unit does it itself;
 * PIPE_ALL: the scalar unit, when all pipes are through. */
static inline enum pipe inst_pipe(const struct inst *inst) {
  switch (inst->op) {
  case OP_SET_FLAG:
    return (enum pipe)inst->arg[SET_FLAG_SRC];
  case OP_WAIT_FLAG:
    return (enum pipe)inst->arg[SET_FLAG_DST];
  case OP_PIPE_BARRIER:
    return (enum pipe)inst->arg[BARRIER_PIPE];
  case OP_FFTS_CROSS_CORE_SYNC:
    return (enum pipe)inst->arg[CROSS_SET_PIPE];
  case OP_WAIT_FLAG_DEV:
    return (enum pipe)inst->arg[CROSS_WAIT_PIPE];
  default:
    return isa_row((enum isa_op)inst->op)->pipe;
  }
}

struct inst_cost {
  uint64_t issue_cycles; /* until the pipe may start its next instruction */
  /* Thousandths of a cycle beyond issue_cycles: a stream takes a cycle more now and then. */
  uint64_t issue_rest_mcycles;
  uint64_t latency_cycles; /* until results are there, >= issue_cycles */
  uint64_t startup_cycles; /* the part of latency_cycles before the work begins */
  enum path path;          /* PATH_NONE: moves nothing between spaces */
  uint64_t bytes;          /* moved over the path */
  uint64_t unit_work;      /* of M: tiles; of V: bytes that are read and written in UB */
  uint64_t operations;     /* arithmetic work: multiply-accumulates (M) or lane operations (V) */
  /* Parts of issue_cycles that are lost to the banks of UB: rows wanted from one group at the
   * same time, and reads that meet a write in a bank. */
  uint64_t conflict_bankgroup_cycles;
  uint64_t conflict_bank_cycles;
  /* Transfers that touch GM: the memory system decides the end; latency_cycles then
   * is the start-up alone. The GM side is `bursts` runs of burst_bytes. */
  bool uses_gm;
  bool overlaps; /* the next such transfer may start up while this one streams */
  bool gm_write;
  bool passes_l2;       /* the tensor's mode, not the instruction's */
  uint8_t vector_class; /* enum vector_class; 0: none */
  bool sustained;       /* minimum_cycles is that of the path's sustained rate */
  uint64_t gm_address;
  uint64_t gm_bursts;
  uint64_t gm_burst_bytes;
  uint64_t gm_stride_bytes; /* from start to start */
  /* Of the engine for each line that a run touches, at least, as the reordering of nd2nz
   * takes; thousandths of a cycle. */
  uint64_t line_mcycles;
  uint64_t line_bytes;     /* of these lines */
  uint64_t minimum_cycles; /* from start to last byte, at least */
  /* From the last byte of a write, when the next copy may start, to the answer. */
  uint64_t acknowledge_cycles;
};

/* Repetition of runs of bytes. */
struct inst_level {
  uint64_t count;        /* 0: this level is not there */
  uint64_t stride_bytes; /* from start to start */
};

enum { INST_LEVELS = 3, INST_LANE_WORDS = 2 };

/*
 * Which bytes of its hull an access touches: runs, repeated by levels, outermost first. With
 * lanes, the last two levels are the repeats and the blocks of a vector operand, and of the
 * lanes of a repeat only those whose bit is set count.
 */
struct inst_runs {
  uint64_t offset; /* of the first run, from the address */
  uint64_t bytes;  /* of a run; 0: the hull itself */
  struct inst_level level[INST_LEVELS];
  uint8_t lane_bits; /* of one lane; 0: no lanes */
  uint32_t end;      /* lanes that a repeat has; 0: whole blocks */
  uint32_t tail;     /* lanes that the last repeat has; 0: as many as the others */
  uint64_t lanes[INST_LANE_WORDS];
};

enum { ACCESS_CUBE = 3 }; /* an access of an AIV to L1 of the AIC of the block */
/* A range that an instruction reads or writes: the hull of all it touches. */
struct inst_access {
  enum space space;
  bool write;
  int64_t address;
  uint64_t bytes;     /* 0: nothing touched */
  uint8_t arg;        /* the operand it comes from */
  uint8_t remote;     /* UB of AIV number remote - 1 of the block, or ACCESS_CUBE; 0: own buffers */
  bool partial;       /* a write that leaves some bytes of its runs as they are */
  uint16_t alignment; /* what the operand's address must be a multiple of; 0: as its space */
  struct inst_runs runs;
};

/* The core whose buffer an access of a core means. */
uint32_t inst_access_core(const struct vinci_soc *soc, const struct inst_access *access,
                          uint32_t core);

/* Calls `each` with the bytes an access touches, as runs that do not adjoin where that is
 * easily seen, until it returns false. */
typedef bool (*inst_run_fn)(void *context, int64_t address, uint64_t bytes);
bool inst_each_run(const struct inst_access *access, inst_run_fn each, void *context);
/* Whether no two of these runs share a byte; false also where that is not easily seen. */
bool inst_runs_are_apart(const struct inst_access *access);
/* Describes runs that follow one another as the hull that they fill. */
void inst_join_runs(struct inst_access *access);

enum { INST_ACCESS_MAX = 8 };

typedef void (*inst_cost_fn)(const struct vinci_soc *, const struct inst *, struct inst_cost *);
typedef unsigned (*inst_access_fn)(const struct vinci_soc *, const struct inst *,
                                   struct inst_access *);

/*
 * For the units: appends a range of an operand, once per direction its signature names;
 * returns the new count.
 */
unsigned inst_touch(const struct inst *inst, struct inst_access *access, unsigned count,
                    unsigned arg, uint64_t offset, uint64_t bytes);

/* The same for what is not one run: describes what the last inst_touch appended, from entry
 * `from` on. */
static inline void inst_set_runs(struct inst_access *access, unsigned from, unsigned count,
                                 struct inst_runs runs) {
  for (; from < count; from++)
    access[from].runs = runs;
}

/*
 * Special registers live in the instruction that is filled again and again for one core:
 * the state after reset, and what an instruction that was just filled does to them. Every
 * other instruction leaves them alone.
 */
void inst_reset_registers(struct inst *inst);
void inst_write_registers(struct inst *inst);

struct value_core;
typedef void (*inst_values_fn)(const struct vinci_soc *, const struct inst *, struct value_core *);

/*
 * What becomes of marks of unwritten bytes: a function that works on buffers of marks (a byte that
 * is not 0 is unwritten) as STEM_values works on buffers of values. NULL: the instruction wants all
 * that it reads to be written, and all that it writes is.
 */
inst_values_fn registry_marks(enum isa_op op);
/* The functions of an instruction (core/registry.c). */
inst_cost_fn registry_cost(enum isa_op op);
inst_access_fn registry_access(enum isa_op op);
inst_values_fn registry_values(enum isa_op op);

#endif
