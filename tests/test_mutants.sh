#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every row of tests/mutants/mutants.txt still fits the sources; `make mutants` runs them.
set -u
. "${TESTS_SRCDIR:-.}/tests/tap.sh"

python=/usr/bin/python3
"$python" -c '' 2>/dev/null || skip_all "no python3"
plan 1

if output=$(PYTHONDONTWRITEBYTECODE=1 "$python" "$TESTS_SRCDIR/tests/mutants/mutants.py" \
  "$TESTS_SRCDIR" . --check 2>&1); then
  echo "# $output"
  output=
fi
report "every mistake to be noticed stands where the table says" "$output"
