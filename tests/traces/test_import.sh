#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci import: our own folders read back give the numbers of the run, logs and profiles of the vendor's
# tools those that were worked out by hand, unknown cells stay empty. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_import
plan 19

import() { keep "$vinci" import "$@"; }
# cell ROW: the cells of a row of --format=csv, divided by blanks; an empty cell is "-".
cells() { sed -n "s/^$1,[^,]*,//p" "$work/out" | sed 's/^,/-,/; s/,,/,-,/g; s/,$/,-/; s/,/ /g'; }
# row ROW CELLS
row() { [ "$(cells "$1")" = "$2" ] || printf '%s is "%s", not "%s"\n' "$1" "$(cells "$1")" "$2"; }

# round_trip WORDS...: pipes of the timeline against busy cycles of summary.json, a picosecond a slice; the
# tables against each other.
round_trip() {
  rm -rf "$work/run"
  "$vinci" compile "$@" $soc -o "$work/op.csv" &&
    "$vinci" run "$work/op.csv" $soc --quiet --output="$work/run" --timeline=msprof || return
  import "$work/run" "$work"/run/OPPROF_* --format=json
  expect 0 ""
  "$PYTHON" - "$work/out" "$work/run/summary.json" <<'END'
import json, sys
tables, timeline = json.load(open(sys.argv[1]))["sources"]
run = json.load(open(sys.argv[2]))
lanes = {"M": "cube", "V": "vec", "MTE1": "mte1", "MTE2": "mte2", "MTE3": "mte3", "FIX": "fixpipe"}
checked = 0
for side, kind in ("aic", "cubecore"), ("aiv", "veccore"):
    cores = [c for c in run["cores"] if kind in c["name"] and c["pipes"]["S"]["instructions"] > 0]
    for pipe, lane in lanes.items():
        have = timeline.get("%s_%s_us" % (side, lane))
        if not cores or have is None:
            continue
        cycles = sum(c["pipes"][pipe]["busy_cycles"] for c in cores)
        want = cycles / len(cores) / cores[0]["clock_hz"] * 1e6
        checked += cycles > 0
        if abs(have - want) > 1e-4:
            print("%s %s: %s us in the timeline, %s in the summary" % (side, pipe, have, want))
    if cores and abs(timeline[side + "_time_us"] - tables[side + "_time_us"]) > 1e-4:
        print("time of a core", side, timeline[side + "_time_us"], tables[side + "_time_us"])
if checked < 3:
    print("only %d pipes were compared" % checked)
if abs(tables["duration_us"] - run["duration_us"]) > 1e-3:
    print("duration", tables["duration_us"], run["duration_us"])
moved = {path: tables[path + "_bytes"] for path in ("GM->L1", "L0C->GM", "GM->UB", "UB->GM")}
for path, have in moved.items():
    if (have or 0) != run["bytes"].get(path, 0):
        print(path, have, run["bytes"].get(path))
if timeline["duration_us"] is not None or timeline["aic_scalar_us"] is not None:
    print("a timeline knows neither the launch nor the scalar unit")
END
}
report "folders of --timeline=msprof give the busy times of the run: cube, vector unit, both" "$(
  round_trip matmul m=512 k=512 n=512
  round_trip softmax shape=64x1000
  round_trip flash_attention heads=2 seq_q=256 head_dim=64)"

