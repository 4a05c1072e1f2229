# SPDX-License-Identifier: Apache-2.0
"""
What operators of the open library compute, for library_values.py: inputs, attributes, and the function in numpy.

An input is a word: NAME, or NAME@LOW:HIGH for a range of numbers (-3 to 3 if not said), NAME@TYPE:LOW:HIGH for another
type than that of the run, NAME@bool, NAME=TYPE:V,V for values that the tiling reads. /AxB behind it is a shape.
"""

import math

import numpy as np

OPERATORS = {}
# Not a multiple of 32 bytes, and more than one block of any tiling's smallest part.
ELEMENTS = (5000,)
ROWS = (24, 333)


def parse(word, shape):
    word, _, own = word.partition("/")
    if own:
        shape = tuple(map(int, own.split("x")))
    name, _, values = word.partition("=")
    if values:
        kind, _, values = values.partition(":")
        values = [float(v) if kind.startswith("fp") else int(v) for v in values.split(",")]
        return {"name": name, "dtype": kind, "values": values, "shape": shape if own else (len(values),)}
    name, _, limits = word.partition("@")
    spec = {"name": name, "shape": shape, "low": -3.0, "high": 3.0}
    parts = limits.split(":") if limits else []
    if parts and parts[0].isalnum() and not parts[0].isdigit():
        spec["dtype"] = parts.pop(0)
    if parts:
        kind = int if "dtype" in spec else float
        spec["low"], spec["high"] = kind(parts[0]), kind(parts[1])
    return spec


def add(name, inputs, function, attributes="", outputs="y", shape=ELEMENTS, wider=1):
    """wider: how many times the tolerance of the type, where sums of many or differences of near numbers are rounded."""
    OPERATORS[name] = {"inputs": [parse(word, shape) for word in inputs.split()], "function": function,
                       "attributes": attributes.split(), "outputs": outputs.split(), "wider": wider}


# ---- functions that numpy lacks ----

erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def phi(x):
    return 0.5 * (1 + erf(x / math.sqrt(2)))


def density(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def integral(function, low, high):
    """By Gauss and Legendre with 60 points, of smooth functions."""
    half = ((high - low) / 2)[..., None]
    return (half * WEIGHTS * function(low[..., None] + half * (1 + NODES))).sum(-1)


def inverse_erf(y):
    x = np.zeros_like(y)
    for _ in range(60):
        x -= (erf(x) - y) * math.sqrt(math.pi) / 2 * np.exp(np.minimum(x * x, 8))
    return x


def bessel(x, order):
    t = (np.arange(400) + 0.5) * math.pi / 400
    return (np.exp(x[..., None] * np.cos(t) - np.abs(x)[..., None]) * np.cos(order * t)).mean(-1)


def gelu_tanh(x):
    return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))


def slope(function, x, step=1e-5):
    return (function(x + step) - function(x - step)) / (2 * step)


def exponential_integral(x):
    total, term = np.euler_gamma + np.log(np.abs(x)), np.ones_like(x)
    for k in range(1, 80):
        term = term * x / k
        total = total + term / k
    return total


# ---- elements: one input ----

