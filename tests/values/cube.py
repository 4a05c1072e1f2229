# SPDX-License-Identifier: Apache-2.0
"""mad against an independent reference in numpy: random ones, many of them.

    cube.py DRIVER [--cases N] [--seed S] [--soc NAME]... [--only NAME]

Sums in float32 in the documented order of k, for all results at a time; all bytes of all
memories have to agree.
"""

import sys

import numpy as np

import images
import reference as ref
from images import TooLarge

WINDOWS = (("GM", 64), ("L0A", 20480), ("L0B", 20480), ("L0C", 12288), ("BT", 1024))
COUPLED = tuple(window for window in WINDOWS if window[0] != "BT")
FRACTAL = 512
# Types of A, and what B may be instead of the same.
LEGAL = {"dav-c100": [("fp16",), ("int8",), ("uint8", "int8")],
         "dav-m200": [("fp16",), ("int8",), ("int4",), ("uint8", "int8")],
         "dav-c220": [("fp16",), ("bf16",), ("fp32",), ("hf32",), ("int8",), ("int4",)],
         "dav-c310": [("fp16",), ("bf16",), ("fp32",), ("hf32",), ("int8",),
                      ("fp8_e4m3", "fp8_e5m2"), ("fp8_e5m2", "fp8_e4m3")]}
WIDTH = {"fp16": 16, "bf16": 16, "fp32": 32, "hf32": 32, "int8": 8, "uint8": 8, "int4": 4,
         "fp8_e4m3": 8, "fp8_e5m2": 8, "fp4_e2m1": 4, "fp4_e1m2": 4}
ROUNDED_STEPS = 128 # of k between two roundings of sums kept in fp16


def fp8_e4m3(codes):
    """No infinities; the largest magnitude is NaN."""
    exponent, fraction = (codes >> 3 & 15).astype(int), (codes & 7) / 8.0
    value = np.where(exponent == 0, fraction * 2.0**-6, (1 + fraction) * np.exp2(exponent - 7.0))
    value = np.where(codes & 127 == 127, np.nan, value)
    return np.where(codes & 128, -value, value).astype(np.float32)


def to_hf32(values, fraction):
    """float32 with N bits of fraction, to nearest even."""
    _, exponent = np.frexp(values.astype(np.float64))
    unit = np.ldexp(1.0, np.maximum(exponent - 1, -126) - fraction)
    rounded = np.rint(values / unit) * unit
    return np.where(np.isfinite(values), rounded, values).astype(np.float32)


