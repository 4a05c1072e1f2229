/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sequence launches. Consecutive rows of one weight above 1 are a loop: they are launched in
 * their order, as often as the weight says, as the layers of a network are. A row of the table has
 * the mean over its launches.
 *
 * Rows without shapes (op,args; GEMMs; convolutions) have the tensors of their programs, and the
 * vendor's type of their operator, by which a sequence knows weights (sequence.h).
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/base/lookup.h"
#include "core/base/words.h"
#include "studies/ops/passed.h"

enum { LAUNCHES_MAX = 1 << 20, LOOK_LAUNCHES = 8 };

/* ---- tensors of rows without shapes --------------------------------------------------------- */

static void add_tensor(struct lower_tensor *tensors, unsigned *count,
                       const struct program_tensor *from) {
  if (*count == LOWER_TENSORS_MAX)
    return;
  struct lower_tensor *tensor = &tensors[(*count)++];
  *tensor = (struct lower_tensor){.dtype = from->dtype, .rank = from->rank, .typed = true};
  memcpy(tensor->shape, from->shape, sizeof tensor->shape);
  snprintf(tensor->format, sizeof tensor->format, "%s", from->format);
}

static void take_tensors(const struct lower_op *op, const struct vinci_trace *trace,
                         struct lower_call *call) {
  *call = (struct lower_call){0};
  if (!words_nth(op->vendor_types, 0, call->type))
    snprintf(call->type, sizeof call->type, "%s", op->name);
  for (uint32_t i = 0; i < trace->tensor_count; i++) {
    const struct program_tensor *tensor = &trace->tensors[i];
    if (tensor->io == TENSOR_IN || tensor->io == TENSOR_INOUT)
      add_tensor(call->input, &call->input_count, tensor);
    if (tensor->io == TENSOR_OUT || tensor->io == TENSOR_INOUT)
      add_tensor(call->output, &call->output_count, tensor);
  }
}

static uint64_t digest_of(const struct call_request *request) {
  uint64_t digest = digest_string(DIGEST_SEED, request->op->name);
  for (size_t i = 0; i < request->arg_count; i++)
    digest = digest_string(digest, request->args[i]);
  return digest;
}

/* The tensors of a program, which the rows of the digest share; NULL without memory. */
static struct lower_call *keep_tensors(struct call_list *list, const struct lower_op *op,
                                       const vinci_trace *trace) {
  struct lower_call *call = ARENA_NEW(&list->arena, struct lower_call);
  if (call)
    take_tensors(op, trace, call);
  return call;
}

/* A row that does not become a program has no tensors, and fails when its turn comes. False when
 * memory is short. */
static bool find_row_tensors(struct ops_worker *worker, struct call_list *list,
                             struct call_row *row, struct lookup *known) {
  struct arena arena = {0};
  struct call_request request = {0};
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  bool room = true;
  if (calls_resolve(list, row, worker->soc, &arena, &request)) {
    uint64_t digest = digest_of(&request);
    uintptr_t found = lookup_find(known, digest);
    if (found != LOOKUP_NONE) {
      row->tensors = list->rows[found].tensors;
    } else {
      enum vinci_status status = vinci_compile(worker->soc, request.op->name, request.args,
                                               request.arg_count, &trace, &diag);
      if (status == VINCI_OK)
        row->tensors = keep_tensors(list, request.op, trace);
      room = status != VINCI_E_NOMEM &&
             (status != VINCI_OK ||
              (row->tensors && lookup_add(known, NULL, digest, (uintptr_t)(row - list->rows))));
    }
  }
  vinci_trace_free(trace);
  arena_free(&arena);
  return room && !request.no_memory;
}

/* Without a chip each row fails when its turn comes. */
static bool find_tensors(const struct ops_request *request, struct call_list *list) {
  struct ops_worker worker = {.request = request, .list = list};
  struct vinci_diag diag = {0};
  struct lookup known = {0};
  enum vinci_status status = ops_take_soc(&worker, ops_soc_of(request, list->rows), &diag);
  bool room = status != VINCI_E_NOMEM;
  if (status == VINCI_OK)
    for (size_t i = 0; room && i < list->count; i++)
      room = find_row_tensors(&worker, list, &list->rows[i], &known);
  lookup_free(&known);
  ops_drop_soc(&worker);
  return room;
}

/* ---- the list of launches -------------------------------------------------------------------- */

static enum vinci_status count_launches(const struct call_list *list, const char *path,
                                        size_t *count, struct vinci_diag *diag) {
  *count = 0;
  for (size_t i = 0; i < list->count; i++) {
    struct diag_position at = {.path = path, .line = list->rows[i].line};
    uint64_t weight = list->rows[i].weight;
    if (weight == 0)
      return diag_error_at(diag, VINCI_E_INPUT, at,
                           "weight is 0; a sequence launches each row at least once");
    if (weight > LAUNCHES_MAX - *count)
      return diag_error_at(diag, VINCI_E_LIMIT, at,
                           "with the weights up to this row a sequence has more than %d launches",
                           LAUNCHES_MAX);
    *count += (size_t)weight;
  }
  return VINCI_OK;
}

