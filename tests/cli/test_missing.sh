#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci compile --list --missing: which kinds of a profile are not modelled, and the shares.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_missing
plan 15

missing() {
  keep "$vinci" compile --list --missing="$work/list.csv" "$@"
}

# Columns of kernel_details.csv, in another order. Relu: 3 of 4 rows, the last has a wrong result;
# TripleSoftmax, FlasAttentionScore: like a known name; QuiltPatchwork: like nothing; Sort of the CPU, and a transfer: elsewhere.
header='Type,Accelerator Core,Duration(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats'
cat >"$work/list.csv" <<END
$header
Relu,AI_VECTOR_CORE,1.5,"16",FLOAT16,ND,"16",FLOAT16,ND
Relu,AI_VECTOR_CORE,2.5,"16",FLOAT16,ND,"16",FLOAT16,ND
Relu,AI_VECTOR_CORE,2,"24",FLOAT16,ND,"24",FLOAT16,ND
Relu,AI_VECTOR_CORE,4,"32",FLOAT16,ND,"8",FLOAT16,ND
TripleSoftmax,AI_VECTOR_CORE,3,"4;2",FLOAT;INT32,ND;ND,"4",FLOAT,ND
QuiltPatchwork,MIX_AIV,20,N/A,N/A,N/A,N/A,N/A,N/A
QuiltPatchwork,MIX_AIV,20.25,N/A,N/A,N/A,N/A,N/A,N/A
FlasAttentionScore,MIX_AIC,1,"4,1,8",FLOAT16,ND,,,
Sort,AI_CPU,100,"8",FLOAT,ND,"8;8",FLOAT;INT32,ND;ND
hcom_allReduce_,COMMUNICATION,200.5,N/A,N/A,N/A,N/A,N/A,N/A
END
missing $soc
# Rows on cores: 8, of which 3 compile. Time on cores: 54.25 us, of which 6 are modelled.
cat >"$work/expected" <<END
type                                 rows  missing       missing us
QuiltPatchwork                          2        2           40.250
  no operator stands for 'QuiltPatchwork'
Relu                                    4        1            4.000
  Relu: the output shape '8' contradicts the inputs '32'
  the first such row: 32 (FLOAT16) to 8
TripleSoftmax                           1        1            3.000
  no operator stands for 'TripleSoftmax'
  the nearest name is SparseSoftmaxCrossEntropyWithLogits, of sparse_softmax_cross_entropy
  needed: an operator of 4;2 (FLOAT;INT32) to 4
FlasAttentionScore                      1        1            1.000
  no operator stands for 'FlasAttentionScore'
  the nearest name is FlashAttentionScore, of flash_attention
  needed: an operator of 4,1,8 (FLOAT16)

Modelled on Ascend910B4: 0 of 4 kinds, 3 of 8 rows (37.50 %), 6.000 of 54.250 us (11.06 %)
Not on AI Cores and not counted: 2 rows, 300.500 us
CONTRIBUTING.md, "Add an operator", says how a kind is added.
END
report "kinds by missing time, reasons, nearest names, shares" "$(
  expect 0 ''
  diff "$work/expected" "$work/out"
)"

# A chip that lacks something: 910A has no bf16.
printf '%s\n' "$header" 'MatMulV2,AI_CORE,1,"64,64;64,64",DT_BF16;DT_BF16,ND;ND,"64,64",DT_BF16,ND' \
  'MatMulV2,AI_CORE,1,"64,64;64,64",FLOAT16;FLOAT16,ND;ND,"64,64",FLOAT16,ND' >"$work/list.csv"
missing -s Ascend910A
report "what the chip cannot do is missing" "$(expect 0 '' \
  'Ascend910A has no data type bf16
  the first such row: 64,64;64,64 (DT_BF16;DT_BF16) to 64,64

Modelled on Ascend910A: 0 of 1 kinds, 1 of 2 rows (50.00 %), 1.000 of 2.000 us (50.00 %)
CONTRIBUTING')"
missing $soc
report "all is modelled" "$([ "$out" = \
  'Modelled on Ascend910B4: 1 of 1 kinds, 2 of 2 rows (100.00 %), 2.000 of 2.000 us (100.00 %)' ] ||
  echo "$out"; expect 0 '')"

# A long list of tensors is cut; times that are not there have no share.
printf 'op,args\nrelu,shape=16\ncopy,shape=8\ncopi,shape=8\n' >"$work/list.csv"
missing $soc
report "lists of operators with arguments, without times" "$(expect 0 '' \
  'copi                                    1        1            0.000
  no operator is called copi'
  expect 0 '' 'Modelled on Ascend910B4: 2 of 3 kinds, 2 of 3 rows (66.67 %)
