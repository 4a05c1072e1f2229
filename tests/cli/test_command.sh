#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# command.json of a result folder is of the command whose results are there: nobody else removes or writes this file,
# who writes results anew does, and it has the same bytes for the same command and inputs. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
case $srcdir in /*) ;; *) srcdir=$PWD/$srcdir ;; esac
case $vinci in /*) ;; *) vinci=$PWD/$vinci ;; esac
[ -z "${VINCI_DATA:-}" ] || VINCI_DATA=$(cd "$VINCI_DATA" && pwd)
work_folder test_command "$PWD"
plan 7

cd "$work" || exit 99
examples=$srcdir/traces/examples
chip="-s Ascend910B4 --memory=flat"
member() {
  "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1" <"$2/command.json"
}
# says FOLDER COMMAND: that the folder has the results of this command.
says() {
  found=$(member command "$1" 2>&1) && [ "$found" = "$2" ] || printf '%s says\n%s\nnot\n%s\n' "$1" "$found" "$2"
}
# untouched CODE WORDS...: the program ends so, and a file of the user in d stays as it was.
untouched() {
  mkdir -p d
  echo mine >d/command.json
  wanted=$1
  shift
  "$vinci" "$@" >out 2>&1
  code=$?
  [ "$code" -eq "$wanted" ] && [ "$(cat d/command.json)" = mine ] || echo "$*: exit code $code, $(cat d/command.json 2>&1)"
}
echo 'print(1)' >print.lua
cp "$examples/reread.csv" "it's.csv"
cp "$examples/reread.csv" run
# shellcheck disable=SC2086 # a chip is several words
{
  report "who writes no results leaves the file alone" "$(
    untouched 2 run missing.csv $chip -o d
    untouched 2 run run $chip --bogus -o d
    untouched 0 run --help -o d
    untouched 2 run --ops missing.csv -s Ascend910B4 -o d
    untouched 2 net run missing.csv $chip -o d
    untouched 2 group run missing.csv -o d
    untouched 2 compile matmul m=64 k=64 n=64 -s Ascend910B4 -o d
    untouched 2 soc list --output=d
    untouched 2 sweep status --output=d --bogus
    untouched 2 report missing -o d
    untouched 0 lua print.lua --output=d
    untouched 5 check run -s Ascend910B4 -o d)"

  trace="vinci run 'it'\\''s.csv' --soc-version=Ascend910B4 --memory=flat"
  report "options count in all their spellings, and words are as a shell takes them" "$(
    for output in "-o r" -or --output=r "--output r" -qor "-qo r"; do
      rm -rf r
      "$vinci" run "it's.csv" $chip $output >/dev/null
      says r "$trace"
    done
    "$vinci" run run $chip -qor
    says r "vinci run run --soc-version=Ascend910B4 --memory=flat"
    "$vinci" run relu shape=4096 $chip -qor
    [ "$(member inputs r)" = '[]' ] || member inputs r)"

  report "no day is in it, and other inputs are told apart" "$(
    "$vinci" run "it's.csv" $chip -q -o r && cp r/command.json first
    touch -d 2020-01-02 "it's.csv"
    "$vinci" run "it's.csv" $chip -q -o r && cmp first r/command.json
    echo >>"it's.csv"
    "$vinci" run "it's.csv" $chip -q -o r && cmp -s first r/command.json && echo "the same digest")"

  long=$(printf '%5000s' '' | tr ' ' x)
  report "a long command is whole" "$("$vinci" run run $chip --kernel-name="*|$long" -q -o r
    says r "vinci run run --soc-version=Ascend910B4 --memory=flat --kernel-name='*|$long'" | cut -c1-200)"

  report "partial results have their command" "$(
    "$vinci" run run $chip -q --max-cycles=3000 -o r 2>/dev/null
    [ $? -eq 7 ] || echo "not partial"
    says r "vinci run run --soc-version=Ascend910B4 --memory=flat --max-cycles=3000"
    printf 'op,args\nrelu,shape=64x512\nmatmul,m=0\n' >ops.csv
    "$vinci" run --ops ops.csv -s Ascend910B4 -q -o l 2>/dev/null
    says l "vinci run --ops=ops.csv --soc-version=Ascend910B4")"

  report "results of a script do not have the command of those before" "$(
    "$vinci" run run $chip -q -o r
    cat >folder.lua <<'END'
local vinci = require("vinci")
local soc = vinci.soc("Ascend910B4")
vinci.run(soc, vinci.load(soc, "run")):write_folder("r")
END
    "$vinci" lua folder.lua || cat folder.lua
    [ ! -e r/command.json ] || cat r/command.json)"

  report "looking at a study changes nothing, nor do its shards" "$(
    study="vinci sweep run relu shape=64x512 --soc-version=Ascend910B4 --memory=flat --param=l2.size=48MiB,96MiB"
    "$vinci" sweep run relu shape=64x512 $chip -p l2.size=48MiB,96MiB -q -o s
    says s "$study"
    for verb in status collect; do "$vinci" sweep $verb -o s -q; done
    says s "$study"
    for shard in 0/2 1/2; do "$vinci" sweep run relu shape=64x512 $chip -p l2.size=48MiB,96MiB --shard=$shard -q -o t; done
    "$vinci" sweep collect t -q
    says t "$study")"
}
