/* SPDX-License-Identifier: Apache-2.0 */
/* Passes in their order, then the lowering to kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/chip/param.h"
#include "networks/passes/pass.h"

enum { PASS_ARGS_BYTES = 1024, LIMIT_TRIES = 6 };

enum pass_stage { STAGE_LAYERS, STAGE_LAYOUTS, STAGE_KERNELS, STAGE_LIMIT };

static const struct {
  const char *name;
  enum pass_stage stage;
  void (*run)(struct pass_context *pass); /* NULL: STAGE_LAYOUTS */
} rows[] = {
#define PASS(id, name, stage, function, text) {name, STAGE_##stage, pass_##function},
#define PASS_LAYOUTS(id, name, text) {name, STAGE_LAYOUTS, NULL},
#include "networks/passes/passes.def"
#undef PASS_LAYOUTS
#undef PASS
};

const char *pass_name(enum pass_id pass) { return rows[pass].name; }

/* ---- which passes run ---------------------------------------------------------------------- */

static const char *name_at(const void *context, size_t index) {
  (void)context;
  return rows[index].name;
}

static enum vinci_status choose_word(const char *word, struct compile_options *options, bool first,
                                     struct vinci_diag *diag) {
  bool minus = *word == '-';
  word += minus;
  if (strcmp(word, "all") == 0 || strcmp(word, "none") == 0) {
    for (unsigned i = 0; i < PASS_COUNT; i++)
      options->off[i] = (strcmp(word, "none") == 0) != minus;
    return VINCI_OK;
  }
  for (unsigned i = 0; first && !minus && i < PASS_COUNT; i++)
    options->off[i] = true;
  for (unsigned i = 0; i < PASS_COUNT; i++)
    if (strcmp(word, rows[i].name) == 0) {
      options->off[i] = minus;
      return VINCI_OK;
    }
  diag_error(diag, VINCI_E_USAGE, "unknown pass '%s'", word);
  const char *near = diag_nearest(word, PASS_COUNT, name_at, NULL);
  if (near)
    diag_hint(diag, "did you mean '%s'?", near);
  else
    diag_hint(diag, "all, none, names with commas between, or -name for all but one");
  return VINCI_E_USAGE;
}

enum vinci_status passes_choose(const char *list, struct compile_options *options,
                                struct vinci_diag *diag) {
  char text[256];
  size_t length = strlen(list);
  enum vinci_status status = VINCI_OK;
  bool first = true;
  if (length == 0 || length >= sizeof text)
    return diag_error(diag, VINCI_E_USAGE, "a list of passes of 1 to %zu bytes is needed",
                      sizeof text - 1);
  memcpy(text, list, length + 1);
  char *rest = text;
  for (char *word; status == VINCI_OK && (word = strtok_r(rest, ",", &rest)); first = false)
    status = choose_word(word, options, first, diag);
  return status;
}

enum vinci_status passes_limit(const char *text, struct compile_options *options,
                               struct vinci_diag *diag) {
  int64_t bytes = 0;
  enum vinci_status status = soc_parse_value(text, SOC_KIND_BYTES, &bytes, diag);
  if (status == VINCI_OK && bytes < 1)
    status = diag_error(diag, VINCI_E_USAGE, "a limit of memory is at least 1 byte, not %s", text);
  options->memory_limit = (uint64_t)bytes;
  return status;
}

bool graph_has_layers(const struct graph *graph) {
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (graph->nodes[i].kind == GRAPH_LAYER && !graph->nodes[i].offline &&
        *graph->nodes[i].reason == '\0')
      return true;
  return false;
}

uint64_t pass_kernel_ps(struct pass_context *pass, const char *op, const char *args,
                        bool *possible) {
  char text[PASS_ARGS_BYTES];
  const char *list[GRAPH_ARGS_MAX];
  struct kernel_estimate kernel = {0};
  int length = snprintf(text, sizeof text, "%s", args);
  *possible = length >= 0 && (size_t)length < sizeof text;
  if (*possible && estimate_kernel(pass->estimates, op, list, graph_split_args(text, list), &kernel,
                                   pass->diag) != VINCI_OK)
    pass->rewrite.no_memory = true;
  *possible = *possible && kernel.possible;
  return kernel.ps + (uint64_t)pass->rewrite.soc->launch_gap_ps;
}

bool pass_pays(struct pass_context *pass, const struct graph_node *node, const char *now,
               uint64_t apart_ps, uint64_t together_ps, bool possible) {
  if (possible && together_ps < apart_ps) {
    rewrite_weighed(&pass->rewrite, apart_ps, together_ps);
    return true;
  }
  pass->report->refused += possible;
  rewrite_refused(&pass->rewrite, node, now, apart_ps, possible ? together_ps : 0);
  return false;
}

/* ---- the walk ------------------------------------------------------------------------------ */

