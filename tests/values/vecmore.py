# SPDX-License-Identifier: Apache-2.0
"""Further vector operators against numpy: conditions and bits, gradients, lists of tensors, optimisers.

    vecmore.py VINCI [options of vecops.py]
"""

import math
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


def erf(x):
    return np.vectorize(math.erf)(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def functions(cases):
    """Those that round are exact; ranges have halves, large numbers, both signs."""
    table = [
        ("floor", np.floor, 40, EXACT), ("ceil", np.ceil, 40, EXACT), ("round", np.rint, 40, EXACT),
        ("trunc", np.trunc, 40, EXACT), ("sign", np.sign, 2, EXACT), ("erf", erf, 6, None),
        ("softplus", lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), 120, None),
        ("hard_sigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1), 9, None),
        ("hard_swish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1), 9, None),
        ("elu", lambda x: np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0))), 120, None),
    ]
    for n, (name, function, bound, limits) in enumerate(table):
        for i, dtype in enumerate(FLOATS):
            for shape in SIZES if i == 0 else [SIZES[(n + i) % 6], "100003"]:
                x = cases.draw(shape, dtype, -bound, bound)
                if limits == EXACT:  # halves, whole numbers, both zeros and infinities
                    x[..., ::3] = np.rint(x[..., ::3] * 2) / 2
                    flat = x.reshape(-1)
                    flat[:5] = np.array([0.5, -0.0, np.inf, -np.inf, -2.5])[:flat.size]
                tail = " alpha=1.5" if name == "elu" else ""
                cases.add("%s shape=%s dtype=%s%s" % (name, shape, dtype, tail), {"x": x},
                          {"y": rounded(function(wide(x)), dtype)}, limits or CHAIN[dtype])


