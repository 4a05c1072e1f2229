#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What vinci gate tells beside verdicts of numbers: per cent, annotations for GitHub and GitLab, drifts
# in one line; checks, expected values and folders of a suite. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_gate_reports
case $vinci in /*) ;; *) vinci=$(pwd)/$vinci ;; esac
cd "$work" || exit 99
work=$(pwd)

gate() { keep "$vinci" gate "$@"; }
check() { gate check suite.lua --baseline=base.csv "$@"; }
bless() { "$vinci" gate bless suite.lua --baseline=base.csv --reason=test -q || exit 99; }

# add BLOCKS TILES CYCLES: y = x + x, the tiles of a block one after the other, after scalar work.
add() {
  cat <<END
trace,version=1
kernel,name=add,arch=dav-c220,blocks=$1
tensor,name=x,dtype=fp16,shape=8192,io=in
tensor,name=y,dtype=fp16,shape=8192,io=out
buffer,name=a,space=UB,address=0,size=4096
buffer,name=b,space=UB,address=8192,size=4096
stream,core=AIV
scalar,cycles=$3
loop,i,$2
let,at,(blk*$2+i)*4096
copy_gm_to_ubuf,dst=a,src=x+at,len_burst=128
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
vadd,dst=b,src0=a,src1=a,repeat=16,type=fp16
set_flag,src=V,dst=MTE3,id=0
wait_flag,src=V,dst=MTE3,id=0
copy_ubuf_to_gm,dst=y+at,src=b,len_burst=128
set_flag,src=MTE3,dst=MTE2,id=1
wait_flag,src=MTE3,dst=MTE2,id=1
set_flag,src=V,dst=MTE2,id=2
wait_flag,src=V,dst=MTE2,id=2
endloop
END
}
mkdir -p kernels
add 4 1 16 >kernels/four.csv
cp kernels/four.csv kernels/two.csv
python3 - 2>&1 <<'END'
import struct
def npy(path, values):
    head = "{'descr': '<f2', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%de" % len(values), *values))
x = [i % 97 for i in range(8192)]
npy("x.npy", x)
npy("y.npy", [2 * v for v in x])
npy("wrong.npy", [2 * v + (i == 77) for i, v in enumerate(x)])
END
cat >suite.lua <<'END'
return { soc = "Ascend910B4", memory = "flat", points = {
  { name = "four,50%", trace = "kernels/four.csv" },
  { folder = "kernels", name = "all", check = true },
} }
END
sed -i 's/four,50%/four:50%/' suite.lua
bless

plan 34

# ---- folders ----------------------------------------------------------------------------------
gate list suite.lua
report "a folder is a point for each trace, by name" "$(expect 0 '' 'four:50%: kernels/four.csv on Ascend910B4
all/four: kernels/four.csv on Ascend910B4
all/two: kernels/two.csv on Ascend910B4')"
check
report "all pass" "$(expect 0 '' '3 points: 3 PASS; the gate passes')"
echo '# no trace' >kernels/notes.txt
check --only='all/t*'
report "points of a folder by name; other files are left out" "$(expect 0 '' '1 points: 1 PASS')"

# ---- fewer blocks ------------------------------------------------------------------------------
add 2 2 16 >kernels/two.csv
check --verbose
report "fewer instructions of fewer blocks are no improvement" "$(expect 1 ''
  printf '%s\n' "$out" | grep '^ *IMPROVED.* instructions'
  printf '%s\n' "$out" | grep -Eq '^  DRIFTED   instructions [0-9]+ -> [0-9]+ \(-[0-9.]+ %\) \(fewer blocks\)$' ||
    echo "no drift of instructions: $out")"
report "per cent of the total, of metrics, of the parts" "$(
  printf '%s\n' "$out" | grep -Eq '^REGRESSED   all/two: [0-9]+ -> [0-9]+ cycles \(\+[0-9.]+ %\)$' || echo total
  printf '%s\n' "$out" | grep -Eq '^  REGRESSED total_cycles [0-9]+ -> [0-9]+ cycle \(\+[0-9.]+ %\)$' || echo metric
  printf '%s\n' "$out" | grep -Eq '^    MTE2: \+[0-9]+ cycles \(\+[0-9.]+ %\)$' || echo part
  printf '%s\n' "$out" | grep -Eq '^      cause startup: \+[0-9]+ cycles \(\+[0-9.]+ %\)$' || echo cause)"
verbose=$(printf '%s\n' "$out" | grep -c '^  DRIFTED ')
check
report "drifts in one line, with their number and the largest" "$(
  [ "$verbose" -gt 3 ] || echo "only $verbose drifts"
  printf '%s\n' "$out" | grep -Eq "^  DRIFTED   $verbose metrics moved, neither better nor worse; most of all [^ ]+, [-+0-9.]+ %\$" ||
    echo "no such line: $out"
  [ "$(printf '%s\n' "$out" | grep -c '^  DRIFTED ')" -eq 1 ] || echo "more than one line")"
check --markdown=-
report "Markdown has per cent" "$(printf '%s\n' "$out" |
  grep -Eq '^\| all/two \| REGRESSED \| [0-9]+ \| [0-9]+ \| \+[0-9]+ \(\+[0-9.]+ %\) \|' || echo "$out")"

# ---- GitHub ------------------------------------------------------------------------------------
add 4 1 8 >kernels/four.csv
check --github --repeat=1
report "GitHub: an annotation for each point, at its line, in one line" "$(
  expect 1 '' '3 points: '
  printf '%s\n' "$out" | grep '^::' >notes
  [ "$(wc -l <notes)" -eq 3 ] || echo "$(wc -l <notes) annotations"
  grep -q '^::error file=kernels/two.csv,line=1,title=vinci gate suite%3A all/two::all/two REGRESSED%0A' notes || echo "no error: $(cat notes)"
  grep -q 'file=suite.lua,line=2,title=vinci gate suite%3A four%3A50%25::four:50%25 ' notes || echo "no point of line 2: $(cat notes)")"
report "GitHub: texts, decoded, are those of the report" "$(python3 - 2>&1 <<'END'
import re
for line in open("notes"):
    kind, props, text = re.fullmatch(r"::(error|notice) ([^:]*)::(.*)\n", line).groups()
    props = dict(p.split("=", 1) for p in props.split(","))
    decode = lambda t: re.sub("%([0-9A-F]{2})", lambda m: chr(int(m.group(1), 16)), t)
    assert set(props) == {"file", "line", "title"}, props
    title, text = decode(props["title"]), decode(text)
    point, verdict = text.split("\n")[0].split(" ")[:2]
    assert title == "vinci gate suite: " + point, title
    assert (kind == "error") == (verdict == "REGRESSED"), line
    assert "change of total_cycles" in text, text
END
)"
mkdir many
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cp kernels/four.csv "many/k$i.csv"; done
printf 'return { soc = "Ascend910B4", memory = "flat", points = { { folder = "many" } } }\n' >many.lua
"$vinci" gate bless many.lua --baseline=many.csv --reason=test -q || exit 99
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do add 4 1 16 >"many/k$i.csv"; done
gate check many.lua --baseline=many.csv --github -q
report "GitHub: ten annotations of a kind, the last one counts the others" "$(
  [ "$(printf '%s\n' "$out" | wc -l)" -eq 10 ] || echo "$out"
  printf '%s\n' "$out" | tail -n 1 | grep -qx '::error file=many.lua,line=1::3 more points; the log of the job has them' || echo "$out")"

# ---- GitLab ------------------------------------------------------------------------------------
check --gitlab=quality.json
report "GitLab: the fields of the report, a finding for each point" "$(expect 1 '' '3 points: '; python3 - 2>&1 <<'END'
import json, re
found = json.load(open("quality.json"))
assert len(found) == 3, len(found)
for f in found:
    assert set(f) == {"description", "check_name", "fingerprint", "severity", "location"}, f
    assert re.fullmatch("[0-9a-f]{16}", f["fingerprint"])
    assert f["severity"] in ("info", "minor", "major", "critical", "blocker")
    assert set(f["location"]) == {"path", "lines"} and not f["location"]["path"].startswith(("/", "./"))
    assert isinstance(f["location"]["lines"]["begin"], int)
    assert (f["severity"] == "major") == ("REGRESSED" in f["check_name"]), f
    assert f["description"].split("\n")[0].split(" ")[1] == f["check_name"].split(" ")[2]
assert len({f["fingerprint"] for f in found}) == 3
assert found[0]["location"] == {"path": "suite.lua", "lines": {"begin": 2}}
END
)"
cp quality.json first.json
check --gitlab=-
report "GitLab: on standard output, the same bytes" "$(cmp out first.json)"
bless
check --gitlab=-
report "GitLab: nothing found is an empty list" "$(expect 0 '' '[]'; [ "$(cat out)" = '[]' ] || cat out)"

# ---- Lua --------------------------------------------------------------------------------------
cat >gate.lua <<'END'
local vinci = require "vinci"
local gate = vinci.gate { suite = "many.lua", baseline = "many.csv", verbose = true }
local lines = select(2, gate:github():gsub("::error ", ""))
assert(not gate:passes() and lines == 10, lines)
assert(gate:gitlab():find('"check_name": "vinci gate REGRESSED"', 1, true))
END
keep "$vinci" lua gate.lua
report "gate:github() and gate:gitlab()" "$(expect 0 '')"

# ---- checks and values -------------------------------------------------------------------------
point() { printf 'return { soc = "Ascend910B4", memory = "flat", points = { { name = "p", %s } } }\n' "$1" >proof.lua; }
proof() { gate check proof.lua --baseline=proof.csv; }
add 4 1 16 >good.csv
point 'trace = "good.csv", check = true, inputs = { x = "x.npy" }, expect = { y = "y.npy" }'
"$vinci" gate bless proof.lua --baseline=proof.csv --reason=test -q || exit 99
proof
report "a point with checks and the right values passes" "$(expect 0 '' 'PASS        p: ')"
point 'trace = "good.csv", inputs = { x = "x.npy" }, expect = { y = "wrong.npy" }'
proof
report "wrong values: WRONG, exit code 4, the element named" "$(expect 4 '' 'WRONG       p: '; expect 4 '' '77'
  expect 4 '' '1 points: 1 WRONG; the gate fails')"
gate bless proof.lua --baseline=proof.csv --reason=test
report "what is wrong is not blessed" "$(expect 4 - ''; case $err in *"point 'p' has no result to bless"*) ;; *) echo "$err" ;; esac)"
point 'trace = "good.csv", inputs = { x = "x.npy" }, expect = { y = "wrong.npy" }, atol = 1.5'
proof
report "atol" "$(expect 0 '')"
sed 's/^wait_flag,src=MTE2,dst=V,id=0$/# &/; s/^set_flag,src=MTE2,dst=V,id=0$/# &/' good.csv >racy.csv
point 'trace = "racy.csv", check = true'
proof
report "a race: UNSAFE, exit code 5" "$(expect 5 '' 'UNSAFE      p: '; expect 5 '' 'the checks found ')"
point 'trace = "racy.csv"'
proof
report "without check the race is not looked for" "$([ "$code" -lt 4 ] || echo "exit code $code")"
point 'op = "relu", shape = 512, dtype = "fp16", fill = "zero", check = true, expect = { y = "wrong.npy" }'
proof
report "operators have checks and values too: a file of another shape" "$([ "$code" -eq 3 ] || [ "$code" -eq 2 ] || [ "$code" -eq 4 ] || echo "exit code $code"
  expect "$code" '' 'wrong.npy')"
point 'trace = "good.csv", expect = { y = "y.npy" }'
proof
report "an input without values crashes the point" "$(expect 2 '' 'CRASHED     p: input tensor "x" has no values')"

# ---- messages ----------------------------------------------------------------------------------
says() { expect 2 "proof.lua: error: $1"; }
point 'trace = "good.csv", check = 1'
proof
report "check is a flag" "$(says "point 'p': 'check' is not true or false")"
point 'trace = "good.csv", expect = "y.npy"'
proof
report "expect is a table" "$(says "point 'p': 'expect' is not a table { TENSOR = \"FILE.npy\" }")"
point 'trace = "good.csv", inputs = { "x.npy" }'
proof
report "inputs have names" "$(says "point 'p': 'inputs' is not a table { TENSOR = \"FILE.npy\" }")"
point 'trace = "good.csv", atol = -1'
proof
report "atol is not negative" "$(says "point 'p': 'atol' is not a number of at least 0")"
point 'trace = "good.csv", fill = "random"'
proof
report "fill has a seed" "$(says "point 'p': fill is \"zero\" or \"random:SEED\" with a seed from 1, not 'random'")"
point 'folder = "nowhere"'
proof
report "a folder that is not there" "$(says "folder 'nowhere' cannot be read: No such file or directory")"
mkdir -p bare
point 'folder = "bare"'
proof
report "a folder without traces" "$(says "folder 'bare' has no traces: no file ends in .csv")"
point 'folder = "kernels", m = 4'
proof
report "a folder takes no arguments" "$(says "an entry with a folder has no field 'm'")"
touch 'bare/a b.csv'
point 'folder = "bare"'
proof
report "a trace whose name is not a name of a point" "$(says "point 'p/a b': a name has no blanks and none of , \" * ? [ ] \\ #")"
for both in '--tap=- --gitlab=-' '--gitlab=- --github'; do
  # shellcheck disable=SC2086 # two options
  check $both
  expect 2 "error: several reports go to standard output
hint: give files to all but one, such as --junit=gate.xml"
done >problems
report "one report alone goes to standard output" "$(cat problems)"

# A slower memory makes the lowering choose smaller tiles: counts are of another program, and the report says so.
cat >retiled.lua <<'END'
return { soc = "Ascend910B4", points = { { name = "mm", op = "matmul", m = 512, k = 512, n = 512, dtype = "fp16" } } }
END
"$vinci" gate bless retiled.lua --baseline=retiled.csv --reason=test -q || exit 99
tiling() { "$vinci" compile matmul m=512 k=512 n=512 dtype=fp16 -s Ascend910B4 --explain "$@" 2>&1 | grep -o 'tile=[^ ,]*' | head -n 1; }
gate check retiled.lua --baseline=retiled.csv --set hbm.bandwidth_scale=0.5
report "a gate says that a program was tiled anew, and how" "$(expect 1 '')$(
  printf '%s\n' "$out" | grep 'the program was tiled anew: ' | grep "$(tiling) .* -> .*$(tiling --set hbm.bandwidth_scale=0.5) " >/dev/null ||
    printf '%s\n' "$out")"
gate check retiled.lua --baseline=retiled.csv --set launch.base=600ns
report "and does not where the tiling stays" "$(expect 1 "")$(printf '%s\n' "$out" | grep -F 'tiled anew')"