struct compiling {
  const struct vinci_soc *soc;
  const struct compile_options *options;
  struct estimates *estimates;
  struct graph *graph;   /* that passes rewrite: layers, then kernels */
  bool blocks;           /* the pass layout has run */
  uint64_t memory_limit; /* of passes recompute and swap; 0: none */
  struct compiled *out;
  struct vinci_diag *diag;
};

/* Layers that compute in blocks of channels where they need not. */
static bool record_layouts(struct compiling *compiling, const enum layout *layouts) {
  const struct graph *layers = &compiling->out->layers;
  bool good = true;
  for (uint32_t i = 0; compiling->options->record && i < layers->node_count && good; i++) {
    const struct graph_node *node = &layers->nodes[i];
    struct history_event event = {.kind = HISTORY_CHANGED,
                                  .pass = PASS_LAYOUT,
                                  .node = {node->name, node->op, node->origin},
                                  .now = "NC1HWC0"};
    if (node->kind == GRAPH_LAYER && layouts[i] != layer_default_layout(layers, node))
      good = history_add(&compiling->out->history, &event);
  }
  return good;
}

/* Kernels of the layers as they are now. */
static enum vinci_status lower_now(struct compiling *compiling, struct graph *out,
                                   struct layers_counts *counts, size_t *changed) {
  const struct graph *layers = &compiling->out->layers;
  enum layout *layouts = calloc((size_t)layers->node_count + 1, sizeof *layouts);
  enum vinci_status status = VINCI_OK;
  *out = (struct graph){0};
  if (!layouts)
    return diag_error(compiling->diag, VINCI_E_NOMEM, "out of memory for the network");
  if (compiling->blocks)
    status = choose_layouts(layers, compiling->estimates, layouts, changed, compiling->diag);
  if (status == VINCI_OK)
    status = layers_lower(layers, compiling->soc, compiling->blocks ? layouts : NULL, out, counts,
                          compiling->diag);
  if (status == VINCI_OK && out == &compiling->out->graph && compiling->blocks &&
      !record_layouts(compiling, layouts))
    status = diag_error(compiling->diag, VINCI_E_NOMEM, "out of memory for the network");
  free(layouts);
  return status;
}

static enum vinci_status measure(struct compiling *compiling, struct graph_estimate *out) {
  struct graph kernels = {0};
  struct layers_counts counts;
  size_t changed;
  bool lowered = compiling->graph == &compiling->out->graph;
  enum vinci_status status = VINCI_OK;
  *out = (struct graph_estimate){0};
  if (!compiling->options->report)
    return VINCI_OK;
  if (!lowered)
    status = lower_now(compiling, &kernels, &counts, &changed);
  if (status == VINCI_OK)
    status = estimate_graph(compiling->estimates, lowered ? compiling->graph : &kernels, out,
                            compiling->diag);
  graph_free(&kernels);
  return status;
}

/* Layers and kernels whose results nobody reads. */
static void drop_unread(struct rewrite *rewrite) {
  for (uint32_t i = rewrite->node_count; i-- > 0;) {
    const struct graph_node *node = &rewrite->graph->nodes[i];
    bool read =
        (node->kind != GRAPH_LAYER && node->kind != GRAPH_KERNEL) || node->output_count == 0;
    for (uint32_t j = 0; j < node->output_count; j++)
      read = read || rewrite->reads[node->outputs[j]] > 0;
    if (!read && !rewrite->gone[i])
      rewrite_take_away(rewrite, node);
  }
}

static enum vinci_status rewrite_with(struct compiling *compiling, enum pass_id id,
                                      struct pass_report *report) {
  struct history *history = compiling->options->record ? &compiling->out->history : NULL;
  struct pass_context pass = {.options = compiling->options,
                              .estimates = compiling->estimates,
                              .report = report,
                              .memory_limit = compiling->memory_limit,
                              .diag = compiling->diag};
  if (rewrite_start(&pass.rewrite, compiling->graph, compiling->soc, history, id)) {
    rows[id].run(&pass);
    drop_unread(&pass.rewrite);
  }
  report->changed = pass.rewrite.changed;
  return rewrite_finish(&pass.rewrite)
             ? VINCI_OK
             : diag_error(compiling->diag, VINCI_E_NOMEM, "out of memory for the passes");
}

static enum vinci_status run_pass(struct compiling *compiling, enum pass_id id) {
  struct pass_report *report = &compiling->out->passes[id];
  report->on = !compiling->options->off[id];
  if (!report->on)
    return VINCI_OK;
  enum vinci_status status = measure(compiling, &report->before);
  if (status == VINCI_OK && rows[id].stage == STAGE_LAYOUTS)
    compiling->blocks = true;
  else if (status == VINCI_OK)
    status = rewrite_with(compiling, id, report);
  return status == VINCI_OK ? measure(compiling, &report->after) : status;
}

