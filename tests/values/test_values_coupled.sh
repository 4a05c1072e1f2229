#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operators on coupled cores against tests/values/coupled.py; VINCI_VALUE_EVERY=1 runs all cases.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 4

seed=${VINCI_VALUE_SEED:-1}
echo "# seed $seed"
for chip in Ascend310P3 Ascend910A; do
  report_run "operators compute what numpy does on $chip" \
    python_test "$TESTS_SRCDIR/tests/values/coupled.py" "${VINCI:?}" \
    --soc "$chip" --every "${VINCI_VALUE_EVERY:-40}" --seed "$seed"
  report_run "attention as layers computes what numpy does on $chip" \
    python_test "$TESTS_SRCDIR/tests/values/scores.py" "${VINCI:?}" \
    --soc "$chip" --seed "$seed"
done
