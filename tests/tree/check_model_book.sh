#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the model book says of numbers, accuracies, files and commands is so.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
python=/usr/bin/python3
[ -x "$python" ] || skip_without python3
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
plan 1
report "the model book is that of these chips and of ACCURACY.md" \
  "$("$python" "$srcdir/tests/accuracy/model_book.py" "${VINCI:?}" "$srcdir" 2>&1)"
