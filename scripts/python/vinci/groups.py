# SPDX-License-Identifier: Apache-2.0
"""Jobs of several devices, and which gradients are summed together."""
import dataclasses
import typing
from ctypes import byref

from . import _abi
from ._library import (Callback, Error, assignments, call, field_type, library, make, opened, record, table,
                       text, visitor, word, words)
from .runs import Proven, proven


@dataclasses.dataclass
class Held:
    """Memory of a name on a rank: bytes at the peak of the rank, and the most."""

    peak_bytes: int
    most_bytes: int


@dataclasses.dataclass
class Rank:
    """What the time of a rank is made of: computing, exposed and idle add up to that of the job.

    Of a job whose rows `allocate` and `free` say what ranks hold: the most, when that is so first, and
    by name; `held` is empty of other jobs.
    """

    computing_us: float
    exposed_us: float
    idle_us: float
    overlapped_us: float
    slowed_us: float
    peak_bytes: int = 0
    peak_us: float = 0.0
    device_bytes: int = 0
    held: typing.Dict[str, Held] = dataclasses.field(default_factory=dict)


def _rank(struct) -> Rank:
    rank = record(Rank, struct)
    rank.held = {text(one.name): record(Held, one) for one in struct.held[:struct.held_count]}
    return rank


@dataclasses.dataclass
class Group:
    end_us: float
    transfers: int
    moved_bytes: int
    ranks: typing.Union[int, typing.List[Rank]] = dataclasses.field(default_factory=list)

    @property
    def us(self) -> float:
        """As Lua has the name."""
        return self.end_us

    def _repr_html_(self):
        rows = [(at, one.computing_us, one.exposed_us, one.idle_us) for at, one in enumerate(self.ranks)]
        return f"<b>{self.end_us} us</b>" + table(rows, ("rank", "computing us", "exposed us", "idle us"))


def _told(given: typing.Union[str, bytes]) -> bytes:
    return given if isinstance(given, bytes) else given.encode("utf-8", "surrogateescape")


def _group_options(system, set, data, algorithms, bucket_bytes, sequence, library):
    sets, count = words(assignments(set, "set"), "set")
    named, named_count = words(assignments(algorithms, "algorithms"), "algorithms")
    return make("vinci_group_options", system=word(system, "system"), data=word(data, "data"),
                sets=sets, set_count=count, algorithms=named, algorithm_count=named_count,
                bucket_bytes=bucket_bytes, sequence=sequence, library=word(library, "library"))


def group_levers(job: typing.Union[str, bytes], *, name: str = "job",
                 system: typing.Optional[str] = None, set=None, data: typing.Optional[str] = None,
                 algorithms=None, bucket_bytes: int = 0, sequence: bool = False,
                 library: typing.Optional[str] = None) -> typing.List[Proven]:
    """What of a job can be turned, each measured by a run, as `vinci group run --savings=all`.

    Algorithms of collectives, and sums that are made together, the largest saving first; those whose
    run met a limit come last, with a `saved_us` of 0 and an `origin` of `"not measured: limit: ..."`
    (`Proven`). When the job as it is meets a limit, nothing was measured: an `Error` without a
    `result`.
    """
    found, visit = proven("vinci_group_levers")
    held, options = _told(job), _group_options(system, set, data, algorithms, bucket_bytes, sequence,
                                                library)
    call("vinci_group_levers", word(name, "name"), held, len(held), byref(options), visit, None)
    return found


def group_run(job: typing.Union[str, bytes], *, name: str = "job",
              system: typing.Optional[str] = None, set=None, data: typing.Optional[str] = None,
              algorithms=None, bucket_bytes: int = 0, sequence: bool = False,
              library: typing.Optional[str] = None) -> Group:
    """Runs the text of a job, as `vinci group run`.

    `sequence`: operators of a program run in their order on one chip, each with what those before have
    left in L2 and in the instruction caches. `library`: folders of a user's library, whose kernels run
    where it has the operator.

    >>> import vinci
    >>> job = '''job,version=1,ranks=2
    ... group,name=all,ranks=0-1
    ... program,ranks=0-1
    ... work,us=1000
    ... collective,op=all_reduce,group=all,bytes=16777216
    ... '''
    >>> found = vinci.group_run(job, system="atlas_a2_910b4")
    >>> found.ranks[0].computing_us, len(found.ranks)
    (1000.0, 2)
    """
    options = _group_options(system, set, data, algorithms, bucket_bytes, sequence, library)
    ranks: typing.List[Rank] = []
    visit = visitor("vinci_group_run")(lambda _, one: ranks.append(_rank(one.contents)) is None)
    held, struct = _told(job), _abi.vinci_group_result()
    call("vinci_group_run", word(name, "name"), held, len(held), byref(options), visit, None,
         byref(struct))
    found = record(Group, struct)
    found.ranks = ranks
    return found


@dataclasses.dataclass
class Bucket:
    """Gradients that are summed together, from `first` on."""

    first: int
    count: int
    bytes: int
    ready_us: float
    start_us: float
    end_us: float


