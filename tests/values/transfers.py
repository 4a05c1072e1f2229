# SPDX-License-Identifier: Apache-2.0
"""Transfers against an independent reference in numpy: random ones, many of them.

    transfers.py DRIVER [--cases N] [--seed S] [--soc NAME]... [--only NAME]

All bytes of all memories have to agree. Layouts are written as reshapes and transposes of whole
arrays, the other way round from the loops of the simulator.
"""

import sys

import numpy as np

import images
import reference as ref
from images import TooLarge, address, overlaps

AIC = (("GM", 12288), ("L1", 12288), ("L0A", 8192), ("L0B", 8192), ("L0C", 16384), ("BT", 1024),
       ("FB", 2048))
AIV = (("GM", 8192), ("UB", 8192))
COUPLED = (("GM", 8192), ("L1", 8192), ("UB", 8192))
L0C_UB = (("GM", 64), ("L0C", 12288), ("UB", 12288))
SPARSE = (("GM", 64), ("L1", 12288), ("L0B", 8192), ("IDX", 2048))
SCALES = (("GM", 64), ("L1", 12288), ("L0A_MX", 2048), ("L0B_MX", 2048))
MIXED = (("GM", 64), ("L0C", 16384), ("FB", 2048), ("UB0", 12288), ("UB1", 12288))
BLOCK, FRACTAL = 32, 512
CODE = {8: np.uint8, 16: np.uint16, 32: np.uint32}
WIDTH = {"fp16": 16, "bf16": 16, "fp32": 32, "int8": 8, "uint8": 8, "int32": 32, "uint32": 32,
         "int4": 4, "fp4_e2m1": 4, "fp4_e1m2": 4}

# ---- stores to GM, which atomics change ----

ATOMIC_TYPES = {"fp32": "f32", "fp16": "f16", "bf16": "bf16", "int32": "s32", "int16": "s16",
                "int8": "s8"}
LEGAL_ATOMICS = {
    "dav-c100": (["add"], ["fp32"]),
    "dav-m200": (["add"], ["fp32", "fp16", "int16"]),
    "dav-c220": (["add", "max", "min"], list(ATOMIC_TYPES)),
    "dav-c310": (["add", "max", "min"], list(ATOMIC_TYPES)),
}


