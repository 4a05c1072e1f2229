#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timed.sh DRIVER...: runs Automake's driver of a test and adds to the test's .trs file what the test takes, in
# seconds: of the clock, then of processors. The second number is the same on a machine with other work.
# `make slowest` prints them.
set -u
trs=
before=
for word; do
  [ "$before" != --trs-file ] || trs=$word
  before=$word
done
began=$(date +%s)
"$@"
code=$?
ended=$(date +%s)
[ -n "$trs" ] || exit "$code"

# The last line of `times` is user and system time of children, as 1m2.500s. Behind a pipe `times` would speak
# of another shell.
times >"$trs.times"
used=$(awk 'END { gsub(/s/, ""); split($1, user, "m"); split($2, own, "m")
  print int(60 * (user[1] + own[1]) + user[2] + own[2] + 0.5) }' "$trs.times")
rm -f "$trs.times"
echo ":seconds: $((ended - began)) $used" >>"$trs"
exit "$code"
