# SPDX-License-Identifier: Apache-2.0
"""Activations, cells of recurrent layers, normalisations and maps of networks against numpy.

    vecfused.py VINCI [options of vecops.py]
"""

import math
import sys

import numpy as np

from vecops import CHAIN, ROUNDED, SIZES, extents, main, rounded, wide

FLOATS = ["fp32", "fp16", "bf16"]


def erf(x):
    return np.vectorize(math.erf)(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def activations(cases):
    def elu(x, alpha):
        return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))

    table = [("gelu", " form=erf", lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2))), 4),
             ("selu", "", lambda x: 1.0507009873554805 * elu(x, 1.6732632423543773), 120),
             ("celu", " alpha=2.5", lambda x: np.where(x > 0, x, 2.5 * np.expm1(np.minimum(x, 0) / 2.5)),
              120),
             ("mish", "", lambda x: x * np.tanh(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))), 80),
             ("softsign", "", lambda x: x / (1 + np.abs(x)), 999)]
    for n, (name, tail, function, bound) in enumerate(table):
        for i, dtype in enumerate(FLOATS):
            for shape in SIZES if i == 0 else [SIZES[(n + i) % 6], "100003"]:
                x = cases.draw(shape, dtype, -bound, bound)
                flat = x.reshape(-1)
                if name != "gelu":
                    specials = np.array([0.0, -0.0, 1e-3, -1e-3, np.nan, 60000.0], flat.dtype)
                    flat[:6] = specials[:flat.size]
                cases.add("%s shape=%s dtype=%s%s" % (name, shape, dtype, tail), {"x": x},
                          {"y": rounded(function(wide(x)), dtype)}, CHAIN[dtype])
    for shape, shape1 in [("1", "1"), ("127x17", "17"), ("5x7x9", "7x1"), ("2x31x17x9", "31x1x1"),
                          ("97x1031", "1")]:
        for dtype in FLOATS:
            x, x1 = cases.draw(shape, dtype), cases.draw(shape1, dtype)
            cases.add("prelu shape=%s shape1=%s dtype=%s" % (shape, shape1, dtype), {"x": x, "x1": x1},
                      {"y": rounded(np.where(x > 0, wide(x), wide(x) * wide(x1)), dtype)},
                      ROUNDED[dtype])


def cells(cases):
    for shape in ["1", "15", "17x33", "64x256", "3x5x100", "2x10007"]:
        for i, dtype in enumerate(FLOATS):
            whole = shape[:shape.rfind("x") + 1] + str(4 * extents(shape)[-1])
            gates, state = cases.draw(whole, dtype, -12, 12), cases.draw(shape, dtype)
            quarters = np.split(wide(gates), 4, -1)
            order = ["ifgo", "igfo", "iofg"][(i + len(shape)) % 3]
            i_, f, g, o = (quarters[order.index(gate)] for gate in "ifgo")
            c = sigmoid(f) * wide(state) + sigmoid(i_) * np.tanh(g)
            cases.add("lstm_cell shape=%s dtype=%s order=%s" % (shape, dtype, order),
                      {"gates": gates, "c": state},
                      {"c_next": rounded(c, dtype), "h_next": rounded(sigmoid(o) * np.tanh(c), dtype)},
                      CHAIN[dtype])
            r, z, a, b = quarters
            n = np.tanh(a + sigmoid(r) * b)
            cases.add("gru_cell shape=%s dtype=%s" % (shape, dtype), {"gates": gates, "h": state},
                      {"h_next": rounded(sigmoid(z) * wide(state) + (1 - sigmoid(z)) * n, dtype)},
                      CHAIN[dtype])


