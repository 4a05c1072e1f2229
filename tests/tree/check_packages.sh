#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Packages of Debian. Versions agree; each file that is installed is in a package. With VINCI_PACKAGES=1, which takes
# as long as two builds: dpkg-buildpackage makes the packages, the same bytes in two folders; lintian finds nothing; what
# they unpack to works, also in a Debian of its own (debootstrap, as root) without a compiler, and goes when removed.
# VINCI_MIRROR names the mirror of that Debian; else it is that of this machine.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
case $srcdir in /*) ;; *) srcdir=$PWD/$srcdir ;; esac
work_folder check_packages "$PWD"

plan 11

version=$(sed -n 's/^version: //p' "$srcdir/CITATION.cff")
report "the versions of debian/changelog and CITATION.cff agree" "$(
  head -n 1 "$srcdir/debian/changelog" | grep -qF "vinci ($version)" || head -n 1 "$srcdir/debian/changelog")"
report "each package has a list of files, and each list a package" "$(cd "$srcdir/debian" &&
  sed -n 's/^Package: //p' control | sort >"$work/packages"
  printf '%s\n' *.install | sed 's/\.install$//' | sort | diff "$work/packages" -)"
report "the bill of materials of the page has what is taken in, with version and checksum" "$(cd "$srcdir/cli/report" &&
  grep -c '"node_modules/' package-lock.json >"$work/taken"
  [ "$(grep -c '^ExternalRef: PACKAGE-MANAGER purl pkg:npm/' page.spdx)" = "$(cat "$work/taken")" ] || echo "not $(cat "$work/taken") packages"
  release=$(sed -n 's/.*"version": "\(.*\)",/\1/p' package-lock.json)
  sum=$(sed -n 's/.*"integrity": "sha512-\(.*\)",/\1/p' package-lock.json | base64 -d | od -An -v -tx1 | tr -d ' \n')
  grep -qx "PackageVersion: $release" page.spdx || echo "not version $release"
  grep -qx "PackageChecksum: SHA512: $sum" page.spdx || echo "not checksum $sum"
  sed -n 's/^@include //p' template.html | grep -vx uplot.html | while read -r piece; do
    grep -q 'SPDX-License-Identifier: Apache-2.0' "$piece" || echo "$piece is not ours, or does not say so"
  done)"
tags=$(git -C "$srcdir" tag --points-at HEAD 2>/dev/null | grep '^v[0-9]')
report "a tag of this commit is the version" "$([ -z "$tags" ] || printf '%s\n' "$tags" | grep -qx "v$version" || echo "$tags, not v$version")"

missing=''
for tool in dpkg-buildpackage dh lintian; do command -v $tool >/dev/null || missing="$missing $tool"; done
if [ -z "${VINCI_PACKAGES:-}" ] || [ -n "$missing" ] || [ ! -e "$srcdir/.git" ]; then
  why="it takes as long as a build: VINCI_PACKAGES=1"
  [ -z "$missing" ] || why="missing:$missing"
  for what in "the packages are built" "lintian finds nothing" "the program of the packages runs" "so does Python" \
    "a second build in another folder gives the same bytes" "quickstart's job runs in a tree of its own, without a compiler" \
    "and nothing is left when the packages are removed"; do
    report "$what # SKIP $why" ""
  done
  exit
fi

# packages_in FOLDER: builds there, without the flags and places of the build that runs this test, and without a cache
# of compilers, which would give the same bytes by itself.
packages_in() {
  mkdir -p "$1/vinci"
  (cd "$srcdir" && git ls-files -z | xargs -0 tar -cf -) | tar -xf - -C "$1/vinci"
  [ ! -e "$srcdir/cli/report/uplot.html" ] || cp "$srcdir/cli/report/uplot.html" "$1/vinci/cli/report/"
  keep env -u MAKEFLAGS -u MFLAGS -u VINCI_DATA -u VINCI_SHARED_LIBRARY CCACHE_DISABLE=1 sh -c \
    "cd '$1/vinci' && dpkg-buildpackage -us -uc -b -j2"
}
mkdir "$work/root"
packages_in "$work/build"
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
unset LD_LIBRARY_PATH VINCI_DATA
packages_in "$work/another/folder"
report "a second build in another folder gives the same bytes" "$(expect 0 - | tail -n 40
  for package in "$work"/build/*.deb; do
    cmp "$package" "$work/another/folder/${package##*/}" 2>&1
  done)"

# ---- a Debian of its own ----
root=$work/debian
why=''
command -v debootstrap >/dev/null || why="missing: debootstrap"
[ "$(id -u)" -eq 0 ] || why="not root"
if [ -z "$why" ]; then
  mirror=${VINCI_MIRROR:-$(sed -n 's/^\(deb .*\|URIs: \)\(https*:[^ ]*\).*/\2/p' /etc/apt/sources.list \
    /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)}
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2086 # no mirror: the usual
  debootstrap --variant=minbase "$suite" "$root" $mirror >"$work/log" 2>&1 || why="debootstrap cannot: $(tail -n 1 "$work/log")"
fi
if [ -n "$why" ]; then
  report "quickstart's job runs in a tree of its own, without a compiler # SKIP $why" ""
  report "and nothing is left when the packages are removed # SKIP $why" ""
  exit
fi
# Everything but vinci's files, before and after.
all_files() { (cd "$root" && find . -path ./proc -prune -o -path ./tmp -prune -o -path ./var -prune -o -print | sort); }
mkdir "$root/tmp/packages"
cp "$work"/build/*.deb "$root/tmp/packages/"
rm -f "$root"/tmp/packages/*-dbgsym_*
cat >"$root/tmp/job" <<'END'
set -e
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
cd /tmp/packages
apt-get install -y -q --no-install-recommends ./vinci_*.deb ./vinci-data_*.deb ./libvinci0_*.deb ./python3-vinci_*.deb
! command -v cc && ! command -v clang
for trace in add8_tile20480_single add1_tile20480 matmul_2048_fp16; do
  case $trace in add*) soc=Ascend910B4 ;; *) soc=Ascend910B1 ;; esac
  vinci run /usr/share/vinci/examples/$trace.csv -s $soc --output=/tmp/out/$trace
  test -s /tmp/out/$trace/summary.json
done
python3 -B -c 'import vinci; print(vinci.run("matmul m=64 k=64 n=64", chip="Ascend910B4"))'
test -e /usr/share/man/man1/vinci-run.1.gz || test -e /etc/dpkg/dpkg.cfg.d/docker
apt-get purge -y -q vinci vinci-data libvinci0 python3-vinci
END
keep chroot "$root" sh /tmp/job
report "quickstart's job runs in a tree of its own, without a compiler" "$(expect 0 - 'matmul on Ascend910B4' | tail -n 40)"
report "and nothing is left when the packages are removed" "$(all_files | grep -i vinci)"
