#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The example kernels in C++: compiled, run with values beside numpy, checked; and the same kernels with
mistakes, each of which is found at its line. Prints TAP.

    kernels.py VINCI FOLDER_OF_SOURCES FOLDER_FOR_FILES
"""

import json
import os
import re
import subprocess
import sys

import numpy as np

from tap import plan, report

vinci, sources = sys.argv[1:3]
folder = os.path.realpath(sys.argv[3])
chip = "--soc-version=Ascend910B4"
random = np.random.default_rng(7)


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False)


def compiled(name, core, change=lambda text: text):
    """The library of an example, after a change of its text; the path of the changed source."""
    with open(os.path.join(sources, name + ".cpp"), encoding="utf-8") as file:
        text = file.read()
    changed = change(text)
    path = os.path.join(folder, name + ".cpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)
    library = os.path.join(folder, name + ".so")
    run = command("cc", "--kernel-only", path, f"--core={core}", "-o", library)
    if run.returncode != 0:
        report(f"{name} compiles", run.stderr)
        sys.exit(0)
    if run.stdout or run.stderr:
        report(f"{name} is compiled without a word", run.stdout + run.stderr)
    return library, path


def arguments(tensors, numbers):
    """Options for tensors {name: (array, io)} and numbers; the inputs become files."""
    words = []
    for name, (array, io) in tensors.items():
        dtype = {"float16": "fp16", "float32": "fp32", "int32": "int32"}[array.dtype.name]
        shape = "x".join(str(extent) for extent in array.shape)
        words += ["--arg", f"name={name},dtype={dtype},shape={shape},io={io}"]
        if io == "in":
            path = os.path.join(folder, f"{name}.npy")
            np.save(path, array)
            words += ["--input", f"{name}={path}"]
    for number in numbers:
        words += ["--arg", f"value={number}"]
    return words


def run_example(name, core, blocks, tensors, numbers, result, expected, error):
    library, _ = compiled(name, core)
    words = [f"{library}:{name}", f"--blocks={blocks}", chip, *arguments(tensors, numbers)]
    out = os.path.join(folder, "out")
    run = command("run", *words, "--values", "--quiet", f"--output={out}")
    problem = run.stderr
    if run.returncode == 0:
        found = np.load(os.path.join(out, "tensors", result + ".npy")).astype(np.float64)
        worst = np.abs(found - expected).max()
        problem = "" if worst <= error and np.abs(found).max() > 0 else f"largest error {worst}, not {error}"
    report(f"{name} computes what numpy computes", problem)
    check = command("check", *words)
    clean = check.returncode == 0 and "WARNING" not in check.stdout
    report(f"{name} is clean", "" if clean else check.stdout + check.stderr)
    again = command("run", *words, "--json")
    once = command("run", *words, "--json")
    cut = [text.split('"host"')[0] for text in (again.stdout, once.stdout)]
    report(f"{name} takes the same time twice", "" if cut[0] == cut[1] and len(cut[0]) > 100 else cut[0][:200])


    record = os.path.join(folder, name + ".csv")
    whole = command("run", *words, "--json", f"--record={record}")
    traced = command("run", record, chip, "--json")
    results = []
    for run in (whole, traced):
        result = json.loads(run.stdout) if run.returncode == 0 else {}
        # A trace has the time of scalar code, and not its accesses.
        for key in ("host", "input_digest", "trace", "scalar_accesses_not_simulated"):
            result.pop(key, None)
        results.append(result)
    report(
        f"{name} as a recorded trace has the same result",
        "" if results[0] and results[0] == results[1] else whole.stderr + traced.stderr + "results differ",
    )


def line_of(path, text):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if text in line:
                return number
    raise ValueError(text)


def find_mistake(title, name, core, blocks, tensors, numbers, old, new, wanted, mark, verb="check"):
    """A change of the source brings a message with some words and the line that has `mark`."""

    def change(text):
        assert old in text, old
        return text.replace(old, new, 1)

    library, path = compiled(name, core, change)
    run = command(verb, f"{library}:{name}", f"--blocks={blocks}", chip, *arguments(tensors, numbers))
    said = run.stdout + run.stderr
    number = line_of(path, mark)
    place = f"line {number}" if wanted == "hangs" else f"{path}:{number}"
    missing = [word for word in (wanted, place) if word not in said]
    report(title, "" if not missing and run.returncode != 0 else f"{missing} not in:\n{said[:1500]}")


def warn_of_the_mask(name, core, blocks, tensors, numbers, sets):
    """A kernel that leaves the vector mask and its mode to the kernel before is warned of, and goes on."""

    def change(text):
        for one in sets:
            assert one in text, one
            text = text.replace(one, "", 1)
        return text

    library, _ = compiled(name, core, change)
    run = command("check", f"{library}:{name}", f"--blocks={blocks}", chip, *arguments(tensors, numbers))
    wanted = ("WARNING: state that the kernel never set", "the vector mask: used without set_vector_mask",
              "the mode of the vector mask: used without set_mask_norm or set_mask_count")
    missing = [words for words in wanted if words not in run.stdout]
    report("a kernel that never sets its mask", "" if not missing and run.returncode == 0
           else f"{missing} not in:\n{run.stdout[:1500]}{run.stderr}")


def zeros(shape, dtype=np.float32):
    return np.zeros(shape, dtype)


plan(49)
x, y = (random.standard_normal(65536).astype(np.float16) for _ in range(2))
add = {"x": (x, "in"), "y": (y, "in"), "z": (zeros(65536, np.float16), "out")}
run_example("vector_add", "aiv", 8, add, [4], "z", (x + y).astype(np.float64), 0)
warn_of_the_mask("vector_add", "aiv", 8, add, [4], ["set_mask_norm();", "set_vector_mask(-1, -1);"])

rows = random.standard_normal((32, 64)).astype(np.float32)
power = np.exp(rows.astype(np.float64) - rows.max(1, keepdims=True))
soft = {"x": (rows, "in"), "y": (zeros((32, 64)), "out")}
run_example("softmax", "aiv", 4, soft, [8], "y", power / power.sum(1, keepdims=True), 1e-6)

numbers = random.integers(0, 1 << 20, (4, 256), dtype=np.int32)
counts = {"x": (numbers, "in"), "counts": (zeros((4, 16), np.int32), "workspace"), "y": (zeros(16, np.int32), "out")}
run_example("histogram", "aiv", 4, counts, [256], "y", np.bincount(numbers.ravel() & 15, minlength=16), 0)

a, b = (random.standard_normal((256, 256)).astype(np.float16) for _ in range(2))
product = {"a": (a, "in"), "b": (b, "in"), "c": (zeros((256, 256), np.float16), "out")}
run_example(
    "matmul", "aic", 4, product, [256] * 3, "c", a.astype(np.float64) @ b.astype(np.float64), 0.04
)

a2 = random.standard_normal((2, 128, 64)).astype(np.float16)
b2 = random.standard_normal((2, 64, 128)).astype(np.float16)
mixed = {
    "a": (a2, "in"),
    "b": (b2, "in"),
    "w": (zeros((2, 128, 128)), "workspace"),
    "y": (zeros((2, 128, 128)), "out"),
}
both = np.maximum(np.matmul(a2.astype(np.float64), b2.astype(np.float64)), 0) + 1
run_example("matmul_relu", "mix", 2, mixed, [], "y", both, 1e-4)

with open(os.path.join(folder, "halves.cpp"), "w", encoding="utf-8") as out:
    out.write(
        """__global__ __aicore__ void halves(GM_ADDR y) {
  __ubuf__ half *ub = (__ubuf__ half *)(uintptr_t)0;
  for (int i = 0; i < 16; i++)
    ub[i] = (half)(i * 0.5f);
  half third = ub[3];
  ub[0] = third + ub[4];
  ub[1] = (half)1e-7f;
  ub[2] = (half)70000.0f;
  set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm(y, ub, 0, 1, 1, 0, 0);
}
"""
    )
halves = os.path.join(folder, "halves.so")
made = command("cc", "--kernel-only", os.path.join(folder, "halves.cpp"), "-o", halves)
out_folder = os.path.join(folder, "halves")
ran = command(
    "run", halves + ":halves", chip, "--arg", "name=y,dtype=fp16,shape=16,io=out", "--values", "--quiet",
    f"--output={out_folder}",
)
wanted = (np.arange(16) * 0.5).astype(np.float16)
wanted[:3] = [3.5, 1e-7, np.inf]
told = made.stderr + ran.stderr
if made.returncode == 0 and ran.returncode == 0:  # sanitizers may have something to say all the same
    halves_found = np.load(os.path.join(out_folder, "tensors", "y.npy"))
    told = "" if np.array_equal(halves_found, wanted) else str(halves_found)
report("scalar code reads and writes fp16 in UB", told)

find_mistake(
    "a missing flag is a race at its lines", "vector_add", "aiv", 8, add, [4],
    "    set_flag(PIPE_MTE2, PIPE_V, buffer);\n    wait_flag(PIPE_MTE2, PIPE_V, buffer);\n", "",
    "Potential RAW hazard", "vadd(out",
)
find_mistake(
    "a store behind the tensor is found at its line", "vector_add", "aiv", 8, add, [4],
    "to + i * tile, out", "to + (i + 1) * tile * 8, out", "outside of all tensors", "copy_ubuf_to_gm",
)
find_mistake(
    "a flag that nobody sets makes the kernel hang", "softmax", "aiv", 4, soft, [8],
    "    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);\n", "", "hangs", "wait_flag(PIPE_MTE3, PIPE_MTE2", "run",
)
find_mistake(
    "scalar code that leaves its memory is stopped at its line", "softmax", "aiv", 4, soft, [8],
    "float sum = *result;", "float sum = *result; *(volatile __gm__ float *)nullptr = sum;",
    "memory that is not there", "float sum", "run",
)
find_mistake(
    "vector cores that are called too early read what is not written", "matmul_relu", "mix", 2, mixed, [],
    "  ffts_cross_core_sync(PIPE_FIX, signal);\n", "  ffts_cross_core_sync(PIPE_MTE2, signal);\n",
    "uninitialized read", "copy_gm_to_ubuf(rows",
)
find_mistake(
    "operands out of range are told with their line", "softmax", "aiv", 4, soft, [8],
    "vexp(row, row, 1, 1, 1, 8, 8)", "vexp(row + 1000000, row, 1, 1, 1, 8, 8)", "UB", "vexp(row", "run",
)
find_mistake(
    "a trap of the kernel ends the run", "softmax", "aiv", 4, soft, [8],
    "float sum = *result;", "float sum = *result; if (i == 2) trap();", "trap()", "float sum", "run",
)
find_mistake(
    "scalar code that never ends is stopped", "softmax", "aiv", 4, soft, [8],
    "float sum = *result;", "float sum = *result; while (*(volatile __ubuf__ float *)result == sum) {}",
    "10 s without an instruction", "float sum", "run",
)


def refuse(title, words, wanted, code):
    run = command(*words)
    report(title, "" if run.returncode == code and wanted in run.stderr else f"{run.returncode}: {run.stderr}")


built, _ = compiled("vector_add", "aiv")
one = ["--arg", "name=x,dtype=fp16,shape=8,io=in"]
script = os.path.join(folder, "load.lua")
with open(script, "w", encoding="utf-8") as out:
    out.write(
        """local vinci = require "vinci"
