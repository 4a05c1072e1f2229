#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci tune from the outside: what it finds is the best of single runs; kills and jobs leave no trace
# in the repository; records that are stale or of other shapes are measured; a tuner of its own finds
# the same through the door. $VINCI is the program under test.
# Operators with their arguments are words of a variable.
# shellcheck disable=SC2086
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
. "$srcdir/tests/support/await.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_tune

tune() { keep "$vinci" tune "$@" $soc; }

# The cycles of a run with these arguments.
cycles_of() {
  "$vinci" run $1 $soc 2>"$work/note" | sed -n 's/^Cycles  *\([0-9]*\) .*/\1/p'
}

# Problems unless two texts are equal: same WHAT ONE OTHER.
same() { [ "$2" = "$3" ] || printf '%s: %s, not %s\n' "$1" "$2" "$3"; }

# The schedule and cycles of a report.
best() { sed -n 's/^Best  *\([0-9]*\) cycles *[-+0-9.]* %  \(.*\)/\1 \2/p' "$work/out"; }

# Whether a journal has N lines, or the search $pid has ended, as it may on a fast host.
has_lines() { has_ended "$pid" || [ "$(wc -l <"$1")" -ge "$2" ]; }

plan 26

# ---- truth: each schedule of a space by a run of its own ----

small="cumsum shape=8x16"
tune $small --space
problems=$(expect 0 "")
truth=$(tail -n +2 "$work/out" | cut -d, -f1 | while read -r schedule; do
  echo "$(cycles_of "$small $schedule") $schedule"
done | sort -n | head -1)
tune $small --strategy=exhaustive --robust=0
report "the best of all schedules is the best of single runs" \
  "$problems$(expect 0 "")$(same best "$(best)" "$truth")"

# Schedules that the lowering never chooses from are among these.
tune matmul m=20 k=24 n=40 --strategy=exhaustive --schedules=200 --memory=flat --robust=0
report "every schedule of a space compiles and runs" \
  "$(expect 0 "" "200 evaluations")$(grep 'without an answer' "$work/out")"

# A key that is given is an argument, and would be there twice if schedules had it too.
tune matmul m=20 k=24 n=40 resident=a --strategy=exhaustive --schedules=40 --memory=flat --robust=0
report "keys that are given stay" "$(expect 0 "" "evaluations")$(grep -e 'without an answer' \
  -e '^Best.*resident' "$work/out")$(best | grep -q '^[1-9][0-9]* ' || echo 'no best')"

tune $small --space --schedules=3 && rows=$(wc -l <"$work/out")
report "a space holds what the lowering chooses from, however few are asked for" \
  "$([ "$rows" -ge 4 ] || echo "$rows rows")"

# ---- searches ----

wide="layer_norm shape=17x768"
tune $wide --strategy=exhaustive --memory=flat --robust=0
truth=$(best)
problems=
for strategy in genetic tree halving estimate; do
  tune $wide --strategy=$strategy --memory=flat --robust=0
  found=$(best)
  problems="$problems$(expect 0 "" "Regret ")$(awk -v a="${truth%% *}" -v b="${found%% *}" -v n=$strategy \
    'BEGIN { if (!(b >= a && b <= 1.05 * a)) print n ": " b " cycles, the best takes " a }')"
done
report "strategies come within 5 % of the best" "$problems"

# Small spaces of make tuning: the default is within 10 % of the best, what genetic search finds with
# a tenth of the evaluations within 5 %. Words that no default takes are given.
kept="early=0 copies=bursts"
problems=
for space in "matmul m=64 k=128 n=96" "batch_matmul m=128 k=64 n=128 batch=12" \
  "conv2d n=1 c=32 h=14 w=14 k=32 kernel=3x3 pad=1x1 $kept" "transdata shape=1x3x56x56 way=nchw_to_nc1hwc0"; do
  tune $space --strategy=exhaustive --memory=flat --robust=0 --schedules=160
  truth=$(best) usual=$(sed -n 's/^Default *\([0-9]*\) cycles.*/\1/p' "$work/out")
  tune $space --strategy=genetic --memory=flat --robust=0 --schedules=160 -n 16
  found=$(best)
  problems="$problems$(awk -v best="${truth%% *}" -v usual="$usual" -v found="${found%% *}" -v n="$space" \
    'BEGIN { if (!(usual >= best && usual <= 1.1 * best && found <= 1.05 * best))
      print n ": best " best ", default " usual ", genetic " found }')"
done
report "defaults and genetic search reach what TUNING.md says, on small spaces" "$problems"