for name, inputs, function in (
        ("Abs", "x", np.abs), ("Acos", "x@-1:1", np.arccos), ("Acosh", "x@1.1:9", np.arccosh),
        ("Asin", "x@-1:1", np.arcsin), ("Asinh", "x", np.arcsinh), ("Atan", "x", np.arctan),
        ("Atanh", "x@-0.9:0.9", np.arctanh), ("BesselI0e", "x", lambda x: bessel(x, 0)),
        ("BesselI1e", "x", lambda x: bessel(x, 1)), ("Ceil", "x", np.ceil), ("Cos", "x", np.cos),
        ("Cosh", "x", np.cosh), ("Dawsn", "x", lambda x: integral(lambda t: np.exp(t * t - (x * x)[..., None]), 0 * x, x)),
        ("Erf", "x", erf), ("Erfc", "x", erfc), ("Exp", "x", np.exp), ("Expint", "x@0.3:3", exponential_integral),
        ("Expm1", "x", np.expm1), ("Floor", "x", np.floor),
        ("FresnelCos", "x", lambda x: integral(lambda t: np.cos(math.pi * t * t / 2), 0 * x, x)),
        ("FresnelSin", "x", lambda x: integral(lambda t: np.sin(math.pi * t * t / 2), 0 * x, x)),
        ("Inv", "x@0.3:3", lambda x: 1 / x), ("Log", "x@0.1:9", np.log), ("Log1p", "x@-0.9:9", np.log1p),
        ("Ndtri", "x@0.05:0.95", lambda x: math.sqrt(2) * inverse_erf(2 * x - 1)), ("Neg", "x", np.negative),
        ("OnesLike", "x", np.ones_like), ("Reciprocal", "x@0.3:3", lambda x: 1 / x), ("Rint", "x", np.rint),
        ("Round", "x", np.rint), ("Rsqrt", "x@0.1:9", lambda x: x ** -0.5), ("Sign", "x", np.sign), ("Sin", "x", np.sin),
        ("Sinc", "x", np.sinc), ("Sinh", "x", np.sinh),
        ("Spence", "x@0.3:3", lambda x: integral(lambda t: np.log(t) / (1 - t), np.full_like(x, 1 + 1e-12), x)),
        ("Sqrt", "x@0:9", np.sqrt), ("Square", "x", np.square), ("Tan", "x@-1.4:1.4", np.tan), ("Tanh", "x", np.tanh),
        ("BNLL", "x", softplus), ("Celu", "x", lambda x: np.where(x > 0, x, np.expm1(x))),
        ("Elu", "x", lambda x: np.where(x > 0, x, np.expm1(x))), ("Erfinv", "x@-0.9:0.9", inverse_erf),
        ("FastGelu", "x", lambda x: x * sigmoid(1.702 * x)), ("Gelu", "x", gelu_tanh), ("GeluV2", "x", lambda x: x * phi(x)),
        ("HardSwish", "x@-5:5", lambda x: x * np.clip(x + 3, 0, 6) / 6), ("LogSigmoid", "x", lambda x: -softplus(-x)),
        ("Mish", "x", lambda x: x * np.tanh(softplus(x))), ("Relu", "x", lambda x: np.maximum(x, 0)),
        ("Relu6", "x@-3:9", lambda x: np.clip(x, 0, 6)), ("Relu6D", "x@-3:9", lambda x: np.clip(x, 0, 6)),
        ("Selu", "x", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))),
        ("Sigmoid", "x", sigmoid), ("Softplus", "x", softplus), ("SoftplusV2", "x", softplus),
        ("Softsign", "x", lambda x: x / (1 + np.abs(x))), ("Swish", "x", lambda x: x * sigmoid(x)),
        ("TensorMove", "x", lambda x: x), ("ZerosLike", "x", np.zeros_like)):
    add(name, inputs, function)

add("Adds", "x", lambda x: x + 1.5, "value=1.5")
add("Muls", "x", lambda x: x * -2.5, "value=-2.5")
add("Fills", "x", lambda x: np.full_like(x, 0.75), "value=0.75")
add("Power", "x@0.2:2", lambda x: (1.5 * x + 0.25) ** 2.5, "power=2.5 scale=1.5 shift=0.25", wider=2)
add("NanToNum", "x", lambda x: x, "nan=1 posinf=2 neginf=3")
add("Trunc", "input_x", np.trunc, outputs="output_y")
add("CeluV2", "x", lambda x: np.where(x > 0, x, 1.5 * np.expm1(x / 1.5)), "alpha=1.5")
add("HardShrink", "self", lambda x: np.where(np.abs(x) > 0.75, x, 0), "lambd=0.75", "out")
add("HardSigmoid", "input_x@-5:5", lambda x: np.clip(x / 6 + 0.5, 0, 1), outputs="output_y")
add("LeakyRelu", "x", lambda x: np.where(x > 0, x, 0.2 * x), "negative_slope=0.2")
add("Shrink", "input_x", lambda x: np.where(x > 0.75, x - 0.25, np.where(x < -0.75, x + 0.25, 0)), "lambd=0.75 bias=0.25",
    "output_y")
