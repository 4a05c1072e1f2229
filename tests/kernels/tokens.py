#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Copies and tokens of buffers of the 950 from source: values beside numpy, what two buffers gain, checks, mistakes.
Prints TAP.

    tokens.py VINCI FOLDER_FOR_FILES
"""

import json
import os
import subprocess
import sys

import numpy as np

from tap import plan, report

vinci = os.path.realpath(sys.argv[1])
folder = os.path.realpath(sys.argv[2])
chip = "--soc-version=Ascend950PR_9589"
random = np.random.default_rng(11)

# Each tile of 2048 numbers is doubled in one of `buffers` places of UB. A token of each place orders pipes: the copy
# into the place waits until its last result has left, and so on.
TILES = """
extern "C" __global__ __aicore__ void tiles(__gm__ float *x, __gm__ float *y, uint64_t buffers) {
  for (uint64_t i = 0; i < 12; i++) {
    uint8_t id = (uint8_t)(i %% buffers);
    __ubuf__ float *tile = (__ubuf__ float *)(uint64_t)(id * 8192);
    %(before_in)s
    copy_gm_to_ubuf_align_v2(tile, x + i * 2048, 0, 1, 8192, 0, 0, false, 0, 8192, 8192);
    %(after_in)s
    %(before_work)s
    __VEC_SCOPE__ {
      vector_f32 a;
      vector_bool all = pset_b32(PAT_ALL);
      for (uint16_t k = 0; k < 32; k++) {
        vlds(a, tile, k * 64, NORM);
        vmuls(a, a, 2.0f, all, MODE_ZEROING);
        vsts(a, tile, k * 64, NORM_B32, all);
      }
    }
    %(after_work)s
    %(before_out)s
    copy_ubuf_to_gm_align_v2(y + i * 2048, tile, 0, 1, 8192, 0, 8192, 8192);
    %(after_out)s
  }
}
"""
LOCKS = {
    "before_in": "get_buf(PIPE_MTE2, id, 0);",
    "after_in": "rls_buf(PIPE_MTE2, id, 0);",
    "before_work": "get_buf(PIPE_V, id, 0);",
    "after_work": "rls_buf(PIPE_V, id, 0);",
    "before_out": "get_buf(PIPE_MTE3, id, 0);",
    "after_out": "rls_buf(PIPE_MTE3, id, 0);",
}


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder)


def compiled(name, text):
    source, library = name + ".cpp", f"./{name}.so"
    with open(os.path.join(folder, source), "w", encoding="utf-8") as out:
        out.write(text)
    made = command("cc", "--kernel-only", "--npu-arch=dav-3510", source, "-o", library)
    if made.returncode != 0:
        report(f"{name} compiles", made.stderr)
    return library


def tensor(name, array, io):
    dtype = {"float32": "fp32", "float16": "fp16", "uint8": "uint8"}[array.dtype.name]
    return ["--arg", f"name={name},dtype={dtype},shape={array.size},io={io}"]


def values(text, library, kernel, x, y, *numbers):
    np.save(os.path.join(folder, "x.npy"), x)
    np.save(os.path.join(folder, "y.npy"), y)
    words = [*tensor("x", x, "in"), *tensor("y", y, "out")]
    for number in numbers:
        words += ["--arg", f"value={number}"]
    made = command("run", f"{library}:{kernel}", "--blocks=1", *words, chip, "--values", "--quiet", "--input=x=x.npy",
                   "--expect=y=y.npy")
    report(text, "" if made.returncode == 0 else f"{made.returncode}: {made.stdout}{made.stderr}")


def cycles(library, buffers):
    x = np.zeros(12 * 2048, np.float32)
    made = command("run", f"{library}:tiles", "--blocks=1", *tensor("x", x, "in"), *tensor("y", x, "out"), "--arg",
                   f"value={buffers}", chip, "--json")
    return json.loads(made.stdout)["total_cycles"] if made.returncode == 0 else made.stderr


def check(library, kernel, size, *numbers):
    x = np.zeros(size, np.float32)
    words = [*tensor("x", x, "in"), *tensor("y", x, "out")]
    for number in numbers:
        words += ["--arg", f"value={number}"]
    return command("check", f"{library}:{kernel}", "--blocks=1", *words, chip)


plan(16)

# ---- tokens ----

x = random.standard_normal(12 * 2048).astype(np.float32)
tiles = compiled("tiles", TILES % LOCKS)
values("one buffer with a token", tiles, "tiles", x, 2 * x, 1)
values("three buffers", tiles, "tiles", x, 2 * x, 3)
found = [cycles(tiles, buffers) for buffers in (1, 2, 3)]
report("two buffers overlap copies and work, and a third gains no more than the second",
       "" if found[0] > 1.3 * found[1] and found[1] - found[2] < found[0] - found[1] else found)
for buffers in (1, 2):
    made = check(tiles, "tiles", x.size, buffers)
    report(f"checks find nothing with {buffers} of them", "" if made.returncode == 0 else made.stdout + made.stderr)
late = compiled("late", TILES % {**LOCKS, "before_work": ""})
made = check(late, "tiles", x.size, 2)
report("work that does not wait for its copy is a race",
       "" if made.returncode == 5 and "late.cpp:14 reg_vlds" in made.stdout + made.stderr else made.stdout + made.stderr)
early = compiled("early", TILES % {**LOCKS, "before_in": "get_buf(PIPE_MTE2, id, 1);"})
made = check(early, "tiles", x.size, 2)
report("a lock that does not block orders nothing", "" if made.returncode == 5 else made.stdout + made.stderr)

# Flags of the code itself, with the number that tokens would take, between the same pipes.
own = compiled("own", TILES % {
    **LOCKS,
    "before_out": "set_flag(PIPE_V, PIPE_MTE3, 7); wait_flag(PIPE_V, PIPE_MTE3, 7); get_buf(PIPE_MTE3, id, 0);"})
values("a flag that the code uses itself is left to the code", own, "tiles", x, 2 * x, 2)
later = compiled("later", TILES % {
    **LOCKS,
    "after_out": "rls_buf(PIPE_MTE3, id, 0); set_flag(PIPE_V, PIPE_MTE3, 7); wait_flag(PIPE_V, PIPE_MTE3, 7);"})
made = check(later, "tiles", x.size, 2)
report("and told where tokens have it already", "" if made.returncode == 3 and
       "later.cpp:22: error: set_flag: tokens of buffers" in made.stderr else f"{made.returncode} {made.stderr}")
wrong = compiled("wrong", TILES % {**LOCKS, "before_in": "get_buf(PIPE_MTE2, 40, 0);"})
made = check(wrong, "tiles", x.size, 1)
report("a token that there is not", "" if made.returncode == 3 and
       "wrong.cpp:6: error: block 0: a token of a buffer has a pipe, and a number of 0 to 31" in made.stderr else
       f"{made.returncode} {made.stderr}")

# ---- copies ----

# Two loops around runs of 20 bytes with gaps, with two numbers of fill behind each, and back without the fill.
LOOPS = """
extern "C" __global__ __aicore__ void loops(__gm__ float *x, __gm__ float *y) {
  __ubuf__ float *tile = (__ubuf__ float *)0;
  set_mov_pad_val(0x3f800000);
  set_loop_size_outtoub(3 | (uint64_t)2 << 21);
  set_loop1_stride_outtoub(160 | (uint64_t)128 << 40);
  set_loop2_stride_outtoub(640 | (uint64_t)512 << 40);
  copy_gm_to_ubuf_align_v2(tile, x, 0, 4, 20, 0, 2, true, 0, 40, 32);
  set_loop_size_outtoub(1 | (uint64_t)1 << 21);
  set_flag(PIPE_MTE2, PIPE_MTE3, 0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, 0);
  set_loop_size_ubtoout(3 | (uint64_t)2 << 21);
  set_loop1_stride_ubtoout(112 | (uint64_t)128 << 40);
  set_loop2_stride_ubtoout(336 | (uint64_t)512 << 40);
  copy_ubuf_to_gm_align_v2(y, tile, 0, 4, 28, 0, 28, 32);
}
"""
x = random.standard_normal(320).astype(np.float32)
want = [[list(x[160 * i + 40 * j + 10 * k:][:5]) + [1, 1] for k in range(4)] for i in range(2) for j in range(3)]
loops = compiled("loops", LOOPS)
values("runs with gaps and fills, in two loops, into UB and out", loops, "loops", x,
       np.array(want, np.float32).reshape(-1))
made = check(loops, "loops", 320)
report("and checks find nothing", "" if made.returncode == 0 else made.stdout + made.stderr)
made = check(compiled("near", LOOPS.replace("true, 0, 40, 32", "true, 0, 40, 28")), "loops", 320)
report("runs that share a block of UB are refused at their line", "" if made.returncode == 3 and
       "near.cpp:8: error: block 0: runs that do not begin at blocks of their own are not modelled" in made.stderr
       else f"{made.returncode} {made.stderr}")

# One run of GM to four places, and runs that overlap by half: distances that are shorter than a run.
NEAR = """
extern "C" __global__ __aicore__ void again(__gm__ float *x, __gm__ float *y) {
  __ubuf__ float *tile = (__ubuf__ float *)0;
  copy_gm_to_ubuf_align_v2(tile, x, 0, 4, 64, 0, 0, false, 0, 0, 64);
  copy_gm_to_ubuf_align_v2(tile + 64, x, 0, 4, 64, 0, 0, false, 0, 32, 64);
  set_flag(PIPE_MTE2, PIPE_MTE3, 0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, 0);
  copy_ubuf_to_gm_align_v2(y, tile, 0, 1, 512, 0, 512, 512);
}
"""
x = random.standard_normal(128).astype(np.float32)
want = np.concatenate([x[:16]] * 4 + [x[8 * i:8 * i + 16] for i in range(4)])
again = compiled("again", NEAR)
values("one run for many places, and runs that overlap", again, "again", x, want)
made = check(again, "again", 128)
report("and checks find nothing in them", "" if made.returncode == 0 else made.stdout + made.stderr)

# Releases and tokens that nobody holds issue nothing; such a loop ends all the same.
made = command("run", compiled("endless", """
extern "C" __global__ __aicore__ void endless(__gm__ float *x, __gm__ float *y) {
  for (;;) {
    get_buf(PIPE_V, 0, 0);
    rls_buf(PIPE_V, 0, 0);
  }
}
""") + ":endless", "--blocks=1", chip, "--arg", "name=x,dtype=fp32,shape=8,io=in", "--arg", "name=y,dtype=fp32,shape=8,io=out")
report("a loop of tokens alone is told", "" if made.returncode == 3 and
       "endless.cpp:5: error: block 0: the kernel goes round in a loop" in made.stderr else f"{made.returncode} {made.stderr}")
