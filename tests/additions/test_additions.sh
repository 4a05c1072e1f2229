#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every patch of tests/additions still fits the sources, alone and with the others, and CONTRIBUTING.md
# shows it; one that does not is named. `make additions` builds and runs them.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

needs_python
command -v patch >/dev/null || skip_without "patch"
work_folder test_additions
plan 5

# check TREE: applies the patches of a tree.
check() {
  keep python_test "$TESTS_SRCDIR/tests/additions/additions.py" "$1" \
    "$work/build" --check
}

check "$TESTS_SRCDIR"
report "every addition fits the sources, and the guide shows it" "$(expect 0 '' 'additions fit')"

tree=$work/tree
mkdir -p "$tree/core" "$tree/tests/additions"
printf 'one\ntwo\nthree\n' >"$tree/core/list.def"

# addition FILES LINE: a patch that adds a row behind LINE, and a guide that shows the patch.
addition() {
  cat >"$work/diff" <<END
--- a/core/list.def
+++ b/core/list.def
@@ -1,2 +1,3 @@
 one
+more
 $2
END
  { printf 'says a row\nfiles %s\n\n' "$1"; cat "$work/diff"; } >"$tree/tests/additions/row.patch"
  { printf 'Rows\n\n```diff tests/additions/row.patch\n'; cat "$work/diff"; printf '```\n'; } \
    >"$tree/CONTRIBUTING.md"
}

addition 1 two
check "$tree"
report "a patch that fits" "$(expect 0 '' '1 additions fit')"

addition 2 two
check "$tree"
report "a count of files that is wrong" "$(expect 2 "error: row.patch: says files 2, and changes 1 \
outside tests/: core/list.def")"

addition 1 three
check "$tree"
report "a patch that does not fit" "$(expect 2 "error: row.patch: does not fit the sources
1 out of 1 hunk FAILED")"

addition 1 two
sed -i 's/^+more$/+other/' "$tree/CONTRIBUTING.md"
check "$tree"
report "a guide that shows another patch" "$(expect 2 "error: row.patch: CONTRIBUTING.md shows another \
patch; --renew writes this one")"
