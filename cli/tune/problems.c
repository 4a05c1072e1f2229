/* SPDX-License-Identifier: Apache-2.0 */
/* What `vinci tune` tunes: an operator, the rows of a list, or the kernels of a network. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/net/net.h"
#include "cli/support/operator.h"
#include "cli/tune/cmd_tune.h"
#include "core/base/diag.h"
#include "lower/calls/calls.h"

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory for the operators to tune");
}

static bool is_equal(const struct tune_problem *problem, const char *op, const char *const *args,
                     size_t count) {
  if (strcmp(problem->op, op) != 0 || problem->arg_count != count)
    return false;
  for (size_t i = 0; i < count; i++)
    if (strcmp(problem->args[i], args[i]) != 0)
      return false;
  return true;
}

static enum vinci_status add_problem(struct tune_problems *problems, const char *op,
                                     const char *const *args, size_t count, size_t times,
                                     struct vinci_diag *diag) {
  for (size_t i = 0; i < problems->count; i++)
    if (is_equal(&problems->item[i], op, args, count)) {
      problems->item[i].times += times;
      return VINCI_OK;
    }
  if (problems->count == problems->room) {
    size_t room = problems->room ? 2 * problems->room : 16;
    struct tune_problem *larger = realloc(problems->item, room * sizeof *larger);
    if (!larger)
      return no_memory(diag);
    problems->item = larger;
    problems->room = room;
  }
  const char **words = ARENA_ARRAY(&problems->arena, const char *, count + 1);
  bool kept = words != NULL;
  for (size_t i = 0; kept && i < count; i++)
    kept = (words[i] = arena_strdup(&problems->arena, args[i])) != NULL;
  const char *name = kept ? arena_strdup(&problems->arena, op) : NULL;
  if (!name)
    return no_memory(diag);
  problems->item[problems->count++] =
      (struct tune_problem){.op = name, .args = words, .arg_count = count, .times = times};
  return VINCI_OK;
}

static enum vinci_status read_list(struct tune_problems *problems, const char *path,
                                   const vinci_soc *soc, struct vinci_diag *diag) {
  struct call_list list;
  struct call_request request;
  enum vinci_status status = calls_read(path, &list, diag);
  if (status != VINCI_OK)
    return status;
  for (size_t i = 0; status == VINCI_OK && i < list.count; i++) {
    if (calls_resolve(&list, &list.rows[i], soc, &problems->arena, &request))
      status = add_problem(problems, request.op->name, request.args, request.arg_count,
                           list.rows[i].weight, diag);
    else
      problems->left_out++;
  }
  arena_free(&list.arena);
  return status;
}

static enum vinci_status read_network(struct tune_problems *problems,
                                      const struct tune_settings *settings, const vinci_soc *soc,
                                      const char *path, struct vinci_diag *diag) {
  struct graph graph = {0};
  struct compiled compiled = {0};
  struct estimates estimates = {0};
  estimates_start(&estimates, soc);
  problems->network = true;
  struct net_run_settings run = {.quiet = true, .estimates = &estimates};
  enum vinci_status status = net_load(path, &settings->model, &graph, diag);
  bool layers = status == VINCI_OK && graph_has_layers(&graph);
  if (layers)
    status = net_compile_layers(&run, soc, &graph, &compiled, diag);
  const struct graph *kernels = layers ? &compiled.graph : &graph;
  for (uint32_t i = 0; status == VINCI_OK && i < kernels->node_count; i++) {
    const struct graph_node *node = &kernels->nodes[i];
    if (node->kind == GRAPH_KERNEL && !node->offline)
      status = add_problem(problems, node->op, node->args, node->arg_count, 1, diag);
  }
  estimates_free(&estimates);
  compiled_free(&compiled);
  graph_free(&graph);
  return status;
}

enum vinci_status tune_problems_read(struct tune_problems *problems,
                                     const struct tune_settings *settings, const vinci_soc *soc,
                                     const struct text_list *words, struct vinci_diag *diag) {
  if (settings->ops && words->count > 0)
    return diag_error(diag, VINCI_E_USAGE, "--ops goes without an operator or network");
  enum vinci_status status;
  if (settings->ops)
    status = read_list(problems, settings->ops, soc, diag);
  else if (words->count == 1 && !operator_exists(words->items[0]) && strpbrk(words->items[0], "./"))
    status = read_network(problems, settings, soc, words->items[0], diag);
  else
    status = add_problem(problems, words->items[0], words->items + 1, words->count - 1, 1, diag);
  if (status == VINCI_OK && problems->count == 0)
    status = diag_error(diag, VINCI_E_INPUT, "no operator to tune: %zu rows could not be lowered",
                        problems->left_out);
  return status;
}

void tune_problems_free(struct tune_problems *problems) {
  arena_free(&problems->arena);
  free(problems->item);
}
