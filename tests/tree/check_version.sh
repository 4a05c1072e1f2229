#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The version comes from a tag, else from CITATION.cff; a release keeps version and commit in a file. What a release
# changes by hand names one version.
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

plan 9
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
# refused VERSION COMMIT: what is wrong where git does not read the working copy.
refused() {
  told=$(PATH=$work/bin:$PATH sh "$top/scripts/version" 2>"$work/said")
  [ "$told" = "$1" ] || echo "$told, not $1"
  grep -q '^warning: git does not read this working copy: the version is that of .*(fatal: dubious ownership)$' "$work/said" ||
    cat "$work/said"
  told=$(PATH=$work/bin:$PATH sh "$top/scripts/version" --commit 2>/dev/null)
  [ "$told" = "$2" ] || echo "commit $told, not $2"
}
mkdir -p "$work/bin"
printf '#!/bin/sh\necho "fatal: dubious ownership" >&2\nexit 128\n' >"$work/bin/git"
chmod +x "$work/bin/git"
report "where git refuses a working copy, CITATION.cff has the version, which is told" "$(refused 1.2.0 '')"
echo '1.3.0 0123456789' >"$top/.tarball-version"
report "or the file of a release, with its commit" "$(refused 1.3.0 0123456789)"
rm -rf "$top/.git"
report "a release has both in its file" "$(tells 1.3.0
  [ "$(sh "$top/scripts/version" --commit)" = 0123456789 ] || sh "$top/scripts/version" --commit)"

wanted=$(sed -n 's/^version: //p' "$srcdir/CITATION.cff")
report "the page of the manual and Debian's list of changes have the version of CITATION.cff" "$(
  sed -n 's/^\.TH VINCI 1 "" "vinci \(.*\)" "User Commands"$/\1/p' "$srcdir/cli/vinci.1" | grep -qxF "$wanted" ||
    echo "cli/vinci.1: $(grep '^\.TH' "$srcdir/cli/vinci.1"), not $wanted"
  sed -n '1s/^vinci (\([^-)]*\).*/\1/p' "$srcdir/debian/changelog" | grep -qxF "$wanted" ||
    echo "debian/changelog: $(sed 1q "$srcdir/debian/changelog"), not $wanted")"
