# SPDX-License-Identifier: Apache-2.0
"""Many runs: sweeps, lists of operators, batches, gates, comparisons, sensitivity."""
import dataclasses
import numbers
import os
import typing
from ctypes import byref

from . import _abi
from ._library import (Callback, Error, Handle, assignments, call, choice, field_type, library,
                       make, opened, record, status_name, table, text, visitor, word, words, written)
from .chips import Soc, chip_of
from .runs import code_ppm, models

Path = typing.Union[str, "os.PathLike[str]"]


_OVER = ("chip", "soc", "data", "set", "memory", "network", "l2", "code")


def overrides(**over):
    """What is said of all points, and wins over what a file says; `soc` is Lua's word for the chip."""
    for name in over:
        if name not in _OVER:
            raise Error(f"there is no option '{name}'", hint="options of all points: " + ", ".join(_OVER))
    chip, given = over.get("chip") or over.get("soc"), over.get
    if isinstance(chip, Soc):
        raise Error("studies take the name of a chip, and its changes as set={key: value}")
    sets, count = words(assignments(given("set"), "set"), "set")
    return _abi.vinci_overrides(
        soc=word(chip, "chip"), data_dir=word(given("data"), "data"),
        memory=word(given("memory"), "memory"), network=word(given("network"), "network"),
        l2=word(given("l2"), "l2"), code=word(given("code"), "code"), sets=sets, set_count=count)


def _work(study, trace, op, args) -> typing.List[str]:
    """What is run, as the library takes words."""
    given = [one for one in (study, trace, op) if one is not None]
    if len(given) != 1:
        raise Error("give one of study, trace and op")
    if op is None:
        return [os.fspath(given[0])]
    name, *inside = op.split()
    return [name, *inside, *assignments(args, "args")]


def _params(params) -> typing.List[str]:
    """{key: [values]} or [(key, value, ...)] as "key=value,value"."""
    rows = params.items() if hasattr(params, "items") else [(one[0], one[1:]) for one in params or ()]
    return [text(word(key, "params")) + "=" + ",".join(text(word(value, key)) for value in values)
            for key, values in rows]


def _cell(value: bytes):
    told = text(value)
    try:
        return int(told)
    except ValueError:
        try:
            return float(told)
        except ValueError:
            return told


# ---- sweeps ---------------------------------------------------------------------------------


@dataclasses.dataclass
class Swept:
    """A sweep: how many points, and the `rows` of results.csv as dictionaries."""

    points: int
    done: int
    failed: int
    reused: int
    jobs: int
    seconds: float
    file: str = ""
    warning: typing.Optional[str] = None
    rows: typing.List[typing.Dict[str, typing.Any]] = dataclasses.field(default_factory=list)

    def _repr_html_(self):
        columns = list(self.rows[0]) if self.rows else []
        return table([[row.get(column, "") for column in columns] for row in self.rows], columns)


@dataclasses.dataclass
class SweptList:
    """A list of operators at each point; `best` is an index of `rows`, None: no point has all."""

    points: int
    operators: int
    failed: int
    best: typing.Optional[int]
    best_us: typing.Optional[float]
    file: str
    rows: typing.List[typing.Dict[str, typing.Any]]


def _rows(folder) -> typing.List[typing.Dict[str, typing.Any]]:
    rows: typing.List[typing.Dict[str, typing.Any]] = []

    def visit(_, columns, cells, count):
        rows.append({text(columns[i]): _cell(cells[i]) for i in range(count) if cells[i]})
        return True

    call("vinci_sweep_read", word(folder, "output"), visitor("vinci_sweep_read")(visit), None)
    return rows


def sweep(*, output: Path, study: typing.Optional[Path] = None, trace: typing.Optional[Path] = None,
          op: typing.Optional[str] = None, args=None, params=None, ops: typing.Optional[Path] = None,
          jobs: int = 0, max_cycles: int = 0,
          progress: typing.Optional[typing.Callable[[int, int, int], typing.Optional[bool]]] = None,
          **over) -> typing.Union[Swept, SweptList]:
    """Runs the points of a study into a folder; the same call goes on where one was ended.

    One of `study` (a Lua file), `trace`, `op` and `ops` (a list of operators at each point).
    `params` are {key: values}, of which the last varies fastest. `progress` gets the points that
    are done, all points, and those that failed. Further: chip, set, data, memory, network, l2, code.

    >>> import tempfile, vinci
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     swept = vinci.sweep(op="copy shape=512x512", chip="Ascend910B4", memory="flat",
    ...                         params={"hbm.bandwidth_scale": [0.5, 1]}, output=folder)
    >>> swept.points, [row["hbm.bandwidth_scale"] for row in swept.rows]
    (2, [0.5, 1])
    """
    list_, count = words(_params(params), "params")
    options = make("vinci_sweep_options", overrides=overrides(**over), params=list_,
                   param_count=count, max_cycles=max_cycles)
    if ops is not None:
        return _sweep_list(ops, output, jobs, options)
    work, work_count = words(_work(study, trace, op, args), "op")
    handle = opened()
    call("vinci_sweep_open", work, work_count, byref(options), byref(handle))
    try:
        return _sweep_run(handle, output, jobs, progress)
    finally:
        library().vinci_sweep_free(handle)


