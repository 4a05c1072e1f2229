#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hardware descriptions, suites and studies are Lua that others may have written. Whatever such a file
# does, reading it ends soon, in little memory, with an error that names the file.
set -u
srcdir=${TESTS_SRCDIR:-.}
vinci=${VINCI:?}
. "$srcdir/tests/support/tap.sh"
work_folder lua-limits
mkdir -p "$work/data"
cp -r "$srcdir/scripts/soc" "$srcdir/scripts/mem" "$srcdir/scripts/noc" "$work/data"
chmod -R u+w "$work/data"

# The CPU seconds of one attack, since tests share the machine with others: the limit of one second, and
# ample time for all else on a slow host. And its memory where the sanitizers do not reserve terabytes.
limits='ulimit -t 10; ulimit -v 262144'
[ -z "${VINCI_INSTRUMENT:-}" ] || limits='ulimit -t 20'
bounded() {
  keep timeout --kill-after=1 600 sh -c "$limits; exec \"\$@\"" sh "$vinci" "$@"
}

# What is wrong when the file $file is not refused with one of the messages.
refused() {
  [ "$code" -eq 2 ] || echo "exit code is $code, not 2: $err"
  case $err in
  "$file: error: "* | "$file":[0-9]*": error: "*) ;;
  *) echo "the file is not named: $err" ;;
  esac
  printf '%s\n' "$err" | grep -qE "$1" || echo "not '$1': $err"
}
chip() {
  file=$work/data/soc/Bad.lua
  printf '%s\n' "$1" >"$file"
  bounded soc show Bad --data="$work/data"
  refused "$2"
  rm "$file"
}
memory_file() {
  file=$work/data/mem/bad.lua
  printf '%s\n' "$1" >"$file"
  bounded stream memory --memory=bad --data="$work/data"
  refused "$2"
  rm "$file"
}
topology() {
  file=$work/data/noc/bad.lua
  printf '%s\n' "$1" >"$file"
  bounded stream network --topology=bad --data="$work/data"
  refused "$2"
  rm "$file"
}
suite() {
  file=$work/bad.lua
  printf '%s\n' "$1" >"$file"
  bounded gate list "$file"
  refused "$2"
}
study() {
  file=$work/bad.lua
  printf '%s\n' "$1" >"$file"
  bounded sweep run "$file" --output="$work/study"
  refused "$2"
}
everywhere() {
  chip "$@"
  memory_file "$@"
  topology "$@"
  suite "$@"
  study "$@"
}
each_kind() {
  chip "$@"
  suite "$@"
  study "$@"
}
# The same for the two that have libraries.
files() {
  suite "$@"
  study "$@"
}

long='runs too long: more than [0-9]* (instructions|ms of CPU time)'
much='needs more than [0-9]* MiB of memory'
either="$long|$much"

report "an endless loop" "$(everywhere 'while true do end' "$long")"
report "texts that grow" "$(each_kind 'local s = "x" while true do s = s .. s end' "$much")"
report "tables that grow" "$(each_kind 'local t = {} for i = 1, 1 << 40 do t[i] = { i } end' "$either")"
report "endless recursion" "$(each_kind 'local function f() return 1 + f() end return f()' "$either|overflow")"
big='local s = "0123456789abcdef" for i = 1, 17 do s = s .. s end'
report "megabytes, joined again and again" \
  "$(each_kind "$big while true do local t = s .. 'y' end" "$either")"
report "megabytes, compared again and again" \
  "$(each_kind "$big local t, u = s .. 'a', s .. 'b' while true do local less = t < u or t == u end" "$long")"
report "one statement of many comparisons" "$(each_kind "$big local a, b = s .. 'a', s .. 'b'
  while true do $(yes 'local x = a > b' | head -n 150) end" "$long")"
report "a list that is moved for each new key" \
  "$(each_kind 'local t = {} for i = 1, 1 << 18 do t[i] = i end
  while true do t.a = 1 t.a = nil t.b = 1 t.b = nil end' "$long")"
