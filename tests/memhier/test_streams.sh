#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plain streams on every chip reach what its description promises, in both memory models; streams.lua
# prints the table. $VINCI is the program under test; STREAM_CHIPS names some chips, in place of all.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

plan 2
chips=${STREAM_CHIPS:-$("$vinci" soc list | sed 1d | cut -d' ' -f1)}
# shellcheck disable=SC2086 # words
table=$("$vinci" lua "$srcdir/tests/memhier/streams.lua" $chips 2>&1)
code=$?
printf '%s\n' "$table" | sed 's/^/# /'
report "streams reach what is promised, and no more" "$([ $code -eq 0 ] || printf '%s\n' "$table" | grep -E 'LOW|HIGH|rror')"
report "the table has all chips, from HBM and from L2" "$(
  for chip in $chips; do
    [ "$(printf '%s\n' "$table" | grep -c "^$chip ")" -eq 8 ] || echo "$chip"
  done)"
