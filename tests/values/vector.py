# SPDX-License-Identifier: Apache-2.0
"""Vector instructions against an independent reference in numpy: random ones, many of them.

    vector.py DRIVER [--cases N] [--seed S] [--soc NAME]... [--only STEM]

Integers, movement and single rounded operations have to agree in every bit of the image of UB;
TOLERANCE lists what may be off by a unit in the last place. Prints the seed; ends with 1 and the
instructions that differ.
"""

import argparse
import collections
import sys

import numpy as np

import reference as ref

IMAGE = 16384
BLOCK = 32
BATCH = 400

# Functions that are not computed exactly before they are rounded, and sums of exact products that
# the reference itself rounds twice.
TOLERANCE = {"vexp": 1, "vln": 1, "vrsqrt": 1, "vmla": 1, "vmadd": 1, "vmaddrelu": 1, "vaxpy": 1,
             "vmla_f162f32": 1, "vaxpy_f162f32": 1, "vf_exp": 1, "vf_ln": 1}

NUMBER = ["fp16", "fp32", "int16", "int32"]
FLOAT = ["fp16", "fp32"]
INTEGER = ["int16", "uint16", "int32", "uint32"]
ANY = ["fp16", "bf16", "fp32", "int16", "uint16", "int32", "uint32"]


class Machine:
    """What a generation does differently."""

    def __init__(self, soc):
        self.soc = soc
        self.arch = {"Ascend910A": "dav-c100", "Ascend310P3": "dav-m200",
                     "Ascend950PR_9589": "dav-c310"}.get(soc, "dav-c220")
        self.saturates = self.arch in ("dav-c100", "dav-m200")
        self.fills_empty_groups = self.arch == "dav-c310"
        self.split = self.arch in ("dav-c220", "dav-c310")
        self.start()

    def start(self):
        """A core that has done nothing yet: registers that instructions write themselves."""
        self.compare_mask = np.zeros(128, bool)

    def head(self):
        core = "AIV" if self.split else "AICORE"
        return ("trace,version=1\nkernel,name=values,arch=%s,blocks=1\nstream,core=%s\n"
                % (self.arch, core))


