# SPDX-License-Identifier: Apache-2.0
"""Further operators of engines that serve language models against numpy: rotary forms, indices, latent attention.

    engines.py VINCI [options of vecops.py]
"""

import sys

import numpy as np

from vecops import CHAIN, NUMPY, extents, main, rounded, wide

FLOATS = ["fp16", "bf16", "fp32"]


def turned(x, cos, sin, form):
    """x * cos plus x turned by a quarter, times sin; positions first, a head last."""
    if form == "sorted":
        x = np.concatenate([x[..., 0::2], x[..., 1::2]], -1)
    if form == "interleaved":
        quarter = np.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)
    else:
        a, b = np.split(x, 2, -1)
        quarter = np.concatenate([-b, a], -1)
    view = (x.shape[0],) + (1,) * (x.ndim - 2) + (x.shape[-1],)
    return x * cos.reshape(view) + quarter * sin.reshape(view)


def rope_forms(cases):
    """Neighbours that turn together, heads that turn in part, tables by sections."""
    for shape, form, rotary, sections in [
            ("17x1x3x32", "interleaved", None, None), ("331x128", "interleaved", None, None),
            ("97x3x64", "sorted", None, None), ("7x2x160", "interleaved", None, None),
            ("29x5x96", "half", 64, None), ("1x1x48", "sorted", 32, None),
            ("61x3x112", "interleaved", 96, None), ("41x2x128", "half", None, (16, 24, 24)),
            ("5x3x96", "half", 64, (8, 16, 8))]:
        for dtype in ["fp32", "fp16", "bf16"]:
            x = cases.draw(shape, dtype)
            n = rotary or x.shape[-1]
            table = "%dx%d" % (x.shape[0], n)
            cos, sin = (cases.draw("3x" + table if sections else table, dtype) for _ in range(2))
            picked = [wide(cos), wide(sin)]
            if sections:
                part = np.tile(np.repeat(np.arange(3), sections), 2)
                picked = [t[part, :, np.arange(n)].T for t in picked]
            y = np.concatenate([turned(wide(x)[..., :n], *picked, form), wide(x)[..., n:]], -1)
            args = "rope shape=%s dtype=%s form=%s" % (shape, dtype, form)
            args += " rotary=%d" % rotary if rotary else ""
            args += " sections=%dx%dx%d" % sections if sections else ""
            cases.add(args, {"x": x, "cos": cos, "sin": sin}, {"y": rounded(y, dtype)},
                      (CHAIN[dtype][0] * 10, CHAIN[dtype][1]))


