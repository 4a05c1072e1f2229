#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci run --ops: a row of a list has one result, in whatever place: listed first or last, among others or
# alone, with times of starts or without.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_ops_order
plan 9

# Rows of each state of L2 and of each kind of output, on two chips; calls whose results are cleared before.
cat >"$work/rows.csv" <<'END'
soc,Op Name,Type,Start Time(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats
Ascend910B4,relu,Relu,10,"1024,1024",FLOAT16,ND,"1024,1024",FLOAT16,ND
Ascend910B4,cast,Cast,20,"8388608",FLOAT,ND,"8388608",FLOAT16,ND
Ascend910B4,sum,Add,25,"1024,1024;1024,1024",FLOAT;FLOAT16,ND;ND,"1024,1024",FLOAT,ND
Ascend910B4,product,MatMulV2,30,"512,2048;2048,2048",FLOAT16;FLOAT16,ND;ND,"512,2048",FLOAT16,ND
Ascend910B4,layer,MatMulV2,40,"512,2048;2048,2048;2048",FLOAT16;FLOAT16;FLOAT16,ND;ND;ND,"512,2048",FLOAT16,ND
Ascend910B1,elsewhere,MatMulV2,45,"512,2048;2048,2048",FLOAT16;FLOAT16,ND;ND,"512,2048",FLOAT16,ND
Ascend910B4,again,MatMulV2,50,"512,2048;2048,2048",FLOAT16;FLOAT16,ND;ND,"512,2048",FLOAT16,ND
Ascend910B4,flat,Mul,60,"16777216;16777216",FLOAT;FLOAT,ND;ND,"16777216",FLOAT,ND
Ascend910B4,mm_Common_MemSet,MemSet,70,N/A,N/A,N/A,N/A,N/A,N/A
Ascend910B4,mm_Common_Sub,Sub,75,"640,64;640,64",FLOAT16;FLOAT16,ND;ND,"640,64",FLOAT16,ND
Ascend910B4,mm_Common_MemSet,MemSet,80,N/A,N/A,N/A,N/A,N/A,N/A
Ascend910B4,mm_Common_Sub,Sub,85,"6400,64;6400,64",FLOAT16;FLOAT16,ND;ND,"6400,64",FLOAT16,ND
END
cat >"$work/calls.csv" <<'END'
op,args
matmul,m=512 k=2048 n=2048
relu,shape=1024x1024 dtype=fp16
matmul,m=256 k=2048 n=2048 bias=1
END

# make FROM TO ORDER [plain]: the rows of a list as listed, reversed, shuffled or only the Nth; plain: without
# times of starts, and without MemSet, which only its neighbour explains.
make() {
  "$PYTHON" - "$work/$1.csv" "$work/$2.csv" "$3" "${4:-}" <<'END'
import csv, random, sys
head, *rows = csv.reader(open(sys.argv[1]))
order = sys.argv[3]
if sys.argv[4]:
    rows = [row for row in rows if "MemSet" not in row]
    for row in rows:
        row[head.index("Start Time(us)")] = "N/A"
if order == "reversed":
    rows.reverse()
elif order == "shuffled":
    random.Random(5).shuffle(rows)
elif order != "listed":
    rows = [rows[int(order)]]
out = csv.writer(open(sys.argv[2], "w"), lineterminator="\n")
out.writerows([head] + rows)
END
}

# results LIST ARGUMENT...: the table of a list in $work/LIST.txt, with its rows sorted.
results() {
  list=$1
  shift
  keep "$vinci" run --ops "$work/$list.csv" --output="$work/$list" "$@"
  sort "$work/$list/op_summary.csv" >"$work/$list.txt"
  [ "$code" -eq 0 ] || printf '%s: exit code %s\n%s\n' "$list" "$code" "$err"
  ! grep -v ',ok,' "$work/$list.txt" | grep -v '^Op Name\|OP Type'
}

# same LIST OTHER: what differs between the tables of two lists, or from one to what it is a part of.
same() {
  comm -13 "$work/$1.txt" "$work/$2.txt" | sed "s/^/$2 alone has: /"
}

for start in started plain; do
  mode=${start#started}
  make rows listed listed "$mode"
  make rows reversed reversed "$mode"
  make rows shuffled shuffled "$mode"
  words=$([ "$mode" ] && echo "without starts" || echo "with starts")
  found=$(results listed && results reversed && results shuffled)
  report "all rows are simulated, $words" "$found$(
    [ "$(wc -l <"$work/reversed.txt")" -eq "$(wc -l <"$work/rows.csv")" ] || [ "$mode" ] || wc -l "$work/reversed.txt")"
  report "a list reversed has the same results, $words" "$(same listed reversed; same reversed listed)"
  report "a list shuffled has the same results, $words" "$(same listed shuffled; same shuffled listed)"
  report "a row alone has the result that it has among others, $words" "$(
    for row in 0 1 2 3 4 5 6 7; do
      make rows alone $row "$mode"
      results alone
      same listed alone
    done)"
done

make calls calls_reversed reversed
results calls --soc-version=Ascend910B4 >"$work/found"
results calls_reversed --soc-version=Ascend910B4 >>"$work/found"
report "calls with their arguments have the same results in any order" "$(
  cat "$work/found"
  same calls calls_reversed)"
