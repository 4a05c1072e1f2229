#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does vinci give the same bytes on other hosts? Builds the program with other compilers, at other levels of
# optimization and for other processors, below hosts/ of the working directory, and lets each run the 50 workloads of
# tests/python/workloads.txt: what they print (but the part about the machine) and write has to be what the program of
# this build, $VINCI, does. Foreign programs run in qemu-user; s390x has the most significant byte first.
#   hosts.sh [HOST...]   gcc-O0 gcc-O3 clang-O2 aarch64 s390x; without names all. NAME=PROGRAM is not built: what
#                        PROGRAM does, say by a script that asks another machine, is compared
# Prints a table. Ends with 1 when a byte differs or a build fails. A host whose compiler is missing is left out, which
# the table says; with VINCI_ALL_HOSTS=1 that is a failure.
set -euo pipefail
jobs=${HOSTS_JOBS:-$(nproc)}
top=$(cd "${TESTS_SRCDIR:-$(dirname "${BASH_SOURCE[0]}")/../..}" && pwd)
vinci=$(realpath "${VINCI:?the program to compare with}")
place=$PWD/hosts
unset VINCI_DATA VINCI_INSTRUMENT MAKEFLAGS
cd "$top"
. scripts/setup.sh
. tests/support/workloads.sh
mkdir -p "$place"
work=$place/scratch.$$
list=tests/python/workloads.txt
all_hosts=(gcc-O0 gcc-O3 clang-O2 aarch64 s390x)

# What is optional, and does not take part in results, stays away where another host would need it too. Warnings
# are a matter of the usual build: each compiler has some of its own.
options=(--without-systemc --without-libedit --without-report)

# The libraries of another architecture, from the archive that this machine installs its packages from. Nothing is
# installed: lists and packages lie in a folder of their own. foreign_libraries ARCHITECTURE
foreign_libraries() {
  local root=$place/libraries-$1
  [ ! -e "$root/complete" ] || return 0
  rm -rf "$root"
  mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial" "$root/packages"
  : >"$root/apt/status"
  cat >"$root/apt/configuration" <<END
APT::Architecture "$1";
APT::Architectures {"$1";};
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::State "$root/apt";
Dir::State::status "$root/apt/status";
Dir::Cache "$root/apt/cache";
END
  export APT_CONFIG=$root/apt/configuration
  if ! apt-get -qq update >"$root/log" 2>&1 || ! (cd "$root/packages" && apt-get -qq download liblua5.4-dev \
    liblua5.4-0 libcsv-dev libcsv3 libprotobuf-c-dev libprotobuf-c1 libsqlite3-dev libsqlite3-0) >>"$root/log" 2>&1; then
    unset APT_CONFIG
    return 1
  fi
  unset APT_CONFIG
  local package
  for package in "$root"/packages/*.deb; do
    dpkg -x "$package" "$root"
  done
  rm -rf "$root/apt" "$root/packages"
  touch "$root/complete"
}

# Says why a host is left out, or nothing.
why_not() {
  case $1 in
    clang-*) command -v clang >/dev/null || echo "no clang" ;;
    aarch64 | s390x)
      command -v "$1-linux-gnu-gcc" >/dev/null || { echo "no $1-linux-gnu-gcc" && return; }
      command -v "qemu-$1" >/dev/null || command -v "qemu-$1-static" >/dev/null || { echo "no qemu-$1" && return; }
      foreign_libraries "$(debian_name "$1")" || echo "no libraries: $(tail -n 1 "$place/libraries-$(debian_name "$1")/log")"
      ;;
  esac
}

debian_name() { echo "${1/aarch64/arm64}"; }

# Builds the program for a host; its path, or that of a script that runs it, is in $program.
build_for() {
  local host=${1%%=*} dir=$place/$1
  program=$dir/vinci
  case $1 in
    *=*)
      program=${1#*=}
      return
      ;;
    gcc-*) configured "$dir" "${options[@]}" CC=gcc CXX=g++ CFLAGS="-g -${host#*-}" CXXFLAGS="-g -${host#*-}" ;;
    clang-*) configured "$dir" "${options[@]}" CC=clang CXX=clang++ CFLAGS="-g -${host#*-}" CXXFLAGS="-g -${host#*-}" ;;
    *)
      local triplet=$host-linux-gnu root emulator
      root=$place/libraries-$(debian_name "$host")
      PKG_CONFIG_LIBDIR=$root/usr/lib/$triplet/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
        configured "$dir" "${options[@]}" --host="$triplet" --build="$(gcc -dumpmachine)" PKG_CONFIG=pkg-config \
        CPPFLAGS="-I$root/usr/include -I$root/usr/include/$triplet" LDFLAGS="-L$root/usr/lib/$triplet"
      emulator=$(command -v "qemu-$host" || command -v "qemu-$host-static")
      program=$dir/run
      printf '#!/bin/sh\nexec %s -L /usr/%s -E LD_LIBRARY_PATH=%s/usr/lib/%s:/usr/%s/lib %s/vinci "$@"\n' \
        "$emulator" "$triplet" "$root" "$triplet" "$triplet" "$dir" >"$program"
      chmod +x "$program"
      ;;
  esac
  make -s -C "$dir" -j "$jobs" vinci >&2
}

# run_all PROGRAM FOLDER: for each line of the list a file with the results.
run_all() {
  local line number=0
  rm -rf "$2"
  mkdir -p "$2"
  while read -r line; do
    number=$((number + 1))
    rm -rf "$work"
    mkdir -p "$work/files"
    # shellcheck disable=SC2086 # a kind and its arguments
    workload "$1" "$work/files" "$number" $line </dev/null >"$work/printed" || echo "fails" >>"$work/printed"
    workload_results "$work/printed" "$work/files" >"$2/$number"
  done <"$list"
  rm -rf "$work"
}

# How many workloads differ from those of this build; names the first of each kind.
differing() {
  local number=0 line
  while read -r line; do
    number=$((number + 1))
    if ! cmp -s "$place/results/$number" "$1/$number"; then
      echo "$line"
    fi
  done <"$list"
}

[ $# -gt 0 ] || set -- "${all_hosts[@]}"
run_all "$vinci" "$place/results"
workloads=$(wc -l <"$list")
if grep -l '^fails' "$place"/results/* >&2; then
  die "this build does not run all workloads"
fi
status=0
rows=()
for host in "$@"; do
  reason=$(why_not "$host")
  if [ -n "$reason" ]; then
    rows+=("$(printf '%-9s  left out: %s' "$host" "$reason")")
    [ -z "${VINCI_ALL_HOSTS:-}" ] || status=1
    continue
  fi
  if ! build_for "$host"; then
    rows+=("$(printf '%-9s  does not build' "$host")")
    status=1
    continue
  fi
  began=$SECONDS
  host=${host%%=*}
  run_all "$program" "$place/results-$host"
  others=$(differing "$place/results-$host")
  count=$(printf '%s' "$others" | grep -c . || true)
  rows+=("$(printf '%-9s  %2d of %d the same  %4d s' "$host" $((workloads - count)) "$workloads" $((SECONDS - began)))")
  if [ "$count" -gt 0 ]; then
    printf '%s: differs: %s\n' "$host" "${others//$'\n'/; }" >&2
    status=1
  fi
done
printf 'host       workloads\n'
printf '%s\n' "${rows[@]}"
exit $status
