#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copies and tokens of buffers of the 950 from source: values, what two buffers gain, checks, mistakes.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
work_folder test_tokens
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/tokens.py" "${VINCI:-./vinci}" "$work"
