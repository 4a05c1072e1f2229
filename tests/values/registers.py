# SPDX-License-Identifier: Apache-2.0
"""Register instructions of vector functions against an independent reference in numpy.

    registers.py DRIVER [--cases N] [--seed S] [--only NAME]

Written from the documentation of the register interface. What is not computed exactly before it is
rounded (TOLERANCE) may be off by a unit in the last place, all else has to agree in every bit.
"""

import argparse
import sys

import numpy as np

import reference as ref

UB, VR, MASK = 4096, 8 * 256, 32
BYTES = 256
HALVES = ["fp16", "fp32"]
REALS = HALVES + ["bf16"]
WHOLES = ["int16", "uint16", "int32", "uint32"]
INTEGERS = ["int8", "uint8"] + WHOLES
ALL = REALS + INTEGERS
WIDE = REALS + WHOLES
SIGNED = HALVES + ["int8", "int16", "int32"]
TYPES = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16, "int32": np.int32,
         "uint32": np.uint32, "int64": np.int64}
TOLERANCE = {"reg_vexp", "reg_vln", "reg_vexpdif", "reg_vmula", "reg_vmadd", "reg_vaxpy"}


def codes_of(kind):
    return TYPES.get(kind) or ref.CODES[kind]


class Case:
    def __init__(self, op, kind, rng, pools):
        self.op, self.kind, self.rng, self.pools = op, kind, rng, pools
        self.size = ref.BITS[kind] // 8
        self.lanes = BYTES // self.size
        self.before = np.zeros(UB + VR + MASK, np.uint8)
        self.words = []
        self.fill(0, UB + VR, kind)
        self.result = None  # where a rounded result lies, for tolerances

    def fill(self, start, end, kind):
        count = (end - start) * 8 // ref.BITS[kind]
        self.before[start:end] = self.numbers(kind, count).view(np.uint8)

    def numbers(self, kind, count):
        if kind in TYPES:
            info = np.iinfo(TYPES[kind])
            wide = self.rng.integers(info.min, info.max, count, endpoint=True)
            small = self.rng.integers(max(info.min, -9), 10, count)
            return np.where(self.rng.random(count) < 0.5, wide, small).astype(TYPES[kind])
        near = ref.encode(kind, self.rng.normal(0, 4, count))
        special = self.rng.choice(self.pools[kind], count)
        return np.where(self.rng.random(count) < 0.8, near, special).astype(ref.CODES[kind])

    def set(self, **words):
        self.words += ["%s=%s" % word for word in words.items()]

    def under(self, merges=None):
        """A mask of bytes; the lanes that are active."""
        bits = self.rng.random(BYTES) < self.rng.choice([0.1, 0.5, 0.9, 1.0])
        packed = np.packbits(bits, bitorder="little").view(np.int64)
        self.set(**{"m%d" % i: packed[i] for i in range(4)})
        self.merge = bool(self.rng.random() < 0.3) if merges is None else merges
        if merges is None:
            self.set(merge=int(self.merge))
        self.bits = bits
        return bits[::self.size]

    def start(self):
        self.after = self.before.copy()

    def names(self, *operands, apart=()):
        """Registers; those of `apart` differ from each other."""
        picked = dict(zip(operands, self.rng.integers(0, 8, len(operands))))
        while len({picked[name] for name in apart}) < len(apart):
            picked = dict(zip(operands, self.rng.integers(0, 8, len(operands))))
        self.set(**{name: int(number) * BYTES for name, number in picked.items()})
        return {name: int(number) for name, number in picked.items()}

    def register(self, number, image=None, kind=None):
        image = self.before if image is None else image
        at = UB + number * BYTES
        return image[at:at + BYTES].view(codes_of(kind or self.kind))

    def write(self, number, active, codes):
        target = self.register(number, self.after)
        target[:] = np.where(active, codes, target if self.merge else np.zeros_like(target))
        self.result = UB + number * BYTES

    def text(self):
        return ",".join([self.op] + self.words) + "\n"


def numbers_of(kind, codes):
    return ref.decode(kind, codes) if kind not in TYPES else codes.astype(object)


