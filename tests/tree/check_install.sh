#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `make install` installs works by itself: it names neither sources nor build folder, reads its
# own data, and its pages name no file that is not there. A program of the build folder reads the
# sources, from any working directory. `make installcheck` gives $INSTALLED_ROOT; without that the test
# installs below its working directory.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
work_folder install "$PWD"
places=$(MAKEFLAGS='' "${MAKE:-make}" -s list-places ${INSTALLED_PREFIX:+"prefix=$INSTALLED_PREFIX"}) ||
  exit 99
eval "$places"
# Assigned by the line above.
: "${prefix:?} ${bindir:?} ${libdir:?} ${includedir:?} ${mandir:?} ${docdir:?} ${pkgdatadir:?}"
: "${luacpathdir:?} ${pkgconfigdir:?} ${pythondir=} ${sources:?} ${build:?}"
# Also as they are without the dots of a relative path.
sources_resolved=$(cd "$sources" && pwd) || exit 99
build_resolved=$(cd "$build" && pwd) || exit 99
root=${INSTALLED_ROOT:-}
if [ -z "$root" ]; then
  root=$work/stage
  MAKEFLAGS='' "${MAKE:-make}" -s install DESTDIR="$root" >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 99
  }
fi
installed=$root$bindir/vinci
data=$root$pkgdatadir
doc=$root$docdir
unset VINCI_DATA
vinci=${VINCI:?}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac

plan 14

# Debug information names sources on purpose and is stripped. The prefix may itself lie in the build
# folder.
find "$root$bindir/vinci" "$root$includedir"/vinci*.h "$root$libdir"/libvinci* "$root$luacpathdir"/vinci* \
  "$root$pkgconfigdir/vinci.pc" "$data" "$doc" "$root$mandir/man1/vinci.1" -type f >"$work/files"
[ ! -d "$root$pythondir/vinci" ] || find "$root$pythondir/vinci" -type f >>"$work/files"
[ -z "${VINCI_INSTRUMENT:-}" ] || : >"$work/files" # sanitizers keep the places of all they check
report "no installed file names sources or build folder" "$(while read -r file; do
  cp "$file" "$work/copy"
  chmod u+w "$work/copy"
  case $file in */vinci | *.so* | *.a) strip -g "$work/copy" || echo "strip: $file" ;; esac
  LC_ALL=C sed "s,$prefix,,g" "$work/copy" | grep -aoF -e "$build" -e "$sources" -e "$build_resolved" \
    -e "$sources_resolved" -e ../../ | sort -u | sed "s,^,$file names ,"
done <"$work/files")"

pages="README.md ACCURACY.md CHECKS.md ENERGY.md LUA.md MODEL.md FORMAT.md GRAPH.md KERNELS.md OPERATORS.md PYTHON.md REPORT.md SYSTEMC.md TABLES.md TUTORIALS.md VALUES.md CHANGELOG.md LICENSE"
report "the pages are installed" "$(for page in $pages; do [ -s "$doc/$page" ] || echo "$page"; done
  cmp "$srcdir/LICENSE" "$doc/LICENSE")"

# Folders of the sources; tests/ is said to be there.
mkdir "$work/help"
"$installed" help >"$work/help/all"
# The verbs as the list has them, and the commands of verbs as the sources name them.
verbs=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' "$work/help/all")
commands=$(cd "$srcdir" && sed -n 's/.*\.name = "\([a-z]* [a-z]*\)".*/\1/p' cli/*.c cli/*/*.c)
printf '%s\n' "$verbs" "$commands" | grep -vx help | while read -r words; do
  # shellcheck disable=SC2086 # a verb and its command
  "$installed" $words --help >"$work/help/$words" || echo "$words"
done >"$work/silent"
synopsis=$(sed -n '/^\.SH SYNOPSIS/,/^\.SH DESCRIPTION/p' "$root$mandir/man1/vinci.1")
report "the synopsis of the manual names each verb and command" "$([ -n "$verbs" ] || echo "no verbs"
  printf '%s\n' "$verbs" "$commands" | while read -r verb command; do
    lines=$(printf '%s\n' "$synopsis" | sed -n "/^\.B vinci $verb\$/,/^\.br/p")
    [ -n "$lines" ] || echo "$verb"
    [ -z "$command" ] || printf '%s\n' "$lines" | grep -qw "$command" || echo "$verb $command"
  done)"
