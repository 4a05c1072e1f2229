#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci run --ops: the lists it reads, as their tools write them, and runs that are ended.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
. "$srcdir/tests/support/await.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_ops
plan 69

# run LIST ARGUMENT...: simulates $work/LIST.csv into $work/LIST; $out, $err, $code.
run() {
  list=$1
  shift
  keep "$vinci" run --ops "$work/$list.csv" --output="$work/$list" "$@"
  table=$work/$list/op_summary.csv
}

# The problems of the last run: problems CODE STDERR [TEXT-IN-TABLE...].
problems() {
  expect "$1" "$2"
  shift 2
  for text; do
    grep -qF -e "$text" "$table" || { echo "the table has no '$text':"; cat "$table"; }
  done
}

crlf() {
  sed 's/$/\r/'
}

printf 'Type,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats\n%s\n%s\n%s\n' \
  'Conv2D,"2,0,28,28,16;36,8,16,16",FLOAT16;FLOAT16,NC1HWC0;FRACTAL_Z,"2,8,14,14,16",FLOAT16,NC1HWC0' \
  'Maximum,"16;16",FLOAT16;COMPLEX64,ND;ND,"16",FLOAT16,ND' \
  'Relu,"16",FLOAT16,ND,"16",FLOAT16,ND' >"$work/empty.csv"
run empty $soc
report "a tensor without elements, a type nobody knows" "$(problems 0 '' \
  ',unsupported: Conv2D: a tensor has no elements,' \
  ",unsupported: the data types 'FLOAT16;COMPLEX64' are not known,")"

# Kernels over lists of tensors, with a number behind the lists or without: one tensor of as many elements.
list64=$(printf '%063d' 0 | sed 's/0/4;/g')4
printf '%s\n' 'Type,Input Shapes,Input Data Types,Output Shapes' \
  'ForeachMulScalar,"4,5;7;3;",FLOAT;FLOAT;FLOAT;FLOAT,"20;7;3"' \
  'ForeachSqrt,"4,6;8",FLOAT;FLOAT,"24;8"' \
  'ForeachMulList,"4;7;4;7",FLOAT16;FLOAT16;FLOAT16;FLOAT16,"4;7"' \
  'ForeachAddList,"4,2;6;4,2;6;",FLOAT;FLOAT;FLOAT;FLOAT;FLOAT,"8;6"' \
  'ForeachAddcdivScalar,"4;9;4;9;4;9;",FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT;FLOAT,"4;9"' \
  'ForeachNorm,"4,5;70;",FLOAT;FLOAT;FLOAT,";"' \
  'ForeachCopy,"4,5;80",FLOAT;FLOAT,"20;80"' \
  "ForeachNeg,\"$list64\",$(echo "$list64" | sed 's/4/FLOAT/g'),\"4\"" >"$work/lists.csv"
run lists $soc
report "lists of tensors" "$(problems 0 '' ',muls shape=30 dtype=fp32 blocks=0,' ',sqrt shape=32 dtype=fp32' \
  ',mul shape=11 dtype=fp16' ',axpy shape=14 dtype=fp32' ',addcdiv shape=13 dtype=fp32' \
  ',lp_norm shape=90 dtype=fp32' ',copy shape=100 dtype=fp32' \
  'unsupported: ForeachNeg: 1 lists of at most 63 tensors together are needed')"

# Repetition of dimensions of 1, and of others, which become two: Tile of [2,3] by 4x5 is [1,2,1,3] to [4,2,5,3].
printf '%s\n' 'Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types' \
  'BroadcastTo,"1,32;2",INT64;INT64,"5,32",INT64' 'Tile,"2,3;2",FLOAT;INT64,"8,15",FLOAT' \
  'Expand,"2,3;2",FLOAT;INT64,"4,3",FLOAT' 'Expand,"2,3;2",FLOAT;INT64,"5,3",FLOAT' >"$work/tiles.csv"
run tiles $soc
report "repetitions" "$(problems 0 '' ',broadcast shape=1x32 to=5x32 dtype=int64' \
  ',broadcast shape=1x2x1x3 to=4x2x5x3 dtype=fp32' ',broadcast shape=1x2x3 to=2x2x3 dtype=fp32' \
  'unsupported: Expand: the output is not a whole repetition of the input')"

# Names of calls: of the kernel they end in, or that kernel's with a prefix.
printf '%s\n' 'Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types' \
  'aclnnInplaceMul_MulAiCore_Mul,"4;4",FLOAT;FLOAT,"4",FLOAT' 'aclnnInplaceSub,"5;5",FLOAT;FLOAT,"5",FLOAT' \
  'aclnnRelu,"6",FLOAT,"6",FLOAT' 'aclnnMm_MatMulCommon_Quilt,"7",FLOAT,"7",FLOAT' >"$work/calls.csv"
run calls $soc
report "names of calls" "$(problems 0 '' ',mul shape=4 ' ',sub shape=5 ' ',relu shape=6 ' \
  "unsupported: no operator stands for 'Quilt'")"

# Names that say how a kernel was written; what is left of a fusion is no operator.
printf '%s\n' 'Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types' \
  'mul_ascendc,"4;4",FLOAT;FLOAT,"4",FLOAT' 'sub_kernel_Triton,"5;5",FLOAT;FLOAT,"5",FLOAT' \
  'mul_act_triton,"6;6",FLOAT;FLOAT,"6",FLOAT' >"$work/writers.csv"
