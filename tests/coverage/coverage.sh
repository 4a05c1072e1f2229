#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which lines, branches and functions do the tests run? Builds below coverage/ of the working directory without
# optimization and with counts, runs the tests of `make check-fast` but three that such a build cannot pass, or those
# that are named, and prints what coverage.py says. Counts of an earlier call go first; with COVERAGE_KEEP=1 they
# stay, and the tests add theirs.
#   coverage.sh [TEST...]
# Ends with 1 when the library is below a limit, or when a test fails. What a test says of its failure is in its
# .log in coverage/. With named tests there are no limits.
set -euo pipefail
jobs=${COVERAGE_JOBS:-2}
top=$(cd "${TESTS_SRCDIR:-$(dirname "${BASH_SOURCE[0]}")/../..}" && pwd)
place=$PWD/coverage
unset VINCI_DATA VINCI_INSTRUMENT MAKEFLAGS
cd "$top"
. scripts/setup.sh

# Pools of processes and threads count at the same time. An object is not optimized, so that each line of the source
# is there, and each condition a branch.
flags="-O0 --coverage -fprofile-update=atomic"
# configure does without the header: what it compiles to learn of symbols must have no others.
configured "$place" CFLAGS="$flags" CXXFLAGS="$flags"
counted() { make -s -C "$place" -j "$jobs" CPPFLAGS="-include $top/tests/coverage/exit.h" "$@"; }
counted all >&2

# What a build with counts cannot be: free of the names of its folders, without symbols of the compiler, small.
without="tests/tree/check_install.sh tests/tree/check_exports.sh tests/cli/test_peak_memory.sh"

[ -n "${COVERAGE_KEEP:-}" ] || find "$place" -name '*.gcda' -delete
status=0 limits=
if [ $# -gt 0 ]; then
  limits=--no-limits
  counted -k check TESTS="$*" || status=1
else
  echo "left out: $without" >&2
  counted -k check-fast CHECK_WITHOUT="$without" || status=1
fi
# shellcheck disable=SC2086 # no limits, or one word
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tests/coverage/coverage.py "$top" "$place" --jobs "$jobs" $limits || status=1
exit "$status"