def codes_from(kind, numbers):
    """Rounded, and of integers the low bits."""
    if kind not in TYPES:
        return ref.encode(kind, np.asarray(numbers, np.float64))
    bits = ref.BITS[kind]
    low = np.array([int(number) & ((1 << bits) - 1) for number in numbers], np.uint64)
    return low.astype({8: np.uint8, 16: np.uint16, 32: np.uint32}[bits]).view(TYPES[kind])


def larger(a, b):
    if a.dtype == object:
        return np.maximum(a, b)
    both = np.where(a == b, np.where(np.signbit(a), b, a), np.maximum(a, b))
    return np.where(np.isnan(a) | np.isnan(b), np.nan, both)


def smaller(a, b):
    if a.dtype == object:
        return np.minimum(a, b)
    both = np.where(a == b, np.where(np.signbit(a), a, b), np.minimum(a, b))
    return np.where(np.isnan(a) | np.isnan(b), np.nan, both)


def divided(a, b):
    """Integers towards 0; by 0 all bits of the result are 1, as no document says what happens."""
    if a.dtype != object:
        return a / b
    return np.array([-1 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b)], object)


BINARY = {"vadd": lambda a, b, c: a + b, "vsub": lambda a, b, c: a - b, "vmul": lambda a, b, c: a * b,
          "vdiv": lambda a, b, c: divided(a, b), "vmax": lambda a, b, c: larger(a, b),
          "vmin": lambda a, b, c: smaller(a, b), "vabsdif": lambda a, b, c: abs(ref_round32(a - b)),
          "vprelu": lambda a, b, c: np.where(a < 0, a * b, a), "vmula": lambda a, b, c: a * b + c,
          "vmadd": lambda a, b, c: a * c + b, "vaxpy": lambda a, b, c: a * b + c,
          "vexpdif": lambda a, b, c: np.exp(ref_round32(a - b))}
UNARY = {"vexp": np.exp, "vln": np.log, "vsqrt": np.sqrt, "vabs": abs, "vneg": lambda a: -a,
         "vrelu": lambda a: larger(a, a * 0 if a.dtype == object else np.zeros_like(a))}
BITWISE = {"vand": lambda a, b: a & b, "vor": lambda a, b: a | b, "vxor": lambda a, b: a ^ b}


def ref_round32(values):
    return np.asarray(values).astype(np.float32).astype(np.float64)


def gen_binary(case):
    active, at = case.under(), case.names("dst", "src0", "src1")
    case.set(type=case.kind)
    case.start()
    a, b, c = (numbers_of(case.kind, case.register(at[name])) for name in ("src0", "src1", "dst"))
    case.write(at["dst"], active, codes_from(case.kind, BINARY[case.op[4:]](a, b, c)))


def scalar_of(case):
    code = case.numbers(case.kind, 1)
    case.set(scalar=int(code[0]))
    return numbers_of(case.kind, code)[0]


def gen_scalar(case):
    active, at = case.under(), case.names("dst", "src")
    value = scalar_of(case)
    case.set(type=case.kind)
    case.start()
    a, c = (numbers_of(case.kind, case.register(at[name])) for name in ("src", "dst"))
    b = np.full(case.lanes, value, a.dtype)
    name = {"vlrelu": "vprelu", "vaxpy": "vaxpy"}.get(case.op[4:], case.op[4:-1])
    case.write(at["dst"], active, codes_from(case.kind, BINARY[name](a, b, c)))


def gen_unary(case):
    active, at = case.under(), case.names("dst", "src")
    case.set(type=case.kind)
    case.start()
    a = numbers_of(case.kind, case.register(at["src"]))
    case.write(at["dst"], active, codes_from(case.kind, UNARY[case.op[4:]](a)))


def gen_bits(case):
    active = case.under()
    two = case.op[4:] in BITWISE
    at = case.names("dst", *(["src0", "src1"] if two else ["src"]))
    case.set(type=case.kind)
    case.start()
    if two:
        codes = BITWISE[case.op[4:]](case.register(at["src0"]), case.register(at["src1"]))
    else:
        codes = case.register(at["src"])
        codes = ~codes if case.op == "reg_vnot" else codes
    case.write(at["dst"], active, codes)


def shifted(case, code, count, left):
    bits = ref.BITS[case.kind]
    if not 0 <= count < bits:
        return 0 if left or code >= 0 else -1
    return code << count if left else code >> count


