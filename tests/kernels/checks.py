#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The page "What check finds, and what not": each row of its table against its example. Prints TAP.

    checks.py VINCI PAGE FOLDER_FOR_FILES
"""

import os
import re
import subprocess
import sys

from tap import plan, report

vinci, page = sys.argv[1:3]
folder = os.path.realpath(sys.argv[3])
chip = "--soc-version=Ascend910B4"
# What the example of a recursion calls.
HEAD = """#include <cstdlib>
__attribute__((noinline)) static int64_t deep(int64_t n) {
  volatile char room[256];
  room[n % 256] = 1;
  return n < 0 ? 0 : deep(n + 1) + room[n % 256];
}
"""


def command(*words):
    return subprocess.run([vinci, *words], capture_output=True, text=True, check=False, cwd=folder, timeout=300)


with open(page, encoding="utf-8") as file:
    text = file.read()
rows = re.findall(r"^\| ([^|]+) \| (\w+) \| ([^|]+) \|$", text.split("\nFindings in samples")[0], re.M)
rows = [row for row in rows if row[1] != "example"]
examples = {name: (form, body) for form, name, body in re.findall(r"^```(cpp|csv) (\w+)\n(.*?)^```$", text, re.M | re.S)}
begin = examples.pop("begin")[1]
names = [name for _, name, _ in rows]
report("each row has an example, and each example a row", "" if sorted(names) == sorted(examples) else f"{set(names) ^ set(examples)}")

source, lines = HEAD, {}
for name in names:
    form, body = examples[name]
    if form == "csv":
        with open(os.path.join(folder, name + ".csv"), "w", encoding="utf-8") as out:
            out.write(body)
        continue
    whole = f'extern "C" __global__ __aicore__ __vector__ void {name}(GM_ADDR x, GM_ADDR y) {{\n{begin}{body}}}\n'
    at = [i for i, line in enumerate(whole.split("\n"), 1) if "// here" in line]
    lines[name] = source.count("\n") + at[0] if at else 0
    source += whole
with open(os.path.join(folder, "checks.cpp"), "w", encoding="utf-8") as out:
    out.write(source)
made = command("cc", "--kernel-only", "checks.cpp", "-o", "checks.so")
report("the examples are compiled", made.stderr if made.returncode else "")


def problem_of(name, said, code, wanted):
    """What is wrong with what a check has said."""
    level, _, words = wanted.partition(": ")
    place = f"checks.cpp:{lines[name]}" if lines.get(name) else ""
    if wanted == "nothing":
        return "" if code == 0 and "====== " not in said else "not nothing"
    if level == "refused":
        return "" if code == 3 and words in said and place + ": error" in said or not place and words in said else "not refused"
    found = any(part.startswith(words) and place in part for part in said.split(f"====== {level}: ")[1:])
    if not found:
        return f"no {wanted!r} at {place}"
    if level != "ERROR" and "====== ERROR" in said:
        return "an error too"
    return "" if code == (5 if level == "ERROR" else 0) else "the exit code"


for kind, name, wanted in rows:
    if examples[name][0] == "csv":
        run = command("check", name + ".csv", chip, "-q")
    else:
        run = command("check", f"checks.so:{name}", "--blocks=2", chip, "-q", "--fill=random:1",
                      "--arg", "name=x,dtype=fp16,shape=256,io=in", "--arg", "name=y,dtype=fp16,shape=256,io=out")
    said = run.stdout + run.stderr
    problem = problem_of(name, said, run.returncode, wanted)
    report(f"{kind.strip()}: {wanted}", problem and f"{problem}; {run.returncode}: {said[:900]}")
plan()
