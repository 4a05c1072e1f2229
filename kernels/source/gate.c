/* SPDX-License-Identifier: Apache-2.0 */
/* Which system calls a kernel may make: gate.h says why. */
#include "kernels/source/gate.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

#ifndef PR_SET_SYSCALL_USER_DISPATCH
enum { PR_SET_SYSCALL_USER_DISPATCH = 59, PR_SYS_DISPATCH_OFF = 0, PR_SYS_DISPATCH_ON = 1 };
#endif

/* What the host's kernel looks at before each call of the thread: it wants a byte at one place. */
static _Thread_local struct {
  volatile char closed;
  bool started;
} gate;

void source_gate_close(void) { gate.closed = 1; }
void source_gate_open(void) { gate.closed = 0; }

/* Where the C library returns from handlers, which has to pass. */
static unsigned long return_of_handlers(void) {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } action = {0};
  if (syscall(SYS_rt_sigaction, SIGSYS, NULL, &action, sizeof action.mask) != 0)
    return 0;
  return (unsigned long)(uintptr_t)action.restorer;
}

/* Valgrind executes the program in its own process, whose calls would be handed over too. */
static bool is_under_valgrind(void) {
  const char *loaded = getenv("LD_PRELOAD");
  return loaded && strstr(loaded, "vgpreload");
}

void source_gate_start(void) {
  enum { RETURN_BYTES = 16 };
  unsigned long from = return_of_handlers();
  source_gate_open();
  if (!gate.started && from != 0 && !is_under_valgrind())
    gate.started = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, from,
                         (unsigned long)RETURN_BYTES, &gate.closed) == 0;
}

void source_gate_end(void) {
  if (gate.started)
    (void)prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0UL, 0UL, 0UL);
  gate.started = false;
}

/* ---- which calls ---- */

struct call {
  int number;
  const char *act; /* NULL: it may */
};

static const struct call calls[] = {
    {SYS_clock_gettime, NULL},
    {SYS_clock_getres, NULL},
    {SYS_gettimeofday, NULL},
    {SYS_time, NULL},
    {SYS_getcpu, NULL},
    {SYS_getpid, NULL},
    {SYS_gettid, NULL},
    {SYS_getrandom, NULL},
    {SYS_sysinfo, NULL},
    {SYS_sched_getaffinity, NULL},
    {SYS_fstat, NULL},
    {SYS_newfstatat, NULL},
    {SYS_madvise, NULL},
    {SYS_munmap, NULL},
    {SYS_brk, NULL},
    {SYS_mmap, NULL},
    {SYS_mremap, NULL},
    {SYS_write, NULL},
    {SYS_writev, NULL},
    {SYS_exit, "ends the thread"},
    {SYS_exit_group, "ends the process"},
    {SYS_kill, "sends a signal"},
    {SYS_tkill, "sends a signal"},
    {SYS_tgkill, "sends a signal"},
    {SYS_rt_sigprocmask, "changes what becomes of signals"},
    {SYS_rt_sigaction, "changes what becomes of signals"},
    {SYS_rt_sigreturn, "changes what becomes of signals"},
    {SYS_sigaltstack, "changes what becomes of signals"},
    {SYS_setitimer, "sets a clock"},
    {SYS_alarm, "sets a clock"},
    {SYS_timer_create, "sets a clock"},
    {SYS_fork, "starts a process"},
    {SYS_vfork, "starts a process"},
    {SYS_execve, "starts another program"},
    {SYS_execveat, "starts another program"},
    {SYS_clone, "starts a thread or a process"},
    {SYS_clone3, "starts a thread or a process"},
    {SYS_wait4, "waits for a process"},
    {SYS_nanosleep, "sleeps"},
    {SYS_clock_nanosleep, "sleeps"},
    {SYS_pause, "sleeps"},
    {SYS_poll, "sleeps"},
    {SYS_ppoll, "sleeps"},
    {SYS_select, "sleeps"},
    {SYS_pselect6, "sleeps"},
    {SYS_futex, "waits for another thread"},
    {SYS_read, "reads a file or standard input"},
    {SYS_pread64, "reads a file or standard input"},
    {SYS_readv, "reads a file or standard input"},
    {SYS_open, "opens a file"},
    {SYS_openat, "opens a file"},
    {SYS_creat, "opens a file"},
    {SYS_close, "closes a file"},
    {SYS_dup2, "changes the files of the process"},
    {SYS_dup3, "changes the files of the process"},
    {SYS_unlink, "removes a file"},
    {SYS_unlinkat, "removes a file"},
    {SYS_socket, "uses the network"},
    {SYS_connect, "uses the network"},
    {SYS_ptrace, "takes hold of a process"},
    {SYS_process_vm_writev, "takes hold of a process"},
    {SYS_mprotect, "changes the protection of memory"},
    {SYS_prctl, "changes the process"},
    {SYS_arch_prctl, "changes the process"},
    {SYS_prlimit64, "changes the process"},
    {SYS_setrlimit, "changes the process"},
};

