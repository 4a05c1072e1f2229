/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs with values: the abstract machine executes the trace, each instruction works on the
 * bytes of its core. Memories are zero at first; the system hands out their pages when they
 * are touched.
 */
#include "core/machine/values.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arith.h"
#include "core/base/number.h"
#include "core/isa/source.h"
#include "core/isa/stream.h"
#include "core/isa/taken.h"
#include "core/machine/guarded.h"
#include "core/machine/machine.h"
#include "core/machine/values_unknown.h"

struct execution {
  struct vinci_values *values;
  struct vinci_diag *diag;
  enum vinci_status status;
  bool lenient, checks_ranges;
  uint32_t tensor;                  /* that was accessed last */
  const struct machine_options *as; /* the order; NULL: as always */
};

/* Scalar code of a compiled kernel reaches UB and device memory; others hold what instructions
 * move, all of which are looked at before. Pages of UB can be closed to the host
 * (values_unknown.h). */
static size_t guarded_bytes(const struct vinci_values *values, enum space space) {
  return !values->guarded    ? 0
         : space == SPACE_GM ? values->gm_bytes
         : space == SPACE_UB ? values->ub_bytes
                             : 0;
}

/* Zeros. */
static uint8_t *new_buffer(const struct vinci_values *values, enum space space, size_t bytes) {
  size_t guarded = guarded_bytes(values, space);
  return guarded ? guarded_new(guarded) : calloc(1, bytes);
}

static void free_buffer(const struct vinci_values *values, enum space space, uint8_t *buffer) {
  size_t guarded = guarded_bytes(values, space);
  if (guarded)
    guarded_free(buffer, guarded);
  else
    free(buffer);
}

/* Sizes that are needed when trace and chip may be gone already. */
static void note_sizes(struct vinci_values *values) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  values->guarded = values->trace->source != NULL;
  values->gm_bytes = (size_t)values->trace->gm_bytes;
  values->ub_bytes = ((size_t)soc_space_bytes(values->soc, SPACE_UB) + page - 1) / page * page;
}

static bool make_buffers(struct vinci_values *values, struct value_core *core,
                         enum core_kind kind) {
  core->bytes[SPACE_GM] = values->gm;
  for (unsigned i = 0; i < SPACE_COUNT; i++) {
    enum space space = (enum space)i;
    uint64_t bytes = space == SPACE_GM ? 0 : soc_space_bytes(values->soc, space);
    if (bytes == 0 || core->bytes[i] || !core_has_space(kind, space))
      continue;
    core->bytes[i] = new_buffer(values, space, (size_t)bytes);
    if (!core->bytes[i])
      return false;
  }
  return true;
}

/* The AIV that work on the block of an AIC follow all AIC, in the same order. */
static bool join_vectors(struct vinci_values *values, const struct machine_step *step) {
  struct value_core *core = &values->cores[step->core];
  for (uint32_t i = 0; i < step->kernel->vectors_per_cube && i < 2; i++) {
    struct value_core *vector = &values->cores[soc_vector_beside(values->soc, step->core, i)];
    if (!make_buffers(values, vector, CORE_AIV))
      return false;
    core->aiv_ub[i] = vector->bytes[SPACE_UB];
  }
  return true;
}

static bool join_cube(struct vinci_values *values, const struct machine_step *step) {
  struct value_core *cube = &values->cores[soc_cube_beside(values->soc, step->core)];
  if (!make_buffers(values, cube, CORE_AIC))
    return false;
  values->cores[step->core].aic_l1 = cube->bytes[SPACE_L1];
  return true;
}

bool values_begin_block(struct vinci_values *values, const struct machine_step *step) {
  if (!make_buffers(values, &values->cores[step->core], step->kind))
    return false;
  return !step->kernel->mixed ||
         (step->kind == CORE_AIC ? join_vectors(values, step) : join_cube(values, step));
}

void values_apply(struct vinci_values *values, uint32_t core, const struct inst *inst) {
  registry_values((enum isa_op)inst->op)(values->soc, inst, &values->cores[core]);
}

static bool begin_block(void *context, const struct machine_step *step) {
  struct execution *execution = context;
  if (values_begin_block(execution->values, step))
    return true;
  execution->status =
      diag_error(execution->diag, VINCI_E_NOMEM, "out of memory for the buffers of a core");
  return false;
}

/* Whether a range begins in a tensor and ends before its last page does: in the memory of a program
 * there may be closed pages between two tensors. */
