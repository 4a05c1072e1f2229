/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of `vinci net` share: reading a graph, choosing by name. */
#include <stdlib.h>
#include <string.h>

#include "cli/net/net.h"
#include "core/base/file.h"
#include "networks/graph/text.h"
#include "networks/run/gears.h"
#include "networks/run/load.h"

enum { GRAPH_BYTES_MAX = 1 << 30 };

static struct onnx_words words_of(const struct text_list *list) {
  return (struct onnx_words){list->items, list->count};
}

enum vinci_status net_load(const char *path, const struct net_model_settings *model,
                           struct graph *out, struct vinci_diag *diag) {
  struct onnx_options options = {.shapes = words_of(&model->shapes),
                                 .dims = words_of(&model->dims),
                                 .inputs = words_of(&model->inputs)};
  enum vinci_status status = graph_load_file(path, &options, out, diag);
  if (status == VINCI_OK && out->note)
    fprintf(stderr, "warning: %s: %s\n", path, out->note);
  return status;
}

enum vinci_status net_open(const struct net_run_settings *settings, const struct text_list *words,
                           struct net_opened *out, struct vinci_diag *diag) {
  if (words->count != 1)
    return diag_error(diag, VINCI_E_USAGE, "give one network, not %zu", words->count);
  enum vinci_status status =
      cli_load_soc(settings->soc, settings->data, &settings->sets, &out->soc, diag);
  if (status == VINCI_OK)
    status = net_compile_choose(settings, &out->options, diag);
  if (status == VINCI_OK)
    status = net_load(words->items[0], &settings->model, &out->graph, diag);
  return status;
}

void net_opened_free(struct net_opened *opened) {
  compiled_free(&opened->compiled);
  graph_free(&opened->graph);
  vinci_soc_free(opened->soc);
}

/* A model is open in its dimension "batch". */
static enum vinci_status load_model_gear(const char *path, uint64_t batch, struct graph *out,
                                         struct vinci_diag *diag) {
  char dim[48];
  snprintf(dim, sizeof dim, "batch=%llu", (unsigned long long)batch);
  const char *const dims[] = {dim};
  struct onnx_options options = {.dims = {dims, 1}};
  return graph_load_file(path, &options, out, diag);
}

enum vinci_status net_load_gear(const char *path, uint64_t batch, struct graph *out,
                                struct vinci_diag *diag) {
  size_t length;
  *out = (struct graph){0};
  char *family = file_read_text(path, GRAPH_BYTES_MAX, &length, diag);
  if (family && onnx_is(family, length)) {
    free(family);
    return load_model_gear(path, batch, out, diag);
  }
  char *text = family ? gear_text(path, family, batch, diag) : NULL;
  free(family);
  if (!text)
    return diag->status;
  enum vinci_status status = graph_text_read(path, text, strlen(text), out, diag);
  free(text);
  return status;
}

void net_model_free(struct net_model_settings *settings) {
  text_list_free(&settings->shapes);
  text_list_free(&settings->dims);
  text_list_free(&settings->inputs);
}

enum vinci_status net_choose(const char *what, const char *word,
                             const char *(*name_at)(const void *, size_t), size_t count,
                             unsigned *out, struct vinci_diag *diag) {
  char names[160];
  size_t used = 0;
  for (unsigned i = 0; i < count; i++) {
    if (strcmp(name_at(NULL, i), word) == 0) {
      *out = i;
      return VINCI_OK;
    }
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                             name_at(NULL, i));
  }
  const char *nearest = diag_nearest(word, count, name_at, NULL);
  (void)diag_error(diag, VINCI_E_USAGE, "unknown %s '%s'", what, word);
  if (nearest)
    diag_hint(diag, "did you mean %s?", nearest);
  else
    diag_hint(diag, "one of %s", names);
  return VINCI_E_USAGE;
}

const char *net_plan_at(const void *context, size_t index) {
  (void)context;
  return graph_plan_name((enum graph_plan_policy)index);
}
