#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a file says and no reader knows is named once, with its place, and in the result; what readers know is
# silent, also in the tables of vendors. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_unread
case $vinci in /*) ;; *) vinci=$(pwd)/$vinci ;; esac
cd "$work" || exit 99
work=$(pwd)

plan 38

run() { keep "$vinci" run --ops "$1.csv" $soc --output="$1.o" --quiet; }
# A list whose columns all have an effect, or none that matters.
silent() {
  run "$1"
  expect 0 ''
  grep -q '"unread": \[\]' "$1.o/list.json" || cat "$1.o/list.json"
}
# named LIST LINE...: the program names these, and nothing else.
named() {
  list=$1
  shift
  keep "$vinci" run --ops "$list.csv" $soc --output="$list.o"
  expect 0 "$(printf '%s\n' "$@")"
  for line; do
    name=${line#*\"}
    grep -qF "\"name\": \"${name%%\"*}\"" "$list.o/list.json" || cat "$list.o/list.json"
  done
}

# ---- lists of operators ----------------------------------------------------------------------
printf 'Layer,M,N,K,Sparsity,\nqkv,128,2304,768,1:4,\n' >gemm.csv
report "GEMMs: a sparse operand" "$(named gemm \
  'gemm.csv:1:13: warning: column "Sparsity" is not modelled and has no effect')"

printf 'op,args,wieght,blocks,m\nrelu,shape=4096,3,2,77,5\nrelu,shape=8192,3,2,77,\n' >ops.csv
report "operators: a misspelt column, those of other lists, a cell behind the last column" "$(named ops \
  'ops.csv:1:9: warning: column "wieght" is not known and has no effect; did you mean "weight"?' \
  'ops.csv:1:16: warning: column "blocks" belongs to another kind of list and has no effect' \
  'ops.csv:1:23: warning: column "m" belongs to another kind of list and has no effect' \
  'ops.csv:2:24: warning: column "6" has no name in the header and has no effect')"
report "a quiet run names them in the result alone" "$(run ops
  expect 0 ''
  grep -qF '{"file": "ops.csv", "line": 1, "what": "column", "name": "wieght", "why": "is not known"}' ops.o/list.json ||
    cat ops.o/list.json)"

printf 'Layer,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,Stride,Stride Height,Strdie Width\n%s\n' \
  a,28,28,3,3,16,32,2,2,2 >conv.csv
report "convolutions" "$(named conv \
  'conv.csv:1:100: warning: column "Strdie Width" is not known and has no effect; did you mean "stridewidth"?')"

printf 'Name,Type,Input Shapes,Input Data Types,Output Shapes,Task Duration(us),Duration(us),my_ratio\n%s\n' \
  'a,Relu,"4096",FLOAT16,"4096",2.5,3,0.5' >own.csv
report "a profile: a column of its user, a time given twice" "$(named own \
  'own.csv:1:73: warning: column "Duration(us)" repeats another column and has no effect' \
  'own.csv:1:86: warning: column "my_ratio" is not known and has no effect')"

# Tables of the profilers, with all groups of metrics.
cat >details.csv <<'END'
Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)
1,0,1,3,4,a,Relu,static,AI_VECTOR_CORE,100.1,2.75,0.1,1,0,NO,"4096",FLOAT16,ND,"4096",FLOAT16,ND,N/A
END
cat >summary.csv <<'END'
Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Output Shapes,Output Data Types,Output Formats,Input Shapes,Input Data Types,Input Formats,Context ID,aicore_time(us),total_cycles,mac_time(us),mac_ratio,vec_time(us),vec_ratio,memory_bound,cube_utilization(%),aic_cube_fops,aiv_vec_fp32_ratio,aic_l2_read_bw(GB/s),aiv_ub_read_bw_vector(GB/s),aic_write_cache_hit,aiv_vec_bankgroup_cflt_ratio,aic_mte1_iq_full_ratio,0x49,aiv_0x3f
0,net,1,4,4,1,b,Relu,static,AI_VECTOR_CORE,120.1,2.75,0.1,1,0,NO,"4096",float16,ND,"4096",float16,ND,N/A
END
report "kernel_details.csv is silent" "$(silent details)"
report "op_summary.csv is silent" "$(silent summary)"
cp details.o/op_summary.csv again.csv
report "the table that vinci wrote is silent" "$(silent again)"

# ---- columns of convolutions -----------------------------------------------------------------
strides() {
  printf 'Layer,IFMAP Height,IFMAP Width,Filter Height,Filter Width,Channels,Num Filter,%s\na,28,28,3,3,16,32,%s\n' "$1" "$2" \
    >strides.csv
  run strides
  expect 0 ''
  grep -q " stride=$3," strides.o/op_summary.csv || { echo "$1:"; cat strides.o/op_summary.csv; }
}
report "strides under many names" "$(
  for name in Strides Stride strides stride 'Conv Stride'; do
    strides "$name" 2 2x2
  done
  for names in 'Stride Height,Stride Width' 'Strides Height,Strides Width' 'stride_h,stride_w' 'strideH,strideW' \
    'hstride,wstride' 'stride_y,stride_x'; do
    strides "$names" 2,1 2x1
  done)"

# ---- each reader is given what nobody knows ---------------------------------------------------
# told NAME EXPECTED COMMAND...: the first line on stderr is EXPECTED, of a warning or of an error.
told() {
  name=$1 wanted=$2
  shift 2
  keep "$vinci" "$@"
  report "$name" "$([ "$(printf '%s\n' "$err" | head -n 1)" = "$wanted" ] || printf '%s\nnot: %s\n' "$err" "$wanted")"
}
flat="$soc --memory=flat"
row='a,Add,AI_VECTOR_CORE,100.0,3,"4096;4096",FLOAT;FLOAT,ND;ND,"4096",FLOAT,ND,7'
printf '%s\n' 'Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,nobody' \
  "$row" >kernels.csv
of_list='kernels.csv:1:147: warning: column "nobody" is not known and has no effect'
told "run --ops" "$of_list" run --ops kernels.csv $soc
told "run --ops --sequence" "$of_list" run --ops kernels.csv $soc --sequence
told "sweep run --ops" "$of_list" sweep run --ops kernels.csv $flat -p launch.gap=0us,1us -o swept
told "tune --ops" "$of_list" tune --ops kernels.csv $flat -n 1
told "compile --list --missing" "$of_list" compile --list --missing=kernels.csv $soc
told "gate import" "$of_list" gate import kernels.csv $soc -o kernels.lua
told "replay" "$of_list" replay kernels.csv $flat
told "import: a profile" "$of_list" import kernels.csv
keep "$vinci" diff kernels.csv $soc --set-b=launch.gap=1us
report "diff" "$(expect 0 '' "note: $of_list")"
keep "$vinci" import kernels.csv --format=json
report "import: the result" "$(expect 0 "$of_list" '"name": "nobody"')"

mkdir -p op
printf 'block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_tim(us),aic_cube_ratio\n0,cube0,3,5000,1,0.3\n' >op/PipeUtilization.csv
told "import: tables of msprof op" \
  'op/PipeUtilization.csv:1:53: warning: column "aic_cube_tim(us)" is not known and has no effect; did you mean "aic_cube_time(us)"?' \
  import op

# ---- types of results, and of what the cube computes in ---------------------------------------
printf 'Name,Type,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats\n%s\n%s\n%s\n%s\n%s\n' \
  'a,SoftmaxV2,"100,512",FLOAT16,ND,"100,512",FLOAT,ND' 'b,SoftmaxV2,"100,256",FLOAT16,ND,"100,256",FLOAT,ND' \
  'c,ArgMaxV2,"100,64;1",FLOAT16;INT32,ND;ND,"100",INT32,ND' 'd,Relu,"64",FLOAT16,ND,"64",FLOAT16,ND' \
  'e,Conv2D,"2,1,28,28,16;9,1,16,16",FLOAT16;FLOAT16,NC1HWC0;FRACTAL_Z,"2,1,28,28,16",FLOAT,NC1HWC0' >results.csv
report "types of results that operators do not give are named once" "$(named results \
  'results.csv:2: warning: output type "FLOAT of SoftmaxV2" is not modelled and has no effect')"
report "and those of convolutions are taken" "$(
  grep -q 'conv2d .* dtype=fp16 out_dtype=fp32 ' results.o/op_summary.csv || cat results.o/op_summary.csv)"
printf 'Name,Type,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats\n' >hf32.csv
for told in YES NO N/A; do
  printf 'a,MatMulV2,%s,"64,64;64,64",FLOAT;FLOAT,ND;ND,"64,64",FLOAT,ND\n' $told
  printf 'b,Conv2D,%s,"2,2,28,28,8;18,1,16,8",FLOAT;FLOAT,NC1HWC0;FRACTAL_Z,"2,2,28,28,8",FLOAT,NC1HWC0\n' $told
done >>hf32.csv
run hf32
report "HF32 Eligible says in which type fp32 is computed" "$(expect 0 ''
  grep -o ' dtype=h*fp*32' hf32.o/op_summary.csv | paste -sd' ' - | tr -s ' ' |
    grep -qx ' dtype=hf32 dtype=hf32 dtype=fp32 dtype=fp32 dtype=fp32 dtype=hf32' || cat hf32.o/op_summary.csv)"

# ---- readers that refuse what nobody knows ----------------------------------------------------
# refused NAME FILE-OR-EMPTY TEXT COMMAND...: the first line on stderr has the text, and the program does not go on.
refused() {
  name=$1 text=$2
  shift 2
  keep "$vinci" "$@"
  report "$name" "$(case $(printf '%s\n' "$err" | head -n 1) in *"$text"*) ;; *) printf '%s\nwithout: %s\n' "$err" "$text" ;; esac
    [ "$code" -ne 0 ] || echo "exit code is 0")"
}
examples=$(cd "$srcdir/traces/examples" && pwd)
# with FILE LINE: the line has a further field.
with() { sed "$2s/\$/,nobody=1/" "$examples/$1"; }
printf 'trace,version=1\nkernel,name=tiny,arch=dav-c220,blocks=2\nstream,core=AIV\nscalar,cycles=7,nobody=1\n' >tiny.csv
refused "a trace" 'tiny.csv:4:17: error: scalar has no operand "nobody"' check tiny.csv $soc
with two_layers.graph.csv 3 >graph.csv
refused "a graph" 'a tensor row has no key nobody' net run graph.csv $flat
with data_parallel.job.csv 8 >job.csv
refused "a job" 'a work row has no key nobody' group run job.csv
sed '/^name,/s/$/,nobody/' "$examples/step.buckets.csv" >buckets.csv
refused "a table of gradients" 'unknown column "nobody"' group buckets buckets.csv -s atlas_a2_910b4
printf 'arrival_us,size,nobody\n0,1,3\n' >requests.csv
refused "requests" 'requests have the columns arrival_us and size, not "nobody"' \
  net serve "$examples/gears.graph.csv" $flat --gears=1,4 --requests=requests.csv
printf 'arrival_us,nobody\n0,1\n' >requests.csv
refused "a column in place of size" 'requests have the columns arrival_us and size, not "nobody"' \
  net serve "$examples/gears.graph.csv" $flat --gears=1,4 --requests=requests.csv
echo 'return { soc = "Ascend910B4", trace = "tiny.csv", nobody = 1, params = { { "l2.size", "48MiB" } } }' >study.lua
refused "a study" "unknown field 'nobody'" sweep run study.lua -o study.o
echo 'return { soc = "Ascend910B4", nobody = 1, points = { { name = "a", op = "add", shape = 64 } } }' >suite.lua
refused "a suite" "unknown field 'nobody' of the suite" gate list suite.lua
echo 'return { layers = 4, hidden = 64, heads = 4, vocab = 100, sequence = 64, global_batch = 4, nobody = 1 }' >model.lua
refused "a model of the planner" "model has no field 'nobody'" group plan model.lua -s atlas_a2_910b4 -n 8
printf '* total_nobody ignore\n' >policy.txt
echo 'return { soc = "Ascend910B4", points = { { name = "a", op = "add", shape = 64 } } }' >suite.lua
"$vinci" gate bless suite.lua -b base.csv -m new -q
refused "a policy" 'no point of the suite has a number that the rule is for' gate check suite.lua -b base.csv -p policy.txt
sed '/^[^#]/s/$/,nobody/' base.csv >wide.csv
refused "a baseline" 'the row of column names is missing' gate check suite.lua -b wide.csv
"$vinci" tune add shape=64 $flat -n 1 -q -r tunings.tsv
sed '1s/$/	nobody/' tunings.tsv >wide.tsv
refused "a repository of tunings" 'wide.tsv:1: error' tune add shape=64 $flat -n 1 -r wide.tsv
keep "$vinci" tune serve $soc <<'END'
{"ask":"space","op":"cumsum","args":{"shape":"8x16"},"nobody":1}
END
report "questions of other tuners" "$(expect 0 '' 'the question \"space\" has no key \"nobody\"')"
printf 'type,mean_us,n,nobody\nAdd,3,5,6\n' >costs.csv
told "host costs" 'costs.csv:1:16: warning: column "nobody" is not known and has no effect' \
  replay again.csv $flat --host-costs=costs.csv
printf '%s' '{"version":"1.0","status":"completed","server_count":"1","nobody":3,"server_list":[{"server_id":"a","device":[' \
  '{"device_id":"0","rank_id":"0"},{"device_id":"1","rank_id":"1"},{"device_id":"2","rank_id":"2"},{"device_id":"3","rank_id":"3"}]}]}' >ranks.json
told "a rank table" 'warning: ranks.json: not read: nobody (line 1)' \
  group run "$examples/data_parallel.job.csv" --rank-table=ranks.json -q