def gen_shift(case):
    active = case.under()
    scalar = case.op.endswith("s")
    at = case.names("dst", *(["src"] if scalar else ["src0", "src1"]))
    counts = None
    if scalar:
        count = int(case.rng.integers(0, ref.BITS[case.kind] + 2))
        case.set(scalar=count)
        counts = [count] * case.lanes
    case.set(type=case.kind)
    case.start()
    source = case.register(at["src" if scalar else "src0"])
    counts = [int(n) for n in case.register(at["src1"])] if counts is None else counts
    left = "vshl" in case.op
    numbers = [shifted(case, int(code), n, left) for code, n in zip(source, counts)]
    case.write(at["dst"], active, codes_from(case.kind, numbers))


def gen_select(case):
    active, at = case.under(merges=False), case.names("dst", "src0", "src1")
    case.set(type=case.kind)
    case.start()
    codes = np.where(active, case.register(at["src0"]), case.register(at["src1"]))
    case.register(at["dst"], case.after)[:] = codes


def gen_fill(case):
    active, at = case.under(), case.names("dst")
    code = case.numbers(case.kind, 1)
    case.set(scalar=int(code[0]), type=case.kind)
    case.start()
    case.write(at["dst"], active, np.full(case.lanes, code[0]))


def gen_lane(case):
    active, at = case.under(), case.names("dst", "src")
    lane = case.rng.choice(["lowest", "highest"])
    case.set(lane=lane, type=case.kind)
    case.start()
    index = 0 if lane == "lowest" or not active.any() else int(np.flatnonzero(active)[-1])
    case.write(at["dst"], active, np.full(case.lanes, case.register(at["src"])[index]))


def gen_indices(case):
    at = case.names("dst")
    value, order = scalar_of(case), case.rng.choice(["inc", "dec"])
    case.set(order=order, type=case.kind)
    case.start()
    steps = range(case.lanes) if order == "inc" else range(case.lanes - 1, -1, -1)
    case.merge = False
    case.write(at["dst"], True, codes_from(case.kind, [value + step for step in steps]))


def gen_trunc(case):
    active, at = case.under(), case.names("dst", "src")
    mode = case.rng.choice(list("rfcaz"))
    case.set(round=mode, type=case.kind)
    case.start()
    a = numbers_of(case.kind, case.register(at["src"]))
    finite = np.isfinite(a)
    whole = np.where(finite, np.copysign(ref.round_integral(np.where(finite, a, 0), mode), a), a)
    case.write(at["dst"], active, codes_from(case.kind, whole))


RELATIONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "gt": np.greater, "le": np.less_equal,
             "ge": np.greater_equal}


def gen_compare(case):
    active = case.under(merges=False)
    scalar = case.op.endswith("s")
    at = case.names(*(["src"] if scalar else ["src0", "src1"]))
    value = scalar_of(case) if scalar else None
    relation = case.rng.choice(list(RELATIONS))
    case.set(relation=relation, type=case.kind)
    case.start()
    a = numbers_of(case.kind, case.register(at["src" if scalar else "src0"]))
    b = np.full(case.lanes, value, a.dtype) if scalar else numbers_of(case.kind, case.register(at["src1"]))
    bits = np.zeros(BYTES, bool)
    bits[::case.size] = active & RELATIONS[relation](a, b).astype(bool)
    case.after[UB + VR:] = np.packbits(bits, bitorder="little")


def pairwise(kind, lanes):
    while len(lanes) > 1:
        sums = lanes[0::2] + lanes[1::2]
        lanes = sums if kind in TYPES else ref.decode(kind, ref.encode(kind, sums))
    return lanes[0]


def reduced(case, what, lanes, active):
    kind = case.kind
    if what == "add":
        return pairwise(kind, np.where(active, lanes, 0))
    if kind in TYPES:
        info = np.iinfo(TYPES[kind])
        rest = info.min if what == "max" else info.max
        return (max if what == "max" else min)(np.where(active, lanes, rest))
    rest = -np.inf if what == "max" else np.inf
    lanes = np.where(active, lanes, rest)
    best = lanes[:1]
    for lane in lanes[1:]:
        best = (larger if what == "max" else smaller)(best, np.array([lane]))
    return best[0]


