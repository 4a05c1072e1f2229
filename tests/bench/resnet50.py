#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What a run of ResNet-50 costs the host (`make bench`): processor seconds of a first run, and of a second whose
results are kept, and peak memory, each beside its target. The least of several runs counts, as other work on the
machine only adds. Fails beyond the targets.

The network is table 1 of He et al., "Deep Residual Learning for Image Recognition" (CVPR 2016), 50 layers, with
batch norms already in the weights and the stride of a stage in its first 3x3 convolution, as in frameworks.

    resnet50.py VINCI
"""

import os
import shutil
import subprocess
import sys
import tempfile

STAGES = [(64, 3), (128, 4), (256, 6), (512, 3)]  # channels inside a block, blocks
RUN = ["--soc-version=Ascend910B4", "--memory=cycle", "--repeat=1", "--quiet"]
RUNS = 5
COLD_SECONDS, WARM_SECONDS, PEAK_MIB = 0.5, 0.05, 128


class Graph:
    """Rows of a graph of layers (networks/GRAPH.md); a feature map is (name, channels, extent)."""

    def __init__(self):
        self.rows = ["graph,version=1,name=resnet50"]
        self.count = 0

    def tensor(self, shape, io=""):
        self.count += 1
        extents = "x".join(map(str, shape))
        self.rows.append(f"tensor,name=t{self.count},dtype=fp32,shape={extents}{io and ',io=' + io}")
        return f"t{self.count}"

    def layer(self, kind, inputs, shape, args="", io=""):
        out = self.tensor(shape, io)
        self.rows.append(f"layer,name=n{out},op={kind},in={' '.join(inputs)},out={out}{args and ',args=' + args}")
        return out

    def conv(self, x, channels, kernel, stride=1, relu=True):
        name, c_in, extent = x
        weights = [self.tensor([channels, c_in, kernel, kernel], "weight"), self.tensor([channels], "weight")]
        shape = [1, channels, extent // stride, extent // stride]
        pads = "x".join([str(kernel // 2)] * 4)
        args = f"kernel={kernel}x{kernel} strides={stride}x{stride} pads={pads} dilations=1x1 group=1"
        y = self.layer("Conv", [name, *weights], shape, args)
        return self.layer("Relu", [y], shape) if relu else y, channels, shape[2]

    def block(self, x, channels, stride):
        y = self.conv(self.conv(x, channels, 1), channels, 3, stride)
        y, wide, extent = self.conv(y, 4 * channels, 1, relu=False)
        if x[1] != wide:
            x = self.conv(x, wide, 1, stride, relu=False)
        shape = [1, wide, extent, extent]
        return self.layer("Relu", [self.layer("Add", [y, x[0]], shape)], shape), wide, extent


def graph(stages=len(STAGES)):
    """The text of the network for one image, or of its first stages with the classes behind."""
    net = Graph()
    name, channels, extent = net.conv((net.tensor([1, 3, 224, 224], "in"), 3, 224), 64, 7, 2)
    pool = "kernel=3x3 strides=2x2 pads=1x1x1x1 dilations=1x1 ceil=0"
    x = net.layer("MaxPool", [name], [1, channels, extent // 2, extent // 2], pool), channels, extent // 2
    for stage, (channels, blocks) in enumerate(STAGES[:stages]):
        for block in range(blocks):
            x = net.block(x, channels, 2 if stage > 0 and block == 0 else 1)
    name, channels, _ = x
    y = net.layer("GlobalAveragePool", [name], [1, channels, 1, 1])
    y = net.layer("Reshape", [y], [1, channels])
    classes = [y, net.tensor([1000, channels], "weight"), net.tensor([1000], "weight")]
    net.layer("Gemm", classes, [1, 1000], "alpha=1 beta=1 trans_a=0 trans_b=1", "out")
    return "\n".join(net.rows) + "\n"


def measure(command):
    """(processor seconds, peak memory in MiB) of one process."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"error: {' '.join(command)} ends with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    vinci = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path, kept = os.path.join(folder, "resnet50.csv"), os.path.join(folder, "kept")
        with open(path, "w", encoding="utf-8") as out:
            out.write(graph())
        command = [vinci, "net", "run", path, *RUN]
        cold, warm = [], []
        for _ in range(RUNS):
            cold.append(measure(command))
            shutil.rmtree(kept, ignore_errors=True)
            measure(command + [f"--results={kept}"])
            warm.append(measure(command + [f"--results={kept}"]))
    wrong = False
    peak = max(run[1] for run in cold + warm)
    for name, figure, target, unit in [
        ("first run", min(cold)[0], COLD_SECONDS, "s"),
        ("results kept", min(warm)[0], WARM_SECONDS, "s"),
        ("peak memory", peak, PEAK_MIB, "MiB"),
    ]:
        wrong = wrong or figure > target
        print(f"ResNet-50, {name:13} {figure:7.2f} {unit} (target: at most {target:g} {unit})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
