# SPDX-License-Identifier: Apache-2.0
# What the report of vinci run promises of numbers of the chip, against what vinci sensitivity finds: that halves and
# doubles the same numbers in processes of its own, and keeps the tiling by its keys.
#
#     promises.py VINCI CASES [FIRST LAST]
#
# CASES has a command line of vinci run in each row, or of vinci net run, group run or group plan: of those the levers. A promise that is called measured has to be kept, to the digit
# that is printed; a lever of the kernel to the cycle, by the run with its change. Exit code 1: one is not.
import csv
import decimal
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROUNDING = 0.1  # both sides have one decimal
ROW = re.compile(r"^ +[\d.]+ % +\d+  (\S.*?) {2,}(\S+) (halved|doubled): (about )?([-+]?[\d.]+) % ", re.M)
HEAD = re.compile(r"; (\S+) (?:halved|doubled) (?:is expected|saves nothing)")
ANEW = re.compile(r"the tiling that is then chosen the run takes ([\d.]+) % (more|less)")


def vinci(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def headline(report):
    return " ".join(re.search(r"^Cause .*?(?=^Compute|\n\n)", report, re.M | re.S).group(0).split())


def promises(report):
    """{number: (direction, measured, per cent)}, and (number, per cent) of the headline when lowered anew."""
    rows = {}
    for _, number, direction, about, change in ROW.findall(report):
        rows.setdefault(number, (direction, not about, float(change)))
    head = headline(report)
    number, anew = HEAD.search(head), ANEW.search(head)
    if not (number and anew):
        return rows, None
    return rows, (number.group(1), float(anew.group(1)) * (1 if anew.group(2) == "more" else -1))


def lever_misses(program, words):
    """Levers of the kernel that are called measured: the run with the change, to the cycle; and what the checks say then."""
    with tempfile.TemporaryDirectory() as folder:
        vinci(program, "run", *words, "--savings=all", "-q", "--timeline=none", "--output=" + folder)
        report = json.load(open(os.path.join(folder, "report.json")))
    misses = 0
    for lever in report["critical"]["levers"] if "critical" in report else ():
        if not lever["change"]:
            continue
        changed = json.loads(vinci(program, "run", *words, *lever["change"].split(), "--json"))["total_cycles"]
        kept = report["total_cycles"] - changed == lever["saved_cycles"]
        if "racecheck" in lever["origin"]:
            code = subprocess.run([program, "check", *(word for word in words if not word.startswith("--memory")), lever["change"]],
                                  capture_output=True).returncode
            kept = kept and code == (0 if "find nothing" in lever["origin"] else 5)
        misses += not kept
        print(f"  {lever['lever'] + ' ' + lever['change']:76.76} -{100 * lever['saved_cycles'] / report['total_cycles']:.1f} %"
              f"{'' if kept else f'  NOT KEPT: {changed} cycles'}")
    return misses


def whole_of(text):
    """Time and levers of what is larger than a kernel: a summary, or lines of which the first is the split."""
    lines = [text] if text.startswith("{\n") else text.splitlines()
    found = [json.loads(line, parse_float=decimal.Decimal) for line in lines]
    levers = next((one["levers"] for one in found if "levers" in one), [])
    return found[0].get("time_us", found[0].get("us")), levers


def turned(words, change):
    """The words with the change: options more, or one less."""
    gone = change.removeprefix("without ")
    return [word for word in words if word != gone] if gone != change else words + shlex.split(change)


def check_whole(program, words):
    """Levers of networks, jobs and splits: the run with the change, to the last digit of the time."""
    proof = [word for word in words if not word.startswith("--savings")]
    own = whole_of(vinci(program, *proof, "--json", "-q"))[0]
    levers, misses = whole_of(vinci(program, *proof, "--savings=all", "--json", "-q"))[1], 0
    if not levers:
        raise SystemExit(f"{' '.join(words)}: no lever is named")
    order = [lever["saved_us"] for lever in levers]
    misses += order != sorted(order, reverse=True)
    for lever in levers:
        took = whole_of(vinci(program, *turned(proof, lever["change"]), "--json", "-q"))[0]
        kept = abs(own - took - lever["saved_us"]) <= decimal.Decimal("0.000001" if "group" in words else "0")
        misses += not kept
        print(f"  {lever['lever'] + ' ' + lever['change']:76.76} {-100 * lever['saved_us'] / own:+.1f} %"
              f"{'' if kept else f'  NOT KEPT: {took} us'}")
    return misses


def words_of(case, cases):
    """The words of a case; a trace lies beside the cases."""
    beside = os.path.dirname(os.path.abspath(cases))
    return [os.path.join(beside, word) if word.endswith((".csv", ".lua")) else word for word in case.split()]


def check(program, words, errors):
    case = " ".join(words)
    if words[0] in ("net", "group"):
        return check_whole(program, words)
    rows, best = promises(vinci(program, "run", *words, "--savings=all"))
    estimates = promises(vinci(program, "run", *words))[0]
    if not rows:
        raise SystemExit(f"{case}: the report promises nothing")
    table = vinci(program, "sensitivity", *words, "--format=csv", *(f"--params={number}" for number in rows))
    misses = 0
    for row in csv.DictReader(io.StringIO(table)):
        direction, measured, promised = rows[row["key"]]
        side = "half" if direction == "halved" else "twice"
        base = int(row["cycles"])

        def change(cycles):
            return 100 * (int(cycles) - base) / base

        kept, anew = change(row[side + "_kept_cycles"]), change(row[side + "_cycles"])
        miss = measured and abs(kept - promised) > ROUNDING
        if best and best[0] == row["key"]:
            miss = miss or abs(anew - best[1]) > ROUNDING
        misses += miss
        if row["key"] in estimates:
            errors.append(abs(estimates[row["key"]][2] - kept))
        print(f"  {row['key'] + ' ' + direction:44} {'measured' if measured else 'about':9}{promised:+6.1f} %"
              f"{kept:+8.1f} %{anew:+8.1f} %{'  NOT KEPT' if miss else ''}")
    return misses + lever_misses(program, words)


def main():
    program, cases = sys.argv[1], [line for line in open(sys.argv[2]) if line.strip() and line[0] != "#"]
    first, last = (int(word) for word in sys.argv[3:5]) if len(sys.argv) > 3 else (0, len(cases))
    misses, errors = 0, []
    print(f"  {'number':44} {'promised':18} {'kept':>6} {'lowered anew':>14}")
    for case in cases[first:last]:
        print(case.strip())
        misses += check(program, words_of(case, sys.argv[2]), errors)
    print(f"{misses} promises are not kept; {len(errors)} estimates are {sum(errors) / max(1, len(errors)):.2f} points off in the mean, "
          f"{sum(error <= 2 for error in errors)} of them within 2 points")
    return 1 if misses else 0


sys.exit(main())
