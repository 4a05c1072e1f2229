/* SPDX-License-Identifier: Apache-2.0 */
/* Levers of a network: compiles and runs the network again with one thing changed. */
#include "networks/run/levers.h"

#include <string.h>

#include "networks/run/cuts.h"

struct trying {
  const struct net_levers_of *of;
  struct proven_list *out;
  struct vinci_diag *diag;
  size_t done, all; /* levers */
};

/* One form of the network: what differs from the run whose levers are wanted. */
struct form {
  struct compile_options compile;
  struct net_options run;
  bool cuts;
};

static enum vinci_status find_cuts(const struct graph *network, const struct vinci_soc *soc,
                                   const struct compile_options *options,
                                   const struct net_options *run, struct compiled *out,
                                   struct vinci_diag *diag) {
  struct cuts cuts = {0};
  enum vinci_status status = cuts_search(network, soc, options, run, &cuts, diag);
  if (status == VINCI_OK)
    status = cuts_compile(network, soc, options, CUT_RUN_TUNED, &cuts, out, diag);
  cuts_free(&cuts);
  return status;
}

enum vinci_status net_find_cuts(const struct graph *network, const struct vinci_soc *soc,
                                const struct compile_options *options,
                                const struct net_options *run, struct compiled *out,
                                struct vinci_diag *diag) {
  struct net_options quiet = *run;
  if (options->off[PASS_SPLIT]) {
    (void)diag_error(diag, VINCI_E_USAGE, "cuts are made by pass split, which is off");
    diag_hint(diag, "leave split in --passes");
    return VINCI_E_USAGE;
  }
  quiet.progress = NULL; /* which counts kernels, not chains */
  return find_cuts(network, soc, options, &quiet, out, diag);
}

/* The progress of a run: levers are told, not kernels. */
static bool watch(void *context, size_t done, size_t all) {
  struct trying *trying = context;
  const struct net_options *run = trying->of->run;
  (void)done;
  (void)all;
  trying->out->ended |=
      run->progress && !run->progress(run->progress_context, trying->done, trying->all);
  return !trying->out->ended;
}

static struct form form_of(struct trying *trying) {
  const struct net_levers_of *of = trying->of;
  struct form form = {.compile = *of->compile, .run = *of->run, .cuts = of->cuts};
  form.run.progress = watch;
  form.run.progress_context = trying;
  return form;
}

/* 0: the network does not run so; a limit is told in *refused. */
static enum vinci_status run_form(const struct trying *trying, const struct form *form,
                                  uint64_t *end_ps, struct vinci_diag *refused) {
  const struct net_levers_of *of = trying->of;
  struct compiled compiled = {0};
  struct net_result result = {0};
  enum vinci_status status;
  *end_ps = 0;
  if (form->cuts)
    status = find_cuts(of->network, of->soc, &form->compile, &form->run, &compiled, refused);
  else if (graph_has_layers(of->network))
    status = net_compile(of->network, of->soc, &form->compile, &compiled, refused);
  else
    status = graph_copy(of->network, &compiled.graph) ? VINCI_OK : VINCI_E_NOMEM;
  if (status == VINCI_OK)
    status = net_run(&compiled.graph, of->soc, &form->run, &result, refused);
  if (status == VINCI_OK && result.count[NET_REFUSED] == 0)
    *end_ps = result.queue.end_ps;
  arena_free(&result.arena);
  compiled_free(&compiled);
  if (status == VINCI_E_NOMEM || status == VINCI_E_INTERNAL)
    return diag_error(trying->diag, status, "%s", refused->text);
  return status == VINCI_E_LIMIT ? status : VINCI_OK;
}

/* What is not done is kept when that saves; what is done also when that costs. */
static enum vinci_status prove(struct trying *trying, const struct form *form, bool done,
                               struct proven *lever) {
  uint64_t end_ps;
  struct vinci_diag refused = {0};
  if (trying->out->ended)
    return VINCI_OK;
  enum vinci_status status = run_form(trying, form, &end_ps, &refused);
  if (!lever->origin)
    lever->origin = "measured";
  if (status == VINCI_E_LIMIT) {
    proven_limit(trying->out, lever, refused.text);
    return VINCI_OK;
  }
  if (status == VINCI_OK && end_ps > 0 && (done || end_ps < trying->of->end_ps))
    proven_add(trying->out, lever, trying->of->end_ps, end_ps);
  return status;
}

