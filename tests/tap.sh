# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# TAP for the script tests: plan N, then N times `report NAME PROBLEMS`.

tap_number=0

plan() {
  echo "1..$1"
}

# Ends a test that cannot run here.
skip_all() {
  echo "1..0 # SKIP $1"
  exit 0
}

# One result; it fails when there are problems, one per line.
report() {
  tap_number=$((tap_number + 1))
  if [ -z "$2" ]; then
    echo "ok $tap_number - $1"
  else
    echo "not ok $tap_number - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
  fi
}
