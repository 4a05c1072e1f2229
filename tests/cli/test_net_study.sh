#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks in sweeps and gates: what they tell is what vinci net run tells.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_net_study
plan 12
cp "$srcdir/traces/examples/two_layers.graph.csv" "$work/net.csv"
cp "$srcdir/traces/examples/gears.graph.csv" "$work/family.csv"

# same DIR NAME=VALUE...: whether the row of results.csv with these parameters is summary.json of a run.
cat >"$work/same.py" <<'END'
import csv, json, sys
table, summary, wanted = sys.argv[1], json.load(open(sys.argv[2])), dict(a.split("=", 1) for a in sys.argv[3:])
rows = [r for r in csv.DictReader(open(table)) if all(r[k] == v for k, v in wanted.items())]
if len(rows) != 1:
    print("%d rows" % len(rows))
for key, value in summary.items():
    name = "net." + (key.replace("_us", "_ps") if key.endswith("_us") else key)
    if name in rows[0] and int(rows[0][name]) != round(value * (1e6 if key.endswith("_us") else 1)):
        print(name, rows[0][name], value)
if sum(k.startswith("net.") for k in rows[0]) < 20:
    print("columns are missing:", *rows[0])
END

keep "$vinci" sweep run "$work/net.csv" $soc --memory=flat --param net.host=sink,eager --param hbm.bandwidth_scale=1,2 --output="$work/sweep"
found=$(expect 0 '')
keep "$vinci" net run "$work/net.csv" $soc --memory=flat --host=eager --set hbm.bandwidth_scale=2 --json
report "a point of a sweep is a run" "$found$(expect 0 ''
  "$PYTHON" "$work/same.py" "$work/sweep/results.csv" "$work/out" net.host=eager hbm.bandwidth_scale=2)"
keep "$vinci" sweep run "$work/net.csv" $soc --memory=flat --param net.host=sink,eager,graph --output="$work/sweep"
report "points that have a result are reused" "$(expect 0 '' '3 ok, 0 failed')"
cat >"$work/study.lua" <<'END'
return { soc = "Ascend910B4", memory = "flat", net = "family.csv", host = "graph", batch = 4,
  params = { { "net.batch", 1, 16 } } }
END
keep "$vinci" sweep run "$work/study.lua" --output="$work/family"
found=$(expect 0 '')
sed 's/{batch}/16/g' "$work/family.csv" >"$work/sixteen.csv"
keep "$vinci" net run "$work/sixteen.csv" $soc --memory=flat --host=graph --json
report "a study varies the batch of a family" "$found$(expect 0 ''
  "$PYTHON" "$work/same.py" "$work/family/results.csv" "$work/out" net.batch=16)"

keep "$vinci" sweep run "$work/net.csv" $soc --param net.hosts=sink --output="$work/other"
report "an argument that networks lack has a hint" "$(expect 2 "error: a network has no argument 'hosts'
hint: did you mean 'host'?")"
keep "$vinci" sweep run "$work/net.csv" $soc --param op.m=3 --output="$work/other"
report "a network is not an operator" "$(expect 2 "error: parameter 'op.m': arguments of a network begin with net.")"
sed 's/op=gelu/op=guelu/' "$work/net.csv" >"$work/bad.csv"
keep "$vinci" sweep run "$work/bad.csv" $soc --memory=flat --param net.host=sink --output="$work/bad"
report "a kernel that cannot be lowered fails the point" "$(
  grep -q 'rejected,3,"\{0,1\}1 of 3 nodes could not be lowered; node act (guelu)' "$work/bad/results.csv" || cat "$work/bad/results.csv")"

# ---- gates -----------------------------------------------------------------------------------
cat >"$work/suite.lua" <<'END'
return { soc = "Ascend910B4", memory = "flat", points = {
  { name = "copy", op = "copy", shape = 4096 },
  { name = "layers", net = "net.csv" },
  { name = "eager", net = "net.csv", host = "eager" },
  { name = "batch", net = "family.csv", batch = 8 } } }
END
keep "$vinci" gate bless "$work/suite.lua" --baseline="$work/base.csv" --reason=test
report "a suite with graphs is blessed" "$(expect 0 -
  for metric in net.time_ps net.launches net.memory_bytes net.l2_found_bytes total_cycles; do
    grep -q "^eager,$metric," "$work/base.csv" || echo "no $metric"
  done)"
keep "$vinci" gate check "$work/suite.lua" --baseline="$work/base.csv" --repeat=2
report "and passes" "$(expect 0 -)"
keep "$vinci" net run "$work/net.csv" $soc --memory=flat --host=eager --json
report "its numbers are those of a run" "$(expect 0 ''
  "$PYTHON" - "$work/base.csv" "$work/out" <<'END'
import json, sys
rows = [l.split(",") for l in open(sys.argv[1]) if l.startswith("eager,")]
value = {r[1]: r[2] for r in rows}
summary = json.load(open(sys.argv[2]))
if int(value["net.time_ps"]) != round(summary["time_us"] * 1e6) or int(value["net.launches"]) != summary["launches"]:
    print(value, summary)
parts = sum(int(r[2]) for r in rows if r[1].startswith("critical."))
if parts != int(value["total_cycles"]):
    print("parts", parts, value["total_cycles"])
END
)"

# A compiler that adds a kernel: the same problem, a longer time.
sed 's/in=a w2,out=y/in=b w2,out=y/; s/^kernel,name=fc2/tensor,name=b,dtype=fp16,shape=32x4096\
kernel,name=again,op=relu,in=a,out=b,args=shape=32x4096\
&/' "$work/net.csv" >"$work/longer.csv"
cp "$work/net.csv" "$work/short.csv"
cp "$work/longer.csv" "$work/net.csv"
keep "$vinci" gate check "$work/suite.lua" --baseline="$work/base.csv"
report "a kernel more is a regression, explained by its parts" "$(expect 1 - 'net.launches 3 -> 4'
  case $out in *"change of total_cycles +"*"along the critical path"*latency:*) ;; *) echo "$out" ;; esac)"
sed 's/32x/64x/g; s/m=32/m=64/' "$work/short.csv" >"$work/net.csv"
keep "$vinci" gate check "$work/suite.lua" --baseline="$work/base.csv"
report "another problem is not compared" "$(expect 3 - 'STALE       layers')"
sed 's/, host = "eager"/, hosts = "eager"/' "$work/suite.lua" >"$work/wrong.lua"
keep "$vinci" gate check "$work/wrong.lua" --baseline="$work/base.csv"
report "an argument that is none is named" "$(expect 2 "$work/wrong.lua: error: point 'eager': unknown field 'hosts'" )"
