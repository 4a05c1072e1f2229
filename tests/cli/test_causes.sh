#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The report names the cause of a run's time and the number of the chip to turn, and turning that
# number saves what was promised: the five best-known causes, each of a shipped kernel. Then
# vinci sensitivity from the outside. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4
examples=$srcdir/traces/examples

work_folder test_causes

run() { keep "$vinci" run "$@" $soc; }

# The lines of the report from "Cause" on that belong to it, as one line.
headline() { awk '/^Cause /{on=1} on&&/^(Compute|$)/{exit} on{$1=$1; printf "%s ", $0}' "$work/out"; }

# Cycles of the report in $work/out.
cycles() { sed -n 's/^Cycles  *\([0-9]*\) .*/\1/p' "$work/out"; }

# Problems unless from BEFORE to AFTER cycles the change is PROMISED per cent, give or take a tenth.
keeps_promise() {
  awk -v before="$1" -v after="$2" -v promised="$3" 'BEGIN {
    if (before == "" || after == "" || promised == "") { print "a number is missing"; exit }
    saved = 100 * (before - after) / before
    if (saved < 0.9 * promised || saved > 1.1 * promised)
      printf "promised are %.1f %%, saved are %.1f %%\n", promised, saved }'
}

# proof NAME CAUSE NUMBER SET ARGUMENTS...: the headline names cause and number; SET keeps its promise.
proof() {
  name=$1 cause=$2 number=$3 set=$4
  shift 4
  run "$@" --savings=all
  problems=$(expect 0 "")
  line=$(headline) before=$(cycles)
  case $line in
    "Cause $cause: "*"; $number is expected to save "*) ;;
    *) problems="$problems
the headline names neither $cause nor $number: $line" ;;
  esac
  promised=$(printf '%s' "$line" | sed -n 's/.*is expected to save \([0-9.]*\) % of the run.*/\1/p')
  keep "$vinci" run "$@" $soc --set "$set" --savings=none
  report "$name" "$problems$(expect 0 -)$(keeps_promise "$before" "$(cycles)" "$promised")"
}

plan 31

proof "start-up of ND2NZ lines: half of nd2nz.line_cycles saves what was promised" \
  "GM->L1: reorder" "nd2nz.line_cycles halved" nd2nz.line_cycles=2.385 \
  matmul m=512 k=4096 n=512 panel=64x64 tile=128x64x128 --l2=warm
proof "bank conflicts: twice ub.reads_per_group saves what was promised" \
  "bank_group" "ub.reads_per_group doubled" ub.reads_per_group=2 \
  "$examples/add8_tile20480_single.csv" --memory=flat
proof "L2 thrash: twice l2.size saves what was promised" \
  "GM->UB: refetch" "l2.size doubled" l2.size=192MiB "$examples/reread.csv"
proof "L2 thrash, flat memory: the same cause" \
  "GM->UB: refetch" "l2.size doubled" l2.size=192MiB "$examples/reread.csv" --memory=flat
proof "same address: twice l2.bandwidth saves what was promised" \
  "GM->UB: same_line" "l2.bandwidth doubled" l2.bandwidth=8TB/s "$examples/shared_row.csv"

# The number of buffers is one of the kernel, not of the chip: the other kernel has two.
run "$examples/add8_tile20480_single.csv" --memory=flat --savings=all
measured=$(headline | grep -q 'measured with second buffers' || echo "no run with second buffers")
promised=$(headline | sed -n 's/.*with two buffers, the run is expected to take \([0-9.]*\) % less (measured.*/\1/p')
before=$(cycles)
run "$examples/add8_tile10240_double.csv" --memory=flat --savings=none
problems=$measured$(keeps_promise "$before" "$(cycles)" "$promised")
case $(headline) in
  *"take turns"*) problems="$problems
two buffers take turns too" ;;
esac
report "single buffer: two buffers save what was promised" "$problems"

# What a report calls measured is what sensitivity finds in processes of its own, with the tiling kept by its keys.
PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/accuracy/promises.py" "$vinci" \
  "$srcdir/tests/accuracy/promises.cases" 0 7 >"$work/promises" 2>&1
report "seven runs: measured promises are kept, of numbers and of levers" "$([ $? -eq 0 ] || cat "$work/promises")"

