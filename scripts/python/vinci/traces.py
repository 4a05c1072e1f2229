# SPDX-License-Identifier: Apache-2.0
"""Traces: read, written, and made of operators; what operators and instructions there are."""
import ctypes
import dataclasses
import os
import typing
from ctypes import byref

from . import _abi
from ._library import (Error, Handle, assignments, call, library, make, opened, record, table,
                       text, visitor, word, words, written)
from .chips import Soc, chip_of


@dataclasses.dataclass
class Tiling:
    """A tiling with its closed-form cost; `args` ask for this tiling."""

    args: str
    blocks: int
    total_cycles: int
    cube_cycles: int
    vector_cycles: int
    mte1_cycles: int
    mte2_cycles: int
    mte3_cycles: int
    fix_cycles: int
    gm_bytes: int


@dataclasses.dataclass
class Key:
    """A key of an operator. `default` None: it must be given, unless `tiling`."""

    name: str
    kind: str
    choices: typing.Optional[str]
    default: typing.Optional[str]
    text: str
    tiling: bool


@dataclasses.dataclass
class Operator:
    name: str
    text: str
    vendor_types: typing.Optional[str]
    keys: typing.List[Key] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Instruction:
    name: str
    text: str
    signature: str
    source: str
    pipe: typing.Optional[str]
    operands: typing.List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Tensor:
    name: str
    dtype: str
    shape: typing.Tuple[int, ...]
    io: str
    bytes: int


class Trace(Handle):
    """A program that was read and checked for a chip."""

    _free = "vinci_trace_free"

    def __init__(self, handle, chip: Soc, name: str, op: typing.Optional[str] = None, args=()):
        super().__init__(handle, chip)
        self.soc, self.name, self.op, self.args = chip, name, op, args

    def text(self) -> str:
        """The canonical form, in the format of FORMAT.md."""
        return written("vinci_trace_write", self)

    def save(self, path) -> None:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(self.text())

    def tensors(self) -> typing.List[Tensor]:
        found, struct = [], _abi.vinci_trace_tensor()
        while library().vinci_trace_tensor(self, len(found), byref(struct)):
            found.append(Tensor(text(struct.name), text(struct.dtype),
                                tuple(struct.shape[:struct.rank]), text(struct.io), struct.bytes))
        return found

    def leave_out(self, *lines: int) -> "Trace":
        """What-if: runs and checks to come go without the instructions of these lines.

        >>> import vinci
        >>> trace = vinci.compile("copy shape=64x1024", chip="Ascend910B4")
        >>> spot = vinci.run(trace).hotspots()[0]
        >>> vinci.run(trace.leave_out(spot.line)).total_cycles < vinci.run("copy shape=64x1024", chip="Ascend910B4").total_cycles
        True
        """
        call("vinci_trace_leave_out", self, (ctypes.c_uint64 * len(lines))(*lines), len(lines))
        return self

    def __repr__(self):
        return f"<vinci.Trace {self.name} on {self.soc.name}>"

    def _repr_html_(self):
        rows = [(one.name, one.dtype, "x".join(map(str, one.shape)), one.io, one.bytes)
                for one in self.tensors()]
        return f"<b>{self.name}</b>" + table(rows, ("tensor", "dtype", "shape", "io", "bytes"))


def _operator(first, op, args, chip, set, data, more):
    """(chip, op, args) of (soc, "matmul", {...}), ("matmul m=64 ...", chip=...) and the like."""
    if isinstance(first, Soc):
        chip = first
    else:
        op, args = first, op
    if not isinstance(op, str) or not op.split():
        raise Error(f"the operator is {op!r}, not a text")
    name, *inside = op.split()
    given = inside + assignments(args, "args") + assignments(more, "args")
    return chip_of(chip, set, data), name, given


def compile(op, *args, chip=None, set=None, data=None, **more) -> Trace:
    """Lowers an operator to a trace.

    >>> import vinci
    >>> trace = vinci.compile("matmul m=256 k=256 n=256", chip="Ascend910B4")
    >>> chip = vinci.soc("Ascend910B4")
    >>> vinci.compile(chip, "matmul", {"m": 256, "k": 256, "n": 256}).text() == trace.text()
    True
    >>> vinci.compile("copy", chip=chip, shape=(17, 3)).tensors()[0].shape
    (17, 3)
    """
    chip, name, given = _operator(op, *_two(args), chip, set, data, more)
    handle, (list_, count) = opened(), words(given, "args")
    call("vinci_compile", chip, word(name, "op"), list_, count, byref(handle))
    return Trace(handle.value, chip, " ".join([name, *given]), name, given)


def _two(args):
    if len(args) > 2:
        raise TypeError("an operator is (soc, op, args) or (op, args)")
    return (*args, None, None)[:2]


def compile_text(op, *args, chip=None, set=None, data=None, **more) -> str:
    """The text of the trace with comments, as `vinci compile` prints."""
    chip, name, given = _operator(op, *_two(args), chip, set, data, more)
    buffer, (list_, count) = ctypes.c_char_p(), words(given, "args")
    call("vinci_compile_text", chip, word(name, "op"), list_, count, byref(buffer))
    kept = text(buffer.value)
    library().vinci_text_free(buffer)
    return kept


