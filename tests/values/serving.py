# SPDX-License-Identifier: Apache-2.0
"""Operators of engines that serve language models against numpy: quantised products and rows, routing, sampling.

    serving.py VINCI [options of vecops.py]
"""

import sys

import numpy as np

from vecops import CHAIN, EXACT, NUMPY, ROUNDED, extents, main, rounded, wide

FLOATS = ["fp16", "bf16", "fp32"]


def product_limits(a, b, dtype):
    """k sums, each rounded to fp32, and the rounding of the result."""
    bound = float((np.abs(a) @ np.abs(b)).max())
    return (bound * (a.shape[1] + 1) * 2.0 ** -24, {"fp16": 2.0 ** -10, "bf16": 2.0 ** -7, "fp32": 2.0 ** -23}[dtype])


def packed(weights):
    """Pairs of 4 bits, the first in the lower half."""
    return ((weights[:, 0::2] & 15) | (weights[:, 1::2] << 4)).astype(np.uint8).view(np.int8)


def weight_quant(cases):
    table = [(1, 64, 64, "fp16", 8, 0, 0, 0, 0, ""), (17, 300, 200, "fp16", 8, 0, 1, 0, 1, ""),
             (5, 1000, 336, "bf16", 8, 0, 1, 1, 0, ""), (33, 512, 130, "fp16", 8, 64, 0, 0, 0, ""),
             (16, 384, 520, "bf16", 8, 128, 1, 1, 1, ""), (3, 640, 1000, "fp16", 4, 0, 0, 0, 0, ""),
             (130, 512, 96, "fp16", 4, 64, 1, 1, 0, ""), (64, 768, 258, "bf16", 4, 256, 1, 0, 0, ""),
             (700, 200, 600, "fp16", 8, 0, 0, 0, 0, "tile=128x64x128 panel=64x128"),
             (300, 256, 900, "fp16", 8, 0, 1, 1, 0, "tile=64x64x128 panel=64x256 resident=b"),
             (300, 256, 900, "bf16", 4, 64, 0, 0, 0, "tile=64x64x128 panel=256x64 resident=a cores=3"),
             (40, 1000, 520, "fp16", 8, 0, 0, 0, 1, "tile=16x32x64 panel=32x96 cores=2")]
    for m, k, n, dtype, bits, group, offsets, turned, bias, tiling in table:
        low = -128 if bits == 8 else -8
        w = cases.rng.integers(low, -low, (k, n))
        groups = -(-k // group) if group else 1
        of_k = np.arange(k) // (group or k)
        scale = cases.draw("%dx%d" % (groups, n), dtype, 0.001, 0.05)
        offset = cases.draw("%dx%d" % (groups, n), dtype, -9, 9)
        a = cases.draw("%dx%d" % (m, k), dtype, -1, 1)
        sums = w + wide(offset)[of_k] if offsets else w.astype(np.float64)
        # In fp16 a sum of a weight and an offset is rounded, then the product; fp32 has room for both.
        sums = wide(rounded(sums, dtype)) if dtype == "fp16" else wide(sums.astype(np.float32))
        b = wide(rounded(sums * wide(scale)[of_k], dtype))
        x = cases.draw("%d" % n, "fp32", -3, 3)
        inputs = {"a": a, "w": w.T if turned else w, "scale": scale}
        inputs["w"] = inputs["w"].astype(np.int8) if bits == 8 else packed(inputs["w"])
        if offsets:
            inputs["offset"] = offset
        if bias:
            inputs["bias"] = x
        c = wide(a) @ b + (wide(x) if bias else 0)
        limits = product_limits(wide(a), b, dtype)
        cases.add("weight_quant_matmul m=%d k=%d n=%d dtype=%s bits=%d group=%d offsets=%d transpose_b=%d bias=%d %s"
                  % (m, k, n, dtype, bits, group, offsets, turned, bias, tiling), inputs,
                  {"c": rounded(c, dtype)}, (limits[0] * 2, limits[1]))


def quant(cases):
    table = [(1, 64, 64, "fp16", 1, 0, 0, ""), (17, 300, 200, "bf16", 1, 1, 0, ""), (130, 1000, 336, "fp16", 0, 0, 1, ""),
             (33, 515, 130, "bf16", 0, 1, 1, ""), (700, 256, 900, "fp16", 1, 0, 0, "tile=64x64x128 panel=64x128 cores=3"),
             (300, 320, 260, "bf16", 1, 1, 1, "tile=128x64x96 panel=64x320 resident=b"),
             (129, 96, 2000, "fp16", 1, 1, 0, "tile=16x32x256 panel=96x32 cores=2")]
    for m, k, n, dtype, tokens, turned, bias, tiling in table:
        a, b = cases.draw("%dx%d" % (m, k), "int8", -128, 127), cases.draw("%dx%d" % (k, n), "int8", -128, 127)
        sums = a.astype(np.int64) @ b.astype(np.int64)
        inputs = {"a": a, "b": b.T if turned else b}
        if bias:
            inputs["bias"] = cases.draw("%d" % n, "int32", -100000, 100000)
            sums = sums + inputs["bias"]
        if tokens or dtype == "bf16":
            scale = cases.draw("%d" % n, "fp32", 1e-4, 1e-2)
            inputs["scale"] = scale
        else:  # words of the fixpipe: fp32 without its last 13 bits
            bits = cases.draw("%d" % n, "fp32", 1e-4, 1e-2).view(np.uint32) >> 13 << 13
            scale = bits.view(np.float32)
            inputs["scales"] = bits.astype(np.int64)
        c = sums * wide(scale)
        if tokens:
            inputs["token_scale"] = cases.draw("%d" % m, "fp32", 1e-3, 1)
            c = c * wide(inputs["token_scale"])[:, None]
        cases.add("quant_matmul m=%d k=%d n=%d out_dtype=%s tokens=%d transpose_b=%d bias=%d %s"
                  % (m, k, n, dtype, tokens, turned, bias, tiling), inputs, {"c": rounded(c, dtype)},
                  ROUNDED[dtype])


def grouped(cases):
    table = [("5", 3, 64, 48, "fp16", 0, ""), ("100x0x7", 3, 300, 200, "bf16", 1, ""), ("0x33x0x0x1", 12, 96, 336, "fp16", 0, ""),
             ("17x260x1", 5, 128, 130, "fp16", 1, "tile=64x64x64 panel=64x128 cores=3"),
             ("0x5", 2, 256, 64, "int8", 0, ""), ("100x0x70x3", 7, 320, 200, "int8", 1, "tile=32x64x64 cores=4")]
    for rows, count, k, n, dtype, turned, tiling in table:
        listed = [int(r) for r in rows.split("x")]
        each = [listed[i % len(listed)] for i in range(count)]
        a = cases.draw("%dx%d" % (sum(each), k), dtype, -100, 100)
        b = cases.draw("%dx%dx%d" % (count, k, n), dtype, -100, 100)
        if dtype != "int8":
            a, b = rounded(a / 100, dtype), rounded(b / 100, dtype)
        inputs, of_row = {"a": a, "b": b.transpose(0, 2, 1) if turned else b}, np.repeat(np.arange(count), each)
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        c = np.einsum("mk,mkn->mn", wide_a, wide_b[of_row])
        limits = product_limits(wide_a, np.abs(wide_b).max(0), "fp16" if dtype == "int8" else dtype)
        words = ""
        if dtype == "int8":
            words, limits = "out_dtype=bf16 tokens=1", ROUNDED["bf16"]
            inputs["scale"] = cases.draw("%dx%d" % (count, n), "fp32", 1e-4, 1e-2)
            inputs["token_scale"] = cases.draw("%d" % sum(each), "fp32", 1e-3, 1)
            c = c * wide(inputs["scale"])[of_row] * wide(inputs["token_scale"])[:, None]
        cases.add("grouped_matmul rows=%s groups=%d k=%d n=%d dtype=%s transpose_b=%d %s %s"
                  % (rows, count, k, n, dtype, turned, words, tiling), inputs,
                  {"c": rounded(c, "bf16" if dtype == "int8" else dtype)}, limits)


def narrow(cases, request, inputs, value, more, dtype):
    """8 bits with a scale of each row. Quotients half way between whole numbers may go either way."""
    scale = np.maximum(np.abs(value).max(-1) / 127, 1e-30)
    y = np.rint(value / scale[..., None])
    cases.add(request, inputs, {"y": y.astype(np.int8)}, (1.0, 0.0))
    cases.add(request, inputs, {"scale": scale.astype(np.float32).reshape(-1), **more}, CHAIN[dtype])


def quant_rows(cases):
    for i, shape in enumerate(["1x15", "17x127", "255x64", "5x3x1031", "33x2048", "7x8192", "300x33"]):
        for dtype in FLOATS if i in (1, 4) else [FLOATS[(i + 1) % 3]]:
            x, x1 = cases.draw(shape, dtype), cases.draw(shape, dtype)
            if i == 1:
                x[3] = x1[3] = 0
            cols = x.shape[-1]
            gamma = cases.draw("%d" % cols, dtype, 0.5, 2)
            root = lambda v: v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-5) * wide(gamma)
            tail = " shape=%s dtype=%s" % (shape, dtype)
            narrow(cases, "rms_norm_dynamic_quant" + tail, {"x": x, "gamma": gamma}, root(wide(x)), {}, dtype)
            total = wide(x) + wide(x1)
            narrow(cases, "add_rms_norm_dynamic_quant" + tail, {"x": x, "x1": x1, "gamma": gamma}, root(total),
                   {"y1": rounded(total, dtype)}, dtype)
            scales = cases.draw("%d" % cols, dtype, 0.01, 0.05)
            offsets = rounded(np.rint(cases.draw("%d" % cols, dtype, -20, 20).astype(np.float32)), dtype)
            fixed = np.clip(np.rint(root(total) / wide(scales) + wide(offsets)), -128, 127)
            cases.add("add_rms_norm_quant" + tail,
                      {"x": x, "x1": x1, "gamma": gamma, "scales": scales, "offsets": offsets},
                      {"y": fixed.astype(np.int8)}, (1.0, 0.0))
    gate = lambda v: (lambda a, b: a / (1 + np.exp(-a)) * b)(*np.split(v, 2, -1))
    for i, shape in enumerate(["1x30", "17x254", "255x128", "5x3x2062", "33x4096", "7x12000", "300x66"]):
        for dtype in FLOATS if i in (1, 4) else [FLOATS[i % 3]]:
            x = cases.draw(shape, dtype)
            narrow(cases, "swiglu_quant shape=%s dtype=%s" % (shape, dtype), {"x": x}, gate(wide(x)), {}, dtype)
        x = cases.draw(shape, "int32", -100000, 100000)
        rows = x.size // x.shape[-1]
        columns, tokens = cases.draw("%d" % x.shape[-1], "fp32", 1e-4, 1e-2), cases.draw("%d" % rows, "fp32", 1e-3, 1e-1)
        value = x * wide(columns) * wide(tokens).reshape(x.shape[:-1] + (1,))
        narrow(cases, "dequant_swiglu_quant shape=%s" % shape,
               {"x": x, "weight_scale": columns, "token_scale": tokens}, gate(value), {}, "fp32")


