#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Traces written from Python.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python
work_folder test_trace_writer
vinci=${VINCI:-./vinci}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
srcdir=$(cd "$srcdir" && pwd)
python_test "$srcdir/tests/scripts/trace_writer.py" "$vinci" \
  "$srcdir/scripts/python" "$work"
