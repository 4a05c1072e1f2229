#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Host instructions of the simulator, counted by valgrind's callgrind (`make bench-counts`).

Times move with the machine and its load; counts stay, on one version of compiler and libraries, within
a part of a per cent. Each row is a whole process, or the difference of two processes that differ in how
much of one unit they do, for one of these units. Counts are held against counts.csv, within 3 % either
way: what has become cheaper belongs into the baseline too (--renew). Bare commands have limits besides,
which --renew does not move.

    counts.py VINCI BASELINE [--renew] [--only "NAME;..."]
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

import resnet50

TOLERANCE = 0.03
# What users pay for bare commands, in millions: round numbers above what they take.
LIMITS = {
    "version": 1, "chip": 4, "run 256^3": 25, "run 256^3, warm": 10, "run 1024^3": 165, "run add 4 Mi": 360,
    "100,000 launches in order": 75,
}
CHIP = "--soc-version=Ascend910B4"
# The C library has several forms of memset and the like and takes the one that suits the processor: here
# those that every processor has, so that the counts are the same on all.
PLAIN = "glibc.cpu.hwcaps=-AVX,-AVX2,-BMI2,-ERMS,-FMA,-FMA4,-FSRM"
TURN = """wait_flag,src=V,dst=MTE2,id=0
copy_gm_to_ubuf,dst=0,src=x,n_burst=1,len_burst=64
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
vmuls,dst=4096,src=0,scalar=3,repeat=16,type=fp16
vadd,dst=8192,src0=0,src1=4096,repeat=16,type=fp16
set_flag,src=V,dst=MTE2,id=0
set_flag,src=V,dst=MTE3,id=0
wait_flag,src=V,dst=MTE3,id=0
copy_ubuf_to_gm,dst=y,src=8192,n_burst=1,len_burst=64
"""
WARM = """local vinci = require "vinci"
local soc = vinci.soc("Ascend910B4")
for i = 1, %d do
  vinci.run(soc, vinci.compile(soc, "matmul", { m = 256, k = 256, n = 256 }))
end
"""


def stream(passes, kibibytes, keys=""):
    """20 cores read `kibibytes` each, several times, in copies of 16 KiB."""
    return f"""trace,version=1
kernel,name=stream,arch=dav-c220,blocks=20
tensor,name=x,dtype=fp16,shape={20 * kibibytes * 512},io=in{keys}
stream,core=AIV
loop,p,{passes}
loop,i,{kibibytes // 16}
copy_gm_to_ubuf,dst=0,src=x+(blk*{kibibytes // 16}+i)*16384,len_burst=512
endloop
endloop
"""


def turns(count):
    """Loads, two vector instructions and stores with their flags, on 8 cores."""
    return f"""trace,version=1
kernel,name=turns,arch=dav-c220,blocks=8
tensor,name=x,dtype=fp16,shape=4194304,io=in
tensor,name=y,dtype=fp16,shape=4194304,io=out
stream,core=AIV
set_flag,src=V,dst=MTE2,id=0
loop,i,{count}
{TURN}endloop
wait_flag,src=V,dst=MTE2,id=0
"""


class Counter:
    """Runs processes under callgrind in a folder of its own."""

    def __init__(self, vinci, folder):
        self.vinci = os.path.abspath(vinci)
        self.folder = folder

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def process(self, *arguments):
        """(instructions, standard output) of one process."""
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", self.vinci, *arguments]
        environment = dict(os.environ, GLIBC_TUNABLES=PLAIN)
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        found = re.search(r"Collected : (\d+)", run.stderr)
        if run.returncode != 0 or not found:
            sys.exit(f"error: {' '.join(command)} ends with {run.returncode}:\n{run.stderr}")
        return int(found.group(1)), run.stdout

    def trace(self, text, memory, *more):
        """(instructions, summary) of the run of a trace."""
        count, out = self.process("run", self.file("trace.csv", text), CHIP, f"--memory={memory}", "--json", *more)
        return count, json.loads(out)


def between(few, many, units):
    """Instructions for one unit, from two runs (instructions, summary)."""
    return (many[0] - few[0]) / (units(many[1]) - units(few[1]))


def executed(summary):
    return summary["host"]["executed_instructions"]


