#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kinds of kernels that serving engines launch (tests/reference/serving_kinds.csv): which are modelled.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

work_folder test_serving_kinds
plan 2
least=77 # of the list, without communication; fewer would be a step back

# "type operator" of all types that operators stand for.
"${VINCI:?}" compile --list | awk '
  /^[a-z0-9_]+: / { name = $1; sub(":", "", name) }
  /^  stands for / { sub("^  stands for ", ""); count = split($0, types, "|")
                     for (i = 1; i <= count; i++) print types[i], name }' >"$work/names"
grep -v '^#\|^type,' "$TESTS_SRCDIR/tests/reference/serving_kinds.csv" >"$work/rows"
report "each kind stands for the operator that the list names" "$(
  while IFS=, read -r type operator source; do
    found=$(awk -v type="$type" '$1 == type { print $2 }' "$work/names")
    [ "${found:--}" = "$operator" ] || echo "$type is '${found:--}', not '$operator' ($source)"
  done <"$work/rows"
)"
all=$(wc -l <"$work/rows")
modelled=$(grep -vc ',-,' "$work/rows")
echo "# $modelled of $all kinds are modelled"
report "at least $least kinds are modelled" "$([ "$modelled" -ge "$least" ] || echo "$modelled of $all")"
