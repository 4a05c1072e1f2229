# SPDX-License-Identifier: Apache-2.0
"""Which instructions have a reference in numpy: all that compute or move values have to.

    coverage.py DRIVER

`DRIVER --list` says what there is, the tables of vector.py, registers.py, transfers.py and cube.py
what they check, by architecture and, of vector instructions, by the data type of the operand `type`. Prints
what is missing; ends with 1 if anything is.
"""

import os
import subprocess
import sys

import cube
import images
import registers
import transfers
import vector

SOCS = sorted(images.ARCHS)
# What the table of instructions has and no core can execute.
NOWHERE = {("copy_cbuf_to_ubuf", "dav-c310"): "no core of it has both L1 and UB",
           ("copy_ubuf_to_cbuf", "dav-c310"): "no core of it has both L1 and UB"}
# What tests/kernels/threads.py compares with numpy, from source: instruction and intrinsic.
FROM_SOURCE = {"reg_plds": "plds(", "reg_psts": "psts(", "reg_pstu": "pstu(", "nddma_out_to_ub": "nddma_out_to_ub_b"}
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../kernels/threads.py")


def checked():
    """What has a reference: (instruction, architecture) and (instruction, architecture, type)."""
    pairs, triples = set(), set()
    for machine in map(images.Machine, SOCS):
        for _, _, table in transfers.GROUPS + cube.GROUPS:
            pairs |= {(op, machine.arch) for op, _, fits in table if fits(machine)}
    for machine in map(vector.Machine, SOCS):
        for _, op, kind, where in vector.TABLE:
            if vector.fits(machine, op, kind, where):
                pairs.add((op, machine.arch))
                triples.add((op, machine.arch, kind))
    for _, op, kind in registers.TABLE:
        pairs.add((op, "dav-c310"))
        triples.add((op, "dav-c310", kind))
    with open(SOURCE, encoding="utf-8") as source:
        text = source.read()
    pairs |= {(op, "dav-c310") for op, intrinsic in FROM_SOURCE.items() if intrinsic in text}
    return pairs, triples


def missing(lines):
    pairs, triples = checked()
    in_vector = {op for _, op, _, _ in vector.TABLE} | {op for _, op, _ in registers.TABLE}
    for line in lines:
        op, arch, *types = line.split()
        if (op, arch) in NOWHERE:
            if (op, arch) in pairs:
                yield "%s has a reference on %s, where %s" % (op, arch, NOWHERE[op, arch])
        elif (op, arch) not in pairs:
            yield "%s has no reference on %s" % (op, arch)
        elif op in in_vector:
            for kind in types:
                if (op, arch, kind) not in triples:
                    yield "%s has no reference for %s on %s" % (op, kind, arch)


def main():
    listed = subprocess.run([sys.argv[1], "--list"], check=True, capture_output=True, text=True)
    lines = listed.stdout.splitlines()
    lacking = list(missing(lines))
    print("\n".join(lacking) or "%d pairs of instruction and architecture" % len(lines))
    return 1 if lacking or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
