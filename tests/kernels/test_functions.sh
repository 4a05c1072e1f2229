#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Vector functions of the 950 from source: values, checks, times, mistakes at their lines.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
work_folder test_functions
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/functions.py" "${VINCI:-./vinci}" \
  "$srcdir/traces/examples/source" "$work"
