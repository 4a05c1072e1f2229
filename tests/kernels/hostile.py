#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Kernels that try to take the simulator down, or to fool it: each ends with a message at its line and an exit code that is
neither 0 nor that of a signal. The same in a process of its own, `--isolate`. Prints TAP.

    hostile.py VINCI FOLDER_FOR_FILES
"""

import os
import subprocess
import sys
import time

from tap import plan, report

vinci = sys.argv[1]
folder = os.path.realpath(sys.argv[2])
LIMIT_SECONDS = 400
HEAD = """#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <pthread.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
static volatile int64_t sink;
static jmp_buf place;
static void *idle(void *) { return nullptr; }
__attribute__((noinline)) static int64_t deep(int64_t n) { volatile char room[256]; room[n % 256] = 1; return n < 0 ? 0 : deep(n + 1) + room[n % 256]; }
__attribute__((noinline)) static int64_t wide(int64_t n) { volatile char room[8 << 20]; for (int64_t i = 0; i < 8 << 20; i += 4096) room[i] = (char)n; return room[n]; }
static void call(int64_t number, int64_t a, int64_t b) { __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b) : "rcx", "r11", "memory"); }
"""
GONE = "left the process"
HOST = "uses the system of the host"
# Name, body, words of the message. The line of the message is that of "// here".
KERNELS = (
    ("aborts", "abort(); // here", GONE),
    ("throws", "throw 1; // here", GONE),
    ("terminates", "std::terminate(); // here", ""),
    ("exits", "exit(0); // here", GONE),
    ("exits_at_once", "_exit(0); // here", GONE),
    ("exits_quickly", "quick_exit(0); // here", GONE),
    ("jumps", "if (block_num > 9) setjmp(place); longjmp(place, 1); // here", GONE),
    ("forks", "fork(); // here", GONE),
    ("raises", "raise(SIGKILL); // here", GONE),
    ("kills", "kill(getpid(), SIGKILL); // here", GONE),
    ("runs_a_program", 'system("true"); // here', GONE),
    ("opens_a_pipe", 'sink = (int64_t)popen("true", "r"); // here', HOST),
    ("starts_a_thread", "std::thread([] {}).detach(); // here", HOST),
    ("starts_a_posix_thread", "pthread_t t; pthread_create(&t, nullptr, idle, nullptr); // here", HOST),
    ("recurses", "sink = deep(block_num); // here", "stack of the kernel is full"),
    ("has_a_large_frame", "sink = wide(block_num); // here", "stack of the kernel is full"),
    ("never_ends", "while (sink == 0) {} // here", "10 s without an instruction"),
    ("never_ends_quietly", "for (uint64_t i = 0;; i++) __asm__ volatile(\"\" : : \"r\"(i)); // here", "10 s without an instruction"),
    ("goes_round", "for (;;) pipe_barrier(PIPE_ALL); // here", "goes round in a loop"),
    ("flags_for_ever", "for (;;) { set_flag(PIPE_V, PIPE_S, EVENT_ID0); wait_flag(PIPE_V, PIPE_S, EVENT_ID0); } // here",
     "goes round in a loop"),
    ("waits_for_nobody", "while (*(volatile __gm__ half *)x == (half)1 - (half)1) dcci(x, SINGLE_CACHE_LINE); // here", ""),
    ("wants_all_memory", "for (;;) { char *p = (char *)malloc(1 << 20); *(volatile char *)p = 1; sink = (int64_t)p; } // here", HOST),
    ("wants_much_memory", "sink = (int64_t)malloc((size_t)1 << 40); *(volatile char *)sink = 1; // here", HOST),
    ("news_much_memory", "sink = (int64_t) new char[(size_t)1 << 40]; // here", ""),
    ("maps_much_memory", "sink = (int64_t)mmap(0, (size_t)1 << 40, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); // here", HOST),
    ("reads_a_line", "sink = getchar(); // here", HOST),
    ("reads_standard_input", "char c; sink = read(0, &c, 1); // here", HOST),
    ("calls_exit_itself", "call(231, 0, 0); // here", HOST),
    ("calls_exit_of_32_bits", '__asm__ volatile("int $0x80" : : "a"(1), "b"(0)); // here', HOST),
    ("calls_kill_itself", "call(62, getpid(), 9); // here", HOST),
    ("sleeps", "sleep(100000); // here", HOST),
    ("pauses", "pause(); // here", HOST),
    ("takes_signals", "signal(SIGSEGV, SIG_IGN); // here", HOST),
    ("blocks_signals", "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, nullptr); // here", HOST),
    ("stops_the_clock", "itimerval none = {}; setitimer(ITIMER_VIRTUAL, &none, nullptr); while (sink == 0) {} // here", HOST),
    ("writes_a_file", 'FILE *f = fopen("hostile.txt", "w"); fputs("x", f); // here', HOST),
    ("closes_output", "close(1); // here", HOST),
    ("connects", "sink = socket(AF_INET, SOCK_STREAM, 0); // here", HOST),
    ("opens_pages", "mprotect((void *)((uintptr_t)&sink & ~4095), 4096, 7); // here", HOST),
    ("changes_context", "static ucontext_t c; getcontext(&c); setcontext(&c); // here", HOST),
    ("halts", '__asm__ volatile("hlt"); // here', "for the system of the host"),
    ("interrupts", '__asm__ volatile("int $0x21"); // here', "for the system of the host"),
    ("breaks", '__asm__ volatile("int3"); // here', "breakpoint"),
    ("is_undefined", '__asm__ volatile("ud2"); // here', "does not have"),
    ("divides", "sink = block_num / (sink * 1); // here", "divides by zero"),
    ("calls_nothing", "((void (*)())(sink + 8))(); // here", "not there"),
)


def command(*words):
    # Standard input stays open, so that what reads has to wait.
    with subprocess.Popen(["sleep", "1000"], stdout=subprocess.PIPE) as held:
        try:
            return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder, timeout=LIMIT_SECONDS,
                                  stdin=held.stdout)
        finally:
            held.kill()


def execute(verb, library, *more):
    return command(verb, library, "--soc-version=Ascend910B4", "-q", *more,
                   "--arg", "name=x,dtype=fp16,shape=256,io=in", "--arg", "name=y,dtype=fp16,shape=256,io=out")


def built(name, text):
    with open(os.path.join(folder, name + ".cpp"), "w", encoding="utf-8") as out:
        out.write(text)
    made = command("cc", "--kernel-only", name + ".cpp", "-o", name + ".so")
    report(f"{name}.cpp is compiled", made.stderr if made.returncode else "")


def bad_end(run, *parts):
    said = run.stdout + run.stderr
    wrong = [part for part in parts if part not in said]
    return f"{run.returncode}, without {wrong}: {said[:600]}" if run.returncode not in (3, 5, 6, 7) or wrong else ""


text, lines = HEAD, {}
for name, body, _ in KERNELS:
    text += f'extern "C" __global__ __aicore__ __vector__ void {name}(GM_ADDR x, GM_ADDR y) {{\n  pipe_barrier(PIPE_ALL);\n  {body}\n}}\n'
    lines[name] = text.count("\n") - 1
built("hostile", text)
for name, body, words in KERNELS:
    place = "" if name == "waits_for_nobody" else "hostile.cpp:" if any(word in body for word in ("deep(", "wide(", "call(")) else f"hostile.cpp:{lines[name]}: error: block 0: "
    report(f"{name} ends with a message", bad_end(execute("run", f"hostile.so:{name}"), "error: ", words, place))
report("no kernel has written a file", "written" if os.path.exists(os.path.join(folder, "hostile.txt")) else "")

# ---- before the kernel and behind it ----

built("early", """#include <cstdlib>
__attribute__((constructor)) static void early() { exit(0); }
extern "C" __global__ __aicore__ __vector__ void k(GM_ADDR x, GM_ADDR y) { pipe_barrier(PIPE_ALL); }
""")
report("a constructor that leaves ends with a message", bad_end(execute("run", "early.so:k"), "error: block 0: "))
built("late", """#include <cstdlib>
__attribute__((destructor)) static void late() { __asm__ volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory"); }
extern "C" __global__ __aicore__ __vector__ void k(GM_ADDR x, GM_ADDR y) { *(volatile __gm__ char *)(y + 4096) = 1; }
""")
report("a destructor does not change how a run ends", bad_end(execute("run", "late.so:k"), "memory that is not there"))

# ---- in a process of its own ----

ISOLATED = ("exits", "calls_exit_itself", "never_ends", "wants_all_memory", "recurses", "connects")
for name in ISOLATED:
    run = execute("run", f"hostile.so:{name}", "--isolate")
    report(f"{name} ends with a message in a process of its own", bad_end(run, "error: "))
start = time.monotonic()
run = execute("run", "hostile.so:never_ends", "--isolate", "--isolate-time=1")
report("an isolated run has a limit of time", bad_end(run, "ended after 1 s") or
       ("late" if time.monotonic() - start > 30 or run.returncode != 7 else ""))
built("bad", """#include <cstring>
extern "C" __global__ __aicore__ __vector__ void fills(GM_ADDR x, GM_ADDR y) {
  pipe_barrier(PIPE_ALL);
  volatile uint64_t *at = (volatile uint64_t *)__builtin_frame_address(0);
  memset((void *)vinci_cce_host, 0x41, sizeof *vinci_cce_host);
  pipe_barrier(PIPE_ALL);
}
extern "C" __global__ __aicore__ __vector__ void fine(GM_ADDR x, GM_ADDR y) { *(__gm__ half *)y = *(__gm__ half *)x; }
""")
run = execute("run", "bad.so:fills", "--isolate")
report("a kernel that breaks the simulator is told by the process above", bad_end(run, "error: "))
run = command("run", "bad.so:fine", "--soc-version=Ascend910B4", "--isolate", "--values", "--fill=random:1", "--output=out", "--json",
              "--arg", "name=x,dtype=fp16,shape=256,io=in", "--arg", "name=y,dtype=fp16,shape=256,io=out")
plain = command("run", "bad.so:fine", "--soc-version=Ascend910B4", "--values", "--fill=random:1", "--json",
                "--arg", "name=x,dtype=fp16,shape=256,io=in", "--arg", "name=y,dtype=fp16,shape=256,io=out")
same = run.stdout.split('"host"')[0] == plain.stdout.split('"host"')[0] and len(plain.stdout) > 100
kept = os.path.exists(os.path.join(folder, "out", "tensors", "y.npy"))
said = "isolated: a process of its own, 600 s, 4096 MiB;" in run.stderr
report("an isolated run has the same result, in its folder, and says what is closed",
       "" if run.returncode == 0 and same and kept and said else f"{run.returncode} {same} {kept} {said} {run.stdout[:300]} {run.stderr}")
built("rounds", """#ifdef __x86_64__
#define ROUNDS_UP __builtin_ia32_ldmxcsr(0x5f80)
#else
#define ROUNDS_UP
#endif
template<bool Up> __aicore__ inline void third(GM_ADDR x, GM_ADDR y) {
  if (Up) ROUNDS_UP;
  __ubuf__ float *a = (__ubuf__ float *)(uintptr_t)0;
  set_mask_norm();
  set_vector_mask(0, (uint64_t)-1);
  vector_dup(a, 1.0f, 2, 1, 1, 8, 8);
  pipe_barrier(PIPE_V);
  vmuls(a, a, 1.0f / 3, 2, 1, 1, 8, 8);
  pipe_barrier(PIPE_ALL);
  vmul(a, a, a, 2, 1, 1, 1, 8, 8, 8);
  pipe_barrier(PIPE_ALL);
  copy_ubuf_to_gm((__gm__ float *)y, a, 0, 1, 16, 0, 0);
}
extern "C" __global__ __aicore__ __vector__ void near(GM_ADDR x, GM_ADDR y) { third<false>(x, y); }
extern "C" __global__ __aicore__ __vector__ void up(GM_ADDR x, GM_ADDR y) { third<true>(x, y); }
""")
made = []
for name in ("near", "up"):
    run = execute("run", f"rounds.so:{name}", "--values", "--fill=random:1", f"--output={name}")
    with open(os.path.join(folder, name, "tensors", "y.npy"), "rb") as values:
        made.append((run.returncode, values.read()[-512:]))
report("how a kernel's own code rounds is not how the simulator does", "" if made[0] == made[1] and made[0][0] == 0 else str(made))
run = execute("check", "bad.so:fine", "--isolate")
report("an isolated check of a right kernel is ok", "" if run.returncode == 0 else f"{run.returncode} {run.stderr}")
run = execute("check", "bad.so:fine", "--isolate-time=3")
report("limits need --isolate", "" if run.returncode == 2 and "needs --isolate" in run.stderr else f"{run.returncode} {run.stderr}")
plan()
