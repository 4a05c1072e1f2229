#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operators of a library with sources: host tiling, kernels, the cache, messages.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
# After a trap the sanitizer maps its memory a second time, and ends the process before the program does.
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "instrumented builds handle traps of kernels themselves"
work_folder test_library
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/library.py" "${VINCI:-./vinci}" \
  "$srcdir/tests/kernels/library" "$work"
