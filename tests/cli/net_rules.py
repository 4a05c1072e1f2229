# SPDX-License-Identifier: Apache-2.0
"""What runs and passes of networks follow from, on networks small enough to work out by hand.

    net_rules.py VINCI FOLDER
"""
import csv
import os
import subprocess
import sys

from tap import plan, report

VINCI, FOLDER = sys.argv[1:3]
MIB = 1 << 20


def net(verb, rows, *options):
    """The rows of a graph go through a verb of vinci net; its rows of nodes, or its text."""
    path = os.path.join(FOLDER, "graph.csv")
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(["graph,version=1"] + rows) + "\n")
    target = os.path.join(FOLDER, "out")
    command = [VINCI, "net", verb, path, "-s", "Ascend910B4", "--output=" + target + (".csv" if verb == "compile" else "")]
    if verb == "run":
        command += ["--memory=flat", "--repeat=1", "-q"]
    done = subprocess.run(command + list(options), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit("exit code %d: %s" % (done.returncode, done.stderr))
    if verb == "run":
        with open(target + "/nodes.csv", encoding="utf-8") as table:
            return list(csv.DictReader(table))
    with open(target + ".csv", encoding="utf-8") as text:
        return text.read(), {row[0]: row[1] for row in map(str.split, done.stdout.splitlines()) if len(row) > 1}


def tensor(name, shape, io="local", dtype="fp16"):
    return "tensor,name=%s,dtype=%s,shape=%s,io=%s" % (name, dtype, shape, io)


# ---- the host and the queue ------------------------------------------------------------------------

def starts(durations, host, depth, tilings):
    """Tasks that follow one another: the host issues one when there is room, and works out its tiling before."""
    begun, end, clock = [], 0, 0
    for i, duration in enumerate(durations):
        if depth and i >= depth:
            clock = max(clock, begun[i - depth])
        clock += host + tilings[i]
        begun.append(max(clock, end))
        end = begun[-1] + duration
    return begun


def check_queue():
    durations, host = [100, 1, 1, 40, 1, 1, 1, 30, 2, 1], 5
    for name, depths, tilings in (("the host is as many nodes ahead as --depth says", (0, 1, 2, 3, 4), [0] * 10),
                                  ("the host works out a tiling before the launch", (0, 2), [7, 0, 90, 3, 0, 50, 0, 1, 2, 60])):
        rows = [tensor("x0", 64, "in")] + [tensor("x%d" % (i + 1), 64) for i in range(9)] + [tensor("x10", 64, "out")]
        rows += ["task,name=t%d,unit=AI_CPU,duration_us=%d,in=x%d,out=x%d,host_us=%d%s" % (
            i, us, i, i + 1, host, ",tiling_us=%d" % tilings[i] if tilings[i] else "") for i, us in enumerate(durations)]
        problems = []
        for depth in depths:
            told = [float(row["start_us"]) for row in net("run", rows, "--host=eager", "--depth=%d" % depth)]
            wanted = starts(durations, host, depth, tilings)
            if told != wanted:
                problems.append("depth %d: starts %s, not %s" % (depth, told, wanted))
        report(name, problems)


# ---- what is remembered ----------------------------------------------------------------------------

def check_window():
    """Equal kernels, each of which brings a new MiB; 1.5 times an L2 of 4 MiB are five of them and what the first read."""
    size, layers = MIB // 2, 12
    rows = [tensor("x0", size, "in")] + [tensor("x%d" % i, size, "out") for i in range(1, layers + 1)]
    rows += ["kernel,name=k%d,op=relu,in=x%d,out=x%d,args=shape=%d" % (i, i, i + 1, size) for i in range(layers)]
    small = ["--set", "l2.size=4MiB", "--plan=none"]
    told = [row["from"] for row in net("run", rows, *small)]
    wanted = ["simulated" if i < 5 else "remembered" for i in range(layers)]
    report("a context reaches back to 1.5 times L2, and no further", [] if told == wanted else [" ".join(told)])
    # A kernel behind those that were remembered reads what passed 2 MiB before, which L2 still holds.
    rows += [tensor("y", size, "out"), "kernel,name=late,op=abs,in=x%d,out=y,args=shape=%d" % (layers - 2, size)]
    found = int(net("run", rows, *small)[-1]["l2_found_bytes"])
    exact = int(net("run", rows, *small, "--exact")[-1]["l2_found_bytes"])
    report("behind what is remembered L2 holds what it holds behind what is simulated",
           [] if found > 0.9 * MIB and abs(found - exact) < 0.02 * MIB else ["%d found, %d when all is simulated" % (found, exact)])


# ---- passes ----------------------------------------------------------------------------------------

def in_place(rows):
    text, _ = net("compile", rows, "--passes=in-place")
    return [line for line in text.splitlines() if line.startswith("tensor,") and ",memory=" in line], text


def check_streams():
    """Of a node of another stream nobody knows when it runs: what it reads or writes keeps its memory."""
    head = [tensor("x", "64x512", "in"), tensor("a", "64x512"), tensor("b", "64x512"), tensor("c", "64x512", "out"),
            tensor("y", "64x512", "out"), "layer,name=first,op=Softmax,in=x,out=a,args=axis=1%s"]
    reads = ["layer,name=beside,op=Softmax,in=a,out=c,args=axis=1%s", "layer,name=act,op=Sigmoid,in=a,out=b",
             "layer,name=last,op=Softmax,in=b,out=y,args=axis=0"]
    later = ["layer,name=act,op=Sigmoid,in=a,out=b", "layer,name=beside,op=Softmax,in=b,out=c,args=axis=1%s",
             "layer,name=last,op=Softmax,in=b,out=y,args=axis=0"]
    other, problems = ",stream=1", []
    for what, rows, first in (("reads what dies", reads, False), ("reads the result", later, False), ("writes what dies", reads, True)):
        def filled(own, beside):
            return [row % (own if "name=first" in row else beside) if "%s" in row else row for row in head + rows]
        if not in_place(filled("", ""))[0]:
            problems.append("one stream: nothing lies in place")
        if in_place(filled(other, "") if first else filled("", other))[0]:
            problems.append("another stream %s: in place all the same" % what)
    report("nothing is in place that another stream uses", problems)
    # A copy whose source another stream reads stays a copy.
    rows = [tensor("x", "64x512", "in"), tensor("a", "64x512"), tensor("b", "64x512"), tensor("c", "64x512", "out"),
            tensor("y", "64x512", "out"), "layer,name=first,op=Softmax,in=x,out=a,args=axis=1", "copy,name=move,way=d2d,in=a,out=b",
            "layer,name=beside,op=Softmax,in=a,out=c,args=axis=1%s", "layer,name=last,op=Softmax,in=b,out=y,args=axis=0"]
    problems = []
    for stream, copies in (("", 0), (other, 1)):
        text = in_place([row.replace("%s", stream) for row in rows])[1]
        if text.count("copy,name=move,") != copies:
            problems.append("stream%s: not %d copies" % (stream, copies))
    report("a copy is a view where no other stream reads its source", problems)


def check_split():
    """Parts pay when L2 is faster than memory and launches are cheap; not when either does not hold."""
    rows = [tensor("x", "4096x64", "in"), tensor("w1", "64x512", "weight"), tensor("w2", "512x64", "weight"), tensor("h", "4096x512"),
            tensor("g", "4096x512"), tensor("y", "4096x64", "out"), "layer,name=up,op=MatMul,in=x w1,out=h",
            "layer,name=act,op=Sigmoid,in=h,out=g", "layer,name=down,op=MatMul,in=g w2,out=y"]
    options = ["--passes=split"]
    for key, value in (("l2.size", "1MiB"), ("hbm.bandwidth", "100GB/s"), ("launch.base", "1ns"), ("launch.per_cluster", "0ns"),
                       ("launch.gap", "%s"), ("l2.bandwidth", "%s")):
        options += ["--set", "%s=%s" % (key, value)]
    problems = []
    for gap, rate, wanted in (("0.03us", "5TB/s", True), ("100us", "5TB/s", False), ("0.03us", "1GB/s", False)):
        filled = [option % (gap if "gap" in option else rate) if "%s" in option else option for option in options]
        parts = int(net("compile", rows, *filled)[1]["split"]) > 0
        if parts != wanted:
            problems.append("launch.gap %s, l2.bandwidth %s: %s" % (gap, rate, "parts" if parts else "whole"))
    report("kernels run in parts where that pays: fast L2, cheap launches", problems)


plan(7)
check_queue()
check_window()
check_streams()
check_split()
