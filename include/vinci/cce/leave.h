// SPDX-License-Identifier: Apache-2.0
// Ways out of a kernel that a core of the chip does not have. A kernel is code of the simulating process, so exit()
// in a kernel would end that process, and fork() would double the process. `vinci cc` links these names of the C library to
// the functions below: the run ends with an error at the line of the call.
#ifndef VINCI_CCE_LEAVE_H
#define VINCI_CCE_LEAVE_H

#include <cstdint>
#include <cstdio>

#include "vinci/cce/issue.h"

namespace vinci_cce {

[[noreturn]] VINCI_CCE_INLINE void leave(const char *act, const void *from) {
  if (!vinci_cce_host) // a constructor: nobody has called the kernel yet
    __builtin_trap();
  vinci_cce_host->leave(vinci_cce_host, act, (uint64_t)(uintptr_t)from);
  __builtin_unreachable();
}

} // namespace vinci_cce

// The names of these two lists are those of wrapped[] in cli/cc/build.c.
#define VINCI_CCE_LEAVE_AS(name, text, parameters)                                                     \
  extern "C" __attribute__((visibility("hidden"), weak, noreturn)) void __wrap_##name parameters {     \
    vinci_cce::leave(text, __builtin_return_address(0));                                               \
  }
#define VINCI_CCE_LEAVE(name, parameters) VINCI_CCE_LEAVE_AS(name, "calls " #name "()", parameters)
#define VINCI_CCE_LEAVE_WITH(name)                                                                     \
  extern "C" __attribute__((visibility("hidden"), weak, noreturn)) void __wrap_##name(int code) {      \
    char text[64];                                                                                     \
    (void)snprintf(text, sizeof text, "calls " #name "(%d)", code);                                             \
    vinci_cce::leave(text, __builtin_return_address(0));                                               \
  }
VINCI_CCE_LEAVE_WITH(exit)
VINCI_CCE_LEAVE_WITH(_exit)
VINCI_CCE_LEAVE_WITH(_Exit)
VINCI_CCE_LEAVE_WITH(quick_exit)
VINCI_CCE_LEAVE_WITH(raise)
VINCI_CCE_LEAVE(abort, ())
VINCI_CCE_LEAVE(longjmp, (void *, int))
VINCI_CCE_LEAVE(_longjmp, (void *, int))
VINCI_CCE_LEAVE(siglongjmp, (void *, int))
VINCI_CCE_LEAVE(__longjmp_chk, (void *, int))
VINCI_CCE_LEAVE(kill, (int, int))
VINCI_CCE_LEAVE(fork, ())
VINCI_CCE_LEAVE(vfork, ())
VINCI_CCE_LEAVE(system, (const char *))
VINCI_CCE_LEAVE(execv, (const char *, char *const *))
VINCI_CCE_LEAVE(execve, (const char *, char *const *, char *const *))
VINCI_CCE_LEAVE(execvp, (const char *, char *const *))
VINCI_CCE_LEAVE(pthread_exit, (void *))
VINCI_CCE_LEAVE(execl, (const char *, const char *, ...))
VINCI_CCE_LEAVE(execlp, (const char *, const char *, ...))
VINCI_CCE_LEAVE(execle, (const char *, const char *, ...))
VINCI_CCE_LEAVE(syscall, (long, ...))
VINCI_CCE_LEAVE_AS(__cxa_throw, "throws an exception", (void *, void *, void *))
#undef VINCI_CCE_LEAVE
#undef VINCI_CCE_LEAVE_AS
#undef VINCI_CCE_LEAVE_WITH

#endif
