# SPDX-License-Identifier: Apache-2.0
"""Operators on chips whose cores have cube and vector unit, against numpy; layers of known networks.

    coupled.py VINCI [--soc NAME] [--seed S] [--every N]

Cases of vecops.py, vecmore.py, vecjoined.py, ops.py and convs.py, and of FOUND, but those of bf16, which these chips do not
have. What a chip refuses needs a reason that REFUSED knows. The layers have to run, with all checks.
"""

import argparse
import collections
import itertools
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

import convs
import detect
import found
import ops
import serving
import vecfused
import vecjoined
import vecmore
import vecops

# Reasons, and the most cases of a hundred that may have them.
REFUSED = [
    (r"int64 is not supported", 20),
    (r"copies whole blocks of 32 bytes alone", 12),
    (r"there is no conversion from", 10), (r"is not supported on", 20),
    (r"the cube of \S+ does not compute in", 5), (r"no signals between its cores", 8),
    (r"has no instruction that sorts", 10), (r"last part of a row is less than a block", 4),
    (r"does not take data type", 10), (r"has no instruction \"", 12),
    (r"its stores add no", 2),
    (r"has no copies that fill up rows", 6),
    (r"the cores of \S+ cannot wait for each other", 5), (r"has no instruction that gathers", 5),
]

# Results as long as the data say: more of these cases than of others, which have relatives.
FOUND = [found.selects, found.nonzeros, detect.kept_boxes]
FOUND_EVERY = 3

LAYERS = """
conv2d n=1 c=3 h=224 w=224 k=64 kernel=7x7 stride=2x2 pad=3x3 bias=1
conv2d n=8 c=64 h=56 w=56 k=256 kernel=1x1 bias=1
conv2d n=8 c=256 h=56 w=56 k=512 kernel=1x1 stride=2x2 bias=1
conv2d n=8 c=512 h=7 w=7 k=512 kernel=3x3 pad=1x1 bias=1
conv2d n=1 c=32 h=112 w=112 k=32 kernel=3x3 pad=1x1 groups=32 bias=1
conv2d n=1 c=144 h=56 w=56 k=144 kernel=3x3 stride=2x2 pad=1x1 groups=144 bias=1
conv2d n=1 c=960 h=7 w=7 k=320 kernel=1x1 bias=1
conv2d n=1 c=256 h=80 w=80 k=255 kernel=1x1 bias=1
conv2d n=1 c=3 h=224 w=224 k=768 kernel=16x16 stride=16x16 bias=1
conv2d n=1 c=64 h=56 w=56 k=64 kernel=3x3 pad=1x1 dtype=int8 out_dtype=fp16 scale=0.5 bias=1
max_pool shape=8x4x112x112x16 kernel=3x3 stride=2x2 pad=1x1
avg_pool shape=8x128x7x7x16 kernel=7x7 stride=1x1
max_pool shape=1x32x20x20x16 kernel=5x5 stride=1x1 pad=2x2
reduce_mean shape=8x2048x7x7 axis=2 axes=2
add shape=8x16x56x56x16
relu shape=8x16x56x56x16
mul shape=8x16x56x56x16 shape1=8x16x1x1x16
maxs shape=1x6x112x112x16 alpha=0
mins shape=1x6x112x112x16 alpha=6
transdata shape=8x3x224x224 way=nchw_to_nc1hwc0
transdata shape=8x2048x1x1 way=nc1hwc0_to_nchw
transdata shape=8x1000x1x1 way=nc1hwc0_to_nchw
transdata shape=1x255x20x20 way=nc1hwc0_to_nchw
transdata shape=64x3x7x7 way=nchw_to_fractal_z
transdata shape=197x768 way=nd_to_fractal_nz
transdata shape=12x197x197 way=fractal_nz_to_nd
matmul m=8 k=2048 n=1000 transpose_b=1 bias=1
matmul m=197 k=768 n=768 transpose_b=1 bias=1
matmul m=1 k=768 n=2 transpose_b=1 bias=1
batch_matmul batch=12 m=197 k=64 n=197 transpose_b=1
batch_matmul batch=12 m=197 k=197 n=64
softmax shape=12x197x197
softmax shape=8x1000
layer_norm shape=197x768
gelu shape=128x3072
silu shape=1x2x320x320x16
sigmoid shape=1x3x80x80x85
hard_sigmoid shape=1x72x1x1
hard_swish shape=1x16x112x112
add shape=1x12x128x128 shape1=1x1x1x128
add shape=8x1000 shape1=1000
transpose shape=197x12x64 perm=2x1x3
transpose shape=12x197x64 perm=1x3x2
slice shape=197x768 out=1x768
slice shape=1x8400x85 out=1x8400x4
concat axis=0 shape=1x768 shape1=196x768
concat axis=1 shape=1x16x80x80x16 shape1=1x16x80x80x16
gather shape=30522x768 count=128
cast shape=128x768 dtype=fp32 to=fp16
batch_norm shape=8x4x56x56x16 format=nc1hwc0
broadcast shape=1x768 to=128x768
conv2d_backprop_input n=8 c=64 h=28 w=28 k=64 kernel=3x3 pad=1x1
"""