report "pages, manual, header and help name no file of the sources" "$(cat "$work/silent"
  for file in "$doc"/*.md "$root$mandir/man1/vinci.1" "$root$includedir"/vinci*.h "$work"/help/*; do
    grep -nE '(^|[^A-Za-z0-9_/.@-])(build|traces|lower|networks|devices|studies|tune|kernels|scripts|core|cube|cli|\.)/[A-Za-z.]' "$file" |
      grep -v 'https*:\|in the sources\|networks/[a-z]*\.lua' | sed "s,^,$file: ,"
  done)"
report "links of the pages lead to installed files" "$(cd "$doc" && for page in *.md; do
  grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -v '^https*:' | while read -r link; do
    case $link in /*) link=$root$link ;; esac
    [ -e "$link" ] || echo "$page: $link"
  done
done)"

# Without a word where the data is: its own place, which a staged program does not have yet.
keep "$installed" soc list
if [ -d "$pkgdatadir/soc" ]; then
  report "the installed program reads its own data" "$(expect 0 '' Ascend910B4)"
else
  report "the installed program reads its own data" "$(expect 2 "\
error: the hardware descriptions are missing: no folder '$pkgdatadir/soc'
hint: --data=DIR or VINCI_DATA names the folder that holds soc/")"
fi
mkdir "$work/elsewhere"
keep sh -c "cd '$work/elsewhere' && exec '$vinci' soc list"
report "a program of the build folder reads the sources, from anywhere" "$(expect 0 '' Ascend910B4)"
cp "$vinci" "$work/elsewhere/vinci" # no longer one of the build folder
keep "$work/elsewhere/vinci" soc list
report "one that was moved out does not" "$([ -d "$pkgdatadir/soc" ] || expect 2 -
  case $err in *"$sources_resolved"/scripts*) echo "$err" ;; esac)"

VINCI_DATA=$data
export VINCI_DATA
keep "$installed" run "$data/examples/add8_tile10240_double.csv" -s Ascend910B4 --memory=flat
report "an installed example runs" "$(expect 0 - MTE2)"
cd "$work/elsewhere" || exit 99
keep "$installed" lua "$data/experiments/bank_conflicts.lua" --quick
report "an installed experiment runs" "$(expect 0 '' repeat)"
if command -v lua5.4 >/dev/null && [ -z "${VINCI_INSTRUMENT:-}" ]; then
  # shellcheck disable=SC2016
  keep env LUA_CPATH="$root$luacpathdir/?.so" lua5.4 -e 'local vinci = require "vinci"
    local soc = vinci.soc "Ascend910B4"
    print(vinci.run(soc, vinci.compile(soc, "copy", { shape = 64 })):get "total_cycles" > 0, vinci.kernel)'
  report "the stock interpreter has the module" "$(expect 0 '' true)"
else
  report "the stock interpreter has the module # SKIP no lua5.4, or instrumented" "$(without lua5.4)"
fi
if [ -d "$root$pythondir/vinci" ] && [ -z "${VINCI_INSTRUMENT:-}" ]; then
  keep env PYTHONPATH="$root$pythondir" LD_LIBRARY_PATH="$root$libdir" "$PYTHON" -c 'import vinci, vinci.writer
print(vinci.run("copy shape=64", chip="Ascend910B4").total_cycles > 0, vinci.writer.Trace("x").text() > "")'
  report "Python has the module" "$(expect 0 '' 'True True')"
else
  report "Python has the module # SKIP no Python, or instrumented" ""
fi
report "no file of libtool is installed" "$(find "$root$libdir" -name '*vinci*.la')"
if [ -n "${INSTALLED_ROOT:-}" ]; then
  report "uninstall leaves nothing # SKIP it is the caller's" ""
else
  MAKEFLAGS='' "${MAKE:-make}" -s -C "$build" uninstall DESTDIR="$root" >"$work/log" 2>&1 || cat "$work/log"
  report "uninstall leaves nothing" "$(find "$root" ! -type d; find "$root" -type d -name '*vinci*' | sed 's,$,/,')"
fi
