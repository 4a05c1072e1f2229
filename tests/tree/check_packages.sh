#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packages of Debian. Versions agree; each file that is installed is in a package. With VINCI_PACKAGES=1, which takes
# as long as a build: dpkg-buildpackage makes the packages, lintian finds nothing, and what they unpack to works.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
case $srcdir in /*) ;; *) srcdir=$PWD/$srcdir ;; esac
work_folder check_packages "$PWD"

plan 6

version=$(sed -n 's/^AC_INIT(\[vinci\], \[\([^]]*\)\].*/\1/p' "$srcdir/configure.ac")
report "the versions of configure.ac, debian/changelog and CITATION.cff agree" "$(
  head -n 1 "$srcdir/debian/changelog" | grep -qF "vinci ($version)" || head -n 1 "$srcdir/debian/changelog"
  grep -qx "version: $version" "$srcdir/CITATION.cff" || grep version: "$srcdir/CITATION.cff")"
report "each package has a list of files, and each list a package" "$(cd "$srcdir/debian" &&
  sed -n 's/^Package: //p' control | sort >"$work/packages"
  printf '%s\n' *.install | sed 's/\.install$//' | sort | diff "$work/packages" -)"

missing=''
for tool in dpkg-buildpackage dh lintian; do command -v $tool >/dev/null || missing="$missing $tool"; done
if [ -z "${VINCI_PACKAGES:-}" ] || [ -n "$missing" ] || [ ! -e "$srcdir/.git" ]; then
  why="it takes as long as a build: VINCI_PACKAGES=1"
  [ -z "$missing" ] || why="missing:$missing"
  for what in "the packages are built" "lintian finds nothing" "the program of the packages runs" "so does Python"; do
    report "$what # SKIP $why" ""
  done
  exit
fi

mkdir -p "$work/build/vinci" "$work/root"
(cd "$srcdir" && git ls-files -z | xargs -0 tar -cf -) | tar -xf - -C "$work/build/vinci"
[ ! -e "$srcdir/cli/report/uplot.html" ] || cp "$srcdir/cli/report/uplot.html" "$work/build/vinci/cli/report/"
# Not the flags and places of the build that runs this test.
keep env -u MAKEFLAGS -u MFLAGS -u VINCI_DATA -u VINCI_SHARED_LIBRARY sh -c \
  "cd '$work/build/vinci' && dpkg-buildpackage -us -uc -b -j2"
report "the packages are built" "$(expect 0 - | tail -n 40
  while read -r package; do
    [ -e "$(echo "$work/build/${package}_"*.deb)" ] || echo "no package $package"
  done <"$work/packages")"
keep lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$work"/build/*.changes
report "lintian finds nothing" "$(expect 0 -; printf '%s\n' "$out" | grep '^[EW]:')"
for package in "$work"/build/*.deb; do
  case $package in *-dbgsym_*) ;; *) dpkg-deb -x "$package" "$work/root" ;; esac
done
LD_LIBRARY_PATH=$(dirname "$(find "$work/root/usr/lib" -name libvinci.so.0)") VINCI_DATA=$work/root/usr/share/vinci
export LD_LIBRARY_PATH VINCI_DATA
unset VINCI_SHARED_LIBRARY
keep "$work/root/usr/bin/vinci" run matmul m=64 k=64 n=64 -s Ascend910B4
report "the program of the packages runs" "$(expect 0 '' 'matmul on Ascend910B4')"
keep env PYTHONPATH="$work/root/usr/lib/python3/dist-packages" /usr/bin/python3 -B -c \
  'import vinci; print(vinci.run("matmul m=64 k=64 n=64", chip="Ascend910B4"))'
report "so does Python" "$(expect 0 '' 'matmul on Ascend910B4')"
