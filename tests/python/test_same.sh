#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Program, library, Lua and Python give the same summary.json for a list of operators; the host's part, times and
# memory of the simulation, is left out.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
case $srcdir in /*) ;; *) srcdir=$PWD/$srcdir ;; esac
vinci=${VINCI:?}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
"$PYTHON" -c '' 2>/dev/null || skip_without "python3"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "an interpreter cannot load an instrumented library"
library=${VINCI_SHARED_LIBRARY:?}
[ -e "$library" ] || skip_all "no shared library in this build"
command -v "${CC:=cc}" >/dev/null || skip_without "$CC"
MAKEFLAGS='' "${MAKE:-make}" -s python/vinci/.made >/dev/null || exit 99
PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
work_folder test_same "$PWD"
list=$srcdir/tests/python/workloads.txt

plan 4

# What follows "host" in each summary is about the machine.
results() { sed '/"host": {/,/}/d' "$1"; }
soc=Ascend910B4
while read -r line; do
  # shellcheck disable=SC2086 # an operator and its arguments
  "$vinci" run $line -s $soc --json || echo "fails: $line"
done <"$list" >"$work/program"
report "the program runs all" "$(grep fails "$work/program"
  [ "$(grep -c '"schema"' "$work/program")" -eq "$(wc -l <"$list")" ] || echo "results are missing")"
results "$work/program" >"$work/wanted"
"$CC" "$srcdir/tests/python/same.c" -I"$srcdir/core" -o "$work/same" "$library" || exit 99
LD_LIBRARY_PATH=$(dirname "$library") keep "$work/same" $soc <"$list"
report "the library gives the same" "$(expect 0 ''; results "$work/out" | diff "$work/wanted" - | head -n 20)"
keep "$vinci" lua "$srcdir/tests/python/same.lua" $soc <"$list"
report "so does Lua" "$(expect 0 ''; results "$work/out" | diff "$work/wanted" - | head -n 20)"
keep "$PYTHON" "$srcdir/tests/python/same.py" $soc <"$list"
report "and Python" "$(expect 0 ''; results "$work/out" | diff "$work/wanted" - | head -n 20)"
