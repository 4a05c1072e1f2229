#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Networks of layers compute what tests/values/layers.py says, with each pass and without.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
work_folder test_values_layers
python_test "$srcdir/tests/values/layers.py" "${VINCI:?}" "$work" passes
