/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of one stream of a trace: loops, operand evaluation, range checks. */
#include "core/isa/stream.h"

#include <string.h>

#include "core/base/number.h"
#include "core/isa/signal_flags.h"

/*
 * A loop nest may turn this often without reaching an instruction; more is taken
 * for a mistake in the trace, since such turns cost no simulated time.
 */
#define IDLE_TURNS_MAX UINT64_C(100000000)

/* Addresses that nobody checks stay so small that ranges behind them can be computed. */
#define ADDRESS_MAX (INT64_C(1) << 60)

bool stream_create(struct stream *stream, struct arena *arena, uint32_t core, uint32_t var_count) {
  stream->core = core;
  stream->variables = ARENA_ARRAY(arena, int64_t, var_count);
  stream->loop_count = ARENA_ARRAY(arena, int64_t, var_count);
  return stream->variables && stream->loop_count;
}

void stream_start(struct stream *stream, const struct vinci_soc *soc,
                  const struct vinci_trace *trace, const struct program_kernel *kernel,
                  enum core_kind kind, uint32_t blk, uint32_t sub) {
  stream->soc = soc;
  stream->trace = trace;
  stream->kernel = kernel;
  stream->program = &kernel->stream[kind];
  stream->row = stream->program->first_row;
  stream->end = stream->row + stream->program->row_count;
  stream->tensor_hint = kernel->first_tensor;
  stream->unchecked_ranges = stream->in_function = false;
  stream->data = (struct stream_data){0};
  stream->variables[VAR_BLK] = blk;
  stream->variables[VAR_SUB] = sub;
  stream->variables[VAR_BLOCKS] = kernel->blocks;
  if (trace->source)
    trace->source->start(trace->source, &(struct source_place){stream->core, kind, blk, sub});
}

/* "at blk=0, i=3": where in the loops an error happened. */
static void describe_variables(const struct stream *stream, char *buffer, size_t size) {
  size_t used = 0;
  for (uint32_t i = 0; i < stream->program->var_count && used < size; i++) {
    if (!stream->program->var_names[i])
      continue;
    int n = snprintf(buffer + used, size - used, "%s%s=%lld", used == 0 ? "at " : ", ",
                     stream->program->var_names[i], (long long)stream->variables[i]);
    used += n > 0 ? (size_t)n : 0;
  }
}