static bool lies_in_pages(const struct vinci_trace *trace, uint32_t *hint, uint64_t address,
                          uint64_t bytes) {
  enum { PAGE = 4096 };
  for (uint32_t tried = 0; tried < trace->tensor_count; tried++) {
    uint32_t index =
        *hint + tried < trace->tensor_count ? *hint + tried : *hint + tried - trace->tensor_count;
    const struct program_tensor *tensor = &trace->tensors[index];
    uint64_t end = round_up(tensor->address + tensor->bytes + tensor->tail, PAGE);
    if (address >= tensor->address && address < end && bytes <= end - address) {
      *hint = index;
      return true;
    }
  }
  return false;
}

/* Whether all that an instruction touches lies in its memories. */
static bool stays_inside(struct execution *execution, const struct inst *inst) {
  const struct vinci_values *values = execution->values;
  struct inst_access access[INST_ACCESS_MAX];
  unsigned count = registry_access((enum isa_op)inst->op)(values->soc, inst, access);
  for (unsigned i = 0; i < count; i++) {
    uint64_t end = access[i].space == SPACE_GM ? values->trace->gm_bytes
                                               : soc_space_bytes(values->soc, access[i].space);
    if (access[i].bytes > 0 && (access[i].address < 0 || access[i].bytes > end ||
                                (uint64_t)access[i].address > end - access[i].bytes))
      return false;
    if (access[i].space == SPACE_GM && access[i].bytes > 0 &&
        !lies_in_pages(values->trace, &execution->tensor, (uint64_t)access[i].address,
                       access[i].bytes))
      return false;
  }
  return true;
}

static bool execute(void *context, const struct machine_step *step) {
  struct execution *execution = context;
  const struct inst *inst = step->inst;
  if (execution->lenient && !stays_inside(execution, inst))
    return true;
  bool failed = false;
  if (execution->values->unknown &&
      !unknown_computes(execution->values->unknown, execution->values, step, &failed)) {
    if (failed)
      execution->status = diag_error(execution->diag, VINCI_E_NOMEM,
                                     "the system refuses to close memory that is not computed");
    return !failed;
  }
  values_apply(execution->values, step->core, inst);
  return true;
}

struct stream_data values_stream_data(void *context, uint32_t core) {
  const struct vinci_values *values = context;
  return (struct stream_data){.gm = values->gm,
                              .ub = values->cores[core].bytes[SPACE_UB],
                              .lanes_taken = &values->registers[core].taken};
}

static bool ignore_misuse(void *context, const struct machine_step *step,
                          const struct misuse *misuse) {
  (void)context;
  (void)step;
  (void)misuse;
  return true;
}

static enum vinci_status
run(struct execution *execution,
    bool (*progress)(void *context, uint64_t instructions, unsigned done_permille), void *context) {
  const struct vinci_values *values = execution->values;
  for (uint32_t i = 0; i < values->trace->tensor_count; i++)
    if (values_is_input(values, i) && !values->is_loaded[i])
      return diag_error(execution->diag, VINCI_E_USAGE, "tensor \"%s\" has no values",
                        values->trace->tensors[i].name);
  struct machine_observer observer = {.context = execution,
                                      .begin_block = begin_block,
                                      .execute = execute,
                                      .misuse = execution->lenient ? ignore_misuse : NULL};
  struct machine_options options = {
      .order = MACHINE_CONSUMERS_FIRST,
      .unchecked_ranges = execution->lenient && !execution->checks_ranges,
      .progress = progress,
      .progress_context = context,
      .data = values_stream_data,
      .data_context = execution->values,
  };
  struct program_source *source = values->trace->source;
  if (source && (source->auto_sync || source->in_order))
    options.order = MACHINE_PROGRAM_ORDER;
  if (execution->as) {
    options.order = execution->as->order;
    options.seed = execution->as->seed;
    options.relaxed = execution->as->relaxed;
  }
  enum vinci_status status = trace_take(values->trace, execution->diag);
  if (status != VINCI_OK)
    return status;
  if (source) /* its scalar code reads and writes these values */
    source->values = execution->values;
  status = machine_run_with(values->soc, values->trace, &options, &observer, 1, execution->diag);
  if (source)
    source->values = NULL;
  trace_give_back(values->trace);
  return status == VINCI_OK ? execution->status : status;
}

enum vinci_status vinci_values_run(vinci_values *values,
                                   bool (*progress)(void *context, uint64_t instructions,
                                                    unsigned done_permille),
                                   void *context, struct vinci_diag *diag) {
  struct execution execution = {.values = values, .diag = diag};
  return run(&execution, progress, context);
}

