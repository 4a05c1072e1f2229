/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules from a repository of tunings. */
#include "cli/support/advice.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/diag.h"

enum { WORDS_MAX = 64 };

static void tell(const char *path, const char *op, const struct vinci_advice *advice) {
  fprintf(stderr, "%s: ", path);
  switch (advice->origin) {
  case VINCI_ADVICE_NONE:
    fprintf(stderr, "no record of %s on this chip; the default schedule is taken\n", op);
    return;
  case VINCI_ADVICE_KEPT:
    fprintf(stderr, "%s was tuned from %" PRIu64 " to %" PRIu64 " cycles: %s\n", op,
            advice->default_cycles, advice->cycles, advice->schedule);
    return;
  case VINCI_ADVICE_STALE:
    fprintf(stderr,
            "the record of %s is of an older model or program, so it was measured again: ", op);
    break;
  case VINCI_ADVICE_NEAR:
    fprintf(stderr, "no record of this problem; that of %s %s was measured here: ", op,
            advice->from);
    break;
  }
  if (advice->is_default)
    fprintf(stderr, "no faster than the default, %" PRIu64 " cycles, which is taken\n",
            advice->default_cycles);
  else
    fprintf(stderr, "%" PRIu64 " cycles, the default %" PRIu64 ": %s is taken\n", advice->cycles,
            advice->default_cycles, advice->schedule);
}

/* The words of a schedule, divided in place. */
static size_t split(char *text, const char **word) {
  size_t count = 0;
  char *rest = NULL;
  for (char *at = strtok_r(text, " ", &rest); at && count < WORDS_MAX;
       at = strtok_r(NULL, " ", &rest))
    word[count++] = at;
  return count;
}

enum vinci_status advise_operator(const char *path, const vinci_soc *soc,
                                  const struct text_list *words,
                                  const struct vinci_evaluate_options *models, struct advised *out,
                                  struct vinci_diag *diag) {
  vinci_tunings *tunings = NULL;
  struct vinci_advice advice = {0};
  const char *word[WORDS_MAX];
  enum vinci_status status = path ? vinci_tunings_open(path, &tunings, diag) : VINCI_OK;
  if (status == VINCI_OK && path)
    status = vinci_tunings_advise(tunings, soc, words->items[0], words->items + 1, words->count - 1,
                                  models, &advice, diag);
  if (status == VINCI_OK && path)
    tell(path, words->items[0], &advice);
  vinci_tunings_free(tunings);
  snprintf(out->text, sizeof out->text, "%s", advice.schedule);
  size_t count = split(out->text, word);
  bool kept = true;
  for (size_t i = 0; i < words->count; i++)
    kept = kept && text_list_add(&out->words, words->items[i]);
  for (size_t i = 0; i < count; i++)
    kept = kept && text_list_add(&out->words, word[i]);
  if (status == VINCI_OK && !kept)
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  return status;
}

/* Arguments of a node with those of its schedule, in the memory of the graph. */
static bool add_schedule(struct graph *graph, struct graph_node *node, const char *schedule) {
  const char *word[WORDS_MAX];
  char *text = arena_strdup(&graph->arena, schedule);
  const char **args = ARENA_ARRAY(&graph->arena, const char *, (size_t)node->arg_count + WORDS_MAX);
  if (!text || !args)
    return false;
  size_t count = split(text, word);
  memcpy(args, node->args, node->arg_count * sizeof *args);
  memcpy(args + node->arg_count, word, count * sizeof *args);
  node->args = args;
  node->arg_count += (uint32_t)count;
  return true;
}

enum vinci_status advise_graph(const char *path, const vinci_soc *soc, struct graph *graph,
                               const struct vinci_evaluate_options *models, bool quiet,
                               struct vinci_diag *diag) {
  vinci_tunings *tunings;
  size_t origins[VINCI_ADVICE_NEAR + 1] = {0}, kernels = 0, tuned = 0;
  enum vinci_status status = vinci_tunings_open(path, &tunings, diag);
  for (uint32_t i = 0; status == VINCI_OK && i < graph->node_count; i++) {
    struct graph_node *node = &graph->nodes[i];
    struct vinci_advice advice;
    struct vinci_diag own = {0};
    if (node->kind != GRAPH_KERNEL || node->offline)
      continue;
    kernels++;
    /* What cannot be lowered is the run's to tell. */
    if (vinci_tunings_advise(tunings, soc, node->op, node->args, node->arg_count, models, &advice,
                             &own) != VINCI_OK)
      continue;
    origins[advice.origin]++;
    tuned += *advice.schedule != '\0';
    if (*advice.schedule && !add_schedule(graph, node, advice.schedule))
      status = diag_error(diag, VINCI_E_NOMEM, "out of memory");
  }
  vinci_tunings_free(tunings);
  if (status == VINCI_OK && !quiet)
    fprintf(stderr,
            "%s: schedules for %zu of %zu kernels: %zu as recorded, %zu of an older model or "
            "program measured again, %zu of other shapes measured here\n",
            path, tuned, kernels, origins[VINCI_ADVICE_KEPT], origins[VINCI_ADVICE_STALE],
            origins[VINCI_ADVICE_NEAR]);
  return status;
}

enum vinci_status advise_args(const char *path, const vinci_soc *soc, const struct text_list *words,
                              const struct vinci_evaluate_options *models, struct advised *out,
                              struct text_list *args, struct vinci_diag *diag) {
  enum vinci_status status = advise_operator(path, soc, words, models, out, diag);
  if (status == VINCI_OK)
    *args = (struct text_list){.items = out->words.items + 1, .count = out->words.count - 1};
  return status;
}