def numbers(case, kind, data):
    """float32 or int64 numbers of bytes in the order of memory."""
    if kind == "int8":
        return data.view(np.int8).astype(np.int64)
    if kind == "uint8":
        return data.astype(np.int64)
    if kind == "fp8_e4m3":
        return fp8_e4m3(data)
    if kind == "fp8_e5m2": # the upper half of fp16
        return (data.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    if kind == "int4":
        nibbles = np.stack([data & 15, data >> 4], axis=-1).reshape(-1).astype(np.int64)
        return np.where(nibbles > 7, nibbles - 16, nibbles)
    values = ref.decode("fp32" if kind == "hf32" else kind, data.view(
        ref.CODES["fp32" if kind == "hf32" else kind])).astype(np.float32)
    return to_hf32(values, 10 if case.machine.a_is_nz else 11) if kind == "hf32" else values


def sums(case, start, a, b, narrow):
    """Codes of start + a @ b, one product after the other."""
    if a.dtype == np.int64:
        total = start.astype(np.int64) + a @ b
        return (total & 0xFFFFFFFF).astype(np.uint32)
    total = start.copy()
    for k in range(a.shape[1]):
        total = total + a[:, k:k + 1] * b[k:k + 1, :]
        if narrow and (k + 1) % ROUNDED_STEPS == 0:
            total = ref.encode("fp16", total, case.machine.saturates).view(np.float16).astype(
                np.float32)
    if narrow:
        return ref.encode("fp16", total, case.machine.saturates)
    codes = total.view(np.uint32).copy()
    codes[np.isnan(total)] = ref.NAN_CODE["fp32"]
    return codes


def draw_shape(case):
    """Mostly small; now and then long in one direction, or a vector."""
    m, k, n = case.draw(0, 40), case.draw(0, 60), case.draw(0, 40)
    form = case.draw(0, 7)
    if form == 0:
        m = 1
    elif form == 1:
        m, k, n = case.draw(1, 16), case.draw(100, 320), case.draw(1, 16)
    elif form == 2:
        m, k, n = case.draw(100, 160), case.draw(1, 40), case.draw(1, 16)
    return m, k, n


def mad(case, pools):
    kinds = case.pick(LEGAL[case.machine.arch])
    kind, b_kind = kinds[0], case.pick(kinds)
    c0 = 256 // WIDTH[kind]
    m, k, n = draw_shape(case)
    m1, k1, n1 = -(-m // 16), -(-k // c0), -(-n // 16)
    if b_kind != kind:
        case.set(b_type=b_kind)
    case.gemv = m == 1
    if case.machine.a_is_nz and case.draw(0, 1):
        case.set(gemv=0)
        case.gemv = False
    if case.machine.split and case.draw(0, 1):
        case.set(k_align=1)
        k1 += k1 % 2 if WIDTH[kind] == 32 else 0
    narrow = kind == "fp16" and not case.machine.split and case.draw(0, 1)
    if narrow:
        case.set(sums="fp16")
    a_bytes = k1 * 32 if case.gemv else m1 * k1 * FRACTAL
    at = {"L0A": case.place("L0A", a_bytes, FRACTAL), "L0B": case.place("L0B", n1 * k1 * FRACTAL, FRACTAL),
          "L0C": case.place("L0C", m1 * n1 * 1024, 1024)}
    integer = "int" in kind
    for space in ("L0A", "L0B"):
        pool = "bytes" if WIDTH[kind] < 16 else "fp32" if kind == "hf32" else kind
        case.old(space)[:] = case.slice_of(pools[calm(case, pool)], case.windows[space])
    source = "int32" if integer else calm(case, "fp16" if narrow else "fp32")
    case.old("L0C")[:] = case.slice_of(pools[source], case.windows["L0C"])
    init = case.draw(0, 1)
    case.set(c=at["L0C"], a=at["L0A"], b=at["L0B"], m=m, k=k, n=n, init=init, type=kind)
    if case.machine.split: # what is handed over with 3 would have to be read before the next case
        case.set(unit_flag=case.pick([0, 0, 2, 2]))
    bias = None
    if not init and "BT" in case.windows and case.draw(0, 1):
        case.old("BT")[:] = case.slice_of(pools[source], case.windows["BT"])
        bias = case.place("BT", n * 4, 64)
        case.set(source="bt", bias=bias)
    case.begin()
    if m and k and n:
        compute(case, (kind, b_kind), (m, k, n), (m1, k1, n1), c0, at, bias, narrow)


# Indices of pairs of values, and which of four they stand for: Ascend C documentation, MmadWithSparse.
PAIRS = {(2, 2): (2, 3), (1, 2): (1, 3), (0, 2): (0, 3), (1, 1): (1, 2), (0, 1): (0, 2),
         (0, 0): (0, 1), (2, 0): (2, 2), (1, 0): (1, 1)}


def mad_sparse(case, pools):
    """The values of a that the indices of a column choose, times the values of the column."""
    m, k, n = draw_shape(case)
    k += -k % 4
    m1, k1, n1, kept1 = -(-m // 16), -(-k // 32), -(-n // 16), -(-k // 64)
    at = {"L0A": case.place("L0A", m1 * k1 * FRACTAL, FRACTAL),
          "L0B": case.place("L0B", n1 * kept1 * FRACTAL, FRACTAL),
          "L0C": case.place("L0C", m1 * n1 * 1024, 1024)}
    pairs = np.array(list(PAIRS))
    chosen = case.rng.integers(0, len(pairs), (case.windows["IDX"], 2))
    nibbles = pairs[:, 0] | pairs[:, 1] << 2
    case.old("IDX")[:] = nibbles[chosen[:, 0]] | nibbles[chosen[:, 1]] << 4
    init = case.draw(0, 1)
    case.set(c=at["L0C"], a=at["L0A"], b=at["L0B"], m=m, k=k, n=n, init=init, type="int8")
    bias = None
    if not init and case.draw(0, 1):
        bias = case.place("BT", n * 4, 64)
        case.set(source="bt", bias=bias)
    case.begin()
    if not (m and k and n):
        return
    a = case.old("L0A")[at["L0A"]:][:m1 * k1 * FRACTAL].view(np.int8).astype(np.int64)
    a = a.reshape(m1, k1, 16, 32).transpose(0, 2, 1, 3).reshape(m1 * 16, k1 * 32)[:m, :k]
    b = case.old("L0B")[at["L0B"]:][:n1 * kept1 * FRACTAL].view(np.int8).astype(np.int64)
    b = b.reshape(kept1, n1, 16, 32).transpose(0, 3, 1, 2).reshape(kept1 * 32, n1 * 16)[:k // 2, :n]
    places = np.array(list(PAIRS.values()))[chosen[at["L0B"] // 4:][:n1 * kept1 * 128].reshape(-1)]
    places = places.reshape(kept1, n1, 16, 32).transpose(0, 3, 1, 2)
    places = places.reshape(kept1 * 32, n1 * 16)[:k // 2, :n] + np.arange(k // 2)[:, None] // 2 * 4
    result = case.new("L0C")[at["L0C"]:][:m1 * n1 * 1024].view(np.int32).reshape(n1, m1 * 16, 16)
    for column in range(n):
        start = result[column // 16, :m, column % 16].astype(np.int64)
        if init:
            start = 0
        elif bias is not None:
            start = int(case.old("BT")[bias + 4 * column:][:4].copy().view(np.int32)[0])
        total = start + a[:, places[:, column]] @ b[:, column]
        result[column // 16, :m, column % 16] = (total & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


FP4 = {"fp4_e2m1": [0, 0.5, 1, 1.5, 2, 3, 4, 6], "fp4_e1m2": [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]}
SCALED = [("fp4_e2m1", "fp4_e1m2"), ("fp4_e1m2", "fp4_e2m1"), ("fp8_e4m3", "fp8_e5m2"), ("fp8_e5m2", "fp8_e4m3")]


def scaled(case, kind, data, scales, lines, k):
    """Lines of k numbers times the powers of two of their blocks of 32: OCP Microscaling, Ascend C documentation, MmadMx."""
    c0 = 256 // WIDTH[kind]
    blocks, pairs = -(-lines // 16), k // 64
    if kind in FP4:
        codes = np.stack([data & 15, data >> 4], axis=-1).reshape(-1)
        values = np.array(FP4[kind] + [-value for value in FP4[kind]], np.float32)[codes]
    else:
        values = numbers(case, kind, data)
    values = values.reshape(k // c0, blocks, 16, c0).transpose(1, 2, 0, 3).reshape(blocks * 16, k)[:lines]
    codes = scales.reshape(blocks, pairs, 16, 2).transpose(0, 2, 1, 3).reshape(blocks * 16, pairs * 2)[:lines]
    powers = np.where(codes == 255, np.float32(np.nan), np.ldexp(np.float32(1), codes.astype(int) - 127)).astype(np.float32)
    return values * np.repeat(powers, 32, axis=1)


def mad_scaled(case, pools):
    kinds = case.pick(SCALED)
    kind, b_kind = kinds[0], case.pick(kinds)
    m, k, n = case.draw(0, 40), 64 * case.draw(0, 3), case.draw(0, 40)
    m1, n1, pairs = -(-m // 16), -(-n // 16), k // 64
    alignment = 512 if kind in FP4 else 1024
    fractals = pairs * 64 * WIDTH[kind] // 256
    at = {"L0A": case.place("L0A", m1 * fractals * FRACTAL, alignment), "L0B": case.place("L0B", n1 * fractals * FRACTAL, alignment),
          "L0C": case.place("L0C", m1 * n1 * 1024, 1024)}
    for space in ("L0A_MX", "L0B_MX"):
        low, high = (0, 255) if case.draw(0, 5) == 0 else (117, 137)
        case.old(space)[:] = case.rng.integers(low, high, case.windows[space], endpoint=True)
    case.old("L0C")[:] = case.slice_of(pools[calm(case, "fp32")], case.windows["L0C"])
    init = case.draw(0, 1)
    case.set(c=at["L0C"], a=at["L0A"], b=at["L0B"], m=m, k=k, n=n, init=init, type=kind)
    if b_kind != kind:
        case.set(b_type=b_kind)
    bias = None
    if not init and case.draw(0, 1):
        case.old("BT")[:] = case.slice_of(pools[calm(case, "fp32")], case.windows["BT"])
        bias = case.place("BT", n * 4, 64)
        case.set(source="bt", bias=bias)
    case.begin()
    if not (m and k and n):
        return
    sides = [scaled(case, of, case.old(space)[at[space]:][:blocks * fractals * FRACTAL],
                    case.old(space + "_MX")[at[space] // 16:][:blocks * pairs * 32], lines, k)
             for of, space, blocks, lines in ((kind, "L0A", m1, m), (b_kind, "L0B", n1, n))]
    grid = case.new("L0C")[at["L0C"]:][:m1 * n1 * 1024].view(np.uint32).reshape(n1, m1 * 16, 16)
    start = grid.transpose(1, 0, 2).reshape(m1 * 16, n1 * 16)[:m, :n].copy().view(np.float32)
    if bias is not None:
        start = np.tile(case.old("BT")[bias:bias + n * 4].copy().view(np.float32), (m, 1))
    total = sums(case, np.zeros((m, n), np.float32) if init else start, sides[0], sides[1].T, False)
    for column in range(n):
        grid[column // 16, :m, column % 16] = total[:, column]


def calm(case, pool):
    """Pools without infinities and NaN make most sums worth comparing."""
    return pool if pool == "bytes" or case.draw(0, 3) == 0 else "calm " + pool


def compute(case, kinds, shape, blocks, c0, at, bias, narrow):
    (m, k, n), (m1, k1, n1) = shape, blocks
    size = FRACTAL * 8 // WIDTH[kinds[0]]
    raw_a = numbers(case, kinds[0], case.old("L0A")[at["L0A"]:].copy())
    raw_b = numbers(case, kinds[1], case.old("L0B")[at["L0B"]:].copy())
    if case.gemv:
        a = raw_a[:k][None, :]
    elif case.machine.a_is_nz:
        a = raw_a[:m1 * k1 * size].reshape(k1, m1, 16, c0).transpose(1, 2, 0, 3)
    else:
        a = raw_a[:m1 * k1 * size].reshape(m1, k1, 16, c0).transpose(0, 2, 1, 3)
    a = a.reshape(-1, k if case.gemv else k1 * c0)[:m, :k]
    k1 = -(-k // c0)
    b = raw_b[:n1 * k1 * size].reshape(k1, n1, 16, c0).transpose(0, 3, 1, 2)
    b = b.reshape(k1 * c0, n1 * 16)[:k, :n]
    # L0C: columns of 16, rows of all blocks below each other.
    code = np.dtype(np.uint16 if narrow else np.uint32)
    result = case.new("L0C")[at["L0C"]:at["L0C"] + m1 * n1 * 256 * code.itemsize].view(code)
    grid = result.reshape(n1, m1 * 16, 16)
    start = grid.transpose(1, 0, 2).reshape(m1 * 16, n1 * 16)[:m, :n].copy()
    if bias is not None:
        start = np.tile(case.old("BT")[bias:bias + n * 4].copy().view(np.uint32), (m, 1))
    if case.fields["init"]:
        start = np.zeros((m, n), code)
    if narrow:
        start = start.view(np.float16).astype(np.float32)
    else:
        start = start.view(np.int32 if a.dtype == np.int64 else np.float32)
    wide = np.pad(sums(case, start, a, b, narrow), ((0, m1 * 16 - m), (0, n1 * 16 - n)))
    mask = np.zeros_like(wide, bool)
    mask[:m, :n] = True
    place = mask.reshape(m1 * 16, n1, 16).transpose(1, 0, 2)
    grid[place] = wide.reshape(m1 * 16, n1, 16).transpose(1, 0, 2)[place]


def calm_pools(rng):
    pools = {}
    for kind in ("fp16", "bf16", "fp32"):
        values = rng.standard_normal(1 << 17) * np.exp2(rng.integers(-6, 6, 1 << 17))
        pools["calm " + kind] = ref.encode(kind, values).view(np.uint8)
    return pools


SPARSE = WINDOWS + (("IDX", 5120),)
SCALES = WINDOWS + (("L0A_MX", 1280), ("L0B_MX", 1280))
GROUPS = [("AIC", SCALES, [("mad_mx", mad_scaled, lambda machine: machine.arch == "dav-c310")]),
          ("AIC", SPARSE, [("mad_sp", mad_sparse, lambda machine: machine.arch == "dav-c220")]),
          ("AIC", WINDOWS, [("mad", mad, lambda machine: machine.split)]),
          ("AICORE", COUPLED, [("mad", mad, lambda machine: not machine.split)])]

if __name__ == "__main__":
    sys.exit(images.main(__doc__, GROUPS, calm_pools))
