/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, units and the host, node by node. */
#include "networks/graph/queue.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/clock.h"

enum { WAYS = 3 };
enum { UNITS_MAX = 16, STREAMS_MAX = UINT16_MAX + 1 };

/* What runs one node at a time. */
struct unit {
  const char *name;
  bool cores, begun, mixed; /* of its last node */
  uint64_t free_ps;
};

/* When a copy moves how many bytes a second in device memory. */
struct span {
  uint64_t from_ps, to_ps, rate;
};

/* Copies of one way, which run one after another. */
struct way {
  struct span *spans;
  uint32_t count, next; /* the first that has not ended */
};

struct queue {
  const struct graph *graph;
  const struct vinci_soc *soc;
  const struct queue_options *options;
  struct queue_task *tasks;
  uint64_t *written_ps; /* by tensor: when its writer ended */
  uint64_t *stream_ps;  /* by stream: when its last node ended */
  struct unit units[UNITS_MAX];
  unsigned unit_count;
  uint64_t host_ps;
  struct way ways[WAYS]; /* of the pass before */
  struct queue_result *result;
};

const char *queue_host_name(enum queue_host host) {
  static const char *const names[] = {
#define X(id, name, text) name,
      QUEUE_HOST_LIST(X)
#undef X
  };
  return names[host];
}

const char *queue_host_text(enum queue_host host) {
  static const char *const texts[] = {
#define X(id, name, text) text,
      QUEUE_HOST_LIST(X)
#undef X
  };
  return texts[host];
}

/* Tasks of a profile that ran on AI Cores: the profiler's names of what ran there. */
static bool on_cores(const struct graph_node *node) {
  static const char *const names[] = {"AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "AICORE"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (node->kind == GRAPH_TASK && strcmp(node->op, names[i]) == 0)
      return true;
  return node->kind == GRAPH_KERNEL;
}

/* The host itself at work: what it waits for is there, and what comes later is not issued before.
 */
bool queue_is_host(const struct graph_node *node) {
  return node->kind == GRAPH_TASK && strcmp(node->op, "HOST") == 0;
}

/* Units beyond the table share the last one, which takes turns and so is never too fast. */
static struct unit *unit_of(struct queue *queue, const struct graph_node *node) {
  const char *name = on_cores(node) ? "" : node->kind == GRAPH_LAYER ? "AI_CPU" : node->op;
  for (unsigned i = 0; i < queue->unit_count; i++)
    if (strcmp(queue->units[i].name, name) == 0)
      return &queue->units[i];
  if (queue->unit_count == UNITS_MAX)
    return &queue->units[UNITS_MAX - 1];
  struct unit *unit = &queue->units[queue->unit_count++];
  *unit = (struct unit){.name = name, .cores = on_cores(node)};
  return unit;
}

/* ---- copies beside kernels ------------------------------------------------------------------ */

static unsigned way_of(const struct graph_node *node) {
  return strcmp(node->op, "h2d") == 0 ? 0 : strcmp(node->op, "d2h") == 0 ? 1 : 2;
}

/* Bytes a second that copies take at a time; *until is when that changes. */
static uint64_t taken_at(struct queue *queue, uint64_t now_ps, uint64_t *until) {
  uint64_t rate = 0;
  *until = UINT64_MAX;
  for (unsigned i = 0; i < WAYS; i++) {
    struct way *way = &queue->ways[i];
    while (way->next < way->count && way->spans[way->next].to_ps <= now_ps)
      way->next++;
    if (way->next == way->count)
      continue;
    const struct span *span = &way->spans[way->next];
    bool moves = span->from_ps <= now_ps;
    rate += moves ? span->rate : 0;
    *until = min_u64(*until, moves ? span->to_ps : span->from_ps);
  }
  return rate;
}

/* By how much copies prolong a kernel. Kernels come in the order of their starts. */
static uint64_t slowed(struct queue *queue, uint64_t start_ps, uint64_t work_ps) {
  uint64_t most = soc_hbm_bytes_per_second(queue->soc), now = start_ps, left = work_ps, until;
  for (;;) {
    uint64_t free_rate = most - min_u64(most, taken_at(queue, now, &until));
    uint128 needed = free_rate ? ((uint128)left * most + free_rate - 1) / free_rate : UINT64_MAX;
    if (needed <= until - now)
      return now + (uint64_t)needed - start_ps - work_ps;
    left -= (uint64_t)((uint128)(until - now) * free_rate / most);
    now = until;
  }
}

/* Notes when copies run; true when that is as in the pass before. */
static bool note_copies(struct queue *queue) {
  uint32_t counts[WAYS] = {0};
  bool same = true;
  for (uint32_t i = 0; i < queue->graph->node_count; i++) {
    const struct graph_node *node = &queue->graph->nodes[i];
    const struct queue_task *task = &queue->tasks[i];
    if (node->kind != GRAPH_COPY || task->duration_ps == 0)
      continue;
    struct way *way = &queue->ways[way_of(node)];
    struct span span = {task->start_ps, task->start_ps + task->duration_ps,
                        (uint64_t)((uint128)task->hbm_bytes * PS_PER_SECOND / task->duration_ps)};
    struct span *old = &way->spans[counts[way_of(node)]++];
    same = same && old->from_ps == span.from_ps && old->to_ps == span.to_ps;
    *old = span;
  }
  for (unsigned i = 0; i < WAYS; i++) {
    queue->ways[i].count = counts[i];
    queue->ways[i].next = 0;
  }
  return same;
}

static uint64_t end_of(const struct queue_task *task) {
  return task->start_ps + task->duration_ps + task->slowed_ps;
}

/* ---- one node ------------------------------------------------------------------------------- */

/* When all that a node reads has been written, and all that it has to follow has ended. */
static uint64_t inputs_ready(const struct queue *queue, const struct graph_node *node) {
  uint64_t ready = 0;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] != GRAPH_NONE)
      ready = max_u64(ready, queue->written_ps[node->inputs[i]]);
  for (uint32_t i = 0; i < node->after_count; i++)
    ready = max_u64(ready, end_of(&queue->tasks[node->after[i]]));
  return ready;
}

