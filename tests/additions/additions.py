# SPDX-License-Identifier: Apache-2.0
"""Is an addition made in one place? Applies the patches of this folder to a copy of the sources, each
of which adds one thing, builds them together, and runs what shows that each addition works.

    additions.py SOURCE BUILD [--check] [--renew] [--full] [--only NAME]... [--jobs N]

SOURCE is the source tree, BUILD a folder that this script owns. A patch begins with what it says: how
many files outside tests/ it changes, which unit tests have to pass with it, which other programs its
proof needs, and commands that have to succeed. CONTRIBUTING.md shows each patch in a block that
begins with ```diff and the path of the patch. --check only applies the patches, each alone and all
together, and compares those blocks; --renew writes the blocks, and the patches too where only the
lines around their changes have become others. --full runs all unit tests. Ends with 0 when all
additions work, 1 when one does not, 2 when a patch does not fit or the build fails.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mutants"))
import mutants  # noqa: E402  how a copy of the sources is made and built

KEYS = ("says", "files", "tests", "needs", "run")
GUIDE = "CONTRIBUTING.md"
PYTHON = "/usr/bin/python3"
TIMEOUT_SECONDS = 3600
# Of the two lines on each side of a change, how many may have become others where a patch is written
# anew: not those next to the change, or it may land in the middle of something else.
FUZZ = 1


class Addition:
    """A patch, and what it says of itself."""

    def __init__(self, path):
        self.path, self.name = path, os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding="utf-8") as file:
            self.head, mark, diff = file.read().partition("--- ")
        self.diff = mark + diff
        self.text = {key: [] for key in KEYS}
        for line in filter(None, self.head.splitlines()):
            key, _, value = line.partition(" ")
            if key not in KEYS:
                self.fail("begins with one of %s, not '%s'" % (", ".join(KEYS), key))
            self.text[key].append(value.strip())
        parts = re.split(r"^(?=--- )", self.diff, flags=re.MULTILINE)[1:]
        self.files = [re.search(r"^\+\+\+ b/(\S+)", part, re.MULTILINE).group(1) for part in parts]
        self.sources = [file for file in self.files if not file.startswith("tests/")]
        self.lines = sum(len(re.findall(r"^\+(?!\+\+ )", part, re.MULTILINE))
                         for file, part in zip(self.files, parts) if file in self.sources)
        if self.text["files"] != [str(len(self.sources))]:
            self.fail("says files %s, and changes %d outside tests/: %s" % (
                " ".join(self.text["files"]), len(self.sources), " ".join(self.sources)))

    def fail(self, why):
        raise mutants.Unfit("%s: %s" % (os.path.basename(self.path), why))

    def words(self, key):
        return " ".join(self.text[key]).split()

    def apply(self, folder, fuzz):
        done = subprocess.run(["patch", "-p1", "-F%d" % fuzz, "-s", "--no-backup-if-mismatch", "-r-"],
                              cwd=folder, input=self.diff.encode(), check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            self.fail("does not fit the sources\n%s" % done.stdout.decode())


def patched(top, additions, fuzz=0):
    """Texts of the files that the additions change, after all of them."""
    paths = {path for addition in additions for path in addition.files}
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.exists(os.path.join(top, path)):
                with open(os.path.join(top, path), encoding="utf-8") as source:
                    mutants.write_if_changed(target, source.read())
        for addition in additions:
            addition.apply(folder, fuzz)
        texts = {}
        for path in paths:
            with open(os.path.join(folder, path), encoding="utf-8") as file:
                texts[path] = file.read()
        return texts


def rewrite(top, addition):
    """The patch with the lines around its changes as the sources have them now."""
    texts, parts = patched(top, [addition], FUZZ), []
    for path in addition.files:
        old = os.path.join(top, path)
        known = os.path.exists(old)
        command = ["diff", "-p", "-U2", "--label", "a/" + path if known else "/dev/null", "--label",
                   "b/" + path, old if known else "/dev/null", "-"]
        parts.append(subprocess.run(command, input=texts[path].encode(), check=False,
                                    stdout=subprocess.PIPE).stdout.decode())
    addition.diff = "".join(parts)
    mutants.write_if_changed(addition.path, addition.head + addition.diff)


# ---- the guide -----------------------------------------------------------------------------

def shown(addition):
    return "```diff tests/additions/%s.patch\n%s```\n" % (addition.name, addition.diff)


def renewed(guide, addition):
    """The guide with the patch as it is now in its block."""
    block = r"```diff tests/additions/%s\.patch\n.*?^```\n" % re.escape(addition.name)
    if len(re.findall(block, guide, re.MULTILINE | re.DOTALL)) != 1:
        addition.fail("%s has no block ```diff tests/additions/%s.patch" % (GUIDE, addition.name))
    return re.sub(block, lambda _: shown(addition), guide, flags=re.MULTILINE | re.DOTALL)


def look_after_guide(top, additions, renew):
    path = os.path.join(top, GUIDE)
    with open(path, encoding="utf-8") as file:
        guide = file.read()
    for addition in additions:
        text = renewed(guide, addition)
        if text != guide and not renew:
            addition.fail("%s shows another patch; --renew writes this one" % GUIDE)
        guide = text
    mutants.write_if_changed(path, guide)


# ---- proofs --------------------------------------------------------------------------------

def prove(runner, addition, tests):
    """What goes wrong with the addition, a line each."""
    wrong = []
    for test in tests:
        said = runner.run(test, 0)
        if said:
            wrong.append("%s: %s" % (test, said))
    for command in addition.text["run"]:
        done = subprocess.run(["sh", "-c", command], cwd=runner.objects, check=False,
                              env=dict(runner.environment, PYTHON=PYTHON, PYTHONDONTWRITEBYTECODE="1"),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT_SECONDS)
        if done.returncode:
            said = done.stdout.decode("utf-8", "replace").strip().splitlines()
            wrong.append("%s: exit code %d%s" % (command, done.returncode,
                                                 ", ends: " + said[-1] if said else ""))
    return wrong


def build_and_prove(top, folder, additions, options):
    copy, objects = os.path.join(folder, "source"), os.path.join(folder, "objects")
    programs = mutants.tests_of(top, "unit_tests")
    tests = {addition.name: addition.words("tests") for addition in additions}
    for addition in additions:
        unknown = [test for test in tests[addition.name] if test not in programs]
        if unknown:
            addition.fail("tests/local.mk has no %s" % ", ".join(unknown))
    needed = {name for names in tests.values() for name in names}
    others = list(programs) if options.full else []
    needed.update(others)
    for addition in additions:
        for program in addition.words("needs"):
            programs[program] = program
            needed.add(program)
    mutants.copy_tree(top, copy, patched(top, additions))
    mutants.build(copy, objects, programs, sorted(needed), options.jobs, ["--enable-werror"])
    runner, failures = mutants.Runner(copy, objects, programs), 0
    for addition in additions:
        wrong = prove(runner, addition, tests[addition.name])
        failures += bool(wrong)
        print("%-12s %d files, %d new lines, and %d files of tests: %s" % (
            addition.name, len(addition.sources), addition.lines,
            len(addition.files) - len(addition.sources), "; ".join(wrong) or "works"), flush=True)
    for test in others:
        said = runner.run(test, 0)
        failures += bool(said)
        if said:
            print("with all additions %s fails: %s" % (test, said), flush=True)
    print("additions: %d, %s" % (len(additions), "failures: %d" % failures if failures else "all work"))
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args()
    top, folder = os.path.abspath(options.source), os.path.abspath(options.build)
    try:
        additions = [Addition(path) for path in
                     sorted(glob.glob(os.path.join(top, "tests", "additions", "*.patch")))]
        for addition in additions:
            if options.renew:
                rewrite(top, addition)
            patched(top, [addition])
        patched(top, additions)
        look_after_guide(top, additions, options.renew)
        if options.check or options.renew:
            print("%d additions fit the sources, alone and together" % len(additions))
            return 0
        chosen = [a for a in additions if not options.only or a.name in options.only]
        return build_and_prove(top, folder, chosen, options)
    except mutants.Unfit as problem:
        print("error: %s" % problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
