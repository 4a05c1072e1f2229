#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Convolutions and pools of ONNX models have the values that tests/networks/onnx_windows.py works out.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
needs_python onnx
"$vinci" --version | grep -q 'ONNX models: read$' || skip_all 'built without the reader of ONNX'
work_folder test_onnx_windows
python_test "$srcdir/tests/networks/onnx_windows.py" "$work" "$vinci"
