# SPDX-License-Identifier: Apache-2.0
"""Does the duration of cycle memory lie inside the error bar of --memory=auto, and what does that cost?

    auto.py --program VINCI [--count N] [--seed S|random] [--only OP,OP|REGEXP] [--chip NAME] [--jobs N]
            [--most CYCLES] [--error-bar PERCENT] [--show N]

N random operators, as tests/properties draws them, each with --memory=auto and with --memory=cycle. Those that
the estimate takes for more than CYCLES core cycles are drawn anew. The weights of the bar (core/sim/pace.c,
core/sim/auto.c) were chosen with the odd ones of seeds 1 to 3; so the halves are printed apart, and the default seed is
another. Estimates are those that are not all of a run in cycle memory, which is exact by nature. Ends
with 0 when the truth lies inside the bar in 95 % of all operators and the mean error is at most 0.6 %, 1 when
not or when a run fails, 2 when the program cannot be asked. The cost is CPU time, and never a failure.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "properties"))
import properties  # noqa: E402  the random operators

COVERED, MEAN_ERROR = 0.95, 0.006
Run = collections.namedtuple("Run", "number words kind error bar auto_seconds cycle_seconds")


def simulated(program, words, model):
    """summary.json of a run, or None."""
    code, out, _ = program.ask(["run"] + words + model + ["--json", "--savings=none", "--timeline-events=0", "-q"])
    return json.loads(out) if code == 0 else None


def compared(test, number):
    """A case with both models of memory; None when no attempt can be simulated here."""
    for attempt in range(properties.ATTEMPTS):
        words = test.draw(number, attempt).words()
        code, out, _ = test.program.ask(["compile"] + words + ["--explain"])
        if code or properties.estimated(out) > test.options.most:
            continue
        bar = ["--error-bar=%d" % test.options.error_bar] if test.options.error_bar else []
        found = simulated(test.program, words, ["--memory=auto"] + bar)
        truth = simulated(test.program, words, ["--memory=cycle"])
        if not found or not truth:
            continue
        bar = found["memory"]
        return Run(number, words, bar["duration_from"], found["total_cycles"] / truth["total_cycles"] - 1,
                   bar["error_bar_ppm"] / 1e6, found["host"]["cpu_seconds"], truth["host"]["cpu_seconds"])
    return None


def inside(run):
    return abs(run.error) <= run.bar + 1e-9


def share(runs, test):
    return sum(1 for run in runs if test(run)) / len(runs) if runs else 1.0


def line(name, runs):
    estimates = [run for run in runs if run.kind != "cycle"]
    truth = sum(run.cycle_seconds for run in runs)
    print("%-10s %5d operators, inside the bar %5.1f %%, mean error %.2f %%, cost %.2f; %d estimates, inside %5.1f %%, "
          "mean error %.2f %%" % (
              name, len(runs), 100 * share(runs, inside),
              100 * sum(abs(run.error) for run in runs) / max(1, len(runs)),
              sum(run.auto_seconds for run in runs) / truth if truth else 1, len(estimates),
              100 * share(estimates, inside),
              100 * sum(abs(run.error) for run in estimates) / max(1, len(estimates))))


def tell(runs, show):
    for kind in ("flat", "prefix", "cycle"):
        line(kind, [run for run in runs if run.kind == kind])
    line("odd", [run for run in runs if run.number % 2])
    line("even", [run for run in runs if run.number % 2 == 0])
    line("dear", [run for run in runs if run.cycle_seconds > 0.1])
    line("all", runs)
    outside = sorted((run for run in runs if not inside(run)), key=lambda run: run.bar - abs(run.error))
    for run in outside[:show]:
        print("outside: %+.2f %%, bar %.2f %%, %s: vinci run %s --memory=auto" % (
            100 * run.error, 100 * run.bar, run.kind, " ".join(run.words)))
    mean = sum(abs(run.error) for run in runs) / max(1, len(runs))
    return len(runs) > 0 and share(runs, inside) >= COVERED and mean <= MEAN_ERROR


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", default="7", help="a number, or random")
    parser.add_argument("--only", default="")
    parser.add_argument("--chip", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--most", type=int, default=30000000)
    parser.add_argument("--error-bar", type=int, default=0, help="that of vinci run, in per cent")
    parser.add_argument("--show", type=int, default=10)
    options = parser.parse_args()
    options.seed = random.SystemRandom().randrange(1, 10**9) if options.seed == "random" else int(options.seed)
    try:
        test = properties.Test(properties.Program(options.program), options)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = [run for run in pool.map(lambda number: compared(test, number), range(options.count)) if run]
    except properties.Broken as problem:
        print("error: %s" % problem, file=sys.stderr)
        return 2
    good = tell(runs, options.show)
    print("auto: %s; seed %d" % ("holds" if good else "does not hold", options.seed))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
