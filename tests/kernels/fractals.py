#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Kernels that use what nobody wrote of fractals and of lanes behind a copy, or write a place twice at once: wrong ones, each
with the finding at its line, and right ones without a finding. Prints TAP.

    fractals.py VINCI FOLDER_FOR_FILES
"""

import os
import subprocess
import sys

from tap import plan, report

vinci = sys.argv[1]
folder = os.path.realpath(sys.argv[2])
CUBE = """  __cbuf__ half *l1 = (__cbuf__ half *)(uintptr_t)0;
  __ca__ half *l0a = (__ca__ half *)(uintptr_t)0;
  __cb__ half *l0b = (__cb__ half *)(uintptr_t)0;
  __cc__ float *l0c = (__cc__ float *)(uintptr_t)0;
"""
VECTOR = """  __ubuf__ half *a = (__ubuf__ half *)(uintptr_t)0, *b = (__ubuf__ half *)(uintptr_t)8192;
  __ubuf__ float *fa = (__ubuf__ float *)a, *fb = (__ubuf__ float *)b;
  set_mask_norm();
"""
ALL = "  pipe_barrier(PIPE_ALL);\n"


def rows(count, to="l1", columns=16):
    """Rows of a 16 x 16 fractal, or two, on their way into L1."""
    return f"  copy_gm_to_cbuf_multi_nd2nz_b16({to}, (__gm__ half *)x, 0, 1, {count}, {columns}, 0, {columns}, 16, 1, 0);\n"


def load(left="l1", right="l1", fractals=1):
    return (f"  load_cbuf_to_ca(l0a, {left}, 0, {fractals}, 1, 0, 0, false, inc);\n"
            f"  load_cbuf_to_cb(l0b, {right}, 0, {fractals}, 1, 0, 0, false, inc);\n") + ALL


def product(m=16, k=16, n=16, mark=""):
    return f"  mad(l0c, l0a, l0b, {m}, {k}, {n}, 0, false, false, true);{mark}\n" + ALL


def store(m=16, n=16, stride=16, to="float", quant="NoQuant", mark=""):
    return f"  set_nd_para(1);\n  copy_matrix_cc_to_gm((__gm__ {to} *)y, l0c, 0, {n}, {m}, {stride}, 16, 0, {quant}, 0, false, true);{mark}\n"


HERE = " // here"
LANES = "  copy_gm_to_ubuf_align_b{0}({1}, (__gm__ {2} *)x, 0, 1, {3}, 0, {4}, 0, 0);\n" + ALL
# Name, core, body, level and words of the finding at the line with "// here".
WRONG = (
    ("fixpipe_rows", "cube", rows(16) + ALL + load() + product() + store(stride=8, mark=HERE), "ERROR", "overlapping rows of one write"),
    ("fixpipe_rows_fp16", "cube", rows(16) + ALL + load() + product() + store(to="half", quant="F322F16", stride=15, mark=HERE), "ERROR",
     "overlapping rows of one write"),
    ("left_rows", "cube", rows(10) + rows(16, "l1 + 256") + ALL + load("l1", "l1 + 256") + product() + store(mark=HERE), "ERROR",
     "uninitialized read"),
    ("right_rows", "cube", rows(16) + rows(12, "l1 + 256") + ALL + load("l1", "l1 + 256") + product() + store(mark=HERE), "ERROR",
     "uninitialized read"),
    ("left_fractal", "cube", rows(16) + ALL + "  load_cbuf_to_ca(l0a, l1, 0, 2, 1, 0, 0, false, inc); // here\n" + ALL, "ERROR", "uninitialized read"),
    ("tail_k", "cube", rows(16) + ALL + load() + product(k=12, mark=HERE), "NOTE", "undefined on some boards"),
    ("tail_k_of_two", "cube", rows(16, columns=32) + ALL + load(fractals=2) + product(k=24, mark=HERE), "NOTE", "undefined on some boards"),
    ("sum_of_lanes", "vector", LANES.format(16, "a", "half", 26, 0) + "  set_vector_mask(0, 0xffff);\n  vcadd(b, a, 1, 1, 1, 8, 0); // here\n" + ALL,
     "WARNING", "use of lanes behind the data of a copy"),
    ("largest_of_lanes", "vector", LANES.format(32, "fa", "float", 20, 0) +
     "  set_vector_mask(0, 0xff);\n  vcmax(fb, fa, 1, 1, 1, 8, ONLY_VALUE); // here\n" + ALL, "WARNING", "use of lanes behind the data of a copy"),
    ("scalar_of_lanes", "vector", LANES.format(16, "a", "half", 26, 0) + "  *(__gm__ half *)y = *(__ubuf__ volatile half *)(a + 14); // here\n", "WARNING",
     "use of lanes behind the data of a copy"),
    ("short_copy", "vector", "  copy_gm_to_ubuf(a, (__gm__ half *)x, 0, 1, 3, 0, 0);\n" + ALL +
     "  set_vector_mask(0, 0xffffffffffffffff);\n  vadds(b, a, (half)1, 1, 1, 1, 8, 8); // here\n" + ALL, "ERROR", "uninitialized read"),
)
RIGHT = (
    ("whole", "cube", rows(16) + ALL + load() + product() + store()),
    ("few_rows", "cube", rows(10) + rows(16, "l1 + 256") + ALL + load("l1", "l1 + 256") + product(m=10) + store(m=10)),
    ("wide_rows", "cube", rows(16) + ALL + load() + product() + store(stride=16, to="half", quant="F322F16")),
    ("padded", "vector", "  set_mov_pad_val(0);\n" + LANES.format(16, "a", "half", 26, 3) +
     "  set_vector_mask(0, 0xffff);\n  vcadd(b, a, 1, 1, 1, 8, 0);\n" + ALL),
    ("masked", "vector", LANES.format(16, "a", "half", 26, 0) + "  set_vector_mask(0, 0x1fff);\n  vcadd(b, a, 1, 1, 1, 8, 0);\n" + ALL),
)


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder, timeout=300)


def check(name):
    return command("check", f"fractals.so:{name}", "--soc-version=Ascend910B4", "-q", "--arg", "name=x,dtype=fp16,shape=16x32,io=in",
                   "--arg", "name=y,dtype=fp32,shape=16x16,io=out")


text = ""
lines = {}
for name, core, body, *_ in WRONG + RIGHT:
    head = f'extern "C" __global__ __aicore__ __{core}__ void {name}(GM_ADDR x, GM_ADDR y) {{\n'
    begin, guard = (CUBE, "__DAV_C220_CUBE__") if core == "cube" else (VECTOR, "__DAV_C220_VEC__")
    whole = f"{head}#ifdef {guard}\n{begin}{body}#endif\n}}\n"
    marks = [i for i, line in enumerate(whole.split("\n"), 1) if "// here" in line]
    lines[name] = text.count("\n") + (marks[0] if marks else 0)
    text += whole
with open(os.path.join(folder, "fractals.cpp"), "w", encoding="utf-8") as out:
    out.write(text)
made = command("cc", "--kernel-only", "fractals.cpp", "-o", "fractals.so")
report("the kernels are compiled", made.stderr if made.returncode else "")
for name, _, _, level, wanted in WRONG:
    run = check(name)
    said = run.stdout + run.stderr
    found = any(part.startswith(wanted) and f"fractals.cpp:{lines[name]} " in part for part in said.split(f"====== {level}: ")[1:])
    only = said.count("====== ERROR: ") == (level == "ERROR")
    report(f"check of {name}: {wanted}", "" if found and only and run.returncode == (5 if level == "ERROR" else 0)
           else f"{run.returncode}, line {lines[name]}: {said}")
for name, *_ in RIGHT:
    run = check(name)
    report(f"check of {name}: ok", "" if run.returncode == 0 and "======" not in run.stdout else run.stdout + run.stderr)
plan()
