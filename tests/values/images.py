# SPDX-License-Identifier: Apache-2.0
"""What transfers.py and cube.py share: cases on images of several memories, and the run."""

import argparse
import collections

import numpy as np

import reference as ref

GM_BASE = 0x1000
BATCH = 250
ARCHS = {"Ascend910A": "dav-c100", "Ascend310P3": "dav-m200", "Ascend950PR_9589": "dav-c310",
         "Ascend910B4": "dav-c220"}


class TooLarge(Exception):
    """The operands drawn do not fit the windows; draw again."""


class Machine:
    """What a generation does differently."""

    def __init__(self, soc):
        self.soc = soc
        self.arch = ARCHS[soc]
        self.saturates = self.arch in ("dav-c100", "dav-m200")
        self.split = self.arch in ("dav-c220", "dav-c310")
        self.a_is_nz = self.arch == "dav-c310"


class Case:
    """One instruction: register writes, operands, memories before it and what is expected."""

    def __init__(self, op, rng, machine, windows, pools):
        self.op, self.rng, self.machine = op, rng, machine
        self.registers, self.fields, self.undo = [], {}, []
        self.windows = dict(windows)
        self.offset, total = {}, 0
        for space, size in windows:
            self.offset[space] = total
            total += size
        self.before = self.slice_of(pools["bytes"], total).copy()
        self.after = None

    def slice_of(self, pool, size):
        """Bytes from a random place of a pool, which hold whole numbers of up to 8 bytes."""
        start = int(self.rng.integers(0, (len(pool) - size) // 8)) * 8
        return pool[start:start + size]

    def begin(self):
        """All of `before` is as it shall be; what the reference writes goes to `after`."""
        self.after = self.before.copy()

    def old(self, space):
        start = self.offset[space]
        return self.before[start:start + self.windows[space]]

    def new(self, space):
        start = self.offset[space]
        return self.after[start:start + self.windows[space]]

    def draw(self, low, high):
        """A random integer, both ends included."""
        return int(self.rng.integers(low, high + 1))

    def pick(self, choices):
        return choices[int(self.rng.integers(0, len(choices)))]

    def place(self, space, size, unit):
        """A random address at which size bytes fit, a multiple of unit."""
        room = self.windows[space] - max(size, 1)
        if room < 0:
            raise TooLarge
        return self.draw(0, room // unit) * unit

    def set(self, **fields):
        self.fields.update(fields)

    def text(self):
        fields = ",".join("%s=%s" % item for item in self.fields.items())
        return "".join(row + "\n" for row in self.registers + [self.op + "," + fields] + self.undo)


def address(space, offset):
    return GM_BASE + offset if space == "GM" else offset


def overlaps(starts, size):
    """Whether ranges of one size from these starts have bytes in common."""
    ordered = np.sort(np.asarray(starts).ravel())
    return bool((np.diff(ordered) < size).any())


def run_soc(options, machine, windows, core, table, left, pools, failures, counts):
    soc = machine.soc
    driver = ref.Driver(options.driver, soc, windows)
    rng = np.random.Generator(np.random.PCG64([options.seed, sum((soc + core).encode())]))
    if not machine.split:
        core = "AICORE"
    streams = "stream,core=%s\n" % core
    if "UB0" in dict(windows):  # of the vector cores of the block: a mixed kernel
        streams = "stream,core=AIV\nscalar\n" + streams
    head = ("trace,version=1\nkernel,name=values,arch=%s,blocks=1\n"
            "tensor,name=gm,dtype=uint8,shape=%d,io=inout\n%s"
            % (machine.arch, dict(windows)["GM"], streams))
    while left > 0 and len(failures) < 10:
        cases = [draw_case(rng, machine, table, windows, pools)
                 for _ in range(min(BATCH, left))]
        left -= len(cases)
        text = head + "".join(case.text() for case in cases)
        got = driver.run(text, np.stack([case.before for case in cases]))
        for case, image in zip(cases, got):
            counts[case.op] += 1
            at = np.flatnonzero(image != case.after)
            if len(at):
                failures.append("%s: %s\n%s" % (soc, explain(case, windows, image, at),
                                                case.text()))
    driver.close()


def explain(case, windows, image, at):
    space = [name for name, _ in windows if case.offset[name] <= at[0]][-1]
    return ("byte %d of %s is %d, was %d, expected %d (%d differ)"
            % (at[0] - case.offset[space], space, image[at[0]], case.before[at[0]],
               case.after[at[0]], len(at)))


def draw_case(rng, machine, table, windows, pools):
    while True:
        op, generator = table[int(rng.integers(0, len(table)))]
        case = Case(op, rng, machine, windows, pools)
        try:
            generator(case, pools)
        except TooLarge:
            continue
        return case


def main(description, groups, extra_pools=lambda rng: {}):
    """groups: (core, windows, table) with table rows (op, generator, fits(machine))."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("driver")
    parser.add_argument("--cases", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--soc", action="append")
    parser.add_argument("--only", help="instructions whose names start so")
    options = parser.parse_args()
    options.soc = options.soc or sorted(ARCHS)
    np.seterr(all="ignore")
    rng = np.random.Generator(np.random.PCG64(options.seed))
    pools = {"bytes": np.frombuffer(rng.bytes(1 << 20), np.uint8)}
    for kind in ("fp16", "bf16", "fp32", "int32", "int16"):
        pools[kind] = ref.pool(kind, 1 << 20, rng)
    pools.update(extra_pools(rng))
    failures, counts = [], collections.Counter()
    runs = []
    for core, windows, table in groups:
        for machine in map(Machine, options.soc):
            rows = [row[:2] for row in table if row[2](machine) and
                    (not options.only or row[0].startswith(options.only))]
            if rows:
                runs.append((machine, windows, core, rows))
    for run in runs:
        run_soc(options, *run, options.cases // len(runs), pools, failures, counts)
    for failure in failures:
        print(failure)
    print("%d instructions of %d kinds, seed %d: %s" % (
        sum(counts.values()), len(counts), options.seed,
        "%d differ" % len(failures) if failures else "all agree"))
    return 1 if failures else 0
