#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program from the outside: options, messages, exit codes, what goes to stdout and stderr.
# $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
. "$srcdir/tests/support/await.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4
example=$srcdir/traces/examples/add1_tile20480.csv

work_folder test_cli

cat >"$work/tiny.csv" <<'END'
trace,version=1
kernel,name=tiny,arch=dav-c220,blocks=2
tensor,name=x,dtype=fp16,shape=2048,io=in
buffer,name=xbuf,space=UB,address=0,size=2048
stream,core=AIV
copy_gm_to_ubuf,dst=xbuf,src=x+2048*blk,len_burst=64
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
END
sed '/^set_flag/d' "$work/tiny.csv" >"$work/hangs.csv"
cat >"$work/racy.csv" <<'END'
trace,version=1
kernel,name=tiny,arch=dav-c220,blocks=2
tensor,name=x,dtype=fp16,shape=2048,io=in
buffer,name=xbuf,space=UB,address=0,size=2048
stream,core=AIV
copy_gm_to_ubuf,dst=xbuf,src=x+2048*blk,len_burst=64
vadds,dst=4096,src=xbuf,scalar=1,repeat=1,type=fp16
END
sed 's/^wait_flag/wait_flga/' "$work/tiny.csv" >"$work/misspelt.csv"
cat >"$work/endless.csv" <<'END'
trace,version=1
kernel,name=endless,arch=dav-c220,blocks=1
stream,core=AIV
loop,i,1000000000000
scalar,cycles=1
endloop
END

# Keeps stdout, stderr and exit code.
run() { keep "$vinci" "$@"; }

# Without the part of summary.json that may differ between two runs.
without_host() { sed '/^  "host": /d' "$1"; }

plan 104

# ---- words -----------------------------------------------------------------------------
run
report "no verb: usage on stderr" "$(expect 2 - ; [ -z "$out" ] || echo "stdout: $out")"
run --help
report "--help lists the verbs on stdout" "$(expect 0 '' '  check        Read traces')"
run --version
report "--version names program and model" "$(expect 0 '' ' (model revision ')"
run help run
help_out=$out
report "help VERB" "$(expect 0 '' 'usage: vinci run TRACE... | OP KEY=VALUE... | LIBRARY:KERNEL [OPTION]...')"
run run --help
report "VERB --help says the same" "$([ "$out" = "$help_out" ] || echo "$out")"
report "testing options are not in the help" "$(printf '%s\n' "$out" | grep shuffle)"
run rnu
report "misspelt verb" "$(expect 2 "error: unknown verb 'rnu'
hint: did you mean 'vinci run'?")"
run frobnicate
report "a verb that does not exist" "$(expect 2 - | cat; printf '%s\n' "$err" |
  grep -q "^error: unknown verb 'frobnicate'" || echo "$err")"
run --verbose
report "unknown option before the verb" "$(expect 2 "error: unknown option '--verbose'
hint: 'vinci --help' lists the verbs and options")"
run help compose
report "help of an unknown verb" "$(expect 2 -)"

