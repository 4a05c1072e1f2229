/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that can run in parts, and what that takes by estimate: that of each kernel, with another
 * time of memory in its place: of tensors that lie in L2 at l2.bandwidth, of all others at that of
 * device memory.
 */
#include "networks/passes/split_group.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"

enum { SIZES = 4 };

struct graph_node *split_node(const struct splitting *splitting, uint32_t index) {
  return &splitting->rewrite->graph->nodes[index];
}

static uint64_t time_at(uint64_t bytes, uint64_t rate) {
  return (uint64_t)((uint128)bytes * PS_PER_SECOND / rate);
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* ---- kernels that follow one another ------------------------------------------------------- */

struct split_tensor *split_find(struct split_group *group, uint32_t tensor) {
  for (unsigned i = 0; i < group->touched_count; i++)
    if (group->touched[i].tensor == tensor)
      return &group->touched[i];
  return NULL;
}

static bool touch(struct split_group *group, uint32_t tensor, unsigned member, bool split,
                  bool inner) {
  struct split_tensor *touched = split_find(group, tensor);
  if (touched) {
    touched->last = member;
    return touched->split == split;
  }
  if (group->touched_count == SPLIT_TENSORS_MAX)
    return false;
  group->touched[group->touched_count++] = (struct split_tensor){
      .tensor = tensor, .first = member, .last = member, .split = split, .inner = inner};
  return true;
}

static bool is_member(const struct splitting *splitting, uint32_t index, struct rows *rows) {
  const struct rewrite *rewrite = splitting->rewrite;
  const struct graph_node *node = split_node(splitting, index);
  if (rewrite->gone[index] || splitting->used[index] || !rows_of(node, rows))
    return false;
  const struct graph_tensor *y = rewrite_tensor(rewrite, node->outputs[0]);
  if (node->kind == GRAPH_VIEW)
    return y->memory == node->inputs[0] && y->skip == 0 &&
           graph_bytes(y) == graph_bytes(rewrite_tensor(rewrite, node->inputs[0]));
  return y->memory == GRAPH_NONE && !splitting->pinned[node->outputs[0]];
}

/* A view is what it is a view of: that is in use as long. */
static void touch_memory(const struct splitting *splitting, struct split_group *group,
                         uint32_t tensor) {
  struct split_tensor *memory = split_find(group, graph_memory(splitting->rewrite->graph, tensor));
  if (memory)
    memory->last = group->count;
}

bool split_add(const struct splitting *splitting, struct split_group *group, uint32_t index) {
  const struct graph_node *node = split_node(splitting, index);
  struct split_group more = *group;
  struct rows rows;
  bool reads = group->count == 0;
  if (group->count == SPLIT_MEMBERS_MAX || !is_member(splitting, index, &rows))
    return false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    bool split = (rows.split >> i) & 1;
    const struct split_tensor *before = split_find(group, node->inputs[i]);
    reads = reads || (split && before && before->inner);
    if (!touch(&more, node->inputs[i], more.count, split, false))
      return false;
    touch_memory(splitting, &more, node->inputs[i]);
  }
  if (!reads || !touch(&more, node->outputs[0], more.count, true, true))
    return false;
  more.all = greatest_divisor(rows.count, more.all);
  more.node[more.count] = index;
  more.rows[more.count++] = rows;
  *group = more;
  return more.all > 1 || node->kind == GRAPH_VIEW;
}

bool split_is_closed(const struct splitting *splitting, const struct split_group *group) {
  const struct graph_node *last = split_node(splitting, group->node[group->count - 1]);
  if (last->kind == GRAPH_VIEW || group->all < 2)
    return false;
  for (unsigned i = 0; i + 1 < group->count; i++) {
    uint32_t tensor = split_node(splitting, group->node[i])->outputs[0], reads = 0;
    for (unsigned j = i + 1; j < group->count; j++) {
      const struct graph_node *node = split_node(splitting, group->node[j]);
      for (uint32_t k = 0; k < node->input_count; k++)
        reads += node->inputs[k] == tensor;
    }
    if (reads != splitting->rewrite->reads[tensor])
      return false;
  }
  return true;
}

/* ---- estimates ----------------------------------------------------------------------------- */

uint64_t split_part_bytes(const struct splitting *splitting, const struct split_group *group,
                          const struct split_tensor *touched, uint64_t rows) {
  uint64_t bytes = graph_bytes(rewrite_tensor(splitting->rewrite, touched->tensor));
  return touched->split ? bytes / group->all * rows : bytes;
}

static bool is_view(const struct splitting *splitting, const struct split_tensor *touched) {
  return touched->inner &&
         rewrite_tensor(splitting->rewrite, touched->tensor)->memory != GRAPH_NONE;
}

/* The most bytes that are in use from one member to the next. With `all` also those of others that
 * pass by until the members between write the next part to the same places. */
