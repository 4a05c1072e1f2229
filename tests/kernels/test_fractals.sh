#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What checks say of fractals, pads and rows that are written in part: wrong kernels and right ones.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c '' 2>/dev/null || skip_without "Python"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "instrumented builds handle traps of kernels themselves"
work_folder test_fractals
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/fractals.py" "${VINCI:-./vinci}" "$work"
