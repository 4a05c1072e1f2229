/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that follow one another and whose tensors between exceed L2 run in parts of their rows:
 * all kernels on the first rows, then all on the next, so that what lies between stays in L2. A
 * part is as large as L2 allows, or smaller, as the estimate says. It has to be faster than whole
 * kernels, more launches included: chains that fit into L2 as they are stay whole.
 *
 * The estimate takes that of each kernel and puts another time of memory in its place: of tensors
 * that lie in L2 at l2.bandwidth, of all others at that of device memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"
#include "traces/graph/passes/pass.h"
#include "traces/graph/passes/rows.h"

enum { MEMBERS_MAX = 16, TENSORS_MAX = 64, PARTS_MAX = 256, SIZES = 4, ARGS_BYTES = 2048 };

/* A tensor of the kernels, or a view. */
struct touched {
  uint32_t tensor;
  uint32_t part;        /* while parts are made: that of the rows in question */
  unsigned first, last; /* members that touch the tensor */
  bool split, inner;    /* inner: a member writes this */
};

struct group {
  unsigned count;
  uint32_t node[MEMBERS_MAX];
  struct rows rows[MEMBERS_MAX];
  struct touched touched[TENSORS_MAX];
  unsigned touched_count;
  uint64_t all;  /* rows that all members have in common */
  uint64_t unit; /* rows of a part are a multiple of this, as tensors lie at multiples of 512 */
};

struct splitting {
  struct pass_context *pass;
  struct rewrite *rewrite;
  bool *pinned; /* by tensor: others that are no views lie in its memory */
  bool *used;   /* by node: belongs to kernels that are split */
};

