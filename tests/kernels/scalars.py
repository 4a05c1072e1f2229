#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Kernels whose scalar code loads and stores: wrong ones, each with the finding at its line, and right ones without a
finding. Prints TAP.

    scalars.py VINCI FOLDER_FOR_FILES
"""

import os
import subprocess
import sys

from tap import plan, report

vinci = sys.argv[1]
folder = os.path.realpath(sys.argv[2])
BEGIN = """  __gm__ volatile half *from = (__gm__ half *)x, *to = (__gm__ half *)y;
  __ubuf__ volatile half *a = (__ubuf__ half *)(uintptr_t)0, *b = (__ubuf__ half *)(uintptr_t)8192;
  int64_t own = block_idx * 128;
  set_mask_norm();
  set_vector_mask(-1, -1);
"""
LOAD = "  copy_gm_to_ubuf((__ubuf__ half *)a, (__gm__ half *)from + own, 0, 1, 8, 0, 0);\n"
STORE = "  copy_ubuf_to_gm((__gm__ half *)to + own, (__ubuf__ half *)b, 0, 1, 8, 0, 0);"
ADD = "  vadds((__ubuf__ half *)b, (__ubuf__ half *)a, (half)1, 1, 1, 1, 8, 8);"
FILL = "  for (int i = 0; i < 128; i++)\n    a[i] = (half)i;\n"


# A function that stays one: what goes wrong in there has the line of the call.
LIBRARY = """__attribute__((noinline)) static void add_one(__ubuf__ half *to, __ubuf__ half *from) {
  vadds(to, from, (half)1, 1, 1, 1, 8, 8);
}
"""


def then(source, target):
    return f"  set_flag(PIPE_{source}, PIPE_{target}, EVENT_ID0);\n  wait_flag(PIPE_{source}, PIPE_{target}, EVENT_ID0);\n"


def signal():
    return "  ffts_cross_core_sync(PIPE_MTE3, 1 | 3 << 8);\n  wait_flag_dev(3);\n"


# Name, body, words of the finding, and the exit code of a run (0: it is not noticed without a check). The line of the
# finding ends with "// here".
WRONG = (
    ("tail_store", "  for (int i = 0; i < 129; i++)\n    to[own + i] = (half)1; // here\n", "illegal write", 3),
    ("tail_load", "  to[own] = from[own + 128 * 3]; // here\n", "illegal read", 3),
    ("before", "  for (int i = 0; i < 128; i++)\n    to[own + i] = from[own + i - 1]; // here\n", "illegal read", 0),
    ("input", "  from[own] = (half)2; // here\n", "illegal write to an input", 0),
    ("input_copy", "  memcpy((void *)(from + own), (void *)(to + own), 64); // here\n", "illegal write to an input", 0),
    ("ub_store", "  a[98304 + 5] = (half)1; // here\n", "illegal write", 3),
    ("ub_load", "  to[own] = a[98304]; // here\n", "illegal read", 3),
    ("ub_negative", "  a[block_num - 3] = (half)1; // here\n", "illegal write", 3),
    ("nowhere", "  *(volatile half *)(own + 24) = (half)1; // here\n", "illegal write", 3),
    ("far", "  to[own + ((int64_t)1 << 36)] = (half)1; // here\n", "illegal write", 3),
    ("above", "  to[own + ((int64_t)1 << 45)] = (half)1; // here\n", "illegal write", 3),
    ("odd_store", "  *(__gm__ volatile int32_t *)(to + own + 1) = 1; // here\n", "misaligned access", 0),
    ("odd_load", "  *(__gm__ int32_t *)(to + own) = *(__gm__ int32_t *)(from + own + 3) + 7; // here\n", "misaligned access", 0),
    ("odd_sum", "  int32_t sum = 0;\n  for (int i = 0; i < 8; i++)\n    sum += *(__gm__ int32_t *)(from + own + 2 * i + 1); // here\n"
     "  *(__gm__ int32_t *)(to + own) = sum;\n", "misaligned access", 0),
    ("odd_ub", "  *(__ubuf__ volatile float *)(uintptr_t)(4 * block_num + 2) = 1.0f; // here\n", "misaligned access", 0),
    ("odd_long", "  *(__gm__ volatile int64_t *)(to + own + 2) = 1; // here\n", "misaligned access", 0),
    ("barrier", LOAD + then("MTE2", "V") + ADD + "\n  pipe_barrier(PIPE_V);\n  to[own] = b[3]; // here\n", "RAW", 0),
    ("in_library", LOAD + "  add_one((__ubuf__ half *)b, (__ubuf__ half *)a); // here\n  pipe_barrier(PIPE_ALL);\n", "RAW", 0),
    ("copied", LOAD + "  to[own] = a[3]; // here\n", "RAW", 0),
    ("other_flag", LOAD + then("MTE2", "V") + "  to[own] = a[3]; // here\n", "RAW", 0),
    ("to_vector", FILL + ADD + " // here\n  pipe_barrier(PIPE_ALL);\n", "RAW", 0),
    ("to_vector_wait", LOAD + then("MTE2", "S") + "  a[5] = (half)1;\n" + then("MTE2", "V") + ADD + " // here\n", "RAW", 0),
    ("to_copy", FILL.replace("a[i]", "b[i]") + STORE + " // here\n", "RAW", 0),
    ("to_copy_wait", FILL + then("S", "V") + ADD + "\n" + then("V", "S") + "  b[5] = (half)1;\n" + then("V", "MTE3") + STORE +
     " // here\n", "RAW", 0),
    ("over_copy", LOAD + then("MTE2", "V") + ADD + "\n" + then("V", "MTE3") + STORE + "\n" + then("V", "S") +
     "  b[0] = (half)1; // here\n", "WAR", 0),
    ("over_vector", LOAD + then("MTE2", "V") + ADD + "\n" + then("MTE2", "S") + "  a[0] = (half)1; // here\n", "WAR", 0),
    ("same_place", "  to[7] = (half)1; // here\n", "blocks write the same memory", 0),
    ("same_tail", "  for (int i = 0; i < 129 - block_idx; i++)\n    to[own + i] = (half)1; // here\n", "blocks write the same memory", 0),
    ("other_core", "  if (block_idx == 0)\n    to[0] = (half)1; // here\n  else\n    to[128] = to[0];\n", "RAW", 0),
    ("early_signal", "  if (block_idx == 0)\n    to[0] = (half)1; // here\n" + signal() + "  if (block_idx == 1)\n    to[128] = to[0];\n",
     "RAW", 0),
    ("empty_ub", "  to[own] = b[9]; // here\n", "uninitialized read", 0),
    ("half_filled", FILL.replace("128", "64") + "  to[own] = a[64]; // here\n", "uninitialized read", 0),
    ("empty_output", "  half old = to[own + 1]; // here\n  to[own] = old;\n", "uninitialized read", 0),
)
RIGHT = (
    ("filled", FILL + then("S", "V") + ADD + "\n" + then("V", "MTE3") + STORE + "\n"),
    ("waits", LOAD + then("MTE2", "V") + ADD + "\n" + then("V", "S") + "  b[3] = b[3] + (half)100;\n" + then("S", "MTE3") + STORE + "\n"),
    ("waits_copy", LOAD + then("MTE2", "S") + "  a[0] = a[1];\n" + then("S", "V") + ADD + "\n" + then("V", "MTE3") + STORE + "\n"),
    ("barriers", FILL + "  pipe_barrier(PIPE_ALL);\n" + ADD + "\n  pipe_barrier(PIPE_ALL);\n  b[1] = b[2];\n  pipe_barrier(PIPE_ALL);\n" +
     STORE + "\n"),
    ("device", "  for (int i = 0; i < 128; i++)\n    to[own + i] = from[own + i];\n"),
    ("sums", FILL + "  for (int i = 1; i < 128; i++)\n    a[i] = a[i] + a[i - 1];\n  to[own] = a[127];\n  to[own] = to[own] + (half)1;\n"),
    ("variables", "  half table[128];\n  static half kept[4] = {1, 2, 3, 4};\n  for (int i = 0; i < 128; i++)\n"
     "    ((volatile half *)table)[127 - i] = from[own + i] + kept[i % 4];\n  for (int i = 0; i < 128; i++)\n"
     "    to[own + i] = table[i];\n"),
    ("copies", "  memcpy((void *)(to + own), (void *)(from + own), 256);\n"),
    ("next_core", "  if (block_idx == 0) {\n    to[0] = (half)1;\n    dcci((__gm__ void *)to, SINGLE_CACHE_LINE);\n  }\n" + signal() +
     "  if (block_idx == 1)\n    to[128] = to[0];\n"),
    ("joined", "  __gm__ half *side = (__gm__ half *)to + own + 1;\n  side[0] = (half)1;\n  side[1] = (half)1;\n  side[2] = (half)1;\n"
     "  side[3] = (half)1;\n  for (int i = 4; i < 100; i++)\n    side[i] = (half)2;\n"),
    ("packed", "  struct __attribute__((packed)) pair {\n    int8_t first;\n    int32_t second;\n  };\n"
     "  ((__gm__ pair *)(to + own))->second = ((__gm__ pair *)(from + own))->second;\n"),
    ("structures", "  struct three {\n    int16_t a, b, c, d, e;\n  };\n  *(__gm__ three *)(to + own + 1) = *(__gm__ three *)(from + own + 1);\n"),
    ("anywhere", "  int64_t value = 5;\n  memcpy((void *)((__gm__ int8_t *)to + 2 * own + 3), &value, 8);\n"),
    ("last_bytes", "  a[98303] = from[own + 127];\n  to[own + 127] = a[98303];\n"),
)


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder, timeout=300)


def execute(verb, name):
    tensor = "dtype=fp16,shape=256"
    return command(verb, f"scalars.so:{name}", "--blocks=2", "--soc-version=Ascend910B4", "--fill=random:1", "-q",
                   "--arg", f"name=x,{tensor},io=in", "--arg", f"name=y,{tensor},io=out")


with open(os.path.join(folder, "library.h"), "w", encoding="utf-8") as out:
    out.write(LIBRARY)
text = '#include "library.h"\n'
lines = {}
for name, body, *_ in WRONG + RIGHT:
    head = f'extern "C" __global__ __aicore__ __vector__ void {name}(GM_ADDR x, GM_ADDR y) {{\n' + BEGIN
    at = (head + body).split("\n")
    lines[name] = text.count("\n") + next((i + 1 for i, line in enumerate(at) if "// here" in line), 0)
    text += head + body + "}\n"
text += """extern "C" __global__ __aicore__ __vector__ void next_tensor(GM_ADDR x, GM_ADDR other, GM_ADDR y) {
  ((__gm__ half *)y)[block_idx * 128] = ((__gm__ half *)x)[(block_idx + 1) * 128];
}
"""
with open(os.path.join(folder, "scalars.cpp"), "w", encoding="utf-8") as out:
    out.write(text)
made = command("cc", "--kernel-only", "scalars.cpp", "-o", "scalars.so")
report("the kernels are compiled", made.stderr if made.returncode else "")
for name, _, wanted, code in WRONG:
    run = execute("check", name)
    said = run.stdout + run.stderr
    findings = [part for part in said.split("====== ERROR: ")[1:] if wanted in part.split("\n")[0]]
    found = any(f"scalars.cpp:{lines[name]} " in part for part in findings)
    report(f"check of {name}: {wanted}", "" if run.returncode == 5 and found else f"{run.returncode}, line {lines[name]}: {said}")
    run = execute("run", name)
    good = run.returncode == code and (code == 0 or f"scalars.cpp:{lines[name]}: error: block " in run.stderr)
    report(f"a run of {name}", "" if good else f"{run.returncode}: {run.stderr}")
for name, _ in RIGHT:
    run = execute("check", name)
    report(f"check of {name}: ok", "" if run.returncode == 0 and "ERROR" not in run.stdout else run.stdout + run.stderr)
run = command("check", "scalars.so:next_tensor", "--blocks=2", "--soc-version=Ascend910B4", "-q", "--arg", "name=x,dtype=fp16,shape=256,io=in",
              "--arg", "name=other,dtype=fp16,shape=256,io=in", "--arg", "name=y,dtype=fp16,shape=256,io=out")
report("a core that takes the begin of the next tensor", "" if run.returncode == 5 and 'behind the end of tensor "x"' in run.stdout else run.stdout)
for name, wanted in (("tail_store", '0 bytes behind the end of tensor "y"'), ("ub_store", "byte 196618 of UB, which has 196608 bytes"),
                     ("ub_negative", "byte -2 of UB")):
    run = execute("run", name)
    report(f"a run of {name} tells where", "" if wanted in run.stderr else run.stderr)
plan()
