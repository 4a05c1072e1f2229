/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kinds of a list of operators are modelled. A row is when its program could be compiled:
 * nothing is simulated. Rows that ask for the same program are compiled once.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/base/digest.h"
#include "core/vinci_evaluate.h"
#include "lower/calls/calls.h"

/* A program that was tried: of chip, operator, arguments and the shapes of results. */
struct tried {
  uint64_t digest;
  const char *reason; /* NULL: compiles */
};

struct coverage {
  const struct vinci_soc *soc;
  struct call_list list;
  struct arena arena;
  bool by_name; /* the list has no shapes */
  struct vinci_ops_kind *kinds;
  struct tried *tried;
  size_t kind_count, tried_count;
};

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory reading the list");
}

/* ---- the nearest name ------------------------------------------------------------------------ */

enum { SHARED_MIN = 5 };

/* The longest run of letters that two names share, without letter case. */
static size_t shared_letters(const char *a, const char *b) {
  size_t most = 0;
  for (size_t i = 0; a[i]; i++)
    for (size_t j = 0; b[j]; j++) {
      size_t run = 0;
      while (a[i + run] && b[j + run] && strncasecmp(a + i + run, b + j + run, 1) == 0)
        run++;
      most = run > most ? run : most;
    }
  return most;
}

struct vendor_names {
  const char **name;
  const struct lower_op **op;
  size_t count;
};

static const char *vendor_name_at(const void *context, size_t index) {
  const struct vendor_names *names = context;
  return names->name[index];
}

static bool list_names(struct arena *arena, struct vendor_names *names) {
  char word[WORD_BYTES_MAX];
  size_t count = 0;
  for (size_t i = 0; i < lower_op_count(); i++)
    for (unsigned j = 0; words_nth(lower_op(i)->vendor_types, j, word); j++)
      count++;
  names->name = ARENA_ARRAY(arena, const char *, count);
  names->op = ARENA_ARRAY(arena, const struct lower_op *, count);
  for (size_t i = 0; names->name && names->op && i < lower_op_count(); i++)
    for (unsigned j = 0; words_nth(lower_op(i)->vendor_types, j, word); j++) {
      names->op[names->count] = lower_op(i);
      names->name[names->count] = arena_strdup(arena, word);
      if (!names->name[names->count++])
        return false;
    }
  return names->name && names->op;
}

