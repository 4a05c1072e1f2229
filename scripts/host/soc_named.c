/* SPDX-License-Identifier: Apache-2.0 */
/* Loads what a hardware description names beside its numbers: memory technology and topology;
 * checks the names of rules. */
#include <stdio.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/chip/energy.h"
#include "core/chip/mem.h"
#include "core/chip/noc_config.h"
#include "core/chip/soc.h"
#include "scripts/host/energy_host.h"
#include "scripts/host/mem_host.h"
#include "scripts/host/soc_files.h"

/* The topology of the SoC with its present numbers, in the SoC's own memory. */
static enum vinci_status load_topology(struct vinci_soc *soc, struct vinci_diag *diag) {
  const uint32_t columns = (uint32_t)soc->noc_columns, rows = (uint32_t)soc->noc_rows;
  const struct noc_parameter parameters[] = {
      {"columns", columns}, {"rows", rows}, {"terminals", columns * rows}};
  struct noc_graph *graph = ARENA_NEW(&soc->arena, struct noc_graph);
  if (!graph)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  enum vinci_status status =
      noc_graph_load(soc->data_dir, soc->choices[SOC_TOPOLOGY].name, parameters,
                     sizeof parameters / sizeof *parameters, &soc->arena, graph, diag);
  if (status == VINCI_OK)
    soc->topology = graph;
  return status;
}

/* The mapping has to be one of the memory. */
static enum vinci_status check_map(const struct vinci_soc *soc, const struct mem_spec *memory,
                                   struct vinci_diag *diag) {
  const char *map = soc->choices[SOC_MEMORY_MAP].name;
  if (mem_map_text(memory, map))
    return VINCI_OK;
  char names[SOC_PATH_MAX] = "";
  for (size_t i = 0, at = 0; i < memory->map_count && at < sizeof names; i++) {
    int length =
        snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", memory->maps[i].name);
    at += length > 0 ? (size_t)length : 0;
  }
  (void)diag_error(diag, VINCI_E_USAGE, "%s: memory '%s' has no mapping '%s'", soc->name,
                   memory->name, map);
  diag_hint(diag, "it has %s", names);
  return VINCI_E_USAGE;
}

static enum vinci_status load_memory(struct vinci_soc *soc, struct vinci_diag *diag) {
  struct mem_spec *memory;
  enum vinci_status status =
      mem_host_load(soc->choices[SOC_MEMORY].name, soc->data_dir, &memory, diag);
  if (status == VINCI_OK)
    status = check_map(soc, memory, diag);
  if (status != VINCI_OK) {
    mem_host_free(memory);
    return status;
  }
  mem_host_free(soc->memory);
  soc->memory = memory;
  return VINCI_OK;
}

static const char policy_names[] =
#define L2_POLICY(name, text) ", " #name
#include "core/chip/l2_policies.def"
#undef L2_POLICY
    ;
enum { POLICY_SEPARATOR = 2 };

/* The policy has to be one of the table; a description that names none has the first. */
static enum vinci_status check_policy(struct vinci_soc *soc, struct vinci_diag *diag) {
  char *name = soc->choices[SOC_L2_POLICY].name;
  if (*name == '\0')
    strcpy(name, soc_l2_policy(0));
  for (size_t i = 0; soc_l2_policy(i); i++)
    if (strcmp(soc_l2_policy(i), name) == 0)
      return VINCI_OK;
  (void)diag_error(diag, VINCI_E_USAGE, "%s: unknown policy of L2 '%s'", soc->name, name);
  diag_hint(diag, "there are %s", policy_names + POLICY_SEPARATOR);
  return VINCI_E_USAGE;
}

static enum vinci_status load_energy(struct vinci_soc *soc, struct vinci_diag *diag) {
  const char *name = soc->choices[SOC_ENERGY].name;
  if (*name == '\0') {
    (void)diag_error(
        diag, VINCI_E_USAGE,
        "%s: no energies are known of this chip (none are published of 910A, 310P and 950)",
        soc->name);
    diag_hint(
        diag,
        "write a file energy/NAME.lua of all numbers, and energy = \"NAME\" in the chip's own, or "
        "--set energy.name=NAME; energy.name=davinci_7nm takes those of the 910B family");
    return VINCI_E_USAGE;
  }
  struct energy_spec *energy;
  enum vinci_status status = energy_host_load(name, soc->data_dir, &energy, diag);
  if (status != VINCI_OK)
    return status;
  energy_host_free(soc->energy);
  soc->energy = energy;
  return VINCI_OK;
}

static enum vinci_status load_named(struct vinci_soc *soc, enum soc_name name,
                                    struct vinci_diag *diag) {
  switch (name) {
  case SOC_MEMORY:
    return load_memory(soc, diag);
  case SOC_MEMORY_MAP:
    return check_map(soc, soc->memory, diag);
  case SOC_L2_POLICY:
    return check_policy(soc, diag);
  case SOC_ENERGY:
    return load_energy(soc, diag);
  case SOC_TOPOLOGY:
  case SOC_NAME_COUNT:
    break;
  }
  return load_topology(soc, diag);
}

enum vinci_status soc_named_attach(struct vinci_soc *soc, const char *folder,
                                   struct vinci_diag *diag) {
  soc->data_dir = arena_strdup(&soc->arena, folder);
  if (!soc->data_dir)
    return diag_error(diag, VINCI_E_NOMEM, "out of memory");
  soc->load_named = load_named;
  return VINCI_OK;
}

enum vinci_status soc_named_load(struct vinci_soc *soc, const char *folder,
                                 struct vinci_diag *diag) {
  enum vinci_status status = soc_named_attach(soc, folder, diag);
  if (status == VINCI_OK)
    status = check_policy(soc, diag);
  if (status == VINCI_OK)
    status = load_memory(soc, diag);
  return status == VINCI_OK ? load_topology(soc, diag) : status;
}
