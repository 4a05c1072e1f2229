#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci sweep run --ops: a list of operators at each point of a study, with weights and sums. $VINCI is
# the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_sweep_list
case $vinci in /*) ;; *) vinci=$(pwd)/$vinci ;; esac
cd "$work" || exit 99
work=$(pwd)

sweep() { keep "$vinci" sweep run --ops="$@"; }

printf 'op,args,weight\nmatmul,m=256 k=256 n=256,3\nadd,shape=1024x1024,1\n\nrelu,shape=512,0\nadd,shape=512x512,\n' >list.csv

plan 14

assumed='warning: l2.size is varied, and what lies in L2 at the start is assumed (by kind of operator): a larger L2 keeps more of the inputs, and what it has to write back stays the same; l2=empty assumes nothing'
sweep list.csv $soc -p l2.size=48MiB,96MiB -p hbm.bandwidth=400GB/s,800GB/s -o out4
report "four points of four operators, and what is assumed" "$(expect 0 "$assumed" '4 points of 4 operators, 0 failed; out4/results.csv, operators.csv'
  expect 0 "$assumed" 'shortest: point ')"
report "sums by weights; points as vinci run --ops gives them" "$(
  "$vinci" run --ops=list.csv $soc --set=l2.size=96MiB --set=hbm.bandwidth=400GB/s -q -o alone
  python3 - 2>&1 <<'END'
import csv
points = list(csv.DictReader(open("out4/results.csv")))
rows = list(csv.DictReader(open("out4/operators.csv")))
keys = ("l2.size", "hbm.bandwidth")
assert [tuple(p[k] for k in keys) for p in points] == [
    ("48MiB", "400GB/s"), ("48MiB", "800GB/s"), ("96MiB", "400GB/s"), ("96MiB", "800GB/s")]
weights = [3, 1, 0, 1]
alone = [float(r["sim_duration_us"]) for r in csv.DictReader(open("alone/op_summary.csv"))]
for p in points:
    mine = [r for r in rows if all(r[k] == p[k] for k in keys)]
    assert [int(r["weight"]) for r in mine] == weights, mine
    total = sum(w * float(r["duration_us"]) for w, r in zip(weights, mine))
    assert abs(total - float(p["total_us"])) < 0.0005, (total, p)
    if p["l2.size"] == "96MiB" and p["hbm.bandwidth"] == "400GB/s":
        assert [float(r["duration_us"]) for r in mine] == alone
assert float(points[2]["total_us"]) > float(points[3]["total_us"])  # half of the bandwidth
END
)"
cp out4/results.csv first.csv
rm out4/results.csv
sweep list.csv $soc -p l2.size=48MiB,96MiB -p hbm.bandwidth=400GB/s,800GB/s -o out4 -q
report "again: the same bytes" "$(expect 0 ''; cmp first.csv out4/results.csv)"
cat >list.lua <<'END'
local vinci = require "vinci"
local given = { ops = "list.csv", soc = "Ascend910B4", output = "out4",
  params = { { "l2.size", "48MiB", "96MiB" }, { "hbm.bandwidth", "400GB/s", "800GB/s" } } }
for _ = 1, 2 do -- a second call finds the folder free again
  local result = vinci.sweep(given)
  assert(result.points == 4 and result.operators == 4 and result.failed == 0 and #result.rows == 4)
  local least = result.rows[result.best]
  assert(math.abs(least.total_us - result.best_us) < 0.0005)
  for i, row in ipairs(result.rows) do
    assert(row.status == "ok" and row.operators == 4 and row.total_us >= least.total_us)
  end
  assert(result.rows[3]["l2.size"] == "96MiB" and result.file == "out4/results.csv")
end
given.op = "matmul"
local good, problem = pcall(vinci.sweep, given)
assert(not good)
print(problem)
END
keep "$vinci" lua list.lua
report "the same from Lua" "$(expect 0 ''; cmp first.csv out4/results.csv)"
report "a list and an operator in Lua" "$(expect 0 '' "argument 'options.ops' does not go with op")"
sweep list.csv -p soc=Ascend910B4,Ascend910B2,Ascend910B0 -o chips
report "a chip that is unknown fails its point" "$(expect 0 "warning: 1 of 3 points failed; point 3 (soc=Ascend910B0): \
failed: unknown SoC 'Ascend910B0'" '3 points of 4 operators, 1 failed'
  tail -n 1 chips/results.csv | grep -q "^Ascend910B0,failed,4,3,,.*unknown SoC 'Ascend910B0'" || cat chips/results.csv)"
printf 'op,args\nfoo,shape=4\nadd,shape=64\n' >some.csv
sweep some.csv $soc -o some
report "an operator that is unknown: no sum, and why" "$(expect 3 - '1 points of 2 operators, 1 failed'
  tail -n 1 some/results.csv | grep -q '^failed,2,1,,' || cat some/results.csv
  case $err in "error: every point failed; point 1: unsupported: no operator is called foo
hint: some/results.csv and operators.csv say why each of them did") ;; *) echo "$err" ;; esac)"
sweep list.csv $soc
report "without --output" "$(expect 2 'error: where to? --output=DIR is missing')"
sweep list.csv matmul $soc -o x
report "with an operator besides" "$(expect 2 "error: --ops takes no study, trace or operator, not 'matmul'")"
sweep list.csv $soc -o x --shard=0/2
report "with a shard" "$(expect 2 'error: --ops runs all its points: no --shard')"
sweep list.csv $soc -o x -p op.m=4
report "arguments of operators do not vary" "$(expect 2 "error: parameter 'op.m': the operators of a list have arguments of their own")"
sweep list.csv $soc -o x -p l2.sice=4MiB
report "a misspelt parameter" "$(expect 2 "error: unknown parameter 'l2.sice'
hint: did you mean 'l2.size'?")"
sed 's/,3$/,x/' list.csv >bad.csv
sweep bad.csv $soc -o x
report "a weight in letters" "$(expect 3 "bad.csv:2:26: error: weight is not a whole number below 2^32: 'x'")"
sweep nowhere.csv $soc -o x
report "a list that is not there" "$(expect 2 'nowhere.csv: error: cannot read the list: No such file or directory')"