# A core of 20 waits 19 * 60 cycles for its first read, but for the start-up of that, which passes
# while the scalar unit works.
conv="conv2d c=128 h=28 w=28 k=128 kernel=3x3 pad=1x1"
tune $conv --memory=flat --robust=0 -n 24
found=$(best) usual=$(sed -n 's/^Default *\([0-9]*\) cycles.*/\1/p' "$work/out")
report "searches find words that no default takes" "$(awk -v a="$usual" -v b="$found" \
  'BEGIN { split(b, found, " "); if (!(found[1] < 0.95 * a && b ~ /early=1/)) print b ", not less than " a }')"

tune $wide --memory=flat --seed=5 -n 30 -j1
cp "$work/out" "$work/one"
tune $wide --memory=flat --seed=5 -n 30 -j3
report "the report has the same bytes for any number of jobs" \
  "$(cmp "$work/one" "$work/out" 2>&1)$(expect 0 "" "neighbours of the chip")"

product="matmul m=509 k=331 n=1031"
tune $product --memory=flat -n 40 --robust=0 --values
report "the parts of the difference add up" "$(awk '
  /change of total_cycles/ { whole = $4; on = 1; next }
  on && /^            [^ ].*: [-+][0-9]+ cycles \([-+][0-9.]+ %\)$/ { sum += $(NF - 3) }
  END { if (whole == "") print "no explanation"; else if (sum != whole) print sum " is not " whole }' "$work/out")"

# ---- kills ----

words="tune $product $soc -n 56 --seed=3 --robust=2 -q"
"$vinci" $words -r "$work/whole" -j1
for lines in 5 15 30; do
  "$vinci" $words -r "$work/killed" -j2 &
  pid=$!
  await has_lines "$work/killed.journal" $lines
  kill -9 $pid 2>"$work/note"
  wait $pid 2>"$work/note"
done
"$vinci" $words -r "$work/killed" -j2
report "three kills and other jobs: the same bytes in the repository" \
  "$(cmp "$work/whole" "$work/killed" 2>&1)$(ls "$work/killed.journal" 2>/dev/null)"

"$vinci" $words -r "$work/stopped" -j1 2>"$work/err" &
pid=$!
await has_lines "$work/stopped.journal" 1
kill -INT $pid
wait $pid
code=$? problems=
[ $code -eq 7 ] || problems="exit code $code"
[ -s "$work/stopped.journal" ] || problems="$problems no journal"
[ ! -e "$work/stopped" ] || problems="$problems a repository"
grep -q 'interrupted: 0 of 1 searches are done; the same command goes on' "$work/err" ||
  problems="$problems $(cat "$work/err")"
report "an interrupted search says so, and keeps its journal" "$problems"

# ---- the repository ----

record=$(tail -1 "$work/whole")
tuned=$(printf '%s' "$record" | cut -f7) usual=$(printf '%s' "$record" | cut -f8)
problems=$(same run "$(cycles_of "$product --repository=$work/whole")" "$tuned")
grep -q "was tuned from $usual to $tuned cycles" "$work/note" || problems="$problems$(cat "$work/note")"
problems="$problems$(same default "$(cycles_of "$product")" "$usual")"
[ "$tuned" -lt "$usual" ] || problems="$problems nothing to find"
report "a run takes the schedule, and has the cycles of the record" "$problems"

"$vinci" compile $product $soc -r "$work/whole" -o "$work/tuned.csv" 2>"$work/note"
report "so does compile" "$(same cycles "$(cycles_of "$work/tuned.csv")" "$tuned")"

# A record of an older revision, and one whose program is another, with a schedule that is slow.
slow="split=1 tile=16x16x16 panel=16x16 resident=none band=1 cores=1"
awk -F '\t' -v OFS='\t' -v slow="$slow" 'NR > 1 { $6 = 1; $7 = 10; $10 = slow } { print }' "$work/whole" >"$work/old"
awk -F '\t' -v OFS='\t' 'NR > 1 { $9 = "0123456789abcdef" } { print }' "$work/whole" >"$work/other"
problems=$(same old "$(cycles_of "$product -r $work/old")" "$usual")
grep -q "measured again: no faster than the default, $usual cycles" "$work/note" ||
  problems="$problems$(cat "$work/note")"
problems="$problems$(same other "$(cycles_of "$product -r $work/other")" "$tuned")"
grep -q "measured again: $tuned cycles, the default $usual" "$work/note" ||
  problems="$problems$(cat "$work/note")"
report "records of an older model or program are measured, and only the faster is taken" "$problems"

near="matmul m=500 k=331 n=1024"
usual_near=$(cycles_of "$near") near_cycles=$(cycles_of "$near -r $work/whole")
problems=$(grep -q 'no record of this problem; that of matmul m=509 k=331 n=1031 .* was measured here' \
  "$work/note" || cat "$work/note")
