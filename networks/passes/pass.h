/* SPDX-License-Identifier: Apache-2.0 */
/* What the passes share; each rewrites a graph of layers in place. */
#ifndef VINCI_NETWORKS_PASSES_PASS_H
#define VINCI_NETWORKS_PASSES_PASS_H

#include "networks/passes/passes.h"
#include "networks/passes/rewrite.h"

struct pass_context {
  struct rewrite rewrite;
  const struct compile_options *options;
  struct estimates *estimates;
  struct pass_report *report;
  uint64_t memory_limit; /* bytes that may be alive at once; 0: any */
  struct vinci_diag *diag;
};

/* What a kernel with the arguments "a=1 b=2" takes, with the gap before; *possible: the operator
 * takes them. */
uint64_t pass_kernel_ps(struct pass_context *pass, const char *op, const char *args,
                        bool *possible);
/* Whether a change pays: `together` against `apart`. What does not is counted and recorded, as is
 * what no kernel can do; `now` says what the node would have become. */
bool pass_pays(struct pass_context *pass, const struct graph_node *node, const char *now,
               uint64_t apart_ps, uint64_t together_ps, bool possible);

/* The passes. What is short of memory says so in rewrite.no_memory. */
#define PASS(id, name, stage, function, text) void pass_##function(struct pass_context *pass);
#include "networks/passes/passes.def"
#undef PASS_LAYOUTS
#undef PASS

/* The layout of each node by minimum cut, where conversions and elements of padding cost what they
 * are estimated to; into node_count entries. */
VINCI_MUST_CHECK enum vinci_status choose_layouts(const struct graph *graph,
                                                  struct estimates *estimates, enum layout *layouts,
                                                  size_t *changed, struct vinci_diag *diag);

#endif
