# SPDX-License-Identifier: Apache-2.0
"""Windows of ONNX models against numpy: pads that are asked for by name, extents rounded up, strides, dilations.

    onnx_windows.py WORK VINCI

Each window is visited element by element, as the definition says: what lies outside of the tensor is a zero of a
convolution, and is not there for a pool.
"""
import os
import subprocess
import sys

import numpy as np
from onnx import TensorProto as T, helper, numpy_helper

from tap import plan, report

WORK, VINCI = sys.argv[1:3]


def pads_of(extent, kernel, stride, dilation, automatic, pads):
    """Before and behind."""
    total = max((-(-extent // stride) - 1) * stride + (kernel - 1) * dilation + 1 - extent, 0)
    return {"SAME_UPPER": (total // 2, total - total // 2), "SAME_LOWER": (total - total // 2, total // 2),
            "VALID": (0, 0), "NOTSET": pads}[automatic]


def extent_of(extent, kernel, stride, dilation, pads, ceil):
    room = extent + sum(pads) - (kernel - 1) * dilation - 1
    count = -(-room // stride) + 1 if ceil else room // stride + 1
    while (count - 1) * stride >= extent + pads[0]: # a window begins in the tensor or before
        count -= 1
    return count


def windows(x, case):
    """For each place of the result the elements that are there, [n, c, k], and where they stand in the window."""
    kernel, strides, dilations = case["kernel"], case["strides"], case["dilations"]
    pads = [pads_of(x.shape[d + 2], kernel[d], strides[d], dilations[d], case["auto_pad"], case["pads"][d]) for d in range(2)]
    counts = [extent_of(x.shape[d + 2], kernel[d], strides[d], dilations[d], pads[d], case["ceil"]) for d in range(2)]
    lists = [[[(k, i * strides[d] + k * dilations[d] - pads[d][0]) for k in range(kernel[d])
               if 0 <= i * strides[d] + k * dilations[d] - pads[d][0] < x.shape[d + 2]] for i in range(counts[d])] for d in range(2)]
    for i, rows in enumerate(lists[0]):
        for j, columns in enumerate(lists[1]):
            inside = [(a, b, r, c) for a, r in rows for b, c in columns]
            yield i, j, counts, np.stack([x[:, :, r, c] for _, _, r, c in inside], -1), [(a, b) for a, b, _, _ in inside]


def expected(op, x, w, case):
    y = None
    for i, j, counts, elements, places in windows(x, case):
        if y is None:
            y = np.zeros((x.shape[0], w.shape[0] if op == "Conv" else x.shape[1], *counts))
        if op == "Conv":
            taps = np.stack([w[:, :, a, b] for a, b in places], -1)
            y[:, :, i, j] = np.einsum("nck,ock->no", elements, taps)
        else:
            y[:, :, i, j] = elements.max(-1) if op == "MaxPool" else elements.mean(-1)
    return y


def run(op, shape, case):
    """Problems of one model."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, shape).astype(np.float32)
    w = rng.uniform(-1, 1, (16, shape[1], *case["kernel"])).astype(np.float32)
    y = expected(op, x.astype(np.float64), w.astype(np.float64), case)
    attributes = {"kernel_shape": case["kernel"], "strides": case["strides"], "auto_pad": case["auto_pad"]}
    if op != "AveragePool":
        attributes["dilations"] = case["dilations"]
    if case["auto_pad"] == "NOTSET":
        attributes["pads"] = [case["pads"][0][0], case["pads"][1][0], case["pads"][0][1], case["pads"][1][1]]
    if op != "Conv":
        attributes["ceil_mode"] = int(case["ceil"])
    node = helper.make_node(op, ["x", "w"] if op == "Conv" else ["x"], ["y"], **attributes)
    graph = helper.make_graph([node], "window", [helper.make_tensor_value_info("x", T.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", T.FLOAT, None)],
                              [numpy_helper.from_array(w, "w")] if op == "Conv" else [])
    path, given, wanted = [os.path.join(WORK, name) for name in ("window.onnx", "x.npy", "y.npy")]
    with open(path, "wb") as out:
        out.write(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    np.save(given, x)
    np.save(wanted, y.astype(np.float32))
    done = subprocess.run([VINCI, "net", "run", path, "-s", "Ascend910B4", "--memory=flat", "--repeat=1", "-q", "--passes=none",
                           "--input=x=" + given, "--expect=y=" + wanted, "--atol=0.03"], capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else ["%s %s: %s" % (op, case, done.stderr.strip())]


def case(kernel, strides, automatic="NOTSET", pads=((0, 0), (0, 0)), dilations=(1, 1), ceil=False):
    return {"kernel": list(kernel), "strides": list(strides), "auto_pad": automatic, "pads": pads, "dilations": list(dilations),
            "ceil": ceil}


def main():
    # Extents of which the odd pad of one side and the last window of the other differ from what is next to them.
    tests = [("pads of the same extent, more before or more behind",
              [(op, case(kernel, strides, automatic)) for automatic in ("SAME_LOWER", "SAME_UPPER") for op in ("Conv", "MaxPool")
               for kernel, strides in (((2, 2), (1, 1)), ((4, 3), (1, 2)))]),
             ("no pads, and given ones that differ by side",
              [("Conv", case((3, 2), (2, 1), "VALID")), ("Conv", case((3, 3), (1, 2), pads=((2, 0), (0, 1)))),
               ("Conv", case((3, 3), (1, 1), pads=((1, 2), (2, 1)), dilations=(2, 1)))]),
             ("extents rounded up, and down",
              [(op, case((3, 2), (2, 3), pads=((0, 0), (0, 0)), ceil=ceil)) for op in ("MaxPool", "AveragePool") for ceil in (True, False)]),
             ("a last window that would begin behind the tensor is not there",
              [("MaxPool", case((2, 2), (3, 3), pads=((0, 1), (0, 1)), ceil=True))])]
    plan(len(tests))
    for name, cases in tests:
        shape = [2, 16, 9, 9] if "begin" in name else [2, 16, 8, 9]
        problems = [problem for op, one in cases for problem in run(op, shape, one)]
        report(name, problems)


if __name__ == "__main__":
    main()
