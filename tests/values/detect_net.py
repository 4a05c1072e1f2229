# SPDX-License-Identifier: Apache-2.0
"""The head of a detector as an ONNX model: boxes from anchors, scores, NonMaxSuppression; against numpy.

    detect_net.py VINCI [options of vecops.py]

How many boxes are kept is stated, stated wrongly (exit code 3), or left open: then as many as can be are assumed.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

from detect import suppress

BOXES, CLASSES, MOST, IOU, SCORE = 331, 3, 7, 0.5, 0.6


def head(anchors, sides, extents):
    """The model; extents: of the result."""
    import onnx
    from onnx import TensorProto as T, helper, numpy_helper

    weights = [("anchors", anchors), ("sides", sides), ("half", np.float32(0.5)), ("most", np.array([MOST])),
               ("iou", np.array([IOU], np.float32)), ("score", np.array([SCORE], np.float32))]
    nodes = [("Mul", ["moves", "sides"], "moved"), ("Add", ["moved", "anchors"], "middle"), ("Exp", ["grows"], "grown"),
             ("Mul", ["grown", "sides"], "side"), ("Mul", ["side", "half"], "reach"), ("Sub", ["middle", "reach"], "low"),
             ("Add", ["middle", "reach"], "high"), ("Sigmoid", ["logits"], "chances"),
             ("NonMaxSuppression", ["boxes", "scores", "most", "iou", "score"], "kept")]
    made = [helper.make_node(op, inputs, [output]) for op, inputs, output in nodes]
    made[-1:-1] = [helper.make_node("Concat", ["low", "high"], ["boxes"], axis=2),
                   helper.make_node("Transpose", ["chances"], ["scores"], perm=[0, 2, 1])]
    inputs = [("moves", [1, BOXES, 2]), ("grows", [1, BOXES, 2]), ("logits", [1, BOXES, CLASSES])]
    graph = helper.make_graph(
        made, "head", [helper.make_tensor_value_info(name, T.FLOAT, shape) for name, shape in inputs],
        [helper.make_tensor_value_info("kept", T.INT64, extents)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def expected(given, anchors, sides):
    middle, reach = given["moves"] * sides + anchors, np.exp(given["grows"]) * sides * np.float32(0.5)
    boxes, scores = np.concatenate([middle - reach, middle + reach], 2)[0], 1 / (1 + np.exp(-given["logits"][0]))
    return np.array([(0, c, box) for c in range(CLASSES)
                     for box in suppress(boxes, scores[:, c], MOST, IOU, SCORE, False)], np.int64)


def check(vinci, folder):
    rng = np.random.default_rng(1)
    anchors, sides = [rng.uniform(low, high, (1, BOXES, 2)).astype(np.float32) for low, high in [(0, 100), (5, 30)]]
    given = {"moves": rng.uniform(-1, 1, (1, BOXES, 2)).astype(np.float32),
             "grows": rng.uniform(-0.3, 0.3, (1, BOXES, 2)).astype(np.float32),
             "logits": rng.standard_normal((1, BOXES, CLASSES)).astype(np.float32)}
    kept = expected(given, anchors, sides)
    model = os.path.join(folder, "head.onnx")
    run = [vinci, "net", "run", model, "-s", "Ascend910B4", "--values", "--passes=none", "--memory=flat", "-q"]
    for option, arrays in (("--input", given), ("--expect", {"kept": kept})):
        for name, array in arrays.items():
            path = os.path.join(folder, name + ".npy")
            np.save(path, array)
            run.append("%s=%s=%s" % (option, name, path))
    with open(model, "wb") as file:
        file.write(head(anchors, sides, ["found", 3]).SerializeToString())
    wrong = []
    for count, code in [(len(kept), 0), (len(kept) - 1, 3)]:
        done = subprocess.run(run + ["--dim", "found=%d" % count], capture_output=True, text=True)
        if done.returncode != code:
            wrong.append("%d boxes: exit code %d: %s" % (count, done.returncode, done.stderr.strip()))
    with open(model, "wb") as file:
        file.write(head(anchors, sides, None).SerializeToString())
    text = subprocess.run([vinci, "net", "import", model], capture_output=True, text=True)
    if "assumed=%d" % (CLASSES * MOST) not in text.stdout:
        wrong.append("as many boxes as can be are not assumed: %s" % (text.stderr.strip() or text.stdout))
    return wrong


def main():
    try:
        import onnx
    except ImportError:
        print("no onnx")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        wrong = check(sys.argv[1], folder)
    print("\n".join(wrong) or "3 runs of a head with onnx %s" % onnx.__version__)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
