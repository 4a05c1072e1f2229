/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a stream: loops, lets and instructions. An instruction row is the hot
 * path of reading: operands are expected in the order of their signature, numbers are
 * taken without the expression parser, and nothing is allocated but the row itself.
 */
#include <string.h>

#include "traces/format/reader.h"

/* Rows of streams need a kernel row and a stream row before them. */
static enum vinci_status check_place(struct trace_reader *reader, const char *row) {
  if (!reader->kernel) {
    trace_fail(reader, 0, 0, "%s row before any kernel row", row);
    diag_hint(reader->diag, "a row like \"kernel,name=add,arch=dav-c220,blocks=8\" comes first");
    return VINCI_E_INPUT;
  }
  if (!reader->stream) {
    trace_fail(reader, 0, 0, "%s row outside a stream", row);
    diag_hint(reader->diag, "a row like \"stream,core=AIV\" comes first");
    return VINCI_E_INPUT;
  }
  return VINCI_OK;
}

/* ---- rows about names ------------------------------------------------------ */

/* Adds a row with a number of operands. */
static struct program_row *add_row(struct trace_reader *reader, enum program_row_kind kind,
                                   unsigned arg_count, int64_t **operands) {
  uint64_t first_operand = reader->operands.count;
  *operands = growing_push(&reader->operands, arg_count, sizeof **operands);
  struct program_row *row = GROWING_PUSH(&reader->rows, struct program_row);
  if (!*operands || !row || reader->rows.count > UINT32_MAX)
    return NULL;
  *row = (struct program_row){.kind = (uint8_t)kind,
                              .arg_count = (uint8_t)arg_count,
                              .line = reader->line,
                              .first_operand = first_operand};
  return row;
}

static enum vinci_status wrong_form(struct trace_reader *reader, const char *form) {
  const char *row = reader->fields[0].text;
  trace_fail(reader, 0, 0, "%s %s row has a name and an expression", row[0] == 'e' ? "an" : "a",
             row);
  trace_hint_comma(reader, 2);
  diag_hint(reader->diag, "write it like \"%s\"", form);
  return VINCI_E_INPUT;
}

/* The common part of loop and let: a new name and an expression of the names before. */
static enum vinci_status define_row(struct trace_reader *reader, enum program_row_kind kind,
                                    const char *form) {
  struct trace_name *name;
  int64_t value, *operands;
  bool constant;
  if (reader->field_count != 3)
    return wrong_form(reader, form);
  enum vinci_status status = trace_expr(reader, 2, 0, &value, &constant);
  uint32_t about = reader->named_object;
  if (status == VINCI_OK)
    status = trace_name_declare(reader, 1, 0, &name);
  if (status != VINCI_OK)
    return status;
  struct program_row *row = add_row(reader, kind, 1, &operands);
  if (!row)
    return trace_no_memory(reader);
  operands[0] = value;
  row->expr_mask = !constant;
  name->about = about;
  return trace_variable(reader, name, &row->op);
}

static enum vinci_status loop_row(struct trace_reader *reader) {
  struct trace_loop loop = {.row = reader->rows.count, .scope = reader->scope.count};
  enum vinci_status status = define_row(reader, ROW_LOOP, "loop,i,64");
  if (status != VINCI_OK)
    return status;
  struct trace_loop *at = GROWING_PUSH(&reader->loops, struct trace_loop);
  if (!at)
    return trace_no_memory(reader);
  *at = loop;
  return VINCI_OK;
}

static enum vinci_status endloop_row(struct trace_reader *reader) {
  if (reader->field_count != 1)
    return trace_fail(reader, 1, 0, "an endloop row has no further fields");
  if (reader->loops.count == 0)
    return trace_fail(reader, 0, 0, "endloop without a loop");
  struct trace_loop loop = *GROWING_AT(&reader->loops, struct trace_loop, --reader->loops.count);
  while (reader->scope.count > loop.scope) {
    uint32_t name = *GROWING_AT(&reader->scope, uint32_t, --reader->scope.count);
    GROWING_AT(&reader->names, struct trace_name, name)->in_scope = false;
  }
  int64_t *operands;
  struct program_row *row = add_row(reader, ROW_ENDLOOP, 0, &operands);
  if (!row)
    return trace_no_memory(reader);
  struct program_row *start = GROWING_AT(&reader->rows, struct program_row, loop.row);
  row->op = start->op;
  row->partner = (uint32_t)loop.row;
  start->partner = (uint32_t)(reader->rows.count - 1);
  return VINCI_OK;
}