local soc = vinci.soc "Ascend910B4"
local trace = vinci.load_kernel(soc, { library = arg[1], name = "vector_add", blocks = 8, args = {
  "name=x,dtype=fp16,shape=65536,io=in", "name=y,dtype=fp16,shape=65536,io=in",
  "name=z,dtype=fp16,shape=65536,io=out", "value=4" } })
assert(vinci.check(soc, trace) == 0)
local result = vinci.run(soc, trace, { max_events = 100000, code = "warm" })
print((result:get "total_cycles"))
local hottest = result:hotspots()[1]
print(hottest.file .. " " .. hottest.line .. " " .. hottest.op)
local ok, problem = pcall(vinci.load_kernel, soc, { library = arg[1], name = "none", args = {} })
assert(not ok and problem.status == "E_INPUT" and problem.text:find "none")
"""
    )
from_lua = command("lua", script, built)
profile = os.path.join(folder, "profile")
printed = command("run", built + ":vector_add", "--blocks=8", chip, "--code=warm", "--timeline=msprof", f"--output={profile}", *arguments(add, [4]))
source = os.path.join(folder, "vector_add.cpp")
reader = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "traces", "timelines.py")
read = subprocess.run([sys.executable, reader, "msprof", profile, source], capture_output=True, text=True, check=False)
report("tables by source line, and the source itself, in the vendor's folder",
       ("" if printed.returncode == 0 else printed.stderr) + read.stdout + read.stderr)
hottest = printed.stdout.split("Hot spots: source lines")[-1].splitlines()[2].split()[:2]
copy = f"vector_add.cpp:{line_of(source, 'copy_gm_to_ubuf(in0')}"
same = hottest == [copy, "copy_gm_to_ubuf"] and f"vector_add.cpp {copy[15:]} copy_gm_to_ubuf\n" in from_lua.stdout
report("hot spots name the source line, for people and in Lua", "" if same else f"{hottest} {copy} {from_lua.stdout}")
by_hand = json.loads(command("run", built + ":vector_add", "--blocks=8", chip, "--code=warm", "--json", *arguments(add, [4])).stdout)
same = from_lua.stdout.startswith("%d\n" % by_hand["total_cycles"])
report("Lua loads kernels", "" if same else from_lua.stdout + from_lua.stderr)

def debugged(commands):
    return command("debug", built + ":vector_add", "--blocks=8", chip, "--code=warm", *arguments(add, [4]), "-e", commands)


number = line_of(source, "vadd(out")
session = debugged(f"break vector_add.cpp:{number}; continue; list; x/2h UB; delete; continue")
wanted = [
    f"V starts vector_add.cpp:{number} vadd: vadd(out, in0, in1, repeats, 1, 1, 1, 8, 8, 8);",
    f"the run has ended after {by_hand['total_cycles']} cycles",
    "    wait_flag(PIPE_MTE3, PIPE_V, buffer);",
]
missing = [text for text in wanted if text not in session.stdout]
report("the debugger stops at a source line, shows the source, and changes no cycle", f"{missing}: {session.stdout}{session.stderr}" if missing else "")
values = [float(word) for word in session.stdout.split("UB+0x0: ")[-1].split()[:2]]
same = np.allclose(values, add["x"][0].ravel()[:2].astype(np.float64), rtol=1e-3)
report("and shows what the kernel has loaded", "" if same else f"{values} {session.stdout}")
other = debugged("break other.cpp:3")
same = other.returncode == 2 and "hint: lines are those of vector_add.cpp" in other.stderr
report("a breakpoint in another file", "" if same else other.stderr)
elsewhere = os.path.join(folder, "elsewhere")
os.makedirs(elsewhere)
for name in ("x", "y"):
    np.save(os.path.join(elsewhere, name + ".npy"), add[name][0])
words = ["run", "../" + os.path.basename(built) + ":vector_add", "--blocks=8", chip, "--values", "--quiet", "--output=out"]
for name, (array, io) in add.items():
    file = f",file={name}.npy" if io == "in" else ""
    shape = "x".join(str(extent) for extent in array.shape)
    words += ["--arg", f"name={name},dtype=fp16,shape={shape},io={io}{file}"]
words += ["--arg", "value=4", "--record=../beside.csv"]
run = subprocess.run([os.path.abspath(vinci), *words], capture_output=True, text=True, check=False, cwd=elsewhere)
result = next(name for name, (_, io) in add.items() if io == "out")
problem = run.stderr
if run.returncode == 0:
    found = np.load(os.path.join(elsewhere, "out", "tensors", result + ".npy"))
    problem = "" if np.array_equal(found, add["x"][0] + add["y"][0]) else f"{found}"
report("a file of an argument lies in the working folder, wherever the library is", problem)
again = command("run", os.path.join(folder, "beside.csv"), chip, "--values", "--quiet", "--output=" + os.path.join(folder, "again"))
problem = again.stderr
if again.returncode == 0:
    same = np.array_equal(np.load(os.path.join(folder, "again", "tensors", result + ".npy")), found)
    problem = "" if same else "other values"
report("and a trace that is recorded into another folder finds the file", problem)
refuse("a kernel that is not there", ["run", built + ":nothing", chip, *one], 'has no kernel "nothing"', 3)
refuse(
    "another architecture", ["run", built + ":vector_add", "--soc-version=Ascend310P3", *one],
    "is not compiled for dav-m200, the architecture of Ascend310P3", 3,
)
refuse(
    "an argument with a mistake", ["run", built + ":vector_add", chip, "--arg", "name=x,dtyp=fp16,shape=8,io=in"],
    'the kernel\'s arguments:3:15: error: unknown key "dtyp" in a tensor row', 3,
)
refuse("options of kernels without a kernel", ["run", "add", "shape=64", chip, "--blocks=8"], "--blocks needs LIBRARY:KERNEL", 2)
refuse(
    "a kernel in canonical form", ["check", built + ":vector_add", chip, *one, "--normalize=-"],
    "--normalize takes a trace, not a kernel", 2,
)
path = os.path.join(folder, "work.cpp")
with open(path, "w", encoding="utf-8") as file:
    file.write("""
