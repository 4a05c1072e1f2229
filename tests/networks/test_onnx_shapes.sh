#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The reader of ONNX against the shape inference of Debian's python3-onnx.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
needs_python onnx
"$vinci" --version | grep -q 'ONNX models: read$' || skip_all 'built without the reader of ONNX'
work_folder test_onnx_shapes
python_test "$srcdir/tests/networks/onnx_shapes.py" "$work" "$vinci"
