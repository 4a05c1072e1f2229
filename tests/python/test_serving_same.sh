#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Streams of requests for a language model: library, Lua and Python give the same latencies, and what the engines did.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
"$PYTHON" -c '' 2>/dev/null || skip_without "python3"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "an interpreter cannot load an instrumented library"
library=${VINCI_SHARED_LIBRARY:?}
[ -e "$library" ] || skip_all "no shared library in this build"
command -v "${CC:=cc}" >/dev/null || skip_without "$CC"
MAKEFLAGS='' "${MAKE:-make}" -s python/vinci/.made >/dev/null || exit 99
PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
LD_LIBRARY_PATH=$(dirname "$library")
export PYTHONPATH PYTHONDONTWRITEBYTECODE LD_LIBRARY_PATH
work_folder test_serving_same
"$CC" "$srcdir/tests/python/serving.c" -I"$srcdir/core" -o "$work/serving" "$library" || exit 99

plan 4
keep "$work/serving"
cp "$work/out" "$work/wanted"
report "the library serves mixed and apart, with pages enough and too few" "$(expect 0 ''
  [ "$(wc -l <"$work/wanted")" -eq 16 ] || cat "$work/wanted"
  awk 'NR % 4 == 0 { print ($6 > 0) }' "$work/wanted" | tr -d '\n' | grep -qx 0111 || cat "$work/wanted")"
keep "$vinci" lua "$srcdir/tests/python/serving.lua"
report "so does Lua" "$(expect 0 ''; diff "$work/wanted" "$work/out")"
keep "$PYTHON" "$srcdir/tests/python/serving.py"
report "and Python" "$(expect 0 ''; diff "$work/wanted" "$work/out")"
cat >"$work/wrong.py" <<'END'
import vinci


def told(wanted, *requests, **options):
    try:
        vinci.serving_run(requests, **{"pages": 10, "step": lambda one: 1, **options})
        print("not refused: " + wanted)
    except (vinci.Error, ZeroDivisionError) as error:
        if wanted not in str(error):
            print(error)


told("there is no request")
told("request 2 comes before the request before", (5, 1, 1), (4, 1, 1))
told("a request of 1501 tokens needs more than the 10 pages that there are", (0, 1500, 1))
told("prefill and decode are given together", (0, 1, 1), prefill=1)
told("pages is 0", (0, 1, 1), pages=0)
told("the time of a step is -1", (0, 1, 1), step=lambda one: -1)
told("by zero", (0, 1, 1), step=lambda one: 1 // 0)
told("by zero", (0, 1, 2), prefill=1, decode=1, send=lambda tokens: 1 // 0)
END
keep "$PYTHON" "$work/wrong.py"
report "mistakes, and errors of functions" "$(expect 0 ''; cat "$work/out")"
