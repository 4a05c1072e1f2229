#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole kernels with values against numpy, tests/values/kernels.py.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
work_folder test_values_kernels
python_test "$TESTS_SRCDIR/tests/values/kernels.py" "${VINCI:?}" "$work" \
  --seed "${VINCI_VALUE_SEED:-1}"
