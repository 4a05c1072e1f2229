#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels at the edges: ways out of the process, what no check has looked at, operands that are cut, forms of source.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
needs_traps
work_folder test_edges
python_test "$srcdir/tests/kernels/edges.py" "${VINCI:-./vinci}" "$work"
