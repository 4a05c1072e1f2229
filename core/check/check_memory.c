/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcheck: every range against its memory, against the buffer or tensor that the operand
 * names, and against what the tensor is for.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/arith.h"
#include "core/check/check_run.h"

/* The object that an operand of a row names, or NULL. */
static const struct program_named *named_by(const struct check_run *run, uint32_t row,
                                            unsigned arg) {
  for (uint32_t i = run->first_named[row]; i < run->first_named[row + 1]; i++)
    if (run->trace->named[i].arg == arg)
      return &run->trace->named[i];
  return NULL;
}

uint32_t check_find_tensor(const struct check_run *run, const struct program_kernel *kernel,
                           int64_t address) {
  for (uint32_t i = 0; i < kernel->tensor_count && address >= 0; i++) {
    const struct program_tensor *tensor = &run->trace->tensors[kernel->first_tensor + i];
    if ((uint64_t)address >= tensor->address &&
        (uint64_t)address - tensor->address < tensor->bytes + tensor->tail)
      return kernel->first_tensor + i;
  }
  return run->trace->tensor_count;
}

static struct check_finding access_finding(const struct check_run *run, enum finding_kind kind,
                                           const struct machine_step *step,
                                           const struct inst_access *access) {
  struct check_finding finding = check_finding_of(run, kind, step);
  finding.space = (uint8_t)access->space;
  finding.event[1].write = access->write;
  finding.has_range = true;
  finding.address = access->address;
  finding.bytes = access->bytes;
  return finding;
}

static const char *operand_name(const struct machine_step *step, const struct inst_access *access) {
  return isa_row((enum isa_op)step->inst->op)->arg[access->arg].name;
}

static inline bool is_inside(const struct inst_access *access, uint64_t start, uint64_t bytes) {
  return access->address >= (int64_t)start && access->bytes <= bytes &&
         (uint64_t)access->address - start <= bytes - access->bytes;
}

/* Reports what of a range lies outside of [start, start + bytes), `what` says of what; false
 * when something does. */
static bool check_inside(struct check_run *run, const struct machine_step *step,
                         const struct inst_access *access, uint64_t start, uint64_t bytes,
                         const char *what, const char *name) {
  if (is_inside(access, start, bytes))
    return true;
  int64_t first = access->address, room = INT64_MAX - (first > 0 ? first : 0);
  int64_t end = first + (access->bytes > (uint64_t)room ? room : (int64_t)access->bytes);
  int64_t low = (int64_t)start, high = low + (int64_t)bytes;
  if (!check_wants(run, VINCI_CHECK_MEMCHECK))
    return false;
  struct check_finding finding = access_finding(
      run, access->write ? FINDING_ILLEGAL_WRITE : FINDING_ILLEGAL_READ, step, access);
  finding.address = first < low || first >= high ? first : high;
  finding.bytes = (uint64_t)((first < low && end > low ? low : end) - finding.address);
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "operand \"%s\" leaves %s%s%s%s, bytes 0x%" PRIx64 " to 0x%" PRIx64,
                  operand_name(step, access), what, name ? " \"" : "", name ? name : "",
                  name ? "\"" : "", start, start + bytes);
  return false;
}

static bool check_alignment(struct check_run *run, const struct machine_step *step,
                            const struct inst_access *access) {
  unsigned alignment = access->alignment > 0 ? access->alignment : space_alignment(access->space);
  bool power = (alignment & (alignment - 1)) == 0; /* all are, and division takes its time */
  if ((power ? access->address & (alignment - 1) : access->address % (int64_t)alignment) == 0)
    return true;
  if (!check_wants(run, VINCI_CHECK_MEMCHECK))
    return true;
  struct check_finding finding = access_finding(run, FINDING_MISALIGNED, step, access);
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "operand \"%s\" must be a multiple of %u", operand_name(step, access), alignment);
  return true;
}

