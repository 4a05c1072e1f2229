#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Databases of profilers as lists of operators: the same rows as kernel_details.csv of the profile.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_database
if ! "$vinci" --version | grep -q '^databases of profilers: read$'; then
  skip_all "built without libsqlite3-dev"
fi
plan 27

equal() { [ "$1" = "$2" ] || echo "$3: $1, expected $2"; }
has() { case $err in *"$1"*) ;; *) echo "no '$1' in: $err" ;; esac; }

# Two devices, a collective, texts with quotes as text, and names of columns of two versions.
cat >"$work/make.py" <<'P'
import sqlite3
import sys

ROWS = [ # start ns, ns, device, name, type, core, blocks, inputs, types, formats, outputs, types, formats
    (3000_000, 2740, 0, "Add0", "Add", "AI_VECTOR_CORE", 40, '"1,256,384;1,256,384"', "FLOAT16;FLOAT16", "ND;ND", '"1,256,384"', "FLOAT16", "ND"),
    (1000_500, 7123, 0, "aclnnRelu, first", "Relu", "AI_VECTOR_CORE", 20, "16,256", "FLOAT", "ND", "16,256", "FLOAT", "ND"),
    (2000_000, 9001, 1, "MatMul", "MatMulV2", "AI_CORE", 4, "64,96;96,32", "FLOAT16;FLOAT16", "ND;ND", "64,32", "FLOAT16", "ND"),
]


# What the units of the cores have counted: of task 0 launched twice, of task 1 once, of task 2 nothing.
METRICS = { # task: rows of time, name, value
    0: [(3000_100, "aiv_total_time", 1.5), (3000_100, "aiv_vec_time", 0.25), (3000_100, "aiv_icache_miss_rate", 0.0625),
        (4000_100, "aiv_total_time", 2.5), (4000_100, "aiv_vec_time", 0.75), (4000_100, "aiv_icache_miss_rate", 0.125)],
    1: [(1000_600, "aiv_total_time", 6.5), (1000_600, "aiv_vec_time", 3.125), (1000_600, "aiv_icache_miss_rate", 0.5)],
}


def database(path, blocks="blockDim", leave_out="", collective=True, metrics=""):
    with sqlite3.connect(path) as db:
        ids = {}

        def number(text):
            return ids.setdefault(text, len(ids) + 7)

        infos = []
        tasks = []
        for task, (start, ns, device, *texts) in enumerate(ROWS):
            name, kind, core, count, *rest = texts
            tasks.append((start, start + ns, device, task))
            if metrics and task == 0:
                tasks.append((4000_000, 4000_000 + ns, device, task))
            infos.append((task, number(name), number(kind), number(core), count, *(number(text) for text in rest)))
        tables = {
            "TASK": ("startNs, endNs, deviceId, globalTaskId", tasks),
            "COMPUTE_TASK_INFO": ("globalTaskId, name, opType, taskType, %s, inputShapes, inputDataTypes, inputFormats, outputShapes,"
                                  "outputDataTypes, outputFormats" % blocks, infos),
        }
        if collective:
            tables["COMMUNICATION_OP"] = ("opName, startNs, endNs, opType", [(number("hcom"), 1500_000, 1600_000, number("hcom_allReduce_"))])
        if metrics == "timed":
            tables["TASK_PMU_INFO"] = ("globalTaskId, timestampNs, name, value",
                                       [(task, at, number(name), value) for task, rows in METRICS.items() for at, name, value in rows])
        elif metrics:
            tables["TASK_PMU_INFO"] = ("globalTaskId, name, value",
                                       [(task, number(name), value) for task, rows in METRICS.items() for _, name, value in rows])
        tables["STRING_IDS"] = ("id, value", [(value, text) for text, value in ids.items()])
        for name, (columns, rows) in tables.items():
            if name != leave_out:
                db.execute("CREATE TABLE %s (%s)" % (name, columns))
                db.executemany("INSERT INTO %s VALUES (%s)" % (name, ",".join("?" * len(columns.split(",")))), rows)


def table(path):
    with open(path, "w") as out:
        out.write("Start Time(us),Duration(us),Device_id,Name,Type,Accelerator Core,Block Dim,Input Shapes,Input Data Types,"
                  "Input Formats,Output Shapes,Output Data Types,Output Formats\n")
        rows = ROWS + [(1500_000, 100_000, "", "hcom", "hcom_allReduce_", "HCCL", "", "", "", "", "", "", "")]
        for start, ns, *texts in sorted(rows, key=lambda row: row[0]):
            cells = ["%.3f" % (start / 1000), "%.3f" % (ns / 1000)] + ['"%s"' % str(text).strip('"') for text in texts]
            out.write(",".join(cells) + "\n")


