/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of a graph. Three ways to place tensors that are alive at different times at the same
 * offset; the third is "greedy by size" of Y. Pisarchyk and J. Lee, "Efficient memory management
 * for deep neural net inference", 2020.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "networks/graph/graph.h"

enum { PACK_ROUNDS = 16 };

const char *graph_plan_name(enum graph_plan_policy policy) {
  static const char *const names[] = {
#define X(id, name, text) name,
      GRAPH_PLAN_LIST(X)
#undef X
  };
  return names[policy];
}

const char *graph_plan_text(enum graph_plan_policy policy) {
  static const char *const texts[] = {
#define X(id, name, text) text,
      GRAPH_PLAN_LIST(X)
#undef X
  };
  return texts[policy];
}

/* ---- lives --------------------------------------------------------------------------------- */

static void extend(struct graph_life *life, uint32_t from, uint32_t to) {
  if (!life->used)
    *life = (struct graph_life){true, from, to};
  life->first = from < life->first ? from : life->first;
  life->last = to > life->last ? to : life->last;
}

static void use_all(const struct graph *graph, uint32_t node, const uint32_t *list, uint32_t count,
                    struct graph_life *lives) {
  for (uint32_t i = 0; i < count; i++)
    if (list[i] != GRAPH_NONE && graph->tensors[list[i]].io != GRAPH_HOST)
      extend(&lives[graph_memory(graph, list[i])], node, node);
}

void graph_lives(const struct graph *graph, struct graph_life *lives) {
  uint32_t end = graph->node_count > 0 ? graph->node_count - 1 : 0;
  memset(lives, 0, graph->tensor_count * sizeof *lives);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    if (node->offline) /* has memory of its own while the network is loaded */
      continue;
    use_all(graph, i, node->inputs, node->input_count, lives);
    use_all(graph, i, node->outputs, node->output_count, lives);
  }
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    struct graph_life *life = &lives[graph_memory(graph, i)];
    enum graph_io io = graph->tensors[i].io;
    if (!life->used)
      continue;
    if (io == GRAPH_IN || io == GRAPH_WEIGHT)
      extend(life, 0, life->last);
    if (io == GRAPH_OUT || io == GRAPH_WEIGHT)
      extend(life, life->first, end);
  }
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Memory that several tensors may have after one another. */
struct block {
  uint32_t tensor;
  uint64_t bytes, offset;
  struct graph_life life;
  bool fixed;         /* its memory is nobody else's */
  bool placed, given; /* given: by a planner outside */
  unsigned raised;    /* rounds of pack() in which it reached the end */
};

static bool meet(const struct graph_life *one, const struct graph_life *other) {
  return one->first <= other->last && other->first <= one->last;
}

static int by_size(const void *a, const void *b) {
  const struct block *one = a, *other = b;
  if (one->fixed != other->fixed)
    return one->fixed ? -1 : 1;
  if (one->raised != other->raised)
    return one->raised > other->raised ? -1 : 1;
  if (one->bytes != other->bytes)
    return one->bytes > other->bytes ? -1 : 1;
  return one->tensor < other->tensor ? -1 : 1;
}

static int by_start(const void *a, const void *b) {
  const struct block *one = a, *other = b;
  if (one->life.first != other->life.first)
    return one->life.first < other->life.first ? -1 : 1;
  return one->tensor < other->tensor ? -1 : 1;
}

static int by_offset(const void *a, const void *b) {
  const struct block *const *one = a, *const *other = b;
  if ((*one)->offset != (*other)->offset)
    return (*one)->offset < (*other)->offset ? -1 : 1;
  return (*one)->tensor < (*other)->tensor ? -1 : 1;
}

/* The gap for a block among those that are placed and alive with it: the lowest, or with `tight`
 * the smallest. `others` is room for count pointers. */
