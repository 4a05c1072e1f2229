# SPDX-License-Identifier: Apache-2.0
"""Random operators for same.py and properties.py: arguments of every operator that a program lists, with
shapes from one element to rows longer than UB, chosen and forced tilings, small buffers, and what is refused."""

import random

CHIPS = ["Ascend910B4", "Ascend910B1", "Ascend950PR_9589", "Ascend910_9392", "Ascend310P3",
         "Ascend910A"]
# Chips that copy whole blocks of 32 bytes alone.
BLOCK_CHIPS = ("Ascend310P3", "Ascend910A")
# What a round of all operators does; an operator meets another one each round.
SCENARIOS = ["odd", "long row", "tiling", "small buffers", "tiny", "column", "refused", "large",
             "aligned", "one", "tiling", "row"]
# Their templates branch most: each has its turn three times a round.
OFTEN = ["matmul", "batch_matmul", "conv2d", "conv2d_backprop_input", "conv2d_backprop_filter",
         "flash_attention", "flash_attention_grad"]
PRIMES = [3, 5, 7, 13, 17, 31, 61, 97, 127, 251, 331, 509, 1009, 1031]
POWERS = [16, 32, 64, 128, 256, 512, 1024, 2048]
NUMBERS = ["0", "1", "2.5", "-3", "1e-5", "0.01", "7"]
SMALL_BUFFERS = [["ub.size=%dKiB" % size] for size in (24, 48, 64, 96, 128)] + [
    ["l1.size=128KiB"], ["l0c.size=64KiB"], ["l0a.size=32KiB", "l0b.size=32KiB"],
    ["device.cube_cores=3", "device.vector_cores=6"], ["ub.size=64KiB", "l1.size=256KiB"]]
# Numbers of the chip that move times, and models, for a part of all cases.
CHIP_SETS = [["flag.latency_cycles=7", "barrier.latency_cycles=13"], ["cross_core.latency_cycles=900"],
             ["l2.size=4MiB"], ["hbm.bandwidth_scale=0.3"], ["queue.V=3", "queue.MTE2=2"],
             ["queue.M=2", "queue.FIX=2", "queue.MTE1=3", "queue.MTE3=2"]]
MODELS = ["--l2=warm", "--l2=streaming", "--l2=dirty", "--l2=used", "--network=flit"]
# Above this many elements, or 256 products each, a case is compiled and not simulated.
SIMULATED_ELEMENTS = 400000


class Key:
    def __init__(self, fields):
        self.name, self.kind, choices, default, tiling = fields
        self.choices = choices.split("|") if choices else []
        self.tiling = tiling == "tiling"
        self.required = default == "required" and not self.tiling


class Case:
    """One operator with its arguments, on a chip."""

    def __init__(self, op, scenario, keys, rng, chips):
        self.op, self.scenario, self.keys, self.rng = op, scenario, keys, rng
        self.args, self.sets, self.elements = {}, [], 0
        self.chip = rng.choice(chips)
        self.extra, self.models = [], []

    def words(self):
        return ([self.op] + ["%s=%s" % pair for pair in self.args.items()] + self.extra
                + ["-s", self.chip] + ["--set=" + text for text in self.sets])


def text_of(extents):
    return "x".join(str(extent) for extent in extents)


def product(extents):
    total = 1
    for extent in extents:
        total *= extent
    return total


# ---- shapes --------------------------------------------------------------------------------

def extent(case, most):
    """From 1 to `most`, as the scenario likes them."""
    rng = case.rng
    if case.scenario == "one":
        return 1
    if case.scenario == "tiny":
        return rng.randint(1, min(most, 20))
    if case.scenario == "aligned":
        return rng.choice([power for power in POWERS if power <= most] or [most])
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randint(1, most)
    if kind == 1:
        return min(most, rng.choice(POWERS) + rng.choice([-1, 0, 1]))
    return min(most, rng.choice(PRIMES))