def store_all(case, number, kind, numbers):
    target = case.register(number, case.after, kind)
    target[:] = 0
    target[:len(numbers)] = codes_from(kind, numbers)


def gen_reduce(case):
    active, at = case.under(merges=False), case.names("dst", "src")
    case.set(type=case.kind)
    case.start()
    lanes = numbers_of(case.kind, case.register(at["src"]))
    what = case.op[-3:]
    kind = {"int16": "int32", "uint16": "uint32"}.get(case.kind, case.kind) if what == "add" else case.kind
    if case.op[4:] == "vcpadd":
        kept = np.where(active, lanes, 0)
        store_all(case, at["dst"], case.kind, kept[0::2] + kept[1::2])
    elif "vcg" in case.op:
        count = case.lanes // 8
        store_all(case, at["dst"], kind, [
            reduced(case, what, lanes[i * count:][:count], active[i * count:][:count]) for i in range(8)])
    else:
        best = reduced(case, what, lanes, active)
        store_all(case, at["dst"], kind, [best])
        if what != "add":
            isnan = best != best
            hits = np.flatnonzero(active & ((lanes != lanes) if isnan else (lanes == best)).astype(bool))
            at_lane = int(hits[0]) if len(hits) else 0
            start = UB + at["dst"] * BYTES + case.size
            case.after[start:start + case.size] = np.frombuffer(
                at_lane.to_bytes(case.size, "little"), np.uint8)


def gen_squeeze(case):
    active, at = case.under(merges=False), case.names("dst", "src")
    case.set(type=case.kind)
    case.start()
    kept = case.register(at["src"])[active]
    target = case.register(at["dst"], case.after)
    target[:] = 0
    target[:len(kept)] = kept


def gen_count(case):
    active, at = case.under(merges=False), case.names("dst")
    case.set(type=case.kind)
    case.start()
    before = np.concatenate(([0], np.cumsum(active)[:-1]))
    case.register(at["dst"], case.after)[:] = codes_from(case.kind, before)


def gen_pair(case):
    at = case.names("dst0", "dst1", "src0", "src1", apart=("dst0", "dst1"))
    case.set(type=case.kind)
    case.start()
    a, b = case.register(at["src0"]), case.register(at["src1"])
    if case.op == "reg_vintlv":
        both = np.stack([a, b], axis=1).reshape(-1)
        halves = both[:case.lanes], both[case.lanes:]
    else:
        both = np.concatenate([a, b])
        halves = both[0::2], both[1::2]
    for name, codes in zip(("dst0", "dst1"), halves):
        case.register(at[name], case.after)[:] = codes


