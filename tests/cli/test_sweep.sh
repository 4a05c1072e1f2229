#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci sweep from the outside: expansion, identity of points, journals that survive kills, the same
# table for any number of jobs, messages and exit codes. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
. "$srcdir/tests/support/await.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B1
example=$srcdir/traces/examples/matmul_2048_fp16.csv

work_folder test_sweep

cat >"$work/tiny.csv" <<'END'
trace,version=1
kernel,name=tiny,arch=dav-c220,blocks=4
tensor,name=x,dtype=fp16,shape=65536,io=in
buffer,name=xbuf,space=UB,address=0,size=32768
stream,core=AIV
loop,i,200
copy_gm_to_ubuf,dst=xbuf,src=x+32768*blk,len_burst=1024
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
vadds,dst=xbuf,src=xbuf,scalar=1,repeat=128,type=fp16
set_flag,src=V,dst=MTE2,id=0
wait_flag,src=V,dst=MTE2,id=0
endloop
END
sed 's/^wait_flag,src=V,dst=MTE2,id=0/wait_flag,src=V,dst=MTE2,id=1/' "$work/tiny.csv" \
  >"$work/hangs.csv"

# Keeps stdout, stderr and exit code.
run() { keep "$vinci" sweep "$@"; }

# Cells 2-N of a table's rows without the header.
cells() { tail -n +2 "$2" | cut -d, -f"$1"; }

plan 63

# ---- usage -----------------------------------------------------------------------------
run
report "no command: help on stderr" "$(expect 2 -; [ -z "$out" ] || echo "stdout: $out")"
run --help
report "--help lists the commands" "$(expect 0 '' '  run      run the points')"
run rnu
report "misspelt command" "$(expect 2 "error: unknown command 'rnu' of sweep
hint: did you mean 'vinci sweep run'?")"
run run "$work/tiny.csv" $soc
report "no folder" "$(expect 2 'error: where to? --output=DIR is missing')"
run run $soc --output="$work/none"
report "nothing to run" "$(expect 2 'error: nothing to run: no study, no trace, no operator
hint: for example matmul m=512 k=512 n=512 dtype=fp16')"
run run "$work/tiny.csv" --output="$work/none"
report "no chip" "$(expect 2 "error: which chip? Its name is missing
hint: --soc-version=NAME names the chip; 'vinci soc list' shows the names")"
run run "$work/tiny.csv" $soc --output="$work/none" --param l2.size
report "a parameter without values" "$(expect 2 "error: parameter 'l2.size' has no values
hint: write KEY=V1,V2, for example l2.size=96MiB,192MiB")"
run run "$work/tiny.csv" $soc --output="$work/none" --param l2.size=1MiB,,2MiB
report "an empty value" "$(expect 2 "error: parameter 'l2.size' has an empty value")"
run run "$work/tiny.csv" $soc --output="$work/none" --param l2.siez=1MiB
report "a misspelt parameter" "$(expect 2 "error: unknown parameter 'l2.siez'
hint: did you mean 'l2.size'?")"
run run "$work/tiny.csv" $soc --output="$work/none" --param l2.size=1MiB --param l2.size=2MiB
report "a parameter twice" "$(expect 2 "error: parameter 'l2.size' is given twice")"
run run "$work/tiny.csv" $soc --output="$work/none" --param op.m=1,2
report "an operator's parameter for a trace" "$(expect 2 "error: parameter 'op.m': a trace has no \
arguments")"
run run "$work/tiny.csv" m=3 $soc --output="$work/none"
report "arguments for a trace" "$(expect 2 "error: 'm=3' after $work/tiny.csv: it takes no arguments")"
run run "$work/tiny.csv" $soc --output="$work/none" --memory=fast
report "an unknown model" "$(expect 2 "error: memory is cycle, flat or auto, not 'fast'")"
run run "$work/tiny.csv" $soc --output="$work/none" --l2=hot
report "an unknown state of L2" "$(expect 2 "error: l2 is empty, warm, streaming, used or dirty, not 'hot'")"
run run "$work/tiny.csv" $soc --output="$work/none" --set=l2.size=many
report "a bad override of all points" "$(expect 2 -)"
run run "$work/tiny.csv" $soc --output="$work/none" --shard=2/2
report "a shard that is not" "$(expect 2 "error: --shard takes I/N with I from 0 to N-1, not '2/2'")"
run run "$work/missing.csv" $soc --output="$work/none"
report "a trace that is missing" "$(expect 2 "$work/missing.csv: error: cannot open: No such file or \
directory")"
report "nothing was made" "$(ls "$work/none" 2>/dev/null)"
run status "$work/none"
report "status of no sweep" "$(expect 2 "$work/none: error: is not the folder of a sweep: No such \
file or directory
hint: 'vinci sweep run ... --output=DIR' makes such a folder")"
run status
report "status of nothing" "$(expect 2 'error: takes one folder: sweep status DIR')"

