#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every file under version control is in the release tarball and reaches the image; a tarball knows its version.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
[ -e "$srcdir/.git" ] || skip_all "not a git working copy"
tracked=$(cd "$srcdir" && git ls-files 2>/dev/null) || skip_all "git cannot list the files"
# Without the outer make's flags, or the inner one talks of its job server.
listed=$(MAKEFLAGS='' "${MAKE:-make}" -s list-dist) || exit 99

plan 3
work_folder check_dist
printf '%s\n' "$tracked" | LC_ALL=C sort >"$work/tracked"
# .gitignore is for working copies; a removed file may still be tracked.
report "every tracked file is distributed" "$({
  printf '%s\n' "$listed"
  echo .gitignore
} | LC_ALL=C sort -u | {
  LC_ALL=C comm -13 - "$work/tracked"
} | while read -r file; do
  [ ! -e "$srcdir/$file" ] || echo "missing in a local.mk: $file"
done)"
report "no tracked file is kept from the image" "$(cd "$srcdir" && git ls-files -ci --exclude-from=.dockerignore)"
# The recipe alone: a whole folder of a tarball takes npm.
made() { MAKEFLAGS='' "${MAKE:-make}" -s "$@" "distdir=$work" 2>&1; }
report "a tarball keeps version and commit, and is not made of a configure of another version" "$(
  made -n dist-hook | grep -qF "$work/.tarball-version" || echo "dist-hook does not write .tarball-version"
  told=$(made dist-version)
  if [ "$(sh "$srcdir/scripts/version" 2>/dev/null)" = "$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"$/\1/p' config.h)" ]; then
    echo "$(sh "$srcdir/scripts/version") $(sh "$srcdir/scripts/version" --commit)" | diff - "$work/.tarball-version" 2>&1
  else
    case $told in *'autoreconf --force'*) ;; *) echo "$told" ;; esac
  fi)"
