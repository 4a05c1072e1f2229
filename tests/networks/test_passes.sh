#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every pass of networks/passes/passes.def has a test of values and a row in GRAPH.md, and the program's help
# names the pass. What such a test is worth says tests/values/layers.py: the pass has to change something.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"

vinci=${VINCI:?}
work_folder test_passes
plan 6

# rows FILE: name and stage of each pass, in order.
rows() {
  sed -n -e 's/^PASS([A-Z_]*, "\([^"]*\)", \([A-Z]*\),.*/\1 \2/p' \
    -e 's/^PASS_LAYOUTS([A-Z_]*, "\([^"]*\)",.*/\1 LAYOUTS/p' "$1"
}

# wanting DEF LAYERS GUIDE: what passes lack, a line each.
wanting() {
  rows "$1" | while read -r name stage; do
    case $stage in LAYERS | LAYOUTS | KERNELS | LIMIT) ;; *) echo "$name: no stage '$stage'" ;; esac
    grep -q "[(]\"$name\", [^)]" "$2" || echo "tests/values/layers.py has no case of pass '$name'"
    grep -q "^| \`$name\` | [^|]" "$3" || echo "networks/GRAPH.md has no row of pass '$name'"
  done
}

def=$TESTS_SRCDIR/networks/passes/passes.def
layers=$TESTS_SRCDIR/tests/values/layers.py
guide=$work/guide.md
sed -n '/^| pass |/,/^$/p' "$TESTS_SRCDIR/networks/GRAPH.md" >"$guide"
report "every pass has a test of values and a row in the guide" "$(wanting "$def" "$layers" "$guide")"

rows "$def" | cut -d' ' -f1 >"$work/names"
# shellcheck disable=SC2016 # a mark of the table
sed -n 's/^| `\([a-z-]*\)` | .*/\1/p' "$guide" | grep -vx pass >"$work/guide"
report "the guide has them in the order in which they run" "$(diff "$work/names" "$work/guide")"

rows "$def" | cut -d' ' -f2 | uniq >"$work/stages"
report "stages follow each other" "$(printf '%s\n' LAYERS LAYOUTS KERNELS LIMIT | diff - "$work/stages")"

"$vinci" net compile --help | sed -n '/The passes, in their order/,/^Example/s/^  \([a-z-]*\)$/\1/p' >"$work/help"
report "the help of net compile lists them" "$(diff "$work/names" "$work/help")"
keep "$vinci" net compile "$work/none.csv" -s Ascend910B4 "--passes=$(tr '\n' , <"$work/names")"
report "each is known by its name" "$(case $err in *"unknown pass"*) echo "$err" ;; esac)"

# A pass that has neither is named.
cp "$def" "$work/more.def"
echo 'PASS(MORE, "more", KERNELS, more, "something new")' >>"$work/more.def"
wanting "$work/more.def" "$layers" "$guide" >"$work/said"
report "a pass without them is told" "$(printf '%s\n' "tests/values/layers.py has no case of pass 'more'" \
  "networks/GRAPH.md has no row of pass 'more'" | diff - "$work/said")"
