#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs and passes of networks against what tests/cli/net_rules.py works out.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

work_folder test_net_rules
python_test "$srcdir/tests/cli/net_rules.py" "${VINCI:?}" "$work"
