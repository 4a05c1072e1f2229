/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loaded trace: rows with loops kept, operands as constants or expressions.
 * Memory is proportional to the text. Written by traces/format, executed by
 * core/isa/stream.c, shared read-only by any number of runs.
 */
#ifndef VINCI_CORE_ISA_PROGRAM_H
#define VINCI_CORE_ISA_PROGRAM_H

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/isa/inst.h"

/* Variables every stream has; loop counters and lets follow. */
enum { VAR_BLK, VAR_SUB, VAR_BLOCKS, VAR_FIRST_FREE };

enum program_row_kind {
  ROW_INST,
  ROW_LOOP,
  ROW_ENDLOOP,
  ROW_LET,
  ROW_READ,   /* as ROW_LET; with values the scalar unit reads the value (operand 1: where) */
  ROW_SET,    /* as ROW_LET, of a variable that is there already */
  ROW_EXPECT, /* the variable has to have this value */
  ROW_KIND_COUNT,
  /* No row of a text: a place in code that computes its instructions where scalar code accesses
   * memory itself. op: enum isa_op, behind OP_COUNT. */
  ROW_ACCESS = ROW_KIND_COUNT,
  ROW_LEFT_OUT, /* an instruction of the text that a what-if goes without */
};

/* Operands of ROW_READ: what runs without values take; the address of a signed number in UB, or in
 * the tensor that the row names; the bytes of the number, READ_REGISTER: none, but the register
 * with the number of lanes that the last vreducev2 has taken. */
enum { READ_TAKEN_TO_BE, READ_FROM, READ_WIDTH, READ_FIELDS };
enum { READ_REGISTER = 0, READ_INT32 = 4, READ_INT64 = 8 };

enum { PROGRAM_PASSES_CACHE = 1 }; /* ld_dev, st_dev */

struct program_row {
  uint8_t kind;           /* enum program_row_kind */
  uint8_t arg_count;      /* ROW_INST: as the ISA row; ROW_READ: 3; ROW_ENDLOOP: 0; others: 1 */
  uint16_t op;            /* ROW_INST: enum isa_op; others: variable */
  uint32_t line;          /* 1-based line of the trace */
  uint32_t expr_mask;     /* bit i: operand i is an expression index, not a constant */
  uint32_t partner;       /* ROW_LOOP: its ROW_ENDLOOP; ROW_ENDLOOP: its ROW_LOOP;
                             ROW_INST: the tensor its operands name + 1, 0 = none or several;
                             ROW_READ: the tensor it reads + 1, 0 = UB or the register;
                             ROW_ACCESS: PROGRAM_PASSES_CACHE, 0 = by the core's data cache */
  uint64_t first_operand; /* in vinci_trace.operands */
};

/*
 * An expression: constant + sum of coefficient * variable, or, when code_count is
 * not 0, postfix code on a stack.
 */
struct program_expr {
  int64_t constant;
  uint32_t first_term;
  uint32_t term_count;
  uint32_t first_code;
  uint32_t code_count;
};

struct program_term {
  int64_t coefficient;
  uint32_t variable;
};

enum expr_op {
  EXPR_CONST,
  EXPR_VAR,
  EXPR_ADD,
  EXPR_SUB,
  EXPR_MUL,
  EXPR_DIV,
  EXPR_MOD,
  EXPR_NEG,
  EXPR_LT,
  EXPR_LE,
  EXPR_GT,
  EXPR_GE,
  EXPR_EQ,
  EXPR_NE,
  EXPR_MIN,
  EXPR_MAX,
};

/* How an operator is written; what binds weaker than its place asks for stands in parentheses. */
enum expr_level {
  EXPR_LEVEL_COMPARE = 1,
  EXPR_LEVEL_SUM,
  EXPR_LEVEL_PRODUCT,
  EXPR_LEVEL_UNARY,
  EXPR_LEVEL_VALUE
};
struct expr_form {
  const char *text;
  uint8_t level;
};
extern const struct expr_form expr_forms[EXPR_MAX + 1]; /* by enum expr_op */

struct program_code {
  int64_t value; /* EXPR_CONST: value; EXPR_VAR: variable */
  uint8_t op;    /* enum expr_op */
};

enum { EXPR_STACK_MAX = 32 };

/*
 * Where tensors lie in GM: from a base that leaves address 0 free, each at a multiple
 * of 512 bytes, the alignment at which GM transfers of all generations are fastest
 * (Ascend C documentation).
 */
enum { PROGRAM_GM_BASE = 0x1000, PROGRAM_TENSOR_ALIGNMENT = 512 };

