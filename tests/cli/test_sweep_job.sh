#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Jobs of several devices in sweeps: what a point tells is what vinci group run tells.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_sweep_job
plan 25
cp "$srcdir/traces/examples/data_parallel.job.csv" "$work/step.csv"
cat >"$work/ops.csv" <<'END'
job,version=1,name=ops,system=atlas_a2_910b4,ranks=4
group,name=all,ranks=0-3
program,ranks=0-3
work,op=matmul m=1024 k=256 n=1024 dtype=fp16
collective,name=first,op=all_reduce,group=all,bytes=4194304
collective,name=second,op=all_reduce,group=all,bytes=4194304
work,op=add shape=65536 dtype=fp16
END
cat >"$work/model.lua" <<'END'
return { layers = 4, hidden = 256, ffn = 640, heads = 6, kv_heads = 2, head_dim = 32, vocab = 1000, sequence = 128,
  global_batch = 8, name = "tiny" }
END

# same.py TABLE SUMMARY KEY=VALUE...: whether the row with these parameters is the summary of a run.
cat >"$work/same.py" <<'END'
import csv, json, sys
table, summary, wanted = sys.argv[1], json.load(open(sys.argv[2])), dict(a.split("=", 1) for a in sys.argv[3:])
rows = [r for r in csv.DictReader(open(table)) if all(r[k] == v for k, v in wanted.items())]
if len(rows) != 1:
    sys.exit("%d rows" % len(rows))
row, ranks = rows[0], summary["ranks"]
ps = lambda us: round(us * 1e6)
expected = {"time_ps": ps(summary["time_us"]), "transfers": summary["transfers"], "moved_bytes": summary["moved_bytes"],
            "ranks": len(ranks)}
for name in ("computing", "exposed", "overlapped", "idle", "slowed"):
    expected[name + "_ps"] = sum(ps(r[name + "_us"]) for r in ranks)
for key, value in expected.items():
    if int(row["job." + key]) != value:
        print(key, row["job." + key], value)
if expected["computing_ps"] + expected["exposed_ps"] + expected["idle_ps"] != len(ranks) * expected["time_ps"]:
    print("parts are not the whole")
if ("energy" in summary) != ("energy.uj" in row) or \
        "energy" in summary and float(row["energy.uj"]) != summary["energy"]["whole"]["uj"]:
    print("energy", row.get("energy.uj"), summary.get("energy"))
END
same() { # same NAME TABLE KEY=VALUE... -- OPTIONS of group run
  name=$1 table=$2 keys=
  shift 2
  while [ "$1" != -- ]; do
    keys="$keys $1"
    shift
  done
  shift
  keep "$vinci" group run "$@" --json
  # shellcheck disable=SC2086
  report "$name" "$(expect 0 ''; "$PYTHON" "$work/same.py" "$table" "$work/out" $keys 2>&1)"
}

# ---- jobs of files ---------------------------------------------------------------------
keep "$vinci" sweep run "$work/step.csv" -p hccs.copy=10GB/s,30GB/s -p job.algorithm.all_reduce=ring,mesh -j1 -q -o "$work/links"
report "numbers of the system and algorithms" "$(expect 0 '')"
same "a point is a run" "$work/links/results.csv" hccs.copy=10GB/s job.algorithm.all_reduce=mesh -- \
  "$work/step.csv" --set hccs.copy=10GB/s --algorithm=all_reduce=mesh
same "another point is another run" "$work/links/results.csv" hccs.copy=30GB/s job.algorithm.all_reduce=ring -- \
  "$work/step.csv" --set hccs.copy=30GB/s --algorithm=all_reduce=ring
keep "$vinci" sweep run "$work/ops.csv" -p job.bucket=4MiB,8MiB -p memory=flat,cycle -p energy=on -j2 -q -o "$work/ops"
report "buckets, memory and energy" "$(expect 0 '')"
same "sums made together, with energy" "$work/ops/results.csv" job.bucket=8MiB memory=cycle -- \
  "$work/ops.csv" --bucket=8MiB --memory=cycle --energy
