# SPDX-License-Identifier: Apache-2.0
"""Do the tests notice a wrong model? Applies every row of mutants.txt to a copy of the sources, all
in one build in which VINCI_MUTANT=n chooses one, and runs the tests that are to notice each.

    mutants.py SOURCE BUILD [--full] [--part I/N] [--only ID]... [--check] [--jobs N]

SOURCE is the source tree, BUILD a folder that this script owns. --check only applies the rows, in
memory. --full runs all unit tests on each mutant, not just those its row names. --part runs every
N-th row from the I-th (from 1) on. Writes BUILD/mutants.csv; ends with 0 when every mutant is
killed, 1 when one survives, 2 when a row does not fit the sources or the build fails.
"""
import argparse
import concurrent.futures
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zlib

KEYS = ("in", "was", "is", "says", "class", "by")
CLASSES = ("timing", "stalls", "ranges", "lowering", "l2", "dram", "network", "units", "checks",
           "results", "devices", "tuning")
# Tests that compare with what the program once printed; all others reason.
GOLDEN = ("gate", "test_export", "test_export_csv", "test_bounds")
READ_ONCE = """
/* What follows is no part of the model: the mutant that this process is. */
#include <stdlib.h>
int vinci_mutant;
__attribute__((constructor)) static void read_mutant(void) {
  const char *text = getenv("VINCI_MUTANT");
  vinci_mutant = text ? atoi(text) : 0;
}
"""
DECLARATION = "extern int vinci_mutant;\n"
# Of CPU, so that a test that waits for a busy host is not taken for a test that hangs.
TIMEOUT_FACTOR, TIMEOUT_LEAST, WALL_FACTOR = 4, 20, 20


class Unfit(Exception):
    """A row, or the table, is not as it has to be."""


class Mutant:
    def __init__(self, name, line):
        self.name, self.line = name, line
        # Of the name, so that a new row leaves the files of the others as they are.
        self.number = zlib.crc32(name.encode()) & 0x7fffffff
        self.text = {}

    def fail(self, why):
        raise Unfit("mutants.txt:%d: %s: %s" % (self.line, self.name, why))

    def settle(self):
        missing = [key for key in KEYS if key not in self.text]
        if missing:
            self.fail("no '%s'" % missing[0])
        if self.text["class"] not in CLASSES:
            self.fail("class is one of %s" % ", ".join(CLASSES))
        where = self.text["in"].split()
        self.path, self.function = where[0], where[1] if len(where) > 1 else None
        self.tests = self.text["by"].split()
        self.golden = all(test in GOLDEN for test in self.tests)


def read_table(path):
    mutants, key = [], None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip()
        if not line or line.startswith("#"):
            continue
        head = re.fullmatch(r"\[([a-z0-9-]+)\]", line)
        field = re.fullmatch(r"(%s)\s*(.*)" % "|".join(KEYS), line)
        if head:
            mutants.append(Mutant(head.group(1), number))
        elif line[0].isspace() and key and mutants:
            mutants[-1].text[key] += " " + line.strip()
        elif field and mutants:
            key = field.group(1)
            mutants[-1].text[key] = field.group(2)
        else:
            raise Unfit("mutants.txt:%d: neither [name] nor one of %s" % (number, ", ".join(KEYS)))
    seen = {0}
    for mutant in mutants:
        mutant.settle()
        if mutant.number in seen:
            mutant.fail("named twice, or its name gives the number of another one")
        seen.add(mutant.number)
    return mutants


# ---- applying ------------------------------------------------------------------------------

def pattern_of(text):
    """The text with any white space where it has some or between its tokens."""
    tokens = re.findall(r"\w+|[^\w\s]", text)
    parts = [re.escape(tokens[0])]
    for before, after in zip(tokens, tokens[1:]):
        words = re.match(r"\w", before) and re.match(r"\w", after)
        parts.append((r"\s+" if words else r"\s*") + re.escape(after))
    return "".join(parts)


