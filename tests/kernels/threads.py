#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Functions of threads of the 950 from source, masks in UB, and copies of five dimensions: values beside numpy, checks, time, mistakes. Prints TAP.

    threads.py VINCI FOLDER_FOR_FILES
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
random = np.random.default_rng(12)

# Threads take turns over 1000 numbers in UB, and count in device memory how many are above 0.
THREADS = """
__simt_vf__ __launch_bounds__(1024) void turn(__ubuf__ float *tile, __gm__ float *z, uint32_t size) {
  for (uint32_t i = threadIdx.x + blockDim.x * threadIdx.y; i < size; i += blockDim.x * blockDim.y) {
    if (tile[i] > 0)
      atomicAdd(z, 1.0f);
    tile[i] = __fma(tile[i], tile[i], (float)threadIdx.y) + __expf(tile[i]);
    %(inside)s
  }
}
extern "C" __global__ __aicore__ void threads(__gm__ float *x, __gm__ float *y, __gm__ float *z) {
  __ubuf__ float *tile = (__ubuf__ float *)4096;
  copy_gm_to_ubuf_align_v2(tile, x, 0, 1, 4000, 0, 0, false, 0, 4000, 4000);
  set_flag(PIPE_MTE2, PIPE_V, 0);
  %(wait)s
  cce::async_invoke<turn>(cce::dim3(%(threads)s), tile, z, %(size)s);
  set_flag(PIPE_V, PIPE_MTE3, 0);
  wait_flag(PIPE_V, PIPE_MTE3, 0);
  copy_ubuf_to_gm_align_v2(y, tile, 0, 1, 4000, 0, 4000, 4000);
}
"""
# A header of the user gives functions of the C library by those of the chip.
OWN = """
inline float fabsf(float x) { return __fabsf(x); }
inline float roundf(float x) { return __roundf(x); }
inline float sqrtf(float x) { return __sqrtf(x); }
inline float powf(float x, float y) { return __powf(x, y); }
inline float exp2f(float x) { return powf(2.0f, x); }
""" + THREADS.replace("__fma(tile[i], tile[i], (float)threadIdx.y) + __expf(tile[i])",
                      "fabsf(tile[i]) > 1 ? exp2f(roundf(tile[i])) : sqrtf(fabsf(tile[i]))")
PLAIN = {"inside": "", "wait": "wait_flag(PIPE_MTE2, PIPE_V, 0);", "threads": "64, 2", "size": "1000"}

# Atomics compute in the type of the memory, in device memory and in UB.
ATOMICS = """
__simt_vf__ void once(__gm__ float *y, __ubuf__ float *tile, __ubuf__ bfloat16_t *brain) {
  __gm__ int64_t *wide = (__gm__ int64_t *)(y + 16);
  __gm__ half *narrow = (__gm__ half *)(y + 18);
  __gm__ uint8_t *byte = (__gm__ uint8_t *)(y + 19);
  y[0] = 0.5f;
  y[1] = atomicAdd(y, 1);
  wide[0] = 5000000000;
  y[2] = atomicAdd(wide, 1) == 5000000000 && wide[0] == 5000000001;
  y[3] = atomicMax((__gm__ uint64_t *)wide, -1) == 5000000001 && wide[0] == -1;
  y[4] = atomicCAS(wide, -1, 7000000000) == -1 && wide[0] == 7000000000;
  narrow[0] = (half)1.0f;
  y[5] = (float)atomicAdd(narrow, 0.25f) + (float)narrow[0];
  byte[0] = 100;
  y[6] = (float)atomicAdd(byte, 200) + byte[0];
  tile[0] = 2.5f;
  y[7] = atomicSub(tile, 1);
  y[8] = atomicCAS(tile, 1.5, 3);
  y[9] = tile[0];
  brain->bits = 0x3fc0;
  y[10] = (float)atomicAdd(brain, 1) + (float)atomicAdd(brain, 0);
  y[11] = atomicExch((volatile __gm__ float *)y, 4) + y[0];
  wide[0] = 0;
  y[18] = 0;
  y[19] = 0;
}
extern "C" __global__ __aicore__ void atomics(__gm__ float *y) {
  cce::async_invoke<once>(cce::dim3(1), y, (__ubuf__ float *)4096, (__ubuf__ bfloat16_t *)8192);
}
"""

