/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that is emitted as rows of numbers and expressions in place of text, for estimates: no
 * text is written or read. Rows are kept of instructions, loops and lets alone; names are numbers
 * of variables. A record is used again for the next tiling.
 */
#ifndef VINCI_LOWER_KERNEL_EMIT_RECORD_H
#define VINCI_LOWER_KERNEL_EMIT_RECORD_H

#include "core/isa/program.h"
#include "lower/kernel/expr.h"

struct field;

struct record_row {
  uint8_t kind;      /* enum program_row_kind: ROW_INST, ROW_LOOP, ROW_ENDLOOP, ROW_LET, ROW_SET */
  uint8_t arg_count; /* ROW_LOOP, ROW_LET, ROW_SET: 1 */
  uint16_t op;       /* ROW_INST: enum isa_op; others: the variable */
  uint32_t partner;  /* of loops: the other end; ROW_SET: the place in `carried` */
  uint32_t terms;    /* bit i: operand i is not a number but a term */
  uint32_t sizes;    /* those terms that are not addresses */
  uint32_t first;    /* of its operands, in `number` and, of terms, in `term` */
};

struct record_tensor {
  uint64_t address, bytes;
  bool hidden; /* a workspace: what is read there was written by the kernel */
};

/* The rows of one kind of core in one kernel. */
struct record_stream {
  enum core_kind kind;
  uint32_t kernel, blocks, vectors; /* vectors: AIV of a block in a mixed kernel, else 0 */
  uint32_t first, end;              /* rows */
};

enum { RECORD_STREAMS = 16, RECORD_NAMES = 512, RECORD_DEPTH = 32, RECORD_CARRIED = 8 };

struct record_name {
  const char *text; /* NULL: free */
  uint32_t variable;
};

struct record {
  struct arena *arena; /* of names and of what grows; lives longer than terms */
  struct record_row *row;
  int64_t *number;
  struct expr *term;
  int64_t *variable; /* values of tensors and buffers; others 0 */
  struct record_tensor tensor[64];
  uint32_t row_count, row_room, operand_count, number_room, term_room, variable_count,
      variable_room;
  uint32_t kernel_count, stream_count, tensor_count, open[RECORD_DEPTH], depth;
  struct record_stream stream[RECORD_STREAMS];
  uint32_t carried[RECORD_CARRIED], carried_count; /* variables that keep a value between turns */
  struct record_name name[RECORD_NAMES];
  uint64_t gm_end;
  bool full; /* something had no room: there is no estimate */
};

/* Ready for the next trace; names stay. A new record is all zero. */
void record_start(struct record *record, struct arena *arena);
/* The variable of a name, and the record's own copy of that name. */
struct record_name record_name(struct record *record, const char *name);

void record_kernel(struct record *record, uint32_t blocks, uint32_t vectors);
void record_tensor(struct record *record, const char *name, uint64_t bytes, bool hidden);
void record_buffer(struct record *record, const char *name, uint64_t address);
void record_stream(struct record *record, enum core_kind kind);
void record_loop(struct record *record, const char *name, struct expr count);
void record_loop_end(struct record *record);
void record_let(struct record *record, const char *name, struct expr value);
/* A value of a variable that is there already. */
void record_set(struct record *record, const char *name, struct expr value);
void record_inst(struct record *record, struct emit *emit, const char *inst,
                 const struct field *fields, size_t count);

#endif
