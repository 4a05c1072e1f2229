#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every file under version control is in the release tarball.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
[ -e "$srcdir/.git" ] || skip_all "not a git working copy"
tracked=$(cd "$srcdir" && git ls-files 2>/dev/null) || skip_all "git cannot list the files"
# Without the outer make's flags, or the inner one talks of its job server.
listed=$(MAKEFLAGS='' "${MAKE:-make}" -s list-dist) || exit 99

plan 1
report "every tracked file is distributed" "$(for file in $tracked; do
  # .gitignore is for working copies; a removed file may still be tracked.
  if [ "$file" = .gitignore ] || [ ! -e "$srcdir/$file" ]; then continue; fi
  printf '%s\n' "$listed" | grep -qxF "$file" || echo "missing in a local.mk: $file"
done)"
