#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# More blocks than cores: kernels run in waves, as compilers for chips of 32 cores leave them on one of 30
# (32 blocks took twice the time of a wave there, tests/reference/training_910b_2019.csv).
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_waves
plan 5

# cycles ARGUMENT...: of an operator.
cycles() { "$vinci" run "$@" --memory=flat -q --json | sed -n 's/^  "total_cycles": \([0-9]*\),/\1/p'; }
# within NAME VALUE LOW HIGH: thousandths.
within() { [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || echo "$1: $2 thousandths, expected $3 to $4"; }

product="matmul m=2048 k=2048 n=2048 dtype=fp16 tile=256x64x256 -s Ascend910B"
# shellcheck disable=SC2086
{
  two=$(cycles $product cores=32)
  one=$(cycles $product cores=32 --set device.cube_cores=32)
  even=$(cycles $product cores=16)
}
report "32 equal blocks of a product on 30 cores take two waves" "$(
  within "waves" $((two * 1000 / one)) 1800 2100
  within "as long as two tiles for each of 16 cores" $((two * 1000 / even)) 950 1100)"
for kernel in "matmul m=300 k=96 n=700 dtype=fp16 cores=32" "conv2d_backprop_filter n=8 c=64 h=28 w=28 k=64 kernel=3x3 dtype=fp16 cores=32" \
  "layer_norm shape=600x257 dtype=fp32 blocks=33"; do
  # shellcheck disable=SC2086
  report "no finding: $kernel" "$("$vinci" compile $kernel -s Ascend910B -o "$work/k.csv" 2>&1 && "$vinci" check "$work/k.csv" -s Ascend910B >"$work/out" 2>&1 ||
    cat "$work/out")"
done
# Cores that meet run at the same time: with more blocks than cores a sum has no segments.
# shellcheck disable=SC2046
report "a sum whose cores would meet ends" "$(
  "$vinci" run reduce_sum shape=1x409600 axes=1 dtype=fp32 blocks=60 -s Ascend910B4 --memory=flat -q >/dev/null 2>"$work/err" || cat "$work/err")"
