# SPDX-License-Identifier: Apache-2.0
"""Lowered operators against numpy: `vinci run OP ... --expect` on shapes that fit no unit.

    ops.py VINCI [--cases N] [--seed S] [--soc NAME]

Operands are small multiples of 1/4, so that sums are exact and results have to agree in every bit.
Prints the seed; ends with 1 and the calls that differ.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np

# What files hold; bf16 is read from fp32.
TYPES = {"fp16": np.float16, "bf16": np.float32, "fp32": np.float32, "hf32": np.float32,
         "int8": np.int8}
RESULT = TYPES | {"int8": np.int32}
C0 = {"fp16": 16, "bf16": 16, "fp32": 8, "hf32": 8, "int8": 32}
SIZES = [(1, 1, 1), (15, 17, 127), (127, 15, 17), (17, 127, 1), (1, 453, 88), (131, 257, 263)]
# One of the operands, or both, in rows longer than 65535 elements; m, k, n, transposed, NZ.
WIDE = [((2, 65552, 3), (False, False), False), ((3, 65551, 17), (False, True), False),
        ((65552, 17, 15), (True, False), False), ((65551, 5, 33), (True, False), False),
        ((17, 1, 65552), (True, False), False), ((17, 19, 65552), (False, False), False),
        ((65552, 33, 17), (False, False), True), ((18, 65553, 16), (True, False), True),
        ((65552, 1, 3), (True, True), False)]


class Runner:
    def __init__(self, program, soc, folder):
        self.program, self.soc, self.folder = program, soc, folder

    def run(self, op, args, inputs, expected):
        """Returns what is wrong, or None."""
        command = [self.program, "run", op, *args, "-s", self.soc, "-q"]
        for option, tensors in (("--input", inputs), ("--expect", expected)):
            for name, values in tensors.items():
                path = os.path.join(self.folder, name + ".npy")
                np.save(path, np.ascontiguousarray(values))
                command += [option, f"{name}={path}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return None
        return f"{op} {' '.join(args)}: {done.stderr.strip()[:300]}"


def fractal_nz(matrix, c0):
    """Columns of blocks of 32 bytes, rows padded to 16."""
    rows, columns = (-(-matrix.shape[0] // 16) * 16, -(-matrix.shape[1] // c0) * c0)
    padded = np.zeros((rows, columns), matrix.dtype)
    padded[:matrix.shape[0], :matrix.shape[1]] = matrix
    return padded.reshape(rows // 16, 16, columns // c0, c0).transpose(2, 0, 1, 3)


def rounded(values, kind):
    """Exact values in the type of a result."""
    values = values.astype(RESULT[kind])
    if kind != "bf16":
        return values
    bits = values.view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).view(np.float32)


def operand(rng, kind, shape):
    if kind == "int8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return (rng.integers(-8, 9, shape) / 4).astype(TYPES[kind])


def with_residual(rng, sums, kind, extra, inputs, lay):
    """Sums with a residual, which joins the inputs as `lay` has it in memory."""
    if "residual=1" not in extra:
        return sums
    residual = operand(rng, kind, sums.shape)
    inputs["residual"] = lay(residual)
    return sums + residual.astype(sums.dtype)


def rectified(values, extra):
    return np.maximum(values, 0) if "relu=1" in extra else values


def lay_out(results, kind, extra):
    """Results of a product, a batch of matrices, as they lie in memory."""
    if "format_c=NZ" in extra:
        results = np.stack([fractal_nz(matrix, C0[kind]) for matrix in results])
    return results if len(results) > 1 else results[0]


def matmul(runner, rng, size, kind, transposed, bias, batch, nz, extra):
    m, k, n = (int(extent) for extent in size)
    wide = np.int64 if kind == "int8" else np.float64
    a, b = operand(rng, kind, (batch, m, k)), operand(rng, kind, (batch, k, n))
    for tensor, name in ((a, "a"), (b, "b")):
        if f"shared={name}" in extra:
            tensor[:] = tensor[0]
    c = np.matmul(a.astype(wide), b.astype(wide))
    inputs = {}
    if bias:
        rows = rng.integers(-50, 50, (batch if bias == "each" else 1, 1, n))
        inputs["bias"] = rows.ravel().astype(np.int32 if kind == "int8" else np.float32)
        c = c + rows
    c = with_residual(rng, c, kind, extra, inputs, lambda r: lay_out(r, kind, extra))
    c = rectified(c, extra)
    for name, tensor, turned in (("a", a, transposed[0]), ("b", b, transposed[1])):
        tensor = tensor.transpose(0, 2, 1) if turned else tensor
        tensor = np.stack([fractal_nz(matrix, C0[kind]) for matrix in tensor]) if nz else tensor
        inputs[name] = tensor if batch > 1 and f"shared={name}" not in extra else tensor[0]
    layout = "NZ" if nz else "ND"
    args = [f"m={m}", f"k={k}", f"n={n}", f"dtype={kind}", f"batch={batch}",
            f"bias={bias if bias == 'each' else int(bias)}",
            f"transpose_a={int(transposed[0])}", f"transpose_b={int(transposed[1])}",
            f"format_a={layout}", f"format_b={layout}", *extra]
    result = rounded(c, kind)
    if "format_c=NZ" in extra:
        result = np.stack([fractal_nz(matrix, C0[kind]) for matrix in result])
        # What lay there before has to go, also where the fractals pad.
        inputs["c"] = np.full_like(result if batch > 1 else result[0], 7)
    return runner.run("matmul", args, inputs, {"c": result if batch > 1 else result[0]})


def padded_cases(runner, rng):
    for index, kind in enumerate(("fp16", "bf16", "fp32")):
        for size in ((127, 31, 17), (1, 40, 3), (270, 70, 301)):
            yield matmul(runner, rng, size, kind, (index == 1, index == 2), False, 1 + index, False,
                         ["format_c=NZ"])


def coupled_cases(program, folder, rng):
    """Cores without nd2nz and fixpipe: whole blocks of 32 bytes in ND, anything in NZ."""
    nz = ["format_c=NZ"]
    cases = [((1, 16, 16), (0, 0), "fp16", 1, False, []),
             ((17, 96, 48), (0, 0), "fp16", 1, False, []),
             ((33, 112, 80), (0, 1), "fp16", 3, False, ["cores=2"]),
             ((48, 127, 96), (1, 0), "fp16", 1, False, ["resident=a"]),
             ((144, 77, 131), (1, 1), "fp16", 1, True, nz),
             ((17, 127, 1), (0, 0), "fp16", 1, True, nz),
             ((131, 257, 263), (0, 1), "fp16", 2, True, nz),
             ((300, 1040, 528), (0, 0), "fp16", 1, False, []),
             ((15, 64, 104), (0, 1), "int8", 1, False, []),
             ((131, 288, 136), (0, 1), "int8", 2, False, ["resident=b"])]
    for soc in ("Ascend910A", "Ascend310P3"):
        runner = Runner(program, soc, folder)
        for size, turned, kind, batch, layout, extra in cases:
            yield matmul(runner, rng, size, kind, turned, False, batch, layout, extra)
        x = rng.integers(-100, 100, 5008).astype(np.float16)
        yield runner.run("copy", ["shape=5008"], {"x": x}, {"y": x})


def dequantised(runner, rng, size, transposed, bias, batch, by_column, extra):
    """int8 to fp16: sums times scales that are fp32 numbers of 11 bits."""
    m, k, n = size
    a, b = operand(rng, "int8", (batch, m, k)), operand(rng, "int8", (batch, k, n))
    c = np.matmul(a.astype(np.int64), b.astype(np.int64))
    scales = (rng.integers(1, 2048, n) * 2.0 ** rng.integers(-24, -14, n)).astype(np.float32)
    inputs = {"a": a.transpose(0, 2, 1) if transposed[0] else a,
              "b": b.transpose(0, 2, 1) if transposed[1] else b}
    if batch == 1:
        inputs = {name: tensor[0] for name, tensor in inputs.items()}
    args = [f"m={m}", f"k={k}", f"n={n}", "dtype=int8", "out_dtype=fp16", f"batch={batch}",
            f"bias={int(bias)}", f"transpose_a={int(transposed[0])}",
            f"transpose_b={int(transposed[1])}", *extra]
    if bias:
        inputs["bias"] = rng.integers(-50, 50, n).astype(np.int32)
        c = c + inputs["bias"]
    c = rectified(c, extra)
    if by_column:
        inputs["scales"] = scales.view(np.uint32).astype(np.int64)
        args.append("scales=1")
    else:
        scales[:] = scales[0]
        args.append(f"scale={scales[0]:.9g}")
    result = (c.astype(np.float32).astype(np.float64) * scales).astype(np.float16)
    return runner.run("matmul", args, inputs, {"c": result if batch > 1 else result[0]})


def dequantised_cases(runner, rng):
    tilings = [[], ["cores=3"], ["resident=a"], ["resident=b"]]
    for index, size in enumerate(SIZES):
        for by_column in (False, True):
            turned = (index % 3 == 1, index % 2 == 0)
            yield dequantised(runner, rng, size, turned, index % 2 == int(by_column),
                              1 + 2 * (index == 4), by_column, tilings[index % 4])


def requantised_words(rng, count):
    """Scales of 11 bits, offsets, and the words that the fixpipe reads for both."""
    scales = (rng.integers(1024, 2048, count) * 2.0 ** -22).astype(np.float32)
    offset = int(rng.integers(-128, 128))
    return scales, offset, scales.view(np.uint32).astype(np.int64) | (offset & 511) << 37 | 1 << 46


def requantised_sums(sums, scales, offset):
    scaled = np.rint(sums.astype(np.float32).astype(np.float64) * scales)
    return np.clip(np.clip(scaled, -256, 255) + offset, -128, 127).astype(np.int8)


def requantised_cases(runner, rng):
    """int8 to int8: matrices, and maps whose padding is another number than 0."""
    for index, (m, k, n) in enumerate(SIZES):
        a, b = operand(rng, "int8", (m, k)), operand(rng, "int8", (k, n))
        scales, offset, words = requantised_words(rng, n)
        extra = ["relu=1"] if index % 2 else []
        c = rectified(a.astype(np.int64) @ b.astype(np.int64), extra)
        yield runner.run("matmul", [f"m={m}", f"k={k}", f"n={n}", "dtype=int8", "out_dtype=int8", "scales=1", *extra],
                         {"a": a, "b": b, "scales": words}, {"c": requantised_sums(c, scales, offset)})
    for n, c, h, w, k, kernel, stride, pad, dilation in CONVOLUTIONS[:6]:
        x, weights = operand(rng, "int8", (n, c, h, w)), operand(rng, "int8", (k, c, *kernel))
        all_k = -(-k // 32) * 32
        scales, offset, words = requantised_words(rng, all_k)
        fill, wide = int(rng.integers(-128, 128)), np.zeros((all_k, c, *kernel), np.int64)
        wide[:k] = weights
        sums = convolve(x.astype(np.int64) - fill, wide, stride, pad, dilation)
        sums += fill * wide.sum((1, 2, 3)).reshape(1, -1, 1, 1)
        y = requantised_sums(sums, scales.reshape(1, -1, 1, 1), offset)
        args = [f"n={n}", f"c={c}", f"h={h}", f"w={w}", f"k={k}", "dtype=int8", "out_dtype=int8", "scales=1",
                f"pad_value={fill}", "kernel=%dx%d" % kernel, "stride=%dx%d" % stride, "pad=%dx%dx%dx%d" % pad,
                "dilation=%dx%d" % dilation]
        yield runner.run("conv2d", args, {"x": blocked(x, 32), "w": fractal_z(wide.astype(np.int8), 32), "scales": words},
                         {"y": blocked(y, 32)})


def blocked(image, c0):
    """[n, c, h, w] as NC1HWC0."""
    n, c, h, w = image.shape
    c1 = -(-c // c0)
    padded = np.zeros((n, c1 * c0, h, w), image.dtype)
    padded[:, :c] = image
    return padded.reshape(n, c1, c0, h, w).transpose(0, 1, 3, 4, 2)


def fractal_z(weights, c0):
    """[k, c, kh, kw] as [c1 * kh * kw, n1, 16, c0]."""
    k, c, kh, kw = weights.shape
    c1, n1 = -(-c // c0), -(-k // 16)
    padded = np.zeros((n1 * 16, c1 * c0, kh, kw), weights.dtype)
    padded[:k, :c] = weights
    return padded.reshape(n1, 16, c1, c0, kh, kw).transpose(2, 4, 5, 0, 1, 3).reshape(
        c1 * kh * kw, n1, 16, c0)


def convolve(x, w, stride, pad, dilation):
    """pad: top, bottom, left, right."""
    x = np.pad(x, ((0, 0), (0, 0), pad[:2], pad[2:]))
    kh, kw = w.shape[2:]
    ho = (x.shape[2] - (kh - 1) * dilation[0] - 1) // stride[0] + 1
    wo = (x.shape[3] - (kw - 1) * dilation[1] - 1) // stride[1] + 1
    y = np.zeros((x.shape[0], w.shape[0], ho, wo), x.dtype)
    for i, j in itertools.product(range(kh), range(kw)):
        rows = slice(i * dilation[0], i * dilation[0] + (ho - 1) * stride[0] + 1, stride[0])
        columns = slice(j * dilation[1], j * dilation[1] + (wo - 1) * stride[1] + 1, stride[1])
        y += np.einsum("nchw,kc->nkhw", x[:, :, rows, columns], w[:, :, i, j])
    return y


# n, c, h, w, k, kernel, stride, pad, dilation
CONVOLUTIONS = [(1, 3, 9, 11, 5, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
                (2, 33, 13, 13, 32, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)),
                (3, 16, 17, 7, 48, (1, 1), (1, 1), (0, 0, 0, 0), (1, 1)),
                (2, 40, 15, 16, 70, (5, 3), (2, 1), (2, 1, 0, 1), (1, 1)),
                (1, 8, 31, 29, 16, (7, 7), (4, 3), (3, 3, 2, 2), (1, 1)),
                (2, 24, 19, 23, 33, (3, 2), (1, 2), (2, 2, 1, 1), (2, 3)),
                (1, 130, 56, 56, 200, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1))]


def conv2d(runner, rng, shape, kind, bias, extra):
    n, c, h, w, k, kernel, stride, pad, dilation = shape
    wide = np.int64 if kind == "int8" else np.float64
    x, weights = operand(rng, kind, (n, c, h, w)), operand(rng, kind, (k, c, *kernel))
    y = convolve(x.astype(wide), weights.astype(wide), stride, pad, dilation)
    inputs = {}
    if bias:
        inputs["bias"] = rng.integers(-50, 50, k).astype(
            np.int32 if kind == "int8" else np.float32)
        y = y + inputs["bias"].reshape(1, k, 1, 1)
    y = rectified(y, extra)
    c0 = 32 // np.dtype(TYPES[kind]).itemsize
    result = y.astype(RESULT[kind])
    inputs |= {"x": blocked(x, c0), "w": fractal_z(weights, c0)}
    args = [f"n={n}", f"c={c}", f"h={h}", f"w={w}", f"k={k}", f"dtype={kind}",
            "kernel=%dx%d" % kernel, "stride=%dx%d" % stride, "pad=%dx%dx%dx%d" % pad,
            "dilation=%dx%d" % dilation, f"bias={int('bias' in inputs)}", *extra]
    return runner.run("conv2d", args, inputs,
                      {"y": blocked(result, 16 if kind == "int8" else 32 // np.dtype(RESULT[kind]).itemsize)})


def conv_cases(runner, rng):
    tilings = [[], ["resident=none"], ["resident=b"], ["cores=1"]]
    for index, shape in enumerate(CONVOLUTIONS):
        for kind in ("fp16", "fp32"):
            yield conv2d(runner, rng, shape, kind, index % 2 == 0, tilings[index % 4])


def fixed_cases(runner, rng):
    forms = [(False, 1, False, []), (True, 1, False, []), (False, 3, False, ["cores=2"]),
             (False, 2, True, ["shared=b"]), (False, 3, False, ["shared=a"]), ("each", 3, False, ["shared=a"]),
             ("each", 2, True, []), (False, 1, True, []), (False, 1, False, ["resident=a"]),
             (False, 1, False, ["resident=b"])]
    for kind, turned_a, turned_b in itertools.product(TYPES, (False, True), (False, True)):
        for index, size in enumerate(SIZES):
            bias, batch, nz, extra = forms[(index + 3 * turned_a + turned_b) % len(forms)]
            yield matmul(runner, rng, size, kind, (turned_a, turned_b), bias, batch, nz, extra)


def split_cases(runner, rng):
    """k in parts: more and less of them than cores, the last one shorter, some with a bias."""
    sizes = [((17, 999, 33), 4, 1), ((1, 4099, 127), 7, 1), ((127, 640, 17), 2, 3),
             ((131, 257, 263), 3, 1), ((300, 1031, 520), 8, 1)]
    for (index, (size, split, batch)), kind in itertools.product(enumerate(sizes), TYPES):
        turned = (index % 2 == 1, index % 3 == 1)
        yield matmul(runner, rng, size, kind, turned, index % 2 == 0, batch, False,
                     [f"split={split}"])


def library_cases(runner, rng):
    """Panels in the order of MatMulV3, with the deeper ones for A and for B."""
    for index, size in enumerate(((700, 330, 1100), (1300, 600, 700), (530, 1100, 2700), (30, 700, 50))):
        for kind, turned_a, turned_b in (("fp16", False, True), ("bf16", True, False), ("fp32", True, True)):
            yield matmul(runner, rng, size, kind, (turned_a, turned_b), index % 2 == 0, 1, False,
                         ["generation=library"])


def wide_cases(runner, rng):
    for (index, (size, transposed, nz)), kind in itertools.product(enumerate(WIDE), TYPES):
        if index % 2 == 0 or kind != "hf32":
            yield matmul(runner, rng, size, kind, transposed, False, 1, nz, [])


def random_cases(runner, rng, count):
    tilings = [["resident=none"], ["resident=a"], ["resident=b"], ["cores=3"], ["band=2"], []]
    for _ in range(count):
        size = (rng.integers(1, 300), rng.integers(1, 700), rng.integers(1, 600))
        yield matmul(runner, rng, size, list(TYPES)[rng.integers(len(TYPES))],
                     (bool(rng.integers(2)), bool(rng.integers(2))), bool(rng.integers(2)), 1,
                     False, tilings[rng.integers(len(tilings))])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--soc", default="Ascend910B2")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        runner = Runner(options.program, options.soc, folder)
        outcomes = list(itertools.chain(fixed_cases(runner, rng), wide_cases(runner, rng),
                                        split_cases(runner, rng),
                                        padded_cases(runner, rng),
                                        coupled_cases(options.program, folder, rng),
                                        dequantised_cases(runner, rng), requantised_cases(runner, rng), conv_cases(runner, rng),
                                        random_cases(runner, rng, options.cases), library_cases(runner, rng)))
    wrong = [outcome for outcome in outcomes if outcome]
    print(f"seed {options.seed}: {len(outcomes)} operators, {len(wrong)} differ")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
