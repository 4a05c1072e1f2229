# SPDX-License-Identifier: Apache-2.0
"""Runs and their results."""
import dataclasses
import html
import json
import typing
from ctypes import byref

from . import _abi
from ._library import (Callback, Error, Handle, call, choice, error_of, field_type, library, make,
                       near, opened, record, table, text, visitor, word, words, written)
from .chips import Soc
from .traces import Trace, trace_of


@dataclasses.dataclass
class Counter:
    """A counter of a run; `value` is None in `vinci.counters()`, the table of all."""

    name: str
    value: typing.Optional[int]
    unit: str
    better: str
    kind: str
    text: str


@dataclasses.dataclass
class Core:
    """A core: its own `counters`, and those of each of its `pipes`."""

    name: str
    clock_hz: int
    total_cycles: int
    blocks: int
    counters: typing.Dict[str, int] = dataclasses.field(default_factory=dict)
    pipes: typing.Dict[str, typing.Dict[str, int]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Event:
    """An instruction that the run has kept; `core` is an index of `cores()`."""

    op: str
    pipe: str
    core: int
    line: int
    start_cycle: int
    end_cycle: int
    bytes: int


@dataclasses.dataclass
class Hotspot:
    """A line of the trace; `file` is the source of a compiled kernel."""

    file: typing.Optional[str]
    op: str
    pipe: str
    line: int
    count: int
    critical_cycles: int
    cycles: int
    queued_cycles: int
    held_cycles: int
    bank_cycles: int
    bytes: int
    stall_cycles: typing.Dict[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Energy:
    """Picojoules with their interval (ENERGY.md); `parts` by name, whose sum is the whole."""

    pj: int
    low_pj: int
    high_pj: int
    parts: typing.Dict[str, "Energy"] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Saving:
    """A cause on the critical path; `number` of the chip, and what its turn saves."""

    cause: str
    cycles: int
    number: typing.Optional[str]
    turn: typing.Optional[str]
    saved_cycles: int
    measured: bool


@dataclasses.dataclass
class Lever:
    """What the author of a kernel can do. `change` is what `vinci run` takes to show the saving, or empty."""

    lever: str
    text: str
    change: str
    origin: str
    line: int
    saved_cycles: int
    measured: bool


@dataclasses.dataclass
class Proven:
    """What of a network or a job can be turned.

    `change` is what the command takes to show the saving: an option, `"--cuts"`, or, of an option
    that is given, what to leave out, `"without --cuts"`. `origin` is `"measured"`, with what else
    has to be known, or `"not measured: limit: ..."` where the run of the lever met a limit;
    `saved_us` is 0 then, which says nothing about the lever. Else `saved_us` is below 0 for what is
    done already, and costs when left out.
    """

    lever: str
    text: str
    change: str
    origin: str
    saved_us: float


def proven(function: str):
    """A list, and the visitor of a function that fills the list."""
    found: typing.List[Proven] = []
    return found, visitor(function)(lambda _, one: found.append(record(Proven, one.contents)) is None)


class Result(Handle):
    """What a run has counted. `print` shows the report; a notebook shows its essence.

    >>> import vinci
    >>> result = vinci.run("copy shape=64x1024", chip="Ascend910B4")
    >>> result.summary()["total_cycles"] == result.total_cycles == result["total_cycles"]
    True
    >>> result.get("bytes.GM_UB")
    131072
    """

    _free = "vinci_result_free"

    def __init__(self, handle, trace: Trace):
        super().__init__(handle, trace)
        self.trace, self._summary = trace, None

    @property
    def total_cycles(self) -> int:
        return library().vinci_result_total_cycles(self)

    @property
    def picoseconds(self) -> int:
        """From the launch to the last completion."""
        return library().vinci_result_picoseconds(self)

    @property
    def duration_us(self) -> float:
        return self.picoseconds / 1e6

    @property
    def bound(self) -> str:
        return self.summary()["bound"]

    @property
    def partial(self) -> bool:
        return self.summary()["partial"]

    def json(self) -> str:
        """The bytes of summary.json."""
        return written("vinci_result_write_json", self)

    def text(self) -> str:
        """The report, as `vinci run` prints."""
        return written("vinci_result_write_text", self)

    __str__ = text

    def summary(self) -> typing.Dict[str, typing.Any]:
        """summary.json as a dictionary."""
        if self._summary is None:
            self._summary = json.loads(self.json())
        return self._summary

    def __getitem__(self, key: str):
        summary = self.summary()
        if key not in summary:
            raise KeyError(f"the summary has no key {key!r}" + near(key, summary, "; "))
        return summary[key]

    def counters(self) -> typing.Dict[str, Counter]:
        """All counters by name."""
        found: typing.Dict[str, Counter] = {}

        def visit(_, struct, value):
            one = struct.contents
            name = text(one.name)
            found[name] = Counter(name, value, text(one.unit), text(one.better), text(one.kind),
                                  text(one.text))
            return True

        name = "vinci_result_counters"
        getattr(library(), name)(self, visitor(name)(visit), None)
        return found

    def get(self, name: str) -> int:
        """The value of one counter."""
        counters = self.counters()
        if name not in counters:
            raise Error(f"no counter is called '{name}'",
                        hint=near(name, counters) or "vinci.counters() lists all")
        return counters[name].value

    def cores(self) -> typing.List[Core]:
        found, struct = [], _abi.vinci_core()
        kind = visitor("vinci_result_core_counters")
        for index in range(library().vinci_result_core_count(self)):
            library().vinci_result_core(self, index, byref(struct))
            core = record(Core, struct)

            def visit(_, pipe, name, value, core=core):
                place = core.counters if pipe is None else core.pipes.setdefault(text(pipe), {})
                place[text(name)] = value
                return True

            library().vinci_result_core_counters(self, index, kind(visit), None)
            found.append(core)
        return found

    def energy(self) -> typing.Optional[Energy]:
        """Of a chip that keeps an account, as after `chip.set("energy", "on")`; else None.

        >>> import vinci
        >>> chip = vinci.soc("Ascend910B4", {"energy": "on"})
        >>> energy = vinci.run("copy shape=64x1024", chip=chip).energy()
        >>> energy.low_pj < energy.pj < energy.high_pj
        True
        >>> sum(part.pj for part in energy.parts.values()) == energy.pj
        True
        """
        struct, part = _abi.vinci_energy(), _abi.vinci_energy_part()
        if not library().vinci_result_energy(self, byref(struct)):
            return None
        whole = Energy(struct.pj, struct.low_pj, struct.high_pj)
        for index in range(library().vinci_energy_part_count()):
            library().vinci_result_energy_part(self, index, byref(part))
            one = part.energy
            whole.parts[text(part.name)] = Energy(one.pj, one.low_pj, one.high_pj)
        return whole

    def events(self) -> typing.Iterator[Event]:
        """The instructions that `max_events` of the run has kept."""
        struct = _abi.vinci_event()
        for index in range(library().vinci_result_event_count(self)):
            library().vinci_result_event(self, index, byref(struct))
            yield record(Event, struct)

    def hotspots(self) -> typing.List[Hotspot]:
        """Lines of the trace, those with most cycles on the critical path first."""
        found: typing.List[Hotspot] = []

        def visit(_, pointer):
            one = pointer.contents
            spot = record(Hotspot, one)
            spot.stall_cycles = {text(one.stalls[i]): one.stall_cycles[i]
                                 for i in range(one.stall_count) if one.stall_cycles[i]}
            found.append(spot)
            return True

        name = "vinci_result_hotspots"
        call(name, self, visitor(name)(visit), None)
        return found

    def savings(self) -> typing.List[Saving]:
        """What turning numbers of the chip saves, the longest cause first."""
        found: typing.List[Saving] = []
        name = "vinci_result_savings"
        visit = visitor(name)(lambda _, one: found.append(record(Saving, one.contents)) is None)
        call(name, self, visit, None)
        return found

    def levers(self) -> typing.List[Lever]:
        """What the kernel can do, the largest saving first."""
        found: typing.List[Lever] = []
        name = "vinci_result_levers"
        visit = visitor(name)(lambda _, one: found.append(record(Lever, one.contents)) is None)
        call(name, self, visit, None)
        return found

    def write_folder(self, folder, *, timeline: typing.Optional[str] = None,
                     core_id: typing.Optional[str] = None, window: typing.Optional[str] = None,
                     min_cycles: int = 0) -> "Result":
        """Writes summary.json, the tables and the timeline, as `--output` of `vinci run`.

        `timeline` is "perfetto,chrome,msprof,vcd" or some of them, or "none".
        """
        options = make("vinci_timeline_options", formats=word(timeline, "timeline"),
                       core_id=word(core_id, "core_id"), window=word(window, "window"),
                       min_cycles=min_cycles, source=word(self.trace.text(), "source"))
        call("vinci_result_write_folder_with", self, word(folder, "folder"), byref(options))
        return self

    def __repr__(self):
        return f"<vinci.Result of {self.trace.name}: {self.total_cycles} cycles>"

    def _repr_html_(self):
        summary = self.summary()
        head = (f"<b>{html.escape(self.trace.name)}</b> on {html.escape(summary['soc'])}: "
                f"{summary['duration_us']:.3f} us, {summary['total_cycles']} cycles, "
                f"{html.escape(summary['bound'])} bound" + (", partial" if summary["partial"] else ""))
        rows = [(pipe, f"{100 * one['utilization']:.1f} %", one["busy_cycles"], one["idle_cycles"],
                 one["instructions"]) for pipe, one in summary["pipes"].items()]
        return head + table(rows, ("pipe", "busy", "busy cycles", "idle cycles", "instructions"))


def counters() -> typing.Dict[str, Counter]:
    """What a run counts, by name; "*" is a pipe or a path.

    >>> import vinci
    >>> vinci.counters()["l2.read_misses"].better
    'lower'
    """
    found, struct, index = {}, _abi.vinci_counter(), 0
    while library().vinci_counter_info(index, byref(struct)):
        name = text(struct.name)
        found[name] = Counter(name, None, text(struct.unit), text(struct.better), text(struct.kind),
                              text(struct.text))
        index += 1
    return found


def models(memory, network, l2) -> typing.Dict[str, int]:
    """The fields of options that say how the memory is modelled."""
    return {"memory": choice("VINCI_MEMORY_", memory, "memory"),
            "network": choice("VINCI_NETWORK_", network, "network"),
            "l2_start": choice("VINCI_L2_", l2, "l2")}


def code_ppm(code: typing.Optional[str]) -> int:
    found = {None: 0, "cold": 0, "warm": _abi.VINCI_CODE_WARM, "device": _abi.VINCI_CODE_DEVICE}
    if code not in found:
        raise Error(f"code is {code!r}, not one of cold, warm, device")
    return found[code]


def run(first, second=None, *, chip=None, set=None, data: typing.Optional[str] = None,
        memory: typing.Optional[str] = None, network: typing.Optional[str] = None,
        l2: typing.Optional[str] = None, code: typing.Optional[str] = None, max_cycles: int = 0,
        max_events: int = 1000000, repeat: int = 1, part_order_seed: int = 0, error_bar_ppm: int = 0,
        partial: bool = False, savings: bool = False,
        progress: typing.Optional[typing.Callable[[int, float], typing.Optional[bool]]] = None
        ) -> Result:
    """Runs a trace, the file of one, or an operator: run("matmul m=64 k=64 n=64", chip="...").

    `run(soc, trace)` is the order of Lua. `memory` is "cycle", "flat" or "auto"; `l2` "empty", "warm",
    "streaming", "used" or "dirty"; `code` "cold", "warm" or "device". With "auto", `error_bar_ppm` is how far the
    duration may be from that of "cycle" (20000 unless given), and `summary()["memory"]` how far it is. `max_events` instructions are kept for
    the report, the timeline and `events`. `progress` gets the cycle and the share that is done,
    and ends the run by returning False. A run that hangs or reaches a limit raises Error with the
    partial result as `error.result`, or returns that with `partial`. `savings` measures what
    numbers of the chip save.

    >>> import vinci
    >>> vinci.run("matmul m=256 k=256 n=256", chip="Ascend910B4", memory="flat").bound
    'latency'
    >>> try:
    ...     vinci.run("copy shape=4096", chip="Ascend910B4", max_cycles=100)
    ... except vinci.Error as error:
    ...     print(error.status, error.result.partial)
    E_LIMIT True
    """
    what, chip = (second, first) if isinstance(first, Soc) else (first, second or chip)
    trace = trace_of(what, chip, set, data)
    told = None if progress is None else lambda cycles, done: progress(cycles, done / 1000)
    callback = Callback(field_type("vinci_run_options", "progress"), told)
    options = make("vinci_run_options", **models(memory, network, l2), code_found_ppm=code_ppm(code),
                   max_cycles=max_cycles, max_events=max_events, repeat=repeat,
                   part_order_seed=part_order_seed, error_bar_ppm=error_bar_ppm, progress=callback.pointer)
    handle, diag = opened(), _abi.vinci_diag()
    with callback:
        status = library().vinci_run(trace.soc, trace, byref(options), byref(handle), byref(diag))
        result = Result(handle.value, trace) if handle.value else None
        if savings and status == _abi.VINCI_OK:
            _measure(result, trace, options)
    if status != _abi.VINCI_OK and not (partial and result):
        raise error_of(status, diag, result)
    return result


def _measure(result: Result, trace: Trace, run_options) -> None:
    run_options.max_cycles = 0  # a number may make the run longer
    list_, count = words(trace.args, "args")
    options = make("vinci_savings_options", run=run_options, op=word(trace.op, "op"), args=list_,
                   arg_count=count)
    call("vinci_savings_measure", result, trace.soc, trace, byref(options))


def report(folder, other=None, output=None) -> str:
    """Writes the page of a result folder, as `vinci report`; returns its path."""
    import os

    call("vinci_report_write", word(folder, "folder"), word(other, "other"), word(output, "output"))
    return os.fspath(output) if output else os.path.join(os.fspath(folder), "report.html")
