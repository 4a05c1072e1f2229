# SPDX-License-Identifier: Apache-2.0
"""Values of tensors as arrays of numpy, from arrays, and what is refused."""
import numpy
import vinci

chip = vinci.soc("Ascend910B4")


def refused(function, what):
    try:
        function()
    except vinci.Error as error:
        assert what in str(error), error
    else:
        raise AssertionError(what)


a = numpy.arange(32 * 48, dtype="f4").reshape(32, 48) % 7
b = numpy.arange(48 * 64, dtype="f4").reshape(48, 64) % 5
values = vinci.values(chip, vinci.compile(chip, "matmul", {"m": 32, "k": 48, "n": 64}))
names = [tensor.name for tensor in values.tensors()]
values[names[0]], values[names[1]] = a, b.astype("f8")
values.run()
out = next(tensor.name for tensor in values.tensors() if tensor.io == "out")
assert numpy.allclose(values[out], a @ b), values[out]
refused(lambda: values.set(names[0], a.T), "has the shape (32, 48), not (48, 32)")
refused(lambda: values.set(names[0], b"12"), "3072 bytes, and is given 2")
refused(lambda: values.array("nobody"), "no tensor is called 'nobody'")

wide = vinci.values(vinci.compile("muls shape=64 dtype=bf16 alpha=2", chip=chip))
wide.set("x", (numpy.arange(64, dtype="<f4").view("<u4") >> 16).astype("<u2").tobytes()).run()
assert list(wide.array("y")[:5]) == [0, 2, 4, 6, 8] and wide.array("y").dtype == "f4"
refused(lambda: vinci.values("muls shape=64 dtype=fp32 alpha=2", chip=chip).run(), "has no values")
