#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lowered operators compute what tests/values/ops.py says; VINCI_VALUE_OPS says how many random ones.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 1

seed=${VINCI_VALUE_SEED:-1}
echo "# seed $seed"
report_run "lowered operators compute what numpy does" \
  python_test "$TESTS_SRCDIR/tests/values/ops.py" "$VINCI" \
  --cases "${VINCI_VALUE_OPS:-20}" --seed "$seed"