def lines(summary):
    """Of 512 bytes, that hit L2 or miss there."""
    return (summary["l2"]["read_hits"] + summary["l2"]["read_misses"]) / 4


def bursts(summary):
    """Of 32 bytes from DRAM."""
    return summary["hbm"]["read_bytes"] / 32


def warm(counter):
    few, many = (counter.process("lua", counter.file("warm.lua", WARM % n))[0] for n in (2, 6))
    return (many - few) / 4


def network(counter, kept):
    """ResNet-50: its first stage simulated; all of it with the results of a run before."""
    path = counter.file("network.csv", resnet50.graph() if kept else resnet50.graph(stages=1))
    command = ["net", "run", path, *resnet50.RUN]
    if kept:
        command.append(f"--results={os.path.join(counter.folder, 'kept')}")
        subprocess.run([counter.vinci, *command], check=True)
    return counter.process(*command)[0]


def two(counter, memory, texts, units, *more):
    return between(*(counter.trace(text, memory, *more) for text in texts), units)


def with_output(counter):
    """An instruction that is simulated and then written into all files of a result folder."""
    folder = os.path.join(counter.folder, "output")
    return two(counter, "flat", (turns(200), turns(600)), executed, f"--output={folder}", "--savings=none")


def simulated(counter, *words):
    """A run as users type it: with its report, whose savings are estimates."""
    return counter.process("run", *words, CHIP)[0]


def steps(ranks, count):
    """A job of equal ranks: work and an all-reduce, again and again."""
    return (f"job,version=1,ranks={ranks},system=atlas_a2_910b4\ngroup,name=all,ranks=0-{ranks - 1}\n"
            f"program,ranks=0-{ranks - 1}\n" + "work,us=1000\ncollective,op=all_reduce,group=all,bytes=100000000\n" * count)


def job(counter, ranks, *options):
    """A step of a rank."""
    few, many = (counter.process("group", "run", counter.file("job.csv", steps(ranks, n)), "-q", *options)[0] for n in (2, 6))
    return (many - few) / 4 / ranks


def mesh(counter, ranks, size=100000000):
    text = steps(ranks, 1).replace("op=all_reduce", "op=all_reduce,algorithm=mesh").replace("100000000", str(size))
    return counter.process("group", "run", counter.file("job.csv", text), "-q")[0]


KERNELS = """extern "C" __global__ __aicore__ __vector__ void scattered(GM_ADDR y, int64_t turns) {
  __gm__ volatile int32_t *to = (__gm__ int32_t *)y;
  uint32_t at = 1;
  for (int64_t i = 0; i < turns; i++) {
    at = at * 1103515245 + 12345;
    to[at >> 16] = (int32_t)i;
  }
}
extern "C" __global__ __aicore__ __vector__ void stores(GM_ADDR y, int64_t turns) {
  __gm__ volatile int32_t *to = (__gm__ int32_t *)y;
  for (int64_t i = 0; i < turns; i++)
    to[i & 65535] = (int32_t)i;
}
extern "C" __global__ __aicore__ __vector__ void loads(GM_ADDR y, int64_t turns) {
  __gm__ volatile int32_t *from = (__gm__ int32_t *)y;
  for (int64_t i = 0; i < turns; i++)
    from[i & 65535];
}
extern "C" __global__ __aicore__ __vector__ void loads_apart(GM_ADDR y, int64_t turns) {
  __gm__ volatile int32_t *from = (__gm__ int32_t *)y;
  uint32_t at = 1;
  for (int64_t i = 0; i < turns; i++) {
    at = at * 1103515245 + 12345;
    from[at >> 16];
  }
}
extern "C" __global__ __aicore__ __vector__ void intrinsics(GM_ADDR y, int64_t turns) {
  set_mask_norm();
  set_vector_mask(-1, -1);
  vector_dup((__ubuf__ half *)(uintptr_t)0, (half)1, 1, 1, 1, 8, 8);
  for (int64_t i = 0; i < turns; i++) {
    pipe_barrier(PIPE_V);
    vadds((__ubuf__ half *)(uintptr_t)0, (__ubuf__ half *)(uintptr_t)0, (half)(int)(i % 4), 1, 1, 1, 8, 8);
  }
}
"""


def kernels(counter):
    library = os.path.join(counter.folder, "kernels.so")
    if not os.path.exists(library):
        source = counter.file("kernels.cpp", KERNELS)
        subprocess.run([counter.vinci, "cc", "--kernel-only", source, "-o", library], check=True)
    return library


