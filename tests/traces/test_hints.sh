#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names that other tools use, given to the program: what it says about them, word for word. Those of
# traces are in tests/support/trace_errors.def. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_hints
run() { keep "$vinci" "$@"; }

cat >"$work/tiny.csv" <<'END'
trace,version=1
kernel,name=tiny,arch=dav-2201,blocks=2
stream,core=AIV
scalar,cycles=7
END

plan 29

# ---- architectures and chips ------------------------------------------------------------------
run check "$work/tiny.csv" $soc
report "dav-2201 is dav-c220" "$(expect 0 '' 'ok: 1 kernel, 1 row')"
run check "$work/tiny.csv" $soc --normalize=- -q
report "whose name is written" "$(expect 0 '' 'arch=dav-c220')"
"$vinci" isa list --arch=dav-3510 >"$work/alias"
run isa list --arch=dav-c310
report "dav-3510 is dav-c310" "$(diff "$work/alias" "$work/out" | head -n 3)"
run check "$work/tiny.csv" --soc-version=Ascend950PR_9589
report "another chip is named" "$(expect 3 "$work/tiny.csv:2:23: error: trace is compiled for \
dav-c220, Ascend950PR_9589 is dav-c310
  kernel,name=tiny,arch=dav-2201,blocks=2
                        ^