/* A name that belongs to another memory; false when it does. */
static bool check_kind(struct check_run *run, const struct machine_step *step,
                       const struct inst_access *access, const struct program_named *named) {
  const struct program_buffer *buffer =
      named->is_buffer ? &run->trace->buffers[named->object] : NULL;
  enum space space = buffer ? buffer->space : SPACE_GM;
  if (space == access->space)
    return true;
  if (!check_wants(run, VINCI_CHECK_MEMCHECK))
    return true;
  struct check_finding finding = access_finding(run, FINDING_WRONG_SPACE, step, access);
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "operand \"%s\" names %s \"%s\", which lies in %s", operand_name(step, access),
                  buffer ? "buffer" : "tensor",
                  buffer ? buffer->name : run->trace->tensors[named->object].name,
                  space_name(space));
  return false;
}

static void check_purpose(struct check_run *run, const struct machine_step *step,
                          const struct inst_access *access, uint32_t index) {
  const struct program_tensor *tensor = &run->trace->tensors[index];
  enum finding_kind kind = FINDING_WRITE_TO_INPUT;
  if (!access->write) {
    if (tensor->io != TENSOR_OUT || run->tensors[run->memory[index]].written_so_far)
      return;
    kind = FINDING_READ_OF_OUTPUT;
  } else if (tensor->io != TENSOR_IN) {
    return;
  }
  struct check_finding finding = access_finding(run, kind, step, access);
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "tensor \"%s\" is declared io=%s", tensor->name, access->write ? "in" : "out");
}

static bool is_float(enum dtype type) {
  return type == DTYPE_FP16 || type == DTYPE_FP32 || type == DTYPE_BF16;
}

/* Sums of one type in a tensor of another are not numbers. A tensor of bytes may hold any type, and
 * the largest and smallest of floating-point numbers of one sign are those of their bits. */
static void check_atomic(struct check_run *run, const struct machine_step *step,
                         const struct inst_access *access, uint32_t index) {
  const struct program_tensor *tensor = &run->trace->tensors[index];
  const struct inst_registers *registers = &step->inst->registers;
  enum dtype type = (enum dtype)registers->atomic_type;
  if (!access->write || registers->atomic == ATOMIC_NONE || step->pipe == PIPE_S ||
      dtype_bits(tensor->dtype) == BITS_PER_BYTE)
    return;
  bool compares = registers->atomic != ATOMIC_ADD;
  bool same = !compares && (is_float(type) || is_float(tensor->dtype))
                  ? type == tensor->dtype
                  : dtype_bits(type) == dtype_bits(tensor->dtype);
  if (same)
    return;
  struct check_finding finding = access_finding(run, FINDING_ATOMIC_TYPE, step, access);
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "the numbers are taken as %s, tensor \"%s\" is declared dtype=%s",
                  dtype_name(type), tensor->name, dtype_name(tensor->dtype));
}

/* ", 12 bytes behind the end of tensor "y"": of the nearest; empty when none is near. */
enum { NEAREST_BYTES = 256, NEAR = 1 << 26 };
static void nearest_text(const struct check_run *run, const struct program_kernel *kernel,
                         int64_t address, char *out, size_t size) {
  int64_t nearest = NEAR;
  *out = '\0';
  for (uint32_t i = 0; i < kernel->tensor_count; i++) {
    const struct program_tensor *tensor = &run->trace->tensors[kernel->first_tensor + i];
    int64_t end = (int64_t)(tensor->address + tensor->bytes);
    bool before = address < (int64_t)tensor->address;
    uint64_t far = before ? tensor->address - (uint64_t)address : (uint64_t)address - (uint64_t)end;
    if (far >= (uint64_t)nearest)
      continue;
    nearest = (int64_t)far;
    snprintf(out, size, ", %" PRIu64 " bytes %s tensor \"%s\"", far,
             before ? "before the start of" : "behind the end of", tensor->name);
  }
}

static bool check_gm(struct check_run *run, const struct machine_step *step,
                     const struct inst_access *access, const struct program_named *named) {
  uint32_t index = named && !named->is_buffer
                       ? named->object
                       : check_find_tensor(run, step->kernel, access->address);
  if (index == run->trace->tensor_count) {
    if (!check_wants(run, VINCI_CHECK_MEMCHECK))
      return false;
    struct check_finding finding = access_finding(
        run, access->write ? FINDING_ILLEGAL_WRITE : FINDING_ILLEGAL_READ, step, access);
    char nearest[NEAREST_BYTES];
    nearest_text(run, step->kernel, access->address, nearest, sizeof nearest);
    findings_detail(run->findings, findings_add(run->findings, &finding),
                    "operand \"%s\" is an address outside of all tensors%s",
                    operand_name(step, access), nearest);
    return false;
  }
  const struct program_tensor *tensor = &run->trace->tensors[index];
  if (!check_inside(run, step, access, tensor->address, tensor->bytes + tensor->tail, "tensor",
                    tensor->name))
    return false;
  if (check_wants(run, VINCI_CHECK_MEMCHECK)) {
    check_purpose(run, step, access, index);
    check_atomic(run, step, access, index);
  }
  return true;
}

