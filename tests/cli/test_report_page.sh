#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages of `vinci report` in a headless Chromium (report_page.py): no error on the console, the numbers of the
# run in the page, zoom, filters, themes, a million slices; pages of sweeps, lists and networks. With PICTURES=DIR
# pictures of the pages stay there, those of cli/REPORT.md among them.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

"$vinci" --version | grep -q 'HTML reports: written$' || skip_all 'built without the page of reports: no npm'
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)} ||
  skip_without 'Chromium (Debian package chromium)'
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all 'the page is the same with sanitizers, test_report.sh runs the program'
needs_python

work_folder test_report_page
studies='list_one list_many trace net texts shapes lua equal'
cat >"$work/hostile.csv" <<'END'
trace,version=1
kernel,name=</script><script>window.broken=1</script>,arch=dav-c220,blocks=1
tensor,name=x,dtype=fp16,shape=8192,io=in
buffer,name=a,space=UB,address=0,size=16384
stream,core=AIV
copy_gm_to_ubuf,dst=a,src=x,len_burst=16
END
printf 'op,args\nmatmul,m=256 k=256 n=256\nadd,shape=65536\nsoftmax,shape=128x512\n' >"$work/ops.csv"
printf 'op,args,weight\nmatmul,m=256 k=256 n=256,\nadd,shape=65536,9\nsoftmax,shape=128x512,0\n' >"$work/weights.csv"
cat >"$work/study.lua" <<'END'
return { soc = "Ascend910B4", op = "matmul", m = 256, k = 256, n = 256, memory = "flat",
  points = { { ["l2.size"] = "48MiB" }, {}, { ["device.cube_cores"] = 4, ["l2.size"] = "96MiB" }, { ["device.cube_cores"] = 8 } } }
