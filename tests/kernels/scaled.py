#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Products of scaled operands on the 950 from source: numbers of 4 and 8 bits whose blocks of 32 have a power of two, beside
numpy; what checks and kernels say of mistakes. Prints TAP.

    scaled.py VINCI FOLDER_FOR_FILES
"""

import os
import subprocess
import sys

import numpy as np

from tap import plan, report

vinci, folder = sys.argv[1], os.path.realpath(sys.argv[2])
chip = "--soc-version=Ascend950PR_9589"
random = np.random.default_rng(23)
M, K, N = 48, 192, 80
# Exponent and fraction bits, and the exponent of the least normal number.
FORMATS = {"e2m1": (2, 1, 0), "e1m2": (1, 2, 0), "e4m3": (4, 3, -6), "e5m2": (5, 2, -14)}
TYPES = {"e2m1": "float4_e2m1x2_t", "e1m2": "float4_e1m2x2_t", "e4m3": "float8_e4m3_t", "e5m2": "float8_e5m2_t"}

# Matrices lie in GM as rows of k for both sides, or as k rows; scales as pairs of bytes, 16 lines to a fractal of L1.
SOURCE = """extern "C" __global__ __cube__ void product(__gm__ uint8_t *a, __gm__ uint8_t *b, __gm__ uint16_t *sa, __gm__ uint16_t *sb,
                                             __gm__ float *bias, __gm__ float *c) {
  __cbuf__ %(a)s *a1 = (__cbuf__ %(a)s *)0;
  __cbuf__ %(b)s *b1 = (__cbuf__ %(b)s *)65536;
  __cbuf__ uint16_t *sa1 = (__cbuf__ uint16_t *)131072, *sb1 = (__cbuf__ uint16_t *)135168;
  __cbuf__ float *bias1 = (__cbuf__ float *)139264;
  __ca__ %(a)s *a0 = (__ca__ %(a)s *)(uintptr_t)%(place)s;
  __cb__ %(b)s *b0 = (__cb__ %(b)s *)(uintptr_t)8192;
  set_mte2_nz_para(1 | 1ull << 16 | %(rows_a)sull << 32);
  copy_gm_to_cbuf_multi_nd2nz((__cbuf__ uint8_t *)a1, a, 0, %(bytes_a)s, 0, %(rows_a)s, %(bytes_a)s, 0, false);
  set_mte2_nz_para(1 | 1ull << 16 | %(rows_b)sull << 32);
  copy_gm_to_cbuf_multi_nd2nz((__cbuf__ uint8_t *)b1, b, 0, %(bytes_b)s, 0, %(rows_b)s, %(bytes_b)s, 0, false);
  set_mte2_nz_para(1 | 1ull << 16 | 3ull << 32);
  copy_gm_to_cbuf_multi_dn2nz(sa1, sa, 0, 6, 0, 3, 48, 0, false);
  copy_gm_to_cbuf_multi_dn2nz(sb1, sb, 0, 6, 0, 3, 80, 0, false);
  copy_gm_to_cbuf((__cbuf__ void *)bias1, (__gm__ void *)bias, 0, 1, 10, 0, 0);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  %(load)s(a0, a1, 0, 0, %(rows_a)s / 16, %(bytes_a)s / 32, %(rows_a)s / 16, 3, %(turn)d);
  %(load_b)s(b0, b1, 0, 0, %(rows_b)s / 16, %(bytes_b)s / 32, %(rows_b)s / 16, 5, 0);
  %(scales)s
  load_cbuf_to_cb_mx(8192 / 16, (__cbuf__ void *)sb1, 0, 0, 5, 3, 3, 3);
  copy_cbuf_to_bt(0, bias1, false, 1, 10, 0, 0);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  %(mad)s
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  set_loop3_para(1);
  set_channel_para(1ull << 48);
  copy_matrix_cc_to_gm(c, (__cc__ float *)0, 0, 80, 48, 80, 48, 0, 0, 0, (uint64_t)0, 0, false, true, (uint64_t)0, 0, false, false, 0,
                       false, false, false, false, false, false);
}
"""
MAD = "mad_mx((__cc__ float *)0, a0, b0, 48, 192, 80, 0, true, false, true);"
BIASED = "mad_mx((__cc__ float *)0, a0, b0, 48, 192, 80, 0, true, true, false);"
WORD = "mad_mx((__cc__ float *)0, a0, b0, 48ull | 192ull << 12 | 80ull << 24 | 1ull << 61 | 1ull << 63);"
SCALES = "load_cbuf_to_ca_mx(0, (__cbuf__ void *)sa1, 0, 0, 3, 3, 3, 3);"


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False)


def draw(kind, shape):
    """Codes and their numbers: finite ones."""
    exponent_bits, fraction_bits, least = FORMATS[kind]
    top = 1 << exponent_bits + fraction_bits
    codes = random.integers(0, top if top == 8 else top - 8, shape) | random.integers(0, 2, shape) * top
    exponent, fraction = (codes % top) >> fraction_bits, codes & (1 << fraction_bits) - 1
    values = np.where(exponent == 0, fraction, fraction + (1 << fraction_bits)) * np.exp2(
        np.where(exponent == 0, 0, exponent - 1) + least - fraction_bits)
    return codes.astype(np.uint8), np.where(codes >= top, -values, values)


def packed(kind, codes):
    return codes[:, ::2] | codes[:, 1::2] << 4 if kind in ("e2m1", "e1m2") else codes


def product(title, kind_a, kind_b, turn=False, mad=MAD, scales=SCALES, place="0", fewer=False, verb="run", expected=0,
            message=""):
    """Right values and clean, or a run or a check that ends with this code and message."""
    a, value_a = draw(kind_a, (M, K))
    b, value_b = draw(kind_b, (N, K))
    sa, sb = (random.integers(120, 135, (lines, K // 32)).astype(np.uint8) for lines in (M, N))
    bias = random.integers(-9, 10, N).astype(np.float32)
    if turn: # columns up to whole squares of fractals, which the transpose makes rows of L0A
        in_a = packed(kind_a, np.pad(a.T, ((0, 0), (0, 16))))
    else:
        in_a = packed(kind_a, a)
    in_b = packed(kind_b, b)
    load = {4: "load_cbuf_to_%s_s4", 8: "load_cbuf_to_%s"}
    words = {"a": TYPES[kind_a], "b": TYPES[kind_b], "rows_a": in_a.shape[0], "bytes_a": in_a.shape[1], "rows_b": in_b.shape[0],
             "bytes_b": in_b.shape[1], "turn": turn, "mad": mad, "scales": scales, "place": place,
             "load": load[sum(FORMATS[kind_a][:2]) + 1] % "ca", "load_b": load[sum(FORMATS[kind_b][:2]) + 1] % "cb"}
    text = SOURCE % words
    if turn: # L0A has 64 rows then, and so has the result
        text = text.replace("/ 16, 3, 1);", "/ 16, 4, 1);").replace("b0, 48,", "b0, 64,").replace("0, 0, 3, 3, 3, 3);", "0, 0, 4, 3, 3, 3);")
        text = text.replace("80, 48, 80, 48, 0", "80, 48, 80, 64, 0").replace("sa, 0, 6, 0, 3, 48, 0", "sa, 0, 6, 0, 3, 64, 0")
        sa = np.pad(sa, ((0, 16), (0, 0)))
    if fewer: # scales of 32 of 48 rows come into L1
        text = text.replace("sa, 0, 6, 0, 3, 48, 0", "sa, 0, 6, 0, 3, 32, 0")
    path, library = os.path.join(folder, "scaled.cpp"), os.path.join(folder, "scaled.so")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    made = command("cc", "--kernel-only", "--npu-arch=dav-3510", path, "-o", library)
    if made.returncode != 0 or made.stderr:
        return report(title, made.stderr)
    want = (value_a * np.repeat(np.exp2(sa[:M] - 127.0), 32, 1)) @ (value_b * np.repeat(np.exp2(sb - 127.0), 32, 1)).T
    want = (want + bias if mad == BIASED else want).astype(np.float32)
    line = [f"{library}:product", chip, "--blocks=1"]
    arrays = {"a": in_a, "b": in_b, "sa": np.ascontiguousarray(sa).view(np.uint16), "sb": np.ascontiguousarray(sb).view(np.uint16),
              "bias": bias, "c": want}
    for name, array in arrays.items():
        np.save(os.path.join(folder, name + ".npy"), np.ascontiguousarray(array).reshape(-1))
        io, kind = "out" if name == "c" else "in", {"u1": "uint8", "u2": "uint16", "f4": "fp32"}[array.dtype.str[1:]]
        line += ["--arg", f"name={name},dtype={kind},shape={array.size},io={io}"]
        line += ["--input", f"{name}={folder}/{name}.npy"] if io == "in" else []
    ran = command(verb, *line, *(["--values", f"--expect=c={folder}/c.npy", f"--atol={np.abs(want).max() * 1e-5}", "--quiet"] if verb == "run" else []))
    told = ran.stdout + ran.stderr
    if expected:
        return report(title, "" if ran.returncode == expected and message in told else f"exit {ran.returncode}\n{told}")
    check = command("check", *line)
    clean = check.returncode == 0 and "WARNING" not in check.stdout
    return report(title, "" if ran.returncode == 0 and clean else told + check.stdout + check.stderr)


for first, second in (("e2m1", "e2m1"), ("e2m1", "e1m2"), ("e1m2", "e2m1"), ("e1m2", "e1m2"),
                      ("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2")):
    product(f"{first} times {second}", first, second)
product("biases from the table", "e2m1", "e1m2", mad=BIASED)
product("operands in a word", "e4m3", "e5m2", mad=WORD)
product("numbers of 4 bits, transposed", "e2m1", "e1m2", turn=True)
product("numbers of 8 bits, transposed", "e5m2", "e4m3", turn=True)
product("k that is not whole pairs of blocks", "e2m1", "e2m1", mad=MAD.replace("192", "160"), expected=3,
        message="scaled.cpp:26: error: block 0: mad_mx: k has to be a multiple of 64")
product("one row as GEMV takes it", "e2m1", "e2m1", mad=MAD.replace("48", "1").replace("true, false, true", "false, false, true"), expected=3,
        message="mad_mx: one row needs disableGemv here")
product("scales that were not loaded", "e2m1", "e2m1", scales="", verb="check", expected=5, message="on L0A_MX in product")
product("scales of half of the rows", "e2m1", "e2m1", scales=SCALES.replace("3, 3, 3, 3", "2, 3, 3, 3"), verb="check", expected=5,
        message="of which 96 have never been written")
product("scales of rows that nobody brought", "e2m1", "e2m1", fewer=True, verb="check", expected=5, message="of which 96 have never been written")
product("fp8 that does not begin at 1,024 bytes", "e4m3", "e4m3", place="512", scales=SCALES.replace("(0,", "(32,"), verb="check", expected=5,
        message='operand "a" must be a multiple of 1024')
product("scales at another address than that of their numbers", "e2m1", "e2m1", scales=SCALES.replace("(0,", "(1024,"), verb="check",
        expected=5, message="on L0A_MX in product")
trace = os.path.join(folder, "tensor.csv")
with open(trace, "w", encoding="utf-8") as file:
    file.write("trace,version=1\nkernel,name=k,arch=dav-c310,blocks=1\ntensor,name=x,dtype=fp4_e2m1,shape=64,io=in\n")
run = command("check", trace, chip)
report("a tensor of fp4 has another type in a trace", "" if run.returncode == 3 and f"{trace}:3:21: error: tensors of fp4_e2m1 are uint8 with "
       "two numbers to a byte" in run.stderr else f"{run.returncode}: {run.stderr}")
plan()
