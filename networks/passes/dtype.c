/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Half precision: every fp32 tensor that the network computes at run time becomes fp16 (or bf16).
 * Inputs and results keep their type, with casts, unless keep_ends changes them too. Arithmetic on
 * weights stays fp32; the cast behind it is computed offline. Layers with keep=fp32 stay, too.
 */
#include <stdlib.h>
#include <string.h>

#include "networks/passes/pass.h"

enum { KNOWN_MAX = 64 }; /* elements of a constant whose values are converted here */

struct typing {
  struct pass_context *pass;
  struct rewrite *rewrite;
  enum dtype to;
  bool *wide;     /* by tensor: a layer that keeps fp32 has written the tensor */
  uint32_t *cast; /* by tensor: the same in the other type; GRAPH_NONE: not made yet */
  uint32_t count;
};

static bool is_wide(const struct typing *typing, uint32_t tensor) {
  return tensor != GRAPH_NONE && rewrite_tensor(typing->rewrite, tensor)->dtype == DTYPE_FP32;
}

/* A small constant with its values in the other type. */
static uint32_t converted(struct typing *typing, uint32_t tensor) {
  struct rewrite *rewrite = typing->rewrite;
  struct graph_tensor own = *rewrite_tensor(rewrite, tensor);
  uint64_t count = graph_elements(&own);
  unsigned char *data = arena_alloc(&rewrite->graph->arena, count, sizeof(uint32_t));
  uint32_t out = rewrite_new_tensor(rewrite, own.name, typing->to, own.shape, own.rank);
  double number;
  if (!data || out == GRAPH_NONE) {
    rewrite->no_memory = true;
    return GRAPH_NONE;
  }
  for (uint64_t i = 0; i < count; i++)
    if (graph_number(&own, i, &number))
      (void)graph_put_number(typing->to, data, i, number);
  rewrite->graph->tensors[out].io = GRAPH_WEIGHT;
  rewrite->graph->tensors[out].data = data;
  rewrite->constant[out] = true;
  return out;
}

/* What a node of the other type reads in place of an fp32 tensor that is given or from weights. */
static uint32_t narrow(struct typing *typing, const struct graph_node *node, uint32_t tensor) {
  struct rewrite *rewrite = typing->rewrite;
  struct graph_tensor own = *rewrite_tensor(rewrite, tensor);
  if (typing->cast[tensor] != GRAPH_NONE)
    return typing->cast[tensor];
  uint32_t out =
      own.data && graph_elements(&own) <= KNOWN_MAX
          ? converted(typing, tensor)
          : rewrite_insert(rewrite, node, "Cast", &tensor, 1, "", typing->to, own.shape, own.rank);
  typing->cast[tensor] = out;
  return out;
}

/* fp32 stays where a tensor is given from outside, or is made of weights alone. */
static bool stays(const struct typing *typing, uint32_t tensor) {
  const struct graph_tensor *own = rewrite_tensor(typing->rewrite, tensor);
  if (own->io == GRAPH_IN)
    return !typing->pass->options->keep_ends;
  return rewrite_is_weight(typing->rewrite, tensor) ||
         (tensor < typing->count && typing->wide[tensor]);
}

/* The tensors of a list as the node shall have them; NULL when memory is short. */
static uint32_t *own_copy(struct typing *typing, const uint32_t *list, uint32_t count) {
  uint32_t *copy = ARENA_ARRAY(&typing->rewrite->graph->arena, uint32_t, count + 1);
  typing->rewrite->no_memory |= !copy;
  if (copy)
    memcpy(copy, list, count * sizeof *copy);
  return copy;
}

/* Layers that make bytes of numbers, or numbers of bytes, read both types: what decides on a byte
 * keeps its digits, and scales do not fit 16 bits. */
static bool reads_both(const struct graph_node *node) {
  static const char *const ops[] = {"DequantizeLinear",      "DequantizedConv", "DequantizedMatMul",
                                    "DynamicQuantizeLinear", "QLinearConv",     "QLinearMatMul",
                                    "QuantizeLinear",        "RoundedToBytes"};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (strcmp(node->op, ops[i]) == 0)
      return true;
  return false;
}

/* Layers whose argument says that they keep fp32, such as places in an image. */
static bool keeps(const struct graph_node *node) {
  const char *type = graph_arg(node, "keep");
  return type && strcmp(type, "fp32") == 0;
}

