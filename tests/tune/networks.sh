#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What tuning saves on the operators of whole networks, on Ascend910B4 with flat memory: a line for each, of
# default, best and bound. $VINCI is the program.
#
#     networks.sh [EVALUATIONS]
set -eu
srcdir=${TESTS_SRCDIR:-.}
vinci=${VINCI:?}
evaluations=${1:-24}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

total() { # NAME, then what to tune
  name=$1
  shift
  "$vinci" tune "$@" --soc-version=Ascend910B4 --memory=flat --robust=0 -n "$evaluations" >"$work/out"
  grep -q '^Total ' "$work/out"
  sed -n "s/^Total  */$(printf '%-28s' "$name")/p" "$work/out"
}

total 'ResNet-50, batch 1' --ops="$srcdir/tests/bench/resnet50.csv"
sed 's/conv2d,/conv2d,n=16 /; s/matmul,m=1 /matmul,m=16 /' "$srcdir/tests/bench/resnet50.csv" >"$work/batch.csv"
total 'ResNet-50, batch 16' --ops="$work/batch.csv"
for network in erfnet llama_7b_layer; do
  "$vinci" lua "$srcdir/scripts/experiments/networks/all.lua" "$network" >"$work/family.csv"
  sed 's/{batch}/1/g' "$work/family.csv" >"$work/$network.csv"
  total "$network" "$work/$network.csv"
done
