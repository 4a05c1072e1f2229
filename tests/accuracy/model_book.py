# SPDX-License-Identifier: Apache-2.0
"""Writes the lines of the model book that follow from other files, and says what of it is not true.

    model_book.py VINCI SOURCES [--renew]

core/MODEL.md has lines '- Numbers `PATTERN ...`:', behind which the confidence of these numbers is told for a chip of
each architecture, and lines '- Accuracy "ROW":', behind which that row of ACCURACY.md is told. Each number of a chip
belongs to one line; files and commands in back quotes exist; source files of the model whose opening comment says what
they leave out are named in what their part leaves out. Prints what is wrong; --renew writes the lines.
"""
import fnmatch
import json
import os
import re
import subprocess
import sys

CHIPS = ["Ascend910B4", "Ascend950PR_9589", "Ascend310P3", "Ascend910A"]
KINDS = ["documented", "measured", "derived", "assumed"]
MODEL = ["core/sim", "core/control", "cube", "vector", "memhier", "noc", "devices"]
# The part that tells what source files leave out: the longest beginning of a path decides.
PARTS = {
    "core/sim/": "Cores and their scalar unit",
    "core/sim/schedule": "Vector unit and UB",
    "core/sim/code": "Launch, code and the host's queue",
    "core/control/": "Flags, barriers and signals",
    "cube/": "Cube",
    "vector/": "Vector unit and UB",
    "memhier/transfer/": "Transfers inside a core",
    "memhier/l2/": "L2",
    "memhier/l2/cycle_host": "Device memory",
    "memhier/l2/flat": "Device memory",
    "memhier/dram/": "Device memory",
    "noc/": "Network on chip",
    "devices/": "Several devices",
    "devices/results/energy": "Values, checks and energy",
}
HEAD = "| data set | n | mean | worst | independent? |"


def numbers_of(vinci, chip):
    told = subprocess.run([vinci, "soc", "show", chip, "--json"], check=True, stdout=subprocess.PIPE)
    return {key: row["confidence"] for key, row in json.loads(told.stdout)["numbers"].items()}


def references(path):
    with open(path, encoding="utf-8") as file:
        table = file.read().split("## All references")[1].split(HEAD)[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {row[0]: row[1:] for row in rows}


def told_numbers(patterns, chips, taken):
    parts = []
    for chip, numbers in chips.items():
        mine = [key for key in numbers if any(fnmatch.fnmatch(key, one) for one in patterns)]
        for key in mine:
            taken[chip].setdefault(key, []).append(" ".join(patterns))
        counts = [(kind, sum(numbers[key] == kind for key in mine)) for kind in KINDS]
        said = ", ".join(f"{count} {kind}" for kind, count in counts if count)
        parts.append(f"{chip} {said or 'none'}")
    return "; ".join(parts) + "."


def told_row(row):
    count, mean, worst, independent = row
    parts = [count + (" row" if count == "1" else " rows")]
    if mean:
        parts.append(mean if mean.startswith("median") else f"mean {mean}")
    if worst:
        parts.append(f"worst {worst}")
    return ", ".join(parts) + f"; independent: {independent} (`make accuracy`)."


def places_of(text, sources):
    """Files and commands that are not there."""
    with open(os.path.join(sources, "tests/local.mk"), encoding="utf-8") as file:
        made = file.read()
    for quoted in re.findall(r"`([^`]+)`", text):
        if re.fullmatch(r"[a-z][a-z0-9_]*(/[A-Za-z0-9_.]+)+", quoted):
            if not os.path.exists(os.path.join(sources, quoted)):
                yield f"no file {quoted}"
        elif quoted.startswith("make "):
            goal = quoted.split()[1]
            if goal != "check" and not re.search(rf"^{goal}:", made, re.M):
                yield f"no goal of make: {quoted}"
            for test in re.findall(r"tests/[a-z]+/test_\w+", quoted):
                if not any(os.path.exists(os.path.join(sources, test + end)) for end in (".c", ".sh")):
                    yield f"no test {test}"


def opening_comment(path):
    """The comments before the first line of code."""
    with open(path, encoding="utf-8") as file:
        return re.match(r"(\s*/\*.*?\*/)*", file.read(), re.S)[0]


def leaving_out(sources):
    """Source files of the model whose opening comment says what they leave out."""
    for room in MODEL:
        for folder, _, names in os.walk(os.path.join(sources, room)):
            for name in names:
                if name.endswith((".c", ".h", ".def")):
                    path = os.path.join(folder, name)
                    if re.search(r"\b(left\s+out:|leaves\s+out\b)", re.sub(r"\n \*", "\n", opening_comment(path)), re.I):
                        yield os.path.relpath(path, sources)


def left_out(text):
    """By part of the book, what stands behind 'Left out:'."""
    for part in text.split("\n## ")[1:]:
        name, _, body = part.partition("\n")
        yield name, re.split(r"\n- (?:Numbers|Accuracy)", body.partition("\nLeft out:")[2])[0]


def not_told(text, sources):
    """Source files that the list of their part does not name."""
    told = dict(left_out(text))
    for path in sorted(leaving_out(sources)):
        part = PARTS.get(max((start for start in PARTS if path.startswith(start)), key=len, default=None))
        if f"`{path}`" not in told.get(part, ""):
            yield f'{path} says what it leaves out, and "{part}" does not name it under "Left out"'


def main():
    vinci, sources = sys.argv[1:3]
    path = os.path.join(sources, "core/MODEL.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    chips = {chip: numbers_of(vinci, chip) for chip in CHIPS}
    taken = {chip: {} for chip in CHIPS}
    rows, wrong, lines, named = references(os.path.join(sources, "ACCURACY.md")), [], [], set()
    for line in text.splitlines():
        numbers, accuracy = re.match(r"- Numbers `([^`]*)`:", line), re.match(r'- Accuracy "([^"]*)":', line)
        if numbers:
            line = f"{numbers[0]} {told_numbers(numbers[1].split(), chips, taken)}"
        elif accuracy:
            named.add(accuracy[1])
            if accuracy[1] in rows:
                line = f"{accuracy[0]} {told_row(rows[accuracy[1]])}"
            else:
                wrong.append(f"ACCURACY.md has no row '{accuracy[1]}'")
        lines.append(line)
    for chip, numbers in chips.items():
        for key in numbers:
            parts = taken[chip].get(key, [])
            if len(parts) != 1:
                wrong.append(f"{chip}: {key} is in {len(parts)} parts of the book")
    wrong += [f"the row '{row}' of ACCURACY.md is in no part" for row in rows
              if row not in named and not row.startswith("the same")]
    wrong += places_of(text, sources)
    wrong += not_told(text, sources)
    renewed = "\n".join(lines) + "\n"
    if "--renew" in sys.argv[3:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(renewed)
    elif renewed != text:
        wrong.append("lines are not those of today: make model-book")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


sys.exit(main())
