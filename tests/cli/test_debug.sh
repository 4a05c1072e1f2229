#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci debug from the outside: a run has the same cycles and values with and without a debugger, stops
# are where the timeline has them, and each wrong command says what is wrong. $VINCI is the program.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}
soc=--soc-version=Ascend910B4
add=$srcdir/traces/examples/add1_tile2048.csv

work_folder test_debug
plan 14

# Three copies through one buffer: each waits for the one before.
cat >"$work/copies.csv" <<'END'
trace,version=1
kernel,name=copies,arch=dav-c220,blocks=1
tensor,name=x,dtype=fp32,shape=384,io=in
tensor,name=y,dtype=fp32,shape=384,io=out
buffer,name=a,space=UB,address=512,size=512
stream,core=AIV
set_flag,src=MTE3,dst=MTE2,id=1
loop,i,3
wait_flag,src=MTE3,dst=MTE2,id=1
copy_gm_to_ubuf,dst=a,src=x+i*512,len_burst=16
set_flag,src=MTE2,dst=MTE3,id=0
wait_flag,src=MTE2,dst=MTE3,id=0
copy_ubuf_to_gm,dst=y+i*512,src=a,len_burst=16
set_flag,src=MTE3,dst=MTE2,id=1
endloop
END
sed '7d' "$work/copies.csv" >"$work/hangs.csv"

debug() { keep "$vinci" debug "$@" $soc; }
session() { keep "$vinci" debug "$work/copies.csv" $soc --fill=random:3 --eval "$1"; }
# The line of the kept output that holds a text.
line() { grep -e "$1" "$work/out"; }

# same_values TENSOR WORDS...: the values of a run to its end are those of vinci run --values.
same_values() {
  tensor=$1
  shift
  "$vinci" compile "$@" $soc -o "$work/op.csv" || return
  rm -rf "$work/result"
  "$vinci" run "$work/op.csv" $soc --fill=random:7 --output="$work/result" >"$work/report" || return
  file=$work/result/tensors/$tensor.npy
  words=$((($(wc -c <"$file") - 128) / 4)) # behind the header
  debug "$@" --fill=random:7 --eval "continue; x/${words}x $tensor"
  expect 0 ""
  tail -c $((words * 4)) "$file" | od -An -v -tx4 -w4 | tr -d ' ' >"$work/want"
  sed -n 's/^GM+0x[0-9a-f]*: //p' "$work/out" | tr ' ' '\n' | sed 's/^0x//' >"$work/have"
  [ "$(wc -l <"$work/have")" -eq "$words" ] || echo "there are not $words words"
  cmp "$work/want" "$work/have" || echo "the values of $* differ"
}
# same_run TENSOR WORDS...: the cycles too.
same_run() {
  same_values "$@"
  sed -n 's/^Cycles  *\([0-9]*\) .*/the run has ended after \1 cycles/p' "$work/report" >"$work/want"
  grep '^the run' "$work/out" | diff "$work/want" - || echo "the cycles of $* differ"
}
report "cycles and values are those of a run: cube with unit flags, vector unit, both in one kernel" "$(
  same_run c matmul m=48 k=160 n=80
  same_run y softmax shape=24x200
  same_run y conv2d n=1 c=16 h=10 w=10 k=16 kernel=3x3
  same_run o flash_attention heads=2 seq_q=64 head_dim=64)"

# An independent witness: the timeline of vinci run.
"$vinci" run "$work/copies.csv" $soc --output="$work/out1" --timeline=chrome >"$work/report"
grep -o '"name":"copy_ubuf_to_gm".*' "$work/out1/trace.json" | tr '{' '\n' |
  sed -n 's/.*csv:13.*"start_cycle":"\([0-9]*\)".*/\1/p' >"$work/want"
session "break 13; continue; continue; continue; continue"
line '^breakpoint 1, ' | sed -n 's/.*cycle \([0-9]*\)  core0.veccore0  MTE3 starts line 13: copy_ubuf.*/\1/p' >"$work/have"
report "a breakpoint of a line stops each time where the timeline has the instruction, then the run ends" "$(
  expect 0 "" "the run has ended after"
  [ "$(wc -l <"$work/want")" -eq 3 ] || echo "the timeline has not 3 copies"
  diff "$work/want" "$work/have")"

report "breakpoints of instructions, flags and cycles stop there, are listed, and stop no more once deleted" "$(
  session "b copy_gm_to_ubuf; b flag MTE2>MTE3:0 0; b cycle 1000; c; c; c; i b; d 2; d 1; d 3; c"
  expect 0 "" "(vinci) i b
breakpoint 1: copy_gm_to_ubuf, met 1 time
breakpoint 2: flag MTE2>MTE3:0 on core0.veccore0"
  case $(line '^breakpoint . cycle\|^breakpoint ., ' | sed 's/cycle [0-9]* /cycle N /' | tr '\n' '|') in
    "breakpoint 1, cycle N  core0.veccore0  MTE2 starts line 10: copy_gm_to_ubuf,dst=a,src=x+i*512,len_burst=16|"*"breakpoint 3, cycle N  core0.veccore0  is reached|"*) ;;
    *) echo "the stops are:" && line '^breakpoint' ;;
  esac
  [ "$(tail -n 1 "$work/out" | cut -c1-17)" = "the run has ended" ] || tail -n 1 "$work/out")"

