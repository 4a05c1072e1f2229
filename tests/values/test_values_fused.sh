#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fused operators compute what tests/values/fused.py and chains.py say, and pass all checks; VINCI_VALUE_CHAINS
# says how many random chains.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 2

seed=${VINCI_VALUE_SEED:-1}
echo "# seed $seed"
# values WHAT SCRIPT OPTION...
values() {
  what=$1 script=$2
  shift 2
  report_run "$what compute what numpy does" \
    python_test "$TESTS_SRCDIR/tests/values/$script" "${VINCI:?}" \
    --seed "$seed" "$@"
}
values "fused operators" fused.py
values "chains" chains.py --cases "${VINCI_VALUE_CHAINS:-40}"
