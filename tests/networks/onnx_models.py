# SPDX-License-Identifier: Apache-2.0
"""Models that tests of the reader of ONNX make with onnx.helper, and what they have in common."""
import numpy as np
import onnx
from onnx import TensorProto as T, helper, numpy_helper


class Net:
    """Nodes and initializers that grow; each method adds a node and returns the name of its result."""

    def __init__(self, opset=17):
        self.opset, self.nodes, self.weights, self.random = opset, [], [], np.random.RandomState(1)

    def add(self, op, *inputs, outputs=1, **attributes):
        base = "%s_%d" % (op.lower(), len(self.nodes))
        names = [base] + ["%s_%d" % (base, i) for i in range(1, outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name="/" + base, **attributes))
        return names[0] if outputs == 1 else names

    def weight(self, *shape):
        return self.constant(self.random.standard_normal(shape).astype(np.float32))

    def constant(self, array):
        name = "w%d" % len(self.weights)
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def conv(self, x, c_in, c_out, kernel, **attributes):
        group = attributes.get("group", 1)
        return self.add("Conv", x, self.weight(c_out, c_in // group, kernel, kernel),
                        self.weight(c_out), **attributes)

    def dense(self, x, rows, columns):
        return self.add("Add", self.add("MatMul", x, self.weight(rows, columns)),
                        self.weight(columns))

    def model(self, inputs, outputs, result=T.FLOAT):
        graph = helper.make_graph(
            self.nodes, "net",
            [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
            [helper.make_tensor_value_info(n, result, None) for n in outputs], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])


def resnet():
    net = Net()
    x = net.add("Relu", net.conv("x", 3, 16, 7, strides=[2, 2], pads=[3, 3, 3, 3]))
    x = net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for c_in, c_out, stride in [(16, 16, 1), (16, 32, 2), (32, 32, 1)]:
        y = net.add("Relu", net.conv(x, c_in, c_out, 3, strides=[stride] * 2, auto_pad="SAME_UPPER"))
        y = net.conv(y, c_out, c_out, 3, pads=[1, 1, 1, 1])
        y = net.add("BatchNormalization", y, *[net.weight(c_out) for _ in range(4)])
        if c_in != c_out:
            x = net.conv(x, c_in, c_out, 1, strides=[stride] * 2)
        x = net.add("Relu", net.add("Add", x, y))
    x = net.add("Flatten", net.add("GlobalAveragePool", x))
    y = net.add("Softmax", net.add("Gemm", x, net.weight(10, 32), net.weight(10), transB=1))
    return net.model([("x", T.FLOAT, [2, 3, 61, 75])], [y])


def mobilenet():
    net = Net()
    low, high = net.constant(np.float32(0)), net.constant(np.float32(6))
    x = net.add("Clip", net.conv("x", 3, 8, 3, strides=[2, 2], pads=[0, 0, 1, 1]), low, high)
    for c_in, c_out, stride in [(8, 12, 1), (12, 20, 2), (20, 20, 1)]:
        y = net.add("Clip", net.conv(x, c_in, 4 * c_in, 1), low, high)
        y = net.conv(y, 4 * c_in, 4 * c_in, 5, group=4 * c_in, strides=[stride] * 2,
                     auto_pad="SAME_LOWER", dilations=[1, 1])
        s = net.add("ReduceMean", net.add("HardSigmoid", y), axes=[2, 3])
        y = net.conv(net.add("Mul", y, s), 4 * c_in, c_out, 1)
        x = net.add("Add", x, y) if c_in == c_out and stride == 1 else y
    x = net.add("AveragePool", x, kernel_shape=[3, 2], ceil_mode=0, strides=[2, 1])
    x = net.add("Resize", x, "", net.constant(np.array([1, 1, 2, 3], np.float32)))
    x = net.add("ConvTranspose", x, net.weight(20, 3, 3, 3), strides=[2, 2], dilations=[2, 1])
    x = net.add("DepthToSpace", net.conv(x, 3, 8, 1), blocksize=2)
    y = net.add("ArgMax", net.add("LeakyRelu", x), axis=-1, keepdims=0)
    return net.model([("x", T.FLOAT, [1, 3, 50, 64])], [y], T.INT64)


def encoder(batch, length):
    """With numbers all shapes are constants; with names they are computed from the input's."""
    static = isinstance(batch, int)
    net, width, heads = Net(), 24, 4

    def shape_of(x, rest):
        if static:
            return net.ints(batch, length, *rest)
        s = net.add("Shape", x)
        parts = [net.add("Unsqueeze", net.add("Gather", s, net.constant(np.int64(i)), axis=0),
                         net.ints(0)) for i in (0, 1)]
        return net.add("Concat", *parts, net.ints(*rest), axis=0)

    def split(x):
        x = net.add("Reshape", x, shape_of("ids", [heads, width // heads]))
        return net.add("Transpose", x, perm=[0, 2, 1, 3])

    x = net.add("Gather", net.weight(50, width), "ids")
    if static:
        position = net.constant(np.arange(length))
    else:
        count = net.add("Gather", net.add("Shape", "ids"), net.constant(np.int64(1)), axis=0)
        position = net.add("Range", net.constant(np.int64(0)), count, net.constant(np.int64(1)))
    x = net.add("Add", x, net.add("Gather", net.weight(64, width), position))
    for _ in range(2):
        q, k, v = [split(net.dense(x, width, width)) for _ in range(3)]
        scores = net.add("MatMul", q, net.add("Transpose", k, perm=[0, 1, 3, 2]))
        scores = net.add("Div", scores, net.constant(np.float32(2.5)))
        y = net.add("MatMul", net.add("Softmax", scores, axis=-1), v)
        y = net.add("Reshape", net.add("Transpose", y, perm=[0, 2, 1, 3]), shape_of("ids", [-1]))
        x = net.add("Add", x, net.dense(y, width, width))
        x = net.add("LayerNormalization", x, net.weight(width), net.weight(width), axis=-1)
        y = net.dense(x, width, 3 * width)
        y = net.add("Mul", y, net.add("Add", net.add("Erf", y), net.constant(np.float32(1))))
        x = net.add("Add", x, net.dense(y, 3 * width, width))
    first = net.add("Slice", x, net.ints(0), net.ints(1), net.ints(1))
    y = net.add("Squeeze", first, net.ints(1))
    return net.model([("ids", T.INT64, [batch, length])], [y])


def recurrent():
    net = Net()
    y = net.add("LSTM", "x", net.weight(2, 28, 5), net.weight(2, 28, 7), net.weight(2, 56),
                outputs=3, hidden_size=7, direction="bidirectional")[0]
    y = net.add("Reshape", net.add("Transpose", y, perm=[0, 2, 1, 3]), net.ints(0, 0, -1))
    outputs = net.add("GRU", y, net.weight(1, 9, 14), net.weight(1, 9, 3), outputs=2,
                      hidden_size=3, linear_before_reset=1)
    y = net.add("LogSoftmax", net.add("Squeeze", outputs[1], net.ints(0)))
    parts = net.add("Split", y, net.ints(1, 2), outputs=2, axis=1)
    y = net.add("Concat", parts[1], parts[0], net.add("Tanh", parts[1]), axis=-1)
    y = net.add("Pad", y, net.ints(0, 1, 2, 0))
    values = net.add("TopK", y, net.ints(2), outputs=2, axis=1)
    return net.model([("x", T.FLOAT, [11, 4, 5])], [values[0]])


def versions(opset):
    """The same network in the spelling of an operator set from 7 on."""
    net = Net(opset)

    def either(op, x, since, keep={}, **lists):
        if opset < since:
            return net.add(op, x, **lists, **keep)
        return net.add(op, x, *[net.ints(*values) for values in lists.values()], **keep)

    x = net.conv("x", 4, 4, 3, pads=[1, 1, 1, 1])
    if opset < 11:
        x = net.add("Clip", x, min=0.0, max=6.0)
    else:
        x = net.add("Clip", x, net.constant(np.float32(0)), net.constant(np.float32(6)))
    x = net.add("Dropout", x)
    if opset < 10:
        x = net.add("Slice", x, starts=[1], ends=[-1], axes=[3])
    else:
        x = net.add("Slice", x, net.ints(1), net.ints(-1), net.ints(-1))
    x = either("Pad", x, 11, pads=[0, 0, 1, 1, 0, 0, 1, 1])
    scales = np.array([1, 1, 2, 2], np.float32)
    if opset < 9:
        x = net.add("Upsample", x, scales=[1.0, 1.0, 2.0, 2.0])
    elif opset < 10:
        x = net.add("Upsample", x, net.constant(scales))
    elif opset < 11:
        x = net.add("Resize", x, net.constant(scales))
    else:
        x = net.add("Resize", x, "", net.constant(scales), nearest_mode="floor",
                    coordinate_transformation_mode="asymmetric")
    x = either("ReduceMean", x, 18, axes=[2, -1])
    x = either("Squeeze", x, 13, axes=[3])
    x = either("Unsqueeze", x, 13, axes=[0])
    x = either("ReduceSum", x, 13, {"keepdims": 0}, axes=[0])
    x = net.add("Softmax", x, axis=-1)
    if opset < 10:
        y = net.add("TopK", x, outputs=2, k=1, axis=1)
    else:
        y = net.add("TopK", x, net.ints(1), outputs=2, axis=1)
    if opset < 13:
        y = net.add("Split", y[0], outputs=2, axis=0, split=[1, 2])
    else:
        y = net.add("Split", y[0], net.ints(1, 2), outputs=2, axis=0)
    return net.model([("x", T.FLOAT, [3, 4, 10, 10])], y)
