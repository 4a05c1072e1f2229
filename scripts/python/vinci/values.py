# SPDX-License-Identifier: Apache-2.0
"""Values: a trace executed with real bytes, and the checks of a program."""
import ctypes
import dataclasses
import json
import typing
from ctypes import byref

from . import _abi
from ._library import (Callback, Error, Handle, call, field_type, library, make, opened, record,
                       table, text, visitor, whole, word, written)
from .chips import Soc
from .traces import Tensor, Trace, trace_of

_NUMPY = {"fp16": "<f2", "fp32": "<f4", "fp64": "<f8", "int8": "i1", "uint8": "u1", "int16": "<i2",
          "uint16": "<u2", "int32": "<i4", "uint32": "<u4", "int64": "<i8", "uint64": "<u8",
          "bool": "u1"}


@dataclasses.dataclass
class Comparison:
    elements: int
    differing: int
    largest_error: float


class Values(Handle):
    """Memory for the tensors of a trace, all zero at first; `run` executes without time.

    Bytes go in and come out as `bytes`, or as arrays where numpy is installed.

    >>> import struct, vinci
    >>> values = vinci.values(vinci.compile("muls shape=64 dtype=fp32 alpha=3", chip="Ascend910B4"))
    >>> values["x"] = struct.pack("<64f", *range(64))
    >>> struct.unpack("<64f", values.run().bytes("y"))[:4]
    (0.0, 3.0, 6.0, 9.0)
    """

    _free = "vinci_values_free"

    def __init__(self, trace: Trace):
        handle = opened()
        call("vinci_values_create", trace.soc, trace, byref(handle))
        super().__init__(handle.value, trace)
        self.trace = trace

    def _structs(self):
        for index in range(library().vinci_values_count(self)):
            struct = _abi.vinci_tensor()
            if library().vinci_values_tensor(self, index, byref(struct)):
                yield struct

    def _find(self, tensor: str):
        for struct in self._structs():
            if text(struct.name) == tensor:
                return struct
        raise Error(f"no tensor is called '{tensor}'",
                    hint="there are " + ", ".join(one.name for one in self.tensors()))

    def tensors(self) -> typing.List[Tensor]:
        return self.trace.tensors()

    def load(self, tensor: str, path) -> "Values":
        """From a .npy file."""
        call("vinci_values_load", self, word(tensor, "tensor"), word(path, "path"))
        return self

    def load_files(self) -> "Values":
        """From the files that the trace names."""
        call("vinci_values_load_files", self)
        return self

    def fill(self, seed: int = 1) -> "Values":
        """Small pseudo-random values for inputs that have none, the same ones on every host."""
        library().vinci_values_fill(self, whole(seed, "seed"))
        return self

    def set(self, tensor: str, values) -> "Values":
        """Gives a tensor bytes (little-endian), or an array or nested list of its shape."""
        if not isinstance(values, (bytes, bytearray, memoryview)):
            values = self._bytes_of(self._find(tensor), values)
        values = bytes(values)
        call("vinci_values_set", self, word(tensor, "tensor"), values, len(values))
        return self

    __setitem__ = set

    @staticmethod
    def _bytes_of(struct, values):
        try:
            import numpy
        except ImportError:
            raise Error("numpy is not installed", hint="give bytes, little-endian") from None
        name = text(struct.name)
        wanted, shape = _NUMPY.get(text(struct.dtype)), tuple(struct.shape[:struct.rank])
        if wanted is None:
            raise Error(f"tensor '{name}' is {text(struct.dtype)}, which numpy lacks: give bytes")
        array = numpy.asarray(values)
        if array.shape != shape:
            raise Error(f"tensor '{name}' has the shape {shape}, not {array.shape}")
        if array.dtype.kind not in "biuf":
            raise Error(f"tensor '{name}' takes numbers, not {array.dtype}")
        held = numpy.ascontiguousarray(array, dtype=wanted)
        if held.dtype.kind in "iu" and not numpy.array_equal(held, array):
            raise Error(f"tensor '{name}' is {text(struct.dtype)}, which does not hold all of these numbers")
        return held.tobytes()

    def run(self, progress: typing.Optional[typing.Callable] = None) -> "Values":
        """Executes all kernels. `progress` gets the instructions and the share that is done."""
        told = None if progress is None else lambda done, permille: progress(done, permille / 1000)
        with Callback(visitor("vinci_values_run"), told) as pointer:
            call("vinci_values_run", self, pointer, None)
        return self

    def bytes(self, tensor: str) -> bytes:
        """What a tensor holds, little-endian."""
        struct = self._find(tensor)
        return ctypes.string_at(struct.data, struct.bytes)

    def array(self, tensor: str):
        """What a tensor holds, as an array of numpy; of bf16 as float32."""
        try:
            import numpy
        except ImportError:
            raise Error("numpy is not installed", hint="bytes() needs none") from None
        struct = self._find(tensor)
        dtype, shape, held = text(struct.dtype), tuple(struct.shape[:struct.rank]), self.bytes(tensor)
        if dtype == "bf16":
            wide = numpy.frombuffer(held, "<u2").astype("<u4") << 16
            return wide.view("<f4").reshape(shape)
        if dtype not in _NUMPY:
            raise Error(f"tensor '{tensor}' is {dtype}, which numpy lacks", hint="use bytes()")
        return numpy.frombuffer(held, _NUMPY[dtype]).reshape(shape)

    def __getitem__(self, tensor: str):
        """An array where numpy is installed and knows the type, else bytes."""
        try:
            return self.array(tensor)
        except Error:
            return self.bytes(tensor)

    def save(self, tensor: str, path) -> "Values":
        """Into a .npy file."""
        call("vinci_values_save", self, word(tensor, "tensor"), word(path, "path"))
        return self

    def expect(self, tensor: str, path, *, atol: float = 0, rtol: float = 0) -> Comparison:
        """Compares with a .npy file."""
        struct = _abi.vinci_comparison()
        call("vinci_values_expect", self, word(tensor, "tensor"), word(path, "path"), atol, rtol,
             byref(struct), accept=(_abi.VINCI_E_MISMATCH,))
        return record(Comparison, struct)

    def __repr__(self):
        return f"<vinci.Values of {self.trace.name}>"


