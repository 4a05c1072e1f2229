/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tensor that is added to the result of the cube, and the ReLU behind that sum, computed while
 * the result is still in the cube's memory: one kernel in place of two or three. The cube adds by
 * a product with the unit matrix, which takes time, so that the estimates decide.
 */
#include <stdio.h>
#include <string.h>

#include "networks/passes/pass.h"

enum { ARGS_BYTES = 768 };

struct sum {
  struct graph_node *cube, *add, *relu; /* relu may be NULL */
  uint32_t residual;
};

static bool on_cube(const struct graph_node *node) {
  return node && node->kind == GRAPH_KERNEL && !node->offline && node->output_count == 1 &&
         (strcmp(node->op, "conv2d") == 0 || strcmp(node->op, "matmul") == 0 ||
          strcmp(node->op, "batch_matmul") == 0) &&
         !graph_arg(node, "residual") && !graph_arg(node, "relu") && !graph_arg(node, "out_dtype");
}

static struct graph_node *kernel_of(const struct rewrite *rewrite, uint32_t index, const char *op) {
  if (index == GRAPH_NONE || rewrite->gone[index])
    return NULL;
  struct graph_node *node = &rewrite->graph->nodes[index];
  return node->kind == GRAPH_KERNEL && !node->offline && strcmp(node->op, op) == 0 ? node : NULL;
}

static bool find_sum(const struct rewrite *rewrite, struct graph_node *add, struct sum *out) {
  *out = (struct sum){.add = add};
  for (uint32_t i = 0; add->input_count == 2 && i < 2 && !out->cube; i++) {
    uint32_t tensor = add->inputs[i], writer = rewrite->writer[tensor];
    const struct graph_tensor *own = rewrite_tensor(rewrite, tensor);
    const struct graph_tensor *other = rewrite_tensor(rewrite, add->inputs[1 - i]);
    if (writer == GRAPH_NONE || rewrite->gone[writer] || rewrite->reads[tensor] != 1 ||
        !on_cube(&rewrite->graph->nodes[writer]) || own->dtype != other->dtype ||
        own->rank != other->rank || memcmp(own->shape, other->shape, own->rank * 8) != 0)
      continue;
    out->cube = &rewrite->graph->nodes[writer];
    out->residual = add->inputs[1 - i];
  }
  if (out->cube && rewrite->reads[add->outputs[0]] == 1)
    out->relu = kernel_of(rewrite, rewrite->reader[add->outputs[0]], "relu");
  return out->cube != NULL;
}

static size_t write_cube(const struct graph_node *cube, char *text) {
  size_t used = 0;
  for (uint32_t i = 0; i < cube->arg_count && used < ARGS_BYTES; i++)
    used += (size_t)snprintf(text + used, ARGS_BYTES - used, "%s%s", i ? " " : "", cube->args[i]);
  return used;
}

/* Against the cube's kernel and one kernel for the sum and its ReLU. */
static bool pays(struct pass_context *pass, const struct sum *sum, const char *args) {
  char text[ARGS_BYTES];
  bool cube_possible, sum_possible, possible;
  const struct graph_tensor *y = rewrite_tensor(&pass->rewrite, sum->add->outputs[0]);
  (void)write_cube(sum->cube, text);
  uint64_t apart = pass_kernel_ps(pass, sum->cube->op, text, &cube_possible);
  snprintf(text, sizeof text, "steps=add:x:x1%s shape=%llu dtype=%s", sum->relu ? ",relu" : "",
           (unsigned long long)graph_elements(y), dtype_name(y->dtype));
  apart += pass_kernel_ps(pass, "chain", text, &sum_possible);
  uint64_t together = pass_kernel_ps(pass, sum->cube->op, args, &possible);
  return pass_pays(pass, sum->add, "a part of the cube's kernel", apart, together,
                   possible && cube_possible && sum_possible);
}

static void put_together(struct rewrite *rewrite, const struct sum *sum, const char *args) {
  struct graph_node *last = sum->relu ? sum->relu : sum->add;
  uint32_t inputs[5], count = sum->cube->input_count;
  if (count > 4)
    return;
  memcpy(inputs, sum->cube->inputs, count * sizeof *inputs);
  inputs[count++] = sum->residual;
  last->name = sum->cube->name;
  last->origin = sum->cube->origin;
  const char *op = sum->cube->op;
  rewrite_take_away(rewrite, sum->cube);
  if (sum->relu)
    rewrite_take_away(rewrite, sum->add);
  rewrite_become(rewrite, last, op, inputs, count, args);
  rewrite_done(rewrite, last, NULL);
}

void pass_residual(struct pass_context *pass) {
  struct rewrite *rewrite = &pass->rewrite;
  for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
    struct graph_node *node = kernel_of(rewrite, i, "add");
    struct sum sum;
    char args[ARGS_BYTES];
    if (!node || !find_sum(rewrite, node, &sum))
      continue;
    size_t used = write_cube(sum.cube, args);
    snprintf(args + used, sizeof args - used, " residual=1%s", sum.relu ? " relu=1" : "");
    if (used < sizeof args && pays(pass, &sum, args))
      put_together(rewrite, &sum, args);
  }
}
