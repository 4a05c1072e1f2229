# SPDX-License-Identifier: Apache-2.0
"""The schedules of an operator, searches among them, and what was found."""
import ctypes
import dataclasses
import typing
from ctypes import byref

from . import _abi
from ._library import (Callback, Handle, assignments, call, field_type, library, make, opened, record,
                       text, word, words)
from .chips import chip_of
from .runs import models


@dataclasses.dataclass
class Schedule:
    """Arguments that ask for a schedule, the value of each knob, and the estimate."""

    schedule: str
    choice: typing.Dict[str, str]
    estimate_cycles: int


@dataclasses.dataclass
class Space:
    """The legal schedules of an operator; `default` is the place of that of `compile`."""

    schedules: typing.List[Schedule]
    knobs: typing.Dict[str, typing.List[str]]
    default: int
    closed: bool


def _operator(op, args, more):
    name, *inside = op.split()
    return name, *words(inside + assignments(args, "args") + assignments(more, "args"), "args")


def _filled(name, size, *arguments) -> str:
    buffer = ctypes.create_string_buffer(size)
    getattr(library(), name)(*arguments, buffer, size)
    return text(buffer.value)


def space(chip, op: str, args=None, most: int = 0, *, set=None, data=None) -> Space:
    """The schedules of an operator as data.

    >>> import vinci
    >>> space = vinci.space("Ascend910B4", "softmax", {"shape": "17x260"}, 100)
    >>> len(space.knobs), space.schedules[space.default].estimate_cycles > 0
    (4, True)
    """
    chip, handle = chip_of(chip, set, data), opened()
    name, list_, count = _operator(op, args, None)
    call("vinci_space_open", chip, word(name, "op"), list_, count, most, byref(handle))
    lib = library()
    try:
        knobs = {}
        for knob in range(lib.vinci_space_knob_count(handle)):
            knobs[text(lib.vinci_space_knob_name(handle, knob))] = [
                _filled("vinci_space_value", 64, handle, knob, value)
                for value in range(lib.vinci_space_value_count(handle, knob))]
        schedules = [
            Schedule(_filled("vinci_space_schedule", _abi.VINCI_TUNE_SCHEDULE_BYTES, handle, index),
                     {knob: values[lib.vinci_space_choice(handle, index, at)]
                      for at, (knob, values) in enumerate(knobs.items())},
                     lib.vinci_space_estimate(handle, index))
            for index in range(lib.vinci_space_count(handle))]
        return Space(schedules, knobs, lib.vinci_space_default(handle),
                     lib.vinci_space_is_closed(handle))
    finally:
        lib.vinci_space_free(handle)


@dataclasses.dataclass
class Tuned:
    """The winner of a search, beside the default."""

    schedule: str
    cycles: int
    default_schedule: str
    default_cycles: int
    program_digest: int
    default_program_digest: int
    schedules: int
    closed: bool
    evaluations: int
    known: int
    failed: int
    ended_early: bool
    neighbours: int
    contenders: int
    worst_permille: int
    fastest_worst_permille: int
    fastest_cycles: int


def strategies() -> typing.Dict[str, str]:
    """The strategies of searches, each with a sentence."""
    name, told, found, index = ctypes.c_char_p(), ctypes.c_char_p(), {}, 0
    while library().vinci_tune_strategy(index, byref(name), byref(told)):
        found[text(name.value)] = text(told.value)
        index += 1
    return found


def tune(chip, op: str, args=None, *, strategy: typing.Optional[str] = None, evaluations: int = 0,
         schedules: int = 0, seed: int = 0, robust: int = 0, jobs: int = 0, memory=None, network=None,
         l2=None, journal=None, repository=None, set=None, data=None,
         progress: typing.Optional[typing.Callable[[int, int, int], typing.Optional[bool]]] = None
         ) -> Tuned:
    """Searches the fastest schedule of an operator, as `vinci tune`.

    `repository` is a file that gets the record; `progress` gets the evaluations so far, their
    budget, and the best cycles, and ends the search by returning False.

    >>> import vinci
    >>> tuned = vinci.tune("Ascend910B4", "softmax", {"shape": "17x260"}, evaluations=12,
    ...                    schedules=100, memory="flat")
    >>> tuned.cycles <= tuned.default_cycles
    True
    """
    def told(pointer):
        now = pointer.contents
        return progress(now.evaluations, now.budget, now.best_cycles)

    chip, (name, list_, count) = chip_of(chip, set, data), _operator(op, args, None)
    callback = Callback(field_type("vinci_tune_options", "progress"), progress and told)
    options = make("vinci_tune_options", strategy=word(strategy, "strategy"), evaluations=evaluations,
                   schedules=schedules, seed=seed, robust=robust, jobs=jobs,
                   **models(memory, network, l2), journal=word(journal, "journal"),
                   progress=callback.pointer)
    struct, operator = _abi.vinci_tuned(), (word(name, "op"), list_, count)
    with callback:
        call("vinci_tune", chip, *operator, byref(options), byref(struct))
    if repository is not None:
        with Tunings(repository) as kept:
            call("vinci_tunings_add", kept, chip, *operator, byref(options), byref(struct))
            kept.save()
    return record(Tuned, struct)


@dataclasses.dataclass
class Advice:
    """A schedule for a problem; `origin` is none, kept, stale or near."""

    is_default: bool
    schedule: str
    cycles: int
    default_cycles: int
    origin: typing.Union[int, str] = "none"
    from_: str = ""


class Tunings(Handle):
    """A file of tunings that outlive a run (TUNING.md)."""

    _free = "vinci_tunings_free"

    def __init__(self, path):
        handle = opened()
        call("vinci_tunings_open", word(path, "path"), byref(handle))
        super().__init__(handle.value)
        self.path = path

    def __len__(self):
        return library().vinci_tunings_count(self)

    def merge(self, path) -> "Tunings":
        """Adds the records of another file."""
        call("vinci_tunings_merge", self, word(path, "path"))
        return self

    def save(self, path=None) -> "Tunings":
        call("vinci_tunings_save", self, word(path or self.path, "path"))
        return self

    def advise(self, chip, op: str, args=None, *, memory=None, network=None, l2=None,
               jobs: int = 0) -> Advice:
        """The schedule for a problem: kept, or measured now beside the default."""
        chip, (name, list_, count) = chip_of(chip), _operator(op, args, None)
        options = make("vinci_evaluate_options", jobs=jobs, **models(memory, network, l2))
        struct = _abi.vinci_advice()
        call("vinci_tunings_advise", self, chip, word(name, "op"), list_, count, byref(options),
             byref(struct))
        advice = record(Advice, struct)
        advice.origin = ("none", "kept", "stale", "near")[struct.origin]
        advice.from_ = text(getattr(struct, "from"))
        return advice
