#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The version comes from a tag, else from CITATION.cff; a release keeps version and commit in a file.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
command -v git >/dev/null || skip_without git
work_folder check_version "$PWD"
top=$work/sources
mkdir -p "$top/scripts"
cp "$srcdir/scripts/version" "$top/scripts/"
echo 'version: 1.2.0' >"$top/CITATION.cff"
git() { command git -C "$top" -c user.name=vinci -c user.email=vinci@example.org -c commit.gpgsign=false -c tag.gpgsign=false "$@"; }
commit() { git commit -q --allow-empty -m "$1"; }
# tells VERSION: what is wrong with the version.
tells() {
  version=$(cd "$work" && sh "$top/scripts/version")
  [ "$version" = "$1" ] || echo "$version, not $1"
}

plan 6
report "sources without git and without a file have the version of CITATION.cff" "$(tells 1.2.0
  sh "$top/scripts/version" --commit)"
git init -q && git add . && commit first
report "a working copy without tags, too" "$(tells 1.2.0)"
report "its commit is told" "$([ "$(sh "$top/scripts/version" --commit)" = "$(git rev-parse --short=10 HEAD)" ] ||
  sh "$top/scripts/version" --commit)"
git tag v1.2.1
git tag other
report "a tag is the version" "$(tells 1.2.1)"
commit second
commit third
git tag vague
report "commits behind the tag are counted" "$(tells 1.2.1+2)"
rm -rf "$top/.git"
echo '1.3.0 0123456789' >"$top/.tarball-version"
report "a release has both in its file" "$(tells 1.3.0
  [ "$(sh "$top/scripts/version" --commit)" = 0123456789 ] || sh "$top/scripts/version" --commit)"
