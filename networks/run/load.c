/* SPDX-License-Identifier: Apache-2.0 */
/* Reads networks from bytes and files. */
#include "networks/run/load.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "networks/graph/text.h"

enum { TEXT_BYTES_MAX = 1 << 30 };

static enum vinci_status load_text(const char *name, const void *bytes, size_t length,
                                   const struct onnx_options *options, struct graph *out,
                                   struct vinci_diag *diag) {
  static const char pointer[] = "version https://git-lfs";
  struct diag_position place = {.path = name};
  if (length >= sizeof pointer - 1 && memcmp(bytes, pointer, sizeof pointer - 1) == 0) {
    diag_error_at(diag, VINCI_E_INPUT, place, "a pointer of Git LFS, not the file itself");
    diag_hint(diag, "fetch the file with 'git lfs pull'");
    return VINCI_E_INPUT;
  }
  if (options && options->shapes.count + options->dims.count + options->inputs.count > 0)
    return diag_error_at(diag, VINCI_E_USAGE, place,
                         "no ONNX model; shapes, dimensions and inputs are given to models only");
  if (length > TEXT_BYTES_MAX)
    return diag_error_at(diag, VINCI_E_USAGE, place, "is longer than %d MiB", TEXT_BYTES_MAX >> 20);
  size_t mark = file_text_mark(bytes, length);
  return graph_text_read(name, (const char *)bytes + mark, length - mark, out, diag);
}

enum vinci_status graph_load_bytes(const char *name, const void *bytes, size_t length,
                                   const struct onnx_options *options, struct graph *out,
                                   struct vinci_diag *diag) {
  *out = (struct graph){0};
  return onnx_is(bytes, length) ? onnx_read(name, bytes, length, options, out, diag)
                                : load_text(name, bytes, length, options, out, diag);
}

static void release_mapped(void *bytes, size_t length) {
  struct file_view view = {bytes, length, true};
  file_view_close(&view);
}

static void release_read(void *bytes, size_t length) {
  struct file_view view = {bytes, length, false};
  file_view_close(&view);
}

/* Weights lie in the file: it stays as long as the graph. */
static enum vinci_status keep_file(struct graph *graph, struct file_view *view,
                                   struct vinci_diag *diag) {
  if (!graph_keep(graph, view->bytes, view->length, view->mapped ? release_mapped : release_read)) {
    graph_free(graph);
    return diag_error(diag, VINCI_E_NOMEM, "out of memory reading the graph");
  }
  *view = (struct file_view){0};
  return VINCI_OK;
}

enum vinci_status graph_load_file(const char *path, const struct onnx_options *options,
                                  struct graph *out, struct vinci_diag *diag) {
  bool input = strcmp(path, "-") == 0;
  const char *slash = strrchr(path, '/');
  struct onnx_options own = options ? *options : (struct onnx_options){.folder = NULL};
  struct file_view view;
  *out = (struct graph){0};
  enum vinci_status status =
      file_view_open(input ? "/dev/stdin" : path, TEXT_BYTES_MAX, &view, diag);
  if (status != VINCI_OK)
    return status;
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  own.folder = input ? NULL : folder;
  status = folder ? graph_load_bytes(input ? "standard input" : path, view.bytes, view.length, &own,
                                     out, diag)
                  : diag_error(diag, VINCI_E_NOMEM, "out of memory reading the graph");
  if (status == VINCI_OK)
    status = keep_file(out, &view, diag);
  file_view_close(&view);
  free(folder);
  return status;
}
