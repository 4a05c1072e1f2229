#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The platforms of traces/examples/systemc, compiled against what is installed, and what they print.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
library=${VINCI_SHARED_LIBRARY:?}
[ -e "$library" ] || skip_all "no shared library in this build"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "the library is instrumented"
pkg-config --exists systemc || skip_without "SystemC"

work_folder test_systemc_examples
SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE
mkdir "$work/include"
for header in "$srcdir"/core/vinci*.h; do
  ln -s "$(realpath "$header")" "$work/include/"
done

# build NAME [FLAGS]: problems of compiling an example.
build() {
  name=$1
  shift
  # shellcheck disable=SC2046 # words of pkg-config
  keep "${CXX:-g++}" -std=c++17 -Wall -Wextra -Werror -isystem "$work/include" "$@" \
    "$srcdir/traces/examples/systemc/$name.cpp" -o "$work/$name" "$library" \
    $(pkg-config --cflags --libs systemc) -Wl,-rpath,"$(dirname "$library")"
  [ "$code" -eq 0 ] || echo "$err" | head -n 20
}
# prints PATTERN: problems of the example's output, numbers as N.
prints() {
  [ "$code" -eq 0 ] || echo "exit code $code: $err"
  printf '%s\n' "$out" | sed 's/[0-9][0-9.]*/N/g' >"$work/shape"
  printf '%s\n' "$1" | diff - "$work/shape"
}

plan 2

report "host compiles" "$(build host)"
keep "$work/host"
report "a host launches two kernels by registers and reads right values after the interrupts" "$(
  prints 'launch N ends at N ps, N cycles
launch N ends at N ps, N cycles
values are right')"
