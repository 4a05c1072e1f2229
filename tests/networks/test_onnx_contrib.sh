#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operators that ONNX Runtime contributes, in models that python3-onnx makes.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
needs_python onnx
"$vinci" --version | grep -q 'ONNX models: read$' || skip_all 'built without the reader of ONNX'
work_folder test_onnx_contrib
python_test "$srcdir/tests/networks/onnx_contrib.py" "$work" "$vinci"
