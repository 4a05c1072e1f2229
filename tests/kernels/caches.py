#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Kernels whose scalar code meets the data cache of the core: wrong ones, each with the finding at its line, and right ones
without a finding. Prints TAP.

    caches.py VINCI FOLDER_FOR_FILES
"""

import os
import subprocess
import sys

from tap import plan, report

vinci = sys.argv[1]
folder = os.path.realpath(sys.argv[2])
BEGIN = """  __gm__ volatile int32_t *from = (__gm__ int32_t *)x, *to = (__gm__ int32_t *)y;
  __ubuf__ volatile int32_t *a = (__ubuf__ int32_t *)(uintptr_t)0;
"""
ALL = "  pipe_barrier(PIPE_ALL);\n"
SIGNAL = ALL + "  ffts_cross_core_sync(PIPE_MTE3, 1 | 3 << 8);\n  wait_flag_dev(3);\n"
CLEAN = "  dcci((__gm__ void *)to, SINGLE_CACHE_LINE);\n"
FILL = "  for (int i = 0; i < 8; i++)\n    a[i] = i;\n" + ALL
OUT = "  copy_ubuf_to_gm((__gm__ int32_t *)to, (__ubuf__ int32_t *)a, 0, 1, 1, 0, 0);\n" + ALL
FIRST, SECOND = "  if (block_idx == 0) {\n", "  if (block_idx == 1) {\n"

# Name, body, and words of the finding at the line with "// here".
WRONG = (
    ("stale", "  to[16 * block_idx] = from[0];\n" + SECOND + "    to[64] = to[2];\n  }\n" + SIGNAL + FIRST + "    to[2] = 7;\n  " + CLEAN +
     "  }\n" + SIGNAL + SECOND + "    to[80] = to[2]; // here\n  }\n", "old line of the data cache"),
    ("stale_poll", SECOND + "    int32_t had = from[0] + to[4];\n    to[64] = had;\n  }\n" + SIGNAL + FIRST + "    to[4] = 1;\n    dcci((__gm__ void *)0, ENTIRE_DATA_CACHE);\n  }\n" +
     SIGNAL + SECOND + "    to[80] = to[4]; // here\n  }\n", "old line of the data cache"),
    ("after_copy", FIRST + "    to[64] = to[0];\n" + FILL + OUT + "    to[65] = to[0]; // here\n  }\n", "old line of the data cache"),
    ("neighbour", FIRST + "    to[40] = 1;\n    to[64] = to[5];\n" + FILL + OUT + "    to[65] = to[5]; // here\n  }\n", "old line of the data cache"),
    ("unseen", FIRST + "    to[0] = 1;\n  }\n" + SIGNAL + SECOND + "    to[64] = to[0]; // here\n  }\n", "still in a data cache"),
    ("wrong_line", FIRST + "    to[16] = 1;\n  " + CLEAN + "  }\n" + SIGNAL + SECOND + "    to[64] = to[16]; // here\n  }\n", "still in a data cache"),
    ("too_early", FIRST + CLEAN + "    to[0] = 1;\n  }\n" + SIGNAL + SECOND + "    to[64] = to[0]; // here\n  }\n", "still in a data cache"),
    ("unseen_copy", FIRST + "    to[0] = 1;\n" + ALL + "    copy_gm_to_ubuf((__ubuf__ int32_t *)a, (__gm__ int32_t *)to, 0, 1, 1, 0, 0); // here\n" + ALL +
     "    to[64] = a[0];\n  }\n", "still in a data cache"),
    ("unseen_by_core", FIRST + "    to[0] = 1;\n  }\n" + SIGNAL + SECOND +
     "    copy_gm_to_ubuf((__ubuf__ int32_t *)a, (__gm__ int32_t *)to, 0, 1, 1, 0, 0); // here\n" + ALL + "    to[64] = a[0];\n  }\n", "still in a data cache"),
)
WARNED = (
    ("side_by_side", "  to[block_idx] = 1; // here\n", "stores of several cores"),
    ("beside", SECOND + "    to[64] = to[1];\n  }\n" + SIGNAL + FIRST + "    to[0] = 1;\n  " + CLEAN + "  }\n" + SIGNAL + SECOND +
     "    to[8] = 2; // here\n  }\n", "stores of several cores"),
)
RIGHT = (
    ("handed_over", FIRST + "    to[0] = 1;\n  " + CLEAN + "  }\n" + SIGNAL + SECOND + "    to[64] = to[0];\n  }\n"),
    ("given_up", SECOND + "    to[64] = to[2];\n  }\n" + SIGNAL + FIRST + "    to[2] = 7;\n  " + CLEAN + "  }\n" + SIGNAL + SECOND +
     CLEAN + "    to[80] = to[2];\n  }\n"),
    ("all_given_up", FIRST + "    to[64] = to[0];\n" + FILL + OUT + "    dcci((__gm__ void *)0, ENTIRE_DATA_CACHE);\n    to[65] = to[0];\n  }\n"),
    ("own", "  for (int i = 0; i < 32; i++)\n    to[64 + 32 * block_idx + i] = i;\n  int32_t sum = 0;\n  for (int i = 0; i < 32; i++)\n"
     "    sum += to[64 + 32 * block_idx + i];\n  to[64 + 32 * block_idx] = sum;\n"),
    ("past_the_cache", FIRST + "    st_dev((int32_t)5, (__gm__ int32_t *)to, 0);\n  }\n" + SIGNAL + SECOND + "    to[64] = to[0];\n  }\n"),
    ("copied", FIRST + "    to[0] = 1;\n  " + CLEAN + ALL + "    copy_gm_to_ubuf((__ubuf__ int32_t *)a, (__gm__ int32_t *)to, 0, 1, 1, 0, 0);\n" + ALL +
     "    to[64] = a[0];\n  }\n"),
    ("first_look", FIRST + FILL + OUT + "    to[64] = to[3];\n  }\n"),
    ("apart", "  to[16 * block_idx] = 1;\n"),
)


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder, timeout=300)


def execute(verb, name, *more):
    return command(verb, f"caches.so:{name}", "--blocks=2", "--soc-version=Ascend910B4", "--fill=random:1", "-q", *more,
                   "--arg", "name=x,dtype=int32,shape=256,io=in", "--arg", "name=y,dtype=int32,shape=256,io=inout")


text = ""
lines = {}
for name, body, *_ in WRONG + WARNED + RIGHT:
    head = f'extern "C" __global__ __aicore__ __vector__ void {name}(GM_ADDR x, GM_ADDR y) {{\n' + BEGIN
    at = (head + body).split("\n")
    lines[name] = text.count("\n") + next((i + 1 for i, line in enumerate(at) if "// here" in line), 0)
    text += head + body + "}\n"
with open(os.path.join(folder, "caches.cpp"), "w", encoding="utf-8") as out:
    out.write(text)
made = command("cc", "--kernel-only", "caches.cpp", "-o", "caches.so")
report("the kernels are compiled", made.stderr if made.returncode else "")
for cases, level, code in ((WRONG, "ERROR", 5), (WARNED, "WARNING", 0)):
    for name, _, wanted in cases:
        run = execute("check", name)
        said = run.stdout + run.stderr
        found = any(wanted in part.split("\n")[0] and f"caches.cpp:{lines[name]} " in part
                    for part in said.split(f"====== {level}: ")[1:])
        only = said.count("====== ERROR: ") == (level == "ERROR")
        report(f"check of {name}: {wanted}", "" if run.returncode == code and found and only
               else f"{run.returncode}, line {lines[name]}: {said}")
for name, _ in RIGHT:
    run = execute("check", name)
    clean = run.returncode == 0 and "ERROR" not in run.stdout and "WARNING" not in run.stdout
    report(f"check of {name}: ok", "" if clean else run.stdout + run.stderr)
plan()
