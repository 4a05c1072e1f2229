#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the reader of ONNX says of models that it cannot read, and limits of models that nobody has.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
needs_python onnx
"$vinci" --version | grep -q 'ONNX models: read$' || skip_all 'built without the reader of ONNX'
work_folder test_onnx_errors
python_test "$srcdir/tests/networks/onnx_errors.py" "$work" "$vinci" "$srcdir"