def values(first, second=None, *, chip=None, set=None, data=None) -> Values:
    """Memory for the tensors of a trace: values(trace), values(soc, trace), values("OP ...", chip=)."""
    what, chip = (second, first) if isinstance(first, Soc) else (first, second or chip)
    return Values(trace_of(what, chip, set, data))


@dataclasses.dataclass
class Findings:
    """What a check has found. `text` is the report; `json` what check.json has."""

    errors: int
    warnings: int
    unchecked: str
    text: str
    json: typing.Dict[str, typing.Any]

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return self.errors == 0

    def __str__(self):
        return self.text

    def _repr_html_(self):
        rows = [(one["level"], one["check"], one["kind"], one["kernel"], one["detail"],
                 ", ".join(f"{event['file']}:{event['line']} {event['instruction']}"
                           for event in one["events"])) for one in self.json["findings"]]
        return f"<b>{self.errors} errors, {self.warnings} warnings</b>" + table(
            rows, ("level", "check", "kind", "kernel", "detail", "rows"))


def check(first, second=None, *, chip=None, set=None, data=None,
          checks: typing.Sequence[str] = (),
          progress: typing.Optional[typing.Callable] = None) -> Findings:
    """Checks a program: accesses, races, reads of nothing, flags. All checks unless some are named.

    >>> import vinci
    >>> findings = vinci.check("softmax shape=17x260", chip="Ascend910B4", checks=["racecheck"])
    >>> findings.ok, findings.errors
    (True, 0)
    """
    what, chip = (second, first) if isinstance(first, Soc) else (first, second or chip)
    trace, bits = trace_of(what, chip, set, data), 0
    names = ("memcheck", "racecheck", "initcheck", "synccheck")
    for name in [checks] if isinstance(checks, str) else checks:
        if name not in names:
            raise Error(f"checks has {name!r}, not one of {', '.join(names)}")
        bits |= getattr(_abi, "VINCI_CHECK_" + name.upper())
    told = None if progress is None else lambda done, permille: progress(done, permille / 1000)
    callback = Callback(field_type("vinci_check_options", "progress"), told)
    options = make("vinci_check_options", checks=bits, progress=callback.pointer)
    handle = opened()
    with callback:
        call("vinci_check", trace.soc, trace, byref(options), byref(handle),
             accept=(_abi.VINCI_E_CHECK,))
    try:
        return Findings(library().vinci_findings_count(handle),
                        library().vinci_findings_warnings(handle),
                        text(library().vinci_findings_unchecked(handle)),
                        written("vinci_findings_write_text", handle),
                        json.loads(written("vinci_findings_write_json", handle)))
    finally:
        library().vinci_findings_free(handle)
