# SPDX-License-Identifier: Apache-2.0
"""What vinci net import says of models that cannot be read. Usage: WORK VINCI SOURCES"""
import os
import re
import resource
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper

from tap import plan, report

WORK, VINCI, SOURCES = sys.argv[1:4]
N = helper.make_node
V = helper.make_tensor_value_info
MEMORY = 512 << 20


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def run(content, *options, place=WORK):
    path = os.path.join(place, "m.onnx")
    with open(path, "wb") as file:
        file.write(content)
    start = time.monotonic()
    done = subprocess.run([VINCI, "net", "import", path, *options], capture_output=True, text=True,
                          preexec_fn=limit if not os.environ.get("VINCI_INSTRUMENT") else None)
    return done.returncode, done.stdout, done.stderr.replace(path, "M"), time.monotonic() - start


def refused(name, content, text, *options, code=3, hint=None):
    """The first line says what is wrong, a second how to go on."""
    if isinstance(content, onnx.ModelProto):
        content = content.SerializeToString()
    got, out, err, _ = run(content, *options)
    wanted = "error: " + text if code == 2 and not text.startswith("M:") else text
    problem = ""
    if got != code or not err.startswith(wanted):
        problem = "exit code %d, %r, expected %d, %r" % (got, err, code, wanted)
    if hint and "hint: " + hint not in err:
        problem += "\nno hint %r in %r" % (hint, err)
    report(name, problem)


def model(nodes, inputs=None, outputs=None, weights=(), opset=17):
    inputs = [V("x", T.FLOAT, [2, 3, 8, 8])] if inputs is None else inputs
    outputs = [V("y", T.FLOAT, None)] if outputs is None else outputs
    weights = [w if isinstance(w, onnx.TensorProto) else numpy_helper.from_array(np.asarray(w[1]), w[0])
               for w in weights]
    graph = helper.make_graph(nodes, "net", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def ints(name, *values):
    return name, np.array(values, np.int64)


# ---- the wire format by hand, for what no library writes ----------------------------------------

def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, payload):
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def raw_model(graph):
    return field(1, 8) + field(8, field(2, 17)) + field(7, graph)


# ---- files ----------------------------------------------------------------------------------------

relu = model([N("Relu", ["x"], ["y"])])


def files():
    whole = relu.SerializeToString()
    refused("a file that is cut", whole[:-3], "M: error: byte 63: the file is cut or damaged there")
    refused("an empty file", b"", "M: error: the graph is empty")
    refused("a pointer of Git LFS", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "M: error: a pointer of Git LFS, not the file itself", hint="fetch the file with 'git lfs pull'")
    refused("a model without a graph", field(1, 8) + field(8, field(2, 17)),
            "M: error: the model has no graph")
    refused("a graph of another type", field(1, 8) + field(7, 5),
            "M: error: byte 2: a field of another type than ONNX has there")
    refused("options of models for a graph as text", b"graph,version=1\n",
            "M: error: no ONNX model; shapes, dimensions and inputs are given to models only",
            "--dim", "n=1", code=2)


# ---- inputs ---------------------------------------------------------------------------------------

