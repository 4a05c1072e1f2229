#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Kernels in C++ that use the matrix unit in forms that few kernels use: int4, a boundary of L1, a sparse
matrix. Compiled, run with values beside
numpy, checked; and with mistakes, each of which is found at its line. Prints TAP.

    matrices.py VINCI FOLDER_FOR_FILES
"""

import json
import os
import subprocess
import sys

import numpy as np

from tap import plan, report

vinci, folder = sys.argv[1], os.path.realpath(sys.argv[2])
chip = "--soc-version=Ascend910B4"
random = np.random.default_rng(11)

# What all kernels begin and end with: addresses, and flags between two pipes.
COMMON = """
#define AT(space, address) ((space int8_t *)(uintptr_t)(address))
VINCI_CCE_INLINE void then(pipe_t first, pipe_t second) {
  set_flag(first, second, EVENT_ID0);
  wait_flag(first, second, EVENT_ID0);
}
VINCI_CCE_INLINE void store(GM_ADDR c, uint16_t m, uint16_t n) {
  then(PIPE_M, PIPE_FIX);
  set_nd_para(1);
  copy_matrix_cc_to_gm((__gm__ int32_t *)c, (__cc__ int32_t *)(uintptr_t)0, 0, n, m, n, m, 0, NoQuant, 0, false, true);
}
"""


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False)


def compiled(name, text):
    path, library = (os.path.join(folder, name + end) for end in (".cpp", ".so"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(COMMON + text)
    run = command("cc", "--kernel-only", path, "--core=aic", "-o", library)
    if run.returncode != 0:
        print(f"Bail out! {name} does not compile: {run.stderr}")
        sys.exit(1)
    return library, path


def arguments(tensors):
    """Options for tensors {name: (array, io)}; the inputs become files."""
    words = []
    for name, (array, io) in tensors.items():
        shape = "x".join(str(extent) for extent in array.shape)
        words += ["--arg", f"name={name},dtype={array.dtype.name},shape={shape},io={io}"]
        if io == "in":
            path = os.path.join(folder, f"{name}.npy")
            np.save(path, array)
            words += ["--input", f"{name}={path}"]
    return words


def compute(title, name, text, tensors, expected):
    """A kernel whose result c is right, and in which no checker finds anything."""
    library, _ = compiled(name, text)
    words = [f"{library}:{name}", "--blocks=1", chip, *arguments(tensors)]
    out = os.path.join(folder, "out")
    run = command("run", *words, "--values", "--quiet", f"--output={out}")
    problem = run.stderr
    if run.returncode == 0:
        found = np.load(os.path.join(out, "tensors", "c.npy"))
        wrong = np.argwhere(found != expected)
        problem = f"{len(wrong)} of {found.size} differ, first at {wrong[0]}" if len(wrong) else ""
    report(f"{title}: computes what numpy computes", problem)
    check = command("check", *words)
    report(f"{title}: is clean", "" if check.returncode == 0 else check.stdout + check.stderr)
    return json.loads(command("run", *words, "--json").stdout)


def mistake(title, name, text, tensors, old, new, wanted, mark, verb):
    """A change of the source brings a message with some words at the line that has `mark`."""
    assert text.count(old) == 1, old
    library, path = compiled(name, text.replace(old, new))
    with open(path, encoding="utf-8") as file:
        number = next(i for i, line in enumerate(file, 1) if mark in line)
    run = command(verb, f"{library}:{name}", "--blocks=1", chip, *arguments(tensors))
    said = run.stdout + run.stderr
    missing = [word for word in (wanted, f"{path}:{number}") if word not in said]
    report(title, "" if not missing and run.returncode != 0 else f"{missing} not in:\n{said[:1500]}")


def whole(low, high, shape):
    return random.integers(low, high, shape, dtype=np.int8)


plan(16)

# ---- int4: two to a byte, fractals of 16 x 64 ----

ROWS, DEPTH, COLUMNS = 48, 128, 128


def pack(values):
    """The first of two in the low half."""
    pairs = values.astype(np.uint8) & 15
    return (pairs[:, ::2] | pairs[:, 1::2] << 4).view(np.int8)


# The right matrix lies as its transpose: its fractals are those of L0B. k in two parts.
INT4_ROWS = """
__global__ __aicore__ void rows4(GM_ADDR a, GM_ADDR b, GM_ADDR c) {
  copy_gm_to_cbuf_multi_nd2nz_b8(AT(__cbuf__, 0), a, 0, 1, 48, 64, 0, 64, 48, 1, 0);
  copy_gm_to_cbuf_multi_nd2nz_b8(AT(__cbuf__, 8192), b, 0, 1, 128, 64, 0, 64, 128, 1, 0);
  then(PIPE_MTE2, PIPE_MTE1);
  load_cbuf_to_ca_s4(AT(__ca__, 0), AT(__cbuf__, 0), 0, 6, 1, 0, 0, false, inc);
  load_cbuf_to_cb_s4(AT(__cb__, 0), AT(__cbuf__, 8192), 0, 16, 1, 0, 0, false, inc);
  then(PIPE_MTE1, PIPE_M);
  __cc__ int32_t *sums = (__cc__ int32_t *)(uintptr_t)0;
  mad_s4(sums, AT(__ca__, 0), AT(__cb__, 0), 48, 64, 128, 0, false, false, true);
  pipe_barrier(PIPE_M);
  mad_s4(sums, AT(__ca__, 1536), AT(__cb__, 4096), 48, 64, 128, 0, false, false, false);
  store(c, 48, 128);
}
"""
# The right matrix as it is: squares of 64 x 64 are transposed on the way, the second one filled by a quarter. The
# left one by load3d.
INT4_COLUMNS = """
__global__ __aicore__ void columns4(GM_ADDR a, GM_ADDR b, GM_ADDR c) {
  copy_gm_to_cbuf_multi_nd2nz_b8(AT(__cbuf__, 0), a, 0, 1, 48, 40, 0, 40, 48, 1, 0);
  copy_gm_to_cbuf_multi_nd2nz_b8(AT(__cbuf__, 8192), b, 0, 1, 80, 64, 0, 64, 128, 1, 0);
  then(PIPE_MTE2, PIPE_MTE1);
  set_fmatrix(48 | 1 << 16);
  img2colv2_cbuf_to_ca_s4(AT(__ca__, 0), AT(__cbuf__, 0), 128, 48, 0, 0, 1, 1, 1, 1, 1, 1, false, false, false, false, 128);
  for (int i = 0; i < 2; i++)
    load_cbuf_to_cb_transpose_s4(AT(__cb__, i * 2048), AT(__cbuf__, 8192), 2 * i, 2, 1, 7, inc, 0);
  then(PIPE_MTE1, PIPE_M);
  mad_s4((__cc__ int32_t *)(uintptr_t)0, AT(__ca__, 0), AT(__cb__, 0), 48, 80, 128, 0, false, false, true);
  store(c, 48, 128);
}
"""

left, right = whole(-8, 8, (ROWS, DEPTH)), whole(-8, 8, (DEPTH, COLUMNS))
product = left.astype(np.int32) @ right
few = left[:, :80].astype(np.int32) @ right[:80]
result = np.zeros((ROWS, COLUMNS), np.int32)
by_rows = {"a": (pack(left), "in"), "b": (pack(np.ascontiguousarray(right.T)), "in"), "c": (result, "out")}
by_columns = {"a": (pack(left[:, :80]), "in"), "b": (pack(right[:80]), "in"), "c": (result, "out")}
compute("int4, transposed right matrix", "rows4", INT4_ROWS, by_rows, product)
compute("int4, right matrix as it is", "columns4", INT4_COLUMNS, by_columns, few)
mistake(
    "fractals of int4 are not transposed one by one", "rows4", INT4_ROWS, by_rows,
    "0, 6, 1, 0, 0, false, inc);", "0, 6, 1, 0, 0, true, inc);",
    "load_cbuf_to_ca_s4: only elements of 16 bits can be transposed", "load_cbuf_to_ca_s4", "run",
)
mistake(
    "squares of int4 behind those that were copied are not initialised", "columns4", INT4_COLUMNS, by_columns,
    "AT(__cbuf__, 8192), 2 * i, 2, 1, 7, inc, 0);", "AT(__cbuf__, 8192), 2 * i + 3, 2, 1, 7, inc, 0);",
    "uninitialized read", "load_cbuf_to_cb_transpose_s4", "check",
)
mistake(
    "a product of int4 that starts early is a race", "columns4", INT4_COLUMNS, by_columns,
    "  then(PIPE_MTE1, PIPE_M);\n  mad_s4(", "  mad_s4(", "Potential RAW hazard", "mad_s4", "check",
)

# ---- load3d in a ring: what lies behind a boundary is read from the start of L1 ----

RING = """
__global__ __aicore__ void ring(GM_ADDR a, GM_ADDR b, GM_ADDR c) {
  copy_gm_to_cbuf_multi_nd2nz_b8(AT(__cbuf__, 0), a, 0, 1, 48, 32, 0, 32, 48, 1, 0);
  copy_gm_to_cbuf_multi_nd2nz_b8(AT(__cbuf__, 8192), b, 0, 1, 32, 32, 0, 32, 32, 1, 0);
  then(PIPE_MTE2, PIPE_MTE1);
  set_fmatrix(48 | 1 << 16);
  set_l1_3d_size(1536);
  img2colv2_cbuf_to_ca(AT(__ca__, 0), AT(__cbuf__, 512), 48 << 16 | 32, 48, 0, 0, 1 << 8 | 1, 1, 1, 1, 1, 1, false, false, false, false, 32);
  set_l1_3d_size(0);
  load_cbuf_to_cb(AT(__cb__, 0), AT(__cbuf__, 8192), 0, 2, 1, 0, 0, false, inc);
  then(PIPE_MTE1, PIPE_M);
  mad((__cc__ int32_t *)(uintptr_t)0, AT(__ca__, 0), AT(__cb__, 0), 48, 32, 32, 0, false, false, true);
  store(c, 48, 32);
}
"""
left, right = whole(-128, 128, (48, 32)), whole(-128, 128, (32, 32))
turned = np.roll(left, -16, axis=0).astype(np.int32)
rings = {"a": (left, "in"), "b": (np.ascontiguousarray(right.T), "in"), "c": (np.zeros((48, 32), np.int32), "out")}
compute("a boundary of L1", "ring", RING, rings, turned @ right)
mistake(
    "the part before the address has to be written too", "ring", RING, rings, "AT(__cbuf__, 0), a, 0, 1, 48,",
    "AT(__cbuf__, 512), a, 0, 1, 32,", "uninitialized read", "img2colv2_cbuf_to_ca", "check",
)
mistake(
    "a boundary that is too small is told", "ring", RING, rings, "set_l1_3d_size(1536);", "set_l1_3d_size(992);",
    "a boundary is 0, or a multiple of 32 bytes and at least 1024", "set_l1_3d_size(992)", "run",
)

# ---- a sparse right matrix: of each four values along k, two are there, with two bits of an index for each ----

SPARSE = """
__global__ __aicore__ void sparse(GM_ADDR a, GM_ADDR b, GM_ADDR index, GM_ADDR c) {
  copy_gm_to_cbuf_multi_nd2nz_b8(AT(__cbuf__, 0), a, 0, 1, 32, 192, 0, 192, 32, 1, 0);
  copy_gm_to_cbuf_multi_nd2nz_b8(AT(__cbuf__, 8192), b, 0, 1, 48, 96, 0, 96, 48, 1, 0);
  copy_gm_to_cbuf(AT(__cbuf__, 16384), index, 0, 1, 36, 0, 0);
  then(PIPE_MTE2, PIPE_MTE1);
  for (int i = 0; i < 2; i++)
    load_cbuf_to_ca(AT(__ca__, i * 3072), AT(__cbuf__, i * 512), 0, 6, 2, 0, 0, false, inc);
  load_cbuf_to_cb_sp(AT(__cb__, 32768), AT(__cbuf__, 8192 | 16384ull << 32), 0, 3);
  load_cbuf_to_cb_sp(AT(__cb__, 34304), AT(__cbuf__, 8192 | 16384ull << 32), 3, 6);
  then(PIPE_MTE1, PIPE_M);
  mad_sp((__cc__ int32_t *)(uintptr_t)0, AT(__ca__, 0), AT(__cb__, 32768), 32, 192, 48, 0, false, true);
  store(c, 32, 48);
}
"""
DENSE_K, OUT = 192, 48
left = whole(-128, 128, (32, DENSE_K))
right = np.zeros((OUT, DENSE_K // 4, 4), np.int64)
kept, indices = np.zeros((OUT, DENSE_K // 4, 2), np.int8), np.zeros((OUT, DENSE_K // 4, 2), np.uint8)
for row in range(OUT):
    for group in range(DENSE_K // 4):
        first, second = np.sort(random.choice(4, 2, replace=False))
        kept[row, group] = values = random.integers(-128, 128, 2)
        right[row, group, [first, second]] = values
        indices[row, group] = first, second - 1
fours = indices.reshape(OUT, DENSE_K // 8, 4)
packed = fours[:, :, 0] | fours[:, :, 1] << 2 | fours[:, :, 2] << 4 | fours[:, :, 3] << 6
packed = np.ascontiguousarray(packed.reshape(OUT, 3, 8).transpose(1, 0, 2)).reshape(-1)
sparse = {
    "a": (left, "in"), "b": (kept.reshape(OUT, DENSE_K // 2), "in"), "index": (packed, "in"),
    "c": (np.zeros((32, OUT), np.int32), "out"),
}
compute("a sparse matrix", "sparse", SPARSE, sparse, left.astype(np.int64) @ right.reshape(OUT, DENSE_K).T)
mistake(
    "values of a sparse matrix without indices are told", "sparse", SPARSE, sparse,
    "  load_cbuf_to_cb_sp(AT(__cb__, 32768), AT(__cbuf__, 8192 | 16384ull << 32), 0, 3);",
    "  load_cbuf_to_cb(AT(__cb__, 32768), AT(__cbuf__, 8192), 0, 3, 1, 0, 0, false, inc);",
    "at 0x2000 on IDX", "mad_sp", "check",
)
mistake(
    "indices that are loaded while a product reads them are a race", "sparse", SPARSE, sparse,
    "  store(c, 32, 48);",
    "  load_cbuf_to_cb_sp(AT(__cb__, 32768), AT(__cbuf__, 8192 | 16384ull << 32), 0, 3); // again\n  store(c, 32, 48);",
    "Potential WAR hazard", "// again", "check",
)

TRACE = """trace,version=1
kernel,name=k,arch=dav-c220,blocks=1
tensor,name=x,dtype=int8,shape=2048,io=in
buffer,name=values,space=L1,address=0,size=1280
buffer,name=indices,space=L1,address=1024,size=256
buffer,name=b,space=L0B,address=32768,size=1024
stream,core=AIC
copy_gm_to_cbuf,dst=values,src=x,len_burst=40
set_flag,src=MTE2,dst=MTE1,id=0
wait_flag,src=MTE2,dst=MTE1,id=0
load_cbuf_to_cb_sp,dst=b,src=values,index=indices,repeat=2
"""
path = os.path.join(folder, "named.csv")
with open(path, "w", encoding="utf-8") as file:
    file.write(TRACE)
run = command("check", path, chip)
report("names of buffers say nothing of the indices beside them", run.stdout + run.stderr if run.returncode else "")
