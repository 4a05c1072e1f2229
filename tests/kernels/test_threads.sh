#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Functions of threads and masks in UB of the 950 from source: values, checks, time, mistakes.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
work_folder test_threads
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/threads.py" "${VINCI:-./vinci}" "$work"