def kernel(counter, name, units, *words, more=10000):
    """Instructions for a unit of a compiled kernel; `units`: of each turn of its loop. Loading the kernel varies by some
    20,000 instructions, which `more` turns have to outweigh."""
    library = kernels(counter)
    few, many = (
        counter.process(words[0], f"{library}:{name}", CHIP, "-q", *words[1:], "--fill=zero",
                        "--arg", "name=y,dtype=int32,shape=65536,io=inout", "--arg", f"value={turns}")[0]
        for turns in (2000, 2000 + more)
    )
    return (many - few) / more / units


def closed(counter):
    """A tensor of a kernel that uses none: its place between closed pages, and the look at what lies behind its end. No
    access pays for closed pages, so the rows of intrinsics and of scalar accesses have them without a count of their own."""
    library = kernels(counter)
    more = [word for i in range(16) for word in ("--arg", f"name=t{i},dtype=int8,shape=4000,io=inout")]
    few, many = (
        counter.process("run", f"{library}:intrinsics", CHIP, "-q", *VALUES[1:], "--fill=zero", "--arg",
                        "name=y,dtype=int32,shape=65536,io=inout", "--arg", "value=10", *tensors)[0]
        for tensors in ([], more)
    )
    return (many - few) / 16


VALUES = ("run", "--values", "--memory=flat", "--savings=none")
# Accesses: 4096 lines of data caches, each many times.
MANY = 400000
CUBE_1024 = ("matmul", "m=1024", "k=1024", "n=1024")

PLANNED = """return { layers = 4, hidden = 256, ffn = 640, heads = 4, kv_heads = 2, head_dim = 64, vocab = 1000, sequence = 128,
  global_batch = 64 }
"""


def plan(counter):
    """All splits of a small model over 8 devices: bounds, sums and the kernels of the fastest."""
    return counter.process("group", "plan", counter.file("model.lua", PLANNED), "-s", "atlas_a2_910b4", "-n", "8", "-q")[0]


LAUNCHES = """op,args
add,shape=65536 dtype=fp16 blocks=40
mul,shape=65536 dtype=fp16 blocks=40
"""


def launches(counter):
    """100,000 kernels in order: two, 50,000 times. The chip is soon as it was before. Counted is the process that simulates."""
    return counter.process("run", "--ops", counter.file("list.csv", LAUNCHES), "--sequence", "--repeat=50000", CHIP, "-q")[0]


