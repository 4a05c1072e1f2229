/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing of traces in canonical form: operands in the order of their signature,
 * those equal to their default left out, expressions with the fewest parentheses
 * and no blanks. Reading the text back gives the same program; names of buffers in
 * expressions have become the addresses they stand for, and so have those of tensors
 * where a row names several or calculates with more than sums.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/cells.h"
#include "traces/format/reader.h"

struct writer {
  const struct vinci_trace *trace;
  FILE *out;
  const char *const *var_names; /* of the stream being written */
};

/* ---- expressions ---------------------------------------------------------- */

/* The lowest number has no decimal form without a sign: it is written as its bits. */
static void put_number(struct writer *writer, int64_t value) {
  if (value == INT64_MIN)
    fprintf(writer->out, "0x%" PRIx64, (uint64_t)value);
  else
    fprintf(writer->out, "%" PRId64, value);
}

/* Writes the code that ends at `end`, in parentheses when it binds weaker than level. */
static void put_code(struct writer *writer, const struct program_code *code, const uint32_t *first,
                     uint32_t end, unsigned level) {
  enum expr_op op = (enum expr_op)code[end].op;
  if (op == EXPR_CONST) {
    put_number(writer, code[end].value);
    return;
  }
  if (op == EXPR_VAR) {
    fputs(writer->var_names[code[end].value], writer->out);
    return;
  }
  unsigned own = expr_forms[op].level;
  bool call = op == EXPR_MIN || op == EXPR_MAX;
  bool enclose = call || own < level;
  uint32_t right = end - 1;
  fprintf(writer->out, "%s%s", call ? expr_forms[op].text : "", enclose ? "(" : "");
  if (op == EXPR_NEG) {
    fputs(expr_forms[op].text, writer->out);
    put_code(writer, code, first, right, EXPR_LEVEL_UNARY);
  } else {
    unsigned inner = call ? EXPR_LEVEL_COMPARE : own;
    put_code(writer, code, first, first[right] - 1,
             own == EXPR_LEVEL_COMPARE ? EXPR_LEVEL_SUM : inner);
    fputs(call ? "," : expr_forms[op].text, writer->out);
    put_code(writer, code, first, right, call ? EXPR_LEVEL_COMPARE : own + 1);
  }
  if (enclose)
    fputc(')', writer->out);
}

static void put_postfix(struct writer *writer, const struct program_expr *expr) {
  const struct program_code *code = writer->trace->codes + expr->first_code;
  uint32_t first[TRACE_EXPR_OPERATIONS_MAX]; /* where the operands of each operator begin */
  for (uint32_t i = 0; i < expr->code_count; i++) {
    if (code[i].op == EXPR_CONST || code[i].op == EXPR_VAR)
      first[i] = i;
    else if (code[i].op == EXPR_NEG)
      first[i] = first[i - 1];
    else
      first[i] = first[first[i - 1] - 1];
  }
  put_code(writer, code, first, expr->code_count - 1, EXPR_LEVEL_COMPARE);
}

/* What is added to a sum or a tensor's name. */
static void put_added(struct writer *writer, int64_t value) {
  if (value == 0)
    return;
  if (value > 0 || value == INT64_MIN)
    fputc('+', writer->out);
  put_number(writer, value);
}

/* The sum, the tensor first, then variables: "x+20971520*blk-3*i+4096". */
static void put_sum(struct writer *writer, const struct program_expr *expr,
                    const struct program_tensor *tensor) {
  const struct program_term *terms = writer->trace->terms + expr->first_term;
  if (tensor)
    fputs(tensor->name, writer->out);
  for (uint32_t i = 0; i < expr->term_count; i++) {
    int64_t factor = terms[i].coefficient;
    bool minus = factor < 0 && factor != INT64_MIN;
    uint64_t size = minus ? 0 - (uint64_t)factor : (uint64_t)factor;
    fputs(minus ? "-" : i > 0 || tensor ? "+" : "", writer->out);
    if (size != 1) {
      put_number(writer, (int64_t)size);
      fputc('*', writer->out);
    }
    fputs(writer->var_names[terms[i].variable], writer->out);
  }
  put_added(writer, expr->constant - (tensor ? (int64_t)tensor->address : 0));
}

