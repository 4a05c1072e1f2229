# SPDX-License-Identifier: Apache-2.0
"""Does every lowered operator come to its end, whatever its shape, types, tiling and chip?

    properties.py --program VINCI [--count N] [--seed S|random] [--only OP,OP|REGEXP] [--chip NAME]
                  [--jobs N] [--show N] [--found FILE]

N random operators (cases.py), in turn all that `vinci compile --list` has, on all chips of `vinci soc
list`, some with short queues or small buffers. Each is refused with a reason, or its program is accepted,
has no finding of `vinci check`, and runs to its end with flat memory. A hang, a finding, a broken
identity, a crash or a program that the reader of traces rejects is a failure, printed with the command
that repeats the case. What the estimate takes for too large to be simulated here is compiled and counted. --found
judges the cases of a file instead: each line says whether the case runs or is refused, and with which
words. Ends with 0 when there is no failure, 1 when there are some, 2 when the program cannot be asked.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import resource
import shlex
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SAME = os.path.join(os.path.dirname(HERE), "same")
sys.path.insert(0, SAME)
import cases  # noqa: E402  the operators and their arguments

# What a round of all operators does; an operator meets another one each round.
SCENARIOS = ["odd", "deep", "tiling", "long row", "aligned", "deep", "tiny", "large", "column", "one",
             "small buffers", "row"]
SHORT_QUEUES = [["queue.%s=%d" % (pipe, depth) for pipe in ("V", "M", "MTE1", "MTE2", "MTE3", "FIX")]
                for depth in (1, 2, 5)]
# A case that is refused or too large is drawn anew until there have been this many.
ATTEMPTS = 6
# By the estimate: cycles of the busiest core times the blocks, beyond which a case takes long here.
CORE_CYCLES = 4000000
TIMEOUT_SECONDS = 300
RAN, REFUSED, HUGE, FAILED = "ran to their end", "refused", "too large to be simulated here", "failed"
USAGE = 2
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "VINCI_DATA"}


class Broken(Exception):
    """The program does not answer."""


class Outcome:
    def __init__(self, kind, case, detail="", command="", seconds=0.0):
        self.kind, self.case, self.detail, self.command = kind, case, detail, command
        self.seconds = seconds


class Listed:
    """A case of a file."""

    def __init__(self, words):
        self.op, self.given = words[0], words

    def words(self):
        return self.given


class Program:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        if not os.path.isfile(self.path):
            raise Broken("'%s' is not a program" % path)

    def ask(self, words):
        """Exit code, standard output, messages."""
        try:
            done = subprocess.run([self.path] + words, env=ENVIRONMENT, check=False,
                                  timeout=TIMEOUT_SECONDS, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return -99, "", "no end after %d s" % TIMEOUT_SECONDS
        except OSError as problem:
            raise Broken("%s: %s" % (self.path, problem.strerror)) from problem
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode(
            "utf-8", "replace")

    def told(self, words):
        code, out, err = self.ask(words)
        if code:
            raise Broken("%s: %s" % (self.command(words), err))
        return out

    def command(self, words):
        return " ".join(shlex.quote(word) for word in [self.path] + words)

    def operators(self):
        keys = collections.OrderedDict()
        for line in self.told(["lua", os.path.join(SAME, "same.lua"), "operators"]).splitlines():
            op, *fields = line.split("\t")
            keys.setdefault(op, []).append(cases.Key(fields))
        return keys

    def chips(self):
        return [line.split()[0] for line in self.told(["soc", "list"]).splitlines()[1:]]


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[0] if lines else "nothing was said")


def estimated(out):
    """Core cycles of all blocks, of what --explain says."""
    blocks = re.search(r"^Blocks +(\d+)", out, re.MULTILINE)
    total = re.search(r"^ +total +(\d+) cycles", out, re.MULTILINE)
    return int(blocks.group(1)) * int(total.group(1)) if blocks and total else 0


class Test:
    def __init__(self, program, options):
        self.program, self.options = program, options
        self.keys, self.chips = program.operators(), program.chips()
        if options.chip:
            self.chips = [options.chip]
        self.names = self.chosen(options.only)

    def chosen(self, only):
        if not only:
            return list(self.keys) + [name for name in cases.OFTEN if name in self.keys]
        names = [name for name in self.keys if name in only.split(",") or re.fullmatch(only, name)]
        if not names:
            raise Broken("no operator is named %s" % only)
        return names

    def draw(self, number, attempt):
        case = cases.make(self.keys, self.names, self.options.seed, number, attempt, SCENARIOS, self.chips)
        case.models = []
        if case.scenario != "small buffers":
            case.sets = list(case.rng.choice(SHORT_QUEUES)) if case.rng.randrange(3) == 0 else []
        if case.scenario == "tiling":
            code, out, _ = self.program.ask(["compile"] + case.words() + ["--tilings"])
            cases.force(case, [line.split(",")[0] for line in out.splitlines()[1:]] if code == 0 else [])
        return case

    def judge(self, case):
        began = time.monotonic()
        words = ["compile"] + case.words() + ["--explain"]
        code, out, err = self.program.ask(words)
        # An operator that is several others may be refused by one of them.
        if code == USAGE and re.match(r"error: (\w+)|", err).group(1) in self.keys:
            return Outcome(REFUSED, case, first_line(err), self.program.command(words))
        if code:
            return Outcome(FAILED, case, "exit code %d: %s" % (code, first_line(err)),
                           self.program.command(words))
        if estimated(out) > CORE_CYCLES:
            return Outcome(HUGE, case)
        words = ["run"] + case.words() + ["--memory=flat", "--check", "--savings=none",
                                          "--timeline-events=0", "-q"]
        code, out, err = self.program.ask(words)
        return Outcome(FAILED if code else RAN, case, "exit code %d: %s" % (code, first_line(out + err)),
                       self.program.command(words), time.monotonic() - began)

    def found(self, line):
        """A line of the file: what becomes of the case, a tab, its command line."""
        expected, _, words = line.rstrip("\n").partition("\t")
        case = Listed(words.split())
        outcome = self.judge(case)
        wanted, _, text = expected.partition(": ")
        if (outcome.kind == RAN) != (wanted == "runs") or (wanted != "runs" and text not in outcome.detail):
            outcome.kind, outcome.detail = FAILED, "not '%s': %s" % (expected, outcome.detail)
        return outcome

    def one(self, number):
        """All outcomes of a case, the last of which counts as its own."""
        outcomes = []
        for attempt in range(ATTEMPTS):
            outcomes.append(self.judge(self.draw(number, attempt)))
            if outcomes[-1].kind in (RAN, FAILED):
                break
        return outcomes

    def all(self):
        if self.options.found:
            with open(self.options.found, encoding="utf-8") as file:
                return [self.found(line) for line in file if line.strip() and not line.startswith("#")]
        count = self.options.count or len(self.names)
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            return [outcome for some in pool.map(self.one, range(count)) for outcome in some]


def reason_of(detail):
    """A refusal without its numbers and names."""
    text = re.sub(r"^error: \w+:? ", "", detail)
    text = re.sub(r"Ascend\w+|dav-\w+", "CHIP", text)
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'", "'...'", text))[:100]


def tell(test, outcomes, show):
    kinds = collections.Counter(outcome.kind for outcome in outcomes)
    shown = collections.Counter()
    for outcome in outcomes:
        if outcome.kind == FAILED:
            shown[outcome.case.op] += 1
            if shown[outcome.case.op] <= show:
                print("failed: %s\n  %s" % (outcome.command, outcome.detail))
    ran = collections.Counter(outcome.case.op for outcome in outcomes if outcome.kind == RAN)
    never = sorted(set(test.names) - set(ran))
    for kind in (RAN, REFUSED, HUGE, FAILED):
        print("%6d %s" % (kinds[kind], kind))
    reasons = collections.Counter(reason_of(outcome.detail) for outcome in outcomes if outcome.kind == REFUSED)
    for reason, count in reasons.most_common(test.options.reasons):
        print("%12d %s" % (count, reason))
    if len(reasons) > test.options.reasons:
        print("%12d for %d more reasons (--reasons=N prints N)" % (
            sum(reasons.values()) - sum(n for _, n in reasons.most_common(test.options.reasons)),
            len(reasons) - test.options.reasons))
    if not test.options.found:
        print("operators: %d%s" % (len(set(test.names)), "; never ran: " + " ".join(never) if never else ""))
    slowest = max(outcomes, key=lambda outcome: outcome.seconds)
    print("slowest, %.1f s: %s" % (slowest.seconds, slowest.command))
    return kinds[FAILED]


def run(options):
    began = time.monotonic()
    if options.seed == "random":
        options.seed = random.SystemRandom().randrange(1, 1000000000)
    options.seed = int(options.seed)
    print("seed %d" % options.seed)
    test = Test(Program(options.program), options)
    failed = tell(test, test.all(), options.show)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("properties: %s; seed %d, %.0f s, %.0f CPU s" % (
        "%d failed" % failed if failed else "all hold", options.seed, time.monotonic() - began,
        used.ru_utime + used.ru_stime))
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=500, help="0: one of each operator")
    parser.add_argument("--seed", default="1", help="a number, or random")
    parser.add_argument("--found", default="", help="a file of cases, instead of random ones")
    parser.add_argument("--only", default="")
    parser.add_argument("--chip", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", type=int, default=3, help="prints the first N failures of an operator")
    parser.add_argument("--reasons", type=int, default=10, help="prints the N most frequent refusals")
    try:
        return run(parser.parse_args())
    except Broken as problem:
        print("error: %s" % problem, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
