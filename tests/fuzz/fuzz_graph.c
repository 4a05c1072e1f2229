/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of graphs: any bytes are read without harm. What is accepted is the same when it is
 * written and read again; each memory plan holds what is alive, and the queue ends.
 */
#include <stdlib.h>
#include <string.h>

#include "networks/graph/queue.h"
#include "networks/graph/text.h"
#include "tests/support/fixture.h"

enum { NODES_MAX = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *text_of(const struct graph *graph, size_t *length) {
  char *text = NULL;
  FILE *out = open_memstream(&text, length);
  graph_text_write(graph, out);
  fclose(out);
  return text;
}

static void read_again(const struct graph *graph) {
  struct graph again;
  struct vinci_diag diag = {0};
  size_t length, length_again;
  char *text = text_of(graph, &length);
  if (graph_text_read("again", text, length, &again, &diag) != VINCI_OK)
    vinci_bug("what was written is not read: line %lu: %s", diag.line, diag.text);
  char *text_again = text_of(&again, &length_again);
  if (length != length_again || memcmp(text, text_again, length) != 0)
    vinci_bug("a graph changes when it is written and read");
  free(text);
  free(text_again);
  graph_free(&again);
}

static void plan_and_queue(struct graph *graph) {
  struct graph_plan plan;
  struct queue_result result;
  struct queue_options options = {.host = QUEUE_EAGER, .depth = 3};
  static vinci_soc *soc;
  for (unsigned i = 0; i < GRAPH_PLAN_COUNT; i++)
    if (graph_plan(graph, (enum graph_plan_policy)i, &plan, NULL) == VINCI_OK &&
        plan.bytes < plan.live_bytes)
      vinci_bug("plan %u has less than what is alive", i);
  soc = soc ? soc : fixture_soc();
  struct queue_task *tasks = calloc((size_t)graph->node_count + 1, sizeof *tasks);
  for (uint32_t i = 0; tasks && i < graph->node_count; i++)
    tasks[i].duration_ps = graph->nodes[i].duration_ps;
  if (soc && tasks && queue_run(graph, soc, &options, tasks, &result, NULL) != VINCI_OK)
    vinci_bug("the queue fails");
  free(tasks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct graph graph;
  if (graph_text_read("fuzz", (const char *)data, size, &graph, NULL) != VINCI_OK)
    return 0;
  read_again(&graph);
  if (graph.node_count <= NODES_MAX)
    plan_and_queue(&graph);
  graph_free(&graph);
  return 0;
}
