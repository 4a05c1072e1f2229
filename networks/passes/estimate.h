/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a graph would take, without a simulation: the estimate of each kernel's chosen tiling, and
 * the gaps of the queue. Passes compare a graph before and after with these figures. The kernels
 * that are left compile with the tilings that were found here, and equal ones are compiled once.
 */
#ifndef VINCI_NETWORKS_PASSES_ESTIMATE_H
#define VINCI_NETWORKS_PASSES_ESTIMATE_H

#include "core/base/lookup.h"
#include "core/chip/soc.h"
#include "core/isa/program.h"
#include "networks/graph/graph.h"

struct kernel_estimate {
  bool possible;    /* else the operator refuses these arguments */
  uint64_t ps;      /* from the launch to the end, without the gap before */
  uint64_t busy_ps; /* of that, the busiest unit of a core: what memory alone cannot shorten */
  uint64_t gm_bytes;
};

/* Kernels that were estimated, by operator and arguments. */
struct estimates {
  const struct vinci_soc *soc;
  struct arena arena;
  struct lookup slots; /* by digest of operator and arguments */
  struct estimate_slot *last;
};

struct graph_estimate {
  uint64_t kernels;      /* launches on AI Cores */
  uint64_t ps;           /* their estimates and the gaps between */
  uint64_t gm_bytes;     /* that they move to and from GM */
  uint64_t peak_bytes;   /* of memory that is alive at once, weights included */
  uint64_t copied_bytes; /* within the device, by copies */
  uint64_t impossible;   /* kernels that their operators refuse */
};

void estimates_start(struct estimates *estimates, const struct vinci_soc *soc);
void estimates_free(struct estimates *estimates);
/* VINCI_E_NOMEM alone is an error. args: "m=4" texts. */
VINCI_MUST_CHECK enum vinci_status estimate_kernel(struct estimates *estimates, const char *op,
                                                   const char *const *args, size_t arg_count,
                                                   struct kernel_estimate *out,
                                                   struct vinci_diag *diag);
/*
 * The kernel as vinci_compile() makes it; the trace belongs to the estimates. VINCI_E_USAGE: the
 * operator refuses the arguments, and the diagnostic says why.
 */
VINCI_MUST_CHECK enum vinci_status estimate_compile(struct estimates *estimates, const char *op,
                                                    const char *const *args, size_t arg_count,
                                                    const struct vinci_trace **out,
                                                    struct vinci_diag *diag);
/* Of all kernels of a graph that are not offline. */
VINCI_MUST_CHECK enum vinci_status estimate_graph(struct estimates *estimates, struct graph *graph,
                                                  struct graph_estimate *out,
                                                  struct vinci_diag *diag);

#endif