static struct graph_node *node_of(const struct splitting *splitting, uint32_t index) {
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

static struct touched *find(struct group *group, uint32_t tensor) {
  for (unsigned i = 0; i < group->touched_count; i++)
    if (group->touched[i].tensor == tensor)
      return &group->touched[i];
  return NULL;
}

static bool touch(struct group *group, uint32_t tensor, unsigned member, bool split, bool inner) {
  struct touched *touched = find(group, tensor);
  if (touched) {
    touched->last = member;
    return touched->split == split;
  }
  if (group->touched_count == TENSORS_MAX)
    return false;
  group->touched[group->touched_count++] = (struct touched){
      .tensor = tensor, .first = member, .last = member, .split = split, .inner = inner};
  return true;
}

static bool is_member(const struct splitting *splitting, uint32_t index, struct rows *rows) {
  const struct rewrite *rewrite = splitting->rewrite;
  const struct graph_node *node = node_of(splitting, index);
  if (rewrite->gone[index] || splitting->used[index] || !rows_of(node, rows))
    return false;
  const struct graph_tensor *y = rewrite_tensor(rewrite, node->outputs[0]);
  if (node->kind == GRAPH_VIEW)
    return y->memory == node->inputs[0] && y->skip == 0 &&
           graph_bytes(y) == graph_bytes(rewrite_tensor(rewrite, node->inputs[0]));
  return y->memory == GRAPH_NONE && !splitting->pinned[node->outputs[0]];
}

/* A view is what it is a view of: that is in use as long. */
static void touch_memory(const struct splitting *splitting, struct group *group, uint32_t tensor) {
  struct touched *memory = find(group, graph_memory(splitting->rewrite->graph, tensor));
  if (memory)
    memory->last = group->count;
}

/* Adds a member that reads, in rows, what the group writes; the first member reads anything. */
static bool add_member(const struct splitting *splitting, struct group *group, uint32_t index) {
  const struct graph_node *node = node_of(splitting, index);
  struct group more = *group;
  struct rows rows;
  bool reads = group->count == 0;
  if (group->count == MEMBERS_MAX || !is_member(splitting, index, &rows))
    return false;
  for (uint32_t i = 0; i < node->input_count; i++) {
    bool split = (rows.split >> i) & 1;
    const struct touched *before = find(group, node->inputs[i]);
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

/* Whether nobody else reads what members but the last write. */
static bool is_closed(const struct splitting *splitting, const struct group *group) {
  const struct graph_node *last = node_of(splitting, group->node[group->count - 1]);
  if (last->kind == GRAPH_VIEW || group->all < 2)
    return false;
  for (unsigned i = 0; i + 1 < group->count; i++) {
    uint32_t tensor = node_of(splitting, group->node[i])->outputs[0], reads = 0;
    for (unsigned j = i + 1; j < group->count; j++) {
      const struct graph_node *node = node_of(splitting, group->node[j]);
      for (uint32_t k = 0; k < node->input_count; k++)
        reads += node->inputs[k] == tensor;
    }
    if (reads != splitting->rewrite->reads[tensor])
      return false;
  }
  return true;
}

/* ---- estimates ----------------------------------------------------------------------------- */

static uint64_t part_bytes(const struct splitting *splitting, const struct group *group,
                           const struct touched *touched, uint64_t rows) {
  uint64_t bytes = graph_bytes(rewrite_tensor(splitting->rewrite, touched->tensor));
  return touched->split ? bytes / group->all * rows : bytes;
}

static bool is_view(const struct splitting *splitting, const struct touched *touched) {
  return touched->inner &&
         rewrite_tensor(splitting->rewrite, touched->tensor)->memory != GRAPH_NONE;
}

/* The most bytes that are in use from one member to the next. With `all` also those of others that
 * pass by until the members between write the next part to the same places. */
static uint64_t bytes_in_use(const struct splitting *splitting, const struct group *group,
                             uint64_t rows, bool all) {
  uint32_t result = node_of(splitting, group->node[group->count - 1])->outputs[0];
  uint64_t most = 0;
  for (unsigned i = 0; i + 1 < group->count; i++) {
    uint64_t bytes = 0;
    for (unsigned j = 0; j < group->touched_count; j++) {
      const struct touched *touched = &group->touched[j];
      bool between = touched->inner && touched->tensor != result;
      bool now = touched->first <= i + 1 && touched->last >= i;
      if ((now || (all && !between)) && !is_view(splitting, touched))
        bytes += part_bytes(splitting, group, touched, rows);
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
static uint64_t held_bytes(const struct vinci_soc *soc) {
  uint64_t ways = (uint64_t)soc->l2_ways, lines = ways;
  while (lines > 1 && (ways - lines) * (ways - lines) < 4 * lines)
    lines--;
  return (uint64_t)soc->l2_bytes / ways * lines;
}

/* Whether what lies between whole kernels, or between those of a part, stays in L2. */
static bool fits(const struct splitting *splitting, const struct group *group, uint64_t rows) {
  const struct vinci_soc *soc = splitting->rewrite->soc;
  return rows < group->all ? bytes_in_use(splitting, group, rows, true) <= held_bytes(soc)
                           : bytes_in_use(splitting, group, rows, false) <= (uint64_t)soc->l2_bytes;
}

/* How the parts of one estimate use L2. */
struct residence {
  bool fits;  /* what is in use lies in L2 */
  bool again; /* not the first part: so do tensors that each part reads */
};

/* A member with other times of memory; UINT64_MAX when its operator refuses so few rows. */
static uint64_t member_ps(const struct splitting *splitting, struct group *group, unsigned member,
                          uint64_t rows, struct residence in) {
  const struct graph_node *node = node_of(splitting, group->node[member]);
  const struct vinci_soc *soc = splitting->rewrite->soc;
  const struct touched *out = find(group, node->outputs[0]);
  char text[ARGS_BYTES];
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
  uint64_t out_bytes = part_bytes(splitting, group, out, rows), near = 0, far = 0, in_bytes = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const struct touched *touched = find(group, node->inputs[i]);
    uint64_t bytes = part_bytes(splitting, group, touched, rows);
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

static uint64_t part_ps(const struct splitting *splitting, struct group *group, uint64_t rows,
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
static uint64_t group_ps(const struct splitting *splitting, struct group *group, uint64_t rows) {
  uint64_t parts = group->all / rows, left = group->all % rows, sum;
  bool near = fits(splitting, group, rows);
  uint64_t first = part_ps(splitting, group, rows, (struct residence){near, false});
  uint64_t next = parts > 1 ? part_ps(splitting, group, rows, (struct residence){near, true}) : 0;
  uint64_t last = left ? part_ps(splitting, group, left, (struct residence){near, true}) : 0;
  if (first == UINT64_MAX || next == UINT64_MAX || last == UINT64_MAX)
    return UINT64_MAX;
  sum = first + last;
  return sum + (parts - 1) * next;
}

/* Rows of a part such that all tensors of others are cut at multiples of 512 bytes. */
static void set_unit(const struct splitting *splitting, struct group *group) {
  const struct graph_node *last = node_of(splitting, group->node[group->count - 1]);
  group->unit = 1;
  for (unsigned i = 0; i < group->touched_count; i++) {
    const struct touched *touched = &group->touched[i];
    if (!touched->split || (touched->inner && touched->tensor != last->outputs[0]))
      continue;
    uint64_t row = graph_bytes(rewrite_tensor(splitting->rewrite, touched->tensor)) / group->all;
    uint64_t unit = GRAPH_ALIGNMENT_BYTES / greatest_divisor(row, GRAPH_ALIGNMENT_BYTES);
    group->unit *= unit / greatest_divisor(unit, group->unit);
  }
}

/* The rows of a part that are fastest; 0: to split does not pay. *gain_ps is what it saves. */
static uint64_t choose_rows(const struct splitting *splitting, struct group *group,
                            uint64_t *gain_ps) {
  uint64_t low = 0, best = 0;
  *gain_ps = 0;
  if (fits(splitting, group, group->all)) /* more launches, nothing else */
    return 0;
  set_unit(splitting, group);
  uint64_t high = group->all / group->unit + 1, whole = group_ps(splitting, group, group->all);
  uint64_t best_ps = whole;
  while (low + 1 < high) { /* the most units that fit */
    uint64_t half = (low + high) / 2;
    *(fits(splitting, group, half * group->unit) ? &low : &high) = half;
  }
  for (unsigned i = 0; i < SIZES && low > 0; i++, low /= 2) {
    uint64_t parts = ceil_div(group->all, low * group->unit);
    uint64_t rows = round_up(ceil_div(group->all, parts), group->unit);
    uint64_t ps = parts > 1 && parts <= PARTS_MAX ? group_ps(splitting, group, rows) : UINT64_MAX;
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

static uint32_t new_part(const struct splitting *splitting, const struct group *group,
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
static void cut_inputs(const struct splitting *splitting, struct group *group, uint32_t at,
                       const struct graph_node *of, uint64_t from, uint64_t rows) {
  struct rewrite *rewrite = splitting->rewrite;
  for (unsigned i = 0; i < group->touched_count && !rewrite->no_memory; i++) {
    struct touched *touched = &group->touched[i];
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

static void put_part(const struct splitting *splitting, struct group *group, uint32_t at,
                     uint64_t from, uint64_t rows) {
  struct rewrite *rewrite = splitting->rewrite;
  struct graph_node first = *node_of(splitting, group->node[0]);
  cut_inputs(splitting, group, at, &first, from, rows);
  for (unsigned i = 0; i < group->count && !rewrite->no_memory; i++) {
    struct graph_node node = *node_of(splitting, group->node[i]);
    uint32_t inputs[GRAPH_ARGS_MAX], output = find(group, node.outputs[0])->part;
    char text[ARGS_BYTES];
    for (uint32_t k = 0; k < node.input_count; k++)
      inputs[k] = find(group, node.inputs[k])->part;
    if (node.kind == GRAPH_VIEW)
      rewrite_insert_view(rewrite, at, &node, inputs[0], output, 0);
    else if (rows_write(&node, &group->rows[i], rows, group->all, text, sizeof text))
      rewrite_insert_into(rewrite, at, &node, node.op, inputs, node.input_count, text, output);
  }
}

static void put_parts(const struct splitting *splitting, struct group *group, uint64_t rows) {
  struct rewrite *rewrite = splitting->rewrite;
  uint32_t at = group->node[group->count - 1], parts[PARTS_MAX], count = 0;
  struct graph_node last = *node_of(splitting, at);
  for (uint64_t from = 0; from < group->all && !rewrite->no_memory; from += rows) {
    put_part(splitting, group, at, from, min_u64(rows, group->all - from));
    parts[count++] = find(group, last.outputs[0])->part;
  }
  if (rewrite->no_memory)
    return;
  rewrite_insert_join(rewrite, at, &last, parts, count, last.outputs[0]);
  for (unsigned i = 0; i < group->count; i++) {
    splitting->used[group->node[i]] = true;
    rewrite_take_away(rewrite, node_of(splitting, group->node[i]));
  }
  rewrite->changed++;
}

/* ---- the walk ------------------------------------------------------------------------------ */

/* Of the kernels that begin at a node those that gain most. */
static void split_from(const struct splitting *splitting, uint32_t start) {
  struct group group = {0}, best;
  uint64_t best_gain = 0, best_rows = 0, gain;
  bool between = false;
  if (node_of(splitting, start)->kind == GRAPH_VIEW || !add_member(splitting, &group, start))
    return;
  for (uint32_t i = start + 1;
       i < splitting->rewrite->node_count && group.count < MEMBERS_MAX && group.all > 1; i++) {
    if (!add_member(splitting, &group, i) || !is_closed(splitting, &group))
      continue;
    between = true;
    uint64_t rows = choose_rows(splitting, &group, &gain);
    if (rows == 0 || gain <= best_gain)
      continue;
    best = group;
    best_gain = gain;
    best_rows = rows;
  }
  if (best_rows > 0)
    put_parts(splitting, &best, best_rows);
  else
    splitting->pass->report->refused += between;
}

/* Tensors in whose memory a node other than a view writes. */
static void pin(const struct splitting *splitting) {
  const struct rewrite *rewrite = splitting->rewrite;
  for (uint32_t i = 0; i < rewrite->graph->tensor_count; i++) {
    uint32_t memory = rewrite->graph->tensors[i].memory, writer = rewrite->writer[i];
    if (memory != GRAPH_NONE &&
        (writer == GRAPH_NONE || node_of(splitting, writer)->kind != GRAPH_VIEW))
      splitting->pinned[memory] = true;
  }
}

void pass_split(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  struct splitting splitting = {
      .pass = pass,
      .rewrite = rewrite,
      .pinned = calloc((size_t)rewrite->graph->tensor_count + 1, sizeof *splitting.pinned),
      .used = calloc((size_t)rewrite->node_count + 1, sizeof *splitting.used)};
  rewrite->no_memory = rewrite->no_memory || !splitting.pinned || !splitting.used;
  if (!rewrite->no_memory)
    pin(&splitting);
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++)
    split_from(&splitting, i);
  free(splitting.pinned);
  free(splitting.used);
}