# Scalar code and threads call one function.
SHARED = """
__attribute__((noinline)) __simt_callee__ float fetch(__ubuf__ float *p) { return *p; }
__attribute__((noinline)) __simt_callee__ int32_t past(__gm__ float *p) { return ld_dev((__gm__ int32_t *)p, 0); }
__simt_vf__ void next(__ubuf__ float *t, __gm__ float *x) {
  if (threadIdx.x < 8) t[8 + threadIdx.x] = fetch(t + threadIdx.x) + 1;
  %(inside)s
}
extern "C" __global__ __aicore__ void shared(__gm__ float *x, __gm__ float *y) {
  __ubuf__ float *t = (__ubuf__ float *)4096;
  copy_gm_to_ubuf_align_v2(t, x, 0, 1, 32, 0, 0, false, 0, 32, 32);
  set_flag(PIPE_MTE2, PIPE_V, 0);
  wait_flag(PIPE_MTE2, PIPE_V, 0);
  %(before)s
  __VEC_SCOPE__ {
    vector_f32 a;
    vector_bool all = pset_b32(PAT_ALL);
    vdup(a, 1.0f, all, MODE_ZEROING);
    vsts(a, t, 0, NORM_B32, all);
  }
  %(behind)s
  set_flag(PIPE_V, PIPE_MTE3, 0);
  wait_flag(PIPE_V, PIPE_MTE3, 0);
  copy_ubuf_to_gm_align_v2(y, t, 0, 1, 64, 0, 64, 64);
}
"""
CALL = "cce::async_invoke<next>(cce::dim3(32), t, x);"
FETCH = "if (fetch(t) > 1e30f) return;"
FLAGGED = "set_flag(PIPE_V, PIPE_S, 0); wait_flag(PIPE_V, PIPE_S, 0); " + FETCH + \
    " set_flag(PIPE_S, PIPE_V, 0); wait_flag(PIPE_S, PIPE_V, 0);"

# A thread starts more threads.
NESTED = """
__simt_vf__ void inner(__gm__ float *y) { y[threadIdx.x] = (float)blockDim.x; }
__simt_vf__ void outer(__gm__ float *y) {
  if (threadIdx.x == 0)
    cce::async_invoke<inner>(cce::dim3(4), y);
}
extern "C" __global__ __aicore__ void nested(__gm__ float *y) { cce::async_invoke<outer>(cce::dim3(32), y); }
"""

