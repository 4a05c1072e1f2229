#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The index of operators is what the tables say, and the help has what the index leaves out.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

work_folder test_operators
plan 4
"${VINCI:?}" compile --list --markdown >"$work/operators.md" 2>&1
report "lower/OPERATORS.md is up to date" "$(
  cmp -s "$work/operators.md" "$TESTS_SRCDIR/lower/OPERATORS.md" ||
    echo "write it with 'vinci compile --list --markdown > lower/OPERATORS.md'"
)"
report "it has a row for each operator" "$(
  "$VINCI" compile --list | sed -n 's/^\([a-z0-9_]*\): .*/\1/p' | while read -r name; do
    grep -q "^| \`$name\` " "$work/operators.md" || echo "$name has none"
  done
)"
report "each operator has tests of its values" "$(
  "$VINCI" compile --list | sed -n 's/^\([a-z0-9_]*\): .*/\1/p' | while read -r name; do
    grep -qE "\"${name}[\" ]" "$TESTS_SRCDIR"/tests/values/*.py || echo "$name has none"
  done
)"
report "the help of an operator has keys, defaults, the vendor's names and the case of its bound" "$(
  "$VINCI" compile softmax --help >"$work/help"
  for text in 'stands for SoftmaxV2' 'shape=shape .*(required)' '(default fp16)' 'Tiling, chosen by cost' \
    'Compared with its bound (.*): at most [0-9.]* times as long for shape='; do
    grep -q "$text" "$work/help" || echo "no $text"
  done
)"