hint: choose a SoC of that architecture, or compile the operator again")"
run check "$work/tiny.csv" --soc-version=Ascend910Premium
report "a family of one chip" "$(expect 2 "error: unknown SoC 'Ascend910Premium'
hint: there is Ascend910PremiumA")"
run check "$work/tiny.csv" --soc-version=ASCEND910B
report "a family of several chips" "$(expect 2 "error: unknown SoC 'ASCEND910B'
hint: there are Ascend910B1, Ascend910B2, Ascend910B2C, Ascend910B3, Ascend910B4 and Ascend910B4-1")"
run check "$work/tiny.csv" --soc-version=Ascend910X1
report "no family, but a slip" "$(expect 2 "error: unknown SoC 'Ascend910X1'
hint: did you mean 'Ascend910B1'? \`vinci soc list\` shows all")"

# ---- operators ----------------------------------------------------------------------------------
vendor="error: unknown operator 'MatMulV3'
hint: MatMulV3 is what profiles call the operator 'matmul'"
run run MatMulV3 m=64 k=64 n=64 $soc
report "run: the profiler's name" "$(expect 2 "$vendor")"
run run MatMulV3 $soc
report "run: the profiler's name alone" "$(expect 2 "$vendor")"
run compile MatMulV3 m=64 k=64 n=64 $soc
report "compile: the profiler's name" "$(expect 2 "$vendor")"
run run matmulv3 m=64 k=64 n=64 $soc
report "run: the profiler's name in small letters" "$(expect 2 "error: unknown operator \
'matmulv3'
hint: matmulv3 is what profiles call the operator 'matmul'")"
cp "$work/tiny.csv" "$work/MatMulV3"
(cd "$work" && "$vinci" run MatMulV3 $soc -q) >"$work/out" 2>"$work/err"
code=$? out=$(cat "$work/out") err=$(cat "$work/err")
report "a trace of that name is a trace" "$(expect 0 '')"
run run mtmul m=64 k=64 n=64 $soc
report "a slip" "$(expect 2 "error: unknown operator 'mtmul'
hint: did you mean 'matmul'?")"

# ---- keys of lists, studies and suites --------------------------------------------------------------
printf 'opp,args\nmatmul,m=4 k=4 n=4\n' >"$work/list.csv"
run run --ops "$work/list.csv" $soc --output="$work/list"
report "a misspelt column" "$(expect 3 "$work/list.csv:1: error: the header has no column \"op\", which a \
list of operators with arguments needs
hint: did you mean \"op\" by \"opp\"?")"
printf 'op,things\nmatmul,m=4 k=4 n=4\n' >"$work/list.csv"
run run --ops "$work/list.csv" $soc --output="$work/list"
report "a column of another name" "$(expect 3 "$work/list.csv:1: error: the header has no column \"args\", \
which a list of operators with arguments needs
hint: known are the profiler's tables, op,args and lists of GEMMs (m,n,k) and convolutions")"
echo 'return { soc = "Ascend910B4", opp = "matmul", m = 4, k = 4, n = 4 }' >"$work/study.lua"
run sweep run "$work/study.lua" --output="$work/study"
report "a misspelt key of a study" "$(expect 2 "$work/study.lua: error: wants one of op, trace, net, job and model
hint: did you mean 'op' by 'opp'?")"
echo 'return { soc = "Ascend910B4", tarce = "a.csv" }' >"$work/study.lua"
run sweep run "$work/study.lua" --output="$work/study"
report "another misspelt key" "$(expect 2 "$work/study.lua: error: wants one of op, trace, net, job and model
hint: did you mean 'trace' by 'tarce'?")"
echo 'return { soc = "Ascend910B4", points = { { name = "a", opp = "matmul", m = 4, k = 4, n = 4 } } }' \
  >"$work/suite.lua"
run gate list "$work/suite.lua"
report "a misspelt key of a suite" "$(expect 2 "$work/suite.lua: error: point 'a' wants one of op, trace, net, job and model
hint: did you mean 'op' by 'opp'?")"
echo 'return { soc = "Ascend910B4", points = { { name = "a", m = 4 } } }' >"$work/suite.lua"
run gate list "$work/suite.lua"
report "no key that is near" "$(expect 2 "$work/suite.lua: error: point 'a' wants one of op, trace, net, job and model")"

# ---- files of other tools ----------------------------------------------------------------------
launches="kernel_details.csv or op_summary*.csv of the same profile has a row for each launch, with shapes"
kinds="$launches; which kinds of this table are known: 'vinci compile --list --missing=FILE'"
refuse_list() {
  run run --ops "$work/$2" $soc --output="$work/list"
  report "$1" "$(expect 3 "$work/$2: error: $3
hint: $4")"
}
cat >"$work/op_statistic.csv" <<'END'
Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
0,MatMulV2,AI_CORE,280,45211.2,12.1,161.5,900.1,61.2
END
refuse_list "sums by type" op_statistic.csv \
  "op_statistic, not a list of operators: sums of a profile by type of operator, without shapes" "$kinds"
cat >"$work/operators.csv" <<'END'
Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),Device Total Duration(us)
aten::mm,"[[512, 1024], [1024, 256]]",,33.1,40.2,12.1,12.1
END
refuse_list "operators of the framework" operators.csv \
  "operator_details, not a list of operators: operators of the framework, without data types and launches" \
  "$kinds"
printf 'Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n' \
  >"$work/tasks.csv"
printf '0,my_fused_custom_0,MIX_AIC,46,0,456.280,1789000000007000.205\t,1789000000007456.485\t\n' >>"$work/tasks.csv"
refuse_list "times of tasks" tasks.csv "task_time, not a list of operators: times of tasks, without shapes" "$kinds"
printf 'Device_id,Level,API Name,Time(us),Count,Avg(us)\n0,acl,aclrtMemcpy,1.5,3,0.5\n' >"$work/api.csv"
run import "$work/api.csv"
report "for an import, too" "$(expect 3 "$work/api.csv: error: api_statistic, not a table of times of kernels: \
times of calls of the host
hint: $launches")"
run run --ops "$work/tiny.csv" $soc --output="$work/list"
report "a trace where a list is wanted" "$(expect 3 "$work/tiny.csv: error: a trace, not a list of operators
hint: 'vinci run', 'vinci check' and 'vinci debug' read it")"
run check "$work/op_statistic.csv" $soc
report "a table where a trace is wanted" "$(expect 3 "$work/op_statistic.csv: error: op_statistic, not a trace: \
sums of a profile by type of operator, without shapes
hint: $kinds")"

mlir() {
  # shellcheck disable=SC2059 # the text has line ends
  printf "$1" >"$work/kernel.ttadapter"
  run run "$work/kernel.ttadapter" $soc
  expect 3 "$work/kernel.ttadapter: error: a module of MLIR, as Triton and other compilers write, not a trace
hint: 'vinci cc' takes the C++ that TileLang and PTO emit; operators of a module run by their names, 'vinci run OP'"
}
report "modules of MLIR, behind comments, aliases, places, and in the generic form" "$(
  mlir 'module attributes {hacc.target = #hacc.target<"Ascend910B4">} {\n}\n'
  mlir '// -----// IR Dump Before Convert //----- //\n\n#loc = loc("kernel.py":3:0)\nmodule {\n}\n'
  mlir '// RUN: compile %%s\nfunc.func @add() {\n}\n'
  mlir '"builtin.module"() ({\n}) : () -> ()\n')"

# A profile is found in its folder.
profile=$work/host_1_20260101_ascend_pt/ASCEND_PROFILER_OUTPUT
mkdir -p "$profile"
cat >"$profile/kernel_details.csv" <<'END'
Name,Type,Accelerator Core,Start Time(us),Duration(us),Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats
Add1,Add,AI_VECTOR_CORE,"1736000000000000.912	",5.504,16,"""4096;4096""",DT_FLOAT;DT_FLOAT,ND;ND,"""4096""",DT_FLOAT,ND
END
run run --ops "$work/host_1_20260101_ascend_pt" $soc --output="$work/list" -q
report "the folder of a profile" "$(expect 0 -; [ -s "$work/list/op_summary.csv" ] || ls "$work/list")"
mkdir "$work/empty"
run run --ops "$work/empty" $soc --output="$work/list"
report "a folder without a profile" "$(expect 3 "$work/empty: error: is a folder without a profile: \
neither kernel_details*.csv nor op_summary*.csv
hint: give the file itself")"
{ cat "$profile/kernel_details.csv"; cat "$profile/kernel_details.csv"; } >"$work/twice.csv"
run run --ops "$work/twice.csv" $soc --output="$work/twice" -q
report "a second header between rows is passed over" "$(expect 0 -
  [ "$(grep -c Add "$work/twice/op_summary.csv")" -eq 2 ] || cat "$work/twice/op_summary.csv")"
