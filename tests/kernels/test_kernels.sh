#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels in C++ from source to result: values beside numpy, checks, mistakes at their lines.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
work_folder test_kernels
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/kernels.py" "${VINCI:-./vinci}" \
  "$srcdir/traces/examples/source" "$work"
