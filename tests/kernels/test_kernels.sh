#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels in C++ from source to result: values beside numpy, checks, mistakes at their lines.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
work_folder test_kernels
python_test "$srcdir/tests/kernels/kernels.py" "${VINCI:-./vinci}" \
  "$srcdir/traces/examples/source" "$work"
