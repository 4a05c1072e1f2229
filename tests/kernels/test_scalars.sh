#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What checks and runs say of loads and stores of scalar code: wrong kernels and right ones.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
needs_compiler
needs_traps
work_folder test_scalars
python_test "$srcdir/tests/kernels/scalars.py" "${VINCI:-./vinci}" "$work"