# A vector core that copies from tick 1000 to 1165 and from 1100 to 1330, waits, and computes from 1330 to 1396;
# a second one that computes for half of that. 1650 MHz: 165 ticks are 0.1 us.
mkdir "$work/dump"
cat >"$work/dump/core0.veccore0.instr_popped_log.dump" <<'END'
[info] [00001000] (PC: 0x10d0d32c) MTE2     : (Binary: 0x711cb788) MOV_OUT_TO_UB  Src:OUT, Dst:UB, XD:X14=0x2000,  id: 4
[info] [00001001] (PC: 0x10d0d400) VEC      : (Binary: 0x40a210bc) WAIT_FLAG  PIPE:MTE2, TRIGGER PIPE:VEC, FLAG ID:0,
[info] [00001100] (PC: 0x10d0d32c) MTE2     : (Binary: 0x711cb788) MOV_OUT_TO_UB  Src:OUT, Dst:UB, XD:X14=0x4000,  id: 5
[info] [00001000] (PC: 0x10d0d300) SCALAR   : (Binary: 0x02004880) (ID: 000124) MOV_XD_SPR XD:X0=0x106b9000,
[info] [00001330] (PC: 0x10d0d404) VEC      : (Binary: 0x80082700) VADD Dtype: F16
[info] [00001390] (PC: 0x10d0d408) VEC      : (Binary: 0x80082700) VADD Dtype: F16
END
cat >"$work/dump/core0.veccore0.instr_log.dump" <<'END'
[info] [00001033] (PC: 0x10d0d300) SCALAR   : (Binary: 0x02004880) (ID: 000124) MOV_XD_SPR XD:X0=0x106b9000,
[info] [00001165] (PC: 0x10d0d32c) MTE2     : (Binary: 0x711cb788) MOV_OUT_TO_UB  Src:OUT, Dst:UB, XD:X14=0x2000,  id: 4
[info] [00001330] (PC: 0x10d0d32c) MTE2     : (Binary: 0x711cb788) MOV_OUT_TO_UB  Src:OUT, Dst:UB, XD:X14=0x4000,  id: 5
[info] [00001330] (PC: 0x10d0d400) VEC      : (Binary: 0x40a210bc) WAIT_FLAG  PIPE:MTE2, TRIGGER PIPE:VEC, FLAG ID:0,
[info] [00001396] (PC: 0x10d0d404) VEC      : (Binary: 0x80082700) VADD Dtype: F16
END
sed -n 5p "$work/dump/core0.veccore0.instr_popped_log.dump" >"$work/dump/core0.veccore1.instr_popped_log.dump"
sed -n '5s/1396/1363/p' "$work/dump/core0.veccore0.instr_log.dump" >"$work/dump/core0.veccore1.instr_log.dump"
report "logs of the vendor's model: overlaps count once, waits and what was cut off do not" "$(
  import "$work/dump" $soc --format=csv
  expect 0 ""
  row aiv_total_cycles 429                   # 1396 - 1000 and 1363 - 1330
  row aiv_time 0.13                          # half of that at 1650 MHz
  row aiv_mte2 0.1                           # (1330 - 1000) / 2
  row aiv_vec 0.03                           # (66 + 33) / 2
  row aiv_scalar 0.01                        # 33 / 2
  row aiv_mte3 0.0
  row aic_cube ""
  row duration ""
  row 'GM->UB' "")"

mkdir "$work/prof"
cat >"$work/prof/op_summary_0.csv" <<'END'
Op Name,OP Type,Task Duration(us),Block Num,aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mte2_time(us),aiv_time(us),aiv_total_cycles
MatMulV2_1,MatMulV2,"10.5	",20,8.25,300000,4.125,6,N/A,N/A
"Add,1",Add,2.5,40,N/A,N/A,N/A,,2.25,90000
MatMulV2_2,MatMulV2,11.5,20,9.75,340000,4.375,7,N/A,N/A
END
report "a profile gives the mean of the rows of a name or type; what it does not know is empty" "$(
  import "$work/prof" --op=MatMulV2 --format=csv
  expect 0 ""
  row duration 11.0
  row blocks 20
  row aic_total_cycles 320000
  row aic_time 9.0
  row aic_cube 4.25
  row aic_mte2 6.5
  row aiv_time ""
  row aic_mte1 ""
  import "$work/prof/op_summary_0.csv" --op=Add,1 --format=csv
  row aic_mte2 ""
  row aiv_time 2.25)"

report "several sources stand side by side, as text too, and JSON has null for what is unknown" "$(
  import "$work/dump" "$work/prof" --op=MatMulV2 $soc --format=csv
  row aiv_vec "0.03 -"
  row aic_cube "- 4.25"
  import "$work/dump" "$work/prof" --op=MatMulV2 $soc
  expect 0 "" "[2] $work/prof: op_summary, MatMulV2, mean of 2 rows"
  grep -q '^aiv_vec  *us  *0\.030  *pipe V' "$work/out" || echo "$out"
  import "$work/prof" --op=Add --format=json
  expect 0 "" '"aic_time_us": null'
  expect 0 "" '"aiv_time_us": 2.25')"