/* An operand outside of its memory, though what the instruction reads (a load counts fractals
 * from the operand on) lies inside: the simulation does not take such an operand. */
static void check_operand(struct check_run *run, const struct machine_step *step,
                          const struct inst_access *access, uint64_t capacity) {
  int64_t value = step->inst->arg[access->arg];
  bool is_address = isa_row((enum isa_op)step->inst->op)->arg[access->arg].kind == ARG_ADDRESS;
  if ((uint64_t)value <= capacity || !is_address || !check_wants(run, VINCI_CHECK_MEMCHECK))
    return;
  struct check_finding finding = access_finding(
      run, access->write ? FINDING_ILLEGAL_WRITE : FINDING_ILLEGAL_READ, step, access);
  finding.address = value;
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "operand \"%s\" is an address outside of %s", operand_name(step, access),
                  space_name(access->space));
}

bool check_memory(struct check_run *run, const struct machine_step *step,
                  const struct inst_access *access) {
  const struct isa_arg *operand = &isa_row((enum isa_op)step->inst->op)->arg[access->arg];
  /* The indices of sparse matrices lie beside what their operand names. */
  bool beside = operand->kind == ARG_ADDRESS && operand->space != access->space &&
                step->inst->op != OP_READ_ROW;
  const struct program_named *named = beside ? NULL : named_by(run, step->inst->row, access->arg);
  if (named && !check_kind(run, step, access, named))
    return false;
  check_alignment(run, step, access);
  if (access->space == SPACE_GM)
    return check_gm(run, step, access, named);
  uint64_t capacity = soc_space_bytes(run->soc, access->space);
  if (!is_inside(access, 0, capacity))
    return check_inside(run, step, access, 0, capacity, space_name(access->space), NULL);
  if (!beside)
    check_operand(run, step, access, capacity);
  if (named && named->is_buffer) {
    const struct program_buffer *buffer = &run->trace->buffers[named->object];
    if (!is_inside(access, buffer->address, buffer->bytes))
      (void)check_inside(run, step, access, buffer->address, buffer->bytes, "buffer", buffer->name);
  }
  return true;
}

bool check_holds(const struct check_run *run, const struct machine_step *step,
                 const struct inst_access *access) {
  if (access->space != SPACE_GM)
    return is_inside(access, 0, soc_space_bytes(run->soc, access->space));
  uint32_t index = check_find_tensor(run, step->kernel, access->address);
  const struct program_tensor *tensor = &run->trace->tensors[index];
  return index < run->trace->tensor_count &&
         is_inside(access, tensor->address, tensor->bytes + tensor->tail);
}

/* ---- rows of one write ---- */

struct starts {
  int64_t *at;
  size_t count;
  uint64_t bytes; /* of each run, where those that adjoin have been joined */
};

static bool keep_start(void *context, int64_t address, uint64_t bytes) {
  struct starts *starts = context;
  starts->bytes = bytes;
  starts->at[starts->count++] = address;
  return true;
}

static int compare_starts(const void *left, const void *right) {
  const int64_t *a = left, *b = right;
  return *a < *b ? -1 : *a > *b;
}

/* How many runs there are; 0 when some lie in one place. */
static uint64_t runs_in_places(const struct inst_runs *runs) {
  uint64_t count = 1;
  for (unsigned i = 0; i < INST_LEVELS; i++) {
    if (runs->level[i].count > 1 && runs->level[i].stride_bytes == 0)
      return 0;
    count *= runs->level[i].count > 1 ? runs->level[i].count : 1;
  }
  return count;
}

