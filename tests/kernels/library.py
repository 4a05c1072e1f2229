#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Operators of a library with sources: host tiling, kernels with types, keys and template arguments, the cache of what
was compiled, messages. The library lies in tests/kernels/library and needs no headers but this project's. Prints TAP.

    library.py VINCI FOLDER_OF_THE_LIBRARY FOLDER_FOR_FILES
"""

import csv
import os
import shutil
import subprocess
import sys

import numpy as np

from tap import plan, report

sys.dont_write_bytecode = True
import library_operators  # noqa: E402  what operators of the open library compute
import library_values  # noqa: E402  and how they are compared

vinci = os.path.realpath(sys.argv[1])
folder = os.path.realpath(sys.argv[3])
library = os.path.join(folder, "operators")
shutil.copytree(sys.argv[2], library, dirs_exist_ok=True)
cache = os.path.join(folder, "cache")
environment = {key: value for key, value in os.environ.items() if not key.startswith("VINCI_HEADERS")}
environment.update(XDG_CACHE_HOME=cache, VINCI=vinci)
environment.pop("VINCI_LIBRARY", None)
generator = np.random.default_rng(7)


def command(*words, **more):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder,
                          env={**environment, **more})


def run(words, inputs=(), expected=(), tolerance=0.0, **more):
    """A run of an operator, compared with what numpy says."""
    line = ["run", f"--library={library}", *words, "--soc-version=Ascend910B4", "--values", "--quiet"]
    for name, array in dict(inputs).items():
        np.save(os.path.join(folder, name + ".npy"), array)
        line.append(f"--input={name}={name}.npy")
    for name, array in dict(expected).items():
        np.save(os.path.join(folder, "want_" + name + ".npy"), array)
        line.append(f"--expect={name}=want_{name}.npy")
    return command(*line, f"--rtol={tolerance}", f"--atol={tolerance}", **more)


def values(text, made):
    report(text, "" if made.returncode == 0 else f"{made.returncode}: {made.stdout}{made.stderr}")


def ends(text, made, code, *parts):
    said = made.stdout + made.stderr
    missing = [part for part in parts if part not in said]
    report(text, "" if made.returncode == code and not missing else f"{made.returncode}, without {missing}: {said}")


def kernels():
    return sorted(name for place, _, names in os.walk(cache) for name in names if name.endswith(".so"))


plan(53)

# ---- values ----

x = generator.standard_normal(100003).astype(np.float16)
b = generator.standard_normal(100003).astype(np.float16)
values("elementwise in fp16, two inputs, a tail",
       run(["ScaledAdd", "x=fp16:100003", "b=fp16:100003", "alpha=2.5"], {"x": x, "b": b},
           {"y": (x * np.float16(2.5) + b).astype(np.float16)}, 2e-3))
x = generator.standard_normal((10, 101)).astype(np.float32)
values("the same in fp32, without its optional input",
       run(["ScaledAdd", "x=fp32:10x101", "alpha=0.5"], {"x": x}, {"y": x * np.float32(0.5)}))
for columns, key in ((4096, "whole rows"), (65536 + 64, "rows in parts")):
    x = generator.standard_normal((6, columns)).astype(np.float32)
    root = 1 / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-3)
    values(f"a norm, {key}: a tiling key and a structure of its own",
           run(["RowNorm", f"x=fp32:6x{columns}", "eps=1e-3"], {"x": x},
               {"y": (x * root).astype(np.float32), "scale": np.repeat(root, 8, -1).astype(np.float32)}, 1e-4))
a = generator.standard_normal((128, 96)).astype(np.float16)
b = generator.standard_normal((96, 192)).astype(np.float16)
product = a.astype(np.float32) @ b.astype(np.float32)
for dtype, kind in (("fp32", np.float32), ("fp16", np.float16)):
    values(f"a product into {dtype}: arguments of a template",
           run(["BlockProduct", "a=fp16:128x96", "b=fp16:96x192", f"c={dtype}:128x192"], {"a": a, "b": b},
               {"c": product.astype(kind)}, 1e-2))

# ---- lists of tensors ----

lists = {f"x_{i}": generator.random(shape, np.float32) + 0.5 for i, shape in enumerate([(3, 40), (16384,), (8,)])}
shares = {f"y_{name[2:]}": (x * 4 / x.astype(np.float64).sum()).astype(np.float32) for name, x in lists.items()}
LISTS = ["ListShare", "x=fp32:3x40,fp32:16384,fp32:8", "factor=4"]
values("a list of tensors of several shapes, its tiling in another part of the library, and the sum in a register",
       run(LISTS, lists, shares, 1e-5))
made = command("run", f"--library={library}", *LISTS, "-s", "Ascend910B4", "--record=lists.csv", "--quiet")
ends("its recording is a trace", command("run", "lists.csv", "-s", "Ascend910B4", "--quiet"), 0)
ends("its scalar reads are checked", command("run", f"--library={library}", *LISTS, "-s", "Ascend910B4", "--check", "--fill=random:1"), 0)
one = next(name for place, _, names in os.walk(cache) for name in [os.path.join(place, n) for n in names]
           if name.endswith(".so") and "ListShare" in name)
for words, text in ((["--arg=list=0"], "a list has 1 to 256 tensors"),
                    (["--arg=list=2", "--arg=name=x,dtype=fp32,shape=8,io=in"], "behind list=2 stand its tensors")):
    ends("a list that is not one: " + text, command("run", one + ":list_share", *words, "-s", "Ascend910B4"), 2, text)
ends("a tensor of a list that the tiling refuses", run(["ListShare", "x=fp32:8,fp32:7"]), 2, "tensor 1 has 7 elements")

# ---- the cache ----

def products():
    """What compilers have made, and when."""
    found = [os.path.join(place, name) for place, _, names in os.walk(cache) for name in names]
    return {path: os.stat(path).st_mtime_ns for path in found if path.endswith((".o", ".so", ".gch", "/host"))}


before = products()
x = generator.standard_normal((10, 101)).astype(np.float32)
made = run(["ScaledAdd", "x=fp32:10x101", "alpha=0.5"], {"x": x}, {"y": x * np.float32(0.5)})
report("a call that was made before compiles nothing, of host code neither",
       made.stderr if made.returncode else [path for path, when in products().items() if before.get(path) != when])
before = kernels()
x = generator.standard_normal((10, 102)).astype(np.float32)
made = run(["ScaledAdd", "x=fp32:10x102", "alpha=0.25"], {"x": x}, {"y": x * np.float32(0.25)})
report("a call that differs in numbers alone adds no kernel",
       "" if made.returncode == 0 and kernels() == before else f"{before} {kernels()} {made.stderr}")
source = os.path.join(library, "scaled_add/op_kernel/scaled_add.cpp")
with open(source, encoding="utf-8") as text:
    kernel = text.read()
with open(source, "w", encoding="utf-8") as text:
    text.write(kernel.replace("(DTYPE_X)data.alpha", "(DTYPE_X)(2 * data.alpha)"))
x = generator.standard_normal((10, 101)).astype(np.float32)
values("a changed kernel is compiled anew", run(["ScaledAdd", "x=fp32:10x101", "alpha=0.5"], {"x": x}, {"y": x}))

# ---- names and messages ----

named = command("run", "RowNorm", "x=fp32:6x4096", "--soc-version=Ascend910B4", VINCI_LIBRARY=library)
ends("VINCI_LIBRARY is enough for a name that is not an operator of vinci", named, 0, "row_norm_rows on Ascend910B4")
ends("a type that the definition lacks", run(["ScaledAdd", "x=int8:64"]), 2, "ScaledAdd does not take these types", "x=fp16")
ends("a word that the operator lacks", run(["ScaledAdd", "z=fp16:64"]), 2, "ScaledAdd has no 'z'", "x b y alpha")
ends("what the tiling refuses is told by its line", run(["RowNorm", "x=fp32:6x100"]), 2, "row_norm.cpp:",
     "the last extent is not a multiple of 64", "the tiling of RowNorm refuses this call")
ends("an operator that is not there", run(["RowNorn", "x=fp32:6x64"]), 2, "no operator 'RowNorn'", "did you mean 'RowNorm'?")
other = os.path.join(library, "a/scaled_add/op_host")
os.makedirs(other)
with open(os.path.join(other, "other_def.cpp"), "w", encoding="utf-8") as text:
    text.write('// OP_ADD(ScaledAdd) for "ascend950"\n')
chosen = [row.split()[1] for row in command("library", "list", library).stdout.splitlines() if row.startswith("ScaledAdd")]
report("of two operators of a name the one for the chip counts", "" if chosen == [os.path.join(library, "scaled_add")] else chosen)
ends("and for another chip the other", command("run", f"--library={library}", "ScaledAdd", "x=fp16:64", "-s", "Ascend950PR_9589"), 3,
     "the host code of ScaledAdd was not compiled")
shutil.rmtree(os.path.join(library, "a"))
ends("the operators of a library", command("library", "list", library), 0, "BlockProduct", "ListShare", "RowNorm",
     "ScaledAdd", "4 operators")
ends("an operator to check that is not there", command("library", "check", library, "RowNorn"), 2, "did you mean 'RowNorm'?")
ends("their chips", command("library", "check", library, "RowNorm"), 0, "ascend910b,ascend950", "1 of 1 operators")

made = command("library", "check", "operators", "-s", "Ascend910B4")
ends("a library by a path from here, checked down to its runs", made, 0, "runs      3 of 3 calls, x=", "4 operators",
     "\n4 have a tiling that takes a call", "\n4 run that", "\n4 run all of up to 3 calls")
row = next(line for line in made.stdout.splitlines() if line.startswith("ListShare"))
report("calls are those of the library's own tests first", "" if "calls, #0=fp32:24x8 #1=fp32:16 @0=fp32:24x8 @1=fp32:16 factor=2.5"
       in row else row)
source = os.path.join(library, "block_product/op_kernel/block_product.cpp")
with open(source, "a", encoding="utf-8") as text:
    text.write("no_type_of_ours broken;\n")
made = command("library", "check", "operators", "BlockProduct", "ScaledAdd", "-s", "Ascend910B4")
ends("what stops a kernel is in its row", made, 3, "kernel    the kernel of BlockProduct was not compiled: block_product.cpp:",
     "no_type_of_ours", "2 operators", "\n1 run that", "kernel       1  BlockProduct")
ends("a number of calls", command("library", "check", "operators", "--calls=0", "-s", "Ascend910B4"), 2, "--calls is 1 to 99")
ends("a chip that libraries have no kernels for", command("library", "check", "operators", "-s", "Ascend310P3"), 2,
     "libraries have kernels of the 910B family")

# ---- lists of operators ----

ROWS = """Op Name,OP Type,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,args
norm,RowNorm,"6,4096",FLOAT,ND,"6,4096;6,8",FLOAT;FLOAT,ND;ND,eps=1e-3
again,RowNorm,"6,4096",FLOAT,ND,"6,4096;6,8",FLOAT;FLOAT,ND;ND,eps=1e-3
without,scaled_add,"10,101;",DT_FLOAT;DT_UNDEFINED,ND;NULL,"10,101",FLOAT,ND,
whole,aclnnScaledAdd,"64;64",FLOAT16;FLOAT16,ND;ND,64,FLOAT16,ND,
refused,RowNorm,"6,100",FLOAT,ND,"6,100;6,8",FLOAT;FLOAT,ND;ND,
ours,Add,"64;64",FLOAT16;FLOAT16,ND;ND,64,FLOAT16,ND,
"""
with open(os.path.join(folder, "rows.csv"), "w", encoding="utf-8") as out:
    out.write(ROWS)


def programs(*words):
    made = command("run", "--ops=rows.csv", f"--library={library}", "--soc-version=Ascend910B4", "--output=table", *words)
    with open(os.path.join(folder, "table/op_summary.csv"), encoding="utf-8") as table:
        rows = {row["Op Name"]: row for row in csv.DictReader(table)}
    shutil.rmtree(os.path.join(folder, "table"))
    return made, rows


def differs(want, got):
    return "" if want == got else f"{got}, not {want}"


made, rows = programs()
ends("a list runs kernels of the library", made, 0, "5 of 6 operators simulated, 1 unsupported",
     "Programs of the library: 4 operators", "Programs of the lowering: 1 operators")
found = {name: row["program"].split(":")[0] for name, row in rows.items()}
report("its rows say what their program is", differs(
    {"norm": "library", "again": "library", "without": "library", "whole": "library", "refused": "lowering", "ours": "lowering"},
    found))
refusal = rows["refused"]["program"]
report("and why the library's kernel does not run", "" if "row_norm.cpp:" in refusal and "multiple of 64" in refusal else refusal)
one = command("run", f"--library={library}", "RowNorm", "x=fp32:6x4096", "eps=1e-3", "--soc-version=Ascend910B4", "--memory=flat",
              "--l2=warm", "--json")
cycles = int(one.stdout.split('"total_cycles": ')[1].split(",")[0])
alone = programs("--l2=warm")[1]["norm"]
report("a row takes as long as its operator alone",
       "" if alone["Block Dim"] == "6" and abs(float(alone["sim_duration_us"]) * 1650 - cycles) < 2 else f"{alone}, {cycles}")
made, rows = programs("--sequence")
report("a sequence runs kernels of the library too", differs(["library", "library", "lowering"],
                                                             [rows[name]["program"] for name in ("norm", "whole", "ours")]))

with open(os.path.join(folder, "rows.lua"), "w", encoding="utf-8") as out:
    out.write(f"""local vinci = require("vinci")
