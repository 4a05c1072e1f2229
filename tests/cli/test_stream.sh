#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci stream from the outside: options, files of runs, messages, exit codes.
# $VINCI is the program under test.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_stream

# Keeps stdout, stderr and exit code.
run() { keep "$vinci" "$@"; }

plan 13

run stream
report "no model: usage on stderr" "$(expect 2 -; [ -z "$out" ] || echo "stdout: $out")"
run stream --help
report "--help lists the models" "$(expect 0 '' '  memory ')"
run stream memroy
report "misspelt model" "$(expect 2 "error: unknown model 'memroy' of stream
hint: did you mean 'vinci stream memory'?")"

# The figures are those of tests/reference/memory.
run stream memory
report "defaults: sequential reads, set A20" \
  "$(expect 0 '' 'hbm2_2000,2000,1,M3,seqr,64,sat,400000,184827,0,0.9241,14.786,6321,102,0.9658,')"
run stream memory --stream=stride:2048 --map='ro ba2 co4 bg2 co1'
report "a mapping as text" "$(expect 0 '' ',stride,2048,sat,400000,92061,0,0.4603,')"
run stream memory --stream=rand --mode=chase --map=M3 --cycles=100000
report "one burst at a time" "$(expect 0 '' ',rand,64,chase,')"
run stream memory --channels=16 --stream=seqw --cycles=60000 --set=geometry.pseudo_channels=2 \
  --set=controller.read_queue=64 --set=controller.write_queue=64
report "a stack, two pseudo-channels a controller" \
  "$(expect 0 '' 'hbm2_2000,2000,16,M3,seqw,64,sat,60000,0,440268,0.9172,')"

run stream memory "$srcdir/tests/reference/memory/hbm2_stack_16pc.csv"
report "a table of runs, one row each" \
  "$(expect 0 '' ',16,M3,stride,65536,sat,60000,'; [ "$(wc -l <"$work/out")" -eq 17 ] || echo "$out")"
printf '# comment\nstream,unknown\nseqr,x\nsqer,x\n' >"$work/runs.csv"
run stream memory "$work/runs.csv" --cycles=1000
report "a wrong row" "$(expect 3 "$work/runs.csv:4: error: unknown stream 'sqer'
hint: did you mean 'seqr'?" ',seqr,64,sat,1000,')"
run stream memory "$work/none.csv"
report "a file that is not there" "$(expect 2 -)"

run stream memory --memory=hbm3
report "unknown memory" "$(expect 2 -; case $err in *"unknown memory 'hbm3'"*) ;; *) echo "$err" ;; esac)"
run stream memory --set=timing.RPP=3
report "unknown parameter" "$(expect 2 "error: unknown parameter 'timing.RPP' of a memory
hint: did you mean 'timing.RP'?")"
run stream memory --map=M3 --channels=4
report "a mapping for another number of channels" \
  "$(expect 2 "error: address mapping 'ro ba2 co4 bg2 co1': ch has 0 bits, hbm2_2000 with 4 channels needs 2")"
