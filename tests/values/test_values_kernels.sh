#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole kernels with values against numpy, tests/values/kernels.py.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
work_folder test_values_kernels
PYTHONDONTWRITEBYTECODE=1 "$python" "$TESTS_SRCDIR/tests/values/kernels.py" "${VINCI:?}" "$work" \
  --seed "${VINCI_VALUE_SEED:-1}"
