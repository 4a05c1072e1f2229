#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Vector functions of the 950 from source: the examples with values beside numpy, checks, recorded
traces, the time of a function by hand, and mistakes that are found at their lines. Prints TAP.

    functions.py VINCI FOLDER_OF_SOURCES FOLDER_FOR_FILES
"""

import json
import os
import re
import subprocess
import sys

import numpy as np

from tap import plan, report

vinci, sources = sys.argv[1:3]
folder = os.path.realpath(sys.argv[3])
chip = "--soc-version=Ascend950PR_9589"
random = np.random.default_rng(7)


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False)


def compiled(name, text):
    """A source with this text; its library."""
    path, library = os.path.join(folder, name + ".cpp"), os.path.join(folder, name + ".so")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    run = command("cc", "--kernel-only", "--npu-arch=dav-3510", path, "-o", library)
    if run.returncode != 0 or run.stdout or run.stderr:
        report(f"{name} compiles without a word", run.stdout + run.stderr)
    return library, path


def example(name, change=lambda text: text):
    with open(os.path.join(sources, name + ".cpp"), encoding="utf-8") as file:
        return compiled(name, change(file.read()))


def arguments(tensors, numbers):
    words = []
    for name, (array, io) in tensors.items():
        dtype = {"float16": "fp16", "float32": "fp32", "int32": "int32"}[array.dtype.name]
        shape = "x".join(map(str, array.shape))
        words += ["--arg", f"name={name},dtype={dtype},shape={shape},io={io}"]
        if io == "in":
            path = os.path.join(folder, f"{name}.npy")
            np.save(path, array)
            words += ["--input", f"{name}={path}"]
    for number in numbers:
        words += ["--arg", f"value={number}"]
    return words


def values(words, result):
    out = os.path.join(folder, "out")
    run = command("run", *words, chip, "--values", "--quiet", f"--output={out}")
    if run.returncode != 0:
        return None, run.stderr
    return np.load(os.path.join(out, "tensors", result + ".npy")).astype(np.float64), ""


def results_of(*words):
    run = command("run", *words, chip, "--json")
    if run.returncode != 0:
        return run.stderr
    result = json.loads(run.stdout)
    for key in ("host", "input_digest", "trace", "scalar_accesses_not_simulated"):
        result.pop(key, None)
    return result


def run_example(name, blocks, tensors, numbers, result, expected, error):
    library, _ = example(name)
    words = [f"{library}:{name}", f"--blocks={blocks}", *arguments(tensors, numbers)]
    found, problem = values(words, result)
    if found is not None:
        worst = np.abs(found - expected).max()
        problem = "" if worst <= error else f"largest error {worst}, not {error}"
    report(f"{name} computes what numpy computes", problem)
    check = command("check", *words, chip)
    clean = check.returncode == 0 and "WARNING" not in check.stdout
    report(f"{name} is clean", "" if clean else check.stdout + check.stderr)
    record = os.path.join(folder, name + ".csv")
    written = command("run", *words, chip, "--quiet", f"--record={record}")
    whole, again = results_of(*words), results_of(record)
    same = written.returncode == 0 and isinstance(whole, dict) and whole == again
    report(f"{name} as a recorded trace has the same result", "" if same else written.stderr + str(again)[:200])


x, y = (random.standard_normal(4000).astype(np.float32) for _ in range(2))
add = {"x": (x, "in"), "y": (y, "in"), "z": (np.zeros(4000, np.float32), "out")}
run_example("vf_add", 4, add, [1000], "z", (x + y).astype(np.float64), 0)
g = random.standard_normal(4096).astype(np.float16)
wide = g.astype(np.float64)
gelu = wide / (1 + np.exp(-1.595769 * wide - 0.071405 * wide**3))
run_example("vf_gelu", 2, {"x": (g, "in"), "y": (np.zeros(4096, np.float16), "out")}, [2048], "y", gelu, 2e-3)
rows = (3 * random.standard_normal((8, 1000))).astype(np.float32)
power = np.exp(rows.astype(np.float64) - rows.max(1, keepdims=True))
soft = {"x": (rows, "in"), "y": (np.zeros((8, 1000), np.float32), "out")}
run_example("vf_softmax", 2, soft, [4, 1000], "y", power / power.sum(1, keepdims=True), 1e-7)

# ---- mistakes ----


def find(title, name, blocks, tensors, numbers, old, new, wanted, mark, verb="check"):
    """A change of a source brings a message with some words and the line that has `mark`."""

    def change(text):
        assert old in text, old
        return text.replace(old, new, 1)

    library, path = example(name, change)
    with open(path, encoding="utf-8") as file:
        line = [i for i, text in enumerate(file, 1) if mark in text][0]
    run = command(verb, f"{library}:{name}", f"--blocks={blocks}", *arguments(tensors, numbers), chip)
    told = run.stdout + run.stderr
    right = run.returncode in (3, 5) and re.search(wanted, told) and f"{name}.cpp:{line}" in told
    report(title, "" if right else f"exit {run.returncode}, no '{wanted}' at line {line}\n{told}")


FLAGS = "  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);\n"
BACK = "  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n"
find("a load without a flag from the copy is a race", "vf_add", 4, add, [1000], FLAGS, "", "RAW hazard",
     "vlds(a, x")
find("a copy without a flag from the function is a race", "vf_add", 4, add, [1000], BACK, "", "RAW hazard",
     "copy_ubuf_to_gm(z")
find("a function that fills UB while a copy reads there is a race", "vf_softmax", 2, soft, [4, 1000],
     "    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);\n    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);\n", "",
     "WAR hazard", "vsts(a, y")
find("a load of what the function has stored needs a barrier", "vf_softmax", 2, soft, [4, 1000],
     "  mem_bar(VST_VLD); // what has been stored is loaded again\n", "", "RAW hazard", "vlds(a, y")
find("a load behind UB is found at its line", "vf_add", 4, add, [1000], "vlds(b, y, i * lanes",
     "vlds(b, y, i * lanes + 65536", "illegal read|outside|beyond", "vlds(b, y")
find("a store behind UB is found at its line", "vf_add", 4, add, [1000], "vsts(a, z, i * lanes",
     "vsts(a, z, i * lanes + 32768", "illegal write|outside|beyond", "vsts(a, z")
find("an address that is not a multiple of 32 bytes is found", "vf_add", 4, add, [1000], "vlds(b, y, i * lanes",
     "vlds(b, y, i * lanes + 1", "misaligned|multiple", "vlds(b, y")
find("a mask that was never set ends the run", "vf_add", 4, add, [1000],
     "vector_bool mask = plt_b32(count, POST_UPDATE);", "vector_bool mask;", "a mask is used", "vadd(a, a, b", "run")
find("a register that nobody wrote is found", "vf_add", 4, add, [1000], "    vlds(b, y, i * lanes, NORM);\n", "",
     "uninitialized read", "vadd(a, a, b")
find("lanes that nobody wrote are found where they leave UB", "vf_add", 4, add, [1000],
     "copy_gm_to_ubuf(b, y + block_idx * count, 0, 1, bursts", "copy_gm_to_ubuf(b, y + block_idx * count, 0, 1, bursts - 1",
     "uninitialized read", "copy_ubuf_to_gm(z")
find("words that a load does not have are told", "vf_add", 4, add, [1000], "vlds(a, x, i * lanes, NORM)",
     "vlds(a, x, i * lanes, DINTLV_B32)", "no such distribution", "vlds(a, x", "run")

# ---- time, by hand ----

head = """extern "C" __global__ __vector__ void timed(__gm__ float *y) {
  __ubuf__ float *ub = (__ubuf__ float *)0;
  __VEC_SCOPE__ {
    vector_f32 a, b;
    vector_bool all = pset_b32(PAT_ALL);
"""
tail = """  }
  pipe_barrier(PIPE_ALL);
}
"""


def busy_cycles(name, body):
    library, _ = compiled(name, head + body + tail)
    result = results_of(f"{library}:timed", "--blocks=1", "--arg", "name=y,dtype=fp32,shape=8,io=out")
    if not isinstance(result, dict):
        return result
    return max(core["pipes"]["V"]["busy_cycles"] for core in result["cores"])


# Start 21, issue 3, then by class: vbr 2 to vadd, 3 to vadd, 7 until it ends, end 12.
for title, body, cycles in (
    ("one broadcast", "vbr(a, 1.0f);", 21 + 3 + 6 + 12),
    ("a chain of three", "vbr(a, 1.0f); vadd(a, a, a, all); vadd(a, a, a, all);", 21 + 3 + 2 + 3 + 7 + 12),
    ("exponentials take their unit 4 cycles each, two units", "vbr(a, 1.0f);"
     + "vexp(b, a, all); vexp(b, a, all); vexp(b, a, all); vexp(b, a, all); vexp(b, a, all);",
     21 + 3 + 3 + 4 + 4 + 16 + 12),
):
    found = busy_cycles("timed", body)
    report(f"{title}: {cycles} cycles", "" if found == cycles else f"found {found}")

# A quotient that waits for its exponential leaves the unit to later exponentials.
turns = [busy_cycles("timed", "vbr(a, 1.0f);" + "vexp(b, a, all); vdiv(b, b, a, all);" * n) for n in (120, 40)]
report("exponential and quotient, 4 cycles each on two units: 4 cycles a turn, and a twentieth lost in gaps",
       "" if 80 * 4 - 4 < turns[0] - turns[1] < 80 * 4 * 1.05 else f"found {turns}")

# ---- loads and stores: banks, and the end of UB ----

# 64 turns: of two loads and a store, three accesses where two fit a cycle; what lies between the starts of the two
# inputs is an odd or an even number of registers, so that a pair of loads needs both banks or the same bank.
ADD = """for (uint16_t i = 0; i < 64; i++) {
      vlds(a, ub + i * 64, 0, NORM);
      vlds(b, ub + %d + i * 64, 0, NORM);
      vadd(a, a, b, all);
      vsts(a, ub + %d + i * 64, 0, NORM_B32, all);
    }"""
STORES = """for (uint16_t i = 0; i < 64; i++)
      vsts(a, ub + i * 64, 0, NORM_B32, all);"""
adds = [busy_cycles("timed", "vbr(a, 1.0f);" + STORES + "mem_bar(VST_VLD);" + ADD % (first, 16384))
        - busy_cycles("timed", "vbr(a, 1.0f);" + STORES) for first in (5120, 5184)]
report("an addition of registers takes a cycle and a half, whichever banks its inputs lie in",
       "" if all(64 * 1.5 <= found <= 64 * 1.5 + 32 for found in adds) else f"found {adds}")
column = "for (uint16_t i = 0; i < 64; i++) vlds(a, ub + %s, 0, NORM);"
turns = [busy_cycles("timed", column % step)
         for step in ("i * 64", "i % 8 * 128")]
report("registers of both banks come two a cycle, those of one bank one a cycle",
       "" if 30 <= turns[1] - turns[0] <= 32 else f"found {turns}")
library, _ = compiled("timed", head + "vbr(a, 1.0f); vsts(a, ub + 65536 - 64, 0, NORM_B32, all);" + tail)
run = command("run", f"{library}:timed", chip, "--blocks=1", "--arg", "name=y,dtype=fp32,shape=8,io=out", "--quiet")
report("the last bytes of 256 KiB of UB are there", "" if run.returncode == 0 else run.stderr)
library, _ = compiled("timed", head + "vbr(a, 1.0f); vsts(a, ub + 65536, 0, NORM_B32, all);" + tail)
run = command("run", f"{library}:timed", chip, "--blocks=1", "--arg", "name=y,dtype=fp32,shape=8,io=out", "--quiet")
report("those behind are not", "" if run.returncode == 3 and "of UB, which has 262144" in run.stderr else run.stderr)

# ---- conversions: CTRL tells of saturation, unless its bit 60 leaves that to instructions ----

CONVERT = """extern "C" __global__ __vector__ void convert(__gm__ half *x, __gm__ int8_t *y) {
  __ubuf__ half *from = (__ubuf__ half *)0;
  __ubuf__ int8_t *to = (__ubuf__ int8_t *)4096;
  copy_gm_to_ubuf(from, x, 0, 1, 8, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  %s
  __VEC_SCOPE__ {
    vector_f16 wide;
    vector_s8 narrow;
    vector_bool all = pset_b16(PAT_ALL);
    vlds(wide, from, 0, NORM);
    vcvt(narrow, wide, all, ROUND_Z, %s, PART_EVEN, MODE_ZEROING);
    vsts(narrow, to, 0, PK_B16, all);
  }
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(y, to, 0, 1, 4, 0, 0);
}
"""
wide = np.linspace(-400, 400, 128).astype(np.float16)
kept = wide.astype(np.int32).astype(np.int8)
ended = np.clip(wide.astype(np.int32), -128, 127).astype(np.int8)
for title, control, word, want in (
    ("at the start integers end at the range, whatever the instruction says", "", "RS_DISABLE", ended),
    ("CTRL[59] keeps their low bits", "set_ctrl(get_ctrl() | (1ll << 59));", "RS_ENABLE", kept),
    ("with CTRL[60] 0 an instruction without saturation keeps low bits", "set_ctrl(get_ctrl() & ~(1ll << 60));", "RS_DISABLE", kept),
    ("and one with saturation ends at the range", "set_ctrl(get_ctrl() & ~(1ll << 60));", "RS_ENABLE", ended),
):
    library, _ = compiled("convert", CONVERT % (control, word))
    np.save(os.path.join(folder, "wide.npy"), wide)
    np.save(os.path.join(folder, "narrow.npy"), want)
    run = command("run", f"{library}:convert", chip, "--blocks=1", "--arg", "name=x,dtype=fp16,shape=128,io=in",
                  "--arg", "name=y,dtype=int8,shape=128,io=out", "--values", f"--input=x={folder}/wide.npy",
                  f"--expect=y={folder}/narrow.npy", "--quiet")
    report(f"conversion: {title}", "" if run.returncode == 0 else run.stdout + run.stderr)

# ---- address registers: indices and strides, or strides of a function whose parameters are the indices ----

ADDRESSES = """
inline vector_address strides(uint16_t index0, uint32_t a, uint16_t index1, uint32_t b) { return vag_b32(a, b); }
inline vector_address stride(uint16_t index0, uint32_t a) { return vag_b32(a); }
extern "C" __global__ __vector__ void addresses(__gm__ float *x, __gm__ float *y) {
  __ubuf__ float *from = (__ubuf__ float *)0, *to = (__ubuf__ float *)16384;
  copy_gm_to_ubuf(from, x, 0, 1, 96, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  __VEC_SCOPE__ {
    vector_f32 a;
    vector_bool all = pset_b32(PAT_ALL);
    for (uint16_t i = 0; i < 2; i++)
      for (uint16_t j = 0; j < 3; j++) {
        vld(a, from, %s, NORM);
        vst(a, to, %s, NORM_B32, all);
      }
    for (uint16_t i = 0; i < 6; i++) {
      vld(a, from, stride(5 - i, 128), NORM);
      vst(a, to, vag_b32(i, 128, 1, 64), NORM_B32, all);
    }
  }
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(y, to, 0, 1, 96, 0, 0);
}
"""
x = random.standard_normal((12, 64)).astype(np.float32)
want = np.zeros_like(x)
for i in range(2):
    for j in range(3):
        want[2 * (3 * i + j)] = x[6 * i + j]
want[1::2] = x[::2][::-1]
np.save(os.path.join(folder, "x.npy"), x.ravel())
np.save(os.path.join(folder, "want.npy"), want.ravel())
for title, load, store in (("with indices", "vag_b32(i, 384, j, 64)", "vag_b32(i, 384, j, 128)"),
                           ("of parameters", "strides(i, 384, j, 64)", "strides(i, 384, j, 128)")):
    library, _ = compiled("addresses", ADDRESSES % (load, store))
    run = command("run", f"{library}:addresses", chip, "--blocks=1", "--arg", "name=x,dtype=fp32,shape=768,io=in",
                  "--arg", "name=y,dtype=fp32,shape=768,io=out", "--values", f"--input=x={folder}/x.npy",
                  f"--expect=y={folder}/want.npy", "--quiet")
    report(f"addresses by strides, {title}", "" if run.returncode == 0 else run.stdout + run.stderr)

# ---- code: of functions their own instructions count ----


def code_bytes(body):
    library, _ = compiled("timed", head + body + tail)
    run = command("run", f"{library}:timed", chip, "--blocks=1", "--arg", "name=y,dtype=fp32,shape=8,io=out", "--quiet",
                  f"--record={folder}/timed.csv")
    with open(os.path.join(folder, "timed.csv"), encoding="utf-8") as rows:
        found = re.search(r"^code_fetch,bytes=(\d+)", rows.read(), re.MULTILINE)
    return int(found.group(1)) if found else run.stdout + run.stderr


few, many = (code_bytes("vbr(a, 1.0f);" + "vadd(a, a, a, all);" * n) for n in (10, 90))
report("80 register instructions more are 320 bytes more of code", "" if many - few == 320 else f"found {few} and {many}")

# ---- numbers by their indices, wide integers, histograms ----

INDEXED = """extern "C" __global__ __vector__ void indexed(__gm__ %(type)s *x, __gm__ %(index)s *i, __gm__ %(type)s *y) {
  __ubuf__ %(type)s *from = (__ubuf__ %(type)s *)0, *to = (__ubuf__ %(type)s *)16384;
  __ubuf__ %(index)s *places = (__ubuf__ %(index)s *)8192;
  copy_gm_to_ubuf(from, x, 0, 1, sizeof(%(type)s) * 1024 / 32, 0, 0);
  copy_gm_to_ubuf(places, i, 0, 1, 8, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  __VEC_SCOPE__ {
    vector_%(short)s a;
    vector_%(shorti)s at;
    vector_bool all = pset_b%(bits)s(PAT_ALL), some = pset_b%(bits)s(PAT_VL32);
    vlds(at, places, 0, NORM);
    %(body)s
  }
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(y, to, 0, 1, sizeof(%(type)s) * %(out)s / 32, 0, 0);
}
"""
FLOATS = {"type": "float", "index": "uint32_t", "short": "f32", "shorti": "u32", "bits": 32, "out": 64}
HALVES = {"type": "half", "index": "uint16_t", "short": "f16", "shorti": "u16", "bits": 16, "out": 128}
BYTES = {"type": "uint8_t", "index": "uint16_t", "short": "u16", "shorti": "u16", "bits": 16, "out": 256}
GATHER = "vgather2(a, from, at, %s); vsts(a, to, 0, NORM_B32, all);"
SCATTER = "vlds(a, from, 0, NORM); vscatter(a, to, at, all);"
NAMES = {"float32": "fp32", "float16": "fp16", "uint32": "uint32", "uint16": "uint16", "uint8": "uint8"}


def indexed(shape, body, x, places, size, change=lambda text: text):
    """A kernel with this body: the words for a run, and its source."""
    library, path = compiled("indexed", change(INDEXED % {**shape, "body": body}))
    words = [f"{library}:indexed", chip, "--blocks=1"]
    for name, array, io in (("x", x, "in"), ("i", places, "in"), ("y", None, "out")):
        dtype = NAMES[(x if array is None else array).dtype.name]
        words += ["--arg", f"name={name},dtype={dtype},shape={size if array is None else array.size},io={io}"]
        if array is not None:
            np.save(os.path.join(folder, f"{name}.npy"), array)
            words += ["--input", f"{name}={folder}/{name}.npy"]
    return words, path


def has(words, want):
    np.save(os.path.join(folder, "want.npy"), want)
    run = command("run", *words, "--values", f"--expect=y={folder}/want.npy", "--quiet")
    check = command("check", *words)
    clean = check.returncode == 0 and "WARNING" not in check.stdout
    return "" if run.returncode == 0 and clean else run.stdout + run.stderr + check.stdout + check.stderr


x = random.standard_normal(1024).astype(np.float32)
far = random.integers(0, 1024, 64).astype(np.uint32)
words, _ = indexed(FLOATS, GATHER % "all", x, far, 64)
report("a gather takes numbers from their places", has(words, x[far]))
record = os.path.join(folder, "indexed.csv")
command("run", *words, "--values", "--quiet", f"--record={record}")
whole, again = results_of(*words, "--values"), results_of(record)
report("and as a recorded trace has the same result",
       "" if isinstance(whole, dict) and whole == again else str(again)[:300])
words, _ = indexed(FLOATS, GATHER % "some", x, np.where(np.arange(64) < 32, far, 1 << 30).astype(np.uint32), 64)
report("lanes that are not active become 0, wherever their index leads", has(words, np.where(np.arange(64) < 32, x[far], 0)))
words, _ = indexed(HALVES, (GATHER % "all").replace("B32", "B16"), x.astype(np.float16),
                   random.permutation(1024)[:128].astype(np.uint16), 128)
near = np.load(f"{folder}/i.npy")
report("numbers of 16 bits have indices of 16 bits", has(words, x.astype(np.float16)[near]))
small = random.integers(0, 256, 1024).astype(np.uint8)
words, _ = indexed(BYTES, "vgather2(a, from, at, all); vsts(a, (__ubuf__ uint16_t *)to, 0, NORM_B16, all);", small, near, 256)
report("bytes come into lanes of 16 bits", has(words, small[near].astype(np.uint16).view(np.uint8)))
blocks = (32 * random.permutation(128)[:64]).astype(np.uint32)
words, _ = indexed(FLOATS, "vgatherb(a, from, at, some); vsts(a, to, 0, NORM_B32, all);", x, blocks, 64)
report("blocks of 32 bytes by their places in bytes", has(words, x.reshape(128, 8)[blocks[:8] // 32].ravel()))
turned = random.permutation(64).astype(np.uint32)
want = np.zeros(64, np.float32)
want[turned] = x[:64]
words, _ = indexed(FLOATS, SCATTER, x, turned, 64)
report("a scatter puts numbers to their places", has(words, want))

LONG = """vector_u32 low, high; vector_bool carry;
    vlds(low, (__ubuf__ uint32_t *)from, 0, NORM); vlds(high, (__ubuf__ uint32_t *)from, 64, NORM);
    vaddc(carry, low, low, at, all); vaddcs(carry, high, high, at, carry, all);
    vsts(low, (__ubuf__ uint32_t *)to, 0, NORM_B32, all); vsts(high, (__ubuf__ uint32_t *)to, 64, NORM_B32, all);"""
WORDS = {**FLOATS, "type": "uint32_t", "short": "u32", "out": 128}
parts = random.integers(0, 1 << 32, 1024).astype(np.uint32)
more = random.integers(0, 1 << 32, 64).astype(np.uint32)
sums = (parts[:64] + (parts[64:128].astype(np.uint64) << np.uint64(32))) + (more + (more.astype(np.uint64) << np.uint64(32)))
words, _ = indexed(WORDS, LONG, parts, more, 128)
report("integers of 64 bits add up with carries",
       has(words, np.concatenate([sums & np.uint64(0xffffffff), sums >> np.uint64(32)]).astype(np.uint32)))
upper = np.where(np.arange(64) < 32, sums, np.uint64(0))
words, _ = indexed(WORDS, re.sub(r"(vaddcs?\(.*?), all\)", r"\1, some)", LONG), parts, more, 128,
                   lambda text: text.replace("places, i, 0, 1, 8,", "places, i, 0, 1, 4,"))
report("lanes without carries are 0 and written, though nobody wrote what they would add",
       has(words, np.concatenate([upper & np.uint64(0xffffffff), upper >> np.uint64(32)]).astype(np.uint32)))
words, _ = indexed(WORDS, LONG.replace("vaddc", "vsubc"), parts, more, 128)
less = (parts[:64] + (parts[64:128].astype(np.uint64) << np.uint64(32))) - (more + (more.astype(np.uint64) << np.uint64(32)))
report("and are subtracted with them",
       has(words, np.concatenate([less & np.uint64(0xffffffff), less >> np.uint64(32)]).astype(np.uint32)))
words, _ = indexed(WORDS, """vector_u32 low, high; vlds(low, from, 0, NORM); vmull(low, high, low, at, all);
    vsts(low, to, 0, NORM_B32, all); vsts(high, to, 64, NORM_B32, all);""", parts, more, 128)
wide = parts[:64].astype(np.uint64) * more
report("products of 64 bits",
       has(words, np.concatenate([wide & np.uint64(0xffffffff), wide >> np.uint64(32)]).astype(np.uint32)))
words, _ = indexed(BYTES, """vector_u8 b; vector_bool bytes = pset_b8(PAT_ALL);
    vlds(b, from, 0, NORM); vdup(a, (uint16_t)0, all, MODE_ZEROING);
    %s(a, b, bytes, Bin_N1); vsts(a, (__ubuf__ uint16_t *)to, 0, NORM_B16, all);""" % "chistv2", small, near, 256)
counts = np.cumsum(np.bincount(small[:256], minlength=256)).astype(np.uint16)
report("a cumulative histogram of the upper half counts the lower half too", has(words, counts[128:].view(np.uint8)))

# ---- squeezed numbers, side by side from any address on ----

SQUEEZE = """vector_f32 b; vector_align held; vector_bool keep; %s
    for (uint16_t k = 0; k < 5; k++) {
      vlds(b, from, k * 64, NORM); vcmps_gt(keep, b, 0.5f, all);
      vsqz(a, b, keep, MODE_STORED);
      vstur(held, a, to + 3, POST_UPDATE);
    }
    vstar(held, to + 3);"""
FEW = {**FLOATS, "out": 320}
kept = x[:320][x[:320] > 0.5]
want = np.concatenate([np.zeros(3, np.float32), kept])
fill = "vdup(a, 0.0f, all, MODE_ZEROING); for (uint16_t k = 0; k < 6; k++) vsts(a, to, k * 64, NORM_B32, all); mem_bar(VST_VST); "
words, _ = indexed(FEW, SQUEEZE % (fill + "sprclr(SPR_AR);"), x, far, 320)
report("squeezed numbers lie side by side from any address on", has(words, np.resize(np.concatenate([want, np.zeros(320, np.float32)]), 320)))
counted = "  int64_t bytes = get_ar();\n  if (bytes != %d)\n    trap();\n  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);"
for bytes, ends in ((kept.nbytes, 0), (kept.nbytes + 4, 3)):
    words, _ = indexed(FEW, SQUEEZE % (fill + "sprclr(SPR_AR);"), x, far, 320,
                       lambda text: text.replace("  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);", counted % bytes))
    run = command("run", *words, "--values", "--quiet")
    report(f"AR has their bytes behind the function: {'so' if ends == 0 else 'not'} {bytes}",
           "" if run.returncode == ends else f"exit {run.returncode}\n{run.stderr}")


def finds(title, body, places, wanted, mark, verb="check", change=lambda text: text):
    words, path = indexed(FLOATS, body, x, places, 64, change)
    with open(path, encoding="utf-8") as file:
        line = [i for i, text in enumerate(file, 1) if mark in text][0]
    run = command(verb, *words, *(["--values"] if verb == "run" else []))
    told = run.stdout + run.stderr
    right = run.returncode in (3, 5) and re.search(wanted, told) and f"indexed.cpp:{line}" in told
    report(title, "" if right else f"exit {run.returncode}, no '{wanted}' at line {line}\n{told}")


behind = np.where(np.arange(64) == 5, 70000, far).astype(np.uint32)
finds("an index behind UB is found where the gather is", GATHER % "all", behind, "illegal read|outside|leaves", "vgather2(")
finds("and where the scatter is", SCATTER, behind, "illegal write|outside|leaves", "vscatter(")
finds("an index that is no place at all ends the run", SCATTER, np.full(64, 0xffffffff, np.uint32), "operand \"(first|last)\"", "vscatter(", "run")
finds("an address that is not that of a block is found", "vgather2(a, from + 1, at, all); vsts(a, to, 0, NORM_B32, all);", far,
      "misaligned|multiple", "vgather2(")
finds("a gather of what nobody wrote is found", "vgather2(a, to + 8192, at, all); vsts(a, to, 0, NORM_B32, all);", far,
      "uninitialized read", "vgather2(")
finds("a store of squeezed numbers without a squeeze is told",
      "vector_align held; vlds(a, from, 0, NORM); vstur(held, a, to, POST_UPDATE); vstar(held, to);", far,
      "vstur without a vsqz", "vstur(", "run")
finds("and two squeezes without a store between", "vsqz(a, a, all, MODE_STORED); vsqz(a, a, all, MODE_STORED);".replace("vsqz", "vlds(a, from, 0, NORM); vsqz", 1), far,
      "takes turns", "vsqz(", "run")
finds("a copy of what is scattered needs a flag", SCATTER, turned, "RAW hazard", "copy_ubuf_to_gm(y",
      change=lambda text: text.replace("  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);\n", ""))


def gather_cycles(places):
    words, _ = indexed(FLOATS, "for (uint16_t k = 0; k < 32; k++) vgather2(a, from, at, all); vsts(a, to, 0, NORM_B32, all);",
                       x, places.astype(np.uint32), 64)
    result = results_of(*words, "--values")
    return max(core["pipes"]["V"]["busy_cycles"] for core in result["cores"]) if isinstance(result, dict) else result


# A subbank has 8 bytes of each 512: two rows of it take two cycles, one row or two subbanks one cycle.
cycles = [gather_cycles(np.arange(64) % 2 * step) for step in (0, 1, 2, 128)]
report("numbers of one row of a subbank, or of two subbanks, come at once; of two rows one after the other",
       "" if cycles[0] == cycles[1] == cycles[2] and cycles[3] - cycles[0] == 32 else f"found {cycles}")
eight = gather_cycles(np.arange(64) % 8 * 128)
report("of eight rows eight cycles", "" if eight - cycles[0] == 7 * 32 else f"found {eight} and {cycles[0]}")
plan()
