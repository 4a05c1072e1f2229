# SPDX-License-Identifier: Apache-2.0
"""The table of a list of operators against what its columns mean. Usage: VINCI FOLDER"""
import csv
import os
import subprocess
import sys

from tap import plan, report

VINCI, FOLDER = sys.argv[1:3]
HEAD = ("Name,Type,Duration(us),aic_mac_time(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,"
        "Output Data Types,Output Formats")
VECTOR = '"4096,%d",FLOAT16,ND,"4096,%d",FLOAT16,ND'
PRODUCT = '"512,512;512,512",FLOAT16;FLOAT16,ND;ND,"512,512",FLOAT16,ND'


def table(rows, *options):
    path, out = os.path.join(FOLDER, "list.csv"), os.path.join(FOLDER, "out")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([HEAD] + rows) + "\n")
    done = subprocess.run([VINCI, "run", "--ops=" + path, "-s", "Ascend910B4", "--memory=flat", "-q", "--output=" + out, *options],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit("exit code %d: %s" % (done.returncode, done.stderr))
    with open(out + "/op_summary.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def near(found, wanted, step):
    return abs(float(found) - wanted) <= step


def check_columns():
    rows = table(["slow,Relu,1000,," + VECTOR % (64, 64), "fast,Relu,1,," + VECTOR % (64, 64), "none,Relu,,," + VECTOR % (64, 64),
                  "product,MatMulV2,50,25," + PRODUCT])
    problems = []
    for row in rows:
        core, pipes = float(row["aicore_time(us)"]), ("mac", "vec", "scalar", "mte1", "mte2", "mte3", "fixpipe")
        for pipe in pipes:
            if not near(row[pipe + "_ratio"], float(row[pipe + "_time(us)"]) / core, 0.002):
                problems.append("%s: %s_ratio %s" % (row["Op Name"], pipe, row[pipe + "_ratio"]))
        bound = float(row["mte2_time(us)"]) / max(float(row["mac_time(us)"]), float(row["vec_time(us)"]))
        if not near(row["memory_bound"], bound, 0.02 * bound):
            problems.append("%s: memory_bound %s, not %g" % (row["Op Name"], row["memory_bound"], bound))
    report("ratios are of the core's time, and memory_bound is loads over the work", problems)
    problems = []
    for row in rows:
        for name, simulated, measured in (("duration_error", "sim_duration_us", "measured_duration_us"),
                                          ("mac_error", "sim_mac_us", "measured_mac_us")):
            if not row[measured] or not float(row[simulated]):
                if row[name]:
                    problems.append("%s has %s %s" % (row["Op Name"], name, row[name]))
                continue
            wanted = float(row[simulated]) / float(row[measured]) - 1
            if not near(row[name], wanted, 0.001 * (1 + abs(wanted))):
                problems.append("%s: %s %s, not %g" % (row["Op Name"], name, row[name], wanted))
    signs = [float(row["duration_error"]) < 0 for row in rows if row["duration_error"]]
    if signs[:2] != [True, False]:
        problems.append("signs of errors: %s" % signs)
    report("errors are simulated over measured, less one, with their sign", problems)
    problems = [] if len({row["sim_duration_us"] for row in rows[:3]}) == 1 else ["three equal rows differ"]
    report("what was measured, and what a row is called, changes nothing", problems)


def check_equal():
    """Rows that differ in one cell are simulated apart, and each has what it has alone."""
    kinds = ["a,Relu,,," + VECTOR % (64, 64), "b,Relu,,," + VECTOR % (640, 640), "c,Exp,,," + VECTOR % (64, 64),
             "d,Relu,,," + (VECTOR % (64, 64)).replace("FLOAT16", "FLOAT")]
    alone = [table([row])[0]["sim_duration_us"] for row in kinds]
    order = [0, 1, 0, 2, 3, 1, 3, 2, 0]
    told = [row["sim_duration_us"] for row in table([kinds[i] for i in order], "--l2=warm")]
    first = [table([row], "--l2=warm")[0]["sim_duration_us"] for row in kinds]
    problems = [] if told == [first[i] for i in order] else ["%s, alone %s" % (told, first)]
    if len(set(alone)) != len(alone):
        problems.append("the rows do not differ: %s" % alone)
    report("a row of a list has the result that the row has alone", problems)


plan(4)
check_columns()
check_equal()
