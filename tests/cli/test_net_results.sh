#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci net run --results: results of kernels that outlive a run are those of a fresh run, whatever
# happened to their folder.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4
example=$srcdir/traces/examples/two_layers.graph.csv

work_folder test_net_results
plan 11
kept=$work/kept

net() { # FOLDER ARGUMENTS...: a run on the smaller L2 of these tests
  folder=$1
  shift
  keep "$vinci" net run "$@" $soc --set l2.size=16MiB --output="$work/$folder"
}

counted() { # STORED SIMULATED
  expect 0 '' "Results   $1 kernels from $kept, $2 simulated"
}

# The same bytes in each file.
same() {
  diff -r "$work/$1" "$work/$2" 2>&1
}

net fresh "$example"
net first "$example" --results="$kept"
found=$(counted 0 6; same fresh first)
net second "$example" --results="$kept"
report "a second run simulates nothing and writes the same tables" "$found$(counted 6 0; same fresh second)"
net exact "$example" --results="$kept" --exact
report "--exact simulates all the same, and agrees" "$(counted 0 6; same fresh exact)"

net other "$example" --results="$kept" --memory=flat
report "results of another model are not taken" "$(counted 0 6)"
net other "$example" --results="$kept" --plan=none
report "another plan is another state of L2, but for the first kernel" "$(expect 0 ''
  case $out in *" 0 simulated"*) echo "all are taken" ;; esac
  net none "$example" --plan=none
  same none other)"

# Queue and host are no part of a kernel.
net eager "$example" --host=eager
net eager_again "$example" --host=eager --results="$kept"
report "another host takes the kernels from there" "$(counted 6 0; same eager eager_again)"

# A second network that begins as the first does; their order changes no byte of the folder.
sed 's/m=32 k=4096 n=1024/& cores=10/' "$example" >"$work/other.csv"
for order in "$example $work/other.csv" "$work/other.csv $example"; do
  for file in $order; do
    net any "$file" --results="$work/order.${order##*/}"
  done
done
report "the order of runs changes nothing of what is kept" "$(
  diff -r "$work/order.other.csv" "$work/order.${example##*/}" 2>&1
  [ "$(find "$work/order.other.csv" -type f | wc -l)" -eq 10 ] || ls "$work/order.other.csv")"
net any "$work/other.csv"
cp -r "$work/any" "$work/any_fresh"
net any "$work/other.csv" --results="$work/order.other.csv"
report "a network with some kernels of another is as a fresh run" "$(same any any_fresh)"

# Two processes that keep the same results.
for i in 1 2; do
  "$vinci" net run "$example" $soc --set l2.size=16MiB -q --results="$work/both" --output="$work/both.$i" &
done
wait
rm -rf "$kept"
net alone "$example" --results="$kept"
report "two processes keep what one does" "$(same kept both; same both.1 both.2; same fresh both.2)"

cp -r "$kept" "$work/whole"
for file in "$kept"/*; do
  head -c 60 "$file" >"$work/torn"
  cp "$work/torn" "$file"
done
net mended "$example" --results="$kept"
report "torn results are measured again" "$(counted 0 6; same fresh mended; same whole kept)"

# One picosecond more in each: first the number alone, then with a checksum that fits (FNV-1a).
damage() {
  for file in "$kept"/*; do
    "$PYTHON" - "$file" "$1" <<'END'
import sys
lines = open(sys.argv[1]).read().split("\n")
numbers = lines[1].split()
numbers[0] = str(int(numbers[0]) + 1)
text = lines[0] + "\n" + " ".join(numbers) + "\n"
digest = 0xcbf29ce484222325
for byte in text.encode():
    digest = (digest ^ byte) * 0x100000001b3 % 2**64
open(sys.argv[1], "w").write(text + ("%016x" % digest if sys.argv[2] == "whole" else lines[2]) + "\n")
END
  done
}
damage part
net mended "$example" --results="$kept"
report "a number that was changed is not a result" "$(counted 0 6; same fresh mended; same whole kept)"
damage whole
keep "$vinci" net run "$example" $soc --set l2.size=16MiB --results="$kept" --exact
report "a result that is not what a simulation gives is an error with --exact" "$(expect 4 -
  case $err in *"$kept has another result, "*".kernel, with a duration of "*) ;; *) echo "$err" ;; esac)"
