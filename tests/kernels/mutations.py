#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Changes the examples one place at a time: a pair of set_flag and wait_flag, a barrier, a dcci or a signal goes, an index
grows by one, a loop takes one turn more. Each kernel is executed in many orders that its flags allow, and with data
caches; what then computes something else than the example has to be found by a check. Prints TAP, and how many were found.

    mutations.py VINCI SCHEDULES FOLDER_OF_EXAMPLES FOLDER_FOR_FILES
"""

import concurrent.futures
import os
import re
import subprocess
import sys

from tap import plan, report

vinci, schedules, examples = (os.path.realpath(word) for word in sys.argv[1:4])
folder = os.path.realpath(sys.argv[4])
SOC = "Ascend910B4"


def tensor(name, dtype, shape, io):
    return f"name={name},dtype={dtype},shape={shape},io={io}"


# Example, its kernel, words of the compiler, blocks, arguments.
EXAMPLES = (
    ("histogram", (), 4, (tensor("x", "int32", "4x256", "in"), tensor("counts", "int32", "4x16", "workspace"),
                          tensor("y", "int32", "16", "out"), "value=256")),
    ("softmax", (), 4, (tensor("x", "fp32", "32x64", "in"), tensor("y", "fp32", "32x64", "out"), "value=8")),
    ("vector_add", (), 8, (tensor("x", "fp16", "65536", "in"), tensor("y", "fp16", "65536", "in"),
                           tensor("z", "fp16", "65536", "out"), "value=4")),
    ("matmul_relu", ("--core=mix",), 2, (tensor("a", "fp16", "2x128x64", "in"), tensor("b", "fp16", "2x64x128", "in"),
                                         tensor("w", "fp32", "2x128x128", "workspace"), tensor("y", "fp32", "2x128x128", "out"))),
)


def command(*words, timeout=300):
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, timeout=timeout)


def flag_pairs(lines):
    """The set of a flag and the next wait with the same words."""
    for i, line in enumerate(lines):
        found = re.match(r"\s*set_flag(\(.*\);)", line)
        if not found:
            continue
        for k in range(i + 1, len(lines)):
            if re.match(r"\s*wait_flag" + re.escape(found.group(1)), lines[k]):
                yield i, k
                break


def without(lines, *places):
    return [line for i, line in enumerate(lines) if i not in places]


def changed(lines, place, text):
    return lines[:place] + [text] + lines[place + 1:]


def mutants(lines):
    """What is changed, its line, the lines then."""
    for first, second in flag_pairs(lines):
        yield f"without the flag {lines[first].strip()[9:-2]}", first, without(lines, first, second)
    for i, line in enumerate(lines):
        word = re.match(r"\s*(pipe_barrier|dcci)\(", line)
        if word:
            yield f"without {word.group(1)}", i, without(lines, i)
        if "ffts_cross_core_sync(" in line:
            wait = next(k for k in list(range(i + 1, len(lines))) + list(range(i)) if re.match(r"\s*wait_flag_dev\(", lines[k]))
            yield "without the signal", i, without(lines, i, wait)
        for found in re.finditer(r"(?<=\w)\[((?:[^][]|\[[^][]*\])+)\]", line):
            if "__" not in line[:found.start()]:
                yield f"index + 1: {found.group(0)}", i, changed(lines, i, line[:found.start(1)] + f"({found.group(1)}) + 1" + line[found.end(1):])
        for found in re.finditer(r"= \*(\w+);", line):
            yield "index + 1 of a value", i, changed(lines, i, line[:found.start()] + f"= {found.group(1)}[1];" + line[found.end():])
        if re.match(r"\s*for \(.*; \w+ < ", line):
            yield "a turn more", i, changed(lines, i, line.replace(" < ", " <= ", 1))
        for found in re.finditer(r"block_idx \*", line):
            yield "the part of the next block", i, changed(lines, i, line[:found.start()] + "(block_idx + 1) *" + line[found.end():])


def results(library, name, blocks, arguments):
    """What the outputs are, in all orders."""
    run = command(schedules, SOC, f"{library}:{name}", str(blocks), *arguments)
    return [line.split(" ", 2)[2] for line in run.stdout.splitlines()], run.returncode


def check(library, name, blocks, arguments):
    words = [word for argument in arguments for word in ("--arg", argument)]
    return command(vinci, "check", f"{library}:{name}", f"--blocks={blocks}", f"--soc-version={SOC}", "--fill=random:1", "-q", *words)


def compiled(text, name, more):
    with open(os.path.join(folder, f"{name}.cpp"), "w", encoding="utf-8") as out:
        out.write(text)
    return command(vinci, "cc", "--kernel-only", *more, f"{name}.cpp", "-o", f"{name}.so")


def look_at(name, more, blocks, arguments, totals):
    with open(os.path.join(examples, f"{name}.cpp"), encoding="utf-8") as source:
        lines = source.read().split("\n")
    made = compiled("\n".join(lines), name, more)
    right, code = results(f"{name}.so", name, blocks, arguments)
    report(f"{name} computes the same in {len(right)} orders", "" if not made.returncode and not code and len(set(right)) == 1 else made.stderr + str(right))
    clean = check(f"{name}.so", name, blocks, arguments)
    report(f"{name}: a check finds nothing", clean.stdout if clean.returncode or "WARNING" in clean.stdout else "")

    def look(number, what, line, text):
        title, own = f"{name}.cpp:{line + 1}: {what}", f"{name}_{number}"
        if compiled("\n".join(text), own, more).returncode:
            return title, None, None
        got, code = results(f"{own}.so", name, blocks, arguments)
        said = check(f"{own}.so", name, blocks, arguments)
        return (title, code != 0 or any(result != right[0] for result in got),
                said.returncode in (3, 5) or "WARNING" in said.stdout)

    for title, matters, found in pool.map(lambda job: look(*job), [(number, *job) for number, job in enumerate(mutants(lines))]):
        if found is None:
            report(title, "is not compiled")
            continue
        totals["made"] += 1
        totals["matter"] += matters
        totals["found"] += matters and found
        totals["found too"] += found and not matters
        report(title + ("" if matters else ", which changes no result"), "" if found or not matters else "no finding, but other results")


totals = dict.fromkeys(("made", "matter", "found", "found too"), 0)
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for example in EXAMPLES:
        look_at(*example, totals)
print(f"# {totals['made']} changes: reported {totals['found']} of {totals['matter']} that change a result in some order, "
      f"and {totals['found too']} more")
plan()
