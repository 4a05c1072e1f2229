#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Vector functions of the 950 from source: values, checks, times, mistakes at their lines.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
work_folder test_functions
python_test "$srcdir/tests/kernels/functions.py" "${VINCI:-./vinci}" \
  "$srcdir/traces/examples/source" "$work"