def matrix(case):
    """Rows and columns."""
    rng = case.rng
    rows, cols = {
        "one": lambda: (1, 1),
        "tiny": lambda: (rng.randint(1, 5), rng.randint(1, 20)),
        "column": lambda: (rng.choice([2, 17, 255, 1009, 4096]), 1),
        "row": lambda: (1, rng.choice([2, 63, 1009, 8192, 30011])),
        "long row": lambda: (rng.randint(1, 4), rng.choice([33000, 65536, 70001, 100003, 200000])),
        "aligned": lambda: (rng.choice([1, 8, 40, 64]), rng.choice(POWERS)),
        "large": lambda: (rng.choice([512, 1000, 4096]), rng.choice([256, 777, 2048, 5120])),
        "deep": lambda: (rng.choice([1023, 2049, 4099]), rng.choice([1, 7, 31, 65, 127])),
    }.get(case.scenario, lambda: (extent(case, 200), extent(case, 4000)))()
    if case.chip in BLOCK_CHIPS and rng.randrange(8):
        cols = (cols + 31) // 32 * 32
    return rows, cols


def shape(case):
    """Of one to four dimensions, the last one being the columns."""
    rows, cols = matrix(case)
    rank = case.rng.randrange(5)
    if rank == 0 and rows == 1:
        return [cols]
    if rank == 1:
        outer = case.rng.randint(1, min(rows, 7))
        return [outer, max(1, rows // outer), cols]
    if rank == 2:
        return [2, max(1, rows // 6), min(rows, 3), cols]
    return [rows, cols]


def broadcast(case, extents):
    """That of a companion which has the extents, or 1 or nothing in place of some."""
    rng = case.rng
    kind = rng.randrange(6)
    if kind < 2:
        return extents
    if kind == 2:
        return extents[-1:]
    if kind == 3:
        return extents[:-1] + [1]
    if kind == 4:
        return [1]
    return [1 if rng.randrange(2) else value for value in extents]


# ---- arguments -----------------------------------------------------------------------------

def choose_words(case, often, without=()):
    """Types and words; those that are not required keep their default at times."""
    for key in case.keys:
        if key.tiling or key.name in case.args or key.name in without:
            continue
        if key.choices and (key.required or case.rng.random() < often):
            case.args[key.name] = case.rng.choice(key.choices)
        elif key.kind == "number" and (key.required or case.rng.random() < 0.4):
            case.args[key.name] = case.rng.choice(NUMBERS)


def has(case, name):
    return any(key.name == name for key in case.keys)


def general(case):
    """Any operator on a shape: its companions are broadcast, counts are small."""
    extents = shape(case)
    if has(case, "shape"):
        case.args["shape"] = text_of(extents)
    case.elements = product(extents)
    companions = [key.name for key in case.keys if key.name in ("shape1", "shape2", "shape3")]
    for name in companions:
        if case.rng.randrange(4):
            case.args[name] = text_of(broadcast(case, extents))
    # Where types differ, most pairs are refused.
    if has(case, "dtype"):
        dtypes = next(key.choices for key in case.keys if key.name == "dtype")
        case.args["dtype"] = case.rng.choice(dtypes)
    for key in case.keys:
        if key.name in ("dtype1", "out") and key.kind == "dtype" and has(case, "dtype") and case.rng.randrange(4):
            both = [case.args["dtype"], "fp32"]
            case.args[key.name] = case.rng.choice([one for one in both if one in key.choices] or key.choices)
    for key in case.keys:
        if key.kind == "size" and key.required:
            case.args[key.name] = case.rng.randint(1, 64)
    without = ("dtype1", "out") if has(case, "dtype") and case.rng.randrange(5) else ()
    choose_words(case, 0.5, without)


def reduce(case):
    general(case)
    rank = len(case.args["shape"].split("x"))
    if case.rng.randrange(4):
        case.args["axis"] = axis = case.rng.randrange(rank)
        if case.rng.randrange(3) == 0:
            case.args["axes"] = case.rng.randint(1, rank - axis)
        elif case.rng.randrange(4) == 0 and axis + 2 < rank:
            case.args["axis2"] = axis + 2


def rms_norm_grad(case):
    general(case)
    if case.rng.randrange(3) == 0:
        case.args["axes"] = case.rng.randint(1, len(case.args["shape"].split("x")))


def batch_norm(case):
    side, channels = extent(case, 40), extent(case, 64)
    extents = [case.rng.randint(1, 3), channels, side, side]
    case.args["format"] = case.rng.choice(["nchw", "nc1hwc0"])
    if case.args["format"] == "nc1hwc0":
        extents = [extents[0], (channels + 15) // 16, side, side, 16]
    case.args["shape"], case.elements = text_of(extents), product(extents)
    choose_words(case, 0.7)


def pool(case):
    rng = case.rng
    kernel = [rng.randint(1, 4), rng.randint(1, 4)]
    extents = [rng.randint(1, 2), rng.randint(1, 4), max(kernel[0], extent(case, 70)),
               max(kernel[1], extent(case, 70)), 16]
    if case.scenario == "long row":
        extents = [1, 1, max(4, rng.randint(1, 8)), rng.choice([1500, 5000, 9001]), 16]
    case.args.update(shape=text_of(extents), kernel=text_of(kernel))
    if rng.randrange(3):
        case.args["stride"] = text_of([rng.randint(1, 3), rng.randint(1, 3)])
    if rng.randrange(2):
        case.args["pad"] = text_of([(kernel[0] - 1) // 2, (kernel[1] - 1) // 2])
    elif rng.randrange(3) == 0:
        case.args["pad"] = text_of([rng.randint(0, 3) for _ in range(4)])
    case.elements = 4 * product(extents)
    choose_words(case, 0.6)


def topk(case):
    general(case)
    cols = int(case.args["shape"].split("x")[-1])
    case.args["k"] = case.rng.choice([1, min(8, cols), case.rng.randint(1, cols)])
    case.elements *= 8


def sort(case):
    general(case)
    case.elements *= 8


def transpose(case):
    extents = shape(case)
    if len(extents) == 1:
        extents = [extents[0], 3]
    order = list(range(1, len(extents) + 1))
    case.rng.shuffle(order)
    case.args.update(shape=text_of(extents), perm=text_of(order))
    case.elements = 4 * product(extents)
    choose_words(case, 0.8)


def transdata(case):
    ways = next(key.choices for key in case.keys if key.name == "way")
    case.args["way"] = way = case.rng.choice(ways)
    if "nchw" in way:
        extents = [case.rng.randint(1, 5), extent(case, 130), extent(case, 40), extent(case, 40)]
    else:
        extents = shape(case)
    if case.rng.randrange(5) == 0:
        case.args["c0"] = case.rng.choice([8, 16, 32, 4])
    case.args["shape"], case.elements = text_of(extents), 4 * product(extents)
    choose_words(case, 0.8)


def slice_of(case):
    extents = shape(case)
    parts = [case.rng.choice([value, case.rng.randint(1, value)]) for value in extents]
    starts = [case.rng.randint(0, value - part) for value, part in zip(extents, parts)]
    begin = 0
    for value, start in zip(extents, starts):
        begin = begin * value + start
    case.args.update(shape=text_of(extents), out=text_of(parts))
    if begin or case.rng.randrange(2):
        case.args["begin"] = begin
    case.elements = product(parts)
    choose_words(case, 0.8)


def concat(case):
    extents = shape(case)
    axis = case.rng.randrange(len(extents))
    case.args["shape"], case.elements = text_of(extents), product(extents)
    for i in range(1, case.rng.randint(1, 5) + 1):
        other = list(extents)
        other[axis] = case.rng.choice([other[axis], case.rng.randint(1, max(2, other[axis]))])
        case.args["shape%d" % i] = text_of(other)
        case.elements += product(other)
    if axis != len(extents) - 1 or case.rng.randrange(2):
        case.args["axis"] = axis
    choose_words(case, 0.8)


def pad(case):
    extents = shape(case)
    case.args["shape"] = text_of(extents)
    case.args["before"] = text_of([case.rng.choice([0, 0, 1, 3, 17]) for _ in extents])
    if case.rng.randrange(2):
        case.args["after"] = text_of([case.rng.choice([0, 0, 2, 16, 40]) for _ in extents])
    case.elements = 2 * product(extents)
    choose_words(case, 0.8)


def gather(case):
    extents = shape(case)
    count = [extent(case, 300)]
    if case.rng.randrange(3) == 0:
        count.append(case.rng.randint(1, 4))
    case.args.update(shape=text_of(extents), count=text_of(count))
    if case.rng.randrange(3) == 0:
        case.args.update(first=case.rng.randrange(extents[0]), step=case.rng.choice([0, 1, 3]))
    case.elements = product(extents[1:] + count) + 50 * product(count)
    choose_words(case, 0.8)


def repetition(case):
    """Repeats some dimensions of 1, and at times one more before all."""
    rng, to = case.rng, shape(case)
    extents = [1 if rng.randrange(2) else e for e in to]
    case.args.update(shape=text_of(extents), to=text_of(to))
    case.elements = product(to)
    choose_words(case, 0.8)


def series(case):
    case.args["shape"] = case.elements = extent(case, 30000)
    choose_words(case, 0.8)


def even_rows(case):
    """Rows whose length is even; of three dimensions or more for heads."""
    extents = shape(case)
    extents[-1] = 2 * max(1, extents[-1] // 2)
    if case.op.startswith("rope"):
        head = case.rng.choice([2, 32, 62, 64, 96, 128, 256])
        extents = [max(1, extents[-1] // head), extent(case, 16), head]
    case.args["shape"], case.elements = text_of(extents), product(extents)
    choose_words(case, 0.8)


def scaled(case):
    """Scales are for int8 alone; the rest is refused, which a few cases are enough for."""
    if has(case, "scales") and case.args.get("dtype") == "int8" and case.rng.randrange(2):
        case.args.update(out_dtype="fp16", scale="0.01", scales=case.rng.choice(["0", "1"]))
        if case.args["scales"] == "1":
            del case.args["scale"]
    elif case.rng.randrange(8):
        case.args.pop("scale", None)
        case.args.pop("scales", None)


def matmul(case):
    m, k, n = (extent(case, 1200) for _ in range(3))
    if case.scenario == "long row":
        k = case.rng.choice([8192, 20000, 65536])
    if case.scenario in ("row", "column"):
        m, n = (1, n) if case.scenario == "row" else (m, 1)
    if case.scenario == "large":
        m, k, n = (case.rng.choice([1024, 1536, 2000, 4096]) for _ in range(3))
    if case.scenario == "deep":
        m, n = extent(case, 130), extent(case, 130)
        k = case.rng.choice([1, 15]) if case.rng.randrange(4) == 0 else extent(case, 60000)
    case.args.update(m=m, k=k, n=n)
    batch = 1
    if case.op == "batch_matmul" or case.rng.randrange(8) == 0:
        case.args["batch"] = batch = case.rng.randint(1, 9)
    case.elements = m * k * n * batch // 256
    choose_words(case, 0.25)
    scaled(case)


def conv(case):
    rng = case.rng
    kernel = [rng.choice([1, 2, 3, 3, 5]), rng.choice([1, 3, 3, 5, 7])]
    h, w = max(kernel[0], extent(case, 40)), max(kernel[1], extent(case, 40))
    c, k, n = extent(case, 130), extent(case, 130), rng.randint(1, 3)
    if case.scenario == "deep":
        h, w = (max(side, rng.randint(1, 41)) for side in kernel)
        c, k, n = extent(case, 600), extent(case, 600), rng.choice([1, 7, 16, 33, 64])
    case.args.update(n=n, c=c, h=h, w=w, k=k, kernel=text_of(kernel))
    if rng.randrange(3) == 0 or (case.scenario == "deep" and rng.randrange(3)):
        case.args["stride"] = rng.choice(["2x2", "1x2", "2x1", "3x3"])
    if rng.randrange(2):
        case.args["pad"] = text_of([kernel[0] // 2, kernel[1] // 2])
    elif case.scenario == "deep" and rng.randrange(2):
        case.args["pad"] = text_of([rng.randrange(side) for side in kernel for _ in range(2)])
    if rng.randrange(6) == 0:
        case.args["dilation"] = "2x2"
    if rng.randrange(4) == 0:
        case.args["groups"] = groups = rng.choice([2, 4, c])
        if c % groups or k % groups:
            case.args.update(c=groups * 4, k=groups * 2)
    case.elements = case.args["n"] * h * w * c * k * product(kernel) // 256
    choose_words(case, 0.25)
    scaled(case)


def attention(case):
    rng = case.rng
    heads, queries = rng.choice([1, 2, 4, 6]), extent(case, 700)
    keys = queries if rng.randrange(2) else extent(case, 900)
    case.args.update(heads=heads, seq_q=queries, head_dim=rng.choice([32, 64, 64, 80, 128, 256]))
    if case.scenario == "long row":
        keys = rng.choice([4096, 9000])
    if keys != queries:
        case.args["seq_k"] = keys
    if rng.randrange(3) == 0:
        case.args["batch"] = rng.randint(1, 3)
    if rng.randrange(4) == 0:
        case.args["kv_heads"] = rng.choice([1, heads])
    if rng.randrange(5) == 0:
        case.args["scale"] = "0.125"
    case.elements = case.args.get("batch", 1) * heads * queries * keys
    choose_words(case, 0.4)
    if case.args.get("causal") == "1" and keys < queries and rng.randrange(6):
        case.args["causal"] = "0"


def chain(case):
    """Steps of one operand and of two, some by way of single precision."""
    rng = case.rng
    general(case)
    for name in [name for name in case.args if name[-1] in "2345"]:
        del case.args[name]
    steps = [rng.choice(["abs", "relu", "neg", "muls:0.5", "sigmoid", "cast:fp32", "t%d=adds:2" % i])
             for i in range(rng.randint(1, 6))]
    uses = rng.choice(["add:x:x1", "max:x1:x"])
    case.args["dtype"] = rng.choice(["fp16", "bf16", "fp32"])
    case.args.pop("dtype1", None)
    case.args["steps"] = ",".join([uses] + steps)


def matmul_chain(case):
    matmul(case)
    for name in [name for name in case.args if name.startswith(("shape", "dtype1", "dtype2", "dtype3"))]:
        del case.args[name]
    case.args["steps"] = case.rng.choice(["relu", "muls:0.5", "add:x1", "gelu,mul:x1", "abs,adds:1", "s=sigmoid,mul:x:s",
                                          "mul:x1,cast:fp32", "cast:fp32,exp,add:x1"])
    if "x1" in case.args["steps"]:
        case.args.update(case.rng.choice([{}, {"shape1": 1}, {"dtype1": "fp32"}, {"shape1": 1, "dtype1": "fp32"}]))


def joined_conv(case):
    conv(case)
    case.args.pop("groups", None)


def norm_weights(case):
    case.args["rows"], case.args["cols"] = extent(case, 3000), extent(case, 3000)
    case.elements = case.args["rows"] * case.args["cols"]
    choose_words(case, 0.5)


def resize(case):
    side, channels = extent(case, 40), extent(case, 30)
    case.args["format"] = case.rng.choice(["nchw", "nc1hwc0"])
    extents = [case.rng.randint(1, 3), channels, side, side + 1]
    extents += [16] if case.args["format"] == "nc1hwc0" else []
    case.args["size"] = "%dx%d" % (extent(case, 80), extent(case, 80))
    case.args["shape"], case.elements = text_of(extents), product(extents)
    choose_words(case, 0.7)


def global_avg_pool(case):
    side = extent(case, 20)
    case.args["dtype"] = case.rng.choice(["fp16", "bf16", "fp32"])
    extents = [case.rng.randint(1, 9), extent(case, 30), side, side,
               8 if case.args["dtype"] == "fp32" else 16]
    case.args["shape"], case.elements = text_of(extents), product(extents)


# Operators without a shape: what each of their sizes is drawn from, a largest or a choice.
SIZES = {
    "attention_update": {"tokens": 900, "depth": [32, 64, 128, 256], "parts": [2, 3]},
    "moe_finalize_routing": {"tokens": 200, "hidden": 2000, "k": [1, 2, 8]},
    "moe_init_routing": {"tokens": 200, "hidden": 2000, "k": [1, 2, 8]},
    "moe_gating_top_k": {"tokens": 300, "experts": [8, 64, 128, 256], "k": [1, 2, 4, 8]},
    "top_k_top_p": {"tokens": 20, "words": 4000}, "sample": {"tokens": 40, "words": 4000},
    "nms": {"boxes": 900, "batches": [1, 2], "classes": [1, 3, 20], "most": [1, 10, 100]},
    "nms_list": {"batches": [1, 3], "classes": [1, 5], "most": 60, "count": [1, 3]},
    "sparse_flash_attention": {"tokens": 5, "slots": 300, "heads": [16, 32, 64, 128], "k": [64, 100, 256]},
    "lightning_indexer": {"tokens": 20, "keys": 3000, "heads": [8, 16, 64], "k": [16, 64, 256]},
    "mla_preprocess": {"tokens": 40, "heads": [1, 4, 16], "slots": 300, "hidden": [512, 1024], "q_rank": [256, 512]},
    "split_qkv_rms_norm_rope": {"tokens": 100, "heads": [1, 4, 12], "kv_heads": [1, 2], "head_dim": [64, 128]},
    "kv_rms_norm_rope_cache": {"tokens": 100, "slots": 300, "latent": [64, 256, 512], "rope": [32, 64]},
    "swiglu_group_quant": {"rows": 300, "cols": [256, 512, 1024, 2048], "group": [64, 128]},
}


def sizes(case):
    for name, kinds in SIZES[case.op].items():
        case.args[name] = case.rng.choice(kinds) if isinstance(kinds, list) else extent(case, kinds)
    if case.args.get("slots", case.args.get("tokens", 0)) < case.args.get("tokens", 0):
        case.args["slots"] = case.args["tokens"]
    if case.op == "lightning_indexer":
        case.args["k"] = min(case.args["k"], case.args["keys"])
    case.elements = product(value for value in case.args.values() if isinstance(value, int))
    choose_words(case, 0.5)


def grouped(case):
    """Rows of the groups in turn; some groups have none."""
    rng = case.rng
    rows = [rng.choice([0, 1, extent(case, 200)]) for _ in range(rng.randint(1, 4))]
    case.args.update(rows=text_of([max(1, rows[0])] + rows[1:]), k=extent(case, 700), n=extent(case, 500))
    if rng.randrange(3) == 0:
        case.args["groups"] = rng.randint(len(rows), 9)
    case.elements = sum(rows) * case.args["k"] * case.args["n"] // 100
    if case.op == "grouped_matmul_swiglu_quant":
        case.args["n"] += case.args["n"] % 2
    choose_words(case, 0.4)


def paged(case):
    attention(case)
    if case.rng.randrange(2):
        case.args["block_size"] = case.rng.choice([16, 32, 64, 128])
    keys = case.args.get("seq_k", case.args["seq_q"])
    if case.rng.randrange(3) == 0:
        case.args["lengths"] = text_of([case.rng.randint(1, keys) for _ in range(case.rng.randint(1, 3))])


def windowed(case):
    """A map in five extents; a size or a result where the operator has such a key."""
    rng = case.rng
    extents = [rng.randint(1, 3), rng.randint(1, 4), extent(case, 30), extent(case, 30), 16]
    if case.op.startswith("adaptive"):
        parts = [rng.choice([1, 2, 3]) for _ in range(3)]
        extents = [rng.randint(1, 2)] + [part * rng.randint(1, 4) for part in parts] + [extent(case, 100)]
        case.args["out"] = text_of(parts)
    if case.op == "roi_align":
        extents = [rng.randint(1, 2), extent(case, 40), extent(case, 40), 8 * rng.randint(1, 20)]
        case.args.update(regions=extent(case, 20), size="%dx%d" % (rng.randint(1, 7), rng.randint(1, 7)))
    case.args["shape"], case.elements = text_of(extents), 4 * product(extents)
    choose_words(case, 0.5)


def part_of(case):
    """The gradient of a part, or elements at a stride."""
    extents = shape(case)
    whole = [value + case.rng.choice([0, 0, 1, 7]) for value in extents]
    if case.op == "as_strided":
        strides, apart = [], 1
        for value in reversed(extents):
            strides.insert(0, apart)
            apart *= value
        case.rng.shuffle(strides)
        case.args.update(shape=apart, out=text_of(extents), strides=text_of(strides))
        case.elements = product(extents)
    else:
        case.args.update(shape=text_of(extents), out=text_of(whole))
        if case.rng.randrange(2):
            case.args["begin"] = text_of([case.rng.randint(0, w - v) for w, v in zip(whole, extents)])
        case.elements = product(whole)
    choose_words(case, 0.5)


def channels(case):
    """Images, channels, and more; groups of channels."""
    rng = case.rng
    groups = rng.choice([1, 2, 4, 32])
    extents = [rng.randint(1, 3), groups * rng.randint(1, 8), extent(case, 900)]
    if rng.randrange(2):
        extents[2:] = [extent(case, 30), extent(case, 30)]
    if has(case, "groups"):
        case.args["groups"] = groups
    case.args["shape"], case.elements = text_of(extents), product(extents)
    choose_words(case, 0.5)


def embedding_grad(case):
    general(case)
    case.args["count"] = text_of([extent(case, 300)])


def linear_index(case):
    general(case)
    case.args["sizes"] = text_of([extent(case, 300) for _ in range(case.rng.randint(1, 4))])


MAKERS = {
    "matmul_chain": matmul_chain, "conv2d_moments": joined_conv, "conv2d_input_masked": joined_conv,
    "conv2d_filter_norm": joined_conv,
    "norm_weights_grad": norm_weights,
    "batch_norm_line_relu": batch_norm, "batch_norm_residual_relu": batch_norm, "batch_norm_update_relu": batch_norm,
    "batch_norm_update_residual_relu": batch_norm,
    "grouped_matmul": grouped, "grouped_matmul_swiglu_quant": grouped, "paged_attention": paged,
    "quant_matmul": matmul, "weight_quant_matmul": matmul, "batch_norm_update": batch_norm,
    "winograd_input": windowed, "winograd_output": windowed, "roi_align": windowed,
    "adaptive_avg_pool": windowed, "adaptive_avg_pool_grad": windowed,
    "as_strided": part_of, "slice_grad": part_of, "group_norm": channels, "instance_norm": channels,
    "embedding_grad": embedding_grad, "linear_index": linear_index,
    "matmul": matmul, "batch_matmul": matmul, "conv2d": conv, "conv2d_backprop_input": conv,
    "conv2d_backprop_filter": conv, "flash_attention": attention, "flash_attention_grad": attention,
    "reduce_sum": reduce, "reduce_sum_square": reduce, "reduce_mean": reduce, "reduce_max": reduce, "reduce_min": reduce,
    "lp_norm": reduce, "lp_norm_reduce": reduce, "rms_norm_grad": rms_norm_grad,
    "layer_norm_grad": rms_norm_grad,
    "batch_norm": batch_norm, "max_pool": pool, "avg_pool": pool, "max_pool_with_argmax": pool, "max_pool_grad": pool, "topk": topk,
    "sort": sort, "transpose": transpose, "transdata": transdata, "slice": slice_of,
    "concat": concat, "pad": pad, "gather": gather, "scatter_update": gather, "scatter_add": gather,
    "broadcast": repetition, "range": series, "swiglu": even_rows, "swiglu_grad": even_rows,
    "rope": even_rows, "rope_grad": even_rows, "chain": chain, "resize": resize,
    "global_avg_pool": global_avg_pool,
}
MAKERS.update((op, sizes) for op in SIZES)


# ---- what is refused -----------------------------------------------------------------------

def spoil(case):
    """Something that both programs have to refuse, or take, alike."""
    rng, names = case.rng, list(case.args)
    tilings = [key.name for key in case.keys if key.tiling and key.kind == "size"] or ["cores"]
    ways = [
        lambda: case.extra.append("colour=1"),
        lambda: case.extra.append("%s=%s" % (names[0], case.args[names[0]])),
        lambda: case.extra.append("nonsense"),
        lambda: case.args.update(dtype=rng.choice(["fp64", "int8", "uint8", "int64", "uint32"])),
        lambda: case.args.pop(names[0]),
        lambda: case.args.update({names[0]: rng.choice(["0", "", "5xx3", "-3", "3x0", "a", "1e9"])}),
        lambda: case.args.update({names[-1]: "huge"}),
        lambda: case.args.update({rng.choice(tilings): rng.choice([100000000, 99991])}),
        lambda: case.args.update({rng.choice(tilings): rng.choice(["0", "-1", "x"])}),
        lambda: case.sets.append("ub.size=512" if rng.randrange(2) else "l1.size=1KiB"),
        lambda: case.args.update({names[0]: "x".join(["2"] * 9)}),
    ]
    rng.choice(ways)()


# ---- all of them ---------------------------------------------------------------------------

def force(case, tilings):
    """Gives a tiling of those that the program lists: all its keys or some, at times another number."""
    rng = case.rng
    workers = [key.name for key in case.keys if key.tiling and key.name in ("blocks", "cores")]
    if workers and rng.randrange(4) == 0:
        case.args[workers[0]] = rng.randint(1, 24)
        return
    if not tilings:
        return
    pairs = [word.split("=", 1) for word in rng.choice(tilings).split()]
    if pairs and rng.randrange(2):
        pairs = rng.sample(pairs, rng.randint(1, len(pairs)))
    for name, value in pairs:
        if value.isdigit() and rng.randrange(6) == 0:
            value = str(max(1, int(value) // 2))
        case.args[name] = value


def make(operators, names, seed, number, attempt, scenarios=SCENARIOS, chips=CHIPS):
    """Case `number`; another `attempt` has other numbers for the same operator and scenario."""
    at, turn = number % len(names), number // len(names)
    op = names[at]
    rng = random.Random("%d/%d/%d" % (seed, number, attempt))
    case = Case(op, scenarios[(turn + at) % len(scenarios)], operators[op], rng, chips)
    MAKERS.get(op, general)(case)
    if rng.randrange(3) == 0:
        case.sets = list(rng.choice(CHIP_SETS))
    if rng.randrange(3) == 0:
        case.models = [rng.choice(MODELS)]
    if case.scenario == "small buffers":
        case.sets = list(rng.choice(SMALL_BUFFERS))
    if case.scenario == "refused":
        spoil(case)
    return case
