#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Products on the 950 from source: loads, copies and the fixpipe in the forms of that chip, beside numpy.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
work_folder test_products
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/products.py" "${VINCI:-./vinci}" "$work"
