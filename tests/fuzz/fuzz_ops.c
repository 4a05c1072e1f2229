/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of lists of operators: any bytes are read without harm, each row of what is accepted
 * becomes an operator with arguments or a reason, and the arguments are taken or refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "lower/calls/calls.h"
#include "lower/calls/sequence.h"
#include "tests/support/fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static vinci_soc *soc;

static void check_row(const struct call_list *list, const struct call_row *row) {
  struct arena arena = {0};
  struct call_request request = {0};
  struct vinci_diag diag = {0};
  bool good = calls_resolve(list, row, soc, &arena, &request);
  if (good != (*request.reason == '\0'))
    vinci_bug("line %lu: %s, and the reason '%s'", row->line, good ? "accepted" : "refused",
              request.reason);
  if (good) {
    struct lower_job job = {.soc = soc, .op = request.op, .arena = &arena, .diag = &diag};
    enum vinci_status status = lower_parse_args(&job, request.args, request.arg_count);
    if (status != VINCI_OK && status != VINCI_E_USAGE)
      vinci_bug("line %lu: status %d of arguments", row->line, (int)status);
    if ((unsigned)calls_l2_start(row, &request) > VINCI_L2_DIRTY)
      vinci_bug("line %lu: no state of L2", row->line);
  }
  arena_free(&arena);
}

/* The list as a profile in its order: every tensor of a row gets a place. */
static void check_sequence(const struct call_list *list) {
  struct vinci_diag diag = {0};
  struct sequence sequence;
  if (sequence_create(list, &sequence, &diag) != VINCI_OK)
    vinci_bug("no sequence: %s", diag.text);
  for (size_t i = 0; i < list->count; i++) {
    if (!sequence_begin_row(&sequence, i))
      vinci_bug("row %zu has no memory", i);
    sequence_end_row(&sequence, i);
  }
  sequence_free(&sequence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct vinci_diag diag = {0};
  struct call_list list;
  if (size == 0 || (!soc && !(soc = fixture_soc())))
    return 0;
  char *copy = malloc(size);
  FILE *file = copy ? fmemopen(memcpy(copy, data, size), size, "r") : NULL;
  if (!file) {
    free(copy);
    return 0;
  }
  enum vinci_status status = calls_read_stream(file, "fuzz", &list, &diag);
  fclose(file);
  free(copy);
  if (status != VINCI_OK && status != VINCI_E_INPUT)
    vinci_bug("status %d of an input", (int)status);
  if (status != diag.status)
    vinci_bug("status %d, diagnostic %d", (int)status, (int)diag.status);
  for (size_t i = 0; status == VINCI_OK && i < list.count; i++)
    check_row(&list, &list.rows[i]);
  if (status == VINCI_OK) {
    check_sequence(&list);
    arena_free(&list.arena);
  }
  return 0;
}
