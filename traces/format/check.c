/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What architecture, core type and SoC allow an instruction. Values that only
 * the run knows get the same checks from core/isa/stream.c.
 */
#include <inttypes.h>
#include <string.h>

#include "core/chip/layout.h"
#include "core/isa/signal_flags.h"
#include "traces/format/reader.h"

/* " a, b" of the members of a set, for hints. */
static void list_set(uint32_t set, unsigned count, const char *(*name)(unsigned), char *out,
                     size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (unsigned i = 0; i < count && used < size; i++)
    if (set >> i & 1)
      used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", name(i));
}

static const char *arch_at(unsigned index) { return arch_name((enum arch)index); }
static const char *dtype_at(unsigned index) { return dtype_name((enum dtype)index); }

/* AIC and AIV of the 950 write to UB and to L1 of each other, by the fixpipe and by copies. */
static bool writes_beside(const struct trace_reader *reader, const struct isa_row *isa,
                          const struct isa_arg *arg) {
  bool copies = isa == isa_row(OP_COPY_CBUF_TO_UBUF) || isa == isa_row(OP_COPY_UBUF_TO_CBUF);
  if (!arg->writes || reader->soc->arch != ARCH_C310 || !(copies || isa->pipe == PIPE_FIX))
    return false;
  return reader->core == CORE_AIC ? arg->space == SPACE_UB
                                  : copies && reader->core == CORE_AIV && arg->space == SPACE_L1;
}

/* Whether the stream's core has the buffers the operands lie in. */
static enum vinci_status check_spaces(struct trace_reader *reader, const struct isa_row *isa) {
  for (unsigned i = 0; i < isa->arg_count; i++) {
    const struct isa_arg *arg = &isa->arg[i];
    if (arg->kind != ARG_ADDRESS)
      continue;
    enum space space = (enum space)arg->space;
    if (!writes_beside(reader, isa, arg) && !core_has_space(reader->core, space))
      return trace_fail(reader, 0, 0, "%s: operand \"%s\" is in %s, which an %s core does not have",
                        isa->name, arg->name, space_name(space), core_kind_name(reader->core));
    if (soc_space_bytes(reader->soc, space) == 0)
      return trace_fail(reader, 0, 0, "%s: operand \"%s\" is in %s, which %s does not have",
                        isa->name, arg->name, space_name(space), reader->soc->name);
  }
  return VINCI_OK;
}

enum vinci_status trace_check_op(struct trace_reader *reader, enum isa_op op) {
  if (reader->op_allowed[op] >> reader->core & 1)
    return VINCI_OK;
  const struct isa_row *isa = isa_row(op);
  if ((isa->archs >> reader->soc->arch & 1) == 0) {
    char list[128];
    trace_fail(reader, 0, 0, "%s has no instruction \"%s\"", arch_name(reader->soc->arch),
               isa->name);
    list_set(isa->archs, ARCH_COUNT, arch_at, list, sizeof list);
    diag_hint(reader->diag, "it exists on %s", list);
    return VINCI_E_INPUT;
  }
  if (isa->pipe < PIPE_COUNT && !core_has_pipe(reader->core, isa->pipe))
    return trace_fail(reader, 0, 0, "%s runs on pipe %s, which an %s core does not have", isa->name,
                      pipe_name(isa->pipe), core_kind_name(reader->core));
  enum vinci_status status = check_spaces(reader, isa);
  if (status != VINCI_OK)
    return status;
  reader->op_allowed[op] |= (uint8_t)(1u << reader->core);
  reader->op_dtypes[op] = isa_dtypes(op, reader->soc->arch);
  return VINCI_OK;
}

static enum vinci_status check_address(struct trace_reader *reader, const struct isa_arg *arg,
                                       int64_t value, size_t field, size_t offset) {
  enum space space = (enum space)arg->space;
  uint64_t capacity = soc_space_bytes(reader->soc, space);
  if (value < 0 || (uint64_t)value >= capacity)
    return trace_fail(reader, field, offset, "address %lld is outside %s, which has %llu bytes",
                      (long long)value, space_name(space), (unsigned long long)capacity);
  return VINCI_OK;
}

