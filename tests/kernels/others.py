#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Names and types of the 950 that its C interface uses beside those of the classes: numbers of any type by index, counts, halves
with a mode, pointers without a type, and traps that name what has no model. Prints TAP.

    others.py VINCI FOLDER_FOR_FILES
"""

import os
import subprocess
import sys

import numpy as np

from tap import plan, report

vinci, folder = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
random = np.random.default_rng(29)
SOURCE = """extern "C" __global__ __aicore__ void others(__gm__ uint8_t *x, __gm__ uint8_t *i, __gm__ uint8_t *y) {
  __ubuf__ uint8_t *from = (__ubuf__ uint8_t *)0, *places = (__ubuf__ uint8_t *)256, *to = (__ubuf__ uint8_t *)512;
  copy_gm_to_ubuf_align_v2((__ubuf__ void *)from, (__gm__ void *)x, 0, 1, 256, 0, 0, false, 0, 256, 256);
  copy_gm_to_ubuf_align_v2((__ubuf__ void *)places, (__gm__ void *)i, 0, 1, 256, 0, 0, false, 0, 256, 256);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  __VEC_SCOPE__ {
    vector_bool all = pset_b8(PAT_ALL);
    %s
  }
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm_align_v2((__gm__ void *)y, (__ubuf__ void *)to, 0, 1, 256, 0, 256, 256);
}
"""
TYPES = {"u8": "uint8_t", "s8": "int8_t", "u16": "uint16_t", "s16": "int16_t", "f16": "half", "bf16": "bfloat16_t", "u32": "uint32_t",
         "s32": "int32_t", "f32": "float"}


def bits(type):
    return int("".join(c for c in type if c.isdigit()))


def load(name, type, place):
    return f"vector_{type} {name}; vlds({name}, (__ubuf__ {TYPES[type]} *){place}, 0, NORM); "


def store(type):
    return f"vector_{type} r; %s vsts(r, (__ubuf__ {TYPES[type]} *)to, 0, NORM_B{bits(type)}, all);"


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder)


def made(body):
    with open(os.path.join(folder, "others.cpp"), "w", encoding="utf-8") as file:
        file.write(SOURCE % body)
    return command("cc", "--kernel-only", "--npu-arch=dav-3510", "others.cpp", "-o", "others.so")


def words(x, places, size=256):
    """All tensors are bytes: what a register holds."""
    found = ["others.so:others", "--soc-version=Ascend950PR_9589", "--blocks=1"]
    for name, array, io in (("x", x, "in"), ("i", places, "in"), ("y", None, "out")):
        found += ["--arg", f"name={name},dtype=uint8,shape={size},io={io}"]
        if array is not None:
            np.save(os.path.join(folder, f"{name}.npy"), array.view(np.uint8))
            found += ["--input", f"{name}={name}.npy"]
    return found


def gives(title, body, x, places, want):
    built = made(body)
    np.save(os.path.join(folder, "want.npy"), want.view(np.uint8))
    run = command("run", *words(x, places), "--values", "--quiet", "--expect=y=want.npy")
    check = command("check", *words(x, places))
    right = built.returncode == run.returncode == check.returncode == 0 and not built.stderr and "WARNING" not in check.stdout
    report(title, "" if right else built.stderr + run.stdout + run.stderr + check.stdout)


def stops(title, body, message, line="others.cpp:9"):
    built = made(body)
    zeros = np.zeros(256, np.uint8)
    run = command("run", *words(zeros, zeros), "--values", "--quiet")
    right = not built.stderr and run.returncode == 3 and f"{line}: error: block 0: {message}" in run.stderr
    report(title, "" if right else f"exit {run.returncode}\n{built.stderr}{run.stderr}")


for type in TYPES:
    unsigned = np.dtype(f"uint{bits(type)}")
    lanes = 2048 // bits(type)
    numbers = random.integers(0, 256, 256).astype(np.uint8)
    places = random.integers(0, lanes, lanes).astype(unsigned)
    gives(f"lanes of {TYPES[type]} by index",
          load("a", type, "from") + load("at", f"u{bits(type)}", "places") + store(type) % "vselr(r, a, at);",
          numbers, places, numbers.view(unsigned)[places])

for type in ("u8", "u16", "u32"):
    unsigned = np.dtype(f"uint{bits(type)}")
    numbers = random.integers(0, 100, 2048 // bits(type)).astype(unsigned)
    active = numbers > 50
    gives(f"how many lanes of {TYPES[type]} are active before each",
          load("a", type, "from") + f"vector_bool some; vcmps_gt(some, a, ({TYPES[type]})50, all); " + store(type) % "vusqz(r, some);",
          numbers, numbers, (np.cumsum(active) - active).astype(unsigned))

wide = random.integers(0, 1 << 32, 64, dtype=np.uint32)
want = np.zeros(128, np.uint16)
want[64:] = wide
gives("the upper half of what is packed, with a mode", load("a", "u32", "from") + store("u16") % "vpack(r, a, HIGHER, MODE_ZEROING);", wide, wide, want)

for type in ("f8e4m3", "f8e5m2", "hif8", "f8e8m0", "f4e2m1x2", "f4e1m2x2", "s4x2"):
    stops(f"registers of {type} that are interleaved end the run and are named", f"vector_{type} a, b, c, d; vintlv(a, b, c, d);",
          "vintlv of registers of these types is not modelled")
stops("so do operands without a model", "vector_hif8 a; vsts(a, (__ubuf__ uint8_t *)to, 0, NORM_B8, all);",
      "vsts of operands of these types is not modelled")
stops("and names without one", "vector_f32 a; vmulscvt(a, a, 1.0f, all);", "vmulscvt is not modelled")
stops("an address register with a stride and no loop of a function", "vector_address at = vag_b32(4);",
      "an address register takes an index and a stride in turn")
plan()
