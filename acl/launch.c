/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: kernel<<<blocks, l2ctrl, stream>>>(arguments), see include/vinci/cce/launch.h. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "acl/runtime.h"
#include "core/check/check.h"
#include "core/result/result.h"

/* What the vendor's library keeps for itself in front of the memory of users (RESERVED_WORKSPACE in
 * the open headers of Ascend C). */
enum { WORKSPACE_BYTES = 16 << 20 };

/* A local symbol that was looked for in a file once. */
struct known {
  struct known *next;
  const void *address;
  const char *name;
};

/* The symbol at an address, and the file that has the symbol. */
static const char *symbol_at(const void *address, const char **file) {
  static struct known *all;
  Dl_info info;
  if (!dladdr(address, &info))
    return NULL;
  *file = info.dli_fname;
  if (info.dli_sname && info.dli_saddr == address)
    return info.dli_sname;
  for (const struct known *known = all; known; known = known->next)
    if (known->address == address)
      return known->name;
  struct known *known = calloc(1, sizeof *known);
  if (!known)
    return NULL;
  const char *name =
      vinci_function_symbol(info.dli_fname, (uintptr_t)address - (uintptr_t)info.dli_fbase);
  *known = (struct known){.next = all, .address = address, .name = name};
  all = known;
  return name;
}

static aclError error_of(enum vinci_status status) {
  switch (status) {
  case VINCI_OK:
  case VINCI_E_CHECK: /* told, and the program goes on as on a chip */
    return ACL_SUCCESS;
  case VINCI_E_DEADLOCK:
    return ACL_ERROR_RT_AICORE_TIMEOUT;
  case VINCI_E_NOMEM:
  case VINCI_E_INTERNAL:
    return ACL_ERROR_RT_INTERNAL_ERROR;
  default:
    return ACL_ERROR_RT_AICORE_EXCEPTION;
  }
}

/* Into OUTPUT/launch-N-NAME. */
static void write_result(const struct vinci_result *result, const char *name) {
  char folder[4096];
  struct vinci_diag diag = {0};
  int length = snprintf(folder, sizeof folder, "%s/launch-%zu-%s", acl_runtime.output,
                        acl_runtime.task_count, name);
  for (char *at = folder + strlen(acl_runtime.output) + 1; *at; at++)
    if (strchr("/<>,() *&:", *at))
      *at = '_';
  if (length < 0 || (size_t)length >= sizeof folder ||
      vinci_result_write_folder(result, folder, &diag) != VINCI_OK)
    vinci_diag_print(&diag, stderr);
}

static aclError take_result(struct acl_stream *stream, const struct vinci_result *result,
                            const struct vinci_findings *findings, const char *name,
                            uint32_t blocks) {
  struct acl_task *task = acl_task_add(stream, ACL_TASK_KERNEL, &acl_runtime.cores_free_ps,
                                       result ? vinci_result_picoseconds(result) : 0);
  if (!task)
    return ACL_ERROR_BAD_ALLOC;
  snprintf(task->name, sizeof task->name, "%s", name);
  task->blocks = blocks;
  task->bound = result ? bound_name(result_bound(result)) : "";
  task->waits_left_out = result && result->waits_left_out;
  if (findings)
    task->unchecked = findings->scalar;
  if (result && acl_runtime.output)
    write_result(result, name);
  return ACL_SUCCESS;
}

/* A kernel that is launched again and again is told of once. */
static void print_warning(const char *warning) {
  if (!*warning || strcmp(warning, acl_runtime.warned_of) == 0)
    return;
  fprintf(stderr, "vinci: warning: %s\n", warning);
  snprintf(acl_runtime.warned_of, sizeof acl_runtime.warned_of, "%s", warning);
}

static aclError launch(struct acl_stream *stream, const struct vinci_launch *launch) {
  struct vinci_diag diag = {0};
  vinci_result *result;
  vinci_findings *findings;
  const struct vinci_run_options options = {.struct_size = sizeof options,
                                            .memory = acl_runtime.memory,
                                            .max_events = acl_runtime.output ? 1u << 20 : 0};
  enum vinci_status status =
      vinci_device_launch(acl_runtime.device, launch, &options, &result, &findings, &diag);
  if (findings && status == VINCI_E_CHECK)
    status = vinci_findings_write_text(findings, stderr, &diag) == VINCI_OK ? VINCI_E_CHECK
                                                                            : diag.status;
  print_warning(vinci_device_warning(acl_runtime.device));
  if (diag.status != VINCI_OK)
    vinci_diag_print(&diag, stderr);
  if (status != VINCI_OK && acl_runtime.exit_code == 0)
    acl_runtime.exit_code = vinci_status_exit_code(status);
  char plain[sizeof((struct acl_task *)NULL)->name];
  vinci_function_name(launch->kernel, plain, sizeof plain);
  const char *name = result ? result->kernels[0].name : plain;
  aclError error = take_result(stream, result, findings, name, launch->blocks);
  stream->pending = true;
  /* A launch itself succeeds: whoever waits is told. */
  if (acl_runtime.failed == ACL_SUCCESS)
    acl_runtime.failed = error_of(status);
  if (error_of(status) != ACL_SUCCESS)
    snprintf(acl_runtime.message, sizeof acl_runtime.message, "kernel %s: %s", name, diag.text);
  vinci_findings_free(findings);
  vinci_result_free(result);
  return error;
}

aclError acl_launch(struct acl_stream *stream, const struct acl_call *call) {
  struct vinci_launch wanted = {.struct_size = sizeof wanted,
                                .arguments = call->arguments,
                                .blocks = call->blocks,
                                .workspace_bytes = WORKSPACE_BYTES,
                                .values_only = !acl_runtime.timed,
                                .time_only = acl_runtime.time_only,
                                .data_caches = acl_runtime.data_caches,
                                .checks = acl_runtime.checks};
  wanted.enter = symbol_at(call->enter, &wanted.library);
  wanted.kernel = symbol_at(call->kernel, &wanted.library);
  if (wanted.kernel && wanted.enter && call->blocks > 0)
    return launch(stream, &wanted);
  acl_runtime.exit_code = vinci_status_exit_code(VINCI_E_INPUT);
  return acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                  call->blocks == 0
                      ? "a launch of no block"
                      : "the kernel of a launch has no symbol: was the program stripped?");
}

ACL_API int vinci_acl_launch(const void *kernel, const void *enter, uint32_t blocks,
                             void *stream_handle, const void *arguments, size_t argument_bytes);

int vinci_acl_launch(const void *kernel, const void *enter, uint32_t blocks, void *stream_handle,
                     const void *arguments, size_t argument_bytes) {
  const struct acl_call call = {.kind = ACL_CALL_LAUNCH,
                                .kernel = kernel,
                                .enter = enter,
                                .arguments = arguments,
                                .argument_bytes = argument_bytes,
                                .blocks = blocks};
  aclError refused = acl_begin("a launch", ACL_NEED_CONTEXT);
  struct acl_stream *stream = refused == ACL_SUCCESS ? acl_stream_of(stream_handle) : NULL;
  if (!stream) { /* <<<>>> has no result: who started the program is told */
    acl_runtime.exit_code = vinci_status_exit_code(VINCI_E_INPUT);
    return acl_leave(refused != ACL_SUCCESS ? refused : ACL_ERROR_RT_STREAM_CONTEXT);
  }
  acl_runtime.host_ps += (uint64_t)acl_runtime.soc->host_launch_call_ps;
  return acl_leave(acl_issue(stream, &call));
}
