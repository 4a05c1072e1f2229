/* SPDX-License-Identifier: Apache-2.0 */
/* A child process with limits: isolate.h. What the system does not offer is said, and left out. */
#include "cli/support/isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/support/cli.h"
#include "cli/support/sandbox.h"
#include "core/base/diag.h"

enum { APPLIED_BYTES = 512 };

/* ---- the child ---- */

static void limit(int what, uint64_t number) {
  const struct rlimit both = {.rlim_cur = (rlim_t)number, .rlim_max = (rlim_t)number};
  (void)setrlimit(what, &both);
}

static void become_child(const struct isolate_settings *settings, const char *output,
                         const char *record, char applied[APPLIED_BYTES]) {
  const char *slash = record ? strrchr(record, '/') : NULL;
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - record + 1) : 1,
           slash ? record : ".");
  const char *const folders[] = {output, record ? folder : NULL};
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0)
    (void)dup2(nothing, STDIN_FILENO);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_DATA, settings->mib << 20);
  limit(RLIMIT_CPU, settings->seconds + 1);
  bool files = sandbox_files(folders, sizeof folders / sizeof *folders);
  bool calls = sandbox_calls();
  snprintf(applied, APPLIED_BYTES, "isolated: a process of its own, %llu s, %llu MiB; %s; %s",
           (unsigned long long)settings->seconds, (unsigned long long)settings->mib,
           calls ? "no network and no other programs (seccomp)"
                 : "network and other programs NOT closed (no seccomp)",
           files ? "files written in result folders alone (landlock)"
                 : "files NOT closed (no landlock)");
}

int isolate_end(const struct isolate_settings *settings, int exit_code) {
  const uint8_t code = (uint8_t)exit_code;
  if (!settings->is_child)
    return exit_code;
  exit_code = cli_end(exit_code);
  fflush(NULL);
  if (write(settings->to_parent, &code, 1) != 1)
    return vinci_status_exit_code(VINCI_E_INTERNAL);
  return exit_code;
}

/* ---- the parent ---- */

static int64_t now_ms(void) {
  enum { MS = 1000, NS = 1000000 };
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * MS + now.tv_nsec / NS;
}

/* Waits for the child up to its limit; its status. *late: it was ended. */
static int wait_for(pid_t child, int from_child, uint64_t seconds, bool *late, int *code) {
  enum { LOOK_MS = 200, MS = 1000, GRACE_MS = 500 };
  int64_t end = now_ms() + (int64_t)seconds * MS + GRACE_MS;
  int status = 0;
  *late = false;
  *code = -1;
  for (;;) {
    struct pollfd told = {.fd = from_child, .events = POLLIN};
    uint8_t byte;
    if (poll(&told, 1, LOOK_MS) > 0 && *code < 0 && read(from_child, &byte, 1) == 1)
      *code = byte;
    if (waitpid(child, &status, *code >= 0 ? 0 : WNOHANG) == child)
      break;
    *late |= now_ms() > end;
    if (*late)
      (void)kill(child, SIGKILL);
  }
  return status;
}

static int tell(const struct isolate_settings *settings, int status, bool late, int code) {
  struct vinci_diag diag = {0};
  bool exited = WIFEXITED(status);
  if (exited && code == WEXITSTATUS(status))
    return code;
  if (late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
    (void)diag_error(&diag, VINCI_E_LIMIT, "the isolated process was ended after %llu s",
                     (unsigned long long)settings->seconds);
    diag_hint(&diag, "--isolate-time=SECONDS gives more");
  } else if (exited) {
    (void)diag_error(&diag, VINCI_E_INPUT,
                     "a kernel has left the isolated process, with exit code %d",
                     WEXITSTATUS(status));
  } else if (WTERMSIG(status) == SIGPIPE) {
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
  } else {
    (void)diag_error(&diag, VINCI_E_INPUT, "a kernel has broken the isolated process: %s",
                     strsignal(WTERMSIG(status)));
    diag_hint(&diag, "it has written memory of the simulator, or memory is short");
  }
  return cli_fail(&diag);
}

enum vinci_status isolate_begin(struct isolate_settings *settings, const char *output,
                                const char *record, bool quiet, struct vinci_diag *diag) {
  char applied[APPLIED_BYTES];
  int ends[2];
  if (!settings->asked && (settings->seconds || settings->mib))
    return diag_error(diag, VINCI_E_USAGE, "--isolate-%s needs --isolate",
                      settings->seconds ? "time" : "memory");
  if (!settings->asked)
    return VINCI_OK;
  settings->seconds = settings->seconds ? settings->seconds : ISOLATE_SECONDS;
  settings->mib = settings->mib ? settings->mib : ISOLATE_MIB;
  fflush(NULL);
  if (pipe2(ends, O_CLOEXEC) != 0)
    return diag_error(diag, VINCI_E_NOMEM, "no isolated process: %s", strerror(errno));
  pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return diag_error(diag, VINCI_E_NOMEM, "no isolated process: %s", strerror(errno));
  }
  if (child == 0) {
    close(ends[0]);
    settings->to_parent = ends[1];
    settings->is_child = true;
    become_child(settings, output, record, applied);
    if (!quiet)
      fprintf(stderr, "%s\n", applied);
    return VINCI_OK;
  }
  bool late;
  int code;
  close(ends[1]);
  (void)signal(SIGINT, SIG_IGN); /* the child gets it too, and ends with what it has */
  int status = wait_for(child, ends[0], settings->seconds, &late, &code);
  _exit(tell(settings, status, late, code));
}
