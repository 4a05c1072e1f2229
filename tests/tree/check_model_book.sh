#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the model book says of numbers, accuracies, files and commands is so.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
needs_python
plan 1
report "the model book is that of these chips and of ACCURACY.md" \
  "$(python_test "$srcdir/tests/accuracy/model_book.py" "${VINCI:?}" "$srcdir" 2>&1)"
