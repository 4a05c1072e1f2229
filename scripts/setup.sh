# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # the lists are for those who source this
# What scripts/quickstart, scripts/check and .ci/run share: packages and configured builds.
# Sourced with the top of the source tree as working directory.

build_packages=(build-essential autoconf automake libtool pkg-config
  libsystemc-dev liblua5.4-dev libcsv-dev libdw-dev
  libonnx-dev protobuf-c-compiler libprotobuf-c-dev
  libedit-dev libsqlite3-dev)
test_packages=(libcmocka-dev python3-numpy clang libonnx-testdata python3-onnx lua5.4 patch
  chromium zsh fish libsystemc-doc)

# Half of the time of a build is that of libtool, a shell script that is run for each object. Configured with
# Debian's small shell, it takes half as long as with bash, which configure would choose.
if command -v dash >/dev/null; then
  export CONFIG_SHELL=${CONFIG_SHELL:-$(command -v dash)}
fi

say() {
  printf '\n==> %s\n' "$*" >&2
}

die() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "not root and no sudo; as root run: $*"
  fi
}

# need_packages PACKAGE...: installs what is missing. A fresh machine has no package lists, an old
# one may have outdated ones: they are fetched only when an install fails without that.
need_packages() {
  command -v dpkg-query >/dev/null ||
    die "not a Debian system; install by hand what Debian calls: $*"
  local package missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "installing ${missing[*]}"
  local install=(env DEBIAN_FRONTEND=noninteractive
    apt-get install -y -q --no-install-recommends "${missing[@]}")
  if ! as_root "${install[@]}" >&2; then
    as_root apt-get update -q >&2
    as_root "${install[@]}" >&2
  fi
}

# npm fetches the plotting library of vinci report. Where Node.js is not Debian's, npm is part of its
# package, and Debian's package would replace that.
need_npm() {
  command -v npm >/dev/null || need_packages npm
}

# configure is of the version that it was made with, which the commits behind a tag change. A build folder configures
# itself anew when configure is newer.
refresh_configure() {
  [ "$(sed -n "s/^PACKAGE_VERSION='\(.*\)'\$/\1/p" configure)" != "$(sh scripts/version)" ] || return 0
  say "generating configure of version $(sh scripts/version)"
  autoreconf --force --install >&2
}

# configured DIR [CONFIGURE ARGUMENT...]: makes DIR a configured build folder. Configures anew when
# the arguments are others than last time; changes of the build files are make's business.
configured() {
  local dir=$1
  shift
  [ -e configure ] || {
    say "generating configure"
    autoreconf --install >&2
  }
  mkdir -p "$dir"
  if [ ! -e "$dir/Makefile" ] || [ "$(cat "$dir/arguments" 2>/dev/null)" != "$*" ]; then
    say "configuring $dir"
    rm -rf "$dir"
    mkdir -p "$dir"
    local top=$PWD
    (cd "$dir" && "$top/configure" -q "$@" >&2)
    printf '%s\n' "$*" >"$dir/arguments"
  fi
}

# built DIR [MAKE ARGUMENT...]
built() {
  local dir=$1
  shift
  say "building in $dir"
  make -s -C "$dir" -j "$(nproc)" "$@" >&2
}
