#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Values as the data caches of the cores leave them.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
needs_traps
work_folder test_dcache
python_test "$srcdir/tests/kernels/dcache.py" "${VINCI:-./vinci}" "$work"