# name, unit, how it is counted
ROWS = [
    ("version", "process", lambda c: c.process("--version")[0]),
    ("chip", "process", lambda c: c.process("soc", "show", "Ascend910B4")[0]),
    ("compile 256^3", "process", lambda c: c.process("compile", "matmul", "m=256", "k=256", "n=256", CHIP)[0]),
    ("run 256^3", "process", lambda c: simulated(c, "matmul", "m=256", "k=256", "n=256")),
    ("run 256^3, warm", "evaluation", warm),
    ("run 1024^3", "process", lambda c: simulated(c, *CUBE_1024)),
    ("run 1024^3, savings measured", "process", lambda c: c.process("run", *CUBE_1024, CHIP, "--savings=auto")[0]),
    ("run add 4 Mi", "process", lambda c: simulated(c, "add", "shape=4194304")),
    ("ResNet-50, first stage", "process", lambda c: network(c, False)),
    ("ResNet-50, results kept", "process", lambda c: network(c, True)),
    ("instruction, flat memory", "instruction", lambda c: two(c, "flat", (turns(200), turns(600)), executed)),
    ("instruction and its output", "instruction", with_output),
    ("instruction, cycle memory", "instruction", lambda c: two(c, "cycle", (turns(200), turns(600)), executed)),
    ("line that hits", "line", lambda c: two(c, "cycle", (stream(2, 64), stream(6, 64)), lines)),
    (
        "burst that streams",
        "burst",
        lambda c: two(c, "cycle", [stream(1, n, ",cache=disable") for n in (64, 256)], bursts),
    ),
    ("intrinsic with values", "intrinsic", lambda c: kernel(c, "intrinsics", 2, *VALUES)),
    ("intrinsic checked", "intrinsic", lambda c: kernel(c, "intrinsics", 2, "check")),
    ("scalar store with values", "store", lambda c: kernel(c, "scattered", 1, *VALUES, more=MANY)),
    ("scalar store checked", "store", lambda c: kernel(c, "scattered", 1, "check", more=MANY)),
    ("scalar load with values", "load", lambda c: kernel(c, "loads_apart", 1, *VALUES, more=MANY)),
    ("scalar load checked", "load", lambda c: kernel(c, "loads_apart", 1, "check", more=MANY)),
    ("store in order with values", "store", lambda c: kernel(c, "stores", 1, *VALUES, more=MANY)),
    ("store in order checked", "store", lambda c: kernel(c, "stores", 1, "check", more=MANY)),
    ("load in order with values", "load", lambda c: kernel(c, "loads", 1, *VALUES, more=MANY)),
    ("load in order checked", "load", lambda c: kernel(c, "loads", 1, "check", more=MANY)),
    ("stores to new lines checked", "store", lambda c: kernel(c, "scattered", 1, "check")),
    ("tensor and its closed ends", "tensor", closed),
    ("step of 8 ranks", "rank", lambda c: job(c, 8)),
    ("step of 64 ranks", "rank", lambda c: job(c, 64)),
    ("step of 256 ranks", "rank", lambda c: job(c, 256)),
    ("step of 1024 ranks", "rank", lambda c: job(c, 1024)),
    ("step of 4096 ranks", "rank", lambda c: job(c, 4096)),
    ("step of 16384 ranks", "rank", lambda c: job(c, 16384)),
    ("step of 64, all steps", "rank", lambda c: job(c, 64, "--unfolded")),
    ("mesh of 32 ranks", "process", lambda c: mesh(c, 32)),
    ("mesh of 256 ranks with equal parts", "process", lambda c: mesh(c, 256, 64 << 20)),
    ("plan of 8 devices", "process", plan),
    ("100,000 launches in order", "process", launches),
]


def read_baseline(path):
    with open(path, encoding="utf-8", newline="") as file:
        return {row["name"]: int(row["instructions"]) for row in csv.DictReader(file)}


def write_baseline(path, counts):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["name", "unit", "instructions"])
        for name, unit, _ in ROWS:
            out.writerow([name, unit, counts[name]])


def judge(name, count, baseline):
    """What is wrong with a count; None: nothing."""
    if name in LIMITS and count > LIMITS[name] * 1000000:
        return f"more than the limit of {LIMITS[name]} million"
    if name not in baseline:
        return "has no baseline"
    change = count / baseline[name] - 1
    if abs(change) <= TOLERANCE:
        return None
    return f"{'more' if change > 0 else 'less'} than the baseline by more than {TOLERANCE:.0%}"


def main():
    parser = argparse.ArgumentParser(description="Host instructions of the simulator.")
    parser.add_argument("vinci")
    parser.add_argument("baseline")
    parser.add_argument("--renew", action="store_true", help="makes the present counts the baseline")
    parser.add_argument("--only", default="", help="names of rows, with semicolons between")
    options = parser.parse_args()
    only = [name for name in options.only.split(";") if name]
    unknown = [name for name in only if name not in [row[0] for row in ROWS]]
    if unknown:
        parser.error(f"no row is called '{unknown[0]}'")
    baseline = read_baseline(options.baseline) if os.path.exists(options.baseline) else {}
    counts, wrong = dict(baseline), []
    with tempfile.TemporaryDirectory() as folder:
        counter = Counter(options.vinci, folder)
        for name, unit, count in ROWS:
            if only and name not in only:
                continue
            counts[name] = round(count(counter))
            problem = judge(name, counts[name], baseline)
            change = f"{counts[name] / baseline[name] - 1:+8.1%}" if name in baseline else " " * 8
            print(f"{name:26} {counts[name]:>14,} instructions, {unit:12} {change}  {problem or ''}", flush=True)
            wrong += [name] if problem else []
    above = [name for name in wrong if "limit" in judge(name, counts[name], baseline)]
    if options.renew and not above:
        write_baseline(options.baseline, counts)
        print(f"baseline: {options.baseline}")
        return 0
    if wrong:
        print(f"{len(wrong)} counts moved; when that is meant: make bench-counts COUNTS=--renew, in the same commit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
