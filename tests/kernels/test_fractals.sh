#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What checks say of fractals, pads and rows that are written in part: wrong kernels and right ones.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
needs_compiler
needs_traps
work_folder test_fractals
python_test "$srcdir/tests/kernels/fractals.py" "${VINCI:-./vinci}" "$work"