def long_cases(cases):
    """These chips take the lower word of int64, whatever the upper one is."""
    for shape in ["2", "1009"]:
        x = cases.rng.integers(-2**63, 2**63 - 1, vecops.extents(shape), np.int64)
        x.flat[:2] = [2**31, -2**31 - 1]
        low = x.astype(np.uint64).astype(np.uint32).view(np.int32)
        cases.add("cast shape=%s dtype=int64 to=int32" % shape, {"x": x}, {"y": low})
        cases.add("cast shape=%s dtype=int64 to=fp32" % shape, {"x": x}, {"y": low.astype(np.float32)})


def long_sorts(cases):
    """Rows of several chunks, each number once: the order of equal ones is not promised there."""
    numbers = np.arange(0x7c00, dtype=np.uint16)
    numbers = np.concatenate([numbers, numbers[1:] | 0x8000]).view(np.float16)
    for shape, k, tail in [("2x5003", 4999, ""), ("1x16384", 8192, ""), ("3x2100", 700, ""),
                           ("9x613", 600, " chunk=64"), ("3x20011", 1009, ""), ("1x130", 65, " chunk=64")]:
        rows, columns = vecops.extents(shape)
        x = np.stack([cases.rng.permutation(numbers)[:columns] for _ in range(rows)])
        for largest in [0, 1]:
            order = np.argsort(-x.astype(np.float32) if largest else x.astype(np.float32), -1)
            for name, keep, way in [("sort", columns, "descending"), ("topk k=%d" % k, k, "largest")]:
                cases.add("%s %s=%d shape=%s dtype=fp16%s" % (name, way, largest, shape, tail), {"x": x},
                          {"y": np.take_along_axis(x, order[:, :keep], -1), "y1": order[:, :keep].astype(np.int32)})


def numbers_of_rows(cases):
    """A number of each row, of rows that no copy cuts, or that are longer than several of a tile."""
    for shape, dtype in [("40x300", "fp32"), ("64x5000", "fp16")]:
        x = cases.draw(shape, dtype)
        cases.add("argmax shape=%s dtype=%s" % (shape, dtype), {"x": x}, {"y": x.argmax(-1).astype(np.int32)})
    for shape in ["64x2304", "97x4096"]:
        x = cases.draw(shape, "fp16")
        scale = np.abs(x.astype(np.float64)).max(-1) / 127
        cases.add("dynamic_quant shape=%s dtype=fp16" % shape, {"x": x}, {"scale": scale.astype(np.float32)},
                  vecops.CHAIN["fp32"])


def transposes_of_sizes(cases):
    """Of single bytes and of 64 bits, which the vector unit has no transposition for."""
    for shape, perm in [("64x128", "2x1"), ("63x127", "2x1"), ("1000x37", "2x1"), ("5x63x31", "1x3x2"),
                        ("64x33x128", "3x2x1"), ("700x701", "2x1")]:
        for dtype in ["int8", "uint8", "int64"]:
            bounds = np.iinfo(dtype)
            x = cases.rng.integers(bounds.min, bounds.max, vecops.extents(shape), dtype, endpoint=True)
            order = [number - 1 for number in vecops.extents(perm)]
            cases.add("transpose shape=%s perm=%s dtype=%s" % (shape, perm, dtype), {"x": x},
                      {"y": np.ascontiguousarray(x.transpose(order))})


def in_one_chunk(case):
    """Of longer rows the order of equal elements is not promised."""
    return not re.match("(sort|topk) .*shape=3x8192 dtype=fp16", case[0])


def saturated(case):
    """What becomes fp16 and is too large, infinities too, is the largest number."""
    request, inputs, outputs, limits = case
    if request.split()[0] not in ("floor", "ceil", "round", "trunc"):
        return case
    outputs = {name: np.clip(y, -65504, 65504) if y.dtype == np.float16 else y
               for name, y in outputs.items()}
    return request, inputs, outputs, limits