def _sweep_run(handle, output, jobs, progress) -> Swept:
    def told(pointer):
        now = pointer.contents
        return progress(now.done + now.reused, now.points, now.failed)

    callback = Callback(field_type("vinci_sweep_run_options", "progress"), progress and told)
    options = make("vinci_sweep_run_options", jobs=jobs, progress=callback.pointer)
    struct = _abi.vinci_sweep_result()
    with callback:
        call("vinci_sweep_run", handle, word(output, "output"), byref(options), byref(struct))
    swept = record(Swept, struct)
    swept.file, swept.rows = os.path.join(os.fspath(output), "results.csv"), _rows(output)
    swept.warning = text(library().vinci_sweep_warning(handle))
    return swept


def _sweep_list(ops, output, jobs, options) -> SweptList:
    given = make("vinci_sweep_list", list=word(ops, "ops"), folder=word(output, "output"), jobs=jobs)
    struct = _abi.vinci_sweep_list_result()
    call("vinci_sweep_list_run", byref(given), byref(options), byref(struct))
    found = struct.best_ps > 0
    return SweptList(struct.points, struct.operators, struct.failed, struct.best if found else None,
                     struct.best_ps / 1e6 if found else None,
                     os.path.join(os.fspath(output), "results.csv"), _rows(output))


# ---- lists and batches ----------------------------------------------------------------------


@dataclasses.dataclass
class Listed:
    """The operators of a list, by what became of them; `file` is the table of their times."""

    operators: int
    done: int
    known: int
    equal: int
    stored: int
    ok: int
    unsupported: int
    failed: int
    limited: int
    crashed: int
    input_bytes: int
    found_bytes: int
    simulated_us: float
    measured_us: float
    launches: int
    skipped: int
    of_library: int = 0
    file: str = ""


def ops(*, list: Path, output: Path, jobs: int = 0, max_cycles: int = 0, sequence: bool = False,
        repeat: int = 0, interval: bool = False, profile_blocks: bool = False,
        results: typing.Optional[Path] = None, exact: bool = False,
        library: typing.Optional[str] = None, device: typing.Optional[str] = None,
        progress: typing.Optional[typing.Callable[[float, int], typing.Optional[bool]]] = None,
        **over) -> Listed:
    """Simulates the operators of a list, such as a profiler's table, as `vinci run --ops`.

    With `sequence` in the order of the list on one chip, rows as often as column weight says.

    `progress` gets the operators that are done, as a number with a fraction, and how many there
    are. `device` takes the rows of one device ("0") of a profile of several. Further: chip, set, data, memory, network, l2, code.
    """
    def told(pointer):
        now = pointer.contents
        return progress(now.done_permille / 1000, now.operators)

    callback = Callback(field_type("vinci_ops_options", "progress"), progress and told)
    options = make("vinci_ops_options", overrides=overrides(**over), max_cycles=max_cycles,
                   jobs=jobs or (1 if sequence else 0), sequence=sequence, repeat=repeat,
                   interval=interval, profile_blocks=profile_blocks, exact=exact,
                   results=word(results, "results"), library=word(library, "library"),
                   device=word(device, "device"), progress=callback.pointer)
    struct = _abi.vinci_ops_result()
    with callback:
        call("vinci_ops_run", word(list, "list"), word(output, "output"), byref(options),
             byref(struct))
    listed = record(Listed, struct)
    listed.of_library = struct.origins[_abi.VINCI_OPS_OF_LIBRARY].rows
    listed.file = os.path.join(os.fspath(output), "op_summary.csv")
    return listed


@dataclasses.dataclass
class Kind:
    """A kind of operator in a list, and how much of that kind is modelled."""

    type: str
    rows: int
    missing_rows: int
    measured_us: float
    missing_us: float
    elsewhere: bool
    reason: str
    known: bool
    nearest: str
    nearest_op: str
    by_name: bool


def ops_kinds(list: Path, *, chip, set=None, data=None) -> typing.List[Kind]:
    """Which kinds of a list can be lowered for a chip; nothing is simulated."""
    found: typing.List[Kind] = []
    name = "vinci_ops_kinds"
    visit = visitor(name)(lambda _, one: found.append(record(Kind, one.contents)) is None)
    call(name, chip_of(chip, set, data), word(list, "list"), visit, None)
    return found