def inputs():
    open_x = [V("x", T.FLOAT, ["n", 3, None, "w"])]
    named = model([N("Relu", ["x"], ["y"])], open_x)
    refused("open dimensions are named", named, 'M: error: input "x" has no fixed shape: n x 3 x ? x w',
            hint="give --shape x=Nx3xNxN")
    refused("dimensions that all have names", model([N("Relu", ["x"], ["y"])], [V("x", T.FLOAT, ["n", 3, "w"])]),
            'M: error: input "x" has no fixed shape: n x 3 x w', hint="give --dim n=N --dim w=N, or --shape x=Nx3xN")
    refused("an extent of 0", model([N("Relu", ["x"], ["y"])], [V("x", T.FLOAT, ["n", 0])]),
            'M: error: input "x" has an extent of 0, a tensor without elements: n x 0', hint="give --shape x=NxN")
    refused("nine dimensions of an input", model([N("Relu", ["x"], ["y"])], [V("x", T.FLOAT, [1] * 9)]),
            'M: error: input "x" has 9 dimensions; this reader takes up to 8')
    refused("those that are left", named, 'M: error: input "x" has no fixed shape: n x 3 x ? x w',
            "--dim=n=4", hint="give --shape x=Nx3xNxN")
    refused("no shape at all", model([N("Relu", ["x"], ["y"])], [V("x", T.FLOAT, None)]),
            'M: error: input "x" has no fixed shape: not even the number of dimensions',
            hint="give --shape x=NxN")
    refused("a shape of another rank", named,
            "M: error: --shape=x=1x3 has 2 dimensions, the model's input 4", "--shape", "x=1x3", code=2)
    refused("a shape that is none", named,
            "--shape=x=1x3x0x8: extents of at least 1, such as 1x3x224x224, up to 8", "--shape=x=1x3x0x8", code=2)
    refused("an input that is not there", named, 'M: error: no input "pixels" for --shape',
            "--shape=pixels=1", code=2, hint='the first input is "x"')
    refused("a dimension that is not there", named,
            'M: error: no tensor has a dimension named "m" for --dim', "--dim=m=1", code=2)
    found = model([N("NonZero", ["x"], ["y"])], outputs=[V("y", T.INT64, [4, "found"])])
    got, out, err, _ = run(found.SerializeToString(), "--dim=found=7")
    report("a dimension of a result that data decide", "" if got == 0 and ",shape=4x7" in out else
           "exit code %d, %r, %r" % (got, out, err))
    refused("a size that is none", named, "--dim=n=many is not NAME=SIZE, such as batch=4",
            "--dim=n=many", code=2)
    refused("a word without a value", named, "--fix=x is not NAME=VALUE", "--fix=x", code=2)
    refused("a value that is none", relu, "--fix=x=one: the value is a number; of bool inputs true or "
            "false", "--fix=x=one", code=2)
    fnuz = 18  # float8e4m3fnuz, which older packages do not name
    unsigned = model([N("Identity", ["x"], ["y"])], [V("x", fnuz, [4])],
                     [V("y", fnuz, [4])])
    refused("a value of a type whose numbers are not known", unsigned,
            "--fix=x: an input of up to 65536 elements can be fixed, not of type float8e4m3fnuz with 4",
            "--fix=x=1", code=2)
    dropped = model([N("Dropout", ["x"], ["y", "mask"])], [V("x", fnuz, [4])],
                    [V("y", fnuz, [4]), V("mask", fnuz, [4])], opset=9)
    refused("a mask of such a type", dropped, 'M: error: tensor "x" of node')
    sequence = model([N("Relu", ["x"], ["y"])],
                     [helper.make_tensor_sequence_value_info("x", T.FLOAT, [2])])
    refused("an input that is not a tensor", sequence,
            'M: error: input "x" is not a tensor (a sequence, a map, or nothing)')


# ---- tensors --------------------------------------------------------------------------------------

def external(location, **entries):
    tensor = T(name="w", data_type=T.FLOAT, dims=[4], data_location=T.EXTERNAL)
    for key, value in dict(location=location, **entries).items():
        tensor.external_data.add(key=key, value=value)
    return model([N("Add", ["x", "w"], ["y"])], [V("x", T.FLOAT, [4])], weights=[tensor])


