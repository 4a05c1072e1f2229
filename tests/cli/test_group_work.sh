#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Work of jobs that is simulated: times are those of `vinci run` and `vinci net run` for the same words.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_group_work
plan 7

cp "$srcdir/traces/examples/two_layers.graph.csv" "$work/layers.csv"
cat >"$work/job.csv" <<'END'
job,version=1,name=layers,system=atlas_a2_910b4,ranks=3
group,name=all,ranks=0-2
program,ranks=0 2
work,op=matmul m=512 k=256 n=384 dtype=fp16
work,op=softmax shape=512x384 dtype=fp16
work,op=matmul m=512 k=256 n=384 dtype=fp16
program,ranks=1
work,net=layers.csv
work,op=softmax shape=512x384 dtype=fp16
work,us=12.5
END

# duration KEY=VALUE...: of `vinci run`, in microseconds.
duration() {
  "$vinci" run "$@" -s Ascend910B4 --json | sed -n 's/^ *"duration_us": \([0-9.]*\),*$/\1/p'
}
# cell KERNEL MODEL COLUMN: of kernels.csv.
cell() { awk -F, -v kernel="\"$1\"" -v model="$2" -v column="$3" '$1 == kernel && $2 == model { print $column }' "$work/result/kernels.csv"; }
matmul="matmul m=512 k=256 n=384 dtype=fp16" softmax="softmax shape=512x384 dtype=fp16"

keep "$vinci" group run "$work/job.csv" --quiet --output="$work/result"
report "operators take what vinci run says, by the flat model" "$(expect 0 ''
  for op in "$matmul" "$softmax"; do
    # shellcheck disable=SC2086
    want=$(duration $op --memory=flat)
    have=$(cell "$op" all 4)
    awk -v a="$have" -v b="$want" 'BEGIN { exit !(a > 0 && a - b < 0.001 && b - a < 0.001) }' || echo "$op: $have, not $want"
  done
  [ "$(cell "$matmul" all 3) $(cell "$softmax" all 3)" = "2 2" ] || cat "$work/result/kernels.csv")"
report "a network beside the job takes what vinci net run says" "$(
  want=$("$vinci" net run "$work/layers.csv" -s Ascend910B4 --memory=flat --json | sed -n 's/^ *"time_us": \([0-9.]*\),*$/\1/p')
  have=$(cell "$work/layers.csv" all 4)
  awk -v a="$have" -v b="$want" 'BEGIN { exit !(a > 0 && a - b < 0.001 && b - a < 0.001) }' || echo "$have, not $want")"
report "a rank computes for the sum of its work" "$(
  python3 - "$work/result" 2>&1 <<'END'
import csv, json, sys
ranks = json.load(open(sys.argv[1] + "/summary.json"))["ranks"]
us = {row["kernel"].split()[0].split("/")[-1]: float(row["duration_us"]) for row in csv.DictReader(open(sys.argv[1] + "/kernels.csv"))}
for rank, want in enumerate([2 * us["matmul"] + us["softmax"], us["layers.csv"] + us["softmax"] + 12.5, 2 * us["matmul"] + us["softmax"]]):
    if abs(float(ranks[rank]["computing_us"]) - want) > 1e-5:
        print("rank", rank, ranks[rank]["computing_us"], "not", want)
END
)"

keep "$vinci" group run "$work/job.csv" --detail=2 --output="$work/result"
report "--detail simulates the work of one program with all requests, and lists the longest first" "$(expect 0 '' \
  'work of that rank, one program'
  for op in "$matmul" "$softmax"; do
    # shellcheck disable=SC2086
    want=$(duration $op --memory=cycle)
    have=$(cell "$op" detail 4)
    awk -v a="$have" -v b="$want" 'BEGIN { exit !(a > 0 && a - b < 0.001 && b - a < 0.001) }' || echo "$op: $have, not $want"
  done
  [ "$(cell "$matmul" all 3)|$(cell "$softmax" all 3)" = "|1" ] || cat "$work/result/kernels.csv"
  echo "$out" | awk '$1 == "matmul" || $1 == "softmax" { if (last && $(NF - 2) > last) print "not sorted: " $0; last = $(NF - 2) }')"

report "what cannot be simulated is named at its line" "$(
  sed 's/softmax shape=512x384/softmax rows=512/' "$work/job.csv" >"$work/bad.csv"
  keep "$vinci" group run "$work/bad.csv"
  expect 2 "$work/bad.csv:5:1: error: softmax: shape is missing: extents of x; along the last
hint: 'vinci compile softmax --help' explains its keys"
  sed 's/layers.csv/none.csv/' "$work/job.csv" >"$work/bad.csv"
  keep "$vinci" group run "$work/bad.csv"
  expect 2 "$work/none.csv: error: cannot read: No such file or directory"
  sed 's/work,us=12.5/work,us=12.5,op=add/' "$work/job.csv" >"$work/bad.csv"
  keep "$vinci" group run "$work/bad.csv"
  expect 3 "$work/bad.csv:10:1: error: work has one of us=, op= and net=
  work,us=12.5,op=add
  ^")"
report "a rank that is not there, or has nothing to simulate" "$(
  keep "$vinci" group run "$work/job.csv" --detail=3
  expect 2 "error: --detail=3: the job has 3 ranks
hint: ranks are 0 to 2"
  keep "$vinci" group run "$work/job.csv" --detail=first
  expect 2 "error: --detail is the number of a rank, not 'first'"
  keep "$vinci" group run "$srcdir/traces/examples/data_parallel.job.csv" --detail=0
  expect 2 "error: --detail: no row of work has op= or net=, so there is nothing to simulate")"

cat >"$work/job.lua" <<'END'
local text = "job,version=1,system=atlas_a2_910b4,ranks=1\nprogram,ranks=0\nwork,op=matmul m=512 k=256 n=384 dtype=fp16\n"
print(string.format("%.6f", require("vinci").group_run(text).us))
END
report "Lua, traces of Chakra and gates have the same time" "$(
  # shellcheck disable=SC2086
  want=$(duration $matmul --memory=flat)
  keep "$vinci" lua "$work/job.lua"
  expect 0 '' "$want"
  printf '%s\n' 'job,version=1,system=atlas_a2_910b4,ranks=1' 'program,ranks=0' "work,op=$matmul" >"$work/one.csv"
  "$vinci" group convert "$work/one.csv" --output="$work/one" || echo convert
  "$vinci" group convert "$work/one" -s atlas_a2_910b4 >"$work/back.csv" || echo back
  keep "$vinci" group run "$work/back.csv" --json
  expect 0 '' "\"time_us\": $want"
  echo "return { points = { { name = 'p', job = 'one.csv' } } }" >"$work/suite.lua"
  "$vinci" gate bless "$work/suite.lua" --baseline="$work/base.csv" --reason=first 2>&1 >/dev/null || echo bless
  grep -q "^p,job.time_ps,$(echo "$want" | tr -d .)" "$work/base.csv" || grep job.time_ps "$work/base.csv")"
