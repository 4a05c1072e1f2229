#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random vector instructions against tests/values/vector.py; VINCI_VALUE_CASES says how many.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 1

seed=${VINCI_VALUE_SEED:-1}
echo "# seed $seed"
report_run "vector instructions compute what the reference says" \
  python_test "$TESTS_SRCDIR/tests/values/vector.py" tests/values/driver \
  --cases "${VINCI_VALUE_CASES:-8000}" --seed "$seed"
