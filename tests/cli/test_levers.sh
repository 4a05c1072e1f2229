#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Levers of networks, jobs and splits: what is promised is what the option gives, in order; what is refused.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_levers
examples=$srcdir/traces/examples
soc=--soc-version=Ascend910B4
needs_python

plan 16
python_test "$srcdir/tests/accuracy/promises.py" "$vinci" \
  "$srcdir/tests/accuracy/promises.cases" 31 37 >"$work/promises" 2>&1
report "levers of networks, jobs and splits are kept, in order" "$([ $? -eq 0 ] || cat "$work/promises")"

refuse() {
  "$vinci" "$@" >"$work/out" 2>"$work/err"
  [ $? -eq 2 ] && [ ! -s "$work/out" ] || echo "exit code or output of $*"
}
report "a network refuses --savings=some" "$(refuse net run "$examples/small_cnn.graph.csv" $soc --savings=some)"
report "a job refuses --savings=some" "$(refuse group run "$examples/data_parallel.job.csv" --savings=some)"
report "a plan wants a split to compare with" \
  "$(refuse group plan "$srcdir/tests/accuracy/promises.lua" -s atlas_a2_910b4 -n 2 --savings=all)"
report "a split of other devices is refused" \
  "$(refuse group plan "$srcdir/tests/accuracy/promises.lua" -s atlas_a2_910b4 -n 2 --split=tp4; grep -q 'of 4 devices, not of 2' "$work/err" || cat "$work/err")"
report "a collective that the job has not is named" \
  "$(refuse group run "$examples/data_parallel.job.csv" --algorithm=all_reduce@stages=ring
  grep -q "no collective 'all_reduce@stages'" "$work/err" || cat "$work/err")"
report "an algorithm that cannot do the sum is refused" \
  "$(refuse group run "$examples/data_parallel.job.csv" --algorithm=gradients=star)"

report "a bucket that is not a size is named" \
  "$(refuse group run "$examples/data_parallel.job.csv" --bucket=-1; grep -q "^error: --bucket: '-1'" "$work/err" || cat "$work/err")"
printf '%s\n' job,version=1,system=atlas_a2_910b4,ranks=128 group,name=all,ranks=0-127 program,name=p,ranks=0-127 \
  collective,op=all_reduce,group=all,bytes=100000000 >"$work/large.job.csv"
report "what would take minutes is not tried, and the report says so" "$(
  "$vinci" group run "$work/large.job.csv" --savings=all --output="$work/large" >"$work/out" 2>&1
  grep -q '^ *not tried: algorithm mesh for groups of more than 64 devices' "$work/out" || cat "$work/out"
  grep -q '"levers_untried": "algorithm mesh' "$work/large/summary.json" || echo 'not in summary.json')"

# Two sums of the second stage become one: half the transfers of that stage are left, and the same bytes.
"$vinci" group run "$examples/data_parallel.job.csv" --json >"$work/apart"
"$vinci" group run "$examples/data_parallel.job.csv" --bucket=400MiB --json >"$work/together"
"$vinci" group run "$examples/data_parallel.job.csv" --bucket=100MiB --json >"$work/small"
number() { sed -n "s/^  \"$1\": \\([0-9]*\\),\$/\\1/p" "$2"; }
report "sums that are made together move the same bytes in fewer transfers" \
  "$([ "$(number moved_bytes "$work/apart")" = "$(number moved_bytes "$work/together")" ] &&
    [ "$(number transfers "$work/apart")" = 16 ] && [ "$(number transfers "$work/together")" = 12 ] ||
    grep -h transfers "$work/apart" "$work/together")"
report "sums beyond the size stay apart" "$(cmp "$work/apart" "$work/small" 2>&1)"

# The job ends just before the most that a job may take; a slower algorithm goes beyond that.
"$vinci" group collective all_reduce --system=atlas_a2_910b4 -n 8 --bytes=100MiB --json >"$work/time"
us=$(sed 's/.*"time_us": \([0-9]*\).*/\1/' "$work/time")
printf '%s\n' job,version=1,system=atlas_a2_910b4,ranks=8 "group,name=it's all,ranks=0-7" program,name=p,ranks=0-7 \
  work,us=$((288230376151 - us - 2)) "collective,op=all_reduce,group=it's all,bytes=104857600" >"$work/long.job.csv"
"$vinci" group run "$work/long.job.csv" --savings=all --output="$work/long" >"$work/out" 2>&1
code=$?
report "a lever whose run meets a limit is marked, and the others are told" "$([ $code -eq 0 ] || echo "exit code $code"
  tr -s '\n ' ' ' <"$work/out" | grep -q "not measured: limit: the job takes longer than 80 hours (--algorithm='all_reduce@it'\\\\''s all=" || cat "$work/out"
  grep -q '"measured": false, "origin": "not measured: limit: ' "$work/long/summary.json" || cat "$work/long/summary.json")"
eval "set -- $(sed -n "s/.*\(--algorithm='[^)]*\)).*/\1/p" "$work/out" | head -1)"
"$vinci" group run "$work/long.job.csv" "$@" >"$work/out" 2>&1
code=$?
report "its option is what a shell takes, and meets the limit" "$([ $# -eq 1 ] && [ $code -eq 7 ] || { echo "exit code $code, $# words: $*"; cat "$work/out"; })"
report "cuts need pass split" "$(refuse net run "$examples/small_cnn.graph.csv" $soc --cuts --passes=-split
  grep -q '^error: cuts are made by pass split, which is off' "$work/err" || cat "$work/err")"
"$vinci" net run "$examples/small_cnn.graph.csv" $soc --memory=flat --half-ends --cuts --savings=all >"$work/out" 2>&1
report "what is given is among what is kept, with what to leave out" "$(
  tr -s '\n ' ' ' <"$work/out" | grep -q 'Kept .*(measured: without --half-ends)' || cat "$work/out")"

"$vinci" net run "$examples/small_cnn.graph.csv" $soc --savings=all --output="$work/net" >"$work/out" 2>&1
report "report, summary and page have the levers" \
  "$(grep -q -e '--half-ends' "$work/out" || cat "$work/out"
  grep -q '^Kept ' "$work/out" || echo 'no line Kept'
  grep -q '"change": "--passes=-fold"' "$work/net/summary.json" || echo 'not in summary.json')"