def function_span(mutant, source):
    """Where the function's definition lies, from its first line to the closing brace."""
    if not mutant.function:
        return 0, len(source)
    found = [match for match in re.finditer(
        r"^[a-z_][^\n;={}]*\b%s\((?:[^;{}]*)\{.*?^\}" % re.escape(mutant.function), source,
        re.MULTILINE | re.DOTALL)]
    if len(found) != 1:
        mutant.fail("%s has %d functions %s" % (mutant.path, len(found), mutant.function))
    return found[0].span()


def find_place(mutant, source):
    """Where the text to replace lies. <| and |> mark it in a longer text that is unique."""
    start, end = function_span(mutant, source)
    before, marked, after = "", mutant.text["was"], ""
    marks = re.fullmatch(r"(.*)<\|(.*)\|>(.*)", marked)
    if marks:
        before, marked, after = marks.groups()
    pattern = r"\s*".join("(%s)" % pattern_of(part) if part.strip() else "()"
                          for part in (before, marked, after))
    first = r"(?<!\w)" if re.match(r"\w", (before + marked).strip()) else ""
    last = r"(?!\w)" if re.search(r"\w$", (marked + after).strip()) else ""
    found = list(re.finditer(first + pattern + last, source[start:end]))
    if len(found) != 1:
        mutant.fail("'%s' stands %d times in %s" % (mutant.text["was"], len(found),
                                                    mutant.text["in"]))
    return start + found[0].start(2), start + found[0].end(2)


def mutated(mutant, original):
    """The original and the mutated text, as the build chooses."""
    new = "" if mutant.text["is"] == "nothing" else mutant.text["is"]
    if original.rstrip().endswith(";"):
        return "if (vinci_mutant == %d) { %s } else { %s }" % (mutant.number, new, original)
    return "(vinci_mutant == %d ? (%s) : (%s))" % (mutant.number, new, original)


def apply_all(top, mutants):
    """Files with all their mutants, none of which may overlap."""
    files = {}
    for path in sorted({mutant.path for mutant in mutants}):
        source = open(os.path.join(top, path), encoding="utf-8").read()
        places = sorted(((*find_place(m, source), m) for m in mutants if m.path == path),
                        key=lambda place: (place[0], -place[1]))
        end = 0
        for place in places:
            if place[0] < end:
                place[2].fail("its text overlaps with that of another row")
            end = place[1]
        for start, end, mutant in reversed(places):
            source = source[:start] + mutated(mutant, source[start:end]) + source[end:]
        files[path] = DECLARATION + source
    return files


def write_if_changed(path, text):
    try:
        if open(path, encoding="utf-8").read() == text:
            return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def copy_tree(top, copy, files):
    """The sources, with `files` in place of theirs or beside them; what is there already and the same
    stays as old as it is."""
    kept = set()
    for folder, folders, names in os.walk(top):
        inside = os.path.relpath(folder, top)
        folders[:] = [f for f in folders if not f.startswith(".") and f not in ("build", "_build")
                      and not f.endswith(".cache") and f != "_inst"]
        for name in names:
            path = os.path.normpath(os.path.join(inside, name))
            kept.add(path)
            source, target = os.path.join(top, path), os.path.join(copy, path)
            if path in files:
                write_if_changed(target, files[path])
                continue
            if os.path.exists(target):
                with open(source, "rb") as a, open(target, "rb") as b:
                    if a.read() == b.read():
                        continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target)
    for path in set(files) - kept: # that the sources do not have
        write_if_changed(os.path.join(copy, path), files[path])
        kept.add(path)
    for folder, _, names in os.walk(copy):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), copy)
            if path not in kept:
                os.remove(os.path.join(copy, path))


# ---- building and running ------------------------------------------------------------------