def norms(cases):
    for shape in ["1", "15", "17x127", "331x64", "3x1009", "97x1031", "61x1031 rows=1 cols=128",
                  "3x40009"]:
        shape, _, tiling = shape.partition(" ")
        for dtype in FLOATS:
            x, x1 = cases.draw(shape, dtype), cases.draw(shape, dtype)
            gamma, beta = (cases.draw(shape.split("x")[-1], dtype) for _ in range(2))
            total = wide(x) + wide(x1)
            centred = total - total.mean(-1, keepdims=True)
            y = centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5) * wide(gamma)
            cases.add("add_layer_norm shape=%s dtype=%s %s" % (shape, dtype, tiling),
                      {"x": x, "x1": x1, "gamma": gamma, "beta": beta},
                      {"y": rounded(y + wide(beta), dtype), "y1": rounded(total, dtype)},
                      (CHAIN[dtype][0] * 30, CHAIN[dtype][1]))


def global_pools(cases):
    for shape in ["1x1x1x1x16", "2x3x7x7x16", "67x5x3x5x16", "1x2x17x19x16", "5x37x2x1x16", "3x1x40x33x16",
                  "9x31x8x8x16"]:
        for dtype in FLOATS:
            own = shape if dtype != "fp32" else shape[:-2] + "8"
            x = cases.draw(own, dtype)
            cases.add("global_avg_pool shape=%s dtype=%s" % (own, dtype), {"x": x},
                      {"y": rounded(wide(x).mean((2, 3), keepdims=True), dtype)}, CHAIN[dtype])


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def masked(cases):
    shapes = [("1", "1"), ("17x127", "17x127"), ("17x127", "1x127"), ("2x3x17x33", "2x1x17x33"),
              ("2x3x17x33", "2x1x1x33"), ("2x3x17x33", "1x1x17x33"), ("5x2x7x1031", "5x1x1x1031"),
              ("3x5x1x65", "3x1x1x65"), ("4x3x64x64", "64x64"), ("3x4x300x31", "1x4x1x31"),
              ("3x40009", "3x40009")]
    for shape, shape1 in shapes:
        for dtype in FLOATS:
            x, x1 = cases.draw(shape, dtype), cases.draw(shape1, dtype, -2, 2)
            x1[cases.rng.random(x1.shape) < 0.3] = -10000
            x1.reshape(-1)[0] = 0
            y = softmax(wide(x) * 0.125 + wide(x1))
            cases.add("masked_softmax shape=%s shape1=%s dtype=%s scale=0.125" % (shape, shape1, dtype),
                      {"x": x, "x1": x1}, {"y": rounded(y, dtype)}, CHAIN[dtype])
            soft, grad = rounded(y, dtype), cases.draw(shape, dtype)
            inner = (wide(soft) * wide(grad)).sum(-1, keepdims=True)
            cases.add("masked_softmax_grad shape=%s dtype=%s scale=0.125" % (shape, dtype),
                      {"x": soft, "x1": grad},
                      {"y": rounded(0.125 * wide(soft) * (wide(grad) - inner), dtype)}, CHAIN[dtype])


def places(size, out, mode):
    """Places in x of the points of y."""
    o = np.arange(out)
    if mode == "nearest":
        return o * size // out
    if mode == "corners":
        return o * (size - 1) / max(out - 1, 1)
    if mode == "asymmetric":
        return o * size / out
    return np.maximum((o + 0.5) * size / out - 0.5, 0)


def along(x, axis, out, mode):
    at = places(x.shape[axis], out, mode)
    low = np.floor(at + 1e-9).astype(int)
    high = np.minimum(low + 1, x.shape[axis] - 1)
    share = (at - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return x.take(low, axis) * (1 - share) + x.take(high, axis) * share


def resizes(cases):
    sizes = [("1x1x1x1", "3x2"), ("2x3x5x7", "10x14"), ("1x2x17x13", "31x9"), ("3x2x8x9", "8x9"),
             ("2x5x33x40", "11x20"), ("1x4x16x16x16", "32x32"), ("2x3x7x9x16", "15x5"),
             ("1x2x6x5x8", "13x20"), ("2x1x13x1x16", "1x7"), ("1x2x5x7x16", "15x21")]
    for shape, size in sizes:
        for i, dtype in enumerate(FLOATS):
            for mode in ["nearest", "bilinear", "corners", "asymmetric"]:
                x = cases.draw(shape, dtype)
                oh, ow = extents(size)
                y = along(along(wide(x), 2, oh, mode), 3, ow, mode)
                request = "resize shape=%s size=%s dtype=%s format=%s mode=%s" % (
                    shape, size, dtype, "nc1hwc0" if x.ndim == 5 else "nchw",
                    mode if mode == "nearest" else "bilinear" + (" %s=1" % mode) * (mode != "bilinear"))
                # Places are computed in single precision: a few roundings of the extent times a slope.
                place = max(x.shape[2:4]) * 2.0 ** -22 * 8
                cases.add(request, {"x": x}, {"y": rounded(y, dtype)}, (0, 0) if mode == "nearest"
                          else (CHAIN[dtype][0] + place, CHAIN[dtype][1]))


BT = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
AT = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])


