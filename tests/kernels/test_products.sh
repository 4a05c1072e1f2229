#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Products on the 950 from source: loads, copies and the fixpipe in the forms of that chip, beside numpy.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"

needs_python numpy
needs_compiler
work_folder test_products
python_test "$srcdir/tests/kernels/products.py" "${VINCI:-./vinci}" "$work"
