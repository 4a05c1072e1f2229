#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci run --ops --sequence: what a row of a profile finds in L2, by what the rows before have left.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4 # an L2 of 96 MiB

work_folder test_sequence
plan 32

header='Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats'
mib=1048576

# list NAME ROW...: a profile of rows NAME|TYPE|CORE|START|DURATION|INPUTS|TYPES|OUTPUTS|TYPES.
list() {
  name=$1
  shift
  {
    printf '%s\n' "$header"
    for row; do
      printf '%s\n' "$row" | awk -F'|' -v q='"' '{
        print $1 "," $2 "," $3 "," $4 "," $5 "," q $6 q "," $7 ",ND," q $8 q "," $9 ",ND" }'
    done
  } >"$work/$name.csv"
}

# run NAME ARGUMENT...: the list in its order; $table.
run() {
  name=$1
  shift
  keep "$vinci" run --ops "$work/$name.csv" --sequence --output="$work/$name" $soc "$@"
  table=$work/$name/op_summary.csv
}

# cell ROW COLUMN: of the table, whose cells may be quoted.
cell() {
  awk -v row="$1" -v column="$2" '
    function split_line(line,  i, c, n, inside) {
      n = 1
      for (i in cells)
        delete cells[i]
      for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"")
          inside = !inside
        else if (c == "," && !inside)
          n++
        else
          cells[n] = cells[n] c
      }
      return n
    }
    NR == 1 { count = split_line($0); for (i = 1; i <= count; i++) if (cells[i] == column) wanted = i }
    NR == row + 1 { split_line($0); print cells[wanted] }' "$table"
}

# is ROW COLUMN VALUE: the problem when the table says something else.
is() {
  value=$(cell "$1" "$2")
  [ "$value" = "$3" ] || echo "$2 of row $1 is '$value', not '$3'"
}

# faster A B: the problem when row A of the last table takes no less time than row B.
faster() {
  a=$(cell "$1" sim_duration_us)
  b=$(cell "$2" sim_duration_us)
  awk -v a="$a" -v b="$b" 'BEGIN { exit !(a < b) }' || echo "row $1 takes $a us, row $2 takes $b us"
}

relu() { # relu NAME START INPUT OUTPUT: of fp16
  echo "$1|Relu|AI_VECTOR_CORE|$2|10|$3|FLOAT16|$4|FLOAT16"
}

# ---- a producer and its reader ------------------------------------------------------------------
list pair "$(relu a 100 2048,2048 2048,2048)" "$(relu b 110 2048,2048 2048,2048)"
run pair
report "a pair runs" "$(expect 0 '' 'of 0.017 GB that the rows read, 50.0 % were there')"
report "the first row finds nothing" "$(is 1 l2_found_bytes 0
  is 1 l2_input_bytes $((8 * mib))
  is 1 l2_from '1: not seen'
  is 1 l2_start sequence)"
report "its reader finds all of its output" "$(is 2 l2_found_bytes $((8 * mib))
  is 2 l2_from "1: $((8 * mib)) of $((8 * mib)), written by row 1"
  faster 2 1)"
report "rows that follow at once start at the end of the row before" "$(is 1 sim_began_at_us 0.000
  is 2 sim_began_at_us "$(cell 1 sim_duration_us)")"

# ---- a view, another type, another size ------------------------------------------------------------
list views "$(relu a 100 2048,2048 2048,2048)" "$(relu b 110 4,1024,1024 4,1024,1024)" \
  "c|Relu|AI_VECTOR_CORE|120|10|2048,1024|FLOAT|2048,1024|FLOAT" "$(relu d 130 1024,1024 1024,1024)"
run views
report "another shape of as many bytes is the same tensor" "$(is 2 l2_found_bytes $((8 * mib)))"
report "another type is not" "$(is 3 l2_from '1: not seen')"
report "nor is another size" "$(is 4 l2_from '1: not seen')"

# ---- order -------------------------------------------------------------------------------------------
list order "$(relu a 100 1024,1024 1024,1024)" "$(relu big 110 16384,4096 16384,4096)" \
  "b|Add|AI_VECTOR_CORE|120|10|1024,1024;1024,1024|FLOAT16;FLOAT16|1024,1024|FLOAT16"
run order
report "256 MiB between them throw the output out" "$(is 3 l2_found_bytes 0
  case $(cell 3 l2_from) in
  *'0 of 2097152, written by row 1'*) ;;
  *) echo "l2_from is '$(cell 3 l2_from)'" ;;
  esac)"
list near "$(relu big 100 16384,4096 16384,4096)" "$(relu a 110 1024,1024 1024,1024)" \
  "b|Add|AI_VECTOR_CORE|120|10|1024,1024;1024,1024|FLOAT16;FLOAT16|1024,1024|FLOAT16"
run near
report "before it they do not" "$(case $(cell 3 l2_from) in
  *"$((2 * mib)) of $((2 * mib)), written by row 2"*) ;;
  *) echo "l2_from is '$(cell 3 l2_from)'" ;;
  esac)"

