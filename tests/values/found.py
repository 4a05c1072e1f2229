# SPDX-License-Identifier: Apache-2.0
"""Operators whose results are as many as the data say, losses of classes, means of windows, against numpy.

    found.py VINCI [options of vecops.py]
"""

import sys

import numpy as np

from vecops import CHAIN, NUMPY, extents, main, rounded, wide

ALL = ["fp16", "bf16", "fp32", "int8", "uint8", "int16", "int32", "int64"]


def spread(rng, elements, count, where):
    """A mask that keeps `count` elements: anywhere, or as near to the begin or the end as they can be."""
    mask = np.zeros(elements, np.uint8)
    if where == "anywhere":
        mask[rng.permutation(elements)[:count]] = 1
    else:
        mask[slice(0, count) if where == "begin" else slice(elements - count, elements)] = 1
    return mask


# Tiles and blocks that keep all or nothing are among these, with tilings that are chosen and given.
CASES = [("1", 1, "begin", ""), ("4", 1, "anywhere", ""), ("17x3", 51, "anywhere", ""), ("127", 5, "end", "cols=127 blocks=1"),
         ("31x33", 500, "anywhere", ""), ("5x1009", 1003, "begin", "cols=512 blocks=3"), ("100003", 1, "end", ""),
         ("100003", 99991, "anywhere", "cols=1024 blocks=7 buffers=1"), ("3x5x7x401", 20000, "end", "cols=1536 buffers=2 blocks=2"),
         ("43008", 5120, "end", "cols=512 blocks=8 buffers=2")]


def selects(cases):
    for shape, count, where, tiling in CASES:
        for dtype in ALL:
            x = cases.draw(shape, dtype)
            if NUMPY[dtype] in (np.float16, np.float32):
                x.flat[0] = np.nan if count > 1 else np.inf
            mask = spread(cases.rng, x.size, count, where).reshape(x.shape)
            cases.add("masked_select shape=%s count=%d dtype=%s %s" % (shape, count, dtype, tiling),
                      {"x": x, "mask": mask}, {"y": x[mask != 0]})


def nonzeros(cases):
    for shape, count, where, tiling in CASES:
        for dtype in ALL[:-1]:
            size = int(np.prod(extents(shape)))
            mask = spread(cases.rng, size, count, where).reshape(extents(shape))
            x = cases.draw(shape, dtype)
            x[x == 0] = 3
            if NUMPY[dtype] in (np.float16, np.float32):  # neither is 0, and the smallest is no 0
                x[cases.rng.random(x.shape) < 0.1] = np.nan
                x[cases.rng.random(x.shape) < 0.1] = -np.inf
                x[cases.rng.random(x.shape) < 0.1] = 2.0 ** -24
            x = np.where(mask != 0, x, np.zeros(1, x.dtype))
            if NUMPY[dtype] in (np.float16, np.float32):
                x[(mask == 0) & (cases.rng.random(x.shape) < 0.5)] = -0.0
            cases.add("nonzero shape=%s count=%d dtype=%s %s" % (shape, count, dtype, tiling), {"x": x},
                      {"y": np.stack(np.nonzero(mask)).astype(np.int64)})


