#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Recurrent layers compute what tests/values/layers.py says.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
work_folder test_values_recurrent
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/values/layers.py" "${VINCI:?}" "$work" recurrent
