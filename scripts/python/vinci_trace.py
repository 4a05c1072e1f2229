# SPDX-License-Identifier: Apache-2.0
"""
Writes vinci traces from Python, for code generators. No dependencies; Python 3.8 or later.

    from vinci_trace import Trace

    trace = Trace("add", arch="dav-c220", blocks=8)
    x = trace.tensor("x", "fp16", [131072], "in")
    y = trace.tensor("y", "fp16", [131072], "out")
    tile = trace.buffer("tile", "UB", 0, 4096)
    with trace.stream("AIV") as s:
        with s.loop("i", 8) as i:
            s.copy_gm_to_ubuf(dst=tile, src=x + 32768 * s.blk + 4096 * i, len_burst=128)
            s.set_flag(src="MTE2", dst="V", id=0)
            s.wait_flag(src="MTE2", dst="V", id=0)
            s.vadd(dst=tile, src0=tile, src1=tile, repeat=16, type="fp16")
            s.set_flag(src="V", dst="MTE3", id=0)
            s.wait_flag(src="V", dst="MTE3", id=0)
            s.copy_ubuf_to_gm(dst=y + 32768 * s.blk + 4096 * i, src=tile, len_burst=128)
            s.pipe_barrier(pipe="ALL")
    trace.save("add.csv")

Rows are methods named as the instruction, operands are its arguments: `vinci isa show NAME` lists them,
and `vinci check FILE` checks the result. Numbers may be expressions of tensors, buffers, loop counters,
`s.blk`, `s.sub` and `s.blocks`, with + - * // % and comparisons; // cuts towards zero, as the trace does.
"""

import re

__all__ = ["Expression", "Trace"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SUM, _PRODUCT, _VALUE = 1, 2, 3


def _checked(name):
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(f"{name!r} is not a name: letters, digits and _, no digit first")
    return name


class Expression:
    """A text of the trace's expressions; made by operators from names and whole numbers."""

    def __init__(self, text, level=_VALUE):
        self._text, self._level = text, level

    def __str__(self):
        return self._text

    def _inside(self, level):
        return self._text if self._level >= level else f"({self._text})"

    @staticmethod
    def of(value):
        if isinstance(value, Expression):
            return value
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{value!r} is neither a whole number nor an expression")
        return Expression(str(value), _VALUE if value >= 0 else 0)

    @staticmethod
    def _join(left, sign, right, level):
        left, right = Expression.of(left), Expression.of(right)
        return Expression(left._inside(level) + sign + right._inside(level + 1), level)

    def __add__(self, other):
        return self._join(self, "+", other, _SUM)

    def __radd__(self, other):
        return self._join(other, "+", self, _SUM)

    def __sub__(self, other):
        return self._join(self, "-", other, _SUM)

    def __rsub__(self, other):
        return self._join(other, "-", self, _SUM)

    def __mul__(self, other):
        return self._join(self, "*", other, _PRODUCT)

    def __rmul__(self, other):
        return self._join(other, "*", self, _PRODUCT)

    def __floordiv__(self, other):
        return self._join(self, "/", other, _PRODUCT)

    def __rfloordiv__(self, other):
        return self._join(other, "/", self, _PRODUCT)

    def __mod__(self, other):
        return self._join(self, "%", other, _PRODUCT)

    def __rmod__(self, other):
        return self._join(other, "%", self, _PRODUCT)

    def _compare(self, sign, other):
        left, right = self._inside(_SUM), Expression.of(other)._inside(_SUM)
        return Expression(f"({left}{sign}{right})")

    def __lt__(self, other):
        return self._compare("<", other)

    def __le__(self, other):
        return self._compare("<=", other)

    def __gt__(self, other):
        return self._compare(">", other)

    def __ge__(self, other):
        return self._compare(">=", other)

    def equals(self, other):
        """1 where both are the same, else 0; == compares the objects in Python."""
        return self._compare("==", other)

    def __bool__(self):
        raise TypeError("an expression has no value before the trace runs; use loops and products")


class _Loop:
    def __init__(self, stream, name, count):
        self._stream, self._row = stream, f"loop,{_checked(name)},{Expression.of(count)}"
        self._counter = Expression(name)

    def __enter__(self):
        self._stream._put(self._row)
        self._stream._depth += 1
        return self._counter

    def __exit__(self, *_):
        self._stream._depth -= 1
        self._stream._put("endloop")


class _Stream:
    """The rows of one kind of core; every other attribute is an instruction."""

    blk, sub, blocks = Expression("blk"), Expression("sub"), Expression("blocks")

    def __init__(self, trace, core):
        self._trace, self._core, self._depth = trace, _checked(core), 0

    def __enter__(self):
        self._put(f"stream,core={self._core}")
        return self

    def __exit__(self, *_):
        return None

    def _put(self, row):
        self._trace._rows.append("  " * self._depth + row)

    def loop(self, name, count):
        """with s.loop("i", 8) as i: the rows inside, with the counter i from 0."""
        return _Loop(self, name, count)

    def let(self, name, value):
        """A value by a name, for the rows that follow."""
        self._put(f"let,{_checked(name)},{Expression.of(value)}")
        return Expression(name)

    def comment(self, text):
        for line in str(text).splitlines():
            self._put(f"# {line}")

    def __getattr__(self, instruction):
        if instruction.startswith("_"):
            raise AttributeError(instruction)

        def row(**operands):
            words = [
                f"{name}={value if isinstance(value, str) else Expression.of(value)}"
                for name, value in operands.items()
            ]
            self._put(",".join([instruction, *words]))

        return row


class Trace:
    """A trace of one kernel."""

    def __init__(self, kernel, arch="dav-c220", blocks=1, **more):
        words = "".join(f",{name}={value}" for name, value in more.items())
        self._rows = [
            "trace,version=1",
            f"kernel,name={_checked(kernel)},arch={arch},blocks={int(blocks)}{words}",
        ]

    def tensor(self, name, dtype, shape, io, **more):
        """io: in, out, inout or workspace; more: file="x.npy", cache="disable", format="NZ"."""
        extents = "x".join(str(int(extent)) for extent in shape)
        words = "".join(f",{key}={value}" for key, value in more.items())
        self._rows.append(f"tensor,name={_checked(name)},dtype={dtype},shape={extents},io={io}{words}")
        return Expression(name)

    def buffer(self, name, space, address, size):
        self._rows.append(f"buffer,name={_checked(name)},space={space},address={address},size={size}")
        return Expression(name)

    def stream(self, core):
        """with trace.stream("AIV") as s: the rows of a kind of core."""
        return _Stream(self, core)

    def text(self):
        return "\n".join(self._rows) + "\n"

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())
