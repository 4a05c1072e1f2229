#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Points of gates that are steps of models, split over devices, and arguments of jobs: their numbers are those of
# sweeps and of vinci group run. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_gate_job
plan 15
cat >"$work/model.lua" <<'END'
return { layers = 4, hidden = 256, ffn = 640, heads = 6, kv_heads = 2, head_dim = 32, vocab = 1000, sequence = 128,
  global_batch = 8, name = "tiny" }
END
cat >"$work/step.csv" <<'END'
job,version=1,name=step,system=atlas_a2_910b4,ranks=2
group,name=all,ranks=0-1
program,ranks=0-1
work,op=matmul m=1024 k=256 n=1024 dtype=fp16
collective,name=first,op=all_reduce,group=all,bytes=4194304
collective,name=second,op=all_reduce,group=all,bytes=4194304
END
cat >"$work/suite.lua" <<'END'
return { soc = "Ascend910B4", points = {
  { name = "split", model = "model.lua", system = "atlas_a2_910b4", devices = 4, tp = 2, sharded = true },
  { name = "deep", model = "model.lua", system = "atlas_a2_910b4", tp = 1, pp = 2, dp = 2, micro_batch = 1,
    set = { "hccs.copy=10GB/s", "device.cube_cores=8" } },
  { name = "joined", job = "step.csv", bucket = "8MiB", ["algorithm.all_reduce"] = "ring", memory = "cycle" },
  { name = "plain", job = "step.csv" } } }
END
gate() {
  command=$1
  shift
  keep "$vinci" gate "$command" "$work/suite.lua" "$@"
}
base=--baseline=$work/base.csv

keep "$vinci" gate list "$work/suite.lua"
report "list" "$(expect 0 '' "split: $work/model.lua devices=4 sharded=true system=atlas_a2_910b4 tp=2
deep: $work/model.lua dp=2 micro_batch=1 pp=2 system=atlas_a2_910b4 tp=1 hccs.copy=10GB/s device.cube_cores=8
joined: $work/step.csv algorithm.all_reduce=ring bucket=8MiB
plain: $work/step.csv")"
gate bless "$base" --reason=first -j1
report "bless" "$(expect 0 '' 'blessed 4 points')"
cat >"$work/same.py" <<'END'
import csv, sys
gate, point, table, picks = sys.argv[1], sys.argv[2], sys.argv[3], dict(a.split("=", 1) for a in sys.argv[4:])
told = {r[1]: r[2] for r in csv.reader(open(gate)) if r and r[0] == point}
rows = [r for r in csv.DictReader(open(table)) if all(r[k] == v for k, v in picks.items())]
if len(rows) != 1:
    sys.exit("%d rows" % len(rows))
for key in ("time_ps", "computing_ps", "exposed_ps", "idle_ps", "transfers", "moved_bytes", "memory_bytes"):
    if rows[0]["job." + key] != told.get("job." + key, ""):
        print(key, rows[0]["job." + key], told.get("job." + key))
END
keep "$vinci" sweep run "model=$work/model.lua" system=atlas_a2_910b4 devices=4 sharded=true -p job.tp=1,2 -j1 -q -o "$work/split"
report "a split has the numbers of a sweep" "$(expect 0 ''
  "$PYTHON" "$work/same.py" "$work/base.csv" split "$work/split/results.csv" job.tp=2)"
keep "$vinci" sweep run "model=$work/model.lua" system=atlas_a2_910b4 pp=2 dp=2 micro_batch=1 -p hccs.copy=10GB/s \
  -p device.cube_cores=8,24 -j1 -q -o "$work/deep"
report "numbers of system and chip" "$(expect 0 ''
  "$PYTHON" "$work/same.py" "$work/base.csv" deep "$work/deep/results.csv" device.cube_cores=8)"
