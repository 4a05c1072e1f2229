#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci lua and the module for a stock interpreter: the examples of scripts/LUA.md, errors, exit codes,
# wrong arguments of all sorts, memory. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/tap.sh"
vinci=${VINCI:?}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
case $srcdir in /*) ;; *) srcdir=$PWD/$srcdir ;; esac
module=${VINCI_MODULE_DIR:-scripts/.libs}
case $module in /*) ;; *) module=$PWD/$module ;; esac
VINCI_DATA=$srcdir/scripts
export VINCI_DATA

work_folder test_lua "$PWD"
cd "$work" || exit 99

# Keeps stdout, stderr and exit code.
run() { keep "$vinci" lua "$@" </dev/null; }

# The first line of stderr, without what differs between versions of Lua.
first() { head -n 1 err; }

plan 28

# ---- documentation ---------------------------------------------------------------------
awk '/^```lua$/ { on = 1; next } /^```$/ { on = 0 } on' "$srcdir/scripts/LUA.md" >examples.lua
run examples.lua
report "the examples of LUA.md run" "$(expect 0 -)"
cp out embedded.out
if command -v lua5.4 >/dev/null && [ -e "$module/vinci.so" ] && [ -z "${VINCI_INSTRUMENT:-}" ]; then
  LUA_CPATH="$module/?.so" lua5.4 examples.lua >stock.out 2>stock.err </dev/null
  code=$? err=$(cat stock.err)
  report "and say the same in a stock interpreter" "$(expect 0 -; diff embedded.out stock.out)"
else
  report "and say the same in a stock interpreter # SKIP no lua5.4, no module, or instrumented" ""
fi
cat >names.lua <<'END'
local vinci = require "vinci"
local soc = vinci.soc "Ascend910B4"
local trace = vinci.compile(soc, "copy", { shape = 64 })
local text = assert(io.open(arg[1])):read "a"
local function look(prefix, methods)
  for name, value in pairs(methods) do
    local word = prefix .. name
    if type(value) == "function" and name ~= "free" and not text:find(word, 1, true) then print(word) end
  end
end
look("vinci.", vinci)
for prefix, object in pairs { ["soc:"] = "vinci.soc", ["trace:"] = "vinci.trace", ["result:"] = "vinci.result",
  ["values:"] = "vinci.values" } do
  look(prefix, debug.getregistry()[object].__index)
end
END
run names.lua "$srcdir/scripts/LUA.md"
report "LUA.md names every function and method" "$(expect 0 ''; echo "$out" | grep .)"

# ---- scripts ---------------------------------------------------------------------------
run
report "no script" "$(expect 2 "error: which script? vinci lua SCRIPT [ARGUMENT]...
hint: options of the script come after its name")"
run --help
report "--help" "$(expect 0 '' 'usage: vinci lua SCRIPT [ARGUMENT]...')"
run --quick
report "an option before the script" "$(expect 2 "error: unknown option '--quick'
hint: options of the script come after its name")"
run missing.lua
report "a script that is missing" "$(expect 2 -; case $(first) in
  'error: cannot open missing.lua'*) ;; *) first ;; esac)"
echo 'print(arg[0], #arg, arg[2], ...) os.exit(5)' >arguments.lua
run arguments.lua a --b
report "arguments and os.exit" "$(expect 5 '' 'arguments.lua	2	--b	a	--b')"
echo 'print "from stdin"' | "$vinci" lua - >out 2>err
code=$? out=$(cat out) err=$(cat err)
report "a script on standard input" "$(expect 0 '' 'from stdin')"
printf 'local function f() error "broken" end\n\nf()\n' >broken.lua
run broken.lua
report "an error has a traceback" "$(expect 2 -; [ "$(first)" = 'error: broken.lua:1: broken' ] || first
  grep -q 'broken.lua:3: in main chunk' err || cat err)"
echo 'x = = 1' >syntax.lua
run syntax.lua
report "a script that is none" "$(expect 2 -; case $(first) in 'error: syntax.lua:1:'*) ;; *) first ;; esac)"

echo 'error(setmetatable({ exit_code = 256 }, { __tostring = function() return "odd" end }))' >odd.lua
run odd.lua
report "an error with a strange exit code" "$(expect 2 -; [ "$(first)" = 'error: odd' ] || first)"

# ---- errors of vinci -------------------------------------------------------------------
# fails NAME CODE FIRST-LINE SCRIPT
fails() {
  printf 'local vinci = require "vinci"\nlocal soc = vinci.soc "Ascend910B4"\n%s\n' "$4" >fails.lua
  run fails.lua
  report "$1" "$(expect "$2" -; [ "$(first)" = "error: $3" ] || first)"
}
fails "an unknown chip" 2 "fails.lua:3: unknown SoC 'Ascend910B5' (did you mean 'Ascend910B1'? \
\`vinci soc list\` shows all)" \
  'vinci.soc "Ascend910B5"'
fails "a rejected trace has exit code 3" 3 \
  "fails.lua:3: broken:1: the first row is not a trace row (the first row is \"trace,version=1\")" 'vinci.parse(soc, "x", "broken")'
fails "a wrong argument" 2 "fails.lua:3: vinci.run: argument 'trace' is a number, not a vinci.trace" \
  'vinci.run(soc, 12)'
fails "a misspelt option" 2 "fails.lua:3: vinci.run: argument 'options' has an unknown field 'memroy'; \
did you mean 'memory'?" 'vinci.run(soc, vinci.compile(soc, "copy", { shape = 64 }), { memroy = "flat" })'
fails "a shape that is none" 2 "fails.lua:3: vinci.compile: argument 'args' has a value for 'shape' that is \
no string, number or list of whole numbers" 'vinci.compile(soc, "copy", { shape = { 17, "x" } })'
fails "an error in a function that is called back" 2 "fails.lua:4: mine" \
  'local trace = vinci.compile(soc, "copy", { shape = { 1024, 1024 } })
vinci.run(soc, trace, { progress = function() error "mine" end })'
fails "a run that is stopped" 7 "fails.lua:4: the run was interrupted; results are partial" \
  'local trace = vinci.compile(soc, "copy", { shape = { 1024, 1024 } })
vinci.run(soc, trace, { progress = function() return false end })'
fails "what a run uses is not freed" 2 "fails.lua:4: free: the vinci.soc is in use by the run that calls \
this function" \
  'local trace = vinci.compile(soc, "copy", { shape = { 1024, 1024 } })
vinci.run(soc, trace, { progress = function() soc:free() end })'
fails "a picture that is none" 2 "fails.lua:3: vinci.plot: argument 'fields.file' ends neither in .svg nor in .png" \
  'vinci.plot { file = "a.txt", series = { { x = { 1 }, y = { 1 } } } }'
fails "something freed" 2 "fails.lua:4: vinci.compile: argument 'soc' is a vinci.soc that has been freed" \
  'soc:free()
vinci.compile(soc, "copy", {})'
fails "a fault of a kernel is told at its line, with exit code 3" 3 \
  'fails.lua:6: operand "repeat" of vadd is 1000, allowed is 0..255' \
  'local k = vinci.kernel { soc = soc, name = "k", blocks = 1 }
local b = k:buffer { name = "b", space = "UB", size = 32768 }
k:stream "AIV"
k.vadd { dst = b, src0 = b, src1 = b, rep = 1000, type = "fp16" }
k:build()'
fails "an instruction that is none" 2 "fails.lua:4: kernel.vaddd: there is no such method or instruction" \
  'local k = vinci.kernel { soc = soc, name = "k", blocks = 1 }
k.vaddd {}'
fails "an operand that is none" 2 "fails.lua:4: kernel.vadd: there is no operand 'dest'" \
  'local k = vinci.kernel { soc = soc, name = "k", blocks = 1 }
k.vadd { dest = 0 }'

# ---- never a crash, never a leak -----------------------------------------------------------
run "$srcdir/tests/lua/fuzz.lua" 20000 1
report "20000 calls with arguments of all sorts" "$(expect 0 - ok)"
seed=${VINCI_FUZZ_SEED:-2}
echo "# seed $seed"
run "$srcdir/tests/lua/fuzz.lua" 20000 "$seed"
report "and others, as VINCI_FUZZ_SEED says" "$(expect 0 - ok; head -n 1 out >&2)"
runs=3000
if [ -n "${VINCI_INSTRUMENT:-}" ]; then
  runs=300
  # The sanitizer keeps what was freed, up to so much.
  export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1"
fi
run "$srcdir/tests/lua/memory.lua" "$runs"
report "memory is flat over $runs runs" "$(expect 0 - "$runs runs: ")"
