#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Values as the data caches of the cores leave them.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "instrumented builds handle traps of kernels themselves"
work_folder test_dcache
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/dcache.py" "${VINCI:-./vinci}" "$work"
