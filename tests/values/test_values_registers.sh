#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random register instructions against tests/values/registers.py.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
plan 1

seed=${VINCI_VALUE_SEED:-1}
report_run "register instructions compute what the reference says" \
  env PYTHONDONTWRITEBYTECODE=1 "$python" "$TESTS_SRCDIR/tests/values/registers.py" tests/values/driver \
  --seed "$seed"