run writers $soc
report "names with a writer" "$(problems 0 '' ',mul shape=4 ' ',sub shape=5 ' \
  "unsupported: no operator stands for 'mul_act_triton'")"

# Names and types of frameworks, whose inputs may come in another order; views run no kernel.
printf '%s\n' 'Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types' \
  'aten::addmm,"128;64,32;32,128",c10::Half;c10::Half;c10::Half,"64,128",c10::Half' \
  'aten::relu_,"65",c10::BFloat16,"65",c10::BFloat16' 'aten::_softmax,"40,30",float,"40,30",float' \
  'ReLU,"66",FLOAT,"66",FLOAT' 'npu::npu_swiglu,"4,64",torch.float16,"4,32",torch.float16' \
  'aten::index_select,"30,8;;6",float;Scalar;long int,"6,8",float' \
  'aten::view,"30,8",float,"240",float' 'aten::wiew,"30,8",float,"240",float' >"$work/frameworks.csv"
run frameworks $soc
report "names of frameworks" "$(problems 0 '' ',matmul m=64 k=32 n=128 dtype=fp16' ' bias=1 ' \
  ',relu shape=65 dtype=bf16' ',softmax shape=40x30 dtype=fp32' ',relu shape=66 dtype=fp32' \
  ',swiglu ' ',gather ' 'unsupported: aten::view: a view of its tensor, for which no kernel runs' \
  "unsupported: no operator stands for 'aten::wiew'")"

# Gradients of normalisations: gamma has the last extents.
printf '%s\n' 'Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types' \
  'LayerNormGradV3,"4,2,64;4,2,64;4,2,1;4,2,1;64",BF16;BF16;FLOAT;FLOAT;BF16,"4,2,64;64;64",BF16;FLOAT;FLOAT' \
  'LayerNormGradV3,"4,64;4,64;4,1;4,1;64",BF16;BF16;FLOAT;FLOAT;FLOAT,"4,64;64;64",BF16;FLOAT;FLOAT' \
  'LayerNormGradV3,"4,64;4,64;4,1;64",BF16;BF16;FLOAT;BF16,"4,64;64;64",BF16;FLOAT;FLOAT' >"$work/grads.csv"
run grads $soc
report "gradients of normalisations" "$(problems 0 '' ',layer_norm_grad shape=4x2x64 axes=1 dtype=bf16' \
  'unsupported: LayerNormGradV3: gamma of another type than x is not modelled' \
  'unsupported: LayerNormGradV3: gradient, x, rstd, mean and gamma are needed')"

# The numbers of a range are doubles, which no operator has; its result is not.
printf '%s\n' 'Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types' \
  'Range,";;",DOUBLE;DOUBLE;DOUBLE,"40",FLOAT' 'Range,";;",INT64;INT64;INT64,"40",INT64' \
  'Abs,"",DOUBLE,"",DOUBLE' >"$work/ranges.csv"
run ranges $soc
report "ranges" "$(problems 0 '' ',range shape=40 dtype=fp32' ',range shape=40 dtype=int64' \
  "unsupported: the data types 'DOUBLE' are not known")"

printf '%s\n' 'Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types' \
  'ScatterUpdate,"40,8;5;5,8",FLOAT16;INT64;FLOAT16,"40,8",FLOAT16' \
  'ScatterAdd,"40,8;2,5;2,5,8",FLOAT;INT32;FLOAT,"40,8",FLOAT' \
  'ScatterAdd,"40,8;5;5,7",FLOAT;INT32;FLOAT,"40,8",FLOAT' >"$work/scatters.csv"
run scatters $soc
report "rows of tables" "$(problems 0 '' ',scatter_update shape=40x8 count=5 dtype=fp16 dtype1=int64' \
  ',scatter_add shape=40x8 count=2x5 dtype=fp32 dtype1=int32' \
  'unsupported: ScatterAdd: only whole rows of a table can be scattered')"

# ---- what a row says must hold ---------------------------------------------------------------
header='Type,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Duration(us)'
printf '%s\n' "$header" 'Relu,"16",FLOAT16,ND,"8",FLOAT16,ND,3' \
  'Maximum,"16;",FLOAT16;COMPLEX64,ND;ND,"16",FLOAT16,ND,4' \
  'BNInfer,"2,4,8,8;;;;4",FLOAT;COMPLEX64;FLOAT;FLOAT;FLOAT,NCHW,"2,4,8,8",FLOAT,NCHW,5' \
  'Relu,"24",FLOAT16,ND,"24",FLOAT16,ND,1.5e3' \
  'Relu,"32",FLOAT16,ND,"32",FLOAT16,ND,"1,234.5"' \
  'Relu,"40",FLOAT16,ND,"40",FLOAT16,ND,N/A' >"$work/told.csv"
run told $soc
report "a result that contradicts its inputs, a scalar of a type nobody knows, times" "$(problems 0 '' \
  "unsupported: Relu: the output shape '8' contradicts the inputs '16'" \
  "unsupported: the data types 'FLOAT16;COMPLEX64' are not known," \
  "unsupported: the data types 'FLOAT;COMPLEX64;FLOAT;FLOAT;FLOAT' are not known," \
  ',1500.000,-0.99' ',1234.500,-0.99')"