add("Softshrink", "x", lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.75, 0), "lambd=0.75")
add("Threshold", "x", lambda x: x > 0.5, "threshold=0.5")
for name, function in (("IsFinite", np.isfinite), ("IsNan", np.isnan), ("IsPosInf", np.isposinf), ("IsNegInf", np.isneginf),
                       ("Signbit", np.signbit)):
    add(name, "x", function, outputs="y::bool")
add("LogicalNot", "x@bool", np.logical_not, outputs="y::bool")
add("Invert", "x@int32:-99:99", np.invert, outputs="y::int32")

# ---- elements: several inputs ----

for name, inputs, function in (
        ("Add", "x1 x2", np.add), ("AddV2", "x1 x2", np.add), ("Sub", "x1 x2", np.subtract), ("Mul", "x1 x2", np.multiply),
        ("Div", "x1 x2@0.5:3", np.divide), ("RealDiv", "x1 x2@0.5:3", np.divide),
        ("DivNoNan", "x1 x2@0.5:3", np.divide), ("MulNoNan", "x1 x2", np.multiply), ("Maximum", "x1 x2", np.maximum),
        ("Minimum", "x1 x2", np.minimum), ("Atan2", "x1 x2", np.arctan2), ("FloorDiv", "x1 x2@0.5:3", np.floor_divide),
        ("FloorMod", "x1 x2@0.5:3", np.mod), ("Mod", "x1 x2@0.5:3", np.fmod), ("TruncateMod", "x1 x2@0.5:3", np.fmod),
        ("TruncateDiv", "x1 x2@0.5:3", lambda a, b: np.trunc(a / b)), ("Pow", "x1@0.2:2 x2", np.power),
        ("SquaredDifference", "x1 x2", lambda a, b: (a - b) ** 2), ("Xdivy", "x1 x2@0.5:3", np.divide),
        ("Xlogy", "x1 x2@0.1:3", lambda a, b: a * np.log(b)),
        ("LogAddExp", "x1 x2", np.logaddexp), ("FusedMulAdd", "x1 x2 x3", lambda a, b, c: a * b + c),
        ("FusedMulAddAdd", "x1 x2 x3 x4", lambda a, b, c, d: a * b + c + d),
        ("FusedMulAddN", "x1 x2 x3/1", lambda a, b, c: a * c + b),
        ("Lerp", "start end weight", lambda a, b, w: a + w * (b - a)),
        ("Addcdiv", "input_data x1 x2@0.5:3 value/1", lambda x, a, b, v: x + v * a / b),
        ("Addcmul", "input_data x1 x2 value/1", lambda x, a, b, v: x + v * a * b),
        ("AxpyV2", "x1 x2 alpha/1", lambda a, b, v: a + v * b),
        ("SelectV2", "condition@bool x1 x2", np.where), ("Select", "condition@bool x1 x2", np.where),
        ("MaskedFill", "x mask@bool value/1", lambda x, m, v: np.where(m, v, x)),
        ("ClipByValueV2", "x clip_value_min@-1:0/1 clip_value_max@1:2/1", np.clip),
        ("ClipByValue", "x clip_value_min@-1:0/1 clip_value_max@1:2/1", np.clip),
        ("InvGrad", "x grad", lambda x, g: -g * x * x),
        ("PRelu", "x weight/1", lambda x, w: np.where(x > 0, x, w * x)),
        ("EluGrad", "grads activations@-0.9:3", lambda g, a: np.where(a > 0, g, g * (a + 1))),
        ("EluGradV2", "grads activations", lambda g, x: np.where(x > 0, g, g * np.exp(x))),
        ("HardtanhGrad", "result grad", lambda r, g: np.where((r > -1) & (r < 1), g, 0)),
        ("SwishGrad", "grad x y", lambda g, x, y: g * (y + sigmoid(x) * (1 - y))),
        ("HardSigmoidGrad", "grads input_x@-5:5", lambda g, x: np.where(np.abs(x) < 3, g / 6, 0))):
    add(name, inputs, function)

