#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Products on the 950 from source: matrices come into L1 as rows or columns, into L0A and L0B as they lie or transposed,
and leave L0C by rows, by columns or in blocks; beside numpy. Prints TAP.

    products.py VINCI FOLDER_FOR_FILES
"""

import os
import subprocess
import sys

import numpy as np

from tap import plan, report

vinci, folder = sys.argv[1], os.path.realpath(sys.argv[2])
chip = "--soc-version=Ascend950PR_9589"
random = np.random.default_rng(11)
M, K, N = 64, 96, 160
TYPES = {"half": ("fp16", np.float16, "float", "fp32"), "float": ("fp32", np.float32, "float", "fp32"),
         "int8_t": ("int8", np.int8, "int32_t", "int32")}

# Transposed operands lie in GM as k rows of m, n columns; matrices in L1 have rows side by side in blocks of 32 bytes.
SOURCE = """extern "C" __global__ __cube__ void product(__gm__ %(type)s *a, __gm__ %(type)s *b, __gm__ %(out)s *c) {
  const int c0 = 32 / sizeof(%(type)s);
  __cbuf__ %(type)s *a1 = (__cbuf__ %(type)s *)0, *b1 = (__cbuf__ %(type)s *)131072;
  __ca__ %(type)s *a0 = (__ca__ %(type)s *)0;
  __cb__ %(type)s *b0 = (__cb__ %(type)s *)0;
  __cc__ %(sum)s *c0_ = (__cc__ %(sum)s *)0;
  %(copy_a)s
  %(copy_b)s
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  %(load_a)s
  %(load_b)s
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  mad(c0_, a0, b0, 64, 96, 160, 0, true, false, true);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  set_loop3_para(1);
  set_channel_para(1ull << 48);
  %(fix)s
}
"""
# Columns of blocks are as far apart in L1 as the matrix has rows.
ROWS = """set_mte2_nz_para(1 | 1ull << 16 | %(rows)sull << 32);
  copy_gm_to_cbuf_multi_nd2nz(%(to)s, %(from)s, 0, %(columns)s * sizeof(%(type)s), 0, %(rows)s, %(columns)s, 0, false);"""
COLUMNS = """set_mte2_nz_para(1 | 1ull << 16 | %(rows)sull << 32);
  copy_gm_to_cbuf_multi_dn2nz(%(to)s, %(from)s, 0, %(rows)s * sizeof(%(type)s), 0, %(rows)s, %(columns)s, 0, false);"""
LOAD = "%(name)s(%(to)s, %(from)s, 0, 0, %(rows)s / 16, %(columns)s / c0, %(rows)s / 16, %(result)s / 16, %(turn)d);"
FIX = ("copy_matrix_cc_to_gm(c, c0_, 0, %s, 64, %s, 64, 0, 0, 0, (uint64_t)%s, 0, false, %s, (uint64_t)0, 0, false, false, 0, "
       "false, false, false, false, false, %s);")


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False)


def matrix(name, other, rows, columns, place, kind, result, turn, by_columns):
    """Copies a matrix of this many rows and columns into L1 and loads the matrix, transposed or not."""
    words = {"rows": rows, "columns": columns, "to": place, "from": other, "type": kind}
    copy = (COLUMNS if by_columns else ROWS) % words
    return copy, LOAD % {**words, "name": name, "to": place.replace("1", "0"), "from": place, "result": result, "turn": turn}


def numbers(kind, shape):
    values = random.integers(-5, 6, shape)
    return values.astype(TYPES[kind][1])


def product(title, kind, turn_a, turn_b, fix, want, out=None, by_columns=False, expected=0, message=""):
    """want(c) is the output that fits c; by_columns: the matrices lie in GM the other way round."""
    type_a, _, sums, type_c = TYPES[kind]
    out = out or (sums, type_c)
    a, b = numbers(kind, (M, K)), numbers(kind, (K, N))
    # A is [m, k] for L0A, B is [n, k] for L0B; transposed ones lie in L1 as [k, m], [k, n].
    in_a, in_b = (a.T if turn_a else a), (b if turn_b else b.T)
    shape_a, shape_b = in_a.shape, in_b.shape
    copy_a, load_a = matrix("load_cbuf_to_ca", "a", *shape_a, "a1", kind, M, turn_a, by_columns)
    copy_b, load_b = matrix("load_cbuf_to_cb", "b", *shape_b, "b1", kind, N, turn_b, by_columns)
    path, library = os.path.join(folder, "product.cpp"), os.path.join(folder, "product.so")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SOURCE % {"type": kind, "sum": sums, "out": out[0], "copy_a": copy_a, "copy_b": copy_b, "load_a": load_a,
                             "load_b": load_b, "fix": fix})
    made = command("cc", "--kernel-only", "--npu-arch=dav-3510", path, "-o", library)
    if made.returncode != 0 or made.stderr:
        return report(title, made.stderr)
    result = want(a.astype(np.float64) @ b.astype(np.float64))
    words = [f"{library}:product", chip, "--blocks=1"]
    for name, array, kind_of, io in (("a", in_a, type_a, "in"), ("b", in_b, type_a, "in"), ("c", result, out[1], "out")):
        data = np.ascontiguousarray(array.T if by_columns and io == "in" else array).reshape(-1)
        np.save(os.path.join(folder, name + ".npy"), data)
        words += ["--arg", f"name={name},dtype={kind_of},shape={data.size},io={io}"]
        words += ["--input", f"{name}={folder}/{name}.npy"] if io == "in" else []
    run = command("run", *words, "--values", f"--expect=c={folder}/c.npy", "--quiet")
    if expected:
        told = run.stdout + run.stderr
        return report(title, "" if run.returncode == expected and message in told else f"exit {run.returncode}\n{told}")
    check = command("check", *words)
    clean = check.returncode == 0 and "WARNING" not in check.stdout
    return report(title, "" if run.returncode == 0 and clean else run.stdout + run.stderr + check.stdout + check.stderr)


BY_ROWS = FIX % ("160", "160", "0", "true", "false")
for kind in TYPES:
    to = {"half": np.float32, "float": np.float32, "int8_t": np.int32}[kind]
    for turn_a, turn_b in ((0, 0), (1, 1), (0, 1)):
        product(f"{kind}: a {'[k, m]' if turn_a else '[m, k]'}, b {'[k, n]' if turn_b else '[n, k]'}", kind, turn_a, turn_b,
                BY_ROWS, lambda c, to=to: c.astype(to))
product("half: matrices that lie in GM by columns", "half", 0, 1, BY_ROWS, lambda c: c.astype(np.float32), by_columns=True)
product("columns of the result one after the other", "half", 0, 0, FIX % ("160", "64", "0", "false", "true"),
        lambda c: c.T.astype(np.float32))
product("blocks of 16 columns of fp16, their distance in elements", "half", 0, 0,
        FIX % ("160", "64 * 16", "QuantMode_t::F322F16", "false", "false"),
        lambda c: c.astype(np.float16).reshape(M, N // 16, 16).transpose(1, 0, 2), out=("half", "fp16"))
product("a distance that is not one of blocks is told", "half", 0, 0,
        FIX % ("160", "64 * 16 + 1", "QuantMode_t::F322F16", "false", "false"), lambda c: c.astype(np.float16),
        out=("half", "fp16"), expected=3, message="product.cpp:22: error: block 0: the fixpipe writes columns of blocks at multiples of 32 bytes")
product("half a square of fractals is told", "int8_t", 0, 1, BY_ROWS.replace("copy_matrix", "load_cbuf_to_cb(b0, b1, 0, 0, 3, 2, 6, 4, 1); copy_matrix", 1),
        lambda c: c.astype(np.int32), expected=3, message="load_cbuf_to_cb: m_step and k_step have to make whole squares")
product("what the fixpipe does behind a conversion is told", "half", 0, 0, BY_ROWS.replace("(uint64_t)0, 0, false, false, 0", "(uint64_t)1, 0, false, false, 0"),
        lambda c: c.astype(np.float32), expected=3, message="behind the first conversion is not modelled")
plan()