[ "$near_cycles" -le "$usual_near" ] || problems="$problems $near_cycles, the default $usual_near"
cycles_of "matmul m=500 k=331 n=1024 dtype=fp32 -r $work/whole" >/dev/null
problems="$problems$(grep -q 'no record of matmul on this chip' "$work/note" || cat "$work/note")"
report "another shape takes the schedule if that is faster there; another type does not" "$problems"

# Lines in any order, doubled, and an older one of the same key.
{ cat "$work/old"; tail -1 "$work/whole"; tail -1 "$work/whole"; } >"$work/mixed"
tune $small -r "$work/second" -q
keep "$vinci" tune --merge="$work/mixed" --merge="$work/second" -r "$work/one_two" # of any chip: none is named
problems=$(expect 0 "")
tune --merge="$work/second" --merge="$work/whole" -r "$work/two_one"
problems="$problems$(expect 0 "")$(cmp "$work/one_two" "$work/two_one" 2>&1)"
[ "$(wc -l <"$work/one_two")" -eq 3 ] || problems="$problems$(cat "$work/one_two")"
report "repositories merge, in any order, into the same bytes" "$problems"

# The first search is held still in its middle, so that all of the second lies within the first. Its candidates are large:
# on a fast host forty small ones are through before the journal is looked at a second time.
"$vinci" tune softmax shape=4096x8192 $soc -n 40 -j1 --memory=flat -q -r "$work/shared" 2>"$work/first" &
pid=$!
await has_lines "$work/shared.journal" 1
kill -STOP $pid
tune softmax shape=96x512 -n 12 -j1 --memory=flat -q -r "$work/shared"
problems=$(expect 0 "")
[ -s "$work/shared.journal" ] || problems="$problems the journal of the first search is gone"
kill -CONT $pid
wait $pid
code=$?
[ $code -eq 0 ] || problems="$problems exit code $code of the first search: $(cat "$work/first")"
for shape in 4096x8192 96x512; do
  grep -q "shape=$shape" "$work/shared" || problems="$problems no record of $shape"
done
[ ! -e "$work/shared.journal" ] || problems="$problems a journal is left"
report "two searches at once on one repository: both records are kept" "$problems"

# A record that is faster than anything, of a program that is not lowered any more.
awk -F '\t' -v OFS='\t' 'NR > 1 { $7 = 10; $9 = "0123456789abcdef" } { print }' "$work/second" >"$work/boast"
tune $small -r "$work/boast" -q
report "a search replaces a record of another program, however fast that was" "$(cmp "$work/second" "$work/boast" 2>&1)"

# ---- a list and a network ----

printf 'op,args\nrelu,shape=64x64\nrelu,shape=64x64\ncumsum,shape=8x16\n' >"$work/list.csv"
tune --ops="$work/list.csv" --memory=flat --robust=0
problems=$(expect 0 "" "Total     2 operators, 3 calls: ")
tune "$srcdir/traces/examples/two_layers.graph.csv" --memory=flat --robust=0 -n 8 -r "$work/net"
problems="$problems$(expect 0 "" "Total     ")"
keep "$vinci" net run "$srcdir/traces/examples/two_layers.graph.csv" $soc -r "$work/net" --memory=flat
problems="$problems$(expect 0 - "Time ")"
case $err in *" as recorded, 0 of an older model"*) ;; *) problems="$problems$err" ;; esac
report "lists and networks: equal operators once, and a run of the network takes the schedules" "$problems"

# ---- errors ----

problems=
wrong() {
  expected=$1
  shift
  tune "$@"
  problems="$problems$(expect 2 "$expected")"
}
wrong "error: unknown strategy 'best'
hint: one of exhaustive, random, estimate, genetic, tree, halving" $small --strategy=best
wrong "error: cumsum has no choice of schedules: its tiling keys are given, or there are none" $small blocks=3
wrong "error: unknown operator 'mathmul'
hint: did you mean 'matmul'?" mathmul m=4
wrong "error: --merge needs --repository=FILE" --merge="$work/whole"
printf 'chip\tnothing\n' >"$work/broken"
tune $small -r "$work/broken"
problems="$problems$(expect 3 "$work/broken:1: error: is not a record of a tuning
hint: such files are written by 'vinci tune --repository=FILE'")"
report "errors name what is wrong" "$problems"

# ---- the door ----

keep "$PYTHON" "$srcdir/scripts/python/tuner.py" "$vinci" Ascend910B4 $small
found=$(cut -d' ' -f2- "$work/out")
tune $small --strategy=exhaustive --robust=0
report "a tuner in Python finds the same as all schedules" "$(same found "$found" "$(best)")"