# ---- before the first row ----------------------------------------------------------------------------
# What was written before the profile has to be written back where a row needs the room.
list begin "$(relu big 100 16384,2048 16384,2048)"
run begin
full=$(cell 1 sim_duration_us)
keep "$vinci" run --ops "$work/begin.csv" --l2=empty --output="$work/begin_empty" $soc
table=$work/begin_empty/op_summary.csv
report "a profile begins with an L2 full of what was written before" "$(
  awk -v full="$full" -v empty="$(cell 1 sim_duration_us)" 'BEGIN {
    if (!(full > 1.3 * empty)) print full " us, " empty " us with an empty L2" }')"

# ---- rows that are not simulated ---------------------------------------------------------------------
list unknown "x|MyOwn|AI_VECTOR_CORE|100|50|2048,2048|FLOAT16|2048,2048|FLOAT16" \
  "$(relu b 160 2048,2048 2048,2048)"
run unknown
report "an unknown operator leaves its output and takes its time" "$(is 2 l2_found_bytes $((8 * mib))
  is 1 status "unsupported: no operator stands for 'MyOwn'"
  is 2 sim_began_at_us 60.000)"
list flood "$(relu a 100 1024,1024 1024,1024)" \
  "x|MyOwn|AI_VECTOR_CORE|110|1000|16384,4096|FLOAT16|16384,4096|FLOAT16" \
  "$(relu b 1110 1024,1024 1024,1024)"
run flood
report "its tensors push others out" "$(is 3 l2_found_bytes 0
  is 3 l2_from "1: 0 of $((2 * mib)), written by row 1")"
list short "$(relu a 100 1024,1024 1024,1024)" \
  "x|MyOwn|AI_VECTOR_CORE|110|1|16384,4096|FLOAT16|16384,4096|FLOAT16" \
  "$(relu b 111 1024,1024 1024,1024)"
run short
report "as far as its time allows" "$(is 3 l2_found_bytes $((2 * mib)))"
list beside "$(relu a 100 1024,1024 1024,1024)" "hcom|hcom_allReduce_|COMMUNICATION|105|500|N/A|N/A|N/A|N/A" \
  "$(relu b 110 1024,1024 1024,1024)"
run beside
report "communication runs beside the cores" "$(is 3 sim_began_at_us "$(cell 1 sim_duration_us)"
  is 2 sim_began_at_us 5.000)"

# 160 MiB written leave L2 full of dirty lines; a kernel that only reads waits for their way back.
norm='n|LpNormV2|AI_VECTOR_CORE|2000|10|4194304|FLOAT||FLOAT'
list dirty "z|ZerosLike|AI_VECTOR_CORE|100|100|41943040|FLOAT|41943040|FLOAT" "$norm" \
  "z|ZerosLike|AI_VECTOR_CORE|3000|100|41943040|FLOAT|41943040|FLOAT" \
  "hcom|hcom_allReduce_|COMMUNICATION|3200|5|N/A|N/A|N/A|N/A" "$norm"
run dirty
report "communication has dirty lines written back, a pause does not" "$(faster 5 2)"

# ---- tensors -------------------------------------------------------------------------------------------
list place "z|ZerosLike|AI_VECTOR_CORE|100|10|1024,1024|FLOAT|1024,1024|FLOAT" \
  "g|Cast|AI_VECTOR_CORE|110|10|1024,1024|FLOAT16|1024,1024|DT_BF16" \
  "s|Add|AI_VECTOR_CORE|120|10|1024,1024;1024,1024|FLOAT;DT_BF16|1024,1024|FLOAT" \
  "r|Relu|AI_VECTOR_CORE|130|10|1024,1024|FLOAT|1024,1024|FLOAT"
run place
report "what fills a tensor reads nothing" "$(is 1 l2_input_bytes 0
  is 1 l2_from '')"
report "a sum of two types is written in place" "$(is 3 l2_overwritten_bytes 0
  is 4 l2_from "1: $((4 * mib)) of $((4 * mib)), written by row 3")"
list layers \
  "m|MatMulV3|AI_CORE|100|10|512,512;512,512|DT_BF16;DT_BF16|512,512|DT_BF16" \
  "m|MatMulV3|AI_CORE|110|10|512,512;512,512|DT_BF16;DT_BF16|512,512|DT_BF16"
run layers
report "a layer has a weight of its own" "$(case $(cell 2 l2_from) in
  *'written by row 1; 2: not seen') ;;
  *) echo "l2_from is '$(cell 2 l2_from)'" ;;
  esac)"
list linear "x|Relu|AI_VECTOR_CORE|100|10|512,256|DT_BF16|512,256|DT_BF16" \
  "y|MatMulV3|AI_CORE|110|10|512,256;128,256|DT_BF16;DT_BF16|512,128|DT_BF16" \
  "loss|Relu|AI_VECTOR_CORE|120|10|512,128|DT_BF16|512,128|DT_BF16" \
  "dx|MatMulV3|AI_CORE|130|10|512,128;128,256|DT_BF16;DT_BF16|512,256|DT_BF16" \
  "dw|MatMulV3|AI_CORE|140|10|512,128;512,256|DT_BF16;DT_BF16|128,256|DT_BF16"