class Case:
    """One instruction: register writes, operands, image of UB, and the expected result."""

    def __init__(self, op, rng, pools, kind):
        self.op = op
        self.rng = rng
        self.rows = []
        self.fields = []
        self.plain = rng.random() < 0.3  # operands without gaps, as most of real kernels are
        self.kind = kind  # of the elements written
        data = pools[kind if kind in pools else "int16"]
        at = int(rng.integers(0, (len(data) - IMAGE) // BLOCK)) * BLOCK
        self.before = data[at:at + IMAGE].copy()
        self.after = None  # made when the inputs are final

    def start(self):
        self.after = self.before.copy()

    def set(self, **fields):
        self.fields += ["%s=%s" % item for item in fields.items()]

    def text(self):
        return "".join(row + "\n" for row in self.rows) + ",".join([self.op] + self.fields) + "\n"

    def place(self, span, alignment=BLOCK):
        """A random place for N bytes."""
        return int(self.rng.integers(0, (IMAGE - span) // alignment + 1)) * alignment


class TooLarge(Exception):
    """The operands of a case do not fit its image; another one is drawn."""


# ---- lanes and walks ----


class Lanes:
    """Mask register and repeats: `active` holds an array of bool for each repeat."""

    def __init__(self, case, bits, whole=False, repeats=4, counted=False):
        """counted: in counter mode the mask counts the elements of a repeat, not of all."""
        rng = case.rng
        self.per_repeat = 2048 // bits
        per = self.per_repeat
        if rng.random() < 0.25:
            count = int(rng.integers(0, per * min(repeats, 3) + 1))
            if rng.random() < 0.3:
                count -= count % per
            case.rows += ["set_mask_count", "set_vector_mask,high=0,low=%d" % count]
            if counted:
                self.per_repeat = max(count, 1)
                self.argument = int(rng.integers(0, repeats + 1))
                self.active = [np.ones(count, bool)] * (self.argument if count else 0)
                return
            self.argument = int(rng.integers(0, 256))
            self.active = [np.arange(per) < count - start for start in range(0, count, per)]
            return
        mask = self.mask = self.random_mask(rng, per, case.plain)
        bits_low, bits_high = (int("".join("01"[int(bit)] for bit in reversed(half)) or "0", 2)
                               for half in (mask[:64], mask[64:128]))
        case.rows += ["set_mask_norm",
                      "set_vector_mask,high=0x%x,low=0x%x" % (bits_high, bits_low)]
        self.argument = int(rng.integers(0, repeats + 1))
        lanes = np.ones(per, bool) if whole else mask[:per]
        self.active = [lanes] * self.argument

    @staticmethod
    def random_mask(rng, per, plain):
        """128 bits; those above the lanes of a repeat may be set too."""
        pick = rng.random()
        mask = np.zeros(128, bool)
        if pick < (0.8 if plain else 0.4):
            mask[:] = True
        elif pick < 0.6:
            mask[:int(rng.integers(1, per + 1))] = True
        elif pick < 0.65:
            mask[int(rng.integers(0, per))] = True
        elif pick < 0.98:
            mask = rng.random(128) < rng.random()
        return mask


class Walk:
    """An operand by blocks and repeats."""

    def __init__(self, case, name, lanes, kind, dst=False, like=None, tame=False, strides=True,
                 repeat_name=None):
        rng = case.rng
        self.kind = kind
        self.bits = ref.BITS[kind]
        self.per_block = 256 // self.bits
        blocks = -(-lanes.per_repeat // self.per_block)
        count = max(len(lanes.active), 1)
        if like is not None:
            self.block, self.repeat, self.base = like.block, like.repeat, like.base
        else:
            self.block = 1 if tame else int(rng.choice([1, 1, 1, 2, 3, 8] if dst
                                                       else [0, 1, 1, 1, 2, 3, 8]))
            self.repeat = int(rng.choice([blocks, blocks + 1, 16] if tame and dst
                                         else [blocks, blocks, 0, 1, 3, 16, 40]))
            if case.plain:
                self.repeat = blocks
            if case.plain or not strides:
                self.block = 1
            span = ((count - 1) * self.repeat + (blocks - 1) * self.block + 1) * BLOCK
            if span > IMAGE:
                raise TooLarge
            self.base = case.place(span)
        self.span = ((count - 1) * self.repeat + (blocks - 1) * self.block + 1) * BLOCK
        lane = np.arange(lanes.per_repeat)
        self.offsets = (lane // self.per_block * self.block * BLOCK * 8
                        + lane % self.per_block * self.bits)  # in bits
        case.set(**{name: self.base})
        if strides:
            case.set(**{name + "_block": self.block})
        case.set(**{repeat_name or name + "_repeat": self.repeat})

    def index(self, repeat):
        """Numbers of the elements in a view of UB by the kind's code."""
        return ((self.base + repeat * self.repeat * BLOCK) * 8 + self.offsets) // self.bits

    def overlaps(self, other):
        return self.base < other.base + other.span and other.base < self.base + self.span

    def read(self, ub, repeat):
        index = self.index(repeat)
        if self.bits == 4:
            nibbles = ub[index // 2] >> (index % 2 * 4).astype(np.uint8) & 15
            return nibbles.astype(np.int8) - (nibbles >= 8) * np.int8(16)
        return ub.view(ref.CODES[self.kind])[index]

    def write(self, ub, repeat, active, codes):
        index = self.index(repeat)[active]
        if self.bits == 4:
            for at, code in zip(index, codes[active]):
                shift = int(at % 2 * 4)
                ub[at // 2] = int(ub[at // 2]) & ~(15 << shift) & 255 | (int(code) & 15) << shift
            return
        ub.view(ref.CODES[self.kind])[index] = codes[active]


def disjoint(dst, sources):
    """Whether no repeat reads what an earlier repeat has written."""
    return all(not dst.overlaps(src) or (dst.base, dst.block, dst.repeat) ==
               (src.base, src.block, src.repeat) for src in sources)


def random_scalar(case, kind, pools):
    """A scalar operand and its number."""
    data = pools[kind].view(ref.CODES[kind])
    code = data[int(case.rng.integers(0, len(data)))]
    case.set(scalar=int(code))
    return code


# ---- operations on numbers ----


def larger(a, b):
    zeros = (a == 0) & (b == 0)
    result = np.where(zeros, np.where(np.signbit(a) & np.signbit(b), -0.0, 0.0), np.maximum(a, b))
    return np.where(np.isnan(a) | np.isnan(b), np.nan, result)


def smaller(a, b):
    return -larger(-a, -b)


def relu(a):
    return larger(a, np.zeros_like(a))


FLOAT_BINARY = {
    "vadd": lambda a, b, d: a + b, "vsub": lambda a, b, d: a - b, "vmul": lambda a, b, d: a * b,
    "vdiv": lambda a, b, d: a / b, "vmax": lambda a, b, d: larger(a, b),
    "vmin": lambda a, b, d: smaller(a, b), "vaddrelu": lambda a, b, d: relu(a + b),
    "vsubrelu": lambda a, b, d: relu(a - b), "vmla": lambda a, b, d: a * b + d,
    "vmla_f162f32": lambda a, b, d: a * b + d, "vmadd": lambda a, b, d: a * d + b,
    "vmaddrelu": lambda a, b, d: relu(a * d + b),
}
INT_BINARY = {
    "vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vmul": lambda a, b: a * b,
    "vmax": np.maximum, "vmin": np.minimum, "vand": lambda a, b: a & b, "vor": lambda a, b: a | b,
    "vaddrelu": lambda a, b: np.maximum(a + b, 0), "vsubrelu": lambda a, b: np.maximum(a - b, 0),
}
FLOAT_SCALAR = {"vadds": "vadd", "vmuls": "vmul", "vmaxs": "vmax", "vmins": "vmin"}
FLOAT_UNARY = {
    "vabs": np.abs, "vexp": np.exp, "vln": np.log, "vrec": lambda a: 1 / a, "vsqrt": np.sqrt,
    "vrsqrt": lambda a: 1 / np.sqrt(a), "vrelu": relu,
}


def is_float(kind):
    return kind in ("fp16", "bf16", "fp32")


def gen_binary(case, machine, pools):
    source = "fp16" if case.op == "vmla_f162f32" else case.kind
    lanes = Lanes(case, ref.BITS[case.kind])
    tame = case.op in TOLERANCE
    case.set(repeat=lanes.argument)
    dst = Walk(case, "dst", lanes, case.kind, dst=True, tame=tame)
    same = [case.rng.random() < 0.2 and source == case.kind for _ in range(2)]
    src = [Walk(case, "src%d" % i, lanes, source, like=dst if same[i] else None)
           for i in range(2)]
    if case.op != "vmla_f162f32":
        case.set(type=case.kind)
    if tame and not disjoint(dst, src):
        raise TooLarge
    case.start()
    for repeat, active in enumerate(lanes.active):
        a, b = (walk.read(case.after, repeat) for walk in src)
        if is_float(case.kind):
            old = ref.decode(case.kind, dst.read(case.after, repeat))
            result = FLOAT_BINARY[case.op](ref.decode(source, a), ref.decode(source, b), old)
            codes = ref.encode(case.kind, result, machine.saturates)
        else:
            codes = INT_BINARY[case.op](a, b)
        dst.write(case.after, repeat, active, codes)


def shift(op, codes, count):
    bits = codes.dtype.itemsize * 8
    wide = codes.astype(np.int64)
    if op == "vshr":
        return (wide >> min(count, bits)).astype(codes.dtype)
    if codes.dtype.kind == "u":
        return (wide << min(count, bits) & ((1 << bits) - 1)).astype(codes.dtype)
    low = wide << min(count, bits) & ((1 << (bits - 1)) - 1)
    return (np.where(wide < 0, -(1 << (bits - 1)), 0) + low).astype(codes.dtype)


def gen_scalar(case, machine, pools):
    source = "fp16" if case.op == "vaxpy_f162f32" else case.kind
    lanes = Lanes(case, ref.BITS[case.kind])
    tame = case.op in TOLERANCE
    case.set(repeat=lanes.argument)
    dst = Walk(case, "dst", lanes, case.kind, dst=True, tame=tame)
    same = case.rng.random() < 0.2 and source == case.kind
    src = Walk(case, "src", lanes, source, like=dst if same else None)
    if source == case.kind:
        case.set(type=case.kind)
    if tame and not disjoint(dst, [src]):
        raise TooLarge
    if case.op in ("vshl", "vshr"):
        scalar = int(case.rng.integers(0, ref.BITS[case.kind] + 1))
        case.set(scalar=scalar)
    else:
        scalar = random_scalar(case, source, pools)
    case.start()
    for repeat, active in enumerate(lanes.active):
        a = src.read(case.after, repeat)
        if case.op in ("vshl", "vshr"):
            codes = shift(case.op, a, scalar)
        elif is_float(case.kind):
            x, s = ref.decode(source, a), ref.decode(source, np.array([scalar]))
            if case.op == "vlrelu":
                result = np.where(x >= 0, x, x * s)
            elif case.op in ("vaxpy", "vaxpy_f162f32"):
                result = x * s + ref.decode(case.kind, dst.read(case.after, repeat))
            else:
                result = FLOAT_BINARY[FLOAT_SCALAR[case.op]](x, s, None)
            codes = ref.encode(case.kind, result, machine.saturates)
        else:
            codes = INT_BINARY[FLOAT_SCALAR[case.op]](a, np.array([scalar]))
        dst.write(case.after, repeat, active, codes)


def gen_unary(case, machine, pools):
    lanes = Lanes(case, ref.BITS[case.kind])
    tame = case.op in TOLERANCE
    case.set(repeat=lanes.argument)
    dst = Walk(case, "dst", lanes, case.kind, dst=True, tame=tame)
    src = Walk(case, "src", lanes, case.kind, like=dst if case.rng.random() < 0.2 else None)
    case.set(type=case.kind)
    if tame and not disjoint(dst, [src]):
        raise TooLarge
    case.start()
    for repeat, active in enumerate(lanes.active):
        codes = src.read(case.after, repeat)
        if is_float(case.kind):
            codes = ref.encode(case.kind, FLOAT_UNARY[case.op](ref.decode(case.kind, codes)),
                               machine.saturates)
        elif case.op == "vnot":
            codes = ~codes
        elif case.op == "vrelu":
            codes = np.maximum(codes, 0)
        dst.write(case.after, repeat, active, codes)


def gen_copy(case, machine, pools):
    lanes = Lanes(case, ref.BITS[case.kind], counted=True)
    case.set(repeat=lanes.argument)
    dst = Walk(case, "dst", lanes, case.kind, dst=True)
    src = Walk(case, "src", lanes, case.kind, like=dst if case.rng.random() < 0.2 else None)
    case.set(type=case.kind)
    # A long repeat is read and written width by width.
    if lanes.per_repeat > 2048 // ref.BITS[case.kind] and not disjoint(dst, [src]):
        raise TooLarge
    case.start()
    for repeat, active in enumerate(lanes.active):
        dst.write(case.after, repeat, active, src.read(case.after, repeat))


def gen_dup(case, machine, pools):
    lanes = Lanes(case, ref.BITS[case.kind])
    case.set(repeat=lanes.argument)
    dst = Walk(case, "dst", lanes, case.kind, dst=True)
    case.set(type=case.kind)
    scalar = random_scalar(case, case.kind, pools)
    case.start()
    for repeat, active in enumerate(lanes.active):
        dst.write(case.after, repeat, active, np.full(lanes.per_repeat, scalar))


VF_SAME = {"vf_exp": "vexp", "vf_ln": "vln", "vf_sqrt": "vsqrt", "vf_abs": "vabs",
           "vf_relu": "vrelu"}


def gen_function(case, machine, pools):
    """A vector function: contiguous elements, as the instruction of the same name does them."""
    name = case.op[3:]
    bits = ref.BITS[case.kind]
    count = int(case.rng.integers(0, 600))
    span = count * bits // 8 + BLOCK
    sources = 2 if "v" + name in FLOAT_BINARY or name in ("and", "or") else 0 if name == "dup" else 1
    names = {0: [], 1: ["src"], 2: ["src0", "src1"]}[sources]
    at = {part: case.place(span) for part in ["dst"] + names}
    places = sorted(at.values())
    if any(b - a < span for a, b in zip(places, places[1:])):
        raise TooLarge
    case.set(count=count, type=case.kind, **at)
    scalar = random_scalar(case, case.kind, pools) if name == "dup" or name.endswith("s") and \
        name in ("adds", "muls", "maxs", "mins") else None
    case.start()
    view = case.after.view(ref.CODES[case.kind])
    operands = [view[at[part] * 8 // bits:][:count] for part in names]
    if scalar is not None:
        operands.append(np.full(count, scalar, view.dtype))
    if name == "dup":
        codes = operands[0]
    elif is_float(case.kind):
        numbers = [ref.decode(case.kind, operand) for operand in operands]
        if case.op in VF_SAME:
            numbers = FLOAT_UNARY[VF_SAME[case.op]](*numbers)
        else:
            numbers = FLOAT_BINARY["v" + (name[:-1] if scalar is not None else name)](*numbers, None)
        codes = ref.encode(case.kind, numbers, machine.saturates)
    elif name == "relu":
        codes = np.maximum(operands[0], 0)
    else:
        codes = INT_BINARY["v" + (name[:-1] if scalar is not None else name)](*operands)
    view[at["dst"] * 8 // bits:][:count] = codes


# ---- conversions ----

LETTERS = {"f32": "fp32", "f16": "fp16", "bf16": "bf16", "s64": "int64", "s32": "int32",
           "s16": "int16", "s8": "int8", "u8": "uint8", "s4": "int4"}
RANGE = {"int4": (-8, 7), "int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767),
         "int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1)}
NO_ROUND = {"vconv_f162f32", "vconv_bf162f32", "vconv_s162f32", "vconv_s82f16", "vconv_u82f16",
            "vconv_s42f16", "vconv_s322s16", "vconv_s322s64", "vconv_s642s32", "vconv_deq"}


def integer_to_fp32(values, mode):
    """Python integers, exactly."""
    codes = []
    for value in values:
        value = int(value)
        shift_count = max(abs(value).bit_length() - 24, 0)
        kept, lost = abs(value) >> shift_count, abs(value) & ((1 << shift_count) - 1)
        half = (1 << shift_count) >> 1
        if lost and (mode == "r" and (lost > half or (lost == half and kept & 1))
                     or mode == "a" and lost >= half or mode == "f" and value < 0
                     or mode == "c" and value > 0):
            kept += 1
        codes.append(float(kept << shift_count) * (-1 if value < 0 else 1))
    return ref.encode("fp32", np.array(codes))


def to_integer(kind, values, mode):
    low, high = RANGE[kind]
    whole = ref.round_integral(np.where(np.isfinite(values), values, 0.0), mode)
    whole = np.where(np.isinf(values), np.sign(values) * 1e30, whole)
    if kind == "int64":
        cut = [high if x >= 2.0**63 else low if x < -(2.0**63) else int(x) for x in whole]
        return np.array(cut, np.int64)
    return np.clip(whole, low, high).astype(np.int8 if kind == "int4" else ref.CODES[kind])


def convert(machine, source, target, codes, mode, scale):
    if source == "int64" or source == "int32" and target in ("fp32", "int64", "int16"):
        if target == "fp32":
            return integer_to_fp32(codes, mode)
        low, high = RANGE[target]
        return np.clip(codes.astype(np.int64), low, high).astype(ref.CODES[target])
    values = ref.decode(source, codes) if source != "int4" else codes.astype(np.float64)
    if scale is not None:
        return ref.encode("fp16", values * scale, machine.saturates)
    if target in ("fp16", "bf16"):
        return ref.round_float(target, values, mode, machine.saturates and target in ("fp16", "bf16"))
    if target == "fp32":
        return ref.encode("fp32", ref.round_integral(values, mode) if source == "fp32" else values)
    return to_integer(target, values, mode)


def conversion_kinds(op):
    if op == "vconv_deq":
        return "int32", "fp16"
    name = op[len("vconv_"):]
    source = next(part for part in LETTERS if name.startswith(part + "2"))
    return LETTERS[source], LETTERS[name[len(source) + 1:]]


def gen_convert(case, machine, pools):
    source, target = conversion_kinds(case.op)
    data = pools[source]
    at = int(case.rng.integers(0, (len(data) - IMAGE) // BLOCK)) * BLOCK
    case.before = data[at:at + IMAGE].copy()
    mode = "r"
    if case.op not in NO_ROUND:
        modes = list("rfcaz") + ["o"] * (case.op == "vconv_f322f16")
        if case.op == "vconv_f322f16" and not machine.split:
            modes = ["r", "o"]
        mode = str(case.rng.choice(modes))
        case.set(round=mode)
    scale = None
    if case.op == "vconv_deq":
        code = pools["fp16"].view(np.uint16)[int(case.rng.integers(0, 4096))]
        case.rows.append("set_deqscale,value=%d" % code)
        scale = float(np.array([code]).view(np.float16)[0])
    lanes = Lanes(case, max(ref.BITS[source], ref.BITS[target]))
    case.set(repeat=lanes.argument)
    dst = Walk(case, "dst", lanes, target, dst=True)
    src = Walk(case, "src", lanes, source)
    case.start()
    for repeat, active in enumerate(lanes.active):
        codes = convert(machine, source, target, src.read(case.after, repeat), mode, scale)
        dst.write(case.after, repeat, active, codes)


def gen_binary_convert(case, machine, pools):
    if case.op == "vadddeqrelu":
        source, target = "int32", "fp16"
    else:
        source, target = (LETTERS[part] for part in case.op.split("_")[1].rsplit("2", 1))
    if case.op.endswith("f322f16"):
        source, target = "fp32", "fp16"
    data = pools[source]
    at = int(case.rng.integers(0, (len(data) - IMAGE) // BLOCK)) * BLOCK
    case.before = data[at:at + IMAGE].copy()
    scale = 1.0
    if case.op == "vadddeqrelu":
        code = pools["fp16"].view(np.uint16)[int(case.rng.integers(0, 4096))]
        case.rows.append("set_deqscale,value=%d" % code)
        scale = float(np.array([code]).view(np.float16)[0])
    lanes = Lanes(case, ref.BITS[source])
    case.set(repeat=lanes.argument)
    dst = Walk(case, "dst", lanes, target, dst=True)
    src = [Walk(case, "src%d" % i, lanes, source) for i in range(2)]
    case.start()
    for repeat, active in enumerate(lanes.active):
        a, b = (ref.decode(source, walk.read(case.after, repeat)) for walk in src)
        values = a * b if "mul" in case.op else a - b if "sub" in case.op else a + b
        if source == "fp32":
            values = values.astype(np.float32).astype(np.float64)
        values = values * scale
        if "mul" not in case.op:
            values = relu(values)
        codes = (ref.encode("fp16", values, machine.saturates) if target == "fp16"
                 else to_integer(target, values, "r"))
        dst.write(case.after, repeat, active, codes)


def gen_convert_half(case, machine, pools):
    rng = case.rng
    by_element = "vdeqs" in case.op
    words, scales, offsets, signs = [], [], [], []
    for _ in range(16 if by_element else 1):
        code = int(np.float32(rng.standard_normal() * 2.0 ** rng.integers(-8, 2)).view(np.uint32))
        offset, signed = int(rng.integers(-256, 256)), int(rng.integers(0, 2))
        words.append(code | (offset & 0x1FF) << 37 | signed << 46)
        scales.append(float(np.array([code & ~0x1FFF], np.uint32).view(np.float32)[0]))
        offsets.append(offset)
        signs.append(signed)
    register = words[0]
    if by_element:
        block = int(rng.integers(0, (IMAGE - 128) // BLOCK))
        case.before = case.before.copy()
        case.before[block * BLOCK:block * BLOCK + 128] = np.array(words, np.uint64).view(np.uint8)
        register = block | int(rng.integers(0, 1 << 40)) << 14
    case.rows.append("set_deqscale,value=%d" % register)
    lanes = Lanes(case, 16)
    case.set(repeat=lanes.argument)
    dst = Walk(case, "dst", lanes, "int16", dst=True)
    src = Walk(case, "src", lanes, "int16")
    case.start()
    lane = np.arange(lanes.per_repeat)
    half = 16 if case.op.endswith("h") else 0
    choice = lane % len(words)
    scale, offset = np.array(scales)[choice], np.array(offsets)[choice]
    signed = np.array(signs)[choice]
    for repeat, active in enumerate(lanes.active):
        values = np.rint(src.read(case.after, repeat) * scale + offset)
        codes = np.clip(values, np.where(signed, -128, 0), np.where(signed, 127, 255))
        codes = codes.astype(np.int64)
        at = dst.index(repeat) // 16 * 32 + half + lane % 16
        case.after[at[active]] = (codes & 255).astype(np.uint8)[active]


# ---- comparison and selection ----

RELATIONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
             "gt": np.greater, "ge": np.greater_equal}


def write_bits(ub, base, first, bits):
    """Bits, lowest first, at bit number `first`."""
    count = len(bits)
    start, end = base + first // 8, base + -(-(first + count) // 8)
    old = np.unpackbits(ub[start:end], bitorder="little")
    old[first % 8:first % 8 + count] = bits
    ub[start:end] = np.packbits(old, bitorder="little")


def gen_compare(case, machine, pools):
    lanes = Lanes(case, ref.BITS[case.kind], whole=True)
    case.set(repeat=lanes.argument)
    scalar_form = case.op.startswith("vcmpvs")
    names = ["src"] if scalar_form else ["src0", "src1"]
    src = [Walk(case, name, lanes, case.kind) for name in names]
    dst = case.place(512)
    case.set(dst=dst, type=case.kind)
    scalar = random_scalar(case, case.kind, pools) if scalar_form else None
    relation = RELATIONS[case.op[-2:]]
    case.start()
    for repeat, active in enumerate(lanes.active):
        a = ref.decode(case.kind, src[0].read(case.after, repeat))
        b = ref.decode(case.kind, np.array([scalar]) if scalar_form
                       else src[1].read(case.after, repeat))
        bits = relation(a, b)[:int(active.sum())]
        write_bits(case.after, dst, repeat * lanes.per_repeat, bits)


def gen_compare_register(case, machine, pools):
    lanes = Lanes(case, ref.BITS[case.kind])
    walks = []
    for name in ("src0", "src1"):
        block = int(case.rng.choice([0, 1, 1, 3]))
        base = case.place((7 * block + 1) * BLOCK)
        case.set(**{name: base, name + "_block": block})
        lane = np.arange(lanes.per_repeat)
        per_block = 256 // ref.BITS[case.kind]
        walks.append(((base + lane // per_block * block * BLOCK) * 8 // ref.BITS[case.kind]
                      + lane % per_block))
    case.set(type=case.kind)
    case.start()
    counter = case.rows[0] == "set_mask_count"
    if counter:
        active = lanes.active[0] if lanes.active else np.zeros(lanes.per_repeat, bool)
    else:
        active = lanes.mask[:lanes.per_repeat]
    view = case.after.view(ref.CODES[case.kind])
    a, b = (ref.decode(case.kind, view[index]) for index in walks)
    machine.compare_mask[:lanes.per_repeat][active] = RELATIONS[case.op[-2:]](a, b)[active]


def gen_compare_mask(case, machine, pools):
    at = case.place(16, 16)
    case.set(**{"src" if case.op == "set_cmpmask" else "dst": at})
    case.start()
    if case.op == "set_cmpmask":
        machine.compare_mask = np.unpackbits(case.after[at:at + 16], bitorder="little") != 0
    else:
        case.after[at:at + 16] = np.packbits(machine.compare_mask, bitorder="little")


def gen_select(case, machine, pools):
    lanes = Lanes(case, ref.BITS[case.kind])
    mode = str(case.rng.choice(["register", "scalar", "tensor"]))
    case.set(repeat=lanes.argument, mode=mode)
    dst = Walk(case, "dst", lanes, case.kind, dst=True)
    src0 = Walk(case, "src0", lanes, case.kind, like=dst if case.rng.random() < 0.2 else None)
    mask = case.place(512)
    case.set(mask=mask, type=case.kind)
    if mode == "scalar":
        src1 = case.place(BLOCK)
        case.set(src1=src1)
    else:
        src1 = Walk(case, "src1", lanes, case.kind)
    case.start()
    for repeat, active in enumerate(lanes.active):
        start = repeat * lanes.per_repeat
        bits = np.unpackbits(case.after[mask:mask + 512], bitorder="little")
        choice = bits[start:start + lanes.per_repeat].astype(bool)
        if mode == "register":
            choice = machine.compare_mask[:lanes.per_repeat]
        codes = case.after.view(ref.CODES[case.kind])
        other = (np.full(lanes.per_repeat, codes[src1 * 8 // ref.BITS[case.kind]])
                 if mode == "scalar" else src1.read(case.after, repeat))
        dst.write(case.after, repeat, active,
                  np.where(choice, src0.read(case.after, repeat), other))


# ---- reductions ----


def tree(machine, kind, values, active, combine):
    """A binary tree over neighbours; lanes that are not active are not there. Sums are rounded at
    each level, and so are the operands that go up alone: on saturating generations it shows."""
    level = [value if there else None for value, there in zip(values, active)]
    while len(level) > 1:
        pairs = []
        for left, right in zip(level[::2], level[1::2]):
            if left is None and right is None:
                pairs.append(None)
                continue
            if left is None or right is None:
                value = np.array([right if left is None else left])
            else:
                value = combine(np.array([left]), np.array([right]))
            if combine is COMBINE["add"]:
                value = ref.decode(kind, ref.encode(kind, value, machine.saturates))
            pairs.append(value[0])
        level = pairs
    return level[0]


COMBINE = {"add": lambda a, b: a + b, "max": larger, "min": smaller}
EMPTY = {"add": 0.0, "max": -np.inf, "min": np.inf}


def store_float(ub, kind, at, value, machine):
    code = ref.encode(kind, np.array([value]), machine.saturates)
    ub.view(ref.CODES[kind])[at * 8 // ref.BITS[kind]] = code[0]


def reduce_operands(case, unit):
    lanes = Lanes(case, ref.BITS[case.kind], repeats=3)
    src = Walk(case, "src", lanes, case.kind)
    stride = int(case.rng.integers(0, 4))
    results = max(len(lanes.active), 1)
    alignment = min(unit, BLOCK)
    dst = case.place(((results - 1) * stride + 1) * unit, alignment)
    case.set(repeat=lanes.argument, dst=dst, dst_repeat=stride, type=case.kind)
    case.start()
    return lanes, src, [dst + repeat * stride * unit for repeat in range(len(lanes.active))]


def gen_reduce(case, machine, pools):
    lanes, src, places = reduce_operands(case, ref.BITS[case.kind] // 8)
    for repeat, active in enumerate(lanes.active):
        values = ref.decode(case.kind, src.read(case.after, repeat))
        total = tree(machine, case.kind, values, active, COMBINE["add"])
        if total is not None:
            store_float(case.after, case.kind, places[repeat], total, machine)


def gen_reduce_index(case, machine, pools):
    order = str(case.rng.choice(["value_index", "index_value", "value", "index"]))
    element = ref.BITS[case.kind] // 8
    unit = {"value": element, "index": 4}.get(order, 2 * element)
    case.set(order=order)
    lanes, src, places = reduce_operands(case, unit)
    index_type = np.uint16 if element == 2 else np.uint32
    for repeat, active in enumerate(lanes.active):
        values = ref.decode(case.kind, src.read(case.after, repeat))
        if not active.any():
            continue
        best = None
        for lane in np.flatnonzero(active):
            better = (best is None or np.isnan(values[lane])
                      or (values[lane] > values[best] if case.op == "vcmax"
                          else values[lane] < values[best]))
            if better:
                best = lane
            if np.isnan(values[best]):
                break
        at = places[repeat]
        if order == "index":
            case.after[at:at + 4].view(np.uint32)[0] = best
            continue
        store_float(case.after, case.kind, at + (element if order == "index_value" else 0),
                    values[best], machine)
        if order != "value":
            place = at + (element if order == "value_index" else 0)
            case.after[place:place + element].view(index_type)[0] = best


def gen_group(case, machine, pools):
    """vcgadd, vcgmax, vcgmin by block, vcpadd by pair."""
    what = "add" if case.op == "vcpadd" else case.op[3:]
    element = ref.BITS[case.kind] // 8
    group = 2 if case.op == "vcpadd" else BLOCK // element
    unit = 128 if case.op == "vcpadd" else 8 * element
    lanes, src, places = reduce_operands(case, unit)
    for repeat, active in enumerate(lanes.active):
        values = ref.decode(case.kind, src.read(case.after, repeat))
        if not active.any():
            continue
        for number in range(lanes.per_repeat // group):
            part = slice(number * group, (number + 1) * group)
            result = tree(machine, case.kind, values[part], active[part], COMBINE[what])
            if result is None and machine.fills_empty_groups:
                result = EMPTY[what]
            if result is not None:
                store_float(case.after, case.kind, places[repeat] + number * element, result,
                            machine)


def gen_compact(case, machine, pools):
    rng = case.rng
    bits = ref.BITS[case.kind]
    width = 2048 // bits
    if rng.random() < 0.4:
        elements = int(rng.integers(0, 3 * width))
        case.rows += ["set_mask_count", "set_vector_mask,high=0,low=%d" % elements]
    else:
        elements = width
        case.rows += ["set_mask_norm"]
    repeats = int(rng.integers(0, 4))
    argument, totals = repeats, [elements] * repeats
    if case.op == "vreduce" and case.rows[0] == "set_mask_count":
        argument = int(rng.integers(0, 256))
        totals = [min(width, elements - start) for start in range(0, elements, width)]
        repeats = len(totals)
    block = int(rng.choice([0, 1, 1, 2]))
    stride0, stride1 = int(rng.choice([8, 0, 3, 24])), int(rng.integers(0, 3))
    pattern = int(rng.integers(0, 7 if case.op == "vreduce" else 8))
    per_block = 256 // bits
    blocks = -(-max(elements, 1) // per_block)
    span = ((max(repeats, 1) - 1) * stride0 + (blocks - 1) * block + 1) * BLOCK
    written = sum(totals) * bits // 8 + BLOCK
    if span > IMAGE or written > IMAGE:
        raise TooLarge
    src0, dst = case.place(span), case.place(written)
    src1 = case.place(2 * stride1 * BLOCK + 64)
    case.set(dst=dst, src0=src0, src1=src1, repeat=argument, src0_block=block, pattern=pattern,
             src0_repeat=stride0, src1_repeat=stride1, type=case.kind)
    case.start()
    view = case.after.view(ref.CODES[case.kind])
    out = dst * 8 // bits
    for repeat in range(repeats):
        for start in range(0, totals[repeat], width):
            lane = np.arange(start, min(start + width, totals[repeat]))
            if pattern == 0:
                at = src1 + repeat * stride1 * BLOCK
                taken = np.unpackbits(case.after[at:at + 64], bitorder="little")[lane] != 0
            elif pattern <= 2:
                taken = lane % 2 == pattern - 1
            else:
                taken = (pattern == 7) | (lane % 4 == pattern - 3)
            index = ((src0 + (repeat * stride0 + lane // per_block * block) * BLOCK) * 8
                     // bits + lane % per_block)
            codes = view[index][taken]
            view[out:out + len(codes)] = codes
            out += len(codes)


# ---- movement ----


def gen_transpose(case, machine, pools):
    src = case.place(512)
    dst = src if case.rng.random() < 0.3 else case.place(512)
    case.set(dst=dst, src=src, type=case.kind)
    case.start()
    square = case.after[src:src + 512].view(np.uint16).reshape(16, 16).T.copy()
    case.after[dst:dst + 512] = square.reshape(-1).view(np.uint8)


def gen_nchwconv(case, machine, pools):
    rng = case.rng
    element = int(case.op.rsplit("b", 1)[1]) // 8
    repeats = int(rng.integers(0, 4))
    steps = [int(rng.integers(1, 4)) for _ in range(2)]
    strides = [int(rng.choice([0, 1, 16, 48])) for _ in range(2)]
    spans = [((repeats + 1) * stride + 15 * step + 1) * BLOCK
             for step, stride in zip(steps, strides)]
    if max(spans) > IMAGE:
        raise TooLarge
    dst, src = (case.place(span) for span in spans)
    case.set(dst=dst, src=src, repeat=repeats, dst_step=steps[0], src_step=steps[1],
             dst_repeat=strides[0], src_repeat=strides[1])
    halves = [0, 0]
    if element == 1:
        halves = [int(rng.integers(0, 2)) for _ in range(2)]
        case.set(dst_high=halves[0], src_high=halves[1])
    case.start()
    size = 16 if element == 1 else 32
    for repeat in range(repeats):
        shift_by = [(1 if repeats == 1 else repeat) * stride * BLOCK for stride in strides]
        rows = [src + shift_by[1] + i * steps[1] * BLOCK + halves[1] * 16 for i in range(16)]
        matrix = np.stack([case.after[at:at + size].reshape(-1, element) for at in rows])
        columns = matrix.transpose(1, 0, 2).reshape(16, size)
        for i in range(16):
            at = dst + shift_by[0] + i * steps[0] * BLOCK + halves[0] * 16
            case.after[at:at + size] = columns[i]


def gen_broadcast(case, machine, pools):
    rng = case.rng
    element = ref.BITS[case.kind] // 8
    repeats = int(rng.integers(0, 5))
    block, stride = int(rng.integers(1, 4)), int(rng.choice([8, 0, 1, 24, 40]))
    dst = case.place((4 * stride + 7 * block + 1) * BLOCK)
    src = case.place(5 * 8 * element + BLOCK)
    case.set(dst=dst, src=src, repeat=repeats, dst_block=block, dst_repeat=stride, type=case.kind)
    case.start()
    view = case.after.view(ref.CODES[case.kind])
    for repeat in range(repeats):
        values = view[src // element + repeat * 8:src // element + repeat * 8 + 8].copy()
        for i, value in enumerate(values):
            at = (dst + (repeat * stride + i * block) * BLOCK) // element
            view[at:at + BLOCK // element] = value


def gen_gather(case, machine, pools):
    element = ref.BITS[case.kind] // 8
    lanes = Lanes(case, ref.BITS[case.kind], repeats=3)
    case.set(repeat=lanes.argument)
    dst = Walk(case, "dst", lanes, case.kind, dst=True, strides=False)
    total = lanes.per_repeat * max(len(lanes.active), 1)
    offset = case.place(total * 4)
    src = case.place(BLOCK)
    case.set(offset=offset, src=src, type=case.kind)
    limit = (IMAGE - src) // element
    offsets = (case.rng.integers(0, limit, total) * element).astype(np.uint32)
    case.before[offset:offset + total * 4] = offsets.view(np.uint8)
    case.start()
    for repeat, active in enumerate(lanes.active):
        first = offset // 4 + repeat * lanes.per_repeat
        picked = case.after.view(np.uint32)[first:first + lanes.per_repeat].astype(np.int64)
        index = (src + picked) // element
        inside = active & (src + picked + element <= IMAGE)
        if not (inside == active).all() or (picked[active] % element).any():
            raise TooLarge  # a repeat has written over offsets of a later one
        codes = case.after.view(ref.CODES[case.kind])[np.where(inside, index, 0)]
        dst.write(case.after, repeat, active, codes)


def gen_gather_block(case, machine, pools):
    rng = case.rng
    repeats = int(rng.integers(0, 4))
    block, stride = int(rng.integers(0, 4)), int(rng.choice([8, 0, 1, 24]))
    step = max(block, 1)
    dst = case.place((3 * stride + 7 * step + 1) * BLOCK)
    offset, src = case.place(3 * 8 * 4 + BLOCK), case.place(BLOCK)
    case.set(dst=dst, offset=offset, src=src, repeat=repeats, dst_block=block, dst_repeat=stride,
             type=case.kind)
    offsets = (rng.integers(0, (IMAGE - src) // BLOCK, 24) * BLOCK).astype(np.uint32)
    case.before[offset:offset + 96] = offsets.view(np.uint8)
    case.start()
    for repeat in range(repeats):
        picked = case.after[offset + repeat * 32:offset + repeat * 32 + 32].view(np.uint32)
        picked = picked.astype(np.int64)
        if (src + picked + BLOCK > IMAGE).any():
            raise TooLarge  # a repeat has written over offsets of a later one
        blocks = [case.after[src + at:src + at + BLOCK].copy() for at in picked]
        for i, data in enumerate(blocks):
            at = dst + (repeat * stride + i * step) * BLOCK
            case.after[at:at + BLOCK] = data


# ---- sorting ----


def sort_key(score):
    return (0, 0.0) if np.isnan(score) else (1, -score)


def gen_bitsort(case, machine, pools):
    element = ref.BITS[case.kind] // 8
    repeats = int(case.rng.integers(0, 5))
    src0 = case.place(32 * element * 4 + BLOCK)
    src1, dst = case.place(32 * 4 * 4), case.place(32 * 8 * 4)
    case.set(dst=dst, src0=src0, src1=src1, repeat=repeats, type=case.kind)
    case.start()
    for repeat in range(repeats):
        first = src0 + repeat * 32 * element
        codes = case.after[first:first + 32 * element].view(ref.CODES[case.kind]).copy()
        first = src1 + repeat * 128
        indices = case.after[first:first + 128].view(np.uint32).copy()
        scores = ref.decode(case.kind, codes)
        order = sorted(range(32), key=lambda i: sort_key(scores[i]))
        entries = np.zeros((32, 2), np.uint32)
        entries[:, 0] = codes[order]
        entries[:, 1] = indices[order]
        at = dst + repeat * 256
        case.after[at:at + 256] = entries.reshape(-1).view(np.uint8)


def gen_proposal_sort(case, machine, pools):
    element = ref.BITS[case.kind] // 8
    repeats = int(case.rng.integers(0, 5))
    src, dst = case.place(128 * element * 4), case.place(128 * element * 4)
    case.set(dst=dst, src=src, repeat=repeats, type=case.kind)
    case.start()
    for repeat in range(repeats):
        first = repeat * 128 * element
        codes = case.after[src + first:src + first + 128 * element].view(ref.CODES[case.kind])
        codes = codes.reshape(16, 8).copy()
        scores = ref.decode(case.kind, codes[:, 4].copy())
        order = sorted(range(16), key=lambda i: sort_key(scores[i]))
        case.after[dst + first:dst + first + 128 * element] = codes[order].reshape(-1).view(np.uint8)


def gen_proposal_field(case, machine, pools):
    element, code = ref.BITS[case.kind] // 8, ref.CODES[case.kind]
    count, field = int(case.rng.integers(0, 5)) * 16, int(case.rng.integers(0, 6))
    proposals, packed = case.place(128 * element * 4), case.place(16 * element * 4)
    if proposals < packed + 64 * element and packed < proposals + 512 * element:
        raise TooLarge  # operands lie apart
    joins = case.op == "vconcat"
    case.set(dst=proposals if joins else packed, src=packed if joins else proposals,
             repeat=count // 16, field=field, type=case.kind)
    case.start()
    fields = case.after[proposals:proposals + 8 * count * element].view(code).reshape(count, 8)
    elements = case.after[packed:packed + count * element].view(code)
    if joins:
        fields[:, field] = elements
    else:
        elements[:] = fields[:, field]


def gen_merge(case, machine, pools):
    rng = case.rng
    element = ref.BITS[case.kind] // 8
    entry, score = (8, 0) if machine.split else (8 * element, 4 * element)
    lists = int(rng.integers(2, 5))
    lengths = [int(rng.integers(0, 30)) for _ in range(lists)]
    repeats, stop = int(rng.integers(0, 3)), int(rng.integers(0, 2))
    total = sum(lengths)
    span = max(repeats, 1) * total * entry + BLOCK
    dst = 0
    if 2 * span > IMAGE:
        raise TooLarge
    sources = [int(rng.integers(span // BLOCK + 1, (IMAGE - span) // BLOCK + 1)) * BLOCK
               for _ in range(lists)]
    case.set(dst=dst, repeat=repeats, lists=lists, stop=stop, type=case.kind)
    case.set(**{"src%d" % i: at for i, at in enumerate(sources)})
    case.set(**{"src%d" % i: 0 for i in range(lists, 4)})
    case.set(**{"length%d" % i: length for i, length in enumerate(lengths)})
    words = case.before.view(ref.CODES[case.kind])
    for at, length in zip(sources, lengths):
        if rng.random() < 0.7 and length:  # sorted, as it should be
            index = (at + score) // element + np.arange(length) * (entry // element)
            scores = ref.decode(case.kind, words[index])
            words[index] = words[index][sorted(range(length), key=lambda i: sort_key(scores[i]))]
    case.start()
    for repeat in range(repeats):
        out = dst + repeat * total * entry
        left = list(lengths)
        at = [source + repeat * total * entry for source in sources]
        while any(left) and not (stop and min(left) == 0):
            keys = [sort_key(float(ref.decode(case.kind, case.after[a + score:a + score + element].view(
                ref.CODES[case.kind]))[0])) if n else (2, 0.0) for a, n in zip(at, left)]
            best = keys.index(min(keys))
            case.after[out:out + entry] = case.after[at[best]:at[best] + entry]
            out += entry
            at[best] += entry
            left[best] -= 1


# ---- all instructions: generator, types, generations ----

EVERYWHERE, SPLIT = "all", "split"
TABLE = []


def add(generator, ops, kinds, where=EVERYWHERE):
    for op in ops.split():
        for kind in kinds:
            TABLE.append((generator, op, kind, where))


add(gen_binary, "vadd vsub vmul vmax vmin", NUMBER)
add(gen_binary, "vdiv vmla vmadd vmaddrelu", FLOAT)
add(gen_binary, "vaddrelu vsubrelu", ["fp16", "fp32", "int16"])
add(gen_binary, "vand vor", ["int16", "uint16"])
add(gen_binary, "vmla_f162f32", ["fp32"])
add(gen_scalar, "vadds vmuls vmaxs vmins", NUMBER)
add(gen_scalar, "vlrelu vaxpy", FLOAT)
add(gen_scalar, "vshl vshr", INTEGER)
add(gen_unary, "vabs vexp vln vrec vsqrt vrsqrt", FLOAT)
add(gen_unary, "vrelu", ["fp16", "fp32", "int32"])
add(gen_unary, "vnot", ["int16", "uint16"])
add(gen_copy, "vcopy", INTEGER, SPLIT)
add(gen_dup, "vector_dup", ANY)
for name in ("f322f16 f162f32 f322s32 s322f32 f162s32 f162s8 s82f16 f162u8 u82f16 deq").split():
    add(gen_convert, "vconv_" + name, ["fp16"])
for name in ("f322bf16 bf162f32 f322f32 f322s16 s162f32 f322s64 s642f32 f162s16 s162f16 f162s4 "
             "s42f16 bf162s32 s322s16 s322s64 s642s32").split():
    add(gen_convert, "vconv_" + name, ["fp16"], "c220" if name in ("f162s4", "s42f16") else SPLIT)
add(gen_scalar, "vaxpy_f162f32", ["fp32"])
add(gen_binary_convert, "vaddreluconv_f162s8 vaddreluconv_f322f16 vaddreluconv_s162s8 "
    "vsubreluconv_f162s8 vsubreluconv_f322f16 vsubreluconv_s162s8 vmulconv_f162s8 vmulconv_f162u8",
    ["fp16"], "newer")
add(gen_convert_half, "vconv_deqs162b8h vconv_deqs162b8l vconv_vdeqs162b8h vconv_vdeqs162b8l",
    ["int16"], "newer")
add(gen_binary_convert, "vadddeqrelu", ["fp16"], "m200")
add(gen_compare_register, "vcmp_eq vcmp_ne vcmp_lt vcmp_le vcmp_gt vcmp_ge", FLOAT)
add(gen_compare_mask, "set_cmpmask get_cmpmask", FLOAT)
add(gen_compare, "vcmpv_eq vcmpv_ne vcmpv_lt vcmpv_le vcmpv_gt vcmpv_ge vcmpvs_eq vcmpvs_ne "
                 "vcmpvs_lt vcmpvs_le vcmpvs_gt vcmpvs_ge", ["fp16", "fp32", "int32"])
add(gen_select, "vsel", FLOAT)
add(gen_reduce, "vcadd", FLOAT)
add(gen_reduce_index, "vcmax vcmin", FLOAT)
add(gen_group, "vcgadd vcgmax vcgmin vcpadd", FLOAT)
add(gen_compact, "vreducev2", ANY, SPLIT)
add(gen_compact, "vreduce", ["fp16", "fp32"] + INTEGER, "m200")
add(gen_transpose, "vtranspose", ["fp16", "int16", "uint16"])
add(gen_nchwconv, "scatter_vnchwconv_b8 scatter_vnchwconv_b16 scatter_vnchwconv_b32", ["int16"])
add(gen_broadcast, "vbrcb", ANY, "newer")
add(gen_gather, "vgather", ANY, "newer")
add(gen_gather_block, "vgatherb", ANY, SPLIT)
add(gen_bitsort, "vbitsort", FLOAT, SPLIT)
add(gen_function, "vf_add vf_sub vf_mul vf_max vf_min vf_adds vf_muls vf_maxs vf_mins", NUMBER,
    "c310")
add(gen_function, "vf_div vf_exp vf_ln vf_sqrt vf_abs", FLOAT, "c310")
add(gen_function, "vf_and vf_or", ["int16", "uint16"], "c310")
add(gen_function, "vf_relu", ["fp16", "fp32", "int32"], "c310")
add(gen_function, "vf_dup", ANY, "c310")
add(gen_merge, "vmrgsort4", FLOAT)
add(gen_proposal_sort, "vbitsort16", FLOAT, "coupled")
add(gen_proposal_field, "vconcat vextract", FLOAT, "coupled")


WHERE = {
    EVERYWHERE: ("dav-c100", "dav-m200", "dav-c220", "dav-c310"),
    SPLIT: ("dav-c220", "dav-c310"),
    "newer": ("dav-m200", "dav-c220", "dav-c310"),
    "coupled": ("dav-c100", "dav-m200"),
    "m200": ("dav-m200",),
    "c220": ("dav-c220",),
    "c310": ("dav-c310",),
}


# What the earlier architectures lack: Ascend C documentation, data types by product.
LACKS = {
    "dav-c100": {
        "int16": "vadd vsub vmul vmax vmin vadds vmuls",
        "int32": "vadds vmuls vrelu",
        "fp32": "vrelu vcmax vcmin vcgadd vcgmax vcgmin vcpadd "
                "vmrgsort4 vbitsort16 vconcat vextract",
        "": "vmaxs vmins vlrelu vshl vshr vaddrelu vsubrelu scatter_vnchwconv_b32 vcmpvs_eq vcmpvs_ne "
            "vcmpvs_lt vcmpvs_le vcmpvs_gt vcmpvs_ge",
    },
    "dav-m200": {"int32": "vcmpvs_eq"},
    "dav-c220": {},
    "dav-c310": {},
}
ORDERED = ["vcmpv_ne", "vcmpv_lt", "vcmpv_le", "vcmpv_gt", "vcmpv_ge",
           "vcmpvs_ne", "vcmpvs_lt", "vcmpvs_le", "vcmpvs_gt", "vcmpvs_ge"]


def lacks(arch, op, kind):
    if kind == "int32" and (op in ORDERED and arch != "dav-c310" or
                            op == "vcmpv_eq" and arch in ("dav-c100", "dav-m200")):
        return True
    return op in LACKS[arch].get(kind, "").split() + LACKS[arch].get("", "").split()


def fits(machine, op, kind, where):
    return (machine.arch in WHERE[where] and (machine.split or kind != "bf16") and
            not lacks(machine.arch, op, kind))


# ---- running ----


def difference(case, got):
    """What is wrong, or None: all bytes, or TOLERANCE units in the last place."""
    bound = TOLERANCE.get(case.op, 0)
    if not bound:
        at = np.flatnonzero(got != case.after)
        return "byte %d is %d, expected %d (%d differ)" % (at[0], got[at[0]], case.after[at[0]],
                                                            len(at))
    have = got.view(ref.CODES[case.kind])
    want = case.after.view(ref.CODES[case.kind])
    at = np.flatnonzero(have != want)
    numbers = np.isfinite(ref.decode(case.kind, want[at])) | (want[at] & 0x7FFF == 0x7C00)
    distance = np.abs(ref.ordered(case.kind, have[at]) - ref.ordered(case.kind, want[at]))
    wrong = at[(distance > bound) | ~numbers]
    if len(wrong) == 0:
        case.off = len(at)
        return None
    return "element %d is 0x%x, expected 0x%x" % (wrong[0], have[wrong[0]], want[wrong[0]])


def draw(rng, machine, table, pools):
    while True:
        generator, op, kind, _ = table[int(rng.integers(0, len(table)))]
        case = Case(op, rng, pools, kind)
        if machine.split:
            machine.saturates = rng.random() < 0.25
        try:
            generator(case, machine, pools)
        except TooLarge:
            continue
        if machine.split:  # CTRL[48]; the 950's CTRL[60] stays set
            case.rows.insert(0, "set_ctrl,value=%d" % (
                (0 if machine.saturates else 1 << 48) | (machine.arch == "dav-c310") << 60))
        return case


def run_soc(options, soc, pools, failures, counts):
    machine = Machine(soc)
    table = [row for row in TABLE if fits(machine, row[1], row[2], row[3])
             and (not options.only or row[1].startswith(options.only))]
    if not table:
        return
    driver = ref.Driver(options.driver, soc)
    rng = np.random.Generator(np.random.PCG64([options.seed, sum(soc.encode())]))
    cases_left = options.cases // len(options.soc)
    while cases_left > 0 and len(failures) < 10:
        cases = [draw(rng, machine, table, pools) for _ in range(min(BATCH, cases_left))]
        cases_left -= len(cases)
        text = machine.head() + "".join(case.text() for case in cases)
        got = driver.run(text, np.stack([case.before for case in cases]))
        same = (got == np.stack([case.after for case in cases])).all(axis=1)
        for case, image, equal in zip(cases, got, same):
            counts[case.op] += 1
            problem = None if equal else difference(case, image)
            if problem:
                failures.append("%s: %s\n%s" % (soc, problem, case.text()))
    driver.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("driver")
    parser.add_argument("--cases", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--soc", action="append")
    parser.add_argument("--only", help="instructions whose names start so")
    options = parser.parse_args()
    options.soc = options.soc or ["Ascend910B4", "Ascend910A", "Ascend310P3", "Ascend950PR_9589"]
    np.seterr(all="ignore")
    rng = np.random.Generator(np.random.PCG64(options.seed))
    kinds = ["fp16", "bf16", "fp32", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"]
    pools = {kind: ref.pool(kind, 1 << 20, rng) for kind in kinds}
    pools["int4"] = pools["int8"]
    failures, counts = [], collections.Counter()
    for soc in options.soc:
        run_soc(options, soc, pools, failures, counts)
    for failure in failures:
        print(failure)
    print("%d instructions of %d kinds, seed %d: %s" % (
        sum(counts.values()), len(counts), options.seed,
        "%d differ" % len(failures) if failures else "all agree"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
