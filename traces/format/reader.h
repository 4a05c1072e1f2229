/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the trace reader: the state that its files share.
 *
 *   reader.c   physical lines, bytes, errors
 *   fields.c   CSV fields, positions of errors
 *   headers.c  rows trace, kernel, stream; with keys.c for key=value fields
 *   objects.c  rows tensor and buffer
 *   rows.c     rows loop, let, endloop and instructions
 *   check.c    what the SoC allows an instruction
 *   expr.c     expressions
 *   names.c    the table of names
 *
 * Every function that takes a row or a field returns VINCI_OK or has reported the
 * error; the reader stops at the first error.
 */
#ifndef VINCI_TRACES_FORMAT_READER_H
#define VINCI_TRACES_FORMAT_READER_H

#include <csv.h>

#include "core/base/diag.h"
#include "core/base/lookup.h"
#include "core/chip/soc.h"
#include "core/isa/inst.h"
#include "core/isa/isa.h"
#include "core/isa/program.h"
#include "traces/format/growing.h"

enum {
  TRACE_VERSION = 1,
  TRACE_LINE_BYTES_MAX = 1 << 20,
  TRACE_FIELDS_MAX = ISA_ARGS_MAX + 8, /* per row; more are counted but not kept */
  TRACE_NAME_BYTES_MAX = 63,
  TRACE_KERNEL_NAME_BYTES_MAX = 200,
  TRACE_BLOCKS_MAX = 65535,         /* block_dim of a launch is a 16-bit number */
  TRACE_VARIABLES_MAX = UINT16_MAX, /* program_row.op holds a variable */
  TRACE_EXPR_OPERATIONS_MAX = 1024,
  TRACE_EXPR_NESTING_MAX = 64,
};

/* One field of the current row, quotes removed, zero-terminated. */
struct trace_field {
  const char *text;
  size_t length;
};

enum name_kind { NAME_NONE, NAME_TENSOR, NAME_BUFFER };

/* All that one name stands for. Names are never removed: what is out of scope is stale. */
struct trace_name {
  const char *text;
  uint32_t length;
  uint32_t memory;        /* last tensor of this name in the file + 1, 0 = none */
  uint32_t object_kernel; /* kernel + 1 in which it is a tensor or buffer */
  uint32_t object;        /* its index in tensors or buffers */
  uint8_t object_kind;    /* enum name_kind */
  bool in_scope;          /* as a variable, in the stream of serial number `stream` */
  uint32_t stream;
  uint32_t variable;
  uint32_t about; /* what a variable's own expression names, as TRACE_OBJECT_* */
  uint32_t line;  /* of its last declaration */
};

/* What an expression names: index + 1 of a tensor, or of a buffer with the bit. */
enum { TRACE_OBJECT_BUFFER = 1 << 30 };
#define TRACE_OBJECT_SEVERAL UINT32_MAX

/* Operands of an earlier instruction, for those that have the same. */
struct trace_same {
  uint64_t first_operand;
  uint16_t op;
  bool used;
};
enum { TRACE_SAME_BITS = 12 };

/* An open loop. */
struct trace_loop {
  uint64_t row;
  size_t scope; /* height of the stack of variables outside */
};

struct trace_reader {
  const struct vinci_soc *soc;
  struct vinci_diag *diag;
  struct arena arena; /* of the program to be */
  const char *path;

  /* the current line */
  const char *line_text;
  size_t line_length;
  size_t end_length; /* of the line end after the text */
  uint32_t line;
  struct csv_parser csv;
  struct trace_field fields[TRACE_FIELDS_MAX];
  size_t field_count;
  bool row_ended;
  char *scratch; /* text of the fields */
  size_t scratch_used, scratch_size;

  /* the program so far */
  struct growing kernels, tensors, buffers;
  struct growing rows, operands, exprs, terms, codes, named;
  uint64_t gm_end;
  uint64_t inst_count;
  bool any_unit_flag;
  uint32_t named_tensor; /* by the current row: index + 1, 0 = none, UINT32_MAX = several */
  uint32_t named_object; /* by the current field: TRACE_OBJECT_*, 0 = none */
  bool version_seen;

  /* the current kernel and stream */
  struct program_kernel *kernel; /* NULL before the first; the last of kernels */
  struct program_stream *stream; /* NULL outside streams */
  enum core_kind core;
  bool vectors_given;
  uint32_t stream_serial;
  struct growing variables; /* const char *: names by variable */
  struct growing scope;     /* uint32_t: names of variables in scope */
  struct growing loops;     /* struct trace_loop */

  struct growing names; /* trace_name */
  struct lookup name_table;

  uint8_t op_allowed[OP_COUNT];                 /* bit per core kind: checked before */
  uint32_t op_dtypes[OP_COUNT];                 /* of those: the types the chip takes */
  struct trace_same same[1 << TRACE_SAME_BITS]; /* by hash of the operands, newest only */
};