def build(copy, objects, programs, tests, jobs, options=()):
    log = open(os.path.join(os.path.dirname(objects), "build.log"), "w", encoding="utf-8")

    def run(command, where):
        if subprocess.run(command, cwd=where, stdout=log, stderr=log, check=False).returncode:
            raise Unfit("%s failed, see %s" % (command[0], log.name))

    if not os.path.exists(os.path.join(objects, "Makefile")):
        os.makedirs(objects, exist_ok=True)
        run([os.path.join(copy, "configure"), "-q", "CC=" + os.environ.get("CC", "gcc"),
             "CXX=" + os.environ.get("CXX", "g++"), "CFLAGS=-O1", "CXXFLAGS=-O1", *options],
            objects)
    programs = [programs[test] for test in tests if test != "gate" and not is_script(test)]
    run([os.environ.get("MAKE", "make"), "-s", "-j%d" % jobs, "vinci"] + programs, objects)


def is_script(test):
    return test.endswith(".sh")


class Runner:
    def __init__(self, copy, objects, programs):
        self.copy, self.objects, self.programs = copy, objects, programs
        self.limit = {}
        self.environment = dict(
            os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", TESTS_SRCDIR=copy,
            VINCI=os.path.join(objects, "vinci"), VINCI_DATA=os.path.join(copy, "scripts"),
            VINCI_SHARED_LIBRARY=os.path.join(objects, ".libs", "libvinci.so"))

    def run(self, test, number):
        """None, or what the test says of the mutant."""
        if test == "gate":
            suite = os.path.join(self.copy, "tests", "gate", "operators")
            command = [self.environment["VINCI"], "gate", "check", suite + ".lua", "--strict",
                       "--baseline=" + suite + ".csv"]
        elif is_script(test):
            command = ["sh", os.path.join(self.copy, self.programs[test])]
        else:
            command = [os.path.join(self.objects, self.programs[test])]
        limit = self.limit.get(test)
        if limit:
            command = ["sh", "-c", "ulimit -c 0; ulimit -t %d; exec \"$@\"" % limit, "sh"] + command
        try:
            done = subprocess.run(command, cwd=self.objects, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False,
                                  env=dict(self.environment, VINCI_MUTANT=str(number)),
                                  timeout=limit and limit * WALL_FACTOR)
        except subprocess.TimeoutExpired:
            return "it hangs"
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "it hangs"
        said = done.stdout.decode("utf-8", "replace")
        if re.match(r"1\.\.0 # SKIP", said):
            raise Unfit("%s was skipped: %s" % (test, said.strip()))
        failed = re.search(r"^not ok \d+ - (.*)$", said, re.MULTILINE) # scripts end with 0 all the same
        if failed:
            return failed.group(1)
        if done.returncode == 0:
            return None
        return "signal %d" % -done.returncode if done.returncode < 0 else "differs"

    def measure(self, test):
        begin = time.monotonic()
        said = self.run(test, 0)
        if said:
            raise Unfit("without a mutant %s fails: %s" % (test, said))
        seconds = time.monotonic() - begin
        self.limit[test] = max(TIMEOUT_LEAST, TIMEOUT_FACTOR * seconds)
        return seconds


def judge(runner, mutant, tests):
    """Pairs of tests that notice the mutant and what they say."""
    killers = []
    for test in tests:
        said = runner.run(test, mutant.number)
        if said:
            killers.append((test, said))
    return killers


def order_of(mutant, unit_tests, full):
    return mutant.tests + [t for t in unit_tests if t not in mutant.tests] if full else mutant.tests


def run_all(runner, mutants, unit_tests, options):
    begin, lock, results = time.monotonic(), threading.Lock(), {}

    def one(mutant):
        killers = judge(runner, mutant, order_of(mutant, unit_tests, options.full))
        with lock:
            results[mutant.name] = killers
            done, passed = len(results), time.monotonic() - begin
            left = passed / done * (len(mutants) - done)
            said = "; ".join("%s: %s" % killer for killer in killers) or "SURVIVES"
            print("%3d/%d, %3.0f s left: %s: %s" % (done, len(mutants), left, mutant.name, said),
                  flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(one, mutant) for mutant in mutants]:
            future.result()
    return results


