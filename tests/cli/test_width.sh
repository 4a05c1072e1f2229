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
plan 20

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
  case " $* " in *" --help "*) ;; *) echo "$1 ${2:-}" >>"$work/looked at" ;; esac
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
    fits import import "$work/one"
    fits side import "$work/one" "$work/two" "$work/one"
    grep -q '^not shown in 80 columns: what it is' "$work/side" || echo "what rows are is left out without a word"
    fits deeper debug matmul m=256 k=256 n=256 $chip --fill=random:1 -e 'break mad' -e continue -e where -e pipes -e queues -e flags \
      -e list -e info -e 'info buffers' -e core -e 'help x' -e 'x/32f a' -e 'x/32x a' -e quit
    # An instruction is longer than a line, and goes on below behind a comma.
    grep -A1 '^ *mad,.*,$' "$work/deeper" | grep -q '^ *[a-z_0-9]*=' || echo "the text of an instruction is cut elsewhere")"
  report "streams: a line for each column of one run, a table of several; CSV when asked" "$(
    fits memory stream memory --cycles=10000
    grep -q '^frac_peak  *0\.' "$work/memory" && grep -q '^max_read_latency_cycles  ' "$work/memory" || cat "$work/memory"
    printf 'stream,mode\nseqr,sat\nrand,sat\n' >"$work/runs.csv"
    fits runs stream memory "$work/runs.csv" --cycles=10000
    tr -s '\n ' '  ' <"$work/runs" | grep -q 'not shown in 80 columns: .* max_read_latency_cycles.* (whole in CSV, by --csv)' ||
      tail -n 3 "$work/runs"
    awk 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR < 4 { print $at["stream"], $at["avg_read_latency_ns"] }' "$work/runs" |
      grep -c '^\(seqr\|rand\) [0-9]' | grep -qx 2 || cat "$work/runs"
    fits network stream network --cycles=2000
    grep -q '^status  *ok$' "$work/network" || cat "$work/network"
    NO_COLOR=1 on 80 stream memory "$work/runs.csv" --cycles=10000 --csv >"$work/runs.shown"
    "$vinci" stream memory "$work/runs.csv" --cycles=10000 | cmp - "$work/runs.shown")"
  cat >"$work/model.lua" <<'END'
return { layers = 2, hidden = 64, ffn = 128, heads = 2, kv_heads = 2, head_dim = 32, vocab = 100, sequence = 32, global_batch = 4 }
END
  report "plans, trainings, energies of jobs" "$(fits plan group plan "$work/model.lua" -s atlas_a2_910b4 -n 2
    fits training group train --step=1s --steps=1000 -i 100s --save=20s --mtbf=5000s --detect=10s -n 16 -r 10
    fits energy group run "$examples/layer_step.job.csv" --energy --savings=all
    fits buckets group buckets "$examples/step.buckets.csv" -s atlas_a2_910b4 -n 4)"
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
  cat >"$work/suite.lua" <<'END'
return { soc = "Ascend910B4", points = { { name = "a", op = "matmul", m = 64, k = 64, n = 64 },
  { name = "a_second_point_with_a_rather_long_name", op = "add", shape = 4096 } } }
END
  cat >"$work/profile.csv" <<'END'
Name,Type,Accelerator Core,Start Time(us),Duration(us),Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats
model/layers.0/residual_connection_of_attention/Add,Add,AI_VECTOR_CORE,"1736000000000000.912	",5.504,16,"""4096;4096""",DT_FLOAT;DT_FLOAT,ND;ND,"""4096""",DT_FLOAT,ND
model/layers.0/residual_connection_of_attention/Mul,Mul,AI_VECTOR_CORE,"1736000000000010.912	",5.504,16,"""4096;4096""",DT_FLOAT;DT_FLOAT,ND;ND,"""4096""",DT_FLOAT,ND
END
  report "gates, replays, studies, tables, pages, cuts" "$(fits list gate list "$work/suite.lua"
    fits bless gate bless "$work/suite.lua" --baseline="$work/base.csv" --reason=first
    fits gate gate check "$work/suite.lua" --baseline="$work/base.csv"
    fits why gate explain "$work/suite.lua" --baseline="$work/base.csv"
    fits replay replay "$work/profile.csv" $chip
    fits status sweep status "$work/study"
    fits table table matmul --over m=1..4 k=256 n=256 $chip --memory=flat
    fits page report "$work/one" -o "$work/one.html"
    fits cuts tune --cuts "$examples/long_chain.graph.csv" $chip --memory=flat --evaluations=4
    fits ablate net run "$examples/small_cnn.graph.csv" $chip --memory=flat --ablate
    fits instruction isa show vadd
    fits valid soc validate)"
  # What is not looked at above: commands that write a file or only compile (their messages are those of errors), that
  # submit to Slurm, that serve, and scripts, which print their own.
  for verb in cc "library list" "library check" lua "net import" "soc new" "sweep submit" "sweep collect" "tune serve" \
    "group convert" "gate import"; do
    echo "$verb"
  done >"$work/elsewhere"
  report "each verb and command is looked at, or is named with the reason why not" "$(
    "$vinci" help --words | while read -r verb; do
      commands=$("$vinci" help --words "$verb" | grep -v '^-')
      [ "$verb" != tune ] || commands="$commands relu"
      for command in ${commands:-""}; do
        name=${command:+$verb $command}
        grep -q "^${name:-$verb}\( \|\$\)" "$work/looked at" || grep -qx "${name:-$verb}" "$work/elsewhere" || echo "${name:-$verb}"
      done
      [ -n "$commands" ] || grep -q "^$verb " "$work/looked at" || grep -qx "$verb" "$work/elsewhere" || echo "$verb"
    done)"
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
