#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make check-slurm: vinci sweep submit on a real Slurm, brought up here (cluster.sh): the same bytes as a
# local sweep, a task killed in the middle, a restart of the controller. Wants Debian's slurm-wlm;
# without Slurm it is skipped. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
# shellcheck source=tests/support/cluster.sh
. "$srcdir/tests/support/cluster.sh"
vinci=${VINCI:?}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
work=$(cluster_folder) || skip_all "no folder in which tasks may run"
trap 'cluster_down; rm -rf "$work"' EXIT
trap 'echo "Bail out! ended by a signal or after $limit s"; exit 1' HUP INT TERM
limit=600
cluster_up "$work" $limit || skip_all "$cluster_problem"
is_empty() { [ -z "$(squeue -h)" ]; }
runs() { squeue -h -t R -n vinci-shards -o %i | grep -q .; }

# 120 points of the 2048 cube, some 0.05 s each.
study() {
  "$vinci" sweep "$@" "$srcdir/traces/examples/matmul_2048_fp16.csv" --soc-version=Ascend910B1 \
    --memory=flat --param l2.size=8MiB,16MiB,32MiB,64MiB,128MiB,192MiB \
    --param hbm.bandwidth_scale=0.25,0.5,0.75,1,2 --param device.cube_cores=4,8,12,24 --quiet
}

plan 6
study run -j1 --output="$work/local"
study submit --slurm --shards=4 --wait --output="$work/array" 2>"$work/err"
code=$?
report "an array of shards: the same bytes as a local sweep" "$([ $code -eq 0 ] || cat "$work/err"
  diff "$work/local/results.csv" "$work/array/results.csv")"
report "scripts and logs are kept" "$(for name in canary.sh shards.sh collect.sh; do
  [ -s "$work/array/slurm/$name" ] || echo "no $name"
done)"

# A worker of a running task dies by kill -9 with all of its task.
study submit --slurm --shards=2 --output="$work/killed" >/dev/null
has_record() { cat "$work"/killed/journal/*.log | grep -q "$(printf '\t')"; }
wait_for 60 has_record
scancel --signal=KILL --full --name=vinci-shards
wait_for 120 is_empty
"$vinci" sweep collect "$work/killed" >"$work/out" 2>"$work/err"
code=$?
report "a task killed in the middle leaves gaps, which are not hidden" "$([ $code -eq 7 ] ||
  echo "exit code $code"; grep -q 'points are missing' "$work/err" || cat "$work/err"
  [ ! -e "$work/killed/results.csv" ] || echo "there is a table")"
study submit --slurm --shards=2 --wait --output="$work/killed" 2>"$work/err"
report "submitted again it goes on, to the same bytes" "$(cat "$work/err"
  diff "$work/local/results.csv" "$work/killed/results.csv")"

study submit --slurm --shards=4 --output="$work/restart" >/dev/null
wait_for 60 runs
kill "$controller"
wait "$controller"
cluster_controller "$work"
wait_for 180 is_empty
report "the controller restarts in the middle: the same bytes" "$(
  diff "$work/local/results.csv" "$work/restart/results.csv")"

(SLURM_CONF=$work/none study submit --slurm --output="$work/none.out") >"$work/out" 2>"$work/err"
code=$?
report "no cluster" "$([ $code -eq 2 ] || echo "exit code $code"
  grep -q '^error: sbatch failed' "$work/err" || cat "$work/err")"
