# SPDX-License-Identifier: Apache-2.0
"""Operators that are functions of others: values against numpy, and the layers that they are. Usage: WORK VINCI

The definitions are those of ONNX, and of ONNX Runtime's list of contributed operators, written here once more.
"""
import math
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper

from tap import plan, report

WORK, VINCI = sys.argv[1:3]
TYPES = {"float32": T.FLOAT, "uint8": T.UINT8, "int8": T.INT8, "bool": T.BOOL, "int64": T.INT64, "int32": T.INT32}
random = np.random.default_rng(3)


def real(*shape, low=-2.0, high=2.0):
    return random.uniform(low, high, shape).astype(np.float32)


def octets(*shape):
    return random.integers(0, 256, shape).astype(np.uint8)


def signed(*shape):
    return random.integers(-128, 128, shape).astype(np.int8)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


def layer_norm(x, g, b, epsilon):
    moved = x - x.mean(-1, keepdims=True)
    return moved / np.sqrt((moved**2).mean(-1, keepdims=True) + epsilon) * g + b


def rms_norm(x, g, epsilon):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * g


def as_octets(x, scale, zero):
    return np.clip(np.rint(x / scale) + zero, 0, 255)


def erf_gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def tanh_gelu(x):
    return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2


def product(a, sa, za, b, sb, zb):
    return ((a.astype(float) - za) @ (b.astype(float) - zb)) * sa * sb


def dynamic(x, w, scale, bias):
    low, high = min(x.min(), 0), max(x.max(), 0)
    s = (high - low) / 255
    z = np.clip(np.rint(-low / s), 0, 255)
    return product(as_octets(x, s, z), s, z, w, scale, 0) + bias