for time in -5 inf 1,23 '12 us'; do
  printf '%s\n%s"%s"\n' "$header" 'Relu,"16",FLOAT16,ND,"16",FLOAT16,ND,' "$time" >"$work/lost.csv"
  run lost $soc
  report "a time that is none: $time" "$(expect 3 "$work/lost.csv:2:38: error: '$time' is not a time in microseconds from 0 to 10^12
hint: write 1234.5, 1.2345e3 or \"1,234.5\"; N/A or nothing where nothing was measured")"
done

# ---- L2 at the start -------------------------------------------------------------------------
# A row of a profile owes what the chip can owe; without tensors nothing is owed.
printf '%s\n' "$header" 'Relu,"1024,1024",FLOAT16,ND,"1024,1024",FLOAT16,ND,' \
  'MatMulV2,"8,2048;2048,2048",FLOAT16;FLOAT16,ND;ND,"8,2048",FLOAT16,ND,' >"$work/states.csv"
printf 'op,args\n%s\n%s\n' relu,shape=4096 'matmul,m=16 k=32 n=48' >"$work/plain.csv"
run states $soc --set l2.size=8MiB
found=$(problems 0 'warning: l2.size is varied, and what lies in L2 at the start is assumed (by kind of operator): a larger L2 keeps more of the inputs, and what it has to write back stays the same; l2=empty assumes nothing' \
  ',warm,0' ',used,100663296')
run plain $soc
report "L2 at the start, told and warned of" "$found$(problems 0 '' ',warm,0' ',used,0')"

# ---- rows that ask for the same --------------------------------------------------------------
# The second is the first under another name; the others differ from the first in one cell each.
equal_header='Name,OP Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types,Block Dim,Duration(us),soc'
printf '%s\n' "$equal_header" 'a,Relu,"640,64",FLOAT16,"640,64",FLOAT16,4,9,Ascend910B4' \
  'b,Relu,"640,64",FLOAT16,"640,64",FLOAT16,4,7,Ascend910B4' \
  'c,Relu,"641,64",FLOAT16,"641,64",FLOAT16,4,9,Ascend910B4' \
  'd,Relu,"640,64",FLOAT,"640,64",FLOAT,4,9,Ascend910B4' \
  'e,Relu,"640,64",FLOAT16,"640,64",FLOAT16,5,9,Ascend910B4' \
  'f,Relu,"640,64",FLOAT16,"640,64",FLOAT16,4,9,Ascend910B1' >"$work/equal.csv"
alone() { # ROW: the line of that row when the list has no other
  sed -n "1p;$1p" "$work/equal.csv" >"$work/alone.csv"
  "$vinci" run --ops "$work/alone.csv" --output="$work/alone" --l2=warm --blocks=profile \
    >/dev/null || echo "row $1 fails"
  sed -n 2p "$work/alone/op_summary.csv"
}
run equal --l2=warm --blocks=profile
report "rows that ask for the same are simulated once, and have their own names and times" "$(
  expect 0 '' '1 of them ask for the same as one before'
  for row in 2 3 4 5 6 7; do
    alone $row | diff - /dev/fd/3 3<<END
$(sed -n ${row}p "$table")
END
  done)"
run equal --l2=warm
report "without the blocks of the profile one row more asks for the same" "$(
  expect 0 '' '2 of them ask for the same as one before')"
# Rows of both units get the blocks of the profile; one row has tiles for two blocks alone, one more than the chip.
printf '%s\n' 'Name,OP Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types,Block Dim' \
  'a,Relu,"640,640",FLOAT16,"640,640",FLOAT16,8' 'b,Relu,"4096",FLOAT16,"4096",FLOAT16,40' \
  'c,Relu,"640,640",FLOAT16,"640,640",FLOAT16,80' 'd,SoftmaxV2,"100,512",FLOAT16,"100,512",FLOAT16,17' \
  'e,MatMulV2,"512,512;512,512",FLOAT16;FLOAT16,"512,512",FLOAT16,7' >"$work/blocks.csv"
run blocks $soc --blocks=profile
blocks_of() { cut -d, -f1,5 "$table" | sed 1d | paste -sd' ' -; }
report "blocks of the profile, in rows of the vector unit, too" "$(problems 0 '' 'blocks=8,' 'blocks=0,'
  blocks_of | grep -q '^a,8 b,2 c,[0-9]* d,17 e,7$' || blocks_of)"
run blocks $soc
report "and without" "$(problems 0 '' ' blocks=0,'
  blocks_of | grep -q '^a,8 \|d,17\|e,7' && blocks_of)"
sed 's/,Block Dim$/,my_blocks/' "$work/blocks.csv" >"$work/none.csv"
run none $soc --blocks=profile
report "a list without blocks is told" "$(problems 0 "$work/none.csv:1:76: warning: column \"my_blocks\" is not known and has no effect; did you mean \"blocks\"?
$work/none.csv: warning: the list has no column \"Block Dim\", so that blocks are chosen")"
# What others have written is assumed, and the same for rows that ask for the same in whatever place.
{
  echo "$header"
  for row in 1 2 3 4; do
    echo 'MatMulV2,"256,2048;2048,2048",FLOAT16;FLOAT16,ND;ND,"256,2048",FLOAT16,ND,'
  done
} >"$work/written.csv"
run written $soc --set l2.size=8MiB --set l2.owed=2MiB
report "equal rows find as many bytes to write back, the first as the last" "$(
  problems 0 - ',used,2097152'
  [ "$(grep -c ',used,2097152' "$table")" -eq 4 ] || cat "$table"
  expect 0 - '3 of them ask for the same as one before')"

