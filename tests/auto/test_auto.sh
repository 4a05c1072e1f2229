#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --memory=auto of the program: the bar in report and summary.json, the same bits each time, what is refused;
# and the bar against cycle memory for some random operators (make auto has 500).
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
vinci=${VINCI:?}

needs_python
work_folder test_auto
plan 10

large="softmax shape=4096x4096 -s Ascend910B4 --memory=auto --timeline-events=0 --savings=none"

# shellcheck disable=SC2086 # words
keep "$vinci" run $large
report "the report has the bar and says what is of flat memory" \
  "$(expect 0 '' 'give or take 1')"

# shellcheck disable=SC2086 # words
{
  "$vinci" run $large -q --json >"$work/a.json"
  "$vinci" run $large -q --json --shuffle-parts=5 >"$work/b.json"
}
keep "$PYTHON" -c '
import json, sys
a, b = (json.load(open(name)) for name in sys.argv[1:])
for one in (a, b):
    del one["host"]
assert a == b, "another order of parts, another result"
bar = a["memory"]
assert bar["duration_from"] == "prefix" and bar["counters_from"] == "flat", bar
assert 0 < bar["error_bar_ppm"] <= 20000 and 0 < bar["simulated_share"] < 1, bar
assert all(core["total_cycles"] == bar["flat_cycles"] for core in a["cores"]), "counters of another run"
' "$work/a.json" "$work/b.json"
report "summary.json has the bar, and a shuffled run the same bits" "$(expect 0 '' '')"

keep "$vinci" run softmax shape=64x64 -s Ascend910B4 --memory=auto
report "small tensors run in cycle memory" "$(expect 0 '' 'auto: all in cycle memory')"

keep "$vinci" run softmax shape=64x64 -s Ascend910B4 --error-bar=5
report "a bar is for auto" "$(expect 2 'error: --error-bar is for single runs with --memory=auto' '')"

keep "$vinci" run softmax shape=64x64 -s Ascend910B4 --memory=auto --repeat=2
report "launches in a row are not" "$(expect 2 'error: memory that outlives a run is flat or cycle, not auto: both models would have to keep L2' '')"

echo 'return { points = { { name = "a", op = "softmax shape=64x64", soc = "Ascend910B4" } } }' >"$work/suite.lua"
keep "$vinci" gate list "$work/suite.lua" --memory=auto
report "a gate is exact" "$(expect 2 "$work/suite.lua: error: memory of a gate is cycle or flat, not auto: its points are exact" '')"

keep "$vinci" run softmax shape=64x64 -s Ascend910B4 --memory=auto --savings=all
report "savings are less than the bar" \
  "$(expect 2 'error: --savings measures less than the error bar of --memory=auto: choose cycle or flat' '')"

keep "$vinci" sensitivity softmax shape=64x64 -s Ascend910B4 --memory=auto
report "and so is what numbers of the chip change" \
  "$(expect 2 'error: memory is cycle or flat, not auto: what a number changes may be less than the error bar' '')"

keep "$vinci" diff softmax shape=64x64 -s Ascend910B4,Ascend910B2 --memory=auto
report "counters of both models do not compare" \
  "$(expect 2 'error: memory is cycle or flat, not auto: counters of both models do not compare' '')"

keep python_test "$TESTS_SRCDIR/tests/auto/auto.py" --program "$vinci" --count 24
[ "$code" -eq 0 ] || err="$err
$out"
report "the duration of cycle memory lies inside the bar" "$(expect 0 '' 'auto: holds')"