/* Where the loop that begins with a row ends; a row that is launched once is by itself. */
static size_t loop_end(const struct call_list *list, size_t first) {
  size_t end = first + 1;
  uint64_t weight = list->rows[first].weight;
  while (weight > 1 && end < list->count && list->rows[end].weight == weight)
    end++;
  return end;
}

static void add_loop(const struct call_list *list, size_t first, size_t end,
                     struct ops_launches *out) {
  size_t rows = end - first, begin = out->list.count;
  for (uint64_t turn = 0; turn < list->rows[first].weight; turn++)
    for (size_t i = first; i < end; i++) {
      struct call_row *launch = &out->list.rows[out->list.count];
      *launch = list->rows[i];
      launch->turn_before = turn > 0 ? rows : 0;
      launch->started &= launch->weight == 1;
      out->row[out->list.count++] = i;
    }
  for (size_t i = first; i < end; i++)
    out->place[i] = (struct ops_place){begin, first, rows};
}

enum vinci_status ops_launches_create(const struct ops_request *request, struct call_list *list,
                                      const char *path, struct ops_launches *out,
                                      struct vinci_diag *diag) {
  size_t count;
  *out = (struct ops_launches){.list = *list};
  out->list.arena = (struct arena){0};
  out->list.count = 0;
  if (calls_kind(list->has) != CALL_KIND_PROFILE && !find_tensors(request, list))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the tensors of the list");
  enum vinci_status status = count_launches(list, path, &count, diag);
  if (status != VINCI_OK)
    return status;
  out->list.rows = ARENA_ARRAY(&out->list.arena, struct call_row, count + 1);
  out->row = ARENA_ARRAY(&out->list.arena, size_t, count + 1);
  out->place = ARENA_ARRAY(&out->list.arena, struct ops_place, list->count + 1);
  out->row_count = list->count;
  if (!out->list.rows || !out->row || !out->place)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the launches of the list");
  for (size_t i = 0, end; i < list->count; i = end) {
    end = loop_end(list, i);
    add_loop(list, i, end, out);
  }
  return VINCI_OK;
}

void ops_launches_free(struct ops_launches *launches) { arena_free(&launches->list.arena); }

/* ---- launches of a row ------------------------------------------------------------------------
 */

/* Sums stay below 2^64: of 2^20 launches, up to 17 s each. */
static void add_times(struct call_times *sum, const struct call_times *times) {
  sum->duration_ps += times->duration_ps;
  sum->core_ps += times->core_ps;
  sum->start_ps += times->start_ps;
  sum->cube_ppm += times->cube_ppm;
  sum->gm_bytes += times->gm_bytes;
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    sum->pipe_ps[i] += times->pipe_ps[i];
  for (unsigned i = 0; i < CORE_KIND_COUNT; i++)
    sum->code_miss_ppm[i] += times->code_miss_ppm[i];
}

static void divide_times(struct call_times *sum, uint64_t count) {
  sum->duration_ps /= count;
  sum->core_ps /= count;
  sum->start_ps /= count;
  sum->cube_ppm /= count;
  sum->gm_bytes /= count;
  for (unsigned i = 0; i < PIPE_COUNT; i++)
    sum->pipe_ps[i] /= count;
  for (unsigned i = 0; i < CORE_KIND_COUNT; i++)
    sum->code_miss_ppm[i] /= count;
}

/* What says how it went is of the last launch, or of the first that failed. */
static void add_launch(struct ops_outcome *sum, const struct ops_outcome *launch) {
  struct ops_outcome before = *sum;
  if (before.end != OPS_OPEN && before.end != OPS_OK)
    return;
  *sum = *launch;
  add_times(&sum->times, &before.times);
  sum->l2_input_bytes += before.l2_input_bytes;
  sum->l2_found_bytes += before.l2_found_bytes;
  sum->l2_overwritten_bytes += before.l2_overwritten_bytes;
  if (before.end != OPS_OPEN)
    sum->start_ps = before.start_ps;
}

static void make_means(struct ops_outcome *sum, uint64_t count) {
  if (sum->end != OPS_OK)
    return;
  divide_times(&sum->times, count);
  sum->l2_input_bytes /= count;
  sum->l2_found_bytes /= count;
  sum->l2_overwritten_bytes /= count;
}

static void run_launch(struct ops_worker *worker, size_t launch, struct ops_outcome *outcome) {
  *worker->running = worker->row[launch];
  ops_run_row(worker, &worker->list->rows[launch], outcome);
  if (outcome->end != OPS_OPEN)
    (*worker->launched)++;
}

static bool skip_launch(const struct ops_worker *worker, size_t launch) {
  (*worker->launched)++;
  return ops_sequence_skip(worker->sequence, &worker->list->rows[launch]);
}