static enum vinci_status stream_error(const struct stream *stream, uint32_t line,
                                      struct vinci_diag *diag, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static enum vinci_status stream_error(const struct stream *stream, uint32_t line,
                                      struct vinci_diag *diag, const char *format, ...) {
  char text[512];
  char where[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  describe_variables(stream, where, sizeof where);
  diag_error_at(diag, VINCI_E_INPUT, program_position(stream->trace, line), "%s", text);
  diag_hint(diag, "%s", where);
  return VINCI_E_INPUT;
}

static bool operand_value(const struct stream *stream, const struct program_row *row,
                          unsigned index, int64_t *out) {
  int64_t operand = stream->trace->operands[row->first_operand + index];
  if ((row->expr_mask >> index & 1) == 0) {
    *out = operand;
    return true;
  }
  return program_eval(stream->trace, (uint64_t)operand, stream->variables, out);
}

/* The end of the space is left to the check of ranges: nothing may be copied there. */
static enum vinci_status check_address(const struct stream *stream, const struct program_row *row,
                                       const struct isa_arg *arg, int64_t value,
                                       struct vinci_diag *diag) {
  enum space space = (enum space)arg->space;
  uint64_t capacity = soc_space_bytes(stream->soc, space);
  if (value >= 0 && (uint64_t)value <= capacity)
    return VINCI_OK;
  return stream_error(stream, row->line, diag,
                      "operand \"%s\" of %s: address %lld is outside %s, which has %llu bytes",
                      arg->name, isa_row((enum isa_op)row->op)->name, (long long)value,
                      space_name(space), (unsigned long long)capacity);
}

/* Operands that are expressions get the checks the reader gives to constants. */
static enum vinci_status check_operand(const struct stream *stream, const struct program_row *row,
                                       unsigned index, int64_t value, struct vinci_diag *diag) {
  const struct isa_row *isa = isa_row((enum isa_op)row->op);
  const struct isa_arg *arg = &isa->arg[index];
  if (arg->kind == ARG_ADDRESS)
    return stream->unchecked_ranges && value > -ADDRESS_MAX && value < ADDRESS_MAX
               ? VINCI_OK
               : check_address(stream, row, arg, value, diag);
  if (arg->kind != ARG_INTEGER || isa_arg_allows(arg, value))
    return VINCI_OK;
  char range[64];
  isa_range_text(arg, range, sizeof range);
  return stream_error(stream, row->line, diag, "operand \"%s\" of %s is %lld, allowed is %s",
                      arg->name, isa->name, (long long)value, range);
}

/* Flags are finite: how many there are is data of the SoC. */
static enum vinci_status check_flag_id(const struct stream *stream, const struct inst *inst,
                                       struct vinci_diag *diag) {
  const struct isa_row *isa = isa_row((enum isa_op)inst->op);
  int64_t ids;
  switch (inst->op) {
  case OP_SET_FLAG:
  case OP_WAIT_FLAG:
    ids = stream->soc->flag_ids;
    break;
  case OP_FFTS_CROSS_CORE_SYNC:
    ids = signals_ids(stream->soc, inst->arg[CROSS_SET_MODE]);
    break;
  case OP_WAIT_FLAG_DEV:
    ids = signals_ids(stream->soc, inst->arg[CROSS_WAIT_MODE]);
    break;
  default:
    return VINCI_OK;
  }
  int64_t id = inst->arg[isa_arg_find(isa, "id", 2)];
  if (id < ids)
    return VINCI_OK;
  return stream_error(stream, inst->line, diag, "operand \"id\" of %s is %lld, %s has %lld ids",
                      isa->name, (long long)id, stream->soc->name, (long long)ids);
}

static enum stream_step load_inst(struct stream *stream, const struct program_row *row,
                                  struct inst *inst, struct vinci_diag *diag) {
  inst->op = row->op;
  inst->arch = (uint8_t)stream->kernel->arch;
  inst->row = (uint32_t)(row - stream->trace->rows);
  inst->line = row->line;
  const int64_t *operands = stream->trace->operands + row->first_operand;
  memcpy(inst->arg, operands, row->arg_count * sizeof *operands);
  for (uint32_t rest = row->expr_mask; rest != 0; rest &= rest - 1) {
    unsigned i = (unsigned)__builtin_ctz(rest);
    if (!program_eval(stream->trace, (uint64_t)operands[i], stream->variables, &inst->arg[i])) {
      stream_error(stream, row->line, diag,
                   "operand \"%s\" divides by zero or leaves the 64-bit range",
                   isa_row((enum isa_op)row->op)->arg[i].name);
      return STREAM_ERROR;
    }
    if (check_operand(stream, row, i, inst->arg[i], diag) != VINCI_OK)
      return STREAM_ERROR;
  }
  if (row->expr_mask != 0 && check_flag_id(stream, inst, diag) != VINCI_OK)
    return STREAM_ERROR;
  return STREAM_INST;
}

/* The bytes that a read row reads in a run with values. */
static enum vinci_status read_place(const struct stream *stream, const struct program_row *row,
                                    int64_t from, int64_t bytes, const uint8_t **place,
                                    struct vinci_diag *diag) {
  const struct program_tensor *tensor =
      row->partner > 0 ? &stream->trace->tensors[row->partner - 1] : NULL;
  int64_t begin = tensor ? (int64_t)tensor->address : 0;
  uint64_t size = tensor ? tensor->bytes : soc_space_bytes(stream->soc, SPACE_UB);
  uint64_t at = (uint64_t)from - (uint64_t)begin;
  if (from >= begin && from % bytes == 0 && size >= (uint64_t)bytes &&
      at <= size - (uint64_t)bytes) {
    *place = (tensor ? stream->data.gm : stream->data.ub) + from;
    return VINCI_OK;
  }
  return stream_error(stream, row->line, diag,
                      "read at address %lld of %s%s%s, which has %llu bytes in words of %lld",
                      (long long)at, tensor ? "tensor \"" : "UB", tensor ? tensor->name : "",
                      tensor ? "\"" : "", (unsigned long long)size, (long long)bytes);
}

/* What the scalar unit reads there. */
static enum vinci_status read_value(const struct stream *stream, const struct program_row *row,
                                    int64_t from, int64_t *out, struct vinci_diag *diag) {
  const int64_t bytes = stream->trace->operands[row->first_operand + READ_WIDTH];
  const uint8_t *place = NULL;
  if (bytes == READ_REGISTER) {
    *out = (int64_t)*stream->data.lanes_taken;
    return VINCI_OK;
  }
  enum vinci_status status = read_place(stream, row, from, bytes, &place, diag);
  if (status == VINCI_OK)
    *out = bytes == READ_INT64 ? load_i64(place) : load_i32(place);
  return status;
}

static enum vinci_status check_expected(const struct stream *stream, const struct program_row *row,
                                        int64_t expected, struct vinci_diag *diag) {
  int64_t found = stream->variables[row->op];
  if (found == expected)
    return VINCI_OK;
  return stream_error(stream, row->line, diag, "%s is %lld by the data, the trace is for %lld",
                      stream->program->var_names[row->op], (long long)found, (long long)expected);
}

/* Steps over a row that is no instruction. */
static enum vinci_status step_control(struct stream *stream, const struct program_row *row,
                                      struct vinci_diag *diag) {
  int64_t value = 0, from = 0;
  if (row->kind == ROW_LEFT_OUT) {
    stream->row++;
    return VINCI_OK;
  }
  if ((row->kind != ROW_ENDLOOP && !operand_value(stream, row, 0, &value)) ||
      (row->kind == ROW_READ && !operand_value(stream, row, READ_FROM, &from)))
    return stream_error(stream, row->line, diag,
                        "the expression divides by zero or leaves the 64-bit range");
  switch (row->kind) {
  case ROW_LOOP:
    stream->variables[row->op] = 0;
    stream->loop_count[row->op] = value;
    stream->row = value > 0 ? stream->row + 1 : (uint64_t)row->partner + 1;
    return VINCI_OK;
  case ROW_ENDLOOP:
    if (++stream->variables[row->op] < stream->loop_count[row->op])
      stream->row = (uint64_t)row->partner + 1;
    else
      stream->row++;
    return VINCI_OK;
  case ROW_EXPECT:
    stream->row++;
    return check_expected(stream, row, value, diag);
  case ROW_READ:
    if (stream->listener.heard)
      stream->listener.heard(stream->listener.context, row, from);
    if (stream->data.gm && read_value(stream, row, from, &value, diag) != VINCI_OK)
      return VINCI_E_INPUT;
    break;
  default:
    break;
  }
  stream->variables[row->op] = value;
  stream->row++;
  return VINCI_OK;
}

/* Operands that code has computed get the checks the reader gives to rows. */
static enum stream_step next_of_source(struct stream *stream, struct inst *inst,
                                       struct vinci_diag *diag) {
  struct program_source *source = stream->trace->source;
  enum stream_step step;
  while ((step = source->next(source, stream->core, inst, diag)) == STREAM_INST &&
         inst->op >= OP_COUNT)
    if (stream->listener.accessed)
      stream->listener.accessed(stream->listener.context, inst);
  if (step != STREAM_INST)
    return step;
  inst->arch = (uint8_t)stream->kernel->arch;
  const struct program_row *row = &stream->trace->rows[inst->row];
  for (unsigned i = 0; i < row->arg_count; i++)
    if (check_operand(stream, row, i, inst->arg[i], diag) != VINCI_OK)
      return STREAM_ERROR;
  return check_flag_id(stream, inst, diag) == VINCI_OK ? STREAM_INST : STREAM_ERROR;
}

enum stream_step stream_next(struct stream *stream, struct inst *inst, struct vinci_diag *diag) {
  if (stream->trace->source)
    return next_of_source(stream, inst, diag);
  for (uint64_t turns = 0; stream->row < stream->end; turns++) {
    const struct program_row *row = &stream->trace->rows[stream->row];
    if (row->kind == ROW_INST) {
      stream->row++;
      return load_inst(stream, row, inst, diag);
    }
    if (turns == IDLE_TURNS_MAX) {
      stream_error(stream, row->line, diag, "the loops turn %llu times without an instruction",
                   (unsigned long long)IDLE_TURNS_MAX);
      return STREAM_ERROR;
    }
    stream->turns++;
    if (step_control(stream, row, diag) != VINCI_OK)
      return STREAM_ERROR;
  }
  return STREAM_END;
}

static bool is_inside(const struct program_tensor *tensor, uint64_t address, uint64_t bytes) {
  uint64_t all = tensor->bytes + tensor->tail;
  return address >= tensor->address && address - tensor->address <= all &&
         bytes <= all - (address - tensor->address);
}

/* Whether a range lies inside one tensor of the kernel, looked for where the last one was. */
static bool inside_any_tensor(struct stream *stream, uint64_t address, uint64_t bytes) {
  const struct program_kernel *kernel = stream->kernel;
  uint32_t index = stream->tensor_hint;
  for (uint32_t tried = 0; tried < kernel->tensor_count; tried++) {
    if (is_inside(&stream->trace->tensors[index], address, bytes)) {
      stream->tensor_hint = index;
      return true;
    }
    if (++index == kernel->first_tensor + kernel->tensor_count)
      index = kernel->first_tensor;
  }
  return false;
}

bool stream_passes_l2(const struct stream *stream, const struct inst *inst, uint64_t address) {
  const struct vinci_trace *trace = stream->trace;
  if (!trace->any_passes_l2)
    return false;
  uint32_t named = trace->rows[inst->row].partner;
  if (named > 0)
    return trace->tensors[named - 1].passes_l2;
  const struct program_tensor *tensor = &trace->tensors[stream->kernel->first_tensor];
  for (uint32_t i = 0; i < stream->kernel->tensor_count; i++)
    if (is_inside(&tensor[i], address, 1))
      return tensor[i].passes_l2;
  return false;
}

/* A row that names a tensor has to stay inside it, even where another one follows. */
static enum vinci_status check_gm_range(struct stream *stream, const struct inst *inst,
                                        const struct inst_access *access, struct vinci_diag *diag) {
  const struct isa_row *isa = isa_row((enum isa_op)inst->op);
  uint64_t address = (uint64_t)access->address;
  uint32_t named = stream->trace->rows[inst->row].partner;
  const struct program_tensor *tensor = named > 0 ? &stream->trace->tensors[named - 1] : NULL;
  if (tensor ? is_inside(tensor, address, access->bytes)
             : inside_any_tensor(stream, address, access->bytes))
    return VINCI_OK;
  if (!tensor)
    return stream_error(stream, inst->line, diag,
                        "operand \"%s\" of %s: %llu bytes at GM address %#llx are not inside one "
                        "tensor of the kernel",
                        isa->arg[access->arg].name, isa->name, (unsigned long long)access->bytes,
                        (unsigned long long)address);
  return stream_error(
      stream, inst->line, diag,
      "operand \"%s\" of %s: %llu bytes at GM address %#llx leave tensor \"%s\", which has %llu "
      "bytes from %#llx",
      isa->arg[access->arg].name, isa->name, (unsigned long long)access->bytes,
      (unsigned long long)address, tensor->name, (unsigned long long)(tensor->bytes + tensor->tail),
      (unsigned long long)tensor->address);
}

static enum vinci_status check_range(struct stream *stream, const struct inst *inst,
                                     const struct inst_access *access, struct vinci_diag *diag) {
  const struct isa_row *isa = isa_row((enum isa_op)inst->op);
  const char *operand = isa->arg[access->arg].name;
  unsigned alignment = access->alignment > 0 ? access->alignment : space_alignment(access->space);
  if (access->address < 0)
    return stream_error(stream, inst->line, diag,
                        "operand \"%s\" of %s: address %lld lies before %s", operand, isa->name,
                        (long long)access->address, space_name(access->space));
  if (access->address % alignment != 0)
    return stream_error(stream, inst->line, diag,
                        "operand \"%s\" of %s: address %lld in %s is not a multiple of %u", operand,
                        isa->name, (long long)access->address, space_name(access->space),
                        alignment);
  uint64_t address = (uint64_t)access->address;
  if (access->space == SPACE_GM)
    return check_gm_range(stream, inst, access, diag);
  uint64_t capacity = soc_space_bytes(stream->soc, access->space);
  if (address <= capacity && access->bytes <= capacity - address)
    return VINCI_OK;
  return stream_error(stream, inst->line, diag,
                      "operand \"%s\" of %s: bytes %llu to %llu of %s, which has %llu", operand,
                      isa->name, (unsigned long long)address,
                      (unsigned long long)(address + access->bytes), space_name(access->space),
                      (unsigned long long)capacity);
}

/* Copies between the comparison register and UB, and broadcasts of whole blocks, have nothing to do
 * with the mask. */
static bool is_masked(const struct inst *inst) {
  return isa_row((enum isa_op)inst->op)->class16 != VECTOR_CLASS_NONE &&
         inst->op != OP_SET_CMPMASK && inst->op != OP_GET_CMPMASK && inst->op != OP_VBRCB;
}

/* Keeps the arithmetic of strides inside 64 bits and the work of one instruction bounded. */
static enum vinci_status check_count(const struct stream *stream, const struct inst *inst,
                                     struct vinci_diag *diag) {
  if (!inst->mask.counter)
    return VINCI_OK;
  const struct isa_row *isa = isa_row((enum isa_op)inst->op);
  uint64_t bytes = soc_space_bytes(stream->soc, SPACE_UB);
  if (inst->mask.low <= bytes || !is_masked(inst))
    return VINCI_OK;
  return stream_error(stream, inst->line, diag,
                      "%s in counter mode: the mask counts %llu elements, UB has %llu bytes",
                      isa->name, (unsigned long long)inst->mask.low, (unsigned long long)bytes);
}

/* UB of an AIV, L1 of the AIC: the block must have that core. */
static enum vinci_status check_remote(const struct stream *stream, const struct inst *inst,
                                      const struct inst_access *access, struct vinci_diag *diag) {
  uint32_t there = stream->kernel->mixed ? stream->kernel->vectors_per_cube : 0;
  if (access->remote == ACCESS_CUBE ? there > 0 : access->remote <= there)
    return VINCI_OK;
  if (access->remote == ACCESS_CUBE)
    return stream_error(stream, inst->line, diag,
                        "%s writes to L1 of the AIC of the block, which has none",
                        isa_row((enum isa_op)inst->op)->name);
  return stream_error(stream, inst->line, diag,
                      "%s writes to UB of AIV %u of the block, which has %u",
                      isa_row((enum isa_op)inst->op)->name, access->remote - 1u, there);
}

enum vinci_status stream_check_access(struct stream *stream, const struct inst *inst,
                                      struct vinci_diag *diag) {
  struct known_inst *known = stream->known ? known_find(stream->known, inst) : NULL;
  if (known && known->in_range)
    return VINCI_OK;
  if (check_count(stream, inst, diag) != VINCI_OK)
    return VINCI_E_INPUT;
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = registry_access((enum isa_op)inst->op)(stream->soc, inst, access);
  for (unsigned i = 0; i < count; i++) {
    if (access[i].bytes == 0)
      continue;
    if (check_remote(stream, inst, &access[i], diag) != VINCI_OK ||
        check_range(stream, inst, &access[i], diag) != VINCI_OK)
      return VINCI_E_INPUT;
  }
  if (known)
    known->in_range = true;
  return VINCI_OK;
}

/* A vector function is register instructions and nothing else, so that its time is its own. */
static enum vinci_status check_function(struct stream *stream, const struct inst *inst,
                                        struct vinci_diag *diag) {
  const char *name = isa_row((enum isa_op)inst->op)->name, *chip = stream->soc->name;
  bool begins = inst->op == OP_VF_BEGIN, was_in_function = stream->in_function;
  stream->in_function = begins || (was_in_function && inst->op != OP_VF_CALL);
  if (soc_space_bytes(stream->soc, SPACE_VR) == 0)
    return stream_error(stream, inst->line, diag, "%s: %s has no vector functions", name, chip);
  if (begins && was_in_function)
    return stream_error(stream, inst->line, diag,
                        "a vector function begins in another one, which vf_call has to end");
  if (!begins && !was_in_function)
    return stream_error(stream, inst->line, diag, "%s stands behind no vf_begin", name);
  if (was_in_function && inst->op != OP_VF_CALL && !isa_is_register((enum isa_op)inst->op))
    return stream_error(stream, inst->line, diag,
                        "%s stands in a vector function, which has register instructions alone",
                        name);
  return VINCI_OK;
}

enum stream_step stream_load(struct stream *stream, struct inst *inst, struct vinci_diag *diag) {
  enum stream_step step = stream_next(stream, inst, diag);
  if (step == STREAM_END && stream->in_function) {
    stream_error(stream, stream->program->line, diag, "the last vector function has no vf_call");
    return STREAM_ERROR;
  }
  if (step != STREAM_INST)
    return step;
  bool of_function = inst->op == OP_VF_CALL || isa_is_register((enum isa_op)inst->op);
  if ((of_function || stream->in_function) && check_function(stream, inst, diag) != VINCI_OK)
    return STREAM_ERROR;
  enum vinci_status status = stream->unchecked_ranges ? check_count(stream, inst, diag)
                                                      : stream_check_access(stream, inst, diag);
  return status == VINCI_OK ? STREAM_INST : STREAM_ERROR;
}
