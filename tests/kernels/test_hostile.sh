#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels that try to take the simulator down: each ends with a message and an exit code.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
needs_compiler
needs_traps
work_folder test_hostile
python_test "$srcdir/tests/kernels/hostile.py" "${VINCI:-./vinci}" "$work"