uint64_t split_bytes_in_use(const struct splitting *splitting, const struct split_group *group,
                            uint64_t rows, bool all) {
  uint32_t result = split_node(splitting, group->node[group->count - 1])->outputs[0];
  uint64_t most = 0;
  for (unsigned i = 0; i + 1 < group->count; i++) {
    uint64_t bytes = 0;
    for (unsigned j = 0; j < group->touched_count; j++) {
      const struct split_tensor *touched = &group->touched[j];
      bool between = touched->inner && touched->tensor != result;
      bool now = touched->first <= i + 1 && touched->last >= i;
      if ((now || (all && !between)) && !is_view(splitting, touched))
        bytes += split_part_bytes(splitting, group, touched, rows);
    }
    most = max_u64(most, bytes);
  }
  return most;
}

/*
 * What L2 holds of parts from one kernel to the next. Lines come to its sets as if at random, so
 * that some sets have more of them than others: with w ways, f lines to a set on average leave two
 * standard deviations of room, 2 sqrt(f), where (w - f)^2 >= 4 f.
 */
uint64_t split_held_bytes(const struct vinci_soc *soc) {
  uint64_t ways = (uint64_t)soc->l2_ways, lines = ways;
  while (lines > 1 && (ways - lines) * (ways - lines) < 4 * lines)
    lines--;
  return (uint64_t)soc->l2_bytes / ways * lines;
}

bool split_fits(const struct splitting *splitting, const struct split_group *group, uint64_t rows) {
  const struct vinci_soc *soc = splitting->rewrite->soc;
  return rows < group->all
             ? split_bytes_in_use(splitting, group, rows, true) <= split_held_bytes(soc)
             : split_bytes_in_use(splitting, group, rows, false) <= (uint64_t)soc->l2_bytes;
}

/* How the parts of one estimate use L2. */
struct residence {
  bool fits;  /* what is in use lies in L2 */
  bool again; /* not the first part: so do tensors that each part reads */
};

/* A member with other times of memory; UINT64_MAX when its operator refuses so few rows. */
static uint64_t member_ps(const struct splitting *splitting, struct split_group *group,
                          unsigned member, uint64_t rows, struct residence in) {
  const struct graph_node *node = split_node(splitting, group->node[member]);
  const struct vinci_soc *soc = splitting->rewrite->soc;
  const struct split_tensor *out = split_find(group, node->outputs[0]);
  char text[SPLIT_ARGS_BYTES];
  const char *args[GRAPH_ARGS_MAX];
  struct kernel_estimate kernel = {0};
  if (node->kind == GRAPH_VIEW)
    return 0;
  if (!rows_write(node, &group->rows[member], rows, group->all, text, sizeof text))
    return UINT64_MAX;
  if (estimate_kernel(splitting->pass->estimates, node->op, args, graph_split_args(text, args),
                      &kernel, splitting->pass->diag) != VINCI_OK)
    splitting->rewrite->no_memory = true;
  if (!kernel.possible)
    return UINT64_MAX;
  uint64_t out_bytes = split_part_bytes(splitting, group, out, rows), near = 0, far = 0,
           in_bytes = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const struct split_tensor *touched = split_find(group, node->inputs[i]);
    uint64_t bytes = split_part_bytes(splitting, group, touched, rows);
    bool met = touched->inner || touched->first < member || (!touched->split && in.again);
    *(in.fits && met ? &near : &far) += bytes;
    in_bytes += bytes;
  }
  bool stays = in.fits && member + 1 < group->count;
  *(stays ? &near : &far) += out_bytes;
  uint64_t assumed = time_at(in_bytes + out_bytes - min_u64(out_bytes, (uint64_t)soc->l2_bytes),
                             soc_hbm_bytes_per_second(soc));
  uint64_t memory = time_at(far, soc_hbm_bytes_per_second(soc)) +
                    time_at(near, (uint64_t)soc->l2_bytes_per_second);
  uint64_t before = max_u64(kernel.busy_ps, assumed);
  return kernel.ps - min_u64(kernel.ps, before) + max_u64(kernel.busy_ps, memory) +
         (uint64_t)soc->launch_gap_ps;
}

static uint64_t part_ps(const struct splitting *splitting, struct split_group *group, uint64_t rows,
                        struct residence in) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < group->count; i++) {
    uint64_t ps = member_ps(splitting, group, i, rows, in);
    if (ps == UINT64_MAX)
      return UINT64_MAX;
    sum += ps;
  }
  return sum;
}

/* All rows in parts of `rows`; the last part has the rest. */
uint64_t split_ps(const struct splitting *splitting, struct split_group *group, uint64_t rows) {
  uint64_t parts = group->all / rows, left = group->all % rows, sum;
  bool near = split_fits(splitting, group, rows);
  uint64_t first = part_ps(splitting, group, rows, (struct residence){near, false});
  uint64_t next = parts > 1 ? part_ps(splitting, group, rows, (struct residence){near, true}) : 0;
  uint64_t last = left ? part_ps(splitting, group, left, (struct residence){near, true}) : 0;
  if (first == UINT64_MAX || next == UINT64_MAX || last == UINT64_MAX)
    return UINT64_MAX;
  sum = first + last;
  return sum + (parts - 1) * next;
}

