#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operators that ONNX Runtime contributes, in models that python3-onnx makes.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
# Debian's packages are those of Debian's Python.
python=/usr/bin/python3
"$python" -c 'import onnx' 2>/dev/null || skip_all 'python3-onnx is not installed'
"$vinci" --version | grep -q 'ONNX models: read$' || skip_all 'built without the reader of ONNX'
work_folder test_onnx_contrib
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/networks/onnx_contrib.py" "$work" "$vinci"