static uint64_t find_gap(const struct block *blocks, uint32_t count, const struct block *block,
                         bool tight, const struct block **others) {
  uint32_t near = 0;
  for (uint32_t i = 0; i < count; i++)
    if (blocks[i].placed && blocks[i].bytes > 0 && meet(&blocks[i].life, &block->life))
      others[near++] = &blocks[i];
  qsort(others, near, sizeof *others, by_offset);
  uint64_t end = 0, best = UINT64_MAX, best_bytes = UINT64_MAX;
  for (uint32_t i = 0; i < near; i++) {
    uint64_t gap = others[i]->offset > end ? others[i]->offset - end : 0;
    if (gap >= block->bytes && (tight ? gap < best_bytes : best == UINT64_MAX)) {
      best = end;
      best_bytes = gap;
    }
    end = max_u64(end, others[i]->offset + others[i]->bytes);
  }
  return best == UINT64_MAX ? end : best;
}

/* Places what is not placed, in the order of the blocks; returns the end of the last. */
static uint64_t place_all(struct block *blocks, uint32_t count, bool tight,
                          const struct block **others) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!blocks[i].placed)
      blocks[i].offset = find_gap(blocks, count, &blocks[i], tight, others);
    blocks[i].placed = true;
    end = max_u64(end, blocks[i].offset + blocks[i].bytes);
  }
  return end;
}

/*
 * Fixed memory first, then by size, and then again: blocks that reach the end of the plan go first
 * in the next round. The best round counts. Without the rounds, small tensors with long lives lie
 * behind the large ones.
 */
static void pack(struct block *blocks, uint32_t count, uint64_t enough, const struct block **others,
                 struct block *best) {
  uint64_t best_end = UINT64_MAX;
  for (unsigned round = 0; round < PACK_ROUNDS && best_end > enough; round++) {
    qsort(blocks, count, sizeof *blocks, by_size);
    uint64_t end = place_all(blocks, count, false, others);
    if (end < best_end)
      memcpy(best, blocks, count * sizeof *best);
    best_end = min_u64(end, best_end);
    for (uint32_t i = 0; i < count; i++) {
      blocks[i].raised += blocks[i].offset + blocks[i].bytes == end;
      blocks[i].placed = blocks[i].given;
    }
  }
  memcpy(blocks, best, count * sizeof *best);
}

static bool share(struct block *blocks, uint32_t count, enum graph_plan_policy policy,
                  uint64_t enough) {
  const struct block **others = calloc((size_t)count + 1, sizeof *others);
  struct block *best = calloc((size_t)count + 1, sizeof *best);
  bool good = others && best;
  if (good && policy == GRAPH_PLAN_PACK) {
    pack(blocks, count, enough, others, best);
  } else if (good) {
    qsort(blocks, count, sizeof *blocks, by_start);
    place_all(blocks, count, policy == GRAPH_PLAN_BEST, others);
  }
  free(others);
  free(best);
  return good;
}

/* The most that is alive at once. */
static uint64_t most_alive(const struct block *blocks, uint32_t count, uint32_t nodes) {
  int64_t *change = calloc((size_t)nodes + 2, sizeof *change);
  int64_t now = 0, most = 0;
  for (uint32_t i = 0; change && i < count; i++) {
    change[blocks[i].life.first] += (int64_t)blocks[i].bytes;
    change[blocks[i].life.last + 1] -= (int64_t)blocks[i].bytes;
  }
  for (uint32_t i = 0; change && i < nodes + 1; i++) {
    now += change[i];
    most = now > most ? now : most;
  }
  free(change);
  return (uint64_t)most;
}

/* ---- the plan ------------------------------------------------------------------------------ */

/* Of each tensor with memory of its own: bytes of the largest tensor there, whether its memory is
 * nobody else's, and the offset that a planner outside gave. */
struct memory {
  uint64_t bytes, offset;
  bool fixed, placed;
};

static void sum_up(const struct graph *graph, struct memory *memories) {
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const struct graph_tensor *tensor = &graph->tensors[i];
    struct memory *memory = &memories[graph_memory(graph, i)];
    memory->bytes = max_u64(
        memory->bytes, round_up(graph_skip(graph, i) + graph_bytes(tensor), GRAPH_ALIGNMENT_BYTES));
    memory->fixed = memory->fixed || tensor->io != GRAPH_LOCAL;
    if (tensor->placed && tensor->memory == GRAPH_NONE) {
      memory->placed = true;
      memory->offset = tensor->offset;
    }
  }
}

