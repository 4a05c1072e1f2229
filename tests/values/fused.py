# SPDX-License-Identifier: Apache-2.0
"""Fused operators against numpy: products with what follows them, chains of elementwise steps.

    fused.py VINCI [--seed S] [--only NAME]

Products have exact sums and have to agree in every bit (ops.py, convs.py); each trace also has to
pass `vinci check`. Prints the seed; ends with 1 and the calls that differ.
"""

import argparse
import itertools
import sys
import tempfile

import numpy as np

from convs import SHAPES, Checked, conv2d, integers
from ops import dequantised, matmul

RELU = ["relu=1"]


def epilogues(program, folder, rng):
    """Rectified on the way out of L0C: by the fixpipe, by the vector unit of coupled cores, and by
    the vector cores that add up parts of k."""
    runner = Checked(program, "Ascend910B2", folder)
    sizes = [(1, 1, 1), (17, 127, 15), (131, 257, 263)]
    kinds = ("fp16", "bf16", "fp32", "hf32", "int8")
    for index, (size, kind) in enumerate(itertools.product(sizes, kinds)):
        turned = (index % 2 == 1, index % 3 == 1)
        extra = [[], ["resident=b"], ["cores=3"]][index % 3]
        yield matmul(runner, rng, size, kind, turned, index % 2 == 0, 1 + index % 2, False,
                     RELU + extra)
        if size[1] > 1:
            yield matmul(runner, rng, size, kind, turned, index % 2 == 0, 1, False,
                         RELU + ["split=2"])
    yield matmul(runner, rng, (70, 31, 301), "fp16", (False, True), False, 2, False,
                 RELU + ["format_c=NZ"])
    for index, size in enumerate(sizes):
        for by_column in (False, True):
            yield dequantised(runner, rng, size, (False, index == 1), index != 1, 1, by_column, RELU)
    for index, shape in enumerate(SHAPES):
        yield conv2d(runner, rng, shape, ("fp16", "fp32")[index % 2], RELU)
        yield integers(runner, rng, shape, ("int8", "fp16", "int32")[index % 3], RELU)
    for soc in ("Ascend910A", "Ascend310P3"):
        runner = Checked(program, soc, folder)
        yield matmul(runner, rng, (33, 112, 80), "fp16", (False, True), False, 1, False,
                     RELU + ["cores=2"])
        yield matmul(runner, rng, (144, 77, 131), "fp16", (True, True), False, 1, True,
                     RELU + ["format_c=NZ"])
        yield matmul(runner, rng, (15, 64, 104), "int8", (False, True), False, 1, False, RELU)


def residuals(program, folder, rng):
    """Added in L0C by a product with the identity, with and without what else follows."""
    runner = Checked(program, "Ascend910B2", folder)
    cases = itertools.product([(1, 1, 1), (17, 127, 15), (131, 257, 263), (300, 40, 520)],
                              ("fp16", "bf16"))
    for index, (size, kind) in enumerate(cases):
        extra = ["residual=1", *[[], RELU][index % 2], *[[], ["resident=b"], ["cores=2"],
                                                        ["resident=a"]][index % 4]]
        turned = (index % 3 == 1, index % 3 == 2)
        yield matmul(runner, rng, size, kind, turned, index % 4 < 2, 1 + index % 3, False, extra)
        yield matmul(runner, rng, size, kind, turned, False, 1 + index % 2, index % 3 == 0,
                     [*extra, "format_c=NZ"])
    yield matmul(runner, rng, (100, 300, 90), "fp16", (False, False), True, 1, False,
                 ["residual=1", "tile=96x16x96", "panel=64x64", "resident=none", "cores=1"])
    for index, shape in enumerate(SHAPES):
        extra = [[], ["resident=none"], ["resident=a"], ["cores=1"], ["resident=b"]][index % 5]
        yield conv2d(runner, rng, shape, "fp16", ["residual=1", *[RELU, []][index % 2], *extra])
    for groups in ((96, 96, 3), (33, 66, 33)):
        yield conv2d(runner, rng, (2, groups[0], 9, 10, groups[1], (3, 2), (2, 1), (1, 1, 1, 0), (1, 2)),
                     "fp16", ["residual=1"], groups=groups[2])


def in_ub(program, folder, rng):
    """Added by the vector unit of coupled cores, in fp16: sums that this type holds."""
    for soc in ("Ascend910A", "Ascend910B", "Ascend310P3"):
        runner = Checked(program, soc, folder)
        for index, size in enumerate([(1, 1, 16), (17, 27, 48), (131, 57, 272), (300, 40, 528)]):
            extra = ["residual=1", *[RELU, []][index % 2], *[[], ["resident=b"], ["cores=2"], ["resident=a"]][index]]
            turned = (index % 3 == 1, index % 3 == 2)
            yield matmul(runner, rng, size, "fp16", turned, index % 2 == 0, 1 + index % 3, False, extra)
            yield matmul(runner, rng, (size[0], size[1], size[2] - 7), "fp16", turned, False, 1 + index % 2, True,
                         [*extra, "format_c=NZ"])
        for index, shape in enumerate(SHAPES[:5] + SHAPES[6:7]):
            extra = [[], ["resident=none"], ["resident=a"], ["cores=1"], ["resident=b"]][index % 5]
            yield conv2d(runner, rng, shape, "fp16", ["residual=1", *[RELU, []][index % 2], *extra])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        outcomes = [*epilogues(options.program, folder, rng),
                    *residuals(options.program, folder, rng), *in_ub(options.program, folder, rng)]
    wrong = [outcome for outcome in outcomes if outcome]
    print(f"seed {options.seed}: {len(outcomes)} operators, {len(wrong)} differ")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
