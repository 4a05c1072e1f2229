#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lowered operators of serving engines against tests/values/serving.py, engines.py, found.py, detect.py and detect_net.py; VINCI_VALUE_EVERY=1 runs all cases.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 5

seed=${VINCI_VALUE_SEED:-1}
echo "# seed $seed"
# values SCRIPT EVERY WHAT
values() {
  report_run "$3 compute what numpy does" \
    python_test "$TESTS_SRCDIR/tests/values/$1" "${VINCI:?}" \
    --soc Ascend910B4 --every "${VINCI_VALUE_EVERY:-$2}" --seed "$seed"
}
values serving.py 6 "operators of serving engines"
values engines.py 5 "rotary forms, operators on indices and of sparse attention"
values found.py 5 "results as long as the data say"
values detect.py 4 "operators of detection"
values detect_net.py 1 "the head of a detector"
