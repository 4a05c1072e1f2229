#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The reference of operators is what the tables say.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

work_folder test_operators
plan 3
"${VINCI:?}" compile --list --markdown >"$work/operators.md" 2>&1
report "lower/OPERATORS.md is up to date" "$(
  cmp -s "$work/operators.md" "$TESTS_SRCDIR/lower/OPERATORS.md" ||
    echo "write it with 'vinci compile --list --markdown > lower/OPERATORS.md'"
)"
report "it has a section for each operator" "$(
  "$VINCI" compile --list | sed -n 's/^\([a-z0-9_]*\): .*/\1/p' | while read -r name; do
    grep -q "^## $name\$" "$work/operators.md" || echo "$name has none"
  done
)"
report "each operator has tests of its values" "$(
  "$VINCI" compile --list | sed -n 's/^\([a-z0-9_]*\): .*/\1/p' | while read -r name; do
    grep -qE "\"${name}[\" ]" "$TESTS_SRCDIR"/tests/values/*.py || echo "$name has none"
  done
)"