printf '%s\n' '{"traceEvents":[{"name":"VADD","ph":"X","pid":"core0.veccore0","tid":"VECTOR","ts":1e1,"dur":0.5,' \
  '"args":{"code":"a\"}]"}},{"ph":"M"},{"name":"n","ph":"C","pid":"MTE","tid":0,"ts":9,"args":{"v":[1,-2.5e-3,null]}},' \
  '{"name":"WAIT_FLAG","ph":"X","pid":"core0.veccore0","tid":"VECTOR","ts":10.5,"dur":1.5}]}' >"$work/trace.json"
report "a timeline with escapes, exponents, counters and numbers in place of names" "$(
  import "$work/trace.json" --format=csv
  expect 0 ""
  row aiv_vec 0.5
  row aiv_time 2.0)"

report "a wrong line of a log is named with column and mend" "$(
  sed 's/(PC: 0x10d0d404)/PC 10d0d404/' "$work/dump/core0.veccore1.instr_log.dump" >"$work/line"
  mv "$work/line" "$work/dump/core0.veccore1.instr_log.dump"
  import "$work/dump" $soc
  expect 3 "$work/dump/core0.veccore1.instr_log.dump:1:19: error: expected a program counter such as (PC: 0x10d0d32c)
  [info] [00001363] PC 10d0d404 VEC      : (Binary: 0x80082700) VADD Dtype: F16
                    ^
hint: a line is \"[info] [TICK] (PC: 0x...) PIPE : (Binary: 0x...) INSTRUCTION\"; a dump that was cut short has to be made again"
  import "$work/dump"
  expect 2 "$work/dump: error: a dump has cycles, and times need the chip's clock
hint: name the chip with --soc-version=NAME"
  rm "$work/dump/core0.veccore1.instr_log.dump"
  import "$work/dump" $soc
  expect 2 "$work/dump/core0.veccore1.instr_log.dump: error: cannot read: No such file or directory")"

# bad TEXT MESSAGE: a profile with this text.
bad() {
  printf '%s\n' "$1" >"$work/bad.csv"
  import "$work/bad.csv"
  expect 3 "$work/bad.csv$2"
}
report "a wrong cell, row or header of a profile is named with line, column and mend" "$(
  bad 'Op Name,Duration(us)
"a,b",1.5x' ":2:7: error: column \"Duration(us)\" holds '1.5x', not a number
hint: leave the cell empty when the number is not known"
  bad 'Op Name,Duration(us)
a' ":2:1: error: the row has 1 fields and the header 2
hint: a field with a comma stands in quotes; a file that is cut short has to be exported again"
  bad 'Op Name,Time
a,1' ":1:1: error: the header has no column \"Task Duration(us)\" or \"Duration(us)\"
hint: known are op_summary*.csv, kernel_details.csv, op_statistic*.csv, task_time*.csv and \
operator_details.csv, and folders of 'msprof op' and of vinci"
  bad 'Op Name,Duration(us)' ":1: error: the table has a header and no rows"
  bad 'Op Name,Duration(us)
a,"1' ":3: error: a quote is not closed
hint: a file that is cut short has to be exported again"
  bad 'Name,Type,Duration(us)
a,Add,1
b,Mul,2' ": error: the profile has 2 rows, of which one is wanted
hint: --op=NAME chooses rows by name or type, such as Add"
  bad 'OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
MatMulV2,AI_CORE,0,45211.2,12.1,161.5,900.1,61.2' ': error: the row has 0 launches ("Count")'
  bad 'Name,Type,Duration(us)
a,Add,1
b,Mul,2' ": error: the profile has 2 rows, of which one is wanted
hint: --op=NAME chooses rows by name or type, such as Add"
  import "$work/bad.csv" --op=Mull
  expect 3 "$work/bad.csv: error: no row is called 'Mull'
hint: did you mean 'Mul'?")"