# The compiler compares each label with all others of its function.
file=$work/labels.lua
awk 'BEGIN {
  for (f = 0; f < 40; f++) {
    print "local function f()"
    for (i = 0; i < 32000; i++) printf "::a%d:: x = 0 ", i
    print "end"
  }
}' >"$file"
bounded gate list "$file"
report "labels" "$(refused "$long")"

report "no error is caught" "$(files 'while true do pcall(function() while true do end end) end' \
  "attempt to call a nil value \(global 'pcall'\)")"
report "the hint tells where functions are listed" "$(suite 'return coroutine.wrap(1)' 'coroutine'
  study 'return { x = collectgarbage() }' 'hint: LUA.md says which functions')"
report "no collector and no operator runs a function" \
  "$(files 'setmetatable({}, { __gc = function() while true do end end })' "global 'setmetatable'")"
report "no pattern" "$(files 'local s = ("a"):rep(1 << 16) return { s:match((".-"):rep(30) .. "b") }' \
  "method 'match'")"
report "find is for texts" "$(files 'error(tostring(("a.b.c"):find(".", 3, true)) ..
  tostring(("a"):find("")) .. tostring(("abc"):find("b", -1)))' ': error: 41nil$'
  files 'return ("abc"):find("a.c")' 'would be a pattern')"
report "one text in another" "$(files 'local s = ("a"):rep(40000000)
  while true do s:find(s .. "b") end' "$either")"
report "nothing, repeated" "$(files 'error(#(""):rep(1 << 62))' ': error: 0$')"
report "a text, repeated" "$(files 'return ("x"):rep(1 << 40)' "$much|too large")"
report "texts, repeated again and again" "$(files 'while true do local s = ("xyz"):rep(9999999) end' "$either")"
report "concat of megabytes" "$(files 'local t = {} for i = 1, 1000 do t[i] = ("x"):rep(1 << 20) end' "$either"
  files 'local s, t = ("x"):rep(1 << 20), {} for i = 1, 1000 do t[i] = s end
  return table.concat(t)' "$either"
  files 'return table.concat({}, "", 1, 1 << 62)' 'invalid value .*concat')"
report "sort of megabytes" "$(files 'local t = {} for i = 1, 12 do t[i] = ("x"):rep(6000000) .. i end
  local u = {} for i = 1, 100000 do u[i] = t[i * 7 % 12 + 1] end table.sort(u)' "$long")"
report "sort with a disorder" "$(files 'local t = {} for i = 1, 3000000 do t[i] = i end
  table.sort(t, function() return true end)' "$either|invalid order")"
# Its length by the operator # is 1 << 62.
holes="local t = { $(awk 'BEGIN { for (i = 0; i < 63; i++) printf "[1 << %d] = {}, ", i }') }"
report "lists with holes" "$(files "$holes table.insert(t, 1, 2)" 'is not a list: it has holes'
  files "$holes table.remove(t, 1)" 'is not a list: it has holes'
  study "$holes return { op = 'copy', points = t }" 'points is not a list'
  study "$holes return { op = 'copy', params = t }" 'params is not a list'
  study "$holes return { op = 'copy', params = { t } }" 'params: an entry is not'
  study "$holes return { op = 'copy', set = t }" 'set is not a list'
  study "$holes return { op = 'copy', shape = t }" 'list of whole numbers'
  suite "$holes return { points = t }" 'has no points'
  suite "$holes return { set = t, points = {} }" 'set is not a list'
  topology "$holes return { routing = 'xy', parameters = {}, build = function() return t, {} end }" \
    'no list of at most')"
report "insert into a long list" "$(files 'local t = {} for i = 1, 3000000 do t[i] = i end
  while true do table.insert(t, 1, 0) end' "$either")"
report "unpack and select" "$(files 'return table.unpack({}, 1, 1 << 40)' 'too many results'
  files 'while true do local a = select("#", table.unpack({}, 1, 200000)) end' "$long")"
report "move" "$(files 'table.move({}, 1, 1 << 62, 2)' "field 'move'")"
report "format" "$(files 'return ("%99999d"):format(1)' 'invalid'
  files 'while true do local s = ("%99.99f"):format(1e308) end' "$long")"

