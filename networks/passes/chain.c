/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise kernels whose results one other elementwise kernel alone reads become one kernel, the
 * operator chain, whose values between the steps stay in UB. Each joint is made only where the
 * estimate of the longer chain, with one launch less, is below that of its parts: long chains need
 * room in UB for more values and can lose the overlap of copies with arithmetic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/kernel/lower.h"
#include "lower/vector/elementwise/chain.h"
#include "networks/passes/pass.h"

enum { PARTS_MAX = 24, INPUTS_MAX = VFUNC_INPUTS, STEPS_BYTES = 768 };

/* Kernels in the order of launch; the last gives the result. */
struct group {
  uint32_t node[PARTS_MAX], input[INPUTS_MAX];
  unsigned count, inputs;
  uint64_t ps, apart_ps; /* of the chain; of its kernels alone, with the gaps between */
  bool joined;           /* part of a larger group */
};

struct chaining {
  struct pass_context *pass;
  struct rewrite *rewrite;
  struct group *groups; /* by node; count 0: no elementwise kernel */
};

static struct graph_node *node_of(const struct chaining *chaining, uint32_t index) {
  return &chaining->rewrite->graph->nodes[index];
}

static const struct graph_tensor *result_of(const struct chaining *chaining,
                                            const struct graph_node *node) {
  return rewrite_tensor(chaining->rewrite, node->outputs[0]);
}

/* ---- text ---------------------------------------------------------------------------------- */

struct chain_args {
  char steps[STEPS_BYTES];
  char shape[INPUTS_MAX][256];
  char type[INPUTS_MAX][32];
  const char *list[1 + 2 * INPUTS_MAX];
  size_t count;
};

static bool add_text(char *text, size_t size, size_t *used, const char *format, const char *value) {
  int more = snprintf(text + *used, size - *used, format, value);
  *used += more > 0 ? (size_t)more : 0;
  return *used < size;
}

/* An operand: an input by its number, or the step that writes the tensor. */
static void name_operand(const struct chaining *chaining, const struct group *group,
                         uint32_t tensor, char out[16]) {
  for (unsigned i = 0; i < group->count; i++)
    if (node_of(chaining, group->node[i])->outputs[0] == tensor)
      snprintf(out, 16, "s%u", i);
  for (unsigned i = 0; i < group->inputs; i++)
    if (group->input[i] == tensor)
      snprintf(out, 16, "x%u", i);
}

/* Arguments that say what a step computes, not on which tensors. */
static bool is_own_argument(const char *arg) {
  static const char *const tensors[] = {
      "shape=", "shape1=", "shape2=", "dtype=", "dtype1=", "out=", "to="};
  for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
    if (strncmp(arg, tensors[i], strlen(tensors[i])) == 0)
      return false;
  return true;
}

static bool write_steps(const struct chaining *chaining, const struct group *group,
                        struct chain_args *out) {
  size_t used = 0, size = sizeof out->steps;
  bool good = add_text(out->steps, size, &used, "%s", "steps=");
  for (unsigned i = 0; i < group->count && good; i++) {
    const struct graph_node *node = node_of(chaining, group->node[i]);
    char name[24];
    snprintf(name, sizeof name, "s%u=", i);
    good = add_text(out->steps, size, &used, "%s", i ? "," : "") &&
           add_text(out->steps, size, &used, "%s", i + 1 < group->count ? name : "") &&
           add_text(out->steps, size, &used, "%s", node->op);
    for (uint32_t k = 0; k < node->input_count && good; k++) {
      char operand[16] = "";
      name_operand(chaining, group, node->inputs[k], operand);
      good = add_text(out->steps, size, &used, ":%s", operand);
    }
    if (strcmp(node->op, "cast") == 0 && good)
      good = add_text(out->steps, size, &used, ":%s", graph_arg(node, "to"));
    for (uint32_t k = 0; k < node->arg_count && good; k++)
      if (is_own_argument(node->args[k]))
        good = add_text(out->steps, size, &used, ":%s", node->args[k]);
  }
  return good;
}