def losses(cases):
    for rows, classes in [(1, 1), (32, 1000), (17, 3), (3, 10007), (509, 129), (7, 64)]:
        for dtype, dtype1 in [("fp32", "int64"), ("fp32", "int32"), ("fp16", "int64"), ("bf16", "int32")]:
            x = cases.draw("%dx%d" % (rows, classes), dtype, -9, 0)
            weight = cases.draw("1x%d" % classes, dtype, 0.5, 2)
            target = cases.rng.integers(0, classes, (rows, 1)).astype(dtype1)
            target[rows // 2 + 1:rows // 2 + 3] = -100  # no class: no part of the loss
            at = np.arange(classes) == target
            weights = np.where(at, wide(weight), 0)
            far = np.where(cases.rng.random(x.shape) < 0.1, -np.inf, x).astype(x.dtype)  # elsewhere it does not count
            x = np.where(at, x, far)
            terms = -weights * np.where(at, wide(x), 0)
            inputs = {"x": x, "target": target, "weight": weight}
            tail = " shape=%dx%d dtype=%s dtype1=%s" % (rows, classes, dtype, dtype1)
            cases.add("nll_loss_rows" + tail, inputs, {"terms": rounded(terms, dtype), "weights": rounded(weights, dtype)},
                      CHAIN[dtype])
            total = weights.sum().reshape(1)
            some = (CHAIN[dtype][0] * 4, CHAIN[dtype][1] * 4)
            if dtype == "fp32":
                for reduction, loss in [("mean", terms.sum().reshape(1) / total), ("sum", terms.sum().reshape(1)),
                                        ("none", terms.sum(1))]:
                    cases.add("nll_loss reduction=%s%s" % (reduction, tail), inputs,
                              {"loss": rounded(loss, dtype), "total_weight": rounded(total, dtype)}, some)
            total = cases.draw("1x1", dtype, 1, 30)
            for reduction in ["mean", "sum", "none"]:
                dy = cases.draw("%dx1" % (rows if reduction == "none" else 1), dtype)
                dx = -weights * wide(dy) / (wide(total) if reduction == "mean" else 1)
                given = {"weight": weight, "target": target, "dy": dy}
                if reduction == "mean":
                    given["total_weight"] = total
                cases.add("nll_loss_grad reduction=%s%s" % (reduction, tail), given, {"dx": rounded(dx, dtype)}, CHAIN[dtype])


def pools(cases):
    for shape, out in [("1x1x1x1x1", "1x1x1"), ("3x1x6x6x16", "1x6x6"), ("2x1x12x10x33", "1x3x5"), ("1x1x7x9x129", "1x7x1"),
                       ("3x4x6x8x5", "2x3x2"), ("2x9x1x4x64", "1x1x4"), ("1x4x61x59x41", "2x61x59")]:
        for dtype in ["fp32", "fp16", "bf16"]:
            n, d, h, w, c = extents(shape)
            od, oh, ow = extents(out)
            x, dy = cases.draw(shape, dtype), cases.draw("%dx%s" % (n, out) + "x%d" % c, dtype)
            parts = wide(x).reshape(n, od, d // od, oh, h // oh, ow, w // ow, c)
            cases.add("adaptive_avg_pool shape=%s out=%s dtype=%s" % (shape, out, dtype), {"x": x.reshape(-1)},
                      {"y": rounded(parts.mean((2, 4, 6)).reshape(-1), dtype)}, (CHAIN[dtype][0] * 3, CHAIN[dtype][1] * 3))
            dx = np.broadcast_to((wide(dy) * od * oh * ow / (d * h * w))[:, :, None, :, None, :, None], parts.shape)
            cases.add("adaptive_avg_pool_grad shape=%s out=%s dtype=%s" % (shape, out, dtype), {"dy": dy},
                      {"dx": rounded(dx.reshape(x.shape), dtype)}, CHAIN[dtype])


def philox(counters, key):
    """Philox-4x32-10 from its definition: counters of four words a row, a key of two words."""
    words, low = [counters[:, i].astype(np.uint64) for i in range(4)], np.uint64(0xffffffff)
    keys = [np.uint64(k) for k in key]
    for _ in range(10):
        first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [(second >> np.uint64(32)) ^ words[1] ^ keys[0], second & low,
                 (first >> np.uint64(32)) ^ words[3] ^ keys[1], first & low]
        keys = [(keys[0] + np.uint64(0x9E3779B9)) & low, (keys[1] + np.uint64(0xBB67AE85)) & low]
    return np.stack(words, 1).astype(np.uint32)


def mask_bits(size, keep, seed, seed1, offset):
    """Bits in the order that the operator documents, as many as whole 128 bits have."""
    groups = -(-size // 1024)
    counters = np.zeros((groups * 256, 4), np.uint32)
    counters[:, 0], counters[:, 2] = np.arange(groups * 256), offset
    words = philox(counters, (seed, seed1)).reshape(groups, 256, 4).transpose(0, 2, 1).reshape(-1)
    bits = (words >> 8).astype(np.float64) < round(keep * 2 ** 24)
    return np.packbits(bits, bitorder="little")[:-(-size // 128) * 16]


def masks(cases):
    # The test vector that the authors publish for a counter and a key of zeros.
    known = philox(np.zeros((1, 4), np.uint32), (0, 0))[0]
    assert [hex(word) for word in known] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    for shape, keep, keys in [("1", 0.5, (0, 0, 0)), ("1024", 0.9, (1, 2, 3)), ("3x1000", 0.1, (2147483647, 5, 0)),
                              ("129", 0, (7, 0, 0)), ("4100", 1, (7, 0, 0)), ("65536", 0.5, (0, 2147483647, 2147483647)),
                              ("17x3001 cols=3 blocks=5 buffers=1", 0.3, (42, 0, 9)), ("100003 cols=1 blocks=7", 1 / 3, (3, 1, 4))]:
        size = int(np.prod(extents(shape.split()[0])))
        cases.add("dropout_mask shape=%s keep=%.17g seed=%d seed1=%d offset=%d" % (shape, keep, *keys), {},
                  {"y": mask_bits(size, keep, *keys)})


def histograms(cases):
    """The bin in single precision, as documented; elements outside and NaN are in none, the end is in the last bin."""
    for shape, bins, low, high in [("1", 1, 0, 1), ("7x9", 5, -1, 1), ("100003", 100, -0.7, 0.3), ("4096", 256, -2, 2),
                                   ("65x63", 384, -1, 1), ("3x12289", 10, 0, 7)]:
        for dtype in ["fp32", "fp16", "bf16", "int32"]:
            x = cases.draw(shape, dtype, -1.5, 1.5) if dtype != "int32" else cases.draw(shape, dtype, -9, 9)
            if dtype != "int32":
                x.flat[::5] = rounded(np.array(high), dtype)
                x.flat[1::7] = rounded(np.array(low), dtype)
                x.flat[2::11], x.flat[3::13], x.flat[4::17] = np.nan, np.inf, -np.inf
            number = wide(x).astype(np.float32)
            first, last = np.float32(low), np.float32(high)
            with np.errstate(invalid="ignore"):
                at = np.floor((number - first) * np.float32(bins / (high - low)))
                inside = (number >= first) & (number <= last)
            at = np.minimum(at[inside], bins - 1).astype(int)
            cases.add("histogram shape=%s bins=%d min=%.17g max=%.17g dtype=%s" % (shape, bins, low, high, dtype), {"x": x},
                      {"y": np.bincount(at, minlength=bins).astype(np.int32)})
            if x.size <= 4096:
                cases.add("histogram_rows shape=%s bins=%d min=%.17g max=%.17g dtype=%s blocks=1" % (shape, bins, low, high, dtype),
                          {"x": x}, {"counts": np.bincount(at, minlength=bins).astype(np.float32).reshape(1, -1)})


GROUPS = [selects, nonzeros, losses, pools, masks, histograms]

if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