static const char *act_of(int number) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (calls[i].number == number)
      return calls[i].act;
  return "makes a system call";
}

/* ---- making one ---- */

struct words {
  long word[6];
};

static long make_call(long number, const struct words *of) {
  register long r10 __asm__("r10") = of->word[3];
  register long r8 __asm__("r8") = of->word[4];
  register long r9 __asm__("r9") = of->word[5];
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(of->word[0]), "S"(of->word[1]), "d"(of->word[2]), "r"(r10),
                     "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static long heap_end(void) {
  static const struct words none;
  return make_call(SYS_brk, &none);
}

/* Bytes of memory that a call adds. */
static uint64_t bytes_asked(int number, const struct words *of) {
  long end;
  switch (number) {
  case SYS_mmap:
    return (uint64_t)of->word[1];
  case SYS_mremap:
    return of->word[2] > of->word[1] ? (uint64_t)(of->word[2] - of->word[1]) : 0;
  case SYS_brk:
    end = heap_end();
    return of->word[0] > end ? (uint64_t)(of->word[0] - end) : 0;
  default:
    return 0;
  }
}

/* Text goes where people read; memory is the library's own. */
static const char *refusal_of(int number, const struct words *of) {
  bool prints = of->word[0] == STDOUT_FILENO || of->word[0] == STDERR_FILENO;
  if ((number == SYS_write || number == SYS_writev) && !prints)
    return "writes a file";
  if (number == SYS_mmap && !(of->word[3] & MAP_ANONYMOUS))
    return "opens a file";
  if (number == SYS_futex && (of->word[1] & FUTEX_CMD_MASK) == FUTEX_WAKE)
    return NULL;
  return act_of(number);
}

enum gate_answer source_gate_answer(const siginfo_t *info, void *context, bool by_itself,
                                    uint64_t *heap, const char **act) {
  greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
  const struct words of = {
      {reg[REG_RDI], reg[REG_RSI], reg[REG_RDX], reg[REG_R10], reg[REG_R8], reg[REG_R9]}};
  int number = info->si_syscall;
  bool other = info->si_arch != AUDIT_ARCH_X86_64;
  *act = other ? GATE_CALL_OF_32_BITS : refusal_of(number, &of);
  bool masks = number == SYS_rt_sigprocmask && !other;
  if (!by_itself && number == SYS_tgkill && of.word[2] == SIGABRT)
    return GATE_ABORTS;
  if (by_itself || (*act && !masks)) {
    *act = *act ? *act : "makes a system call by itself";
    return GATE_STOPPED;
  }
  if (masks) { /* as abort() does before its signal */
    reg[REG_RAX] = 0;
    return GATE_REFUSED;
  }
  uint64_t bytes = bytes_asked(number, &of);
  if (bytes > GATE_HEAP_BYTES || *heap + bytes > GATE_HEAP_BYTES) {
    /* The library may hold a lock, so it goes on. */
    *act = "asks for more than 256 MiB of memory of the host";
    reg[REG_RAX] = number == SYS_brk ? heap_end() : -ENOMEM;
    return GATE_REFUSED;
  }
  *heap += bytes;
  reg[REG_RAX] = make_call(number, &of);
  return GATE_DONE;
}

#else

void source_gate_start(void) {}
void source_gate_end(void) {}
void source_gate_close(void) {}
void source_gate_open(void) {}
enum gate_answer source_gate_answer(const siginfo_t *info, void *context, bool by_itself,
                                    uint64_t *heap, const char **act) {
  (void)info, (void)context, (void)by_itself, (void)heap;
  *act = "makes a system call";
  return GATE_STOPPED;
}

#endif
