#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci diff of jobs of several devices: parts that sum to the time of the step, collectives, what one side lacks,
# arguments of either side, result folders, and mistakes. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_diff_job
cp "$srcdir/traces/examples/data_parallel.job.csv" "$work/step.csv"
cd "$work" || exit 99
case $vinci in /*) ;; *) vinci=$OLDPWD/$vinci ;; esac
work=$(pwd)
diff() { keep "$vinci" diff "$@"; }
plan 21

# Rank 0 is at work for 30 us, waits in a sum until rank 1 comes at 100 us, and does nothing behind it; rank 1 works for
# 40 us while the sum moves, then waits for its host, and for a time.
cat >hand.csv <<'END'
job,version=1,name=hand,system=atlas_a2_910b4,ranks=2
group,name=all,ranks=0-1
program,name=early,ranks=0
work,us=30
collective,name=grads,op=all_reduce,group=all,bytes=1048576
program,name=late,ranks=1
work,us=100
collective,name=grads,op=all_reduce,group=all,bytes=1048576
work,us=10,stream=1,at_us=105
host,us=20
work,us=5,at_us=250
END
sed 's/us=100/us=130/; s/bytes=1048576/bytes=2097152/' hand.csv >larger.csv
# Three ranks; a sum of another name.
sed 's/ranks=2/ranks=3/; s/name=grads/name=other/
$a program,name=more,ranks=2\nwork,us=1' hand.csv >more.csv

# sums.py OUT A.json B.json: rows of CSV against summaries of vinci group run.
cat >sums.py <<'END'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
sides = {"a": json.load(open(sys.argv[2])), "b": json.load(open(sys.argv[3]))}
ps = lambda us: round(us * 1e6)
def ranks_of(text):
    for part in text.split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
for side, summary in sides.items():
    total = [r for r in rows if r["table"] == "total"]
    if len(total) != 1 or int(total[0][side]) != ps(summary["time_us"]):
        print(side, "total", total)
    for name in ("transfers", "moved_bytes"):
        if [r[side] for r in rows if r["table"] == "counter" and r["name"] == name] != [str(summary[name])]:
            print(side, name)
    seen = set()
    for group in {r["group"] for r in rows if r["table"] == "ranks"}:
        parts = {r["name"]: r[side] for r in rows if r["table"] == "ranks" and r["group"] == group}
        exposed = [int(r[side]) for r in rows if r["table"] == "exposed" and r["group"] == group and r[side]]
        if "" in parts.values():
            if set(parts.values()) != {""} or exposed or min(ranks_of(group)) < len(summary["ranks"]):
                print(side, group, parts, exposed)
            continue
        parts = {name: int(value) for name, value in parts.items()}
        if sum(exposed) != parts["exposed.moving"] + parts["exposed.waiting"]:
            print(side, group, "exposed", sum(exposed), parts)
        for rank in ranks_of(group):
            seen.add(rank)
            told = summary["ranks"][rank]
            wanted = {"computing": parts["computing"], "exposed": parts["exposed.moving"] + parts["exposed.waiting"],
                      "idle": sum(value for name, value in parts.items() if name.startswith("idle."))}
            for name, value in wanted.items():
                if ps(told[name + "_us"]) != value:
                    print(side, rank, name, told[name + "_us"], value)
    if seen != set(range(len(summary["ranks"]))):
        print(side, "ranks", seen)
END
summary() { # summary FILE OPTIONS... of vinci group run
  file=$1
  shift
  "$vinci" group run "$@" --json >"$file" || echo "group run $*"
}

# ---- parts ---------------------------------------------------------------------------------------
diff step.csv step.csv hccs.copy=10GB/s --csv
report "parts of each rank, and exposed time by collective, sum to the step" "$(expect 0 ''
  summary a.json step.csv
  summary b.json step.csv --set hccs.copy=10GB/s
  "$PYTHON" sums.py out a.json b.json)"
diff hand.csv larger.csv --csv
report "the same of a job by hand" "$(expect 0 ''
  summary a.json hand.csv
  summary b.json larger.csv
  "$PYTHON" sums.py out a.json b.json)"
report "exposed time until the last rank comes" "$(
  for part in 'ranks,0,computing,ps,30000000,30000000,0,' 'ranks,0,exposed.waiting,ps,70000000,100000000,30000000,' \
    'ranks,1,exposed.waiting,ps,0,0,0,'; do
    grep -q "^$part" out || echo "no row $part"
  done)"
report "idle: the host, a time before which nothing begins, and behind the end" "$(
  "$PYTHON" - out <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
parts = {(r["group"], r["name"]): int(r["a"]) for r in rows if r["table"] == "ranks"}
time = {r["group"]: int(r["a"]) for r in rows if r["table"] == "collective"}
sum_end, early_end = 100000000 + time["1"], 30000000 + time["0"]
wanted = {("1", "idle.host"): 20000000, ("1", "idle.events"): 250000000 - sum_end - 20000000, ("1", "idle.ended"): 0,
          ("0", "idle.ended"): 255000000 - early_end, ("0", "idle.events"): 0, ("0", "idle.host"): 0,
          ("1", "computing"): 115000000}
for key, value in wanted.items():
    if parts[key] != value:
        print(key, parts[key], value)
END
)"
report "a collective of another size is the same collective" "$(
  grep -qx 'bytes,0,grads: all_reduce,byte,1048576,2097152,1048576,100.0,1,1,' out || grep '^bytes' out)"
cp out one.out
diff larger.csv hand.csv --csv
report "the other way round all changes turn" "$(expect 0 ''
  "$PYTHON" - one.out out <<'END'
import csv, sys
one, two = ({(r["table"], r["group"], r["name"]): r for r in csv.DictReader(open(path))} for path in sys.argv[1:])
if set(one) != set(two) or len(one) < 15:
    print(set(one) ^ set(two))
for key in one:
    if (one[key]["a"], one[key]["b"]) != (two[key]["b"], two[key]["a"]) or int(one[key]["change"]) != -int(two[key]["change"]):
        print(one[key], two[key])
END
)"
diff hand.csv more.csv --csv
report "ranks and collectives of one side only" "$(expect 0 ''
  summary a.json hand.csv
  summary b.json more.csv
  "$PYTHON" sums.py out a.json b.json
  [ "$(grep -c '^collective,[01],grads: all_reduce,ps,[0-9]*,,-' out)" -eq 2 ] || grep '^collective' out
  [ "$(grep -c '^collective,[01],other: all_reduce,ps,,[0-9]*,' out)" -eq 2 ] || grep '^collective' out
  grep -q '^ranks,2,computing,ps,,1000000,' out || grep '^ranks' out)"
diff hand.csv more.csv
report "the same for people" "$(expect 0 '' 'only in B'
  grep -q 'only in A.* grads: all_reduce$' out || cat out)"

# ---- folders -------------------------------------------------------------------------------------
"$vinci" group run step.csv -q -o before
"$vinci" group run step.csv -q --bucket=1GiB --set hccs.copy=10GB/s -o after
diff before after --csv
cp out folders.out
diff step.csv step.csv bucket=1GiB hccs.copy=10GB/s --csv
report "two folders of runs are two runs" "$(expect 0 ''
  cmp out folders.out 2>&1)"
diff before step.csv bucket=1GiB --set-b=hccs.copy=10GB/s --json
report "a folder and a run; JSON has the numbers of CSV" "$(expect 0 ''
  "$PYTHON" - out folders.out <<'END'
import csv, json, sys
told, rows = json.load(open(sys.argv[1])), list(csv.DictReader(open(sys.argv[2])))
keys = {"collective": "collectives", "counter": "counters", "ranks": "ranks", "exposed": "exposed", "bytes": "bytes", "total": "totals"}
for table, key in keys.items():
    mine = [r for r in rows if r["table"] == table]
    if len(mine) != len(told[key]) or not mine:
        print(table, len(mine), len(told[key]))
    for row, other in zip(mine, told[key]):
        name = other["name"] + (": " + other["op"] if "op" in other else "")
        if (row["group"], row["name"], row["unit"]) != (other.get("group", ""), name, other["unit"]) or \
                (row["a"], row["b"], row["change"]) != tuple(str(other.get(x, "")) for x in ("a", "b", "change")):
            print(row, other)
if told["a"] != {"name": "before", "system": "atlas_a2_910b4", "duration_ps": told["totals"][0]["a"]}:
    print(told["a"])
END
)"
cp -r before old
sed 's/,[^,]*$//' before/timeline.csv >old/timeline.csv
diff old before
report "a folder of an older version" "$(expect 3 "old/timeline.csv: error: lacks one of the columns class, ranks, kind, name, \
bytes, start_us, wait_us, duration_us, op
hint: older versions wrote no op: 'vinci group run --output=DIR' writes it anew")"
report "damaged folders are refused, with the line" "$(
  for change in '3s/^[0-9]*/99/' '2s/0-1/1-0/' '2s/,work,/,play,/' '2s/,[0-9.]*,\([a-z_]*\)$/,99999999.0,\1/' '2s/,.*//'; do
    sed "$change" before/timeline.csv >old/timeline.csv
    diff old before
    [ "$code" -eq 3 ] && echo "$err" | grep -q '^old/timeline.csv:[23]: error: is not a row of' || echo "$change: $code $err"
  done)"