def tensors():
    add = [N("Add", ["x", "w"], ["y"])]
    four = [V("x", T.FLOAT, [4])]

    def weight(**fields):
        return model(add, four, weights=[T(name="w", **fields)])
    refused("a type that ONNX does not have", weight(data_type=77, dims=[4]),
            'M: error: tensor "w": element type 77, which is not a type of ONNX that is known here')
    refused("too few bytes", weight(data_type=1, dims=[4], raw_data=b"1234"),
            'M: error: tensor "w": 4 bytes of raw_data; its float elements need 16')
    refused("too many values", weight(data_type=1, dims=[1], float_data=[1, 2]),
            'M: error: tensor "w": 2 values are listed; its shape has 1 elements')
    refused("2^60 elements", weight(data_type=1, dims=[1 << 30, 1 << 30]),
            'M: error: tensor "w": dimension 1 is 1073741824, which is not possible')
    refused("nine dimensions", weight(data_type=1, dims=[1] * 9),
            'M: error: tensor "w": 9 dimensions; this reader takes up to 8')
    for location in ("/etc/passwd", "../w.bin", "a/../../w.bin", "", "a\\b"):
        refused("external data in %r" % location, external(location),
                'M: error: tensor "w": its values are in file "%s"; a location is a name below the folder '
                "of the model, without '..'" % location)
    with open(os.path.join(WORK, "w.bin"), "wb") as file:
        file.write(b"0" * 20)
    refused("external data that are too short", external("w.bin", offset="8"),
            'M: error: tensor "w": file "w.bin" has 20 bytes, the tensor needs 16 from byte 8')
    for name, entries, text in (
            ("a hexadecimal offset", {"offset": "0x10"}, '"offset" of its external data is "0x10"'),
            ("an offset with an exponent", {"offset": "1e3"}, '"offset" of its external data is "1e3"'),
            ("a negative offset", {"offset": "-4"}, '"offset" of its external data is "-4"'),
            ("an offset of 70 bits", {"offset": "1180591620717411303424"},
             '"offset" of its external data is "1180591620717411303424"'),
            ("a length in KiB", {"length": "16KiB"}, '"length" of its external data is "16KiB"'),
            ("a blank before a length", {"length": " 16"}, '"length" of its external data is " 16"')):
        refused("external data with %s" % name, external("w.bin", **entries),
                'M: error: tensor "w": %s, not a whole number of bytes in decimal digits' % text)
    refused("external data of another length", external("w.bin", length="12"),
            'M: error: tensor "w": "length" of its external data is 12, the tensor needs 16')
    outside = os.path.abspath(os.path.join(WORK, "outside"))
    os.makedirs(outside)
    with open(os.path.join(outside, "w.bin"), "wb") as file:
        file.write(b"0" * 20)
    inside = os.path.join(WORK, "inside")
    os.makedirs(os.path.join(inside, "data"))
    os.symlink(os.path.join(outside, "w.bin"), os.path.join(inside, "link.bin"))
    os.symlink(outside, os.path.join(inside, "folder"))
    with open(os.path.join(inside, "data", "w.bin"), "wb") as file:
        file.write(b"0" * 20)
    os.symlink("data/w.bin", os.path.join(inside, "own.bin"))
    for location, text in (("link.bin", "link.bin"), ("folder/w.bin", "folder/w.bin"), ("own.bin", None),
                           ("data/w.bin", None), ("./data/w.bin", None)):
        code, out, err, _ = run(external(location).SerializeToString(), place=inside)
        wanted = 'M: error: tensor "w": its values are in file "%s", a link that leads out of the ' \
            "folder of the model\nhint: put the file itself beside the model\n" % text
        fine = code == 3 and err == wanted if text else code == 0 and "io=weight" in out
        report("external data behind %s" % location, "" if fine else "%d %r %r" % (code, out, err))
    for name, weights in (("absent", "none.bin"), ("there", "w.bin")):
        code, out, err, _ = run(external(weights).SerializeToString())
        report("external data that are %s" % name, err if code or "io=weight" not in out else "")
    refused("a type that the chip does not have", model([N("Relu", ["x"], ["y"])], [V("x", T.DOUBLE, [2])]),
            'M: error: tensor "x" of node "x" is of type double (11), which the chip does not have',
            hint="convert the model to types such as float, float16, int32 or int8")


