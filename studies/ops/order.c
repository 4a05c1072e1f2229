/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators in their order on a chip that the caller has loaded, in the caller's process: the rows
 * of a list of op,args as `vinci run --ops` has them, without its files.
 */
#include "studies/ops/order.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/isa/program.h"
#include "core/result/result.h"
#include "studies/ops/ops.h"

struct running {
  const struct order *order;
  struct ops_request request;
  struct ops_library library;
  struct call_list list; /* a row for each that is no communication */
  struct ops_launches launches;
  struct ops_worker worker;
  vinci_result *result;      /* of the row that has run, */
  struct vinci_diag refusal; /* and why its kernel of the library did not */
  atomic_bool stop;
  atomic_uint done_permille;
  atomic_size_t launched, row;
};

/* ---- the list ------------------------------------------------------------------------------- */

/* Rows as of a list of op,args. Those whose time is given are none of the rows that are simulated,
 * and take what a profile has measured. */
static enum vinci_status take_rows(struct running *running, struct vinci_diag *diag) {
  const struct order *order = running->order;
  struct call_list *list = &running->list;
  list->has[CALL_TYPE] = list->has[CALL_ARGS] = true;
  list->rows = ARENA_ARRAY(&list->arena, struct call_row, order->count);
  if (!list->rows)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  for (size_t i = 0; i < order->count; i++) {
    if (!order->rows[i].op)
      continue;
    struct call_row *row = &list->rows[list->count++];
    *row = calls_empty_row();
    row->line = list->count + 1; /* behind a header */
    row->cell[CALL_TYPE] = order->rows[i].op;
    row->cell[CALL_ARGS] = order->rows[i].args;
    row->measured_ps = order->rows[i].given_ps;
  }
  return VINCI_OK;
}

/* ---- what is asked for ---------------------------------------------------------------------- */

static bool has_unknown(const struct order *order) {
  for (size_t i = 0; i < order->count; i++)
    if (order->rows[i].op && ops_is_unknown(order->rows[i].op))
      return true;
  return false;
}

static enum vinci_status open_library(struct running *running, struct vinci_diag *diag) {
  const struct order *order = running->order;
  const char *set = getenv("VINCI_LIBRARY");
  bool of_others = !order->library && set && *set && has_unknown(order);
  if (!order->library && !of_others)
    return VINCI_OK;
  enum vinci_status status = ops_library_open(&running->library, order->library, order->data, diag);
  running->library.of_others = of_others;
  running->request.library = &running->library;
  return status;
}