enum vinci_status values_run_leniently(struct vinci_values *values, bool looked_at_afterwards,
                                       bool (*progress)(void *context, uint64_t instructions,
                                                        unsigned done_permille),
                                       void *context, struct vinci_diag *diag) {
  struct execution execution = {
      .values = values, .diag = diag, .lenient = true, .checks_ranges = !looked_at_afterwards};
  return run(&execution, progress, context);
}

enum vinci_status values_run_as(struct vinci_values *values, const struct machine_options *as,
                                struct vinci_diag *diag) {
  struct execution execution = {.values = values, .diag = diag, .as = as};
  return run(&execution, NULL, NULL);
}

/* ---- tensors ---------------------------------------------------------------------- */

/* Tensors get addresses in the order of their first declarations. */
static uint32_t find_first(const struct vinci_trace *trace, const uint32_t *firsts, uint32_t count,
                           uint64_t address) {
  uint32_t low = 0;
  while (count > 1) {
    uint32_t half = count / 2;
    if (trace->tensors[firsts[low + half]].address <= address)
      low += half;
    count -= half;
  }
  return firsts[low];
}

static bool list_tensors(struct vinci_values *values) {
  const struct vinci_trace *trace = values->trace;
  uint32_t *firsts = calloc((size_t)trace->tensor_count + 1, sizeof *firsts), count = 0;
  if (!firsts)
    return false;
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    if (count == 0 || tensor->address > trace->tensors[firsts[count - 1]].address)
      firsts[count++] = i;
    values->first[i] = find_first(trace, firsts, count, tensor->address);
    values->is_loaded[i] = tensor->is_list;
    if (tensor->io == TENSOR_OUT || tensor->io == TENSOR_INOUT)
      values->is_written[values->first[i]] = true;
  }
  free(firsts);
  return true;
}

bool values_is_first(const struct vinci_values *values, uint32_t tensor) {
  return values->first[tensor] == tensor;
}

bool values_is_input(const struct vinci_values *values, uint32_t tensor) {
  enum tensor_io io = values->trace->tensors[tensor].io;
  return (io == TENSOR_IN || io == TENSOR_INOUT) && values_is_first(values, tensor);
}

bool values_is_output(const struct vinci_values *values, uint32_t tensor) {
  return values->is_written[tensor] && values_is_first(values, tensor);
}

static const char *tensor_name_at(const void *context, size_t index) {
  return ((const struct vinci_values *)context)->trace->tensors[index].name;
}

enum vinci_status values_find(const struct vinci_values *values, const char *name, uint32_t *tensor,
                              struct vinci_diag *diag) {
  const struct vinci_trace *trace = values->trace;
  for (*tensor = 0; *tensor < trace->tensor_count; ++*tensor)
    if (strcmp(trace->tensors[*tensor].name, name) == 0)
      return VINCI_OK;
  enum vinci_status status =
      diag_error(diag, VINCI_E_USAGE, "%s has no tensor \"%s\"", trace->path, name);
  const char *nearest = diag_nearest(name, trace->tensor_count, tensor_name_at, values);
  if (nearest)
    diag_hint(diag, "did you mean \"%s\"?", nearest);
  return status;
}

size_t vinci_values_count(const vinci_values *values) { return values->trace->tensor_count; }

bool vinci_values_tensor(const vinci_values *values, size_t index, struct vinci_tensor *out) {
  if (index >= values->trace->tensor_count || !values_is_first(values, (uint32_t)index))
    return false;
  const struct program_tensor *tensor = &values->trace->tensors[index];
  *out = (struct vinci_tensor){
      .name = tensor->name,
      .dtype = dtype_name(tensor->dtype),
      .rank = tensor->rank,
      .input = values_is_input(values, (uint32_t)index),
      .output = values_is_output(values, (uint32_t)index),
      .loaded = values->is_loaded[index],
      .file = tensor->file,
      .data = values_bytes(values, (uint32_t)index),
      .bytes = tensor->bytes,
  };
  memcpy(out->shape, tensor->shape, sizeof out->shape);
  return true;
}

/* ---- inputs that nobody gives ------------------------------------------------------- */

