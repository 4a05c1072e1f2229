#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make study: a thousand points of a 1024^3 matrix product (cube shape x L2 x HBM x cores), first in one
# process undisturbed, then in two with three kill -9 at random moments, then in two undisturbed.
# Prints times and whether the tables are the same bytes. Arguments go to each sweep: --memory=cycle.
set -u
vinci=${VINCI:?}
work=$(mktemp -d "${TMPDIR:-.}/study.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT

sweep() {
  exec "$vinci" sweep run matmul m=1024 k=1024 n=1024 dtype=fp16 --soc-version=Ascend910B1 \
    --param cube.m=8,16,32,64 --param cube.n=8,16,32,64,128 \
    --param l2.size=24MiB,48MiB,96MiB,192MiB,384MiB --param hbm.bandwidth_scale=0.5,1 \
    --param device.cube_cores=4,8,12,16,24 --quiet "$@"
}
now() { date +%s.%N; }
# Seconds of CPU, user and system, of the children of this shell that have ended.
used() { awk -v hz="$(getconf CLK_TCK)" '{ print ($16 + $17) / hz }' "/proc/$$/stat"; }

# timed NAME ARGUMENT...: wall and CPU seconds of a sweep.
timed() {
  name=$1
  shift
  start=$(now)
  before=$(used)
  (sweep "$@") || exit 1
  wall=$(echo "$(now) $start" | awk '{ print $1 - $2 }')
  cpu=$(echo "$(used) $before" | awk '{ print $1 - $2 }')
  echo "$name: $wall s, $cpu s of CPU"
}

timed "one process" --output="$work/one" -j1 "$@"
one_cpu=$cpu
for kill_number in 1 2 3; do
  sweep --output="$work/killed" -j2 "$@" &
  child=$!
  sleep "$(awk -v seed="$$$kill_number" 'BEGIN { srand(seed); print 0.5 + 3 * rand() }')"
  kill -9 $child 2>/dev/null
  wait $child 2>/dev/null
  "$vinci" sweep status "$work/killed"
done
timed "the rest, after three kill -9" --output="$work/killed" -j2 "$@"
timed "two processes" --output="$work/two" -j2 "$@"
# Of two ideal processes: the CPU seconds of one, halved, over the wall time of two.
echo "$one_cpu $wall $cpu" | awk '{ printf "efficiency: %.0f %% of two ideal processes (wall), %.0f %% (CPU, whatever else runs)\n", 50 * $1 / $2, 100 * $1 / $3 }'
for name in killed two; do
  if cmp -s "$work/one/results.csv" "$work/$name/results.csv"; then
    echo "$name: same bytes as one process"
  else
    echo "$name: ANOTHER TABLE"
    exit 1
  fi
done
