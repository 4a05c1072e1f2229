/* SPDX-License-Identifier: Apache-2.0 */
/* Levers of a network: compiles and runs the network again with one thing changed. */
#include "networks/run/levers.h"

#include <string.h>

#include "networks/run/cuts.h"

/* One form of the network: what differs from the run whose levers are wanted. */
struct form {
  struct compile_options compile;
  struct net_options run;
  bool cuts;
};

enum vinci_status net_find_cuts(const struct graph *network, const struct vinci_soc *soc,
                                const struct compile_options *options,
                                const struct net_options *run, struct compiled *out,
                                struct vinci_diag *diag) {
  struct cuts cuts = {0};
  struct net_options quiet = *run;
  quiet.progress = NULL; /* which counts kernels, not chains */
  enum vinci_status status = cuts_search(network, soc, options, &quiet, &cuts, diag);
  if (status == VINCI_OK)
    status = cuts_compile(network, soc, options, CUT_RUN_TUNED, &cuts, out, diag);
  cuts_free(&cuts);
  return status;
}

static struct form form_of(const struct net_levers_of *of) {
  return (struct form){.compile = *of->compile, .run = *of->run, .cuts = of->cuts};
}

/* 0: the network does not run so. */
static enum vinci_status run_form(const struct net_levers_of *of, const struct form *form,
                                  uint64_t *end_ps, struct vinci_diag *diag) {
  struct compiled compiled = {0};
  struct net_result result = {0};
  struct vinci_diag refused = {0};
  enum vinci_status status;
  *end_ps = 0;
  if (form->cuts)
    status = net_find_cuts(of->network, of->soc, &form->compile, &form->run, &compiled, &refused);
  else if (graph_has_layers(of->network))
    status = net_compile(of->network, of->soc, &form->compile, &compiled, &refused);
  else
    status = graph_copy(of->network, &compiled.graph) ? VINCI_OK : VINCI_E_NOMEM;
  if (status == VINCI_OK)
    status = net_run(&compiled.graph, of->soc, &form->run, &result, &refused);
  if (status == VINCI_OK && result.count[NET_REFUSED] == 0)
    *end_ps = result.queue.end_ps;
  arena_free(&result.arena);
  compiled_free(&compiled);
  if (status == VINCI_E_LIMIT || status == VINCI_E_NOMEM || status == VINCI_E_INTERNAL)
    return diag_error(diag, status, "%s", refused.text);
  return VINCI_OK;
}

