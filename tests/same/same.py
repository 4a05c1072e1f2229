# SPDX-License-Identifier: Apache-2.0
"""Do two builds of vinci lower and simulate alike?

    same.py --ref VINCI --new VINCI [--count N] [--seed S] [--only OP,OP|REGEXP] [--chip NAME]
            [--every K] [--jobs N] [--strict] [--without KEY,KEY] [--show N]

N random operators, in turn all that `vinci compile --list` has, are compiled by both programs: exit
code, messages and text have to be equal. Texts are equal when their bytes are, or when their canonical
form is and every line begins with the same word; --strict demands the bytes. Every K-th is checked and
simulated with both memory models; the report and all files of the result have to be equal, except
host, digest of the input and lines that --without names. For others the list of all tilings is
compared. Traces of the tree that were written by hand, with mistakes too, and the operators of the
gate's suite are compared the same way. Ends with 0 when all are alike, 1 when something differs, 2 when
a program cannot be asked.
"""
import argparse
import collections
import concurrent.futures
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import cases  # noqa: E402  beside this file, and leaves no folder there

HERE = os.path.dirname(os.path.abspath(__file__))
# A case that the first program refuses is drawn anew until there have been this many.
ATTEMPTS = 5
# Both programs stop a simulation here; what they have by then is compared.
MAX_CYCLES = 400000
TIMEOUT_SECONDS = 900
# Traces that were written by hand, and a chip of their architecture.
FOLDERS = ["traces/examples", "tests/check", "tests/mutate", "tests/fuzz/corpus"]
CHIP_OF = {"dav-c100": "Ascend910A", "dav-m200": "Ascend310P3", "dav-c310": "Ascend950PR_9589"}
DIFF_LINES, LINE_LENGTH = 24, 220
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "VINCI_DATA"}


class Broken(Exception):
    """A program does not answer."""


