#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operators of the 950 as vector functions: their form, and that they are faster than instructions on UB.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

work_folder test_lower_function
plan 7
chip=Ascend950PR_9589

# count PATTERN: rows of the trace in $work/k.csv.
count() { grep -c "^ *$1" "$work/k.csv"; }

"${VINCI:?}" compile softmax shape=64x2048 dtype=fp32 blocks=8 rows=8 -s $chip -o "$work/k.csv" >/dev/null
report "a long row is three passes, the last of which waits for what the second stores" "$(
  [ "$(count vf_begin)$(count vf_call)" = 11 ] || echo "$(count vf_begin) functions begin"
  [ "$(count reg_mem_bar,waits=stores,for=loads)" = 1 ] || echo "$(count reg_mem_bar) barriers"
  [ "$(count reg_vcmax)$(count reg_vcadd)" = 11 ] || echo "not one largest element and one sum"
)"
"$VINCI" compile softmax shape=64x250 dtype=fp16 blocks=8 -s $chip -o "$work/k.csv" >/dev/null
report "a short row is loaded once, and stays in registers" "$(
  [ "$(count reg_vlds)" = 4 ] || echo "$(count reg_vlds) loads"
  [ "$(count reg_vsts)" = 4 ] || echo "$(count reg_vsts) stores"
  [ "$(count reg_mem_bar)" = 0 ] || echo "there is a barrier"
  [ "$(count vconv)" = 0 ] || echo "inputs are converted in UB"
)"
"$VINCI" compile gelu shape=1000 dtype=fp32 blocks=1 cols=300 -s $chip -o "$work/k.csv" >/dev/null
report "the last tile of an operator has a function of its own" "$(
  [ "$(count vf_begin)" = 2 ] || echo "$(count vf_begin) functions"
  [ "$(count reg_plt)" = 2 ] || echo "masks of $(count reg_plt) tails: of 300 and of 100 elements"
)"
"$VINCI" compile layer_norm shape=4096x64 dtype=fp16 -s $chip -o "$work/k.csv" >/dev/null
report "numbers of many short rows are computed on UB" "$(
  [ "$(count vf_begin)" = 0 ] || echo "layer_norm of rows of 64 is a function"
)"
report "without registers there are no functions" "$(
  for op in softmax layer_norm gelu; do
    "$VINCI" compile $op shape=64x256 dtype=fp32 -s $chip --set vf.physical=0 -o "$work/k.csv" >/dev/null
    [ "$(count vf_begin)" = 0 ] || echo "$op has one"
  done
)"
# refused TEXT ROW... [-- OPTION...]: a kernel of these rows is refused with the text.
refused() {
  text=$1
  shift
  printf '%s\n' trace,version=1 kernel,name=k,arch=dav-c310,blocks=4 stream,core=AIV >"$work/k.csv"
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    echo "$1" >>"$work/k.csv"
    shift
  done
  [ $# -eq 0 ] || shift
  said=$("$VINCI" run "$work/k.csv" -s $chip "$@" 2>&1)
  code=$?
  [ $code -eq 3 ] && case $said in *"$text"*) true ;; *) false ;; esac || echo "exit code $code: $said"
}
add=reg_vadd,dst=0,src0=0,src1=256,type=fp32
zero=reg_vbr,dst=0,scalar=0,type=fp32
report "between vf_begin and vf_call stand register instructions alone" "$(
  refused 'k.csv:6: error: scalar stands in a vector function, which has register instructions alone' \
    vf_begin $zero scalar,cycles=10 vf_call
  refused 'k.csv:4: error: reg_vbr stands behind no vf_begin' $zero
  refused 'k.csv:4: error: vf_call stands behind no vf_begin' vf_call
  refused 'k.csv:6: error: a vector function begins in another one' vf_begin $zero vf_begin vf_call
  refused 'error: the last vector function has no vf_call' vf_begin $zero $add
  refused 'vf_begin: Ascend950PR_9589 has no vector functions' vf_begin vf_call -- --set vf.physical=0
)"
cycles() {
  "$VINCI" run "$@" -s $chip --memory=flat --code=warm --json | sed -n 's/.*"total_cycles": \([0-9]*\).*/\1/p' | head -n 1
}
report "functions take less time than instructions on UB" "$(
  for op in "softmax shape=512x2048" "softmax shape=4096x100" "softmax shape=65536x8" \
    "rms_norm shape=65536x64" "layer_norm shape=512x1000" "layer_norm shape=4096x96" "rms_norm shape=512x4096" \
    "gelu shape=1000000" "silu shape=1000000" "log_softmax shape=512x2048"; do
    # shellcheck disable=SC2086 # words
    with=$(cycles $op dtype=fp32) without=$(cycles $op dtype=fp32 --set vf.physical=0)
    [ "${with:-0}" -gt 0 ] && [ "$with" -lt "${without:-0}" ] || echo "$op: $with cycles, without functions $without"
  done
)"