static enum vinci_status begin(struct running *running, struct vinci_diag *diag) {
  const struct order *order = running->order;
  running->request = (struct ops_request){.soc = order->soc,
                                          .data = order->data,
                                          .spec.max_cycles = order->max_cycles,
                                          .memory = order->memory,
                                          .network = order->network,
                                          .sequence = order->sequence,
                                          .repeat = 1,
                                          .l2_given = !order->sequence,
                                          .l2_start = order->l2_start,
                                          .code_found_ppm = order->code_found_ppm};
  running->worker = (struct ops_worker){.request = &running->request,
                                        .list = &running->list,
                                        .stop = &running->stop,
                                        .done_permille = &running->done_permille,
                                        .launched = &running->launched,
                                        .running = &running->row,
                                        .result = &running->result,
                                        .refusal = &running->refusal};
  enum vinci_status status = open_library(running, diag);
  if (status == VINCI_OK)
    status = take_rows(running, diag);
  if (status != VINCI_OK || !order->sequence)
    return status;
  status =
      ops_launches_create(&running->request, &running->list, "operators", &running->launches, diag);
  running->worker.list = &running->launches.list;
  running->worker.row = running->launches.row;
  return status == VINCI_OK ? ops_sequence_create(&running->worker, diag) : status;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static const enum vinci_status statuses[OPS_ENDS] = {
    [OPS_OPEN] = VINCI_E_LIMIT,   [OPS_OK] = VINCI_OK,         [OPS_UNSUPPORTED] = VINCI_E_USAGE,
    [OPS_FAILED] = VINCI_E_INPUT, [OPS_LIMIT] = VINCI_E_LIMIT, [OPS_CRASHED] = VINCI_E_NOMEM};

/* Without the word that says how the row ended. */
static const char *reason_of(const struct ops_outcome *outcome) {
  const char *reason = strstr(outcome->status, ": ");
  return outcome->end == OPS_OK || !reason ? "" : reason + 2;
}

static enum vinci_status split(struct arena *arena, const char *text, const char ***words,
                               size_t *count) {
  *count = 0;
  *words = ARENA_ARRAY(arena, const char *, strlen(text) / 2 + 1);
  for (text += strspn(text, " "); *words && *text; text += strspn(text, " ")) {
    size_t length = strcspn(text, " ");
    if (!((*words)[(*count)++] = arena_strndup(arena, text, length)))
      return VINCI_E_NOMEM;
    text += length;
  }
  return *words ? VINCI_OK : VINCI_E_NOMEM;
}

/* What the lowering says of an operator alone, with its hint. Nothing when it takes that. */
static void ask_lowering(const struct running *running, const struct call_row *row,
                         struct vinci_diag *out) {
  struct arena arena = {0};
  vinci_trace *trace = NULL;
  const char **words;
  size_t count;
  if (split(&arena, row->cell[CALL_ARGS], &words, &count) == VINCI_OK &&
      vinci_compile(running->order->soc, row->cell[CALL_TYPE], words, count, &trace, out) ==
          VINCI_OK)
    *out = (struct vinci_diag){0};
  vinci_trace_free(trace);
  arena_free(&arena);
}

/* The library is the one that refuses what only the library has. */
static void find_reason(const struct running *running, const struct call_row *row,
                        const struct ops_outcome *outcome, struct vinci_diag *out) {
  *out = (struct vinci_diag){0};
  if (outcome->end == OPS_UNSUPPORTED && ops_is_unknown(row->cell[CALL_TYPE]))
    *out = running->refusal;
  if (outcome->end == OPS_UNSUPPORTED && out->status == VINCI_OK)
    ask_lowering(running, row, out);
  if (out->status != VINCI_OK)
    return;
  out->status = statuses[outcome->end];
  snprintf(out->text, sizeof out->text, "%s", reason_of(outcome));
}

static enum vinci_status run_given(struct running *running, const struct call_row *row,
                                   struct vinci_diag *diag) {
  if (running->worker.sequence && !ops_sequence_skip(running->worker.sequence, row))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the tensors of the row");
  return VINCI_OK;
}

static bool tell(struct running *running, size_t index, const struct call_row *row,
                 const struct ops_outcome *outcome) {
  const struct order *order = running->order;
  bool done = outcome->end == OPS_OK; /* what has reached the limit of cycles has partial numbers */
  struct vinci_diag reason;
  find_reason(running, row, outcome, &reason);
  const struct order_answer answer = {.status = reason.status,
                                      .text = reason.text,
                                      .hint = reason.hint,
                                      .program = *outcome->program ? outcome->program : "lowering",
                                      .program_digest = outcome->program_digest,
                                      .result = done ? running->result : NULL};
  bool goes_on = order->answer(order->context, index, &answer);
  vinci_result_free(running->result);
  running->result = NULL;
  return goes_on;
}

static enum vinci_status run_row(struct running *running, size_t index, const struct call_row *row,
                                 struct vinci_diag *diag) {
  struct ops_outcome outcome = {.end = OPS_OK};
  if (running->order->rows[index].given_ps > 0) {
    enum vinci_status status = run_given(running, row, diag);
    if (status != VINCI_OK)
      return status;
  } else {
    outcome.end = OPS_OPEN;
    running->refusal = (struct vinci_diag){0};
    ops_run_row(&running->worker, row, &outcome);
  }
  return tell(running, index, row, &outcome)
             ? VINCI_OK
             : diag_error(diag, VINCI_E_LIMIT, "the list was ended before its last operator");
}

static enum vinci_status run_rows(struct running *running, struct vinci_diag *diag) {
  const struct order *order = running->order;
  const struct call_row *row = running->worker.list->rows;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < order->count; i++)
    if (order->rows[i].op)
      status = run_row(running, i, row++, diag);
    else if (running->worker.sequence)
      ops_sequence_communicate(running->worker.sequence);
  return status;
}

enum vinci_status ops_order_run(const struct order *order, struct vinci_diag *diag) {
  struct running running = {.order = order};
  bool any = false;
  for (size_t i = 0; i < order->count; i++)
    any |= order->rows[i].op != NULL;
  if (!any)
    return VINCI_OK;
  enum vinci_status status = begin(&running, diag);
  if (status == VINCI_OK)
    status = run_rows(&running, diag);
  ops_sequence_free(running.worker.sequence);
  ops_launches_free(&running.launches);
  ops_library_free(&running.library);
  arena_free(&running.list.arena);
  return status;
}
