#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lowered vector operators against tests/values/vecops.py, vecmore.py, vecfused.py, vectrain.py and vecjoined.py; VINCI_VALUE_EVERY=1 runs all cases.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python numpy
plan 7

seed=${VINCI_VALUE_SEED:-1}
echo "# seed $seed"
# values SCRIPT WHAT [OPTION...]
values() {
  script=$1 what=$2
  shift 2
  report_run "$what compute what numpy does" \
    python_test "$TESTS_SRCDIR/tests/values/$script" "${VINCI:?}" \
    --every "${VINCI_VALUE_EVERY:-20}" --seed "$seed" "$@"
}
values vecops.py "vector operators"
values vecmore.py "conditions, bits and further vector operators"
values vecfused.py "activations, cells and normalisations"
values vectrain.py "operators of training"
values vecjoined.py "operators that graphs join"
# There softmax, norms and activations are vector functions.
values vecops.py "vector operators of the 950" --soc Ascend950PR_9589 --every 40
values vecfused.py "fused operators of the 950" --soc Ascend950PR_9589 --every 10
