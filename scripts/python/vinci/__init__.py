# SPDX-License-Identifier: Apache-2.0
"""
vinci: a cycle-level simulator of Ascend "Da Vinci" AI Cores. The names are those of the module for
Lua; PYTHON.md is a tour.

    import vinci
    r = vinci.run("matmul m=1024 k=1024 n=1024", chip="Ascend910B4")
    print(r)

>>> import vinci
>>> r = vinci.run("matmul m=1024 k=1024 n=1024", chip="Ascend910B4")
>>> print(r.bound, r["soc"])
latency Ascend910B4
"""
from ._library import Error
from .chips import Number, Soc, arch, soc, socs
from .comparisons import Diff, Difference, End, Parting, diff
from .groups import Bucket, BucketPlan, Buckets, Group, Held, Rank, Trained, buckets, group_levers, group_run, group_train
from .networks import (Batch, Chain, Cuts, Figures, Net, Node, Served, Trial, net, net_cuts, net_import, net_levers,
                       net_profile, serve)
from .runs import Core, Counter, Event, Hotspot, Lever, Proven, Result, Saving, counters, report, run
from .serving import Serving, Share, Step, serving_run
from .steps import Steps, steps
from .studies import (Answer, Blessed, Change, Effect, Gate, Kind, Listed, Point, Sensitivity, Swept,
                      SweptList, bless, evaluate, gate, ops, ops_kinds, sensitivity, sweep)
from .traces import (Instruction, Key, Operator, Tensor, Tiling, Trace, compile, compile_text,
                     instructions, load, load_kernel, operators, parse, tiling, tilings)
from .tuning import Advice, Schedule, Space, Tuned, Tunings, space, strategies, tune
from .values import Comparison, Findings, Values, check, values


def __getattr__(name):
    if name in ("version", "__version__", "model_revision", "commit"):
        from ._library import library, text

        loaded = library()
        return text(getattr(loaded, "vinci_" + name.strip("_"))())
    raise AttributeError(f"module 'vinci' has no attribute '{name}'")