report "a watched range stops at the instruction that has written a byte of it, and no other" "$(
  session "watch y+516 4; c; x/1x y+516; x/1x a+4; c"
  expect 0 "" "MTE3 ends line 13: copy_ubuf_to_gm"
  [ "$(line '^breakpoint 1, ' | wc -l)" -eq 1 ] || echo "it stopped more than once"
  line '0x' | grep '^[GU]' | sed 's/.*: //' | uniq | wc -l | grep -qx 1 || line '^[GU]')"

report "the next stall names pipe, reason, flag and line; of one pipe, that pipe" "$(
  session "stall; stall MTE2"
  expect 0 "" "MTE3 waits in line 12: wait_flag,src=MTE2,dst=MTE3,id=0, waits for a flag of another pipe: MTE2>MTE3:0"
  expect 0 "" "MTE2 waits in line 9: wait_flag,src=MTE3,dst=MTE2,id=1, waits for a flag of another pipe: MTE3>MTE2:1")"

report "pipes, queues and flags show what is there; a step of a pipe is its next event" "$(
  session "b 10; c; pipes; until 900; queues MTE2; flags; where; step MTE2; flags; step MTE2; flags"
  expect 0 "" "  V    idle"
  expect 0 "" "  MTE2 executes line 10: copy_gm_to_ubuf,dst=a,src=x+i*512,len_burst=16 since"
  expect 0 "" "end not known yet"
  expect 0 "" " of 32
         issued "
  expect 0 "" "dst=UB+0x200 src=GM+0x1000"
  expect 0 "" "MTE2 ends line 10: copy"
  expect 0 "" "MTE2 starts line 11: set_flag"
  session "b flag MTE2>MTE3; c; flags"
  expect 0 "" "  MTE2>MTE3:0 set at ")"

# 1.5, -2 and 65504 as fp16; 1.5 as fp32; the bytes of both.
printf '\223NUMPY\001\000\166\000{%s}%58s\n' "'descr': '<f4', 'fortran_order': False, 'shape': (384,), " '' >"$work/x.npy"
{
  printf '\000\000\300\077\000\076\000\300\377\173\000\000'
  head -c $((384 * 4 - 12)) /dev/zero
} >>"$work/x.npy"
report "x prints numbers in each format, at an offset of a memory, a buffer or a tensor" "$(
  keep "$vinci" debug "$work/copies.csv" $soc --input=x="$work/x.npy" \
    -e 'x/1 x; x/4h x+4; x/2x GM+0x1004; x/12b x; x/1g x+2; b 12; c; x/1f a; x /1d UB+512'
  expect 0 "" "GM+0x1000: 1.5
"
  expect 0 "" "GM+0x1004: 1.5 -2 65504 0
"
  expect 0 "" "GM+0x1004: 0xc0003e00 0x00007bff
"
  expect 0 "" "GM+0x1000: 00 00 c0 3f 00 3e 00 c0 ff 7b 00 00
"
  expect 0 "" "GM+0x1002: 1.5
"
  expect 0 "" "UB+0x200: 1.5
"
  expect 0 "" "UB+0x200: 1069547520")"

# wrong COMMAND MESSAGE: ends the session with exit code 2 and the message.
wrong() {
  session "b 11; c; $1"
  expect 2 "error: $2"
}
report "each wrong command says what was expected" "$(
  wrong brake "unknown command 'brake'
hint: did you mean 'break'?"
  wrong "break" "'break' with 0 words
hint: the command is 'break [FILE:]LINE | INSTRUCTION | cycle N | flag SRC>DST[:ID] [CORE]'"
  wrong "break 8" "line 8 has no instruction
hint: the next line that has is 9"
  wrong "break vad" "unknown instruction 'vad'
hint: did you mean 'vadd'?"
  wrong "break flag MTE2-V" "'MTE2-V' names no flag
hint: a flag is written SRC>DST or SRC>DST:ID, such as MTE2>V:0"
  wrong "until 5" "a cycle that is to come is a number from $(line starts | sed 's/.*cycle \([0-9]*\) .*/\1/' | awk '{ print $1 + 1 }') to 9007199254740992, not '5'"
  wrong "delete 7" "there is no breakpoint 7
hint: 'info breakpoints' lists them"
  wrong "x/4q UB" "unknown format 'q'
hint: f fp32, h fp16, g bf16, d int32, x words of 32 bits, b bytes"
  wrong "step MTE1" "no pipe 'MTE1' on a core AIV
hint: its pipes are S V MTE2 MTE3"
  wrong "core core0.veccore9" "unknown core 'core0.veccore9' among 40
hint: did you mean 'core0.veccore0'?"
  wrong "list 99" "the trace has no line 99"
  wrong "info flags" "no information on 'flags'
hint: 'info', 'info breakpoints' or 'info buffers'")"

report "a bad address names the memories and buffers with their sizes" "$(
  wrong "x/1f UB+0x40000" "UB+0x40000 lies outside of UB, which has 196608 bytes (0x30000)