# ---- nodes ----------------------------------------------------------------------------------------

def nodes():
    def node(op, ins=("x",), text="", weights=(), opset=17, hint=None, outs=("y",), inputs=None,
             options=(), **attributes):
        refused("%s: %s" % (op, text), model([N(op, list(ins), list(outs), name="n", **attributes)],
                                             inputs, weights=weights, opset=opset),
                'M: error: node "n" (%s): %s' % (op, text), *options, hint=hint)

    x = "2x3x8x8"
    node("Relu", ["z"], 'input "z" is written by no node before')
    node("Relu", [""], "input 0 is missing; the operator needs 1")
    node("SequenceMap", text="this reader does not take maps, optional values, texts, and sequences that are computed in the run",
         hint="export the model without them")
    node("SequenceAt", ["x", "p"], "its input 0 is not a sequence of tensors that is known before a run", [ints("p", 0)])
    for op, places, text in [("SequenceAt", [2], "its place 2 is outside of a sequence of 2 tensors"), ("SequenceAt", [-3], "its place -1 is outside of a sequence of 2 tensors"),
                             ("SequenceErase", [0, 1], 'its place "p" is not one number that is known before a run')]:
        refused("%s %s" % (op, places), model([N("SequenceConstruct", ["x", "x"], ["q"]), N(op, ["q", "p"], ["r"], name="n"),
                                               N("ConcatFromSequence", ["r"], ["y"], axis=0)], weights=[ints("p", *places)]), 'M: error: node "n" (%s): %s' % (op, text))
    refused("a sequence into Add", model([N("SequenceConstruct", ["x", "x"], ["q"]), N("Add", ["x", "q"], ["y"], name="n")]),
            'M: error: node "n" (Add): input 1 ("q") is a sequence of tensors')
    refused("a sequence of sequences", model([N("SequenceConstruct", ["x", "x"], ["q"]), N("SequenceInsert", ["q", "q"], ["r"], name="n"),
                                              N("SequenceLength", ["r"], ["y"])]), 'M: error: node "n" (SequenceInsert): input 1 is not a tensor')
    refused("a sequence as a result", model([N("SequenceConstruct", ["x", "x"], ["y"])]), 'M: error: output "y" is a sequence of tensors')
    refused("nothing to be joined", model([N("SequenceEmpty", [], ["q"]), N("ConcatFromSequence", ["q"], ["y"], name="n", axis=0)]),
            'M: error: node "n" (ConcatFromSequence): a sequence without tensors has nothing to be joined')
    body = helper.make_graph([N("Identity", ["c"], ["d"]), N("Relu", ["s"], ["t"])], "b", [V("i", T.INT64, []), V("c", T.BOOL, []), V("s", T.FLOAT, None)],
                             [V("d", T.BOOL, []), V("t", T.FLOAT, None)])
    node("Loop", ["n", "", "x"], "its body has 2 outputs, and 3 are needed", [("n", np.array(3))], outs=("y", "z"), body=body)
    node("Loop", ["n", "", "x"], "more than 4096 iterations", [("n", np.array(5000))], body=body)
    node("Scan", ["x"], "its body has 2 outputs, and 3 are needed", outs=("y", "z", "u"), num_scan_inputs=1, body=body)
    node("GatherND", ["x", "i"], "indices 2x1 for data %s differ in one of the first 1 dimensions" % x.replace("2x", "3x", 1),
         [("i", np.zeros((2, 1), np.int64))], inputs=[V("x", T.FLOAT, [3, 3, 8, 8])], batch_dims=1)
    node("Einsum", ["x"], "letter i stands twice in the result", equation="ijkl->ii")
    node("Einsum", ["x"], "1 inputs for the 2 operands of \"ijkl,l\"", equation="ijkl,l->ijk")
    node("Einsum", ["x"], 'equation "-ij->i"; this reader takes letters without "..."', equation="-ij->i")
    node("Conv", ["x", "w"], "input %s, weights 4x2x3x3 and group 1 do not fit" % x,
         [("w", np.zeros((4, 2, 3, 3), np.float32))])
    node("Conv", ["x", "w"], "a window of 9 over 8 elements and their pads",
         [("w", np.zeros((4, 3, 9, 9), np.float32))])
    node("Conv", ["x", "w"], "strides has 0", [("w", np.zeros((4, 3, 1, 1), np.float32))],
         strides=[0, 1])
    node("MaxPool", text="no kernel_shape")
    node("MatMul", ["x", "w"], "%s times 3x8" % x, [("w", np.zeros((3, 8), np.float32))])
    node("Gemm", ["x", "w"], "%s times 3x8" % x, [("w", np.zeros((3, 8), np.float32))])
    node("Add", ["x", "w"], "shapes %s and 3 do not broadcast" % x, [("w", np.zeros(3, np.float32))])
    node("Reshape", ["x", "s"], "384 elements (%s) into 5x7" % x, [ints("s", 5, 7)])
    node("Reshape", ["x", "s"], "the wanted shape has extent -1 at dimension 1", [ints("s", -1, -1)])
    node("Squeeze", ["x", "s"], "dimension 0 of %s is not 1" % x, [ints("s", 0)])
    node("Transpose", text="perm has axis 1 twice", perm=[0, 1, 1, 3])
    node("Softmax", text="axis 4 of a tensor with 4 dimensions", axis=4)
    node("Slice", ["x", "s", "s", "a", "z"], "a step of 0", [ints("s", 1), ints("a", 0), ints("z", 0)])
    node("Concat", ["x", "w"], "input 1 is 2x3, the first %s; they are joined at dimension 0" % x,
         [("w", np.zeros((2, 3), np.float32))], axis=0)
    node("Split", text="its parts are larger than dimension 0 of %s" % x, outs=("y", "z", "v"), axis=0,
         opset=11, split=[2, 1, 1])
    node("Cast", text="a cast to element type 99, which is not a type of ONNX that is known here", to=99)
    node("TopK", ["x", "k"], "the 9 largest of 8", [ints("k", 9)], outs=("y", "i"))
    node("Einsum", text='equation "b...->b"; this reader takes letters without "..."', equation="b...->b")
    node("Tile", ["x", "r"], "35184372088832 repeats", [ints("r", 1 << 45, 1, 1, 1)])
    node("Expand", ["x", "s"], "its result would have more than 2^42 elements",
         [ints("s", 1 << 40, 2, 3, 8, 8)])
    two = [V("x", T.FLOAT, [4]), V("c", T.INT64, [1])]
    node("Expand", ["x", "c"], 'input 1 ("c") has to be known before a run, and is computed in the run',
         inputs=two, hint='it follows from input "c", whose value can be fixed: --fix c=VALUE')
    branch = helper.make_graph([N("Relu", ["x"], ["t"])], "b", [], [V("t", T.FLOAT, None)])
    chosen = model([N("Greater", ["c", "zero"], ["q"]),
                    N("If", ["q"], ["y"], name="n", then_branch=branch, else_branch=branch)], two,
                   weights=[ints("zero", 0)])
    refused("If", chosen, 'M: error: node "n" (If): its condition "q" is not known before a run',
            hint="--fix c=VALUE, if that input decides it; --fix q=true takes the then_branch, =false the else_branch")
    code, out, err, _ = run(chosen.SerializeToString(), "--fix=c=1")
    report("If with a fixed input is its branch", "" if "op=Relu,in=x,out=y" in out else out + err)
    other = helper.make_graph([N("Abs", ["x"], ["t"])], "b", [], [V("t", T.FLOAT, None)])
    computed = model([N("ReduceMax", ["x"], ["m"], keepdims=0), N("Greater", ["m", "zero"], ["q"]),
                      N("If", ["q"], ["y"], name="n", then_branch=branch, else_branch=other)], two[:1],
                     weights=[("zero", np.zeros((), np.float32))]).SerializeToString()
    for words, op in [("--fix=q=true", "Relu"), ("--fix=q=1", "Relu"), ("--fix=q=false", "Abs")]:
        code, out, err, _ = run(computed, words)
        report("If with %s is its branch" % words, "" if "op=%s,in=x,out=y" % op in out else out + err)
    cast = model([N("ReduceMax", ["x"], ["m"], keepdims=0), N("Greater", ["m", "zero"], ["p"]), N("Cast", ["p"], ["q"], to=T.BOOL),
                  N("If", ["q"], ["y"], name="n", then_branch=branch, else_branch=other)], two[:1],
                 weights=[("zero", np.zeros((), np.float32))]).SerializeToString()
    code, out, err, _ = run(cast)
    report("a condition behind a cast has its own name", "" if "--fix q=true" in err else err)
    code, out, err, _ = run(cast, "--fix=q=false")
    report("and is fixed by that", "" if "op=Abs,in=x,out=y" in out else out + err)
    code, out, err, _ = run(computed, "--fix=q=2")
    report("a condition that is neither true nor false",
           "" if code == 2 and "--fix=q=2: a condition is true or false" in err else "%d %s" % (code, err))
    refused("a cycle", model([N("Add", ["x", "b"], ["a"], name="n"), N("Relu", ["a"], ["b"])], outputs=[V("a", T.FLOAT, None)]),
            'M: error: node "b" (Relu): input "a" is written by no node before')
    refused("a result that no node writes", model([], outputs=[V("y", T.FLOAT, None)]),
            'M: error: output "y" is written by no node')
    refused("a name that stands twice", model([N("Relu", ["x"], ["y"]), N("Abs", ["x"], ["y"])]),
            'M: error: two tensors have the name "y"')