work = sys.argv[1]
table(work + "/kernel_details.csv")
database(work + "/ascend_pytorch_profiler_0.db")
database(work + "/later.db", blocks="blockNum")
database(work + "/none.db", leave_out="COMPUTE_TASK_INFO")
database(work + "/alone.db", collective=False)
database(work + "/timed.db", metrics="timed")
database(work + "/untimed.db", metrics="untimed")
# One device alone, whose number is not 0; a collective names no device.
ROWS[:] = [(row[0], row[1], 3, *row[3:]) for row in ROWS]
database(work + "/third.db")
# Two moments within the first launch.
METRICS[0] = [(3000_100, "aiv_icache_miss_rate", 0.25), (3000_200, "aiv_icache_miss_rate", 0.5)]
database(work + "/moments.db", metrics="timed")
database(work + "/view.db", collective=False)
with sqlite3.connect(work + "/view.db") as db:
    db.execute("CREATE VIEW communication_op AS SELECT 1 AS opName")
database(work + "/endless.db", leave_out="TASK")
with sqlite3.connect(work + "/endless.db") as db:
    db.execute("CREATE VIEW TASK AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) "
               "SELECT i AS startNs, i AS endNs, 0 AS deviceId, 0 AS globalTaskId FROM n")
with open(work + "/ascend_pytorch_profiler_0.db", "rb") as whole, open(work + "/cut.db", "wb") as cut:
    cut.write(whole.read(5000))
P
"$PYTHON" "$work/make.py" "$work"

# cells FILE: columns that say what a row is and what was simulated.
cells() {
  "$PYTHON" -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print([row[key] for key in ("Op Name", "OP Type", "Task Type", "Block Dim", "Input Shapes", "Input Data Types", "lowered", "measured_duration_us", "status")])' "$1"
}
run() { keep "$vinci" run --ops "$work/$1" $soc -q --output="$work/$2"; }
run kernel_details.csv table
report "the table is a list" "$(equal "$code" 0 "exit code")"
run ascend_pytorch_profiler_0.db base
report "a database has the rows of the table" "$(equal "$code" 0 "exit code"
  equal "$(cells "$work/base/op_summary.csv")" "$(cells "$work/table/op_summary.csv")" rows
  equal "$(cells "$work/base/op_summary.csv" | wc -l)" 4 "number of rows")"
run later.db later
report "a later version calls blocks otherwise" "$(equal "$(cells "$work/later/op_summary.csv")" "$(cells "$work/table/op_summary.csv")" rows)"
run alone.db alone
report "a profile of kernels alone" "$(equal "$code" 0 "exit code"
  equal "$(cells "$work/alone/op_summary.csv" | wc -l)" 3 "number of rows")"
keep "$vinci" compile --list --missing="$work/alone.db" $soc
report "what is not modelled is asked of a database" "$(equal "$code" 0 "exit code"
  case $out in *"3 of 3 kinds, 3 of 3 rows"*) ;; *) echo "$out" ;; esac)"
keep "$vinci" replay "$work/ascend_pytorch_profiler_0.db" $soc --memory=flat -q --device=0
report "a replay takes starts from a database" "$(equal "$code" 0 "exit code: $err")"
mkdir -p "$work/profile/sub" && cp "$work/ascend_pytorch_profiler_0.db" "$work/profile/sub/"
run profile folder
report "a folder with a database and no table is the database" "$(equal "$(cells "$work/folder/op_summary.csv")" "$(cells "$work/table/op_summary.csv")" rows)"
run none.db none
report "a database of another program is refused" "$(equal "$code" 3 "exit code"
  has "none.db: error: the database has no table COMPUTE_TASK_INFO, which that of a profiler has"
  has "hint: give ascend_pytorch_profiler*.db, msprof_*.db or kernel_details.csv")"
run endless.db endless
report "a view, which may have rows without end, is not a table" "$(equal "$code" 3 "exit code"
  has "endless.db: error: TASK is a view, which may have rows without end; that of a profiler is a table")"
run cut.db cut
report "a database that is cut off is refused" "$(equal "$code" 3 "exit code"; has "cut.db: error: the database cannot be read: ")"
printf 'SQLite format 3\0' >"$work/head.db"
run head.db head
report "so is the head of one" "$(equal "$code" 3 "exit code"; has "head.db: error: the database")"