/* As one row where no input is repeated, else as the tensors are stored. */
static bool write_shapes(const struct chaining *chaining, const struct group *group,
                         struct chain_args *out) {
  const struct graph_tensor *y =
      result_of(chaining, node_of(chaining, group->node[group->count - 1]));
  bool flat = true;
  for (unsigned i = 0; i < group->inputs; i++)
    flat = flat &&
           graph_elements(rewrite_tensor(chaining->rewrite, group->input[i])) == graph_elements(y);
  for (unsigned i = 0; i < group->inputs; i++) {
    const struct graph_tensor *x = rewrite_tensor(chaining->rewrite, group->input[i]);
    char number[16] = "", extents[224];
    size_t used = 0;
    if (i > 0)
      snprintf(number, sizeof number, "%u", i);
    snprintf(extents, sizeof extents, "%llu", (unsigned long long)graph_elements(x));
    for (unsigned d = 0; d < x->rank && !flat; d++)
      used += (size_t)snprintf(extents + used, sizeof extents - used, "%s%llu", d ? "x" : "",
                               (unsigned long long)x->shape[d]);
    snprintf(out->shape[i], sizeof out->shape[i], "shape%s=%s", number, extents);
    snprintf(out->type[i], sizeof out->type[i], "dtype%s=%s", number, dtype_name(x->dtype));
  }
  return true;
}

static bool write_args(const struct chaining *chaining, const struct group *group,
                       struct chain_args *out) {
  out->count = 0;
  if (!write_steps(chaining, group, out) || !write_shapes(chaining, group, out))
    return false;
  out->list[out->count++] = out->steps;
  for (unsigned i = 0; i < group->inputs; i++) {
    out->list[out->count++] = out->shape[i];
    out->list[out->count++] = out->type[i];
  }
  return true;
}

/* ---- groups -------------------------------------------------------------------------------- */

static bool add_input(const struct chaining *chaining, struct group *group, uint32_t tensor) {
  for (unsigned i = 0; i < group->count; i++)
    if (node_of(chaining, group->node[i])->outputs[0] == tensor)
      return true;
  for (unsigned i = 0; i < group->inputs; i++)
    if (group->input[i] == tensor)
      return true;
  if (group->inputs == INPUTS_MAX)
    return false;
  group->input[group->inputs++] = tensor;
  return true;
}

static int compare_nodes(const void *a, const void *b) {
  uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
  return one < other ? -1 : one > other;
}

/* The group of a kernel with those of some of its inputs; false when it grows too large. The first
 * input has to have all elements: the others are repeated to its extents. */
static bool join(const struct chaining *chaining, uint32_t index, const uint32_t *parts,
                 unsigned part_count, struct group *out) {
  *out = (struct group){.node = {index}, .count = 1};
  for (unsigned p = 0; p < part_count; p++) {
    const struct group *part = &chaining->groups[parts[p]];
    if (out->count + part->count > PARTS_MAX)
      return false;
    memcpy(out->node + out->count, part->node, part->count * sizeof *part->node);
    out->count += part->count;
  }
  qsort(out->node, out->count, sizeof *out->node, compare_nodes);
  uint64_t all = graph_elements(result_of(chaining, node_of(chaining, index)));
  for (unsigned whole = 2; whole-- > 0;)
    for (unsigned i = 0; i < out->count; i++) {
      const struct graph_node *node = node_of(chaining, out->node[i]);
      for (uint32_t k = 0; k < node->input_count; k++)
        if ((graph_elements(rewrite_tensor(chaining->rewrite, node->inputs[k])) == all) ==
                (whole == 1) &&
            !add_input(chaining, out, node->inputs[k]))
          return false;
    }
  return out->inputs > 0 && graph_elements(rewrite_tensor(chaining->rewrite, out->input[0])) == all;
}

static void estimate_group(const struct chaining *chaining, struct group *group,
                           struct kernel_estimate *out) {
  struct chain_args args;
  *out = (struct kernel_estimate){0};
  if (write_args(chaining, group, &args) &&
      estimate_kernel(chaining->pass->estimates, "chain", args.list, args.count, out,
                      chaining->pass->diag) != VINCI_OK)
    chaining->rewrite->no_memory = true;
}

/* The groups that write inputs of a kernel which nobody else reads. */
static unsigned writers_of(const struct chaining *chaining, uint32_t index, uint32_t *parts) {
  const struct rewrite *rewrite = chaining->rewrite;
  const struct graph_node *node = node_of(chaining, index);
  uint64_t all = graph_elements(result_of(chaining, node));
  unsigned count = 0;
  for (uint32_t k = 0; k < node->input_count; k++) {
    uint32_t tensor = node->inputs[k], writer = rewrite->writer[tensor];
    if (writer == GRAPH_NONE || chaining->groups[writer].count == 0 ||
        rewrite->reads[tensor] != 1 || graph_elements(rewrite_tensor(rewrite, tensor)) != all)
      continue;
    parts[count++] = writer;
  }
  return count;
}