# ---- attributes that are words, and what nobody needs ------------------------------------------------

def words():
    with open(os.path.join(SOURCES, "networks/onnx/words.def"), encoding="utf-8") as file:
        rows = re.findall(r'^WORDS\((\w+), (\w+), "(.*)"\)', file.read(), re.M)
    for op, attribute, known in rows:
        wrong = model([N(op, ["x"] * 8, ["y"], name="n", **{attribute: "foo"})], opset=17 if op != "Upsample" else 9)
        refused("%s %s=foo" % (op, attribute), wrong,
                'M: error: node "n" (%s): %s is "foo"; possible are %s' % (op, attribute, known))
    refused("a word that is cut", model([N("Resize", ["x", "", "s"], ["y"], name="n", mode="line")], weights=[("s", np.ones(4, np.float32))]),
            'M: error: node "n" (Resize): mode is "line"; possible are nearest linear cubic')
    empty = model([N("Conv", ["x", "w"], ["c"], auto_pad="", kernel_shape=[1, 1]), N("Resize", ["c", "", "s"], ["y"], mode="", nearest_mode="")],
                  weights=[("w", np.ones((1, 3, 1, 1), np.float32)), ("s", np.ones(4, np.float32) * 2)])
    code, out, err, _ = run(empty.SerializeToString())
    report("an empty word stands for the default", "" if code == 0 and "mode=nearest" in out else out + err)
    refused("a pad that is computed in the run", model([N("Pad", ["x", "p", "v"], ["y"], name="n")], [V("x", T.FLOAT, [4]), V("v", T.FLOAT, [])],
            weights=[ints("p", 1, 1)]), 'M: error: node "n" (Pad): the value of its pads, "v", is computed in the run')
    endless = helper.make_graph([N("Identity", ["c"], ["d"])], "b", [V("i", T.INT64, []), V("c", T.BOOL, [])], [V("d", T.BOOL, [])])
    nodes = [N("Loop", ["x", ""], [], body=endless), N("Loop", ["", ""], ["u"], body=endless), N("SequenceEmpty", [], ["v"]),
             N("Relu", ["x"], ["y"])]
    code, out, err, _ = run(model(nodes).SerializeToString())
    report("what no output needs is not looked at", "" if code == 0 and out.count("layer,") == 1 else out + err)
    refused("a node without a name in a loop", model([N("Loop", ["n", "", "x"], ["y", "z"], body=helper.make_graph(
        [N("Identity", ["c"], ["d"]), N("Reshape", ["s", "k"], ["t"]), N("Identity", ["t"], ["u"])], "b",
        [V("i", T.INT64, []), V("c", T.BOOL, []), V("s", T.FLOAT, None)], [V(o, T.FLOAT, None) for o in "dtu"]))],
        weights=[ints("n", 3), ints("k", 5)]), 'M: error: node "t" (Reshape): 384 elements (2x3x8x8) into 5')