# rates FILE: name, start and measured miss rate of each row.
rates() {
  "$PYTHON" -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print(row["Op Name"], row["measured_aiv_icache_miss_rate"])' "$1"
}
run timed.db timed
report "metrics with a time belong to the launch under way then" "$(equal "$code" 0 "exit code: $err"
  equal "$(rates "$work/timed/op_summary.csv")" "aclnnRelu, first 0.500
hcom 
MatMul 
Add0 0.063
Add0 0.125" rates)"
run untimed.db untimed
report "without times, metrics of a task that was launched once are taken alone" "$(equal "$code" 0 "exit code: $err"
  equal "$(rates "$work/untimed/op_summary.csv")" "aclnnRelu, first 0.500
hcom 
MatMul 
Add0 
Add0 " rates)"
# Means over the two launches of Add0: 2, 0.5 us of vec, 2.74 us.
keep "$vinci" import "$work/timed.db" --op=Add0 --csv
report "vinci import joins the metrics of launches" "$(equal "$code" 0 "exit code: $err"
  equal "$(printf '%s\n' "$out" | grep -E '^(duration|aiv_time|aiv_vec),')" "duration,us,2.74
aiv_time,us,2.0
aiv_vec,us,0.5" means)"
keep "$vinci" import "$work/cut.db"
report "vinci import refuses a database that is cut off" "$(equal "$code" 3 "exit code"; has "cut.db: error: the database cannot be read: ")"

# The first two rows in time are of device 0, the third of device 1.
keep "$vinci" run --ops "$work/alone.db" $soc -q --device=1 --output="$work/one"
report "--device takes the rows of one device" "$(equal "$code" 0 "exit code: $err"
  equal "$(cells "$work/one/op_summary.csv" | sed "s/', .*//")" "['MatMul" rows)"
keep "$vinci" run --ops "$work/alone.db" $soc -q --device=7 --output="$work/none"
report "a device that no row is of is told" "$(equal "$code" 2 "exit code"
  has "alone.db: error: no row is of device '7'"; has "hint: the rows are of devices 0 and 1")"
keep "$vinci" run --ops "$work/alone.db" $soc -q --sequence --output="$work/both"
report "a sequence of two devices is refused" "$(equal "$code" 3 "exit code"
  has "alone.db: error: the rows are of devices 0 and 1, which have no order among each other"
  has "hint: choose one of them: --device=0, or device in C, Lua and Python")"
keep "$vinci" run --ops "$work/alone.db" $soc -q --sequence --device=0 --output="$work/sequence"
report "that of one of them runs" "$(equal "$code" 0 "exit code: $err"
  equal "$(cells "$work/sequence/op_summary.csv" | wc -l)" 2 rows)"
keep "$vinci" replay "$work/alone.db" $soc --memory=flat -q
report "so does a replay" "$(equal "$code" 3 "exit code"; has "the rows are of devices 0 and 1")"
keep "$vinci" replay "$work/alone.db" $soc --memory=flat -q --device=0
report "a replay of one device runs" "$(equal "$code" 0 "exit code: $err")"
keep "$vinci" run add length=1000 $soc -q --device=0
report "a device without a list is refused" "$(equal "$code" 2 "exit code"; has "--device needs --ops=LIST")"
keep "$vinci" run --ops "$work/third.db" $soc -q --sequence --output="$work/third"
report "a collective without a device belongs to the only one" "$(equal "$code" 0 "exit code: $err"
  equal "$(cells "$work/third/op_summary.csv" | wc -l)" 4 rows)"
keep "$vinci" run --ops "$work/third.db" $soc --device=3 --output="$work/device3"
report "so it does when that one is asked for" "$(equal "$code" 0 "exit code: $err"
  equal "$(cells "$work/device3/op_summary.csv" | wc -l)" 4 rows
  case $err in *"name no device"*) echo "a warning: $err" ;; esac)"
keep "$vinci" run --ops "$work/ascend_pytorch_profiler_0.db" $soc --device=1 --output="$work/device1"
report "among several, rows without a device are left out, and told" "$(equal "$code" 0 "exit code: $err"
  has "ascend_pytorch_profiler_0.db: warning: 1 rows name no device, and are left out")"
run moments.db moments
report "two moments within a launch are one row, without what is there twice" "$(equal "$code" 0 "exit code: $err"
  equal "$(rates "$work/moments/op_summary.csv")" "aclnnRelu, first 0.500
hcom 
MatMul 
Add0 
Add0 " rates)"
run view.db view
report "a view in place of collectives is refused, too" "$(equal "$code" 3 "exit code"
  has "view.db: error: COMMUNICATION_OP is a view, which may have rows without end")"
