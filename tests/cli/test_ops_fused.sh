#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What rows of profiles of the Ascend910B of 2019 become: fusions by the names of their members, FRACTAL_NZ,
# numbers without extents. Shapes and formats are those of training steps of BERT, ResNet-50 and DeepFM
# (public repository Huawei-Performance-Model/Ascend-910B, application_test), smaller where they are large.
# Weights and what optimizers keep are not in L2 when their kernel starts (column l2_start).
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
work_folder test_ops_fused
cd "$work" || exit 99
cat >rows.csv <<'ROWS'
Type,Input Shapes,Output Shapes,Input Data Types,Input Formats,lowered,l2
FusionOp_Mul_Neg,1280;1280,1280,FLOAT;FLOAT>FLOAT,ND;ND,"chain steps=mul:x1,neg shape=1280 dtype=fp32 shape1=1280 dtype1=fp32"
FusionOp_RealDiv_Neg,64;,64,FLOAT;FLOAT>FLOAT,ND;ND,"chain steps=div:x1,neg shape=64 dtype=fp32 shape1=1 dtype1=fp32"
AddN,"32,128;32,128;32,128","32,128",FLOAT;FLOAT;FLOAT>FLOAT,ND;ND;ND,"chain steps=add:x:x1,add:x2 shape=32x128"
FusedMulAddN,"8,32,16,16;8,32,16,16;","8,32,16,16",FLOAT;FLOAT;FLOAT>FLOAT,FRACTAL_Z;FRACTAL_Z;ND,"chain steps=mul:x:x2,add:x1"
FusionOp_MatMul_AddN,"4,2,16,16;4,4,16,16;4,2,16,16;4,2,16,16","4,2,16,16",FLOAT16,FRACTAL_NZ,"matmul_chain m=32 k=64 n=64"
FusionOp_MatMul_GeLU,"4,2,16,16;4,4,16,16;64","4,2,16,16",FLOAT16,FRACTAL_NZ;FRACTAL_NZ;ND,steps=gelu
FusionOp_BatchMatMul_FusedMulAdd,"2,3,4,2,16,16;2,3,4,2,16,16;;2,1,1,32","2,3,2,2,16,16",FLOAT16,FRACTAL_NZ;FRACTAL_NZ;ND;ND,"shape2=2x1x2x1x1x16"
FusionOp_Conv2D_BNTrainingReduce,"2,4,14,14,16;4,4,16,16","2,4,14,14,16;1,4,1,1,16;1,4,1,1,16",FLOAT16;FLOAT16>FLOAT16;FLOAT;FLOAT,NC1HWC0;FRACTAL_Z,conv2d_moments kernel=1x1 stride=1x1 n=2 c=64
FusionOp_Conv2DBackpropInput_AddN_ReluGradV2,"2,4,14,14,16;4,4,16,16;2,4,14,14,16;2,4,14,14,2","2,4,14,14,16",FLOAT16;FLOAT16;FLOAT16;UINT8>FLOAT16,NC1HWC0;FRACTAL_Z;NC1HWC0;ND,residual=1
ReluGradV2,"2,4,7,7,16;2,4,7,7,2","2,4,7,7,16",FLOAT16;UINT8>FLOAT16,NC1HWC0;ND,dropout shape=6272 dtype1=fp16 keep=1
BiasAddGrad,"4,8,16,16",64,FLOAT16>FLOAT16,FRACTAL_NZ,reduce_sum shape=4x128x16 axis=1
ConfusionTransposeD,"4,3,4,2,16,16","12,8,16,16",FLOAT16>FLOAT16,FRACTAL_NZ,transpose shape=4x3x4x2x16x16 perm=2x3x1x4x5x6
Softmax,"2,3,2,2,16,16","2,3,2,2,16,16",FLOAT16>FLOAT16,FRACTAL_NZ,softmax shape=2x3x32x32
MatMul,"4,2,16,16;4,4,16,16","4,2,16,16",FLOAT16;FLOAT16>FLOAT,FRACTAL_NZ;FRACTAL_NZ,out_dtype=fp32
UnsortedSegmentSum,"128,64;128","512,64",FLOAT;INT32>FLOAT,ND;ND,scatter_add shape=512x64 count=128
Conv2DBackpropFilter,"2,4,7,7,16;2,2,14,14,16","2,4,16,16",FLOAT16;FLOAT16>FLOAT,NC1HWC0;NC1HWC0,conv2d_backprop_filter kernel=1x1 stride=2x2 n=2 c=32 h=14 w=14 k=64
Conv2DBackpropFilter,"2,2,14,14,16;2,4,7,7,16","2,4,16,16",FLOAT16;FLOAT16>FLOAT,NC1HWC0;NC1HWC0,conv2d_backprop_filter kernel=1x1 stride=2x2 n=2 c=32 h=14 w=14 k=64
FusedDbnDw,"2,2,14,14,16;2,4,7,7,16;2,4,7,7,16;1,4,1,1,16;1,4,1,1,16;1,4,1,1,16;1,4,1,1,16;1,4,1,1,16","2,4,7,7,16;2,4,16,16",FLOAT16;FLOAT16;FLOAT16;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT>FLOAT16;FLOAT,NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0;NC1HWC0,conv2d_filter_norm kernel=1x1 stride=2x2 n=2 c=32 h=14 w=14 k=64
TransData,"1,4,8,16,16","1,128,64",FLOAT>FLOAT,FRACTAL_NZ,"way=fractal_nz_to_nd shape=1x128x64 c0=16 dtype=fp32 buffers=1 blocks=30 idle=1"
Assign,;,,INT32;INT32>INT32,ND;ND,copy shape=1 dtype=int32
LogicalNot,,,NUMBER_TYPE_BEGIN>NUMBER_TYPE_BEGIN,ND,logical_not
ReduceSum,24000,,FLOAT>FLOAT,ND,reduce_sum shape=24000
ReduceSum,"256,2",256,FLOAT>FLOAT,ND,"axis=1 axes=1 rows=9 blocks=29"
TensorMove,12000,12000,FLOAT>FLOAT,ND,"buffers=1 tile=1600 blocks=30"
TensorMove,32,32,INT32>INT32,ND,"buffers=1 tile=32 blocks=4"
DropoutDoMask,"32,256;1024;","32,256",FLOAT16;UINT8;FLOAT16>FLOAT16,ND;ND;ND,"dropout shape=8192 dtype1=fp16 buffers=1"
LambApplyOptimizerAssign,"64,64;64,64;64,64;64,64;1;1;1;1;1;1;;","64,64;64,64;64,64",FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT>FLOAT;FLOAT;FLOAT,ND;ND;ND;ND;ND;ND;ND;ND;ND;ND;ND;ND,"ln:x4,muls:1,exp",streaming
Adam,"64,64;64,64;64,64;1;1;;;;;64,64","64,64;64,64;64,64",FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT>FLOAT;FLOAT;FLOAT,ND;ND;ND;ND;ND;ND;ND;ND;ND;ND,chain,streaming
Adam,"8,8;8,8;8,8;1;1;;;;;8,8","8,8;8,8;8,8",FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT>FLOAT;FLOAT;FLOAT,ND;ND;ND;ND;ND;ND;ND;ND;ND;ND,chain,warm
Cast,"8,32,16,16","8,32,16,16",FLOAT>FLOAT16,FRACTAL_Z,cast,streaming
Cast,"8,32,16,16","8,32,16,16",FLOAT>FLOAT16,FRACTAL_NZ,cast,warm
ROWS
rows=$(($(wc -l <rows.csv) - 1))
plan $((rows + 9))
"${VINCI:?}" run --ops rows.csv -s Ascend910B -o out --quiet >log 2>&1
report "the list runs" "$(cat log)"
"$PYTHON" - rows.csv out/op_summary.csv >found <<'PYTHON'
import csv, sys
rows, table = (list(csv.DictReader(open(name))) for name in sys.argv[1:])
for row, line in zip(rows, table):
    good = line["status"] == "ok" and row["lowered"] in line["lowered"]
    good &= row["l2"] in (None, "", line["l2_start"])
    seen = "%s: %s, L2 %s" % (line["status"], line["lowered"], line["l2_start"])
    print("%s|%s" % (row["Type"], "" if good else seen))