/* What is not done is kept when that saves; what is done also when that costs. */
static enum vinci_status prove(const struct net_levers_of *of, const struct form *form, bool done,
                               struct proven *lever, struct proven_list *out,
                               struct vinci_diag *diag) {
  uint64_t end_ps;
  enum vinci_status status = run_form(of, form, &end_ps, diag);
  if (!lever->origin)
    lever->origin = "measured";
  if (status == VINCI_OK && end_ps > 0 && (done || end_ps < of->end_ps))
    proven_add(out, lever, of->end_ps, end_ps);
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

/* Whether a pass changes anything where it is on. */
static enum vinci_status changes(const struct net_levers_of *of, const struct form *form,
                                 unsigned pass, bool *does, struct vinci_diag *diag) {
  struct compiled compiled = {0};
  struct vinci_diag refused = {0};
  struct compile_options options = form->compile;
  options.off[pass] = false;
  enum vinci_status status = net_compile(of->network, of->soc, &options, &compiled, &refused);
  *does = status == VINCI_OK && (pass == PASS_LAYOUT || compiled.passes[pass].changed > 0);
  compiled_free(&compiled);
  if (status == VINCI_E_NOMEM || status == VINCI_E_INTERNAL)
    return diag_error(diag, status, "%s", refused.text);
  return VINCI_OK;
}

static enum vinci_status prove_pass(const struct net_levers_of *of, unsigned pass,
                                    struct proven_list *out, struct vinci_diag *diag) {
  struct form form = form_of(of);
  struct proven lever = {.lever = pass == PASS_SPLIT ? "cuts" : "pass"};
  bool on = !form.compile.off[pass], does;
  enum vinci_status status = changes(of, &form, pass, &does, diag);
  if (status != VINCI_OK || !does)
    return status;
  form.compile.off[pass] = on;
  snprintf(lever.text, sizeof lever.text, "%s pass %s", on ? "without" : "with",
           pass_name((enum pass_id)pass));
  write_passes(form.compile.off, lever.change);
  if (pass == PASS_DTYPE)
    lever.origin = "measured; the types of the tensors differ, and so do the values";
  return prove(of, &form, on, &lever, out, diag);
}

/* All at once, where several are off: what one saves may need another. */
static enum vinci_status prove_all(const struct net_levers_of *of, struct proven_list *out,
                                   struct vinci_diag *diag) {
  struct form form = form_of(of);
  struct proven lever = {.lever = "pass", .text = "with all passes", .change = "--passes=all"};
  unsigned off = 0;
  for (unsigned i = 0; i < PASS_COUNT; i++) {
    off += form.compile.off[i];
    form.compile.off[i] = false;
  }
  return off > 1 ? prove(of, &form, false, &lever, out, diag) : VINCI_OK;
}

static bool has_op(const struct graph *network, const char *op) {
  for (uint32_t i = 0; i < network->node_count; i++)
    if (network->nodes[i].kind == GRAPH_LAYER && strcmp(network->nodes[i].op, op) == 0)
      return true;
  return false;
}

/* What passes may do besides. */
static enum vinci_status prove_freedoms(const struct net_levers_of *of, struct proven_list *out,
                                        struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  struct form form = form_of(of);
  if (!form.compile.winograd && !form.compile.off[PASS_ALGORITHM] && has_op(of->network, "Conv")) {
    struct proven lever = {.lever = "winograd",
                           .text = "with Winograd's method for 3 x 3 convolutions",
                           .origin = "measured; fp16 rounds more",
                           .change = "--winograd"};
    form.compile.winograd = true;
    status = prove(of, &form, false, &lever, out, diag);
  }
  form = form_of(of);
  if (status == VINCI_OK && !form.compile.keep_ends && !form.compile.off[PASS_DTYPE]) {
    struct proven lever = {.lever = "casts",
                           .text = "with inputs and results of the shorter type, without casts",
                           .origin = "measured; not counted what makes the inputs so",
                           .change = "--half-ends"};
    form.compile.keep_ends = true;
    status = prove(of, &form, false, &lever, out, diag);
  }
  return status;
}

/* ---- cuts and the host ---------------------------------------------------------------------- */

static enum vinci_status prove_cuts(const struct net_levers_of *of, struct proven_list *out,
                                    struct vinci_diag *diag) {
  struct form form = form_of(of);
  struct proven lever = {.lever = "cuts",
                         .text = "with chains of kernels in the parts that simulation finds best",
                         .change = "--cuts"};
  if (of->cuts)
    return VINCI_OK;
  form.cuts = true;
  return prove(of, &form, false, &lever, out, diag);
}

static enum vinci_status prove_host(const struct net_levers_of *of, struct proven_list *out,
                                    struct vinci_diag *diag) {
  static const struct {
    enum queue_host host;
    const char *text, *change;
  } hosts[] = {{QUEUE_SINK, "with all nodes on the device before the first starts", "--host=sink"},
               {QUEUE_GRAPH, "with one launch call for each node", "--host=graph"},
               {QUEUE_EAGER, "with a framework that launches node by node", "--host=eager"}};
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < sizeof hosts / sizeof *hosts; i++) {
    struct form form = form_of(of);
    struct proven lever = {.lever = "host"};
    if (hosts[i].host == of->run->queue.host)
      continue;
    form.run.queue.host = hosts[i].host;
    snprintf(lever.text, sizeof lever.text, "%s", hosts[i].text);
    snprintf(lever.change, sizeof lever.change, "%s", hosts[i].change);
    status = prove(of, &form, false, &lever, out, diag);
  }
  return status;
}

enum vinci_status net_levers_find(const struct net_levers_of *of, struct proven_list *out,
                                  struct vinci_diag *diag) {
  enum vinci_status status = VINCI_OK;
  *out = (struct proven_list){0};
  if (graph_has_layers(of->network)) {
    for (unsigned i = 0; status == VINCI_OK && i < PASS_COUNT; i++)
      status = prove_pass(of, i, out, diag);
    if (status == VINCI_OK)
      status = prove_all(of, out, diag);
    if (status == VINCI_OK)
      status = prove_freedoms(of, out, diag);
  }
  if (status == VINCI_OK)
    status = prove_cuts(of, out, diag);
  if (status == VINCI_OK)
    status = prove_host(of, out, diag);
  return status;
}