# A part shows the pipes of its kind of core, also where the kernel has no work there.
product='"64,64;64,64",FLOAT16;FLOAT16,ND;ND,"64,64",FLOAT16,ND,'
printf '%s\n' "$header" "MatMulV2@AIC,$product" "MatMulV2@AIV,$product" >"$work/parts.csv"
run parts $soc
report "a part on AIV shows no pipes of the cube's cores" "$(python3 - "$table" <<'END'
import csv, sys
cube, vector = csv.DictReader(open(sys.argv[1]))
if not float(cube["mte2_time(us)"]) > 0:
    print("AIC:", cube["mte2_time(us)"])
for name in ("mac", "vec", "mte1", "mte2", "mte3", "fixpipe", "scalar"):
    if float(vector[name + "_time(us)"]) != 0:
        print("AIV:", name, vector[name + "_time(us)"])
END
)"

# ---- results that are kept -------------------------------------------------------------------
# A mixed kernel has two rows, one of each kind of core, with other times from one result.
attention='"1,2,128,64;1,2,128,64;1,2,128,64;;;;",FLOAT16;FLOAT16;FLOAT16;FLOAT;FLOAT;FLOAT;FLOAT,NCHW;NCHW;NCHW;ND;ND;ND;ND,"1,2,128,64",FLOAT16,NCHW,'
printf '%s\n' "$header" "FlashAttentionScore@AIC,$attention" "FlashAttentionScore@AIV,$attention" \
  'Relu,"640,64",FLOAT16,ND,"640,64",FLOAT16,ND,' >"$work/kept.csv"
run kept $soc
cp "$table" "$work/kept.expected"
stored() { # COUNT
  cmp "$work/kept.expected" "$table" 2>&1
  expect 0 '' "$1 of the others have a result from $work/results"
}
run kept $soc --results="$work/results"
found=$(stored 0)
run kept $soc --results="$work/results"
report "results are kept, and found by the next run" "$found$(stored 3)"
run kept $soc --results="$work/results" --set l2.hit_cycles=60 --quiet
report "results of another chip are not taken" "$(expect 0 -
  cmp -s "$work/kept.expected" "$table" && echo 'the same table'
  [ "$(find "$work/results" -type f | wc -l)" -eq 6 ] || ls "$work/results")"
