# SPDX-License-Identifier: Apache-2.0
"""Attention as layers against numpy, on chips whose kernel takes heads of 16, 32 .. 256 elements.

    scores.py VINCI [--soc NAME] [--seed S]

Rows of scores that begin inside blocks of 32 bytes get more keys, which must not be seen in the result.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

# batch, heads, queries, keys, depth; K by rows; the number is with: nothing, scores, queries, keys; what is added to the
# scores: nothing, a triangle, a triangle of the values of a constant, such a constant with a hole, or
# a triangle that was bytes in between.
CASES = [((1, 4, 197, 197, 64), True, None, None), ((1, 2, 197, 197, 272), True, None, None),
         ((1, 3, 37, 21, 16), False, "scores", None), ((2, 2, 33, 50, 32), True, "queries", None),
         ((2, 3, 17, 49, 16), True, "keys", None), ((1, 4, 64, 64, 32), True, "scores", None),
         ((1, 12, 5, 1, 16), False, None, None), ((2, 4, 67, 67, 64), True, None, "triangle"),
         ((1, 4, 197, 213, 64), False, "scores", "triangle"), ((1, 400, 8, 8, 64), False, "scores", "constant"),
         ((1, 400, 8, 8, 64), False, "scores", "hole"),
         ((1, 4, 64, 64, 64), True, None, "narrow")]
HIDDEN = -65504
HOLE = (1, 0)


def added(shape, mask):
    s, t = shape[2:4]
    values = np.triu(np.full((s, t), HIDDEN, np.float64), t - s + 1)
    if mask == "hole":
        values[HOLE] = HIDDEN
    return values if mask and mask != "narrow" else np.zeros((s, t))


def graph(shape, by_rows, scaled, mask, factor):
    b, n, s, t, d = shape
    lines = ["graph,version=1,name=scores"]
    tensors, layers = {}, []

    def text(extents):
        return "x".join(map(str, extents))

    def layer(op, inputs, out, extents, args=""):
        tensors[out] = (extents, "")
        layers.append("layer,name=%s_layer,op=%s,in=%s,out=%s%s" % (out, op, " ".join(inputs), out, ",args=" + args if args else ""))
        return out

    for name, extents in (("q", (b, n, s, d)), ("k", (b, t, n, d) if by_rows else (b, n, t, d)), ("v", (b, n, t, d))):
        tensors[name] = (extents, ",io=in")
    lines.append("tensor,name=f,dtype=fp16,shape=1,values=%s" % factor)
    lines.append("tensor,name=zero,dtype=fp16,shape=1,values=0")
    q = layer("Mul", ["q", "f"], "qf", (b, n, s, d)) if scaled == "queries" else "q"
    k = layer("Transpose", ["k"], "kt", (b, n, d, t), "perm=0x2x3x1" if by_rows else "perm=0x1x3x2")
    k = layer("Mul", ["f", k], "kf", (b, n, d, t)) if scaled == "keys" else k
    a = layer("MatMul", [q, k], "scores", (b, n, s, t))
    a = layer("Mul", [a, "f"], "sf", (b, n, s, t)) if scaled == "scores" else a
    a = layer("Add", [a, "zero"], "sz", (b, n, s, t)) if scaled == "scores" and not mask else a
    if mask == "narrow":  # bytes hold no large negative number: nothing is hidden
        lines.append("tensor,name=low,dtype=fp16,shape=1,io=weight,values=-2048")
        full = layer("Expand", ["low"], "full", (s, t), "shape=%dx%d" % (s, t))
        upper = layer("Trilu", [full], "upper", (s, t), "upper=1 k=1")
        lines.append("tensor,name=bytes,dtype=uint8,shape=%dx%d" % (s, t))
        layers.append("layer,name=bytes_layer,op=Cast,in=%s,out=bytes" % upper)
        a = layer("Add", [layer("Cast", ["bytes"], "mask", (s, t)), a], "sm", (b, n, s, t))
    elif mask == "triangle":
        lines.append("tensor,name=low,dtype=fp16,shape=1,io=weight,values=%d" % HIDDEN)
        full = layer("Expand", ["low"], "full", (s, t), "shape=%dx%d" % (s, t))
        a = layer("Add", [layer("Trilu", [full], "mask", (s, t), "upper=1 k=%d" % (t - s + 1)), a], "sm", (b, n, s, t))
    elif mask:
        values = " ".join("%d" % value for value in added(shape, mask).flat)
        lines.append("tensor,name=mask,dtype=fp16,shape=1x1x%dx%d,io=weight,values=%s" % (s, t, values))
        a = layer("Add", [a, "mask"], "sm", (b, n, s, t))
    a = layer("Softmax", [a], "p", (b, n, s, t), "axis=3")
    layer("MatMul", [a, "v"], "y", (b, n, s, d))
    tensors["y"] = ((b, n, s, d), ",io=out")
    lines += ["tensor,name=%s,dtype=fp16,shape=%s%s" % (name, text(extents), io) for name, (extents, io) in tensors.items()]
    return "\n".join(lines + layers) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vinci")
    parser.add_argument("--soc", default="Ascend310P3")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, wrong = np.random.default_rng(args.seed), []
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for shape, by_rows, scaled, mask in CASES:
            b, n, s, t, d = shape
            # All scores are far below zero: what more keys would add is not small beside them.
            q = (-rng.uniform(0.5, 1.5, (b, n, s, d)) * min(1, 64 / d)).astype(np.float16)
            k = rng.uniform(0.5, 1.5, (b, n, t, d)).astype(np.float16)
            v = rng.uniform(-1, 1, (b, n, t, d)).astype(np.float16)
            scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3) * (0.25 if scaled else 1) + added(shape, mask)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            y = (scores / scores.sum(-1, keepdims=True) @ v.astype(np.float64)).astype(np.float16)
            given = {"q": q, "k": np.ascontiguousarray(k.swapaxes(1, 2)) if by_rows else k, "v": v}
            path = os.path.join(folder, "scores.graph.csv")
            with open(path, "w") as file:
                file.write(graph(shape, by_rows, scaled, mask, 0.25))
            command = [args.vinci, "net", "run", path, "-s", args.soc, "--memory=flat", "--values", "-q", "--atol=0.02"]
            for name, array in given.items():
                np.save(os.path.join(folder, name + ".npy"), array)
                command.append("--input=%s=%s" % (name, os.path.join(folder, name + ".npy")))
            np.save(os.path.join(folder, "y.npy"), y)
            done = subprocess.run(command + ["--expect=y=" + os.path.join(folder, "y.npy")], capture_output=True, text=True)
            if done.returncode != 0:
                wrong.append("%s %s %s: %s" % (shape, scaled, mask, (done.stderr or done.stdout).strip().splitlines()[0]))
            plan = subprocess.run([args.vinci, "net", "compile", path, "-s", args.soc, "-q", "-o", os.path.join(folder, "k.csv")],
                                  capture_output=True, text=True)
            kernels = open(os.path.join(folder, "k.csv")).read() if plan.returncode == 0 else plan.stderr
            if d == 64 and mask not in ("hole", "narrow") and "op=flash_attention" not in kernels:
                wrong.append("%s: no kernel of attention" % (shape,))
            if ("causal=1" in kernels) != (mask in ("triangle", "constant")):
                wrong.append("%s %s: hides keys behind those of queries, or does not" % (shape, mask))
            if d == 272 and ("transpose_b=1" not in kernels or "n=208" not in kernels):
                wrong.append("%s: no product by K with keys up to whole blocks" % (shape,))
    print("\n".join(wrong))
    print("%s: %d cases, %d wrong" % (args.soc, len(CASES), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
