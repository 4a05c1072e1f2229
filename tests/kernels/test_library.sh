#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operators of a library with sources: host tiling, kernels, the cache, messages.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
needs_traps
work_folder test_library
python_test "$srcdir/tests/kernels/library.py" "${VINCI:-./vinci}" \
  "$srcdir/tests/kernels/library" "$work"