@dataclasses.dataclass
class Answer:
    """The time of an operator; `text` and `status` say why there is none."""

    cycles: typing.Optional[int]
    us: typing.Optional[float]
    status: str
    text: str
    program_digest: int
    program: str = ""


class _NoTime(Error, ValueError):
    """A time that no operator takes."""


def _given(us, what: str) -> int:
    """Picoseconds of an operator that is not simulated."""
    if not isinstance(us, numbers.Real) or isinstance(us, bool) or not 0 < us <= 1e9:
        raise _NoTime(f"{what} has us = {us!r}, not a time above 0 of at most 1e9 microseconds")
    return max(1, round(float(us) * 1e6))


def evaluate(chip, questions, *, jobs: int = 0, memory=None, network=None, l2=None, code=None,
             max_cycles: int = 0, sequence: bool = False, library=None) -> typing.List[Answer]:
    """How long does each of these operators take? Hundreds a second; the question of a tuner.

    A question is "OP KEY=VALUE ...", or (op, {key: value}). With `sequence` the list runs in its order
    on one chip, as `vinci run --ops LIST --sequence`: each operator finds in L2 and in the instruction
    caches what those before have left. There a question may also be None, communication with other
    devices, and (op, {key: value}, us), an operator that takes so long and is not simulated,
    above 0 and at most 1e9 microseconds.
    `library`: folders of a user's library, "DIR:DIR", whose kernels run where it has the operator;
    `program` of an answer says which ran.

    >>> import vinci
    >>> answers = vinci.evaluate("Ascend910B4", ["copy shape=64", "copy shape=4096", "coppy"], jobs=1)
    >>> answers[0].cycles < answers[1].cycles, answers[2].status
    (True, 'E_USAGE')
    >>> twice = vinci.evaluate("Ascend910B4", ["gelu shape=4096x1024"] * 2, sequence=True)
    >>> twice[1].us < twice[0].us, twice[1].program
    (True, 'lowering')
    """
    chip = chip_of(chip)
    if isinstance(questions, str):
        raise Error("questions are a list, also when there is one question")
    evaluations = (_abi.vinci_evaluation * max(1, len(questions)))()
    for index, (one, question) in enumerate(zip(evaluations, questions)):
        if question is None:
            continue
        name, args, *us = (question, None) if isinstance(question, str) else question
        one.given_ps = _given(us[0], f"questions[{index}]") if us else 0
        name, *inside = name.split()
        one.op = word(name, "op")
        one.args, one.arg_count = words(inside + assignments(args, "args"), "args")
    options = make("vinci_evaluate_options", jobs=jobs, **models(memory, network, l2),
                   code_found_ppm=code_ppm(code), max_cycles=max_cycles, sequence=sequence,
                   library=word(library, "library"))
    call("vinci_evaluate", chip, evaluations, len(questions), byref(options))
    return [Answer(one.total_cycles, one.duration_ps / 1e6, "OK", "", one.program_digest,
                   text(one.program))
            if one.status == _abi.VINCI_OK else
            Answer(None, None, status_name(one.status), text(one.text), 0)
            for one in evaluations[:len(questions)]]


# ---- gates ----------------------------------------------------------------------------------


@dataclasses.dataclass
class Change:
    metric: str
    unit: str
    baseline_value: int
    value: int
    verdict: str
    fails: bool
    note: typing.Optional[str]


@dataclasses.dataclass
class Point:
    name: str
    verdict: str
    exit_code: int
    text: typing.Optional[str]
    baseline_cycles: int
    total_cycles: int
    changes: typing.List[Change] = dataclasses.field(default_factory=list)


class Gate(Handle):
    """A suite compared with its baseline."""

    _free = "vinci_gate_free"

    def passes(self) -> bool:
        return self.exit_code() == 0

    def exit_code(self) -> int:
        return library().vinci_gate_exit_code(self)

    def report(self, form: str = "text") -> str:
        """text, junit, tap, markdown, github, gitlab: as `vinci gate check` writes them."""
        return written("vinci_gate_write", self, choice("VINCI_GATE_", form, "form"))

    def text(self) -> str:
        return self.report("text")

    __str__ = text

    def junit(self) -> str:
        return self.report("junit")

    def tap(self) -> str:
        return self.report("tap")

    def markdown(self) -> str:
        return self.report("markdown")

    def github(self) -> str:
        return self.report("github")

    def gitlab(self) -> str:
        return self.report("gitlab")

    def points(self) -> typing.List[Point]:
        found, struct, change = [], _abi.vinci_gate_point(), _abi.vinci_gate_change()
        for index in range(library().vinci_gate_point_count(self)):
            library().vinci_gate_point_info(self, index, byref(struct))
            one = record(Point, struct)
            for at in range(struct.change_count):
                library().vinci_gate_change_info(self, index, at, byref(change))
                one.changes.append(record(Change, change))
            found.append(one)
        return found

    def _repr_html_(self):
        return table([(one.name, one.verdict, one.baseline_cycles, one.total_cycles)
                      for one in self.points()], ("point", "verdict", "baseline", "cycles"))