/* Rows of a part such that all tensors of others are cut at multiples of 512 bytes. */
void split_set_unit(const struct splitting *splitting, struct split_group *group) {
  const struct graph_node *last = split_node(splitting, group->node[group->count - 1]);
  group->unit = 1;
  for (unsigned i = 0; i < group->touched_count; i++) {
    const struct split_tensor *touched = &group->touched[i];
    if (!touched->split || (touched->inner && touched->tensor != last->outputs[0]))
      continue;
    uint64_t row = graph_bytes(rewrite_tensor(splitting->rewrite, touched->tensor)) / group->all;
    uint64_t unit = GRAPH_ALIGNMENT_BYTES / greatest_divisor(row, GRAPH_ALIGNMENT_BYTES);
    group->unit *= unit / greatest_divisor(unit, group->unit);
  }
}

uint64_t split_rows(const struct split_group *group, uint64_t parts) {
  return round_up(ceil_div(group->all, parts), group->unit);
}

uint64_t split_largest(const struct splitting *splitting, const struct split_group *group) {
  uint64_t low = 0, high = group->all / group->unit + 1;
  while (low + 1 < high) { /* the most units that fit */
    uint64_t half = (low + high) / 2;
    *(split_fits(splitting, group, half * group->unit) ? &low : &high) = half;
  }
  return low * group->unit;
}

uint64_t split_choose(const struct splitting *splitting, struct split_group *group,
                      uint64_t *gain_ps) {
  uint64_t best = 0;
  *gain_ps = 0;
  if (split_fits(splitting, group, group->all)) /* more launches, nothing else */
    return 0;
  split_set_unit(splitting, group);
  uint64_t whole = split_ps(splitting, group, group->all), best_ps = whole;
  uint64_t units = split_largest(splitting, group) / group->unit;
  for (unsigned i = 0; i < SIZES && units > 0; i++, units /= 2) {
    uint64_t parts = ceil_div(group->all, units * group->unit), rows = split_rows(group, parts);
    uint64_t ps =
        parts > 1 && parts <= SPLIT_PARTS_MAX ? split_ps(splitting, group, rows) : UINT64_MAX;
    if (ps < best_ps) {
      best_ps = ps;
      best = rows;
    }
  }
  if (whole == UINT64_MAX)
    return 0;
  *gain_ps = whole - best_ps;
  return best;
}

uint64_t split_from(const struct splitting *splitting, uint32_t start, struct split_group *best,
                    struct split_group *longest) {
  struct split_group group = {0};
  uint64_t best_gain = 0, best_rows = 0, gain;
  longest->count = 0;
  if (split_node(splitting, start)->kind == GRAPH_VIEW || !split_add(splitting, &group, start))
    return 0;
  for (uint32_t i = start + 1;
       i < splitting->rewrite->node_count && group.count < SPLIT_MEMBERS_MAX && group.all > 1;
       i++) {
    if (!split_add(splitting, &group, i) || !split_is_closed(splitting, &group))
      continue;
    *longest = group;
    uint64_t rows = split_choose(splitting, &group, &gain);
    if (rows == 0 || gain <= best_gain)
      continue;
    *best = group;
    best_gain = gain;
    best_rows = rows;
  }
  return best_rows;
}

/* ---- start and end ------------------------------------------------------------------------- */

/* Tensors in whose memory a node other than a view writes. */
static void pin(const struct splitting *splitting) {
  const struct rewrite *rewrite = splitting->rewrite;
  for (uint32_t i = 0; i < rewrite->graph->tensor_count; i++) {
    uint32_t memory = rewrite->graph->tensors[i].memory, writer = rewrite->writer[i];
    if (memory != GRAPH_NONE &&
        (writer == GRAPH_NONE || split_node(splitting, writer)->kind != GRAPH_VIEW))
      splitting->pinned[memory] = true;
  }
}

bool splitting_start(struct splitting *splitting, struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  *splitting = (struct splitting){
      .pass = pass,
      .rewrite = rewrite,
      .pinned = calloc((size_t)rewrite->graph->tensor_count + 1, sizeof *splitting->pinned),
      .used = calloc((size_t)rewrite->node_count + 1, sizeof *splitting->used)};
  rewrite->no_memory = rewrite->no_memory || !splitting->pinned || !splitting->used;
  if (!rewrite->no_memory)
    pin(splitting);
  return !rewrite->no_memory;
}

void splitting_free(struct splitting *splitting) {
  free(splitting->pinned);
  free(splitting->used);
}
