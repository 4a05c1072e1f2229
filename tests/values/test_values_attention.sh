#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lowered flash attention and its gradient against tests/values/attention.py; VINCI_VALUE_EVERY=1 runs
# all cases. Coupled cores run a list of their own, whole.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 4

seed=${VINCI_VALUE_SEED:-1}
echo "# seed $seed"
for chip in Ascend910B4 Ascend950PR_9589 Ascend310P3 Ascend910A; do
  report_run "flash attention computes what numpy does on $chip" \
    python_test "$TESTS_SRCDIR/tests/values/attention.py" "${VINCI:?}" \
    --soc "$chip" --every "${VINCI_VALUE_EVERY:-12}" --seed "$seed"
done
