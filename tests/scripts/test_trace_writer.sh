#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Traces written from Python.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

/usr/bin/python3 -c '' 2>/dev/null || skip_without "python3"
work_folder test_trace_writer
vinci=${VINCI:-./vinci}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
srcdir=$(cd "$srcdir" && pwd)
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$srcdir/tests/scripts/trace_writer.py" "$vinci" \
  "$srcdir/scripts/python" "$work"