run submit "$work/tiny.csv" $soc --output="$work/none"
report "submit to nothing" "$(expect 2 'error: submit to what? --slurm is missing')"
run submit --slurm coyp $soc --output="$work/none"
report "submit finds mistakes of the study first" "$(expect 2 "error: unknown operator 'coyp'
hint: did you mean 'copy'?"; ls "$work/none" 2>/dev/null)"
# Programs in the place of Slurm's: jobs are all number 7; squeue fails three times, then knows none.
mkdir "$work/bin"
printf '#!/bin/sh\necho 7\n' >"$work/bin/sbatch"
printf '#!/bin/sh\necho >>"%s"\n[ "$(grep -c ^ "%s")" -gt 3 ]\n' "$work/asked" "$work/asked" \
  >"$work/bin/squeue"
chmod +x "$work/bin/sbatch" "$work/bin/squeue"
submit() {
  keep env PATH="$work/bin:$PATH" timeout 300 "$vinci" sweep submit --slurm --wait "$work/tiny.csv" \
    $soc -q --output="$work/submitted"
}
submit
report "submit waits for a queue that does not answer for a while" "$(expect 7 "error: 1 of 1 points \
are missing in $work/submitted
hint: run the study again; it goes on where it was left"
  [ "$(grep -c ^ "$work/asked")" -eq 4 ] || cat "$work/asked")"
printf '#!/bin/sh\nexit 127\n' >"$work/bin/squeue"
submit
report "submit does not wait for ever where squeue is not there" "$(expect 2 "error: cannot wait for \
job 7: squeue cannot be run
hint: the jobs go on; 'vinci sweep status $work/submitted' shows how far they are")"

# ---- points ----------------------------------------------------------------------------
run run "$work/tiny.csv" $soc --param l2.size=1MiB,192MiB --param hbm.bandwidth_scale=0.5,1,2 \
  -j1 --output="$work/one"
report "all combinations, the last parameter fastest" "$(
  expect 0 '' "6 points: 6 ok, 0 failed, 0 reused; $work/one/results.csv"
  [ "$(cells 2,3 "$work/one/results.csv" | tr '\n' ' ')" = \
    '1MiB,0.5 1MiB,1 1MiB,2 192MiB,0.5 192MiB,1 192MiB,2 ' ] || cat "$work/one/results.csv")"
report "header row" "$(head -n 1 "$work/one/results.csv" | grep -qE \
  '^point,l2\.size,hbm\.bandwidth_scale,workload,status,exit_code,error,total_cycles,duration_us,bound,' ||
  head -n 1 "$work/one/results.csv")"
report "as many cells in every row" "$(awk -F, 'NR == 1 { n = NF } NF != n { print }' \
  "$work/one/results.csv")"
"$vinci" run "$work/tiny.csv" $soc --set l2.size=1MiB --set hbm.bandwidth_scale=2 --json \
  >"$work/run.json" 2>&1
report "a point is what vinci run says" "$(
  cycles=$(sed -n 's/^  "total_cycles": \([0-9]*\),/\1/p' "$work/run.json")
  [ "$(sed -n 4p "$work/one/results.csv" | cut -d, -f8)" = "$cycles" ] || echo "not $cycles")"
run run "$work/tiny.csv" $soc --param l2.size=1MiB,192MiB --param hbm.bandwidth_scale=0.5,1,2 \
  -j8 --output="$work/eight"
report "the same bytes with eight jobs" "$(diff "$work/one/results.csv" "$work/eight/results.csv")"
run run "$work/tiny.csv" $soc --param l2.size=1MiB,192MiB --param hbm.bandwidth_scale=0.5,1,2 \
  -j8 --output="$work/eight"