/* ---- passes --------------------------------------------------------------------------------- */

/* "--passes=all", "--passes=-chain,-split" or "--passes=fold,dtype", whichever is shortest. */
static void write_passes(const bool off[PASS_COUNT], char *text) {
  unsigned count = 0;
  for (unsigned i = 0; i < PASS_COUNT; i++)
    count += off[i];
  bool minus = count < PASS_COUNT / 2 + 1;
  size_t used = (size_t)snprintf(text, PROVEN_CHANGE_BYTES, "--passes=");
  if (count == 0 || count == PASS_COUNT) {
    snprintf(text + used, PROVEN_CHANGE_BYTES - used, "%s", count ? "none" : "all");
    return;
  }
  for (unsigned i = 0; i < PASS_COUNT; i++)
    if (off[i] == minus && used < PROVEN_CHANGE_BYTES)
      used += (size_t)snprintf(text + used, PROVEN_CHANGE_BYTES - used, "%s%s%s",
                               text[used - 1] == '=' ? "" : ",", minus ? "-" : "",
                               pass_name((enum pass_id)i));
}

/* Whether a pass changes anything where it is on; a limit is told in *refused. */
static enum vinci_status changes(const struct trying *trying, const struct form *form,
                                 unsigned pass, bool *does, struct vinci_diag *refused) {
  struct compiled compiled = {0};
  struct compile_options options = form->compile;
  options.off[pass] = false;
  enum vinci_status status =
      net_compile(trying->of->network, trying->of->soc, &options, &compiled, refused);
  *does = status == VINCI_OK && (pass == PASS_LAYOUT || compiled.passes[pass].changed > 0);
  compiled_free(&compiled);
  if (status == VINCI_E_NOMEM || status == VINCI_E_INTERNAL)
    return diag_error(trying->diag, status, "%s", refused->text);
  return status == VINCI_E_LIMIT ? status : VINCI_OK;
}

static enum vinci_status prove_pass(struct trying *trying, unsigned pass) {
  struct form form = form_of(trying);
  struct proven lever = {.lever = pass == PASS_SPLIT ? "cuts" : "pass"};
  struct vinci_diag refused = {0};
  bool on = !form.compile.off[pass], does;
  if (pass == PASS_SPLIT && form.cuts) /* which are made by that pass */
    return VINCI_OK;
  enum vinci_status status = changes(trying, &form, pass, &does, &refused);
  form.compile.off[pass] = on;
  snprintf(lever.text, sizeof lever.text, "%s pass %s", on ? "without" : "with",
           pass_name((enum pass_id)pass));
  write_passes(form.compile.off, lever.change);
  if (status == VINCI_E_LIMIT) {
    proven_limit(trying->out, &lever, refused.text);
    return VINCI_OK;
  }
  if (status != VINCI_OK || !does)
    return status;
  if (pass == PASS_DTYPE)
    lever.origin = "measured; the types of the tensors differ, and so do the values";
  return prove(trying, &form, on, &lever);
}

/* All at once, where several are off: what one saves may need another. */
static enum vinci_status prove_all(struct trying *trying) {
  struct form form = form_of(trying);
  struct proven lever = {.lever = "pass", .text = "with all passes", .change = "--passes=all"};
  unsigned off = 0;
  for (unsigned i = 0; i < PASS_COUNT; i++) {
    off += form.compile.off[i];
    form.compile.off[i] = false;
  }
  return off > 1 ? prove(trying, &form, false, &lever) : VINCI_OK;
}

static bool has_op(const struct graph *network, const char *op) {
  for (uint32_t i = 0; i < network->node_count; i++)
    if (network->nodes[i].kind == GRAPH_LAYER && strcmp(network->nodes[i].op, op) == 0)
      return true;
  return false;
}

/* What passes may do besides. */
static enum vinci_status prove_winograd(struct trying *trying) {
  struct form form = form_of(trying);
  bool on = form.compile.winograd;
  struct proven lever = {.lever = "winograd",
                         .text = "with Winograd's method for 3 x 3 convolutions",
                         .origin = "measured; fp16 rounds more",
                         .change = "--winograd"};
  if (form.compile.off[PASS_ALGORITHM] || !has_op(trying->of->network, "Conv"))
    return VINCI_OK;
  if (on)
    lever = (struct proven){.lever = "winograd",
                            .text = "without Winograd's method for 3 x 3 convolutions",
                            .origin = "measured; fp16 rounds less",
                            .change = "without --winograd"};
  form.compile.winograd = !on;
  return prove(trying, &form, on, &lever);
}

