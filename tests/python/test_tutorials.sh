#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every tutorial of TUTORIALS.md runs as it stands, in a folder of its own; commands of workflow files too. It prints
# the lines that blocks of text show.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
case $srcdir in /*) ;; *) srcdir=$PWD/$srcdir ;; esac
"$PYTHON" -c '' 2>/dev/null || skip_without "python3"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "an interpreter cannot load an instrumented library"
[ -e "${VINCI_SHARED_LIBRARY:?}" ] || skip_all "no shared library in this build"
MAKEFLAGS='' "${MAKE:-make}" -s python/vinci/.made >/dev/null || exit 99
PATH=$(cd "$(dirname "${VINCI:?}")" && pwd):$PATH PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
export PATH PYTHONPATH PYTHONDONTWRITEBYTECODE
work_folder test_tutorials "$PWD"
page=$srcdir/scripts/TUTORIALS.md

# What pkg-config says of an installed vinci.
library=$(realpath "$VINCI_SHARED_LIBRARY")
mkdir "$work/include"
ln -s "$(realpath "$srcdir")"/core/vinci*.h "$work/include/"
cat >"$work/vinci.pc" <<END
pkgdatadir=$srcdir/traces
Name: vinci
Description: vinci
Version: 0
Libs: $library -Wl,-rpath,$(dirname "$library")
Cflags: -I$work/include
END
PKG_CONFIG_PATH=$work
export PKG_CONFIG_PATH

# Blocks of a tutorial in one script of sh: those of Python that follow on from one another are one program each,
# as all of their names have to live on. A block of C++ names its file.
awk -v work="$work" '
  function flush() {
    if (text == "")
      return
    file = work "/" count "." ++blocks ".py"
    printf "%s", text >file
    close(file)
    print "\"$PYTHON\" \"" file "\"" >script
    text = ""
  }
  /^## / { flush(); script = work "/" ++count ".sh"; print "set -eu" >script }
  /^```sh$/ { flush(); on = "sh"; next }
  /^```python$/ { on = "python"; next }
  /^```yaml$/ { on = "yaml"; next }
  /^```text$/ { on = "text"; next }
  /^```cpp / { flush(); on = "cpp"; print "cat >" $2 " <<\047END OF FILE\047" >script; next }
  /^```$/ {
    if (on == "cpp")
      print "END OF FILE" >script
    on = ""
    next
  }
  on == "cpp" { print >script }
  on == "text" { print >(work "/" count ".text") }
  on == "sh" { print >script }
  on == "python" { text = text $0 "\n" }
  on == "yaml" && /vinci gate/ { sub(/^[ -]*(run: )?/, ""); print >script }
  END { flush() }' "$page"
titles=$(sed -n 's/^## //p' "$page")
plan "$(printf '%s\n' "$titles" | wc -l)"
number=0
printf '%s\n' "$titles" >"$work/titles"
while read -r title; do
  number=$((number + 1))
  case $title in *integrators*)
    if ! pkg-config --exists systemc || ! "$PYTHON" -c 'import numpy' 2>/dev/null; then
      report "$title # SKIP no SystemC, or no numpy" "$([ -z "${VINCI_ALL_PACKAGES:-}" ] || echo "scripts/check has not installed both")"
      continue
    fi
    ;;
  esac
  mkdir "$work/$number"
  keep sh -c "cd '$work/$number' && exec sh ../$number.sh </dev/null"
  report "$title" "$([ "$code" -eq 0 ] || { echo "exit code $code"; printf '%s\n' "$out" "$err" | tail -n 20; }
    printf '%s\n' "$out" >"$work/$number.out"
    [ ! -e "$work/$number.text" ] || grep -vxF -f "$work/$number.out" "$work/$number.text" | sed 's/^/not printed: /')"
done <"$work/titles"