/* Whether the text of an expression has a comma, so that its field needs quotes. */
static bool has_comma(const struct writer *writer, const struct program_expr *expr) {
  const struct program_code *code = writer->trace->codes + expr->first_code;
  for (uint32_t i = 0; i < expr->code_count; i++)
    if (code[i].op == EXPR_MIN || code[i].op == EXPR_MAX)
      return true;
  return false;
}

/* The tensor an operand of an instruction in GM is written relative to, or NULL. */
static const struct program_tensor *named_tensor(const struct writer *writer,
                                                 const struct program_row *row, unsigned index) {
  if (row->kind == ROW_READ && row->partner > 0 && index == READ_FROM)
    return &writer->trace->tensors[row->partner - 1];
  if (row->kind != ROW_INST || row->partner == 0)
    return NULL;
  const struct isa_arg *arg = &isa_row((enum isa_op)row->op)->arg[index];
  bool in_gm = arg->kind == ARG_ADDRESS && arg->space == SPACE_GM;
  return in_gm ? &writer->trace->tensors[row->partner - 1] : NULL;
}

/* A field of an operand: the text before its value, and the value. */
static void put_operand(struct writer *writer, const struct program_row *row, unsigned index,
                        const char *key) {
  int64_t value = writer->trace->operands[row->first_operand + index];
  const struct program_tensor *tensor = named_tensor(writer, row, index);
  const char *equals = key[0] != '\0' ? "=" : "";
  if ((row->expr_mask >> index & 1) == 0) {
    fprintf(writer->out, ",%s%s", key, equals);
    if (tensor) {
      fputs(tensor->name, writer->out);
      put_added(writer, value - (int64_t)tensor->address);
    } else {
      put_number(writer, value);
    }
    return;
  }
  const struct program_expr *expr = &writer->trace->exprs[value];
  const char *quote = has_comma(writer, expr) ? "\"" : "";
  fprintf(writer->out, ",%s%s%s", quote, key, equals);
  if (expr->code_count > 0)
    put_postfix(writer, expr);
  else
    put_sum(writer, expr, tensor);
  fputs(quote, writer->out);
}

/* ---- rows ----------------------------------------------------------------- */

static void put_inst(struct writer *writer, const struct program_row *row) {
  const struct isa_row *isa = isa_row((enum isa_op)row->op);
  const int64_t *operands = writer->trace->operands + row->first_operand;
  fputs(isa->name, writer->out);
  for (unsigned i = 0; i < isa->arg_count; i++) {
    const struct isa_arg *arg = &isa->arg[i];
    char word[64];
    bool is_expr = row->expr_mask >> i & 1;
    if (!is_expr && arg->has_default && operands[i] == arg->default_value)
      continue;
    switch (arg->kind) {
    case ARG_DTYPE:
      fprintf(writer->out, ",%s=%s", arg->name, dtype_name((enum dtype)operands[i]));
      break;
    case ARG_PIPE:
      fprintf(writer->out, ",%s=%s", arg->name, pipe_name((enum pipe)operands[i]));
      break;
    case ARG_WORD:
      isa_word_text(arg, operands[i], word, sizeof word);
      fprintf(writer->out, ",%s=%s", arg->name, word);
      break;
    default:
      put_operand(writer, row, i, arg->name);
      break;
    }
  }
  fputc('\n', writer->out);
}

/* What a read row reads. */
static void put_source(struct writer *writer, const struct program_row *row) {
  int64_t bytes = writer->trace->operands[row->first_operand + READ_WIDTH];
  if (bytes == READ_REGISTER)
    fputs(",taken", writer->out);
  else
    put_operand(writer, row, READ_FROM, "");
  if (bytes == READ_INT64)
    fputs(",int64", writer->out);
}

static void put_row(struct writer *writer, const struct program_row *row) {
  static const char *const names[ROW_KIND_COUNT] = {[ROW_LOOP] = "loop",
                                                    [ROW_LET] = "let",
                                                    [ROW_READ] = "read",
                                                    [ROW_SET] = "set",
                                                    [ROW_EXPECT] = "expect"};
  if (row->kind == ROW_INST) {
    put_inst(writer, row);
  } else if (row->kind == ROW_LEFT_OUT) {
    return;
  } else if (row->kind == ROW_ENDLOOP) {
    fputs("endloop\n", writer->out);
  } else {
    fprintf(writer->out, "%s,%s", names[row->kind], writer->var_names[row->op]);
    put_operand(writer, row, 0, "");
    if (row->kind == ROW_READ)
      put_source(writer, row);
    fputc('\n', writer->out);
  }
}

