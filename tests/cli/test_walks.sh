#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The numbers of the three walks of ARCHITECTURE.md are those that the program prints.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
page=$srcdir/ARCHITECTURE.md
soc=--soc-version=Ascend910B4

work_folder test_walks
plan 3

# says SENTENCES: each line of them has to be in the page, wherever lines are broken.
says() {
  [ -s "$1" ] || echo "the program has printed nothing to compare"
  python3 - "$page" "$1" <<'END'
import sys
page = " ".join(open(sys.argv[1]).read().split())
for line in open(sys.argv[2]):
    if line.strip() not in page:
        print("ARCHITECTURE.md does not say:", line.strip())
END
}

# The first 3000 of the walk's cycles: the turns of the loop that the page follows. Exit code 7: a limit was reached.
keep "$vinci" run "$srcdir/traces/examples/add1_tile2048.csv" $soc --output="$work/copy" --timeline=chrome \
  --max-cycles=3000
problems=$(expect 7 -)
python3 - "$work/copy/trace.json" >"$work/copy.txt" <<'END'
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
core = [e for e in events if e["ph"] == "X" and e["pid"] == "core0.veccore0"]
def first(line, after=0):
    """Start and end of the first instruction of a line of the trace that starts at a cycle or later."""
    spans = sorted((int(e["args"]["start_cycle"]), int(e["args"]["cycles"])) for e in core
                   if e["args"]["code"].endswith(":%d" % line))
    start, cycles = next(s for s in spans if s[0] >= after)
    return start, start + cycles
x, bias = first(24), first(25)
again, wait, add = first(24, bias[0]), first(23, x[0]), first(30)
print(f"line 24 from cycle {x[0]}, line 25 from {bias[0]}, line 24 of the next turn from {again[0]}.")
print(f"which starts at {wait[0]} and takes {wait[1] - wait[0]} cycles.")
print(f"the `vadd` of line 30 that ends at cycle {add[1]}.")
print(f"the flag is seen: {wait[1]}.")
END
report "why did this copy wait?" "$problems$(says "$work/copy.txt")"

keep "$vinci" compile matmul m=512 k=512 n=512 $soc --explain
problems=$(expect 0 "")
# shellcheck disable=SC2016 # backquotes of the page
sed -n 's/^Tiling .*\(tile=[0-9x]*\).*/here `\1`/p' "$work/out" >"$work/tile.txt"
report "who chose this tile?" "$problems$(says "$work/tile.txt")"

sed -n '/^trace,version=1$/,/^```$/p' "$page" | sed '/^```$/d' >"$work/one.csv"
keep "$vinci" run "$work/one.csv" $soc --output="$work/one" --timeline=chrome
problems=$(expect 0 "")
python3 - "$work/one/trace.json" >"$work/one.txt" <<'END'
import json, sys
cycles = [e["args"]["cycles"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["name"] == "copy_gm_to_ubuf"]
print(f"shows {cycles[0]} cycles for the first copy")
print(f"and {cycles[1]} for the second")
END
report "what is one L2 miss?" "$problems$(says "$work/one.txt")"
