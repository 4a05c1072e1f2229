# SPDX-License-Identifier: Apache-2.0
"""Which lines, branches and functions of the sources did the tests of a build with counts run?

    coverage.py SOURCE BUILD [--jobs N] [--no-limits]

SOURCE is the source tree, BUILD a folder that was configured with --coverage and whose tests have run. Asks gcov
for the counts of every object but those of the tests. Prints a table by room; all rooms but cli/ and acl/ are the
library. Writes BUILD/functions.txt, the functions that were never called, and BUILD/lines.txt, by file the lines that
never ran and those with a branch that was never taken. Ends with 1 when the library is below a limit.

A line, branch or function counts when any object or process ran it: functions of headers are part of many objects.
A branch is a way out of a condition as gcc compiles it without optimization, so a && b has four. Nothing is excluded
but the ways of C++ exceptions, which no text in the source stands for: gcc adds them behind every call. Assertions
and errors that cannot happen count like all others.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys

# Asked of the library: what remains has to be errors that no input reaches. Not a value of some day.
LEAST_LINES, LEAST_BRANCHES = 90.0, 80.0
NOT_LIBRARY = ("cli", "acl")
BATCH = 24


def objects(build):
    """The notes that gcc has left for each object of the library and the program, also of those that never ran."""
    for folder, folders, files in os.walk(build):
        if folder == build:
            folders[:] = [name for name in folders if name != "tests"]
        for name in files:
            if name.endswith(".gcno"):
                yield os.path.join(folder, name)


def ask(notes):
    """What gcov says of some objects, one dictionary each."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *notes], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")]


class File:
    """The counts of one file of the sources, summed over objects."""

    def __init__(self):
        self.lines = collections.Counter()      # line: runs
        self.branches = {}                      # (line, function, number of branches): counts
        self.functions = collections.Counter()  # (line, name): calls

    def add(self, part):
        for function in part["functions"]:
            self.functions[function["start_line"], function["demangled_name"]] += function["execution_count"]
        for line in part["lines"]:
            self.lines[line["line_number"]] += line["count"]
            counts = [branch["count"] for branch in line["branches"] if not branch["throw"]]
            if counts:
                key = line["line_number"], line.get("function_name", ""), len(counts)
                self.branches[key] = [a + b for a, b in zip(counts, self.branches.get(key, [0] * len(counts)))]

    def counted(self):
        """Lines, those that ran, branches, those taken, functions, those called."""
        taken = [count > 0 for counts in self.branches.values() for count in counts]
        return (len(self.lines), sum(count > 0 for count in self.lines.values()), len(taken), sum(taken),
                len(self.functions), sum(count > 0 for count in self.functions.values()))


def read(source, build, jobs):
    files = collections.defaultdict(File)
    notes = sorted(objects(build))
    batches = [notes[at:at + BATCH] for at in range(0, len(notes), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for told in pool.map(ask, batches):
            for unit in told:
                for part in unit["files"]:
                    path = os.path.realpath(os.path.join(unit["current_working_directory"], part["file"]))
                    # Neither what a package of the system brings, nor what the build makes.
                    if path.startswith(source + os.sep) and not path.startswith(build + os.sep):
                        files[os.path.relpath(path, source)].add(part)
    return files


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def row(name, counts):
    lines, ran, branches, taken, functions, called = counts
    return "%-22s %7d %6.1f %% %8d %6.1f %% %7d %6.1f %%" % (
        name, lines, percent(ran, lines), branches, percent(taken, branches), functions, percent(called, functions))


def room(path):
    return "/".join(os.path.dirname(path).split("/")[:2])


def is_library(path):
    return path.split("/")[0] not in NOT_LIBRARY


def total(counts):
    return tuple(map(sum, zip(*counts))) or (0,) * 6


def ranges(numbers):
    """1 2 3 7 as "1-3 7"."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join("%d" % first if first == last else "%d-%d" % (first, last) for first, last in parts)


def write_lists(files, build):
    with open(os.path.join(build, "functions.txt"), "w", encoding="utf-8") as out:
        for path in sorted(files):
            for (line, name), calls in sorted(files[path].functions.items()):
                if calls == 0:
                    out.write("%s:%d: %s\n" % (path, line, name))
    with open(os.path.join(build, "lines.txt"), "w", encoding="utf-8") as out:
        for path in sorted(files):
            never = [line for line, count in files[path].lines.items() if count == 0]
            partly = {key[0] for key, counts in files[path].branches.items() if 0 in counts} - set(never)
            if never or partly:
                out.write("%s: never: %s; a branch never: %s\n" % (path, ranges(never) or "none",
                                                                   ranges(partly) or "none"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=os.path.realpath)
    parser.add_argument("build", type=os.path.realpath)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-limits", action="store_true", help="end with 0 whatever the table says")
    options = parser.parse_args()
    files = read(options.source, options.build, options.jobs)
    if not files:
        sys.exit("coverage.py: %s has no counts" % options.build)
    rooms = collections.defaultdict(list)
    for path in files:
        rooms[room(path)].append(files[path].counted())
    print("%-22s %7s %8s %8s %8s %7s %8s" % ("room", "lines", "run", "branches", "taken", "funct.", "called"))
    for name in sorted(rooms):
        print(row(name, total(rooms[name])))
    library = total([file.counted() for path, file in files.items() if is_library(path)])
    print(row("the library", library))
    print(row("all", total([file.counted() for file in files.values()])))
    write_lists(files, options.build)
    print("never called: %s/functions.txt; lines: %s/lines.txt" % (options.build, options.build))
    below = [(what, part, least) for what, part, least in (
        ("lines", percent(library[1], library[0]), LEAST_LINES),
        ("branches", percent(library[3], library[2]), LEAST_BRANCHES)) if part < least]
    for what, part, least in below:
        print("%s of the library: %.1f %% is below %.0f %%" % (what, part, least))
    sys.exit(1 if below and not options.no_limits else 0)


main()
