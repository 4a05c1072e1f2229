#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Chips of one's own: by file, by name in folders; vinci soc new; and the table of a list that nobody
# keeps. $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_own
case $vinci in /*) ;; *) vinci=$(pwd)/$vinci ;; esac
cd "$work" || exit 99
work=$(pwd)
unset VINCI_PATH XDG_DATA_HOME
HOME=$work/home
export HOME
mkdir -p home

run() { keep "$vinci" "$@"; }

plan 27

# ---- vinci soc new ----------------------------------------------------------------------------
run soc new mine --base=Ascend910B4
report "soc new writes a file" "$(expect 0 '' "mine.lua: change it, then 'vinci run ... --soc-version=mine.lua'")"
run soc diff mine.lua Ascend910B4
report "as written, it is like its base" "$(expect 0 '' '0 differences')"
sed -i 's/^    -- size = num(96 \* MiB/    size = num(48 * MiB/' mine.lua
run soc diff mine.lua Ascend910B4
report "a line without its dashes is a number of its own" "$(expect 0 '' 'l2.size  48MiB  96MiB
1 difference')"
run soc validate mine.lua
report "validate takes a file" "$(expect 0 '' 'mine.lua: ok, ')"
run soc show mine.lua
report "its number names its source" "$(expect 0 '' "a description of one's own")"
run soc new mine --base=Ascend910B4
report "nothing is written over" "$(expect 2 'mine.lua: error: is there already and is not written over')"
run soc new other --base=Ascend910B4 -o -
report "new on standard output" "$(expect 0 '' 'base = "Ascend910B4"')"
run soc new other
report "new without a base" "$(expect 2 "error: which chip to start from? --base=NAME is missing
hint: 'vinci soc list' shows the names")"
run soc new 'a b' --base=Ascend910B4
report "new with a bad name" "$(expect 2 "error: 'a b' is not a name of a chip: letters, digits, '_' and '-' are")"
run soc new Ascend910B1 --base=Ascend910B4
report "new with a name that is taken" "$(expect 2 "error: there is a chip 'Ascend910B1' already")"
run soc new --base=Ascend910B4
report "new without a name" "$(expect 2 "error: new takes the name of the new chip")"
run soc new other --base=Ascend910B9
report "new with an unknown base" "$(expect 2 - ''; case $err in "error: unknown SoC 'Ascend910B9'"*) ;; *) echo "$err" ;; esac)"

# ---- where chips are looked for ----------------------------------------------------------------
run run add shape=512x512 -s mine.lua --json
report "a chip by its file" "$(expect 0 '' '"soc": "mine"')"
run run add shape=512x512 -s mine
report "a file is not a name" "$(expect 2 "error: unknown SoC 'mine'
hint: \`vinci soc list\` shows all")"
mkdir -p home/.local/share/vinci/soc && cp mine.lua home/.local/share/vinci/soc/
run run add shape=512x512 -s mine --json
report "a name in the folder of the user" "$(expect 0 '' '"soc": "mine"')"
run soc list
report "soc list has own chips among the others, in order" "$(expect 0 ''
  awk 'NR > 1 { print $1 }' out >names; LC_ALL=C sort -c names 2>&1; grep -qx mine names || echo "no mine")"
mkdir -p data/vinci/soc && sed 's/48 \* MiB/24 * MiB/' mine.lua >data/vinci/soc/mine.lua
XDG_DATA_HOME=$work/data run soc show mine
report "XDG_DATA_HOME is in place of the folder in HOME" "$(expect 0 '' '24MiB')"
mkdir -p first/soc second/soc && sed 's/48 \* MiB/12 * MiB/' mine.lua >second/soc/mine.lua
VINCI_PATH=first:second XDG_DATA_HOME=$work/data run soc show mine
report "VINCI_PATH comes before, folder by folder" "$(expect 0 '' '12MiB')"
sed 's/"mine"/"Ascend910B4"/; s/base = "Ascend910B4"/base = "Ascend910B1"/' mine.lua >second/soc/Ascend910B4.lua
VINCI_PATH=second run soc diff Ascend910B4 mine.lua
report "an installed name means the installed chip" "$(expect 0 '' 'l2.size  96MiB        48MiB')"
run run add shape=512 -s second/soc/Ascend910B4.lua
report "a file with the name of an installed chip" "$(expect 2 "second/soc/Ascend910B4.lua: error: 'Ascend910B4' is the name of an installed chip
hint: rename the file, and the name in it")"
printf 'return soc { name = "child", base = "mine", description = "a child" }\n' >child.lua
run soc diff child.lua mine.lua
report "a base beside the file" "$(expect 0 '' '0 differences')"
run run add shape=512 -s nowhere.lua
report "a file that is not there" "$(expect 2 'nowhere.lua: error: there is no such description of a chip')"
mkdir -p studies && cp mine.lua studies/
printf 'return { soc = "mine.lua", op = "add", shape = "512x512", params = { { "l2.size", "24MiB", "48MiB" } } }\n' >studies/study.lua
run sweep run studies/study.lua -o swept -q
report "a study names a file beside it" "$(expect 0 -; awk -F, 'NR > 1 && $0 !~ /,ok,/' swept/results.csv)"

# ---- a list without --output --------------------------------------------------------------------
printf 'op,args\nmatmul,m=256 k=256 n=256\nadd,shape=512x512\nadd,shape=1024x1024\nsoftmax,shape=128x1024\nrelu,shape=512\nexp,shape=640\nfoo,shape=1\n' >list.csv
run run --ops=list.csv -s Ascend910B4
report "the table: a line each, the sum, the slowest" "$(expect 0 ''
  [ "$(grep -c ' %' out)" -eq 13 ] || echo "$(grep -c ' %' out) lines with a share, not 6, 1, 1 and 5"
  expect 0 '' 'The 5 slowest, '
  expect 0 '' 'foo'
  grep -Eq '^ *[0-9.]+ +100\.0 % +[0-9.]+ +all$' out || echo "no line of all")"
report "times sum to that of all; those of --output are the same" "$(
  "$vinci" run --ops=list.csv -s Ascend910B4 -q -o kept
  python3 - 2>&1 <<'END'
import csv
rows = [r for r in csv.DictReader(open("kept/op_summary.csv")) if r["status"] == "ok"]
table = [l.split() for l in open("out").read().split("\nThe ")[0].splitlines()[1:] if "%" in l]
us = [float(t[0]) for t in table]
assert us[:-1] == [float(r["sim_duration_us"]) for r in rows], us
assert abs(sum(us[:-1]) - us[-1]) < 0.002, us
for t, r in zip(table, rows):
    gbs = float(r["sim_gm_bytes"]) / float(r["sim_duration_us"]) / 1000
    assert abs(gbs - float(t[3])) <= 0.06, (t, gbs)
    assert t[4] == r["sim_bound"], t
add = [r for r in rows if r["lowered"] == "add shape=1024x1024"][0]
assert int(add["sim_gm_bytes"]) == 3 * 2 * 1024 * 1024, add
END
)"
report "nothing is left behind" "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'vinci-ops-*' -newer list.csv)"
run run --ops=list.csv -s mine.lua -q
report "--quiet prints nothing" "$(expect 0 ''; [ ! -s out ] || cat out)"
