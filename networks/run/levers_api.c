/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of levers of networks. */
#include <stdlib.h>

#include "networks/run/api.h"
#include "networks/run/levers.h"

struct asking {
  struct graph network;
  struct estimates estimates;
  struct compile_options compile;
  struct net_options run;
  struct proven_list levers;
};

/* The run as it is. */
static enum vinci_status run_as_is(struct asking *asking, const vinci_soc *soc, uint64_t *end_ps,
                                   struct vinci_diag *diag) {
  struct compiled compiled = {0};
  struct net_result result = {0};
  bool layers = graph_has_layers(&asking->network);
  enum vinci_status status = VINCI_OK;
  if (layers)
    status = net_compile(&asking->network, soc, &asking->compile, &compiled, diag);
  if (status == VINCI_OK)
    status = net_run(layers ? &compiled.graph : &asking->network, soc, &asking->run, &result, diag);
  if (status == VINCI_OK && result.count[NET_REFUSED] > 0)
    status = diag_error(diag, VINCI_E_INPUT, "%zu nodes could not be lowered",
                        result.count[NET_REFUSED]);
  *end_ps = result.queue.end_ps;
  arena_free(&result.arena);
  compiled_free(&compiled);
  return status;
}

static enum vinci_status ask(struct asking *asking, const vinci_soc *soc, struct vinci_diag *diag) {
  struct net_levers_of of = {
      .network = &asking->network, .soc = soc, .compile = &asking->compile, .run = &asking->run};
  enum vinci_status status = run_as_is(asking, soc, &of.end_ps, diag);
  return status == VINCI_OK ? net_levers_find(&of, &asking->levers, diag) : status;
}

enum vinci_status vinci_net_levers(const vinci_soc *soc, const char *name, const char *text,
                                   size_t length, const struct vinci_net_options *options,
                                   bool (*visit)(void *context, const struct vinci_proven *lever),
                                   void *context, struct vinci_diag *diag) {
  struct asking *asking = calloc(1, sizeof *asking);
  if (!asking)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  estimates_start(&asking->estimates, soc);
  enum vinci_status status = net_api_choose(options, &asking->run, diag);
  asking->run.estimates = &asking->estimates;
  if (status == VINCI_OK)
    status = net_api_read(name, text, length, options, &asking->network, diag);
  if (status == VINCI_OK)
    status = net_api_check(options, &asking->network, diag);
  if (status == VINCI_OK)
    status = net_api_passes(options, &asking->estimates, &asking->compile, diag);
  if (status == VINCI_OK)
    status = ask(asking, soc, diag);
  if (status == VINCI_OK)
    proven_visit(&asking->levers, visit, context);
  if (status == VINCI_OK && asking->levers.ended)
    status = diag_error(diag, VINCI_E_LIMIT, "ended before all levers were measured");
  estimates_free(&asking->estimates);
  graph_free(&asking->network);
  free(asking);
  return status;
}