def split(cases):
    for tokens, heads, kv_heads, depth, dtype in [(1, 4, 1, 128, "bf16"), (37, 6, 2, 64, "fp16"), (130, 1, 1, 96, "bf16")]:
        x = cases.draw("%dx%d" % (tokens, (heads + 2 * kv_heads) * depth), dtype)
        gamma = [cases.draw("%d" % depth, dtype, 0.5, 2) for _ in range(2)]
        angle = cases.rng.uniform(-3, 3, (tokens, depth // 2))
        cos, sin = (rounded(np.tile(f(angle), 2), dtype) for f in (np.cos, np.sin))
        parts = [p.reshape(tokens, -1, depth) for p in np.split(x, [heads * depth, (heads + kv_heads) * depth], 1)]
        results = {}
        for name, part, weight in zip("qk", parts, gamma):
            wider = wide(part)
            norm = wider / np.sqrt((wider * wider).mean(-1, keepdims=True) + 1e-6) * wide(weight)
            norm = wide(rounded(norm, dtype))
            results[name] = rounded(turned(norm, wide(cos), wide(sin), "half"), dtype)
        results["v"] = parts[2].reshape(tokens, -1)
        limits = {"fp16": (6e-3, 3e-3), "bf16": (5e-2, 2e-2)}[dtype]
        cases.add("split_qkv_rms_norm_rope tokens=%d heads=%d kv_heads=%d head_dim=%d dtype=%s"
                  % (tokens, heads, kv_heads, depth, dtype),
                  {"x": x, "gamma_q": gamma[0], "gamma_k": gamma[1], "cos": cos, "sin": sin}, results, limits)


def latents(cases):
    """What each kernel stores is rounded; slots in any order, and rows of the caches that stay as they are."""
    for tokens, hidden, heads, slots, q_rank, latent, nope, rope, dtype, more in [
            (1, 256, 4, 16, 96, 64, 32, 32, "fp16", ""), (37, 320, 6, 300, 128, 128, 64, 64, "bf16", " norm=0 form=interleaved"),
            (3, 128, 128, 40, 64, 512, 32, 32, "fp16", ""),
            (130, 512, 3, 1000, 192, 512, 128, 64, "fp16", " step=7"), (5, 1024, 16, 64, 1536, 512, 128, 64, "bf16", "")]:
        draw = lambda shape, low, high: cases.draw(shape, dtype, low, high)
        form = "interleaved" if "interleaved" in more else "half"
        step = lambda v: wide(rounded(v, dtype))
        norm = lambda v, gamma: step(v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-6) * wide(gamma))
        x, gammas = draw("%dx%d" % (tokens, hidden), -2, 2), [draw("%d" % n, 0.5, 2) for n in (hidden, q_rank, latent)]
        down = draw("%dx%d" % (latent + rope + q_rank, hidden), -3 / hidden ** 0.5, 3 / hidden ** 0.5)
        up = draw("%dx%d" % (heads * (nope + rope), q_rank), -3 / q_rank ** 0.5, 3 / q_rank ** 0.5)
        key = draw("%dx%dx%d" % (heads, nope, latent), -3 / nope ** 0.5, 3 / nope ** 0.5)
        angle = cases.rng.uniform(-3, 3, (tokens, rope // 2))
        spread = (lambda a: np.tile(a, 2)) if form == "half" else (lambda a: a.repeat(2, -1))
        cos, sin = (rounded(spread(f(angle)), dtype) for f in (np.cos, np.sin))
        caches = [draw("%dx%d" % (slots, n), -2, 2) for n in (latent, rope)]
        slot = cases.rng.permutation(slots)[:tokens].astype(np.int32)
        first = step((wide(x) if "norm=0" in more else norm(wide(x), gammas[0])) @ wide(down).T)
        rows, turning, query = np.split(first, [latent, latent + rope], 1)
        heads_of = step(norm(query, gammas[1]) @ wide(up).T).reshape(tokens, heads, nope + rope)
        after = [c.copy() for c in caches]
        after[0][slot] = rounded(norm(rows, gammas[2]), dtype)
        after[1][slot] = rounded(turned(turning[:, None], wide(cos), wide(sin), form)[:, 0], dtype)
        inputs = {"x": x, "gamma_q": gammas[1], "gamma_latent": gammas[2], "weight_down": down, "weight_up": up,
                  "weight_key": key, "cos": cos, "sin": sin, "slot": slot, "latent_cache": caches[0], "key_cache": caches[1]}
        if "norm=0" not in more:
            inputs["gamma_x"] = gammas[0]
        cases.add("mla_preprocess tokens=%d hidden=%d heads=%d slots=%d q_rank=%d latent=%d nope=%d rope=%d dtype=%s%s"
                  % (tokens, hidden, heads, slots, q_rank, latent, nope, rope, dtype, more), inputs,
                  {"q_latent": rounded(np.einsum("thn,hnl->thl", heads_of[..., :nope], wide(key)), dtype),
                   "q_rope": rounded(turned(heads_of[..., nope:], wide(cos), wide(sin), form), dtype),
                   "latent_cache": after[0], "key_cache": after[1]}, {"fp16": (2e-2, 6e-3), "bf16": (1.5e-1, 4e-2)}[dtype])


def groups(cases):
    for rows, cols, group, dtype in [(1, 256, 128, "bf16"), (37, 1536, 128, "fp16"), (130, 192, 32, "fp32")]:
        x = cases.draw("%dx%d" % (rows, cols), dtype)
        a, b = np.split(wide(x), 2, -1)
        gated = wide(rounded(a / (1 + np.exp(-a)) * b, dtype)).reshape(rows, -1, group)
        scale = np.abs(gated).max(-1) / 127
        request = "swiglu_group_quant rows=%d cols=%d group=%d dtype=%s" % (rows, cols, group, dtype)
        cases.add(request, {"x": x}, {"y": np.rint(gated / scale[..., None]).astype(np.int8)}, (1.0, 0.0))
        cases.add(request, {"x": x}, {"scale": scale.astype(np.float32).reshape(-1)}, CHAIN[dtype])


def updates(cases):
    for rows, depth, parts, dtype in [(1, 128, 2, "fp16"), (331, 64, 3, "bf16"), (97, 512, 2, "fp32"), (7, 33, 3, "fp32")]:
        o = [cases.draw("%dx%d" % (rows, depth), dtype) for _ in range(parts)]
        sums = [cases.draw("%dx1" % rows, "fp32", -30, 90) for _ in range(parts)]  # exp() of these is beyond fp32
        largest = np.max([wide(s) for s in sums], 0)
        weights = [np.exp(wide(s) - largest) for s in sums]
        y = sum(w * wide(p) for w, p in zip(weights, o)) / sum(weights)
        inputs = {"o%d" % i: p for i, p in enumerate(o)}
        inputs.update({"sum%d" % i: p for i, p in enumerate(sums)})
        cases.add("attention_update tokens=%d depth=%d parts=%d dtype=%s" % (rows, depth, parts, dtype), inputs,
                  {"y": rounded(y, dtype)}, (CHAIN[dtype][0] * 10, CHAIN[dtype][1]))


def linear(cases):
    for shape, sizes in [("1", (5,)), ("17x3", (7, 1000)), ("1009", (3, 5, 7)), ("100003", (64, 2, 9, 31))]:
        index = [cases.rng.integers(-n, n, extents(shape)).astype(np.int32) for n in sizes]
        y = np.ravel_multi_index([np.where(i < 0, i + n, i) for i, n in zip(index, sizes)], sizes)
        cases.add("linear_index shape=%s sizes=%s" % (shape, "x".join(str(n) for n in sizes)),
                  {"x" + (str(k) if k else ""): i for k, i in enumerate(index)}, {"y": y.astype(np.int32)})


def fills(cases):
    for shape, count, first, step, dtype in [("1x1", 1, 0, 1, "fp32"), ("100x33", 7, 95, 3, "bf16"), ("17x5x7", 17, 2, 5, "int32"),
                                             ("331x64", 40, 0, 7, "fp16")]:
        x = cases.draw(shape, dtype)
        rows = (first + np.arange(count) * step) % x.shape[0]
        y = x.copy()
        y[rows] = rounded(-7, dtype)
        cases.add("index_fill shape=%s count=%d first=%d step=%d dtype=%s value=-7" % (shape, count, first, step, dtype),
                  {"x": x, "x1": rows.astype(np.int32)}, {"y": y})


def sparse(cases):
    for tokens, slots, heads, k, latent, rope, dtype in [(1, 40, 16, 128, 64, 32, "fp16"), (3, 1000, 8, 1024, 512, 64, "bf16"),
                                                         (5, 300, 33, 384, 128, 64, "fp16")]:
        cache = cases.draw("%dx%d" % (slots, latent + rope), dtype, -1, 1)
        q = cases.draw("%dx1x%dx%d" % (tokens, heads, latent + rope), dtype, -1, 1)
        index = ((3 + np.arange(tokens * k) * 7) % slots).reshape(tokens, k)
        rows = wide(cache)[index]
        scores = np.einsum("thd,tkd->thk", wide(q)[:, 0], rows) * 0.1
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        o = np.einsum("thk,tkd->thd", weights / weights.sum(-1, keepdims=True), rows[..., :latent])
        table = cases.rng.integers(0, 9, (tokens, -(-(k // next(b for b in (128, 64, 32, 16) if k % (8 * b) == 0)) // 8) * 8))
        cases.add("sparse_flash_attention tokens=%d slots=%d heads=%d k=%d latent=%d rope=%d first=3 step=7 scale=0.1 "
                  "dtype=%s" % (tokens, slots, heads, k, latent, rope, dtype),
                  {"q": q, "cache": cache, "chosen": index.astype(np.int32).reshape(-1), "block_table": table.astype(np.int32)},
                  {"o": rounded(o[:, None], dtype)}, {"fp16": (1e-3, 4e-3), "bf16": (8e-3, 3e-2)}[dtype])


def indexers(cases):
    """Small whole numbers, so that all sums are exact in every type; equal sums make the order open, but not the sums."""
    for tokens, keys, heads, depth, k, dtype in [(2, 64, 16, 64, 8, "fp16"), (5, 1000, 64, 128, 128, "bf16"), (33, 257, 8, 32, 31, "fp16")]:
        q = rounded(cases.rng.integers(-1, 2, (tokens, heads, depth)).astype(np.float64), dtype)
        key = rounded(cases.rng.integers(-1, 2, (keys, depth)).astype(np.float64), dtype)
        weight = rounded(cases.rng.integers(-2, 3, (tokens, 1, heads)).astype(np.float64), dtype)
        scores = np.maximum(wide(q) @ wide(key).T, 0)
        total = (wide(weight) @ scores)[:, 0]
        y = -np.sort(-total, -1)[:, :k]
        cases.add("lightning_indexer tokens=%d keys=%d heads=%d head_dim=%d k=%d dtype=%s" % (tokens, keys, heads, depth, k, dtype),
                  {"query": q, "key": key, "weight": weight}, {"y": y.astype(np.float32)})


def mixed_products(cases):
    for batch, m, k, n, dtype, tiling in [(4, 1, 64, 128, "bf16", ""), (16, 33, 100, 70, "fp16", ""), (3, 130, 300, 36, "fp32", ""),
                                          (7, 300, 200, 130, "fp16", "tile=64x64x64 panel=64x128 cores=3"),
                                          (130, 17, 512, 64, "bf16", ""), (1, 40, 48, 64, "fp16", "")]:
        a, b = cases.draw("%dx%dx%d" % (m, batch, k), dtype, -1, 1), cases.draw("%dx%dx%d" % (batch, k, n), dtype, -1, 1)
        c = np.einsum("mbk,bkn->mbn", wide(a), wide(b))
        limits = (k * (k + 1) * 2.0 ** -24, {"fp16": 2.0 ** -10, "bf16": 2.0 ** -7, "fp32": 2.0 ** -23}[dtype])
        if batch == 1:
            a, b, c = a[:, 0], b[0], c[:, 0]
        cases.add("batch_matmul batch=%d m=%d k=%d n=%d dtype=%s mixed=1 %s" % (batch, m, k, n, dtype, tiling), {"a": a, "b": b},
                  {"c": rounded(c, dtype)}, limits)


def elements(cases):
    for shape, count, dtype in [("1x1", 1, "fp32"), ("17x33", 50, "fp16"), ("331x128", 8, "bf16"), ("3x5x1031", 700, "int32"),
                                ("9x2000", 2000, "int16")]:
        x = cases.draw(shape, dtype)
        index = cases.rng.integers(0, x.shape[-1], x.shape[:-1] + (count,)).astype(np.int32)
        cases.add("gather_elements shape=%s count=%d dtype=%s" % (shape, count, dtype), {"x": x, "x1": index},
                  {"y": np.take_along_axis(x, index, -1)})


def strided(cases):
    for shape, out, strides, offset, dtype in [("1", "1", "1", 0, "fp32"), ("17x40", "17x33", "40x1", 3, "fp16"),
                                               ("100x64", "3x5x7", "200x64x2", 5, "fp32"), ("9x130", "2x4x100", "520x130x1", 2, "bf16"),
                                               ("1000", "3x30x5", "301x10x1", 11, "int32"), ("31x64", "40x31", "1x64", 0, "int8")]:
        x = cases.draw(shape, dtype)
        of = extents(out)
        places = sum((np.arange(n) * int(s)).reshape([-1 if i == d else 1 for i in range(len(of))])
                     for d, (n, s) in enumerate(zip(of, strides.split("x"))))
        cases.add("as_strided shape=%s out=%s strides=%s offset=%d dtype=%s" % (shape, out, strides, offset, dtype), {"x": x},
                  {"y": x.reshape(-1)[offset + places]})


GROUPS = [rope_forms, split, latents, groups, updates, linear, fills, sparse, indexers, mixed_products,
          elements, strided]

if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