static void grow(struct chaining *chaining, uint32_t index) {
  struct group *own = &chaining->groups[index], larger;
  uint32_t parts[GRAPH_ARGS_MAX];
  struct kernel_estimate chained;
  unsigned count = writers_of(chaining, index, parts);
  if (count == 0)
    return;
  uint64_t apart = own->ps, alone = own->ps, gap = (uint64_t)chaining->rewrite->soc->launch_gap_ps;
  for (unsigned p = 0; p < count; p++) {
    apart += chaining->groups[parts[p]].ps + gap;
    alone += chaining->groups[parts[p]].apart_ps + gap;
  }
  if (!join(chaining, index, parts, count, &larger))
    return;
  estimate_group(chaining, &larger, &chained);
  if (!pass_pays(chaining->pass, node_of(chaining, index), "a chain", apart, chained.ps,
                 chained.possible))
    return;
  for (unsigned p = 0; p < count; p++)
    chaining->groups[parts[p]].joined = true;
  larger.ps = chained.ps;
  larger.apart_ps = alone;
  *own = larger;
}

/* A kernel that can be a step: one result, all inputs there, no type that a chain does not take. */
static bool is_step(const struct chaining *chaining, const struct graph_node *node) {
  const struct lower_op *op = node->kind == GRAPH_KERNEL ? lower_find(node->op) : NULL;
  if (!op || node->offline || node->output_count != 1 || node->input_count == 0 ||
      node->input_count > 3 || node->stream != 0 ||
      (strcmp(node->op, "cast") != 0 && !chain_takes(op)))
    return false;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (node->inputs[i] == GRAPH_NONE ||
        rewrite_tensor(chaining->rewrite, node->inputs[i])->dtype == DTYPE_INT64)
      return false;
  return result_of(chaining, node)->dtype != DTYPE_INT64;
}

static void start_group(struct chaining *chaining, uint32_t index) {
  const struct graph_node *node = node_of(chaining, index);
  struct kernel_estimate alone;
  if (estimate_kernel(chaining->pass->estimates, node->op, node->args, node->arg_count, &alone,
                      chaining->pass->diag) != VINCI_OK)
    chaining->rewrite->no_memory = true;
  else if (alone.possible)
    chaining->groups[index] =
        (struct group){.node = {index}, .count = 1, .ps = alone.ps, .apart_ps = alone.ps};
}

static void emit_group(struct chaining *chaining, uint32_t index) {
  struct group *group = &chaining->groups[index];
  struct graph_node *node = node_of(chaining, index);
  struct chain_args args;
  char text[STEPS_BYTES + INPUTS_MAX * 300];
  size_t used = 0;
  if (!write_args(chaining, group, &args))
    return;
  for (size_t i = 0; i < args.count; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", args.list[i]);
  for (unsigned i = 0; i < group->count; i++)
    if (group->node[i] != index)
      rewrite_take_away(chaining->rewrite, node_of(chaining, group->node[i]));
  rewrite_become(chaining->rewrite, node, "chain", group->input, group->inputs, text);
  rewrite_weighed(chaining->rewrite, group->apart_ps, group->ps);
  rewrite_done(chaining->rewrite, node, NULL);
}

void pass_chain(struct pass_context *pass) {
  struct chaining chaining = {.pass = pass, .rewrite = &pass->rewrite};
  uint32_t count = pass->rewrite.node_count;
  chaining.groups = calloc((size_t)count + 1, sizeof *chaining.groups);
  if (!chaining.groups)
    pass->rewrite.no_memory = true;
  for (uint32_t i = 0; i < count && !pass->rewrite.no_memory; i++) {
    if (!is_step(&chaining, node_of(&chaining, i)))
      continue;
    start_group(&chaining, i);
    if (chaining.groups[i].count > 0)
      grow(&chaining, i);
  }
  for (uint32_t i = 0; i < count && !pass->rewrite.no_memory; i++)
    if (chaining.groups[i].count > 1 && !chaining.groups[i].joined)
      emit_group(&chaining, i);
  free(chaining.groups);
}
