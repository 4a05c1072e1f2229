# SPDX-License-Identifier: Apache-2.0
"""Whole networks on one chip, their cuts, and streams of requests."""
import ctypes
import dataclasses
import os
import typing
from ctypes import byref

from . import _abi
from ._library import (Callback, Error, call, field_type, make, picoseconds, record, release, table, taken, text,
                       visitor, whole, word, words)
from .chips import chip_of
from .runs import Proven, models, proven


@dataclasses.dataclass
class Node:
    """A node of the last run. `from_` is simulated, remembered, given, computed, none, refused."""

    name: str
    op: str
    origin: str
    bound: str
    reason: str
    stream: int
    blocks: int
    start_us: float
    duration_us: float
    gap_us: float
    host_wait_us: float
    other_wait_us: float
    input_bytes: int
    l2_found_bytes: int
    hbm_bytes: int
    from_: str = ""

    @property
    def us(self) -> float:
        """The duration, as Lua has the name."""
        return self.duration_us


@dataclasses.dataclass
class Net:
    """What a network takes, what that is made of, and its `nodes`."""

    end_us: float
    first_end_us: float
    core_us: float
    host_bound_us: float
    gap_us: float
    wait_us: float
    cube_us: float
    vector_us: float
    memory_us: float
    latency_us: float
    scalar_us: float
    task_us: float
    tail_us: float
    slowed_us: float
    bound: str
    kernels: int
    launches: int
    refused: int
    simulated: int
    stored: int
    memory_bytes: int
    live_bytes: int
    fixed_bytes: int
    input_bytes: int
    output_bytes: int
    l2_found_bytes: int
    hbm_bytes: int
    h2d_bytes: int
    d2h_bytes: int
    d2d_bytes: int
    problem_digest: int
    nodes: typing.Union[int, typing.List[Node]] = dataclasses.field(default_factory=list)

    @property
    def us(self) -> float:
        """Of the last run, as Lua has the name."""
        return self.end_us

    @property
    def first_us(self) -> float:
        """Of the first run, as Lua has the name."""
        return self.first_end_us

    def _repr_html_(self):
        rows = [(one.name, one.op, one.bound, f"{one.duration_us:.3f}") for one in self.nodes]
        return f"<b>{self.end_us:.3f} us, {self.bound}</b>" + table(rows, ("node", "op", "bound", "us"))


def _network(network):
    """(name, bytes, length): the text of a graph, the bytes of a model, or a path."""
    if isinstance(network, os.PathLike) or isinstance(network, str) and "\n" not in network:
        if os.fspath(network).endswith(".onnx"):
            return word(network, "network"), None, 0  # the library reads piece by piece
        try:
            with open(network, "rb") as file:
                held = file.read()
        except OSError as error:
            raise Error(f"cannot read: {error.strerror}", "E_IO", file=os.fspath(network)) from None
        return word(network, "network"), held, len(held)
    held = network if isinstance(network, bytes) else network.encode("utf-8", "surrogateescape")
    return b"graph", held, len(held)


def _model(shapes, dims, inputs):
    lists = [words(one, "shapes, dims, inputs") for one in (shapes, dims, inputs)]
    return make("vinci_net_model", shapes=lists[0][0], shape_count=lists[0][1], dims=lists[1][0],
                dim_count=lists[1][1], inputs=lists[2][0], input_count=lists[2][1])


def _options(callback, *, memory=None, network=None, plan=None, host=None, depth=0, repeat=0,
             exact=False, results=None, batch=0, passes=None, memory_limit=None, shapes=(), dims=(),
             inputs=()):
    chosen = models(memory, network, None)
    return make("vinci_net_options", memory=chosen["memory"], network=chosen["network"],
                plan=word(plan, "plan"), host=word(host, "host"), depth=depth, repeat=repeat,
                exact=exact, results=word(results, "results"), batch=batch,
                passes=word(passes, "passes"), memory_limit=word(memory_limit, "memory_limit"),
                model=ctypes.pointer(_model(shapes, dims, inputs)), progress=callback.pointer)


