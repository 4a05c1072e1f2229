#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hints of a source that keep data out of L2: what hits, and what a recorded trace says.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
needs_compiler
work_folder test_hints
python_test "$srcdir/tests/kernels/hints.py" "${VINCI:-./vinci}" "$work"
