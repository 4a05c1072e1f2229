/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instruction table. core/isa/isa.def holds one row per instruction; this header
 * expands it into an enum and descriptors for the reader, checker, printer and
 * documentation, and core/registry.c into the tables of unit functions.
 *
 * Operand signatures are short strings, parsed once at first use:
 *
 *   signature := operand { " " operand }
 *   operand   := name ":" kind [ "=" default [ "@" arch { "|" arch } ] ]
 *   kind      := SPACE ":" ("r" | "w" | "rw")    address in a memory space, bytes
 *              | number ".." number [ "!" number ]
 *                                                integer in a range, ends included, but for one
 *              | "{" word { "|" word } "}"       one of some words; value = index
 *              | "dtype"                         one of the row's data types
 *              | "pipe"                          a pipe name
 *
 * An operand with a default may be left out of a trace row; one with architectures exists
 * on those alone.
 */
#ifndef VINCI_CORE_ISA_ISA_H
#define VINCI_CORE_ISA_ISA_H

#include <stdatomic.h>

#include "core/chip/arch.h"
#include "core/vinci.h"

enum isa_op {
#define ISA(id, ...) OP_##id,
#include "core/isa/isa.def"
#undef ISA
  OP_COUNT,
  /* No instruction: what is told of a read row of a trace where instructions are told of. Only
   * isa_row() knows of this; its operands are those of ROW_READ. */
  OP_READ_ROW = OP_COUNT,
  /* The same of what scalar code of a compiled kernel does itself: accesses, and an address of the
   * data cache that it gives up. Operands: enum access_operand. */
  OP_SCALAR_LOAD,
  OP_SCALAR_STORE,
  OP_SCALAR_CLEAN,
  OP_THREAD_LOAD, /* of functions of threads: the vector unit's */
  OP_THREAD_STORE,
  OP_END
};

/* Mask: 0, or which bytes of the 64 behind the address are meant. */
enum access_operand { ACCESS_ADDRESS, ACCESS_BYTES, ACCESS_SPACE, ACCESS_MASK };

enum { ISA_ARGS_MAX = 24 };

enum isa_arg_kind { ARG_ADDRESS, ARG_INTEGER, ARG_WORD, ARG_DTYPE, ARG_PIPE };

struct isa_arg {
  char name[16];
  uint8_t name_length;
  uint8_t kind;  /* enum isa_arg_kind */
  uint8_t space; /* ARG_ADDRESS: enum space */
  bool reads;
  bool writes;
  bool has_default;
  uint8_t archs; /* ARCH_BIT set that has the operand */
  int64_t low;   /* ARG_INTEGER range */
  int64_t high;
  bool has_gap; /* ARG_INTEGER: `gap` is inside the range and no value all the same */
  int64_t gap;
  int64_t default_value;
  const char *words; /* ARG_WORD: "a|b|c}" inside the signature */
};

/* Data types of sources and results. */
struct isa_types {
  enum dtype src;
  enum dtype dst;
};

struct isa_row {
  const char *name;
  enum pipe pipe;  /* PIPE_COUNT: the operand `pipe` or the flag's side decides */
  uint32_t archs;  /* ARCH_BIT set */
  uint32_t dtypes; /* 1 << enum dtype set; 0 when the instruction has no type operand */
  const char *signature;
  const char *text;
  const char *source;
  uint8_t class16;    /* enum vector_class for types up to 16 bits */
  uint8_t class32;    /* and for wider ones */
  uint8_t register16; /* enum register_class of the same; 0: no register instruction */
  uint8_t register32;
  bool has_fixed_types; /* `fixed` holds them: the instruction has no type operand */
  struct isa_types fixed;
  uint8_t arg_count;
  int8_t type_arg;      /* index of the dtype operand, -1 */
  int8_t unit_flag_arg; /* and of the operand "unit_flag" */
  struct isa_arg arg[ISA_ARGS_MAX];
};

/* Whether an instruction is part of a vector function; vf_call, which runs one, is not. */
static inline bool isa_is_register(enum isa_op op) {
  return op == OP_VF_BEGIN || (op > OP_VF_CALL && op <= OP_REG_MEM_BAR) ||
         (op >= OP_REG_PLDS && op <= OP_REG_PSTU);
}

/* Whether what is told of an access of code is a store, and whether the code is that of threads. */
static inline bool isa_is_store(enum isa_op op) {
  return op == OP_SCALAR_STORE || op == OP_THREAD_STORE;
}
static inline bool isa_is_of_threads(enum isa_op op) {
  return op == OP_THREAD_LOAD || op == OP_THREAD_STORE;
}

/* Rows as far as they are parsed, for isa_row() alone. */
extern struct isa_row isa_rows[OP_END] __attribute__((visibility("hidden")));
extern atomic_bool isa_is_parsed[OP_END] __attribute__((visibility("hidden")));
void isa_parse_row(enum isa_op op);

/* The row of an instruction; its signature is parsed on first use. */
static inline const struct isa_row *isa_row(enum isa_op op) {
  if (!atomic_load_explicit(&isa_is_parsed[op], memory_order_acquire))
    isa_parse_row(op);
  return &isa_rows[op];
}
/* The instruction of a name (length bytes), OP_COUNT when there is none. */
enum isa_op isa_find(const char *name, size_t length);
/* Index of an operand by name (length bytes), -1 when there is none. */
int isa_arg_find(const struct isa_row *row, const char *name, size_t length);
/* Index of a word in an ARG_WORD operand, -1; and the word of an index, into buffer. */
int isa_word_find(const struct isa_arg *arg, const char *word, size_t length);
void isa_word_text(const struct isa_arg *arg, int64_t index, char *buffer, size_t size);
/* Whether an ARG_INTEGER operand may have a value; and the values it may have, for messages. */
static inline bool isa_arg_allows(const struct isa_arg *arg, int64_t value) {
  return value >= arg->low && value <= arg->high && !(arg->has_gap && value == arg->gap);
}
void isa_range_text(const struct isa_arg *arg, char *buffer, size_t size);
/* Whether an architecture computes in a data type at all. */
bool arch_has_dtype(enum arch arch, enum dtype dtype);
/* The data types an instruction takes on an architecture, as a set. */
uint32_t isa_dtypes(enum isa_op op, enum arch arch);

#endif
