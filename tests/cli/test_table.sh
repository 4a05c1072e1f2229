#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci table: grids of an operator, and the files that simulators of serving and training read.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_table
plan 17

equal() { [ "$1" = "$2" ] || echo "$3: $1, expected $2"; }
has() { case $err in *"$1"*) ;; *) echo "no '$1' in: $err" ;; esac; }

# One operator: what a row says is what a run of that shape says.
keep "$vinci" table $soc matmul k=96 n=160 --over m=1..48 --over dtype=fp16,bf16
report "rows come in the order of the axes, the last one fastest" "$(equal "$code" 0 "exit code"
  equal "$(echo "$out" | cut -d, -f1,2 | tr '\n' ' ')" \
    "m,dtype 1,fp16 1,bf16 2,fp16 2,bf16 4,fp16 4,bf16 8,fp16 8,bf16 16,fp16 16,bf16 32,fp16 32,bf16 48,fp16 48,bf16 " rows)"
row=$(echo "$out" | grep '^48,bf16,')
run=$("$vinci" run $soc --memory=flat --json matmul k=96 n=160 m=48 dtype=bf16)
report "a row has the cycles of a run" "$(
  equal "$(echo "$row" | cut -d, -f4)" "$(echo "$run" | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["total_cycles"])')" cycles)"
"$vinci" table $soc -q -j 1 softmax 'shape={rows}x80' --over rows=16..64+16 >"$work/one.csv"
"$vinci" table $soc -q -j 3 softmax 'shape={rows}x80' --over rows=16..64+16 -o "$work/three.csv"
report "an axis within a value; the same bytes for any number of jobs" "$(
  cmp "$work/one.csv" "$work/three.csv" 2>&1
  equal "$(cut -d, -f1 "$work/one.csv" | tr '\n' ' ')" "rows 16 32 48 64 " rows)"
report "a state of L2 changes the times" "$(
  cold=$("$vinci" table $soc -q add dtype=fp32 'shape={n}' --over n=2097152 | tail -1 | cut -d, -f3)
  warm=$("$vinci" table $soc -q add dtype=fp32 'shape={n}' --over n=2097152 --l2=warm | tail -1 | cut -d, -f3)
  [ "$warm" -lt "$cold" ] || echo "warm $warm, cold $cold")"

keep "$vinci" table $soc -q softmax 'shape={r}' --over r=16x80,none
report "a point that cannot be is a row with the reason, and exit code 3" "$(equal "$code" 3 "exit code"
  has "1 of 2 rows have no time"
  equal "$(echo "$out" | sed -n 3p | cut -d, -f1-3)" "none,," row
  case $out in *'"softmax: shape takes 1 to 8 extents such as 8x128x512, not '*) ;; *) echo "$out" ;; esac)"
keep "$vinci" table $soc -q softmax 'shape={r}' --over r=none,nil
report "no point that can be is an error" "$(equal "$code" 2 "exit code"; equal "$out" "" "output"; has "no point can be simulated")"
keep "$vinci" table $soc -q matmul k=96 n=160 --over m=4..1
report "a range goes up" "$(equal "$code" 2 "exit code"; has "the range 4..1 of m does not go up")"
keep "$vinci" table $soc -q matmul k=96 n=160 --over m=1..
report "what is not a range is said" "$(equal "$code" 2 "exit code"; has "'1..' of m is not a value or a range; ranges are 1..4096")"
keep "$vinci" table $soc -q matmul k=96 n=160 m=3 --over m=1..4
report "a key is not a value and an axis" "$(equal "$code" 2 "exit code"; has "m is given twice")"
keep "$vinci" table $soc -q add 'shape={x}' --over y=1..4
report "a name without an axis is said" "$(equal "$code" 2 "exit code"; has "no --over gives values of {x}")"
keep "$vinci" table $soc -q matmul m=1 k=16 n=16
report "a grid wants an axis" "$(equal "$code" 2 "exit code"; has "give at least one axis")"

# A model: what the readers of three simulators ask for.
cat >"$work/model.lua" <<'M'
return { name = "tiny", layers = 2, hidden = 256, ffn = 512, heads = 8, kv_heads = 4, vocab = 1000, experts = 4 }
M
cat >"$work/dense.lua" <<'M'
return { name = "house/dense", layers = 2, hidden = 256, ffn = 512, heads = 8, vocab = 1000, sequence = 64, global_batch = 4 }
M
axes="--over tokens=1,16 --over sequences=2 --over chunk=32 --over kv=64,128"
keep "$vinci" table $soc -q "$work/model.lua" --form=llmservingsim
report "files want a folder" "$(equal "$code" 2 "exit code"; has "give the folder for the form llmservingsim with --output")"
keep "$vinci" table $soc -q "$work/model.lua" --form=llmservingsim --over rows=1 -o "$work/x"
report "an axis of others is refused with those that there are" "$(equal "$code" 2 "exit code"; has "chunk, kv, sequences, tokens")"
keep "$vinci" table $soc -q "$work/model.lua" --form=llmservingsim --tp=1,2 $axes -o "$work/bundle"
report "LLMServingSim: files, layers and points, sums of kernels" "$(equal "$code" 0 "exit code"
  "$PYTHON" "$srcdir/tests/cli/table_forms.py" llmservingsim "$work/bundle/tiny/bf16" 2>&1)"
keep "$vinci" table $soc -q "$work/dense.lua" --form=vidur --tp=1,2 --system=atlas_a2_910b4 $axes -o "$work/vidur"
report "Vidur: rows for what its reader selects, in milliseconds" "$(equal "$code" 0 "exit code"
  "$PYTHON" "$srcdir/tests/cli/table_forms.py" vidur "$work/vidur" 2>&1)"
keep "$vinci" table $soc -q "$work/model.lua" --form=vidur -o "$work/vidur"
report "Vidur has no experts" "$(equal "$code" 2 "exit code"; has "Vidur's profiles have no experts")"
keep "$vinci" table $soc -q "$work/dense.lua" --form=simai --tp=2 --devices=4 -o "$work/simai"
report "SimAI: a row for each part of each layer, with what is sent" "$(equal "$code" 0 "exit code"
  "$PYTHON" "$srcdir/tests/cli/table_forms.py" simai "$work/simai/house/dense-tp2-4.txt" 2>&1)"