hint: there are GM (7168 bytes), UB (196608 bytes), a (512 bytes), x (1536 bytes), y (1536 bytes)"
  wrong "x/1f L1" "core0.veccore0 has no memory, buffer or tensor 'L1'
hint: there are GM (7168 bytes), UB (196608 bytes), a (512 bytes), x (1536 bytes), y (1536 bytes)"
  wrong "x/129f a" "129 values of 4 bytes from a on: only 512 bytes are there
hint: x/128f reaches the end"
  keep "$vinci" debug "$work/copies.csv" $soc -e 'x/1f a'
  expect 2 "error: this session computes no values
hint: start 'vinci debug' with --values, --fill=random:1 or --input=NAME=FILE")"

report "what is not a trace is refused with the way to one" "$(
  printf '\177ELF' >"$work/lib.so"
  debug "$work/lib.so:add"
  expect 3 "error: $work/lib.so is not a kernel library
hint: \`vinci cc\` makes such libraries"
  debug "$work/none.csv"
  expect 2 "$work/none.csv: error: cannot read: No such file or directory"
  debug
  expect 2 "error: no trace given"
  debug -
  expect 2 "error: standard input holds the commands: the trace has to be a file"
  debug "$add" more
  expect 2 "error: 'vinci debug' takes one trace, not also 'more'")"

report "a program that hangs is said to at once, can be looked at, and gives exit code 6" "$(
  debug "$work/hangs.csv" -e 'continue; pipes; queues MTE2'
  expect 6 "$work/hangs.csv:8: error: the simulated program hangs in kernel \"copies\" after 0 of 1 blocks:
  core0.veccore0 MTE2 waits for flag MTE3->MTE2 id 1, line 8
  core0.veccore0 MTE3 waits for flag MTE2->MTE3 id 0, line 11" "  MTE2 waits in line 8: wait_flag"
  debug "$work/hangs.csv" -e 'continue; step'
  case $err in
    *"error: the run is over and cannot go on"*) ;;
    *) echo "$err" ;;
  esac)"

printf '# a comment\nbreak vadd\n\ncontinue   # twice\nwhere\nquit\nnever\n' >"$work/commands"
report "commands come from standard input, a file or --eval, and an error has file and line" "$(
  "$vinci" debug "$add" $soc <"$work/commands" >"$work/stdin" 2>&1
  debug "$add" -x "$work/commands"
  expect 0 ""
  cmp "$work/stdin" "$work/out"
  [ "$(tail -n 1 "$work/out")" = "(vinci) quit" ] || tail -n 1 "$work/out"
  printf 'info\nstop\n' >"$work/commands"
  debug "$add" -x "$work/commands"
  expect 2 "$work/commands:2: error: unknown command 'stop'
hint: did you mean 'step'?"
  debug "$add" -x "$work/none"
  expect 2 "$work/none: error: cannot read the commands: No such file or directory")"

# What rows read steers the run: values are those of vinci run --values, times those of the data.
# How many elements the mask of masked_select keeps is told by a run for another number.
report "a session with values follows what a trace reads" "$(
  "$vinci" run masked_select shape=512 count=64 $soc --fill=random:7 -q 2>"$work/told"
  count=$(sed -n 's/.*elements_of_y is \([0-9]*\) by the data.*/\1/p' "$work/told")
  same_values y masked_select shape=512 "count=$count"
  same_values y gather shape=64x32 count=100
  same_values y gather shape=64x32 count=100 dtype1=int64 blocks=2 buffers=1
  same_values y scatter_add shape=64x32 count=100 blocks=1
  # Rows of the table that the trace does not state take another way through the memory.
  debug gather shape=9000x512 count=400 --eval=continue
  expect 0 ""
  stated=$(grep '^the run has ended' "$work/out")
  debug gather shape=9000x512 count=400 --fill=random:7 --eval=continue
  expect 0 ""
  [ "$(head -n 1 "$work/out")" = "the trace follows the values: times are those of these data" ] || echo "no note"
  [ "$(grep '^the run has ended' "$work/out")" != "$stated" ] || echo "times do not follow the data"
  debug masked_select shape=512 count=64 --fill=random:7 --eval=continue
  grep -q "elements_of_y is $count by the data, the trace is for 64" "$work/err" || cat "$work/err")"

# The trace and the session of the documentation.
page=$srcdir/traces/DEBUG.md
sed -n '/^```$/,/^```$/p' "$page" | sed -n '2,/^```/p' | grep -v '^```' >"$work/scale.csv"
sed -n '/^```console/,/^```$/p' "$page" | grep -v '^```' >"$work/session"
report "the session of DEBUG.md is what the program says" "$(
  words=$(sed -n 's/^\$ vinci debug //p' "$work/session")
  [ -n "$words" ] || echo "there is no session"
  grep -v '^\$ ' "$work/session" >"$work/want"
  sed -n 's/^(vinci) //p' "$work/want" >"$work/commands"
  # shellcheck disable=SC2086 # several words
  (cd "$work" && "$vinci" debug $words <commands >have 2>&1)
  diff "$work/want" "$work/have")"
