#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How the program ends when others interfere: signals while the program waits for a file, two
# processes that write to one place, a reader of the output that goes. $VINCI is the program under
# test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
. "$srcdir/tests/support/await.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4
unset CI GITHUB_ACTIONS GITLAB_CI JENKINS_URL TF_BUILD BUILDKITE TEAMCITY_VERSION

work_folder test_endings

cat >"$work/tiny.csv" <<'END'
trace,version=1
kernel,name=tiny,arch=dav-c220,blocks=2
tensor,name=x,dtype=fp16,shape=2048,io=in
buffer,name=xbuf,space=UB,address=0,size=2048
stream,core=AIV
copy_gm_to_ubuf,dst=xbuf,src=x+2048*blk,len_burst=64
END
sed 's/shape=2048/shape=1000000000/' "$work/tiny.csv" >"$work/huge.csv"
mkfifo "$work/pipe.csv" "$work/pipe.npy" || skip_all "no named pipes"

plan 19

# A minute is the least limit of time: this run is looked at last.
mkfifo "$work/late.csv"
"$vinci" run "$work/tiny.csv" "$work/late.csv" $soc --timeout=1 >"$work/late.out" 2>"$work/late.err" &
late=$!

# stopped SIGNAL ARGUMENT...: a run that is stuck gets a signal; $out, $err, $code and
# what went wrong in $stuck.
stopped() {
  signal=$1
  shift
  "$vinci" "$@" >"$work/out" 2>"$work/err" &
  child=$!
  await is_stuck "$child"
  ended_by "$signal"
}
ended_by() {
  kill "-$1" "$child"
  stuck=$(ends "$child")
  wait "$child"
  code=$? out=$(cat "$work/out") err=$(cat "$work/err")
}

# ---- signals ------------------------------------------------------------------------------------
for verb in run check; do
  before=ran
  [ $verb = run ] || before='was checked'
  for signal in INT TERM; do
    stopped $signal $verb "$work/pipe.csv" $soc
    report "$verb: SIG$signal ends the wait for a trace" "$(echo "$stuck" | grep .
      expect 7 "error: interrupted before $work/pipe.csv $before")"
  done
done
sleep 600 >"$work/pipe.csv" &
writer=$!
stopped INT run "$work/tiny.csv" "$work/pipe.csv" $soc --json
kill "$writer"
report "a trace that is not written to its end; what was printed before stays whole" "$(
  echo "$stuck" | grep .
  expect 7 "error: interrupted before $work/pipe.csv ran"
  [ "$(head -n 1 "$work/out")$(tail -n 1 "$work/out")" = '[]' ] || echo "no array: $out"
  [ "$(grep -c '"schema"' "$work/out")" -eq 1 ] || echo "not one result")"
stopped TERM run "$work/tiny.csv" $soc --input=x="$work/pipe.npy"
report "the wait for a tensor" "$(echo "$stuck" | grep .
  expect 7 "error: interrupted before $work/tiny.csv ran")"
stopped TERM run "$work/tiny.csv" $soc --fill=random:1 --expect=x="$work/pipe.npy" -q
report "the wait for what is expected" "$(echo "$stuck" | grep .
  expect 7 'error: interrupted before the values were compared')"
# 2 GB, of which some are there: more than all that comes before.
"$vinci" run "$work/huge.csv" $soc --fill=random:1 >"$work/out" 2>"$work/err" &
child=$!
await holds_kib "$child" 200000
ended_by TERM
report "a tensor that is being filled" "$(echo "$stuck" | grep .
  expect 7 "error: interrupted before $work/huge.csv ran")"

# Nobody reads the pipe, so the program is stuck where it cannot look at its first signal. Two different
# signals, as equal ones would be one already; both wait for the process to go on, and come at once.
"$vinci" check "$work/tiny.csv" $soc --normalize="$work/pipe.csv" >"$work/out" 2>"$work/err" &
child=$!
await is_stuck "$child"
kill -STOP "$child"
kill -TERM "$child"
kill -INT "$child"
kill -CONT "$child"
# no_signals PID: all have been handled.
no_signals() { has_ended "$1" || [ "$(grep -cE '^(SigPnd|ShdPnd):.0+$' "/proc/$1/status")" -eq 2 ]; }
await no_signals "$child"
await is_stuck "$child"
has_ended "$child"
twice=$?
sleep 1.2
kill -INT "$child"
stuck=$(ends "$child")
wait "$child"
code=$?
report "two signals at once are one, one more than a second later ends the program" "$(
  echo "$stuck" | grep .
  [ "$twice" -ne 0 ] || echo "ended by the second"
  [ "$code" -eq 130 ] || echo "exit code $code")"

# ---- two processes, one place ------------------------------------------------------------------
"$vinci" run "$work/pipe.csv" $soc --output="$work/result" >/dev/null 2>&1 &
child=$!
await is_stuck "$child"
keep "$vinci" run "$work/tiny.csv" $soc --output="$work/result"
report "a second run into a folder is refused" "$(expect 2 \
  "$work/result: error: another run is working in this folder
hint: wait for its end, or name another folder"
  ls "$work/result")"
