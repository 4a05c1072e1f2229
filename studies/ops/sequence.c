/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a list in their order on one chip. Each row starts when the row before has ended
 * and the profile's gap has passed, with what L2 holds then. L2 writes back what it throws out and
 * nothing else, so that dirty lines stay through a gap. A row on cores that cannot be simulated
 * takes its measured time, and its tensors pass through L2: no more of them than device memory can
 * move in that time, where it is known.
 *
 * Profiles do not say which memory communication uses. Communication has all dirty lines written
 * back: in profiles of training steps on a 910B4 (a lookup behind a receive, norms behind a sum
 * over chips) and a 910B2 (copies behind a sum), kernels take as long as with an L2 without dirty
 * lines. Behind a pause of 1.9 ms without communication they do not. Other rows beside the cores
 * change nothing.
 *
 * A profile begins in the middle of a program: before its first row L2 is full of what other
 * kernels have written, as it is before a row of a list (l2.owed, assumed).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/sim/kept.h"
#include "lower/calls/sequence.h"
#include "studies/ops/ops.h"

enum { PS_PER_NS = 1000 };

struct ops_sequence {
  struct sequence tensors;
  struct kept_memory *memory;
  const struct vinci_soc *soc;
  const size_t *row; /* of the list, by launch */
  /* The last row that ran on cores: simulated, and on the clock of the profiler. */
  bool begun;
  uint64_t start_ps, end_ps;
  bool measured;
  uint64_t measured_start_ns, measured_end_ns;
};

/* What the kernels before the profile have written lies at the end of device memory, where no
 * tensor of a row lies unless the rows need all of that. */
static void owe(struct ops_sequence *sequence, const struct call_row *first) {
  uint64_t bytes = min_u64((uint64_t)sequence->soc->l2_owed_bytes, calls_l2_written(first));
  uint64_t size = (uint64_t)sequence->soc->hbm_bytes;
  bytes = min_u64(bytes, size);
  if (bytes > 0)
    kept_pass(sequence->memory, size - bytes, bytes, true);
}

enum vinci_status ops_sequence_create(struct ops_worker *worker, struct vinci_diag *diag) {
  struct ops_sequence *sequence = calloc(1, sizeof *sequence);
  if (!sequence)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the sequence");
  enum vinci_status status = sequence_create(worker->list, &sequence->tensors, diag);
  if (status == VINCI_OK)
    status = ops_take_soc(worker, ops_soc_of(worker->request, worker->list->rows), diag);
  if (status == VINCI_OK)
    status = kept_create(worker->soc, worker->request->memory, &sequence->memory, diag);
  sequence->soc = worker->soc;
  sequence->row = worker->row;
  worker->sequence = sequence;
  if (status == VINCI_OK)
    owe(sequence, worker->list->rows);
  return status;
}

void ops_sequence_free(struct ops_sequence *sequence) {
  if (!sequence)
    return;
  kept_free(sequence->memory);
  sequence_free(&sequence->tensors);
  free(sequence);
}

void ops_sequence_communicate(struct ops_sequence *sequence) { kept_clean(sequence->memory); }

bool ops_sequence_again(struct ops_sequence *sequence) {
  struct vinci_diag diag = {0};
  const struct call_list *list = sequence->tensors.list;
  sequence_free(&sequence->tensors);
  sequence->begun = sequence->measured = false;
  return sequence_create(list, &sequence->tensors, &diag) == VINCI_OK;
}

uint64_t ops_sequence_state(struct ops_sequence *sequence) { return kept_state(sequence->memory); }

/* What device memory cannot hold is no tensor of this chip. */
static bool is_there(const struct ops_sequence *sequence, const struct sequence_use *use) {
  return use->tensor != SEQUENCE_NONE &&
         sequence->tensors.tensors[use->tensor].bytes <= (uint64_t)sequence->soc->hbm_bytes;
}

