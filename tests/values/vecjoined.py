# SPDX-License-Identifier: Apache-2.0
"""What graphs of training join into a kernel, and layouts of its cores, against numpy.

    vecjoined.py VINCI [options of vecops.py]
"""

import sys

import numpy as np

from vecops import NUMPY, main, rounded, wide
from vectrain import NORM, maps

SUMS = (1e-3, 1e-3)


def joined_norms(cases):
    """Batch norm with what follows, by few and by many places of a channel."""
    for shape, blocked in [("2x5x7x9", 0), ("2x3x5x7x16", 1), ("7x1x31x33x16", 1), ("3x2x1x1x16", 1)]:
        axes, spread = maps(shape, blocked)
        for dtype in ["fp16", "fp32"]:
            x, r = cases.draw(shape, dtype, -2, 4), cases.draw(shape, dtype, -2, 2)
            a, b, gamma, beta = (cases.draw("%d" % np.prod(spread), "fp32", 0.5, 2) for _ in range(4))
            p, q, scale, shift = (wide(n).reshape(spread) for n in (a, b, gamma, beta))
            tail = " shape=%s dtype=%s%s" % (shape, dtype, " format=nc1hwc0" if blocked else "")
            line = wide(x) * p + q
            cases.add("batch_norm_line" + tail, {"x": x, "a": a, "b": b}, {"y": rounded(line, dtype)}, NORM[dtype])
            cases.add("batch_norm_line_relu" + tail, {"x": x, "a": a, "b": b},
                      {"y": rounded(np.maximum(line, 0), dtype)}, NORM[dtype])
            cases.add("batch_norm_residual_relu" + tail, {"x": x, "r": r, "a": a, "b": b},
                      {"y": rounded(np.maximum(line + wide(r), 0), dtype)}, NORM[dtype])
            w = wide(x)
            mean, var = w.mean(axes, keepdims=True), w.var(axes, keepdims=True)
            flat = lambda array: rounded(array, "fp32").reshape(-1)
            given = {"sum": flat(w.sum(axes)), "square_sum": flat((w * w).sum(axes)), "gamma": gamma, "beta": beta}
            y = (w - mean) / np.sqrt(var + 1e-3) * scale + shift
            for op, more, result in [("batch_norm_update_relu", {}, y),
                                     ("batch_norm_update_residual_relu", {"r": r}, y + wide(r))]:
                cases.add("%s epsilon=1e-3%s" % (op, tail), {"x": x, **given, **more},
                          {"y": rounded(np.maximum(result, 0), dtype)}, (1e-2, 1e-2))


def joined_gradients(cases):
    for shape in ["17", "1009", "331x61", "61x1031"]:
        for dtype in ["fp16", "fp32"]:
            x, dz = (cases.draw(shape, dtype, -2, 2).reshape(-1) for _ in range(2))
            number = np.array([0.5], NUMPY[dtype])
            for largest in [0, 1]:
                taken = wide(x) >= 0.5 if largest else wide(x) <= 0.5
                dx = np.where(taken, dz, 0).astype(NUMPY[dtype])
                cases.add("extreme_grad shape=%d dtype=%s largest=%d" % (x.size, dtype, largest),
                          {"x": x, "number": number, "dz": dz},
                          {"dx": dx, "dnumber": rounded(np.sum(wide(dz) * ~taken), dtype).reshape(1)},
                          (0.1 if dtype == "fp16" else 1e-2, 1e-2))
            if dtype == "fp16" and x.size > 20000:
                continue  # more than the type holds
            cases.add("square_sum_copy shape=%d dtype=%s" % (x.size, dtype), {"x": x},
                      {"square_sum": rounded(np.sum(wide(x) ** 2), dtype).reshape(1), "y": x}, (1e-2, 1e-2))
    for rows, cols in [(17, 16), (331, 64), (61, 1024)]:
        for dtype in ["fp16", "fp32"]:
            dy, normal = cases.draw("%dx%d" % (rows, cols), dtype), cases.draw("%dx%d" % (rows, cols), "fp32")
            cases.add("norm_weights_grad rows=%d cols=%d dtype=%s dtype1=fp32" % (rows, cols, dtype),
                      {"dy": dy, "normal": normal},
                      {"dgamma": rounded((wide(dy) * wide(normal)).sum(0), "fp32"),
                       "dbeta": rounded(wide(dy).sum(0), "fp32")}, (1e-1, SUMS[1]))