# ---- functions, domains, operator sets ----------------------------------------------------------------

def functions():
    def made(nodes, functions, opset=17):
        graph = helper.make_graph(nodes, "g", [V("x", T.FLOAT, [4, 8])], [V("y", T.FLOAT, None)])
        sets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
        return helper.make_model(graph, opset_imports=sets, functions=functions).SerializeToString()

    soft = N("Softmax", ["t"], ["b"])
    axis = onnx.AttributeProto(name="axis", ref_attr_name="dim", type=onnx.AttributeProto.INT)
    soft.attribute.append(axis)
    inner = helper.make_function("own", "Twice", ["a"], ["b"], [N("Add", ["a", "a"], ["b"])],
                                 [helper.make_opsetid("", 17)])
    outer = helper.make_function("own", "Soft", ["a"], ["b"], [N("Twice", ["a"], ["t"], domain="own"), soft],
                                 [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)], attributes=["dim"])
    calls = [N("Soft", ["x"], ["u"], domain="own", dim=0), N("Soft", ["u"], ["y"], domain="own", dim=1)]
    code, out, err, _ = run(made(calls, [inner, outer]))
    layers = [line for line in out.splitlines() if line.startswith("layer")]
    wanted = ["op=Add,in=x x", "op=Softmax", "op=Add", "op=Softmax"]
    fine = len(layers) == 4 and all(w in have for w, have in zip(wanted, layers))
    report("nodes of functions take the place of calls", "" if fine and "axis=0" in layers[1] and
           "axis=1" in layers[3] and ",name=y,dtype=fp32,shape=4x8,io=out" in out else "%d %s %s" % (code, out, err))
    endless = helper.make_function("own", "Soft", ["a"], ["b"], [N("Soft", ["a"], ["b"], domain="own")],
                                   [helper.make_opsetid("own", 1)])
    refused("a function that calls itself", made(calls[1:2], [endless]).replace(b"u", b"x"),
            "M: error: branches and functions are nested more than 16 deep")
    refused("a function with fewer inputs than its call", made(
        [N("Twice", ["x", "x"], ["y"], domain="own", name="n")], [inner]),
            'M: error: node "n" (Twice): the function has 1 inputs and 1 outputs, the node 2 and 1')

    def reasons(name, content, *texts):
        path = os.path.join(WORK, "m.onnx")
        with open(path, "wb") as file:
            file.write(content)
        done = subprocess.run([VINCI, "net", "run", path, "-s", "Ascend910B4"], capture_output=True, text=True)
        told = done.stdout + done.stderr.replace(path, "M")
        report(name, "\n".join("no %r in %s" % (text, told) for text in texts if text not in told))

    reasons("an operator of another domain", made([N("FusedMatMul", ["x", "x"], ["t"], domain="own", name="m"),
                                                    N("Relu", ["t"], ["y"])], []),
            'refused: node t (FusedMatMul): an operator of domain "own"; known are those of ONNX itself')
    known = "operator set 24; this reader knows 7 to 23"
    reasons("a newer operator set", made([N("Relu", ["x"], ["y"])], [], 24), "warning: M: " + known)
    lstm = [N("LSTM", ["x3", "w", "r"], ["y"], hidden_size=8, activations=["Sigmoid", "Relu", "Tanh"])]
    reasons("gates with other functions", model(lstm, [V("x3", T.FLOAT, [2, 1, 8])], weights=[
        (n, np.zeros((1, 32, 8), np.float32)) for n in "wr"]).SerializeToString(), "(LSTM): activations Sigmoid+Relu+Tanh")
    smooth = [N("Resize", ["x", "", "s"], ["y"], mode="linear", antialias=1)]
    reasons("resizing with a wider filter", model(smooth, weights=[("s", np.array([1, 1, 0.5, 0.5], np.float32))], opset=18).SerializeToString(),
            "antialias=1")
    reasons("an operator of a newer set", made([N("Swish", ["x"], ["y"])], [], 24),
            "no kernel of this type is known; operator set 24 is newer than those that are read")


