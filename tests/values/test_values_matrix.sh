#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random transfers and mads against tests/values; VINCI_VALUE_CASES says how many.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 2

seed=${VINCI_VALUE_SEED:-1}
cases=${VINCI_VALUE_CASES:-8000}
echo "# seed $seed"
# check REFERENCE CASES TEXT
check() {
  report_run "$3" \
    python_test "$TESTS_SRCDIR/tests/values/$1" tests/values/driver \
    --cases "$2" --seed "$seed"
}
check transfers.py $((cases * 5 / 4)) "transfers move and convert what the reference says"
check cube.py $((cases / 4)) "mad computes what the reference says"
