#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Results that are kept (journals, repositories, networks) belong to a model revision. When the baseline
# of the gate moves, what was kept of the model before must not be taken: the revision has to rise, and
# tests/gate/revisions gets a line with the new revision and the sum of the baseline.
set -u
cd "${TESTS_SRCDIR:-.}" || exit 99
. tests/support/tap.sh

plan 2
revision=$(sed -n 's/^#define VINCI_MODEL_REVISION "\([0-9]*\)"$/\1/p' core/base/status.c)
# Without the head, which names the revision itself, and the rows that repeat the revision.
sum=$(grep -v -e '^#' -e 'model\.revision' tests/gate/operators.csv | cksum | cut -d' ' -f1)
report "the baseline of the gate is that of the model revision" "$(
  [ "$(grep -v '^#' tests/gate/revisions | tail -n 1)" = "$revision $sum" ] || {
    echo "revision $revision, sum of tests/gate/operators.csv $sum: no such last line in tests/gate/revisions"
    echo "the baseline has moved: raise VINCI_MODEL_REVISION (core/base/status.c) and add the line"
  })"
report "revisions rise" "$(grep -v '^#' tests/gate/revisions | awk '$1 <= last { print "line " NR ": " $0 } { last = $1 }')"
