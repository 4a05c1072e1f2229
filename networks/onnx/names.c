/* SPDX-License-Identifier: Apache-2.0 */
/* Names of values: a table with open addressing for the graph and for each branch inside. */
#include <string.h>

#include "networks/onnx/import.h"

enum { FIRST_ROOM = 64 };

static uint32_t slot_of(const struct onnx_scope *scope, const char *name) {
  uint32_t value = UINT32_C(2166136261); /* FNV-1a, 32 bits */
  for (const char *at = name; *at; at++)
    value = (value ^ (unsigned char)*at) * UINT32_C(16777619);
  uint32_t mask = scope->room - 1, slot = value & mask;
  while (scope->names[slot] && strcmp(scope->names[slot], name) != 0)
    slot = (slot + 1) & mask;
  return slot;
}

struct onnx_value *onnx_look_up(const struct onnx_scope *scope, const char *name) {
  for (; scope; scope = scope->around)
    if (scope->room > 0) {
      uint32_t slot = slot_of(scope, name);
      if (scope->names[slot])
        return scope->values[slot];
    }
  return NULL;
}

static enum vinci_status grow(struct onnx_import *import, struct onnx_scope *scope) {
  struct onnx_scope old = *scope;
  scope->room = old.room ? 2 * old.room : FIRST_ROOM;
  scope->names = ARENA_ARRAY(&import->arena, const char *, scope->room);
  scope->values = ARENA_ARRAY(&import->arena, struct onnx_value *, scope->room);
  if (!scope->names || !scope->values) {
    *scope = old;
    return onnx_no_memory(import);
  }
  for (uint32_t i = 0; i < old.room; i++)
    if (old.names[i]) {
      uint32_t slot = slot_of(scope, old.names[i]);
      scope->names[slot] = old.names[i];
      scope->values[slot] = old.values[i];
    }
  return VINCI_OK;
}

enum vinci_status onnx_bind(struct onnx_import *import, struct onnx_scope *scope, const char *name,
                            struct onnx_value *value) {
  if (2 * (scope->count + 1) > scope->room) {
    enum vinci_status status = grow(import, scope);
    if (status != VINCI_OK)
      return status;
  }
  uint32_t slot = slot_of(scope, name);
  if (scope->names[slot])
    return diag_error_at(import->diag, VINCI_E_INPUT, (struct diag_position){.path = import->name},
                         "two tensors have the name \"%.100s\"", name);
  scope->names[slot] = name;
  scope->values[slot] = value;
  scope->count++;
  return VINCI_OK;
}