static enum vinci_status check_dtype(struct trace_reader *reader, enum isa_op op, enum dtype dtype,
                                     size_t field, size_t offset) {
  const struct isa_row *isa = isa_row(op);
  const struct vinci_soc *soc = reader->soc;
  uint32_t types = reader->op_dtypes[op];
  if (types >> dtype & 1 && isa->pipe != PIPE_M)
    return VINCI_OK;
  if ((isa->dtypes >> dtype & 1) == 0) {
    char list[128];
    trace_fail(reader, field, offset, "%s does not take data type \"%s\"", isa->name,
               dtype_name(dtype));
    list_set(isa->dtypes, DTYPE_COUNT, dtype_at, list, sizeof list);
    diag_hint(reader->diag, "allowed are %s", list);
    return VINCI_E_INPUT;
  }
  if (!arch_has_dtype(soc->arch, dtype))
    return trace_fail(reader, field, offset, "%s has no data type \"%s\"", arch_name(soc->arch),
                      dtype_name(dtype));
  if ((types >> dtype & 1) == 0) {
    char list[128];
    trace_fail(reader, field, offset, "%s does not take data type \"%s\" on %s", isa->name,
               dtype_name(dtype), arch_name(soc->arch));
    list_set(types, DTYPE_COUNT, dtype_at, list, sizeof list);
    diag_hint(reader->diag, "allowed are %s", list);
    return VINCI_E_INPUT;
  }
  if (isa->pipe == PIPE_M && soc_cube_mcycles(soc, dtype) == 0)
    return trace_fail(reader, field, offset, "the cube of %s does not compute in \"%s\"", soc->name,
                      dtype_name(dtype));
  return VINCI_OK;
}

static enum vinci_status check_pipe(struct trace_reader *reader, enum isa_op op, enum pipe pipe,
                                    size_t field, size_t offset) {
  if (pipe == PIPE_ALL && op != OP_PIPE_BARRIER)
    return trace_fail(reader, field, offset, "ALL is a pipe of pipe_barrier only");
  if (pipe != PIPE_ALL && !core_has_pipe(reader->core, pipe))
    return trace_fail(reader, field, offset, "an %s core has no pipe %s",
                      core_kind_name(reader->core), pipe_name(pipe));
  /* The scalar unit runs in order anyhow and cannot be held (Ascend C, PipeBarrier). */
  if (pipe == PIPE_S && op == OP_PIPE_BARRIER)
    return trace_fail(reader, field, offset, "pipe_barrier cannot hold pipe S");
  return VINCI_OK;
}

enum vinci_status trace_check_operand(struct trace_reader *reader, enum isa_op op,
                                      const struct isa_arg *arg, size_t field) {
  if (arg->archs >> reader->soc->arch & 1)
    return VINCI_OK;
  char list[128];
  trace_fail(reader, field, 0, "%s has no operand \"%s\" on %s", isa_row(op)->name, arg->name,
             arch_name(reader->soc->arch));
  list_set(arg->archs, ARCH_COUNT, arch_at, list, sizeof list);
  diag_hint(reader->diag, "it exists on %s", list);
  return VINCI_E_INPUT;
}

enum vinci_status trace_check_value(struct trace_reader *reader, enum isa_op op,
                                    const struct isa_arg *arg, int64_t value, size_t field,
                                    size_t offset) {
  char range[64];
  switch (arg->kind) {
  case ARG_ADDRESS:
    return check_address(reader, arg, value, field, offset);
  case ARG_INTEGER:
    if (isa_arg_allows(arg, value))
      return VINCI_OK;
    isa_range_text(arg, range, sizeof range);
    return trace_fail(reader, field, offset, "operand \"%s\" of %s is %lld, allowed is %s",
                      arg->name, isa_row(op)->name, (long long)value, range);
  case ARG_DTYPE:
    return check_dtype(reader, op, (enum dtype)value, field, offset);
  case ARG_PIPE:
    return check_pipe(reader, op, (enum pipe)value, field, offset);
  default:
    return VINCI_OK;
  }
}

