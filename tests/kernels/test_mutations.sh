#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Examples whose flags, barriers, dcci and indices are changed one at a time: what a check says of those that matter.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
needs_compiler
needs_traps
work_folder test_mutations
python_test "$srcdir/tests/kernels/mutations.py" "${VINCI:-./vinci}" \
  tests/kernels/schedules "$srcdir/traces/examples/source" "$work"
