/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the reader of ONNX: any bytes are read without harm, once as they are and once
 * with all named dimensions and one input given. What is accepted is a graph that can be written as
 * text and read again.
 */
#include <stdlib.h>
#include <string.h>

#include "networks/graph/text.h"
#include "networks/onnx/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_again(const struct graph *graph) {
  struct graph again;
  struct vinci_diag diag = {0};
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  graph_text_write(graph, out);
  fclose(out);
  if (graph_text_read("again", text, length, &again, &diag) != VINCI_OK)
    vinci_bug("what was written is not read: line %lu: %s", diag.line, diag.text);
  if (again.node_count != graph->node_count || again.tensor_count != graph->tensor_count)
    vinci_bug("a graph changes when it is written and read");
  graph_free(&again);
  free(text);
}

/* Values that are at hand are there to their last byte. */
static void look_at_values(const struct graph *graph) {
  static volatile uint8_t seen;
  for (uint32_t i = 0; i < graph->tensor_count; i++) {
    const struct graph_tensor *tensor = &graph->tensors[i];
    if (tensor->data && graph_bytes(tensor) > 0)
      seen = ((const uint8_t *)tensor->data)[graph_bytes(tensor) - 1];
  }
  (void)seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const shapes[] = {"x=2x3x8x8"}, *const dims[] = {"n=2"},
                           *const values[] = {"c=1"};
  static const struct onnx_options given[] = {
      {.folder = NULL},
      {.dims = {dims, 1}},
      {.inputs = {values, 1}},
      {.shapes = {shapes, 1}},
  };
  struct graph graph;
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    if (onnx_read("fuzz", data, size, &given[i], &graph, NULL) == VINCI_OK) {
      look_at_values(&graph);
      read_again(&graph);
      graph_free(&graph);
    }
  return 0;
}