/* The value of an operand by name, -1 when it is an expression or there is none. */
static int64_t operand(const struct isa_row *isa, const char *name, const int64_t *operands,
                       uint32_t expr_mask) {
  int index = isa_arg_find(isa, name, strlen(name));
  return index < 0 || (expr_mask >> index & 1) ? -1 : operands[index];
}

/* Reports an error at the value of an operand, or at the row when it is left out. */
static enum vinci_status fail_operand(struct trace_reader *reader, const char *name,
                                      const char *text) {
  size_t length = strlen(name);
  for (size_t field = 1; field < reader->field_count; field++) {
    const char *at = reader->fields[field].text;
    if (strncmp(at, name, length) == 0 && at[length] == '=')
      return trace_fail(reader, field, length + 1, "%s", text);
  }
  return trace_fail(reader, 0, 0, "%s", text);
}

static enum vinci_status check_id(struct trace_reader *reader, const struct isa_row *isa,
                                  int64_t id, int64_t limit, const char *what) {
  char text[160];
  if (limit == 0)
    return trace_fail(reader, 0, 0, "%s: %s has no %ss", isa->name, reader->soc->name, what);
  if (id < limit)
    return VINCI_OK;
  snprintf(text, sizeof text, "%s: %s has %s ids 0..%lld, not %lld", isa->name, reader->soc->name,
           what, (long long)limit - 1, (long long)id);
  return fail_operand(reader, "id", text);
}

/* A flag orders two pipes; V and FIX may also be ordered against themselves (HardEvent V_V,
 * FIX_FIX of Ascend C). */
static enum vinci_status check_flag(struct trace_reader *reader, const struct isa_row *isa,
                                    const int64_t *operands, uint32_t expr_mask) {
  int64_t src = operand(isa, "src", operands, expr_mask);
  int64_t dst = operand(isa, "dst", operands, expr_mask);
  if (src == dst && src != PIPE_V && src != PIPE_FIX) {
    char text[96];
    snprintf(text, sizeof text, "%s from pipe %s to itself", isa->name, pipe_name((enum pipe)src));
    return fail_operand(reader, "dst", text);
  }
  return check_id(reader, isa, operand(isa, "id", operands, expr_mask), reader->soc->flag_ids,
                  "flag");
}

/*
 * Addresses must be aligned as the unit says for the operand; reductions write single
 * elements, cube results need more than the buffer. Units look at whole instructions,
 * so those with an expression are left to the run. How far the ranges go may depend on
 * the vector mask and is left to the run too; the mask here is that of all lanes.
 */
static enum vinci_status check_alignment(struct trace_reader *reader, enum isa_op op,
                                         const int64_t *operands) {
  const struct isa_row *isa = isa_row(op);
  struct inst inst = {.op = (uint16_t)op,
                      .arch = (uint8_t)reader->soc->arch,
                      .line = reader->line,
                      .mask = {UINT64_MAX, UINT64_MAX, false}};
  struct inst_access access[INST_ACCESS_MAX];
  memcpy(inst.arg, operands, isa->arg_count * sizeof *operands);
  unsigned count = registry_access(op)(reader->soc, &inst, access);
  for (unsigned i = 0; i < count; i++) {
    unsigned alignment =
        access[i].alignment ? access[i].alignment : space_alignment(access[i].space);
    if (access[i].bytes == 0 || access[i].address % alignment == 0)
      continue;
    char text[96];
    snprintf(text, sizeof text, "address %lld in %s is not a multiple of %u",
             (long long)access[i].address, space_name(access[i].space), alignment);
    return fail_operand(reader, isa->arg[access[i].arg].name, text);
  }
  return VINCI_OK;
}

static bool has_address(const struct isa_row *isa) {
  for (unsigned i = 0; i < isa->arg_count; i++)
    if (isa->arg[i].kind == ARG_ADDRESS)
      return true;
  return false;
}

