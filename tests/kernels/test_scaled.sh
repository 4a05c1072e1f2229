#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Products of scaled operands on the 950 from source, beside numpy, and what is said of mistakes.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
work_folder test_scaled
python_test "$srcdir/tests/kernels/scaled.py" "${VINCI:-./vinci}" "$work"