/* A row "NAME,EXPRESSION" about a variable that is in scope. */
static enum vinci_status variable_row(struct trace_reader *reader, enum program_row_kind kind,
                                      const char *form) {
  int64_t value, *operands;
  bool constant;
  if (reader->field_count != 3)
    return wrong_form(reader, form);
  const char *text = reader->fields[1].text;
  const struct trace_name *name = trace_name_find(reader, text, reader->fields[1].length);
  if (!name || !trace_name_is_variable(reader, name)) {
    trace_fail(reader, 1, 0, "no let or read row has made \"%s\"", text);
    diag_hint(reader->diag, "a value gets a name with \"let,t,blk*4096\"");
    return VINCI_E_INPUT;
  }
  for (uint64_t i = 0; kind == ROW_SET && i < reader->loops.count; i++) {
    uint64_t row = GROWING_AT(&reader->loops, struct trace_loop, i)->row;
    if (GROWING_AT(&reader->rows, struct program_row, row)->op == name->variable)
      return trace_fail(reader, 1, 0, "\"%s\" counts the turns of a loop", text);
  }
  if (kind == ROW_SET && name->about != 0)
    return trace_fail(reader, 1, 0, "\"%s\" is about a buffer or tensor: only numbers change",
                      text);
  uint16_t variable = (uint16_t)name->variable;
  enum vinci_status status = trace_expr(reader, 2, 0, &value, &constant);
  if (status != VINCI_OK)
    return status;
  struct program_row *row = add_row(reader, kind, 1, &operands);
  if (!row)
    return trace_no_memory(reader);
  operands[0] = value;
  row->expr_mask = !constant;
  row->op = variable;
  return VINCI_OK;
}

/* Keeps what the value of an address names. */
static enum vinci_status keep_name(struct trace_reader *reader, unsigned index) {
  uint32_t object = reader->named_object;
  if (object == 0 || object == TRACE_OBJECT_SEVERAL)
    return VINCI_OK;
  struct program_named *named = GROWING_PUSH(&reader->named, struct program_named);
  if (!named)
    return trace_no_memory(reader);
  *named = (struct program_named){
      .row = (uint32_t)(reader->rows.count - 1),
      .object = (object & ~(uint32_t)TRACE_OBJECT_BUFFER) - 1,
      .arg = (uint8_t)index,
      .is_buffer = (object & TRACE_OBJECT_BUFFER) != 0,
  };
  return VINCI_OK;
}

/* What a read row reads: field 3, an address or "taken"; field 4, the type. */
static enum vinci_status read_source(struct trace_reader *reader, int64_t *from, bool *constant,
                                     int64_t *bytes) {
  reader->named_object = reader->named_tensor = 0;
  *bytes = READ_REGISTER;
  if (strcmp(reader->fields[3].text, "taken") == 0)
    return reader->field_count == 4
               ? VINCI_OK
               : trace_fail(reader, 4, 0, "the number of taken lanes has no other type");
  *bytes = READ_INT32;
  enum vinci_status status = trace_expr(reader, 3, 0, from, constant);
  if (status != VINCI_OK || reader->field_count == 4)
    return status;
  bool wide = strcmp(reader->fields[4].text, "int64") == 0;
  *bytes = wide ? READ_INT64 : READ_INT32;
  if (!wide && strcmp(reader->fields[4].text, "int32") != 0)
    return trace_fail(reader, 4, 0, "\"%s\" is not a type that is read: int32 or int64",
                      reader->fields[4].text);
  return VINCI_OK;
}

/* Where that lies has to be known from the row alone. */
static enum vinci_status check_source(struct trace_reader *reader, int64_t from, bool constant,
                                      int64_t bytes) {
  uint32_t object = reader->named_object, tensor = reader->named_tensor;
  bool about_tensor = tensor != 0 || (object != 0 && object != TRACE_OBJECT_SEVERAL &&
                                      !(object & TRACE_OBJECT_BUFFER));
  bool one = tensor != 0 && tensor != UINT32_MAX;
  if (about_tensor && !one) {
    trace_fail(reader, 3, 0, "the row has to name the tensor that is read");
    diag_hint(reader->diag, "write it like \"read,n,64,indices+i*4\"");
    return VINCI_E_INPUT;
  }
  if (reader->core == CORE_AIC && !one)
    return trace_fail(reader, 0, 0, "an AIC has neither UB nor lanes to read from");
  if (bytes != READ_REGISTER && constant && from < 0)
    return trace_fail(reader, 3, 0, "an address in UB is not negative");
  return VINCI_OK;
}

