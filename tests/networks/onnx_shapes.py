# SPDX-License-Identifier: Apache-2.0
"""Shapes and types that vinci net import gives against onnx.shape_inference. Usage: WORK VINCI"""
import subprocess
import sys

import onnx
from onnx import TensorProto as T, shape_inference

import onnx_models as models
from tap import plan, report

WORK, VINCI = sys.argv[1:3]
DTYPES = {T.FLOAT: "fp32", T.INT64: "int64", T.BOOL: "uint8", T.FLOAT16: "fp16"}
failures = []


def complain(text):
    failures.append(text)


def done(name):
    report(name, failures[:20])
    failures.clear()


def imported(model, name, *options):
    """The graph's text: tensors by name with type and shape, and the rows of layers."""
    path = "%s/%s.onnx" % (WORK, name)
    onnx.save(model, path)
    run = subprocess.run([VINCI, "net", "import", path, *options], capture_output=True, text=True)
    if run.returncode:
        complain(run.stderr)
    tensors, layers = {}, []
    for line in run.stdout.splitlines():
        if line.startswith("tensor,"):
            fields = dict(f.split("=", 1) for f in line.split(",")[1:])
            shape = fields.get("shape")
            dims = None if shape is None else tuple(int(e) for e in shape.split("x") if e)
            tensors[fields["name"]] = (fields["dtype"], dims)
        if line.startswith("layer,"):
            layers.append(line)
    return tensors, layers


def inferred(model):
    """What the library of ONNX says of each value, from inputs alone."""
    del model.graph.value_info[:]
    graph = shape_inference.infer_shapes(model, check_type=True, strict_mode=True).graph
    found = {}
    for value in list(graph.value_info) + list(graph.output):
        tensor = value.type.tensor_type
        if all(d.HasField("dim_value") for d in tensor.shape.dim):
            found[value.name] = (DTYPES[tensor.elem_type], tuple(d.dim_value for d in tensor.shape.dim))
    return found


def compare(tensors, expected, least):
    """Every tensor that both have; what vinci folds away or takes out has no name there."""
    both = [name for name in expected if name in tensors]
    for name in both:
        if tensors[name] != expected[name]:
            complain("%s is %s, expected %s" % (name, tensors[name], expected[name]))
    for name, (_, shape) in tensors.items():
        if shape is None:
            complain("%s has no shape" % name)
    if len(both) < least:
        complain("only %d values are compared, not %d" % (len(both), least))


def static_models():
    for name, model, least in [("resnet", models.resnet(), 25), ("mobilenet", models.mobilenet(), 30),
                               ("recurrent", models.recurrent(), 14),
                               ("encoder", models.encoder(2, 9), 60)]:
        expected = inferred(model)
        if len(expected) < sum(len(n.output) for n in model.graph.node):
            complain("the library leaves values open: it is not a reference here")
        compare(imported(model, name)[0], expected, least)
        done("%s: shapes and types of all values are those of onnx.shape_inference" % name)


def dynamic_model():
    """Shape arithmetic folds to what is written when the sizes are numbers."""
    tensors, layers = imported(models.encoder("batch", "length"), "dynamic", "--dim", "batch=2",
                               "--dim=length=9")
    static, static_layers = imported(models.encoder(2, 9), "static")

    def kinds(rows):
        return [row.split("op=")[1].split(",")[0] for row in rows]
    if kinds(layers) != kinds(static_layers):
        complain("layers %s, static %s" % (kinds(layers), kinds(static_layers)))
    shapes = [[tensors[row.split("out=")[1].split(",")[0]] for row in layers],
              [static[row.split("out=")[1].split(",")[0]] for row in static_layers]]
    if shapes[0] != shapes[1]:
        complain("other shapes than those of the model with fixed sizes")
    done("a model that computes its shapes is, with sizes given, the model with fixed sizes")
    tensors, _ = imported(models.encoder("batch", "length"), "dynamic", "--shape", "ids=2x9")
    compare(tensors, {"ids": ("int64", (2, 9))}, 1)
    done("--shape gives the sizes, too")


def all_versions():
    """Names of made inputs differ between versions; all else is one form."""
    def form(opset):
        tensors, layers = imported(models.versions(opset), "version%d" % opset)
        names = {}
        rows = []
        for row in layers:
            fields = dict(f.split("=", 1) for f in row.split(",")[1:])
            ins = [names.get(n, "weight" if n.startswith("w") else n) for n in fields["in"].split()]
            outs = [tensors[n] for n in fields["out"].split()]
            for i, n in enumerate(fields["out"].split()):
                names[n] = "%d.%d" % (len(rows), i)
            rows.append((fields["op"], ins, outs, fields.get("args", "")))
        return rows
    first = form(7)
    for opset in (9, 10, 11, 13, 17, 18, 20):
        other = form(opset)
        for a, b in zip(first, other):
            if a != b:
                complain("opset 7: %s; opset %d: %s" % (a, opset, b))
        if len(first) != len(other):
            complain("opset %d: %d layers, not %d" % (opset, len(other), len(first)))
    done("operator sets 7 to 20 give one form")


def any_order():
    """Nodes that stand before those they read from: tools that write casts put them at the end."""
    model = models.encoder(2, 9)
    tensors, layers = imported(model, "ordered")
    nodes = list(model.graph.node)
    for name, order in (("reversed", nodes[::-1]), ("mixed", [nodes[i * 7 % len(nodes)] for i in range(len(nodes))])):
        del model.graph.node[:]
        model.graph.node.extend(order)
        other, mixed = imported(model, name)
        if other != tensors or sorted(row.split(",", 2)[2] for row in mixed) != sorted(row.split(",", 2)[2] for row in layers):
            complain("%s nodes give another graph" % name)
    if len(nodes) % 7 == 0:
        complain("the mixed order leaves nodes out")
    done("nodes in any order are the same graph")


plan(8)
any_order()
static_models()
dynamic_model()
all_versions()