def net(chip, network, *, set=None, data=None,
        progress: typing.Optional[typing.Callable[[int, int], typing.Optional[bool]]] = None,
        **options) -> Net:
    """Runs a network, as `vinci net run`.

    The network is the text of a graph, the bytes of an ONNX model, or a path. `progress` gets the
    nodes that are done and all. Options: memory, network, plan, host, depth, repeat, exact, results,
    batch, passes, memory_limit, and of models the lists shapes, dims and inputs.

    >>> import vinci
    >>> graph = '''graph,version=1
    ... tensor,name=x,dtype=fp16,shape=64x512,io=in
    ... tensor,name=y,dtype=fp16,shape=64x512,io=out
    ... kernel,name=act,op=relu,in=x,out=y,args=shape=64x512
    ... '''
    >>> found = vinci.net("Ascend910B4", graph, host="eager")
    >>> [node.name for node in found.nodes], found.bound
    (['act'], 'host')
    """
    nodes: typing.List[Node] = []

    def visit(_, pointer):
        one = record(Node, pointer.contents)
        one.from_ = text(getattr(pointer.contents, "from"))
        nodes.append(one)
        return True

    callback = Callback(field_type("vinci_net_options", "progress"), progress)
    given, struct = _options(callback, **options), _abi.vinci_net_result()
    with callback:
        call("vinci_net_run", chip_of(chip, set, data), *_network(network), byref(given),
             visitor("vinci_net_run")(visit), None, byref(struct))
    found = record(Net, struct)
    found.nodes = nodes
    return found


def net_levers(chip, network, *, set=None, data=None,
               progress: typing.Optional[typing.Callable[[int, int], typing.Optional[bool]]] = None,
               **options) -> typing.List[Proven]:
    """What of a network can be turned, each measured by a run, as `vinci net run --savings=all`.

    Passes, cuts by L2 and the host, the largest saving first; those whose run met a limit come
    last, with a `saved_us` of 0 and an `origin` of `"not measured: limit: ..."` (`Proven`). Options
    as of `net`. `progress` gets the nodes of the first run, then levers, and ends the search by
    returning False: an `Error` of status `"E_LIMIT"`, whose `result` is the list of what was
    measured before then.

    >>> import vinci
    >>> graph = '''graph,version=1
    ... tensor,name=x,dtype=fp16,shape=64x512,io=in
    ... tensor,name=y,dtype=fp16,shape=64x512,io=out
    ... kernel,name=act,op=relu,in=x,out=y,args=shape=64x512
    ... '''
    >>> vinci.net_levers("Ascend910B4", graph, host="eager")[0].change
    '--host=sink'
    """
    callback = Callback(field_type("vinci_net_options", "progress"), progress)
    found, visit = proven("vinci_net_levers")
    given = _options(callback, **options)
    with callback:
        call("vinci_net_levers", chip_of(chip, set, data), *_network(network), byref(given), visit,
             None, result=found)
    return found


def net_import(network, *, shapes=(), dims=(), inputs=()) -> str:
    """An ONNX model as the text of a graph of layers, with the shapes of all tensors."""
    buffer, length = ctypes.c_char_p(), ctypes.c_size_t()
    call("vinci_net_import", *_network(network), byref(_model(shapes, dims, inputs)), byref(buffer),
         byref(length))
    return taken(buffer, length.value)


def net_profile(chip, path, *, host_costs=None, host_wait_us: int = 0,
                device: typing.Optional[str] = None, set=None, data=None) -> str:
    """The rows of a profiler's kernel_details.csv as the text of a graph.

    `device` takes the rows of one device ("0") of a profile of several.
    """
    buffer, length = ctypes.c_char_p(), ctypes.c_size_t()
    call("vinci_net_profile", chip_of(chip, set, data), word(path, "path"),
         word(host_costs, "host_costs"), host_wait_us, word(device, "device"),
         byref(buffer), byref(length))
    return taken(buffer, length.value)


# ---- cuts -----------------------------------------------------------------------------------


@dataclasses.dataclass
class Figures:
    us: float
    launch_us: float
    launches: int
    hbm_bytes: int


@dataclasses.dataclass
class Trial(Figures):
    parts: int = 1
    rows: int = 0


@dataclasses.dataclass
class Chain:
    first: str
    last: str
    axis: str
    verdict: str
    reason: str
    kernels: int
    rows: int
    parts: int
    between_bytes: int
    held_bytes: int
    whole_bytes: int
    closed_bytes: int
    trials: typing.List[Trial] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Cuts:
    """The network without cuts, with those of pass split, and with those that were found."""

    whole: Figures
    estimate: Figures
    tuned: Figures
    graph: str
    chains: typing.List[Chain]


