# SPDX-License-Identifier: Apache-2.0
"""Operators of com.microsoft and Attention: values against numpy, and the layers that they are. Usage: WORK VINCI

The definitions are those of ONNX Runtime's list of contributed operators, written here once more.
"""
import math
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper

WORK, VINCI = sys.argv[1:3]
TYPES = {"float32": T.FLOAT, "uint8": T.UINT8, "int8": T.INT8}
random = np.random.default_rng(3)
number = 0


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


def attention(q, k, v, causal=False, scale=None):
    """[batch, heads, sequence, depth] each, with as many heads of keys, or a part of them."""
    k, v = (np.repeat(a, q.shape[1] // a.shape[1], 1).astype(float) for a in (k, v))
    scores = q @ k.transpose(0, 1, 3, 2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if causal:
        scores = np.where(np.tri(*scores.shape[2:]), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def apart(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def side_by_side(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


HQ, HK, HV = real(2, 4, 64, 32), real(2, 2, 64, 32), real(2, 2, 64, 32)
RQ, RK, RV = real(2, 48, 128), real(2, 80, 128), real(2, 80, 128)
X, SKIP, G, B, C = real(2, 4, 64), real(2, 4, 64), real(64), real(64), real(64)
P, Q, QX, QY, W = real(3, 4, 32), real(3, 16, 32), octets(4, 32), octets(4, 32), signed(32, 24)
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
    ("DynamicQuantizeMatMul", {"x": real(4, 32), "w": W, "s": scalar(0.125), "": None, "c": real(24)}, ["y"], {},
     "DynamicQuantizeLinear MatMulInteger Cast Mul Mul Add", None),
]


def model(op, inputs, outputs, attributes, types):
    given = [helper.make_tensor_value_info(n, TYPES[str(a.dtype)], a.shape) for n, a in inputs.items() if n.startswith("x")]
    weights = [numpy_helper.from_array(a, n) for n, a in inputs.items() if n and not n.startswith("x")]
    node = helper.make_node(op, list(inputs), outputs, name="n", domain="" if op == "Attention" else "com.microsoft", **attributes)
    results = [helper.make_tensor_value_info(n, t, None) for n, t in zip(filter(None, outputs), types)]
    return helper.make_model(helper.make_graph([node], "g", given, results, weights), opset_imports=[
        helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)])


def check(op, inputs, outputs, attributes, layers, wanted):
    global number
    number += 1
    wanted = [dynamic(inputs["x"], W, 0.125, inputs["c"])] if wanted is None else wanted()
    path = WORK + "/contrib.onnx"
    whole = op.startswith("QLinear")
    tolerance = 4e-3 if "Attention" in op else 1e-4 # the kernel computes in fp16
    onnx.save(model(op, inputs, outputs, attributes, [T.UINT8 if whole else T.FLOAT] * 2), path)
    text = subprocess.run([VINCI, "net", "import", path], capture_output=True, text=True, check=False)
    kinds = " ".join(row.split("op=")[1].split(",")[0] for row in text.stdout.splitlines() if row.startswith("layer,"))
    problems = [] if kinds == layers else ["layers %s, expected %s; %s" % (kinds, layers, text.stderr)]
    command = [VINCI, "net", "run", path, "-s", "Ascend910B4", "--passes=none", "--memory=flat", "-q", "--values", "--output=" + WORK + "/out"]
    for name, array in inputs.items():
        if name.startswith("x"):
            np.save("%s/%s.npy" % (WORK, name), array)
            command += ["--input", "%s=%s/%s.npy" % (name, WORK, name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        problems.append("exit code %d: %s" % (done.returncode, done.stderr))
    for name, array in zip(filter(None, outputs), wanted if not done.returncode else []):
        error = np.abs(np.load("%s/out/tensors/%s.npy" % (WORK, name)).astype(float) - array).max()
        if not error <= (0 if whole else tolerance * max(1, np.abs(array).max())):
            problems.append("%s is wrong by %g of %g" % (name, error, np.abs(array).max()))
    print("%sok %d - %s %s" % ("not " if problems else "", number, op, " ".join("%s=%s" % a for a in attributes.items())))
    for problem in problems:
        print("# " + problem.replace("\n", "\n# "))


print("1..%d" % len(CASES))
for case in CASES:
    check(*case)
