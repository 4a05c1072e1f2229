#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rows that begin or end within a block of 32 bytes, on chips that copy whole blocks alone: several rows
# share a copy. Times of the Ascend910B of 2019 stand beside each operator (tests/reference/training_910b_2019.csv); three
# times as long is the limit, and one copy for each row takes five to fifty times as long.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
work_folder test_coupled_rows
cd "$work" || exit 99
cat >cases <<'CASES'
3.29 log_softmax shape=256x2 dtype=fp32
3.26 log_softmax_grad shape=256x2 dtype=fp32
3.15 one_hot shape=256 depth=2 dtype=int32 out=fp32
4.63 broadcast shape=256x1 to=256x2 dtype=fp32
24.14 broadcast shape=20000x1x1 to=20000x39x1 dtype=fp32
67.41 broadcast shape=16x2048x1x1 to=16x2048x7x7 dtype=fp16
4.94 reduce_sum shape=256x2 dtype=fp32 axis=1
13.59 reduce_sum shape=12000x39 dtype=fp32 axis=1
3.40 add shape=256x20 shape1=256x1 dtype=int32 dtype1=int32
46.49 transdata way=nchw_to_nc1hwc0 shape=16x2048x7x7
38.73 transdata way=nd_to_fractal_nz shape=640x21128
65.11 softmax shape=32x12x128x128 dtype=fp16
27.48 conv2d_backprop_filter kernel=1x1 n=16 c=256 h=14 w=14 k=1024 accumulate=1
CASES
plan "$(wc -l <cases)"
while read -r measured operator; do
  # shellcheck disable=SC2086
  "${VINCI:?}" run $operator -s Ascend910B --memory=flat --l2=warm >out 2>&1
  taken=$(sed -n 's/^Duration *\([0-9.]*\) us.*/\1/p' out)
  problem=$(awk -v taken="${taken:-none}" -v measured="$measured" 'BEGIN {
    if (taken == "none" || taken > 3 * measured) print "takes " taken " us, measured were " measured }')
  report "$operator" "$problem"
done <cases
