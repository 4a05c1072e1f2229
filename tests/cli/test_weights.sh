#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Column weight of a list: how often each operator counts, wherever times are summed. $VINCI is the program
# under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4

work_folder test_weights
case $vinci in /*) ;; *) vinci=$(pwd)/$vinci ;; esac
cd "$work" || exit 99
work=$(pwd)

plan 10

# The first row ten times, the last not at all; the longest of one call is not the longest of all calls.
printf 'op,args,weight\nrelu,shape=4096,10\nmatmul,m=256 k=256 n=256,\nadd,shape=8192,0\n' >list.csv
printf 'op,args\nrelu,shape=4096\nmatmul,m=256 k=256 n=256\nadd,shape=8192\n' >once.csv

keep "$vinci" run --ops list.csv $soc
report "the table sums as often as weights say" "$(expect 0 '' 'all, each as often as its weight says'
  awk '/ us +weight/ { on = 1; next } on && /^ / && !/ all/ { sum += $1 * $2 }
    / all, / { on = 0; if (sum < $1 - 0.01 || sum > $1 + 0.01) print "sum " sum ", not " $1; seen = 1 }
    END { if (!seen) print "no line of all" }' out
  grep -q '^ *1\.[0-9]* *10 *[67][0-9]\.. % .* relu shape=4096' out || cat out)"

# No cell of these tables has a comma.
weights() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "weight") at = i } { print $at }' "$1"; }
"$vinci" run --ops list.csv $soc -q -o weighted
"$vinci" run --ops once.csv $soc -q -o once
report "op_summary.csv has them; without the column each counts once" "$(
  weights weighted/op_summary.csv | paste -sd' ' - | grep -qx 'weight 10 1 0' || cat weighted/op_summary.csv
  weights once/op_summary.csv | paste -sd' ' - | grep -qx 'weight 1 1 1' || cat once/op_summary.csv
  grep -q '"weighted": true' weighted/list.json || cat weighted/list.json
  grep -q '"weighted": false' once/list.json || cat once/list.json)"

keep "$vinci" diff once weighted
report "a comparison counts them and says so" "$(expect 0 '' 'note: times count each operator as often as its weight says'
  grep -q 'B against A: +[0-9.]* us (+' out || cat out)"
keep "$vinci" diff once.csv list.csv $soc
cp out lists
keep "$vinci" diff once weighted
report "lists are compared as their results are" "$(expect 0 ''
  [ "$(grep 'B against A' lists)" = "$(grep 'B against A' out)" ] || cat lists out)"

keep "$vinci" tune --ops list.csv $soc -n 2 --memory=flat
report "a search counts calls" "$(expect 0 '' 'Total     3 operators, 11 calls')"
keep "$vinci" compile --list --missing=list.csv $soc
report "what is modelled is a share of calls" "$(expect 0 '' '11 of 11 rows')"

printf 'Name,Type,Input Shapes,Input Data Types,Output Shapes,Output Data Types,weight\na,Relu,"64",FLOAT16,"64",FLOAT16,1\nb,Relu,"64",FLOAT16,"64",FLOAT16,2\n' >order.csv
keep "$vinci" run --ops order.csv $soc --sequence -o order
report "a sequence launches a row as often" "$(expect 0 ''
  weights order/op_summary.csv | paste -sd' ' - | grep -qx 'weight 1 2' || cat order/op_summary.csv)"
sed 's/,2$/,0/' order.csv >none.csv
keep "$vinci" run --ops none.csv $soc --sequence
report "and not less than once" "$(expect 3 'none.csv:3: error: weight is 0; a sequence launches each row at least once')"
sed 's/,2$/,4294967295/' order.csv >most.csv
keep "$vinci" run --ops most.csv $soc --sequence
report "nor more than a million times" "$(expect 7 'most.csv:3: error: with the weights up to this row a sequence has more than 1048576 launches')"
sed 's/,10$/,1e3/' list.csv >bad.csv
keep "$vinci" run --ops bad.csv $soc
report "a weight that is not a number" "$(expect 3 "bad.csv:2:17: error: weight is not a whole number below 2^32: '1e3'")"