/* The host issues a node; with a queue that is full it waits for the oldest node there to start. */
static void issue(struct queue *queue, uint32_t index) {
  const struct graph_node *node = &queue->graph->nodes[index];
  const struct queue_options *options = queue->options;
  struct queue_task *task = &queue->tasks[index];
  if (options->depth > 0 && index >= options->depth)
    queue->host_ps = max_u64(queue->host_ps, queue->tasks[index - options->depth].start_ps);
  if (node->host_ps > 0)
    queue->host_ps += node->host_ps;
  else if (options->host == QUEUE_EAGER)
    queue->host_ps += (uint64_t)queue->soc->host_operator_ps;
  else if (options->host == QUEUE_GRAPH || queue->host_ps == 0)
    queue->host_ps += (uint64_t)queue->soc->host_launch_call_ps;
  queue->host_ps += node->tiling_ps;
  task->issued_ps = queue->host_ps;
}

/* The time of a unit between its last node and this one, by what it waited for. */
static void account(struct queue *queue, struct unit *unit, struct queue_task *task, uint64_t gap,
                    uint64_t ready) {
  uint64_t from = unit->begun ? unit->free_ps : 0;
  uint64_t idle = task->start_ps - from;
  task->gap_ps = min_u64(unit->begun ? gap : 0, idle);
  idle -= task->gap_ps;
  uint64_t other = ready > from + task->gap_ps ? ready - from - task->gap_ps : 0;
  task->other_wait_ps = min_u64(other, idle);
  task->host_wait_ps = idle - task->other_wait_ps;
  if (unit->cores) {
    queue->result->gap_ps += task->gap_ps;
    queue->result->host_bound_ps += task->host_wait_ps;
    queue->result->wait_ps += task->other_wait_ps;
    queue->result->core_ps += task->duration_ps + task->slowed_ps;
    queue->result->slowed_ps += task->slowed_ps;
  }
}