/* By letters that differ; else by the letters in one run that are the same; else none. */
static bool find_nearest(struct arena *arena, struct vinci_ops_kind *kind) {
  struct vendor_names names = {0};
  if (!list_names(arena, &names))
    return false;
  const char *near = diag_nearest(kind->type, names.count, vendor_name_at, &names);
  size_t most = SHARED_MIN - 1;
  for (size_t i = 0; i < names.count && !near; i++) {
    size_t shared = shared_letters(kind->type, names.name[i]);
    if (shared <= most)
      continue;
    most = shared;
    kind->nearest = names.name[i];
  }
  kind->nearest = near ? near : kind->nearest;
  for (size_t i = 0; i < names.count; i++)
    if (names.name[i] == kind->nearest)
      kind->nearest_op = names.op[i]->name;
  return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint64_t digest_of(const struct call_row *row, const struct call_request *request) {
  uint64_t digest = digest_string(DIGEST_SEED, request->op->name);
  for (size_t i = 0; i < request->arg_count; i++)
    digest = digest_string(digest, request->args[i]);
  return digest_string(digest, row->cell[CALL_OUT_SHAPES]);
}

/* NULL where the row becomes a program, else why it does not. */
static const char *try_row(struct coverage *coverage, const struct call_row *row,
                           struct call_request *request) {
  uint64_t digest = digest_of(row, request);
  for (size_t i = 0; i < coverage->tried_count; i++)
    if (coverage->tried[i].digest == digest)
      return coverage->tried[i].reason;
  struct vinci_diag problem = {0};
  vinci_trace *trace = NULL;
  bool good = vinci_compile(coverage->soc, request->op->name, request->args, request->arg_count,
                            &trace, &problem) == VINCI_OK;
  if (!good)
    snprintf(request->reason, sizeof request->reason, "%.199s", problem.text);
  good = good && calls_check_outputs(row, trace, request->reason, sizeof request->reason);
  vinci_trace_free(trace);
  const char *reason = good ? NULL : arena_strdup(&coverage->arena, request->reason);
  coverage->tried[coverage->tried_count++] = (struct tried){digest, reason};
  return reason;
}

static struct vinci_ops_kind *kind_of(struct coverage *coverage, const struct call_row *row) {
  bool elsewhere = !calls_on_cores(row);
  for (size_t i = 0; i < coverage->kind_count; i++)
    if (strcmp(coverage->kinds[i].type, row->cell[CALL_TYPE]) == 0 &&
        coverage->kinds[i].elsewhere == elsewhere)
      return &coverage->kinds[i];
  struct vinci_ops_kind *kind = &coverage->kinds[coverage->kind_count++];
  *kind = (struct vinci_ops_kind){.type = row->cell[CALL_TYPE],
                                  .elsewhere = elsewhere,
                                  .by_name = coverage->by_name,
                                  .reason = "",
                                  .in_shapes = row->cell[CALL_IN_SHAPES],
                                  .in_types = row->cell[CALL_IN_TYPES],
                                  .out_shapes = row->cell[CALL_OUT_SHAPES],
                                  .nearest = "",
                                  .nearest_op = ""};
  return kind;
}

/* The first row of a kind that is not modelled tells why. */
static bool miss(struct coverage *coverage, struct vinci_ops_kind *kind, const struct call_row *row,
                 const char *reason, bool unknown) {
  if (*kind->reason)
    return true;
  kind->reason = arena_strdup(&coverage->arena, reason);
  kind->known = !unknown;
  kind->in_shapes = row->cell[CALL_IN_SHAPES];
  kind->in_types = row->cell[CALL_IN_TYPES];
  kind->out_shapes = row->cell[CALL_OUT_SHAPES];
  return kind->reason && (!unknown || find_nearest(&coverage->arena, kind));
}

static bool count_row(struct coverage *coverage, const struct call_row *row) {
  struct arena scratch = {0};
  struct call_request request = {0};
  struct vinci_ops_kind *kind = kind_of(coverage, row);
  bool good = true;
  kind->rows += row->weight;
  kind->measured_ps += row->measured_ps * row->weight;
  if (!kind->elsewhere && coverage->by_name) {
    if (!calls_operator(kind->type)) {
      kind->missing_rows += row->weight;
      kind->missing_ps += row->measured_ps * row->weight;
      good = miss(coverage, kind, row, "no operator has this name", true);
    }
  } else if (!kind->elsewhere) {
    bool resolved = calls_resolve(&coverage->list, row, coverage->soc, &scratch, &request);
    const char *reason = resolved ? try_row(coverage, row, &request) : request.reason;
    if (reason) {
      kind->missing_rows += row->weight;
      kind->missing_ps += row->measured_ps * row->weight;
      good = miss(coverage, kind, row, reason, !request.op);
    }
  }
  arena_free(&scratch);
  return good;
}

/* Most time missing first, then most rows, then by name. */
static int compare_kinds(const void *left, const void *right) {
  const struct vinci_ops_kind *a = left, *b = right;
  if (a->missing_ps != b->missing_ps)
    return a->missing_ps < b->missing_ps ? 1 : -1;
  if (a->missing_rows != b->missing_rows)
    return a->missing_rows < b->missing_rows ? 1 : -1;
  return strcmp(a->type, b->type);
}

static enum vinci_status count_rows(struct coverage *coverage, struct vinci_diag *diag) {
  size_t count = coverage->list.count;
  coverage->kinds = ARENA_ARRAY(&coverage->arena, struct vinci_ops_kind, count + 1);
  coverage->tried = ARENA_ARRAY(&coverage->arena, struct tried, count + 1);
  if (!coverage->kinds || !coverage->tried)
    return no_memory(diag);
  for (size_t i = 0; i < count; i++)
    if (!count_row(coverage, &coverage->list.rows[i]))
      return no_memory(diag);
  qsort(coverage->kinds, coverage->kind_count, sizeof *coverage->kinds, compare_kinds);
  return VINCI_OK;
}

enum vinci_status vinci_ops_kinds(const vinci_soc *soc, const char *list,
                                  bool (*visit)(void *context, const struct vinci_ops_kind *kind),
                                  void *context, struct vinci_diag *diag) {
  struct coverage coverage = {.soc = soc};
  enum vinci_status status = calls_read_sums(list, &coverage.list, &coverage.by_name, diag);
  if (status == VINCI_OK && !coverage.by_name)
    status = calls_read(list, &coverage.list, diag);
  if (status != VINCI_OK)
    return status;
  if (!coverage.list.has[CALL_TYPE])
    status = diag_error_at(diag, VINCI_E_INPUT, (struct diag_position){.path = list},
                           "the list names no types of operators");
  else
    status = count_rows(&coverage, diag);
  for (size_t i = 0; status == VINCI_OK && i < coverage.kind_count; i++)
    if (!visit(context, &coverage.kinds[i]))
      break;
  arena_free(&coverage.arena);
  arena_free(&coverage.list.arena);
  return status;
}
