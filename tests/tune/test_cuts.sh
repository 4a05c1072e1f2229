#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci tune --cuts: a chain beyond L2 runs in parts and is faster, within L2 it stays whole; bytes of device memory
# against the closed form; values stay; the graph that is written is the network that was measured; files, Lua, messages.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_cuts
plan 15
long=$srcdir/traces/examples/long_chain.graph.csv

cuts() { keep "$vinci" tune "$@" -s Ascend910B4 --memory=flat --cuts; }
# ask PYTHON: problems that the text prints of the JSON in $out, as `run`, its first chain `chain` and its trials.
ask() {
  printf '%s\n' "$out" >"$work/run.json"
  { cat <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
chain = run["chains"][0]
trials, MiB = chain["trials"], 1 << 20
whole, best = trials[0], next(t for t in trials if t["parts"] == chain["parts"])
END
    cat; } >"$work/ask.py"
  python3 "$work/ask.py" "$work/run.json" 2>&1
}

# Tensors of 128 MiB between three kernels and an L2 of 48 MiB: the proportions of 512 MiB and 192 MiB.
sed 's/4096x65536/1024x65536/' "$long" >"$work/chain.csv"
cuts "$work/chain.csv" --passes=none --set l2.size=48MiB --json -o "$work/cut.csv" --table="$work/table.csv"
report "a chain beyond L2 is cut" "$(expect 0 ''; ask <<'END'
if (chain["verdict"], chain["kernels"], chain["rows"], len(run["chains"])) != ("cut", 3, 1024 * 65536, 1): print(chain)
END
)"
report "at least 1.3 times as fast, and the network as fast as the chain alone" "$(ask <<'END'
if whole["us"] < 1.3 * best["us"]: print(whole["us"], best["us"])
if best["us"] != min(t["us"] for t in trials): print("another trial is faster")
net = run["network"]
if net["tuned"] != {k: best[k] for k in net["tuned"]} or net["whole"] != {k: whole[k] for k in net["whole"]}: print(net)
if net["tuned"]["us"] > net["estimate"]["us"]: print("slower than pass split", net)
END
)"
report "bytes of device memory are those of the closed form" "$(ask <<'END'
# Each of three kernels reads and writes 128 MiB; in parts the first reads and the last writes.
if (chain["whole_bytes"], chain["closed_bytes"], chain["between_bytes"]) != (768 * MiB, 256 * MiB, 384 * MiB): print(chain)
# Whole, L2 keeps a part of what was written last: at most its 48 MiB of each of three tensors are not read.
if not 768 * MiB - 3 * 48 * MiB <= whole["hbm_bytes"] <= 768 * MiB: print("whole", whole["hbm_bytes"] / MiB)
# With smaller parts fewer sets of L2 overflow: never below the closed form, within 10 % at last.
parts = sorted(trials[1:], key=lambda t: t["parts"])
if any(a["hbm_bytes"] < b["hbm_bytes"] for a, b in zip(parts, parts[1:])): print("not falling", [t["hbm_bytes"] for t in parts])
if not 256 * MiB <= parts[-1]["hbm_bytes"] <= 1.1 * 256 * MiB: print("in parts", parts[-1]["hbm_bytes"] / MiB)
END
)"
report "what launches cost is told and grows with their number" "$(ask <<'END'
parts = sorted(trials, key=lambda t: t["parts"])
for t in parts:
    if t["launches"] != 3 * t["parts"]: print(t)
    # A launch takes at least launch.base and the gap, 0.54 us and 0.03 us, between the first and the last.
    if t["launch_us"] < 0.57 * t["launches"] - 0.03: print("too little", t)
if any(a["launch_us"] >= b["launch_us"] for a, b in zip(parts, parts[1:])): print("not growing")
if parts[-1]["us"] <= best["us"]: print("the smallest parts are the fastest")
END
)"
report "the table has a row for each trial" "$(
  head -n 1 "$work/table.csv" | grep -vx 'first,last,kernels,rows,verdict,parts,part_rows,launches,launch_us,us,hbm_bytes,whole_bytes,closed_bytes,chosen'
  test "$(grep -c ',1$' "$work/table.csv")" = 1 || cat "$work/table.csv"
  ask <<'END'
rows = open(sys.argv[1].replace("run.json", "table.csv")).read().split("\n")[1:-1]
if len(rows) != len(trials) or any(int(r.split(",")[5]) != t["parts"] for r, t in zip(rows, trials)): print(rows)
END
)"
cp "$work/run.json" "$work/first.json"
keep "$vinci" net run "$work/cut.csv" -s Ascend910B4 --memory=flat --set l2.size=48MiB --json
report "the graph that was written takes that time" "$(expect 0 ''; printf '%s' "$out" >"$work/net.json"
  python3 - "$work/net.json" "$work/first.json" <<'END' 2>&1
import json, sys
net, run = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
text = json.dumps(net)
if ('%.6f' % run["network"]["tuned"]["us"]).rstrip("0") not in text: print(run["network"]["tuned"]["us"], text[:400])
END
)"
"$vinci" net compile "$work/chain.csv" -s Ascend910B4 --passes=none -o "$work/kernels.csv" -q
cuts "$work/kernels.csv" --set l2.size=48MiB --json
report "a graph of kernels is cut as its layers are" "$(expect 0 ''; printf '%s\n' "$out" | cmp - "$work/first.json" 2>&1)"