static void put_tensor(struct writer *writer, const struct program_tensor *tensor) {
  static const char *const directions[] = {[TENSOR_IN] = "in",
                                           [TENSOR_OUT] = "out",
                                           [TENSOR_INOUT] = "inout",
                                           [TENSOR_WORKSPACE] = "workspace"};
  fprintf(writer->out, "tensor,name=%s,dtype=%s,shape=", tensor->name, dtype_name(tensor->dtype));
  for (unsigned i = 0; i < tensor->rank; i++)
    fprintf(writer->out, "%s%" PRIu64, i ? "x" : "", tensor->shape[i]);
  fprintf(writer->out, ",io=%s", directions[tensor->io]);
  if (tensor->file)
    cell_write_field(writer->out, "file", tensor->file);
  if (strcmp(tensor->format, "ND") != 0)
    cell_write_field(writer->out, "format", tensor->format);
  if (tensor->passes_l2)
    fputs(",cache=disable", writer->out);
  if (tensor->tail > 0)
    fprintf(writer->out, ",tail=%" PRIu64, tensor->tail);
  fputc('\n', writer->out);
}

static void put_stream(struct writer *writer, const struct program_stream *stream,
                       enum core_kind kind) {
  fprintf(writer->out, "stream,core=%s\n", core_kind_name(kind));
  writer->var_names = stream->var_names;
  for (uint64_t i = 0; i < stream->row_count; i++)
    put_row(writer, &writer->trace->rows[stream->first_row + i]);
}

/* Streams in the order of the text: a stream without rows may share its first row. */
static void put_streams(struct writer *writer, const struct program_kernel *kernel) {
  uint32_t line = 0;
  for (;;) {
    unsigned next = CORE_KIND_COUNT;
    for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++)
      if (kernel->stream[kind].present && kernel->stream[kind].line > line &&
          (next == CORE_KIND_COUNT || kernel->stream[kind].line < kernel->stream[next].line))
        next = kind;
    if (next == CORE_KIND_COUNT)
      return;
    put_stream(writer, &kernel->stream[next], (enum core_kind)next);
    line = kernel->stream[next].line;
  }
}

static void put_kernel(struct writer *writer, const struct program_kernel *kernel) {
  const struct vinci_trace *trace = writer->trace;
  fputs("kernel", writer->out);
  cell_write_field(writer->out, "name", kernel->name);
  fprintf(writer->out, ",arch=%s,blocks=%u", arch_name(kernel->arch), (unsigned)kernel->blocks);
  if (kernel->mixed && kernel->vectors_per_cube != 2)
    fprintf(writer->out, ",vectors_per_cube=%u", (unsigned)kernel->vectors_per_cube);
  fputc('\n', writer->out);
  for (uint32_t i = 0; i < kernel->tensor_count; i++)
    put_tensor(writer, &trace->tensors[kernel->first_tensor + i]);
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    const struct program_buffer *buffer = &trace->buffers[kernel->first_buffer + i];
    fprintf(writer->out, "buffer,name=%s,space=%s,address=%" PRIu64 ",size=%" PRIu64 "\n",
            buffer->name, space_name(buffer->space), buffer->address, buffer->bytes);
  }
  put_streams(writer, kernel);
}

enum vinci_status vinci_trace_write(const vinci_trace *trace, FILE *out, struct vinci_diag *diag) {
  struct writer writer = {.trace = trace, .out = out};
  fprintf(out, "trace,version=%d\n", TRACE_VERSION);
  for (uint32_t i = 0; i < trace->kernel_count; i++)
    put_kernel(&writer, &trace->kernels[i]);
  errno = 0;
  if (fflush(out) != 0 || ferror(out))
    return diag_error(diag, diag_status_of(errno), "cannot write the trace: %s",
                      errno ? strerror(errno) : "write error");
  return VINCI_OK;
}
