#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every experiment of scripts/experiments runs, prints and writes a table; answers that do not depend
# on the finer points of the model hold. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_experiments
output=--output=$work

plan 25
for script in "$srcdir"/scripts/experiments/*.lua; do
  name=$(basename "$script" .lua)
  case $name in common | effects) continue ;; esac
  "$vinci" lua "$script" --quick "$output" >"$work/$name.out" 2>"$work/$name.err"
  code=$?
  report "$name" "$([ $code -eq 0 ] || cat "$work/$name.err"
    [ "$(wc -l <"$work/$name.out")" -ge 3 ] || echo "no table"
    awk 'length > 80 && !/^drawn: \// { print "too long for a terminal: " $0 }' "$work/$name.out"
    tail -n 1 "$work/$name.svg" | grep -q '^</svg>$' || echo "no picture"
    if command -v xmllint >/dev/null; then xmllint --noout "$work/$name.svg" 2>&1; fi
    awk -F, 'NR == 1 { n = NF } NF != n' "$work/$name.csv")"
done
# column NAME N: a column of the table, of its CSV: names of columns can take several lines where they are printed.
column() { awk -F, -v n="$2" 'NR > 1 { print $n }' "$work/$1.csv"; }
report "more cores are not slower" "$(column core_scaling 2 | sort -c -r -n 2>&1)"
report "faster memory is not slower" "$(column hbm_bandwidth 3 | sort -c -r -n 2>&1)"
report "two buffers gain" "$(column double_buffering 4 | awk '$1 <= 1')"
report "shared memory needs no more than is alive" "$(grep -q 'drawn: pass: .* 0.0 % over' "$work/memory_plans.out" ||
  cat "$work/memory_plans.out")"
report "requests wait longer at a higher rate" "$(column serving 3 | awk 'NR == 1 { first = $1 } { last = $1 } END { if (last < first) print first, last }')"
"$vinci" lua "$srcdir/scripts/experiments/roofline.lua" --quik >/dev/null 2>"$work/err"
report "a misspelt option" "$([ $? -eq 2 ] || echo "exit code"; grep -q '^usage: ' "$work/err" ||
  cat "$work/err")"
# Claims about techniques, each with what the simulator gives: all of effects/ run and hold.
"$vinci" lua "$srcdir/scripts/experiments/effects.lua" --quick >"$work/effects.out" 2>"$work/effects.err"
report "the effects that users rely on are there" "$([ $? -eq 0 ] || cat "$work/effects.out" "$work/effects.err"
  for file in "$srcdir"/scripts/experiments/effects/*.lua; do
    grep -q "^\(pass\|no\) .*, $(basename "$file" .lua): " "$work/effects.out" || echo "no $file"
  done)"
"$vinci" lua "$srcdir/scripts/experiments/effects.lua" --only=gear >/dev/null 2>"$work/err"
report "an effect that is not there" "$([ $? -eq 2 ] || echo "exit code"
  grep -q "^error: no effect 'gear'" "$work/err" || cat "$work/err")"
for wrong in --rate=0 --rate=nan --prompt=9-1; do
  "$vinci" lua "$srcdir/scripts/experiments/serving.lua" --quick $wrong >"$work/$wrong.out" 2>"$work/$wrong.err"
  echo "$?"
done >"$work/codes"
report "serving.lua refuses a rate of nothing, and the larger number first" "$(
  [ "$(sort -u "$work/codes")" = 2 ] || cat "$work/codes"
  cat "$work"/--*.out
  grep -q '^error: --rate takes numbers above 0, not 0' "$work/--rate=0.err" || cat "$work/--rate=0.err"
  grep -q '^error: --prompt takes two numbers, the smaller first' "$work/--prompt=9-1.err" || cat "$work/--prompt=9-1.err")"
"$vinci" lua "$srcdir/scripts/experiments/serving.lua" --tp=none >/dev/null 2>"$work/err"
report "serving.lua refuses words for numbers, and has help" "$([ $? -eq 2 ] || echo "exit code"
  grep -q "^error: --tp takes a number from 1, not none" "$work/err" || cat "$work/err"
  "$vinci" lua "$srcdir/scripts/experiments/serving.lua" --help | grep -q -- "--prefill=N" || echo "no help")"