enum tensor_io { TENSOR_IN, TENSOR_OUT, TENSOR_INOUT, TENSOR_WORKSPACE };
enum { TENSOR_RANK_MAX = 8, TENSOR_TAIL_MAX = 512 };

struct program_tensor {
  const char *name;
  const char *file;   /* .npy, may be NULL */
  const char *format; /* "ND", "NZ" ...; "ND" when not given */
  enum dtype dtype;
  enum tensor_io io;
  unsigned rank;
  uint64_t shape[TENSOR_RANK_MAX];
  uint64_t address; /* in GM, 512-byte aligned */
  uint64_t bytes;
  uint64_t tail; /* bytes behind those that belong to its memory too */
  uint32_t line;
  bool passes_l2; /* cache=disable: takes no room in L2 */
  bool is_list;   /* the program itself writes its values: addresses of other tensors */
};

struct program_buffer {
  const char *name;
  enum space space;
  uint64_t address;
  uint64_t bytes;
  uint32_t line;
};

/* An operand whose expression names one tensor or buffer, itself or through a let. */
struct program_named {
  uint32_t row;
  uint32_t object; /* in vinci_trace.tensors or .buffers */
  uint8_t arg;
  bool is_buffer;
};

struct program_stream {
  bool present;
  uint32_t line;
  uint64_t first_row;
  uint64_t row_count;
  uint32_t var_count;     /* including blk, sub, blocks */
  const char **var_names; /* by variable, for messages and the writer */
};

struct program_kernel {
  const char *name;
  uint32_t line;
  enum arch arch;
  uint32_t blocks;
  bool mixed;                          /* has an AIC and an AIV stream that run together */
  uint32_t vectors_per_cube;           /* mixed: AIV sub-blocks per block, 1 or 2 */
  uint32_t first_tensor, tensor_count; /* names in scope of this kernel */
  uint32_t first_buffer, buffer_count;
  struct program_stream stream[CORE_KIND_COUNT];
};

struct program_source;

struct vinci_trace {
  struct arena arena;
  const char *path;
  const char *op;      /* that this was lowered from, a text that outlives all traces; else NULL */
  uint64_t digest;     /* of the text */
  uint64_t soc_digest; /* of the SoC it was checked against, which alone can run the program */
  struct program_kernel *kernels;
  uint32_t kernel_count;
  struct program_tensor *tensors;
  uint32_t tensor_count;
  struct program_buffer *buffers;
  uint32_t buffer_count;
  struct program_row *rows;
  uint64_t row_count;
  int64_t *operands;
  struct program_expr *exprs;
  struct program_term *terms;
  struct program_code *codes;
  struct program_named *named; /* in the order of rows */
  uint64_t named_count;
  uint64_t gm_bytes;             /* end of the last tensor */
  bool any_passes_l2;            /* one of the tensors does */
  struct program_source *source; /* instructions come from there, not from rows; else NULL */
  bool any_unit_flag;            /* a row may have one that is not 0 (core/control/unit_flag.h) */
};

/*
 * One operator of an expression; EXPR_NEG takes left alone. False on division by
 * zero or overflow of 64 bits. Division cuts towards zero, as in C.
 */
bool program_apply(enum expr_op op, int64_t left, int64_t right, int64_t *out);
/* Evaluates an expression; false on division by zero or overflow of 64 bits. */
bool program_eval(const struct vinci_trace *trace, uint64_t expr, const int64_t *variables,
                  int64_t *out);

/*
 * How many instructions all blocks execute together, for progress: near, and exact when no loop
 * inside another has a computed count, and no row of a loop sets what a count is computed from.
 * Takes no longer than reading the trace. variables: room for those of the largest stream.
 */
uint64_t program_instructions(const struct vinci_trace *trace, int64_t *variables);
/* Share of a whole that may be too small, 0 to 1000. */
unsigned program_share_permille(uint64_t done, uint64_t total);

/* Variables of the stream that has most. */
uint32_t program_largest_var_count(const struct vinci_trace *trace);

/* How many rows of a trace issue instructions, or are of its text. */
uint64_t program_row_count(const struct vinci_trace *trace);
/* The instruction of a row, or what stands for one behind OP_COUNT. */
static inline enum isa_op program_row_op(const struct program_row *row) {
  return row->kind == ROW_READ ? OP_READ_ROW : (enum isa_op)row->op;
}

/* What-if: makes the instructions of a line ROW_LEFT_OUT, and the digest another. False: the line
 * has none. */
bool program_leave_out(struct vinci_trace *trace, uint32_t line);

/* Position of a row, for messages. */
static inline struct diag_position program_position(const struct vinci_trace *trace,
                                                    uint32_t line) {
  return (struct diag_position){.path = trace->path, .line = line};
}

#endif