# ---- sides ---------------------------------------------------------------------------------------
cat >ops.csv <<'END'
job,version=1,name=ops,ranks=2,system=atlas_a2_910b4
group,name=all,ranks=0-1
program,ranks=0-1
work,op=matmul m=1024 k=256 n=1024 dtype=fp16
collective,name=first,op=all_reduce,group=all,bytes=4194304
collective,name=second,op=all_reduce,group=all,bytes=4194304
END
diff ops.csv --system=atlas_a2_910b4,atlas_a2_910b2 --csv
report "one job on two systems" "$(expect 0 ''
  summary a.json ops.csv
  summary b.json ops.csv -s atlas_a2_910b2
  "$PYTHON" sums.py out a.json b.json)"
diff ops.csv ops.csv device.cube_cores=4 bucket=8MiB --memory=flat,cycle --csv
report "numbers of the chip, buckets and memory of one side" "$(expect 0 ''
  grep -q '^collective,0-1,second: all_reduce,.*,1,1,$' out || cat out
  grep -q '^bytes,0-1,second: all_reduce,byte,4194304,8388608,' out || cat out
  grep -q '^collective,0-1,first: all_reduce,ps,[0-9]*,,-' out || cat out)"
diff ops.csv --set-b=hccs.copy=5GB/s --fail-over=1%
report "a limit" "$(expect 1 - 'B against A: +'
  case $err in 'error: B takes '*' longer than A, and --fail-over is 1%') ;; *) echo "$err" ;; esac)"
