#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci diff from the outside: what two runs have in common and what not, the parts of a change and
# their sums, kept results, lists, limits, messages. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_diff
cp "$srcdir/traces/examples/two_layers.graph.csv" "$work/net.csv"
cd "$work" || exit 99
case $vinci in /*) ;; *) vinci=$OLDPWD/$vinci ;; esac
work=$(pwd)

diff() { keep "$vinci" diff "$@"; }

cat >one.csv <<'END'
trace,version=1
kernel,name=one,arch=dav-c220,blocks=2
tensor,name=x,dtype=fp16,shape=16384,io=in
buffer,name=a,space=UB,address=0,size=16384
stream,core=AIV
# two copies, and work between them
copy_gm_to_ubuf,dst=a,src=x,len_burst=16
pipe_barrier,pipe=MTE2
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
vadds,dst=a+8192,src=a,scalar=1,repeat=2,type=fp16
set_flag,src=V,dst=MTE2,id=1
wait_flag,src=V,dst=MTE2,id=1
copy_gm_to_ubuf,dst=a,src=x+512,len_burst=64
END
sed 's/repeat=2/repeat=40/; s/^# two/\n&/' one.csv >two.csv

# sums FILE: the rows of CSV add up: groups, and the instructions of each, to the whole; causes to
# their group; count and cost are part of an instruction's change.
sums() {
  awk -F, '
    $1 == "total" && $3 == "total_cycles" { whole = $7 }
    $1 == "group" { groups += $7; group[$3] = $7; n++ }
    $1 == "cause" { cause[$2] += $7; causes++ }
    $1 == "instruction" { inst[$2] += $7; if ($9 + $10 == 0) print "no count: " $0 }
    END {
      if (n == 0 || causes == 0) print "no parts"
      if (groups != whole) print "groups sum to " groups ", the whole is " whole
      for (g in cause) if (cause[g] != group[g]) print "causes of " g " sum to " cause[g] ", not " group[g]
      for (g in inst) if (inst[g] != group[g]) print "instructions of " g " sum to " inst[g] ", not " group[g]
    }' out
}

# net_sums: classes and nodes of a network each sum to the whole, on both sides.
net_sums() {
  awk -F, '
    $1 == "total" { a = $5; b = $6; whole = $7 }
    $1 == "class" || $1 == "operator" { sum[$1] += $7; sum_a[$1] += $5; sum_b[$1] += $6; n[$1]++ }
    END {
      if (n["class"] != 10 || n["operator"] != 4 || whole == 0) print "rows: " n["class"], n["operator"], whole
      for (t in n)
        if (sum[t] != whole || sum_a[t] != a || sum_b[t] != b) print t ": " sum_a[t], sum_b[t], sum[t]
    }' out
}

# negative FILE OTHER: each row of one is that of the other with a and b exchanged.
negative() {
  awk -F, -v OFS=, '
    NR > 1 && $7 != "" { key = $1 OFS ($1 == "operator" ? $5 + $6 : $2) OFS $3 }
    NR == FNR { if (FNR > 1 && $7 != "") { change[key] = $7; a[key] = $5; b[key] = $6; part[key] = $11 } next }
    FNR == 1 || $7 == "" { next }
    !(key in change) { print "only in one: " key; next }
    change[key] + $7 != 0 || a[key] != $6 || b[key] != $5 || part[key] + $11 != 0 {
      print key ": " change[key] " and " $7
    }
    { seen++ }
    END { if (seen < 5) print "only " seen + 0 " rows" }' "$1" "$2"
}

plan 56

# ---- two traces -------------------------------------------------------------------------------
diff one.csv two.csv $soc
report "two traces: verdict, parts, tables, partings" "$(expect 0 '' 'A  one.csv on Ascend910B4
B  two.csv on Ascend910B4

B against A: +'
  expect 0 '' 'First rows of the traces that differ
  A  line 11: vadds,'
  expect 0 '' 'B  line 12: vadds,'
  expect 0 '' 'First instructions at different times, on core0.veccore1
  A  vadds on V, line 11, cycles '
  expect 0 '' 'cause vector_repeats: +'
  expect 0 '' 'pipe.V.busy_cycles')"
report "the verdict has per cent and both times" "$(
  printf '%s\n' "$out" | grep -Eq '^B against A: \+[0-9]+ cycles \(\+[0-9.]+ %\), [0-9]+ -> [0-9]+; \+[0-9.]+ us \(\+[0-9.]+ %\), [0-9.]+ -> [0-9.]+ us$' ||
    echo "not so: $out")"
report "what is equal is not shown" "$(
  printf '%s\n' "$out" | grep 'l2.read_misses'
  printf '%s\n' "$out" | grep -q 'counters are equal (--all shows them)' || echo "no count of the equal")"
diff one.csv two.csv $soc --all
report "--all shows what is equal" "$(expect 0 '' 'l2.read_misses')"
diff one.csv two.csv $soc --csv
cp out ab.csv
report "CSV: parts sum to the change" "$(expect 0 '' 'table,group,name,unit,a,b,change,percent,a_count,b_count,count_change'; sums)"
diff two.csv one.csv $soc --csv
cp out ba.csv
report "B against A is the negative of A against B" "$(sums; negative ab.csv ba.csv)"
diff one.csv one.csv $soc
report "A against A: nothing" "$(expect 0 '' 'B against A: the same time, '
  expect 0 '' 'counters are equal'
  expect 0 '' 'The traces are the same, row by row
No instruction starts or ends at another time'
  printf '%s\n' "$out" | grep 'change of')"
diff one.csv one.csv $soc --csv
report "A against A: every change is 0" "$(awk -F, 'FNR > 1 && $7 != "" && $7 != 0' out)"

# ---- operators and chips ----------------------------------------------------------------------
diff matmul m=256 k=256 n=256 -s Ascend910B4,Ascend910B2 --csv
report "two chips: sums" "$(expect 0 ''; sums)"
diff matmul m=256 k=256 n=256 -s Ascend910B4,Ascend910B2
report "two chips: the same program, other clocks" "$(expect 0 '' 'on Ascend910B2'
  expect 0 '' 'note: the core clocks differ, 1650 and 1800 MHz'
  expect 0 '' 'The traces are the same, row by row')"
diff matmul m=256 k=256 n=256 matmul m=256 k=256 n=512 $soc --csv
report "two operators: sums" "$(expect 0 ''; sums)"
cp out run.csv
diff add shape=512x512 $soc --set-b=path.GM_UB.startup_cycles=0 --csv
report "a number of the chip: fewer cycles of its cause" "$(expect 0 ''; sums
  awk -F, '$1 == "cause" && $2 == "MTE2" && $3 == "startup" && $7 < 0 { found = 1 }
    END { if (!found) print "no cause MTE2 startup that shrinks" }' out)"
diff add shape=512x512 $soc --set=l2.size=48MiB --set-a=l2.size=96MiB --set-b=l2.size=96MiB
report "--set-a and --set-b win over --set" "$(expect 0 '' 'the same time')"
diff add shape=512x512 $soc --memory=cycle,flat
report "two models of memory" "$(expect 0 '' 'B against A: ')"
diff add shape=512x512 $soc --l2=empty,warm
report "two states of L2: what was a miss is a hit" "$(expect 0 '' 'l2.read_hits')"

# ---- kept results -----------------------------------------------------------------------------
"$vinci" run matmul m=256 k=256 n=256 $soc -q --output=a || exit 99
"$vinci" run matmul m=256 k=256 n=512 $soc -q --output=b || exit 99
diff a b --csv
report "two folders: the same parts and totals as of two runs" "$(expect 0 ''; sums
  grep -E '^(total|group|cause|instruction),' out >kept
  grep -E '^(total|group|cause|instruction),' run.csv | cmp - kept)"
report "two folders: counters that they keep are those of two runs" "$(
  grep '^counter,' out | grep -vxFf run.csv)"
diff a a
report "a folder against itself" "$(expect 0 '' 'the same time')"
diff a matmul m=256 k=256 n=256 $soc
report "a folder against the run that it keeps" "$(expect 0 '' 'the same time')"
diff a/summary.json b/summary.json
report "two summaries: totals, and why there are no parts" "$(expect 0 '' 'B against A: +'
  expect 0 '' 'note: a/summary.json keeps no critical path')"
"$vinci" run one.csv $soc -q --output=partial --max-cycles=1200 2>/dev/null
diff a partial
report "a partial result is told" "$(expect 0 '' 'note: a result is partial: its run was cut short')"

# ---- lists ------------------------------------------------------------------------------------
printf 'op,args\nmatmul,m=64 k=64 n=64\nadd,shape=64x64\nadd,shape=128x128\nrelu,shape=99\n' >l1.csv
printf 'op,args\nadd,shape=128x128\nmatmul,m=64 k=64 n=128\nadd,shape=64x64\nexp,shape=99\n' >l2.csv
diff l1.csv l2.csv $soc
report "two lists: pairs by arguments, then by name" "$(expect 0 '' 'only in A  relu: relu shape=99'
  expect 0 '' 'only in B  exp: exp shape=99'
  expect 0 '' 'matmul: matmul m=64 k=64 n=64 -> matmul m=64 k=64 n=128'
  expect 0 '' '2 operators take the same time (--all shows them)')"
list_sums() {
  awk -F, '$1 == "total" { whole = $7; a = $5; b = $6 } $1 == "operator" { sum += $7; as += $5; bs += $6; n++
      size = $7 < 0 ? -$7 : $7; if (n > 1 && size > last) print "not in order: " $0; last = size }
    END { if (n == 0 || sum != whole || as != a || bs != b) print n " rows sum to " sum ", the whole is " whole }' out
}
diff l1.csv l2.csv $soc --csv
report "a list: operators sum to the whole, in order" "$(expect 0 ''; list_sums)"
cp out lab.csv
diff l2.csv l1.csv $soc --csv
report "lists: B against A is the negative" "$(negative lab.csv out)"
diff l1.csv l1.csv $soc
report "a list against itself" "$(expect 0 '' 'the same time')"
diff l1.csv -s Ascend910B4,Ascend910B2
report "a list on two chips" "$(expect 0 '' 'B  l1.csv on Ascend910B2'; expect 0 '' 'matmul m=64 k=64 n=64')"
"$vinci" run --ops=l2.csv $soc -q --output=kept_list || exit 99
diff l1.csv kept_list $soc --csv
report "a list against kept results: as against a run" "$(
  expect 0 ''; tail -n +2 lab.csv | sed 's/^/ /' >want; tail -n +2 out | sed 's/^/ /' | cmp - want)"
diff l1.csv kept_list $soc --rows=1
report "--rows folds the rest of a list" "$(expect 0 '' '2 more operators: '; expect 0 '' 'together (--rows=0 shows them)')"
printf 'op,args\nadd,shape=64x64\nfoo,shape=1\n' >l3.csv
diff l1.csv l3.csv $soc
report "operators without a time are counted" "$(expect 0 - 'note: 1 operators of l3.csv have no time and are left out')"

# ---- JSON -------------------------------------------------------------------------------------
diff one.csv two.csv $soc --json
report "JSON, read strictly: parts sum" "$(expect 0 ''; python3 - 2>&1 <<'END'
import json
def refuse(text): raise ValueError(text)
d = json.load(open("out"), parse_constant=refuse)
whole = d["b"]["total_cycles"] - d["a"]["total_cycles"]
assert whole > 0 and sum(g["change"] for g in d["groups"]) == whole, "groups"
for g in d["groups"]:
    for table in ("causes", "instructions"):
        rows = [r["change"] for r in d[table] if r["group"] == g["name"]]
        assert not rows or sum(rows) == g["change"], (table, g)
assert d["totals"][0]["change"] == whole
assert d["program"]["a"].startswith("vadds,") and d["program"]["a_line"] == 11
assert d["time"]["core"] == "core0.veccore1" and d["time"]["b_line"] == 12
bound = [c for c in d["counters"] if c["name"] == "bound"]
assert bound and isinstance(bound[0]["a"], str)
assert d["notes"] == []
END
)"

# ---- Lua --------------------------------------------------------------------------------------
cat >diff.lua <<'END'
local vinci = require "vinci"
local found = vinci.diff { a = "one.csv", b = "two.csv", soc = "Ascend910B4" }
local sum = 0
for _, group in ipairs(found.groups) do sum = sum + group.change end
assert(sum == found.b.cycles - found.a.cycles and sum > 0)
assert(found.program.a_line == 11 and found.time.core == "core0.veccore1" and #found.notes == 0)
local chips = vinci.diff { soc = "Ascend910B4", a = { op = "relu", args = { shape = 4096 } },
  b = { op = "relu", args = { shape = 4096 }, soc = "Ascend910B2" } }
assert(chips.a.soc == "Ascend910B4" and chips.b.soc == "Ascend910B2" and chips.program == nil)
local lists = vinci.diff { a = "l1.csv", b = { path = "kept_list" }, soc = "Ascend910B4" }
assert(#lists.operators == 5 and #lists.groups == 0 and lists.a.cycles == nil)
local _, message = pcall(vinci.diff, { a = "one.csv", b = { op = "relu", path = "x" } })
print(message)
_, message = pcall(vinci.diff, { a = "one.csv", b = 7 })
print(message)
END
keep "$vinci" lua diff.lua
report "vinci.diff" "$(expect 0 '' "vinci.diff: argument 'options.b' wants one of op and path"
  expect 0 '' "argument 'options.b' is not a path or a table { op =, args = } or { path = }")"

# ---- limits -----------------------------------------------------------------------------------
diff one.csv two.csv $soc --fail-over=0.5%
report "--fail-over: slower fails with exit code 1" "$(
  [ "$code" -eq 1 ] || echo "exit code $code"
  case $err in "error: B takes "*" % longer than A, and --fail-over is 0.5%") ;; *) echo "$err" ;; esac)"
diff one.csv two.csv $soc --fail-over=90
report "--fail-over: within the limit" "$(expect 0 '')"
diff two.csv one.csv $soc --fail-over=0
report "--fail-over: faster passes" "$(expect 0 '')"
diff one.csv two.csv $soc --fail-over=1.%
report "--fail-over: no number" "$(expect 2 "error: --fail-over is a number of per cent, not '1.%'")"
diff one.csv two.csv $soc --max-cycles=1000
report "--max-cycles" "$(expect 7 - '')"

# ---- networks ------------------------------------------------------------------------------------
# The host of an eager step is slower than the cores: all of the change is the host's.
diff net.csv net.csv host=eager $soc --csv
report "classes and nodes of a network sum to the change" "$(expect 0 ''; net_sums)"
host=$(awk -F, '$1 == "total" { whole = $7 } $1 == "class" && $3 == "host" { print $7 == whole }' out)
report "a slower host is the host's" "$([ "$host" = 1 ] || cat out)"
grep -E '^(total|class)' out >live
for host in sink eager; do
  "$vinci" net run net.csv $soc --host=$host --output=net.$host --quiet >/dev/null
done
diff net.sink net.eager --csv
report "folders of networks give the same, node by node to a nanosecond" "$(expect 0 ''; net_sums
  grep -E '^(total|class)' out | command diff - live)"
diff net.sink net.csv host=eager $soc
report "a folder and a run, in words" "$(expect 0 '' 'the AI Cores wait for the host')"

cp -r net.sink net.short
printf 'start_us,duration_us,node,op\n1,2\n' >net.short/nodes.csv
diff net.short net.sink
report "a row of nodes.csv that is too short" "$(expect 3 \
  "net.short/nodes.csv:2: error: lacks cells, or has no start and duration")"

# ---- messages ---------------------------------------------------------------------------------
hint="hint: give a second one, or two chips: --soc-version=Ascend910B4,Ascend910B2, or what changes: --set-b=l2.size=96MiB"
diff
report "nothing" "$(expect 2 "error: nothing to compare
$hint")"
diff one.csv $soc
report "one side alone" "$(expect 2 "error: nothing to compare 'one.csv' with
$hint")"
diff one.csv two.csv one.csv $soc
report "three sides" "$(expect 2 "error: 'one.csv' is a third side; two are compared")"
diff m=4 one.csv $soc
report "an argument of nothing" "$(expect 2 "error: argument 'm=4' comes before an operator")"
diff matmull m=4 one.csv $soc
report "a misspelt operator" "$(expect 2 "error: unknown operator 'matmull'
hint: did you mean 'matmul'?")"
diff net.csv one.csv $soc
report "a network and a run" "$(expect 2 "error: net.csv is a network, one.csv is one run")"
diff net.csv net.csv hist=eager $soc
report "an argument that networks do not have" "$(expect 2 "error: a network has no argument 'hist'
hint: did you mean 'host'?")"
diff one.csv l1.csv $soc
report "a run and a list" "$(expect 2 "error: one.csv is one run, l1.csv is a list of operators")"
diff a b $soc
report "kept results take no chip" "$(expect 2 "error: a holds results of an earlier run: a chip is not for these")"
mkdir empty
diff empty a
report "a folder without results" "$(expect 3 "empty: error: has no results: neither summary.json nor op_summary.csv
hint: 'vinci run ... --output=DIR' writes a result folder; of a profile give its kernel_details.csv")"
printf '{"a": [1, 2}' >bad.json
diff a bad.json
report "no JSON" "$(expect 3 "bad.json:1:12: error: not JSON: expected ',' or ']'")"
diff suite.lua one.csv $soc
report "a suite" "$(expect 2 "suite.lua: error: is a study or suite, which has many runs
hint: 'vinci gate explain' compares the points of a suite with a baseline")"
diff one.csv two.csv $soc --json --csv
report "JSON and CSV" "$(expect 2 "error: --json and --csv: one of them")"
diff one.csv two.csv -s Ascend910B4,Ascend910B2,Ascend910B1
report "three chips" "$(expect 2 "error: --soc-version takes one value, or one of A and one of B: 'Ascend910B4,Ascend910B2,Ascend910B1'")"
diff nofile.csv one.csv $soc
report "a file that is not there" "$(expect 2 "nofile.csv: error: cannot read: No such file or directory")"