report "run again: everything is reused" "$(expect 0 '' '6 ok, 0 failed, 6 reused')"
run run "$work/tiny.csv" $soc --param hbm.bandwidth_scale=1,4 --param l2.size=192MiB,1024KiB \
  -j2 --output="$work/eight"
report "edited: only what is new runs, in whatever spelling" "$(
  expect 0 '' '4 points: 4 ok, 0 failed, 2 reused')"
run run "$work/tiny.csv" $soc --set hbm.bandwidth_scale=2 --param l2.size=192MiB -j2 \
  --output="$work/eight"
report "an override and a parameter of one value are the same point" "$(
  expect 0 '' '1 points: 1 ok, 0 failed, 1 reused')"
echo '# another text' >>"$work/tiny.csv"
run run "$work/tiny.csv" $soc --param l2.size=1MiB -j2 --output="$work/eight"
report "an edited trace is another input" "$(expect 0 '' '1 ok, 0 failed, 0 reused')"
run run "$work/tiny.csv" --param soc=Ascend910B1,Ascend910B4 -j2 --output="$work/socs"
report "chips as a parameter" "$(expect 0 '' '2 points: 2 ok')"

run run copy dtype=fp16 shape=4096 $soc --param op.shape=1024,65536 --param op.tile=1024,2048 -j2 \
  --output="$work/op"
report "arguments of an operator as parameters" "$(expect 0 '' '4 points: 4 ok'
  [ "$(cells 2-4 "$work/op/results.csv" | tail -n 1)" = \
    '65536,2048,copy dtype=fp16 shape=65536 tile=2048' ] || cat "$work/op/results.csv")"
run run copy shape=65536 tile=2048 dtype=fp16 $soc --output="$work/op"
report "arguments in another order are the same point" "$(expect 0 '' '1 ok, 0 failed, 1 reused')"
run run coyp shape=65536 $soc --output="$work/none"
report "a misspelt operator" "$(expect 2 "error: unknown operator 'coyp'
hint: did you mean 'copy'?")"
run run copy shape=65536 $soc --param op.tlie=1,2 --output="$work/none"
report "a misspelt argument of an operator" "$(expect 2 "error: copy has no argument 'tlie'
hint: 'vinci compile --list copy' shows them all")"
run run copy 65536 $soc --output="$work/none"
report "an argument without a key" "$(expect 2 "error: argument '65536' of copy is not key=value")"

run run copy shape=65536 $soc --param memory=flat,cycle --param l2=empty,dirty,hot -j2 \
  --output="$work/models"
report "models as parameters" "$(expect 0 - '6 points: 4 ok, 2 failed'
  [ "$(cells 5 "$work/models/results.csv" | tr '\n' ' ')" = 'ok ok usage ok ok usage ' ] ||
    cat "$work/models/results.csv"
  [ "$(cells 1 "$work/models/results.csv" | sort -u | wc -l)" -eq 6 ] || echo "points that are the same"
  [ "$(cells 8 "$work/models/results.csv" | grep . | sort -u | wc -l)" -eq 4 ] || cat "$work/models/results.csv")"
run run copy shape=65536 $soc --memory=flat --l2=dirty --output="$work/models"
report "and as options: the same point" "$(expect 0 '' '1 ok, 0 failed, 1 reused')"

# ---- failures --------------------------------------------------------------------------
run run "$work/tiny.csv" $soc --param ub.size=1KiB,192KiB,banana -j2 --output="$work/mixed"
report "a failing point is a row with its error" "$(expect 0 - '3 points: 1 ok, 2 failed'
  [ "$(cells 4,5 "$work/mixed/results.csv" | tr '\n' ' ')" = 'rejected,3 ok,0 usage,2 ' ] ||
    cat "$work/mixed/results.csv"
  cells 6- "$work/mixed/results.csv" | grep -q 'banana' || echo "no reason"
  awk -F, 'NR == 1 { n = NF } /^[^"]*$/ && NF != n { print }' "$work/mixed/results.csv")"
run run "$work/tiny.csv" $soc --param ub.size=192KiB,banana,1KiB -j2 --output="$work/mixed"
report "the first of those that failed is told" "$(expect 0 "warning: 2 of 3 points failed; point 2 (ub.size=banana): \
ub.size: 'banana' is not a number (bytes, suffixes KiB MiB GiB)")"
run run "$work/tiny.csv" $soc --param ub.size=192KiB,banana,1KiB -j2 --quiet --output="$work/mixed"
report "but not with --quiet" "$(expect 0 '')"
run run "$work/hangs.csv" $soc -j2 --output="$work/hang"
report "every point failed" "$(expect 3 - ''
  case $err in "error: every point failed; point 1: "*"
