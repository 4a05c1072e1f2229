/* SPDX-License-Identifier: Apache-2.0 */
/* Deep copy of a hardware description, for results that outlive it. */
#include <stdlib.h>

#include "core/soc.h"

static bool copy_text(struct arena *arena, const char **text) {
  if (!*text)
    return true;
  *text = arena_strdup(arena, *text);
  return *text != NULL;
}

static bool copy_sources(struct vinci_soc *copy) {
  struct soc_source *sources = ARENA_ARRAY(&copy->arena, struct soc_source, copy->source_count);
  if (!sources)
    return false;
  for (size_t i = 0; i < copy->source_count; i++) {
    sources[i] = copy->sources[i];
    if (!copy_text(&copy->arena, &sources[i].id) || !copy_text(&copy->arena, &sources[i].text))
      return false;
  }
  copy->sources = sources;
  return true;
}

struct vinci_soc *soc_copy(const struct vinci_soc *soc) {
  struct vinci_soc *copy = malloc(sizeof *copy);
  if (!copy)
    return NULL;
  *copy = *soc;
  copy->arena = (struct arena){0};
  /* What the copy is for, reporting, needs the numbers of the SoC alone. */
  copy->memory = NULL;
  copy->topology = NULL;
  copy->rebuild_topology = NULL;
  copy->data_dir = "";
  bool ok = copy_text(&copy->arena, &copy->base) && copy_text(&copy->arena, &copy->description) &&
            copy_sources(copy);
  for (size_t i = 0; ok && i < soc_param_count(); i++)
    ok = copy_text(&copy->arena, &copy->provenance[i].source) &&
         copy_text(&copy->arena, &copy->provenance[i].note);
  if (!ok) {
    vinci_soc_free(copy);
    return NULL;
  }
  return copy;
}