def write_report(path, mutants, results):
    with open(path, "w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(("mutant", "class", "source", "says", "named", "killed_by", "kind", "cases"))
        for mutant in mutants:
            killers = results[mutant.name]
            reasons = [test for test, _ in killers if test not in GOLDEN]
            kind = "reason" if reasons else "golden" if killers else "survives"
            table.writerow((mutant.name, mutant.text["class"], mutant.text["in"],
                            mutant.text["says"], " ".join(mutant.tests),
                            " ".join(test for test, _ in killers), kind,
                            "; ".join(said for _, said in killers)))


def summary(mutants, results, seconds):
    alive = [m for m in mutants if not results[m.name]]
    golden = [m for m in mutants
              if results[m.name] and all(test in GOLDEN for test, _ in results[m.name])]
    for mutant in alive:
        print("survives: %s (%s): %s" % (mutant.name, mutant.text["in"], mutant.text["says"]))
    for mutant in mutants:
        idle = [t for t in mutant.tests if t not in [test for test, _ in results[mutant.name]]]
        if idle and results[mutant.name]:
            print("named, and notices nothing: %s: %s" % (mutant.name, " ".join(idle)))
    print("mutants: %d, killed %d: by reasoning %d, by a golden alone %d; survive %d; %.0f s" % (
        len(mutants), len(mutants) - len(alive), len(mutants) - len(alive) - len(golden),
        len(golden), len(alive), seconds))
    return 1 if alive else 0


def tests_of(top, name):
    """Name and program or script of each, as a list of tests/local.mk has them, without the one that
    sees the installed library alone."""
    text = open(os.path.join(top, "tests", "local.mk"), encoding="utf-8").read()
    listed = re.search(r"^%s = \\\n((?:\t.*\\\n)*\t.*\n)" % name, text, re.MULTILINE).group(1)
    programs = re.findall(r"tests/\w+/[\w.]+", listed)
    return {os.path.basename(path): path for path in programs if "test_public" not in path}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    top, folder = os.path.abspath(options.source), os.path.abspath(options.build)
    begin = time.monotonic()
    try:
        mutants = read_table(os.path.join(top, "tests", "mutants", "mutants.txt"))
        files = apply_all(top, mutants)
        unit_tests = tests_of(top, "unit_tests")
        programs = dict(unit_tests)
        for scripts in ("script_tests", "long_tests", "late_tests"):
            programs.update(tests_of(top, scripts))
        for mutant in mutants:
            for test in set(mutant.tests) - set(programs) - {"gate"}:
                mutant.fail("there is no test %s" % test)
        if options.check:
            print("%d mutants fit the sources" % len(mutants))
            return 0
        at, parts = (int(number) for number in options.part.split("/"))
        if not 1 <= at <= parts:
            raise Unfit("--part %s: I/N with I from 1 to N" % options.part)
        known = "core/base/status.c"
        text = open(os.path.join(top, known), encoding="utf-8").read()
        files[known] = files.get(known, text) + READ_ONCE
        unknown = set(options.only) - {mutant.name for mutant in mutants}
        if unknown:
            raise Unfit("mutants.txt has no %s" % ", ".join(sorted(unknown)))
        chosen = [m for m in mutants[at - 1::parts] if not options.only or m.name in options.only]
        tests = sorted({t for m in chosen for t in order_of(m, list(unit_tests), options.full)})
        copy, objects = os.path.join(folder, "source"), os.path.join(folder, "objects")
        copy_tree(top, copy, files)
        build(copy, objects, programs, tests, options.jobs)
        print("built after %.0f s" % (time.monotonic() - begin), flush=True)
        runner = Runner(copy, objects, programs)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            seconds = sum(pool.map(runner.measure, tests))
        print("%d tests pass without a mutant, in %.0f s" % (len(tests), seconds), flush=True)
    except Unfit as problem:
        print("error: %s" % problem, file=sys.stderr)
        return 2
    results = run_all(runner, chosen, list(unit_tests), options)
    write_report(os.path.join(folder, "mutants.csv"), chosen, results)
    return summary(chosen, results, time.monotonic() - begin)


if __name__ == "__main__":
    sys.exit(main())