sed 's/4096x65536/32x65536/' "$long" >"$work/small.csv"
cuts "$work/small.csv" --passes=none --json
report "a chain within L2 stays whole, with the reason and what 2 parts would take" "$(expect 0 ''; ask <<'END'
if (chain["verdict"], chain["parts"]) != ("fits", 1) or chain["reason"] != "12.0 MiB at once are in use, L2 has 96.0": print(chain)
if len(trials) != 2 or trials[1]["launches"] != 6 or trials[1]["us"] <= whole["us"] or trials[1]["hbm_bytes"] != whole["hbm_bytes"]: print(trials)
if run["network"]["tuned"] != run["network"]["whole"]: print(run["network"])
END
)"
cuts "$work/small.csv" --passes=none --set l2.size=3MiB --json
report "a chain whose launches cost more than L2 saves stays whole, with the reason" "$(expect 0 ''; ask <<'END'
if (chain["verdict"], chain["parts"]) != ("loses", 1) or "more launches" not in chain["reason"]: print(chain)
if len(trials) < 3 or any(t["us"] <= whole["us"] for t in trials[1:]) or trials[1]["hbm_bytes"] >= whole["hbm_bytes"]: print(trials)
if run["network"]["tuned"] != run["network"]["whole"]: print(run["network"])
END
)"

# Slow device memory, so that small products and convolutions gain.
head='graph,version=1
tensor,name=x,dtype=fp16,shape=%s,io=in
tensor,name=w,dtype=fp16,shape=%s,io=weight
tensor,name=v,dtype=fp16,shape=%s,io=weight
tensor,name=h,dtype=fp16,shape=%s
tensor,name=g,dtype=fp16,shape=%s
tensor,name=y,dtype=fp16,shape=%s,io=out
'
# shellcheck disable=SC2059
{ printf "$head" 1x8192x128 128x512 512x128 1x8192x512 1x8192x512 1x8192x128
  echo 'layer,name=up,op=MatMul,in=x w,out=h
layer,name=act,op=Gelu,in=h,out=g,args=approximate=tanh
layer,name=down,op=MatMul,in=g v,out=y'; } >"$work/products.csv"
# shellcheck disable=SC2059
{ printf "$head" 16x16x56x56 16x16x3x3 16x16x3x3 16x16x56x56 16x16x56x56 16x16x56x56
  window='kernel=3x3 strides=1x1 pads=1x1x1x1 dilations=1x1 group=1'
  echo "layer,name=c1,op=Conv,in=x w,out=h,args=$window
layer,name=act,op=Sigmoid,in=h,out=g
layer,name=c2,op=Conv,in=g v,out=y,args=$window"; } >"$work/convs.csv"
cuts "$work/products.csv" --set l2.size=3MiB --set hbm.pin_share=0.1 --values
report "rows of products are cut, and values stay" "$(expect 0 '' 'kernels, 8192 rows (rows of a product)'
  case $out in *'Verdict   cut: '*'1 results of the network whole and cut are the same'*) ;; *) echo "$out" ;; esac)"
cuts "$work/convs.csv" --set l2.size=3MiB --set hbm.pin_share=0.1 --values
report "images of convolutions are cut, and values stay" "$(expect 0 '' 'kernels, 16 rows'
  case $out in *'Verdict   cut: '*'1 results of the network whole and cut are the same'*) ;; *) echo "$out" ;; esac)"
sed 's/16x16x56x56/1x16x56x56/' "$work/convs.csv" >"$work/one.csv"
cuts "$work/one.csv" --set l2.size=3MiB
report "one image has no rows to cut" "$(expect 0 '' 'No kernels follow one another that can run in parts')"

cuts "$srcdir/traces/examples/two_layers.graph.csv"
report "a network without chains says so" "$(expect 0 '' 'No kernels follow one another that can run in parts')"

usage() {
  keep "$vinci" tune "$@" -s Ascend910B4
  [ "$code" = 2 ] || echo "exit code $code for $*"
}
report "mistakes of use" "$(usage --cuts; usage a.csv b.csv --cuts; usage "$work/kernels.csv" --cuts --passes=all
  usage "$work/chain.csv" --cuts --passes=chian; usage relu shape=64 -o "$work/x"
  usage relu shape=64 --table="$work/x"; usage relu shape=64 --passes=all
  printf 'graph,version=1\nlayer,name=a,op=Relu,in=x\n' >"$work/bad.csv"
  keep "$vinci" tune "$work/bad.csv" --cuts -s Ascend910B4
  case $code$err in 3"$work/bad.csv:2:"*) ;; *) echo "$code $err" ;; esac)"

keep "$vinci" lua - "$work/chain.csv" "$work/first.json" "$work/cut.csv" <<'END'
local vinci = require "vinci"
local chip = vinci.soc("Ascend910B4", { set = { ["l2.size"] = "48MiB" } })
local found = vinci.net_cuts(chip, io.open(arg[1]):read "a", { memory = "flat", passes = "none" })
local cut, json = found.chains[1], io.open(arg[2]):read "a"
for _, trial in ipairs(cut.trials) do
  if not json:find(('"parts": %d, "rows": %d, "us": %s,'):format(trial.parts, trial.rows, trial.us), 1, true) then print(trial.parts, trial.us) end
end
if cut.verdict ~= "cut" or cut.closed_bytes ~= 256 << 20 or found.tuned.us ~= cut.trials[2].us or found.whole.hbm_bytes ~= cut.trials[1].hbm_bytes then print(cut.verdict, found.tuned.us) end
if found.graph ~= io.open(arg[3]):read "a" then print "another graph" end
END
report "Lua has the same" "$(expect 0 ''; printf '%s' "$out")"
