#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The binary interface of the library is that of core/abi.txt: constants, layouts of structs, types of functions, as
# the headers declare these. check_exports.sh asks whether the library exports what the headers declare.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
case $srcdir in /*) ;; *) srcdir=$PWD/$srcdir ;; esac
"$PYTHON" -c 'import ctypes; raise SystemExit(ctypes.sizeof(ctypes.c_void_p) != 8)' 2>/dev/null ||
  skip_without "python3 of 64 bits"
[ -e "${VINCI_SHARED_LIBRARY:?}" ] || skip_all "no shared library in this build"
MAKEFLAGS='' "${MAKE:-make}" -s python/vinci/_abi.py >/dev/null || exit 99
PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
work_folder check_abi "$PWD"

plan 3

abi() { keep "$PYTHON" "$srcdir/tests/python/abi.py" "$@"; }
abi "$srcdir/core/abi.txt"
report "programs that were linked before find what they know" "$(expect 0 ''; printf '%s\n' "$out" | sed '/^new: /d')"
report "what is new is listed" "$(printf '%s\n' "$out" | sed -n '/^new: /p')"
# A field that moves, and a function that goes.
sed 's/^field vinci_run_options.memory 48 /field vinci_run_options.memory 40 /; s/ vinci_run(/ vinci_walk(/' \
  "$srcdir/core/abi.txt" >"$work/abi.txt"
abi "$work/abi.txt"
report "a change is told" "$(expect 0 '' 'gone or changed: field vinci_run_options.memory 40 int32
gone or changed: function int32 vinci_walk(void*, void*, vinci_run_options*, void**, vinci_diag*)
new: field vinci_run_options.memory 48 int32
new: function int32 vinci_run(void*, void*, vinci_run_options*, void**, vinci_diag*)
make abi writes core/abi.txt; after a release, what is gone or changed raises -version-info in Makefile.am')"