run linear
report "the gradient of a layer's input takes its weight" "$(
  is 4 l2_from '1: 131072 of 131072, written by row 3; 2: 65536 of 65536, read by row 2')"
report "the gradient of its weight takes its input, not the other gradient" "$(
  is 5 l2_from '1: 131072 of 131072, read by row 4; 2: 262144 of 262144, read by row 2')"
list grad "$(relu pre 100 512,1024 512,1024)" \
  "n|RmsNorm|AI_VECTOR_CORE|110|10|512,1024;1024|FLOAT16;FLOAT16|512,1024;512,1|FLOAT16;FLOAT" \
  "$(relu post 120 512,1024 512,1024)" "$(relu loss 130 512,1024 512,1024)" \
  "g|RmsNormGrad|MIX_AIV|140|10|512,1024;512,1024;512,1;1024|FLOAT16;FLOAT16;FLOAT;FLOAT16|512,1024;1024|FLOAT16;FLOAT"
run grad
report "a gradient takes what its forward row has read and written" "$(
  is 5 l2_from "1: $mib of $mib, written by row 4; 2: $mib of $mib, read by row 2; 3: 2048 of 2048, written by row 2; 4: 2048 of 2048, read by row 2")"

list reuse "$(relu a 100 2048,2048 2048,2048)" "$(relu b 110 2048,2048 2048,2048)" \
  "$(relu c 120 2048,2048 2048,2048)"
run reuse
report "a result that takes the memory of a tensor that is gone" "$(is 2 l2_overwritten_bytes 0
  is 3 l2_overwritten_bytes $((8 * mib))
  is 3 l2_found_bytes $((8 * mib)))"
list huge "x|MyOwn|AI_VECTOR_CORE|100||4000000000,4000|FLOAT|4000000000,4000|FLOAT" \
  "$(relu b 110 1024,1024 1024,1024)"
run huge
report "tensors beyond device memory do not count" "$(expect 0 -
  is 1 l2_input_bytes 0)"

# ---- both models of memory, twice the same ------------------------------------------------------------
run pair --memory=cycle
report "cycle memory carries L2 as well" "$(is 2 l2_found_bytes $((8 * mib))
  faster 2 1)"
run grad
cp "$table" "$work/first.csv"
run grad
report "the same list gives the same bytes" "$(cmp "$work/first.csv" "$table" 2>&1)"

# ---- a kernel_details.csv as it is ----------------------------------------------------------------------
{
  echo 'Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats'
  printf '13,0,a,Relu,AI_VECTOR_CORE,1764246877073569.640\t,10.5,0,40,"""1024,1024""",FLOAT16,ND,"""1024,1024""",FLOAT16,ND\n'
  printf '13,0,b,Relu,AI_VECTOR_CORE,1764246877073680.140\t,10.5,0,40,"""1024,1024""",FLOAT16,ND,"""1024,1024""",FLOAT16,ND\n'
} >"$work/details.csv"
run details
report "start times of the profiler's clock: a gap of 100 us" "$(is 2 l2_found_bytes $((2 * mib))
  awk -v a="$(cell 1 sim_duration_us)" -v b="$(cell 2 sim_began_at_us)" \
    'BEGIN { d = b - a - 100; exit !(d < 0.002 && d > -0.002) }' || echo "the gap is another")"

# ---- refusals ---------------------------------------------------------------------------------------------
printf 'Type,Input Shapes,Input Data Types\nRelu,"16",FLOAT16\n' >"$work/inputs.csv"
run inputs
report "no outputs" "$(expect 3 "$work/inputs.csv: error: the profile has no column \"Output Shapes\", which a sequence needs
hint: the profiler's kernel_details.csv has all that a sequence needs")"
list late "$(relu a soon 1024,1024 1024,1024)"
run late
report "a start that is not a time" "$(expect 3 - | cat
  case $err in
  *":2:"*": error: 'soon' is not a start time in microseconds"*) ;;
  *) echo "$err" ;;
  esac)"
keep "$vinci" run --ops "$work/pair.csv" --sequence --output="$work/none" -s Ascend999
report "a chip that is not there" "$(expect 2 - | cat
  case $err in
  *Ascend999*) ;;
  *) echo "$err" ;;
  esac)"
run pair --l2=warm
report "a state of L2" "$(expect 2 "error: a sequence takes no state of L2: L2 holds what the rows before have left")"
run pair --jobs=2
report "jobs" "$(expect 2 "error: --sequence runs one operator after the other; leave out --jobs")"
keep "$vinci" run copy shape=64 --sequence $soc
report "no list" "$(expect 2 'error: --sequence needs --ops=LIST')"
