#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks (`make bench`): how far the times of kernels that are remembered, or passed through L2, are from a
# simulation of all, on the first rows of a training step of silicon; and what a second run costs whose results are
# kept. Fails beyond the limits. Usage: bench_net.sh VINCI STEP
set -u
vinci=$1 step=$2
rows=400 limit_permille=10 limit_times=5
chip="--soc-version=Ascend910B4 --memory=flat --quiet"
work=$(mktemp -d "${TMPDIR:-.}/bench_net.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
head -n $((rows + 1)) "$step" >"$work/step.csv"
status=0

# kernels DIR: the time of all kernels that are simulated or remembered, in us.
kernels() { awk -F, '$2 == "kernel" { sum += $9 } END { printf "%.3f", sum }' "$work/$1/nodes.csv"; }

# shellcheck disable=SC2086
{
  "$vinci" replay "$work/step.csv" $chip --graph="$work/graph.csv" --results="$work/kept" --output="$work/first" || exit
  "$vinci" net run "$work/graph.csv" $chip --host=eager --repeat=1 --exact --output="$work/exact" || exit
  awk -v some="$(kernels first)" -v all="$(kernels exact)" -v limit=$limit_permille 'BEGIN {
    apart = 1000 * (some > all ? some - all : all - some) / all
    printf "contexts: %.1f us of kernels, %.1f us when all are simulated: %.2f %% apart (at most %.1f)\n",
      some, all, apart / 10, limit / 10
    exit apart > limit }' || status=1
  command -v valgrind >/dev/null || exit $status
  head -n 31 "$step" >"$work/few.csv"
  count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | awk '/Collected :/ { print $4 }'; }
  fresh=$(count "$vinci" replay "$work/few.csv" $chip --results="$work/few" --output="$work/few.1")
  again=$(count "$vinci" replay "$work/few.csv" $chip --results="$work/few" --output="$work/few.2")
}
awk -v fresh="${fresh:-0}" -v again="${again:-1}" -v limit=$limit_times 'BEGIN {
  printf "results: a second run takes %.1f times fewer instructions (at least %d)\n", fresh / again, limit
  exit fresh < limit * again }' || status=1
cmp "$work/few.1/nodes.csv" "$work/few.2/nodes.csv" || status=1
exit $status
