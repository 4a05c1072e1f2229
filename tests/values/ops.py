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

TYPES = {"fp16": np.float16, "fp32": np.float32, "int8": np.int8}
RESULT = {"fp16": np.float16, "fp32": np.float32, "int8": np.int32}
SIZES = [(1, 1, 1), (15, 17, 127), (127, 15, 17), (17, 127, 1), (1, 453, 88), (131, 257, 263)]


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


def fractal_nz(matrix):
    """Columns of blocks of 32 bytes, rows padded to 16."""
    c0 = 32 // matrix.dtype.itemsize
    rows, columns = (-(-matrix.shape[0] // 16) * 16, -(-matrix.shape[1] // c0) * c0)
    padded = np.zeros((rows, columns), matrix.dtype)
    padded[:matrix.shape[0], :matrix.shape[1]] = matrix
    return padded.reshape(rows // 16, 16, columns // c0, c0).transpose(2, 0, 1, 3)


def operand(rng, kind, shape):
    if kind == "int8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return (rng.integers(-8, 9, shape) / 4).astype(TYPES[kind])


def matmul(runner, rng, size, kind, transposed, bias, batch, nz, extra):
    m, k, n = (int(extent) for extent in size)
    wide = np.int64 if kind == "int8" else np.float64
    a, b = operand(rng, kind, (batch, m, k)), operand(rng, kind, (batch, k, n))
    c = np.matmul(a.astype(wide), b.astype(wide))
    inputs = {}
    if bias:
        inputs["bias"] = rng.integers(-50, 50, n).astype(np.int32 if kind == "int8" else np.float32)
        c = c + inputs["bias"]
    for name, tensor, turned in (("a", a, transposed[0]), ("b", b, transposed[1])):
        tensor = tensor.transpose(0, 2, 1) if turned else tensor
        tensor = np.stack([fractal_nz(matrix) for matrix in tensor]) if nz else tensor
        inputs[name] = tensor if batch > 1 else tensor[0]
    layout = "NZ" if nz else "ND"
    args = [f"m={m}", f"k={k}", f"n={n}", f"dtype={kind}", f"batch={batch}", f"bias={int(bias)}",
            f"transpose_a={int(transposed[0])}", f"transpose_b={int(transposed[1])}",
            f"format_a={layout}", f"format_b={layout}", *extra]
    result = c.astype(RESULT[kind])
    return runner.run("matmul", args, inputs, {"c": result if batch > 1 else result[0]})


def fixed_cases(runner, rng):
    forms = [(False, 1, False, []), (True, 1, False, []), (False, 3, False, ["cores=2"]),
             (False, 1, True, []), (False, 1, False, ["resident=a"]),
             (False, 1, False, ["resident=b"])]
    for kind, turned_a, turned_b in itertools.product(TYPES, (False, True), (False, True)):
        for index, size in enumerate(SIZES):
            bias, batch, nz, extra = forms[(index + 3 * turned_a + turned_b) % len(forms)]
            if nz and kind == "fp32" and turned_a:
                continue
            yield matmul(runner, rng, size, kind, (turned_a, turned_b), bias, batch, nz, extra)


def random_cases(runner, rng, count):
    tilings = [["resident=none"], ["resident=a"], ["resident=b"], ["cores=3"], ["band=2"], []]
    for _ in range(count):
        size = (rng.integers(1, 300), rng.integers(1, 700), rng.integers(1, 600))
        yield matmul(runner, rng, size, list(TYPES)[rng.integers(3)],
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
        outcomes = list(itertools.chain(fixed_cases(runner, rng),
                                        random_cases(runner, rng, options.cases)))
    wrong = [outcome for outcome in outcomes if outcome]
    print(f"seed {options.seed}: {len(outcomes)} operators, {len(wrong)} differ")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
