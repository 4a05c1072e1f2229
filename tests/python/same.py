# SPDX-License-Identifier: Apache-2.0
"""Does what the lines of standard input ask for on a chip: Python for test_same.sh. same.c says what comes out."""
import pathlib
import sys

import vinci

chip, folder = vinci.soc(sys.argv[1]), sys.argv[2]
for number, line in enumerate(sys.stdin, 1):
    kind, rest = line.strip().split(" ", 1)
    if kind in ("run", "trace"):
        sys.stdout.write(vinci.run(rest, chip=chip).json())
    elif kind == "check":
        sys.stdout.write(str(vinci.check(vinci.load(rest, chip=chip))))
    elif kind == "values":
        trace = vinci.compile(rest, chip=chip)
        values = vinci.values(trace).fill(7).run()
        for tensor in trace.tensors():
            if tensor.io == "out":
                values.save(tensor.name, f"{folder}/{number}.{tensor.name}.npy")
    elif kind == "list":
        vinci.ops(list=rest, output=f"{folder}/{number}", chip=sys.argv[1], jobs=1)
    elif kind == "net":
        net = vinci.net(chip, pathlib.Path(rest))
        print(f"net {net.us:.6f} {net.first_us:.6f} {net.kernels} {net.hbm_bytes} {net.memory_bytes}")
    elif kind == "group":
        job = vinci.group_run(pathlib.Path(rest).read_bytes())
        for rank in job.ranks:
            print(f"{rank.computing_us:.6f} {rank.exposed_us:.6f} {rank.idle_us:.6f}")
            if rank.held:
                held = rank.held["activations"]
                print(f"{rank.peak_bytes} {rank.peak_us:.6f} {held.peak_bytes} {held.most_bytes}")
        print(f"group {job.end_us:.6f} {job.moved_bytes}")
    sys.stdout.flush()