/* What of mad goes together: Ascend C documentation, Mmad, the tables of types. */
static enum vinci_status check_mad(struct trace_reader *reader, enum isa_op op,
                                   const int64_t *operands, uint32_t expr_mask) {
  const struct isa_row *isa = isa_row(op);
  enum dtype type = (enum dtype)operands[isa->type_arg];
  int64_t sums = operands[isa_arg_find(isa, "sums", strlen("sums"))];
  int64_t b_type = operands[isa_arg_find(isa, "b_type", strlen("b_type"))];
  int64_t source = operands[isa_arg_find(isa, "source", strlen("source"))];
  bool fp8 = type == DTYPE_FP8_E4M3 || type == DTYPE_FP8_E5M2;
  bool fp4 = type == DTYPE_FP4_E2M1 || type == DTYPE_FP4_E1M2;
  char text[128];
  if (sums != 0 && type != DTYPE_FP16)
    return fail_operand(reader, "sums", "mad keeps sums in fp16 of fp16 only");
  if (b_type == 1 ? type != DTYPE_UINT8 : b_type != 0 && (b_type < 4 ? !fp8 : !fp4)) {
    snprintf(text, sizeof text, "%s does not multiply %s by the other type", isa->name,
             dtype_name(type));
    return fail_operand(reader, "b_type", text);
  }
  int64_t k = operand(isa, "k", operands, expr_mask);
  if (op == OP_MAD_MX && k > 0 && k % (MX_BLOCK * MX_BLOCKS) != 0) {
    snprintf(text, sizeof text, "k of mad_mx is %" PRId64 ", not a multiple of %d", k,
             MX_BLOCK * MX_BLOCKS);
    return fail_operand(reader, "k", text);
  }
  if (source == 0 || reader->soc->bt_bytes > 0)
    return VINCI_OK;
  snprintf(text, sizeof text, "%s has no bias table", arch_name(reader->soc->arch));
  return fail_operand(reader, "source", text);
}

static enum vinci_status check_fix(struct trace_reader *reader, const int64_t *operands,
                                   uint32_t expr_mask, enum isa_op op) {
  const struct isa_row *isa = isa_row(op);
  if (operand(isa, "nz2nd", operands, expr_mask) == 1 &&
      operand(isa, "nz2dn", operands, expr_mask) == 1)
    return fail_operand(reader, "nz2dn", "rows or columns: nz2nd and nz2dn exclude each other");
  return VINCI_OK;
}

/* Conversions on the way out of L0C are of one type each; into it, of fp32 accumulators. */
static enum vinci_status check_l0c(struct trace_reader *reader, enum isa_op op,
                                   const int64_t *operands) {
  const struct isa_row *isa = isa_row(op);
  enum dtype type = (enum dtype)operands[isa->type_arg];
  int64_t convert = operands[isa_arg_find(isa, "convert", strlen("convert"))];
  enum dtype wanted = convert == 2 ? DTYPE_INT32 : DTYPE_FP32;
  if (convert == 0 || type == wanted)
    return VINCI_OK;
  char text[96];
  snprintf(text, sizeof text, "this conversion takes %s accumulators, not %s", dtype_name(wanted),
           dtype_name(type));
  return fail_operand(reader, "convert", text);
}

/* Of the bits of the control register that are documented only that of saturation is modelled:
 * Ascend C documentation, SetCtrlSpr. */
static enum vinci_status check_ctrl(struct trace_reader *reader, const int64_t *operands) {
  static const uint64_t saturation = UINT64_C(1) << 48;
  bool later = reader->soc->arch == ARCH_C310;
  uint64_t others = later ? UINT64_C(1) << 60 : 0; /* as after reset */
  if (((uint64_t)operands[0] & ~saturation) == others)
    return VINCI_OK;
  enum vinci_status status = fail_operand(
      reader, "value", "set_ctrl: only bit 48 can be chosen, the others are as after reset");
  diag_hint(reader->diag, "that is %s with saturation, %s without; atomic stores have set_atomic_*",
            later ? "1<<60" : "0", later ? "1<<60|1<<48" : "1<<48");
  return status;
}

