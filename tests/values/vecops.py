# SPDX-License-Identifier: Apache-2.0
"""Vector and data-movement operators against numpy: lowered, executed with values, compared.

    vecops.py VINCI [--soc NAME] [--seed S] [--only NAME] [--every N]

Each case is one `vinci run OP ... --values --check` on random inputs; sizes are odd ones and primes, large
enough for several tiles and cores. Ends with 1 and the cases that differ.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np

NUMPY = {"fp16": np.float16, "fp32": np.float32, "bf16": np.float32, "int32": np.int32,
         "int16": np.int16, "int8": np.int8, "uint8": np.uint8, "int64": np.int64}
# Largest errors: of one rounding of the type, and of a chain of them in single precision.
EXACT = (0.0, 0.0)
ROUNDED = {"fp16": (1e-7, 1e-3), "bf16": (1e-30, 8e-3), "fp32": (1e-30, 2e-7)}
CHAIN = {"fp16": (1e-6, 2e-3), "bf16": (1e-5, 1.6e-2), "fp32": (1e-6, 5e-6)}
SIZES = ["1", "15", "17", "127", "1009", "17x127", "100003"]


def bf16(array):
    """Rounded to nearest even, kept as float32."""
    bits = np.atleast_1d(np.asarray(array, np.float32)).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
    return bits.astype(np.uint32).view(np.float32).reshape(np.shape(array))


def rounded(array, dtype):
    return bf16(array) if dtype == "bf16" else np.asarray(array).astype(NUMPY[dtype])


def extents(text):
    return tuple(int(e) for e in text.split("x"))


class Cases:
    def __init__(self, rng):
        self.rng = rng
        self.list = []

    def draw(self, shape, dtype, low=-4.0, high=4.0):
        if dtype in ("fp16", "fp32", "bf16"):
            return rounded(self.rng.uniform(low, high, extents(shape)), dtype)
        info = np.iinfo(NUMPY[dtype])
        low, high = max(info.min, int(low)), min(info.max, int(high))
        return self.rng.integers(low, high, extents(shape), NUMPY[dtype], endpoint=True)

    def add(self, request, inputs, outputs, limits=EXACT):
        self.list.append((request, inputs, outputs, limits))


def wide(array):
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def unary(cases):
    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def gelu(x):
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))

    table = [
        ("relu", lambda x: np.maximum(x, 0), -4, 4, ["fp16", "bf16", "fp32", "int32"], None),
        ("abs", np.abs, -4, 4, ["fp16", "bf16", "fp32"], None),
        ("neg", np.negative, -99, 99, ["fp16", "bf16", "fp32", "int32", "int16"], None),
        ("exp", np.exp, -4, 4, ["fp16", "bf16", "fp32"], CHAIN),
        ("ln", np.log, 0.1, 9, ["fp16", "bf16", "fp32"], CHAIN),
        ("sqrt", np.sqrt, 0, 9, ["fp16", "bf16", "fp32"], ROUNDED),
        ("rsqrt", lambda x: 1 / np.sqrt(x), 0.1, 9, ["fp16", "bf16", "fp32"], CHAIN),
        ("reciprocal", lambda x: 1 / x, 0.1, 9, ["fp16", "bf16", "fp32"], ROUNDED),
        ("square", np.square, -4, 4, ["fp16", "bf16", "fp32"], ROUNDED),
        ("sigmoid", sigmoid, -9, 9, ["fp16", "bf16", "fp32"], CHAIN),
        ("tanh", np.tanh, -20, 20, ["fp16", "bf16", "fp32"], CHAIN),
        ("gelu", gelu, -9, 9, ["fp16", "bf16", "fp32"], CHAIN),
        ("silu", lambda x: x * sigmoid(x), -9, 9, ["fp16", "bf16", "fp32"], CHAIN),
        ("sin", np.sin, -99, 99, ["fp16", "bf16", "fp32"], CHAIN),
        ("cos", np.cos, -99, 99, ["fp16", "bf16", "fp32"], CHAIN),
        ("muls", lambda x: x * 3, -99, 99, ["fp16", "bf16", "fp32", "int32", "int16"], ROUNDED),
        ("adds", lambda x: x + 3, -99, 99, ["fp16", "bf16", "fp32", "int32", "int16"], ROUNDED),
        ("maxs", lambda x: np.maximum(x, 3), -9, 9, ["fp16", "bf16", "fp32", "int32"], None),
        ("mins", lambda x: np.minimum(x, 3), -9, 9, ["fp16", "bf16", "fp32", "int32"], None),
        ("leaky_relu", lambda x: np.where(x > 0, x, x * 3), -9, 9, ["fp16", "bf16", "fp32"],
         ROUNDED),
        ("pows", lambda x: x ** 3, 0.1, 4, ["fp16", "bf16", "fp32"], CHAIN),
    ]
    alpha = {"muls", "adds", "maxs", "mins", "leaky_relu", "pows"}
    for name, function, low, high, dtypes, limits in table:
        for i, dtype in enumerate(dtypes):
            for shape in SIZES if i == 0 else [SIZES[i], SIZES[-2]]:
                x = cases.draw(shape, dtype, low, high)
                y = rounded(function(wide(x)), dtype)
                request = "%s shape=%s dtype=%s" % (name, shape, dtype)
                if name in alpha:
                    request += " alpha=3"
                cases.add(request, {"x": x}, {"y": y}, (limits or {}).get(dtype, EXACT))


def powers(cases):
    for alpha in [0, 1, 2, 7, 13, 64]:
        for shape in ["15", "1009"]:
            x = cases.draw(shape, "int32", -9, 9)
            cases.add("pows shape=%s dtype=int32 alpha=%d" % (shape, alpha), {"x": x},
                      {"y": (x.astype(object) ** alpha & 0xFFFFFFFF).astype(np.uint32).view(np.int32)})
            x = cases.draw(shape, "int16", -3, 3)
            if alpha < 10:
                cases.add("pows shape=%s dtype=int16 alpha=%d" % (shape, alpha), {"x": x},
                          {"y": x ** np.int16(alpha)})
            x = cases.draw(shape, "fp32", -1.25, 1.25)
            cases.add("pows shape=%s dtype=fp32 alpha=%d" % (shape, alpha), {"x": x},
                      {"y": rounded(wide(x) ** alpha, "fp32")}, CHAIN["fp32"])
    for shape in ["15", "1009"]:
        x = cases.draw(shape, "fp32", 0.1, 4)
        cases.add("pows shape=%s dtype=fp32 alpha=-2.5" % shape, {"x": x},
                  {"y": rounded(wide(x) ** -2.5, "fp32")}, CHAIN["fp32"])


def binary(cases):
    functions = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
                 "max": np.maximum, "min": np.minimum}
    shapes = [("1", "1"), ("17", "17"), ("127x17", "17"), ("127x17", "127x1"), ("1009", "1"),
              ("15x3x7", "3x1"), ("5x1x7", "3x1"), ("2x3x5x7x11", "3x1x7x1"), ("331x1", "61"),
              ("3x15193", "3x1"), ("3x15193", "15193"), ("97x1031", "97x1"), ("97x1031", "1031")]
    for name, function in functions.items():
        dtypes = ["fp32", "fp16", "bf16"] + (["int32", "int16"] if name != "div" else [])
        for i, dtype in enumerate(dtypes):
            for shape, shape1 in shapes if i == 0 or name == "add" else shapes[i::4]:
                x, x1 = cases.draw(shape, dtype, 1, 9), cases.draw(shape1, dtype, 1, 9)
                y = rounded(function(wide(x), wide(x1)), dtype)
                cases.add("%s shape=%s shape1=%s dtype=%s" % (name, shape, shape1, dtype),
                          {"x": x, "x1": x1}, {"y": y}, ROUNDED.get(dtype, EXACT))
    for shape, shape1 in shapes[:8]:
        x, x1 = cases.draw(shape, "fp32"), cases.draw(shape1, "bf16")
        cases.add("add shape=%s shape1=%s dtype=fp32 dtype1=bf16" % (shape, shape1),
                  {"x": x, "x1": x1}, {"y": x + x1}, ROUNDED["fp32"])
    for dtype in ["fp16", "bf16", "fp32"]:
        for shape, shape1 in [(size, size) for size in SIZES] + [("5x13", "1"), ("97x1031", "1031")]:
            x, x1 = cases.draw(shape, dtype), cases.draw(shape1, dtype)
            cases.add("relu_grad shape=%s shape1=%s dtype=%s" % (shape, shape1, dtype),
                      {"x": x, "x1": x1}, {"y": np.where(x1 > 0, x, np.float32(0)).astype(x.dtype)})


def longs(cases):
    for shape in SIZES + ["3x5x331"]:
        x, x1 = (cases.rng.integers(-2**63, 2**63 - 1, extents(shape), np.int64) for _ in range(2))
        with np.errstate(over="ignore"):
            cases.add("add shape=%s dtype=int64" % shape, {"x": x, "x1": x1}, {"y": x + x1})
            small = cases.draw(shape, "int64", -9, 9)
            cases.add("add shape=%s dtype=int64" % shape, {"x": small, "x1": -small[::-1].copy()},
                      {"y": small - small[::-1]})


def products(cases):
    for dtype, batch, m, k, n in [("fp32", 3, 15, 17, 127), ("fp16", 5, 1, 127, 31),
                                  ("fp16", 1, 131, 15, 1), ("bf16", 2, 17, 64, 67)]:
        a = rounded(np.round(cases.draw("%dx%dx%d" % (batch, m, k), dtype)), dtype)
        b = rounded(np.round(cases.draw("%dx%dx%d" % (batch, k, n), dtype)), dtype)
        if batch == 1:
            a, b = a[0], b[0]
        cases.add("batch_matmul batch=%d m=%d k=%d n=%d dtype=%s" % (batch, m, k, n, dtype),
                  {"a": a, "b": b}, {"c": rounded(wide(a) @ wide(b), dtype)}, ROUNDED[dtype])


def others(cases):
    for shape, shape1, shape2 in [("17", "17", "17"), ("31x1", "31x100", "1"), ("1009",) * 3,
                                  ("15x3x7", "3x1", "7"), ("1", "7x9", "9")]:
        for dtype in ["fp16", "bf16", "fp32", "int32", "int16", "int8", "uint8"]:
            x = cases.draw(shape, "uint8", 0, 1)
            bound = 4 if dtype in ROUNDED else 9e9
            x1, x2 = (cases.draw(s, dtype, -bound, bound) for s in (shape1, shape2))
            cases.add("where shape=%s shape1=%s shape2=%s dtype=%s" % (shape, shape1, shape2, dtype),
                      {"x": x, "x1": x1, "x2": x2}, {"y": np.where(x != 0, x1, x2)})
    for dtype in ["fp16", "bf16", "fp32", "int32", "int16", "int8", "uint8", "int64"]:
        for shape in SIZES:
            value = -1.5 if dtype in ROUNDED else 251 if dtype == "uint8" else -7
            cases.add("fill shape=%s dtype=%s value=%g" % (shape, dtype, value), {},
                      {"y": np.full(extents(shape), value, NUMPY[dtype])})
    for shape in ["8", "1024", "32x9216"]:
        x1 = cases.draw(shape, "fp32")
        bits = cases.rng.integers(0, 2, x1.size, np.uint8)
        packed = np.packbits(bits, bitorder="little")
        y = np.where(bits.reshape(x1.shape) != 0, x1 * np.float32(2), np.float32(0))
        cases.add("dropout shape=%s dtype1=fp32" % shape, {"x": packed, "x1": x1}, {"y": y})
    for shape in ["17", "4099"]:
        x, m, g = (cases.draw(shape, "fp32") for _ in range(3))
        v = cases.draw(shape, "fp32", 0.1, 4)
        m1, v1 = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        step = 0.001 / (1 - 0.9 ** 3) * m1 / (np.sqrt(v1 / (1 - 0.999 ** 3)) + 1e-8)
        cases.add("adamw shape=%s step=3" % shape, {"x": x, "x1": m, "x2": v, "x3": g},
                  {"x": np.float32(x * (1 - 1e-5) - step), "x1": np.float32(m1),
                   "x2": np.float32(v1)}, (1e-6, 1e-6))
    for shape, dtype in itertools.product(SIZES, ["fp32", "fp16", "bf16"]):
        x, x1 = cases.draw(shape, dtype), cases.draw(shape, dtype)
        cases.add("axpy shape=%s dtype=%s alpha=-0.5" % (shape, dtype), {"x": x, "x1": x1},
                  {"y": rounded(wide(x) - 0.5 * wide(x1), dtype)}, CHAIN[dtype])


def casts(cases):
    floats = ["fp16", "bf16", "fp32"]
    types = floats + ["int32", "int16", "int8", "uint8", "int64"]
    for a in types:
        for b in types:
            if a == b:
                continue
            for shape in ["17", "1009"]:
                x = cases.draw(shape, a, 0 if "uint8" in (a, b) else -100, 100)
                cases.add("cast shape=%s dtype=%s to=%s" % (shape, a, b), {"x": x},
                          {"y": rounded(np.trunc(x) if b not in floats else x, b)})
    # Whole tiles, and all of int32.
    for shape in ["1", "128", "33x129", "70001"]:
        x = cases.rng.integers(-2**31, 2**31, extents(shape), np.int64)
        x.flat[0] = -2**31
        cases.add("cast shape=%s dtype=int64 to=int32" % shape, {"x": x}, {"y": x.astype(np.int32)})
        cases.add("cast shape=%s dtype=int64 to=fp32" % shape, {"x": x}, {"y": x.astype(np.float32)})
        cases.add("cast shape=%s dtype=int32 to=int64" % shape, {"x": x.astype(np.int32)}, {"y": x})


def rows(cases):
    def softmax(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    for shape in ["1", "15", "17x127", "331x64", "331x61", "3x1009", "97x1031", "5x3001",
                  "61x1031 rows=1 cols=128", "2x127 rows=1 cols=64 buffers=1", "3x40009", "1x100003"]:
        shape, _, tiling = shape.partition(" ")
        for dtype in ["fp32", "fp16", "bf16"]:
            limits = CHAIN[dtype]
            x, gamma, beta = (cases.draw(shape, dtype) for _ in range(3))
            gamma, beta = gamma.reshape(-1, gamma.shape[-1])[0], beta.reshape(-1, beta.shape[-1])[0]
            w, g, b = wide(x), wide(gamma), wide(beta)
            tail = " shape=%s dtype=%s %s" % (shape, dtype, tiling)
            cases.add("softmax" + tail, {"x": x}, {"y": rounded(softmax(w), dtype)}, limits)
            log = np.log(softmax(w))
            cases.add("log_softmax" + tail, {"x": x}, {"y": rounded(log, dtype)},
                      (max(limits[0], 1e-5), limits[1]))
            x1 = rounded(log, dtype)
            grad = w - np.exp(wide(x1)) * w.sum(-1, keepdims=True)
            cases.add("log_softmax_grad" + tail, {"x": x, "x1": x1}, {"y": rounded(grad, dtype)},
                      (limits[0] * 30, limits[1]))
            rms = w / np.sqrt((w * w).mean(-1, keepdims=True) + 1e-5) * g
            cases.add("rms_norm" + tail, {"x": x, "gamma": gamma}, {"y": rounded(rms, dtype)},
                      limits)
            if x.shape[-1] < 20000:  # they take whole rows alone
                rms_norm_grad(cases, shape, dtype, x, gamma)
                layer_norm_grad(cases, shape, dtype, x, gamma)
            centred = w - w.mean(-1, keepdims=True)
            norm = centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * g + b
            cases.add("layer_norm" + tail, {"x": x, "gamma": gamma, "beta": beta},
                      {"y": rounded(norm, dtype)}, (limits[0] * 30, limits[1]))


def rms_norm_grad(cases, shape, dtype, x, gamma):
    """The formula of the vendor's page: dx = (dy g - x' mean(dy g x')) rstd, x' = x rstd."""
    dy = cases.draw(shape, dtype, -1, 1)
    rstd = np.float32(1 / np.sqrt((wide(x) ** 2).mean(-1) + 1e-5))
    scaled = wide(x) * wide(rstd)[..., None]
    inner = wide(dy) * wide(gamma)
    dx = (inner - scaled * (inner * scaled).mean(-1, keepdims=True)) * wide(rstd)[..., None]
    dgamma = (wide(dy) * scaled).reshape(-1, gamma.size).sum(0)
    cases.add("rms_norm_grad shape=%s dtype=%s" % (shape, dtype),
              {"dy": dy, "x": x, "rstd": rstd.reshape(-1), "gamma": gamma},
              {"dx": rounded(dx, dtype), "dgamma": np.float32(dgamma)},
              (max(CHAIN[dtype][0], 1e-4), CHAIN[dtype][1]))


def layer_norm_grad(cases, shape, dtype, x, gamma):
    """Derived from the definition; a mean and a rstd that are not those of x show what is summed."""
    dy, w, g = cases.draw(shape, dtype, -1, 1), wide(x), wide(gamma)
    for eps, off in (1e-5, 0), (0.5, 0.25):
        rstd = np.float32(1 / np.sqrt(w.var(-1) + eps))
        mean = np.float32(w.mean(-1) + off)
        scaled = (w - wide(mean)[..., None]) * wide(rstd)[..., None]
        inner = wide(dy) * g
        dx = inner - inner.mean(-1, keepdims=True)
        dx = (dx - scaled * (inner * scaled).mean(-1, keepdims=True)) * wide(rstd)[..., None]
        dgamma = (wide(dy) * scaled).reshape(-1, gamma.size).sum(0)
        dbeta = wide(dy).reshape(-1, gamma.size).sum(0)
        cases.add("layer_norm_grad shape=%s dtype=%s" % (shape, dtype),
                  {"dy": dy, "x": x, "rstd": rstd.reshape(-1), "mean": mean.reshape(-1), "gamma": gamma},
                  {"dx": rounded(dx, dtype), "dgamma": np.float32(dgamma), "dbeta": np.float32(dbeta)},
                  (max(CHAIN[dtype][0], 1e-4), CHAIN[dtype][1]))


def reductions(cases):
    functions = {"reduce_sum": np.sum, "reduce_mean": np.mean, "reduce_max": np.max,
                 "reduce_min": np.min, "reduce_sum_square": lambda x, axis: np.square(np.sum(x, axis=axis)),
                 "lp_norm": lambda x, axis: np.sqrt(np.sum(np.square(x), axis=axis)),
                 "lp_norm_reduce": lambda x, axis: np.sum(np.square(x), axis=axis)}
    calls = [("1", None), ("17", (0,)), ("1009", (0,)), ("100003", (0,)), ("17x127", (1,)),
             ("331x61", (1,)), ("127x130", (1,)), ("97x3001", (1,)), ("3x10007", (1,)),
             ("17x127", (0,)), ("331x61", (0,)), ("300x3001", (0,)), ("5x31x67", (1,)),
             ("5x31x67", (0, 2)), ("7x3x2500", (0, 2)), ("61x64x13", (0, 2)), ("15x17x19", (0, 1, 2)),
             ("5x7x3x11", (0, 2)), ("17x5x127x7", (1, 3)), ("31x4x129x16", (0, 2)),
             ("3x17x5x331x2", (1, 3)), ("2x61x3x1031", (1, 3)), ("7x3x5x2x1009", (0, 1, 3)),
             ("1x1x5x17", (0, 2))]
    for name, function in functions.items():
        for i, dtype in enumerate(["fp32", "fp16", "bf16"]):
            for shape, axes in calls if i == 0 or name == "reduce_sum" else calls[i::3]:
                x = cases.draw(shape, dtype)
                with np.errstate(over="ignore"):
                    y = rounded(function(wide(x), axis=axes or 0), dtype)
                y = y.reshape(y.shape or (1,))
                request = "%s shape=%s dtype=%s" % (name, shape, dtype)
                if axes:
                    run = 1
                    while run < len(axes) and axes[run] == axes[0] + run:
                        run += 1
                    request += " axis=%d axes=%d" % (axes[0], run)
                    request += " axis2=%d" % axes[run] if run < len(axes) else ""
                limits, grown = CHAIN[dtype], 1
                if name == "reduce_sum_square":  # an error of the sum times twice the sum
                    grown = 1 + 2 * float(np.sqrt(np.abs(wide(y)).max()))
                    if not np.isfinite(grown):
                        continue
                cases.add(request, {"x": x}, {"y": y}, (limits[0] * x.size ** 0.5 * 4 * grown, limits[1]))


def blocks_of(x, c0):
    """NCHW as N C1 H W C0."""
    n, c, h, w = x.shape
    c1 = -(-c // c0)
    y = np.zeros((n, c1 * c0, h, w), x.dtype)
    y[:, :c] = x
    return y.reshape(n, c1, c0, h, w).transpose(0, 1, 3, 4, 2)


def fractal_z(x, c0):
    x = np.pad(x, ((0, -x.shape[0] % 16), (0, 0), (0, 0), (0, 0)))
    n, _, h, w = x.shape
    y = blocks_of(x, c0)  # n, c1, h, w, c0
    return y.transpose(1, 2, 3, 0, 4).reshape(y.shape[1] * h * w, n // 16, 16, c0)


def movement(cases):
    for shape, perm in [("17x127", "2x1"), ("1009x31", "2x1"), ("300x517", "2x1"), ("1x17", "2x1"),
                        ("5x7x11", "3x2x1"), ("5x37x64", "2x1x3"), ("4x19x3x33", "1x3x2x4"),
                        ("8x33x50", "1x3x2"), ("528x784", "2x1"), ("48x64", "2x1"),
                        ("16x3x256", "2x3x1"), ("3x5x7x9x2", "5x3x1x4x2"),
                        ("1009x3", "2x1"), ("3x1009", "2x1"), ("5x2x77", "1x3x2"), ("31x13x3", "2x1x3"),
                        ("17x4", "2x1"), ("2x3x2x2x9x7", "1x2x5x3x6x4"), ("3x16x1031x2", "1x4x2x3")]:
        for dtype in ["fp32", "fp16", "bf16", "int32", "int8", "uint8", "int64"]:
            x = cases.draw(shape, dtype)
            if dtype in ["int8", "uint8", "int64"] and x.size > 20000:
                continue  # these move an element at a time
            axes = [int(i) - 1 for i in perm.split("x")]
            cases.add("transpose shape=%s perm=%s dtype=%s" % (shape, perm, dtype), {"x": x},
                      {"y": x.transpose(axes)})
    for shape in ["2x16x5x7", "3x3x11x13", "1x20x17x19", "2x64x27x27", "16x8x3x3", "32x35x5x5",
                  "2x17x5x3", "3x33x13x11", "3x17x1x1", "16x20x1x1", "16x1x1x1"]:
        for dtype in ["fp32", "fp16", "int32"]:
            for c0 in [16, 8] if dtype != "fp16" else [16]:
                x = cases.draw(shape, dtype)
                y = blocks_of(x, c0)
                tail = " c0=%d dtype=%s" % (c0, dtype)
                cases.add("transdata shape=%s way=nchw_to_nc1hwc0" % shape + tail, {"x": x}, {"y": y})
                cases.add("transdata shape=%s way=nc1hwc0_to_nchw" % shape + tail, {"x": y}, {"y": x})
                z = fractal_z(x, c0)
                cases.add("transdata shape=%s way=nchw_to_fractal_z" % shape + tail, {"x": x},
                          {"y": z})
                cases.add("transdata shape=%s way=fractal_z_to_nchw" % shape + tail, {"x": z},
                          {"y": x})
    for shape in ["16x16", "48x80", "3x64x32", "1x1", "15x17", "127x331", "3x17x5", "5x16x127",
                  "2x3x31x64"]:
        for dtype in ["fp16", "fp32"]:
            x = cases.draw(shape, dtype)
            c0 = 16 if dtype == "fp16" else 8
            lead, (m, n) = x.shape[:-2], x.shape[-2:]
            edges = [(0, 0)] * len(lead) + [(0, -m % 16), (0, -n % c0)]
            padded, m, n = np.pad(x, edges), m + -m % 16, n + -n % c0
            y = np.moveaxis(padded.reshape(lead + (m, n // c0, c0)), -2, -3)
            y = y.reshape(lead + (n // c0, m // 16, 16, c0))
            tail = " dtype=%s" % dtype
            cases.add("transdata shape=%s way=nd_to_fractal_nz" % shape + tail, {"x": x}, {"y": y})
            cases.add("transdata shape=%s way=fractal_nz_to_nd" % shape + tail, {"x": y}, {"y": x})
    for shape, out, begin in [("17x127", "5x31", (3, 11)), ("31x5x64", "31x2x17", (0, 1, 40)),
                              ("1009", "127", (500,)), ("64x8x512", "64x8x128", (0, 0, 256)),
                              # Many short rows: of whole rows, of the blocks that are needed, of some of the rows.
                              ("4421x4", "4421x2", (0, 2)), ("1031x85", "1031x3", (0, 41)), ("3x601x64", "3x601x5", (0, 0, 30)),
                              ("9001x48", "7001x1", (1999, 47)), ("601x3x17", "601x3x1", (0, 0, 16)),
                              ("601x3x17", "601x2x1", (0, 1, 16))]:
        for dtype in ["fp32", "fp16", "int8", "int64"]:
            x = cases.draw(shape, dtype)
            y = x[tuple(slice(b, b + e) for b, e in zip(begin, extents(out)))]
            first = int(np.ravel_multi_index(begin, x.shape))
            cases.add("slice shape=%s out=%s begin=%d dtype=%s" % (shape, out, first, dtype),
                      {"x": x}, {"y": y})
    for shape, before, after in [("1", "3", "0"), ("17", "15", "1009"), ("127x17", "0x3", "1x2"),
                                 ("100003", "1", "2"), ("31x127", "5x0", "3x0"),
                                 ("3x5x33x31", "0x0x1x1", "0x0x1x1"), ("7x5x64", "0x2x0", "0x1x0"),
                                 ("5x61x67", "1x0x3", "2x0x0"), ("17x1031", "0x0", "0x0")]:
        for dtype in ["fp32", "fp16", "bf16", "int8", "int16", "int32"]:
            x = cases.draw(shape, dtype)
            y = np.pad(x, list(zip(extents(before), extents(after))), constant_values=-3)
            cases.add("pad shape=%s before=%s after=%s value=-3 dtype=%s"
                      % (shape, before, after, dtype), {"x": x}, {"y": y})
    for shape, count, tail in [("1x1", "1", ""), ("17", "127", ""), ("127x17", "331", " first=5"),
                               ("1009x3x31", "3x61", " step=1"), ("31x40009", "5", ""),
                               ("1009x64", "1009", " step=1000003"), ("61x129", "61", " step=0")]:
        for dtype in ["fp32", "fp16", "int8", "int64"]:
            for dtype1 in ["int32", "int64"]:
                x = cases.draw(shape, dtype)
                # Not those that times are of; negative ones count from the end.
                index = cases.rng.integers(-len(x), len(x), np.prod(extents(count)))
                index = index.astype(NUMPY[dtype1]).reshape(extents(count))
                cases.add("gather shape=%s count=%s dtype=%s dtype1=%s%s"
                          % (shape, count, dtype, dtype1, tail), {"x": x, "x1": index},
                          {"y": x[index]})
    for axis, shapes in [(1, ["17x3", "17x127", "17x1"]), (0, ["5x7", "1x7"]),
                         (2, ["4x3x64", "4x3x32", "4x3x32"]), (0, ["127", "1009"]),
                         (1, ["4421x2", "4421x2"]), (2, ["3x601x1", "3x601x64", "3x601x5"]),
                         (1, ["1031x1x3", "1031x5x3", "1031x2x3", "1031x1x3"])]:
        for dtype in ["fp32", "fp16", "int8"]:
            arrays = [cases.draw(shape, dtype) for shape in shapes]
            request = "concat axis=%d dtype=%s" % (axis, dtype)
            request += "".join(" shape%s=%s" % (i or "", s) for i, s in enumerate(shapes))
            cases.add(request, {"x%s" % (i or ""): a for i, a in enumerate(arrays)},
                      {"y": np.concatenate(arrays, axis)})
    for axis, shape, pieces in [(1, "17x3", 40), (0, "5x7", 9), (2, "4x3x64", 7), (1, "256x32", 16), (0, "127", 1)]:
        for dtype in ["fp32", "fp16", "int8"]:
            x = cases.draw("%dx%s" % (pieces, shape) if pieces > 1 else shape, dtype)
            cases.add("concat axis=%d dtype=%s shape=%s pieces=%d" % (axis, dtype, shape, pieces), {"x": x},
                      {"y": np.concatenate(list(x), axis) if pieces > 1 else x})


def halves(cases):
    for shape in ["2", "17x130", "331x64", "5x1x3002"]:
        for dtype in ["fp32", "fp16", "bf16"]:
            x = cases.draw(shape, dtype)
            a, b = np.split(wide(x), 2, -1)
            cases.add("swiglu shape=%s dtype=%s" % (shape, dtype), {"x": x},
                      {"y": rounded(a / (1 + np.exp(-a)) * b, dtype)}, CHAIN[dtype])
            dy, s = cases.draw("x".join(str(e) for e in a.shape), dtype), 1 / (1 + np.exp(-a))
            dx = np.concatenate([wide(dy) * b * (s + a * s * (1 - s)), wide(dy) * a * s], -1)
            cases.add("swiglu_grad shape=%s dtype=%s" % (shape, dtype), {"x": x, "dy": dy},
                      {"dx": rounded(dx, dtype)}, CHAIN[dtype])
    for shape in ["17x1x3x16", "97x2x5x34", "331x128"]:
        for dtype in ["fp32", "fp16", "bf16"]:
            x = cases.draw(shape, dtype)
            table = "%dx%d" % (x.shape[0], x.shape[-1])
            cos, sin = cases.draw(table, dtype), cases.draw(table, dtype)
            view = (x.shape[0],) + (1,) * (x.ndim - 2) + (x.shape[-1],)
            a, b = np.split(wide(x), 2, -1)
            c, s = wide(cos).reshape(view), wide(sin).reshape(view)
            y = wide(x) * c + np.concatenate([-b, a], -1) * s
            limits = (CHAIN[dtype][0] * 10, CHAIN[dtype][1])
            cases.add("rope shape=%s dtype=%s" % (shape, dtype), {"x": x, "cos": cos, "sin": sin},
                      {"y": rounded(y, dtype)}, limits)
            h = c.shape[-1] // 2
            swapped = np.concatenate([b * s[..., h:], -a * s[..., :h]], -1)
            cases.add("rope_grad shape=%s dtype=%s" % (shape, dtype),
                      {"x": x, "cos": cos, "sin": sin},
                      {"y": rounded(wide(x) * c + swapped, dtype)}, limits)


def channels(cases):
    for shape in ["1x1x1", "15x17", "331x127", "3x5x7x11", "2x17x13x17", "1x3x151x101", "5x331x3",
                  "2x17x37 rows=5 cols=16", "2x3x5x31x16", "1x1x331x7x16"]:
        shape, _, tiling = shape.partition(" ")
        blocked = shape.count("x") == 4
        for dtype, dtype1 in [("fp32", "fp32"), ("fp16", "fp32"), ("bf16", "bf16"),
                              ("fp32", "fp16")]:
            x = cases.draw(shape, dtype)
            n = x.shape[1] * (x.shape[4] if blocked else 1)
            mean, gamma, beta = (cases.draw(str(n), dtype1) for _ in range(3))
            var = cases.draw(str(n), dtype1, 0.1, 4)
            view = [1] * x.ndim
            view[1] = x.shape[1]
            if blocked:
                view[4] = x.shape[4]
            m, v, g, b = (wide(a).reshape(view) for a in (mean, var, gamma, beta))
            y = (wide(x) - m) / np.sqrt(v + 1e-5) * g + b
            limits = (CHAIN[dtype][0] * 30, CHAIN[dtype][1])
            cases.add("batch_norm shape=%s dtype=%s dtype1=%s format=%s %s"
                      % (shape, dtype, dtype1, "nc1hwc0" if blocked else "nchw", tiling),
                      {"x": x, "mean": mean, "var": var, "gamma": gamma, "beta": beta},
                      {"y": rounded(y, dtype)}, limits)


def window_counts(extent, before, after, kernel, stride, ceil):
    """How many windows there are; one that begins inside counts with ceil."""
    rest = extent + before + after - kernel
    return rest // stride + 1 + int(ceil and rest % stride != 0 and
                                    (rest // stride + 1) * stride < extent + before)


def under_windows(x, kernel, stride, pad, ceil, fill):
    """[kernel points, N, C1, OH, OW, C0]: what each window has at each of its points."""
    (kh, kw), (sh, sw), (top, bottom, left, right) = kernel, stride, pad
    oh = window_counts(x.shape[2], top, bottom, kh, sh, ceil)
    ow = window_counts(x.shape[3], left, right, kw, sw, ceil)
    more = [max(0, (oh - 1) * sh + kh - x.shape[2] - top),
            max(0, (ow - 1) * sw + kw - x.shape[3] - left)]
    x = np.pad(x, ((0, 0), (0, 0), (top, more[0]), (left, more[1]), (0, 0)), constant_values=fill)
    return np.stack([x[:, :, i:i + (oh - 1) * sh + 1:sh, j:j + (ow - 1) * sw + 1:sw]
                     for i in range(kh) for j in range(kw)])


# shape, kernel, stride, pad (top, bottom, left, right), ceil, tiling
POOLS = [("1x1x1x1x16", (1, 1), (1, 1), (0,) * 4, 0, ""),
         ("2x3x15x17x16", (3, 3), (2, 2), (0,) * 4, 0, ""),
         ("1x2x127x17x16", (3, 3), (2, 2), (1,) * 4, 0, ""),
         ("1x1x17x127x16", (2, 2), (2, 2), (0,) * 4, 1, ""),
         ("1x5x31x29x16", (3, 3), (2, 2), (1, 0, 0, 1), 1, " rows=3 cols=7"),
         ("3x1x13x11x16", (5, 3), (1, 1), (2, 1, 1, 0), 0, ""),
         ("1x1x23x31x16", (2, 3), (3, 4), (1, 1, 2, 2), 1, " rows=2 cols=3"),
         ("2x2x13x13x16", (13, 13), (1, 1), (0,) * 4, 0, ""),
         ("1x3x1x331x16", (1, 3), (1, 2), (0, 0, 1, 1), 0, ""),
         ("1x3x331x1x16", (3, 1), (2, 1), (1, 1, 0, 0), 1, ""),
         ("1x1x19x1009x16", (3, 3), (2, 2), (1,) * 4, 0, ""),
         ("2x1x20x20x16", (20, 20), (20, 20), (0,) * 4, 0, "")]


def pools(cases):
    for shape, kernel, stride, pad, ceil, tiling in POOLS:
        for dtype, c0 in [("fp16", 16), ("fp32", 8), ("fp32", 16), ("bf16", 16)]:
            shape = "x".join(shape.split("x")[:-1] + [str(c0)])
            x = cases.draw(shape, dtype)
            tail = " shape=%s kernel=%dx%d stride=%dx%d pad=%dx%dx%dx%d ceil=%d dtype=%s%s" % (
                (shape,) + kernel + stride + pad + (ceil, dtype, tiling))
            points = under_windows(x, kernel, stride, pad, ceil, -np.inf)
            cases.add("max_pool" + tail, {"x": x}, {"y": points.max(0)})
            sums = wide(under_windows(x, kernel, stride, pad, ceil, 0)).sum(0)
            limits = (CHAIN[dtype][0] * 4, CHAIN[dtype][1])
            for counts in [0, 1]:
                edges = ((0, 0), (0, 0), (pad[0], pad[1]), (pad[2], pad[3]), (0, 0))
                ones = np.pad(np.ones(x.shape), edges, constant_values=counts)
                count = under_windows(ones, kernel, stride, (0,) * 4, ceil, 0)[
                    :, :, :, :sums.shape[2], :sums.shape[3]].sum(0)
                cases.add("avg_pool count_pad=%d" % counts + tail, {"x": x},
                          {"y": rounded(sums / count, dtype)}, limits)


def masks_of(points, first):
    """Bits of 16 channels of each pixel: where `first` marks a point."""
    count, n, c1, oh, ow, _ = points.shape
    words = (-(-oh * ow // 16) + 1) * 16
    masks = np.zeros((n, c1, count, words), np.uint16)
    for point in range(count):
        bits = (first == point).astype(np.uint16) << np.arange(16, dtype=np.uint16)
        masks[:, :, point, :oh * ow] = bits.sum(-1, dtype=np.uint16).reshape(n, c1, -1)
    return masks.reshape(n, c1, count, words // 16, 16)


def argmax_pools(cases):
    for shape, kernel, stride, pad, ceil, tiling in POOLS:
        if max(kernel) > 5:
            continue
        shape, rows = shape.replace("1009", "331"), tiling.split(" cols")[0]
        for dtype in ["fp16", "fp32"]:
            x = np.floor(cases.draw(shape, dtype)).astype(NUMPY[dtype])
            tail = " shape=%s kernel=%dx%d stride=%dx%d pad=%dx%dx%dx%d ceil=%d dtype=%s%s" % (
                (shape,) + kernel + stride + pad + (ceil, dtype, rows))
            points = under_windows(x, kernel, stride, pad, ceil, -np.inf)
            first = points.argmax(0)
            masks = masks_of(points, first)
            cases.add("max_pool_with_argmax" + tail, {"x": x}, {"y": points.max(0), "y1": masks})
            dy = np.floor(cases.draw("x".join(str(e) for e in points.shape[1:]), dtype))
            oh, ow = dy.shape[2:4]
            dx = np.zeros(x.shape[:2] + (x.shape[2] + pad[0] + oh * stride[0] + kernel[0],
                                         x.shape[3] + pad[2] + ow * stride[1] + kernel[1], 16))
            for p in range(kernel[0] * kernel[1]):
                i, j = divmod(p, kernel[1])
                dx[:, :, i:i + oh * stride[0]:stride[0], j:j + ow * stride[1]:stride[1]] += \
                    np.where(first == p, dy, 0)
            dx = dx[:, :, pad[0]:pad[0] + x.shape[2], pad[2]:pad[2] + x.shape[3]]
            for way in ["all", "one"]:
                cases.add("max_pool_grad masks=" + way + tail,
                          {"x": dy.astype(x.dtype), "x1": masks}, {"y": dx.astype(x.dtype)})


def argmosts(cases):
    for i, shape in enumerate(["1", "15", "17x127", "331x64", "3x1009", "97x1031", "5x40009", "100003",
                               "7x3x5", "2x5003 chunk=512", "61x513 chunk=512"]):
        shape, _, tiling = shape.partition(" ")
        for dtype in ["fp32", "fp16", "bf16"]:
            x = cases.draw(shape, dtype)
            if i % 2:  # many that are equal
                x = np.floor(x).astype(x.dtype)
            for name, function in [("argmax", np.argmax), ("argmin", np.argmin)]:
                y = np.atleast_1d(function(x, -1)).astype(np.int32)
                cases.add("%s shape=%s dtype=%s %s" % (name, shape, dtype, tiling), {"x": x}, {"y": y})
            cases.add("argmax_with_value shape=%s dtype=%s %s" % (shape, dtype, tiling), {"x": x},
                      {"y": np.atleast_1d(x.argmax(-1)).astype(np.int32), "y1": np.atleast_1d(x.max(-1))})
            cases.add("argmin_with_value shape=%s dtype=%s %s" % (shape, dtype, tiling), {"x": x},
                      {"y": np.atleast_1d(x.argmin(-1)).astype(np.int32), "y1": np.atleast_1d(x.min(-1))})


def sorts(cases):
    def expect(x, descending, keep):
        keys = -wide(x) if descending else wide(x)
        order = np.argsort(keys, -1, kind="stable")[..., :keep]
        return {"y": np.take_along_axis(x, order, -1), "y1": order.astype(np.int32)}

    for i, (shape, k, tail) in enumerate([
            ("1", 1, ""), ("15", 3, ""), ("17", 17, ""), ("5x127", 5, ""), ("131x17", 2, ""),
            ("3x1009", 1009, ""), ("3x7x1000", 5, ""), ("8191", 127, ""), ("3x8192", 2048, ""),
            ("10007", 17, ""), ("3x20011", 1, ""), ("100003", 1009, ""), ("67x509", 31, " chunk=128"),
            ("7x130", 65, " chunk=64"), ("2x5003", 4999, " chunk=512"), ("9x613", 600, " chunk=64"),
            ("50021", 5000, ""), ("1x16384", 8192, "")]):
        for j, dtype in enumerate(["fp32", "fp16", "bf16"]):
            if dtype != "fp32" and i % 2 == j % 2:
                continue
            x = cases.draw(shape, dtype)
            long = x.shape[-1] > 8192 or tail
            if long and j > 0:
                continue
            if long:  # the order of equal elements of long rows is not promised
                x = np.stack([cases.rng.permutation(x.shape[-1]) for _ in range(x.size // x.shape[-1])])
                x = rounded(x.reshape(extents(shape)) - x.shape[-1] / 2, "fp32")
                dtype = "fp32"
            for order in [0, 1]:
                request = " shape=%s dtype=%s%s" % (shape, dtype, tail)
                cases.add("sort descending=%d" % order + request, {"x": x},
                          expect(x, order, x.shape[-1]))
                cases.add("topk k=%d largest=%d" % (k, order) + request, {"x": x},
                          expect(x, order, k))


GROUPS = [unary, powers, binary, longs, products, others, casts, rows, channels, reductions, movement, halves, pools,
          argmax_pools, argmosts, sorts]


def run(vinci, soc, case, folder):
    request, inputs, outputs, limits = case
    command = [vinci, "run"] + request.split() + ["-s", soc, "--values", "--check", "--memory=flat", "-q"]
    command += ["--atol=%g" % limits[0], "--rtol=%g" % limits[1]]
    for kind, arrays in (("input", inputs), ("expect", outputs)):
        for name, array in arrays.items():
            path = os.path.join(folder, "%s_%s.npy" % (kind, name))
            np.save(path, np.ascontiguousarray(array))
            command.append("--%s=%s=%s" % (kind, name, path))
    done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode == 0 else (done.stderr or done.stdout).strip()


def main(groups, text):
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("vinci")
    parser.add_argument("--soc", default="Ascend910B1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="requests that begin so")
    parser.add_argument("--every", type=int, default=1, help="each N-th case alone")
    args = parser.parse_args()
    cases = Cases(np.random.default_rng(args.seed))
    for group in groups:
        group(cases)
    chosen = [case for case in cases.list if case[0].startswith(args.only)]
    chosen = chosen[args.seed % args.every::args.every]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            text = run(args.vinci, args.soc, case, folder)
            if text:
                wrong += 1
                print("%s: %s" % (case[0], text.splitlines()[0]))
    print("%d cases, %d wrong" % (len(chosen), wrong))
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
