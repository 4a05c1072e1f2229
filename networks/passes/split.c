/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that follow one another and whose tensors between exceed L2 run in parts of their rows:
 * all kernels on the first rows, then all on the next, so that what lies between stays in L2. A
 * part is as large as L2 allows, or smaller, as the estimate says (split_group.h). It has to be
 * faster than whole kernels, more launches included: chains that fit into L2 as they are stay
 * whole. With cuts that were found by simulation (cuts.c), these are made and no others.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/arith.h"
#include "networks/passes/split_group.h"

/* ---- the parts ----------------------------------------------------------------------------- */

/* The extents of some rows of a tensor: the outermost is less, where that can be divided. */
static void shape_part(const struct graph_tensor *whole, uint64_t all, uint64_t rows,
                       struct graph_tensor *out) {
  uint64_t elements = graph_elements(whole) / all * rows;
  *out = *whole;
  if (whole->rank > 0 && whole->shape[0] % all == 0)
    out->shape[0] = whole->shape[0] / all * rows;
  else
    graph_set_shape(out, &elements, 1);
}

static uint32_t new_part(const struct splitting *splitting, const struct split_group *group,
                         uint32_t tensor, uint64_t rows) {
  struct graph_tensor whole = *rewrite_tensor(splitting->rewrite, tensor), part;
  char base[160];
  shape_part(&whole, group->all, rows, &part);
  snprintf(base, sizeof base, "%.140s.rows", whole.name);
  uint32_t index = rewrite_new_tensor(splitting->rewrite, base, part.dtype, part.shape, part.rank);
  if (index != GRAPH_NONE)
    memcpy(splitting->rewrite->graph->tensors[index].format, whole.format, sizeof whole.format);
  return index;
}

/* Parts of what others have written. */
static void cut_inputs(const struct splitting *splitting, struct split_group *group, uint32_t at,
                       const struct graph_node *of, uint64_t from, uint64_t rows) {
  struct rewrite *rewrite = splitting->rewrite;
  for (unsigned i = 0; i < group->touched_count && !rewrite->no_memory; i++) {
    struct split_tensor *touched = &group->touched[i];
    touched->part = touched->tensor;
    if (!touched->split)
      continue;
    touched->part = new_part(splitting, group, touched->tensor, rows);
    if (touched->part != GRAPH_NONE && !touched->inner)
      rewrite_insert_view(rewrite, at, of, touched->tensor, touched->part,
                          graph_bytes(rewrite_tensor(rewrite, touched->tensor)) / group->all *
                              from);
  }
}

static void put_part(const struct splitting *splitting, struct split_group *group, uint32_t at,
                     uint64_t from, uint64_t rows) {
  struct rewrite *rewrite = splitting->rewrite;
  struct graph_node first = *split_node(splitting, group->node[0]);
  cut_inputs(splitting, group, at, &first, from, rows);
  for (unsigned i = 0; i < group->count && !rewrite->no_memory; i++) {
    struct graph_node node = *split_node(splitting, group->node[i]);
    uint32_t inputs[GRAPH_ARGS_MAX], output = split_find(group, node.outputs[0])->part;
    char text[SPLIT_ARGS_BYTES];
    for (uint32_t k = 0; k < node.input_count; k++)
      inputs[k] = split_find(group, node.inputs[k])->part;
    if (node.kind == GRAPH_VIEW)
      rewrite_insert_view(rewrite, at, &node, inputs[0], output, 0);
    else if (rows_write(&node, &group->rows[i], rows, group->all, text, sizeof text))
      rewrite_insert_into(rewrite, at, &node, node.op, inputs, node.input_count, text, output);
  }
}

void split_put_parts(const struct splitting *splitting, struct split_group *group, uint64_t rows) {
  struct rewrite *rewrite = splitting->rewrite;
  uint32_t at = group->node[group->count - 1], parts[SPLIT_PARTS_MAX], count = 0;
  struct graph_node last = *split_node(splitting, at);
  for (uint64_t from = 0; from < group->all && !rewrite->no_memory; from += rows) {
    put_part(splitting, group, at, from, min_u64(rows, group->all - from));
    parts[count++] = split_find(group, last.outputs[0])->part;
  }
  if (rewrite->no_memory)
    return;
  rewrite_insert_join(rewrite, at, &last, parts, count, last.outputs[0]);
  for (unsigned i = 0; i < group->count; i++) {
    splitting->used[group->node[i]] = true;
    rewrite_take_away(rewrite, split_node(splitting, group->node[i]));
  }
  rewrite->changed++;
}

/* ---- the walk ------------------------------------------------------------------------------ */

/* Of the kernels that begin at a node those that gain most. */
static void split_at(const struct splitting *splitting, uint32_t start) {
  struct split_group best, longest;
  uint64_t rows = split_from(splitting, start, &best, &longest);
  if (rows > 0)
    split_put_parts(splitting, &best, rows);
  else
    splitting->pass->report->refused += longest.count > 0;
}

/* The kernels of a cut, which begin at a node; what is no such group any more stays whole. */
static void cut_at(const struct splitting *splitting, uint32_t start,
                   const struct split_choice *cut) {
  struct split_group group = {0};
  if (!split_add(splitting, &group, start))
    return;
  for (uint32_t i = start + 1; i < splitting->rewrite->node_count; i++) {
    bool added = split_add(splitting, &group, i);
    if (!added || strcmp(split_node(splitting, i)->name, cut->last) != 0)
      continue;
    split_set_unit(splitting, &group);
    uint64_t rows = split_rows(&group, cut->parts);
    if (split_is_closed(splitting, &group) && rows < group.all)
      split_put_parts(splitting, &group, rows);
    return;
  }
}

void pass_split(struct pass_context *pass) {
  const struct split_choices *splits = pass->options->splits;
  struct splitting splitting;
  bool good = splitting_start(&splitting, pass);
  for (uint32_t i = 0; good && i < pass->rewrite.node_count && !pass->rewrite.no_memory; i++) {
    if (!splits)
      split_at(&splitting, i);
    for (size_t k = 0; splits && k < splits->count; k++)
      if (splits->items[k].parts > 1 &&
          strcmp(split_node(&splitting, i)->name, splits->items[k].first) == 0)
        cut_at(&splitting, i, &splits->items[k]);
  }
  splitting_free(&splitting);
}