/* Bytes that the first two runs have in common, from *address on; 0: they are all apart. */
static uint64_t common_bytes(struct check_run *run, const struct inst_access *access,
                             int64_t *address) {
  uint64_t count = runs_in_places(&access->runs), common = 0;
  *address = access->address;
  if (count == 0)
    return access->runs.bytes;
  struct starts starts = {.at = malloc(count * sizeof *starts.at)};
  if (!starts.at) {
    run->findings->failed = true;
    return 0;
  }
  (void)inst_each_run(access, keep_start, &starts);
  qsort(starts.at, starts.count, sizeof *starts.at, compare_starts);
  for (size_t i = 1; i < starts.count && common == 0; i++) {
    uint64_t apart = (uint64_t)(starts.at[i] - starts.at[i - 1]);
    *address = starts.at[i];
    common = apart < starts.bytes ? starts.bytes - apart : 0;
  }
  free(starts.at);
  return common;
}

/* Squares that are transposed into L0A or L0B are taken to be written one after the other (assumed:
 * no document says so), so that the one that comes later counts. */
static bool writes_in_order(enum isa_op op) {
  return op == OP_LOAD_CBUF_TO_CA_TRANSPOSE || op == OP_LOAD_CBUF_TO_CB_TRANSPOSE;
}

void check_rows(struct check_run *run, const struct machine_step *step,
                const struct inst_access *access) {
  int64_t address;
  bool transfers = step->pipe == PIPE_MTE1 || step->pipe == PIPE_MTE2 || step->pipe == PIPE_MTE3 ||
                   step->pipe == PIPE_FIX;
  bool atomic = step->inst->registers.atomic != ATOMIC_NONE && access->space == SPACE_GM;
  if (!transfers || atomic || writes_in_order((enum isa_op)step->inst->op) ||
      !check_wants(run, VINCI_CHECK_MEMCHECK) || inst_runs_are_apart(access))
    return;
  uint64_t common = common_bytes(run, access, &address);
  if (common == 0)
    return;
  struct check_finding finding = access_finding(run, FINDING_OVERLAPPING_ROWS, step, access);
  finding.address = address;
  finding.bytes = common;
  findings_detail(run->findings, findings_add(run->findings, &finding),
                  "operand \"%s\" writes rows of %" PRIu64
                  " bytes that overlap; which of them is there at the end is not defined",
                  operand_name(step, access), access->runs.bytes);
}

static void note_tensors(struct check_run *run, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count; i++) {
    struct check_tensor *tensor = &run->tensors[run->memory[i]];
    tensor->written_here = tensor->written_so_far = true;
  }
}

/* Marks what the GM operands of one row write. */
static void note_row(struct check_run *run, const struct program_kernel *kernel, uint32_t index) {
  const struct program_row *row = &run->trace->rows[index];
  const struct isa_row *isa = isa_row((enum isa_op)row->op);
  for (unsigned arg = 0; arg < isa->arg_count; arg++) {
    if (isa->arg[arg].kind != ARG_ADDRESS || isa->arg[arg].space != SPACE_GM ||
        !isa->arg[arg].writes)
      continue;
    const struct program_named *named = named_by(run, index, arg);
    uint32_t first = named && !named->is_buffer ? named->object : kernel->first_tensor;
    uint32_t count = named && !named->is_buffer ? 1 : kernel->tensor_count;
    note_tensors(run, first, count);
  }
}

/* Of a compiled kernel: places in its code belong to no stream, and scalar code may store in any
 * tensor. */
static void note_code(struct check_run *run, const struct program_kernel *kernel) {
  for (uint32_t row = 0; row < run->trace->row_count; row++) {
    if (run->trace->rows[row].kind == ROW_INST)
      note_row(run, kernel, row);
    else if (isa_is_store((enum isa_op)run->trace->rows[row].op))
      note_tensors(run, kernel->first_tensor, kernel->tensor_count);
  }
}

void check_note_writers(struct check_run *run) {
  const struct program_kernel *kernel = &run->trace->kernels[run->kernel];
  for (uint32_t i = 0; i < run->trace->tensor_count; i++)
    run->tensors[i].written_here = false;
  if (run->trace->source)
    note_code(run, kernel);
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    const struct program_stream *stream = &kernel->stream[kind];
    for (uint64_t row = 0; stream->present && row < stream->row_count; row++)
      if (run->trace->rows[stream->first_row + row].kind == ROW_INST)
        note_row(run, kernel, (uint32_t)(stream->first_row + row));
  }
}