def tiling(op, *args, chip=None, set=None, data=None, **more) -> Tiling:
    """The tiling that `compile` takes.

    >>> import vinci
    >>> vinci.tiling("matmul m=512 k=512 n=512", chip="Ascend910B4").args
    'split=1 tile=112x64x128 panel=256x128 resident=none band=4 cores=20'
    """
    chip, name, given = _operator(op, *_two(args), chip, set, data, more)
    buffer, struct = ctypes.create_string_buffer(1024), _abi.vinci_tiling()
    list_, count = words(given, "args")
    call("vinci_op_tiling", chip, word(name, "op"), list_, count, buffer, len(buffer), byref(struct))
    return record(Tiling, struct)


def tilings(op, *args, chip=None, set=None, data=None, **more) -> typing.List[Tiling]:
    """All legal tilings; tiling keys among the arguments are held fixed."""
    chip, name, given = _operator(op, *_two(args), chip, set, data, more)
    found: typing.List[Tiling] = []
    list_, count = words(given, "args")
    visit = visitor("vinci_op_tilings")(
        lambda _, one: found.append(record(Tiling, one.contents)) is None)
    call("vinci_op_tilings", chip, word(name, "op"), list_, count, visit, None)
    return found


def load(first, second=None, *, chip=None, set=None, data=None) -> Trace:
    """Reads a trace: load(path, chip=...) or load(soc, path)."""
    path, chip = (second, first) if isinstance(first, Soc) else (first, second or chip)
    chip, handle = chip_of(chip, set, data), opened()
    call("vinci_trace_load", word(path, "path"), chip, byref(handle))
    return Trace(handle.value, chip, os.fspath(path))


def parse(first, second=None, name: str = "trace", *, chip=None, set=None, data=None) -> Trace:
    """A trace from its text: parse(text, chip=...) or parse(soc, text)."""
    given, chip = (second, first) if isinstance(first, Soc) else (first, second or chip)
    chip, handle = chip_of(chip, set, data), opened()
    encoded = given if isinstance(given, bytes) else str(given).encode("utf-8", "surrogateescape")
    call("vinci_trace_parse", word(name, "name"), encoded, len(encoded), chip, byref(handle))
    return Trace(handle.value, chip, name)


def load_kernel(chip, *, library: str, name: str, args: typing.Sequence[str] = (),
                blocks: int = 1) -> Trace:
    """A kernel that `vinci cc` has compiled; its code runs in this process.

    `args` are its arguments in their order: "name=x,dtype=fp16,shape=4096,io=in" or "value=7".
    """
    chip, handle = chip_of(chip), opened()
    list_, count = words(args, "args")
    kernel = make("vinci_kernel", library=word(library, "library"), name=word(name, "name"),
                  blocks=blocks, args=list_, arg_count=count)
    call("vinci_kernel_load", chip, byref(kernel), byref(handle))
    return Trace(handle.value, chip, name)


def operators() -> typing.Dict[str, Operator]:
    """What can be compiled, by name.

    >>> import vinci
    >>> [key.name for key in vinci.operators()["copy"].keys if not key.tiling]
    ['shape', 'dtype']
    """
    found, struct, key = {}, _abi.vinci_op(), _abi.vinci_op_key()
    for index in range(library().vinci_op_count()):
        library().vinci_op_info(index, byref(struct))
        one = Operator(text(struct.name), text(struct.text), text(struct.vendor_types))
        for at in range(struct.key_count):
            library().vinci_op_key(index, at, byref(key))
            one.keys.append(Key(text(key.name), text(key.kind), text(key.choices),
                                text(key.fallback), text(key.text), key.tiling))
        found[one.name] = one
    return found


def instructions() -> typing.Dict[str, Instruction]:
    """The instruction table, by name.

    >>> import vinci
    >>> vinci.instructions()["vadd"].pipe
    'V'
    """
    found, struct, index = {}, _abi.vinci_instruction(), 0
    operand = ctypes.create_string_buffer(64)
    while library().vinci_instruction(index, byref(struct)):
        one = Instruction(text(struct.name), text(struct.text), text(struct.signature),
                          text(struct.source), text(struct.pipe))
        for at in range(struct.operand_count):
            library().vinci_instruction_operand(index, at, operand, len(operand))
            one.operands.append(text(operand.value))
        found[one.name] = one
        index += 1
    return found


def trace_of(what, chip=None, set=None, data=None) -> Trace:
    """A trace that is given as such, as the path of a file, or as an operator with arguments."""
    if isinstance(what, Trace):
        if set or chip is not None and chip is not what.soc:
            raise Error("a trace is for the chip that it was made for", hint="give chip= and set= where "
                        "the trace is made")
        return what
    if isinstance(what, os.PathLike) or isinstance(what, str) and what.endswith(".csv"):
        return load(what, chip=chip, set=set, data=data)
    return compile(what, chip=chip, set=set, data=data)