static enum vinci_status prove_half_ends(struct trying *trying) {
  struct form form = form_of(trying);
  bool on = form.compile.keep_ends;
  struct proven lever = {.lever = "casts",
                         .text = "with inputs and results of the shorter type, without casts",
                         .origin = "measured; not counted what makes the inputs so",
                         .change = "--half-ends"};
  if (form.compile.off[PASS_DTYPE])
    return VINCI_OK;
  if (on)
    lever = (struct proven){.lever = "casts",
                            .text = "with inputs and results of the types of the model, and casts",
                            .change = "without --half-ends"};
  form.compile.keep_ends = !on;
  return prove(trying, &form, on, &lever);
}

/* ---- cuts and the host ---------------------------------------------------------------------- */

static enum vinci_status prove_cuts(struct trying *trying) {
  struct form form = form_of(trying);
  struct proven lever = {.lever = "cuts",
                         .text = "with chains of kernels in the parts that simulation finds best",
                         .change = "--cuts"};
  bool on = form.cuts;
  if (on)
    lever = (struct proven){.lever = "cuts",
                            .text = "with chains of kernels as they are without a search",
                            .change = "without --cuts"};
  form.cuts = !on;
  if (form.cuts && form.compile.off[PASS_SPLIT]) { /* which makes the cuts */
    form.compile.off[PASS_SPLIT] = false;
    write_passes(form.compile.off, lever.change);
    strncat(lever.change, " --cuts", sizeof lever.change - strlen(lever.change) - 1);
  }
  return prove(trying, &form, on, &lever);
}

static enum vinci_status prove_host(struct trying *trying, unsigned index) {
  static const struct {
    enum queue_host host;
    const char *text, *change;
  } hosts[] = {{QUEUE_SINK, "with all nodes on the device before the first starts", "--host=sink"},
               {QUEUE_GRAPH, "with one launch call for each node", "--host=graph"},
               {QUEUE_EAGER, "with a framework that launches node by node", "--host=eager"}};
  struct form form = form_of(trying);
  struct proven lever = {.lever = "host"};
  if (hosts[index].host == form.run.queue.host)
    return VINCI_OK;
  form.run.queue.host = hosts[index].host;
  snprintf(lever.text, sizeof lever.text, "%s", hosts[index].text);
  snprintf(lever.change, sizeof lever.change, "%s", hosts[index].change);
  return prove(trying, &form, false, &lever);
}

/* ---- all ------------------------------------------------------------------------------------ */

enum {
  TRY_ALL = PASS_COUNT,
  TRY_WINOGRAD,
  TRY_HALF_ENDS,
  TRY_CUTS,
  TRY_HOST,
  TRY_COUNT = TRY_HOST + 3
};

static enum vinci_status try_lever(struct trying *trying, unsigned index) {
  if (index < TRY_CUTS && !graph_has_layers(trying->of->network))
    return VINCI_OK;
  if (index < PASS_COUNT)
    return prove_pass(trying, index);
  switch (index) {
  case TRY_ALL:
    return prove_all(trying);
  case TRY_WINOGRAD:
    return prove_winograd(trying);
  case TRY_HALF_ENDS:
    return prove_half_ends(trying);
  case TRY_CUTS:
    return prove_cuts(trying);
  default:
    return prove_host(trying, index - TRY_HOST);
  }
}

enum vinci_status net_levers_find(const struct net_levers_of *of, struct proven_list *out,
                                  struct vinci_diag *diag) {
  struct trying trying = {.of = of, .out = out, .diag = diag, .all = TRY_COUNT};
  enum vinci_status status = VINCI_OK;
  *out = (struct proven_list){0};
  for (; trying.done < TRY_COUNT && status == VINCI_OK && !out->ended; trying.done++)
    status = try_lever(&trying, (unsigned)trying.done);
  if (out->ended && trying.done < TRY_COUNT)
    out->untried = "further passes, cuts and hosts, for the run was ended";
  return status;
}