# ---- options ---------------------------------------------------------------------------
run run --jsn x.csv
report "misspelt option" "$(expect 2 "error: unknown option '--jsn'
hint: did you mean '--json'?")"
run run --out=x x.csv
report "the beginning of an option" "$(expect 2 "error: unknown option '--out'
hint: did you mean '--output'?")"
run run -x
report "unknown letter" "$(expect 2 "error: unknown option '-x'
hint: 'vinci run --help' lists the options")"
run gate check --zzzz x.lua
report "unknown option of a command of a verb" "$(expect 2 "error: unknown option '--zzzz'
hint: 'vinci gate check --help' lists the options")"
run run --json=yes x.csv
report "value for a flag" "$(expect 2 'error: --json takes no value')"
run run "$example" --output --json
report "missing value" "$(expect 2 'error: --output needs a value: --output=DIR')"
run run "$example" --max-cycles=1e9
report "not a number" "$(expect 2 "error: --max-cycles takes a whole number from 1 to \
18446744073709551615, not '1e9'")"
run run "$example" --timeout=2881
report "number out of range" "$(expect 2 "error: --timeout takes a whole number from 1 to 2880, \
not '2881'")"
run run $soc
report "no trace" "$(expect 2 'error: no trace given')"
run run $soc ''
report "a trace without a name" "$(expect 2 "error: the name of a trace is empty
hint: '-' reads standard input")"
run check $soc ''
report "check of a trace without a name" "$(expect 2 "error: the name of a trace is empty
hint: '-' reads standard input")"
run run "$example"
report "no chip" "$(expect 2 "error: which chip? Its name is missing
hint: --soc-version=NAME names the chip; 'vinci soc list' shows the names")"
run run "$example" --soc-version Ascend910X1
report "unknown chip" "$(expect 2 - ; printf '%s\n' "$err" |
  grep -q "^error: unknown SoC 'Ascend910X1'" || echo "$err")"
run run "$example" $soc --set=l2.siez=96MiB
report "unknown number" "$(expect 2 - ; printf '%s\n' "$err" | grep -q 'l2\.size' || echo "$err")"
run run -q -s Ascend910B4 -- "$work/tiny.csv"
report "letters, and -- before arguments" "$(expect 0 ''; [ -z "$out" ] || echo "$out")"

# ---- check -----------------------------------------------------------------------------
run check $soc "$work/tiny.csv"
report "check says ok" "$(expect 0 '' 'ok: 1 kernel, 3 rows')"
run check $soc "$work/tiny.csv" "$example"
report "check of several traces names them" "$(expect 0 '' "$work/tiny.csv: ok: 1 kernel, ")"
run check $soc "$work/misspelt.csv" "$work/tiny.csv"
report "check goes on after a rejected trace" "$(expect 3 - "$work/tiny.csv: ok: "
  printf '%s\n' "$err" | grep -q "^$work/misspelt.csv:8:.*wait_flga" || echo "$err")"
run check $soc "$work/tiny.csv" --normalize="$work/normal.csv"
run check $soc "$work/normal.csv" --normalize=-
report "canonical form reads back the same" "$(expect 0 ''
  printf '%s\n' "$out" | diff - "$work/normal.csv")"
run check $soc "$work/tiny.csv" "$example" --normalize="$work/n.csv"
report "--normalize takes one trace" "$(expect 2 'error: --normalize takes one trace, not 2')"
run check $soc "$work/tiny.csv" --normalize="$work/none/n.csv"
report "a canonical form that cannot be written" "$(expect 2 "$work/none/n.csv: error: cannot \
write the trace: No such file or directory")"
run check $soc - <"$work/tiny.csv"
report "check of standard input" "$(expect 0 '' 'ok: 1 kernel')"

run check $soc "$work/racy.csv"
report "check reports a race and exits 5" "$(expect 5 "error: $work/racy.csv: the checks found 1 error" \
  '====== ERROR: Potential RAW hazard detected at UB in tiny:')"
run check $soc "$work/racy.csv" -t memcheck -t synccheck
report "checks are chosen with -t" "$(expect 0 '' 'ok: 1 kernel')"
run check $soc "$work/racy.csv" -t racechek
report "a misspelt check" "$(expect 2 "error: --tool takes memcheck, racecheck, initcheck or \
synccheck, not 'racechek'
hint: did you mean 'racecheck'?")"
run check $soc "$work/racy.csv" "$work/tiny.csv" --json --output="$work/checked"
report "check.json of several traces" "$(expect 5 - '"kind": "raw"'
  grep -q '"errors": 1' "$work/checked/racy/check.json" || echo "no check.json of racy"
  grep -q '"errors": 0' "$work/checked/tiny/check.json" || echo "no check.json of tiny")"
run check $soc "$work/racy.csv" --json --normalize=-
report "one standard output for two things" "$(expect 2 \
  'error: --json and --normalize=- both need standard output')"