/* "read,NAME,EXPRESSION,FROM[,TYPE]": a let whose value a run with values reads. */
static enum vinci_status read_row(struct trace_reader *reader) {
  struct trace_name *name;
  int64_t value, from = 0, bytes, *operands;
  bool constant, from_constant = true;
  if (reader->field_count < 4 || reader->field_count > 5) {
    trace_fail(reader, 0, 0, "a read row has a name, an expression and what is read");
    diag_hint(reader->diag, "write it like \"read,n,64,taken\" or \"read,n,64,counts+32\"");
    return VINCI_E_INPUT;
  }
  enum vinci_status status = trace_expr(reader, 2, 0, &value, &constant);
  if (status == VINCI_OK)
    status = read_source(reader, &from, &from_constant, &bytes);
  if (status == VINCI_OK)
    status = check_source(reader, from, from_constant, bytes);
  if (status == VINCI_OK)
    status = trace_name_declare(reader, 1, 0, &name);
  if (status != VINCI_OK)
    return status;
  struct program_row *row = add_row(reader, ROW_READ, READ_FIELDS, &operands);
  if (!row)
    return trace_no_memory(reader);
  operands[READ_TAKEN_TO_BE] = value;
  operands[READ_FROM] = from;
  operands[READ_WIDTH] = bytes;
  row->expr_mask = (uint32_t)!constant << READ_TAKEN_TO_BE | (uint32_t)!from_constant << READ_FROM;
  row->partner = reader->named_tensor;
  name->about = 0;
  status = keep_name(reader, READ_FROM);
  return status == VINCI_OK ? trace_variable(reader, name, &row->op) : status;
}

/* ---- instructions --------------------------------------------------------- */

/* A decimal number of up to 18 digits and nothing else, which surely fits 64 bits. */
static bool plain_number(const char *text, size_t length, int64_t *out) {
  int64_t value = 0;
  if (length == 0 || length > 18)
    return false;
  for (size_t i = 0; i < length; i++) {
    unsigned digit = (unsigned)text[i] - '0';
    if (digit > 9)
      return false;
    value = value * 10 + digit;
  }
  *out = value;
  return true;
}

static const char *arg_name_at(const void *context, size_t index) {
  const struct isa_row *isa = context;
  return isa->arg[index].name;
}

/* Whether a field is "name=..." of an operand. */
static bool names_arg(const struct trace_field *field, const struct isa_arg *arg) {
  return field->length > arg->name_length && field->text[arg->name_length] == '=' &&
         memcmp(field->text, arg->name, arg->name_length) == 0;
}

/* The operand a field names, when it is not the one expected next. */
static enum vinci_status find_arg(struct trace_reader *reader, const struct isa_row *isa,
                                  size_t field, unsigned *out) {
  const struct trace_field *text = &reader->fields[field];
  const char *equals = memchr(text->text, '=', text->length);
  if (!equals)
    return trace_fail_equals(reader, field);
  size_t length = (size_t)(equals - text->text);
  int arg = isa_arg_find(isa, text->text, length);
  if (arg >= 0) {
    *out = (unsigned)arg;
    return VINCI_OK;
  }
  struct trace_clip clip = trace_clip(text->text, length);
  trace_fail(reader, field, 0, "%s has no operand \"%s\"", isa->name, clip.text);
  const char *nearest = diag_nearest(clip.text, isa->arg_count, arg_name_at, isa);
  if (nearest)
    diag_hint(reader->diag, "did you mean \"%s\"?", nearest);
  return VINCI_E_INPUT;
}

static const char *dtype_at(const void *context, size_t index) {
  (void)context;
  return dtype_name((enum dtype)index);
}

static const char *pipe_at(const void *context, size_t index) {
  (void)context;
  return pipe_name((enum pipe)index);
}

static enum vinci_status unknown_word(struct trace_reader *reader, const struct isa_arg *arg,
                                      size_t field, size_t offset) {
  const char *text = reader->fields[field].text + offset;
  struct trace_clip clip = trace_clip(text, reader->fields[field].length - offset);
  const char *nearest = NULL;
  if (arg->kind == ARG_DTYPE) {
    trace_fail(reader, field, offset, "unknown data type \"%s\"", clip.text);
    nearest = diag_nearest(clip.text, DTYPE_COUNT, dtype_at, NULL);
  } else if (arg->kind == ARG_PIPE) {
    trace_fail(reader, field, offset, "unknown pipe \"%s\"", clip.text);
    nearest = diag_nearest(clip.text, PIPE_COUNT + 1, pipe_at, NULL);
    if (!nearest)
      diag_hint(reader->diag, "pipes are S, V, M, MTE1, MTE2, MTE3 and FIX");
  } else {
    trace_fail(reader, field, offset, "operand \"%s\" cannot be \"%s\"", arg->name, clip.text);
    diag_hint(reader->diag, "allowed are %.*s", (int)strcspn(arg->words, "}"), arg->words);
  }
  if (nearest)
    diag_hint(reader->diag, "did you mean \"%s\"?", nearest);
  return VINCI_E_INPUT;
}