# The critical path of 1024^3 is 42 % ND2NZ lines, and half of their cost saves 2 %: MTE1 and the cube take over.
run matmul m=1024 k=1024 n=1024 --memory=flat
report "without measurements the report calls its promise an estimate" "$(expect 0 "" )$(
  case $(headline) in "Cause mad_tiles: "*"cube.fp16_cycles halved is expected to save "*" (estimate; --savings=all measures). Then pipe "*" bounds next, busy "*) ;; *)
    headline ;; esac
  grep -q 'nd2nz.line_cycles halved: about -' "$work/out" || echo "no row is called an estimate")"
run matmul m=1024 k=1024 n=1024 --memory=flat --savings=all
report "with measurements it does not promise what another limit takes away" "$(expect 0 "")$(
  case $(headline) in "Cause GM->L1: reorder"*|*"(estimate"*) headline ;; *" (measured"*) ;; *) headline ;; esac
  awk '/nd2nz.line_cycles halved/ { n = $0; sub(/.*halved: -/, "", n); if (n + 0 > 3) print }' "$work/out")"

# 62 % of the critical path are ND2NZ lines, whose cost, halved, saves 0.6 %; that of mads saves 9 %.
keep "$vinci" run matmul m=2048 k=2048 n=2048 dtype=bf16 --soc-version=Ascend910B1
report "the report leads with what saves most, not with what is longest" "$(expect 0 "")$(
  case $(headline) in "Cause mad_tiles: "*"others take over."*) ;; *) headline ;; esac
  awk '/number to turn/ { on = 1; next } on && / (halved|doubled): / {
    n = $0; sub(/.*(halved|doubled): (about )?/, "", n); if (n + 0 < before + 0 && seen++) print "not sorted: " $0; before = n }
    on && /^$/ { exit }' "$work/out")"

# Half of the cores have no work; the vector unit drains after each instruction.
cat >"$work/barriers.csv" <<'END'
trace,version=1
kernel,name=barriers,arch=dav-c220,blocks=10
tensor,name=x,dtype=fp16,shape=10x128,io=in
buffer,name=a,space=UB,address=0,size=256
stream,core=AIV
copy_gm_to_ubuf,dst=a,src=x+blk*256,len_burst=8
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
loop,i,400
vadds,dst=a,src=a,scalar=1,repeat=1,type=fp16
pipe_barrier,pipe=V
endloop
END
keep "$vinci" run "$work/barriers.csv" $soc
report "levers of the kernel: cores and barriers" "$(expect 0 "")$(
  case $(headline) in *"Kernel cores: 10 of 40 AIV cores have work;"*"Kernel barriers: pipe V waits at pipe_barrier for "*) ;;
    *"Kernel barriers: "*"Kernel cores: 10 of 40 "*) ;; *) headline; cat "$work/out" ;; esac)"

keep "$vinci" run matmul m=256 k=256 n=256 $soc --savings=some
report "--savings has three words" "$(expect 2 "error: --savings is none, auto or all, not 'some'")"

# Causes of each pipe sum to its busy cycles, with both models of memory.
for memory in cycle flat; do
  keep "$vinci" run matmul m=256 k=256 n=256 $soc --memory=$memory --json
  report "causes sum to busy cycles with $memory memory" "$(expect 0 "")$(python3 -c '
import json, sys
for core in json.load(open(sys.argv[1]))["cores"]:
    for name, pipe in core["pipes"].items():
        if sum(pipe["cause_cycles"].values()) != pipe["busy_cycles"]:
            print(core["name"], name, pipe)
' "$work/out")"
done

# ---- sensitivity ----

sensitivity() { keep "$vinci" sensitivity matmul m=256 k=256 n=256 $soc "$@"; }

sensitivity -j1 --format=csv
cp "$work/out" "$work/one.csv"
problems=$(expect 0 "" "key,value,half,twice,cycles,half_cycles,twice_cycles,effect_cycles,half_kept_cycles,twice_kept_cycles")
sensitivity -j4 --format=csv
cmp -s "$work/out" "$work/one.csv" || problems="$problems
the table differs with 4 jobs"
report "sensitivity has the same bytes for any number of jobs" "$problems"

report "rows come by effect, and a changed number gives what a run gives" "$(python3 - "$work/one.csv" "$vinci" $soc <<'END'
import csv, json, subprocess, sys
rows = list(csv.DictReader(open(sys.argv[1])))
effects = [int(row["effect_cycles"]) for row in rows]
if effects != sorted(effects, reverse=True) or not rows:
    print("not sorted:", effects)