# ---- sizes that no model has ------------------------------------------------------------------------

def ends_soon(name, content, text):
    code, _, err, seconds = run(content)
    problem = ""
    if code != 3 or text not in err or seconds > 30:
        problem = "exit code %d after %.1f s: %r" % (code, seconds, err[:300])
    report(name, problem)


def hostile():
    ends_soon("two million nodes", raw_model(field(1, b"") * (2 << 20)), "more than 1048576 nodes")
    deep = field(12, field(1, b"y"))
    for _ in range(3000):
        deep = field(1, field(2, b"y") + field(4, b"If") + field(5, field(1, b"then_branch") + field(6, deep)))
    ends_soon("branches 3000 deep", raw_model(deep), "graphs are nested too deep")
    types = b""
    for _ in range(20000):
        types = field(4, field(1, types))
    ends_soon("types 20000 deep", raw_model(field(11, field(1, b"x") + field(2, types))),
              'input "x" is not a tensor')
    branch = helper.make_graph([N("Relu", ["x"], ["t"])], "b", [], [V("t", T.FLOAT, None)])
    for _ in range(18):
        branch = helper.make_graph([N("If", ["c"], ["t"], then_branch=branch)], "b", [],
                                   [V("t", T.FLOAT, None)])
    nested = model([N("If", ["c"], ["y"], then_branch=branch)], weights=[("c", np.array(True))])
    ends_soon("branches 18 deep", nested.SerializeToString(), "branches and functions are nested more than 16 deep")
    huge = model([N("ConstantOfShape", ["s"], ["w"]), N("Add", ["x", "w"], ["y"])],
                 [V("x", T.FLOAT, [1])], weights=[ints("s", 1 << 20, 1 << 20)])
    code, out, err, _ = run(huge.SerializeToString())
    report("a weight of 2^40 elements has no values", err if code else "")
    # Unsigned bytes between such layers become signed, which writes the inputs of the first again.
    bytes_ = model([N("QuantizeLinear", ["x", "s", "z"] + ["x"] * 900, ["q"]), N("DequantizeLinear", ["q", "s", "z"], ["y"])],
                   [V("x", T.FLOAT, [4, 8])], weights=[("s", np.array(0.5, np.float32)), ("z", np.array(128, np.uint8))])
    path = os.path.join(WORK, "m.onnx")
    onnx.save(bytes_, path)
    done = subprocess.run([VINCI, "net", "run", path, "-s", "Ascend910B4"], capture_output=True, text=True)
    report("a layer with many more inputs than it reads", "" if done.returncode == 0 else "%d %s" % (done.returncode, done.stderr))


plan(145)
files()
inputs()
tensors()
nodes()
words()
functions()
hostile()