END
# Two ranks end at almost the same time; rank 1 computes no longer than rank 0, and waits for its host.
cat >"$work/ends.csv" <<'END'
job,version=1,name=ends,system=atlas_a2_910b4,ranks=4
program,ranks=0
work,us=10000
program,ranks=1
host,us=90000
work,us=10000
program,ranks=2
work,us=100000.05
program,ranks=3
work,us=100000.055
END
# Rank 0 does nothing.
cat >"$work/idle.csv" <<'END'
job,version=1,name=idle,system=atlas_a2_910b4,ranks=3
group,name=all,ranks=1-2
program,ranks=0
program,ranks=1
work,us=30
collective,name=grads,op=all_reduce,group=all,bytes=1048576
program,ranks=2
work,us=100
collective,name=grads,op=all_reduce,group=all,bytes=1048576
host,us=20
END
# A loader on the host, copies to the device, kernels.
{
  echo 'graph,version=1,name=loader'
  for i in 0 1 2; do
    printf 'tensor,name=%s%d,dtype=fp16,shape=64x1024,io=%s\n' read $i in x $i local y $i out
  done
  for i in 0 1 2; do
    printf 'task,name=load%d,unit=LOADER,duration_us=40,stream=1\n' $i
    printf 'copy,name=up%d,way=h2d,in=read%d,out=x%d,stream=2,after=load%d\n' $i $i $i $i
    printf 'kernel,name=act%d,op=gelu,in=x%d,out=y%d,args=shape=64x1024\n' $i $i $i
  done
} >"$work/loader.csv"
{
  "$vinci" run matmul m=1024 k=1024 n=1024 $soc --output="$work/run" >"$work/report.txt"
  "$vinci" run matmul m=1024 k=1024 n=1024 $soc --set hbm.bandwidth_scale=0.25 --output="$work/second" --quiet
  "$vinci" run layer_norm shape=26624x4096 dtype=fp16 $soc --memory=flat --timeline-events=2000000 --output="$work/many" --quiet
  "$vinci" run "$work/hostile.csv" $soc --output="$work/hostile" --quiet
  "$vinci" sweep run matmul m=512 k=512 n=512 $soc --param hbm.bandwidth_scale=0.5,1 --param device.cube_cores=4,8,20 \
    --memory=flat --output="$work/sweep" --quiet
  "$vinci" sensitivity matmul m=256 k=256 n=256 $soc --params hbm.bandwidth_scale --params cube.fp16_cycles --output="$work/tornado" >/dev/null
  "$vinci" run --ops "$work/ops.csv" $soc --interval --output="$work/list" --quiet
  "$vinci" run --ops "$work/weights.csv" $soc --output="$work/weights" --quiet
  # Studies of every kind. Of list_many the chip cannot have some points; more cores than there is work for change nothing.
  "$vinci" sweep run --ops "$work/ops.csv" --soc-version=Ascend910B1 --param device.vector_cores=48,8 --output="$work/list_one" --quiet
  "$vinci" sweep run --ops "$work/ops.csv" $soc --param l2.size=48MiB,96MiB --param memory=flat,cycle \
    --param device.cube_cores=4,20,48 --output="$work/list_many" --quiet
  "$vinci" sweep run "$srcdir/traces/examples/add8_tile20480_single.csv" $soc --memory=flat --param ub.reads_per_group=1,2 \
    --output="$work/trace" --quiet
  "$vinci" sweep run "$srcdir/traces/examples/two_layers.graph.csv" $soc --param hbm.bandwidth_scale=0.5,1 \
    --param memory=flat,cycle --output="$work/net" --quiet
  "$vinci" sweep run matmul m=512 k=512 n=512 $soc --memory=flat --param op.dtype=fp16,bf16,fp32 --output="$work/texts" --quiet
  "$vinci" sweep run matmul n=256 $soc --param op.m=128,512 --param op.k=64,1024 --param network=packet,flit --output="$work/shapes" --quiet
  "$vinci" sweep run "$work/study.lua" --output="$work/lua" --quiet
  "$vinci" sweep run add shape=4096 $soc --param cube.fp16_cycles=1,2 --output="$work/equal" --quiet
  "$vinci" net run "$srcdir/traces/examples/two_layers.graph.csv" $soc --memory=flat --host=graph --savings=all \
    --output="$work/network" --quiet
  "$vinci" net run "$work/loader.csv" $soc --memory=flat --output="$work/loader" --quiet
  "$vinci" group run "$srcdir/traces/examples/data_parallel.job.csv" --savings=all --output="$work/job" >/dev/null
  "$vinci" run matmul m=512 k=512 n=512 $soc --memory=flat --energy --output="$work/energy_run" --quiet
  "$vinci" net run "$srcdir/traces/examples/two_layers.graph.csv" $soc --memory=flat --energy --output="$work/energy_network" --quiet
  "$vinci" group run "$srcdir/traces/examples/layer_step.job.csv" --energy --output="$work/energy_job" --quiet
  "$vinci" group run "$work/ends.csv" --output="$work/ends" >/dev/null
  "$vinci" group run "$srcdir/traces/examples/pipeline_memory.job.csv" --output="$work/held" >/dev/null
  # The same with other numbers, to compare accounts.
  "$vinci" run matmul m=512 k=512 n=512 --soc-version=Ascend910B1 --memory=flat --energy --output="$work/energy2_run" --quiet
  "$vinci" net run "$srcdir/traces/examples/two_layers.graph.csv" $soc --memory=flat --host=eager --energy \
    --output="$work/energy2_network" --quiet
  "$vinci" group run "$srcdir/traces/examples/layer_step.job.csv" --set hccs.copy=10GB/s --energy --output="$work/energy2_job" --quiet
  cp -r "$work/run" "$work/pair"
  "$vinci" net run "$srcdir/traces/examples/two_layers.graph.csv" $soc --memory=flat --host=eager --output="$work/network2" --quiet
  "$vinci" run --ops "$work/weights.csv" --soc-version=Ascend910B1 --output="$work/weights2" --quiet
  "$vinci" sweep run matmul m=512 k=512 n=512 --soc-version=Ascend910B1 --param hbm.bandwidth_scale=0.5,1 --param device.cube_cores=8,20 \
    --memory=flat --output="$work/sweep2" --quiet
  "$vinci" group run "$srcdir/traces/examples/data_parallel.job.csv" --set hccs.copy=10GB/s --output="$work/job2" >/dev/null
  cp -r "$work/run" "$work/older"
  rm "$work/older/command.json"
  "$PYTHON" -c 'import json, sys
path = sys.argv[1]
run = json.load(open(path))
del run["critical"]["state"], run["critical"]["levers"]
json.dump(run, open(path, "w"))' "$work/older/report.json"
  cp -r "$work/sweep" "$work/sweeps"
  cp -r "$work/job" "$work/jobs"
  cp -r "$work/network" "$work/networks"
  cp -r "$work/weights" "$work/lists"
  for name in run many hostile older sweep tornado list weights $studies network loader job ends held energy_run energy_network energy_job; do
    "$vinci" report "$work/$name" --output="$work/$name.html" --quiet
  done
  for name in run network job; do
    cp -r "$work/energy_$name" "$work/energies_$name"
    "$vinci" report "$work/energies_$name" "$work/energy2_$name" --output="$work/energies_$name.html" --quiet
  done
  for name in run network job; do
    cp -r "$work/energy_$name" "$work/lone_$name"
  done
  "$vinci" report "$work/lone_run" "$work/second" --output="$work/lone_run.html" --quiet
  "$vinci" report "$work/lone_network" "$work/network2" --output="$work/lone_network.html" --quiet
  "$vinci" report "$work/job2" "$work/lone_job" --output="$work/lone_job.html" --quiet
  "$vinci" report "$work/pair" "$work/second" --output="$work/pair.html" --quiet
  "$vinci" report "$work/networks" "$work/network2" --output="$work/networks.html" --quiet
  "$vinci" report "$work/lists" "$work/weights2" --output="$work/lists.html" --quiet
  "$vinci" report "$work/sweeps" "$work/sweep2" --output="$work/sweeps.html" --quiet
  "$vinci" report "$work/jobs" "$work/job2" --output="$work/jobs.html" --quiet
  "$vinci" diff "$work/jobs" "$work/job2" --csv >"$work/jobs.csv"
  # Smaller activations, a faster backward pass, and a link of half the rate.
  cp -r "$work/held" "$work/helds"
  sed 's/name=activations,bytes=1610612736/name=activations,bytes=805306368/; s/us=4900/us=4000/' \
    "$srcdir/traces/examples/pipeline_memory.job.csv" >"$work/held.csv"
  "$vinci" group run "$work/held.csv" --set hccs.copy=10GB/s --output="$work/held2" >/dev/null
  "$vinci" report "$work/helds" "$work/held2" --output="$work/helds.html" --quiet
  "$vinci" diff "$work/helds" "$work/held2" --csv >"$work/helds.csv"
  "$vinci" group run "$work/idle.csv" --output="$work/idle" >/dev/null
  "$vinci" report "$work/idle" --output="$work/idle.html" --quiet
  cp -r "$work/idle" "$work/idles"
  sed 's/us=100/us=130/' "$work/idle.csv" >"$work/later.csv"
  "$vinci" group run "$work/later.csv" --output="$work/idle2" >/dev/null
  "$vinci" report "$work/idles" "$work/idle2" --output="$work/idles.html" --quiet
  "$vinci" diff "$work/idles" "$work/idle2" --csv >"$work/idles.csv"
} >"$work/made" 2>&1
PYTHONDONTWRITEBYTECODE=1 timeout 900 "$PYTHON" "$srcdir/tests/cli/report_page.py" "$chromium" "$work" \
  ${PICTURES:+"$PICTURES"} >"$work/found" 2>&1

