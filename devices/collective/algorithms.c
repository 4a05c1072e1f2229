/* SPDX-License-Identifier: Apache-2.0 */
/* The algorithms by name, which of them is taken, and how a buffer is cut into parts. */
#include "devices/collective/collective.h"

#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "devices/collective/steps.h"

#define BY(id) &collective_table[COLLECTIVE_BY_##id]
const struct collective_algorithm collective_table[COLLECTIVE_ALGORITHMS] = {
#define ALGORITHM(id, name, outer, planes, steps, needs, text)                                     \
  {name, outer, text, needs, collective_##planes, collective_##steps},
#include "devices/collective/algorithms.def"
#undef ALGORITHM
};

static const struct {
  enum collective_op op;
  enum collective_by by;
} rows[] = {
#define COLLECTIVE(op, id, turns, bytes) {COLLECTIVE_##op, COLLECTIVE_BY_##id},
#include "devices/collective/algorithms.def"
#undef COLLECTIVE
};
enum { ROWS = sizeof rows / sizeof *rows, NAMES_MAX = 256 };

static const char *const op_names[] = {
#define X(id, name, text) name,
    COLLECTIVE_OP_LIST(X)
#undef X
};

const char *collective_op_name(enum collective_op op) { return op_names[op]; }

enum collective_op collective_op_find(const char *name, size_t length) {
  unsigned op = 0;
  while (op < COLLECTIVE_OPS &&
         (strlen(op_names[op]) != length || strncmp(op_names[op], name, length) != 0))
    op++;
  return (enum collective_op)op;
}

bool collective_gives_parts(enum collective_op op) {
  return op == COLLECTIVE_ALL_TO_ALL || op == COLLECTIVE_ALL_GATHER || op == COLLECTIVE_GATHER ||
         op == COLLECTIVE_REDUCE_SCATTER || op == COLLECTIVE_SCATTER;
}

uint64_t collective_part_at(const struct collective_call *call, uint64_t i) {
  uint64_t part = round_up(ceil_div(call->bytes, call->ranks), call->slice_bytes);
  return min_u64(i * part, call->bytes);
}

uint32_t collective_one_plane(const struct collective_call *call) {
  (void)call;
  return 1;
}

const struct collective_algorithm *collective_algorithms(size_t *count) {
  *count = COLLECTIVE_ALGORITHMS;
  return collective_table;
}

bool collective_can(const struct collective_algorithm *algorithm, enum collective_op op) {
  for (size_t i = 0; i < ROWS; i++)
    if (rows[i].op == op && &collective_table[rows[i].by] == algorithm)
      return true;
  return false;
}

enum vinci_status collective_find(enum collective_op op, const char *name,
                                  const struct collective_algorithm **out,
                                  struct vinci_diag *diag) {
  char able[NAMES_MAX] = "";
  size_t used = 0;
  for (size_t i = 0; i < COLLECTIVE_ALGORITHMS; i++) {
    const struct collective_algorithm *algorithm = &collective_table[i];
    bool can = collective_can(algorithm, op);
    if (can && strcmp(algorithm->name, name) == 0) {
      *out = algorithm;
      return VINCI_OK;
    }
    if (can && used < sizeof able)
      used += (size_t)snprintf(able + used, sizeof able - used, "%s%s", used ? ", " : "",
                               algorithm->name);
  }
  (void)diag_error(diag, VINCI_E_USAGE, "no algorithm '%s' for %s", name, op_names[op]);
  diag_hint(diag, "there are %s", able);
  return VINCI_E_USAGE;
}

const struct collective_algorithm *collective_choose(const struct collective_call *call) {
  static const struct {
    const struct collective_algorithm *within, *of_one, *of_several;
  } chosen[COLLECTIVE_OPS] = {
#define CHOSEN(op, within, of_one, of_several)                                                     \
  [COLLECTIVE_##op] = {BY(within), BY(of_one), BY(of_several)},
#include "devices/collective/algorithms.def"
#undef CHOSEN
  };
  if (call->ranks <= call->inner)
    return chosen[call->op].within;
  return call->inner == 1 ? chosen[call->op].of_one : chosen[call->op].of_several;
}

enum vinci_status collective_check(const struct collective_call *call, struct vinci_diag *diag) {
  const char *op = op_names[call->op];
  if (call->ranks == 0)
    return diag_error(diag, VINCI_E_INPUT, "%s of no rank", op);
  if (call->root >= call->ranks)
    return diag_error(diag, VINCI_E_INPUT, "%s: root %u of %u ranks", op, call->root, call->ranks);
  if (call->op == COLLECTIVE_SEND_RECV && call->ranks != 2)
    return diag_error(diag, VINCI_E_INPUT, "%s joins 2 ranks, not %u", op, call->ranks);
  const struct collective_algorithm *by = call->algorithm, *outer = by->outer;
  if (by->needs & COLLECTIVE_NEEDS_SERVERS && call->ranks % call->inner != 0)
    return diag_error(diag, VINCI_E_INPUT, "%s by %s: %u ranks are not whole servers of %u", op,
                      by->name, call->ranks, call->inner);
  if (by->needs & COLLECTIVE_NEEDS_INLINE && call->op != COLLECTIVE_ALL_GATHER &&
      !call->adds_inline)
    return diag_error(diag, VINCI_E_INPUT, "%s by %s needs transfers that add on the way", op,
                      by->name);
  bool outer_halves = outer && outer->needs & COLLECTIVE_NEEDS_POWER;
  bool halves = by->needs & COLLECTIVE_NEEDS_POWER || outer_halves;
  uint32_t halved = outer_halves ? call->ranks / call->inner : call->ranks;
  if (halves && call->op != COLLECTIVE_ALL_REDUCE && (halved & (halved - 1)) != 0)
    return diag_error(diag, VINCI_E_INPUT, "%s by %s needs a power of two of %s, not %u", op,
                      by->name, outer_halves ? "servers" : "ranks", halved);
  return VINCI_OK;
}
