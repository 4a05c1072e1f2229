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

# Debian has no bus for TLM but that of SystemC's examples.
models=/usr/share/doc/libsystemc/examples/tlm/common/include/models

plan 13

report "host compiles" "$(build host)"
keep "$work/host"
report "a host launches two kernels by registers and reads right values after the interrupts" "$(
  prints 'launch N ends at N ps, N cycles
launch N ends at N ps, N cycles
values are right')"

report "memory compiles" "$(build memory)"
keep "$work/memory"
report "chips behind memories of their own run side by side" "$(
  prints 'N GB/s, N ns: N cycles, N bytes read, N written
N GB/s, N ns: N cycles, N bytes read, N written
N GB/s, N ns: N cycles, N bytes read, N written
N GB/s, N ns: N cycles, N bytes read, N written')"
# 4 MiB at half the rate take 5.6 us longer, of which the launch hides a part; 320 ns of latency hold up as many
# bytes as are under way.
report "latency and rate of a memory cost what they should" "$(printf '%s\n' "$out" | awk '
  { sub(":", "", $4); cycles[NR] = $5 }
  END {
    if (cycles[2] < 2 * cycles[1]) print "latency: " cycles[2]
    if (cycles[3] < cycles[1] + 7000 || cycles[3] > cycles[1] + 9300) print "half the rate: " cycles[3]
    if (cycles[4] > cycles[1]) print "twice the rate: " cycles[4]
  }')"

report "two_chips compiles" "$(build two_chips)"
keep "$work/two_chips"
report "two chips behind one memory run" "$(
  prints 'blocks=N, alone: N us, the memory is busy for N of them
blocks=N, both: N us, the memory is busy for N of them
blocks=N, alone: N us, the memory is busy for N of them
blocks=N, both: N us, the memory is busy for N of them')"
report "they slow each other down as far as the memory is busy" "$(printf '%s\n' "$out" | awk '
  { us[NR] = $3; busy[NR] = $10 }
  END {
    if (us[2] > 1.3 * us[1]) print "few cores: " us[1] " and " us[2]
    if (us[4] < 1.5 * us[3]) print "all cores: " us[3] " and " us[4]
    for (i = 1; i <= 4; i++) if (us[i] < busy[i]) print us[i] " us, busy for " busy[i]
  }')"

report "recorder compiles" "$(build recorder)"
keep sh -c "cd '$work' && exec ./recorder"
report "a recorder writes a row for each request" "$(prints 'N requests in requests.csv'
  rows=$(($(wc -l <"$work/requests.csv") - 1))
  [ "$out" = "$rows requests in requests.csv" ] || echo "$out: $rows rows"
  head -n 1 "$work/requests.csv" | grep -qx 'ps,device,core,access,address,bytes,latency_ps' || head -n 1 "$work/requests.csv")"
# x and y of 64 x 256 numbers of 2 bytes.
report "which are the bytes of the tensors" "$(awk -F, 'NR > 1 { bytes[$4] += $6 } END {
  if (bytes["read"] != 32768 || bytes["write"] != 32768) print bytes["read"], bytes["write"] }' "$work/requests.csv")"

if [ -e "$models/SimpleBusLT.h" ]; then
  report "bus compiles" "$(build bus -isystem "$models")"
  keep "$work/bus"
  report "a bus of others carries registers, memory and requests" "$(prints 'N cycles, values are right')"
else
  report "bus compiles # SKIP no libsystemc-doc" "$([ -z "${VINCI_ALL_PACKAGES:-}" ] || echo "scripts/check has not installed libsystemc-doc")"
  report "a bus of others carries registers, memory and requests # SKIP no libsystemc-doc" ""
fi
