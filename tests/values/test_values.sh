#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci run --values from the outside: inputs, outputs, comparisons, messages, exit codes.
# $VINCI is the program under test.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_values

# y = x + x; z is a copy of w, which may have any type of 16 bits.
trace() {
  cat <<END
trace,version=1
kernel,name=double,arch=dav-c220,blocks=2
tensor,name=x,dtype=fp16,shape=2x128,io=in$1
tensor,name=w,dtype=$2,shape=256,io=in
tensor,name=y,dtype=fp16,shape=2x128,io=out
tensor,name=z,dtype=$2,shape=256,io=out
tensor,name=spare,dtype=fp16,shape=16,io=workspace
stream,core=AIV
copy_gm_to_ubuf,dst=0,src=x+blk*256,len_burst=8
copy_gm_to_ubuf,dst=1024,src=w+blk*256,len_burst=8
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
vadd,dst=512,src0=0,src1=0,repeat=1,type=fp16
set_flag,src=V,dst=MTE3,id=0
wait_flag,src=V,dst=MTE3,id=0
copy_ubuf_to_gm,dst=y+blk*256,src=512,len_burst=8
copy_ubuf_to_gm,dst=z+blk*256,src=1024,len_burst=8
END
}
trace '' int16 >"$work/double.csv"
trace ',file=data/x.npy' int16 >"$work/named.csv"
trace '' bf16 >"$work/bf16.csv"
sed 's/^set_flag,src=MTE2.*//' "$work/double.csv" >"$work/hangs.csv"

# Keeps stdout, stderr and exit code.
run() { keep "$vinci" run "$@"; }

# npy FILE DESCR SHAPE DATA: version 1, DATA as it stands.
npy() {
  header="{'descr': '$2', 'fortran_order': ${5:-False}, 'shape': $3, }"
  { printf '\223NUMPY\001\000\166\000%-117s\n' "$header"; printf '%s' "$4"; } >"$1"
}
zeros() {
  head -c "$1" /dev/zero
}

plan 34

# ---- inputs and outputs ------------------------------------------------------------------
run "$work/double.csv" $soc --values
report "an input without values" "$(expect 2 "error: input tensor \"x\" has no values
hint: --input x=FILE.npy, file= in its row of the trace, or --fill random:1")"
run "$work/double.csv" $soc --values --fill random:1 -o "$work/r" -q
report "random inputs, outputs in tensors/" "$(expect 0 '' ''
  for name in y z; do [ -s "$work/r/tensors/$name.npy" ] || echo "no $name.npy"; done
  for name in x w spare; do [ ! -e "$work/r/tensors/$name.npy" ] || echo "$name.npy"; done)"
report "the header is NumPy's" "$(head -c 128 "$work/r/tensors/y.npy" | tr -d '\223\001\000' |
  grep -q "^NUMPYv{'descr': '<f2', 'fortran_order': False, 'shape': (2, 128), } *$" ||
  head -c 128 "$work/r/tensors/y.npy" | od -c)"
run "$work/double.csv" $soc --fill random:1 -o "$work/r2" -q
report "--fill asks for values; the same seed, the same bytes" "$(expect 0 '' ''
  cmp "$work/r/tensors/y.npy" "$work/r2/tensors/y.npy" 2>&1)"
run "$work/double.csv" $soc --fill random:2 -o "$work/r3" -q
report "another seed, other bytes" "$(expect 0 '' ''
  cmp -s "$work/r/tensors/y.npy" "$work/r3/tensors/y.npy" && echo same)"
run "$work/double.csv" $soc --fill zero -o "$work/r4" -q
report "zeros" "$(expect 0 '' ''
  tail -c 512 "$work/r4/tensors/y.npy" | cmp - /dev/zero 2>&1 | grep -v EOF)"
mkdir "$work/data"
cp "$work/r/tensors/y.npy" "$work/data/x.npy"
run "$work/named.csv" $soc --values --fill zero -q --expect "z=$work/r4/tensors/z.npy"
report "file= counts from the trace's folder" "$(expect 0 '')"
run "$work/named.csv" $soc --values --fill zero -q --input "x=$work/r4/tensors/y.npy" \
  --expect "y=$work/r4/tensors/y.npy"
report "--input goes before file=" "$(expect 0 '')"
rm "$work/data/x.npy"
run "$work/named.csv" $soc --values --fill zero -q
report "a file that is not there" \
  "$(expect 2 "$work/data/x.npy: error: cannot read: No such file or directory")"
run "$work/named.csv" $soc -q
report "without --values nothing is read" "$(expect 0 '')"
run - $soc --fill zero -q <"$work/double.csv"
report "standard input" "$(expect 0 '')"

# ---- comparisons ---------------------------------------------------------------------------
run "$work/double.csv" $soc --fill random:1 --expect "y=$work/r/tensors/y.npy" \
  --expect "z=$work/r/tensors/z.npy"
report "equal" "$(expect 0 '' "Values    y is as expected: 256 elements, largest error 0
Values    z is as expected: 256 elements, largest error 0")"
run "$work/double.csv" $soc --fill random:1 --json --expect "y=$work/r/tensors/y.npy"
report "JSON stays JSON" "$(expect 0 '' '"total_cycles"'
  printf '%s' "$out" | grep Values)"
