#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels of the matrix unit in forms that few kernels use, from source: values beside numpy, checks.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
work_folder test_matrices
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/matrices.py" "${VINCI:-./vinci}" "$work"