for name, function in (
        ("AbsGrad", lambda y, d: d * np.sign(y)),
        ("AsinhGrad", lambda y, d: d / np.cosh(y)), ("AtanGrad", lambda y, d: d / (1 + y * y)),
        ("TanhGrad", lambda y, d: d * (1 - y * y)), ("SigmoidGrad", lambda y, d: d * y * (1 - y)),
        ("RsqrtGrad", lambda y, d: -0.5 * d * y ** 3), ("SqrtGrad", lambda y, d: 0.5 * d / y)):
    add(name, "y@0.3:2 dy", function, outputs="z")
for name, function in (("AcosGrad", lambda y, d: -d / np.sqrt(1 - y * y)), ("AsinGrad", lambda y, d: d / np.sqrt(1 - y * y))):
    add(name, "y@-0.9:0.9 dy", function, outputs="z")
add("AcoshGrad", "y@1.1:4 dy", lambda y, d: d / np.sqrt(y * y - 1), outputs="z")
add("Xlog1py", "x y@-0.5:3", lambda a, b: a * np.log1p(b), outputs="z")
add("Axpy", "x1 x2", lambda a, b: a + 1.5 * b, "alpha=1.5")
add("FastGeluGrad", "dy x", lambda d, x: d * slope(lambda v: v * sigmoid(1.702 * v), x), outputs="z")
add("GeluGradV2", "dy x", lambda d, x: d * (phi(x) + x * density(x)), outputs="z")
add("GeluGrad", "dy x y", lambda d, x, y: d * slope(gelu_tanh, x), outputs="z")
add("SiluGrad", "dy x", lambda d, x: d * slope(lambda v: v * sigmoid(v), x), outputs="dx")
add("MishGrad", "grad x", lambda g, x: g * slope(lambda v: v * np.tanh(softplus(v)), x), outputs="x_grad")
add("HardSwishGrad", "grad_output self@-5:5", lambda g, x: g * np.where(x < -3, 0, np.where(x > 3, 1, x / 3 + 0.5)),
    outputs="grad_input")
add("HardSwishGradV2", "gradOutput self@-5:5", lambda g, x: g * np.where(x < -3, 0, np.where(x > 3, 1, x / 3 + 0.5)),
    outputs="out")
add("SoftShrinkGrad", "input_grad input_x", lambda g, x: np.where(np.abs(x) > 0.5, g, 0), outputs="output_y")
add("HardShrinkGrad", "gradients features", lambda g, x: np.where(np.abs(x) > 0.5, g, 0), outputs="backprops")
add("ThresholdGradV2D", "gradOutput self", lambda g, x: np.where(x > 1, g, 0), outputs="out")
add("ThresholdV2", "x threshold/1 value/1", lambda x, t, v: np.where(x > t, x, v))
add("SoftsignGrad", "gradients features", lambda g, x: g / (1 + np.abs(x)) ** 2, outputs="output")
add("SoftplusV2Grad", "input_gradients input_features", lambda g, x: g * sigmoid(x), outputs="output_backprops")
for name, function, attributes in (
        ("LeakyReluGrad", lambda g, x: np.where(x > 0, g, 0.2 * g), "negative_slope=0.2"),
        ("ReluGrad", lambda g, x: np.where(x > 0, g, 0), ""),
        ("Relu6Grad", lambda g, x: np.where((x > 0) & (x < 6), g, 0), ""),
        ("SoftplusGrad", lambda g, x: g * sigmoid(x), "")):
    add(name, "gradients features", function, attributes, "backprops")
add("LogSigmoidGrad", "grads features", lambda g, x: g * sigmoid(-x), outputs="backprops")
add("FusedBiasLeakyRelu", "x bias", lambda x, b: 1.25 * np.where(x + b > 0, x + b, 0.2 * (x + b)),
    "negative_slope=0.2 scale=1.25")
