#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every row of tests/mutants/mutants.txt still fits the sources, and one that does not is named;
# `make mutants` runs them.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python
work_folder test_mutants
plan 5

# check TREE: applies the rows of a tree, in memory.
check() {
  keep python_test "$TESTS_SRCDIR/tests/mutants/mutants.py" "$1" \
    "$work/build" --check
}

check "$TESTS_SRCDIR"
report "every mistake to be noticed stands where the table says" "$(expect 0 '' 'mutants fit')"

mkdir -p "$work/tree/core" "$work/tree/tests/mutants"
cat >"$work/tree/core/a.c" <<'END'
int twice(int x) {
  return x +
         x;
}

int once(int x) { return x; }
END
for tests in unit script long late; do
  printf '%s_tests = \\\n\ttests/core/test_core\n' "$tests"
done >"$work/tree/tests/local.mk"

# row IN WAS [TEST]: a table of one row.
row() {
  cat >"$work/tree/tests/mutants/mutants.txt" <<END
[a-row]
in    $1
was   $2
is    0
says  it is wrong
class timing
by    ${3:-test_core}
END
}

row "core/a.c twice" "x + x"
check "$work/tree"
report "white space does not count" "$(expect 0 '' '1 mutants fit')"

row "core/a.c twice" "x"
check "$work/tree"
report "a text that stands more often" "$(expect 2 "error: mutants.txt:1: a-row: 'x' stands 3 times in \
core/a.c twice")"

row "core/a.c thrice" "x"
check "$work/tree"
report "a function that is not there" "$(expect 2 "error: mutants.txt:1: a-row: core/a.c has 0 \
functions thrice")"

row "core/a.c twice" "x + x" test_cores
check "$work/tree"
report "a test that is not there" "$(expect 2 "error: mutants.txt:1: a-row: there is no test test_cores")"