/* What such a layer reads of layers that are in the other type is cast back. */
static void widen_inputs(struct typing *typing, struct graph_node *node) {
  uint32_t *inputs = own_copy(typing, node->inputs, node->input_count);
  for (uint32_t i = 0; inputs && i < node->input_count; i++) {
    if (inputs[i] == GRAPH_NONE)
      continue;
    struct graph_tensor own = *rewrite_tensor(typing->rewrite, inputs[i]);
    if (own.dtype == typing->to && strcmp(node->op, "Cast") != 0)
      inputs[i] = rewrite_insert(typing->rewrite, node, "Cast", &inputs[i], 1, "", DTYPE_FP32,
                                 own.shape, own.rank);
  }
  if (inputs)
    node->inputs = inputs;
  for (uint32_t i = 0; i < node->output_count; i++)
    if (node->outputs[i] != GRAPH_NONE && node->outputs[i] < typing->count)
      typing->wide[node->outputs[i]] = true;
}

static void narrow_inputs(struct typing *typing, struct graph_node *node) {
  uint32_t *inputs = own_copy(typing, node->inputs, node->input_count);
  if (!inputs)
    return;
  for (uint32_t i = 0; i < node->input_count; i++) {
    if (!is_wide(typing, inputs[i]))
      continue;
    if (stays(typing, inputs[i]))
      inputs[i] = narrow(typing, node, inputs[i]);
    else if (inputs[i] < typing->count && typing->cast[inputs[i]] != GRAPH_NONE)
      inputs[i] = typing->cast[inputs[i]]; /* a result of the network, before its cast */
  }
  node->inputs = inputs;
}

static void narrow_outputs(struct typing *typing, struct graph_node *node) {
  struct rewrite *rewrite = typing->rewrite;
  uint32_t *outputs = own_copy(typing, node->outputs, node->output_count);
  for (uint32_t i = 0; outputs && i < node->output_count; i++) {
    uint32_t tensor = outputs[i];
    if (!is_wide(typing, tensor))
      continue;
    rewrite_done(rewrite, node, dtype_name(typing->to));
    if (rewrite_tensor(rewrite, tensor)->io != GRAPH_OUT || typing->pass->options->keep_ends) {
      rewrite->graph->tensors[tensor].dtype = typing->to;
      continue;
    }
    struct graph_tensor own = *rewrite_tensor(rewrite, tensor);
    outputs[i] = rewrite_new_tensor(rewrite, own.name, typing->to, own.shape, own.rank);
    typing->cast[tensor] = outputs[i];
    rewrite_insert_into(rewrite, rewrite_index(rewrite, node) + 1, node, "Cast", &outputs[i], 1, "",
                        tensor);
  }
  if (outputs)
    node->outputs = outputs;
}

static bool at_run_time(const struct typing *typing, const struct graph_node *node) {
  for (uint32_t i = 0; i < node->output_count; i++)
    if (!rewrite_is_weight(typing->rewrite, node->outputs[i]))
      return true;
  return false;
}

void pass_dtype(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  struct typing typing = {.pass = pass,
                          .rewrite = rewrite,
                          .to = pass->options->dtype,
                          .count = rewrite->graph->tensor_count};
  typing.cast = malloc(((size_t)typing.count + 1) * sizeof *typing.cast);
  typing.wide = calloc((size_t)typing.count + 1, sizeof *typing.wide);
  if (!typing.cast || !typing.wide) {
    free(typing.cast);
    free(typing.wide);
    rewrite->no_memory = true;
    return;
  }
  memset(typing.cast, 0xff, ((size_t)typing.count + 1) * sizeof *typing.cast);
  for (uint32_t i = 0; pass->options->keep_ends && i < typing.count; i++)
    if (rewrite->graph->tensors[i].io == GRAPH_IN && is_wide(&typing, i))
      rewrite->graph->tensors[i].dtype = typing.to;
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *node = &rewrite->graph->nodes[i];
    if (rewrite->gone[i] || node->kind != GRAPH_LAYER || !at_run_time(&typing, node))
      continue;
    if (keeps(node)) {
      widen_inputs(&typing, node);
      continue;
    }
    if (!reads_both(node))
      narrow_inputs(&typing, node);
    narrow_outputs(&typing, node);
  }
  free(typing.cast);
  free(typing.wide);
}