@dataclasses.dataclass
class BucketPlan:
    end_us: float
    simulated_us: float
    exposed_us: float
    moved_bytes: int
    buckets: typing.List[Bucket]
    job: str


@dataclasses.dataclass
class Buckets:
    """Plans by name: end, each, fixed, tuned, optimum; `best` is the name of the best plan."""

    ranks: int
    gradient_bytes: int
    closed_bytes: int
    work_us: float
    sizes: int
    simulated: int
    enumerated_us: float
    gradients: typing.Union[int, typing.List[str]] = dataclasses.field(default_factory=list)
    best: typing.Union[int, str] = ""
    plans: typing.Dict[str, BucketPlan] = dataclasses.field(default_factory=dict)


_PLANS = ("end", "each", "fixed", "tuned", "optimum")


def _plan(handle, found, name) -> BucketPlan:
    index = getattr(_abi, "VINCI_BUCKETS_" + name.upper())
    plan = found.plans[index]
    return BucketPlan(plan.end_ps / 1e6, plan.simulated_ps / 1e6, plan.exposed_ps / 1e6,
                      plan.moved_bytes, [record(Bucket, one) for one in plan.buckets[:plan.count]],
                      text(library().vinci_buckets_job(handle, index)))


def buckets(step: typing.Union[str, bytes], *, name: str = "step", system: str, ranks: int = 8,
            set=None, data: typing.Optional[str] = None, bucket_bytes: int = 0, exact: bool = False,
            progress: typing.Optional[typing.Callable[[int, int], typing.Optional[bool]]] = None
            ) -> Buckets:
    """Which gradients of a step are summed together, as `vinci group buckets`."""
    sets, count = words(assignments(set, "set"), "set")
    callback = Callback(field_type("vinci_buckets_options", "progress"), progress)
    options = make("vinci_buckets_options", system=word(system, "system"), data=word(data, "data"),
                   sets=sets, set_count=count, ranks=ranks, fixed_bytes=bucket_bytes, exact=exact,
                   progress=callback.pointer)
    handle, held = opened(), _told(step)
    with callback:
        call("vinci_buckets_open", word(name, "name"), held, len(held), byref(options), byref(handle))
    try:
        found = library().vinci_buckets_result(handle).contents
        told = Buckets(found.ranks, found.gradient_bytes, found.closed_bytes, found.work_ps / 1e6,
                       found.sizes, found.simulated, found.enumerated_ps / 1e6)
        told.gradients = [text(one) for one in found.names[:found.gradients]]
        told.best = _PLANS[[getattr(_abi, "VINCI_BUCKETS_" + one.upper()) for one in _PLANS]
                           .index(found.best)]
        told.plans = {one: _plan(handle, found, one) for one in _PLANS
                      if found.plans[getattr(_abi, "VINCI_BUCKETS_" + one.upper())].there}
        return told
    finally:
        library().vinci_buckets_free(handle)


# ---- trainings whose units fail ---------------------------------------------------------------


@dataclasses.dataclass
class Trained:
    """Seconds: the mean `time_s`, `half_s` of its 95 % interval, percentiles, and its parts."""

    runs: int
    failures: float
    time_s: float
    half_s: float
    p5_s: float
    median_s: float
    p95_s: float
    young_s: float
    work_s: float
    slower_s: float
    checkpoint_s: float
    lost_s: float
    detect_s: float
    wait_s: float
    restart_s: float


def group_train(*, work_s: float, interval_s: float, blocking_s: float = 0, writing_s: float = 0,
                mtbf_s: float = 0, detect_s: float = 0, restart_s: float = 0, repair_s: float = 0,
                units: int = 1, spares: int = 0, shrink: bool = False, runs: int = 1000, seed: int = 1,
                checkpoint=None) -> Trained:
    """Simulates a training whose units fail, as `vinci group train`.

    >>> import vinci
    >>> told = vinci.group_train(work_s=2e6, interval_s=2400, blocking_s=60, mtbf_s=18e6, units=128,
    ...                          runs=100)
    >>> told.time_s > told.work_s == 2e6, told.failures > 0
    (True, True)
    """
    times = {"work_ns": work_s, "interval_ns": interval_s, "blocking_ns": blocking_s,
             "writing_ns": writing_s, "mtbf_ns": mtbf_s, "detect_ns": detect_s,
             "restart_ns": restart_s, "repair_ns": repair_s}
    for name, seconds in times.items():
        if not 0 <= seconds < 2**60 / 1e9:
            raise Error(f"{name[:-3]}_s is {seconds}, not 0 s to 36 years")
    training = make("vinci_training", units=units, spares=spares, runs=runs, shrinks=shrink, seed=seed,
                    checkpoint=word(checkpoint, "checkpoint"),
                    **{name: int(seconds * 1e9 + 0.5) for name, seconds in times.items()})
    struct = _abi.vinci_trained()
    call("vinci_group_train", byref(training), byref(struct))
    values = {name: getattr(struct, name[:-1] + "ns") / 1e9 for name in Trained.__dataclass_fields__
              if name.endswith("_s")}
    return Trained(runs=struct.runs, failures=struct.failures / struct.runs, **values)