PYTHON
while IFS='|' read -r name problem; do
  report "$name" "$problem"
done <found

# Programs of the vendor on dav-c100, where a division takes ten cycles a repeat and a selection an instruction
# that brings its bits: operator, chip, instruction, whether the program has that.
while read -r chip instruction has operator; do
  # shellcheck disable=SC2086
  "${VINCI:?}" compile $operator -s "$chip" -o program.csv >log 2>&1 || echo failed >program.csv
  grep -q "^ *$instruction," program.csv && found=yes || found=no
  problem=
  [ "$found" = "$has" ] || problem="$instruction: $found. $(cat log)"
  report "$operator on $chip: $instruction $has" "$problem"
done <<'PROGRAMS'
Ascend910B vsel no relu_grad shape=4096 dtype=fp16
Ascend910B4 vsel yes relu_grad shape=4096 dtype=fp16
Ascend910B vdiv no softmax shape=64x128 dtype=fp16
Ascend910B4 vdiv yes softmax shape=64x128 dtype=fp16
Ascend910B vdiv no layer_norm shape=64x128 dtype=fp32
Ascend910B4 vdiv yes layer_norm shape=64x128 dtype=fp32
PROGRAMS

# A block for each core, of which two have a tile.
small="transdata way=fractal_nz_to_nd shape=256x2 c0=16 dtype=fp16 buffers=1 blocks=30"
# shellcheck disable=SC2086
"${VINCI:?}" run $small -s Ascend910B -q >log 2>&1
problem=
grep -q 'more cores than tiles' log || problem=$(cat log)
report "blocks without a tile are refused" "$problem"
# shellcheck disable=SC2086
"${VINCI:?}" run $small idle=1 -s Ascend910B --check --json >log 2>&1
problem=
grep -q '"blocks": *30' log || problem=$(head -c 300 log)
report "and do nothing with idle=1" "$problem"
