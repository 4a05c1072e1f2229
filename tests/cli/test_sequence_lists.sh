#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci run --ops --sequence with lists of op,args: tensors are those of the programs, rows of one weight are a loop.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4 # an L2 of 96 MiB

work_folder test_sequence_lists
case $vinci in /*) ;; *) vinci=$(pwd)/$vinci ;; esac
cd "$work" || exit 99
work=$(pwd)
plan 13
kib=1024

# list NAME ROW...: of op,args,weight.
list() {
  name=$1
  shift
  {
    echo 'op,args,weight'
    printf '%s\n' "$@"
  } >"$name.csv"
}

# run NAME ARGUMENT...: the list in its order.
run() {
  table=$1/op_summary.csv
  file=$1.csv
  name=$1
  shift
  keep "$vinci" run --ops "$file" --sequence $soc --output="$name" "$@"
}

# cell ROW COLUMN: of the table.
cell() {
  "$PYTHON" -c 'import csv, sys
print(list(csv.DictReader(open(sys.argv[1])))[int(sys.argv[2]) - 1][sys.argv[3]])' "$table" "$1" "$2"
}

# is ROW COLUMN VALUE: the problem when the table says something else.
is() {
  value=$(cell "$1" "$2")
  [ "$value" = "$3" ] || echo "$2 of row $1 is '$value', not '$3'"
}

# ---- a chain: each row reads what the row before has written ---------------------------------------
list chain 'matmul,m=64 k=512 n=512,1' 'relu,shape=64x512,1' 'relu,shape=64x512,1'
run chain
report "inputs are the results of rows before, by their programs" "$(expect 0 ''
  is 2 l2_from "1: $((64 * kib)) of $((64 * kib)), written by row 1"
  is 3 l2_from "1: $((64 * kib)) of $((64 * kib)), written by row 2"
  is 1 l2_start sequence)"
report "L2 is empty before the first row" "$(is 1 l2_found_bytes 0)"

# ---- layers: rows of one weight are a loop, whose turns have weights of their own ------------------
# A turn reads 2 MiB of weights; 4 layers have 8 MiB, which L2 keeps for the second time of the list.
list layers 'relu,shape=16x1024,1' 'matmul,m=16 k=1024 n=1024,4' 'relu,shape=16x1024,4' 'relu,shape=16x1024,1'
run layers
report "a layer finds the result of the layer before, and not its weight" "$(expect 0 '' 'of 0.009 GB that the rows read'
  is 2 l2_from "1: $((32 * kib)) of $((32 * kib)), written by row 3; 2: not seen"
  is 2 weight 4)"
report "the row behind the loop finds the result of the last turn" "$(
  is 4 l2_from "1: $((32 * kib)) of $((32 * kib)), written by row 3")"
run layers --repeat=2
report "the next time each layer finds its own weight" "$(
  is 2 l2_found_bytes $((2 * 1024 * kib + 32 * kib))
  is 2 l2_input_bytes $((2 * 1024 * kib + 32 * kib)))"
warm=$(cell 2 sim_duration_us)
run layers --repeat=2 --set=l2.size=4MiB
report "unless L2 has no room for all layers" "$(
  [ "$(cell 2 l2_found_bytes)" -lt $((1024 * kib)) ] || echo "found are $(cell 2 l2_found_bytes) bytes"
  awk -v a="$warm" -v b="$(cell 2 sim_duration_us)" 'BEGIN { exit !(a < b) }' || echo "$warm us with room for all")"

# ---- the mean over the turns, and the sum ------------------------------------------------------------
list once 'add,shape=64x1024,1' 'add,shape=64x1024,1' 'add,shape=64x1024,1'
list thrice 'add,shape=64x1024,3'
run once
first=$(cell 1 sim_duration_us)
last=$(cell 3 sim_duration_us)
run thrice
report "a row has the mean over its launches" "$(awk -v a="$first" -v b="$last" -v mean="$(cell 1 sim_duration_us)" \
  'BEGIN { if (mean < 0.8 * b || mean > 1.2 * a) print "the first takes " a " us, the last " b ", the mean " mean }')"
report "what no row writes is of its turn, as the caches of layers are" "$(case $(cell 1 l2_from) in
  *'written by row 1; 2: not seen') ;;
  *) echo "l2_from is '$(cell 1 l2_from)'" ;;
  esac)"

# ---- other lists without shapes, rows that fail --------------------------------------------------------
printf 'm,n,k\n64,512,512\n64,256,512\n' >gemm.csv
run gemm
report "lists of GEMMs have an order too" "$(expect 0 ''
  is 2 l2_from "1: $((64 * kib)) of $((64 * kib)), written by row 1; 2: not seen")"
list wrong 'relu,shape=16x1024,1' 'frobnicate,shape=16,2' 'relu,shape=16x1024,1'
run wrong
report "a row without a program has no tensors" "$(expect 0 '' '2 of 3 operators simulated, 1 unsupported'
  is 3 l2_from "1: $((32 * kib)) of $((32 * kib)), written by row 1")"
cp layers/op_summary.csv first.csv
run layers --repeat=2 --set=l2.size=4MiB
report "the same list gives the same bytes" "$(cmp first.csv "$table" 2>&1)"

# ---- rows of a loop whose process dies ------------------------------------------------------------------
# The second row takes more time of a processor than a process may have here.
list deadly 'relu,shape=16x1024,2' 'matmul,m=8192 k=8192 n=8192 tile=16x16x16 cores=1,2' 'relu,shape=32x1024,2' \
  'relu,shape=16x1024,1'
table=deadly/op_summary.csv
for repeat in 1 2; do
  keep sh -c 'ulimit -c 0; ulimit -S -t 2; exec "$@"' sh "$vinci" run --ops deadly.csv --sequence $soc --output=deadly \
    --repeat=$repeat
  report "a row of a loop its process dies of fails alone; $repeat times the list" "$(expect 8 \
    "error: the process of 1 operator died, or memory was short; $table says how, and the same command tries it again"
    for row in 1 3 4; do is $row status ok; done
    case $(cell 2 status) in 'failed: its process ended by signal '*) ;; *) cell 2 status ;; esac)"
done