static size_t index_of(const struct ops_sequence *sequence, const struct call_row *row) {
  return (size_t)(row - sequence->tensors.list->rows);
}

/* ---- the clock ---------------------------------------------------------------------------- */

static uint64_t gap_ps(uint64_t later_ns, uint64_t earlier_ns) {
  return later_ns > earlier_ns ? (later_ns - earlier_ns) * PS_PER_NS : 0;
}

/* What runs beside the cores (communication) keeps its distance to the start of the row on cores
 * before; rows on cores follow one another. */
static uint64_t start_of(const struct ops_sequence *sequence, const struct call_row *row) {
  if (!sequence->begun)
    return 0;
  if (!row->started || !sequence->measured)
    return sequence->end_ps;
  if (calls_on_cores(row) || row->start_ns >= sequence->measured_end_ns)
    return sequence->end_ps + gap_ps(row->start_ns, sequence->measured_end_ns);
  return sequence->start_ps + gap_ps(row->start_ns, sequence->measured_start_ns);
}

static void advance(struct ops_sequence *sequence, const struct call_row *row, uint64_t start_ps,
                    uint64_t duration_ps) {
  if (!calls_on_cores(row))
    return;
  sequence->begun = true;
  sequence->start_ps = start_ps;
  sequence->end_ps = start_ps + duration_ps;
  sequence->measured = row->started;
  sequence->measured_start_ns = row->start_ns;
  sequence->measured_end_ns = row->start_ns + row->measured_ps / PS_PER_NS;
}

/* ---- what L2 holds of the inputs ---------------------------------------------------------- */

