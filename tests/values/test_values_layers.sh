#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks of layers compute what tests/values/layers.py says, with each pass and without.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || skip_without "numpy"
work_folder test_values_layers
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/values/layers.py" "${VINCI:?}" "$work" passes
