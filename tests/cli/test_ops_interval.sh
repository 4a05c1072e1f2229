#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci run --ops --interval: the durations of the cheapest and the dearest state of L2 and code.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_ops_interval
plan 6

cat >"$work/rows.csv" <<'END'
op,args
add,shape=128
add,shape=1024x1024
relu,shape=8x4096x1024
matmul,m=512 k=512 n=512
softmax,shape=64x1000
add,shape=128
nosuch,shape=3
END

# table NAME ARGUMENT...: the table of the list in $work/NAME.
table() {
  name=$1
  shift
  keep "$vinci" run --ops "$work/rows.csv" --soc-version=Ascend910B4 --output="$work/$name" --quiet "$@"
}
table asked --interval
table own
table cheap --l2=warm --code=warm
table empty --l2=empty --code=cold
table dirty --l2=dirty --code=cold
report "an interval has the row's own duration and those of the extreme states" "$(
  "$PYTHON" - "$work" <<'END'
import csv, sys
def rows(name):
    return list(csv.DictReader(open(f"{sys.argv[1]}/{name}/op_summary.csv")))
def us(row, column="sim_duration_us"):
    return row[column]
asked = rows("asked")
others = [rows(name) for name in ("own", "cheap", "empty", "dirty")]
for row, *states in zip(asked, *others):
    if row["status"] != "ok":
        if (row["sim_duration_low_us"], row["sim_duration_high_us"]) != ("N/A", "N/A"):
            print("a row that was not simulated has an interval:", row)
        continue
    durations = [us(state) for state in states]
    expected = (durations[0], min(durations, key=float), max(durations, key=float))
    found = (us(row), us(row, "sim_duration_low_us"), us(row, "sim_duration_high_us"))
    if found != expected or float(found[1]) >= float(found[2]):
        print(row["Op Name"], found, "expected", expected)
if len(asked) != 7 or sum(row["status"] == "ok" for row in asked) != 6:
    print("not all rows are there:", [row["status"] for row in asked])
END
)"
table again --interval --jobs=3
report "the same bytes with several processes" "$(cmp "$work/asked/op_summary.csv" "$work/again/op_summary.csv" 2>&1)"

keep "$vinci" run --ops "$work/rows.csv" --soc-version=Ascend910B4 --interval
first=$(printf '%s\n' "$out" | head -n 1 | tr -s ' ')
want_line() { case $first in " us cheapest dearest share "*) ;; *) echo "found: $first" ;; esac; }
report "the printed table has them too" "$(want_line)"

keep "$vinci" run --ops "$work/rows.csv" --soc-version=Ascend910B4 --interval --l2=warm
report "a given state leaves no interval" "$([ "$code" -eq 2 ] && case $err in *"leave out that of L2, or the interval"*) ;; *) echo "$err" ;; esac || echo "exit code $code")"
keep "$vinci" run --ops "$work/rows.csv" --soc-version=Ascend910B4 --interval --sequence
report "rows in their order have a state" "$([ "$code" -eq 2 ] && case $err in *"leave out the sequence, or the interval"*) ;; *) echo "$err" ;; esac || echo "exit code $code")"
keep "$vinci" run add shape=128 --soc-version=Ascend910B4 --interval
report "an interval is of lists" "$([ "$code" -eq 2 ] && case $err in *"--interval needs --ops=LIST"*) ;; *) echo "$err" ;; esac || echo "exit code $code")"