/* The value of a word, data type or pipe operand. */
static enum vinci_status read_word(struct trace_reader *reader, const struct isa_arg *arg,
                                   size_t field, size_t offset, int64_t *out) {
  const char *text = reader->fields[field].text + offset;
  int64_t count;
  switch (arg->kind) {
  case ARG_DTYPE:
    *out = (int64_t)dtype_by_name(text);
    count = DTYPE_COUNT;
    break;
  case ARG_PIPE:
    *out = strcmp(text, pipe_name(PIPE_ALL)) == 0 ? PIPE_ALL : (int64_t)pipe_by_name(text);
    count = *out == PIPE_ALL && text[0] != 'A' ? PIPE_ALL : PIPE_ALL + 1;
    break;
  default:
    *out = isa_word_find(arg, text, reader->fields[field].length - offset);
    count = *out < 0 ? *out : INT64_MAX;
    break;
  }
  return *out < count ? VINCI_OK : unknown_word(reader, arg, field, offset);
}

/* Reads the value of a field into an operand; *is_expr tells what it became. */
static enum vinci_status read_value(struct trace_reader *reader, enum isa_op op,
                                    const struct isa_arg *arg, size_t field, int64_t *out,
                                    bool *is_expr) {
  const struct trace_field *text = &reader->fields[field];
  size_t offset = arg->name_length + 1u;
  bool constant = true;
  enum vinci_status status = VINCI_OK;
  if (offset == text->length)
    return trace_fail(reader, field, offset, "operand \"%s\" has no value", arg->name);
  if (arg->kind != ARG_ADDRESS && arg->kind != ARG_INTEGER)
    status = read_word(reader, arg, field, offset, out);
  else if (!plain_number(text->text + offset, text->length - offset, out))
    status = trace_expr(reader, field, offset, out, &constant);
  if (status == VINCI_E_INPUT)
    trace_hint_fraction(reader, arg, field);
  *is_expr = !constant;
  if (status == VINCI_OK && constant)
    status = trace_check_value(reader, op, arg, *out, field, offset);
  return status;
}

/* Fills operands that the row leaves out. */
static enum vinci_status fill_defaults(struct trace_reader *reader, const struct isa_row *isa,
                                       uint32_t missing, int64_t *operands) {
  for (; missing != 0; missing &= missing - 1) {
    unsigned index = (unsigned)__builtin_ctz(missing);
    const struct isa_arg *arg = &isa->arg[index];
    if (!arg->has_default)
      return trace_fail(reader, 0, 0, "%s needs operand \"%s\"", isa->name, arg->name);
    operands[index] = arg->default_value;
  }
  return VINCI_OK;
}

/* Reads all operands of a row. */
static enum vinci_status read_operands(struct trace_reader *reader, const struct isa_row *isa,
                                       enum isa_op op, int64_t *operands, uint32_t *expr_mask) {
  enum vinci_status status = VINCI_OK;
  uint32_t seen = 0;
  unsigned next = 0;
  for (size_t field = 1; field < reader->field_count; field++) {
    unsigned index = next;
    if (index >= isa->arg_count || !names_arg(&reader->fields[field], &isa->arg[index]))
      status = find_arg(reader, isa, field, &index);
    if (status != VINCI_OK)
      return status;
    if (seen >> index & 1)
      return trace_fail(reader, field, 0, "operand \"%s\" is given twice", isa->arg[index].name);
    bool is_expr = false;
    status = trace_check_operand(reader, op, &isa->arg[index], field);
    if (status != VINCI_OK)
      return status;
    reader->named_object = 0;
    status = read_value(reader, op, &isa->arg[index], field, &operands[index], &is_expr);
    if (status == VINCI_OK && isa->arg[index].kind == ARG_ADDRESS)
      status = keep_name(reader, index);
    if (status != VINCI_OK)
      return status;
    seen |= UINT32_C(1) << index;
    *expr_mask |= (uint32_t)is_expr << index;
    next = index + 1;
  }
  uint32_t missing = ((UINT32_C(1) << isa->arg_count) - 1) & ~seen;
  return missing ? fill_defaults(reader, isa, missing, operands) : VINCI_OK;
}