# What a file says may be much more than its text: one value is named many times.
# With sanitizers the time may end first.
said='says too much: more than 64 MiB'
[ -z "${VINCI_INSTRUMENT:-}" ] || said="$said|$long"
shared='local s = ("x"):rep(1 << 20)'
report "a text that is named a million times" "$(
  suite "$shared local t = {} for i = 1, 1000000 do t[i] = s end
  return { set = t, points = { { name = 'a', op = 'copy' } } }" "$said"
  study "$shared local p = { k = s } local t = {} for i = 1, 1000000 do t[i] = p end
  return { op = 'copy', points = t }" "$said"
  chip 'local s = "0123456789abcdef" for i = 1, 16 do s = s .. s end
  local n = num(1, "count", "INI", "documented", s)
  return soc { name = "Bad", base = "Ascend910B1", device = { cube_cores = n, vector_cores = n,
    aicpu_cores = n }, l2 = { ways = n, slices = n, banks = n, size = n } }' \
    "$much|unit|unknown|must be"
)"
report "a point that is named a million times" "$(
  study 'local p = {} for i = 1, 60 do p["k" .. i] = 1 end local t = {}
  for i = 1, 3000000 do t[i] = p end return { op = "copy", points = t }' "$long|says too much" |
    sed '/exit code is 7/d; /the file is not named: error: the study has more than/d; /the study has more than 10000000 values/d'
  suite 'local p = { name = "a", op = "copy" } local t = {}
  for i = 1, 3000000 do t[i] = p end return { soc = "Ascend910B4", points = t }' 'says too much|is there twice|'"$long"
)"
report "names of many points" "$(suite 'local t = {} for i = 1, 60000 do t[i] = { name = "p" .. i, op = "copy" } end
  t[#t + 1] = { name = "p7", op = "copy" }
  t[#t + 1] = { name = "p3", op = "copy" }
  return { soc = "Ascend910B4", points = t }' "point 'p7' is there twice")"
report "long lists as one value" "$(study 'local b = {} for i = 1, 2000000 do b[i] = 1 end
  local p = { shape = b } local t = {} for i = 1, 1000000 do t[i] = p end
  return { op = "copy", points = t }' "is neither a text")"
head -c 40000000 /dev/zero | tr '\0' ' ' >"$work/long.lua"
file=$work/long.lua
bounded gate list "$file"
report "a file without end" "$(refused 'is longer than 32 MiB'
  file=/dev/zero
  bounded sweep run /dev/zero.lua --output="$work/study"
  ln -s /dev/zero "$work/zero.lua"
  file=$work/zero.lua
  bounded sweep run "$file" --output="$work/study"
  refused 'is longer than 32 MiB')"
mkfifo "$work/data/mem/fifo.lua" "$work/data/noc/fifo.lua"
bounded stream memory --memory=fifo --data="$work/data"
file=$work/data/mem/fifo.lua
report "descriptions that never come" "$(refused 'cannot be read: not a file of at most 1 MiB'
  file=$work/data/noc/fifo.lua
  bounded stream network --topology=fifo --data="$work/data"
  refused 'cannot be read: not a file of at most 1 MiB')"
rm "$work/data/mem/fifo.lua" "$work/data/noc/fifo.lua"

