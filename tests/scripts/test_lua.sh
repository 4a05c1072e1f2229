#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci lua and the module for a stock interpreter: the examples of scripts/LUA.md, errors, exit codes,
# wrong arguments of all sorts, memory. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
case $srcdir in /*) ;; *) srcdir=$PWD/$srcdir ;; esac
module=${VINCI_MODULE_DIR:-scripts/.libs}
case $module in /*) ;; *) module=$PWD/$module ;; esac
unset VINCI_DATA # program and module of a build folder find the sources themselves

work_folder test_lua "$PWD"
cd "$work" || exit 99

# Keeps stdout, stderr and exit code.
run() { keep "$vinci" lua "$@" </dev/null; }

# The first line of stderr, without what differs between versions of Lua.
first() { head -n 1 err; }

plan 56

# ---- documentation ---------------------------------------------------------------------
awk '/^```lua$/ { on = 1; next } /^```$/ { on = 0 } on' "$srcdir/scripts/LUA.md" >examples.lua
run examples.lua
report "the examples of LUA.md run" "$(expect 0 -)"
cp out embedded.out
if command -v lua5.4 >/dev/null && [ -e "$module/vinci.so" ] && [ -z "${VINCI_INSTRUMENT:-}" ]; then
  mkdir stock # the examples write files, and some say whether these are new
  # shellcheck disable=SC2016 # what sh expands
  keep sh -c 'cd stock && LUA_CPATH="$1/?.so" exec lua5.4 ../examples.lua </dev/null' sh "$module"
  report "and say the same in a stock interpreter" "$(expect 0 -; diff embedded.out out)"
else
  report "and say the same in a stock interpreter # SKIP no lua5.4, no module, or instrumented" \
    "$(without lua5.4)"
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
  ["values:"] = "vinci.values", ["gate:"] = "vinci.gate" } do
  look(prefix, debug.getregistry()[object].__index)
end
END
run names.lua "$srcdir/scripts/LUA.md"
report "LUA.md names every function and method" "$(expect 0 ''; echo "$out" | grep .)"

# Tilings are chosen once for a chip: a changed chip chooses anew, as does a chip that has forgotten.
cat >again.lua <<'END'
local vinci = require "vinci"
local shape = { m = 512, k = 512, n = 512 }
local function text(soc) return vinci.compile(soc, "matmul", shape):text() end
local small, soc = { ["l0c.size"] = "32KiB" }, vinci.soc("Ascend910B4")
local first = text(soc)
assert(text(soc) == first and text(soc:copy()) == first)
assert(vinci.compile(soc, "matmul", { m = 512, k = 512, n = 256 }):text() ~= first)
soc:set(small)
local second = text(soc)
assert(second ~= first and second == text(vinci.soc("Ascend910B4", { set = small })) and text(soc) == second)
for i = 1, 70 do vinci.compile(soc, "copy", { shape = 64 * i }) end
assert(text(soc) == second)
print(pcall(vinci.compile, soc, "", {}))
END
run again.lua
report "a tiling is chosen anew for a changed chip" "$(expect 0 ''
  [ "$(cut -c1-25 out)" = "false	unknown operator ''" ] || cat out)"

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
fails "an unknown chip" 2 "fails.lua:3: unknown SoC 'Ascend910X1' (did you mean 'Ascend910B1'? \
\`vinci soc list\` shows all)" \
  'vinci.soc "Ascend910X1"'
fails "a rejected trace has exit code 3" 3 \
  "fails.lua:3: broken:1: the first row is not a trace row (the first row is \"trace,version=1\")" 'vinci.parse(soc, "x", "broken")'
fails "a wrong argument" 2 "fails.lua:3: vinci.run: argument 'trace' is a number, not a vinci.trace" \
  'vinci.run(soc, 12)'
fails "a misspelt option" 2 "fails.lua:3: vinci.run: argument 'options' has an unknown field 'memroy'; \
did you mean 'memory'?" 'vinci.run(soc, vinci.compile(soc, "copy", { shape = 64 }), { memroy = "flat" })'
fails "a shape that is none" 2 "fails.lua:3: vinci.compile: argument 'args' has a value for 'shape' that is \
not a string, number or list of whole numbers" 'vinci.compile(soc, "copy", { shape = { 17, "x" } })'
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
fails "a picture of no size" 2 "fails.lua:3: vinci.plot: argument 'fields.width' is not 100 to 100000" \
  'vinci.plot { file = "a.svg", width = 0/0, series = { { x = { 1 }, y = { 1 } } } }'
# Without gnuplot, of which a PATH without programs has none.
cat >"$work/draw.lua" <<'END'
local vinci = require "vinci"
local function draw(file)
  return vinci.plot { file = file, title = "a < b & c", xlabel = "x", ylabel = "y", xlog = true, series = {
    { title = "gap", x = { 1, 10, 100, 1000 }, y = { 5, 0/0, 7, 9 } },
    { title = "boxes", x = { 2, 20 }, y = { 3, 4 }, style = "boxes" },
    { title = "steps", x = { 0, 1, 1000 }, y = { 1, 2, 3 }, style = "steps" } } }
end
draw(arg[1])
END
PATH=/nowhere keep "$vinci" lua "$work/draw.lua" "$work/picture.svg"
report "a picture without gnuplot" "$(expect 0 ''
  [ "$(grep -c '<circle ' "$work/picture.svg")" -eq 3 ] || echo "points: $(grep '<circle ' "$work/picture.svg")"
  grep -q '>a &lt; b &amp; c</text>$' "$work/picture.svg" || echo "no title"
  grep -q '<path d="M80.0 [0-9.]*M[0-9.]* [0-9.]*L[0-9.]* [0-9.]*" stroke="#1b6ca8"' "$work/picture.svg" ||
    echo "no gap: $(grep '<path d' "$work/picture.svg")"
  tail -n 1 "$work/picture.svg" | grep -q '^</svg>$' || echo "no end"
  if command -v xmllint >/dev/null; then xmllint --noout "$work/picture.svg" 2>&1; fi)"
PATH=/nowhere keep "$vinci" lua "$work/draw.lua" "$work/picture.png"
report "a PNG says what it needs" "$(expect 2 - ; printf '%s\n' "$err" |
  grep -q "picture.png needs gnuplot, which is not installed; a file that ends in .svg needs nothing" ||
  echo "$err")"
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
# A zero byte would end a text early in C; a length by __len is whatever it says.
zero='contains a zero byte'
fails "a name with a zero byte" 2 "fails.lua:3: vinci.load: argument 'path' $zero" 'vinci.load(soc, "a.csv\0b")'
fails "a value with a zero byte" 2 "fails.lua:3: vinci.soc: argument 'l2.size' $zero" \
  'vinci.soc("Ascend910B4", { set = { ["l2.size"] = "8MiB\0" } })'
fails "a key with a zero byte" 2 "fails.lua:3: vinci.compile: argument 'args' has a key that contains a zero byte" \
  'vinci.compile(soc, "copy", { ["shape\0"] = 64 })'
fails "an option with a zero byte" 2 "fails.lua:3: vinci.soc: argument 'options' has a field that is not named" \
  'vinci.soc("Ascend910B4", { ["set\0"] = {} })'
fails "a zero byte in a kernel" 2 "fails.lua:4: a text has a zero byte or the end of a line in it" \
  'local k = vinci.kernel { soc = soc, name = "k", blocks = 1 }
k:tensor { name = "x", dtype = "fp16", shape = 64, io = "in", file = "a\0b" }'
fails "a shape of any length" 2 "fails.lua:4: kernel:tensor: argument 'fields.shape' is not a list of extents" \
  'local k = vinci.kernel { soc = soc, name = "k", blocks = 1 }
k:tensor { name = "x", dtype = "fp16", io = "in", shape = setmetatable({}, { __len = function() return 1 << 60 end }) }'
fails "curves of any number" 2 "fails.lua:3: vinci.plot: argument 'fields.series' is not a list of series" \
  'vinci.plot { file = "a.svg", series = setmetatable({}, { __len = function() return 1 << 60 end }) }'
cat >long.lua <<'END'
local vinci = require "vinci"
local soc, checks = vinci.soc "Ascend910B4", {}
for i = 1, 2000000 do checks[i] = "memcheck" end
print(vinci.check(soc, vinci.compile(soc, "copy", { shape = 64 }), { checks = checks }))
END
run long.lua
report "a long list of checks" "$(expect 0 '' 0)"
fails "an instruction that is none" 2 "fails.lua:4: kernel.vaddd: there is no such method or instruction" \
  'local k = vinci.kernel { soc = soc, name = "k", blocks = 1 }
k.vaddd {}'
fails "an operand that is none" 2 "fails.lua:4: kernel.vadd: there is no operand 'dest'" \
  'local k = vinci.kernel { soc = soc, name = "k", blocks = 1 }
k.vadd { dest = 0 }'

# ---- sweeps and gates ----------------------------------------------------------------------
echo 'return { soc = "Ascend910B4", memory = "flat", points = { { name = "p", op = "copy", shape = 64 } } }' >p.lua
fails "a sweep of nothing" 2 "fails.lua:3: vinci.sweep: argument 'options' wants one of study, trace, op, job and model" \
  'vinci.sweep { output = "none" }'
fails "a list that is not named" 2 "fails.lua:3: vinci.ops: argument 'options.list' is missing: a string is wanted" \
  'vinci.ops { output = "none" }'
fails "a sequence of several jobs" 2 "fails.lua:3: vinci.ops: argument 'options.jobs' does not apply to a sequence" \
  'vinci.ops { list = "l.csv", output = "none", jobs = 2, sequence = true }'
fails "a sweep that goes nowhere" 2 "fails.lua:3: vinci.sweep: argument 'options.output' is missing: a string is \
wanted" 'vinci.sweep { op = "copy" }'
fails "a parameter without values" 2 "fails.lua:3: vinci.sweep: argument 'options.params' has an entry that is \
not { key, value, ... }" 'vinci.sweep { op = "copy", output = "none", params = { { "l2.size" } } }'
fails "a misspelt parameter" 2 "fails.lua:3: unknown parameter 'l2.siez' (did you mean 'l2.size'?)" \
  'vinci.sweep { op = "copy", args = { shape = 64 }, soc = "Ascend910B4", output = "none",
  params = { { "l2.siez", "1MiB" } } }'
fails "more processes than there may be" 2 "fails.lua:3: vinci.sweep: argument 'options.jobs' is not a whole \
number from 1 to 256" 'vinci.sweep { op = "copy", output = "none", jobs = 257 }'
report "and nothing was made" "$(ls -d none 2>/dev/null)"
cat >stopped.lua <<'END'
local vinci = require "vinci"
local function sweep(progress)
  return vinci.sweep { op = "matmul", args = { m = 2048, k = 2048, n = 2048, dtype = "fp16" }, soc = "Ascend910B1",
    params = { { "hbm.bandwidth_scale", 1, 2, 3, 4 } }, output = "stopped", jobs = 1, progress = progress }
end
local good, problem = pcall(sweep, function() return false end)
assert(not good and problem.status == "E_LIMIT" and problem.exit_code == 7)
good, problem = pcall(sweep, function() error "mine" end)
assert(not good and tostring(problem):find "mine")
local calls = 0
local swept = sweep(function(done, points, failed)
  assert(points == 4 and done <= 4 and failed == 0)
  calls = calls + 1
end)
assert(calls > 0 and #swept.rows == 4 and swept.done == 4 and swept.reused == 0)
assert(sweep().reused == 4)
print(swept.rows[4]["hbm.bandwidth_scale"], type(swept.rows[1].bound), math.type(swept.rows[1].total_cycles), swept.warning)
END
run stopped.lua
report "a sweep is stopped and goes on" "$(expect 0 '' '4	string	integer	nil')"
fails "a gate without a baseline" 2 "fails.lua:3: vinci.gate: argument 'options.baseline' is missing: a string is \
wanted" 'vinci.gate { suite = "p.lua" }'
fails "a baseline that is missing" 3 "fails.lua:3: gone.csv: cannot read the baseline: No such file or directory \
(bless makes a baseline of a suite)" \
  'vinci.gate { suite = "p.lua", baseline = "gone.csv" }'
fails "bless without a word" 2 "fails.lua:3: a reason is needed: why are the numbers right? (reason goes into the log beside \
the baseline)" \
  'vinci.bless { suite = "p.lua", baseline = "p.csv", reason = " " }'
CI=true
export CI
fails "bless in continuous integration" 2 "fails.lua:3: bless is not for continuous integration (CI is set) \
(allow_ci blesses nevertheless; better bless where the change is made, and commit the baseline)" \
  'vinci.bless { suite = "p.lua", baseline = "p.csv", reason = "first" }'
cat >allowed.lua <<'END'
assert(require "vinci".bless { suite = "p.lua", baseline = "ci.csv", reason = "first", allow_ci = true }.changed)
END
run allowed.lua
report "unless allow_ci says so" "$(expect 0 '')"
unset CI
fails "a gate that is freed" 2 "fails.lua:6: gate:text: argument 'gate' is a vinci.gate that has been freed" \
  'vinci.bless { suite = "p.lua", baseline = "p.csv", reason = "first" }
local gate = vinci.gate { suite = "p.lua", baseline = "p.csv" }
gate:free()
gate:text()'
cat >reports.lua <<'END'
local vinci = require "vinci"
assert(not vinci.bless { suite = "p.lua", baseline = "p.csv", reason = "again" }.changed)
local gate = vinci.gate { suite = "p.lua", baseline = "p.csv", repeats = 2, strict = true }
for _, form in ipairs { "text", "tap", "markdown" } do
  local file = assert(io.open(form .. ".lua.out", "w"))
  file:write(gate[form](gate)):close()
end
END
run reports.lua
report "reports are those of the program" "$(expect 0 ''
  "$vinci" gate check p.lua --baseline=p.csv --tap=tap.out --markdown=markdown.out >text.out
  for form in text tap markdown; do cmp "$form.out" "$form.lua.out"; done)"

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
  # The sanitizer keeps freed memory, up to a limit.
  export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=1"
fi
run "$srcdir/tests/lua/memory.lua" "$runs"
report "memory is flat over $runs runs" "$(expect 0 - "$runs runs: ")"
