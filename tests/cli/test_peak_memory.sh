#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Peak memory follows the text of a trace, not the executed instructions: 8192^3 has 8 times those of 4096^3.
# A report keeps the first million instructions, packed, in 9 bytes each. For its estimates it replays those of one of
# the 20 cores, a twentieth of the million, in 190 bytes each: 9 MiB. A product of 8192 takes 23.8 MiB with both.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
vinci=${VINCI:?}

needs_python
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "sanitizers have memory of their own"
plan 3

# peak SIDE [OPTION]...: KiB of a product of that side, or nothing when a run fails. The least of three runs: how many
# pages of libraries the system maps ahead varies by half a MiB, which only adds, and on a busy host to all three.
peak() {
  side=$1
  shift
  "$PYTHON" -c 'import os, sys
def peak():
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(sys.argv[1], sys.argv[1:])
    _, status, used = os.wait4(pid, 0)
    return None if status else used.ru_maxrss
peaks = [peak() for _ in range(3)]
print("" if None in peaks else min(peaks))' "$vinci" run matmul "m=$side" "k=$side" "n=$side" -s Ascend910B4 \
    --memory=flat --savings=none "$@"
}

small=$(peak 4096 -q)
large=$(peak 8192 -q)
kept=$(peak 8192)
report "eight times the instructions take a tenth more memory at most, and those pages" "$(
  [ $(((${large:-99999} - 512) * 10)) -le $((${small:-1} * 11)) ] || echo "$small KiB, then $large KiB")"
report "the product of 8192 takes 32 MiB at most without a record" "$(
  [ "${large:-99999}" -le 32768 ] || echo "$large KiB")"
report "with a record of a million instructions, and the replay of a core, 25 MiB at most" "$(
  [ "${kept:-99999}" -le 25600 ] || echo "$kept KiB, without $large KiB")"