def _figures(struct) -> typing.Dict[str, typing.Any]:
    return dataclasses.asdict(record(Figures, struct))


def net_cuts(chip, network, *, set=None, data=None,
             progress: typing.Optional[typing.Callable[[int, int], typing.Optional[bool]]] = None,
             **options) -> Cuts:
    """Searches chains of kernels that run in parts which stay in L2, as `vinci tune --cuts`."""
    chains: typing.List[Chain] = []

    def visit(_, pointer):
        one = pointer.contents
        chain = record(Chain, one)
        chain.trials = [Trial(**_figures(trial.figures), parts=trial.parts, rows=trial.rows)
                        for trial in one.trials[:one.trial_count]]
        chains.append(chain)
        return True

    callback = Callback(field_type("vinci_net_options", "progress"), progress)
    given, struct = _options(callback, **options), _abi.vinci_net_cuts()
    buffer, length = ctypes.c_char_p(), ctypes.c_size_t()
    with callback:
        call("vinci_net_cuts", chip_of(chip, set, data), *_network(network), byref(given),
             visitor("vinci_net_cuts")(visit), None, byref(struct), byref(buffer), byref(length))
    return Cuts(*(record(Figures, getattr(struct, name)) for name in ("whole", "estimate", "tuned")),
                taken(buffer, length.value), chains)


# ---- requests -------------------------------------------------------------------------------


@dataclasses.dataclass
class Batch:
    """A run of a gear; `gear` is its place in the list."""

    start_us: float
    end_us: float
    gear: int
    samples: int


@dataclasses.dataclass
class Served:
    """Latencies of requests, and the batches that ran."""

    p50_us: float
    p90_us: float
    p99_us: float
    max_us: float
    end_us: float
    busy_us: float
    span_us: float
    samples: int
    slots: int
    batches: int
    latencies_us: typing.List[float] = dataclasses.field(default_factory=list)
    runs: typing.List[Batch] = dataclasses.field(default_factory=list)


def _requests(requests):
    """(array, count, whether the library made the array)"""
    if isinstance(requests, str):
        pointer, count = ctypes.POINTER(_abi.vinci_net_request)(), ctypes.c_size_t()
        call("vinci_net_requests", word(requests, "requests"), byref(pointer), byref(count))
        kept = (_abi.vinci_net_request * count.value)(*pointer[:count.value])
        release(pointer)
        return kept, count.value
    rows = [one if isinstance(one, (tuple, list)) else (one, 1) for one in requests]
    made = (_abi.vinci_net_request * max(1, len(rows)))()
    for struct, (arrival_us, size) in zip(made, rows):
        struct.arrival_ps = picoseconds(arrival_us, "the arrival of a request")
        struct.size = whole(size, "the size of a request", 1 << 32)
    return made, len(rows)


def serve(*, gears, requests, max_wait_us: float = 0) -> Served:
    """Serves requests in batches, as `vinci net serve`.

    `gears` are {batch: us}; `requests` a text as `--requests` takes, or [(arrival_us, size)].

    >>> import vinci
    >>> served = vinci.serve(gears={1: 5.0, 4: 8.0}, requests="poisson:rate=200000,count=500,seed=3",
    ...                      max_wait_us=20)
    >>> served.samples, len(served.latencies_us)
    (500, 500)
    """
    rows = sorted(gears.items() if hasattr(gears, "items") else gears)
    array = (_abi.vinci_net_gear * max(1, len(rows)))()
    for struct, (batch, us) in zip(array, rows):
        struct.batch = whole(batch, "the batch of a gear", 1 << 32)
        struct.duration_ps = picoseconds(us, "the time of a gear")
    made, count = _requests(requests)
    latencies, struct = (ctypes.c_uint64 * max(1, count))(), _abi.vinci_net_served()
    runs: typing.List[Batch] = []
    visit = visitor("vinci_net_serve")(
        lambda _, one: runs.append(record(Batch, one.contents)) is None)
    call("vinci_net_serve", array, len(rows), made, count, picoseconds(max_wait_us, "max_wait_us"), latencies, visit,
         None, byref(struct))
    served = record(Served, struct)
    served.latencies_us, served.runs = [one / 1e6 for one in latencies[:count]], runs
    return served
