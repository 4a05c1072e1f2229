# SPDX-License-Identifier: Apache-2.0
"""Streams of requests on devices that serve a language model."""
import dataclasses
import typing
from ctypes import byref

from . import _abi
from ._library import Callback, Error, call, field_type, make, picoseconds, record, whole


@dataclasses.dataclass
class Share:
    """Of `count` values as many per cent at most."""

    p50_us: float
    p90_us: float
    p99_us: float
    count: int


@dataclasses.dataclass
class Serving:
    """Latencies: to the first token, of a further one in the mean of a request, between two; and what the engines did."""

    ttft: Share
    tpot: Share
    itl: Share
    start_us: float
    end_us: float
    busy_us: float
    tokens: int
    steps: int
    preempted: int
    fullest: int
    engines: int
    times: typing.List[typing.Tuple[float, float]] = dataclasses.field(default_factory=list)

    @property
    def tokens_s(self) -> float:
        """Tokens a second, from the first arrival to the last token."""
        took_us = self.end_us - self.start_us
        return self.tokens / took_us * 1e6 if took_us else float("inf")


@dataclasses.dataclass
class Step:
    """What an engine does at once: `parts` are [(tokens of a prompt, tokens before these)]; `batch` sequences with `length`
    tokens in the cache, in the mean, get a token each; `ends` prompts get their first."""

    parts: typing.List[typing.Tuple[int, int]]
    batch: int
    length: int
    ends: int


def _requests(requests):
    rows = list(requests)
    made = (_abi.vinci_serving_request * max(1, len(rows)))()
    for struct, (arrival_us, prompt, tokens) in zip(made, rows):
        struct.arrival_ps = picoseconds(arrival_us, "the arrival of a request")
        struct.prompt = whole(prompt, "the prompt of a request", 1 << 40)
        struct.tokens = whole(tokens, "the tokens of a request", 1 << 40)
    return made, len(rows)


def _told(one) -> Step:
    return Step([(part.tokens, part.before) for part in one.parts[:one.part_count]], one.batch, one.length, one.ends)


def serving_run(requests, *, step: typing.Callable[[Step], float], pages: int, send: typing.Optional[typing.Callable[[int], float]] = None,
                batch: int = 256, tokens: int = 2048, page: int = 128, prefill: int = 0, decode: int = 0) -> Serving:
    """Serves requests [(arrival_us, prompt, tokens)] for a language model, as `vinci.serving` in Lua does.

    An engine gives each running sequence a token in a step, up to `batch`, and reads prompts with what is left of `tokens`.
    It has `pages` of `page` tokens. `step` gives the microseconds of a `Step`; with `prefill` engines for prompts and `decode`
    others for tokens, `send` gives those that the cache of a prompt takes from one to the other.

    >>> import vinci
    >>> found = vinci.serving_run([(0, 50, 3), (10, 40, 1)], pages=100, page=16,
    ...                           step=lambda one: 100 + sum(tokens for tokens, _ in one.parts))
    >>> found.ttft.p50_us, found.ttft.p99_us, found.steps, found.times[1]
    (150.0, 280.0, 3, (290.0, 290.0))
    """

    def stepped(one, ps):
        ps[0] = picoseconds(step(_told(one.contents)), "the time of a step")

    def sent(count, ps):
        ps[0] = picoseconds(send(count), "the time of a cache")

    for name, value in (("batch", batch), ("tokens", tokens), ("page", page), ("pages", pages)):
        if whole(value, name) == 0:
            raise Error(f"{name} is 0, not a number from 1")
    steps = Callback(field_type("vinci_serving_options", "step"), stepped)
    sends = Callback(field_type("vinci_serving_options", "send"), sent)
    options = make("vinci_serving_options", batch=batch, tokens=tokens, page=page, pages=pages, prefill=prefill,
                   decode=decode, step=steps.pointer, **({"send": sends.pointer} if send else {}))
    made, count = _requests(requests)
    times, struct = (_abi.vinci_serving_times * max(1, count))(), _abi.vinci_serving_result()
    with sends, steps:  # Ctrl-C ends the next step
        call("vinci_serving_run", made, count, byref(options), times, byref(struct))
    found = record(Serving, struct)
    for name in ("ttft", "tpot", "itl"):
        setattr(found, name, record(Share, getattr(struct, name)))
    found.times = [(one.first_ps / 1e6, one.end_ps / 1e6) for one in times[:count]]
    return found