extern "C" __global__ __aicore__ void work(__gm__ float *, uint64_t times) {
  volatile uint64_t sum = 0;
  for (uint64_t i = 0; i < times; i++)
    sum = sum + i;
  set_mask_norm();
}
""")
command("cc", "--kernel-only", path, "--core=aiv", "-o", os.path.join(folder, "work.so"))


def cycles_of_work(times, *options):
    run = command(
        "run", os.path.join(folder, "work.so:work"), chip, "--json", "--arg", "name=x,dtype=fp32,shape=8,io=in",
        "--arg", f"value={times}", *options,
    )
    return json.loads(run.stdout)["total_cycles"] if run.returncode == 0 else 0


# A turn of the loop is at least an addition and a store; a number of the chip says what each takes.
steps = [cycles_of_work(times) for times in (10000, 20000, 30000)]
double = [cycles_of_work(times, "--set=scalar.counted_cycles=2") for times in (10000, 20000)]
nothing = [cycles_of_work(times, "--set=scalar.counted_cycles=0") for times in (10000, 20000)]
turns = steps[1] - steps[0]
report(
    "scalar code takes time by what is executed",
    ""
    if turns >= 2 * 10000 and abs(steps[2] - steps[1] - turns) <= 1
    and abs(double[1] - double[0] - 2 * turns) <= 2 and nothing[0] == nothing[1] > 0
    else f"{steps} {double} {nothing}",
)
path = os.path.join(folder, "parts.cpp")
with open(path, "w", encoding="utf-8") as file:
    file.write("""