for name, function in (("Equal", np.equal), ("NotEqual", np.not_equal), ("Greater", np.greater), ("Less", np.less),
                       ("GreaterEqual", np.greater_equal), ("LessEqual", np.less_equal)):
    add(name, "x1 x2", function, outputs="y::bool")
add("ApproximateEqual", "x1 x2", lambda a, b: np.abs(a - b) < 0.5, "tolerance=0.5", "y::bool")
add("LogicalAnd", "x1@bool x2@bool", np.logical_and, outputs="y::bool")
add("LogicalOr", "x1@bool x2@bool", np.logical_or, outputs="y::bool")
for name, function in (("BitwiseAnd", np.bitwise_and), ("BitwiseOr", np.bitwise_or), ("BitwiseXor", np.bitwise_xor)):
    add(name, "x1@int32:-9999:9999 x2@int32:-9999:9999", function, outputs="y::int32")
add("Gcd", "x1@int32:1:999 x2@int32:1:999", np.gcd, outputs="y::int32")
add("MaskedScale", "x mask@uint8:0:2", lambda x, m: x * m * 1.25, "value=1.25")
add("SigmoidCrossEntropyWithLogits", "predict target@0:1", lambda x, t: np.maximum(x, 0) - x * t + np.log1p(np.exp(-abs(x))),
    outputs="loss")
add("SigmoidCrossEntropyWithLogitsGrad", "predict target@0:1 dout", lambda x, t, d: (sigmoid(x) - t) * d, outputs="gradient")
add("SmoothL1Loss", "predict label", lambda a, b: np.where(abs(a - b) < 1, 0.5 * (a - b) ** 2, abs(a - b) - 0.5),
    outputs="loss")
add("SmoothL1LossGrad", "predict label dout", lambda a, b, d: np.clip(a - b, -1, 1) * d, outputs="gradient")
add("L1LossGrad", "grads predict label", lambda g, a, b: g * np.sign(a - b), "reduction=none")
add("MseLossGrad", "predict label dout", lambda a, b, d: 2 * (a - b) * d, "reduction=none")
add("MseLoss", "predict label", lambda a, b: (a - b) ** 2, "reduction=none")
add("SoftMarginLoss", "self target", lambda x, t: np.log1p(np.exp(-t * x)), "reduction=none", "loss", wider=2)
add("BinaryCrossEntropy", "x@0.05:0.95 y@0:1", lambda x, t: -(t * np.log(x) + (1 - t) * np.log(1 - x)), "reduction=none",
    "output")
add("ApplyGradientDescent", "var alpha/1 delta", lambda v, a, d: v - a * d, outputs="var")

# ---- reductions of rows ----

REDUCED = "x axes=int64:1"
for name, function in (
        ("ReduceSum", lambda x: x.sum(-1)), ("ReduceMean", lambda x: x.mean(-1)), ("ReduceMax", lambda x: x.max(-1)),
        ("ReduceMin", lambda x: x.min(-1)), ("ReduceNansum", lambda x: x.sum(-1)),
        ("EuclideanNorm", lambda x: np.sqrt((x * x).sum(-1))), ("ReduceLogSumExp", lambda x: np.log(np.exp(x).sum(-1)))):
    add(name, REDUCED, lambda x, axes, function=function: function(x), shape=ROWS, wider=10)
add("ReduceProd", "x@0.98:1.02 axes=int64:1", lambda x, axes: x.prod(-1), shape=ROWS, wider=2)
add("ReduceLogSum", "x@0.1:1 axes=int64:1", lambda x, axes: np.log(x.sum(-1)), shape=ROWS)
add("ReduceAll", "x@bool/24x5 axes=int64:1", lambda x, axes: x.all(-1), outputs="y::bool")
add("ReduceAny", "x@bool/24x2 axes=int64:1", lambda x, axes: x.any(-1), outputs="y::bool")
add("ReduceVar", "x", lambda x: (x.var(-1, ddof=1), x.mean(-1)), "dim=1 correction=1", "var mean", ROWS, 2)
add("ReduceStdV2", "x", lambda x: (x.std(-1, ddof=1), x.mean(-1)), "dim=1 correction=1", "std mean", ROWS, 2)
add("SquareSumV1", "x", lambda x: (x * x).sum(-1), "axis=1", shape=ROWS, wider=10)
add("SquareSumAll", "x1@-1:1 x2@-1:1", lambda a, b: ((a * a).sum(), (b * b).sum()), outputs="y1 y2", wider=10)
add("L2Loss", "x@-1:1", lambda x: (x * x).sum() / 2, wider=10)
add("LpNormV2", "x", lambda x: np.sqrt((x * x).sum(-1)), "p=2 axes=1", shape=ROWS, wider=10)

