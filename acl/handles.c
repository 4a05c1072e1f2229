/* SPDX-License-Identifier: Apache-2.0 */
/* Handles that programs hold: what is no handle, or was destroyed, is an error and no memory fault.
 */
#include <stdlib.h>

#include "acl/runtime.h"

struct acl_handle {
  struct acl_handle *next;
  const void *pointer;
  enum acl_handle_kind kind;
};

static struct acl_handle **find(enum acl_handle_kind kind, const void *pointer) {
  struct acl_handle **link = &acl_runtime.handles;
  while (*link && ((*link)->pointer != pointer || (*link)->kind != kind))
    link = &(*link)->next;
  return link;
}

bool acl_handle_add(enum acl_handle_kind kind, const void *pointer) {
  struct acl_handle *handle = calloc(1, sizeof *handle);
  if (!handle)
    return false;
  *handle = (struct acl_handle){.next = acl_runtime.handles, .pointer = pointer, .kind = kind};
  acl_runtime.handles = handle;
  return true;
}

bool acl_handle_is(enum acl_handle_kind kind, const void *pointer) {
  static const char *const names[] = {"context", "graph", "binary", "function", "program"};
  if (pointer && *find(kind, pointer))
    return true;
  (void)acl_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not a %s, or one that was destroyed", pointer,
                 names[kind]);
  return false;
}

void acl_handle_remove(enum acl_handle_kind kind, const void *pointer) {
  struct acl_handle **link = find(kind, pointer), *handle = *link;
  if (!handle)
    return;
  *link = handle->next;
  free(handle);
}