static uint32_t make_blocks(const struct graph *graph, const struct memory *memories,
                            const struct graph_life *lives, bool apart, struct block *blocks,
                            struct graph_plan *plan) {
  uint32_t count = 0, end = graph->node_count > 0 ? graph->node_count - 1 : 0;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    if (graph->tensors[i].memory != GRAPH_NONE || !lives[i].used)
      continue;
    struct block *block = &blocks[count++];
    *block = (struct block){.tensor = i,
                            .bytes = memories[i].bytes,
                            .offset = memories[i].offset,
                            .life = lives[i],
                            .fixed = memories[i].fixed,
                            .placed = memories[i].placed,
                            .given = memories[i].placed};
    plan->fixed_bytes += memories[i].fixed ? block->bytes : 0;
    if (memories[i].fixed || apart) {
      block->life.first = 0;
      block->life.last = end;
    }
  }
  return count;
}

/* Two tensors that a planner outside has put over one another while both are alive. */
static enum vinci_status check_places(const struct graph *graph, const struct block *blocks,
                                      uint32_t count, struct vinci_diag *diag) {
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = i + 1; j < count && blocks[i].placed; j++) {
      const struct block *one = &blocks[i], *other = &blocks[j];
      if (!other->placed || !meet(&one->life, &other->life) ||
          one->offset >= other->offset + other->bytes || other->offset >= one->offset + one->bytes)
        continue;
      const char *name = graph->tensors[one->tensor].name;
      const char *beside = graph->tensors[other->tensor].name;
      diag_error(diag, VINCI_E_INPUT,
                 "tensors \"%s\" (offset %" PRIu64 ", %" PRIu64
                 " bytes) and \"%s\" (offset %" PRIu64 ", %" PRIu64
                 " bytes) overlap while both are alive, at node \"%s\"",
                 name, one->offset, one->bytes, beside, other->offset, other->bytes,
                 graph->nodes[max_u64(one->life.first, other->life.first)].name);
      diag_hint(diag, "give one of them another offset, or none to have it placed");
      return VINCI_E_INPUT;
    }
  return VINCI_OK;
}

static enum vinci_status plan_blocks(struct graph *graph, enum graph_plan_policy policy,
                                     struct block *blocks, uint32_t count, struct graph_plan *plan,
                                     struct vinci_diag *diag) {
  enum vinci_status status = check_places(graph, blocks, count, diag);
  if (status != VINCI_OK)
    return status;
  plan->offsets = ARENA_ARRAY(&graph->arena, uint64_t, graph->tensor_count + 1);
  if (!plan->offsets || !share(blocks, count, policy, plan->live_bytes))
    return diag_error(diag, VINCI_E_NOMEM, "out of memory for the memory plan");
  for (uint32_t i = 0; i < count; i++) {
    plan->offsets[blocks[i].tensor] = blocks[i].offset;
    plan->bytes = max_u64(plan->bytes, blocks[i].offset + blocks[i].bytes);
  }
  for (uint32_t i = 0; i < graph->tensor_count; i++)
    if (graph->tensors[i].memory != GRAPH_NONE)
      plan->offsets[i] = plan->offsets[graph_memory(graph, i)] + graph_skip(graph, i);
  return VINCI_OK;
}

enum vinci_status graph_plan(struct graph *graph, enum graph_plan_policy policy,
                             struct graph_plan *out, struct vinci_diag *diag) {
  struct memory *memories = calloc((size_t)graph->tensor_count + 1, sizeof *memories);
  struct graph_life *lives = calloc((size_t)graph->tensor_count + 1, sizeof *lives);
  struct block *blocks = calloc((size_t)graph->tensor_count + 1, sizeof *blocks);
  enum vinci_status status = VINCI_OK;
  *out = (struct graph_plan){0};
  if (!memories || !lives || !blocks) {
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the memory plan");
  } else {
    struct graph_plan none = {0};
    sum_up(graph, memories);
    graph_lives(graph, lives);
    uint32_t count = make_blocks(graph, memories, lives, false, blocks, &none);
    out->live_bytes = most_alive(blocks, count, graph->node_count);
    count = make_blocks(graph, memories, lives, policy == GRAPH_PLAN_NONE, blocks, out);
    status = plan_blocks(graph, policy, blocks, count, out, diag);
  }
  free(memories);
  free(lives);
  free(blocks);
  return status;
}
