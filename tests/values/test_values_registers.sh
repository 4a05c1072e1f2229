#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random register instructions against tests/values/registers.py.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 1

seed=${VINCI_VALUE_SEED:-1}
report_run "register instructions compute what the reference says" \
  python_test "$TESTS_SRCDIR/tests/values/registers.py" tests/values/driver \
  --seed "$seed"