def attention(q, k, v, causal=False, scale=None, mask=None, softcap=0, window=0):
    """[batch, heads, sequence, depth] each, with as many heads of keys, or a part of them; the last query is causal to all."""
    k, v = (np.repeat(a, q.shape[1] // a.shape[1], 1).astype(float) for a in (k, v))
    scores = q @ k.transpose(0, 1, 3, 2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    rows, keys = scores.shape[2:]
    if causal:
        scores = np.where(np.tri(rows, keys, keys - rows), scores, -np.inf)
    if window:
        scores = np.where(np.tri(rows, keys, keys - rows - window), -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def apart(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def side_by_side(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def turned(x, cos, sin, neighbours=False):
    """The first elements of heads, [.., .., .., depth], by cos and sin, which fit x but for the last extent."""
    half = cos.shape[-1]
    part, rest = x[..., :2 * half].astype(float), x[..., 2 * half:]
    a, b = (part[..., ::2], part[..., 1::2]) if neighbours else (part[..., :half], part[..., half:])
    new = a * cos - b * sin, b * cos + a * sin
    both = np.stack(new, -1).reshape(part.shape) if neighbours else np.concatenate(new, -1)
    return np.concatenate([both, rest], -1)


def group_query(q, k, v, heads, kv_heads, past=None, cos=None, sin=None, **more):
    """Rows [batch, sequence, heads * depth]; what was before lies apart by heads. Gives the rows, keys and values."""
    apart_by = [x.reshape(*x.shape[:2], n, -1) for x, n in ((q, heads), (k, kv_heads), (v, kv_heads))]
    before = past[0].shape[2] if past else 0
    if cos is not None:
        at = np.arange(before, before + q.shape[1])
        apart_by[:2] = [turned(x, cos[at][:, None], sin[at][:, None], more.pop("neighbours", False) if i else more.get("neighbours", False))
                        for i, x in enumerate(apart_by[:2])]
    q4, k4, v4 = (x.transpose(0, 2, 1, 3) for x in apart_by)
    if past:
        k4, v4 = (np.concatenate(pair, 2) for pair in zip(past, (k4, v4)))
    return [side_by_side(attention(q4, k4, v4, True, **more)), k4, v4]


def masked(q, k, v, mask, **more):
    return [attention(q, k, v, mask=mask, **more)]


def packed(numbers, bits):
    """Numbers along the last extent, several to a byte, the first in the lowest bits; a byte is filled up with zeros."""
    if bits == 8:
        return numbers
    if numbers.shape[-1] % 2:
        numbers = np.concatenate([numbers, np.zeros((*numbers.shape[:-1], 1), np.uint8)], -1)
    return numbers[..., ::2] | numbers[..., 1::2] << 4


def nbits(k, n, block, bits, zeros=False, bias=False, rows=(2, 3)):
    """A case of MatMulNBits: weights as it stores them, and the product in floating point."""
    groups = k // block
    q = random.integers(0, 1 << bits, (n, groups, block)).astype(np.uint8)
    scales = random.uniform(0.01, 0.05, (n, groups)).astype(np.float32)
    zero = random.integers(0, 1 << bits, (n, groups)).astype(np.uint8)
    x, b = real(*rows, k), real(n)
    weights = ((q.astype(float) - (zero[..., None] if zeros else 1 << bits - 1)) * scales[..., None]).reshape(n, k)
    inputs = {"x": x, "w": packed(q, bits), "s": scales.reshape(-1), "z": packed(zero, bits).reshape(-1) if zeros else None}
    if bias:
        inputs |= {"g": None, "b": b}
    return ("MatMulNBits", inputs, ["y"], {"K": k, "N": n, "block_size": block, "bits": bits}, "MatMulNBits",
            lambda: [x.astype(float) @ weights.T + (b if bias else 0)])


HQ, HK, HV = real(2, 4, 64, 32), real(2, 2, 64, 32), real(2, 2, 64, 32)
RQ, RK, RV = real(2, 48, 128), real(2, 80, 128), real(2, 80, 128)
X, SKIP, G, B, C = real(2, 4, 64), real(2, 4, 64), real(64), real(64), real(64)
P, Q, QX, QY, W = real(3, 4, 32), real(3, 16, 32), octets(4, 32), octets(4, 32), signed(32, 24)
DQ, DK, DV, PK, PV = real(2, 4, 1, 32), real(2, 2, 1, 32), real(2, 2, 1, 32), real(2, 2, 24, 32), real(2, 2, 24, 32)
MASK, KEPT = real(64, 64), random.integers(0, 3, (2, 1, 64, 64)) > 0
KEPT |= np.eye(64, dtype=bool)
ANGLES = np.outer(np.arange(100), 1 / 100 ** (np.arange(16) / 16))
COS, SIN = np.cos(ANGLES).astype(np.float32), np.sin(ANGLES).astype(np.float32)
RR, AT = real(2, 64, 128), random.integers(0, 100, (2, 64)).astype(np.int64)
GQ, GK, GV, GALL = real(2, 3, 128), real(2, 3, 64), real(2, 3, 64), real(2, 40, 256)
LAST, FULL, TOTAL = np.array([26, 26], np.int32), np.array([39, 39], np.int32), np.array([27], np.int32)


BIAS, WA, PAD = real(384), real(128, 384, low=-0.1, high=0.1), (random.integers(0, 3, (2, 80)) > 0).astype(np.int32)


def grown():
    return np.concatenate([PK, DK], 2), np.concatenate([PV, DV], 2)


def mirrored(at, size, corners):
    """The element of an image that stands for one outside."""
    while not 0 <= at < size:
        at = (-at if at < 0 else 2 * (size - 1) - at) if corners else (-1 - at if at < 0 else 2 * size - 1 - at)
    return at


def keys(distance, a=-0.75):
    """The share of an element at that distance: the cubic convolution of Keys."""
    d = abs(distance)
    return (a + 2) * d**3 - (a + 3) * d**2 + 1 if d <= 1 else a * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0


def sampled(x, grid, nearest=False, border=False, corners=False, mirror=False, cubic=False):
    """GridSample, one point after another. As in ONNX's own evaluation, a place beyond the border of the image moves onto the outermost
    elements; a cubic then looks at elements beyond these, for which the outermost ones stand."""
    n, c, h, w = x.shape
    out = np.zeros((n, c, *grid.shape[1:3]))
    for b, i, j in np.ndindex(n, *grid.shape[1:3]):
        u, v = ((p + 1) / 2 * (size - 1) if corners else ((p + 1) * size - 1) / 2 for p, size in zip(grid[b, i, j].astype(float), (w, h)))
        edge = 0 if corners or not cubic else 0.5
        if border:
            u, v = (p if -edge <= p <= size - 1 + edge else np.clip(p, 0, size - 1) for p, size in ((u, w), (v, h)))
        points = [(math.floor(u) + dx, math.floor(v) + dy, keys(u - math.floor(u) - dx) * keys(v - math.floor(v) - dy))
                  for dx in range(-1, 3) for dy in range(-1, 3)] if cubic else [(round(u), round(v), 1)] if nearest else [
            (math.floor(u) + dx, math.floor(v) + dy, (1 - abs(u - math.floor(u) - dx)) * (1 - abs(v - math.floor(v) - dy))) for dx in (0, 1) for dy in (0, 1)]
        for px, py, share in points:
            if mirror:
                px, py = mirrored(px, w, corners), mirrored(py, h, corners)
            if border:
                px, py = np.clip(px, 0, w - 1), np.clip(py, 0, h - 1)
            if 0 <= px < w and 0 <= py < h:
                out[b, :, i, j] += share * x[b, :, py, px]
    return out


def convolved(x, w, b, groups, strides, pads, dilations):
    """A convolution of three dimensions, one weight after another."""
    x = np.pad(x.astype(float), ((0, 0), (0, 0), *pads))
    sizes = [(x.shape[d + 2] - dilations[d] * (w.shape[d + 2] - 1) - 1) // strides[d] + 1 for d in range(3)]
    out = np.zeros((x.shape[0], w.shape[0], *sizes)) + b[None, :, None, None, None]
    for m, c, *at in np.ndindex(*w.shape):
        window = tuple(slice(a * d, a * d + (n - 1) * s + 1, s) for a, d, n, s in zip(at, dilations, sizes, strides))
        out[:, m] += w[(m, c, *at)] * x[(slice(None), m // (w.shape[0] // groups) * w.shape[1] + c, *window)]
    return out


def einsum(equation, *shapes):
    operands = {"x%d" % i: real(*shape) for i, shape in enumerate(shapes)}
    return ("ai.Einsum", operands, ["y"], {"equation": equation}, None, lambda: [np.einsum(equation, *operands.values())])


def grid(h, w, points, mode="bilinear", padding="zeros", corners=0):
    far = 4.5 if padding == "reflection" else 1.6 if "cubic" in mode else 1.2
    x, at = real(2, 3, h, w), real(2, *points, 2, low=-far, high=far)
    return ("ai.GridSample", {"x": x, "xg": at}, ["y"], {"mode": mode, "padding_mode": padding, "align_corners": corners}, None,
            lambda: [sampled(x, at, mode == "nearest", padding == "border", corners, padding == "reflection", "cubic" in mode)])


def body(nodes, inputs, outputs):
    """Of a Loop or a Scan."""
    kinds = {"i": T.INT64, "c": T.BOOL, "k": T.BOOL}
    infos = [[helper.make_tensor_value_info(n, kinds.get(n, T.FLOAT), None) for n in names] for names in (inputs, outputs)]
    return helper.make_graph(nodes, "body", *infos)


def loop(first, times):
    x, states = real(4, 16), []
    for i in range(times):
        states.append((states[-1] if states else x) * first + i)
    nodes = [helper.make_node("Mul", ["s", "xf"], ["t"]), helper.make_node("Cast", ["i"], ["r"], to=T.FLOAT), helper.make_node("Add", ["t", "r"], ["u"]),
             helper.make_node("Constant", [], ["l"], value_int=times - 1), helper.make_node("Less", ["i", "l"], ["k"]), helper.make_node("Identity", ["u"], ["v"])]
    return ("ai.Loop", {"n": scalar(times + 5, np.int64), "": None, "x": x, "xf": scalar(first)}, ["y", "z"],
            {"body": body(nodes, ["i", "c", "s"], ["k", "u", "v"]), "names": ["n", "", "x"]}, None, lambda: [states[-1], np.stack(states)])


def sequence():
    """A list of tensors that a loop inside of a loop fills, with places from both ends."""
    x, made = real(4, 16), helper.make_node
    fill = [made("Cast", ["i2"], ["r2"], to=T.FLOAT), made("Add", ["s", "r2"], ["t2"]), made("SequenceInsert", ["s2", "t2"], ["u2"]),
            made("Identity", ["c2"], ["k2"])]
    some = helper.make_tensor_sequence_value_info
    inner = helper.make_graph(fill, "fill", [helper.make_tensor_value_info("i2", T.INT64, []), helper.make_tensor_value_info("c2", T.BOOL, []),
                                             some("s2", T.FLOAT, None)], [helper.make_tensor_value_info("k2", T.BOOL, []), some("u2", T.FLOAT, None)])
    number = lambda name, value: made("Constant", [], [name], value_int=value)
    nodes = [made("SequenceEmpty", [], ["e"]), number("n2", 3), made("Loop", ["n2", "", "e"], ["u"], body=inner), number("p0", 0), number("p1", -2),
             made("SequenceInsert", ["u", "s", "p0"], ["w0"]), made("Identity", ["w0"], ["w"]), made("SequenceErase", ["w", "p1"], ["v"]),
             made("SequenceLength", ["v"], ["l"]), made("Cast", ["l"], ["lf"], to=T.FLOAT), made("SequenceAt", ["v", "m1"], ["a"]), made("Mul", ["a", "lf"], ["z1"]),
             made("SequenceConstruct", ["a", "z1"], ["q"]), made("ConcatFromSequence", ["q"], ["z"], axis=-1),
             made("ConcatFromSequence", ["v"], ["y1"], axis=1, new_axis=1), number("m1", -1), made("Identity", ["c"], ["k"])]
    nodes.insert(0, nodes.pop(-2))
    return ("ai.Loop", {"n": scalar(1, np.int64), "": None, "x": x}, ["y", "z", "y1"],
            {"body": body(nodes, ["i", "c", "s"], ["k", "a", "z", "y1"]), "names": ["n", "", "x"]}, None,
            lambda: [x + 2, np.concatenate([x + 2, (x + 2) * 3], -1)[None], np.stack([x, x, x + 2], 1)[None]])


V3, W3, B3 = real(2, 4, 9, 8, 7), real(6, 2, 3, 2, 3), real(6)
MAP, ROWS2, UPD = real(2, 3, 9, 11), real(40, 16), real(3, 16)
PAIRS = np.array([[[0, 1], [2, -1]], [[1, 1], [0, 0]]], np.int64)
RUN_PAIRS = np.abs(PAIRS).astype(np.int32)
PLACES3 = np.array([[1, 2, 3], [0, 1, 2], [1, 0, 0], [0, 0, 3]], np.int32)
SOME = np.array([[0.5, 0, -1, 256, 3, 1e-3, -0.0, 0.25]], np.float32)
FAR = np.full((2, 2, 3, 2), 5e4, np.float32)
FAR[1] = [[[-0.5, 0.25], [0, 1], [-3e4, 0]], [[1, 1], [-1, -1], [0.1, 7e3]]]
NDATA = real(2, 3, 4, 16)


def scattered(x, rows, updates, add):
    out = x.copy()
    out[rows] = (out[rows] if add else 0) + updates
    return out


def along(x, places, updates):
    out = x.copy()
    np.put_along_axis(out, places, updates, 1)
    return out


PLACES = random.permuted(np.tile(np.arange(16), (40, 1)), axis=1)[:, :5].astype(np.int64)
STANDARD = [
    einsum("bqhd,bkhd->bhqk", (2, 16, 3, 32), (2, 24, 3, 32)), einsum("ij,jk,kl->il", (16, 24), (24, 40), (40, 8)), einsum("bij->bji", (2, 16, 24)),
    einsum("bij->j", (2, 16, 24)), einsum("bij,bij->bi", (2, 16, 24), (2, 16, 24)), einsum("i,jk->kij", (16,), (3, 32)), einsum("bnd,d->bn", (2, 16, 32), (32,)),
    einsum("ab,cd->bc", (8, 16), (16, 24)), einsum("nchw,ck->nkhw", (2, 16, 3, 8), (16, 32)), einsum("ij,ij->ij", (16, 24), (16, 24)),
    grid(7, 9, (5, 6)), grid(7, 9, (5, 6), "nearest"), grid(8, 16, (4, 3), padding="border"), grid(8, 16, (4, 3), corners=1), grid(6, 5, (8, 8), "nearest", "border", 1),
    grid(7, 9, (6, 5), padding="reflection"), grid(8, 16, (4, 3), padding="reflection", corners=1), grid(6, 5, (8, 8), "nearest", "reflection"),
    grid(7, 9, (6, 5), "cubic"), grid(8, 16, (4, 3), "bicubic", corners=1), grid(6, 5, (9, 8), "cubic", "border"), grid(6, 5, (8, 8), "cubic", "border", 1),
    grid(7, 9, (6, 5), "cubic", "reflection"), grid(5, 2, (6, 5), "cubic", "reflection", 1),
    ("ai.Conv", {"x": V3, "w": W3, "b": B3}, ["y"], {"group": 2, "strides": [2, 1, 2], "pads": [1, 0, 2, 2, 1, 1], "dilations": [2, 1, 1]}, None,
     lambda: [convolved(V3, W3, B3, 2, (2, 1, 2), ((1, 2), (0, 1), (2, 1)), (2, 1, 1))]),
    ("ai.Pad", {"x": MAP, "p": np.array([0, 0, 2, 3, 0, 0, 1, 4])}, ["y"], {"mode": "reflect"}, None, lambda: [np.pad(MAP, ((0, 0), (0, 0), (2, 1), (3, 4)), "reflect")]),
    ("ai.Pad", {"x": MAP, "p": np.array([0, 1, 2, 3, 1, 0, 1, 9])}, ["y"], {"mode": "wrap"}, None, lambda: [np.pad(MAP, ((0, 1), (1, 0), (2, 1), (3, 9)), "wrap")]),
    ("ai.Slice", {"x": MAP, "s": np.array([-1, 10, 0]), "e": np.array([-99, 0, 2]), "a": np.array([2, 3, 0]), "t": np.array([-2, -3, 1])}, ["y"], {}, None,
     lambda: [MAP[:, :, ::-2, 10:0:-3]]),
    ("ai.Slice", {"x": MAP, "s": np.array([1, 1]), "e": np.array([9, 11]), "a": np.array([2, 3]), "t": np.array([2, 5])}, ["y"], {}, None, lambda: [MAP[:, :, 1::2, 1::5]]),
    ("ai.ScatterND", {"x": ROWS2, "i": np.array([[3], [-1], [17]]), "xu": UPD}, ["y"], {}, None, lambda: [scattered(ROWS2, [3, -1, 17], UPD, False)]),
    ("ai.ScatterND", {"x": ROWS2, "i": np.array([[3], [-1], [17]]), "xu": UPD}, ["y"], {"reduction": "add"}, None, lambda: [scattered(ROWS2, [3, -1, 17], UPD, True)]),
    ("ai.ScatterElements", {"x": ROWS2, "i": PLACES, "xu": ROWS2[:, :5] * 3}, ["y"], {"axis": 1}, None, lambda: [along(ROWS2, PLACES, ROWS2[:, :5] * 3)]),
    ("ai.GatherND", {"x": NDATA, "i": PAIRS}, ["y"], {"batch_dims": 1}, None, lambda: [np.stack([NDATA[b][tuple(PAIRS[b].T)] for b in range(2)])]),
    ("ai.GatherND", {"x": NDATA, "xi": RUN_PAIRS}, ["y"], {"batch_dims": 1}, None, lambda: [np.stack([NDATA[b][tuple(RUN_PAIRS[b].T)] for b in range(2)])]),
    ("ai.GatherND", {"x": NDATA, "xi": -PLACES3 - np.int32(0)}, ["y"], {}, None, lambda: [NDATA[tuple(np.moveaxis(-PLACES3, -1, 0))]]),
    ("ai.Cast", {"x": SOME}, ["y"], {"to": T.BOOL}, None, lambda: [SOME != 0]),
    ("ai.GridSample", {"x": MAP, "xg": FAR}, ["y"], {"align_corners": 1}, None, lambda: [sampled(MAP, FAR, corners=1)]),
    ("ai.GatherND", {"x": NDATA, "xi": PLACES3}, ["y"], {}, None, lambda: [NDATA[tuple(np.moveaxis(PLACES3, -1, 0))]]),
    ("ai.Resize", {"x": MAP, "": None, "e": None, "s": np.array([2, 3, 18, 7])}, ["y"], {"mode": "nearest", "coordinate_transformation_mode": "half_pixel"}, None,
     lambda: [MAP[:, :, np.arange(18) // 2][..., np.ceil((np.arange(7) + 0.5) * 11 / 7 - 1).astype(int)]]),
    ("ai.Resize", {"x": MAP, "": None, "e": None, "s": np.array([2, 3, 9, 5])}, ["y"], {"mode": "nearest", "coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"}, None,
     lambda: [MAP[..., np.floor((np.arange(5) + 0.5) * 11 / 5).astype(int)]]),
    ("ai.ReduceProd", {"x": MAP, "a": np.array([1, 3])}, ["y"], {"keepdims": 0}, None, lambda: [MAP.astype(float).prod((1, 3))]),
    ("ai.Atan", {"x": MAP * 9}, ["y"], {}, None, lambda: [np.arctan(MAP * 9)]),
    loop(0.5, 3), loop(-1.5, 11), sequence(),
]


# Operator, inputs (the first letter x: of the run), outputs, attributes, layers, what numpy says of each output.
CASES = [
    ("SkipLayerNormalization", {"x": X, "xs": SKIP, "g": G, "b": B, "c": C}, ["y", "", "", "s"], {"epsilon": 0.25},
     "Add Add LayerNormalization", lambda: [layer_norm(X + SKIP + C, G, B, 0.25), X + SKIP + C]),
    ("SkipLayerNormalization", {"x": X, "xs": SKIP, "g": G}, ["y"], {"epsilon": 0.25},
     "Add LayerNormalization", lambda: [layer_norm(X + SKIP, G, 0, 0.25)]),
    ("SkipSimplifiedLayerNormalization", {"x": X, "xs": SKIP, "g": G}, ["y", "", "", "s"], {"epsilon": 0.5},
     "Add RMSNormalization", lambda: [rms_norm(X + SKIP, G, 0.5), X + SKIP]),
    ("SimplifiedLayerNormalization", {"x": X, "g": G}, ["y"], {"epsilon": 0.5}, "RMSNormalization", lambda: [rms_norm(X, G, 0.5)]),
    ("BiasGelu", {"x": X, "b": B}, ["y"], {}, "Add Gelu", lambda: [erf_gelu(X + B)]),
    ("FastGelu", {"x": X, "b": B}, ["y"], {}, "Add Gelu", lambda: [tanh_gelu(X + B)]),
    ("FastGelu", {"x": X}, ["y"], {}, "Gelu", lambda: [tanh_gelu(X)]),
    ("QuickGelu", {"x": X}, ["y"], {"alpha": 1.5}, "Mul Sigmoid Mul", lambda: [X / (1 + np.exp(-1.5 * X))]),
    ("FusedMatMul", {"x": P, "xb": Q}, ["y"], {"transB": 1, "alpha": 0.125}, "Transpose MatMul Mul",
     lambda: [P @ Q.transpose(0, 2, 1) * 0.125]),
    ("FusedMatMul", {"x": P, "xb": P}, ["y"], {"transA": 1}, "Transpose MatMul", lambda: [P.transpose(0, 2, 1) @ P]),
    ("QLinearAdd", {"x": QX, "s": scalar(0.5), "z": scalar(120, np.uint8), "xb": QY, "t": scalar(0.25),
                    "u": scalar(9, np.uint8), "v": scalar(0.75), "w": scalar(128, np.uint8)}, ["y"], {},
     "DequantizeLinear DequantizeLinear Add QuantizeLinear",
     lambda: [as_octets((QX - 120.0) * 0.5 + (QY - 9.0) * 0.25, 0.75, 128)]),
    ("QLinearSigmoid", {"x": QX, "s": scalar(0.03), "z": scalar(120, np.uint8), "v": scalar(1 / 256), "w": scalar(0, np.uint8)},
     ["y"], {}, "DequantizeLinear Sigmoid QuantizeLinear", lambda: [as_octets(1 / (1 + np.exp(-(QX - 120.0) * np.float32(0.03))), 1 / 256, 0)]),
    ("MatMulIntegerToFloat", {"x": QX, "w": W, "s": scalar(0.5), "t": scalar(0.125), "z": scalar(33, np.uint8)}, ["y"], {},
     "MatMulInteger Cast Mul", lambda: [product(QX, 0.5, 33, W, 0.125, 0)]),
    ("Attention", {"x": HQ, "xk": HK, "xv": HV}, ["y"], {"is_causal": 1}, "Attention", lambda: [attention(HQ, HK, HV, True)]),
    ("Attention", {"x": RQ, "xk": RK, "xv": RV}, ["y"], {"q_num_heads": 4, "kv_num_heads": 4, "scale": 0.25}, "Attention",
     lambda: [side_by_side(attention(apart(RQ, 4), apart(RK, 4), apart(RV, 4), scale=0.25))]),
    ("MultiHeadAttention", {"x": RQ, "xk": RK, "xv": RV}, ["y"], {"num_heads": 4}, "Attention",
     lambda: [side_by_side(attention(apart(RQ, 4), apart(RK, 4), apart(RV, 4)))]),
    ("MultiHeadAttention", {"x": RQ, "xk": RK, "xv": RV, "b": BIAS, "xp": PAD}, ["y"], {"num_heads": 4}, None,
     lambda: [side_by_side(attention(apart(RQ + BIAS[:128], 4), apart(RK + BIAS[128:256], 4), apart(RV + BIAS[256:], 4), mask=PAD[:, None, None] != 0))]),
    ("MultiHeadAttention", {"x": DQ[:, :2].reshape(2, 1, 64), "xk": DK.reshape(2, 1, 64), "xv": DV.reshape(2, 1, 64), "": None, "e": None, "f": None,
                            "xp": PK, "xr": PV}, ["y", "k", "v"], {"num_heads": 2}, None,
     lambda: [side_by_side(attention(DQ[:, :2].reshape(2, 2, 1, 32), *grown())), *grown()]),
    ("com.microsoft.Attention", {"x": RQ, "w": WA, "b": BIAS}, ["y"], {"num_heads": 4, "unidirectional": 1}, None,
     lambda: [side_by_side(attention(*(apart(a, 4) for a in np.split(RQ.astype(float) @ WA + BIAS, 3, -1)), True))]),
    ("com.microsoft.Attention", {"x": RQ, "w": WA, "b": BIAS, "xp": PAD[:, :48]}, ["y"], {"num_heads": 8, "scale": 0.125}, None,
     lambda: [side_by_side(attention(*(apart(a, 8) for a in np.split(RQ.astype(float) @ WA + BIAS, 3, -1)), scale=0.125,
                                     mask=PAD[:, None, None, :48] != 0))]),
    # one query behind 24 keys, and 3 behind none; heads of 32 elements, of which all or 16 turn
    ("Attention", {"x": DQ, "xk": DK, "xv": DV, "": None, "xp": PK, "xr": PV}, ["y", "k", "v"], {"is_causal": 1}, None,
     lambda: [attention(DQ, *grown(), True), *grown()]),
    ("Attention", {"x": HQ, "xk": HK, "xv": HV, "xm": MASK}, ["y"], {}, None, lambda: masked(HQ, HK, HV, MASK)),
    ("Attention", {"x": HQ, "xk": HK, "xv": HV, "xm": KEPT}, ["y"], {"softcap": 2.0, "is_causal": 1}, None,
     lambda: masked(HQ, HK, HV, KEPT, softcap=2, causal=True)),
    ("RotaryEmbedding", {"x": HQ, "c": COS, "s": SIN, "xp": AT}, ["y"], {}, None,
     lambda: [turned(HQ, COS[AT][:, None], SIN[AT][:, None])]),
    ("RotaryEmbedding", {"x": RR, "c": COS[:, :8], "s": SIN[:, :8], "xp": AT}, ["y"],
     {"num_heads": 4, "interleaved": 1, "rotary_embedding_dim": 16}, None,
     lambda: [turned(RR.reshape(2, 64, 4, 32), COS[AT][:, :, None, :8], SIN[AT][:, :, None, :8], True).reshape(RR.shape)]),
    ("com.microsoft.RotaryEmbedding", {"x": RR, "xp": np.array([5], np.int64), "c": COS, "s": SIN}, ["y"], {}, None,
     lambda: [turned(RR.reshape(2, 64, 4, 32), COS[5:69, None], SIN[5:69, None]).reshape(RR.shape)]),
    ("GroupQueryAttention", {"x": GQ, "xk": GK, "xv": GV, "xp": PK, "xr": PV, "xl": LAST, "n": TOTAL, "c": COS, "s": SIN},
     ["y", "k", "v"], {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}, None,
     lambda: group_query(GQ, GK, GV, 4, 2, (PK, PV), COS, SIN)),
    ("GroupQueryAttention", {"x": GALL, "": None, "e": None, "f": None, "g": None, "xl": FULL, "n": TOTAL, "c": COS, "s": SIN}, ["y", "k", "v"],
     {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1, "rotary_interleaved": 1, "scale": 0.25, "local_window_size": 9}, None,
     lambda: group_query(GALL[..., :128], GALL[..., 128:192], GALL[..., 192:], 4, 2, None, COS, SIN, neighbours=True, scale=0.25, window=10)),
    ("GroupQueryAttention", {"x": GQ, "xk": GK, "xv": GV, "xp": PK, "xr": PV, "l": LAST, "n": TOTAL}, ["y", "k", "v"],
     {"num_heads": 4, "kv_num_heads": 2, "softcap": 3.0}, None, lambda: group_query(GQ, GK, GV, 4, 2, (PK, PV), softcap=3)),
    nbits(256, 96, 64, 4), nbits(192, 64, 64, 4, zeros=True, bias=True), nbits(256, 48, 128, 8, zeros=True), nbits(128, 80, 64, 8, bias=True),
    # blocks that the vendor's kernel has not
    nbits(96, 64, 32, 4), nbits(160, 40, 32, 4, zeros=True, bias=True), nbits(64, 32, 16, 8, zeros=True, rows=(5,)),
    ("DynamicQuantizeMatMul", {"x": real(4, 32), "w": W, "s": scalar(0.125), "": None, "c": real(24)}, ["y"], {},
     "DynamicQuantizeLinear MatMulInteger Cast Mul Mul Add", None),
]


def model(op, inputs, outputs, attributes, types):
    given = [helper.make_tensor_value_info(n, TYPES[str(a.dtype)], a.shape) for n, a in inputs.items() if n.startswith("x")]
    weights = [numpy_helper.from_array(a, n) for n, a in inputs.items() if a is not None and not n.startswith("x")]
    standard = op in ("Attention", "RotaryEmbedding") or op.startswith("ai.")
    names = attributes.pop("names", [name if array is not None else "" for name, array in inputs.items()])
    node = helper.make_node(op.split(".")[-1], names, outputs, name="n", domain="" if standard else "com.microsoft", **attributes)
    results = [helper.make_tensor_value_info(n, t, None) for n, t in zip(filter(None, outputs), types)]
    return helper.make_model(helper.make_graph([node], "g", given, results, weights), opset_imports=[
        helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)])


def check(op, inputs, outputs, attributes, layers, wanted):
    wanted = [dynamic(inputs["x"], W, 0.125, inputs["c"])] if wanted is None else wanted()
    path = WORK + "/contrib.onnx"
    whole = op.startswith("QLinear")
    tolerance = 4e-3 if "Attention" in op or "NBits" in op else 1e-4 # the kernels compute in fp16
    onnx.save(model(op, inputs, outputs, attributes, [T.UINT8 if whole else T.FLOAT] * 3), path)
    text = subprocess.run([VINCI, "net", "import", path], capture_output=True, text=True, check=False)
    kinds = " ".join(row.split("op=")[1].split(",")[0] for row in text.stdout.splitlines() if row.startswith("layer,"))
    problems = [] if layers in (None, kinds) else ["layers %s, expected %s; %s" % (kinds, layers, text.stderr)]
    command = [VINCI, "net", "run", path, "-s", "Ascend910B4", "--passes=none", "--memory=flat", "-q", "--values", "--output=" + WORK + "/out"]
    for name, array in inputs.items():
        if name.startswith("x"):
            np.save("%s/%s.npy" % (WORK, name), array.astype(np.uint8) if array.dtype == bool else array)
            command += ["--input", "%s=%s/%s.npy" % (name, WORK, name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        problems.append("exit code %d: %s" % (done.returncode, done.stderr))
    for name, array in zip(filter(None, outputs), wanted if not done.returncode else []):
        error = np.abs(np.load("%s/out/tensors/%s.npy" % (WORK, name)).astype(float) - array).max()
        if not error <= (0 if whole else tolerance * max(1, np.abs(array).max())):
            problems.append("%s is wrong by %g of %g" % (name, error, np.abs(array).max()))
    report("%s %s" % (op, " ".join("%s=%s" % a for a in attributes.items() if a[0] != "body")), problems)


def whole(name, nodes, inputs, weights, wanted, passes, tolerance):
    """A network of several nodes; `wanted`: its result y, or what the error says."""
    path = WORK + "/whole.onnx"
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, TYPES[str(a.dtype)], a.shape) for n, a in inputs.items()],
                              [helper.make_tensor_value_info("y", T.FLOAT, None)], [a if isinstance(a, T) else numpy_helper.from_array(a, n) for n, a in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]), path)
    command = [VINCI, "net", "run", path, "-s", "Ascend910B4", "--passes=" + passes, "--memory=flat", "-q", "--values", "--output=" + WORK + "/out"]
    for n, array in inputs.items():
        np.save("%s/%s.npy" % (WORK, n), array)
        command += ["--input", "%s=%s/%s.npy" % (n, WORK, n)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if isinstance(wanted, str):
        problem = "" if done.returncode == 3 and wanted in done.stderr else "exit code %d: %s" % (done.returncode, done.stderr)
    elif done.returncode:
        problem = "exit code %d: %s" % (done.returncode, done.stderr)
    else:
        error = np.abs(np.load(WORK + "/out/tensors/y.npy").astype(float) - wanted).max()
        problem = "" if error <= tolerance else "wrong by %g" % error
    report(name, problem)


def soft(x):
    e = np.exp(x.astype(float) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def networks():
    node = helper.make_node
    x, w = real(5, 24), real(24, 16)
    for passes in ("none", "all"):
        whole("a weight that only a kernel computes, passes %s" % passes, [node("Softmax", ["w"], ["s"]), node("MatMul", ["x", "s"], ["y"])],
              {"x": x}, {"w": w}, x @ soft(w), passes, 2e-3)
    wide, at = real(1, 2, 9, 2000), real(1, 5, 6, 2)
    whole("places in a wide image, in a network of 16 bits", [node("GridSample", ["x", "g"], ["y"])], {"x": wide, "g": at}, {},
          sampled(wide, at), "all", 2e-3)
    table, rows = real(4, 3, 16), np.array([[0, 2], [-4, -3]], np.int32)
    take = [node("GatherND", ["x", "i"], ["y"], name="n")]
    whole("indices of a run, first and last", take, {"x": table, "i": rows}, {}, table[[0, 0], [2, 0]], "none", 0)
    for wrong in ([0, 3], [4, 0], [0, -4], [-5, 2]):
        whole("indices %s of a run, outside" % wrong, take, {"x": table, "i": np.array([[0, 2], wrong], np.int32)}, {},
              'node "n": by the data, an index outside of its table', "none", 0)
    for axis, wide in ((0, '"x" has 4'), (1, "has 3")):
        whole("a row of a run outside, axis %d" % axis, [node("Gather", ["x", "i"], ["y"], name="pick", axis=axis)],
              {"x": table, "i": np.array([1, 7], np.int32)}, {}, 'node "pick": index 7 by the data, and its table %s rows' % wide, "none", 0)


INT4, UINT4, E4M3, E5M2, E2M1 = 22, 21, 17, 19, 23


def bits4(name, kind, numbers, listed=False):
    """A tensor of numbers of 4 bits, whose bytes do not begin anew with a row."""
    content = packed((numbers.reshape(1, -1) & 15).astype(np.uint8), 4).tobytes()
    return T(name=name, data_type=kind, dims=numbers.shape, **{"int32_data": list(content)} if listed else {"raw_data": content})


def of_fp8(code, exponent, bias):
    """A number of 8 bits with a sign, bits of exponent, and the others of mantissa."""
    mantissa = 7 - exponent
    sign, e, m = -1 if code & 128 else 1, code >> mantissa & (1 << exponent) - 1, code & (1 << mantissa) - 1
    return sign * (m / 2.0 ** mantissa * 2.0 ** (1 - bias) if e == 0 else (1 + m / 2.0 ** mantissa) * 2.0 ** (e - bias))


def quantised():
    node, block, k, n = helper.make_node, 16, 64, 45
    x, product = real(5, k), node("MatMul", ["x", "d"], ["y"])
    scales = random.uniform(0.01, 0.1, (k // block, n)).astype(np.float32)
    wide = np.repeat(scales, block, 0)
    blocks = [node("DequantizeLinear", ["w", "s", "z"], ["d"], axis=0, block_size=block), product]
    for name, kind, low in (("int4", INT4, -8), ("uint4", UINT4, 0)):
        q, z = random.integers(low, low + 16, (k, n)), random.integers(low, low + 16, (k // block, n))
        for passes in ("none", "all"):
            whole("weights of %s with scales of blocks, passes %s" % (name, passes), blocks, {"x": x},
                  {"w": bits4("w", kind, q), "s": scales, "z": bits4("z", kind, z)}, x @ ((q - np.repeat(z, block, 0)) * wide), passes, 2e-2)
    whole("weights of int4 with scales of an axis, as a list", [node("DequantizeLinear", ["w", "s"], ["d"], axis=-1), product], {"x": x},
          {"w": bits4("w", INT4, q - 8, True), "s": scales[0]}, x @ ((q - 8) * scales[0]), "none", 1e-4)
    q = random.integers(0, 16, (k, n))
    half = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    whole("weights of four bits of floating point", [node("DequantizeLinear", ["w", "s"], ["d"], axis=0, block_size=block), product], {"x": x},
          {"w": bits4("w", E2M1, q), "s": scales}, x @ (np.where(q > 7, -1, 1) * half[q & 7] * wide), "none", 1e-4)
    codes = random.integers(0, 120, (k, n)).astype(np.uint8) ^ random.integers(0, 2, (k, n)).astype(np.uint8) * 128
    for name, kind, exponent, bias in (("E4M3", E4M3, 4, 7), ("E5M2", E5M2, 5, 15)):
        numbers = np.vectorize(of_fp8)(codes.astype(int), exponent, bias)
        whole("weights of fp8 %s" % name, [node("DequantizeLinear", ["w", "s"], ["d"]), product], {"x": x},
              {"w": T(name="w", data_type=kind, dims=[k, n], raw_data=codes.tobytes()), "s": np.array(2.0 ** -12, np.float32)},
              x @ (numbers * 2.0 ** -12), "none", 1e-3)
    far, steps = real(4, 64, 3, low=-3, high=3), random.uniform(0.02, 0.05, (4, 4, 3)).astype(np.float32)
    ends = [node(op, [a, "s", "z"], [b], axis=1, block_size=16) for op, a, b in (("QuantizeLinear", "x", "q"), ("DequantizeLinear", "q", "y"))]
    for kind in (np.int8, np.uint8):
        zero, all_steps = random.integers(0, 9, (4, 4, 3)).astype(kind), np.repeat(steps, 16, 1)
        limits, zeros = np.iinfo(kind), np.repeat(zero.astype(int), 16, 1)
        bytes_ = np.clip(np.rint(far / all_steps) + zeros, limits.min, limits.max)
        for passes in ("none", "all"):
            whole("blocks of a run in %s, passes %s" % (np.dtype(kind), passes), ends, {"x": far}, {"s": steps, "z": zero}, (bytes_ - zeros) * all_steps,
                  passes, 4e-3)
    nodes_before_and_after()
    results_of_4_bits(far, ends)
    whole("blocks that are not whole", [node("DequantizeLinear", ["w", "s"], ["y"], axis=0, block_size=7)], {"x": x},
          {"w": bits4("w", INT4, q - 8), "s": scales}, "4x45 scales for blocks of 7 along axis 0 of 64x45; whole blocks are possible", "none", 0)


def results_of_4_bits(x, blocks):
    """A run computes them one to a byte: with scales of blocks, of all and of an axis, halves to even, saturated, with and without zero points."""
    node, steps = helper.make_node, random.uniform(0.2, 0.5, (4, 4, 3)).astype(np.float32)
    for name, kind, low in (("int4", INT4, -8), ("uint4", UINT4, 0)):
        z, wide = random.integers(low, low + 16, (4, 4, 3)), np.repeat(steps, 16, 1)
        zeros = np.repeat(z, 16, 1)
        numbers = np.clip(np.rint(x / wide) + zeros, low, low + 15)
        for passes in ("none", "all"):
            whole("blocks of a run in %s, passes %s" % (name, passes), blocks, {"x": x}, {"s": steps, "z": bits4("z", kind, z)}, (numbers - zeros) * wide,
                  passes, 4e-3)
        halves = np.arange(-40, 41, dtype=np.float32).reshape(3, 27) / 4
        half, zero = np.array(0.5, np.float32), bits4("z", kind, np.array(low + 9))
        whole("a result of %s, with a zero point" % name, [node("QuantizeLinear", ["x", "s", "z"], ["y"])], {"x": halves}, {"s": half, "z": zero},
              np.clip(np.rint(halves / half) + low + 9, low, low + 15), "none", 0)
        rows = np.array([0.25, 0.5, 1], np.float32)
        whole("%s of a run, moved and read" % name, [node("QuantizeLinear", ["x", "s"], ["q"], axis=0, output_dtype=kind), node("Transpose", ["q"], ["t"]),
              node("DequantizeLinear", ["t", "s"], ["y"], axis=1)], {"x": halves}, {"s": rows},
              (np.clip(np.rint(halves / rows[:, None]), low, low + 15) * rows[:, None]).T, "none", 1e-3)


def nodes_before_and_after():
    """Constants of 4 bits that other operators read than DequantizeLinear, with an odd number of elements."""
    node, x, half = helper.make_node, real(5, 9), np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    for name, kind, low in (("int4", INT4, -8), ("uint4", UINT4, 0), ("E2M1", E2M1, 0)):
        q = random.integers(low, low + 16, (9, 7))
        numbers = np.where(q > 7, -1, 1) * half[q & 7] if kind == E2M1 else q
        weights = {"w": bits4("w", kind, q), "s": np.array(0.5, np.float32), "k": np.array([9, 7])}
        turned = dict(weights, w=bits4("w", kind, q.T))
        flat = dict(weights, w=bits4("w", kind, q.reshape(63)))
        ends = [node("DequantizeLinear", ["t", "s"], ["d"]), node("MatMul", ["x", "d"], ["y"])]
        whole("a Cast of %s" % name, [node("Cast", ["w"], ["d"], to=T.FLOAT), ends[1]], {"x": x}, weights, x @ numbers, "none", 1e-3)
        whole("a Transpose of %s" % name, [node("Transpose", ["w"], ["t"])] + ends, {"x": x}, turned, x @ numbers * 0.5, "none", 1e-3)
        whole("a Reshape of %s" % name, [node("Reshape", ["w", "k"], ["t"])] + ends, {"x": x}, flat, x @ numbers * 0.5, "none", 1e-3)
    grid = np.array([[-9, 0.25, 0.75, 1.25, 2.5, 3.5, 5, 7, -0.5]], np.float32)
    whole("a Cast to E2M1 and back", [node("Cast", ["f"], ["e"], to=E2M1), node("Cast", ["e"], ["d"], to=T.FLOAT), node("Add", ["x", "d"], ["y"])],
          {"x": x}, {"f": grid}, x + np.array([-6, 0, 1, 1, 2, 4, 4, 6, -0.5]), "none", 1e-5)
    whole("a result of int4", [node("Transpose", ["w"], ["y"])], {}, {"w": bits4("w", INT4, q - 8)}, q.T - 8, "none", 0)
    wide, q = real(2, 301), random.integers(-8, 8, (301, 219))
    whole("a Cast of 65,919 numbers", [node("Cast", ["w"], ["d"], to=T.FLOAT), node("MatMul", ["x", "d"], ["y"])], {"x": wide},
          {"w": bits4("w", INT4, q)}, wide @ q, "none", 1e-2)
    whole("a Transpose of 65,919 numbers", [node("Transpose", ["w"], ["t"], name="turn"), node("Cast", ["t"], ["d"], to=T.FLOAT), node("MatMul", ["x", "d"], ["y"])],
          {"x": wide}, {"w": bits4("w", INT4, q.T)}, 'node "turn" (Transpose): its input "w" is int4 with 65919 elements', "none", 0)


plan(len(CASES) + len(STANDARD) + 44)
for case in CASES + STANDARD:
    check(*case)
networks()
quantised()
