#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study: a thousand points of a 1024^3 matrix product (cube shape x L2 x HBM x cores), first in one
# process undisturbed, then in two with three kill -9 at random moments, then in two undisturbed, then as
# Slurm jobs where slurm-wlm is installed. Prints times, how much of two ideal processes was reached, and
# whether the tables are the same bytes. Arguments go to each sweep: --memory=flat.
set -u
vinci=${VINCI:?}
srcdir=${TESTS_SRCDIR:-.}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
# shellcheck source=tests/support/cluster.sh
. "$srcdir/tests/support/cluster.sh"
work=$(cluster_folder) || exit 99
trap 'cluster_down; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

study() {
  exec "$vinci" sweep "$@" matmul m=1024 k=1024 n=1024 dtype=fp16 --soc-version=Ascend910B1 \
    --param cube.m=8,16,32,64 --param cube.n=8,16,32,64,128 \
    --param l2.size=24MiB,48MiB,96MiB,192MiB,384MiB --param hbm.bandwidth_scale=0.5,1 \
    --param device.cube_cores=4,8,12,16,24
}
now() { date +%s.%N; }
# Seconds of CPU, user and system, of the children of this shell that have ended.
used() { awk -v hz="$(getconf CLK_TCK)" '{ print ($16 + $17) / hz }' "/proc/$$/stat"; }

# timed NAME ARGUMENT...: wall and CPU seconds of a study.
timed() {
  name=$1
  shift
  start=$(now)
  before=$(used)
  (study "$@") >"$work/said" 2>"$work/errors" || {
    cat "$work/errors"
    exit 1
  }
  wall=$(echo "$(now) $start" | awk '{ printf "%.1f", $1 - $2 }')
  cpu=$(echo "$(used) $before" | awk '{ printf "%.1f", $1 - $2 }')
  echo "$name: $wall s, $cpu s of CPU"
  sed -n '/of CPU;/s/^/  /p' "$work/said"
}

status=0
same() {
  if cmp -s "$work/one/results.csv" "$work/$1/results.csv"; then
    echo "  same bytes as one process"
  else
    echo "  ANOTHER TABLE"
    status=1
  fi
}

uptime
# The moments of the kills.
seed=${VINCI_STUDY_SEED:-1}
echo "seed $seed"
timed "one process" run --output="$work/one" -j1 "$@"
one_cpu=$cpu
for kill_number in 1 2 3; do
  study run --output="$work/killed" -j2 --quiet "$@" &
  child=$!
  sleep "$(awk -v seed="$seed$kill_number" 'BEGIN { srand(seed); print 0.5 + 3 * rand() }')"
  kill -9 $child 2>/dev/null
  wait $child 2>/dev/null
  "$vinci" sweep status "$work/killed"
done
timed "the rest, after three kill -9" run --output="$work/killed" -j2 "$@"
same killed
timed "two processes" run --output="$work/two" -j2 "$@"
same two
# Of two ideal processes: the CPU seconds of one, halved, over the wall time of two. Right on a host
# that has nothing else to do; the line above leaves out the time in which others ran.
echo "$one_cpu $wall" | awk '{ printf "  efficiency: %.0f %% of two ideal processes\n", 50 * $1 / $2 }'
if cluster_up "$work" 900; then
  timed "as Slurm jobs, 2 at a time" submit --slurm --shards=4 --wait --output="$work/slurm" "$@"
  same slurm
else
  echo "left out: Slurm; $cluster_problem"
fi
uptime
exit $status
