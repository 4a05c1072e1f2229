#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the reader of ONNX says of models that it cannot read, and limits of models that nobody has.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
# Debian's packages are those of Debian's Python.
python=/usr/bin/python3
"$python" -c 'import onnx' 2>/dev/null || skip_all 'python3-onnx is not installed'
"$vinci" --version | grep -q 'ONNX models: read$' || skip_all 'built without the reader of ONNX'
work_folder test_onnx_errors
PYTHONDONTWRITEBYTECODE=1 "$python" "$srcdir/tests/networks/onnx_errors.py" "$work" "$vinci" "$srcdir"
