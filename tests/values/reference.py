# SPDX-License-Identifier: Apache-2.0
"""What references of values share: the driver, number formats by numpy, pools of test data."""

import subprocess

import numpy as np

FLOATS = {"fp16": np.float16, "fp32": np.float32}
CODES = {"fp16": np.uint16, "bf16": np.uint16, "fp32": np.uint32, "int8": np.int8,
         "uint8": np.uint8, "int16": np.int16, "uint16": np.uint16, "int32": np.int32,
         "uint32": np.uint32, "int64": np.int64}
BITS = {"int4": 4, "int8": 8, "uint8": 8, "fp16": 16, "bf16": 16, "int16": 16, "uint16": 16,
        "fp32": 32, "int32": 32, "uint32": 32, "int64": 64}
NAN_CODE = {"fp16": 0x7E00, "bf16": 0x7FC0, "fp32": 0x7FC00000}


class Driver:
    """tests/values/driver: executes instructions on images of memories, a batch at a time."""

    def __init__(self, program, soc, windows=(("UB", 16384),)):
        spaces = ["%s=%d" % window for window in windows]
        self.process = subprocess.Popen([program, soc] + spaces, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def run(self, text, images):
        """images: array [cases, bytes]; returns what the instructions left of them."""
        raw = text.encode()
        cases, size = images.shape
        self.process.stdin.write(b"BATCH %d %d %d\n" % (len(raw), cases, size))
        self.process.stdin.write(raw)
        self.process.stdin.write(images.tobytes())
        self.process.stdin.flush()
        answer = self.process.stdout.read(cases * size)
        if len(answer) != cases * size:
            raise RuntimeError("the driver ended, see its message")
        return np.frombuffer(answer, np.uint8).reshape(cases, size)

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise RuntimeError("the driver failed")


def decode(kind, codes):
    """Numbers of codes, as float64; integers of up to 32 bits too."""
    if kind == "fp16":
        return codes.view(np.float16).astype(np.float64)
    if kind == "fp32":
        return codes.view(np.float32).astype(np.float64)
    if kind == "bf16":
        return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return codes.astype(np.float64)


def encode(kind, values, saturate=False):
    """Codes of float64 numbers, to nearest even; NaN is the positive quiet NaN."""
    if kind == "bf16":
        return encode_bf16(values)
    narrow = values.astype(FLOATS[kind])
    if saturate and kind == "fp16":
        narrow = np.clip(np.where(np.isnan(narrow), np.float16(0), narrow),
                         np.float16(-65504), np.float16(65504))
    codes = narrow.view(CODES[kind])
    nan = np.isnan(narrow)
    if nan.any():
        codes = codes.copy()
        codes[nan] = NAN_CODE[kind]
    return codes


def encode_bf16(values):
    return round_float("bf16", values, "r")


FORMATS = {"fp16": (10, -14, 65504.0), "bf16": (7, -126, float(np.float32(3.3895314e38)))}


def round_float(kind, values, mode, saturate=False):
    """Codes of float64 numbers in a 16-bit format by a rounding mode, in exact arithmetic."""
    fraction, exponent_min, largest = FORMATS[kind]
    _, exponent = np.frexp(values)
    exponent = np.maximum(exponent - 1, exponent_min)
    unit = np.ldexp(1.0, exponent - fraction)
    finite = np.isfinite(values)
    steps = round_integral(np.where(finite, values / unit, 0.0), mode)
    rounded = steps * unit
    # Beyond the largest number: infinite, unless the mode rounds towards zero.
    limit = np.where(values > 0, largest, -largest)
    inward = (mode in "zo") | ((mode == "f") & (values > 0)) | ((mode == "c") & (values < 0))
    beyond = np.where(inward & finite, limit, np.sign(values) * np.inf)
    result = np.where(np.abs(rounded) > largest, beyond, rounded)
    result = np.where(finite, np.copysign(result, values), values)
    if saturate:
        result = np.where(np.isnan(result), 0.0, np.clip(result, -largest, largest))
    if kind == "fp16":
        return encode("fp16", result)
    codes = (result.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.where(np.isnan(result), np.uint16(NAN_CODE["bf16"]), codes)


def round_integral(values, mode):
    """float64 to integral float64; a zero keeps the sign."""
    return np.copysign(round_magnitude(values, mode), values)


def round_magnitude(values, mode):
    if mode == "r":
        return np.rint(values)
    if mode == "f":
        return np.floor(values)
    if mode == "c":
        return np.ceil(values)
    if mode == "z":
        return np.trunc(values)
    if mode == "a":
        whole = np.trunc(values)
        return whole + np.where(np.abs(values - whole) >= 0.5, np.copysign(1.0, values), 0.0)
    whole = np.trunc(values)
    return np.where((whole != values) & (np.remainder(whole, 2) == 0),
                    whole + np.copysign(1.0, values), whole)


def ordered(kind, codes):
    """Integers in the order of the numbers, neighbours 1 apart."""
    bits = BITS[kind]
    wide = codes.astype(np.int64) & ((1 << bits) - 1)
    sign = 1 << (bits - 1)
    return np.where(wide & sign, sign - wide, wide)


SPECIAL = {
    "fp16": [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x8400, 0x3C00, 0xBC00, 0x3BFF, 0x3C01,
             0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7D00, 0x5800, 0x5BF8, 0xD800, 0x4D00,
             0x7800, 0xF800],
    "fp32": [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x80800000,
             0x3F800000, 0xBF800000, 0x3F7FFFFF, 0x3F800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
             0xFF800000, 0x7FC00000, 0xFFC00001, 0x7FA00000, 0x4F000000, 0xCF000000, 0x4EFFFFFF,
             0x5F000000, 0xDF000000, 0x477FE000, 0x477FF000, 0x33000000, 0x33800000, 0x42B17218,
             0xC2CFF1B5, 0xC2AEAC50],
    "int16": [0, 1, -1, 32767, -32768, 2, -2],
    "int32": [0, 1, -1, 2147483647, -2147483648, 32767, 32768, -32768, -32769, 16777217, 65536],
    "int64": [0, 1, -1, 2**63 - 1, -(2**63), 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**24 + 1],
}


def pool(kind, size, rng):
    """Bytes of many numbers of a kind: ordinary ones, all bit patterns, special ones."""
    dtype = {"fp16": np.uint16, "fp32": np.uint32, "bf16": np.uint16}.get(kind, CODES[kind])
    count = size // np.dtype(dtype).itemsize
    raw = np.frombuffer(rng.bytes(count * np.dtype(dtype).itemsize), dtype).copy()
    pick = rng.random(count)
    if kind in ("fp16", "fp32", "bf16"):
        scale = np.exp2(rng.integers(-4, 12, count).astype(np.float64))
        near = encode(kind, rng.standard_normal(count) * scale)
        small = encode(kind, rng.integers(-300, 300, count) * 0.5)
        raw = np.where(pick < 0.5, near, raw)
        raw = np.where((pick >= 0.5) & (pick < 0.65), small, raw)
    else:
        small = rng.integers(-200, 200, count).astype(dtype)
        raw = np.where(pick < 0.4, small, raw)
    special = SPECIAL.get(kind)
    if kind == "bf16":
        special = [code >> 16 for code in SPECIAL["fp32"]]
    if special:
        chosen = np.array(special)[rng.integers(0, len(special), count)].astype(dtype)
        raw = np.where(pick > 0.85, chosen, raw)
    return raw.astype(dtype).view(np.uint8)
