#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of vinci run --ops against what tests/cli/ops_table.py works out.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

work_folder test_ops_table
python_test "$srcdir/tests/cli/ops_table.py" "${VINCI:?}" "$work"
