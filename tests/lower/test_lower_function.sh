#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operators of the 950 as vector functions: their form, and that they are faster than instructions on UB.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

work_folder test_lower_function
plan 5
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
report "without registers there are no functions" "$(
  for op in softmax layer_norm gelu; do
    "$VINCI" compile $op shape=64x256 dtype=fp32 -s $chip --set vf.physical=0 -o "$work/k.csv" >/dev/null
    [ "$(count vf_begin)" = 0 ] || echo "$op has one"
  done
)"
cycles() {
  "$VINCI" run "$@" -s $chip --memory=flat --code=warm --json | sed -n 's/.*"total_cycles": \([0-9]*\).*/\1/p' | head -n 1
}
report "functions take less time than instructions on UB" "$(
  for op in "softmax shape=512x2048" "softmax shape=4096x100" "layer_norm shape=512x1000" "rms_norm shape=512x4096" \
    "gelu shape=1000000" "silu shape=1000000" "log_softmax shape=512x2048"; do
    # shellcheck disable=SC2086 # words
    with=$(cycles $op dtype=fp32) without=$(cycles $op dtype=fp32 --set vf.physical=0)
    [ "${with:-0}" -gt 0 ] && [ "$with" -lt "${without:-0}" ] || echo "$op: $with cycles, without functions $without"
  done
)"
