# SPDX-License-Identifier: Apache-2.0
"""Networks of layers against numpy: recurrent layers, or layers alone and each pass where it applies, with it and without.

    layers.py VINCI FOLDER recurrent|passes

References are computed in double precision from the definitions of ONNX.
"""
import math
import os
import subprocess
import sys

import numpy as np

from tap import plan, report

VINCI, FOLDER = sys.argv[1:3]
SOC = ["-s", "Ascend910B4"]
KINDS = {"fp16": np.float16, "fp32": np.float32}
SLOW = ["--set", "hbm.bandwidth=100GB/s", "--set", "launch.base=1ns", "--set", "launch.per_cluster=0ns",
        "--set", "code.first_cycles=0"]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Net:
    """A graph of layers that grows, its arrays, and what numpy computes of them."""

    def __init__(self, name, dtype="fp16", seed=1):
        self.name, self.dtype, self.random = name, dtype, np.random.default_rng(seed)
        self.rows, self.layers, self.given, self.wanted = [], [], {}, {}

    def tensor(self, name, shape, io="local", extra="", dtype=None):
        self.rows.append("tensor,name=%s,dtype=%s,shape=%s,io=%s%s" % (
            name, dtype or self.dtype, "x".join(map(str, shape)), io, extra))

    def array(self, name, shape, low=-1.0, high=1.0, io="weight"):
        """An input or weight of random numbers; returns them in double precision, as rounded."""
        self.tensor(name, shape, io)
        self.given[name] = self.random.uniform(low, high, shape).astype(KINDS[self.dtype])
        return self.given[name].astype(np.float64)

    def number(self, name, value, dtype=None):
        self.tensor(name, (1,), "weight", ",values=%r" % value, dtype)

    def integers(self, name, dtype, shape, low, high, io="weight"):
        """The same of whole numbers from low to high - 1."""
        self.tensor(name, shape, io, dtype=dtype)
        self.given[name] = self.random.integers(low, high, shape).astype(dtype)
        return self.given[name].astype(np.float64)

    def layer(self, op, inputs, outputs, args="", **shapes):
        for output in outputs.split():
            if output != "-" and output in shapes:
                self.tensor(output, shapes[output], "out" if output in self.wanted else "local")
        self.layers.append("layer,name=l%d,op=%s,in=%s,out=%s%s" % (
            len(self.layers), op, inputs, outputs, ",args=" + args if args else ""))

    def write(self):
        for name, array in self.given.items():
            np.save(os.path.join(FOLDER, name + ".npy"), array)
        path = os.path.join(FOLDER, self.name + ".csv")
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(["graph,version=1"] + self.rows + self.layers) + "\n")
        return path

    def run(self, passes, options=()):
        """Results by name, and problems."""
        folder = os.path.join(FOLDER, "out")
        command = [VINCI, "net", "run", self.write(), "--passes=" + passes, "--memory=flat", "--repeat=1", "-q",
                   "--values", "--output=" + folder, *SOC, *options]
        for name in self.given:
            command += ["--input", "%s=%s/%s.npy" % (name, FOLDER, name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return {}, ["exit code %d: %s" % (done.returncode, done.stderr.strip())]
        return {name: np.load("%s/tensors/%s.npy" % (folder, name)) for name in self.wanted}, []

    def problems(self, passes, tolerance, options=()):
        """Problems of results by these passes."""
        results, problems = self.run(passes, options)
        for name, result in results.items():
            wanted = self.wanted[name]
            if result.shape != wanted.shape:
                problems.append("%s has shape %s, not %s" % (name, result.shape, wanted.shape))
                continue
            error = np.abs(result.astype(np.float64) - wanted).max()
            if not error <= tolerance * max(1.0, np.abs(wanted).max()):
                problems.append("%s, passes %s: wrong by %g of %g" % (name, passes, error, np.abs(wanted).max()))
        return problems

    def changed(self, name, options=()):
        """Places that a pass changed."""
        done = subprocess.run([VINCI, "net", "compile", self.write(), "-o", os.path.join(FOLDER, "kernels.csv"), *SOC,
                               *options], capture_output=True, text=True, check=False)
        rows = [line.split() for line in done.stdout.splitlines()]
        return sum(int(row[1]) for row in rows if row and row[0] == name)


# ---- recurrent layers ------------------------------------------------------------------------------

T, B, I, H = 5, 3, 32, 16


def lstm_cell(gates, h, c):
    i, o, f, g = np.split(gates, 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def recurrent(op, direction, given):
    """A layer with distinct weights, biases and initial states for each direction."""
    gates, ways = (4 if op == "LSTM" else 3), (2 if direction == "bidirectional" else 1)
    net = Net("recurrent")
    x = net.array("x", (T, B, I), io="in")
    w = net.array("w", (ways, gates * H, I), -0.4, 0.4)
    r = net.array("r", (ways, gates * H, H), -0.6, 0.6)
    b = net.array("b", (ways, 2 * gates * H)) if given else np.zeros((ways, 2 * gates * H))
    h0, c0 = np.zeros((ways, B, H)), np.zeros((ways, B, H))
    if given:
        h0 = net.array("h0", (ways, B, H), -1, 1, "in")
        c0 = net.array("c0", (ways, B, H), -2, 2, "in") if op == "LSTM" else c0
    y, last_h, last_c = np.zeros((T, ways, B, H)), np.zeros((ways, B, H)), np.zeros((ways, B, H))
    for d in range(ways):
        h, c = h0[d], c0[d]
        bw, br = b[d, :gates * H], b[d, gates * H:]
        back = d == 1 or direction == "reverse"
        for t in reversed(range(T)) if back else range(T):
            if op == "LSTM":
                h, c = lstm_cell(x[t] @ w[d].T + h @ r[d].T + bw + br, h, c)
            else:
                zx, rx, nx = np.split(x[t] @ w[d].T + bw, 3, -1)
                zh, rh, nh = np.split(h @ r[d].T + br, 3, -1)
                update = sigmoid(zx + zh)
                h = (1 - update) * np.tanh(nx + sigmoid(rx + rh) * nh) + update * h
            y[t, d] = h
        last_h[d], last_c[d] = h, c
    net.wanted = {"y": y, "yh": last_h}
    outputs, shapes = "y yh", {"y": y.shape, "yh": last_h.shape}
    if op == "LSTM":
        net.wanted["yc"] = shapes["yc"] = last_c
        outputs, shapes["yc"] = "y yh yc", last_c.shape
    inputs = "x w r b - h0" + (" c0" if op == "LSTM" else "") if given else "x w r"
    args = "hidden_size=%d direction=%s" % (H, direction) + (" linear_before_reset=1" if op == "GRU" else "")
    net.layer(op, inputs, outputs, args, **shapes)
    return net


def check_recurrent():
    for op in ("LSTM", "GRU"):
        for direction in ("forward", "reverse", "bidirectional"):
            problems = recurrent(op, direction, True).problems("none", 5e-3)
            if direction == "bidirectional":
                problems += recurrent(op, direction, False).problems("all", 5e-3)
            report("%s, %s: all states, from given and from zero ones" % (op, direction), problems)


# ---- layers alone: those that no model of the ONNX project runs (tests/networks/test_onnx_values.c) -------------------

def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def gauss(x):
    """The distribution of normal numbers."""
    return 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


def grouped(x, scale, shift):
    groups = x.reshape(2, 4, -1)
    normal = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 0.25)
    return normal.reshape(x.shape) * scale.reshape(1, 8, 1, 1) + shift.reshape(1, 8, 1, 1)


ROWS, MAPS, NUMBERS = [(6, 64)], [(2, 8, 4, 16), (8,), (8,)], [(6, 64), (64,), (64,)]
ALONE = [("CumSum", "axis=0", ROWS, lambda x: np.cumsum(x, 0)),
         ("CumSum", "axis=1 reverse=1 exclusive=1", ROWS, lambda x: np.cumsum(x[:, ::-1], 1)[:, ::-1] - x),
         ("Gelu", "", ROWS, lambda x: x * gauss(x)),
         ("Gelu", "approximate=tanh", ROWS, lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
         ("Mish", "", ROWS, lambda x: x * np.tanh(softplus(x))),
         ("Silu", "", ROWS, lambda x: x * sigmoid(x)),
         ("GroupNormalization", "groups=4 epsilon=0.25", MAPS, grouped),
         ("LayerNormalization", "axis=1 epsilon=0.25", NUMBERS,
          lambda x, g, b: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 0.25) * g + b),
         ("RMSNormalization", "axis=1 epsilon=0.25", NUMBERS[:2],
          lambda x, g: x / np.sqrt((x * x).mean(-1, keepdims=True) + 0.25) * g)]


def check_alone():
    for op, args, shapes, compute in ALONE:
        net = Net("alone", "fp32")
        inputs = [net.array("i%d" % i, shape, -3, 3, "weight" if i else "in") for i, shape in enumerate(shapes)]
        net.wanted["y"] = compute(*inputs)
        net.layer(op, " ".join("i%d" % i for i in range(len(inputs))), "y", args, y=shapes[0])
        report(" ".join(filter(None, [op, args])) + ": what numpy says", net.problems("none", 1e-4))


# ---- bytes -----------------------------------------------------------------------------------------

def as_bytes(real, scale, zero, low):
    return np.clip(np.rint(real / scale) + zero, low, low + 255)


def real_conv(net):
    """Operands of a convolution: bytes with a zero point, weights with a scale for each channel, a bias."""
    x, w = net.integers("x", "uint8", (2, 6, 9, 7), 0, 256, "in"), net.integers("w", "int8", (20, 6, 3, 3), -128, 128)
    scales, bias = net.array("ws", (20,), 0.001, 0.004), net.integers("b", "int32", (20,), -9000, 9000)
    net.number("xs", 0.0625)
    net.number("xz", 107, "uint8")
    scale = 0.0625 * scales.reshape(1, -1, 1, 1)
    return (conv(x - 107, w) + bias.reshape(1, -1, 1, 1)) * scale


BYTES = ((-128, "int8", -3), (0, "uint8", 130))


def check_bytes():
    for low, dtype, zero in BYTES:
        net = Net("bytes", "fp32")
        real = real_conv(net)
        net.number("ys", 0.75)
        net.number("yz", zero, dtype)
        net.tensor("y", real.shape, "out", dtype=dtype)
        net.wanted["y"] = as_bytes(real, 0.75, zero, low)
        net.layer("QLinearConv", "x xs xz w ws - ys yz b", "y", THREE)
        report("QLinearConv to %s: what numpy says, to the last bit" % dtype, net.problems("none", 0))


def dequantised_conv():
    """A convolution between layers that make numbers of bytes, and one that makes bytes of numbers."""
    net = Net("dequantised_conv", "fp32")
    real = real_conv(net)
    net.array("bscale", (20,))
    net.given["bscale"] = (net.given["ws"] * np.float32(0.0625)).astype(np.float32)
    net.wanted["y"] = real
    net.layer("DequantizeLinear", "x xs xz", "xr", xr=(2, 6, 9, 7))
    net.layer("DequantizeLinear", "w ws", "wr", "axis=0", wr=(20, 6, 3, 3))
    net.layer("DequantizeLinear", "b bscale", "br", "axis=0", br=(20,))
    net.layer("Conv", "xr wr br", "y", THREE, y=real.shape)
    return net


def dequantised_product():
    """A product of rows whose scale and zero point the run computes, as dynamic quantisation has."""
    net = Net("dequantised_product", "fp32")
    x, w = net.array("x", (3, 5, 48), -2, 5, "in"), net.integers("w", "int8", (48, 40), -128, 128)
    net.number("ws", 0.01)
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = (high - low) / 255
    zero = np.clip(np.rint(-low / scale), 0, 255)
    net.wanted["y"] = (as_bytes(x, scale, zero, 0) - zero) @ w * (scale * 0.01)
    net.tensor("q", x.shape, dtype="uint8")
    net.tensor("qs", (1,))
    net.tensor("qz", (1,), dtype="uint8")
    net.tensor("sums", (3, 5, 40), dtype="int32")
    net.layer("DynamicQuantizeLinear", "x", "q qs qz")
    net.layer("MatMulInteger", "q w qz", "sums")
    net.layer("Cast", "sums", "real", "to=fp32", real=(3, 5, 40))
    net.layer("Mul", "qs ws", "scale", scale=(1,))
    net.layer("Mul", "real scale", "y", y=(3, 5, 40))
    return net


def few_digits(net, name, shape, low):
    """Scales whose fraction has 3 bits: products of them are what the fixpipe can hold."""
    net.tensor(name, shape, "weight", dtype="fp32")
    net.given[name] = (net.random.integers(5, 8, shape) * 2.0 ** low).astype(np.float32)
    return net.given[name].astype(np.float64)


class Quantised:
    """A network of bytes that grows: real numbers, as they are after each layer, by the names of its tensors."""

    def __init__(self, name, low, zero):
        self.net, self.low, self.zero, self.count = Net(name, "fp32"), low, zero, 0
        self.dtype = "int8" if low else "uint8"
        self.net.number("z", zero, self.dtype)

    def bytes(self, name, real, scale):
        """Bytes of a tensor and the numbers that they stand for; returns these and their name."""
        net, n = self.net, self.count
        self.count += 1
        net.number("s%d" % n, scale)
        net.tensor("q%d" % n, real.shape, dtype=self.dtype)
        net.layer("QuantizeLinear", "%s s%d z" % (name, n), "q%d" % n)
        net.layer("DequantizeLinear", "q%d s%d z" % (n, n), "d%d" % n, **{"d%d" % n: real.shape})
        return (as_bytes(real, scale, self.zero, self.low) - self.zero) * scale, "d%d" % n

    def weights(self, shape, x_scale, low):
        """Weights and a bias of bytes, with scales for each channel of the result, the first of `shape` or, of a
        matrix, the last; returns both as numbers, and their names."""
        net, n = self.net, self.count
        self.count += 1
        axis = 0 if len(shape) > 2 else 1
        k = shape[axis]
        w = net.integers("w%d" % n, "int8", shape, -128, 128)
        b = net.integers("b%d" % n, "int32", (k,), -900, 900)
        scales = few_digits(net, "ws%d" % n, (k,), low)
        net.tensor("bs%d" % n, (k,), "weight", dtype="fp32")
        net.given["bs%d" % n] = (scales * x_scale).astype(np.float32)
        net.layer("DequantizeLinear", "w%d ws%d" % (n, n), "wr%d" % n, "axis=%d" % axis, **{"wr%d" % n: shape})
        net.layer("DequantizeLinear", "b%d bs%d" % (n, n), "br%d" % n, "axis=0", **{"br%d" % n: (k,)})
        each = scales.reshape([-1 if d == axis else 1 for d in range(len(shape))])
        return w * each, b * scales * x_scale, "wr%d br%d" % (n, n)


def requantised(low, zero):
    """Convolutions, ReLU and a sum between bytes; at the end a convolution whose result stays real."""
    own = Quantised("requantised", low, zero)
    net = own.net
    x = net.array("x", (2, 6, 9, 7), -4, 5, "in")
    first, d = own.bytes("x", x, 0.0625)
    w, b, names = own.weights((40, 6, 3, 3), 0.0625, -12)
    c = conv(first, w, b)
    net.layer("Conv", d + " " + names, "c", THREE, c=c.shape)
    net.layer("Relu", "c", "r", r=c.shape)
    middle, e = own.bytes("r", np.maximum(c, 0), 0.125)
    w, b, names = own.weights((40, 40, 1, 1), 0.125, -12)
    p = conv(middle, w, b, ((0, 0), (0, 0)))
    net.layer("Conv", e + " " + names, "p", ONE, p=p.shape)
    second, f = own.bytes("p", p, 0.125)
    t = second + middle
    net.layer("Add", f + " " + e, "t", t=t.shape)
    net.layer("Relu", "t", "u", u=t.shape)
    # No sum lies in the middle of two bytes: an odd zero point would make the other (GRAPH.md).
    third, g = own.bytes("u", np.maximum(t, 0), 0.1875)
    w, b, names = own.weights((5, 40, 3, 3), 0.1875, -14)
    net.wanted["y"] = conv(third, w, b)
    net.layer("Conv", g + " " + names, "y", THREE, y=net.wanted["y"].shape)
    return net


def requantised_products():
    """Matrix products between bytes, ReLU between, the last one to real numbers."""
    own = Quantised("products", -128, 3)
    net = own.net
    first, d = own.bytes("x", net.array("x", (15, 48), -4, 4, "in"), 0.0625)
    w, b, names = own.weights((48, 40), 0.0625, -12)
    h = first @ w + b
    net.layer("Gemm", d + " " + names, "h", "alpha=1 beta=1 trans_a=0 trans_b=0", h=h.shape)
    net.layer("Relu", "h", "r", r=h.shape)
    middle, e = own.bytes("r", np.maximum(h, 0), 0.125)
    w, b, names = own.weights((40, 72), 0.125, -12)
    net.wanted["y"] = middle @ w
    net.layer("MatMul", e + " " + names.split()[0], "y", y=net.wanted["y"].shape)
    return net


def rounded(positive):
    """A convolution of bytes whose scale the run computes, and of weights with a zero point."""
    net = Net("rounded", "fp32")
    x, w = net.array("x", (2, 16, 9, 7), -2, 5, "in"), net.integers("w", "uint8", (20, 16, 3, 3), 0, 256)
    net.number("ws", 0.0078125)
    net.number("wz", 143, "uint8")
    source = "x"
    if positive:
        x, source = np.maximum(x, 0), "r"
        net.layer("Relu", "x", "r", r=x.shape)
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = (high - low) / 255
    zero = np.clip(np.rint(-low / scale), 0, 255)
    net.wanted["y"] = conv((as_bytes(x, scale, zero, 0) - zero) * scale, (w - 143) * 0.0078125)
    net.tensor("q", x.shape, dtype="uint8")
    net.tensor("qs", (1,))
    net.tensor("qz", (1,), dtype="uint8")
    net.tensor("sums", net.wanted["y"].shape, dtype="int32")
    net.layer("DynamicQuantizeLinear", source, "q qs qz")
    net.layer("ConvInteger", "q w qz wz", "sums", THREE)
    net.layer("Cast", "sums", "real", "to=fp32", real=net.wanted["y"].shape)
    net.layer("Mul", "qs ws", "scale", scale=(1,))
    net.layer("Mul", "real scale", "y", y=net.wanted["y"].shape)
    return net


# ---- passes ----------------------------------------------------------------------------------------

def conv(x, w, b=None, pads=((1, 1), (1, 1))):
    x = np.pad(x, ((0, 0), (0, 0), *pads))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    y = np.einsum("nchwij,kcij->nkhw", windows, w)
    return y if b is None else y + b.reshape(1, -1, 1, 1)


THREE = "kernel=3x3 strides=1x1 pads=1x1x1x1 dilations=1x1 group=1"
ONE = "kernel=1x1 strides=1x1 pads=0x0x0x0 dilations=1x1 group=1"


def norm_of(net, x, channels, epsilon):
    scale, shift = net.array("scale", (channels,), 0.5, 2), net.array("shift", (channels,), -3, 3)
    mean, var = net.array("mean", (channels,), -3, 3), net.array("var", (channels,), 0.25, 4)
    row = [a.reshape(1, -1, 1, 1) for a in (scale, shift, mean, var)]
    return (x - row[2]) / np.sqrt(row[3] + epsilon) * row[0] + row[1]


def folded(kind):
    """A batch norm behind a convolution with a bias or without; a factor and a summand of channels."""
    net = Net("fold", "fp32")
    x, w = net.array("x", (2, 16, 9, 7), io="in"), net.array("w", (20, 16, 3, 3), -0.3, 0.3)
    b = None if kind == "norm" else net.array("b", (20,), -3, 3)
    c = conv(x, w, b)
    if kind == "affine":
        factor, summand = net.array("f", (1, 20, 1, 1), -2, 2), net.array("s", (20, 1, 1), -3, 3)
        net.wanted["y"] = c * factor + summand
    else: # an epsilon that counts
        net.wanted["y"] = norm_of(net, c, 20, 0.5)
    net.layer("Conv", "x w" if b is None else "x w b", "c", THREE, c=c.shape)
    if kind == "affine":
        net.layer("Mul", "c f", "m", m=c.shape)
        net.layer("Add", "m s", "y", y=c.shape)
    else:
        net.layer("BatchNormalization", "c scale shift mean var", "y", "epsilon=0.5", y=c.shape)
    return net


def taken_apart():
    """x * sigmoid(x), and a layer norm of nodes."""
    net = Net("patterns", "fp32")
    x = net.array("x", (6, 64), -3, 3, "in")
    scale, shift = net.array("g", (64,), 0.5, 2), net.array("s", (64,), -2, 2)
    gated = x * sigmoid(x)
    moved = gated - gated.mean(-1, keepdims=True)
    net.wanted["y"] = moved / np.sqrt((moved**2).mean(-1, keepdims=True) + 0.25) * scale + shift
    whole, one = x.shape, (6, 1)
    net.number("two", 2.0)
    net.number("eps", 0.25)
    net.layer("Sigmoid", "x", "sx", sx=whole)
    net.layer("Mul", "x sx", "q", q=whole)
    net.layer("ReduceMean", "q", "mean", "axes=1 keepdims=1", mean=one)
    net.layer("Sub", "q mean", "moved", moved=whole)
    net.layer("Pow", "moved two", "square", square=whole)
    net.layer("ReduceMean", "square", "var", "axes=1 keepdims=1", var=one)
    net.layer("Add", "var eps", "sum", sum=one)
    net.layer("Sqrt", "sum", "root", root=one)
    net.layer("Div", "moved root", "unit", unit=whole)
    net.layer("Mul", "unit g", "scaled", scaled=whole)
    net.layer("Add", "scaled s", "y", y=whole)
    return net


def attended():
    """What becomes the layer "Attention"."""
    net = Net("attention")
    q, k, v = [net.array(n, (1, 4, 512, 64), io="in") for n in "qkv"]
    net.number("scale", 0.125)
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) * 0.125
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    net.wanted["y"] = weights / weights.sum(-1, keepdims=True) @ v
    shape = (1, 4, 512, 512)
    net.layer("Transpose", "k", "kt", "perm=0x1x3x2", kt=(1, 4, 64, 512))
    net.layer("MatMul", "q kt", "p", p=shape)
    net.layer("Mul", "p scale", "m", m=shape)
    net.layer("Softmax", "m", "a", "axis=3", a=shape)
    net.layer("MatMul", "a v", "y", y=q.shape)
    return net


def convolved():
    """3x3 with ReLU, 1x1, and a sum with what came before."""
    net = Net("conv")
    x, w1 = net.array("x", (2, 32, 16, 16), io="in"), net.array("w1", (32, 32, 3, 3), -0.1, 0.1)
    b1, w2 = net.array("b1", (32,), -2, 2), net.array("w2", (32, 32, 1, 1), -0.3, 0.3)
    c = np.maximum(conv(x, w1, b1), 0)
    p = conv(c, w2, None, ((0, 0), (0, 0)))
    net.wanted["y"] = np.maximum(p + c, 0)
    net.layer("Conv", "x w1 b1", "c", THREE, c=c.shape)
    net.layer("Relu", "c", "r", r=c.shape)
    net.layer("Conv", "r w2", "p", ONE, p=c.shape)
    net.layer("Add", "p r", "t", t=c.shape)
    net.layer("Relu", "t", "y", y=c.shape)
    return net


def one_conv(n, c, h, k, kernel):
    """A convolution that is faster as one product, or by Winograd's method."""
    net = Net("conv%d" % kernel)
    x, pad = net.array("x", (n, c, h, h), io="in"), kernel // 2
    y = conv(x, net.array("w", (k, c, kernel, kernel), -0.1, 0.1), None, ((pad, pad), (pad, pad)))
    net.wanted["y"] = y
    net.layer("Conv", "x w", "y", THREE if kernel == 3 else ONE, y=y.shape)
    return net


def beside():
    """Three products of one matrix; distinct weights and biases."""
    net = Net("beside")
    x, total = net.array("x", (64, 128), io="in"), 0
    for i in range(3):
        w, b = net.array("w%d" % i, (128, 128), -0.2, 0.2), net.array("b%d" % i, (128,), -2, 2)
        total = total * 0.5 + np.tanh(x @ w + b) if i else np.tanh(x @ w + b)
    net.wanted["y"] = total
    net.number("half", 0.5)
    for i in range(3):
        net.layer("Gemm", "x w%d b%d" % (i, i), "p%d" % i, "alpha=1 beta=1 trans_a=0 trans_b=0", **{"p%d" % i: (64, 128)})
    last = None
    for i in range(3):
        t = "t%d" % i
        net.layer("Tanh", "p%d" % i, t, **{t: (64, 128)})
        if last:
            m, s = "m%d" % i, "y" if i == 2 else "s%d" % i
            net.layer("Mul", last + " half", m, **{m: (64, 128)})
            net.layer("Add", m + " " + t, s, **{s: (64, 128)})
            t = s
        last = t
    return net


def parted():
    """More rows than a small L2 holds; sigmoid between two products."""
    net = Net("split")
    x, w1 = net.array("x", (2055, 64), io="in"), net.array("w1", (64, 512), -0.2, 0.2)
    w2 = net.array("w2", (512, 64), -0.1, 0.1)
    g = sigmoid(x @ w1)
    net.wanted["y"] = g @ w2
    net.layer("MatMul", "x w1", "h", h=g.shape)
    net.layer("Sigmoid", "h", "g", g=g.shape)
    net.layer("MatMul", "g w2", "y", y=x.shape)
    return net


def waiting():
    """A tensor that waits for a late reader, while softmaxes need room for two."""
    net = Net("waiting")
    x = net.array("x", (64, 512), -2, 2, "in")

    def softmax(a):
        e = np.exp(a - a.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def columns(a):
        e = np.exp(a - a.max(0, keepdims=True))
        return e / e.sum(0, keepdims=True)

    early = sigmoid(x)
    net.wanted["y"] = softmax(columns(softmax(early))) * 100 + early
    net.number("hundred", 100.0)
    for op, source, name, args in [("Sigmoid", "x", "e", ""), ("Softmax", "e", "s0", "axis=1"), ("Softmax", "s0", "s1", "axis=0"),
                                   ("Softmax", "s1", "s2", "axis=1"), ("Mul", "s2 hundred", "s3", ""), ("Add", "s3 e", "y", "")]:
        net.layer(op, source, name, args, **{name: x.shape})
    return net


# A slow cube, so that fewer products pay.
WINOGRAD = ["--winograd", "--set", "cube.fp16_cycles=200"]
LIMIT = ["--memory-limit", "290KiB"]
SMALL = SLOW + ["--set", "l2.size=512KiB"]
CASES = [("fold", lambda: folded("norm"), 4e-3, []), ("fold", lambda: folded("norm and bias"), 4e-3, []),
         ("fold", lambda: folded("affine"), 4e-3, []), ("patterns", taken_apart, 4e-3, []), ("dtype", taken_apart, 4e-3, []),
         ("attention", attended, 4e-3, []), ("epilogue", convolved, 4e-3, []), ("algorithm", lambda: one_conv(4, 256, 28, 32, 1), 4e-3, []),
         ("algorithm", lambda: one_conv(2, 64, 16, 64, 3), 8e-3, WINOGRAD),
         ("layout", convolved, 4e-3, []), ("residual", convolved, 4e-3, []), ("horizontal", beside, 4e-3, []),
         ("quantised", dequantised_conv, 4e-3, []), ("quantised", dequantised_product, 4e-3, []),
         ("quantised", lambda: rounded(False), 8e-3, []), ("quantised", lambda: rounded(True), 8e-3, []),
         ("requantised", lambda: requantised(-128, -3), 8e-3, []), ("requantised", lambda: requantised(0, 0), 8e-3, []),
         ("requantised", lambda: requantised(0, 130), 8e-3, []), ("requantised", requantised_products, 8e-3, []),
         ("chain", beside, 4e-3, []), ("in-place", waiting, 4e-3, []), ("split", parted, 4e-3, SMALL),
         ("recompute", waiting, 4e-3, LIMIT), ("swap", waiting, 4e-3, LIMIT)]


def check_passes():
    for name, make, tolerance, options in CASES:
        net = make()
        rest = "-swap" if name == "recompute" else "-recompute" if name == "swap" else "all"
        problems = [] if net.changed(name, options + ["--passes=" + rest]) else ["pass %s changes nothing" % name]
        problems += net.problems(rest, tolerance, options)
        without = [] if options is LIMIT else options
        problems += net.problems("-recompute,-swap" if options is LIMIT else "-" + name, tolerance, without)
        report("%s: with the pass and without, %s is what numpy says" % (name, net.name), problems)


def main():
    recurrent_ones = sys.argv[3] == "recurrent"
    plan(6 if recurrent_ones else len(ALONE) + len(BYTES) + len(CASES))
    if recurrent_ones:
        check_recurrent()
    else:
        check_alone()
        check_bytes()
        check_passes()


if __name__ == "__main__":
    main()
