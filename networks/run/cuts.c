/* SPDX-License-Identifier: Apache-2.0 */
/* Chains, their simulation in parts, and what is chosen (cuts.h). */
#include "networks/run/cuts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/decimal.h"
#include "core/base/digest.h"
#include "networks/passes/split_group.h"

#define MIB (UINT64_C(1) << 20)

/* Members of a cut. */
struct chain {
  struct split_group group; /* that gains most by estimate, or the longest */
  struct split_group wider; /* from the same node on, with more members; count 0: none */
  bool took_wider;
  uint64_t digest; /* of both: equal chains are simulated once */
};

struct search {
  const struct vinci_soc *soc;
  const struct compile_options *options;
  const struct net_options *run;
  struct estimates *estimates;
  struct splitting *splitting; /* of all kernels of the network */
  struct cuts *out;
  struct chain *chains; /* by cut */
  struct vinci_diag *diag;
};

static enum vinci_status no_memory(struct vinci_diag *diag) {
  return diag_error(diag, VINCI_E_NOMEM, "out of memory for the cuts of a network");
}

/* ---- a chain alone -------------------------------------------------------------------------- */

/* The tensors of a chain and its kernels as a graph of its own: what others write is its input,
 * what the last kernel writes its result. */
static bool take_out(const struct search *search, const struct split_group *group,
                     struct graph *out) {
  const struct graph *from = search->splitting->rewrite->graph;
  uint32_t number[SPLIT_TENSORS_MAX];
  *out = (struct graph){0};
  out->name = arena_strdup(&out->arena, "chain");
  for (unsigned i = 0; i < group->touched_count; i++) {
    const struct graph_tensor *tensor = &from->tensors[group->touched[i].tensor];
    number[i] = graph_add_tensor(out, tensor->name);
    if (number[i] == GRAPH_NONE)
      return false;
    const char *name = out->tensors[number[i]].name;
    struct graph_tensor *copy = &out->tensors[number[i]];
    *copy = *tensor;
    copy->name = name;
    copy->placed = false;
    copy->memory = GRAPH_NONE;
    copy->skip = 0;
    copy->io = group->touched[i].inner   ? GRAPH_LOCAL
               : group->touched[i].split ? GRAPH_IN
                                         : GRAPH_WEIGHT;
    for (unsigned k = 0; group->touched[i].inner && k < i; k++)
      if (group->touched[k].tensor == tensor->memory)
        copy->memory = number[k];
  }
  for (unsigned i = 0; i < group->count; i++) {
    struct graph_node node = from->nodes[group->node[i]];
    uint32_t inputs[GRAPH_ARGS_MAX], output = 0;
    for (uint32_t k = 0; k < node.input_count; k++)
      for (unsigned t = 0; t < group->touched_count; t++)
        if (group->touched[t].tensor == node.inputs[k])
          inputs[k] = number[t];
    for (unsigned t = 0; t < group->touched_count; t++)
      if (group->touched[t].tensor == node.outputs[0])
        output = number[t];
    if (i + 1 == group->count)
      out->tensors[output].io = GRAPH_OUT;
    node.inputs = inputs;
    node.outputs = &output;
    node.stream = 0;
    if (graph_add_node(out, &node) == GRAPH_NONE)
      return false;
  }
  return out->name != NULL;
}

/* Runs a chain in parts into the next trial of its cut; *good: all kernels ran. */
static enum vinci_status run_trial(const struct search *search, struct split_group *group,
                                   struct cut *cut, uint64_t parts, bool *good) {
  struct split_choice one = {cut->first, cut->last, parts};
  struct split_choices choices = {&one, 1};
  struct graph chain;
  struct net_result result = {0};
  struct net_options run = *search->run;
  uint64_t rows = parts > 1 ? split_rows(group, parts) : group->all;
  struct cut_trial trial = {
      .parts = parts, .rows = rows, .estimate_ps = split_ps(search->splitting, group, rows)};
  run.progress = NULL; /* that of the search counts chains */
  run.estimates = search->estimates;
  enum vinci_status status = take_out(search, group, &chain) ? VINCI_OK : no_memory(search->diag);
  if (status == VINCI_OK)
    status = cuts_apply(&chain, search->soc, search->estimates, &choices, search->diag);
  if (status == VINCI_OK)
    status = net_run(&chain, search->soc, &run, &result, search->diag);
  *good = status == VINCI_OK && result.count[NET_REFUSED] == 0;
  if (*good) {
    cut_sum_up(&chain, &result, &trial.figures);
    cut->trials[cut->trial_count++] = trial;
  }
  arena_free(&result.arena);
  graph_free(&chain);
  return status;
}