def matrices(points, tiles):
    """[4, 4, N, C1, TH, TW, C0] as 16 matrices in NZ, the point of row i and column j being 4 j + i."""
    flat = points.transpose(1, 0, 3, 2, 4, 5, 6).reshape(16, points.shape[3], tiles, 16)
    return np.pad(flat, ((0, 0), (0, 0), (0, -tiles % 16), (0, 0))).reshape(16, points.shape[3], -1, 16, 16)


def winograds(cases):
    """Small whole numbers, of which fp16 holds all sums. The rows that fill fractals stay 0."""
    for n, c1, h, w, pad, tiling in [(1, 1, 4, 4, (1,) * 4, ""), (2, 3, 7, 9, (1,) * 4, ""),
                                     (2, 2, 9, 6, (0,) * 4, " rows=2"), (1, 2, 1, 3, (1,) * 4, ""),
                                     (3, 1, 8, 5, (0, 1, 1, 0), " rows=1 buffers=1"),
                                     (1, 3, 31, 29, (1, 0, 0, 1), " rows=4"),
                                     (1, 1, 5, 301, (1,) * 4, "")]:
        x = np.floor(cases.draw("%dx%dx%dx%dx16" % (n, c1, h, w), "fp16"))
        oh, ow = h + pad[0] + pad[1] - 2, w + pad[2] + pad[3] - 2
        th, tw = (oh + 1) // 2, (ow + 1) // 2
        wide_map = np.pad(wide(x), ((0, 0), (0, 0), (pad[0], pad[1] + 1), (pad[2], pad[3] + 1), (0, 0)))
        d = np.stack([[wide_map[:, :, i:i + 2 * th:2, j:j + 2 * tw:2][:, :, :th, :tw] for j in range(4)]
                      for i in range(4)])
        v = np.einsum("ai,bj,ij...->ab...", BT, BT, d)
        cases.add("winograd_input shape=%dx%dx%dx%dx16 pad=%dx%dx%dx%d%s" % ((n, c1, h, w) + pad + (tiling,)),
                  {"x": x}, {"y": rounded(matrices(v, n * th * tw), "fp16")})
        m = np.floor(cases.draw("4x4x%dx%dx%dx%dx16" % (n, c1, th, tw), "fp16", -50, 50))
        bias = np.floor(cases.draw(str(c1 * 16), "fp16", -50, 50))
        y = np.einsum("ai,bj,ij...->...ab", AT, AT, wide(m)).transpose(0, 1, 2, 5, 3, 6, 4)
        y = y.reshape(n, c1, 2 * th, 2 * tw, 16)[:, :, :oh, :ow]
        for biased in [0, 1]:
            result = np.maximum(y + bias.reshape(c1, 1, 1, 16), 0) if biased else y
            cases.add("winograd_output shape=%dx%dx%dx%dx16 bias=%d relu=%d%s"
                      % (n, c1, oh, ow, biased, biased, tiling),
                      dict({"x": matrices(m, n * th * tw)}, **({"bias": bias} if biased else {})),
                      {"y": rounded(result, "fp16")})


GROUPS = [activations, cells, norms, global_pools, masked, resizes, winograds]

if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
