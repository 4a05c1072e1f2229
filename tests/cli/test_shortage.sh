#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Memory that is short ends a command with 8 and a message, or is not missed: never a signal, never an
# exit code that blames a file or a setting. SHORTAGE_EVERY=1 tries all allocations, which takes minutes.
set -u
srcdir=${TESTS_SRCDIR:-.}
. "$srcdir/tests/support/tap.sh"
vinci=${VINCI:?}

[ -z "${VINCI_INSTRUMENT:-}" ] || skip_all 'sanitizers have their own allocations'
needs_python
work_folder test_shortage
${CC:-cc} -shared -fPIC -O1 -o "$work/shortage.so" "$srcdir/tests/cli/shortage.c" -ldl 2>"$work/said" ||
  skip_all 'the C library or the compiler is another one'
plan 11

soc=-sAscend910B4
cat >"$work/twice.csv" <<'END'
trace,version=1
kernel,name=twice,arch=dav-c220,blocks=2
tensor,name=x,dtype=fp16,shape=4096,io=in
tensor,name=y,dtype=fp16,shape=4096,io=out
buffer,name=tile,space=UB,address=0,size=4096
stream,core=AIV
copy_gm_to_ubuf,dst=tile,src=x+2048*2*blk,len_burst=128
set_flag,src=MTE2,dst=V,id=0
wait_flag,src=MTE2,dst=V,id=0
vadd,dst=tile,src0=tile,src1=tile,repeat=16,type=fp16
set_flag,src=V,dst=MTE3,id=0
wait_flag,src=V,dst=MTE3,id=0
copy_ubuf_to_gm,dst=y+2048*2*blk,src=tile,len_burst=128
END
printf 'op,args\nrelu,shape=4096\nmatmul,m=16 k=32 n=48\n' >"$work/list.csv"
"$PYTHON" -c '
import struct, sys
header = "{\"descr\": \"<f2\", \"fortran_order\": False, \"shape\": (4096,), }".replace("\"", chr(39)).ljust(117) + "\n"
sys.stdout.buffer.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(8192))' >"$work/x.npy"
cat >"$work/net.csv" <<'END'
graph,version=1,name=layer
tensor,name=x,dtype=fp16,shape=16x64,io=in
tensor,name=w,dtype=fp16,shape=64x64,io=weight
tensor,name=y,dtype=fp16,shape=16x64,io=out
kernel,name=fc,op=matmul,in=x w,out=y,args=m=16 k=64 n=64
END

every=499
short() { # NAME ARGUMENT...
  name=$1
  shift
  report "$name" "$("$PYTHON" "$srcdir/tests/cli/shortage.py" "$work/shortage.so" "${SHORTAGE_EVERY:-$every}" "$vinci" "$@" 2>&1 | head -20)"
}

short "a run" run "$work/twice.csv" $soc
short "a check" check "$work/twice.csv" $soc
short "a run with values of a file" run "$work/twice.csv" $soc "--input=x=$work/x.npy" -o @/run
short "a list" run --ops "$work/list.csv" $soc -o @/list
"$vinci" run --ops "$work/list.csv" $soc -q -o "$work/results" --results="$work/kept"
short "a list whose results are kept" run --ops "$work/list.csv" $soc -o @/list --results="$work/kept"
short "a sequence of programs" run --ops "$work/list.csv" --sequence $soc -o @/list
short "a network" net run "$work/net.csv" $soc -o @/net
short "a search" tune matmul m=16 k=32 n=48 $soc -n 2 -j1 --memory=flat -r @/repository
short "a sweep" sweep run matmul m=16 k=32 n=48 $soc -j1 -q -p op.n=16,48 -o @/sweep
if "$vinci" --version | grep -q '^ONNX models: read$'; then
  every=99
  short "a model" net run "$srcdir/tests/fuzz/corpus-onnx/convolutions.onnx" --dim=n=1 $soc -o @/net
else
  report "a model # SKIP built without ONNX" ''
fi
if "$vinci" cc --kernel-only "$srcdir/traces/examples/source/softmax.cpp" -o "$work/softmax.so" >"$work/said" 2>&1; then
  every=7
  short "a compiled kernel" run "$work/softmax.so:softmax" --blocks=1 $soc --fill=random:1 \
    --arg name=x,dtype=fp32,shape=8x64,io=in --arg name=y,dtype=fp32,shape=8x64,io=out --arg value=8
else
  report "a compiled kernel # SKIP vinci cc cannot compile here" ''
fi