diff ops.csv ops.csv algorithm.all_reduce=ring fault=devices=1,speed=0.5
report "an algorithm and a fault" "$(expect 0 '' 'each rank of')"
diff ops.csv ops.csv
report "a job and itself" "$(expect 0 '' 'the same time'
  grep -q '^2 kinds of collectives are equal (--all shows them)' out || cat out)"

# ---- mistakes ------------------------------------------------------------------------------------
wrong() { # wrong MESSAGE ARGUMENTS...
  message=$1
  shift
  diff "$@"
  expect 2 "$message"
}
report "names that nothing has" "$(wrong "error: unknown parameter 'hcs.copy'
hint: did you mean 'hccs.copy'?" ops.csv ops.csv hcs.copy=1GB/s
  wrong "error: unknown parameter 'hcs.copy'
hint: did you mean 'hccs.copy'?" ops.csv --set-b=hcs.copy=1GB/s)"
report "what jobs have not" "$(
  wrong "error: a job runs on the chips of its system, not on one of --soc-version
hint: --system chooses the system; 'vinci group show' lists them with their chips" ops.csv -s Ascend910B4,Ascend910B2
  wrong "error: a job takes memory alone, not network, l2 or code" ops.csv ops.csv --l2=warm
  wrong "error: a job of several devices has no limit of cycles" ops.csv ops.csv --max-cycles=9)"
report "a job against something else, and changes of a folder" "$(
  wrong "error: ops.csv is a job of several devices, copy shape=4096 is one run" ops.csv copy shape=4096
  wrong "error: after holds results of an earlier run: a number of the chip is not for these" before after --set-b=hccs.copy=1GB/s
  wrong "error: 'bucket=1MiB' after before: it takes no arguments" before bucket=1MiB after)"

# ---- Lua -----------------------------------------------------------------------------------------
cat >diff.lua <<'END'
local vinci = require "vinci"
local found = vinci.diff { a = "step.csv", b = { path = "step.csv", args = { ["hccs.copy"] = "10GB/s", bucket = "1GiB" } } }
assert(found.a.system == "atlas_a2_910b4" and not found.a.cycles)
local sums = {}
for _, row in ipairs(found.ranks) do sums[row.group] = (sums[row.group] or 0) + row.change end
for _, sum in pairs(sums) do assert(sum == found.b.ps - found.a.ps) end
assert(#found.collectives > 0 and #found.collectives == #found.exposed and #found.exposed == #found.bytes)
assert(found.collectives[1].op == "all_reduce" and found.collectives[1].a_count == 1)
print(found.b.ps)
END
keep "$vinci" lua diff.lua
report "from Lua" "$(expect 0 '' "$(sed -n 's/^total,,duration_ps,ps,[0-9]*,\([0-9]*\),.*/\1/p' folders.out)")"