/* ---- reader.c: errors ---- */

/* Reports an error at a byte of a field of the current row. */
enum vinci_status trace_fail(struct trace_reader *reader, size_t field, size_t offset,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Reports an error about an earlier line. */
enum vinci_status trace_fail_line(struct trace_reader *reader, uint32_t line, const char *format,
                                  ...) __attribute__((format(printf, 3, 4)));
/* Reports a field without "=" (keys.c). */
enum vinci_status trace_fail_equals(struct trace_reader *reader, size_t field);
enum vinci_status trace_no_memory(struct trace_reader *reader);

enum { TRACE_CLIP_BYTES = 64 };
struct trace_clip {
  char text[TRACE_CLIP_BYTES];
};
/* Text of the user for a message: cut, whole characters, when it is long. */
struct trace_clip trace_clip(const char *text, size_t length);

/* ---- hints.c ---- */

/* Each gives a hint to an error just told, if there is one to give: for an unknown row or core
 * type, */
void trace_hint_row(struct trace_reader *reader, const char *row);
void trace_hint_core(struct trace_reader *reader, const char *core);
/* for a field that may be the beginning of an expression with a comma, or the rest of a list, */
void trace_hint_comma(struct trace_reader *reader, size_t field);
void trace_hint_list(struct trace_reader *reader, size_t field);
/* for an operand whose value may be a number with a fraction. */
void trace_hint_fraction(struct trace_reader *reader, const struct isa_arg *arg, size_t field);

/* ---- fields.c ---- */

/* Splits the current line into fields. */
enum vinci_status trace_split(struct trace_reader *reader);
/* The byte column (1-based) of a byte of a field, and an error there. */
unsigned long trace_column(const struct trace_reader *reader, size_t field, size_t offset);
enum vinci_status trace_fail_column(struct trace_reader *reader, unsigned long column,
                                    const char *text);

/* ---- headers.c ---- */

/* Reads the current row, which is no instruction, if it is a header row; else *done is false. */
enum vinci_status trace_header_row(struct trace_reader *reader, bool *done);
/* Ends the open stream and kernel, as the next header row or the end of text does. */
enum vinci_status trace_end_stream(struct trace_reader *reader);
enum vinci_status trace_end_kernel(struct trace_reader *reader);

/* ---- objects.c ---- */

enum vinci_status trace_tensor_row(struct trace_reader *reader);
enum vinci_status trace_buffer_row(struct trace_reader *reader);

/* ---- rows.c ---- */

/* Reads an instruction, and any other row that is no header row. */
enum vinci_status trace_inst_row(struct trace_reader *reader, enum isa_op op);
enum vinci_status trace_other_row(struct trace_reader *reader);

/* ---- check.c ---- */

/* Whether an instruction may stand in the current stream. */
enum vinci_status trace_check_op(struct trace_reader *reader, enum isa_op op);
/* Whether the architecture has an operand. */
enum vinci_status trace_check_operand(struct trace_reader *reader, enum isa_op op,
                                      const struct isa_arg *arg, size_t field);
/* Whether a constant is a legal value of an operand; the position is that of the value. */
enum vinci_status trace_check_value(struct trace_reader *reader, enum isa_op op,
                                    const struct isa_arg *arg, int64_t value, size_t field,
                                    size_t offset);
/* What involves several operands: flags. Expressions (bits of expr_mask) are left out. */
enum vinci_status trace_check_inst(struct trace_reader *reader, enum isa_op op,
                                   const int64_t *operands, uint32_t expr_mask);

/* ---- expr.c ---- */

/*
 * Compiles the rest of a field from offset on. *constant: *value is the value;
 * otherwise *value is an index into the expressions.
 */
enum vinci_status trace_expr(struct trace_reader *reader, size_t field, size_t offset,
                             int64_t *value, bool *constant);

/* ---- names.c ---- */

/* The entry of a name, NULL when it has never been declared. */
struct trace_name *trace_name_find(struct trace_reader *reader, const char *text, size_t length);
/* Whether an entry now stands for something. */
bool trace_name_is_variable(const struct trace_reader *reader, const struct trace_name *name);
bool trace_name_is_object(const struct trace_reader *reader, const struct trace_name *name);
/* Variables every stream has: blk, sub, blocks. VAR_FIRST_FREE when it is none. */
uint32_t trace_builtin(const char *text, size_t length);
/* The name in scope nearest to a misspelt one, or NULL. */
const char *trace_name_nearest(const struct trace_reader *reader, const char *text);
/* Checks a new name (form, clashes) and returns its entry; it is not yet anything. */
enum vinci_status trace_name_declare(struct trace_reader *reader, size_t field, size_t offset,
                                     struct trace_name **out);
/* Makes a declared name a variable of the stream, in scope until the loop around it ends. */
enum vinci_status trace_variable(struct trace_reader *reader, struct trace_name *name,
                                 uint16_t *variable);

#endif
