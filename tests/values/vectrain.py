# SPDX-License-Identifier: Apache-2.0
"""Operators of training against numpy: triangles, losses, normalisations by the input, gradients of lookups.

    vectrain.py VINCI [options of vecops.py]
"""

import sys

import numpy as np

from vecops import CHAIN, NUMPY, SIZES, extents, main, rounded, wide

FLOATS = ["fp32", "fp16", "bf16"]


def triangles(cases):
    for i, shape in enumerate(["1x1", "15x17", "17x15", "3x127x17", "5x1x1009", "1009x3", "331x129", "2x40009",
                               "3x7x20011"]):
        rows, cols = extents(shape)[-2:]
        for dtype in ["fp16", "fp32", "bf16", "int32", "int16", "int64"] if i < 5 else ["fp16", "int32"]:
            x = cases.draw(shape, dtype, -99, 99)
            if dtype in FLOATS:  # moved, not computed with
                x.reshape(-1)[::5] = np.array([np.nan, np.inf, -np.inf, -0.0], x.dtype)[i % 4]
            for diagonal in [0, 1, -1, cols // 2, -(rows // 2), cols + 3, -rows - 3]:
                tail = " shape=%s dtype=%s diagonal=%d" % (shape, dtype, diagonal)
                cases.add("triu" + tail, {"x": x}, {"y": np.triu(x, diagonal)})
                cases.add("tril" + tail, {"x": x}, {"y": np.tril(x, diagonal)})


def one_hots(cases):
    for i, (shape, depth) in enumerate([("1", 1), ("17", 5), ("3x7", 129), ("1009", 10), ("31", 20011),
                                        ("5x1x3", 64), ("257", 1000), ("2", 100003)]):
        for out in FLOATS + ["int32"]:
            x = cases.rng.integers(-1, depth + 1, extents(shape), np.int32, endpoint=True)  # two have no column
            on, off = (1, 0) if i % 2 else (3, -2)
            wrap = (i + len(out)) % 2
            at = np.where((x < 0) & (x >= -depth), x + depth, x) if wrap else x
            y = np.where(at[..., None] == np.arange(depth), on, off)
            dtype = "int64" if out == "fp16" else "int32"
            cases.add("one_hot shape=%s depth=%d dtype=%s out=%s on=%d off=%d wrap=%d"
                      % (shape, depth, dtype, out, on, off, wrap),
                      {"x": x.astype(dtype)}, {"y": y.astype(NUMPY[out])})


def lookups(cases):
    for shape, count, step in [("1x1", "1", 0), ("17x16", "5x3", 7919), ("31x33", "97", 5), ("1009x128", "3x61", 1),
                               ("5x20011", "17", 2), ("331x129", "1009", 3)]:
        for dtype in FLOATS:
            table = np.zeros(extents(shape))
            index = (np.arange(np.prod(extents(count))) * step) % table.shape[0]
            x = np.floor(cases.draw("%dx%d" % (index.size, table.shape[1]), dtype))
            np.add.at(table, index, wide(x))
            cases.add("embedding_grad shape=%s count=%s step=%d dtype=%s" % (shape, count, step, dtype),
                      {"x": x.astype(NUMPY[dtype]), "x1": index.astype(np.int32).reshape(extents(count))},
                      {"y": rounded(table, dtype)})
    for shape, out, begin in [("1", "1", "0"), ("3x5", "7x9", "1x2"), ("127x17", "131x64", "4x0"),
                              ("5x3x7", "5x9x7", ""),
                              ("1009", "2003", "17"), ("2x3x5x7", "3x3x9x8", "1x0x2x1")]:
        for dtype in FLOATS + ["int32"]:
            x, y = cases.draw(shape, dtype), np.zeros(extents(out), NUMPY[dtype])
            first = extents(begin) if begin else (0,) * x.ndim
            y[tuple(slice(b, b + n) for b, n in zip(first, x.shape))] = x
            cases.add("slice_grad shape=%s out=%s dtype=%s%s" % (shape, out, dtype, begin and " begin=" + begin),
                      {"x": x}, {"y": y})
    for shape, out, begin, step in [("1", "5", "3", "4"), ("7", "19", "0", "3"), ("3x5", "9x11", "1x2", "3x2"),
                                    ("127x17", "259x17", "3x0", "2x1"), ("5x3x7", "9x8x14", "0x1x0", "2x3x2"),
                                    ("31x65x48", "31x131x48", "0x1x0", "1x2x1"), ("1009", "2019", "1", "2")]:
        for dtype in FLOATS + ["int32"]:
            x, y = cases.draw(shape, dtype), np.zeros(extents(out), NUMPY[dtype])
            part = tuple(slice(b, b + n * s, s) for b, n, s in zip(extents(begin), x.shape, extents(step)))
            y[part] = x
            cases.add("slice_grad shape=%s out=%s dtype=%s begin=%s step=%s" % (shape, out, dtype, begin, step),
                      {"x": x}, {"y": y})


def products(cases):
    for shape in ["1", "17", "3x127", "2x4096", "2x4097", "5x1x1009", "1x12289"]:
        for dtype in FLOATS:
            x = cases.rng.choice([1.0, -1.0, 0.5, 2.0], extents(shape))
            x = rounded(np.where(np.abs(np.cumsum(np.log2(np.abs(x)), -1)) > 6, np.sign(x), x), dtype)
            y = np.cumprod(wide(x), -1)
            keep = np.abs(np.log2(np.abs(y))) < 14
            if keep.all():
                cases.add("cumprod shape=%s dtype=%s" % (shape, dtype), {"x": x}, {"y": rounded(y, dtype)})
        x = rounded(1 + cases.rng.uniform(-1e-3, 1e-3, extents(shape)), "fp32")
        cases.add("cumprod shape=%s" % shape, {"x": x}, {"y": rounded(np.cumprod(wide(x), -1), "fp32")}, (0, 2e-4))


def log_softmax(x):
    e = x - x.max(-1, keepdims=True)
    return e - np.log(np.exp(e).sum(-1, keepdims=True))


# The terms go through the type of x.
LOSS = {"fp32": (1e-5, 1e-5), "fp16": (1e-3, 4e-3), "bf16": (5e-2, 2e-2)}


def losses(cases):
    for shape in ["1x1", "15x3", "17x127", "331x10", "3x1009", "7x20011"]:
        for dtype in FLOATS:
            x = cases.draw(shape, dtype, -9, 9)
            labels = cases.draw(shape, dtype, 0, 1)
            labels = rounded(wide(labels) / wide(labels).sum(-1, keepdims=True), dtype)
            logs = log_softmax(wide(x))
            def expect(labels):
                return {"loss": rounded(-(logs * labels).sum(-1), dtype), "dx": rounded(np.exp(logs) - labels, dtype)}
            rows = expect(wide(labels))
            cases.add("cross_entropy_rows shape=%s dtype=%s" % (shape, dtype), {"x": x, "x1": labels},
                      {"y": rows["dx"], "y1": rounded(-logs * wide(labels), dtype)}, LOSS[dtype])
            cases.add("softmax_cross_entropy shape=%s dtype=%s" % (shape, dtype), {"x": x, "x1": labels},
                      rows, LOSS[dtype])
            classes = cases.rng.integers(0, x.shape[1], x.shape[0], np.int32)
            cases.add("sparse_softmax_cross_entropy shape=%s dtype=%s" % (shape, dtype), {"x": x, "x1": classes},
                      expect(np.eye(x.shape[1])[classes] if x.shape[1] < 2000 else
                             (classes[:, None] == np.arange(x.shape[1])) * 1.0), LOSS[dtype])


NORM = {"fp32": (1e-5, 1e-5), "fp16": (4e-3, 4e-3), "bf16": (5e-2, 3e-2)}


def groups(cases):
    for shape, count in [("1x1x2", 1), ("2x6x5x7", 3), ("3x32x17", 8), ("1x12x31x33", 4), ("5x7x1009", 7),
                         ("2x4x3x5x7", 2), ("1x2x150000", 1)]:
        for dtype in FLOATS:
            x = cases.draw(shape, dtype, -3, 5)
            gamma, beta = (cases.draw("%dx1" % x.shape[1], dtype, 0.5, 2) for _ in range(2))
            for op, g in [("group_norm groups=%d" % count, count), ("instance_norm", x.shape[1])]:
                rows = wide(x).reshape(x.shape[0] * g, -1)
                y = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-3)
                cases.add("mean_variance_norm shape=%dx%d dtype=%s eps=1e-3" % (rows.shape + (dtype,)),
                          {"x": x.reshape(rows.shape)}, {"y": rounded(y, dtype)}, NORM[dtype])
                y = y.reshape(x.shape[:2] + (-1,)) * wide(gamma) + wide(beta)
                cases.add("%s shape=%s dtype=%s eps=1e-3" % (op, shape, dtype),
                          {"x": x.reshape(rows.shape), "gamma": gamma, "beta": beta}, {"y": rounded(y, dtype)},
                          NORM[dtype])