def masked_sums(cases):
    for size in [16, 1024, 30011 * 16]:
        for dtype in ["fp16", "fp32"]:
            x, r = (cases.draw("%d" % size, dtype) for _ in range(2))
            kept = cases.rng.integers(0, 2, size).astype(bool)
            cases.add("masked_sum shape=%d dtype1=%s dtype2=%s" % (size, dtype, dtype),
                      {"mask": np.packbits(kept, bitorder="little"), "x": x, "r": r},
                      {"y": rounded(np.where(kept, wide(x) + wide(r), 0), dtype)}, NORM[dtype])


def columns(cases):
    """Few columns, of which several rows lie in the lanes of a repeat; rows for more cores than results."""
    for shape, axis in [("3x128x16", 1), ("5x331x16", 1), ("2x4x1000x32", 2), ("7x20x16", 1), ("61x4096x16", 1),
                        ("4096x16", 0), ("20000x32", 0), ("30000", 0), ("24000x8", 0), ("2x30000", 1)]:
        for dtype in ["fp16", "fp32"]:
            x = cases.draw(shape, dtype)
            for op, y in [("reduce_sum", wide(x).sum(axis)), ("reduce_max", wide(x).max(axis))]:
                cases.add("%s shape=%s axis=%d dtype=%s out=fp32" % (op, shape, axis, dtype), {"x": x},
                          {"y": rounded(y, "fp32").reshape(y.shape or (1,))}, (2e-1, SUMS[1]))


def in_fractals(x):
    """The last two dimensions as FRACTAL_NZ of 16 columns."""
    rows, cols = x.shape[-2:]
    x = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, -rows % 16), (0, -cols % 16)])
    x = x.reshape(x.shape[:-1] + (-1, 16))
    return np.ascontiguousarray(np.moveaxis(x, -2, -3)).reshape(x.shape[:-3] + (x.shape[-2], -1, 16, 16))


def fractals(cases):
    for shape in ["16x16", "2x768", "35x24", "331x48", "3x17x32", "700x496", "1009x1000", "2x33x2000"]:
        for dtype in ["fp16", "fp32"]:
            x = cases.draw(shape, dtype)
            tail = " c0=16 dtype=%s" % dtype
            cases.add("transdata shape=%s way=nd_to_fractal_nz" % shape + tail, {"x": x}, {"y": in_fractals(x)})
            cases.add("transdata shape=%s way=fractal_nz_to_nd" % shape + tail, {"x": in_fractals(x)}, {"y": x})


def products(cases):
    """Sums of the products of two tensors."""
    for shape, axes in [("17x127", (1,)), ("331x61", (0,)), ("31x4x129x16", (0, 2)), ("5x31x67", (0, 2)), ("100003", (0,))]:
        for dtype in ["fp16", "fp32"]:
            x, other = cases.draw(shape, dtype), cases.draw(shape, dtype)
            y = rounded((wide(x) * wide(other)).sum(axes), "fp32")
            more = " axis2=%d" % axes[0] if len(axes) > 1 else ""
            cases.add("reduce_sum times=1 shape=%s axis=%d%s dtype=%s out=fp32" % (shape, axes[-1], more, dtype),
                      {"x": x, "x1": other}, {"y": y.reshape(y.shape or (1,))}, (1e-1, SUMS[1]))


def filter_norm(cases, x, dy, tail):
    """The gradient of a normalised map, and of the weights that made the map."""
    y = cases.draw("x".join(str(n) for n in dy.shape), "fp16", -1, 1)
    numbers = {name: cases.draw("%d" % (dy.shape[1] * 16), "fp32", low, 2)
               for name, low in [("dgamma", -2), ("dbeta", -2), ("mean", -1), ("var", 0.5), ("gamma", 0.5)]}
    dgamma, dbeta, mean, var, gamma = (wide(n).reshape(1, -1, 1, 1, 16) for n in numbers.values())
    scale = 1 / np.sqrt(var + 1e-5)
    count = dy.shape[0] * dy.shape[2] * dy.shape[3]
    dz = rounded(gamma * scale * (wide(dy) - (dbeta + (wide(y) - mean) * scale * dgamma) / count), "fp16")
    dw = np.einsum("nchwi,nkhwo->ckoi", wide(x), wide(dz))
    cases.add("conv2d_filter_norm" + tail, {"x": x, "dy": dy, "y": y, **numbers},
              {"dz": dz, "dw": rounded(dw, "fp32")}, (5e-2, 2e-2))


