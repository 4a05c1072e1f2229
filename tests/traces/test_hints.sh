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

plan 19

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
run check "$work/tiny.csv" --soc-version=Ascend950
report "a family of one chip" "$(expect 2 "error: unknown SoC 'Ascend950'
hint: there is Ascend950PR_9589")"
run check "$work/tiny.csv" --soc-version=ASCEND910B
report "a family of several chips" "$(expect 2 "error: unknown SoC 'ASCEND910B'
hint: there are Ascend910B1, Ascend910B2, Ascend910B2C, Ascend910B3 and Ascend910B4")"
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
report "a misspelt key of a study" "$(expect 2 "$work/study.lua: error: wants one of op, trace and net
hint: did you mean 'op' by 'opp'?")"
echo 'return { soc = "Ascend910B4", tarce = "a.csv" }' >"$work/study.lua"
run sweep run "$work/study.lua" --output="$work/study"
report "another misspelt key" "$(expect 2 "$work/study.lua: error: wants one of op, trace and net
hint: did you mean 'trace' by 'tarce'?")"
echo 'return { soc = "Ascend910B4", points = { { name = "a", opp = "matmul", m = 4, k = 4, n = 4 } } }' \
  >"$work/suite.lua"
run gate list "$work/suite.lua"
report "a misspelt key of a suite" "$(expect 2 "$work/suite.lua: error: point 'a' wants one of op, trace, net and job
hint: did you mean 'op' by 'opp'?")"
echo 'return { soc = "Ascend910B4", points = { { name = "a", m = 4 } } }' >"$work/suite.lua"
run gate list "$work/suite.lua"
report "no key that is near" "$(expect 2 "$work/suite.lua: error: point 'a' wants one of op, trace, net and job")"