plan 55
# part CHECK FUNCTION NAME
part() {
  report "$3" "$(awk -v head="== $1 $2" '
    /^== / { inside = $0 == head; seen = seen || inside; next }
    inside && !/^# /
    END { if (!seen) print "was not reached" }' "$work/found")"
}
report "runs and pages are made" "$(cat "$work/made")"
part run numbers "numbers of a run, and points below their own roofs"
part run cause "cause, advice and promise; the critical path sums to the run"
part run lanes "slices sum to busy cycles"
part run zoom "zoom, move and filter of the timeline"
part run hotspots "hot spots have the text of their lines, sort and filter"
part run looks "dark, narrow, on paper, by keyboard"
part many many "a million slices at 30 frames a second$(sed -n 's/^# \(.*\)/: \1/p' "$work/found" | tail -n 1)"
part hostile hostile "names stay text"
part older older "a run of an earlier build"
part compare compare "two runs: differences sum"
part sweep sweep "a sweep: points, the fastest, the Pareto front"
part study_list_one study "a list and one parameter: table, the fastest, parameters to choose"
part study_list_many study "a list and three parameters, one of texts; points that failed"
part study_list_many at_once "three parameters at once: the fastest with each value"
part study_shapes at_once "three parameters of an operator at once"
part study_net no_parallel "two parameters have curves alone"
part study_trace study "a trace"
part study_net study "a network"
part study_texts study "a parameter of texts alone"
part study_shapes study "arguments of an operator; a parameter with the name of another column"
part study_lua study "a study in Lua: points that leave parameters out"
part study_equal study "points that are all as fast"
part tornado tornado "a sensitivity study: the tornado"
part list list_of_operators "a list by time"
part weights list_of_operators "a list whose operators count more than once, or not at all"
part network network "a network by time"
part loader units "a network with copies and tasks: lanes of units"
part job job "a job of several devices"
part held held "memory of ranks over time"
part ends ends "ranks that end almost together, and one that waits"
part networks pair_of_networks "two networks: parts and nodes"
part networks fits "a page in a narrow window"
part lists pair_of_lists "two lists: differences by operator and kind sum"
part sweeps pair_of_sweeps "two sweeps: points that both have"
part sweeps fits "two sweeps in a narrow window"
part jobs pair_of_jobs "two jobs: parts of each class of ranks, collectives and ends are those of vinci diff"
part jobs fits "two jobs in a narrow window"
part helds pair_of_jobs "two pipelines: bubbles, and what the memory of each class holds"
part helds fits "two pipelines in a narrow window"
part idle idle "a rank that does nothing"
part idles pair_of_jobs "two jobs with a rank that does nothing"
part job late "why a rank is late: classes of ranks against each other"
part job no_energy "no energy without being asked"
part energy_run energy "energy of a run: parts and intervals"
part energy_network energy "energy of a network"
part energy_job energy "energy of a job"
part energies_run pair_of_energies "energies of two runs"
part energies_network pair_of_energies "energies of two networks"
part energies_job pair_of_energies "energies of two jobs"
part lone_run lone_energy "energy of one of two runs"
part lone_network lone_energy "energy of one of two networks"
part lone_job lone_energy "energy of one of two jobs"
part kinds kinds "each kind of page has its pictures, in cli/REPORT.md too"
report "the browser went through to the end" "$(grep -q '^== end$' "$work/found" || tail -n 5 "$work/found")"
