#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci run --repeat: launches in a row on one chip, of which the last is reported.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4 # an L2 of 96 MiB, 40 vector cores

work_folder test_repeat
plan 18

# run NAME ARGUMENT...: one operator; its summary in $work/NAME.json.
run() {
  name=$1
  shift
  "$vinci" run $soc --memory=flat --json "$@" >"$work/$name.json" 2>"$work/$name.err"
}

# field NAME EXPRESSION: of the summary.
field() {
  "$PYTHON" -c 'import json, sys; s = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$work/$1.json" "$2"
}

equal() { [ "$1" = "$2" ] || echo "$3: $1, expected $2"; }

# 40 blocks: each launch finds its code in every core.
big='relu shape=16x256x1024 dtype=fp16 blocks=40'
run once $big
run one $big --repeat=1
run twice $big --repeat=2
run warm $big --l2=warm --code=warm
report "one launch is that of a run without the option" "$(
  equal "$(field one 's["total_cycles"], s["l2"], s["hbm"]')" "$(field once 's["total_cycles"], s["l2"], s["hbm"]')" "the first launch")"
report "the second finds its inputs and its code, as a run that begins with both" "$(
  equal "$(field twice 's["total_cycles"]')" "$(field warm 's["total_cycles"]')" cycles
  equal "$(field twice 's["l2"]["read_misses"]')" 0 "misses of L2"
  equal "$(field twice 's["l2"]["start"]')" repeat "the state"
  [ "$(field once 's["l2"]["read_misses"]')" -gt 0 ] || echo "the first misses nothing")"

# Inputs that L2 has no room for are never there; nothing is gained.
run small $big --repeat=3 --set=l2.size=1MiB
run first $big --set=l2.size=1MiB
report "an L2 that is too small for the input holds nothing of that for the next launch" "$(
  equal "$(field small 's["hbm"]["read_bytes"]')" "$(field first 's["hbm"]["read_bytes"]')" "bytes of device memory")"

# A kernel of one block goes from core to core: 40 launches until one finds its code.
one='add shape=64 dtype=fp32'
code() { "$vinci" run $soc --memory=flat $one --repeat="$1" | grep -c ', 0 were not in its instruction cache'; }
report "a kernel of one block meets new cores for 40 launches" "$(
  equal "$(code 40)" 0 "launch 40 with code"
  equal "$(code 41)" 1 "launch 41 with code")"
keep "$vinci" run $soc $one --repeat=41
report "the report says so" "$(case $out in *"of the last of 41 launches in a row on one chip"*) ;; *) echo "$out" ;; esac)"

keep "$vinci" run $soc $one --repeat=2 --l2=warm
report "a state of L2 is refused" "$(equal "$code" 2 "exit code"; case $err in *"leave out the state of L2"*) ;; *) echo "$err" ;; esac)"
keep "$vinci" run $soc $one --repeat=5 --max-cycles=100
report "a limit ends the first launch that reaches the limit" "$(equal "$code" 7 "exit code")"

cat >"$work/rows.csv" <<'END'
op,args
relu,shape=16x256x1024 dtype=fp16 blocks=40
add,shape=64 dtype=fp32
END
keep "$vinci" run --ops "$work/rows.csv" $soc --repeat=2 --output="$work/list"
report "each row of a list by itself" "$(
  "$PYTHON" - "$work" "$(field twice 's["duration_us"]')" <<'END'
import csv, sys
relu, add = csv.DictReader(open(sys.argv[1] + "/list/op_summary.csv"))
for row in (relu, add):
    if (row["l2_start"], row["code_start"]) != ("repeat", "repeat"):
        print("the state of", row["Op Name"], "is", row["l2_start"], row["code_start"])
if abs(float(relu["sim_duration_us"]) - float(sys.argv[2])) > 0.001:
    print("relu takes", relu["sim_duration_us"], "alone", sys.argv[2])
END
)"
keep "$vinci" run --ops "$work/rows.csv" $soc --repeat=2 --code=warm
report "with a list, a state of code is refused" "$(equal "$code" 2 "exit code"; case $err in *"leave out the state of code, or the repetition"*) ;; *) echo "$err" ;; esac)"

