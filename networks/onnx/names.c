/* SPDX-License-Identifier: Apache-2.0 */
/* Names of values: a table for the graph and for each branch inside. */
#include <string.h>

#include "core/base/digest.h"
#include "networks/onnx/import.h"

struct bound {
  const char *name;
  struct onnx_value *value;
};

static struct onnx_value *find(const struct onnx_scope *scope, uint64_t key, const char *name) {
  size_t looked = 0;
  for (uintptr_t at; (at = lookup_next(&scope->names, key, &looked)) != LOOKUP_NONE;) {
    const struct bound *bound = (const struct bound *)at;
    if (strcmp(bound->name, name) == 0)
      return bound->value;
  }
  return NULL;
}

struct onnx_value *onnx_look_up(const struct onnx_scope *scope, const char *name) {
  uint64_t key = digest_string(DIGEST_SEED, name);
  struct onnx_value *found = NULL;
  for (; scope && !found; scope = scope->around)
    found = find(scope, key, name);
  return found;
}

enum vinci_status onnx_bind(struct onnx_import *import, struct onnx_scope *scope, const char *name,
                            struct onnx_value *value) {
  uint64_t key = digest_string(DIGEST_SEED, name);
  if (find(scope, key, name))
    return diag_error_at(import->diag, VINCI_E_INPUT, (struct diag_position){.path = import->name},
                         "two tensors have the name \"%.100s\"", name);
  struct bound *bound = ARENA_NEW(&import->arena, struct bound);
  if (!bound || !lookup_add(&scope->names, &import->arena, key, (uintptr_t)bound))
    return onnx_no_memory(import);
  *bound = (struct bound){name, value};
  return VINCI_OK;
}