def maps(shape, blocked):
    """The axes that are folded, and the shape in which a number for each channel broadcasts."""
    whole = extents(shape)
    axes = (0, 2, 3) if blocked else (0,) + tuple(range(2, len(whole)))
    return axes, tuple(1 if i in axes else n for i, n in enumerate(whole))


def batch_norms(cases):
    for shape, blocked in [("3x5", 0), ("2x5x7x9", 0), ("1009x17", 0), ("5x33x131", 0), ("2x3x5x7x16", 1),
                           ("7x1x31x33x16", 1), ("3x64x15x15", 0)]:
        axes, spread = maps(shape, blocked)
        for dtype in FLOATS:
            if blocked and dtype == "bf16":
                continue
            x, dy = cases.draw(shape, dtype, -2, 4), cases.draw(shape, dtype, -1, 3)
            a, d = wide(x), wide(dy)
            gamma, beta = (cases.draw("%d" % np.prod(spread), "fp32", 0.5, 2) for _ in range(2))
            mean, var = a.mean(axes, keepdims=True), a.var(axes, keepdims=True)
            scale, shift = wide(gamma).reshape(spread), wide(beta).reshape(spread)
            root = 1 / np.sqrt(var + 1e-3)
            normal = (a - mean) * root
            flat = lambda array: rounded(array, "fp32").reshape(-1)
            sums = {"sum": flat(a.sum(axes)), "square_sum": flat((a * a).sum(axes))}
            moments = {"mean": flat(mean), "var": flat(var)}
            y = rounded(normal * scale + shift, dtype)
            tail = " shape=%s dtype=%s%s" % (shape, dtype, " format=nc1hwc0" if blocked else "")
            near, limits = tail + " epsilon=1e-3", NORM[dtype]
            given = {"gamma": gamma, "beta": beta}
            cases.add("batch_norm_reduce" + tail, {"x": x}, sums, (1e-3, 1e-4))
            cases.add("batch_norm_update" + near, {"x": x, **sums, **given}, {"y": y, **moments}, limits)
            cases.add("batch_norm_train" + near, {"x": x, **given}, {"y": y, **moments}, limits)
            dbeta, dgamma = d.sum(axes, keepdims=True), (d * normal).sum(axes, keepdims=True)
            count = a.size / dbeta.size
            dx = rounded(scale * root * (d - (dbeta + normal * dgamma) / count), dtype)
            slopes = {"dgamma": flat(dgamma), "dbeta": flat(dbeta)}
            cases.add("batch_norm_update_grad" + near, {"x": x, "dy": dy, **moments}, slopes, (1e-2, 1e-3))
            cases.add("batch_norm_reduce_grad" + near,
                      {"x": x, "dy": dy, "gamma": gamma, **moments, **slopes}, {"dx": dx}, limits)
            cases.add("batch_norm_grad" + near, {"x": x, "dy": dy, "gamma": gamma, **moments},
                      {"dx": dx, **slopes}, (1e-2, max(1e-3, limits[1])))