"$vinci" compile relu shape=4x512 $soc -o "$work/own.csv"
sed '/^ *set_flag/d' "$work/own.csv" >"$work/hangs.csv"
sed 's/vrelu,/vabs,/' "$work/own.csv" >"$work/wrong.csv"
keep "$vinci" tune serve $soc <<END
{"ask": "evaluate", "op": "relu", "args": {"shape": "4x512"}, "values": true, "schedules": ["rows=1 cols=512", {"rows": 9000}, {"trace": "$work/own.csv"}, {"trace": "$work/hangs.csv"}, {"trace": "$work/wrong.csv"}]}
{"ask": "evaluate", "op": "relu", "args": "shape=4x512", "max_cycles": 100, "schedules": [""]}
{"id": 3, "ask": "everything"}
[1, 2
{"ask": "space", "op": "relu", "args": {"shape": [4]}}
END
words=$(printf '%s\n' "$out" | grep -o '"cycles"\|"error": "[a-z]*"\|"id": "3"' | tr '\n' ' ')
report "what is wrong with a candidate is its answer" "$(expect 0 "")$(same answers "$words" \
  '"cycles" "error": "illegal" "cycles" "error": "hangs" "error": "values" "error": "limit" "id": "3" "error": "illegal" "error": "illegal" "error": "illegal" ')"

keep "$vinci" tune serve $soc <<END
{"ask": "space", "op": "cumsum", "args": {"shape": "8x16"}, "schedules": 9223372036854775808}
END
report "any number of schedules may be asked for: the space ends where no knob leads on" "$(expect 0 "" '"closed": true')"

keep "$vinci" tune serve $soc <<'END'
{"ask": "space", "op": "matmul", "args": {"m": 512, "k": 512, "n": 512}, "schedules": 20}
{"ask": "space", "op": "matmul", "args": {"m": 512, "k": 512, "n": 512}}
END
printf '%s\n' "$out" >"$work/spaces"
report "no more schedules than were asked for: the default, and the lowest estimates" "$(expect 0 "")$(
  python3 - "$work/spaces" <<'END'
import json, sys
few, all = [json.loads(line) for line in open(sys.argv[1])]
kept, default = few["schedules"], all["schedules"][all["default"]]
if len(kept) != 20 or few["closed"] or kept[few["default"]] != default:
    print(len(kept), few["closed"], few["default"])
others = sorted(s["estimate_cycles"] for s in all["schedules"] if s != default)
if max(s["estimate_cycles"] for s in kept if s != default) > others[len(others) // 10]:
    print("others have lower estimates")
END
)"

# Each line is answered, and nothing behind its end is read (a sanitizer tells).
printf '%s' '{"ask":"evaluate","op":"matmul","args":{"m":64},"schedules":[{"m_tile":16},"blocks=2"],"memory":"flat","n' >"$work/cut"
for line in '{"ask"' '{"ask":' '"a\' '"a\u12' '{"a' '[1,' '{"ask": "hello", "soc": 1}' '{"ask": "hello", "ask": "space"}' \
  '{"ask": "evaluate", "op": "relu", "schedules": [""], "memroy": "flat"}' \
  '{"ask": "evaluate", "op": "relu", "schedules": [""], "memory": ["flat"]}' \
  '{"ask": "evaluate", "op": "relu", "schedules": [""], "values": "true"}' '{"ask": "space", "op": "relu", "schedules": [20]}'; do
  printf '%s\n' "$line"
done >"$work/lines"
printf '{"ask": "hello"}\0{"ask": "hello"}\n' >>"$work/lines"
keep "$vinci" tune serve $soc <"$work/cut"
problems=$(expect 0 "" '"error": "illegal"')
keep "$vinci" tune serve $soc <"$work/lines"
report "lines that are cut, and keys that a question does not have, are errors" "$problems$(expect 0 "" 'has no key \"memroy\"')$(
  [ "$(printf '%s\n' "$out" | grep -c '"error": "illegal"')" = 13 ] || printf '%s\n' "$out")"

# ---- Lua ----

cat >"$work/tune.lua" <<'END'
local vinci = require "vinci"
local chip = vinci.soc "Ascend910B4"
local args = { shape = { 8, 16 } }
local space = vinci.space(chip, "cumsum", args)
assert(space.closed and #space.schedules == #space.knobs[1].values and space.knobs[1].name == "blocks")
local tuned = vinci.tune(chip, "cumsum", args, { strategy = "exhaustive", jobs = 1, repository = arg[1] })
print(tuned.cycles, tuned.schedule)
END
keep "$vinci" lua "$work/tune.lua" "$work/lua"
problems=$(expect 0 "")
found=$(tr '\t' ' ' <"$work/out")
tune $small --strategy=exhaustive --robust=0 -r "$work/program" >/dev/null
tune $small --strategy=exhaustive --robust=0
report "Lua finds the same, and keeps the same record" \
  "$problems$(same found "$found" "$(best)")$(cmp "$work/lua" "$work/program" 2>&1)"
