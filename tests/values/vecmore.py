# SPDX-License-Identifier: Apache-2.0
"""Further vector operators against numpy: conditions and bits, gradients, lists of tensors, optimisers.

    vecmore.py VINCI [options of vecops.py]
"""

import sys

import numpy as np

from vecops import CHAIN, EXACT, NUMPY, ROUNDED, SIZES, extents, main, rounded, wide

SHAPES = [("1", "1"), ("17", "17"), ("127x17", "17"), ("127x17", "127x1"), ("1009", "1"), ("5x1x7", "3x1"),
          ("97x1031", "97x1"), ("97x1031", "1031"), ("100003", "100003")]
FLOATS = ["fp32", "fp16", "bf16"]


def with_specials(cases, shape, dtype):
    """Whole numbers, many of them equal; among them what is special of the type."""
    x = cases.draw(shape, dtype, -4, 4)
    if dtype in FLOATS:
        x = np.floor(x)
        specials = [np.nan, np.inf, -np.inf, -0.0, 0.0]
    else:
        info = np.iinfo(NUMPY[dtype])
        specials = [info.min, info.max, info.max - 1, 0]
    flat = x.reshape(-1)
    where = cases.rng.random(flat.size) < 0.3
    flat[where] = cases.rng.choice(np.array(specials, flat.dtype), where.sum())
    return x


def comparisons(cases):
    table = {"greater": np.greater, "greater_equal": np.greater_equal, "less": np.less,
             "less_equal": np.less_equal, "equal": np.equal, "not_equal": np.not_equal}
    for n, (name, function) in enumerate(table.items()):
        for i, dtype in enumerate(["fp32", "fp16", "bf16", "int32", "int16", "int8", "uint8"]):
            for shape, shape1 in SHAPES if i in (0, 3) else SHAPES[(i + n) % 3::3]:
                x, x1 = (with_specials(cases, s, dtype) for s in (shape, shape1))
                cases.add("%s shape=%s shape1=%s dtype=%s" % (name, shape, shape1, dtype),
                          {"x": x, "x1": x1}, {"y": function(x, x1).astype(np.uint8)})
        x, x1 = with_specials(cases, "17x127", "fp32"), with_specials(cases, "127", "bf16")
        cases.add("%s shape=17x127 shape1=127 dtype=fp32 dtype1=bf16" % name, {"x": x, "x1": x1},
                  {"y": function(x, x1).astype(np.uint8)})
    for name in ["equal", "not_equal"]:
        for shape in SIZES:
            x = cases.rng.integers(-2**63, 2**63 - 1, extents(shape), np.int64)
            x1 = x.copy()  # the same, or with a change of one half
            change = cases.rng.choice(np.array([0, 1, 1 << 32, -1 << 63], np.int64), x.shape)
            cases.add("%s shape=%s dtype=int64" % (name, shape), {"x": x, "x1": x1 ^ change},
                      {"y": table[name](change, 0).astype(np.uint8)})


def logic(cases):
    for dtype in ["uint8", "int8"]:
        for shape, shape1 in SHAPES:
            x, x1 = cases.draw(shape, dtype, 0, 1), cases.draw(shape1, dtype, 0, 1)
            tail = " shape=%s shape1=%s dtype=%s" % (shape, shape1, dtype)
            cases.add("logical_and" + tail, {"x": x, "x1": x1}, {"y": x & x1})
            cases.add("logical_or" + tail, {"x": x, "x1": x1}, {"y": x | x1})
            cases.add("logical_not shape=%s dtype=%s" % (shape, dtype), {"x": x}, {"y": 1 - x})
    for i, dtype in enumerate(["int32", "int16", "uint16", "uint32"]):
        for shape, shape1 in SHAPES if i == 0 else SHAPES[i::3]:
            kind = np.dtype(dtype)
            info = np.iinfo(kind)
            x, x1 = (cases.rng.integers(info.min, info.max, extents(s), kind, endpoint=True)
                     for s in (shape, shape1))
            tail = " shape=%s shape1=%s dtype=%s" % (shape, shape1, dtype)
            for name, function in [("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or),
                                   ("bitwise_xor", np.bitwise_xor)]:
                cases.add(name + tail, {"x": x, "x1": x1}, {"y": function(x, x1)})
            cases.add("bitwise_not shape=%s dtype=%s" % (shape, dtype), {"x": x}, {"y": ~x})


def longs(cases):
    for shape in SIZES + ["3x5x331"]:
        x, x1 = (cases.rng.integers(-2**63, 2**63 - 1, extents(shape), np.int64) for _ in range(2))
        with np.errstate(over="ignore"):
            cases.add("sub shape=%s dtype=int64" % shape, {"x": x, "x1": x1}, {"y": x - x1})
        small = cases.draw(shape, "int64", -9, 9)
        cases.add("sub shape=%s dtype=int64" % shape, {"x": small, "x1": small[::-1].copy()},
                  {"y": small - small[::-1]})


GROUPS = [comparisons, logic, longs]

if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
