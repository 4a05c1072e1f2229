#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Program, library, Lua and Python give the same bytes for 50 workloads: summary.json of operators and traces, reports
# of checks, tensors, tables of lists, and the times of networks and jobs. The host's part of summary.json is left out.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
. "$srcdir/tests/support/workloads.sh"
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

plan 5

# Paths are those of the sources, which reports name.
cd "$srcdir" || exit 99

# same NAME COMMAND...: what the command prints, and leaves in a folder, is what the program does.
same() {
  name=$1 folder=$work/of.${2##*/}
  shift
  mkdir "$folder"
  keep "$@" $workloads_soc "$folder" <"$list"
  report "$name" "$(expect 0 ''; workload_results "$work/out" "$folder" | diff "$work/wanted" - | head -n 20)"
}

mkdir "$work/program"
number=0
while read -r line; do
  number=$((number + 1))
  # shellcheck disable=SC2086 # a kind and its arguments
  workload "$vinci" "$work/program" $number $line || echo "fails: $line"
done <"$list" >"$work/printed"
workload_results "$work/printed" "$work/program" >"$work/wanted"
report "there are 50 workloads" "$([ "$(wc -l <"$list")" -eq 50 ] || wc -l <"$list")"
report "the program runs all" "$(grep fails "$work/printed"
  [ "$(grep -c '"schema"' "$work/printed")" -eq "$(grep -c '^run\|^trace' "$list")" ] || echo "results are missing"
  [ "$(grep -c '^ok: \|^====== SUMMARY' "$work/printed")" -ge "$(grep -c '^check' "$list")" ] || echo "reports are missing"
  [ "$(grep -c '^net\|^group' "$work/printed")" -eq "$(grep -c '^net\|^group' "$list")" ] || echo "times are missing"
  [ "$(find "$work/program" -type f | wc -l)" -ge "$(grep -c '^values\|^list' "$list")" ] || echo "files are missing")"
"$CC" "$srcdir/tests/python/same.c" -I"$srcdir/core" -o "$work/same" "$library" || exit 99
LD_LIBRARY_PATH=$(dirname "$library")
export LD_LIBRARY_PATH
same "the library gives the same" "$work/same"
same "so does Lua" "$vinci" lua "$srcdir/tests/python/same.lua"
same "and Python" "$PYTHON" "$srcdir/tests/python/same.py"
