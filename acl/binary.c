/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that were compiled at run time: libraries whose functions vinci_rtc_kernel_N and
 * vinci_rtc_launch_N (acl/compile.c) tell of a kernel each, and launch the kernel.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "acl/runtime.h"

enum { NAME_BYTES = 64, SYMBOL_BYTES = 1024 };

typedef int launch_function(uint32_t blocks, void *stream, void **values);

struct function {
  struct function *next;
  launch_function *launch;
  char name[SYMBOL_BYTES];
};

struct binary {
  void *library;
  int file; /* stays open: launches read the file again */
  struct function *functions;
};

/* The symbol of kernel N; NULL when there is no such kernel. */
char *acl_binary_symbol(void *library, unsigned number) {
  char name[NAME_BYTES];
  const void *(*kernel)(void);
  Dl_info info;
  snprintf(name, sizeof name, "vinci_rtc_kernel_%u", number);
  *(void **)&kernel = dlsym(library, name);
  if (!kernel || !dladdr(kernel(), &info))
    return NULL;
  if (info.dli_sname && info.dli_saddr == kernel())
    return strdup(info.dli_sname);
  return vinci_function_symbol(info.dli_fname, (uintptr_t)kernel() - (uintptr_t)info.dli_fbase);
}

static void release(struct binary *binary) {
  if (binary->library)
    dlclose(binary->library);
  if (binary->file >= 0)
    close(binary->file);
  while (binary->functions) {
    struct function *next = binary->functions->next;
    acl_handle_remove(ACL_HANDLE_FUNCTION, binary->functions);
    free(binary->functions);
    binary->functions = next;
  }
  free(binary);
}

static bool add_functions(struct binary *binary) {
  char name[NAME_BYTES], *symbol;
  for (unsigned i = 0; (symbol = acl_binary_symbol(binary->library, i)); i++) {
    struct function *function = calloc(1, sizeof *function);
    if (function) {
      snprintf(function->name, sizeof function->name, "%s", symbol);
      snprintf(name, sizeof name, "vinci_rtc_launch_%u", i);
      *(void **)&function->launch = dlsym(binary->library, name);
      function->next = binary->functions;
      binary->functions = function;
    }
    free(symbol);
    if (!function || !acl_handle_add(ACL_HANDLE_FUNCTION, function))
      return false;
  }
  return acl_handle_add(ACL_HANDLE_BINARY, binary);
}

ACL_API aclError aclrtBinaryLoadFromData(const void *data, size_t length,
                                         const aclrtBinaryLoadOptions *options,
                                         aclrtBinHandle *binHandle) {
  char path[NAME_BYTES];
  (void)options;
  ACL_BEGIN(ACL_NEED_CONTEXT);
  struct binary *binary = calloc(1, sizeof *binary);
  if (!data || !binHandle || !binary) {
    free(binary);
    return acl_leave(binary ? ACL_ERROR_RT_PARAM_INVALID : ACL_ERROR_BAD_ALLOC);
  }
  binary->file = memfd_create("vinci-binary", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", binary->file);
  if (binary->file >= 0 && write(binary->file, data, length) == (ssize_t)length)
    binary->library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!binary->library || !add_functions(binary)) {
    release(binary);
    return acl_leave(acl_fail(ACL_ERROR_RT_PARAM_INVALID,
                              "the %zu bytes are not kernels that aclrtcCompileProg has made",
                              length));
  }
  *binHandle = binary;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (!acl_handle_is(ACL_HANDLE_BINARY, binHandle))
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  acl_handle_remove(ACL_HANDLE_BINARY, binHandle);
  release(binHandle);
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclrtBinaryGetFunction(aclrtBinHandle binHandle, const char *kernelName,
                                        aclrtFuncHandle *funcHandle) {
  const struct binary *binary = binHandle;
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (!kernelName || !funcHandle || !acl_handle_is(ACL_HANDLE_BINARY, binary))
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  for (struct function *at = binary->functions; at; at = at->next) {
    char plain[SYMBOL_BYTES];
    vinci_function_name(at->name, plain, sizeof plain);
    if (strcmp(at->name, kernelName) != 0 && strcmp(plain, kernelName) != 0)
      continue;
    *funcHandle = at;
    return acl_leave(ACL_SUCCESS);
  }
  return acl_leave(
      acl_fail(ACL_ERROR_RT_PARAM_INVALID, "the binary has no kernel \"%s\"", kernelName));
}

ACL_API aclError aclrtLaunchKernelWithArgsArray(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                                aclrtStream stream, aclrtLaunchKernelCfg *cfg,
                                                void **args) {
  const struct function *function = funcHandle;
  (void)cfg;
  ACL_BEGIN(ACL_NEED_CONTEXT);
  bool good = acl_handle_is(ACL_HANDLE_FUNCTION, function);
  (void)acl_leave(good ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID);
  return good && args ? function->launch(numBlocks, stream, args) : ACL_ERROR_RT_PARAM_INVALID;
}