hint: $work/hang/results.csv says why each of them did") ;; *) echo "$err" ;; esac
  [ "$(cells 3,4 "$work/hang/results.csv")" = hang,6 ] || cat "$work/hang/results.csv")"
run run "$work/tiny.csv" $soc --max-cycles=100 -j2 --output="$work/limit"
report "a limit" "$([ "$(cells 3,4 "$work/limit/results.csv")" = limit,7 ] ||
  cat "$work/limit/results.csv")"

# ---- odd chips -------------------------------------------------------------------------
# Every number of a chip at values that no chip has: refused, limited or run, never a crash or a hang.
cat >"$work/odd.lua" <<'END'
local vinci = require "vinci"
local keys, chunk = vinci.soc "Ascend910B4":keys(), 60
for from = 1, #keys, chunk do
  local points = {}
  for i = from, math.min(#keys, from + chunk - 1) do
    for _, value in ipairs { "0", "1", "7", "1000000" } do
      points[#points + 1] = ('{ ["%s"] = "%s" }'):format(keys[i], value)
    end
  end
  io.open(("%s/odd-%d.lua"):format(arg[1], from), "w"):write('return { soc = "Ascend910B4", op = "matmul", ',
    'm = 64, k = 64, n = 64, max_cycles = 100000, points = {\n', table.concat(points, ",\n"), "\n} }\n")
end
END
"$vinci" lua "$work/odd.lua" "$work"
for study in "$work"/odd-*.lua; do
  "$vinci" sweep run "$study" -q -j2 --output="$work/odd" 2>"$work/err" || cat "$work/err"
done >"$work/out"
report "numbers that no chip has" "$(cat "$work/out"
  cut -f 2 "$work"/odd/journal/*.log | cut -d, -f1 | sort -u | grep -v -e ok -e usage -e limit -e rejected
  grep -ah -e crashed -e hang -e internal "$work"/odd/journal/*.log)"
run run matmul m=64 k=4096 n=64 $soc --memory=flat --param device.cube_cores=1,7,24,25 \
  --param device.vector_cores=7,24,47,48,50 --output="$work/cores"
report "numbers of cores that no chip has" "$(expect 0 '' '20 points: 20 ok'
  grep -v ',ok,' "$work/cores/results.csv" | tail -n +2)"
run run matmul m=64 k=4096 n=64 split=2 $soc --memory=flat --set device.cube_cores=7 --output="$work/split"
report "and parts of k, which want those of a chip" "$(grep -q 'parts of k need one or two vector cores for each' \
  "$work/split/results.csv" || cat "$work/split/results.csv")"

# ---- study files -----------------------------------------------------------------------
cat >"$work/study.lua" <<'END'
local sizes = { "l2.size" }
for _, mib in ipairs { 1, 192 } do sizes[#sizes + 1] = mib .. "MiB" end
return {
  soc = "Ascend910B1", trace = "tiny.csv",
  params = { sizes, { "hbm.bandwidth_scale", 0.5, 1, 2 } },
  points = { { ["l2.size"] = "7MiB", ["device.vector_cores"] = 8 } },
}
END
run run "$work/study.lua" -j2 --output="$work/study"
report "a study file, with further points" "$(expect 0 '' '7 points: 7 ok'
  [ "$(cells 2-4 "$work/study/results.csv" | tail -n 2 | tr '\n' ' ')" = '192MiB,2, 7MiB,,8 ' ] ||
    cat "$work/study/results.csv")"
bad_study() {
  printf '%s\n' "$2" >"$work/bad.lua"
  run run "$work/bad.lua" $soc --output="$work/none"
  report "$1" "$(expect 2 "$3")"
}
bad_study "a study that is not a table" 'return 1' "$work/bad.lua: error: does not return a table"
bad_study "a study with an error" 'local x
x.y = 1' "$work/bad.lua:2: error: attempt to index a nil value (local 'x')"
bad_study "a study without work" 'return {}' "$work/bad.lua: error: wants one of op, trace, net, job and model"
bad_study "a field nobody knows" 'return { trace = "tiny.csv", parms = {} }' \
  "$work/bad.lua: error: unknown field 'parms'
hint: did you mean 'params'?"

bad_study "a limit that is none" 'return { trace = "tiny.csv", max_cycles = 0.5 }' \
  "$work/bad.lua: error: 'max_cycles' is not a whole number from 1"
bad_study "a function that studies do not have" 'return setmetatable({}, {})' \
  "$work/bad.lua:1: error: attempt to call a nil value (global 'setmetatable')
hint: LUA.md says which functions study and suite files have"
bad_study "a value of a wrong type" 'return { op = "copy", shape = { 17, "x" } }' \
  "$work/bad.lua: error: 'shape' is neither a text nor a number nor a list of whole numbers"
echo 'return { soc = "Ascend910B1", op = "copy", shape = { 17, 30 }, l2 = "warm" }' >"$work/list.lua"
run run "$work/list.lua" --output="$work/list"
report "a shape as a list" "$(expect 0 '' '1 ok'
  grep -q ',copy shape=17x30,ok,' "$work/list/results.csv" || cat "$work/list/results.csv")"

# ---- killed and interrupted ------------------------------------------------------------
# 60 points of the 2048 cube, some 0.05 s each. In place of the shell: a signal then meets vinci.
many() {
  exec "$vinci" sweep run "$example" $soc --memory=flat --param l2.size=8MiB,16MiB,32MiB,64MiB,128MiB,192MiB \
    --param hbm.bandwidth_scale=0.25,0.5,0.75,1,2 --param device.cube_cores=12,24 "$@"
}
(many -q -j1 --output="$work/calm") 2>"$work/err"
# Waits until a folder's journals hold N records; the host may be slow or busy.
until_done() {
  tries=0
  while [ "$(cat "$1"/journal/*.log 2>/dev/null | grep -c "$(printf '\t')")" -lt "$2" ]; do
    tries=$((tries + 1))
    [ $tries -lt 6000 ] || return
    sleep 0.01
  done
}
for records in 2 9 17; do
  many -q -j2 --output="$work/killed" &
  child=$!
  until_done "$work/killed" $records
  kill_at_once $child
  wait $child 2>/dev/null
done 2>/dev/null
run status "$work/killed"
partial=$out
printf 'torn' >>"$work/killed/journal/local-0.log"
(many -j2 --output="$work/killed") >"$work/out" 2>"$work/err"
report "killed three times: the same table, and nothing done twice" "$(
  diff "$work/calm/results.csv" "$work/killed/results.csv"
  grep -q ' 0 reused' "$work/out" && echo "nothing was kept: $partial"
  records=$(cat "$work"/killed/journal/*.log | grep -c "$(printf '\t')")
  [ "$records" -le 66 ] || echo "$records records of 60 points, 3 kills with 2 in flight each")"
# A point that is done in no time and one that takes minutes: the signal comes between them on any host.
long() {
  exec "$vinci" sweep run matmul m=8192 k=8192 tile=16x16x16 cores=1 $soc --memory=flat --param op.n=16,8192 "$@"
}
long -j2 --output="$work/stopped" >"$work/out" 2>"$work/err" &
child=$!
until_done "$work/stopped" 1
kill -TERM $child
wait $child
code=$? err=$(tail -n 1 "$work/err")
report "interrupted: exit code 7, and what is done is kept" "$(expect 7 "error: interrupted; what \
is done is kept in $work/stopped, run it again to go on"; [ ! -e "$work/stopped/results.csv" ] ||
  echo "there is a table")"
"$vinci" sweep run "$example" $soc --memory=flat -q --output="$work/stale"
long -j2 --output="$work/stale" >"$work/out" 2>"$work/err" &
child=$!
until_done "$work/stale" 2
kill -TERM $child
wait $child
stale=$?
report "the table of another study is not left behind" "$(ls "$work"/stale/results.csv 2>/dev/null
  [ "$stale" -eq 7 ] || echo "exit code $stale")"
run collect "$work/stopped"
report "collect refuses gaps" "$([ "$code" -eq 7 ] || echo "exit code $code"
  case $err in *" points are missing in $work/stopped"*) ;; *) echo "$err" ;; esac)"
for shard in 0 1 2; do (many -q -j1 --shard=$shard/3 --output="$work/shards"); done
run collect "$work/shards"
report "shards, collected, are the same table" "$(expect 0 '' '60 points: 60 done'
  diff "$work/calm/results.csv" "$work/shards/results.csv")"
