#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names and types that the C interface of the 950 adds to those of its classes: values, and what has no model.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
# After a trap the sanitizer maps its memory a second time, and ends the process before the program does.
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "instrumented builds handle traps of kernels themselves"
work_folder test_others
python_test "$srcdir/tests/kernels/others.py" "${VINCI:-./vinci}" "$work"