static bool is_tried(const struct split_group *group, const struct cut *cut, uint64_t parts) {
  for (unsigned i = 1; i < cut->trial_count; i++)
    if (cut->trials[i].rows == split_rows(group, parts))
      return true;
  return false;
}

/* *better: faster than all before. */
static enum vinci_status try_parts(const struct search *search, struct split_group *group,
                                   struct cut *cut, uint64_t parts, bool *better) {
  bool good;
  *better = false;
  if (parts < 2 || parts > SPLIT_PARTS_MAX || cut->trial_count == CUT_TRIALS_MAX ||
      split_rows(group, parts) >= group->all || is_tried(group, cut, parts))
    return VINCI_OK;
  /* Rows of a part are whole: fewer parts may hold all of them. */
  parts = ceil_div(group->all, split_rows(group, parts));
  enum vinci_status status = run_trial(search, group, cut, parts, &good);
  if (status != VINCI_OK || !good)
    return status;
  unsigned last = cut->trial_count - 1;
  *better = cut->trials[last].figures.ps < cut->trials[cut->best].figures.ps;
  cut->best = *better ? last : cut->best;
  return VINCI_OK;
}

/* From the largest parts that fit on: twice as many while that helps, else half; then between. */
static enum vinci_status climb(const struct search *search, struct split_group *group,
                               struct cut *cut, uint64_t fit) {
  bool better, up = false;
  enum vinci_status status = try_parts(search, group, cut, fit, &better);
  for (uint64_t parts = 2 * fit; status == VINCI_OK && parts <= SPLIT_PARTS_MAX; parts *= 2) {
    status = try_parts(search, group, cut, parts, &better);
    up = up || better;
    if (!better && parts > 2 * fit)
      break;
  }
  for (uint64_t parts = fit / 2; status == VINCI_OK && !up && parts > 1; parts /= 2) {
    status = try_parts(search, group, cut, parts, &better);
    if (!better)
      break;
  }
  uint64_t best = cut->trials[cut->best].parts;
  if (status == VINCI_OK && best > 1)
    status = try_parts(search, group, cut, best * 3 / 2, &better);
  if (status == VINCI_OK && best > 1)
    status = try_parts(search, group, cut, best * 3 / 4, &better);
  return status;
}

/* ---- what is chosen ------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void
give_reason(struct cut *cut, enum cut_verdict verdict, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(cut->reason, sizeof cut->reason, format, args);
  va_end(args);
  cut->verdict = verdict;
}

static struct decimal mib(uint64_t bytes) { return decimal_ratio(bytes, MIB, 1); }

static struct decimal us(uint64_t ps) { return decimal_ratio(ps, 1000000, 1); }

static void judge_trials(struct cut *cut) {
  const struct cut_trial *whole = &cut->trials[0], *best = &cut->trials[cut->best];
  const struct cut_trial *other = best;
  cut->parts = best->parts;
  for (unsigned i = 2; best == whole && i < cut->trial_count; i++)
    if (other == whole || cut->trials[i].figures.ps < other->figures.ps)
      other = &cut->trials[i];
  if (best == whole && cut->trial_count > 1 && other == whole)
    other = &cut->trials[1];
  uint64_t more = other->figures.launches - whole->figures.launches;
  uint64_t launch_ps =
      other->figures.launch_ps - min_u64(other->figures.launch_ps, whole->figures.launch_ps);
  struct decimal less =
      mib(whole->figures.hbm_bytes - min_u64(other->figures.hbm_bytes, whole->figures.hbm_bytes));
  if (best != whole)
    give_reason(cut, CUT_PAYS, "%s MiB less from device memory, for %llu more launches (%s us)",
                less.text, (unsigned long long)more, us(launch_ps).text);
  else
    give_reason(cut, CUT_LOSES,
                "%llu more launches (%s us) cost more than %s MiB less from device memory save",
                (unsigned long long)more, us(launch_ps).text, less.text);
}

static enum vinci_status judge(const struct search *search, struct split_group *group,
                               struct cut *cut) {
  bool better, good;
  split_set_unit(search->splitting, group);
  uint64_t largest = split_largest(search->splitting, group);
  bool fits = split_fits(search->splitting, group, group->all);
  enum vinci_status status = run_trial(search, group, cut, 1, &good);
  if (status != VINCI_OK)
    return status;
  if (!good)
    give_reason(cut, CUT_FAILS, "kernels of the chain cannot run");
  else if (fits) {
    status = try_parts(search, group, cut, 2, &better);
    cut->best = 0;
    give_reason(cut, CUT_FITS, "%s MiB at once are in use, L2 has %s", mib(cut->between_bytes).text,
                mib((uint64_t)search->soc->l2_bytes).text);
  } else if (largest == 0 || largest >= group->all) {
    give_reason(
        cut, CUT_COARSE, "%s MiB at once in the smallest part, L2 holds %s of parts",
        mib(split_bytes_in_use(search->splitting, group, min_u64(group->unit, group->all), true))
            .text,
        mib(cut->held_bytes).text);
  } else {
    status = climb(search, group, cut, ceil_div(group->all, largest));
    judge_trials(cut);
  }
  return status;
}

/* ---- chains --------------------------------------------------------------------------------- */