keep "$vinci" sweep run "$work/step.csv" -p job.bucket=8MiB,1KiB -p job.algorithm.all_reduce=ring -p memory=cycle,flat -j1 -q -o "$work/joined"
report "arguments and memory of a job" "$(expect 0 ''
  "$PYTHON" "$work/same.py" "$work/base.csv" joined "$work/joined/results.csv" job.bucket=8MiB memory=cycle)"
gate check "$base" -j2 --repeat=2
report "the same passes, again and again" "$(expect 0 '' 'passed=4')"

# ---- what changes ------------------------------------------------------------------------
sed -i 's/devices = 4, tp = 2/devices = 4, tp = 1/' "$work/suite.lua"
gate check "$base" -j1
report "another split is judged" "$(grep -q '^split .*STALE' "$work/out" && cat "$work/out"
  case $code in 0 | 1) ;; *) echo "$code $err" ;; esac
  grep -q 'job.exposed_ps' "$work/out" || cat "$work/out")"
gate explain "$base" -j1
report "explain tells the parts" "$(expect 0 '' 'job.time_ps')"
sed -i 's/devices = 4, tp = 1/devices = 4, tp = 2/' "$work/suite.lua"
gate check "$base" -j1 --set hccs.copy=1GB/s --only=split
report "slower links are a regression" "$(expect 1 - 'job.exposed_ps')"
sed -i 's/layers = 4/layers = 6/' "$work/model.lua"
gate check "$base" -j1 --only=split
report "another model is another input" "$(expect 3 - STALE)"
sed -i 's/layers = 6/layers = 4/' "$work/model.lua"
cat >"$work/gate.lua" <<'END'
local vinci = require "vinci"
local found = vinci.gate { suite = arg[1] .. "/suite.lua", baseline = arg[1] .. "/base.csv", jobs = 1 }
assert(found:passes(), found:text())
assert(#found:points() == 4)
assert(not vinci.bless { suite = arg[1] .. "/suite.lua", baseline = arg[1] .. "/base.csv", reason = "again", jobs = 1 }.changed)
END
keep "$vinci" lua "$work/gate.lua" "$work"
report "from Lua" "$(expect 0 '')"

# ---- mistakes ----------------------------------------------------------------------------
suite() { # suite POINT: a suite of one point
  echo "return { points = { $1 } }" >"$work/suite.lua"
}
wrong() { # wrong MESSAGE POINT
  suite "$2"
  gate list
  expect 2 "$work/suite.lua: error: $1"
}
report "a field that neither model nor split has" "$(wrong "point 'p': neither model nor split has a field 'micro_batches'
hint: did you mean 'micro_batch'?" '{ name = "p", model = "model.lua", system = "atlas_a2_910b4", micro_batches = 2 }')"
report "fields that jobs of files have not" "$(wrong "point 'p': unknown field 'tp'" '{ name = "p", job = "step.csv", tp = 2 }')"
report "neither checks nor values" "$(
  wrong "point 'p': the step of a model has no checks and no expected values here" '{ name = "p", model = "model.lua", check = true }'
  wrong "point 'p': a job of several devices has no checks and no expected values here" '{ name = "p", job = "step.csv", check = true }')"
report "what cannot be is the failure of a point" "$(
  for row in 'tp = 4, devices = 4|cannot split .* over tp=4' 'tp = 3, devices = 4|cannot split 4 devices over tp=3' \
    'tp = "x", devices = 4|tp is a whole number' 'layers = 0, devices = 4|layers' 'devices = 4, bucket = "many"|bucket: '; do
    suite "{ name = 'p', model = 'model.lua', system = 'atlas_a2_910b4', ${row%|*} }"
    gate check "$base" -j1
    [ "$code" -ne 0 ] && echo "$out" | tr '\n' ' ' | grep -q "${row#*|}" || echo "$row: $code $out $err"
  done
  suite "{ name = 'p', model = 'model.lua', tp = 2 }"
  gate check "$base" -j1
  [ "$code" -ne 0 ] && echo "$out" | grep -q 'the job names no system of devices' || echo "$code $out $err")"