def run_layers(vinci, soc):
    for request in LAYERS.split("\n"):
        if request:
            done = subprocess.run([vinci, "run"] + request.split() +
                                  ["-s", soc, "--check", "--memory=flat", "-q"],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                yield "%s: %s" % (request, (done.stderr or done.stdout).strip().splitlines()[0])


def cube_cases(runner, rng):
    """Matrices of odd sides, with bias, transposed; convolutions; sums of bytes."""
    tilings = [[], ["resident=none"], ["resident=b"], ["cores=1"]]
    for index, shape in enumerate(ops.CONVOLUTIONS):
        kind = ("fp16", "int8")[index % 2]
        yield ops.conv2d(runner, rng, shape, kind, index % 3 != 0, tilings[index % 4])
    forms = itertools.product((False, True), (False, True), (False, True))
    for (turned_a, turned_b, bias), size in zip(forms, itertools.cycle(ops.SIZES)):
        batch = 1 if size[0] * size[2] < 16 else 2  # results of less than a block are refused
        yield ops.matmul(runner, rng, size, "fp16", (turned_a, turned_b), bias, batch, False, [])
    for index, size in enumerate(ops.SIZES):
        yield ops.matmul(runner, rng, size, "int8", (False, True), index % 2 == 0, 1, False, [])


def conv_cases(runner, rng, soc):
    """Groups, packed channels, gradients; int32 sums with a scale."""
    gradients = [convs.backprop_input, convs.backprop_filter]
    for index, (c, k, groups) in enumerate(convs.GROUPS):
        shape = (2, c, 9, 10, k, (3, 2), (2, 1), (1, 1, 1, 0), (1, 2))
        yield convs.conv2d(runner, rng, shape, "fp16", [], index % 2 == 0, groups=groups)
        for gradient in gradients:
            yield gradient(runner, rng, shape, "fp16", ["cores=2"], groups=groups)
    for shape in convs.SHAPES[::3]:
        for gradient in gradients:
            yield gradient(runner, rng, shape, "fp16", [])
        yield convs.integers(runner, rng, shape, "int32", [])
    if soc == "Ascend310P3":
        yield convs.few_channels(runner, rng, (2, 3, 23, 24, 33, (7, 7), (2, 2), (3, 0, 0, 3), (1, 1)), "fp16", [])


def wrong_refusals(reasons, count):
    """Those that no row knows, and those that are more than their row says."""
    found = collections.Counter()
    for request, text in reasons:
        row = next((row for row in REFUSED if re.search(row[0], text)), None)
        if row is None:
            yield "%s: %s" % (request, text)
        else:
            found[row] += 1
    for (pattern, most), number in found.items():
        if number > most * max(count, 100) / 100:
            yield "%d of %d cases: %s" % (number, count, pattern)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vinci")
    parser.add_argument("--soc", default="Ascend310P3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="each N-th case of vectors alone")
    args = parser.parse_args()
    chosen, wrong, refused = [], [], []
    for module in (vecops, vecmore, vecjoined):
        cases = vecops.Cases(np.random.default_rng(args.seed))
        for group in module.GROUPS:
            group(cases)
        typed = [case for case in cases.list if "bf16" not in case[0]]
        chosen += typed[args.seed % args.every::args.every]
    cases = vecops.Cases(np.random.default_rng(args.seed))
    for group in FOUND:
        group(cases)
    typed = [case for case in cases.list if "bf16" not in case[0]]
    every = max(args.every // FOUND_EVERY, 1)
    chosen += typed[args.seed % every::every]
    cases = vecops.Cases(np.random.default_rng(args.seed))
    long_cases(cases)
    long_sorts(cases)
    numbers_of_rows(cases)
    vecfused.resizes(cases)
    serving.sums(cases)
    found.histograms(cases)
    transposes_of_sizes(cases)
    chosen += [case for case in cases.list if "bf16" not in case[0] and "nchw" not in case[0]]
    chosen = list(filter(in_one_chunk, chosen))
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for case in map(saturated, chosen):
            text = vecops.run(args.vinci, args.soc, case, folder)
            if text and ("differs from" in text or "the checks found" in text):
                wrong.append("%s: %s" % (case[0], text.splitlines()[0]))
            elif text:
                refused.append((case[0], text.splitlines()[0]))
        runner = ops.Runner(os.path.abspath(args.vinci), args.soc, folder)
        wrong += filter(None, cube_cases(runner, np.random.default_rng(args.seed)))
        checked = convs.Checked(os.path.abspath(args.vinci), args.soc, folder)
        wrong += filter(None, conv_cases(checked, np.random.default_rng(args.seed), args.soc))
    wrong += run_layers(args.vinci, args.soc)
    wrong += wrong_refusals(refused, len(chosen))
    print("\n".join(wrong[:20]))
    print("%s: %d cases, %d refused, %d wrong" % (args.soc, len(chosen), len(refused), len(wrong)))
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
