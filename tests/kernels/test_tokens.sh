#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copies and tokens of buffers of the 950 from source: values, what two buffers gain, checks, mistakes.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
work_folder test_tokens
python_test "$srcdir/tests/kernels/tokens.py" "${VINCI:-./vinci}" "$work"
