#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each instruction that computes or moves values has a reference in numpy: tests/values/coverage.py.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 1

report_run "each instruction has a reference, on each architecture and for each type" \
  python_test "$TESTS_SRCDIR/tests/values/coverage.py" tests/values/driver