def channel_parts(cases):
    """What batch norm computes with a number for each channel, and with those on whole maps."""
    eps = 1e-3
    for shape in SIZES:
        if "x" in shape:
            continue
        draw = lambda low, high: cases.draw(shape, "fp32", low, high)
        total, squares, mean, var = draw(-50, 50), draw(600, 900), draw(-2, 2), draw(0.5, 4)
        gamma, beta, dgamma, dbeta = draw(0.5, 2), draw(-1, 1), draw(-9, 9), draw(-9, 9)
        m, v, g, b, dg, db = (wide(a) for a in (mean, var, gamma, beta, dgamma, dbeta))
        given, root = " shape=%s" % shape, 1 / np.sqrt(v + eps)
        average = wide(total) / 7
        def check(op, inputs, outputs):
            cases.add(op, inputs, {name: rounded(a, "fp32") for name, a in outputs.items()}, (1e-4, 1e-5))
        check("batch_norm_moments count=7" + given, {"sum": total, "square_sum": squares},
              {"mean": average, "var": np.maximum(wide(squares) / 7 - average ** 2, 0)})
        check("batch_norm_line_factors epsilon=%g" % eps + given,
              {"mean": mean, "var": var, "gamma": gamma, "beta": beta}, {"a": g * root, "b": b - m * g * root})
        check("batch_norm_scale_grad epsilon=%g" % eps + given, {"product_sum": dgamma, "var": var},
              {"dgamma": dg * root})
        a = g * root
        second = -a * root * dg / 7
        check("batch_norm_factors count=7 epsilon=%g" % eps + given,
              {"dgamma": dgamma, "dbeta": dbeta, "mean": mean, "var": var, "gamma": gamma},
              {"a": a, "b": second, "c": -a * db / 7 - second * m})
    for shape, blocked in [("1x1", 0), ("331x17", 0), ("2x5x7x9", 0), ("3x33x1009", 0), ("2x3x5x7x16", 1),
                           ("5x1x61x33x16", 1)]:
        axes, spread = maps(shape, blocked)
        for dtype in FLOATS[:2] if blocked else FLOATS:
            x, dy = cases.draw(shape, dtype), cases.draw(shape, dtype)
            a, b, c = (cases.draw("%d" % np.prod(spread), "fp32") for _ in range(3))
            p, q, r = (wide(n).reshape(spread) for n in (a, b, c))
            tail = " shape=%s dtype=%s%s" % (shape, dtype, " format=nc1hwc0" if blocked else "")
            cases.add("batch_norm_line" + tail, {"x": x, "a": a, "b": b},
                      {"y": rounded(wide(x) * p + q, dtype)}, NORM[dtype])
            cases.add("batch_norm_products" + tail, {"dy": dy, "x": x, "mean": a},
                      {"y": rounded(wide(dy) * (wide(x) - p), "fp32")}, CHAIN["fp32"])
            cases.add("batch_norm_apply" + tail, {"dy": dy, "x": x, "a": a, "b": b, "c": c},
                      {"dx": rounded(wide(dy) * p + wide(x) * q + r, dtype)}, NORM[dtype])


GROUPS = [triangles, one_hots, lookups, products, losses, groups, batch_norms, channel_parts]

if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