same "flat memory is that of jobs" "$work/ops/results.csv" job.bucket=4MiB memory=flat -- "$work/ops.csv" --bucket=4MiB --energy
keep "$vinci" sweep run "$work/ops.csv" system=atlas_a2_910b2 -p device.cube_cores=4,24 -j1 -q -o "$work/cores"
report "numbers of the chip of the system" "$(expect 0 ''
  "$PYTHON" - "$work/cores/results.csv" <<'END'
import csv, sys
few, many = list(csv.DictReader(open(sys.argv[1])))
if not int(few["job.computing_ps"]) > int(many["job.computing_ps"]):
    print(few, many)
if few["job"] != many["job"] or few["job.memory_bytes"] or few["job.device_bytes"] != str(64 << 30):
    print(few)
END
)"
keep "$vinci" sweep run "$work/step.csv" -p hccs.copy=10GB/s,soon -q -o "$work/bad"
report "a value that is wrong fails its point" "$(expect 0 ''
  grep '^[^,]*,soon,' "$work/bad/results.csv" | grep -q ',usage,2,' || cat "$work/bad/results.csv")"

# ---- steps of models -------------------------------------------------------------------
keep "$vinci" sweep run "model=$work/model.lua" system=atlas_a2_910b4 devices=4 sharded=true -p job.tp=1,2,4 \
  -p job.micro_batch=1,2 -j1 -q -o "$work/splits"
report "splits of a model over its devices" "$(expect 0 '')"
cat >"$work/step.lua" <<'END'
local vinci = require "vinci"
local T = vinci.transformer
local folder, tp, micro_batch = arg[1], math.tointeger(arg[2]), math.tointeger(arg[3])
local model = T.read(folder .. "/model.lua")
model.micro_batch = micro_batch
local step = T.step(T.clock(vinci.soc("Ascend910B4"), { jobs = 1 }), model, { tp = tp, dp = 4 // tp, sharded = true })
io.open(folder .. "/made.csv", "w"):write(step.job):close()
print(step.memory.bytes)
END
keep "$vinci" lua "$work/step.lua" "$work" 2 2
bytes=$(cat "$work/out")
same "a split is the step of the script" "$work/splits/results.csv" job.tp=2 job.micro_batch=2 "job.memory_bytes=$bytes" -- \
  "$work/made.csv" -s atlas_a2_910b4
report "a split that cannot be is a row with its reason" "$(
  grep '^[^,]*,4,1,' "$work/splits/results.csv" | grep -q ',usage,2,.*cannot split .* over tp=4' || cat "$work/splits/results.csv")"
cat >"$work/study.lua" <<'END'
return { model = "model.lua", system = "atlas_a2_910b4", pp = 2, dp = 2,
  params = { { "job.bucket_bytes", "1MiB", "16MiB" }, { "hccs.copy", "10GB/s" } } }
END
keep "$vinci" sweep run "$work/study.lua" -j1 -q -o "$work/study"
report "a study of a model" "$(expect 0 ''
  [ "$(grep -c ',ok,0,' "$work/study/results.csv")" -eq 2 ] || cat "$work/study/results.csv")"
cat >"$work/sweep.lua" <<'END'
local vinci = require "vinci"
local folder = arg[1]
local swept = vinci.sweep { model = folder .. "/model.lua", args = { system = "atlas_a2_910b4", pp = 2, dp = 2 }, jobs = 1,
  params = { { "job.bucket_bytes", "1MiB", "16MiB" }, { "hccs.copy", "10GB/s" } }, output = folder .. "/lua" }
local links = vinci.sweep { job = folder .. "/step.csv", output = folder .. "/links",
  params = { { "hccs.copy", "10GB/s", "30GB/s" }, { "job.algorithm.all_reduce", "ring", "mesh" } } }
assert(#swept.rows == 2 and swept.failed == 0)
assert(swept.rows[1]["job.exposed_ps"] > 0)
assert(links.reused == 4)
END
keep "$vinci" lua "$work/sweep.lua" "$work"
report "from Lua" "$(expect 0 ''
  for folder in study lua; do sed 's/,[^,]*model.lua [^,]*,/,/' "$work/$folder/results.csv" >"$work/$folder.csv"; done
  diff "$work/study.csv" "$work/lua.csv")"

