#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that call AscendCL too late or with what is gone, and programs that fork.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
needs_compiler
[ -e "${VINCI_SHARED_LIBRARY:?}" ] || skip_all "no shared library in this build"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "programs do not bring the run-time of instrumented libraries"
work_folder test_handles
python_test "$srcdir/tests/kernels/handles.py" "${VINCI:-./vinci}" "$work"
