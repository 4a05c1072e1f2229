#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels of the matrix unit in forms that few kernels use, from source: values beside numpy, checks.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
work_folder test_matrices
python_test "$srcdir/tests/kernels/matrices.py" "${VINCI:-./vinci}" "$work"