# ---- shards on a cluster ---------------------------------------------------------------
# Programs in the place of Slurm's: sbatch runs each task of an array at once, squeue knows no job.
mkdir "$work/bin"
cat >"$work/bin/sbatch" <<'END'
#!/bin/sh
last=0
for word in "$@"; do
  case $word in --array=0-*) last=${word#--array=0-} ;; esac
done
for task in $(seq 0 "$last"); do
  SLURM_ARRAY_TASK_ID=$task sh "$word" >&2 || exit 1
done
echo 7
END
printf '#!/bin/sh\n' >"$work/bin/squeue"
chmod +x "$work/bin/sbatch" "$work/bin/squeue"
submit() { # submit DIR ARGUMENTS...
  folder=$1
  shift
  keep env PATH="$work/bin:$PATH" timeout 300 "$vinci" sweep submit --slurm --wait --shards=2 -q -o "$folder" "$@"
}
submit "$work/links.slurm" "$work/step.csv" -p hccs.copy=10GB/s,30GB/s -p job.algorithm.all_reduce=ring,mesh
report "shards of jobs give the bytes of one sweep" "$(expect 0 -; cmp "$work/links/results.csv" "$work/links.slurm/results.csv" 2>&1
  [ "$(find "$work/links.slurm/journal" -name '*.log' | wc -l)" -ge 2 ] || ls "$work/links.slurm/journal")"
submit "$work/ops.slurm" "$work/ops.csv" -p job.bucket=4MiB,8MiB -p memory=flat,cycle -p energy=on
report "so do shards with energy" "$(expect 0 -; cmp "$work/ops/results.csv" "$work/ops.slurm/results.csv" 2>&1)"
submit "$work/splits.slurm" "model=$work/model.lua" system=atlas_a2_910b4 devices=4 sharded=true -p job.tp=1,2,4 -p job.micro_batch=1,2
report "and shards of models" "$(cmp "$work/splits/results.csv" "$work/splits.slurm/results.csv" 2>&1)"
submit "$work/study.slurm" "$work/study.lua"
report "and those of a study file" "$(expect 0 -; cmp "$work/study/results.csv" "$work/study.slurm/results.csv" 2>&1)"
submit "$work/none" "model=$work/model.lua" system=atlas_a2_910b4 -p job.micro_batches=1
report "submit finds mistakes of a model first" "$(expect 2 "error: neither model nor split has a field 'micro_batches'
hint: did you mean 'micro_batch'?"; ls "$work/none" 2>/dev/null)"

# ---- mistakes --------------------------------------------------------------------------
wrong() { # wrong NAME MESSAGE ARGUMENTS...
  name=$1 message=$2
  shift 2
  keep "$vinci" sweep run "$@" -o "$work/none"
  report "$name" "$(expect 2 "$message"; ls "$work/none" 2>/dev/null)"
}
wrong "a number that neither system nor chip has" "error: unknown parameter 'hcs.copy'
hint: did you mean 'hccs.copy'?" "$work/step.csv" -p hcs.copy=1GB/s
wrong "a name that is like none" "error: unknown parameter 'quux.length'
hint: 'vinci group show atlas_a2_910b4' lists the numbers of the system, 'vinci soc show Ascend910B4' those of its chip; job.KEY is an \
argument of the job" "$work/step.csv" -p quux.length=1GB/s
wrong "an argument that jobs of files have not" "error: a job of a file has no argument 'tp'
hint: system, bucket, fault, and algorithm.WHICH, such as algorithm.all_reduce=ring; splits are arguments of model=MODEL.lua" \
  "$work/step.csv" -p job.tp=1,2
wrong "a field that neither model nor split has" "error: neither model nor split has a field 'micro_batches'
hint: did you mean 'micro_batch'?" "model=$work/model.lua" system=atlas_a2_910b4 -p job.micro_batches=1
wrong "a chip for a job" "error: a job runs on the chips of its system, not on one that soc names
hint: job.system varies the system; 'vinci group show' lists them with their chips" "$work/step.csv" -s Ascend910B4 -p hccs.copy=1GB/s
wrong "a model without a system" "error: the job names no system of devices
hint: give system=NAME behind the file; 'vinci group show' lists the systems" "model=$work/model.lua" tp=2
wrong "energy of a model" "error: the step of a model has no energy: its text has times of operators
hint: a job whose work names operators (op=) has an account" "model=$work/model.lua" system=atlas_a2_910b4 -p energy=on