def routing(cases):
    for shape, k, dtype in [("1x16", 1, "fp32"), ("33x64", 6, "fp32"), ("257x128", 8, "fp16"), ("19x256", 8, "bf16")]:
        x = cases.draw(shape, dtype, -9, 9)
        for row in x:  # no two alike, so that the order is known
            row[:] = rounded(cases.rng.permutation(row.size) / 32.0 - 3, dtype)
        exact = np.exp(wide(x) - wide(x).max(-1, keepdims=True))
        order = np.argsort(-exact, -1, kind="stable")[:, :k]
        y = np.take_along_axis(exact / exact.sum(-1, keepdims=True), order, -1)
        cases.add("moe_gating_top_k_softmax shape=%s k=%d dtype=%s" % (shape, k, dtype), {"x": x},
                  {"y": rounded(y, dtype)}, CHAIN[dtype])
        if dtype == "fp32":  # probabilities of other types may be equal
            cases.add("moe_gating_top_k_softmax shape=%s k=%d dtype=%s" % (shape, k, dtype), {"x": x},
                      {"expert": order.astype(np.int32)})
    for tokens, hidden, k, step, dtype in [(1, 64, 1, 0, "fp16"), (37, 129, 6, 7, "fp32"), (500, 1031, 3, 7919, "bf16"),
                                           (17, 7000, 8, 3, "int8")]:
        # Of a few experts, of all that a token may take twice, and of one alone; whatever the keys state.
        for experts in (255, 3, 0) if tokens < 500 else (255,):
            x = cases.draw("%dx%d" % (tokens, hidden), dtype)
            expert = cases.draw("%d" % (tokens * k), "int32", 0, experts) * 2
            order = np.argsort(expert, kind="stable")
            cases.add("moe_init_routing tokens=%d hidden=%d k=%d first=2 step=%d dtype=%s" % (tokens, hidden, k, step, dtype),
                      {"x": x, "expert": expert}, {"y": x[order // k], "sorted": expert[order]})
    for tokens, hidden, k, dtype, dtype1, tiling in [
            (1, 64, 1, "fp16", "fp32", ""), (37, 129, 6, "fp32", "fp32", ""), (501, 1031, 3, "bf16", "bf16", ""),
            (17, 7168, 8, "fp16", "fp16", ""), (19, 300, 2, "fp16", "fp32", "rows=3 cols=96 buffers=2 blocks=2")]:
        x, weight = cases.draw("%dx%d" % (tokens * k, hidden), dtype), cases.draw("%dx%d" % (tokens, k), dtype1, -1, 1)
        index = cases.draw("%dx%d" % (tokens, k), "int32", 0, tokens * k - 1)  # any row, none or several times
        y = (wide(x)[index] * wide(weight)[:, :, None]).sum(1)
        cases.add("moe_finalize_routing tokens=%d hidden=%d k=%d dtype=%s dtype1=%s %s"
                  % (tokens, hidden, k, dtype, dtype1, tiling), {"x": x, "weight": weight, "index": index},
                  {"y": rounded(y, dtype)}, (CHAIN[dtype][0] + 3e-6 * k, CHAIN[dtype][1]))


def sums(cases):
    for i, shape in enumerate(["1", "65", "17x127", "3x4096", "5x4097", "2x3x10007", "100x64"]):
        for dtype in FLOATS if i in (2, 4) else [FLOATS[i % 3]]:
            x = cases.draw(shape, dtype, 0, 1)
            cases.add("cumsum shape=%s dtype=%s" % (shape, dtype), {"x": x},
                      {"y": rounded(np.cumsum(wide(x), -1), dtype)}, CHAIN[dtype])
            whole = rounded(np.rint(cases.draw(shape, "fp32", -3, 3)), dtype)  # exact, of both signs
            if dtype != "bf16":
                cases.add("cumsum shape=%s dtype=%s" % (shape, dtype), {"x": whole},
                          {"y": np.cumsum(whole.astype(np.float64), -1).astype(whole.dtype)})
            # From the end, and without the element itself: exact, so that nothing is lost by subtracting.
            exact = whole.astype(np.float64)
            back = np.flip(np.cumsum(np.flip(exact, -1), -1), -1)
            fits = dtype != "bf16" or exact.shape[-1] < 128
            for words, y in [("exclusive=1", np.cumsum(exact, -1) - exact), ("reverse=1", back),
                             ("exclusive=1 reverse=1", back - exact)] if fits else []:
                cases.add("cumsum shape=%s dtype=%s %s" % (shape, dtype, words), {"x": whole},
                          {"y": y.astype(whole.dtype)})


def masks(cases):
    for shape, shape1 in [("1", "1"), ("17x127", "17x127"), ("127", "17x127"), ("5x1x33", "5x7x33"), ("100003", "100003")]:
        for i, dtype in enumerate(FLOATS):
            x, mask = cases.draw(shape1, dtype), cases.draw(shape, "uint8", 0, 1)
            x.reshape(-1)[:3] = np.array([np.inf, -np.inf, -0.0])[:x.size]
            value = [-10000.0, -np.inf, 0.5][i]
            cases.add("masked_fill shape=%s shape1=%s dtype=%s value=%g" % (shape, shape1, dtype, max(value, -65504)),
                      {"mask": mask, "x": x}, {"y": np.where(mask != 0, rounded(max(value, -65504), dtype), x)})
    for shape in ["1", "17x127", "100003"]:
        for dtype in FLOATS + ["int32", "int16"]:
            x = cases.draw(shape, dtype, -9, 9)
            cases.add("clip shape=%s dtype=%s low=-3 high=4" % (shape, dtype), {"x": x}, {"y": np.clip(x, -3, 4)})
        x, x1 = cases.draw(shape, "fp32", 0, 1), cases.draw(shape, "fp32", 0, 2)
        cases.add("top_p_mask shape=%s p=0.75" % shape, {"x": x, "x1": x1},
                  {"y": np.where(x1 - x < np.float32(0.75), x, np.float32(0))})


def fused(cases):
    for tokens, experts, k in [(1, 16, 2), (37, 256, 8), (300, 64, 6)]:
        x = (cases.rng.permuted(np.arange(tokens * experts).reshape(tokens, experts), axis=1) / 2000.0 - 2).astype(np.float32)
        bias = cases.draw("%d" % experts, "fp32", 0, 1)
        value = 1 / (1 + np.exp(-wide(x))) + wide(bias)
        order = np.argsort(-value, -1, kind="stable")[:, :k]
        cases.add("moe_gating_top_k tokens=%d experts=%d k=%d" % (tokens, experts, k), {"x": x, "bias": bias},
                  {"y": np.take_along_axis(value, order, -1).astype(np.float32)}, CHAIN["fp32"])
    for tokens, slots, latent, rope in [(1, 16, 512, 64), (37, 100, 96, 32)]:
        x, key = cases.draw("%dx%d" % (tokens, latent), "fp16"), cases.draw("%dx%d" % (tokens, rope), "fp16")
        gamma = cases.draw("%d" % latent, "fp16", 0.5, 2)
        angle = cases.rng.uniform(-3, 3, (tokens, rope // 2)).repeat(2, 0).reshape(tokens, rope)
        cos, sin = (rounded(f(angle), "fp16") for f in (np.cos, np.sin))
        half = rope // 2
        turned = np.concatenate([-wide(key)[..., half:], wide(key)[..., :half]], -1)
        y = wide(key) * wide(cos) + turned * wide(sin)
        norm = wide(x) / np.sqrt((wide(x) ** 2).mean(-1, keepdims=True) + 1e-6) * wide(gamma)
        caches = [cases.draw("%dx%d" % (slots, w), "fp16") for w in (latent, rope)]
        after = [c.copy() for c in caches]
        after[0][:tokens], after[1][:tokens] = norm.astype(np.float16), y.astype(np.float16)
        cases.add("kv_rms_norm_rope_cache tokens=%d slots=%d latent=%d rope=%d dtype=fp16" % (tokens, slots, latent, rope),
                  {"latent": x, "gamma": gamma, "key": key, "cos": cos, "sin": sin,
                   "slot": np.arange(tokens, dtype=np.int32), "latent_cache": caches[0], "key_cache": caches[1]},
                  {"latent_cache": after[0], "key_cache": after[1]}, (2e-3, 3e-3))
    for tokens, words in [(1, 100), (5, 4097), (40, 300)]:
        x = (cases.rng.permuted(np.arange(tokens * words).reshape(tokens, words), axis=1) / 500.0).astype(np.float32) % 11
        order = np.argsort(-x, -1, kind="stable")
        exact = np.exp(np.take_along_axis(wide(x), order, -1) - wide(x).max(-1, keepdims=True))
        exact /= exact.sum(-1, keepdims=True)
        kept = np.where(np.cumsum(exact, -1) - exact < 0.8, exact, 0)
        cases.add("top_k_top_p tokens=%d words=%d p=0.8" % (tokens, words), {"x": x}, {"y": kept.astype(np.float32)},
                  (exact.min() * 3 + 1e-4, 1e-4))
        x, noise = cases.draw("%dx%d" % (tokens, words), "fp32", 0, 1), cases.draw("%dx%d" % (tokens, words), "fp32", 0.1, 9)
        cases.add("sample tokens=%d words=%d" % (tokens, words), {"x": x, "noise": noise},
                  {"y": (x / noise).argmax(-1).astype(np.int32)})
    for rows, count, k, n in [("5", 3, 64, 64), ("0x33x2", 7, 96, 128)]:
        listed = [int(r) for r in rows.split("x")]
        each = [listed[i % len(listed)] for i in range(count)]
        a, b = cases.draw("%dx%d" % (sum(each), k), "int8", -99, 99), cases.draw("%dx%dx%d" % (count, k, n), "int8", -99, 99)
        scale, tokens = cases.draw("%dx%d" % (count, n), "fp32", 1e-5, 1e-3), cases.draw("%d" % sum(each), "fp32", 1e-3, 1)
        of_row = np.repeat(np.arange(count), each)
        c = np.einsum("mk,mkn->mn", a.astype(np.float64), b.astype(np.float64)[of_row])
        c = wide(rounded(c * wide(scale)[of_row] * wide(tokens)[:, None], "bf16"))
        left, right = np.split(c, 2, -1)
        value = left / (1 + np.exp(-left)) * right
        cases.add("grouped_matmul_swiglu_quant rows=%s groups=%d k=%d n=%d" % (rows, count, k, n),
                  {"a": a, "b": b, "weight_scale": scale, "token_scale": tokens},
                  {"scale": np.maximum(np.abs(value).max(-1) / 127, 1e-30).astype(np.float32)}, (1e-7, 2e-2))


GROUPS = [weight_quant, quant, grouped, quant_rows, routing, sums, masks, fused]

if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
