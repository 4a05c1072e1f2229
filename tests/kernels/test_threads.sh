#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Functions of threads and masks in UB of the 950 from source: values, checks, time, mistakes.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
work_folder test_threads
python_test "$srcdir/tests/kernels/threads.py" "${VINCI:-./vinci}" "$work"
