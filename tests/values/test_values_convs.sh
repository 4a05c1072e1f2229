#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Convolutions and their gradients compute what tests/values/convs.py says, and pass all checks;
# VINCI_VALUE_CONVS says how many random ones.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 1

seed=${VINCI_VALUE_SEED:-1}
echo "# seed $seed"
report_run "convolutions compute what numpy does" \
  python_test "$TESTS_SRCDIR/tests/values/convs.py" "$VINCI" \
  --cases "${VINCI_VALUE_CONVS:-10}" --seed "$seed"