def _gate_options(only, policy, strict, rebase_inputs, allow_ci, verbose, jobs, repeats, over):
    return make("vinci_gate_options", overrides=overrides(**over), only=word(only, "only"),
                policy=word(policy, "policy"), strict=strict, rebase_inputs=rebase_inputs,
                allow_ci=allow_ci, verbose=verbose, jobs=jobs, repeat=repeats)


def gate(*, suite: Path, baseline: Path, policy: typing.Optional[Path] = None, strict: bool = False,
         only: typing.Optional[str] = None, jobs: int = 0, repeats: int = 0, verbose: bool = False,
         **over) -> Gate:
    """Runs a suite and compares it with a baseline, as `vinci gate check`.

    A gate that fails is no exception; only a suite that cannot be compared raises Error. Further:
    chip, set, data, memory, network, l2, code.

    >>> import os, tempfile, vinci
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     suite, baseline = os.path.join(folder, "suite.lua"), os.path.join(folder, "base.csv")
    ...     with open(suite, "w") as file:
    ...         _ = file.write('return { soc = "Ascend910B4", memory = "flat", points = {'
    ...                        ' { name = "copy", op = "copy", shape = { 512, 512 } } } }')
    ...     blessed = vinci.bless(suite=suite, baseline=baseline, reason="first", allow_ci=True)
    ...     good = vinci.gate(suite=suite, baseline=baseline)
    ...     slow = vinci.gate(suite=suite, baseline=baseline, set={"hbm.bandwidth_scale": 0.1})
    >>> blessed.points, good.passes(), slow.points()[0].verdict, slow.exit_code()
    (1, True, 'REGRESSED', 1)
    """
    options = _gate_options(only, policy, strict, False, False, verbose, jobs, repeats, over)
    handle = opened()
    call("vinci_gate_check", word(suite, "suite"), word(baseline, "baseline"), byref(options),
         byref(handle), accept=(_abi.VINCI_E_GATE,))
    return Gate(handle.value)


@dataclasses.dataclass
class Blessed:
    points: int
    changed: bool
    exit_code: int


def bless(*, suite: Path, baseline: Path, reason: str, rebase_inputs: bool = False,
          allow_ci: bool = False, only: typing.Optional[str] = None, jobs: int = 0,
          repeats: int = 0, **over) -> Blessed:
    """Runs a suite and makes its counters the baseline, as `vinci gate bless`."""
    options = _gate_options(only, None, False, rebase_inputs, allow_ci, False, jobs, repeats, over)
    struct = _abi.vinci_gate_blessed()
    call("vinci_gate_bless", word(suite, "suite"), word(baseline, "baseline"),
         word(reason, "reason"), byref(options), byref(struct))
    return record(Blessed, struct)


# ---- sensitivity ----------------------------------------------------------------------------


@dataclasses.dataclass
class Effect:
    """A number of the chip halved and doubled; 0 cycles: the chip cannot have the number."""

    key: str
    value: str
    half: str
    twice: str
    half_cycles: int
    twice_cycles: int
    effect_cycles: int
    half_kept_cycles: int
    twice_kept_cycles: int


@dataclasses.dataclass
class Sensitivity:
    """`cycles` of the run as it is, and the `effects`, the largest first."""

    cycles: int
    effects: typing.List[Effect]

    def __iter__(self):
        return iter(self.effects)


def sensitivity(*, op: typing.Optional[str] = None, args=None, trace: typing.Optional[Path] = None,
                params: typing.Sequence[str] = (), output: typing.Optional[Path] = None,
                jobs: int = 0, **over) -> Sensitivity:
    """Halves and doubles numbers of the chip, as `vinci sensitivity`.

    >>> import vinci
    >>> found = vinci.sensitivity(op="copy shape=512x512", chip="Ascend910B4", memory="flat",
    ...                           params=["hbm.bandwidth_scale"])
    >>> [effect.key for effect in found]
    ['hbm.bandwidth_scale']
    """
    work, count = words(_work(None, trace, op, args), "op")
    keys, key_count = words(params, "params")
    options = make("vinci_sensitivity_options", overrides=overrides(**over), params=keys,
                   param_count=key_count, folder=word(output, "output"), jobs=jobs)
    handle = opened()
    call("vinci_sensitivity_run", work, count, byref(options), byref(handle))
    try:
        rows = [record(Effect, library().vinci_sensitivity_row(handle, index).contents)
                for index in range(library().vinci_sensitivity_count(handle))]
        return Sensitivity(library().vinci_sensitivity_cycles(handle), rows)
    finally:
        library().vinci_sensitivity_free(handle)
