#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci group train: times against a walk from checkpoint to checkpoint in Python; a kill; messages.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_group_train
plan 18

# compare NAME WORK INTERVAL BLOCKING WRITING MTBF DETECT RESTART REPAIR UNITS SPARES SHRINK SEED: every part to 2 ms.
compare() {
  name=$1
  shift
  save="--save=$3s"
  test "$4" = 0 || save="--save=$4s --blocking=$3s"
  shrink=
  test "${11}" = 0 || shrink=--shrink
  # shellcheck disable=SC2086
  keep "$vinci" group train --step="$1s" --steps=1 -i "$2s" $save --mtbf="$5s" --detect="$6s" --restart="$7s" \
    --repair="$8s" -n "$9" --spares="${10}" $shrink --seed="${12}" -r 40 --json
  report "$name" "$(expect 0 ''
    ${PYTHON:-python3} "$srcdir/tests/cli/training.py" "$@" 40 >"$work/wanted"
    echo "$out" | ${PYTHON:-python3} -c '
import json, sys
got, wanted = json.load(sys.stdin), [float(word) for word in open(sys.argv[1]).read().split()]
keys = ["time", "failures", "work", "slower", "checkpoint", "lost", "detect", "wait", "restart"]
for key, value in zip(keys, wanted):
    one = got[key if key == "failures" else key + "_s"]
    if abs(one - value) > (0.006 if key == "failures" else 0.002):  # halves of what is printed, and rounding of 40 runs
        print(key, one, value)
' "$work/wanted")"
}

compare "units that are back at once" 100000 1000 20 0 300000 30 60 0 16 0 0 7
compare "a spare, and repairs" 100000 1000 20 300 300000 30 60 5000 16 1 0 7
compare "fewer units until one is repaired" 100000 700 20 600 300000 30 60 20000 16 0 1 5
compare "fewer units and spares" 100000 1000 0 20 300000 0 60 90000 4 1 1 3
compare "no checkpoint before the end" 50000 60000 20 0 300000 30 0 100 16 0 0 1

set -- --step=2s --steps=50000 -n 16 --mtbf=83h --save=20s --detect=30s --restart=1min --repair=5h --spares=1
keep "$vinci" group train "$@" -i 1000s -r 300 --checkpoint="$work/whole"
whole=$out
cut=$(($(wc -c <"$work/whole") / 2 + 11))
head -c "$cut" "$work/whole" >"$work/torn"
keep "$vinci" group train "$@" -i 1000s -r 300 --checkpoint="$work/torn"
report "a run that was killed goes on with the same bits" "$(expect 0 '' "$whole"; cmp "$work/whole" "$work/torn")"
sed '9s/ \([0-9]\)/ 7\1/' "$work/whole" >"$work/changed"
keep "$vinci" group train "$@" -i 1000s -r 300 --checkpoint="$work/changed"
report "a line that was changed counts no longer" "$(expect 0 '' "$whole"; cmp "$work/whole" "$work/changed")"
keep "$vinci" group train "$@" -i 1000s -r 300
report "without the file, too" "$(expect 0 '' "$whole")"
keep "$vinci" group train "$@" -i 1001s -r 300 --checkpoint="$work/torn"
report "a file of other settings is refused" "$(expect 3 "error: $work/torn is not a checkpoint of this training
hint: it begins with other settings; give another file, or remove it"
  cmp "$work/whole" "$work/torn")"
# The last of two options of the same name counts.
report "whichever of the settings is another" "$(for other in --step=3s --steps=50001 -n17 --mtbf=84h --save=21s \
  --blocking=19s --detect=31s --restart=2min --repair=6h --spares=2 --shrink --seed=9; do
  keep "$vinci" group train "$@" -i 1000s "$other" -r 300 --checkpoint="$work/torn"
  [ "$code" -eq 3 ] || echo "$other: exit code $code: $err"
done
cmp "$work/whole" "$work/torn")"
printf 'notes of mine, no line end' >"$work/notes"
keep "$vinci" group train "$@" -i 1000s -r 300 --checkpoint="$work/notes"
report "a file of somebody else is not written over" "$(expect 3 -
  [ "$(cat "$work/notes")" = 'notes of mine, no line end' ] || head -2 "$work/notes")"
head -c 9 "$work/whole" >"$work/begun"
keep "$vinci" group train "$@" -i 1000s -r 300 --checkpoint="$work/begun"
report "a head that a kill has cut is begun anew" "$(expect 0 ''; cmp "$work/begun" "$work/whole" 2>&1)"
keep "$vinci" group train "$@" -i 10min,20min --checkpoint="$work/torn"
report "a file is of one interval" "$(expect 2 'error: --checkpoint keeps the runs of one interval')"

# A checkpoint of 20 GB at 1 GB/s beside nothing that fails: 100 s of work and 10 checkpoints.
keep "$vinci" group train --step=1s --steps=100 --mtbf=0s -b 20000000000B --storage=1GB/s -i 10s --detect=0s --json
report "bytes of a checkpoint, and no failures" "$(expect 0 '' '"time_s": 300.000, "half_s": 0.000')"
keep "$vinci" group train --step=1s --steps=100 --mtbf=200s --save=2s -i 10s,50s --detect=0s -r 9
report "Young's interval" "$(expect 0 '' 'failures of all units): 28.284 s')"
keep "$vinci" group train --step=1s --steps=100 --mtbf=50 --save=2s -i 10s --detect=0s
report "times have a unit" "$(expect 2 'error: --mtbf=50 is not a time up to 36 years
hint: times have a unit: 850ms, 90s, 30min, 5000h, 60d')"
keep "$vinci" group train --step=1s --steps=100 --mtbf=50s --save=2s -i 10s
report "what is missing is named" "$(expect 2 'error: give --detect, or --system, whose collective.timeout detects failures')"
keep "$vinci" group train --step=1s --steps=100000 --mtbf=1s --save=2s -i 1000s --detect=0s
report "a training that never ends is a limit" "$(expect 7 'error: run 0 has not ended after 1000000 failures and 0 years')"