# The bits of comparisons: as they are and packed, in turn and twice, and of lanes side by side at an address that is not
# aligned.
MASKS = """
extern "C" __global__ __aicore__ void masks(__gm__ float *x, __gm__ float *y) {
  __ubuf__ float *tile = (__ubuf__ float *)0;
  __ubuf__ uint32_t *bits = (__ubuf__ uint32_t *)4096, *packed = (__ubuf__ uint32_t *)(4096 + %(packed)s);
  __ubuf__ uint32_t *lanes = (__ubuf__ uint32_t *)(8192 + 8);
  __ubuf__ float *out = (__ubuf__ float *)16384;
  copy_gm_to_ubuf_align_v2(tile, x, 0, 1, 2048, 0, 0, false, 0, 2048, 2048);
  set_flag(PIPE_MTE2, PIPE_V, 0);
  wait_flag(PIPE_MTE2, PIPE_V, 0);
  __VEC_SCOPE__ {
    vector_f32 a, one, zero;
    vector_bool all = pset_b32(PAT_ALL), above;
    vector_align held;
    vdup(one, 1.0f, all, MODE_ZEROING);
    vdup(zero, 0.0f, all, MODE_ZEROING);
    for (uint16_t k = 0; k < 8; k++) {
      vlds(a, tile, k * 64, NORM);
      vcmps_gt(above, a, 0.0f, all);
      psts(above, bits, k * 32, NORM);
      psts(above, packed, k * 16, PK);
      pstu(held, above, lanes);
    }
    vstas(held, lanes, 0);
    %(barrier)s
    for (uint16_t k = 0; k < 8; k++) {
      vector_bool again, twice, half;
      plds(again, bits, k * 32, NORM);
      vsel(a, one, zero, again);
      vsts(a, out, k * 192, NORM_B32, all);
      plds(twice, packed, k * 16, US);
      vsel(a, one, zero, twice);
      vsts(a, out, k * 192 + 64, NORM_B32, all);
      plds(half, bits, k / 2 * 64, DS);
      vsel(a, one, zero, half);
      vsts(a, out, k * 192 + 128, NORM_B32, all);
    }
  }
  set_flag(PIPE_V, PIPE_MTE3, 0);
  wait_flag(PIPE_V, PIPE_MTE3, 0);
  copy_ubuf_to_gm_align_v2(y, out, 0, 1, 6144, 0, 6144, 6144);
  copy_ubuf_to_gm_align_v2(y + 1536, (__ubuf__ float *)8192, 0, 1, 72, 0, 72, 96);
}
"""
STORED = {"packed": "512", "barrier": "mem_bar(VST_VLD);"}

# Five loops with fills of 7 before and behind those of three of them, from numbers that lie 20 apart.
LOOPS = """
extern "C" __global__ __aicore__ void nd(__gm__ float *x, __gm__ float *y) {
  __ubuf__ float *tile = (__ubuf__ float *)64;
  set_pad_cnt_nddma(1 | 2 << 8 | (uint64_t)1 << 32);
  set_pad_val_nddma(0x40e00000);
  set_loop0_stride_nddma((uint64_t)20 << 20 | 1);
  set_loop1_stride_nddma((uint64_t)1 << 20 | 8);
  set_loop2_stride_nddma((uint64_t)0 << 20 | 56);
  set_loop3_stride_nddma((uint64_t)100 << 20 | 112);
  set_loop4_stride_nddma((uint64_t)200 << 20 | 336);
  nddma_out_to_ub_b32(tile, x, 0, 5, 4, 2, 2, 2, 1, 2, true, 0);
  set_flag(PIPE_MTE2, PIPE_MTE3, 0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, 0);
  copy_ubuf_to_gm_align_v2(y, tile, 0, 1, 2688, 0, 2688, 2688);
}
"""


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


def tensors(arrays):
    words = []
    for name, (array, io) in arrays.items():
        np.save(os.path.join(folder, name + ".npy"), array)
        words += ["--arg", f"name={name},dtype=fp32,shape={array.size},io={io}"]
    return words


def values(text, library, kernel, arrays):
    words = tensors(arrays)
    for name, (_, io) in arrays.items():
        words += [f"--input={name}={name}.npy"] if io == "in" else [f"--expect={name}={name}.npy"]
    made = command("run", f"{library}:{kernel}", "--blocks=1", *words, chip, "--values", "--quiet", "--rtol=1e-6")
    report(text, "" if made.returncode == 0 else f"{made.returncode}: {made.stdout}{made.stderr}")


def finds(text, library, kernel, arrays, code, *wanted):
    made = command("check", f"{library}:{kernel}", "--blocks=1", *tensors(arrays), chip)
    told = made.stdout + made.stderr
    report(text, "" if made.returncode == code and all(word in told for word in wanted) else
           f"{made.returncode}: {told}")



# ---- threads ----