/* Ascend C documentation, SetLoadDataBoundary: what other values do is not defined. */
static enum vinci_status check_boundary(struct trace_reader *reader, const int64_t *operands) {
  enum { LEAST = 1024 };
  if (operands[0] == 0 || (operands[0] >= LEAST && operands[0] % BLOCK_BYTES == 0))
    return VINCI_OK;
  return fail_operand(reader, "value",
                      "set_l1_3d_size: a boundary is 0, or a multiple of 32 bytes and at least "
                      "1024");
}

static enum vinci_status check_signal(struct trace_reader *reader, const struct isa_row *isa,
                                      const int64_t *operands, uint32_t expr_mask) {
  int64_t mode = operand(isa, "mode", operands, expr_mask);
  if (mode == CROSS_ONE && reader->soc->arch != ARCH_C310)
    return fail_operand(reader, "mode", "mode 4 exists on dav-c310");
  return check_id(reader, isa, operand(isa, "id", operands, expr_mask),
                  signals_ids(reader->soc, mode), "cross-core flag");
}

/* The coupled cores narrow fp32 to the nearest or to odd: platform files, Ascend C, Cast. */
static enum vinci_status check_narrowing(struct trace_reader *reader, const int64_t *operands) {
  enum arch arch = reader->soc->arch;
  const struct isa_row *isa = isa_row(OP_VCONV_F322F16);
  int index = isa_arg_find(isa, "round", strlen("round"));
  const struct isa_arg *round = &isa->arg[index];
  if ((arch != ARCH_C100 && arch != ARCH_M200) || operands[index] == round->default_value ||
      operands[index] == isa_word_find(round, "o", 1))
    return VINCI_OK;
  char text[96];
  snprintf(text, sizeof text, "%s rounds to nearest or to odd on %s", isa->name, arch_name(arch));
  return fail_operand(reader, "round", text);
}

enum vinci_status trace_check_inst(struct trace_reader *reader, enum isa_op op,
                                   const int64_t *operands, uint32_t expr_mask) {
  const struct isa_row *isa = isa_row(op);
  switch (op) {
  case OP_SET_FLAG:
  case OP_WAIT_FLAG:
    return check_flag(reader, isa, operands, expr_mask);
  case OP_FFTS_CROSS_CORE_SYNC:
  case OP_WAIT_FLAG_DEV:
    return check_signal(reader, isa, operands, expr_mask);
  case OP_COPY_MATRIX_CC_TO_GM:
  case OP_COPY_MATRIX_CC_TO_CBUF:
  case OP_COPY_MATRIX_CC_TO_UB:
    if (check_fix(reader, operands, expr_mask, op) != VINCI_OK)
      return VINCI_E_INPUT;
    return expr_mask == 0 ? check_alignment(reader, op, operands) : VINCI_OK;
  case OP_COPY_MATRIX_CC_TO_UBUF:
  case OP_COPY_MATRIX_UBUF_TO_CC:
    if (check_l0c(reader, op, operands) != VINCI_OK)
      return VINCI_E_INPUT;
    return expr_mask == 0 ? check_alignment(reader, op, operands) : VINCI_OK;
  case OP_SET_CTRL:
    return expr_mask == 0 ? check_ctrl(reader, operands) : VINCI_OK;
  case OP_SET_L1_3D_SIZE:
    return expr_mask == 0 ? check_boundary(reader, operands) : VINCI_OK;
  case OP_VCONV_F322F16:
    if (check_narrowing(reader, operands) != VINCI_OK)
      return VINCI_E_INPUT;
    return expr_mask == 0 ? check_alignment(reader, op, operands) : VINCI_OK;
  case OP_MAD:
  case OP_MAD_MX:
    if (check_mad(reader, op, operands, expr_mask) != VINCI_OK)
      return VINCI_E_INPUT;
    __attribute__((fallthrough));
  default:
    return expr_mask == 0 && has_address(isa) ? check_alignment(reader, op, operands) : VINCI_OK;
  }
}