def joined_products(cases):
    """Steps behind products; sums of channels behind convolutions; masks behind their gradients."""
    for m, k, n in [(32, 48, 64), (100, 33, 160)]:
        a, b, r = (cases.draw("%dx%d" % s, "fp16", -1, 1) for s in [(m, k), (k, n), (m, n)])
        product = wide(rounded(wide(a) @ wide(b), "fp16"))
        given, tail = {"a": a, "b": b}, " m=%d k=%d n=%d" % (m, k, n)
        cases.add("matmul_chain steps=relu" + tail, given, {"y": rounded(np.maximum(product, 0), "fp16").reshape(-1)},
                  (2e-2, 2e-2))
        cases.add("matmul_chain steps=muls:0.5,add:x1" + tail, {**given, "x1": r.reshape(-1)},
                  {"y": rounded(product / 2 + wide(r), "fp16").reshape(-1)}, (2e-2, 2e-2))
        number = np.array([0.375], "float32")
        cases.add("matmul_chain steps=mul:x1 dtype1=fp32 shape1=1" + tail, {**given, "x1": number},
                  {"y": rounded(product * 0.375, "fp32").reshape(-1)}, (2e-2, 2e-2))
        cases.add("matmul_chain steps=s=sigmoid,mul:x:s,mul:x1,add:x2 shape1=1 dtype2=fp32" + tail,
                  {**given, "x1": number.astype("float16"), "x2": r.astype("float32").reshape(-1)},
                  {"y": rounded(product / (1 + np.exp(-product)) * 0.375 + wide(r), "fp32").reshape(-1)}, (3e-2, 3e-2))
        row = cases.draw("%d" % n, "fp16", -1, 1)
        cases.add("matmul_chain steps=add:x1 shape=%dx%d shape1=1x%d" % (m, n, n) + tail, {**given, "x1": row.reshape(1, n)},
                  {"y": rounded(product + wide(row), "fp16")}, (2e-2, 2e-2))
    for n, c1, h, w, k1 in [(1, 1, 4, 8, 1), (2, 2, 7, 9, 3)]:
        x, dy, r = (cases.draw("%dx%dx%dx%dx16" % (n, blocks, h, w), "fp16", -1, 1) for blocks in (c1, k1, c1))
        weights = cases.draw("%dx%dx16x16" % (c1, k1), "fp16", -1, 1)
        y = rounded(np.einsum("nchwi,ckoi->nkhwo", wide(x), wide(weights)), "fp16")
        tail = " n=%d c=%d h=%d w=%d k=%d kernel=1x1" % (n, c1 * 16, h, w, k1 * 16)
        sums = {"sum": wide(y).sum((0, 2, 3)), "square_sum": (wide(y) ** 2).sum((0, 2, 3))}
        cases.add("conv2d_moments" + tail, {"x": x, "w": weights},
                  {"y": y, **{name: rounded(s, "fp32").reshape(-1) for name, s in sums.items()}}, (2, 2e-2))
        filter_norm(cases, x, dy, tail)
        dx = wide(rounded(np.einsum("nkhwo,ckoi->nchwi", wide(dy), wide(weights)), "fp16"))
        kept = cases.rng.integers(0, 2, dx.size).astype(bool)
        mask = np.packbits(kept, bitorder="little")
        for more, extra in [(0, {}), (1, {"r": r.reshape(-1)})]:
            result = np.where(kept, (dx + more * wide(r)).reshape(-1), 0)
            cases.add("conv2d_input_masked residual=%d" % more + tail, {"dy": dy, "w": weights, "mask": mask, **extra},
                      {"dx": rounded(result, "fp16")}, (2e-2, 2e-2))


GROUPS = [joined_norms, joined_gradients, masked_sums, columns, fractals, products, joined_products]

if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