rm -rf "$work/results"
run kept $soc --results="$work/results"
for file in "$work/results"/*; do
  head -c 60 "$file" >"$work/torn"
  cp "$work/torn" "$file"
done
run kept $soc --results="$work/results"
found=$(stored 0)
run kept $soc --results="$work/results" --exact
report "torn results are no results, and are kept anew" "$found$(stored 3)"
# One picosecond more in each, with a checksum that fits (FNV-1a).
for file in "$work/results"/*; do
  "$PYTHON" -c '
import sys
lines = open(sys.argv[1]).read().split("\n")
numbers = lines[1].split()
numbers[0] = str(int(numbers[0]) + 1)
text = lines[0] + "\n" + " ".join(numbers) + "\n"
digest = 0xcbf29ce484222325
for byte in text.encode():
    digest = (digest ^ byte) * 0x100000001b3 % 2**64
open(sys.argv[1], "w").write(text + "%016x\n" % digest)' "$file"
done
run kept $soc --results="$work/results" --exact
report "a result that is not what a simulation gives is an error with --exact" "$(
  problems 3 '' '"failed: ' 'has another result, ')"
run kept $soc --results="$work/results" --sequence
report "a sequence keeps no results" "$(expect 2 \
  'error: a sequence keeps no results: those of a row depend on all rows before')"
run kept $soc --exact
found=$(expect 2 'error: --exact compares with results that are kept: give --results=DIR')
keep "$vinci" run matmul m=4 k=4 n=4 $soc --results="$work/results"
report "options of results that go with no list, or with no folder" "$found$(expect 2 \
  'error: --results needs --ops=LIST')"

# ---- the profilers' tables -----------------------------------------------------------------
# kernel_details.csv: a byte order mark, CR LF, quoted shapes, tabs behind times, N/A.
{
  printf '\357\273\277'
  crlf <<'END'
Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio
2,0,4294967295,11,2,aclnnMatmul_MatMulV2_MatMulV2,MatMulV2,dynamic,AI_CORE,"1718183474478345.990	",12.5,0.0,20,0,NO,"""64,32;32,128""",FLOAT16;FLOAT16,ND;ND,"""64,128""",FLOAT16,ND,N/A,10.1,162000,2.25,0.2
2,0,4294967295,12,2,aclnnRelu_Relu_Relu,Relu,static,AI_VECTOR_CORE,"1718183474478360.100	",3.0,0.5,1,0,NO,"""64,128""",FLOAT,ND,"""64,128""",FLOAT,ND,N/A,2.1,3000,N/A,N/A
2,0,4294967295,13,2,aclnnCast_CastAiCpu_Cast,Cast,static,AI_CPU,"1718183474478370.100	",30.0,0.5,0,0,NO,"""4,4""",FLOAT,ND,"""4,4""",FLOAT16,ND,N/A,N/A,N/A,N/A,N/A
2,0,4294967295,14,2,hcom_allReduce_,hcom_allReduce_,N/A,COMMUNICATION,"1718183474478390.100	",30.0,0.5,0,0,NO,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A
2,0,4294967295,15,2,aclnnAdd_Add_Add,Add,static,AI_VECTOR_CORE,"1718183474478395.100	",4.0,0.5,1,0,NO,"""64,128;""",FLOAT;FLOAT,ND;ND,"""64,128""",FLOAT,ND,N/A,2.1,3000,N/A,N/A
2,0,4294967295,16,2,aclnnRelu_Relu_Relu,Relu,static,AI_VECTOR_CORE,"1718183474478396.100	",4.0,0.5,1,0,NO,N/A,N/A,N/A,N/A,N/A,N/A,N/A,2.1,3000,N/A,N/A
2,0,4294967295,17,2,aclnnRelu_Relu_Relu,Relu,static,AI_VECTOR_CORE,"1718183474478396.100	",4.0,0.5,1,0,NO,"""8,x""",FLOAT,ND,"""8,x""",FLOAT,ND,N/A,2.1,3000,N/A,N/A
END
} >"$work/kernel_details.csv"
run kernel_details $soc
report "kernel_details.csv as the profiler writes it" "$(problems 0 '' \
  ',matmul m=64 k=32 n=128 ' ',12.500,' ',2.250,' ',relu shape=8192 dtype=fp32' ',add '
  [ "$(wc -l <"$table")" -eq 8 ] || cat "$table"
  case $out in
    "3 of 7 operators simulated, 4 unsupported, 0 failed: "*) ;;
    *) echo "$out" ;;
  esac)"
report "what did not run on AI Cores is told" "$(problems 0 '' \
  ',unsupported: Cast does not run on AI Cores but on AI_CPU,' \
  ',unsupported: hcom_allReduce_ does not run on AI Cores but on COMMUNICATION,')"
report "cells that say nothing" "$(problems 0 '' ',unsupported: Relu: a shape cannot be read,'
  [ "$(grep -c ',N/A,.*,unsupported: ' "$table")" -ge 2 ] || cat "$table")"

# op_summary.csv, the columns in another order, lower-case types, a scalar, a format of NZ.
cat >"$work/op_summary.csv" <<'END'
Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Output Shapes,Output Data Types,Output Formats,Input Shapes,Input Data Types,Input Formats,Context ID,aicore_time(us),total_cycles,mac_time(us),mac_ratio
0,net,1,3,4,1,MatMul_1,MatMul,static,AI_CORE,100.1,20.75,0.1,4,0,NO,"""64,128""",DT_FLOAT16,FORMAT_ND,"""64,32;8,2,16,16""",DT_FLOAT16;DT_FLOAT16,FORMAT_ND;FORMAT_FRACTAL_NZ,N/A,18.2,1000,1.5,0.08
0,net,1,4,4,1,Muls_1,Muls,static,AI_VECTOR_CORE,120.1,2.75,0.1,1,0,NO,"""4096""",float16,ND,"""4096""",float16,ND,N/A,1.2,1000,N/A,N/A
END
run op_summary $soc
report "op_summary.csv" "$(problems 0 '' ',20.750,' ',1.500,' 'dtype=fp16'
  case $out in
    "2 of 2 operators simulated, "*) ;;
    *) echo "$out"; cat "$table" ;;
  esac)"
cp "$table" "$work/again.csv"
run again $soc
report "its own table is a list again" "$(problems 0 ''
  [ "$(grep -c ',ok,' "$table")" -eq 2 ] || cat "$table")"

# The columns of tables of calibration.
cat >"$work/calibration.csv" <<'END'
soc,op,core,input_shapes,output_shapes,dtypes,formats,blocks,duration_us,mac_us
Ascend910B2,MatMulV3,AI_CORE,"64,32;32,128","64,128",DT_BF16;DT_BF16,ND;ND,4,10,0.1
Ascend910B9,MatMulV3,AI_CORE,"64,32;32,128","64,128",DT_BF16;DT_BF16,ND;ND,4,10,0.1
END
run calibration
report "a chip that nobody knows fails its row alone" "$(problems 3 '' ',ok,' ',Ascend910B2,' \
  ',Ascend910B9,' 'failed: '
  [ "$(grep -c 'failed: .*Ascend910B9' "$table")" -eq 1 ] || cat "$table")"

cat >"$work/batches.csv" <<'END'
soc,op,core,input_shapes,output_shapes,dtypes,formats,blocks,duration_us
Ascend910B2,BatchMatMulV2,AI_CORE,"1,64,32;8,32,48","8,64,48",FLOAT16;FLOAT16,ND;ND,8,10
Ascend910B2,BatchMatMulV3,AI_CORE,"8,64,32;1,32,48","8,64,48",FLOAT16;FLOAT16,ND;ND,8,10
Ascend910B2,BatchMatMulV3,AI_CORE,"8,32,64;1,32,48","8,64,48",FLOAT16;FLOAT16,ND;ND,8,10
Ascend910B2,MatMulV2,AI_CORE,"16,70000;70000,48","16,48",FLOAT16;FLOAT16,ND;ND,8,10
Ascend910B2,BatchMatMulV3,AI_CORE,"3,64,32;8,32,48","8,64,48",FLOAT16;FLOAT16,ND;ND,8,10
Ascend910B2,MatMulV3,AI_CORE,"50,60;5,4,16,16","50,77",FLOAT16;FLOAT16,ND;FRACTAL_NZ,8,10
END
run batches
report "products that share an operand, long rows, padded weights" "$(problems 0 '' \
  'transpose_a=0 transpose_b=0 bias=0 batch=8 shared=a format_a=ND format_b=ND format_c=ND generation=2' \
  ',batch_matmul m=512 k=32 n=48' 'transpose_a=1 transpose_b=0 bias=0 batch=8 shared=b' \
  ',matmul m=16 k=70000 n=48' ',matmul m=50 k=60 n=77' 'format_a=ND format_b=NZ' \
  'unsupported: BatchMatMulV3: batches differ')"

# ---- lists of GEMMs and convolutions ---------------------------------------------------------
crlf >"$work/scalesim.csv" <<'END'
Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
Conv1, 34, 34, 3, 3, 16, 32, 2,
FC6, 1, 1, 1, 1, 64, 128, 1,
END
run scalesim $soc
report "a topology of SCALE-Sim" "$(problems 0 '' 'Conv1,' \
  'conv2d c=16 h=34 w=34 k=32 kernel=3x3 stride=2x2' 'kernel=1x1')"
printf 'Layer,M,N,K,\nproj,16,32,64,\n,,,,\n\n\nlast,1,32,64,' >"$work/scalesim_gemm.csv"
run scalesim_gemm $soc
report "GEMMs of SCALE-Sim" "$(problems 0 '' ',matmul m=16 k=64 n=32' ',matmul m=1 k=64 n=32'
  [ "$(wc -l <"$table")" -eq 3 ] || cat "$table")"
cat >"$work/deepbench.csv" <<'END'
m,n,k,a_t,b_t,precision
35,16,256,false,true,half
35,16,256,T,N,float
END
run deepbench $soc
report "GEMMs of DeepBench" "$(problems 0 '' \
  ',matmul m=35 k=256 n=16 transpose_a=0 transpose_b=1 dtype=fp16' \
  ',matmul m=35 k=256 n=16 transpose_a=1 transpose_b=0 dtype=fp32')"
cat >"$work/deepbench_conv.csv" <<'END'
w,h,c,n,k,filter_w(s),filter_h(r),pad_w,pad_h,wstride,hstride
28,14,16,2,32,5,3,2,1,2,1
END
run deepbench_conv $soc
report "convolutions of DeepBench" "$(problems 0 '' \
  ',conv2d n=2 c=16 h=14 w=28 k=32 kernel=3x5 stride=1x2 pad=1x2')"
printf 'op,args\nmatmul,m=16 k=64 n=32\ncopy,  shape=77 \nnone,x=1\n' >"$work/args.csv"
run args $soc
report "operators with arguments" "$(problems 0 '' 'matmul m=16 k=64 n=32' 'copy shape=77' \
  'unsupported: no operator is called none')"

# ---- lists that are none -------------------------------------------------------------------
problem() { # NAME TEXT-OF-FILE LINE MESSAGE
  printf '%b' "$2" >"$work/bad.csv"
  run bad $soc
  report "$1" "$([ "$code" -eq 3 ] || echo "exit code $code"
    [ "$(printf '%s\n' "$err" | head -n 1)" = "$work/bad.csv$3: error: $4" ] || echo "$err"
    [ ! -e "$work/bad/op_summary.csv" ] || echo "there is a table")"
}
problem "an empty list" '' '' 'the list is empty'
problem "a list of a mark and blank lines" '\357\273\277\n\n' '' 'the list is empty'
problem "a list that is a header" 'm,n,k\n' '' 'the list has a header and no rows'
problem "a header of something else" 'a,b\n1,2\n' :1 \
  'the header is not that of a list of operators'
problem "a profile without shapes" 'Name,Type,Duration(us),Input Data Types\na,Relu,1,FLOAT\n' :1 \
  'the header has no column "Input Shapes", which a list of a profile needs'
problem "a profile without types" 'Type,Input Shapes\nRelu,"""1,2"""\n' :1 \
  'the header has no column "Input Data Types", which a list of a profile needs'
problem "GEMMs without k" 'm,n\n1,2\n' :1 'the header has no column "k", which a list of GEMMs needs'
problem "two columns of a name" 'Type,Input Shapes,Type\nRelu,"""1,2""",Add\n' :1 \
  'the header has two columns "Type"'
problem "a byte of value 0" 'm,n,k\n1,2,3\n1,2,3\0\n' :3 \
  'a field has a byte of value 0: the list is not a text, or has two bytes a character'
printf 'op,args\nnothing,m=1\nnone,m=2\n' >"$work/none.csv"
run none $soc
report "a list in which nothing can be simulated" "$(problems 3 \
  "error: no operator of the list can be simulated; $work/none/op_summary.csv says why" \
  "unsupported: no operator is called nothing" "unsupported: no operator is called none")"
problem "a quote that is not closed" 'm,n,k\n1,2,"3\n' :2 \
  'a quote is not closed, or stands inside a field that is not quoted'
run missing $soc
report "a list that is not there" "$(problems 2 \
  "$work/missing.csv: error: cannot read the list: No such file or directory")"

# ---- runs that are ended ---------------------------------------------------------------------
# has_lines FOLDER LINES: the table has N lines.
has_lines() {
  [ "$(grep -c ^ "$work/$1/op_summary.csv")" -ge "$2" ]
}
{
  echo 'op,args'
  i=0
  while [ $i -lt 30 ]; do
    echo "copy,shape=$((100000 + i))"
    i=$((i + 1))
  done
  echo 'matmul,m=8192 k=8192 n=8192 tile=16x16x16 cores=1'
  echo 'copy,shape=5'
} >"$work/long.csv"
head -n 31 "$work/long.csv" >"$work/short.csv"
run short $soc -q
cp "$table" "$work/short.expected"
for jobs in 1 3; do
  rm -rf "$work/long"
  "$vinci" run --ops "$work/long.csv" --output="$work/long" $soc -j $jobs >"$work/out" \
    2>"$work/err" &
  child=$!
  await has_lines long 31
  head -n 31 "$work/long/op_summary.csv" >"$work/killed.csv"
  kill -INT $child
  wait $child
  code=$? out=$(cat "$work/out") err=$(cat "$work/err") table=$work/long/op_summary.csv
  report "rows are there as they end, also after Ctrl-C, with $jobs jobs" "$(
    cmp "$work/short.expected" "$work/killed.csv" 2>&1
    cmp -n "$(wc -c <"$work/short.expected")" "$work/short.expected" "$table" 2>&1
    [ "$code" -eq 7 ] || echo "exit code $code"
    case $err in
      "error: interrupted; $table has 3"[01]" of 32 operators, and the same command goes on "*) ;;
      *) echo "$err" ;;
    esac)"
done
# The same command goes on, with the journal's last record torn.
cp "$work/long/op_summary.journal" "$work/journal"
cp "$work/long.csv" "$work/same.csv"
mkdir "$work/same"
"$vinci" run --ops "$work/same.csv" --output="$work/same" $soc --timeout=60 >/dev/null 2>&1 &
child=$!
await has_lines same 21
kill_at_once $child
wait $child 2>/dev/null
sed -n '1,3p' "$work/same/op_summary.journal" >"$work/head"
printf '7 1 0 half a li' >>"$work/head"
cp "$work/head" "$work/same/op_summary.journal"
rm "$work/same/op_summary.csv"
"$vinci" run --ops "$work/same.csv" --output="$work/same" $soc --timeout=60 >"$work/out" \
  2>"$work/err" &
child=$!
await has_lines same 31
kill -INT $child
wait $child
report "the same command goes on after a kill; what is torn is done again" "$(
  grep -q '^2 operators were done by an earlier run of this command$' "$work/out" ||
    cat "$work/out"
  cmp -n "$(wc -c <"$work/short.expected")" "$work/short.expected" "$work/same/op_summary.csv" 2>&1)"
run short $soc
report "a table that is complete has no journal, and is made anew" "$(problems 0 ''
  cmp "$work/short.expected" "$table" 2>&1
  [ ! -e "$work/short/op_summary.journal" ] || echo "there is a journal"
  case $out in
    "30 of 30 operators simulated, "*) ;;
    *) echo "$out" ;;
  esac)"
mkdir "$work/other"
cp "$work/journal" "$work/other/op_summary.journal"
cp "$work/short.csv" "$work/other.csv"
run other $soc
report "the journal of another list is given up" "$(problems 0 ''
  cmp "$work/short.expected" "$table" 2>&1
  case $out in
    "30 of 30 operators simulated, "*) ;;
    *) echo "$out" ;;
  esac)"
run short $soc --max-cycles=10
report "a limit of cycles fails the rows, and is the exit code" "$(problems 7 '' \
  ',failed: the limit of simulated cycles was reached'
  case $out in
    "0 of 30 operators simulated, 0 unsupported, 30 failed: "*) ;;
    *) echo "$out" ;;
  esac)"
run calibration --max-cycles=10
report "a row that fails for another reason has its own exit code" "$(problems 3 '' \
  ',failed: the limit of ' ',Ascend910B9,')"

# ---- processes that die ------------------------------------------------------------------------
# Two rows that take more time of a processor than a process may have here, then three good ones.
{
  echo 'op,args'
  echo 'matmul,m=8192 k=8192 n=8192 tile=16x16x16 cores=1'
  echo 'matmul,m=8192 k=8192 n=4096 tile=16x16x16 cores=1'
  sed -n 2,4p "$work/long.csv"
} >"$work/deadly.csv"
{
  head -n 1 "$work/short.expected"
  sed -n 2,4p "$work/short.expected"
} >"$work/good.expected"
deadly() { # JOBS
  keep sh -c 'ulimit -c 0; ulimit -S -t 2; exec "$@"' sh "$vinci" run --ops "$work/deadly.csv" \
    --output="$work/deadly" $soc -j "$1"
  table=$work/deadly/op_summary.csv
}
died='its process ended by signal '
for jobs in 2 1; do
  deadly $jobs
  report "a row its process dies of fails alone, and is tried again; $jobs jobs" "$(problems 8 "error: \
the processes of 2 operators died, or memory was short; $table says how, and the same command tries them again" ''
    [ "$(sed -n '2,3p' "$table" | grep -c "failed: $died")" -eq 2 ] || cat "$table"
    sed 2,3d "$table" | diff "$work/good.expected" - | head -n 5
    again=$(case $out in "3 operators were done by an earlier run of this command"*) echo 1 ;;
      *) echo 2 ;; esac)
    [ "$again" -eq $jobs ] || echo "$out")"
done
rm -rf "$work/deadly"
"$vinci" run --ops "$work/long.csv" --output="$work/deadly" $soc >/dev/null 2>"$work/err" &
child=$!
await has_lines deadly 31
keep "$vinci" run --ops "$work/short.csv" --output="$work/deadly" $soc
kill -INT $child
wait $child
report "a folder is for one run at a time" "$(expect 2 \
  "$work/deadly: error: another run is working in this folder")"

# ---- types of results ----------------------------------------------------------------------------
cat >"$work/casts.csv" <<'END'
Type,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats
Cast,"""384,384""",FLOAT,ND,"""384,384""",FLOAT16,ND
Cast,"""384,384""",FLOAT,ND,"""384,384""",DT_BF16,ND
Cast,"""384,384""",FLOAT16,ND,"""384,384""",FLOAT,ND
Cast,"""384,384""",INT32,ND,"""384,384""",FLOAT16,ND
Cast,"""384,384""",INT64,ND,"""384,384""",INT32,ND
Cast,"""384,384""",BOOL,ND,"""384,384""",FLOAT16,ND
END
run casts $soc
report "a cast has the type of its result" "$(problems 0 - 'dtype=fp32 to=fp16' 'dtype=fp32 to=bf16' \
  'dtype=fp16 to=fp32' 'dtype=int32 to=fp16' 'dtype=int64 to=int32' 'dtype=uint8 to=fp16')"
cat >"$work/training.csv" <<'END'
Name,Type,Accelerator Core,Duration(us),Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats
a,Cast,AI_CORE,20,30,"2560,768",FLOAT,ND,"2560,768",FLOAT16,ND
b,Cast,AI_CORE,20,30,"2560,768",FLOAT,ND,,,
END
run training --soc-version=Ascend910A
report "on a chip without bf16, too, told or not" "$(problems 0 - 'dtype=fp32 to=fp16'
  [ "$(grep -c 'to=fp16' "$table")" -eq 2 ] || cat "$table")"
# Names that a spreadsheet would execute, and those with quotes and ends of lines.
printf 'Name,Type,Input Shapes,Input Data Types,Output Shapes\n%s\n' \
  '"=cmd|x,""q""",Relu,"16",FLOAT16,"16"
@sum,Relu,"16",FLOAT16,"16"
"a
b",Relu,"16",FLOAT16,"16"' >"$work/names.csv"
run names $soc
report "names in tables" "$(problems 0 - "\"'=cmd|x,\"\"q\"\"\",Relu,"
  sed -n '3,4p' "$table" | cut -d, -f1 | tr '\n' ' ' | grep -qxF "'@sum \"a b\" " || sed -n '3,4p' "$table")"
keep "$vinci" import "$table" '--op==cmd|x,"q"'
report "are read back as they were" "$(expect 0 '' 'op_summary, =cmd|x,"q"')"

# One type stands for all tensors, and types of results may stand behind; a text of 2000 types does not fit.
printf 'OP Type,Input Shapes,Input Data Types,Output Shapes\nAdd,"64;64",FLOAT16,64\nCast,64,FLOAT>FLOAT16,64\n' >"$work/types.csv"
run types $soc
report "types of a row may be shorter than its tensors" "$(problems 0 -
  grep -q 'add shape=64 shape1=64 dtype=fp16 dtype1=fp16' "$table" || echo "no sum of halves"
  grep -q 'cast shape=64 dtype=fp32 to=fp16' "$table" || echo "no cast to halves")"
{
  printf 'OP Type,Input Shapes,Input Data Types,Output Shapes\nCast,64,'
  awk 'BEGIN { for (i = 0; i < 2000; i++) printf "FLOAT;"; print ">FLOAT16,64" }'
} >"$work/types.csv"
run types $soc
report "a text of types that is too long is not cut" "$(problems 0 -
  grep -q 'cast shape=64 dtype=fp32 to=fp16' "$table" && echo "a part was read")"

# Lists of many tensors are joined if these are equal; of 70, a list reads the first 64.
{
  echo 'OP Type,Input Shapes,Input Data Types,Output Shapes'
  for inputs in 7 70; do
    awk -v n=$inputs 'BEGIN { for (i = 1; i < n; i++) s = s "8,32;"; print "ConcatV2,\"" s "8,32\",INT8,\"8," 32 * n "\"" }'
  done
  echo 'ConcatV2,"8,1;8,2;8,3;8,4;8,5;8,6;8,7",INT8,"8,28"'
} >"$work/joins.csv"
run joins $soc
report "more inputs than are told apart are joined if they are equal" "$(problems 0 - \
  'concat shape=8x32 pieces=7 axis=1' 'concat shape=8x32 pieces=70 axis=1' \
  'up to 6 inputs of different shapes can be joined')"