x = random.standard_normal(1000).astype(np.float32)
row = (np.arange(1000) // 64 % 2).astype(np.float64)
y = (x.astype(np.float64)**2 + row + np.exp(x.astype(np.float64))).astype(np.float32)
arrays = {"x": (x, "in"), "y": (y, "out"), "z": (np.array([np.count_nonzero(x > 0)] + [0] * 7, np.float32), "out")}
threads = compiled("threads", THREADS % PLAIN)
values("128 threads, in UB and in device memory", threads, "threads", arrays)
checked = {**arrays, "z": (arrays["z"][0], "inout")}
whole = np.trunc(x.astype(np.float64) + np.copysign(0.5, x))
own = {**arrays, "y": (np.where(np.abs(x) > 1, 2**whole, np.sqrt(np.abs(x))).astype(np.float32), "out")}
values("functions that a header of the user names as the C library does", compiled("own", OWN % PLAIN), "threads", own)
finds("checks find nothing", threads, "threads", checked, 0)
early = compiled("early", THREADS % {**PLAIN, "wait": ""})
finds("threads that do not wait for a copy are a race", early, "threads", checked, 5, "thread load", "early.cpp:4")
far = compiled("far", THREADS % {**PLAIN, "size": "64000"})
finds("a thread beyond UB is found", far, "threads", checked, 5, "far.cpp:")
wait = compiled("wait", THREADS % {**PLAIN, "inside": "__sync_workitems();"})
finds("a barrier of threads has no model", wait, "threads", checked, 3, "__sync_workitems is not modelled")
inside = compiled("inside", THREADS % {**PLAIN, "inside": "pipe_barrier(PIPE_ALL);"})
finds("an instruction within threads is refused at its line", inside, "threads", checked, 3,
      "inside.cpp:7: error: pipe_barrier stands in a function of threads")
nested = compiled("nested", NESTED)
finds("threads that start threads are refused at their line", nested, "nested", {"y": (np.zeros(8, np.float32), "out")}, 3,
      "nested.cpp:5: error: ", "a function of threads starts another")
many = compiled("many", THREADS % {**PLAIN, "threads": "64, 64"})
finds("more threads than a function has", many, "threads", checked, 3, "a function of threads has 1 to 2048 threads")


def busy(library):
    made = command("run", f"{library}:threads", "--blocks=1", *tensors(arrays), chip, "--json")
    return json.loads(made.stdout)["pipes"]["V"]["busy_cycles"] if made.returncode == 0 else made.stderr


wide, narrow = busy(threads), busy(compiled("narrow", THREADS % {**PLAIN, "threads": "32, 1"}))
report("a warp alone takes four times as long as four, or nearly so",
       "" if 3 * wide < narrow < 5 * wide else (wide, narrow))

want = np.zeros(20, np.float32)
want[:12] = [1.5, 0.5, 1, 1, 1, 2.25, 144, 2.5, 1.5, 3, 4, 5.5]
want[0] = 4
values("atomics in the type of the memory", compiled("atomics", ATOMICS), "atomics", {"y": (want, "out")})

arrays = {"x": (np.zeros(8, np.float32), "in"), "y": (np.zeros(16, np.float32), "out")}
after = compiled("after", SHARED % {"inside": "", "before": CALL, "behind": FETCH})
finds("scalar code that does not wait is a race where threads have called the function before", after, "shared", arrays,
      5, "scalar load", "after.cpp:2")
ahead = compiled("ahead", SHARED % {"inside": "", "before": FLAGGED, "behind": CALL})
finds("threads that wait are none where scalar code has called the function before", ahead, "shared", arrays, 0)
cached = "if (past(x) == 5) return;"
waits = [command("check", f"{compiled(name, SHARED % words)}:shared", "--blocks=1", *tensors(arrays), chip).stdout
         for name, words in {"alone": {"inside": "", "before": "", "behind": cached + CALL},
                             "both": {"inside": cached, "before": CALL, "behind": cached}}.items()]
report("loads past the cache tell of waits also where threads have called the function before",
       "" if all("waits through memory" in text for text in waits) else waits)

# ---- masks ----

x = random.standard_normal(512).astype(np.float32)
bit = (x > 0).reshape(8, 64)
kept = np.zeros((8, 256), bool)
kept[:, ::4] = bit
twice = np.repeat(kept[:, ::2], 2, axis=1)
half = np.repeat(kept.reshape(4, 512)[:, ::2], 2, axis=0)
lanes = np.concatenate([np.zeros(8, np.uint8), np.packbits(bit.reshape(-1), bitorder="little")])
want = np.stack([bit, twice[:, ::4], half[:, ::4]], axis=1).astype(np.float32).reshape(-1)
want = np.concatenate([want, np.frombuffer(lanes.tobytes(), np.float32)])
arrays = {"x": (x, "in"), "y": (want, "out")}
masks = compiled("masks", MASKS % STORED)
values("masks to UB and back, as they are, packed, and lanes side by side", masks, "masks", arrays)
finds("checks find nothing but the 8 bytes before the lanes", masks, "masks", arrays, 5, "uninit")
with open(os.path.join(folder, "below.csv"), "w", encoding="utf-8") as out:
    out.write("trace,version=1\nkernel,name=k,arch=dav-c310,blocks=1\nstream,core=AIV\nvf_begin\n"
              "reg_pstu,pg=0,align=0,dst=0,held=31,count=8\nvf_call\n")
below = command("run", "below.csv", chip)
report("a mask whose held bytes begin before UB",
       "" if below.returncode == 3 and "address -31 lies before UB" in below.stderr else below.stderr)
near = compiled("near", MASKS % {**STORED, "packed": "520"})
finds("a packed mask that does not begin at a multiple of 16 bytes", near, "masks", arrays, 5, "reg_psts", "near.cpp:20")
loose = compiled("loose", MASKS % {**STORED, "barrier": ""})
finds("a mask that is loaded without a barrier behind its store", loose, "masks", arrays, 5, "reg_plds")
unset = compiled("unset", MASKS.replace("psts(above, bits, k * 32, NORM);", "") % STORED)
finds("a mask from UB that nobody wrote", unset, "masks", arrays, 5, "reg_plds")

# ---- copies of five dimensions ----

x = np.arange(400, dtype=np.float32)
want = np.full((2, 3, 2, 7, 8), 7, np.float32)
for e in range(2):
    for d in range(1, 3):
        want[e, d, :, 1:5, 1:6] = x[200 * e + 100 * (d - 1):][:100].reshape(5, 20)[:, :4].T
arrays = {"x": (x, "in"), "y": (want.reshape(-1), "out")}
loops = compiled("loops", LOOPS)
values("a copy in five loops with fills", loops, "nd", arrays)
finds("checks find nothing in the copy", loops, "nd", arrays, 0)
empty = LOOPS.replace("x, 0, 5, 4, 2, 2, 2, 1, 2, true, 0", "x, 0, 5, 4, 2, 0, 1, 1, 2, false, 0").replace("2688", "448")
arrays = {"x": (x, "in"), "y": (np.full(112, 7, np.float32), "out")}
empty = compiled("empty", empty)
values("a loop of no turns has the value of fills", empty, "nd", arrays)
finds("checks find nothing in that", empty, "nd", arrays, 0)

# ---- names that the open headers of threads have too ----

told = compiled("told", """
#include <cassert>
namespace __asc_simt_vf {
template <class... Args> void printf(const char *, Args &&...) {}
}
using namespace __asc_aicore;
extern "C" __global__ __vector__ void told(__gm__ float *y) {
  assert(y != nullptr);
  printf("%d of %d", 1, 2);
}
""")
made = command("run", f"{told}:told", "--blocks=1", *tensors({"y": (np.zeros(8, np.float32), "out")}), chip)
report("a kernel prints by its own printf, beside that of threads",
       "" if made.returncode == 0 and "1 of 2" in made.stdout + made.stderr else f"{made.returncode}: {made.stdout}{made.stderr}")
plan(25)