static void start(struct queue *queue, uint32_t index, const struct graph_node *node) {
  struct queue_task *task = &queue->tasks[index];
  struct unit *unit = unit_of(queue, node);
  uint64_t gap = (uint64_t)(task->mixed || unit->mixed ? queue->soc->launch_mixed_gap_ps
                                                       : queue->soc->launch_gap_ps);
  if (!unit->cores || !unit->begun)
    gap = 0;
  uint64_t ready = max_u64(inputs_ready(queue, node), queue->stream_ps[node->stream]);
  if (!queue_is_host(node))
    issue(queue, index);
  else
    task->issued_ps = queue->host_ps;
  task->start_ps = max_u64(max_u64(ready, unit->free_ps + gap), task->issued_ps);
  task->slowed_ps = task->memory_bound ? slowed(queue, task->start_ps, task->duration_ps) : 0;
  account(queue, unit, task, gap, ready);
  uint64_t end = end_of(task);
  unit->begun = true;
  unit->mixed = task->mixed;
  unit->free_ps = queue->stream_ps[node->stream] = end;
  for (uint32_t i = 0; i < node->output_count; i++)
    queue->written_ps[node->outputs[i]] = end;
  bool to_host = node->kind == GRAPH_COPY && strcmp(node->op, "d2h") == 0;
  if (queue_is_host(node) || (to_host && queue->options->host != QUEUE_SINK))
    queue->host_ps = max_u64(queue->host_ps, end);
  queue->result->end_ps = max_u64(queue->result->end_ps, end);
}

/* A view is there when its input is; what is computed offline, before all. */
static void pass_view(struct queue *queue, uint32_t index, const struct graph_node *node) {
  uint64_t ready = inputs_ready(queue, node);
  queue->tasks[index].start_ps = queue->tasks[index].issued_ps = ready;
  for (uint32_t i = 0; i < node->output_count; i++)
    queue->written_ps[node->outputs[i]] = ready;
}

/* All nodes in their order, with the copies of the pass before. */
static void run_pass(struct queue *queue) {
  const struct graph *graph = queue->graph;
  memset(queue->written_ps, 0, graph->tensor_count * sizeof *queue->written_ps);
  memset(queue->stream_ps, 0, STREAMS_MAX * sizeof *queue->stream_ps);
  queue->unit_count = 0;
  queue->host_ps = 0;
  *queue->result = (struct queue_result){0};
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    if (node->kind == GRAPH_VIEW || node->offline)
      pass_view(queue, i, node);
    else
      start(queue, i, node);
  }
  queue->result->host_ps = queue->host_ps;
}

/* A copy that starts later than a kernel may stand behind that in the graph, so that its time is
 * known in the next pass. What happens depends on what happened before: each pass has the times of
 * at least one copy more right than the pass before. */
static void run_passes(struct queue *queue) {
  bool beside = false;
  uint32_t copies = 0;
  for (uint32_t i = 0; i < queue->graph->node_count; i++) {
    beside = beside || queue->tasks[i].memory_bound;
    copies += queue->graph->nodes[i].kind == GRAPH_COPY;
  }
  run_pass(queue);
  for (uint32_t i = 0; beside && i <= copies && !note_copies(queue); i++)
    run_pass(queue);
}

static bool make_ways(struct queue *queue) {
  uint32_t counts[WAYS] = {0};
  bool good = true;
  for (uint32_t i = 0; i < queue->graph->node_count; i++)
    if (queue->graph->nodes[i].kind == GRAPH_COPY)
      counts[way_of(&queue->graph->nodes[i])]++;
  for (unsigned i = 0; i < WAYS; i++) {
    queue->ways[i].spans = calloc((size_t)counts[i] + 1, sizeof *queue->ways[i].spans);
    good = good && queue->ways[i].spans;
  }
  return good;
}

enum vinci_status queue_run(const struct graph *graph, const struct vinci_soc *soc,
                            const struct queue_options *options, struct queue_task *tasks,
                            struct queue_result *out, struct vinci_diag *diag) {
  struct queue queue = {.graph = graph,
                        .soc = soc,
                        .options = options,
                        .tasks = tasks,
                        .written_ps =
                            calloc((size_t)graph->tensor_count + 1, sizeof *queue.written_ps),
                        .stream_ps = calloc(STREAMS_MAX, sizeof *queue.stream_ps),
                        .result = out};
  enum vinci_status status = VINCI_OK;
  *out = (struct queue_result){0};
  if (make_ways(&queue) && queue.written_ps && queue.stream_ps)
    run_passes(&queue);
  else
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the queue");
  for (unsigned i = 0; i < WAYS; i++)
    free(queue.ways[i].spans);
  free(queue.written_ps);
  free(queue.stream_ps);
  return status;
}