/* From here on passes see kernels. */
static enum vinci_status lower(struct compiling *compiling) {
  struct compiled *out = compiling->out;
  enum vinci_status status =
      lower_now(compiling, &out->graph, &out->counts, &out->passes[PASS_LAYOUT].changed);
  compiling->graph = &out->graph;
  return status;
}

void compiled_free(struct compiled *compiled) {
  history_free(&compiled->history);
  graph_free(&compiled->graph);
  graph_free(&compiled->unlimited);
  graph_free(&compiled->layers);
}

static enum vinci_status refuse_limit(const struct compiling *compiling,
                                      const struct graph_plan *plan) {
  const struct compile_options *options = compiling->options;
  diag_error(
      compiling->diag, VINCI_E_INPUT,
      "the limit of memory, %llu bytes, cannot be met: at least %llu bytes are alive at once, "
      "%llu of them weights, inputs and results, and the plan needs %llu",
      (unsigned long long)options->memory_limit, (unsigned long long)plan->live_bytes,
      (unsigned long long)plan->fixed_bytes, (unsigned long long)plan->bytes);
  diag_hint(compiling->diag, "%s",
            options->off[PASS_RECOMPUTE] || options->off[PASS_SWAP]
                ? "a smaller batch, or both passes recompute and swap"
                : "a smaller batch");
  return VINCI_E_INPUT;
}

/* The passes of the limit on a copy of the graph, whose plan goes to *plan. */
static enum vinci_status try_limit(struct compiling *compiling, uint64_t limit,
                                   struct graph_plan *plan) {
  graph_free(compiling->graph);
  compiling->memory_limit = limit;
  if (!graph_copy(&compiling->out->unlimited, compiling->graph))
    return diag_error(compiling->diag, VINCI_E_NOMEM, "out of memory for the network");
  enum vinci_status status = VINCI_OK;
  for (unsigned i = 0; i < PASS_COUNT && status == VINCI_OK; i++)
    if (rows[i].stage == STAGE_LIMIT)
      status = run_pass(compiling, (enum pass_id)i);
  return status == VINCI_OK ? graph_plan(compiling->graph, GRAPH_PLAN_PACK, plan, compiling->diag)
                            : status;
}

/* A plan has gaps: when it needs more than the limit, the passes have to leave less alive. */
static enum vinci_status meet_limit(struct compiling *compiling) {
  uint64_t limit = compiling->options->memory_limit, target = limit;
  struct graph_plan plan = {.bytes = UINT64_MAX};
  enum vinci_status status = VINCI_OK;
  if (limit == 0)
    return VINCI_OK;
  compiling->out->unlimited = *compiling->graph; /* values of tensors may lie there */
  *compiling->graph = (struct graph){0};
  for (unsigned i = 0; i < LIMIT_TRIES && status == VINCI_OK && plan.bytes > limit; i++) {
    status = try_limit(compiling, target, &plan);
    uint64_t above = plan.bytes > limit ? plan.bytes - limit : 0;
    if (plan.live_bytes > limit || above >= target)
      break;
    target -= above;
  }
  if (status == VINCI_OK && plan.bytes > limit && !compiling->options->over_limit)
    status = refuse_limit(compiling, &plan);
  return status;
}

/* Of the network as it was given, without layers that it marks as computed before a run. */
static size_t count_layers(const struct graph *graph) {
  size_t count = 0;
  for (uint32_t i = 0; i < graph->node_count; i++)
    count += graph->nodes[i].kind == GRAPH_LAYER && !graph->nodes[i].offline;
  return count;
}

enum vinci_status net_compile(const struct graph *from, const struct vinci_soc *soc,
                              const struct compile_options *options, struct compiled *out,
                              struct vinci_diag *diag) {
  struct estimates own;
  struct compiling compiling = {.soc = soc,
                                .options = options,
                                .estimates = options->estimates ? options->estimates : &own,
                                .graph = &out->layers,
                                .out = out,
                                .diag = diag};
  enum vinci_status status = VINCI_OK;
  *out = (struct compiled){0};
  estimates_start(&own, soc);
  if (!graph_copy(from, &out->layers))
    status = diag_error(diag, VINCI_E_NOMEM, "out of memory for the network");
  for (unsigned i = 0; i < PASS_COUNT && status == VINCI_OK; i++) {
    if (options->memory_limit > 0 && rows[i].stage == STAGE_LIMIT)
      continue;
    status = run_pass(&compiling, (enum pass_id)i);
    if (status == VINCI_OK && rows[i].stage == STAGE_LAYOUTS)
      status = lower(&compiling);
  }
  if (status == VINCI_OK)
    status = meet_limit(&compiling);
  if (status == VINCI_OK) {
    layers_count_kernels(&out->graph, &out->counts);
    out->counts.of_model = count_layers(from);
    out->graph.model_layers = out->counts.of_model;
    out->graph.inserted_layers = out->counts.inserted;
  }
  estimates_free(&own);
  return status;
}