CONTRIBUTING')"
sixty=$(printf '%060d' 0 | tr 0 1)
printf '%s\nQuilt,AIV,1,"%s",FLOAT,ND,"%s2",FLOAT,ND\n' "$header" "$sixty" "$sixty" >"$work/list.csv"
missing $soc
report "long cells are cut" "$(expect 0 '' "  needed: an operator of $sixty (FLOAT) to $sixty...
")"

printf '%s\n' "$header" 'Quilt,AIV,2,"""4,8;2""",FLOAT;FLOAT,ND;ND,;,FLOAT;FLOAT,ND;ND' \
  'MoeDistributeDispatchV2,MIX_AIV,1,"4,8",FLOAT,ND,"4,8",FLOAT,ND' >"$work/list.csv"
missing $soc
report "scalars, quotes of lists, kernels of several devices" "$(expect 0 '' \
  "  needed: an operator of 4,8;2 (FLOAT;FLOAT) to scalars
MoeDistributeDispatchV2                 1        1            1.000
  MoeDistributeDispatchV2 exchanges tokens with other devices; a trace is of one device
")"

printf 'm,n,k\n4,4,4\n' >"$work/list.csv"
missing $soc
report "a list without types" "$(expect 3 "$work/list.csv: error: the list names no types of operators")"
keep "$vinci" compile --list --missing="$work/none.csv" $soc
report "a list that is not there" \
  "$(expect 2 "$work/none.csv: error: cannot read the list: No such file or directory")"
missing
report "no chip" "$(expect 2 - ''
  case $err in *soc-version*) ;; *) echo "$err" ;; esac)"
message='error: --missing goes with --list, and without an operator or --markdown'
report "what it goes with" "$(
  missing $soc relu
  expect 2 "$message"
  missing $soc --markdown
  expect 2 "$message"
  keep "$vinci" compile --missing="$work/list.csv" $soc
  expect 2 "$message")"

# Tables that have no shapes: names count, each as often as its row says.
printf '%s\n' 'Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)' \
  '0,Relu,AI_VECTOR_CORE,4,10,1,2.5,4,50' '0,QuiltPatchwork,MIX_AIV,2,5.5,1,2.75,4,50' \
  '0,Sort,AI_CPU,3,300,1,100,4,50' >"$work/list.csv"
missing $soc
cat >"$work/expected" <<END
type                                 rows  missing       missing us
QuiltPatchwork                          2        2            5.500
  no operator has this name

Known on Ascend910B4: 1 of 2 kinds, 4 of 6 rows (66.67 %), 10.000 of 15.500 us (64.52 %)
By name alone: the table has no shapes, so rows that shapes or types refuse are counted
Not on AI Cores and not counted: 3 rows, 300.000 us
CONTRIBUTING.md, "Add an operator", says how a kind is added.
END
report "op_statistic by names" "$(
  expect 0 ''
  diff "$work/expected" "$work/out"
)"
printf '%s\n' 'Name,Input Shapes,Call Stack,Host Self Duration(us),Device Self Duration(us)' \
  'aten::mm,"[[512, 1024], [1024, 256]]",,33.1,12.5' 'aten::view,"[[512]]",,3,0' 'my::own,"[]",,1,2' >"$work/list.csv"
missing $soc
report "operators of a framework by names, those that ran on the device" "$(
  expect 0 ''
  grep -q '^Known on Ascend910B4: 1 of 2 kinds, 1 of 2 rows (50.00 %), 12.500 of 14.500 us' "$work/out" || cat "$work/out"
)"
printf '%s\n' 'Device_id,kernel_name,kernel_type,task_time(us)' '0,N/A,EVENT_RECORD,3' \
  '0,aclnnAdd_AddAiCore_Add,AI_VECTOR_CORE,fast' >"$work/list.csv"
missing $soc
report "a time that is not one" "$(expect 3 "$work/list.csv:3: error: 'fast' is not a time in microseconds")"
printf '%s\n' 'OP Type,Total Time(us),Core Type,Count' 'Mul,5,AI_VECTOR_CORE,9223372036854775807' >"$work/list.csv"
missing $soc
report "a count that is not one" \
  "$(expect 3 "$work/list.csv:2: error: '9223372036854775807' is not a count of launches")"
# Columns behind the 128th, and rows of more cells than these, are not looked at.
{
  seq -s, 1 125 | tr '\n' ','
  echo 'OP Type,Total Time(us),Core Type,Count'
  seq -s, 1 200
} >"$work/list.csv"
missing $soc
report "a table of many columns is not one of these" "$([ "$code" -eq 3 ] || echo "exit code"
  grep -q "list.csv: error: op_statistic, not a list of operators" "$work/err" || cat "$work/err")"