local made = vinci.ops {{ list = "rows.csv", output = "lua", soc = "Ascend910B4", library = "{library}" }}
assert(made.ok == 5 and made.of_library == 4, made.of_library)
""")
ends("Lua says how many rows ran kernels of the library", command("lua", "rows.lua"), 0)

# ---- work of a job ----

JOB = """job,version=1,system=atlas_a2_910b4,ranks=1
program,ranks=0
work,op=RowNorm x=fp32:6x4096 eps=1e-3
work,op=add shape=64 dtype=fp16
"""
with open(os.path.join(folder, "work.csv"), "w", encoding="utf-8") as out:
    out.write(JOB)


def job_programs(*words, **more):
    made = command("group", "run", "work.csv", "--quiet", "--output=job", *words, **more)
    if made.returncode != 0:
        return made.stderr, {}
    with open(os.path.join(folder, "job/kernels.csv"), encoding="utf-8") as table:
        rows = {row["kernel"].split()[0]: row for row in csv.DictReader(table)}
    shutil.rmtree(os.path.join(folder, "job"))
    return {name: row["program"] for name, row in rows.items()}, rows


alone = command("run", f"--library={library}", "RowNorm", "x=fp32:6x4096", "eps=1e-3", "--soc-version=Ascend910B4", "--memory=flat", "--json")
us = float(alone.stdout.split('"duration_us": ')[1].split(",")[0])
found, rows = job_programs(f"--library={library}")
report("work of a job runs kernels of the library, for as long as they take alone",
       differs({"RowNorm": "library", "add": "lowering"}, found) or
       ("" if abs(float(rows["RowNorm"]["duration_us"]) - us) < 1e-3 else f"{rows['RowNorm']}, not {us}"))
report("VINCI_LIBRARY is enough for names that vinci does not have, in a sequence too", "\n".join(
    differs({"RowNorm": "library", "add": "lowering"}, job_programs(*words, VINCI_LIBRARY=library)[0])
    for words in ((), ("--sequence",))).strip())
said = job_programs()[0]
report("without a library the name is unknown", "" if "work.csv:3:1: error: unknown operator 'RowNorm'" in str(said) else said)



def same_refusals(row):
    """What `vinci run` says of the operator, at the row of a job: alone, in a sequence, and of $VINCI_LIBRARY."""
    with open(os.path.join(folder, "refused.csv"), "w", encoding="utf-8") as out:
        out.write(JOB.replace("RowNorm x=fp32:6x4096 eps=1e-3", row))
    alone = command("run", f"--library={library}", *row.split(), "--soc-version=Ascend910B4")
    wanted = "refused.csv:3:1: " + alone.stderr[alone.stderr.index("error: "):]
    if alone.returncode != 2:
        return f"{alone.returncode}: {alone.stderr}"
    for words, more in (([f"--library={library}"], {}), ([], {"VINCI_LIBRARY": library})):
        for sequence in ([], ["--sequence"]):
            made = command("group", "run", "refused.csv", "--quiet", *words, *sequence, **more)
            if made.returncode != 2 or made.stderr != wanted:
                return f"{row}: {words} {sequence}: {made.returncode}: {made.stderr}, not {wanted}"
    return ""


report("work that an operator of the library refuses is told as `vinci run` tells it, with the hint",
       same_refusals("RowNorm x=fp99:6x4096") or same_refusals("RowNorm x=fp32:6x4096 nosuch=3"))
report("an operator of the library without arguments is no call of the library's choice", same_refusals("RowNorm"))

# ---- what `vinci cc` takes for libraries ----

DEPENDENT = """#include "near.h"
extern "C" __global__ __aicore__ void dependent(GM_ADDR x, GM_ADDR y) {
  __ubuf__ float32_t *a = (__ubuf__ float *)(uintptr_t)0, *b = a + 4096;
  static_assert(sizeof(float16_t) == 2 && NEAR == 3, "names");
  set_mask_norm();
  set_vector_mask(0, (uint64_t)-1);
  copy_gm_to_ubuf(a, (__gm__ float *)x, 0, 1, 512, 0, 0);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  vadds(b, a, (float)get_imm(1, 0, 0, 0), 64, 1, 1, 8, 8);
  vmuls(b + 4096, a, 2.0f, 64, 1, 1, 8, 8);
  vmuls(a, a, 3.0f, 64, 1, 1, 8, 8);
  vadd(b, a, b, 64, 1, 1, 1, 8, 8, 8);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm((__gm__ float *)y, b, 0, 1, 512, 0, 0);
}
"""
for name, text in (("dependent.cpp", DEPENDENT), ("near.h", "enum { NEAR = 3 };\n")):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        out.write(text)


def cycles_and_barriers(word):
    made = command("cc", "--kernel-only", "--core=aiv", "-xcce", word, "-MD", "-MF", "made.d", "dependent.cpp", "-o", "made.so")
    if made.returncode != 0:
        return None, made.stderr
    np.save(os.path.join(folder, "x.npy"), np.arange(4096, dtype=np.float32))
    np.save(os.path.join(folder, "want.npy"), np.arange(4096, dtype=np.float32) * 4 + 1)
    made = command("run", "made.so:dependent", "--soc-version=Ascend910B4", "--arg=name=x,dtype=fp32,shape=4096,io=in",
                   "--arg=name=y,dtype=fp32,shape=4096,io=out", "--values", "--input=x=x.npy", "--expect=y=want.npy",
                   "--record=made.csv", "--json")
    if made.returncode != 0:
        return None, made.stdout + made.stderr
    with open(os.path.join(folder, "made.csv"), encoding="utf-8") as rows:
        return int(made.stdout.split('"total_cycles": ')[1].split(",")[0]), rows.read().count("pipe_barrier,pipe=V")


without, none = cycles_and_barriers("--cce-auto-sync=off")
report("without automatic synchronisation dependent vector instructions overlap", "" if none == 0 else f"{without}, {none}")
with_them, some = cycles_and_barriers("--cce-auto-sync")
report("with that the two that depend on others wait, and take longer",
       "" if some == 2 and with_them > without else f"{without}, {none}; {with_them}, {some}")
with open(os.path.join(folder, "made.d"), encoding="utf-8") as text:
    names = text.read()
report("-MD -MF names the files of a source", "" if "dependent.cpp" in names and "near.h" in names else names)
before = kernels()
made = run(["RowNorm", "x=fp32:6x4096"], {"x": np.ones((6, 4096), np.float32)}, VINCI_AUTO_SYNC="off")
report("VINCI_AUTO_SYNC=off makes a kernel of its own",
       "" if made.returncode == 0 and len(kernels()) == len(before) + 1 else f"{len(before)} {len(kernels())} {made.stderr}")

# ---- the 950 ----

second = os.path.join(folder, "operators_950")
shutil.copytree(sys.argv[2] + "_950", second, dirs_exist_ok=True)
x = generator.standard_normal(100003).astype(np.float32)
np.save(os.path.join(folder, "x.npy"), x)
np.save(os.path.join(folder, "want_y.npy"), np.abs(x))
ABS = [f"--library={second}", "Abs", "x=fp32:100003", "-s", "Ascend950PR_9589"]
values("host code and a kernel of the 950, in folders of their own, named as a function of C",
       command("run", *ABS, "--values", "--quiet", "--input=x=x.npy", "--expect=y=want_y.npy"))
made = command("run", *ABS)
ends("lines are those of the source, whose text has another name for the function", made, 0, ".cpp:20  copy_gm_to_ubuf_align_b32")
ends("a library is checked for that chip", command("library", "check", second, "-s", "Ascend950PR_9589"), 0,
     "1 operators", "\n1 run that", "\n1 run all of up to")
ends("and has no tiling for another", command("run", *ABS[:3], "-s", "Ascend910B4"), 3,
     "the host code of Abs has no tiling function that was compiled")

# ---- the table for a user's copy of the open library ----

wrong = []
for dtype in library_values.TOLERANCE:
    for name, operator in library_operators.OPERATORS.items():
        outputs = library_values.prepare(name, dtype)[2]
        if len(outputs) != len(operator["outputs"]) or not all(np.isfinite(array).all() for array in outputs.values()):
            wrong.append(f"{name} {dtype}")
report("each function of the table gives the outputs that it names, in numbers of the type", " ".join(wrong))
os.environ.update(environment, VINCI_LIBRARY=library)
# Its source was changed above: it takes alpha twice.
library_operators.add("ScaledAdd", "x b", lambda x, b: 5 * x + b, "alpha=2.5")
report("an operator that computes what its row says is right",
       library_values.run(vinci, "Ascend910B4", "fp16", "ScaledAdd", folder))
library_operators.add("ScaledAdd", "x b", lambda x, b: 5 * x + b + (x > 2.9), "alpha=2.5")
made = library_values.run(vinci, "Ascend910B4", "fp16", "ScaledAdd", folder)
report("one that differs in a few numbers is not", "" if made.startswith("4: ") and "differs" in made else made or "right")
source = os.path.join(library, "scaled_add/op_host/scaled_add_tiling.cpp")
with open(source, encoding="utf-8") as text:
    tiling = text.read()
with open(source, "w", encoding="utf-8") as text:
    text.write("namespace AscendC { int NoSuchFunction(); }\n" +
               tiling.replace("return ge::GRAPH_SUCCESS;", "return AscendC::NoSuchFunction();", 1))
ends("host code that calls a function of the headers' host library", run(["ScaledAdd", "x=fp16:64"], VINCI_TILING=""), 3,
     "the tiling of ScaledAdd ended with exit code 139", "vinci cc --tiling")
