# SPDX-License-Identifier: Apache-2.0
"""Chains of elementwise steps against numpy.

    chains.py VINCI [--seed S] [--cases N] [--soc NAME]

Random chains, each step in float64 with a bound of its error: what the step makes of the errors of its
operands, and roundings of the type that is computed in. A result may be off by the bound and one
rounding of its own type. Chains of fixed text follow, with types, rows, columns and special values
that random ones do not meet. Prints the seed; ends with 1 and the chains that differ.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np

FILES = {"fp16": np.float16, "fp32": np.float32, "bf16": np.float32, "int32": np.int32,
         "int16": np.int16, "int8": np.int8, "uint8": np.uint8}
UNIT = {"fp16": 2.0 ** -11, "bf16": 2.0 ** -8, "fp32": 2.0 ** -24}
SMALLEST = {"fp16": 2.0 ** -25, "bf16": 1e-38, "fp32": 1e-38}
SHAPES = [(1,), (17,), (1009,), (37, 129), (5, 3, 40), (2, 67, 1031), (300, 16), (3, 15193)]


def in_type(values, kind):
    if kind != "bf16":
        return np.asarray(values).astype(FILES[kind])
    bits = np.atleast_1d(np.asarray(values, np.float32)).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
    return bits.astype(np.uint32).view(np.float32).reshape(np.shape(values))


class Value:
    """Exact values and how far off the chain may be."""

    def __init__(self, exact, error):
        self.exact, self.error = np.asarray(exact, np.float64), np.broadcast_to(error, np.shape(exact))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


# Name: function, largest slope, roundings of the program in units of its result and in units of 1.
UNARY = {"relu": (lambda x: np.maximum(x, 0), 1, 0, 0), "abs": (np.abs, 1, 0, 0),
         "neg": (np.negative, 1, 0, 0), "sigmoid": (sigmoid, 0.25, 8, 0), "tanh": (np.tanh, 1, 8, 8),
         "silu": (lambda x: x * sigmoid(x), 1.1, 16, 0), "gelu": (gelu, 1.13, 32, 4),
         "sin": (np.sin, 1, 8, 16), "hard_sigmoid": (lambda x: np.clip(x / 6 + 0.5, 0, 1), 0.17, 4, 2)}
BINARY = {"add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum, "mul": np.multiply}
SCALED = {"muls": lambda x, a: x * a, "adds": lambda x, a: x + a, "maxs": np.maximum,
          "mins": np.minimum, "leaky_relu": lambda x, a: np.where(x > 0, x, x * a)}
# Steps that fp16 computes as it is.
NARROW = {"relu", "abs", "neg", "leaky_relu", *BINARY} | set(SCALED)


def unary(name, x, unit):
    function, slope, relative, absolute = UNARY[name]
    y = function(x.exact)
    return Value(y, slope * x.error + unit * (relative * np.abs(y) + absolute))


def scaled(name, x, number, unit):
    y = SCALED[name](x.exact, number)
    slope = max(1, abs(number)) if name in ("muls", "leaky_relu") else 1
    return Value(y, slope * x.error + 2 * unit * (np.abs(y) + abs(number)))


def binary(name, a, b, unit):
    y = BINARY[name](a.exact, b.exact)
    error = a.error + b.error
    if name == "mul":
        error = np.abs(a.exact) * b.error + np.abs(b.exact) * a.error + a.error * b.error
    return Value(y, error + 2 * unit * np.abs(y))


class Chain:
    """A random chain, as it grows."""

    def __init__(self, rng, kind, shape):
        self.rng, self.kind = rng, kind
        self.inputs, self.args, self.steps, self.drafts = {}, [], [], []
        self.narrow = kind == "fp16" and rng.integers(2) == 0
        for i in range(int(rng.integers(1, 7))):
            own = self.part_of(shape) if i else shape
            self.inputs["x%d" % i if i else "x"] = in_type(rng.uniform(-2, 2, own), kind)
            self.args.append("shape%s=%s" % (i or "", "x".join(map(str, own))))

    def part_of(self, shape):
        """The shape, rows of it, a number for each row, or one number."""
        form = self.rng.integers(6)
        return {0: shape[-1:], 1: shape[:-1] + (1,), 2: (1,)}.get(int(form), shape)

    def draw(self, names):
        return names[self.rng.integers(len(names))]

    def step(self, names, values, unused, pending, ends):
        """Text and value of one more step; inputs and results that nothing has used come first."""
        first = unused.pop(0) if unused else pending[-1] if pending else self.draw(names)
        form = 2 if ends and (unused or len(pending) > 1) else self.rng.integers(3)
        if form == 0:
            name = self.draw([n for n in UNARY if n in NARROW or not self.narrow])
            return f"{name}:{first}", lambda unit: unary(name, values[first], unit), [first]
        if form == 1:
            name, number = self.draw(list(SCALED)), float(self.rng.integers(-8, 9)) / 4
            return (f"{name}:{first}:{number}",
                    lambda unit: scaled(name, values[first], number, unit), [first])
        others = [name for name in pending if name != first]
        second = others[0] if others else unused.pop(0) if unused else self.draw(names)
        name = self.draw(list(BINARY))
        return (f"{name}:{first}:{second}",
                lambda unit: binary(name, values[first], values[second], unit), [first, second])

    def build(self, length):
        unit = UNIT["fp16"] if self.narrow else UNIT["fp32"]
        values = {name: Value(x, 0) for name, x in self.inputs.items()}
        names, unused, pending = list(values), list(values), []
        wide = False
        for i in range(40):
            text, value, used = self.step(names, values, unused, pending, i >= length)
            rest = [p for p in pending if p not in used]
            last = i >= length and not unused and not rest
            name = "y" if last else "t%d" % i
            made = value(unit)
            if np.max(np.abs(made.exact)) > 500:
                text, made = f"tanh:{used[0]}", unary("tanh", values[used[0]], unit)
                if self.narrow or len(used) > 1:  # a chain of one type has no tanh
                    return None
            wide |= text.split(":")[0] not in NARROW
            self.steps.append(f"{name}={text}")
            pending = rest + [name]
            values[name] = made
            names.append(name)
            if last:
                return values["y"] if self.kind != "fp16" or wide or self.narrow else None
        return None


def run(program, soc, folder, args, inputs):
    """Results by name, or what is wrong."""
    command = [program, "run", "chain", *args, "-s", soc, "-q", "--check", "-o", folder + "/out"]
    for name, values in inputs.items():
        np.save(f"{folder}/{name}.npy", values)
        command += ["--input", f"{name}={folder}/{name}.npy"]
    for path in glob.glob(folder + "/out/tensors/*"):
        os.remove(path)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return (done.stdout + done.stderr).strip()[-300:]
    results = {}
    for path in glob.glob(folder + "/out/tensors/*.npy"):
        results[os.path.basename(path)[:-4]] = np.load(path)
    return results


def off(got, value, kind):
    """The largest error, in bounds."""
    if kind not in UNIT:
        return float(np.max(got != value.exact))
    if kind == "bf16":  # files hold the bits
        got = (got.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    got = np.broadcast_to(got.astype(np.float64), value.exact.shape)
    different = ~((np.isnan(got) & np.isnan(value.exact)) | (got == value.exact))
    if not different.any():
        return 0.0
    exact = value.exact[different]
    bound = 1.01 * (value.error[different] + UNIT[kind] * np.abs(exact)) + SMALLEST[kind]
    return float(np.max(np.abs(got[different] - exact) / bound))


def random_chains(check, rng, count):
    done = 0
    while done < count:
        kind = ("fp16", "fp32", "bf16")[rng.integers(3)]
        chain = Chain(rng, kind, SHAPES[rng.integers(len(SHAPES))])
        value = chain.build(int(rng.integers(1, 13)))
        if value is None:
            continue
        done += 1
        tilings = ([], ["buffers=1"], ["blocks=1"], ["rows=1"])
        args = [*chain.args, f"dtype={kind}", *tilings[rng.integers(4)],
                "steps=" + ",".join(chain.steps)]
        yield check(args, chain.inputs, {"y": (value, kind)})


def fixed_chains(check, rng):
    def draw(shape, kind, low=-3, high=3):
        if kind in UNIT:
            return in_type(rng.uniform(low, high, shape), kind)
        return rng.integers(low, high + 1, shape).astype(FILES[kind])

    def exact(values, kind, error=0.0):
        return Value(values, error), kind

    specials = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0], np.float32)
    x, x1 = draw((37, 129), "fp16"), draw((129,), "fp16")
    # Integers stay integers, whatever their size.
    a, b = draw((301,), "int32", -2 ** 30, 2 ** 30 - 1), draw((301,), "int32", -99, 99)
    yield check(["shape=301", "dtype=int32", "steps=add:x:x1,maxs:5,y1=neg,muls:3,y=min:x"], {"x": a, "x1": b},
                {"y": exact(np.minimum((-np.maximum(a + b, 5) * 3).astype(np.int32), a), "int32"),
                 "y1": exact(-np.maximum(a + b, 5), "int32")})
    # Towards zero into integers, and back; a scale on the way in.
    f = draw((5, 77), "fp32", -90, 90)
    yield check(["shape=5x77", "dtype=fp32", "steps=y1=cast:int32,t=cast:fp32,y=sub:x:t"], {"x": f},
                {"y": exact(f - np.trunc(f), "fp32"), "y1": exact(np.trunc(f), "int32")})
    q = draw((9, 65), "int32", -9999, 9999)
    s = draw((65,), "fp32", 0.5, 2)
    wide = (q * s.astype(np.float64))
    yield check(["shape=9x65", "dtype=int32", "shape1=65", "dtype1=fp32",
                 "steps=cast:fp32,mul:x1,y1=relu,y=cast:fp16"], {"x": q, "x1": s},
                {"y1": exact(np.maximum(wide, 0), "fp32", np.abs(wide) * 2.0 ** -23),
                 "y": exact(np.maximum(wide, 0), "fp16", np.abs(wide) * 2.0 ** -23)})
    # Conditions between bytes and halves.
    c, d = draw((37, 129), "uint8", 0, 1), draw((37, 129), "uint8", 0, 1)
    more = x.astype(np.float64) > x1
    yield check(["shape=37x129", "dtype=fp16", "shape1=129", "dtype2=uint8", "dtype3=uint8",
                 "steps=g=greater:x:x1,o=logical_or:g:x2,y1=logical_and:o:x3,y=where:y1:x:x1"],
                {"x": x, "x1": x1, "x2": c, "x3": d},
                {"y1": exact((more | (c > 0)) & (d > 0), "uint8"),
                 "y": exact(np.where((more | (c > 0)) & (d > 0), x, x1), "fp16")})
    # A number for each row, and one for all.
    row, one = draw((37, 1), "fp16"), draw((1,), "fp16")
    total = x.astype(np.float64) + row
    yield check(["shape=37x129", "dtype=fp16", "shape1=37x1", "shape2=1",
                 "steps=add:x:x1,relu,mul:x2"], {"x": x, "x1": row, "x2": one},
                {"y": exact(np.maximum(total, 0) * one, "fp16", np.abs(total) * 2.0 ** -10 * 3)})
    # The gradient of relu needs zeros; values that are no numbers pass.
    yield check(["shape=7", "dtype=fp32", "steps=muls:2,y=relu_grad:x1"],
                {"x": specials, "x1": np.array([1, -1, 2, 0, 3, 1, -1], np.float32)},
                {"y": exact(np.where([1, 0, 1, 0, 1, 1, 0], specials * 2, 0), "fp32")})
    yield check(["shape=7", "dtype=fp32", "steps=abs,adds:1,y=mins:100"], {"x": specials},
                {"y": exact(np.minimum(np.abs(specials) + 1, 100), "fp32")})
    # To 8 bits at the end; the result goes on.
    v = draw((4, 333), "fp16", -4, 4)
    bits = np.clip(np.rint(np.maximum(v.astype(np.float32), 0) * np.float32(30)), -128, 127)
    yield check(["shape=4x333", "dtype=fp16", "shape1=1", "dtype1=fp32",
                 "steps=relu,cast:fp32,y1=quantize:x1,cast:fp32,y=muls:0.5"],
                {"x": v, "x1": np.array([30], np.float32)},
                {"y1": exact(bits, "int8"), "y": exact(bits * 0.5, "fp32")})
    # The same value twice, an input as it is.
    yield check(["shape=300", "dtype=fp32", "steps=y1=cast:fp16:x,y2=cast:bf16:x,y=cast:fp32:x"],
                {"x": f.reshape(-1)[:300]},
                {"y": exact(f.reshape(-1)[:300], "fp32"), "y1": exact(f.reshape(-1)[:300], "fp16"),
                 "y2": exact(f.reshape(-1)[:300], "bf16")})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--soc", default="Ascend910B4")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        def check(args, inputs, expected):
            results = run(options.program, options.soc, folder, args, inputs)
            if isinstance(results, str):
                return f"chain {' '.join(args)}: {results}"
            for name, (value, kind) in expected.items():
                error = off(results[name], value, kind)
                if not error <= 1:
                    return f"chain {' '.join(args)}: {name} is off by {error:.3g} bounds"
            return None

        outcomes = [*fixed_chains(check, rng), *random_chains(check, rng, options.cases)]
    wrong = [outcome for outcome in outcomes if outcome]
    print(f"seed {options.seed}: {len(outcomes)} chains, {len(wrong)} differ")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
