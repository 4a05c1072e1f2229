#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vinci isa: what it lists, what it shows of an instruction, what it says of wrong names. And the path
# between two cores of the 950, from the outside: values and checks.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

work_folder test_isa_cli

# Keeps stdout, stderr and exit code.
run() { keep "$vinci" "$@"; }

plan 13

run isa list
all=$(printf '%s\n' "$out" | wc -l)
rows=$(cat "$srcdir/core/isa/isa.def" "$srcdir/core/isa/registers.def" | grep -cE '^[A-Z_0-9]+\([A-Z]')
report "list has a line for each row of the table" "$(expect 0 ''; [ "$all" -eq "$rows" ] ||
  echo "$all lines, $rows rows")"
report "a line names pipe, architectures and meaning" "$(printf '%s\n' "$out" |
  grep -Eq '^vadd +V +c100 +m200 +c220 +c310  dst = src0 \+ src1$' || printf '%s\n' "$out" | grep vadd)"
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
  printf '%s\n' "$out" | grep -qx \
    '  unit_flag      0..3, not 1 (0 when left out), only on dav-c220, dav-c310' || echo "unit_flag"
  printf '%s\n' "$out" | grep -q '^dav-c100 does not take bf16' || echo "types"
  printf '%s\n' "$out" | grep -qx 'source: DK Mmad' || echo "DK Mmad"
  printf '%s\n' "$out" | grep -qx 'pipe: any' || echo "pipe")"
run isa show vadd
report "vector instructions have a cost class" "$(expect 0 ''; printf '%s\n' "$out" |
  grep -q '^cost up to 16 bits: vector.TWO: ' || echo "$out")"
run isa show Axpy DataCopyPad
report "functions of Ascend C lead to their instructions" "$(expect 0 ''
  printf '%s\n' "$out" | grep -q "^Ascend C's DataCopyPad becomes one of these:" || echo "DataCopyPad"
  printf '%s\n' "$out" | grep -Eq '^copy_gm_to_ubuf_align_b8 +MTE2 ' || echo "copy_gm_to_ubuf_align_b8"
  printf '%s\n' "$out" | grep -Eq "^Ascend C's Axpy|^vaxpy: " || echo "vaxpy"
  printf '%s\n' "$out" | grep -q '^vadd' && echo "vadd")"
run isa show Ad
report "the name of no function" "$(expect 2 "error: unknown instruction 'Ad'
hint: 'vinci isa list' shows the names")"
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

# ---- UB of the vector cores, written by the fixpipe ----------------------------------------
cat >"$work/fix.csv" <<'END'
trace,version=1
kernel,name=k,arch=dav-c310,blocks=2
tensor,name=y,dtype=fp32,shape=2x2x4x32,io=out
stream,core=AIC
create_ca_matrix,dst=0,blocks=1,value=0x3c003c00
create_cb_matrix,dst=0,blocks=2,value=0x3c003c00
set_flag,src=MTE1,dst=M,id=0
wait_flag,src=MTE1,dst=M,id=0
mad,c=0,a=0,b=0,m=8,k=16,n=32,type=fp16
set_flag,src=M,dst=FIX,id=0
wait_flag,src=M,dst=FIX,id=0
copy_matrix_cc_to_ub,dst=0,src=0,n=32,m=8,dst_stride=32,src_stride=16,nz2nd=1,split=m,type=fp32
ffts_cross_core_sync,pipe=FIX,mode=2,id=0
stream,core=AIV
wait_flag_dev,id=0
copy_ubuf_to_gm,dst=y+blk*1024+sub*512,src=0,len_burst=16
END
grep -v '^wait_flag_dev' "$work/fix.csv" >"$work/race.csv"
run run --values --output="$work/fixed" -s Ascend950PR_9589 "$work/fix.csv" --json
report "both vector cores get their half, 16 everywhere" "$(expect 0 ''
  tail -c 2048 "$work/fixed/tensors/y.npy" | od -A n -v -t x4 | tr -s ' ' '\n' | grep . |
    sort | uniq -c | grep -Eqx ' *512 41800000' || echo "other values")"
run check -s Ascend950PR_9589 "$work/race.csv"
report "without the flag between the cores that is a hazard" "$([ "$code" -eq 5 ] || echo "$code"
  printf '%s\n' "$out" | grep -q 'Potential RAW hazard detected at UB in k' || echo "$out")"
