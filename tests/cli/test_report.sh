#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci report without a browser: the file, the same bytes for the same run, what is refused and why.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_report
"$vinci" run matmul m=256 k=256 n=256 $soc --output="$work/run" --quiet || exit 99
"$vinci" run matmul m=256 k=256 n=256 $soc --output="$work/again" --quiet || exit 99

if ! "$vinci" --version | grep -q 'HTML reports: written$'; then
  plan 1
  keep "$vinci" report "$work/run"
  report "without the page the message names what is missing" "$(
    expect 2 'error: this vinci was built without the page of reports: uPlot was missing, a plotting library from npm
hint: install npm and build again, or build from a release, which contains uPlot')"
  exit 0
fi
plan 22
copy() { # FOLDER: a copy of the results, to damage
  rm -rf "${work:?}/$1"
  cp -r "$work/run" "$work/$1"
}

keep "$vinci" report "$work/run"
report "a page in the folder" "$(expect 0 '' "$work/run/report.html: open the file in a browser"
  head -n 1 "$work/run/report.html" | grep -qx '<!DOCTYPE html>' || echo "no HTML")"
keep "$vinci" report "$work/run/" -o "$work/one.html" --quiet
report "a page elsewhere, quietly" "$(expect 0 ''; [ -z "$out" ] || echo "$out"; cmp "$work/one.html" "$work/run/report.html" 2>&1)"
mkdir "$work/other"
cp -r "$work/again" "$work/other/run"
"$vinci" report "$work/other/run" -o "$work/two.html" --quiet
cat >"$work/page.lua" <<'END'
local vinci = require "vinci"
print(vinci.report { folder = arg[1], output = arg[2] })
local good, problem = pcall(vinci.report, { folder = arg[1] .. "/none" })
assert(not good)
print(problem)
END
keep "$vinci" lua "$work/page.lua" "$work/run" "$work/lua.html"
report "Lua writes the same page" "$(expect 0 '' "$work/lua.html"; cmp "$work/one.html" "$work/lua.html" 2>&1)"
report "Lua says what is wrong with a folder" "$(expect 0 '' 'cannot read the result folder')"
report "the same run gives the same bytes" "$(cmp "$work/one.html" "$work/two.html" 2>&1)"
report "nothing of the host is in a page" "$(grep -n 'cpu_seconds\|peak_rss' "$work/one.html"; grep -nF "$work" "$work/one.html")"
report "nothing is loaded from elsewhere" "$(grep -noE '(src|href)="?(https?:)?//[^"]*|@import|url\([^d]' "$work/one.html")"
cp -r "$work/run" "$work/none"
"$vinci" run matmul m=256 k=256 n=256 $soc --output="$work/none" --timeline=none --quiet
report "another run removes the page of the one before" "$([ ! -e "$work/none/report.html" ] || echo "report.html is there")"
keep "$vinci" report "$work/none"
report "without a timeline there is a page" "$(expect 0 ''; [ ! -e "$work/none/slices.json" ] || echo "slices.json is there")"

keep "$vinci" report
report "no folder" "$(expect 2 "error: 0 result folders were given, not one or two
hint: 'vinci run TRACE --output=DIR' writes one")"
keep "$vinci" report "$work/nowhere"
report "a folder that is not there" "$(expect 2 "$work/nowhere: error: cannot read the result folder: No such file or directory")"
keep "$vinci" report "$work/one.html"
report "a file" "$(expect 2 "error: $work/one.html is a file, not a result folder")"
mkdir "$work/empty"
keep "$vinci" report "$work/empty"
report "a folder of something else" "$(expect 2 "error: $work/empty is not a result folder: no files of a run, a sweep, a list of operators, a network or a job are there
hint: 'vinci run TRACE --output=DIR' writes a result folder")"
copy old
rm "$work/old/report.json"
keep "$vinci" report "$work/old"
report "results of an older program" "$(expect 3 "error: $work/old is the result folder of a run, but has no report.json
hint: an older vinci wrote the folder: run again with --output")"
copy ended
rm "$work/ended/summary.json"
keep "$vinci" report "$work/ended"
report "results that were not finished" "$(expect 3 "error: $work/ended is the result folder of a run, but has no summary.json
hint: the run did not end: run again with --output")"
copy damaged
head -c 1000 "$work/run/report.json" >"$work/damaged/report.json"
keep "$vinci" report "$work/damaged"
report "a damaged file" "$(expect 3 "error: $work/damaged/report.json is damaged: no JSON from byte 1000 on
hint: write the folder again")"
copy later
sed '2s/"schema": 1/"schema": 7/' "$work/run/report.json" >"$work/later/report.json"
keep "$vinci" report "$work/later"
report "keys of another version" "$(expect 3 "error: $work/later/report.json has version 7 of its keys, this program reads 1
hint: run again with this program, or use the vinci that wrote the folder")"
copy model
revision=$("$vinci" --version | sed -n 's/.*model revision \(.*\))/\1/p')
sed 's/"model_revision": "[^"]*"/"model_revision": "none"/' "$work/run/report.json" >"$work/model/report.json"
keep "$vinci" report "$work/run" "$work/model"
report "runs of two models" "$(expect 3 "error: $work/run is of model revision $revision, $work/model of model revision none: they cannot be compared
hint: run both again with one vinci")"
printf 'op,args\nadd,shape=4096\n' >"$work/ops.csv"
"$vinci" run --ops "$work/ops.csv" $soc --output="$work/list" --quiet
keep "$vinci" report "$work/run" "$work/list"
report "a run and a list" "$(expect 2 "error: $work/run has results of a run, $work/list of a list: they cannot be compared")"
"$vinci" sweep run relu shape=4096 $soc --param l2.size=48MiB,96MiB --output="$work/study" --quiet
keep "$vinci" report "$work/study" "$work/list"
report "a sweep and a list" "$(expect 2 "error: $work/study has results of a sweep, $work/list of a list: they cannot be compared")"
report "what the points of a sweep share" "$(grep -q '"chip": "Ascend910B4"' "$work/study/study.json" || cat "$work/study/study.json")"
keep "$vinci" report "$work/run" --output="$work/nowhere/page.html"
report "a page that cannot be written" "$(expect 2 - ; case $err in *"$work/nowhere/page.html"*"No such file or directory"*) ;; *) echo "$err" ;; esac)"
