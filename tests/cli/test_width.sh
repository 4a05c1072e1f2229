#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is printed on a terminal fits the terminal: no line of a report is longer than its columns, of 80 at least; what
# is left out is named. In a pipe nothing depends on terminal and environment. $VINCI is the program under test.
set -u
. "${TESTS_SRCDIR:-.}/tests/support/tap.sh"
vinci=${VINCI:?}
unset COLUMNS NO_COLOR
work_folder test_width
"$PYTHON" -c 'import pty, termios' 2>/dev/null || skip_without "Python with terminals"
plan 16

examples=$TESTS_SRCDIR/traces/examples
chip="-s Ascend910B4"
# on COLUMNS WORDS...: what the program shows on a terminal, less lines of progress.
on() {
  columns=$1
  shift
  TERM=xterm "$PYTHON" "$TESTS_SRCDIR/tests/support/terminal.py" "$columns" "$vinci" "$@" | sed 's/^.*\r\x1b\[K//'
}
# fits NAME WORDS...: lines that are too long for 80 columns; leaves what was shown in $work/NAME.
fits() {
  name=$1
  shift
  NO_COLOR=1 on 80 "$@" >"$work/$name"
  [ -s "$work/$name" ] || echo "$*: nothing"
  LC_ALL=C.UTF-8 awk 'length > 80 { print "too long: " $0 }' "$work/$name"
}
cat >"$work/ops.csv" <<'END'
op,args,name
matmul,m=256 k=256 n=256 dtype=fp16,model.layers.0.self_attention.query_key_value_projection/MatMul_17
softmax,shape=64x512 dtype=fp16,soft
add,shape=64x512 dtype=fp16,residual
END

# shellcheck disable=SC2086 # a chip is two words
{
  report "run, of a trace" "$(fits trace run "$examples/reread.csv" $chip --output="$work/one")"
  report "run, of an operator" "$(fits run run matmul m=256 k=256 n=256 $chip --output="$work/two"
    grep -q 'not shown in 80 columns: .*what it does' "$work/run" || echo "columns are missing, and nothing says so"
    grep -q 'bytes (whole in hotspots.csv)' "$work/run" || echo "no file is named")"
  report "lists" "$(fits ops run --ops "$work/ops.csv" $chip
    fits interval run --ops "$work/ops.csv" $chip --interval)"
  report "networks" "$(fits net net run "$examples/two_layers.graph.csv" $chip
    fits plan net plan "$examples/two_layers.graph.csv"
    fits explain net explain "$examples/small_cnn.graph.csv" $chip
    fits passes net compile "$examples/small_cnn.graph.csv" $chip)"
  report "several devices" "$(fits group group run "$examples/data_parallel.job.csv"
    fits systems group show
    fits system group show atlas_a2_910b4
    fits collective group collective all_reduce -n 8 --system=atlas_a2_910b4)"
  report "sweep, sensitivity" "$(fits sweep sweep run matmul m=256 k=256 n=256 $chip -p l2.size=48MiB,96MiB -o "$work/study"
    fits sensitivity sensitivity matmul m=256 k=256 n=256 $chip
    grep -qF 'saves | costs' "$work/sensitivity" || echo "no bars")"
  report "diff" "$(fits diff diff "$work/one" "$work/two"
    fits lists diff "$work/ops.csv" -s Ascend910B4,Ascend910B1
    fits nets diff "$examples/two_layers.graph.csv" "$examples/two_layers.graph.csv" host=eager $chip)"
  report "check, compile" "$(fits check check "$examples/add1_tile2048.csv" $chip
    fits compile compile matmul m=512 k=512 n=512 $chip --explain)"
  report "debug, import" "$(fits debug debug "$examples/add1_tile2048.csv" $chip -e help -e 'break 24' -e continue -e info -e quit
    fits import import "$work/one")"
  report "soc, isa" "$(fits list soc list
    fits show soc show Ascend910B4
    fits differ soc diff Ascend910B4 Ascend910B1
    fits instructions isa list
    grep -q '^not shown in 80 columns: documented, measured, derived, .*description' "$work/list" || echo "columns of soc list"
    # A word of a long text is not lost.
    grep -q 'wait_flag_dev' "$work/instructions" && tr -s '\n ' '  ' <"$work/instructions" | grep -q 'has been signalled, and takes one signal' || echo "a text of isa list")"
  report "help of all verbs and commands" "$(fits help help
    "$vinci" help --words | while read -r verb; do
      fits verb help "$verb" | sed "s/^/$verb: /"
      case $verb in isa | help) continue ;; esac
      "$vinci" help --words "$verb" | grep -v '^-' | while read -r command; do
        fits verb "$verb" "$command" --help | sed "s/^/$verb $command: /"
      done
    done)"
  NO_COLOR=1 on 120 run matmul m=256 k=256 n=256 $chip >"$work/wide"
  report "a wider terminal shows more" "$(
    grep -q 'not shown in 120 columns' "$work/wide" || echo "nothing is said"
    [ "$(awk 'length > 80' "$work/wide" | wc -l)" -gt 5 ] || echo "as narrow as 80"
    awk 'length > 120 { print "too long: " $0 }' "$work/wide"
    NO_COLOR=1 on 40 soc list >"$work/narrow"
    cmp "$work/list" "$work/narrow")"
  report "operators, searches, counters, serving" "$(fits operator compile matmul --help
    fits counters run --counters
    fits tune tune relu shape=64x512 $chip --memory=flat --evaluations=8
    fits serve net serve "$examples/gears.graph.csv" $chip --memory=flat --gears=1,2)"
  printf 'trace,version=1\nkernel,name=add,arch=dav-c220,blocks=1\nstream,core=AIV\ncopy_gm_to_ubuf,dst=somewhere_that_is_not,src=x,len_burst=16,n_burst=1,src_stride=0,dst_stride=0\n' >"$work/bad.csv"
  on 80 run "$work/bad.csv" $chip >"$work/error"
  NO_COLOR=1 on 80 run "$work/bad.csv" $chip >"$work/plain"
  report "errors: the line and its mark stay whole, what is said of them breaks" "$(
    grep -q "^  copy_gm_to_ubuf,dst=.*dst_stride=0\$" "$work/error" || echo "the line is broken"
    grep -q '^ *^$' "$work/error" || echo "no mark"
    grep -q "$(printf '\033')\[1;31merror:" "$work/error" || echo "no colour"
    grep -v '^  copy' "$work/plain" | awk 'length > 80'
    grep "$(printf '\033')" "$work/plain")"
  "$vinci" run matmul m=256 k=256 n=256 $chip >"$work/piped"
  COLUMNS=200 TERM=xterm "$vinci" run matmul m=256 k=256 n=256 $chip >"$work/again"
  report "a pipe has all columns, whatever COLUMNS says" "$(cmp "$work/piped" "$work/again"
    grep -q 'instructions  what it does$' "$work/piped" || echo "a column is missing"
    grep 'not shown' "$work/piped")"
  on 80 soc list >"$work/coloured"
  report "colour on a terminal alone, and with NO_COLOR not at all" "$(
    grep -q "$(printf '\033')\[1m" "$work/coloured" || echo "no colour"
    "$vinci" soc list | grep "$(printf '\033')"
    grep "$(printf '\033')" "$work/list")"
}