row = rows[0]
for half, text in ((True, row["half"]), (False, row["twice"])):
    out = subprocess.run([sys.argv[2], "run", "matmul", "m=256", "k=256", "n=256", sys.argv[3], "--json",
                          f"--set={row['key']}={text}"], capture_output=True, text=True, check=True).stdout
    cycles = json.loads(out)["total_cycles"]
    if cycles != int(row["half_cycles" if half else "twice_cycles"]):
        print(row, cycles)
END
)"

cat >"$work/rows.lua" <<'END'
local vinci = require "vinci"
local rows = vinci.sensitivity { op = "matmul", args = { m = 256, k = 256, n = 256 }, soc = "Ascend910B4", jobs = 2 }
print "key,value,half,twice,cycles,half_cycles,twice_cycles,effect_cycles,half_kept_cycles,twice_kept_cycles"
for _, r in ipairs(rows) do
  print(table.concat({ r.key, r.value, r.half, r.twice, rows.cycles, r.half_cycles, r.twice_cycles,
    r.effect_cycles, r.half_kept_cycles, r.twice_kept_cycles }, ","))
end
END
keep "$vinci" lua "$work/rows.lua"
report "Lua has the same rows" "$(expect 0 "")$(diff "$work/out" "$work/one.csv" | head -3)"

# What Lua measures of a trace is what a run with the number turned takes.
cat >"$work/savings.lua" <<'END'
local vinci = require "vinci"
local function chip(set)
  local soc = vinci.soc("Ascend910B4")
  if set then soc:set(set[1], set[2]) end
  return soc
end
local function run(set, options)
  local soc = chip(set)
  return vinci.run(soc, vinci.compile(soc, "add", { shape = 65536 }), options)
end
local result = run(nil, { max_events = 100000, savings = true })
local base, seen = result:summary().total_cycles, {}
for _, row in ipairs(result:savings()) do
  if row.measured and not seen[row.number] and row.number:find "^path.*startup" then
    seen[row.number] = true
    assert(row.turn == "halved")
    local half = chip():get(row.number) / 2
    local cycles = run({ row.number, half }, {}):summary().total_cycles
    assert(base - cycles == row.saved_cycles, row.number .. " " .. base .. " " .. cycles .. " " .. row.saved_cycles)
  end
end
assert(next(seen) and result:text():find "(measured)")
assert(not pcall(run, nil, { savings = true }))
END
keep "$vinci" lua "$work/savings.lua"
report "Lua measures savings" "$(expect 0 "")"

# Levers of a kernel in Lua: what is measured is the run without the rows, which the trace writes no more.
cat >"$work/levers.lua" <<'END'
local vinci = require "vinci"
local soc = vinci.soc("Ascend910B4")
local path, seen = arg[1], {}
local function run(trace) return vinci.run(soc, trace, { max_events = 100000, savings = true }) end
local result = run(vinci.load(soc, path))
for i, row in ipairs(result:levers()) do
  assert(i == 1 or row.saved_cycles <= seen.last)
  seen.last = row.saved_cycles
  if row.change:find "^%-%-without" then
    local lines = {}
    for line in row.change:gmatch "%d+" do lines[#lines + 1] = math.tointeger(tonumber(line)) end
    local without = vinci.load(soc, path):leave_out(table.unpack(lines))
    assert(row.measured and row.line == lines[1])
    assert(result:summary().total_cycles - vinci.run(soc, without, {}):summary().total_cycles == row.saved_cycles)
    if row.lever == "barriers" then
      local again = vinci.parse(soc, without:text())
      local _, count = again:text():gsub("pipe_barrier", "")
      assert(count == 1, count)
    end
    seen[row.lever] = true
  end
end
assert(seen.barriers and seen.flags and seen.fusion)
assert(not pcall(function() vinci.load(soc, path):leave_out(2) end))
END
keep "$vinci" lua "$work/levers.lua" "$srcdir/tests/accuracy/levers.csv"
report "Lua has levers, by line" "$(expect 0 "")"

keep "$vinci" run "$srcdir/tests/accuracy/levers.csv" $soc --without=2
report "a line without an instruction cannot be left out" "$(expect 2 "error: line 2 of $srcdir/tests/accuracy/levers.csv has no instruction that could be left out")"
keep "$vinci" check "$srcdir/tests/accuracy/levers.csv" $soc --without=20,x
report "--without is a list of lines" "$(expect 2 "error: --without is a list of lines with commas, such as 31,45, not '20,x'")"

sensitivity --params=hbm.channels --params=l2.ways --format=json
report "JSON has the numbers that were chosen" "$(expect 0 "")$(python3 -c '
import json, sys
got = json.load(open(sys.argv[1]))
names = sorted(row["key"] for row in got["numbers"])
if names != ["hbm.channels", "l2.ways"] or got["cycles"] <= 0:
    print(got)
' "$work/out")"

sensitivity --params=l2.sise
report "a misspelt number is an error that suggests the right one" "$(expect 2 -)$(
  case $err in *l2.size*) ;; *) echo "stderr: $err" ;; esac)"

