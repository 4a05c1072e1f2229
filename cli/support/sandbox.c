/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock (Linux 5.13) closes files, a filter of seccomp closes system calls. */
#include "cli/support/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the first version: all that changes files. */
static const uint64_t writing = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

static bool open_folder(int rules, const char *folder) {
  struct landlock_path_beneath_attr beneath = {.allowed_access = writing,
                                               .parent_fd = open(folder, O_PATH | O_CLOEXEC)};
  if (beneath.parent_fd < 0)
    return true; /* a folder that is not there cannot be written to */
  bool good = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0;
  close(beneath.parent_fd);
  return good;
}

bool sandbox_files(const char *const *folders, size_t count) {
  const struct landlock_ruleset_attr handled = {.handled_access_fs = writing};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  if (rules < 0)
    return false;
  bool good = true;
  for (size_t i = 0; i < count && good; i++)
    good = !folders[i] || open_folder(rules, folders[i]);
  good = good && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(rules);
  return good;
}

#if defined(__x86_64__)

/* Calls of another architecture (int 0x80) have other numbers: none passes. */
bool sandbox_calls(void) {
  enum { NOT_HERE = EPERM };
#define CLOSED(call)                                                                               \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                           \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | NOT_HERE)
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      CLOSED(socket),
      CLOSED(socketpair),
      CLOSED(connect),
      CLOSED(bind),
      CLOSED(listen),
      CLOSED(accept),
      CLOSED(accept4),
      CLOSED(sendto),
      CLOSED(sendmsg),
      CLOSED(execve),
      CLOSED(execveat),
      CLOSED(ptrace),
      CLOSED(process_vm_readv),
      CLOSED(process_vm_writev),
      CLOSED(unshare),
      CLOSED(setns),
      CLOSED(mount),
      CLOSED(io_uring_setup),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
#undef CLOSED
  const struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

#else

bool sandbox_calls(void) { return false; }

#endif