# broken TEXT MESSAGE: a timeline with this text.
broken() {
  printf '%s' "$1" >"$work/broken.json"
  import "$work/broken.json"
  expect 3 "$work/broken.json$2"
}
report "a wrong place of a timeline is named with line, column and mend" "$(
  broken '{"traceEvents":[
{"ph":"X","pid":"core0.veccore0","tid":"VECTOR","ts":1,"dur":-1}]}' ":2:62: error: expected a time in us that is not negative
  \"ph\":\"X\",\"pid\":\"core0.veccore0\",\"tid\":\"VECTOR\",\"ts\":1,\"dur\":-1}]}
                                                              ^
hint: a file that was cut short has to be made again"
  broken '{"traceEvents":[{"ph":"X"' ":1:26: error: the text ends, where a comma or } is expected
  {\"traceEvents\":[{\"ph\":\"X\"
                           ^
hint: a file that was cut short has to be made again"
  broken '{"traceEvents":[{"ph":"X","pid":"core0.veccore0"}]}' ":1:17: error: expected keys ts and dur in this slice
  {\"traceEvents\":[{\"ph\":\"X\",\"pid\":\"core0.veccore0\"}]}
                  ^
hint: a file that was cut short has to be made again"
  broken '{"traceEvents":[{"ph":"X","pid":"core0.veccore0","ts":1e13,"dur":1e13}]}' ":1:17: error: expected a slice that ends within 1.8e13 us
  {\"traceEvents\":[{\"ph\":\"X\",\"pid\":\"core0.veccore0\",\"ts\":1e13,\"dur\":1e13}]}
                  ^
hint: a file that was cut short has to be made again"
  broken '{"traceEvents":[]}' ": error: the timeline has no slices of cores such as core0.veccore0
hint: take simulator/trace.json, which has all cores by name")"

mkdir "$work/empty"
report "a path that is not there, and a folder with nothing to import" "$(
  import "$work/none"
  expect 2 "$work/none: error: cannot read: No such file or directory"
  import "$work/empty"
  expect 3 "$work/empty: error: is a folder without a profile: neither kernel_details*.csv nor op_summary*.csv
hint: give the file itself; folders with PipeUtilization.csv, simulator/trace.json, core*.dump or dump/ are read, too"
  import
  expect 2 "error: nothing to import
hint: give result folders of vinci, OPPROF_* folders, folders of dumps or profiles"
  import "$work" --format=xml
  expect 2 "error: --format is text, csv or json, not 'xml'")"

# Tables of the profilers that know durations alone. A row of op_statistic stands for all launches of its type.
cat >"$work/op_statistic.csv" <<'END'
Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
0,MatMulV2,AI_CORE,280,45211.2,12.1,161.5,900.1,61.2
0,Add,AI_VECTOR_CORE,90,1200.1,2.1,13.3,40.0,1.6
0,Add,AI_CORE,10,203.0,2.1,20.3,40.0,1.6
END
import "$work/op_statistic.csv" --op=Add --format=csv
report "sums of a profile by type: the mean over all launches" "$(expect 0 ''; row duration 14.0)"
import "$work/op_statistic.csv" --op=Add
report "how many launches there were" "$(expect 0 '' 'op_statistic, Add, mean of 100 rows')"
printf 'Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n%s\n' \
  '0,fused_0,MIX_AIC,46,0,456.280,1789000000007000.205	,1789000000007456.485	' >"$work/task_time.csv"
import "$work/task_time.csv" --format=csv
report "times of tasks" "$(expect 0 ''; row duration 456.28)"
printf '%s,%s\n%s\n' 'Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us)' \
  'Device Self Duration(us),Device Total Duration(us)' \
  'aten::mm,"[[512, 1024], [1024, 256]]",,33.1,40.2,12.1,12.5' >"$work/operator_details.csv"
import "$work/operator_details.csv" --format=csv
report "operators of the framework" "$(expect 0 ''; row duration 12.5)"
cat "$work/op_statistic.csv" "$work/op_statistic.csv" >"$work/twice.csv"
import "$work/twice.csv" --op=MatMulV2
report "a table behind another has its header again" "$(expect 0 '' 'MatMulV2, mean of 560 rows')"

# Timelines of whole profiles: a list of events, or an object; metadata may stand last, times may be texts.
profile=$work/host_ascend_pt/ASCEND_PROFILER_OUTPUT
mkdir -p "$profile"
cat >"$profile/trace_view.json" <<'END'
[{"name":"aten::mm","ph":"X","pid":1,"tid":1,"ts":"1690000000000100.000","dur":80.5,"args":{"Input Dims":[[2,4],[4,2]]}},
{"name":"aclnnMatmul_MatMulV2_MatMulV2","ph":"X","pid":31,"tid":2,"ts":"1690000000000123.456","dur":12.5,"args":{"Task Type":"AI_CORE"}},
{"name":"aclnnMatmul_MatMulV2_MatMulV2","ph":"X","pid":31,"tid":2,"ts":"1690000000000223.456","dur":"13.5","args":{"Task Type":"AI_CORE"}},
{"name":"aclnnAdd_AddAiCore_Add","ph":"X","pid":31,"tid":2,"ts":"1690000000000323.456","dur":2.25,"args":{"Task Type":"AI_VECTOR_CORE"}},
{"name":"MatMulV2","ph":"X","pid":1,"tid":1,"ts":"1690000000000100.000","dur":900},
{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"Python"}},
{"name":"process_name","ph":"M","pid":31,"tid":0,"args":{"name":"Ascend Hardware"}}]
END
import "$profile/trace_view.json" --op=MatMulV2 --format=csv
report "the timeline of a profile: mean of the tasks of a type, of the device alone" "$(expect 0 ''; row duration 13.0)"
import "$profile/trace_view.json" --op=aclnnAdd_AddAiCore_Add
report "a task by name" "$(expect 0 '' 'timeline of a profile, aclnnAdd_AddAiCore_Add'; grep -q '^duration  *us  *2\.250 ' "$work/out" || echo "$out")"
{ printf '{"traceEvents":'; cat "$profile/trace_view.json"; printf '}'; } >"$work/msprof_1.json"
import "$work/msprof_1.json" --op=MatMulV2
report "the same in an object" "$(expect 0 '' 'MatMulV2, mean of 2 rows')"
report "a timeline of a profile that does not say which task is meant" "$(
  import "$profile/trace_view.json"
  expect 3 "$profile/trace_view.json: error: the timeline has 3 tasks of the device, of which one is wanted
hint: --op=NAME chooses tasks by name or type, such as aclnnAdd_AddAiCore_Add"
  import "$profile/trace_view.json" --op=aclnnAdd_AddAiCore
  expect 3 "$profile/trace_view.json: error: no task of the device is called 'aclnnAdd_AddAiCore'
hint: did you mean 'aclnnAdd_AddAiCore_Add'?"
  sed 's/"dur":12.5/"dur":-1/' "$profile/trace_view.json" >"$work/minus.json"
  import "$work/minus.json" --op=Add
  [ "$code" = 3 ] && grep -q 'minus.json:2:.* expected a time in us that is not negative' "$work/err" || echo "$err"
  sed 's/"dur":12.5,//' "$profile/trace_view.json" >"$work/without.json"
  import "$work/without.json" --op=Add
  [ "$code" = 3 ] && grep -q 'without.json:2:1: error: expected the key dur in this slice' "$work/err" || echo "$err")"
shapes="has a row for each launch, with shapes"
report "shapes stand elsewhere: lists say where" "$(
  for verb in "run --ops" replay; do
    # shellcheck disable=SC2086
    keep "$vinci" $verb "$profile/trace_view.json" $soc
    expect 3 "$profile/trace_view.json: error: a timeline, not a list of operators
hint: it has times without shapes, which 'vinci import' reads; kernel_details.csv or op_summary*.csv of the same profile $shapes"
  done
  import "$work/host_ascend_pt"
  [ "$code" = 3 ] && grep -q "'vinci import .*trace_view.json' reads times" "$work/err" || echo "$err"
  printf 'Name,Type,Duration(us)\n' >"$profile/kernel_details.csv"
  (cd "$profile" && "$vinci" run --ops trace_view.json $soc 2>&1) | grep -qF "; ./kernel_details.csv $shapes" ||
    echo "the table beside is not named")"