/* Element i from 11 random bits: integers -8 to 7, other numbers (bits - 1024) / 1024. */
static void fill_element(enum dtype type, uint8_t *bytes, uint64_t i, uint64_t random) {
  float number = ((float)(random & 0x7ff) - 1024.0f) / 1024.0f;
  int integer = (int)(random & 0xf) - 8;
  switch (type) {
  case DTYPE_FP16:
    store_u16(bytes + i * sizeof(uint16_t), fp16_from_fp32(number));
    break;
  case DTYPE_BF16:
    store_u16(bytes + i * sizeof(uint16_t), bf16_from_fp32(number));
    break;
  case DTYPE_FP32:
  case DTYPE_HF32:
    store_fp32(bytes + i * sizeof(float), number);
    break;
  case DTYPE_FP8_E4M3:
    bytes[i] = (uint8_t)number_encode(&number_fp8_e4m3, (double)number, ROUND_EVEN, true);
    break;
  case DTYPE_FP8_E5M2:
    bytes[i] = (uint8_t)number_encode(&number_fp8_e5m2, (double)number, ROUND_EVEN, true);
    break;
  case DTYPE_INT4:
    int4_store(bytes, i, integer);
    break;
  case DTYPE_UINT8:
  case DTYPE_UINT16:
  case DTYPE_UINT32:
    integer += 8;
    __attribute__((fallthrough));
  default:
    for (unsigned b = 0; b < dtype_bits(type); b += BITS_PER_BYTE)
      bytes[(i * dtype_bits(type) + b) / BITS_PER_BYTE] = (uint8_t)((int64_t)integer >> b);
    break;
  }
}

void vinci_values_fill(vinci_values *values, uint64_t seed) {
  for (uint32_t t = 0; t < values->trace->tensor_count; t++) {
    const struct program_tensor *tensor = &values->trace->tensors[t];
    uint64_t state = seed * UINT64_C(0xD1342543DE82EF95) + t;
    if (!values_is_input(values, t) || values->is_loaded[t])
      continue;
    uint64_t count = 1;
    for (unsigned i = 0; i < tensor->rank; i++)
      count *= tensor->shape[i];
    for (uint64_t i = 0; i < count; i++)
      fill_element(tensor->dtype, values_bytes(values, t), i, splitmix64_next(&state));
    values->is_loaded[t] = true;
  }
}

void vinci_values_zero(vinci_values *values) {
  for (uint32_t t = 0; t < values->trace->tensor_count; t++)
    values->is_loaded[t] = true;
}

/* ---- life ----------------------------------------------------------------------------- */

enum vinci_status values_create_on(const struct vinci_soc *soc, const struct vinci_trace *trace,
                                   uint8_t *gm, struct unknown_pages *unknown,
                                   struct vinci_values **out, struct vinci_diag *diag) {
  *out = NULL;
  struct vinci_values *values = calloc(1, sizeof *values);
  if (values) {
    values->soc = soc;
    values->trace = trace;
    note_sizes(values);
    struct placement placement;
    placement_count(&placement, soc, trace);
    values->core_count = placement.core_count;
    values->gm = gm ? gm : new_buffer(values, SPACE_GM, (size_t)trace->gm_bytes + 1);
    values->gm_is_lent = gm != NULL;
    values->cores = calloc((size_t)values->core_count + 1, sizeof *values->cores);
    values->registers = calloc((size_t)values->core_count + 1, sizeof *values->registers);
    values->is_loaded = calloc((size_t)trace->tensor_count + 1, sizeof *values->is_loaded);
    values->is_written = calloc((size_t)trace->tensor_count + 1, sizeof *values->is_written);
    values->first = calloc((size_t)trace->tensor_count + 1, sizeof *values->first);
    values->unknown = unknown ? unknown_new(unknown, values->core_count) : NULL;
  }
  if (!values || (unknown && !values->unknown) || !values->gm || !values->cores ||
      !values->registers || !values->is_loaded || !values->is_written || !values->first ||
      !list_tensors(values)) {
    vinci_values_free(values);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for %llu bytes of tensors",
                      (unsigned long long)trace->gm_bytes);
  }
  for (uint32_t i = 0; i < values->core_count; i++)
    values->cores[i].registers = &values->registers[i];
  *out = values;
  return VINCI_OK;
}

enum vinci_status vinci_values_create(const vinci_soc *soc, const vinci_trace *trace,
                                      vinci_values **out, struct vinci_diag *diag) {
  return values_create_on(soc, trace, NULL, NULL, out, diag);
}

void vinci_values_free(vinci_values *values) {
  if (!values)
    return;
  unknown_free(values->unknown);
  for (uint32_t i = 0; values->cores && i < values->core_count; i++)
    for (unsigned space = 0; space < SPACE_COUNT; space++)
      if (space != SPACE_GM)
        free_buffer(values, (enum space)space, values->cores[i].bytes[space]);
  free(values->cores);
  free(values->registers);
  if (!values->gm_is_lent)
    free_buffer(values, SPACE_GM, values->gm);
  free(values->is_loaded);
  free(values->is_written);
  free(values->first);
  free(values);
}
