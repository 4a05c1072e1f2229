/* SPDX-License-Identifier: Apache-2.0 */
/* The network of a SoC. */
#include "noc/noc.h"

/* By noc.topology. A mesh is given by its sides, the others by their number of terminals. */
static const char *const topologies[] = {"mesh", "ring", "crossbar"};
enum { TOPOLOGY_MESH, TOPOLOGY_COUNT = sizeof topologies / sizeof *topologies };

enum vinci_status noc_config_of_soc(struct noc_config *config, const struct vinci_soc *soc,
                                    const char *data_dir, struct arena *arena,
                                    struct vinci_diag *diag) {
  *config = (struct noc_config){
      .clock_hz = (uint64_t)soc->noc_hz,
      .flit_bytes = (uint32_t)soc->noc_flit_bytes,
      .routing_cycles = (uint32_t)soc->noc_routing_cycles,
      .link_cycles = (uint32_t)soc->noc_link_cycles,
      .credit_cycles = (uint32_t)soc->noc_credit_cycles,
      .vcs = (uint32_t)soc->noc_vcs,
      .vc_flits = (uint32_t)soc->noc_buffer_flits,
  };
  const struct noc_parameter sides[] = {{"columns", (uint32_t)soc->noc_columns},
                                        {"rows", (uint32_t)soc->noc_rows}};
  const struct noc_parameter number[] = {
      {"terminals", (uint32_t)(soc->noc_columns * soc->noc_rows)}};
  if (soc->noc_topology < 0 || soc->noc_topology >= TOPOLOGY_COUNT)
    return diag_error(diag, VINCI_E_USAGE, "noc.topology: 0 mesh, 1 ring, 2 crossbar");
  bool is_mesh = soc->noc_topology == TOPOLOGY_MESH;
  return noc_graph_load(data_dir, topologies[soc->noc_topology], is_mesh ? sides : number,
                        is_mesh ? 2 : 1, arena, &config->graph, diag);
}