sensitivity --format=xml
report "a format that is none is an error" \
  "$(expect 2 "error: --format is text, csv or json, not 'xml'")"

# What instructions have found: each part goes when the launch finds the state that it lacked.
state() { sed -n "s/.*\"state\": {.*\"$1\": \([0-9]*\).*/\1/p" "$2/report.json"; }
for found in cold warm; do
  "$vinci" run matmul m=256 k=256 n=256 --soc-version=Ascend910B4 --l2=$([ $found = warm ] && echo warm || echo empty) \
    --code=$found --timeline=chrome --output="$work/$found" -q >"$work/out" 2>&1
done
report "waits for code and for a cold L2 are there, and go with a warm launch" \
  "$([ "$(state code_cycles "$work/cold")" -gt 1000 ] && [ "$(state cold_l2_cycles "$work/cold")" -gt 100 ] &&
    [ "$(state scalar_cycles "$work/cold")" -gt 100 ] &&
    [ $((10 * $(state code_cycles "$work/warm"))) -lt "$(state code_cycles "$work/cold")" ] &&
    [ "$(state cold_l2_cycles "$work/warm")" = 0 ] || { cat "$work/out"; grep -h '"state"' "$work/cold/report.json" "$work/warm/report.json"; })"
"$vinci" run "$srcdir/tests/accuracy/levers.csv" --soc-version=Ascend910B4 --timeline=chrome --output="$work/barriers" >"$work/out" 2>&1
report "waits of the vector unit for the instruction before are told" \
  "$([ "$(state dependent_vector_cycles "$work/barriers")" -gt 0 ] && grep -q 'instruction before' "$work/out" ||
    grep -h '"state"' "$work/barriers/report.json")"

# The same in the timeline: cycles of instructions, where a small kernel provokes them, and none where it does not.
in_timeline() { grep -o "\"$1\":\"[0-9]*\"" "$2/trace.json" | tr -dc '0-9\n' | awk '{ sum += $1 } END { print sum + 0 }'; }
# with KEY FOLDER, without KEY FOLDER
told() {
  [ "$(in_timeline "$1" "$work/$2")" -gt 0 ] && [ "$(in_timeline "$1" "$work/$3")" = 0 ] && [ "$(state "$1" "$work/$2")" -gt 0 ] &&
    [ "$(state "$1" "$work/$3")" = 0 ] || {
    echo "$1 with: $(in_timeline "$1" "$work/$2") cycles, without: $(in_timeline "$1" "$work/$3")"
    grep -h '"state"' "$work/$2/report.json" "$work/$3/report.json"
  }
}
make() {
  folder=$1
  shift
  "$vinci" run "$@" --soc-version=Ascend910B4 --timeline=chrome --output="$work/$folder" -q >"$work/out" 2>&1 || cat "$work/out"
}
levers=$srcdir/tests/accuracy/levers.csv
make apart "$levers" --without=18,20
report "waits for the vector instruction before, in account and timeline" "$(told dependent_vector_cycles barriers apart)"
sed 's/^stream,core=AIV$/&\nscalar,cycles=3000/' "$levers" >"$work/scalar.csv"
sed 's/^stream,core=AIV$/&\ncode_fetch,bytes=4096,line_cycles=60/' "$levers" >"$work/code.csv"
make scalar "$work/scalar.csv"
make code "$work/code.csv"
report "scalar work, in the timeline" "$([ "$(in_timeline scalar_cycles "$work/scalar")" = 60000 ] && [ "$(in_timeline scalar_cycles "$work/barriers")" = 0 ] ||
  in_timeline scalar_cycles "$work/scalar")"
report "code that the cache does not hold, in account and timeline" "$(told code_cycles code barriers)"
report "an L2 that has not held the data, in account and timeline" "$(told cold_l2_cycles cold warm)"
make small "$srcdir/traces/examples/reread.csv" --memory=flat
make large "$srcdir/traces/examples/reread.csv" --memory=flat --set l2.size=192MiB
report "what L2 has held and dropped, in account and timeline" "$(told refetch_cycles small large)"
