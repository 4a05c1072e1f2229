#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The module for Python: its declarations are those of the headers, its examples and the page's steps run, it
# has the names of Lua's, and misuse is an exception.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
case $srcdir in /*) ;; *) srcdir=$PWD/$srcdir ;; esac
vinci=${VINCI:?}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
"$PYTHON" -c '' 2>/dev/null || skip_without "python3"
[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all "an interpreter cannot load an instrumented library"
[ -e "${VINCI_SHARED_LIBRARY:?}" ] || skip_all "no shared library in this build"
MAKEFLAGS='' "${MAKE:-make}" -s python/vinci/.made >/dev/null || exit 99
PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
unset VINCI_DATA VINCI_SHARED_LIBRARY # the package of a build folder finds its own
work_folder test_python "$PWD"
made=$PWD/python
mkdir "$work/without"
echo 'raise ImportError' >"$work/without/numpy.py"
cd "$work" || exit 99

plan 15

if command -v "${CC:=cc}" >/dev/null; then
  keep "$PYTHON" "$srcdir/tests/python/layouts.py" "$srcdir/core" "$CC"
  report "each struct has the layout that the compiler gives" "$(expect 0 ''; printf '%s' "$out")"
else
  report "each struct has the layout that the compiler gives # SKIP no $CC" "$(without "$CC")"
fi
cat >examples.py <<'END'
import doctest, importlib, os, sys
for name in sorted(os.listdir(sys.argv[1])):
    if name.endswith(".py"):
        module = importlib.import_module("vinci" if name == "__init__.py" else "vinci." + name[:-3])
        tried = doctest.testmod(module)
        if not tried.attempted and name[:-3] not in ("_abi", "writer"):
            print(f"{name} has no example")
END
keep "$PYTHON" examples.py "$made/vinci"
report "the examples of the module run" "$(expect 0 ''; printf '%s' "$out")"
awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' "$srcdir/scripts/PYTHON.md" >page.py
keep "$PYTHON" page.py
report "the steps of PYTHON.md run" "$(expect 0 '' 'matmul on Ascend910B4')"
keep env PYTHONPATH="$work/without:$PYTHONPATH" "$PYTHON" page.py
report "without numpy too" "$(expect 0 '' 'matmul on Ascend910B4')"
cat >jobs.py <<'END'
import sys, vinci
step = sys.argv[1] + "/traces/examples/data_parallel.job.csv"
found = vinci.diff(step, {"path": step, "args": {"hccs.copy": "10GB/s"}})
change = round((found.b.duration_us - found.a.duration_us) * 1e6)
for group in {row.group for row in found.ranks}:
    if sum(row.change for row in found.ranks if row.group == group) != change:
        print(group, change)
if found.a.soc != "atlas_a2_910b4" or found.exposed[0].text != "all_reduce" or len(found.bytes) != len(found.collectives):
    print(found)
open("suite.lua", "w").write("return { points = { { name = 'p', model = 'm.lua', system = 'atlas_a2_910b4' } } }")
try:
    vinci.gate(suite="suite.lua", baseline="none.csv")
except vinci.Error as error:
    print(error)
END
keep "$PYTHON" jobs.py "$srcdir"
report "two jobs side by side; a library has no scripts for steps of models" "$(expect 0 '' \
  "point 'p': the training step of a model is made by scripts, which the library has not"; [ "$(wc -l <out)" -le 2 ] || cat out)"
cat >three.py <<'END'
import vinci
r = vinci.run("matmul m=1024 k=1024 n=1024", chip="Ascend910B4")
print(r)
END
keep "$PYTHON" three.py
# Without the lines for shells: their summary, and what --output would write.
"$vinci" run matmul m=1024 k=1024 n=1024 -s Ascend910B4 --savings=none | grep -vE "^(summary: |Trace  )" >program
report "the first report is that of the program" "$(expect 0 ''; printf '%s\n' "$out" | diff program -)"

# Lua's names; those that are written in Lua are named in the page.
cat >names.lua <<'END'
local vinci = require "vinci"
for name, value in pairs(vinci) do if type(value) == "function" then print(name) end end
vinci.soc "Ascend910B4"
for prefix, object in pairs { Soc = "vinci.soc", Trace = "vinci.trace", Result = "vinci.result",
  Values = "vinci.values", Gate = "vinci.gate" } do
  for name in pairs(debug.getregistry()[object].__index) do print(prefix .. "." .. name) end
end
END
"$vinci" lua names.lua | sort >names
# shellcheck disable=SC2016 # marks of the page
keep "$PYTHON" -c 'import sys, vinci
page = open(sys.argv[1]).read()
for name in map(str.strip, open("names")):
    *before, last = name.split(".")
    if not hasattr(getattr(vinci, before[0]) if before else vinci, last) and f"`vinci.{name}`" not in page: print(name)' "$srcdir/scripts/PYTHON.md"
report "every function and method of the module for Lua is there" "$(expect 0 ''; printf '%s' "$out"
  [ "$(wc -l <names)" -gt 60 ] || echo "few names")"
# shellcheck disable=SC2016
keep "$PYTHON" -c 'import sys, vinci, types
page = open(sys.argv[1]).read()
for name, value in vars(vinci).items():
    if isinstance(value, types.FunctionType) and name[0] != "_":
        if f"`{name}`" not in page: print(f"PYTHON.md does not name {name}")
        if not value.__doc__ and name != "arch": print(f"{name} has no docstring")
        if "return" not in value.__annotations__: print(f"{name} has no type hints")' "$srcdir/scripts/PYTHON.md"
report "the page names every function, each has words and types" "$(expect 0 ''; printf '%s' "$out")"
keep "$PYTHON" "$srcdir/tests/python/misuse.py"
report "misuse is an exception" "$(expect 0 '')"
if "$PYTHON" -c 'import numpy' 2>/dev/null; then
  keep "$PYTHON" "$srcdir/tests/python/arrays.py"
  report "arrays of numpy go in and come out" "$(expect 0 '')"
else
  report "arrays of numpy go in and come out # SKIP no numpy" ""
fi
keep env VINCI_SHARED_LIBRARY="$work/none.so" "$PYTHON" -c 'import vinci
try: vinci.socs()
except vinci.Error as error: print(error.status, error.hint)'
report "a library that is missing is said" \
  "$(expect 0 '' 'E_IO VINCI_SHARED_LIBRARY names libvinci.so.0')"

# ---- wheels ------------------------------------------------------------------------------
MAKEFLAGS='' "${MAKE:-make}" -s -C "$made/.." wheel >/dev/null || exit 99
cp "$made"/../vinci-*.whl .
mkdir again
version=$("$vinci" --version | sed -n 's/^vinci \([^ ]*\) .*/\1/p')
"$PYTHON" "$srcdir/scripts/python/make_wheel.py" "$made/.." "$version" again >/dev/null
report "two wheels have the same bytes" "$(cmp vinci-*.whl again/vinci-*.whl)"
if "$PYTHON" -m pip --version >/dev/null 2>&1; then
  keep env HOME="$work" "$PYTHON" -m pip install --no-index --no-deps --no-cache-dir --target installed vinci-*.whl
  report "a wheel is installed without an index" "$(expect 0 -)"
  keep env HOME="$work" VINCI_BUILD="$made/.." "$PYTHON" -m pip wheel --no-index --no-deps --no-cache-dir \
    --no-build-isolation -w built "$srcdir/scripts/python"
  report "pip builds the same wheel of a build folder" "$(expect 0 -; cmp vinci-*.whl built/vinci-*.whl)"
else
  "$PYTHON" -m zipfile -e vinci-*.whl installed
  report "a wheel is installed without an index # SKIP no pip" ""
  report "pip builds the same wheel of a build folder # SKIP no pip" ""
fi
keep env -u VINCI_DATA PYTHONPATH="$work/installed" "$PYTHON" -c 'import vinci, os
print(vinci.__file__.startswith(os.getcwd()), vinci.run("copy shape=64", chip="Ascend910B4").total_cycles > 0)
print(os.environ["VINCI_DATA"])'
report "and works with its own library and chips" "$(expect 0 '' "True True
$work/installed/vinci/data")"
