#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library exports what the installed headers declare, and nothing else.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
[ -e "${VINCI_SHARED_LIBRARY:?}" ] || skip_all "no shared library in this build"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "instrumented builds export their run-time's symbols"

# "T vinci_run" ...
exported=$(nm -D --defined-only "$VINCI_SHARED_LIBRARY" | awk '{ print $2, $3 }')
functions=$(printf '%s\n' "$exported" | sed -n 's/^T \(vinci_.*\)/\1/p' | sort)
# The name before the first "(" of each declaration marked VINCI_API.
declared=$(awk '
  /^VINCI_API/ { open = 1; text = "" }
  open { text = text " " $0 }
  open && /;/ {
    sub(/\(.*/, "", text)
    count = split(text, word, /[ *]+/)
    print word[count]
    open = 0
  }' "$srcdir/core/vinci.h" "$srcdir/core/vinci_auto.h" "$srcdir/core/vinci_cuts.h" "$srcdir/core/vinci_device.h" "$srcdir/core/vinci_diff.h" "$srcdir/core/vinci_energy.h" "$srcdir/core/vinci_evaluate.h" "$srcdir/core/vinci_gate.h" "$srcdir/core/vinci_group.h" "$srcdir/core/vinci_guest.h" "$srcdir/core/vinci_kernel.h" "$srcdir/core/vinci_net.h" "$srcdir/core/vinci_sensitivity.h" "$srcdir/core/vinci_serving.h" "$srcdir/core/vinci_study.h" "$srcdir/core/vinci_tables.h" "$srcdir/core/vinci_timeline.h" "$srcdir/core/vinci_tune.h" | sort)

plan 3
report "only vinci_* is exported" \
  "$(printf '%s\n' "$exported" | grep -v '^T vinci_')"
report "every declared function is exported" "$(for name in $declared; do
  printf '%s\n' "$functions" | grep -qx "$name" || echo "$name"
done)"
report "every exported function is declared" "$(for name in $functions; do
  printf '%s\n' "$declared" | grep -qx "$name" || echo "$name"
done)"