static void sum_bytes(const struct search *search, struct split_group *group, struct cut *cut) {
  const struct splitting *splitting = search->splitting;
  uint32_t result = split_node(splitting, group->node[group->count - 1])->outputs[0];
  for (unsigned i = 0; i < group->touched_count; i++)
    if (!group->touched[i].inner || group->touched[i].tensor == result)
      cut->closed_bytes += split_part_bytes(splitting, group, &group->touched[i], group->all);
  for (unsigned i = 0; i < group->count; i++) {
    const struct graph_node *node = split_node(splitting, group->node[i]);
    if (node->kind == GRAPH_VIEW)
      continue;
    cut->kernels++;
    for (uint32_t k = 0; k < node->input_count; k++)
      cut->whole_bytes +=
          split_part_bytes(splitting, group, split_find(group, node->inputs[k]), group->all);
    cut->whole_bytes +=
        split_part_bytes(splitting, group, split_find(group, node->outputs[0]), group->all);
  }
}

/* Operators, arguments and which tensors are the same. */
static uint64_t digest_of(const struct search *search, const struct split_group *group) {
  uint64_t digest = DIGEST_SEED;
  for (unsigned i = 0; i < group->count; i++) {
    const struct graph_node *node = split_node(search->splitting, group->node[i]);
    digest = digest_string(digest, node->kind == GRAPH_VIEW ? "view" : node->op);
    for (uint32_t k = 0; k < node->arg_count; k++)
      digest = digest_string(digest, node->args[k]);
    for (uint32_t k = 0; k <= node->input_count; k++) {
      uint32_t tensor = k < node->input_count ? node->inputs[k] : node->outputs[0], at = 0;
      while (group->touched[at].tensor != tensor)
        at++;
      digest = digest_bytes(digest, &at, sizeof at);
    }
  }
  return digest;
}

static struct cut describe(const struct search *search, struct split_group *group) {
  const struct splitting *splitting = search->splitting;
  struct arena *arena = &search->out->arena;
  const struct graph_node *first = split_node(splitting, group->node[0]);
  const struct graph_node *last = split_node(splitting, group->node[group->count - 1]);
  struct cut cut = {.first = arena_strdup(arena, first->name),
                    .last = arena_strdup(arena, last->name),
                    .axis = rows_axis(first),
                    .rows = group->all,
                    .between_bytes = split_bytes_in_use(splitting, group, group->all, false),
                    .held_bytes = split_held_bytes(search->soc),
                    .parts = 1};
  sum_bytes(search, group, &cut);
  splitting->rewrite->no_memory |= !cut.first || !cut.last;
  return cut;
}

/* wider: with more members, which may save more than the estimate says; NULL: none. */
static void add_chain(struct search *search, struct split_group *group, struct split_group *wider) {
  struct chain *chain = &search->chains[search->out->count++];
  const struct split_group *members = wider ? wider : group;
  *chain = (struct chain){.group = *group, .digest = digest_of(search, group)};
  if (wider) {
    uint64_t more = digest_of(search, wider);
    chain->wider = *wider;
    chain->digest = digest_bytes(chain->digest, &more, sizeof more);
  }
  for (unsigned i = 0; i < members->count; i++)
    search->splitting->used[members->node[i]] = true;
}

/* First those that pay by estimate, as pass split finds them; then what else could be cut. */
static void find_chains(struct search *search) {
  struct rewrite *rewrite = search->splitting->rewrite;
  struct split_group best, longest;
  for (unsigned round = 0; round < 2; round++)
    for (uint32_t i = 0; i < rewrite->node_count && !rewrite->no_memory; i++) {
      bool pays = split_from(search->splitting, i, &best, &longest) > 0;
      if (pays)
        add_chain(search, &best, longest.count > best.count ? &longest : NULL);
      else if (round == 1 && longest.count > 0)
        add_chain(search, &longest, NULL);
    }
}