keep "$vinci" check "$work/tiny.csv" $soc --output="$work/result"
report "so are checks" "$(expect 2 - ; ls "$work/result")"
kill "$child"
ends "$child" >/dev/null
keep "$vinci" run "$work/tiny.csv" $soc --output="$work/result" -q
report "it is free again when the first has ended" "$(expect 0 ''
  [ -f "$work/result/summary.json" ] || ls "$work/result")"

cat >"$work/suite.lua" <<'END'
return { soc = "Ascend910B4", memory = "flat", points = {
  { name = "copy", op = "copy", shape = 65536, dtype = "fp16" },
  { name = "matmul", op = "matmul", m = 1024, k = 1024, n = 1024 },
} }
END
base=$work/base.csv
bless() { "$vinci" gate bless "$work/suite.lua" --baseline="$base" --reason="$1"; }
"$vinci" gate list "$work/suite.lua" >/dev/null || exit 99
for round in 1 2 3 4; do
  rm -f "$base"
  bless first >/dev/null 2>"$work/err1" &
  child=$!
  bless second >/dev/null 2>"$work/err2"
  second=$?
  wait "$child"
  echo "$round $? $second"
  "$vinci" gate check "$work/suite.lua" --baseline="$base" 2>&1 |
    grep -q '2 PASS' || echo "round $round: no baseline"
done >"$work/rounds"
report "of two that bless at once, one does and the other does or is refused; the baseline is whole" "$(
  grep -v '^[1-4] [02] [02]$' "$work/rounds"
  grep ' 2 2$' "$work/rounds"
  ls "$work"/*.part 2>/dev/null)"
if command -v flock >/dev/null; then
  (flock 9 && exec sleep 600) 9<"$base.inputs" &
  child=$!
  is_locked() { ! flock -n "$base.inputs" true; }
  await is_locked
  keep bless third
  kill "$child"
  mkdir "$work/new.csv.inputs"
  (flock 9 && exec sleep 600) 9<"$work/new.csv.inputs" &
  child=$!
  is_locked() { ! flock -n "$work/new.csv.inputs" true; }
  await is_locked
  "$vinci" gate bless "$work/suite.lua" --baseline="$work/new.csv" --reason=first 2>/dev/null
  new=$?
  kill "$child"
  report "a second bless is refused" "$(expect 2 \
    "$base.inputs: error: another bless is working in this folder
hint: wait for its end, or name another folder"
    [ "$new" -eq 2 ] || echo "exit code $new"
    [ -d "$work/new.csv.inputs" ] || echo "the folder of the other process has gone")"
else
  report "a second bless is refused # SKIP no flock" ''
fi

# ---- a reader that goes ----------------------------------------------------------------------------
# A pipe whose reader has gone: opened for both, then for writing, then left by the reader. 141: ended
# by SIGPIPE.
mkfifo "$work/closed"
# shellcheck disable=SC2094 # that is what makes the pipe
exec 3<>"$work/closed" 4>"$work/closed" 3>&-
seq 20000 | sed 's/.*/print(&)/' >"$work/print.lua"
report "a closed pipe ends every verb silently, in one way" "$(
  while read -r words; do
    # shellcheck disable=SC2086 # words of a command line
    "$vinci" $words 2>"$work/err" >&4 4>&-
    code=$?
    [ "$code" -eq 141 ] || echo "$words: exit code $code"
    [ ! -s "$work/err" ] || echo "$words: $(cat "$work/err")"
  done <<END
--help
--version
help run
isa list
soc show Ascend910B4
soc list
compile --list
compile matmul m=64 k=64 n=64 $soc
run $work/tiny.csv $work/tiny.csv $soc
run $work/tiny.csv $work/tiny.csv $soc --json
check $work/tiny.csv $soc
check $work/tiny.csv $soc --json
check $work/tiny.csv $soc --normalize=-
gate list $work/suite.lua
gate check $work/suite.lua --baseline=$base
sweep --help
stream --help
lua $work/print.lua
END
)"
"$vinci" run "$work/tiny.csv" $soc --output="$work/kept" 2>"$work/err" >&4 4>&-
report "what is to be kept is kept although nobody reads the report" "$(
  [ -f "$work/kept/summary.json" ] || ls "$work/kept"; cat "$work/err")"

# ---- processes whose end the caller does not want to hear of ----
(trap '' CHLD; timeout 300 "$vinci" gate check "$work/suite.lua" --baseline="$base") >"$work/out" 2>&1
code=$?
report "a gate ends where SIGCHLD is ignored" "$([ "$code" -eq 0 ] || { echo "$code"; cat "$work/out"; })"
(trap '' CHLD; timeout 300 "$vinci" sweep run relu shape=1000 $soc --param l2.size=96MiB,192MiB \
  --output="$work/ignored" -j2) >"$work/out" 2>&1
code=$?
report "a sweep ends where SIGCHLD is ignored" "$([ "$code" -eq 0 ] || { echo "$code"; cat "$work/out"; })"

# ---- a limit of time ----
stuck=$(ends "$late")
wait "$late"
code=$? out=$(cat "$work/late.out") err=$(cat "$work/late.err")
report "a limit of time ends the wait for a trace" "$(echo "$stuck" | grep .
  expect 7 "error: the time given by --timeout is over before $work/late.csv ran" 'tiny on Ascend910B4')"