class Said:
    """What a program said to a command line."""

    def __init__(self, program, words, folder):
        self.words = [program] + words
        try:
            done = subprocess.run(self.words, cwd=folder, env=ENVIRONMENT, check=False,
                                  timeout=TIMEOUT_SECONDS, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.code, self.out = done.returncode, done.stdout.decode("utf-8", "replace")
            self.err = done.stderr.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            self.code, self.out, self.err = -99, "", "no end after %d s\n" % TIMEOUT_SECONDS
        except OSError as problem:
            raise Broken("%s: %s" % (program, problem.strerror)) from problem

    def command(self):
        return " ".join(shlex.quote(word) for word in self.words)


class Pair:
    """The two programs, and a folder of texts for each."""

    def __init__(self, ref, new, folder):
        self.programs = {"ref": os.path.abspath(ref), "new": os.path.abspath(new)}
        self.folders = {side: os.path.join(folder, side) for side in self.programs}
        for path in self.folders.values():
            os.mkdir(path)

    def ask(self, words):
        return [Said(self.programs[side], words, self.folders[side]) for side in ("ref", "new")]

    def asked_once(self, words):
        said = Said(self.programs["new"], words, self.folders["new"])
        if said.code:
            raise Broken("%s\n%s" % (said.command(), said.err))
        return said.out

    def path(self, side, name):
        return os.path.join(self.folders[side], name)

    def keep(self, name, said):
        for side, one in zip(("ref", "new"), said):
            with open(self.path(side, name), "w", encoding="utf-8") as out:
                out.write(one.out)

    def read(self, name):
        texts = []
        for side in ("ref", "new"):
            with open(self.path(side, name), encoding="utf-8") as file:
                texts.append(file.read())
        return texts


class Report:
    def __init__(self, show):
        self.show, self.counts, self.differing = show, collections.Counter(), collections.Counter()

    def differs(self, what, commands, ref, new):
        """Prints the first of each kind."""
        self.differing[what] += 1
        if self.differing[what] > self.show:
            return
        print("differs: %s" % what)
        for command in commands:
            print("  " + command)
        lines = list(difflib.unified_diff(ref.splitlines(), new.splitlines(), "ref", "new",
                                          lineterm="", n=2))
        for line in lines[:DIFF_LINES]:
            print("    " + line[:LINE_LENGTH])
        if len(lines) > DIFF_LINES:
            print("    ... %d more lines" % (len(lines) - DIFF_LINES))
        sys.stdout.flush()


def wholly(said):
    """Exit code and messages, then what was printed: to be compared at once."""
    return "exit code %d\n%s%s" % (said.code, said.err, said.out)


# ---- programs' texts -----------------------------------------------------------------------

def line_heads(text):
    return [re.match(r"\s*(#|[^,]*)", line).group(1) for line in text.splitlines()]


class Text:
    """What both programs made of a command line."""

    def __init__(self, name, said, chip, sets):
        self.name, self.said, self.chip, self.sets = name, said, chip, sets
        self.accepted = all(one.code == 0 for one in said)
        self.equal_bytes = all(wholly(one) == wholly(said[0]) for one in said)


def canonical(pair, texts):
    """The canonical forms of all texts, by one process of the newer program, in files."""
    listed = os.path.join(pair.folders["ref"], "texts")
    with open(listed, "w", encoding="utf-8") as out:
        for text in texts:
            for side in ("ref", "new"):
                out.write("\t".join([pair.path(side, text.name + ".canonical"),
                                     pair.path(side, text.name), text.chip] + text.sets) + "\n")
    if texts:
        pair.asked_once(["lua", os.path.join(HERE, "same.lua"), "texts", listed])


def judge_texts(pair, texts, strict, report):
    doubtful = [text for text in texts if text.accepted and not text.equal_bytes]
    canonical(pair, doubtful)
    for text in texts:
        ref, new = text.said
        commands = [one.command() for one in text.said]
        if text.equal_bytes:
            report.counts["equal bytes" if text.accepted else "refused alike"] += 1
        elif not text.accepted:
            report.differs("exit code or message", commands, wholly(ref), wholly(new))
        elif ref.err != new.err:
            report.differs("message", commands, ref.err, new.err)
        else:
            forms = pair.read(text.name + ".canonical")
            heads = [line_heads(one.out) for one in text.said]
            if forms[0] != forms[1]:
                report.differs("program, in canonical form", commands, *forms)
            elif heads[0] != heads[1]:
                report.differs("lines of the program", commands, "\n".join(heads[0]),
                               "\n".join(heads[1]))
            elif strict:
                report.differs("bytes of the program", commands, ref.out, new.out)
            else:
                report.counts["equal canonical form and lines"] += 1


# ---- simulations ---------------------------------------------------------------------------

def without(text, keys):
    """Without what depends on the host, without the lines of programs that hot spots quote (programs are
    compared on their own), and without lines that begin with a key."""
    text = re.sub(r',?\s*"host": \{[^}]*\}', "", text)
    text = re.sub(r', "text": "(?:[^"\\]|\\.)*"', "", text)
    for key in keys:
        text = re.sub(r'^ *"?%s\b.*\n' % re.escape(key), "", text, flags=re.MULTILINE)
    return text


def folder_text(path, keys):
    """All files of a result folder, in order of their names, but the command, which older builds do not keep."""
    parts = []
    names = os.listdir(path) if os.path.isdir(path) else []
    for name in sorted(name for name in names if name != "command.json"):
        with open(os.path.join(path, name), encoding="utf-8", errors="replace") as file:
            text = file.read()
        parts.append("== %s\n%s" % (name, without(text, keys)))
    return "".join(parts)


def told_by_both(texts):
    """Without what the critical path has found, if one of the two builds does not tell this."""
    state = re.compile(r'^ *"state": \{[^}]*\},?\n', re.MULTILINE)
    return texts if all(map(state.search, texts)) else [state.sub("", text) for text in texts]


def run_words(path, chip, sets, models):
    return (["run", path, "--check", "--max-cycles=%d" % MAX_CYCLES, "-s", chip]
            + ["--set=" + text for text in sets] + models)


def run_both(pair, made, words, keys, report):
    """Report, findings, and all files of the result; `made` made the trace of each program, if given."""
    folder = os.path.splitext(os.path.basename(words[1]))[0] + "-result"
    said = pair.ask(words + ["--output=" + folder])
    texts = []
    for side, one in zip(("ref", "new"), said):
        files = pair.path(side, folder)
        texts.append(without(wholly(one), keys) + folder_text(files, keys))
        shutil.rmtree(files, ignore_errors=True)
    texts = told_by_both(texts)
    if texts[0] == texts[1]:
        report.counts["equal result" if said[0].code == 0 else "equal result that is partial"] += 1
    else:
        commands = [one.command() for one in said]
        if made:
            commands = ["%s >%s && %s" % (one.command(), words[1], command)
                        for one, command in zip(made, commands)]
        report.differs("result", commands, *texts)


# ---- random operators ----------------------------------------------------------------------

def operators_of(pair):
    keys = collections.OrderedDict()
    for line in pair.asked_once(["lua", os.path.join(HERE, "same.lua"), "operators"]).splitlines():
        op, *fields = line.split("\t")
        keys.setdefault(op, []).append(cases.Key(fields))
    return keys


def chosen_names(keys, only):
    if not only:
        return list(keys) + 2 * [name for name in cases.OFTEN if name in keys]
    names = [name for name in keys if name in only.split(",") or re.fullmatch(only, name)]
    if not names:
        raise Broken("no operator is named %s" % only)
    return names


class Random:
    """The random operators; each is compared and, where its turn comes, simulated."""

    def __init__(self, pair, keys, names, options, report):
        self.pair, self.keys, self.names = pair, keys, names
        self.options, self.report = options, report
        self.accepted = collections.Counter()

    def due(self, number, offset):
        return (number % len(self.names) + number // len(self.names) + offset) % self.options.every == 0

    def tilings(self, case):
        said = self.pair.ask(["compile"] + case.words() + ["--tilings"])
        if wholly(said[0]) == wholly(said[1]):
            self.report.counts["equal list of tilings"] += 1
        else:
            self.report.differs("list of tilings", [one.command() for one in said],
                                wholly(said[0]), wholly(said[1]))
        return [line.split(",")[0] for line in said[0].out.splitlines()[1:]]

    def one(self, number):
        """Texts of the case and, while nothing accepts its arguments, of others in its place."""
        texts = []
        for attempt in range(ATTEMPTS):
            case = cases.make(self.keys, self.names, self.options.seed, number, attempt)
            if self.options.chip:
                case.chip = self.options.chip
            if case.scenario == "tiling":
                cases.force(case, self.tilings(case))
            elif attempt == 0 and self.due(number, 1):
                self.tilings(case)
            said = self.pair.ask(["compile"] + case.words())
            texts.append(Text("%d-%d.csv" % (number, attempt), said, case.chip, case.sets))
            if texts[-1].accepted:
                self.accepted[case.op] += 1
                self.pair.keep(texts[-1].name, said)
                if self.due(number, 0) and case.elements <= cases.SIMULATED_ELEMENTS:
                    self.simulate(texts[-1], case)
                break
            if case.scenario == "refused":
                break
        return texts

    def simulate(self, text, case):
        """Each program runs what that program compiled."""
        for memory in ("flat", "cycle"):
            words = run_words(text.name, text.chip, text.sets, ["--memory=" + memory] + case.models)
            run_both(self.pair, text.said, words, self.options.without + ["input_digest"], self.report)

    def all(self):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            texts = [text for some in pool.map(self.one, range(self.options.count)) for text in some]
        judge_texts(self.pair, texts, self.options.strict, self.report)
        names = sorted(set(self.names))
        rare = [name for name in names if self.accepted[name] < min(
            4, self.options.count // len(self.names) - 1)]
        print("operators: %d, each accepted at least %d times%s" % (
            len(names), min(self.accepted[name] for name in names),
            "; seldom: " + ", ".join(rare) if rare else ""))


# ---- files that are there ------------------------------------------------------------------

def written_by_hand(tree):
    """Traces and a chip for each: examples, programs with mistakes, what the reader of traces met."""
    for folder in FOLDERS:
        folder = os.path.join(tree, *folder.split("/"))
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            if name.endswith(".csv"):
                with open(path, encoding="utf-8", errors="replace") as file:
                    arch = re.search(r"\barch=([\w-]+)", file.read())
                yield path, CHIP_OF.get(arch.group(1) if arch else "", "Ascend910B1")


def examples(pair, tree, keys, report):
    paths = list(written_by_hand(tree))
    for side in ("ref", "new"):
        listed = pair.path(side, "texts")
        with open(listed, "w", encoding="utf-8") as out:
            for i, (path, chip) in enumerate(paths):
                out.write("\t".join([pair.path(side, "trace-%d" % i), path, chip]) + "\n")
        said = Said(pair.programs["new"], ["lua", os.path.join(HERE, "same.lua"), "texts", listed],
                    pair.folders[side])
        if said.code:
            raise Broken("%s\n%s" % (said.command(), said.err))
    for i, (path, chip) in enumerate(paths):
        forms = pair.read("trace-%d" % i)
        if forms[0] == forms[1]:
            report.counts["equal canonical form of a trace by hand"] += 1
        else:
            report.differs("canonical form of a trace by hand", [path], *forms)
        for memory in ("flat", "cycle"):
            words = run_words(path, chip, [], ["--memory=" + memory])
            run_both(pair, None, words, keys, report)
            # One that has mistakes is not simulated unless nobody looks.
            run_both(pair, None, [word for word in words if word != "--check"], keys, report)


def gate_points(pair, tree, strict, keys, report):
    suite = os.path.join(tree, "tests", "gate", "operators.lua")
    texts = []
    for line in pair.asked_once(["lua", os.path.join(HERE, "same.lua"), "points",
                                 suite]).splitlines():
        chip, memory, *words = line.split("\t")
        said = pair.ask(["compile"] + words + ["-s", chip])
        texts.append(Text("gate-%d.csv" % len(texts), said, chip, []))
        pair.keep(texts[-1].name, said)
        run = run_words(texts[-1].name, chip, [], ["--memory=" + memory])
        run_both(pair, said, run, keys + ["input_digest"], report)
    judge_texts(pair, texts, strict, report)


def tree_of(options):
    """The sources: given, or those that this file or the new program lies in."""
    if options.tree:
        return os.path.abspath(options.tree)
    for folder in (HERE, os.path.dirname(os.path.abspath(options.new))):
        while folder != os.path.dirname(folder):
            if os.path.isdir(os.path.join(folder, "traces", "examples")):
                return folder
            folder = os.path.dirname(folder)
    raise Broken("no folder traces/examples above %s; --tree names the sources" % options.new)


def compare(options, folder):
    begin = time.monotonic()
    for program in (options.ref, options.new):
        if not os.path.isfile(program):
            raise Broken("'%s' is not a program" % program)
    pair, report = Pair(options.ref, options.new, folder), Report(options.show)
    keys = operators_of(pair)
    lists = pair.ask(["compile", "--list"])
    if wholly(lists[0]) != wholly(lists[1]):
        report.differs("list of operators", [one.command() for one in lists], wholly(lists[0]),
                       wholly(lists[1]))
    Random(pair, keys, chosen_names(keys, options.only), options, report).all()
    if not options.only and not options.chip:
        tree = tree_of(options)
        examples(pair, tree, options.without, report)
        gate_points(pair, tree, options.strict, options.without, report)
    for what, count in sorted(report.counts.items()):
        print("%6d %s" % (count, what))
    for what, count in sorted(report.differing.items()):
        print("%6d differ: %s" % (count, what))
    print("same: %s; seed %d, %.0f s" % ("%d differ" % sum(report.differing.values())
                                         if report.differing else "nothing differs",
                                         options.seed, time.monotonic() - begin))
    return 1 if report.differing else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ref", required=True)
    parser.add_argument("--new", required=True)
    parser.add_argument("--tree", help="the sources, for example traces and the gate's suite")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--chip", default="")
    parser.add_argument("--every", type=int, default=3, help="simulates every K-th")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, default=2, help="prints the first N of each kind that differ")
    parser.add_argument("--without", default=[], type=lambda text: text.split(","),
                        help="lines of results that may differ, such as config_digest,Hardware")
    parser.add_argument("--strict", action="store_true")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            return compare(options, folder)
    except Broken as problem:
        print("error: %s" % problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
