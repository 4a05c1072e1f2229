#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci net explain: every layer and every kernel is told of, as `vinci net compile` and `vinci compile` have them.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4
cnn=$srcdir/traces/examples/small_cnn.graph.csv

work_folder test_net_explain
plan 13

keep "$vinci" net explain "$cnn" $soc --json
cp "$work/out" "$work/all.json"
"$vinci" net compile "$cnn" $soc -q -o "$work/kernels.csv"
report "kernels are those of net compile, each with layers that are in the network" "$(expect 0 ''
  "$PYTHON" - "$work/all.json" "$work/kernels.csv" "$cnn" <<'END'
import json, sys
def rows(path, word):
    found = []
    for line in open(path):
        if line.startswith(word + ","):
            found.append(dict(field.split("=", 1) for field in line.strip().split(",")[1:]))
    return found
all = json.load(open(sys.argv[1]))
own = [k for k in all["kernels"] if k["op"] not in ("FractalWeights",)]
made = rows(sys.argv[2], "kernel")
if [(k["name"], k["op"], k["args"]) for k in own] != [(k["name"], k["op"], k["args"]) for k in made]:
    print("other kernels")
layers = [l["name"] for l in rows(sys.argv[3], "layer")]
if [l["name"] for l in all["layers"]] != layers:
    print("other layers")
for kernel in all["kernels"]:
    if not kernel["layers"] or not set(kernel["layers"]) <= set(layers):
        print(kernel["name"], "is of", kernel["layers"])
for layer in all["layers"]:
    if layer["kernels"] != [k["name"] for k in all["kernels"] if layer["name"] in k["layers"]]:
        print(layer["name"], "has", layer["kernels"])
END
)"

report "joined layers lead to the layer that computes them" "$(
  "$PYTHON" - "$work/all.json" <<'END'
import json, sys
layers = {l["name"]: l for l in json.load(open(sys.argv[1]))["layers"]}
for name in ("conv", "bn", "relu"):
    if layers[name]["part_of"] != "conv" or layers[name]["kernels"] != layers["conv"]["kernels"]:
        print(name, "is a part of", layers[name]["part_of"])
by = {(e["pass"], e["what"], e["node"]) for e in layers["conv"]["events"]}
for event in (("fold", "joined", "bn"), ("epilogue", "joined", "relu"), ("dtype", "changed", "conv")):
    if event not in by:
        print("no", event)
END
)"

# The estimate of a kernel is that of vinci compile --explain.
keep "$vinci" net explain "$cnn" $soc --node=dw
args=$(printf '%s\n' "$out" | sed -n 's/^  kernel [^ ]*: \(conv2d.*\)/\1/p')
# shellcheck disable=SC2086 # words
"$vinci" compile $args $soc --explain >"$work/one"
report "a kernel has the tiling and the bytes of vinci compile --explain" "$(expect 0 '' 'layer dw (Conv)'
  tiling=$(sed -n 's/^Tiling *//p' "$work/one")
  printf '%s\n' "$out" | grep -q "tiling  $tiling; " || echo "not $tiling"
  awk -v printed="$(printf '%s\n' "$out" | sed -n 's/.* blocks, \(.*\) KiB to.*/\1/p')" '
    $1 == "GM" && (printed - $2 / 1024 > 0.06 || $2 / 1024 - printed > 0.06) { print printed, $2 }' "$work/one")"
report "a kernel that passes made of several layers names them" "$(expect 0 '' 'of      dw, add')"

keep "$vinci" net explain "$cnn" $soc --node=dw --passes=-residual,-chain
report "without a pass nothing is joined" "$(expect 0 ''
  printf '%s\n' "$out" | grep 'of      dw')"
keep "$vinci" net explain "$cnn" $soc --node=bn --passes=-fold
report "a layer that no pass touches has a kernel of its own" "$(expect 0 '' 'kernel bn/'
  printf '%s\n' "$out" | grep -w fold)"

# A chain that loses is refused with both estimates: what the first is, vinci compile says.
cat >"$work/residual.csv" <<'END'
graph,version=1
tensor,name=x,dtype=fp16,shape=128x3072,io=in
tensor,name=w,dtype=fp16,shape=3072x768,io=weight
tensor,name=r,dtype=fp16,shape=128x768,io=in
tensor,name=c,dtype=fp16,shape=128x768
tensor,name=y,dtype=fp16,shape=128x768,io=out
layer,name=fc,op=MatMul,in=x w,out=c
layer,name=add,op=Add,in=c r,out=y
END
keep "$vinci" net explain "$work/residual.csv" $soc --node=add
report "a refusal says what was weighed" "$(expect 0 ''
  printf '%s\n' "$out" | awk '/residual +refused/ { seen = 1; if (!($(NF - 5) < $(NF - 2))) print }
    END { if (!seen) print "no refusal" }')"

sed 's/op=Add/op=Ade/' "$work/residual.csv" >"$work/bad.csv"
keep "$vinci" net explain "$work/bad.csv" $soc
report "a layer without a kernel has its reason" "$(expect 0 '' 'refused: no kernel of this type is known'
  case $out in *': 2 layers, 1 kernels'*) ;; *) echo "not one kernel" ;; esac
  printf '%s\n' "$out" | grep 'no kernel: ')"

keep "$vinci" net explain "$cnn" $soc --node=dww
report "an unknown node has a hint" "$(expect 2 "error: the network has no layer and no kernel 'dww'
hint: did you mean 'dw'?")"
keep "$vinci" net explain "$cnn" $soc --node="$("$vinci" net explain "$cnn" $soc | sed -n 's/^  kernel \(conv.conv2d[^:]*\):.*/\1/p')"
report "a kernel names all its layers" "$(expect 0 '' '  layer bn (BatchNormalization)'
  printf '%s\n' "$out" | grep -c '^  layer ' | grep -vx 3)"
keep "$vinci" net explain "$cnn" "$cnn" $soc
report "two networks" "$(expect 2 'error: give one network, not 2')"
keep "$vinci" net explain "$srcdir/traces/examples/two_layers.graph.csv" $soc
report "a graph of kernels has no layers" "$(expect 0 '' '0 layers, 3 kernels')"
keep "$vinci" net explain "$srcdir/traces/examples/two_layers.graph.csv" $soc --node=act --json
report "one kernel alone" "$(expect 0 '' '"name": "act"'
  [ "$(printf '%s\n' "$out" | grep -c '"tiling"')" = 1 ] || echo "more than one")"
