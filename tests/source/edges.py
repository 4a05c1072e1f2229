#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Kernels at the edges: what leaves the process, what no check has looked at, operands that are cut, forms of source
that public samples have. Prints TAP.

    edges.py VINCI FOLDER_FOR_FILES
"""

import json
import os
import re
import subprocess
import sys

import numpy as np

vinci = sys.argv[1]
folder = os.path.realpath(sys.argv[2])
chip = "--soc-version=Ascend910B4"
count = 0


def report(text, problem=""):
    global count
    count += 1
    print(f"{'not ok' if problem else 'ok'} {count} - {text}")
    for line in str(problem or "").splitlines():
        print(f"# {line}")


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder)


def compiled(name, text, *words):
    """A library of the kernels in a text, and the run of the compiler."""
    with open(os.path.join(folder, name + ".cpp"), "w", encoding="utf-8") as out:
        out.write(text)
    made = command("cc", "--kernel-only", name + ".cpp", "-o", name + ".so", *words)
    if made.returncode != 0:
        report(f"{name} is compiled", made.stderr)
    return made


def tensor(name, dtype="fp16", shape=256, io="in"):
    return ["--arg", f"name={name},dtype={dtype},shape={shape},io={io}"]


def ends(text, run, code, *parts):
    """Whether a run ended with an exit code and said all parts."""
    said = run.stdout + run.stderr
    missing = [part for part in parts if part not in said]
    report(text, "" if run.returncode == code and not missing else f"{run.returncode}, without {missing}: {said}")


# ---- ways out of the process ----

LEAVING = """#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>
extern "C" __global__ __aicore__ void leaving(GM_ADDR x, int64_t what) {
  static jmp_buf place;
  volatile int zero = 0;
  switch (what) {
"""
ways = [
    ("exit(0);", "kernel leaving left the process: it calls exit(0)"),
    ("_exit(0);", "it calls _exit(0)"),
    ("_Exit(0);", "it calls _Exit(0)"),
    ("quick_exit(0);", "it calls quick_exit(0)"),
    ("std::exit(7);", "it calls exit(7)"),
    ("abort();", "it calls abort()"),
    ("throw 5;", "it throws an exception"),
    ("longjmp(place, 1);", "it calls longjmp()"),
    ("raise(SIGTERM); zero = 1; break;", "it calls raise(15)"),
    ("kill(getpid(), SIGKILL); zero = 1; break;", "it calls kill()"),
    ("zero = fork(); break;", "it calls fork()"),
    ("zero = system(\"true\"); break;", "it calls system()"),
    ("zero = execl(\"/bin/true\", \"true\", nullptr); break;", "it calls execl()"),
    ("zero = (int)syscall(SYS_exit_group, 0); break;", "it calls syscall()"),
    ("pthread_exit(nullptr);", "it calls pthread_exit()"),
    ("__builtin_trap();", "the kernel comes to an instruction that the host does not have"),
    ("__builtin_debugtrap(); zero = 1; break;", "the kernel comes to a breakpoint"),
]
made = compiled("leaving", LEAVING + "".join(f"  case {i}: {way[0]}\n" for i, way in enumerate(ways)) + "  }\n}\n")
for number, (way, wanted) in enumerate(ways):
    line = LEAVING.count("\n") + 1 + number
    for verb in ("check", "run"):
        run = command(verb, "leaving.so:leaving", chip, *tensor("x"), "--arg", f"value={number}", "--blocks=2")
        # A breakpoint is told behind itself.
        place = "leaving.cpp:" if "debugtrap" in way else f"leaving.cpp:{line}: "
        ends(f"{verb} of a kernel with {way}", run, 3, place, "error: block 0: ", wanted)
        if run.stdout:
            report("a kernel that leaves has no result", run.stdout)
# What the library of C++ does itself has no line, and is an error all the same.
compiled("ended", """#include <stdexcept>
#include <vector>
extern "C" __global__ __aicore__ void ended(GM_ADDR x, int64_t at) { *x = (uint8_t)std::vector<int>(3).at(at); }
""")
for verb in ("check", "run"):
    ends(f"{verb} of a kernel that nobody catches", command(verb, "ended.so:ended", chip, *tensor("x"), "--arg", "value=5"), 3,
         "ended.cpp: error: block 0: the kernel ends by abort()")
# A library that was linked without these names, as older ones are: the process ends, and not well.
compiled("older", """#include <dlfcn.h>
extern "C" __global__ __aicore__ void older(GM_ADDR x) { ((void (*)(int))dlsym(RTLD_DEFAULT, "exit"))(0); }
""")
for verb in ("check", "run"):
    ends(f"{verb} of a kernel that finds exit() by its name", command(verb, "older.so:older", chip, *tensor("x")), 3,
         "older.cpp: error: block 0: kernel older left the process")

print(f"1..{count}")
