#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The platform of core/SYSTEMC.md, compiled as the page says against what is installed.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
library=${VINCI_SHARED_LIBRARY:?}

[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "the library is instrumented"
work_folder test_systemc_page
plan 4

mkdir "$work/include"
for header in "$srcdir"/core/vinci*.h; do
  ln -s "$(realpath "$header")" "$work/include/"
done
awk '/^```cpp$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$srcdir/core/SYSTEMC.md" >"$work/platform.cc"
# shellcheck disable=SC2046 # words of pkg-config
keep "${CXX:-g++}" -std=c++17 -Wall -Wextra -Werror -isystem "$work/include" "$work/platform.cc" -o "$work/platform" \
  "$library" $(pkg-config --cflags --libs systemc) -Wl,-rpath,"$(dirname "$library")"
report "the platform compiles without a warning" "$([ "$code" -eq 0 ] || echo "$err" | head -n 20)"
SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1
export SYSTEMC_DISABLE_COPYRIGHT_MESSAGE
keep "$work/platform"
report "it runs two operators, one after the other" "$(
  [ "$code" -eq 0 ] || echo "exit code $code: $err"
  printf '%s\n' "$out" | sed 's/[0-9][0-9]*/N/g' >"$work/shape"
  printf 'relu: N cycles, N ps\nsoftmax: N cycles, ends at N ps\n' | diff - "$work/shape")"
first=$out
keep "$work/platform"
report "with the same times each time" "$([ "$out" = "$first" ] || printf '%s\n' "$out")"
# The page: bytes over the channel's rate, and a few microseconds of launch, start and the last answer.
cycles=$(printf '%s\n' "$first" | sed -n 's/^relu: \([0-9]*\) cycles.*/\1/p')
report "the memory binds" "$(awk -v cycles="$cycles" 'BEGIN {
  us = cycles / 1650; least = 2 * 16 * 256 * 1024 * 2 / 400e3
  if (us < least || us > 1.2 * least) print us " us, at least " least }')"
