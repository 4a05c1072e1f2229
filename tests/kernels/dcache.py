#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Values as data caches leave them: kernels with --values, and with --values --dcache. Prints TAP.

    dcache.py VINCI FOLDER_FOR_FILES
"""

import os
import subprocess
import sys

import numpy as np

from tap import plan, report

vinci = sys.argv[1]
folder = os.path.realpath(sys.argv[2])
BEGIN = """  __gm__ volatile int32_t *from = (__gm__ int32_t *)x, *to = (__gm__ int32_t *)y;
  __ubuf__ volatile int32_t *a = (__ubuf__ int32_t *)(uintptr_t)0;
  int64_t own = block_idx * 64;
  for (int i = 0; i < 16; i++)
    a[i] = 100 + i;
  pipe_barrier(PIPE_ALL);
"""
COPY_OUT = "  copy_ubuf_to_gm((__gm__ int32_t *)to + own, (__ubuf__ int32_t *)a, 0, 1, 2, 0, 0);\n  pipe_barrier(PIPE_ALL);\n"
COPY_IN = "  copy_gm_to_ubuf((__ubuf__ int32_t *)a, (__gm__ int32_t *)to + own, 0, 1, 2, 0, 0);\n  pipe_barrier(PIPE_ALL);\n"
CLEAN = "  dcci((__gm__ void *)(to + own), SINGLE_CACHE_LINE);\n"
SIGNAL = "  ffts_cross_core_sync(PIPE_MTE3, 1 | 3 << 8);\n  wait_flag_dev(3);\n"

# Name, body, what number 32 of each block is in values, and with caches (block 0, block 1). x is 0, 1, 2 ...
KERNELS = (
    ("old_line", "  int32_t old = to[own];\n" + COPY_OUT + "  to[own + 32] = to[own] + old;\n", (100, 100), (0, 0)),
    ("clean_line", "  int32_t old = to[own];\n" + COPY_OUT + CLEAN + "  to[own + 32] = to[own] + old;\n", (100, 100), (100, 100)),
    ("whole_cache", "  int32_t old = to[own];\n" + COPY_OUT + "  dcci((__gm__ void *)0, ENTIRE_DATA_CACHE);\n  to[own + 32] = to[own] + old;\n",
     (100, 100), (100, 100)),
    ("in_cache", "  to[own] = 7;\n  pipe_barrier(PIPE_ALL);\n" + COPY_IN + "  to[own + 32] = a[0];\n", (7, 7), (0, 0)),
    ("cleaned", "  to[own] = 7;\n" + CLEAN + COPY_IN + "  to[own + 32] = a[0];\n", (7, 7), (7, 7)),
    ("sees_itself", "  to[own] = 7;\n  pipe_barrier(PIPE_ALL);\n  to[own + 32] = to[own];\n", (7, 7), (7, 7)),
    ("at_the_end", "  to[own + 32] = from[own + 3] * 2;\n", (6, 134), (6, 134)),
    ("copied", "  memcpy((void *)(to + own + 32), (void *)(from + own), 64);\n", (0, 64), (0, 64)),
    ("other_core", "  if (block_idx == 0)\n    to[64] = 5;\n" + SIGNAL + "  if (block_idx == 1)\n    to[96] = to[64];\n", (0, 5), (0, 0)),
    ("other_core_cleaned", "  if (block_idx == 0) {\n    to[64] = 5;\n    dcci((__gm__ void *)(to + 64), SINGLE_CACHE_LINE);\n  }\n" + SIGNAL +
     "  if (block_idx == 1)\n    to[96] = to[64];\n", (0, 5), (0, 5)),
    # Both store into one line; that of the block that ends last goes over the other.
    ("side_by_side", "  if (block_idx == 0)\n    to[32] = 5;\n" + SIGNAL + "  if (block_idx == 1)\n    to[33] = 6;\n" + SIGNAL, (5, 0), (0, 0)),
    ("beside", "  st_dev((int32_t)9, (__gm__ int32_t *)to + own, 0);\n" + COPY_IN + "  to[own + 32] = a[0];\n", (9, 9), (9, 9)),
    ("load_beside", "  to[own] = 7;\n  pipe_barrier(PIPE_ALL);\n  to[own + 32] = ld_dev((__gm__ int32_t *)to + own, 0) + 2 * to[own];\n",
     (21, 21), (14, 14)),
)


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder, timeout=300)


def values(name, *words):
    run = command("run", f"dcache.so:{name}", "--blocks=2", "--soc-version=Ascend910B4", "-q", "--values", "--input", "x=x.npy",
                  f"--output={name}", *words, "--arg", "name=x,dtype=int32,shape=128,io=in", "--arg", "name=y,dtype=int32,shape=128,io=out")
    if run.returncode != 0:
        return f"{run.returncode}: {run.stderr}"
    y = np.load(os.path.join(folder, name, "tensors", "y.npy"))
    return int(y[32]), int(y[96])


np.save(os.path.join(folder, "x.npy"), np.arange(128, dtype=np.int32))
with open(os.path.join(folder, "dcache.cpp"), "w", encoding="utf-8") as out:
    for name, body, *_ in KERNELS:
        out.write(f'extern "C" __global__ __aicore__ __vector__ void {name}(GM_ADDR x, GM_ADDR y) {{\n{BEGIN}{body}}}\n')
made = command("cc", "--kernel-only", "dcache.cpp", "-o", "dcache.so")
report("the kernels are compiled", made.stderr if made.returncode else "")
for name, _, plain, cached in KERNELS:
    for wanted, words in ((plain, ()), (cached, ("--dcache",))):
        found = values(name, *words)
        report(f"{name} {' '.join(words)}: {wanted}", "" if found == wanted else found)
run = command("run", "dcache.so:copied", "--soc-version=Ascend910B4", "--dcache", "--arg", "name=x,dtype=int32,shape=128,io=in",
              "--arg", "name=y,dtype=int32,shape=128,io=out")
report("--dcache needs --values", "" if run.returncode == 2 and "--dcache needs --values" in run.stderr else run.stderr)
run = command("run", "add", "shape=1024", "--soc-version=Ascend910B4", "--values", "--fill=zero", "--dcache")
report("--dcache needs a kernel", "" if run.returncode == 2 and "--dcache needs LIBRARY:KERNEL" in run.stderr else f"{run.returncode} {run.stderr}")
plan()
