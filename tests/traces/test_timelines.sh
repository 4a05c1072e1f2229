#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Timelines and tables of `vinci run --output`, each read back by a reader of its own format
# (timelines.py, and protoc-c with the published numbers where it is installed) and compared with
# summary.json; what the options leave out; the errors. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_timelines
run() { keep "$vinci" run "$@" $soc --quiet; }
read_back() { python_test "$srcdir/tests/traces/timelines.py" "$@" 2>&1; }

"$vinci" soc show Ascend910B4 >"$work/limits"
plan 28

# ---- formats: a product, a mixed kernel with signals between cores, a kernel of the vector unit ----
for op in 'matmul m=1024 k=512 n=768' 'flash_attention heads=2 seq_q=256 head_dim=64' \
  'softmax shape=64x1024'; do
  name=${op%% *}
  # shellcheck disable=SC2086 # operator and keys
  run $op --output="$work/$name" --timeline=perfetto,chrome,vcd,msprof
  for format in perfetto chrome vcd msprof; do
    report "$format of $name reads back and adds up" "$(expect 0 ''; read_back $format "$work/$name")"
  done
  report "queues of $name are as deep in all files, and fit" \
    "$(read_back queues "$work/$name" "$work/limits")"
done

if command -v protoc-c >/dev/null; then
  report "protoc knows every field" "$(protoc-c --decode=perfetto.protos.Trace -I "$srcdir/tests/traces" \
    perfetto.proto <"$work/matmul/trace.pftrace" 2>&1 | grep -E '^ *[0-9]+[:{ ]|rror|ailed' | head -3)"
else
  report "protoc knows every field # SKIP no protoc-c" ""
fi
report "signals between cores have arrows" "$(read_back across "$work/flash_attention")"

# ---- what is left out ----------------------------------------------------------------------------
run matmul m=1024 k=512 n=768 --output="$work/one" --timeline=perfetto,chrome --core-id='0|3'
report "--core-id leaves two cores" "$(expect 0 ''; read_back cores "$work/one")"
run matmul m=1024 k=512 n=768 --output="$work/cut" --timeline=chrome --window=5000:6000 --min-cycles=20
report "--window and --min-cycles" "$(expect 0 ''; read_back window "$work/cut")"
run matmul m=1024 k=512 n=768 --output="$work/cut" --timeline=none
report "timelines that were not asked for go" "$(expect 0 ''
  for file in "$work"/cut/trace.*; do [ ! -e "$file" ] || echo "$file"; done)"
run matmul m=1024 k=512 n=768 --output="$work/named" --timeline=chrome --kernel-name='add|mat*l' --launch-count=1
report "--kernel-name takes the vendor's patterns" "$(expect 0 ''; read_back chrome "$work/named")"

# ---- a large one: the format with a tenth of the bytes is named -------------------------------------
large='trace.json has [0-9]* MiB: --timeline=perfetto writes a tenth, and --window=FROM:TO a part$'
keep "$vinci" run matmul m=2048 k=2048 n=2048 $soc --memory=flat --output="$work/large" --timeline=chrome,perfetto
report "a large trace.json is said to be large" "$(expect 0 ''
  [ "$(printf '%s\n' "$out" | grep -c "$large")" -eq 1 ] || printf '%s\n' "$out" | tail -n 3
  [ "$(wc -c <"$work/large/trace.pftrace")" -lt $(($(wc -c <"$work/large/trace.json") / 8)) ] ||
    echo "trace.pftrace is not an eighth"
  keep "$vinci" run matmul m=256 k=256 n=256 $soc --memory=flat --output="$work/large" --timeline=chrome
  ! printf '%s\n' "$out" | grep "$large")"

# ---- tables, the lowered trace ----------------------------------------------------------------------
report "hot spots add up" "$(read_back hotspots "$work/matmul")"
report "the lowered trace lies beside the results" "$("$vinci" compile matmul m=1024 k=512 n=768 $soc |
  diff - "$work/matmul/matmul.csv")"

# ---- errors -------------------------------------------------------------------------------------------
refuse() {
  run matmul m=16 k=16 n=16 --output="$work/refused" "$2"
  report "$1" "$(expect 2 "$3")"
}
refuse "an unknown format" --timeline=json "error: there is no timeline 'json'; choose some of perfetto, \
chrome, msprof and vcd with commas between them, or none"
refuse "cores that are no numbers" --core-id=0,1 "error: the cores '0,1' are not numbers of 0 to 255 with \
'|' between them, such as 0|31"
refuse "a window that ends before it starts" --window=9:3 "error: the window '9:3' is not FIRST:LAST, two \
cycles of which the first is not the larger one, such as 1000:25000"
refuse "a kernel that does not run" --kernel-name=conv "error: no kernel of the run has a name that begins \
with 'conv'; the first is 'matmul'"
