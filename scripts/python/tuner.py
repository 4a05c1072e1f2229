#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A tuner of its own on the door of vinci: hill climbing from the best few estimates.

    tuner.py VINCI SOC OP KEY=VALUE...    prints evaluations, cycles and schedule of the fastest
"""
import json
import subprocess
import sys

STARTS, BATCH = 24, 8


def main(vinci, soc, op, *args):
    door = subprocess.Popen([vinci, "tune", "serve", "-s", soc], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)

    def ask(**question):
        door.stdin.write(json.dumps(question) + "\n")
        door.stdin.flush()
        answer = json.loads(door.stdout.readline())
        return answer if "error" not in answer else sys.exit(answer["text"])

    problem = {"op": op, "args": " ".join(args)}
    schedules = ask(ask="space", **problem)["schedules"]
    cycles = {}

    def measure(wanted):
        new = [i for i in wanted if i not in cycles]
        answers = ask(ask="evaluate", schedules=[schedules[i]["schedule"] for i in new], **problem)
        cycles.update((i, a.get("cycles", float("inf"))) for i, a in zip(new, answers["answers"]))

    def steps_between(i, j):
        return sum(a != b for a, b in zip(schedules[i]["choice"], schedules[j]["choice"]))

    measure(sorted(range(len(schedules)), key=lambda i: schedules[i]["estimate_cycles"])[:STARTS])
    while True:  # all that one knob away from the best could be better, the cheapest first
        best = min(cycles, key=cycles.get)
        near = [i for i in range(len(schedules)) if i not in cycles and steps_between(i, best) == 1]
        if not near:
            break
        measure(sorted(near, key=lambda i: schedules[i]["estimate_cycles"])[:BATCH])
    print(len(cycles), cycles[best], schedules[best]["schedule"])


main(*sys.argv[1:])