def gradients(cases):
    def gelu_grad(dy, x):
        u = np.sqrt(8 / np.pi) * (x + 0.044715 * x ** 3)
        s, slope = sigmoid(u), np.sqrt(8 / np.pi) * (1 + 3 * 0.044715 * x * x)
        return dy * (s + x * s * (1 - s) * slope)

    table = [("sigmoid_grad", ("y", "dy"), lambda y, dy: dy * y * (1 - y)),
             ("tanh_grad", ("y", "dy"), lambda y, dy: dy * (1 - y * y)),
             ("silu_grad", ("dy", "x"), lambda dy, x: dy * sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
             ("gelu_grad", ("dy", "x"), gelu_grad)]
    for n, (name, names, function) in enumerate(table):
        for i, dtype in enumerate(FLOATS):
            for shape in SIZES if i == 0 else [SIZES[(n + i) % 6], "100003"]:
                low = 0 if name == "sigmoid_grad" else -1 if name == "tanh_grad" else -9
                a, b = cases.draw(shape, dtype, low, -low or 1), cases.draw(shape, dtype, -9, 9)
                cases.add("%s shape=%s dtype=%s" % (name, shape, dtype), dict(zip(names, (a, b))),
                          {"dx": rounded(function(wide(a), wide(b)), dtype)},
                          (CHAIN[dtype][0] * 10, CHAIN[dtype][1]))


def pairs(cases):
    """Quotients and remainders of whole numbers, which are exact."""
    table = [("squared_difference", lambda x, x1: (x - x1) ** 2, False),
             ("pow", lambda x, x1: x ** x1, False),
             ("floor_div", np.floor_divide, True), ("floor_mod", np.mod, True), ("mod", np.fmod, True)]
    for n, (name, function, whole) in enumerate(table):
        for i, dtype in enumerate(FLOATS + (["int32", "int16"] if whole else [])):
            for shape, shape1 in SHAPES if i == 0 else SHAPES[(i + n) % 3::3]:
                if whole:
                    x, x1 = cases.draw(shape, dtype, -99, 99), cases.draw(shape1, dtype, 1, 9)
                    x, x1 = np.floor(x).astype(x.dtype), np.floor(x1).astype(x.dtype)
                    x1 *= cases.rng.choice(np.array([-1, 1], x1.dtype), x1.shape)
                else:
                    x, x1 = cases.draw(shape, dtype, 0.5, 4), cases.draw(shape1, dtype, -3, 3)
                limits = EXACT if whole else (CHAIN[dtype][0], CHAIN[dtype][1] * 2)
                cases.add("%s shape=%s shape1=%s dtype=%s" % (name, shape, shape1, dtype),
                          {"x": x, "x1": x1}, {"y": rounded(function(wide(x), wide(x1)), dtype)}, limits)


def added(cases):
    shapes = [("17", "17", "17"), ("31x100", "31x1", "100"), ("1", "7x9", "9"), ("1009",) * 3,
              ("97x1031", "1031", "97x1"), ("100003",) * 3]
    for i, dtype in enumerate(FLOATS):
        for shape, shape1, shape2 in shapes if i == 0 else shapes[i::2]:
            x, x1 = cases.draw(shape, dtype), cases.draw(shape1, dtype)
            x2 = cases.draw(shape2, dtype, 0.5, 4)
            tail = " shape=%s shape1=%s dtype=%s alpha=-1.5" % (shape, shape1, dtype)
            limits = (CHAIN[dtype][0] * 4, CHAIN[dtype][1])
            w, w1, w2 = wide(x), wide(x1), wide(x2)
            cases.add("lerp" + tail, {"x": x, "x1": x1}, {"y": rounded(w - 1.5 * (w1 - w), dtype)}, limits)
            tail += " shape2=%s" % shape2
            inputs = {"x": x, "x1": x1, "x2": x2}
            cases.add("addcmul" + tail, inputs, {"y": rounded(w - 1.5 * w1 * w2, dtype)}, limits)
            cases.add("addcdiv" + tail, inputs, {"y": rounded(w - 1.5 * w1 / w2, dtype)}, limits)


def repeats(cases):
    """Bits as they are: what is not a number too."""
    for shape, to in [("1", "1"), ("1", "1009"), ("17", "17"), ("127x1", "127x17"), ("17", "127x17"),
                      ("5x1x7", "5x3x7"), ("3x1", "5x3x11"), ("1x32", "5x32"), ("97x1", "97x1031"),
                      ("1031", "97x1031"), ("2x1x3x1", "2x5x3x7"), ("1x1x61", "11x7x61"), ("331x1", "331x2")]:
        for dtype in ["fp32", "fp16", "bf16", "int8", "uint8", "int16", "int32", "int64"]:
            if dtype == "int64":
                x = cases.rng.integers(-2**63, 2**63 - 1, extents(shape), np.int64)
            else:
                x = with_specials(cases, shape, dtype)
            cases.add("broadcast shape=%s to=%s dtype=%s" % (shape, to, dtype), {"x": x},
                      {"y": np.broadcast_to(x, extents(to))})


def rows(cases):
    for shape in ["1", "15", "17x127", "331x64", "3x1009", "97x1031", "61x1031 rows=1 cols=128", "3x40009"]:
        shape, _, tiling = shape.partition(" ")
        for dtype in FLOATS:
            x = np.exp(wide(cases.draw(shape, dtype)))
            x = rounded(x / x.sum(-1, keepdims=True), dtype)
            x1 = cases.draw(shape, dtype)
            w, w1 = wide(x), wide(x1)
            cases.add("softmax_grad shape=%s dtype=%s %s" % (shape, dtype, tiling), {"x": x, "x1": x1},
                      {"y": rounded(w * (w1 - (w * w1).sum(-1, keepdims=True)), dtype)}, CHAIN[dtype])
            x, gamma = cases.draw(shape, dtype), cases.draw(shape.split("x")[-1], dtype)
            total = wide(x) + w1
            rms = total / np.sqrt((total ** 2).mean(-1, keepdims=True) + 1e-5) * wide(gamma)
            cases.add("add_rms_norm shape=%s dtype=%s %s" % (shape, dtype, tiling),
                      {"x": x, "x1": x1, "gamma": gamma},
                      {"y": rounded(rms, dtype), "y1": rounded(total, dtype)}, CHAIN[dtype])


def quantised(cases):
    """Whole quotients of rows whose largest magnitude is 127 times a power of 2, which are exact; halves go to
    even. A row of zeros has the smallest scale."""
    for shape, shape1 in SHAPES:
        for dtype in FLOATS:  # powers of 2, halves, and beyond both ends
            x = np.rint(cases.draw(shape, dtype, -400, 400)) / 2
            x1 = 2.0 ** cases.rng.integers(-2, 2, extents(shape1))
            x, x1 = rounded(x, dtype), rounded(x1, "fp32")
            y = np.rint(np.clip(wide(x) * x1 + 3, -128, 127)).astype(np.int8)
            cases.add("quantize shape=%s shape1=%s dtype=%s dtype1=fp32 offset=3" % (shape, shape1, dtype),
                      {"x": x, "x1": x1}, {"y": y})
            x = cases.draw(shape, "int32", -30000, 30000)
            cases.add("dequantize shape=%s shape1=%s out=%s" % (shape, shape1, dtype), {"x": x, "x1": x1 / 64},
                      {"y": rounded(x * wide(x1) / 64, dtype)}, ROUNDED[dtype])
    for shape in ["1", "15", "17x127", "331x64", "3x1009", "97x1031", "2x3x5x61", "131x3", "5x6001", "3x18433"]:
        for dtype in ("fp16", "bf16") if shape == "3x18433" else FLOATS:  # UB has no room for such rows of fp32
            y = cases.rng.integers(-126, 127, extents(shape)).astype(np.float64)
            y = y + cases.rng.choice([0.0, 0.5] if dtype == "fp32" else [0.0], y.shape)
            y[..., 0] = cases.rng.choice([-127, 127], y.shape[:-1])
            scale = 2.0 ** cases.rng.integers(-3, 4, y.shape[:-1])
            if y.ndim > 1 and len(y) > 3:
                y[2], scale[2] = 0, 1e-30
            x = y * scale[..., None]
            cases.add("dynamic_quant shape=%s dtype=%s" % (shape, dtype), {"x": rounded(x, dtype)},
                      {"y": np.rint(y).astype(np.int8), "scale": np.float32(scale).reshape(-1)},
                      (0.0, 1e-6))


def series(cases):
    for count in [1, 15, 127, 1009, 4099, 100003]:
        for dtype, start, step in [("fp32", 0, 1), ("fp32", -3.5, 0.25), ("int32", 7, -3), ("int64", -5, 9),
                                   ("fp16", 1, 0.125), ("bf16", 0, 2)]:
            y = start + np.arange(count) * step
            y = rounded(y, dtype) if abs(y).max() < 6e4 or dtype != "fp16" else None
            if y is not None:
                cases.add("range shape=%d dtype=%s start=%g step=%g" % (count, dtype, start, step), {}, {"y": y})


def scatters(cases):
    """Sums of whole numbers, whose order changes nothing; rows that no index names stay."""
    for shape, count, tail in [("1x1", "1", ""), ("127", "17", " step=5"), ("127x17", "61", " first=5 step=3"),
                               ("1009x3x31", "3x61", " step=10"), ("31x40009", "5", ""),
                               ("1009x64", "1009", " step=1000003"), ("331x129", "331", " step=1")]:
        for dtype in ["fp32", "fp16", "bf16", "int8", "int32", "int64"]:
            for name in ["scatter_update", "scatter_add"]:
                adds = name == "scatter_add"
                if adds and dtype in ["int8", "int64"]:
                    continue
                more = "%dx" % 3 if adds else ""  # rows are named again
                y = np.floor(cases.draw(shape, dtype)).astype(NUMPY[dtype])
                size = int(np.prod(extents(more + count)))
                # As the data say, not as the trace has them for times; updates name a row once. Negative ones
                # count from the end.
                index = cases.rng.integers(0, len(y), size) if adds else cases.rng.permutation(len(y))[:size]
                index = np.where(cases.rng.integers(0, 2, size) == 1, index, index - len(y))
                x = cases.draw("x".join(map(str, (index.size,) + y.shape[1:])), dtype)
                x = np.floor(x).astype(y.dtype)
                expected = y.copy()
                if adds:
                    np.add.at(expected, index, x)
                else:
                    expected[index] = x
                dtype1 = "int64" if y.size % 3 else "int32"
                index = index.astype(dtype1).reshape(extents(more + count))
                cases.add("%s shape=%s count=%s dtype=%s dtype1=%s%s"
                          % (name, shape, more + count, dtype, dtype1, tail),
                          {"x": x.reshape(index.size, -1), "x1": index, "y": y}, {"y": expected})


GROUPS = [comparisons, logic, longs, functions, gradients, pairs, added, repeats, rows, quantised, series, scatters]

if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