/* Rows that have an end, of a process that died, pass their tensors. */
static bool run_turn(struct ops_worker *worker, const struct ops_place *place, uint64_t turn,
                     const struct ops_outcome *outcomes, struct ops_outcome *sums) {
  for (size_t i = 0; i < place->rows; i++) {
    struct ops_outcome outcome = {0};
    size_t launch = place->launch + turn * place->rows + i;
    if (outcomes[place->first + i].end != OPS_OPEN) {
      if (!skip_launch(worker, launch))
        return false;
      continue;
    }
    run_launch(worker, launch, &outcome);
    if (outcome.end == OPS_OPEN)
      return false;
    add_launch(&sums[i], &outcome);
  }
  return true;
}

bool ops_launches_run(struct ops_worker *worker, const struct ops_launches *launches, size_t row,
                      struct ops_outcome *outcomes) {
  const struct ops_place *place = &launches->place[row];
  uint64_t turns = launches->list.rows[place->launch].weight;
  struct ops_outcome *sums = calloc(place->rows, sizeof *sums);
  bool good = sums != NULL;
  for (uint64_t turn = 0; good && turn < turns; turn++)
    good = run_turn(worker, place, turn, outcomes, sums);
  for (size_t i = 0; good && i < place->rows; i++)
    if (outcomes[place->first + i].end == OPS_OPEN) {
      make_means(&sums[i], turns);
      outcomes[place->first + i] = sums[i];
    }
  free(sums);
  return good;
}

bool ops_launches_skip(struct ops_worker *worker, const struct ops_launches *launches, size_t row) {
  for (size_t i = 0; i < launches->place[row].launch; i++)
    if (!skip_launch(worker, i))
      return false;
  return true;
}

/* ---- the whole list, time after time ----------------------------------------------------------
 */

/* All launches once; outcomes by row. Rows whose process has died pass their tensors. */
static bool pass_once(struct ops_worker *worker, const struct ops_launches *launches,
                      const struct ops_outcome *ended, struct ops_outcome *outcomes) {
  for (size_t row = 0; row < launches->row_count; row++)
    outcomes[row] = ended[row].end == OPS_CRASHED ? ended[row] : (struct ops_outcome){0};
  for (size_t row = 0; row < launches->row_count; row += launches->place[row].rows)
    if (!ops_launches_run(worker, launches, row, outcomes))
      return false;
  return ops_sequence_again(worker->sequence);
}

/* Of times to be passed and the one behind them: those that are over, and those that need not run.
 */
struct turns {
  struct lookup states; /* by state of the chip: the time before which it was in this state */
  uint32_t done, times;
  bool found;
};

/* Where the chip is as before an earlier time, all times between these two come again: whole turns
 * need not run, nor the last one where it is as the one that has just run. */
static bool find_turn(struct turns *turns, uint64_t state, uint32_t *spared) {
  uintptr_t before = lookup_find(&turns->states, state);
  uint32_t left = turns->times - turns->done;
  *spared = 0;
  if (before == LOOKUP_NONE)
    return lookup_add(&turns->states, NULL, state, turns->done);
  uint32_t turn = turns->done - (uint32_t)before;
  *spared = (left + 1) % turn == 0 ? left + 1 : left - left % turn;
  turns->found = true;
  return true;
}

static bool skip_turns(struct ops_worker *worker, const struct ops_launches *launches,
                       struct turns *turns, struct ops_passed *out) {
  uint32_t spared;
  if (!find_turn(turns, ops_sequence_state(worker->sequence), &spared))
    return false;
  turns->done += spared;
  out->skipped += spared * launches->list.count;
  *worker->launched += spared * launches->list.count;
  return true;
}

static bool pass_times(struct ops_worker *worker, const struct ops_launches *launches,
                       const struct ops_outcome *ended, struct turns *turns,
                       struct ops_passed *out) {
  /* Looking at a chip takes as long as some small kernels. */
  uint32_t each = 1 + (uint32_t)(LOOK_LAUNCHES / (launches->list.count + 1));
  bool good = true;
  while (good) {
    if (!turns->found && !worker->request->exact && turns->done % each == 0)
      good = skip_turns(worker, launches, turns, out);
    if (!good || turns->done >= turns->times)
      break;
    good = pass_once(worker, launches, ended, out->outcomes);
    turns->done++;
  }
  out->last = turns->done > turns->times;
  return good;
}

bool ops_launches_pass(struct ops_worker *worker, const struct ops_launches *launches,
                       const struct ops_outcome *ended, uint32_t times, struct ops_passed *out) {
  struct turns turns = {.times = times};
  *out = (struct ops_passed){0};
  if (times == 0)
    return true;
  out->outcomes = calloc(launches->row_count, sizeof *out->outcomes);
  bool good = out->outcomes && pass_times(worker, launches, ended, &turns, out);
  lookup_free(&turns.states);
  return good;
}
