/* SPDX-License-Identifier: Apache-2.0 */
/* The algorithms by name, which of them is taken, and how a buffer is cut into parts. */
#include "devices/collective/collective.h"

#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "devices/collective/steps.h"

static const struct collective_algorithm *const algorithms[] = {
    &collective_mesh,     &collective_star,     &collective_ring,     &collective_nhr,
    &collective_nb,       &collective_rhd,      &collective_tree,     &collective_pairwise,
    &collective_direct,   &collective_pipeline, &collective_mesh_nhr, &collective_mesh_ring,
    &collective_mesh_rhd, &collective_mesh_nb,
};
enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms, NAMES_MAX = 256 };

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

uint64_t collective_part_at(const struct collective_call *call, uint64_t i) {
  uint64_t part = round_up(ceil_div(call->bytes, call->ranks), call->slice_bytes);
  return min_u64(i * part, call->bytes);
}

const struct collective_algorithm *const *collective_algorithms(size_t *count) {
  *count = ALGORITHMS;
  return algorithms;
}

enum vinci_status collective_find(enum collective_op op, const char *name,
                                  const struct collective_algorithm **out,
                                  struct vinci_diag *diag) {
  char able[NAMES_MAX] = "";
  size_t used = 0;
  for (size_t i = 0; i < ALGORITHMS; i++) {
    bool can = algorithms[i]->ops >> op & 1;
    if (can && strcmp(algorithms[i]->name, name) == 0) {
      *out = algorithms[i];
      return VINCI_OK;
    }
    if (can && used < sizeof able)
      used += (size_t)snprintf(able + used, sizeof able - used, "%s%s", used ? ", " : "",
                               algorithms[i]->name);
  }
  (void)diag_error(diag, VINCI_E_USAGE, "no algorithm '%s' for %s", name, op_names[op]);
  diag_hint(diag, "there are %s", able);
  return VINCI_E_USAGE;
}

const struct collective_algorithm *collective_choose(const struct collective_call *call) {
  bool one_server = call->ranks <= call->inner, alone = call->inner == 1;
  switch (call->op) {
  case COLLECTIVE_SEND_RECV:
    return &collective_direct;
  case COLLECTIVE_ALL_TO_ALL:
    return one_server ? &collective_mesh : &collective_pairwise;
  case COLLECTIVE_ALL_REDUCE:
  case COLLECTIVE_REDUCE_SCATTER:
  case COLLECTIVE_ALL_GATHER:
    return one_server ? &collective_mesh : alone ? &collective_nhr : &collective_mesh_nhr;
  case COLLECTIVE_BARRIER:
    return one_server ? &collective_mesh : &collective_nb;
  case COLLECTIVE_BROADCAST:
    return one_server ? &collective_mesh : &collective_tree;
  default:
    return &collective_star;
  }
}

enum vinci_status collective_check(const struct collective_call *call, struct vinci_diag *diag) {
  const char *op = op_names[call->op];
  if (call->ranks == 0)
    return diag_error(diag, VINCI_E_INPUT, "%s of no rank", op);
  if (call->root >= call->ranks)
    return diag_error(diag, VINCI_E_INPUT, "%s: root %u of %u ranks", op, call->root, call->ranks);
  if (call->op == COLLECTIVE_SEND_RECV && call->ranks != 2)
    return diag_error(diag, VINCI_E_INPUT, "%s joins 2 ranks, not %u", op, call->ranks);
  bool needs_servers = call->algorithm->outer || call->algorithm == &collective_pipeline;
  if (needs_servers && call->ranks % call->inner != 0)
    return diag_error(diag, VINCI_E_INPUT, "%s by %s: %u ranks are no whole servers of %u", op,
                      call->algorithm->name, call->ranks, call->inner);
  if (call->algorithm == &collective_pipeline && call->op != COLLECTIVE_ALL_GATHER &&
      !call->adds_inline)
    return diag_error(diag, VINCI_E_INPUT, "%s by %s needs transfers that add on the way", op,
                      call->algorithm->name);
  bool outer_halves = call->algorithm->outer == &collective_rhd;
  bool halves = call->algorithm == &collective_rhd || outer_halves;
  uint32_t halved = outer_halves ? call->ranks / call->inner : call->ranks;
  if (halves && call->op != COLLECTIVE_ALL_REDUCE && (halved & (halved - 1)) != 0)
    return diag_error(diag, VINCI_E_INPUT, "%s by %s needs a power of two of %s, not %u", op,
                      call->algorithm->name, outer_halves ? "servers" : "ranks", halved);
  return VINCI_OK;
}