# Two rows whose inputs fit L2 alone and not together: in a row of lists, neither finds its own.
cat >"$work/profile.csv" <<'END'
Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats
a,Relu,AI_VECTOR_CORE,0,30,"4096,1024",FLOAT16,ND,"4096,1024",FLOAT16,ND
b,Relu,AI_VECTOR_CORE,100,30,"4096,1025",FLOAT16,ND,"4096,1025",FLOAT16,ND
END
found() { # SIZE: of L2; bytes that each row finds of its input
  keep "$vinci" run --ops "$work/profile.csv" --sequence --repeat=3 $soc --set=l2.size="$1" --output="$work/p$1"
  "$PYTHON" -c '
import csv, sys
print(*(100 * int(r["l2_found_bytes"]) // int(r["l2_input_bytes"]) for r in csv.DictReader(open(sys.argv[1]))))' "$work/p$1/op_summary.csv"
}
report "a list in whole: with room for all, rows find their inputs of the time before" "$(equal "$(found 96MiB)" "100 100" "found, per cent")"
report "with room for one row, each throws out what the other needs" "$(equal "$(found 4MiB)" "0 0" "found, per cent")"

# ---- times that begin as an earlier time did ------------------------------------------------------
# Rows of one block go from core to core, so that code differs for 40 times; others leave L2 in ways
# that differ. With and without --exact the tables have the same bytes.
{
  sed -n 1p "$work/profile.csv"
  echo 'a,Relu,AI_VECTOR_CORE,0,3,"512,512",FLOAT16,ND,"512,512",FLOAT16,ND'
  echo 'b,Add,AI_VECTOR_CORE,10,3,"512,512;512,512",FLOAT16;FLOAT16,ND;ND,"512,512",FLOAT16,ND'
  echo 'c,Relu,AI_VECTOR_CORE,20,3,"640,1024",FLOAT16,ND,"640,1024",FLOAT16,ND'
  echo 'd,MyOwn,AI_VECTOR_CORE,30,3,"640,100",FLOAT16,ND,"640,100",FLOAT16,ND'
  echo 'e,Muls,AI_VECTOR_CORE,40,3,64,FLOAT,ND,64,FLOAT,ND'
} >"$work/steps.csv"
sed '4,$d' "$work/steps.csv" >"$work/large.csv"
list=steps
steps() { # NAME TIMES ARGUMENT...: the same both ways; $skipped is how many launches of how many
  name=$1 times=$2
  shift 2
  keep "$vinci" run --ops "$work/$list.csv" --sequence --repeat="$times" $soc "$@" --output="$work/$name.x" --exact
  [ "$code" = 0 ] || echo "$name: exit code $code: $err"
  case $out in *"not simulated again"*) echo "$name: --exact skips" ;; esac
  keep "$vinci" run --ops "$work/$list.csv" --sequence --repeat="$times" $soc "$@" --output="$work/$name"
  [ "$code" = 0 ] || echo "$name: exit code $code: $err"
  cmp "$work/$name/op_summary.csv" "$work/$name.x/op_summary.csv" 2>&1
  skipped=$(printf '%s\n' "$out" | sed -n 's/^\([0-9]* of [0-9]*\) launches met.*/\1/p')
}
beyond() { # LEAST: the problem when fewer were skipped
  [ "${skipped%% *}" -ge "$1" ] 2>/dev/null || echo "skipped: '$skipped', expected $1 or more"
}
report "an L2 with room for all: as with --exact, but for 41 times and some" "$(steps room 60; beyond 60
  case $skipped in *" of 300") ;; *) echo "of: '$skipped'" ;; esac)"
report "an L2 too small for each row" "$(steps small 60 --set=l2.size=256KiB; beyond 60)"
report "one that keeps some of what rows read" "$(steps middle 60 --set=l2.size=3MiB; beyond 60)"
report "with another policy" "$(steps lru 60 --set=l2.size=3MiB --set=l2.policy=lru; beyond 60)"
report "in cycle memory, rows on all cores" "$(list=large
  steps cycle 20 --memory=cycle; beyond 20)"
keep "$vinci" run --ops "$work/steps.csv" --sequence --repeat=30 $soc --output="$work/few"
report "states that differ are not skipped: the row of one block has not been on all cores" "$(
  case $out in *"not simulated again"*) echo "$out" ;; esac)"
keep "$vinci" run --ops "$work/steps.csv" --sequence --repeat=1000 $soc --output="$work/many"
report "1000 times cost as 60" "$(skipped=$(printf '%s\n' "$out" | sed -n 's/^\([0-9]* of [0-9]*\) launches met.*/\1/p')
  beyond 4700)"
