# SPDX-License-Identifier: Apache-2.0
"""Convolutions and their gradients against numpy, on shapes that fit no unit.

    convs.py VINCI [--cases N] [--seed S] [--soc NAME] [--only WORD]

Operands are small multiples of 1/4, so that sums are exact and results have to agree in every bit,
padding channels included. Each trace also has to pass `vinci check`. Prints the seed; ends with 1
and the calls that differ.
"""

import argparse
import itertools
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

from ops import RESULT, TYPES, Runner, blocked, convolve, fractal_z, operand, rectified, with_residual

# n, c, h, w, k, kernel, stride, pad, dilation
SHAPES = [(1, 3, 9, 11, 5, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
          (2, 33, 13, 13, 32, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
          (3, 16, 17, 7, 48, (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
          (2, 40, 15, 16, 70, (5, 3), (2, 1), (2, 1, 0, 1), (1, 1)),
          (1, 8, 31, 29, 16, (7, 7), (4, 3), (3, 3, 2, 2), (1, 1)),
          (2, 24, 19, 23, 33, (3, 2), (1, 2), (2, 2, 1, 1), (2, 3)),
          (2, 20, 12, 14, 24, (1, 1), (2, 2), (0, 0, 0, 0), (1, 1)),
          (5, 17, 6, 5, 9, (6, 5), (1, 1), (0, 0, 0, 0), (1, 1)),
          (1, 1, 40, 1, 1, (3, 1), (3, 1), (0, 2, 0, 0), (2, 1)),
          (3, 5, 4, 5, 7, (4, 5), (1, 1), (0, 0, 0, 0), (1, 1)),
          (1, 130, 28, 28, 200, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1))]
# c, k, groups
GROUPS = [(32, 32, 32), (20, 20, 20), (96, 96, 3), (40, 80, 5), (64, 32, 2), (72, 24, 24), (6, 9, 3),
          (33, 66, 33), (144, 144, 9), (52, 52, 52)]
TILINGS = [[], ["resident=none"], ["resident=a"], ["cores=1"], ["resident=b"], ["band=2"]]


class Checked(Runner):
    """A tensor may be given and expected; the trace has to pass all checks as well."""

    def run(self, op, args, inputs, expected):
        command = ["run", op, *args, "-s", self.soc, "-q"]
        for option, tensors in (("--input", inputs), ("--expect", expected)):
            for name, values in tensors.items():
                path = os.path.join(self.folder, name + option + ".npy")
                np.save(path, np.ascontiguousarray(values))
                command += [option, f"{name}={path}"]
        trace = os.path.join(self.folder, "trace.csv")
        for words in (command, ["compile", op, *args, "-s", self.soc, "-o", trace],
                      ["check", trace, "-s", self.soc]):
            done = subprocess.run([self.program, *words], capture_output=True, text=True,
                                  check=False)
            if done.returncode != 0:
                return f"{op} {' '.join(args)}: {(done.stdout + done.stderr).strip()[:300]}"
        return None


def arguments(shape, kind, extra):
    n, c, h, w, k, kernel, stride, pad, dilation = shape
    return [f"n={n}", f"c={c}", f"h={h}", f"w={w}", f"k={k}", f"dtype={kind}",
            "kernel=%dx%d" % kernel, "stride=%dx%d" % stride, "pad=%dx%dx%dx%d" % pad,
            "dilation=%dx%d" % dilation, *extra]


def block(kind):
    return 32 // np.dtype(TYPES[kind]).itemsize


def result_size(shape):
    _, _, h, w, _, kernel, stride, pad, dilation = shape
    return ((h + pad[0] + pad[1] - (kernel[0] - 1) * dilation[0] - 1) // stride[0] + 1,
            (w + pad[2] + pad[3] - (kernel[1] - 1) * dilation[1] - 1) // stride[1] + 1)


def windows(shape):
    """For each point of the window its slices of the padded map."""
    _, _, _, _, _, kernel, stride, _, dilation = shape
    ho, wo = result_size(shape)
    for i, j in itertools.product(range(kernel[0]), range(kernel[1])):
        yield i, j, (slice(None), slice(None),
                     slice(i * dilation[0], i * dilation[0] + (ho - 1) * stride[0] + 1, stride[0]),
                     slice(j * dilation[1], j * dilation[1] + (wo - 1) * stride[1] + 1, stride[1]))


def joined(c, k, groups, c0, out_c0):
    """How many groups become one with whole blocks of channels; the last has to be as large."""
    cg, kg = c // groups, k // groups
    unit = math.lcm(math.lcm(cg, c0) // cg, math.lcm(kg, max(out_c0, 16)) // kg)
    for count in range(unit, groups, unit):
        parts = -(-groups // count)
        if all(-(-channels // unit) * unit == parts * count * part
               for channels, part in ((c, cg), (k, kg)) for unit in (c0, out_c0)):
            return count
    return groups


def laid_out(weights, groups, c0, out_c0):
    """[k, c, kh, kw] in FRACTAL_Z, joined groups one after the other."""
    k, c, *kernel = weights.shape
    count = joined(c, k, groups, c0, out_c0)
    if count == groups:
        unit = max(out_c0, 16)
        return fractal_z(np.pad(weights, ((0, -k % unit), (0, 0), (0, 0), (0, 0))), c0)
    parts, cj, kj = -(-groups // count), count * c // groups, count * k // groups
    padded = np.zeros((parts * kj, parts * cj, *kernel), weights.dtype)
    padded[:k, :c] = weights
    return np.concatenate([
        fractal_z(padded[part * kj:(part + 1) * kj, part * cj:(part + 1) * cj], c0)
        for part in range(parts)])


def grouped(rng, kind, c, k, kernel, groups, out_c0=0):
    """Weights [k, c, kh, kw] with zeros between groups, and in FRACTAL_Z."""
    cg, kg = c // groups, k // groups
    weights = np.zeros((k, c, *kernel), TYPES[kind])
    for group in range(groups):
        weights[group * kg:(group + 1) * kg, group * cg:(group + 1) * cg] = operand(
            rng, kind, (kg, cg, *kernel))
    return weights, laid_out(weights, groups, block(kind), out_c0 or block(kind))


def conv2d(runner, rng, shape, kind, extra, bias=None, groups=1):
    n, c, h, w, k, kernel, stride, pad, dilation = shape
    x, (weights, in_blocks) = operand(rng, kind, (n, c, h, w)), grouped(rng, kind, c, k, kernel,
                                                                       groups)
    y = convolve(x.astype(np.float64), weights.astype(np.float64), stride, pad, dilation)
    inputs = {"x": blocked(x, block(kind)), "w": in_blocks}
    args = arguments(shape, kind, [f"groups={groups}", *extra])
    if rng.integers(2) if bias is None else bias:
        inputs["bias"] = rng.integers(-50, 50, k).astype(np.float32)
        y += inputs["bias"].reshape(1, k, 1, 1)
        args.append("bias=1")
    y = with_residual(rng, y, kind, extra, inputs, lambda r: blocked(r, block(kind)))
    y = rectified(y, extra)
    result = y.astype(RESULT[kind])
    return runner.run("conv2d", args, inputs, {"y": blocked(result, block(kind))})


def few_channels(runner, rng, shape, kind, extra):
    """4 channels to a block: the window's points follow each other in blocks of weights."""
    n, c, h, w, k, kernel, stride, pad, dilation = shape
    x, weights = operand(rng, kind, (n, c, h, w)), operand(rng, kind, (k, c, *kernel))
    y = convolve(x.astype(np.float64), weights.astype(np.float64), stride, pad, dilation)
    c0, points = block(kind), kernel[0] * kernel[1]
    rows = np.zeros((-(-points * 4 // c0) * c0, -(-k // 16) * 16), TYPES[kind])
    rows[:points * 4, :k] = np.pad(weights, ((0, 0), (0, 4 - c), (0, 0), (0, 0))).transpose(
        2, 3, 1, 0).reshape(points * 4, k)
    inputs = {"x": blocked(x, 4),
              "w": rows.reshape(-1, c0, rows.shape[1] // 16, 16).transpose(0, 2, 3, 1)}
    return runner.run("conv2d", arguments(shape, kind, ["c04=1", *extra]), inputs,
                      {"y": blocked(y.astype(RESULT[kind]), c0)})


def backprop_input(runner, rng, shape, kind, extra, groups=1):
    n, c, h, w, k, kernel, _, pad, _ = shape
    dy = operand(rng, kind, (n, k, *result_size(shape)))
    weights, in_blocks = grouped(rng, kind, c, k, kernel, groups)
    dx = np.zeros((n, c, h + pad[0] + pad[1], w + pad[2] + pad[3]))
    for i, j, place in windows(shape):
        dx[place] += np.einsum("nkhw,kc->nchw", dy.astype(np.float64), weights[:, :, i, j])
    dx = dx[:, :, pad[0]:pad[0] + h, pad[2]:pad[2] + w].astype(RESULT[kind])
    inputs = {"dy": blocked(dy, block(kind)), "w": in_blocks}
    args = arguments(shape, kind, [f"groups={groups}", *extra])
    return runner.run("conv2d_backprop_input", args, inputs,
                      {"dx": blocked(dx, block(kind))})


def backprop_filter(runner, rng, shape, kind, extra, groups=1):
    """Between the groups that are joined, sums are kept that belong to no weight."""
    n, c, h, w, k, kernel, _, pad, _ = shape
    x, dy = operand(rng, kind, (n, c, h, w)), operand(rng, kind, (n, k, *result_size(shape)))
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), pad[:2], pad[2:]))
    dw = np.zeros((k, c, *kernel))
    for i, j, place in windows(shape):
        dw[:, :, i, j] = np.einsum("nkhw,nchw->kc", dy.astype(np.float64), padded[place])
    args = arguments(shape, kind, [f"groups={groups}"] + [
        word for word in extra if word.startswith("cores")])
    inputs = {"x": blocked(x, block(kind)), "dy": blocked(dy, block(kind))}
    result = laid_out(dw.astype(np.float32), groups, block(kind), block(kind))
    if rng.integers(2):
        inputs["dw"] = rng.integers(-9, 10, result.shape).astype(np.float32)
        result = result + inputs["dw"]
        args.append("accumulate=1")
    return runner.run("conv2d_backprop_filter", args, inputs, {"dw": result})


def integers(runner, rng, shape, out, extra, groups=1):
    """int8 to int32 with 16 channels to a block, or times scales of 11 bits to fp16 or int8."""
    n, c, h, w, k, kernel, stride, pad, dilation = shape
    out_c0 = {"int32": 16, "fp16": 16, "int8": 32}[out]
    x = operand(rng, "int8", (n, c, h, w))
    weights, in_blocks = grouped(rng, "int8", c, k, kernel, groups, out_c0)
    y = convolve(x.astype(np.int64), weights.astype(np.int64), stride, pad, dilation)
    args = arguments(shape, "int8", [f"out_dtype={out}", f"groups={groups}", *extra])
    inputs = {"x": blocked(x, 32), "w": in_blocks}
    if rng.integers(2):
        inputs["bias"] = rng.integers(-999, 1000, k).astype(np.int32)
        y += inputs["bias"].reshape(1, k, 1, 1)
        args.append("bias=1")
    y = rectified(y, extra)
    if out == "int32":
        return runner.run("conv2d", args, inputs, {"y": blocked(y.astype(np.int32), out_c0)})
    each = bool(rng.integers(2))
    scales = (rng.integers(1024, 2048, k if each else 1) * 2.0 ** rng.integers(-26, -20)).astype(
        np.float32)
    if each:
        words = np.zeros(-(-k // out_c0) * out_c0, np.int64)
        words[:k] = scales.view(np.uint32)
        words[:k] |= (out == "int8") << 46
        inputs["scales"] = words
        args.append("scales=1")
    else:
        args.append(f"scale={scales[0]:.9g}")
    result = y.astype(np.float32).astype(np.float64) * scales.reshape(1, -1, 1, 1)
    result = np.clip(np.rint(result), -128, 127).astype(np.int8) if out == "int8" else (
        result.astype(np.float16))
    return runner.run("conv2d", args, inputs, {"y": blocked(result, out_c0)})


OPERATORS = (conv2d, backprop_input, backprop_filter)


def large_cases(program, folder, rng):
    """Maps of more than 65535 points: no gap of a copy reaches from one block of channels to the next."""
    shape = (1, 17, 13110, 5, 20, (3, 2), (1, 1), (1, 1, 1, 0), (1, 1))
    strided = (1, 20, 21900, 3, 20, (3, 1), (2, 1), (1, 1, 0, 0), (1, 1))
    for soc, ops in (("Ascend910B4", OPERATORS), ("Ascend310P3", OPERATORS),
                     ("Ascend910A", OPERATORS[:2])):
        runner = Checked(program, soc, folder)
        for op in ops:
            yield op(runner, rng, shape, "fp16", [])
        yield backprop_input(runner, rng, strided, "fp16", [])
    yield conv2d(Checked(program, "Ascend910B4", folder), rng, shape, "fp16", ["residual=1"])


def parts(runner, rng):
    """Parts of the channels, which vector cores add up: equal ones and others, with a tail of channels."""
    for c, k, groups, split, kind in ((100, 33, 1, 3, "fp16"), (64, 40, 1, 4, "fp32"), (130, 24, 1, 2, "fp16"),
                                      (128, 96, 2, 2, "fp16")):
        shape = (2, c, 9, 7, k, (3, 2), (2, 1), (1, 1, 1, 0), (1, 1))
        yield conv2d(runner, rng, shape, kind, [f"split={split}", "relu=1"], groups=groups)
        yield conv2d(runner, rng, shape, kind, [f"split={split}"], True, groups=groups)
        yield backprop_input(runner, rng, (2, k, 9, 7, c, (3, 2), (2, 1), (1, 1, 1, 0), (1, 1)), kind,
                             [f"split={split}"], groups=groups)
    yield integers(runner, rng, (1, 130, 7, 7, 40, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)), "int32", ["split=2"])


def knobs(runner, rng):
    """Words that no default takes: a read ahead of all, and copies of channels as rows of a matrix."""
    shape = (2, 70, 9, 7, 40, (3, 2), (2, 1), (1, 1, 1, 0), (1, 1))
    for words in (["early=1"], ["copies=rows"], ["early=1", "copies=rows"]):
        for kind, tiling in (("fp16", ["resident=a"]), ("fp32", ["resident=none"]), ("fp16", ["split=2"])):
            yield conv2d(runner, rng, shape, kind, [*tiling, *words], True)
        yield conv2d(runner, rng, shape, "fp16", ["resident=b", *words], groups=5)
        yield integers(runner, rng, shape, "int8", words)
    yield backprop_input(runner, rng, shape, "fp16", ["early=1"])


def cases(runner, rng, count):
    for k in (70, 65, 72, 79):  # blocks whose channels end inside 16 follow full ones
        yield conv2d(runner, rng, (2, 16, 8, 8, k, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)), "fp16",
                     ["tile=64x48x32", "panel=144x144", "resident=none", "cores=1"], True)
    yield backprop_input(  # a block with rows that no window has reached
        runner, rng, (2, 20, 12, 14, 24, (1, 1), (2, 2), (0, 0, 0, 0), (1, 1)), "fp16",
        ["tile=14x32x32", "panel=32x32"])
    yield from parts(runner, rng)
    yield from knobs(runner, rng)
    for index, shape in enumerate(SHAPES):
        for out in ("int32", "fp16", "int8"):
            yield integers(runner, rng, shape, out, TILINGS[index % len(TILINGS)])
    for c, w, k, kernel, stride in ((3, 24, 33, (7, 7), (2, 2)), (4, 16, 64, (3, 3), (1, 1)),
                                    (1, 48, 20, (11, 5), (4, 3)), (3, 16, 7, (1, 1), (1, 1))):
        shape = (2, c, 23, w, k, kernel, stride, (kernel[0] // 2, 0, 0, kernel[1] // 2), (1, 1))
        for kind in ("fp16", "fp32"):
            yield few_channels(runner, rng, shape, kind, ["cores=3"] if kind == "fp32" else [])
    for c, k, groups in GROUPS:
        shape = (2, c, 9, 10, k, (3, 2), (2, 1), (1, 1, 1, 0), (1, 2))
        for kind, tiling in (("fp16", ["cores=2"]), ("fp32", [])):
            yield conv2d(runner, rng, shape, kind, tiling, groups=groups)
            yield backprop_input(runner, rng, shape, kind, tiling, groups=groups)
            yield backprop_filter(runner, rng, shape, kind, tiling, groups=groups)
        yield integers(runner, rng, shape, ("int8", "fp16", "int32")[groups % 3], [], groups)
    for index, shape in enumerate(SHAPES):
        for turn, kind in enumerate(("fp16", "fp32")):
            for op in OPERATORS:
                yield op(runner, rng, shape, kind, TILINGS[(index + 3 * turn) % len(TILINGS)])
    for _ in range(count):
        kernel = tuple(int(extent) for extent in rng.integers(1, 5, 2))
        dilation = tuple(int(extent) for extent in rng.integers(1, 3, 2))
        reach = [(extent - 1) * step for extent, step in zip(kernel, dilation)]
        pad = tuple(int(rng.integers(0, reach[i // 2] + 1)) for i in range(4))
        shape = (int(rng.integers(1, 4)), int(rng.integers(1, 50)),
                 reach[0] + int(rng.integers(1, 25)), reach[1] + int(rng.integers(1, 25)),
                 int(rng.integers(1, 70)), kernel,
                 tuple(int(extent) for extent in rng.integers(1, 4, 2)), pad, dilation)
        op = OPERATORS[rng.integers(len(OPERATORS))]
        yield op(runner, rng, shape, ("fp16", "fp32")[rng.integers(2)],
                 TILINGS[rng.integers(len(TILINGS))])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--soc", default="Ascend910B2")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        outcomes = list(cases(Checked(options.program, options.soc, folder), rng, options.cases))
        outcomes += large_cases(options.program, folder, rng)
    wrong = [outcome for outcome in outcomes if outcome]
    print(f"seed {options.seed}: {len(outcomes)} convolutions, {len(wrong)} differ")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
