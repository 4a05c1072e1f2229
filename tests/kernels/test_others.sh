#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names and types that the C interface of the 950 adds to those of its classes: values, and what has no model.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
needs_traps
work_folder test_others
python_test "$srcdir/tests/kernels/others.py" "${VINCI:-./vinci}" "$work"
