# SPDX-License-Identifier: Apache-2.0
"""Two runs side by side, and where their difference comes from."""
import dataclasses
import typing
from ctypes import byref

from . import _abi
from ._library import assignments, call, library, make, opened, record, table, text, words
from .studies import overrides


@dataclasses.dataclass
class End:
    """A side of a comparison; `soc` of a job is its system."""

    name: str
    soc: str
    total_cycles: int
    duration_us: float
    left_out: int


@dataclasses.dataclass
class Difference:
    """A row; `group` is the pipe, of an operator what it was lowered from in A, of a job the ranks."""

    group: str
    name: str
    unit: str
    text: typing.Optional[str]
    better: typing.Optional[str]
    in_a: bool
    in_b: bool
    a: int
    b: int
    change: int
    a_word: typing.Optional[str]
    b_word: typing.Optional[str]
    a_count: int
    b_count: int
    count_change: int


@dataclasses.dataclass
class Parting:
    """Where both sides part; `core` is None for rows of the traces."""

    core: typing.Optional[str]
    a: typing.Optional[str]
    b: typing.Optional[str]
    a_line: int
    b_line: int


@dataclasses.dataclass
class Diff:
    """Tables of differences, the largest first; `program` and `time` say where both part."""

    a: End
    b: End
    groups: typing.List[Difference]
    causes: typing.List[Difference]
    instructions: typing.List[Difference]
    counters: typing.List[Difference]
    operators: typing.List[Difference]
    classes: typing.List[Difference]
    ranks: typing.List[Difference]
    collectives: typing.List[Difference]
    exposed: typing.List[Difference]
    bytes: typing.List[Difference]
    program: typing.Optional[Parting]
    time: typing.Optional[Parting]
    notes: typing.List[str]

    def _repr_html_(self):
        rows = [(one.group, one.name, one.a, one.b, one.change)
                for one in (self.operators or self.ranks or self.groups)]
        return (f"<b>{self.a.name}: {self.a.duration_us} us, {self.b.name}: {self.b.duration_us} us</b>"
                + table(rows, ("group", "name", "a", "b", "change")))


def _side(given, over):
    """A side: words, or {"op" or "path": ..., "args": ..., overrides}."""
    own: typing.Dict[str, typing.Any] = dict(over)
    if isinstance(given, dict):
        given = dict(given)
        words_of = str(given.pop("op", None) or given.pop("path")).split()
        words_of += assignments(given.pop("args", None), "args")
        own.update(given)
    else:
        words_of = str(given).split()
    list_, count = words(words_of, "a side")
    return _abi.vinci_diff_side(words=list_, word_count=count, overrides=overrides(**own))


def _rows(handle, which) -> typing.List[Difference]:
    struct, rows = _abi.vinci_diff_row(), []
    for index in range(library().vinci_diff_row_count(handle, which)):
        library().vinci_diff_row(handle, which, index, byref(struct))
        rows.append(record(Difference, struct))
    return rows


def _parting(handle, which) -> typing.Optional[Parting]:
    struct = _abi.vinci_diff_point()
    return record(Parting, struct) if library().vinci_diff_parting(handle, which, byref(struct)) else None


def diff(a, b, *, max_cycles: int = 0, jobs: int = 0, **over) -> Diff:
    """Compares two runs, as `vinci diff`: traces, operators, result folders, lists, networks, jobs.

    A side is a text, or a dictionary with `op` or `path`, `args`, and what is said of that side
    alone. Further, for both: chip, set, data, memory, network, l2, code.

    >>> import vinci
    >>> found = vinci.diff("copy shape=4096", "copy shape=8192", chip="Ascend910B4")
    >>> sum(row.change for row in found.groups) == found.b.total_cycles - found.a.total_cycles
    True
    """
    options = make("vinci_diff_options", max_cycles=max_cycles, jobs=jobs)
    one, other, handle = _side(a, over), _side(b, over), opened()
    call("vinci_diff_run", byref(one), byref(other), byref(options), byref(handle))
    try:
        ends = [record(End, library().vinci_diff_end(handle, side)) for side in (0, 1)]
        tables = {name: _rows(handle, getattr(_abi, "VINCI_DIFF_" + name.upper()))
                  for name in ("groups", "causes", "instructions", "counters", "operators", "classes", "ranks",
                               "collectives", "exposed", "bytes")}
        notes, index = [], 0
        while library().vinci_diff_note(handle, index) is not None:
            notes.append(text(library().vinci_diff_note(handle, index)))
            index += 1
        return Diff(*ends, **tables, program=_parting(handle, _abi.VINCI_DIFF_PROGRAM),
                    time=_parting(handle, _abi.VINCI_DIFF_TIME), notes=notes)
    finally:
        library().vinci_diff_free(handle)