static int by_first_node(const void *a, const void *b) {
  const struct chain *one = a, *other = b;
  return one->group.node[0] < other->group.node[0] ? -1 : 1;
}

/* Takes what an equal chain before has found; its names are those of the same members. */
static bool take_equal(struct search *search, size_t index) {
  struct cut *cut = &search->out->items[index];
  struct chain *chain = &search->chains[index];
  for (size_t i = 0; i < index; i++) {
    if (search->chains[i].digest != chain->digest)
      continue;
    struct cut own = describe(search, search->chains[i].took_wider ? &chain->wider : &chain->group);
    chain->took_wider = search->chains[i].took_wider;
    *cut = search->out->items[i];
    cut->first = own.first;
    cut->last = own.last;
    cut->again = true;
    return true;
  }
  return false;
}

static uint64_t saved_ps(const struct cut *cut) {
  return cut->trial_count > 0 ? cut->trials[0].figures.ps - cut->trials[cut->best].figures.ps : 0;
}

/* A chain by estimate, and the wider one around; that which saves more is taken. */
static enum vinci_status judge_chain(struct search *search, size_t index) {
  struct chain *chain = &search->chains[index];
  struct cut *cut = &search->out->items[index];
  *cut = describe(search, &chain->group);
  enum vinci_status status = judge(search, &chain->group, cut);
  if (status != VINCI_OK || chain->wider.count == 0)
    return status;
  struct cut wider = describe(search, &chain->wider);
  status = judge(search, &chain->wider, &wider);
  chain->took_wider = status == VINCI_OK && saved_ps(&wider) > saved_ps(cut);
  if (chain->took_wider)
    *cut = wider;
  return status;
}

static enum vinci_status judge_chains(struct search *search) {
  struct cuts *out = search->out;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < out->count; i++) {
    if (search->run->progress &&
        !search->run->progress(search->run->progress_context, i, out->count))
      return diag_error(search->diag, VINCI_E_LIMIT, "interrupted: %zu of %zu chains are done", i,
                        out->count);
    if (!take_equal(search, i))
      status = judge_chain(search, i);
  }
  return status;
}

static enum vinci_status search_kernels(struct search *search, struct graph *kernels) {
  struct pass_report report = {0};
  struct pass_context pass = {.options = search->options,
                              .estimates = search->estimates,
                              .report = &report,
                              .diag = search->diag};
  struct splitting splitting;
  struct arena *arena = &search->out->arena;
  enum vinci_status status = VINCI_OK;
  search->out->items = ARENA_ARRAY(arena, struct cut, kernels->node_count + 1);
  search->chains = ARENA_ARRAY(arena, struct chain, kernels->node_count + 1);
  if (!search->out->items || !search->chains)
    return no_memory(search->diag);
  if (rewrite_start(&pass.rewrite, kernels, search->soc, NULL, PASS_SPLIT)) {
    search->splitting = &splitting;
    if (splitting_start(&splitting, &pass)) {
      find_chains(search);
      qsort(search->chains, search->out->count, sizeof *search->chains, by_first_node);
    }
    if (!pass.rewrite.no_memory)
      status = judge_chains(search);
    splitting_free(&splitting);
  }
  bool good = rewrite_finish(&pass.rewrite);
  return status == VINCI_OK && !good ? no_memory(search->diag) : status;
}

enum vinci_status cuts_search(const struct graph *network, const struct vinci_soc *soc,
                              const struct compile_options *options, const struct net_options *run,
                              struct cuts *out, struct vinci_diag *diag) {
  struct compile_options own = *options;
  struct compiled kernels;
  struct estimates spare;
  struct search search = {.soc = soc, .options = &own, .run = run, .out = out, .diag = diag};
  *out = (struct cuts){0};
  search.estimates = cuts_estimates(options, &spare, soc);
  own.estimates = search.estimates;
  own.splits = NULL;
  own.report = own.record = false;
  own.memory_limit = 0; /* as the network is when pass split begins */
  own.off[PASS_IN_PLACE] = own.off[PASS_RECOMPUTE] = own.off[PASS_SWAP] = true;
  enum vinci_status status = cuts_compile(network, soc, &own, CUT_RUN_WHOLE, NULL, &kernels, diag);
  if (status == VINCI_OK)
    status = search_kernels(&search, &kernels.graph);
  compiled_free(&kernels);
  estimates_free(&spare);
  return status;
}

void cuts_free(struct cuts *cuts) { arena_free(&cuts->arena); }
