#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Work of jobs that is simulated: times are those of `vinci run` and `vinci net run` for the same words.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_group_work
plan 14

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

# ---- in their order ----
cat >"$work/order.csv" <<'END'
job,version=1,name=order,system=atlas_a2_910b4,ranks=3
group,name=all,ranks=0-2
program,ranks=0 1
work,op=gelu shape=2048x1024 dtype=fp16
work,op=matmul m=2048 k=1024 n=512 dtype=fp16,stream=1
collective,op=all_reduce,group=all,bytes=4096
work,op=gelu shape=2048x1024 dtype=fp16
program,ranks=2
work,op=gelu shape=2048x1024 dtype=fp16
work,op=matmul m=2048 k=1024 n=512 dtype=fp16
collective,op=all_reduce,group=all,bytes=4096
work,op=gelu shape=2048x1024 dtype=fp16
END
cat >"$work/list.csv" <<'END'
op,args,Duration(us)
gelu,shape=2048x1024 dtype=fp16,1
matmul,m=2048 k=1024 n=512 dtype=fp16,1
END
cat >"$work/order.lua" <<'END'
local vinci, folder = require "vinci", arg[1]
local chip, text = vinci.soc "Ascend910B4", io.open(folder .. "/order.csv"):read "a"
local function us(list, options)
  local out = {}
  for i, answer in ipairs(vinci.evaluate(chip, list, options)) do out[i] = answer.us end
  return out
end
local gelu, product = { op = "gelu", args = { shape = "2048x1024", dtype = "fp16" } }, { op = "matmul", args = { m = 2048, k = 1024, n = 512, dtype = "fp16" } }
local order = { sequence = true, memory = "flat" }
local alone, followed = us({ gelu, product }, { memory = "flat" }), us({ gelu, product, { communication = true }, gelu }, order)
if not (followed[1] == alone[1] and followed[2] < alone[2]) then print("no state", followed[1], alone[1], followed[2], alone[2]) end
local cold, warm = vinci.group_run(text), vinci.group_run(text, { sequence = true })
if not (warm.us < cold.us) then print("the job", warm.us, cold.us) end
local sum = followed[1] + followed[2] + followed[4]
if math.abs(warm.ranks[3].computing_us - sum) > 1e-6 then print("rank 2", warm.ranks[3].computing_us, sum) end
local list = vinci.ops { list = folder .. "/list.csv", output = folder .. "/table", soc = "Ascend910B4", sequence = true, memory = "flat" }
if math.abs(list.simulated_us - followed[1] - followed[2]) > 5e-7 then print("the list", list.simulated_us, followed[1], followed[2]) end
local given = us({ { op = "gelu", args = gelu.args, us = 12.5 }, product }, order)
if not (given[1] == 12.5 and given[2] == followed[2]) then print("given", given[1], given[2], followed[2]) end
for _, wrong in ipairs { { { communication = true } }, { { op = "gelu", args = gelu.args, us = 1 } } } do
  print(select(2, pcall(vinci.evaluate, chip, wrong)))
end
print(select(2, pcall(vinci.evaluate, chip, { gelu }, { sequence = true, l2 = "warm" })))
print(select(2, pcall(vinci.evaluate, chip, { { op = "gelu", us = -1 } }, order)))
for _, options in ipairs { order, { memory = "flat" } } do
  local wrong = vinci.evaluate(chip, { { op = "op", args = { args = "" } }, gelu }, options)
  print(wrong[1].status, wrong[1].text, wrong[2].us == alone[1])
end
END
keep "$vinci" lua "$work/order.lua" "$work"
report "operators in their order find what those before have left, as rows of a list, to the picosecond" "$(expect 0 ''
  echo "$out" | diff - /dev/fd/3 3<<'END'
question 1 is communication, which only a sequence has
question 1 is an operator whose time is given, which only a sequence has
a sequence takes no state of L2: L2 holds what the operators before have left
vinci.evaluate: argument 'list[1]' has us = -1.000000, not a time above 0 of at most 1e9 microseconds
E_USAGE	unknown operator 'op'	true
E_USAGE	unknown operator 'op'	true
END
)"

