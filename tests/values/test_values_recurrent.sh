#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Recurrent layers compute what tests/values/layers.py says.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
work_folder test_values_recurrent
python_test "$srcdir/tests/values/layers.py" "${VINCI:?}" "$work" recurrent
