#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels of programs beyond their memory, and data caches of programs.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
needs_compiler
[ -e "${VINCI_SHARED_LIBRARY:?}" ] || skip_all "no shared library in this build"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "programs do not bring the run-time of instrumented libraries"
work_folder test_beyond
python_test "$srcdir/tests/kernels/beyond.py" "${VINCI:-./vinci}" "$work"

