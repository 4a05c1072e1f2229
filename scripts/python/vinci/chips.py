# SPDX-License-Identifier: Apache-2.0
"""Chips: which there are, what their numbers are, and how they are changed."""
import dataclasses
import typing
from ctypes import byref

from . import _abi
from ._library import (Error, Handle, assignments, call, library, opened, record, table, text,
                       visitor, word)


@dataclasses.dataclass
class Number:
    """A number of a chip: `value` in `unit`, `value_text` with a handy unit ("96MiB")."""

    key: str
    value: typing.Union[int, float]
    unit: str
    value_text: str
    text: str
    source: str
    note: typing.Optional[str]
    confidence: str


class Soc(Handle):
    """A chip.

    >>> import vinci
    >>> chip = vinci.soc("Ascend910B4", {"l2.size": "48MiB"})
    >>> chip.name, chip.arch, chip["l2.size"].value
    ('Ascend910B4', 'dav-c220', 50331648)
    >>> chip.copy().set({"cube.n": 32})["cube.n"].value, chip["cube.n"].value
    (32, 16)
    """

    _free = "vinci_soc_free"

    @property
    def name(self) -> str:
        return text(library().vinci_soc_name(self))

    @property
    def arch(self) -> str:
        """The architecture of its cores, "dav-c220"."""
        return text(library().vinci_soc_arch(self))

    def set(self, key, value=None) -> "Soc":
        """Overrides numbers: a key and a value, or {key: value}. Before the first trace."""
        for assignment in assignments({key: value} if value is not None else key, "set"):
            call("vinci_soc_set", self, word(assignment, "set"))
        return self

    def copy(self) -> "Soc":
        handle = library().vinci_soc_copy(self)
        if not handle:
            raise Error("out of memory for a chip", "E_NOMEM", 8)
        return Soc(handle)

    def numbers(self) -> typing.Dict[str, Number]:
        """All numbers by their keys."""
        struct, numbers, index = _abi.vinci_soc_number(), {}, 0
        while library().vinci_soc_number(self, index, byref(struct)):
            whole, rest = divmod(struct.value, struct.scale)
            struct_value = struct.value / struct.scale if rest else whole
            numbers[text(struct.key)] = dataclasses.replace(record(Number, struct), value=struct_value)
            index += 1
        return numbers

    def keys(self) -> typing.List[str]:
        return list(self.numbers())

    def __getitem__(self, key: str) -> Number:
        numbers = self.numbers()
        if key not in numbers:
            import difflib

            near = difflib.get_close_matches(key, numbers, 1)
            raise Error(f"no number of the chip is called '{key}'",
                        hint=f"did you mean '{near[0]}'?" if near else "")
        return numbers[key]

    def get(self, key: str) -> typing.Union[int, float]:
        """The value of a number, in its unit."""
        return self[key].value

    def describe(self, key: str) -> Number:
        """A number with what it means, where it comes from, and how well it is known."""
        return self[key]

    def __repr__(self):
        return f"<vinci.Soc {self.name}>"

    def _repr_html_(self):
        rows = [(one.key, one.value_text, one.confidence, one.source, one.text)
                for one in self.numbers().values()]
        return f"<b>{self.name}</b>" + table(rows, ("number", "value", "confidence", "source", ""))


def soc(name: str, set=None, data: typing.Optional[str] = None) -> Soc:
    """Loads a chip by its name, or from a file "mine.lua".

    `set` are overrides as {key: value}, `data` is the folder that holds soc/.
    """
    handle = opened()
    call("vinci_soc_load", word(name, "name"), word(data, "data"), byref(handle))
    chip = Soc(handle.value)
    return chip.set(set) if set else chip


def socs(data: typing.Optional[str] = None) -> typing.List[str]:
    """The names of all chips.

    >>> import vinci
    >>> "Ascend910B4" in vinci.socs()
    True
    """
    names: typing.List[str] = []
    visit = visitor("vinci_soc_each")(lambda _, name: names.append(text(name)) is None)
    call("vinci_soc_each", word(data, "data"), visit, None)
    return names


def arch(chip: Soc) -> str:
    return chip.arch


def chip_of(chip, set=None, data=None) -> Soc:
    """A chip that was given as such or by its name."""
    if chip is None:
        raise Error("which chip?", hint='chip="Ascend910B4"; vinci.socs() lists all')
    if not isinstance(chip, Soc):
        return soc(chip, set, data)
    return chip.copy().set(set) if set else chip
