#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each row of the page of checks against its example.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c '' 2>/dev/null || skip_without "Python"
clang++ --version >/dev/null 2>&1 || skip_without "clang++"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "instrumented builds handle traps of kernels themselves"
work_folder test_checks
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/kernels/checks.py" "${VINCI:-./vinci}" \
  "$srcdir/kernels/CHECKS.md" "$work"