run check $soc "$work/hangs.csv"
report "check tells of a hang" "$(expect 5 - '====== ERROR: Deadlock detected in tiny')"
run run $soc "$work/racy.csv" --check
report "run --check does not simulate what is wrong" "$(expect 5 - '====== SUMMARY: 1 error')"
run run $soc "$work/tiny.csv" --check --json --output="$work/good"
report "run --check of what is right" "$(expect 0 '' '"total_cycles"'
  grep -q '"errors": 0' "$work/good/check.json" || echo "no check.json")"

# ---- soc -------------------------------------------------------------------------------
mkdir -p "$work/empty/soc" "$work/data"
run soc validate --data="$work/empty"
report "validate without a SoC" "$(expect 2 "error: there is no SoC in '$work/empty/soc'")"
cp -r "$srcdir/scripts/soc" "$srcdir/scripts/mem" "$srcdir/scripts/noc" "$work/data"
chmod -R u+w "$work/data"
cat >"$work/data/soc/Noted.lua" <<'END'
return soc {
  name = "Noted", base = "Ascend910B4", description = "a\027[2Jb",
  l2 = { size = num(96 * MiB, "B", "INI", "assumed", "c\rd\u{9b}e") },
}
END
run soc show Noted --data="$work/data"
report "control characters of a description are shown" "$(expect 0 '' 'Noted: a\x1b[2Jb
'; printf '%s\n' "$out" | grep -q '^? l2\.size .*  c\\x0dd\\xc2\\x9be$' || echo "$out" | grep l2)"

run soc show Ascend910B4 --set noc.topology=ring --set memory.timing.RP=20
report "show tells names and numbers of the memory, and what was changed" "$(expect 0 '' '! noc.topology  ring '
  for line in '^? memory.timing.CL ' '^! memory.timing.RP .* 20 cycle  override' '^  memory.name   hbm2e_3200 '; do
    printf '%s\n' "$out" | grep -q "$line" || echo "no line $line"
  done)"
run soc show Ascend910B4 hbm.bandwidth_scale l2.policy memory.timing.CL
report "show tells a few numbers and names, and their sources" "$(expect 0 ''
  [ "$(printf '%s\n' "$out" | sed 's/^..//; s/ .*//' | tr '\n' ' ')" = \
    'l2.policy hbm.bandwidth_scale memory.timing.CL  urces: MOP  urces RAM ' ] || echo "$out")"
run soc show Ascend910B4 path.GM_UB l2.sise
report "show with a key that is not there" "$(expect 2 "error: Ascend910B4 has no number and no name 'l2.sise'
hint: did you mean 'l2.size'?")"
run soc show Ascend910B4 path.GM_UB --json
report "show tells a group of numbers as JSON" "$(expect 0 '' '"path.GM_UB.startup_cycles": {'
  case $out in *path.GM_L1* | *l2.size* | *l2.policy*) echo "more than the group: $out" ;; esac)"
run soc diff Ascend910B1 Ascend910A
report "diff tells them too" "$(expect 0 '' 'memory.name                              hbm2e_3200         hbm2_910
'; printf '%s\n' "$out" | grep -q '^memory.timing.CL ' || echo "no timing")"

# ---- run -------------------------------------------------------------------------------
run run "$work/tiny.csv" $soc
report "run prints the report" "$(expect 0 '' 'tiny on Ascend910B4: 2 blocks, ')"
run run "$work/tiny.csv" $soc --json --output="$work/results/one"
report "--json prints summary.json" "$(expect 0 '' '"kernel": "tiny"'
  diff "$work/out" "$work/results/one/summary.json")"
report "--output writes the folder" "$(for name in ArithmeticUtilization.csv Memory.csv \
  OpBasicInfo.csv PipeUtilization.csv critical.csv hotspots.csv summary.json trace.pftrace; do
  [ -s "$work/results/one/$name" ] || echo "$name is missing or empty"