# ---- norms and softmax of rows ----


def moments(x):
    return x.mean(-1, keepdims=True), 1 / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def layer_norm(x, gamma, beta):
    mean, root = moments(x)
    return (x - mean) * root * gamma + beta, mean, root


def rms_norm(x, gamma):
    root = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    return x * root * gamma, root


def deep_norm(x, other, beta, gamma):
    mean, root = moments(0.5 * x + other)
    return mean, root, (0.5 * x + other - mean) * root * gamma + beta


add("RmsNorm", "x gamma/333", rms_norm, outputs="y rstd::fp32", shape=ROWS)
add("AddRmsNorm", "x1 x2 gamma/333", lambda a, b, g: (*rms_norm(a + b, g), a + b), outputs="y rstd::fp32 x", shape=ROWS)
add("LayerNormV3", "x gamma/333 beta/333", layer_norm, "begin_norm_axis=1 begin_params_axis=1", "y mean rstd", ROWS, 2)
add("LayerNorm", "x gamma/333 beta/333", lambda x, g, b: (layer_norm(x, g, b)[0], moments(x)[0], x.var(-1, keepdims=True)),
    "begin_norm_axis=1 begin_params_axis=1 epsilon=1e-5", "y mean variance", ROWS, 2)
add("LayerNormV4", "x normalized_shape=int64:333 gamma/333 beta/333", lambda x, n, g, b: layer_norm(x, g, b)[0],
    "epsilon=1e-5", shape=ROWS, wider=2)
add("AddLayerNorm", "x1 x2 gamma/333 beta/333", lambda a, b, g, c: layer_norm(a + b, g, c)[0], "epsilon=1e-5", shape=ROWS,
    wider=2)
add("DeepNorm", "x gx beta/333 gamma/333", deep_norm, "alpha=0.5 epsilon=1e-5", "mean::fp32 rstd::fp32 y", ROWS, 2)
add("SoftmaxV2", "x", softmax, "axes=-1", shape=ROWS)
add("LogSoftmaxV2", "logits", lambda x: np.log(softmax(x)), "axes=-1", "logsoftmax", ROWS)
add("SoftmaxGrad", "softmax@0:1 grad_softmax", lambda s, g: s * (g - (g * s).sum(-1, keepdims=True)), "axes=-1", "grad_x",
    ROWS, 10)
add("LogSoftmaxGrad", "grad x@-6:-4", lambda g, x: g - np.exp(x) * g.sum(-1, keepdims=True), "axis=-1", shape=ROWS, wider=4)
add("ConfusionSoftmaxGrad", "grad x@0:0.1", lambda g, x: g - (g * x).sum(-1, keepdims=True), shape=ROWS, wider=4)
add("SwiGlu", "x/24x512", lambda x: x[:, :256] * sigmoid(x[:, :256]) * x[:, 256:], "dim=-1", wider=2)

# ---- shapes ----

add("Tril", "x", lambda x: np.tril(x, 1), "diagonal=1", shape=(40, 70))
add("Triu", "x", lambda x: np.triu(x, 1), "diagonal=1", shape=(40, 70))
add("Transpose", "x perm=int64:1,0", lambda x, perm: x.T, shape=(40, 70))
add("BroadcastTo", "x/1x70 shape=int64:40,70", lambda x, shape: np.broadcast_to(x, (40, 70)))
add("Tile", "x multiples=int64:2,3", lambda x, m: np.tile(x, (2, 3)), shape=(20, 70))