npy "$work/y1.npy" '<f2' '(2, 128)' ''
tail -c 512 "$work/r/tensors/y.npy" | head -c 510 >>"$work/y1.npy"
printf '\000\074' >>"$work/y1.npy"
run "$work/double.csv" $soc --fill random:1 -q --expect "y=$work/y1.npy"
report "different: exit 4, which element" "$(expect 4 - ''
  printf '%s\n' "$err" | grep -q "^error: tensor \"y\" differs from $work/y1.npy in 1 of 256 \
elements, by at most [0-9.]*: \[1,127\] is [-0-9.]*, expected 1$" || echo "$err")"
run "$work/double.csv" $soc --fill random:1 -q --expect "y=$work/y1.npy" --atol 4
report "--atol" "$(expect 0 '')"
run "$work/double.csv" $soc --fill random:1 -q --expect "y=$work/y1.npy" --rtol 4
report "--rtol" "$(expect 0 '')"
run "$work/double.csv" $soc --fill random:1 -q --expect "y=$work/r3/tensors/y.npy"
report "many differences: the first five" "$(expect 4 - ''
  printf '%s\n' "$err" | grep -q '\[0,0\] is .*; \[0,[0-9]*\] is .*; \.\.\.$' || echo "$err")"
run "$work/double.csv" $soc --fill random:1 --expect "y=$work/y1.npy" --expect "z=$work/y1.npy"
report "a second comparison is made, too" "$(expect 4 - 'Cycles'
  printf '%s\n' "$err" | grep -q '^error: tensor "y" differs' || echo "$err"
  printf '%s\n' "$err" | grep -q "^$work/y1.npy: error: the file holds float16" || echo "$err")"

# ---- files that cannot be used ---------------------------------------------------------------
reject() {
  run "$work/double.csv" $soc --fill zero -q --input "x=$work/bad.npy"
  report "$1" "$(expect 3 "$work/bad.npy: error: $2")"
}
npy "$work/bad.npy" '<f4' '(2, 128)' ''
reject "another type" 'the file holds float32 of shape (2, 128); tensor "x" of fp16 needs float16 of shape (2, 128)'
npy "$work/bad.npy" '<f2' '(256,)' ''
reject "another shape" 'the file holds float16 of shape (256,); tensor "x" of fp16 needs float16 of shape (2, 128)'
npy "$work/bad.npy" '<f2' '(2, 128)' 'short'
reject "cut short" 'the file ends before its last element'
npy "$work/bad.npy" '>f2' '(2, 128)' ''
reject "big-endian" 'cannot use this .npy file: its elements are big-endian'
npy "$work/bad.npy" '<f2' '(2, 128)' '' True
reject "Fortran order" 'cannot use this .npy file: it is in Fortran order; save numpy.ascontiguousarray(array)'
npy "$work/bad.npy" '<M8[ns]' '(2, 128)' ''
reject "other things than numbers" 'cannot use this .npy file: its elements are not plain numbers of up to 8 bytes'
echo 'PK' >"$work/bad.npy"
reject "no .npy file" 'cannot use this .npy file: its start is not that of .npy files'
npy "$work/ok.npy" '<f4' '(256,)' ''
zeros 1024 >>"$work/ok.npy"
run "$work/bf16.csv" $soc --fill zero -q --input "w=$work/ok.npy" --expect "z=$work/ok.npy"
report "bf16 from float32" "$(expect 0 '')"

# ---- words -------------------------------------------------------------------------------------
run "$work/double.csv" $soc --fill zero -q --input "spar=$work/ok.npy"
report "a tensor that is not there" "$(expect 2 "error: $work/double.csv has no tensor \"spar\"
hint: did you mean \"spare\"?")"
run "$work/double.csv" $soc -q --input x
report "--input without a file" "$(expect 2 "error: --input wants NAME=FILE.npy, not 'x'")"
run "$work/double.csv" $soc -q --fill ones
report "--fill" "$(expect 2 "error: --fill is zero or random:SEED, not 'ones'")"
run "$work/double.csv" $soc -q --fill zero --atol=-1
report "--atol below 0" \
  "$(expect 2 "error: --atol is a number of at least 0, such as 1e-3, not '-1'")"
run "$work/double.csv" "$work/bf16.csv" $soc -q --input "x=$work/ok.npy"
report "--input with two traces" "$(expect 2 "error: --input names a tensor of one trace, 2 are given")"
run "$work/double.csv" "$work/bf16.csv" $soc -q --fill zero -o "$work/two"
report "values of two traces" "$(expect 0 ''
  for name in double bf16; do [ -s "$work/two/$name/tensors/y.npy" ] || echo "no $name"; done)"
run "$work/hangs.csv" $soc -q --fill zero
report "a hang" "$(expect 6 -)"
run "$work/double.csv" $soc --json
without=$(printf '%s\n' "$out" | sed '/"host"/d')
run "$work/double.csv" $soc --json --fill random:3
report "cycles do not depend on values" \
  "$([ "$without" = "$(printf '%s\n' "$out" | sed '/"host"/d')" ] || echo differ)"
