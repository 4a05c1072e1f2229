#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One vocabulary of outputs: the summary line has the numbers of the JSON, --json and --csv are what their old spellings
# were, and what a verb cannot print is refused. $VINCI is the program under test.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
vinci=${VINCI:?}
work_folder test_outputs
plan 12

examples=$TESTS_SRCDIR/traces/examples
chip="-s Ascend910B4 --memory=flat"
# member KEY: of a JSON on standard input, with its six decimals.
member() {
  "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin, parse_float=str)[sys.argv[1]])' "$1"
}
# of WORDS...: what the last line of a report says.
of() {
  "$vinci" "$@" | tail -1
}
same() {
  [ "$1" = "$2" ] || printf '%s\nis not\n%s\n' "$1" "$2"
}
# shellcheck disable=SC2086 # a chip is several words
{
  "$vinci" run "$examples/reread.csv" $chip --json >"$work/run"
  report "of a run" "$(same "$(of run "$examples/reread.csv" $chip)" \
    "summary: run cycles=$(member total_cycles <"$work/run") us=$(member duration_us <"$work/run") bound=$(
      member bound <"$work/run") partial=no")"
  report "of a run that was ended" "$(of run "$examples/reread.csv" $chip --max-cycles=3000 2>/dev/null | grep -q '^summary: run .* partial=yes$' || echo "no such line")"
  printf 'op,args\nrelu,shape=64x512\nfoo,shape=1\nadd,shape=64x512\n' >"$work/ops.csv"
  report "of a list" "$(same "$(of run --ops "$work/ops.csv" $chip)" "summary: run operators=3 ok=2 unsupported=1 failed=0")"
  net=$examples/two_layers.graph.csv
  report "of a network" "$(same "$(of net run "$net" $chip)" \
    "summary: net run us=$("$vinci" net run "$net" $chip --json | member time_us) kernels=3 refused=0")"
  job=$examples/data_parallel.job.csv
  report "of several devices" "$(of group run "$job" | grep -q "^summary: group run ranks=4 us=$(
    "$vinci" group run "$job" --json | member time_us) bytes=[0-9]*\$" || of group run "$job")"
  report "of a sweep, and of one of a list" "$(
    same "$(of sweep run relu shape=64x512 $chip -p l2.size=48MiB,96MiB -o "$work/study")" "summary: sweep run points=2 ok=2 failed=0 reused=0"
    grep -v foo "$work/ops.csv" >"$work/two.csv"
    same "$(of sweep run --ops "$work/two.csv" $chip -p l2.size=48MiB,96MiB -o "$work/lists" 2>/dev/null)" "summary: sweep run points=2 ok=2 failed=0 operators=2")"
  report "of a comparison" "$(of diff relu shape=64x512 relu shape=64x1024 -s Ascend910B4 >"$work/diff"
    change=$(sed -n 's/^summary: diff a_us=\(.*\) b_us=\(.*\) change_percent=\(.*\)$/\1 \2 \3/p' "$work/diff")
    echo "$change" | awk 'NF != 3 || ($2 / $1 - 1) * 100 - $3 > 0.06 || $3 - ($2 / $1 - 1) * 100 > 0.06 { print "changes: " $0 }')"
  set -- sensitivity relu shape=64x512 $chip --params=hbm.bandwidth_scale
  report "sensitivity prints CSV and JSON by the old words and the new ones" "$(
    for form in csv json; do same "$("$vinci" "$@" --format=$form)" "$("$vinci" "$@" --$form)"; done
    "$vinci" run "$examples/reread.csv" $chip -q -o "$work/kept"
    for form in csv json; do same "$("$vinci" import "$work/kept" --format=$form)" "$("$vinci" import "$work/kept" --$form)"; done
    keep "$vinci" import "$work/kept" --csv --format=text
    expect 2 'error: --json, --csv and --format: one of them'
    keep "$vinci" "$@" --csv --json
    expect 2 'error: --json, --csv and --format: one of them'
    "$vinci" sensitivity --help | grep -e --format)"
  "$vinci" run --ops "$work/ops.csv" $chip -q -o "$work/list"
  "$vinci" run --ops "$work/ops.csv" $chip --csv >"$work/table"
  report "a list prints its table as CSV, and no JSON" "$(cmp "$work/list/op_summary.csv" "$work/table"
    keep "$vinci" run --ops "$work/ops.csv" $chip --json
    expect 2 'error: --ops prints a table, or CSV with --csv; not JSON')"
  report "of checks, also of those that fail" "$(
    same "$(of check "$examples/add1_tile2048.csv" "$examples/add1_tile20480.csv" -s Ascend910B4)" "summary: check traces=2 ok=2 failed=0 exit=0"
    same "$(of check "$work/ops.csv" "$examples/add1_tile2048.csv" -s Ascend910B4 2>/dev/null)" "summary: check traces=2 ok=1 failed=1 exit=3"
    "$vinci" check "$examples/add1_tile2048.csv" -s Ascend910B4 -q | grep summary
    "$vinci" check "$examples/add1_tile2048.csv" -s Ascend910B4 --normalize=- 2>/dev/null | grep summary)"
  printf 'return { soc = "Ascend910B4", memory = "flat", points = { { name = "relu", op = "relu", shape = "64x512" } } }\n' >"$work/suite.lua"
  "$vinci" gate bless "$work/suite.lua" --baseline="$work/base.csv" --reason=first >"$work/blessed" 2>&1
  report "of a gate that passes, and of one that fails" "$(
    same "$(of gate check "$work/suite.lua" --baseline="$work/base.csv")" "summary: gate check points=1 passed=1 failed=0 exit=0"
    of gate check "$work/suite.lua" --baseline="$work/base.csv" --set path.GM_UB.startup_cycles=2000 2>/dev/null |
      grep -q '^summary: gate check points=1 passed=0 failed=1 exit=[139]$' || cat "$work/blessed")"
}
report "help --outputs says which verb has which, and --output is -o everywhere" "$(
  "$vinci" help --outputs >"$work/matrix"
  for row in 'run DIR yes yes yes' 'net run DIR yes - yes' 'group run DIR yes - yes' 'group plan FILE yes yes yes' \
    'group buckets FILE yes yes yes' 'diff - yes yes -' 'sensitivity DIR yes yes -' 'tune FILE yes - yes' 'check DIR yes - yes'; do
    tr -s ' ' <"$work/matrix" | grep -qx -e "$row" || echo "no row: $row"
  done
  grep -v '^verb' "$work/matrix" | awk '$(NF - 3) != "-" { NF -= 4; print }' | while read -r verb; do
    "$vinci" $verb --help | grep -q -e '-o, --output=' || echo "$verb: --output is not -o"
  done)"
