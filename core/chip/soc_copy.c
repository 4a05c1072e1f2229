/* SPDX-License-Identifier: Apache-2.0 */
/* Deep copy of a hardware description, for results that outlive the original. */
#include <stdlib.h>
#include <string.h>

#include "core/chip/energy.h"
#include "core/chip/mem.h"
#include "core/chip/noc_config.h"
#include "core/chip/soc_digest.h"

static bool copy_text(struct arena *arena, const char **text) {
  if (!*text)
    return true;
  *text = arena_strdup(arena, *text);
  return *text != NULL;
}

static void *copy_array(struct arena *arena, const void *from, size_t count, size_t element) {
  void *copy = arena_alloc(arena, count, element);
  if (copy && count > 0)
    memcpy(copy, from, count * element);
  return copy;
}

static bool copy_topology(struct vinci_soc *copy) {
  if (!copy->topology)
    return true;
  struct arena *arena = &copy->arena;
  struct noc_graph *graph = copy_array(arena, copy->topology, 1, sizeof *graph);
  if (!graph || !copy_text(arena, &graph->name))
    return false;
  graph->routers = copy_array(arena, graph->routers, graph->router_count, sizeof *graph->routers);
  graph->links = copy_array(arena, graph->links, graph->link_count, sizeof *graph->links);
  graph->terminals =
      copy_array(arena, graph->terminals, graph->terminal_count, sizeof *graph->terminals);
  copy->topology = graph;
  return graph->routers && graph->links && graph->terminals;
}

struct vinci_soc *soc_copy(const struct vinci_soc *soc) {
  struct vinci_soc *copy = malloc(sizeof *copy);
  if (!copy)
    return NULL;
  *copy = *soc;
  copy->arena = (struct arena){0};
  copy->memory = soc->memory ? mem_copy(soc->memory) : NULL;
  copy->energy = soc->energy ? energy_copy(soc->energy) : NULL;
  bool ok = soc_keep_digest(copy) && copy_text(&copy->arena, &copy->base) &&
            copy_text(&copy->arena, &copy->description) &&
            copy_text(&copy->arena, &copy->data_dir) &&
            soc_copy_sources(&copy->arena, &copy->sources, copy->source_count) &&
            copy_topology(copy) && (copy->memory || !soc->memory) && (copy->energy || !soc->energy);
  ok = ok && soc_copy_provenance(&copy->arena, copy->provenance, soc_param_count());
  if (!ok) {
    vinci_soc_free(copy);
    return NULL;
  }
  return copy;
}