done; find "$work/results/one" -name "*.part")"
mkdir "$work/elsewhere"
(cd "$work/elsewhere" && cp ../tiny.csv . && "$(case $vinci in
  /*) echo "$vinci" ;;
  *) echo "$OLDPWD/$vinci" ;;
esac)" run tiny.csv $soc --json --shuffle-parts=7 >../shuffled.json 2>&1)
without_host "$work/out" >"$work/first"
report "the same elsewhere and with parts shuffled" "$(without_host "$work/shuffled.json" |
  diff "$work/first" -)"
run run "$work/tiny.csv" "$example" $soc --json --output="$work/results/two"
report "several traces: an array, a folder each" "$(expect 0 '' "  \"trace\": \"$work/tiny.csv\",
  \"schema\": 1,"
  [ "$(head -c 1 "$work/out")$(tail -n 1 "$work/out")" = '[]' ] || echo "no array: $out"
  [ "$(grep -c '"schema"' "$work/out")" -eq 2 ] || echo "not two summaries"
  for name in tiny add1_tile20480; do
    [ -s "$work/results/two/$name/summary.json" ] || echo "no $name/summary.json"
  done)"
run run copy shape=64 $soc
report "the lines of an operator's hot spots are told" "$(expect 0 '' 'Trace     the lines above are those of DIR/copy.csv, which --output=DIR writes
')"
run run copy shape=64 $soc --timeline-events=0
report "where there are some" "$(expect 0 ''; case $out in *DIR/copy.csv*) echo "$out" ;; esac)"
run run copy shape=64 $soc --output="$work/results/copy"
report "of a result folder its own trace" "$(expect 0 '' "Trace     $work/results/copy/copy.csv: the lines above are its lines
"; case $out in *DIR/copy.csv*) echo "$out" ;; esac)"
run run "$work/tiny.csv" "$work/elsewhere/tiny.csv" $soc --output="$work/results/three"
report "traces of one name cannot share a folder" "$(expect 2 "error: $work/tiny.csv and \
$work/elsewhere/tiny.csv would both write to $work/results/three/tiny")"
run run "$work/tiny.csv" $soc --output="$work/tiny.csv/results"
report "a folder that cannot be made" "$(expect 2 "$work/tiny.csv: error: cannot make the \
folder: Not a directory"; [ -z "$out" ] || echo "it ran: $out")"
run run "$work/endless.csv" $soc --output="$work/tiny.csv/results"
report "a folder is looked at before the run" "$(expect 2 -)"
cp "$work/tiny.csv" "$work/...csv"
cp "$work/tiny.csv" "$work/..csv"
for name in ...csv ..csv; do
  run run "$work/$name" "$work/tiny.csv" $soc --output="$work/results/four"
  folder=${name%.csv}
  report "a trace $name gets no folder outside" "$(expect 2 "error: the result folder of \
$work/$name would be '$folder' in $work/results/four, which is not a folder of its own; give the \
trace another name"; [ -z "$out" ] || echo "it ran: $out"
    [ ! -e "$work/results/four" ] || echo "a folder was made")"
done
cp -r "$work/results/one" "$work/results/five"
rm "$work/results/five/Memory.csv"
mkdir "$work/results/five/Memory.csv"
run run "$work/tiny.csv" $soc -q --output="$work/results/five"
report "a folder half written has no summary.json" "$(expect 2 "$work/results/five/Memory.csv: \
error: cannot write: Is a directory"; ls "$work/results/five" | grep -F -e summary.json -e .part)"
run run "$work/missing.csv" "$work/tiny.csv" "$work/misspelt.csv" $soc --json
report "failed traces have their entry in the array" "$(expect 2 - "{
  \"trace\": \"$work/missing.csv\",
  \"error\": \""
  [ "$(grep -c '^  "trace": ' "$work/out")" -eq 3 ] || echo "not three entries: $out"
  [ "$(sed -n 's/^  "exit_code": //p' "$work/out" | tr '\n' ' ')" = '2 3 ' ] || echo "$out"
  [ "$(grep -c '^,$' "$work/out")" -eq 2 ] || echo "separators: $out")"
run run "$work/missing.csv" "$work/tiny.csv" $soc
report "a missing trace does not stop the next" "$(expect 2 "$work/missing.csv: error: cannot open: \
No such file or directory" 'tiny on Ascend910B4')"
(unset HOME PATH USER LANG; LC_ALL=xx_YY.nothing "$vinci" run "$work/tiny.csv" $soc --json) \
  >"$work/bare.json" 2>"$work/err"
report "without environment" "$(cat "$work/err"; without_host "$work/bare.json" |
  diff "$work/first" -)"

# ---- runs that do not end well -----------------------------------------------------------
run run "$work/misspelt.csv" $soc
report "rejected trace" "$(expect 3 -; [ -z "$out" ] || echo "stdout: $out")"
run run "$work/hangs.csv" $soc --json
report "a hang has its exit code, and partial results" "$(expect 6 - '"partial": true'
  printf '%s\n' "$err" | grep -q "hangs.csv:7" || echo "$err")"
run run "$example" $soc --max-cycles=100000
report "a limit has its exit code, and partial results" "$(expect 7 - 'PARTIAL'
  printf '%s\n' "$err" | grep -q '^error: .*partial' || echo "$err")"
for signal in INT TERM; do
  "$vinci" run "$work/endless.csv" $soc --timeout=60 >"$work/out" 2>"$work/err" &
  child=$!
  await has_used "$child" 1
  kill -$signal "$child" 2>/dev/null
  wait "$child"
  code=$? out=$(cat "$work/out") err=$(cat "$work/err")
  report "interrupted by SIG$signal" \
    "$(expect 7 'error: interrupted; results are partial' PARTIAL)"
done
"$vinci" check "$work/endless.csv" $soc --timeout=60 --json >"$work/out" 2>"$work/err" &
child=$!
await has_used "$child" 1
kill -INT "$child" 2>/dev/null
wait "$child"
code=$? out=$(cat "$work/out") err=$(cat "$work/err")
report "checks are interrupted" "$(expect 7 "error: interrupted before the checks were through; \
findings are partial" '"partial": true')"
run check $soc "$work/tiny.csv" --timeout=0
report "checks have a limit of time" "$(expect 2 "error: --timeout takes a whole number from 1 to \
2880, not '0'")"
run run matmul m=64 k=64 n=64 $soc --set flag.ids=3
report "operators need flags" "$(expect 2 "error: matmul: operators take 4 flag ids between two \
pipes, Ascend910B4 has 3
hint: 'vinci compile matmul --help' explains its keys")"
if [ -c /dev/full ]; then
  "$vinci" run "$work/tiny.csv" $soc >/dev/full 2>"$work/err"
  code=$? out='' err=$(cat "$work/err")
  report "full disk" "$(expect 2 'error: cannot write the report: No space left on device')"
  "$vinci" --help >/dev/full 2>"$work/err"
  code=$? err=$(cat "$work/err")
  report "full disk for help" \
    "$(expect 2 'error: cannot write to standard output: No space left on device')"
  run check $soc "$work/tiny.csv" --normalize=/dev/full
  report "full disk for the canonical form" \
    "$(expect 2 '/dev/full: error: cannot write the trace: No space left on device')"
else
  report "full disk for the canonical form # SKIP no /dev/full" ''
  report "full disk # SKIP no /dev/full" ''
  report "full disk for help # SKIP no /dev/full" ''
fi

# ---- operators -------------------------------------------------------------------------
run run --counters
report "run --counters tells what a run counts" "$(
  expect 0 '' 'l2.read_misses                      1      lower    sum      summary.json, gate, sweep, Lua'
  expect 0 '' 'pipe.*.unit_flag_cycles             cycle  neutral  sum      report, summary.json, gate, Lua'
  expect 0 '' 'utilization of the busiest link (printed as noc.max_link_utilization)')"

run compile --list
report "compile --list shows operators with their keys" \
  "$(expect 0 '' 'shape=shape           extents of the tensor (required)')"
run compile attention --help
report "compile OP --help of an operator that there is not" "$(expect 2 "error: unknown operator 'attention'
hint: 'vinci compile --list' shows them all")"
run compile copy --help
report "compile OP --help is made from the table" "$(expect 0 '' 'stands for TensorMove')"
run compile copy $soc shap=4
report "misspelt key" "$(expect 2 "error: copy has no key 'shap'
hint: did you mean 'shape'?")"
run compile copi $soc shape=4
report "misspelt operator" "$(expect 2 "error: unknown operator 'copi'
hint: did you mean 'copy'?")"
run run copi shape=4 $soc
report "misspelt operator to run" "$(expect 2 "error: unknown operator 'copi'
hint: did you mean 'copy'?")"
run compile copy $soc shape=33x7 -o "$work/copy.csv"
report "compile writes a trace that run takes" "$(expect 0 ''
  "$vinci" run "$work/copy.csv" $soc --json >"$work/a.json" || echo "run failed"
  "$vinci" run copy shape=33x7 $soc --json >"$work/b.json" || echo "direct run failed"
  [ "$(grep total_cycles "$work/a.json")" = "$(grep total_cycles "$work/b.json")" ] ||
    echo "run OP differs from run of its trace")"
run compile copy $soc shape=4x4 --explain
report "compile --explain shows the tiling" "$(expect 0 '' 'Tiling    tile=')"
run run relu $soc shape=1024x1024 dtype=fp32
report "an operator's duration has an expected error" "$(expect 0 '' \
  'Expected  error of the duration: median')"
for case in 'Ascend310P3 relu:no row is of Ascend310P3' \
  'Ascend910B4 relu --set=l2.size=96MiB:numbers of the chip are changed' \
  'Ascend910B4 relu --blocks=own:' 'Ascend910B4 conv2d:no row is of Ascend910B4'; do
  chip=${case%% *} op=${case#* }
  shape='shape=1024x1024 dtype=fp32'
  case $op in conv2d*) shape='n=8 c=64 h=56 w=56 k=64 kernel=3x3 dtype=fp32' ;; esac
  # shellcheck disable=SC2086
  run run ${op%%:*} -s "$chip" $shape --json
  report "expected error outside of the calibration: $case" "$(printf '%s\n' "$out" |
    grep -q "\"expected_error\": {.*\"outside\": \"${case#*:}[;\"]" || echo "$out" | grep expected)"
done
# ---- lists of operators ------------------------------------------------------------------
cat >"$work/profile.csv" <<'END'
soc,op,core,input_shapes,output_shapes,dtypes,formats,blocks,duration_us,mac_us
Ascend910B2,MatMulV3,AI_CORE,"64,32;32,128","64,128",DT_BF16;DT_BF16,ND;ND,4,10,0.1
Ascend910B2,MatMulV3,AI_CORE,"64,32;33,128","64,128",DT_BF16;DT_BF16,ND;ND,4,10,
Ascend910B4,NoSuchOp,AI_VECTOR_CORE,"1,2","1,2",FLOAT,ND,1,2.5,
Ascend910B4,Relu,AI_VECTOR_CORE,"1,2","1,2",WEIRD,ND,1,2.5,
END
run run --ops "$work/profile.csv" --output="$work/ops1"
report "--ops: a profile, chips from its rows" \
  "$(expect 0 '' '1 of 4 operators simulated, 3 unsupported, 0 failed'
  grep -q ',ok,.*,10.000,-0\.[0-9]*,0.100,.*,Ascend910B2,matmul m=64 k=32 n=128 ' \
    "$work/ops1/op_summary.csv" || cat "$work/ops1/op_summary.csv")"
report "--ops: what is not supported is listed with its reason" "$(
  grep -q "unsupported: no operator stands for 'NoSuchOp'" "$work/ops1/op_summary.csv" &&
  grep -q 'unsupported: MatMulV3: the shapes do not fit together' "$work/ops1/op_summary.csv" &&
  grep -q "unsupported: the data types 'WEIRD' are not known" "$work/ops1/op_summary.csv" ||
  cat "$work/ops1/op_summary.csv")"
run run --ops "$work/profile.csv" --output="$work/ops2" -j 3 -q
report "--ops: the same bytes with several jobs" "$(expect 0 ''
  cmp "$work/ops1/op_summary.csv" "$work/ops2/op_summary.csv" 2>&1)"
run run --ops "$work/profile.csv" --output="$work/blocks" --blocks=profile
report "--ops: the blocks of the profile only when asked for" "$(expect 0 ''
  grep -q ',matmul m=64 .*cores=4' "$work/blocks/op_summary.csv" || cat "$work/blocks/op_summary.csv"
  grep ',matmul .*cores=' "$work/ops1/op_summary.csv")"
run run --ops "$work/profile.csv" --output="$work/blocks" --blocks=theirs
report "--blocks has two words" "$(expect 2 "error: --blocks is own or profile, not 'theirs'")"
run run --ops "$work/profile.csv" --output="$work/ops3" --values
report "--ops keeps no values" "$(expect 2 'error: --ops runs no checks and keeps no values; run its operators one by one for that')"
for lack in device.cube_cores "device.vector_cores" path.GM_UB.bytes_per_cycle; do
  run run copy shape=64 $soc --set=$lack=0
  report "a chip without $lack is refused" "$([ "$code" -eq 2 ] || echo "exit code $code: $err")"
done
run run copy shape=64 dtype=bf16 -s Ascend310P3
report "a type that the chip lacks is refused" "$(expect 2 "error: copy: Ascend310P3 has no data type \
bf16
hint: 'vinci compile copy --help' explains its keys")"
printf 'Layer,M,N,K,\nproj,16,32,64,\n,,,,\n' >"$work/gemm.csv"
printf 'm,n,k,a_t,b_t\n16,32,64,0,1\n' >"$work/deepbench.csv"
cat >"$work/topology.csv" <<'END'
Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
Conv1,34,34,3,3,16,32,2,
END
printf 'op,args\nmatmul,m=16 k=64 n=32\ncopy,shape=77\n' >"$work/args.csv"
report "--ops: lists of GEMMs and of operators with arguments" "$(
  for list in gemm deepbench topology args; do
    run run --ops "$work/$list.csv" --output="$work/$list" $soc -q
    expect 0 ''
    grep -q ',ok,' "$work/$list/op_summary.csv" || cat "$work/$list/op_summary.csv"
  done)"
printf 'a,b\n1,2\n' >"$work/other.csv"
run run --ops "$work/other.csv" --output="$work/other" $soc
report "--ops: a header that is none" "$(expect 3 - ; printf '%s\n' "$err" |
  grep -q "other.csv:1: error: the header is not that of a list of operators" || echo "$err")"
run run --ops "$work/gemm.csv" $soc --output="$work/gemm" --l2=hot
report "--l2: an unknown state" "$(expect 2 "error: --l2 is empty, warm, streaming, used or dirty, not 'hot'")"
run run --ops "$work/gemm.csv" $soc
report "--ops without --output prints the table" "$(expect 0 '' '  all')"

run run matmul m=32 k=64 n=64 cores=1 -s Ascend910B4 --memory=flat --set kernel.CUBE.head_cycles=4321 \
  --set kernel.CUBE.code_bytes=128 --set kernel.CUBE.line_cycles=382
report "the report tells what a kernel takes to start" "$(printf '%s\n' "$out" |
  grep -q '^Start     764 cycles of a core wait for code, 4321 are scalar rows: .* % of the run (kernel' || echo "$out")"
