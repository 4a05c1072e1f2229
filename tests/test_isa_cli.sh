#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci isa: what it lists, what it shows of an instruction, what it says of wrong names.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/tap.sh"
vinci=${VINCI:?}

# run ARGUMENT...: keeps stdout, stderr and exit code in $out, $err, $code.
run() {
  err=$("$vinci" "$@" 2>&1 >/dev/null)
  out=$("$vinci" "$@" 2>/dev/null)
  code=$?
}

# expect CODE STDERR: the problems of the last run.
expect() {
  [ "$code" -eq "$1" ] || echo "exit code is $code, not $1"
  [ "$err" = "$2" ] || printf 'stderr is:\n%s\nnot:\n%s\n' "$err" "$2"
}

plan 9

run isa list
all=$(printf '%s\n' "$out" | wc -l)
rows=$(grep -cE '^(ISA|ATOMIC|REGISTER|CMPV?S?|(BINARY_)?CONVERT)\(' "$srcdir/core/isa.def")
report "list has a line for each row of the table" "$(expect 0 ''; [ "$all" -eq "$rows" ] ||
  echo "$all lines, $rows rows")"
report "a line names pipe, architectures and meaning" "$(printf '%s\n' "$out" |
  grep -Eq '^vadd +V +c100 m200 c220 c310  dst = src0 \+ src1$' || printf '%s\n' "$out" | grep vadd)"
run isa list --arch=dav-c100 --pipe=MTE1
report "an architecture and a pipe choose" "$(expect 0 ''
  printf '%s\n' "$out" | grep -v ' MTE1  c100'
  printf '%s\n' "$out" | grep -q '^load_cbuf_to_ca ' || echo "load_cbuf_to_ca is missing"
  printf '%s\n' "$out" | grep transpose_)"
run isa show mad set_flag
report "show prints operands, types and sources" "$(expect 0 ''
  printf '%s\n' "$out" | grep -qx '  c              address in L0C, read and written' || echo "c"
  printf '%s\n' "$out" | grep -qx '  m              0..4095' || echo "m"
  printf '%s\n' "$out" | grep -qx '  source         l0c|bt (l0c when left out)' || echo "source"
  printf '%s\n' "$out" | grep -q '^dav-c100 does not take bf16' || echo "types"
  printf '%s\n' "$out" | grep -qx 'source: DK Mmad' || echo "DK Mmad"
  printf '%s\n' "$out" | grep -qx 'pipe: any' || echo "pipe")"
run isa show vadd
report "vector instructions have a cost class" "$(expect 0 ''; printf '%s\n' "$out" |
  grep -q '^cost up to 16 bits: vector.TWO: ' || echo "$out")"
run isa show vad
report "a misspelt name gets a suggestion" "$(expect 2 "error: unknown instruction 'vad'
hint: did you mean 'vadd'?")"
run isa show
report "show needs a name" "$(expect 2 "error: which instruction?
hint: 'vinci isa list' shows the names")"
run isa list --arch=c220
report "an unknown architecture" "$(expect 2 "error: unknown architecture 'c220'
hint: there are dav-c100, dav-m200, dav-c220 and dav-c310")"
run isa describe vadd
report "an unknown command" "$(expect 2 "error: unknown command 'describe' of isa
hint: commands: list, show")"