#define TEN(x) x x x x x x x x x x
extern "C" __global__ __aicore__ void parts(__gm__ float *, uint64_t part) {
  volatile uint64_t sum = 0;
  set_mask_norm();
  if (part > 0)
    for (uint64_t i = 0; i < part; i++) {
      TEN(TEN(sum = sum + i;))
    }
}
""")
command("cc", "--kernel-only", path, "--core=aiv", "-o", os.path.join(folder, "parts.so"))


def code_of_parts(part, *options):
    """Lines of code that a core needed, and those of them that were missing."""
    run = command(
        "run", os.path.join(folder, "parts.so:parts"), chip, "--arg", "name=x,dtype=fp32,shape=8,io=in",
        "--arg", f"value={part}", *options,
    )
    found = re.search(r"of (\d+) lines of code that a core needed, (\d+) were", run.stdout)
    return [int(found[1]), int(found[2])] if found else [0, run.returncode]


# Code that no block touches is not fetched, and turns of a loop fetch once. The 100 additions are at least as many
# instructions of a host; a line stands for 9 of them.
small, large, longer = code_of_parts(0), code_of_parts(1), code_of_parts(5)
halved = code_of_parts(1, "--set=code.counted_instructions=18")
unknown, warm = code_of_parts(1, "--set=code.counted_instructions=0"), code_of_parts(1, "--code=warm")
report(
    "the code that a kernel touches is fetched",
    ""
    if 0 < small[0] == small[1] <= large[0] - 11 and large == longer and abs(2 * halved[0] - large[0]) <= 1
    and unknown == [0, 0] and warm == [large[0], 0]
    else f"{small} {large} {longer} {halved} {unknown} {warm}",
)
talking, _ = compiled("vector_add", "aiv", lambda text: text.replace("  set_mask_norm();", '  vinci_print("here");'))
said = command("run", talking + ":vector_add", "--blocks=2", chip, "--quiet", *arguments(add, [1])).stderr
once_each = said.count("block 0: here\n") == 1 and said.count("block 1: here\n") == 1
report("a kernel prints", "" if once_each and said.count("here") == 2 else said)
refuse("a file that is not a library", ["run", os.path.join(folder, "vector_add.cpp") + ":a", chip], "is not a kernel library", 3)
with open(os.path.join(folder, "wrong.cpp"), "w", encoding="utf-8") as out:
    out.write("__global__ __aicore__ void wrong(GM_ADDR x) {\n  vadd(x);\n}\n")
bad = command("cc", "--kernel-only", os.path.join(folder, "wrong.cpp"), "-o", os.path.join(folder, "wrong.so"))
place = f"{os.path.join(folder, 'wrong.cpp')}:2"
report(
    "the compiler's errors keep the user's lines",
    "" if bad.returncode == 3 and place in bad.stderr else f"{bad.returncode}: {bad.stderr}",
)
refuse(
    "more options than fit", ["cc", "many.cpp", "-###", *(f"-DA{i}" for i in range(449))],
    "more than 448 options for the compiler", 2,
)