def gen_part(case):
    at = case.names("dst", "src")
    part = case.rng.choice(["lower", "higher"])
    case.set(part=part, type=case.kind)
    case.start()
    source, size, high = case.register(at["src"]), case.size, part == "higher"
    target = case.after[UB + at["dst"] * BYTES:][:BYTES]
    if case.op == "reg_vpack":
        halves = source.view(np.uint8).reshape(-1, size)[:, :size // 2].reshape(-1).copy()
        target[:] = 0
        target[BYTES // 2 if high else 0:][:BYTES // 2] = halves
    else:
        half = source[case.lanes // 2 if high else 0:][:case.lanes // 2].copy()
        wide = {"int8": np.int16, "uint8": np.uint16, "int16": np.int32, "uint16": np.uint32}[case.kind]
        target[:] = half.astype(wide).view(np.uint8)


def gen_index(case):
    at = case.names("dst", "src", "index")
    case.set(type=case.kind)
    case.start()
    index = case.register(at["index"]) % case.lanes
    case.register(at["dst"], case.after)[:] = case.register(at["src"])[index.astype(int)].copy()


# ---- by index ----

def put_indices(case, register, dtype, low, high):
    """Indices from low to high in a register, in dtype; what active lanes have, as they lie there."""
    count = BYTES // np.dtype(dtype).itemsize
    index = case.rng.integers(low, high, count, endpoint=True).astype(dtype)
    case.before[UB + register * BYTES:][:BYTES] = index.view(np.uint8)
    return index


def reach(case, index, active):
    """The operands, sometimes wider, sometimes narrower than what the indices need."""
    used = index[active]
    first, last = (int(used.min()), int(used.max())) if len(used) else (0, 0)
    if case.rng.random() < 0.2:
        last = max(first, last - 3)
    case.set(first=first, last=last, turns=int(case.rng.integers(1, 9)))
    return first, last


def gen_gather(case):
    gathers = case.op == "reg_vgather2"
    case.under(merges=False)
    at = case.names("dst" if gathers else "src", "index", apart=("dst" if gathers else "src", "index"))
    wide = max(case.size, 2)
    base = 32 * int(case.rng.integers(0, 40))
    index = put_indices(case, at["index"], {2: np.uint16, 4: np.uint32}[wide], 3, 600)
    active = case.bits[::wide]
    first, last = reach(case, index, active)
    case.set(type=case.kind, **{"src" if gathers else "dst": base})
    case.start()
    for lane in range(BYTES // wide):
        there, inside = base + int(index[lane]) * case.size, first <= index[lane] <= last
        register = UB + at["dst" if gathers else "src"] * BYTES + lane * wide
        if gathers:
            case.after[register:register + wide] = 0
        if not active[lane] or not inside:
            continue
        if gathers:
            case.after[register:register + case.size] = case.before[there:there + case.size]
        else:
            case.after[there:there + case.size] = case.before[register:register + case.size]


def gen_gather_blocks(case):
    case.under(merges=False)
    at = case.names("dst", "index", apart=("dst", "index"))
    base = 32 * int(case.rng.integers(0, 40))
    index = put_indices(case, at["index"], np.uint32, 1, 60) * 32
    case.before[UB + at["index"] * BYTES:][:BYTES] = index.astype(np.uint32).view(np.uint8)
    active = case.bits[:32:4]
    first, last = reach(case, index[:8], active)
    case.set(src=base)
    case.start()
    for block in range(8):
        target = case.after[UB + at["dst"] * BYTES + 32 * block:][:32]
        there = base + int(index[block])
        moves = active[block] and first <= index[block] <= last
        target[:] = case.before[there:there + 32] if moves else 0


# ---- integers wider than a lane ----

def gen_carry(case):
    active = case.under(merges=False)
    at = case.names("dst", "src0", "src1")
    carried = case.op.endswith("s")
    subtracts = case.op.startswith("reg_vsub")
    carries = np.full(case.lanes, subtracts)
    if carried:
        bits = case.rng.random(BYTES) < 0.5
        packed = np.packbits(bits, bitorder="little").view(np.int64)
        case.set(p0=1, **{"c%d" % i: packed[i] for i in range(4)})
        carries = bits[::case.size]
    case.set(type=case.kind)
    case.start()
    a, b = (case.register(at[name], kind="uint32").astype(np.uint64) for name in ("src0", "src1"))
    total = a + (b ^ 0xffffffff if subtracts else b) + carries
    case.register(at["dst"], case.after, "uint32")[:] = np.where(active, total & 0xffffffff, 0)
    bits = np.zeros(BYTES, bool)
    bits[::case.size] = active & (total >> 32 != 0)
    case.after[UB + VR:] = np.packbits(bits, bitorder="little")


def gen_product(case):
    active = case.under(merges=False)
    at = case.names("dst0", "dst1", "src0", "src1", apart=("dst0", "dst1"))
    case.set(type=case.kind)
    case.start()
    wide = case.register(at["src0"]).astype(object) * case.register(at["src1"]).astype(object)
    for name, shift in (("dst0", 0), ("dst1", 32)):
        half = np.array([int(number) >> shift & 0xffffffff for number in wide], np.uint32)
        case.register(at[name], case.after, "uint32")[:] = np.where(active, half, 0)


def gen_histogram(case):
    case.under(merges=False)
    at = case.names("dst", "src", apart=("dst", "src"))
    high = int(case.rng.integers(0, 2))
    case.set(bin=high)
    if case.rng.random() < 0.5:  # few numbers, often
        case.before[UB + at["src"] * BYTES:][:BYTES] = case.rng.integers(120, 140, BYTES)
    case.start()
    taken = case.register(at["src"], kind="uint8")[case.bits]
    counts = np.bincount(taken, minlength=256)
    if case.op == "reg_chistv2":
        counts = np.cumsum(counts)
    target = case.register(at["dst"], case.after, "uint16")
    target[:] = target + counts[128 * high:][:128].astype(np.uint16)


# ---- conversions ----

CONVERTS = {"int8": ["int16", "fp16", "int32"], "uint8": ["uint16", "fp16", "uint32"],
            "int16": ["uint8", "fp16", "int32", "uint32", "fp32"], "uint16": ["uint8", "uint32"],
            "fp16": ["int8", "uint8", "int16", "bf16", "int32", "fp32"], "bf16": ["fp16", "int32", "fp32"],
            "int32": ["uint8", "int16", "uint16", "fp32", "int64"], "int64": ["fp32", "int32"], "uint32": ["uint8", "int16", "uint16"],
            "fp32": ["int16", "fp16", "bf16", "int32", "int64"]}


def converted(kind, number, to, mode, saturates):
    """The code of a number in another type."""
    if to in ("fp16", "bf16"):
        return int(ref.round_float(to, np.array([number], np.float64), mode, saturates)[0])
    if to == "fp32":
        if kind in TYPES:
            number = round_to_fp32(int(number), mode)
        return int(ref.encode("fp32", np.array([number], np.float64))[0])
    info = np.iinfo(TYPES[to])
    if kind not in TYPES:
        if number != number:
            return 0
        if np.isinf(number):
            number = info.max if number > 0 else info.min
        else:
            limit = 2.0**(63 if to == "int64" else 62)
            number = int(ref.round_integral(np.array([min(max(number, -limit), limit)]), mode)[0])
    if saturates or to == "int64":
        number = min(max(int(number), info.min), info.max)
    return int(number) & ((1 << ref.BITS[to]) - 1)


def round_to_fp32(number, mode):
    unit = 1 << max(0, abs(number).bit_length() - 24)
    low, rest = divmod(number, unit)
    up = {"f": False, "c": rest > 0, "z": rest > 0 and number < 0, "r": 2 * rest > unit or 2 * rest == unit and low % 2 == 1,
          "a": 2 * rest > unit or 2 * rest == unit and number > 0}[mode]
    return float((low + up) * unit)


def gen_convert(case):
    to = case.rng.choice(CONVERTS[case.kind])
    mode, saturates = case.rng.choice(list("rfcaz")), int(case.rng.integers(0, 2))
    case.under(merges=False)
    at, part = case.names("dst", "src"), int(case.rng.integers(0, 4))
    case.set(round=mode, saturates=saturates, part=part, to=to, type=case.kind)
    case.start()
    size = ref.BITS[to] // 8
    wide = max(size, case.size)
    result = np.zeros(BYTES, np.uint8)
    numbers = numbers_of(case.kind, case.register(at["src"]))
    for start in range(0, BYTES, wide):
        source = start + (part * case.size % wide if case.size < wide else 0)
        target = start + (part * size % wide if size < wide else 0)
        if case.bits[source]:
            code = converted(case.kind, numbers[source // case.size], to, mode, saturates)
            result[target:target + size] = np.frombuffer(code.to_bytes(size, "little"), np.uint8)
    case.after[UB + at["dst"] * BYTES:][:BYTES] = result


# ---- transfers ----

def ub_at(case, bytes_, alignment):
    return int(case.rng.integers(0, (UB - bytes_) // alignment)) * alignment


def gen_load(case):
    dist = case.rng.choice(["norm", "brc", "us", "ds", "unpk", "unpk4", "blk", "e2b"])
    read = {"norm": BYTES, "brc": case.size, "us": BYTES // 2, "ds": 2 * BYTES, "unpk": BYTES // 2,
            "unpk4": BYTES // 4, "blk": 32, "e2b": 8 * case.size}[dist]
    at = case.names("dst")
    src = ub_at(case, read, min(read, 32))
    case.set(src=src, dist=dist, type=case.kind)
    case.start()
    codes = case.before[src:src + read].view(codes_of(case.kind))
    target = case.register(at["dst"], case.after)
    target[:] = 0
    if dist in ("unpk", "unpk4"):
        target[::2 if dist == "unpk" else 4] = codes
    else:
        target[:] = {"norm": lambda: codes, "brc": lambda: codes[0], "us": lambda: np.repeat(codes, 2),
                     "ds": lambda: codes[0::2], "blk": lambda: np.tile(codes, 8),
                     "e2b": lambda: np.repeat(codes, 32 // case.size)}[dist]()


def gen_load2(case):
    at = case.names("dst0", "dst1", apart=("dst0", "dst1"))
    src = ub_at(case, 2 * BYTES, 32)
    case.set(src=src, type=case.kind)
    case.start()
    codes = case.before[src:src + 2 * BYTES].view(codes_of(case.kind))
    case.register(at["dst0"], case.after)[:] = codes[0::2]
    case.register(at["dst1"], case.after)[:] = codes[1::2]


def gen_store(case):
    dists = ["norm", "first"] + (["pk"] if case.size > 1 else []) + (["pk4"] if case.size == 4 else [])
    dist, active, at = case.rng.choice(dists), case.under(merges=False), case.names("src")
    dst = ub_at(case, BYTES, 32)
    case.set(dst=dst, dist=dist, type=case.kind)
    case.start()
    rows = case.register(at["src"]).view(np.uint8).reshape(-1, case.size)
    if dist == "first":
        case.after[dst:dst + case.size] = rows[0]
        return
    width = case.size // {"norm": 1, "pk": 2, "pk4": 4}[dist]
    target = case.after[dst:dst + case.lanes * width].reshape(-1, width)
    target[active] = rows[active, :width]


def gen_store2(case):
    at = case.names("src0", "src1")
    dst = ub_at(case, 2 * BYTES, 32)
    case.set(dst=dst, type=case.kind)
    case.start()
    both = np.stack([case.register(at["src0"]), case.register(at["src1"])], axis=1)
    case.after[dst:dst + 2 * BYTES] = both.reshape(-1).copy().view(np.uint8)


def gen_blocks(case):
    load = case.op == "reg_vsldb"
    active, stride = case.under(merges=False), int(case.rng.integers(1, 12))
    at = case.names("dst" if load else "src")
    place = ub_at(case, 8 * stride * 32, 32)
    case.set(stride=stride, type=case.kind, **{"src" if load else "dst": place})
    case.start()
    for block in range(8):
        there = place + block * stride * 32
        if load:
            target = case.after[UB + at["dst"] * BYTES + block * 32:][:32]
            target[:] = case.before[there:there + 32] if case.bits[block * 32] else 0
        else:
            count = 32 // case.size
            rows = case.register(at["src"])[block * count:][:count]
            target = case.after[there:there + 32].view(codes_of(case.kind))
            chosen = active[block * count:][:count]
            target[chosen] = rows[chosen]


def gen_unaligned_load(case):
    at, src = case.names("dst"), int(case.rng.integers(0, UB - BYTES))
    case.set(src=src)
    case.start()
    case.after[UB + at["dst"] * BYTES:][:BYTES] = case.before[src:src + BYTES]


def gen_unaligned_store(case):
    at = case.names("align", "src", apart=("align", "src"))
    start, count = int(case.rng.integers(0, UB - 2 * BYTES)), int(case.rng.integers(0, BYTES + 1))
    held = int(case.rng.integers(0, 32 - start % 32)) if case.rng.random() < 0.7 else 0
    case.set(dst=start + held, held=held, count=count)
    case.start()
    register = UB + at["align"] * BYTES
    stream = np.concatenate([case.before[register:register + held],
                             case.before[UB + at["src"] * BYTES:][:count]])
    written = max((start + held + count) // 32 * 32 - start, 0)
    case.after[start:start + written] = stream[:written]
    rest = stream[written:]
    case.after[register:register + len(rest)] = rest


def gen_flush(case):
    at, held = case.names("align"), int(case.rng.integers(0, 32))
    dst = int(case.rng.integers(32, UB))
    case.set(dst=dst, held=held)
    case.start()
    case.after[dst - held:dst] = case.before[UB + at["align"] * BYTES:][:held]


ANY_TYPE = ["int8"]  # of instructions without a type
TABLE = []


def add(generator, ops, kinds):
    TABLE.extend((generator, "reg_" + op, kind) for op in ops.split() for kind in kinds)


add(gen_binary, "vadd vsub vmax vmin", ALL)
add(gen_binary, "vmul vmula", WIDE)
add(gen_binary, "vdiv", HALVES + WHOLES)
add(gen_binary, "vabsdif vprelu", HALVES)
add(gen_binary, "vmadd", REALS)
add(gen_binary, "vexpdif", ["fp32"])
add(gen_scalar, "vadds vmaxs vmins", ALL)
add(gen_scalar, "vmuls", WIDE)
add(gen_scalar, "vlrelu vaxpy", HALVES)
add(gen_unary, "vexp vln vsqrt", HALVES)
add(gen_unary, "vabs vneg", SIGNED)
add(gen_unary, "vrelu", HALVES + ["int32"])
add(gen_bits, "vand vor vxor vnot vmov", ALL)
add(gen_shift, "vshl vshr vshls vshrs", INTEGERS)
add(gen_select, "vsel", ALL)
add(gen_fill, "vdup vbr", ALL)
add(gen_lane, "vdupr", ALL)
add(gen_indices, "vci", HALVES + INTEGERS)
add(gen_trunc, "vtrc", REALS)
add(gen_convert, "vcvt", ALL + ["int64"])
add(gen_compare, "vcmp vcmps", ALL)
add(gen_reduce, "vcadd vcmax vcmin vcgadd vcgmax vcgmin", HALVES + WHOLES)
add(gen_reduce, "vcpadd", HALVES)
add(gen_squeeze, "vsqz", ALL)
add(gen_count, "vusqz", ["int8", "int16", "int32"])
add(gen_pair, "vintlv vdintlv", ALL)
add(gen_part, "vpack", WHOLES)
add(gen_part, "vunpack", ["int8", "uint8", "int16", "uint16"])
add(gen_index, "vselr", ["uint8", "uint16", "uint32"])
add(gen_gather, "vgather2 vscatter", ["uint8", "uint16", "uint32"])
add(gen_gather_blocks, "vgatherb", ANY_TYPE)
add(gen_carry, "vaddc vsubc vaddcs vsubcs", ["int32", "uint32"])
add(gen_product, "vmull", ["int32", "uint32"])
add(gen_histogram, "dhistv2 chistv2", ANY_TYPE)
add(gen_load, "vlds", ALL)
add(gen_load2, "vlds2", ALL)
add(gen_store, "vsts", ALL)
add(gen_store2, "vsts2", ALL)
add(gen_blocks, "vsldb vsstb", ALL)
add(gen_unaligned_load, "vldus", ANY_TYPE)
add(gen_unaligned_store, "vstus", ANY_TYPE)
add(gen_flush, "vstas", ANY_TYPE)


def difference(case, got):
    wrong = np.flatnonzero(got != case.after)
    if len(wrong) and case.op in TOLERANCE and case.kind not in TYPES:
        have, want = case.register((case.result - UB) // BYTES, got), case.register(
            (case.result - UB) // BYTES, case.after)
        distance = np.abs(ref.ordered(case.kind, have) - ref.ordered(case.kind, want))
        outside = (wrong < case.result) | (wrong >= case.result + BYTES)
        if not outside.any() and distance.max() <= 1:
            return None
    if not len(wrong):
        return None
    return "byte %d is %d, expected %d (%d differ)\n%s" % (
        wrong[0], got[wrong[0]], case.after[wrong[0]], len(wrong), case.text())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("driver")
    parser.add_argument("--cases", type=int, default=20, help="of each instruction and type")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    pools = {kind: ref.pool(kind, 4096, rng) for kind in REALS}
    driver = ref.Driver(options.driver, "Ascend950PR_9589", (("UB", UB), ("VR", VR), ("MASK", MASK)))
    head = "trace,version=1\nkernel,name=values,arch=dav-c310,blocks=1\nstream,core=AIV\n"
    failures, count = [], 0
    np.seterr(all="ignore")
    for generator, op, kind in TABLE:
        if not op.startswith(options.only):
            continue
        cases = [Case(op, kind, rng, pools) for _ in range(options.cases)]
        for case in cases:
            generator(case)
        got = driver.run(head + "".join(case.text() for case in cases),
                         np.stack([case.before for case in cases]))
        count += len(cases)
        problems = [problem for problem in map(difference, cases, got) if problem]
        failures += problems[:1]
    driver.close()
    print("seed %d, %d cases" % (options.seed, count))
    print("".join(failures[:10]), end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