static void tell(struct ops_outcome *outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void tell(struct ops_outcome *outcome, const char *format, ...) {
  size_t used = strlen(outcome->l2_from);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(outcome->l2_from + used, sizeof outcome->l2_from - used, format, arguments);
  va_end(arguments);
}

static void look_for(const struct ops_sequence *sequence, const struct sequence_use *use,
                     unsigned number, struct ops_outcome *outcome) {
  const struct sequence_tensor *tensor = &sequence->tensors.tensors[use->tensor];
  struct kept_bytes found = kept_find(sequence->memory, tensor->address, tensor->bytes);
  uint64_t valid = min_u64(found.valid, tensor->bytes);
  outcome->l2_input_bytes += tensor->bytes;
  outcome->l2_found_bytes += valid;
  tell(outcome, "%s%u: ", number > 1 && *outcome->l2_from ? "; " : "", number);
  if (use->before == SEQUENCE_NONE)
    tell(outcome, "not seen");
  else
    tell(outcome, "%" PRIu64 " of %" PRIu64 ", %s by row %zu", valid, tensor->bytes,
         use->written ? "written" : "read", sequence->row[use->before] + 1);
}

/* Memory that the row writes anew: its lines throw no others out. */
static uint64_t overwritten(const struct ops_sequence *sequence, const struct sequence_use *use) {
  const struct sequence_tensor *tensor = &sequence->tensors.tensors[use->tensor];
  return min_u64(tensor->bytes, kept_find(sequence->memory, tensor->address, tensor->bytes).valid);
}

static void look(const struct ops_sequence *sequence, size_t index, struct ops_outcome *outcome) {
  const struct sequence_row *row = &sequence->tensors.rows[index];
  for (unsigned i = 0; i < row->inputs; i++) {
    const struct sequence_use *use = &sequence->tensors.uses[row->first_use + i];
    if (is_there(sequence, use) && !use->fresh)
      look_for(sequence, use, i + 1, outcome);
  }
  for (unsigned i = row->inputs; i < row->inputs + row->outputs; i++) {
    const struct sequence_use *use = &sequence->tensors.uses[row->first_use + i];
    if (is_there(sequence, use))
      outcome->l2_overwritten_bytes += overwritten(sequence, use);
  }
}

/* ---- rows that are not simulated ---------------------------------------------------------- */

static size_t find_ranges(const struct ops_sequence *sequence, const struct sequence_row *row,
                          struct kept_range *ranges) {
  size_t count = 0;
  for (unsigned i = 0; i < row->inputs + row->outputs; i++) {
    const struct sequence_use *use = &sequence->tensors.uses[row->first_use + i];
    if (!is_there(sequence, use) || (i < row->inputs && use->fresh))
      continue;
    const struct sequence_tensor *tensor = &sequence->tensors.tensors[use->tensor];
    ranges[count++] = (struct kept_range){tensor->address, tensor->bytes, i >= row->inputs};
  }
  return count;
}

static void pass(struct ops_sequence *sequence, size_t index) {
  const struct sequence_row *row = &sequence->tensors.rows[index];
  const struct call_row *call = &sequence->tensors.list->rows[index];
  struct kept_range ranges[2 * LOWER_TENSORS_MAX];
  uint64_t all = 0;
  if (calls_communicates(call))
    kept_clean(sequence->memory);
  if (!calls_on_cores(call))
    return;
  size_t count = find_ranges(sequence, row, ranges);
  for (size_t i = 0; i < count; i++)
    all += ranges[i].bytes;
  uint64_t most = call->measured_ps == 0 ? all
                                         : (uint64_t)((uint128)sequence->soc->hbm_bytes_per_second *
                                                      call->measured_ps / PS_PER_SECOND);
  for (size_t i = 0; i < count && all > most; i++)
    ranges[i].bytes = (uint64_t)((uint128)ranges[i].bytes * most / all);
  kept_pass_ranges(sequence->memory, ranges, count);
}

bool ops_sequence_skip(struct ops_sequence *sequence, const struct call_row *row) {
  size_t index = index_of(sequence, row);
  bool good = sequence_begin_row(&sequence->tensors, index);
  if (good)
    pass(sequence, index);
  sequence_end_row(&sequence->tensors, index);
  advance(sequence, row, start_of(sequence, row), row->measured_ps);
  return good;
}

/* ---- rows that are ------------------------------------------------------------------------- */

/* Which of a row's tensors a tensor of the trace is: one that no other of the trace is, of as many
 * bytes, or else of more. */
static bool find_place(const struct ops_sequence *sequence, const struct sequence_row *row,
                       const struct program_tensor *tensor, bool output, bool *used,
                       uint64_t *address) {
  unsigned from = output ? row->inputs : 0, to = output ? row->inputs + row->outputs : row->inputs;
  for (unsigned exact = 2; exact-- > 0;)
    for (unsigned i = from; i < to; i++) {
      size_t known = sequence->tensors.uses[row->first_use + i].tensor;
      if (known == SEQUENCE_NONE || used[i])
        continue;
      uint64_t bytes = sequence->tensors.tensors[known].bytes;
      if (exact ? bytes != tensor->bytes : bytes < tensor->bytes)
        continue;
      used[i] = true;
      *address = sequence->tensors.tensors[known].address;
      return true;
    }
  return false;
}

static uint64_t address_of(struct ops_sequence *sequence, const struct sequence_row *row,
                           const struct vinci_trace *trace, uint32_t index, bool *used,
                           const uint64_t *addresses) {
  const struct program_tensor *tensor = &trace->tensors[index];
  uint64_t address;
  for (uint32_t i = 0; i < index; i++)
    if (trace->tensors[i].address == tensor->address)
      return addresses[i];
  bool reads = tensor->io == TENSOR_IN || tensor->io == TENSOR_INOUT;
  bool writes = tensor->io == TENSOR_OUT || tensor->io == TENSOR_INOUT;
  if ((writes && find_place(sequence, row, tensor, true, used, &address)) ||
      (reads && find_place(sequence, row, tensor, false, used, &address)))
    return address;
  return sequence_scratch(&sequence->tensors, tensor->bytes);
}

/* Results that the trace does not know, such as what a norm keeps for its gradient. */
static void pass_others(struct ops_sequence *sequence, const struct sequence_row *row,
                        const bool *used) {
  for (unsigned i = row->inputs; i < row->inputs + row->outputs; i++) {
    const struct sequence_use *use = &sequence->tensors.uses[row->first_use + i];
    size_t index = use->tensor;
    bool known = !is_there(sequence, use) || used[i];
    for (unsigned j = 0; j < row->inputs && !known; j++)
      known = used[j] && sequence->tensors.uses[row->first_use + j].tensor == index;
    if (!known)
      kept_pass(sequence->memory, sequence->tensors.tensors[index].address,
                sequence->tensors.tensors[index].bytes, true);
  }
}

enum vinci_status ops_sequence_run(struct ops_sequence *sequence, const struct call_row *call,
                                   const struct vinci_trace *trace,
                                   const struct vinci_run_options *options,
                                   struct vinci_result **result, struct vinci_diag *diag) {
  const struct sequence_row *row = &sequence->tensors.rows[index_of(sequence, call)];
  uint64_t *addresses = calloc(trace->tensor_count + 1, sizeof *addresses);
  bool used[2 * LOWER_TENSORS_MAX] = {false}, good = addresses != NULL;
  for (uint32_t i = 0; good && i < trace->tensor_count; i++)
    good = (addresses[i] = address_of(sequence, row, trace, i, used, addresses)) != 0;
  enum vinci_status status =
      good ? kept_run(sequence->memory, trace, addresses, options, result, diag)
           : diag_error(diag, VINCI_E_NOMEM, "out of memory for the tensors of the row");
  if (status == VINCI_OK)
    pass_others(sequence, row, used);
  free(addresses);
  return status;
}

bool ops_sequence_begin(struct ops_sequence *sequence, const struct call_row *row,
                        struct ops_outcome *outcome) {
  size_t index = index_of(sequence, row);
  outcome->start_ps = start_of(sequence, row);
  if (!sequence_begin_row(&sequence->tensors, index))
    return false;
  look(sequence, index, outcome);
  return true;
}

void ops_sequence_end(struct ops_sequence *sequence, const struct call_row *row,
                      const struct ops_outcome *outcome) {
  size_t index = index_of(sequence, row);
  if (outcome->end != OPS_OK)
    pass(sequence, index);
  sequence_end_row(&sequence->tensors, index);
  advance(sequence, row, outcome->start_ps,
          outcome->end == OPS_OK ? outcome->times.duration_ps : row->measured_ps);
}

enum vinci_status ops_sequence_check(const struct ops_request *request,
                                     const struct call_list *list, const char *path,
                                     struct vinci_diag *diag) {
  if (!request->sequence)
    return VINCI_OK;
  if (request->l2_given)
    return diag_error(diag, VINCI_E_USAGE,
                      "a sequence takes no state of L2: L2 holds what the rows before have left");
  if (calls_kind(list->has) == CALL_KIND_PROFILE && !list->has[CALL_OUT_SHAPES]) {
    struct diag_position at = {.path = path};
    (void)diag_error_at(diag, VINCI_E_INPUT, at,
                        "the profile has no column \"Output Shapes\", which a sequence needs");
    diag_hint(diag, "the profiler's kernel_details.csv has all that a sequence needs");
    return VINCI_E_INPUT;
  }
  if (calls_one_device(list, path, diag) != VINCI_OK)
    return diag->status;
  for (size_t i = 1; i < list->count; i++)
    if (strcmp(ops_soc_of(request, &list->rows[i]), ops_soc_of(request, list->rows)) != 0) {
      struct diag_position at = {.path = path, .line = list->rows[i].line};
      return diag_error_at(diag, VINCI_E_INPUT, at,
                           "this row names another chip; a sequence runs on one chip");
    }
  struct ops_worker worker = {.request = request, .list = list};
  enum vinci_status status = ops_take_soc(&worker, ops_soc_of(request, list->rows), diag);
  ops_drop_soc(&worker);
  return status;
}
