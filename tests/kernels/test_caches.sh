#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What checks say of the data caches of the cores.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
needs_compiler
needs_traps
work_folder test_caches
python_test "$srcdir/tests/kernels/caches.py" "${VINCI:-./vinci}" "$work"
