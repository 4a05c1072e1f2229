#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels at the edges: ways out of the process, what no check has looked at, operands that are cut, forms of source.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
# After a trap the sanitizer maps its memory a second time, and ends the process before the program does.
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "instrumented builds handle traps of kernels themselves"
work_folder test_edges
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/edges.py" "${VINCI:-./vinci}" "$work"
