#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What README.md shows is real: its report is what the program prints, and its trace runs.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
readme=$srcdir/README.md

work_folder test_readme
plan 4

# The block that begins with "$ vinci VERB": the command, then lines of its output in their order;
# "..." stands for lines left out.
shown_block() {
  awk -v verb="$1" '/^```$/ { if (inside) exit; next } $0 ~ "^\\$ vinci " verb { inside = 1 } inside' \
    "$readme" >"$work/shown"
  command=$(sed -n '1s/^\$ vinci //p' "$work/shown")
}
# Which line of the block the last command did not print, or not there.
missing_line() {
  sed 1d "$work/shown" | grep -vx '\.\.\.' | awk '
    NR == FNR { shown[++count] = $0; next }
    next_one < count && $0 == shown[next_one + 1] { next_one++ }
    END { if (next_one < count) print "not in the output, or not there: " shown[next_one + 1] }
  ' - "$work/out"
}

shown_block run
# shellcheck disable=SC2086,SC2016 # the words of the command; what sh expands
keep sh -c 'cd "$1" && shift && exec "$@"' sh "$srcdir" "$(readlink -f "$vinci")" $command
report "the report of README.md: '$command'" "$(expect 0 -
  missing_line)"

# The suite and the baseline are what the block before the command makes.
program=$(readlink -f "$vinci")
sed -n "/^echo 'return { soc/,/^build.vinci gate bless/p" "$readme" | sed "s,build/vinci,$program," >"$work/bless"
(cd "$work" && sh ./bless >/dev/null) || echo "the suite of README.md cannot be blessed"
shown_block gate
# shellcheck disable=SC2086,SC2016 # as above
keep sh -c 'cd "$1" && shift && exec "$@"' sh "$work" "$program" $command
report "the gate of README.md: '$command'" "$(expect 1 -
  missing_line)"

sed -n '/^ *trace,version=1$/,/^ *endloop$/p' "$readme" >"$work/readme.csv"
keep "$vinci" run "$work/readme.csv" -s Ascend910B4 --check
report "the trace of README.md is correct and runs" "$(expect 0 - 'add on Ascend910B4')"

# Commands with a placeholder for the reader's own file cannot run here.
report "the simulations of README.md run" "$(
  grep -E '^build/vinci run (traces|matmul)' "$readme" | grep -v -e --output -e --input |
    sed 's/^build\/vinci //' | while read -r line; do
    # shellcheck disable=SC2086
    (cd "$srcdir" && exec "$(readlink -f "$vinci")" $line --memory=flat) >"$work/out" 2>&1 ||
      { echo "$line"; cat "$work/out"; }
  done)"