# ---- zero bytes: a text that ends early in C says something else than in Lua ---------------------
zero='contains a zero byte'
report "a zero byte in a text" "$(
  chip 'return soc { name = "Bad\0", base = "Ascend910B1" }' "name: $zero"
  chip 'return soc { name = "Bad", base = "Ascend910B1\0x" }' "base: $zero"
  chip 'return soc { name = "Bad", base = "Ascend910B1",
    l2 = { size = num(1, "B\0", "INI", "documented") } }' "num: the unit $zero"
  chip 'return soc { name = "Bad", base = "Ascend910B1",
    l2 = { size = num(1, "B", "INI\0", "documented") } }' "num: the source $zero"
  memory_file 'return memory { name = "bad", base = "hbm2\0" }' "base: $zero"
  memory_file 'return memory { name = "bad", base = "hbm2", maps = { x = "ro\0" } }' "maps.x: $zero"
  topology 'return { routing = "xy\0", parameters = {} }' "routing: $zero"
  topology 'return { routing = "xy", parameters = { "columns\0" } }' "parameters: $zero"
  suite 'return { soc = "Ascend910B4\0x", points = {} }' "'soc' $zero"
  suite 'return { soc = "Ascend910B4", points = { { name = "a\0b", op = "copy" } } }' "'name' $zero"
  suite 'return { soc = "Ascend910B4", set = { "l2.size=8MiB\0" }, points = {} }' "set: an entry $zero"
  study 'return { op = "copy\0", shape = 17 }' "'op' $zero"
  study 'return { trace = "a.csv\0b" }' "'trace' $zero"
  study 'return { op = "copy", shape = "17\0" }' "'shape' $zero"
  study 'return { op = "copy", shape = 17, params = { { "l2.size\0", "1MiB" } } }' "params: a key or value $zero")"
report "a zero byte in a key" "$(
  chip 'return soc { name = "Bad", base = "Ascend910B1", ["l2\0"] = {} }' 'only names may be keys'
  suite 'return { soc = "Ascend910B4", ["set\0"] = {}, points = {} }' "unknown field"
  suite 'return { soc = "Ascend910B4", points = { { name = "a", op = "copy", ["shape\0"] = 1 } } }' "unknown field"
  study 'return { op = "copy", ["shape\0"] = 17 }' "has a field that is not named"
  study 'return { op = "copy", shape = 17, points = { { ["l2.size\0"] = 1 } } }' "a key that is not a text")"

# ---- what differs from run to run ----------------------------------------------------------------
report "no address is told" "$(files 'return { soc = tostring({}) }' 'string, number, boolean or nil expected'
  files 'return { soc = ("%s"):format(print or next) }' 'string, number, boolean or nil expected'
  files 'return { soc = ("%-9p"):format("x") }' 'is an address')"

study 'local t = { "x", zz = 1, b = 2, [true] = 3, [2.5] = 4, aa = 5, [-7] = 6, [false] = 7, gone = 8 }
  local order = {}
  for key, value in pairs(t) do
    order[#order + 1] = tostring(key) .. "=" .. value
    t.gone = nil
  end
  error(table.concat(order, " "))' 'x'
report "pairs has one order" "$(case $err in
  *": error: -7=6 1=x 2.5=4 aa=5 b=2 zz=1 false=7 true=3") ;;
  *) echo "$err" ;;
  esac
  study 'for key in pairs { [print or next] = 1 } do end' 'such keys have no order'
  study 'local t = {} for i = 1, 200000 do t["k" .. i] = i end while true do for k in pairs(t) do end end' "$either")"

# ---- honest files --------------------------------------------------------------------------------
cat >"$work/good.lua" <<'END_OF_SUITE'
local points = {}
for i, shape in ipairs { { 64, 32 }, { 96, 16 } } do
  local m, k = table.unpack(shape)
  table.insert(points, 1, { name = ("mm-%dx%d%s"):format(m, k, ("x"):rep(i)), op = "matmul",
    m = m, k = k, n = math.max(m, k) // 1 })
end
for i = 1, 20000 do points[#points + 1] = { name = "copy" .. i, op = "copy", shape = { i, 3 } } end
table.sort(points, function(a, b) return a.name < b.name end)
table.remove(points)
local at = ("Ascend910B4,x"):find(",")
return { soc = ("Ascend910B4,x"):sub(1, at - 1):upper():lower() == "ascend910b4" and "Ascend910B4",
  memory = "flat", points = points }
END_OF_SUITE
bounded gate list "$work/good.lua"
report "an honest suite of 20000 points" "$(expect 0 - 'mm-64x32x'
  [ "$(printf '%s\n' "$out" | grep -c copy)" -eq 20000 ] || echo "points: $out" | head -n 3)"

plan $tap_number