for jobs in 1 2; do
  keep "$vinci" group run "$work/order.csv" --sequence --quiet --output="$work/order$jobs"
done
report "--sequence: programs that do the same take the same, and kernels.csv has the extremes" "$(expect 0 ''
  diff "$work/order1/kernels.csv" "$work/order2/kernels.csv"
  diff "$work/order1/summary.json" "$work/order2/summary.json" | grep -v cpu
  python3 - "$work/order1" 2>&1 <<'END'
import csv, json, sys
ranks = json.load(open(sys.argv[1] + "/summary.json"))["ranks"]
rows = {row["kernel"].split()[0]: row for row in csv.DictReader(open(sys.argv[1] + "/kernels.csv"))}
gelu = rows["gelu"]
if not float(gelu["shortest_us"]) < float(gelu["duration_us"]) < float(gelu["longest_us"]) or gelu["uses"] != "4" or gelu["program"] != "lowering":
    print(gelu)
if rows["matmul"]["shortest_us"] != rows["matmul"]["longest_us"]:
    print(rows["matmul"])
if ranks[0]["computing_us"] >= ranks[2]["computing_us"]:
    print("streams side by side", ranks)
END
)"
keep "$vinci" group run "$work/job.csv" --sequence --quiet --output="$work/nets"
report "a network in a sequence takes what it takes alone, and what follows finds an empty L2" "$(expect 0 ''
  "$vinci" group run "$work/job.csv" --quiet --output="$work/alone"
  for file in nets alone; do
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["ranks"][1]["computing_us"])' "$work/$file/summary.json"
  done | uniq | wc -l | grep -qx " *1" || cat "$work/nets/kernels.csv" "$work/alone/kernels.csv")"
# same_refusal ROW TEXT: behind a row that runs; what the program says is the same in a sequence.
same_refusal() {
  printf '%s\n' 'job,version=1,system=atlas_a2_910b4,ranks=1' 'program,ranks=0' 'work,op=gelu shape=64' "$1" >"$work/bad.csv"
  for words in '' --sequence; do
    # shellcheck disable=SC2086
    keep "$vinci" group run "$work/bad.csv" --quiet $words
    expect 2 "$work/bad.csv:4:1: error: $2"
  done
}
report "a row of work is one row of a sequence, whatever its words" "$(
  same_refusal 'work,op=op args' "unknown operator 'op'
hint: 'vinci compile --list' shows all of them"
  same_refusal 'work,"op=gelu shape=64 dtype=""fp16"""' "gelu: dtype takes fp16|bf16|fp32, not '\"fp16\"'
hint: 'vinci compile gelu --help' explains its keys"
  same_refusal 'work,"op=gelu shape=64x64, dtype=fp16"' "gelu: shape takes 1 to 8 extents such as 8x128x512, not '64x64,'
hint: 'vinci compile gelu --help' explains its keys")"
report "hints are the same in a sequence" "$(
  same_refusal 'work,op=row_norm shape=8' "unknown operator 'row_norm'
hint: did you mean 'rms_norm'?")"
report "what a sequence cannot simulate is named at its row" "$(
  sed '12s/gelu shape=2048x1024/gelu rows=4/' "$work/order.csv" >"$work/bad.csv"
  keep "$vinci" group run "$work/bad.csv" --sequence
  expect 2 "$work/bad.csv:12:1: error: gelu: shape is missing: extents of x
hint: 'vinci compile gelu --help' explains its keys"
  keep "$vinci" group run "$srcdir/traces/examples/data_parallel.job.csv" --sequence
  expect 2 "error: --sequence: no row of work has op= or net=, so there is nothing to simulate"
  keep "$vinci" group run "$srcdir/traces/examples/data_parallel.job.csv" --library=none
  expect 2 "error: --library: no row of work has op= or net=, so there is nothing to simulate")"
keep "$vinci" group run "$work/order.csv" --library="$work"
report "a library without operators is refused" "$(expect 2 -
  case $err in
    "error: the library "*" has no operators"*) ;;
    *) echo "$err" ;;
  esac)"