/*
 * Gives the newest row the operands of an earlier one with the same constants, if that
 * is remembered: flat traces repeat themselves, and memory costs more time than the look.
 */
static bool share_operands(struct trace_reader *reader, struct program_row *row,
                           const int64_t *operands) {
  uint64_t hash = row->op;
  for (unsigned i = 0; i < row->arg_count; i++) {
    hash = (hash ^ (uint64_t)operands[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  struct trace_same *same = &reader->same[hash >> (64 - TRACE_SAME_BITS)];
  if (same->used && same->op == row->op &&
      memcmp(GROWING_AT(&reader->operands, int64_t, same->first_operand), operands,
             row->arg_count * sizeof *operands) == 0) {
    reader->operands.count -= row->arg_count;
    row->first_operand = same->first_operand;
    return true;
  }
  *same = (struct trace_same){.first_operand = row->first_operand, .op = row->op, .used = true};
  return false;
}

enum vinci_status trace_inst_row(struct trace_reader *reader, enum isa_op op) {
  const struct isa_row *isa = isa_row(op);
  int64_t *operands;
  enum vinci_status status =
      reader->stream ? trace_check_op(reader, op) : check_place(reader, isa->name);
  if (status != VINCI_OK)
    return status;
  struct program_row *row = add_row(reader, ROW_INST, isa->arg_count, &operands);
  if (!row)
    return trace_no_memory(reader);
  row->op = (uint16_t)op;
  reader->inst_count++;
  reader->named_tensor = 0;
  status = read_operands(reader, isa, op, operands, &row->expr_mask);
  if (status != VINCI_OK)
    return status;
  row->partner = reader->named_tensor == UINT32_MAX ? 0 : reader->named_tensor;
  int8_t unit = isa->unit_flag_arg;
  if (unit >= 0 && (row->expr_mask >> unit & 1 || operands[unit] != 0))
    reader->any_unit_flag = true;
  if (row->expr_mask == 0 && share_operands(reader, row, operands))
    return VINCI_OK; /* checked with the earlier row */
  return trace_check_inst(reader, op, operands, row->expr_mask);
}

/* ---- what is no instruction ----------------------------------------------- */

static const char *row_name_at(const void *context, size_t index) {
  static const char *const others[] = {"trace", "kernel",  "tensor", "buffer", "stream", "loop",
                                       "let",   "endloop", "read",   "set",    "expect"};
  (void)context;
  return index < OP_COUNT ? isa_row((enum isa_op)index)->name : others[index - OP_COUNT];
}

static enum vinci_status unknown_row(struct trace_reader *reader) {
  enum { OTHERS = 11 };
  struct trace_clip clip = trace_clip(reader->fields[0].text, reader->fields[0].length);
  struct trace_clip lower = clip; /* all names are in lower case */
  for (char *c = lower.text; *c; c++)
    if (*c >= 'A' && *c <= 'Z')
      *c = (char)(*c - 'A' + 'a');
  const char *nearest = diag_nearest(lower.text, OP_COUNT + OTHERS, row_name_at, NULL);
  trace_fail(reader, 0, 0, "unknown instruction \"%s\"", clip.text);
  trace_hint_row(reader, lower.text);
  if (nearest)
    diag_hint(reader->diag, "did you mean \"%s\"?", nearest);
  return VINCI_E_INPUT;
}

enum vinci_status trace_other_row(struct trace_reader *reader) {
  const char *row = reader->fields[0].text;
  static const char *const names[ROW_KIND_COUNT] = {
      "", "loop", "endloop", "let", "read", "set", "expect"}; /* by enum program_row_kind */
  unsigned kind = ROW_LOOP;
  while (kind < ROW_KIND_COUNT && strcmp(row, names[kind]) != 0)
    kind++;
  if (kind == ROW_KIND_COUNT)
    return unknown_row(reader);
  enum vinci_status status = check_place(reader, row);
  if (status != VINCI_OK)
    return status;
  switch (kind) {
  case ROW_LOOP:
    return loop_row(reader);
  case ROW_ENDLOOP:
    return endloop_row(reader);
  case ROW_LET:
    return define_row(reader, ROW_LET, "let,t,blk*4096");
  case ROW_READ:
    return read_row(reader);
  case ROW_SET:
    return variable_row(reader, ROW_SET, "set,t,t+4096");
  default:
    return variable_row(reader, ROW_EXPECT, "expect,n,64");
  }
}
