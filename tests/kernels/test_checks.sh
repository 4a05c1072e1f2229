#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each row of the page of checks against its example.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
needs_compiler
needs_traps
work_folder test_checks
python_test "$srcdir/tests/kernels/checks.py" "${VINCI:-./vinci}" \
  "$srcdir/kernels/CHECKS.md" "$work"