def choose_atomic(case, element):
    """Sometimes makes the case atomic; element: bytes that a run is a multiple of."""
    case.atomic = None
    actions, types = LEGAL_ATOMICS[case.machine.arch]
    types = [kind for kind in types if element % (ref.BITS[kind] // 8) == 0]
    if case.draw(0, 2) or not types:
        return
    case.atomic = (case.pick(actions), case.pick(types))
    case.registers += ["set_atomic_" + case.atomic[0],
                       "set_atomic_" + ATOMIC_TYPES[case.atomic[1]]]
    case.undo.append("set_atomic_none")


def combine(case, old, new):
    """Bytes after an atomic store of new over old."""
    action, kind = case.atomic
    have, more = old.copy().view(ref.CODES[kind]), new.copy().view(ref.CODES[kind])
    if kind.startswith("int"):
        function = {"add": np.add, "max": np.maximum, "min": np.minimum}[action]
        return function(have, more).view(np.uint8)
    a, b = ref.decode(kind, have), ref.decode(kind, more)
    if action == "add":
        result = a + b if kind != "fp32" else (a.astype(np.float32) + b.astype(np.float32)).astype(
            np.float64)
    else:
        larger = (a > b) | ((a == b) & ~np.signbit(a))
        result = np.where(larger == (action == "max"), a, b)
        result = np.where(np.isnan(a) | np.isnan(b), np.nan, result)
    return ref.encode(kind, result, case.machine.saturates).view(np.uint8)


def store(case, space, start, data):
    target = case.new(space)[start:start + len(data)]
    if space == "GM" and getattr(case, "atomic", None):
        data = combine(case, target, data)
    target[:] = data


# ---- copies ----


def burst(dst, src, convert=False):
    def generate(case, pools):
        count, length = case.draw(0, 6), case.draw(0, 9)
        src_gap, dst_gap = case.draw(0, 4), case.draw(0, 4)
        widens = convert and case.draw(0, 1)
        scale = 2 if widens else 1
        src_step, dst_step = (length + src_gap) * BLOCK, (length * scale + dst_gap) * BLOCK
        src_size = max(count - 1, 0) * src_step + length * BLOCK
        dst_size = max(count - 1, 0) * dst_step + length * BLOCK * scale
        unit = {"BT": 64, "FB": 128, "GM": 1}
        if src == dst:
            half = case.windows[src] // 2
            if max(src_size, dst_size) > half:
                raise TooLarge
            low = case.draw(0, (half - src_size) // BLOCK) * BLOCK
            high = half + case.draw(0, (half - dst_size) // BLOCK) * BLOCK
            start, to = (low, high)
        else:
            start = case.place(src, src_size, unit.get(src, BLOCK))
            to = case.place(dst, dst_size, unit.get(dst, BLOCK))
        case.set(dst=address(dst, to), src=address(src, start), n_burst=count, len_burst=length,
                 src_gap=src_gap, dst_gap=dst_gap)
        if widens:
            case.set(conv=1)
            case.old(src)[start:start + src_size] = case.slice_of(pools["fp16"], src_size)
        if dst == "GM":
            choose_atomic(case, BLOCK)
            if case.atomic:
                for space in (dst, src):
                    size = case.windows[space] // 8 * 8
                    case.old(space)[:size] = case.slice_of(pools.get(case.atomic[1], pools["bytes"]),
                                                           size)
        case.begin()
        for i in range(count):
            data = case.old(src)[start + i * src_step:][:length * BLOCK]
            if widens:
                data = ref.encode("fp32", ref.decode("fp16", data.copy().view(np.uint16))).view(
                    np.uint8)
            store(case, dst, to + i * dst_step, data)
    return generate


def align_in(element, memory="UB"):
    def generate(case, _):
        count = case.draw(0, 6)
        length = case.draw(0, 40) * case.pick([1, 1, element])
        left, right = case.draw(0, 32 // element), case.draw(0, 32 // element)
        if case.draw(0, 1):
            left = right = 0
        src_gap, dst_gap = case.draw(0, 50), case.draw(0, 3)
        padded = (left + right) * element + length
        blocks = -(-padded // BLOCK)
        start = case.place("GM", max(count - 1, 0) * (length + src_gap) + length, 1)
        to = case.place(memory, (max(count - 1, 0) * (blocks + dst_gap) + blocks) * BLOCK, BLOCK)
        case.set(dst=to, src=address("GM", start), n_burst=count, len_burst=length, left_pad=left,
                 right_pad=right, src_gap=src_gap, dst_gap=dst_gap)
        value = case.draw(0, 2**62)
        case.registers.append("set_mov_pad_val,value=%d" % value)
        case.begin()
        pad = np.frombuffer(value.to_bytes(8, "little")[:element], np.uint8)
        for i in range(count if length else 0):
            data = case.old("GM")[start + i * (length + src_gap):][:length]
            fill = pad
            if not left and not right:
                fill = np.zeros(element, np.uint8)
                fill[:min(element, length)] = data[:element]
            run = np.tile(fill, blocks * BLOCK // element + 1)[:blocks * BLOCK]
            run[left * element:left * element + length] = data
            store(case, memory, to + i * (blocks + dst_gap) * BLOCK, run)
    return generate


def align_out(element):
    def generate(case, pools):
        count, length = case.draw(0, 6), case.draw(0, 60) * element
        src_gap, dst_gap = case.draw(0, 3), case.draw(0, 50)
        step = (-(-length // BLOCK) + src_gap) * BLOCK
        start = case.place("UB", max(count - 1, 0) * step + length, BLOCK)
        to = case.place("GM", max(count - 1, 0) * (length + dst_gap) + length, 1)
        case.set(dst=address("GM", to), src=start, n_burst=count, len_burst=length,
                 src_gap=src_gap, dst_gap=dst_gap)
        choose_atomic(case, element)
        case.begin()
        for i in range(count):
            store(case, "GM", to + i * (length + dst_gap), case.old("UB")[start + i * step:][:length])
    return generate


def nd2nz(width):
    """Elements of a width; 0: of a type."""
    def generate(case, _):
        kind = None if width else case.pick(["int8", "uint8", "fp16", "bf16", "fp32", "int32", "uint32"])
        element = width or WIDTH[kind] // 8
        c0 = BLOCK // element
        number, n, d = case.draw(0, 3), case.draw(0, 9), case.draw(0, 3 * c0 + 2)
        row = d + case.draw(0, 9)
        n_stride = case.draw(1, 2)
        column = n * n_stride + case.draw(0, 3)
        columns = -(-d // c0)
        nd_stride = columns * column * c0 + case.draw(0, 2) * c0
        src_nd_stride = case.draw(0, n * row + 5)
        src_size = (max(number - 1, 0) * src_nd_stride + max(n - 1, 0) * row + d) * element
        dst_size = (max(number - 1, 0) * nd_stride * element +
                    (max(columns - 1, 0) * column + max(n - 1, 0) * n_stride + 1) * BLOCK)
        start, to = case.place("GM", src_size, 1), case.place("L1", dst_size, BLOCK)
        case.set(dst=to, src=address("GM", start), nd_num=number, n=n, d=d,
                 src_nd_stride=src_nd_stride, src_d=row, dst_c0_stride=column,
                 dst_n_stride=n_stride, dst_nd_stride=nd_stride, **({"type": kind} if kind else {}))
        case.begin()
        for i in range(number if n and d else 0):
            base = start + i * src_nd_stride * element
            index = base + np.arange(n)[:, None] * row * element + np.arange(d * element)[None, :]
            matrix = np.zeros((n, columns * BLOCK), np.uint8)
            matrix[:, :d * element] = case.old("GM")[index]
            for j in range(columns):
                for r in range(n):
                    store(case, "L1", to + i * nd_stride * element + (j * column + r * n_stride) * BLOCK,
                          matrix[r, j * BLOCK:(j + 1) * BLOCK])
    return generate


def dn2nz(case, _):
    """d rows of n elements, transposed and then as ND2NZ."""
    kind = case.pick(["int8", "uint8", "fp16", "bf16", "fp32", "int32", "uint32"])
    element = WIDTH[kind] // 8
    c0 = BLOCK // element
    number, n, d = case.draw(0, 3), case.draw(0, 9), case.draw(0, 2 * c0 + 2)
    row = n + case.draw(1, 9)
    n_stride, columns = case.draw(1, 2), -(-d // c0)
    column = max(n * n_stride + case.draw(0, 3), 1)
    nz_stride = columns * column * c0 + case.draw(0, 2) * c0
    dn_stride = case.draw(0, d * row + 5)
    src_size = (max(number - 1, 0) * dn_stride + max(d - 1, 0) * row + n) * element
    dst_size = (max(number - 1, 0) * nz_stride * element +
                (max(columns - 1, 0) * column + max(n - 1, 0) * n_stride + 1) * BLOCK)
    start, to = case.place("GM", src_size, 1), case.place("L1", dst_size, BLOCK)
    case.set(dst=to, src=address("GM", start), dn_num=number, n=n, d=d, src_dn_stride=dn_stride,
             src_d=row, dst_c0_stride=column, dst_n_stride=n_stride, dst_nz_stride=nz_stride,
             type=kind)
    case.begin()
    for i in range(number if n and d else 0):
        base = start + i * dn_stride * element
        index = base + np.arange(d)[:, None] * row * element + np.arange(n * element)[None, :]
        codes = case.old("GM")[index].view(CODE[8 * element]).T
        matrix = np.zeros((n, columns * c0), codes.dtype)
        matrix[:, :d] = codes
        blocks = matrix.view(np.uint8).reshape(n, columns, BLOCK)
        for j in range(columns):
            for r in range(n):
                store(case, "L1", to + i * nz_stride * element + (j * column + r * n_stride) * BLOCK,
                      blocks[r, j])


# ---- fractals ----


def load2d(dst, src):
    def generate(case, _):
        base, repeat = case.draw(0, 3), case.draw(0, 8)
        stride, gap = case.draw(0, 3), case.draw(0, 2)
        transpose = src == "L1" and case.draw(0, 1)
        start = case.place(src, (base + max(repeat - 1, 0) * stride + 1) * FRACTAL,
                           1 if src == "GM" else BLOCK)
        to = case.place(dst, (max(repeat - 1, 0) * (gap + 1) + 1) * FRACTAL, FRACTAL)
        case.set(dst=to, src=address(src, start), base=base, repeat=repeat, src_stride=stride,
                 dst_gap=gap)
        if transpose:
            case.set(transpose=1)
        case.begin()
        for i in range(repeat):
            fractal = case.old(src)[start + (base + i * stride) * FRACTAL:][:FRACTAL]
            if transpose:
                fractal = fractal.copy().view(np.uint16).reshape(16, 16).T.copy().view(
                    np.uint8).ravel()
            store(case, dst, to + i * (gap + 1) * FRACTAL, fractal)
    return generate


def load2dv2(dst):
    """A matrix in columns of fractals, or its transpose in such columns."""
    def generate(case, _):
        kind = case.pick(["int8", "uint8", "fp16", "bf16", "fp32", "int32", "uint32", "fp4_e2m1", "fp4_e1m2"])
        bits, transpose = WIDTH[kind], case.draw(0, 1)
        c0 = 256 // bits
        m_start, k_start = case.draw(0, 2), case.draw(0, 2)
        m_step, k_step = case.draw(0, 4), case.draw(0, 3)
        src_stride = m_start + m_step + case.draw(0, 2)
        columns, rows = (m_step * 16 // c0, k_step * c0 // 16) if transpose else (k_step, m_step)
        dst_stride = rows + case.draw(0, 2)
        first = (k_start * src_stride + m_start) * FRACTAL
        step = src_stride * FRACTAL
        start = case.place("L1", first + max(k_step - 1, 0) * step + m_step * FRACTAL, BLOCK)
        to = case.place(dst, max(columns - 1, 0) * dst_stride * FRACTAL + rows * FRACTAL, FRACTAL)
        case.set(dst=to, src=start, m_start=m_start, k_start=k_start, m_step=m_step, k_step=k_step,
                 src_stride=src_stride, dst_stride=dst_stride, type=kind)
        if transpose:
            case.set(transpose=1)
        case.begin()
        if m_step == 0 or k_step == 0:
            return
        matrix = np.concatenate([unpack(case.old("L1")[start + first + i * step:][:m_step * FRACTAL], bits)
                                 .reshape(m_step * 16, c0) for i in range(k_step)], axis=1)
        if transpose:
            matrix = matrix.T[:rows * 16, :columns * c0]
        for i in range(columns):
            store(case, dst, to + i * dst_stride * FRACTAL, pack(matrix[:rows * 16, i * c0:(i + 1) * c0].reshape(-1), bits))
    return generate


def load_scales(dst):
    """Rows of fractals of 16 x 2 scales."""
    def generate(case, _):
        x_start, y_start, x_step, y_step = case.draw(0, 3), case.draw(0, 3), case.draw(0, 5), case.draw(0, 5)
        src_stride, dst_stride = y_start + y_step + case.draw(0, 2), y_step + case.draw(0, 2)
        first = (x_start * src_stride + y_start) * BLOCK
        start = case.place("L1", first + max(x_step - 1, 0) * src_stride * BLOCK + y_step * BLOCK, BLOCK)
        to = case.place(dst, max(x_step - 1, 0) * dst_stride * BLOCK + y_step * BLOCK, BLOCK)
        case.set(dst=to, src=start, x_start=x_start, y_start=y_start, x_step=x_step, y_step=y_step, src_stride=src_stride,
                 dst_stride=dst_stride)
        case.begin()
        for i in range(x_step):
            store(case, dst, to + i * dst_stride * BLOCK, case.old("L1")[start + first + i * src_stride * BLOCK:][:y_step * BLOCK])
    return generate


def load_sparse(case, _):
    """Fractals of values, and beside them a quarter as many bytes of indices."""
    base, repeat = case.draw(0, 3), case.draw(0, 8)
    start = case.place("L1", (base + repeat) * FRACTAL, BLOCK)
    index = case.place("L1", (base + repeat) * FRACTAL // 4, BLOCK)
    to = case.place("L0B", repeat * FRACTAL, FRACTAL)
    case.set(dst=to, src=start, index=index, base=base, repeat=repeat)
    case.begin()
    size = repeat * FRACTAL
    store(case, "L0B", to, case.old("L1")[start + base * FRACTAL:][:size])
    store(case, "IDX", to // 4, case.old("L1")[index + base * FRACTAL // 4:][:size // 4])


def transposed_square(data, bits):
    """A square of one, two or four fractals into the same number of fractals."""
    if bits == 4:
        return pack(unpack(data, 4).reshape(64, 64).T, 4).reshape(-1, FRACTAL)
    codes = data.copy().view(CODE[bits])
    if bits == 16:
        result = codes.reshape(16, 16).T
    elif bits == 8:
        result = codes.reshape(32, 32).T
    else:
        square = codes.reshape(2, 16, 8).transpose(1, 0, 2).reshape(16, 16).T
        result = square.reshape(16, 2, 8).transpose(1, 0, 2)
    return np.ascontiguousarray(result).view(np.uint8).reshape(-1, FRACTAL)


def load2dt(dst):
    def generate(case, _):
        kinds = ["fp16", "bf16", "fp32", "int8", "uint8", "int32", "uint32"]
        if dst == "L0B" and case.machine.arch == "dav-c220":
            kinds.append("int4")
        kind = case.pick(kinds)
        bits = WIDTH[kind]
        fractals = {4: 4, 16: 1}.get(bits, 2)
        base, repeat = case.draw(0, 2), case.draw(0, 4)
        stride, gap, frac_gap = case.draw(0, 2), case.draw(0, 3), case.draw(0, 3)
        square = fractals * FRACTAL
        starts = (np.arange(repeat)[:, None] * (gap + 1) +
                  np.arange(fractals)[None, :] * (frac_gap + 1)) * FRACTAL
        if overlaps(starts, FRACTAL):
            raise TooLarge
        start = case.place("L1", (base + max(repeat - 1, 0) * stride + 1) * square, BLOCK)
        to = case.place(dst, starts.max(initial=0) + FRACTAL, FRACTAL)
        case.set(dst=to, src=start, base=base, repeat=repeat, src_stride=stride, dst_gap=gap,
                 frac_gap=frac_gap, type=kind)
        case.begin()
        for i in range(repeat):
            data = case.old("L1")[start + (base + i * stride) * square:][:square]
            for target, fractal in zip(starts[i], transposed_square(data, bits)):
                store(case, dst, to + int(target), fractal)
    return generate


def fill(dst, unit):
    def generate(case, _):
        blocks, repeat, gap = case.draw(0, 6), case.draw(0, 4), case.draw(0, 3)
        value = case.draw(0, 2**32 - 1)
        step = (blocks + gap) * unit
        to = case.place(dst, max(repeat - 1, 0) * step + blocks * unit, unit)
        case.set(dst=to, blocks=blocks, repeat=repeat, dst_gap=gap, value=value)
        case.begin()
        data = np.full(blocks * unit // 4, value, np.uint32).view(np.uint8)
        for i in range(repeat):
            store(case, dst, to + i * step, data)
    return generate


# ---- load3d ----


def unpack(data, bits):
    """Codes of elements; int4 one to a byte."""
    if bits == 4:
        return np.stack([data & 15, data >> 4], axis=-1).reshape(-1)
    return data.copy().view(CODE[bits])


def pack(codes, bits):
    if bits == 4:
        pairs = codes.astype(np.uint8).reshape(-1, 2)
        return pairs[:, 0] | pairs[:, 1] << 4
    return np.ascontiguousarray(codes).view(np.uint8).reshape(-1)


def windows_matrix(feature, arg, pad):
    """im2col of [C1, H, W, C0] into [out_h * out_w, C1 * filter_h * filter_w * C0]."""
    c1, _, _, c0 = feature.shape
    border = ((0, 0), (arg["pad_top"], arg["pad_bottom"]), (arg["pad_left"], arg["pad_right"]), (0, 0))
    padded = np.pad(feature, border, constant_values=pad)
    span_h = (arg["filter_h"] - 1) * arg["dilation_h"] + 1
    span_w = (arg["filter_w"] - 1) * arg["dilation_w"] + 1
    out_h = (padded.shape[1] - span_h) // arg["stride_h"] + 1
    out_w = (padded.shape[2] - span_w) // arg["stride_w"] + 1
    if out_h < 1 or out_w < 1:
        raise TooLarge
    result = np.empty((out_h, out_w, c1, arg["filter_h"], arg["filter_w"], c0), feature.dtype)
    for fy in range(arg["filter_h"]):
        for fx in range(arg["filter_w"]):
            y, x = fy * arg["dilation_h"], fx * arg["dilation_w"]
            part = padded[:, y:y + (out_h - 1) * arg["stride_h"] + 1:arg["stride_h"],
                          x:x + (out_w - 1) * arg["stride_w"] + 1:arg["stride_w"], :]
            result[:, :, :, fy, fx, :] = part.transpose(1, 2, 0, 3)
    return result.reshape(out_h * out_w, -1)


def fractal_index(rows, columns, c0, layout):
    """Element offsets of a matrix in fractals of 16 rows: ZZ, NZ; ZN wants the transpose."""
    row_blocks, column_blocks = -(-rows // 16), -(-columns // c0)
    offsets = np.arange(row_blocks * column_blocks * 16 * c0)
    if layout == "ZZ":
        grid = offsets.reshape(row_blocks, column_blocks, 16, c0).transpose(0, 2, 1, 3)
    else:
        grid = offsets.reshape(column_blocks, row_blocks, 16, c0).transpose(1, 2, 0, 3)
    return grid.reshape(row_blocks * 16, column_blocks * c0)[:rows, :columns], len(offsets)


def load3d_arguments(case, bits, c0):
    few = [c for c in (4, 8, 16, 32) if c < c0 and c * bits >= 32]
    arg = {
        "stride_w": case.draw(1, 3), "stride_h": case.draw(1, 3),
        "filter_w": case.draw(1, 3), "filter_h": case.draw(1, 3),
        "dilation_w": case.draw(1, 2), "dilation_h": case.draw(1, 2),
        "pad_left": case.draw(0, 2), "pad_right": case.draw(0, 2),
        "pad_top": case.draw(0, 2), "pad_bottom": case.draw(0, 2),
        "l1_w": case.draw(1, 9), "l1_h": case.draw(1, 9),
        "channels": case.pick(few + [c0, c0, 2 * c0, 3 * c0]),
    }
    if case.draw(0, 2) == 0:
        arg.update(stride_w=1, stride_h=1, filter_w=1, filter_h=1, pad_left=0, pad_right=0,
                   pad_top=0, pad_bottom=0)
    return arg


def load3d(dst):
    def generate(case, _):
        machine = case.machine
        legal = {"dav-m200": ["fp16", "int8", "uint8", "int4"],
                 "dav-c220": ["fp16", "bf16", "fp32", "int8", "uint8", "int4", "int32", "uint32"],
                 "dav-c310": ["fp16", "bf16", "fp32", "int8", "uint8", "int32", "uint32"]}
        kind = case.pick(legal[machine.arch])
        bits = WIDTH[kind]
        c0 = 256 // bits
        transpose = dst == "L0B" or case.draw(0, 1)
        if transpose and (bits == 4 or (bits == 8 and machine.arch != "dav-c310")):
            if dst == "L0B":
                raise TooLarge
            transpose = 0
        arg = load3d_arguments(case, bits, c0)
        lanes = min(arg["channels"], c0)
        groups = arg["channels"] // lanes
        size = groups * arg["l1_h"] * arg["l1_w"] * lanes * bits // 8
        start = case.place("L1", size, BLOCK)
        pad = case.draw(0, 2**32 - 1)
        code = pad & ((1 << bits) - 1)
        if bits == 4:
            code = pad & 15
            pad = code * 17
        at = start + np.arange(size)
        if machine.arch in ("dav-m200", "dav-c220") and case.draw(0, 2) == 0:
            boundary = max(1024, start + case.draw(1, size // BLOCK + 2) * BLOCK)
            at %= boundary
            case.registers.append("set_l1_3d_size,value=%d" % boundary)
            case.undo.append("set_l1_3d_size,value=0")
        codes = unpack(case.old("L1")[at], bits)
        feature = codes.reshape(groups, arg["l1_h"], arg["l1_w"], lanes)
        matrix = windows_matrix(feature, arg, code)
        m_start = case.draw(0, matrix.shape[0] - 1)
        k_start = case.draw(0, (matrix.shape[1] - 1) // c0) * c0
        m_ext = case.draw(0, min(matrix.shape[0] - m_start, 50))
        k_ext = case.draw(0, min(matrix.shape[1] - k_start, 70))
        if bits == 4:
            k_ext -= k_ext % 2
        part = matrix[m_start:m_start + m_ext, k_start:k_start + k_ext]
        layout = "NZ" if dst == "L0B" or machine.a_is_nz else "ZZ"
        if transpose:
            index, elements = fractal_index(k_ext, -(-m_ext // 16) * 16, c0, layout)
            index = index[:, :m_ext].T
        else:
            index, elements = fractal_index(m_ext, k_ext, c0, layout)
        to = case.place(dst, elements * bits // 8, FRACTAL)
        case.set(dst=to, src=start, k_ext=k_ext, m_ext=m_ext, k_start=k_start, m_start=m_start,
                 type=kind, **arg)
        if dst == "L0A" and transpose:
            case.set(transpose=1)
        case.registers.append("set_padding,value=%d" % pad)
        case.begin()
        if m_ext and k_ext:
            target = unpack(case.new(dst)[to:to + elements * bits // 8], bits)
            target[index] = part
            store(case, dst, to, pack(target, bits))
    return generate


def img2col(space):
    """Fractals of 16 windows: a point of them and a block of channels each; in L0B transposed."""
    return lambda case, _: put_img2col(case, space)


def put_img2col(case, space):
    bits = WIDTH[kind := case.pick(["fp16", "int8", "uint8"] if space == "L0A" else ["fp16"])]
    arg = load3d_arguments(case, bits, 1)
    del arg["channels"]
    groups, padded_w = case.draw(1, 3), arg["l1_w"] + arg["pad_left"] + arg["pad_right"]
    span = (arg["filter_w"] - 1) * arg["dilation_w"] + 1
    if padded_w < span:
        raise TooLarge
    out_w = (padded_w - span) // arg["stride_w"] + 1
    points = arg["filter_w"] * arg["filter_h"]
    over_windows = case.draw(0, 1)
    first = case.draw(0, 40)
    point = case.draw(0, groups * points - 1)
    repeat = case.draw(0, 3 if over_windows else min(6, groups * points - point))
    jump, pad = case.draw(1, 3), case.draw(0, 2**32 - 1)
    size = groups * arg["l1_h"] * arg["l1_w"] * BLOCK
    start = case.place("L1", size, BLOCK)
    to = case.place(space, max(repeat, 1) * jump * FRACTAL, FRACTAL)
    feature = case.old("L1")[start:start + size].reshape(groups, arg["l1_h"], arg["l1_w"], BLOCK)
    border = np.frombuffer((pad & ((1 << bits) - 1)).to_bytes(bits // 8, "little") * (BLOCK * 8 // bits), np.uint8)
    case.set(dst=to, src=start, repeat=repeat, mode="windows" if over_windows else "points", jump=jump,
             first_x=first % out_w * arg["stride_w"] - arg["pad_left"],
             first_y=first // out_w * arg["stride_h"] - arg["pad_top"], c1=point // points,
             point_y=point % points // arg["filter_w"], point_x=point % arg["filter_w"], type=kind, **arg)
    case.registers.append("set_padding,value=%d" % pad)
    case.begin()
    for i in range(repeat):
        window, at = (first + 16 * i, point) if over_windows else (first, point + i)
        rows = []
        for m in range(window, window + 16):
            x = m % out_w * arg["stride_w"] - arg["pad_left"] + at % arg["filter_w"] * arg["dilation_w"]
            y = (m // out_w * arg["stride_h"] - arg["pad_top"]
                 + at // arg["filter_w"] % arg["filter_h"] * arg["dilation_h"])
            inside = 0 <= x < arg["l1_w"] and 0 <= y < arg["l1_h"]
            rows.append(feature[at // points, y, x] if inside else border)
        fractal = np.concatenate(rows)
        if space == "L0B":
            fractal = np.ascontiguousarray(fractal.view(np.uint16).reshape(16, 16).T).view(np.uint8).ravel()
        store(case, space, to + i * jump * FRACTAL, fractal)


# ---- the fixpipe ----

FIX = {"fp32": ["none", "f322f16", "f322bf16", "qf322b8", "vqf322b8"],
       "int32": ["none", "deqf16", "vdeqf16", "req8", "vreq8"]}


def quant_words(case, count):
    """Words with factors of a middling size; the bits that do not count are random."""
    rng = case.rng
    exponent = rng.integers(100, 140, count).astype(np.uint64)
    words = rng.integers(0, 2**64, count, dtype=np.uint64) & ~np.uint64(0x7F800000)
    words |= exponent << np.uint64(23)
    plain = rng.random(count) < 0.5 # most kernels want neither shift nor offset
    return np.where(plain, words & ~np.uint64(0x3FFF << 32), words)


def factors(words):
    return (words.astype(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)


def scale_integers(raw, words):
    value = raw.view(np.int32).astype(np.int64)
    shift = ((words >> np.uint64(32)) & np.uint64(15)).astype(np.int64) + 1
    shifted = np.clip(value >> shift, -32768, 32767)
    value = np.where((words >> np.uint64(36)) & np.uint64(1), shifted, value)
    return value.astype(np.float32).astype(np.float64)


def results(case, raw, quant, relu, words):
    """Codes of what the fixpipe makes of accumulators raw (uint32 [m, n])."""
    if quant == "none" and case.fields["type"] == "int32":
        return np.where(relu & (raw.view(np.int32) < 0), np.uint32(0), raw)
    number = raw.view(np.float32).astype(np.float64)
    rectified = np.where(number > 0, number, np.where(np.isnan(number), np.nan, 0.0))
    if quant == "none":
        return ref.encode("fp32", rectified) if relu else raw
    if quant == "f322f16":
        return ref.encode("fp16", rectified if relu else number, case.machine.saturates)
    if quant == "f322bf16":
        return ref.encode("bf16", rectified if relu else number)
    number = number if quant.endswith("f322b8") else scale_integers(raw, words)
    product = number * factors(words)
    if relu:
        product = np.where(number < 0, 0.0, product)
    if quant.endswith("deqf16"):
        return ref.encode("fp16", product, case.machine.saturates)
    offset = ((words >> np.uint64(37)) & np.uint64(511)).astype(np.int64)
    offset = np.where(offset > 255, offset - 512, offset)
    # What is cut before the offset is added is chosen (FORMAT.md).
    whole = np.where(np.isnan(product), 0, np.clip(np.rint(product), -256, 255)).astype(np.int64)
    signed = ((words >> np.uint64(46)) & np.uint64(1)) == 1
    total = np.clip(whole + offset, np.where(signed, -128, 0), np.where(signed, 127, 255))
    return (total & 255).astype(np.uint8)


def fix_parts(case, dst, codes):
    """Into UB of the vector cores: all to one of them, or halves of rows or columns to both."""
    if dst != "UB0":
        return [(dst, codes)]
    split = case.fields["split"]
    if split == "none":
        return [("UB%d" % case.fields["sub"], codes)]
    halves = np.split(codes, 2, axis=0 if split == "m" else 1)
    return list(zip(("UB0", "UB1"), halves))


def fix(dst):
    def generate(case, pools):
        kind = case.pick(["fp32", "int32"])
        quant = case.pick(FIX[kind])
        element = 4 if quant == "none" else 1 if "8" in quant[-2:] else 2
        nd, relu = case.draw(0, 1), case.draw(0, 1)
        dn = nd and case.machine.arch == "dav-c310" and case.draw(0, 1)
        split = not nd and dst == "GM" and quant == "none" and kind == "fp32" and case.draw(0, 1)
        unit = 1 if nd else 8 if split else 16
        n, m = case.draw(0, 64 // unit) * unit, case.draw(0, 40)
        if dst == "UB0":
            case.set(split=case.pick(["none", "m", "n"]), sub=case.draw(0, 1))
            n -= n % (32 if case.fields["split"] == "n" else 1)
            m -= m % (2 if case.fields["split"] == "m" else 1)
        rows = m + case.draw(0, 5)
        number = case.draw(0, 3) if nd else 1
        src_nd = case.draw(0, 4)
        columns = -(-n // 16)
        src_size = (max(number - 1, 0) * src_nd * 16 + max(columns - 1, 0) * rows + m) * 64
        start = case.place("L0C", src_size, 64)
        width = 8 if split else 32 if element == 1 else 16
        if nd:
            inner, outer = (m, n) if dn else (n, m)
            stride = inner + case.draw(0, 9)
            dst_nd = outer * stride + case.draw(0, 9)
            size = (max(number - 1, 0) * dst_nd + max(outer - 1, 0) * stride + inner) * element
        else:
            stride = -(-m * width * element // BLOCK) + case.draw(0, 3)
            dst_nd = 0
            size = max(-(-n // width), 1) * stride * BLOCK
        if dst_nd > 65535:
            raise TooLarge
        to = case.place(dst, size, 1 if dst == "GM" else BLOCK)
        case.set(dst=address(dst, to), src=start, n=n, m=m, dst_stride=stride, src_stride=rows,
                 quant=quant, relu=relu, nz2nd=int(nd and not dn), channel_split=int(split), nd_num=number,
                 src_nd_stride=src_nd, dst_nd_stride=dst_nd, type=kind)
        if dn:
            case.set(nz2dn=1)
        case.old("L0C")[:] = case.slice_of(pools[kind], case.windows["L0C"])
        words = quant_words(case, n)
        if quant[0] == "v":
            at = case.place("FB", n * 8, 128)
            case.old("FB")[at:at + n * 8] = words.view(np.uint8)
            case.registers.append("set_fpc,value=%d" % (at // 128 << 8 | case.draw(0, 255)))
        else:
            word = int(quant_words(case, 1)[0])
            words = np.full(n, word, np.uint64)
            case.registers.append("set_quant_pre,value=%d" % (word - (word >> 63 << 64)))
        if dst == "GM":
            legal = {4: {"fp32": "fp32", "int32": "int32"}[kind], 2: "fp16", 1: "int8"}[element]
            case.atomic = None
            if case.draw(0, 3) == 0:
                case.atomic = (case.pick(["add", "max", "min"]), legal)
                case.registers += ["set_atomic_" + case.atomic[0],
                                   "set_atomic_" + ATOMIC_TYPES[legal]]
                case.undo.append("set_atomic_none")
        case.begin()
        for i in range(number if m and n else 0):
            index = (start // 4 + i * src_nd * 256 + np.arange(columns)[None, :, None] * rows * 16 +
                     np.arange(m)[:, None, None] * 16 + np.arange(16)[None, None, :])
            raw = case.old("L0C").view(np.uint32)[index.reshape(m, columns * 16)[:, :n]]
            codes = results(case, raw, quant, relu, words[None, :])
            for space, part in fix_parts(case, dst, codes):
                put_results(case, space, to + i * dst_nd * element, part.T if dn else part, nd,
                            stride, width)
    return generate


def put_results(case, dst, to, codes, nd, stride, width):
    m, n = codes.shape
    element = codes.dtype.itemsize
    if nd:
        for row in range(m):
            store(case, dst, to + row * stride * element, codes[row].copy().view(np.uint8))
        return
    for column, first in enumerate(range(0, n, width)):
        block = codes[:, first:first + width] # the last one of merged channels may be narrower
        store(case, dst, to + column * stride * BLOCK, np.ascontiguousarray(block).view(
            np.uint8).reshape(-1))


# ---- between L0C and UB of coupled cores ----

FRACTAL_ELEMENTS = 256


def l0c_shape(case, l0c, ub_unit, l0c_unit):
    """Bursts between L0C and UB, with the bytes of a unit on each side; where they lie."""
    count, length = case.draw(0, 3), case.draw(0, 3)
    l0c_gap, ub_gap = case.draw(0, 2), case.draw(0, 3)
    l0c_step = length * l0c_unit + l0c_gap * l0c
    ub_step = length * ub_unit + ub_gap * BLOCK
    in_l0c = case.place("L0C", max(count - 1, 0) * l0c_step + length * l0c_unit, l0c)
    in_ub = case.place("UB", max(count - 1, 0) * ub_step + length * ub_unit, BLOCK)
    case.set(n_burst=count, len_burst=length)
    runs = [(in_l0c + i * l0c_step, in_ub + i * ub_step) for i in range(count)]
    return runs, length, {"L0C": (in_l0c, l0c_gap), "UB": (in_ub, ub_gap)}


def set_sides(case, sides, dst, src):
    case.set(dst=sides[dst][0], src=sides[src][0], src_gap=sides[src][1], dst_gap=sides[dst][1])


def plain_numbers(case, pools, kind, space):
    """Numbers of a kind in a memory, NaN and -0 becoming 0: what relu makes of those is not said."""
    codes = case.slice_of(pools[kind], case.windows[space]).copy().view(ref.CODES[kind])
    if kind != "int32":
        number = ref.decode(kind, codes)
        codes[np.isnan(number) | (number == 0)] = 0
    case.old(space)[:] = codes.view(np.uint8)


def l0c_to_ub(case, pools):
    kind, convert = case.pick([("fp32", "none"), ("fp16", "none"), ("int32", "none"),
                               ("fp32", "f322f16"), ("int32", "deqf16")])
    relu, bits = case.draw(0, 1), ref.BITS[kind]
    element, narrow = bits // 8, 2 if convert != "none" else bits // 8
    fractal = FRACTAL_ELEMENTS * element
    runs, length, sides = l0c_shape(case, fractal, FRACTAL_ELEMENTS * narrow, fractal)
    set_sides(case, sides, "UB", "L0C")
    case.set(convert=convert, relu=relu, type=kind)
    plain_numbers(case, pools, kind, "L0C")
    scale = np.float16(case.draw(-64, 64) / 16)
    case.registers.append("set_deqscale,value=%d" % scale.view(np.uint16))
    case.begin()
    for start, to in runs:
        codes = case.old("L0C")[start:start + length * fractal].copy().view(ref.CODES[kind])
        number = ref.decode(kind, codes)
        if convert == "none":
            codes = np.where(relu & (number < 0), codes.dtype.type(0), codes)
        else:
            result = number * (float(scale) if convert == "deqf16" else 1.0)
            codes = ref.encode("fp16", np.where(relu & (number < 0), 0.0, result), True)
        store(case, "UB", to, codes.view(np.uint8))


def ub_to_l0c(case, pools):
    kind = case.pick(["fp32", "fp16", "int32"])
    widens = kind == "fp32" and case.draw(0, 1)
    element = ref.BITS[kind] // 8
    fractal = FRACTAL_ELEMENTS * element
    ub_unit = FRACTAL_ELEMENTS * (2 if widens else element)
    runs, length, sides = l0c_shape(case, fractal, ub_unit, fractal)
    set_sides(case, sides, "L0C", "UB")
    case.set(convert="f162f32" if widens else "none", type=kind)
    case.old("UB")[:] = case.slice_of(pools["fp16"], case.windows["UB"])
    case.begin()
    for to, start in runs:
        data = case.old("UB")[start:start + length * ub_unit].copy()
        if widens:
            data = ref.encode("fp32", ref.decode("fp16", data.view(np.uint16))).view(np.uint8)
        store(case, "L0C", to, data)


def rows_to_l0c(case, _):
    """A row of 16 elements fills the 16 rows of a fractal."""
    kind = case.pick(["fp32", "fp16", "int32"])
    element = ref.BITS[kind] // 8
    fractal = FRACTAL_ELEMENTS * element
    runs, length, sides = l0c_shape(case, fractal, 16 * element, fractal)
    set_sides(case, sides, "L0C", "UB")
    case.set(type=kind)
    case.begin()
    for to, start in runs:
        rows = case.old("UB")[start:start + length * 16 * element].reshape(length, 1, 16 * element)
        store(case, "L0C", to, np.repeat(rows, 16, axis=1).reshape(-1))


# ---- what there is ----


def on(*archs):
    return lambda machine: machine.arch in archs


ALL = on("dav-c100", "dav-m200", "dav-c220", "dav-c310")
SPLIT = on("dav-c220", "dav-c310")
NOT_C310 = on("dav-c100", "dav-m200", "dav-c220")
HAS_L3D = on("dav-m200", "dav-c220", "dav-c310")

CUBE_SIDE = [
    ("copy_gm_to_cbuf", burst("L1", "GM"), SPLIT),
    ("copy_cbuf_to_gm", burst("GM", "L1"), on("dav-c220")),
    ("copy_cbuf_to_bt", burst("BT", "L1", convert=True), SPLIT),
    ("copy_cbuf_to_fbuf", burst("FB", "L1"), SPLIT),
    ("copy_gm_to_cbuf_multi_nd2nz_b8", nd2nz(1), SPLIT),
    ("copy_gm_to_cbuf_multi_nd2nz_b16", nd2nz(2), SPLIT),
    ("copy_gm_to_cbuf_multi_nd2nz_b32s", nd2nz(4), SPLIT),
    ("copy_gm_to_cbuf_multi_nd2nz", nd2nz(0), on("dav-c310")),
    ("copy_gm_to_cbuf_align_b8", align_in(1, "L1"), on("dav-c310")),
    ("copy_gm_to_cbuf_align_b16", align_in(2, "L1"), on("dav-c310")),
    ("copy_gm_to_cbuf_align_b32", align_in(4, "L1"), on("dav-c310")),
    ("copy_gm_to_cbuf_multi_dn2nz", dn2nz, on("dav-c310")),
    ("load_gm_to_ca", load2d("L0A", "GM"), on("dav-c220")),
    ("load_gm_to_cb", load2d("L0B", "GM"), on("dav-c220")),
    ("load_cbuf_to_ca", load2d("L0A", "L1"), SPLIT),
    ("load_cbuf_to_cb", load2d("L0B", "L1"), SPLIT),
    ("load_cbuf_to_ca_2dv2", load2dv2("L0A"), on("dav-c310")),
    ("load_cbuf_to_cb_2dv2", load2dv2("L0B"), on("dav-c310")),
    ("load_cbuf_to_ca_transpose", load2dt("L0A"), SPLIT),
    ("load_cbuf_to_cb_transpose", load2dt("L0B"), SPLIT),
    ("img2colv2_cbuf_to_ca", load3d("L0A"), SPLIT),
    ("img2colv2_cbuf_to_cb", load3d("L0B"), SPLIT),
    ("create_ca_matrix", fill("L0A", FRACTAL), SPLIT),
    ("create_cb_matrix", fill("L0B", FRACTAL), SPLIT),
    ("create_cbuf_matrix", fill("L1", BLOCK), SPLIT),
    ("copy_matrix_cc_to_gm", fix("GM"), SPLIT),
    ("copy_matrix_cc_to_cbuf", fix("L1"), SPLIT),
]
VECTOR_SIDE = [
    ("copy_gm_to_ubuf", burst("UB", "GM"), ALL),
    ("copy_ubuf_to_gm", burst("GM", "UB"), ALL),
    ("copy_ubuf_to_ubuf", burst("UB", "UB"), ALL),
] + [("copy_gm_to_ubuf_align_b%d" % (8 * size), align_in(size), SPLIT) for size in (1, 2, 4)] + [
    ("copy_ubuf_to_gm_align_b%d" % (8 * size), align_out(size), SPLIT) for size in (1, 2, 4)]
COUPLED_SIDE = [
    ("copy_cbuf_to_ubuf", burst("UB", "L1"), on("dav-c100", "dav-m200")),
    ("copy_ubuf_to_cbuf", burst("L1", "UB"), on("dav-c100", "dav-m200")),
]
COUPLED_CUBE = [
    ("copy_gm_to_cbuf", burst("L1", "GM"), on("dav-c100", "dav-m200")),
    ("load_cbuf_to_ca", load2d("L0A", "L1"), on("dav-c100", "dav-m200")),
    ("load_cbuf_to_cb", load2d("L0B", "L1"), on("dav-c100", "dav-m200")),
    ("load_gm_to_ca", load2d("L0A", "GM"), on("dav-c100", "dav-m200")),
    ("load_gm_to_cb", load2d("L0B", "GM"), on("dav-c100", "dav-m200")),
    ("img2colv2_cbuf_to_ca", load3d("L0A"), on("dav-m200")),
    ("img2colv2_cbuf_to_cb", load3d("L0B"), on("dav-m200")),
    ("img2col_cbuf_to_ca", img2col("L0A"), on("dav-c100", "dav-m200")),
    ("img2col_cbuf_to_cb", img2col("L0B"), on("dav-c100", "dav-m200")),
    ("create_ca_matrix", fill("L0A", FRACTAL), on("dav-c100", "dav-m200")),
    ("create_cb_matrix", fill("L0B", FRACTAL), on("dav-c100", "dav-m200")),
    ("create_cbuf_matrix", fill("L1", BLOCK), on("dav-c100", "dav-m200")),
]
COUPLED_L0C = [
    ("copy_matrix_cc_to_ubuf", l0c_to_ub, on("dav-c100", "dav-m200")),
    ("copy_matrix_ubuf_to_cc", ub_to_l0c, on("dav-c100", "dav-m200")),
    ("broadcast_ub_to_cc", rows_to_l0c, on("dav-c100", "dav-m200")),
]
BETWEEN_CORES = [("copy_matrix_cc_to_ub", fix("UB0"), on("dav-c310"))]
COUPLED_AIC = tuple(window for window in AIC if window[0] not in ("BT", "FB"))
GROUPS = [("AIC", AIC, CUBE_SIDE), ("AIC", AIC, CUBE_SIDE), ("AIV", AIV, VECTOR_SIDE),
          ("AICORE", COUPLED, COUPLED_SIDE), ("AICORE", COUPLED_AIC, COUPLED_CUBE),
          ("AICORE", L0C_UB, COUPLED_L0C), ("AIC", MIXED, BETWEEN_CORES),
          ("AIC", SCALES, [("load_cbuf_to_ca_mx", load_scales("L0A_MX"), on("dav-c310")),
                           ("load_cbuf_to_cb_mx", load_scales("L0B_MX"), on("dav-c310"))]),
          ("AIC", SPARSE,
           [("load_cbuf_to_cb_sp", load_sparse, lambda machine: machine.arch == "dav-c220")])]

if __name__ == "__main__":
    sys.exit(images.main(__doc__, GROUPS))
